//! Sampling frames at the centres of their luma samples.
//!
//! Rows are made in tiles. Chroma is brought to the places of luma in integers, which are exact. A matrix of singles then makes
//! RGB of the sums, so that only its own rounding is between the result and the exact one.

mod chroma;
mod codes;
mod lanes;
#[cfg(test)]
mod tests;

use crate::conversion::{Affine, Conversion};
use crate::frame::{Error, Frame, Subsampling};
use chroma::{Across, Sum, across, blend, blend_rows, down};
use codes::{Code, Number, Reader};
use lanes::{Lanes, Portable};
use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

/// Texels of a row that are made together.
const GROUP: usize = 32;

/// Texels for which samples are read at a time.
const TILE: usize = 32 * GROUP;

/// Samples of a tile with one more on either side, and as many more as make rows of bytes begin where cache lines do.
const ROOM: usize = TILE + 64;

/// Rows that a thread takes at once.
const ROWS: usize = 16;

/// What weights along an axis add up to.
const QUARTERS: u16 = 4;

/// Converts a frame to RGBA, alpha 1, rows without padding.
///
/// # Errors
/// When `out` is too short; it is not touched then.
pub fn convert(frame: &Frame<'_>, conversion: &Conversion, out: &mut [[f32; 4]]) -> Result<(), Error> {
    rows(Arch::new(), frame, conversion, out)
}

/// Converts a frame to RGBA of eight bits, clamped and rounded to the nearest, alpha 255, rows without padding.
///
/// # Errors
/// When `out` is too short; it is not touched then.
pub fn convert_rgba8(frame: &Frame<'_>, conversion: &Conversion, out: &mut [[u8; 4]]) -> Result<(), Error> {
    rows(Arch::new(), frame, conversion, out)
}

/// A texel to be made.
trait Texel: Copy + Default + Send {
    /// What 1 is.
    const ONE: f32;

    /// Whether so many are made that models of luma and chroma have code of their own.
    const ARE_MANY: bool;

    fn of<L: Lanes>(lanes: L, rgb: [L::Singles; 3]) -> [Self; 16];

    /// Brings texels at even places and those at odd ones together.
    fn of_pairs<L: Lanes>(lanes: L, pairs: [[L::Singles; 3]; 2]) -> [Self; 32];
}

impl Texel for [f32; 4] {
    const ONE: f32 = 1.0;
    const ARE_MANY: bool = false;

    #[inline(always)]
    fn of<L: Lanes>(lanes: L, [r, g, b]: [L::Singles; 3]) -> [[f32; 4]; 16] {
        let [r, g, b] = [lanes.to_array(r), lanes.to_array(g), lanes.to_array(b)];
        let mut out = [[1.0; 4]; 16];
        for i in 0..16 {
            out[i] = [r[i], g[i], b[i], 1.0];
        }
        out
    }

    #[inline(always)]
    fn of_pairs<L: Lanes>(lanes: L, [even, odd]: [[L::Singles; 3]; 2]) -> [[f32; 4]; 32] {
        let (even, odd) = (Self::of(lanes, even), Self::of(lanes, odd));
        let mut out = [[1.0; 4]; 32];
        for i in 0..16 {
            (out[2 * i], out[2 * i + 1]) = (even[i], odd[i]);
        }
        out
    }
}

impl Texel for [u8; 4] {
    const ONE: f32 = 255.0;
    const ARE_MANY: bool = true;

    #[inline(always)]
    fn of<L: Lanes>(lanes: L, rgb: [L::Singles; 3]) -> [[u8; 4]; 16] {
        lanes.to_rgba8(rgb)
    }

    #[inline(always)]
    fn of_pairs<L: Lanes>(lanes: L, pairs: [[L::Singles; 3]; 2]) -> [[u8; 4]; 32] {
        lanes.pairs_to_rgba8(pairs)
    }
}

/// What does not change from tile to tile.
struct Plan<'a> {
    frame: &'a Frame<'a>,
    conversion: &'a Conversion,
    reader: Reader,
    across: Across,
    /// RGB of codes of Cr, luma and Cb, and what is added.
    matrix: [[f32; 3]; 3],
    offset: [f32; 3],
    /// Whether luma has the same part in all components, and red and blue have no part of the other's chroma.
    is_luma_shared: bool,
}

