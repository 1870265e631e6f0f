//! A tile: its primitives' quads, one primitive after the other.

use super::Source;
use super::quads::{GROUP, QUAD, Quads};
use crate::frame::{TILE, Tile};
use crate::rules::{self, ATTRIBUTE_WORDS, STATE_WORDS, Values};
use fearless_simd::prelude::*;
use fearless_simd::{i32x4, i32x16};
use std::hint::black_box;
use xenoglot_raster::inlined;
use xenoglot_raster::ops::{LANES, Lanes, Scalar};

/// Columns of a group's pixels, from those of its quads.
const COLUMNS: [i32; LANES] = [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3];

/// Draws into a tile, whose place among the tiles is `at` and whose first pixel is `origin`.
#[inline(always)]
pub fn draw<S: Simd>(simd: S, tile: &mut Tile, at: [u32; 2], origin: [i32; 2], source: &Source<'_>) {
    let mut o = Lanes::new(simd, source.memory);
    let mut quads = Quads::new();
    for (edges, attributes, state) in source.primitives(at) {
        let words = tile.words_mut();
        quads.cut(
            edges,
            origin,
            inlined!(|group: &[u32; GROUP]| draw_group(&mut o, words, origin, attributes, state, group)),
        );
    }
}

/// The same a pixel at a time.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub fn draw_pixels(tile: &mut Tile, at: [u32; 2], origin: [i32; 2], source: &Source<'_>) {
    let mut o = Scalar::new(source.memory);
    let side = TILE as i32;
    for (edges, attributes, state) in source.primitives(at) {
        let values = Values::constants(&mut o, attributes, state);
        let [first, last] = edges.rows();
        let (first, last) = (first.max(origin[1]), last.min(origin[1] + side - 1));
        for (y, [left, right]) in (first..).zip(edges.spans(first, last)) {
            for x in left.max(origin[0])..=right.min(origin[0] + side - 1) {
                let place = (y - origin[1]) * side + x - origin[0];
                let Some(word) = tile.words_mut().get_mut(place as usize) else { continue };
                let stored = [*word & 0xffff, *word >> 16 & 0xffff];
                let [color, depth] = rules::pixel(&mut o, &values, [x, y], true, stored);
                *word = color | depth << 16;
            }
        }
    }
}

/// Draws a group of quads.
#[inline(always)]
fn draw_group<S: Simd>(
    o: &mut Lanes<'_, S>,
    pixels: &mut [i32],
    origin: [i32; 2],
    attributes: &[u32; ATTRIBUTE_WORDS],
    state: &[u32; STATE_WORDS],
    group: &[u32; GROUP],
) {
    let simd = o.simd();
    let quads = lanes(simd, group.map(|quad| i32x4::splat(simd, quad as i32)));
    let column = (quads & (TILE as i32 - 1)) + i32x16::load_array(simd, COLUMNS);
    let row = (quads >> TILE.trailing_zeros()) & (TILE as i32 - 1);
    let covered = column.simd_le(quads >> 16);
    let places = group.map(|quad| quad as u16 as usize);
    let stored = places.map(|at| match pixels.get(at..).and_then(|pixels| pixels.first_chunk::<QUAD>()) {
        Some(&quad) => i32x4::load_array(simd, quad),
        None => i32x4::splat(simd, 0),
    });
    let stored = lanes(simd, stored);
    let words = [stored & 0xffff, (stored.bitcast::<fearless_simd::u32x16<S>>() >> 16).bitcast()];
    // Numbers of the primitive and its state are taken from memory where they are wanted: kept in vectors from one group
    // to the next they would not fit the registers, and cost their way to the stack and back for each primitive.
    let values = Values::constants(o, black_box(attributes), black_box(state));
    let place = [column + origin[0], row + origin[1]];
    let [color, depth] = rules::pixel(o, &values, place, covered, words);
    let new = color | depth << 16;
    let (low, high) = new.split();
    let ((a, b), (c, d)) = (low.split(), high.split());
    // In order, since a quad may end in the row behind, whose pixels it puts back as they were.
    for (at, quad) in places.into_iter().zip([a, b, c, d]) {
        if let Some(pixels) = pixels.get_mut(at..).and_then(|pixels| pixels.first_chunk_mut::<QUAD>()) {
            quad.store_array(pixels);
        }
    }
}

/// Four quads side by side.
#[inline(always)]
fn lanes<S: Simd>(_: S, [a, b, c, d]: [i32x4<S>; GROUP]) -> i32x16<S> {
    a.combine(b).combine(c.combine(d))
}
