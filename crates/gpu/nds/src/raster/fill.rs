//! The pixels of a span: depth test, colour, and what is written where.

use super::buffers::{COVERAGE, EDGES, Line, PixelFlags, Row, WIDTH};
use super::edge::Coverage;
use super::interpolate::AlongSpan;
use super::polygon::{DepthTest, RasterPolygon, Shadow, VALUES};
use super::shade::{Color, Environment, alpha, blend};
use super::shadow::{STENCIL_TOP, STENCIL_UNDER, StencilRow};
use super::span::Span;

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
}

/// Where a pixel that passed is written to: its column, and in which layers.
#[derive(Clone, Copy, Debug, Default)]
struct Passed {
    x: u8,
    /// Into the lower layer only.
    under: bool,
    /// Translucent ones into the lower layer, too.
    both: bool,
}

/// Room for a row's worth of work.
#[derive(Clone, Debug)]
pub struct Scratch {
    depth: [i32; WIDTH],
    factor: [i32; WIDTH],
    passed: [Passed; WIDTH],
}

impl Default for Scratch {
    fn default() -> Scratch {
        Scratch { depth: [0; WIDTH], factor: [0; WIDTH], passed: [Passed::default(); WIDTH] }
    }
}

impl Scratch {
    /// The depth that [`depths`] left for a column.
    #[inline]
    pub fn depth(&self, x: usize) -> u32 {
        self.depth[x] as u32
    }
}

/// Columns `from..to` of the screen.
pub fn columns(from: i32, to: i32) -> std::ops::Range<usize> {
    let limit = |x: i32| x.clamp(0, WIDTH as i32) as usize;
    limit(from)..limit(to)
}

/// Parts of a span that are drawn: all in one, or the two edges of a wireframe.
pub fn parts(polygon: &RasterPolygon, span: &Span) -> [std::ops::Range<usize>; 2] {
    let from = if span.fills[0] { span.start } else { span.inside };
    let to = if span.fills[1] { span.end + 1 } else { span.right.max(span.inside) };
    if polygon.wireframe && span.row_flag == 0 {
        [columns(from, span.inside), columns(span.right.max(span.inside), to)]
    } else {
        [columns(from, to), 0..0]
    }
}

/// How coverage runs over an edge's drawn pixels.
struct CoverageCounter {
    coverage: Coverage,
    value: u32,
}

