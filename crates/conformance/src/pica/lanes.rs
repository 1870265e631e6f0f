//! The `lanes` engine: program words on the engine that serves draws until there is native code.
//!
//! Programs run as invocations of a geometry unit, whose state record shows all registers. Vertex programs are also shaded
//! as vertices: for each set, the inputs of all sets as one batch under its uniforms. The outputs of its own vertex must be
//! those of the record.

use super::compare::Observed;
use super::format::{Set, TestProgram};
use super::interp::FUEL;
use super::kernel;
use std::sync::Arc;
use xenoglot_pica::shader::{
    Bank, Batch, Engine, EngineError, GeometryState, Lanes, Packed, Program, Shader, Source, Uniforms,
};

/// Runs every set of a program.
pub fn run(p: &TestProgram) -> Vec<Result<Observed, String>> {
    let source = Arc::new(Source::new(&p.program.code, &p.program.descriptors));
    let program = |geometry| {
        let shader = Shader { source: Arc::clone(&source), entry: p.entry.into(), geometry };
        Program::new(&shader).map(Arc::new).map_err(|e| e.to_string())
    };
    let mut lanes = Lanes::new();
    let invocations = program(Some(p.output_mask));
    let vertices = (!p.geometry).then(|| program(None));
    let mut one = |number: usize, set: &Set| {
        let observed = invoke(p, &mut lanes, invocations.as_ref().map_err(String::clone)?, set)?;
        if let Some(vertices) = &vertices {
            shade(p, &mut lanes, vertices.as_ref().map_err(String::clone)?, number, &observed)?;
        }
        Ok(observed)
    };
    p.sets.iter().enumerate().map(|(number, set)| one(number, set)).collect()
}

fn uniforms(p: &TestProgram, set: &Set) -> Uniforms {
    let mut uniforms = Uniforms::default();
    for (n, value) in (0..).zip(p.floats.as_chunks().0) {
        uniforms.set_float(n, *value);
    }
    for (n, value) in (0..).zip(set.ints.as_chunks().0) {
        uniforms.set_int(n, u32::from_le_bytes(*value));
    }
    uniforms.set_bools(set.bools);
    uniforms
}

fn registers(set: &Set) -> Bank {
    let values = set.inputs.as_chunks::<4>().0;
    std::array::from_fn(|n| values.get(n).map_or([0.0; 4], |v| v.map(f32::from_bits)))
}

fn invoke(p: &TestProgram, lanes: &mut Lanes, program: &Arc<Program>, set: &Set) -> Result<Observed, String> {
    let mut fuel = FUEL;
    let (mut state, mut events) = (GeometryState::default(), Vec::new());
    let mut ready = lanes.geometry(program, &mut fuel).map_err(|e| e.to_string())?;
    let ran = ready.run(&uniforms(p, set), &registers(set), &mut state, &mut events, &mut fuel);
    ran.map_err(|e| e.to_string())?;
    let observed = kernel::observe_sent(p, &state.record, events);
    // The engine counts no instructions.
    Ok(Observed { steps: None, ..observed })
}

fn shade(
    p: &TestProgram,
    lanes: &mut Lanes,
    program: &Arc<Program>,
    number: usize,
    expected: &Observed,
) -> Result<(), String> {
    let Some(set) = p.sets.get(number) else { return Ok(()) };
    let (mut inputs, mut outputs) = (Packed::default(), Packed::default());
    inputs.reset(program.inputs, p.sets.len());
    let named = |mask: u16| (0..16usize).filter(move |n| mask >> n & 1 == 1);
    let values = p.sets.iter().flat_map(|set| {
        let bank = registers(set);
        named(program.inputs).map(move |n| bank[n])
    });
    inputs.values_mut().iter_mut().zip(values).for_each(|(place, value)| *place = value);
    let (uniforms, mut fuel) = (uniforms(p, set), FUEL);
    let batch = Batch {
        program,
        uniforms: &uniforms,
        inputs: (&inputs).into(),
        outputs: &mut outputs,
        fuel: &mut fuel,
    };
    match lanes.shade(batch) {
        Ok(()) => {}
        // Another set's inputs may loop for ever under these uniforms.
        Err(EngineError::Fuel) => return Ok(()),
        Err(error) => return Err(error.to_string()),
    }
    for n in named(program.outputs) {
        let got = outputs.vertex(number).get(n).map(f32::to_bits);
        let wanted = expected.outputs.get(4 * n..4 * n + 4).unwrap_or_default();
        if got != wanted {
            return Err(format!("o{n} of a vertex among others is {got:x?}, of an invocation {wanted:x?}"));
        }
    }
    Ok(())
}
