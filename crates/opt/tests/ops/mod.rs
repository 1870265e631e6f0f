//! Ops one by one: modules that apply an op to operands from a buffer, with every flag and kind, on operands that matter.

use xenoglot_interp::{Bindings, Interpreter, Limits};
use xenoglot_ir::entity::EntityRef;
use xenoglot_ir::fold::float::{is_nan, nan};
use xenoglot_ir::imm::FloatFormat;
use xenoglot_ir::module::{
    Access, Builtin, Count, Direction, Interpolation, OutOfBounds, ResourceData, ResourceKind, Semantic,
    VarData,
};
use xenoglot_ir::op::{Class, OpInfo, Sig};
use xenoglot_ir::{
    Builder, DivZero, Flags, Function, Imm, Kind, MemInfo, Module, NanMode, Op, Resource, Round, Space,
    Stage, Type, Value, verify,
};
use xenoglot_testgen::rng::Rng;

/// An op with types and flags.
#[derive(Clone, Debug)]
pub struct Case {
    pub op: Op,
    pub flags: Flags,
    pub imm: Imm,
    pub args: Vec<Type>,
    pub ty: Type,
    /// Which operands are this constant in every lane.
    pub constants: Vec<Option<u64>>,
}

impl Case {
    pub fn new(op: Op, args: &[Type], ty: Type) -> Case {
        let constants = vec![None; args.len()];
        Case { op, flags: Flags::NONE, imm: Imm::None, args: args.to_vec(), ty, constants }
    }
}

/// Applies the case to operands of each invocation: a word of eight bytes each lane.
pub fn module(case: &Case) -> Module {
    let mut m = Module::new(Stage::Compute, "op");
    let resource = |binding| ResourceData {
        name: format!("b{binding}"),
        kind: ResourceKind::StorageBuffer { access: Access::ReadWrite },
        set: 0,
        binding,
        count: Count::One,
        oob: OutOfBounds::Zero,
    };
    let [input, output] = [0, 1].map(|n| m.resources.push(resource(n)));
    let id = m.vars.push(VarData {
        name: "id".to_owned(),
        direction: Direction::Input,
        ty: Type::I32X3,
        semantic: Semantic::Builtin(Builtin::GlobalInvocationId),
        interpolation: Interpolation::Flat,
        array: None,
        inner: None,
        stream: 0,
    });
    let mut f = Function::new("main");
    let block = f.add_block();
    let mut b = Builder::new(&mut f, block);
    let id = b.input(id, Type::I32X3);
    let id = b.extract(id, 0);
    let lanes: u32 = case.args.iter().map(|ty| u32::from(ty.lanes())).sum();
    let stride = b.i32(8 * lanes);
    let base = b.op(Op::Imul, &[id, stride]);
    let mut word = 0;
    let mut args: Vec<Value> = Vec::new();
    for (&ty, constant) in case.args.iter().zip(&case.constants) {
        let of_lanes: Vec<Value> = (0..ty.lanes())
            .map(|_| {
                let at = b.i32(8 * word);
                let at = b.op(Op::Iadd, &[base, at]);
                word += 1;
                let mem = MemInfo::plain(Space::Storage, Some(input), 3);
                if ty.kind() == Kind::Bool {
                    let raw = b.load(mem, at, Type::I32);
                    let one = b.i32(1);
                    let bit = b.op(Op::And, &[raw, one]);
                    return b.op(Op::IcmpEq, &[bit, one]);
                }
                b.load(mem, at, ty.lane())
            })
            .collect();
        args.push(match constant {
            Some(bits) => b.constant(ty, xenoglot_ir::Bits::splat(ty, *bits)),
            None if ty.is_scalar() => of_lanes[0],
            None => b.op(Op::Build, &of_lanes),
        });
    }
    let made = b.inst(case.op, case.flags, case.imm, &args, &[case.ty]);
    let result = b.func.results(made)[0];
    let stride = b.i32(8 * u32::from(case.ty.lanes()));
    let base = b.op(Op::Imul, &[id, stride]);
    for lane in 0..case.ty.lanes() {
        let v = if case.ty.is_scalar() { result } else { b.extract(result, lane) };
        let v = if case.ty.kind() == Kind::Bool { b.convert(Op::Zext, Flags::NONE, v, Type::I32) } else { v };
        let at = b.i32(8 * u32::from(lane));
        let at = b.op(Op::Iadd, &[base, at]);
        b.store(MemInfo::plain(Space::Storage, Some(output), 3), at, v);
    }
    b.ret(&[]);
    m.entry = m.funcs.push(f).into();
    verify(&m).unwrap_or_else(|e| panic!("{case:?}: {e}"));
    m
}

