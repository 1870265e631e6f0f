//! Tests and what the guest can read back.

use super::clip::{ClipPolygon, ClipVertex, How, clip};
use super::engine::GeometryEngine;
use super::light::vector10;
use super::matrix::ONE;
use super::polygon::Attributes;
use super::vertex::Corner;

/// Corners of the six faces of a box; bit 0 of a corner is its x, bit 1 its y, bit 2 its z.
const FACES: [[usize; 4]; 6] =
    [[0, 1, 3, 2], [6, 7, 5, 4], [2, 3, 7, 6], [0, 1, 5, 4], [0, 2, 6, 4], [1, 3, 7, 5]];

/// Registers that the guest can read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Readback {
    /// GXSTAT's bits of the engine alone: \[1\] box test, \[12:8\] and \[13\] stack levels, \[15\] stack error.
    pub status: u32,
    /// CLIPMTX_RESULT, 0x04000640.
    pub clip_matrix: [i32; 16],
    /// VECMTX_RESULT, 0x04000680.
    pub vector_matrix: [i32; 9],
    /// POS_RESULT, 0x04000620: x, y, z, w.
    pub position: [i32; 4],
    /// VEC_RESULT, 0x04000630.
    pub vector: [i16; 3],
    /// Polygons in polygon memory, 0x04000604.
    pub polygons: u16,
    /// Vertices in vertex memory, 0x04000606.
    pub vertices: u16,
}

impl GeometryEngine {
    /// GXSTAT's bits of the engine alone.
    pub fn status(&self) -> u32 {
        u32::from(self.box_result) << 1
            | self.matrices.position_level() << 8
            | self.matrices.projection_level() << 13
            | u32::from(self.matrices.error) << 15
    }

    /// What the guest can read now.
    pub fn readback(&mut self) -> Readback {
        Readback {
            status: self.status(),
            clip_matrix: self.matrices.clip().0,
            vector_matrix: self.matrices.vector().upper_3x3(),
            position: self.position_result,
            vector: self.vector_result,
            polygons: self.back.polygons.len() as u16,
            vertices: self.back.vertices.len() as u16,
        }
    }

    /// BOX_TEST: whether anything of the six faces is left after clipping.
    pub(super) fn box_test(&mut self, params: [u32; 3]) {
        let half = |i: usize| (params[i / 2] >> (i % 2 * 16)) as i16;
        let near: [i16; 3] = std::array::from_fn(half);
        let far: [i16; 3] = std::array::from_fn(|i| near[i].wrapping_add(half(i + 3)));
        let clip_matrix = *self.matrices.clip();
        let corners: [ClipVertex; 8] = std::array::from_fn(|corner| {
            let [x, y, z] = [0, 1, 2].map(|i| i32::from(if corner >> i & 1 != 0 { far[i] } else { near[i] }));
            let position = clip_matrix.transform([x, y, z, ONE]);
            ClipVertex::new(&Corner { position, ..Corner::default() })
        });
        let drop_far = !Attributes::from_bits_truncate(self.attributes).contains(Attributes::CLIP_FAR);
        self.box_result = FACES.iter().any(|face| {
            let mut polygon = ClipPolygon::default();
            face.iter().for_each(|&i| polygon.push(corners[i]));
            clip(&mut polygon, How { drop_far, ..How::default() });
            !polygon.vertices().is_empty()
        });
    }

    /// POS_TEST: also moves the current vertex.
    pub(super) fn position_test(&mut self, params: [u32; 2]) {
        self.vertex = [params[0] as i16, (params[0] >> 16) as i16, params[1] as i16];
        let [x, y, z] = self.vertex.map(i32::from);
        self.position_result = self.matrices.clip().transform([x, y, z, ONE]);
    }

    /// VEC_TEST: 4.12, where bit 12 set makes all bits above it ones; clear it leaves them as they are.
    pub(super) fn vector_test(&mut self, param: u32) {
        let sums = self.matrices.vector().rotate(vector10(param));
        self.vector_result = sums.map(|sum| {
            let component = (sum >> 9) as i16;
            if component & 0x1000 != 0 { component | !0xfff } else { component }
        });
    }
}
