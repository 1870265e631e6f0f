//! Where the bytes of pages are: in a block of frames that grows, or in a [`Window`], where each page has its place.

use super::window::Window;
use super::{OFFSET, PAGE_BITS, PAGE_BYTES};

/// Bytes of a page.
const PAGE: usize = PAGE_BYTES as usize;

/// The bytes of pages. An entry of the memory's table has the number of a page's frame.
pub(super) struct Frames {
    /// The first byte, and how many there are; both change only with `store`.
    base: *mut u8,
    len: usize,
    store: Store,
    /// Frames of the block that nobody has. They are zeros.
    free: Vec<u32>,
}

enum Store {
    /// Frames one after another; the first is zeros, and is never written.
    Block(Vec<u8>),
    /// A page's frame has its number.
    Window(Window),
}

// SAFETY: `base` leads to what `store` owns, and is used by those who have the frames only.
unsafe impl Send for Frames {}
// SAFETY: shared frames are only read.
unsafe impl Sync for Frames {}

impl Frames {
    /// A block with the frame of zeros.
    pub(super) fn new() -> Frames {
        Frames::of(Store::Block(vec![0; PAGE]))
    }

    fn of(mut store: Store) -> Frames {
        let (base, len) = match &mut store {
            Store::Block(bytes) => (bytes.as_mut_ptr(), bytes.len()),
            Store::Window(window) => (window.plain(), Window::BYTES),
        };
        Frames { base, len, store, free: Vec::new() }
    }

    /// Frames in a window; `None` where the system has none.
    pub(super) fn in_window() -> Option<Frames> {
        Some(Frames::of(Store::Window(Window::new()?)))
    }

    pub(super) fn window(&self) -> Option<&Window> {
        match &self.store {
            Store::Window(window) => Some(window),
            Store::Block(_) => None,
        }
    }

    /// The address of the first frame in the host.
    pub(super) fn base(&mut self) -> *mut u8 {
        self.base
    }

    /// Makes room for so many frames, so that they need not move. Where so much cannot be had, they do.
    pub(super) fn reserve(&mut self, frames: usize) {
        if let Store::Block(bytes) = &mut self.store {
            let _ = bytes.try_reserve_exact((frames * PAGE).saturating_sub(bytes.len()));
            self.base = bytes.as_mut_ptr();
        }
    }

    /// A frame of zeros for a page; `None` when the system has no memory.
    pub(super) fn take(&mut self, page: u32) -> Option<u32> {
        let bytes = match &mut self.store {
            Store::Window(_) => return Some(page),
            Store::Block(bytes) => bytes,
        };
        if let Some(frame) = self.free.pop() {
            return Some(frame);
        }
        let frame = (bytes.len() >> PAGE_BITS) as u32;
        bytes.try_reserve(PAGE).ok()?;
        bytes.resize(bytes.len() + PAGE, 0);
        (self.base, self.len) = (bytes.as_mut_ptr(), bytes.len());
        Some(frame)
    }

    /// Takes the frame of a page back. In a window, [`Window::clear`] makes zeros of it.
    pub(super) fn give_back(&mut self, frame: u32) {
        if let Store::Block(bytes) = &mut self.store {
            // The next owner wants zeros.
            let at = (frame as usize) << PAGE_BITS;
            bytes.get_mut(at..at + PAGE).into_iter().for_each(|bytes| bytes.fill(0));
            self.free.push(frame);
        }
    }

    /// Where an entry and the offset in an address lead to.
    #[inline(always)]
    fn at(entry: u32, address: u32) -> usize {
        (entry & !OFFSET | address & OFFSET) as usize
    }

    /// `N` bytes, a power of two, at an address that is a multiple of it.
    #[inline(always)]
    pub(super) fn read<const N: usize>(&self, entry: u32, address: u32) -> Option<[u8; N]> {
        let at = Frames::at(entry, address);
        // SAFETY: the bytes are within those that `base` leads to.
        (at + N <= self.len).then(|| unsafe { self.base.add(at).cast::<[u8; N]>().read() })
    }

    /// Writes as [`Frames::read`] reads; whether there was a place.
    #[inline(always)]
    pub(super) fn write<const N: usize>(&mut self, entry: u32, address: u32, bytes: [u8; N]) -> bool {
        let at = Frames::at(entry, address);
        let inside = at + N <= self.len;
        if inside {
            // SAFETY: as for reading; nobody else uses them.
            unsafe { self.base.add(at).cast::<[u8; N]>().write(bytes) };
        }
        inside
    }

    /// Bytes of one page.
    pub(super) fn bytes(&self, entry: u32, address: u32, count: usize) -> &[u8] {
        let at = Frames::at(entry, address);
        let count = count.min(self.len.saturating_sub(at));
        // SAFETY: the bytes are within those that `base` leads to, and are not written while the frames are borrowed.
        unsafe { std::slice::from_raw_parts(self.base.add(at.min(self.len)), count) }
    }

    /// Bytes of one page, to write.
    pub(super) fn bytes_mut(&mut self, entry: u32, address: u32, count: usize) -> &mut [u8] {
        let at = Frames::at(entry, address);
        let count = count.min(self.len.saturating_sub(at));
        // SAFETY: as in `bytes`; nobody else uses them.
        unsafe { std::slice::from_raw_parts_mut(self.base.add(at.min(self.len)), count) }
    }
}
