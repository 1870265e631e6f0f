//! The command queue: packed words and ports to commands, fill levels and their flags.

use super::command::{self, Command};
use super::engine::GeometryEngine;
use super::pipeline::Pipeline;
use super::queue::{Packed, Queue};
use crate::state::{Io, StateError, Stated};
use thiserror::Error;

pub use super::queue::{FIFO_ENTRIES, PIPE_ENTRIES};

/// First port of a command: 0x04000400 + 4 times its number.
pub const PORTS: u32 = 0x0400_0400;

/// Cycles after a SWAP_BUFFERS's vertical blank in which RAM_COUNT stays as it was.
const RAM_COUNT_CYCLES: u64 = 10;

/// The queue has no room: on the console the processor stalls until the engine has taken a command.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("the geometry FIFO is full")]
pub struct Full;

/// When GXSTAT asks for an interrupt; its bits 30 and 31.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FifoInterrupt {
    /// Never.
    #[default]
    Never,
    /// Less than half full.
    HalfEmpty,
    /// Empty.
    Empty,
}

/// The command queue of a geometry engine, and what it is busy with.
#[derive(Clone, Debug, Default)]
pub struct CommandFifo {
    packed: Packed,
    queue: Queue,
    interrupt: FifoInterrupt,
    /// The command whose word is taken, or was taken last.
    command: u8,
    /// The word that is taken when the cycles have passed.
    word: Option<u32>,
    /// Cycles that the word, or the command itself, still takes. Those of SWAP_BUFFERS begin at the vertical blank.
    working: u64,
    /// The units as they are at the end of those cycles.
    pipeline: Pipeline,
}

impl CommandFifo {
    /// Writes a word to GXFIFO.
    ///
    /// # Errors
    /// [`Full`] if there is no room; the word was not taken.
    pub fn write(&mut self, word: u32) -> Result<(), Full> {
        self.check()?;
        let queue = &mut self.queue;
        self.packed.word(word, |entry| queue.push(entry));
        Ok(())
    }

    /// Writes a parameter to a command's own port.
    ///
    /// # Errors
    /// [`Full`] if there is no room; the word was not taken.
    pub fn write_port(&mut self, command: u8, param: u32) -> Result<(), Full> {
        self.check()?;
        self.queue.push((command, param));
        Ok(())
    }

    fn check(&self) -> Result<(), Full> {
        if self.queue.level() >= FIFO_ENTRIES { Err(Full) } else { Ok(()) }
    }

