//! Pixels of opaque primitives that are drawn but not yet shaded.
//!
//! What opaque primitives do to depth and stencil does not depend on their colours, so a tile's primitives are tested first,
//! and each pixel has the number of the last one that is drawn there in place of its colour. When the tile is done, or a
//! primitive comes that reads colours, what is left of each primitive is shaded, sixteen pixels at once from wherever they
//! are: hidden pixels cost no texels, and pieces of a triangle share a group.

use super::painter::Painter;
use crate::frame::{TILE, TileWords};
use crate::primitive::Primitive;
use crate::rules::{ATTRIBUTE_WORDS, STATE_WORDS, attribute_words};
use fearless_simd::i32x16;
use fearless_simd::prelude::*;
use xenoglot_raster::ops::{LANES, Lanes};

/// Primitives that may wait.
const MOST: usize = 4096;
/// No run.
const NONE: u16 = u16::MAX;

/// Pixels of a row with the same primitive.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    /// Place of the first one in the tile.
    place: u16,
    /// How many there are.
    length: u16,
    /// The next run of the primitive.
    next: u16,
}

/// The pixels of a tile that wait for their colours.
#[derive(Debug)]
pub struct Waiting<'a> {
    /// A bit for each pixel of each row.
    rows: [u64; TILE as usize],
    /// The attributes of the primitives; pixels have the numbers of their places here.
    attributes: Vec<[u32; ATTRIBUTE_WORDS]>,
    /// Their states.
    states: Vec<&'a [u32; STATE_WORDS]>,
    /// The first run of each of them.
    heads: Vec<u16>,
    runs: Vec<Run>,
}

impl Default for Waiting<'_> {
    fn default() -> Self {
        Waiting {
            rows: [0; TILE as usize],
            attributes: Vec::new(),
            states: Vec::new(),
            heads: Vec::new(),
            runs: Vec::new(),
        }
    }
}

impl<'a> Waiting<'a> {
    /// Whether no primitive waits.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Whether no more may wait.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.states.len() == MOST
    }

    /// Lets a primitive wait. Its pixels have this number in place of their colours.
    #[inline(always)]
    pub fn push(&mut self, primitive: &Primitive, state: &'a [u32; STATE_WORDS]) -> i32 {
        self.attributes.push(attribute_words(primitive));
        self.states.push(state);
        self.states.len() as i32 - 1
    }

    /// The attributes of the primitive with a number.
    #[inline(always)]
    pub fn attributes(&self, number: i32) -> Option<&[u32; ATTRIBUTE_WORDS]> {
        self.attributes.get(number as usize)
    }

    /// Marks pixels of a row from a column on, a bit each.
    #[inline(always)]
    pub fn mark(&mut self, row: usize, column: usize, pixels: u64) {
        if let Some(row) = self.rows.get_mut(row) {
            *row |= pixels << column;
        }
    }

    /// Finds the runs of each primitive.
    #[inline(always)]
    fn find_runs<S: Simd>(&mut self, simd: S, words: &TileWords) {
        self.runs.clear();
        self.heads.clear();
        self.heads.resize(self.states.len(), NONE);
        for (row, waiting) in self.rows.iter_mut().enumerate().take(TILE as usize) {
            let mut waiting = std::mem::take(waiting);
            if waiting == 0 {
                continue;
            }
            let first = row * TILE as usize;
            let Some(line) = words.get(first..=first + TILE as usize) else { continue };
            let mut last = !(waiting >> 1);
            for (i, here) in line.as_chunks::<LANES>().0.iter().take(TILE as usize / LANES).enumerate() {
                let Some(next) = line.get(i * LANES + 1..).and_then(|line| line.first_chunk::<LANES>())
                else {
                    continue;
                };
                let (here, next) = (i32x16::load_array(simd, *here), i32x16::load_array(simd, *next));
                let differs = !((here ^ next) & 0xffff).simd_eq(0);
                last |= differs.to_bitmask() << (i * LANES);
            }
            while waiting != 0 {
                let start = waiting.trailing_zeros();
                let end = (last & u64::MAX << start).trailing_zeros();
                waiting &= u64::MAX.checked_shl(end + 1).unwrap_or(0);
                let number = line.get(start as usize).map_or(0, |&word| word as u16);
                let Some(head) = self.heads.get_mut(usize::from(number)) else { continue };
                let place = first as u16 + start as u16;
                let run = Run { place, length: (end - start + 1) as u16, next: *head };
                *head = self.runs.len() as u16;
                self.runs.push(run);
            }
        }
    }

    /// Shades all that wait. The first pixel of the tile is `origin`.
    #[inline(always)]
    pub fn shade<S: Simd>(&mut self, o: &Lanes<'_, S>, words: &mut TileWords, origin: [i32; 2]) {
        self.find_runs(o.simd(), words);
        let columns = i32x16::load_array(o.simd(), std::array::from_fn(|lane| lane as i32));
        let mut painter = Painter::new(o, words, origin);
        for ((&state, &head), attributes) in self.states.iter().zip(&self.heads).zip(&self.attributes) {
            let mut run = head;
            if run == NONE {
                continue;
            }
            painter.begin(attributes, state);
            while let Some(&Run { mut place, mut length, next }) = self.runs.get(usize::from(run)) {
                while length != 0 {
                    let some = length.min(LANES as u16);
                    painter.add(columns + i32::from(place), some.into());
                    (place, length) = (place + some, length - some);
                }
                run = next;
            }
        }
        painter.paint();
        self.attributes.clear();
        self.states.clear();
    }
}
