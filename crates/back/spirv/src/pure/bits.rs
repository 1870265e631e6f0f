//! Shifts, fields, counts and permutations of bits.
//!
//! SPIR-V leaves shifts by the width and fields past the top undefined, and Vulkan restricts counting ops to 32
//! bits; the ops here define all of it.

use super::int::{Plain, plain};
use super::{Arg, Made, Shape};
use crate::error::Reason;
use crate::unit::{Id, Unit};
use smallvec::SmallVec;
use spirv::{GlslStd450Op as GlOp, Op as S};
use xenoglot_ir::{Kind, Op, Type};

const SHAPE: Reason = Reason::Invalid("operands of a bit op");

impl Unit {
    pub(super) fn bit(&mut self, shape: &Shape, args: &[Arg]) -> Made {
        let ty = shape.ty;
        match (shape.op, args) {
            (op, &[a, s]) if let Some(Plain::Shift(op)) = plain(op) => Ok(self.shift(op, ty, a.id, s)),
            (Op::Rotl, &[a, s]) => Ok(self.funnel(ty, a.id, a.id, s, true)),
            (Op::FunnelL, &[a, b, s]) => Ok(self.funnel(ty, a.id, b.id, s, true)),
            (Op::FunnelR, &[a, b, s]) => Ok(self.funnel(ty, a.id, b.id, s, false)),
            (Op::BitfieldU | Op::BitfieldS, &[a, o, c]) => {
                Ok(self.field(ty, a.id, o, c, shape.op == Op::BitfieldS))
            }
            (Op::BitfieldInsert, &[a, b, o, c]) => Ok(self.insert_field(ty, a.id, b.id, o, c)),
            (Op::Popcount, &[a]) => Ok(self.popcount(ty, a.id)),
            (Op::Clz, &[a]) => Ok(self.clz(ty, a.id)),
            (Op::Ctz, &[a]) => Ok(self.ctz(ty, a.id)),
            (Op::FindMsbS, &[a]) => {
                // The highest bit that differs from the sign is the highest one of `a ^ sign`.
                let top = self.splat(ty, u64::from(ty.kind().bits() - 1));
                let sign = self.op(S::ShiftRightArithmetic, ty, &[a.id, top]);
                let bits = self.op(S::BitwiseXor, ty, &[a.id, sign]);
                let zeros = self.clz(ty, bits);
                Ok(self.op(S::ISub, ty, &[top, zeros]))
            }
            (Op::Reverse, &[a]) => Ok(self.reverse(ty, a.id)),
            (Op::Byteswap, &[a]) => Ok(self.byteswap(ty, a.id)),
            (Op::PermuteBytes, &[a, b, s]) if ty.kind() == Kind::I32 => {
                Ok(self.permute_bytes(ty, a.id, b.id, s.id))
            }
            (Op::PermuteBytes, _) => Err(Reason::Unsupported("only defined on 32 bits")),
            (Op::Lop3, &[a, b, c, t]) => Ok(match t.uniform(ty) {
                Some(table) => self.lop3(ty, [a.id, b.id, c.id], table as u8),
                None => self.lop3_by_table(ty, [a.id, b.id, c.id], t.id),
            }),
            _ => Err(SHAPE),
        }
    }

    /// `s` modulo the width; nothing to do for a constant below it.
    fn amount(&mut self, ty: Type, s: Arg) -> Id {
        let top = u64::from(ty.kind().bits() - 1);
        match s.uniform(ty) {
            Some(n) => self.splat(ty, n & top),
            None => {
                let mask = self.splat(ty, top);
                self.op(S::BitwiseAnd, ty, &[s.id, mask])
            }
        }
    }

    pub(crate) fn shift(&mut self, op: S, ty: Type, a: Id, s: Arg) -> Id {
        let s = self.amount(ty, s);
        self.op(op, ty, &[a, s])
    }

    /// High word of `(a:b) << s`, or low word of `(a:b) >> s`.
    fn funnel(&mut self, ty: Type, a: Id, b: Id, s: Arg, left: bool) -> Id {
        let s = self.amount(ty, s);
        // The other word moves by `n - s`, in two steps since that may be n.
        let top = self.splat(ty, u64::from(ty.kind().bits() - 1));
        let one = self.splat(ty, 1);
        let rest = self.op(S::BitwiseXor, ty, &[s, top]);
        let (near, far, kept, moved) = if left {
            (S::ShiftLeftLogical, S::ShiftRightLogical, a, b)
        } else {
            (S::ShiftRightLogical, S::ShiftLeftLogical, b, a)
        };
        let kept = self.op(near, ty, &[kept, s]);
        let moved = self.op(far, ty, &[moved, one]);
        let moved = self.op(far, ty, &[moved, rest]);
        self.op(S::BitwiseOr, ty, &[kept, moved])
    }

