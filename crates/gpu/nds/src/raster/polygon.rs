//! Polygons as the renderer takes them, and the two edges it follows down.

use super::buffers::{PixelFlags, Row};
use super::edge::{Edge, End};
use super::lanes::{Lanes, Mask, less, load};
use super::shade::Shader;
use super::{Scale, ScaledRules};
use crate::geometry::clip::MAX_VERTICES;
use crate::geometry::polygon::{Attributes, Bounds, Flags, Polygon};
use crate::geometry::vertex::Vertex;
use crate::registers::Control;
use fearless_simd::i32x8;
use fearless_simd::prelude::*;
use std::ops::Range;

/// What is interpolated besides w and depth: red, green, blue, s, t, and what fills a vector up.
pub const VALUES: usize = 8;

/// A vertex as the renderer takes it.
#[derive(Clone, Copy, Debug, Default)]
pub struct RasterVertex {
    /// Place and w.
    pub end: End,
    /// Depth of 24 bits.
    pub depth: i32,
    /// What is interpolated.
    pub values: [i32; VALUES],
}

/// Which pixels pass the depth test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DepthTest {
    /// Nearer ones.
    #[default]
    Less,
    /// Nearer ones, and equal ones over opaque back-facing pixels.
    LessFront,
    /// Those about as deep.
    Equal {
        /// By how much a depth may differ.
        margin: u32,
    },
}

impl DepthTest {
    /// The lanes whose depth passes the test against `there`.
    #[inline(always)]
    pub fn passing<S: Simd>(self, depth: Lanes<S>, there: Lanes<S>, attributes: Lanes<S>) -> Mask<S> {
        match self {
            DepthTest::Less => less(depth, there),
            DepthTest::LessFront => {
                let back = PixelFlags::BACK.bits();
                let kind = attributes & (back | PixelFlags::TRANSLUCENT.bits());
                less(depth, there) | (depth.simd_eq(there) & kind.simd_eq(back))
            }
            DepthTest::Equal { margin } => (there - depth + margin).simd_le(2 * margin),
        }
    }

    /// Which depths pass over a layer's pixels from column `first` on.
    #[inline(always)]
    pub fn passing_over<S: Simd>(self, depth: Lanes<S>, row: &Row, first: usize) -> Mask<S> {
        let simd = depth.token();
        self.passing(depth, load(simd, &row.depth, first), load(simd, &row.attributes, first))
    }
}

/// What shadows have to do with a polygon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shadow {
    /// Nothing.
    #[default]
    None,
    /// It marks where they fall.
    Mask,
    /// It is one.
    Drawn,
}

impl Shadow {
    fn new(flags: Flags) -> Shadow {
        match () {
            () if flags.contains(Flags::SHADOW_MASK) => Shadow::Mask,
            () if flags.contains(Flags::SHADOW) => Shadow::Drawn,
            () => Shadow::None,
        }
    }
}

/// What of a polygon decides where and when it is drawn.
#[derive(Clone, Debug)]
pub struct Outline {
    /// Place in polygon memory.
    pub polygon: u16,
    /// Rows it is drawn in.
    pub rows: Range<i32>,
    /// Shadows.
    pub shadow: Shadow,
}

impl Outline {
    /// From polygon and vertex memory, as [`RasterPolygon::take_over`].
    pub fn new(place: u16, polygon: &Polygon, memory: &[Vertex], scale: Scale) -> Outline {
        let rows = if scale == Scale::ONE {
            rows(polygon.top_y.into(), polygon.bottom_y.into())
        } else {
            let vertices = polygon.indices().iter().filter_map(|&index| memory.get(usize::from(index)));
            let Bounds { top_y, bottom_y, .. } =
                Bounds::new(vertices.map(|vertex| scale.place(vertex)), scale.size()[1] as i32);
            rows(top_y, bottom_y)
        };
        Outline { polygon: place, rows, shadow: Shadow::new(polygon.flags) }
    }
}

/// Rows that a polygon is drawn in: one without height has one.
fn rows(top_y: i32, bottom_y: i32) -> Range<i32> {
    top_y..bottom_y.max(top_y + 1)
}

/// A polygon as the renderer takes it.
#[derive(Clone, Copy, Debug, Default)]
pub struct RasterPolygon {
    /// First row.
    pub top_y: i32,
    /// Row after the last; for a polygon without height the first, which is drawn all the same.
    pub bottom_y: i32,
    /// Depth test.
    pub test: DepthTest,
    /// Depth is interpolated like w.
    pub is_w: bool,
    /// Only edges are drawn.
    pub wireframe: bool,
    /// All edge pixels are drawn, whatever the edges' direction.
    pub fills_edges: bool,
    /// Its own alpha makes nothing translucent.
    pub is_opaque: bool,
    /// Translucent pixels write their depth.
    pub translucent_depth: bool,
    /// Shadows.
    pub shadow: Shadow,
    /// Attributes of its pixels: id, fog, facing.
    pub attributes: u32,
    /// Colours.
    pub shader: Shader,
    /// Its front is seen.
    pub front: bool,
    /// Vertices it has.
    pub len: u8,
    /// Place of the top vertex.
    pub top: u8,
    /// Place of the bottom vertex.
    pub bottom: u8,
    /// Vertices.
    pub vertices: [RasterVertex; MAX_VERTICES],
}

