//! Colours and texture coordinates of the pixels that passed.

use super::Scratch;
use crate::raster::interpolate::AlongSpan;
use crate::raster::polygon::RasterPolygon;
use crate::raster::span::Span;

/// How many colours there are among a span's values; texture coordinates follow.
const COLORS: usize = 3;

/// Values of the first `count` columns that passed.
#[inline(always)]
pub(super) fn interpolate(polygon: &RasterPolygon, span: &Span, count: usize, scratch: &mut Scratch) {
    let Scratch { passed, along, factor, pixels, .. } = scratch;
    let (passed, along) = (&passed[..count], &mut along[..count]);
    let ends = span.ends(polygon);
    let changes = |i: usize| ends[0][i] != ends[1][i];
    let is_textured = polygon.shader.is_textured();
    let interpolator = span.along();
    let is_linear = interpolator.is_linear();
    if (0..COLORS).any(changes) || (is_textured && (changes(COLORS) || changes(COLORS + 1))) {
        if is_linear || !polygon.is_w {
            along.iter_mut().zip(passed).for_each(|(at, &x)| *at = i32::from(x) - span.start);
        } else {
            along.iter_mut().zip(passed).for_each(|(at, &x)| *at = factor[usize::from(x)]);
        }
        if !is_linear && !polygon.is_w {
            interpolator.factors(along);
        }
    }
    let run = |i: usize, shift: u32, out: &mut [i32]| {
        let (a, b) = (ends[0][i], ends[1][i]);
        if a == b {
            out.fill(a >> shift);
        } else if is_linear {
            interpolator.linear_values(a, b, shift, along, out);
        } else {
            let values = out.iter_mut().zip(&*along);
            values.for_each(|(v, &f)| *v = AlongSpan::perspective_value(a, b, f) >> shift);
        }
    };
    // Colours have 9 bits along spans, pixels 6.
    for (i, out) in pixels.rgb.iter_mut().enumerate() {
        run(i, 3, &mut out[..count]);
    }
    if is_textured {
        for (i, out) in pixels.texcoord.iter_mut().enumerate() {
            run(COLORS + i, 0, &mut out[..count]);
        }
    }
}
