//! The pixels of a span. Each step works on all of them before the next one starts: depths, depth test, colours, writing.

mod depth;
mod test;
mod values;
mod write;

pub use depth::depths;

use super::buffers::{Line, WIDTH};
use super::polygon::{RasterPolygon, Shadow};
use super::shade::{Environment, Pixels};
use super::shadow::StencilRow;
use super::span::Span;
use std::ops::Range;
use write::CoverageCounter;

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

/// A pixel that passed goes into the lower layer only.
const UNDER: u8 = 1;
/// A translucent pixel that passed goes into the lower layer, too.
const BOTH: u8 = 2;

/// Room for a row's worth of work.
#[derive(Clone, Debug)]
pub struct Scratch {
    /// Depths by column.
    depth: [u32; WIDTH],
    /// Factors of interpolation by column, if values need them.
    factor: [i32; WIDTH],
    /// Columns that passed, ascending.
    passed: [u8; WIDTH],
    /// [`UNDER`] and [`BOTH`] of each that passed, with antialiasing.
    layers: [u8; WIDTH],
    /// Factors, or places from the start, of those that passed.
    along: [i32; WIDTH],
    /// Colours of those that passed.
    pixels: Pixels,
}

impl Default for Scratch {
    fn default() -> Scratch {
        Scratch {
            depth: [0; WIDTH],
            factor: [0; WIDTH],
            passed: [0; WIDTH],
            layers: [0; WIDTH],
            along: [0; WIDTH],
            pixels: Pixels::default(),
        }
    }
}

impl Scratch {
    /// Depths by column, as far as [`depths`] wrote them.
    pub fn depths(&self) -> &[u32; WIDTH] {
        &self.depth
    }
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
    /// Room for work.
    pub scratch: &'a mut Scratch,
}

/// Which code draws spans; all give the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// What any host runs.
    Portable,
    /// The same for processors with AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

impl Code {
    /// The fastest that this host runs.
    pub fn best() -> Code {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            return Code::Avx2;
        }
        Code::Portable
    }
}

impl Job<'_> {
    /// Draws it, with the host's vector extensions or without.
    pub fn run(self, code: Code) {
        match code {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Code::Avx2` is only made where the processor has it.
            Code::Avx2 => unsafe { self.run_avx2() },
            _ => self.fill(),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn run_avx2(self) {
        self.fill();
    }

    #[inline(always)]
    fn fill(self) {
        let Job { state, polygon, span, line, stencil, scratch } = self;
        let mut counters = span.edges.map(|edge| CoverageCounter::new(edge.coverage));
        for range in parts(polygon, span) {
            if range.is_empty() {
                continue;
            }
            depths(polygon, span, &range, scratch);
            let count = if polygon.shadow == Shadow::Drawn {
                test::shadow(state, polygon, range, line, stencil, scratch)
            } else if state.antialiasing {
                test::layers(polygon, range, line, scratch)
            } else {
                test::top(polygon, range, line, scratch)
            };
            if count > 0 {
                values::interpolate(polygon, span, count, scratch);
                polygon.shader.colors(&state.environment, &mut scratch.pixels, count);
                write::pixels(state, polygon, span, line, scratch, count, &mut counters);
            }
        }
    }
}
