//! The command queue: packed words and ports to commands, fill levels and their flags.

use super::command;
use super::engine::GeometryEngine;
use crate::state::{Io, StateError, Stated, stated};
use std::collections::VecDeque;
use thiserror::Error;

/// Entries of the FIFO; the pipe behind it holds four more.
pub const FIFO_ENTRIES: usize = 256;
/// Entries of the pipe.
pub const PIPE_ENTRIES: usize = 4;

/// First port of a command: 0x04000400 + 4 times its number.
pub const PORTS: u32 = 0x0400_0400;

/// The queue has no room: on the console the processor stalls until the engine has taken a command.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("the geometry FIFO is full")]
pub struct Full;

/// Bytes of a packed command word that are still to be given parameters.
#[derive(Clone, Copy, Debug, Default)]
struct Packed {
    commands: u32,
    params_left: u8,
}

impl Packed {
    /// Takes a word and emits what it completes: a parameter of the current command, then commands without parameters.
    #[inline]
    fn word(&mut self, word: u32, mut entry: impl FnMut(u8, u32)) {
        if self.params_left == 0 {
            self.commands = word;
        } else {
            entry(self.commands as u8, word);
            self.params_left -= 1;
            if self.params_left > 0 {
                return;
            }
            self.commands >>= 8;
        }
        while self.commands != 0 {
            let command = self.commands as u8;
            self.params_left = command::info(command).params;
            if self.params_left > 0 {
                return;
            }
            if command != 0 {
                entry(command, 0);
            }
            self.commands >>= 8;
        }
    }
}

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

/// The command queue of a geometry engine.
#[derive(Clone, Debug)]
pub struct CommandFifo {
    packed: Packed,
    entries: VecDeque<(u8, u32)>,
    interrupt: FifoInterrupt,
    /// Cycles that a SWAP_BUFFERS still takes, once its vertical blank has come.
    swapping: u64,
}

impl Default for CommandFifo {
    fn default() -> CommandFifo {
        CommandFifo {
            packed: Packed::default(),
            // A word brings at most a parameter and three commands without any.
            entries: VecDeque::with_capacity(FIFO_ENTRIES + 2 * PIPE_ENTRIES),
            interrupt: FifoInterrupt::Never,
            swapping: 0,
        }
    }
}

impl CommandFifo {
    /// Writes a word to GXFIFO.
    ///
    /// # Errors
    /// [`Full`] if there is no room; the word was not taken.
    pub fn write(&mut self, word: u32) -> Result<(), Full> {
        self.check()?;
        let entries = &mut self.entries;
        self.packed.word(word, |command, param| entries.push_back((command, param)));
        Ok(())
    }

    /// Writes a parameter to a command's own port.
    ///
    /// # Errors
    /// [`Full`] if there is no room; the word was not taken.
    pub fn write_port(&mut self, command: u8, param: u32) -> Result<(), Full> {
        self.check()?;
        self.entries.push_back((command, param));
        Ok(())
    }

    fn check(&self) -> Result<(), Full> {
        if self.entries.len() >= FIFO_ENTRIES + PIPE_ENTRIES { Err(Full) } else { Ok(()) }
    }