fn rows<T: Texel>(
    arch: Arch,
    frame: &Frame<'_>,
    conversion: &Conversion,
    out: &mut [T],
) -> Result<(), Error> {
    let [width, height] = frame.size;
    let needed = width.checked_mul(height).ok_or(Error::TooLarge(width, height))?;
    let given = out.len();
    let out = out.get_mut(..needed).ok_or(Error::Output { needed, given })?;
    if out.is_empty() {
        return Ok(());
    }
    let Affine { matrix, offset } = conversion.affine(frame.format);
    let matrix = matrix.map(|row| row.map(|c| c * T::ONE));
    let [[_, in_red, rb], [_, in_green, _], [br, in_blue, _]] = matrix;
    let plan = Plan {
        frame,
        conversion,
        reader: Reader::new(frame.format),
        across: across(frame, conversion),
        matrix,
        is_luma_shared: in_red == in_green && in_green == in_blue && rb == 0.0 && br == 0.0,
        offset: offset.map(|c| c * T::ONE),
    };
    let plan = &plan;
    out.par_chunks_mut(width * ROWS).enumerate().for_each(|(band, rows)| {
        let first = band * ROWS;
        match arch {
            #[cfg(target_arch = "x86_64")]
            Arch::V4(lanes) => lanes.vectorize(Work { lanes, plan, first, width, rows }),
            #[cfg(target_arch = "x86_64")]
            Arch::V3(lanes) => lanes.vectorize(Work { lanes, plan, first, width, rows }),
            _ => Work { lanes: Portable, plan, first, width, rows }.call(),
        }
    });
    Ok(())
}

/// Rows to be made. A closure would do but for its `call_once`, which is not inlined and so not compiled for the
/// instruction set.
struct Work<'a, L, T> {
    lanes: L,
    plan: &'a Plan<'a>,
    first: usize,
    width: usize,
    rows: &'a mut [T],
}

impl<L: Lanes, T: Texel> NullaryFnOnce for Work<'_, L, T> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        match (self.plan.frame.format.bits, T::ARE_MANY && self.plan.is_luma_shared) {
            (8, true) => self.rows_of::<u8, u16, true>(),
            (9..=12, true) => self.rows_of::<u16, u16, true>(),
            (8, false) => self.rows_of::<u8, u16, false>(),
            (9..=12, false) => self.rows_of::<u16, u16, false>(),
            _ => self.rows_of::<u16, u32, false>(),
        }
    }
}

impl<L: Lanes, T: Texel> Work<'_, L, T> {
    #[inline(always)]
    fn rows_of<C: Code, S: Sum + Number, const IS_LUMA_SHARED: bool>(self) {
        let Work { lanes, plan, first, width, rows } = self;
        let mut room = Room::<C, S>::default();
        let whole = width - width % GROUP;
        let mut rows = (first..).zip(rows.chunks_mut(width));
        while let Some((y, upper)) = rows.next() {
            let (mut done, mut lower) = (0, None);
            if IS_LUMA_SHARED && plan.is_chroma_shared(y) {
                lower = rows.next();
            }
            if let Some((_, lower)) = &mut lower {
                let tiles = upper[..whole].chunks_mut(TILE).zip(lower[..whole].chunks_mut(TILE));
                for (upper, lower) in tiles {
                    let columns = upper.len();
                    plan.squares(lanes, [done, y], [upper, lower], &mut room);
                    done += columns;
                }
            }
            for (y, row) in [Some((y, upper)), lower].into_iter().flatten() {
                let mut x = done;
                let (tiles, rest) = row[done..].split_at_mut(whole - done);
                let mut last = [T::default(); GROUP];
                let of_rest = &mut last[..if rest.is_empty() { 0 } else { GROUP }];
                for texels in tiles.chunks_mut(TILE).chain(of_rest.chunks_mut(GROUP)) {
                    plan.tile::<_, _, _, _, IS_LUMA_SHARED>(lanes, [x, y], texels, &mut room);
                    x += texels.len();
                }
                rest.copy_from_slice(&last[..rest.len()]);
            }
        }
    }
}

