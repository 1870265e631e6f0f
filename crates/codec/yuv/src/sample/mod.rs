//! Sampling frames at the centres of their luma samples.
//!
//! Rows are made in tiles. Chroma is brought to the places of luma in integers, which are exact. A matrix of singles then makes
//! RGB of the sums, so that only its own rounding is between the result and the exact one; or one of fixed-point numbers of
//! 16 bits, where results may be off by one. That is for chroma at half the places along an axis or at all, the nearest or linear. Other
//! chroma is brought to luma's places by singles ([`filtered`]), and where alpha has a part in colours all is ([`resampled`]).

mod alpha;
mod as_it_lies;
mod chroma;
mod codes;
mod filtered;
mod fixed;
mod halves;
mod lanes;
mod paint;
mod resampled;
mod singles;
mod sums;
mod tens;
#[cfg(test)]
mod tests;
mod window;
#[cfg(test)]
mod within_one;
mod words;

use crate::conversion::{Affine, Conversion, Filter};
use crate::frame::{Error, Frame};
use alpha::Fill;
use chroma::{Across, Sum, across, down};
use codes::{Code, Number, Reader, Word};
use core::marker::PhantomData;
use fixed::{Factors, Fixed};
use lanes::{Lanes, Portable};
use paint::Arithmetic;
use pulp::bytemuck::cast_slice_mut;
use pulp::{Arch, NullaryFnOnce};
use resampled::Resampled;
use singles::Singles;
use sums::Sums;
use words::Words;

/// Texels for which samples are read at a time, most of them.
const TILE: usize = 2048;

/// Samples of a tile with one more on either side, and as many more as make rows of bytes begin where cache lines do.
const ROOM: usize = TILE + 64;

/// Rows that a thread takes at once.
const ROWS: usize = 16;

/// What weights along an axis add up to.
const QUARTERS: u16 = 4;

/// Converts a frame to RGBA, rows without padding. Alpha is 1 unless the conversion takes it from elsewhere.
///
/// # Errors
/// When `out` is too short; it is not touched then.
pub fn convert(frame: &Frame<'_>, conversion: &Conversion, out: &mut [[f32; 4]]) -> Result<(), Error> {
    rows(Arch::new(), frame, conversion, out)
}

/// [`convert`] to RGBA of eight bits, clamped and rounded to the nearest; 1 is 255.
///
/// # Errors
/// When `out` is too short; it is not touched then.
pub fn convert_rgba8(frame: &Frame<'_>, conversion: &Conversion, out: &mut [[u8; 4]]) -> Result<(), Error> {
    rows(Arch::new(), frame, conversion, out)
}

/// How close bytes are to what a conversion defines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    /// Sums of chroma are exact, but for cubic filters, and the matrix is of singles: only their rounding is between a byte and the
    /// nearest to the exact result.
    #[default]
    Exact,
    /// Each component is that of [`Precision::Exact`], or one more or less; most are the same. This takes less time, as
    /// it computes with words of 16 bits. Results do not depend on the processor. Where words do not hold a conversion's
    /// factors, or red, green and blue do not have the same part of luma, or a component is not taken from samples, all is as with
    /// [`Precision::Exact`]; and so it is with [`Filter::Cubic`], with a quarter of chroma samples along an axis, and with alpha in colours.
    WithinOne,
}

/// [`convert_rgba8`] with a choice of precision.
///
/// # Errors
/// When `out` is too short; it is not touched then.
pub fn convert_rgba8_with(
    frame: &Frame<'_>,
    conversion: &Conversion,
    precision: Precision,
    out: &mut [[u8; 4]],
) -> Result<(), Error> {
    bytes(Arch::new(), frame, conversion, precision, out)
}

/// A texel to be made.
trait Texel: Copy + Default + Send {
    /// What 1 is.
    const ONE: f32;

    /// Makes all rows of a conversion where luma has one factor in all components, and red and blue each depend on one chroma
    /// channel.
    fn shared(arch: Arch, plan: &Plan<'_>, out: &mut [Self]) -> Result<(), Error>;

    fn of<L: Lanes>(lanes: L, rgb: [L::Singles; 3]) -> [Self; 16];

    /// Brings texels at even places and those at odd ones together.
    fn of_pairs<L: Lanes>(lanes: L, pairs: [[L::Singles; 3]; 2]) -> [Self; 32];

    /// Sets alpha, where 1 is [`Texel::ONE`].
    fn set_alpha(&mut self, alpha: f32);
}

impl Texel for [f32; 4] {
    const ONE: f32 = 1.0;

