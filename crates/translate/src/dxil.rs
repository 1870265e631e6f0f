//! DXIL, the shaders of Direct3D 12: from containers or bare bitcode to modules.

use crate::{Error, Target};
use xenoglot_dxil::bitcode::{self, Module};
use xenoglot_dxil::container;
pub use xenoglot_dxil::lift::{Bounds, LiftOptions, Lifted};
use xenoglot_dxil::{lift as lifter, program};

/// Reads the shader's module of a DXBC container or of bitcode.
///
/// # Errors
/// The readers'.
pub fn load(bytes: &[u8]) -> Result<Module, Error> {
    let code = container::bitcode(bytes)?;
    Ok(bitcode::read(code.bytes, &bitcode::Limits::default())?)
}

/// A module as LLVM's text.
///
/// # Errors
/// A text beyond all measure.
pub fn disassemble(module: &Module) -> Result<String, Error> {
    Ok(xenoglot_dxil::disasm::disassemble(module)?)
}

/// What a module's metadata says of its shader.
///
/// # Errors
/// Metadata that is no shader's.
pub fn program(module: &Module) -> Result<program::Program, Error> {
    Ok(program::Program::of(module).map_err(lifter::LiftError::from)?)
}

/// The shaders of a module, in the order in which [`LiftOptions::entry`] counts them: several of a library.
///
/// # Errors
/// As [`program`].
pub fn programs(module: &Module) -> Result<Vec<program::Program>, Error> {
    Ok(program::Program::all(module).map_err(lifter::LiftError::from)?)
}

/// A target with what it has to know of a shader beside the module: primitives, patches, tests of depth.
pub fn target_for(target: &Target, program: &program::Program) -> Target {
    let pipeline = &program.pipeline;
    match target.clone() {
        Target::Spirv(options) => Target::Spirv(options.with_pipeline(pipeline)),
        Target::Glsl(mut options) => {
            options.early_fragment_tests = pipeline.early_fragment_tests;
            options.patch_vertices = pipeline.patch_vertices;
            (options.geometry, options.tessellation) = (pipeline.geometry, pipeline.tessellation);
            Target::Glsl(options)
        }
        #[cfg(feature = "naga")]
        other => other,
    }
}

/// Lifts a module's shader, or one of a library.
///
/// # Errors
/// The lifter's.
pub fn lift(module: &Module, options: &LiftOptions) -> Result<Lifted, Error> {
    Ok(lifter::lift(module, options)?)
}
