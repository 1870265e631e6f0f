//! Chroma where texels lie between samples: weighted sums of two rows, which every arithmetic uses.

use super::Plan;
use super::as_it_lies::codes;
use super::chroma::{Across, Sum, blend_pairs, blend_rows};
use super::codes::{Code, Reader};
use super::paint::PairOrder;
use super::window::Window;
use crate::frame::{Channel, Frame};
use core::ops::Range;
use pulp::NullaryFnOnce;

/// Reads chroma of a tile and adds two rows of it.
pub(super) struct Sums<'a, C, S> {
    pub plan: &'a Plan<'a>,
    pub y: usize,
    /// Columns of luma.
    pub columns: Range<usize>,
    /// The factor of the rows' weights.
    pub scale: u16,
    /// Room for the upper row's codes of Cr and of Cb.
    pub rooms: [&'a mut [C]; 2],
    /// Room for the lower row's codes.
    pub below: &'a mut [C],
    /// Where sums of Cr and of Cb go, with one more on either side where chroma is interpolated along x.
    pub sums: [&'a mut [S]; 2],
}

impl<C: Code, S: Sum> NullaryFnOnce for Sums<'_, C, S> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Sums { plan, y, columns, scale, rooms, below, sums } = self;
        let Frame { format, channels: [cr, _, cb], .. } = plan.frame;
        let reader = Reader::new(*format, false);
        let fx = format.subsampling.factors()[0];
        let samples = columns.start / fx..columns.end / fx;
        let (rows, weights) = plan.rows(y);
        let weights = weights.map(|weight| weight * scale);
        let around = usize::from(matches!(plan.across, Across::Pairs(..)));
        if let Some(order) = plan.order() {
            // Rows of pairs begin at the plane's start, whichever channel comes first.
            let first = Channel { offset: 0, ..*cr };
            let [reds, blues] = sums;
            let sums = match order {
                PairOrder::CbFirst => [blues, reds],
                PairOrder::CrFirst => [reds, blues],
            };
            return interleaved::<C, S>(reader, &first, rows, weights, (samples, around), sums);
        }
        for ((channel, room), sums) in [cr, cb].into_iter().zip(rooms).zip(sums) {
            let upper = reader.read(channel, rows[0], samples.clone(), around, room);
            let lower = match rows[0] == rows[1] {
                true => upper,
                false => reader.read(channel, rows[1], samples.clone(), around, below),
            };
            blend_rows(reader, [upper, lower], weights, sums);
        }
    }
}

/// Adds two rows of pairs of samples, by channel. `around` more columns on either side are added, too; beyond the rows' ends the outermost
/// sums are repeated.
#[inline(always)]
fn interleaved<C: Code, S: Sum>(
    reader: Reader,
    channel: &Channel<'_>,
    rows: [usize; 2],
    weights: [u16; 2],
    (columns, around): (Range<usize>, usize),
    sums: [&mut [S]; 2],
) {
    let window = Window::new(&columns, around, channel.size[0]);
    let Range { start, end } = window.columns;
    let pairs = rows.map(|row| codes::<C>(channel, row, 2 * start..2 * end).as_chunks().0);
    let [first, second] = sums.map(|sums| sums.get_mut(..window.wanted).unwrap_or_default());
    let within =
        [&mut *first, &mut *second].map(|sums| sums.get_mut(window.places.clone()).unwrap_or_default());
    blend_pairs(reader, pairs, weights, within);
    window.repeat_ends(first);
    window.repeat_ends(second);
}
