//! Indices of sixteen texels, packed side by side.

/// The lowest bit of each of sixteen indices of `width` bits.
pub const fn lowest_bits(width: u32) -> u64 {
    let (mut bits, mut texel) = (0, 0);
    while texel < 16 {
        bits |= 1 << (texel * width);
        texel += 1;
    }
    bits
}

/// The low two of each four bits, side by side.
#[inline(always)]
pub const fn four_to_two(spread: u64) -> u64 {
    let mut x = spread & 0x3333_3333_3333_3333;
    x = (x | x >> 2) & 0x0f0f_0f0f_0f0f_0f0f;
    x = (x | x >> 4) & 0x00ff_00ff_00ff_00ff;
    x = (x | x >> 8) & 0x0000_ffff_0000_ffff;
    (x | x >> 16) & 0xffff_ffff
}

/// The least and the greatest of the indices of `W` bits whose lowest bits are in `mask`.
#[inline(always)]
pub fn extremes<const W: usize>(indices: u64, mask: u64) -> [u8; 2] {
    let (mut least, mut most) = (u8::MAX, 0);
    for level in 0..1 << W {
        let other = indices ^ (u64::from(level) * mask);
        let is_used = (0..W).fold(0, |other_bits, bit| other_bits | other >> bit) & mask != mask;
        if is_used {
            (least, most) = (least.min(level), level);
        }
    }
    [least, most]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_index_goes_to_its_place() {
        let spread = 0x3210_0123_1302_2031;
        let expected = (0..16).fold(0, |out, texel| out | (spread >> (4 * texel) & 3) << (2 * texel));
        assert_eq!(four_to_two(spread | 0xcccc_cccc_cccc_cccc), expected);
        assert_eq!(extremes::<2>(0b11_10_01_10, 0b01_01_00_01), [2, 3]);
        assert_eq!(lowest_bits(3), 0o1_111_111_111_111_111);
    }
}
