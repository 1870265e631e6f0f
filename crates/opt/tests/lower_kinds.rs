//! Numbers that a host lacks (64-bit floats and integers, integers and floats of less than 32 bits) give the bits that they gave, made of
//! 32-bit ones by the whole pass list: each op that such numbers have, with its flags, on random and special operands, and
//! on all halves and 8-bit integers.

mod ops;

use ops::{Case, cases, compare, is_legalized, module, operands, run};
use xenoglot_ir::op::OPS;
use xenoglot_ir::{Flags, Imm, Kind, Module, NanMode, Op, Round, Type};
use xenoglot_opt::pipeline::{Level, Verify};
use xenoglot_opt::{Context, Lacks, Options, legalize, lower_floats, lower_narrow, optimize};
use xenoglot_testgen::{ir, property};

/// A host that has 32-bit numbers alone.
fn words_only() -> Lacks {
    Lacks {
        narrow_memory: true,
        floats: lower_floats::Options {
            directed: true,
            fma: true,
            fma64: true,
            doubles: false,
            zeros: false,
            quotients: true,
            float64: true,
            halves: true,
        },
        narrow: lower_narrow::Options { ints: true, halves: true },
        arithmetic: legalize::Options::ALL,
        int64: true,
        ..Lacks::default()
    }
}

/// The module for such a host. Nothing but words is left in it.
fn lowered(module: &Module, what: &dyn std::fmt::Debug) -> Module {
    let mut after = module.clone();
    let options = Options { level: Some(Level::None), lacks: words_only(), ..Options::default() };
    optimize(&mut after, &mut Context::new(), &options, &mut Verify)
        .unwrap_or_else(|e| panic!("{what:?}: {e}\n{module}"));
    for f in after.funcs.values() {
        let insts = f.layout.iter().flat_map(|&block| &f.blocks[block].insts);
        let values = insts.flat_map(|&inst| f.results(inst));
        let is_word = |kind: Kind| matches!(kind, Kind::Bool | Kind::I32 | Kind::F32) || kind.is_handle();
        for &v in values {
            assert!(is_word(f.ty(v).kind()), "{what:?}: a {} is left\n{after}", f.ty(v));
        }
    }
    after
}

fn check(case: &Case, operands: &[u64]) {
    let before = module(case);
    let after = lowered(&before, case);
    compare(case, operands, &run(&before, case, operands), &run(&after, case, operands), || {
        after.to_string()
    });
}

/// Whether an op has a form in words, on these kinds.
fn is_lowered(case: &Case) -> bool {
    let doubles = case.args.iter().chain([&case.ty]).any(|ty| ty.kind() == Kind::F64);
    let made = !doubles || !matches!(case.op, Op::Fldexp | Op::FfrexpExp | Op::FfrexpMant);
    let by_host = matches!(case.op, Op::Rsqrt) && !doubles;
    made && !by_host
}

fn narrow_or_wide(case: &Case) -> bool {
    case.args
        .iter()
        .chain([&case.ty])
        .any(|ty| matches!(ty.kind(), Kind::I8 | Kind::I16 | Kind::F16 | Kind::F64 | Kind::I64))
}

#[test]
fn every_op_with_every_flag_is_what_it_was() {
    let mut rng = property::rng(1);
    let sets = property::budget(60, 20_000);
    let mut count = 0;
    for info in OPS.iter().filter(|info| is_legalized(info)) {
        for case in cases(info).iter().filter(|case| is_lowered(case) && narrow_or_wide(case)) {
            check(case, &operands(&mut rng, case, sets));
            count += 1;
        }
    }
    assert!(count > 1000, "{count} cases");
}

/// Sums, products and conversions of each width, in every direction.
#[test]
fn rounding_in_any_direction_is_what_it_was() {
    let mut rng = property::rng(2);
    let sets = property::budget(40, 10_000);
    let of = Type::scalar;
    for round in [Round::Even, Round::Zero, Round::Up, Round::Down] {
        for base in [Flags::NONE, Flags::NONE.with_ftz(), Flags::NONE.with_sat()] {
            let flags = base.with_round(round);
            for kind in [Kind::F16, Kind::F64] {
                for (op, n) in [(Op::Fadd, 2), (Op::Fsub, 2), (Op::Fmul, 2), (Op::Fma, 3)] {
                    let case = Case { flags, ..Case::new(op, &vec![of(kind); n], of(kind)) };
                    check(&case, &operands(&mut rng, &case, sets));
                }
            }
            for (from, to) in [(Kind::F64, Kind::F16), (Kind::F64, Kind::F32), (Kind::F32, Kind::F16)] {
                let case = Case { flags, ..Case::new(Op::F2f, &[of(from)], of(to)) };
                check(&case, &operands(&mut rng, &case, sets));
            }
            for (from, to) in [(Kind::I64, Kind::F64), (Kind::I32, Kind::F16), (Kind::I64, Kind::F16)] {
                for op in [Op::S2f, Op::U2f] {
                    let case = Case { flags, ..Case::new(op, &[of(from)], of(to)) };
                    check(&case, &operands(&mut rng, &case, sets));
                }
            }
        }
    }
}

