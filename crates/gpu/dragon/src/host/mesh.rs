//! Models.

use super::image::Image;
use thiserror::Error;

/// Triangles with a colour at each vertex, and perhaps textures.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Mesh {
    /// Positions.
    pub positions: Vec<[f32; 3]>,
    /// Red, green, blue and alpha of each position, 0 to 1.
    pub colors: Vec<[f32; 4]>,
    /// Each position's place in the texture, 0 to 1 from left to right and from top to bottom; none where there is no
    /// texture.
    pub texcoords: Vec<Option<[f32; 2]>>,
    /// Corners, each below the number of positions; counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Each triangle's material; those that follow the last one have the first material.
    pub surfaces: Vec<u16>,
    /// Materials.
    pub materials: Vec<Material>,
    /// Textures; colours are multiplied by them.
    pub textures: Vec<Image>,
    /// What of the file is not in the model, for people.
    pub notes: Vec<String>,
}

/// What a surface is made of.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Material {
    /// Its name in the file; may be empty.
    pub name: String,
    /// Number of its texture.
    pub texture: Option<usize>,
}

/// Finds the files that a model names: its materials, textures and buffers.
pub type Files<'f> = &'f dyn Fn(&str) -> Option<Vec<u8>>;

/// Bounds on a loaded model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeshLimits {
    /// Bytes of a file.
    pub bytes: usize,
    /// Vertices; indices of the machine have 16 bits.
    pub vertices: usize,
    /// Triangles.
    pub triangles: usize,
    /// Materials; at most 65536.
    pub materials: usize,
    /// Textures.
    pub textures: usize,
}

impl Default for MeshLimits {
    fn default() -> MeshLimits {
        MeshLimits {
            bytes: 16 << 20,
            vertices: 1 << 16,
            triangles: 1 << 16,
            materials: 1 << 10,
            textures: 64,
        }
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
        if self.materials.is_empty() {
            self.materials.push(Material::default());
        }
        self.surfaces.resize(self.triangles.len(), 0);
        over("materials", self.materials.len(), limits.materials)?;
        over("textures", self.textures.len(), limits.textures)?;
        if self.surfaces.iter().any(|&m| usize::from(m) >= self.materials.len()) {
            return Err(MeshError::Outside("materials"));
        }
        if self.materials.iter().filter_map(|m| m.texture).any(|t| t >= self.textures.len()) {
            return Err(MeshError::Outside("textures"));
        }
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

    /// The model with a texture on all of it.
    pub fn textured(mut self, image: Image) -> Mesh {
        self.textures = vec![image];
        self.materials = vec![Material { texture: Some(0), ..Material::default() }];
        self.surfaces = vec![0; self.triangles.len()];
        self
    }

    /// Both models.
    pub(crate) fn join(mut self, mut other: Mesh) -> Mesh {
        for mesh in [&mut self, &mut other] {
            if mesh.materials.is_empty() {
                mesh.materials.push(Material::default());
            }
            mesh.surfaces.resize(mesh.triangles.len(), 0);
            mesh.texcoords.resize(mesh.positions.len(), None);
        }
        let first = self.positions.len() as u32;
        let [materials, textures] = [self.materials.len(), self.textures.len()];
        self.positions.extend(other.positions);
        self.colors.extend(other.colors);
        self.texcoords.extend(other.texcoords);
        self.triangles.extend(other.triangles.iter().map(|t| t.map(|i| i + first)));
        self.surfaces.extend(other.surfaces.iter().map(|m| m.saturating_add(materials as u16)));
        let moved = |m: Material| Material { texture: m.texture.map(|t| t + textures), ..m };
        self.materials.extend(other.materials.into_iter().map(moved));
        self.textures.extend(other.textures);
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
