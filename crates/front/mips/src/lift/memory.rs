//! Loads and stores.

use super::block::Lifter;
use super::registers::Register;
use crate::inst::{Endian, Inst};
use crate::isa::Op;
use xenoglot_ir::{Flags, Kind, MemInfo, Op as Ir, Space, Type, Value};

const I8: Type = Type::scalar(Kind::I8);
const I16: Type = Type::scalar(Kind::I16);

impl Lifter<'_> {
    fn mem(&self, bytes: u32) -> MemInfo {
        let plain = MemInfo::plain(Space::Guest, None, bytes.trailing_zeros() as u8);
        MemInfo { big: self.endian == Endian::Big, ..plain }
    }

    /// Loads a `ty`, which may fault: from here on the registers have to be right.
    fn load(&mut self, address: Value, ty: Type) -> Value {
        self.count();
        let mem = self.mem(ty.bytes().unwrap_or(1));
        self.b.load(mem, address, ty)
    }

    fn store(&mut self, address: Value, v: Value) {
        self.count();
        let bytes = self.b.func.ty(v).bytes().unwrap_or(1);
        self.b.store(self.mem(bytes), address, v);
    }

    fn based(&mut self, inst: Inst) -> Value {
        let base = self.gpr(inst.rs());
        let offset = self.b.i32(inst.imm() as u32);
        self.b.op(Ir::Iadd, &[base, offset])
    }

    fn indexed(&mut self, inst: Inst) -> Value {
        let (base, index) = (self.gpr(inst.rs()), self.gpr(inst.rt()));
        self.b.op(Ir::Iadd, &[base, index])
    }

    /// Lifts an access to memory; whether it was one.
    pub(super) fn access(&mut self, inst: Inst) -> bool {
        let rt = inst.rt();
        match inst.op {
            Op::Lb => self.load_extended(inst, I8, Ir::Sext),
            Op::Lbu => self.load_extended(inst, I8, Ir::Zext),
            Op::Lh => self.load_extended(inst, I16, Ir::Sext),
            Op::Lhu => self.load_extended(inst, I16, Ir::Zext),
            Op::Lw => {
                let address = self.based(inst);
                let v = self.load(address, Type::I32);
                self.set_gpr(rt, v);
            }
            Op::Sb | Op::Sh => {
                let address = self.based(inst);
                let v = self.gpr(rt);
                let ty = if inst.op == Op::Sb { I8 } else { I16 };
                let v = self.b.convert(Ir::TruncInt, Flags::NONE, v, ty);
                self.store(address, v);
            }
            Op::Sw => {
                let address = self.based(inst);
                let v = self.gpr(rt);
                self.store(address, v);
            }
            Op::Lwl | Op::Lwr | Op::Swl | Op::Swr => self.partial(inst),
            Op::Ll => {
                let address = self.based(inst);
                let v = self.load(address, Type::I32);
                self.set_gpr(rt, v);
                self.set(Register::LinkAddress, address);
                self.set(Register::LinkValue, v);
                let valid = self.i8(1);
                self.set(Register::LinkValid, valid);
            }
            Op::Sc => self.store_conditional(inst),
            Op::Lwc1 | Op::Lwxc1 => {
                let (address, to) = match inst.op {
                    Op::Lwc1 => (self.based(inst), inst.ft()),
                    _ => (self.indexed(inst), inst.fd()),
                };
                let v = self.load(address, Type::I32);
                self.set_fpr_bits(to, v);
            }
            Op::Ldc1 | Op::Ldxc1 => {
                let (address, to) = match inst.op {
                    Op::Ldc1 => (self.based(inst), inst.ft()),
                    _ => (self.indexed(inst), inst.fd()),
                };
                let v = self.load(address, Type::I64);
                let v = self.b.bitcast(v, Type::F64);
                self.set_fpr(to, v);
            }
            Op::Swc1 | Op::Swxc1 => {
                let (address, from) = match inst.op {
                    Op::Swc1 => (self.based(inst), inst.ft()),
                    _ => (self.indexed(inst), inst.fs()),
                };
                let v = self.fpr_bits(from);
                self.store(address, v);
            }
            Op::Sdc1 | Op::Sdxc1 => {
                let (address, from) = match inst.op {
                    Op::Sdc1 => (self.based(inst), inst.ft()),
                    _ => (self.indexed(inst), inst.fs()),
                };
                let v = self.double(from);
                let v = self.b.bitcast(v, Type::I64);
                self.store(address, v);
            }
            _ => return false,
        }
        true
    }

    fn load_extended(&mut self, inst: Inst, ty: Type, extend: Ir) {
        let address = self.based(inst);
        let v = self.load(address, ty);
        let v = self.b.convert(extend, Flags::NONE, v, Type::I32);
        self.set_gpr(inst.rt(), v);
    }

    /// `lwl`, `lwr`, `swl`, `swr`: parts of the word around the address.
    fn partial(&mut self, inst: Inst) {
        let address = self.based(inst);
        let (three, eight) = (self.b.i32(3), self.b.i32(8));
        let whole = self.b.not(three);
        let aligned = self.b.op(Ir::And, &[address, whole]);
        let mut offset = self.b.op(Ir::And, &[address, three]);
        if self.endian == Endian::Little {
            offset = self.b.op(Ir::Isub, &[three, offset]);
        }
        // How far the word's bytes are from the register's, for those on the left.
        let mut place = self.b.op(Ir::Imul, &[offset, eight]);
        let left = matches!(inst.op, Op::Lwl | Op::Swl);
        if !left {
            let top = self.b.i32(24);
            place = self.b.op(Ir::Isub, &[top, place]);
        }
        let word = self.load(aligned, Type::I32);
        let register = self.gpr(inst.rt());
        let ones = self.b.i32(u32::MAX);
        // A register's left end goes where a word's right end comes from, and the other way round.
        let loads = matches!(inst.op, Op::Lwl | Op::Lwr);
        let shift = if left == loads { Ir::Shl } else { Ir::Ushr };
        let (from, into) = if loads { (word, register) } else { (register, word) };
        let moved = self.b.op(shift, &[from, place]);
        let mask = self.b.op(shift, &[ones, place]);
        let mask = self.b.not(mask);
        let kept = self.b.op(Ir::And, &[into, mask]);
        let v = self.b.op(Ir::Or, &[kept, moved]);
        if loads { self.set_gpr(inst.rt(), v) } else { self.store(aligned, v) }
    }

    fn store_conditional(&mut self, inst: Inst) {
        let address = self.based(inst);
        // Faults do not depend on the mark.
        let now = self.load(address, Type::I32);
        let (valid, none) = (self.get(Register::LinkValid), self.i8(0));
        let valid = self.b.op(Ir::IcmpNe, &[valid, none]);
        let marked = self.get(Register::LinkAddress);
        let same_place = self.b.op(Ir::IcmpEq, &[marked, address]);
        let seen = self.get(Register::LinkValue);
        let same = self.b.op(Ir::IcmpEq, &[seen, now]);
        let holds = self.b.op(Ir::And, &[valid, same_place]);
        let holds = self.b.op(Ir::And, &[holds, same]);
        let [yes, no, on] = [(); 3].map(|()| self.b.func.add_block());
        self.b.branch(holds, (yes, &[]), (no, &[]));
        self.b.switch_to(yes);
        let v = self.gpr(inst.rt());
        self.store(address, v);
        self.b.jump(on, &[]);
        self.b.switch_to(no);
        self.b.jump(on, &[]);
        self.b.switch_to(on);
        let answer = self.b.convert(Ir::Zext, Flags::NONE, holds, Type::I32);
        self.set_gpr(inst.rt(), answer);
        let none = self.i8(0);
        self.set(Register::LinkValid, none);
    }
}
