//! Colours and texture coordinates of the pixels that passed.

use super::Scratch;
use crate::raster::interpolate::AlongSpan;
use crate::raster::polygon::RasterPolygon;
use crate::raster::span::Span;

/// Places of red, of all colours and of the texture coordinates among a span's values.
const RED: usize = 1;
const COLORS: usize = 3;
const S: usize = 4;

/// Which values change along a span, and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    colors: bool,
    texcoords: bool,
    linear: bool,
}

impl Kind {
    #[inline(always)]
    pub(super) fn new(polygon: &RasterPolygon, span: &Span) -> Kind {
        let changes = |i: usize| span.ends[0].values[i] != span.ends[1].values[i];
        Kind {
            colors: (RED..RED + COLORS).any(changes),
            texcoords: polygon.shader.is_textured() && (changes(S) || changes(S + 1)),
            linear: span.along().is_linear(),
        }
    }

    fn any(self) -> bool {
        self.colors || self.texcoords
    }

    #[inline(always)]
    pub(super) fn needs_factors(self) -> bool {
        self.any() && !self.linear
    }
}

/// Values of the first `count` columns that passed.
#[inline(always)]
pub(super) fn interpolate(
    kind: Kind,
    polygon: &RasterPolygon,
    span: &Span,
    count: usize,
    scratch: &mut Scratch,
) {
    let Scratch { passed, along, factor, pixels, .. } = scratch;
    let interpolator = span.along();
    let along = &mut along[..count];
    if kind.any() {
        let columns = along.iter_mut().zip(&*passed);
        if kind.linear {
            columns.for_each(|(at, &x)| *at = i32::from(x) - span.start);
        } else {
            columns.for_each(|(at, &x)| *at = factor[usize::from(x)]);
        }
    }
    let run = |i: usize, changes: bool, shift: u32, out: &mut [i32]| {
        let (a, b) = (span.ends[0].values[i], span.ends[1].values[i]);
        if !changes || a == b {
            out.fill(a >> shift);
        } else if kind.linear {
            interpolator.linear_values(a, b, shift, along, out);
        } else {
            let values = out.iter_mut().zip(&*along);
            values.for_each(|(v, &f)| *v = AlongSpan::perspective_value(a, b, f) >> shift);
        }
    };
    // Colours have 9 bits along spans, pixels 6.
    for (i, out) in pixels.rgb.iter_mut().enumerate() {
        run(RED + i, kind.colors, 3, &mut out[..count]);
    }
    if polygon.shader.is_textured() {
        for (i, out) in pixels.texcoord.iter_mut().enumerate() {
            run(S + i, kind.texcoords, 0, &mut out[..count]);
        }
    }
}
