//! Wavefront OBJ.

use super::mesh::{Mesh, MeshError, MeshLimits};

/// Loads an OBJ file: polygons are split, vertex colours (`v x y z r g b`) are kept, materials are not read.
///
/// # Errors
/// What is not OBJ, or too large.
pub fn load_obj(bytes: &[u8], limits: &MeshLimits) -> Result<Mesh, MeshError> {
    if bytes.len() > limits.bytes {
        return Err(MeshError::Limit { what: "bytes", limit: limits.bytes });
    }
    let options = tobj::LoadOptions { triangulate: true, single_index: true, ..tobj::LoadOptions::default() };
    let mut reader = bytes;
    let (models, _) = tobj::load_obj_buf(&mut reader, &options, |_| Err(tobj::LoadError::OpenFileFailed))
        .map_err(|e| MeshError::Format(e.to_string()))?;
    let mut mesh = Mesh::default();
    for model in models {
        let first = mesh.positions.len() as u32;
        let part = model.mesh;
        mesh.positions.extend(part.positions.chunks_exact(3).map(|p| [p[0], p[1], p[2]]));
        mesh.colors.extend(part.vertex_color.chunks_exact(3).map(|c| [c[0], c[1], c[2], 1.0]));
        mesh.colors.resize(mesh.positions.len(), [1.0; 4]);
        let corner = |i: &u32| i.saturating_add(first);
        mesh.triangles
            .extend(part.indices.chunks_exact(3).map(|t| [corner(&t[0]), corner(&t[1]), corner(&t[2])]));
    }
    mesh.checked(limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polygons_and_colours_are_read() {
        let text = "v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 1 1 0 0 0 1\nv 0 1 0 1 1 1\nf 1 2 3 4\n";
        let mesh = load_obj(text.as_bytes(), &MeshLimits::default()).unwrap();
        assert_eq!((mesh.positions.len(), mesh.triangles.len()), (4, 2));
        assert_eq!(mesh.colors[1], [0.0, 1.0, 0.0, 1.0]);
        assert!(load_obj(b"v 0 0 0\nf 1 2 3\n", &MeshLimits::default()).is_err());
        assert!(load_obj(text.as_bytes(), &MeshLimits { vertices: 3, ..MeshLimits::default() }).is_err());
    }
}
