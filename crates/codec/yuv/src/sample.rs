//! Sampling frames at the centres of their luma samples.
//!
//! Rows are made in tiles. Chroma is brought to the places of luma in integers: weights are quarters along each axis, so
//! that sums count sixteenths of a code and are exact. A matrix of singles then makes RGB of the sums, so that only its
//! own rounding is between the result and the exact one.

use crate::conversion::{Affine, Conversion, Filter, Reconstruction, Siting};
use crate::frame::{Channel, Error, Frame};
use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

/// Texels made at a time, an even number.
const TILE: usize = 256;

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

    fn of(rgb: [f32; 3]) -> Self;
}

impl Texel for [f32; 4] {
    const ONE: f32 = 1.0;

    #[inline(always)]
    fn of([r, g, b]: [f32; 3]) -> [f32; 4] {
        [r, g, b, 1.0]
    }
}

impl Texel for [u8; 4] {
    const ONE: f32 = 255.0;

    #[inline(always)]
    fn of(rgb: [f32; 3]) -> [u8; 4] {
        /// A single this large counts ones with its lowest bits: adding rounds to the nearest.
        const LARGE: f32 = 8_388_608.0;
        const LOWEST: i32 = LARGE.to_bits() as i32;
        let [r, g, b] = rgb.map(|c| ((c + LARGE).to_bits() as i32).clamp(LOWEST, LOWEST + 255) as u32);
        // What lies above the lowest byte is shifted out or under alpha.
        (r | g << 8 | b << 16 | 0xff00_0000).to_le_bytes()
    }
}

/// A sum of codes: words hold sixteen of up to 12 bits.
trait Sum: Copy + Default {
    fn of(code: u16) -> Self;

    fn blend(a: Self, b: Self, weights: [u16; 2]) -> Self;

    fn single(self) -> f32;
}

macro_rules! sum {
    ($($ty:ty),*) => {
        $(impl Sum for $ty {
            #[inline(always)]
            fn of(code: u16) -> $ty {
                code.into()
            }

            #[inline(always)]
            fn blend(a: $ty, b: $ty, [first, second]: [u16; 2]) -> $ty {
                a.wrapping_mul(first.into()).wrapping_add(b.wrapping_mul(second.into()))
            }

            #[inline(always)]
            fn single(self) -> f32 {
                self as f32
            }
        })*
    };
}

sum!(u16, u32);

/// How chroma comes to luma's places along x.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Across {
    /// Every place has a sample.
    All,
    /// Both places of a pair have the same sample.
    Shared,
    /// Weights of the sample before and that of the pair at even places, of that and the next at odd ones.
    Pairs([u16; 2], [u16; 2]),
}

/// What does not change from tile to tile.
struct Plan<'a> {
    frame: &'a Frame<'a>,
    conversion: &'a Conversion,
    across: Across,
    /// RGB of sums of Cr, of codes of luma and sums of Cb, and what is added.
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
    let sixteenths = f32::from(QUARTERS * QUARTERS);
    let matrix = matrix.map(|[r, g, b]| [r / sixteenths, g, b / sixteenths].map(|c| c * T::ONE));
    let [[_, in_red, rb], [_, in_green, _], [br, in_blue, _]] = matrix;
    let plan = Plan {
        frame,
        conversion,
        across: across(frame, conversion),
        matrix,
        is_luma_shared: in_red == in_green && in_green == in_blue && rb == 0.0 && br == 0.0,
        offset: offset.map(|c| c * T::ONE),
    };
    let arch = Arch::new();
    out.par_chunks_mut(width * ROWS).enumerate().for_each(|(band, rows)| {
        let work = Work { plan: &plan, first: band * ROWS, width, rows };
        match arch {
            #[cfg(target_arch = "x86_64")]
            Arch::V4(simd) => simd.vectorize(work),
            #[cfg(target_arch = "x86_64")]
            Arch::V3(simd) => simd.vectorize(work),
            _ => work.call(),
        }
    });
    Ok(())
}

/// Rows to be made. A closure would do but for its `call_once`, which is not inlined and so not compiled for the
/// instruction set.
struct Work<'a, T> {
    plan: &'a Plan<'a>,
    first: usize,
    width: usize,
    rows: &'a mut [T],
}

impl<T: Texel> NullaryFnOnce for Work<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        match self.plan.frame.format.bits {
            8..=12 => self.rows_of::<u16>(),
            _ => self.rows_of::<u32>(),
        }
    }
}

impl<T: Texel> Work<'_, T> {
    #[inline(always)]
    fn rows_of<S: Sum>(self) {
        let mut room = Room::<S>::new();
        for (y, row) in (self.first..).zip(self.rows.chunks_mut(self.width)) {
            for (i, texels) in row.chunks_mut(TILE).enumerate() {
                self.plan.tile::<S, T>([i * TILE, y], texels, &mut room);
            }
        }
    }
}

