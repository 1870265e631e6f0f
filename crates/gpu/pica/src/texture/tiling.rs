//! The z order of pixels in an 8×8 tile.

pub use xenoglot_texture::console::pica::{ROW_ORDER, TILE};

/// Inverse of [`ROW_ORDER`]: the place of the pixel `8 * y + x` of a tile, x0 y0 x1 y1 x2 y2 from bit 0.
pub const Z_ORDER: [u8; TILE] = {
    let mut table = [0; TILE];
    let mut i = 0;
    while i < TILE {
        table[ROW_ORDER[i] as usize] = i as u8;
        i += 1;
    }
    table
};

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
    fn places_interleave_coordinates() {
        for (i, &place) in Z_ORDER.iter().enumerate() {
            let bit = |value: usize, bit: usize| (value >> bit & 1) << (2 * bit);
            let (x, y) = (i % 8, i / 8);
            let expected = (0..3).map(|b| bit(x, b) | bit(y, b) << 1).sum::<usize>();
            assert_eq!(usize::from(place), expected);
        }
    }
}
