//! A tile: its primitives' quads, one primitive after the other.

use super::quads::{GROUP, QUAD, Quads};
use super::spans::Spans;
use super::usual::{is_usual, usual};
use super::{Scratch, Source};
use crate::frame::{TILE, Tile};
use crate::rules::{self, ATTRIBUTE_WORDS, STATE_WORDS, Values, attribute_words, known_key};
use fearless_simd::prelude::*;
use fearless_simd::{i32x4, i32x16, mask32x16, u32x16};
use std::hint::black_box;
use xenoglot_raster::inlined;
use xenoglot_raster::ops::{LANES, Lanes, Scalar};

/// Columns of a group's pixels, from those of its quads.
const COLUMNS: [i32; LANES] = [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3];

/// Draws primitives into a tile, whose first pixel is `origin`.
#[inline(always)]
pub fn draw<'a, S: Simd>(
    simd: S,
    tile: &mut Tile,
    origin: [i32; 2],
    source: &Source<'a>,
    Scratch { numbers, waiting }: &mut Scratch<'a>,
) {
    let mut o = Lanes::new(simd, source.memory).with_table(&source.textures.table);
    let mut quads = Quads::new();
    let mut spans = Spans::new();
    for at in 0..=numbers.len() {
        // Tiles take primitives from all over memory: the one after the next is on its way while this one is drawn.
        let ahead = numbers.get(at + 2).and_then(|&number| source.draw.primitive(number));
        black_box(ahead.map(|(primitive, _)| (primitive.x[0], primitive.dy[1])));
        let next = numbers.get(at).and_then(|&number| source.primitive(number));
        let is_opaque = matches!(next, Some((.., state)) if known_key::<()>(state).is_opaque());
        let adds = is_opaque && !waiting.is_full();
        if !spans.is_empty() && !matches!(next, Some((.., state)) if adds && spans.takes(state)) {
            spans.test(&mut o, tile.words_mut(), origin, waiting);
        }
        if !waiting.is_empty() && !adds {
            waiting.shade(&o, tile.words_mut(), origin);
        }
        let Some((edges, primitive, state)) = next else { continue };
        if is_opaque {
            let number = waiting.push(primitive, state);
            spans.add(&mut o, origin, &edges, state, number);
        } else {
            let (words, attributes) = (tile.words_mut(), &attribute_words(primitive));
            quads.cut(
                &edges,
                origin,
                inlined!(|group: &[u32; GROUP]| draw_group(&mut o, words, origin, attributes, state, group)),
            );
        }
    }
}

/// The same a pixel at a time.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub fn draw_pixels(tile: &mut Tile, origin: [i32; 2], source: &Source<'_>, numbers: &[usize]) {
    let mut o = Scalar::new(source.memory);
    let side = TILE as i32;
    for (edges, primitive, state) in numbers.iter().filter_map(|&number| source.primitive(number)) {
        let values = Values::constants(&mut o, &attribute_words(primitive), state);
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

/// A group of quads.
struct Group<S: Simd> {
    /// Of each quad, the place of its first pixel in the tile.
    places: [usize; GROUP],
    /// Columns and rows.
    place: [i32x16<S>; 2],
    /// Which are covered.
    covered: mask32x16<S>,
    /// Colours and depths.
    stored: [i32x16<S>; 2],
}

impl<S: Simd> Group<S> {
    #[inline(always)]
    fn new(simd: S, pixels: &[i32], origin: [i32; 2], group: &[u32; GROUP]) -> Group<S> {
        let quads = lanes(simd, group.map(|quad| i32x4::splat(simd, quad as i32)));
        let column = (quads & (TILE as i32 - 1)) + i32x16::load_array(simd, COLUMNS);
        let row = (quads >> TILE.trailing_zeros()) & (TILE as i32 - 1);
        let places = group.map(|quad| quad as u16 as usize);
        let stored =
            places.map(|at| match pixels.get(at..).and_then(|pixels| pixels.first_chunk::<QUAD>()) {
                Some(&quad) => i32x4::load_array(simd, quad),
                None => i32x4::splat(simd, 0),
            });
        let stored = lanes(simd, stored);
        Group {
            places,
            place: [column + origin[0], row + origin[1]],
            covered: column.simd_le(quads >> 16),
            stored: [stored & 0xffff, (stored.bitcast::<u32x16<S>>() >> 16).bitcast()],
        }
    }

    #[inline(always)]
    fn store(&self, pixels: &mut [i32], [color, depth]: [i32x16<S>; 2]) {
        let (low, high) = (color | depth << 16).split();
        let ((a, b), (c, d)) = (low.split(), high.split());
        // In order, since a quad may end in the row behind, whose pixels it puts back as they were.
        for (at, quad) in self.places.into_iter().zip([a, b, c, d]) {
            if let Some(pixels) = pixels.get_mut(at..).and_then(|pixels| pixels.first_chunk_mut::<QUAD>()) {
                quad.store_array(pixels);
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
    let group = Group::new(o.simd(), pixels, origin, group);
    // Numbers of the primitive and its state are taken from memory where they are wanted: kept in vectors from one group
    // to the next they would not fit the registers, and cost their way to the stack and back for each primitive.
    let values = Values::constants(o, black_box(attributes), black_box(state));
    let words = if is_usual(&values.key) {
        let values = Values { key: usual(values.key), ..values };
        rules::pixel(o, &values, group.place, group.covered, group.stored)
    } else {
        rules::pixel(o, &values, group.place, group.covered, group.stored)
    };
    group.store(pixels, words);
}

/// Four quads side by side.
#[inline(always)]
fn lanes<S: Simd>(_: S, [a, b, c, d]: [i32x4<S>; GROUP]) -> i32x16<S> {
    a.combine(b).combine(c.combine(d))
}
