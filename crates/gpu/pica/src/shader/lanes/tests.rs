//! Against the IR interpreter, bit for bit but for the signs of NaNs, over random programs.

use super::*;
use crate::shader::{Interp, Packed, Source};
use std::collections::BTreeMap;
use xenoglot_pica_shader::asm::assemble;
use xenoglot_testgen::pica::{self, Category, Environment, Sample, environment};
use xenoglot_testgen::property;
use xenoglot_testgen::rng::Rng;

/// Instructions of the IR that a batch may take.
const REFERENCE_FUEL: u64 = 1 << 21;
/// More than any batch takes whose reference ends.
const FUEL: u64 = 1 << 30;
/// Vertices of a batch: two whole groups and a part of one.
const VERTICES: usize = 37;

pub(in crate::shader) fn uniforms(environment: &Environment) -> Uniforms {
    let mut uniforms = Uniforms::default();
    for (n, value) in (0..).zip(environment.floats) {
        uniforms.set_float(n, value);
    }
    for (n, value) in (0..).zip(environment.ints) {
        uniforms.set_int(n, u32::from_le_bytes(value));
    }
    uniforms.set_bools(environment.bools);
    uniforms
}

pub(in crate::shader) fn program(sample: &Sample) -> Option<Arc<Program>> {
    let source = Arc::new(Source::new(&sample.program.code, &sample.program.descriptors));
    let shader = Shader { source, entry: sample.entry, geometry: sample.geometry };
    Program::new(&shader).ok().map(Arc::new)
}

/// A word; of a NaN the canonical one. Passes drop sums with -0, which would make it canonical.
fn number(word: u32) -> u32 {
    if f32::from_bits(word).is_nan() { 0x7fc0_0000 } else { word }
}

/// The words of a state record.
fn words(state: &GeometryState) -> Vec<u32> {
    state.record.as_chunks().0.iter().map(|&word| number(u32::from_le_bytes(word))).collect()
}

/// The output registers of a batch, or none if the engine did not come to its end.
pub(in crate::shader) fn shade(
    engine: &mut dyn Engine,
    program: &Arc<Program>,
    uniforms: &Uniforms,
    inputs: &Packed,
    mut fuel: u64,
) -> Option<Vec<[u32; 4]>> {
    let mut outputs = Packed::default();
    let batch = Batch { program, uniforms, inputs: inputs.into(), outputs: &mut outputs, fuel: &mut fuel };
    engine.shade(batch).ok()?;
    Some(outputs.values().iter().map(|v| v.map(|v| number(v.to_bits()))).collect())
}

/// What a few invocations leave and send; as far as they come to their end.
fn invoke(
    engine: &mut dyn Engine,
    program: &Arc<Program>,
    environments: &[Environment],
    fuel: u64,
) -> Vec<(GeometryState, Vec<Event>)> {
    let (mut state, mut events) = (GeometryState::default(), Vec::new());
    let Ok(mut ready) = engine.geometry(program, &mut { fuel }) else { return Vec::new() };
    let mut left = Vec::new();
    for environment in environments {
        let inputs = environment.inputs.map(|v| v.map(f32::from_bits));
        let ran = ready.run(&uniforms(environment), &inputs, &mut state, &mut events, &mut { fuel });
        if ran.is_err() {
            break;
        }
        left.push((state.clone(), events.clone()));
    }
    left
}

/// A vertex without the registers that EMIT does not copy.
fn masked(event: &Event, mask: u16) -> Option<Vec<[u32; 4]>> {
    match event {
        Event::Winding => None,
        Event::Vertex(v) => {
            Some(members(mask).filter_map(|n| Some(v.get(usize::from(n))?.map(number))).collect())
        }
    }
}

#[derive(Default, Debug)]
struct Stats {
    programs: u32,
    ended: u32,
    vertices: usize,
    sent: usize,
}