/// What texels are made in. One serves all of a thread's rows: clearing it takes as long as a good part of the work.
#[repr(align(64))]
struct Room<C, S> {
    /// Codes of rows of luma and chroma.
    codes: [[C; ROOM]; 4],
    /// Cr and Cb between rows.
    quarters: [[S; ROOM]; 2],
}

impl<C: Code, S: Sum> Default for Room<C, S> {
    fn default() -> Room<C, S> {
        Room { codes: [[C::default(); ROOM]; 4], quarters: [[S::default(); ROOM]; 2] }
    }
}

impl Plan<'_> {
    /// Whether the texels of this row and the next have the same samples of chroma, one for each square.
    fn is_chroma_shared(&self, y: usize) -> bool {
        let is_halved = self.frame.format.subsampling == Subsampling::S420;
        let rows = |y| down(y, self.frame.channels[0].size[1], is_halved, self.conversion);
        is_halved && self.across == Across::Shared && rows(y) == rows(y + 1)
    }

    /// Makes texels of two rows that share chroma. There are whole groups of them.
    #[inline(always)]
    fn squares<L: Lanes, C: Code, S: Sum + Number, T: Texel>(
        &self,
        lanes: L,
        [x, y]: [usize; 2],
        [upper, lower]: [&mut [T]; 2],
        room: &mut Room<C, S>,
    ) {
        let [cr, luma, cb] = &self.frame.channels;
        let ([row, _], _) = down(y, cr.size[1], true, self.conversion);
        let (columns, samples) = (x..x + upper.len(), x / 2..(x + upper.len()) / 2);
        let of = [(luma, y, &columns), (luma, y + 1, &columns), (cr, row, &samples), (cb, row, &samples)];
        let mut codes: [&[C]; 4] = [&[]; 4];
        for ((codes, room), (channel, y, columns)) in codes.iter_mut().zip(&mut room.codes).zip(of) {
            *codes = self.reader.read(channel, y, columns.clone(), 0, room);
        }
        let [above, below, reds, blues] = codes;
        let colors = Colors::<_, true>::new(lanes, self, 1);
        colors.paint_squares([above, below], [reds, blues], [upper, lower]);
    }

    /// Makes texels of a row, whole groups of them: those behind its end are of its last samples.
    #[inline(always)]
    fn tile<L: Lanes, C: Code, S: Sum + Number, T: Texel, const IS_LUMA_SHARED: bool>(
        &self,
        lanes: L,
        [x, y]: [usize; 2],
        texels: &mut [T],
        room: &mut Room<C, S>,
    ) {
        let [cr, luma, cb] = &self.frame.channels;
        let Room { codes: [lumas, below, reds, blues], quarters } = room;
        let lumas = self.reader.read(luma, y, x..x + texels.len(), 0, lumas);
        let [fx, fy] = self.frame.format.subsampling.factors();
        let samples = x / fx..(x + texels.len()) / fx;
        let (rows, weights) = down(y, cr.size[1], fy == 2, self.conversion);
        let is_between_rows = weights[1] != 0;
        let pairs = match self.across {
            Across::Pairs(even, odd) => Some([even, odd]),
            Across::All | Across::Shared => None,
        };
        let is_between = is_between_rows || pairs.is_some();
        let around = usize::from(pairs.is_some());
        let mut codes: [&[C]; 2] = [&[]; 2];
        let rooms = [reds, blues].into_iter().zip(&mut *quarters);
        for ((codes, channel), (room, out)) in codes.iter_mut().zip([cr, cb]).zip(rooms) {
            *codes = self.reader.read(channel, rows[0], samples.clone(), around, room);
            if is_between {
                let lower = match is_between_rows {
                    true => self.reader.read(channel, rows[1], samples.clone(), around, below),
                    false => codes,
                };
                blend_rows([codes, lower], weights, out);
            }
        }
        let [reds, blues] = &*quarters;
        let unit = pairs.map_or(1, |[[before, own], _]| before + own);
        let unit = if is_between { unit * QUARTERS } else { 1 };
        let colors = Colors::<_, IS_LUMA_SHARED>::new(lanes, self, unit);
        match pairs {
            None if is_between_rows => colors.paint(lumas, [reds, blues], texels),
            None if fx == 1 => colors.paint(lumas, codes, texels),
            None => colors.paint_pairs(lumas, codes, texels),
            // With weights that are known where it is compiled, a loop adds and shifts for its products.
            Some(_) if IS_LUMA_SHARED && self.across == Across::COSITED => {
                let Across::Pairs(even, odd) = Across::COSITED else { return };
                colors.paint_between(lumas, [reds, blues], [even, odd], texels);
            }
            Some(weights) => colors.paint_between(lumas, [reds, blues], weights, texels),
        }
    }
}

