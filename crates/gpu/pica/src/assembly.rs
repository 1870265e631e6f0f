//! Primitive assembly: vertices to triangles (vectors/picagpu/FORMAT.md, section 4).

use crate::vertex::Vertex;

/// How vertices become triangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Topology {
    /// Three at a time.
    #[default]
    List,
    /// Each vertex with the two before it.
    Strip,
    /// Each vertex with the one before it and the first.
    Fan,
    /// As a list; the geometry unit can reverse the winding.
    Geometry,
}

impl Topology {
    /// Of the field's value; only its two lowest bits count.
    pub fn of(field: u32) -> Topology {
        match field & 3 {
            0 => Topology::List,
            1 => Topology::Strip,
            2 => Topology::Fan,
            _ => Topology::Geometry,
        }
    }
}

/// The primitive buffer. What a draw leaves in it goes into the triangles of the next one.
#[derive(Clone, Debug, Default)]
pub struct Assembly {
    pub(crate) topology: Topology,
    pub(crate) slots: [Vertex; 2],
    /// Where the next vertex goes; a list's triangle is complete where it would be 2.
    pub(crate) next: usize,
    /// Whether a strip or fan has both slots filled.
    pub(crate) ready: bool,
    /// Whether the next triangle of the geometry unit is reversed.
    pub(crate) reversed: bool,
}

impl Assembly {
    /// Empties the buffer and switches to another topology.
    pub fn configure(&mut self, topology: Topology) {
        self.topology = topology;
        self.restart();
    }

    /// Empties the buffer.
    pub fn restart(&mut self) {
        (self.next, self.ready, self.reversed) = (0, false, false);
    }

    /// Reverses the winding of the next triangle of the geometry unit.
    pub fn reverse(&mut self) {
        self.reversed = true;
    }

    /// Takes vertices by number and hands out the triangles they complete. `kept` are the numbers of the vertices in the buffer; gives
    /// those of the ones that are in it then, which the caller puts there.
    #[must_use]
    pub fn push(
        &mut self,
        kept: [u32; 2],
        vertices: impl IntoIterator<Item = u32>,
        mut triangle: impl FnMut([u32; 3]),
    ) -> [u32; 2] {
        let [mut first, mut second] = kept;
        for vertex in vertices {
            match self.topology {
                Topology::List | Topology::Geometry => match self.next {
                    0 => (first, self.next) = (vertex, 1),
                    1 => (second, self.next) = (vertex, 2),
                    _ => {
                        self.next = 0;
                        if self.topology == Topology::Geometry && std::mem::take(&mut self.reversed) {
                            triangle([second, first, vertex]);
                        } else {
                            triangle([first, second, vertex]);
                        }
                    }
                },
                Topology::Strip | Topology::Fan => {
                    if self.ready {
                        triangle([first, second, vertex]);
                    }
                    self.ready |= self.next == 1;
                    if self.next == 0 {
                        (first, self.next) = (vertex, 1);
                    } else {
                        second = vertex;
                        self.next = if self.topology == Topology::Fan { 1 } else { 0 };
                    }
                }
            }
        }
        [first, second]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first value of a vertex is its number.
    fn triangles(assembly: &mut Assembly, vertices: impl IntoIterator<Item = u8>) -> Vec<[u8; 3]> {
        let kept = assembly.slots.map(|vertex| vertex.values[0] as u32);
        let mut triangles = Vec::new();
        let vertices = vertices.into_iter().map(u32::from);
        let kept = assembly.push(kept, vertices, |t| triangles.push(t.map(|number| number as u8)));
        assembly.slots = kept.map(|number| Vertex { values: [number as f32; 24] });
        triangles
    }

    fn of(topology: Topology) -> Assembly {
        let mut assembly = Assembly::default();
        assembly.configure(topology);
        assembly
    }

    #[test]
    fn topologies() {
        assert_eq!(triangles(&mut of(Topology::List), 0..7), [[0, 1, 2], [3, 4, 5]]);
        assert_eq!(triangles(&mut of(Topology::Strip), 0..6), [[0, 1, 2], [2, 1, 3], [2, 3, 4], [4, 3, 5]]);
        assert_eq!(triangles(&mut of(Topology::Fan), 0..5), [[0, 1, 2], [0, 2, 3], [0, 3, 4]]);
    }

    #[test]
    fn leftovers_go_on_in_the_next_draw_unless_emptied() {
        let mut list = of(Topology::List);
        assert!(triangles(&mut list, 0..2).is_empty());
        assert_eq!(triangles(&mut list, 2..3), [[0, 1, 2]]);
        let mut strip = of(Topology::Strip);
        assert_eq!(triangles(&mut strip, 0..3), [[0, 1, 2]]);
        assert_eq!(triangles(&mut strip, 3..4), [[2, 1, 3]]);
        strip.restart();
        assert!(triangles(&mut strip, 0..2).is_empty());
    }

    #[test]
    fn winding_is_reversed_once_and_only_for_the_geometry_unit() {
        let mut geometry = of(Topology::Geometry);
        geometry.reverse();
        assert_eq!(triangles(&mut geometry, 0..6), [[1, 0, 2], [3, 4, 5]]);
        let mut list = of(Topology::List);
        list.reverse();
        assert_eq!(triangles(&mut list, 0..3), [[0, 1, 2]]);
    }
}
