//! Polygons in polygon memory: facing, bounds, depth and sort order.

use super::clip::MAX_VERTICES;
use super::vertex::{Corners, Vertex};
use crate::state::{Io, StateError, Stated};

/// Most polygons of a frame.
pub const MAX_POLYGONS: usize = 2048;
/// Most vertices of a frame.
pub const MAX_FRAME_VERTICES: usize = 6144;
/// Largest depth.
pub const MAX_DEPTH: i32 = 0xff_ffff;

bitflags::bitflags! {
    /// POLYGON_ATTR but for its numbers: polygon mode \[5:4\], alpha \[20:16\], id \[29:24\], lights \[3:0\].
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Attributes: u32 {
        /// Draw back-facing polygons.
        const DRAW_BACK = 1 << 6;
        /// Draw front-facing polygons.
        const DRAW_FRONT = 1 << 7;
        /// Translucent pixels write their depth.
        const TRANSLUCENT_DEPTH = 1 << 11;
        /// Clip at the far plane, not drop.
        const CLIP_FAR = 1 << 12;
        /// Draw polygons of one pixel behind DISP_1DOT_DEPTH.
        const DRAW_ONE_DOT = 1 << 13;
        /// Pixels pass that are about as deep.
        const DEPTH_EQUAL = 1 << 14;
        /// Fog.
        const FOG = 1 << 15;
    }

    /// What became of a polygon; the bits of chunk `XPOL`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Flags: u8 {
        /// Its front is seen.
        const FRONT = 1 << 0;
        /// Sorted with the translucent ones.
        const TRANSLUCENT = 1 << 1;
        /// Marks where shadows fall.
        const SHADOW_MASK = 1 << 2;
        /// Drawn where shadows fall.
        const SHADOW = 1 << 3;
        /// Depth is w.
        const W_BUFFERED = 1 << 4;
        /// Kept in memory, never drawn.
        const NEVER_DRAWN = 1 << 5;
    }
}

/// Alpha of POLYGON_ATTR, 0 to 31; 0 is wireframe.
pub fn alpha(attributes: u32) -> u8 {
    (attributes >> 16 & 31) as u8
}

/// A polygon in polygon memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Polygon {
    /// POLYGON_ATTR.
    pub attributes: u32,
    /// TEXIMAGE_PARAM.
    pub texture: u32,
    /// PLTT_BASE, 13 bits.
    pub palette: u32,
    /// What became of it.
    pub flags: Flags,
    /// Vertices it has, 2 to 10.
    pub len: u8,
    /// Place of the top vertex among its own.
    pub top: u8,
    /// Place of the bottom vertex.
    pub bottom: u8,
    /// First row.
    pub top_y: i16,
    /// Row of the lowest vertex, itself not drawn.
    pub bottom_y: i16,
    /// w is shifted left by this, or right if negative; a multiple of 4.
    pub w_shift: i8,
    /// Places in vertex memory.
    pub vertices: [u16; MAX_VERTICES],
    /// Depth of each vertex, 24 bits.
    pub depth: [i32; MAX_VERTICES],
    /// Normalised w of each vertex, 16 bits.
    pub w: [i32; MAX_VERTICES],
}

impl Polygon {
    /// Its vertices' places in vertex memory.
    pub fn indices(&self) -> &[u16] {
        self.vertices.get(..self.len.into()).unwrap_or_default()
    }

    /// The bits of POLYGON_ATTR.
    pub fn attribute_bits(&self) -> Attributes {
        Attributes::from_bits_truncate(self.attributes)
    }
}

/// What of a triangle's first three corners is seen: less than 0 its front, more its back, 0 an edge.
///
/// The cross product over x, y and w, scaled down by 4 bits until it fits 32, times the middle corner.
pub fn facing(corners: &Corners) -> i64 {
    let [a, b, c] = [0, 1, 2].map(|i| {
        let p = corners[i].position;
        [p[0], p[1], p[3]]
    });
    let minus = |p: [i32; 3]| [0, 1, 2].map(|i| i64::from(p[i].wrapping_sub(b[i])));
    let (u, v) = (minus(a), minus(c));
    let cross = |i: usize, j: usize| (u[i] * v[j]).wrapping_sub(u[j] * v[i]);
    let mut normal = [cross(1, 2), cross(2, 0), cross(0, 1)];
    while normal.iter().any(|&n| n != i64::from(n as i32)) {
        normal = normal.map(|n| n >> 4);
    }
    normal.iter().zip(b).fold(0, |sum: i64, (n, p)| sum.wrapping_add(n * i64::from(p)))
}

/// Polygon flags that follow from POLYGON_ATTR and TEXIMAGE_PARAM alone.
pub fn kind(attributes: u32, texture: u32) -> Flags {
    let mut flags = Flags::empty();
    let mode = attributes >> 4 & 3;
    let has_alpha = matches!(texture >> 26 & 7, 1 | 6);
    flags.set(Flags::TRANSLUCENT, has_alpha || (1..31).contains(&alpha(attributes)));
    if mode == 3 {
        let is_mask = attributes >> 24 & 63 == 0;
        flags |= if is_mask { Flags::SHADOW_MASK } else { Flags::SHADOW };
    }
    flags
}