    /// Floats have no code of their own for this: most of their time goes into writing four times as many bytes.
    fn shared(arch: Arch, plan: &Plan<'_>, out: &mut [Self]) -> Result<(), Error> {
        general(arch, plan, out)
    }

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

    #[inline(always)]
    fn set_alpha(&mut self, alpha: f32) {
        self[3] = alpha;
    }
}

impl Texel for [u8; 4] {
    const ONE: f32 = 255.0;

    fn shared(arch: Arch, plan: &Plan<'_>, out: &mut [Self]) -> Result<(), Error> {
        match (plan.frame.format.bits, plan.is_filtered()) {
            (8, true) => filtered::bands::<Self, u8, true>(arch, plan, out),
            (_, true) => filtered::bands::<Self, Word, true>(arch, plan, out),
            (8, _) => bands::<Exact<Self, u8, u16, true>>(arch, plan, out),
            (9..=12, _) => bands::<Exact<Self, Word, u16, true>>(arch, plan, out),
            _ => general(arch, plan, out),
        }
    }

    #[inline(always)]
    fn of<L: Lanes>(lanes: L, rgb: [L::Singles; 3]) -> [[u8; 4]; 16] {
        lanes.to_rgba8(rgb)
    }

    #[inline(always)]
    fn of_pairs<L: Lanes>(lanes: L, pairs: [[L::Singles; 3]; 2]) -> [[u8; 4]; 32] {
        lanes.pairs_to_rgba8(pairs)
    }

    #[inline(always)]
    fn set_alpha(&mut self, alpha: f32) {
        // Rounded as by lanes: adding the number leaves the byte in the lowest bits. Neither a cast nor a byte for itself would
        // become vectors.
        let alpha = (alpha.clamp(0.0, 255.0) + lanes::LARGE).to_bits() << 24;
        *self = (u32::from_le_bytes(*self) & 0xff_ffff | alpha).to_le_bytes();
    }
}

/// What does not change from tile to tile.
struct Plan<'a> {
    frame: &'a Frame<'a>,
    conversion: &'a Conversion,
    across: Across,
    affine: Affine,
    /// RGB of codes of Cr, luma and Cb, and what is added.
    matrix: [[f32; 3]; 3],
    offset: [f32; 3],
    /// Whether luma has the same part in all components, and red and blue have no part of the other's chroma.
    is_luma_shared: bool,
    /// For fixed-point numbers.
    factors: Factors,
}

