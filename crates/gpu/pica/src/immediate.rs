//! Fixed attributes and immediate mode: attributes through a data port.

use crate::regs::*;
use crate::shader::{Bank, Kind, unpack24};

/// The fixed attribute number that stands for immediate mode.
const IMMEDIATE: u32 = 15;

/// What the port has been given.
#[derive(Clone, Debug, Default)]
pub struct Immediate {
    /// Words of the attribute that is under way, and how many there are: less than three between writes.
    pub(crate) words: [u32; 3],
    pub(crate) len: usize,
    /// Values of the fixed attributes.
    pub fixed: Bank,
    /// The vertex that is under way, and how many attributes it has.
    pub(crate) vertex: Bank,
    pub(crate) attributes: usize,
    /// Input registers of complete vertices that were not drawn yet.
    pub pending: Vec<Bank>,
}

impl Immediate {
    /// Another attribute number was set: what was begun is forgotten.
    pub fn select(&mut self) {
        (self.len, self.attributes) = (0, 0);
    }

    /// Takes a word of data.
    pub fn push(&mut self, regs: &mut Registers, word: u32) {
        if let Some(place) = self.words.get_mut(self.len) {
            *place = word;
        }
        self.len += 1;
        if self.len < self.words.len() {
            return;
        }
        self.len = 0;
        let value = unpack24(self.words).map(f32::from_bits);
        if regs.bits(FIXED_ATTRIBUTE, 0, 4) != IMMEDIATE {
            let number = regs.advance(FIXED_ATTRIBUTE, 4);
            if let Some(fixed) = self.fixed.get_mut(number as usize) {
                *fixed = value;
            }
            return;
        }
        if let Some(attribute) = self.vertex.get_mut(self.attributes) {
            *attribute = value;
        }
        self.attributes += 1;
        if self.attributes > regs.bits(IMMEDIATE_COUNT, 0, 4) as usize {
            self.attributes = 0;
            let mut inputs = Bank::default();
            let registers = Kind::Vertex.permutation(regs);
            for (register, value) in registers.into_iter().zip(self.vertex).take(Kind::Vertex.inputs(regs)) {
                if let Some(input) = inputs.get_mut(register) {
                    *input = value;
                }
            }
            self.pending.push(inputs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1.0, 0, 0, 0 and 2.0, 0, 0, 0.
    const ONE: [u32; 3] = [0, 0, 0x3f_0000];
    const TWO: [u32; 3] = [0, 0, 0x40_0000];

    #[test]
    fn fixed_attributes_advance_by_themselves() {
        let (mut regs, mut immediate) = (Registers::default(), Immediate::default());
        regs.set(FIXED_ATTRIBUTE, 3);
        for word in ONE.into_iter().chain(TWO) {
            immediate.push(&mut regs, word);
        }
        assert_eq!([immediate.fixed[3][0], immediate.fixed[4][0]], [1.0, 2.0]);
        assert_eq!(regs.get(FIXED_ATTRIBUTE), 5);
    }

    #[test]
    fn immediate_vertices_are_complete_with_their_last_attribute() {
        let (mut regs, mut immediate) = (Registers::default(), Immediate::default());
        regs.set(FIXED_ATTRIBUTE, IMMEDIATE);
        regs.set(IMMEDIATE_COUNT, 1);
        regs.set(VERTEX_INPUTS, 1);
        regs.set(VERTEX_PERMUTATION, 0x04);
        ONE.into_iter().for_each(|word| immediate.push(&mut regs, word));
        assert!(immediate.pending.is_empty());
        TWO.into_iter().for_each(|word| immediate.push(&mut regs, word));
        assert_eq!([immediate.pending[0][4][0], immediate.pending[0][0][0]], [1.0, 2.0]);
    }
}