    /// Entries in the FIFO, 0 to 256, without those in the pipe; GXSTAT bits 16 to 24.
    pub fn level(&self) -> usize {
        self.entries.len().saturating_sub(PIPE_ENTRIES).min(FIFO_ENTRIES)
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
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

    /// GXSTAT's bits of the queue in front of `engine`: \[0\] a test waits, \[14\] a push or pop waits, \[24:16\] level,
    /// \[25\] less than half full, \[26\] empty, \[27\] busy, \[31:30\] interrupt.
    ///
    /// Source: GBATEK, "DS 3D Status". What it leaves open is as in melonDS (`GPU3D.cpp`): bits 0 and 14 are set from the
    /// moment a command is queued until none of its kind is left, and bit 27 stays set while a SWAP_BUFFERS waits for the
    /// vertical blank and is carried out after it.
    pub fn status(&self, engine: &GeometryEngine) -> u32 {
        let level = self.level();
        let is_busy = !self.is_empty() || engine.is_swap_pending() || self.swapping > 0;
        u32::from(self.has(engine, command::is_test))
            | u32::from(self.has(engine, command::is_push_or_pop)) << 14
            | (level as u32) << 16
            | u32::from(level < FIFO_ENTRIES / 2) << 25
            | u32::from(level == 0) << 26
            | u32::from(is_busy) << 27
            | (self.interrupt as u32) << 30
    }

    /// Whether a command of a kind is queued, or has given `engine` a part of its parameters.
    fn has(&self, engine: &GeometryEngine, is_of_kind: fn(u8) -> bool) -> bool {
        engine.collecting().is_some_and(is_of_kind)
            || self.entries.iter().any(|&(command, _)| is_of_kind(command))
    }

    /// Runs what waits until about `cycles` of 33 MHz are spent, nothing waits, or a SWAP_BUFFERS does. The cycles spent.
    pub fn run(&mut self, engine: &mut GeometryEngine, cycles: u64) -> u64 {
        let mut spent = 0;
        while spent < cycles && !engine.is_swap_pending() {
            if self.swapping > 0 {
                let now = self.swapping.min(cycles - spent);
                self.swapping -= now;
                spent += now;
                continue;
            }
            let Some((command, param)) = self.entries.pop_front() else { break };
            engine.accept(command, param);
            // A command is charged with its first word; later ones take the cycle of the FIFO.
            let cost =
                if engine.is_collecting() { 1 } else { u64::from(command::info(command).cycles).max(1) };
            if engine.is_swap_pending() {
                // Its buffers are swapped at the vertical blank: the time that takes begins there.
                self.swapping = cost;
                spent += 1;
            } else {
                spent += cost;
            }
        }
        spent
    }

    /// Runs what waits, with no regard to time, until nothing does or a SWAP_BUFFERS waits.
    fn drain(&mut self, engine: &mut GeometryEngine) {
        self.run(engine, u64::MAX);
        self.swapping = 0;
    }

    /// Writes words to GXFIFO and runs them at once, with no regard to time, until a SWAP_BUFFERS waits. How many words
    /// were taken.
    pub fn feed(&mut self, engine: &mut GeometryEngine, words: &[u32]) -> usize {
        for (taken, &word) in words.iter().enumerate() {
            self.drain(engine);
            if engine.is_swap_pending() {
                return taken;
            }
            let entries = &mut self.entries;
            self.packed.word(word, |command, param| {
                if engine.is_swap_pending() {
                    entries.push_back((command, param));
                } else {
                    engine.accept(command, param);
                }
            });
        }
        words.len()
    }
}

stated!(Packed { commands, params_left });

impl Stated for CommandFifo {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        let CommandFifo { packed, entries, interrupt, swapping } = self;
        packed.state(io)?;
        let wanted = command::info(packed.commands as u8).params;
        if packed.params_left > wanted {
            return io.contents("parameters of a packed command");
        }
        let mut list: Vec<(u8, u32)> = std::mem::take(entries).into();
        io.list(&mut list, FIFO_ENTRIES + 2 * PIPE_ENTRIES)?;
        entries.extend(list);
        io.number(
            interrupt,
            |&interrupt| interrupt as u32,
            |bits| match bits {
                1 => FifoInterrupt::HalfEmpty,
                2 => FifoInterrupt::Empty,
                _ => FifoInterrupt::Never,
            },
        )?;
        swapping.state(io)?;
        if *swapping > u64::from(u16::MAX) {
            return io.contents("cycles of SWAP_BUFFERS");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(words: &[u32]) -> Vec<(u8, u32)> {
        let mut packed = Packed::default();
        let mut out = Vec::new();
        words.iter().for_each(|&word| packed.word(word, |command, param| out.push((command, param))));
        out
    }

    #[test]
    fn packed_words() {
        assert_eq!(entries(&[0x0010_1511, 2, 0x20, 7]), [(0x11, 0), (0x15, 0), (0x10, 2), (0x20, 7)]);
        assert_eq!(entries(&[0x2320, 7, 1, 2, 0x41]), [(0x20, 7), (0x23, 1), (0x23, 2), (0x41, 0)]);
        assert_eq!(entries(&[0, 0, 0x41]), [(0x41, 0)]);
    }

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
