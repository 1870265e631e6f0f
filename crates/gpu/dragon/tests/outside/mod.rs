//! Models of every unit, from outside: they know what the seam tells, and nothing else of the machine.

mod draw;
mod memory;
mod vpu;

pub use draw::*;
pub use memory::*;
pub use vpu::*;

use std::collections::VecDeque;
use xenoglot_dragon::Event;
use xenoglot_dragon::command::{Command, Write, sig};
use xenoglot_dragon::cosim::*;

pub const NEVER: u64 = u64::MAX;

fn request(address: u32, bytes: u32) -> Request {
    Request { valid: 1, address, bytes, reserved: 0 }
}

/// The command processor.
#[derive(Default)]
pub struct CommandModel {
    waits: Option<u32>,
}

impl Model<CommandInput, CommandOutput> for CommandModel {
    fn reset(&mut self, _: &Config) {
        self.waits = None;
    }

    fn tick(&mut self, input: &CommandInput) -> CommandOutput {
        let mut out = CommandOutput { until: NEVER, ..Default::default() };
        if let Some(mask) = self.waits {
            out.event = Event::GPUWait as u32;
            if input.signals & mask == mask {
                (self.waits, out.clear) = (None, mask);
            }
        } else if input.depth > 0 {
            let write = Write { register: input.reg as u8, value: input.value };
            let command = Command::decode(write);
            let needed = match command {
                Ok(Command::ExecVpuProgramLoad { .. }) => busy::PROGRAM_LOAD,
                Ok(Command::ExecDrawTriangles { .. }) => busy::DRAW,
                Ok(Command::ExecFillTileBuffer { .. }) => busy::FILL,
                Ok(Command::ExecVpuTileStore { .. }) => busy::STORE,
                Ok(Command::ExecVpuTileLoad { .. }) => busy::LOAD,
                Ok(Command::ExecWriteVpuGlobal { .. }) => busy::WRITE_GLOBAL,
                _ => 0,
            };
            if input.busy & needed != 0 {
                out.event = Event::UnitBusy as u32;
            } else {
                (out.event, out.take) = (Event::GPUProcessCommand as u32, 1);
                match command {
                    Ok(Command::SigWait(mask)) => self.waits = Some(mask & sig::ALL),
                    _ => (out.write, out.reg, out.value) = (1, input.reg, input.value),
                }
            }
        }
        (out.waits, out.mask) = (self.waits.is_some().into(), self.waits.unwrap_or(0));
        out
    }
}

/// The program loader: 256 words in one access.
pub struct LoaderModel;

impl Model<ProgramLoadInput, ProgramLoadOutput> for LoaderModel {
    fn reset(&mut self, _: &Config) {}

    fn tick(&mut self, input: &ProgramLoadInput) -> ProgramLoadOutput {
        let mut out = ProgramLoadOutput { until: NEVER, ..Default::default() };
        if input.valid != 0 {
            out.request = request(input.address, 1024);
            out.event = Event::MemRead as u32;
        } else if input.memory.valid != 0 {
            (out.event, out.finished) = (Event::Tick as u32, 1);
        } else if input.memory.done != 0 {
            (out.event, out.until) = (Event::MemRead as u32, input.memory.done);
        }
        out
    }
}

/// The unit that writes globals, in the tick after it is told to.
pub struct GlobalModel;

impl Model<WriteGlobalInput, WriteGlobalOutput> for GlobalModel {
    fn reset(&mut self, _: &Config) {}

    fn tick(&mut self, input: &WriteGlobalInput) -> WriteGlobalOutput {
        WriteGlobalOutput {
            until: NEVER,
            event: if input.valid != 0 { Event::Tick } else { Event::GenericIdle } as u32,
            finished: input.valid,
            global: input.global,
            value: input.value,
            ..Default::default()
        }
    }
}

/// The tile buffer fill, which writes part of the pixels each tick, so that the last ones are there in time.
#[derive(Default)]
pub struct FillModel {
    per_tick: u32,
    filled: Option<u32>,
}

impl Model<FillInput, FillOutput> for FillModel {
    fn reset(&mut self, config: &Config) {
        (self.per_tick, self.filled) = (config.fill_pixels, None);
    }

