//! Colours and texture coordinates of the pixels of a block.

use super::depth::Depths;
use crate::raster::interpolate::AlongSpan;
use crate::raster::lanes::SignedLanes;
use crate::raster::polygon::{RasterPolygon, VALUES};
use crate::raster::shade::Pixels;
use crate::raster::span::Span;
use fearless_simd::prelude::*;

/// Values at the ends of a span.
pub(super) struct Values {
    ends: [[i32; VALUES]; 2],
    is_textured: bool,
    /// Whether none of those that count changes.
    level: bool,
}

impl Values {
    #[inline(always)]
    pub(super) fn new<S: Simd>(simd: S, polygon: &RasterPolygon, span: &Span) -> Values {
        let [left, right] = span.ends(simd, polygon);
        let is_textured = polygon.shader.is_textured();
        // Of a polygon without a texture, its coordinates do not count.
        let counting = if is_textured { !0 } else { 7 };
        let changes = left.simd_ne(right).to_bitmask() & counting;
        Values { ends: [left.to_array(), right.to_array()], is_textured, level: changes == 0 }
    }

    /// Those of a block.
    #[inline(always)]
    pub(super) fn interpolate<S: Simd>(&self, simd: S, along: &AlongSpan, depths: &Depths<S>) -> Pixels<S> {
        if self.level {
            self.interpolate_with(
                simd,
                #[inline(always)]
                |a, _| SignedLanes::splat(simd, a),
            )
        } else if along.is_linear() {
            self.interpolate_with(
                simd,
                #[inline(always)]
                |a, b| along.linear_values(a, b, depths.places),
            )
        } else {
            let factors = match depths.factors {
                Some(factors) => factors,
                None => along.factors(depths.places),
            };
            self.interpolate_with(
                simd,
                #[inline(always)]
                |a, b| along.perspective_values(a, b, factors),
            )
        }
    }

    #[inline(always)]
    fn interpolate_with<S: Simd>(&self, simd: S, between: impl Fn(i32, i32) -> SignedLanes<S>) -> Pixels<S> {
        let [[r0, g0, b0, s0, t0, ..], [r1, g1, b1, s1, t1, ..]] = self.ends;
        // Colours have 9 bits along spans, pixels 6.
        let rgb = [between(r0, r1), between(g0, g1), between(b0, b1)];
        let [r, g, b] = rgb;
        let rgb = [(r >> 3).bitcast(), (g >> 3).bitcast(), (b >> 3).bitcast()];
        let none = SignedLanes::splat(simd, 0);
        let texcoord = if self.is_textured { [between(s0, s1), between(t0, t1)] } else { [none; 2] };
        Pixels { rgb, texcoord }
    }
}
