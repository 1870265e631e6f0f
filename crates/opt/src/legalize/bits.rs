//! Funnels, fields, counts and permutations of bits.
//!
//! Shifts of the IR count modulo the width, so that nothing here shifts too far. Hosts count and reverse bits of 32-bit
//! integers, if at all.

use super::code::Code;
use smallvec::SmallVec;
use xenoglot_ir::{Kind, Op, Type, Value};

/// High word of `(x:y) << n`, or low word of `(x:y) >> n`.
pub(super) fn funnel(c: &mut Code, is_left: bool, x: Value, y: Value, n: Value) -> Value {
    let ty = c.ty(x);
    let top = u64::from(ty.kind().bits() - 1);
    let (near, far, kept, moved) =
        if is_left { (Op::Shl, Op::Ushr, x, y) } else { (Op::Ushr, Op::Shl, y, x) };
    if let Some(n) = c.uniform(n) {
        let n = n & top;
        if n == 0 {
            return kept;
        }
        let kept = c.op_number(near, kept, n);
        let moved = c.op_number(far, moved, top + 1 - n);
        return c.op(Op::Or, &[kept, moved]);
    }
    // The other word moves by `width - n`, in two steps, since that may be the width.
    let rest = c.op_number(Op::Xor, n, top);
    let kept = c.op(near, &[kept, n]);
    let moved = c.op_number(far, moved, 1);
    let moved = c.op(far, &[moved, rest]);
    c.op(Op::Or, &[kept, moved])
}

/// A field of constant place: offset, and count cut off at the top of the word.
fn constant_field(c: &Code, ty: Type, offset: Value, count: Value) -> Option<(u64, u64)> {
    let (offset, count) = (c.uniform(offset)?, c.uniform(count)?);
    Some((offset, count.min(u64::from(ty.kind().bits()).saturating_sub(offset))))
}

/// Whether hosts with instructions for fields have one for this.
pub(super) fn is_host_field(c: &Code, op: Op, args: &[Value]) -> bool {
    let (Some(&x), Some(&[offset, count])) = (args.first(), args.last_chunk()) else { return false };
    let ty = c.ty(x);
    // Signed extraction of a word that is declared unsigned is read differently by consumers.
    op != Op::BitfieldS
        && ty.kind() == Kind::I32
        && c.uniform(count).is_some_and(|count| {
            count > 0 && constant_field(c, ty, offset, args[args.len() - 1]).is_some_and(|f| f.1 == count)
        })
}

/// The field's count cut off at the top of the word, whether that is 0, and `width - count`.
fn cut_field(c: &mut Code, ty: Type, offset: Value, count: Value) -> (Value, Value) {
    let n = u64::from(ty.kind().bits());
    let width = c.number(ty, n);
    let start = c.op(Op::Umin, &[offset, width]);
    let room = c.op(Op::Isub, &[width, start]);
    let count = c.op(Op::Umin, &[count, room]);
    let is_empty = c.op_number(Op::IcmpEq, count, 0);
    (is_empty, c.op(Op::Isub, &[width, count]))
}

/// A field moved down to bit 0.
pub(super) fn field(c: &mut Code, op: Op, x: Value, offset: Value, count: Value) -> Value {
    let ty = c.ty(x);
    let down = if op == Op::BitfieldS { Op::Sshr } else { Op::Ushr };
    let n = u64::from(ty.kind().bits());
    match constant_field(c, ty, offset, count) {
        Some((_, 0)) => c.number(ty, 0),
        Some((0, count)) if down == Op::Ushr => c.op_number(Op::And, x, ones(count)),
        Some((offset, count)) if down == Op::Ushr && offset + count < n => {
            let low = c.op_number(Op::Ushr, x, offset);
            c.op_number(Op::And, low, ones(count))
        }
        Some((offset, count)) if offset + count == n => c.op_number(down, x, offset),
        Some((offset, count)) => {
            let high = c.op_number(Op::Shl, x, n - count - offset);
            c.op_number(down, high, n - count)
        }
        None => {
            let (is_empty, rest) = cut_field(c, ty, offset, count);
            let low = c.op(Op::Ushr, &[x, offset]);
            let high = c.op(Op::Shl, &[low, rest]);
            let field = c.op(down, &[high, rest]);
            let zero = c.number(ty, 0);
            c.select(is_empty, zero, field)
        }
    }
}

/// `count` ones from bit 0 on.
fn ones(count: u64) -> u64 {
    u64::MAX >> (64 - count.clamp(1, 64))
}

