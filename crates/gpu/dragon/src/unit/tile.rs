//! Tile buffers, and the units that fill, store and load them.

use crate::event::{Activity, Event};
use crate::machine::Shared;
use crate::memory::Direction;
use serde::{Deserialize, Serialize};
use xenoglot_vpu::{TILE_BUFFERS, TileFormat};

/// The tile buffers: a word for each pixel, row by row.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Tiles {
    pub size: u32,
    pub formats: [TileFormat; TILE_BUFFERS],
    words: [Vec<u32>; TILE_BUFFERS],
}

impl Tiles {
    pub fn new(size: u32) -> Tiles {
        let words = vec![0; (size * size) as usize];
        Tiles { size, formats: Default::default(), words: std::array::from_fn(|_| words.clone()) }
    }

    /// Whether they have this size.
    pub fn is_sound(&self, size: u32) -> bool {
        self.size == size && self.words.iter().all(|w| w.len() == (size * size) as usize)
    }

    /// Of `pixel` below the size squared.
    pub fn word(&self, tile: u8, pixel: u16) -> u32 {
        self.words[usize::from(tile) % TILE_BUFFERS][usize::from(pixel)]
    }

    pub fn set(&mut self, tile: u8, pixel: u16, word: u32) {
        self.words[usize::from(tile) % TILE_BUFFERS][usize::from(pixel)] = word;
    }

    /// Gives `count` pixels from `first` on a value; `false`, and nothing changes, if there are not so many.
    pub fn fill(&mut self, tile: u8, first: u32, count: u32, value: u32) -> bool {
        let words = &mut self.words[usize::from(tile) % TILE_BUFFERS];
        let (first, count) = (first as usize, count as usize);
        let pixels = first.checked_add(count).and_then(|end| words.get_mut(first..end));
        pixels.map(|pixels| pixels.fill(value)).is_some()
    }

    fn row(&mut self, tile: u8, y: u32) -> &mut [u32] {
        let (at, size) = ((y * self.size) as usize, self.size as usize);
        &mut self.words[usize::from(tile) % TILE_BUFFERS][at..at + size]
    }
}

/// Fills a tile buffer. Pixels change together in the last tick.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Fill {
    job: Option<FillJob>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct FillJob {
    tile: u8,
    value: u32,
    sig: u32,
    done: u64,
}

impl Fill {
    pub fn is_idle(&self) -> bool {
        self.job.is_none()
    }

    pub fn describe(&self) -> String {
        self.job.map_or_else(|| "idle".into(), |job| format!("tile buffer {}", job.tile))
    }

    pub fn start(&mut self, tile: u8, value: u32, sig: u32, shared: &Shared) {
        let pixels = shared.tiles.size * shared.tiles.size;
        let ticks = match shared.params.instant.tile_buffer_fill {
            true => 0,
            false => pixels.div_ceil(shared.params.fill_pixels),
        };
        let done = shared.now + u64::from(ticks);
        self.job = Some(FillJob { tile, value, sig, done });
    }

    pub fn tick(&mut self, shared: &mut Shared) -> Activity {
        let Some(job) = self.job else { return Activity::IDLE };
        if shared.now < job.done {
            return Activity::until(Event::Tick, job.done);
        }
        shared.tiles.words[usize::from(job.tile) % TILE_BUFFERS].fill(job.value);
        shared.sig |= job.sig;
        self.job = None;
        Activity::busy(Event::Tick, shared.now)
    }
}

/// Moves a tile buffer to or from memory, a row an access: a row that is stored leaves when its access starts, one that
/// is loaded comes when it is done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Transfer {
    direction: Direction,
    job: Option<TransferJob>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct TransferJob {
    tile: u8,
    address: u32,
    stride: u32,
    sig: u32,
    /// The row that is moved.
    row: u32,
    /// When it is done.
    done: u64,
}

impl Transfer {
    pub fn new(direction: Direction) -> Transfer {
        Transfer { direction, job: None }
    }

    pub fn is_idle(&self) -> bool {
        self.job.is_none()
    }

    /// Whether it is a transfer of this direction, of tile buffers of this size.
    pub fn is_sound(&self, direction: Direction, size: u32) -> bool {
        self.direction == direction && self.job.is_none_or(|job| job.row < size)
    }

    pub fn describe(&self) -> String {
        self.job.map_or_else(|| "idle".into(), |job| format!("row {} of tile buffer {}", job.row, job.tile))
    }

    pub fn start(&mut self, tile: u8, address: u32, stride: u32, sig: u32, shared: &mut Shared) {
        let mut job = TransferJob { tile, address, stride, sig, row: 0, done: 0 };
        self.begin_row(&mut job, shared);
        self.job = Some(job);
    }

    fn begin_row(&self, job: &mut TransferJob, shared: &mut Shared) {
        let address = row_address(job);
        let bytes = shared.tiles.formats[usize::from(job.tile) % TILE_BUFFERS].bytes();
        if self.direction == Direction::Write {
            let row = shared.tiles.row(job.tile, job.row);
            for (n, &word) in (0..).zip(row.iter()) {
                let at = address.wrapping_add(n * bytes);
                shared.memory.put(at, &word.to_le_bytes()[..bytes as usize], &mut shared.faults);
            }
        }
        let bytes = shared.tiles.size * bytes;
        job.done =
            shared.memory.access_by(self.is_instant(shared), shared.now, self.direction, address, bytes);
    }

    fn is_instant(&self, shared: &Shared) -> bool {
        match self.direction {
            Direction::Read => shared.params.instant.tile_buffer_load,
            Direction::Write => shared.params.instant.tile_buffer_store,
        }
    }

    pub fn tick(&mut self, shared: &mut Shared) -> Activity {
        let event = match self.direction {
            Direction::Read => Event::MemRead,
            Direction::Write => Event::MemWrite,
        };
        loop {
            let Some(job) = self.job else { return Activity::IDLE };
            if shared.now < job.done {
                return Activity::until(event, job.done);
            }
            self.end_row(job, shared);
            if self.job.is_none() || !self.is_instant(shared) {
                return Activity::busy(event, shared.now);
            }
        }
    }

    /// Ends the access of a row and begins that of the next one.
    fn end_row(&mut self, mut job: TransferJob, shared: &mut Shared) {
        if self.direction == Direction::Read {
            let bytes = shared.tiles.formats[usize::from(job.tile) % TILE_BUFFERS].bytes();
            let address = row_address(&job);
            for (n, word) in (0..).zip(shared.tiles.row(job.tile, job.row)) {
                let at = address.wrapping_add(n * bytes);
                *word = match bytes {
                    4 => u32::from_le_bytes(shared.memory.read(at, &mut shared.faults)),
                    _ => u16::from_le_bytes(shared.memory.read(at, &mut shared.faults)).into(),
                };
            }
        }
        job.row += 1;
        if job.row < shared.tiles.size {
            self.begin_row(&mut job, shared);
            self.job = Some(job);
        } else {
            shared.sig |= job.sig;
            self.job = None;
        }
    }
}

fn row_address(job: &TransferJob) -> u32 {
    job.address.wrapping_add(job.row.wrapping_mul(job.stride))
}
