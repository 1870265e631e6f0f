//! Encoders.
//!
//! [`encode_into`] encodes RGBA8 texels, for BC6H RGBA of halves; [`transcode_into`] encodes blocks of another format. Both encode sixteen blocks at a time,
//! one in each SIMD lane. A transcoder decodes a strip of texels and encodes it while it is in the cache. The resulting bytes
//! depend on the processor's instruction set, as some have fused multiply-add, which rounds once, and others round twice.

#![allow(clippy::needless_range_loop, reason = "lanes are filled by loops over places of several arrays")]

pub(crate) mod bc1;
mod bc6h;
pub(crate) mod bc7;
mod by_alpha;
mod eac;
mod etc;
pub(crate) mod fields;
pub(crate) mod group;
pub(crate) mod lanes;
mod line;
mod partition;
mod ramp;

use crate::basis;
use crate::decode::{self, Error};
use crate::format::{Extent, Format, Texel};
use bc1::Alpha;
use by_alpha::ByAlpha;
use etc::Version as Etc;
use fearless_simd::{Level, Simd, SimdBase};
use lanes::{Blocks, F, LANES, Lane, Rows, Words, splat};
use rayon::prelude::*;
use thiserror::Error;

/// How much time is spent on the search for the best blocks; a quality that takes more is greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Quality {
    /// For BC1, and colours of BC3, the line through the texels alone, without least squares. For other formats the same as
    /// [`Fast`](Self::Fast).
    Fastest,
    /// A line through the texels and one round of least squares: for textures that are encoded within a frame.
    Fast,
    /// More rounds and more modes, where they gain much for little time.
    #[default]
    Normal,
    /// Many modes, partitions and steps of the end points: for files that are encoded ahead of time.
    High,
}

impl Quality {
    /// All of them, the fastest first.
    pub const ALL: [Quality; 4] = [Quality::Fastest, Quality::Fast, Quality::Normal, Quality::High];
}

/// Why an encoder refused its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EncodeError {
    /// There is no encoder for the format.
    #[error("{0} is not encoded")]
    Format(Format),
    /// The first format does not decode to the texels that the encoder of the second takes.
    #[error("{0} is not transcoded to {1}: it does not decode to {2:?}")]
    Source(Format, Format, Texel),
    /// The input or the output is too short for the extent, or the extent is too large.
    #[error(transparent)]
    Size(#[from] Error),
}

impl Format {
    /// The texels that [`encode_into`] takes for the format, if it has an encoder for it.
    pub const fn encoder_texel(self) -> Option<Texel> {
        match self {
            Format::Bc1
            | Format::Bc1Rgb
            | Format::Bc3
            | Format::Bc4Unorm
            | Format::Bc5Unorm
            | Format::Bc7
            | Format::Etc1
            | Format::Etc2Rgb
            | Format::Etc2Rgba8
            | Format::EacR11Unorm
            | Format::EacRg11Unorm => Some(Texel::Rgba8),
            Format::Bc6hUfloat | Format::Bc6hSfloat => Some(Texel::Rgba16Float),
            _ => None,
        }
    }
}

/// Encodes texels to blocks of `format`: RGBA8, or what [`Format::encoder_texel`] says. `texels` has slices of rows without
/// padding; blocks are written to the start of `out` in the same order. Components that the format does not have are dropped. A
/// block that reaches over the right or the lower edge repeats the last column or row. Halves that the format does not have
/// become the nearest ones that it has, and NaNs 0. Nothing is allocated.
///
/// # Errors
/// When there is no encoder for the format, or `texels` or `out` is too short for `extent`; `out` is then unchanged.
pub fn encode_into(
    format: Format,
    extent: Extent,
    texels: &[u8],
    quality: Quality,
    out: &mut [u8],
) -> Result<(), EncodeError> {
    let texel = format.encoder_texel().ok_or(EncodeError::Format(format))?;
    transcode_into(Format::Plain(texel), extent, texels, format, quality, out)
}

