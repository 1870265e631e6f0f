//! Textures as tables of decoded texels.
//!
//! A bilinear filter reads four texels. Where a texture is small against what is drawn with it, it is decoded before: a
//! table has a word for each texel, row by row, and behind the last texel of each row and column the one that follows where
//! coordinates wrap around, so that two neighbours are one load. Textures are read from memory as it was before the draw, so
//! a table is good for all of it.

use crate::draw::Draw;
use crate::rules::{self, ATTRIBUTE_WORDS, STATE_WORDS, Values, set_decoded, state_words};
use crate::state::{LEVELS, RenderState, combiner, format};
use fearless_simd::i32x16;
use fearless_simd::prelude::*;
use std::collections::HashMap;
use std::ops::RangeInclusive;
use xenoglot_raster::ops::{LANES, Lanes, Ops};

/// Texels of all tables at most.
const MOST: usize = 1 << 22;
/// Texels of one at most.
const MOST_OF_ONE: i64 = 1 << 18;

/// The part of a state that its texels depend on, and whether it reads texels: states with the same share a table.
fn texture(state: &RenderState) -> RenderState {
    let RenderState { clamp, mask, width, max_level, format, levels, palette, .. } = *state;
    let combiner = state.combiner & combiner::SAMPLE;
    RenderState { combiner, clamp, mask, width, max_level, format, levels, palette, ..RenderState::default() }
}

/// Columns and rows of a level.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Level {
    columns: RangeInclusive<i32>,
    rows: RangeInclusive<i32>,
}

impl Level {
    /// The texels of a level, if coordinates wrap around at a power of two or nowhere.
    fn new(state: &RenderState, level: u8) -> Option<Level> {
        let axis = |axis: usize| {
            let [low, high] = [state.clamp[axis], state.clamp[axis + 2]].map(|at| i32::from(at) >> level);
            let mask = i32::from(state.mask[axis] as i16) >> level;
            let wraps = mask >= 0 && !(low >= 0 && high <= mask);
            (mask & mask.wrapping_add(1) == 0 && low <= high).then_some(if wraps {
                0..=mask
            } else {
                low..=high
            })
        };
        Some(Level { columns: axis(0)?, rows: axis(1)? })
    }

    /// Entries of a row, one behind the last texel.
    fn stride(&self) -> i64 {
        i64::from(*self.columns.end()) - i64::from(*self.columns.start()) + 2
    }

    fn entries(&self) -> i64 {
        self.stride() * (i64::from(*self.rows.end()) - i64::from(*self.rows.start()) + 2)
    }
}

/// The states of a draw as words, and their tables.
#[derive(Debug)]
pub struct Textures {
    /// States; those with a table have places and strides of its entries instead of units of memory.
    pub states: Vec<[u32; STATE_WORDS]>,
    /// Entries of all tables.
    pub table: Vec<u32>,
}

/// A table: the first entry of each level, as if columns and rows began at 0, and entries of its rows.
type Places = [[i32; 2]; LEVELS];

impl Textures {
    /// No tables.
    pub fn none(draw: &Draw<'_>) -> Textures {
        Textures { states: draw.states().iter().map(state_words).collect(), table: Vec::new() }
    }

    /// Tables of the textures that have fewer texels than pixels that are drawn with them.
    #[inline(always)]
    pub fn decode<S: Simd>(simd: S, draw: &Draw<'_>, memory: &[u16]) -> Textures {
        let Textures { mut states, mut table } = Textures::none(draw);
        let mut candidates: Vec<Candidate> = Vec::new();
        let mut known: HashMap<RenderState, Option<usize>> = HashMap::new();
        let texture_of = draw.states().iter().map(|state| {
            *known.entry(texture(state)).or_insert_with(|| {
                candidates.push(Candidate::new(state)?);
                Some(candidates.len() - 1)
            })
        });
        let texture_of: Vec<Option<usize>> = texture_of.collect();
        count_pixels(draw, &texture_of, &mut candidates);
        let mut o = Lanes::new(simd, memory);
        for (words, texture) in states.iter_mut().zip(&texture_of) {
            let Some(candidate) = texture.and_then(|texture| candidates.get_mut(texture)) else { continue };
            if candidate.missing <= 0
                && candidate.places.is_none()
                && table.len() + candidate.entries() <= MOST
            {
                candidate.places = Some(decode(&mut o, words, &candidate.levels, &mut table));
            }
            if let Some(places) = &candidate.places {
                set_decoded(words, places);
            }
        }
        Textures { states, table }
    }
}

/// A texture that may become a table.
#[derive(Debug)]
struct Candidate {
    levels: Vec<Level>,
    /// How many more pixels must be drawn with it until a table pays.
    missing: i64,
    /// The table, if there is one.
    places: Option<Places>,
}

impl Candidate {
    /// That of a state, if it is filtered and not too large.
    fn new(state: &RenderState) -> Option<Candidate> {
        if state.combiner & combiner::SAMPLE == 0 || state.format & format::BILINEAR == 0 {
            return None;
        }
        let levels = (0..=state.last_level()).map(|level| Level::new(state, level));
        let levels: Vec<Level> = levels.collect::<Option<_>>()?;
        let entries = levels.iter().map(Level::entries).sum();
        (entries <= MOST_OF_ONE).then_some(Candidate { levels, missing: entries, places: None })
    }

    fn entries(&self) -> usize {
        self.levels.iter().map(Level::entries).sum::<i64>() as usize
    }
}

/// Subtracts the pixels of a draw, estimated, from the pixels that its textures still need for a table; stops when none needs any.
fn count_pixels(draw: &Draw<'_>, texture_of: &[Option<usize>], candidates: &mut [Candidate]) {
    let mut open = candidates.len();
    for (primitive, state, _) in draw.iter() {
        if open == 0 {
            return;
        }
        let texture = texture_of.get(usize::from(state)).copied().flatten();
        let Some(candidate) = texture.and_then(|texture| candidates.get_mut(texture)) else { continue };
        if candidate.missing > 0 {
            // As if triangles were half as wide as high.
            let [first, _, last] = primitive.y.map(|y| i64::from(y.max(0)) >> 3);
            candidate.missing -= (last - first) * (last - first) / 2;
            open -= usize::from(candidate.missing <= 0);
        }
    }
}

/// Decodes the levels of a state's texture.
#[inline(always)]
fn decode<S: Simd>(
    o: &mut Lanes<'_, S>,
    state: &[u32; STATE_WORDS],
    levels: &[Level],
    table: &mut Vec<u32>,
) -> Places {
    let simd = o.simd();
    let lanes = i32x16::load_array(simd, std::array::from_fn(|lane| lane as i32));
    let values = Values::constants(o, &[0; ATTRIBUTE_WORDS], state);
    let mut places = [[0; 2]; LEVELS];
    for (number, (level, place)) in levels.iter().zip(&mut places).enumerate() {
        let (left, top, stride) = (*level.columns.start(), *level.rows.start(), level.stride() as i32);
        let corner = top.wrapping_mul(stride).wrapping_add(left);
        *place = [(table.len() as i32).wrapping_sub(corner), stride];
        let level_number = o.int(number as i32);
        for y in top..=*level.rows.end() + 1 {
            let end = table.len() + stride as usize;
            for x in (left..=*level.columns.end() + 1).step_by(LANES) {
                let place = [lanes + x, o.int(y)];
                let texels = rules::decoded(o, &values, place, level_number).to_array();
                table.extend(texels.map(|texel| texel as u32));
            }
            table.truncate(end);
        }
    }
    places
}
