//! The pixel rules as programs of the IR.
//!
//! [`uber`] is one program for all primitives, whose states are data. Buffers, words each: 0 [`frame_words`], 1 bitmaps of
//! tiles, 2 [`primitive_words`] of each primitive, 3 [`state_words`] of each state, 4 the guest's memory, 5 colours, 6
//! depths, 7 the number of the memory's units less one.
//!
//! [`shading`] and [`output`] are the two halves for the split architecture. Buffers of a shading program, behind those of
//! [`shade_program`]: 4 primitives, 5 states, 6 the guest's memory, 7 the number of its units less one. Of the
//! output program, behind those of [`output_program`]: 4 primitives, 5 states, 6 colours, 7 depths.

use crate::draw::Draw;
use crate::primitive::Primitive;
use crate::rules::{
    self, ATTRIBUTE_WORDS, Attributes, STATE_WORDS, StateValues, Values, Variant, attribute_words, loaded_key,
};
use xenoglot_ir::module::Access;
use xenoglot_ir::{Module, Resource, Value};
use xenoglot_raster::Edges;
use xenoglot_raster::edges::covers;
use xenoglot_raster::ops::{Emit, Ops};
use xenoglot_raster::shade_program::shade_program;
use xenoglot_raster::tile_program::{Pixel, load_edges, output_program, tile_program};

pub use crate::rules::state_words;
pub use xenoglot_raster::tile_program::frame_words;

/// Words of a primitive: its edges, the number of its state behind them, its attributes.
pub const PRIMITIVE_WORDS: usize = Edges::WORDS + ATTRIBUTE_WORDS;
/// Where a primitive's state is named.
const STATE: u32 = 14;

/// Words of a primitive with the edges it has in the frame, the number of its state, and that of its variant.
pub fn primitive_words(
    primitive: &Primitive,
    edges: &Edges,
    state: u16,
    variant: u32,
) -> [u32; PRIMITIVE_WORDS] {
    let mut words = [0; PRIMITIVE_WORDS];
    let (head, tail) = words.split_at_mut(Edges::WORDS);
    head.copy_from_slice(&edges.words());
    (head[STATE as usize], head[Edges::VARIANT]) = (state.into(), variant);
    tail.copy_from_slice(&attribute_words(primitive));
    words
}

/// Words of a draw's primitives from one on, as many as there are edges. `variant_of` has the number of each state's variant;
/// it is 0 where there is none.
pub fn batch_words(draw: &Draw<'_>, edges: &[Edges], first: usize, variant_of: &[u32]) -> Vec<u32> {
    let batch = draw.iter().skip(first).zip(edges);
    let words = batch.flat_map(|((primitive, state, _), edges)| {
        let variant = variant_of.get(usize::from(state)).copied().unwrap_or(0);
        primitive_words(primitive, edges, state, variant)
    });
    words.collect()
}

/// The primitives and states of a draw.
#[derive(Clone, Copy)]
struct Records {
    primitives: Resource,
    states: Resource,
}

/// Colours and depths.
#[derive(Clone, Copy)]
struct Frame {
    colors: Resource,
    depths: Resource,
}

impl Records {
    fn new(o: &mut Emit<'_>, first: u32) -> Records {
        let primitives = o.storage("primitives", first, Access::Read);
        Records { primitives, states: o.storage("states", first + 1, Access::Read) }
    }

    /// Whether a primitive covers a pixel.
    fn cover(self, o: &mut Emit<'_>, number: Value, pixel: &Pixel) -> Value {
        let base = o.times(number, PRIMITIVE_WORDS as i32);
        let edges = load_edges(o, self.primitives, base);
        covers(o, &edges, pixel.place[0], pixel.place[1])
    }

    /// A primitive and its state.
    fn load<'f>(self, o: &mut Emit<'f>, number: Value) -> Values<Emit<'f>> {
        let base = o.times(number, PRIMITIVE_WORDS as i32);
        let state = o.word_at(self.primitives, base, STATE);
        let attributes = o.add_to(base, Edges::WORDS as i32);
        let attributes = Attributes::load(o, |o, i| o.word_at(self.primitives, attributes, i as u32));
        let base = o.times(state, STATE_WORDS as i32);
        let word = |o: &mut Emit<'f>, i: usize| o.word_at(self.states, base, i as u32);
        Values { key: loaded_key(o, word), state: StateValues::load(o, word), attributes }
    }
}

impl Frame {
    fn new(o: &mut Emit<'_>, first: u32) -> Frame {
        let colors = o.storage("colors", first, Access::ReadWrite);
        Frame { colors, depths: o.storage("depths", first + 1, Access::ReadWrite) }
    }

    fn load(self, o: &mut Emit<'_>, pixel: &Pixel) -> [Value; 2] {
        [self.colors, self.depths].map(|buffer| o.word(buffer, pixel.index))
    }

    fn store(self, o: &mut Emit<'_>, pixel: &Pixel, words: [Value; 2]) {
        for (buffer, word) in [self.colors, self.depths].into_iter().zip(words) {
            o.set_word(buffer, pixel.index, word);
        }
    }
}

/// Brings the guest's memory and the number of its units less one into a program.
fn guest(o: &mut Emit<'_>, memory: u32, sizes: u32) {
    let memory = o.storage("memory", memory, Access::Read);
    let sizes = o.storage("sizes", sizes, Access::Read);
    let zero = o.int(0);
    let last = o.word(sizes, zero);
    o.set_memory(memory, last);
}

/// The program of all primitives, for tiles of `tile` pixels a side.
pub fn uber(tile: u32) -> Module {
    tile_program(
        "warp",
        tile,
        |o| {
            let records = Records::new(o, 2);
            guest(o, 4, 7);
            (records, Frame::new(o, 5))
        },
        |o, (_, frame), pixel| frame.load(o, pixel),
        |o, (records, _), pixel, number, stored| {
            let covered = records.cover(o, number, pixel);
            o.when(covered, stored, |o| {
                let primitive = records.load(o, number);
                let covered = o.bool(true);
                rules::pixel(o, &primitive, pixel.place, covered, stored)
            })
        },
        |o, (_, frame), pixel, words| frame.store(o, pixel, words),
    )
}

/// The program that shades primitives of a variant, for tiles of `tile` pixels a side.
pub fn shading(tile: u32, variant: Variant) -> Module {
    shade_program(
        "warp-shading",
        tile,
        |o| {
            let records = Records::new(o, 4);
            guest(o, 6, 7);
            records
        },
        |o, records, pixel, number| {
            let covered = records.cover(o, number, pixel);
            let zero = o.int(0);
            o.when(covered, [zero; 2], |o| {
                let values = records.load(o, number);
                let values = Values { key: variant.key(values.key), ..values };
                let covered = o.bool(true);
                rules::shade(o, &values, pixel.place, covered)
            })
        },
    )
}

/// The program that stores what was shaded, for tiles of `tile` pixels a side.
pub fn output(tile: u32) -> Module {
    output_program(
        "warp-output",
        tile,
        |o| (Records::new(o, 4), Frame::new(o, 6)),
        |o, (_, frame), pixel| frame.load(o, pixel),
        |o, (records, _), pixel, (number, shaded), stored| {
            // Both words are 0 where the primitive covers nothing: its state need not be loaded.
            let zero = o.int(0);
            let nothing = o.equal(shaded[1], zero);
            let something = o.not(nothing);
            o.when(something, stored, |o| {
                let values = records.load(o, number);
                rules::output(o, &values, pixel.place, shaded, stored)
            })
        },
        |o, (_, frame), pixel, words| frame.store(o, pixel, words),
    )
}
