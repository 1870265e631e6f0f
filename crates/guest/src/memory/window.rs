//! A guest's address space as a reserved area of the host's, of which the host's own page protection is the table of rights.
//!
//! The same 4 GiB are mapped twice: plainly, for the memory's own accesses, and guarded, for machine code. The guarded pages
//! are closed at first; an access of code that fails asks for its page to be opened, and whatever takes a right from a page
//! closes it. So it never matters here what a page may be used for, but for pages that are open.

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub(super) use none::Window;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(super) use real::Window;

use std::ops::Range;

/// What machine code may do with an open page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Open {
    Read,
    Write,
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod real {
    use super::{Open, Range};
    use crate::memory::{PAGE_BITS, PAGES};
    use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
    use rustix::mm::{Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap, mprotect, munmap};
    use std::ptr::null_mut;

    pub(in crate::memory) struct Window {
        plain: *mut u8,
        guarded: *mut u8,
    }

    impl Window {
        /// Bytes of a window.
        pub(in crate::memory) const BYTES: usize = PAGES << PAGE_BITS;

        /// A window of zeros, all of it closed; `None` where the system refuses.
        pub(in crate::memory) fn new() -> Option<Window> {
            let file = memfd_create("guest", MemfdFlags::CLOEXEC).ok()?;
            ftruncate(&file, Window::BYTES as u64).ok()?;
            let flags = MapFlags::SHARED | MapFlags::NORESERVE;
            let map = |rights| {
                // SAFETY: a new mapping at an address of the system's choice touches nothing that exists.
                let place = unsafe { mmap(null_mut(), Window::BYTES, rights, flags, &file, 0) };
                place.map(|place| place.cast::<u8>()).ok()
            };
            let plain = map(ProtFlags::READ | ProtFlags::WRITE)?;
            let Some(guarded) = map(ProtFlags::empty()) else {
                // SAFETY: the mapping was made above, and nobody has it.
                let _ = unsafe { munmap(plain.cast(), Window::BYTES) };
                return None;
            };
            Some(Window { plain, guarded })
        }

        /// Where the memory's own accesses find the guest's address 0.
        pub(in crate::memory) fn plain(&self) -> *mut u8 {
            self.plain
        }

        /// Where machine code finds it.
        pub(in crate::memory) fn guarded(&self) -> *mut u8 {
            self.guarded
        }

        fn protect(&self, pages: Range<usize>, rights: MprotectFlags) -> bool {
            let start = pages.start.min(PAGES);
            let bytes = (pages.end.min(PAGES) - start) << PAGE_BITS;
            // SAFETY: the pages lie in the mapping, which only machine code uses, by addresses of its own.
            unsafe { mprotect(self.guarded.add(start << PAGE_BITS).cast(), bytes, rights) }.is_ok()
        }

        /// Lets machine code use pages; whether it now can.
        pub(in crate::memory) fn open(&self, pages: Range<usize>, what: Open) -> bool {
            let rights = match what {
                Open::Read => MprotectFlags::READ,
                Open::Write => MprotectFlags::READ | MprotectFlags::WRITE,
            };
            self.protect(pages, rights)
        }

        /// Takes pages away from machine code. Answers `false` when all pages are closed, as the system could not close
        /// some.
        pub(in crate::memory) fn close(&self, pages: Range<usize>) -> bool {
            if self.protect(pages, MprotectFlags::empty()) {
                return true;
            }
            // The system has a bound for areas of different rights. All of it is one.
            if !self.protect(0..PAGES, MprotectFlags::empty()) {
                // A guest that keeps rights it lost must not go on.
                std::process::abort();
            }
            false
        }

        /// Makes zeros of pages, and gives their memory back to the system.
        pub(in crate::memory) fn clear(&self, pages: Range<usize>) {
            let start = pages.start.min(PAGES);
            let bytes = (pages.end.min(PAGES) - start) << PAGE_BITS;
            // SAFETY: the pages lie in the mapping, and whoever has the window asked for zeros.
            let place = unsafe { self.plain.add(start << PAGE_BITS) };
            // SAFETY: as above.
            if unsafe { madvise(place.cast(), bytes, Advice::LinuxRemove) }.is_err() {
                // SAFETY: as above; the plain mapping may be written.
                unsafe { std::ptr::write_bytes(place, 0, bytes) };
            }
        }
    }

    impl Drop for Window {
        fn drop(&mut self) {
            for place in [self.plain, self.guarded] {
                // SAFETY: the mapping is this window's, and no machine code runs when its memory is dropped.
                let _ = unsafe { munmap(place.cast(), Window::BYTES) };
            }
        }
    }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod none {
    use super::{Open, Range};

    /// There is none.
    pub(in crate::memory) enum Window {}

    impl Window {
        pub(in crate::memory) const BYTES: usize = 0;

        pub(in crate::memory) fn new() -> Option<Window> {
            None
        }

        pub(in crate::memory) fn plain(&self) -> *mut u8 {
            match *self {}
        }

        pub(in crate::memory) fn guarded(&self) -> *mut u8 {
            match *self {}
        }

        pub(in crate::memory) fn open(&self, _: Range<usize>, _: Open) -> bool {
            match *self {}
        }

        pub(in crate::memory) fn close(&self, _: Range<usize>) -> bool {
            match *self {}
        }

        pub(in crate::memory) fn clear(&self, _: Range<usize>) {
            match *self {}
        }
    }
}
