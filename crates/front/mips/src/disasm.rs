//! The text of instructions, in the syntax `objdump` of the GNU binutils prints for `mips:isa32r2`.
//!
//! The mnemonic and its operands are separated by a tab. Targets are absolute addresses without a symbol. A word that is
//! no instruction is a `.word`.

use crate::decode::decode;
use crate::inst::Inst;
use crate::isa::{ALIASES, Formats, Op, Operand};
use std::fmt;

/// The names of the general registers in the o32 calling convention.
pub const GPR_NAMES: [&str; 32] = [
    "zero", "at", "v0", "v1", "a0", "a1", "a2", "a3", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "s0",
    "s1", "s2", "s3", "s4", "s5", "s6", "s7", "t8", "t9", "k0", "k1", "gp", "sp", "s8", "ra",
];

/// The 16 conditions of comparisons, by the lowest four bits of the word.
const CONDITIONS: [&str; 16] = [
    "f", "un", "eq", "ueq", "olt", "ult", "ole", "ule", "sf", "ngle", "seq", "ngl", "lt", "nge", "le", "ngt",
];

fn gpr(number: u8) -> &'static str {
    GPR_NAMES[usize::from(number & 31)]
}

/// The text of an instruction at an address.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    inst: Inst,
    pc: u32,
}

impl Inst {
    /// The text of the instruction at the address `pc`.
    pub fn text(self, pc: u32) -> Text {
        Text { inst: self, pc }
    }
}

/// The text of any word at the address `pc`; `.word` when it is no instruction.
pub fn text(word: u32, pc: u32) -> String {
    match decode(word) {
        Ok(inst) => inst.text(pc).to_string(),
        Err(unknown) => format!(".word\t{:#x}", unknown.word),
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inst = self.inst;
        let alias = ALIASES.iter().find(|alias| alias.op == inst.op && inst.word & alias.mask == alias.bits);
        let operands = match alias {
            Some(alias) => {
                f.write_str(alias.name)?;
                alias.operands
            }
            None => {
                mnemonic(f, inst)?;
                inst.op.info().operands
            }
        };
        let mut separator = "\t";
        for &operand in operands {
            if !omitted(inst, operand) {
                f.write_str(separator)?;
                self.operand(f, operand)?;
                separator = ",";
            }
        }
        Ok(())
    }
}

fn mnemonic(f: &mut fmt::Formatter<'_>, inst: Inst) -> fmt::Result {
    f.write_str(inst.op.name())?;
    if inst.op == Op::CompareF {
        write!(f, ".{}", CONDITIONS[usize::from(inst.condition())])?;
    }
    match (inst.op.info().formats, inst.fmt()) {
        (Formats::None | Formats::Named(_), _) | (_, None) => Ok(()),
        (_, Some(format)) => write!(f, ".{}", format.name()),
    }
}

/// Whether an operand is left out because it has its usual value.
fn omitted(inst: Inst, operand: Operand) -> bool {
    match operand {
        Operand::Code | Operand::Code20 | Operand::TrapCode => inst.code() == 0,
        Operand::Stype => inst.shift() == 0,
        Operand::BranchCc => inst.cc() == 0,
        Operand::CompareCc => inst.compare_cc() == 0,
        _ => false,
    }
}

impl Text {
    fn operand(&self, f: &mut fmt::Formatter<'_>, operand: Operand) -> fmt::Result {
        let inst = self.inst;
        match operand {
            Operand::Rs => f.write_str(gpr(inst.rs())),
            Operand::Rt => f.write_str(gpr(inst.rt())),
            Operand::Rd => f.write_str(gpr(inst.rd())),
            // binutils names both registers when the two destination fields differ and neither is `zero`.
            Operand::RdRt => match (inst.rd(), inst.rt()) {
                (rd, 0) => f.write_str(gpr(rd)),
                (0, rt) => f.write_str(gpr(rt)),
                (rd, rt) if rd == rt => f.write_str(gpr(rd)),
                (rd, rt) => write!(f, "{} or {}", gpr(rd), gpr(rt)),
            },
            Operand::Zero => f.write_str(gpr(0)),
            Operand::Fd => write!(f, "$f{}", inst.fd()),
            Operand::Fs => write!(f, "$f{}", inst.fs()),
            Operand::Ft => write!(f, "$f{}", inst.ft()),
            Operand::Fr => write!(f, "$f{}", inst.fr()),
            Operand::Shift | Operand::Pos | Operand::Stype => write!(f, "{:#x}", inst.shift()),
            Operand::Imm => write!(f, "{}", inst.imm()),
            Operand::Uimm => write!(f, "{:#x}", inst.uimm()),
            Operand::Memory => write!(f, "{}({})", inst.imm(), gpr(inst.rs())),
            Operand::Indexed => write!(f, "{}({})", gpr(inst.rt()), gpr(inst.rs())),
            Operand::Branch => write!(f, "{:#x}", inst.branch_target(self.pc)),
            Operand::Jump => write!(f, "{:#x}", inst.jump_target(self.pc)),
            Operand::Code => {
                write!(f, "{:#x}", inst.code() >> 10)?;
                if inst.code() & 0x3ff != 0 { write!(f, ",{:#x}", inst.code() & 0x3ff) } else { Ok(()) }
            }
            Operand::Code20 | Operand::TrapCode => write!(f, "{:#x}", inst.code()),
            Operand::Hint => write!(f, "{:#x}", inst.rt()),
            Operand::HintX => write!(f, "{:#x}", inst.rd()),
            Operand::ExtSize => write!(f, "{:#x}", inst.msb() + 1),
            // A width below one is printed as the 32-bit number it is.
            Operand::InsSize => {
                write!(f, "{:#x}", (u32::from(inst.msb()) + 1).wrapping_sub(u32::from(inst.shift())))
            }
            Operand::Hwr => match inst.rd() {
                0 => f.write_str("hwr_cpunum"),
                1 => f.write_str("hwr_synci_step"),
                2 => f.write_str("hwr_cc"),
                3 => f.write_str("hwr_ccres"),
                number => write!(f, "${number}"),
            },
            Operand::Control => match inst.rd() {
                0 => f.write_str("c1_fir"),
                1 => f.write_str("c1_ufr"),
                4 => f.write_str("c1_unfr"),
                25 => f.write_str("c1_fccr"),
                26 => f.write_str("c1_fexr"),
                28 => f.write_str("c1_fenr"),
                31 => f.write_str("c1_fcsr"),
                number => write!(f, "${number}"),
            },
            Operand::Cc | Operand::BranchCc => write!(f, "$fcc{}", inst.cc()),
            Operand::CompareCc => write!(f, "$fcc{}", inst.compare_cc()),
        }
    }
}
