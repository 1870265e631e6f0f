//! What reaches the geometry unit: how shaded vertices become invocations in its three modes
//! (vectors/picagpu/FORMAT.md, section 4).

use crate::regs::*;
use crate::shader::{Feed, Kind, Row};

/// How vertices reach the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Outputs of consecutive vertices fill the input registers.
    Point,
    /// Each primitive says how many vertices it has; they go to the uniforms. Without an index array there are no
    /// counts, and each vertex is a primitive.
    Variable,
    /// A fixed number of vertices goes to the uniforms.
    Fixed,
}

/// The stage's configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// How vertices reach the unit.
    pub mode: Mode,
    /// Outputs of a vertex.
    outputs: usize,
    /// Point: attributes of an invocation.
    inputs: usize,
    /// Point: their registers.
    permutation: [usize; 16],
    /// Variable: vertices with all of their outputs.
    main: u32,
    /// Fixed: vertices of an invocation, attributes of each, and the first uniform.
    vertices: u32,
    attributes: usize,
    first: u32,
}

impl Config {
    /// What the registers say; nothing if the stage is off. Modes that there are not count as point mode.
    pub fn new(regs: &Registers) -> Option<Config> {
        (regs.bits(GEOMETRY_STAGE, 0, 2) == 2).then(|| Config {
            mode: match regs.bits(GEOMETRY_MODE, 0, 8) {
                1 => Mode::Variable,
                2 => Mode::Fixed,
                _ => Mode::Point,
            },
            outputs: regs.bits(VERTEX_OUTPUTS, 0, 4) as usize + 1,
            inputs: Kind::Geometry.inputs(regs),
            permutation: Kind::Geometry.permutation(regs),
            main: regs.bits(VARIABLE_MAIN, 0, 5) + 1,
            vertices: regs.bits(GEOMETRY_MODE, 8, 4) + 1,
            attributes: regs.bits(GEOMETRY_MODE, 12, 4) as usize + 1,
            first: regs.bits(GEOMETRY_MODE, 16, 8),
        })
    }
}

/// The first `count` of a vertex's outputs in the order of the output mask; zeros where the mask has fewer.
fn packed(mask: u16, outputs: Row, count: usize) -> impl Iterator<Item = [f32; 4]> {
    let outputs = (0..16).filter(move |n| mask >> n & 1 != 0).map(move |n| outputs.get(n));
    outputs.chain(std::iter::repeat([0.0; 4])).take(count)
}

/// Gathers vertices for the next invocation.
#[derive(Clone, Debug, Default)]
pub struct Collector {
    pub(crate) feed: Feed,
    /// Attributes (point) or vertices (otherwise) the invocation has so far.
    pub(crate) have: u32,
    /// Variable: vertices of the primitive; nothing if its count comes next.
    pub(crate) total: Option<u32>,
    /// Variable and fixed: the uniform the next attribute goes to.
    pub(crate) next: u32,
}

impl Collector {
    /// Forgets an invocation that was not completed, as a draw does when it begins.
    pub fn reset(&mut self) {
        *self = Collector::default();
    }

    /// Takes the count of a primitive's vertices. One of no vertices is an invocation at once.
    pub fn count(&mut self, count: u32) -> Option<Feed> {
        self.feed.uniforms.push((0, [count as f32; 4]));
        self.next = 1;
        if count == 0 {
            return self.complete();
        }
        self.total = Some(count);
        None
    }

    /// Takes a vertex's outputs, those in `mask`; the invocation it completes.
    pub fn vertex(&mut self, config: &Config, mask: u16, outputs: Row) -> Option<Feed> {
        match config.mode {
            Mode::Point => {
                // What exceeds the inputs of an invocation is dropped.
                for attribute in packed(mask, outputs, config.outputs) {
                    if let Some(&register) = config
                        .permutation
                        .get(self.have as usize)
                        .filter(|_| (self.have as usize) < config.inputs)
                    {
                        self.feed.inputs.push((register, attribute));
                    }
                    self.have += 1;
                }
                if (self.have as usize) < config.inputs {
                    return None;
                }
                self.complete()
            }
            Mode::Variable => {
                let attributes = if self.have < config.main { config.outputs } else { 1 };
                self.uniforms(packed(mask, outputs, attributes));
                self.have += 1;
                (Some(self.have) >= self.total).then(|| self.complete()).flatten()
            }
            Mode::Fixed => {
                if self.have == 0 {
                    self.next = config.first;
                }
                self.uniforms(packed(mask, outputs, config.attributes));
                self.have += 1;
                (self.have >= config.vertices).then(|| self.complete()).flatten()
            }
        }
    }

    fn uniforms(&mut self, attributes: impl Iterator<Item = [f32; 4]>) {
        for attribute in attributes {
            // There are no more than 96; a primitive of many vertices must not gather them all.
            if self.next < crate::shader::FLOAT_UNIFORMS {
                self.feed.uniforms.push((self.next, attribute));
            }
            self.next = self.next.saturating_add(1);
        }
    }

    fn complete(&mut self) -> Option<Feed> {
        Some(std::mem::take(self).feed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shader::Bank;

    fn bank(first: f32) -> Bank {
        std::array::from_fn(|i| [first + i as f32; 4])
    }

    fn config(mode: u32, set: impl FnOnce(&mut Registers)) -> Config {
        let mut regs = Registers::default();
        regs.set(GEOMETRY_STAGE, 2);
        regs.set(GEOMETRY_MODE, mode);
        regs.set(VERTEX_OUTPUTS, 1);
        set(&mut regs);
        Config::new(&regs).unwrap()
    }

    #[test]
    fn point_mode_appends_until_the_inputs_are_filled() {
        let config = config(0, |regs| {
            regs.set(GEOMETRY_INPUTS, 3);
            regs.set(GEOMETRY_PERMUTATION, 0x0123);
        });
        let mut collector = Collector::default();
        assert_eq!(collector.vertex(&config, 0b101, Row::whole(&bank(0.0))), None);
        let feed = collector.vertex(&config, 0b101, Row::whole(&bank(10.0))).unwrap();
        assert_eq!(feed.inputs, [(3, [0.0; 4]), (2, [2.0; 4]), (1, [10.0; 4]), (0, [12.0; 4])]);
        assert_eq!(collector.vertex(&config, 0b101, Row::whole(&bank(0.0))), None);
    }

    #[test]
    fn variable_mode_gives_all_outputs_of_main_vertices_only() {
        let config = config(1, |regs| regs.set(VARIABLE_MAIN, 0));
        let mut collector = Collector::default();
        assert_eq!(collector.count(2), None);
        assert_eq!(collector.vertex(&config, 3, Row::whole(&bank(5.0))), None);
        let feed = collector.vertex(&config, 3, Row::whole(&bank(7.0))).unwrap();
        assert_eq!(feed.uniforms, [(0, [2.0; 4]), (1, [5.0; 4]), (2, [6.0; 4]), (3, [7.0; 4])]);
        assert!(collector.count(0).is_some());
    }

    #[test]
    fn fixed_mode_starts_at_the_uniform_it_is_told() {
        let config = config(2 | 1 << 8 | 1 << 12 | 94 << 16, |_| ());
        let mut collector = Collector::default();
        assert_eq!(collector.vertex(&config, 3, Row::whole(&bank(0.0))), None);
        let feed = collector.vertex(&config, 3, Row::whole(&bank(4.0))).unwrap();
        assert_eq!(feed.uniforms, [(94, [0.0; 4]), (95, [1.0; 4])]);
    }
}
