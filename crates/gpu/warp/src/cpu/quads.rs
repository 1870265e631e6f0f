//! Primitives cut into quads: four pixels of a row, from wherever they begin.
//!
//! Quads of many primitives are collected in a list, those of each in groups of four. Loops over groups have no branches that
//! depend on a primitive's shape, which processors would predict badly. Rows of small triangles have two or three pixels, so
//! that a group of four rows has work for most of sixteen lanes.

use crate::frame::{TILE, TILE_PIXELS, TileWords};
use fearless_simd::prelude::*;
use fearless_simd::{i32x4, i32x16, mask32x16};
use xenoglot_raster::Edges;
use xenoglot_raster::edges::{self, EdgeValues};
use xenoglot_raster::ops::{LANES, Lanes, Ops};

/// Quads of a group.
pub const GROUP: usize = 4;
/// Pixels of a quad.
const QUAD: i32 = 4;
/// Quads of a list.
const ROOM: usize = 2048;
/// Quads of a primitive at most, with room for the lanes written past the last one.
const MOST: usize = TILE_PIXELS / QUAD as usize + LANES;
/// Quads of a row that are made without a test for whether there are any.
const PASSES: usize = 2;
/// Bits of a quad: its first pixel's place in the tile, a bit for each pixel that is covered, the number of its primitive.
const PLACE: u32 = 13;
const COVERED: u32 = PLACE;
const NUMBER: u32 = COVERED + QUAD as u32;
/// A quad that covers nothing, behind the pixels of a tile.
const NONE: u32 = TILE_PIXELS as u32;
/// Groups of a list at most.
pub const GROUPS: usize = ROOM / GROUP;

/// Columns of a group's pixels, from those of its quads.
const COLUMNS: [i32; LANES] = [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3];

/// Quads of a tile, in groups of one primitive each.
#[derive(Debug)]
pub struct Quads {
    /// Quads, and room for the lanes written past the last one.
    list: [u32; ROOM],
    len: usize,
}

impl Default for Quads {
    fn default() -> Quads {
        Quads { list: [NONE; ROOM], len: 0 }
    }
}

impl Quads {
    /// Whether there are none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether the quads of another primitive have room.
    #[inline(always)]
    pub fn has_room(&self) -> bool {
        self.len <= ROOM - MOST
    }

    /// Forgets all.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// The groups.
    #[inline(always)]
    pub fn groups(&self) -> impl Iterator<Item = &[u32; GROUP]> {
        self.list.get(..self.len).unwrap_or_default().as_chunks().0.iter()
    }

    /// Adds the pixels that a triangle covers of the tile whose first pixel is `origin`. `number` is below 2^15.
    #[inline(always)]
    pub fn add<S: Simd>(&mut self, o: &mut Lanes<'_, S>, origin: [i32; 2], edges: &Edges, number: u16) {
        let simd = o.simd();
        let side = TILE as i32;
        let [first, last] = edges.rows();
        let (mut first, last) = ((first - origin[1]).max(0), (last - origin[1]).min(side - 1));
        let lanes = i32x16::load_array(simd, std::array::from_fn(|lane| lane as i32));
        let values = EdgeValues::constants(o, edges);
        let [left, right] = [edges.scissor.low[0].max(origin[0]), edges.scissor.high[0]];
        let right = right.min(origin[0] + side - 1);
        while first <= last {
            let rows = lanes + first;
            let [lefts, rights] = edges::span(o, &values, rows + origin[1]);
            let (lefts, rights) = (lefts.max(left) - origin[0], rights.min(right) - origin[0]);
            let covered = lefts.simd_le(rights) & rows.simd_le(last);
            let rights = covered.select(rights, o.int(-1));
            // The last quad of a row must not reach into the next one: a group's quads are stored in any order, with the words
            // of pixels that are not covered as they were.
            let quads = (rights - lefts + QUAD) & !(QUAD - 1);
            let mut starts = lefts.min(o.int(side) - quads);
            let places = (rows << TILE.trailing_zeros()) | i32::from(number) << NUMBER;
            for pass in 0.. {
                let some = starts.simd_le(rights);
                // Processors cannot predict the width of small triangles: every one takes two passes.
                if pass >= PASSES && some.all_false() {
                    break;
                }
                let (from, to) = ((lefts - starts).max(0), (rights - starts).min(QUAD - 1));
                let pixels = ((o.int(2) << to) - (o.int(1) << from)) << COVERED;
                let found = ((places + starts) | pixels).compress(some);
                if let Some(list) = self.list.get_mut(self.len..).and_then(|list| list.first_chunk_mut()) {
                    *list = found.to_array().map(|quad| quad as u32);
                }
                self.len += some.to_bitmask().count_ones() as usize;
                starts += QUAD;
            }
            first += LANES as i32;
        }
        if let Some(rest) = self.list.get_mut(self.len..).and_then(|rest| rest.first_chunk_mut()) {
            *rest = [NONE; GROUP];
        }
        self.len = self.len.next_multiple_of(GROUP);
    }
}

