//! Void extents: blocks of one colour, which may say that their surroundings have it too.

use super::Footprint;
use super::blend::Color;
use crate::format::Profile;
use crate::half;

/// The colour, as bits of the output; nothing for an illegal block. The extent is checked and not used.
pub fn constant(bits: u128, footprint: Footprint, profile: Profile) -> Option<Color> {
    let axis = |at: u32, width: u32| {
        let mask = (1 << width) - 1;
        ((bits >> at) as u32 & mask, (bits >> (at + width)) as u32 & mask, mask)
    };
    let reserved = footprint.depth == 1 && bits as u32 >> 10 & 3 != 3;
    let axes = match footprint.depth {
        1 => [axis(12, 13), axis(38, 13), axis(38, 13)],
        _ => [axis(10, 9), axis(28, 9), axis(46, 9)],
    };
    let everywhere = axes.iter().all(|&(low, high, mask)| low == mask && high == mask);
    if reserved || !everywhere && axes.iter().any(|&(low, high, _)| low >= high) {
        return None;
    }
    let components: [u16; 4] = core::array::from_fn(|c| (bits >> (64 + 16 * c)) as u16);
    if bits >> 9 & 1 != 0 {
        return (profile == Profile::Hdr).then(|| components.map(half::quiet));
    }
    Some(match profile {
        Profile::LdrUnorm8 | Profile::Srgb => components.map(|c| c >> 8),
        Profile::LdrFloat16 | Profile::Hdr => components.map(half::from_unorm16),
    })
}