impl Polygon {
    /// Bounds, depth and normalised w, from its vertices.
    pub fn set_up(&mut self, vertices: &[Vertex]) {
        let vertices = &vertices[..vertices.len().min(MAX_VERTICES)];
        self.set_bounds(vertices);
        let bits = vertices.iter().map(|v| 32 - (v.position[3] as u32).leading_zeros()).max().unwrap_or(0);
        self.w_shift = 16 - bits.next_multiple_of(4) as i8;
        let no_w = vertices.iter().any(|v| v.position[3] == 0);
        self.flags.set(Flags::NEVER_DRAWN, no_w || self.bottom_y > 192);
        let is_w = self.flags.contains(Flags::W_BUFFERED);
        for (i, vertex) in vertices.iter().enumerate() {
            let [_, _, z, w] = vertex.position;
            let normalized = shift(w, self.w_shift);
            let depth = if is_w {
                i64::from(shift(normalized, -self.w_shift))
            } else if w == 0 {
                0x7f_fe00
            } else {
                (i64::from(z) * 0x4000 / i64::from(w) + 0x3fff) * 0x200
            };
            self.w[i] = normalized;
            self.depth[i] = depth.clamp(0, MAX_DEPTH.into()) as i32;
        }
    }

    fn set_bounds(&mut self, vertices: &[Vertex]) {
        let bounds = Bounds::new(vertices.iter().map(|v| v.screen.map(i32::from)), SCREEN_ROWS);
        (self.top, self.bottom) = (bounds.top, bounds.bottom);
        (self.top_y, self.bottom_y) = (bounds.top_y as i16, bounds.bottom_y as i16);
    }
}

/// Rows of the screen.
const SCREEN_ROWS: i32 = 192;

/// Where a polygon starts and ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Place of the first of the highest vertices.
    pub top: u8,
    /// Place of the first of the lowest that are rightmost.
    pub bottom: u8,
    /// Row of the highest, or the screen's last one if all are below.
    pub top_y: i32,
    /// Row of the lowest.
    pub bottom_y: i32,
}

impl Bounds {
    /// Of columns and rows of vertices, on a screen of so many rows.
    pub fn new(places: impl Iterator<Item = [i32; 2]>, rows: i32) -> Bounds {
        let mut out = Bounds { top: 0, bottom: 0, top_y: rows, bottom_y: 0 };
        let mut bottom_x = 0;
        for (i, [x, y]) in places.enumerate() {
            if y < out.top_y {
                (out.top_y, out.top) = (y, i as u8);
            }
            if [y, x] > [out.bottom_y, bottom_x] {
                (out.bottom_y, bottom_x, out.bottom) = (y, x, i as u8);
            }
        }
        out
    }
}

fn shift(value: i32, by: i8) -> i32 {
    if by >= 0 { value << by } else { value >> -by }
}

/// Polygons and vertices of a frame.
#[derive(Clone, Debug, Default)]
pub struct PolygonList {
    /// Vertex memory.
    pub vertices: Vec<Vertex>,
    /// Polygon memory, as submitted.
    pub polygons: Vec<Polygon>,
    /// Drawing order: places in polygon memory.
    pub order: Vec<u16>,
}

impl PolygonList {
    /// Room for a whole frame, so that none allocates.
    pub fn with_room() -> PolygonList {
        PolygonList {
            vertices: Vec::with_capacity(MAX_FRAME_VERTICES),
            polygons: Vec::with_capacity(MAX_POLYGONS),
            order: Vec::with_capacity(MAX_POLYGONS),
        }
    }

    /// Empties it.
    pub fn clear(&mut self) {
        self.vertices.clear();
        self.polygons.clear();
        self.order.clear();
    }

    /// The polygons that are drawn at all, in drawing order, with their places in polygon memory.
    pub(crate) fn drawn(&self) -> impl Iterator<Item = (u16, &Polygon)> {
        let is_there = |&index: &u16| usize::from(index) < self.vertices.len();
        let polygon = |&place: &u16| Some((place, self.polygons.get(usize::from(place))?));
        self.order.iter().filter_map(polygon).filter(move |(_, polygon)| {
            !polygon.flags.contains(Flags::NEVER_DRAWN)
                && polygon.len >= 2
                && polygon.indices().iter().all(is_there)
        })
    }

