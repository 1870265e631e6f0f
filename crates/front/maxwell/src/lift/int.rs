//! Integer sums, minima and selections.

use super::Unsupported;
use super::cx::{Cx, Lift, dst, immediate, operand};
use super::regs::Flag;
use crate::inst::{Inst, Role};
use crate::modifier::{Iadd3Shift, MnmxMode, Mod};
use crate::opcode::Opcode;
use xenoglot_ir::{Op, Type, Value};

impl Cx<'_> {
    /// `a + b + carry` with `.CC` and `.SAT` of the instruction.
    fn sum(&mut self, inst: &Inst, a: Value, b: Value, carry: Option<Value>) -> Value {
        let (cc, sat) = (inst.has(Mod::Cc), inst.has(Mod::Sat));
        let sum = match carry {
            Some(carry) => self.op(Op::IaddCarry, &[a, b, carry]),
            None => self.op(Op::Iadd, &[a, b]),
        };
        if !cc && !sat {
            return sum;
        }
        let args = [a, b, carry.unwrap_or_else(|| self.truth(false))];
        let result = if sat {
            let overflow = self.op(Op::IaddOverflowOut, &args);
            let (zero, least, greatest) =
                (self.zero(), self.number(i32::MIN as u32), self.number(i32::MAX as u32));
            let negative = self.op(Op::IcmpSlt, &[a, zero]);
            let limit = self.select(negative, least, greatest);
            self.select(overflow, limit, sum)
        } else {
            sum
        };
        if cc {
            self.set_flags(result, |cx| cx.carry_out(sum, args), |cx| cx.op(Op::IaddOverflowOut, &args));
        }
        result
    }

    /// Whether `a + b + carry`, which is `sum`, does not fit.
    pub fn carry_out(&mut self, sum: Value, [a, b, carry]: [Value; 3]) -> Value {
        match self.known_number(carry) {
            Some(0) => self.op(Op::IcmpUlt, &[sum, a]),
            Some(_) => self.op(Op::IcmpUle, &[sum, a]),
            None => self.op(Op::IaddCarryOut, &[a, b, carry]),
        }
    }

    /// The sum of two operands that may be negated: as `a + !b + 1`, so that C says "no borrow"; with `.X` the carry
    /// takes the place of the one.
    pub fn signed_sum(&mut self, inst: &Inst, a: (Value, bool), b: (Value, bool)) -> Value {
        let plus_one = inst.has(Mod::PlusOne) || (a.1 && b.1);
        let extended = inst.has(Mod::X);
        if !extended && !plus_one && !inst.has(Mod::Cc) && !inst.has(Mod::Sat) {
            return match (a, b) {
                ((a, false), (b, true)) => self.op(Op::Isub, &[a, b]),
                ((a, true), (b, false)) => self.op(Op::Isub, &[b, a]),
                ((a, _), (b, _)) => self.op(Op::Iadd, &[a, b]),
            };
        }
        let mut inverted = |(v, negated): (Value, bool)| {
            if negated && !plus_one { self.op(Op::Not, &[v]) } else { v }
        };
        let (x, y) = (inverted(a), inverted(b));
        let carry = if extended {
            Some(self.flag(Flag::Carry))
        } else {
            (plus_one || a.1 || b.1).then(|| self.truth(true))
        };
        self.sum(inst, x, y, carry)
    }

    /// An operand without its sign, and whether it is negated.
    fn unsigned_operand(&mut self, inst: &Inst, role: Role) -> Lift<(Value, bool)> {
        let o = operand(inst, role)?;
        Ok((self.raw(&o)?, o.neg))
    }

    /// IADD, IADD32I.
    pub fn iadd(&mut self, inst: &Inst) -> Lift<()> {
        let (a, b) = (self.unsigned_operand(inst, Role::A)?, self.unsigned_operand(inst, Role::B)?);
        let v = self.signed_sum(inst, a, b);
        self.set_dst(inst, v)
    }

    /// IADD3. The shifted sum of A and B keeps its carry.
    pub fn iadd3(&mut self, inst: &Inst) -> Lift<()> {
        let shift: Iadd3Shift = inst.get(Mod::Iadd3Shift)?;
        let keeps_carry = inst.has(Mod::Cc) || inst.has(Mod::X);
        if shift == Iadd3Shift::None && keeps_carry {
            return self.extended_sum3(inst);
        }
        if shift == Iadd3Shift::Rs && !keeps_carry {
            let [a, b, c] = [operand(inst, Role::A)?, operand(inst, Role::B)?, operand(inst, Role::C)?];
            if let Some(v) = self.completed_high([&a, &b, &c])? {
                return self.set_dst(inst, v);
            }
        }
        let [a, b, c] = [Role::A, Role::B, Role::C].map(|role| self.int(inst, role));
        let (a, b, c) = (a?, b?, c?);
        if shift == Iadd3Shift::None {
            let v = self.op(Op::Iadd3, &[a, b, c]);
            return self.set_dst(inst, v);
        }
        let (none, half) = (self.truth(false), self.number(16));
        let first = self.op(Op::Iadd, &[a, b]);
        let first = if shift == Iadd3Shift::Ls {
            self.op(Op::Shl, &[first, half])
        } else {
            let carry = self.carry_out(first, [a, b, none]);
            let high = self.convert(Op::Zext, carry, Type::I32);
            self.op(Op::FunnelR, &[high, first, half])
        };
        let carry_in = if inst.has(Mod::X) { self.flag(Flag::Carry) } else { none };
        let v = self.sum(inst, first, c, Some(carry_in));
        self.set_dst(inst, v)
    }

    /// `IADD3.CC` and `IADD3.X`: parts of a sum of three wide numbers, whose carry is 0, 1 or 2.
    ///
    /// A negated operand goes in inverted with one added, as in IADD; with `.X` the carry takes the place of those ones.
    /// What comes in as carry is split over both additions, so each of them gives one carry out.
    fn extended_sum3(&mut self, inst: &Inst) -> Lift<()> {
        let mut negated = 0;
        let mut term = |cx: &mut Self, role| -> Lift<Value> {
            let o = operand(inst, role)?;
            let v = cx.raw(&o)?;
            let v = cx.part(v, o.part, false)?;
            negated += u32::from(o.neg);
            Ok(if o.neg { cx.op(Op::Not, &[v]) } else { v })
        };
        let (a, b, c) = (term(self, Role::A)?, term(self, Role::B)?, term(self, Role::C)?);
        let [one, other] = if inst.has(Mod::X) {
            [Flag::Carry, Flag::SecondCarry].map(|flag| self.flag(flag))
        } else if negated < 3 {
            [negated > 0, negated > 1].map(|added| self.truth(added))
        } else {
            // The carry could be 3; what the machine keeps of that is not known.
            return Err(Unsupported);
        };
        let first = [a, b, one];
        let second = [self.op(Op::IaddCarry, &first), c, other];
        let v = self.op(Op::IaddCarry, &second);
        if inst.has(Mod::Cc) {
            let sums = [(second[0], first), (v, second)];
            let carries = |cx: &mut Self| sums.map(|(sum, args)| cx.carry_out(sum, args));
            let any = |cx: &mut Self| {
                let carries = carries(cx);
                cx.op(Op::Or, &carries)
            };
            self.set_flags(v, any, |cx| cx.op(Op::IaddOverflowOut, &second));
            self.set_flag_by(Flag::SecondCarry, |cx| {
                let carries = carries(cx);
                cx.op(Op::And, &carries)
            });
        }
        self.set_dst(inst, v)
    }

    /// ISCADD, ISCADD32I: A shifted, plus B.
    pub fn iscadd(&mut self, inst: &Inst) -> Lift<()> {
        let ((a, negated), b) =
            (self.unsigned_operand(inst, Role::A)?, self.unsigned_operand(inst, Role::B)?);
        let shift = self.number(immediate(inst, Role::Number)? & 31);
        let a = self.op(Op::Shl, &[a, shift]);
        let v = self.signed_sum(inst, (a, negated), b);
        self.set_dst(inst, v)
    }

    /// LEA: as ISCADD; with `.HI` the upper word of C:A shifted.
    pub fn lea(&mut self, inst: &Inst) -> Lift<()> {
        let ((a, negated), b) =
            (self.unsigned_operand(inst, Role::A)?, self.unsigned_operand(inst, Role::B)?);
        let shift = inst.operand(Role::Number).and_then(|o| o.imm()).unwrap_or(0) & 31;
        let shift = self.number(shift);
        let a = if inst.has(Mod::High) {
            let c = self.int(inst, Role::C)?;
            self.op(Op::FunnelL, &[c, a, shift])
        } else {
            self.op(Op::Shl, &[a, shift])
        };
        let v = self.signed_sum(inst, (a, negated), b);
        // The predicate is an address check of which nothing else is known: its users do not depend on it.
        let no = self.truth(false);
        self.set_dst_pred(inst, Role::DstPred, no);
        self.set_dst(inst, v)
    }

    /// IMNMX: the minimum where the predicate holds, else the maximum.
    ///
    /// The parts of wider numbers are compared from the highest down (`.XHI`, `.XMED`, `.XLO`): Z says that all parts
    /// so far are equal, S that A is less.
    pub fn imnmx(&mut self, inst: &Inst) -> Lift<()> {
        let (a, b) = (self.int(inst, Role::A)?, self.int(inst, Role::B)?);
        let least = self.pred_operand(inst, Role::Pred)?;
        let mode: MnmxMode = inst.get(Mod::MnmxMode)?;
        let signed = is_signed(inst);
        let mut less = self.op(if signed { Op::IcmpSlt } else { Op::IcmpUlt }, &[a, b]);
        let mut equal = self.op(Op::IcmpEq, &[a, b]);
        if matches!(mode, MnmxMode::Xmed | MnmxMode::Xlo) {
            let (z, s) = (self.flag(Flag::Zero), self.flag(Flag::Sign));
            less = self.select(z, less, s);
            equal = self.op(Op::And, &[z, equal]);
        }
        let first = self.op(Op::IcmpEq, &[less, least]);
        let v = self.select(first, a, b);
        if inst.has(Mod::Cc) {
            let no = self.truth(false);
            for (flag, v) in Flag::ALL.into_iter().zip([equal, less, no, no]) {
                self.set_flag_by(flag, |_| v);
            }
        }
        self.set_dst(inst, v)
    }

    /// SEL.
    pub fn sel(&mut self, inst: &Inst) -> Lift<()> {
        let (a, b) = (self.int(inst, Role::A)?, self.int(inst, Role::B)?);
        let p = self.pred_operand(inst, Role::Pred)?;
        let v = self.select(p, a, b);
        self.set_dst(inst, v)
    }

    /// MOV, MOV32I. A write mask other than all lanes is of older machines.
    pub fn mov(&mut self, inst: &Inst) -> Lift<()> {
        let mut v = self.int(inst, Role::B)?;
        let mask = inst.operand(Role::Number).and_then(|o| o.imm()).filter(|mask| mask & 0xf != 0xf);
        if let Some(mask) = mask {
            // Lanes of the quad that move.
            let old = self.reg(dst(inst)?);
            let moves = self.is_in_quad_mask(mask & 0xf);
            v = self.select(moves, v, old);
        }
        self.set_dst(inst, v)
    }
}

/// Whether an operation with one sign modifier is signed.
pub(super) fn is_signed(inst: &Inst) -> bool {
    debug_assert!(!matches!(inst.op, Opcode::Imul | Opcode::Imad | Opcode::Xmad));
    inst.has(Mod::Signed)
}
