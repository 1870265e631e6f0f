//! Alpha test, blending, and the writes to both layers.

use super::FillState;
use super::test::Passed;
use crate::raster::buffers::{COVERAGE, EDGES, Line, OPAQUE_ID, PixelFlags, Row};
use crate::raster::edge::Coverage;
use crate::raster::lanes::{Block, Lanes, Mask, SignedLanes, all, any_bit, keep, less, load, ranks, store};
use crate::raster::polygon::{RasterPolygon, Shadow};
use crate::raster::shade::{alpha, blend};
use crate::raster::span::Span;
use fearless_simd::prelude::*;

/// How coverage runs over an edge's drawn pixels.
pub(super) struct CoverageCounter {
    coverage: Coverage,
    value: u32,
}

impl CoverageCounter {
    pub(super) fn new(coverage: Coverage) -> CoverageCounter {
        let value = match coverage {
            Coverage::Level(_) => 0,
            Coverage::Rising { first, .. } => first,
        };
        CoverageCounter { coverage, value }
    }

    /// Coverage of the `drawn` pixels on the span's `side`, 0 its left.
    #[inline(always)]
    fn cover<S: Simd>(&mut self, simd: S, side: usize, drawn: Mask<S>) -> Lanes<S> {
        match self.coverage {
            Coverage::Level(level) => all(simd, level),
            Coverage::Rising { step, falls, .. } => {
                let covered = (ranks(drawn) * step + self.value) >> 5;
                self.value += step * drawn.to_bitmask().count_ones();
                let covered = covered.min(31);
                if (side == 0) != falls { covered } else { 31 - covered }
            }
        }
    }
}

/// A block's pixels of a layer.
#[derive(Clone, Copy)]
struct Cells<S: Simd> {
    color: Lanes<S>,
    depth: Lanes<S>,
    attributes: Lanes<S>,
}

impl<S: Simd> Cells<S> {
    #[inline(always)]
    fn load(simd: S, row: &Row, block: &Block<S>) -> Cells<S> {
        let Row { color, depth, attributes } = row;
        let first = block.first;
        Cells {
            color: load(simd, color, first),
            depth: load(simd, depth, first),
            attributes: load(simd, attributes, first),
        }
    }

    #[inline(always)]
    fn store(&self, row: &mut Row, block: &Block<S>) {
        store(&mut row.color, block.first, self.color);
        store(&mut row.depth, block.first, self.depth);
        store(&mut row.attributes, block.first, self.attributes);
    }

