//! Groups of pixels that are shaded together.

use super::usual::{is_usual, usual};
use crate::frame::{TILE, TILE_PIXELS, TileWords};
use crate::rules::{
    self, ATTRIBUTE_WORDS, Attributes, Key, STATE_WORDS, Setting, StateValues, Values, known_key,
};
use fearless_simd::prelude::*;
use fearless_simd::{i32x16, mask32x16};
use std::hint::black_box;
use xenoglot_raster::ops::{LANES, Lanes, Ops, Pairs};
use xenoglot_raster::{each, inlined};

/// Sixteen pixels of one primitive, or the end of one and the beginning of another of the same state.
#[derive(Clone, Copy)]
struct Group<'a> {
    state: &'a [u32; STATE_WORDS],
    first: &'a [u32; ATTRIBUTE_WORDS],
    other: &'a [u32; ATTRIBUTE_WORDS],
    /// From which pixel on they are the other primitive's.
    from: usize,
    /// How many there are.
    len: usize,
    /// Their places in the tile, with room for a run that does not fit. Entries from `len` on have any value.
    places: [i32; 2 * LANES],
}

/// Shades groups, two at a time.
pub struct Painter<'a, 'p, S: Simd> {
    o: &'p Lanes<'p, S>,
    words: &'p mut TileWords,
    origin: [i32; 2],
    groups: [Group<'a>; 2],
    /// The one that is filled.
    current: usize,
}

impl<'a, 'p, S: Simd> Painter<'a, 'p, S> {
    /// One for a tile whose first pixel is `origin`.
    #[inline(always)]
    pub fn new(o: &'p Lanes<'p, S>, words: &'p mut TileWords, origin: [i32; 2]) -> Self {
        let zeros = &[0; ATTRIBUTE_WORDS];
        let none = Group {
            state: &[0; STATE_WORDS],
            first: zeros,
            other: zeros,
            from: LANES,
            len: 0,
            places: [0; 2 * LANES],
        };
        Painter { o, words, origin, groups: [none; 2], current: 0 }
    }

    /// Begins a primitive.
    #[inline(always)]
    pub fn begin(&mut self, attributes: &'a [u32; ATTRIBUTE_WORDS], state: &'a [u32; STATE_WORDS]) {
        let group = &mut self.groups[self.current];
        let same = std::ptr::eq(group.state, state);
        if group.len != 0 && same && group.from == LANES {
            (group.other, group.from) = (attributes, group.len);
            return;
        }
        if group.len != 0 {
            self.current += 1;
        }
        if self.current == 2 || !std::ptr::eq(self.groups[0].state, state) {
            self.paint();
        }
        let group = &mut self.groups[self.current];
        *group =
            Group { state, first: attributes, other: attributes, from: LANES, len: 0, places: group.places };
    }

    /// Adds up to sixteen pixels of the primitive.
    #[inline(always)]
    pub fn add(&mut self, places: i32x16<S>, count: usize) {
        let group = &mut self.groups[self.current];
        if let Some(room) = group.places.get_mut(group.len..).and_then(|room| room.first_chunk_mut()) {
            places.store_array(room);
        }
        group.len += count;
        if group.len >= LANES {
            let last = if group.from == LANES { group.first } else { group.other };
            let rest = Group { first: last, other: last, from: LANES, len: group.len - LANES, ..*group };
            group.len = LANES;
            self.current += 1;
            if self.current == 2 {
                self.paint();
            }
            let group = &mut self.groups[self.current];
            *group = rest;
            group.places.copy_within(LANES.., 0);
        }
    }

