//! The depth test: which pixels of a block go on, and into which layer.

use crate::raster::buffers::{EDGES, Line, Row};
use crate::raster::lanes::{Block, LANES, Lanes, Mask, any, any_bit, load, mask, select};
use crate::raster::polygon::DepthTest;
use crate::raster::shadow::{STENCIL_TOP, STENCIL_UNDER, StencilRow};

/// Pixels that passed.
#[derive(Clone, Copy)]
pub(super) struct Passed {
    /// In any layer.
    pub(super) all: Mask,
    /// Those that go into the lower layer only.
    pub(super) under: Mask,
    /// Those whose translucent pixels go into the lower layer, too.
    pub(super) both: Mask,
}

/// Where there is one layer.
#[inline(always)]
pub(super) fn top(test: DepthTest, block: &Block, depth: &Lanes, row: &Row) -> Passed {
    let attributes = load(&row.attributes, block.first);
    let passes = test.passing(depth, &load(&row.depth, block.first), &attributes);
    let mut all = block.counts;
    for (all, passes) in all.iter_mut().zip(passes) {
        *all &= passes;
    }
    Passed { all, under: [0; LANES], both: [0; LANES] }
}

/// In either layer: what fails against an edge pixel is tested against what that covers.
#[inline(always)]
pub(super) fn layers(test: DepthTest, block: &Block, depth: &Lanes, line: &Line) -> Passed {
    let attributes = load(&line.top.attributes, block.first);
    let passes = test.passing(depth, &load(&line.top.depth, block.first), &attributes);
    let mut passed = Passed { all: [0; LANES], under: [0; LANES], both: [0; LANES] };
    for i in 0..LANES {
        let over_edge = any_bit(attributes[i] & EDGES) & block.counts[i];
        passed.all[i] = passes[i] & block.counts[i];
        passed.both[i] = passes[i] & over_edge;
        passed.under[i] = !passes[i] & over_edge;
    }
    if any(&passed.under) {
        let attributes = load(&line.under.attributes, block.first);
        let passes = test.passing(depth, &load(&line.under.depth, block.first), &attributes);
        for (i, passes) in passes.into_iter().enumerate() {
            passed.under[i] &= passes;
            passed.all[i] |= passed.under[i];
        }
    }
    passed
}

/// Of a shadow where its mask marked, by layer.
#[inline(always)]
pub(super) fn shadow(
    test: DepthTest,
    antialiasing: bool,
    block: &Block,
    depth: &Lanes,
    line: &Line,
    stencil: &StencilRow,
) -> Passed {
    let layered = mask(antialiasing);
    let under_depth = load(&line.under.depth, block.first);
    let mut attributes = load(&line.top.attributes, block.first);
    let mut there = load(&line.top.depth, block.first);
    let (mut marked, mut under) = (block.counts, [0; LANES]);
    let marks = &stencil[block.first..block.first + LANES];
    for (i, &marks) in marks.iter().enumerate() {
        let marks = u32::from(marks);
        marked[i] &= any_bit(marks);
        under[i] = !any_bit(marks & u32::from(STENCIL_TOP));
        there[i] = select(under[i], under_depth[i], there[i]);
        // Nothing is drawn under an edge that is not marked there.
        attributes[i] &= any_bit(marks & u32::from(STENCIL_UNDER)) | !EDGES;
    }
    let passes = test.passing(depth, &there, &attributes);
    let below = test.passing(depth, &under_depth, &load(&line.under.attributes, block.first));
    let mut passed = Passed { all: [0; LANES], under: [0; LANES], both: [0; LANES] };
    for i in 0..LANES {
        let over_edge = any_bit(attributes[i] & EDGES);
        let falls = !passes[i] & !under[i] & over_edge & below[i];
        let under = (passes[i] & under[i]) | falls;
        // Without antialiasing nothing looks at the lower layer.
        passed.all[i] = (passes[i] | falls) & marked[i] & (!under | layered);
        passed.under[i] = under & passed.all[i];
        passed.both[i] = over_edge & layered & passed.all[i] & !under;
    }
    passed
}
