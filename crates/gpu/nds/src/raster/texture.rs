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

impl Texel {
    /// Colour in the low half, alpha above it.
    #[inline(always)]
    pub fn to_bits(self) -> u32 {
        u32::from(self.color) | u32::from(self.alpha) << 16
    }

    /// The texel of [`Self::to_bits`].
    #[inline(always)]
    pub fn from_bits(bits: u32) -> Texel {
        Texel { color: bits as u16, alpha: (bits >> 16) as u8 }
    }
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

    /// Coordinates of 12.4 to columns or rows of a size that is a power of two.
    #[inline(always)]
    fn apply(self, size: i32, coordinates: &mut [i32]) {
        let mask = size - 1;
        let all = coordinates.iter_mut();
        match self {
            Wrap::Clamp => all.for_each(|at| *at = (*at >> 4).clamp(0, mask)),
            Wrap::Repeat => all.for_each(|at| *at = *at >> 4 & mask),
            Wrap::Mirror => all.for_each(|at| {
                let texel = *at >> 4;
                *at = if texel & size != 0 { !texel & mask } else { texel & mask };
            }),
        }
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

    /// Texels ([`Texel::to_bits`]) at coordinates of 12.4, which are lost.
    #[inline(always)]
    pub fn texels(&self, memory: &TextureMemory, s: &mut [i32], t: &mut [i32], out: &mut [u32]) {
        self.wrap[0].apply(self.width, s);
        self.wrap[1].apply(self.height, t);
        let (s, t) = (&*s, &*t);
        let place = |s: u32, t: u32| t * self.width as u32 + s;
        let color = |index: u32| memory.color(self.palette + 2 * index);
        match self.format {
            Format::None => fetch(s, t, out, |_, _| Texel::default()),
            Format::A3I5 => fetch(s, t, out, |s, t| {
                let byte = u32::from(memory.byte(self.base + place(s, t)));
                // a * 4 + a / 2
                Texel { color: color(byte & 31), alpha: (byte >> 3 & 0x1c | byte >> 6) as u8 }
            }),
            Format::A5I3 => fetch(s, t, out, |s, t| {
                let byte = u32::from(memory.byte(self.base + place(s, t)));
                Texel { color: color(byte & 7), alpha: (byte >> 3) as u8 }
            }),
            Format::Palette4 => fetch(s, t, out, |s, t| {
                let place = place(s, t);
                self.indexed(memory, u32::from(memory.byte(self.base + place / 4) >> (place % 4 * 2) & 3))
            }),
            Format::Palette16 => fetch(s, t, out, |s, t| {
                let place = place(s, t);
                self.indexed(memory, u32::from(memory.byte(self.base + place / 2) >> (place % 2 * 4) & 15))
            }),
            Format::Palette256 => {
                fetch(s, t, out, |s, t| self.indexed(memory, memory.byte(self.base + place(s, t)).into()));
            }
            Format::Direct => fetch(s, t, out, |s, t| {
                let color = memory.half(self.base + 2 * place(s, t));
                Texel { color, alpha: if color & 0x8000 != 0 { OPAQUE } else { 0 } }
            }),
            Format::Compressed => fetch(s, t, out, |s, t| self.compressed(memory, s, t)),
        }
    }

    #[inline(always)]
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

#[inline(always)]
fn fetch(s: &[i32], t: &[i32], out: &mut [u32], texel: impl Fn(u32, u32) -> Texel) {
    for ((out, &s), &t) in out.iter_mut().zip(s).zip(t) {
        *out = texel(s as u32, t as u32).to_bits();
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

    fn texel(texture: &Texture, memory: &TextureMemory, s: i32) -> Texel {
        let mut out = [0];
        texture.texels(memory, &mut [s], &mut [0], &mut out);
        Texel::from_bits(out[0])
    }

    fn param(format: u32, rest: u32) -> u32 {
        format << 26 | rest
    }

    #[test]
    fn wrapping() {
        let at = |wrap: Wrap| {
            let mut coordinates = [-9, -1, 0, 8, 9].map(|at| at << 4);
            wrap.apply(8, &mut coordinates);
            coordinates
        };
        assert_eq!(at(Wrap::Clamp), [0, 0, 0, 7, 7]);
        assert_eq!(at(Wrap::Repeat), [7, 7, 0, 0, 1]);
        assert_eq!(at(Wrap::Mirror), [7, 0, 0, 7, 6]);
    }

    #[test]
    fn alpha_of_a3i5_and_color_0() {
        let mut memory = TextureMemory::default();
        memory.write_textures(0, &[0xff, 0x40]);
        let a3i5 = Texture::new(param(1, 0), 0);
        assert_eq!(texel(&a3i5, &memory, 0).alpha, 31);
        assert_eq!(texel(&a3i5, &memory, 16).alpha, 2 * 4 + 1);
        let zero = Texture::new(param(4, 8 | 1 << 29), 0);
        assert_eq!(texel(&zero, &memory, 0).alpha, 0);
        assert_eq!(texel(&Texture::new(param(4, 8), 0), &memory, 0).alpha, 31);
    }

    #[test]
    fn palette_units_are_8_bytes_for_four_colors_and_16_for_others() {
        let mut memory = TextureMemory::default();
        memory.write_palettes(8, &[1, 0]);
        memory.write_palettes(16, &[2, 0]);
        assert_eq!(texel(&Texture::new(param(2, 0), 1), &memory, 0).color, 1);
        assert_eq!(texel(&Texture::new(param(3, 0), 1), &memory, 0).color, 2);
    }

    #[test]
    fn compressed_texels_in_slot_1_are_index_0() {
        let mut memory = TextureMemory::default();
        memory.write_textures(0, &[1]);
        memory.write_textures(SLOT1, &[1, 0]);
        memory.write_palettes(0, &[5, 0, 6, 0, 7, 0]);
        memory.write_palettes(4, &[7, 0, 8, 0]);
        // Slot 0: index 1 of the palette 1 * 4 bytes on.
        assert_eq!(texel(&Texture::new(param(5, 0), 0), &memory, 0).color, 8);
        let slot1 = Texture::new(param(5, SLOT1 >> 3), 0);
        assert_eq!(texel(&slot1, &memory, 0).color, 7);
        // Slots 2 and 3 share the upper half of slot 1.
        memory.write_textures(SLOT1 + 0x10000, &[0, 0]);
        memory.write_textures(0x60000, &[1]);
        assert_eq!(texel(&Texture::new(param(5, 0x60000 >> 3), 0), &memory, 0).color, 6);
    }

    #[test]
    fn mixes_are_cut() {
        assert_eq!(mix(0x7fff, 0, 1, 1, 1), 15 | 15 << 5 | 15 << 10);
        assert_eq!(mix(31, 0, 5, 3, 3), 19);
    }
}
