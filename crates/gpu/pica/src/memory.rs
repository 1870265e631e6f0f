//! Guest memory as the GPU sees it: physical addresses.

use std::ops::Range;

/// Start of video memory.
pub const VRAM: u32 = 0x1800_0000;
/// Start of main memory.
pub const FCRAM: u32 = 0x2000_0000;

/// Memory of the emulated machine. Addresses come from the guest: any value may be asked for.
pub trait Memory {
    /// The `len` bytes from `address` on, or nothing if not all of them are memory.
    fn bytes(&self, address: u32, len: u32) -> Option<&[u8]> {
        self.tail(address)?.get(..len as usize)
    }
    /// As [`Memory::bytes`], to write.
    fn bytes_mut(&mut self, address: u32, len: u32) -> Option<&mut [u8]> {
        self.tail_mut(address)?.get_mut(..len as usize)
    }
    /// The bytes from `address` to the end of the memory it lies in.
    fn tail(&self, address: u32) -> Option<&[u8]>;
    /// As [`Memory::tail`], to write.
    fn tail_mut(&mut self, address: u32) -> Option<&mut [u8]>;

    /// Whether the embedder reports other accesses to guest memory: it calls
    /// [`Gpu::flush_region`](crate::gpu::Gpu::flush_region) before a read or write of [`Mark::Dirty`] pages, and
    /// [`Gpu::invalidate_region`](crate::gpu::Gpu::invalidate_region) after a write to marked ones. A renderer may then keep
    /// what it draws from call to call. Otherwise guest memory is up to date at the end of each call, and may have changed
    /// when the next one begins.
    fn is_tracked(&self) -> bool {
        false
    }

    /// Sets the mark of the pages of a range: whole pages of [`PAGE`] bytes, or up to the last address. Called only if
    /// [`Memory::is_tracked`]; pages have no mark at first.
    fn mark(&mut self, _address: u32, _len: u32, _mark: Mark) {}
}

/// Bytes of a page in [`Memory::mark`].
pub const PAGE: u32 = 1 << 12;

/// What a renderer has of a page of guest memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mark {
    /// A copy of some of its bytes: the page is invalidated after each write by others.
    Cached,
    /// Bytes that are newer than guest memory's: the page is flushed before others read or write it.
    Dirty,
}

/// Memory as a few regions.
#[derive(Clone, Debug, Default)]
pub struct Regions {
    regions: Vec<Region>,
    tracked: bool,
}

#[derive(Clone, Debug)]
struct Region {
    start: u32,
    bytes: Vec<u8>,
}

impl Regions {
    /// No memory at all.
    pub fn new() -> Regions {
        Regions::default()
    }

    /// Six megabytes of video memory and `fcram` bytes of main memory, all zero.
    pub fn console(fcram: u32) -> Regions {
        let mut regions = Regions::new();
        regions.add(VRAM, vec![0; 6 << 20]);
        regions.add(FCRAM, vec![0; fcram as usize]);
        regions
    }

    /// Sets whether other accesses are reported: see [`Memory::is_tracked`].
    pub fn set_tracked(&mut self, tracked: bool) {
        self.tracked = tracked;
    }

    /// Adds memory. Regions are looked up in the order they were added.
    pub fn add(&mut self, start: u32, bytes: Vec<u8>) {
        self.regions.push(Region { start, bytes });
    }

    fn find(&self, address: u32) -> Option<(usize, usize)> {
        self.regions.iter().enumerate().find_map(|(index, region)| {
            let offset = address.checked_sub(region.start)? as usize;
            (offset < region.bytes.len()).then_some((index, offset))
        })
    }
}

impl Memory for Regions {
    fn tail(&self, address: u32) -> Option<&[u8]> {
        let (index, offset) = self.find(address)?;
        self.regions.get(index)?.bytes.get(offset..)
    }

    fn tail_mut(&mut self, address: u32) -> Option<&mut [u8]> {
        let (index, offset) = self.find(address)?;
        self.regions.get_mut(index)?.bytes.get_mut(offset..)
    }

    fn is_tracked(&self) -> bool {
        self.tracked
    }
}

/// All addresses.
pub(crate) const ADDRESSES: Range<u64> = 0..1 << 32;

/// A range of addresses from its start and length. It goes on at 0 where addresses end: the second part is not empty then.
pub(crate) fn ranges(address: u32, len: u64) -> [Range<u64>; 2] {
    let (start, end) = (u64::from(address), u64::from(address) + len.min(ADDRESSES.end));
    [start..end.min(ADDRESSES.end), 0..end.saturating_sub(ADDRESSES.end)]
}
