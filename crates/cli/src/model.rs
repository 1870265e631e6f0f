//! Models in files.

use crate::print;
use crate::source::name;
use anyhow::{Context, Result};
use std::path::{Component, Path, PathBuf};
use xenoglot_dragon::host::{Files, Mesh, MeshError, MeshLimits};

/// A loader of a format.
pub type Load = fn(&[u8], Files<'_>, &MeshLimits) -> Result<Mesh, MeshError>;

/// The model of a file's bytes, and of files that it names, which lie beside it or below. What of it is left out is told.
pub fn load(path: &Path, bytes: &[u8], load: Load) -> Result<Mesh> {
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    let files = |file: &str| {
        let file = PathBuf::from(file);
        let near = path.as_os_str() != "-" && file.components().all(|c| matches!(c, Component::Normal(_)));
        near.then(|| std::fs::read(folder.join(file)).ok()).flatten()
    };
    let mesh = load(bytes, &files, &MeshLimits::default()).with_context(|| name(path))?;
    mesh.notes.iter().for_each(|note| print::note(format!("{}: {note}", name(path))));
    Ok(mesh)
}
