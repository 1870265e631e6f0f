//! Thread records as the kernel's buffers have them, and the executor on one.

use super::LiftOptions;
use super::layout::*;
use crate::exec::{Step, Surroundings, Thread, step};
use crate::number::{LANES, Lanes};
use crate::program::Program;
use crate::{REGISTERS, TILE_BUFFERS};

/// A thread before or after its run.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Record {
    /// r0 to r15.
    pub registers: [Lanes; REGISTERS],
    /// The pixels of the tile buffers at the thread's location.
    pub tiles: [u32; TILE_BUFFERS],
    /// How it ended: a constant of [`layout`](super::layout), 0 before.
    pub ended: u32,
}

impl Record {
    /// The [`THREAD_STRIDE`] bytes of the record.
    pub fn to_bytes(&self) -> Vec<u8> {
        let registers = self.registers.iter().flatten();
        let rest = self.tiles.into_iter().chain([self.ended, 0, 0, 0]);
        registers.copied().chain(rest).flat_map(u32::to_le_bytes).collect()
    }

    /// Reads a record; bytes that are missing are zero.
    pub fn from_bytes(bytes: &[u8]) -> Record {
        let word = |at: u32| {
            let at = at as usize;
            bytes.get(at..at + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        };
        let lane =
            |register: usize, lane: usize| word(THREAD_REGISTERS + 4 * (register * LANES + lane) as u32);
        Record {
            registers: std::array::from_fn(|r| std::array::from_fn(|l| lane(r, l))),
            tiles: std::array::from_fn(|n| word(THREAD_TILES + 4 * n as u32)),
            ended: word(THREAD_END),
        }
    }
}

/// The globals' bytes for the kernel's uniform buffer.
pub fn global_bytes(globals: &[Lanes; REGISTERS]) -> Vec<u8> {
    globals.iter().flatten().flat_map(|w| w.to_le_bytes()).collect()
}

struct Alone<'a> {
    options: &'a LiftOptions,
    globals: &'a [Lanes; REGISTERS],
    memory: &'a [u32],
    tiles: [u32; TILE_BUFFERS],
}

impl Surroundings for Alone<'_> {
    fn global(&self, n: u8) -> Lanes {
        self.globals[usize::from(n) % REGISTERS]
    }

    fn load_tile(&mut self, n: u8) -> Lanes {
        let n = usize::from(n) % TILE_BUFFERS;
        self.options.formats[n].unpack(self.options.number, self.tiles[n])
    }

    fn store_tile(&mut self, n: u8, v: &Lanes) {
        let n = usize::from(n) % TILE_BUFFERS;
        self.tiles[n] = self.options.formats[n].pack(self.options.number, v);
    }

    fn sample(&mut self, n: u8, uv: &Lanes) -> Lanes {
        let texture = self.options.textures[usize::from(n) % self.options.textures.len()];
        let mut word = |at: u32| self.memory.get(at as usize / 4).copied().unwrap_or(0);
        texture.sample(self.options.number, uv, &mut word)
    }
}

/// Runs one thread alone, without a machine around it, for at most `steps` instructions. `None` if it needs more.
pub fn run(
    program: &Program,
    options: &LiftOptions,
    globals: &[Lanes; REGISTERS],
    memory: &[u32],
    start: &Record,
    steps: u64,
) -> Option<Record> {
    let mut around = Alone { options, globals, memory, tiles: start.tiles };
    let mut thread = Thread { registers: start.registers, pc: 0 };
    for _ in 0..steps {
        let ended = match step(&mut thread, program, options.number, &mut around) {
            Step::Next(_) => continue,
            Step::Exit => ENDED_BY_EXIT,
            Step::Kill => ENDED_BY_KILL,
            Step::Undefined => ENDED_UNDEFINED,
        };
        return Some(Record { registers: thread.registers, tiles: around.tiles, ended });
    }
    None
}
