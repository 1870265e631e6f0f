//! What `legalize` makes of an op gives the bits that the op's fold function gives: for each op, its flags and types, on
//! random and special operands; for 8-bit operands and 16-bit floats, on all of them.

mod ops;

use ops::{Case, cases, compare, is_legalized, module, operands, run};
use xenoglot_ir::op::OPS;
use xenoglot_ir::{Imm, Kind, Op, Type, verify};
use xenoglot_opt::legalize::{self, Options};
use xenoglot_opt::{Changed, Context, Lacks, lower_int64};
use xenoglot_testgen::{ir, property};

/// Compares a case before and after for hosts of several kinds.
fn check(case: &Case, operands: &[u64]) {
    let before = module(case);
    let want = run(&before, case, operands);
    let wide = case.args.iter().chain([&case.ty]).any(|ty| ty.kind() == Kind::I64);
    for (arithmetic, int64) in [(Options::RULES, false), (Options::ALL, false), (Options::ALL, true)] {
        if int64 && !wide {
            continue;
        }
        let mut after = before.clone();
        let lacks = Lacks { arithmetic, int64, ..Lacks::default() };
        let mut changed = legalize::run(&mut after, &lacks, &mut Context::new());
        if int64 {
            changed = lower_int64::run(&mut after, &lacks);
            let mut values = after.funcs.values().flat_map(|f| f.values.values());
            assert!(values.all(|data| data.ty.kind() != Kind::I64), "{case:?}: 64 bits are left\n{after}");
        }
        verify(&after).unwrap_or_else(|e| panic!("{case:?}: {e}\n{after}"));
        if changed == Changed::NONE {
            assert_eq!(before.to_string(), after.to_string());
            continue;
        }
        let got = run(&after, case, operands);
        compare(case, operands, &want, &got, || format!("{lacks:?}\n{after}"));
    }
}

#[test]
fn every_op_with_every_flag_is_what_it_was() {
    let mut rng = property::rng(1);
    let sets = property::budget(160, 20_000);
    let mut count = 0;
    for info in OPS.iter().filter(|info| is_legalized(info)) {
        for case in cases(info) {
            check(&case, &operands(&mut rng, &case, sets));
            count += 1;
        }
    }
    assert!(count > 1000, "{count} cases");
}

#[test]
fn constants_in_places_are_what_they_were() {
    let mut rng = property::rng(2);
    let words: Vec<u64> = (0..70).chain([0xff, 0xffff_ffff, u64::MAX]).collect();
    for kind in [Kind::I8, Kind::I32, Kind::I64] {
        let ty = Type::scalar(kind);
        for &n in &words {
            let n = n & kind.mask();
            for (op, count) in
                [(Op::Rotl, 2), (Op::FunnelL, 3), (Op::FunnelR, 3), (Op::Udiv, 2), (Op::Sdiv, 2)]
            {
                let mut case = Case::new(op, &vec![ty; count], ty);
                case.constants[count - 1] = Some(n);
                check(&case, &operands(&mut rng, &case, 24));
            }
            for (op, count) in [(Op::Urem, 2), (Op::Srem, 2)] {
                let mut case = Case::new(op, &vec![ty; count], ty);
                case.constants[1] = Some(n);
                check(&case, &operands(&mut rng, &case, 24));
            }
            for &length in words.iter().step_by(5) {
                for (op, count) in [(Op::BitfieldU, 3), (Op::BitfieldS, 3), (Op::BitfieldInsert, 4)] {
                    let mut case = Case::new(op, &vec![ty; count], ty);
                    case.constants[count - 2] = Some(n);
                    case.constants[count - 1] = Some(length & kind.mask());
                    check(&case, &operands(&mut rng, &case, 12));
                }
            }
        }
    }
    for table in 0..256 {
        let mut case = Case::new(Op::Lop3, &[Type::I32; 4], Type::I32);
        case.constants[3] = Some(table);
        check(&case, &operands(&mut rng, &case, 12));
    }
}

/// What has no flags and stays on hosts with 64-bit integers.
#[test]
fn moves_of_64_bits_are_what_they_were() {
    let mut rng = property::rng(3);
    for lanes in [1, 2, 4] {
        let of = |kind| Type::new(kind, lanes).unwrap();
        let wide = of(Kind::I64);
        let mut all = Vec::new();
        for kind in [Kind::Bool, Kind::I8, Kind::I16, Kind::I32] {
            all.extend([Op::Zext, Op::Sext].map(|op| Case::new(op, &[of(kind)], wide)));
            if kind != Kind::Bool {
                all.push(Case::new(Op::TruncInt, &[wide], of(kind)));
            }
        }
        all.push(Case::new(Op::Select, &[of(Kind::Bool), wide, wide], wide));
        all.push(Case::new(Op::Select, &[Type::BOOL, wide, wide], wide));
        all.push(Case::new(Op::Freeze, &[wide], wide));
        if lanes == 1 {
            for other in [Type::I32X2, Type::F32X2, Type::scalar(Kind::F64)] {
                all.push(Case::new(Op::Bitcast, &[wide], other));
                all.push(Case::new(Op::Bitcast, &[other], wide));
            }
        } else {
            all.push(Case::new(Op::Splat, &[Type::I64], wide));
            all.push(Case::new(Op::Build, &vec![Type::I64; lanes.into()], wide));
            let lane = Imm::Lane(lanes - 1);
            all.push(Case { imm: lane, ..Case::new(Op::Extract, &[wide], Type::I64) });
            all.push(Case { imm: lane, ..Case::new(Op::Insert, &[wide, Type::I64], wide) });
        }
        for case in all {
            check(&case, &operands(&mut rng, &case, 64));
        }
    }
}

/// Whole programs, with the ops that one host or another lacks.
#[test]
fn random_programs_do_what_they_did() {
    let options = ir::Options {
        kinds: vec![Kind::I64, Kind::F64, Kind::I16, Kind::I8],
        nodes: 24,
        denormals: true,
        ..ir::Options::default()
    };
    let words = ir::output_words(&options);
    let mut ended = 0;
    for seed in property::seeds(property::budget(150, 20_000)) {
        let module = ir::generate(seed, &options);
        let input = ir::inputs(seed, &options);
        let Some(want) = ir::interpret(&module, &input, words) else { continue };
        for (arithmetic, int64) in [(Options::RULES, false), (Options::ALL, true)] {
            let lacks = Lacks { arithmetic, int64, ..Lacks::default() };
            let mut after = module.clone();
            legalize::run(&mut after, &lacks, &mut Context::new());
            lower_int64::run(&mut after, &lacks);
            verify(&after).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{after}"));
            // What is lowered takes more steps.
            let Some(got) = ir::interpret(&after, &input, words) else { continue };
            assert_eq!(got, want, "seed {seed} {lacks:?}\n{module}\n{after}");
            ended += 1;
        }
    }
    assert!(ended > 100, "{ended} runs");
}

/// All halves, and all pairs of 8-bit integers.
#[test]
fn small_operands_are_tried_without_exception() {
    let halves: Vec<u64> = (0..1 << 16).collect();
    let pairs: Vec<u64> = (0..1u64 << 16).flat_map(|v| [v & 0xff, v >> 8]).collect();
    let half = Type::scalar(Kind::F16);
    let byte = Type::scalar(Kind::I8);
    for info in OPS.iter().filter(|info| is_legalized(info)) {
        for case in cases(info) {
            if case.args == [half] {
                check(&case, &halves);
            } else if case.args == [byte; 2] {
                check(&case, &pairs);
            } else if case.args == [byte] {
                check(&case, &halves[..256]);
            }
        }
    }
}
