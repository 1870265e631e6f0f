//! The 14 texel formats.

use super::etc1;
use super::tiling::{ROW_ORDER, TILE};

/// Format of a texel, by the number of the texture units' format registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Format {
    /// Bytes a, b, g, r.
    Rgba8,
    /// Bytes b, g, r.
    Rgb8,
    /// 16 bits, r on top, alpha in bit 0.
    Rgb5A1,
    /// 16 bits, r on top.
    Rgb565,
    /// 16 bits, r on top.
    Rgba4,
    /// Bytes alpha, intensity.
    Ia8,
    /// Bytes g, r.
    Rg8,
    /// Intensity.
    I8,
    /// Alpha.
    A8,
    /// Intensity in the high nibble, alpha in the low one.
    Ia4,
    /// Intensity, low nibble first.
    I4,
    /// Alpha, low nibble first.
    A4,
    /// Ericsson texture compression.
    Etc1,
    /// The same with four bits of alpha.
    Etc1A4,
}

impl Format {
    /// All formats, by number.
    pub const ALL: [Format; 14] = [
        Format::Rgba8,
        Format::Rgb8,
        Format::Rgb5A1,
        Format::Rgb565,
        Format::Rgba4,
        Format::Ia8,
        Format::Rg8,
        Format::I8,
        Format::A8,
        Format::Ia4,
        Format::I4,
        Format::A4,
        Format::Etc1,
        Format::Etc1A4,
    ];

    /// The format of a number; 14 and 15 are none.
    pub fn from_number(number: u32) -> Option<Format> {
        Format::ALL.get(number as usize).copied()
    }

    /// Bytes of an 8×8 tile.
    pub const fn tile_bytes(self) -> u32 {
        match self {
            Format::Rgba8 => 256,
            Format::Rgb8 => 192,
            Format::Rgb5A1 | Format::Rgb565 | Format::Rgba4 | Format::Ia8 | Format::Rg8 => 128,
            Format::I8 | Format::A8 | Format::Ia4 | Format::Etc1A4 => 64,
            Format::I4 | Format::A4 | Format::Etc1 => 32,
        }
    }
}

/// A texel of four channels.
pub(super) const fn pack(r: u8, g: u8, b: u8, a: u8) -> u32 {
    u32::from_le_bytes([r, g, b, a])
}

/// Widens 4 bits by repeating them. Higher bits are ignored.
pub const fn widen4(value: u32) -> u8 {
    (value as u8 & 0xf) * 0x11
}

/// Widens 5 bits by repeating the top ones. Higher bits are ignored.
pub const fn widen5(value: u32) -> u8 {
    let value = value as u8 & 0x1f;
    value << 3 | value >> 2
}

/// Widens 6 bits by repeating the top ones. Higher bits are ignored.
pub const fn widen6(value: u32) -> u8 {
    let value = value as u8 & 0x3f;
    value << 2 | value >> 4
}

/// Decodes the `format.tile_bytes()` bytes of a tile to rows of texels; missing bytes leave texels as they are.
pub fn decode_tile(format: Format, bytes: &[u8], texels: &mut [u32; TILE]) {
    match format {
        Format::Rgba8 => each(bytes, texels, |&[a, b, g, r]| pack(r, g, b, a)),
        Format::Rgb8 => each(bytes, texels, |&[b, g, r]| pack(r, g, b, 255)),
        Format::Rgb5A1 => words(bytes, texels, |w| {
            pack(widen5(w >> 11), widen5(w >> 6), widen5(w >> 1), if w & 1 != 0 { 255 } else { 0 })
        }),
        Format::Rgb565 => {
            words(bytes, texels, |w| pack(widen5(w >> 11), widen6(w >> 5), widen5(w), 255));
        }
        Format::Rgba4 => {
            words(bytes, texels, |w| pack(widen4(w >> 12), widen4(w >> 8), widen4(w >> 4), widen4(w)));
        }
        Format::Ia8 => each(bytes, texels, |&[a, i]| pack(i, i, i, a)),
        Format::Rg8 => each(bytes, texels, |&[g, r]| pack(r, g, 0, 255)),
        Format::I8 => each(bytes, texels, |&[i]| pack(i, i, i, 255)),
        Format::A8 => each(bytes, texels, |&[a]| pack(0, 0, 0, a)),
        Format::Ia4 => each(bytes, texels, |&[v]| {
            let i = widen4(u32::from(v >> 4));
            pack(i, i, i, widen4(u32::from(v)))
        }),
        Format::I4 => nibbles(bytes, texels, |i| pack(i, i, i, 255)),
        Format::A4 => nibbles(bytes, texels, |a| pack(0, 0, 0, a)),
        Format::Etc1 => etc1::decode_tile(bytes, false, texels),
        Format::Etc1A4 => etc1::decode_tile(bytes, true, texels),
    }
}

