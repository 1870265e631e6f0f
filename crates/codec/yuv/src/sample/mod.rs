//! Sampling frames at the centres of their luma samples.
//!
//! Rows are made in tiles. Chroma is brought to the places of luma in integers, which are exact. A matrix of singles then makes
//! RGB of the sums, so that only its own rounding is between the result and the exact one.

mod chroma;
mod codes;
mod lanes;

use crate::conversion::{Affine, Conversion};
use crate::frame::{Error, Frame};
use chroma::{Across, Sum, across, blend_rows, down, spread_out};
use codes::{Code, Number, Reader};
use lanes::{Lanes, Portable};
use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

/// Texels made at a time, an even number.
const TILE: usize = 1024;

/// Samples of a tile with one more on either side.
const ROOM: usize = TILE + 2;

/// Rows that a thread takes at once.
const ROWS: usize = 8;

/// What weights along an axis add up to.
const QUARTERS: u16 = 4;

/// Converts a frame to RGBA, alpha 1, rows without padding.
///
/// # Errors
/// When `out` is too short; it is not touched then.
pub fn convert(frame: &Frame<'_>, conversion: &Conversion, out: &mut [[f32; 4]]) -> Result<(), Error> {
    rows(frame, conversion, out)
}

/// Converts a frame to RGBA of eight bits, clamped and rounded to the nearest, alpha 255, rows without padding.
///
/// # Errors
/// When `out` is too short; it is not touched then.
pub fn convert_rgba8(frame: &Frame<'_>, conversion: &Conversion, out: &mut [[u8; 4]]) -> Result<(), Error> {
    rows(frame, conversion, out)
}

/// A texel to be made.
trait Texel: Copy + Default + Send {
    /// What 1 is.
    const ONE: f32;

    fn of<L: Lanes>(lanes: L, rgb: [L::Singles; 3]) -> [Self; 16];
}

impl Texel for [f32; 4] {
    const ONE: f32 = 1.0;

    #[inline(always)]
    fn of<L: Lanes>(lanes: L, [r, g, b]: [L::Singles; 3]) -> [[f32; 4]; 16] {
        let [r, g, b] = [lanes.to_array(r), lanes.to_array(g), lanes.to_array(b)];
        let mut out = [[1.0; 4]; 16];
        for i in 0..16 {
            out[i] = [r[i], g[i], b[i], 1.0];
        }
        out
    }
}

impl Texel for [u8; 4] {
    const ONE: f32 = 255.0;

    #[inline(always)]
    fn of<L: Lanes>(lanes: L, rgb: [L::Singles; 3]) -> [[u8; 4]; 16] {
        lanes.to_rgba8(rgb)
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

fn rows<T: Texel>(frame: &Frame<'_>, conversion: &Conversion, out: &mut [T]) -> Result<(), Error> {
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
    let (plan, arch) = (&plan, Arch::new());
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
        match self.plan.frame.format.bits {
            8 => self.rows_of::<u8, u16>(),
            9..=12 => self.rows_of::<u16, u16>(),
            _ => self.rows_of::<u16, u32>(),
        }
    }
}

impl<L: Lanes, T: Texel> Work<'_, L, T> {
    #[inline(always)]
    fn rows_of<C: Code, S: Sum + Number>(self) {
        let mut room = Room::<C, S>::default();
        for (y, row) in (self.first..).zip(self.rows.chunks_mut(self.width)) {
            for (i, texels) in row.chunks_mut(TILE).enumerate() {
                self.plan.tile(self.lanes, [i * TILE, y], texels, &mut room);
            }
        }
    }
}

/// What a tile is made in. One serves all tiles of a thread's rows: clearing it takes as long as a good part of the work.
#[repr(align(64))]
struct Room<C, S> {
    /// Codes of luma, and of the rows of chroma around it.
    lumas: [C; ROOM],
    codes: [[C; ROOM]; 2],
    /// Chroma between these rows.
    quarters: [S; ROOM],
    /// Cr and Cb at luma's places.
    sums: [[S; TILE]; 2],
}

impl<C: Code, S: Sum> Default for Room<C, S> {
    fn default() -> Room<C, S> {
        let (code, none) = (C::default(), S::default());
        Room {
            lumas: [code; ROOM],
            codes: [[code; ROOM]; 2],
            quarters: [none; ROOM],
            sums: [[none; TILE]; 2],
        }
    }
}