fn compare(seed: u64, sample: &Sample, rng: &mut Rng, lanes: &mut Lanes, stats: &mut Stats) {
    // Wild words may be none.
    let Some(program) = program(sample) else { return };
    stats.programs += 1;
    if let Some(mask) = sample.geometry {
        let environments = [environment(rng), environment(rng), environment(rng)];
        let expected = invoke(&mut Interp::new(), &program, &environments, REFERENCE_FUEL);
        let got = invoke(lanes, &program, &environments, FUEL.min(1 << 24));
        stats.ended += u32::from(!expected.is_empty());
        for (number, (expected, got)) in expected.iter().zip(&got).enumerate() {
            assert!(words(&expected.0) == words(&got.0), "seed {seed}: state after invocation {number}");
            let events = |events: &[Event]| events.iter().map(|e| masked(e, mask)).collect::<Vec<_>>();
            assert_eq!(events(&expected.1), events(&got.1), "seed {seed}: what invocation {number} sent");
        }
        assert!(got.len() >= expected.len(), "seed {seed}: an invocation does not end");
        stats.sent += expected.last().map_or(0, |(_, events)| events.len());
        return;
    }
    let uniforms = uniforms(&environment(rng));
    let mut inputs = Packed::default();
    inputs.reset(program.inputs, 1 + rng.below(VERTICES as u32) as usize);
    let registers = inputs.registers();
    for vertex in inputs.values_mut().chunks_exact_mut(registers.max(1)) {
        for (to, value) in vertex.iter_mut().zip(environment(rng).inputs) {
            *to = value.map(f32::from_bits);
        }
    }
    let Some(expected) = shade(&mut Interp::new(), &program, &uniforms, &inputs, REFERENCE_FUEL) else {
        // It ends late or never: then so does this one, without more than its fuel.
        shade(lanes, &program, &uniforms, &inputs, 1 << 20);
        return;
    };
    let got = shade(lanes, &program, &uniforms, &inputs, FUEL);
    assert!(got.as_ref() == Some(&expected), "seed {seed}: expected {expected:x?}, got {got:x?}");
    stats.ended += 1;
    stats.vertices += inputs.vertices();
}

#[test]
fn random_programs_do_what_they_do_on_the_ir_interpreter() {
    let mut stats: BTreeMap<String, Stats> = BTreeMap::new();
    let mut lanes = Lanes::new();
    for seed in property::seeds(property::budget(600, 40_000)) {
        let mut rng = Rng::new(seed);
        let (category, sample) = pica::random(&mut rng, 256);
        let stats = stats.entry(format!("{category:?}")).or_default();
        compare(seed, &sample, &mut rng, &mut lanes, stats);
    }
    println!("{stats:#?}");
    assert_eq!(stats.len(), Category::ALL.len());
    assert!(stats.values().all(|s| s.ended * 3 > s.programs) && stats["Geometry"].sent > 500);
}

#[test]
fn vertices_that_part_meet_again_and_sum_up_the_same() {
    // Rounds differ by vertex: a0.x counts down from v0.x, past a call in each round.
    let source = ".in v\n.out p position\n.constf one(1.0, 0.0, 2.0, 3.0)\n.proc main\n\
                  mov r0, v\n mov r1, one.yyyy\n\
                  again:\n call add_up\n add r0, -one.xxxx, r0\n mov r2, one.yyyy\n cmp r0, gt, gt, r2\n\
                  jmpc cmp.x, again\n mov p, r1\n end\n.end\n\
                  .proc add_up\n mov r2, one.zzzz\n cmp r2, ge, ge, r0\n ifc cmp.x\n add r1, one.wwww, r1\n\
                  .else\n add r1, one.xxxx, r1\n nop\n .end\n nop\n.end\n";
    let assembled = assemble(source).unwrap();
    let sample =
        Sample { program: assembled.program.clone(), entry: assembled.executables[0].main, geometry: None };
    let program = program(&sample).unwrap();
    let (mut uniforms, mut inputs) = (Uniforms::default(), Packed::default());
    for n in 0..96 {
        uniforms.set_float(n, [1.0f32, 0.0, 2.0, 3.0].map(f32::to_bits));
    }
    inputs.reset(program.inputs, VERTICES);
    for (value, n) in inputs.values_mut().iter_mut().zip(0u8..) {
        *value = [f32::from(n % 7), 0.0, 0.0, 0.0];
    }
    let expected = shade(&mut Interp::new(), &program, &uniforms, &inputs, FUEL);
    assert!(expected.is_some());
    assert_eq!(shade(&mut Lanes::new(), &program, &uniforms, &inputs, FUEL), expected);
}

#[test]
fn an_endless_program_uses_up_the_fuel() {
    let assembled = assemble(".out p position\n.proc main\nagain:\n jmpu !b0, again\n end\n.end\n").unwrap();
    let sample = Sample { program: assembled.program, entry: 0, geometry: None };
    let program = program(&sample).unwrap();
    let mut inputs = Packed::default();
    inputs.reset(program.inputs, 3);
    let (uniforms, mut outputs, mut fuel) = (Uniforms::default(), Packed::default(), 10_000);
    let batch = Batch {
        program: &program,
        uniforms: &uniforms,
        inputs: (&inputs).into(),
        outputs: &mut outputs,
        fuel: &mut fuel,
    };
    assert!(matches!(Lanes::new().shade(batch), Err(EngineError::Fuel)));
    assert_eq!(fuel, 0);
}
