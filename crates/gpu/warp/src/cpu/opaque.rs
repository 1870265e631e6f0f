//! Pixels of opaque primitives that are drawn but not yet shaded.
//!
//! What opaque primitives do to depth and stencil does not depend on their colours, so a tile's primitives are tested first,
//! and each pixel has the number of the last one that is drawn there in place of its colour. When the tile is done, or a
//! primitive comes that reads colours, what is left of them is shaded, sixteen pixels at once from wherever they are: hidden
//! pixels cost no texels. A pixel is left of a group where the group was drawn and its primitive's number still stands.
//!
//! Primitives of a state are in blocks of sixteen, attribute by attribute, so that an engine of sixteen lanes takes an
//! attribute of sixteen pixels with one permutation, whichever of the block's primitives they belong to.

use super::painter::{Group, PLACE, Painter};
use super::quads::{self, GROUP, GROUPS};
use crate::frame::{TILE_PIXELS, TileWords};
use crate::primitive::Primitive;
use crate::rules::{ATTRIBUTE_WORDS, STATE_WORDS, put_attributes};
use fearless_simd::mask32x16;
use fearless_simd::prelude::*;
use xenoglot_raster::inlined;
use xenoglot_raster::ops::{LANES, Lanes};

/// Primitives in a block.
const BLOCK: usize = LANES;
/// Blocks of primitives that may wait.
const MOST: usize = 256;
/// Groups of quads that may wait. A tile is shaded when fewer than two lists' groups have room left.
const MOST_GROUPS: usize = 16 * GROUPS;
/// No block.
const NONE: u16 = u16::MAX;

/// Up to sixteen primitives of one state, attribute by attribute: each attribute is a cache line. Entries past `len` have any
/// value.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Block {
    /// Each attribute of all primitives.
    pub attributes: [[u32; BLOCK]; ATTRIBUTE_WORDS],
    /// The number of their state.
    state: usize,
    /// How many there are.
    len: usize,
}

/// Pixels that wait for the primitives of a block.
#[derive(Clone, Copy, Debug)]
struct Part {
    block: usize,
    /// First pixel in [`Waiting::pixels`], and the one behind the last.
    pixels: [usize; 2],
}

/// The pixels of a tile that wait for their colours.
#[derive(Debug)]
pub struct Waiting {
    /// Blocks; from `used` on they are free.
    blocks: Vec<Block>,
    used: usize,
    /// The block of each state that the next primitive is added to.
    open: Vec<u16>,
    /// Quads of the groups that drew a pixel, and a bit for each pixel that was drawn.
    quads: Vec<[u32; GROUP]>,
    drawn: Vec<u16>,
    /// How many groups there are.
    len: usize,
    /// Parts of the pixels.
    parts: Vec<Part>,
    /// The pixels left to shade: place in the tile, then lane of the primitive in its block.
    pixels: Vec<i32>,
}

impl Default for Waiting {
    fn default() -> Self {
        Waiting {
            blocks: Vec::with_capacity(MOST / 8),
            used: 0,
            open: Vec::new(),
            quads: Vec::new(),
            drawn: Vec::new(),
            len: 0,
            parts: Vec::new(),
            pixels: vec![0; TILE_PIXELS + LANES],
        }
    }
}

