//! Alpha test, blending, and what is written where.

use super::FillState;
use super::test::Passed;
use crate::raster::buffers::{COVERAGE, EDGES, Line, OPAQUE_ID, PixelFlags, Row};
use crate::raster::edge::Coverage;
use crate::raster::lanes::{Block, LANES, Lanes, Mask, any, any_bit, less, load, mask, select, sign, store};
use crate::raster::polygon::{RasterPolygon, Shadow};
use crate::raster::shade::{alpha, blend};
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

    /// Coverage of the `drawn` pixels on the span's `side`, 0 its left.
    #[inline(always)]
    fn cover(&mut self, side: usize, drawn: &Mask, coverage: &mut Lanes) {
        match self.coverage {
            Coverage::Level(level) => {
                for (coverage, &drawn) in coverage.iter_mut().zip(drawn) {
                    *coverage = select(drawn, level, *coverage);
                }
            }
            Coverage::Rising { step, .. } => {
                for (coverage, _) in coverage.iter_mut().zip(drawn).filter(|(_, drawn)| **drawn != 0) {
                    let covered = (self.value >> 5).min(31);
                    self.value += step;
                    *coverage = if side == 0 { covered } else { 31 - covered };
                }
            }
        }
    }
}

/// A block's pixels of a layer.
struct Cells {
    color: Lanes,
    depth: Lanes,
    attributes: Lanes,
}

impl Cells {
    #[inline(always)]
    fn load(row: &Row, block: &Block) -> Cells {
        let Row { color, depth, attributes } = row;
        let first = block.first;
        Cells { color: load(color, first), depth: load(depth, first), attributes: load(attributes, first) }
    }

    #[inline(always)]
    fn store(&self, row: &mut Row, block: &Block) {
        store(&mut row.color, block.first, &self.color);
        store(&mut row.depth, block.first, &self.depth);
        store(&mut row.attributes, block.first, &self.attributes);
    }

    /// Replaces some pixels.
    #[inline(always)]
    fn replace(&mut self, drawn: &Mask, by: &Cells) {
        for (i, &drawn) in drawn.iter().enumerate() {
            self.color[i] = select(drawn, by.color[i], self.color[i]);
            self.depth[i] = select(drawn, by.depth[i], self.depth[i]);
            self.attributes[i] = select(drawn, by.attributes[i], self.attributes[i]);
        }
    }
}

/// Writes pixels of a span.
pub(super) struct Writer<'a> {
    state: &'a FillState<'a>,
    polygon: &'a RasterPolygon,
    /// Of pixels between the edges.
    attributes: u32,
    /// First column after the left edge and first of the right one.
    inside: i32,
    right: i32,
    span: &'a Span<'a>,
    /// Of the left and the right edge, once one of their pixels is drawn.
    counters: Option<[CoverageCounter; 2]>,
}

