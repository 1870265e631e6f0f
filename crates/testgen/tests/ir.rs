//! Random programs are what they promise: they verify, end, stay inside their memory, and use what they were allowed to.

use std::collections::{BTreeMap, BTreeSet};
use xenoglot_interp::{Bindings, Cause, Interpreter, Limits, Outcome, Trap};
use xenoglot_ir::entity::EntityRef;
use xenoglot_ir::fold::float::is_nan;
use xenoglot_ir::verify;
use xenoglot_ir::{Kind, Module, Op, Resource};
use xenoglot_testgen::ir::{
    Family, INPUT, OUTPUT, Options, count_ops, family, generate, inputs, output_words,
};
use xenoglot_testgen::property;

fn run(m: &Module, seed: u64, options: &Options, limits: &Limits) -> Result<(u64, Vec<u32>), Trap> {
    let mut bind = Bindings::new(m);
    let (input, output) = (Resource::new(INPUT as usize), Resource::new(OUTPUT as usize));
    bind.set_words(input, &inputs(seed, options));
    bind.set_words(output, &vec![0; output_words(options)]);
    let out =
        Interpreter::new(m).expect("a generated module resolves").dispatch([1; 3], &mut bind, limits)?;
    assert_eq!(out.stats.out_of_bounds, 0);
    Ok((out.stats.insts, bind.words(output)))
}

/// Runs `count` programs; gives the ops they are made of.
fn sweep(name: &str, first: u64, count: u64, options: &Options) -> BTreeMap<Op, u64> {
    let limits = Limits { fuel: 20_000_000, trace: 0, ..Limits::default() };
    let mut ops: BTreeMap<Op, u64> = BTreeMap::new();
    let (mut insts, mut most, mut ended, mut fuel) = (0, 0, 0, 0);
    let mut results = BTreeSet::new();
    for seed in property::seeds(count).map(|seed| first + seed) {
        let m = generate(seed, options);
        if let Err(errors) = verify(&m) {
            panic!("{name}, seed {seed}: {errors}");
        }
        count_ops(&m).into_iter().for_each(|(op, n)| *ops.entry(op).or_insert(0) += n);
        match run(&m, seed, options, &limits) {
            Ok((n, words)) => {
                ended += 1;
                insts += n;
                most = most.max(n);
                results.insert(words);
            }
            Err(trap) if trap.cause == Cause::Fuel => fuel += 1,
            Err(trap) => panic!("{name}, seed {seed}: {trap}"),
        }
    }
    println!(
        "{name}: {ended} of {count} programs ended, {fuel} ran out of fuel; {insts} instructions executed, \
         {most} at most; {} different results; {} different ops",
        results.len(),
        ops.len()
    );
    assert_eq!((ended, fuel), (count, 0));
    // The accumulator makes equal results of different programs unlikely.
    assert!(results.len() as u64 > count * 9 / 10);
    ops
}

#[test]
fn programs_end_within_fuel() {
    let all = [Kind::I8, Kind::I16, Kind::I64, Kind::F16, Kind::F64].to_vec();
    let wide = Options { kinds: all.clone(), ..Options::default() };
    let denormals = Options { kinds: all, denormals: true, ..Options::default() };
    sweep("default", 0, 200, &Options::default());
    sweep("integers", 1000, 100, &Options::integers());
    let ops = sweep("all kinds", 2000, 300, &wide);
    sweep("denormals", 3000, 100, &denormals);
    // Every op that has a family turns up.
    for row in xenoglot_ir::op::OPS {
        assert!(family(row.op).is_none() || ops.contains_key(&row.op), "{} was not generated", row.name);
    }
}

#[test]
fn options_are_kept_to() {
    let mut seen = BTreeSet::new();
    for seed in property::seeds(60) {
        let m = generate(seed, &Options::integers());
        for f in m.funcs.values() {
            assert!(f.values.values().all(|v| !v.ty.kind().is_float()), "seed {seed}");
        }
        let without = [Op::Popcount, Op::Imul];
        let options = Options {
            without: without.to_vec(),
            nodes: 1,
            families: vec![Family::Bits, Family::Integer],
            ..Options::default()
        };
        let m = generate(seed, &options);
        seen.extend(count_ops(&m).into_keys());
        assert!(!count_ops(&m).contains_key(&Op::Popcount));
        for f in m.funcs.values() {
            assert!(f.slots.is_empty());
            assert!(f.values.values().all(|v| v.ty.is_scalar() || v.ty.kind() == Kind::I32));
        }
        assert_eq!(m.funcs.len(), 1);
    }
    assert!(seen.contains(&Op::Clz));
}

#[test]
fn the_seed_decides() {
    let options = Options::default();
    let text = |seed| format!("{:?}", generate(seed, &options).funcs);
    assert_eq!(text(5), text(5));
    assert_ne!(text(5), text(6));
    assert_eq!(inputs(5, &options), inputs(5, &options));
}

/// Every float that a program computes is a zero, at least 2^-60, infinite or NaN: checked on what comes out of helper
/// functions, whose returned values are seen as they are.
#[test]
fn without_denormals_there_are_none() {
    let options = Options { helpers: 2, ops: 20, ..Options::default() };
    let mut floats = 0;
    for seed in property::seeds(150) {
        let m = generate(seed, &options);
        let mut interp = Interpreter::new(&m).expect("resolves");
        for (func, f) in &m.funcs {
            let out: Outcome = match interp.run_function(func, &[], &mut bound(&m), &Limits::default()) {
                Ok(out) => out,
                Err(trap) => panic!("seed {seed}: {trap}"),
            };
            for (v, ty) in out.returns.iter().zip(&f.returns).filter(|(_, ty)| ty.kind() == Kind::F32) {
                for lane in &v.0[..ty.lanes().into()] {
                    let x = f32::from_bits(*lane as u32);
                    floats += 1;
                    assert!(
                        is_nan(Kind::F32, *lane) || x == 0.0 || x.abs() >= 2f32.powi(-60),
                        "seed {seed}: {x:e}"
                    );
                }
            }
        }
    }
    println!("{floats} floats looked at");
    assert!(floats > 50);
}

fn bound(m: &Module) -> Bindings {
    let options = Options::default();
    let mut bind = Bindings::new(m);
    bind.set_words(Resource::new(INPUT as usize), &inputs(1, &options));
    bind.set_words(Resource::new(OUTPUT as usize), &vec![0; output_words(&options)]);
    bind
}
