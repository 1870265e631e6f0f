//! Suites of the Nintendo DS's graphics.

#[cfg(feature = "host")]
pub mod compute;
pub mod console;
mod screenshot;
pub mod slopes;
pub mod whole;

use crate::limit::{Item, Work};
use crate::report::{Case, Observer, Summary, Verdict};
use crate::{Error, Request, input};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use xenoglot_nds::container::{FIRST, Limits, Scene};
use xenoglot_nds::gpu::Gpu;
use xenoglot_nds::play::play;
use xenoglot_nds::raster::Options;

/// A scene and the memory image it starts from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Its name.
    pub name: String,
    /// The scene.
    pub scene: Scene,
    /// Unpacked memory image, by the scene's place among its like.
    image: Option<std::sync::Arc<Vec<u8>>>,
}

impl Loaded {
    /// The memory image.
    pub fn image(&self) -> Option<&[u8]> {
        self.image.as_ref().map(|i| i.as_slice())
    }
}

/// The scenes at a path, with the images of `vram` beside them.
///
/// # Errors
/// When a file cannot be read or is damaged.
pub fn load(path: &Path) -> Result<Vec<Loaded>, Error> {
    let mut images = BTreeMap::new();
    let mut out = Vec::new();
    for (file, bytes) in input::with_magic(path, &FIRST)? {
        let scene = Scene::from_bytes(&bytes, &Limits::default())
            .map_err(|source| Error::Scene { path: file.clone(), source })?;
        let image = match &scene.memory {
            None => None,
            Some(name) => {
                let place = image_path(&file, name);
                let image = match images.get(&place) {
                    Some(image) => std::sync::Arc::clone(image),
                    None => std::sync::Arc::new(input::read(&place)?),
                };
                images.insert(place, std::sync::Arc::clone(&image));
                Some(image)
            }
        };
        let stem = || file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = scene.meta("name").map_or_else(stem, str::to_owned);
        out.push(Loaded { name, scene, image });
    }
    Ok(out)
}

/// Where a scene's image lies.
fn image_path(scene: &Path, name: &str) -> PathBuf {
    scene.parent().unwrap_or(Path::new(".")).join("vram").join(format!("{name}.bin.zst"))
}

/// Plays a scene as its oracle did, a console or melonDS, and compares all it expects.
pub fn judge(loaded: &Loaded, threads: usize) -> Verdict {
    let options = Options { rules: loaded.scene.profile().rules(), threads, ..Options::default() };
    match play(&loaded.scene, loaded.image(), Gpu::new(options)) {
        Ok(played) => Verdict::of_differences(&played.differences(&loaded.scene)),
        Err(error) => Verdict::Failed(error.to_string()),
    }
}

/// Engines of suite `nds`.
pub(crate) const ENGINES: &[&str] = &[
    "cpu",
    #[cfg(feature = "host")]
    "compute",
];

/// Suite `nds`.
pub(crate) fn scenes(request: &Request, observer: &dyn Observer) -> Result<Summary, Error> {
    #[cfg(feature = "host")]
    if request.engine == "compute" {
        return compute::suite(request, observer);
    }
    let work = Work::plain(items(request)?, |item: &Item<Loaded>, emit| {
        emit(Case { name: item.data.name.clone(), verdict: judge(&item.data, 1) });
    });
    work.run(observer)
}

/// The scenes of a request.
fn items(request: &Request) -> Result<Vec<Item<Loaded>>, Error> {
    Ok(load(&request.path)?.into_iter().map(|scene| Item::single(scene.name.clone(), scene)).collect())
}
