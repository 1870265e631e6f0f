//! UASTC to ASTC: the same endpoints and weights, packed otherwise.

use super::uastc::{self, Components, Layout, MODES};
use super::unpack::{endpoints_of, field, for_mode, indices, indices_of_planes, second, values};
use crate::astc::ise::{self, Levels};
use crate::simd::Portable;

/// The block of ASTC of 4x4, low dynamic range, with the texels of a block of UASTC. For an illegal one it is a reserved
/// block: both decode to magenta.
pub fn uastc_to_astc(block: &[u8; 16]) -> [u8; 16] {
    let bits = u128::from_le_bytes(*block);
    let found = match uastc::mode_of(block) {
        uastc::SOLID => Some(solid(uastc::color_of_solid(bits))),
        mode => for_mode!(mode, M => interpolated::<M>(bits)),
    };
    found.unwrap_or(0).to_le_bytes()
}

/// A void extent without an extent.
fn solid(color: [u8; 4]) -> u128 {
    const HEADER: u128 = 0xffff_ffff_ffff_fdfc;
    let component = |(i, c): (usize, u8)| (u128::from(c) * 257) << (64 + 16 * i);
    color.into_iter().enumerate().map(component).fold(HEADER, |all, bits| all | bits)
}

/// A block of mode `M`; nothing for one that is an error.
fn interpolated<const M: usize>(bits: u128) -> Option<u128> {
    let (layout, mode) = const { (Layout::of(M), &MODES[M]) };
    let pattern = uastc::patterns(M).get(field(bits, layout.pattern, layout.pattern_bits))?;
    let mut values = values::<M>(bits)?;
    // A grid of a weight for each texel, by the bits of a weight and the number of planes.
    let block_mode: u128 = match (mode.weight_bits, mode.dual) {
        (1, _) => 1089,
        (2, true) => 1090,
        (2, false) => 66,
        (3, _) => 83,
        (4, _) => 578,
        _ => 595,
    };
    let endpoint_mode: u128 = match mode.components {
        Components::La => 4,
        Components::Rgb => 8,
        Components::Rgba => 12,
    };
    let (mut out, values_at) = match mode.subsets {
        1 => (block_mode | endpoint_mode << 13, 17),
        subsets => {
            let partitions = u128::from(subsets - 1) << 11 | u128::from(pattern.astc) << 13;
            // All partitions have one mode.
            (block_mode | partitions | endpoint_mode << 25, 29)
        }
    };
    // The subsets whose ends are to change places: ASTC takes a darker second end for a sign that blue is contracted.
    let turned = endpoints_of::<M>(&values).map(|ends| {
        let [low, high] = ends.map(|[r, g, b, _]| u32::from(r) + u32::from(g) + u32::from(b));
        mode.components != Components::La && low > high
    });
    let each = mode.components.values();
    let count = each * usize::from(mode.subsets);
    for (subset, values) in values.chunks_exact_mut(each).take(mode.subsets.into()).enumerate() {
        if turned[subset] {
            values.as_chunks_mut::<2>().0.iter_mut().for_each(|ends| ends.reverse());
        }
    }
    let levels = const { ise::LEVELS[MODES[M].levels as usize] };
    out |= packed(levels, values.get(..count).unwrap_or_default()) << values_at;
    // Weights lie from the highest bit down, those of both planes of a texel side by side.
    let planes = match mode.dual {
        true => indices_of_planes::<_, M>(Portable, bits),
        false => [indices::<_, M>(Portable, bits, pattern.anchors), [0; 16]],
    };
    let (width, top) = (u32::from(mode.weight_bits), (1 << mode.weight_bits) - 1);
    let (mut weights, mut at) = (0u128, 0);
    for texel in 0..16 {
        for plane in planes.iter().take(1 + usize::from(mode.dual)) {
            let weight = if turned[pattern.subset(texel)] { top - plane[texel] } else { plane[texel] };
            weights |= u128::from(weight) << at;
            at += width;
        }
    }
    if mode.dual {
        out |= (second::<M>(bits) as u128) << (128 - at - 2);
    }
    Some(out | weights.reverse_bits())
}

/// Values as an integer sequence.
fn packed(levels: Levels, values: &[u8]) -> u128 {
    let width = levels.low_bits();
    let low = |value: u8| u128::from(value) & ((1 << width) - 1);
    let (mut bits, mut at) = (0u128, 0);
    let (group, codes, widths): (usize, &[u8], &[u32]) = match levels.radix() {
        3 => (5, &TRIT_CODES, &ise::TRIT_BITS),
        5 => (3, &QUINT_CODES, &ise::QUINT_BITS),
        _ => (1, &[0], &[0]),
    };
    for values in values.chunks(group) {
        // Digits behind the last value are zeros, whose bits are, too.
        let digits = values
            .iter()
            .rev()
            .fold(0, |all, &v| all * levels.radix() as usize + usize::from(v >> (width % 8)));
        let mut shared =
            if levels.radix() == 1 { 0 } else { u128::from(codes.get(digits).copied().unwrap_or(0)) };
        for (&value, &share) in values.iter().zip(widths) {
            bits |= (low(value) | (shared & ((1 << share) - 1)) << width) << at;
            at += width + share;
            shared >>= share;
        }
    }
    bits
}

/// The lowest number that five digits of three can share, by those digits, the first of which counts ones.
static TRIT_CODES: [u8; 243] = {
    let mut table = [0; 243];
    let mut code = 256;
    while code > 0 {
        code -= 1;
        let digits = ise::TRITS[code].to_le_bytes();
        let mut at = 0;
        let mut i = 5;
        while i > 0 {
            i -= 1;
            at = at * 3 + digits[i] as usize;
        }
        table[at] = code as u8;
    }
    table
};

/// The same of three digits of five.
static QUINT_CODES: [u8; 125] = {
    let mut table = [0; 125];
    let mut code = 128;
    while code > 0 {
        code -= 1;
        let digits = ise::QUINTS[code].to_le_bytes();
        table[digits[0] as usize + 5 * digits[1] as usize + 25 * digits[2] as usize] = code as u8;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::astc::Footprint;
    use crate::{Extent, Format, Profile, decode_into};
    use xenoglot_testgen::rng::Rng;

    /// Random blocks, which are of every mode and some of none, have the same texels as UASTC and as ASTC.
    #[test]
    fn texels_are_the_same() {
        let mut rng = Rng::new(7);
        let footprint = Footprint::new(4, 4, 1).unwrap();
        let (mut uastc, mut astc) = ([0; 64], [0; 64]);
        let mut legal = 0;
        for _ in 0..20_000 {
            let block: [u8; 16] = core::array::from_fn(|_| rng.next_u32() as u8);
            let extent = Extent::flat(4, 4);
            decode_into(Format::Uastc, extent, &block, &mut uastc).unwrap();
            let format = Format::Astc(footprint, Profile::LdrUnorm8);
            decode_into(format, extent, &uastc_to_astc(&block), &mut astc).unwrap();
            assert_eq!(uastc, astc, "{block:02x?}");
            legal += u32::from(uastc[..4] != [255, 0, 255, 255]);
        }
        assert!(legal > 15_000, "{legal}");
    }
}
