//! Suite `nds-2d`: whole pictures of both screens, with capture; layout in `vectors/nds-2d/FORMAT.md`.

use crate::limit::{Item, Work};
use crate::report::{Case, Observer, Summary, Verdict};
use crate::{Error, Request, input};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use xenoglot_nds::raster::{Options, Profile, Renderer};
use xenoglot_nds::whole::{FIRST, Limits, Player, Whole};

/// A scene and the memory images it starts from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Its name.
    pub name: String,
    /// The scene.
    pub whole: Whole,
    /// Unpacked memory images by name.
    images: BTreeMap<String, Arc<Vec<u8>>>,
}

impl Loaded {
    /// A memory image.
    pub fn image(&self, name: &str) -> Option<&[u8]> {
        self.images.get(name).map(|image| image.as_slice())
    }
}

/// The scenes at a path, with the images of `mem` beside them.
///
/// # Errors
/// When a file cannot be read or is damaged.
pub fn load(path: &Path) -> Result<Vec<Loaded>, Error> {
    let mut known: BTreeMap<std::path::PathBuf, Arc<Vec<u8>>> = BTreeMap::new();
    let mut out = Vec::new();
    for (file, bytes) in input::with_magic(path, &FIRST)? {
        let whole = Whole::from_bytes(&bytes, &Limits::default())
            .map_err(|source| Error::Whole { path: file.clone(), source })?;
        let mut images = BTreeMap::new();
        for name in whole.images() {
            let place = file.parent().unwrap_or(Path::new(".")).join("mem").join(format!("{name}.bin.zst"));
            let image = match known.get(&place) {
                Some(image) => Arc::clone(image),
                None => Arc::new(input::read(&place)?),
            };
            known.insert(place, Arc::clone(&image));
            images.insert(name.to_owned(), image);
        }
        let stem = || file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = whole.meta("name").map_or_else(stem, str::to_owned);
        out.push(Loaded { name, whole, images });
    }
    Ok(out)
}

/// Plays a scene and compares all it expects.
pub fn judge(loaded: &Loaded) -> Verdict {
    let options = Options { rules: Profile::MelonDs.rules(), threads: 1, ..Options::default() };
    let played = Player::new(&loaded.whole, |name| loaded.image(name), 1)
        .and_then(|mut player| player.differences(&mut Renderer::new(options)));
    match played {
        Ok(differences) => Verdict::of_differences(&differences),
        Err(error) => Verdict::Failed(error.to_string()),
    }
}

/// Suite `nds-2d`.
pub(crate) fn suite(request: &Request, observer: &dyn Observer) -> Result<Summary, Error> {
    let scenes = load(&request.path)?;
    let items = scenes.into_iter().map(|scene| Item::single(scene.name.clone(), scene)).collect();
    let work = Work::plain(items, |item: &Item<Loaded>, emit| {
        emit(Case { name: item.data.name.clone(), verdict: judge(&item.data) });
    });
    work.run(observer)
}
