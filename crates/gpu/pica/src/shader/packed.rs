//! Registers of many vertices on their way into and out of a program.

use xenoglot_pica_shader::lift::layout::packed_place;

/// Some vector registers of each of many vertices: vertex after vertex, of each the registers of a set, lowest first.
/// Programs read and write few of their sixteen inputs and outputs; the others are neither moved nor cleared.
#[derive(Clone, Debug, Default)]
pub struct Packed {
    set: u16,
    vertices: usize,
    /// At least as many as there are; those behind keep their allocation.
    values: Vec<[f32; 4]>,
}

impl Packed {
    /// Makes room for the registers of `set` of so many vertices. They hold anything then.
    pub fn reset(&mut self, set: u16, vertices: usize) {
        (self.set, self.vertices) = (set, vertices);
        let len = vertices * self.registers();
        if self.values.len() < len {
            self.values.resize(len, [0.0; 4]);
        }
    }

    /// The registers, bit n for register n.
    pub fn set(&self) -> u16 {
        self.set
    }

    /// Registers of a vertex.
    pub fn registers(&self) -> usize {
        self.set.count_ones() as usize
    }

    /// How many vertices.
    pub fn vertices(&self) -> usize {
        self.vertices
    }

    /// All registers of all vertices.
    pub fn values(&self) -> &[[f32; 4]] {
        self.values.get(..self.vertices * self.registers()).unwrap_or_default()
    }

    /// As [`Packed::values`].
    pub fn values_mut(&mut self) -> &mut [[f32; 4]] {
        let len = self.vertices * self.registers();
        self.values.get_mut(..len).unwrap_or_default()
    }

    /// The registers of a vertex.
    pub fn vertex(&self, number: usize) -> Row<'_> {
        let first = number.saturating_mul(self.registers());
        let values = self.values().get(first..).and_then(|rest| rest.get(..self.registers()));
        Row { set: self.set, values: values.unwrap_or_default() }
    }

    /// Where a register is in each vertex, from 0; nothing if it is not in the set.
    pub fn place(&self, register: usize) -> Option<usize> {
        place(self.set, register)
    }
}

/// Position of `register` in `set`, from 0.
pub(crate) fn place(set: u16, register: usize) -> Option<usize> {
    let register = u8::try_from(register).ok().filter(|&n| n < 16 && set >> n & 1 == 1)?;
    Some(packed_place(set, register) as usize / 16)
}

/// The registers of one vertex.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    set: u16,
    /// Those of the set, lowest first.
    pub values: &'a [[f32; 4]],
}

impl<'a> Row<'a> {
    /// All sixteen registers.
    pub fn whole(bank: &'a super::Bank) -> Row<'a> {
        Row { set: u16::MAX, values: bank }
    }

    /// A register; zero if it is not in the set.
    pub fn get(&self, register: usize) -> [f32; 4] {
        place(self.set, register).and_then(|at| self.values.get(at)).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_lie_side_by_side_and_others_are_zero() {
        let mut packed = Packed::default();
        packed.reset(1 << 2 | 1 << 15, 3);
        for (value, n) in packed.values_mut().iter_mut().zip(0u8..) {
            *value = [n.into(); 4];
        }
        assert_eq!(
            (packed.place(2), packed.place(3), packed.place(15), packed.place(16)),
            (Some(0), None, Some(1), None)
        );
        let row = packed.vertex(1);
        assert_eq!([2, 15, 3].map(|n| row.get(n)[0]), [2.0, 3.0, 0.0]);
        assert_eq!(packed.vertex(3).get(2), [0.0; 4]);
        packed.reset(1, 1);
        assert_eq!((packed.values().len(), packed.vertices()), (1, 1));
    }

    #[test]
    fn an_empty_set_has_vertices_all_the_same() {
        let mut packed = Packed::default();
        packed.reset(0, 7);
        assert_eq!((packed.vertices(), packed.values().len(), packed.registers()), (7, 0, 0));
    }
}
