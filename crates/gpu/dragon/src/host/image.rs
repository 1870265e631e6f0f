//! Pictures on models.

use super::mesh::MeshError;
use std::io::Cursor;
use std::sync::Arc;
use xenoglot_vpu::Texture;
use xenoglot_vpu::texture::TexelFormat;

/// A picture to put on a model, with sides that textures can have. Copies share it.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    log2_size: [u8; 2],
    /// Red, green, blue and alpha, row by row.
    texels: Arc<[[u8; 4]]>,
}

/// Longest side, as its binary logarithm.
const MAX_LOG2: u32 = 8;
/// Most pixels of a file.
const MAX_PIXELS: u64 = 1 << 24;

impl Image {
    /// A picture of `width` by `height` pixels, sampled at powers of two from 8 to 256 that are not greater if that is
    /// possible. `pixel` gives red, green, blue and alpha.
    pub fn new(width: u32, height: u32, pixel: impl Fn(u32, u32) -> [u8; 4]) -> Image {
        let log2_size = [width, height].map(|n| n.max(1).ilog2().clamp(3, MAX_LOG2) as u8);
        let [w, h] = log2_size.map(|l| 1u32 << l);
        let at = |n: u32, texels: u32, pixels: u32| {
            let middle = u64::from(2 * n + 1) * u64::from(pixels) / u64::from(2 * texels);
            middle as u32
        };
        let row = |y: u32| (0..w).map(move |x| (at(x, w, width), at(y, h, height)));
        Image { log2_size, texels: (0..h).flat_map(row).map(|(x, y)| pixel(x, y)).collect() }
    }

    /// Reads a PNG.
    ///
    /// # Errors
    /// No PNG, or one of more than 16 million pixels.
    pub fn from_png(bytes: &[u8]) -> Result<Image, MeshError> {
        let format = |e: png::DecodingError| MeshError::Format(e.to_string());
        let limits = png::Limits { bytes: 4 * MAX_PIXELS as usize };
        let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
        decoder
            .set_transformations(png::Transformations::normalize_to_color8() | png::Transformations::ALPHA);
        let mut reader = decoder.read_info().map_err(format)?;
        let too_large = MeshError::Limit { what: "pixels", limit: MAX_PIXELS as usize };
        let (width, height) = reader.info().size();
        let size = reader.output_buffer_size().filter(|_| u64::from(width) * u64::from(height) <= MAX_PIXELS);
        let mut data = vec![0; size.ok_or(too_large)?];
        let frame = reader.next_frame(&mut data).map_err(format)?;
        let channels = frame.color_type.samples();
        let pixel = |x: u32, y: u32| {
            let at = (y as usize * width as usize + x as usize) * channels;
            match data.get(at..at + channels) {
                Some(&[grey, alpha]) => [grey, grey, grey, alpha],
                Some(&[r, g, b, a]) => [r, g, b, a],
                _ => [0; 4],
            }
        };
        Ok(Image::new(width, height, pixel))
    }

    /// Texels of a row, and rows: powers of two from 8 to 256.
    pub fn size(&self) -> [u32; 2] {
        self.log2_size.map(|log2| 1 << log2)
    }

    /// Red, green, blue and alpha, row by row.
    pub fn texels(&self) -> &[[u8; 4]] {
        &self.texels
    }

    /// How it lies in memory, without an address.
    pub(crate) fn texture(&self) -> Texture {
        let format = TexelFormat::Rgba5551;
        Texture { log2_size: self.log2_size, format, bilinear: true, ..Texture::default() }
    }

    /// Its bytes in memory.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let texture = self.texture();
        let mut bytes = vec![0; texture.size() as usize];
        let width = 1 << self.log2_size[0];
        for (n, texel) in (0u32..).zip(self.texels.iter()) {
            let at = 2 * texture.index(n % width, n / width) as usize;
            if let Some(place) = bytes.get_mut(at..at + 2) {
                place.copy_from_slice(&texture.format.pack(*texel).to_le_bytes());
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pngs_become_textures_of_powers_of_two() {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, 20, 9);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header().unwrap();
        let pixels: Vec<u8> = (0..20 * 9u8).flat_map(|n| [n, 255 - n, 128]).collect();
        writer.write_image_data(&pixels).unwrap();
        writer.finish().unwrap();
        let image = Image::from_png(&file).unwrap();
        assert_eq!(image.log2_size, [4, 3]);
        assert_eq!(image.texels[16 + 1], [20 + 1, 255 - 21, 128, 255]);
        let bytes = image.encode();
        // Tiles of 8 by 8: the ninth texel of a row is the 64th in memory.
        let word = |n: usize| u16::from_le_bytes([bytes[2 * n], bytes[2 * n + 1]]);
        assert_eq!(word(64), image.texture().format.pack(image.texels[8]));
        assert!(Image::from_png(&file[..40]).is_err());
    }
}
