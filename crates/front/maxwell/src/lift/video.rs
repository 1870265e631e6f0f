//! Video operations: one operation on parts of two words, then one with a third.

use super::Unsupported;
use super::cx::{Cx, Lift, operand};
use crate::inst::{Inst, Part, Role};
use crate::modifier::{IntCompare, Mod, VideoFormat, VideoOp};
use crate::opcode::Opcode;
use xenoglot_ir::{Op, Type, Value};

impl Cx<'_> {
    /// An operand as a 64-bit number: sums, differences and the products of halves are exact.
    fn video_operand(&mut self, inst: &Inst, role: Role, format: Mod) -> Lift<Value> {
        let o = operand(inst, role)?;
        let word = self.raw(&o)?;
        let (bits, signed) = match inst.get(format)? {
            VideoFormat::U8 => (8, false),
            VideoFormat::S8 => (8, true),
            VideoFormat::U16 => (16, false),
            VideoFormat::S16 => (16, true),
            VideoFormat::U32 => (32, false),
            VideoFormat::S32 => (32, true),
        };
        let part = match (o.part, bits) {
            (Part::Full, 8) => Part::B0,
            (Part::Full, 16) => Part::H0,
            (part, _) => part,
        };
        let v = self.part(word, part, signed)?;
        let v = self.convert(if signed { Op::Sext } else { Op::Zext }, v, Type::I64);
        Ok(if o.neg { self.op(Op::Ineg, &[v]) } else { v })
    }

    /// VADD, VABSDIFF, VMNMX, VSET, VMAD, VSHL, VSHR.
    pub fn video(&mut self, inst: &Inst) -> Lift<()> {
        let a = self.video_operand(inst, Role::A, Mod::VideoA)?;
        let b = self.video_operand(inst, Role::B, Mod::VideoB)?;
        let zero = self.i64(0);
        let v = match inst.op {
            Opcode::Vadd => {
                let one = self.i64(inst.has(Mod::PlusOne).into());
                self.op(Op::Iadd3, &[a, b, one])
            }
            Opcode::Vabsdiff => {
                let difference = self.op(Op::Isub, &[a, b]);
                self.op(Op::Iabs, &[difference])
            }
            Opcode::Vmnmx => self.op(if inst.has(Mod::Max) { Op::Imax } else { Op::Imin }, &[a, b]),
            Opcode::Vset => {
                let how: IntCompare = inst.get(Mod::IntCompare)?;
                let test = self.int_compare(how, true, a, b);
                self.convert(Op::Zext, test, Type::I64)
            }
            Opcode::Vshl | Opcode::Vshr => {
                let (limit, mask) = (self.i64(32), self.i64(31));
                let amount = if inst.has(Mod::Wrap) {
                    self.op(Op::And, &[b, mask])
                } else {
                    let amount = self.op(Op::Umin, &[b, limit]);
                    self.op(Op::Imax, &[amount, zero])
                };
                self.op(if inst.op == Opcode::Vshl { Op::Shl } else { Op::Sshr }, &[a, amount])
            }
            Opcode::Vmad => return self.vmad(inst, a, b),
            _ => return Err(Unsupported),
        };
        let signed = inst.has(Mod::VideoSignedResult);
        let v = self.video_word(inst, v, signed);
        let v = self.video_merge(inst, v, signed)?;
        self.set_logic_flags(inst, v);
        self.set_dst(inst, v)
    }

    /// A result as a word, saturated if the instruction says so.
    fn video_word(&mut self, inst: &Inst, v: Value, signed: bool) -> Value {
        let v = if inst.has(Mod::Sat) {
            let (least, most) =
                if signed { (i64::from(i32::MIN), i64::from(i32::MAX)) } else { (0, i64::from(u32::MAX)) };
            let (least, most) = (self.i64(least as u64), self.i64(most as u64));
            let v = self.op(Op::Imax, &[v, least]);
            self.op(Op::Imin, &[v, most])
        } else {
            v
        };
        self.convert(Op::TruncInt, v, Type::I32)
    }

    /// The second operation: with C, or into a part of it.
    fn video_merge(&mut self, inst: &Inst, v: Value, signed: bool) -> Lift<Value> {
        let c = self.int(inst, Role::C)?;
        let insert = |cx: &mut Self, at: u32, len: u32| {
            let (at, len) = (cx.number(at), cx.number(len));
            cx.op(Op::BitfieldInsert, &[c, v, at, len])
        };
        Ok(match inst.get(Mod::VideoOp)? {
            VideoOp::Mrg16h => insert(self, 16, 16),
            VideoOp::Mrg16l => insert(self, 0, 16),
            VideoOp::Mrg8b0 => insert(self, 0, 8),
            VideoOp::Mrg8b2 => insert(self, 16, 8),
            VideoOp::Acc => self.op(Op::Iadd, &[v, c]),
            VideoOp::Min => self.op(if signed { Op::Imin } else { Op::Umin }, &[v, c]),
            VideoOp::Max => self.op(if signed { Op::Imax } else { Op::Umax }, &[v, c]),
            VideoOp::Pass => v,
        })
    }

    /// VMAD: the product plus C, shifted right.
    fn vmad(&mut self, inst: &Inst, a: Value, b: Value) -> Lift<()> {
        let signed = inst.has(Mod::VideoSignedResult) || inst.has(Mod::SignedA) || inst.has(Mod::SignedB);
        let o = operand(inst, Role::C)?;
        let c = self.raw(&o)?;
        let product = self.op(Op::Imul, &[a, b]);
        let c = self.convert(if signed { Op::Sext } else { Op::Zext }, c, Type::I64);
        let c = if o.neg { self.op(Op::Ineg, &[c]) } else { c };
        let sum = self.op(Op::Iadd, &[product, c]);
        let sum = if inst.has(Mod::PlusOne) {
            let one = self.i64(1);
            self.op(Op::Iadd, &[sum, one])
        } else {
            sum
        };
        let shift = self.i64(inst.modifier(Mod::VideoShift).into());
        let v = self.op(if signed { Op::Sshr } else { Op::Ushr }, &[sum, shift]);
        let v = self.video_word(inst, v, signed);
        self.set_logic_flags(inst, v);
        self.set_dst(inst, v)
    }

    /// VSETP.
    pub fn vsetp(&mut self, inst: &Inst) -> Lift<()> {
        let a = self.video_operand(inst, Role::A, Mod::VideoA)?;
        let b = self.video_operand(inst, Role::B, Mod::VideoB)?;
        let test = self.int_compare(inst.get(Mod::IntCompare)?, true, a, b);
        self.set_preds(inst, test)
    }

    /// VABSDIFF4: the absolute differences of selected bytes, added to C, or each in its byte of C.
    pub fn vabsdiff4(&mut self, inst: &Inst) -> Lift<()> {
        let (oa, ob) = (operand(inst, Role::A)?, operand(inst, Role::B)?);
        let (Part::Bytes(of_a), Part::Bytes(of_b)) = (oa.part, ob.part) else { return Err(Unsupported) };
        let words = [self.raw(&oa)?, self.raw(&ob)?];
        let [a, b] = [of_a, of_b].map(|bytes| {
            let bytes = self.number(bytes.into());
            self.op(Op::PermuteBytes, &[words[0], words[1], bytes])
        });
        let signed = |format| inst.get(format).map(|f: VideoFormat| f == VideoFormat::S8);
        let (a_signed, b_signed) = (signed(Mod::VideoA)?, signed(Mod::VideoB)?);
        let clamps = inst.has(Mod::Sat) && inst.has(Mod::VideoSignedResult);
        let accumulates = inst.has(Mod::Accumulate);
        if inst.modifier(Mod::Accumulate) > 1 || (accumulates && inst.has(Mod::Sat)) || inst.has(Mod::Cc) {
            return Err(Unsupported);
        }
        let mut v = self.int(inst, Role::C)?;
        for lane in (0..4).filter(|lane| inst.modifier(Mod::LaneMask) >> lane & 1 != 0) {
            let (a, b) = (self.field(a, 8 * lane, 8, a_signed), self.field(b, 8 * lane, 8, b_signed));
            let difference = self.op(Op::Isub, &[a, b]);
            let mut difference = self.op(Op::Iabs, &[difference]);
            if clamps {
                let most = self.number(0x7f);
                difference = self.op(Op::Imin, &[difference, most]);
            }
            v = if accumulates {
                self.op(Op::Iadd, &[v, difference])
            } else {
                let (at, len) = (self.number(8 * lane), self.number(8));
                self.op(Op::BitfieldInsert, &[v, difference, at, len])
            };
        }
        self.set_dst(inst, v)
    }
}
