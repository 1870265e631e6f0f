//! The state of a processor, in a layout that engines share.

use xenoglot_mips::Endian;

/// Index of HI in [`Cpu::regs`].
pub const HI: usize = 32;
/// Index of LO in [`Cpu::regs`].
pub const LO: usize = 33;
/// Index in [`Cpu::regs`] of what engines write in place of `zero`.
pub const SINK: usize = 34;

/// Registers by their roles in the o32 calling convention.
pub mod reg {
    /// First result; number of a system call.
    pub const V0: usize = 2;
    /// Second result.
    pub const V1: usize = 3;
    /// First argument.
    pub const A0: usize = 4;
    /// Second argument.
    pub const A1: usize = 5;
    /// Third argument.
    pub const A2: usize = 6;
    /// Fourth argument; whether a system call failed.
    pub const A3: usize = 7;
    /// Address of the function called.
    pub const T9: usize = 25;
    /// Stack pointer.
    pub const SP: usize = 29;
    /// Return address.
    pub const RA: usize = 31;
}

/// The word that a load-linked instruction marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Link {
    /// Address.
    pub address: u32,
    /// What was read.
    pub value: u32,
    /// Whether there is one.
    pub valid: bool,
}

/// A processor. Everything an engine keeps elsewhere while it runs is here when it returns.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Cpu {
    /// General registers, then [`HI`] and [`LO`]; the rest is for engines. `regs[0]` is always zero. The length is a
    /// power of two so that a masked number is always an index.
    pub regs: [u32; 64],
    /// Floating-point registers. A double is in an even register, its low word, and the odd one after it.
    pub fpr: [u32; 32],
    /// Address of the next instruction.
    pub pc: u32,
    /// Control and status of the floating-point unit.
    pub fcsr: u32,
    /// The thread pointer, which `rdhwr $29` reads.
    pub tls: u32,
    /// Mark of load-linked.
    pub link: Link,
    /// Instructions executed.
    pub retired: u64,
    /// Byte order.
    pub endian: Endian,
}

impl Cpu {
    /// A processor with all registers zero.
    pub fn new(endian: Endian) -> Cpu {
        Cpu { regs: [0; 64], fpr: [0; 32], pc: 0, fcsr: 0, tls: 0, link: Link::default(), retired: 0, endian }
    }

    /// A general register.
    pub fn get(&self, number: usize) -> u32 {
        self.regs[number & 31]
    }

    /// Sets a general register; writing `zero` does nothing.
    pub fn set(&mut self, number: usize, value: u32) {
        if number & 31 != 0 {
            self.regs[number & 31] = value;
        }
    }

    /// The double in the pair of an even register.
    pub fn double(&self, number: u8) -> u64 {
        let even = usize::from(number & 30);
        u64::from(self.fpr[even | 1]) << 32 | u64::from(self.fpr[even])
    }

    /// Sets the double in the pair of an even register.
    pub fn set_double(&mut self, number: u8, value: u64) {
        let even = usize::from(number & 30);
        self.fpr[even] = value as u32;
        self.fpr[even | 1] = (value >> 32) as u32;
    }
}
