//! Comparisons, and operations on predicates.

use super::Unsupported;
use super::cx::{Cx, Lift, operand, written_pred};
use super::float::arithmetic;
use super::int::is_signed;
use super::regs::Flag;
use crate::inst::{Inst, Role, Value as Named};
use crate::modifier::{BoolOp, CcTest, FloatCompare, IntCompare, Mod};
use xenoglot_ir::{Flags, Op, Value};

impl Cx<'_> {
    fn combine(&mut self, op: BoolOp, a: Value, b: Value) -> Value {
        let op = match op {
            BoolOp::And => Op::And,
            BoolOp::Or => Op::Or,
            BoolOp::Xor => Op::Xor,
        };
        self.op(op, &[a, b])
    }

    /// The result of a comparison by "less" and "equal", in that order where it holds for the first.
    fn relation(&mut self, how: IntCompare, less: Value, equal: Value) -> Value {
        match how {
            IntCompare::F => self.truth(false),
            IntCompare::T => self.truth(true),
            IntCompare::Lt => less,
            IntCompare::Eq => equal,
            IntCompare::Ne => self.not(equal),
            IntCompare::Ge => self.not(less),
            IntCompare::Le => self.op(Op::Or, &[less, equal]),
            IntCompare::Gt => {
                let at_most = self.op(Op::Or, &[less, equal]);
                self.not(at_most)
            }
        }
    }

    /// A comparison of integers.
    pub fn int_compare(&mut self, how: IntCompare, signed: bool, a: Value, b: Value) -> Value {
        let (less, at_most) = if signed { (Op::IcmpSlt, Op::IcmpSle) } else { (Op::IcmpUlt, Op::IcmpUle) };
        match how {
            IntCompare::F => self.truth(false),
            IntCompare::T => self.truth(true),
            IntCompare::Lt => self.op(less, &[a, b]),
            IntCompare::Eq => self.op(Op::IcmpEq, &[a, b]),
            IntCompare::Le => self.op(at_most, &[a, b]),
            IntCompare::Gt => self.op(less, &[b, a]),
            IntCompare::Ne => self.op(Op::IcmpNe, &[a, b]),
            IntCompare::Ge => self.op(at_most, &[b, a]),
        }
    }

    /// The comparison of ISET and ISETP. With `.X`, A and B are the upper words of numbers whose lower words were
    /// subtracted before: C is the carry of that and Z says that they are equal.
    fn int_test(&mut self, inst: &Inst) -> Lift<Value> {
        let (a, b) = (self.int(inst, Role::A)?, self.int(inst, Role::B)?);
        let how: IntCompare = inst.get(Mod::IntCompare)?;
        if !inst.has(Mod::X) {
            return Ok(self.int_compare(how, is_signed(inst), a, b));
        }
        let (carry, z) = (self.flag(Flag::Carry), self.flag(Flag::Zero));
        let inverse = self.op(Op::Not, &[b]);
        let args = [a, inverse, carry];
        let difference = self.op(Op::IaddCarry, &args);
        let zero = self.zero();
        let less = if is_signed(inst) {
            let overflow = self.op(Op::IaddOverflowOut, &args);
            let negative = self.op(Op::IcmpSlt, &[difference, zero]);
            self.op(Op::Xor, &[negative, overflow])
        } else {
            let no_borrow = self.op(Op::IaddCarryOut, &args);
            self.not(no_borrow)
        };
        let same = self.op(Op::IcmpEq, &[difference, zero]);
        let equal = self.op(Op::And, &[same, z]);
        Ok(self.relation(how, less, equal))
    }

    /// A comparison of floats of one type.
    pub fn float_compare(&mut self, how: FloatCompare, flags: Flags, a: Value, b: Value) -> Value {
        let (op, swapped) = match how {
            FloatCompare::F => return self.truth(false),
            FloatCompare::T => return self.truth(true),
            FloatCompare::Num => return self.op(Op::FcmpOrd, &[a, b]),
            FloatCompare::Nan => return self.op(Op::FcmpUno, &[a, b]),
            FloatCompare::Lt => (Op::FcmpOlt, false),
            FloatCompare::Eq => (Op::FcmpOeq, false),
            FloatCompare::Le => (Op::FcmpOle, false),
            FloatCompare::Gt => (Op::FcmpOlt, true),
            FloatCompare::Ne => (Op::FcmpOne, false),
            FloatCompare::Ge => (Op::FcmpOle, true),
            FloatCompare::Ltu => (Op::FcmpUlt, false),
            FloatCompare::Equ => (Op::FcmpUeq, false),
            FloatCompare::Leu => (Op::FcmpUle, false),
            FloatCompare::Gtu => (Op::FcmpUlt, true),
            FloatCompare::Neu => (Op::FcmpUne, false),
            FloatCompare::Geu => (Op::FcmpUle, true),
        };
        let args = if swapped { [b, a] } else { [a, b] };
        self.b.op_flags(op, flags, &args)
    }

    fn float_test(&mut self, inst: &Inst, double: bool) -> Lift<Value> {
        let [a, b] =
            [Role::A, Role::B].map(|r| if double { self.double(inst, r) } else { self.float(inst, r) });
        let flags = compare_flags(inst)?;
        Ok(self.float_compare(inst.get(Mod::FloatCompare)?, flags, a?, b?))
    }

    /// Combines a test with the source predicate and writes both predicates.
    pub fn set_preds(&mut self, inst: &Inst, test: Value) -> Lift<()> {
        let (p, op) = (self.pred_operand(inst, Role::Pred)?, inst.get(Mod::BoolOp)?);
        for (role, inverted) in [(Role::DstPred, false), (Role::DstPred2, true)] {
            if let Some(n) = written_pred(inst, role) {
                let test = if inverted { self.not(test) } else { test };
                let v = self.combine(op, test, p);
                self.set_pred(n, v);
            }
        }
        Ok(())
    }

    /// Combines a test with the source predicate and writes all ones, or 1.0, or zero.
    fn set_word(&mut self, inst: &Inst, test: Value) -> Lift<()> {
        let (p, op) = (self.pred_operand(inst, Role::Pred)?, inst.get(Mod::BoolOp)?);
        let test = self.combine(op, test, p);
        let yes = if inst.has(Mod::FloatResult) { 1f32.to_bits() } else { u32::MAX };
        let (yes, no) = (self.number(yes), self.zero());
        let v = self.select(test, yes, no);
        self.set_logic_flags(inst, v);
        self.set_dst(inst, v)
    }

    /// ISETP.
    pub fn isetp(&mut self, inst: &Inst) -> Lift<()> {
        let test = self.int_test(inst)?;
        self.set_preds(inst, test)
    }

    /// ISET.
    pub fn iset(&mut self, inst: &Inst) -> Lift<()> {
        let test = self.int_test(inst)?;
        self.set_word(inst, test)
    }

    /// FSETP, DSETP.
    pub fn fsetp(&mut self, inst: &Inst, double: bool) -> Lift<()> {
        let test = self.float_test(inst, double)?;
        self.set_preds(inst, test)
    }

    /// FSET, DSET.
    pub fn fset(&mut self, inst: &Inst, double: bool) -> Lift<()> {
        let test = self.float_test(inst, double)?;
        self.set_word(inst, test)
    }

    /// ICMP: A where C compares to zero, else B.
    pub fn icmp(&mut self, inst: &Inst) -> Lift<()> {
        let (a, b, c) = (self.int(inst, Role::A)?, self.int(inst, Role::B)?, self.int(inst, Role::C)?);
        let zero = self.zero();
        let test = self.int_compare(inst.get(Mod::IntCompare)?, is_signed(inst), c, zero);
        let v = self.select(test, a, b);
        self.set_dst(inst, v)
    }

    /// FCMP: as ICMP with a float C.
    pub fn fcmp(&mut self, inst: &Inst) -> Lift<()> {
        let (a, b, c) = (self.float(inst, Role::A)?, self.float(inst, Role::B)?, self.float(inst, Role::C)?);
        let zero = self.b.f32(0.0);
        let flags = compare_flags(inst)?;
        let test = self.float_compare(inst.get(Mod::FloatCompare)?, flags, c, zero);
        let v = self.select(test, a, b);
        self.set_dst(inst, v)
    }

    /// The first combination of PSET and PSETP.
    fn pred_test(&mut self, inst: &Inst) -> Lift<Value> {
        let (a, b) = (self.pred_operand(inst, Role::PredA)?, self.pred_operand(inst, Role::PredB)?);
        Ok(self.combine(inst.get(Mod::BoolOp2)?, a, b))
    }

    /// PSETP.
    pub fn psetp(&mut self, inst: &Inst) -> Lift<()> {
        let test = self.pred_test(inst)?;
        self.set_preds(inst, test)
    }

    /// PSET.
    pub fn pset(&mut self, inst: &Inst) -> Lift<()> {
        let test = self.pred_test(inst)?;
        self.set_word(inst, test)
    }

    /// The test of the condition codes that flow operations name.
    pub fn cc_operand(&mut self, inst: &Inst) -> Lift<Value> {
        match operand(inst, Role::Cc)?.value {
            Named::Cc(test) => self.cc_test(test),
            _ => Err(Unsupported),
        }
    }

    /// CSETP.
    pub fn csetp(&mut self, inst: &Inst) -> Lift<()> {
        let test = self.cc_test(CcTest(inst.modifier(Mod::CcTest)))?;
        self.set_preds(inst, test)
    }

    /// CSET.
    pub fn cset(&mut self, inst: &Inst) -> Lift<()> {
        let test = self.cc_test(CcTest(inst.modifier(Mod::CcTest)))?;
        self.set_word(inst, test)
    }

    /// A test of the condition codes: 1 to 14 compare what the flags were set by with zero, unordered being both Z and
    /// S; 16 to 23 name flags. Others are of exceptions and graphics state.
    fn cc_test(&mut self, test: CcTest) -> Lift<Value> {
        let [z, s, c, o] = Flag::ALL.map(|flag| self.flag(flag));
        let less = self.op(Op::Xor, &[s, o]);
        let v = match test.0 {
            0 => self.truth(false),
            15 => self.truth(true),
            1 | 6 => {
                let (not_zero, not_less) = (self.not(z), self.not(less));
                match test.0 {
                    1 => {
                        let negative = self.op(Op::And, &[s, not_zero]);
                        self.op(Op::Xor, &[negative, o])
                    }
                    _ => not_less,
                }
            }
            2 => {
                let positive = self.not(s);
                self.op(Op::And, &[z, positive])
            }
            3 => {
                let either = self.op(Op::Or, &[z, o]);
                self.op(Op::Xor, &[s, either])
            }
            4 | 11 => {
                let at_most = self.op(Op::Or, &[z, less]);
                if test.0 == 11 { at_most } else { self.not(at_most) }
            }
            5 => self.not(z),
            7 | 8 => {
                let unordered = self.op(Op::And, &[z, s]);
                if test.0 == 8 { unordered } else { self.not(unordered) }
            }
            9 => less,
            10 => z,
            12 => {
                let (positive, either) = (self.not(s), self.op(Op::Or, &[z, o]));
                self.op(Op::Xor, &[positive, either])
            }
            13 => {
                let not_zero = self.not(z);
                self.op(Op::Or, &[not_zero, s])
            }
            14 => {
                let positive = self.not(s);
                let either = self.op(Op::Or, &[positive, z]);
                self.op(Op::Xor, &[either, o])
            }
            16 => self.not(o),
            17 => self.not(c),
            18 => self.not(s),
            19 | 20 => {
                let not_zero = self.not(z);
                let higher = self.op(Op::And, &[c, not_zero]);
                if test.0 == 20 { higher } else { self.not(higher) }
            }
            21 => s,
            22 => c,
            23 => o,
            _ => return Err(Unsupported),
        };
        Ok(v)
    }
}

/// The flags of a float comparison.
pub(super) fn compare_flags(inst: &Inst) -> Lift<Flags> {
    Ok(if arithmetic(inst)?.ftz() { Flags::NONE.with_ftz() } else { Flags::NONE })
}
