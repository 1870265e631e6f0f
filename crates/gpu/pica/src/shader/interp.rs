//! The reference engine: lifted programs on the IR interpreter.

use super::engine::{
    Bank, EMIT_CAPACITY, Engine, EngineError, GeometryState, Invocations, Shader, TRANSLATION,
};
use super::unit::Uniforms;
use rustc_hash::FxHashMap;
use xenoglot_interp::{Bindings, Interpreter, Limits, Stats, Trap};
use xenoglot_ir::{Bits, Module, Resource};
use xenoglot_pica_shader::lift::LiftError;
use xenoglot_pica_shader::lift::layout::*;
use xenoglot_pica_shader::lift::record::{self, Event};

/// Translated programs that are kept. A title has some dozens; one that makes new ones without end starts over.
const PROGRAMS: usize = 1024;
/// Vertices that are run at once.
const BATCH: usize = 4096;

/// The engine.
#[derive(Debug, Default)]
pub struct Interp {
    programs: FxHashMap<Shader, Result<Module, LiftError>>,
}

impl Interp {
    /// An engine that has translated nothing yet.
    pub fn new() -> Interp {
        Interp::default()
    }

    /// Programs in the table.
    pub fn translated(&self) -> usize {
        self.programs.len()
    }

    fn module(&mut self, shader: &Shader, fuel: &mut u64) -> Result<&Module, EngineError> {
        if !self.programs.contains_key(shader) {
            *fuel = fuel.checked_sub(TRANSLATION).ok_or(EngineError::Fuel)?;
            if self.programs.len() >= PROGRAMS {
                self.programs.clear();
            }
        }
        let translate = || shader.lift().map(|lifted| lifted.module);
        let module = self.programs.entry(shader.clone()).or_insert_with(translate);
        module.as_ref().map_err(|error| error.clone().into())
    }
}

/// Takes what a run used off the fuel. One that was stopped does not say, so it counts as all of it.
fn settle<T>(ran: Result<T, Trap>, used: impl FnOnce(&T) -> Stats, fuel: &mut u64) -> Result<T, EngineError> {
    *fuel = ran.as_ref().map_or(0, |ran| fuel.saturating_sub(used(ran).insts));
    Ok(ran?)
}

/// The module's buffers by the names of the layout.
struct Buffers {
    uniforms: Option<Resource>,
    inputs: Option<Resource>,
    state: Option<Resource>,
    events: Option<Resource>,
}

impl Buffers {
    fn of(module: &Module) -> Buffers {
        let at = |binding| module.resources.iter().find(|(_, r)| r.binding == binding).map(|(id, _)| id);
        Buffers {
            uniforms: at(UNIFORM_BINDING),
            inputs: at(INPUT_BINDING),
            state: at(STATE_BINDING),
            events: at(EVENT_BINDING),
        }
    }
}

/// Makes the buffer's bytes these; keeps its allocation.
fn fill(bindings: &mut Bindings, buffer: Option<Resource>, bytes: &[u8]) {
    let Some(buffer) = buffer else { return };
    match bindings.buffer_mut(buffer) {
        Some(old) => {
            old.clear();
            old.extend_from_slice(bytes);
        }
        None => bindings.set_buffer(buffer, bytes.to_vec()),
    }
}

fn contents(bindings: &Bindings, buffer: Option<Resource>) -> &[u8] {
    buffer.map_or(&[], |b| bindings.buffer(b))
}

fn outputs_of(record: &[u8]) -> Bank {
    let words = record.get(STATE_OUTPUTS as usize..).unwrap_or_default();
    let mut bank = Bank::default();
    let floats = bank.as_flattened_mut().iter_mut();
    for (float, bytes) in floats.zip(words.as_chunks::<4>().0) {
        *float = f32::from_le_bytes(*bytes);
    }
    bank
}

fn limits(fuel: u64) -> Limits {
    Limits { fuel, ..Limits::default() }
}

impl Engine for Interp {
    fn name(&self) -> &'static str {
        "interp"
    }

    fn shade(
        &mut self,
        shader: &Shader,
        uniforms: &Uniforms,
        inputs: &[Bank],
        outputs: &mut Vec<Bank>,
        fuel: &mut u64,
    ) -> Result<(), EngineError> {
        let module = self.module(shader, fuel)?;
        let mut interpreter = Interpreter::new(module)?;
        let mut bindings = Bindings::new(module);
        let buffers = Buffers::of(module);
        fill(&mut bindings, buffers.uniforms, uniforms.bytes());
        for batch in inputs.chunks(BATCH) {
            fill(&mut bindings, buffers.inputs, bytemuck::cast_slice(batch));
            let state = vec![0; batch.len() * VERTEX_STATE_STRIDE as usize];
            if let Some(buffer) = buffers.state {
                bindings.set_buffer(buffer, state);
            }
            let ran = interpreter.dispatch([batch.len() as u32, 1, 1], &mut bindings, &limits(*fuel));
            settle(ran, |ran| ran.stats, fuel)?;
            let records = contents(&bindings, buffers.state).chunks_exact(VERTEX_STATE_STRIDE as usize);
            outputs.extend(records.map(outputs_of));
        }
        Ok(())
    }

    fn geometry<'e>(
        &'e mut self,
        shader: &Shader,
        fuel: &mut u64,
    ) -> Result<Box<dyn Invocations + 'e>, EngineError> {
        let module = self.module(shader, fuel)?;
        let mut bindings = Bindings::new(module);
        let buffers = Buffers::of(module);
        for (var, _) in module.vars.iter() {
            // The only variable is the number of the invocation.
            bindings.set_input(var, Bits::default());
        }
        if let Some(buffer) = buffers.events {
            bindings.set_buffer(buffer, vec![0; event_stride(EMIT_CAPACITY) as usize]);
        }
        Ok(Box::new(Geometry { interpreter: Interpreter::new(module)?, bindings, buffers }))
    }
}

struct Geometry<'m> {
    interpreter: Interpreter<'m>,
    bindings: Bindings,
    buffers: Buffers,
}

impl Invocations for Geometry<'_> {
    fn run(
        &mut self,
        uniforms: &Uniforms,
        inputs: &Bank,
        state: &mut GeometryState,
        events: &mut Vec<Event>,
        fuel: &mut u64,
    ) -> Result<(), EngineError> {
        fill(&mut self.bindings, self.buffers.uniforms, uniforms.bytes());
        fill(&mut self.bindings, self.buffers.inputs, bytemuck::cast_slice(inputs));
        fill(&mut self.bindings, self.buffers.state, &state.record);
        let ran = self.interpreter.run_entry(&mut self.bindings, &limits(*fuel));
        settle(ran, |ran| ran.stats, fuel)?;
        let record = contents(&self.bindings, self.buffers.state);
        let sent = record::sent(record, contents(&self.bindings, self.buffers.events), EMIT_CAPACITY);
        if sent.lost != 0 {
            return Err(EngineError::Emits(sent.lost));
        }
        state.record.clear();
        state.record.extend_from_slice(record);
        events.extend(sent.events);
        Ok(())
    }
}
