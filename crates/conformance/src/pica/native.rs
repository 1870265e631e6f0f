//! The `native` engine: the optimised module as native code, the inputs of all sets in one run.
//!
//! Lanes of a group so have different inputs under the uniforms of each set in turn, and all that they leave behind is
//! held against the interpreter, bit for bit, before the set's own part is judged.

use super::compare::Observed;
use super::format::{Set, TestProgram};
use super::interp::{FUEL, resource};
use super::kernel;
use xenoglot_interp::{Bindings as Reference, Interpreter, Limits as ReferenceLimits};
use xenoglot_ir::Module;
use xenoglot_native::{Bindings, Compiler, Limits, Program};
use xenoglot_pica_shader::lift::layout::*;

/// The buffers of a run of all sets under the uniforms of one.
struct Buffers {
    uniforms: Vec<u8>,
    inputs: Vec<u8>,
    state: Vec<u8>,
    events: Vec<u8>,
}

/// Runs every set of a program on a compute kernel.
pub fn run(p: &TestProgram, module: &Module) -> Vec<Result<Observed, String>> {
    let program = match Compiler::new().and_then(|mut c| c.compile(module)) {
        Ok(program) => program,
        Err(e) => return vec![Err(e.to_string()); p.sets.len()],
    };
    let mut interpreter = match Interpreter::new(module) {
        Ok(i) => i,
        Err(e) => return vec![Err(e.to_string()); p.sets.len()],
    };
    p.sets.iter().enumerate().map(|(n, set)| one(p, module, &program, &mut interpreter, n, set)).collect()
}

fn one(
    p: &TestProgram,
    module: &Module,
    program: &Program,
    interpreter: &mut Interpreter,
    n: usize,
    set: &Set,
) -> Result<Observed, String> {
    let (state, events) = (kernel::state_size(p), kernel::event_size(p));
    let mut buffers = Buffers {
        uniforms: kernel::uniforms(p, set),
        inputs: p.sets.iter().flat_map(kernel::inputs).collect(),
        state: vec![0; p.sets.len() * state],
        events: vec![0; p.sets.len() * events],
    };
    let expected = match reference(module, interpreter, &buffers, p.sets.len()) {
        Ok(expected) => expected,
        // Another set's inputs may loop for ever under these uniforms.
        Err(_) => {
            buffers.inputs = kernel::inputs(set).repeat(p.sets.len());
            reference(module, interpreter, &buffers, p.sets.len())?
        }
    };
    let mut bindings = Bindings::new();
    bindings.read(0, UNIFORM_BINDING, &buffers.uniforms).read(0, INPUT_BINDING, &buffers.inputs);
    bindings.write(0, STATE_BINDING, &mut buffers.state).write(0, EVENT_BINDING, &mut buffers.events);
    let count = p.sets.len() as u32;
    program.run(&mut bindings, 0..count, &Limits { fuel: FUEL }).map_err(|e| e.to_string())?;
    drop(bindings);
    let got = [buffers.state, buffers.events];
    for (what, (want, got)) in ["state", "events"].iter().zip(expected.iter().zip(&got)) {
        if let Some(at) = want.iter().zip(got).position(|(w, g)| w != g) {
            return Err(format!("byte {at:#x} of the {what} is not what the interpreter leaves"));
        }
    }
    let [left, sent] = got;
    kernel::observe(p, &left[n * state..][..state], &sent[n * events..][..events])
}

/// State and events as the interpreter leaves them.
fn reference(
    module: &Module,
    interpreter: &mut Interpreter,
    buffers: &Buffers,
    count: usize,
) -> Result<[Vec<u8>; 2], String> {
    let mut bindings = Reference::new(module);
    for (binding, bytes) in [
        (UNIFORM_BINDING, &buffers.uniforms),
        (INPUT_BINDING, &buffers.inputs),
        (STATE_BINDING, &buffers.state),
        (EVENT_BINDING, &buffers.events),
    ] {
        if let Some(r) = resource(module, binding) {
            bindings.set_buffer(r, bytes.clone());
        }
    }
    let limits = ReferenceLimits { fuel: FUEL, ..ReferenceLimits::default() };
    interpreter.dispatch([count as u32, 1, 1], &mut bindings, &limits).map_err(|t| t.to_string())?;
    let left = |binding, old: &Vec<u8>| {
        resource(module, binding).map_or_else(|| old.clone(), |r| bindings.buffer(r).to_vec())
    };
    Ok([left(STATE_BINDING, &buffers.state), left(EVENT_BINDING, &buffers.events)])
}
