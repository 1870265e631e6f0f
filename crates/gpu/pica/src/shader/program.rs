//! Programs as all engines take them: lifted once, and optimised once, when the first engine asks for that.

use super::engine::{EMIT_CAPACITY, EngineError};
use super::unit::Source;
use std::sync::{Arc, OnceLock};
use xenoglot_cache::Objects;
use xenoglot_ir::Module;
use xenoglot_pica_shader::lift::{GeometryWrapper, LiftError, LiftOptions, Records, Wrapper, lift};

/// Programs that are kept, of those that are used. A title has some dozens.
pub(super) const PROGRAMS: usize = 1024;

/// What a translation costs of the instructions that may be executed; else a list that changes its program before each
/// draw could keep the GPU busy for hours.
const TRANSLATION: u64 = 1 << 20;

/// Takes the cost of a translation off the fuel.
pub(super) fn pay_translation(fuel: &mut u64) -> Result<(), EngineError> {
    *fuel = fuel.checked_sub(TRANSLATION).ok_or(EngineError::Fuel)?;
    Ok(())
}

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

/// A lifted shader.
#[derive(Debug)]
pub struct Program {
    /// What it was lifted from.
    pub shader: Shader,
    lifted: Module,
    optimised: OnceLock<Module>,
    /// Input registers that the program reads, bit n for v `n`.
    pub inputs: u16,
    /// Output registers that it writes.
    pub outputs: u16,
    /// Instructions of the module as lifted: a measure of its length.
    pub insts: u64,
    /// Instructions of the guest's program, each call counted: what [`Timing`](crate::timing::Timing) goes by.
    pub length: u64,
}

impl Shader {
    /// How engines have it lifted.
    pub fn lift_options(&self) -> LiftOptions {
        let geometry =
            self.geometry.map(|output_mask| GeometryWrapper { output_mask, emit_capacity: EMIT_CAPACITY });
        let wrapper = Wrapper::Compute { workgroup: 1, persistent: geometry.is_some(), geometry };
        LiftOptions { wrapper, records: Records::Packed, ..LiftOptions::compute(self.entry) }
    }
}

impl Program {
    /// Lifts a shader.
    ///
    /// # Errors
    /// [`LiftError`].
    pub fn new(shader: &Shader) -> Result<Program, LiftError> {
        let lifted = lift(&shader.source.program, &shader.lift_options())?;
        let insts = lifted.module.entry_func().map_or(0, |f| f.inst_count()) as u64;
        let (inputs, outputs) = (lifted.inputs, lifted.outputs);
        let length = match lifted.flow.nodes {
            // Its flow is followed as it runs: all words count.
            0 => shader.source.program.code.len(),
            nodes => nodes,
        } as u64;
        let (shader, lifted) = (shader.clone(), lifted.module);
        Ok(Program { shader, lifted, optimised: OnceLock::new(), inputs, outputs, insts, length })
    }

    /// A compute kernel over the buffers of [`layout`](xenoglot_pica_shader::lift::layout), optimised at the first call:
    /// not all engines want it. Vertex programs have packed records; geometry programs start with the registers of the
    /// state record.
    pub fn module(&self) -> &Module {
        self.optimised.get_or_init(|| optimised(self.lifted.clone()))
    }

    /// The same of a program with [bounded loops](super::rounds); nothing if there is a loop that cannot be bounded.
    #[cfg(feature = "host")]
    pub(crate) fn bounded(&self, most: u32) -> Option<Module> {
        let mut module = self.lifted.clone();
        super::rounds::bound(&mut module, most).then(|| optimised(module))
    }
}

fn optimised(mut module: Module) -> Module {
    let Ok(()) =
        xenoglot_opt::optimize(&mut module, &mut xenoglot_opt::Context::new(), &Default::default(), &mut ());
    module
}

/// The programs of a GPU, and why others cannot be lifted.
#[derive(Debug)]
pub(super) struct Programs(Objects<Shader, Result<Arc<Program>, LiftError>>);

impl Default for Programs {
    fn default() -> Self {
        Programs(Objects::new(PROGRAMS))
    }
}

impl Programs {
    /// The shader's program, lifted if it is new, which takes its share of the fuel.
    pub fn get(&mut self, shader: &Shader, fuel: &mut u64) -> Result<Arc<Program>, EngineError> {
        if !self.0.contains(shader) {
            pay_translation(fuel)?;
        }
        Ok(self.0.get_or_insert_with(shader, || Program::new(shader).map(Arc::new))?)
    }

    /// Programs there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}
