//! The z order of pixels in an 8×8 tile.

/// Pixels of a tile.
pub const TILE: usize = 64;

/// Place of the pixel `8 * y + x` of a tile: x0 y0 x1 y1 x2 y2 from bit 0.
pub const Z_ORDER: [u8; TILE] = {
    let mut table = [0; TILE];
    let mut i = 0;
    while i < TILE {
        table[i] = interleave(i as u8 & 7, i as u8 >> 3);
        i += 1;
    }
    table
};

/// Inverse of [`Z_ORDER`]: `8 * y + x` of the pixel at a place.
pub const ROW_ORDER: [u8; TILE] = {
    let mut table = [0; TILE];
    let mut i = 0;
    while i < TILE {
        table[Z_ORDER[i] as usize] = i as u8;
        i += 1;
    }
    table
};

const fn interleave(x: u8, y: u8) -> u8 {
    (x & 1) | (y & 1) << 1 | (x & 2) << 1 | (y & 2) << 2 | (x & 4) << 2 | (y & 4) << 3
}

/// Index of the pixel (`x`, `y`) of an image whose rows of tiles hold `tiles_per_row` tiles.
pub fn pixel_index(x: u32, y: u32, tiles_per_row: u32) -> u32 {
    let tile = (y / 8).wrapping_mul(tiles_per_row).wrapping_add(x / 8);
    tile.wrapping_mul(TILE as u32).wrapping_add(u32::from(Z_ORDER[((y % 8) * 8 + x % 8) as usize]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_of_a_tile() {
        assert_eq!(pixel_index(0, 0, 4), 0);
        assert_eq!(pixel_index(1, 0, 4), 1);
        assert_eq!(pixel_index(0, 1, 4), 2);
        assert_eq!(pixel_index(7, 7, 4), 63);
        assert_eq!(pixel_index(8, 0, 4), 64);
        assert_eq!(pixel_index(0, 8, 4), 256);
    }

    #[test]
    fn orders_are_inverse() {
        for i in 0..TILE {
            assert_eq!(usize::from(ROW_ORDER[usize::from(Z_ORDER[i])]), i);
        }
    }
}
