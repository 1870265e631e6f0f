//! Models.

use super::image::Image;
use thiserror::Error;

/// Triangles with a colour at each vertex, and perhaps a texture.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Mesh {
    /// Positions.
    pub positions: Vec<[f32; 3]>,
    /// Red, green, blue and alpha of each position, 0 to 1.
    pub colors: Vec<[f32; 4]>,
    /// Each position's place in the texture, 0 to 1 from left to right and from top to bottom; none where there is no
    /// texture.
    pub texcoords: Vec<Option<[f32; 2]>>,
    /// The texture; colours are multiplied by it.
    pub texture: Option<Image>,
    /// Corners, each below the number of positions; counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// Bounds on a loaded model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeshLimits {
    /// Bytes of a file.
    pub bytes: usize,
    /// Vertices; indices of the machine have 16 bits.
    pub vertices: usize,
    /// Triangles.
    pub triangles: usize,
}

impl Default for MeshLimits {
    fn default() -> MeshLimits {
        MeshLimits { bytes: 16 << 20, vertices: 1 << 16, triangles: 1 << 16 }
    }
}

/// Why a file is no model.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum MeshError {
    /// Larger than the limits.
    #[error("more {what} than {limit}")]
    Limit {
        /// Of what.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// Not readable.
    #[error("{0}")]
    Format(String),
    /// An index or a part outside of what there is.
    #[error("{0} lie outside of what there is")]
    Outside(&'static str),
}

impl Mesh {
    /// A model within the limits, or why not. Values that are not finite become 0.
    pub(crate) fn checked(mut self, limits: &MeshLimits) -> Result<Mesh, MeshError> {
        let over = |what, n: usize, limit: usize| {
            if n > limit { Err(MeshError::Limit { what, limit }) } else { Ok(()) }
        };
        over("vertices", self.positions.len(), limits.vertices)?;
        over("triangles", self.triangles.len(), limits.triangles)?;
        self.colors.resize(self.positions.len(), [1.0; 4]);
        self.texcoords.resize(self.positions.len(), None);
        let n = self.positions.len();
        if self.triangles.iter().flatten().any(|&i| i as usize >= n) {
            return Err(MeshError::Outside("indices"));
        }
        let finite = |v: &mut f32| *v = if v.is_finite() { *v } else { 0.0 };
        self.positions.iter_mut().flatten().for_each(finite);
        self.colors.iter_mut().flatten().for_each(finite);
        self.texcoords.iter_mut().flatten().flatten().for_each(finite);
        Ok(self)
    }

    /// Whether a triangle is seen through.
    pub(crate) fn is_translucent(&self, triangle: &[u32; 3]) -> bool {
        triangle.iter().any(|&i| self.colors.get(i as usize).is_some_and(|c| c[3] < 1.0))
    }

    /// Both models, with the first one's texture.
    pub(crate) fn join(mut self, other: Mesh) -> Mesh {
        let first = self.positions.len() as u32;
        self.positions.extend(other.positions);
        self.colors.extend(other.colors);
        self.texcoords.resize(first as usize, None);
        self.texcoords.resize(self.positions.len(), None);
        self.triangles.extend(other.triangles.iter().map(|t| t.map(|i| i + first)));
        self
    }

    /// The model moved and scaled so that it fits a sphere of radius 1 around the origin.
    pub fn centred(mut self) -> Mesh {
        let bound = |pick: fn(f32, f32) -> f32, start: f32| -> [f32; 3] {
            std::array::from_fn(|n| self.positions.iter().fold(start, |v, p| pick(v, p[n])))
        };
        let (low, high) = (bound(f32::min, f32::MAX), bound(f32::max, f32::MIN));
        let middle: [f32; 3] = std::array::from_fn(|n| low[n] / 2.0 + high[n] / 2.0);
        let length = |p: &[f32; 3]| p.iter().zip(middle).map(|(v, m)| (v - m) * (v - m)).sum::<f32>().sqrt();
        let radius = self.positions.iter().map(length).fold(0.0, f32::max);
        let scale = if radius > 0.0 && radius.is_finite() { 1.0 / radius } else { 1.0 };
        for p in &mut self.positions {
            *p = std::array::from_fn(|n| (p[n] - middle[n]) * scale);
        }
        self
    }
}