/// As [`encode_into`], with rows of blocks on the threads of the current Rayon pool.
///
/// # Errors
/// As [`encode_into`].
pub fn encode_into_parallel(
    format: Format,
    extent: Extent,
    texels: &[u8],
    quality: Quality,
    out: &mut [u8],
) -> Result<(), EncodeError> {
    let texel = format.encoder_texel().ok_or(EncodeError::Format(format))?;
    transcode_into_parallel(Format::Plain(texel), extent, texels, format, quality, out)
}

/// Transcodes blocks of `from` to blocks of `to`. `data` has the layout that [`decode_into`](crate::decode_into) takes;
/// blocks are written to the start of `out`. From [`Format::Etc1s`] to ETC1 and ETC2, colours are copied, as those formats
/// contain it. From [`Format::Uastc`] to BC7, [`Quality::Fast`] and [`Quality::Fastest`] are [`uastc_to_bc7`](crate::basis::uastc_to_bc7),
/// and others keep its blocks where the encoder's are no better. Nothing is allocated.
///
/// # Errors
/// When `from` does not decode to what the encoder takes, and as [`encode_into`].
pub fn transcode_into(
    from: Format,
    extent: Extent,
    data: &[u8],
    to: Format,
    quality: Quality,
    out: &mut [u8],
) -> Result<(), EncodeError> {
    let Some((job, data, out)) = Job::new(from, to, extent, data, quality, out)? else { return Ok(()) };
    for (data, out) in data.chunks(job.slice[0]).zip(out.chunks_mut(job.slice[1])) {
        let bands = data.chunks(job.band[0]).zip(out.chunks_mut(job.band[1]));
        bands.enumerate().for_each(|(i, (data, out))| job.encode(i, data, out));
    }
    Ok(())
}

/// As [`transcode_into`], with rows of blocks on the threads of the current Rayon pool.
///
/// # Errors
/// As [`transcode_into`].
pub fn transcode_into_parallel(
    from: Format,
    extent: Extent,
    data: &[u8],
    to: Format,
    quality: Quality,
    out: &mut [u8],
) -> Result<(), EncodeError> {
    let Some((job, data, out)) = Job::new(from, to, extent, data, quality, out)? else { return Ok(()) };
    let slices = data.par_chunks(job.slice[0]).zip(out.par_chunks_mut(job.slice[1]));
    slices.for_each(|(data, out)| {
        let bands = data.par_chunks(job.band[0]).zip(out.par_chunks_mut(job.band[1]));
        bands.enumerate().for_each(|(i, (data, out))| job.encode(i, data, out));
    });
    Ok(())
}

/// Texels along a row of sixteen blocks.
const BATCH: usize = 4 * LANES;

/// Texels across that a strip has at least, if they fit into [`STRIP_TEXELS`].
const STRIP: usize = 1024;

/// Texels of the buffer for a decoded strip, 36 KiB of RGBA8. ASTC 10x10 needs most for its narrowest strip: 320x20, as the width is a multiple of 10 and of
/// [`BATCH`], and the height one of 10 and of 4.
const STRIP_TEXELS: usize = 9216;

/// Blocks of a band where each block is converted by itself.
const BLOCKS: usize = 1024;

/// A checked call. Slices are cut into bands, which have whole rows of blocks of both formats, and bands into strips.
#[derive(Clone, Copy)]
struct Job {
    from: Format,
    to: Format,
    quality: Quality,
    width: usize,
    height: usize,
    /// Rows of a band, a multiple of both blocks' heights.
    rows: usize,
    /// Texels of a strip, a multiple of the blocks' widths and of [`BATCH`].
    strip: usize,
    /// Bytes of a slice's data and output.
    slice: [usize; 2],
    /// Bytes of a band's data and output.
    band: [usize; 2],
}

