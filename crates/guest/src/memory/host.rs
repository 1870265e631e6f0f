//! Where pages are in the host's memory, for engines that access it by themselves.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{Memory, OFFSET, PAGE_BITS, PAGES, READ, WRITE};

/// Bits of the greatest access as a power of two: eight bytes.
const MAX_ALIGN_LOG2: u32 = 3;
/// Entries of a table: those of pages, and the others that misaligned addresses lead to.
const ENTRIES: usize = PAGES << MAX_ALIGN_LOG2;

/// Tables of pages in the host's memory.
///
/// An access of `1 << n` bytes at a guest address looks at the entry `rotate_right(address, n) >> (12 - n)`: a bit of the
/// address that must be zero makes it one behind the pages, where all are zero. An entry that is not zero is what the
/// address is to be increased by for the address in the host; one that is zero says to ask the memory.
pub(super) struct Pages {
    read: Vec<u64>,
    write: Vec<u64>,
    /// Where the frames are.
    frames: u64,
}

/// Which memory this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity(u64);

impl Identity {
    /// One that nothing had before.
    pub(super) fn new() -> Identity {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Identity(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl Pages {
    pub(super) fn set(&mut self, page: usize, entry: u32) {
        let host =
            self.frames.wrapping_add(u64::from(entry & !OFFSET)).wrapping_sub((page << PAGE_BITS) as u64);
        for (table, right) in [(&mut self.read, READ), (&mut self.write, WRITE)] {
            if let Some(place) = table.get_mut(page) {
                *place = if entry & right != 0 { host } else { 0 };
            }
        }
    }
}

impl Memory {
    /// Tells this memory from any other that there was or will be: engines that keep what they made of its code ask.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// The tables of pages that may be read and of those that may be written without asking, by the address of their first
    /// entry. An access of `1 << n` bytes, up to eight, looks at the entry `rotate_right(address, n) >> (12 - n)`; one that
    /// is not zero is what the guest's address is to be increased by for the host's, modulo 2^64. Where it is zero, the
    /// access has to go through this memory, which says why.
    ///
    /// The tables stay where they are, and are kept right, as long as the memory lives. What they lead to may be accessed
    /// while nobody else uses the memory, until something of it is changed.
    pub fn host_pages(&mut self) -> (*const u64, *const u64) {
        if self.host.is_none() {
            // Frames that do not move make no work. Where so much cannot be had, they move.
            self.frames.reserve(self.limit as usize + 1);
            self.host = Some(Pages { read: vec![0; ENTRIES], write: vec![0; ENTRIES], frames: 0 });
            self.frames_moved();
        }
        match &self.host {
            Some(pages) => (pages.read.as_ptr(), pages.write.as_ptr()),
            None => (std::ptr::null(), std::ptr::null()),
        }
    }

    /// Puts the tables right when the frames are elsewhere.
    pub(super) fn frames_moved(&mut self) {
        let Some(host) = &mut self.host else { return };
        let frames = self.frames.base().expose_provenance() as u64;
        if host.frames != frames {
            host.frames = frames;
            for page in self.touched.pages() {
                let entry = self.table.get(page).copied().unwrap_or_default();
                if entry != 0 {
                    host.set(page, entry);
                }
            }
        }
    }
}
