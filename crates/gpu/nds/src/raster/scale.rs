//! Resolutions above the console's.

use super::buffers::{HEIGHT, WIDTH};
use crate::geometry::vertex::Vertex;

/// How many pixels a pixel of the console is wide and high, 1 to 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale(u8);

impl Scale {
    /// The console's resolution.
    pub const ONE: Scale = Scale(1);
    /// The largest.
    pub const MAX: Scale = Scale(16);

    /// `None` if it is not 1 to 16.
    pub fn new(times: u32) -> Option<Scale> {
        let times = u8::try_from(times).ok()?;
        (Scale::ONE.0..=Scale::MAX.0).contains(&times).then_some(Scale(times))
    }

    /// The factor.
    pub fn get(self) -> u32 {
        self.0.into()
    }

    /// Columns and rows of a frame.
    pub fn size(self) -> [usize; 2] {
        [WIDTH, HEIGHT].map(|pixels| pixels * usize::from(self.0))
    }

    /// Column and row of a vertex: that of the console and what it leaves out.
    pub(crate) fn place(self, vertex: &Vertex) -> [i32; 2] {
        let times = i32::from(self.0);
        let place =
            |i: usize| i32::from(vertex.screen[i]) * times + ((i32::from(vertex.fraction[i]) * times) >> 4);
        [place(0), place(1)]
    }
}

impl Default for Scale {
    fn default() -> Scale {
        Scale::ONE
    }
}