/// Conversions of one block into another without texels: [`basis::from_etc1s`] and [`basis::to_bc7`].
enum ByBlock {
    OfEtc1s,
    OfUastc,
}

/// A job with its input and output, cut to the bytes that it uses.
type Work<'a> = (Job, &'a [u8], &'a mut [u8]);

impl Job {
    /// Checks the arguments. `None` if the extent is empty.
    fn new<'a>(
        from: Format,
        to: Format,
        extent: Extent,
        data: &'a [u8],
        quality: Quality,
        out: &'a mut [u8],
    ) -> Result<Option<Work<'a>>, EncodeError> {
        let texel = to.encoder_texel().ok_or(EncodeError::Format(to))?;
        let [block_width, block_height, block_depth] = from.block().map(|size| size as usize);
        let rows = multiple(block_height, 4);
        let mut strip = multiple(block_width, BATCH);
        while strip < STRIP && 2 * strip * rows <= STRIP_TEXELS {
            strip *= 2;
        }
        if from.texel() != texel || block_depth != 1 || strip * rows > STRIP_TEXELS {
            return Err(EncodeError::Source(from, to, texel));
        }
        let too_large = Error::Extent(extent);
        let needed = from.data_bytes(extent).ok_or(too_large)?;
        let data = data.get(..needed).ok_or(Error::Data { needed, given: data.len() })?;
        let (needed, given) = (to.data_bytes(extent).ok_or(too_large)?, out.len());
        let out = out.get_mut(..needed).ok_or(Error::Output { needed, given })?;
        if out.is_empty() {
            return Ok(None);
        }
        let bytes = |extent| [from.data_bytes(extent), to.data_bytes(extent)].map(Option::unwrap_or_default);
        let slice = bytes(Extent { depth: 1, ..extent });
        // The last band may have fewer rows.
        let band = bytes(Extent { height: rows as u32, depth: 1, ..extent });
        if band.contains(&0) {
            return Err(too_large.into());
        }
        let (width, height) = (extent.width as usize, extent.height as usize);
        let mut job = Job { from, to, quality, width, height, rows, strip, slice, band };
        if job.by_block().is_some() {
            // Where blocks lie in the picture does not matter.
            job.band = [from, to].map(|format| BLOCKS * format.block_bytes());
            job.slice = [data.len(), out.len()];
        }
        Ok(Some((job, data, out)))
    }

    /// Encodes band `index` of a slice.
    fn encode(&self, index: usize, data: &[u8], out: &mut [u8]) {
        match self.by_block() {
            Some(ByBlock::OfEtc1s) => return basis::from_etc1s::convert(self.from, self.to, data, out),
            Some(ByBlock::OfUastc) => return basis::to_bc7::convert(data, out),
            None => {}
        }
        let height = self.rows.min(self.height.saturating_sub(index * self.rows));
        match self.to.encoder_texel() {
            Some(Texel::Rgba16Float) => self.strips::<8, { 8 * STRIP_TEXELS }>(data, height, out),
            _ => self.strips::<4, { 4 * STRIP_TEXELS }>(data, height, out),
        }
        if (self.from, self.to) == (Format::Etc1sAlpha, Format::Etc2Rgba8) {
            basis::from_etc1s::keep_colors(data, out);
        }
        match self.from {
            Format::Uastc if self.to == Format::Bc7 => basis::to_bc7::improve(data, out),
            Format::Etc1s | Format::Etc1sAlpha if self.quality == Quality::High => {
                basis::from_etc1s::improve(self.from, self.to, data, out);
            }
            _ => {}
        }
    }

    /// The conversion without texels, if there is one for these formats and this quality.
    fn by_block(&self) -> Option<ByBlock> {
        match (self.from, self.to) {
            (Format::Etc1s | Format::Etc1sAlpha, Format::Etc1 | Format::Etc2Rgb) => Some(ByBlock::OfEtc1s),
            (Format::Etc1s, Format::Etc2Rgba8) => Some(ByBlock::OfEtc1s),
            (Format::Uastc, Format::Bc7) if self.quality <= Quality::Fast => Some(ByBlock::OfUastc),
            _ => None,
        }
    }

    /// Encodes a band of `height` rows through strips of at most `N` bytes, in which texels have `T`.
    fn strips<const T: usize, const N: usize>(&self, data: &[u8], height: usize, out: &mut [u8]) {
        if matches!(self.from, Format::Plain(_)) {
            self.blocks::<T>(data, self.width, height, [0, self.width], out);
            return;
        }
        let [block_width, block_height, _] = self.from.block().map(|size| size as usize);
        let block_bytes = self.from.block_bytes();
        let row_bytes = self.width.div_ceil(block_width) * block_bytes;
        let mut texels = [0; N];
        for left in (0..self.width).step_by(self.strip) {
            let width = self.strip.min(self.width - left);
            let row = T * width;
            for (y, blocks) in data.chunks(row_bytes).enumerate() {
                let first = left / block_width * block_bytes;
                let count = width.div_ceil(block_width) * block_bytes;
                let top = y * block_height;
                let extent = Extent::flat(width as u32, block_height.min(height - top) as u32);
                let blocks = blocks.get(first..first + count).unwrap_or_default();
                let texels = texels.get_mut(top * row..).unwrap_or_default();
                // This cannot fail: sizes were checked for the whole picture.
                let _ = decode::decode_into(self.from, extent, blocks, texels);
            }
            self.blocks::<T>(&texels, width, height, [left, width], out);
        }
    }

    /// Encodes `height` rows of `texels`, `pitch` texels apart, into a band: `[left, width]` are the first column that they
    /// have in the picture, and their number.
    fn blocks<const T: usize>(
        &self,
        texels: &[u8],
        pitch: usize,
        height: usize,
        [left, width]: [usize; 2],
        out: &mut [u8],
    ) {
        let bytes = self.to.block_bytes();
        let row_bytes = self.width.div_ceil(4) * bytes;
        let texels = texels.as_chunks::<T>().0;
        let rows = (0..height).step_by(4).map(|top| Texels { texels, pitch, width, height, top });
        if self.to == Format::Bc7 {
            let mut by_alpha = ByAlpha::new(self.quality, out.as_chunks_mut().0);
            for (y, row) in rows.enumerate() {
                by_alpha.add(&row, y * self.width.div_ceil(4) + left / 4);
            }
            return by_alpha.finish();
        }
        for (row, out) in rows.zip(out.chunks_mut(row_bytes)) {
            row.encode(self.to, self.quality, out.get_mut(left / 4 * bytes..).unwrap_or_default());
        }
    }
}

