//! The SDRAM: bytes, and how long accesses take.

use crate::machine::Faults;
use crate::params;
use serde::{Deserialize, Serialize};

/// Bytes of a burst.
pub const BURST: u32 = 32;

/// Reading or writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Direction {
    /// From memory.
    Read,
    /// To memory.
    Write,
}

/// The memory. What lies outside reads as zero and is not written; both set [`Faults::MEMORY`] when the machine does
/// it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sdram {
    #[serde(skip)]
    bytes: Vec<u8>,
    timing: params::Memory,
    /// When the bus is free.
    free_at: u64,
    open_rows: Vec<u32>,
    /// Bytes moved by the machine: read, written.
    pub(crate) moved: [u64; 2],
}

/// Upper bound, in ticks, on the backlog of accesses: far more than all threads together can cause.
pub(crate) const HORIZON: u64 = 1 << 40;

/// No row.
const CLOSED: u32 = u32::MAX;

impl Sdram {
    pub(crate) fn new(params: &params::Memory) -> Sdram {
        Sdram {
            bytes: vec![0; params.bytes as usize],
            timing: params.clone(),
            free_at: 0,
            open_rows: vec![CLOSED; params.rows.banks as usize],
            moved: [0; 2],
        }
    }

    /// Puts back the contents; whether this is then the memory of a machine with these parameters in tick `now`.
    pub(crate) fn restore(&mut self, bytes: Vec<u8>, params: &params::Memory, now: u64) -> bool {
        self.bytes = bytes;
        self.timing == *params
            && self.bytes.len() == params.bytes as usize
            && self.open_rows.len() == params.rows.banks as usize
            && self.free_at.saturating_sub(now) <= HORIZON
            && self.moved.iter().all(|&n| n <= i64::MAX as u64)
    }

    /// All of it.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// All of it, for the host to write.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Writes bytes for the host; `None` if they do not lie inside.
    pub fn write(&mut self, address: u32, bytes: &[u8]) -> Option<()> {
        let at = address as usize;
        self.bytes.get_mut(at..at.checked_add(bytes.len())?)?.copy_from_slice(bytes);
        Some(())
    }

    /// `N` bytes.
    pub(crate) fn read<const N: usize>(&self, address: u32, faults: &mut Faults) -> [u8; N] {
        let at = address as usize;
        match self.bytes.get(at..at + N).and_then(|b| b.try_into().ok()) {
            Some(bytes) => bytes,
            None => {
                *faults |= Faults::MEMORY;
                [0; N]
            }
        }
    }

    pub(crate) fn put(&mut self, address: u32, bytes: &[u8], faults: &mut Faults) {
        if self.write(address, bytes).is_none() {
            *faults |= Faults::MEMORY;
        }
    }

    /// As [`access`](Self::access) of a unit that may be an [instant](params::Instant) one, which has what it asks for
    /// at once and leaves bus and rows alone.
    pub(crate) fn access_by(
        &mut self,
        instant: bool,
        now: u64,
        direction: Direction,
        address: u32,
        bytes: u32,
    ) -> u64 {
        if instant {
            self.count(direction, address, bytes);
            return now;
        }
        self.access(now, direction, address, bytes)
    }

    /// Counts the bytes of an access; gives its bursts.
    fn count(&mut self, direction: Direction, address: u32, bytes: u32) -> u64 {
        let bursts = u64::from((address % BURST).saturating_add(bytes).div_ceil(BURST).max(1));
        self.moved[direction as usize] += bursts * u64::from(BURST);
        bursts
    }

    /// Starts an access in tick `now`; gives the tick in which it is done, which is later.
    pub(crate) fn access(&mut self, now: u64, direction: Direction, address: u32, bytes: u32) -> u64 {
        let bursts = self.count(direction, address, bytes);
        let timing = &self.timing;
        let start = if timing.contention { now.max(self.free_at) } else { now };
        let latency = if timing.rows.enabled {
            let row = address / timing.rows.bytes;
            let bank = row as usize % self.open_rows.len();
            let open = std::mem::replace(&mut self.open_rows[bank], row);
            if open == row { timing.rows.hit } else { timing.rows.miss }
        } else {
            match direction {
                Direction::Read => timing.read,
                Direction::Write => timing.write,
            }
        };
        self.free_at = start + bursts * u64::from(timing.burst);
        start + u64::from(latency) + (bursts - 1) * u64::from(timing.burst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_take_their_latency_and_bursts() {
        let mut memory = Sdram::new(&params::Memory::default());
        assert_eq!(memory.access(100, Direction::Read, 0, 32), 120);
        assert_eq!(memory.access(100, Direction::Read, 31, 2), 124);
        assert_eq!(memory.access(100, Direction::Write, 64, 128), 124);
    }

    #[test]
    fn open_rows_are_faster_and_a_bus_is_shared() {
        let rows = params::Rows { enabled: true, ..params::Rows::default() };
        let mut memory = Sdram::new(&params::Memory { contention: true, rows, ..params::Memory::default() });
        assert_eq!(memory.access(0, Direction::Read, 0, 32), 20);
        assert_eq!(memory.access(0, Direction::Read, 32, 32), 4 + 8);
        assert_eq!(memory.access(50, Direction::Read, 2048 * 8, 32), 70);
    }
}
