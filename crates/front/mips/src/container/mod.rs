//! Files that hold MIPS programs.

pub mod elf;

pub use elf::{Elf, Error, Limits};
