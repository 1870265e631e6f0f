//! Rows with chroma by any filter and of any subsampling, where alpha has no part in colours.
//!
//! Sums of chroma are singles. Weights of the nearest and of linear filters are eighths at most along each axis, and those of cubic
//! ones between two samples 128ths, so that with codes of eight bits singles hold all of these sums exactly.

use super::codes::{Code, Reader};
use super::lanes::Lanes;
use super::paint::Arithmetic;
use super::resampled::{Between, TILE, WINDOW, phases};
use super::singles::Singles;
use super::words::Words;
use super::{Arch, Error, Method, Plan, Texel, Work};
use crate::taps::Axis;
use core::marker::PhantomData;
use pulp::bytemuck::cast_slice_mut;

/// Chroma samples that are processed at a time.
const SAMPLES: usize = 16;
/// Texels that are packed into bytes at a time.
const GROUP: usize = 32;

/// Makes all rows.
pub(super) fn bands<T: Texel, C: Code, const IS_LUMA_SHARED: bool>(
    arch: Arch,
    plan: &Plan<'_>,
    out: &mut [T],
) -> Result<(), Error> {
    match plan.frame.format.subsampling.factors()[0] {
        1 => super::bands::<Filtered<T, C, IS_LUMA_SHARED, 1>>(arch, plan, out),
        2 => super::bands::<Filtered<T, C, IS_LUMA_SHARED, 2>>(arch, plan, out),
        _ => super::bands::<Filtered<T, C, IS_LUMA_SHARED, 4>>(arch, plan, out),
    }
}

/// Converts rows with [`Singles`], whose chroma is interpolated in singles; a chroma sample serves `FACTOR` texels.
struct Filtered<T, C, const IS_LUMA_SHARED: bool, const FACTOR: usize>(PhantomData<(T, C)>);

impl<T, C, const IS_LUMA_SHARED: bool, const FACTOR: usize> Method for Filtered<T, C, IS_LUMA_SHARED, FACTOR>
where
    T: Texel,
    C: Code,
{
    type Texel = T;
    type Room = Room;

    const IS_OPAQUE: bool = true;

    #[inline(always)]
    fn rows<L: Lanes + Words<HALF, GROUP>, const HALF: usize, const GROUP: usize>(work: Work<'_, L, Self>) {
        work.rows_of_groups();
    }
}

/// What texels are made in.
#[derive(Default)]
pub(super) struct Room {
    luma: Line,
    /// Cr and Cb.
    between: [Between; 2],
}

/// Codes of luma.
struct Line([u16; TILE]);

impl Default for Line {
    fn default() -> Line {
        Line([0; TILE])
    }
}

impl<T, C, L, const IS_LUMA_SHARED: bool, const FACTOR: usize>
    Work<'_, L, Filtered<T, C, IS_LUMA_SHARED, FACTOR>>
where
    T: Texel,
    C: Code,
    L: Lanes,
{
    #[inline(always)]
    fn rows_of_groups(self) {
        let Work { lanes, plan, room, first, width, rows } = self;
        let arithmetic = Singles::<L, T, IS_LUMA_SHARED>::new(lanes, plan, 1);
        let [cr, luma, cb] = &plan.frame.channels;
        let factors = plan.frame.format.subsampling.factors();
        let axes = [0, 1].map(|axis| Axis::new(factors, plan.conversion, axis));
        let mut weights = [[lanes.splat(0.0); FACTOR]; WINDOW];
        for (place, phase) in phases::<FACTOR>(axes[0]).into_iter().enumerate() {
            for (of_sample, weight) in weights.iter_mut().zip(phase) {
                of_sample[place] = lanes.splat(weight);
            }
        }
        let reader = Reader::new(plan.frame.format, false);
        for (y, row) in (first..).zip(rows.chunks_mut(width)) {
            let taps = axes[1].taps(y);
            for (tile, texels) in row.chunks_mut(TILE).enumerate() {
                let x = tile * TILE;
                // Texels behind a row's end are of its last samples.
                let columns = x..x + texels.len().next_multiple_of((SAMPLES * FACTOR).max(GROUP));
                let samples = columns.start / FACTOR..columns.end / FACTOR;
                let lumas = cast_slice_mut(&mut room.luma.0);
                let lumas: &[C] = reader.read_apart(lanes, luma, y, columns.clone(), lumas);
                for (between, channel) in room.between.iter_mut().zip([cr, cb]) {
                    between.read::<L, C>(lanes, reader, channel, taps, samples.clone());
                }
                let [reds, blues] = &room.between;
                for from in (0..samples.len()).step_by(SAMPLES) {
                    let reds = resample(lanes, &reds.0[from..], weights);
                    let blues = resample(lanes, &blues.0[from..], weights);
                    let of = from * FACTOR;
                    for part in 0..FACTOR.div_ceil(2) {
                        let at = of + part * GROUP;
                        if FACTOR == 1 {
                            let Some(lumas) = lumas.get(at..).and_then(|lumas| lumas.first_chunk()) else {
                                return;
                            };
                            put(&arithmetic.few(lumas, arithmetic.of_sums([reds[0], blues[0]])), texels, at);
                            continue;
                        }
                        let Some(lumas) = lumas.get(at..).and_then(|lumas| lumas.first_chunk()) else {
                            return;
                        };
                        let [reds, blues] = [pairs(lanes, reds, part), pairs(lanes, blues, part)];
                        let even = arithmetic.of_sums([reds[0], blues[0]]);
                        let odd = arithmetic.of_sums([reds[1], blues[1]]);
                        put(&arithmetic.texel_pairs(lumas, [even, odd]), texels, at);
                    }
                }
            }
        }
    }
}

/// Interpolated chroma of sixteen groups of texels, by place in the group.
#[inline(always)]
fn resample<L: Lanes, const FACTOR: usize>(
    lanes: L,
    between: &[f32],
    weights: [[L::Singles; FACTOR]; WINDOW],
) -> [L::Singles; FACTOR] {
    let mut sums = [lanes.splat(0.0); FACTOR];
    for (i, weights) in weights.into_iter().enumerate() {
        let Some(window) = between.get(i..).and_then(|between| between.first_chunk()) else { break };
        for (sum, product) in sums.iter_mut().zip(lanes.singles_by(window, weights)) {
            *sum = lanes.add(*sum, product);
        }
    }
    sums
}

/// Interpolated chroma of 32 texels: at even places, and at odd places.
#[inline(always)]
fn pairs<L: Lanes, const FACTOR: usize>(
    lanes: L,
    sums: [L::Singles; FACTOR],
    part: usize,
) -> [L::Singles; 2] {
    match *sums.as_slice() {
        [even, odd] => [even, odd],
        [first, second, third, fourth] => {
            let (even, odd) = (lanes.in_turns(first, third), lanes.in_turns(second, fourth));
            if part == 0 { [even[0], odd[0]] } else { [even[1], odd[1]] }
        }
        _ => [sums[0]; 2],
    }
}

/// Writes as many texels as there is room for.
#[inline(always)]
fn put<T: Copy, const N: usize>(made: &[T; N], texels: &mut [T], at: usize) {
    let out = texels.get_mut(at..).unwrap_or_default();
    match out.first_chunk_mut() {
        Some(out) => *out = *made,
        None => out.iter_mut().zip(made).for_each(|(out, made)| *out = *made),
    }
}
