//! Programs that shade a primitive in a tile, apart from its depth and blending, as IR (feature `ir`).
//!
//! Where the code of pixel rules depends on a primitive's state, one program for all states has all of it. The alternative
//! is a program for each variant of the state, which knows its setting: each runs over a list of tiles and primitives, in
//! any order, and leaves two words for each pixel in a slot. What must be in order, depth and blending, then goes through
//! the slots of each tile ([`crate::tile_program::output_program`]).
//!
//! Buffers of a shading program, words each: 0 [`list_words`] (uniform), 1 items, three words each: the tile's column and
//! row in halves, the primitive, the slot; 2 lengths of lists behind a first word; 3 shaded words; others from 4 on.

use crate::ops::{Emit, Ops};
use crate::tile_program::{Pixel, compute, locate, shaded_at};
use xenoglot_ir::module::Access;
use xenoglot_ir::{Module, Value};

/// Bytes of [`list_words`].
pub const LIST_BYTES: u32 = 16;
/// Words of an item.
pub const ITEM_WORDS: u32 = 3;
/// Workgroups of a row: lists may be longer than a dispatch is wide.
pub const ROW: u32 = 1 << 15;

/// A list's uniform buffer: its first item, the number of its variant, columns and rows of the frame.
pub fn list_words(grid: &crate::Grid, first: u32, variant: u32) -> [u32; 4] {
    let [width, height] = grid.size;
    [first, variant, width, height]
}

/// A program for tiles of `tile` pixels a side. `resources` makes what `shade` uses: buffers from binding 4 on. `shade` gives
/// the two words of a pixel of a primitive, whether the primitive covers it or not.
pub fn shade_program<R>(
    name: &str,
    tile: u32,
    resources: impl FnOnce(&mut Emit<'_>) -> R,
    shade: impl FnOnce(&mut Emit<'_>, &R, &Pixel, Value) -> [Value; 2],
) -> Module {
    compute(name, tile, |o, group, lane| {
        let list = o.uniform("list", 0, LIST_BYTES);
        let items = o.storage("items", 1, Access::Read);
        let lengths = o.storage("lengths", 2, Access::Read);
        let shaded = o.storage("shaded", 3, Access::ReadWrite);
        let resources = resources(o);
        let [first, variant, width, height] = [0, 1, 2, 3].map(|i| o.uniform_word(list, i));
        let [column, row] = [0, 1].map(|axis| o.b.extract(group, axis));
        let before = o.shl_by(row, ROW.trailing_zeros());
        let number = o.add(before, column);
        let length = o.word_at(lengths, variant, 1);
        let is_item = o.less(number, length);
        o.when(is_item, [], |o| {
            let number = o.add(first, number);
            let base = o.times(number, ITEM_WORDS as i32);
            let [place, primitive, slot] = [0, 1, 2].map(|i| o.word_at(items, base, i));
            let place = [o.and_with(place, 0xffff), o.shr_by(place, 16)];
            let pixel = locate(o, tile, place, lane, [width, height]);
            let words = shade(o, &resources, &pixel, primitive);
            let at = shaded_at(o, tile, slot, lane);
            for (i, word) in (0..).zip(words) {
                let at = o.add_to(at, i);
                o.set_word(shaded, at, word);
            }
            []
        });
    })
}
