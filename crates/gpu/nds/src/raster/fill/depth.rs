//! Depths along a span.

use crate::raster::interpolate::AlongSpan;
use crate::raster::lanes::{Block, LANES, Lanes, SignedLanes};
use crate::raster::polygon::RasterPolygon;
use crate::raster::span::Span;

/// Depths of a block's pixels.
pub struct Depths {
    /// Of 24 bits.
    pub depth: Lanes,
    /// Places of the pixels from the span's start; those beyond its ends are at them.
    pub places: SignedLanes,
    /// Factors of the pixels if depths are w.
    pub factors: Option<SignedLanes>,
}

/// Depths of a block of `span`, which `along` interpolates along.
#[inline(always)]
pub fn depths(polygon: &RasterPolygon, span: &Span, along: &AlongSpan, block: &Block) -> Depths {
    let [a, b] = span.depths;
    let places = along.places(block);
    let factors = polygon.is_w.then(|| along.factors(&places));
    let depth = match &factors {
        _ if a == b => [a as u32; LANES],
        Some(factors) => {
            let mut depth = [0; LANES];
            for (depth, &factor) in depth.iter_mut().zip(factors) {
                *depth = AlongSpan::w_depth(a, b, factor) as u32;
            }
            depth
        }
        None => along.z_depths(a, b, &places),
    };
    Depths { depth, places, factors }
}
