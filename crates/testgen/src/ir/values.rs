//! Constants and input words worth trying.

use crate::rng::Rng;
use xenoglot_ir::fold::float;
use xenoglot_ir::{Bits, Kind, Type};

/// The bits of `x` as a float of `kind`; exact for the numbers used here.
fn float_bits(kind: Kind, x: f64) -> u64 {
    match kind {
        Kind::F16 => xenoglot_ir::fold::convert::f16_bits(x),
        Kind::F64 => x.to_bits(),
        _ => (x as f32).to_bits().into(),
    }
}

/// Below this magnitude results are replaced by zeros where there are to be no denormals. Its square is normal.
pub(super) fn least(kind: Kind) -> u64 {
    let exponent = match kind {
        Kind::F16 => -7,
        Kind::F64 => -500,
        _ => -60,
    };
    float_bits(kind, 2f64.powi(exponent))
}

/// One lane of a constant or of an input. NaNs are canonical; without `denormals` floats are zeros or at least
/// [`least`].
pub(super) fn interesting(rng: &mut Rng, kind: Kind, denormals: bool) -> u64 {
    let mask = kind.mask();
    if kind == Kind::Bool {
        return rng.next_u64() & 1;
    }
    if kind.is_int() {
        return mask
            & match rng.below(10) {
                0 => 0,
                1 => 1,
                2 => u64::MAX,
                3 => mask >> 1,
                4 => mask ^ mask >> 1,
                5 => 1 << rng.below(kind.bits()),
                6 | 7 => u64::from(rng.below(16)),
                _ => rng.next_u64(),
            };
    }
    let small = f64::from(rng.below(2001)) - 1000.0;
    match rng.below(16) {
        0 => 0,
        1 => float_bits(kind, -0.0),
        2 => float_bits(kind, 1.0),
        3 => float_bits(kind, f64::INFINITY),
        4 => float_bits(kind, f64::NEG_INFINITY),
        5 => float::nan(kind),
        6 => least(kind),
        7 => float_bits(kind, if kind == Kind::F16 { 65504.0 } else { 2f64.powi(120) * 1.75 }),
        8 if denormals => rng.next_u64() & mask >> 9,
        9 if denormals => mask >> 9 << 1 | 1,
        8..=11 => float_bits(kind, small / 8.0),
        _ => float_bits(kind, (small / 200.0).round()),
    }
}

/// A constant of type `ty`.
pub(super) fn constant(rng: &mut Rng, ty: Type, denormals: bool) -> Bits {
    let mut bits = Bits::default();
    for lane in bits.0.iter_mut().take(ty.lanes().into()) {
        *lane = interesting(rng, ty.kind(), denormals);
    }
    bits
}
