//! Where code to lift comes from.

use xenoglot_guest::memory::Memory;
use xenoglot_mips::{Endian, lift};

/// The guest's memory as code to lift.
pub(crate) struct Words<'a> {
    pub(crate) memory: &'a Memory,
    pub(crate) endian: Endian,
    /// Whether there is a region at an address already.
    pub(crate) has_region: &'a dyn Fn(u32) -> bool,
}

impl lift::Code for Words<'_> {
    fn instruction(&self, pc: u32) -> Option<u32> {
        self.memory.fetch(pc).ok().map(|bytes| self.endian.word(bytes))
    }

    fn data(&self, address: u32) -> Option<u32> {
        self.memory.read(address).ok().map(|bytes| self.endian.word(bytes))
    }

    fn has_region(&self, pc: u32) -> bool {
        (self.has_region)(pc)
    }
}
