//! Textures: addresses, wrapping and the seven formats.

use crate::memory::TextureMemory;

/// A texel: colour RGB555 and alpha of 5 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Texel {
    /// RGB555; bit 15 may be anything.
    pub color: u16,
    /// 0 to 31.
    pub alpha: u8,
}

const OPAQUE: u8 = 31;

/// What a coordinate outside of the texture means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Wrap {
    #[default]
    Clamp,
    Repeat,
    Mirror,
}

impl Wrap {
    fn new(repeats: bool, flips: bool) -> Wrap {
        match (repeats, flips) {
            (false, _) => Wrap::Clamp,
            (true, false) => Wrap::Repeat,
            (true, true) => Wrap::Mirror,
        }
    }

    /// `at` in a size that is a power of two.
    #[inline]
    fn apply(self, at: i32, size: i32) -> u32 {
        let inside = match self {
            Wrap::Clamp => at.clamp(0, size - 1),
            Wrap::Repeat => at & (size - 1),
            Wrap::Mirror if at & size != 0 => size - 1 - (at & (size - 1)),
            Wrap::Mirror => at & (size - 1),
        };
        inside as u32
    }
}

/// TEXIMAGE_PARAM's format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// No texture.
    #[default]
    None,
    /// 5 bits of index, 3 of alpha.
    A3I5,
    /// 2 bits of index.
    Palette4,
    /// 4 bits of index.
    Palette16,
    /// 8 bits of index.
    Palette256,
    /// Blocks of 4x4 texels.
    Compressed,
    /// 3 bits of index, 5 of alpha.
    A5I3,
    /// RGB555 and a bit of alpha.
    Direct,
}

impl From<u32> for Format {
    fn from(bits: u32) -> Format {
        match bits & 7 {
            0 => Format::None,
            1 => Format::A3I5,
            2 => Format::Palette4,
            3 => Format::Palette16,
            4 => Format::Palette256,
            5 => Format::Compressed,
            6 => Format::A5I3,
            _ => Format::Direct,
        }
    }
}

/// TEXIMAGE_PARAM and PLTT_BASE, taken apart.
#[derive(Clone, Copy, Debug, Default)]
pub struct Texture {
    /// Format.
    pub format: Format,
    base: u32,
    palette: u32,
    width: i32,
    height: i32,
    wrap: [Wrap; 2],
    /// Alpha of index 0 of the formats without any.
    alpha0: u8,
}

/// Where slot 1 starts; it has the palette words of compressed textures.
const SLOT1: u32 = 0x20000;
/// Where slot 2 starts.
const SLOT2: u32 = 0x40000;

impl Texture {
    /// From the registers.
    pub fn new(param: u32, palette: u32) -> Texture {
        let bit = |n: u32| param >> n & 1 != 0;
        let format = Format::from(param >> 26);
        Texture {
            format,
            base: (param & 0xffff) << 3,
            // 8 bytes a unit for four colours, 16 for all others.
            palette: if format == Format::Palette4 { palette << 3 } else { palette << 4 },
            width: 8 << (param >> 20 & 7),
            height: 8 << (param >> 23 & 7),
            wrap: [Wrap::new(bit(16), bit(18)), Wrap::new(bit(17), bit(19))],
            alpha0: if bit(29) { 0 } else { OPAQUE },
        }
    }

    /// The texel at coordinates of 12.4.
    #[inline]
    pub fn texel(&self, memory: &TextureMemory, s: i16, t: i16) -> Texel {
        let s = self.wrap[0].apply(i32::from(s) >> 4, self.width);
        let t = self.wrap[1].apply(i32::from(t) >> 4, self.height);
        let place = t * self.width as u32 + s;
        let color = |index: u32| memory.color(self.palette + 2 * index);
        match self.format {
            Format::None => Texel::default(),
            Format::A3I5 => {
                let byte = u32::from(memory.byte(self.base + place));
                // a * 4 + a / 2
                Texel { color: color(byte & 31), alpha: (byte >> 3 & 0x1c | byte >> 6) as u8 }
            }
            Format::A5I3 => {
                let byte = u32::from(memory.byte(self.base + place));
                Texel { color: color(byte & 7), alpha: (byte >> 3) as u8 }
            }
            Format::Palette4 => {
                let byte = memory.byte(self.base + place / 4);
                self.indexed(memory, u32::from(byte >> (place % 4 * 2) & 3))
            }
            Format::Palette16 => {
                let byte = memory.byte(self.base + place / 2);
                self.indexed(memory, u32::from(byte >> (place % 2 * 4) & 15))
            }
            Format::Palette256 => self.indexed(memory, memory.byte(self.base + place).into()),
            Format::Direct => {
                let color = memory.half(self.base + 2 * place);
                Texel { color, alpha: if color & 0x8000 != 0 { OPAQUE } else { 0 } }
            }
            Format::Compressed => self.compressed(memory, s, t),
        }
    }

