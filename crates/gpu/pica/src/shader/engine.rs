//! What an engine is.

use super::unit::{Source, Uniforms};
use std::sync::Arc;
use thiserror::Error;
use xenoglot_pica_shader::lift::layout::{GEOMETRY_STATE_STRIDE, STATE_OUTPUTS};
use xenoglot_pica_shader::lift::record::Event;
use xenoglot_pica_shader::lift::{GeometryWrapper, LiftError, LiftOptions, Lifted, Wrapper, lift};

/// Sixteen vector registers: v0 to v15 or o0 to o15.
pub type Bank = [[f32; 4]; 16];

/// Most EMITs of a geometry invocation.
pub(super) const EMIT_CAPACITY: u32 = 1024;

/// Everything that changes a translated program. Uniforms do not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shader {
    /// Code and descriptors.
    pub source: Arc<Source>,
    /// Word address of the entry point.
    pub entry: u32,
    /// For a geometry program: what EMIT copies.
    pub geometry: Option<u16>,
}

impl Shader {
    /// The program as a compute kernel over the buffers of [`xenoglot_pica_shader::lift::layout`], optimised. Geometry
    /// programs start with the registers of the state record.
    pub(super) fn lift(&self) -> Result<Lifted, LiftError> {
        let geometry =
            self.geometry.map(|output_mask| GeometryWrapper { output_mask, emit_capacity: EMIT_CAPACITY });
        let wrapper = Wrapper::Compute { workgroup: 1, persistent: geometry.is_some(), geometry };
        let options = LiftOptions { wrapper, only_outputs: true, ..LiftOptions::compute(self.entry) };
        let mut lifted = lift(&self.source.program, &options)?;
        let Ok(()) = xenoglot_opt::optimize(
            &mut lifted.module,
            &mut xenoglot_opt::Context::new(),
            &Default::default(),
            &mut (),
        );
        Ok(lifted)
    }
}

/// Why an engine did not do a batch.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The program cannot be lifted.
    #[error(transparent)]
    Lift(#[from] LiftError),
    /// The interpreter refused the lifted module.
    #[error(transparent)]
    Prepare(#[from] xenoglot_interp::Invalid),
    /// The program did not come to its end.
    #[error(transparent)]
    Trap(#[from] xenoglot_interp::Trap),
    /// Nothing is left of the instructions that may be executed.
    #[error("no instructions are left")]
    Fuel,
    /// A geometry invocation sent more than there is room for.
    #[error("{0} EMITs more than an invocation has room for")]
    Emits(u32),
    /// What another engine has to say.
    #[error(transparent)]
    Other(Box<dyn std::error::Error + Send + Sync>),
}

/// What the geometry unit keeps from one invocation to the next, as a state record of
/// [`xenoglot_pica_shader::lift::layout`].
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

/// Runs shaders.
pub trait Engine: Send {
    /// Its name, for reports.
    fn name(&self) -> &'static str;

    /// Runs a vertex program on each of `inputs`, from registers that are zero, and puts o0 to o15 at the end of
    /// `outputs`. `fuel` is how many instructions of the engine's own measure may be executed; what was is taken off.
    ///
    /// # Errors
    /// Nothing of `outputs` counts then.
    fn shade(
        &mut self,
        shader: &Shader,
        uniforms: &Uniforms,
        inputs: &[Bank],
        outputs: &mut Vec<Bank>,
        fuel: &mut u64,
    ) -> Result<(), EngineError>;

    /// Gets ready to run a geometry program. `fuel` as in [`Engine::shade`].
    fn geometry<'e>(
        &'e mut self,
        shader: &Shader,
        fuel: &mut u64,
    ) -> Result<Box<dyn Invocations + 'e>, EngineError>;
}

/// A geometry program that is ready to run.
pub trait Invocations {
    /// Runs it once, from the registers in `state`, and adds what it sent to `events`. `fuel` as in [`Engine::shade`].
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

/// o0 to o15 of a state record.
pub(super) fn outputs_of(record: &[u8]) -> Bank {
    let words = record.get(STATE_OUTPUTS as usize..).unwrap_or_default();
    let mut bank = Bank::default();
    let floats = bank.as_flattened_mut().iter_mut();
    for (float, bytes) in floats.zip(words.as_chunks::<4>().0) {
        *float = f32::from_le_bytes(*bytes);
    }
    bank
}
