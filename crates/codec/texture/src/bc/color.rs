//! The colours of BC1, BC2 and BC3: two of 5:6:5 bits, and two between them.

/// Numerators of 255 / 186 and 255 / 378 over 65536: sixths of five and six bits to eight. Alpha is not scaled.
pub const SCALE: [u32; 4] = [89_848, 44_211, 89_848, 0];
const HALF: u32 = 0x8000;

/// A palette: sixths of the first and second colour, and what is added before the shift by 16.
pub struct Palette {
    pub first: [u32; 4],
    pub second: [u32; 4],
    pub bias: [[u32; 4]; 4],
}

const OPAQUE: [u32; 4] = [HALF, HALF, HALF, 255 << 16];
const TRANSPARENT: [u32; 4] = [HALF, HALF, HALF, 0];

pub const FOUR: Palette = Palette { first: [6, 0, 4, 2], second: [0, 6, 2, 4], bias: [OPAQUE; 4] };
pub const THREE: Palette =
    Palette { first: [6, 0, 3, 0], second: [0, 6, 3, 0], bias: [OPAQUE, OPAQUE, OPAQUE, TRANSPARENT] };

/// A BC1 block: three colours and transparent black where the first is not above the second.
#[inline(always)]
pub fn bc1(block: u64) -> [u32; 16] {
    let four = block as u16 > (block >> 16) as u16;
    texels(block, if four { &FOUR } else { &THREE })
}

/// The colours of a BC2 or BC3 block.
#[inline(always)]
pub fn four_colors(block: u64) -> [u32; 16] {
    texels(block, &FOUR)
}

#[inline(always)]
fn texels(block: u64, palette: &Palette) -> [u32; 16] {
    let (a, b) = (components(block as u32), components((block >> 16) as u32));
    let mut colors = [0; 4];
    for (k, color) in colors.iter_mut().enumerate() {
        for c in 0..4 {
            let sixths = a[c] * palette.first[k] + b[c] * palette.second[k];
            *color |= ((sixths * SCALE[c] + palette.bias[k][c]) >> 16) << (8 * c);
        }
    }
    let [p0, p1, p2, p3] = colors;
    let (low, high) = (p0 ^ p1, p2 ^ p3);
    let indices = (block >> 32) as u32;
    let mut out = [0; 16];
    // Selected by masks, which vectorise, and not from a table, which does not.
    for (i, texel) in out.iter_mut().enumerate() {
        let index = indices >> (2 * i);
        let (odd, upper) = (0u32.wrapping_sub(index & 1), 0u32.wrapping_sub(index >> 1 & 1));
        let (lower, higher) = (p0 ^ low & odd, p2 ^ high & odd);
        *texel = lower & !upper | higher & upper;
    }
    out
}

#[inline(always)]
fn components(color: u32) -> [u32; 4] {
    [color >> 11 & 0x1f, color >> 5 & 0x3f, color & 0x1f, 0]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair of values of a component is the exact fraction, rounded.
    #[test]
    fn fractions_are_exact() {
        for (c, max, shift) in [(0, 31u32, 11), (1, 63, 5), (2, 31, 0)] {
            for (a, b) in (0..=max).flat_map(|a| (0..=max).map(move |b| (a, b))) {
                let block = u64::from(a << shift) | u64::from(b << shift) << 16 | 0xe4 << 32;
                let exact = |n: u32, d: u32| (510 * n + d * max) / (2 * d * max);
                let got = |texels: [u32; 16], i: usize| texels[i] >> (8 * c) & 0xff;
                let four = four_colors(block);
                for (i, n) in [3 * a, 3 * b, 2 * a + b, a + 2 * b].into_iter().enumerate() {
                    assert_eq!(got(four, i), exact(n, 3), "{a} {b} {i}");
                }
                if a <= b {
                    assert_eq!(got(bc1(block), 2), exact(a + b, 2), "{a} {b}");
                    assert_eq!(bc1(block)[3], 0);
                }
            }
        }
    }
}
