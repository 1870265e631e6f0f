//! The reference engine: primitive after primitive, row after row, pixel after pixel, without tiles.

use crate::draw::Draw;
use crate::frame::{Frame, Memory};
use crate::rules::{self, Values, attribute_words, state_words};
use xenoglot_raster::ops::{Ops, Scalar};

/// Draws primitives.
pub fn draw(frame: &mut Frame, memory: &Memory, draw: &Draw<'_>) {
    let mut o = Scalar::new(memory.units());
    for (primitive, _, state) in draw.iter() {
        let edges = primitive.edges(state, frame.size());
        let values = Values::constants(&mut o, &attribute_words(primitive), &state_words(state));
        let [first, last] = edges.rows();
        for y in first..=last {
            let [left, right] = edges.span(y);
            for x in left..=right {
                let stored = frame.pixel(x as u32, y as u32);
                let covered = o.bool(true);
                let words = rules::pixel(&mut o, &values, [x, y], covered, stored.map(i32::from));
                frame.set_pixel(x as u32, y as u32, words.map(|word| word as u16));
            }
        }
    }
}
