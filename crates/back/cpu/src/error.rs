//! Why a function is not compiled.

use thiserror::Error;

/// Why a function is not compiled.
#[derive(Debug, Error)]
pub enum CompileError {
    /// The function has something that this back end does not take.
    #[error("not supported: {what}")]
    Unsupported {
        /// What.
        what: String,
    },
    /// The code generator refuses the host or the function.
    #[error("the code generator: {0}")]
    Codegen(String),
    /// The system gives no memory for code.
    #[error("no memory for code: {0}")]
    Memory(#[from] std::io::Error),
    /// The memory for code is full.
    #[error("the memory for code is full")]
    Full,
}

impl CompileError {
    pub(crate) fn unsupported(what: impl Into<String>) -> CompileError {
        CompileError::Unsupported { what: what.into() }
    }
}
