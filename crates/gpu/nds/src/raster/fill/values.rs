//! Colours and texture coordinates of the pixels of a block.

use super::depth::Depths;
use crate::raster::interpolate::AlongSpan;
use crate::raster::lanes::{LANES, SignedLanes};
use crate::raster::polygon::{RasterPolygon, VALUES};
use crate::raster::shade::Pixels;
use crate::raster::span::Span;

/// How many colours there are among a span's values; texture coordinates follow.
const COLORS: usize = 3;

/// Values at the ends of a span.
pub(super) struct Values {
    ends: [[i32; VALUES]; 2],
    is_textured: bool,
    /// Whether none of those that count changes.
    level: bool,
}

impl Values {
    #[inline(always)]
    pub(super) fn new(polygon: &RasterPolygon, span: &Span) -> Values {
        let ends = span.ends(polygon);
        let is_textured = polygon.shader.is_textured();
        let mut changes = [0; VALUES];
        for (i, change) in changes.iter_mut().enumerate() {
            *change = ends[0][i] ^ ends[1][i];
        }
        let [r, g, b, s, t] = changes;
        Values { ends, is_textured, level: r | g | b | (if is_textured { s | t } else { 0 }) == 0 }
    }

    /// Those of a block.
    #[inline(always)]
    pub(super) fn interpolate(&self, along: &AlongSpan, depths: &Depths) -> Pixels {
        if self.level {
            self.interpolate_with(|a, _| [a; LANES])
        } else if along.is_linear() {
            self.interpolate_with(|a, b| along.linear_values(a, b, &depths.places))
        } else {
            let factors = match depths.factors {
                Some(factors) => factors,
                None => along.factors(&depths.places),
            };
            self.interpolate_with(|a, b| AlongSpan::perspective_values(a, b, &factors))
        }
    }

    #[inline(always)]
    fn interpolate_with(&self, between: impl Fn(i32, i32) -> SignedLanes) -> Pixels {
        let [start, end] = &self.ends;
        let mut pixels = Pixels::default();
        for (i, channel) in pixels.rgb.iter_mut().enumerate() {
            // Colours have 9 bits along spans, pixels 6.
            for (channel, value) in channel.iter_mut().zip(between(start[i], end[i])) {
                *channel = (value >> 3) as u32;
            }
        }
        if self.is_textured {
            for (i, coordinate) in pixels.texcoord.iter_mut().enumerate() {
                *coordinate = between(start[COLORS + i], end[COLORS + i]);
            }
        }
        pixels
    }
}
