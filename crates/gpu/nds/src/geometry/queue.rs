//! Entries of the command queue: 256 in the FIFO, four in the pipe in front of the engine.

use super::command;
use crate::state::{Io, StateError, Stated};
use std::collections::VecDeque;

/// Entries of the FIFO; the pipe behind it holds four more.
pub const FIFO_ENTRIES: usize = 256;
/// Entries of the pipe.
pub const PIPE_ENTRIES: usize = 4;
/// Most entries: a word that the last free place is for brings at most a parameter and three commands without any.
const MOST: usize = FIFO_ENTRIES + 2 * PIPE_ENTRIES;

/// A command's number and a parameter, zero for commands without any.
pub type Entry = (u8, u32);

/// The entries, first those in the pipe.
#[derive(Clone, Debug)]
pub struct Queue {
    entries: VecDeque<Entry>,
    piped: usize,
}

impl Default for Queue {
    fn default() -> Queue {
        Queue { entries: VecDeque::with_capacity(MOST), piped: 0 }
    }
}

impl Queue {
    /// Adds an entry: to the pipe, if the FIFO is empty and the pipe has room.
    #[inline]
    pub fn push(&mut self, entry: Entry) {
        if self.level() == 0 && self.piped < PIPE_ENTRIES {
            self.piped += 1;
        }
        self.entries.push_back(entry);
    }

    /// Takes the next entry. The pipe takes two from the FIFO when it holds fewer than three (GBATEK, "DS 3D Geometry Commands").
    #[inline]
    pub fn pop(&mut self) -> Option<Entry> {
        let entry = self.entries.pop_front()?;
        self.piped -= 1;
        if self.piped < 3 {
            self.piped = (self.piped + 2).min(self.entries.len());
        }
        Some(entry)
    }

    /// Entries in the FIFO. There are at most three more than it has places, of the word that filled it.
    pub fn level(&self) -> usize {
        self.entries.len() - self.piped
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether an entry is of a kind of commands.
    pub fn has(&self, is_of_kind: fn(u8) -> bool) -> bool {
        self.entries.iter().any(|&(command, _)| is_of_kind(command))
    }
}

impl Stated for Queue {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        let Queue { entries, piped } = self;
        let mut list: Vec<Entry> = std::mem::take(entries).into();
        io.list(&mut list, MOST)?;
        piped.state(io)?;
        if *piped > list.len().min(PIPE_ENTRIES) || *piped == 0 && !list.is_empty() {
            return io.contents("entries of the geometry engine's pipe");
        }
        entries.extend(list);
        Ok(())
    }
}

/// Bytes of a packed command word that are still to be given parameters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packed {
    commands: u32,
    params_left: u8,
}

impl Packed {
    /// Takes a word and emits what it completes: a parameter of the current command, then commands without parameters.
    #[inline]
    pub fn word(&mut self, word: u32, mut entry: impl FnMut(Entry)) {
        if self.params_left == 0 {
            self.commands = word;
        } else {
            entry((self.commands as u8, word));
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
                entry((command, 0));
            }
            self.commands >>= 8;
        }
    }
}

impl Stated for Packed {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        let Packed { commands, params_left } = self;
        commands.state(io)?;
        params_left.state(io)?;
        if *params_left > command::info(*commands as u8).params {
            return io.contents("parameters of a packed command");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(words: &[u32]) -> Vec<Entry> {
        let mut packed = Packed::default();
        let mut out = Vec::new();
        words.iter().for_each(|&word| packed.word(word, |entry| out.push(entry)));
        out
    }

    #[test]
    fn packed_words() {
        assert_eq!(entries(&[0x0010_1511, 2, 0x20, 7]), [(0x11, 0), (0x15, 0), (0x10, 2), (0x20, 7)]);
        assert_eq!(entries(&[0x2320, 7, 1, 2, 0x41]), [(0x20, 7), (0x23, 1), (0x23, 2), (0x41, 0)]);
        assert_eq!(entries(&[0, 0, 0x41]), [(0x41, 0)]);
    }

    #[test]
    fn the_pipe_takes_two_entries_when_it_holds_fewer_than_three() {
        let mut queue = Queue::default();
        (0..10).for_each(|i| queue.push((0x20, i)));
        let mut levels = vec![queue.level()];
        while queue.pop().is_some() {
            levels.push(queue.level());
        }
        assert_eq!(levels, [6, 6, 4, 4, 2, 2, 0, 0, 0, 0, 0]);
    }
}
