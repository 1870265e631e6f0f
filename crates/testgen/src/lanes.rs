//! Operands worth trying on every op, and values as words of a buffer.

use crate::rng::Rng;
use xenoglot_ir::fold::float;
use xenoglot_ir::{Bits, Kind, Type};

/// Floats at the edges of what conversions, rounding and comparisons do.
const SINGLES: [u32; 24] = [
    0,
    0x8000_0000,
    1,
    0x8000_0001,
    0x007f_ffff,
    0x0080_0000,
    0x3f00_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x4000_0000,
    0x4049_0fdb,
    0x3fff_ffff,
    0x4b00_0001,
    0x4f00_0000,
    0xcf00_0000,
    0x4f7f_ffff,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0xbfc0_0000,
    0x3fc0_0000,
    0x4020_0000,
];

const HALVES: [u64; 13] =
    [0, 0x8000, 1, 0x3ff, 0x400, 0x3c00, 0xbc00, 0x7bff, 0x7c00, 0xfc00, 0x7e00, 0x3800, 0x4248];

/// One lane of an operand: often an edge case. NaNs are canonical, as payloads are the host's choice.
pub fn sample(rng: &mut Rng, kind: Kind) -> u64 {
    let single = |rng: &mut Rng| rng.pick(&SINGLES).copied().unwrap_or(0);
    let bits = match kind {
        Kind::F32 if rng.percent(60) => u64::from(single(rng)),
        Kind::F32 if rng.percent(50) => u64::from(((rng.next_u32() as i32 >> 8) as f32 / 4096.0).to_bits()),
        Kind::F64 if rng.percent(60) => f64::from(f32::from_bits(single(rng))).to_bits(),
        Kind::F16 if rng.percent(60) => rng.pick(&HALVES).copied().unwrap_or(0),
        k if k.is_int() && rng.percent(50) => {
            let top = 1u64 << (k.bits() - 1);
            let edges = [0, 1, 2, 5, 8, 31, 32, 33, top, top - 1, u64::MAX, u64::MAX - 1, 0x80];
            rng.pick(&edges).copied().unwrap_or(0)
        }
        _ => rng.next_u64(),
    } & kind.mask();
    if kind.is_float() && float::is_nan(kind, bits) { float::nan(kind) } else { bits }
}

/// Appends a value to a buffer: a word for each lane, two for lanes of 64 bits.
pub fn push_words(to: &mut Vec<u32>, ty: Type, bits: Bits) {
    for i in 0..usize::from(ty.lanes()) {
        to.push(bits.lane(i) as u32);
        if ty.kind().bits() == 64 {
            to.push((bits.lane(i) >> 32) as u32);
        }
    }
}

/// Takes what [`push_words`] appended; lanes that the words do not reach are 0.
pub fn read_words(from: &mut impl Iterator<Item = u32>, ty: Type) -> Bits {
    let mut bits = Bits::default();
    for lane in bits.0.iter_mut().take(usize::from(ty.lanes())) {
        let mut word = || u64::from(from.next().unwrap_or(0));
        *lane = word();
        if ty.kind().bits() == 64 {
            *lane |= word() << 32;
        }
    }
    bits
}
