//! A tile: its primitives, one after the other.

use super::depth_tests::test;
use super::quads::{GROUP, Group};
use super::usual::{is_usual, usual};
use super::{Scratch, Source};
use crate::frame::{Tile, TileWords};
use crate::rules::{self, ATTRIBUTE_WORDS, STATE_WORDS, Values, attribute_words, known_key};
use fearless_simd::prelude::*;
use std::hint::black_box;
use xenoglot_raster::fetch_ahead;
use xenoglot_raster::ops::{Lanes, Ops};

/// How many primitives ahead the next ones are prefetched.
const AHEAD: usize = 6;

/// Draws primitives into a tile, whose first pixel is `origin`.
#[inline(always)]
pub fn draw<S: Simd>(
    simd: S,
    tile: &mut Tile,
    origin: [i32; 2],
    source: &Source<'_>,
    Scratch { numbers, quads, waiting }: &mut Scratch,
) {
    let mut o = Lanes::new(simd, source.memory).with_table(&source.textures.table);
    // The state of the primitives whose quads wait for their tests.
    let mut tested = &[0; STATE_WORDS];
    for at in 0..=numbers.len() {
        // Tiles take primitives from all over memory: later ones are on their way while this one is drawn.
        if let Some((primitive, _)) = numbers.get(at + AHEAD).and_then(|&number| source.primitive(number)) {
            fetch_ahead(primitive);
        }
        let next = numbers.get(at).and_then(|&number| source.primitive(number));
        let state = next.map_or(&[0; STATE_WORDS], |(_, state)| source.state(state));
        let is_opaque = next.is_some() && known_key::<()>(state).is_opaque();
        let adds = is_opaque && !waiting.is_full();
        let goes_on = adds && quads.has_room() && std::ptr::eq(tested, state);
        if !goes_on && !quads.is_empty() {
            test(&mut o, quads, tested, tile.words_mut(), origin, waiting);
        }
        if !waiting.is_empty() && !adds {
            waiting.shade(&o, tile.words_mut(), origin, &source.textures.states);
        }
        let Some((primitive, number)) = next else { continue };
        let waits = if is_opaque { waiting.push(primitive, number) } else { 0 };
        // Edges are taken from memory where they are wanted: kept from before they would not fit the registers.
        quads.add(&mut o, origin, &source.edges(black_box(primitive), number), waits);
        if is_opaque {
            tested = state;
        } else {
            let attributes = &attribute_words(primitive);
            for group in quads.groups() {
                draw_group(&mut o, tile.words_mut(), origin, attributes, state, group);
            }
            quads.clear();
        }
    }
}

/// [`draw`] pixel by pixel.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub fn draw_pixels(tile: &mut Tile, origin: [i32; 2], source: &Source<'_>, numbers: &[u32]) {
    use crate::frame::TILE;
    use xenoglot_raster::ops::Scalar;

    let mut o = Scalar::new(source.memory);
    let side = TILE as i32;
    for (primitive, state) in numbers.iter().filter_map(|&number| source.primitive(number)) {
        let edges = source.edges(primitive, state);
        let values = Values::constants(&mut o, &attribute_words(primitive), source.state(state));
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
    pixels: &mut TileWords,
    origin: [i32; 2],
    attributes: &[u32; ATTRIBUTE_WORDS],
    state: &[u32; STATE_WORDS],
    quads: &[u32; GROUP],
) {
    let simd = o.simd();
    let group = Group::new(simd, quads);
    let (place, covered, words) = (group.place(simd, origin), group.covered(simd), group.load(simd, pixels));
    let stored = [words & 0xffff, o.shr_by(words, 16)];
    // Numbers of the primitive and its state are taken from memory where they are wanted: kept in vectors from one group
    // to the next they would not fit the registers, and cost their way to the stack and back for each primitive.
    let values = Values::constants(o, black_box(attributes), black_box(state));
    let [color, depth] = if is_usual(&values.key) {
        let values = Values { key: usual(values.key), ..values };
        rules::pixel(o, &values, place, covered, stored)
    } else {
        rules::pixel(o, &values, place, covered, stored)
    };
    group.store(pixels, color | depth << 16);
}
