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
    use rustix::mm::{
        Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap, mmap_anonymous, mprotect, munmap,
    };
    use std::ptr::null_mut;

    pub(in crate::memory) struct Window {
        plain: *mut u8,
        guarded: *mut u8,
        /// The area that the guarded pages lie in, with what is never accessible on both sides.
        reserved: *mut u8,
    }

    /// Bytes on each side of the guarded pages: an instruction's offset leads no farther.
    const MARGIN: usize = 1 << 16;

    impl Window {
        /// Bytes of a window.
        pub(in crate::memory) const BYTES: usize = PAGES << PAGE_BITS;

        /// A window of zeros, all of it closed; `None` where the system refuses.
        pub(in crate::memory) fn new() -> Option<Window> {
            let file = memfd_create("guest", MemfdFlags::CLOEXEC).ok()?;
            ftruncate(&file, Window::BYTES as u64).ok()?;
            let flags = MapFlags::SHARED | MapFlags::NORESERVE;
            let rights = ProtFlags::READ | ProtFlags::WRITE;
            // SAFETY: a new mapping at an address of the system's choice touches nothing that exists.
            let plain =
                unsafe { mmap(null_mut(), Window::BYTES, rights, flags, &file, 0) }.ok()?.cast::<u8>();
            let all = Window::BYTES + 2 * MARGIN;
            let private = MapFlags::PRIVATE | MapFlags::NORESERVE;
            // SAFETY: as above.
            let reserved = unsafe { mmap_anonymous(null_mut(), all, ProtFlags::empty(), private) };
            let guarded = reserved.ok().and_then(|reserved| {
                // SAFETY: it is inside of what was reserved.
                let place = unsafe { reserved.cast::<u8>().add(MARGIN) };
                let (rights, flags) = (ProtFlags::empty(), flags | MapFlags::FIXED);
                // SAFETY: the mapping replaces a part of the one that was just made, and that nobody uses.
                match unsafe { mmap(place.cast(), Window::BYTES, rights, flags, &file, 0) } {
                    Ok(guarded) => Some((reserved.cast(), guarded.cast())),
                    Err(_) => {
                        // SAFETY: the mapping was made above, and nobody has it.
                        let _ = unsafe { munmap(reserved, all) };
                        None
                    }
                }
            });
            let Some((reserved, guarded)) = guarded else {
                // SAFETY: the mapping was made above, and nobody has it.
                let _ = unsafe { munmap(plain.cast(), Window::BYTES) };
                return None;
            };
            Some(Window { plain, guarded, reserved })
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
            let areas = [(self.plain, Window::BYTES), (self.reserved, Window::BYTES + 2 * MARGIN)];
            for (place, bytes) in areas {
                // SAFETY: the mapping is this window's, and no machine code runs when its memory is dropped.
                let _ = unsafe { munmap(place.cast(), bytes) };
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
