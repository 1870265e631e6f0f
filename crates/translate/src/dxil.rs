//! DXIL, the shaders of Direct3D 12: from containers or bare bitcode to modules.

use crate::{Error, Target};
pub use xenoglot_dxil::binding::{HeapSets, RegisterSpaces, Remapper, RootSignatureMap};
use xenoglot_dxil::bitcode::{self, Module};
use xenoglot_dxil::container::{self, Container};
pub use xenoglot_dxil::lift::{Bounds, LiftOptions, Lifted};
pub use xenoglot_dxil::root_signature::RootSignature;
use xenoglot_dxil::{binding, lift as lifter, program};
use xenoglot_spirv::Options;

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

/// A target with what it has to know of a shader beside the module: primitives, patches, tests of depth, and that textures
/// and samplers are bound apart.
pub fn target_for(target: &Target, program: &program::Program) -> Target {
    let pipeline = &program.pipeline;
    match target.clone() {
        Target::Spirv(options) => {
            Target::Spirv(Options { separate_samplers: true, ..options.with_pipeline(pipeline) })
        }
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

/// How a shader's resources are bound.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum BindingModel {
    /// A descriptor set for each register space and a binding for each register. Heaps that a shader indexes are in the
    /// sets behind those.
    #[default]
    Registers,
    /// As a root signature says: constants and addresses in push constants, descriptors in global heaps.
    RootSignature {
        /// The root signature; if there is none, the container's own, or one that puts all that the shader declares in
        /// tables.
        signature: Option<RootSignature>,
        /// Where the heaps are bound.
        heaps: HeapSets,
    },
}

impl BindingModel {
    /// By root signature, heaps in sets 0 to 2.
    pub fn root_signature(signature: Option<RootSignature>) -> BindingModel {
        BindingModel::RootSignature { signature, heaps: HeapSets::default() }
    }

    /// The model as the lifter asks it, for a shader of a file.
    ///
    /// # Errors
    /// Metadata that is no shader's, or a root signature in the file that is damaged.
    pub fn remapper(&self, bytes: &[u8], module: &Module) -> Result<Box<dyn Remapper>, Error> {
        let program = program(module)?;
        Ok(match self {
            BindingModel::Registers => {
                let sets = program.resources.iter().map(|r| r.space.saturating_add(1)).max().unwrap_or(0);
                let set = |n: u32| sets.saturating_add(n);
                let heaps = HeapSets { resources: set(0), samplers: set(1), static_samplers: set(2) };
                Box::new(RegisterSpaces { heaps: Some(heaps), ..RegisterSpaces::default() })
            }
            BindingModel::RootSignature { signature, heaps } => {
                let own = match (signature, container::detect(bytes)) {
                    (None, Some(container::Format::Container)) => {
                        Container::parse(bytes)?.root_signature()?
                    }
                    _ => None,
                };
                let signature = signature.clone().or(own);
                let signature = signature.unwrap_or_else(|| binding::covering(&program.resources));
                Box::new(RootSignatureMap::new(&signature, None, *heaps))
            }
        })
    }
}

/// Lifts a module's shader, its resources bound as a remapper says.
///
/// # Errors
/// The lifter's.
pub fn lift_bound(module: &Module, options: &LiftOptions, remapper: &dyn Remapper) -> Result<Lifted, Error> {
    Ok(lifter::lift_bound(module, options, remapper)?)
}

/// Lifts a module's shader, a descriptor set for each register space.
///
/// # Errors
/// The lifter's.
pub fn lift(module: &Module, options: &LiftOptions) -> Result<Lifted, Error> {
    Ok(lifter::lift(module, options)?)
}