/// A plan's matrix for sixteen texels.
#[derive(Clone, Copy)]
struct Colors<L: Lanes, const IS_LUMA_SHARED: bool> {
    lanes: L,
    matrix: [[L::Singles; 3]; 3],
    offset: [L::Singles; 3],
}

impl<L: Lanes, const IS_LUMA_SHARED: bool> Colors<L, IS_LUMA_SHARED> {
    /// For chroma of which each number is `unit` times a code.
    #[inline(always)]
    fn new(lanes: L, plan: &Plan, unit: u16) -> Self {
        let unit = f32::from(unit);
        let none = lanes.splat(0.0);
        let (mut matrix, mut offset) = ([[none; 3]; 3], [none; 3]);
        for row in 0..3 {
            let [r, g, b] = plan.matrix[row];
            // The unit is a power of two, so that this is exact.
            matrix[row] = [lanes.splat(r / unit), lanes.splat(g), lanes.splat(b / unit)];
            offset[row] = lanes.splat(plan.offset[row]);
        }
        Colors { lanes, matrix, offset }
    }

    /// Makes texels of which each has a sample of luma and of chroma.
    #[inline(always)]
    fn paint<C: Code, S: Number, T: Texel>(self, lumas: &[C], [reds, blues]: [&[S]; 2], texels: &mut [T]) {
        let groups = texels.as_chunks_mut().0.iter_mut().zip(lumas.as_chunks().0);
        let chroma = reds.as_chunks().0.iter().zip(blues.as_chunks().0);
        for ((out, luma), (red, blue)) in groups.zip(chroma) {
            *out = T::of(self.lanes, self.sums(self.of_chroma(red, blue), self.of_luma(luma)));
        }
    }

    /// Makes texels in pairs that have a sample of chroma each.
    #[inline(always)]
    fn paint_pairs<C: Code, S: Number, T: Texel>(
        self,
        lumas: &[C],
        [reds, blues]: [&[S]; 2],
        texels: &mut [T],
    ) {
        let groups = texels.as_chunks_mut().0.iter_mut().zip(lumas.as_chunks().0);
        let chroma = reds.as_chunks().0.iter().zip(blues.as_chunks().0);
        for ((out, luma), (red, blue)) in groups.zip(chroma) {
            let chroma = self.of_chroma(red, blue);
            *out = self.texel_pairs(luma, [chroma; 2]);
        }
    }

    /// Makes two rows of texels in pairs, which have the same chroma.
    #[inline(always)]
    fn paint_squares<C: Code, S: Number, T: Texel>(
        self,
        [upper, lower]: [&[C]; 2],
        [reds, blues]: [&[S]; 2],
        texels: [&mut [T]; 2],
    ) {
        let [uppers, lowers] = texels;
        let uppers = uppers.as_chunks_mut().0.iter_mut().zip(upper.as_chunks().0);
        let lowers = lowers.as_chunks_mut().0.iter_mut().zip(lower.as_chunks().0);
        let chroma = reds.as_chunks().0.iter().zip(blues.as_chunks().0);
        for ((upper, lower), (red, blue)) in uppers.zip(lowers).zip(chroma) {
            let chroma = self.of_chroma(red, blue);
            *upper.0 = self.texel_pairs(upper.1, [chroma; 2]);
            *lower.0 = self.texel_pairs(lower.1, [chroma; 2]);
        }
    }

