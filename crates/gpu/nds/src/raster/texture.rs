//! Textures: addresses, wrapping and the seven formats.

use super::lanes::{Lanes, Mask, SignedLanes, all, any_bit, gather, keep};
use crate::memory::{TEXTURE_BYTES, TextureMemory};
use fearless_simd::prelude::*;

/// Texels.
#[derive(Clone, Copy, Debug)]
pub struct Texels<S: Simd> {
    /// RGB555; bit 15 may be anything.
    pub color: Lanes<S>,
    /// 0 to 31.
    pub alpha: Lanes<S>,
}

const OPAQUE: u32 = 31;

/// What a coordinate outside of the texture means, without branches: it is clamped between two texels, mirrored if it
/// has a bit, and cut.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wrap {
    clamp: [i32; 2],
    mirror: i32,
    mask: i32,
}

impl Wrap {
    /// Of an axis with `size` units, a power of two.
    fn new(size: i32, repeats: bool, flips: bool) -> Wrap {
        Wrap {
            clamp: if repeats { [i32::MIN, i32::MAX] } else { [0, size - 1] },
            mirror: if repeats && flips { size } else { 0 },
            mask: size - 1,
        }
    }

    /// Coordinates in these units to those in the texture.
    #[inline(always)]
    pub(super) fn apply<S: Simd>(&self, coordinates: SignedLanes<S>) -> Lanes<S> {
        let [low, high] = self.clamp;
        let units = coordinates.max(low).min(high);
        let flipped = (units & self.mirror).simd_ne(0).select(!units, units);
        (flipped & self.mask).bitcast()
    }
}

/// Of both axes of TEXIMAGE_PARAM, where a texel has so many units.
pub(super) fn wraps(param: u32, units: i32) -> [Wrap; 2] {
    let bit = |n: u32| param >> n & 1 != 0;
    let size = |shift: u32| (8 << (param >> shift & 7)) * units;
    [Wrap::new(size(20), bit(16), bit(18)), Wrap::new(size(23), bit(17), bit(19))]
}

