//! Bitwise operations, shifts, fields and counts.

use super::Unsupported;
use super::cx::{Cx, Lift, immediate, operand};
use super::int::is_signed;
use super::regs::Flag;
use crate::inst::{Inst, Role};
use crate::modifier::{LogicOp, Mod, PredOp, PrmtMode, ShfType, ShiftX};
use xenoglot_ir::{Op, Type, Value};

impl Cx<'_> {
    /// What LOP and LOP3 say of their result in a predicate.
    fn logic_pred(&mut self, inst: &Inst, v: Value) -> Lift<()> {
        let zero = self.zero();
        let p = match inst.get(Mod::PredOp)? {
            PredOp::F => self.truth(false),
            PredOp::T => self.truth(true),
            PredOp::Z => self.op(Op::IcmpEq, &[v, zero]),
            PredOp::Nz => self.op(Op::IcmpNe, &[v, zero]),
        };
        self.set_dst_pred(inst, Role::DstPred, p);
        Ok(())
    }

    /// What a bitwise operation leaves. `.X` makes it a further word of a longer number, whose zero flag says that all
    /// words are zero: so it goes on from the one before.
    fn logic_result(&mut self, inst: &Inst, v: Value) -> Lift<()> {
        let before = inst.has(Mod::X).then(|| self.flag(Flag::Zero));
        self.set_logic_flags(inst, v);
        if let Some(before) = before.filter(|_| inst.has(Mod::Cc)) {
            let zero = self.flag(Flag::Zero);
            let both = self.op(Op::And, &[before, zero]);
            self.set_flag(Flag::Zero, both);
        }
        self.logic_pred(inst, v)?;
        self.set_dst(inst, v)
    }

    /// LOP, LOP32I.
    pub fn lop(&mut self, inst: &Inst) -> Lift<()> {
        let (a, b) = (self.int(inst, Role::A)?, self.int(inst, Role::B)?);
        let v = match inst.get(Mod::LogicOp)? {
            LogicOp::And => self.op(Op::And, &[a, b]),
            LogicOp::Or => self.op(Op::Or, &[a, b]),
            LogicOp::Xor => self.op(Op::Xor, &[a, b]),
            LogicOp::PassB => b,
        };
        self.logic_result(inst, v)
    }

    /// LOP3.
    pub fn lop3(&mut self, inst: &Inst) -> Lift<()> {
        let [a, b, c] = [Role::A, Role::B, Role::C].map(|role| self.int(inst, role));
        let table = self.number(immediate(inst, Role::Number)? & 0xff);
        let v = self.op(Op::Lop3, &[a?, b?, c?, table]);
        self.logic_result(inst, v)
    }

    /// `shifted` where the amount is below `limit`, else `beyond`.
    fn below(&mut self, amount: Value, limit: u32, shifted: Value, beyond: Value) -> Value {
        let limit = self.number(limit);
        let fits = self.op(Op::IcmpUlt, &[amount, limit]);
        self.select(fits, shifted, beyond)
    }

    /// SHL.
    pub fn shl(&mut self, inst: &Inst) -> Lift<()> {
        let (a, amount) = (self.int(inst, Role::A)?, self.int(inst, Role::B)?);
        if inst.has(Mod::X) {
            return Err(Unsupported);
        }
        let mut v = self.op(Op::Shl, &[a, amount]);
        if !inst.has(Mod::Wrap) {
            let zero = self.zero();
            v = self.below(amount, 32, v, zero);
        }
        self.set_logic_flags(inst, v);
        self.set_dst(inst, v)
    }

    /// SHR.
    pub fn shr(&mut self, inst: &Inst) -> Lift<()> {
        let (a, amount) = (self.int(inst, Role::A)?, self.int(inst, Role::B)?);
        if inst.has(Mod::ShiftX) {
            return Err(Unsupported);
        }
        let a = if inst.has(Mod::Brev) { self.op(Op::Reverse, &[a]) } else { a };
        let op = if is_signed(inst) { Op::Sshr } else { Op::Ushr };
        let v = if inst.has(Mod::Wrap) {
            self.op(op, &[a, amount])
        } else if is_signed(inst) {
            let most = self.number(31);
            let amount = self.op(Op::Umin, &[amount, most]);
            self.op(op, &[a, amount])
        } else {
            let (v, zero) = (self.op(op, &[a, amount]), self.zero());
            self.below(amount, 32, v, zero)
        };
        self.set_logic_flags(inst, v);
        self.set_dst(inst, v)
    }

    /// SHF: a word of the pair C:A shifted: the upper one to the left, the lower one to the right.
    pub fn shf(&mut self, inst: &Inst) -> Lift<()> {
        let (low, amount, high) =
            (self.int(inst, Role::A)?, self.int(inst, Role::B)?, self.int(inst, Role::C)?);
        let ty: ShfType = inst.get(Mod::ShfType)?;
        let left = !inst.has(Mod::ShiftRight);
        let part: ShiftX = inst.get(Mod::ShiftX)?;
        let v = if part == ShiftX::Hi && !left {
            let signed = ty == ShfType::S64;
            self.upper_shifted(inst, ty, signed, high, amount)
        } else if part != ShiftX::None {
            return Err(Unsupported);
        } else if ty == ShfType::Bits32 {
            let op = if left { Op::FunnelL } else { Op::FunnelR };
            let v = self.op(op, &[high, low, amount]);
            let beyond = if left { low } else { high };
            if inst.has(Mod::Wrap) { v } else { self.below(amount, 32, v, beyond) }
        } else {
            self.shift_pair(inst, ty, left, [low, high], amount)
        };
        self.set_logic_flags(inst, v);
        self.set_dst(inst, v)
    }

    /// SHF.R.HI: the upper word of the pair shifted to the right, which the lower one has no part in. uam makes it of
    /// shifts of 64-bit numbers.
    fn upper_shifted(&mut self, inst: &Inst, ty: ShfType, signed: bool, high: Value, amount: Value) -> Value {
        let bits = if ty == ShfType::Bits32 { 32 } else { 64 };
        let last = self.number(bits - 1);
        let amount = if inst.has(Mod::Wrap) { self.op(Op::And, &[amount, last]) } else { amount };
        if signed {
            let most = self.number(31);
            let amount = self.op(Op::Umin, &[amount, most]);
            return self.op(Op::Sshr, &[high, amount]);
        }
        let (shifted, zero) = (self.op(Op::Ushr, &[high, amount]), self.zero());
        self.below(amount, 32, shifted, zero)
    }

    /// SHF of 64 bits: below 32 a word of both, from 32 on one of the other word alone.
    fn shift_pair(
        &mut self,
        inst: &Inst,
        ty: ShfType,
        left: bool,
        words: [Value; 2],
        amount: Value,
    ) -> Value {
        let [low, high] = words;
        let signed = ty == ShfType::S64 && !left;
        let (most, mask) = (self.number(63), self.number(63));
        let amount = match (inst.has(Mod::Wrap), signed) {
            (true, _) => self.op(Op::And, &[amount, mask]),
            (false, true) => self.op(Op::Umin, &[amount, most]),
            (false, false) => amount,
        };
        let (funnel, shift, near) = match (left, signed) {
            (true, _) => (Op::FunnelL, Op::Shl, low),
            (false, true) => (Op::FunnelR, Op::Sshr, high),
            (false, false) => (Op::FunnelR, Op::Ushr, high),
        };
        let both = self.op(funnel, &[high, low, amount]);
        let one = self.op(shift, &[near, amount]);
        let zero = self.zero();
        let one = if signed { one } else { self.below(amount, 64, one, zero) };
        self.below(amount, 32, both, one)
    }

    /// Position and length of a field: bytes 0 and 1 of B.
    fn field_operand(&mut self, inst: &Inst) -> Lift<[Value; 2]> {
        let b = self.int(inst, Role::B)?;
        Ok([0, 8].map(|at| self.field(b, at, 8, false)))
    }

    /// BFE. A signed field wholly above the word consists of its sign.
    pub fn bfe(&mut self, inst: &Inst) -> Lift<()> {
        let a = self.int(inst, Role::A)?;
        let a = if inst.has(Mod::Brev) { self.op(Op::Reverse, &[a]) } else { a };
        let [at, len] = self.field_operand(inst)?;
        let v = if is_signed(inst) {
            let top = self.number(31);
            let at = self.op(Op::Umin, &[at, top]);
            self.op(Op::BitfieldS, &[a, at, len])
        } else {
            self.op(Op::BitfieldU, &[a, at, len])
        };
        self.set_logic_flags(inst, v);
        self.set_dst(inst, v)
    }

    /// BFI: A goes into a field of C.
    pub fn bfi(&mut self, inst: &Inst) -> Lift<()> {
        let (a, c) = (self.int(inst, Role::A)?, self.int(inst, Role::C)?);
        let [at, len] = self.field_operand(inst)?;
        let v = self.op(Op::BitfieldInsert, &[c, a, at, len]);
        self.set_logic_flags(inst, v);
        self.set_dst(inst, v)
    }

    /// PRMT: bytes of C:A. The modes are those of the PTX instruction, by bits 0 and 1 of B.
    pub fn prmt(&mut self, inst: &Inst) -> Lift<()> {
        let (a, b, c) = (self.int(inst, Role::A)?, self.int(inst, Role::B)?, self.int(inst, Role::C)?);
        let selectors: Option<[u32; 4]> = match inst.get(Mod::PrmtMode)? {
            PrmtMode::Index => None,
            PrmtMode::F4e => Some([0x3210, 0x4321, 0x5432, 0x6543]),
            PrmtMode::B4e => Some([0x5670, 0x6701, 0x7012, 0x0123]),
            PrmtMode::Rc8 => Some([0x0000, 0x1111, 0x2222, 0x3333]),
            PrmtMode::Ecl => Some([0x3210, 0x3211, 0x3222, 0x3333]),
            PrmtMode::Ecr => Some([0x0000, 0x1110, 0x2210, 0x3210]),
            PrmtMode::Rc16 => Some([0x1010, 0x3232, 0x1010, 0x3232]),
        };
        let selector = match selectors {
            None => b,
            Some(s) => {
                let (one, two, zero) = (self.number(1), self.number(2), self.zero());
                let bits = [one, two].map(|bit| {
                    let bit = self.op(Op::And, &[b, bit]);
                    self.op(Op::IcmpNe, &[bit, zero])
                });
                let s = s.map(|s| self.number(s));
                let low = self.select(bits[0], s[1], s[0]);
                let high = self.select(bits[0], s[3], s[2]);
                self.select(bits[1], high, low)
            }
        };
        let v = self.op(Op::PermuteBytes, &[a, c, selector]);
        self.set_dst(inst, v)
    }

    /// FLO: the highest one, or of a negative signed number the highest zero; all ones where there is none.
    pub fn flo(&mut self, inst: &Inst) -> Lift<()> {
        let b = self.int(inst, Role::B)?;
        let top = self.number(31);
        let v = if is_signed(inst) {
            self.op(Op::FindMsbS, &[b])
        } else {
            let above = self.op(Op::Clz, &[b]);
            self.op(Op::Isub, &[top, above])
        };
        let v = if inst.has(Mod::ShiftAmount) {
            let none = self.number(u32::MAX);
            let found = self.op(Op::IcmpNe, &[v, none]);
            let amount = self.op(Op::Isub, &[top, v]);
            self.select(found, amount, none)
        } else {
            v
        };
        self.set_logic_flags(inst, v);
        self.set_dst(inst, v)
    }

    /// POPC.
    pub fn popc(&mut self, inst: &Inst) -> Lift<()> {
        let b = self.int(inst, Role::B)?;
        let v = self.op(Op::Popcount, &[b]);
        self.set_dst(inst, v)
    }

    /// P2R: predicates, or the condition codes, under a mask over the bits of A.
    pub fn p2r(&mut self, inst: &Inst) -> Lift<()> {
        let (a, mask) = (self.int(inst, Role::A)?, self.int(inst, Role::B)?);
        let mut bits = self.zero();
        for (i, p) in (0..).zip(self.file(inst)?) {
            let p = self.convert(Op::Zext, p, Type::I32);
            let i = self.number(i);
            let p = self.op(Op::Shl, &[p, i]);
            bits = self.op(Op::Or, &[bits, p]);
        }
        let at = self.number(8 * u32::from(inst.modifier(Mod::Byte) & 3));
        let byte = self.number(0xff);
        let mask = self.op(Op::And, &[mask, byte]);
        let [bits, mask] = [bits, mask].map(|v| self.op(Op::Shl, &[v, at]));
        let taken = self.op(Op::And, &[bits, mask]);
        let others = self.op(Op::Not, &[mask]);
        let kept = self.op(Op::And, &[a, others]);
        let v = self.op(Op::Or, &[kept, taken]);
        self.set_dst(inst, v)
    }

    /// R2P: the reverse of P2R.
    pub fn r2p(&mut self, inst: &Inst) -> Lift<()> {
        let (bits, mask) = (self.int(inst, Role::A)?, self.int(inst, Role::B)?);
        let codes = uses_codes(inst)?;
        let zero = self.zero();
        for (i, old) in (0u8..).zip(self.file(inst)?) {
            let bit = self.number(1 << i);
            let [new, enabled] = [bits, mask].map(|v| {
                let v = self.op(Op::And, &[v, bit]);
                self.op(Op::IcmpNe, &[v, zero])
            });
            let v = self.select(enabled, new, old);
            match codes {
                true => self.set_flag(super::regs::Flag::ALL[usize::from(i)], v),
                false => self.set_pred(i, v),
            }
        }
        Ok(())
    }

    /// The predicates or the condition codes, by bit.
    fn file(&mut self, inst: &Inst) -> Lift<Vec<Value>> {
        Ok(if uses_codes(inst)? {
            super::regs::Flag::ALL.map(|flag| self.flag(flag)).to_vec()
        } else {
            (0..crate::inst::PT).map(|n| self.pred(n)).collect()
        })
    }
}

/// Whether P2R or R2P is about the condition codes.
fn uses_codes(inst: &Inst) -> Lift<bool> {
    use crate::inst::Value::{CcRegister, PredFile};
    match operand(inst, Role::File)?.value {
        CcRegister => Ok(true),
        PredFile => Ok(false),
        _ => Err(Unsupported),
    }
}
