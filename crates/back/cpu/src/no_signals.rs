//! Hosts whose signals are not handled: code reaches memory through tables there.

use crate::aot::Library;
use crate::state::State;

/// What is to be done when an access fails.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    pub(crate) access: u32,
    pub(crate) pc: u32,
    pub(crate) count: i32,
}

/// An instruction of machine code that may raise a signal.
pub(crate) struct Site {
    pub(crate) offset: u32,
    pub(crate) pending: Pending,
}

/// What a handler would have to know of the code that runs.
pub(crate) struct Run<'a> {
    pub(crate) state: *mut State,
    pub(crate) code: u64,
    pub(crate) sites: &'a [Site],
    pub(crate) library: Option<&'a Library>,
}

/// Says that there are no handlers.
pub(crate) fn install() -> bool {
    false
}

/// Runs what executes guest code.
pub(crate) fn with<T>(_: &Run<'_>, work: impl FnOnce() -> T) -> T {
    work()
}
