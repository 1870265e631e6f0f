//! A decoded instruction, and its word.

use crate::isa::{Op, Operand};
use crate::number::LANES;
use thiserror::Error;

/// An instruction. Fields that its operation has no operand for are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Inst {
    /// The operation.
    pub op: Op,
    /// Destination register, 0–15.
    pub d: u8,
    /// Bit n: lane n of the destination is written.
    pub mask: u8,
    /// The result is clamped to 0–1 before it is written.
    pub saturate: bool,
    /// First source: 0–15 registers, 16–31 globals.
    pub a: u8,
    /// Second source.
    pub b: u8,
    /// Third source.
    pub c: u8,
    /// Swizzle, constant, index, tile buffer, texture or target: what the operation has of these, in as many bits as
    /// the word has for it.
    pub extra: u16,
}

/// A word that is no instruction.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("{word:#010x} is no instruction")]
pub struct Undefined {
    /// The word.
    pub word: u32,
}

impl Inst {
    /// An instruction with all fields zero but the mask, which is full where there is a destination.
    pub fn new(op: Op) -> Inst {
        let mask = if op.info().has_dst() { 0xf } else { 0 };
        Inst { op, d: 0, mask, saturate: false, a: 0, b: 0, c: 0, extra: 0 }
    }

    /// Reads a word.
    ///
    /// # Errors
    /// An unknown opcode, or bits set that the operation does not use.
    pub fn decode(word: u32) -> Result<Inst, Undefined> {
        let undefined = Undefined { word };
        let op = Op::from_opcode(word >> 26).ok_or(undefined)?;
        let info = op.info();
        if word & !info.bits() != 0 {
            return Err(undefined);
        }
        let field = |shift: u32, width: u32| word >> shift & ((1 << width) - 1);
        let mut inst = Inst { mask: 0, ..Inst::new(op) };
        for operand in info.operands {
            match operand {
                Operand::Dst => {
                    inst.d = field(21, 4) as u8;
                    inst.mask = field(2, 4) as u8;
                    inst.saturate = field(1, 1) != 0;
                }
                Operand::A | Operand::Swizzled => inst.a = field(16, 5) as u8,
                Operand::B => inst.b = field(11, 5) as u8,
                Operand::C => inst.c = field(6, 5) as u8,
                _ => {}
            }
            if let Some((shift, width)) = operand.extra() {
                inst.extra = field(shift, width) as u16;
            }
        }
        Ok(inst)
    }

    /// The word; bits of fields that are too large are lost.
    pub fn encode(&self) -> u32 {
        let info = self.op.info();
        let mut word = (self.op as u32) << 26;
        for operand in info.operands {
            word |= match operand {
                Operand::Dst => {
                    u32::from(self.d) << 21 | u32::from(self.mask & 15) << 2 | u32::from(self.saturate) << 1
                }
                Operand::A | Operand::Swizzled => u32::from(self.a) << 16,
                Operand::B => u32::from(self.b) << 11,
                Operand::C => u32::from(self.c) << 6,
                _ => 0,
            };
            if let Some((shift, width)) = operand.extra() {
                word |= (u32::from(self.extra) & ((1 << width) - 1)) << shift;
            }
        }
        word & info.bits()
    }

    /// The lanes a swizzle takes.
    pub fn swizzle(&self) -> [u8; LANES] {
        std::array::from_fn(|lane| (self.extra >> (2 * lane) & 3) as u8)
    }

    /// A constant's value in 256ths.
    pub fn value(&self) -> i32 {
        i32::from((self.extra << 1) as i16 >> 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(xenoglot_testgen::property::config(4096))]
        #[test]
        fn what_is_decoded_encodes_to_the_same_word(word in any::<u32>(), opcode in 0u32..30) {
            // Of any bits few are an instruction.
            let info = Op::from_opcode(opcode).unwrap().info();
            for word in [word, word & info.bits() & 0x3ff_ffff | opcode << 26] {
                if let Ok(inst) = Inst::decode(word) {
                    prop_assert_eq!(inst.encode(), word);
                }
            }
            prop_assert!(Inst::decode(word & info.bits() & 0x3ff_ffff | opcode << 26).is_ok());
        }
    }

    #[test]
    fn constants_have_a_sign() {
        let inst = Inst { extra: 0x7fff, ..Inst::new(Op::Imm) };
        assert_eq!(inst.value(), -1);
        assert_eq!(Inst::decode(inst.encode()), Ok(inst));
    }
}
