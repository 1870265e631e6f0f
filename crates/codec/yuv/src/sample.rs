//! Sampling frames at the centres of their luma samples.

use crate::conversion::{Affine, Conversion, Filter, Reconstruction, Siting};
use crate::frame::{Channel, Error, Frame};
use pulp::Arch;
use rayon::prelude::*;

/// Texels converted at a time.
const CHUNK: usize = 64;

/// Converts a frame to RGBA, alpha 1, rows without padding.
///
/// # Errors
/// When `out` is too short; it is not touched then.
pub fn convert(frame: &Frame<'_>, conversion: &Conversion, out: &mut [[f32; 4]]) -> Result<(), Error> {
    rows(frame, conversion, out, |rgb| [rgb[0], rgb[1], rgb[2], 1.0])
}

/// Converts a frame to RGBA of eight bits, clamped and rounded to the nearest, alpha 255, rows without padding.
///
/// # Errors
/// When `out` is too short; it is not touched then.
pub fn convert_rgba8(frame: &Frame<'_>, conversion: &Conversion, out: &mut [[u8; 4]]) -> Result<(), Error> {
    rows(frame, conversion, out, |rgb| {
        let byte = |c: f32| (c * 255.0 + 0.5).clamp(0.0, 255.0) as u8;
        [byte(rgb[0]), byte(rgb[1]), byte(rgb[2]), 255]
    })
}

fn rows<T: Send>(
    frame: &Frame<'_>,
    conversion: &Conversion,
    out: &mut [T],
    texel: impl Fn([f32; 3]) -> T + Sync,
) -> Result<(), Error> {
    let [width, height] = frame.size;
    let needed = width.checked_mul(height).ok_or(Error::TooLarge(width, height))?;
    let given = out.len();
    let out = out.get_mut(..needed).ok_or(Error::Output { needed, given })?;
    if out.is_empty() {
        return Ok(());
    }
    let affine = conversion.affine(frame.format.bits);
    let arch = Arch::new();
    out.par_chunks_mut(width).enumerate().for_each(|(y, row)| {
        arch.dispatch(
            #[inline(always)]
            || {
                for (i, texels) in row.chunks_mut(CHUNK).enumerate() {
                    chunk(frame, conversion, &affine, [i * CHUNK, y], texels, &texel);
                }
            },
        );
    });
    Ok(())
}

/// Converts up to [`CHUNK`] texels of a row.
#[inline(always)]
fn chunk<T>(
    frame: &Frame<'_>,
    conversion: &Conversion,
    affine: &Affine,
    at: [usize; 2],
    texels: &mut [T],
    texel: impl Fn([f32; 3]) -> T,
) {
    let mut codes = [[0.0; CHUNK]; 3];
    for (channel, codes) in frame.channels.iter().zip(&mut codes) {
        let codes = &mut codes[..texels.len().min(CHUNK)];
        if frame.format.bits == 8 {
            reconstruct(channel, frame, conversion, at, codes, |data, at| {
                data.get(at).map_or(0.0, |&code| f32::from(code))
            });
        } else {
            let unused = 16 - frame.format.bits;
            let (shift, mask) = if frame.format.high { (unused, u16::MAX) } else { (0, u16::MAX >> unused) };
            reconstruct(channel, frame, conversion, at, codes, |data, at| {
                let word = data.get(at..).and_then(|bytes| bytes.first_chunk());
                word.map_or(0.0, |&code| f32::from(u16::from_le_bytes(code) >> shift & mask))
            });
        }
    }
    let Affine { matrix, offset } = affine;
    for (i, out) in texels.iter_mut().enumerate().take(CHUNK) {
        let rgb = std::array::from_fn(|row| {
            let [r, g, b] = matrix[row];
            r * codes[0][i] + g * codes[1][i] + b * codes[2][i] + offset[row]
        });
        *out = texel(rgb);
    }
}

/// The two samples on either side of a luma sample along an axis, and the weight of the second.
#[derive(Clone, Copy)]
struct Taps {
    samples: [usize; 2],
    second: f32,
}

/// The codes of a channel at luma samples.
#[inline(always)]
fn reconstruct(
    channel: &Channel<'_>,
    frame: &Frame<'_>,
    conversion: &Conversion,
    [x, y]: [usize; 2],
    codes: &mut [f32],
    code: impl Fn(&[u8], usize) -> f32,
) {
    let halved = |axis: usize| channel.size[axis] < frame.size[axis];
    let down = taps(y, channel.size[1], halved(1).then_some(conversion.siting[1]), conversion);
    let row = |y: usize| channel.data.get(channel.offset + y * channel.pitch..).unwrap_or_default();
    let [upper, lower] = down.samples.map(row);
    for (i, out) in codes.iter_mut().enumerate() {
        let across = taps(x + i, channel.size[0], halved(0).then_some(conversion.siting[0]), conversion);
        let along = |row: &[u8]| {
            let [left, right] = across.samples.map(|x| code(row, x * channel.step));
            left + (right - left) * across.second
        };
        *out = if down.second == 0.0 {
            along(upper)
        } else {
            along(upper) * (1.0 - down.second) + along(lower) * down.second
        };
    }
}

/// `siting` is given for an axis with half the samples; `None`: every luma sample has a chroma sample.
#[inline(always)]
fn taps(at: usize, size: usize, siting: Option<Siting>, conversion: &Conversion) -> Taps {
    let last = size.saturating_sub(1);
    let one = |sample: usize| Taps { samples: [sample.min(last); 2], second: 0.0 };
    let Some(siting) = siting else { return one(at) };
    let odd = at % 2 == 1;
    match (conversion.filter, siting) {
        (Filter::Nearest, Siting::CositedEven) if conversion.reconstruction == Reconstruction::Implicit => {
            one(at.div_ceil(2))
        }
        (Filter::Nearest, _) => one(at / 2),
        (Filter::Linear, siting) => {
            let (first, second) = match (siting, odd) {
                (Siting::CositedEven, false) => return one(at / 2),
                (Siting::CositedEven, true) => (at / 2, 0.5),
                (Siting::Midpoint, true) => (at / 2, 0.25),
                // Before the first sample there is the first.
                (Siting::Midpoint, false) if at == 0 => return one(0),
                (Siting::Midpoint, false) => (at / 2 - 1, 0.75),
            };
            Taps { samples: [first, first + 1].map(|s| s.min(last)), second }
        }
    }
}