impl Waiting {
    /// Whether no primitive waits.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Whether only the groups of the list at hand may still be added.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.used == MOST || self.len > MOST_GROUPS - 2 * GROUPS
    }

    /// Adds a primitive of the state with a number. Its pixels are to have the result in place of their colours.
    #[inline(always)]
    pub fn push(&mut self, primitive: &Primitive, state: usize) -> u16 {
        let open = self.open.get(state).copied().unwrap_or(NONE);
        let mut number = usize::from(open);
        if self.blocks.get(number).is_none_or(|block| block.len == BLOCK) {
            number = self.add_block(state);
        }
        let Some(block) = self.blocks.get_mut(number) else { return 0 };
        let lane = block.len % BLOCK;
        put_attributes(primitive, inlined!(|number: usize, word: u32| block.attributes[number][lane] = word));
        block.len += 1;
        (number * BLOCK + lane) as u16
    }

    /// Opens a block for a state.
    #[inline(never)]
    fn add_block(&mut self, state: usize) -> usize {
        let number = self.used;
        self.used += 1;
        match self.blocks.get_mut(number) {
            Some(block) => (block.state, block.len) = (state, 0),
            None => self.blocks.push(Block { attributes: [[0; BLOCK]; ATTRIBUTE_WORDS], state, len: 0 }),
        }
        if self.open.len() <= state {
            self.open.resize(state + 1, NONE);
        }
        self.open[state] = number as u16;
        number
    }

    /// The block and the lane of the primitive with a number.
    #[inline(always)]
    pub fn primitive(&self, number: u16) -> Option<(&Block, usize)> {
        let number = usize::from(number);
        Some((self.blocks.get(number / BLOCK)?, number % BLOCK))
    }

    /// Makes room for the groups of a list.
    #[inline(always)]
    pub fn make_room(&mut self) {
        if self.quads.len() < self.len + GROUPS {
            let room = (2 * self.len + GROUPS).min(MOST_GROUPS);
            self.quads.resize(room, [0; GROUP]);
            self.drawn.resize(room, 0);
        }
    }

    /// Records the pixels that a group drew, if any.
    #[inline(always)]
    pub fn note(&mut self, quads: [u32; GROUP], pixels: u16) {
        if let (Some(group), Some(drawn)) = (self.quads.get_mut(self.len), self.drawn.get_mut(self.len)) {
            (*group, *drawn) = (quads, pixels);
        }
        self.len += usize::from(pixels != 0);
    }

    /// Finds the pixels whose last primitive is that of the group that drew them.
    #[inline(always)]
    fn find_pixels<S: Simd>(&mut self, o: &Lanes<'_, S>, words: &TileWords) {
        let simd = o.simd();
        self.parts.clear();
        let (mut len, mut start, mut block) = (0, 0, usize::MAX);
        for (quads, &drawn) in self.quads.iter().zip(&self.drawn).take(self.len) {
            let group = quads::Group::new(simd, quads);
            let number = i32::from(group.number());
            if number as usize / BLOCK != block {
                if len != start {
                    self.parts.push(Part { block, pixels: [start, len] });
                }
                (start, block) = (len, number as usize / BLOCK);
            }
            let here = group.load(simd, words) & 0xffff;
            let left = here.simd_eq(number) & mask32x16::from_bitmask(simd, drawn.into());
            let lane = number % BLOCK as i32;
            let pixels = (group.places(simd) + (lane << PLACE)).compress(left);
            if let Some(room) = self.pixels.get_mut(len..).and_then(|room| room.first_chunk_mut()) {
                pixels.store_array(room);
            }
            len += left.to_bitmask().count_ones() as usize;
        }
        if len != start {
            self.parts.push(Part { block, pixels: [start, len] });
        }
    }

    /// Shades all that wait. The first pixel of the tile is `origin`.
    #[inline(always)]
    pub fn shade<S: Simd>(
        &mut self,
        o: &Lanes<'_, S>,
        words: &mut TileWords,
        origin: [i32; 2],
        states: &[[u32; STATE_WORDS]],
    ) {
        self.find_pixels(o, words);
        let mut painter = Painter::new(o, words, origin);
        for &Part { block, pixels: [mut at, end] } in &self.parts {
            let Some(block) = self.blocks.get(block) else { continue };
            let Some(state) = states.get(block.state) else { continue };
            while at < end {
                let Some(pixels) = self.pixels.get(at..).and_then(|pixels| pixels.first_chunk()) else {
                    break;
                };
                painter.add(Group { state, attributes: &block.attributes, pixels, len: LANES.min(end - at) });
                at += LANES;
            }
        }
        painter.finish();
        for block in self.blocks.iter().take(self.used) {
            if let Some(open) = self.open.get_mut(block.state) {
                *open = NONE;
            }
        }
        (self.used, self.len) = (0, 0);
    }
}
