//! Tile buffers, and the units that fill, store and load them.

use crate::cosim::{FillInput, FillOutput, Outcome, Replaceable, Seam, TransferInput, TransferOutput};
use crate::event::{Activity, Event};
use crate::machine::Shared;
use crate::memory::Direction;
use crate::unit::Unit;
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
    seam: Seam<FillInput, FillOutput>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct FillJob {
    tile: u8,
    value: u32,
    sig: u32,
    done: u64,
}

impl Fill {
    pub fn describe(&self) -> String {
        let job = self.job.map_or_else(|| "idle".into(), |job| format!("tile buffer {}", job.tile));
        job + self.seam.describe()
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
}

impl Replaceable for Fill {
    type Input = FillInput;
    type Output = FillOutput;
    type Others<'a> = ();

    fn seam(&self) -> &Seam<FillInput, FillOutput> {
        &self.seam
    }

    fn seam_mut(&mut self) -> &mut Seam<FillInput, FillOutput> {
        &mut self.seam
    }

    fn is_idle(&self) -> bool {
        self.job.is_none()
    }

    fn input(&mut self, shared: &mut Shared, (): &mut ()) -> (FillInput, bool) {
        let valid = self.seam.tell(self.job.is_some());
        let pixels = shared.tiles.size * shared.tiles.size;
        (FillInput { now: shared.now, valid: valid.into(), pixels }, valid)
    }

    fn carry_out(&mut self, output: &FillOutput, shared: &mut Shared, (): &mut ()) -> Outcome {
        let handed = output.count != 0 || output.finished != 0;
        let Some(job) = self.job else { return Outcome { sound: !handed, handed } };
        let sound = shared.tiles.fill(job.tile, output.first, output.count, job.value);
        if output.finished != 0 {
            shared.sig |= job.sig;
            self.job = None;
            self.seam.finish();
        }
        Outcome { sound, handed }
    }

