//! Partitions of UASTC as those of BC7.

use super::super::uastc;
use super::indices::lowest_bits;
use crate::bc::partition::{ANCHOR_OF_TWO, ANCHORS_OF_THREE, THREE as THREE_SUBSETS, TWO as TWO_SUBSETS};

/// A pattern of `G` subsets in UASTC, and the same partition of `N` subsets in BC7.
#[derive(Clone, Copy)]
pub struct Pattern<const G: usize, const N: usize> {
    /// BC7's number of the partition.
    pub partition: u8,
    /// The subset of UASTC that each subset of BC7 is, or is part of.
    pub given: [u8; N],
    /// The texels whose weights lack the highest bit in UASTC, in rising order.
    pub given_anchors: [u8; G],
    /// The texels whose indices lack the highest bit in BC7, in rising order.
    pub anchors: [u8; N],
    /// The subsets of BC7 that those texels are in.
    pub anchored: [u8; N],
    /// The lowest bits of the indices of each subset of BC7.
    pub masks: [u64; N],
}

/// Of modes 4, 9 and 16.
pub const TWO: [Pattern<2, 2>; 30] = all(&uastc::TWO, 2);

/// Of mode 2.
pub const TWO_OF_THREE_BITS: [Pattern<2, 2>; 30] = all(&uastc::TWO, 3);

/// Of mode 3.
pub const THREE: [Pattern<3, 3>; 11] = all(&uastc::THREE, 2);

/// Of mode 7: one of three subsets of BC7 has the end points of another.
pub const SEVEN: [Pattern<2, 3>; 19] = all(&uastc::SEVEN, 2);

/// Of mode 1: both subsets of BC7 have the same end points.
pub const WHOLE: [Pattern<1, 2>; 1] = all(&[uastc::ONE], 2);

/// Patterns for indices of `width` bits.
const fn all<const G: usize, const N: usize, const L: usize>(
    patterns: &[uastc::Pattern; L],
    width: u32,
) -> [Pattern<G, N>; L] {
    let mut out = [Pattern {
        partition: 0,
        given: [0; N],
        given_anchors: [0; G],
        anchors: [0; N],
        anchored: [0; N],
        masks: [0; N],
    }; L];
    let mut i = 0;
    while i < L {
        out[i] = found(&patterns[i], width);
        i += 1;
    }
    out
}

/// The first partition of BC7 none of whose subsets has texels of two subsets of UASTC.
const fn found<const G: usize, const N: usize>(pattern: &uastc::Pattern, width: u32) -> Pattern<G, N> {
    let mut partition = 0;
    while partition < 64 {
        let subsets = if N == 2 { TWO_SUBSETS[partition] } else { THREE_SUBSETS[partition] };
        let (mut given, mut masks, mut fits) = ([u8::MAX; N], [0; N], true);
        let mut texel = 0;
        while texel < 16 {
            let (subset, theirs) = ((subsets >> (2 * texel) & 3) as usize, pattern.subset(texel) as u8);
            fits &= given[subset] == u8::MAX || given[subset] == theirs;
            given[subset] = theirs;
            masks[subset] |= lowest_bits(width) & 1 << (texel as u32 * width);
            texel += 1;
        }
        if fits {
            let (mut anchors, mut anchored) = ([0; N], [0; N]);
            let mut i = 1;
            while i < N {
                anchors[i] =
                    if N == 2 { ANCHOR_OF_TWO[partition] } else { ANCHORS_OF_THREE[partition][i - 1] };
                anchored[i] = (subsets >> (2 * anchors[i]) & 3) as u8;
                i += 1;
            }
            let given_anchors = given_anchors(pattern.anchors);
            return Pattern { partition: partition as u8, given, given_anchors, anchors, anchored, masks };
        }
        partition += 1;
    }
    panic!("a pattern of UASTC that BC7 does not have");
}

/// The texels of `bits`, in rising order.
const fn given_anchors<const G: usize>(bits: u16) -> [u8; G] {
    let (mut out, mut count, mut texel) = ([0; G], 0, 0);
    while texel < 16 {
        if bits >> texel & 1 == 1 {
            out[count] = texel;
            count += 1;
        }
        texel += 1;
    }
    out
}
