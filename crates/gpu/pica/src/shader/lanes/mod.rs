//! The first tier: an interpreter over registers that executes the program's words on sixteen vertices at once.
//!
//! It is ready in microseconds, some ten times slower than machine code and some tens of times faster than the IR
//! interpreter. Its results are that interpreter's bit for bit, but for the signs of NaNs. It serves draws while machine code
//! is compiled, and draws too small to compile for. [`code`] turns words into steps with resolved operands, [`registers`]
//! executes them, [`groups`] follows control flow.

mod code;
mod groups;
mod registers;

use super::engine::{
    Bank, Batch, Cost, EMIT_CAPACITY, Engine, EngineError, GeometryState, Invocations, keep,
};
use super::program::{PROGRAMS, Program, Shader};
use super::unit::{Uniforms, Words, vector};
use code::{Code, Column, OTHER_BANK, OUTPUTS, Op, Step, TEMPS};
use groups::{Emitter, NoEmitter, Run, Stop};
use registers::Registers;
use std::sync::Arc;
use xenoglot_cache::Objects;
use xenoglot_pica_shader::lift::layout::*;
use xenoglot_pica_shader::lift::record::{Event, Sent};

/// Vertices of a group: enough to hide what a step costs by itself, few enough that small draws waste little.
const WIDTH: usize = 16;

/// The engine.
pub struct Lanes {
    codes: Objects<Shader, Arc<Code>>,
    vertices: Registers<WIDTH>,
    invocation: Registers<1>,
}

impl Default for Lanes {
    fn default() -> Self {
        Lanes::new()
    }
}

impl Lanes {
    /// An engine that has seen no program yet.
    pub fn new() -> Lanes {
        Lanes {
            codes: Objects::new(PROGRAMS),
            vertices: Registers::default(),
            invocation: Registers::default(),
        }
    }

    fn code(&mut self, program: &Program) -> Arc<Code> {
        let Shader { source, entry, .. } = &program.shader;
        self.codes.get_or_insert_with(&program.shader, || Arc::new(Code::new(&source.program, *entry)))
    }
}

fn whole(program: &Program) -> Code {
    Code::whole(&program.shader.source.program, program.shader.entry)
}

/// The error of a run that stopped early. One that ran out of fuel leaves none.
fn error(stop: Stop, fuel: &mut u64) -> EngineError {
    if stop == Stop::Fuel {
        *fuel = 0;
        return EngineError::Fuel;
    }
    EngineError::Declined("control reaches a word that is no instruction")
}

/// Runs a batch, group by group.
fn batch_on(registers: &mut Registers<WIDTH>, code: &Code, batch: &mut Batch<'_>) -> Result<(), Stop> {
    let Batch { program, uniforms, inputs, ref mut outputs, ref mut fuel } = *batch;
    let inputs = inputs.registers();
    let vertices = inputs.vertices();
    outputs.reset(program.outputs, vertices);
    let (reads, writes) = (inputs.registers(), outputs.registers());
    registers.set_uniforms(uniforms, &code.constants, code.gathers);
    for first in (0..vertices).step_by(WIDTH) {
        registers.clear(OUTPUTS, members(program.outputs));
        registers.clear(TEMPS, members(code.temps));
        registers.a0 = Default::default();
        registers.flags = [0; 2];
        // Lanes beyond the last vertex repeat it, so that they never part from it.
        let count = WIDTH.min(vertices - first);
        for lane in 0..WIDTH {
            let at = (first + lane.min(count - 1)) * reads;
            let values = inputs.values().get(at..).unwrap_or_default();
            for (n, value) in members(inputs.set()).zip(values) {
                registers.set_input(n, lane, *value);
            }
        }
        let entry = program.shader.entry;
        Run { code, uniforms, fuel, entry, al: 0 }.run(registers, &mut NoEmitter)?;
        let place = outputs.values_mut().get_mut(first * writes..).unwrap_or_default();
        for (lane, to) in place.chunks_exact_mut(writes.max(1)).take(count).enumerate() {
            for (n, to) in members(program.outputs).zip(to) {
                *to = registers.get(OUTPUTS + 4 * n, lane);
            }
        }
    }
    Ok(())
}