impl RasterPolygon {
    /// Becomes one of polygon and vertex memory that is drawn ([`PolygonList::drawn`](crate::geometry::polygon::PolygonList::drawn)). It
    /// is not made anew, as most of its bytes are vertices that it does not have.
    pub fn take_over(&mut self, polygon: &Polygon, memory: &[Vertex], control: Control, scale: Scale) {
        let bits = polygon.attribute_bits();
        let alpha = crate::geometry::polygon::alpha(polygon.attributes);
        self.front = polygon.flags.contains(Flags::FRONT);
        self.is_w = polygon.flags.contains(Flags::W_BUFFERED);
        self.wireframe = alpha == 0;
        for (i, (place, &index)) in self.vertices.iter_mut().zip(polygon.indices()).enumerate() {
            let Some(vertex) = memory.get(usize::from(index)) else { break };
            let [r, g, b] = vertex.color9().map(i32::from);
            let [s, t] = vertex.texcoord.map(i32::from);
            let [x, y] = scale.place(vertex);
            let w = polygon.w[i];
            *place = RasterVertex {
                end: End { x, y, w },
                depth: polygon.depth[i],
                values: [r, g, b, s, t, 0, 0, 0],
            };
        }
        self.len = polygon.len.min(MAX_VERTICES as u8);
        let places = self.vertices[..usize::from(self.len)].iter().map(|v| [v.end.x, v.end.y]);
        let bounds = Bounds::new(places, scale.size()[1] as i32);
        (self.top, self.top_y) = (bounds.top, bounds.top_y);
        (self.bottom, self.bottom_y) = (bounds.bottom, bounds.bottom_y);
        self.test = if bits.contains(Attributes::DEPTH_EQUAL) {
            DepthTest::Equal { margin: if self.is_w { 0xff } else { 0x200 } }
        } else if self.front {
            DepthTest::LessFront
        } else {
            DepthTest::Less
        };
        self.fills_edges = self.wireframe
            || control.intersects(Control::ANTIALIASING | Control::EDGE_MARKING)
            || (alpha < 31 && control.contains(Control::BLENDING));
        self.is_opaque = matches!(alpha, 0 | 31);
        self.translucent_depth = bits.contains(Attributes::TRANSLUCENT_DEPTH);
        self.shadow = Shadow::new(polygon.flags);
        let shown = polygon.attributes & 0x3f00_8000;
        self.attributes = shown | if self.front { 0 } else { PixelFlags::BACK.bits() };
        self.shader = Shader::new(control, polygon.attributes, polygon.texture, polygon.palette);
    }

    /// Rows it is drawn in.
    pub fn rows(&self) -> Range<i32> {
        rows(self.top_y, self.bottom_y)
    }

    #[inline]
    fn vertex(&self, place: u8) -> &RasterVertex {
        &self.vertices[usize::from(place).min(MAX_VERTICES - 1)]
    }

    /// The place after `place`, counterclockwise or clockwise on the screen.
    fn next(&self, place: u8, up: bool) -> u8 {
        match (up, place) {
            (true, p) if p + 1 >= self.len => 0,
            (true, p) => p + 1,
            (false, 0) => self.len - 1,
            (false, p) => p - 1,
        }
    }
}

/// One side of a polygon in the row at hand.
#[derive(Clone, Copy, Debug, Default)]
pub struct Side {
    /// The edge.
    pub edge: Edge,
    upper: u8,
    lower: u8,
}

impl Side {
    fn start(polygon: &RasterPolygon, is_right: bool) -> Side {
        let upper = polygon.top;
        let lower = polygon.next(upper, polygon.front != is_right);
        Side { edge: Edge::default(), upper, lower }
    }

    /// Goes on to the edge that crosses `row`.
    fn advance(&mut self, polygon: &RasterPolygon, is_right: bool, rules: ScaledRules, row: i32) {
        while row >= polygon.vertex(self.lower).end.y && self.upper != polygon.bottom {
            self.upper = self.lower;
            self.lower = polygon.next(self.upper, polygon.front != is_right);
        }
        let (upper, lower) = (polygon.vertex(self.upper).end, polygon.vertex(self.lower).end);
        self.edge = Edge::new(upper, lower, is_right, rules, row);
    }