    #[inline]
    fn indexed(&self, memory: &TextureMemory, index: u32) -> Texel {
        let alpha = if index == 0 { self.alpha0 } else { OPAQUE };
        Texel { color: memory.color(self.palette + 2 * index), alpha }
    }

    fn compressed(&self, memory: &TextureMemory, s: u32, t: u32) -> Texel {
        // A byte is a row of a block.
        let row = self.base + (t & !3) * (self.width as u32 / 4) + (s & !3) + (t & 3);
        let row = row & (crate::memory::TEXTURE_BYTES as u32 - 1);
        // Texels in slot 1 read as index 0; slots 2 and 3 have their words in its upper half.
        let index = match row {
            SLOT1..SLOT2 => 0,
            _ => memory.byte(row) >> (s % 4 * 2) & 3,
        };
        let upper = if row >= SLOT2 { 0x10000 } else { 0 };
        let word = memory.half(SLOT1 + upper + ((row & 0x1fffc) >> 1));
        let color = |i: u32| memory.color(self.palette + (u32::from(word & 0x3fff) << 2) + 2 * i);
        let solid = |color| Texel { color, alpha: OPAQUE };
        match (index, word >> 14) {
            (0 | 1, _) => solid(color(index.into())),
            (2, 1) => solid(mix(color(0), color(1), 1, 1, 1)),
            (2, 3) => solid(mix(color(0), color(1), 5, 3, 3)),
            (2, _) => solid(color(2)),
            (_, 2) => solid(color(3)),
            (_, 3) => solid(mix(color(0), color(1), 3, 5, 3)),
            _ => Texel::default(),
        }
    }
}

/// Channel by channel `(a * na + b * nb) >> shift`.
fn mix(a: u16, b: u16, na: u32, nb: u32, shift: u32) -> u16 {
    let channel = |at: u32| {
        let of = |c: u16| u32::from(c) >> at & 31;
        ((of(a) * na + of(b) * nb) >> shift) << at
    };
    (channel(0) | channel(5) | channel(10)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn param(format: u32, rest: u32) -> u32 {
        format << 26 | rest
    }

    #[test]
    fn wrapping() {
        let at = |wrap: Wrap| [-9, -1, 0, 8, 9].map(|at| wrap.apply(at, 8));
        assert_eq!(at(Wrap::Clamp), [0, 0, 0, 7, 7]);
        assert_eq!(at(Wrap::Repeat), [7, 7, 0, 0, 1]);
        assert_eq!(at(Wrap::Mirror), [7, 0, 0, 7, 6]);
    }

    #[test]
    fn alpha_of_a3i5_and_color_0() {
        let mut memory = TextureMemory::default();
        memory.write_textures(0, &[0xff, 0x40]);
        let a3i5 = Texture::new(param(1, 0), 0);
        assert_eq!(a3i5.texel(&memory, 0, 0).alpha, 31);
        assert_eq!(a3i5.texel(&memory, 16, 0).alpha, 2 * 4 + 1);
        let zero = Texture::new(param(4, 8 | 1 << 29), 0);
        assert_eq!(zero.texel(&memory, 0, 0).alpha, 0);
        assert_eq!(Texture::new(param(4, 8), 0).texel(&memory, 0, 0).alpha, 31);
    }

    #[test]
    fn palette_units_are_8_bytes_for_four_colors_and_16_for_others() {
        let mut memory = TextureMemory::default();
        memory.write_palettes(8, &[1, 0]);
        memory.write_palettes(16, &[2, 0]);
        assert_eq!(Texture::new(param(2, 0), 1).texel(&memory, 0, 0).color, 1);
        assert_eq!(Texture::new(param(3, 0), 1).texel(&memory, 0, 0).color, 2);
    }

    #[test]
    fn compressed_texels_in_slot_1_are_index_0() {
        let mut memory = TextureMemory::default();
        memory.write_textures(0, &[1]);
        memory.write_textures(SLOT1, &[1, 0]);
        memory.write_palettes(0, &[5, 0, 6, 0, 7, 0]);
        memory.write_palettes(4, &[7, 0, 8, 0]);
        // Slot 0: index 1 of the palette 1 * 4 bytes on.
        assert_eq!(Texture::new(param(5, 0), 0).texel(&memory, 0, 0).color, 8);
        let slot1 = Texture::new(param(5, SLOT1 >> 3), 0);
        assert_eq!(slot1.texel(&memory, 0, 0).color, 7);
        // Slots 2 and 3 share the upper half of slot 1.
        memory.write_textures(SLOT1 + 0x10000, &[0, 0]);
        memory.write_textures(0x60000, &[1]);
        assert_eq!(Texture::new(param(5, 0x60000 >> 3), 0).texel(&memory, 0, 0).color, 6);
    }

    #[test]
    fn mixes_are_cut() {
        assert_eq!(mix(0x7fff, 0, 1, 1, 1), 15 | 15 << 5 | 15 << 10);
        assert_eq!(mix(31, 0, 5, 3, 3), 19);
    }
}