/// The registers of a set.
fn members(set: u16) -> impl Iterator<Item = u16> {
    (0..16).filter(move |n| set >> n & 1 != 0)
}

impl Engine for Lanes {
    fn name(&self) -> &'static str {
        "lanes"
    }

    fn cost(&self) -> Cost {
        Cost { batch: 1e-6, inst: 1e-9, translation: 0.0 }
    }

    fn shade(&mut self, mut batch: Batch<'_>) -> Result<(), EngineError> {
        let program = batch.program;
        let code = self.code(program);
        let mut ran = batch_on(&mut self.vertices, &code, &mut batch);
        if ran == Err(Stop::Beyond) {
            let code = Arc::new(whole(program));
            self.codes.insert(program.shader.clone(), Arc::clone(&code));
            ran = batch_on(&mut self.vertices, &code, &mut batch);
        }
        ran.map_err(|stop| error(stop, batch.fuel))
    }

    fn geometry<'e>(
        &'e mut self,
        program: &'e Arc<Program>,
        _: &mut u64,
    ) -> Result<Box<dyn Invocations + 'e>, EngineError> {
        let code = self.code(program);
        Ok(Box::new(Geometry { program, code, registers: &mut self.invocation }))
    }
}

struct Geometry<'e> {
    program: &'e Program,
    code: Arc<Code>,
    registers: &'e mut Registers<1>,
}

/// The emitter of an invocation.
#[derive(Default)]
struct Buffers {
    /// The outputs that EMIT copies.
    mask: u16,
    /// The outputs that are kept in two banks, which EMIT exchanges.
    banks: u16,
    kept: [[[f32; 4]; 16]; 3],
    vertex: u32,
    primitive: bool,
    winding: bool,
    emits: u32,
    primitives: u32,
    events: Vec<Event>,
}

impl Emitter<1> for Buffers {
    fn emit(&mut self, step: &Step, registers: &mut Registers<1>) {
        if let Op::SetEmit(vertex, primitive, winding) = step.op {
            (self.vertex, self.primitive, self.winding) = (vertex.into(), primitive, winding);
            return;
        }
        self.emits = self.emits.saturating_add(1);
        if self.emits <= EMIT_CAPACITY {
            if let Some(kept) = self.kept.get_mut(self.vertex as usize) {
                for n in members(self.mask) {
                    if let Some(to) = kept.get_mut(usize::from(n)) {
                        *to = registers.get(OUTPUTS + 4 * n, 0);
                    }
                }
            }
            if self.primitive {
                self.primitives += 1;
                self.events.extend(self.winding.then_some(Event::Winding));
                let vertex =
                    |kept: &[[f32; 4]; 16]| Event::Vertex(Box::new(kept.map(|r| r.map(f32::to_bits))));
                self.events.extend(self.kept.iter().map(vertex));
            }
        }
        for n in members(self.banks) {
            let [current, other] = [OUTPUTS, OTHER_BANK].map(|bank| registers.get(bank + 4 * n, 0));
            registers.set(OUTPUTS + 4 * n, 0, other);
            registers.set(OTHER_BANK + 4 * n, 0, current);
        }
    }
}

/// A state record.
struct Record<'r>(&'r mut [u8]);

impl Record<'_> {
    fn load(&self, at: u32) -> Words {
        vector(self.0, at)
    }

    fn store(&mut self, at: u32, words: Words) {
        if let Some(place) = self.0.get_mut(at as usize..).and_then(|rest| rest.first_chunk_mut::<16>()) {
            place.copy_from_slice(words.map(u32::to_le_bytes).as_flattened());
        }
    }
}

