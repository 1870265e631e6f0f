//! Pictures, and what they are written as.

use std::io;

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

/// An animated PNG that repeats, or a plain one of a single picture. All have the size of the first.
///
/// # Errors
/// No pictures, or pictures of different sizes.
pub fn apng(pictures: &[Picture], milliseconds: u16) -> io::Result<Vec<u8>> {
    let invalid = |e: png::EncodingError| io::Error::new(io::ErrorKind::InvalidInput, e);
    let first = pictures.first().ok_or_else(|| io::Error::other("no pictures"))?;
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, first.width, first.height);
    encoder.set_color(png::ColorType::Rgb);
    if pictures.len() > 1 {
        encoder.set_animated(pictures.len() as u32, 0).map_err(invalid)?;
        encoder.set_frame_delay(milliseconds, 1000).map_err(invalid)?;
    }
    let mut writer = encoder.write_header().map_err(invalid)?;
    for picture in pictures {
        writer.write_image_data(&picture.rgb).map_err(invalid)?;
    }
    writer.finish().map_err(invalid)?;
    Ok(out)
}