impl<'a> Plan<'a> {
    /// For components of 0 to `one`.
    fn new(frame: &'a Frame<'a>, conversion: &'a Conversion, one: f32) -> Plan<'a> {
        let mut affine = conversion.affine(frame.format);
        affine.matrix.as_flattened_mut().iter_mut().chain(&mut affine.offset).for_each(|c| *c *= one);
        let [red, green, blue, _] = affine.matrix.map(|[cr, luma, cb, _]| [cr, luma, cb]);
        let [offset @ .., _] = affine.offset;
        Plan {
            frame,
            conversion,
            across: across(frame, conversion),
            affine,
            matrix: [red, green, blue],
            offset,
            is_luma_shared: red[1] == green[1] && green[1] == blue[1] && red[2] == 0.0 && blue[0] == 0.0,
            factors: Factors::default(),
        }
    }

    /// Whether chroma needs other weights than halves and quarters.
    fn is_filtered(&self) -> bool {
        // Where no chroma is left out, filters are of no matter.
        let most = if self.conversion.filter == Filter::Cubic { 1 } else { 2 };
        self.frame.format.subsampling.factors().iter().any(|&factor| factor > most)
    }

    /// Whether alpha is 1 everywhere.
    fn is_opaque(&self, one: f32) -> bool {
        (self.affine.matrix[3], self.affine.offset[3]) == ([0.0; 4], one)
    }
}

/// Makes all rows, exactly.
fn rows<T: Texel>(
    arch: Arch,
    frame: &Frame<'_>,
    conversion: &Conversion,
    out: &mut [T],
) -> Result<(), Error> {
    exact(arch, &Plan::new(frame, conversion, T::ONE), out)
}

/// Makes all rows by singles, exactly.
fn exact<T: Texel>(arch: Arch, plan: &Plan<'_>, out: &mut [T]) -> Result<(), Error> {
    match (plan.affine.is_alpha_apart(), plan.frame.format.bits) {
        (false, 8) => bands::<Resampled<T, u8>>(arch, plan, out),
        (false, _) => bands::<Resampled<T, Word>>(arch, plan, out),
        _ if plan.is_luma_shared => T::shared(arch, plan, out),
        _ => general(arch, plan, out),
    }
}

/// Makes all rows with any matrix, where alpha has no part in colours.
///
/// Each combination of types is compiled for every instruction set, which takes seconds.
fn general<T: Texel>(arch: Arch, plan: &Plan<'_>, out: &mut [T]) -> Result<(), Error> {
    match (plan.frame.format.bits, plan.is_filtered()) {
        (8, true) => filtered::bands::<T, u8, false>(arch, plan, out),
        (_, true) => filtered::bands::<T, Word, false>(arch, plan, out),
        (8, _) => bands::<Exact<T, u8, u16, false>>(arch, plan, out),
        (9..=12, _) => bands::<Exact<T, Word, u16, false>>(arch, plan, out),
        _ => bands::<Exact<T, Word, u32, false>>(arch, plan, out),
    }
}

/// Makes all rows of bytes.
fn bytes(
    arch: Arch,
    frame: &Frame<'_>,
    conversion: &Conversion,
    precision: Precision,
    out: &mut [[u8; 4]],
) -> Result<(), Error> {
    let mut plan = Plan::new(frame, conversion, <[u8; 4]>::ONE);
    let factors = Factors::new(plan.matrix, plan.offset, frame.format.bits);
    let is_for_words = plan.is_luma_shared && plan.affine.is_alpha_apart() && !plan.is_filtered();
    if let (Precision::WithinOne, true, Some(factors)) = (precision, is_for_words, factors) {
        plan.factors = factors;
        return match frame.format.bits {
            8 => bands::<WithinOne<u8, u16>>(arch, &plan, out),
            9..=12 => bands::<WithinOne<Word, u16>>(arch, &plan, out),
            _ => bands::<WithinOne<Word, u32>>(arch, &plan, out),
        };
    }
    exact(arch, &plan, out)
}

fn bands<M: Method>(arch: Arch, plan: &Plan<'_>, out: &mut [M::Texel]) -> Result<(), Error> {
    let [width, height] = plan.frame.size;
    let needed = width.checked_mul(height).ok_or(Error::TooLarge(width, height))?;
    let given = out.len();
    let out = out.get_mut(..needed).ok_or(Error::Output { needed, given })?;
    if out.is_empty() {
        return Ok(());
    }
    let make = |room: &mut M::Room, (band, rows): (usize, &mut [M::Texel])| {
        let first = band * ROWS;
        match arch {
            #[cfg(target_arch = "x86_64")]
            Arch::V4(lanes) => {
                lanes.apart(Rows::<_, M, 32, 64>(Work { lanes, plan, room, first, width, rows }))
            }
            #[cfg(target_arch = "x86_64")]
            Arch::V3(lanes) => {
                lanes.apart(Rows::<_, M, 16, 32>(Work { lanes, plan, room, first, width, rows }))
            }
            _ => {
                let lanes = Portable;
                lanes.apart(Rows::<_, M, 32, 64>(Work { lanes, plan, room, first, width, rows }))
            }
        }
    };
    #[cfg(feature = "std")]
    {
        use rayon::prelude::*;
        out.par_chunks_mut(width * ROWS).enumerate().for_each_init(M::Room::default, make);
    }
    #[cfg(not(feature = "std"))]
    {
        let mut room = M::Room::default();
        out.chunks_mut(width * ROWS).enumerate().for_each(|band| make(&mut room, band));
    }
    Ok(())
}

/// What makes rows, with every instruction set.
trait Method: Sized {
    type Texel: Texel;

    /// What rows are made in. One serves many: clearing it takes as long as a good part of the work.
    type Room: Default;

    /// Whether alpha is left 1.
    const IS_OPAQUE: bool;

