//! Rows with alpha in colours, and chroma by any filter and of any subsampling: all numbers are singles, and every texel has a sum of
//! chroma of its own.
//!
//! Weights of the nearest and of linear filters are eighths at most along each axis, so that with codes of 16 bits singles hold
//! their sums exactly: results are those of the integers that other conversions have. Cubic weights are rounded where they are
//! multiplied and added.

use super::codes::{Code, Reader};
use super::lanes::Lanes;
use super::words::Words;
use super::{Method, Plan, Texel, Work};
use crate::conversion::Affine;
use crate::frame::{Channel, Frame};
use crate::taps::{Axis, Taps};
use core::marker::PhantomData;
use core::ops::Range;
use pulp::NullaryFnOnce;
use pulp::bytemuck::cast_slice_mut;

/// Texels made at a time, a multiple of the factors of all subsamplings and of `GROUP`.
pub(super) const TILE: usize = 512;
/// Texels of a vector.
const GROUP: usize = 16;
/// Samples beyond a group's own that its texels have a part of, on either side.
const AROUND: usize = 2;
/// Samples that texels of a group have a part of.
pub(super) const WINDOW: usize = 2 * AROUND + 1;
const ROOM: usize = TILE + 2 * AROUND;

/// Makes rows by singles alone.
pub(super) struct Resampled<T, C>(PhantomData<(T, C)>);

impl<T: Texel, C: Code> Method for Resampled<T, C> {
    type Texel = T;
    type Room = Room;

    const IS_OPAQUE: bool = false;

    #[inline(always)]
    fn rows<L: Lanes + Words<HALF, GROUP>, const HALF: usize, const GROUP: usize>(work: Work<'_, L, Self>) {
        work.by_singles();
    }
}

/// What texels are made in.
pub(super) struct Room {
    codes: [u16; TILE],
    between: Between,
    /// For each place of a group, numbers of all groups.
    phases: [[f32; TILE]; 4],
    components: Components,
}

/// A row of samples of chroma between rows of them, with [`AROUND`] more on either side.
pub(super) struct Between(pub [f32; ROOM]);

impl Default for Between {
    fn default() -> Between {
        Between([0.0; ROOM])
    }
}

/// Numbers of Cr, luma, Cb and alpha for each texel.
type Components = [[f32; TILE]; 4];

impl Default for Room {
    fn default() -> Room {
        Room {
            codes: [0; TILE],
            between: Between::default(),
            phases: [[0.0; TILE]; 4],
            components: [[0.0; TILE]; 4],
        }
    }
}

/// Weights of the samples around a group, for each of its places.
type Phases<const FACTOR: usize> = [[f32; WINDOW]; FACTOR];

pub(super) fn phases<const FACTOR: usize>(axis: Axis) -> Phases<FACTOR> {
    let mut phases = [[0.0; WINDOW]; FACTOR];
    for (place, weights) in phases.iter_mut().enumerate() {
        let Taps { first, weights: taps } = axis.taps(place);
        let from = first.saturating_add_unsigned(AROUND).max(0).unsigned_abs();
        weights.iter_mut().skip(from).zip(taps).for_each(|(weight, tap)| *weight = tap);
    }
    phases
}

impl<T: Texel, C: Code, L: Lanes> Work<'_, L, Resampled<T, C>> {
    #[inline(always)]
    fn by_singles(self) {
        let Work { lanes, plan, room, first, width, rows } = self;
        let Frame { format, channels: [cr, luma, cb], alpha, .. } = plan.frame;
        let factors = format.subsampling.factors();
        let axes = [0, 1].map(|axis| Axis::new(factors, plan.conversion, axis));
        let reader = Reader::new(*format, false);
        for (y, row) in (first..).zip(rows.chunks_mut(width)) {
            for (tile, texels) in row.chunks_mut(TILE).enumerate() {
                let x = tile * TILE;
                let full = [(1, luma), (3, alpha.as_ref().unwrap_or(luma))];
                for (component, channel) in full {
                    let columns = x..x + texels.len();
                    let codes = reader.read_apart::<L, C>(
                        lanes,
                        channel,
                        y,
                        columns,
                        cast_slice_mut(&mut room.codes),
                    );
                    for (out, &code) in room.components[component].iter_mut().zip(codes) {
                        *out = f32::from(code.number(reader));
                    }
                }
                for (component, channel) in [(0, cr), (2, cb)] {
                    let samples = x / factors[0]..(x + texels.len()).div_ceil(factors[0]);
                    room.between.read::<L, C>(lanes, reader, channel, axes[1].taps(y), samples.clone());
                    match factors[0] {
                        1 => room.copy(component),
                        2 => room.resample::<2>(component, phases(axes[0]), samples.len()),
                        _ => room.resample::<4>(component, phases(axes[0]), samples.len()),
                    }
                }
                paint(lanes, plan, &room.components, texels);
            }
        }
    }
}

