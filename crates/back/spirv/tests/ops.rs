//! Every op with a fold function, in the types and flags it takes: valid in every version of SPIR-V, and on a device
//! the same bits as its fold function.

mod common;

use common::{device, emit_all, emit_valid, lowered, narrow_worker, run};
use xenoglot_ir::entities::{Resource, Var};
use xenoglot_ir::fold::{self, Cx};
use xenoglot_ir::imm::{FloatFormat, Lanes};
use xenoglot_ir::module::{
    Access, Builtin, Count, Direction, Interpolation, OutOfBounds, ResourceData, ResourceKind, Semantic,
    VarData,
};
use xenoglot_ir::op::{Class, OPS, OpInfo, Sig, result_type};
use xenoglot_ir::{
    Bits, Builder, DivZero, Flags, Function, Imm, Kind, MemInfo, Module, NanMode, Op, Space, Stage, Type,
    Value,
};
use xenoglot_spirv::{Error, Options, Version, emit};
use xenoglot_testgen::lanes::{push_words, read_words, sample};
use xenoglot_testgen::property;
use xenoglot_testgen::rng::Rng;
use xenoglot_vulkan::isolated::Isolated;
use xenoglot_vulkan::spread;

#[test]
fn vulkan_worker() {
    xenoglot_vulkan::isolated::serve_if_worker();
}

const INVOCATIONS: usize = 64;

/// An op in the types and with the flags of one test.
struct Case {
    op: Op,
    flags: Flags,
    imm: Imm,
    types: Vec<Type>,
    ty: Type,
}

fn storage(name: &str, binding: u32) -> ResourceData {
    ResourceData {
        name: name.to_owned(),
        kind: ResourceKind::StorageBuffer { access: Access::ReadWrite },
        set: 0,
        binding,
        count: Count::One,
        oob: OutOfBounds::Undefined,
    }
}

/// Words a value takes in the test's buffers: each lane on its own.
fn words_of(ty: Type) -> u32 {
    u32::from(ty.lanes()) * if ty.kind().bits() == 64 { 2 } else { 1 }
}

fn int_as_wide(ty: Type) -> Type {
    match ty.kind() {
        Kind::F16 => Type::scalar(Kind::I16),
        Kind::F64 => Type::I64,
        Kind::F32 => Type::I32,
        kind => Type::scalar(kind),
    }
}

/// A word, or two, from a buffer as a lane of `ty`.
fn load_lane(b: &mut Builder, mem: MemInfo, base: Value, word: u32, ty: Type) -> Value {
    let offset = b.i32(word * 4);
    let at = b.op(Op::Iadd, &[base, offset]);
    let int = int_as_wide(ty);
    let raw = b.load(mem, at, if int.kind() == Kind::I64 { Type::I64 } else { Type::I32 });
    let lane = match int.kind() {
        Kind::Bool => {
            let zero = b.i32(0);
            return b.op(Op::IcmpNe, &[raw, zero]);
        }
        Kind::I8 | Kind::I16 => b.convert(Op::TruncInt, Flags::NONE, raw, int),
        _ => raw,
    };
    if int.kind() == ty.kind() { lane } else { b.convert(Op::Bitcast, Flags::NONE, lane, ty.lane()) }
}

fn store_lane(b: &mut Builder, mem: MemInfo, base: Value, word: u32, v: Value, ty: Type) {
    let offset = b.i32(word * 4);
    let at = b.op(Op::Iadd, &[base, offset]);
    let int = int_as_wide(ty);
    let raw = if int.kind() == ty.kind() { v } else { b.convert(Op::Bitcast, Flags::NONE, v, int) };
    let raw = match int.kind() {
        Kind::Bool | Kind::I8 | Kind::I16 => b.convert(Op::Zext, Flags::NONE, raw, Type::I32),
        _ => raw,
    };
    b.store(mem, at, raw);
}

/// A kernel that applies the case to each invocation's operands.
fn kernel(case: &Case) -> Module {
    let mut module = Module::new(Stage::Compute, case.op.info().name);
    module.workgroup = [INVOCATIONS as u32, 1, 1];
    let id = module.vars.push(VarData {
        name: "id".to_owned(),
        direction: Direction::Input,
        ty: Type::new(Kind::I32, 3).unwrap(),
        semantic: Semantic::Builtin(Builtin::GlobalInvocationId),
        interpolation: Interpolation::Flat,
        array: None,
        inner: None,
        stream: 0,
    });
    let source = module.resources.push(storage("source", 0));
    let target = module.resources.push(storage("target", 1));
    let function = body(case, id, source, target);
    let main = module.funcs.push(function);
    module.entry = main.into();
    module
}

