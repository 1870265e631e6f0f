//! The clipper: z, y, x in this order, +w before -w.

use super::vertex::Corner;

/// Most vertices of a clipped polygon.
pub const MAX_VERTICES: usize = 10;

/// Fraction of a colour in the clipper: all ones.
const COLOR_FRACTION: i32 = 0xfff;

/// A vertex in the clipper.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClipVertex {
    /// Clip coordinates.
    pub position: [i32; 4],
    /// Red, green and blue: 5 bits, then 12 of fraction.
    color: [i32; 3],
    /// Texture coordinates, 12.4.
    pub texcoord: [i16; 2],
    /// Made or moved here.
    pub clipped: bool,
}

impl ClipVertex {
    /// As the clipper takes it.
    #[inline]
    pub fn new(corner: &Corner) -> ClipVertex {
        ClipVertex {
            position: corner.position,
            color: corner.color.map(|c| i32::from(c) << 12 | COLOR_FRACTION),
            texcoord: corner.texcoord,
            clipped: false,
        }
    }

    /// As the clipper leaves it: colours of 5 bits.
    #[inline]
    pub fn corner(&self) -> Corner {
        let ClipVertex { position, color, texcoord, .. } = *self;
        Corner { position, color: color.map(|c| (c >> 12 & 31) as u8), texcoord }
    }
}

/// Whether clip coordinates lie within all six planes.
#[inline]
pub fn is_inside([x, y, z, w]: [i32; 4]) -> bool {
    [x, y, z].iter().all(|&v| v <= w && v >= w.wrapping_neg())
}

/// Vertices of a polygon in order.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClipPolygon {
    vertices: [ClipVertex; MAX_VERTICES],
    len: usize,
    /// More than [`MAX_VERTICES`] came out of a plane; the first were kept.
    pub overflowed: bool,
}

impl ClipPolygon {
    /// Appends a vertex, or notes that there is no room.
    #[inline]
    pub fn push(&mut self, vertex: ClipVertex) {
        match self.vertices.get_mut(self.len) {
            Some(place) => {
                *place = vertex;
                self.len += 1;
            }
            None => self.overflowed = true,
        }
    }

    /// The vertices.
    #[inline]
    pub fn vertices(&self) -> &[ClipVertex] {
        self.vertices.get(..self.len).unwrap_or_default()
    }
}

/// A plane: coordinate `AXIS` is at most w, or with `NEGATIVE` at least -w.
struct Plane<const AXIS: usize, const NEGATIVE: bool>;

impl<const AXIS: usize, const NEGATIVE: bool> Plane<AXIS, NEGATIVE> {
    #[inline]
    fn is_outside(v: &ClipVertex) -> bool {
        if NEGATIVE {
            v.position[AXIS] < v.position[3].wrapping_neg()
        } else {
            v.position[AXIS] > v.position[3]
        }
    }

    fn distance(v: &ClipVertex) -> i32 {
        let along = v.position[AXIS];
        v.position[3].wrapping_sub(if NEGATIVE { along.wrapping_neg() } else { along })
    }

    /// Where the edge meets the plane, interpolated from the vertex outside.
    fn cut(outside: &ClipVertex, inside: &ClipVertex) -> ClipVertex {
        let part = i64::from(Self::distance(outside));
        let whole = part.wrapping_sub(i64::from(Self::distance(inside))) as i32;
        let between = |a: i32, b: i32| {
            let scaled = i64::from(b.wrapping_sub(a)).wrapping_mul(part);
            let step = if whole == 0 { 0 } else { scaled.wrapping_div(i64::from(whole)) };
            i64::from(a).wrapping_add(step) as i32
        };
        let mut out = ClipVertex { clipped: true, ..*outside };
        for i in 0..4 {
            out.position[i] = between(outside.position[i], inside.position[i]);
        }
        let w = out.position[3];
        out.position[AXIS] = if NEGATIVE { w.wrapping_neg() } else { w };
        for i in 0..3 {
            out.color[i] = between(outside.color[i], inside.color[i]);
        }
        for i in 0..2 {
            out.texcoord[i] = between(outside.texcoord[i].into(), inside.texcoord[i].into()) as i16;
        }
        out
    }

    /// Clips; the first `start` vertices are passed on as they are.
    fn clip(polygon: &mut ClipPolygon, how: How) {
        let start = how.start;
        let vertices = polygon.vertices();
        if !vertices.iter().skip(start).any(Self::is_outside) {
            return;
        }
        let mut out = ClipPolygon { overflowed: polygon.overflowed, ..ClipPolygon::default() };
        let mut last = None;
        for (i, vertex) in vertices.iter().enumerate() {
            if i < start || !Self::is_outside(vertex) {
                out.push(*vertex);
                continue;
            }
            let previous = &vertices[(i + vertices.len() - 1) % vertices.len()];
            let next = &vertices[(i + 1) % vertices.len()];
            for (neighbor, is_previous) in [(previous, true), (next, false)] {
                if Self::is_outside(neighbor) {
                    continue;
                }
                let cut = Self::cut(vertex, neighbor);
                if i == 0 && is_previous && how.order {
                    last = Some(cut);
                } else {
                    out.push(cut);
                }
            }
        }
        if let Some(vertex) = last {
            out.push(vertex);
        }
        *polygon = out;
    }
}

