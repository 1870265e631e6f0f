//! Why a module is not written.

use std::fmt;
use thiserror::Error;
use xenoglot_ir::{NO_GUEST, Op, Stage, TermKind};
use xenoglot_structure::GraphError;

/// A guest address for messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Guest(pub Option<u32>);

impl Guest {
    pub(crate) fn new(address: u32) -> Guest {
        Guest((address != NO_GUEST).then_some(address))
    }
}

impl fmt::Display for Guest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(address) => write!(f, " at guest address {address:#06x}"),
            None => Ok(()),
        }
    }
}

/// Why a module is not written.
#[derive(PartialEq, Eq, Debug, Error)]
pub enum Error {
    /// The target cannot express an op, or the op with these types, flags or immediate.
    #[error("{}{guest}: {reason}", op.info().name)]
    Unsupported {
        /// The op.
        op: Op,
        /// Where it came from.
        guest: Guest,
        /// What about it.
        reason: &'static str,
    },
    /// The target cannot express a terminator.
    #[error("terminator {kind:?}{guest} has no GLSL form in this stage")]
    UnsupportedTerminator {
        /// The terminator.
        kind: TermKind,
        /// Where it came from.
        guest: Guest,
    },
    /// The target does not have the stage.
    #[error("stage {} has no GLSL form here", .0.name())]
    UnsupportedStage(Stage),
    /// The target cannot express an interface variable, a resource or a memory.
    #[error("{name}: {reason}")]
    UnsupportedDeclaration {
        /// Its name.
        name: String,
        /// What about it.
        reason: &'static str,
    },
    /// The module breaks a rule that the verifier checks.
    #[error("malformed module: {0}")]
    Malformed(&'static str),
    /// Control flow is too large.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The output would be larger than the options allow.
    #[error("the output is larger than {0} bytes")]
    TooLarge(usize),
}
