//! The memory: bytes, how long accesses of units take, and what each unit has asked for.

use crate::cosim::{MemoryInput, MemoryOutput, Seam};
use crate::event::NEVER;
use crate::machine::Faults;
use crate::params::{self, Timing};
use crate::sdram::{Chips, Row};
use crate::unit::Unit;
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
    instant: params::Instant,
    chips: Chips,
    /// What each unit has asked for.
    ports: Vec<Port>,
    pub(crate) seam: Seam<MemoryInput, MemoryOutput>,
    /// Refreshes that a model has made.
    refreshes: u64,
}

/// What a unit has asked memory for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Port {
    /// Accesses.
    pub accesses: u64,
    /// Bytes of whole bursts, read.
    pub read: u64,
    /// Bytes of whole bursts, written.
    pub written: u64,
    /// Bursts that found their row open.
    pub hits: u64,
    /// Bursts that found no row open in their bank.
    pub closed: u64,
    /// Bursts that found another row open in their bank.
    pub conflicts: u64,
    /// Ticks from asking to having, of all accesses.
    pub ticks: u64,
    /// Ticks of those for which the bus was others'.
    pub queued: u64,
}

impl Port {
    /// Adds those of another machine.
    pub(crate) fn add(&mut self, other: &Port) {
        let Port { accesses, read, written, hits, closed, conflicts, ticks, queued } = *other;
        for (a, b) in [
            (&mut self.accesses, accesses),
            (&mut self.read, read),
            (&mut self.written, written),
            (&mut self.hits, hits),
            (&mut self.closed, closed),
            (&mut self.conflicts, conflicts),
            (&mut self.ticks, ticks),
            (&mut self.queued, queued),
        ] {
            *a = a.saturating_add(b);
        }
    }
}

/// Upper bound, in ticks, on the backlog of accesses: far more than all threads together can cause.
const HORIZON: u64 = 1 << 40;

impl Sdram {
    pub(crate) fn new(params: &params::Params) -> Sdram {
        Sdram {
            bytes: vec![0; params.memory.bytes as usize],
            timing: params.memory.clone(),
            instant: params.instant,
            chips: Chips::new(&params.memory.sdram),
            ports: vec![Port::default(); Unit::ALL.len()],
            seam: Seam::default(),
            refreshes: 0,
        }
    }

    /// Puts back the contents; whether this is then the memory of a machine with these parameters in tick `now`.
    pub(crate) fn restore(&mut self, bytes: Vec<u8>, params: &params::Params, now: u64) -> bool {
        self.bytes = bytes;
        let small = |p: &Port| {
            let Port { accesses, read, written, hits, closed, conflicts, ticks, queued } = *p;
            [accesses, read, written, hits, closed, conflicts, ticks, queued]
                .iter()
                .all(|&n| n <= i64::MAX as u64 / 16)
        };
        self.timing == params.memory
            && self.instant == params.instant
            && self.bytes.len() == params.memory.bytes as usize
            && self.chips.is_sound(&params.memory.sdram, now.saturating_add(HORIZON))
            && self.ports.len() == Unit::ALL.len()
            && self.ports.iter().all(small)
            && self.refreshes <= i64::MAX as u64
    }

