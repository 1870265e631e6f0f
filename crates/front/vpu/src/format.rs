//! Pixels of tile buffers.

use crate::number::{Lanes, Number};
use serde::{Deserialize, Serialize};

/// How a tile buffer's words hold four lanes. Components are fractions of the greatest value, rounded to nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum TileFormat {
    /// Red in bits 15–11, green 10–5, blue 4–0; alpha reads as 1.
    #[default]
    Rgb565,
    /// Red in bits 15–11, green 10–6, blue 5–1, alpha 0.
    Rgba5551,
    /// Red in bits 7–0, green 15–8, blue 23–16, alpha 31–24.
    Rgba8888,
    /// Lane x in bits 15–0; reads in every lane.
    Z16,
}

/// A component: lane, lowest bit, number of bits.
pub(crate) type Component = (u8, u32, u32);

impl TileFormat {
    /// All formats, by number.
    pub const ALL: [TileFormat; 4] =
        [TileFormat::Rgb565, TileFormat::Rgba5551, TileFormat::Rgba8888, TileFormat::Z16];

    /// The format with a number.
    pub fn from_bits(bits: u32) -> Option<TileFormat> {
        TileFormat::ALL.get(bits as usize).copied()
    }

    /// Bytes of a pixel in memory: 2 or 4.
    pub fn bytes(self) -> u32 {
        if self == TileFormat::Rgba8888 { 4 } else { 2 }
    }

    pub(crate) fn components(self) -> &'static [Component] {
        match self {
            TileFormat::Rgb565 => &[(0, 11, 5), (1, 5, 6), (2, 0, 5)],
            TileFormat::Rgba5551 => &[(0, 11, 5), (1, 6, 5), (2, 1, 5), (3, 0, 1)],
            TileFormat::Rgba8888 => &[(0, 0, 8), (1, 8, 8), (2, 16, 8), (3, 24, 8)],
            TileFormat::Z16 => &[(0, 0, 16)],
        }
    }

    /// The word of a pixel.
    #[inline]
    pub fn pack(self, number: Number, v: &Lanes) -> u32 {
        self.components().iter().fold(0, |word, &(lane, shift, bits)| {
            word | number.quantize(v[usize::from(lane) & 3], (1 << bits) - 1) << shift
        })
    }

    /// The lanes of a pixel.
    #[inline]
    pub fn unpack(self, number: Number, word: u32) -> Lanes {
        let component = |&(_, shift, bits): &Component| {
            let max = (1 << bits) - 1;
            number.unorm(word >> shift & max, max)
        };
        match self.components() {
            [depth] => [component(depth); 4],
            all => std::array::from_fn(|lane| all.get(lane).map_or_else(|| number.unorm(1, 1), component)),
        }
    }
}
