//! Pictures of pixels in files.

use anyhow::{Context, Result, bail};
use exr::prelude::*;
use std::io::Cursor;
use xenoglot_texture::Texel;

/// A picture of RGBA8.
pub struct Picture {
    /// Pixels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Four bytes a pixel.
    pub rgba: Vec<u8>,
    /// Whether colours are known to be sRGB; the file then says so.
    pub srgb: bool,
}

/// Most pixels of a PNG that is read.
const MAX_PIXELS: u64 = 1 << 28;

impl Picture {
    /// As a PNG.
    pub fn png(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width, self.height);
        encoder.set_color(png::ColorType::Rgba);
        if self.srgb {
            encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        }
        encoder.write_header()?.write_image_data(&self.rgba)?;
        Ok(bytes)
    }

    /// That of a PNG.
    pub fn from_png(bytes: &[u8]) -> Result<Picture> {
        let mut decoder = png::Decoder::new(Cursor::new(bytes));
        decoder
            .set_transformations(png::Transformations::ALPHA | png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info()?;
        let (width, height) = reader.info().size();
        let size = reader.output_buffer_size();
        let size = size.filter(|_| u64::from(width) * u64::from(height) <= MAX_PIXELS);
        let mut pixels = vec![0; size.context("the picture is too large")?];
        let info = reader.next_frame(&mut pixels)?;
        pixels.truncate(info.buffer_size());
        let rgba = match info.color_type {
            png::ColorType::Rgba => pixels,
            png::ColorType::GrayscaleAlpha => {
                pixels.chunks_exact(2).flat_map(|p| [p[0], p[0], p[0], p[1]]).collect()
            }
            other => bail!("{other:?} is not supported"),
        };
        Ok(Picture { width, height, rgba, srgb: false })
    }
}

/// Colours as OpenEXR, of halves or singles. `color` gives the colour at x and y.
pub fn open_exr(
    halves: bool,
    [width, height]: [usize; 2],
    color: impl Fn(usize, usize) -> [f32; 4] + Sync,
) -> Result<Vec<u8>> {
    let mut file = Cursor::new(Vec::new());
    let written = if halves {
        let halves = SpecificChannels::rgba(|place: Vec2<usize>| {
            let [r, g, b, a] = color(place.0, place.1).map(f16::from_f32);
            (r, g, b, a)
        });
        Image::from_channels((width, height), halves).write().to_buffered(&mut file)
    } else {
        let singles = SpecificChannels::rgba(|place: Vec2<usize>| {
            let [r, g, b, a] = color(place.0, place.1);
            (r, g, b, a)
        });
        Image::from_channels((width, height), singles).write().to_buffered(&mut file)
    };
    written.context("OpenEXR")?;
    Ok(file.into_inner())
}

/// A texel as numbers; components that it has not are 0, alpha is 1.
pub fn values(texel: Texel, bytes: &[u8]) -> [f32; 4] {
    let byte = |i: usize| f32::from(bytes[i]) / 255.0;
    let unorm = |i: usize| f32::from(word(bytes, i)) / 65535.0;
    let snorm = |i: usize| f32::from(word(bytes, i) as i16) / 32767.0;
    let half = |i: usize| f16::from_bits(word(bytes, i)).to_f32();
    let single =
        |i: usize| f32::from_le_bytes([bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]]);
    match texel {
        Texel::R8Unorm => [byte(0), 0.0, 0.0, 1.0],
        Texel::Rg8Unorm => [byte(0), byte(1), 0.0, 1.0],
        Texel::Rgba8 => std::array::from_fn(byte),
        Texel::R16Unorm => [unorm(0), 0.0, 0.0, 1.0],
        Texel::Rg16Unorm => [unorm(0), unorm(1), 0.0, 1.0],
        Texel::R16Snorm => [snorm(0), 0.0, 0.0, 1.0],
        Texel::Rg16Snorm => [snorm(0), snorm(1), 0.0, 1.0],
        Texel::Rgba16Float => std::array::from_fn(half),
        Texel::Rgba32Float => std::array::from_fn(single),
        Texel::Rgba32Uint => std::array::from_fn(|i| integer(bytes, i) as f32),
        Texel::Rgba32Sint => std::array::from_fn(|i| integer(bytes, i) as i32 as f32),
    }
}

/// The `i`th word of four bytes.
fn integer(bytes: &[u8], i: usize) -> u32 {
    u32::from(word(bytes, 2 * i)) | u32::from(word(bytes, 2 * i + 1)) << 16
}

/// The `i`th word of two bytes.
fn word(bytes: &[u8], i: usize) -> u16 {
    u16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]])
}
