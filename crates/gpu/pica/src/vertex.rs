//! A shaded vertex as it reaches the clipper, and how shader outputs become one.

use crate::regs::*;
use crate::shader::{Row, place};

/// Values in the order of the output map's semantics: 0–3 position, 4–7 quaternion, 8–11 colour, 12/13 tex0, 14/15
/// tex1, 16 tex0.w, 17 unused, 18–20 view, 21 unused, 22/23 tex2.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
pub struct Vertex {
    /// By semantic.
    pub values: [f32; 24],
}

/// Three vertices after primitive assembly, before clipping, culling and the quaternion's sign.
pub type Triangle = [Vertex; 3];

/// Triangles whose vertices may be shared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mesh<'a> {
    vertices: &'a [Vertex],
    /// By number; nothing if no vertex is shared.
    corners: Option<&'a [[u32; 3]]>,
}

impl<'a> From<&'a [Triangle]> for Mesh<'a> {
    fn from(triangles: &'a [Triangle]) -> Mesh<'a> {
        Mesh { vertices: triangles.as_flattened(), corners: None }
    }
}

impl<'a> Mesh<'a> {
    /// Triangles by the numbers of their vertices. One with a number that there is not is left out.
    pub fn new(vertices: &'a [Vertex], corners: &'a [[u32; 3]]) -> Mesh<'a> {
        Mesh { vertices, corners: Some(corners) }
    }

    /// How many triangles.
    pub fn len(&self) -> usize {
        self.corners.map_or(self.vertices.len() / 3, <[[u32; 3]]>::len)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The vertices, some of which may be in no triangle.
    pub fn vertices(&self) -> &'a [Vertex] {
        self.vertices
    }

    /// Triangles by the numbers of their vertices.
    pub fn corners(&self) -> impl Iterator<Item = [u32; 3]> + use<'a> {
        let corners = self.corners;
        (0..self.len()).filter_map(move |n| match corners {
            Some(corners) => corners.get(n).copied(),
            None => Some([0, 1, 2].map(|vertex| 3 * n as u32 + vertex)),
        })
    }

    /// The vertices of these numbers.
    pub fn triangle(&self, [a, b, c]: [u32; 3]) -> Option<[&'a Vertex; 3]> {
        let vertex = |number: u32| self.vertices.get(number as usize);
        Some([vertex(a)?, vertex(b)?, vertex(c)?])
    }

    /// The triangles.
    pub fn iter(&self) -> impl Iterator<Item = [&'a Vertex; 3]> + use<'a> {
        let mesh = *self;
        self.corners().filter_map(move |numbers| mesh.triangle(numbers))
    }
}

/// Semantics that mean something; the vertex's other values are 0.
const SEMANTICS: u32 = 0xff_ffff & !(1 << 17 | 1 << 21);
/// What is no semantic.
const NONE: u8 = 31;
/// Semantics of the colour.
const COLOR: std::ops::Range<usize> = 8..12;

/// Where the components of a register go.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Move {
    /// To four semantics in a row, as most do; the first one.
    Row(u8),
    /// To these semantics, or [`NONE`].
    Each([u8; 4]),
}

/// The semantics of the outputs, in the order of the output mask.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputMap {
    /// A vertex of an output map that names nothing.
    plain: Vertex,
    /// By register that is given.
    moves: Vec<Move>,
    mask: u16,
}

impl OutputMap {
    /// Of the registers 04F to 056, for outputs that leave a shader unit through `mask` and are given as those of `set`:
    /// the others are zero.
    pub fn new(regs: &Registers, mask: u16, set: u16) -> OutputMap {
        let mut sources = [None; 24];
        let entries = regs.bits(OUTPUT_COUNT, 0, 3);
        // The packed order's outputs by register number.
        let outputs = (0..16u8).filter(|n| mask >> n & 1 != 0);
        for (entry, register) in (0..entries).zip(outputs) {
            for component in 0..4u8 {
                let semantic = regs.bits(OUTPUT_MAP + entry, u32::from(component) * 8, 5);
                if SEMANTICS >> semantic & 1 != 0
                    && let Some(source) = sources.get_mut(semantic as usize)
                {
                    *source = Some((register, component));
                }
            }
        }
        let mut plain = Vertex::default();
        let mut semantics = vec![[NONE; 4]; set.count_ones() as usize];
        for ((semantic, source), value) in (0..24u8).zip(sources).zip(&mut plain.values) {
            let Some((register, component)) = source else {
                *value = if SEMANTICS >> semantic & 1 != 0 { 1.0 } else { 0.0 };
                continue;
            };
            let register = place(set, register.into()).and_then(|at| semantics.get_mut(at));
            if let Some(place) = register.and_then(|r| r.get_mut(usize::from(component))) {
                *place = semantic;
            }
        }
        let moves = semantics.into_iter().map(|semantics| match semantics {
            [a, b, c, d] if a != NONE && [b, c, d] == [a + 1, a + 2, a + 3] => Move::Row(a),
            _ => Move::Each(semantics),
        });
        OutputMap { plain, moves: moves.collect(), mask }
    }