    fn tick(&mut self, input: &FillInput) -> FillOutput {
        let mut out = FillOutput { until: NEVER, ..Default::default() };
        if input.valid != 0 {
            self.filled = Some(0);
        }
        let Some(filled) = self.filled else { return out };
        (out.event, out.first) = (Event::Tick as u32, filled);
        out.count = self.per_tick.min(input.pixels - filled);
        self.filled = Some(filled + out.count);
        if out.count == 0 || filled + out.count == input.pixels {
            (self.filled, out.finished) = (None, 1);
        }
        out
    }

    fn save(&self) -> Option<Vec<u8>> {
        let filled = self.filled.map_or(-1, i64::from);
        Some([filled.to_le_bytes().as_slice(), &self.per_tick.to_le_bytes()].concat())
    }

    fn load(&mut self, state: &[u8]) -> bool {
        let (filled, per_tick) = state.split_at(8);
        self.filled = u32::try_from(i64::from_le_bytes(filled.try_into().unwrap())).ok();
        self.per_tick = u32::from_le_bytes(per_tick.try_into().unwrap());
        true
    }
}

/// The tile buffer store or load, an access a row.
pub struct TransferModel {
    stores: bool,
    row: Option<u32>,
}

impl TransferModel {
    pub fn new(stores: bool) -> TransferModel {
        TransferModel { stores, row: None }
    }
}

impl Model<TransferInput, TransferOutput> for TransferModel {
    fn reset(&mut self, _: &Config) {}

    fn tick(&mut self, input: &TransferInput) -> TransferOutput {
        let mut out = TransferOutput { until: NEVER, ..Default::default() };
        let address = |row: u32| input.address.wrapping_add(row.wrapping_mul(input.stride));
        let event = if self.stores { Event::MemWrite } else { Event::MemRead };
        let next = match (input.valid, input.memory.valid, self.row) {
            (1, ..) => 0,
            (_, 1, Some(row)) => {
                if !self.stores {
                    (out.moved, out.row, out.address) = (1, row, address(row));
                }
                row + 1
            }
            (_, _, Some(_)) => {
                (out.event, out.until) = (event as u32, input.memory.done);
                return out;
            }
            _ => return out,
        };
        out.event = event as u32;
        self.row = (next < input.rows).then_some(next);
        if self.row.is_none() {
            out.finished = 1;
            return out;
        }
        out.request = request(address(next), input.row_bytes);
        if self.stores {
            (out.moved, out.row, out.address) = (1, next, address(next));
        }
        out
    }
}

/// The texture unit: one sample at a time, a direct mapped cache of lines.
#[derive(Default)]
pub struct TextureModel {
    tags: Vec<Option<u32>>,
    samples: VecDeque<Sample>,
    /// Lines of the first sample that are there.
    fetched: usize,
}

impl Model<TextureInput, TextureOutput> for TextureModel {
    fn reset(&mut self, config: &Config) {
        self.tags = vec![None; config.texture_cache as usize];
    }

    fn tick(&mut self, input: &TextureInput) -> TextureOutput {
        let mut out = TextureOutput { until: NEVER, ..Default::default() };
        if input.flush != 0 {
            self.tags.fill(None);
        }
        self.samples.extend(&input.samples[..input.count as usize]);
        let Some(sample) = self.samples.front() else { return out };
        if input.memory.valid != 0 {
            self.fetched += 1;
        } else if input.memory.done != 0 {
            (out.event, out.until) = (Event::MemRead as u32, input.memory.done);
            return out;
        }
        let count = self.tags.len();
        for &line in &sample.lines[self.fetched..sample.count as usize] {
            let tag = &mut self.tags[line as usize % count];
            if *tag != Some(line) {
                *tag = Some(line);
                (out.misses, out.request) = (1, request(line * 32, 32));
                out.event = Event::MemRead as u32;
                return out;
            }
            out.hits += 1;
            self.fetched += 1;
        }
        self.samples.pop_front();
        self.fetched = 0;
        (out.event, out.finished, out.until) = (Event::Tick as u32, 1, 0);
        out
    }
}
