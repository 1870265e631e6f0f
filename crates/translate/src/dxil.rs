//! DXIL, the shaders of Direct3D 12: from containers or bare bitcode to modules.

use crate::Error;
use xenoglot_dxil::bitcode::{self, Module};
use xenoglot_dxil::container;
pub use xenoglot_dxil::lift::{LiftOptions, Lifted};
use xenoglot_dxil::{lift as lifter, program};

/// Reads the shader's module of a DXBC container or of bitcode.
///
/// # Errors
/// The readers'.
pub fn load(bytes: &[u8]) -> Result<Module, Error> {
    let code = container::bitcode(bytes)?;
    Ok(bitcode::read(code.bytes, &bitcode::Limits::default())?)
}

/// What a module's metadata says of its shader.
///
/// # Errors
/// Metadata that is no shader's.
pub fn program(module: &Module) -> Result<program::Program, Error> {
    Ok(program::Program::of(module).map_err(lifter::LiftError::from)?)
}

/// Lifts a module's shader.
///
/// # Errors
/// The lifter's.
pub fn lift(module: &Module, options: &LiftOptions) -> Result<Lifted, Error> {
    Ok(lifter::lift(module, options)?)
}
