//! The sampler: nearest or bilinear, repeating, out of memory in tiles of 8x8 texels.
//!
//! Nothing of the original's textures is known. Tiles lie row by row, texels in a tile too; texels of two bytes are
//! little-endian, and of two texels in a byte the first is in the low bits. Components are widened to eight bits by
//! repeating their upper bits. Bilinear weights have four bits: coordinates are cut to sixteenths of a texel.

use crate::number::{Lanes, Number};
use serde::{Deserialize, Serialize};

/// How texels are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum TexelFormat {
    /// As [`TileFormat::Rgb565`](crate::TileFormat::Rgb565).
    #[default]
    Rgb565,
    /// As [`TileFormat::Rgba5551`](crate::TileFormat::Rgba5551).
    Rgba5551,
    /// Four bits that choose one of 16 RGBA5551 colours of the palette.
    Palette4,
}

impl TexelFormat {
    /// The format with a number.
    pub fn from_bits(bits: u32) -> Option<TexelFormat> {
        [TexelFormat::Rgb565, TexelFormat::Rgba5551, TexelFormat::Palette4].get(bits as usize).copied()
    }

    /// Bits of a texel.
    pub fn bits(self) -> u32 {
        if self == TexelFormat::Palette4 { 4 } else { 16 }
    }

    /// A colour of eight-bit components, cut to the bits there are.
    pub fn pack(self, rgba: [u8; 4]) -> u16 {
        let component = |(&(shift, bits), v): (&(u32, u32), u8)| u16::from(v >> (8 - bits).min(7)) << shift;
        let parts = self.components();
        parts
            .iter()
            .zip(rgba)
            .filter(|((_, bits), _)| *bits > 0)
            .map(component)
            .fold(0, |word, part| word | part)
    }

    /// Lowest bit and number of bits of red, green, blue and alpha in a colour.
    pub(crate) fn components(self) -> [(u32, u32); 4] {
        match self {
            TexelFormat::Rgb565 => [(11, 5), (5, 6), (0, 5), (0, 0)],
            TexelFormat::Rgba5551 | TexelFormat::Palette4 => [(11, 5), (6, 5), (1, 5), (0, 1)],
        }
    }
}

/// A texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Texture {
    /// Address of the first texel; its low five bits do not count.
    pub address: u32,
    /// Address of the palette; its low five bits do not count.
    pub palette: u32,
    /// Binary logarithms of width and height, 3 to 10.
    pub log2_size: [u8; 2],
    /// Format.
    pub format: TexelFormat,
    /// Bilinear instead of nearest.
    pub bilinear: bool,
}

impl Default for Texture {
    fn default() -> Texture {
        Texture { address: 0, palette: 0, log2_size: [3, 3], format: TexelFormat::default(), bilinear: false }
    }
}

/// Bits of a texel's fraction in coordinates.
pub(crate) const SUBTEXEL: u32 = 4;

/// Where memory words come from: the word at a multiple of four, zero outside.
pub trait Words {
    /// The little-endian word at `address`, a multiple of four.
    fn word(&mut self, address: u32) -> u32;
}

impl<F: FnMut(u32) -> u32> Words for F {
    fn word(&mut self, address: u32) -> u32 {
        self(address)
    }
}

/// A coordinate in sixteenths of a texel, within the texture.
fn coordinate(number: Number, v: u32, log2: u8) -> u32 {
    let scale = u32::from(log2) + SUBTEXEL;
    let at = match number {
        Number::Fixed(f) => ((v & (f.one() as u32 - 1)) << scale) >> f.bits(),
        Number::Float => {
            let v = f32::from_bits(v);
            ((v - v.floor()) * (1u32 << scale) as f32) as u32
        }
    };
    at & ((1 << scale) - 1)
}

impl Texture {
    /// Its dimensions clamped to what there is.
    pub(crate) fn log2(&self) -> [u8; 2] {
        self.log2_size.map(|l| l.clamp(3, 10))
    }

    /// Bytes of its texels.
    pub fn size(&self) -> u32 {
        let [w, h] = self.log2();
        (self.format.bits() << (w + h)) / 8
    }

    /// The number of a texel in memory, of those inside.
    pub fn index(&self, x: u32, y: u32) -> u32 {
        let [w, _] = self.log2();
        let tile = ((y >> 3) << (w - 3)) + (x >> 3);
        tile << 6 | (y & 7) << 3 | (x & 7)
    }

