//! The direct interpreter that random programs are compared with, itself against the vectors.

use std::path::Path;
use xenoglot_conformance::pica::compare::{Observed, judge};
use xenoglot_conformance::pica::format::{self, Event as Expected, Set, TestProgram};
use xenoglot_conformance::{Verdict, input};
use xenoglot_testgen::pica::Environment;
use xenoglot_testgen::pica_ref::{Arithmetic, End, Event, Job, State, Vec4, run};

fn environment(p: &TestProgram, set: &Set) -> Environment {
    Environment {
        floats: std::array::from_fn(|n| std::array::from_fn(|c| p.floats[4 * n + c])),
        ints: std::array::from_fn(|n| std::array::from_fn(|c| set.ints[4 * n + c])),
        bools: set.bools,
        inputs: std::array::from_fn(|n| std::array::from_fn(|c| set.inputs[4 * n + c])),
    }
}

fn bits<'v>(registers: impl IntoIterator<Item = &'v Vec4>) -> Vec<u32> {
    registers.into_iter().flatten().map(|v| v.to_bits()).collect()
}

fn observe(p: &TestProgram, set: &Set) -> Observed {
    let mut state = State::default();
    let job = Job {
        code: &p.program.code,
        descriptors: &p.program.descriptors,
        entry: p.entry.into(),
        geometry: p.geometry.then_some(p.output_mask),
        environment: &environment(p, set),
        arithmetic: Arithmetic::default(),
        fuel: 1_000_000,
    };
    let outcome = run(&job, &mut state);
    assert_eq!(outcome.end, End::End, "program {}", p.id);
    let masked = |v: &[Vec4; 16]| bits((0..16).filter(|n| p.output_mask >> n & 1 != 0).map(|n| &v[n]));
    Observed {
        outputs: bits(&state.outputs),
        temps: Some(bits(&state.temps)),
        address: Some([state.a0[0], state.a0[1], state.al]),
        flags: Some(state.flags),
        steps: Some(outcome.steps),
        events: outcome
            .events
            .iter()
            .map(|e| match e {
                Event::Winding => Expected::Winding,
                Event::Vertex(v) => Expected::Vertex(masked(v)),
            })
            .collect(),
        may_flush: false,
    }
}

#[test]
fn the_direct_interpreter_passes_the_vectors() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/pica");
    let (mut passed, mut unconfirmed) = (0, 0);
    for (_, bytes) in input::with_magic(&folder, format::PROGRAMS_MAGIC).unwrap() {
        for p in format::programs(&bytes).unwrap() {
            for (number, set) in p.sets.iter().enumerate() {
                match judge(&p, set, &observe(&p, set)) {
                    Verdict::Passed => passed += 1,
                    Verdict::Unconfirmed(_) => unconfirmed += 1,
                    Verdict::Failed(d) | Verdict::TimedOut(d) => {
                        panic!("program {} ({}) set {number}: {d}", p.id, p.category_name())
                    }
                }
            }
        }
    }
    println!("{passed} passed, {unconfirmed} unconfirmed");
    assert_eq!(passed + unconfirmed, 422 * 8);
}
