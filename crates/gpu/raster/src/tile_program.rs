//! Programs that draw a tile, a pixel an invocation, as IR (feature `ir`).
//!
//! ```text
//! values of the pixel := start
//! for each primitive of the tile, in drawing order:  values := draw
//! finish
//! ```
//!
//! Workgroups are tiles. A pixel's values stay with its invocation from the first primitive to the last, so that what
//! overlaps is drawn in order though no invocation waits for another.

use crate::edges::{EdgeValues, Edges};
use crate::ops::{Emit, Ops};
use xenoglot_ir::module::{Access, Builtin};
use xenoglot_ir::{Builder, Function, Module, Op, Resource, Stage, Type, Value};

/// Binding of [`frame_words`].
pub const FRAME: u32 = 0;
/// Binding of the bitmaps of tiles.
pub const TILES: u32 = 1;
/// Binding of slots in an [`output_program`].
pub const SLOTS: u32 = 2;
/// Binding of shaded words in an [`output_program`].
pub const SHADED: u32 = 3;

/// Words of the frame's buffer: columns, rows, words of a tile's summary and of its primitives.
pub fn frame_words(grid: &crate::Grid) -> [u32; 4] {
    let [width, height] = grid.size;
    [width, height, grid.summary_words(), grid.primitive_words()]
}

/// The invocation's pixel.
#[derive(Clone, Copy, Debug)]
pub struct Pixel {
    /// Column and row.
    pub place: [Value; 2],
    /// Its number in the tile, row by row.
    pub lane: Value,
    /// Its number in the frame, row by row; 0 outside.
    pub index: Value,
    /// Whether it is in the frame.
    pub inside: Value,
}

/// A primitive of a tile when its turn comes.
struct Turn {
    /// Its number in the batch.
    primitive: Value,
    /// The number of its word in the bitmaps of all tiles, summaries left out.
    word: Value,
    /// The word.
    bits: Value,
    /// Its bit there.
    place: Value,
}

