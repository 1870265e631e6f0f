//! Depths along a span, and the factor that all other values share.

use super::Scratch;
use crate::raster::buffers::WIDTH;
use crate::raster::interpolate::AlongSpan;
use crate::raster::polygon::RasterPolygon;
use crate::raster::span::Span;
use std::ops::Range;

/// Factors by column of `range`, if they are `needed`.
#[inline(always)]
pub(super) fn factors(span: &Span, range: &Range<usize>, needed: bool, out: &mut [i32; WIDTH]) {
    let along = span.along();
    if needed && !along.is_linear() {
        along.factors(range.start as i32, &mut out[range.clone()]);
    } else if needed {
        out[range.clone()].fill(0);
    }
}

/// Depths by column of `range`.
#[inline(always)]
pub fn depths(polygon: &RasterPolygon, span: &Span, range: &Range<usize>, scratch: &mut Scratch) {
    factors(span, range, polygon.is_w, &mut scratch.factor);
    depths_with_factors(polygon, span, range, scratch);
}

/// Depths by column of `range`, where a polygon whose depth is w has its factors.
#[inline(always)]
pub(super) fn depths_with_factors(
    polygon: &RasterPolygon,
    span: &Span,
    range: &Range<usize>,
    scratch: &mut Scratch,
) {
    let [a, b] = span.ends.map(|end| end.depth);
    let out = &mut scratch.depth[range.clone()];
    if a == b {
        out.fill(a as u32);
    } else if polygon.is_w {
        let factors = &scratch.factor[range.clone()];
        out.iter_mut().zip(factors).for_each(|(z, &f)| *z = AlongSpan::w_depth(a, b, f) as u32);
    } else {
        span.along().z_depths(a, b, range.start as i32, out);
    }
}
