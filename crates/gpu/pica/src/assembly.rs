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

    /// Takes vertices and hands out the triangles they complete.
    pub fn push<'v>(
        &mut self,
        vertices: impl IntoIterator<Item = &'v Vertex>,
        mut triangle: impl FnMut([&Vertex; 3]),
    ) {
        // Vertices stay where they are until there are no more.
        let kept = self.slots;
        let [mut first, mut second] = [&kept[0], &kept[1]];
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
        self.slots = [*first, *second];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triangles(assembly: &mut Assembly, vertices: impl IntoIterator<Item = u8>) -> Vec<[u8; 3]> {
        let number = |v: &Vertex| v.values[0] as u8;
        let vertices: Vec<_> = vertices.into_iter().map(|n| Vertex { values: [n.into(); 24] }).collect();
        let mut triangles = Vec::new();
        assembly.push(&vertices, |t| triangles.push(t.map(number)));
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
