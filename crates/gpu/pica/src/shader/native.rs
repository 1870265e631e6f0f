//! Programs as machine code: several vertices at once, large draws on all cores.

use super::engine::{
    Bank, Batch, Cost, EMIT_CAPACITY, Engine, EngineError, GeometryState, Invocations, Readiness, keep,
};
use super::program::{PROGRAMS, Program, Shader, pay_translation};
use super::unit::Uniforms;
use rayon::prelude::*;
use std::sync::Arc;
use thiserror::Error;
use xenoglot_cache::Failure;
use xenoglot_cache::service::{Options, Priority, Spares, Standing, Workshop};
use xenoglot_native::{Bindings, CompileError, Compiler, LANES, Limits, Program as Code, RunError};
use xenoglot_pica_shader::lift::layout::*;
use xenoglot_pica_shader::lift::record::{self, Event};

/// Vertices that a core gets at once.
const BATCH: usize = 1024;
/// Vertices of a draw from which on it pays to wake other cores.
const PARALLEL: usize = 2 * BATCH;

/// Programs that wait at most: a guest can make new ones faster than they compile.
const WAITING: usize = 256;

/// Why there is no machine code for a program.
#[derive(Clone, Debug, Error)]
enum NoCode {
    #[error(transparent)]
    Refused(Arc<CompileError>),
    /// The compiler panicked or took too long.
    #[error(transparent)]
    Failed(#[from] Failure),
}

impl From<NoCode> for EngineError {
    fn from(error: NoCode) -> EngineError {
        EngineError::Other(Box::new(error))
    }
}

impl From<RunError> for EngineError {
    fn from(error: RunError) -> EngineError {
        EngineError::Other(Box::new(error))
    }
}

/// A program as machine code.
type Compiled = Result<Arc<Code>, NoCode>;

/// Compiles with any of the compilers.
fn compile(compilers: &Spares<Compiler>, program: &Program) -> Compiled {
    let refused = |e| NoCode::Refused(Arc::new(e));
    let mut compiler = compilers.take().map_or_else(Compiler::new, Ok).map_err(refused)?;
    let compiled = compiler.compile(program.module()).map(Arc::new).map_err(refused);
    compilers.put(compiler);
    compiled
}

/// The engine.
pub struct Native {
    compilers: Arc<Spares<Compiler>>,
    codes: Workshop<Shader, Compiled>,
    threads: bool,
    /// The event record of a geometry invocation.
    events: Vec<u8>,
}

impl Native {
    /// An engine that has compiled nothing yet.
    ///
    /// # Errors
    /// [`CompileError`] where there is no compiler for the host.
    pub fn new() -> Result<Native, CompileError> {
        let compilers = Arc::new(Spares::default());
        compilers.put(Compiler::new()?);
        let options = Options { workers: 1, waiting: WAITING, ..Options::default() };
        let codes = Workshop::new(PROGRAMS, options, |failure| Err(failure.into()));
        Ok(Native { compilers, codes, threads: true, events: Vec::new() })
    }

    /// Whether large draws use all cores; they do unless told otherwise.
    pub fn set_threads(&mut self, threads: bool) {
        self.threads = threads;
    }

    fn code(&mut self, program: &Program, fuel: &mut u64) -> Result<Arc<Code>, EngineError> {
        if let Some(compiled) = self.codes.get(&program.shader) {
            return Ok(compiled?);
        }
        pay_translation(fuel)?;
        // One that is being compiled may be behind others: this draw needs it now.
        let compiled = compile(&self.compilers, program);
        self.codes.insert(program.shader.clone(), compiled.clone());
        Ok(compiled?)
    }
}

/// What rounds of loops cost at most: all lanes run all instructions.
fn cost(program: &Program, rounds: u64) -> u64 {
    rounds.saturating_mul(program.insts.saturating_mul(u64::from(LANES)))
}

/// Rounds that so much fuel pays for.
fn limits(program: &Program, fuel: u64) -> Limits {
    Limits { fuel: fuel / cost(program, 1).max(1) }
}

impl Engine for Native {
    fn name(&self) -> &'static str {
        "native"
    }