    /// Outputs that leave the shader unit.
    pub fn mask(&self) -> u16 {
        self.mask
    }

    /// The vertex of registers of the map's set. What the map does not name is 1; colours lose their sign and stay below 1.
    pub fn vertex(&self, outputs: Row) -> Vertex {
        let mut vertex = Vertex::default();
        self.set(outputs, &mut vertex);
        vertex
    }

    /// As [`OutputMap::vertex`], in place.
    #[inline]
    pub fn set(&self, outputs: Row, vertex: &mut Vertex) {
        *vertex = self.plain;
        let values = &mut vertex.values;
        for (register, to) in outputs.values.iter().zip(&self.moves) {
            match to {
                Move::Row(first) => {
                    let row = values.get_mut(usize::from(*first)..).and_then(<[f32]>::first_chunk_mut);
                    row.into_iter().for_each(|row| *row = *register);
                }
                Move::Each(semantics) => {
                    for (value, &semantic) in register.iter().zip(semantics) {
                        let place = values.get_mut(usize::from(semantic));
                        place.into_iter().for_each(|place| *place = *value);
                    }
                }
            }
        }
        for value in values.get_mut(COLOR).into_iter().flatten() {
            // A NaN becomes 1.
            *value = value.abs().min(1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shader::Packed;

    fn map(regs: &Registers, mask: u16) -> OutputMap {
        OutputMap::new(regs, mask, u16::MAX)
    }

    #[test]
    fn outputs_that_were_not_written_are_zero() {
        let mut regs = Registers::default();
        regs.set(OUTPUT_COUNT, 2);
        regs.set(OUTPUT_MAP, 0x1f1f_1f00);
        regs.set(OUTPUT_MAP + 1, 0x1f1f_1f08);
        let mut packed = Packed::default();
        packed.reset(1 << 5, 1);
        packed.values_mut()[0] = [0.25; 4];
        let vertex = OutputMap::new(&regs, 1 << 2 | 1 << 5, 1 << 5).vertex(packed.vertex(0));
        assert_eq!((vertex.values[0], vertex.values[8], vertex.values[9]), (0.0, 0.25, 1.0));
    }

    #[test]
    fn outputs_in_the_mask_are_mapped_in_order_and_the_rest_is_one() {
        let mut regs = Registers::default();
        regs.set(OUTPUT_COUNT, 2);
        regs.set(OUTPUT_MAP, 0x0302_0100);
        regs.set(OUTPUT_MAP + 1, 0x1f1f_0908);
        let mut outputs = [[0.0; 4]; 16];
        outputs[2] = [5.0, 6.0, 7.0, 8.0];
        outputs[9] = [-0.5, f32::NAN, 3.0, 3.0];
        let vertex = map(&regs, 1 << 2 | 1 << 9).vertex(Row::whole(&outputs));
        assert_eq!(vertex.values[..4], [5.0, 6.0, 7.0, 8.0]);
        assert_eq!(vertex.values[8..12], [0.5, 1.0, 1.0, 1.0]);
        assert_eq!((vertex.values[4], vertex.values[17], vertex.values[21]), (1.0, 0.0, 0.0));
    }

    #[test]
    fn a_later_entry_wins_and_entries_without_an_output_do_nothing() {
        let mut regs = Registers::default();
        regs.set(OUTPUT_COUNT, 7);
        regs.set(OUTPUT_MAP, 0x1f1f_1f00);
        regs.set(OUTPUT_MAP + 1, 0x1f1f_1f00);
        regs.set(OUTPUT_MAP + 2, 0x1f1f_1f00);
        let mut outputs = [[0.0; 4]; 16];
        (outputs[0][0], outputs[1][0]) = (2.0, 3.0);
        assert_eq!(map(&regs, 3).vertex(Row::whole(&outputs)).values[0], 3.0);
    }
}
