//! The programs of the vectors as modules, as lifted: what suites and tests compile for many hosts.

use crate::maxwell::{format::Corpus, graphics};
use crate::pica::{format, kernel};
use crate::{dxil as dxil_suite, input};
use std::path::Path;
use xenoglot::dxil::{self, BindingModel};
use xenoglot::guest::{Guest, LiftOptions};
use xenoglot_ir::Module;

/// A program with its name.
pub type Named = (String, Module);

/// Why a corpus cannot be read or lifted.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// The PICA200's programs below a folder, as kernels and, where there is such a stage, as vertex shaders.
///
/// # Errors
/// Files that cannot be read, programs that cannot be lifted.
pub fn pica(folder: &Path) -> Result<Vec<Named>, Error> {
    let mut modules = Vec::new();
    for (_, bytes) in input::with_magic(folder, format::PROGRAMS_MAGIC)? {
        for p in format::programs(&bytes)? {
            modules.push((format!("{} as a kernel", p.id), kernel::compute(&p)?.module));
            if !p.geometry {
                modules.push((format!("{} as a vertex shader", p.id), kernel::vertex(&p)?.module));
            }
        }
    }
    Ok(modules)
}

/// The kernels of an archive of cubins that are lifted, and the number of those that are not.
///
/// # Errors
/// An archive or a cubin that cannot be read.
pub fn maxwell_kernels(archive: &Path) -> Result<(Vec<Named>, usize), Error> {
    let (mut modules, mut refused) = (Vec::new(), 0);
    let guest = &xenoglot::maxwell::Maxwell;
    for (name, cubin) in &Corpus::read(archive)?.cubins {
        let image = guest.load(cubin)?;
        for (number, program) in image.programs().iter().enumerate() {
            match image.lift(number, &guest.options()) {
                Ok(module) => modules.push((format!("{name}: {}", program.name), module)),
                Err(_) => refused += 1,
            }
        }
    }
    Ok((modules, refused))
}

/// The shaders of an archive of Maxwell's graphics stages.
///
/// # Errors
/// An archive that cannot be read, shaders that cannot be lifted.
pub fn maxwell_shaders(archive: &Path) -> Result<Vec<Named>, Error> {
    let shaders = graphics::read(archive)?;
    shaders.iter().map(|s| Ok((s.name.clone(), s.lift(0)?.module))).collect()
}

/// The shaders of a folder of DXIL containers, each in both binding models.
///
/// # Errors
/// Containers that cannot be read, shaders that cannot be lifted.
pub fn dxil(folder: &Path) -> Result<Vec<Named>, Error> {
    let mut modules = Vec::new();
    for vector in dxil_suite::format::read(folder)? {
        let image = xenoglot::dxil::Dxil.load(&vector.container)?;
        for entry in 0..image.programs().len() {
            for bindings in [BindingModel::Registers, BindingModel::root_signature(None)] {
                let options = LiftOptions::Dxil(dxil::Options { bindings, ..dxil::Options::default() });
                modules.push((format!("{}, {entry}", vector.name), image.lift(entry, &options)?));
            }
        }
    }
    Ok(modules)
}