impl Between {
    /// Interpolates the samples at some places along x.
    #[inline(always)]
    pub(super) fn read<L: Lanes, C: Code>(
        &mut self,
        lanes: L,
        reader: Reader,
        channel: &Channel<'_>,
        rows: Taps,
        samples: Range<usize>,
    ) {
        let code = PhantomData::<C>;
        lanes.apart(Reading { reader, channel, rows, samples, out: &mut self.0, code });
    }
}

/// The work of [`Between::read`].
struct Reading<'a, C> {
    reader: Reader,
    channel: &'a Channel<'a>,
    rows: Taps,
    samples: Range<usize>,
    out: &'a mut [f32; ROOM],
    code: PhantomData<C>,
}

impl<C: Code> NullaryFnOnce for Reading<'_, C> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Reading { reader, channel, rows, samples, out, .. } = self;
        let start = samples.start.saturating_sub(AROUND);
        // Columns before the first have its code.
        let before = start + AROUND - samples.start;
        let (edge, between) = out.split_at_mut(before);
        let mut room = [0u16; ROOM];
        for (i, (row, weight)) in rows.clamped(channel.size[1]).enumerate() {
            let columns = start..samples.end + AROUND;
            let codes: &[C] = reader.read(channel, row, columns, 0, cast_slice_mut(&mut room));
            if i == 0 {
                for (out, &code) in between.iter_mut().zip(codes) {
                    *out = f32::from(code.number(reader)) * weight;
                }
            } else {
                for (out, &code) in between.iter_mut().zip(codes) {
                    *out += f32::from(code.number(reader)) * weight;
                }
            }
        }
        if let Some(&first) = between.first() {
            edge.fill(first);
        }
    }
}

impl Room {
    /// Takes a sample for each texel.
    #[inline(always)]
    fn copy(&mut self, component: usize) {
        let between = self.between.0.iter().skip(AROUND);
        self.components[component].iter_mut().zip(between).for_each(|(out, &number)| *out = number);
    }

    /// Makes a component of `groups` of `FACTOR` texels.
    #[inline(always)]
    fn resample<const FACTOR: usize>(&mut self, component: usize, phases: Phases<FACTOR>, groups: usize) {
        let groups = groups.min(TILE / FACTOR);
        for (out, weights) in self.phases.iter_mut().zip(phases) {
            // Sums of all groups at once become vectors.
            let out = &mut out[..groups];
            out.fill(0.0);
            for (i, weight) in weights.into_iter().enumerate().filter(|&(_, weight)| weight != 0.0) {
                for (out, number) in out.iter_mut().zip(&self.between.0[i..]) {
                    *out += number * weight;
                }
            }
        }
        let (texels, _) = self.components[component].as_chunks_mut::<FACTOR>();
        for (group, texels) in texels[..groups].iter_mut().enumerate() {
            for (texel, phase) in texels.iter_mut().zip(&self.phases) {
                *texel = phase[group];
            }
        }
    }
}

/// Makes texels of their components.
#[inline(always)]
fn paint<L: Lanes, T: Texel>(lanes: L, plan: &Plan<'_>, components: &Components, texels: &mut [T]) {
    let Affine { matrix, offset } = &plan.affine;
    let is_opaque = plan.is_opaque(T::ONE);
    let mut columns = [[lanes.splat(0.0); 4]; 4];
    for (row, factors) in matrix.iter().enumerate() {
        for (column, &factor) in factors.iter().enumerate() {
            columns[column][row] = lanes.splat(factor);
        }
    }
    let offset = offset.map(|c| lanes.splat(c));
    let components = components.each_ref().map(|component| component.as_chunks::<GROUP>().0);
    for (group, texels) in texels.chunks_mut(GROUP).enumerate() {
        let mut sums = offset;
        // Chroma is added before luma, as other conversions do it.
        for component in [2, 0, 1, 3] {
            let products = lanes.singles_by(&components[component][group], columns[component]);
            for (sum, product) in sums.iter_mut().zip(products) {
                *sum = lanes.add(*sum, product);
            }
        }
        let [red, green, blue, alpha] = sums;
        let mut made = T::of(lanes, [red, green, blue]);
        if !is_opaque {
            for (texel, alpha) in made.iter_mut().zip(lanes.to_array(alpha)) {
                texel.set_alpha(alpha);
            }
        }
        texels.copy_from_slice(&made[..texels.len()]);
    }
}
