//! The depth test: which pixels of a block go on, and into which layer.

use crate::raster::buffers::{EDGES, Line, OPAQUE_ID, PixelFlags, Row};
use crate::raster::lanes::{Block, Lanes, Mask, any_bit, load};
use crate::raster::polygon::{DepthTest, RasterPolygon};
use crate::raster::shadow::{STENCIL_TOP, STENCIL_UNDER, StencilRow};
use crate::raster::span::Span;
use fearless_simd::prelude::*;

/// Pixels that passed.
#[derive(Clone, Copy)]
pub(super) struct Passed<S: Simd> {
    /// In any layer.
    pub(super) all: Mask<S>,
    /// Those that go into the lower layer only.
    pub(super) under: Mask<S>,
    /// Lanes whose translucent pixels go into the lower layer, too.
    pub(super) both: Mask<S>,
}

/// Where there is one layer.
#[inline(always)]
pub(super) fn top<S: Simd>(
    simd: S,
    test: DepthTest,
    block: &Block<S>,
    depth: Lanes<S>,
    row: &Row,
) -> Passed<S> {
    let passes = test.passing_over(depth, row, block.first);
    let none = Mask::splat(simd, false);
    Passed { all: passes & block.counts, under: none, both: none }
}

/// Pixels of a polygon's upper edges over those that end a polygon of the same id below.
#[inline(always)]
pub(super) fn over_lower_edges<S: Simd>(
    simd: S,
    polygon: &RasterPolygon,
    span: &Span,
    block: &Block<S>,
    row: &Row,
) -> Mask<S> {
    let columns = block.columns_from(0);
    let [left, right] = span.is_upper().map(|is_upper| Mask::splat(simd, is_upper));
    let is_right = columns.simd_ge(span.right.max(span.inside));
    let upper = left & columns.simd_lt(span.inside) | right & is_right;
    let kind = PixelFlags::LOWER_EDGE.bits() | OPAQUE_ID;
    let there = load(simd, &row.attributes, block.first) & (kind | PixelFlags::TRANSLUCENT.bits());
    let wanted = polygon.attributes & OPAQUE_ID | PixelFlags::LOWER_EDGE.bits();
    upper & there.simd_eq(wanted) & block.counts
}

/// In either layer: what fails against an edge pixel is tested against what that covers.
#[inline(always)]
pub(super) fn layers<S: Simd>(
    simd: S,
    test: DepthTest,
    block: &Block<S>,
    depth: Lanes<S>,
    line: &Line,
) -> Passed<S> {
    let attributes = load(simd, &line.top.attributes, block.first);
    let passes = test.passing_over(depth, &line.top, block.first);
    let over_edge = any_bit(attributes, EDGES) & block.counts;
    let under = !passes & over_edge & test.passing_over(depth, &line.under, block.first);
    Passed { all: (passes & block.counts) | under, under, both: passes & over_edge }
}

/// Of a shadow where its mask marked, by layer.
#[inline(always)]
pub(super) fn shadow<S: Simd>(
    simd: S,
    test: DepthTest,
    antialiasing: bool,
    block: &Block<S>,
    depth: Lanes<S>,
    line: &Line,
    stencil: &StencilRow,
) -> Passed<S> {
    let layered = Mask::splat(simd, antialiasing);
    let marks = load(simd, stencil, block.first);
    let marked = block.counts & marks.simd_ne(0);
    let under = !any_bit(marks, STENCIL_TOP);
    let under_depth = load(simd, &line.under.depth, block.first);
    let there = under.select(under_depth, load(simd, &line.top.depth, block.first));
    let attributes = load(simd, &line.top.attributes, block.first);
    // Nothing is drawn under an edge that is not marked there.
    let attributes = any_bit(marks, STENCIL_UNDER).select(attributes, attributes & !EDGES);
    let passes = test.passing(depth, there, attributes);
    let below = test.passing_over(depth, &line.under, block.first);
    let over_edge = any_bit(attributes, EDGES);
    let falls = !passes & !under & over_edge & below;
    let under = (passes & under) | falls;
    // Without antialiasing nothing looks at the lower layer.
    let all = (passes | falls) & marked & (!under | layered);
    Passed { all, under: under & all, both: over_edge & layered & all & !under }
}
