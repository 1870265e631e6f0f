//! Instructions of the floating-point unit. No exception is enabled while code runs, and MXCSR rounds and flushes as FCSR says. It
//! collects the flags; what FCSR's cause bits are follows from the last instruction and its operands. NaNs are the interpreter's: those of the
//! guest have other bits.

use super::Emitter;
use super::asm::{AND, CMP, Cond, Mem, OR, RAX, RCX, RDI, Reg, SHL, Width, XOR};
use super::memory::float_home;
use xenoglot_guest::{SINK, condition_bit};
use xenoglot_mips::lift::layout;
use xenoglot_mips::{Fmt, Inst, Op as Mips, decode};

/// FCSR's bits of rounding.
const ROUNDING: u32 = 3;

const FCSR: Mem = Mem::at(RDI, layout::FCSR as i32);

/// `xmm0`.
const X0: Reg = Reg(0);

/// Opcodes of SSE, after `0F`.
const MOV_LOAD: u8 = 0x10;
const MOV_STORE: u8 = 0x11;
const UCOMIS: u8 = 0x2e;

/// The instruction of a word, where there is code for it.
fn known(word: u32) -> Option<Inst> {
    let inst = decode(word).ok()?;
    if matches!(inst.op, Mips::Mfc1 | Mips::Mtc1) {
        return Some(inst);
    }
    let fmt = inst.fmt()?;
    let to = match inst.op {
        Mips::AddF | Mips::SubF | Mips::MulF | Mips::DivF | Mips::SqrtF => fmt,
        Mips::AbsF | Mips::NegF | Mips::MovF => fmt,
        // It has no destination.
        Mips::CompareF => Fmt::W,
        Mips::CvtS if fmt != Fmt::S => Fmt::S,
        Mips::CvtD if fmt != Fmt::D => Fmt::D,
        Mips::CvtW | Mips::RoundW | Mips::TruncW if fmt != Fmt::W => Fmt::W,
        _ => return None,
    };
    let has_two = matches!(inst.op, Mips::AddF | Mips::SubF | Mips::MulF | Mips::DivF | Mips::CompareF);
    let is_even = |register: u8, fmt: Fmt| fmt != Fmt::D || register & 1 == 0;
    let registers = is_even(inst.fs(), fmt) && (!has_two || is_even(inst.ft(), fmt));
    let to_integer = !matches!(inst.op, Mips::CvtS | Mips::CvtD) && fmt == Fmt::W;
    (registers && is_even(inst.fd(), to) && !to_integer && !matches!(fmt, Fmt::L | Fmt::Ps)).then_some(inst)
}

/// Whether there is code for the instruction of a word.
pub(super) fn is_known(word: u32) -> bool {
    known(word).is_some()
}

/// The general register that it writes.
pub(super) fn written(word: u32) -> u8 {
    match decode(word) {
        Ok(inst) if inst.op == Mips::Mfc1 && inst.rt() != 0 => inst.rt(),
        _ => SINK as u8,
    }
}