    /// Whether its edge is that of another side.
    pub fn is_edge_of(&self, other: &Side, polygon: &RasterPolygon) -> bool {
        let place = |vertex: &RasterVertex| [vertex.end.x, vertex.end.y];
        self.ends(polygon).map(place) == other.ends(polygon).map(place)
    }

    /// Column of the edge's lower end.
    pub fn lower_x(&self, polygon: &RasterPolygon) -> i32 {
        polygon.vertex(self.lower).end.x
    }

    /// Upper and lower end.
    #[inline]
    fn ends<'a>(&self, polygon: &'a RasterPolygon) -> [&'a RasterVertex; 2] {
        [polygon.vertex(self.upper), polygon.vertex(self.lower)]
    }

    /// w at the row.
    #[inline]
    pub fn w(&self, polygon: &RasterPolygon) -> i32 {
        let [upper, lower] = self.ends(polygon);
        self.edge.along.value(upper.end.w, lower.end.w)
    }

    /// Depth at the row.
    #[inline]
    pub fn depth(&self, polygon: &RasterPolygon) -> i32 {
        let [upper, lower] = self.ends(polygon);
        self.edge.along.depth(upper.depth, lower.depth, polygon.is_w)
    }

    /// What else is interpolated, at the row.
    #[inline(always)]
    pub fn values<S: Simd>(&self, simd: S, polygon: &RasterPolygon) -> i32x8<S> {
        let [upper, lower] = self.ends(polygon);
        self.edge.along.values(simd, &upper.values, &lower.values)
    }
}

/// Follows a polygon down the rows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Walker {
    /// Left side.
    pub left: Side,
    /// Right side.
    pub right: Side,
}

impl Walker {
    /// In a row of the polygon.
    pub fn new(polygon: &RasterPolygon, rules: ScaledRules, row: i32) -> Walker {
        if polygon.top_y == polygon.bottom_y {
            return Walker::flat(polygon);
        }
        let mut walker = Walker { left: Side::start(polygon, false), right: Side::start(polygon, true) };
        walker.left.advance(polygon, false, rules, row);
        walker.right.advance(polygon, true, rules, row);
        walker
    }

    /// A polygon without height: from the leftmost to the rightmost of its vertices 0, 1 and the last.
    fn flat(polygon: &RasterPolygon) -> Walker {
        let (mut left, mut right) = (0, 0);
        for place in [1, polygon.len - 1] {
            let x = |place| polygon.vertex(place).end.x;
            if x(place) < x(left) {
                left = place;
            }
            if x(place) > x(right) {
                right = place;
            }
        }
        let side =
            |place| Side { edge: Edge::point(polygon.vertex(place).end.x), upper: place, lower: place };
        Walker { left: side(left), right: side(right) }
    }

    /// Goes down to a row, if the polygon reaches it.
    #[inline]
    pub fn move_to(&mut self, polygon: &RasterPolygon, rules: ScaledRules, row: i32) {
        if row >= polygon.bottom_y {
            return;
        }
        for (side, is_right) in [(&mut self.left, false), (&mut self.right, true)] {
            if row >= polygon.vertex(side.lower).end.y && side.upper != polygon.bottom {
                side.advance(polygon, is_right, rules, row);
            } else {
                side.edge.move_to(row);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raster::lanes::all;
    use fearless_simd::{Level, dispatch};

    fn passes(test: DepthTest, depth: u32, there: u32, attributes: u32) -> bool {
        dispatch!(Level::new(), simd => {
            let [depth, there, attributes] = [depth, there, attributes].map(|number| all(simd, number));
            test.passing(depth, there, attributes).all_true()
        })
    }

    #[test]
    fn equal_passes_within_a_margin() {
        let z = |depth, there| passes(DepthTest::Equal { margin: 0x200 }, depth, there, 0);
        assert!(z(0x1000, 0x1200) && z(0x1200, 0x1000) && !z(0x1000, 0x1201) && !z(0x1201, 0x1000));
        let w = |depth, there| passes(DepthTest::Equal { margin: 0xff }, depth, there, 0);
        assert!(w(0, 0xff) && !w(0, 0x100) && !w(0xff_ffff, 0));
    }

    #[test]
    fn equal_fronts_pass_over_opaque_backs() {
        let back = PixelFlags::BACK.bits();
        assert!(passes(DepthTest::LessFront, 5, 5, back));
        assert!(!passes(DepthTest::LessFront, 5, 5, 0));
        assert!(!passes(DepthTest::LessFront, 5, 5, back | PixelFlags::TRANSLUCENT.bits()));
        assert!(!passes(DepthTest::Less, 5, 5, back));
    }
}
