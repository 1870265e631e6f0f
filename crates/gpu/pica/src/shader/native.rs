//! Programs as machine code: several vertices at once, large draws on all cores.

use super::engine::{
    Bank, EMIT_CAPACITY, Engine, EngineError, GeometryState, Invocations, Shader, outputs_of,
};
use super::table::Table;
use super::unit::Uniforms;
use rayon::prelude::*;
use std::sync::Arc;
use thiserror::Error;
use xenoglot_native::{Bindings, CompileError, Compiler, LANES, Limits, Program, RunError};
use xenoglot_pica_shader::lift::LiftError;
use xenoglot_pica_shader::lift::layout::*;
use xenoglot_pica_shader::lift::record::{self, Event};

/// Vertices whose records are at work at once: they stay in the cache.
const BATCH: usize = 256;
/// Vertices of a draw from which on it pays to wake other cores.
const PARALLEL: usize = 4 * BATCH;

/// Why there is no machine code for a program.
#[derive(Clone, Debug, Error)]
enum NoCode {
    #[error(transparent)]
    Lift(#[from] LiftError),
    #[error(transparent)]
    Compile(Arc<CompileError>),
}

impl From<NoCode> for EngineError {
    fn from(error: NoCode) -> EngineError {
        match error {
            NoCode::Lift(error) => error.into(),
            NoCode::Compile(error) => EngineError::Other(Box::new(error)),
        }
    }
}

impl From<RunError> for EngineError {
    fn from(error: RunError) -> EngineError {
        EngineError::Other(Box::new(error))
    }
}

/// The engine.
pub struct Native {
    compiler: Compiler,
    programs: Table<Code, NoCode>,
    threads: bool,
    /// The state and event records of a geometry invocation.
    events: Vec<u8>,
}

/// A program and what a run of it costs of the fuel: loops are counted as they run.
struct Code {
    program: Program,
    insts: u64,
}

impl Native {
    /// An engine that has compiled nothing yet.
    ///
    /// # Errors
    /// [`CompileError`] where there is no compiler for the host.
    pub fn new() -> Result<Native, CompileError> {
        let compiler = Compiler::new()?;
        Ok(Native { compiler, programs: Table::default(), threads: true, events: Vec::new() })
    }

    /// Whether large draws use all cores; they do unless told otherwise.
    pub fn set_threads(&mut self, threads: bool) {
        self.threads = threads;
    }

    /// Programs in the table.
    pub fn translated(&self) -> usize {
        self.programs.len()
    }
}

fn code<'p>(
    programs: &'p mut Table<Code, NoCode>,
    compiler: &mut Compiler,
    shader: &Shader,
    fuel: &mut u64,
) -> Result<&'p Code, EngineError> {
    programs.get(shader, fuel, || {
        let module = shader.lift()?.module;
        let insts = module.entry_func().map_or(0, |f| f.inst_count()) as u64;
        let program = compiler.compile(&module).map_err(|e| NoCode::Compile(Arc::new(e)))?;
        Ok(Code { program, insts })
    })
}

impl Code {
    /// Shades vertices into as many outputs. Gives the rounds of loops this took.
    fn batch(
        &self,
        uniforms: &Uniforms,
        inputs: &[Bank],
        outputs: &mut [Bank],
        state: &mut Vec<u8>,
        limits: &Limits,
    ) -> Result<u64, RunError> {
        // Registers that a program does not name are not stored, and stay zero from batch to batch.
        state.resize(inputs.len().max(BATCH) * VERTEX_STATE_STRIDE as usize, 0);
        let mut bindings = Bindings::new();
        bindings.read(0, UNIFORM_BINDING, uniforms.bytes());
        bindings.read(0, INPUT_BINDING, bytemuck::cast_slice(inputs));
        bindings.write(0, STATE_BINDING, state);
        let ran = self.program.run(&mut bindings, 0..inputs.len() as u32, limits)?;
        let records = state.chunks_exact(VERTEX_STATE_STRIDE as usize);
        for (output, record) in outputs.iter_mut().zip(records) {
            *output = outputs_of(record);
        }
        Ok(ran.rounds)
    }

