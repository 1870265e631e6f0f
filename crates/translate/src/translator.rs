//! Modules to host code.

use crate::Error;
use crate::target::{Code, Target};
use xenoglot_ir::Module;
use xenoglot_opt::pipeline::Observer;

/// Optimises and writes modules, reusing its buffers from one to the next.
#[derive(Default)]
pub struct Translator {
    opt: xenoglot_opt::Context,
    spirv: xenoglot_spirv::Emitter,
    glsl: xenoglot_glsl::Context,
}

impl Translator {
    /// A translator with empty buffers.
    pub fn new() -> Translator {
        Translator::default()
    }

    /// Runs the pass list.
    pub fn optimize(&mut self, module: &mut Module, options: &xenoglot_opt::Options) {
        let Ok(()) = xenoglot_opt::optimize(module, &mut self.opt, options, &mut ());
    }

    /// Runs the pass list before an observer, who may print, measure or verify after each pass, and stop it.
    ///
    /// # Errors
    /// The observer's.
    pub fn optimize_before<O: Observer>(
        &mut self,
        module: &mut Module,
        options: &xenoglot_opt::Options,
        observer: &mut O,
    ) -> Result<(), O::Error> {
        xenoglot_opt::optimize(module, &mut self.opt, options, observer)
    }

    /// Structures and writes a verified module.
    ///
    /// # Errors
    /// What the target cannot express, with op and guest address.
    pub fn emit(&mut self, module: &Module, target: &Target) -> Result<Code, Error> {
        match target {
            Target::Spirv(options) => Ok(Code::Words(self.spirv.emit(module, options)?)),
            Target::Glsl(options) => Ok(Code::Text(self.glsl.emit(module, options)?)),
            #[cfg(feature = "naga")]
            Target::Wgsl(options) => self.through_naga(module, options, xenoglot_naga::to_wgsl),
            #[cfg(feature = "naga")]
            Target::Msl(options) => self.through_naga(module, options, xenoglot_naga::to_msl),
            #[cfg(feature = "naga")]
            Target::Hlsl(options) => self.through_naga(module, options, xenoglot_naga::to_hlsl),
        }
    }

    #[cfg(feature = "naga")]
    fn through_naga(
        &mut self,
        module: &Module,
        options: &xenoglot_naga::Options,
        write: fn(&[u32], &xenoglot_naga::Options) -> Result<String, xenoglot_naga::Error>,
    ) -> Result<Code, Error> {
        let words = self.spirv.emit(module, &xenoglot_spirv::Options::for_naga())?;
        Ok(Code::Text(write(&words, options)?))
    }

    /// Optimises a module with the whole pass list and writes it.
    ///
    /// # Errors
    /// As [`Translator::emit`].
    pub fn translate(&mut self, module: &mut Module, target: &Target) -> Result<Code, Error> {
        self.optimize(module, &xenoglot_opt::Options::default());
        self.emit(module, target)
    }
}
