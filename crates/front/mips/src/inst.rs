//! A decoded instruction: its operation, and accessors for the fields of its word.

use crate::isa::{Formats, Op};

/// Byte order of a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Endian {
    /// Most significant byte first (`mips`).
    Big,
    /// Least significant byte first (`mipsel`).
    Little,
}

impl Endian {
    /// The word that four bytes are.
    pub fn word(self, bytes: [u8; 4]) -> u32 {
        match self {
            Endian::Big => u32::from_be_bytes(bytes),
            Endian::Little => u32::from_le_bytes(bytes),
        }
    }
}

/// Number format of a floating-point operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fmt {
    /// Single.
    S,
    /// Double.
    D,
    /// 32-bit integer.
    W,
    /// 64-bit integer; needs 64-bit floating-point registers.
    L,
    /// Two singles; needs 64-bit floating-point registers.
    Ps,
}

impl Fmt {
    /// The suffix of a mnemonic, without the dot.
    pub fn name(self) -> &'static str {
        match self {
            Fmt::S => "s",
            Fmt::D => "d",
            Fmt::W => "w",
            Fmt::L => "l",
            Fmt::Ps => "ps",
        }
    }

    /// The value of bits 25–21.
    pub(crate) fn field(self) -> u32 {
        match self {
            Fmt::S => 16,
            Fmt::D => 17,
            Fmt::W => 20,
            Fmt::L => 21,
            Fmt::Ps => 22,
        }
    }
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Inst {
    /// The operation.
    pub op: Op,
    /// The word.
    pub word: u32,
}

impl Inst {
    fn field(self, shift: u32) -> u8 {
        (self.word >> shift & 31) as u8
    }

    /// Bits 25–21: first source, base address.
    pub fn rs(self) -> u8 {
        self.field(21)
    }

    /// Bits 20–16: second source, or destination of operations with a constant.
    pub fn rt(self) -> u8 {
        self.field(16)
    }

    /// Bits 15–11: destination.
    pub fn rd(self) -> u8 {
        self.field(11)
    }

    /// Bits 10–6: shift amount, lowest bit of a field.
    pub fn shift(self) -> u8 {
        self.field(6)
    }

    /// Bits 10–6 as a floating-point register.
    pub fn fd(self) -> u8 {
        self.field(6)
    }

    /// Bits 15–11 as a floating-point register.
    pub fn fs(self) -> u8 {
        self.field(11)
    }

    /// Bits 20–16 as a floating-point register.
    pub fn ft(self) -> u8 {
        self.field(16)
    }

    /// Bits 25–21 as a floating-point register.
    pub fn fr(self) -> u8 {
        self.field(21)
    }

    /// Bits 15–0, sign extended.
    pub fn imm(self) -> i32 {
        i32::from(self.word as u16 as i16)
    }

    /// Bits 15–0, zero extended.
    pub fn uimm(self) -> u32 {
        self.word & 0xffff
    }

    /// Where a branch at `pc` leads.
    pub fn branch_target(self, pc: u32) -> u32 {
        pc.wrapping_add(4).wrapping_add((self.imm() as u32) << 2)
    }

    /// Where a jump at `pc` leads: within the 256 MiB of its delay slot.
    pub fn jump_target(self, pc: u32) -> u32 {
        (pc.wrapping_add(4) & 0xf000_0000) | (self.word & 0x03ff_ffff) << 2
    }

    /// The code of `break`, `syscall` (20 bits) or a conditional trap (10 bits).
    pub fn code(self) -> u32 {
        let bits = if matches!(self.op, Op::Break | Op::Syscall) { 20 } else { 10 };
        self.word >> 6 & ((1 << bits) - 1)
    }

    /// The floating-point condition that a branch or move reads.
    pub fn cc(self) -> u8 {
        (self.word >> 18 & 7) as u8
    }

    /// The floating-point condition that a comparison writes.
    pub fn compare_cc(self) -> u8 {
        (self.word >> 8 & 7) as u8
    }

    /// What a comparison asks for: bit 0 unordered, bit 1 equal, bit 2 less; bit 3 makes quiet NaNs invalid, too.
    pub fn condition(self) -> u8 {
        (self.word & 15) as u8
    }

    /// Highest bit of the field of `ext` and `ins`, counted from the field's lowest bit for `ext`: bits 15–11.
    pub fn msb(self) -> u8 {
        self.field(11)
    }

    /// The format of a floating-point operation.
    pub fn fmt(self) -> Option<Fmt> {
        match self.op.info().formats {
            Formats::None => None,
            Formats::Named(fmt) => Some(fmt),
            Formats::Field(of) => of.iter().copied().find(|fmt| fmt.field() == self.word >> 21 & 31),
            // The same three bits as the lowest ones of the other field.
            Formats::Low(of) => of.iter().copied().find(|fmt| fmt.field() & 7 == self.word & 7),
        }
    }
}
