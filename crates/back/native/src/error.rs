//! What can go wrong.

use std::sync::Arc;
use thiserror::Error;
use xenoglot_ir::Inst;

/// Why a module was not compiled.
#[derive(Debug, Error)]
pub enum CompileError {
    /// The host's architecture has no code generator, or keeps words in big-endian order.
    #[error("no native code for this host: {0}")]
    Host(String),
    /// The module needs something that this back end does not have, or more memory for values than
    /// [`MAX_FRAME`](crate::MAX_FRAME) and the area for values between blocks allow; another engine has to run it.
    #[error("{what}{}", at.map(|i| format!(" ({i})")).unwrap_or_default())]
    Unsupported {
        /// What.
        what: String,
        /// The instruction of the entry function, if it is one.
        at: Option<Inst>,
    },
    /// The code generator refused the function, for its size for example.
    #[error("code generation: {0}")]
    Codegen(String),
    /// There is no executable memory.
    #[error("executable memory: {0}")]
    Memory(#[from] std::io::Error),
}

impl CompileError {
    pub(crate) fn unsupported(what: impl Into<String>, at: Option<Inst>) -> CompileError {
        CompileError::Unsupported { what: what.into(), at }
    }
}

/// Why a run stopped. Stores of the groups before have happened; those of the group that stopped may have.
#[derive(Debug, Error)]
pub enum RunError {
    /// A group of invocations went round its loops more often than allowed.
    #[error("out of fuel in the group of invocation {invocation}")]
    OutOfFuel {
        /// The first invocation of the group.
        invocation: u32,
    },
    /// An invocation accessed memory outside a resource whose policy is to fault, divided by zero where that traps, or
    /// reached what the module calls unreachable.
    #[error("a fault in the group of invocation {invocation}: {cause}")]
    Fault {
        /// The first invocation of the group.
        invocation: u32,
        /// What it did.
        cause: Fault,
    },
    /// Nothing is bound where the module loads or stores, or only for reading where it stores.
    #[error("set {set} binding {binding}: {what}")]
    Binding {
        /// Descriptor set.
        set: u32,
        /// Binding in the set.
        binding: u32,
        /// What is wrong.
        what: &'static str,
    },
    /// More than `u32::MAX` invocations.
    #[error("the last invocation's number is more than 32 bits")]
    Range,
    /// The exact variant of the program, compiled on first use, was refused.
    #[error(transparent)]
    Compile(#[from] Arc<CompileError>),
}

/// What an invocation did wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[repr(u32)]
pub enum Fault {
    /// An access outside memory whose policy is to fault, or outside private memory.
    #[error("an access out of bounds")]
    OutOfBounds = 3,
    /// An integer division by zero with the `trap` flag.
    #[error("an integer division by zero")]
    DivisionByZero = 4,
    /// An `unreachable` terminator.
    #[error("an unreachable place was reached")]
    Unreachable = 5,
}
