//! Float ops give the same bits before and after `lower_floats`, NaNs included.

use xenoglot_interp::{Bindings, Interpreter, Limits};
use xenoglot_ir::entity::EntityRef;
use xenoglot_ir::fold::float;
use xenoglot_ir::module::{Access, Count, OutOfBounds, ResourceData, ResourceKind};
use xenoglot_ir::{
    Builder, Flags, Function, Imm, Kind, MemInfo, Module, Op, Resource, Round, Space, Stage, Type, verify,
};
use xenoglot_opt::Changed;
use xenoglot_opt::Lacks;
use xenoglot_opt::lower_floats::{self, Options};
use xenoglot_testgen::property;
use xenoglot_testgen::rng::Rng;

/// Operand sets of a module, eight bytes for each operand.
const SETS: u32 = 96;
const ROUNDS: [Round; 5] = [Round::Natural, Round::Even, Round::Zero, Round::Up, Round::Down];

/// Loads operands from the first buffer, applies the op, and stores the result to the second.
fn module(op: Op, flags: Flags, from: Type, to: Type, operands: u32) -> Module {
    let mut m = Module::new(Stage::Compute, "floats");
    let resource = |binding| ResourceData {
        name: format!("b{binding}"),
        kind: ResourceKind::StorageBuffer { access: Access::ReadWrite },
        set: 0,
        binding,
        count: Count::One,
        oob: OutOfBounds::Zero,
    };
    let [input, output] = [0, 1].map(|n| m.resources.push(resource(n)));
    let mut f = Function::new("main");
    let block = f.add_block();
    let mut b = Builder::new(&mut f, block);
    for set in 0..SETS {
        let args: Vec<_> = (0..operands)
            .map(|i| {
                let at = b.i32(8 * (operands * set + i));
                b.load(MemInfo::plain(Space::Storage, Some(input), 3), at, from)
            })
            .collect();
        let made = b.inst(op, flags, Imm::None, &args, &[to]);
        let (result, at) = (b.func.results(made)[0], b.i32(8 * set));
        b.store(MemInfo::plain(Space::Storage, Some(output), 3), at, result);
    }
    b.ret(&[]);
    m.entry = m.funcs.push(f).into();
    verify(&m).unwrap();
    m
}

fn run(m: &Module, words: &[u32]) -> Vec<u32> {
    let mut bindings = Bindings::new(m);
    bindings.set_words(Resource::new(0), words);
    bindings.set_words(Resource::new(1), &[0; 2 * SETS as usize]);
    Interpreter::new(m).unwrap().dispatch([1; 3], &mut bindings, &Limits::default()).unwrap();
    bindings.words(Resource::new(1))
}

/// Bits dense around what matters: borders of formats, ties, operands that cancel.
fn pattern(rng: &mut Rng, kind: Kind, before: u64) -> u64 {
    let (bits, fraction) = match kind {
        Kind::F16 => (16, 10),
        Kind::F32 => (32, 23),
        Kind::F64 => (64, 52),
        _ => (kind.bits(), kind.bits() / 2),
    };
    let mask = u64::MAX >> (64 - bits);
    let random = u64::from(rng.next_u32()) << 32 | u64::from(rng.next_u32());
    let last = mask >> 1 >> fraction << fraction;
    let sign = random & 1 << (bits - 1);
    mask & match rng.below(12) {
        0 => sign,
        1 => sign | last,
        2 => last | random,
        3 => sign | 1 << fraction,
        4 => sign | (random & ((1 << fraction) - 1)),
        5 => sign | (last - 1),
        6 => sign | 1,
        // Near the operand before, and its opposite.
        7 => before.wrapping_add(random % 5).wrapping_sub(2),
        8 => (before ^ 1 << (bits - 1)).wrapping_add(random % 5).wrapping_sub(2),
        // Few bits, so that results are exact or ties; near one.
        9 => (random & (u64::MAX << (fraction - 2))) & !last | last >> 1 & last,
        10 => random & (u64::MAX << rng.below(bits)),
        _ => random,
    }
}

fn operands(rng: &mut Rng, kind: Kind, count: u32) -> Vec<u32> {
    let mut before = 0;
    (0..SETS * count)
        .flat_map(|_| {
            before = pattern(rng, kind, before);
            [before as u32, (before >> 32) as u32]
        })
        .collect()
}

fn check(rng: &mut Rng, op: Op, flags: Flags, from: Kind, to: Kind, count: u32) {
    let (from_type, to_type) = (Type::scalar(from), Type::scalar(to));
    let before = module(op, flags, from_type, to_type, count);
    let words = operands(rng, from, count);
    let want = run(&before, &words);
    for doubles in [false, true] {
        let mut after = before.clone();
        let floats = Options { directed: true, fma: true, doubles, ..Options::default() };
        let changed = lower_floats::run(&mut after, &Lacks { floats, ..Lacks::default() });
        let directed = !matches!(flags.round(), Round::Natural | Round::Even);
        assert_eq!(changed != Changed::NONE, directed || op == Op::Fma);
        verify(&after).unwrap_or_else(|e| panic!("{op:?}{flags}: {e}"));
        let got = run(&after, &words);
        for (set, (want, got)) in want.chunks(2).zip(got.chunks(2)).enumerate() {
            let args = &words[2 * count as usize * set..][..2 * count as usize];
            assert_eq!(got, want, "{op:?}{flags} {from:?} {to:?} doubles {doubles} {args:x?}");
        }
    }
}