    fn rows<L: Lanes + Words<HALF, GROUP>, const HALF: usize, const GROUP: usize>(work: Work<'_, L, Self>);
}

/// Converts with [`Singles`], from codes and from sums of codes.
struct Exact<T, C, S, const IS_LUMA_SHARED: bool>(PhantomData<(T, C, S)>);

impl<T, C, S, const IS_LUMA_SHARED: bool> Method for Exact<T, C, S, IS_LUMA_SHARED>
where
    T: Texel,
    C: Code,
    S: Sum + Number,
{
    type Texel = T;
    type Room = Room;

    const IS_OPAQUE: bool = true;

    #[inline(always)]
    fn rows<L: Lanes + Words<HALF, GROUP>, const HALF: usize, const GROUP: usize>(work: Work<'_, L, Self>) {
        work.rows_of::<Singles<L, T, IS_LUMA_SHARED>, C, S, _, _>();
    }
}

/// Converts with [`Fixed`], from codes and from sums of codes.
struct WithinOne<C, S>(PhantomData<(C, S)>);

impl<C: Code, S: Sum + Number> Method for WithinOne<C, S> {
    type Texel = [u8; 4];
    type Room = Room;

    const IS_OPAQUE: bool = true;

    #[inline(always)]
    fn rows<L: Lanes + Words<HALF, GROUP>, const HALF: usize, const GROUP: usize>(work: Work<'_, L, Self>) {
        work.rows_of::<Fixed<L, HALF, GROUP>, C, S, _, _>();
    }
}

/// Rows to be made.
struct Work<'a, L, M: Method> {
    lanes: L,
    plan: &'a Plan<'a>,
    room: &'a mut M::Room,
    first: usize,
    width: usize,
    rows: &'a mut [M::Texel],
}

/// Rows to be made with vectors of `HALF` words. A closure would do but for its `call_once`, which is not inlined and so not compiled
/// for the instruction set.
struct Rows<'a, L, M: Method, const HALF: usize, const GROUP: usize>(Work<'a, L, M>);

impl<L, M, const HALF: usize, const GROUP: usize> NullaryFnOnce for Rows<'_, L, M, HALF, GROUP>
where
    L: Lanes + Words<HALF, GROUP>,
    M: Method,
{
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Work { lanes, plan, room, first, width, rows } = self.0;
        M::rows(Work { lanes, plan, room, first, width, rows: &mut *rows });
        if M::IS_OPAQUE && !plan.is_opaque(M::Texel::ONE) {
            lanes.apart(Fill { lanes, plan, first, rows });
        }
    }
}

impl<L: Lanes, M: Method<Room = Room>> Work<'_, L, M> {
    /// Makes the rows with an arithmetic, of codes and of sums of codes.
    #[inline(always)]
    fn rows_of<A, C, S, const PAIRS: usize, const GROUP: usize>(self)
    where
        A: Arithmetic<PAIRS, GROUP, Lanes = L, Texel = M::Texel>,
        C: Code,
        S: Sum + Number,
    {
        let Work { lanes, plan, room, first, width, rows } = self;
        let mut room = room.of::<C, S>();
        // For chroma as it is read, and for sums of it.
        let arithmetic = [A::new(lanes, plan, 1), A::new(lanes, plan, plan.unit())];
        let whole = width - width % GROUP;
        let mut done = 0;
        if A::IS_LUMA_SHARED && plan.is_as_it_lies::<C>() {
            done = whole;
            plan.paint_as_it_lies::<_, C, _, _>(arithmetic[0], first, done, rows);
        }
        // Sums of chroma are made before the texels of a tile. Where rows do not fit a tile, half a tile keeps the sums in the
        // nearest cache.
        let tile = if plan.conversion.filter == Filter::Linear && width > TILE { TILE / 2 } else { TILE };
        let mut last = [M::Texel::default(); GROUP];
        for (y, row) in (first..).zip(rows.chunks_mut(width)) {
            // One call for whole and for last tiles, as everything inlined there is compiled for each call.
            let mut x = done;
            while x < width {
                let end = if x < whole { (x + tile).min(whole) } else { width };
                let out = &mut row[x..end];
                let texels = if x < whole { &mut *out } else { &mut last[..] };
                plan.tile(lanes, arithmetic, [x, y], texels, &mut room);
                if x >= whole {
                    out.copy_from_slice(&last[..out.len()]);
                }
                x = end;
            }
        }
    }
}

/// What texels of sums are made in.
#[repr(align(64))]
struct Room {
    codes: [[u16; ROOM]; 4],
    sums: [[u32; ROOM]; 2],
}

