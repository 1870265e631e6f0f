//! The entry points: sizes are checked here, once, and every decoder is handed slices that fit.

use crate::console::pica;
use crate::format::{Extent, Format};
use crate::simd::Portable;
use crate::{astc, basis, bc, etc, plain};
use pulp::{Arch, NullaryFnOnce};
#[cfg(feature = "std")]
use rayon::prelude::*;
use thiserror::Error;

/// Why nothing was decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// The data end before the picture.
    #[error("the data are {given} bytes, the picture has {needed}")]
    Data {
        /// Bytes of the blocks that cover the extent.
        needed: usize,
        /// Bytes given.
        given: usize,
    },
    /// The output does not hold the texels.
    #[error("the output has room for {given} bytes, the picture has {needed}")]
    Output {
        /// Bytes of the extent's texels.
        needed: usize,
        /// Bytes given.
        given: usize,
    },
    /// The extent has more bytes than an address counts.
    #[error("an extent of {0:?} is too large")]
    Extent(Extent),
}

/// Decodes the blocks in `data`, which lie in rows of slices, to the texels of `extent`, rows of slices without
/// padding, at the start of `out`. What lies behind the picture in `data` or `out` is left alone. Three-dimensional blocks
/// cover several slices.
///
/// # Errors
/// When `data` or `out` is too short for `extent`; `out` is not touched then.
pub fn decode_into(format: Format, extent: Extent, data: &[u8], out: &mut [u8]) -> Result<(), Error> {
    let Some(job) = Job::new(format, extent, data, out)? else { return Ok(()) };
    let bands = job.data.chunks(job.band_data).zip(job.out.chunks_mut(job.band_out));
    let arch = Arch::new();
    bands.for_each(|(data, out)| band(arch, format, extent, data, out));
    Ok(())
}

/// As [`decode_into`], with rows of blocks on the threads of the current Rayon pool.
///
/// # Errors
/// As [`decode_into`].
#[cfg(feature = "std")]
pub fn decode_into_parallel(
    format: Format,
    extent: Extent,
    data: &[u8],
    out: &mut [u8],
) -> Result<(), Error> {
    let Some(job) = Job::new(format, extent, data, out)? else { return Ok(()) };
    let bands = job.data.par_chunks(job.band_data).zip(job.out.par_chunks_mut(job.band_out));
    let arch = Arch::new();
    bands.for_each(|(data, out)| band(arch, format, extent, data, out));
    Ok(())
}

/// The parts of `data` and `out` that the picture and its texels take.
pub(crate) fn checked<'a>(
    format: Format,
    extent: Extent,
    data: &'a [u8],
    out: &'a mut [u8],
) -> Result<(&'a [u8], &'a mut [u8]), Error> {
    let too_large = Error::Extent(extent);
    let needed = format.data_bytes(extent).ok_or(too_large)?;
    let data = data.get(..needed).ok_or(Error::Data { needed, given: data.len() })?;
    let (needed, given) = (format.output_bytes(extent).ok_or(too_large)?, out.len());
    let out = out.get_mut(..needed).ok_or(Error::Output { needed, given })?;
    Ok((data, out))
}

/// A picture cut into bands that decode independently: rows of blocks of a slice, or whole layers of blocks where a
/// block has depth.
struct Job<'a> {
    data: &'a [u8],
    out: &'a mut [u8],
    band_data: usize,
    band_out: usize,
}

impl<'a> Job<'a> {
    /// Checks all sizes. Nothing if there is nothing to do.
    fn new(
        format: Format,
        extent: Extent,
        data: &'a [u8],
        out: &'a mut [u8],
    ) -> Result<Option<Job<'a>>, Error> {
        let too_large = Error::Extent(extent);
        let (data, out) = checked(format, extent, data, out)?;
        if out.is_empty() {
            return Ok(None);
        }
        let [_, height, depth] = format.block();
        // Slices of two-dimensional blocks are cut apart by the caller's extent: their last row of blocks may be cut.
        let band = match depth {
            1 if extent.height.is_multiple_of(height) || extent.depth == 1 => {
                Extent { height, depth: 1, ..extent }
            }
            _ => Extent { depth, ..extent },
        };
        Ok(Some(Job {
            band_data: format.data_bytes(band).ok_or(too_large)?,
            band_out: format.output_bytes(band).ok_or(too_large)?,
            data,
            out,
        }))
    }
}

