//! Depths along a span.

use super::Scratch;
use crate::raster::interpolate::AlongSpan;
use crate::raster::polygon::RasterPolygon;
use crate::raster::span::Span;
use std::ops::Range;

/// Depths by column of `range`; the factors of those that are w.
#[inline(always)]
pub fn depths(polygon: &RasterPolygon, span: &Span, range: &Range<usize>, scratch: &mut Scratch) {
    let [a, b] = span.depths;
    let out = &mut scratch.depth[range.clone()];
    let factors = &mut scratch.factor[range.clone()];
    if polygon.is_w {
        let first = range.start as i32 - span.start;
        factors.iter_mut().enumerate().for_each(|(i, place)| *place = first + i as i32);
        span.along().factors(factors);
    }
    if a == b {
        out.fill(a as u32);
    } else if polygon.is_w {
        out.iter_mut().zip(factors).for_each(|(z, f)| *z = AlongSpan::w_depth(a, b, *f) as u32);
    } else {
        span.along().z_depths(a, b, range.start as i32, out);
    }
}
