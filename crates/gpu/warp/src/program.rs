//! The pixel rules as a program of the IR whose states are data: one for all primitives.
//!
//! Buffers, words each: 0 [`frame_words`], 1 bitmaps of tiles, 2 [`primitive_words`] of each primitive, 3
//! [`state_words`] of each state, 4 the guest's memory, 5 colours, 6 depths, 7 the number of the memory's units less one.

use crate::draw::Draw;
use crate::primitive::Primitive;
use crate::rules::{
    self, ATTRIBUTE_WORDS, Attributes, STATE_WORDS, StateValues, Values, attribute_words, loaded_key,
};
use xenoglot_ir::module::Access;
use xenoglot_ir::{Module, Resource, Value};
use xenoglot_raster::Edges;
use xenoglot_raster::edges::covers;
use xenoglot_raster::ops::{Emit, Ops};
use xenoglot_raster::tile_program::{load_edges, tile_program};

pub use crate::rules::state_words;
pub use xenoglot_raster::tile_program::frame_words;

/// Words of a primitive: its edges, the number of its state behind them, its attributes.
pub const PRIMITIVE_WORDS: usize = Edges::WORDS + ATTRIBUTE_WORDS;
/// Where a primitive's state is named.
const STATE: u32 = 14;

/// Words of a primitive with the edges it has in the frame and the number of its state.
pub fn primitive_words(primitive: &Primitive, edges: &Edges, state: u16) -> [u32; PRIMITIVE_WORDS] {
    let mut words = [0; PRIMITIVE_WORDS];
    let (head, tail) = words.split_at_mut(Edges::WORDS);
    head.copy_from_slice(&edges.words());
    head[STATE as usize] = state.into();
    tail.copy_from_slice(&attribute_words(primitive));
    words
}

/// Words of a draw's primitives from one on, as many as there are edges.
pub fn batch_words(draw: &Draw<'_>, edges: &[Edges], first: usize) -> Vec<u32> {
    let batch = draw.iter().skip(first).zip(edges);
    batch.flat_map(|((primitive, state, _), edges)| primitive_words(primitive, edges, state)).collect()
}

struct Buffers {
    primitives: Resource,
    states: Resource,
    colors: Resource,
    depths: Resource,
}

/// The program for tiles of `tile` pixels a side.
pub fn uber(tile: u32) -> Module {
    tile_program(
        "warp",
        tile,
        |o| {
            let primitives = o.storage("primitives", 2, Access::Read);
            let states = o.storage("states", 3, Access::Read);
            let memory = o.storage("memory", 4, Access::Read);
            let colors = o.storage("colors", 5, Access::ReadWrite);
            let depths = o.storage("depths", 6, Access::ReadWrite);
            let sizes = o.storage("sizes", 7, Access::Read);
            let zero = o.int(0);
            let last = o.word(sizes, zero);
            o.set_memory(memory, last);
            Buffers { primitives, states, colors, depths }
        },
        |o, buffers, pixel| [buffers.colors, buffers.depths].map(|buffer| o.word(buffer, pixel.index)),
        |o, buffers, pixel, number, stored| {
            let base = o.times(number, PRIMITIVE_WORDS as i32);
            let edges = load_edges(o, buffers.primitives, base);
            let covered = covers(o, &edges, pixel.place[0], pixel.place[1]);
            o.when(covered, stored, |o| {
                let primitive = load(o, buffers, base);
                let covered = o.bool(true);
                rules::pixel(o, &primitive, pixel.place, covered, stored)
            })
        },
        |o, buffers, pixel, [color, depth]| {
            o.set_word(buffers.colors, pixel.index, color);
            o.set_word(buffers.depths, pixel.index, depth);
        },
    )
}

/// A primitive and its state.
fn load<'f>(o: &mut Emit<'f>, buffers: &Buffers, base: Value) -> Values<Emit<'f>> {
    let state = o.word_at(buffers.primitives, base, STATE);
    let attributes = o.add_to(base, Edges::WORDS as i32);
    let attributes = Attributes::load(o, |o, i| o.word_at(buffers.primitives, attributes, i as u32));
    let base = o.times(state, STATE_WORDS as i32);
    let word = |o: &mut Emit<'f>, i: usize| o.word_at(buffers.states, base, i as u32);
    Values { key: loaded_key(o, word), state: StateValues::load(o, word), attributes }
}
