//! Wavefront OBJ and its materials.

use super::image::Image;
use super::mesh::{Files, Material, Mesh, MeshError, MeshLimits};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// Files of materials that are read; further ones are not.
const MAX_LIBRARIES: u32 = 16;

/// Loads an OBJ file: polygons are split; vertex colours (`v x y z r g b`) are kept, multiplied by the material's diffuse
/// colour (`Kd`) and opacity (`d`); its diffuse picture (`map_Kd`) is the texture, a PNG. What cannot be read of materials is
/// in [`Mesh::notes`].
///
/// # Errors
/// What is not OBJ, or too large.
pub fn load_obj(bytes: &[u8], files: Files<'_>, limits: &MeshLimits) -> Result<Mesh, MeshError> {
    let small = |bytes: &[u8]| match bytes.len() <= limits.bytes {
        true => Ok(()),
        false => Err(MeshError::Limit { what: "bytes", limit: limits.bytes }),
    };
    small(bytes)?;
    let options = tobj::LoadOptions { triangulate: true, single_index: true, ..tobj::LoadOptions::default() };
    let (notes, loaded) = (RefCell::new(Vec::new()), Cell::new(0));
    let materials = |path: &std::path::Path| {
        let name = path.to_string_lossy();
        if loaded.replace(loaded.get() + 1) >= MAX_LIBRARIES {
            return Err(tobj::LoadError::GenericFailure);
        }
        match files(&name).filter(|bytes| small(bytes).is_ok()) {
            Some(bytes) => Ok(read_materials(&bytes)),
            None => {
                notes.borrow_mut().push(format!("{name}: no such file of materials"));
                Err(tobj::LoadError::OpenFileFailed)
            }
        }
    };
    let mut reader = bytes;
    let (models, materials) =
        tobj::load_obj_buf(&mut reader, &options, materials).map_err(|e| MeshError::Format(e.to_string()))?;
    let mut notes = notes.into_inner();
    let materials = materials.unwrap_or_else(|e| {
        if notes.is_empty() {
            notes.push(format!("materials: {e}"));
        }
        Vec::new()
    });
    // The first material is that of faces without one.
    let mut mesh = Mesh { materials: vec![Material::default()], ..Mesh::default() };
    if materials.len() > limits.materials {
        return Err(MeshError::Limit { what: "materials", limit: limits.materials });
    }
    // What became of the pictures that materials name.
    let mut pictures: HashMap<&str, Option<usize>> = HashMap::new();
    for material in &materials {
        let texture = material.diffuse_texture.as_deref().and_then(|name| {
            *pictures.entry(name).or_insert_with(|| match files(name).map(|bytes| Image::from_png(&bytes)) {
                Some(Ok(image)) if mesh.textures.len() < limits.textures => {
                    mesh.textures.push(image);
                    Some(mesh.textures.len() - 1)
                }
                Some(Ok(_)) => {
                    notes.push(format!("{name}: more textures than {}", limits.textures));
                    None
                }
                Some(Err(e)) => {
                    notes.push(format!("{name}: no PNG: {e}"));
                    None
                }
                None => {
                    notes.push(format!("{name}: no such file"));
                    None
                }
            })
        });
        mesh.materials.push(Material { name: material.name.clone(), texture });
    }
    for model in models {
        let first = mesh.positions.len() as u32;
        let part = model.mesh;
        let material = part.material_id.and_then(|n| materials.get(n));
        let [r, g, b] = material.and_then(|m| m.diffuse).unwrap_or([1.0; 3]);
        let alpha = material.and_then(|m| m.dissolve).unwrap_or(1.0).clamp(0.0, 1.0);
        mesh.positions.extend(part.positions.chunks_exact(3).map(|p| [p[0], p[1], p[2]]));
        mesh.colors.extend(part.vertex_color.chunks_exact(3).map(|c| [c[0] * r, c[1] * g, c[2] * b, alpha]));
        mesh.colors.resize(mesh.positions.len(), [r, g, b, alpha]);
        let surface = part.material_id.map_or(0, |n| n + 1);
        if mesh.materials.get(surface).is_some_and(|m| m.texture.is_some()) {
            // OBJ counts rows from the bottom.
            let place = |t: &[f32]| Some([t[0], 1.0 - t[1]].map(within));
            mesh.texcoords.resize(first as usize, None);
            mesh.texcoords.extend(part.texcoords.chunks_exact(2).map(place));
        }
        mesh.texcoords.resize(mesh.positions.len(), None);
        let corner = |i: &u32| i.saturating_add(first);
        mesh.triangles
            .extend(part.indices.chunks_exact(3).map(|t| [corner(&t[0]), corner(&t[1]), corner(&t[2])]));
        let surface = u16::try_from(surface).unwrap_or(u16::MAX);
        mesh.surfaces.resize(mesh.triangles.len(), surface);
    }
    mesh.notes = notes;
    mesh.checked(limits)
}

