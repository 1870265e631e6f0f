//! Versions of what code depends on besides a module, a host and options: for the keys of caches.

use xenoglot_opt::PASSES;

/// The name and version of this crate, and of each pass, writer and front end, in a fixed order.
///
/// Code that was made under the same versions is what would be made now. The test `versions` fails where sources changed
/// and a version did not.
///
/// ```
/// let all: Vec<(&str, u16)> = xenoglot::versions().collect();
/// assert!(all.iter().any(|(name, _)| *name == "opt/promote"));
/// ```
pub fn versions() -> impl Iterator<Item = (&'static str, u16)> {
    let crates = [
        ("translate", crate::VERSION),
        ("ir", xenoglot_ir::VERSION),
        ("opt", xenoglot_opt::VERSION),
        ("structure", xenoglot_structure::VERSION),
        ("spirv", xenoglot_spirv::VERSION),
        ("glsl", xenoglot_glsl::VERSION),
        #[cfg(feature = "naga")]
        ("naga", xenoglot_naga::VERSION),
        #[cfg(feature = "pica")]
        ("pica", xenoglot_pica_shader::VERSION),
        #[cfg(feature = "maxwell")]
        ("maxwell", xenoglot_maxwell::VERSION),
        #[cfg(feature = "dxil")]
        ("dxil", xenoglot_dxil::VERSION),
        #[cfg(feature = "mips")]
        ("mips", xenoglot_mips::VERSION),
        #[cfg(feature = "vpu")]
        ("vpu", xenoglot_vpu::VERSION),
    ];
    crates.into_iter().chain(PASSES.iter().map(|pass| (pass.path, pass.version)))
}