    /// A texel as eight-bit components, red lowest.
    fn texel(&self, x: u32, y: u32, memory: &mut impl Words) -> u32 {
        let half = |base: u32, n: u32, memory: &mut dyn FnMut(u32) -> u32| {
            let at = (base & !31).wrapping_add(2 * n);
            memory(at & !3) >> (8 * (at & 2)) & 0xffff
        };
        let mut word = |at| memory.word(at);
        let index = self.index(x, y);
        let color = match self.format {
            TexelFormat::Palette4 => {
                let at = (self.address & !31).wrapping_add(index / 2);
                let chosen = word(at & !3) >> (4 * (index & 7)) & 15;
                half(self.palette, chosen, &mut word)
            }
            _ => half(self.address, index, &mut word),
        };
        self.format.components().iter().rev().fold(0, |all, &(shift, bits)| {
            let v = match bits {
                0 => 255,
                1 => 255 * (color >> shift & 1),
                _ => {
                    let v = color >> shift & ((1 << bits) - 1);
                    v << (8 - bits) | v >> (2 * bits - 8)
                }
            };
            all << 8 | v
        })
    }

    /// The texture at lanes x and y of `uv`.
    pub fn sample(&self, number: Number, uv: &Lanes, memory: &mut impl Words) -> Lanes {
        let [w, h] = self.log2();
        let (u, v) = (coordinate(number, uv[0], w), coordinate(number, uv[1], h));
        let texel = if self.bilinear {
            let half = |at: u32, log2: u8| at.wrapping_sub(8) & ((1 << (u32::from(log2) + SUBTEXEL)) - 1);
            let (u, v) = (half(u, w), half(v, h));
            let (x0, y0) = (u >> SUBTEXEL, v >> SUBTEXEL);
            let (x1, y1) = ((x0 + 1) & ((1 << w) - 1), (y0 + 1) & ((1 << h) - 1));
            let texels = [(x0, y0), (x1, y0), (x0, y1), (x1, y1)].map(|(x, y)| self.texel(x, y, memory));
            let weights = weights(u & 15, v & 15);
            (0..4).rev().fold(0, |all, lane| {
                let sum: u32 = texels.iter().zip(weights).map(|(t, w)| (t >> (8 * lane) & 0xff) * w).sum();
                all << 8 | (sum + 128) >> 8
            })
        } else {
            self.texel(u >> SUBTEXEL, v >> SUBTEXEL, memory)
        };
        std::array::from_fn(|lane| number.unorm(texel >> (8 * lane) & 0xff, 255))
    }
}

/// Weights in 256ths of the four texels around.
fn weights(fu: u32, fv: u32) -> [u32; 4] {
    [(16 - fu) * (16 - fv), fu * (16 - fv), (16 - fu) * fv, fu * fv]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texels_lie_in_tiles() {
        let texture = Texture { log2_size: [4, 4], ..Texture::default() };
        assert_eq!(texture.index(7, 0), 7);
        assert_eq!(texture.index(8, 0), 64);
        assert_eq!(texture.index(0, 1), 8);
        assert_eq!(texture.index(0, 8), 128);
    }

    #[test]
    fn coordinates_repeat_whatever_they_are() {
        for (number, values) in [
            (Number::default(), [0, 1 << 16, u32::MAX, 1 << 31]),
            (Number::Float, [f32::NAN, f32::INFINITY, -1e-30, 1e30].map(f32::to_bits)),
        ] {
            for v in values {
                assert!(coordinate(number, v, 10) < 1 << 14);
            }
        }
    }

    #[test]
    fn a_texel_in_the_middle_is_itself_bilinear_too() {
        let mut memory = |at: u32| at.wrapping_mul(0x9e37_79b9);
        let nearest = Texture { format: TexelFormat::Rgba5551, ..Texture::default() };
        let bilinear = Texture { bilinear: true, ..nearest };
        for x in 0..8 {
            let uv = [(2 * x + 1) << 12, 5 << 12, 0, 0];
            let number = Number::default();
            assert_eq!(nearest.sample(number, &uv, &mut memory), bilinear.sample(number, &uv, &mut memory));
        }
    }
}