pub fn run(m: &Module, case: &Case, operands: &[u64]) -> Vec<u64> {
    let lanes: usize = case.args.iter().map(|ty| usize::from(ty.lanes())).sum();
    let sets = operands.len() / lanes;
    let words: Vec<u32> = operands.iter().flat_map(|&v| [v as u32, (v >> 32) as u32]).collect();
    let mut bindings = Bindings::new(m);
    bindings.set_words(Resource::new(0), &words);
    bindings.set_words(Resource::new(1), &vec![0; 2 * sets * usize::from(case.ty.lanes())]);
    let limits = Limits { fuel: u64::MAX, ..Limits::default() };
    Interpreter::new(m).unwrap().dispatch([sets as u32, 1, 1], &mut bindings, &limits).unwrap();
    let kind = case.ty.kind();
    bindings
        .words(Resource::new(1))
        .chunks(2)
        .map(|w| u64::from(w[0]) | u64::from(w[1]) << 32)
        // Which NaN it is does not matter.
        .map(|bits| if kind.is_float() && is_nan(kind, bits) { nan(kind) } else { bits })
        .collect()
}

/// Bits dense around what matters: borders of formats, ties, operands that are equal or opposite.
pub fn pattern(rng: &mut Rng, kind: Kind, before: u64) -> u64 {
    let (bits, fraction) = match kind {
        Kind::F16 => (16, 10),
        Kind::F32 => (32, 23),
        Kind::F64 => (64, 52),
        Kind::Bool => (1, 1),
        _ => (kind.bits(), kind.bits() / 2),
    };
    let mask = u64::MAX >> (64 - bits);
    let random = u64::from(rng.next_u32()) << 32 | u64::from(rng.next_u32());
    let last = mask >> 1 >> fraction << fraction;
    let sign = random & 1 << (bits - 1);
    mask & match rng.below(14) {
        0 => sign,
        1 => sign | last,
        2 => last | random,
        3 => sign | 1u64 << (fraction % 64),
        4 => sign | (random & ((1 << fraction) - 1)),
        5 => sign | last.wrapping_sub(1),
        6 => sign | 1,
        7 => before.wrapping_add(random % 5).wrapping_sub(2),
        8 => (before ^ 1 << (bits - 1)).wrapping_add(random % 5).wrapping_sub(2),
        9 => last >> 1 & last | sign,
        10 => random & (u64::MAX << rng.below(bits)),
        11 => random >> rng.below(bits),
        12 => u64::from(rng.below(2 * bits)),
        _ => random,
    }
}

pub fn operands(rng: &mut Rng, case: &Case, sets: usize) -> Vec<u64> {
    let mut before = 0;
    let mut out = Vec::new();
    for _ in 0..sets {
        for ty in &case.args {
            for _ in 0..ty.lanes() {
                before = pattern(rng, ty.kind(), before);
                out.push(before);
            }
        }
    }
    out
}

/// Fails where the words differ, with the operands of the first that do.
pub fn compare(case: &Case, operands: &[u64], want: &[u64], got: &[u64], after: impl Fn() -> String) {
    if want == got {
        return;
    }
    let lanes: usize = case.args.iter().map(|ty| usize::from(ty.lanes())).sum();
    let per = usize::from(case.ty.lanes());
    let at = want.iter().zip(got).position(|(a, b)| a != b).unwrap() / per;
    panic!(
        "{case:?}: of {:x?} {:x?} was wanted, found {:x?}\n{}",
        &operands[at * lanes..][..lanes],
        &want[at * per..][..per],
        &got[at * per..][..per],
        after(),
    );
}