/// TEXIMAGE_PARAM's format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
    /// Byte address of its texels.
    pub(super) base: u32,
    /// Byte address of its palette.
    pub(super) palette: u32,
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
        let format = Format::from(param >> 26);
        let width = 8 << (param >> 20 & 7);
        Texture {
            format,
            base: (param & 0xffff) << 3,
            // 8 bytes a unit for four colours, 16 for all others.
            palette: if format == Format::Palette4 { palette << 3 } else { palette << 4 },
            width,
            wrap: wraps(param, 1),
            alpha0: if param & 1 << 29 != 0 { 0 } else { OPAQUE },
        }
    }

    /// Texels at coordinates of 12.4.
    #[inline(always)]
    pub fn texels<S: Simd>(&self, simd: S, memory: &TextureMemory, [s, t]: [SignedLanes<S>; 2]) -> Texels<S> {
        let (s, t) = (self.wrap[0].apply(s >> 4), self.wrap[1].apply(t >> 4));
        let places = t * self.width + s;
        match self.format {
            Format::None => Texels { color: all(simd, 0), alpha: all(simd, 0) },
            Format::A3I5 => {
                // a * 4 + a / 2
                self.with_alpha(
                    memory,
                    places,
                    31,
                    #[inline(always)]
                    |bytes| (bytes >> 3) & 0x1c | bytes >> 6,
                )
            }
            Format::A5I3 => self.with_alpha(
                memory,
                places,
                7,
                #[inline(always)]
                |bytes| bytes >> 3,
            ),
            Format::Palette4 => self.indexed::<S, 2>(memory, places),
            Format::Palette16 => self.indexed::<S, 4>(memory, places),
            Format::Palette256 => self.indexed::<S, 8>(memory, places),
            Format::Direct => {
                let color = gather(
                    places * 2 + self.base,
                    #[inline(always)]
                    |at| memory.half(at).into(),
                );
                Texels { color, alpha: opaque_where(any_bit(color, 0x8000)) }
            }
            Format::Compressed => self.compressed(memory, s, t),
        }
    }

    /// Of bytes whose lowest bits are an index.
    #[inline(always)]
    fn with_alpha<S: Simd>(
        &self,
        memory: &TextureMemory,
        places: Lanes<S>,
        index: u32,
        alpha: impl Fn(Lanes<S>) -> Lanes<S>,
    ) -> Texels<S> {
        let bytes = gather(
            places + self.base,
            #[inline(always)]
            |at| memory.byte(at).into(),
        );
        let color = gather(
            (bytes & index) * 2 + self.palette,
            #[inline(always)]
            |at| memory.color(at).into(),
        );
        Texels { color, alpha: alpha(bytes) }
    }

    /// Of indices of so many bits, the first in the lowest bits of a byte.
    #[inline(always)]
    fn indexed<S: Simd, const BITS: u32>(&self, memory: &TextureMemory, places: Lanes<S>) -> Texels<S> {
        // Indices of a byte.
        let count = 8 / BITS;
        let bytes = gather(
            (places >> count.ilog2()) + self.base,
            #[inline(always)]
            |at| memory.byte(at).into(),
        );
        let indices = (bytes >> ((places & (count - 1)) * BITS)) & ((1 << BITS) - 1);
        let color = gather(
            indices * 2 + self.palette,
            #[inline(always)]
            |at| memory.color(at).into(),
        );
        let alpha = indices.simd_eq(0).select(all(places.token(), self.alpha0), all(places.token(), OPAQUE));
        Texels { color, alpha }
    }

    #[inline(always)]
    fn compressed<S: Simd>(&self, memory: &TextureMemory, s: Lanes<S>, t: Lanes<S>) -> Texels<S> {
        // A byte is a row of a block.
        let rows = (t & !3) * (self.width / 4) + (s & !3) + (t & 3) + self.base;
        let rows = rows & (TEXTURE_BYTES as u32 - 1);
        // Slots 2 and 3 have their words in the upper half of slot 1.
        let places = ((rows & 0x1fffc) >> 1) + ((rows & SLOT2) >> 2) + SLOT1;
        let words = gather(
            places,
            #[inline(always)]
            |at| memory.half(at).into(),
        );
        let bytes = gather(
            rows,
            #[inline(always)]
            |row| memory.byte(row).into(),
        );
        // Texels in slot 1 read as index 0.
        let is_slot1 = (rows & (SLOT1 | SLOT2)).simd_eq(SLOT1);
        let indices = keep(!is_slot1, (bytes >> ((s & 3) * 2)) & 3);
        let modes = words >> 14;
        // Of palettes with an odd mode, indices 2 and 3 are mixed of the first two colours.
        let is_mixed = any_bit(indices >> 1 & modes, 1);
        let palettes = ((words & 0x3fff) << 2) + self.palette;
        let mut color = gather(
            palettes + keep(!is_mixed, indices) * 2,
            #[inline(always)]
            |at| memory.color(at).into(),
        );
        if is_mixed.any_true() {
            let seconds = gather(
                palettes + 2,
                #[inline(always)]
                |at| memory.color(at).into(),
            );
            // Of 8 parts.
            let parts = any_bit(indices, 1).select(all(s.token(), 3), all(s.token(), 5));
            let parts = any_bit(modes, 2).select(parts, all(s.token(), 4));
            color = is_mixed.select(mix(color, seconds, parts), color);
        }
        let is_clear = ((indices ^ 3) | (modes & 2)).simd_eq(0);
        Texels { color: keep(!is_clear, color), alpha: opaque_where(!is_clear) }
    }
}

/// Alpha of pixels that are opaque or not there.
#[inline(always)]
fn opaque_where<S: Simd>(mask: Mask<S>) -> Lanes<S> {
    keep(mask, all(mask.token(), OPAQUE))
}

/// `parts` eighths of colours RGB555, the rest of others, channel by channel.
#[inline(always)]
fn mix<S: Simd>(a: Lanes<S>, b: Lanes<S>, parts: Lanes<S>) -> Lanes<S> {
    let rests = 8 - parts;
    let red_blue = (a & 0x7c1f) * parts + (b & 0x7c1f) * rests;
    let green = (a & 0x3e0) * parts + (b & 0x3e0) * rests;
    ((red_blue >> 3) & 0x7c1f) | ((green >> 3) & 0x3e0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fearless_simd::{Level, dispatch};

    /// Colour and alpha.
    fn texel(texture: &Texture, memory: &TextureMemory, s: i32) -> [u32; 2] {
        dispatch!(Level::new(), simd => {
            let texels = texture.texels(simd, memory, [s, 0].map(|at| SignedLanes::splat(simd, at)));
            [texels.color, texels.alpha].map(|lanes| lanes.to_array()[0])
        })
    }

    fn param(format: u32, rest: u32) -> u32 {
        format << 26 | rest
    }

    #[test]
    fn wrapping() {
        let at = |repeats, flips| {
            let wrap = Wrap::new(8, repeats, flips);
            [-9, -1, 0, 8, 9].map(
                |at| dispatch!(Level::new(), simd => wrap.apply(SignedLanes::splat(simd, at)).to_array()[0]),
            )
        };
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
        let mixed = |a, parts| dispatch!(Level::new(), simd => mix(all(simd, a), all(simd, 0), all(simd, parts)).to_array()[0]);
        assert_eq!(mixed(0x7fff, 4), 15 | 15 << 5 | 15 << 10);
        assert_eq!(mixed(31, 5), 19);
    }
}
