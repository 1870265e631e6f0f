//! The reference engine: lifted programs on the IR interpreter.

use super::engine::{
    Bank, Batch, Cost, EMIT_CAPACITY, Engine, EngineError, GeometryState, Invocations, keep,
};
use super::program::Program;
use super::unit::Uniforms;
use std::sync::Arc;
use xenoglot_interp::{Bindings, Interpreter, Limits, Stats, Trap};
use xenoglot_ir::{Bits, Module, Resource};
use xenoglot_pica_shader::lift::layout::*;
use xenoglot_pica_shader::lift::record::{self, Event};

/// Vertices that are run at once.
const BATCH: usize = 4096;

/// The engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interp;

impl Interp {
    /// The engine.
    pub fn new() -> Interp {
        Interp
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

fn limits(fuel: u64) -> Limits {
    Limits { fuel, ..Limits::default() }
}

impl Engine for Interp {
    fn name(&self) -> &'static str {
        "interp"
    }

    fn cost(&self) -> Cost {
        Cost { batch: 2e-5, inst: 3e-8, translation: 0.0 }
    }

    fn shade(&mut self, batch: Batch<'_>) -> Result<(), EngineError> {
        let Batch { program, uniforms, inputs, outputs, fuel } = batch;
        let inputs = inputs.registers();
        let module = program.module();
        let mut interpreter = Interpreter::new(module)?;
        let mut bindings = Bindings::new(module);
        let buffers = Buffers::of(module);
        fill(&mut bindings, buffers.uniforms, uniforms.bytes());
        outputs.reset(program.outputs, inputs.vertices());
        let (reads, writes) = (inputs.registers(), outputs.registers());
        for first in (0..inputs.vertices()).step_by(BATCH) {
            let count = BATCH.min(inputs.vertices() - first);
            let batch = inputs.values().get(first * reads..(first + count) * reads).unwrap_or_default();
            fill(&mut bindings, buffers.inputs, bytemuck::cast_slice(batch));
            if let Some(buffer) = buffers.state {
                bindings.set_buffer(buffer, vec![0; count * writes * size_of::<[f32; 4]>()]);
            }
            let ran = interpreter.dispatch([count as u32, 1, 1], &mut bindings, &limits(*fuel));
            settle(ran, |ran| ran.stats, fuel)?;
            let words = contents(&bindings, buffers.state).as_chunks::<4>().0;
            let place = outputs.values_mut().get_mut(first * writes..).unwrap_or_default();
            for (to, word) in place.as_flattened_mut().iter_mut().zip(words) {
                *to = f32::from_le_bytes(*word);
            }
        }
        Ok(())
    }

    fn geometry<'e>(
        &'e mut self,
        program: &'e Arc<Program>,
        _: &mut u64,
    ) -> Result<Box<dyn Invocations + 'e>, EngineError> {
        let module = program.module();
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
        keep(record::sent(record, contents(&self.bindings, self.buffers.events), EMIT_CAPACITY), events)?;
        state.record.clear();
        state.record.extend_from_slice(record);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shader::{Shader, Source};
    use xenoglot_pica_shader::asm::assemble;

    fn geometry(source: &str) -> Arc<Program> {
        let program = assemble(source).unwrap().program;
        let source = Arc::new(Source::new(&program.code, &program.descriptors));
        Arc::new(Program::new(&Shader { source, entry: 0, geometry: Some(1) }).unwrap())
    }

    #[test]
    fn geometry_registers_persist() {
        // Each invocation adds its input to r0, which it sends.
        let sum = ".gsh point c0\n.in v v0\n.out p position\n.entry gmain\n.proc gmain\n\
                   add r0, v, r0\n setemit 2, prim\n mov p, r0\n emit\n end\n.end\n";
        let (mut engine, mut fuel, mut state) = (Interp::new(), 1 << 24, GeometryState::default());
        let program = geometry(sum);
        let mut ready = engine.geometry(&program, &mut fuel).unwrap();
        let mut events = Vec::new();
        for _ in 0..3 {
            let inputs = [[2.0; 4]; 16];
            ready.run(&Uniforms::default(), &inputs, &mut state, &mut events, &mut fuel).unwrap();
        }
        let last = events.iter().skip(2).step_by(3).map(|event| match event {
            Event::Vertex(registers) => f32::from_bits(registers[0][0]),
            Event::Winding => f32::NAN,
        });
        assert_eq!(last.collect::<Vec<_>>(), [2.0, 4.0, 6.0]);
    }

    #[test]
    fn an_endless_program_uses_up_the_fuel_and_changes_nothing() {
        let many = ".gsh point c0\n.out p position\n.entry gmain\n.proc gmain\n\
                    again:\n emit\n jmpu !b0, again\n end\n.end\n";
        let (mut engine, mut fuel) = (Interp::new(), 1 << 22);
        let program = geometry(many);
        let mut ready = engine.geometry(&program, &mut fuel).unwrap();
        let (mut state, mut events) = (GeometryState::default(), Vec::new());
        let ran = ready.run(&Uniforms::default(), &Bank::default(), &mut state, &mut events, &mut fuel);
        assert!(matches!(ran, Err(EngineError::Trap(_))), "{ran:?}");
        assert_eq!((fuel, state), (0, GeometryState::default()));
    }
}
