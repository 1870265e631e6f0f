//! Ericsson texture compression: four blocks of 4×4 texels per tile, in z order.

use super::format::{pack, widen4, widen5};
use super::tiling::TILE;

/// Small and large modifier of each table.
const MODIFIERS: [[i16; 2]; 8] =
    [[2, 8], [5, 17], [9, 29], [13, 42], [18, 60], [24, 80], [33, 106], [47, 183]];

/// Decodes the blocks of a tile; blocks that are not complete leave their texels as they are.
pub(super) fn decode_tile(bytes: &[u8], alpha: bool, texels: &mut [u32; TILE]) {
    for block in 0..4 {
        let origin = block / 2 * 32 + block % 2 * 4;
        let words = if alpha {
            word(bytes, 2 * block).zip(word(bytes, 2 * block + 1))
        } else {
            word(bytes, block).map(|colors| (u64::MAX, colors))
        };
        if let Some((alphas, colors)) = words {
            decode_block(colors, alphas, &mut texels[origin..]);
        }
    }
}

fn word(bytes: &[u8], index: usize) -> Option<u64> {
    bytes.as_chunks::<8>().0.get(index).map(|&bytes| u64::from_le_bytes(bytes))
}

/// Decodes one block to the rows `texels[0..4]`, `texels[8..12]` and so on.
fn decode_block(word: u64, alphas: u64, texels: &mut [u32]) {
    let bits = |lo: u32, count: u32| (word >> lo) as u32 & ((1 << count) - 1);
    let flip = bits(32, 1) != 0;
    let bases = base_colors(word);
    let tables = [MODIFIERS[bits(37, 3) as usize], MODIFIERS[bits(34, 3) as usize]];
    for x in 0..4usize {
        for y in 0..4usize {
            let texel = 4 * x + y;
            let half = usize::from(if flip { y >= 2 } else { x >= 2 });
            let magnitude = tables[half][(word >> texel) as usize & 1];
            let modifier = if word >> (16 + texel) & 1 != 0 { -magnitude } else { magnitude };
            let [r, g, b] = bases[half].map(|c| (i16::from(c) + modifier).clamp(0, 255) as u8);
            texels[8 * y + x] = pack(r, g, b, widen4((alphas >> (4 * texel)) as u32));
        }
    }
}

/// Colours of the two halves of a block.
fn base_colors(word: u64) -> [[u8; 3]; 2] {
    let differential = word >> 33 & 1 != 0;
    let channel = |lo: u32| {
        let byte = (word >> lo) as u8;
        if !differential {
            return [widen4(u32::from(byte >> 4)), widen4(u32::from(byte))];
        }
        let base = byte >> 3;
        let difference = ((byte << 5) as i8 >> 5) as u8;
        // A sum outside of 5 bits is kept as a byte and widened as one.
        let sum = base.wrapping_add(difference);
        [widen5(u32::from(base)), sum << 3 | sum >> 2]
    };
    let (r, g, b) = (channel(56), channel(48), channel(40));
    [[r[0], g[0], b[0]], [r[1], g[1], b[1]]]
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFFERENTIAL: u64 = 1 << 33;
    const FLIP: u64 = 1 << 32;

    fn block(word: u64, alphas: u64) -> [[[u8; 4]; 4]; 4] {
        let mut texels = [0; TILE];
        decode_block(word, alphas, &mut texels);
        std::array::from_fn(|y| std::array::from_fn(|x| texels[8 * y + x].to_le_bytes()))
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
        decode_tile(&bytes, false, &mut texels);
        let red = |x: usize, y: usize| texels[8 * y + x] & 0xff;
        assert_eq!([red(0, 0), red(4, 0), red(0, 4), red(4, 4)], [2, 0x13, 0x24, 0x35]);
    }
}