/// The least common multiple of `size` and a power of two.
const fn multiple(size: usize, power: usize) -> usize {
    let mut out = size;
    while !out.is_multiple_of(power) {
        out *= 2;
    }
    out
}

/// The encoder of a block of RGBA8. The formats of two components, and those with alpha, have two.
#[derive(Clone, Copy)]
enum Coder {
    Bc1(Alpha),
    Bc3,
    Bc4,
    Bc5,
    Bc7,
    Etc(Etc),
    EtcAlpha,
    Eac,
    EacTwo,
}

/// A picture, or a strip of one, from which rows of blocks are taken; texels are of `T` bytes.
#[derive(Clone, Copy)]
struct Texels<'a, const T: usize> {
    texels: &'a [[u8; T]],
    pitch: usize,
    width: usize,
    height: usize,
    /// The first of the four rows of the next blocks.
    top: usize,
}

impl<const T: usize> Texels<'_, T> {
    /// Encodes one row of blocks.
    fn encode(&self, format: Format, quality: Quality, out: &mut [u8]) {
        match format {
            Format::Bc1 => self.each::<8>(out, Coder::Bc1(Alpha::Bit), quality),
            Format::Bc1Rgb => self.each::<8>(out, Coder::Bc1(Alpha::None), quality),
            Format::Bc3 => self.each::<16>(out, Coder::Bc3, quality),
            Format::Bc4Unorm => self.each::<8>(out, Coder::Bc4, quality),
            Format::Bc5Unorm => self.each::<16>(out, Coder::Bc5, quality),
            Format::Etc1 => self.each::<8>(out, Coder::Etc(Etc::One), quality),
            Format::Etc2Rgb => self.each::<8>(out, Coder::Etc(Etc::Two), quality),
            Format::Etc2Rgba8 => self.each::<16>(out, Coder::EtcAlpha, quality),
            Format::EacR11Unorm => self.each::<8>(out, Coder::Eac, quality),
            Format::EacRg11Unorm => self.each::<16>(out, Coder::EacTwo, quality),
            Format::Bc6hUfloat => self.each_of_halves(out, false, quality),
            Format::Bc6hSfloat => self.each_of_halves(out, true, quality),
            _ => {}
        }
    }

    /// Loads the texels of sixteen blocks. Beyond the edges the last column and row are repeated.
    #[inline(always)]
    fn rows<W: Copy>(&self, left: usize, rows: &mut Rows<W>, word: impl Fn(&[u8; T]) -> W) {
        for (y, out) in rows.iter_mut().enumerate() {
            let start = (self.top + y).min(self.height - 1) * self.pitch;
            let row = self.texels.get(start..start + self.width).unwrap_or_default();
            let there = row.get(left..row.len().min(left + BATCH)).unwrap_or_default();
            for (out, texel) in out.iter_mut().zip(there) {
                *out = word(texel);
            }
            if let (Some(rest), Some(last)) = (out.get_mut(there.len()..), there.last()) {
                rest.fill(word(last));
            }
        }
    }

    /// Encodes one row of blocks of `B` bytes.
    fn each<const B: usize>(&self, out: &mut [u8], coder: Coder, quality: Quality) {
        let level = Level::new();
        let mut rows = [[0; BATCH]; 4];
        self.batches::<B>(out, |left| {
            self.rows(left, &mut rows, word);
            at_best(level, OfBytes { coder, rows: &rows, quality })
        });
    }

    /// Encodes one row of blocks of BC6H.
    fn each_of_halves(&self, out: &mut [u8], signed: bool, quality: Quality) {
        let level = Level::new();
        let mut rows = [[0; BATCH]; 4];
        self.batches::<16>(out, |left| {
            self.rows(left, &mut rows, |texel| texel.first_chunk().map_or(0, |t| u64::from_le_bytes(*t)));
            at_best(level, OfHalves { signed, rows: &rows, quality })
        });
    }

    /// Writes the words of a row of blocks, sixteen blocks at a time.
    #[inline(always)]
    fn batches<const B: usize>(&self, out: &mut [u8], mut words: impl FnMut(usize) -> Words) {
        let blocks = out.as_chunks_mut::<B>().0;
        let needed = self.width.div_ceil(4);
        for (i, out) in blocks.chunks_mut(LANES).take(needed.div_ceil(LANES)).enumerate() {
            let needed = out.len().min(needed - i * LANES);
            let words = words(i * BATCH);
            for (lane, out) in out.iter_mut().take(needed).enumerate() {
                group::store(&words, lane, out);
            }
        }
    }
}

