//! Unsigned integers of one or two 64-bit words, as sequences of ops.

use smallvec::SmallVec;
use xenoglot_ir::{Bits, Builder, Flags, Op, Type, Value};

/// The words, lowest first: one or two.
pub(super) type Wide = SmallVec<[Value; 2]>;

/// Writes ops on 64-bit words; truth values are `bool`.
pub(super) struct Words<'a, 'f>(pub(super) &'a mut Builder<'f>);

impl Words<'_, '_> {
    pub fn number(&mut self, v: u64) -> Value {
        self.0.constant(Type::I64, Bits::scalar(v))
    }

    pub fn op(&mut self, op: Op, args: &[Value]) -> Value {
        self.0.op(op, args)
    }

    /// `op` with a number as second operand.
    pub fn with(&mut self, op: Op, a: Value, n: u64) -> Value {
        let n = self.number(n);
        self.op(op, &[a, n])
    }

    pub fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        self.0.select(cond, a, b)
    }

    pub fn both(&mut self, a: Value, b: Value) -> Value {
        self.op(Op::And, &[a, b])
    }

    pub fn either(&mut self, a: Value, b: Value) -> Value {
        self.op(Op::Or, &[a, b])
    }

    pub fn not(&mut self, a: Value) -> Value {
        self.op(Op::Not, &[a])
    }

    /// 1 or 0.
    pub fn bit(&mut self, cond: Value) -> Value {
        self.0.convert(Op::Zext, Flags::NONE, cond, Type::I64)
    }

    /// All words 0.
    pub fn is_zero(&mut self, a: &[Value]) -> Value {
        let mut any = a[0];
        for &word in &a[1..] {
            any = self.op(Op::Or, &[any, word]);
        }
        self.with(Op::IcmpEq, any, 0)
    }

    pub fn choose(&mut self, cond: Value, a: &[Value], b: &[Value]) -> Wide {
        a.iter().zip(b).map(|(&a, &b)| self.select(cond, a, b)).collect()
    }

    fn low_half(&mut self, a: Value) -> Value {
        self.with(Op::And, a, u32::MAX.into())
    }

    /// The product of two numbers of less than 54 bits each, in as many words as asked for.
    pub fn product(&mut self, words: usize, a: Value, b: Value) -> Wide {
        if words == 1 {
            return Wide::from_slice(&[self.op(Op::Imul, &[a, b])]);
        }
        let [[al, ah], [bl, bh]] = [a, b].map(|v| [self.low_half(v), self.with(Op::Ushr, v, 32)]);
        let [ll, lh, hl, hh] = [[al, bl], [al, bh], [ah, bl], [ah, bh]].map(|f| self.op(Op::Imul, &f));
        let carried = self.with(Op::Ushr, ll, 32);
        let middle = [lh, hl].into_iter().fold(carried, |sum, part| {
            let part = self.low_half(part);
            self.op(Op::Iadd, &[sum, part])
        });
        let high = [lh, hl, middle].into_iter().fold(hh, |sum, part| {
            let part = self.with(Op::Ushr, part, 32);
            self.op(Op::Iadd, &[sum, part])
        });
        let (up, rest) = (self.with(Op::Shl, middle, 32), self.low_half(ll));
        Wide::from_slice(&[self.op(Op::Or, &[up, rest]), high])
    }

    pub fn add(&mut self, a: &[Value], b: &[Value]) -> Wide {
        let low = self.op(Op::Iadd, &[a[0], b[0]]);
        let (&[_, ah], &[_, bh]) = (a, b) else { return Wide::from_slice(&[low]) };
        let carry = self.op(Op::IcmpUlt, &[low, a[0]]);
        let (carry, high) = (self.bit(carry), self.op(Op::Iadd, &[ah, bh]));
        Wide::from_slice(&[low, self.op(Op::Iadd, &[high, carry])])
    }

    pub fn sub(&mut self, a: &[Value], b: &[Value]) -> Wide {
        let low = self.op(Op::Isub, &[a[0], b[0]]);
        let (&[_, ah], &[_, bh]) = (a, b) else { return Wide::from_slice(&[low]) };
        let borrow = self.op(Op::IcmpUlt, &[a[0], b[0]]);
        let (borrow, high) = (self.bit(borrow), self.op(Op::Isub, &[ah, bh]));
        Wide::from_slice(&[low, self.op(Op::Isub, &[high, borrow])])
    }

    /// `a < b`.
    pub fn less(&mut self, a: &[Value], b: &[Value]) -> Value {
        let low = self.op(Op::IcmpUlt, &[a[0], b[0]]);
        let (&[_, ah], &[_, bh]) = (a, b) else { return low };
        let (high, same) = (self.op(Op::IcmpUlt, &[ah, bh]), self.op(Op::IcmpEq, &[ah, bh]));
        let low = self.both(same, low);
        self.either(high, low)
    }

    fn leading_zeros_of_word(&mut self, a: Value) -> Value {
        let high = self.with(Op::Ushr, a, 32);
        let none = self.with(Op::IcmpEq, high, 0);
        // Few hosts count in 64 bits.
        let half = self.select(none, a, high);
        let half = self.0.convert(Op::TruncInt, Flags::NONE, half, Type::I32);
        let zeros = self.op(Op::Clz, &[half]);
        let zeros = self.0.convert(Op::Zext, Flags::NONE, zeros, Type::I64);
        let above = self.with(Op::Iadd, zeros, 32);
        self.select(none, above, zeros)
    }

    /// Zeros above the highest one, all if there is none.
    pub fn leading_zeros(&mut self, a: &[Value]) -> Value {
        let low = self.leading_zeros_of_word(a[0]);
        let &[_, high] = a else { return low };
        let (none, of_high) = (self.with(Op::IcmpEq, high, 0), self.leading_zeros_of_word(high));
        let low = self.with(Op::Iadd, low, 64);
        self.select(none, low, of_high)
    }

    /// `a << by` for fewer than all bits.
    pub fn shl(&mut self, a: &[Value], by: Value) -> Wide {
        let low = self.op(Op::Shl, &[a[0], by]);
        let &[_, high] = a else { return Wide::from_slice(&[low]) };
        // Amounts are modulo 64: `low` is also the high word of a shift by more.
        let (far, zero) = (self.is_above(by, 63), self.number(0));
        let near = self.op(Op::FunnelL, &[high, a[0], by]);
        Wide::from_slice(&[self.select(far, zero, low), self.select(far, low, near)])
    }

    /// `a > n`, unsigned.
    pub fn is_above(&mut self, a: Value, n: u64) -> Value {
        let n = self.number(n);
        self.op(Op::IcmpUlt, &[n, a])
    }

    /// The low `n mod 64` bits.
    fn below(&mut self, a: Value, n: Value) -> Value {
        let ones = self.number(u64::MAX);
        let mask = self.op(Op::Shl, &[ones, n]);
        let mask = self.not(mask);
        self.op(Op::And, &[a, mask])
    }

    /// `a >> by` for any amount, the lowest bit set if anything was shifted out.
    pub fn jam(&mut self, a: &[Value], by: Value) -> Wide {
        let zero = self.number(0);
        let (mut out, lost) = match *a {
            [low, high] => {
                let (far, beyond) = (self.is_above(by, 63), self.is_above(by, 127));
                let [shifted, near] =
                    [self.op(Op::Ushr, &[high, by]), self.op(Op::FunnelR, &[high, low, by])];
                let [of_low, of_high] = [self.below(low, by), self.below(high, by)];
                let more = self.op(Op::Or, &[low, of_high]);
                let all = self.op(Op::Or, &[low, high]);
                let lost = self.select(far, more, of_low);
                let lost = self.select(beyond, all, lost);
                let low = self.select(far, shifted, near);
                let low = self.select(beyond, zero, low);
                (Wide::from_slice(&[low, self.select(far, zero, shifted)]), lost)
            }
            _ => {
                let (far, shifted, lost) =
                    (self.is_above(by, 63), self.op(Op::Ushr, &[a[0], by]), self.below(a[0], by));
                (Wide::from_slice(&[self.select(far, zero, shifted)]), self.select(far, a[0], lost))
            }
        };
        let lost = self.with(Op::IcmpNe, lost, 0);
        let lost = self.bit(lost);
        out[0] = self.op(Op::Or, &[out[0], lost]);
        out
    }
}