    /// What a round of loops costs at most: all lanes run all instructions.
    fn cost(&self, rounds: u64) -> u64 {
        rounds.saturating_mul(self.insts.saturating_mul(u64::from(LANES)))
    }

    /// Rounds that so much fuel pays for.
    fn rounds(&self, fuel: u64) -> u64 {
        fuel / self.cost(1).max(1)
    }
}

impl Engine for Native {
    fn name(&self) -> &'static str {
        "native"
    }

    fn shade(
        &mut self,
        shader: &Shader,
        uniforms: &Uniforms,
        inputs: &[Bank],
        outputs: &mut Vec<Bank>,
        fuel: &mut u64,
    ) -> Result<(), EngineError> {
        let code = code(&mut self.programs, &mut self.compiler, shader, fuel)?;
        let straight = code.insts.saturating_mul(inputs.len() as u64);
        *fuel = fuel.checked_sub(straight).ok_or(EngineError::Fuel)?;
        let first = outputs.len();
        outputs.resize(first + inputs.len(), Bank::default());
        let Some(outputs) = outputs.get_mut(first..) else { return Ok(()) };
        let limits = Limits { fuel: code.rounds(*fuel) };
        let batch = |state: &mut Vec<u8>, (inputs, outputs): (&[Bank], &mut [Bank])| {
            code.batch(uniforms, inputs, outputs, state, &limits)
        };
        let rounds = if self.threads && inputs.len() >= PARALLEL {
            let batches = inputs.par_chunks(BATCH).zip(outputs.par_chunks_mut(BATCH));
            batches.map_init(Vec::new, batch).try_reduce(|| 0, |a, b| Ok(a + b))
        } else {
            let mut state = Vec::new();
            let mut batches = inputs.chunks(BATCH).zip(outputs.chunks_mut(BATCH));
            batches.try_fold(0, |rounds, pair| Ok(rounds + batch(&mut state, pair)?))
        };
        // A run that was stopped does not say how far it came, so it counts as all.
        *fuel = rounds.as_ref().map_or(0, |&rounds| fuel.saturating_sub(code.cost(rounds)));
        rounds?;
        Ok(())
    }

    fn geometry<'e>(
        &'e mut self,
        shader: &Shader,
        fuel: &mut u64,
    ) -> Result<Box<dyn Invocations + 'e>, EngineError> {
        let Native { compiler, programs, events, .. } = self;
        let code = code(programs, compiler, shader, fuel)?;
        events.resize(event_stride(EMIT_CAPACITY) as usize, 0);
        Ok(Box::new(Geometry { code, events, state: Vec::new() }))
    }
}

struct Geometry<'e> {
    code: &'e Code,
    events: &'e mut [u8],
    state: Vec<u8>,
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
        *fuel = fuel.checked_sub(self.code.insts).ok_or(EngineError::Fuel)?;
        self.state.clone_from(&state.record);
        let mut bindings = Bindings::new();
        bindings.read(0, UNIFORM_BINDING, uniforms.bytes());
        bindings.read(0, INPUT_BINDING, bytemuck::cast_slice(inputs));
        bindings.write(0, STATE_BINDING, &mut self.state);
        bindings.write(0, EVENT_BINDING, self.events);
        let limits = Limits { fuel: self.code.rounds(*fuel) };
        let ran = self.code.program.run(&mut bindings, 0..1, &limits);
        drop(bindings);
        *fuel = ran.as_ref().map_or(0, |ran| fuel.saturating_sub(self.code.cost(ran.rounds)));
        ran?;
        let sent = record::sent(&self.state, self.events, EMIT_CAPACITY);
        if sent.lost != 0 {
            return Err(EngineError::Emits(sent.lost));
        }
        std::mem::swap(&mut state.record, &mut self.state);
        events.extend(sent.events);
        Ok(())
    }
}