/// A texel of RGBA8.
#[inline(always)]
fn word<const T: usize>(texel: &[u8; T]) -> u32 {
    texel.first_chunk().map_or(0, |texel| u32::from_le_bytes(*texel))
}

/// Something that is compiled for several instruction sets.
trait Task {
    fn run<S: Simd>(self, simd: S) -> Words;
}

/// A task compiled for the best of three instruction sets. A fourth would cost compile time and gain little.
#[cfg(target_arch = "x86_64")]
fn at_best(level: Level, task: impl Task) -> Words {
    if let Some(simd) = level.as_avx512() {
        task.run(simd)
    } else if let Some(simd) = level.as_avx2() {
        task.run(simd)
    } else {
        level.as_sse2().map_or([[0; LANES]; 4], |simd| task.run(simd))
    }
}

/// A task compiled for the instruction set of the processor.
#[cfg(not(target_arch = "x86_64"))]
fn at_best(level: Level, task: impl Task) -> Words {
    fearless_simd::dispatch!(level, simd => task.run(simd))
}

/// Sixteen blocks of RGBA8.
struct OfBytes<'a> {
    coder: Coder,
    rows: &'a Rows<u32>,
    quality: Quality,
}

impl Task for OfBytes<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Words {
        self.coder.words(simd, self.rows, self.quality)
    }
}

