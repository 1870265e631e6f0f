//! Spans of opaque primitives that wait for their tests.
//!
//! The spans of a triangle in a tile are found sixteen rows at a time, and tested when there are spans of many triangles. The
//! loop over all of them has no branch that depends on a triangle's shape, which processors would predict badly.

use super::opaque::Waiting;
use crate::frame::{TILE, TileWords};
use crate::rules::{self, Key, Resolved, STATE_WORDS, Setting, Values, known_key};
use crate::state::{DepthTest, depth};
use fearless_simd::i32x16;
use fearless_simd::prelude::*;
use xenoglot_raster::Edges;
use xenoglot_raster::edges::{self, EdgeValues};
use xenoglot_raster::ops::{LANES, Lanes, Ops};

/// Spans of a triangle at most, and what is written behind the last one.
const MOST: usize = (TILE * TILE) as usize / LANES + LANES;
/// Spans that are collected.
const ROOM: usize = 1024;
/// Bits of a span: its first pixel's place in the tile, then how many pixels are behind that, -1 if it is empty, then the
/// number of its primitive among those that wait.
const PLACE: u32 = 12;
const WIDTH: u32 = 7;

/// Spans of primitives of one state.
pub struct Spans<'a> {
    list: [i32; ROOM],
    len: usize,
    state: &'a [u32; STATE_WORDS],
}

impl<'a> Spans<'a> {
    /// None.
    #[inline(always)]
    pub fn new() -> Spans<'a> {
        Spans { list: [0; ROOM], len: 0, state: &[0; STATE_WORDS] }
    }

    /// Whether there are none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether those of a triangle of this state may be added.
    #[inline(always)]
    pub fn takes(&self, state: &[u32; STATE_WORDS]) -> bool {
        self.len == 0 || self.len <= ROOM - MOST && std::ptr::eq(self.state, state)
    }

    /// Adds those of a triangle, the one with a number among those that wait, in the tile whose first pixel is `origin`.
    #[inline(always)]
    pub fn add<S: Simd>(
        &mut self,
        o: &mut Lanes<'_, S>,
        origin: [i32; 2],
        edges: &Edges,
        state: &'a [u32; STATE_WORDS],
        number: i32,
    ) {
        self.state = state;
        let side = TILE as i32;
        let [first, last] = edges.rows();
        let (mut first, last) = ((first - origin[1]).max(0), (last - origin[1]).min(side - 1));
        let lanes = i32x16::load_array(o.simd(), std::array::from_fn(|lane| lane as i32));
        let values = EdgeValues::constants(o, edges);
        let (left, right) =
            (edges.scissor.low[0].max(origin[0]), edges.scissor.high[0].min(origin[0] + side - 1));
        while first <= last {
            let rows = lanes + first;
            let [lefts, rights] = edges::span(o, &values, rows + origin[1]);
            let (lefts, rights) = (lefts.max(left), rights.min(right));
            let widths = (rights - lefts).max(-1);
            let places =
                widths.simd_ge(0).select(lefts - origin[0], o.int(0)) + (rows << TILE.trailing_zeros());
            let spans = places | (widths & ((1 << WIDTH) - 1)) << PLACE | number << (PLACE + WIDTH);
            let start = self.len;
            if let Some(list) = self.list.get_mut(start..).and_then(|list| list.first_chunk_mut()) {
                spans.store_array(list);
            }
            let count = (last - first + 1).min(LANES as i32);
            self.len += count as usize;
            // What does not fit a group is a span of its own.
            let mut wide = widths.simd_ge(LANES as i32).to_bitmask() & ((1 << count) - 1);
            while wide != 0 {
                let mut span = self.list.get(start + wide.trailing_zeros() as usize).copied().unwrap_or(0);
                wide &= wide - 1;
                while width(span) >= LANES as i32 {
                    span += LANES as i32 - ((LANES as i32) << PLACE);
                    if let Some(place) = self.list.get_mut(self.len) {
                        *place = span;
                    }
                    self.len += 1;
                }
            }
            first += LANES as i32;
        }
    }

    /// Tests all of them against a tile's pixels. Where a primitive is drawn its number is stored in place of its colour.
    #[inline(always)]
    pub fn test<S: Simd>(
        &mut self,
        o: &mut Lanes<'_, S>,
        pixels: &mut TileWords,
        origin: [i32; 2],
        waiting: &mut Waiting<'_>,
    ) {
        // The usual tests as constants: code for them has no branches.
        match known_key::<i32x16<S>>(self.state) {
            key if is_usual(&key, LESS) => self.test_with(o, pixels, origin, waiting, usual(key, LESS)),
            key if is_usual(&key, LESS_EQUAL) => {
                self.test_with(o, pixels, origin, waiting, usual(key, LESS_EQUAL));
            }
            key => self.test_with(o, pixels, origin, waiting, key),
        }
        self.len = 0;
    }

    /// The same with a state of this key.
    #[inline(always)]
    fn test_with<S: Simd>(
        &self,
        o: &mut Lanes<'_, S>,
        pixels: &mut TileWords,
        origin: [i32; 2],
        waiting: &mut Waiting<'_>,
        key: Key<i32x16<S>>,
    ) {
        let simd = o.simd();
        let lanes = i32x16::load_array(simd, std::array::from_fn(|lane| lane as i32));
        let side = TILE as i32;
        for &span in self.list.get(..self.len).unwrap_or_default() {
            let (place, number) = (span & ((1 << PLACE) - 1), span >> (PLACE + WIDTH));
            let (row, column) = (place / side, place % side);
            let Some(span_pixels) =
                pixels.get_mut(place as usize..).and_then(|pixels| pixels.first_chunk_mut())
            else {
                continue;
            };
            let Some(attributes) = waiting.attributes(number) else { continue };
            let values = Values { key, ..Values::constants(o, attributes, self.state) };
            let covered = lanes.simd_le(width(span));
            let place = [lanes + (column + origin[0]), o.int(row + origin[1])];
            let words = i32x16::load_array(simd, *span_pixels);
            let stored = o.shr_by(words, 16);
            let Resolved { drawn, depth, changed } = rules::resolve(o, &values, place, covered, stored);
            let words = if values.key.has_no_stencil() {
                // Depth changes only where colour does.
                drawn.select(depth << 16 | number, words)
            } else {
                changed.select(depth, stored) << 16 | drawn.select(o.int(number), words & 0xffff)
            };
            words.store_array(span_pixels);
            waiting.mark(row as usize, column as usize, drawn.to_bitmask());
        }
    }
}

/// Bits of usual depth tests: a test, and the new depth is stored.
const LESS: u8 = DepthTest::Less as u8 | depth::WRITE;
const LESS_EQUAL: u8 = DepthTest::LessEqual as u8 | depth::WRITE;

/// Whether a state has this test of depths, and no stencil.
#[inline(always)]
fn is_usual<I>(key: &Key<I>, test: u8) -> bool {
    key.has_no_stencil()
        && matches!(key.depth, Setting::Known(byte) if byte & (depth::TEST | depth::WRITE) == test)
}

/// Such a state's key as a constant.
#[inline(always)]
fn usual<I>(key: Key<I>, test: u8) -> Key<I> {
    Key { depth: Setting::Known(test), stencil: Setting::Known(0), ..key }
}

/// Pixels behind the first one of a span.
#[inline(always)]
fn width(span: i32) -> i32 {
    span << (32 - PLACE - WIDTH) >> (32 - WIDTH)
}