fn body(case: &Case, id: Var, source: Resource, target: Resource) -> Function {
    let mut f = Function::new("main");
    let entry = f.add_block();
    let mut b = Builder::new(&mut f, entry);
    let id = b.input(id, Type::new(Kind::I32, 3).unwrap());
    let id = b.extract(id, 0);
    let stride: u32 = case.types.iter().map(|&t| words_of(t)).sum();
    let bytes = b.i32(stride * 4);
    let base = b.op(Op::Imul, &[id, bytes]);
    let from = MemInfo::plain(Space::Storage, Some(source), 2);
    let from = MemInfo { align_log2: 3, ..from };
    let mut word = 0;
    let mut args = Vec::new();
    for &ty in &case.types {
        let mut lanes = Vec::new();
        for _ in 0..ty.lanes() {
            lanes.push(load_lane(&mut b, from, base, word, ty));
            word += words_of(ty.lane());
        }
        args.push(if let [only] = lanes[..] { only } else { b.op(Op::Build, &lanes) });
    }
    let inst = b.inst(case.op, case.flags, case.imm, &args, &[case.ty]);
    let result = b.func.result(inst).unwrap();
    let bytes = b.i32(words_of(case.ty) * 4);
    let base = b.op(Op::Imul, &[id, bytes]);
    let to = MemInfo { align_log2: 3, ..MemInfo::plain(Space::Storage, Some(target), 2) };
    let mut word = 0;
    for i in 0..case.ty.lanes() {
        let lane = if case.ty.is_scalar() { result } else { b.extract(result, i) };
        store_lane(&mut b, to, base, word, lane, case.ty);
        word += words_of(case.ty.lane());
    }
    b.ret(&[]);
    f
}

fn types_of(class: Class, lanes: u8) -> Vec<Type> {
    Kind::ALL.into_iter().filter(|&k| class.has(k)).filter_map(|k| Type::new(k, lanes)).collect()
}

/// Operand and result types to test an op with.
fn signatures(op: Op, lanes: u8) -> Vec<(Vec<Type>, Type)> {
    let repeat = |n: u8, ty: Type| vec![ty; usize::from(n)];
    let bools = |ty: Type| ty.with_kind(Kind::Bool);
    match op.info().sig {
        Sig::Same(n, class) => types_of(class, lanes).into_iter().map(|t| (repeat(n, t), t)).collect(),
        Sig::Test(n, class) => types_of(class, lanes).into_iter().map(|t| (repeat(n, t), bools(t))).collect(),
        Sig::CarryIn => types_of(Class::Int, lanes).into_iter().map(|t| (vec![t, t, bools(t)], t)).collect(),
        Sig::CarryOut => {
            types_of(Class::Int, lanes).into_iter().map(|t| (vec![t, t, bools(t)], bools(t))).collect()
        }
        Sig::Convert(from, to, width) => types_of(from, lanes)
            .into_iter()
            .flat_map(|a| types_of(to, lanes).into_iter().map(move |b| (vec![a], b)))
            .filter(|(a, b)| width.allows(a[0].kind(), b.kind()))
            .collect(),
        Sig::Bitcast => {
            let all: Vec<Type> = (1..=4).flat_map(|n| types_of(Class::Number, n)).collect();
            let number = |t: &&Type| t.kind() != Kind::Bool;
            all.iter()
                .filter(number)
                .flat_map(|&a| {
                    all.iter()
                        .filter(number)
                        .filter(move |b| b.bits() == a.bits())
                        .map(move |&b| (vec![a], b))
                })
                .collect()
        }
        Sig::Select => types_of(Class::Number, lanes)
            .into_iter()
            .flat_map(|t| [(vec![Type::BOOL, t, t], t), (vec![bools(t), t, t], t)])
            .collect(),
        Sig::LoadExp => {
            types_of(Class::Float, lanes).into_iter().map(|t| (vec![t, t.with_kind(Kind::I32)], t)).collect()
        }
        Sig::ExtractExp => {
            types_of(Class::Float, lanes).into_iter().map(|t| (vec![t], t.with_kind(Kind::I32))).collect()
        }
        Sig::Dot(n) => types_of(Class::Float, n).into_iter().map(|t| (vec![t, t], t.lane())).collect(),
        Sig::Splat => {
            types_of(Class::Number, lanes.max(2)).into_iter().map(|t| (vec![t.lane()], t)).collect()
        }
        Sig::Build => {
            let n = lanes.max(2);
            types_of(Class::Number, n).into_iter().map(|t| (repeat(n, t.lane()), t)).collect()
        }
        Sig::Extract => {
            types_of(Class::Number, lanes.max(2)).into_iter().map(|t| (vec![t], t.lane())).collect()
        }
        Sig::Insert => {
            types_of(Class::Number, lanes.max(2)).into_iter().map(|t| (vec![t, t.lane()], t)).collect()
        }
        Sig::Shuffle => types_of(Class::Number, lanes.max(2)).into_iter().map(|t| (vec![t, t], t)).collect(),
        _ => Vec::new(),
    }
}