    /// What each unit has asked for, in the order of [`UNITS`](crate::UNITS).
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// Refreshes that were made.
    pub fn refreshes(&self) -> u64 {
        self.chips.refreshes + self.refreshes
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

    /// Starts an access of a unit in tick `now`; gives the tick in which it is done, which is later unless the unit or
    /// memory is an [instant](params::Instant) one: that leaves bus and rows alone.
    pub(crate) fn access(
        &mut self,
        unit: Unit,
        now: u64,
        direction: Direction,
        address: u32,
        bytes: u32,
    ) -> u64 {
        let bursts = (address % BURST).saturating_add(bytes).div_ceil(BURST).max(1);
        let port = &mut self.ports[unit as usize];
        port.accesses += 1;
        let moved = u64::from(bursts) * u64::from(BURST);
        *(if direction == Direction::Read { &mut port.read } else { &mut port.written }) += moved;
        if self.instant.has(unit) {
            return now;
        }
        if self.seam.is_external() {
            let write = (direction == Direction::Write).into();
            let asked = self.seam.ask(&MemoryInput { now, unit: unit as u32, write, address, bytes });
            // Without its model memory never answers.
            let Some(output) = asked else { return NEVER };
            let done = output.done.clamp(now + 1, now + HORIZON);
            port.ticks += done - now;
            port.queued += output.queued.min(HORIZON);
            port.hits += u64::from(output.hits);
            port.closed += u64::from(output.closed);
            port.conflicts += u64::from(output.conflicts);
            self.refreshes += u64::from(output.refreshes);
            return done;
        }
        let timing = &self.timing;
        let ticks = u64::from(timing.burst);
        let done = match (timing.timing, direction) {
            (Timing::Timer, Direction::Read) => now + u64::from(timing.read) + u64::from(bursts - 1) * ticks,
            (Timing::Timer, Direction::Write) => {
                now + u64::from(timing.write) + u64::from(bursts - 1) * ticks
            }
            (Timing::Sdram, _) => {
                let at = now + u64::from(timing.sdram.controller);
                port.queued += self.chips.free_at().saturating_sub(at);
                let mut done = now + 1;
                for burst in 0..bursts {
                    let address = (address & !(BURST - 1)).wrapping_add(burst * BURST);
                    let (end, row) = self.chips.burst(&timing.sdram, ticks, at, direction, address);
                    done = done.max(end);
                    match row {
                        Row::Hit => port.hits += 1,
                        Row::Closed => port.closed += 1,
                        Row::Conflict => port.conflicts += 1,
                    }
                }
                done
            }
        };
        port.ticks += done - now;
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;

    fn memory(toml: &str) -> Sdram {
        Sdram::new(&Params::from_toml(toml).unwrap())
    }

    #[test]
    fn with_the_timer_accesses_take_their_latency_and_bursts() {
        let mut memory = memory("memory.timing = \"timer\"");
        assert_eq!(memory.access(Unit::Draw, 100, Direction::Read, 0, 32), 120);
        assert_eq!(memory.access(Unit::Draw, 100, Direction::Read, 31, 2), 124);
        assert_eq!(memory.access(Unit::Store, 100, Direction::Write, 64, 128), 124);
        assert_eq!(
            (memory.ports()[Unit::Draw as usize].read, memory.ports()[Unit::Store as usize].written),
            (96, 128)
        );
    }

    #[test]
    fn units_share_the_bus_and_are_told_apart() {
        let mut memory = memory("memory.sdram.controller = 6");
        // Controller 6, ACTIVE to data 4, a burst of 4.
        assert_eq!(memory.access(Unit::Draw, 0, Direction::Read, 0, 32), 14);
        // The row is open; the bus is free from 14 on.
        assert_eq!(memory.access(Unit::VertexCache, 0, Direction::Read, 64, 64), 22);
        assert_eq!(memory.access(Unit::Store, 50, Direction::Write, 0, 32), 60);
        let [draw, cache, store] =
            [Unit::Draw, Unit::VertexCache, Unit::Store].map(|u| memory.ports()[u as usize]);
        assert_eq!((draw.closed, draw.hits, draw.queued, draw.ticks), (1, 0, 0, 14));
        assert_eq!((cache.accesses, cache.hits, cache.queued, cache.ticks), (1, 2, 14 - 6, 22));
        assert_eq!((store.written, store.read, store.hits), (32, 0, 1));
    }

    #[test]
    fn instant_units_have_what_they_ask_for_at_once() {
        let mut memory = memory("instant.vertex_cache = true");
        assert_eq!(memory.access(Unit::VertexCache, 7, Direction::Read, 0, 99), 7);
        assert_eq!(memory.access(Unit::Draw, 7, Direction::Read, 0, 32), 7 + 14);
    }
}
