//! Frames at any place, as a shader samples them.

use crate::conversion::{Conversion, Filter, Reconstruction};
use crate::format::Format;
use crate::frame::{Channel, Error, Frame};
use crate::taps::{Axis, TAPS, Taps};

/// Places that a thread takes at once.
#[cfg(feature = "std")]
const PLACES: usize = 256;

/// Takes texels of a frame at `places` to RGBA, as a sampler with a conversion of Vulkan does with unnormalised coordinates and
/// `CLAMP_TO_EDGE`. Coordinates are x and y in luma samples: the centre of the first texel is at 0.5, 0.5. Beyond the edges is what
/// lies at them. Colours are not clamped; alpha is as [`crate::convert`] has it.
///
/// `filter` is the sampler's own: it makes luma and alpha, between their samples. Chroma is made as the conversion says:
///
/// * [`Reconstruction::Explicit`]: its filter brings chroma to every luma sample, and `filter` then filters those values.
/// * [`Reconstruction::Implicit`]: its filter makes chroma at the place itself, between the samples that there are.
///
/// With a place at a texel's centre, this is what [`crate::convert`] gives, but for the last bits. Numbers that are not finite are
/// taken for an edge, or for 0 if they are no numbers. Of a frame without texels all codes are 0.
///
/// # Errors
/// When `out` has not as much room as there are places; it is not touched then.
pub fn sample(
    frame: &Frame<'_>,
    conversion: &Conversion,
    filter: Filter,
    places: &[[f32; 2]],
    out: &mut [[f32; 4]],
) -> Result<(), Error> {
    let (needed, given) = (places.len(), out.len());
    let out = out.get_mut(..needed).ok_or(Error::Output { needed, given })?;
    let sampler = Sampler { frame, conversion, filter };
    let affine = conversion.affine(frame.format);
    let make = |(texel, &place): (&mut [f32; 4], &[f32; 2])| {
        let codes = sampler.codes(place);
        for ((component, row), offset) in texel.iter_mut().zip(&affine.matrix).zip(affine.offset) {
            *component = row.iter().zip(codes).map(|(factor, code)| factor * code).sum::<f32>() + offset;
        }
    };
    #[cfg(feature = "std")]
    {
        use rayon::prelude::*;
        out.par_iter_mut().with_min_len(PLACES).zip(places).for_each(make);
    }
    #[cfg(not(feature = "std"))]
    out.iter_mut().zip(places).for_each(make);
    Ok(())
}

struct Sampler<'a> {
    frame: &'a Frame<'a>,
    conversion: &'a Conversion,
    filter: Filter,
}

/// Samples along an axis and their weights.
struct Weights {
    of: [(usize, f32); TAPS * TAPS],
    count: usize,
}

impl Weights {
    fn new(weights: impl Iterator<Item = (usize, f32)>) -> Weights {
        let (mut of, mut count) = ([(0, 0.0); TAPS * TAPS], 0);
        for (to, weight) in of.iter_mut().zip(weights) {
            *to = weight;
            count += 1;
        }
        Weights { of, count }
    }

    fn iter(&self) -> impl Iterator<Item = (usize, f32)> {
        self.of.iter().copied().take(self.count)
    }
}

impl Sampler<'_> {
    /// Codes of Cr, luma, Cb and alpha.
    fn codes(&self, place: [f32; 2]) -> [f32; 4] {
        let Frame { format, size, channels: [cr, luma, cb], alpha } = self.frame;
        let of_luma = [0, 1].map(|axis| {
            let taps = Taps::new(along(place[axis], size[axis]), self.filter);
            Weights::new(taps.clamped(size[axis]))
        });
        let of_chroma = [0, 1].map(|axis| self.chroma(axis, place[axis], cr.size[axis]));
        [
            value(*format, cr, &of_chroma),
            value(*format, luma, &of_luma),
            value(*format, cb, &of_chroma),
            alpha.as_ref().map_or(0.0, |alpha| value(*format, alpha, &of_luma)),
        ]
    }

    /// Chroma samples for a coordinate, on an axis with so many.
    fn chroma(&self, axis: usize, coordinate: f32, samples: usize) -> Weights {
        let size = self.frame.size[axis];
        let place = along(coordinate, size);
        let axis = Axis::new(self.frame.format.subsampling.factors(), self.conversion, axis);
        match self.conversion.reconstruction {
            Reconstruction::Implicit => {
                Weights::new(Taps::new(axis.place(place), self.conversion.filter).clamped(samples))
            }
            Reconstruction::Explicit => {
                let lumas = Taps::new(place, self.filter).clamped(size);
                Weights::new(lumas.flat_map(|(at, of_luma)| {
                    axis.taps(at).clamped(samples).map(move |(at, weight)| (at, of_luma * weight))
                }))
            }
        }
    }
}

/// A coordinate as a place, which is a whole number at the centre of each sample. Far beyond the edges all places are the same.
fn along(coordinate: f32, size: usize) -> f64 {
    let beyond = (2 * TAPS) as f64;
    let coordinate = if coordinate.is_nan() { 0.0 } else { f64::from(coordinate) };
    coordinate.clamp(-beyond, size as f64 + beyond) - 0.5
}

/// The sum of a channel's codes by the weights along x and y.
fn value(format: Format, channel: &Channel<'_>, weights: &[Weights; 2]) -> f32 {
    let [across, down] = weights;
    let row = |y: usize| -> f32 {
        across.iter().map(|(x, weight)| f32::from(channel.code(format, x, y)) * weight).sum()
    };
    down.iter().map(|(y, weight)| row(y) * weight).sum()
}
