//! Single and double arithmetic.

use super::compare::compare_flags;
use super::cx::{Cx, Lift};
use super::regs::Flag;
use crate::inst::{Inst, Operand, Role, Value as Named};
use crate::modifier::{Denorm, Mod, MufuOp, Rounding, Scale};
use xenoglot_ir::{Bits, Flags, Op, Round, Type, Value};

/// `.FTZ`, `.FMZ`, rounding and `.SAT` of an instruction.
pub(super) fn arithmetic(inst: &Inst) -> Lift<Flags> {
    let denormals = match inst.get(Mod::Denorm)? {
        Denorm::Keep => Flags::NONE,
        Denorm::Ftz => Flags::NONE.with_ftz(),
        Denorm::Fmz => Flags::NONE.with_ftz().with_fmz(),
    };
    Ok(result_flags(inst)?.union(denormals))
}

/// Rounding and `.SAT` of an instruction.
pub(super) fn result_flags(inst: &Inst) -> Lift<Flags> {
    let flags = Flags::NONE.with_round(match inst.get(Mod::Rounding)? {
        Rounding::Rn => Round::Natural,
        Rounding::Rm => Round::Down,
        Rounding::Rp => Round::Up,
        Rounding::Rz => Round::Zero,
    });
    Ok(if inst.has(Mod::Sat) { flags.with_sat() } else { flags })
}

