//! Endpoints of partitions: sixteen modes of two to eight values.
//!
//! The modes of low dynamic range are one computation without branches, for four partitions at once, whichever blocks
//! these are of. [`log`] has those of high dynamic range.

mod log;

use super::mode::Header;
use super::{TOGETHER, ise};
use crate::format::Profile;
use crate::lanes::chosen;
use crate::simd::Simd;

/// Partitions of which those modes are computed at a time.
const GROUP: usize = 4;

/// Room for the partitions of blocks that are decoded together, and for what is behind those of the last.
const ROOM: usize = (GROUP * (TOGETHER + 1)).next_multiple_of(log::LANES);

/// Partitions of blocks that are decoded together, block after block.
#[repr(align(64))]
pub struct Partitions {
    count: usize,
    modes: [u8; ROOM],
    /// Values of each; those behind its mode's do not count.
    values: [[u8; 8]; ROOM],
}

impl Partitions {
    pub const fn new() -> Partitions {
        Partitions { count: 0, modes: [0; ROOM], values: [[0; 8]; ROOM] }
    }

    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds a block's partitions.
    #[inline(always)]
    pub fn add(&mut self, header: &Header, packed: &ise::Packed, profile: Profile) -> Own {
        let values = ise::values(packed, header.value_levels);
        let at = self.count.min(ROOM - GROUP);
        let room = self.modes[at..at + GROUP].iter_mut().zip(&mut self.values[at..at + GROUP]);
        let (mut first, mut colors, mut alphas) = (0, 0, 0);
        // Four in any case, for a loop of a length that is known.
        for (p, (&mode, (to, own))) in header.endpoint_modes.iter().zip(room).enumerate() {
            own.copy_from_slice(&values[first..first + 8]);
            *to = mode;
            first += count(mode);
            colors |= (LOG >> mode & 1) << p;
            alphas |= (LOG_ALPHA >> mode & 1) << p;
        }
        self.count = at + usize::from(header.partitions);
        let all = (1 << header.partitions) - 1;
        let logs = match (colors & all, alphas & all) {
            (0, _) => Logs::None,
            _ if profile != Profile::Hdr => Logs::None,
            (colors, alphas) if colors & alphas == all => Logs::All,
            _ => Logs::Some,
        };
        Own { at, logs }
    }
}

/// The partitions of a block.
#[derive(Clone, Copy)]
pub struct Own {
    /// Where they are.
    at: usize,
    pub logs: Logs,
}

impl Own {
    pub const NONE: Own = Own { at: 0, logs: Logs::None };
}

/// How many of a block's components are logarithms, in the profile of high dynamic range.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Logs {
    None,
    Some,
    All,
}

/// The endpoints of [`Partitions`], as 16 bits.
#[repr(align(64))]
pub struct Endpoints {
    /// First and second, by component, by partition.
    ends: [[[u16; ROOM]; 4]; 2],
    /// All ones for what is a logarithm, by component, by partition.
    log: [[u16; ROOM]; 4],
}

impl Endpoints {
    pub const fn new() -> Endpoints {
        Endpoints { ends: [[[0; ROOM]; 4]; 2], log: [[0; ROOM]; 4] }
    }

    /// Component `c` of the partitions of a block: the first ends, the second ones, and what of them are logarithms.
    #[inline(always)]
    pub fn component(&self, c: usize, own: Own) -> [[u16; GROUP]; 3] {
        let mut out = [[0; GROUP]; 3];
        for (out, of) in out.iter_mut().zip([&self.ends[0][c], &self.ends[1][c], &self.log[c]]) {
            out.copy_from_slice(&of[own.at.min(ROOM - GROUP)..][..GROUP]);
        }
        out
    }
}

/// Modes as bits of a mask.
const fn modes(modes: &[u8]) -> u32 {
    let (mut mask, mut i) = (0, 0);
    while i < modes.len() {
        mask |= 1 << modes[i];
        i += 1;
    }
    mask
}