fn clip_axis<const AXIS: usize>(polygon: &mut ClipPolygon, how: How) {
    Plane::<AXIS, false>::clip(polygon, how);
    Plane::<AXIS, true>::clip(polygon, how);
    // Colours fall back to 5 bits.
    for vertex in &mut polygon.vertices {
        vertex.color = vertex.color.map(|c| c | COLOR_FRACTION);
    }
}

/// How a polygon is clipped.
#[derive(Clone, Copy, Debug, Default)]
pub struct How {
    /// Vertices at its beginning that are known to be inside.
    pub start: usize,
    /// One vertex beyond the far plane drops the whole polygon, but for those `start` vertices: of a strip's polygon two are
    /// left.
    pub drop_far: bool,
    /// The vertex that the edge from the last to the first makes comes last
    /// ([`Rules::CLIP_ORDER`](crate::raster::Rules::CLIP_ORDER)).
    pub order: bool,
}

/// Clips a polygon.
pub fn clip(polygon: &mut ClipPolygon, how: How) {
    let How { start, drop_far, .. } = how;
    if polygon.vertices().iter().skip(start).all(|vertex| is_inside(vertex.position)) {
        return;
    }
    if drop_far && polygon.vertices().iter().skip(start).any(Plane::<2, false>::is_outside) {
        polygon.len = start.min(polygon.len);
        return;
    }
    clip_axis::<2>(polygon, how);
    clip_axis::<1>(polygon, how);
    clip_axis::<0>(polygon, how);
}

#[cfg(test)]
mod tests {
    use super::*;

    const DROPPING: How = How { start: 0, drop_far: true, order: false };

    fn polygon(corners: &[[i32; 4]]) -> ClipPolygon {
        let mut out = ClipPolygon::default();
        for &position in corners {
            out.push(ClipVertex::new(&Corner { position, color: [31, 0, 7], texcoord: [0; 2] }));
        }
        out
    }

    #[test]
    fn one_vertex_beyond_far_drops_the_polygon() {
        let corners = [[0, 0, 0, 100], [50, 0, 0, 100], [0, 50, 101, 100]];
        let mut dropped = polygon(&corners);
        clip(&mut dropped, DROPPING);
        assert!(dropped.vertices().is_empty());
        let mut kept = polygon(&corners);
        clip(&mut kept, How::default());
        assert_eq!(kept.vertices().len(), 4);
        // From outside: 0 + (50 * -1) / -101, cut towards zero.
        assert_eq!(kept.vertices()[2].position, [0, 50, 100, 100]);
    }

    #[test]
    fn a_crossed_quad_keeps_ten_vertices() {
        // Corners of a non-planar quad outside of different planes.
        let far = 4000;
        let mut quad =
            polygon(&[[far, far, far, 1], [-far, -far, far, 1], [far, -far, -far, 1], [-far, far, -far, 1]]);
        clip(&mut quad, How::default());
        assert!(quad.vertices().len() <= MAX_VERTICES);
        let mut full = polygon(&[[0; 4]; MAX_VERTICES]);
        full.push(ClipVertex::default());
        assert!(full.overflowed);
        assert_eq!(full.vertices().len(), MAX_VERTICES);
    }

    /// The list begins with the vertex towards the second, and ends with that towards the last.
    #[test]
    fn what_the_last_edge_makes_comes_last_on_the_console() {
        let corners = [[-200, 0, 0, 100], [50, 0, 0, 100], [50, 50, 0, 100], [0, 80, 0, 100]];
        let clipped = |order| {
            let mut polygon = polygon(&corners);
            clip(&mut polygon, How { order, ..How::default() });
            polygon.vertices().iter().map(|v| v.position).collect::<Vec<_>>()
        };
        let mut listed = clipped(false);
        assert_eq!((listed.len(), listed[2..].to_vec()), (5, corners[1..].to_vec()));
        listed.rotate_left(1);
        assert_eq!(clipped(true), listed);
    }

    /// y before x, seen by the colours, which lose their fraction after each axis.
    #[test]
    fn y_is_clipped_before_x() {
        let mut corner = ClipPolygon::default();
        for (position, red) in [([0, 0, 0, 100], 0), ([200, 300, 0, 100], 27), ([-50, 0, 0, 100], 0)] {
            corner.push(ClipVertex::new(&Corner { position, color: [red, 0, 0], texcoord: [0; 2] }));
        }
        clip(&mut corner, DROPPING);
        let cut = corner.vertices()[1];
        // A third of 27 and 4,095 of 4,096. By way of x: half of it is 14, a third off is 10.
        assert_eq!((cut.position, cut.corner().color), ([67, 100, 0, 100], [9, 0, 0]));
    }

    #[test]
    fn inside_is_untouched() {
        let mut inside = polygon(&[[-100, 0, 0, 100], [100, 100, 0, 100], [0, 0, -100, 100]]);
        clip(&mut inside, DROPPING);
        assert!(inside.vertices().iter().all(|v| !v.clipped));
        assert_eq!(inside.vertices()[0].corner().color, [31, 0, 7]);
    }
}
