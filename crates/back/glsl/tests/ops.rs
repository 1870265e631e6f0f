//! Every op with a fold function, in the types and flags it takes: accepted by the compiler in every version, and on
//! a device the same bits as its fold function.

mod common;

use common::{accepted, compiler, device, invocation_id, located, lowered, narrow_worker, run, storage};
use xenoglot_glsl::{Error, Options, Target, emit};
use xenoglot_ir::fold::{self, Cx, Fold, float};
use xenoglot_ir::imm::{FloatFormat, Lanes};
use xenoglot_ir::module::Direction;
use xenoglot_ir::op::{Class, OPS, Sig, result_type};
use xenoglot_ir::{
    Bits, Builder, DivZero, Flags, Function, Imm, Kind, MemInfo, Module, NanMode, Op, Round, Space, Stage,
    Type, Value,
};
use xenoglot_testgen::lanes::{self, push_words, read_words};
use xenoglot_testgen::property;
use xenoglot_testgen::rng::Rng;
use xenoglot_vulkan::isolated::Isolated;
use xenoglot_vulkan::spread;

#[test]
fn vulkan_worker() {
    xenoglot_vulkan::isolated::serve_if_worker();
}

const INVOCATIONS: usize = 64;

/// An op with types and flags.
#[derive(Clone)]
struct Case {
    op: Op,
    flags: Flags,
    imm: Imm,
    args: Vec<Type>,
    ty: Type,
}

const KINDS: [Kind; 8] =
    [Kind::Bool, Kind::I8, Kind::I16, Kind::I32, Kind::I64, Kind::F16, Kind::F32, Kind::F64];

/// Types of a class that the writer takes in some version.
fn types(class: Class, lanes: u8) -> Vec<Type> {
    KINDS.into_iter().filter(|&k| class.has(k)).filter_map(|k| Type::new(k, lanes)).collect()
}

fn shapes(op: Op, n: u8) -> Vec<(Vec<Type>, Type)> {
    let each =
        |class, make: &dyn Fn(Type) -> (Vec<Type>, Type)| types(class, n).into_iter().map(make).collect();
    let bools = |t: Type| t.with_kind(Kind::Bool);
    let wide = n.max(2);
    match op.info().sig {
        Sig::Same(count, class) => each(class, &|t| (vec![t; usize::from(count)], t)),
        Sig::Test(count, class) => each(class, &|t| (vec![t; usize::from(count)], bools(t))),
        Sig::CarryIn => each(Class::Int, &|t| (vec![t, t, bools(t)], t)),
        Sig::CarryOut => each(Class::Int, &|t| (vec![t, t, bools(t)], bools(t))),
        Sig::Convert(from, to, _) => types(from, n)
            .into_iter()
            .flat_map(|a| types(to, n).into_iter().map(move |b| (vec![a], b)))
            .filter(|(a, b)| match op {
                Op::Zext | Op::Sext => a[0].bits() <= b.bits(),
                Op::TruncInt => a[0].bits() >= b.bits(),
                _ => true,
            })
            .collect(),
        Sig::Bitcast => {
            let all: Vec<Type> = (1..=4).flat_map(|n| types(Class::Number, n)).collect();
            let all: Vec<Type> = all.into_iter().filter(|t| t.kind() != Kind::Bool).collect();
            all.iter()
                .flat_map(|&a| all.iter().filter(move |b| b.bits() == a.bits()).map(move |&b| (vec![a], b)))
                .collect()
        }
        Sig::Select => types(Class::Number, n)
            .into_iter()
            .flat_map(|t| [(vec![Type::BOOL, t, t], t), (vec![bools(t), t, t], t)])
            .collect(),
        Sig::LoadExp => each(Class::Float, &|t| (vec![t, t.with_kind(Kind::I32)], t)),
        Sig::ExtractExp => each(Class::Float, &|t| (vec![t], t.with_kind(Kind::I32))),
        Sig::Dot(count) => types(Class::Float, count).into_iter().map(|t| (vec![t, t], t.lane())).collect(),
        Sig::Splat => types(Class::Number, wide).into_iter().map(|t| (vec![t.lane()], t)).collect(),
        Sig::Build => {
            let make = |t: Type| (vec![t.lane(); usize::from(wide)], t);
            types(Class::Number, wide).into_iter().map(make).collect()
        }
        Sig::Extract => types(Class::Number, wide).into_iter().map(|t| (vec![t], t.lane())).collect(),
        Sig::Insert => types(Class::Number, wide).into_iter().map(|t| (vec![t, t.lane()], t)).collect(),
        Sig::Shuffle => types(Class::Number, wide).into_iter().map(|t| (vec![t, t], t)).collect(),
        _ => Vec::new(),
    }
}

