//! Groups of pixels that are shaded together.

use super::usual::{is_usual, usual};
use crate::frame::{TILE, TileWords};
use crate::rules::{
    self, ATTRIBUTE_WORDS, Attributes, Key, STATE_WORDS, Setting, StateValues, Values, known_key,
};
use fearless_simd::i32x16;
use fearless_simd::prelude::*;
use std::convert::identity;
use std::hint::black_box;
use xenoglot_raster::ops::{LANES, Lanes, Ops, Pairs};
use xenoglot_raster::{each, inlined};

/// Up to sixteen pixels whose primitives are in one block.
#[derive(Clone, Copy)]
pub struct Group<'a> {
    /// The state of the block's primitives.
    pub state: &'a [u32; STATE_WORDS],
    /// The attributes of the block's primitives.
    pub attributes: &'a [[u32; LANES]; ATTRIBUTE_WORDS],
    /// The pixels: place in the tile in twelve bits, then lane of the primitive. Entries from `len` on have any value.
    pub pixels: &'a [i32; LANES],
    /// How many pixels there are.
    pub len: usize,
}

impl Group<'_> {
    /// The lane of the pixels' primitive, if they have one in common. Pixels of a primitive follow each other.
    #[inline(always)]
    fn primitive(&self) -> Option<usize> {
        let [first, last] = [0, self.len.saturating_sub(1) % LANES].map(|at| self.pixels[at] >> PLACE);
        (first == last).then_some(first as usize % LANES)
    }
}

/// Bits of a pixel that are its place.
pub const PLACE: u32 = 12;

/// Shades groups, two at a time if their state is a usual one.
pub struct Painter<'a, 'p, S: Simd> {
    o: &'p Lanes<'p, S>,
    words: &'p mut TileWords,
    origin: [i32; 2],
    /// A group that is kept until another of its state comes.
    single: Option<Group<'a>>,
}

impl<'a, 'p, S: Simd> Painter<'a, 'p, S> {
    /// A painter of the tile whose first pixel is `origin`.
    #[inline(always)]
    pub fn new(o: &'p Lanes<'p, S>, words: &'p mut TileWords, origin: [i32; 2]) -> Self {
        Painter { o, words, origin, single: None }
    }

    /// Shades a group, or keeps it until the next one comes.
    #[inline(always)]
    pub fn add(&mut self, group: Group<'a>) {
        match self.single.take() {
            None => self.single = Some(group),
            Some(first) if std::ptr::eq(first.state, group.state) => self.paint(&[first, group]),
            Some(first) => {
                self.paint(&[first, Group { len: 0, ..first }]);
                self.single = Some(group);
            }
        }
    }

    /// Shades the group that was kept.
    #[inline(always)]
    pub fn finish(&mut self) {
        if let Some(first) = self.single.take() {
            self.paint(&[first, Group { len: 0, ..first }]);
        }
    }

    /// Shades two groups of a state.
    #[inline(never)]
    fn paint(&mut self, groups: &[Group<'_>; 2]) {
        let (o, origin, simd) = (*self.o, self.origin, self.o.simd());
        let words = &mut *self.words;
        if is_usual(&known_key::<()>(groups[0].state)) {
            if let [Some(first), Some(other)] = [groups[0].primitive(), groups[1].primitive()] {
                simd.vectorize(inlined!(|| pair(o, words, origin, groups, Some([first, other]))));
            } else {
                simd.vectorize(inlined!(|| pair(o, words, origin, groups, None)));
            }
        } else {
            for group in groups.iter().filter(|group| group.len != 0) {
                simd.vectorize(inlined!(|| single(o, words, origin, group)));
            }
        }
    }
}

/// Columns and rows of a group's pixels.
#[inline(always)]
fn place<S: Simd>(pixels: i32x16<S>, origin: [i32; 2]) -> [i32x16<S>; 2] {
    let (side, rows) = (TILE as i32, (1 << (PLACE - TILE.trailing_zeros())) - 1);
    [(pixels & (side - 1)) + origin[0], (pixels >> TILE.trailing_zeros() & rows) + origin[1]]
}

/// Stores the colours of a group.
#[inline(always)]
fn store<S: Simd>(words: &mut TileWords, group: &Group<'_>, colors: i32x16<S>) {
    let colors = colors.to_array();
    let mut put = identity(inlined!(|lane: usize| {
        let word = &mut words[group.pixels[lane] as usize & ((1 << PLACE) - 1)];
        *word = *word & !0xffff | colors[lane];
    }));
    // Most groups are full: no branch for each pixel of those.
    if group.len >= LANES {
        for lane in 0..LANES {
            put(lane);
        }
    } else {
        for lane in 0..group.len {
            put(lane);
        }
    }
}

/// Shades two groups of a usual state. `primitives` has the lane of each group's primitive where each group has only one; callers
/// pass it as a constant `Some` or `None`, and the code has no branch for it.
#[inline(always)]
fn pair<'a, S: Simd>(
    o: Lanes<'a, S>,
    words: &mut TileWords,
    origin: [i32; 2],
    groups: &[Group<'_>; 2],
    primitives: Option<[usize; 2]>,
) {
    let (groups, state) = (black_box(groups), black_box(groups[0].state));
    let pixels = each!([0, 1], half => i32x16::load_array(o.simd(), *groups[half].pixels));
    let from = each!([0, 1], half => o.from_row(pixels[half] >> PLACE));
    let places = each!([0, 1], half => place(pixels[half], origin));
    let place = each!([0, 1], axis => [places[0][axis], places[1][axis]]);
    let mut o = Pairs(o);
    let values = Values {
        key: Key { threshold: Setting::Known(0), ..usual(known_key(state)) },
        state: StateValues::load(&mut o, inlined!(|o: &mut Pairs<'a, S>, i: usize| o.int(state[i] as i32))),
        attributes: Attributes::load(
            &mut o,
            inlined!(|o: &mut Pairs<'a, S>, i: usize| each!([0, 1], half => {
                let row = &groups[half].attributes[i];
                match primitives {
                    Some(primitives) => o.0.int(row[primitives[half]] as i32),
                    None => from[half].take(row),
                }
            })),
        ),
    };
    let colors = rules::paint(&mut o, &values, place);
    each!([0, 1], half => store(words, &groups[half], colors[half]));
}

/// Shades a group of any state.
#[inline(always)]
fn single<'a, S: Simd>(mut o: Lanes<'a, S>, words: &mut TileWords, origin: [i32; 2], group: &Group<'_>) {
    let (group, state) = (black_box(group), black_box(group.state));
    let pixels = i32x16::load_array(o.simd(), *group.pixels);
    let place = place(pixels, origin);
    let from = o.from_row(pixels >> PLACE);
    let values = Values {
        key: known_key(state),
        state: StateValues::load(&mut o, inlined!(|o: &mut Lanes<'a, S>, i: usize| o.int(state[i] as i32))),
        attributes: Attributes::load(
            &mut o,
            inlined!(|_: &mut Lanes<'a, S>, i: usize| from.take(&group.attributes[i])),
        ),
    };
    let colors = rules::paint(&mut o, &values, place);
    store(words, group, colors);
}
