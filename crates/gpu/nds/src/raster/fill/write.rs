//! Alpha test, blending, and what is written where.

use super::{BOTH, FillState, Scratch, UNDER};
use crate::raster::buffers::{COVERAGE, EDGES, Line, OPAQUE_ID, PixelFlags, Row};
use crate::raster::edge::Coverage;
use crate::raster::polygon::{RasterPolygon, Shadow};
use crate::raster::shade::{Color, alpha, blend};
use crate::raster::span::Span;

/// How coverage runs over an edge's drawn pixels.
pub(super) struct CoverageCounter {
    coverage: Coverage,
    value: u32,
}

impl CoverageCounter {
    pub(super) fn new(coverage: Coverage) -> CoverageCounter {
        let value = match coverage {
            Coverage::Rising { first: 0x3ff, .. } | Coverage::Level(_) => 0,
            Coverage::Rising { first, .. } => first,
        };
        CoverageCounter { coverage, value }
    }

    /// Coverage of the next pixel that is drawn on the span's `side`, 0 its left.
    fn next(&mut self, side: usize) -> u32 {
        match self.coverage {
            Coverage::Level(level) => level,
            Coverage::Rising { step, .. } => {
                let covered = (self.value >> 5).min(31);
                self.value += step;
                if side == 0 { covered } else { 31 - covered }
            }
        }
    }
}

/// Writes the first `count` pixels that passed.
#[inline(always)]
pub(super) fn pixels(
    state: &FillState,
    polygon: &RasterPolygon,
    span: &Span,
    line: &mut Line,
    scratch: &Scratch,
    count: usize,
    counters: &mut [CoverageCounter; 2],
) {
    let passed = &scratch.passed[..count];
    // The left edge's pixels come first, the right edge's last.
    let is_before = |column: i32| move |&x: &u8| i32::from(x) < column;
    let inside = passed.partition_point(is_before(span.inside));
    let right = passed.partition_point(is_before(span.right)).max(inside);
    let writer = Writer { state, polygon, scratch };
    let attributes = polygon.attributes | span.row_flag;
    let edge = |side: usize| attributes | PixelFlags::LEFT_EDGE.bits() << side;
    let [left_counter, right_counter] = counters;
    if state.antialiasing {
        writer.layered(line, 0..inside, edge(0), || left_counter.next(0));
        writer.layered(line, inside..right, attributes, || 31);
        writer.layered(line, right..count, edge(1), || right_counter.next(1));
    } else {
        writer.flat(&mut line.top, 0..inside, edge(0));
        writer.flat(&mut line.top, inside..right, attributes);
        writer.flat(&mut line.top, right..count, edge(1));
    }
}

struct Writer<'a> {
    state: &'a FillState<'a>,
    polygon: &'a RasterPolygon,
    scratch: &'a Scratch,
}

impl Writer<'_> {
    /// Without antialiasing.
    #[inline(always)]
    fn flat(&self, row: &mut Row, range: std::ops::Range<usize>, attributes: u32) {
        let pixels = self.scratch.passed[range.clone()].iter().zip(&self.scratch.pixels.color[range]);
        for (&x, &color) in pixels {
            let x = usize::from(x);
            let alpha = alpha(color);
            if alpha <= self.state.alpha_ref {
                continue;
            }
            let depth = self.scratch.depth[x];
            if alpha == 31 {
                (row.color[x], row.depth[x], row.attributes[x]) = (color, depth, attributes);
            } else {
                self.translucent(row, x, color, depth);
            }
        }
    }

    /// With antialiasing: opaque edge pixels push what they cover into the lower layer.
    #[inline(always)]
    fn layered(
        &self,
        line: &mut Line,
        range: std::ops::Range<usize>,
        attributes: u32,
        mut coverage: impl FnMut() -> u32,
    ) {
        for i in range {
            let (x, color) = (usize::from(self.scratch.passed[i]), self.scratch.pixels.color[i]);
            let (layers, alpha) = (self.scratch.layers[i], alpha(color));
            if alpha <= self.state.alpha_ref {
                continue;
            }
            let depth = self.scratch.depth[x];
            let Line { top, under } = line;
            if alpha == 31 {
                let mut attributes = attributes;
                if attributes & EDGES != 0 {
                    attributes |= coverage() << 8;
                    if layers & UNDER == 0 {
                        under.color[x] = top.color[x];
                        under.depth[x] = top.depth[x];
                        under.attributes[x] = top.attributes[x];
                    }
                }
                let row = if layers & UNDER != 0 { under } else { top };
                (row.color[x], row.depth[x], row.attributes[x]) = (color, depth, attributes);
            } else if layers & UNDER != 0 {
                self.translucent(under, x, color, depth);
            } else {
                self.translucent(top, x, color, depth);
                if layers & BOTH != 0 {
                    self.translucent(under, x, color, depth);
                }
            }
        }
    }

    #[inline(always)]
    fn translucent(&self, row: &mut Row, x: usize, color: Color, depth: u32) {
        let there = row.attributes[x];
        let own = self.polygon.attributes;
        let id = own >> 8 & TRANSLUCENT_ID | PixelFlags::TRANSLUCENT.bits();
        // For shadows opaque ids count, too.
        let is_opaque = there & PixelFlags::TRANSLUCENT.bits() == 0;
        let is_same = if is_opaque && self.polygon.shadow == Shadow::Drawn {
            (there ^ own) & OPAQUE_ID == 0
        } else {
            there & TRANSLUCENT == id
        };
        if is_same {
            return;
        }
        let fog = own & there & PixelFlags::FOG.bits();
        row.attributes[x] = own & PixelFlags::BACK.bits() | fog | id | there & KEPT;
        row.color[x] = blend(color, row.color[x], self.state.blending);
        if self.polygon.translucent_depth {
            row.depth[x] = depth;
        }
    }
}

const TRANSLUCENT_ID: u32 = 63 << 16;
/// What tells one translucent polygon's pixels from another's.
const TRANSLUCENT: u32 = TRANSLUCENT_ID | PixelFlags::TRANSLUCENT.bits();
/// What a translucent pixel keeps of the attributes under it.
const KEPT: u32 = OPAQUE_ID | COVERAGE | EDGES;
