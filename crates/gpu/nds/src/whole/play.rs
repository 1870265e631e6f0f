//! Scenes of whole pictures, played.

use super::{Region, Source, Whole, Write};
use crate::raster::{Options, Profile};
use crate::video::bus::Width;
use crate::video::{HEIGHT, LINES, Rasterizer, Video};
use thiserror::Error;

/// Why a scene could not be played.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PlayError {
    /// It names a memory image and none was given.
    #[error("the scene starts from memory image {0:?}, which is missing")]
    NoImage(String),
    /// The image is too short.
    #[error("memory image {name:?} has {length} bytes, and {needed} are asked for")]
    ImageLength {
        /// Its name.
        name: String,
        /// Its bytes.
        length: usize,
        /// Bytes that the scene needs.
        needed: u64,
    },
    /// The renderer failed.
    #[error("the 3D engines' picture: {0}")]
    Renderer(String),
}

/// A scene being played, frame by frame.
#[derive(Clone, Debug)]
pub struct Player<'a> {
    whole: &'a Whole,
    /// The graphics.
    pub video: Video,
    /// Writes that were made.
    written: usize,
    /// Frame whose lines are drawn; -1 is the vertical blank before the first.
    frame: i64,
}

impl<'a> Player<'a> {
    /// A scene about to start, with what draws as the scene's oracle does. `image` gives memory images by name.
    ///
    /// # Errors
    /// If an image is missing or too short.
    pub fn new<'i>(
        whole: &'a Whole,
        image: impl Fn(&str) -> Option<&'i [u8]>,
        threads: usize,
    ) -> Result<Player<'a>, PlayError> {
        let options = Options { rules: Profile::MelonDs.rules(), threads, ..Options::default() };
        Player::with(whole, image, Video::new(options))
    }

    /// The same with graphics of one's own, fresh after a reset.
    ///
    /// # Errors
    /// If an image is missing or too short.
    pub fn with<'i>(
        whole: &'a Whole,
        image: impl Fn(&str) -> Option<&'i [u8]>,
        mut video: Video,
    ) -> Result<Player<'a>, PlayError> {
        for piece in &whole.memory {
            let bytes = match &piece.source {
                Source::Bytes(bytes) => bytes,
                Source::Image { name, offset, length } => {
                    let bytes = image(name).ok_or_else(|| PlayError::NoImage(name.clone()))?;
                    let (from, to) = (*offset as usize, *offset as usize + *length as usize);
                    bytes.get(from..to).ok_or_else(|| PlayError::ImageLength {
                        name: name.clone(),
                        length: bytes.len(),
                        needed: to as u64,
                    })?
                }
            };
            match piece.region {
                Region::Palettes => video.write_palettes(piece.offset, bytes),
                Region::Oam => video.write_oam(piece.offset, bytes),
                Region::Bank(bank) => {
                    let to = piece.offset as usize + bytes.len();
                    if let Some(place) =
                        video.vram_mut().bank_mut(bank.into()).get_mut(piece.offset as usize..to)
                    {
                        place.copy_from_slice(bytes);
                    }
                }
            }
        }
        whole.start.iter().for_each(|write| make(&mut video, write));
        video.begin_at(HEIGHT as u32);
        Ok(Player { whole, video, written: 0, frame: -1 })
    }

    /// What is played.
    pub fn whole(&self) -> &'a Whole {
        self.whole
    }

    /// Plays the next frame; before the first, the vertical blank that comes first. Its number.
    ///
    /// # Errors
    /// If the renderer fails.
    pub fn frame<R: Rasterizer>(&mut self, rasterizer: &mut R) -> Result<u32, PlayError>
    where
        R::Error: std::fmt::Display,
    {
        if self.frame < 0 {
            for line in HEIGHT as u32..LINES {
                self.line(line, rasterizer)?;
            }
            self.frame = 0;
        }
        for line in 0..LINES {
            self.line(line, rasterizer)?;
        }
        let played = self.frame;
        self.frame += 1;
        Ok(played as u32)
    }

    fn line<R: Rasterizer>(&mut self, line: u32, rasterizer: &mut R) -> Result<(), PlayError>
    where
        R::Error: std::fmt::Display,
    {
        let shown = |stream: &&(u32, _)| i64::from(stream.0) == self.frame + 1;
        if line == HEIGHT as u32
            && let Some((_, words)) = self.whole.streams.iter().find(shown)
        {
            self.video.three_d_mut().feed(words);
        }
        self.video.start_line(rasterizer).map_err(|error| PlayError::Renderer(error.to_string()))?;
        if self.video.wants_display_pixels()
            && let Some((_, pixels)) = self.whole.display.iter().find(|d| i64::from(d.0) == self.frame)
        {
            let from = 256 * line as usize;
            self.video.deliver_display_pixels(pixels.get(from..from + 256).unwrap_or_default());
        }
        self.video.draw_line();
        while let Some(next) = self.whole.writes.get(self.written)
            && (i64::from(next.frame), u32::from(next.line)) <= (self.frame, line)
        {
            make(&mut self.video, &next.write);
            self.written += 1;
        }
        Ok(())
    }
}

/// Makes a write. Words for the geometry engine run at once: a scene's writes take no time.
fn make(video: &mut Video, write: &Write) {
    let Some(width) = Width::new(write.bytes) else { return };
    if video.write(write.address, write.value, width).is_err() {
        video.three_d_mut().run(u64::MAX);
        let _ = video.write(write.address, write.value, width);
    }
}