/// Sixteen blocks of RGBA8, each with the axis along which its texels lie.
pub(crate) struct Lines<'a> {
    pub rows: &'a Rows<u32>,
    pub ways: &'a [[f32; LANES]; 4],
}

/// Encodes blocks in BC7 along their axes.
pub(crate) fn bc7_on_lines(lines: Lines<'_>) -> Words {
    at_best(Level::new(), lines)
}

impl Task for Lines<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Words {
        let (blocks, mut axis) = (blocks(simd, self.rows), [splat(simd, 0.0); 4]);
        for (axis, way) in axis.iter_mut().zip(self.ways) {
            *axis = F::load_array_ref(simd, way);
        }
        bc7::on_lines(simd, &blocks, axis)
    }
}

/// Components of sixteen blocks.
#[inline(always)]
fn blocks<S: Simd>(simd: S, rows: &Rows<u32>) -> Blocks<S> {
    simd.vectorize(
        #[inline(always)]
        || Blocks::load(simd, rows),
    )
}

/// Sixteen blocks of halves.
struct OfHalves<'a> {
    signed: bool,
    rows: &'a Rows<u64>,
    quality: Quality,
}

impl Task for OfHalves<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Words {
        match self.signed {
            true => bc6h::encode::<S, true>(simd, self.rows, self.quality),
            false => bc6h::encode::<S, false>(simd, self.rows, self.quality),
        }
    }
}

impl Coder {
    #[inline(always)]
    fn words<S: Simd>(self, simd: S, rows: &Rows<u32>, quality: Quality) -> Words {
        let blocks = blocks(simd, rows);
        let one = |[a, b]: [Lane; 2]| [a, b, [0; LANES], [0; LANES]];
        let two = |[a, b]: [Lane; 2], [c, d]: [Lane; 2]| [a, b, c, d];
        match self {
            Coder::Bc1(alpha) => one(bc1::encode(simd, &blocks, alpha, quality)),
            Coder::Bc3 => {
                let alphas = ramp::encode(simd, &blocks, 3, quality);
                two(alphas, bc1::encode(simd, &blocks, Alpha::None, quality))
            }
            Coder::Bc4 => one(ramp::encode(simd, &blocks, 0, quality)),
            Coder::Bc5 => {
                let red = ramp::encode(simd, &blocks, 0, quality);
                two(red, ramp::encode(simd, &blocks, 1, quality))
            }
            Coder::Bc7 => bc7::encode(simd, &blocks, quality),
            Coder::Etc(version) => one(etc::encode(simd, &blocks, version, quality)),
            Coder::EtcAlpha => {
                let alphas = eac::encode::<S, false>(simd, &blocks, 3, quality);
                two(alphas, etc::encode(simd, &blocks, Etc::Two, quality))
            }
            Coder::Eac => one(eac::encode::<S, true>(simd, &blocks, 0, quality)),
            Coder::EacTwo => {
                let red = eac::encode::<S, true>(simd, &blocks, 0, quality);
                two(red, eac::encode::<S, true>(simd, &blocks, 1, quality))
            }
        }
    }
}