    fn cost(&self) -> Cost {
        Cost { batch: 1e-6, inst: 3e-10, translation: 5e-6 }
    }

    fn readiness(&mut self, program: &Arc<Program>) -> Readiness {
        match self.codes.standing(&program.shader) {
            Standing::Ready(_) => Readiness::Ready,
            Standing::InWork => Readiness::Preparing,
            Standing::New => Readiness::New,
        }
    }

    fn prepare(&mut self, program: &Arc<Program>) {
        let (compilers, of) = (Arc::clone(&self.compilers), Arc::clone(program));
        self.codes.begin(&program.shader, Priority::Soon, move || compile(&compilers, &of));
    }

    fn shade(&mut self, batch: Batch<'_>) -> Result<(), EngineError> {
        let Batch { program, uniforms, inputs, outputs, fuel } = batch;
        let code = self.code(program, fuel)?;
        let inputs = inputs.registers();
        let vertices = inputs.vertices();
        let straight = program.insts.saturating_mul(vertices as u64);
        *fuel = fuel.checked_sub(straight).ok_or(EngineError::Fuel)?;
        outputs.reset(program.outputs, vertices);
        let (reads, writes) = (inputs.registers(), outputs.registers());
        let limits = limits(program, *fuel);
        let run = |inputs: &[[f32; 4]], outputs: &mut [[f32; 4]], vertices: usize| {
            let mut bindings = Bindings::new();
            bindings.read(0, UNIFORM_BINDING, uniforms.bytes());
            bindings.read(0, INPUT_BINDING, bytemuck::cast_slice(inputs));
            bindings.write(0, STATE_BINDING, bytemuck::cast_slice_mut(outputs));
            Ok(code.run(&mut bindings, 0..vertices as u32, &limits)?.rounds)
        };
        let rounds: Result<u64, RunError> = if self.threads && vertices >= PARALLEL && writes > 0 {
            let inputs = inputs.values();
            let batches = outputs.values_mut().par_chunks_mut(BATCH * writes).enumerate();
            batches
                .map(|(n, outputs)| {
                    let vertices = outputs.len() / writes;
                    let inputs =
                        inputs.get(n * BATCH * reads..).and_then(|rest| rest.get(..vertices * reads));
                    run(inputs.unwrap_or_default(), outputs, vertices)
                })
                .try_reduce(|| 0, |a, b| Ok(a + b))
        } else {
            run(inputs.values(), outputs.values_mut(), vertices)
        };
        // A run that was stopped does not say how far it came, so it counts as all.
        *fuel = rounds.as_ref().map_or(0, |&rounds| fuel.saturating_sub(cost(program, rounds)));
        rounds?;
        Ok(())
    }

    fn geometry<'e>(
        &'e mut self,
        program: &'e Arc<Program>,
        fuel: &mut u64,
    ) -> Result<Box<dyn Invocations + 'e>, EngineError> {
        let code = self.code(program, fuel)?;
        let events = &mut self.events;
        events.resize(event_stride(EMIT_CAPACITY) as usize, 0);
        Ok(Box::new(Geometry { program, code, events, state: Vec::new() }))
    }
}

struct Geometry<'e> {
    program: &'e Program,
    code: Arc<Code>,
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
        *fuel = fuel.checked_sub(self.program.insts).ok_or(EngineError::Fuel)?;
        self.state.clone_from(&state.record);
        let mut bindings = Bindings::new();
        bindings.read(0, UNIFORM_BINDING, uniforms.bytes());
        bindings.read(0, INPUT_BINDING, bytemuck::cast_slice(inputs));
        bindings.write(0, STATE_BINDING, &mut self.state);
        bindings.write(0, EVENT_BINDING, self.events);
        let ran = self.code.run(&mut bindings, 0..1, &limits(self.program, *fuel));
        drop(bindings);
        *fuel = ran.as_ref().map_or(0, |ran| fuel.saturating_sub(cost(self.program, ran.rounds)));
        ran?;
        keep(record::sent(&self.state, self.events, EMIT_CAPACITY), events)?;
        std::mem::swap(&mut state.record, &mut self.state);
        Ok(())
    }
}