fn immediates(op: Op, n: u8) -> Vec<Imm> {
    let wide = usize::from(n.max(2));
    match op.info().sig {
        Sig::Extract | Sig::Insert => (0..wide as u8).map(Imm::Lane).collect(),
        Sig::Shuffle => [[5, 0, 1, 4], [0, 1, 4, 5], [4, 5, 0, 1], [1, 0, 1, 0]]
            .iter()
            .filter_map(|l| Lanes::new(&l[..wide]).map(Imm::Lanes))
            .collect(),
        _ if op == Op::Fquantize => [(7, 16), (5, 10), (8, 7), (8, 22)]
            .map(|(exp, mant)| Imm::Format(FloatFormat { exp, mant }))
            .into(),
        _ => vec![Imm::None],
    }
}

fn flags(op: Op) -> Vec<Flags> {
    let none = Flags::NONE;
    let all = [
        none,
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
    let mut out: Vec<Flags> = all.into_iter().filter(|f| f.within(op.info().flags)).collect();
    if matches!(op, Op::F2s | Op::F2u) {
        out.extend([Round::Even, Round::Up, Round::Down].map(|r| none.with_clamp().with_round(r)));
    }
    out
}

/// All cases of an op that the target takes, and how many it refuses.
fn cases(op: Op, target: Target) -> (Vec<Case>, usize) {
    let (mut out, mut refused) = (Vec::new(), 0);
    if matches!(op.info().fold, Fold::None) || op.info().traits.convergent {
        return (out, refused);
    }
    for n in [1, 2, 4] {
        for (args, ty) in shapes(op, n) {
            for imm in immediates(op, n) {
                for flags in flags(op) {
                    let ty = result_type(op, &args).unwrap_or(ty);
                    let case = Case { op, flags, imm, args: args.clone(), ty };
                    let options = Options { target, ..Options::default() };
                    let module = module(target, std::slice::from_ref(&case));
                    match emit(&lowered(&module, &options), &options) {
                        Ok(_) => out.push(case),
                        Err(Error::Unsupported { .. } | Error::UnsupportedDeclaration { .. }) => refused += 1,
                        Err(e) => panic!("{}{flags} {args:?}: {e}", op.info().name),
                    }
                }
            }
        }
    }
    (out, refused)
}

fn words_of(ty: Type) -> u32 {
    u32::from(ty.lanes()) * if ty.kind().bits() == 64 { 2 } else { 1 }
}

/// The integer of as many bits as a lane, `i32` for `bool`.
fn bits_of(kind: Kind) -> Type {
    match kind {
        Kind::F16 => Type::scalar(Kind::I16),
        Kind::F32 | Kind::Bool => Type::I32,
        Kind::F64 => Type::I64,
        kind => Type::scalar(kind),
    }
}

/// A lane of a kind from a word, or two.
fn from_raw(b: &mut Builder, raw: Value, kind: Kind) -> Value {
    let int = bits_of(kind);
    let v = if int.bits() < 32 { b.convert(Op::TruncInt, Flags::NONE, raw, int) } else { raw };
    match kind {
        Kind::Bool => {
            let zero = b.i32(0);
            b.op(Op::IcmpNe, &[v, zero])
        }
        k if k.is_float() => b.convert(Op::Bitcast, Flags::NONE, v, Type::scalar(k)),
        _ => v,
    }
}

/// A lane as a word, or two.
fn to_raw(b: &mut Builder, lane: Value, kind: Kind) -> Value {
    let int = bits_of(kind);
    let v = if kind.is_float() { b.convert(Op::Bitcast, Flags::NONE, lane, int) } else { lane };
    if int.bits() < 32 || kind == Kind::Bool { b.convert(Op::Zext, Flags::NONE, v, Type::I32) } else { v }
}

fn load(b: &mut Builder, mem: MemInfo, base: Value, word: &mut u32, ty: Type) -> Value {
    let mut lanes = Vec::new();
    for _ in 0..ty.lanes() {
        let offset = b.i32(*word * 4);
        let at = b.op(Op::Iadd, &[base, offset]);
        let raw = match ty.kind() {
            Kind::F32 => Type::F32,
            kind if kind.bits() == 64 => Type::I64,
            _ => Type::I32,
        };
        let v = b.load(mem, at, raw);
        lanes.push(if raw == ty.lane() { v } else { from_raw(b, v, ty.kind()) });
        *word += words_of(ty.lane());
    }
    if let [one] = lanes[..] { one } else { b.op(Op::Build, &lanes) }
}

fn store(b: &mut Builder, mem: MemInfo, base: Value, word: &mut u32, v: Value) {
    let ty = b.func.ty(v);
    for i in 0..ty.lanes() {
        let lane = if ty.is_scalar() { v } else { b.extract(v, i) };
        let lane = if ty.kind() == Kind::F32 { lane } else { to_raw(b, lane, ty.kind()) };
        let offset = b.i32(*word * 4);
        let at = b.op(Op::Iadd, &[base, offset]);
        b.store(mem, at, lane);
        *word += words_of(ty.lane());
    }
}

/// A kernel that applies every case to each invocation's own operands.
fn kernel(cases: &[Case]) -> Module {
    let mut module = Module::new(Stage::Compute, cases.first().map_or("none", |c| c.op.info().name));
    module.workgroup = [INVOCATIONS as u32, 1, 1];
    let id = invocation_id(&mut module);
    let source = module.resources.push(storage("source", 0));
    let target = module.resources.push(storage("target", 1));
    let mut f = Function::new("main");
    let entry = f.add_block();
    let mut b = Builder::new(&mut f, entry);
    let id = b.input(id, Type::new(Kind::I32, 3).unwrap());
    let id = b.extract(id, 0);
    let scaled = |b: &mut Builder, words: u32| {
        let bytes = b.i32(words * 4);
        b.op(Op::Imul, &[id, bytes])
    };
    let from = scaled(&mut b, cases.iter().flat_map(|c| &c.args).map(|&t| words_of(t)).sum());
    let to = scaled(&mut b, cases.iter().map(|c| words_of(c.ty)).sum());
    let read = MemInfo::plain(Space::Storage, Some(source), 2);
    let write = MemInfo::plain(Space::Storage, Some(target), 2);
    let (mut word, mut out) = (0, 0);
    for case in cases {
        let args: Vec<Value> = case.args.iter().map(|&t| load(&mut b, read, from, &mut word, t)).collect();
        let inst = b.inst(case.op, case.flags, case.imm, &args, &[case.ty]);
        let v = b.func.result(inst).unwrap();
        store(&mut b, write, to, &mut out, v);
    }
    b.ret(&[]);
    let main = module.funcs.push(f);
    module.entry = main.into();
    module
}

/// Version 330 has no buffers: a fragment shader that applies every case to its inputs.
fn fragment(cases: &[Case]) -> Module {
    let mut module = Module::new(Stage::Fragment, "330");
    let uint4 = module.vars.push(located("words", Direction::Input, Type::I32X4, 0));
    let float4 = module.vars.push(located("floats", Direction::Input, Type::F32X4, 1));
    let result = module.vars.push(located("result", Direction::Output, Type::I32, 0));
    let mut f = Function::new("main");
    let entry = f.add_block();
    let mut b = Builder::new(&mut f, entry);
    let mut sum = b.i32(0);
    for case in cases {
        let args: Vec<Value> = case
            .args
            .iter()
            .map(|&t| {
                let (var, ty) =
                    if t.kind() == Kind::F32 { (float4, Type::F32X4) } else { (uint4, Type::I32X4) };
                let v = b.input(var, ty);
                let v = match t.lanes() {
                    1 => b.extract(v, 1),
                    n => b.shuffle(v, v, Lanes::new(&[0, 1, 2, 3][..usize::from(n)]).unwrap()),
                };
                let int = bits_of(t.kind());
                let int = t.with_kind(int.kind());
                match t.kind() {
                    Kind::Bool => b.op(Op::IcmpNe, &[v, v]),
                    Kind::F32 | Kind::I32 => v,
                    kind => {
                        let op = if int.kind().bits() == 64 { Op::Zext } else { Op::TruncInt };
                        let v = b.convert(op, Flags::NONE, v, int);
                        if kind.is_float() { b.convert(Op::Bitcast, Flags::NONE, v, t) } else { v }
                    }
                }
            })
            .collect();
        let inst = b.inst(case.op, case.flags, case.imm, &args, &[case.ty]);
        let v = b.func.result(inst).unwrap();
        for i in 0..case.ty.lanes() {
            let lane = if case.ty.is_scalar() { v } else { b.extract(v, i) };
            let lane = to_raw(&mut b, lane, case.ty.kind());
            let wide = b.func.ty(lane) == Type::I64;
            let lane = if wide { b.convert(Op::TruncInt, Flags::NONE, lane, Type::I32) } else { lane };
            sum = b.op(Op::Xor, &[sum, lane]);
        }
    }
    b.output(result, sum);
    b.ret(&[]);
    let main = module.funcs.push(f);
    module.entry = main.into();
    module
}

fn module(target: Target, cases: &[Case]) -> Module {
    if target == Target::Gl330 { fragment(cases) } else { kernel(cases) }
}

#[test]
fn every_op_is_accepted_in_every_version() {
    if !compiler() {
        return;
    }
    for target in Target::ALL {
        let (mut written, mut refused) = (0, 0);
        let mut all = Vec::new();
        for row in OPS {
            let (cases, no) = cases(row.op, target);
            written += cases.len();
            refused += no;
            all.extend(cases);
        }
        for batch in all.chunks(400) {
            accepted(&module(target, batch), &Options { target, ..Options::default() }).unwrap();
        }
        println!("{}: {written} cases written, {refused} refused with a typed error", target.name());
        assert!(written > 500);
    }
}

/// A lane without denormals, which hosts may flush.
fn sample(rng: &mut Rng, kind: Kind) -> u64 {
    match lanes::sample(rng, kind) {
        bits if kind == Kind::F32 && denormal(bits) => bits & 0x8000_0000,
        bits => bits,
    }
}

fn denormal(bits: u64) -> bool {
    bits & 0x7f80_0000 == 0 && bits & 0x7fff_ffff != 0
}

/// The value of a float.
fn number(kind: Kind, bits: u64) -> f64 {
    match kind {
        Kind::F16 => fold::convert::f16_value(bits),
        Kind::F64 => f64::from_bits(bits),
        _ => f32::from_bits(bits as u32).into(),
    }
}

/// Whether hosts are held to the fold function. Without `clamp`, floats out of the integers' range have no meaning;
/// hosts reduce arguments of trigonometric functions near 0 only; `fma` is fused where the host's is.
fn defined(case: &Case, args: &[Bits]) -> bool {
    let mut lanes = 0..usize::from(case.ty.lanes());
    let float = |i: usize| number(case.args[0].kind(), args[0].lane(i));
    match case.op {
        Op::Fma => return false,
        Op::Sin | Op::Cos => return lanes.all(|i| float(i).abs() < 1000.0),
        _ => {}
    }
    let signed = case.op == Op::F2s;
    let high = 2f64.powi(case.ty.kind().bits() as i32 - i32::from(signed));
    let range = if signed { -high..high } else { 0.0..high };
    let convert = matches!(case.op, Op::F2s | Op::F2u) && !case.flags.clamp();
    !convert || lanes.all(|i| range.contains(&float(i)))
}

fn same(case: &Case, got: Bits, want: Bits) -> bool {
    let kind = case.ty.kind();
    (0..usize::from(case.ty.lanes())).all(|i| {
        let (g, w) = (got.lane(i), want.lane(i));
        if !kind.is_float() || g == w {
            return g == w;
        }
        if float::is_nan(kind, g) || float::is_nan(kind, w) {
            return float::is_nan(kind, g) && float::is_nan(kind, w);
        }
        let ulp = case.op.info().ulp;
        let (x, y) = (number(kind, g), number(kind, w));
        // A host that flushes may give zero for a denormal result.
        (kind == Kind::F32 && denormal(w) && x == 0.0)
            || (ulp > 0 && (x - y).abs() <= y.abs().max(1e-3) * f64::from(ulp) * 2f64.powi(-23))
    })
}

#[test]
fn a_device_gives_the_bits_of_the_fold_function() {
    if !compiler() {
        return;
    }
    if device().is_none() {
        return;
    }
    let mut groups = Vec::new();
    for row in OPS {
        let (mut cases, _) = cases(row.op, Target::Vulkan450);
        // A software device takes minutes to compile all of the rarer types: the kernels of `vectors/maxwell` try them.
        let rare = |t: &Type| matches!(t.kind(), Kind::I8 | Kind::I16 | Kind::F16 | Kind::F64);
        cases.retain(|c| !c.args.iter().chain([&c.ty]).any(rare));
        while !cases.is_empty() {
            let rest = cases.split_off(cases.len().min(16));
            groups.push((groups.len() as u64, std::mem::replace(&mut cases, rest)));
        }
    }
    let seed = property::rng(7).next_u64();
    let check = |device: &mut Isolated, (number, cases): &(u64, Vec<Case>)| {
        let mut rng = Rng::new(seed.wrapping_add(*number));
        let options = Options::default();
        let text = emit(&lowered(&kernel(cases), &options), &options).unwrap();
        let (mut source, mut wanted) = (Vec::new(), Vec::new());
        for _ in 0..INVOCATIONS {
            for case in cases {
                let mut args = Vec::new();
                for &t in &case.args {
                    let mut bits = Bits::default();
                    (0..usize::from(t.lanes())).for_each(|i| bits.0[i] = sample(&mut rng, t.kind()));
                    push_words(&mut source, t, bits);
                    args.push(bits);
                }
                let cx = Cx { result: case.ty, arg: case.args[0], flags: case.flags, imm: case.imm };
                let want = fold::eval(case.op, &cx, &args, &case.args).ok();
                wanted.push((args.clone(), want.filter(|_| defined(case, &args))));
            }
        }
        let room = INVOCATIONS * cases.iter().map(|c| words_of(c.ty) as usize).sum::<usize>();
        let out = run(device, &text, &[(0, source), (1, vec![0; room])]);
        let mut got = out[1].iter().copied();
        let (mut compared, mut wrong) = (0, Vec::new());
        for (i, (args, want)) in wanted.iter().enumerate() {
            let case = &cases[i % cases.len()];
            let got = read_words(&mut got, case.ty);
            let Some(want) = want else { continue };
            compared += 1;
            if !same(case, got, *want) {
                let what = format!("{}{} {:?} -> {}", case.op.info().name, case.flags, case.args, case.ty);
                if !wrong.iter().any(|w: &String| w.starts_with(&what)) {
                    wrong.push(format!("{what}: {:?} {args:?} gives {got:?}, not {want:?}", case.imm));
                }
            }
        }
        (compared, wrong)
    };
    let results = spread(&groups, || Ok::<_, ()>(narrow_worker()), check).unwrap();
    let ran: usize = groups.iter().map(|(_, cases)| cases.len()).sum();
    let compared: usize = results.iter().map(|r| r.0).sum();
    let wrong: Vec<String> = results.into_iter().flat_map(|r| r.1).collect();
    println!("{ran} cases, {compared} results compared");
    assert!(compared > 20_000);
    assert!(wrong.is_empty(), "{} of {ran}:\n{}", wrong.len(), wrong.join("\n"));
}
