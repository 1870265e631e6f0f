//! Encoders.
//!
//! [`encode_into`] encodes RGBA8 texels, [`transcode_into`] blocks of another format. Both encode sixteen blocks at a time,
//! one in each SIMD lane. A transcoder decodes a strip of texels and encodes it while it is in the cache. The resulting bytes
//! depend on the processor's instruction set, as some have fused multiply-add, which rounds once, and others round twice.

#![allow(clippy::needless_range_loop, reason = "lanes are filled by loops over places of several arrays")]

mod bc1;
mod bc7;
mod eac;
mod etc;
mod lanes;
mod line;
mod ramp;

use crate::decode::{self, Error};
use crate::format::{Extent, Format, Texel};
use bc1::Alpha;
use etc::Version as Etc;
use fearless_simd::{Level, Simd};
use lanes::{Blocks, LANES, Rows};
use rayon::prelude::*;
use thiserror::Error;

/// How much time is spent on the search for the best blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Quality {
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
    pub const ALL: [Quality; 3] = [Quality::Fast, Quality::Normal, Quality::High];
}

/// Why an encoder refused its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EncodeError {
    /// There is no encoder for the format.
    #[error("{0} is not encoded")]
    Format(Format),
    /// The format does not decode to RGBA8, which is what encoders take.
    #[error("{0} is not transcoded: it does not decode to RGBA8")]
    Source(Format),
    /// The input or the output is too short for the extent, or the extent is too large.
    #[error(transparent)]
    Size(#[from] Error),
}

impl Format {
    /// Whether [`encode_into`] has an encoder for the format.
    pub const fn has_encoder(self) -> bool {
        matches!(
            self,
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
                | Format::EacRg11Unorm
        )
    }
}

/// Encodes RGBA8 texels to blocks of `format`. `texels` has slices of rows without padding; blocks are written to the start
/// of `out` in the same order. Components that the format does not have are dropped. A block that reaches over the right or
/// the lower edge repeats the last column or row. Nothing is allocated.
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
    transcode_into(Format::Plain(Texel::Rgba8), extent, texels, format, quality, out)
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
    transcode_into_parallel(Format::Plain(Texel::Rgba8), extent, texels, format, quality, out)
}

/// Transcodes blocks of `from` to blocks of `to`. `data` has the layout that [`decode_into`](crate::decode_into) takes;
/// blocks are written to the start of `out`. From [`Format::Etc1s`] to ETC1 and ETC2 RGB, blocks are copied, as those formats
/// contain it. Nothing is allocated.
///
/// # Errors
/// When `from` does not decode to RGBA8, and as [`encode_into`].
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

/// Texels across that a strip has at least, if they fit into [`STRIP_BYTES`].
const STRIP: usize = 256;