#[test]
fn quotients_and_roots_are_what_they_were() {
    let mut rng = property::rng(2);
    let even = Flags::NONE.with_round(Round::Even);
    for flags in [even, even.with_ftz(), even.with_sat(), even.with_ftz().with_sat()] {
        for (op, count) in [(Op::Fdiv, 2), (Op::Sqrt, 1)] {
            for fma in [false, true] {
                for _ in 0..property::budget(20, 500) {
                    let before = module(op, flags, Type::F32, Type::F32, count);
                    let words = operands(&mut rng, Kind::F32, count);
                    let mut after = before.clone();
                    let floats = Options { quotients: true, fma, ..Options::default() };
                    assert!(
                        lower_floats::run(&mut after, &Lacks { floats, ..Lacks::default() }) != Changed::NONE
                    );
                    verify(&after).unwrap_or_else(|e| panic!("{op:?}{flags}: {e}"));
                    assert_eq!(
                        run(&after, &words),
                        run(&before, &words),
                        "{op:?}{flags}, fma lacking: {fma}"
                    );
                }
            }
        }
    }
    // Others may be some units off.
    let mut other = module(Op::Fdiv, Flags::NONE, Type::F32, Type::F32, 2);
    let floats = Options { quotients: true, ..Options::default() };
    assert!(lower_floats::run(&mut other, &Lacks { floats, ..Lacks::default() }) == Changed::NONE);
}

#[test]
fn lowered_arithmetic_is_what_it_was() {
    let mut rng = property::rng(1);
    let none = Flags::NONE;
    for kind in [Kind::F16, Kind::F32, Kind::F64] {
        for round in ROUNDS {
            for base in [none, none.with_ftz(), none.with_sat(), none.with_ftz().with_sat()] {
                let flags = base.with_round(round);
                for (op, count) in [(Op::Fadd, 2), (Op::Fsub, 2), (Op::Fmul, 2), (Op::Fma, 3)] {
                    check(&mut rng, op, flags, kind, kind, count);
                }
                for (op, count) in [(Op::Fmul, 2), (Op::Fma, 3)] {
                    check(&mut rng, op, flags.with_fmz(), kind, kind, count);
                    check(&mut rng, op, flags.with_zero_wins(), kind, kind, count);
                }
            }
        }
    }
}

#[test]
fn lowered_conversions_are_what_they_were() {
    let mut rng = property::rng(2);
    let none = Flags::NONE;
    for to in [Kind::F16, Kind::F32, Kind::F64] {
        for round in ROUNDS {
            for base in [none, none.with_ftz(), none.with_sat(), none.with_ftz().with_sat()] {
                let flags = base.with_round(round);
                for from in [Kind::F16, Kind::F32, Kind::F64].into_iter().filter(|&k| k != to) {
                    check(&mut rng, Op::F2f, flags, from, to, 1);
                }
                for from in [Kind::I8, Kind::I16, Kind::I32, Kind::I64] {
                    check(&mut rng, Op::S2f, flags, from, to, 1);
                    check(&mut rng, Op::U2f, flags, from, to, 1);
                }
            }
        }
    }
}

#[test]
fn sums_with_zero_keep_its_sign() {
    let mut rng = property::rng(3);
    for kind in [Kind::F16, Kind::F32, Kind::F64] {
        for flags in
            [Flags::NONE, Flags::NONE.with_ftz(), Flags::NONE.with_sat(), Flags::NONE.with_ftz().with_sat()]
        {
            for zero_first in [false, true] {
                let ty = Type::scalar(kind);
                let mut before = module(Op::Fadd, flags, ty, ty, 2);
                let f = before.funcs.values_mut().next().unwrap();
                let block = f.layout[0];
                let zero = Builder::new(f, block).constant(ty, Default::default());
                let made = f.blocks[block].insts.pop().unwrap();
                f.blocks[block].insts.insert(0, made);
                for i in 0..f.blocks[block].insts.len() {
                    let inst = f.blocks[block].insts[i];
                    if f.insts[inst].op == Op::Fadd {
                        let Function { insts, pool, .. } = f;
                        insts[inst].args.as_mut_slice(pool)[usize::from(!zero_first)] = zero;
                    }
                }
                verify(&before).unwrap();
                let mut after = before.clone();
                let floats = Options { zeros: true, ..Options::default() };
                let lacks = Lacks { floats, ..Lacks::default() };
                assert_ne!(lower_floats::run(&mut after, &lacks), Changed::NONE);
                verify(&after).unwrap();
                let words = operands(&mut rng, kind, 2);
                // A sum has its operand's NaN, or another.
                let canonical = |words: Vec<u32>| -> Vec<u64> {
                    let bits = words.chunks(2).map(|w| u64::from(w[0]) | u64::from(w[1]) << 32);
                    bits.map(|b| if float::is_nan(kind, b) { float::nan(kind) } else { b }).collect()
                };
                let [got, want] = [&after, &before].map(|m| canonical(run(m, &words)));
                assert_eq!(got, want, "{kind:?}{flags}");
            }
        }
    }
}
