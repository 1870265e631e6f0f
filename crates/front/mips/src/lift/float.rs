//! Instructions of the floating-point unit.
//!
//! Regions run while FCSR asks for the usual: rounding to nearest, denormals kept, no exception enabled. The ops then are
//! those of any IEEE host, with two exceptions: what makes or takes a NaN is left to an interpreter, as NaNs of these
//! processors have the quiet bit the other way round, and cause bits are not computed, but the instruction that they are of
//! is noted with its operands ([`layout::LAST_FLOAT`](super::layout::LAST_FLOAT)). Flag bits are up to whoever runs the
//! function: inexact, underflow, overflow and division by zero of all float ops it executes.

use super::Reason;
use super::block::Lifter;
use super::registers::Register;
use crate::inst::{Fmt, Inst};
use crate::isa::Op;
use xenoglot_ir::{Bits, Flags, Op as Ir, Type, Value};

/// Cause bits of FCSR.
const CAUSE: u32 = 0x3f << 12;
/// Bits of FCSR that choose a rounding.
const ROUNDING: u32 = 3;

/// The bit of FCSR that has a condition.
fn condition_bit(cc: u8) -> u32 {
    if cc == 0 { 23 } else { 24 + u32::from(cc & 7) }
}

impl Lifter<'_> {
    /// Whether a condition holds.
    pub(super) fn float_condition(&mut self, cc: u8) -> Value {
        let (fcsr, bit) = (self.get(Register::Fcsr), self.b.i32(1 << condition_bit(cc)));
        let v = self.b.op(Ir::And, &[fcsr, bit]);
        let zero = self.b.i32(0);
        self.b.op(Ir::IcmpNe, &[v, zero])
    }

    /// A register of a format.
    fn operand(&mut self, register: u8, fmt: Option<Fmt>) -> Value {
        if fmt == Some(Fmt::D) { self.double(register) } else { self.single(register) }
    }

    fn float_bits(&mut self, v: Value) -> Value {
        if self.b.func.ty(v) == Type::F64 {
            return self.b.bitcast(v, Type::I64);
        }
        let v = self.b.bitcast(v, Type::I32);
        self.b.convert(Ir::Zext, Flags::NONE, v, Type::I64)
    }

    /// Notes an instruction whose cause bits are still to be found out.
    fn note(&mut self, inst: Inst, operands: &[Value]) {
        let word = self.b.i32(inst.word);
        self.set(Register::LastFloat, word);
        for (n, &operand) in (0..).zip(operands) {
            let bits = self.float_bits(operand);
            self.set(Register::LastOperand(n), bits);
        }
    }

    /// Clears the cause bits, of an instruction that had no exception, and sets others of FCSR.
    fn no_cause(&mut self, clear: u32, set: Option<Value>) {
        let none = self.b.i32(0);
        self.set(Register::LastFloat, none);
        let (fcsr, keep) = (self.get(Register::Fcsr), self.b.i32(!(CAUSE | clear)));
        let mut fcsr = self.b.op(Ir::And, &[fcsr, keep]);
        if let Some(set) = set {
            fcsr = self.b.op(Ir::Or, &[fcsr, set]);
        }
        self.set(Register::Fcsr, fcsr);
    }

    /// Leaves the instruction to an interpreter when its result is a NaN. Without this look at it, a result that nobody wants
    /// might not be computed, and its exceptions would be missing.
    fn number(&mut self, v: Value) {
        let is_nan = self.b.op(Ir::FcmpUno, &[v, v]);
        self.trap_if(is_nan, Reason::Float);
    }

    /// Lifts an instruction of the unit; whether it was one.
    pub(super) fn float(&mut self, inst: Inst) -> bool {
        let (fs, ft, fd, fmt) = (inst.fs(), inst.ft(), inst.fd(), inst.fmt());
        match inst.op {
            Op::Mfc1 | Op::Mfhc1 => {
                let v = self.fpr_bits(if inst.op == Op::Mfhc1 { fs | 1 } else { fs });
                self.set_gpr(inst.rt(), v);
            }
            Op::Mtc1 | Op::Mthc1 => {
                let v = self.gpr(inst.rt());
                self.set_fpr_bits(if inst.op == Op::Mthc1 { fs | 1 } else { fs }, v);
            }
            Op::AddF | Op::SubF | Op::MulF | Op::DivF => {
                let (a, b) = (self.operand(fs, fmt), self.operand(ft, fmt));
                let op = match inst.op {
                    Op::AddF => Ir::Fadd,
                    Op::SubF => Ir::Fsub,
                    Op::MulF => Ir::Fmul,
                    _ => Ir::Fdiv,
                };
                let v = self.b.op(op, &[a, b]);
                self.number(v);
                self.set_fpr(fd, v);
                self.note(inst, &[a, b]);
            }
            Op::MaddF | Op::MsubF | Op::NmaddF | Op::NmsubF => {
                // The product is rounded before the sum.
                let [a, b, c] = [fs, ft, inst.fr()].map(|register| self.operand(register, fmt));
                let product = self.b.op(Ir::Fmul, &[a, b]);
                let op = if matches!(inst.op, Op::MaddF | Op::NmaddF) { Ir::Fadd } else { Ir::Fsub };
                let mut v = self.b.op(op, &[product, c]);
                self.number(v);
                if matches!(inst.op, Op::NmaddF | Op::NmsubF) {
                    v = self.b.op(Ir::Fneg, &[v]);
                }
                self.set_fpr(fd, v);
                self.note(inst, &[a, b, c]);
            }
            Op::SqrtF => {
                let a = self.operand(fs, fmt);
                let v = self.b.op(Ir::Sqrt, &[a]);
                self.number(v);
                self.set_fpr(fd, v);
                self.note(inst, &[a]);
            }
            Op::AbsF | Op::NegF | Op::MovF => {
                let mut v = self.operand(fs, fmt);
                match inst.op {
                    Op::AbsF => v = self.b.op(Ir::Fabs, &[v]),
                    Op::NegF => v = self.b.op(Ir::Fneg, &[v]),
                    _ => {}
                }
                self.set_fpr(fd, v);
            }
            Op::MovfF | Op::MovtF | Op::MovzF | Op::MovnF => {
                let (v, old) = (self.operand(fs, fmt), self.operand(fd, fmt));
                let moves = match inst.op {
                    Op::MovtF => self.float_condition(inst.cc()),
                    Op::MovfF => {
                        let holds = self.float_condition(inst.cc());
                        self.b.not(holds)
                    }
                    _ => {
                        let (tested, zero) = (self.gpr(inst.rt()), self.b.i32(0));
                        let op = if inst.op == Op::MovzF { Ir::IcmpEq } else { Ir::IcmpNe };
                        self.b.op(op, &[tested, zero])
                    }
                };
                let v = self.b.select(moves, v, old);
                self.set_fpr(fd, v);
            }
            Op::CvtS | Op::CvtD => self.convert_to_float(inst),
            Op::CvtW | Op::RoundW | Op::TruncW | Op::CeilW | Op::FloorW => {
                if inst.op == Op::CvtW {
                    self.require_nearest();
                }
                let a = self.operand(fs, fmt);
                let v = self.word(inst.op, a);
                self.set_fpr_bits(fd, v);
                self.note(inst, &[a]);
            }
            Op::CompareF => self.compare(inst),
            _ => return false,
        }
        true
    }

    fn convert_to_float(&mut self, inst: Inst) {
        let to = if inst.op == Op::CvtS { Type::F32 } else { Type::F64 };
        if inst.fmt() == Some(Fmt::W) {
            let bits = self.fpr_bits(inst.fs());
            let v = self.b.convert(Ir::S2f, Flags::NONE, bits, to);
            self.number(v);
            self.set_fpr(inst.fd(), v);
            if to == Type::F64 {
                return self.no_cause(0, None);
            }
            let a = self.b.bitcast(bits, Type::F32);
            return self.note(inst, &[a]);
        }
        let a = self.operand(inst.fs(), inst.fmt());
        let v = self.b.convert(Ir::F2f, Flags::NONE, a, to);
        self.number(v);
        self.set_fpr(inst.fd(), v);
        if to == Type::F64 { self.no_cause(0, None) } else { self.note(inst, &[a]) }
    }

    /// Leaves the instruction to an interpreter where FCSR asks for another rounding than to nearest. Ops that round to the format of
    /// their result need no such test: the host's unit rounds as FCSR says while guest code runs.
    fn require_nearest(&mut self) {
        let (fcsr, mask, zero) = (self.get(Register::Fcsr), self.b.i32(ROUNDING), self.b.i32(0));
        let rounding = self.b.op(Ir::And, &[fcsr, mask]);
        let is_other = self.b.op(Ir::IcmpNe, &[rounding, zero]);
        self.trap_if(is_other, Reason::Float);
    }

    /// A float as a 32-bit integer.
    fn word(&mut self, op: Op, a: Value) -> Value {
        let double = self.b.func.ty(a) == Type::F64;
        // The rounded number is from -2^31 to 2^31 - 1. It is not rounded before that is known: a number that does not fit is
        // invalid, but not inexact. Singles of that size are integers.
        let (least, least_fits, beyond, beyond_fits) = match op {
            _ if !double => (-2_147_483_648.0, true, 2_147_483_648.0, false),
            Op::TruncW => (-2_147_483_649.0, false, 2_147_483_648.0, false),
            Op::FloorW => (-2_147_483_648.0, true, 2_147_483_648.0, false),
            Op::CeilW => (-2_147_483_649.0, false, 2_147_483_647.0, true),
            _ => (-2_147_483_648.5, true, 2_147_483_647.5, false),
        };
        let [least, beyond] = [least, beyond].map(|limit: f64| {
            let bits = if double { limit.to_bits() } else { u64::from((limit as f32).to_bits()) };
            self.b.constant(if double { Type::F64 } else { Type::F32 }, Bits::scalar(bits))
        });
        let relation = |fits| if fits { Ir::FcmpOle } else { Ir::FcmpOlt };
        let above = self.b.op(relation(least_fits), &[least, a]);
        let below = self.b.op(relation(beyond_fits), &[a, beyond]);
        let fits = self.b.op(Ir::And, &[above, below]);
        let not = self.b.not(fits);
        self.trap_if(not, Reason::Float);
        let round = match op {
            Op::TruncW => Ir::Trunc,
            Op::CeilW => Ir::Ceil,
            Op::FloorW => Ir::Floor,
            _ => Ir::RoundEven,
        };
        let whole = self.b.op(round, &[a]);
        self.number(whole);
        self.b.convert(Ir::F2s, Flags::NONE.with_clamp(), whole, Type::I32)
    }

    fn compare(&mut self, inst: Inst) {
        let (a, b) = (self.operand(inst.fs(), inst.fmt()), self.operand(inst.ft(), inst.fmt()));
        let unordered = self.b.op(Ir::FcmpUno, &[a, b]);
        self.trap_if(unordered, Reason::Float);
        let holds = match inst.condition() & 6 {
            2 => self.b.op(Ir::FcmpOeq, &[a, b]),
            4 => self.b.op(Ir::FcmpOlt, &[a, b]),
            6 => self.b.op(Ir::FcmpOle, &[a, b]),
            _ => self.b.bool(false),
        };
        let bit = condition_bit(inst.compare_cc());
        let (holds, place) = (self.b.convert(Ir::Zext, Flags::NONE, holds, Type::I32), self.b.i32(bit));
        let set = self.b.op(Ir::Shl, &[holds, place]);
        self.no_cause(1 << bit, Some(set));
    }
}