impl Geometry<'_> {
    /// The registers that a run loads and stores: file, offset in the record, set.
    fn files(&self, banks: u16) -> [(Column, u32, u16); 3] {
        [
            (OUTPUTS, STATE_OUTPUTS, banks),
            (OTHER_BANK, STATE_OTHER_BANK, banks),
            (TEMPS, STATE_TEMPS, self.code.temps),
        ]
    }

    fn load(&mut self, record: &Record<'_>, emitter: &mut Buffers) -> i32 {
        for (file, offset, set) in self.files(emitter.banks) {
            for n in members(set) {
                let value = record.load(offset + 16 * u32::from(n)).map(f32::from_bits);
                self.registers.set(file + 4 * n, 0, value);
            }
        }
        let [x, y, al, flags] = record.load(STATE_ADDRESS);
        self.registers.a0 = [[x as i32], [y as i32]];
        self.registers.flags = [flags & 1, flags >> 1 & 1];
        for (k, kept) in (0..).zip(&mut emitter.kept) {
            for (n, to) in (0..).zip(kept).filter(|&(n, _)| emitter.mask >> n & 1 != 0) {
                *to = record.load(STATE_EMITTER + k * VERTEX_STRIDE + 16 * n).map(f32::from_bits);
            }
        }
        let [vertex, primitive, winding, _] = record.load(STATE_SETEMIT);
        emitter.vertex = vertex;
        (emitter.primitive, emitter.winding) = (primitive & 1 != 0, winding & 1 != 0);
        al as i32
    }

    fn store(&self, record: &mut Record<'_>, emitter: &Buffers, al: i32) {
        for (file, offset, set) in self.files(emitter.banks) {
            for n in members(set) {
                let value = self.registers.get(file + 4 * n, 0).map(f32::to_bits);
                record.store(offset + 16 * u32::from(n), value);
            }
        }
        let [[x], [y]] = self.registers.a0;
        let [flag_x, flag_y] = self.registers.flags;
        record.store(STATE_ADDRESS, [x as u32, y as u32, al as u32, flag_x & 1 | (flag_y & 1) << 1]);
        record.store(STATE_COUNTERS, [0, emitter.primitives, emitter.emits, 0]);
        for (k, kept) in (0..).zip(&emitter.kept) {
            for (n, value) in (0..).zip(kept).filter(|&(n, _)| emitter.mask >> n & 1 != 0) {
                record.store(STATE_EMITTER + k * VERTEX_STRIDE + 16 * n, value.map(f32::to_bits));
            }
        }
        let set = [emitter.vertex, emitter.primitive.into(), emitter.winding.into(), 0];
        record.store(STATE_SETEMIT, set);
    }
}

impl Geometry<'_> {
    /// Runs from a state record, which is not changed; gives aL at the end, and the emitter with what was sent.
    fn invoke(
        &mut self,
        uniforms: &Uniforms,
        inputs: &Bank,
        state: &mut GeometryState,
        fuel: &mut u64,
    ) -> (Result<i32, Stop>, Buffers) {
        let mask = self.program.shader.geometry.unwrap_or(0);
        let mut emitter = Buffers { mask, banks: self.program.outputs | mask, ..Buffers::default() };
        self.registers.set_uniforms(uniforms, &self.code.constants, self.code.gathers);
        for (n, value) in members(u16::MAX).zip(inputs) {
            self.registers.set_input(n, 0, *value);
        }
        let al = self.load(&Record(&mut state.record), &mut emitter);
        let entry = self.program.shader.entry;
        let ran = Run { code: &self.code, uniforms, fuel, entry, al }.run(self.registers, &mut emitter);
        (ran, emitter)
    }
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
        let (mut ran, mut emitter) = self.invoke(uniforms, inputs, state, fuel);
        if ran == Err(Stop::Beyond) {
            self.code = Arc::new(whole(self.program));
            (ran, emitter) = self.invoke(uniforms, inputs, state, fuel);
        }
        let al = ran.map_err(|stop| error(stop, fuel))?;
        let lost = emitter.emits.saturating_sub(EMIT_CAPACITY);
        keep(Sent { events: std::mem::take(&mut emitter.events), lost }, events)?;
        self.store(&mut Record(&mut state.record), &emitter, al);
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests;
