//! The scenes that are measured: those that the program has in it, or those of folders.

use crate::bench::unpacked;
use crate::commands::render_nds::load;
use anyhow::{Context, Result};
use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use xenoglot_nds::container::{self, Scene};
use xenoglot_nds::whole::{self, Whole};

/// Scenes of `vectors/nds` and `vectors/nds-2d` without the results that they expect, and the memory images that they name.
const SHIPPED: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/bench/nds.tar.zst"));

/// Scenes, and the memory images that they start from.
#[derive(Default)]
pub struct Scenes {
    /// Frames of the 3D engines.
    pub three_d: Vec<(Scene, Option<Vec<u8>>)>,
    /// Frames of both screens.
    pub whole: Vec<Whole>,
    /// Memory images of the latter, by name.
    pub images: HashMap<String, Vec<u8>>,
}

impl Scenes {
    /// Those that the program has in it.
    pub fn shipped() -> Result<Scenes> {
        let mut scenes = Scenes::default();
        let mut images = HashMap::new();
        let mut archive = tar::Archive::new(ruzstd::decoding::StreamingDecoder::new(SHIPPED)?);
        for entry in archive.entries()? {
            let mut entry = entry?;
            let path = entry.path()?.into_owned();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes)?;
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("ndsf") => {
                    scenes.three_d.push((Scene::from_bytes(&bytes, &container::Limits::default())?, None));
                }
                Some("n2d") => scenes.whole.push(Whole::from_bytes(&bytes, &whole::Limits::default())?),
                _ => drop(images.insert(stem(&path), bytes)),
            }
        }
        for (scene, image) in &mut scenes.three_d {
            *image = scene.memory.as_ref().and_then(|name| images.get(name)).cloned();
        }
        scenes.images = images;
        Ok(scenes)
    }

    /// Those of folders: `.ndsf` and `.n2d`, also packed by Zstandard, with images in their folders `vram` and `mem`.
    pub fn of(folders: &[PathBuf]) -> Result<Scenes> {
        let mut scenes = Scenes::default();
        for source in crate::source::sources(folders)? {
            let Some(path) = source.path() else { continue };
            if path.to_string_lossy().contains(".n2d") {
                let whole = Whole::from_bytes(&unpacked(path)?, &whole::Limits::default());
                let whole = whole.with_context(|| path.display().to_string())?;
                for name in whole.images() {
                    if !scenes.images.contains_key(name) {
                        let folder = path.parent().unwrap_or(Path::new(".")).join("mem");
                        let image = unpacked(&folder.join(format!("{name}.bin.zst")))?;
                        scenes.images.insert(name.into(), image);
                    }
                }
                scenes.whole.push(whole);
            } else {
                scenes.three_d.extend(load(path)?);
            }
        }
        Ok(scenes)
    }
}

/// A file's name up to its first dot.
fn stem(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.split('.').next().unwrap_or_default().into()
}
