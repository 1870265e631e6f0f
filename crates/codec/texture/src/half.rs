//! Halves, as the 16 bits they are.

pub const ONE: u16 = 0x3c00;

/// Infinities and NaNs have all of these.
pub const EXPONENT: u16 = 0x7c00;

/// The bit that makes a NaN a quiet one.
pub const QUIET: u16 = 0x0200;

/// `value` / 65536 truncated to a half, and 1 for 65535: how ASTC turns 16-bit results of low dynamic range to floats.
#[inline(always)]
pub const fn from_unorm16(value: u16) -> u16 {
    // From 4 / 65536 on the half is a normal number, and the single's fraction is cut short.
    let single = (value as f32 * (1.0 / 65536.0)).to_bits();
    let normal = (single >> 13).wrapping_sub(112 << 10) as u16;
    let half = if value < 4 { value << 8 } else { normal };
    if value == 0xffff { ONE } else { half }
}

/// The half that a 16-bit number of ASTC's piecewise linear approximation of a logarithm stands for.
#[inline(always)]
pub fn from_lns(value: u16) -> u16 {
    let fraction = value & 0x7ff;
    // Three lines, each the highest where it counts.
    let bent =
        (3 * fraction).max((4 * fraction).saturating_sub(512)).max((5 * fraction).saturating_sub(2048));
    ((value >> 11 << 10) + (bent >> 3)).min(0x7bff)
}

/// `half` itself, or the quiet one if it is a signalling NaN.
pub const fn quiet(half: u16) -> u16 {
    if half & 0x7fff > EXPONENT { half | QUIET } else { half }
}

/// `fraction`, of nine bits, times 2^(`exponent` - 24), of an exponent of five bits: every such number is a half.
pub const fn from_shared(fraction: u32, exponent: u32) -> u16 {
    if fraction == 0 {
        return 0;
    }
    let top = fraction.ilog2();
    // The exponent of a half whose lowest normal number has 1.
    let biased = (top + exponent) as i32 - 24 + 15;
    if biased > 0 {
        (biased as u16) << 10 | ((fraction << (10 - top)) & 0x3ff) as u16
    } else {
        (fraction << exponent) as u16
    }
}

/// The single of a half.
pub fn to_single(half: u16) -> f32 {
    let (exponent, fraction) = (u32::from(half >> 10 & 0x1f), u32::from(half & 0x3ff));
    let magnitude = match exponent {
        0 => (fraction as f32 / 16_777_216.0).to_bits(),
        31 => 0xff << 23 | fraction << 13,
        _ => (exponent + 112) << 23 | fraction << 13,
    };
    f32::from_bits(magnitude | u32::from(half >> 15) << 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of a finite half that is not negative.
    fn value(half: u16) -> f64 {
        let (exponent, fraction) = (i32::from(half >> 10), f64::from(half & 0x3ff));
        if exponent == 0 { fraction * 2f64.powi(-24) } else { (1024.0 + fraction) * 2f64.powi(exponent - 25) }
    }

    #[test]
    fn every_unorm_is_truncated() {
        for v in 0..0xffff {
            let half = from_unorm16(v);
            let exact = f64::from(v) / 65536.0;
            assert!(value(half) <= exact && value(half + 1) > exact, "{v}");
        }
        assert_eq!(from_unorm16(0xffff), ONE);
    }

    #[test]
    fn lns_rises_to_the_largest_half() {
        assert_eq!((from_lns(0), from_lns(0x7800), from_lns(0xffff)), (0, ONE, 0x7bff));
        assert!((0..0xffff).all(|v| from_lns(v) <= from_lns(v + 1)));
    }
}