/// Bytes of the buffer for a decoded strip. ASTC 10x10 needs most: 320x20 texels, as the width is a multiple of 10 and of
/// [`BATCH`], and the height one of 10 and of 4.
const STRIP_BYTES: usize = 4 * 320 * 20;

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
        if !to.has_encoder() {
            return Err(EncodeError::Format(to));
        }
        let [block_width, block_height, block_depth] = from.block().map(|size| size as usize);
        let rows = multiple(block_height, 4);
        let mut strip = multiple(block_width, BATCH);
        while strip < STRIP && 8 * strip * rows <= STRIP_BYTES {
            strip *= 2;
        }
        if from.texel() != Texel::Rgba8 || block_depth != 1 || 4 * strip * rows > STRIP_BYTES {
            return Err(EncodeError::Source(from));
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
        Ok(Some((Job { from, to, quality, width, height, rows, strip, slice, band }, data, out)))
    }

    /// Encodes band `index` of a slice.
    fn encode(&self, index: usize, data: &[u8], out: &mut [u8]) {
        let copied = matches!((self.from, self.to), (Format::Etc1s, Format::Etc1 | Format::Etc2Rgb));
        if copied {
            out.copy_from_slice(data);
            return;
        }
        let height = self.rows.min(self.height.saturating_sub(index * self.rows));
        if self.from == Format::Plain(Texel::Rgba8) {
            self.blocks(data, self.width, height, [0, self.width], out);
            return;
        }
        let [block_width, block_height, _] = self.from.block().map(|size| size as usize);
        let block_bytes = self.from.block_bytes();
        let row_bytes = self.width.div_ceil(block_width) * block_bytes;
        let mut texels = [0; STRIP_BYTES];
        for left in (0..self.width).step_by(self.strip) {
            let width = self.strip.min(self.width - left);
            let row = 4 * width;
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
            self.blocks(&texels, width, height, [left, width], out);
        }
    }

    /// Encodes `height` rows of `texels`, `pitch` texels apart, into a band: `[left, width]` are the first column that they
    /// have in the picture, and their number.
    fn blocks(&self, texels: &[u8], pitch: usize, height: usize, [left, width]: [usize; 2], out: &mut [u8]) {
        let bytes = self.to.block_bytes();
        let row_bytes = self.width.div_ceil(4) * bytes;
        let words = texels.as_chunks::<4>().0;
        for (top, out) in (0..height).step_by(4).zip(out.chunks_mut(row_bytes)) {
            let out = out.get_mut(left / 4 * bytes..).unwrap_or_default();
            let texels = Texels { words, pitch, width, height, top };
            match self.to {
                Format::Bc1 => texels.each::<8>(out, Coder::Bc1(Alpha::Bit), self.quality),
                Format::Bc1Rgb => texels.each::<8>(out, Coder::Bc1(Alpha::None), self.quality),
                Format::Bc3 => texels.each::<16>(out, Coder::Bc3, self.quality),
                Format::Bc4Unorm => texels.each::<8>(out, Coder::Bc4, self.quality),
                Format::Bc5Unorm => texels.each::<16>(out, Coder::Bc5, self.quality),
                Format::Bc7 => texels.each::<16>(out, Coder::Bc7, self.quality),
                Format::Etc1 => texels.each::<8>(out, Coder::Etc(Etc::One), self.quality),
                Format::Etc2Rgb => texels.each::<8>(out, Coder::Etc(Etc::Two), self.quality),
                Format::Etc2Rgba8 => texels.each::<16>(out, Coder::EtcAlpha, self.quality),
                Format::EacR11Unorm => texels.each::<8>(out, Coder::Eac, self.quality),
                Format::EacRg11Unorm => texels.each::<16>(out, Coder::EacTwo, self.quality),
                _ => {}
            }
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

/// The encoder of a block. The formats of two components, and those with alpha, have two.
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

/// A picture, or a strip of one, from which rows of blocks are taken.
#[derive(Clone, Copy)]
struct Texels<'a> {
    words: &'a [[u8; 4]],
    pitch: usize,
    width: usize,
    height: usize,
    /// The first of the four rows of the next blocks.
    top: usize,
}

impl Texels<'_> {
    /// Loads the texels of sixteen blocks. Beyond the edges the last column and row are repeated.
    #[inline(always)]
    fn rows(&self, left: usize, rows: &mut Rows) {
        for (y, out) in rows.iter_mut().enumerate() {
            let start = (self.top + y).min(self.height - 1) * self.pitch;
            let row = self.words.get(start..start + self.width).unwrap_or_default();
            let there = row.get(left..row.len().min(left + BATCH)).unwrap_or_default();
            for (out, texel) in out.iter_mut().zip(there) {
                *out = u32::from_le_bytes(*texel);
            }
            if let (Some(rest), Some(last)) = (out.get_mut(there.len()..), there.last()) {
                rest.fill(u32::from_le_bytes(*last));
            }
        }
    }

    /// Encodes one row of blocks of `B` bytes.
    fn each<const B: usize>(&self, out: &mut [u8], coder: Coder, quality: Quality) {
        let blocks = out.as_chunks_mut::<B>().0;
        let needed = self.width.div_ceil(4);
        let level = Level::new();
        let mut rows = [[0; BATCH]; 4];
        for (i, out) in blocks.chunks_mut(LANES).take(needed.div_ceil(LANES)).enumerate() {
            let needed = out.len().min(needed - i * LANES);
            self.rows(i * BATCH, &mut rows);
            let words = coder.words_at(level, &rows, quality);
            for (lane, out) in out.iter_mut().take(needed).enumerate() {
                for (out, words) in out.as_chunks_mut::<4>().0.iter_mut().zip(&words) {
                    *out = words[lane].to_le_bytes();
                }
            }
        }
    }
}

impl Coder {
    /// As [`Coder::words`], compiled for the best of three instruction sets. A fourth would cost compile time and gain little.
    #[cfg(target_arch = "x86_64")]
    fn words_at(self, level: Level, rows: &Rows, quality: Quality) -> [[u32; LANES]; 4] {
        if let Some(simd) = level.as_avx512() {
            self.words(simd, rows, quality)
        } else if let Some(simd) = level.as_avx2() {
            self.words(simd, rows, quality)
        } else {
            level.as_sse2().map_or([[0; LANES]; 4], |simd| self.words(simd, rows, quality))
        }
    }

    /// As [`Coder::words`], compiled for the instruction set of the processor.
    #[cfg(not(target_arch = "x86_64"))]
    fn words_at(self, level: Level, rows: &Rows, quality: Quality) -> [[u32; LANES]; 4] {
        fearless_simd::dispatch!(level, simd => self.words(simd, rows, quality))
    }

    /// The words of sixteen blocks. Blocks of eight bytes have two, and the others are 0.
    #[inline(always)]
    fn words<S: Simd>(self, simd: S, rows: &Rows, quality: Quality) -> [[u32; LANES]; 4] {
        let blocks = simd.vectorize(
            #[inline(always)]
            || Blocks::load(simd, rows),
        );
        let one = |[a, b]: [[u32; LANES]; 2]| [a, b, [0; LANES], [0; LANES]];
        let two = |[a, b]: [[u32; LANES]; 2], [c, d]: [[u32; LANES]; 2]| [a, b, c, d];
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
