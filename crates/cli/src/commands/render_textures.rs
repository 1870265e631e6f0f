//! Folders of pictures for textures: PNGs by what a texture shows.

use crate::output;
use crate::picture::Picture;
use crate::source::name;
#[cfg(feature = "gpu")]
use anyhow::bail;
use anyhow::{Context, Result};
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use xenoglot_nds::raster::replace::{Answer, GuestTexture, Replacement, Replacements};
#[cfg(feature = "gpu")]
use xenoglot_pica::host as pica;

/// Writes textures to one folder, and reads pictures in place of them from another.
pub struct Folders {
    dump: Option<PathBuf>,
    pictures: Option<PathBuf>,
    found: Mutex<Found>,
}

/// What came of it.
#[derive(Default)]
pub struct Found {
    /// Textures that were written.
    pub written: usize,
    /// Pictures that were read.
    pub read: usize,
    error: Option<anyhow::Error>,
}

impl Folders {
    /// Where textures are written to, and where pictures are read from.
    pub fn new(dump: Option<PathBuf>, pictures: Option<PathBuf>) -> Folders {
        Folders { dump, pictures, found: Mutex::default() }
    }

    /// Whether there is anything to do.
    pub fn are_asked_for(&self) -> bool {
        self.dump.is_some() || self.pictures.is_some()
    }

    /// What came of it so far, and nothing from here on.
    ///
    /// # Errors
    /// The first file that could not be read or written.
    pub fn finish(&self) -> Result<Found> {
        let mut found = std::mem::take(&mut *self.found.lock().unwrap_or_else(PoisonError::into_inner));
        match found.error.take() {
            Some(error) => Err(error),
            None => Ok(found),
        }
    }

    /// Writes a texture if that is asked for, and makes something of the picture in its place, if there is one. Errors are
    /// kept for [`Folders::finish`].
    fn answer<T>(
        &self,
        texture: impl Display,
        [width, height]: [u32; 2],
        rgba: impl FnOnce() -> Vec<u8>,
        replace: impl FnOnce(Picture) -> Result<T>,
    ) -> Option<T> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let file = format!("{texture}.png");
        let answer = (|| -> Result<Option<T>> {
            if let Some(folder) = &self.dump {
                let picture = Picture { width, height, rgba: rgba(), srgb: false };
                output::write(&folder.join(&file), &picture.png()?)?;
                found.written += 1;
            }
            let path = self.pictures.as_ref().map(|folder| folder.join(&file)).filter(|path| path.exists());
            let Some(path) = path else { return Ok(None) };
            let read = || replace(Picture::from_png(&std::fs::read(&path)?)?);
            let replacement = read().with_context(|| name(&path))?;
            found.read += 1;
            Ok(Some(replacement))
        })();
        answer.unwrap_or_else(|error| {
            found.error.get_or_insert(error);
            None
        })
    }

    /// The picture in place of a texture of the PICA200: 1, 2, 4 or 8 times as many texels along each axis.
    #[cfg(feature = "gpu")]
    pub fn replace_pica(&self, texture: &pica::GuestTexture<'_>) -> Option<pica::Replacement> {
        let size = [texture.width, texture.height];
        let rgba = || texture.texels.iter().flat_map(|texel| texel.to_le_bytes()).collect();
        self.answer(texture.name(), size, rgba, |picture| {
            let scale = picture.width / texture.width.max(1);
            if !matches!(scale, 1 | 2 | 4 | 8)
                || [picture.width, picture.height] != size.map(|side| side * scale)
            {
                bail!("it has to be 1, 2, 4 or 8 times as large as the texture of {}x{}", size[0], size[1]);
            }
            let texels = picture.rgba.as_chunks().0.iter().map(|&texel| u32::from_le_bytes(texel)).collect();
            Ok(pica::Replacement { scale, texels })
        })
    }
}

impl Replacements for Folders {
    fn replacement(&self, texture: &GuestTexture) -> Answer {
        let rgba = || texture.rgba8().into_flattened();
        let picture = self.answer(texture.key, texture.key.size, rgba, |picture| {
            let texels = picture.rgba.as_chunks().0;
            Ok(Arc::new(Replacement::from_rgba8([picture.width, picture.height], texels)?))
        });
        picture.map_or(Answer::None, Answer::Picture)
    }
}