/// A program for tiles of `tile` pixels a side. `resources` makes what the other parts use: buffers from binding 2 on.
pub fn tile_program<R, const N: usize>(
    name: &str,
    tile: u32,
    resources: impl FnOnce(&mut Emit<'_>) -> R,
    start: impl FnOnce(&mut Emit<'_>, &R, &Pixel) -> [Value; N],
    draw: impl FnOnce(&mut Emit<'_>, &R, &Pixel, Value, [Value; N]) -> [Value; N],
    finish: impl FnOnce(&mut Emit<'_>, &R, &Pixel, [Value; N]),
) -> Module {
    let draw = |o: &mut Emit<'_>, resources: &R, pixel: &Pixel, turn: &Turn, values: [Value; N]| {
        draw(o, resources, pixel, turn.primitive, values)
    };
    in_order(name, tile, resources, start, draw, finish)
}

/// A program that takes what [`crate::shade_program::shade_program`] made of each primitive of the tile, in drawing order,
/// and is a [`tile_program`] in all else. Buffers: 0 [`frame_words`], 1 bitmaps of tiles, 2 and 3 slots and shaded words,
/// those of `resources` from binding 4 on. `draw` has the number of the primitive and its two shaded words.
pub fn output_program<R, const N: usize>(
    name: &str,
    tile: u32,
    resources: impl FnOnce(&mut Emit<'_>) -> R,
    start: impl FnOnce(&mut Emit<'_>, &R, &Pixel) -> [Value; N],
    draw: impl FnOnce(&mut Emit<'_>, &R, &Pixel, (Value, [Value; 2]), [Value; N]) -> [Value; N],
    finish: impl FnOnce(&mut Emit<'_>, &R, &Pixel, [Value; N]),
) -> Module {
    in_order(
        name,
        tile,
        |o| {
            let slots = o.storage("slots", SLOTS, Access::Read);
            let shaded = o.storage("shaded", SHADED, Access::Read);
            (slots, shaded, resources(o))
        },
        |o, (_, _, resources), pixel| start(o, resources, pixel),
        |o, (slots, shaded, resources), pixel, turn, values| {
            // The word's first slot, and one more for each bit below.
            let first = o.word(*slots, turn.word);
            let one = o.int(1);
            let bit = o.shl(one, turn.place);
            let below = o.add_to(bit, -1);
            let below = o.and(turn.bits, below);
            let before = o.b.op(Op::Popcount, &[below]);
            let slot = o.add(first, before);
            let at = shaded_at(o, tile, slot, pixel.lane);
            let words = [0, 1].map(|i| o.word_at(*shaded, at, i));
            draw(o, resources, pixel, (turn.primitive, words), values)
        },
        |o, (_, _, resources), pixel, values| finish(o, resources, pixel, values),
    )
}

/// Runs `draw` for each primitive of a tile, in drawing order.
fn in_order<R, const N: usize>(
    name: &str,
    tile: u32,
    resources: impl FnOnce(&mut Emit<'_>) -> R,
    start: impl FnOnce(&mut Emit<'_>, &R, &Pixel) -> [Value; N],
    draw: impl FnOnce(&mut Emit<'_>, &R, &Pixel, &Turn, [Value; N]) -> [Value; N],
    finish: impl FnOnce(&mut Emit<'_>, &R, &Pixel, [Value; N]),
) -> Module {
    compute(name, tile, |o, group, lane| {
        let frame = o.storage("frame", FRAME, Access::Read);
        let tiles = o.storage("tiles", TILES, Access::Read);
        let resources = resources(o);
        let [column, row] = [0, 1].map(|axis| o.b.extract(group, axis));
        let zero = o.int(0);
        let [width, height, summary_words, primitive_words] = [0, 1, 2, 3].map(|i| o.word_at(frame, zero, i));
        let pixel = locate(o, tile, [column, row], lane, [width, height]);

        let columns = o.add_to(width, tile as i32 - 1);
        let columns = o.shr_by(columns, tile.trailing_zeros());
        let number = o.mul(row, columns);
        let number = o.add(number, column);
        let size = o.add(summary_words, primitive_words);
        let base = o.mul(number, size);
        let first_word = o.add(base, summary_words);
        let own_words = o.mul(number, primitive_words);

        let values = start(o, &resources, &pixel);
        let values = o.count(summary_words, values, |o, number, values| {
            let at = o.add(base, number);
            let summary = o.word(tiles, at);
            let first = o.shl_by(number, 5);
            o.ones(summary, values, |o, place, values| {
                let word = o.add(first, place);
                let at = o.add(first_word, word);
                let bits = o.word(tiles, at);
                let first = o.shl_by(word, 5);
                let word = o.add(own_words, word);
                o.ones(bits, values, |o, place, values| {
                    let primitive = o.add(first, place);
                    draw(o, &resources, &pixel, &Turn { primitive, word, bits, place }, values)
                })
            })
        });
        o.when(pixel.inside, [], |o| {
            finish(o, &resources, &pixel, values);
            []
        });
    })
}

/// A program with a workgroup for a tile: `body` has the workgroup's place and the number of the invocation in it.
pub(crate) fn compute(name: &str, tile: u32, body: impl FnOnce(&mut Emit<'_>, Value, Value)) -> Module {
    let mut func = Function::new("main");
    let entry = func.add_block();
    let mut module = Module::new(Stage::Compute, name);
    module.workgroup = [tile, tile, 1];
    let o = &mut Emit::new(Builder::new(&mut func, entry), module);
    let three = Type::I32.with_lanes(3).unwrap_or(Type::I32);
    let group = o.builtin("group", Builtin::WorkgroupId, three);
    let lane = o.builtin("lane", Builtin::LocalInvocationIndex, Type::I32);
    body(o, group, lane);
    o.b.ret(&[]);
    let mut module = std::mem::replace(&mut o.module, Module::new(Stage::Compute, ""));
    module.entry = Some(module.funcs.push(func)).into();
    module
}

/// The first of two words of a pixel of a slot.
pub(crate) fn shaded_at(o: &mut Emit<'_>, tile: u32, slot: Value, lane: Value) -> Value {
    let first = o.shl_by(slot, 2 * tile.trailing_zeros());
    let pixel = o.or(first, lane);
    o.shl_by(pixel, 1)
}

/// The pixel of a lane, rows of the tile one after the other.
pub(crate) fn locate(o: &mut Emit<'_>, tile: u32, group: [Value; 2], lane: Value, size: [Value; 2]) -> Pixel {
    let bits = tile.trailing_zeros();
    let lanes = [o.and_with(lane, tile as i32 - 1), o.shr_by(lane, bits)];
    let [x, y] = [0, 1].map(|axis| {
        let first = o.shl_by(group[axis], bits);
        o.or(first, lanes[axis])
    });
    let [in_row, in_column] = [(x, size[0]), (y, size[1])].map(|(at, end)| o.less(at, end));
    let inside = o.both(in_row, in_column);
    let index = o.mul(y, size[0]);
    let index = o.add(index, x);
    let zero = o.int(0);
    Pixel { place: [x, y], lane, index: o.select(inside, index, zero), inside }
}

/// The triangle whose [`Edges::words`] begin at a word of a buffer.
pub fn load_edges(o: &mut Emit<'_>, buffer: Resource, base: Value) -> EdgeValues<Value> {
    let mut numbers = 0..Edges::WORDS as u32;
    let mut next = || {
        let number = numbers.next().unwrap_or(0);
        o.word_at(buffer, base, number)
    };
    let [x, slope, y] = [0; 3].map(|_| [0; 3].map(|_| next()));
    let flags = next();
    EdgeValues { x, slope, y, flags, scissor: [0; 4].map(|_| next()) }
}
