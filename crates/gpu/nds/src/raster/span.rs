//! A polygon's part of a row: from where to where, and which of its edge pixels are drawn.

use super::buffers::PixelFlags;
use super::edge::{Coverage, Edge};
use super::interpolate::AlongSpan;
use super::polygon::{RasterPolygon, Side, Walker};
use super::{Rules, ScaledRules};
use fearless_simd::{Simd, i32x8};

/// A polygon's part of a row.
#[derive(Clone, Copy, Debug)]
pub struct Span<'a> {
    /// First pixel.
    pub start: i32,
    /// Last pixel.
    pub end: i32,
    /// First pixel after the left edge.
    pub inside: i32,
    /// First pixel of the right edge.
    pub right: i32,
    /// Whether edge pixels are drawn: left, right.
    pub fills: [bool; 2],
    /// [`PixelFlags::TOP_ROW`] or [`PixelFlags::BOTTOM_ROW`], or 0.
    pub row_flag: u32,
    /// It is the polygon's last row.
    pub is_last: bool,
    /// w at the left and right end.
    pub w: [i32; 2],
    /// Depths at the left and right end.
    pub depths: [i32; 2],
    sides: [&'a Side; 2],
    swapped: bool,
    /// Coverage goes by places, as recorded, not by how many pixels of the edge were drawn.
    counts_hidden: bool,
    is_fine: bool,
}

/// Whether the polygon's last row, next to an X-major edge, has a flat bottom beside it.
fn flat_bottom(edge: &Edge, is_last: bool, lower: [i32; 2]) -> bool {
    is_last && edge.x_major && lower[0] != lower[1]
}

/// Opaque edge pixels that are drawn: of the left edge those of Y-major and negative ones, of the right edge those of
/// positive X-major and vertical ones.
fn fill_rules(left: &Edge, right: &Edge, is_last: bool, lower: [i32; 2]) -> [bool; 2] {
    [
        left.negative || !left.x_major || flat_bottom(left, is_last, lower),
        (!right.negative && right.x_major) || right.increment == 0 || flat_bottom(right, is_last, lower),
    ]
}

/// The same with `left` and `right` exchanged, as a span drawn backwards has them.
fn swapped_fill_rules(left: &Edge, right: &Edge, is_last: bool, lower: [i32; 2]) -> [bool; 2] {
    let fills_right = if right.x_major { !right.negative } else { left.increment == 0 };
    [
        left.negative || !left.x_major || flat_bottom(left, is_last, lower),
        fills_right || flat_bottom(right, is_last, lower),
    ]
}

impl<'a> Span<'a> {
    /// Interpolates along the span.
    #[inline]
    pub fn along(&self) -> AlongSpan {
        let [a, b] = self.w;
        AlongSpan::new(self.start, self.end + 1, a, b, self.is_fine)
    }

    /// Values at the left and right end.
    #[inline(always)]
    pub fn ends<S: Simd>(&self, simd: S, polygon: &RasterPolygon) -> [i32x8<S>; 2] {
        let [left, right] = self.sides;
        [left.values(simd, polygon), right.values(simd, polygon)]
    }

    /// Whether the polygon lies below the left and the right edge: they are X-major, and its upper edges.
    pub fn is_upper(&self) -> [bool; 2] {
        let [left, right] = self.sides.map(|side| side.edge);
        [left.x_major && left.negative, right.x_major && !right.negative]
    }

    /// Whether the polygon lies above the left and the right edge.
    pub fn is_lower(&self) -> [bool; 2] {
        let [left, right] = self.sides.map(|side| side.edge);
        [left.x_major && !left.negative, right.x_major && right.negative]
    }

    /// Coverage of the left and right edge.
    pub fn coverages(&self) -> [Coverage; 2] {
        let [left, right] = self.sides.map(|side| side.edge.coverage(self.swapped));
        // Pixels of the right edge that belong to the left one count.
        let hidden = (self.inside - self.right).max(0) as u32;
        [left, if self.counts_hidden { right.after(hidden) } else { right }]
    }

    /// The span of the row that `walker` is in.
    #[inline(always)]
    pub fn new(polygon: &RasterPolygon, walker: &'a Walker, rules: ScaledRules, row: i32) -> Span<'a> {
        let (mut left, mut right): (&Side, &Side) = (&walker.left, &walker.right);
        let (mut start, mut end) = (left.edge.outermost(), right.edge.outermost());
        if right.edge.increment == 0 && (left.edge.increment != 0 || start != end) && end != 0 {
            end -= 1;
        }
        let swapped = start > end;
        if swapped {
            (left, right, start, end) = (right, left, end, start);
        }
        let lengths = [left.edge.length(swapped), right.edge.length(swapped)];
        let fills = if polygon.fills_edges {
            [true; 2]
        } else {
            let is_last = row == polygon.bottom_y - 1;
            let lower = [left.lower_x(polygon), right.lower_x(polygon)];
            let mut fills = if swapped {
                swapped_fill_rules(&left.edge, &right.edge, is_last, lower)
            } else {
                fill_rules(&left.edge, &right.edge, is_last, lower)
            };
            // Edges that coincide.
            let coincide = !swapped
                && if rules.contains(Rules::LINE_END_POINTS) {
                    left.is_edge_of(right, polygon)
                } else {
                    left.edge.increment == right.edge.increment && start + lengths[0] == end + 1
                };
            fills[0] |= coincide;
            fills
        };
        Span {
            start,
            end,
            inside: (start + lengths[0]).min(end + 1),
            right: (end + 1 - lengths[1]).min(end + 1),
            fills,
            row_flag: if row == polygon.top_y {
                PixelFlags::TOP_ROW.bits()
            } else if row == polygon.bottom_y - 1 {
                PixelFlags::BOTTOM_ROW.bits()
            } else {
                0
            },
            is_last: row == polygon.rows().end - 1,
            w: [left.w(polygon), right.w(polygon)],
            depths: [left.depth(polygon), right.depth(polygon)],
            sides: [left, right],
            swapped,
            counts_hidden: rules.contains(Rules::COVERAGE) && !swapped,
            is_fine: rules.is_fine,
        }
    }
}
