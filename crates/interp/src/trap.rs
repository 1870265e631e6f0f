//! Why and where a run stopped before its end.

use std::fmt;
use thiserror::Error;
use xenoglot_ir::imm::Space;
use xenoglot_ir::{Block, Func, Inst, NO_GUEST, Op, Resource, Var};

/// A place in a module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct At {
    /// The function.
    pub func: Func,
    /// The block.
    pub block: Block,
    /// The instruction; `None` for the block's terminator.
    pub inst: Option<Inst>,
    /// Address in the guest's code, or [`NO_GUEST`].
    pub guest: u32,
}

impl At {
    /// Where a run is that has not started.
    pub(crate) fn nowhere() -> At {
        At { func: Func::from_u32(0), block: Block::from_u32(0), inst: None, guest: NO_GUEST }
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ", self.func, self.block)?;
        match self.inst {
            Some(inst) => write!(f, "{inst}")?,
            None => f.write_str("terminator")?,
        }
        if self.guest == NO_GUEST { Ok(()) } else { write!(f, " (guest address {:#x})", self.guest) }
    }
}

/// Why a run stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Cause {
    /// The op, or this use of it, is not one the interpreter runs.
    #[error("`{}` is not supported", op.info().name)]
    Unsupported {
        /// The op.
        op: Op,
    },
    /// The module has no entry function.
    #[error("the module has no entry function")]
    NoEntry,
    /// The module has no such function.
    #[error("there is no function {func}")]
    NoFunction {
        /// The function.
        func: Func,
    },
    /// [`Limits::fuel`](crate::Limits::fuel) is used up.
    #[error("out of fuel")]
    Fuel,
    /// A call deeper than [`Limits::call_depth`](crate::Limits::call_depth).
    #[error("more than {limit} calls deep")]
    CallDepth {
        /// The limit.
        limit: u32,
    },
    /// More registers and memory than [`Limits::memory`](crate::Limits::memory).
    #[error("more than {limit} bytes of registers and memory")]
    Memory {
        /// The limit.
        limit: u64,
    },
    /// More events than [`Limits::events`](crate::Limits::events).
    #[error("more than {limit} emitted vertices and primitives")]
    Events {
        /// The limit.
        limit: usize,
    },
    /// An `unreachable` was reached.
    #[error("reached `unreachable`")]
    Unreachable,
    /// A subgroup op for guests of another width than the interpreter runs with.
    #[error("a subgroup op of {guest} lanes among subgroups of {host}")]
    SubgroupWidth {
        /// Lanes of the guest's subgroup.
        guest: u8,
        /// Lanes of the interpreter's.
        host: u8,
    },
    /// A barrier that some invocations of the workgroup can no longer reach.
    #[error("{ended} invocations of the workgroup ended without reaching the barrier")]
    BarrierMissing {
        /// How many have ended.
        ended: u32,
    },
    /// Invocations of a workgroup wait at different barriers, or in different iterations or calls at the same one.
    #[error("invocations wait at another barrier, or elsewhere in the run, in {block}")]
    BarrierDivergence {
        /// The block of another waiting invocation.
        block: Block,
        /// Its barrier.
        inst: Option<Inst>,
    },
    /// An integer division by zero with the `trap` flag.
    #[error("integer division by zero")]
    DivisionByZero,
    /// An access outside memory whose policy is to fault, or outside shared or private memory.
    #[error("access at {offset:#x} outside the {size} bytes of {} memory", space.name())]
    OutOfBounds {
        /// The space.
        space: Space,
        /// Byte offset of the access.
        offset: u64,
        /// Size of the memory in bytes.
        size: u64,
    },
    /// An access whose address breaks the alignment the instruction states.
    #[error("access at {offset:#x} is not aligned to {} bytes", 1u64 << align_log2)]
    Misaligned {
        /// Byte offset of the access.
        offset: u64,
        /// Stated alignment as a power of two.
        align_log2: u8,
    },
    /// The guest's memory refuses the access; what the guest's registers were is in `guest_regs`.
    #[error("the guest's memory refuses the access at {address:#x}")]
    Guest {
        /// Address of the access.
        address: u64,
    },
    /// The function is of a CPU guest, and runs without one.
    #[error("the function is of a CPU guest, and runs without one")]
    NoGuest,
    /// A structured tree that is not one of the function that runs.
    #[cfg(feature = "tree")]
    #[error("the tree is wrong: {0}")]
    Tree(&'static str),
    /// No buffer is bound to the resource.
    #[error("no buffer is bound to {resource}")]
    UnboundResource {
        /// The resource.
        resource: Resource,
    },
    /// The input has no value.
    #[error("the input {var} has no value")]
    UnboundInput {
        /// The variable.
        var: Var,
    },
    /// An element that an interface variable does not have.
    #[error("{var} has no element {index}")]
    Element {
        /// The variable.
        var: Var,
        /// The element.
        index: u32,
    },
}

/// A run that did not come to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("{cause} at {at}")]
pub struct Trap {
    /// Why.
    #[source]
    pub cause: Cause,
    /// Where.
    pub at: At,
}