/// Modes whose colours are logarithms, and those whose alpha is one.
const LOG: u32 = modes(&[2, 3, 7, 11, 14, 15]);
const LOG_ALPHA: u32 = modes(&[2, 3, 7, 11, 15]);
/// Modes of a base and an offset with a sign in colours, and in alpha.
const OFFSET: u32 = modes(&[5, 9, 13]);
const OFFSET_ALPHA: u32 = modes(&[5, 13]);
/// The mode of a luminance and an offset without a sign.
const ABOVE: u32 = modes(&[1]);
/// Modes of a colour and its scale.
const SCALE: u32 = modes(&[6, 10]);
/// Modes whose ends are exchanged, and contracted towards blue, where the second is the darker one.
const CONTRACTED: u32 = modes(&[8, 9, 12, 13]);

/// The choices between what modes do.
const TOLD: [u32; 5] = [OFFSET, OFFSET_ALPHA, ABOVE, SCALE, CONTRACTED];

/// Where constants lie behind the values.
const ZERO: usize = 62;
const FULL: usize = 63;

/// Which value each component of the first end and of the second is made of.
struct Slots {
    at: u64,
    /// Ones in the bytes that are values of the partition, and no constants.
    own: u64,
}

/// By mode. Those of logarithms are opaque magenta here, which is what they are to profiles of low dynamic range.
static SLOTS: [Slots; 16] = {
    const NONE: [usize; 8] = [FULL, ZERO, FULL, FULL, FULL, ZERO, FULL, FULL];
    const SLOTS: [[usize; 8]; 16] = [
        [0, 0, 0, FULL, 1, 1, 1, FULL],
        [0, 0, 0, FULL, 1, 1, 1, FULL],
        NONE,
        NONE,
        [0, 0, 0, 2, 1, 1, 1, 3],
        [0, 0, 0, 2, 1, 1, 1, 3],
        [3, 3, 3, FULL, 0, 1, 2, FULL],
        NONE,
        [0, 2, 4, FULL, 1, 3, 5, FULL],
        [0, 2, 4, FULL, 1, 3, 5, FULL],
        [3, 3, 3, 4, 0, 1, 2, 5],
        NONE,
        [0, 2, 4, 6, 1, 3, 5, 7],
        [0, 2, 4, 6, 1, 3, 5, 7],
        NONE,
        NONE,
    ];
    let mut slots = [const { Slots { at: 0, own: 0 } }; 16];
    let mut mode = 0;
    while mode < 16 {
        let mut i = 0;
        while i < 8 {
            let at = SLOTS[mode][i];
            slots[mode].at |= (at as u64) << (8 * i);
            if at < 8 {
                slots[mode].own |= 1 << (8 * i);
            }
            i += 1;
        }
        mode += 1;
    }
    slots
};

/// From eight bytes a partition to four partitions a component.
static BY_COMPONENT: [u8; 32] = {
    let mut at = [0; 32];
    let mut i = 0;
    while i < 32 {
        at[i] = (i % 4 * 8 + i / 4) as u8;
        i += 1;
    }
    at
};

/// Endpoints of all partitions. In profiles of low dynamic range, modes of high ones are the error colour.
#[inline(always)]
pub fn endpoints<S: Simd>(simd: S, of: &Partitions, profile: Profile, out: &mut Endpoints) {
    let hdr = profile == Profile::Hdr;
    let (modes, values) = (of.modes.as_chunks().0, of.values.as_chunks().0);
    for (group, (modes, values)) in modes.iter().zip(values).enumerate().take(of.count.div_ceil(GROUP)) {
        if !hdr || modes.iter().any(|mode| LOG >> mode & 1 == 0) {
            low(simd, modes, values, profile, GROUP * group, out);
        }
    }
    if !hdr {
        return;
    }
    let (modes, values) = (of.modes.as_chunks().0, of.values.as_chunks().0);
    for (group, (modes, values)) in modes.iter().zip(values).enumerate().take(of.count.div_ceil(log::LANES)) {
        log::endpoints(simd, modes, values, log::LANES * group, out);
    }
}

/// Values of a mode.
#[inline(always)]
const fn count(mode: u8) -> usize {
    2 * (mode as usize / 4 + 1)
}

