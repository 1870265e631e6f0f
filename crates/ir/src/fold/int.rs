//! Integer ops. Lanes hold zero-extended bits; results are masked to the width.

use super::{Cx, Fault, sign_extend};
use crate::flags::DivZero;

type Folded = Result<u64, Fault>;

fn mask(cx: &Cx, v: u64) -> Folded {
    Ok(v & cx.result.kind().mask())
}

fn signed(cx: &Cx, v: u64) -> i64 {
    sign_extend(cx.arg.kind(), v)
}

fn truth(b: bool) -> Folded {
    Ok(u64::from(b))
}

macro_rules! lane {
    ($($(#[$doc:meta])* $name:ident($cx:ident, $($arg:ident),+) $body:expr;)+) => {$(
        $(#[$doc])*
        pub fn $name($cx: &Cx, args: &[u64]) -> Folded {
            let &[$($arg),+] = args else { return Err(Fault::Unsupported) };
            $body
        }
    )+};
}

/// Quotient or remainder with the op's rule for a zero divisor.
fn divide(cx: &Cx, b: u64, f: impl FnOnce() -> u64) -> Folded {
    match (b, cx.flags.div_zero()) {
        (0, DivZero::Zero | DivZero::Never) => Ok(0),
        (0, DivZero::Ones) => mask(cx, u64::MAX),
        (0, DivZero::Trap) => Err(Fault::DivisionByZero),
        _ => mask(cx, f()),
    }
}

fn width(cx: &Cx) -> u64 {
    u64::from(cx.arg.kind().bits())
}

/// Bits `offset..offset + count` of `v`, the field cut off at the top of the word; `None` if it is empty.
fn field(cx: &Cx, v: u64, offset: u64, count: u64) -> Option<(u64, u64)> {
    let count = count.min(width(cx).saturating_sub(offset));
    (count != 0).then(|| (v >> offset & (u64::MAX >> (64 - count)), count))
}

lane! {
    /// `a + b`.
    add(cx, a, b) mask(cx, a.wrapping_add(b));
    /// `a - b`.
    sub(cx, a, b) mask(cx, a.wrapping_sub(b));
    /// `a + b + c`.
    add3(cx, a, b, c) mask(cx, a.wrapping_add(b).wrapping_add(c));
    /// `a * b`.
    mul(cx, a, b) mask(cx, a.wrapping_mul(b));
    /// High half of the unsigned product.
    umulh(cx, a, b) mask(cx, ((u128::from(a) * u128::from(b)) >> width(cx)) as u64);
    /// High half of the signed product.
    imulh(cx, a, b) mask(cx, ((i128::from(signed(cx, a)) * i128::from(signed(cx, b))) >> width(cx)) as u64);
    /// Unsigned quotient.
    udiv(cx, a, b) divide(cx, b, || a / b);
    /// Signed quotient, rounded towards zero; the least value by -1 wraps.
    sdiv(cx, a, b) divide(cx, b, || signed(cx, a).wrapping_div(signed(cx, b)) as u64);
    /// Unsigned remainder.
    urem(cx, a, b) divide(cx, b, || a % b);
    /// Signed remainder with the sign of `a`.
    srem(cx, a, b) divide(cx, b, || signed(cx, a).wrapping_rem(signed(cx, b)) as u64);
    /// `-a`.
    neg(cx, a) mask(cx, a.wrapping_neg());
    /// `|a|`; the least value stays.
    abs(cx, a) mask(cx, signed(cx, a).unsigned_abs());
    /// Signed least.
    imin(cx, a, b) Ok(if signed(cx, a) < signed(cx, b) { a } else { b });
    /// Signed greatest.
    imax(cx, a, b) Ok(if signed(cx, a) > signed(cx, b) { a } else { b });
    /// Unsigned least.
    umin(_cx, a, b) Ok(a.min(b));
    /// Unsigned greatest.
    umax(_cx, a, b) Ok(a.max(b));
    /// `a + b + carry`.
    add_carry(cx, a, b, c) mask(cx, a.wrapping_add(b).wrapping_add(c));
    /// Carry out of `a + b + carry`.
    add_carry_out(cx, a, b, c) truth((u128::from(a) + u128::from(b) + u128::from(c)) >> width(cx) != 0);
    /// Signed overflow of `a + b + carry`.
    add_overflow_out(cx, a, b, c) truth({
        let sum = i128::from(signed(cx, a)) + i128::from(signed(cx, b)) + i128::from(c);
        sum != i128::from(signed(cx, sum as u64 & cx.arg.kind().mask()))
    });
    /// `a - b - borrow`.
    sub_borrow(cx, a, b, c) mask(cx, a.wrapping_sub(b).wrapping_sub(c));
    /// Borrow out of `a - b - borrow`.
    sub_borrow_out(_cx, a, b, c) truth(u128::from(a) < u128::from(b) + u128::from(c));
    /// Signed overflow of `a - b - borrow`.
    sub_overflow_out(cx, a, b, c) truth({
        let diff = i128::from(signed(cx, a)) - i128::from(signed(cx, b)) - i128::from(c);
        diff != i128::from(signed(cx, diff as u64 & cx.arg.kind().mask()))
    });
    /// `a & b`.
    and(_cx, a, b) Ok(a & b);
    /// `a | b`.
    or(_cx, a, b) Ok(a | b);
    /// `a ^ b`.
    xor(_cx, a, b) Ok(a ^ b);
    /// `!a`.
    not(cx, a) mask(cx, !a);
    /// `a << (b mod n)`.
    shl(cx, a, b) mask(cx, a << (b % width(cx)));
    /// `a >> (b mod n)`, zeros in.
    ushr(cx, a, b) Ok(a >> (b % width(cx)));
    /// `a >> (b mod n)`, signs in.
    sshr(cx, a, b) mask(cx, (signed(cx, a) >> (b % width(cx))) as u64);
    /// `a` rotated left by `b mod n`.
    rotl(cx, a, b) {
        let (n, s) = (width(cx), b % width(cx));
        mask(cx, if s == 0 { a } else { a << s | a >> (n - s) })
    };
    /// High word of `(a:b) << (c mod n)`.
    funnel_l(cx, a, b, c) {
        let (n, s) = (width(cx), c % width(cx));
        mask(cx, if s == 0 { a } else { a << s | b >> (n - s) })
    };
    /// Low word of `(a:b) >> (c mod n)`.
    funnel_r(cx, a, b, c) {
        let (n, s) = (width(cx), c % width(cx));
        mask(cx, if s == 0 { b } else { b >> s | a << (n - s) })
    };
    /// Unsigned field.
    bitfield_u(cx, v, offset, count) Ok(field(cx, v, offset, count).map_or(0, |(f, _)| f));
    /// Signed field.
    bitfield_s(cx, v, offset, count) mask(cx, match field(cx, v, offset, count) {
        Some((f, n)) => ((f << (64 - n)) as i64 >> (64 - n)) as u64,
        None => 0,
    });
    /// `v` with bits `offset..offset + count` replaced by the low bits of `new`.
    bitfield_insert(cx, v, new, offset, count) mask(cx, {
        let count = count.min(width(cx).saturating_sub(offset));
        if count == 0 { v } else {
            let m = (u64::MAX >> (64 - count)) << offset;
            v & !m | new << offset & m
        }
    });
    /// Number of ones.
    popcount(_cx, a) Ok(u64::from(a.count_ones()));
    /// Zeros above the highest one; the width for 0.
    clz(cx, a) Ok(u64::from(a.leading_zeros()) - (64 - width(cx)));
    /// Zeros below the lowest one; the width for 0.
    ctz(cx, a) Ok(u64::from(a.trailing_zeros()).min(width(cx)));
    /// Position of the highest bit that differs from the sign; all ones for 0 and -1.
    find_msb_s(cx, a) mask(cx, {
        let s = signed(cx, a);
        let m = if s < 0 { !s } else { s } as u64;
        if m == 0 { u64::MAX } else { 63 - u64::from(m.leading_zeros()) }
    });
    /// Bits in opposite order.
    reverse(cx, a) Ok(a.reverse_bits() >> (64 - width(cx)));
    /// Bytes in opposite order.
    byteswap(cx, a) Ok(a.swap_bytes() >> (64 - width(cx)));
    /// Each nibble of the selector names a byte of `b:a`, its bit 3 asks for the byte's sign instead.
    permute_bytes(cx, a, b, sel) {
        if width(cx) != 32 {
            return Err(Fault::Unsupported);
        }
        let both = a | b << 32;
        Ok((0..4).fold(0, |out, i| {
            let nibble = sel >> (4 * i) & 15;
            let byte = both >> (8 * (nibble & 7)) & 0xff;
            let byte = if nibble & 8 == 0 { byte } else if byte & 0x80 != 0 { 0xff } else { 0 };
            out | byte << (8 * i)
        }))
    };
    /// Products of signed bytes, added up.
    sdot4(cx, a, b) dot4(cx, a, b, [true, true]);
    /// Products of unsigned bytes, added up.
    udot4(cx, a, b) dot4(cx, a, b, [false, false]);
    /// Products of signed and unsigned bytes, added up.
    sudot4(cx, a, b) dot4(cx, a, b, [true, false]);
    /// Bit `4a + 2b + c` of the table for each bit position.
    lop3(cx, a, b, c, table) mask(cx, (0..8).filter(|i| table >> i & 1 == 1).fold(0, |out, i| {
        let pick = |v: u64, bit: u64| if i >> bit & 1 == 1 { v } else { !v };
        out | pick(a, 2) & pick(b, 1) & pick(c, 0)
    }));
    /// `a == b`.
    eq(_cx, a, b) truth(a == b);
    /// `a != b`.
    ne(_cx, a, b) truth(a != b);
    /// `a < b`, unsigned.
    ult(_cx, a, b) truth(a < b);
    /// `a <= b`, unsigned.
    ule(_cx, a, b) truth(a <= b);
    /// `a < b`, signed.
    slt(cx, a, b) truth(signed(cx, a) < signed(cx, b));
    /// `a <= b`, signed.
    sle(cx, a, b) truth(signed(cx, a) <= signed(cx, b));
}

/// The sum of the products of four bytes of `a` and `b`, signed or not.
fn dot4(cx: &Cx, a: u64, b: u64, signed: [bool; 2]) -> Result<u64, Fault> {
    if width(cx) != 32 {
        return Err(Fault::Unsupported);
    }
    let byte = |v: u64, i: u32, signed: bool| match (v >> (8 * i)) as u8 {
        byte if signed => i64::from(byte as i8),
        byte => i64::from(byte),
    };
    let sum = (0..4).map(|i| byte(a, i, signed[0]) * byte(b, i, signed[1])).sum::<i64>();
    mask(cx, sum as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::Flags;
    use crate::imm::Imm;
    use crate::ty::Type;

    fn cx(ty: Type) -> Cx {
        Cx { result: ty, arg: ty, flags: Flags::NONE, imm: Imm::None }
    }

    #[test]
    fn carries_chain_like_wider_addition() {
        let (a, b) = (0xffff_ffff_0000_0001u64, 0x0000_0001_ffff_ffffu64);
        let lo = add_carry(&cx(Type::I32), &[a & 0xffff_ffff, b & 0xffff_ffff, 0]).unwrap();
        let c = add_carry_out(&cx(Type::I32), &[a & 0xffff_ffff, b & 0xffff_ffff, 0]).unwrap();
        let hi = add_carry(&cx(Type::I32), &[a >> 32, b >> 32, c]).unwrap();
        assert_eq!(hi << 32 | lo, a.wrapping_add(b));
    }

    #[test]
    fn overflow_is_signed() {
        let c = cx(Type::I32);
        assert_eq!(add_overflow_out(&c, &[0x7fff_ffff, 1, 0]), Ok(1));
        assert_eq!(add_overflow_out(&c, &[0xffff_ffff, 1, 0]), Ok(0));
        assert_eq!(sub_overflow_out(&c, &[0x8000_0000, 1, 0]), Ok(1));
        assert_eq!(sub_borrow_out(&c, &[0, 0xffff_ffff, 1]), Ok(1));
    }

    #[test]
    fn fields_are_cut_off_at_the_top() {
        let c = cx(Type::I32);
        assert_eq!(bitfield_u(&c, &[0xf000_0000, 28, 32]), Ok(0xf));
        assert_eq!(bitfield_s(&c, &[0xf000_0000, 28, 32]), Ok(0xffff_ffff));
        assert_eq!(bitfield_s(&c, &[0x0000_0050, 4, 3]), Ok(0xffff_fffd));
        assert_eq!(bitfield_u(&c, &[!0 >> 32, 32, 4]), Ok(0));
        assert_eq!(bitfield_insert(&c, &[0xffff_ffff, 0, 30, 9]), Ok(0x3fff_ffff));
    }

    #[test]
    fn find_counts_from_the_sign() {
        let c = cx(Type::I32);
        assert_eq!(find_msb_s(&c, &[0xffff_ffff]), Ok(0xffff_ffff));
        assert_eq!(find_msb_s(&c, &[0xffff_fffe]), Ok(0));
        assert_eq!(clz(&cx(Type::scalar(crate::ty::Kind::I8)), &[1]), Ok(7));
        assert_eq!(ctz(&c, &[0]), Ok(32));
    }

    #[test]
    fn lop3_tables() {
        let c = cx(Type::I32);
        let (a, b, d) = (0xf0f0_1234, 0x0ff0_5678, 0x3333_9abc);
        assert_eq!(lop3(&c, &[a, b, d, 0x80]), Ok(a & b & d));
        assert_eq!(lop3(&c, &[a, b, d, 0x96]), Ok(a ^ b ^ d));
        assert_eq!(lop3(&c, &[a, b, d, 0xfe]), Ok(a | b | d));
    }

    #[test]
    fn bytes_permute() {
        let c = cx(Type::I32);
        assert_eq!(permute_bytes(&c, &[0x4433_2211, 0x8877_6655, 0x7410]), Ok(0x8855_2211));
        assert_eq!(permute_bytes(&c, &[0x80, 0, 0x0008]), Ok(0x8080_80ff));
    }
}
