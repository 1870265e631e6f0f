//! Why a module was not written.

use crate::options::Version;
use spirv::Capability;
use std::fmt;
use thiserror::Error;
use xenoglot_ir::{NO_GUEST, Op};
use xenoglot_structure::graph::GraphError;

/// The place an [`Error`](enum@Error) talks about: an op of the IR and the guest instruction it stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct At {
    /// The op; `None` where the module's interface is meant.
    pub op: Option<Op>,
    /// Guest address of the instruction, or [`NO_GUEST`].
    pub guest: u32,
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.op {
            Some(op) => write!(f, "`{}`", op.info().name)?,
            None => f.write_str("the interface")?,
        }
        if self.guest == NO_GUEST { Ok(()) } else { write!(f, " at guest address {:#x}", self.guest) }
    }
}

/// Why a module was not written.
#[derive(PartialEq, Eq, Debug, Error)]
pub enum Error {
    /// The module has no entry function, or the entry takes parameters or returns something.
    #[error("the module has no entry function without parameters and results")]
    NoEntry,
    /// The stage is not one this crate writes.
    #[error("{0} shaders are not supported")]
    Stage(&'static str),
    /// SPIR-V, the version asked for, or this crate cannot express it.
    #[error("{at}: {what}")]
    Unsupported {
        /// What part of it.
        what: &'static str,
        /// Where.
        at: At,
    },
    /// A later version than [`Options::version`](crate::Options::version) asks for is needed.
    #[error("{at}: {what} need SPIR-V {needed}")]
    Version {
        /// The first version that has it.
        needed: Version,
        /// What needs it.
        what: &'static str,
        /// Where.
        at: At,
    },
    /// A capability is needed that [`Options::capabilities`](crate::Options::capabilities) does not list, or
    /// [`Options::without`](crate::Options::without) does.
    #[error("the target lacks the capability {0:?}")]
    Capability(Capability),
    /// More ids than the universal limit of SPIR-V.
    #[error("{0} ids are more than SPIR-V allows")]
    TooLarge(u32),
    /// An instruction would be longer than its word count can express: a phi in a block with more than 32,766
    /// predecessors, or an entry point with tens of thousands of variables.
    #[error("an instruction of more than 65,535 words")]
    TooLong,
    /// The control-flow graph was refused.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The module breaks a rule of the IR's verifier.
    #[error("the module is not verified: {0}")]
    Invalid(&'static str),
}

/// What went wrong with one op, before its place is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reason {
    /// [`Error::Unsupported`].
    Unsupported(&'static str),
    /// [`Error::Version`].
    Version(Version, &'static str),
    /// [`Error::Invalid`].
    Invalid(&'static str),
}

impl Reason {
    pub(crate) fn at(self, op: Option<Op>, guest: u32) -> Error {
        match self {
            Reason::Unsupported(what) => Error::Unsupported { what, at: At { op, guest } },
            Reason::Version(needed, what) => Error::Version { needed, what, at: At { op, guest } },
            Reason::Invalid(what) => Error::Invalid(what),
        }
    }
}
