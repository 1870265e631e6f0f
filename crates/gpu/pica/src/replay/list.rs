//! Register writes to the words of a command list.

/// Most parameters of an entry: the first and 255 more.
const PARAMETERS: usize = 256;
/// Header: extra parameters go to the following registers.
const CONSECUTIVE: u32 = 1 << 31;

/// A command list being written: the inverse of [`crate::command::List`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandList {
    words: Vec<u32>,
}

impl CommandList {
    /// A list that does nothing.
    pub fn new() -> CommandList {
        CommandList::default()
    }

    /// Writes a register.
    pub fn write(&mut self, register: u32, value: u32) -> &mut Self {
        self.write_bytes(register, value, 0xf)
    }

    /// Writes the bytes of a register whose bits are in `mask`, 4 bits.
    pub fn write_bytes(&mut self, register: u32, value: u32, mask: u8) -> &mut Self {
        self.entry(register, u32::from(mask & 0xf) << 16, &[value])
    }

    /// Writes a register and those that follow it.
    pub fn write_all(&mut self, register: u32, values: &[u32]) -> &mut Self {
        for (chunk, first) in values.chunks(PARAMETERS).zip((register..).step_by(PARAMETERS)) {
            self.entry(first, CONSECUTIVE | 0xf << 16, chunk);
        }
        self
    }

    /// Writes one register again and again, as data ports want it.
    pub fn stream(&mut self, register: u32, values: &[u32]) -> &mut Self {
        for chunk in values.chunks(PARAMETERS) {
            self.entry(register, 0xf << 16, chunk);
        }
        self
    }

    /// One entry with 1 to [`PARAMETERS`] parameters.
    fn entry(&mut self, register: u32, flags: u32, values: &[u32]) -> &mut Self {
        let Some((first, extra)) = values.split_first() else { return self };
        self.words.extend([*first, register & 0xffff | flags | (extra.len() as u32) << 20]);
        self.words.extend(extra);
        self.words.resize(self.words.len().next_multiple_of(2), 0);
        self
    }

    /// Writes what another list writes.
    pub fn append(&mut self, other: &CommandList) -> &mut Self {
        self.words.extend(&other.words);
        self
    }

    /// The words so far, an even number.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// The list as it lies in memory.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.words.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{List, Write};
    use crate::memory::{FCRAM, Regions};

    fn writes(list: &CommandList) -> Vec<Write> {
        let bytes = list.to_bytes();
        let mut memory = Regions::new();
        let mut list = List::new(FCRAM, bytes.len() as u32);
        memory.add(FCRAM, bytes);
        std::iter::from_fn(|| list.next(&memory).unwrap()).collect()
    }

    #[test]
    fn the_command_processor_reads_what_is_written() {
        let many: Vec<u32> = (0..600).collect();
        let mut list = CommandList::new();
        list.write(0x10, 7)
            .write_bytes(0x20, 8, 5)
            .write_all(0x40, &many)
            .stream(0x2cc, &many)
            .stream(0x1, &[]);
        let mut more = CommandList::new();
        list.append(more.write(0x30, 9));
        let mut expected = vec![Write::new(0x10, 7, 15), Write::new(0x20, 8, 5)];
        expected.extend(many.iter().map(|&n| Write::new(0x40 + n, n, 15)));
        expected.extend(many.iter().map(|&n| Write::new(0x2cc, n, 15)));
        expected.push(Write::new(0x30, 9, 15));
        assert_eq!(writes(&list), expected);
    }
}
