//! Depths along a span.

use crate::raster::interpolate::AlongSpan;
use crate::raster::lanes::{Block, Lanes, SignedLanes, all};
use crate::raster::polygon::RasterPolygon;
use crate::raster::span::Span;
use fearless_simd::prelude::*;

/// Depths of a block's pixels.
pub struct Depths<S: Simd> {
    /// Of 24 bits.
    pub depth: Lanes<S>,
    /// Places of the pixels from the span's start; those beyond its ends are at them.
    pub places: SignedLanes<S>,
    /// Factors of the pixels if depths are w.
    pub factors: Option<SignedLanes<S>>,
}

/// Depths of a block of `span`, which `along` interpolates along.
#[inline(always)]
pub fn depths<S: Simd>(
    simd: S,
    polygon: &RasterPolygon,
    span: &Span,
    along: &AlongSpan,
    block: &Block<S>,
) -> Depths<S> {
    let [a, b] = span.depths;
    let places = along.places(block);
    let factors = if polygon.is_w { Some(along.factors(places)) } else { None };
    let depth = match factors {
        _ if a == b => all(simd, a as u32),
        Some(factors) => along.w_depths(a, b, factors),
        None => along.z_depths(a, b, places),
    };
    Depths { depth, places, factors }
}