    /// A field that constants place inside a 32-bit word: its offset and count as scalar constants.
    fn constant_field(&mut self, ty: Type, offset: Arg, count: Arg) -> Option<(Id, Id)> {
        let (offset, count) = (offset.uniform(ty)?, count.uniform(ty)?);
        let inside = ty.kind() == Kind::I32 && offset < 32 && (1..=32 - offset).contains(&count);
        inside.then(|| (self.u32(offset as u32), self.u32(count as u32)))
    }

    /// The field's count cut off at the top of the word, whether that is 0, the offset modulo the width, and
    /// `n - count` modulo the width.
    fn cut_field(&mut self, ty: Type, offset: Id, count: Id) -> (Id, Id, Id) {
        let bool = ty.with_kind(Kind::Bool);
        let n = u64::from(ty.kind().bits());
        let (width, top, zero) = (self.splat(ty, n), self.splat(ty, n - 1), self.splat(ty, 0));
        let outside = self.op(S::UGreaterThan, bool, &[offset, width]);
        let start = self.choose(ty, outside, width, offset);
        let room = self.op(S::ISub, ty, &[width, start]);
        let too_long = self.op(S::UGreaterThan, bool, &[count, room]);
        let count = self.choose(ty, too_long, room, count);
        let empty = self.op(S::IEqual, bool, &[count, zero]);
        let shift = self.op(S::BitwiseAnd, ty, &[offset, top]);
        let rest = self.op(S::ISub, ty, &[width, count]);
        (empty, shift, self.op(S::BitwiseAnd, ty, &[rest, top]))
    }

    fn field(&mut self, ty: Type, a: Id, offset: Arg, count: Arg, signed: bool) -> Id {
        if let Some((offset, count)) = self.constant_field(ty, offset, count) {
            // Signed extraction of an unsigned word is read differently by consumers.
            if !signed {
                return self.op(S::BitFieldUExtract, ty, &[a, offset, count]);
            }
        }
        let down = if signed { S::ShiftRightArithmetic } else { S::ShiftRightLogical };
        if let (Some(o), Some(c)) = (offset.uniform(ty), count.uniform(ty)) {
            let n = u64::from(ty.kind().bits());
            let c = c.min(n.saturating_sub(o));
            if c == 0 {
                return self.splat(ty, 0);
            }
            let (up, back) = (self.splat(ty, n - c - o), self.splat(ty, n - c));
            let high = self.op(S::ShiftLeftLogical, ty, &[a, up]);
            return self.op(down, ty, &[high, back]);
        }
        let (empty, shift, rest) = self.cut_field(ty, offset.id, count.id);
        let low = self.op(S::ShiftRightLogical, ty, &[a, shift]);
        let high = self.op(S::ShiftLeftLogical, ty, &[low, rest]);
        let field = self.op(down, ty, &[high, rest]);
        let zero = self.splat(ty, 0);
        self.choose(ty, empty, zero, field)
    }

    fn insert_field(&mut self, ty: Type, a: Id, b: Id, offset: Arg, count: Arg) -> Id {
        if let Some((offset, count)) = self.constant_field(ty, offset, count) {
            return self.op(S::BitFieldInsert, ty, &[a, b, offset, count]);
        }
        let (empty, shift, rest) = self.cut_field(ty, offset.id, count.id);
        let ones = self.splat(ty, ty.kind().mask());
        let low = self.op(S::ShiftRightLogical, ty, &[ones, rest]);
        let mask = self.op(S::ShiftLeftLogical, ty, &[low, shift]);
        let new = self.op(S::ShiftLeftLogical, ty, &[b, shift]);
        let merged = self.merge(ty, mask, new, a);
        self.choose(ty, empty, a, merged)
    }

    /// Bits of `a` where `mask` has ones, of `b` elsewhere.
    fn merge(&mut self, ty: Type, mask: Id, a: Id, b: Id) -> Id {
        let differ = self.op(S::BitwiseXor, ty, &[a, b]);
        let taken = self.op(S::BitwiseAnd, ty, &[differ, mask]);
        self.op(S::BitwiseXor, ty, &[taken, b])
    }

