//! The instruction set as a table: a row for each operation.
//!
//! A word is an instruction when its bits under a row's mask are the row's bits and, where the row has formats, its
//! format is one of them. Rows exclude each other, so their order does not matter. Fields that the manual wants to be
//! zero are part of the mask: words with other values there are unknown.
//!
//! Source: "MIPS32 Architecture For Programmers, Volume II-A: The MIPS32 Instruction Set", revision 3.02.

mod alias;
mod table;

pub use alias::{ALIASES, Alias};
pub use table::{OPS, Op};

use crate::inst::Fmt;

/// An operand, and the bits of the word that hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// General register, bits 25–21.
    Rs,
    /// General register, bits 20–16.
    Rt,
    /// General register, bits 15–11.
    Rd,
    /// Destination of `clz` and `clo`: bits 15–11, and 20–16 must name the same register.
    RdRt,
    /// Floating-point register, bits 10–6.
    Fd,
    /// Floating-point register, bits 15–11.
    Fs,
    /// Floating-point register, bits 20–16.
    Ft,
    /// Floating-point register, bits 25–21.
    Fr,
    /// Shift amount, bits 10–6.
    Shift,
    /// Signed constant, bits 15–0.
    Imm,
    /// Unsigned constant, bits 15–0.
    Uimm,
    /// `offset(base)`: signed offset in bits 15–0, base in 25–21.
    Memory,
    /// `index(base)`: index in bits 20–16, base in 25–21.
    Indexed,
    /// Target of a branch: bits 15–0 in words from the delay slot.
    Branch,
    /// Target of a jump: bits 25–0 are bits 27–2 of the address.
    Jump,
    /// Code of `break`: bits 25–16, then bits 15–6; zero is left out.
    Code,
    /// Code of `syscall`: bits 25–6; zero is left out.
    Code20,
    /// Code of a conditional trap: bits 15–6; zero is left out.
    TrapCode,
    /// Kind of `sync`: bits 10–6; zero is left out.
    Stype,
    /// Hint of `pref`, bits 20–16.
    Hint,
    /// Hint of `prefx`, bits 15–11.
    HintX,
    /// Lowest bit of a field, bits 10–6.
    Pos,
    /// Width of the field of `ext`: bits 15–11 plus one.
    ExtSize,
    /// Width of the field of `ins`: bits 15–11 are its highest bit.
    InsSize,
    /// Hardware register, bits 15–11.
    Hwr,
    /// Control register of the floating-point unit, bits 15–11.
    Control,
    /// Floating-point condition, bits 20–18.
    Cc,
    /// Floating-point condition of a branch, bits 20–18; condition 0 is left out.
    BranchCc,
    /// Floating-point condition of a comparison, bits 10–8; condition 0 is left out.
    CompareCc,
    /// The register `zero` that binutils prints before the operands of a division.
    Zero,
}

/// The revision of the architecture that introduced an operation to 32-bit processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// MIPS I.
    Mips1,
    /// MIPS II.
    Mips2,
    /// MIPS32 release 1.
    Mips32,
    /// MIPS32 release 2.
    Mips32r2,
}

/// Where the format of a floating-point operation is, and which formats there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formats {
    /// The operation has no format.
    None,
    /// Bits 25–21.
    Field(&'static [Fmt]),
    /// Bits 2–0, as the multiply-adds have it.
    Low(&'static [Fmt]),
    /// Bits 25–21 with one format, which the mnemonic already says.
    Named(Fmt),
}

/// A row of the table.
#[derive(Debug)]
pub struct OpInfo {
    /// The operation; its discriminant is the row's index.
    pub op: Op,
    /// Mnemonic, without the format.
    pub name: &'static str,
    /// Bits of the word under the mask.
    pub bits: u32,
    /// Bits of the word that tell the operation, the format apart.
    pub mask: u32,
    /// Formats.
    pub formats: Formats,
    /// Operands in the order of the text.
    pub operands: &'static [Operand],
    /// Revision of the architecture.
    pub level: Level,
}

impl Op {
    /// The operation's row.
    pub fn info(self) -> &'static OpInfo {
        // One row per variant, in the same order: both come from one macro.
        &OPS[self as usize]
    }

    /// Mnemonic, without the format.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Whether the instruction after it is its delay slot.
    pub fn has_slot(self) -> bool {
        use Op::*;
        self.is_likely()
            || matches!(
                self,
                J | Jal
                    | Jr
                    | JrHb
                    | Jalr
                    | JalrHb
                    | Beq
                    | Bne
                    | Blez
                    | Bgtz
                    | Bltz
                    | Bgez
                    | Bltzal
                    | Bgezal
                    | Bc1f
                    | Bc1t
            )
    }

    /// Whether it is a branch that skips its delay slot when it is not taken.
    pub fn is_likely(self) -> bool {
        use Op::*;
        matches!(self, Beql | Bnel | Blezl | Bgtzl | Bltzl | Bgezl | Bltzall | Bgezall | Bc1fl | Bc1tl)
    }
}
