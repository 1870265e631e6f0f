//! From a primitive's corners to polygon memory.

use super::clip::{ClipPolygon, ClipVertex, How, MAX_VERTICES, clip, is_inside};
use super::engine::GeometryEngine;
use super::pipeline::Completed;
use super::polygon::{Attributes, Flags, MAX_FRAME_VERTICES, MAX_POLYGONS, Polygon, facing, kind};
use super::vertex::{Corner, Corners, Vertex};
use super::viewport::Place;
use crate::raster::Rules;

/// w is cut to this.
const W_MASK: i32 = 0xff_ffff;
/// Vertices a strip's polygon shares with the one before.
const SHARED: usize = 2;

impl GeometryEngine {
    /// Culls, clips, transforms and stores a polygon.
    pub(super) fn submit(&mut self, corners: &Corners) {
        let shared = self.shared_vertices();
        let stored = self.store(corners, shared);
        let primitive = self.assembly.primitive;
        self.completed = Some(Completed {
            is_kept: stored.is_some(),
            corners: primitive.corners(),
            is_strip: primitive.is_strip(),
        });
        self.strip = stored.filter(|_| primitive.is_strip());
    }

    /// Places in vertex memory of the vertices that the polygon at hand shares with the strip's one before.
    fn shared_vertices(&self) -> Option<[u16; SHARED]> {
        let before = self.back.polygons.get(self.strip?)?;
        if before.indices().len() != self.assembly.primitive.corners() {
            return None;
        }
        let places = self.assembly.shared().map(|place| before.vertices.get(place).copied().unwrap_or(0));
        let is_kept = |place: &u16| self.back.vertices.get(usize::from(*place)).is_some_and(|v| !v.clipped);
        places.iter().all(is_kept).then_some(places)
    }

    /// The polygon's place, unless it was dropped.
    fn store(&mut self, corners: &Corners, shared: Option<[u16; SHARED]>) -> Option<usize> {
        let attributes = Attributes::from_bits_truncate(self.attributes);
        let facing = facing(corners);
        let culled = (facing < 0 && !attributes.contains(Attributes::DRAW_FRONT))
            || (facing > 0 && !attributes.contains(Attributes::DRAW_BACK));
        if culled {
            return None;
        }
        let count = self.assembly.primitive.corners();
        let corners = corners.get(..count).unwrap_or_default();
        let start = if shared.is_some() { SHARED } else { 0 };
        let mut vertices = [Vertex::default(); MAX_VERTICES];
        let len = if corners.iter().skip(start).all(|corner| is_inside(corner.position)) {
            for (vertex, corner) in vertices.iter_mut().zip(corners).skip(start) {
                *vertex = self.vertex(corner, false);
            }
            count
        } else {
            self.clipped(&mut vertices, corners, shared)
        };
        if len == 0 {
            return None;
        }
        // What a vertex had when it was stored stays, though the viewport may have changed since.
        for (vertex, place) in vertices.iter_mut().zip(shared.iter().flatten()) {
            *vertex = self.back.vertices.get(usize::from(*place)).copied().unwrap_or_default();
        }
        let vertices = &vertices[..len];
        if !attributes.contains(Attributes::DRAW_ONE_DOT) && self.is_hidden_dot(vertices) {
            return None;
        }
        if self.back.polygons.len() >= MAX_POLYGONS || self.back.vertices.len() + len > MAX_FRAME_VERTICES {
            self.overflow = true;
            self.diagnostics.dropped_polygons += 1;
            return None;
        }

        let mut polygon = Polygon {
            attributes: self.attributes,
            texture: self.texture,
            palette: self.palette,
            flags: kind(self.attributes, self.texture),
            len: len as u8,
            ..Polygon::default()
        };
        polygon.flags.set(Flags::FRONT, facing <= 0);
        polygon.flags.set(Flags::W_BUFFERED, self.swap_buffers().w_buffering());
        let reused = shared.filter(|_| len == count);
        for (i, vertex) in vertices.iter().enumerate() {
            polygon.vertices[i] = match reused.and_then(|r| r.get(i).copied()) {
                Some(place) => place,
                None => {
                    self.back.vertices.push(*vertex);
                    self.back.vertices.len() as u16 - 1
                }
            };
        }
        polygon.set_up(vertices);
        self.back.polygons.push(polygon);
        Some(self.back.polygons.len() - 1)
    }

    /// Clips a polygon that is not wholly inside; how many vertices are left.
    fn clipped(
        &mut self,
        vertices: &mut [Vertex; MAX_VERTICES],
        corners: &[Corner],
        shared: Option<[u16; SHARED]>,
    ) -> usize {
        let attributes = Attributes::from_bits_truncate(self.attributes);
        let mut clipped = ClipPolygon::default();
        let start = if shared.is_some() { SHARED } else { 0 };
        for place in shared.iter().flatten() {
            let vertex = self.back.vertices.get(usize::from(*place)).copied().unwrap_or_default();
            let Vertex { position, color, texcoord, .. } = vertex;
            clipped.push(ClipVertex::new(&Corner { position, color, texcoord }));
        }
        corners.iter().skip(start).for_each(|corner| clipped.push(ClipVertex::new(corner)));
        let drop_far = !attributes.contains(Attributes::CLIP_FAR);
        clip(&mut clipped, How { start, drop_far, order: self.rules.contains(Rules::CLIP_ORDER) });
        self.diagnostics.clip_overflows += u64::from(clipped.overflowed);
        for (vertex, from) in vertices.iter_mut().zip(clipped.vertices()).skip(start) {
            *vertex = self.vertex(&from.corner(), from.clipped);
        }
        clipped.vertices().len()
    }

    /// A corner's place in vertex memory.
    #[inline]
    fn vertex(&self, corner: &Corner, clipped: bool) -> Vertex {
        let [x, y, z, w] = corner.position;
        let position = [x, y, z, w & W_MASK];
        let Place { pixel: screen, fraction } = self.viewport().transform(position);
        let Corner { color, texcoord, .. } = *corner;
        Vertex { position, screen, fraction, color, clipped, texcoord }
    }

    /// Whether a polygon is one pixel and far away.
    fn is_hidden_dot(&self, vertices: &[Vertex]) -> bool {
        let first = vertices.first().map(|v| v.screen);
        vertices.iter().all(|v| Some(v.screen) == first && v.position[3] > self.one_dot_limit)
    }
}