impl Default for Room {
    fn default() -> Room {
        Room { codes: [[0; ROOM]; 4], sums: [[0; ROOM]; 2] }
    }
}

impl Room {
    /// As room for codes and sums of any kind.
    #[inline(always)]
    fn of<C: Code, S: Sum>(&mut self) -> RoomOf<'_, C, S> {
        let [lumas, below, reds, blues] = &mut self.codes;
        let [red_sums, blue_sums] = &mut self.sums;
        RoomOf {
            codes: [
                cast_slice_mut(lumas),
                cast_slice_mut(below),
                cast_slice_mut(reds),
                cast_slice_mut(blues),
            ],
            sums: [cast_slice_mut(red_sums), cast_slice_mut(blue_sums)],
        }
    }
}

struct RoomOf<'a, C, S> {
    /// Codes of rows of luma and chroma.
    codes: [&'a mut [C]; 4],
    /// Cr and Cb between rows.
    sums: [&'a mut [S]; 2],
}

impl Plan<'_> {
    /// The two rows of chroma for a row of texels, and their weights.
    fn rows(&self, y: usize) -> ([usize; 2], [u16; 2]) {
        let [cr, ..] = &self.frame.channels;
        down(y, cr.size[1], self.frame.format.subsampling.factors()[1] == 2, self.conversion)
    }

    /// What sums of chroma are multiplied by.
    fn unit(&self) -> u16 {
        match self.across {
            Across::Pairs([before, own], _) => (before + own) * QUARTERS,
            Across::All | Across::Shared => QUARTERS,
        }
    }

    /// Makes texels of a row, whole groups of them: those behind its end are of its last samples.
    #[inline(always)]
    fn tile<L, A, C, S, const PAIRS: usize, const GROUP: usize>(
        &self,
        lanes: L,
        [as_read, between]: [A; 2],
        [x, y]: [usize; 2],
        texels: &mut [A::Texel],
        room: &mut RoomOf<'_, C, S>,
    ) where
        L: Lanes,
        A: Arithmetic<PAIRS, GROUP>,
        C: Code,
        S: Sum + Number,
    {
        let Frame { format, channels: [cr, luma, cb], .. } = self.frame;
        let RoomOf { codes: [lumas, below, reds, blues], sums } = room;
        let reader = Reader::new(*format, false);
        let columns = x..x + texels.len();
        let lumas = reader.read_apart(lanes, luma, y, columns.clone(), lumas);
        let fx = format.subsampling.factors()[0];
        let is_between_rows = self.rows(y).1[1] != 0;
        let pairs = match self.across {
            Across::Pairs(even, odd) => Some([even, odd]),
            Across::All | Across::Shared => None,
        };
        // Sums that begin at the highest bit are as many times the sums of codes.
        let scale = if A::IS_HIGH { 1 << (S::BITS - format.bits - self.unit().ilog2()) } else { 1 };
        let [red_sums, blue_sums] = sums;
        let rooms = [&mut **reds, &mut **blues];
        let codes = if is_between_rows || pairs.is_some() {
            let sums = [&mut **red_sums, &mut **blue_sums];
            lanes.apart(Sums { plan: self, y, columns, scale, rooms, below, sums });
            [&[][..]; 2]
        } else {
            let ([row, _], _) = self.rows(y);
            let samples = columns.start / fx..columns.end / fx;
            let [reds, blues] = rooms;
            [
                reader.read_apart(lanes, cr, row, samples.clone(), reds),
                reader.read_apart(lanes, cb, row, samples, blues),
            ]
        };
        let [reds, blues] = [&**red_sums, &**blue_sums];
        match pairs {
            None if is_between_rows => between.paint(lumas, [reds, blues], texels),
            None if fx == 1 => as_read.paint(lumas, codes, texels),
            None => as_read.paint_pairs(lumas, codes, texels),
            // With weights that are known where it is compiled, a loop adds and shifts for its products.
            Some(_) if A::IS_LUMA_SHARED && self.across == Across::COSITED => {
                let Across::Pairs(even, odd) = Across::COSITED else { return };
                between.paint_between(lumas, [reds, blues], [even, odd], texels);
            }
            Some(weights) => between.paint_between(lumas, [reds, blues], weights, texels),
        }
    }
}
