//! Programs as machine code: several vertices at once, large draws on all cores.

use super::engine::{
    Bank, Batch, Cost, EMIT_CAPACITY, Engine, EngineError, GeometryState, Invocations, Readiness, keep,
};
use super::program::{PROGRAMS, Program, Shader, pay_translation};
use super::unit::Uniforms;
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use thiserror::Error;
use xenoglot_cache::Failure;
use xenoglot_cache::service::{Options, Priority, Spares, Standing, Workshop};
use xenoglot_native::{Bindings, CompileError, Compiler, LANES, Limits, Program as Code, RunError, Tier};
use xenoglot_pica_shader::lift::layout::*;
use xenoglot_pica_shader::lift::record::{self, Event};

/// Vertices that a core gets at once.
const BATCH: usize = 1024;
/// Vertices of a draw from which on it pays to wake other cores.
const PARALLEL: usize = 2 * BATCH;

/// Programs that wait at most: a guest can make new ones faster than they compile.
const WAITING: usize = 256;
/// Vertices after which a program is compiled again, thoroughly. That takes a few milliseconds on a thread of its own, which
/// the faster code has saved again after some 50,000 vertices.
const HOT: u64 = 1 << 15;

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

/// How thoroughly programs are compiled. The results are the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tiers {
    /// Quickly at first, and again in the background once they have shaded many vertices.
    #[default]
    Both,
    /// As [`Tier::Quick`] or [`Tier::Thorough`], once.
    Only(Tier),
}

/// Machine code, and how many vertices were shaded since it was made.
struct Counted {
    code: Arc<Code>,
    vertices: AtomicU64,
}

/// A program as machine code.
type Compiled = Result<Arc<Counted>, NoCode>;

/// Compiles with any of the compilers.
fn compile(compilers: &Spares<Compiler>, program: &Program, tier: Tier) -> Compiled {
    let refused = |e| NoCode::Refused(Arc::new(e));
    let mut compiler = compilers.take().map_or_else(Compiler::new, Ok).map_err(refused)?;
    compiler.set_tier(tier);
    let compiled = compiler.compile(program.module()).map_err(refused);
    compilers.put(compiler);
    Ok(Arc::new(Counted { code: Arc::new(compiled?), vertices: AtomicU64::new(0) }))
}

/// The engine.
pub struct Native {
    compilers: Arc<Spares<Compiler>>,
    codes: Workshop<Shader, Compiled>,
    /// Thorough code of programs that run often.
    hot: Workshop<Shader, Compiled>,
    tiers: Tiers,
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
        let workshop = || {
            let options = Options { workers: 1, waiting: WAITING, ..Options::default() };
            Workshop::new(PROGRAMS, options, |failure| Err(failure.into()))
        };
        let (codes, hot) = (workshop(), workshop());
        Ok(Native { compilers, codes, hot, tiers: Tiers::Both, threads: true, events: Vec::new() })
    }

    /// How thoroughly programs are compiled from now on.
    pub fn set_tiers(&mut self, tiers: Tiers) {
        self.tiers = tiers;
    }

    /// Whether large draws use all cores; they do unless told otherwise.
    pub fn set_threads(&mut self, threads: bool) {
        self.threads = threads;
    }

    /// A program's code, to shade so many vertices: the best there is by now.
    fn code(
        &mut self,
        program: &Arc<Program>,
        vertices: usize,
        fuel: &mut u64,
    ) -> Result<Arc<Code>, EngineError> {
        if let Some(Ok(hot)) = self.hot.get(&program.shader) {
            return Ok(Arc::clone(&hot.code));
        }
        let compiled = match self.codes.get(&program.shader) {
            Some(compiled) => compiled?,
            None => {
                pay_translation(fuel)?;
                // One that is being compiled may be behind others: this draw needs it now.
                let compiled = compile(&self.compilers, program, self.tier());
                self.codes.insert(program.shader.clone(), compiled.clone());
                compiled?
            }
        };
        let vertices = vertices as u64;
        let shaded = compiled.vertices.fetch_add(vertices, Ordering::Relaxed).saturating_add(vertices);
        if self.tiers == Tiers::Both && shaded >= HOT {
            let (compilers, of) = (Arc::clone(&self.compilers), Arc::clone(program));
            let make = move || compile(&compilers, &of, Tier::Thorough);
            self.hot.begin(&program.shader, Priority::Warm, make);
        }
        Ok(Arc::clone(&compiled.code))
    }

    /// How a new program is compiled.
    fn tier(&self) -> Tier {
        match self.tiers {
            Tiers::Both => Tier::Quick,
            Tiers::Only(tier) => tier,
        }
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
        let (compilers, of, tier) = (Arc::clone(&self.compilers), Arc::clone(program), self.tier());
        self.codes.begin(&program.shader, Priority::Soon, move || compile(&compilers, &of, tier));
    }

    fn shade(&mut self, batch: Batch<'_>) -> Result<(), EngineError> {
        let Batch { program, uniforms, inputs, outputs, fuel } = batch;
        let inputs = inputs.registers();
        let vertices = inputs.vertices();
        let code = self.code(program, vertices, fuel)?;
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
        let code = self.code(program, 0, fuel)?;
        let events = &mut self.events;
        events.resize(event_stride(EMIT_CAPACITY) as usize, 0);
        Ok(Box::new(Geometry { program: program.as_ref(), code, events, state: Vec::new() }))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shader::{Inputs, Packed, Source};
    use xenoglot_pica_shader::asm::assemble;

    /// Doubles v0 of vertices 0, 1, ..; x of o0.
    fn shade(native: &mut Native, program: &Arc<Program>, vertices: usize) -> Vec<f32> {
        let (mut inputs, mut outputs, mut fuel) = (Packed::default(), Packed::default(), 1 << 40);
        inputs.reset(program.inputs, vertices);
        for (value, n) in inputs.values_mut().iter_mut().zip(0u16..) {
            *value = [n.into(); 4];
        }
        let (inputs, uniforms) = (Inputs::from(&inputs), &Uniforms::default());
        native.shade(Batch { program, uniforms, inputs, outputs: &mut outputs, fuel: &mut fuel }).unwrap();
        outputs.values().iter().map(|v| v[0]).collect()
    }

    #[test]
    fn programs_that_run_often_are_compiled_again() {
        let code =
            assemble(".in v\n.out p position\n.proc main\n add p, v, v\n end\n.end\n").unwrap().program;
        let source = Arc::new(Source::new(&code.code, &code.descriptors));
        let program = Arc::new(Program::new(&Shader { source, entry: 0, geometry: None }).unwrap());
        let mut native = Native::new().unwrap();
        let vertices = HOT as usize - 1;
        let doubled: Vec<f32> = (0..vertices).map(|n| 2.0 * n as f32).collect();
        assert_eq!(shade(&mut native, &program, vertices), doubled);
        native.hot.wait_idle();
        assert!(native.hot.get(&program.shader).is_none());
        assert_eq!(shade(&mut native, &program, 1), [0.0]);
        native.hot.wait_idle();
        let Some(Ok(hot)) = native.hot.get(&program.shader) else { panic!("no thorough code") };
        let quick = native.codes.get(&program.shader).unwrap().unwrap();
        assert!(!Arc::ptr_eq(&hot.code, &quick.code));
        assert!(Arc::ptr_eq(&native.code(&program, 1, &mut 0).unwrap(), &hot.code));
        assert_eq!(shade(&mut native, &program, vertices), doubled);
    }
}
