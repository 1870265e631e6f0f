//! What an engine is.

use super::inputs::Inputs;
use super::packed::Packed;
use super::program::Program;
use super::unit::Uniforms;
use std::sync::Arc;
use thiserror::Error;
use xenoglot_pica_shader::lift::LiftError;
use xenoglot_pica_shader::lift::layout::GEOMETRY_STATE_STRIDE;
use xenoglot_pica_shader::lift::record::{Event, Sent};

/// Sixteen vector registers: v0 to v15 or o0 to o15.
pub type Bank = [[f32; 4]; 16];

/// Most EMITs of a geometry invocation.
pub(super) const EMIT_CAPACITY: u32 = 1024;

/// Why an engine did not do a batch.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The program cannot be lifted.
    #[error(transparent)]
    Lift(#[from] LiftError),
    /// The interpreter refused the lifted module.
    #[error(transparent)]
    Prepare(#[from] xenoglot_interp::Invalid),
    /// The program stopped before its end.
    #[error(transparent)]
    Trap(#[from] xenoglot_interp::Trap),
    /// Nothing is left of the instructions that may be executed.
    #[error("no instructions are left")]
    Fuel,
    /// A geometry invocation sent more than there is room for.
    #[error("{0} EMITs more than an invocation has room for")]
    Emits(u32),
    /// The engine takes no programs like this one.
    #[error("{0}")]
    Declined(&'static str),
    /// What another engine has to say.
    #[error(transparent)]
    Other(Box<dyn std::error::Error + Send + Sync>),
}

/// What the geometry unit keeps from one invocation to the next, as a state record of
/// [`layout`](xenoglot_pica_shader::lift::layout).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeometryState {
    /// The record.
    pub record: Vec<u8>,
}

impl Default for GeometryState {
    fn default() -> Self {
        GeometryState { record: vec![0; GEOMETRY_STATE_STRIDE as usize] }
    }
}

/// How far an engine is with a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// It runs it at once, or says at once why not.
    Ready,
    /// It is translating it.
    Preparing,
    /// It has not seen it.
    New,
}

/// What an engine is thought to cost until it was measured, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Of a batch, however small.
    pub batch: f64,
    /// Of an instruction of the module on one vertex.
    pub inst: f64,
    /// Of translating an instruction of the module.
    pub translation: f64,
}

/// Vertices to run a program on.
pub struct Batch<'a> {
    /// The program.
    pub program: &'a Arc<Program>,
    /// Its uniforms.
    pub uniforms: &'a Uniforms,
    /// The program's set of input registers.
    pub inputs: Inputs<'a>,
    /// Left reset to the program's set of output registers and as many vertices.
    pub outputs: &'a mut Packed,
    /// How many instructions of the engine's own measure may be executed; what was is taken off.
    pub fuel: &'a mut u64,
}

impl Batch<'_> {
    /// The same batch for another to run.
    pub fn again(&mut self) -> Batch<'_> {
        let &mut Batch { program, uniforms, inputs, ref mut outputs, ref mut fuel } = self;
        Batch { program, uniforms, inputs, outputs, fuel }
    }
}

/// Runs shaders.
pub trait Engine: Send {
    /// Its name, for reports.
    fn name(&self) -> &'static str;

    /// What it is thought to cost.
    fn cost(&self) -> Cost;

    /// Whether the program is translated. An engine without translation is always ready.
    fn readiness(&mut self, _program: &Arc<Program>) -> Readiness {
        Readiness::Ready
    }

    /// Begins to translate the program in the background. An engine that cannot does nothing.
    fn prepare(&mut self, _program: &Arc<Program>) {}

    /// Runs a vertex program on each vertex of a batch, from registers that are zero. What is not translated is now.
    ///
    /// # Errors
    /// Nothing of the outputs counts then.
    fn shade(&mut self, batch: Batch<'_>) -> Result<(), EngineError>;

    /// Gets ready to run a geometry program. `fuel` as in [`Batch`].
    fn geometry<'e>(
        &'e mut self,
        program: &'e Arc<Program>,
        fuel: &mut u64,
    ) -> Result<Box<dyn Invocations + 'e>, EngineError>;
}

/// A geometry program that is ready to run.
pub trait Invocations {
    /// Runs it once, from the registers in `state`, and adds what it sent to `events`. `fuel` as in [`Batch`].
    ///
    /// # Errors
    /// `state` and `events` do not count then.
    fn run(
        &mut self,
        uniforms: &Uniforms,
        inputs: &Bank,
        state: &mut GeometryState,
        events: &mut Vec<Event>,
        fuel: &mut u64,
    ) -> Result<(), EngineError>;
}

/// Adds what an invocation sent to `events`, unless some of it was lost.
pub(super) fn keep(sent: Sent, events: &mut Vec<Event>) -> Result<(), EngineError> {
    if sent.lost != 0 {
        return Err(EngineError::Emits(sent.lost));
    }
    events.extend(sent.events);
    Ok(())
}
