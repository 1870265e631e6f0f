//! What instructions do to control, before any scope ends, and the bounded stacks that scopes are kept on.
//!
//! Scopes of the PICA200 end by address after each instruction, not by structure (vectors/pica/FORMAT.md, section 4).

use crate::inst::{Condition, Inst, Opcode, Operands};

/// Depth of the IF stack.
pub const IF_DEPTH: usize = 8;
/// Depth of the CALL stack.
pub const CALL_DEPTH: usize = 4;
/// Depth of the LOOP stack.
pub const LOOP_DEPTH: usize = 4;
/// The program counter from which on control ends.
pub const END_PC: u32 = 4095;

/// What a conditional instruction tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Test {
    /// The condition flags.
    Flags(Condition),
    /// A bool uniform against a wanted value.
    Bool(u8, bool),
}

/// What a flow instruction does when its test succeeds or fails, before any scope ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// To the next word.
    Next,
    /// To an address.
    To(u32),
    /// Pushes an IF entry and goes on.
    PushIf {
        /// Where the entry fires: the else branch.
        otherwise: u32,
        /// Where control goes then.
        end: u32,
    },
    /// Pushes a CALL entry and goes to the callee.
    PushCall {
        /// The callee.
        to: u32,
        /// Where the call returns.
        end: u32,
    },
    /// Pushes a LOOP entry and goes on.
    PushLoop {
        /// The word after the body.
        end: u32,
        /// Its int uniform.
        uniform: u8,
    },
    /// Leaves the innermost loop.
    Break,
    /// Ends the program.
    End,
}

/// The control part of an instruction: the test, and the steps if it holds and if not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Control {
    /// One way on.
    Always(Step),
    /// Two ways on.
    If(Test, Step, Step),
}

/// What `inst` does to control.
pub fn control(inst: &Inst) -> Control {
    let call = |target: u16, count: u8| Step::PushCall {
        to: target.into(),
        end: u32::from(target) + u32::from(count),
    };
    let branch = |target: u16, count: u8| Step::PushIf {
        otherwise: target.into(),
        end: u32::from(target) + u32::from(count),
    };
    match (inst.op, inst.operands) {
        (Opcode::End, _) => Control::Always(Step::End),
        (Opcode::Break, _) => Control::Always(Step::Break),
        (Opcode::Breakc, Operands::Condition { cond }) => {
            Control::If(Test::Flags(cond), Step::Break, Step::Next)
        }
        (_, Operands::Range { target, count }) => Control::Always(call(target, count)),
        (Opcode::Callc, Operands::ConditionRange { cond, target, count }) => {
            Control::If(Test::Flags(cond), call(target, count), Step::Next)
        }
        (_, Operands::ConditionRange { cond, target, count }) => {
            Control::If(Test::Flags(cond), branch(target, count), Step::To(target.into()))
        }
        (Opcode::Callu, Operands::BoolRange { uniform, target, count }) => {
            Control::If(Test::Bool(uniform, true), call(target, count), Step::Next)
        }
        (_, Operands::BoolRange { uniform, target, count }) => {
            Control::If(Test::Bool(uniform, true), branch(target, count), Step::To(target.into()))
        }
        (_, Operands::ConditionTarget { cond, target }) => {
            Control::If(Test::Flags(cond), Step::To(target.into()), Step::Next)
        }
        (_, Operands::BoolTarget { uniform, value, target }) => {
            Control::If(Test::Bool(uniform, value), Step::To(target.into()), Step::Next)
        }
        (_, Operands::Loop { uniform, target }) => {
            Control::Always(Step::PushLoop { end: u32::from(target) + 1, uniform })
        }
        _ => Control::Always(Step::Next),
    }
}

/// A bounded stack whose oldest entry is dropped when it is full.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Stack<T, const N: usize> {
    items: [T; N],
    len: u8,
}

impl<T: Copy + Default, const N: usize> Default for Stack<T, N> {
    fn default() -> Self {
        Stack { items: [T::default(); N], len: 0 }
    }
}

impl<T: Copy + Default, const N: usize> Stack<T, N> {
    /// The newest entry.
    pub fn top(&self) -> Option<T> {
        self.items[..usize::from(self.len)].last().copied()
    }

    /// How many entries there are.
    pub fn len(&self) -> u8 {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Takes the newest entry off.
    pub fn pop(&mut self) {
        if let Some(n) = self.len.checked_sub(1) {
            self.len = n;
            self.items[usize::from(n)] = T::default(); // so that equal stacks compare equal
        }
    }

    /// Adds an entry. Whether the oldest one was dropped for it.
    pub fn push(&mut self, item: T) -> bool {
        let full = usize::from(self.len) == N;
        if full {
            self.items.rotate_left(1);
            self.items[N - 1] = item;
        } else {
            self.items[usize::from(self.len)] = item;
            self.len += 1;
        }
        full
    }

    /// The newest entry, to change it.
    pub fn top_mut(&mut self) -> Option<&mut T> {
        self.items[..usize::from(self.len)].last_mut()
    }
}
