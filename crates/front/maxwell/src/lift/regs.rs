//! Guest registers as slots, made when first touched.

use crate::flow::is_flow;
use crate::inst::{Inst, PT, RZ, Role, Value};
use crate::modifier::{CcTest, Mod};
use crate::opcode::Opcode;
use xenoglot_ir::{Function, Slot, Type};

/// A condition-code flag; its number is its bit where the codes are read as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Flag {
    Zero,
    Sign,
    Carry,
    Overflow,
    /// Set where the carry of a sum of three is 2. Only `IADD3.X` reads it; whatever else writes C clears it.
    SecondCarry,
}

impl Flag {
    /// The flags that are read and written as a whole.
    pub const ALL: [Flag; 4] = [Flag::Zero, Flag::Sign, Flag::Carry, Flag::Overflow];
}

/// A set of flags: bit n for the one with number n.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct FlagSet(u8);

impl FlagSet {
    const ALL: FlagSet = FlagSet(0xf);

    pub fn has(self, flag: Flag) -> bool {
        self.0 >> flag as u8 & 1 != 0
    }

    fn of(flags: &[Flag]) -> FlagSet {
        FlagSet(flags.iter().fold(0, |bits, &flag| bits | 1 << flag as u8))
    }

    /// Those of either.
    pub fn union(self, other: FlagSet) -> FlagSet {
        FlagSet(self.0 | other.0)
    }

    /// Those that are not of the other.
    pub fn without(self, other: FlagSet) -> FlagSet {
        FlagSet(self.0 & !other.0)
    }

    /// Whether all of them are of carries.
    pub fn is_carry(self) -> bool {
        self.without(FlagSet::of(&[Flag::Carry, Flag::SecondCarry])) == FlagSet::default()
    }

    /// Those that a test of the condition codes looks at.
    fn tested(test: CcTest) -> FlagSet {
        use Flag::{Carry, Overflow, Sign, Zero};
        match test.0 {
            0 | 15 => FlagSet::default(),
            2 | 7 | 8 | 13 => FlagSet::of(&[Zero, Sign]),
            5 | 10 => FlagSet::of(&[Zero]),
            16 | 23 => FlagSet::of(&[Overflow]),
            17 | 22 => FlagSet::of(&[Carry]),
            18 | 21 => FlagSet::of(&[Sign]),
            19 | 20 => FlagSet::of(&[Zero, Carry]),
            _ => FlagSet::ALL,
        }
    }

    /// Those that an instruction may read.
    pub fn read_by(inst: &Inst) -> FlagSet {
        use Opcode::*;
        let when = |reads: bool, flags: &[Flag]| if reads { FlagSet::of(flags) } else { FlagSet::default() };
        match inst.op {
            Cset | Csetp => FlagSet::tested(CcTest(inst.modifier(Mod::CcTest))),
            P2r | R2p => {
                when(inst.operand(Role::File).is_some_and(|o| o.value == Value::CcRegister), &Flag::ALL)
            }
            Imnmx => when(inst.has(Mod::MnmxMode), &[Flag::Zero, Flag::Sign]),
            Iset | Isetp => when(inst.has(Mod::X), &[Flag::Zero, Flag::Carry]),
            Lop | Lop32i | Lop3 => when(inst.has(Mod::X), &[Flag::Zero]),
            Iadd3 => when(inst.has(Mod::X), &[Flag::Carry, Flag::SecondCarry]),
            op if is_flow(op) => match inst.operand(Role::Cc).map(|o| o.value) {
                Some(Value::Cc(test)) => FlagSet::tested(test),
                Some(_) => FlagSet::ALL,
                None => FlagSet::default(),
            },
            _ => when(inst.has(Mod::X), &[Flag::Carry]),
        }
    }

    /// Those that an instruction writes whatever the flags are. Not all that do are known.
    pub fn written_by(inst: &Inst) -> FlagSet {
        use Opcode::*;
        match inst.op {
            Iadd | Iadd32i | Iadd3 | Xmad if inst.guard.is_always() && inst.has(Mod::Cc) => {
                FlagSet::ALL.union(FlagSet::of(&[Flag::SecondCarry]))
            }
            _ => FlagSet::default(),
        }
    }
}

/// Slots by register.
pub(super) struct Regs {
    /// Before the names of registers.
    prefix: &'static str,
    general: [Option<Slot>; RZ as usize],
    preds: [Option<Slot>; PT as usize],
    flags: [Option<Slot>; 5],
    barrier: Option<Slot>,
    stack: [Option<Slot>; 2],
}

impl Default for Regs {
    fn default() -> Regs {
        Regs {
            prefix: "",
            general: [None; RZ as usize],
            preds: [None; PT as usize],
            flags: [None; 5],
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
            Flag::SecondCarry => "cc_c2",
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
