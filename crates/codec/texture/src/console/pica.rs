//! The PICA200: tiles of 8×8 texels in rows, in a tile Morton order with x in the even bits. The first tile is that of
//! the first rows of memory, which a console shows at the bottom. Source: `vectors/texture/FORMAT.md`.

use crate::etc;

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

/// A tile: rows of RGBA8.
type Tile = [[[u8; 4]; 8]; 8];

/// Decodes rows of tiles, of which the last may have fewer rows of texels.
pub(crate) fn decode_band(format: Format, width: usize, data: &[u8], out: &mut [u8]) {
    let bytes = format.bits() as usize * 8;
    let rows_of_tiles = data.chunks_exact(width.div_ceil(8) * bytes);
    for (tiles, rows) in rows_of_tiles.zip(out.chunks_mut(8 * width * 4)) {
        for (x, data) in tiles.chunks_exact(bytes).enumerate() {
            let tile = tile(format, data);
            let count = 4 * (width - 8 * x).min(8);
            for (row, texels) in rows.chunks_exact_mut(width * 4).zip(&tile) {
                row[32 * x..][..count].copy_from_slice(&texels.as_flattened()[..count]);
            }
        }
    }
}

fn tile(format: Format, data: &[u8]) -> Tile {
    match format {
        Format::Etc1 => etc1(data.as_chunks().0.iter().map(|block| (u64::MAX, u64::from_le_bytes(*block)))),
        Format::Etc1A4 => etc1(data.as_chunks::<16>().0.iter().map(|block| {
            let block = u128::from_le_bytes(*block);
            (block as u64, (block >> 64) as u64)
        })),
        Format::Rgba8 => morton(data, |[a, b, g, r]: [u8; 4]| [r, g, b, a]),
        Format::Rgb8 => morton(data, |[b, g, r]: [u8; 3]| [r, g, b, 255]),
        Format::Rgb5A1 => words(data, |w| [five(w >> 11), five(w >> 6), five(w >> 1), (w & 1) as u8 * 255]),
        Format::Rgb565 => words(data, |w| [five(w >> 11), six(w >> 5), five(w), 255]),
        Format::Rgba4 => words(data, |w| [four(w >> 12), four(w >> 8), four(w >> 4), four(w)]),
        Format::Ia8 => morton(data, |[a, i]: [u8; 2]| [i, i, i, a]),
        Format::Rg8 => morton(data, |[g, r]: [u8; 2]| [r, g, 0, 255]),
        Format::I8 => morton(data, |[i]: [u8; 1]| [i, i, i, 255]),
        Format::A8 => morton(data, |[a]: [u8; 1]| [0, 0, 0, a]),
        Format::Ia4 => morton(data, |[ia]: [u8; 1]| {
            let (i, a) = (four((ia >> 4).into()), four(ia.into()));
            [i, i, i, a]
        }),
        Format::I4 => nibbles(data, |i| [i, i, i, 255]),
        Format::A4 => nibbles(data, |a| [0, 0, 0, a]),
    }
}

const fn four(value: u16) -> u8 {
    (value & 0xf) as u8 * 17
}

const fn five(value: u16) -> u8 {
    ((value & 0x1f) << 3 | (value & 0x1f) >> 2) as u8
}

const fn six(value: u16) -> u8 {
    ((value & 0x3f) << 2 | (value & 0x3f) >> 4) as u8
}

/// x and y of the `i`th texel in memory.
const fn place(i: usize) -> (usize, usize) {
    (i & 1 | i >> 1 & 2 | i >> 2 & 4, i >> 1 & 1 | i >> 2 & 2 | i >> 3 & 4)
}

fn morton<const N: usize>(data: &[u8], texel: impl Fn([u8; N]) -> [u8; 4]) -> Tile {
    let mut tile = [[[0; 4]; 8]; 8];
    for (i, bytes) in data.as_chunks::<N>().0.iter().enumerate().take(64) {
        let (x, y) = place(i);
        tile[y][x] = texel(*bytes);
    }
    tile
}

fn words(data: &[u8], texel: impl Fn(u16) -> [u8; 4]) -> Tile {
    morton(data, |bytes: [u8; 2]| texel(u16::from_le_bytes(bytes)))
}

fn nibbles(data: &[u8], texel: impl Fn(u8) -> [u8; 4]) -> Tile {
    let mut tile = [[[0; 4]; 8]; 8];
    for (i, byte) in data.iter().enumerate().take(32) {
        for (half, value) in [*byte, byte >> 4].into_iter().enumerate() {
            let (x, y) = place(2 * i + half);
            tile[y][x] = texel(four(value.into()));
        }
    }
    tile
}

/// Four blocks, each of alphas, four bits a texel, column by column, and the word of ETC1.
fn etc1(blocks: impl Iterator<Item = (u64, u64)>) -> Tile {
    let mut tile = [[[0; 4]; 8]; 8];
    for (i, (alphas, word)) in blocks.enumerate().take(4) {
        let (left, top) = (4 * (i & 1), 4 * (i >> 1));
        for (y, row) in etc::etc1_texels(word).into_iter().enumerate() {
            for (x, [r, g, b, _]) in row.into_iter().enumerate() {
                let alpha = four((alphas >> (16 * x + 4 * y)) as u16);
                tile[top + y][left + x] = [r, g, b, alpha];
            }
        }
    }
    tile
}