impl Cx<'_> {
    /// Writes a float result, and where the instruction has `.CC` the flags: a NaN is both zero and negative, as the
    /// tests of condition codes have it.
    fn set_float_dst(&mut self, inst: &Inst, v: Value) -> Lift<()> {
        let ty = self.b.func.ty(v);
        if inst.has(Mod::Cc) {
            let zero = self.b.constant(ty, Bits::scalar(0));
            self.set_flag_by(Flag::Zero, |cx| cx.op(Op::FcmpUeq, &[v, zero]));
            self.set_flag_by(Flag::Sign, |cx| cx.op(Op::FcmpUlt, &[v, zero]));
            for flag in [Flag::Carry, Flag::Overflow] {
                self.set_flag_by(flag, |cx| cx.truth(false));
            }
        }
        if ty == Type::F64 { self.set_dst64(inst, v) } else { self.set_dst(inst, v) }
    }

    /// FADD, FADD32I.
    pub fn fadd(&mut self, inst: &Inst) -> Lift<()> {
        let (a, b) = (self.float(inst, Role::A)?, self.float(inst, Role::B)?);
        let v = self.b.op_flags(Op::Fadd, arithmetic(inst)?, &[a, b]);
        self.set_float_dst(inst, v)
    }

    /// FMUL, FMUL32I. The scale goes to a factor, which is exact unless it leaves the range of normals.
    pub fn fmul(&mut self, inst: &Inst) -> Lift<()> {
        let (a, b) = (self.float(inst, Role::A)?, self.float(inst, Role::B)?);
        let factor = match inst.get(Mod::Scale)? {
            Scale::None => None,
            Scale::D2 => Some(0.5),
            Scale::D4 => Some(0.25),
            Scale::D8 => Some(0.125),
            Scale::M8 => Some(8.0),
            Scale::M4 => Some(4.0),
            Scale::M2 => Some(2.0),
        };
        let a = match factor {
            Some(factor) => {
                let factor = self.b.f32(factor);
                self.op(Op::Fmul, &[a, factor])
            }
            None => a,
        };
        let v = self.b.op_flags(Op::Fmul, arithmetic(inst)?, &[a, b]);
        self.set_float_dst(inst, v)
    }

    /// FFMA, FFMA32I.
    pub fn ffma(&mut self, inst: &Inst) -> Lift<()> {
        let (a, b, c) = (self.float(inst, Role::A)?, self.float(inst, Role::B)?, self.float(inst, Role::C)?);
        let v = self.b.op_flags(Op::Fma, arithmetic(inst)?, &[a, b, c]);
        self.set_float_dst(inst, v)
    }

    /// The minimum where the predicate holds, else the maximum; a NaN gives way to a number, and -0 is less than +0.
    fn min_max(&mut self, inst: &Inst, a: Value, b: Value) -> Lift<Value> {
        let least = self.pred_operand(inst, Role::Pred)?;
        let flags = compare_flags(inst)?;
        let (min, max) =
            (self.b.op_flags(Op::Fmin, flags, &[a, b]), self.b.op_flags(Op::Fmax, flags, &[a, b]));
        let ordered = self.select(least, min, max);
        let nonzero = |o: &Operand| match o.value {
            Named::F32(v) => f32::from_bits(v).is_normal(),
            Named::F64(v) => f64::from_bits(v).is_normal(),
            _ => false,
        };
        if inst.operands().iter().any(nonzero) {
            return Ok(ordered);
        }
        // Of equal numbers, the bits together are both of them, or the zero wanted.
        let ty = self.b.func.ty(a);
        let bits = if ty == Type::F64 { Type::I64 } else { Type::I32 };
        let words = [a, b].map(|v| {
            let v = if flags.ftz() { self.b.op_flags(Op::Fmin, flags, &[v, v]) } else { v };
            self.cast(v, bits)
        });
        let (either, both) = (self.op(Op::Or, &words), self.op(Op::And, &words));
        let zeros = self.select(least, either, both);
        let (zeros, equal) = (self.cast(zeros, ty), self.b.op_flags(Op::FcmpOeq, flags, &[a, b]));
        Ok(self.select(equal, zeros, ordered))
    }

    /// FMNMX.
    pub fn fmnmx(&mut self, inst: &Inst) -> Lift<()> {
        let (a, b) = (self.float(inst, Role::A)?, self.float(inst, Role::B)?);
        let v = self.min_max(inst, a, b)?;
        self.set_float_dst(inst, v)
    }

    /// DMNMX.
    pub fn dmnmx(&mut self, inst: &Inst) -> Lift<()> {
        let (a, b) = (self.double(inst, Role::A)?, self.double(inst, Role::B)?);
        let v = self.min_max(inst, a, b)?;
        self.set_float_dst(inst, v)
    }

    /// DADD, DMUL.
    pub fn double_binary(&mut self, inst: &Inst, op: Op) -> Lift<()> {
        let (a, b) = (self.double(inst, Role::A)?, self.double(inst, Role::B)?);
        let v = self.b.op_flags(op, arithmetic(inst)?, &[a, b]);
        self.set_float_dst(inst, v)
    }

    /// DFMA.
    pub fn dfma(&mut self, inst: &Inst) -> Lift<()> {
        let (a, b, c) =
            (self.double(inst, Role::A)?, self.double(inst, Role::B)?, self.double(inst, Role::C)?);
        let v = self.b.op_flags(Op::Fma, arithmetic(inst)?, &[a, b, c]);
        self.set_float_dst(inst, v)
    }

    /// RRO: the range reduction that MUFU's host operations do themselves.
    pub fn rro(&mut self, inst: &Inst) -> Lift<()> {
        let v = self.float(inst, Role::B)?;
        self.set_dst(inst, v)
    }

    /// MUFU. The operations on doubles take and give upper words, the lower ones being zero.
    pub fn mufu(&mut self, inst: &Inst) -> Lift<()> {
        let op = match inst.get(Mod::MufuOp)? {
            MufuOp::Cos => Op::Cos,
            MufuOp::Sin => Op::Sin,
            MufuOp::Ex2 => Op::Exp2,
            MufuOp::Lg2 => Op::Log2,
            MufuOp::Rcp | MufuOp::Rcp64h => Op::Rcp,
            MufuOp::Rsq | MufuOp::Rsq64h => Op::Rsqrt,
            MufuOp::Sqrt => Op::Sqrt,
        };
        let flags = arithmetic(inst)?;
        let a = self.float(inst, Role::A)?;
        if matches!(inst.get(Mod::MufuOp)?, MufuOp::Rcp64h | MufuOp::Rsq64h) {
            let (high, zero) = (self.cast(a, Type::I32), self.zero());
            let double = self.join([zero, high], Type::F64);
            let v = self.b.op_flags(op, flags, &[double]);
            let [_, high] = self.split(v);
            return self.set_dst(inst, high);
        }
        let v = self.b.op_flags(op, flags, &[a]);
        self.set_dst(inst, v)
    }

    /// FCHK: whether A / B is beyond what a reciprocal and Newton steps in singles get right, so that the code goes its
    /// slow way. The exact border is not known; the slow way is right for all, so this one keeps off it by far.
    pub fn fchk(&mut self, inst: &Inst) -> Lift<()> {
        let [a, b] = [Role::A, Role::B].map(|role| self.float(inst, role));
        let exponents = [a?, b?].map(|v| {
            let bits = self.cast(v, Type::I32);
            self.field(bits, 23, 8, false)
        });
        let within = |cx: &mut Self, v: Value, least: u32, most: u32| {
            let (least, span) = (cx.number(least), cx.number(most.wrapping_sub(least)));
            let v = cx.op(Op::Isub, &[v, least]);
            cx.op(Op::IcmpUle, &[v, span])
        };
        let difference = self.op(Op::Isub, &exponents);
        let tests = [
            within(self, exponents[0], 64, 250),
            within(self, exponents[1], 4, 250),
            within(self, difference, -96i32 as u32, 96),
        ];
        let both = self.op(Op::And, &[tests[0], tests[1]]);
        let fast = self.op(Op::And, &[both, tests[2]]);
        let slow = self.not(fast);
        self.set_dst_pred(inst, Role::DstPred, slow);
        Ok(())
    }
}