/// What a tile is made in. One serves all tiles of a thread's rows: clearing it takes as long as a good part of the work.
struct Room<S> {
    /// Codes of luma, of the rows of chroma around it, and chroma between these.
    lumas: [u16; ROOM],
    codes: [[u16; ROOM]; 2],
    crs: Quarters<S>,
    cbs: Quarters<S>,
    /// Chroma at luma's places.
    red: [S; TILE],
    blue: [S; TILE],
}

impl<S: Sum> Room<S> {
    fn new() -> Room<S> {
        let none = S::default();
        Room {
            lumas: [0; ROOM],
            codes: [[0; ROOM]; 2],
            crs: [none; ROOM],
            cbs: [none; ROOM],
            red: [none; TILE],
            blue: [none; TILE],
        }
    }
}

/// How chroma comes to luma's places along x.
fn across(frame: &Frame<'_>, conversion: &Conversion) -> Across {
    if frame.format.subsampling.factors()[0] == 1 {
        return Across::All;
    }
    match (conversion.filter, conversion.siting[0]) {
        (Filter::Nearest, Siting::CositedEven) if conversion.reconstruction == Reconstruction::Implicit => {
            Across::Pairs([0, QUARTERS], [0, QUARTERS])
        }
        (Filter::Nearest, _) => Across::Shared,
        (Filter::Linear, Siting::CositedEven) => Across::Pairs([0, QUARTERS], [2, 2]),
        (Filter::Linear, Siting::Midpoint) => Across::Pairs([1, 3], [3, 1]),
    }
}

/// The two rows of samples for a row of texels, and their weights.
fn down(y: usize, size: usize, is_halved: bool, conversion: &Conversion) -> ([usize; 2], [u16; 2]) {
    let last = size.saturating_sub(1);
    let one = |sample: usize| ([sample.min(last); 2], [QUARTERS, 0]);
    if !is_halved {
        return one(y);
    }
    let (pair, is_odd) = (y / 2, y % 2 == 1);
    let (first, weights) = match (conversion.filter, conversion.siting[1], is_odd) {
        (Filter::Nearest, Siting::CositedEven, _)
            if conversion.reconstruction == Reconstruction::Implicit =>
        {
            return one(y.div_ceil(2));
        }
        (Filter::Nearest, ..) | (Filter::Linear, Siting::CositedEven, false) => return one(pair),
        (Filter::Linear, Siting::CositedEven, true) => (pair, [2, 2]),
        (Filter::Linear, Siting::Midpoint, true) => (pair, [3, 1]),
        // Before the first sample there is the first.
        (Filter::Linear, Siting::Midpoint, false) if pair == 0 => return one(0),
        (Filter::Linear, Siting::Midpoint, false) => (pair - 1, [1, 3]),
    };
    ([first.min(last), (first + 1).min(last)], weights)
}

/// Sums of a tile in quarters, the sample before the tile's first in front.
type Quarters<S> = [S; ROOM];