/// `x` with a field of it replaced by the low bits of `y`.
pub(super) fn insert_field(c: &mut Code, x: Value, y: Value, offset: Value, count: Value) -> Value {
    let ty = c.ty(x);
    match constant_field(c, ty, offset, count) {
        Some((_, 0)) => x,
        Some((offset, count)) => {
            let mask = ones(count) << offset & ty.kind().mask();
            let moved = c.op_number(Op::Shl, y, offset);
            let new = c.op_number(Op::And, moved, mask);
            let old = c.op_number(Op::And, x, !mask & ty.kind().mask());
            c.op(Op::Or, &[old, new])
        }
        None => {
            let (is_empty, rest) = cut_field(c, ty, offset, count);
            let all = c.number(ty, ty.kind().mask());
            let low = c.op(Op::Ushr, &[all, rest]);
            let mask = c.op(Op::Shl, &[low, offset]);
            let new = c.op(Op::Shl, &[y, offset]);
            let merged = merge(c, mask, new, x);
            c.select(is_empty, x, merged)
        }
    }
}

/// Bits of `x` where `mask` has ones, of `y` elsewhere.
fn merge(c: &mut Code, mask: Value, x: Value, y: Value) -> Value {
    let differ = c.op(Op::Xor, &[x, y]);
    let taken = c.op(Op::And, &[differ, mask]);
    c.op(Op::Xor, &[taken, y])
}

/// Does a 32-bit op on a narrower or wider integer: `word` on the zero-extended value, or on the halves, low first,
/// followed by `join` of the halves and what came of them.
fn by_words(
    c: &mut Code,
    x: Value,
    mut word: impl FnMut(&mut Code, Value) -> Value,
    join: impl FnOnce(&mut Code, [Value; 2], [Value; 2]) -> Value,
) -> Value {
    let ty = c.ty(x);
    match ty.kind() {
        Kind::I32 => word(c, x),
        Kind::I64 => {
            let halves = halves(c, x);
            let of_halves = halves.map(|half| word(c, half));
            let joined = join(c, halves, of_halves);
            c.convert(Op::Zext, joined, ty)
        }
        _ => {
            let wide = c.convert(Op::Zext, x, ty.with_kind(Kind::I32));
            let made = word(c, wide);
            c.convert(Op::TruncInt, made, ty)
        }
    }
}

/// Low and high word of 64-bit lanes.
fn halves(c: &mut Code, x: Value) -> [Value; 2] {
    let word = c.ty(x).with_kind(Kind::I32);
    let high = c.op_number(Op::Ushr, x, 32);
    [x, high].map(|v| c.convert(Op::TruncInt, v, word))
}

fn popcount_word(c: &mut Code, x: Value) -> Value {
    if !c.options.bit_counts {
        return c.op(Op::Popcount, &[x]);
    }
    // Counts in fields of 2, 4 and 8 bits, which a product adds up.
    let pairs = c.op_number(Op::Ushr, x, 1);
    let pairs = c.op_number(Op::And, pairs, 0x5555_5555);
    let pairs = c.op(Op::Isub, &[x, pairs]);
    let even = c.op_number(Op::And, pairs, 0x3333_3333);
    let odd = c.op_number(Op::Ushr, pairs, 2);
    let odd = c.op_number(Op::And, odd, 0x3333_3333);
    let nibbles = c.op(Op::Iadd, &[even, odd]);
    let high = c.op_number(Op::Ushr, nibbles, 4);
    let bytes = c.op(Op::Iadd, &[nibbles, high]);
    let bytes = c.op_number(Op::And, bytes, 0x0f0f_0f0f);
    let sum = c.op_number(Op::Imul, bytes, 0x0101_0101);
    c.op_number(Op::Ushr, sum, 24)
}

fn leading_zeros_word(c: &mut Code, x: Value) -> Value {
    if !c.options.bit_counts {
        return c.op(Op::Clz, &[x]);
    }
    // The highest one is copied into all bits below it.
    let smeared = [1, 2, 4, 8, 16].into_iter().fold(x, |x, n| {
        let moved = c.op_number(Op::Ushr, x, n);
        c.op(Op::Or, &[x, moved])
    });
    let above = c.op(Op::Not, &[smeared]);
    popcount_word(c, above)
}

fn reverse_word(c: &mut Code, x: Value) -> Value {
    if !c.options.bit_counts {
        return c.op(Op::Reverse, &[x]);
    }
    let x = swap_neighbours(c, x, 1);
    let x = swap_neighbours(c, x, 2);
    let x = swap_neighbours(c, x, 4);
    byteswap(c, x)
}

/// Number of ones.
pub(super) fn popcount(c: &mut Code, x: Value) -> Value {
    by_words(c, x, popcount_word, |c, _, [low, high]| c.op(Op::Iadd, &[low, high]))
}

