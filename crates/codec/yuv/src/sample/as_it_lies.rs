//! Rows of planes whose chroma needs no interpolation: codes are read in place, without a copy.

use super::chroma::{Across, down};
use super::codes::Code;
use super::paint::{Arithmetic, InTurns, PairOrder};
use super::{Filter, Plan};
use crate::format::{Layout, Subsampling};
use crate::frame::{Channel, Packing};
use core::ops::Range;
use pulp::bytemuck::cast_slice;

/// Longest row of luma, in bytes, for which two rows of texels are converted at a time. The chroma part of both rows is then computed
/// once, but twice as many streams of memory are read and written, which is slower for frames that do not fit the cache.
const MOST_OF_TWO_ROWS: usize = 2048;

/// Bytes of luma, for each texel of a group, of the longest row that is converted as a whole. A longer one is converted in parts, for
/// stores that do not cross lines of the cache; that takes up to two groups more.
const MOST_UNALIGNED: usize = 32;

/// Bytes of a line of the cache.
const LINE: usize = 64;

/// Samples of a row of chroma.
#[derive(Clone, Copy)]
enum Chroma<'a, C> {
    /// Of Cr, and of Cb.
    Apart([&'a [C]; 2]),
    InTurns(InTurns<'a, C>),
}

/// Codes of a row.
#[inline(always)]
pub(super) fn codes<'a, C: Code>(channel: &Channel<'a>, y: usize, of: Range<usize>) -> &'a [C] {
    let row = channel.data.get(y * channel.pitch + channel.offset..).unwrap_or_default();
    cast_slice(row.get(of.start * size_of::<C>()..of.end * size_of::<C>()).unwrap_or_default())
}

impl Plan<'_> {
    /// Whether all rows can be read in place and need no interpolation.
    pub(super) fn is_as_it_lies<C: Code>(&self) -> bool {
        let format = self.frame.format;
        let is_apart =
            |channel: &Channel<'_>| channel.packing == Packing::Apart && channel.step == size_of::<C>();
        let [cr, luma, cb] = &self.frame.channels;
        let is_planar = is_apart(luma) && is_apart(cr) && is_apart(cb);
        let is_linear = self.conversion.filter != Filter::Nearest;
        match self.across {
            Across::All => is_planar && !(is_linear && format.subsampling == Subsampling::S440),
            Across::Shared => is_planar || self.order().is_some(),
            Across::Pairs(..) => false,
        }
    }

    /// The order of interleaved samples of Cr and Cb.
    pub(super) fn order(&self) -> Option<PairOrder> {
        match self.frame.format.layout {
            Layout::SemiPlanar => Some(PairOrder::CbFirst),
            Layout::SemiPlanarSwapped => Some(PairOrder::CrFirst),
            _ => None,
        }
    }

    #[inline(always)]
    fn chroma<C: Code>(&self, row: usize, of: Range<usize>) -> Chroma<'_, C> {
        let [cr, _, cb] = &self.frame.channels;
        match self.order() {
            // Rows of pairs begin at the plane's start, whichever channel comes first.
            Some(order) => {
                let first = Channel { offset: 0, ..*cr };
                Chroma::InTurns(InTurns { samples: codes(&first, row, 2 * of.start..2 * of.end), order })
            }
            None => Chroma::Apart([codes(cr, row, of.clone()), codes(cb, row, of)]),
        }
    }

    /// Converts the first `columns` texels of rows; `columns` is a multiple of a group.
    #[inline(always)]
    pub(super) fn paint_as_it_lies<A, C, const PAIRS: usize, const GROUP: usize>(
        &self,
        arithmetic: A,
        first: usize,
        columns: usize,
        rows: &mut [A::Texel],
    ) where
        A: Arithmetic<PAIRS, GROUP>,
        C: Code,
    {
        let [cr, luma, _] = &self.frame.channels;
        let is_shared = self.across == Across::Shared;
        let is_halved = self.frame.format.subsampling.factors()[1] == 2;
        let is_narrow = columns * size_of::<C>() <= MOST_OF_TWO_ROWS;
        let is_whole = columns * size_of::<C>() <= MOST_UNALIGNED * GROUP;
        let row_of = |y: usize| down(y, cr.size[1], is_halved, self.conversion).0[0];
        let mut rows = (first..).zip(rows.chunks_mut(luma.size[0]));
        while let Some((y, texels)) = rows.next() {
            let (row, lumas) = (row_of(y), codes::<C>(luma, y, 0..columns));
            let is_square = is_shared && is_halved && is_narrow && row_of(y + 1) == row;
            if is_square && let Some((y, lower)) = rows.next() {
                let (lumas, texels) = ([lumas, codes(luma, y, 0..columns)], [texels, lower]);
                match self.chroma::<C>(row, 0..columns / 2) {
                    Chroma::Apart(chroma) => arithmetic.paint_squares(lumas, chroma, texels),
                    Chroma::InTurns(chroma) => arithmetic.paint_squares(lumas, chroma, texels),
                }
                continue;
            }
            for part in parts::<_, GROUP>(&texels[..columns], is_whole) {
                let samples = if is_shared { part.start / 2..part.end / 2 } else { part.clone() };
                let chroma = self.chroma::<C>(row, samples);
                let (lumas, texels) = (&lumas[part.clone()], &mut texels[part]);
                match chroma {
                    Chroma::Apart(chroma) if is_shared => arithmetic.paint_pairs(lumas, chroma, texels),
                    Chroma::Apart(chroma) => arithmetic.paint(lumas, chroma, texels),
                    Chroma::InTurns(chroma) => arithmetic.paint_pairs(lumas, chroma, texels),
                }
            }
        }
    }
}

/// The parts that a row of whole groups is converted in: the row as a whole, or its first group, the groups that begin at a cache line,
/// and its last group. Parts may overlap; texels in two parts are written twice.
#[inline(always)]
fn parts<T, const GROUP: usize>(texels: &[T], is_whole: bool) -> [Range<usize>; 3] {
    let columns = texels.len();
    let start = if is_whole { 0 } else { texels.as_ptr().align_offset(LINE) };
    if start == 0 || start % 2 == 1 || start > columns - GROUP {
        return [0..columns, 0..0, 0..0];
    }
    let end = columns - (columns - start) % GROUP;
    [0..GROUP, start..end, columns - GROUP..columns]
}