    /// Replaces some pixels.
    #[inline(always)]
    fn replace(&mut self, drawn: Mask<S>, by: &Cells<S>) {
        self.color = drawn.select(by.color, self.color);
        self.depth = drawn.select(by.depth, self.depth);
        self.attributes = drawn.select(by.attributes, self.attributes);
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

/// Pixels of a block that are drawn.
struct Drawn<S: Simd> {
    passed: Passed<S>,
    opaque: Mask<S>,
    translucent: Mask<S>,
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
    pub(super) fn block<S: Simd>(
        &mut self,
        simd: S,
        line: &mut Line,
        block: &Block<S>,
        passed: Passed<S>,
        color: Lanes<S>,
        depth: Lanes<S>,
    ) {
        let columns = block.columns_from(0);
        let left = keep(columns.simd_lt(self.inside), all(simd, PixelFlags::LEFT_EDGE.bits()));
        let right = keep(columns.simd_ge(self.right), all(simd, PixelFlags::RIGHT_EDGE.bits()));
        let mut new = Cells { color, depth, attributes: left | right | self.attributes };
        if self.state.overlaps_edges {
            new.attributes |= self.lower_edges(simd, columns);
        }
        let alpha = alpha(color);
        let kept = passed.all & less(all(simd, self.state.alpha_ref), alpha);
        let opaque = kept & alpha.simd_eq(31);
        let drawn = Drawn { passed, opaque, translucent: kept & !opaque };
        let mut top = Cells::load(simd, &line.top, block);
        if self.state.antialiasing {
            self.layered(simd, line, block, &mut top, &mut new, &drawn);
        } else {
            top.replace(drawn.opaque, &new);
            if drawn.translucent.any_true() {
                self.translucent(&mut top, drawn.translucent, &new);
            }
        }
        top.store(&mut line.top, block);
    }

    /// Notes which pixels end the polygon below.
    #[inline(always)]
    fn lower_edges<S: Simd>(&self, simd: S, columns: SignedLanes<S>) -> Lanes<S> {
        let [left, right] = self.span.is_lower().map(|is_lower| Mask::splat(simd, is_lower));
        let (is_left, is_right) = (columns.simd_lt(self.inside), columns.simd_ge(self.right));
        let between = Mask::splat(simd, self.span.is_last) & !is_left & !is_right;
        keep(left & is_left | right & is_right | between, all(simd, PixelFlags::LOWER_EDGE.bits()))
    }

    /// With antialiasing: opaque edge pixels push what they cover into the lower layer.
    #[inline(always)]
    fn layered<S: Simd>(
        &mut self,
        simd: S,
        line: &mut Line,
        block: &Block<S>,
        top: &mut Cells<S>,
        new: &mut Cells<S>,
        drawn: &Drawn<S>,
    ) {
        let Drawn { passed, opaque, translucent } = *drawn;
        let edge = opaque & any_bit(new.attributes, EDGES);
        if (edge | passed.under | passed.both).any_true() {
            if edge.any_true() {
                self.cover(simd, new, edge);
            }
            let mut under = Cells::load(simd, &line.under, block);
            under.replace(edge & !passed.under, top);
            under.replace(opaque & passed.under, new);
            let under_translucent = translucent & (passed.under | passed.both);
            if under_translucent.any_true() {
                self.translucent(&mut under, under_translucent, new);
            }
            under.store(&mut line.under, block);
        }
        top.replace(opaque & !passed.under, new);
        let top_translucent = translucent & !passed.under;
        if top_translucent.any_true() {
            self.translucent(top, top_translucent, new);
        }
    }

    /// Notes the coverage of edge pixels.
    #[inline(always)]
    fn cover<S: Simd>(&mut self, simd: S, new: &mut Cells<S>, edge: Mask<S>) {
        // In rows that are edges all pixels are, and those between the sides are covered.
        let mut coverage = all(simd, 31);
        let span = self.span;
        let counters = self.counters.get_or_insert_with(|| span.coverages().map(CoverageCounter::new));
        for (side, counter) in counters.iter_mut().enumerate() {
            let drawn = edge & any_bit(new.attributes, PixelFlags::LEFT_EDGE.bits() << side);
            if drawn.any_true() {
                coverage = drawn.select(counter.cover(simd, side, drawn), coverage);
            }
        }
        new.attributes |= keep(edge, coverage << 8);
    }

    #[inline(always)]
    fn translucent<S: Simd>(&self, cells: &mut Cells<S>, drawn: Mask<S>, new: &Cells<S>) {
        let own = self.polygon.attributes;
        let id = own >> 8 & TRANSLUCENT_ID | PixelFlags::TRANSLUCENT.bits();
        let there = cells.attributes;
        let mut is_same = ((there ^ id) & TRANSLUCENT).simd_eq(0);
        if self.polygon.shadow == Shadow::Drawn {
            // For shadows opaque ids count, too.
            let opaque = PixelFlags::TRANSLUCENT.bits() | OPAQUE_ID;
            is_same |= ((there ^ own & OPAQUE_ID) & opaque).simd_eq(0);
        }
        let drawn = drawn & !is_same;
        let fog = there & (own & PixelFlags::FOG.bits());
        let attributes = fog | (there & KEPT) | (own & PixelFlags::BACK.bits() | id);
        cells.attributes = drawn.select(attributes, there);
        let blended = blend(new.color, cells.color, self.state.blending);
        cells.color = drawn.select(blended, cells.color);
        if self.polygon.translucent_depth {
            cells.depth = drawn.select(new.depth, cells.depth);
        }
    }
}

const TRANSLUCENT_ID: u32 = 63 << 16;
/// What tells one translucent polygon's pixels from another's.
const TRANSLUCENT: u32 = TRANSLUCENT_ID | PixelFlags::TRANSLUCENT.bits();
/// What a translucent pixel keeps of the attributes under it.
const KEPT: u32 = OPAQUE_ID | COVERAGE | EDGES;
