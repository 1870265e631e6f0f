//! Accesses to the guest's memory, in the window that the host's page protection guards.

use super::asm::{AND, CMP, Cond, Mem, OR, R14, RAX, RCX, RDI, RDX, Reg, SHL, SHR, Shift, Width, XOR};
use super::{Cold, Emitter};
use crate::signals::Site;
use xenoglot_guest::SINK;
use xenoglot_guest::ops::{Code, Op};
use xenoglot_mips::Endian;
use xenoglot_mips::lift::layout;

const LINK_ADDRESS: Mem = Mem::at(RDI, layout::LINK_ADDRESS as i32);
const LINK_VALUE: Mem = Mem::at(RDI, layout::LINK_VALUE as i32);
const LINK_VALID: Mem = Mem::at(RDI, layout::LINK_VALID as i32);

/// The home of a floating-point register.
pub(super) fn float_home(register: u8) -> Mem {
    Mem::at(RDI, layout::FLOAT as i32 + 4 * i32::from(register & 31))
}

impl Emitter<'_> {
    /// The next instruction may raise a signal.
    pub(super) fn site(&mut self) {
        self.sites.push(Site { offset: self.asm.offset(), pending: self.at });
    }

    fn check(&mut self, address: Reg, mask: u8) {
        let unaligned = self.cold(Cold::Unaligned(self.at));
        self.asm.test_byte(address, mask);
        self.asm.jcc(Cond::NOT_EQUAL, unaligned);
    }

    /// Where an access of so many bytes at `b + imm` is, checked for its alignment. Uses `eax`.
    fn place(&mut self, op: &Op, bytes: u8) -> Mem {
        let base = self.read(op.b, RAX);
        let disp = op.imm as i32;
        let mask = bytes - 1;
        let place = Mem { base: R14, index: Some((base, 0)), disp };
        if mask == 0 {
            return place;
        }
        if op.imm as u8 & mask != 0 {
            self.asm.lea(RCX, Mem::at(base, disp));
            self.check(RCX, mask);
        } else if !self.cache.is_aligned(op.b, mask) {
            self.check(base, mask);
            self.cache.set_aligned(op.b, mask);
        }
        place
    }

    fn swap(&mut self, width: Width, register: Reg) {
        if self.endian == Endian::Big {
            self.asm.swap(width, register);
        }
    }

    /// A value of the guest's order in memory, to a register.
    fn load(&mut self, width: Width, to: Reg, place: Mem) {
        let signed = width == Width::I16 && self.endian == Endian::Big;
        self.site();
        self.asm.load(if signed { Width::U16 } else { width }, to, place);
        self.swap(width, to);
        if signed {
            self.asm.extend(Width::I16, to, to);
        }
    }

    pub(super) fn load_general(&mut self, op: &Op, width: Width) {
        let place = self.place(op, width.bytes());
        if op.a == SINK as u8 {
            self.site();
            self.asm.load(width, RAX, place);
            return;
        }
        let to = self.cache.take();
        self.load(width, to, place);
        self.write(op.a, to);
    }

    pub(super) fn store_general(&mut self, op: &Op, width: Width) {
        let place = self.place(op, width.bytes());
        let mut value = self.read(op.a, RDX);
        if self.endian == Endian::Big && width.bytes() > 1 {
            self.asm.mov(RDX, value);
            self.asm.swap(width, RDX);
            value = RDX;
        }
        self.site();
        self.asm.store(width, place, value);
    }

    /// The word that holds the byte at `b + imm`, in `edx` in the order of the host; its address in `eax`, and in `cl` by how much
    /// `lwl` shifts it to the left.
    fn word_around(&mut self, op: &Op) {
        let base = self.read(op.b, RAX);
        self.asm.lea(RAX, Mem::at(base, op.imm as i32));
        self.asm.mov(RCX, RAX);
        self.asm.alu_imm(AND, RCX, 3);
        if self.endian == Endian::Little {
            self.asm.alu_imm(XOR, RCX, 3);
        }
        self.asm.shift(SHL, RCX, 3);
        self.asm.alu_imm(AND, RAX, !3);
        self.load(Width::W32, RDX, Mem { base: R14, index: Some((RAX, 0)), disp: 0 });
    }

    /// `lwl` and `lwr`, whose bytes come from the word in place of the others of the register.
    pub(super) fn load_partial(&mut self, op: &Op) {
        let old = self.read(op.a, RAX);
        self.word_around(op);
        let shift = self.partial_shift(op.code == Code::Lwl);
        let to = self.bits_kept(shift);
        self.asm.alu(AND, to, old);
        self.asm.shift_cl(shift, RDX);
        self.asm.alu(OR, to, RDX);
        if op.a != SINK as u8 {
            self.write(op.a, to);
        }
    }

    /// Which way the left or right instruction of a load shifts, by what is in `cl` then.
    fn partial_shift(&mut self, left: bool) -> Shift {
        if left {
            return SHL;
        }
        self.asm.alu_imm(XOR, RCX, 24);
        SHR
    }

    /// The bits that a value shifted by what is in `cl` does not fill.
    fn bits_kept(&mut self, shift: Shift) -> Reg {
        let mask = self.cache.take();
        self.asm.mov_imm(mask, u32::MAX);
        self.asm.shift_cl(shift, mask);
        self.asm.not(mask);
        mask
    }

    /// `swl` and `swr`: reads the word and writes it with some of its bytes changed.
    pub(super) fn store_partial(&mut self, op: &Op) {
        let value = self.cache.take();
        let source = self.read(op.a, RDX);
        self.asm.mov(value, source);
        self.word_around(op);
        // The other way round than for loads.
        let shift = match self.partial_shift(op.code == Code::Swl) {
            SHL => SHR,
            _ => SHL,
        };
        let mask = self.bits_kept(shift);
        self.asm.alu(AND, RDX, mask);
        self.asm.shift_cl(shift, value);
        self.asm.alu(OR, RDX, value);
        self.swap(Width::W32, RDX);
        self.site();
        self.asm.store(Width::W32, Mem { base: R14, index: Some((RAX, 0)), disp: 0 }, RDX);
    }

    /// Where `ll` and `sc` access memory; the address is in `eax`.
    fn linked_place(&mut self, op: &Op) -> Mem {
        let base = self.read(op.b, RAX);
        self.asm.lea(RAX, Mem::at(base, op.imm as i32));
        self.check(RAX, 3);
        Mem { base: R14, index: Some((RAX, 0)), disp: 0 }
    }

    pub(super) fn load_linked(&mut self, op: &Op) {
        let place = self.linked_place(op);
        let to = self.cache.take();
        self.load(Width::W32, to, place);
        self.asm.store(Width::W32, LINK_ADDRESS, RAX);
        self.asm.store(Width::W32, LINK_VALUE, to);
        self.asm.store_byte(LINK_VALID, 1);
        if op.a != SINK as u8 {
            self.write(op.a, to);
        }
    }

    /// The mark goes at the end: after a store that failed, the interpreter does all of it.
    pub(super) fn store_conditional(&mut self, op: &Op) {
        let value = self.read(op.c, RCX);
        let place = self.linked_place(op);
        self.load(Width::W32, RDX, place);
        let to = self.cache.take();
        let done = self.asm.label();
        self.asm.mov_imm(to, 0);
        self.asm.cmp_byte(LINK_VALID, 0);
        self.asm.jcc(Cond::EQUAL, done);
        self.asm.alu_mem(CMP, RAX, LINK_ADDRESS);
        self.asm.jcc(Cond::NOT_EQUAL, done);
        self.asm.alu_mem(CMP, RDX, LINK_VALUE);
        self.asm.jcc(Cond::NOT_EQUAL, done);
        self.asm.mov(RDX, value);
        self.swap(Width::W32, RDX);
        self.site();
        self.asm.store(Width::W32, place, RDX);
        self.asm.mov_imm(to, 1);
        self.asm.bind(done);
        self.asm.store_byte(LINK_VALID, 0);
        if op.a != SINK as u8 {
            self.write(op.a, to);
        }
    }

    /// Loads and stores of floating-point registers, at `b + imm`, or `b + c` when they are indexed.
    pub(super) fn access_float(&mut self, op: &Op, width: Width, is_store: bool, is_indexed: bool) {
        let place = if is_indexed {
            let (base, index) = (self.read(op.b, RAX), self.read(op.c, RCX));
            self.asm.lea(RAX, Mem { base, index: Some((index, 0)), disp: 0 });
            self.check(RAX, width.bytes() - 1);
            Mem { base: R14, index: Some((RAX, 0)), disp: 0 }
        } else {
            self.place(op, width.bytes())
        };
        if is_store {
            self.asm.load(width, RDX, float_home(op.a));
            self.swap(width, RDX);
            self.site();
            self.asm.store(width, place, RDX);
        } else {
            self.load(width, RDX, place);
            self.asm.store(width, float_home(op.a), RDX);
        }
    }
}