/// Quotients and roots have a loop of digits: more operands than others.
#[test]
fn quotients_and_roots_of_doubles_are_right() {
    let mut rng = property::rng(3);
    let sets = property::budget(2000, 1_000_000);
    let double = Type::F64;
    for (op, n) in
        [(Op::Fdiv, 2), (Op::Sqrt, 1), (Op::Rcp, 1), (Op::Fma, 3), (Op::Floor, 1), (Op::RoundEven, 1)]
    {
        let case = Case::new(op, &vec![double; n], double);
        check(&case, &operands(&mut rng, &case, sets));
    }
    for mode in [NanMode::Other, NanMode::First, NanMode::Second, NanMode::Propagate] {
        let case = Case { flags: Flags::NONE.with_nan(mode), ..Case::new(Op::Fmin, &[double; 2], double) };
        check(&case, &operands(&mut rng, &case, sets));
    }
}

#[test]
fn moves_keep_all_bits() {
    let mut rng = property::rng(4);
    let vector = |kind, lanes| Type::new(kind, lanes).unwrap();
    let mut all = Vec::new();
    let kinds = [Kind::I8, Kind::I16, Kind::F16, Kind::I32, Kind::F32, Kind::I64, Kind::F64];
    let types: Vec<Type> = kinds.iter().flat_map(|&k| (1..=4).map(move |n| vector(k, n))).collect();
    for &from in &types {
        for &to in types.iter().filter(|to| to.bits() == from.bits()) {
            all.push(Case::new(Op::Bitcast, &[from], to));
        }
        all.push(Case::new(Op::Select, &[Type::BOOL, from, from], from));
        if !from.is_scalar() {
            let lane = Imm::Lane(from.lanes() - 1);
            all.push(Case::new(Op::Splat, &[from.lane()], from));
            all.push(Case { imm: lane, ..Case::new(Op::Extract, &[from], from.lane()) });
            all.push(Case { imm: lane, ..Case::new(Op::Insert, &[from, from.lane()], from) });
        }
    }
    for (n, from) in kinds.iter().enumerate().filter(|(_, kind)| kind.is_int()) {
        for to in kinds.iter().skip(n + 1).filter(|to| to.is_int()) {
            let (from, to) = (Type::scalar(*from), Type::scalar(*to));
            all.extend([Op::Zext, Op::Sext].map(|op| Case::new(op, &[from], to)));
            all.push(Case::new(Op::TruncInt, &[to], from));
        }
        let to = Type::scalar(*from);
        all.extend([Op::Zext, Op::Sext].map(|op| Case::new(op, &[Type::BOOL], to)));
    }
    for case in all.iter().filter(|case| narrow_or_wide(case)) {
        check(case, &operands(&mut rng, case, 64));
    }
}

/// All halves, and all pairs of 8-bit integers.
#[test]
fn small_operands_are_tried_without_exception() {
    let halves: Vec<u64> = (0..1 << 16).collect();
    let pairs: Vec<u64> = (0..1u64 << 16).flat_map(|v| [v & 0xff, v >> 8]).collect();
    let (half, byte) = (Type::scalar(Kind::F16), Type::scalar(Kind::I8));
    for info in OPS.iter().filter(|info| is_legalized(info)) {
        for case in cases(info).iter().filter(|case| is_lowered(case)) {
            if case.args == [half] {
                check(case, &halves);
            } else if case.args == [byte; 2] {
                check(case, &pairs);
            } else if case.args == [byte] {
                check(case, &halves[..256]);
            }
        }
    }
}

/// Whole programs.
#[test]
fn random_programs_do_what_they_did() {
    let options = ir::Options {
        kinds: vec![Kind::I64, Kind::F64, Kind::I16, Kind::I8, Kind::F16],
        nodes: 24,
        denormals: true,
        ..ir::Options::default()
    };
    let words = ir::output_words(&options);
    let mut ended = 0;
    for seed in property::seeds(property::budget(100, 20_000)) {
        let module = ir::generate(seed, &options);
        let input = ir::inputs(seed, &options);
        let Some(want) = ir::interpret(&module, &input, words) else { continue };
        let after = lowered(&module, &seed);
        // What is lowered takes more steps.
        let Some(got) = ir::interpret(&after, &input, words) else { continue };
        assert_eq!(got, want, "seed {seed}\n{module}\n{after}");
        ended += 1;
    }
    assert!(ended > 30, "{ended} runs");
}