    /// Entries in the FIFO, 0 to 256, without those in the pipe; GXSTAT bits 16 to 24.
    pub fn level(&self) -> usize {
        self.queue.level().min(FIFO_ENTRIES)
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// GXSTAT bits 30 and 31.
    pub fn set_interrupt(&mut self, bits: u32) {
        self.interrupt = match bits & 3 {
            1 => FifoInterrupt::HalfEmpty,
            2 => FifoInterrupt::Empty,
            _ => FifoInterrupt::Never,
        };
    }

    /// Whether GXSTAT's condition for an interrupt holds.
    pub fn wants_interrupt(&self) -> bool {
        match self.interrupt {
            FifoInterrupt::Never => false,
            FifoInterrupt::HalfEmpty => self.level() < FIFO_ENTRIES / 2,
            FifoInterrupt::Empty => self.level() == 0,
        }
    }

    /// GXSTAT's bits of the queue in front of `engine`: \[0\] a test waits or is carried out, \[14\] a push or pop is,
    /// \[24:16\] level, \[25\] less than half full, \[26\] empty, \[27\] busy, \[31:30\] interrupt.
    ///
    /// Source: GBATEK, "DS 3D Status". What it leaves open is as in melonDS (`GPU3D.cpp`): bits 0 and 14 are set from the
    /// moment a command is queued until none of its kind is left, and bit 27 stays set while a unit works, while a
    /// SWAP_BUFFERS waits for the vertical blank and while it is carried out after it.
    pub fn status(&self, engine: &GeometryEngine) -> u32 {
        let level = self.level();
        let is_busy =
            !self.is_empty() || engine.is_swap_pending() || self.working > 0 || self.pipeline.is_busy();
        u32::from(self.has(engine, command::is_test))
            | u32::from(self.has(engine, command::is_push_or_pop)) << 14
            | (level as u32) << 16
            | u32::from(level < FIFO_ENTRIES / 2) << 25
            | u32::from(level == 0) << 26
            | u32::from(is_busy) << 27
            | (self.interrupt as u32) << 30
    }

    /// Whether a command of a kind is queued, carried out, or has given `engine` a part of its parameters.
    fn has(&self, engine: &GeometryEngine, is_of_kind: fn(u8) -> bool) -> bool {
        engine.collecting().is_some_and(is_of_kind)
            || self.working > 0 && is_of_kind(self.command)
            || self.queue.has(is_of_kind)
    }

    /// Whether RAM_COUNT still has the polygons and vertices of the frame before: for 10 cycles after the vertical blank of a
    /// SWAP_BUFFERS (GBATEK, "DS 3D Status").
    pub fn counts_frame_before(&self) -> bool {
        self.command == Command::SwapBuffers as u8
            && self.word.is_none()
            && self.working + RAM_COUNT_CYCLES > u64::from(command::info(self.command).cycles)
    }

    /// Lets `engine` work for some cycles of 33 MHz, unless nothing waits or a SWAP_BUFFERS does. The cycles spent.
    pub fn run(&mut self, engine: &mut GeometryEngine, cycles: u64) -> u64 {
        let mut left = cycles;
        while left > 0 && !engine.is_swap_pending() {
            if self.working == 0 && !self.take(engine) {
                break;
            }
            let now = self.working.min(left);
            self.working -= now;
            left -= now;
            if self.working == 0
                && let Some(param) = self.word.take()
            {
                self.working = self.execute(engine, param);
            }
        }
        self.pipeline.pass(left);
        cycles - left
    }

    /// Begins to take the next entry, for whose command units may have to be waited for. Whether there is one.
    fn take(&mut self, engine: &GeometryEngine) -> bool {
        let Some((number, param)) = self.queue.pop() else { return false };
        self.command = number;
        self.word = Some(param);
        self.working = match command::info(number).command {
            Some(command) if engine.collecting() != Some(number) => self.pipeline.wait(command) + 1,
            _ => 1,
        };
        self.pipeline.pass(1);
        true
    }

    /// Lets the engine take a word. Cycles of the command after its last one.
    fn execute(&mut self, engine: &mut GeometryEngine, param: u32) -> u64 {
        match engine.accept(self.command, param) {
            Some(command) => self.pipeline.execute(command, engine.circumstances()),
            None => 0,
        }
    }

    /// Runs what waits, with no regard to time, until nothing does or a SWAP_BUFFERS waits.
    fn drain(&mut self, engine: &mut GeometryEngine) {
        self.run(engine, u64::MAX);
        self.working = 0;
        self.pipeline = Pipeline::default();
    }

    /// Writes words to GXFIFO and runs them at once, with no regard to time, until a SWAP_BUFFERS waits. How many words
    /// were taken.
    pub fn feed(&mut self, engine: &mut GeometryEngine, words: &[u32]) -> usize {
        for (taken, &word) in words.iter().enumerate() {
            self.drain(engine);
            if engine.is_swap_pending() {
                return taken;
            }
            let queue = &mut self.queue;
            self.packed.word(word, |(command, param)| {
                if engine.is_swap_pending() {
                    queue.push((command, param));
                } else {
                    engine.accept(command, param);
                }
            });
        }
        words.len()
    }
}

impl Stated for CommandFifo {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        let CommandFifo { packed, queue, interrupt, command, word, working, pipeline } = self;
        packed.state(io)?;
        queue.state(io)?;
        io.number(
            interrupt,
            |&interrupt| interrupt as u32,
            |bits| match bits {
                1 => FifoInterrupt::HalfEmpty,
                2 => FifoInterrupt::Empty,
                _ => FifoInterrupt::Never,
            },
        )?;
        command.state(io)?;
        word.state(io)?;
        working.state(io)?;
        if *working > u64::from(u16::MAX) || *working == 0 && word.is_some() {
            return io.contents("cycles of a command");
        }
        pipeline.state(io)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_and_flags() {
        let mut fifo = CommandFifo::default();
        let mut engine = GeometryEngine::default();
        assert_eq!(fifo.status(&engine), 1 << 25 | 1 << 26);
        (0..FIFO_ENTRIES + PIPE_ENTRIES).for_each(|_| fifo.write_port(0x20, 0).unwrap());
        assert_eq!(fifo.write(0x41), Err(Full));
        assert_eq!(fifo.status(&engine), 256 << 16 | 1 << 27);
        assert_eq!(fifo.run(&mut engine, 140), 140);
        assert_eq!(fifo.status(&engine), 116 << 16 | 1 << 25 | 1 << 27);
    }

    #[test]
    fn a_swap_stops_the_queue_until_the_blank() {
        let mut fifo = CommandFifo::default();
        let mut engine = GeometryEngine::default();
        assert_eq!(fifo.feed(&mut engine, &[0x50, 1, 0x50, 2]), 2);
        assert!(engine.is_swap_pending());
        assert!(engine.vblank());
        assert_eq!(fifo.feed(&mut engine, &[0x50, 2]), 2);
        assert!(engine.swap_buffers().manual_sort());
    }
}
