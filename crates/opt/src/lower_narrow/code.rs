//! What an instruction on narrow numbers becomes.

use super::helpers::{Help, Helpers};
use super::{Options, widen_constant};
use crate::legalize::Code;
use smallvec::SmallVec;
use xenoglot_ir::entity::EntityRef;
use xenoglot_ir::{Flags, Inst, Kind, Op, Type, Value};

pub(super) struct Rewriter<'a> {
    pub(super) options: Options,
    /// Types before, by value of the function as it was.
    pub(super) old: &'a [Type],
    pub(super) helpers: &'a mut Helpers,
}

/// The word with the sign of its low `bits` in all bits above.
fn signed(c: &mut Code, bits: u32, v: Value) -> Value {
    let up = c.op_number(Op::Shl, v, u64::from(32 - bits));
    c.op_number(Op::Sshr, up, u64::from(32 - bits))
}

fn masked(c: &mut Code, bits: u32, v: Value) -> Value {
    c.op_number(Op::And, v, u64::from(u32::MAX >> (32 - bits)))
}

impl Rewriter<'_> {
    /// The type that a value had.
    fn was(&self, c: &Code, v: Value) -> Type {
        self.old.get(v.index()).copied().unwrap_or_else(|| c.ty(v))
    }

    fn is_narrow_int(&self, ty: Type) -> bool {
        ty.kind().is_int() && self.options.has(ty.kind())
    }

    fn is_half(&self, ty: Type) -> bool {
        ty.kind() == Kind::F16 && self.options.halves
    }

    /// What of a number from outside a register of type `ty` holds.
    pub(super) fn canonical(&mut self, c: &mut Code, ty: Type, v: Value) -> Value {
        if self.is_half(ty) {
            self.helpers.call(c, Help::Round, v)
        } else if self.is_narrow_int(ty) {
            masked(c, ty.kind().bits(), v)
        } else {
            v
        }
    }

    /// What an instruction's result becomes; `None` where the types alone change.
    pub(super) fn inst(&mut self, c: &mut Code, inst: Inst) -> Option<Value> {
        let args: SmallVec<[Value; 4]> = c.b.func.args(inst).into();
        let result = c.b.func.result(inst)?;
        let data = &c.b.func.insts[inst];
        let (op, flags) = (data.op, data.flags);
        let to = self.was(c, result);
        if op == Op::Const {
            if self.is_half(to) {
                widen_constant(c.b.func, inst);
            }
            return None;
        }
        let &first = args.first()?;
        let from = self.was(c, first);
        match op {
            Op::Zext | Op::Sext | Op::TruncInt => self.resize(c, op, first, from, to),
            Op::S2f | Op::U2f | Op::F2s | Op::F2u | Op::F2f => {
                Some(self.convert(c, op, flags, first, from, to))
            }
            Op::Bitcast => Some(self.cast(c, first, from, to)),
            _ if self.is_half(from) => self.float(c, op, flags, &args),
            _ if self.is_narrow_int(from) => int(c, op, flags, from.kind().bits(), &args),
            _ => None,
        }
    }

    /// An integer of another width.
    fn resize(&self, c: &mut Code, op: Op, v: Value, from: Type, to: Type) -> Option<Value> {
        let narrow = self.is_narrow_int(to);
        if from.kind() == Kind::Bool {
            // The word of a truth value; of all ones the narrow ones are kept.
            let word = (op == Op::Sext && narrow).then(|| c.convert(op, v, to.with_kind(Kind::I32)))?;
            return Some(masked(c, to.kind().bits(), word));
        }
        let v = match op {
            Op::Sext if self.is_narrow_int(from) => signed(c, from.kind().bits(), v),
            _ => v,
        };
        let wide = self.options.ty(to);
        let made = match op {
            // From words, as all narrow ones are, to pairs of words, or back.
            _ if c.ty(v).kind().bits() > wide.kind().bits() => c.convert(Op::TruncInt, v, wide),
            Op::Sext => c.convert(Op::Sext, v, wide),
            _ => c.convert(Op::Zext, v, wide),
        };
        let keeps = op == Op::Zext || !narrow;
        Some(if keeps { made } else { masked(c, to.kind().bits(), made) })
    }

    fn convert(&mut self, c: &mut Code, op: Op, mut flags: Flags, v: Value, from: Type, to: Type) -> Value {
        let mut v = v;
        if op == Op::S2f && self.is_narrow_int(from) {
            v = signed(c, from.kind().bits(), v);
        }
        if self.is_half(from) && flags.ftz() {
            v = self.helpers.call(c, Help::Flush, v);
            flags = if self.is_half(to) { flags } else { flags.without_ftz() };
        }
        if self.is_half(to) {
            let single = to.with_kind(Kind::F32);
            if c.ty(v) != single {
                v = c.b.convert(op, Flags::NONE, v, single);
            }
            return self.finished(c, flags, v);
        }
        if !self.is_narrow_int(to) {
            if op == Op::F2f && c.ty(v) == to {
                return if flags.sat() { c.op(Op::Fsat, &[v]) } else { v };
            }
            return c.b.convert(op, flags, v, to);
        }
        let (word, bits) = (to.with_kind(Kind::I32), to.kind().bits());
        let mut made = c.b.convert(op, flags, v, word);
        if flags.clamp() {
            let most = u64::from(u32::MAX >> (32 - bits));
            made = if op == Op::F2u {
                c.op_number(Op::Umin, made, most)
            } else {
                let made = c.op_number(Op::Imin, made, most >> 1);
                c.op_number(Op::Imax, made, u64::from(u32::MAX) & !(most >> 1))
            };
        }
        masked(c, bits, made)
    }

    /// A float as the half it rounds to, with the flags that say what is done to a result.
    fn finished(&mut self, c: &mut Code, flags: Flags, v: Value) -> Value {
        let mut v = self.helpers.call(c, Help::Round, v);
        if flags.ftz() {
            v = self.helpers.call(c, Help::Flush, v);
        }
        if flags.sat() { c.op(Op::Fsat, &[v]) } else { v }
    }

    /// An op on halves.
    fn float(&mut self, c: &mut Code, op: Op, flags: Flags, args: &[Value]) -> Option<Value> {
        let plain = flags.without_ftz().without_sat();
        let mut args: SmallVec<[Value; 4]> = args.into();
        if flags.ftz() {
            for v in &mut args {
                if c.ty(*v).kind() == Kind::F32 {
                    *v = self.helpers.call(c, Help::Flush, *v);
                }
            }
        }
        let exact = match op {
            Op::FcmpOeq | Op::FcmpOne | Op::FcmpOlt | Op::FcmpOle | Op::FcmpUeq | Op::FcmpUne => true,
            Op::FcmpUlt | Op::FcmpUle | Op::FcmpOrd | Op::FcmpUno => true,
            Op::Fneg | Op::Fabs | Op::Fmin | Op::Fmax | Op::Fsat => true,
            Op::Floor | Op::Ceil | Op::Trunc | Op::RoundEven => true,
            Op::Fadd | Op::Fsub | Op::Fmul | Op::Fdiv | Op::Fma | Op::Fract => false,
            Op::Sqrt | Op::Rsqrt | Op::Rcp | Op::Exp2 | Op::Log2 | Op::Sin | Op::Cos => false,
            Op::DdxCoarse | Op::DdxFine | Op::DdyCoarse | Op::DdyFine => false,
            // Moves.
            _ => return None,
        };
        let made = c.with(op, plain, &args);
        Some(match exact {
            true if flags.sat() => c.op(Op::Fsat, &[made]),
            true => made,
            false => self.finished(c, flags, made),
        })
    }

    /// The same bits as another type, lane 0 lowest.
    fn cast(&mut self, c: &mut Code, v: Value, from: Type, to: Type) -> Value {
        if from.lanes() == to.lanes() {
            let words = self.bits(c, v, from);
            return self.of_bits(c, words, to);
        }
        let words = self.words(c, v, from);
        let width = to.kind().bits();
        let lanes: SmallVec<[Value; 4]> = (0..u32::from(to.lanes()))
            .filter_map(|lane| {
                let at = lane * width;
                let &word = words.get(at as usize / 32)?;
                Some(match width {
                    64 => {
                        let &high = words.get(at as usize / 32 + 1)?;
                        let pair = c.op(Op::Build, &[word, high]);
                        c.cast(pair, to.lane())
                    }
                    32 => c.cast(word, to.lane()),
                    _ => {
                        let low = c.op_number(Op::Ushr, word, u64::from(at % 32));
                        let low = masked(c, width, low);
                        self.of_bits(c, low, to.lane())
                    }
                })
            })
            .collect();
        if let &[lane] = &lanes[..] { lane } else { c.op(Op::Build, &lanes) }
    }

    /// The bits of each lane of a number: narrow ones as words.
    fn bits(&mut self, c: &mut Code, v: Value, ty: Type) -> Value {
        if self.is_half(ty) {
            self.helpers.call(c, Help::Bits, v)
        } else if ty.kind().is_float() {
            c.bits(v)
        } else {
            v
        }
    }

    /// The number whose bits these are, lane by lane.
    fn of_bits(&mut self, c: &mut Code, bits: Value, ty: Type) -> Value {
        if self.is_half(ty) {
            self.helpers.call(c, Help::Value, bits)
        } else if ty.kind().is_float() {
            c.cast(bits, ty)
        } else {
            bits
        }
    }

    /// The bits of all lanes in words.
    fn words(&mut self, c: &mut Code, v: Value, ty: Type) -> SmallVec<[Value; 8]> {
        let mut words: SmallVec<[Value; 8]> = SmallVec::new();
        let width = ty.kind().bits();
        if width == 64 {
            for lane in 0..ty.lanes() {
                let lane = c.lane(v, lane);
                let pair = c.cast(lane, Type::I32X2);
                words.extend([0, 1].map(|half| c.lane(pair, half)));
            }
            return words;
        }
        let bits = self.bits(c, v, ty);
        for lane in 0..ty.lanes() {
            let at = u32::from(lane) * width;
            let lane = c.lane(bits, lane);
            let moved = c.op_number(Op::Shl, lane, u64::from(at % 32));
            match words.last_mut() {
                Some(word) if !at.is_multiple_of(32) => *word = c.op(Op::Or, &[*word, moved]),
                _ => words.push(moved),
            }
        }
        words
    }
}

/// An op on narrow integers of so many bits.
fn int(c: &mut Code, op: Op, flags: Flags, bits: u32, args: &[Value]) -> Option<Value> {
    let mut args: SmallVec<[Value; 4]> = args.into();
    match op {
        Op::Shl | Op::Ushr | Op::Sshr => {
            args[1] = c.op_number(Op::And, args[1], u64::from(bits - 1));
            if op == Op::Sshr {
                args[0] = signed(c, bits, args[0]);
            }
        }
        Op::Sdiv | Op::Srem | Op::Imin | Op::Imax | Op::IcmpSlt | Op::IcmpSle => {
            args.iter_mut().for_each(|v| *v = signed(c, bits, *v));
        }
        Op::Iadd | Op::Isub | Op::Imul | Op::Ineg | Op::Not | Op::Udiv | Op::Urem => {}
        // What keeps zeros above.
        _ => return None,
    }
    let made = c.with(op, flags, &args);
    let keeps = matches!(op, Op::Ushr | Op::IcmpSlt | Op::IcmpSle);
    Some(if keeps { made } else { masked(c, bits, made) })
}