    /// Runs a 32-bit op on a narrower or wider integer: `f` on the zero-extended value, or on the halves `(low,
    /// high)` followed by `join`.
    fn by_words(
        &mut self,
        ty: Type,
        a: Id,
        mut f: impl FnMut(&mut Unit, Type, Id) -> Id,
        join: impl FnOnce(&mut Unit, Type, [Id; 2], [Id; 2]) -> Id,
    ) -> Id {
        let word = ty.with_kind(Kind::I32);
        match ty.kind() {
            Kind::I32 => f(self, word, a),
            Kind::I64 => {
                let [low, high] = self.halves(ty, a);
                let counts = [f(self, word, low), f(self, word, high)];
                join(self, word, [low, high], counts)
            }
            _ => {
                let wide = self.op(S::UConvert, word, &[a]);
                f(self, word, wide)
            }
        }
    }

    /// Low and high word of 64-bit lanes.
    fn halves(&mut self, ty: Type, a: Id) -> [Id; 2] {
        let word = ty.with_kind(Kind::I32);
        let shift = self.splat(ty, 32);
        let high = self.op(S::ShiftRightLogical, ty, &[a, shift]);
        [a, high].map(|x| self.op(S::UConvert, word, &[x]))
    }

    fn join_halves(&mut self, ty: Type, low: Id, high: Id) -> Id {
        let [low, high] = [low, high].map(|x| self.op(S::UConvert, ty, &[x]));
        let shift = self.splat(ty, 32);
        let high = self.op(S::ShiftLeftLogical, ty, &[high, shift]);
        self.op(S::BitwiseOr, ty, &[low, high])
    }

    /// A count in 32-bit lanes as lanes of `ty`.
    fn count_as(&mut self, ty: Type, count: Id) -> Id {
        if ty.kind() == Kind::I32 { count } else { self.op(S::UConvert, ty, &[count]) }
    }

    fn popcount(&mut self, ty: Type, a: Id) -> Id {
        let count = self.by_words(
            ty,
            a,
            |u, word, x| u.op(S::BitCount, word, &[x]),
            |u, word, _, [low, high]| u.op(S::IAdd, word, &[low, high]),
        );
        self.count_as(ty, count)
    }

    fn clz(&mut self, ty: Type, a: Id) -> Id {
        let n = u64::from(ty.kind().bits());
        let count = self.by_words(
            ty,
            a,
            |u, word, x| {
                // The index of the highest one is -1 for 0.
                let top = u.splat(word, n.min(32) - 1);
                let index = u.glsl(GlOp::FindUMsb, word, &[x]);
                u.op(S::ISub, word, &[top, index])
            },
            |u, word, [_, high], [low_zeros, high_zeros]| {
                let (zero, width) = (u.splat(word, 0), u.splat(word, 32));
                let none = u.op(S::IEqual, word.with_kind(Kind::Bool), &[high, zero]);
                let below = u.op(S::IAdd, word, &[low_zeros, width]);
                u.choose(word, none, below, high_zeros)
            },
        );
        self.count_as(ty, count)
    }

    fn ctz(&mut self, ty: Type, a: Id) -> Id {
        let n = u64::from(ty.kind().bits());
        let count = self.by_words(
            ty,
            a,
            |u, word, x| {
                let (zero, width) = (u.splat(word, 0), u.splat(word, n.min(32)));
                let none = u.op(S::IEqual, word.with_kind(Kind::Bool), &[x, zero]);
                let index = u.glsl(GlOp::FindILsb, word, &[x]);
                u.choose(word, none, width, index)
            },
            |u, word, [low, _], [low_zeros, high_zeros]| {
                let (zero, width) = (u.splat(word, 0), u.splat(word, 32));
                let none = u.op(S::IEqual, word.with_kind(Kind::Bool), &[low, zero]);
                let above = u.op(S::IAdd, word, &[high_zeros, width]);
                u.choose(word, none, above, low_zeros)
            },
        );
        self.count_as(ty, count)
    }

    fn reverse(&mut self, ty: Type, a: Id) -> Id {
        match ty.kind() {
            Kind::I32 => self.op(S::BitReverse, ty, &[a]),
            Kind::I64 => {
                let word = ty.with_kind(Kind::I32);
                let [low, high] = self.halves(ty, a).map(|x| self.op(S::BitReverse, word, &[x]));
                self.join_halves(ty, high, low)
            }
            kind => {
                let word = ty.with_kind(Kind::I32);
                let wide = self.op(S::UConvert, word, &[a]);
                let back = self.op(S::BitReverse, word, &[wide]);
                let shift = self.splat(word, u64::from(32 - kind.bits()));
                let low = self.op(S::ShiftRightLogical, word, &[back, shift]);
                self.op(S::UConvert, ty, &[low])
            }
        }
    }