/// The flags that an op may carry, one by one and in the combinations that meet.
pub fn flag_sets(info: &OpInfo) -> Vec<Flags> {
    let none = Flags::NONE;
    let mut sets = vec![none];
    let add = |sets: &mut Vec<Flags>, with: &dyn Fn(Flags) -> Flags| {
        let more: Vec<Flags> = sets.iter().map(|&f| with(f)).filter(|f| f.within(info.flags)).collect();
        sets.extend(more);
    };
    add(&mut sets, &|f| f.with_ftz());
    add(&mut sets, &|f| f.with_sat());
    add(&mut sets, &|f| f.with_zero_wins());
    add(&mut sets, &|f| if f.zero_wins() { f } else { f.with_fmz() });
    add(&mut sets, &|f| f.with_clamp());
    if info.flags.nan() != NanMode::Other {
        for mode in [NanMode::Second, NanMode::First, NanMode::Propagate] {
            add(&mut sets, &|f| if f.nan() == NanMode::Other { f.with_nan(mode) } else { f });
        }
    }
    if info.flags.div_zero() != DivZero::Zero {
        sets.push(none.with_div_zero(DivZero::Ones));
    }
    if matches!(info.op, Op::F2s | Op::F2u) {
        for round in [Round::Even, Round::Zero, Round::Up, Round::Down] {
            add(&mut sets, &|f| if f.round() == Round::Natural { f.with_round(round) } else { f });
        }
    }
    sets.sort_by_key(|f| f.to_string());
    sets.dedup();
    // Without it what is out of range has no result to compare.
    sets.retain(|f| !matches!(info.op, Op::F2s | Op::F2u) || f.clamp());
    sets
}

pub fn kinds(class: Class) -> Vec<Kind> {
    let ints = [Kind::I8, Kind::I16, Kind::I32, Kind::I64];
    let floats = [Kind::F16, Kind::F32, Kind::F64];
    match class {
        Class::Int | Class::Bits => ints.to_vec(),
        Class::Single => vec![Kind::F32],
        Class::Float => floats.to_vec(),
        _ => ints.into_iter().chain(floats).collect(),
    }
}

/// The cases of an op: every flag and kind, scalars and vectors.
pub fn cases(info: &OpInfo) -> Vec<Case> {
    let mut out = Vec::new();
    for lanes in [1, 3] {
        let of = |kind| Type::new(kind, lanes).unwrap();
        let bools = of(Kind::Bool);
        let mut shapes: Vec<(Vec<Type>, Type)> = Vec::new();
        match info.sig {
            Sig::Same(n, class) => {
                shapes.extend(kinds(class).into_iter().map(|k| (vec![of(k); n.into()], of(k))));
            }
            Sig::Test(n, class) => {
                shapes.extend(kinds(class).into_iter().map(|k| (vec![of(k); n.into()], bools)));
            }
            Sig::CarryIn => {
                shapes.extend(kinds(Class::Int).into_iter().map(|k| (vec![of(k), of(k), bools], of(k))));
            }
            Sig::CarryOut => {
                shapes.extend(kinds(Class::Int).into_iter().map(|k| (vec![of(k), of(k), bools], bools)));
            }
            Sig::Convert(from, to, _) if matches!(from, Class::Float) || matches!(to, Class::Float) => {
                for from in kinds(from) {
                    for to in kinds(to).into_iter().filter(|&to| to != from) {
                        shapes.push((vec![of(from)], of(to)));
                    }
                }
            }
            Sig::Dot(n) if lanes == 1 => {
                for kind in kinds(Class::Float) {
                    shapes.push((vec![Type::new(kind, n).unwrap(); 2], Type::scalar(kind)));
                }
            }
            Sig::LoadExp => {
                shapes.extend([Kind::F16, Kind::F32].map(|k| (vec![of(k), of(Kind::I32)], of(k))));
            }
            Sig::ExtractExp => {
                shapes.extend([Kind::F16, Kind::F32].map(|k| (vec![of(k)], of(Kind::I32))));
            }
            _ => {}
        }
        for (args, ty) in shapes {
            let no_f64 = matches!(info.op, Op::FfrexpMant) && ty.kind() == Kind::F64;
            let of_bytes = matches!(info.op, Op::PermuteBytes | Op::Sdot4 | Op::Udot4 | Op::SUdot4);
            if no_f64 || of_bytes && ty.kind() != Kind::I32 {
                continue;
            }
            for flags in flag_sets(info) {
                let imm = if info.op == Op::Fquantize { Imm::Format(FloatFormat::F24) } else { Imm::None };
                out.push(Case { flags, imm, ..Case::new(info.op, &args, ty) });
            }
        }
    }
    out
}

/// Ops that the pass may touch: those of float rules, and integer ops that hosts lack.
pub fn is_legalized(info: &OpInfo) -> bool {
    let by_host = matches!(info.op, Op::Exp2 | Op::Log2 | Op::Sin | Op::Cos);
    let sigs = matches!(
        info.sig,
        Sig::Same(..)
            | Sig::Test(..)
            | Sig::CarryIn
            | Sig::CarryOut
            | Sig::Convert(..)
            | Sig::Dot(_)
            | Sig::LoadExp
            | Sig::ExtractExp
    );
    sigs && info.traits.pure && !info.traits.convergent && !by_host
}