fn immediates(op: Op, lanes: u8) -> Vec<Imm> {
    match op.info().sig {
        Sig::Extract | Sig::Insert => vec![Imm::Lane(lanes.max(2) - 1)],
        Sig::Shuffle => {
            let n = usize::from(lanes.max(2));
            vec![Imm::Lanes(Lanes::new(&[5, 0, 1, 4][..n]).unwrap())]
        }
        _ if op == Op::Fquantize => [(7, 16), (5, 10), (8, 7), (8, 22)]
            .map(|(exp, mant)| Imm::Format(FloatFormat { exp, mant }))
            .into(),
        _ => vec![Imm::None],
    }
}

fn flags_of(op: Op) -> Vec<Flags> {
    let allowed = op.info().flags;
    let none = Flags::NONE;
    let mut all = vec![none];
    let single = [
        none.with_contract(),
        none.with_ftz(),
        none.with_zero_wins(),
        none.with_fmz(),
        none.with_sat(),
        none.with_clamp(),
        none.with_zero_wins().with_ftz().with_sat(),
        none.with_nan(NanMode::First),
        none.with_nan(NanMode::Second),
        none.with_nan(NanMode::Propagate),
        none.with_div_zero(DivZero::Ones),
    ];
    all.extend(single.into_iter().filter(|f| f.within(allowed)));
    if matches!(op, Op::F2s | Op::F2u) {
        use xenoglot_ir::Round;
        all.extend([Round::Even, Round::Up, Round::Down].map(|r| none.with_clamp().with_round(r)));
    }
    all
}

fn cases(op: Op, lanes: u8) -> Vec<Case> {
    let mut out = Vec::new();
    if op.info().traits.convergent {
        return out;
    }
    for (types, ty) in signatures(op, lanes) {
        for imm in immediates(op, lanes) {
            for flags in flags_of(op) {
                let ty = match imm {
                    Imm::Lanes(l) => ty.with_lanes(l.as_slice().len() as u8).unwrap(),
                    _ => result_type(op, &types).unwrap_or(ty),
                };
                out.push(Case { op, flags, imm, types: types.clone(), ty });
            }
        }
    }
    out
}

/// What integer conversions are compared on: without `clamp`, values out of range have no meaning.
fn in_range(case: &Case, args: &[Bits]) -> bool {
    let converts = matches!(case.op, Op::F2s | Op::F2u) && !case.flags.clamp();
    let kind = case.types[0].kind();
    !converts
        || (0..usize::from(case.ty.lanes())).all(|i| {
            let x = float(kind, args[0].lane(i));
            let bits = case.ty.kind().bits() as i32 - i32::from(case.op == Op::F2s);
            let low = if case.op == Op::F2s { -2f64.powi(bits) } else { 0.0 };
            x >= low && x < 2f64.powi(bits)
        })
}

/// Whether the host owes an answer: angles beyond 2^15 and denormals are outside what Vulkan says of approximate
/// functions.
fn owed(case: &Case, args: &[Bits]) -> bool {
    let kind = case.types[0].kind();
    case.op.info().ulp == 0
        || (0..usize::from(case.types[0].lanes())).all(|i| {
            let x = float(kind, args[0].lane(i)).abs();
            let angle = matches!(case.op, Op::Sin | Op::Cos);
            (x == 0.0 || x >= f64::from(f32::MIN_POSITIVE)) && !(angle && x > 32768.0)
        })
}

