//! Custom textures: dumps and replacements.
//!
//! A texture is identified by a hash of its bytes in guest memory. The embedder's function gets each decoded texture once (a
//! dump), and may return a replacement with more texels of the same shape; smaller levels of it are means. Textures that were drawn on the device, cubes and
//! shadow maps are not replaced.

use crate::fragment::layout;
use crate::raster::filter::Level;
use crate::texture::Format;

/// A texture of the guest.
#[derive(Clone, Copy, Debug)]
pub struct GuestTexture<'a> {
    /// The first 16 bytes of BLAKE3 of its bytes in guest memory.
    pub hash: [u8; 16],
    /// Width in texels.
    pub width: u32,
    /// Height in texels.
    pub height: u32,
    /// Its format.
    pub format: Format,
    /// Texels, r in the lowest byte; rows from the top of the image down.
    pub texels: &'a [u32],
}

impl GuestTexture<'_> {
    /// A name for a file: `64x32-rgba4-` and the hash.
    pub fn name(&self) -> String {
        let format = self.format.to_string().to_lowercase();
        let hash: String = self.hash.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{}x{}-{format}-{hash}", self.width, self.height)
    }
}

/// Texels in place of a texture's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// Texels along each axis for one of the guest's: 1, 2, 4 or 8.
    pub scale: u32,
    /// In the order of [`GuestTexture::texels`].
    pub texels: Vec<u32>,
}

/// Takes each texture when it is decoded, and replaces some.
pub type CustomTextures = dyn FnMut(&GuestTexture<'_>) -> Option<Replacement> + Send;

impl Replacement {
    /// Whether the scale is one that is taken, and the texels are as many as it asks for.
    pub(super) fn fits(&self, texture: &GuestTexture<'_>) -> bool {
        matches!(self.scale, 1 | 2 | 4 | 8)
            && self.texels.len() == texture.texels.len() * (self.scale * self.scale) as usize
    }

    /// The same for a texture with levels: smaller ones are means of this one, behind the words that say where they begin.
    pub(super) fn with_levels(self, levels: &[Level]) -> Replacement {
        let scale = self.scale;
        let size = |level: &Level| [level.width * scale, level.height * scale];
        let mut images = vec![self.texels];
        for pair in levels.windows(2) {
            let [from, to] = [size(&pair[0]), size(&pair[1])];
            let smaller = images.last().map(|texels| shrunk(texels, from, to)).unwrap_or_default();
            images.push(smaller);
        }
        Replacement { scale, texels: layout::with_levels(images.into_iter()) }
    }
}

/// An image with as many texels along each axis, or half as many: means of one, two or four.
fn shrunk(texels: &[u32], from: [u32; 2], to: [u32; 2]) -> Vec<u32> {
    let [across, down] = [0, 1].map(|axis: usize| (from[axis] / to[axis].max(1)).max(1));
    let count = across * down;
    let places = (0..to[1]).flat_map(|y| (0..to[0]).map(move |x| (x * across, y * down)));
    let mean = |(x, y): (u32, u32)| {
        let mut sum = [0; 4];
        for n in 0..count {
            let place = (y + n / across) * from[0] + x + n % across;
            let texel = texels.get(place as usize).copied().unwrap_or_default();
            sum.iter_mut().zip(texel.to_le_bytes()).for_each(|(sum, channel)| *sum += u32::from(channel));
        }
        u32::from_le_bytes(sum.map(|sum| ((sum + count / 2) / count) as u8))
    };
    places.map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smaller_levels_of_a_replacement_are_means() {
        let level = |width, height| Level { offset: 0, width, height };
        // One texel of the guest's is two along each axis.
        let texels = [0, 2, 4, 6, 10, 12, 14, 16].map(|red| 0xff00_0000 | red);
        let replacement = Replacement { scale: 2, texels: texels.to_vec() };
        let with_levels = replacement.with_levels(&[level(2, 1), level(1, 1)]).texels;
        let (header, rest) = with_levels.split_at(layout::LEVEL_HEADER as usize);
        assert_eq!(header[..3], [16, 24, 0]);
        assert_eq!(rest[..8], texels);
        // Rows are no fewer than before.
        assert_eq!(rest[8..], [1, 5, 11, 15].map(|red| 0xff00_0000 | red));
    }
}
