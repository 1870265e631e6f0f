//! Encoders.
//!
//! [`encode_into`] makes blocks of RGBA8 texels, [`transcode_into`] of another format's blocks, sixteen blocks at a time, so
//! that texels between two formats stay in the cache. The blocks depend on the processor's instruction set: products and
//! sums may be rounded once or twice.

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

/// How long blocks are searched for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Quality {
    /// A line through the texels and least squares, once: for textures that are made while a frame is.
    Fast,
    /// What costs little and helps much: more rounds, more modes.
    #[default]
    Normal,
    /// Many modes, partitions and steps of ends: for files.
    High,
}

impl Quality {
    /// All of them, the fastest first.
    pub const ALL: [Quality; 3] = [Quality::Fast, Quality::Normal, Quality::High];
}

/// Why nothing was encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EncodeError {
    /// There is no encoder for the format.
    #[error("{0} is not encoded")]
    Format(Format),
    /// Texels of the format are not RGBA8, which encoders take.
    #[error("{0} is not transcoded: its texels are no bytes")]
    Source(Format),
    /// The texels or blocks given, or the room for blocks.
    #[error(transparent)]
    Size(#[from] Error),
}

impl Format {
    /// Whether [`encode_into`] makes it.
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

/// Encodes RGBA8 texels, rows of slices without padding, to blocks of `format`, which lie in rows of slices, at the start
/// of `out`. Components that the format does not have are left out. Blocks that hang over an edge repeat the last texels.
/// Nothing is allocated.
///
/// # Errors
/// When there is no encoder for the format, or `texels` or `out` is too short for `extent`; `out` is not touched then.
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

/// Makes blocks of `to` of blocks of `from`, which lie as [`decode_into`](crate::decode_into) wants them, at the start of
/// `out`. Blocks of [`Format::Etc1s`] become ETC1 and ETC2 as they are. Nothing is allocated.
///
/// # Errors
/// When texels of `from` are not RGBA8, and as [`encode_into`].
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

/// Texels of sixteen blocks along a row.
const BATCH: usize = 4 * LANES;

/// The least texels of a strip.
const STRIP: usize = 256;

/// The texels of a strip of any format's: a width that blocks of 4 and of the format divide, for each axis.
const STRIP_BYTES: usize = 4 * 320 * 20;

/// A picture whose slices are cut into bands of whole blocks of both formats, and those into strips.
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
    /// Bytes of a band's.
    band: [usize; 2],
}

/// A job, and the parts of data and output that it takes.
type Work<'a> = (Job, &'a [u8], &'a mut [u8]);

impl Job {
    /// Checks everything. Nothing if there is nothing to do.
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
        // Whole rows of blocks, though the picture may have fewer.
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
                // All sizes fit, as they do for the whole picture.
                let _ = decode::decode_into(self.from, extent, blocks, texels);
            }
            self.blocks(&texels, width, height, [left, width], out);
        }
    }

    /// Makes blocks of `height` rows of texels of `pitch`, for the columns that begin at the first of `columns` and are
    /// as many as the second.
    fn blocks(&self, texels: &[u8], pitch: usize, height: usize, columns: [usize; 2], out: &mut [u8]) {
        let [left, width] = columns;
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

/// The least number that both divide, of which the second is a power of two.
const fn multiple(size: usize, power: usize) -> usize {
    let mut out = size;
    while !out.is_multiple_of(power) {
        out *= 2;
    }
    out
}

/// What makes the words of blocks.
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

/// Rows of texels.
#[derive(Clone, Copy)]
struct Texels<'a> {
    words: &'a [[u8; 4]],
    pitch: usize,
    width: usize,
    height: usize,
    /// The first of the rows that a block needs.
    top: usize,
}

impl Texels<'_> {
    /// Four rows of sixteen blocks; the last texels are repeated.
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

    /// Blocks of a row of them.
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
    /// As [`Coder::words`] by the best of three instruction sets; more of them would take long to compile and gain little.
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

    /// As [`Coder::words`] by what the processor has.
    #[cfg(not(target_arch = "x86_64"))]
    fn words_at(self, level: Level, rows: &Rows, quality: Quality) -> [[u32; LANES]; 4] {
        fearless_simd::dispatch!(level, simd => self.words(simd, rows, quality))
    }

    /// The words of sixteen blocks; of blocks of eight bytes there are two.
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
