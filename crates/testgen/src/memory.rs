//! How much memory work holds at its height, counted by an allocator that a test makes its own:
//!
//! ```
//! use xenoglot_testgen::memory::{Counting, peak};
//!
//! #[global_allocator]
//! static COUNTING: Counting = Counting;
//!
//! assert_eq!(peak(|| drop([vec![0u8; 100], vec![0; 50]])), 150);
//! ```

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Bytes this thread holds, and the most it has held.
    static HELD: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// The system's allocator, which counts what a thread holds; memory freed by another thread is its loss.
pub struct Counting;

fn count(change: impl FnOnce(usize) -> usize) {
    // Threads end with allocations of their own, when their counters may be gone.
    let _ = HELD.try_with(|held| {
        let now = change(held.get().0);
        held.set((now, held.get().1.max(now)));
    });
}

// SAFETY: memory is the system's; counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(|held| held.saturating_add(layout.size()));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(|held| held.saturating_sub(layout.size()));
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// The most bytes that `work` holds on this thread beyond what is held before, where [`Counting`] is the allocator.
pub fn peak(work: impl FnOnce()) -> usize {
    let before = HELD.with(|held| {
        let now = held.get().0;
        held.set((now, now));
        now
    });
    work();
    HELD.with(|held| held.get().1 - before)
}