    /// Makes texels in pairs, with chroma between samples: by the weights of the sample before the pair and its own at the even
    /// place, of its own and the next at the odd one. The first sample is that before the first pair.
    #[inline(always)]
    fn paint_between<C: Code, S: Sum + Number, T: Texel>(
        self,
        lumas: &[C],
        [reds, blues]: [&[S]; 2],
        [even, odd]: [[u16; 2]; 2],
        texels: &mut [T],
    ) {
        let groups = texels.as_chunks_mut().0.iter_mut().zip(lumas.as_chunks().0);
        let before = reds.as_chunks().0.iter().zip(blues.as_chunks().0);
        let own = reds[1..].as_chunks().0.iter().zip(blues[1..].as_chunks().0);
        let next = reds[2..].as_chunks().0.iter().zip(blues[2..].as_chunks().0);
        for ((out, luma), ((before, own), next)) in groups.zip(before.zip(own).zip(next)) {
            let even = self.of_chroma(&blend(before.0, own.0, even), &blend(before.1, own.1, even));
            let odd = self.of_chroma(&blend(own.0, next.0, odd), &blend(own.1, next.1, odd));
            *out = self.texel_pairs(luma, [even, odd]);
        }
    }

    #[inline(always)]
    fn texel_pairs<C: Code, T: Texel>(self, luma: &[C; 32], [even, odd]: [[L::Singles; 3]; 2]) -> [T; 32] {
        let luma = self.of_luma_pairs(luma);
        T::of_pairs(self.lanes, [self.sums(even, luma[0]), self.sums(odd, luma[1])])
    }

    /// What chroma adds to red, green and blue, and what is added to all.
    #[inline(always)]
    fn of_chroma<S: Number>(self, cr: &[S; 16], cb: &[S; 16]) -> [L::Singles; 3] {
        let lanes = self.lanes;
        let [[rr, _, rb], [gr, _, gb], [br, _, bb]] = self.matrix;
        let [r0, g0, b0] = self.offset;
        if IS_LUMA_SHARED {
            // Of models of luma and chroma Cb has no part in red, and Cr none in blue.
            let ([red, red_green], [blue_green, blue]) =
                (S::by(lanes, cr, [rr, gr]), S::by(lanes, cb, [gb, bb]));
            [lanes.add(red, r0), lanes.add(red_green, lanes.add(blue_green, g0)), lanes.add(blue, b0)]
        } else {
            let reds = S::by(lanes, cr, [rr, gr, br]);
            self.sums(self.sums([r0, g0, b0], S::by(lanes, cb, [rb, gb, bb])), reds)
        }
    }

    /// What luma adds to red, green and blue.
    #[inline(always)]
    fn of_luma<C: Code>(self, luma: &[C; 16]) -> [L::Singles; 3] {
        let [[_, red, _], [_, green, _], [_, blue, _]] = self.matrix;
        if IS_LUMA_SHARED {
            let [all] = C::by(self.lanes, luma, [red]);
            [all; 3]
        } else {
            C::by(self.lanes, luma, [red, green, blue])
        }
    }

    /// The same at even places and at odd ones.
    #[inline(always)]
    fn of_luma_pairs<C: Code>(self, luma: &[C; 32]) -> [[L::Singles; 3]; 2] {
        let [[_, red, _], [_, green, _], [_, blue, _]] = self.matrix;
        if IS_LUMA_SHARED {
            let [[even], [odd]] = C::pairs_by(self.lanes, luma, [red]);
            [[even; 3], [odd; 3]]
        } else {
            C::pairs_by(self.lanes, luma, [red, green, blue])
        }
    }

    /// Sums of each. Products are rounded before, as processors without a fused operation do it.
    #[inline(always)]
    fn sums(self, [r, g, b]: [L::Singles; 3], [more_r, more_g, more_b]: [L::Singles; 3]) -> [L::Singles; 3] {
        [self.lanes.add(r, more_r), self.lanes.add(g, more_g), self.lanes.add(b, more_b)]
    }
}