    fn byteswap(&mut self, ty: Type, a: Id) -> Id {
        // Swaps neighbours of 8 bits, then of 16, then of 32, as far as the word is wide.
        let mut value = a;
        let mut step = 8;
        while step < ty.kind().bits() {
            let pattern = (0..64 / (2 * step)).fold(0u64, |m, i| m | ((1u64 << step) - 1) << (2 * step * i));
            let (mask, shift) = (self.splat(ty, pattern & ty.kind().mask()), self.splat(ty, u64::from(step)));
            let down = self.op(S::ShiftRightLogical, ty, &[value, shift]);
            let down = self.op(S::BitwiseAnd, ty, &[down, mask]);
            let up = self.op(S::BitwiseAnd, ty, &[value, mask]);
            let up = self.op(S::ShiftLeftLogical, ty, &[up, shift]);
            value = self.op(S::BitwiseOr, ty, &[up, down]);
            step *= 2;
        }
        value
    }

    fn permute_bytes(&mut self, ty: Type, a: Id, b: Id, selector: Id) -> Id {
        let bool = ty.with_kind(Kind::Bool);
        let [zero, three, four, eight, byte, top] = [0, 3, 4, 8, 0xff, 24].map(|v| self.splat(ty, v));
        let sign = self.splat(ty, 31);
        let mut out = zero;
        for i in 0..4 {
            let at = self.splat(ty, 4 * i);
            let nibble = self.op(S::ShiftRightLogical, ty, &[selector, at]);
            let in_b = self.op(S::BitwiseAnd, ty, &[nibble, four]);
            let in_b = self.op(S::INotEqual, bool, &[in_b, zero]);
            let word = self.choose(ty, in_b, b, a);
            let index = self.op(S::BitwiseAnd, ty, &[nibble, three]);
            let shift = self.op(S::IMul, ty, &[index, eight]);
            let picked = self.op(S::ShiftRightLogical, ty, &[word, shift]);
            let high = self.op(S::ShiftLeftLogical, ty, &[picked, top]);
            let signs = self.op(S::ShiftRightArithmetic, ty, &[high, sign]);
            let wants_sign = self.op(S::BitwiseAnd, ty, &[nibble, eight]);
            let wants_sign = self.op(S::INotEqual, bool, &[wants_sign, zero]);
            let value = self.choose(ty, wants_sign, signs, picked);
            let value = self.op(S::BitwiseAnd, ty, &[value, byte]);
            let place = self.splat(ty, 8 * i);
            let value = self.op(S::ShiftLeftLogical, ty, &[value, place]);
            out = self.op(S::BitwiseOr, ty, &[out, value]);
        }
        out
    }

    /// Any function of three bits, by halving its table on `a`, `b` and `c` in turn.
    fn lop3(&mut self, ty: Type, [a, b, c]: [Id; 3], table: u8) -> Id {
        let [zero, ones] = [0, ty.kind().mask()].map(|v| self.splat(ty, v));
        let of_c: SmallVec<[Id; 4]> = (0..4)
            .map(|i| match table >> (2 * i) & 3 {
                0 => zero,
                1 => self.op(S::Not, ty, &[c]),
                2 => c,
                _ => ones,
            })
            .collect();
        let pick = |u: &mut Unit, on: Id, yes: Id, no: Id| match (yes, no) {
            (y, n) if y == n => y,
            (y, n) if y == ones && n == zero => on,
            (y, n) if n == zero => u.op(S::BitwiseAnd, ty, &[on, y]),
            (y, n) if y == ones => u.op(S::BitwiseOr, ty, &[on, n]),
            (y, n) => u.merge(ty, on, y, n),
        };
        let low = pick(self, b, of_c[1], of_c[0]);
        let high = pick(self, b, of_c[3], of_c[2]);
        pick(self, a, high, low)
    }

    fn lop3_by_table(&mut self, ty: Type, [a, b, c]: [Id; 3], table: Id) -> Id {
        let (zero, one) = (self.splat(ty, 0), self.splat(ty, 1));
        let mut level: SmallVec<[Id; 8]> = (0..8)
            .map(|i| {
                let at = self.splat(ty, i);
                let bit = self.op(S::ShiftRightLogical, ty, &[table, at]);
                let bit = self.op(S::BitwiseAnd, ty, &[bit, one]);
                self.op(S::ISub, ty, &[zero, bit])
            })
            .collect();
        for on in [c, b, a] {
            level = level.chunks(2).map(|pair| self.merge(ty, on, pair[1], pair[0])).collect();
        }
        level[0]
    }
}
