//! DXIL, the shaders of Direct3D 12: from containers or bare bitcode to modules.

/// The front end.
pub use xenoglot_dxil as front;

use crate::Error;
use crate::guest::{self, Guest, Image, Style, Unit, entry, suffix};
pub use xenoglot_dxil::binding::{
    Checks, HeapSets, RegisterSpaces, Remapper, RootSignatureMap, Slot, Windows, checks, nodes,
};
use xenoglot_dxil::bitcode::{self, Module};
use xenoglot_dxil::container::{self, Container, Content, FourCc, SubobjectContent};
pub use xenoglot_dxil::lift::{Bounds, LiftOptions, Lifted};
use xenoglot_dxil::program::Resource;
pub use xenoglot_dxil::root_signature::RootSignature;
use xenoglot_dxil::{binding, lift as lifter, program};

/// The guest.
#[derive(Clone, Copy, Debug)]
pub struct Dxil;

/// How a shader is lifted.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How its resources are bound.
    pub bindings: BindingModel,
    /// The lifter's options; the entry is the program's number.
    pub lift: LiftOptions,
}

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

/// The global root signature of a container, and the local one of a library's shader.
fn own_signatures(
    bytes: &[u8],
    shader: &str,
) -> Result<(Option<RootSignature>, Option<RootSignature>), Error> {
    let container = Container::parse(bytes)?;
    let (mut global, mut local) = (container.root_signature()?, None);
    let Some(part) = container.part(FourCc::RDAT) else { return Ok((global, local)) };
    let Content::RuntimeData(data) = container.content(part)? else { return Ok((global, local)) };
    let export = data.functions.iter().find(|f| f.name == shader).map_or(shader, |f| f.unmangled);
    let find = |name: &str| data.subobjects.iter().find(|s| s.name == name).map(|s| &s.content);
    for subobject in &data.subobjects {
        match &subobject.content {
            SubobjectContent::GlobalRootSignature(bytes) if global.is_none() => {
                global = Some(RootSignature::parse(bytes)?);
            }
            SubobjectContent::ExportsAssociation { subobject, exports } => {
                if let Some(SubobjectContent::LocalRootSignature(bytes)) = find(subobject)
                    && exports.iter().any(|name| name == export)
                {
                    local = Some(RootSignature::parse(bytes)?);
                }
            }
            _ => {}
        }
    }
    Ok((global, local))
}

/// The shaders of a module, in the order in which [`LiftOptions::entry`] counts them: several of a library.
///
/// # Errors
/// As [`program`](fn@program).
pub fn programs(module: &Module) -> Result<Vec<program::Program>, Error> {
    Ok(program::Program::all(module).map_err(lifter::LiftError::from)?)
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

    /// The model as the lifter asks it, for a shader of a file, counted as [`LiftOptions::entry`] counts. Root signatures of
    /// the file's own are those of its shaders, and in libraries those of their subobjects, local ones, too.
    ///
    /// # Errors
    /// Metadata that is no shader's, or a root signature in the file that is damaged.
    pub fn remapper(&self, bytes: &[u8], module: &Module, entry: usize) -> Result<Box<dyn Remapper>, Error> {
        let programs = programs(module)?;
        let name = programs.get(entry).map_or("", |p| &p.name).to_owned();
        let mut resources: Vec<Resource> = Vec::new();
        for resource in programs.into_iter().flat_map(|p| p.resources) {
            if !resources.contains(&resource) {
                resources.push(resource);
            }
        }
        Ok(match self {
            BindingModel::Registers => {
                let sets = resources.iter().map(|r| r.space.saturating_add(1)).max().unwrap_or(0);
                let set = |n: u32| sets.saturating_add(n);
                let (resources, samplers, static_samplers) = (set(0), set(1), set(2));
                let heaps = HeapSets { resources, samplers, static_samplers, ..HeapSets::default() };
                Box::new(RegisterSpaces { heaps: Some(heaps), ..RegisterSpaces::default() })
            }
            BindingModel::RootSignature { signature, heaps } => {
                let (global, local) = match container::detect(bytes) {
                    Some(container::Format::Container) => own_signatures(bytes, &name)?,
                    _ => (None, None),
                };
                let signature = signature.clone().or(global);
                let signature = signature.unwrap_or_else(|| binding::covering(&resources));
                Box::new(RootSignatureMap::new(&signature, local.as_ref(), *heaps))
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

/// Lifts a module's shader, or one of a library, a descriptor set for each register space.
///
/// # Errors
/// The lifter's.
pub fn lift(module: &Module, options: &LiftOptions) -> Result<Lifted, Error> {
    Ok(lifter::lift(module, options)?)
}

impl Guest for Dxil {
    fn name(&self) -> &'static str {
        "dxil"
    }

    fn title(&self) -> &'static str {
        "Direct3D 12 (DXIL)"
    }

    fn detect(&self, bytes: &[u8]) -> Option<&'static str> {
        container::detect(bytes).map(container::Format::name)
    }

    fn options(&self) -> guest::LiftOptions {
        guest::LiftOptions::Dxil(Options::default())
    }

    fn load<'a>(&self, bytes: &'a [u8]) -> Result<Box<dyn Image + 'a>, Error> {
        let module = load(bytes)?;
        let shaders = programs(&module)?;
        let count = shaders.len();
        let program = |(number, shader): (usize, program::Program)| guest::Program {
            name: shader.name,
            stage: shader.kind.name(),
            unit: 0,
            number,
            suffix: suffix(number, count),
        };
        let programs = shaders.into_iter().enumerate().map(program).collect();
        let units = [Unit { extension: "ll", ..Unit::default() }];
        Ok(Box::new(File { bytes, module, units, programs }))
    }
}

struct File<'a> {
    bytes: &'a [u8],
    module: Module,
    units: [Unit; 1],
    programs: Vec<guest::Program>,
}

impl Image for File<'_> {
    fn units(&self) -> &[Unit] {
        &self.units
    }

    fn programs(&self) -> &[guest::Program] {
        &self.programs
    }

    fn disassemble(&self, unit: usize, _: Style) -> Result<String, Error> {
        entry(&self.units, unit)?;
        disassemble(&self.module)
    }

    fn lift(&self, program: usize, options: &guest::LiftOptions) -> Result<xenoglot_ir::Module, Error> {
        let guest::LiftOptions::Dxil(options) = options else { return Err(options.foreign("dxil")) };
        let entry = entry(&self.programs, program)?.number;
        let remapper = options.bindings.remapper(self.bytes, &self.module, entry)?;
        let lift = LiftOptions { entry, ..options.lift };
        Ok(lift_bound(&self.module, &lift, &*remapper)?.module)
    }
}