/// Decodes a band; the last one may have fewer rows or slices than the others.
fn band(arch: Arch, format: Format, extent: Extent, data: &[u8], out: &mut [u8]) {
    let width = extent.width as usize;
    /// The body compiled for each of the instruction sets that `arch` tells apart.
    macro_rules! on {
        (|$simd:pat_param, $out:ident| $decode:expr) => {
            match arch {
                #[cfg(target_arch = "x86_64")]
                Arch::V4(simd) => on!(simd, |$simd, $out| $decode),
                #[cfg(target_arch = "x86_64")]
                Arch::V3(simd) => on!(simd, |$simd, $out| $decode),
                _ => on!(Portable, |$simd, $out| $decode),
            }
        };
        ($token:expr, |$simd:pat_param, $out:ident| $decode:expr) => {
            $token.vectorize(Work(
                out,
                #[inline(always)]
                |$out: &mut [u8]| {
                    let $simd = $token;
                    $decode
                },
            ))
        };
    }
    match format {
        Format::Bc1 => on!(|simd, out| bc::bc1::<_, true>(simd, width, data, out)),
        Format::Bc1Rgb => on!(|simd, out| bc::bc1::<_, false>(simd, width, data, out)),
        Format::Bc2 => on!(|simd, out| bc::bc2(simd, width, data, out)),
        Format::Bc3 => on!(|simd, out| bc::bc3(simd, width, data, out)),
        Format::Bc4Unorm => on!(|_, out| bc::bc4::<false>(width, data, out)),
        Format::Bc4Snorm => on!(|_, out| bc::bc4::<true>(width, data, out)),
        Format::Bc5Unorm => on!(|_, out| bc::bc5::<false>(width, data, out)),
        Format::Bc5Snorm => on!(|_, out| bc::bc5::<true>(width, data, out)),
        Format::Bc6hUfloat => on!(|simd, out| bc::bc6h::<_, false>(simd, width, data, out)),
        Format::Bc6hSfloat => on!(|simd, out| bc::bc6h::<_, true>(simd, width, data, out)),
        Format::Bc7 => on!(|simd, out| bc::bc7(simd, width, data, out)),
        Format::Etc1 => on!(|_, out| etc::etc1(width, data, out)),
        Format::Etc2Rgb => on!(|_, out| etc::rgb(width, data, out)),
        Format::Etc2Rgba1 => on!(|_, out| etc::rgba1(width, data, out)),
        Format::Etc2Rgba8 => on!(|_, out| etc::rgba8(width, data, out)),
        Format::EacR11Unorm => on!(|_, out| etc::r11::<false>(width, data, out)),
        Format::EacR11Snorm => on!(|_, out| etc::r11::<true>(width, data, out)),
        Format::EacRg11Unorm => on!(|_, out| etc::rg11::<false>(width, data, out)),
        Format::EacRg11Snorm => on!(|_, out| etc::rg11::<true>(width, data, out)),
        Format::Astc(footprint, profile) => {
            let size = [width, extent.height as usize];
            on!(|simd, out| astc::decode_band(simd, footprint, profile, size, data, out))
        }
        Format::Pica(format) => pica::decode_band(format, width, data, out),
        Format::Etc1s => on!(|_, out| etc::etc1(width, data, out)),
        Format::Etc1sAlpha => on!(|_, out| etc::etc1s_alpha(width, data, out)),
        Format::Uastc => on!(|simd, out| basis::unpack::decode(simd, width, data, out)),
        Format::Packed(layout) => layout.decode(data, out),
        Format::E5b9g9r9 => plain::shared_exponent(data, out),
        Format::XrBias => plain::extended_range(data, out),
        Format::R8g8B8g8 => plain::shared_chroma(width, [0, 1, 2, 3], data, out),
        Format::G8r8G8b8 => plain::shared_chroma(width, [1, 0, 3, 2], data, out),
        Format::Plain(_) => out.copy_from_slice(data),
    }
}

/// A decoder and its output. A closure that borrowed the output would do but for its `call_once`, which is not inlined
/// and so not compiled for the instruction set.
struct Work<'a, F>(&'a mut [u8], F);

impl<F: Fn(&mut [u8])> NullaryFnOnce for Work<'_, F> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        (self.1)(self.0);
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use pulp::x86::{V3, V4};
    use xenoglot_testgen::rng::Rng;

    /// A row of blocks that hangs over the edge, random ones and of ASTC as many legal ones.
    fn picture(format: Format, rng: &mut Rng) -> (Extent, Vec<u8>) {
        let [width, height, depth] = format.block();
        let extent = Extent { width: width * 70 - 1, height, depth };
        let mut data = vec![0; format.data_bytes(extent).unwrap()];
        for (i, block) in data.chunks_exact_mut(format.block_bytes()).enumerate() {
            for _ in 0..if i % 2 == 0 { 1 } else { 20 } {
                block.fill_with(|| rng.next_u32() as u8);
                let mut texels = vec![0; format.texel().bytes() * (width * height * depth) as usize];
                decode_into(format, Extent { width, height, depth }, block, &mut texels).unwrap();
                if !matches!(texels[..4], [0xff, 0, 0xff, 0xff] | [0xff, 0xff, 0xff, 0xff]) {
                    break;
                }
            }
        }
        (extent, data)
    }

    #[test]
    fn every_instruction_set_gives_the_same_bytes() {
        let mut rng = Rng::new(3);
        for format in Format::compressed() {
            let (extent, data) = picture(format, &mut rng);
            let mut expected = vec![0; format.output_bytes(extent).unwrap()];
            band(Arch::Scalar, format, extent, &data, &mut expected);
            let others = [V3::try_new().map(Arch::V3), V4::try_new().map(Arch::V4)];
            for arch in others.into_iter().flatten() {
                let mut out = vec![0; expected.len()];
                band(arch, format, extent, &data, &mut out);
                assert!(out == expected, "{format:?} {arch:?}");
            }
        }
    }
}