impl Plan<'_> {
    #[inline(always)]
    fn tile<S: Sum, T: Texel>(&self, [x, y]: [usize; 2], texels: &mut [T], room: &mut Room<S>) {
        let [cr, luma, cb] = &self.frame.channels;
        self.load(luma, y, x, texels.len(), &mut room.lumas);
        // A texel behind the last may be made of a pair, and left out.
        let factor = if self.across == Across::All { 1 } else { 2 };
        let count = texels.len().div_ceil(factor);
        let Room { codes, crs, cbs, red, blue, .. } = room;
        self.quarters(cr, y, x / factor, count, codes, crs);
        self.quarters(cb, y, x / factor, count, codes, cbs);
        self.spread_out(crs, red);
        self.spread_out(cbs, blue);
        if let Some(whole) = texels.as_chunks_mut().0.first_mut() {
            self.paint(room, whole);
        } else {
            let mut tile = [T::default(); TILE];
            self.paint(room, &mut tile);
            texels.copy_from_slice(&tile[..texels.len()]);
        }
    }

    /// Chroma of a row at the places of chroma samples: from both rows it lies between.
    #[inline(always)]
    fn quarters<S: Sum>(
        &self,
        channel: &Channel<'_>,
        y: usize,
        first: usize,
        count: usize,
        [above, below]: &mut [[u16; ROOM]; 2],
        out: &mut Quarters<S>,
    ) {
        let is_halved = self.frame.format.subsampling.factors()[1] == 2;
        let ([upper, lower], weights) = down(y, channel.size[1], is_halved, self.conversion);
        self.load(channel, upper, first, count, above);
        if weights[1] == 0 {
            return blend_rows(above, above, weights, count + 2, out);
        }
        self.load(channel, lower, first, count, below);
        blend_rows(above, below, weights, count + 2, out);
    }

    /// `count` codes of a row from `first` on, with the codes before and behind them, or those at the edges again.
    #[inline(always)]
    fn load(&self, channel: &Channel<'_>, y: usize, first: usize, count: usize, codes: &mut [u16; ROOM]) {
        let start = first.saturating_sub(1);
        let end = (first + count + 1).min(channel.size[0]).max(start);
        let at = channel.offset + y * channel.pitch + start * channel.step;
        let data = channel.data.get(at..).unwrap_or_default();
        // The first of a row is put where the one before it belongs, too.
        let skipped = usize::from(first == 0);
        let loaded = (end - start).min(ROOM - skipped);
        let inner = &mut codes[skipped..skipped + loaded];
        let unused = 16 - self.frame.format.bits;
        let (shift, mask) = if self.frame.format.high { (unused, u16::MAX) } else { (0, u16::MAX >> unused) };
        let word = |bytes: &[u8; 2]| u16::from_le_bytes(*bytes) >> shift & mask;
        match (self.frame.format.bits, channel.step) {
            (8, 1) => spread::<1, 1>(data, inner, |[byte]| (*byte).into()),
            (8, 2) => spread::<1, 2>(data, inner, |[byte]| (*byte).into()),
            (8, _) => spread::<1, 4>(data, inner, |[byte]| (*byte).into()),
            (_, 2) => spread::<2, 2>(data, inner, word),
            (_, 4) => spread::<2, 4>(data, inner, word),
            _ => spread::<2, 8>(data, inner, word),
        }
        if let (1, [edge, inner, ..]) = (skipped, &mut codes[..]) {
            *edge = *inner;
        }
        let filled = skipped + loaded;
        if let (true, Some(&last)) = (filled < count + 2, codes.get(filled.wrapping_sub(1))) {
            codes[filled..].fill(last);
        }
    }

    /// RGB of a tile: each texel alike, without exceptions among them, so that compilers make vectors of it.
    #[inline(always)]
    fn paint<S: Sum, T: Texel>(&self, room: &Room<S>, texels: &mut [T; TILE]) {
        let Room { red, blue, lumas, .. } = room;
        let lumas: &[u16; TILE] = lumas[1..].first_chunk().unwrap_or(&[0; TILE]);
        let [[rr, rg, rb], [gr, gg, gb], [br, bg, bb]] = self.matrix;
        let [r0, g0, b0] = self.offset;
        if self.is_luma_shared {
            // Of models of luma and chroma luma has one part in all components, Cb none in red, and Cr none in blue.
            for i in 0..TILE {
                let (cr, luma, cb) = (red[i].single(), f32::from(lumas[i]) * rg, blue[i].single());
                texels[i] =
                    T::of([luma + (cr * rr + r0), luma + (cr * gr + (cb * gb + g0)), luma + (cb * bb + b0)]);
            }
        } else {
            for i in 0..TILE {
                let (cr, luma, cb) = (red[i].single(), f32::from(lumas[i]), blue[i].single());
                texels[i] = T::of([
                    luma * rg + (cr * rr + (cb * rb + r0)),
                    luma * gg + (cr * gr + (cb * gb + g0)),
                    luma * bg + (cr * br + (cb * bb + b0)),
                ]);
            }
        }
    }

    /// Sums of chroma at luma's places, of those at its own.
    #[inline(always)]
    fn spread_out<S: Sum>(&self, quarters: &Quarters<S>, out: &mut [S; TILE]) {
        let whole = |sum: S| S::blend(sum, S::default(), [QUARTERS, 0]);
        match self.across {
            Across::All => {
                for i in 0..TILE {
                    out[i] = whole(quarters[i + 1]);
                }
            }
            Across::Shared => {
                for i in 0..TILE / 2 {
                    out[2 * i] = whole(quarters[i + 1]);
                    out[2 * i + 1] = whole(quarters[i + 1]);
                }
            }
            Across::Pairs(even, odd) => {
                for i in 0..TILE / 2 {
                    out[2 * i] = S::blend(quarters[i], quarters[i + 1], even);
                    out[2 * i + 1] = S::blend(quarters[i + 1], quarters[i + 2], odd);
                }
            }
        }
    }
}

/// The first `count` of two rows of codes by their weights.
#[inline(always)]
fn blend_rows<S: Sum>(
    upper: &[u16; ROOM],
    lower: &[u16; ROOM],
    weights: [u16; 2],
    count: usize,
    out: &mut Quarters<S>,
) {
    for ((out, &upper), &lower) in out.iter_mut().zip(upper).zip(lower).take(count) {
        *out = S::blend(S::of(upper), S::of(lower), weights);
    }
}

/// Codes of `BYTES` bytes at every `STEP`th.
#[inline(always)]
fn spread<const BYTES: usize, const STEP: usize>(
    data: &[u8],
    codes: &mut [u16],
    code: impl Fn(&[u8; BYTES]) -> u16,
) {
    let (whole, rest) = data.as_chunks::<STEP>();
    let filled = whole.len().min(codes.len());
    for (out, bytes) in codes.iter_mut().zip(whole) {
        *out = bytes.first_chunk().map_or(0, &code);
    }
    // The last of a row may have nothing behind it.
    if let (Some(out), Some(bytes)) = (codes.get_mut(filled), rest.first_chunk()) {
        *out = code(bytes);
    }
}