/// Zeros above the highest one.
pub(super) fn leading_zeros(c: &mut Code, x: Value) -> Value {
    let bits = c.ty(x).kind().bits();
    by_words(
        c,
        x,
        |c, x| {
            let zeros = leading_zeros_word(c, x);
            if bits < 32 { c.op_number(Op::Isub, zeros, u64::from(32 - bits)) } else { zeros }
        },
        |c, [_, high], [of_low, of_high]| {
            let is_low = c.op_number(Op::IcmpEq, high, 0);
            let below = c.op_number(Op::Iadd, of_low, 32);
            c.select(is_low, below, of_high)
        },
    )
}

/// Zeros below the lowest one: as many ones as `x - 1` has there, and only there, beside `x`.
pub(super) fn trailing_zeros(c: &mut Code, x: Value) -> Value {
    let mask = c.ty(x).kind().mask();
    let not = c.op(Op::Not, &[x]);
    let less = c.op_number(Op::Iadd, x, mask);
    let below = c.op(Op::And, &[not, less]);
    popcount(c, below)
}

/// Position of the highest bit that differs from the sign: the highest one of `x ^ sign`.
pub(super) fn highest_signed(c: &mut Code, x: Value) -> Value {
    let ty = c.ty(x);
    let top = u64::from(ty.kind().bits() - 1);
    let sign = c.op_number(Op::Sshr, x, top);
    let bits = c.op(Op::Xor, &[x, sign]);
    let zeros = leading_zeros(c, bits);
    let top = c.number(ty, top);
    c.op(Op::Isub, &[top, zeros])
}

/// Bits in opposite order.
pub(super) fn reverse(c: &mut Code, x: Value) -> Value {
    let ty = c.ty(x);
    match ty.kind() {
        Kind::I32 => reverse_word(c, x),
        Kind::I64 => {
            let [low, high] = halves(c, x).map(|half| {
                let back = reverse_word(c, half);
                c.convert(Op::Zext, back, ty)
            });
            let moved = c.op_number(Op::Shl, low, 32);
            c.op(Op::Or, &[moved, high])
        }
        kind => {
            let wide = c.convert(Op::Zext, x, ty.with_kind(Kind::I32));
            let back = reverse_word(c, wide);
            let low = c.op_number(Op::Ushr, back, u64::from(32 - kind.bits()));
            c.convert(Op::TruncInt, low, ty)
        }
    }
}

/// Neighbouring fields of `step` bits in each other's place.
fn swap_neighbours(c: &mut Code, x: Value, step: u32) -> Value {
    if 2 * step == c.ty(x).kind().bits() {
        // Halves push each other out.
        let (down, up) = (c.op_number(Op::Ushr, x, step.into()), c.op_number(Op::Shl, x, step.into()));
        return c.op(Op::Or, &[up, down]);
    }
    let pattern = (0..64 / (2 * step)).fold(0u64, |m, i| m | ((1u64 << step) - 1) << (2 * step * i));
    let mask = pattern & c.ty(x).kind().mask();
    let down = c.op_number(Op::Ushr, x, u64::from(step));
    let down = c.op_number(Op::And, down, mask);
    let up = c.op_number(Op::And, x, mask);
    let up = c.op_number(Op::Shl, up, u64::from(step));
    c.op(Op::Or, &[up, down])
}

/// Bytes in opposite order.
pub(super) fn byteswap(c: &mut Code, x: Value) -> Value {
    let bits = c.ty(x).kind().bits();
    [8, 16, 32].into_iter().filter(|&step| step < bits).fold(x, |x, step| swap_neighbours(c, x, step))
}

/// Each byte of the result is one that a nibble of `selector` names among those of `y:x`, or eight copies of its sign.
pub(super) fn permute_bytes(c: &mut Code, x: Value, y: Value, selector: Value) -> Value {
    let ty = c.ty(x);
    let mut out = None;
    for i in 0..4 {
        let nibble = c.op_number(Op::Ushr, selector, 4 * i);
        let in_second = c.op_number(Op::And, nibble, 4);
        let in_second = c.op_number(Op::IcmpNe, in_second, 0);
        let word = c.select(in_second, y, x);
        let index = c.op_number(Op::And, nibble, 3);
        let shift = c.op_number(Op::Shl, index, 3);
        let picked = c.op(Op::Ushr, &[word, shift]);
        let high = c.op_number(Op::Shl, picked, 24);
        let signs = c.op_number(Op::Sshr, high, 31);
        let wants_sign = c.op_number(Op::And, nibble, 8);
        let wants_sign = c.op_number(Op::IcmpNe, wants_sign, 0);
        let value = c.select(wants_sign, signs, picked);
        let value = c.op_number(Op::And, value, 0xff);
        let value = c.op_number(Op::Shl, value, 8 * i);
        out = Some(out.map_or(value, |out| c.op(Op::Or, &[out, value])));
    }
    out.unwrap_or_else(|| c.number(ty, 0))
}

