//! What a driver sets up before a kernel runs: its buffers in global memory, and constant bank 0.
//!
//! Source: `vectors/maxwell/FORMAT.md`, section 1, which says what the CUDA driver does for SM5x.

use crate::container::{Cubin, LinkError, link};
use std::ops::Range;
use thiserror::Error;

/// Bytes between buffers, and their alignment.
const GUARD: usize = 0x100;

/// What these bytes hold: a kernel that reads or writes beyond a buffer shows.
const FILL: u8 = 0xa5;

/// Global memory as one range of bytes with buffers in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    base: u64,
    bytes: Vec<u8>,
    buffers: Vec<Range<usize>>,
}

impl Memory {
    /// Memory without buffers, whose first byte has the guest address `base`, a multiple of 256.
    pub fn new(base: u64) -> Memory {
        Memory { base, bytes: vec![FILL; GUARD], buffers: Vec::new() }
    }

    /// Adds a buffer, aligned to 256 bytes; gives its guest address.
    pub fn add(&mut self, contents: &[u8]) -> u64 {
        let at = self.bytes.len();
        self.bytes.extend_from_slice(contents);
        self.buffers.push(at..self.bytes.len());
        self.bytes.resize(self.bytes.len().next_multiple_of(GUARD) + GUARD, FILL);
        self.base.wrapping_add(at as u64)
    }

    /// Replaces what a range of bytes holds, as far as it lies in memory.
    pub fn replace(&mut self, address: u64, contents: &[u8]) {
        let at = usize::try_from(address.wrapping_sub(self.base)).ok();
        let range = at.and_then(|at| Some(at..at.checked_add(contents.len())?));
        if let Some(bytes) = range.and_then(|range| self.bytes.get_mut(range)) {
            bytes.copy_from_slice(contents);
        }
    }

    /// All bytes, from the base on.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where the buffers lie in the bytes, in the order in which they were added.
    pub fn buffers(&self) -> &[Range<usize>] {
        &self.buffers
    }
}

/// Bytes of shared memory of a workgroup: what the file states, and behind it, aligned to 16 bytes, what the launch gives
/// dynamically.
pub fn shared_bytes(stated: u32, dynamic: u32) -> u32 {
    match dynamic {
        0 => stated,
        _ => stated.checked_next_multiple_of(16).unwrap_or(u32::MAX).saturating_add(dynamic),
    }
}

/// Places a cubin's global data in memory, each section a buffer, and gives the file linked for a kernel.
///
/// # Errors
/// Those of [`link`](fn@link), and data too large.
pub fn place_globals(bytes: &[u8], kernel: &str, memory: &mut Memory) -> Result<Vec<u8>, LinkError> {
    let cubin = Cubin::parse(bytes)?;
    let mut addresses = Vec::with_capacity(cubin.globals.len());
    let mut left = crate::container::cubin::MAX_GLOBAL_BYTES;
    for global in &cubin.globals {
        let too_large = || LinkError::TooLarge { section: global.name.clone(), bytes: global.bytes };
        left = left.checked_sub(global.bytes).ok_or_else(too_large)?;
        // Buffers are aligned to what no variable asks more than.
        addresses.push(memory.add(&global.contents()?));
    }
    let linked = link(bytes, kernel, &addresses)?;
    let cubin = Cubin::parse(&linked)?;
    for (global, address) in cubin.globals.iter().zip(addresses) {
        memory.replace(address, global.data);
    }
    Ok(linked)
}

/// A launch, as bank 0 tells kernels of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Workgroups along x, y and z.
    pub grid: [u32; 3],
    /// Invocations of a workgroup along x, y and z.
    pub workgroup: [u32; 3],
    /// Generic address of shared memory.
    pub shared_window: u32,
    /// Generic address of local memory.
    pub local_window: u32,
    /// Bytes of local memory of an invocation, a multiple of 16: where the stack starts.
    pub local_bytes: u32,
}

/// A value that lies outside bank 0.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("constant bank 0 has no {size} bytes at {offset:#x}")]
pub struct OutsideBank {
    /// Byte offset.
    pub offset: u32,
    /// Bytes.
    pub size: usize,
}

/// Writes a value to constant bank 0.
///
/// # Errors
/// [`OutsideBank`]: the bank is smaller.
pub fn put(bank: &mut [u8], offset: u32, value: &[u8]) -> Result<(), OutsideBank> {
    let at = offset as usize;
    let to = at.checked_add(value.len()).and_then(|end| bank.get_mut(at..end));
    to.ok_or(OutsideBank { offset, size: value.len() })?.copy_from_slice(value);
    Ok(())
}

impl Launch {
    /// Writes what the driver writes but for the parameters.
    ///
    /// # Errors
    /// [`OutsideBank`]: the bank is smaller.
    pub fn fill(&self, bank: &mut [u8]) -> Result<(), OutsideBank> {
        let ([wx, wy, wz], [gx, gy, gz]) = (self.workgroup, self.grid);
        let words = [self.shared_window, self.local_window, wx, wy, wz, gx, gy, gz, self.local_bytes];
        for (offset, word) in (0..).step_by(4).zip(words) {
            put(bank, offset, &word.to_le_bytes())?;
        }
        Ok(())
    }
}

/// What a file states of a kernel whose functions call themselves: its stack has no bound.
pub const UNBOUNDED: u32 = u32::MAX;

/// Bytes of a stack without a bound where a launch does not say: the default of CUDA's `cudaLimitStackSize`.
pub const STACK_BYTES: u32 = 1024;

/// Bytes of local memory, a multiple of 16: what the file states, and `given` where that is [`UNBOUNDED`].
pub fn stack_bytes(stated: u32, given: u32) -> u32 {
    let bytes = if stated == UNBOUNDED { given } else { stated };
    bytes.saturating_add(15) & !15
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_apart_and_aligned() {
        let mut memory = Memory::new(0x1000);
        let first = memory.add(&[1; 3]);
        let second = memory.add(&[2; 0x200]);
        assert_eq!((first, second), (0x1100, 0x1300));
        let [a, b] = memory.buffers() else { panic!("two buffers") };
        assert_eq!((&memory.bytes()[a.clone()], memory.bytes()[b.start]), (&[1; 3][..], 2));
        assert_eq!(memory.bytes()[a.end], FILL);
    }

    #[test]
    fn bank_0_tells_of_the_launch() {
        let launch = Launch {
            grid: [5, 6, 7],
            workgroup: [2, 3, 4],
            shared_window: 0x100_0000,
            local_window: 0x200_0000,
            local_bytes: 0x40,
        };
        let mut bank = [0; 0x24];
        launch.fill(&mut bank).unwrap();
        let word = |at: usize| u32::from_le_bytes(bank[at..at + 4].try_into().unwrap());
        assert_eq!([0, 8, 0x10, 0x14, 0x1c, 0x20].map(word), [0x100_0000, 2, 4, 5, 7, 0x40]);
        assert_eq!(launch.fill(&mut [0; 0x20]), Err(OutsideBank { offset: 0x20, size: 4 }));
    }
}
