//! The pixel rules as a program of the IR whose states are data: one for all primitives.
//!
//! Buffers, words each: 0 [`frame_words`], 1 bitmaps of tiles, 2 [`primitive_words`] of each primitive, 3
//! [`state_words`] of each state, 4 the guest's memory, 5 colours, 6 depths, 7 the number of the memory's units less one.

use crate::draw::Draw;
use crate::primitive::Primitive;
use crate::rules::{self, Attributes, Key, Setting, StateValues};
use crate::state::{LEVELS, RenderState};
use xenoglot_ir::module::Access;
use xenoglot_ir::{Module, Resource, Value};
use xenoglot_raster::Edges;
use xenoglot_raster::edges::covers;
use xenoglot_raster::ops::{Emit, Ops};
use xenoglot_raster::tile_program::{load_edges, tile_program};

pub use xenoglot_raster::tile_program::frame_words;

/// Words of a primitive.
pub const PRIMITIVE_WORDS: usize = 40;
/// Words of a state.
pub const STATE_WORDS: usize = 20;
/// Where a primitive's state is named.
const STATE: u32 = 14;
/// Where a primitive's attributes begin.
const ATTRIBUTES: u32 = Edges::WORDS as u32;

/// Words of a primitive with the edges it has in the frame and the number of its state.
pub fn primitive_words(primitive: &Primitive, edges: &Edges, state: u16) -> [u32; PRIMITIVE_WORDS] {
    let mut words = [0; PRIMITIVE_WORDS];
    let (head, tail) = words.split_at_mut(Edges::WORDS);
    head.copy_from_slice(&edges.words());
    head[STATE as usize] = state.into();
    let origin = [primitive.x[0] >> 16, primitive.y[0].into()].map(|v| v as u32);
    let floats = [primitive.u, primitive.v, primitive.w, primitive.z];
    let floats = floats.into_iter().flatten().chain(primitive.dx).chain(primitive.dy);
    let floats = floats.chain(primitive.offset.map(f32::from)).map(f32::to_bits);
    let colors = primitive.color.map(u32::from_le_bytes);
    for (word, value) in tail.iter_mut().zip(origin.into_iter().chain(floats).chain(colors)) {
        *word = value;
    }
    words
}

/// Words of a state.
pub fn state_words(state: &RenderState) -> [u32; STATE_WORDS] {
    let mut words = [0; STATE_WORDS];
    let modes = [state.depth, state.blend, state.combiner, state.alpha_threshold];
    let texture = [state.format, state.last_level(), 0, 0];
    let head = [state.constant, modes, texture].map(u32::from_le_bytes);
    let signed = state.clamp.into_iter().chain(state.mask.map(|mask| mask as i16)).chain([state.width]);
    let all = head.into_iter().chain(signed.map(|v| i32::from(v) as u32)).chain(state.levels);
    for (word, value) in words.iter_mut().zip(all) {
        *word = value;
    }
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
fn load<'f>(o: &mut Emit<'f>, buffers: &Buffers, base: Value) -> rules::Primitive<Emit<'f>> {
    let state = o.word_at(buffers.primitives, base, STATE);
    let mut at = ATTRIBUTES;
    let mut word = |o: &mut Emit<'f>| {
        at += 1;
        o.word_at(buffers.primitives, base, at - 1)
    };
    let origin = [word(o), word(o)];
    let mut float = |o: &mut Emit<'f>| {
        let bits = word(o);
        o.float_of_bits(bits)
    };
    let [u, v, w, z] = [0; 4].map(|_| [0; 3].map(|_| float(o)));
    let [dx, dy, offset] = [0; 3].map(|_| [0; 2].map(|_| float(o)));
    let colors = [0; 3].map(|_| word(o));
    let color = [0, 8, 16, 24].map(|shift| {
        colors.map(|color| {
            let channel = byte(o, color, shift);
            o.to_float(channel)
        })
    });
    let attributes = Attributes { origin, u, v, w, color, z, dx, dy, offset };
    let base = o.times(state, STATE_WORDS as i32);
    let mut at = 0;
    let mut word = || {
        at += 1;
        o.word_at(buffers.states, base, at - 1)
    };
    let (constant, modes, texture) = (word(), word(), word());
    let clamp = [0; 4].map(|_| word());
    let mask = [0; 2].map(|_| word());
    let width = word();
    let levels = [0; LEVELS].map(|_| word());
    let loaded = |o: &mut Emit<'f>, word, shift| Setting::Loaded(byte(o, word, shift));
    let key = Key {
        depth: loaded(o, modes, 0),
        blend: loaded(o, modes, 8),
        combiner: loaded(o, modes, 16),
        threshold: loaded(o, modes, 24),
        format: loaded(o, texture, 0),
        last_level: loaded(o, texture, 8),
    };
    let constant = [0, 8, 16, 24].map(|shift| byte(o, constant, shift));
    let state = StateValues { constant, clamp, mask, width, levels };
    rules::Primitive { key, state, attributes }
}

fn byte(o: &mut Emit<'_>, word: Value, shift: u32) -> Value {
    let value = o.shr_by(word, shift);
    o.and_with(value, 255)
}
