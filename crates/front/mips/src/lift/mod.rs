//! MIPS code to IR: a function of stage `cpu` for the code that is reached from an address.
//!
//! [`lift`] follows branches, not calls, from an address on (`flow`), and makes one function of it. The function can be
//! entered at several addresses ([`Region::entries`]): where it begins, and behind each call and each instruction that the
//! function leaves to somebody else. Calls, returns and jumps out of the region are `tail_call_guest`: whoever runs the
//! function goes on at that address, so a guest's recursion costs the host no stack.
//!
//! Registers are slots with homes in `guest_regs` ([`layout`]). The address of an IR instruction is where the guest has to go on
//! after a fault: for one in a delay slot it is that of the branch.
//!
//! What is not lifted is left to an interpreter by `trap`, before the instruction has done anything. The code says why; an
//! interpreter that executes the instruction at the address finds out all else.

mod block;
mod float;
mod flow;
mod integer;
pub mod layout;
mod memory;
mod registers;
mod table;

use crate::inst::Endian;
use block::Lifter;
use flow::Flow;
use xenoglot_ir::{Module, Stage};

/// Why a region leaves an instruction to an interpreter: the first operand of `trap`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Reason {
    /// It is not lifted.
    Interpret = 0,
    /// `syscall`.
    Syscall = 1,
    /// `break`.
    Break = 2,
    /// An addition or subtraction overflows.
    Overflow = 3,
    /// The condition of a trap holds.
    Trap = 4,
    /// A word that is no instruction.
    Reserved = 5,
    /// A float operation that is not the usual case: a NaN, or a number that is out of range.
    Float = 6,
}

/// How to lift.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Byte order of memory.
    pub endian: Endian,
    /// About how many instructions a region has at most; what is beyond is left by `tail_call_guest`.
    pub max_insts: u32,
    /// What `gp` holds, as far as one can tell: position-independent code finds its jump tables by it.
    pub gp: Option<u32>,
}

/// What code is read from.
pub trait Code {
    /// The word at an address that is a multiple of four; `None` where there is none that may be executed.
    fn instruction(&self, pc: u32) -> Option<u32>;

    /// The word at an address of data; `None` where there is none that may be read.
    fn data(&self, address: u32) -> Option<u32>;

    /// Whether there is a region already that can be entered at an address: then the new one leaves to it, and has no second
    /// version of its code.
    fn has_region(&self, _pc: u32) -> bool {
        false
    }

    /// Whether the region that reaches an address is to be one that can be entered there.
    fn is_entry(&self, _pc: u32) -> bool {
        false
    }

    /// Whether regions can be entered where their loops begin, too, at which they are left when the fuel is used up. Who makes new
    /// regions when they are needed can do without.
    fn enters_loops(&self) -> bool {
        false
    }
}

/// A lifted region.
#[derive(Clone, Debug)]
pub struct Region {
    /// A module whose entry is the function. Its parameter is the address at which it is entered, one of the entries.
    pub module: Module,
    /// The addresses at which the function can be entered, the one asked for first.
    pub entries: Vec<u32>,
    /// The addresses of all words that were looked at and lifted, in order.
    pub words: Vec<u32>,
    /// Whether the first instruction is lifted: else entering the region only leads out again.
    pub runs: bool,
}

/// Lifts the code that is reached from `pc`.
pub fn lift(code: &impl Code, pc: u32, options: &Options) -> Region {
    let flow = Flow::find(code, pc, options);
    let mut module = Module::new(Stage::Cpu, format!("{pc:#010x}"));
    let func = Lifter::lift(&flow, pc, options.endian);
    module.entry = module.funcs.push(func).into();
    let runs = flow.insts.get(&pc).is_some_and(|found| !matches!(found.control, flow::Control::Leave(_)));
    Region { module, entries: flow.entries, words: flow.words.into_iter().collect(), runs }
}

#[cfg(test)]
mod tests;