fn float(kind: Kind, bits: u64) -> f64 {
    match kind {
        Kind::F16 => fold::convert::f16_value(bits),
        Kind::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

fn same(case: &Case, got: Bits, want: Bits) -> bool {
    let kind = case.ty.kind();
    (0..usize::from(case.ty.lanes())).all(|i| {
        let (g, w) = (got.lane(i), want.lane(i));
        if !kind.is_float() {
            return g == w;
        }
        let nan = |b| fold::float::is_nan(kind, b);
        if (nan(g) && nan(w)) || g == w {
            return true;
        }
        // What may be contracted may be rounded less often, and sums may lose the zero they start from.
        let ulp = case.op.info().ulp.max(if case.flags.contract() { 4 } else { 0 });
        let (x, y) = (float(kind, g), float(kind, w));
        ulp > 0 && (x - y).abs() <= y.abs().max(1e-3) * f64::from(ulp) * 2f64.powi(-23)
    })
}

#[test]
fn every_op_is_valid_in_every_version() {
    let mut written = 0;
    for row in OPS {
        for lanes in [1, 3] {
            for case in cases(row.op, lanes) {
                let module = kernel(&case);
                match emit(&lowered(&module, &Options::default(), false), &Options::default()) {
                    Ok(_) => {
                        if case.flags == Flags::NONE {
                            emit_all(&module, Version::V1_0);
                        } else {
                            emit_valid(&module, &Options::default());
                        }
                        emit_valid(&module, &Options { portable_ops: true, ..Options::default() });
                        written += 1;
                    }
                    Err(Error::Unsupported { .. }) => {
                        let args: Vec<Bits> = case.types.iter().map(|&t| Bits::splat(t, 1)).collect();
                        assert!(!is_defined(&case, &args), "{}{} {:?}", row.name, case.flags, case.types);
                    }
                    Err(error) => panic!("{}{} {:?}: {error}", row.name, case.flags, case.types),
                }
            }
        }
    }
    println!("{written} kernels");
    assert!(written > 1000);
}

fn eval(case: &Case, args: &[Bits]) -> Option<Bits> {
    let cx = Cx { result: case.ty, arg: case.types[0], flags: case.flags, imm: case.imm };
    fold::eval(case.op, &cx, args, &case.types).ok()
}

/// Whether the op has a value that a shader could be asked for. Transcendental functions of 64-bit floats have a
/// fold function, but no shader computes them.
fn is_defined(case: &Case, args: &[Bits]) -> bool {
    let transcendental = matches!(case.op, Op::Exp2 | Op::Log2 | Op::Sin | Op::Cos);
    !(transcendental && case.ty.kind() == Kind::F64) && eval(case, args).is_some()
}

#[test]
fn a_device_gives_the_bits_of_the_fold_function() {
    if device().is_none() {
        return;
    }
    let of_op = |row: &OpInfo| cases(row.op, 1).into_iter().chain(cases(row.op, 4).into_iter().take(6));
    let cases: Vec<(u64, Case)> = (0..).zip(OPS.iter().flat_map(of_op)).collect();
    let seed = property::rng(7).next_u64();
    let check = |device: &mut Isolated, (number, case): &(u64, Case)| {
        // The device's own `Fma` rounds twice; contraction leaves it the choice.
        let fma = case.op == Op::Fma;
        if fma && (case.flags.contract() || case.types[0].kind() != Kind::F32) {
            return None;
        }
        let options = Options::default();
        let words = emit(&lowered(&kernel(case), &options, fma), &options).ok()?;
        let mut rng = Rng::new(seed.wrapping_add(*number));
        let (mut source, mut wanted) = (Vec::new(), Vec::new());
        for _ in 0..INVOCATIONS {
            let args: Vec<Bits> = case
                .types
                .iter()
                .map(|&t| {
                    let mut bits = Bits::default();
                    (0..usize::from(t.lanes())).for_each(|i| bits.0[i] = sample(&mut rng, t.kind()));
                    bits
                })
                .collect();
            for (&t, &a) in case.types.iter().zip(&args) {
                push_words(&mut source, t, a);
            }
            let want = eval(case, &args).filter(|_| in_range(case, &args) && owed(case, &args));
            wanted.push((args, want));
        }
        if wanted.iter().all(|w| w.1.is_none()) {
            return None;
        }
        let room = vec![0; INVOCATIONS * words_of(case.ty) as usize];
        let out = run(device, words, &[(0, source), (1, room)], 1);
        let mut got = out[1].iter().copied();
        let difference = wanted.into_iter().find_map(|(args, want)| {
            let got = read_words(&mut got, case.ty);
            let want = want.filter(|&want| !same(case, got, want))?;
            let what = format!("{}{} {:?} -> {}", case.op.info().name, case.flags, case.types, case.ty);
            Some(format!("{what}: {args:?} gives {got:?}, not {want:?}"))
        });
        Some(difference)
    };
    let results = spread(&cases, || Ok::<_, ()>(narrow_worker()), check).unwrap();
    let ran: Vec<Option<String>> = results.into_iter().flatten().collect();
    println!("{} kernels", ran.len());
    let wrong: Vec<&String> = ran.iter().flatten().collect();
    assert!(ran.len() > 1000);
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), ran.len());
}
