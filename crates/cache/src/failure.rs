//! Translations that failed, which are remembered as others are.

use serde::{Deserialize, Serialize};
use std::panic::{AssertUnwindSafe, catch_unwind};
use thiserror::Error;

/// Why a program has no translation. It is tried again when something that had a part in the attempt has another version.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[error("{}{}{text}", cause.name(), if text.is_empty() { "" } else { ": " })]
pub struct Failure {
    /// What kind of failure.
    pub cause: Cause,
    /// What was said about it.
    pub text: String,
}

/// What kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Cause {
    /// The program is not sound, or has something that is not supported.
    Refused,
    /// The translator has a bug.
    Panicked,
    /// It took longer than it may.
    TimedOut,
    /// It took more memory than it may.
    OutOfMemory,
    /// The process that translated it came to an end.
    Crashed,
}

impl Cause {
    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Refused => "refused",
            Cause::Panicked => "panicked",
            Cause::TimedOut => "timed out",
            Cause::OutOfMemory => "out of memory",
            Cause::Crashed => "crashed",
        }
    }
}

impl Failure {
    /// A translator's error.
    pub fn refused(error: impl std::fmt::Display) -> Failure {
        Failure { cause: Cause::Refused, text: error.to_string() }
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        // A name and a text always serialise.
        crate::record::to_bytes(self).unwrap_or_default()
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Failure> {
        crate::record::from_bytes(bytes)
    }
}

/// Does `work`; a panic is its failure. What it was changing may be half changed.
pub(crate) fn attempt<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        Err(Failure { cause: Cause::Panicked, text: text.to_owned() })
    })
}