impl<'a> Writer<'a> {
    #[inline(always)]
    pub(super) fn new(state: &'a FillState, polygon: &'a RasterPolygon, span: &'a Span) -> Writer<'a> {
        Writer {
            state,
            polygon,
            attributes: polygon.attributes | span.row_flag,
            inside: span.inside,
            right: span.right.max(span.inside),
            span,
            counters: None,
        }
    }

    /// Writes the pixels of a block that passed.
    #[inline(always)]
    pub(super) fn block(
        &mut self,
        line: &mut Line,
        block: &Block,
        passed: &Passed,
        color: Lanes,
        depth: Lanes,
    ) {
        let columns = block.columns_from(0);
        let mut new = Cells { color, depth, attributes: [0; LANES] };
        let (mut opaque, mut translucent) = ([0; LANES], [0; LANES]);
        for i in 0..LANES {
            let side = sign(columns[i] - self.inside) & PixelFlags::LEFT_EDGE.bits()
                | !sign(columns[i] - self.right) & PixelFlags::RIGHT_EDGE.bits();
            new.attributes[i] = self.attributes | side;
            let kept = passed.all[i] & less(self.state.alpha_ref, alpha(color[i]));
            opaque[i] = kept & !less(alpha(color[i]), 31);
            translucent[i] = kept & !opaque[i];
        }
        let mut top = Cells::load(&line.top, block);
        if self.state.antialiasing {
            self.layered(line, block, &mut top, &mut new, passed, &opaque, &translucent);
        } else {
            top.replace(&opaque, &new);
            if any(&translucent) {
                self.translucent(&mut top, &translucent, &new);
            }
        }
        top.store(&mut line.top, block);
    }

    /// With antialiasing: opaque edge pixels push what they cover into the lower layer.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "all of a block's state")]
    fn layered(
        &mut self,
        line: &mut Line,
        block: &Block,
        top: &mut Cells,
        new: &mut Cells,
        passed: &Passed,
        opaque: &Mask,
        translucent: &Mask,
    ) {
        let (mut edge, mut pushed, mut over) = ([0; LANES], [0; LANES], [0; LANES]);
        let (mut top_translucent, mut touched) = ([0; LANES], [0; LANES]);
        for i in 0..LANES {
            edge[i] = opaque[i] & any_bit(new.attributes[i] & EDGES);
            pushed[i] = edge[i] & !passed.under[i];
            over[i] = opaque[i] & !passed.under[i];
            top_translucent[i] = translucent[i] & !passed.under[i];
            touched[i] = edge[i] | passed.under[i] | passed.both[i];
        }
        if any(&touched) {
            if any(&edge) {
                self.cover(new, &edge);
            }
            let mut under = Cells::load(&line.under, block);
            let (mut under_opaque, mut under_translucent) = ([0; LANES], [0; LANES]);
            for i in 0..LANES {
                under_opaque[i] = opaque[i] & passed.under[i];
                under_translucent[i] = translucent[i] & (passed.under[i] | passed.both[i]);
            }
            under.replace(&pushed, top);
            under.replace(&under_opaque, new);
            if any(&under_translucent) {
                self.translucent(&mut under, &under_translucent, new);
            }
            under.store(&mut line.under, block);
        }
        top.replace(&over, new);
        if any(&top_translucent) {
            self.translucent(top, &top_translucent, new);
        }
    }

    /// Notes the coverage of edge pixels.
    #[inline(always)]
    fn cover(&mut self, new: &mut Cells, edge: &Mask) {
        // In rows that are edges all pixels are, and those between the sides are covered.
        let mut coverage = [31; LANES];
        let span = self.span;
        let counters = self.counters.get_or_insert_with(|| span.coverages().map(CoverageCounter::new));
        for (side, counter) in counters.iter_mut().enumerate() {
            let mut drawn = [0; LANES];
            for i in 0..LANES {
                drawn[i] = edge[i] & any_bit(new.attributes[i] & PixelFlags::LEFT_EDGE.bits() << side);
            }
            if any(&drawn) {
                counter.cover(side, &drawn, &mut coverage);
            }
        }
        for i in 0..LANES {
            new.attributes[i] |= coverage[i] << 8 & edge[i];
        }
    }

    #[inline(always)]
    fn translucent(&self, cells: &mut Cells, drawn: &Mask, new: &Cells) {
        if self.state.blending {
            self.blend(cells, drawn, new, |source, below| blend(source, below, true));
        } else {
            self.blend(cells, drawn, new, |source, below| blend(source, below, false));
        }
    }

    #[inline(always)]
    fn blend(&self, cells: &mut Cells, drawn: &Mask, new: &Cells, blend: impl Fn(u32, u32) -> u32) {
        let own = self.polygon.attributes;
        let id = own >> 8 & TRANSLUCENT_ID | PixelFlags::TRANSLUCENT.bits();
        let is_shadow = mask(self.polygon.shadow == Shadow::Drawn);
        let writes_depth = mask(self.polygon.translucent_depth);
        for i in 0..LANES {
            let there = cells.attributes[i];
            // For shadows opaque ids count, too.
            let opaque = PixelFlags::TRANSLUCENT.bits() | OPAQUE_ID;
            let is_same = !any_bit((there ^ id) & TRANSLUCENT)
                | is_shadow & !any_bit((there ^ own & OPAQUE_ID) & opaque);
            let drawn = drawn[i] & !is_same;
            let fog = own & there & PixelFlags::FOG.bits();
            let attributes = own & PixelFlags::BACK.bits() | fog | id | there & KEPT;
            cells.attributes[i] = select(drawn, attributes, there);
            cells.color[i] = select(drawn, blend(new.color[i], cells.color[i]), cells.color[i]);
            cells.depth[i] = select(drawn & writes_depth, new.depth[i], cells.depth[i]);
        }
    }
}

const TRANSLUCENT_ID: u32 = 63 << 16;
/// What tells one translucent polygon's pixels from another's.
const TRANSLUCENT: u32 = TRANSLUCENT_ID | PixelFlags::TRANSLUCENT.bits();
/// What a translucent pixel keeps of the attributes under it.
const KEPT: u32 = OPAQUE_ID | COVERAGE | EDGES;