/// What is used of a file of materials. `tobj::load_mtl_buf` is not: it panics where a colour has less than three numbers
/// (`tobj` 4.0.5, `parse_float3`).
fn read_materials(bytes: &[u8]) -> (Vec<tobj::Material>, HashMap<String, usize>) {
    let text = String::from_utf8_lossy(bytes);
    let mut materials: Vec<tobj::Material> = Vec::new();
    for line in text.lines() {
        let (word, rest) = line.trim().split_once(char::is_whitespace).unwrap_or_default();
        let rest = rest.trim();
        let numbers: Vec<f32> = rest.split_whitespace().map_while(|n| n.parse().ok()).collect();
        if word == "newmtl" {
            materials.push(tobj::Material { name: rest.into(), ..tobj::Material::default() });
        }
        let Some(material) = materials.last_mut() else { continue };
        match (word, numbers.as_slice()) {
            ("Kd", &[r, g, b, ..]) => material.diffuse = Some([r, g, b]),
            ("d", &[alpha, ..]) => material.dissolve = Some(alpha),
            ("Tr", &[transparency, ..]) => material.dissolve = Some(1.0 - transparency),
            // Options come before the name.
            ("map_Kd", _) => material.diffuse_texture = rest.split_whitespace().last().map(str::to_owned),
            _ => {}
        }
    }
    let names = materials.iter().enumerate().map(|(n, m)| (m.name.clone(), n)).collect();
    (materials, names)
}

/// A coordinate of a texture that repeats, from 0 to 1.
pub(crate) fn within(v: f32) -> f32 {
    if (0.0..=1.0).contains(&v) { v } else { v - v.floor() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing(_: &str) -> Option<Vec<u8>> {
        None
    }

    #[test]
    fn polygons_and_colours_are_read() {
        let text = "v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 1 1 0 0 0 1\nv 0 1 0 1 1 1\nf 1 2 3 4\n";
        let load = |bytes: &[u8], limits: MeshLimits| load_obj(bytes, &nothing, &limits);
        let mesh = load(text.as_bytes(), MeshLimits::default()).unwrap();
        assert_eq!((mesh.positions.len(), mesh.triangles.len()), (4, 2));
        assert_eq!(mesh.colors[1], [0.0, 1.0, 0.0, 1.0]);
        assert!(load(b"v 0 0 0\nf 1 2 3\n", MeshLimits::default()).is_err());
        assert!(load(text.as_bytes(), MeshLimits { vertices: 3, ..MeshLimits::default() }).is_err());
    }

    #[test]
    fn materials_and_their_pictures_are_read() {
        let mut png = Vec::new();
        let mut encoder = png::Encoder::new(&mut png, 8, 8);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.write_header().unwrap().write_image_data(&[90; 64]).unwrap();
        let files = |name: &str| {
            match name {
            "two.mtl" => Some(
                b"newmtl red\nKd 1 0 0\nd 0.5\nnewmtl wood\nKd 1 1 1\nmap_Kd wood.png\nnewmtl lost\nmap_Kd lost.png\n"
                    .to_vec(),
            ),
            "wood.png" => Some(png.clone()),
            _ => None,
        }
        };
        let text = "mtllib two.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nvt 0 0\nvt 1 0\nvt 1 0.25\n\
                    usemtl red\nf 1 2 3\nusemtl wood\nf 1/1 2/2 3/3\nusemtl lost\nf 1/1 2/2 3/3\n";
        let mesh = load_obj(text.as_bytes(), &files, &MeshLimits::default()).unwrap();
        let (broken, _) = read_materials(
            b"Kd 1\nnewmtl\nnewmtl a\nKd 1 2\nd\nmap_Kd\nnewmtl b\nTr 0.25\nmap_Kd -s 1 1 c.png",
        );
        assert_eq!(broken.len(), 2);
        assert_eq!((broken[0].diffuse, broken[1].dissolve), (None, Some(0.75)));
        assert_eq!(broken[1].diffuse_texture.as_deref(), Some("c.png"));
        let names: Vec<(&str, Option<usize>)> = mesh
            .surfaces
            .iter()
            .map(|&m| &mesh.materials[usize::from(m)])
            .map(|m| (m.name.as_str(), m.texture))
            .collect();
        assert_eq!(names, [("red", None), ("wood", Some(0)), ("lost", None)]);
        assert_eq!(mesh.textures, [Image::new(8, 8, |_, _| [90, 90, 90, 255])]);
        let corner = |t: usize, n: usize| mesh.triangles[t][n] as usize;
        assert_eq!(mesh.colors[corner(0, 0)], [1.0, 0.0, 0.0, 0.5]);
        assert_eq!(mesh.texcoords[corner(1, 2)], Some([1.0, 0.75]));
        assert_eq!(mesh.texcoords[corner(0, 0)], None);
        assert_eq!(mesh.notes, ["lost.png: no such file"]);
        let alone = load_obj(text.as_bytes(), &nothing, &MeshLimits::default()).unwrap();
        assert!(alone.textures.is_empty() && alone.notes[0].contains("two.mtl"), "{:?}", alone.notes);
    }
}
