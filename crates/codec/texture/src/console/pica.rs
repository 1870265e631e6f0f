//! The PICA200: tiles of 8×8 texels in rows, in a tile Morton order with x in the even bits. The first tile is that of
//! the first rows of memory, which a console shows at the bottom. Source: `vectors/texture/FORMAT.md`, and section 5 of
//! `vectors/picagpu/FORMAT.md`.

use crate::etc;
use crate::format::Channels;
use core::fmt;

/// Texels of a tile.
pub const TILE: usize = 64;

/// The place `8 * y + x` of the texels of a tile in the order they lie in memory.
pub const ROW_ORDER: [u8; TILE] = {
    let mut table = [0; TILE];
    let mut i = 0;
    while i < TILE {
        let x = i & 1 | i >> 1 & 2 | i >> 2 & 4;
        let y = i >> 1 & 1 | i >> 2 & 2 | i >> 3 & 4;
        table[i] = (8 * y + x) as u8;
        i += 1;
    }
    table
};

/// A format, in the hardware's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Format {
    /// Bytes A, B, G, R.
    Rgba8,
    /// Bytes B, G, R.
    Rgb8,
    /// 5:5:5:1, red highest.
    Rgb5A1,
    /// 5:6:5, red highest.
    Rgb565,
    /// 4:4:4:4, red highest.
    Rgba4,
    /// Bytes alpha, intensity.
    Ia8,
    /// Bytes G, R; blue is 0.
    Rg8,
    /// Intensity.
    I8,
    /// Alpha; the colour is 0.
    A8,
    /// Four bits of alpha, four of intensity above.
    Ia4,
    /// Four bits of intensity, the first texel's lowest.
    I4,
    /// Four bits of alpha, the first texel's lowest.
    A4,
    /// ETC1, four blocks to a tile.
    Etc1,
    /// ETC1 with four bits of alpha.
    Etc1A4,
}

impl Format {
    /// All of them, in the hardware's order.
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

    /// The format of a number of the texture units' registers; 14 and 15 are none.
    pub fn from_number(number: u32) -> Option<Format> {
        Format::ALL.get(number as usize).copied()
    }

    /// Bytes of a tile.
    pub const fn tile_bytes(self) -> u32 {
        self.bits() * TILE as u32 / 8
    }

    /// The components that it stores.
    pub const fn channels(self) -> Channels {
        match self {
            Format::Rgba8 | Format::Rgb5A1 | Format::Rgba4 | Format::Etc1A4 => Channels::Rgba,
            Format::Rgb8 | Format::Rgb565 | Format::Etc1 => Channels::Rgb,
            Format::Rg8 => Channels::Rg,
            Format::I8 | Format::I4 => Channels::L,
            Format::Ia8 | Format::Ia4 => Channels::La,
            Format::A8 | Format::A4 => Channels::A,
        }
    }

    /// Bits of a texel.
    pub const fn bits(self) -> u32 {
        match self {
            Format::Rgba8 => 32,
            Format::Rgb8 => 24,
            Format::Rgb5A1 | Format::Rgb565 | Format::Rgba4 | Format::Ia8 | Format::Rg8 => 16,
            Format::I8 | Format::A8 | Format::Ia4 | Format::Etc1A4 => 8,
            Format::I4 | Format::A4 | Format::Etc1 => 4,
        }
    }
}

/// Names as they are commonly written: RGBA8, ETC1A4.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Rgba8 => "RGBA8",
            Format::Rgb8 => "RGB8",
            Format::Rgb5A1 => "RGB5A1",
            Format::Rgb565 => "RGB565",
            Format::Rgba4 => "RGBA4",
            Format::Ia8 => "IA8",
            Format::Rg8 => "RG8",
            Format::I8 => "I8",
            Format::A8 => "A8",
            Format::Ia4 => "IA4",
            Format::I4 => "I4",
            Format::A4 => "A4",
            Format::Etc1 => "ETC1",
            Format::Etc1A4 => "ETC1A4",
        })
    }
}

