//! Memory without huge pages, for measurements of the longest time that something takes.

#[cfg(target_os = "linux")]
use std::sync::{Mutex, MutexGuard, PoisonError};

/// While one of these lives, the system gives the process no huge pages. The kernel clears a page for the thread that touches it
/// first, which takes 2 ms and more for a huge one. mimalloc, the program's allocator, asks for them.
pub struct SmallPages(());

/// How many live, and whether the first of them has switched huge pages off.
#[cfg(target_os = "linux")]
static LIVING: Mutex<(usize, bool)> = Mutex::new((0, false));

#[cfg(target_os = "linux")]
fn living() -> MutexGuard<'static, (usize, bool)> {
    LIVING.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SmallPages {
    /// Where huge pages cannot be switched off, measurements go on with them.
    pub fn begin() -> SmallPages {
        #[cfg(target_os = "linux")]
        {
            use rustix::thread::{disable_transparent_huge_pages, transparent_huge_pages_are_disabled};

            let mut living = living();
            if living.0 == 0 {
                let are_on = transparent_huge_pages_are_disabled() == Ok(false);
                living.1 = are_on && disable_transparent_huge_pages(true).is_ok();
            }
            living.0 += 1;
        }
        SmallPages(())
    }
}

impl Drop for SmallPages {
    fn drop(&mut self) {
        #[cfg(target_os = "linux")]
        {
            let mut living = living();
            living.0 -= 1;
            if *living == (0, true) {
                let _ = rustix::thread::disable_transparent_huge_pages(false);
            }
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// Other tests may hold some, too, so that what comes after the last one cannot be told.
    #[test]
    fn huge_pages_are_off_while_one_lives() {
        let are_off = || rustix::thread::transparent_huge_pages_are_disabled().unwrap();
        let first = SmallPages::begin();
        let second = SmallPages::begin();
        assert!(are_off());
        drop(first);
        assert!(are_off());
        drop(second);
    }
}