fn each<const N: usize>(bytes: &[u8], texels: &mut [u32; TILE], texel: impl Fn(&[u8; N]) -> u32) {
    let (chunks, _) = bytes.as_chunks::<N>();
    for (chunk, &place) in chunks.iter().zip(&ROW_ORDER) {
        texels[usize::from(place)] = texel(chunk);
    }
}

fn words(bytes: &[u8], texels: &mut [u32; TILE], texel: impl Fn(u32) -> u32) {
    each(bytes, texels, |&word| texel(u32::from(u16::from_le_bytes(word))));
}

fn nibbles(bytes: &[u8], texels: &mut [u32; TILE], texel: impl Fn(u8) -> u32) {
    for (&byte, places) in bytes.iter().zip(ROW_ORDER.as_chunks::<2>().0) {
        texels[usize::from(places[0])] = texel(widen4(u32::from(byte)));
        texels[usize::from(places[1])] = texel(widen4(u32::from(byte >> 4)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first two texels of a tile that starts with `bytes`, as r, g, b, a.
    fn texels(format: Format, bytes: &[u8]) -> [[u8; 4]; 2] {
        let mut tile = bytes.to_vec();
        tile.resize(format.tile_bytes() as usize, 0);
        let mut texels = [0xdead_beef; TILE];
        decode_tile(format, &tile, &mut texels);
        assert!(texels.iter().all(|&t| t != 0xdead_beef), "{format:?} leaves texels out");
        [texels[0].to_le_bytes(), texels[1].to_le_bytes()]
    }

    #[test]
    fn byte_formats() {
        assert_eq!(texels(Format::Rgba8, &[1, 2, 3, 4, 5, 6, 7, 8]), [[4, 3, 2, 1], [8, 7, 6, 5]]);
        assert_eq!(texels(Format::Rgb8, &[1, 2, 3, 4, 5, 6]), [[3, 2, 1, 255], [6, 5, 4, 255]]);
        assert_eq!(texels(Format::Ia8, &[1, 2, 3, 4]), [[2, 2, 2, 1], [4, 4, 4, 3]]);
        assert_eq!(texels(Format::Rg8, &[1, 2, 3, 4]), [[2, 1, 0, 255], [4, 3, 0, 255]]);
        assert_eq!(texels(Format::I8, &[1, 2]), [[1, 1, 1, 255], [2, 2, 2, 255]]);
        assert_eq!(texels(Format::A8, &[1, 2]), [[0, 0, 0, 1], [0, 0, 0, 2]]);
        assert_eq!(texels(Format::Ia4, &[0x12, 0xf0]), [[17, 17, 17, 34], [255, 255, 255, 0]]);
        assert_eq!(texels(Format::I4, &[0x21]), [[17, 17, 17, 255], [34, 34, 34, 255]]);
        assert_eq!(texels(Format::A4, &[0x21]), [[0, 0, 0, 17], [0, 0, 0, 34]]);
    }

    #[test]
    fn word_formats() {
        let of = |format, word: u16| texels(format, &word.to_le_bytes())[0];
        assert_eq!(of(Format::Rgb5A1, 0x10 << 11 | 0x04 << 6 | 0x1f << 1 | 1), [0x84, 0x21, 0xff, 0xff]);
        assert_eq!(of(Format::Rgb5A1, 0x1f << 11 | 0x01 << 1), [0xff, 0, 0x08, 0]);
        assert_eq!(of(Format::Rgb565, 0x10 << 11 | 0x20 << 5 | 0x01), [0x84, 0x82, 0x08, 0xff]);
        assert_eq!(of(Format::Rgba4, 0x1234), [0x11, 0x22, 0x33, 0x44]);
    }

    #[test]
    fn texels_follow_the_z_order() {
        let bytes: Vec<u8> = (0..64).collect();
        let mut texels = [0; TILE];
        decode_tile(Format::A8, &bytes, &mut texels);
        let at = |x: usize, y: usize| texels[8 * y + x] >> 24;
        assert_eq!([at(1, 0), at(0, 1), at(2, 0), at(0, 2), at(4, 0), at(0, 4)], [1, 2, 4, 8, 16, 32]);
    }

    #[test]
    fn short_input_decodes_what_is_there() {
        for format in Format::ALL {
            for len in 0..format.tile_bytes() as usize {
                decode_tile(format, &vec![0xff; len], &mut [0; TILE]);
            }
        }
    }
}
