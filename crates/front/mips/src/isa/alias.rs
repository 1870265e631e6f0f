//! Other names that the disassembler prints for some words of an operation, as binutils does.

use super::{Op, Operand};

/// A name for the words of an operation whose bits under `mask` are `bits`.
#[derive(Debug)]
pub struct Alias {
    /// The operation.
    pub op: Op,
    /// The name.
    pub name: &'static str,
    /// Bits under the mask.
    pub bits: u32,
    /// Bits that tell the alias.
    pub mask: u32,
    /// Operands in the order of the text.
    pub operands: &'static [Operand],
}

macro_rules! aliases {
    ($($op:ident $name:literal $bits:literal $mask:literal [$($operand:ident)*];)+) => {
        /// The aliases; the first that fits is taken.
        pub static ALIASES: &[Alias] = &[
            $(Alias {
                op: Op::$op,
                name: $name,
                bits: $bits,
                mask: $mask,
                operands: &[$(Operand::$operand),*],
            },)+
        ];
    };
}

aliases! {
    Sll "nop" 0x0000_0000 0xffff_ffff [];
    Sll "ssnop" 0x0000_0040 0xffff_ffff [];
    Sll "ehb" 0x0000_00c0 0xffff_ffff [];
    Sll "pause" 0x0000_0140 0xffff_ffff [];
    Sync "sync_wmb" 0x0000_0100 0x0000_07c0 [];
    Sync "sync_mb" 0x0000_0400 0x0000_07c0 [];
    Sync "sync_acquire" 0x0000_0440 0x0000_07c0 [];
    Sync "sync_release" 0x0000_0480 0x0000_07c0 [];
    Sync "sync_rmb" 0x0000_04c0 0x0000_07c0 [];
    Addu "move" 0x0000_0000 0x001f_0000 [Rd Rs];
    Or "move" 0x0000_0000 0x001f_0000 [Rd Rs];
    Sub "neg" 0x0000_0000 0x03e0_0000 [Rd Rt];
    Subu "negu" 0x0000_0000 0x03e0_0000 [Rd Rt];
    Jalr "jalr" 0x0000_f800 0x0000_f800 [Rs];
    JalrHb "jalr.hb" 0x0000_f800 0x0000_f800 [Rs];
    Addiu "li" 0x0000_0000 0x03e0_0000 [Rt Imm];
    Ori "li" 0x0000_0000 0x03e0_0000 [Rt Uimm];
    Beq "b" 0x0000_0000 0x03ff_0000 [Branch];
    Beq "beqz" 0x0000_0000 0x001f_0000 [Rs Branch];
    Beql "beqzl" 0x0000_0000 0x001f_0000 [Rs Branch];
    Bne "bnez" 0x0000_0000 0x001f_0000 [Rs Branch];
    Bnel "bnezl" 0x0000_0000 0x001f_0000 [Rs Branch];
    Bgez "b" 0x0000_0000 0x03e0_0000 [Branch];
    Bgezal "bal" 0x0000_0000 0x03e0_0000 [Branch];
}