/// Widens 4 bits by repeating them. Higher bits are ignored.
pub const fn widen4(value: u32) -> u8 {
    (value as u8 & 0xf) * 17
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

/// Decodes rows of tiles; the last may have fewer rows of texels.
pub(crate) fn decode_band(format: Format, width: usize, data: &[u8], out: &mut [u8]) {
    let bytes = format.tile_bytes() as usize;
    let rows_of_tiles = data.chunks_exact(width.div_ceil(8) * bytes);
    let mut tile = [0; TILE];
    for (tiles, rows) in rows_of_tiles.zip(out.chunks_mut(8 * width * 4)) {
        for (x, data) in tiles.chunks_exact(bytes).enumerate() {
            decode_tile(format, data, &mut tile);
            for (row, texels) in rows.chunks_exact_mut(width * 4).zip(tile.as_chunks::<8>().0) {
                let texels = texels.map(u32::to_le_bytes);
                let count = 4 * (width - 8 * x).min(8);
                row[32 * x..][..count].copy_from_slice(&texels.as_flattened()[..count]);
            }
        }
    }
}

/// Decodes the [`Format::tile_bytes`] of a tile to rows of texels: red, green, blue and alpha from the lowest byte. Texels
/// whose bytes are missing stay as they are.
pub fn decode_tile(format: Format, bytes: &[u8], texels: &mut [u32; TILE]) {
    match format {
        Format::Rgba8 => each(bytes, texels, |&[a, b, g, r]| pack(r, g, b, a)),
        Format::Rgb8 => each(bytes, texels, |&[b, g, r]| pack(r, g, b, 255)),
        Format::Rgb5A1 => words(bytes, texels, |w| {
            pack(widen5(w >> 11), widen5(w >> 6), widen5(w >> 1), (w & 1) as u8 * 255)
        }),
        Format::Rgb565 => words(bytes, texels, |w| pack(widen5(w >> 11), widen6(w >> 5), widen5(w), 255)),
        Format::Rgba4 => {
            words(bytes, texels, |w| pack(widen4(w >> 12), widen4(w >> 8), widen4(w >> 4), widen4(w)));
        }
        Format::Ia8 => each(bytes, texels, |&[a, i]| pack(i, i, i, a)),
        Format::Rg8 => each(bytes, texels, |&[g, r]| pack(r, g, 0, 255)),
        Format::I8 => each(bytes, texels, |&[i]| pack(i, i, i, 255)),
        Format::A8 => each(bytes, texels, |&[a]| pack(0, 0, 0, a)),
        Format::Ia4 => each(bytes, texels, |&[ia]| {
            let i = widen4((ia >> 4).into());
            pack(i, i, i, widen4(ia.into()))
        }),
        Format::I4 => nibbles(bytes, texels, |i| pack(i, i, i, 255)),
        Format::A4 => nibbles(bytes, texels, |a| pack(0, 0, 0, a)),
        Format::Etc1 => {
            etc1(bytes.as_chunks().0.iter().map(|word| (u64::MAX, u64::from_le_bytes(*word))), texels);
        }
        Format::Etc1A4 => {
            let blocks = bytes.as_chunks().0.iter().map(|block| {
                let block = u128::from_le_bytes(*block);
                (block as u64, (block >> 64) as u64)
            });
            etc1(blocks, texels);
        }
    }
}

const fn pack(r: u8, g: u8, b: u8, a: u8) -> u32 {
    u32::from_le_bytes([r, g, b, a])
}

fn each<const N: usize>(bytes: &[u8], texels: &mut [u32; TILE], texel: impl Fn(&[u8; N]) -> u32) {
    for (bytes, &place) in bytes.as_chunks::<N>().0.iter().zip(&ROW_ORDER) {
        texels[usize::from(place)] = texel(bytes);
    }
}

fn words(bytes: &[u8], texels: &mut [u32; TILE], texel: impl Fn(u32) -> u32) {
    each(bytes, texels, |&word| texel(u16::from_le_bytes(word).into()));
}

fn nibbles(bytes: &[u8], texels: &mut [u32; TILE], texel: impl Fn(u8) -> u32) {
    for (&byte, places) in bytes.iter().zip(ROW_ORDER.as_chunks::<2>().0) {
        texels[usize::from(places[0])] = texel(widen4(byte.into()));
        texels[usize::from(places[1])] = texel(widen4((byte >> 4).into()));
    }
}

/// Four blocks, each of alphas, four bits a texel, column by column, and the word of ETC1.
fn etc1(blocks: impl Iterator<Item = (u64, u64)>, texels: &mut [u32; TILE]) {
    for (i, (alphas, word)) in blocks.enumerate().take(4) {
        let (left, top) = (4 * (i & 1), 4 * (i >> 1));
        for (y, row) in etc::pica_etc1(word).into_iter().enumerate() {
            for (x, [r, g, b, _]) in row.into_iter().enumerate() {
                let alpha = widen4((alphas >> (16 * x + 4 * y)) as u32);
                texels[8 * (top + y) + left + x] = pack(r, g, b, alpha);
            }
        }
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

    const DIFFERENTIAL: u64 = 1 << 33;
    const FLIP: u64 = 1 << 32;

    /// The rows of a tile's first block.
    fn block(word: u64, alphas: u64) -> [[[u8; 4]; 4]; 4] {
        let mut bytes = [0; 64];
        bytes[..8].copy_from_slice(&alphas.to_le_bytes());
        bytes[8..16].copy_from_slice(&word.to_le_bytes());
        let mut texels = [0; TILE];
        decode_tile(Format::Etc1A4, &bytes, &mut texels);
        core::array::from_fn(|y| core::array::from_fn(|x| texels[8 * y + x].to_le_bytes()))
    }

    #[test]
    fn individual_colors_of_two_halves() {
        // Red 1 and 2, green 3 and 4, blue 5 and 6; modifier +2 everywhere.
        let rows = block(0x1234_5600_0000_0000, u64::MAX);
        assert_eq!(rows[0][0], [0x13, 0x35, 0x57, 0xff]);
        assert_eq!(rows[3][1], rows[0][0]);
        assert_eq!(rows[0][2], [0x24, 0x46, 0x68, 0xff]);
        let flipped = block(0x1234_5600_0000_0000 | FLIP, u64::MAX);
        assert_eq!(flipped[0][3], rows[0][0]);
        assert_eq!(flipped[2][0], rows[0][2]);
    }

    #[test]
    fn modifiers_by_texel() {
        // Table 1 for the first half, 7 for the second; texel (0, 1) takes the large one, texel (2, 0) is negative.
        let word = 0x8888_8800_0000_0000 | 1 << 37 | 7 << 34 | 1 << 1 | 1 << (16 + 8);
        let rows = block(word, u64::MAX);
        assert_eq!(rows[0][0][0], 0x88 + 5);
        assert_eq!(rows[1][0][0], 0x88 + 17);
        assert_eq!(rows[0][2][0], 0x88 - 47);
        assert_eq!(rows[1][2][0], 0x88 + 47);
    }

    #[test]
    fn differential_colors_wrap_as_bytes() {
        let red = |base: u64, difference: u64| {
            let rows = block(DIFFERENTIAL | base << 59 | difference << 56, u64::MAX);
            [rows[0][0][0], rows[0][2][0]]
        };
        assert_eq!(red(16, 1), [0x84 + 2, 0x8c + 2]);
        assert_eq!(red(16, 7), [0x84 + 2, 0x7b + 2]);
        // 31 + 3 = 34: 0x110 | 8.
        assert_eq!(red(31, 3), [0xff, 0x18 + 2]);
        // 0 - 1 = 255.
        assert_eq!(red(0, 7), [2, 0xff]);
    }

    #[test]
    fn alpha_nibbles_run_down_the_columns() {
        let rows = block(0, 0xfedc_ba98_7654_3210);
        assert_eq!(rows[1][0][3], 0x11);
        assert_eq!(rows[0][1][3], 0x44);
        assert_eq!(rows[3][3][3], 0xff);
    }

    #[test]
    fn blocks_are_in_z_order() {
        let mut bytes = [0; 32];
        for block in 0..4 {
            bytes[8 * block + 7] = 0x11 * block as u8;
        }
        let mut texels = [0; TILE];
        decode_tile(Format::Etc1, &bytes, &mut texels);
        let red = |x: usize, y: usize| texels[8 * y + x] & 0xff;
        assert_eq!([red(0, 0), red(4, 0), red(0, 4), red(4, 4)], [2, 0x13, 0x24, 0x35]);
    }
}
