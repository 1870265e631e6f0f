//! Threads that let others go first.

use std::cell::Cell;

thread_local! {
    /// Whether this thread lets others go first.
    static STEPPED_BACK: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread may be without a processor for long while others have one.
#[cfg(feature = "disk")]
pub(crate) fn has_stepped_back() -> bool {
    STEPPED_BACK.get()
}

/// Lets others go first: the thread that draws, above all.
pub(crate) fn step_back() {
    STEPPED_BACK.set(true);
    // Elsewhere than on Linux this would be the whole process.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(10);
}
