//! Operations on registers, and the branches at the end of blocks.

use super::asm::{
    ADD, AND, Alu, CMP, Cond, Mem, OR, RAX, RCX, RDI, RDX, ROR, Reg, SAR, SHL, SHR, SUB, Shift, Width, XOR,
};
use super::discover::{Block, written};
use super::{Emitter, home};
use crate::state::{Exit, State};
use crate::table::Table;
use xenoglot_guest::ops::{Code, Op};
use xenoglot_guest::{HI, LO, SINK, condition_bit, reg};
use xenoglot_mips::lift::layout;

const FCSR: Mem = Mem::at(RDI, layout::FCSR as i32);

impl Emitter<'_> {
    /// The register of the host that has a register of the guest: `temp` for zero.
    pub(super) fn read(&mut self, register: u8, temp: Reg) -> Reg {
        if register == 0 {
            self.asm.alu(XOR, temp, temp);
            return temp;
        }
        if let Some(host) = self.cache.find(register) {
            return host;
        }
        let host = self.cache.take();
        self.asm.load(Width::W32, host, home(register));
        self.cache.put(register, host);
        host
    }

    /// A register of the host's own with what a register of the guest has.
    fn copy(&mut self, register: u8) -> Reg {
        let from = self.read(register, RAX);
        let to = self.cache.take();
        self.asm.mov(to, from);
        to
    }

    /// A register of the guest becomes what a register of the host has.
    pub(super) fn write(&mut self, register: u8, host: Reg) {
        self.asm.store(Width::W32, home(register), host);
        self.cache.forget(register);
        self.cache.put(register, host);
    }

    /// The same for one that the cache does not give out.
    fn write_home(&mut self, register: u8, host: Reg) {
        self.asm.store(Width::W32, home(register), host);
        self.cache.forget(register);
    }

    fn set(&mut self, register: u8, value: u32) {
        self.asm.store_imm(home(register), value);
        self.cache.forget(register);
    }

    /// `a = b op c`.
    fn three(&mut self, op: &Op, alu: Alu) {
        let (to, y) = (self.copy(op.b), self.read(op.c, RCX));
        self.asm.alu(alu, to, y);
        self.write(op.a, to);
    }

    /// `a = b op imm`.
    fn two(&mut self, op: &Op, alu: Alu) {
        let to = self.copy(op.b);
        self.asm.alu_imm(alu, to, op.imm);
        self.write(op.a, to);
    }

    fn shift(&mut self, op: &Op, shift: Shift) {
        let to = self.copy(op.b);
        self.asm.shift(shift, to, op.imm as u8 & 31);
        self.write(op.a, to);
    }

    fn shift_by(&mut self, op: &Op, shift: Shift) {
        let (to, by) = (self.copy(op.b), self.read(op.c, RCX));
        self.asm.mov(RCX, by);
        self.asm.shift_cl(shift, to);
        self.write(op.a, to);
    }

    /// `a` is whether `b` is less than `c`, or than `imm`.
    fn less(&mut self, op: &Op, cond: Cond, with_constant: bool) {
        let x = self.read(op.b, RAX);
        if with_constant {
            self.asm.alu_imm(CMP, x, op.imm);
        } else {
            let y = self.read(op.c, RCX);
            self.asm.alu(CMP, x, y);
        }
        let to = self.cache.take();
        self.asm.set(cond, to);
        self.write(op.a, to);
    }

    /// Sums and differences that raise an exception on overflow.
    fn checked(&mut self, op: &Op) {
        let overflow = self.give_up();
        let to = self.copy(op.b);
        let y = if op.code == Code::Addi { None } else { Some(self.read(op.c, RCX)) };
        let alu = if op.code == Code::Sub { SUB } else { ADD };
        match y {
            Some(y) => self.asm.alu(alu, to, y),
            None => self.asm.alu_imm(alu, to, op.imm),
        }
        self.asm.jcc(Cond::OVERFLOW, overflow);
        self.put(op.a, to);
    }

    /// Writes a register unless nobody reads it.
    fn put(&mut self, register: u8, host: Reg) {
        if register != SINK as u8 {
            self.write(register, host);
        }
    }

    fn multiply(&mut self, op: &Op, signed: bool) {
        let (x, y) = (self.read(op.b, RAX), self.read(op.c, RCX));
        self.asm.mov(RAX, x);
        self.asm.mul(signed, y);
    }

    /// What is in `eax` and `edx` goes to LO and HI.
    fn write_wide(&mut self) {
        self.write_home(LO as u8, RAX);
        self.write_home(HI as u8, RDX);
    }

    /// Adds the product to HI and LO, or subtracts it.
    fn accumulate(&mut self, op: &Op, signed: bool, alu: Alu) {
        self.multiply(op, signed);
        self.asm.shift64(SHL, RDX, 32);
        self.asm.alu64(OR, RAX, RDX);
        self.asm.load(Width::W32, RCX, home(HI as u8));
        self.asm.shift64(SHL, RCX, 32);
        self.asm.load(Width::W32, RDX, home(LO as u8));
        self.asm.alu64(OR, RCX, RDX);
        self.asm.alu64(alu, RCX, RAX);
        self.write_home(LO as u8, RCX);
        self.asm.shift64(SHR, RCX, 32);
        self.write_home(HI as u8, RCX);
    }

    /// Divides by one where the divisor is zero, as the interpreter does.
    fn divide(&mut self, op: &Op, signed: bool) {
        let (x, y) = (self.read(op.b, RAX), self.read(op.c, RCX));
        self.asm.mov(RCX, y);
        self.asm.mov_imm(RDX, 1);
        self.asm.test(RCX, RCX);
        self.asm.cmov(Cond::EQUAL, RCX, RDX);
        if signed {
            // In 64 bits the smallest number divided by -1 has a quotient.
            self.asm.movsxd(RAX, x);
            self.asm.movsxd(RCX, RCX);
            self.asm.idiv64(RCX);
        } else {
            self.asm.mov(RAX, x);
            self.asm.div(RCX);
        }
        self.write_wide();
    }

    /// The zeros above the highest bit of `eax` that is set.
    fn leading_zeros(&mut self, op: &Op) {
        self.asm.mov_imm(RCX, 63);
        self.asm.bsr(RAX, RAX);
        self.asm.cmov(Cond::EQUAL, RAX, RCX);
        self.asm.alu_imm(XOR, RAX, 31);
        self.write_home(op.a, RAX);
    }

    /// `a = b` under a condition that flags have.
    fn move_if(&mut self, op: &Op, cond: Cond, test: impl FnOnce(&mut Self)) {
        let (x, old) = (self.read(op.b, RAX), self.read(op.a, RDX));
        let to = self.cache.take();
        self.asm.mov(to, old);
        test(self);
        self.asm.cmov(cond, to, x);
        self.write(op.a, to);
    }

    /// Looks at a condition of FCSR: not equal when it holds.
    fn test_condition(&mut self, condition: u32) {
        self.asm.test_mem(FCSR, 1 << condition_bit(condition));
    }

    fn insert(&mut self, op: &Op) {
        let (x, old) = (self.read(op.b, RAX), self.read(op.a, RDX));
        let to = self.cache.take();
        self.asm.mov(to, old);
        self.asm.alu_imm(AND, to, !(op.imm << (op.c & 31)));
        self.asm.mov(RAX, x);
        self.asm.alu_imm(AND, RAX, op.imm);
        self.asm.shift(SHL, RAX, op.c & 31);
        self.asm.alu(OR, to, RAX);
        self.write(op.a, to);
    }

    /// What `rdhwr` reads.
    fn hardware(&mut self, op: &Op) {
        match op.b {
            0 => self.set(op.a, 0),
            1 => self.set(op.a, 32),
            3 => self.set(op.a, 1),
            _ => {
                let to = self.cache.take();
                self.asm.load(Width::W32, to, Mem::at(RDI, layout::THREAD as i32));
                self.write(op.a, to);
            }
        }
    }

    /// The condition of a trap's relation.
    fn relation(relation: u8) -> Cond {
        match relation {
            0 => Cond::GREATER_EQUAL,
            1 => Cond::ABOVE_EQUAL,
            2 => Cond::LESS,
            3 => Cond::BELOW,
            4 => Cond::EQUAL,
            _ => Cond::NOT_EQUAL,
        }
    }

    /// An operation that is no branch.
    pub(super) fn op(&mut self, op: &Op) {
        match op.code {
            Code::Lb => self.load_general(op, Width::I8),
            Code::Lbu => self.load_general(op, Width::U8),
            Code::Lh => self.load_general(op, Width::I16),
            Code::Lhu => self.load_general(op, Width::U16),
            Code::Lw => self.load_general(op, Width::W32),
            Code::Lwl | Code::Lwr => self.load_partial(op),
            Code::Sb => self.store_general(op, Width::U8),
            Code::Sh => self.store_general(op, Width::U16),
            Code::Sw => self.store_general(op, Width::W32),
            Code::Swl | Code::Swr => self.store_partial(op),
            Code::Ll => self.load_linked(op),
            Code::Sc => self.store_conditional(op),
            Code::Lwc1 => self.access_float(op, Width::W32, false, false),
            Code::Ldc1 => self.access_float(op, Width::W64, false, false),
            Code::Swc1 => self.access_float(op, Width::W32, true, false),
            Code::Sdc1 => self.access_float(op, Width::W64, true, false),
            Code::Lwxc1 => self.access_float(op, Width::W32, false, true),
            Code::Ldxc1 => self.access_float(op, Width::W64, false, true),
            Code::Swxc1 => self.access_float(op, Width::W32, true, true),
            Code::Sdxc1 => self.access_float(op, Width::W64, true, true),
            Code::Add | Code::Addi | Code::Sub => self.checked(op),
            Code::Mult | Code::Multu => {
                self.multiply(op, op.code == Code::Mult);
                self.write_wide();
            }
            Code::Madd => self.accumulate(op, true, ADD),
            Code::Maddu => self.accumulate(op, false, ADD),
            Code::Msub => self.accumulate(op, true, SUB),
            Code::Msubu => self.accumulate(op, false, SUB),
            Code::Div => self.divide(op, true),
            Code::Divu => self.divide(op, false),
            Code::Trap | Code::TrapImm => {
                let trap = self.give_up();
                let x = self.read(op.b, RAX);
                if op.code == Code::Trap {
                    let y = self.read(op.c, RCX);
                    self.asm.alu(CMP, x, y);
                } else {
                    self.asm.alu_imm(CMP, x, op.imm);
                }
                self.asm.jcc(Self::relation(op.a), trap);
            }
            Code::Float => self.float(op.imm),
            // What is left writes a register and does nothing else.
            _ if op.a == SINK as u8 => {}
            _ => self.compute(op),
        }
    }

    fn compute(&mut self, op: &Op) {
        match op.code {
            Code::Move if op.b == 0 => self.set(op.a, 0),
            Code::Move => {
                let to = self.copy(op.b);
                self.write(op.a, to);
            }
            Code::Set => {
                let to = self.cache.take();
                self.asm.mov_imm(to, op.imm);
                self.write(op.a, to);
            }
            Code::Addu => {
                let (base, index) = (self.read(op.b, RAX), self.read(op.c, RCX));
                let to = self.cache.take();
                self.asm.lea(to, Mem { base, index: Some((index, 0)), disp: 0 });
                self.write(op.a, to);
            }
            Code::Addiu => {
                let x = self.read(op.b, RAX);
                let to = self.cache.take();
                self.asm.lea(to, Mem::at(x, op.imm as i32));
                self.write(op.a, to);
            }
            Code::Subu if op.b == 0 => {
                let to = self.copy(op.c);
                self.asm.neg(to);
                self.write(op.a, to);
            }
            Code::Subu => self.three(op, SUB),
            Code::And => self.three(op, AND),
            Code::Or => self.three(op, OR),
            Code::Xor => self.three(op, XOR),
            Code::Nor => {
                let (to, y) = (self.copy(op.b), self.read(op.c, RCX));
                self.asm.alu(OR, to, y);
                self.asm.not(to);
                self.write(op.a, to);
            }
            Code::Slt => self.less(op, Cond::LESS, false),
            Code::Sltu => self.less(op, Cond::BELOW, false),
            Code::Slti => self.less(op, Cond::LESS, true),
            Code::Sltiu => self.less(op, Cond::BELOW, true),
            Code::Andi => self.two(op, AND),
            Code::Ori => self.two(op, OR),
            Code::Xori => self.two(op, XOR),
            Code::Sll => self.shift(op, SHL),
            Code::Srl => self.shift(op, SHR),
            Code::Sra => self.shift(op, SAR),
            Code::Rotr => self.shift(op, ROR),
            Code::Sllv => self.shift_by(op, SHL),
            Code::Srlv => self.shift_by(op, SHR),
            Code::Srav => self.shift_by(op, SAR),
            Code::Rotrv => self.shift_by(op, ROR),
            Code::Mul => {
                let (to, y) = (self.copy(op.b), self.read(op.c, RCX));
                self.asm.imul(to, y);
                self.write(op.a, to);
            }
            Code::Clz | Code::Clo => {
                let x = self.read(op.b, RAX);
                self.asm.mov(RAX, x);
                if op.code == Code::Clo {
                    self.asm.not(RAX);
                }
                self.leading_zeros(op);
            }
            Code::Movz | Code::Movn => {
                let by = self.read(op.c, RCX);
                let cond = if op.code == Code::Movz { Cond::EQUAL } else { Cond::NOT_EQUAL };
                self.move_if(op, cond, |emitter| emitter.asm.test(by, by));
            }
            Code::Movcc => {
                let cond = if op.c != 0 { Cond::NOT_EQUAL } else { Cond::EQUAL };
                self.move_if(op, cond, |emitter| emitter.test_condition(op.imm));
            }
            Code::Ext => {
                let to = self.copy(op.b);
                self.asm.shift(SHR, to, op.c & 31);
                self.asm.alu_imm(AND, to, op.imm);
                self.write(op.a, to);
            }
            Code::Ins => self.insert(op),
            Code::Seb | Code::Seh => {
                let x = self.read(op.b, RAX);
                let to = self.cache.take();
                self.asm.extend(if op.code == Code::Seb { Width::I8 } else { Width::I16 }, to, x);
                self.write(op.a, to);
            }
            Code::Wsbh => {
                let to = self.copy(op.b);
                self.asm.swap(Width::W32, to);
                self.asm.shift(ROR, to, 16);
                self.write(op.a, to);
            }
            Code::Rdhwr => self.hardware(op),
            // Discovery lets nothing else through.
            _ => {}
        }
    }

    /// The branch at index `n` of a block, with its delay slot. `next` is the address of the block behind it.
    pub(super) fn branch(&mut self, block: &Block, n: usize, branch: &Op, slot: &Op, next: Option<u32>) {
        let count = n as u32 + 2;
        let behind = block.behind(n + 2);
        self.begin(block.pc, n, n);
        match branch.code {
            Code::Jump | Code::Call => {
                if branch.code == Code::Call {
                    self.set(reg::RA as u8, behind);
                }
                self.slot(block, n, slot);
                self.count(count);
                if next != Some(branch.imm) {
                    self.go_on(branch.imm);
                }
            }
            Code::Jr | Code::Jalr => {
                if branch.code == Code::Jalr && branch.a != SINK as u8 {
                    self.set(branch.a, branch.imm);
                }
                // The slot may change the register.
                let is_early = written(slot) == branch.b;
                if is_early {
                    let target = self.read(branch.b, RAX);
                    self.asm.store(Width::W32, Mem::at(RDI, State::TARGET), target);
                }
                self.slot(block, n, slot);
                self.count(count);
                if is_early {
                    self.asm.load(Width::W32, super::RSI, Mem::at(RDI, State::TARGET));
                } else {
                    let target = self.read(branch.b, RAX);
                    self.asm.mov(super::RSI, target);
                }
                self.go_indirect();
            }
            Code::Beql | Code::Bnel | Code::Blezl | Code::Bgtzl | Code::Bltzl | Code::Bgezl | Code::Bccl => {
                self.likely(block, n, branch, slot, next);
            }
            Code::Bltzall | Code::Bgezall => {
                // The condition does not read what is set.
                self.set(reg::RA as u8, behind);
                self.likely(block, n, branch, slot, next);
            }
            _ => {
                if matches!(branch.code, Code::Bltzal | Code::Bgezal) {
                    self.set(reg::RA as u8, behind);
                }
                let changed = written(slot);
                let reads = |register: u8| register != 0 && register == changed;
                let is_early = match branch.code {
                    Code::Bcc => slot.code == Code::Float,
                    _ => reads(branch.b) || reads(branch.c),
                };
                let mut cond = Cond::NOT_EQUAL;
                if is_early {
                    let taken = self.condition(branch);
                    self.asm.set(taken, RAX);
                    self.asm.store(Width::W32, Mem::at(RDI, State::TARGET), RAX);
                    self.slot(block, n, slot);
                    self.asm.alu_mem_imm(CMP, Mem::at(RDI, State::TARGET), 0);
                } else {
                    self.slot(block, n, slot);
                    cond = self.condition(branch);
                }
                self.count(count);
                if next == Some(branch.imm) {
                    self.go_on_if(cond.not(), behind);
                } else {
                    self.go_on_if(cond, branch.imm);
                    if next != Some(behind) {
                        self.go_on(behind);
                    }
                }
            }
        }
    }

    /// A branch that skips its slot when it is not taken.
    fn likely(&mut self, block: &Block, n: usize, branch: &Op, slot: &Op, next: Option<u32>) {
        let behind = block.behind(n + 2);
        let skip = self.asm.label();
        let cond = self.condition(branch);
        self.asm.jcc(cond.not(), skip);
        self.slot(block, n, slot);
        self.count(n as u32 + 2);
        self.go_on(branch.imm);
        self.asm.bind(skip);
        self.count(n as u32 + 1);
        if next != Some(behind) {
            self.go_on(behind);
        }
    }

    /// The delay slot of the branch at index `n`.
    fn slot(&mut self, block: &Block, n: usize, slot: &Op) {
        self.begin(block.pc, n + 1, n);
        self.op(slot);
        self.cache.unlock();
    }

    /// Sets flags to whether a branch is taken, and says by which condition.
    fn condition(&mut self, branch: &Op) -> Cond {
        let zero_cond = match branch.code {
            Code::Bcc | Code::Bccl => {
                self.test_condition(branch.b.into());
                return if branch.a != 0 { Cond::NOT_EQUAL } else { Cond::EQUAL };
            }
            Code::Beq | Code::Beql | Code::Bne | Code::Bnel => {
                let equal = matches!(branch.code, Code::Beq | Code::Beql);
                let cond = if equal { Cond::EQUAL } else { Cond::NOT_EQUAL };
                if branch.b == 0 || branch.c == 0 {
                    let x = self.read(branch.b | branch.c, RAX);
                    self.asm.test(x, x);
                } else {
                    let (x, y) = (self.read(branch.b, RAX), self.read(branch.c, RCX));
                    self.asm.alu(CMP, x, y);
                }
                return cond;
            }
            Code::Blez | Code::Blezl => Cond::LESS_EQUAL,
            Code::Bgtz | Code::Bgtzl => Cond::GREATER,
            Code::Bgez | Code::Bgezl | Code::Bgezal | Code::Bgezall => Cond::NOT_SIGN,
            _ => Cond::SIGN,
        };
        let x = self.read(branch.b, RAX);
        self.asm.test(x, x);
        zero_cond
    }

    /// Goes on at the guest's address in `esi`, through the table.
    fn go_indirect(&mut self) {
        let missing = self.asm.label();
        if self.links.is_some() {
            // The lowest two bits of the address come to the top, where they lead to parts of the table that stay empty.
            self.asm.mov(RAX, super::RSI);
            self.asm.shift(ROR, RAX, Table::ALIGN_LOG2 as u8);
            self.asm.mov(RCX, RAX);
            self.asm.shift(SHR, RCX, Table::PART_BITS as u8);
            self.asm.load(Width::W64, RDX, Mem::at(RDI, State::PARTS));
            self.asm.load(Width::W64, RDX, Mem { base: RDX, index: Some((RCX, 3)), disp: 0 });
            self.asm.test64(RDX, RDX);
            self.asm.jcc(Cond::EQUAL, missing);
            self.asm.alu_imm(AND, RAX, (1 << Table::PART_BITS) - 1);
            self.asm.jmp_mem(Mem { base: RDX, index: Some((RAX, 3)), disp: 0 });
            self.asm.bind(missing);
        }
        // `Exit::Next` is zero.
        const { assert!(Exit::Next as u64 == 0) };
        self.asm.mov(RAX, super::RSI);
        self.asm.ret();
    }
}
