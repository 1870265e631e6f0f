//! The colours of BC1, BC2 and BC3: two of 5:6:5 bits, and two between them.

use crate::simd::Simd;

/// Numerators of 255 / 186 and 255 / 378 over 65536: sixths of five and six bits to eight.
pub const SCALE_5: u32 = 89_848;
pub const SCALE_6: u32 = 44_211;
const HALF: u32 = 0x8000;

/// The four colours of a block.
pub type Palette = [u32; 4];

/// The palette of two colours: four colours where `FOUR` or the first is above the second, else three and black, which is
/// transparent where `ALPHA`.
#[inline(always)]
pub fn palette<const FOUR: bool, const ALPHA: bool>(colors: u32) -> Palette {
    let (first, second) = (colors & 0xffff, colors >> 16);
    let four = FOUR || first > second;
    let last_alpha = if four || !ALPHA { 0xff00_0000 } else { 0 };
    let mut palette = [0xff00_0000, 0xff00_0000, 0xff00_0000, last_alpha];
    for (shift, max, scale, to) in [(11, 0x1f, SCALE_5, 0), (5, 0x3f, SCALE_6, 8), (0, 0x1f, SCALE_5, 16)] {
        let (a, b) = ((first >> shift & max) * scale, (second >> shift & max) * scale);
        let third = if four { 4 * a + 2 * b } else { 3 * (a + b) };
        let fourth = if four { 2 * a + 4 * b } else { 0 };
        palette[0] |= (6 * a + HALF) >> 16 << to;
        palette[1] |= (6 * b + HALF) >> 16 << to;
        palette[2] |= (third + HALF) >> 16 << to;
        palette[3] |= (fourth + HALF) >> 16 << to;
    }
    palette
}

/// The texels, by indices of two bits.
#[inline(always)]
pub fn texels<S: Simd>(simd: S, indices: u32, [a, b, c, d]: Palette) -> [u32; 16] {
    simd.pick16(&[a, b, c, d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &simd.fields(indices.into(), 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair of values of a component is the exact fraction, rounded.
    #[test]
    fn fractions_are_exact() {
        for (c, max, shift) in [(0, 31u32, 11), (1, 63, 5), (2, 31, 0)] {
            for (a, b) in (0..=max).flat_map(|a| (0..=max).map(move |b| (a, b))) {
                let colors = a << shift | b << shift << 16;
                let exact = |n: u32, d: u32| (510 * n + d * max) / (2 * d * max);
                let got = |palette: Palette, i: usize| palette[i] >> (8 * c) & 0xff;
                let four = palette::<true, true>(colors);
                for (i, n) in [3 * a, 3 * b, 2 * a + b, a + 2 * b].into_iter().enumerate() {
                    assert_eq!(got(four, i), exact(n, 3), "{a} {b} {i}");
                }
                let opaque = palette::<false, false>(colors);
                let transparent = palette::<false, true>(colors);
                if a <= b {
                    assert_eq!(got(transparent, 2), exact(a + b, 2), "{a} {b}");
                    assert_eq!((transparent[3], opaque[3]), (0, 0xff00_0000));
                    assert_eq!(transparent[..3], opaque[..3]);
                } else {
                    assert_eq!((transparent, opaque), (four, four));
                }
            }
        }
    }
}