impl Emitter<'_> {
    /// The floating-point instruction of a word that is [known](is_known).
    pub(super) fn float(&mut self, word: u32) {
        let Some(inst) = known(word) else { return };
        match inst.op {
            Mips::Mfc1 if inst.rt() == 0 => {}
            Mips::Mfc1 => {
                let to = self.cache.take();
                self.asm.load(Width::W32, to, float_home(inst.fs()));
                self.write(inst.rt(), to);
            }
            Mips::Mtc1 => {
                let from = self.read(inst.rt(), RAX);
                self.asm.store(Width::W32, float_home(inst.fs()), from);
            }
            Mips::AbsF | Mips::NegF | Mips::MovF => self.change_sign(inst),
            Mips::CompareF => self.compare(inst),
            Mips::CvtW | Mips::RoundW | Mips::TruncW => self.round_to_word(inst),
            _ => self.arithmetic(inst),
        }
    }

    /// The sign is in the upper word of a double.
    fn change_sign(&mut self, inst: Inst) {
        let (fs, fd) = (inst.fs(), inst.fd());
        let is_double = inst.fmt() == Some(Fmt::D);
        if is_double {
            self.asm.load(Width::W32, RCX, float_home(fs));
            self.asm.store(Width::W32, float_home(fd), RCX);
        }
        let upper = |register: u8| float_home(register | u8::from(is_double));
        self.asm.load(Width::W32, RAX, upper(fs));
        match inst.op {
            Mips::AbsF => self.asm.alu_imm(AND, RAX, i32::MAX as u32),
            Mips::NegF => self.asm.alu_imm(XOR, RAX, 1 << 31),
            _ => {}
        }
        self.asm.store(Width::W32, upper(fd), RAX);
    }

    /// The prefix of instructions on values of a format.
    fn prefix(fmt: Option<Fmt>) -> u8 {
        if fmt == Some(Fmt::D) { 0xf2 } else { 0xf3 }
    }

    /// Leaves NaNs to the interpreter: the comparison has found one.
    fn not_nan(&mut self) {
        let nan = self.give_up();
        self.asm.jcc(Cond::PARITY, nan);
    }

    /// Compares `xmm0`, a value of a format.
    fn compare_with(&mut self, fmt: Option<Fmt>, with: Result<Reg, Mem>) {
        let prefix = if fmt == Some(Fmt::D) { 0x66 } else { 0 };
        match with {
            Ok(register) => self.asm.sse(prefix, UCOMIS, X0, register),
            Err(place) => self.asm.sse_mem(prefix, UCOMIS, X0, place),
        }
    }

    /// Stores the instruction and its operands, from which FCSR's cause bits are computed when they are read.
    fn note(&mut self, inst: Inst, operands: usize) {
        self.asm.store_imm(Mem::at(RDI, layout::LAST_FLOAT as i32), inst.word);
        let width = if inst.fmt() == Some(Fmt::D) { Width::W64 } else { Width::W32 };
        let registers = [inst.fs(), inst.ft()];
        for (register, place) in registers.into_iter().zip(layout::LAST_OPERANDS).take(operands) {
            self.asm.load(width, RAX, float_home(register));
            self.asm.store(width, Mem::at(RDI, place as i32), RAX);
        }
    }

    fn arithmetic(&mut self, inst: Inst) {
        let (fmt, prefix) = (inst.fmt(), Self::prefix(inst.fmt()));
        let (opcode, is_binary) = match inst.op {
            Mips::AddF => (0x58, true),
            Mips::SubF => (0x5c, true),
            Mips::MulF => (0x59, true),
            Mips::DivF => (0x5e, true),
            Mips::SqrtF => (0x51, false),
            // From a word, or from the other format.
            _ if fmt == Some(Fmt::W) => (0x2a, false),
            _ => (0x5a, false),
        };
        let (to, to_prefix) = match inst.op {
            Mips::CvtS => (Some(Fmt::S), 0xf3),
            Mips::CvtD => (Some(Fmt::D), 0xf2),
            _ => (fmt, prefix),
        };
        let from = float_home(inst.fs());
        if is_binary {
            self.asm.sse_mem(prefix, MOV_LOAD, X0, from);
            self.asm.sse_mem(prefix, opcode, X0, float_home(inst.ft()));
        } else {
            // Breaks the dependency on what the register held before.
            self.asm.sse(0, 0x57, X0, X0);
            let by = if fmt == Some(Fmt::W) { to_prefix } else { prefix };
            self.asm.sse_mem(by, opcode, X0, from);
        }
        self.compare_with(to, Ok(X0));
        self.not_nan();
        self.note(inst, if is_binary { 2 } else { 1 });
        self.asm.sse_mem(to_prefix, MOV_STORE, X0, float_home(inst.fd()));
    }

    /// Numbers without a word, and NaNs, are the interpreter's.
    fn round_to_word(&mut self, inst: Inst) {
        let opcode = if inst.op == Mips::TruncW { 0x2c } else { 0x2d };
        let none = self.give_up();
        if inst.op == Mips::RoundW {
            // The instruction rounds as MXCSR says.
            self.asm.test_mem(FCSR, ROUNDING);
            self.asm.jcc(Cond::NOT_EQUAL, none);
        }
        self.asm.sse_mem(Self::prefix(inst.fmt()), opcode, RCX, float_home(inst.fs()));
        self.asm.alu_imm(CMP, RCX, 1 << 31);
        self.asm.jcc(Cond::EQUAL, none);
        self.note(inst, 1);
        self.asm.store(Width::W32, float_home(inst.fd()), RCX);
    }

    fn compare(&mut self, inst: Inst) {
        self.asm.sse_mem(Self::prefix(inst.fmt()), MOV_LOAD, X0, float_home(inst.fs()));
        self.compare_with(inst.fmt(), Err(float_home(inst.ft())));
        self.not_nan();
        // Equal and less, by the bits that say what is asked.
        match inst.condition() >> 1 & 3 {
            0 => self.asm.mov_imm(RCX, 0),
            1 => self.asm.set(Cond::EQUAL, RCX),
            2 => self.asm.set(Cond::BELOW, RCX),
            _ => self.asm.set(Cond::BELOW_EQUAL, RCX),
        }
        let bit = condition_bit(inst.compare_cc().into());
        self.asm.shift(SHL, RCX, bit as u8);
        self.note(inst, 2);
        self.asm.load(Width::W32, RAX, FCSR);
        self.asm.alu_imm(AND, RAX, !(1 << bit));
        self.asm.alu(OR, RAX, RCX);
        self.asm.store(Width::W32, FCSR, RAX);
    }
}