/// A group of quads: sixteen pixels of one primitive.
#[derive(Clone, Copy)]
pub struct Group<S: Simd> {
    quads: [u32; GROUP],
    /// The quad of each pixel.
    lanes: i32x16<S>,
}

impl<S: Simd> Group<S> {
    /// The group of these quads.
    #[inline(always)]
    pub fn new(simd: S, quads: &[u32; GROUP]) -> Group<S> {
        let [a, b, c, d] = quads.map(|quad| i32x4::splat(simd, quad as i32));
        Group { quads: *quads, lanes: a.combine(b).combine(c.combine(d)) }
    }

    /// The number of its primitive.
    #[inline(always)]
    pub fn number(&self) -> u16 {
        (self.quads[0] >> NUMBER) as u16
    }

    /// Places of its pixels in the tile. Quads that cover nothing are behind it.
    #[inline(always)]
    pub fn places(&self, simd: S) -> i32x16<S> {
        (self.lanes & ((1 << PLACE) - 1)) + i32x16::load_array(simd, COLUMNS)
    }

    /// Columns and rows of its pixels in a tile whose first pixel is `origin`.
    #[inline(always)]
    pub fn place(&self, simd: S, origin: [i32; 2]) -> [i32x16<S>; 2] {
        let columns = (self.lanes & (TILE as i32 - 1)) + i32x16::load_array(simd, COLUMNS);
        let rows = (self.lanes & ((1 << PLACE) - 1)) >> TILE.trailing_zeros();
        [columns + origin[0], rows + origin[1]]
    }

    /// Which of its pixels are covered.
    #[inline(always)]
    pub fn covered(&self, simd: S) -> mask32x16<S> {
        let bits = i32x16::load_array(simd, COLUMNS.map(|column| 1 << (COVERED as i32 + column)));
        !(self.lanes & bits).simd_eq(0)
    }

    #[inline(always)]
    fn firsts(&self) -> [usize; GROUP] {
        self.quads.map(|quad| (quad & ((1 << PLACE) - 1)) as usize)
    }

    /// The pixels' words.
    #[inline(always)]
    pub fn load(&self, simd: S, words: &TileWords) -> i32x16<S> {
        let [a, b, c, d] = self.firsts().map(|at| {
            let quad = words.get(at..).and_then(|words| words.first_chunk()).unwrap_or(&[0; QUAD as usize]);
            i32x4::load_array(simd, *quad)
        });
        a.combine(b).combine(c.combine(d))
    }

    /// Stores the pixels' words. No pixel is in two quads of a group.
    #[inline(always)]
    pub fn store(&self, words: &mut TileWords, values: i32x16<S>) {
        let (low, high) = values.split();
        let ((a, b), (c, d)) = (low.split(), high.split());
        for (at, quad) in self.firsts().into_iter().zip([a, b, c, d]) {
            if let Some(words) = words.get_mut(at..).and_then(|words| words.first_chunk_mut()) {
                quad.store_array(words);
            }
        }
    }
}
