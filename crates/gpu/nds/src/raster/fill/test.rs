//! The depth test: which columns of a span go on, and into which layer.

use super::{BOTH, FillState, Scratch, UNDER};
use crate::raster::buffers::{EDGES, Line, WIDTH};
use crate::raster::polygon::{DepthTest, RasterPolygon};
use crate::raster::shadow::{STENCIL_TOP, STENCIL_UNDER, StencilRow};
use std::ops::Range;

/// Columns that pass where there is one layer; how many.
#[inline(always)]
pub(super) fn top(polygon: &RasterPolygon, range: Range<usize>, line: &Line, scratch: &mut Scratch) -> usize {
    match polygon.test {
        DepthTest::Less => collect(DepthTest::Less, range, line, scratch),
        DepthTest::LessFront => collect(DepthTest::LessFront, range, line, scratch),
        DepthTest::Equal { margin } => collect(DepthTest::Equal { margin }, range, line, scratch),
    }
}

#[inline(always)]
fn collect(test: DepthTest, range: Range<usize>, line: &Line, scratch: &mut Scratch) -> usize {
    let mut count = 0;
    for x in range {
        scratch.passed[count % WIDTH] = x as u8;
        count += usize::from(test.passes(scratch.depth[x], line.top.depth[x], line.top.attributes[x]));
    }
    count
}

/// Columns that pass in either layer: what fails against an edge pixel is tested against what that covers.
#[inline(always)]
pub(super) fn layers(
    polygon: &RasterPolygon,
    range: Range<usize>,
    line: &Line,
    scratch: &mut Scratch,
) -> usize {
    let mut list = List { scratch, count: 0 };
    for x in range {
        let depth = list.scratch.depth[x];
        let attributes = line.top.attributes[x];
        let over_edge = attributes & EDGES != 0;
        let under = !polygon.test.passes(depth, line.top.depth[x], attributes);
        if under && !(over_edge && polygon.test.passes(depth, line.under.depth[x], line.under.attributes[x]))
        {
            continue;
        }
        list.push(x, under, over_edge);
    }
    list.count
}

/// Columns of a shadow that its mask marked, by layer.
pub(super) fn shadow(
    state: &FillState,
    polygon: &RasterPolygon,
    range: Range<usize>,
    line: &Line,
    stencil: &StencilRow,
    scratch: &mut Scratch,
) -> usize {
    let mut list = List { scratch, count: 0 };
    for x in range {
        let marks = stencil[x];
        if marks == 0 {
            continue;
        }
        let depth = list.scratch.depth[x];
        let mut attributes = line.top.attributes[x];
        if marks & STENCIL_UNDER == 0 {
            // Nothing is drawn under this edge.
            attributes &= !EDGES;
        }
        let over_edge = attributes & EDGES != 0;
        let mut under = marks & STENCIL_TOP == 0;
        let there = if under { line.under.depth[x] } else { line.top.depth[x] };
        if !polygon.test.passes(depth, there, attributes) {
            if under
                || !over_edge
                || !polygon.test.passes(depth, line.under.depth[x], line.under.attributes[x])
            {
                continue;
            }
            under = true;
        }
        // Without antialiasing nothing looks at the lower layer.
        if !under || state.antialiasing {
            list.push(x, under, over_edge && state.antialiasing);
        }
    }
    list.count
}

/// Columns that passed, with their layers.
struct List<'a> {
    scratch: &'a mut Scratch,
    count: usize,
}

impl List<'_> {
    #[inline(always)]
    fn push(&mut self, x: usize, under: bool, over_edge: bool) {
        let at = self.count % WIDTH;
        self.scratch.passed[at] = x as u8;
        self.scratch.layers[at] = if under {
            UNDER
        } else if over_edge {
            BOTH
        } else {
            0
        };
        self.count += 1;
    }
}
