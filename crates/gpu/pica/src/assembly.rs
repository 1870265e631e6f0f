//! Primitive assembly: vertices to triangles (vectors/picagpu/FORMAT.md, section 4).

use crate::vertex::{Triangle, Vertex};

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
    topology: Topology,
    slots: [Vertex; 2],
    /// Where the next vertex goes; a list's triangle is complete where it would be 2.
    next: usize,
    /// Whether a strip or fan has both slots filled.
    ready: bool,
    /// Whether the next triangle of the geometry unit is reversed.
    reversed: bool,
}

impl Assembly {
    /// Empties the buffer and takes up another topology.
    pub fn configure(&mut self, topology: Topology) {
        self.topology = topology;
        self.restart();
    }

    /// Empties the buffer.
    pub fn restart(&mut self) {
        (self.next, self.ready, self.reversed) = (0, false, false);
    }

    /// Reverses the winding of the next triangle, if it is one of the geometry unit.
    pub fn reverse(&mut self) {
        self.reversed = true;
    }

    /// Takes a vertex; the triangle it completes.
    pub fn push(&mut self, vertex: &Vertex) -> Option<Triangle> {
        let [first, second] = self.slots;
        match self.topology {
            Topology::List | Topology::Geometry => {
                if self.next < 2 {
                    self.keep(vertex, self.next + 1);
                    return None;
                }
                self.next = 0;
                if self.topology == Topology::Geometry && std::mem::take(&mut self.reversed) {
                    return Some([second, first, *vertex]);
                }
                Some([first, second, *vertex])
            }
            Topology::Strip | Topology::Fan => {
                let triangle = self.ready.then_some([first, second, *vertex]);
                self.ready |= self.next == 1;
                self.keep(vertex, if self.topology == Topology::Fan { 1 } else { 1 - self.next.min(1) });
                triangle
            }
        }
    }

    fn keep(&mut self, vertex: &Vertex, next: usize) {
        if let Some(slot) = self.slots.get_mut(self.next) {
            *slot = *vertex;
        }
        self.next = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triangles(assembly: &mut Assembly, vertices: impl IntoIterator<Item = u8>) -> Vec<[u8; 3]> {
        let number = |v: Vertex| v.values[0] as u8;
        vertices
            .into_iter()
            .filter_map(|n| assembly.push(&Vertex { values: [n.into(); 24] }))
            .map(|t| t.map(number))
            .collect()
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