impl CoverageCounter {
    fn new(coverage: Coverage) -> CoverageCounter {
        let value = match coverage {
            Coverage::Rising { first: 0x3ff, .. } => 0,
            Coverage::Rising { first, .. } => first,
            Coverage::Level(_) => 0,
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

/// Interpolates depths of `range` into `scratch`.
pub fn depths(polygon: &RasterPolygon, span: &Span, range: &std::ops::Range<usize>, scratch: &mut Scratch) {
    let [a, b] = span.ends.map(|end| end.depth);
    let mut along = along(span);
    for x in range.clone() {
        along.move_to(x as i32);
        scratch.depth[x] = along.depth(a, b, polygon.is_w);
        scratch.factor[x] = along.factor();
    }
}

fn along(span: &Span) -> AlongSpan {
    let [a, b] = span.ends.map(|end| end.values[0]);
    AlongSpan::new(span.start, span.end + 1, a, b)
}

/// Draws a span.
pub fn draw(
    state: &FillState,
    polygon: &RasterPolygon,
    span: &Span,
    line: &mut Line,
    stencil: &StencilRow,
    scratch: &mut Scratch,
) {
    let mut counters = span.edges.map(|edge| CoverageCounter::new(edge.coverage));
    for range in parts(polygon, span) {
        if range.is_empty() {
            continue;
        }
        depths(polygon, span, &range, scratch);
        let count = if polygon.shadow == Shadow::Drawn {
            test_shadow(state, polygon, range, line, stencil, scratch)
        } else if state.antialiasing {
            test_layers(polygon, range, line, scratch)
        } else {
            match polygon.test {
                DepthTest::Less => {
                    test(|z, there, _| DepthTest::Less.passes(z, there, 0), range, line, scratch)
                }
                DepthTest::LessFront => {
                    test(|z, d, a| DepthTest::LessFront.passes(z, d, a), range, line, scratch)
                }
                equal => test(|z, there, a| equal.passes(z, there, a), range, line, scratch),
            }
        };
        shade(state, polygon, span, line, scratch, count, &mut counters);
    }
}

/// Collects pixels that pass, where there is one layer.
#[inline]
fn test(
    passes: impl Fn(u32, u32, u32) -> bool,
    range: std::ops::Range<usize>,
    line: &Line,
    scratch: &mut Scratch,
) -> usize {
    let mut count = 0;
    for x in range {
        scratch.passed[count] = Passed { x: x as u8, under: false, both: false };
        let top = &line.top;
        count += usize::from(passes(scratch.depth[x] as u32, top.depth[x], top.attributes[x]));
    }
    count
}

/// Collects pixels that pass in either layer: what fails against an edge pixel is tested against what that covers.
fn test_layers(
    polygon: &RasterPolygon,
    range: std::ops::Range<usize>,
    line: &Line,
    scratch: &mut Scratch,
) -> usize {
    let mut count = 0;
    for x in range {
        let depth = scratch.depth[x] as u32;
        let attributes = line.top.attributes[x];
        let over_edge = attributes & EDGES != 0;
        let under = !polygon.test.passes(depth, line.top.depth[x], attributes);
        if under && !(over_edge && polygon.test.passes(depth, line.under.depth[x], line.under.attributes[x]))
        {
            continue;
        }
        scratch.passed[count] = Passed { x: x as u8, under, both: over_edge && !under };
        count += 1;
    }
    count
}

/// Collects pixels of a shadow: those that its mask marked, by layer.
fn test_shadow(
    state: &FillState,
    polygon: &RasterPolygon,
    range: std::ops::Range<usize>,
    line: &Line,
    stencil: &StencilRow,
    scratch: &mut Scratch,
) -> usize {
    let mut count = 0;
    for x in range {
        let marks = stencil[x];
        if marks == 0 {
            continue;
        }
        let depth = scratch.depth[x] as u32;
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
        if under && !state.antialiasing {
            continue;
        }
        scratch.passed[count] = Passed { x: x as u8, under, both: over_edge && !under && state.antialiasing };
        count += 1;
    }
    count
}

/// Values along a span that may be of a pixel's colour.
struct Values {
    along: AlongSpan,
    from: [i32; VALUES],
    to: [i32; VALUES],
}

impl Values {
    #[inline]
    fn at(&self, i: usize) -> i32 {
        self.along.value(self.from[i], self.to[i])
    }
}

/// Colours the pixels that passed and writes them.
fn shade(
    state: &FillState,
    polygon: &RasterPolygon,
    span: &Span,
    line: &mut Line,
    scratch: &Scratch,
    count: usize,
    counters: &mut [CoverageCounter; 2],
) {
    let mut values = Values { along: along(span), from: span.ends[0].values, to: span.ends[1].values };
    for passed in scratch.passed.iter().take(count) {
        let x = usize::from(passed.x);
        values.along.set(x as i32, scratch.factor[x]);
        let rgb = [1, 2, 3].map(|i| (values.at(i) >> 3) as u32);
        let (s, t) = if polygon.shader.is_textured() { (values.at(4), values.at(5)) } else { (0, 0) };
        let color = polygon.shader.pixel(&state.environment, rgb, s as i16, t as i16);
        let alpha = alpha(color);
        if alpha <= state.alpha_ref {
            continue;
        }
        let depth = scratch.depth[x] as u32;
        if alpha == 31 {
            let column = x as i32;
            let counter = if column < span.inside {
                Some(0)
            } else if column >= span.right {
                Some(1)
            } else {
                None
            };
            let mut attributes = polygon.attributes | span.row_flag;
            if let Some(side) = counter {
                attributes |= PixelFlags::LEFT_EDGE.bits() << side;
            }
            if state.antialiasing && attributes & EDGES != 0 {
                let covered = counter.map_or(31, |side| counters[side].next(side));
                attributes |= covered << 8;
                if !passed.under {
                    push_down(line, x);
                }
            }
            let row = if passed.under { &mut line.under } else { &mut line.top };
            (row.color[x], row.depth[x], row.attributes[x]) = (color, depth, attributes);
        } else {
            let row = if passed.under { &mut line.under } else { &mut line.top };
            write_translucent(state, polygon, row, x, color, depth);
            if passed.both {
                write_translucent(state, polygon, &mut line.under, x, color, depth);
            }
        }
    }
}

#[inline]
fn push_down(line: &mut Line, x: usize) {
    let Line { top, under } = line;
    (under.color[x], under.depth[x], under.attributes[x]) = (top.color[x], top.depth[x], top.attributes[x]);
}

const TRANSLUCENT_ID: u32 = 63 << 16;
/// What tells one translucent polygon's pixels from another's.
const TRANSLUCENT: u32 = TRANSLUCENT_ID | PixelFlags::TRANSLUCENT.bits();
/// What a translucent pixel keeps of the attributes under it.
const KEPT: u32 = super::buffers::OPAQUE_ID | COVERAGE | EDGES;

#[inline]
fn write_translucent(
    state: &FillState,
    polygon: &RasterPolygon,
    row: &mut Row,
    x: usize,
    color: Color,
    depth: u32,
) {
    let there = row.attributes[x];
    let fog = PixelFlags::FOG.bits();
    let own = polygon.attributes;
    let id = own >> 8 & TRANSLUCENT_ID | PixelFlags::TRANSLUCENT.bits();
    // For shadows opaque ids count, too.
    let is_same = if polygon.shadow == Shadow::Drawn && there & PixelFlags::TRANSLUCENT.bits() == 0 {
        (there ^ own) & super::buffers::OPAQUE_ID == 0
    } else {
        there & TRANSLUCENT == id
    };
    if is_same {
        return;
    }
    row.attributes[x] = own & PixelFlags::BACK.bits() | own & there & fog | id | there & KEPT;
    row.color[x] = blend(color, row.color[x], state.blending);
    if polygon.translucent_depth {
        row.depth[x] = depth;
    }
}
