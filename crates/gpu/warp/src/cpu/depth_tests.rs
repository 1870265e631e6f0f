//! Depth and stencil tests of opaque primitives.

use super::opaque::Waiting;
use super::quads::{Group, Quads};
use crate::frame::TileWords;
use crate::rules::{self, Attributes, Key, Resolved, STATE_WORDS, Setting, StateValues, Values, known_key};
use crate::state::{DepthTest, depth};
use fearless_simd::i32x16;
use fearless_simd::prelude::*;
use xenoglot_raster::inlined;
use xenoglot_raster::ops::{Lanes, Ops};

/// Tests groups of primitives of a state against a tile's pixels. Where a primitive is drawn its number is stored in place of
/// its colour.
#[inline(always)]
pub fn test<S: Simd>(
    o: &mut Lanes<'_, S>,
    quads: &mut Quads,
    state: &[u32; STATE_WORDS],
    pixels: &mut TileWords,
    origin: [i32; 2],
    waiting: &mut Waiting,
) {
    // The usual tests as constants: code for them has no branches.
    match known_key::<i32x16<S>>(state) {
        key if is_usual(&key, LESS) => test_with(o, quads, state, pixels, origin, waiting, usual(key, LESS)),
        key if is_usual(&key, LESS_EQUAL) => {
            test_with(o, quads, state, pixels, origin, waiting, usual(key, LESS_EQUAL));
        }
        key => test_with(o, quads, state, pixels, origin, waiting, key),
    }
    quads.clear();
}

/// [`test`] of a state with this key.
#[inline(always)]
fn test_with<S: Simd>(
    o: &mut Lanes<'_, S>,
    quads: &Quads,
    state: &[u32; STATE_WORDS],
    pixels: &mut TileWords,
    origin: [i32; 2],
    waiting: &mut Waiting,
    key: Key<i32x16<S>>,
) {
    let simd = o.simd();
    waiting.make_room();
    for quads in quads.groups() {
        let group = Group::new(simd, quads);
        let Some((block, lane)) = waiting.primitive(group.number()) else { continue };
        let values = Values {
            key,
            state: StateValues::load(o, inlined!(|o: &mut Lanes<'_, S>, i: usize| o.int(state[i] as i32))),
            attributes: Attributes::load(
                o,
                inlined!(|o: &mut Lanes<'_, S>, i: usize| o.int(block.attributes[i][lane] as i32)),
            ),
        };
        let words = group.load(simd, pixels);
        let stored = o.shr_by(words, 16);
        let (place, covered) = (group.place(simd, origin), group.covered(simd));
        let Resolved { drawn, depth, changed } = rules::resolve(o, &values, place, covered, stored);
        let number = i32::from(group.number());
        let words = if values.key.has_no_stencil() {
            // Depth changes only where colour does.
            drawn.select(depth << 16 | number, words)
        } else {
            changed.select(depth, stored) << 16 | drawn.select(o.int(number), words & 0xffff)
        };
        group.store(pixels, words);
        waiting.note(*quads, drawn.to_bitmask() as u16);
    }
}

/// Depth bits of the usual states: a test, and the depth is stored.
const LESS: u8 = DepthTest::Less as u8 | depth::WRITE;
const LESS_EQUAL: u8 = DepthTest::LessEqual as u8 | depth::WRITE;

/// Whether a state has this depth test and no stencil.
#[inline(always)]
fn is_usual<I>(key: &Key<I>, test: u8) -> bool {
    key.has_no_stencil()
        && matches!(key.depth, Setting::Known(byte) if byte & (depth::TEST | depth::WRITE) == test)
}

/// The key of a state that [`is_usual`], its depth test and stencil as constants.
#[inline(always)]
fn usual<I>(key: Key<I>, test: u8) -> Key<I> {
    Key { depth: Setting::Known(test), stencil: Setting::Known(0), ..key }
}
