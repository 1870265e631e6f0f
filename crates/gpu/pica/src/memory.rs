//! Guest memory as the GPU sees it: physical addresses.

use std::ops::Range;

/// Start of video memory.
pub const VRAM: u32 = 0x1800_0000;
/// Start of main memory.
pub const FCRAM: u32 = 0x2000_0000;

/// Memory of the emulated machine. Addresses come from the guest: any value may be asked for.
pub trait Memory {
    /// The `len` bytes from `address` on, or nothing if not all of them are memory.
    fn bytes(&self, address: u32, len: u32) -> Option<&[u8]>;
    /// As [`Memory::bytes`], to write.
    fn bytes_mut(&mut self, address: u32, len: u32) -> Option<&mut [u8]>;
    /// The bytes from `address` to the end of the memory it lies in.
    fn tail(&self, address: u32) -> Option<&[u8]>;
    /// As [`Memory::tail`], to write.
    fn tail_mut(&mut self, address: u32) -> Option<&mut [u8]>;

    /// Whether whoever else accesses guest memory says so: [`Gpu::flush_region`](crate::gpu::Gpu::flush_region) before it
    /// reads or writes [`Mark::Dirty`] pages, [`Gpu::invalidate_region`](crate::gpu::Gpu::invalidate_region) after it wrote
    /// marked ones. Then a renderer may keep what it draws to itself from call to call; otherwise guest memory is up to date at
    /// the end of each call, and may have changed when the next one begins.
    fn is_tracked(&self) -> bool {
        false
    }

    /// Pages are another's concern from now on, or no longer. The range is of whole pages of [`PAGE`] bytes, or reaches to the
    /// last address. Only called if [`Memory::is_tracked`]; pages are not marked at first.
    fn mark(&mut self, _address: u32, _len: u32, _mark: Mark) {}
}

/// Bytes of a page in [`Memory::mark`].
pub const PAGE: u32 = 1 << 12;

/// What a renderer has of a page of guest memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mark {
    /// A copy of some of it: whoever writes to the page says so afterwards.
    Cached,
    /// What belongs there: the page is flushed before anybody reads or writes it.
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

    /// Says that accesses are told of: see [`Memory::is_tracked`].
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
    fn bytes(&self, address: u32, len: u32) -> Option<&[u8]> {
        self.tail(address)?.get(..len as usize)
    }

    fn bytes_mut(&mut self, address: u32, len: u32) -> Option<&mut [u8]> {
        self.tail_mut(address)?.get_mut(..len as usize)
    }

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