    fn tick_own(&mut self, shared: &mut Shared, (): &mut ()) -> Activity {
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
    seam: Seam<TransferInput, TransferOutput>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct TransferJob {
    tile: u8,
    address: u32,
    stride: u32,
    sig: u32,
    /// The row that is moved, or comes next.
    row: u32,
    /// When it is done, if it is being moved.
    done: Option<u64>,
    /// The tick in which the first row began.
    start: Option<u64>,
}

impl Transfer {
    /// The unit that stores tile buffers, or the one that loads them.
    pub fn new(unit: Unit) -> Transfer {
        let direction = if unit == Unit::Store { Direction::Write } else { Direction::Read };
        Transfer { direction, job: None, seam: Seam::default() }
    }

    fn unit(&self) -> Unit {
        match self.direction {
            Direction::Write => Unit::Store,
            Direction::Read => Unit::Load,
        }
    }

    /// Whether it is this unit, of tile buffers of this size.
    pub fn is_sound(&self, unit: Unit, size: u32, now: u64) -> bool {
        self.unit() == unit
            && self.job.is_none_or(|job| job.row < size && job.start.is_none_or(|start| start <= now))
    }

    pub fn describe(&self) -> String {
        self.job.map_or_else(|| "idle".into(), |job| format!("row {} of tile buffer {}", job.row, job.tile))
    }

    pub fn start(&mut self, tile: u8, address: u32, stride: u32, sig: u32) {
        self.job = Some(TransferJob { tile, address, stride, sig, row: 0, done: None, start: None });
    }

    /// The tile buffer that is stored or loaded is whole.
    fn finish(&mut self, shared: &mut Shared) {
        let Some(job) = self.job.take() else { return };
        shared.sig |= job.sig;
        if let Some(profile) = shared.profile.as_mut().filter(|_| self.direction == Direction::Write) {
            profile.stored(job.tile, shared.now + 1 - job.start.unwrap_or(shared.now));
        }
    }
}

impl Replaceable for Transfer {
    type Input = TransferInput;
    type Output = TransferOutput;
    type Others<'a> = ();

    fn seam(&self) -> &Seam<TransferInput, TransferOutput> {
        &self.seam
    }

    fn seam_mut(&mut self) -> &mut Seam<TransferInput, TransferOutput> {
        &mut self.seam
    }

    fn is_idle(&self) -> bool {
        self.job.is_none()
    }

    fn input(&mut self, shared: &mut Shared, (): &mut ()) -> (TransferInput, bool) {
        let valid = self.seam.tell(self.job.is_some());
        let (memory, _) = self.seam.reply(shared.now);
        let mut input = TransferInput { now: shared.now, memory, valid: valid.into(), ..Default::default() };
        if let Some(job) = &mut self.job {
            job.start.get_or_insert(shared.now);
            (input.address, input.stride) = (job.address, job.stride);
            (input.rows, input.row_bytes) = (shared.tiles.size, shared.tiles.row_bytes(job.tile));
        }
        (input, valid || memory.valid != 0)
    }

    fn carry_out(&mut self, output: &TransferOutput, shared: &mut Shared, (): &mut ()) -> Outcome {
        let mut sound = self.seam.request(self.unit(), self.direction, &output.request, shared);
        if output.moved != 0 {
            match self.job {
                Some(job) if output.row < shared.tiles.size => match self.direction {
                    Direction::Write => shared.store_row(job.tile, output.row, output.address),
                    Direction::Read => shared.load_row(job.tile, output.row, output.address),
                },
                _ => sound = false,
            }
        }
        if output.finished != 0 {
            sound &= self.job.is_some();
            self.finish(shared);
            self.seam.finish();
        }
        let handed = output.moved != 0 || output.finished != 0 || output.request.valid != 0;
        Outcome { sound, handed }
    }

    fn tick_own(&mut self, shared: &mut Shared, (): &mut ()) -> Activity {
        let unit = self.unit();
        let event = match self.direction {
            Direction::Read => Event::MemRead,
            Direction::Write => Event::MemWrite,
        };
        while let Some(job) = &mut self.job {
            job.start.get_or_insert(shared.now);
            let address = job.address.wrapping_add(job.row.wrapping_mul(job.stride));
            let done = match job.done {
                Some(done) => done,
                None => {
                    if self.direction == Direction::Write {
                        shared.store_row(job.tile, job.row, address);
                    }
                    let bytes = shared.tiles.row_bytes(job.tile);
                    *job.done.insert(shared.access(unit, self.direction, address, bytes))
                }
            };
            if shared.now < done {
                return Activity::until(event, done);
            }
            if self.direction == Direction::Read {
                shared.load_row(job.tile, job.row, address);
            }
            job.row += 1;
            job.done = None;
            if job.row == shared.tiles.size {
                self.finish(shared);
                return Activity::busy(event, shared.now);
            }
            // The next row's access begins in the tick in which this one's ends.
        }
        Activity::IDLE
    }
}

impl Tiles {
    /// Bytes of a row of a tile buffer in memory.
    pub fn row_bytes(&self, tile: u8) -> u32 {
        self.size * self.formats[usize::from(tile) % TILE_BUFFERS].bytes()
    }
}

impl Shared {
    /// Writes a row of a tile buffer to memory.
    pub fn store_row(&mut self, tile: u8, row: u32, address: u32) {
        let bytes = self.tiles.formats[usize::from(tile) % TILE_BUFFERS].bytes();
        for (n, &word) in (0..).zip(self.tiles.row(tile, row).iter()) {
            let at = address.wrapping_add(n * bytes);
            self.memory.put(at, &word.to_le_bytes()[..bytes as usize], &mut self.faults);
        }
    }

    /// Reads a row of a tile buffer from memory.
    pub fn load_row(&mut self, tile: u8, row: u32, address: u32) {
        let bytes = self.tiles.formats[usize::from(tile) % TILE_BUFFERS].bytes();
        for (n, word) in (0..).zip(self.tiles.row(tile, row)) {
            let at = address.wrapping_add(n * bytes);
            *word = match bytes {
                4 => u32::from_le_bytes(self.memory.read(at, &mut self.faults)),
                _ => u16::from_le_bytes(self.memory.read(at, &mut self.faults)).into(),
            };
        }
    }
}
