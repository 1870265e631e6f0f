//! Ops on 64-bit integers as ops on their halves.

use super::{Made, half};
use crate::{Lacks, legalize};
use smallvec::SmallVec;
use xenoglot_ir::func::InstData;
use xenoglot_ir::imm::{Reduce, SubgroupInfo};
use xenoglot_ir::{Bits, Builder, DivZero, Flags, Func, Imm, Kind, Op, Type, Value};

/// Low half and high half.
type Pair = (Value, Value);

pub(super) struct Halves<'b, 'f, 'a> {
    pub(super) b: &'b mut Builder<'f>,
    pub(super) lacks: &'a Lacks,
    pub(super) divider: Func,
    /// Whether the divider was called.
    pub(super) divides: bool,
}

impl Halves<'_, '_, '_> {
    fn op(&mut self, op: Op, args: &[Value]) -> Value {
        self.b.op(op, args)
    }

    fn number(&mut self, ty: Type, bits: u64) -> Value {
        self.b.constant(ty, Bits::splat(ty, bits))
    }

    fn op_number(&mut self, op: Op, v: Value, number: u64) -> Value {
        let ty = self.b.func.ty(v);
        let number = self.number(ty, number);
        self.op(op, &[v, number])
    }

    fn both(&mut self, op: Op, (xl, xh): Pair, (yl, yh): Pair) -> Pair {
        (self.op(op, &[xl, yl]), self.op(op, &[xh, yh]))
    }

    fn select(&mut self, condition: Value, (xl, xh): Pair, (yl, yh): Pair) -> Pair {
        (self.b.select(condition, xl, yl), self.b.select(condition, xh, yh))
    }

    /// What an instruction with operands or a result of 64 bits becomes; nothing where it has no result.
    pub(super) fn inst(
        &mut self,
        data: &InstData,
        args: &[Made],
        types: &[Type],
        ty: Option<Type>,
    ) -> Option<Made> {
        let pair = |i: usize| match args.get(i) {
            Some(&Made::Two(low, high)) => Some((low, high)),
            _ => None,
        };
        let one = |i: usize| match args.get(i) {
            Some(&Made::One(v)) => Some(v),
            _ => None,
        };
        let two = |(low, high): Pair| Some(Made::Two(low, high));
        match data.op {
            Op::Const => {
                let ty = ty?;
                let Imm::Const(c) = data.imm else { return None };
                let bits = *self.b.func.consts.get(c)?;
                let low = Bits(bits.0.map(|lane| lane & 0xffff_ffff));
                let high = Bits(bits.0.map(|lane| lane >> 32));
                let [low, high] = [low, high].map(|bits| self.b.constant(half(ty), bits));
                two((low, high))
            }
            Op::Undef => {
                let ty = half(ty?);
                let [low, high] = [0, 1].map(|_| self.b.undef(ty));
                two((low, high))
            }
            Op::Iadd => two(self.add(pair(0)?, pair(1)?)),
            Op::Isub => two(self.subtract(pair(0)?, pair(1)?)),
            Op::Ineg => {
                let x = pair(0)?;
                two(self.negate(x))
            }
            Op::Imul => two(self.multiply(pair(0)?, pair(1)?)),
            Op::And | Op::Or | Op::Xor => two(self.both(data.op, pair(0)?, pair(1)?)),
            Op::Not | Op::Freeze | Op::SgReadFirst | Op::SgReduce | Op::SgScan => {
                let (low, high) = pair(0)?;
                two((self.by_half(data, &[low]), self.by_half(data, &[high])))
            }
            Op::SgBallot => {
                let Imm::Subgroup(info) = data.imm else { return None };
                let vote = one(0)?;
                let low = self.b.inst(Op::SgBallot, data.flags, data.imm, &[vote], &[Type::I32]);
                let low = self.b.func.result(low)?;
                // A ballot of 32 bits has the lower lanes only: each of the others gives its own bit.
                let id = self.b.inst(Op::SgId, Flags::NONE, data.imm, &[], &[Type::I32]);
                let id = self.b.func.result(id)?;
                let [zero, one, last] = [0, 1, 31].map(|n| self.number(Type::I32, n));
                let is_upper = self.op(Op::IcmpUlt, &[last, id]);
                let votes = self.op(Op::And, &[vote, is_upper]);
                let bit = self.op(Op::Shl, &[one, id]);
                let bit = self.b.select(votes, bit, zero);
                let all = Imm::Subgroup(SubgroupInfo { reduce: Reduce::Or, exclusive: false, ..info });
                two((low, self.b.op_imm(Op::SgReduce, Flags::NONE, all, &[bit])))
            }
            Op::SgShuffle | Op::SgShuffleXor | Op::SgShuffleUp | Op::SgShuffleDown => {
                let ((low, high), lane) = (pair(0)?, one(1)?);
                two((self.by_half(data, &[low, lane]), self.by_half(data, &[high, lane])))
            }
            Op::Shl | Op::Ushr | Op::Sshr => two(self.shift(data.op, pair(0)?, pair(1)?.0)),
            Op::IcmpEq | Op::IcmpNe | Op::IcmpUlt | Op::IcmpUle | Op::IcmpSlt | Op::IcmpSle => {
                Some(Made::One(self.compare(data.op, pair(0)?, pair(1)?)))
            }
            Op::Imin | Op::Imax | Op::Umin | Op::Umax => {
                let (x, y) = (pair(0)?, pair(1)?);
                let (op, first, second) = match data.op {
                    Op::Imin => (Op::IcmpSlt, x, y),
                    Op::Imax => (Op::IcmpSlt, y, x),
                    Op::Umin => (Op::IcmpUlt, x, y),
                    _ => (Op::IcmpUlt, y, x),
                };
                let is_first = self.compare(op, first, second);
                two(self.select(is_first, x, y))
            }
            Op::Select => {
                let condition = one(0)?;
                two(self.select(condition, pair(1)?, pair(2)?))
            }
            Op::Zext | Op::Sext => {
                let (v, to) = (one(0)?, half(ty?));
                let low = self.convert(data.op, v, to);
                let high = match data.op {
                    Op::Zext => self.number(to, 0),
                    _ => self.op_number(Op::Sshr, low, 31),
                };
                two((low, high))
            }
            Op::TruncInt => {
                let (low, _) = pair(0)?;
                Some(Made::One(self.convert(Op::TruncInt, low, ty?)))
            }
            Op::U2f | Op::S2f => Some(Made::One(self.float_of(data.op, pair(0)?, ty?))),
            Op::F2u | Op::F2s => two(self.of_float(data.op, one(0)?, half(ty?))),
            Op::Udiv | Op::Urem | Op::Sdiv if data.flags.div_zero() == DivZero::Never => {
                two(self.divide(data.op, pair(0)?, pair(1)?))
            }
            Op::Bitcast => self.cast(args.first().copied()?, *types.first()?, ty?),
            Op::Splat | Op::Build | Op::Extract | Op::Insert | Op::Shuffle => {
                let low: Option<SmallVec<[Value; 4]>> = (0..args.len()).map(|i| Some(pair(i)?.0)).collect();
                let high: Option<SmallVec<[Value; 4]>> = (0..args.len()).map(|i| Some(pair(i)?.1)).collect();
                let to = half(ty?);
                let mut lanes = |args: &[Value]| {
                    let made = self.b.inst(data.op, data.flags, data.imm, args, &[to]);
                    self.b.func.result(made)
                };
                two((lanes(&low?)?, lanes(&high?)?))
            }
            Op::Load => {
                let (offset, ty) = (one(0)?, ty?);
                let lanes: Option<SmallVec<[Pair; 4]>> =
                    (0..ty.lanes()).map(|lane| self.load(data, args, offset, lane)).collect();
                let lanes = lanes?;
                if let &[lane] = &lanes[..] {
                    return two(lane);
                }
                let low: SmallVec<[Value; 4]> = lanes.iter().map(|lane| lane.0).collect();
                let high: SmallVec<[Value; 4]> = lanes.iter().map(|lane| lane.1).collect();
                two((self.op(Op::Build, &low), self.op(Op::Build, &high)))
            }
            Op::Store => {
                let (offset, (low, high)) = (one(0)?, pair(1)?);
                for lane in 0..self.b.func.ty(low).lanes() {
                    self.store(data, args, offset, lane, (low, high));
                }
                None
            }
            Op::BufferSize => {
                let args: SmallVec<[Value; 2]> = (0..args.len()).filter_map(one).collect();
                let made = self.b.inst(data.op, data.flags, data.imm, &args, &[Type::I32]);
                let low = self.b.func.result(made)?;
                let high = self.number(Type::I32, 0);
                two((low, high))
            }
            _ => None,
        }
    }

    /// The same op on a half.
    fn by_half(&mut self, data: &InstData, args: &[Value]) -> Value {
        self.b.op_imm(data.op, data.flags, data.imm, args)
    }

    fn convert(&mut self, op: Op, v: Value, ty: Type) -> Value {
        if self.b.func.ty(v) == ty { v } else { self.b.convert(op, Flags::NONE, v, ty) }
    }

    fn add(&mut self, (xl, xh): Pair, (yl, yh): Pair) -> Pair {
        let low = self.op(Op::Iadd, &[xl, yl]);
        let carries = self.op(Op::IcmpUlt, &[low, xl]);
        let high = self.op(Op::Iadd, &[xh, yh]);
        let ty = self.b.func.ty(low);
        let carry = self.convert(Op::Zext, carries, ty);
        (low, self.op(Op::Iadd, &[high, carry]))
    }

    fn subtract(&mut self, (xl, xh): Pair, (yl, yh): Pair) -> Pair {
        let low = self.op(Op::Isub, &[xl, yl]);
        let borrows = self.op(Op::IcmpUlt, &[xl, yl]);
        let high = self.op(Op::Isub, &[xh, yh]);
        let ty = self.b.func.ty(low);
        let borrow = self.convert(Op::Zext, borrows, ty);
        (low, self.op(Op::Isub, &[high, borrow]))
    }

    fn negate(&mut self, x: Pair) -> Pair {
        let zero = self.number(self.b.func.ty(x.0), 0);
        self.subtract((zero, zero), x)
    }

    /// `-x` where `is_negative`.
    fn negate_if(&mut self, is_negative: Value, x: Pair) -> Pair {
        let negated = self.negate(x);
        self.select(is_negative, negated, x)
    }

    fn is_negative(&mut self, x: Pair) -> Value {
        let zero = self.number(self.b.func.ty(x.1), 0);
        self.op(Op::IcmpSlt, &[x.1, zero])
    }

    fn multiply(&mut self, (xl, xh): Pair, (yl, yh): Pair) -> Pair {
        let low = self.op(Op::Imul, &[xl, yl]);
        let carried = legalize::high_product(self.b, self.lacks.arithmetic, xl, yl);
        let [of_high, of_low] = [[xh, yl], [xl, yh]].map(|args| self.op(Op::Imul, &args));
        let sum = self.op(Op::Iadd, &[carried, of_high]);
        (low, self.op(Op::Iadd, &[sum, of_low]))
    }

    fn shift(&mut self, op: Op, (low, high): Pair, n: Value) -> Pair {
        let ty = self.b.func.ty(low);
        // What leaves a half comes into the other one: `31 - n` after one, since `32 - n` may be 32.
        let rest = self.op_number(Op::Xor, n, 31);
        let far = self.op_number(Op::And, n, 32);
        let zero = self.number(ty, 0);
        let is_far = self.op(Op::IcmpNe, &[far, zero]);
        if op == Op::Shl {
            let near_low = self.op(Op::Shl, &[low, n]);
            let kept = self.op(Op::Shl, &[high, n]);
            let moved = self.op_number(Op::Ushr, low, 1);
            let moved = self.op(Op::Ushr, &[moved, rest]);
            let near_high = self.op(Op::Or, &[kept, moved]);
            return self.select(is_far, (zero, near_low), (near_low, near_high));
        }
        let near_high = self.op(op, &[high, n]);
        let kept = self.op(Op::Ushr, &[low, n]);
        let moved = self.op_number(Op::Shl, high, 1);
        let moved = self.op(Op::Shl, &[moved, rest]);
        let near_low = self.op(Op::Or, &[kept, moved]);
        let signs = if op == Op::Sshr { self.op_number(Op::Sshr, high, 31) } else { zero };
        self.select(is_far, (near_high, signs), (near_low, near_high))
    }

    fn compare(&mut self, op: Op, (xl, xh): Pair, (yl, yh): Pair) -> Value {
        match op {
            Op::IcmpEq | Op::IcmpNe => {
                let [low, high] = [[xl, yl], [xh, yh]].map(|args| self.op(op, &args));
                self.op(if op == Op::IcmpEq { Op::And } else { Op::Or }, &[low, high])
            }
            _ => {
                let (of_high, of_low) = match op {
                    Op::IcmpUlt => (Op::IcmpUlt, Op::IcmpUlt),
                    Op::IcmpUle => (Op::IcmpUlt, Op::IcmpUle),
                    Op::IcmpSlt => (Op::IcmpSlt, Op::IcmpUlt),
                    _ => (Op::IcmpSlt, Op::IcmpUle),
                };
                let less = self.op(of_high, &[xh, yh]);
                let equal = self.op(Op::IcmpEq, &[xh, yh]);
                let below = self.op(of_low, &[xl, yl]);
                let by_low = self.op(Op::And, &[equal, below]);
                self.op(Op::Or, &[less, by_low])
            }
        }
    }

    /// `2^n` as a float of kind `kind`.
    fn power(&mut self, ty: Type, n: i32) -> Value {
        let bits = match ty.kind() {
            Kind::F64 => 2f64.powi(n).to_bits(),
            _ => u64::from(2f32.powi(n).to_bits()),
        };
        self.number(ty, bits)
    }

    /// The nearest float, ties to even.
    fn float_of(&mut self, op: Op, x: Pair, ty: Type) -> Value {
        let is_negative = (op == Op::S2f).then(|| self.is_negative(x));
        let (low, high) = is_negative.map_or(x, |is_negative| self.negate_if(is_negative, x));
        let int = self.b.func.ty(low);
        let zero = self.number(int, 0);
        let made = match ty.kind() {
            Kind::F64 => {
                // Both halves are exact, and so is the higher one's product: the sum rounds once.
                let [low, high] = [low, high].map(|v| self.b.convert(Op::U2f, Flags::NONE, v, ty));
                let scale = self.power(ty, 32);
                let high = self.op(Op::Fmul, &[high, scale]);
                self.op(Op::Fadd, &[high, low])
            }
            Kind::F16 => {
                // From 2^32 on all is infinity, as is the greatest word.
                let is_large = self.op(Op::IcmpNe, &[high, zero]);
                let ones = self.number(int, u64::from(u32::MAX));
                let word = self.b.select(is_large, ones, low);
                self.b.convert(Op::U2f, Flags::NONE, word, ty)
            }
            _ => {
                // The highest 32 bits, the last one telling of those that are lost: more than a float rounds.
                let is_small = self.op(Op::IcmpEq, &[high, zero]);
                let zeros = self.op(Op::Clz, &[high]);
                let kept = self.op(Op::Shl, &[high, zeros]);
                let rest = self.op_number(Op::Xor, zeros, 31);
                let moved = self.op_number(Op::Ushr, low, 1);
                let moved = self.op(Op::Ushr, &[moved, rest]);
                let top = self.op(Op::Or, &[kept, moved]);
                let lost = self.op(Op::Shl, &[low, zeros]);
                let is_inexact = self.op(Op::IcmpNe, &[lost, zero]);
                let sticky = self.convert(Op::Zext, is_inexact, int);
                let top = self.op(Op::Or, &[top, sticky]);
                let word = self.b.select(is_small, low, top);
                let float = self.b.convert(Op::U2f, Flags::NONE, word, ty);
                // Times 2^(32 - zeros), or 1.
                let bias = self.number(int, 127 + 32);
                let exponent = self.op(Op::Isub, &[bias, zeros]);
                let none = self.number(int, 127);
                let exponent = self.b.select(is_small, none, exponent);
                let bits = self.op_number(Op::Shl, exponent, 23);
                let scale = self.b.convert(Op::Bitcast, Flags::NONE, bits, ty);
                self.op(Op::Fmul, &[float, scale])
            }
        };
        match is_negative {
            Some(is_negative) => {
                let negated = self.op(Op::Fneg, &[made]);
                self.b.select(is_negative, negated, made)
            }
            None => made,
        }
    }

    /// A float in range, towards zero.
    fn of_float(&mut self, op: Op, x: Value, to: Type) -> Pair {
        let ty = self.b.func.ty(x);
        let magnitude = if op == Op::F2s { self.op(Op::Fabs, &[x]) } else { x };
        let [down, up] = [-32, 32].map(|n| self.power(ty, n));
        let scaled = self.op(Op::Fmul, &[magnitude, down]);
        let high = self.op(Op::Floor, &[scaled]);
        let of_high = self.op(Op::Fmul, &[high, up]);
        let low = self.op(Op::Fsub, &[magnitude, of_high]);
        let [low, high] = [low, high].map(|v| self.b.convert(Op::F2u, Flags::NONE, v, to));
        if op == Op::F2u {
            return (low, high);
        }
        let zero = self.number(ty, 0);
        let is_negative = self.op(Op::FcmpOlt, &[x, zero]);
        self.negate_if(is_negative, (low, high))
    }

    /// Quotient or remainder by a divisor that is not 0, lane by lane.
    fn divide(&mut self, op: Op, x: Pair, y: Pair) -> Pair {
        self.divides = true;
        let signs = (op == Op::Sdiv).then(|| {
            let signs = self.op(Op::Xor, &[x.1, y.1]);
            let [of_x, of_y] = [x, y].map(|v| self.is_negative(v));
            let zero = self.number(self.b.func.ty(signs), 0);
            (self.op(Op::IcmpSlt, &[signs, zero]), of_x, of_y)
        });
        let (x, y) = match signs {
            Some((_, of_x, of_y)) => (self.negate_if(of_x, x), self.negate_if(of_y, y)),
            None => (x, y),
        };
        let lanes = self.b.func.ty(x.0).lanes();
        let made: SmallVec<[Pair; 4]> = (0..lanes)
            .map(|lane| {
                let args = [x.0, x.1, y.0, y.1].map(|v| self.lane(v, lane));
                let call = self.b.call(self.divider, &args, &[Type::I32; 4]);
                let results = self.b.func.results(call);
                let at = if op == Op::Urem { 2 } else { 0 };
                (results[at], results[at + 1])
            })
            .collect();
        let made = match &made[..] {
            &[lane] => lane,
            lanes => {
                let low: SmallVec<[Value; 4]> = lanes.iter().map(|lane| lane.0).collect();
                let high: SmallVec<[Value; 4]> = lanes.iter().map(|lane| lane.1).collect();
                (self.op(Op::Build, &low), self.op(Op::Build, &high))
            }
        };
        match signs {
            Some((is_negative, ..)) => self.negate_if(is_negative, made),
            None => made,
        }
    }

    fn lane(&mut self, v: Value, lane: u8) -> Value {
        if self.b.func.ty(v).is_scalar() { v } else { self.b.extract(v, lane) }
    }

    /// Bits as or of another type, lane 0 lowest.
    fn cast(&mut self, v: Made, from: Type, to: Type) -> Option<Made> {
        if from.kind() == Kind::I64 && to.kind() == Kind::I64 {
            return Some(v);
        }
        let words = self.words(v, from)?;
        let vector = |h: &mut Self, words: &[Value]| match *words {
            [word] => word,
            _ => h.op(Op::Build, words),
        };
        let mut lanes: [SmallVec<[Value; 4]>; 2] = Default::default();
        if to.kind().bits() < 64 {
            let whole = vector(self, &words);
            return Some(Made::One(self.convert(Op::Bitcast, whole, to)));
        }
        for pair in words.chunks_exact(2) {
            if to.kind() == Kind::I64 {
                (0..).zip(&mut lanes).for_each(|(n, half)| half.push(pair[n]));
            } else {
                let pair = self.op(Op::Build, pair);
                lanes[0].push(self.convert(Op::Bitcast, pair, to.lane()));
            }
        }
        let [low, high] = &lanes;
        let low = vector(self, low);
        Some(if high.is_empty() { Made::One(low) } else { Made::Two(low, vector(self, high)) })
    }

    /// The 32-bit words of a number whose lanes have 64 bits in all, or a multiple of that.
    fn words(&mut self, v: Made, ty: Type) -> Option<SmallVec<[Value; 8]>> {
        let mut words = SmallVec::new();
        match v {
            Made::Two(low, high) => {
                for lane in 0..ty.lanes() {
                    words.extend([low, high].map(|half| self.lane(half, lane)));
                }
            }
            Made::One(v) if ty.kind().bits() == 64 => {
                for lane in 0..ty.lanes() {
                    let lane = self.lane(v, lane);
                    let pair = self.convert(Op::Bitcast, lane, Type::I32X2);
                    words.extend([0, 1].map(|half| self.b.extract(pair, half)));
                }
            }
            Made::One(v) => {
                let lanes = u8::try_from(ty.bits() / 32).ok()?;
                let v = self.convert(Op::Bitcast, v, Type::I32.with_lanes(lanes)?);
                words.extend((0..lanes).map(|lane| self.b.extract(v, lane)));
            }
        }
        Some(words)
    }

    /// The offset of a lane, and operands behind it as they are.
    fn place(&mut self, args: &[Made], offset: Value, lane: u8) -> SmallVec<[Value; 4]> {
        let at = match lane {
            0 => offset,
            _ => self.op_number(Op::Iadd, offset, 8 * u64::from(lane)),
        };
        let rest = args.iter().skip(1).filter_map(|v| match v {
            Made::One(v) => Some(*v),
            Made::Two(..) => None,
        });
        std::iter::once(at).chain(rest).collect()
    }

    fn load(&mut self, data: &InstData, args: &[Made], offset: Value, lane: u8) -> Option<Pair> {
        let args = self.place(args, offset, lane);
        let made = self.b.inst(Op::Load, data.flags, data.imm, &args, &[Type::I32X2]);
        let words = self.b.func.result(made)?;
        Some((self.b.extract(words, 0), self.b.extract(words, 1)))
    }

    fn store(&mut self, data: &InstData, args: &[Made], offset: Value, lane: u8, (low, high): Pair) {
        let [low, high] = [low, high].map(|v| self.lane(v, lane));
        let words = self.op(Op::Build, &[low, high]);
        let mut args = self.place(args, offset, lane);
        args.insert(1, words);
        self.b.inst(Op::Store, data.flags, data.imm, &args, &[]);
    }
}