impl Plan<'_> {
    #[inline(always)]
    fn tile<L: Lanes, C: Code, S: Sum + Number, T: Texel>(
        &self,
        lanes: L,
        [x, y]: [usize; 2],
        texels: &mut [T],
        room: &mut Room<C, S>,
    ) {
        let [cr, luma, cb] = &self.frame.channels;
        let Room { lumas, codes, quarters, sums: [reds, blues] } = room;
        let lumas = self.reader.read(luma, y, x..x + texels.len(), 0, lumas);
        let [fx, fy] = self.frame.format.subsampling.factors();
        // A texel behind the last may be made of a pair, and left out.
        let samples = x / fx..(x + texels.len()).div_ceil(fx);
        let (rows, weights) = down(y, cr.size[1], fy == 2, self.conversion);
        let [above, below] = codes;
        let pairs = match self.across {
            Across::All if weights[1] != 0 => None,
            Across::Pairs(even, odd) => Some([even, odd]),
            // There is nothing to interpolate.
            Across::All | Across::Shared => {
                let red = self.reader.read(cr, rows[0], samples.clone(), 0, above);
                let blue = self.reader.read(cb, rows[0], samples, 0, below);
                return match fx {
                    1 => self.paint::<16, _, _, _, _>(lanes, lumas, [red, blue], 1.0, texels),
                    _ => self.paint::<8, _, _, _, _>(lanes, lumas, [red, blue], 1.0, texels),
                };
            }
        };
        for (channel, out) in [(cr, &mut *reds), (cb, &mut *blues)] {
            let upper = self.reader.read(channel, rows[0], samples.clone(), 1, above);
            let lower = match weights[1] {
                0 => upper,
                _ => self.reader.read(channel, rows[1], samples.clone(), 1, below),
            };
            blend_rows([upper, lower], weights, quarters);
            spread_out(pairs, quarters, out);
        }
        let unit = f32::from(QUARTERS * QUARTERS);
        self.paint::<16, _, _, _, _>(lanes, lumas, [reds, blues], unit, texels);
    }

    /// Makes texels of luma and chroma. Chroma has `N` numbers for sixteen texels, each `unit` times a code.
    #[inline(always)]
    fn paint<const N: usize, L: Lanes, C: Number, S: Number, T: Texel>(
        &self,
        lanes: L,
        lumas: &[C],
        [reds, blues]: [&[S]; 2],
        unit: f32,
        texels: &mut [T],
    ) {
        let colors = Colors::new(lanes, self, unit);
        let (groups, rest) = texels.as_chunks_mut();
        let (done, of_chroma) = (16 * groups.len(), N * groups.len());
        let chroma = reds.as_chunks::<N>().0.iter().zip(blues.as_chunks().0);
        for ((out, luma), (red, blue)) in groups.iter_mut().zip(lumas.as_chunks().0).zip(chroma) {
            *out = T::of(lanes, colors.of(luma, red, blue));
        }
        if !rest.is_empty() {
            let (red, blue) = (padded::<N, _>(reds, of_chroma), padded(blues, of_chroma));
            let of = colors.of(&padded(lumas, done), &red, &blue);
            rest.copy_from_slice(&T::of(lanes, of)[..rest.len()]);
        }
    }
}

/// A plan's matrix for sixteen texels.
struct Colors<L: Lanes> {
    lanes: L,
    matrix: [[L::Singles; 3]; 3],
    offset: [L::Singles; 3],
    is_luma_shared: bool,
}

impl<L: Lanes> Colors<L> {
    #[inline(always)]
    fn new(lanes: L, plan: &Plan, unit: f32) -> Colors<L> {
        let none = lanes.splat(0.0);
        let (mut matrix, mut offset) = ([[none; 3]; 3], [none; 3]);
        for row in 0..3 {
            let [r, g, b] = plan.matrix[row];
            // The unit is a power of two, so that this is exact.
            matrix[row] = [lanes.splat(r / unit), lanes.splat(g), lanes.splat(b / unit)];
            offset[row] = lanes.splat(plan.offset[row]);
        }
        Colors { lanes, matrix, offset, is_luma_shared: plan.is_luma_shared }
    }

    #[inline(always)]
    fn of<C: Number, S: Number, const N: usize>(
        &self,
        luma: &[C; 16],
        cr: &[S; N],
        cb: &[S; N],
    ) -> [L::Singles; 3] {
        let lanes = self.lanes;
        let [[rr, rg, rb], [gr, gg, gb], [br, bg, bb]] = self.matrix;
        let [r0, g0, b0] = self.offset;
        let (luma, cr, cb) = (C::singles(lanes, luma), S::singles(lanes, cr), S::singles(lanes, cb));
        let green = self.plus(cr, gr, self.plus(cb, gb, g0));
        if self.is_luma_shared {
            // Of models of luma and chroma luma has one part in all components, Cb none in red, and Cr none in blue.
            let luma = lanes.mul(luma, rg);
            let (red, blue) = (self.plus(cr, rr, r0), self.plus(cb, bb, b0));
            [lanes.add(luma, red), lanes.add(luma, green), lanes.add(luma, blue)]
        } else {
            let red = self.plus(cr, rr, self.plus(cb, rb, r0));
            let blue = self.plus(cr, br, self.plus(cb, bb, b0));
            [self.plus(luma, rg, red), self.plus(luma, gg, green), self.plus(luma, bg, blue)]
        }
    }

    /// `a * b + c`, rounded twice, as processors without a fused operation do it.
    #[inline(always)]
    fn plus(&self, a: L::Singles, b: L::Singles, c: L::Singles) -> L::Singles {
        self.lanes.add(self.lanes.mul(a, b), c)
    }
}

/// The numbers from a place on, up to `N`, and zeros where there are fewer.
fn padded<const N: usize, T: Number>(numbers: &[T], from: usize) -> [T; N] {
    let mut out = [T::default(); N];
    out.iter_mut().zip(numbers.iter().skip(from)).for_each(|(out, &number)| *out = number);
    out
}
