//! The pixels of a span, a block of them at a time: depths, depth test, colours, writing.

mod depth;
mod test;
mod values;
mod write;

pub use depth::depths;

use super::buffers::{Line, WIDTH};
use super::lanes::{Block, LANES};
use super::polygon::{RasterPolygon, Shadow};
use super::shade::Environment;
use super::shadow::StencilRow;
use super::span::Span;
use fearless_simd::prelude::*;
use std::ops::Range;
use values::Values;
use write::Writer;

/// What all spans of a frame have in common.
#[derive(Clone, Copy, Debug)]
pub struct FillState<'a> {
    /// Colours.
    pub environment: Environment<'a>,
    /// Pixels up to this alpha are dropped.
    pub alpha_ref: u32,
    /// Translucent pixels are blended.
    pub blending: bool,
    /// Edge pixels keep what they cover.
    pub antialiasing: bool,
    /// Upper edges of polygons are drawn over lower ones ([`Rules::EDGE_OVERLAP`](crate::raster::Rules::EDGE_OVERLAP)).
    pub overlaps_edges: bool,
}

/// Columns `from..to` of the screen.
fn columns(from: i32, to: i32) -> Range<usize> {
    let limit = |x: i32| x.clamp(0, WIDTH as i32) as usize;
    let from = limit(from);
    from..limit(to).max(from)
}

/// Parts of a span that are drawn: all in one, or the two edges of a wireframe.
pub fn parts(polygon: &RasterPolygon, span: &Span) -> [Range<usize>; 2] {
    let from = if span.fills[0] { span.start } else { span.inside };
    let to = if span.fills[1] { span.end + 1 } else { span.right.max(span.inside) };
    if polygon.wireframe && span.row_flag == 0 {
        [columns(from, span.inside), columns(span.right.max(span.inside), to)]
    } else {
        [columns(from, to), 0..0]
    }
}

/// A span to be drawn, and where.
pub struct Job<'a> {
    /// What the frame's spans have in common.
    pub state: &'a FillState<'a>,
    /// Whose span it is.
    pub polygon: &'a RasterPolygon,
    /// The span.
    pub span: &'a Span<'a>,
    /// Its row.
    pub line: &'a mut Line,
    /// Marks of masks in the row.
    pub stencil: &'a StencilRow,
}

impl Job<'_> {
    /// Draws it.
    #[inline(always)]
    pub fn run<S: Simd>(self, simd: S) {
        let Job { state, polygon, span, line, stencil } = self;
        let along = span.along();
        let mut writer = Writer::new(state, polygon, span);
        let mut values = None;
        for Range { start, end } in parts(polygon, span) {
            let mut from = start;
            while from < end {
                let block = Block::new(simd, from, end);
                from += LANES;
                let depths = depths(simd, polygon, span, &along, &block);
                let depth = depths.depth;
                let passed = if polygon.shadow == Shadow::Drawn {
                    test::shadow(simd, polygon.test, state.antialiasing, &block, depth, line, stencil)
                } else if state.antialiasing {
                    test::layers(simd, polygon.test, &block, depth, line)
                } else {
                    let mut passed = test::top(simd, polygon.test, &block, depth, &line.top);
                    if state.overlaps_edges && polygon.is_opaque {
                        passed.all |= test::over_lower_edges(simd, polygon, span, &block, &line.top);
                    }
                    passed
                };
                if passed.all.any_true() {
                    let values = values.get_or_insert_with(
                        #[inline(always)]
                        || Values::new(simd, polygon, span),
                    );
                    let pixels = values.interpolate(simd, &along, &depths);
                    let color = polygon.shader.colors(simd, &state.environment, &pixels);
                    writer.block(simd, line, &block, passed, color, depth);
                }
            }
        }
    }
}
