//! Folders of pictures for the textures of Nintendo DS scenes: PNGs by what a texture shows.

use crate::output;
use crate::picture::Picture;
use crate::source::name;
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use xenoglot_nds::raster::replace::{Answer, GuestTexture, Replacement, Replacements};

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

    fn answer(&self, texture: &GuestTexture, found: &mut Found) -> Result<Answer> {
        let file = format!("{}.png", texture.key);
        if let Some(folder) = &self.dump {
            let [width, height] = texture.key.size;
            let rgba = texture.rgba8().into_flattened();
            output::write(&folder.join(&file), &Picture { width, height, rgba, srgb: false }.png()?)?;
            found.written += 1;
        }
        let Some(path) = self.pictures.as_ref().map(|folder| folder.join(&file)) else {
            return Ok(Answer::None);
        };
        if !path.exists() {
            return Ok(Answer::None);
        }
        let context = || name(&path);
        let bytes = std::fs::read(&path).with_context(context)?;
        let Picture { width, height, rgba, .. } = Picture::from_png(&bytes).with_context(context)?;
        let (texels, _) = rgba.as_chunks();
        let picture = Replacement::from_rgba8([width, height], texels).with_context(context)?;
        found.read += 1;
        Ok(Answer::Picture(Arc::new(picture)))
    }
}

impl Replacements for Folders {
    fn replacement(&self, texture: &GuestTexture) -> Answer {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        match self.answer(texture, &mut found) {
            Ok(answer) => answer,
            Err(error) => {
                found.error.get_or_insert(error);
                Answer::None
            }
        }
    }
}