#[inline(always)]
fn low<S: Simd>(
    simd: S,
    modes: &[u8; GROUP],
    values: &[[u8; 8]; GROUP],
    profile: Profile,
    first: usize,
    out: &mut Endpoints,
) {
    let mut slots = [0; 32];
    for (i, (slots, &mode)) in slots.as_chunks_mut().0.iter_mut().zip(modes).enumerate() {
        let Slots { at, own } = &SLOTS[usize::from(mode) % 16];
        *slots = (at + own * (8 * i) as u64).to_le_bytes();
    }
    let mut table = [0; 64];
    table[..32].copy_from_slice(values.as_flattened());
    table[FULL] = 255;
    let picked = simd.pick(&table, &slots);
    table[..32].copy_from_slice(&picked);
    let slots = simd.pick(&table, &BY_COMPONENT);
    let (mut x, mut y) = ([0u16; LANES], [0u16; LANES]);
    for i in 0..LANES {
        (x[i], y[i]) = (u16::from(slots[i]), u16::from(slots[LANES + i]));
    }
    let mut told = [[0; 4]; TOLD.len()];
    for p in 0..4 {
        let mode = u32::from(modes[p]) & 15;
        for (told, modes) in told.iter_mut().zip(TOLD) {
            told[p] = ((modes >> mode & 1) as u16).wrapping_neg();
        }
    }
    let [offset, offset_alpha, above, scale, contracted] = told;
    let (offset, above, scale) =
        (lanes([offset, offset, offset, offset_alpha]), colors(above), colors(scale));

    let (mut a, mut b) = ([0i16; LANES], [0i16; LANES]);
    for i in 0..LANES {
        let (x, y) = (x[i], y[i]);
        // A base of eight bits, the highest of which is the offset's, and an offset of six bits.
        let base = x >> 1 | y & 0x80;
        let top = base.wrapping_add(y >> 1 & 0x3f ^ 0x20).wrapping_sub(0x20);
        let (first, second) = (chosen(offset[i], base, x), chosen(offset[i], top, y));
        let first = chosen(scale[i], x.wrapping_mul(y) >> 8, first);
        let base = x >> 2 | y & 0xc0;
        a[i] = chosen(above[i], base, first) as i16;
        b[i] = chosen(above[i], base + (y & 0x3f), second) as i16;
    }
    let mut darker = [0; 4];
    for p in 0..4 {
        let way = |c: usize| b[4 * c + p].wrapping_sub(a[4 * c + p]);
        darker[p] = (way(0).wrapping_add(way(1)).wrapping_add(way(2)) >> 15) & contracted[p] as i16;
    }
    let darker = lanes([darker; 4]);
    for i in 0..LANES {
        let difference = (a[i] ^ b[i]) & darker[i];
        (a[i], b[i]) = (a[i] ^ difference, b[i] ^ difference);
    }
    for (end, out) in [a, b].iter().zip(&mut out.ends) {
        let mut blue = [0; 4];
        blue.copy_from_slice(&end[8..12]);
        let blue = lanes([blue; 4]);
        let mut wide = [0; LANES];
        for i in 0..LANES {
            // Red and green.
            let towards = if i < 8 { blue[i].wrapping_sub(end[i]) >> 1 & darker[i] } else { 0 };
            let byte = end[i].wrapping_add(towards).clamp(0, 255) as u16;
            wide[i] = if profile == Profile::Srgb { byte << 8 | 0x80 } else { byte.wrapping_mul(257) };
        }
        for (out, wide) in out.iter_mut().zip(wide.as_chunks::<GROUP>().0) {
            out[first..first + GROUP].copy_from_slice(wide);
        }
    }
}

/// Four components of four partitions.
const LANES: usize = 16;

#[inline(always)]
fn lanes<T: Copy + Default>(components: [[T; 4]; 4]) -> [T; LANES] {
    let mut out = [T::default(); LANES];
    out.copy_from_slice(components.as_flattened());
    out
}

/// The same for all components but alpha, which has nothing.
#[inline(always)]
fn colors(of: [u16; 4]) -> [u16; LANES] {
    lanes([of, of, of, [0; 4]])
}