    /// Sorts for drawing: opaque ones first, by lower and then by upper row; translucent ones alike, or as submitted if
    /// `manual`.
    pub fn sort(&mut self, manual: bool) {
        self.order.clear();
        self.order.extend(0..self.polygons.len().min(MAX_POLYGONS) as u16);
        let polygons = &self.polygons;
        self.order.sort_unstable_by_key(|&i| {
            let Some(polygon) = polygons.get(usize::from(i)) else { return (true, 0, 0, i) };
            let is_translucent = polygon.flags.contains(Flags::TRANSLUCENT);
            let rows = if is_translucent && manual { (0, 0) } else { (polygon.bottom_y, polygon.top_y) };
            (is_translucent, rows.0, rows.1, i)
        });
    }
}

impl Stated for Polygon {
    /// What follows from its vertices is left out: [`PolygonList`] sets it up.
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        self.attributes.state(io)?;
        self.texture.state(io)?;
        self.palette.state(io)?;
        let mut flags = self.flags.bits();
        flags.state(io)?;
        self.flags = Flags::from_bits_truncate(flags);
        self.len.state(io)?;
        if !(2..=MAX_VERTICES as u8).contains(&self.len) {
            return io.contents("vertices of a polygon");
        }
        self.vertices.iter_mut().take(self.len.into()).try_for_each(|vertex| vertex.state(io))
    }
}

impl Stated for PolygonList {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        io.list(&mut self.vertices, MAX_FRAME_VERTICES)?;
        io.list(&mut self.polygons, MAX_POLYGONS)?;
        io.list(&mut self.order, MAX_POLYGONS)?;
        if !io.is_loading() {
            return Ok(());
        }
        if self.order.iter().any(|&place| usize::from(place) >= self.polygons.len()) {
            return io.contents("the order of polygons");
        }
        let memory = &self.vertices;
        for polygon in &mut self.polygons {
            let vertices = polygon.indices().iter().map(|&i| memory.get(usize::from(i)).copied());
            let Some(vertices) = vertices.collect::<Option<Vec<Vertex>>>() else {
                return io.contents("a vertex that is not in memory");
            };
            polygon.set_up(&vertices);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::vertex::Corner;
    use super::*;

    fn corners(points: [[i32; 3]; 3]) -> Corners {
        let mut out = Corners::default();
        for (corner, [x, y, w]) in out.iter_mut().zip(points) {
            *corner = Corner { position: [x, y, 0, w], ..Corner::default() };
        }
        out
    }

    fn polygon(points: &[([u16; 2], i32)]) -> Polygon {
        let memory: Vec<Vertex> = points
            .iter()
            .map(|&(screen, w)| Vertex { screen, position: [0, 0, 0, w], ..Vertex::default() })
            .collect();
        let mut out = Polygon { len: points.len() as u8, ..Polygon::default() };
        out.vertices = std::array::from_fn(|i| i as u16);
        out.set_up(&memory);
        out
    }

    #[test]
    fn facing_of_turns_and_edges() {
        let ccw = [[0, 0, 4096], [4096, 0, 4096], [0, 4096, 4096]];
        assert!(facing(&corners(ccw)) < 0);
        assert!(facing(&corners([ccw[1], ccw[0], ccw[2]])) > 0);
        assert_eq!(facing(&corners([ccw[0], ccw[0], ccw[2]])), 0);
        let huge = ccw.map(|p| p.map(|v| v << 18));
        assert!(facing(&corners(huge)) < 0);
    }

    #[test]
    fn w_is_normalized_up_and_down_in_steps_of_four() {
        let points = |w| [([0, 0], w), ([9, 0], 1), ([0, 9], 1)];
        assert_eq!(polygon(&points(0xfff)).w_shift, 4);
        assert_eq!(polygon(&points(0x1000)).w_shift, 0);
        assert_eq!(polygon(&points(0x10000)).w_shift, -4);
        assert_eq!(polygon(&points(0x10000)).w[0], 0x1000);
        assert_eq!(polygon(&points(0x10000)).w[1], 0);
    }

    #[test]
    fn no_w_and_rows_below_192_are_never_drawn() {
        assert!(polygon(&[([0, 0], 0), ([9, 0], 1), ([0, 9], 1)]).flags.contains(Flags::NEVER_DRAWN));
        assert!(polygon(&[([0, 0], 1), ([9, 193], 1), ([0, 9], 1)]).flags.contains(Flags::NEVER_DRAWN));
        assert!(!polygon(&[([0, 0], 1), ([9, 192], 1), ([0, 9], 1)]).flags.contains(Flags::NEVER_DRAWN));
    }

    #[test]
    fn wireframe_sorts_as_opaque() {
        let translucent = |attributes, texture| kind(attributes, texture).contains(Flags::TRANSLUCENT);
        assert!(!translucent(0, 0) && !translucent(31 << 16, 0) && translucent(1 << 16, 0));
        assert!(translucent(31 << 16, 1 << 26) && translucent(31 << 16, 6 << 26));
        assert_eq!(kind(0x30 | 31 << 16, 0), Flags::SHADOW_MASK);
        assert_eq!(kind(0x30 | 31 << 16 | 1 << 24, 0), Flags::SHADOW);
    }
}
