//! Guest registers as slots, made when first touched.

use crate::inst::{PT, RZ};
use xenoglot_ir::{Function, Slot, Type};

/// A condition-code flag; its number is its bit where the codes are read as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Flag {
    Zero,
    Sign,
    Carry,
    Overflow,
}

impl Flag {
    pub const ALL: [Flag; 4] = [Flag::Zero, Flag::Sign, Flag::Carry, Flag::Overflow];
}

/// Slots by register.
pub(super) struct Regs {
    /// Before the names of registers.
    prefix: &'static str,
    general: [Option<Slot>; RZ as usize],
    preds: [Option<Slot>; PT as usize],
    flags: [Option<Slot>; 4],
    barrier: Option<Slot>,
    stack: [Option<Slot>; 2],
}

impl Default for Regs {
    fn default() -> Regs {
        Regs {
            prefix: "",
            general: [None; RZ as usize],
            preds: [None; PT as usize],
            flags: [None; 4],
            barrier: None,
            stack: [None; 2],
        }
    }
}

impl Regs {
    /// Registers with a prefix to their names: two programs in one function have registers of their own.
    pub fn named(prefix: &'static str) -> Regs {
        Regs { prefix, ..Regs::default() }
    }

    /// R0 to R254; none for RZ.
    pub fn general(&mut self, f: &mut Function, n: u8) -> Option<Slot> {
        let slot = self.general.get_mut(usize::from(n))?;
        Some(*slot.get_or_insert_with(|| f.add_slot(format!("{}r{n}", self.prefix), Type::I32)))
    }

    /// P0 to P6; none for PT.
    pub fn pred(&mut self, f: &mut Function, n: u8) -> Option<Slot> {
        let slot = self.preds.get_mut(usize::from(n))?;
        Some(*slot.get_or_insert_with(|| f.add_slot(format!("{}p{n}", self.prefix), Type::BOOL)))
    }

    pub fn flag(&mut self, f: &mut Function, flag: Flag) -> Slot {
        let name = match flag {
            Flag::Zero => "cc_z",
            Flag::Sign => "cc_s",
            Flag::Carry => "cc_c",
            Flag::Overflow => "cc_o",
        };
        *self.flags[flag as usize]
            .get_or_insert_with(|| f.add_slot(format!("{}{name}", self.prefix), Type::BOOL))
    }

    /// A stack that is data: the place above its top, and how many entries it has.
    pub fn stack(&mut self, f: &mut Function) -> [Slot; 2] {
        let [top, depth] = &mut self.stack;
        [
            *top.get_or_insert_with(|| f.add_slot(format!("{}stack_top", self.prefix), Type::I32)),
            *depth.get_or_insert_with(|| f.add_slot(format!("{}stack_depth", self.prefix), Type::I32)),
        ]
    }

    /// The result of the last barrier that reduces.
    pub fn barrier(&mut self, f: &mut Function) -> Slot {
        *self.barrier.get_or_insert_with(|| f.add_slot(format!("{}barrier_result", self.prefix), Type::I32))
    }
}
