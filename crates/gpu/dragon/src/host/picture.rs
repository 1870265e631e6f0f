//! Pictures, and what they are written as.

use std::io::{self, Write};

/// RGB pixels, 8 bits each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// Three bytes a pixel, row by row.
    pub rgb: Vec<u8>,
}

/// The peak signal-to-noise ratio of two pictures of one size in decibels; infinite for equal ones.
pub fn psnr(a: &Picture, b: &Picture) -> f64 {
    let squares = a.rgb.iter().zip(&b.rgb).map(|(&a, &b)| u64::from(a.abs_diff(b)).pow(2)).sum::<u64>();
    let mean = squares as f64 / a.rgb.len().max(1) as f64;
    10.0 * (255.0 * 255.0 / mean).log10()
}

/// Writes an animated PNG that repeats, or a plain one of a single picture, one picture at a time. All have one size.
pub struct Apng<W: Write> {
    writer: png::Writer<W>,
}

impl<W: Write> Apng<W> {
    /// Begins a file of `count` pictures of the size of `like`, each shown for some milliseconds.
    ///
    /// # Errors
    /// The writer's; a size or a count of 0.
    pub fn new(out: W, like: &Picture, count: u32, milliseconds: u16) -> io::Result<Apng<W>> {
        let mut encoder = png::Encoder::new(out, like.width, like.height);
        encoder.set_color(png::ColorType::Rgb);
        if count != 1 {
            encoder.set_animated(count, 0)?;
            encoder.set_frame_delay(milliseconds, 1000)?;
        }
        Ok(Apng { writer: encoder.write_header()? })
    }

    /// Adds the next picture.
    ///
    /// # Errors
    /// The writer's; a picture of another size, or one too many.
    pub fn push(&mut self, picture: &Picture) -> io::Result<()> {
        Ok(self.writer.write_image_data(&picture.rgb)?)
    }

    /// Ends the file.
    ///
    /// # Errors
    /// The writer's; fewer pictures than there were to be.
    pub fn finish(self) -> io::Result<()> {
        Ok(self.writer.finish()?)
    }
}
