//! Guest memory as the GPU sees it: physical addresses.

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
}

/// Memory as a few regions.
#[derive(Clone, Debug, Default)]
pub struct Regions {
    regions: Vec<Region>,
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
}
