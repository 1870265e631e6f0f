//! Textures: addresses, wrapping and the seven formats.

use super::lanes::{LANES, Lanes, SignedLanes, any_bit, less, select};
use crate::memory::{TEXTURE_BYTES, TextureMemory};

/// Texels.
#[derive(Clone, Copy, Debug)]
pub struct Texels {
    /// RGB555; bit 15 may be anything.
    pub color: Lanes,
    /// 0 to 31.
    pub alpha: Lanes,
}

const OPAQUE: u32 = 31;

/// What a coordinate outside of the texture means, without branches: it is clamped between two texels, mirrored if it
/// has a bit, and cut.
#[derive(Clone, Copy, Debug, Default)]
struct Wrap {
    clamp: [i32; 2],
    mirror: i32,
    mask: i32,
}

impl Wrap {
    /// Of an axis with `size` texels, a power of two.
    fn new(size: i32, repeats: bool, flips: bool) -> Wrap {
        Wrap {
            clamp: if repeats { [i32::MIN, i32::MAX] } else { [0, size - 1] },
            mirror: if repeats && flips { size } else { 0 },
            mask: size - 1,
        }
    }

    /// Coordinates of 12.4 to columns or rows.
    #[inline(always)]
    fn apply<const N: usize>(&self, coordinates: &[i32; N]) -> [u32; N] {
        let [low, high] = self.clamp;
        let mut out = [0; N];
        for (out, at) in out.iter_mut().zip(coordinates) {
            let texel = (at >> 4).max(low).min(high);
            let flip = any_bit((texel & self.mirror) as u32);
            *out = (texel as u32 ^ flip) & self.mask as u32;
        }
        out
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
    width: u32,
    wrap: [Wrap; 2],
    /// Alpha of index 0 of the formats without any.
    alpha0: u32,
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
        let width = 8 << (param >> 20 & 7);
        Texture {
            format,
            base: (param & 0xffff) << 3,
            // 8 bytes a unit for four colours, 16 for all others.
            palette: if format == Format::Palette4 { palette << 3 } else { palette << 4 },
            width,
            wrap: [
                Wrap::new(width as i32, bit(16), bit(18)),
                Wrap::new(8 << (param >> 23 & 7), bit(17), bit(19)),
            ],
            alpha0: if bit(29) { 0 } else { OPAQUE },
        }
    }

    /// Texels at coordinates of 12.4.
    #[inline(always)]
    pub fn texels(&self, memory: &TextureMemory, [s, t]: &[SignedLanes; 2]) -> Texels {
        let s = self.wrap[0].apply(s);
        let t = self.wrap[1].apply(t);
        let mut places = [0; LANES];
        for (i, place) in places.iter_mut().enumerate() {
            *place = t[i] * self.width + s[i];
        }
        match self.format {
            Format::None => Texels { color: [0; LANES], alpha: [0; LANES] },
            Format::A3I5 => {
                // a * 4 + a / 2
                self.with_alpha(memory, &places, 31, |byte| byte >> 3 & 0x1c | byte >> 6)
            }
            Format::A5I3 => self.with_alpha(memory, &places, 7, |byte| byte >> 3),
            Format::Palette4 => self.indexed::<2>(memory, &places),
            Format::Palette16 => self.indexed::<4>(memory, &places),
            Format::Palette256 => self.indexed::<8>(memory, &places),
            Format::Direct => {
                let color = gather(&places, |place| memory.half(self.base + 2 * place).into());
                let mut alpha = [0; LANES];
                for (alpha, color) in alpha.iter_mut().zip(color) {
                    *alpha = any_bit(color & 0x8000) & OPAQUE;
                }
                Texels { color, alpha }
            }
            Format::Compressed => self.compressed(memory, &s, &t),
        }
    }

    /// Of bytes whose lowest bits are an index.
    #[inline(always)]
    fn with_alpha(
        &self,
        memory: &TextureMemory,
        places: &Lanes,
        index: u32,
        alpha: impl Fn(u32) -> u32,
    ) -> Texels {
        let mut alphas = gather(places, |place| memory.byte(self.base + place).into());
        let color = gather(&alphas, |byte| memory.color(self.palette + 2 * (byte & index)).into());
        for value in &mut alphas {
            *value = alpha(*value);
        }
        Texels { color, alpha: alphas }
    }

    /// Of indices of so many bits, the first in the lowest bits of a byte.
    #[inline(always)]
    fn indexed<const BITS: u32>(&self, memory: &TextureMemory, places: &Lanes) -> Texels {
        let mut indices = gather(places, |place| memory.byte(self.base + place / (8 / BITS)).into());
        for (index, place) in indices.iter_mut().zip(places) {
            *index = *index >> (place % (8 / BITS) * BITS) & ((1 << BITS) - 1);
        }
        let color = gather(&indices, |index| memory.color(self.palette + 2 * index).into());
        let mut alpha = [0; LANES];
        for (alpha, index) in alpha.iter_mut().zip(indices) {
            *alpha = select(any_bit(index), OPAQUE, self.alpha0);
        }
        Texels { color, alpha }
    }