    /// Shades what there is.
    pub fn paint(&mut self) {
        self.current = 0;
        let [a, b] = &mut self.groups;
        if a.len == 0 {
            return;
        }
        if !std::ptr::eq(a.state, b.state) || b.len == 0 {
            *b = Group { len: 0, ..*a };
        }
        let (o, origin, simd) = (*self.o, self.origin, self.o.simd());
        let groups = &self.groups;
        let words = &mut *self.words;
        let state = groups[0].state;
        if is_usual(&known_key::<()>(state)) {
            if groups.iter().all(|group| group.from == LANES) {
                simd.vectorize(inlined!(|| pair(o, words, origin, groups, |_| None)));
            } else {
                simd.vectorize(inlined!(|| pair(
                    o,
                    words,
                    origin,
                    groups,
                    inlined!(|half: usize| Some(mask32x16::from_bitmask(simd, (1 << groups[half].from) - 1)))
                )));
            }
        } else {
            for group in groups.iter().filter(|group| group.len != 0) {
                simd.vectorize(inlined!(|| single(o, words, origin, group)));
            }
        }
        self.groups.iter_mut().for_each(|group| group.len = 0);
    }
}

/// Columns and rows of a group's pixels.
#[inline(always)]
fn place<S: Simd>(simd: S, group: &Group<'_>, origin: [i32; 2]) -> [i32x16<S>; 2] {
    let places = i32x16::load_array(simd, *group.places.first_chunk().unwrap_or(&[0; LANES]));
    [(places & (TILE as i32 - 1)) + origin[0], (places >> TILE.trailing_zeros()) + origin[1]]
}

/// Stores the colours of a group.
#[inline(always)]
fn store<S: Simd>(words: &mut TileWords, group: &Group<'_>, colors: i32x16<S>) {
    let colors = colors.to_array();
    for (lane, (&place, color)) in group.places.iter().zip(colors).enumerate() {
        // Most groups are full: places behind the last pixel are written, too, but to where nobody looks.
        let place = if lane < group.len { place as usize } else { TILE_PIXELS };
        let word = &mut words[place.min(TILE_PIXELS)];
        *word = *word & !0xffff | color;
    }
}

/// Shades two groups of a usual state. `first` says which pixels are those of a group's first primitive, if not all are.
#[inline(always)]
fn pair<'a, S: Simd>(
    o: Lanes<'a, S>,
    words: &mut TileWords,
    origin: [i32; 2],
    groups: &[Group<'_>; 2],
    first: impl Fn(usize) -> Option<mask32x16<S>>,
) {
    let places = each!([0, 1], half => place(o.simd(), &groups[half], origin));
    let place = each!([0, 1], axis => [places[0][axis], places[1][axis]]);
    let is_first = each!([0, 1], half => first(half));
    let (groups, state) = (black_box(groups), black_box(groups[0].state));
    let mut o = Pairs(o);
    let values = Values {
        key: Key { threshold: Setting::Known(0), ..usual(known_key(state)) },
        state: StateValues::load(&mut o, inlined!(|o: &mut Pairs<'a, S>, i: usize| o.int(state[i] as i32))),
        attributes: Attributes::load(
            &mut o,
            inlined!(|o: &mut Pairs<'a, S>, i: usize| each!([0, 1], half => {
                let first = o.0.int(groups[half].first[i] as i32);
                match is_first[half] {
                    None => first,
                    Some(is_first) => {
                        let other = o.0.int(groups[half].other[i] as i32);
                        o.0.select(is_first, first, other)
                    }
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
    let place = place(o.simd(), group, origin);
    let is_first = mask32x16::from_bitmask(o.simd(), (1 << group.from) - 1);
    let (first, other, state) = (black_box(group.first), black_box(group.other), black_box(group.state));
    let values = Values {
        key: known_key(state),
        state: StateValues::load(&mut o, inlined!(|o: &mut Lanes<'a, S>, i: usize| o.int(state[i] as i32))),
        attributes: Attributes::load(
            &mut o,
            inlined!(|o: &mut Lanes<'a, S>, i: usize| {
                let (first, other) = (o.int(first[i] as i32), o.int(other[i] as i32));
                o.select(is_first, first, other)
            }),
        ),
    };
    let colors = rules::paint(&mut o, &values, place);
    store(words, group, colors);
}
