//! Large buffers that one frame leaves to the next: a new one has to be cleared and brought into memory.

use xenoglot_host::{Buffer, Device, Error};

/// Most buffers that are kept.
const KEPT: usize = 4;

/// Buffers that nothing uses at the moment. What they hold is of no meaning.
#[derive(Debug, Default)]
pub struct Pool(Vec<Buffer>);

impl Pool {
    /// A buffer of some bytes or more, though not of more than twice as many.
    pub fn take(&mut self, device: &Device, bytes: u64) -> Result<Buffer, Error> {
        let fits = |buffer: &Buffer| (bytes..=2 * bytes).contains(&buffer.size());
        match self.0.iter().position(fits) {
            Some(place) => Ok(self.0.swap_remove(place)),
            None => device.buffer(bytes),
        }
    }

    /// Takes a buffer back.
    pub fn give(&mut self, buffer: Buffer) {
        if self.0.len() >= KEPT {
            self.0.remove(0);
        }
        self.0.push(buffer);
    }
}