    #[inline(always)]
    fn compressed(&self, memory: &TextureMemory, s: &Lanes, t: &Lanes) -> Texels {
        let (mut rows, mut words) = ([0; LANES], [0; LANES]);
        for i in 0..LANES {
            // A byte is a row of a block.
            let row = self.base + (t[i] & !3) * (self.width / 4) + (s[i] & !3) + (t[i] & 3);
            rows[i] = row & (TEXTURE_BYTES as u32 - 1);
            // Slots 2 and 3 have their words in the upper half of slot 1.
            words[i] = SLOT1 + (!less(rows[i], SLOT2) & 0x10000) + ((rows[i] & 0x1fffc) >> 1);
        }
        let mut indices = gather(&rows, |row| memory.byte(row).into());
        let words = gather(&words, |at| memory.half(at).into());
        let mut firsts = [0; LANES];
        for i in 0..LANES {
            // Texels in slot 1 read as index 0.
            let is_slot1 = less(rows[i], SLOT2) & !less(rows[i], SLOT1);
            indices[i] = indices[i] >> (s[i] % 4 * 2) & 3 & !is_slot1;
            // Of palettes with an odd mode, indices 2 and 3 are mixed of the first two colours.
            let index = indices[i] & !((indices[i] >> 1 & words[i] >> 14 & 1) * 3);
            firsts[i] = self.palette + ((words[i] & 0x3fff) << 2) + 2 * index;
        }
        let seconds = gather(&words, |word| memory.color(self.palette + ((word & 0x3fff) << 2) + 2).into());
        let mut color = gather(&firsts, |at| memory.color(at).into());
        let mut alpha = [0; LANES];
        for i in 0..LANES {
            let (index, mode) = (indices[i], words[i] >> 14);
            let is_mixed = any_bit(index >> 1 & mode & 1);
            let is_clear = !any_bit((index ^ 3) | (mode & 2));
            // Of 8 parts.
            let part = select(any_bit(mode & 2), select(any_bit(index & 1), 3, 5), 4);
            let mixed = mix(color[i], seconds[i], part);
            color[i] = select(is_mixed, mixed, color[i]) & !is_clear;
            alpha[i] = OPAQUE & !is_clear;
        }
        Texels { color, alpha }
    }
}

/// What memory has at places.
#[inline(always)]
fn gather(places: &Lanes, at: impl Fn(u32) -> u32) -> Lanes {
    let mut out = [0; LANES];
    for (out, &place) in out.iter_mut().zip(places) {
        *out = at(place);
    }
    out
}

/// `part` eighths of a colour RGB555, the rest of another, channel by channel.
#[inline(always)]
fn mix(a: u32, b: u32, part: u32) -> u32 {
    let rest = 8 - part;
    let rb = ((a & 0x7c1f) * part + (b & 0x7c1f) * rest) >> 3 & 0x7c1f;
    let g = ((a & 0x3e0) * part + (b & 0x3e0) * rest) >> 3 & 0x3e0;
    rb | g
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Colour and alpha.
    fn texel(texture: &Texture, memory: &TextureMemory, s: i32) -> [u32; 2] {
        let texels = texture.texels(memory, &[[s; LANES], [0; LANES]]);
        [texels.color[0], texels.alpha[0]]
    }

    fn param(format: u32, rest: u32) -> u32 {
        format << 26 | rest
    }

    #[test]
    fn wrapping() {
        let at = |repeats, flips| Wrap::new(8, repeats, flips).apply(&[-9, -1, 0, 8, 9].map(|at| at << 4));
        assert_eq!(at(false, true), [0, 0, 0, 7, 7]);
        assert_eq!(at(true, false), [7, 7, 0, 0, 1]);
        assert_eq!(at(true, true), [7, 0, 0, 7, 6]);
    }

    #[test]
    fn alpha_of_a3i5_and_color_0() {
        let mut memory = TextureMemory::default();
        memory.write_textures(0, &[0xff, 0x40]);
        let a3i5 = Texture::new(param(1, 0), 0);
        assert_eq!(texel(&a3i5, &memory, 0)[1], 31);
        assert_eq!(texel(&a3i5, &memory, 16)[1], 2 * 4 + 1);
        let zero = Texture::new(param(4, 8 | 1 << 29), 0);
        assert_eq!(texel(&zero, &memory, 0)[1], 0);
        assert_eq!(texel(&Texture::new(param(4, 8), 0), &memory, 0)[1], 31);
    }

    #[test]
    fn palette_units_are_8_bytes_for_four_colors_and_16_for_others() {
        let mut memory = TextureMemory::default();
        memory.write_palettes(8, &[1, 0]);
        memory.write_palettes(16, &[2, 0]);
        assert_eq!(texel(&Texture::new(param(2, 0), 1), &memory, 0)[0], 1);
        assert_eq!(texel(&Texture::new(param(3, 0), 1), &memory, 0)[0], 2);
    }

    #[test]
    fn compressed_texels_in_slot_1_are_index_0() {
        let mut memory = TextureMemory::default();
        memory.write_textures(0, &[1]);
        memory.write_textures(SLOT1, &[1, 0]);
        memory.write_palettes(0, &[5, 0, 6, 0, 7, 0]);
        memory.write_palettes(4, &[7, 0, 8, 0]);
        // Slot 0: index 1 of the palette 1 * 4 bytes on.
        assert_eq!(texel(&Texture::new(param(5, 0), 0), &memory, 0)[0], 8);
        let slot1 = Texture::new(param(5, SLOT1 >> 3), 0);
        assert_eq!(texel(&slot1, &memory, 0)[0], 7);
        // Slots 2 and 3 share the upper half of slot 1.
        memory.write_textures(SLOT1 + 0x10000, &[0, 0]);
        memory.write_textures(0x60000, &[1]);
        assert_eq!(texel(&Texture::new(param(5, 0x60000 >> 3), 0), &memory, 0)[0], 6);
    }

    #[test]
    fn mixes_are_cut() {
        assert_eq!(mix(0x7fff, 0, 4), 15 | 15 << 5 | 15 << 10);
        assert_eq!(mix(31, 0, 5), 19);
    }
}
