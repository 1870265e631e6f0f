//! Bindings of what a lifted kernel uses, all in descriptor set 0.

/// Storage buffer of global memory.
pub const GLOBAL_BINDING: u32 = 0;

/// Bytes of a constant bank as it is declared.
pub const BANK_SIZE: u32 = 0x1_0000;

/// Constant banks an instruction can name.
pub const BANKS: u8 = 32;

/// Uniform buffer of a constant bank.
pub const fn bank_binding(bank: u32) -> u32 {
    16 + bank
}