/// The sum of the products of the bytes of `x` and `y`.
pub(super) fn byte_dot(c: &mut Code, [x, y]: [Value; 2], op: Op) -> Value {
    let ty = c.ty(x);
    let byte = |c: &mut Code, v: Value, i: u64, signed: bool| {
        let op = if signed { Op::BitfieldS } else { Op::BitfieldU };
        let (offset, count) = (c.number(ty, 8 * i), c.number(ty, 8));
        field(c, op, v, offset, count)
    };
    let mut sum = None;
    for i in 0..4 {
        let x = byte(c, x, i, op != Op::Udot4);
        let y = byte(c, y, i, op == Op::Sdot4);
        let product = c.op(Op::Imul, &[x, y]);
        sum = Some(sum.map_or(product, |sum| c.op(Op::Iadd, &[sum, product])));
    }
    sum.unwrap_or_else(|| c.number(ty, 0))
}

/// Any function of three bits. Its table, if constant, is halved on `x`, `y` and `z` in turn.
pub(super) fn lop3(c: &mut Code, [x, y, z, table]: [Value; 4]) -> Value {
    let ty = c.ty(x);
    let Some(table) = c.uniform(table) else { return lop3_by_table(c, [x, y, z, table]) };
    let of_z = |i: u32| match table >> (2 * i) & 3 {
        0 => Term::Zeros,
        1 => Term::Not(z),
        2 => Term::Is(z),
        _ => Term::Ones,
    };
    let low = choose_term(c, y, of_z(1), of_z(0));
    // The halves often differ in no more than a negation.
    let opposite = [of_z(3), of_z(2)] == [of_z(1).negated(), of_z(0).negated()];
    let high = if opposite { low.negated() } else { choose_term(c, y, of_z(3), of_z(2)) };
    match choose_term(c, x, high, low) {
        Term::Zeros => c.number(ty, 0),
        Term::Ones => c.number(ty, ty.kind().mask()),
        term => term.value(c).unwrap_or(x),
    }
}

/// What a table of bits came down to.
#[derive(Clone, Copy, PartialEq)]
enum Term {
    Zeros,
    Ones,
    Is(Value),
    Not(Value),
}

impl Term {
    fn negated(self) -> Term {
        match self {
            Term::Zeros => Term::Ones,
            Term::Ones => Term::Zeros,
            Term::Is(v) => Term::Not(v),
            Term::Not(v) => Term::Is(v),
        }
    }

    /// The value, if it is no constant.
    fn value(self, c: &mut Code) -> Option<Value> {
        match self {
            Term::Zeros | Term::Ones => None,
            Term::Is(v) => Some(v),
            Term::Not(v) => Some(c.op(Op::Not, &[v])),
        }
    }
}

/// Bits of `yes` where `on` has ones, of `no` elsewhere.
fn choose_term(c: &mut Code, on: Value, yes: Term, no: Term) -> Term {
    if yes == no {
        return yes;
    }
    if yes == no.negated() {
        return match no {
            Term::Zeros => Term::Is(on),
            Term::Ones => Term::Not(on),
            Term::Is(v) => Term::Is(c.op(Op::Xor, &[on, v])),
            Term::Not(v) => Term::Not(c.op(Op::Xor, &[on, v])),
        };
    }
    Term::Is(match (yes.value(c), no.value(c)) {
        (Some(yes), Some(no)) => merge(c, on, yes, no),
        (Some(v), None) if no == Term::Zeros => c.op(Op::And, &[on, v]),
        (Some(v), None) => {
            let off = c.op(Op::Not, &[on]);
            c.op(Op::Or, &[off, v])
        }
        (None, Some(v)) if yes == Term::Ones => c.op(Op::Or, &[on, v]),
        (None, Some(v)) => {
            let off = c.op(Op::Not, &[on]);
            c.op(Op::And, &[off, v])
        }
        // Two constants are equal or opposite.
        (None, None) => on,
    })
}

fn lop3_by_table(c: &mut Code, [x, y, z, table]: [Value; 4]) -> Value {
    let mut level: SmallVec<[Value; 8]> = (0..8)
        .map(|i| {
            let bit = c.op_number(Op::Ushr, table, i);
            let bit = c.op_number(Op::And, bit, 1);
            c.op(Op::Ineg, &[bit])
        })
        .collect();
    for on in [z, y, x] {
        level = level.chunks(2).map(|pair| merge(c, on, pair[1], pair[0])).collect();
    }
    level[0]
}

/// Counts and orders of bits.
pub(super) fn count(c: &mut Code, op: Op, x: Value) -> Option<Value> {
    Some(match op {
        Op::Popcount => popcount(c, x),
        Op::Clz => leading_zeros(c, x),
        Op::Ctz => trailing_zeros(c, x),
        Op::FindMsbS => highest_signed(c, x),
        Op::Reverse => reverse(c, x),
        Op::Byteswap => byteswap(c, x),
        _ => return None,
    })
}
