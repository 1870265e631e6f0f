//! Instructions of general registers.

use super::Reason;
use super::block::Lifter;
use super::registers::Register;
use crate::inst::Inst;
use crate::isa::Op;
use xenoglot_ir::{Flags, Op as Ir, Type, Value};

impl Lifter<'_> {
    /// Lifts an instruction that goes on to the next.
    pub(super) fn inst(&mut self, inst: Inst) {
        if !self.access(inst) && !self.float(inst) {
            self.integer(inst);
        }
    }

    fn integer(&mut self, inst: Inst) {
        let (rs, rt, rd) = (inst.rs(), inst.rt(), inst.rd());
        let signed = inst.imm() as u32;
        match inst.op {
            Op::Addu => self.three(Ir::Iadd, inst),
            Op::Subu => self.three(Ir::Isub, inst),
            Op::And => self.three(Ir::And, inst),
            Op::Or => self.three(Ir::Or, inst),
            Op::Xor => self.three(Ir::Xor, inst),
            Op::Mul => self.three(Ir::Imul, inst),
            Op::Nor => {
                let (a, b) = (self.gpr(rs), self.gpr(rt));
                let v = self.b.op(Ir::Or, &[a, b]);
                let v = self.b.not(v);
                self.set_gpr(rd, v);
            }
            Op::Slt | Op::Sltu => {
                let (a, b) = (self.gpr(rs), self.gpr(rt));
                self.less(inst.op == Op::Slt, a, b, rd);
            }
            Op::Slti | Op::Sltiu => {
                let (a, b) = (self.gpr(rs), self.b.i32(signed));
                self.less(inst.op == Op::Slti, a, b, rt);
            }
            Op::Addiu => self.constant(Ir::Iadd, inst, signed),
            Op::Andi => self.constant(Ir::And, inst, inst.uimm()),
            Op::Ori => self.constant(Ir::Or, inst, inst.uimm()),
            Op::Xori => self.constant(Ir::Xor, inst, inst.uimm()),
            Op::Lui => {
                let v = self.b.i32(inst.uimm() << 16);
                self.set_gpr(rt, v);
            }
            Op::Add | Op::Addi | Op::Sub => {
                let a = self.gpr(rs);
                let b = if inst.op == Op::Addi { self.b.i32(signed) } else { self.gpr(rt) };
                let none = self.b.bool(false);
                let (op, overflow) = match inst.op {
                    Op::Sub => (Ir::Isub, Ir::IsubOverflowOut),
                    _ => (Ir::Iadd, Ir::IaddOverflowOut),
                };
                let overflows = self.b.op(overflow, &[a, b, none]);
                self.trap_if(overflows, Reason::Overflow);
                let v = self.b.op(op, &[a, b]);
                self.set_gpr(if inst.op == Op::Addi { rt } else { rd }, v);
            }
            Op::Sll => self.shift(Ir::Shl, inst),
            Op::Srl => self.shift(Ir::Ushr, inst),
            Op::Sra => self.shift(Ir::Sshr, inst),
            Op::Rotr => {
                let (v, left) = (self.gpr(rt), self.b.i32((32 - u32::from(inst.shift())) & 31));
                let v = self.b.op(Ir::Rotl, &[v, left]);
                self.set_gpr(rd, v);
            }
            Op::Sllv => self.variable(Ir::Shl, inst),
            Op::Srlv => self.variable(Ir::Ushr, inst),
            Op::Srav => self.variable(Ir::Sshr, inst),
            Op::Rotrv => {
                let (v, right) = (self.gpr(rt), self.gpr(rs));
                let left = self.b.op(Ir::Ineg, &[right]);
                let v = self.b.op(Ir::Rotl, &[v, left]);
                self.set_gpr(rd, v);
            }
            Op::Mfhi | Op::Mflo => {
                let v = self.get(if inst.op == Op::Mfhi { Register::Hi } else { Register::Lo });
                self.set_gpr(rd, v);
            }
            Op::Mthi | Op::Mtlo => {
                let v = self.gpr(rs);
                self.set(if inst.op == Op::Mthi { Register::Hi } else { Register::Lo }, v);
            }
            Op::Mult | Op::Multu | Op::Madd | Op::Maddu | Op::Msub | Op::Msubu => self.product(inst),
            Op::Div | Op::Divu => self.quotient(inst),
            Op::Clz | Op::Clo => {
                let mut v = self.gpr(rs);
                if inst.op == Op::Clo {
                    v = self.b.not(v);
                }
                let v = self.b.op(Ir::Clz, &[v]);
                self.set_gpr(rd, v);
            }
            Op::Movz | Op::Movn => {
                let (v, old, tested) = (self.gpr(rs), self.gpr(rd), self.gpr(rt));
                let zero = self.b.i32(0);
                let is_zero = self.b.op(Ir::IcmpEq, &[tested, zero]);
                let (yes, no) = if inst.op == Op::Movz { (v, old) } else { (old, v) };
                let v = self.b.select(is_zero, yes, no);
                self.set_gpr(rd, v);
            }
            Op::Movf | Op::Movt => {
                let (v, old) = (self.gpr(rs), self.gpr(rd));
                let holds = self.float_condition(inst.cc());
                let (yes, no) = if inst.op == Op::Movt { (v, old) } else { (old, v) };
                let v = self.b.select(holds, yes, no);
                self.set_gpr(rd, v);
            }
            Op::Ext => {
                let (v, low) = (self.gpr(rs), self.b.i32(inst.shift().into()));
                let mask = self.b.i32(u32::MAX >> (31 - inst.msb()));
                let v = self.b.op(Ir::Ushr, &[v, low]);
                let v = self.b.op(Ir::And, &[v, mask]);
                self.set_gpr(rt, v);
            }
            Op::Ins => {
                let mask = u32::MAX >> (31 - (inst.msb() - inst.shift())) << inst.shift();
                let (v, old, low) = (self.gpr(rs), self.gpr(rt), self.b.i32(inst.shift().into()));
                let v = self.b.op(Ir::Shl, &[v, low]);
                let (mask, keep) = (self.b.i32(mask), self.b.i32(!mask));
                let v = self.b.op(Ir::And, &[v, mask]);
                let old = self.b.op(Ir::And, &[old, keep]);
                let v = self.b.op(Ir::Or, &[old, v]);
                self.set_gpr(rt, v);
            }
            Op::Seb | Op::Seh => {
                let v = self.gpr(rt);
                let bits = self.b.i32(if inst.op == Op::Seb { 24 } else { 16 });
                let v = self.b.op(Ir::Shl, &[v, bits]);
                let v = self.b.op(Ir::Sshr, &[v, bits]);
                self.set_gpr(rd, v);
            }
            Op::Wsbh => {
                let (v, half) = (self.gpr(rt), self.b.i32(16));
                let v = self.b.op(Ir::Byteswap, &[v]);
                let v = self.b.op(Ir::Rotl, &[v, half]);
                self.set_gpr(rd, v);
            }
            Op::Rdhwr => {
                let v = match rd {
                    0 => self.b.i32(0),
                    1 => self.b.i32(32),
                    3 => self.b.i32(1),
                    _ => self.get(Register::Thread),
                };
                self.set_gpr(rt, v);
            }
            Op::Tge | Op::Tgeu | Op::Tlt | Op::Tltu | Op::Teq | Op::Tne => {
                let (a, b) = (self.gpr(rs), self.gpr(rt));
                self.conditional_trap(inst.op, a, b);
            }
            Op::Tgei | Op::Tgeiu | Op::Tlti | Op::Tltiu | Op::Teqi | Op::Tnei => {
                let (a, b) = (self.gpr(rs), self.b.i32(signed));
                self.conditional_trap(inst.op, a, b);
            }
            // `sync`, `synci` and prefetches have nothing to do: memory is in order, and code follows its stores.
            _ => {}
        }
    }

    fn three(&mut self, op: Ir, inst: Inst) {
        let (a, b) = (self.gpr(inst.rs()), self.gpr(inst.rt()));
        let v = self.b.op(op, &[a, b]);
        self.set_gpr(inst.rd(), v);
    }

    fn constant(&mut self, op: Ir, inst: Inst, constant: u32) {
        let (a, b) = (self.gpr(inst.rs()), self.b.i32(constant));
        let v = self.b.op(op, &[a, b]);
        self.set_gpr(inst.rt(), v);
    }

    fn shift(&mut self, op: Ir, inst: Inst) {
        let (v, by) = (self.gpr(inst.rt()), self.b.i32(inst.shift().into()));
        let v = self.b.op(op, &[v, by]);
        self.set_gpr(inst.rd(), v);
    }

    fn variable(&mut self, op: Ir, inst: Inst) {
        let (v, by) = (self.gpr(inst.rt()), self.gpr(inst.rs()));
        let v = self.b.op(op, &[v, by]);
        self.set_gpr(inst.rd(), v);
    }

    fn less(&mut self, signed: bool, a: Value, b: Value, to: u8) {
        let v = self.b.op(if signed { Ir::IcmpSlt } else { Ir::IcmpUlt }, &[a, b]);
        let v = self.b.convert(Ir::Zext, Flags::NONE, v, Type::I32);
        self.set_gpr(to, v);
    }

    fn product(&mut self, inst: Inst) {
        let signed = matches!(inst.op, Op::Mult | Op::Madd | Op::Msub);
        let extend = if signed { Ir::Sext } else { Ir::Zext };
        let [a, b] = [inst.rs(), inst.rt()].map(|register| {
            let v = self.gpr(register);
            self.b.convert(extend, Flags::NONE, v, Type::I64)
        });
        let mut v = self.b.op(Ir::Imul, &[a, b]);
        let half = self.i64(32);
        if !matches!(inst.op, Op::Mult | Op::Multu) {
            let [hi, lo] = [Register::Hi, Register::Lo].map(|register| {
                let v = self.get(register);
                self.b.convert(Ir::Zext, Flags::NONE, v, Type::I64)
            });
            let hi = self.b.op(Ir::Shl, &[hi, half]);
            let sum = self.b.op(Ir::Or, &[hi, lo]);
            let op = if matches!(inst.op, Op::Madd | Op::Maddu) { Ir::Iadd } else { Ir::Isub };
            v = self.b.op(op, &[sum, v]);
        }
        let lo = self.b.convert(Ir::TruncInt, Flags::NONE, v, Type::I32);
        let hi = self.b.op(Ir::Ushr, &[v, half]);
        let hi = self.b.convert(Ir::TruncInt, Flags::NONE, hi, Type::I32);
        self.set(Register::Lo, lo);
        self.set(Register::Hi, hi);
    }

    /// The manual leaves a division by zero open; as on qemu, it divides by one.
    fn quotient(&mut self, inst: Inst) {
        let (a, b) = (self.gpr(inst.rs()), self.gpr(inst.rt()));
        let (zero, one) = (self.b.i32(0), self.b.i32(1));
        let is_zero = self.b.op(Ir::IcmpEq, &[b, zero]);
        let b = self.b.select(is_zero, one, b);
        let lo = self.b.op(if inst.op == Op::Div { Ir::Sdiv } else { Ir::Udiv }, &[a, b]);
        // Cheaper than another division.
        let product = self.b.op(Ir::Imul, &[lo, b]);
        let hi = self.b.op(Ir::Isub, &[a, product]);
        self.set(Register::Lo, lo);
        self.set(Register::Hi, hi);
    }

    fn conditional_trap(&mut self, op: Op, a: Value, b: Value) {
        let holds = match op {
            Op::Tge | Op::Tgei => self.b.op(Ir::IcmpSle, &[b, a]),
            Op::Tgeu | Op::Tgeiu => self.b.op(Ir::IcmpUle, &[b, a]),
            Op::Tlt | Op::Tlti => self.b.op(Ir::IcmpSlt, &[a, b]),
            Op::Tltu | Op::Tltiu => self.b.op(Ir::IcmpUlt, &[a, b]),
            Op::Teq | Op::Teqi => self.b.op(Ir::IcmpEq, &[a, b]),
            _ => self.b.op(Ir::IcmpNe, &[a, b]),
        };
        self.trap_if(holds, Reason::Trap);
    }
}
