//! glTF 2.0 as GLB or JSON.
//!
//! Only what a model of triangles needs is read. The `gltf` crate is not used: its validation indexes with numbers from
//! the file and panics on some (`gltf-json` 1.4.1, `mesh.rs`, `primitive_validate_hook`).

mod node;

use self::node::{IDENTITY, Matrix, Node, mirrors, multiply, place};
use super::image::Image;
use super::mesh::{Files, Material, Mesh, MeshError, MeshLimits};
use super::obj::within;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::HashMap;

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Document {
    accessors: Vec<Accessor>,
    buffers: Vec<Buffer>,
    buffer_views: Vec<BufferView>,
    scene: Option<usize>,
    scenes: Vec<SceneNode>,
    nodes: Vec<Node>,
    meshes: Vec<MeshNode>,
    materials: Vec<MaterialNode>,
    textures: Vec<TextureNode>,
    images: Vec<ImageNode>,
}

#[derive(Deserialize)]
struct Buffer {
    uri: Option<String>,
}

#[derive(Deserialize)]
struct SceneNode {
    #[serde(default)]
    nodes: Vec<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Accessor {
    buffer_view: Option<usize>,
    #[serde(default)]
    byte_offset: usize,
    component_type: u32,
    count: usize,
    r#type: String,
    sparse: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BufferView {
    buffer: usize,
    #[serde(default)]
    byte_offset: usize,
    #[serde(default)]
    byte_length: usize,
    byte_stride: Option<usize>,
}

#[derive(Deserialize)]
struct TextureNode {
    source: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ImageNode {
    buffer_view: Option<usize>,
    uri: Option<String>,
}

#[derive(Deserialize)]
struct MeshNode {
    primitives: Vec<Primitive>,
}

#[derive(Deserialize)]
struct Primitive {
    attributes: Attributes,
    indices: Option<usize>,
    material: Option<usize>,
    #[serde(default = "triangles")]
    mode: u32,
}

#[derive(Deserialize)]
struct Attributes {
    #[serde(rename = "POSITION")]
    position: Option<usize>,
    #[serde(rename = "COLOR_0")]
    color: Option<usize>,
    #[serde(rename = "TEXCOORD_0")]
    texcoord: Option<usize>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct MaterialNode {
    name: String,
    pbr_metallic_roughness: Roughness,
    alpha_mode: String,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "camelCase", default)]
struct Roughness {
    base_color_factor: [f32; 4],
    base_color_texture: Option<TextureRef>,
}

#[derive(Deserialize, Clone, Copy)]
struct TextureRef {
    index: usize,
}

impl Default for Roughness {
    fn default() -> Roughness {
        Roughness { base_color_factor: [1.0; 4], base_color_texture: None }
    }
}

/// `mode` of primitives that are triangles.
const TRIANGLES: u32 = 4;

fn triangles() -> u32 {
    TRIANGLES
}

/// `componentType`s.
const UNSIGNED_BYTE: u32 = 5121;
const UNSIGNED_SHORT: u32 = 5123;
const UNSIGNED_INT: u32 = 5125;
const FLOAT: u32 = 5126;

/// The JSON and the binary chunk of a GLB; JSON alone has no binary chunk.
fn chunks(bytes: &[u8]) -> Result<(&[u8], &[u8]), MeshError> {
    let Some(mut rest) = bytes.strip_prefix(b"glTF") else { return Ok((bytes, &[])) };
    rest = rest.get(8..).unwrap_or_default();
    let (mut json, mut binary) = (None, None);
    while let Some((header, body)) = rest.split_at_checked(8) {
        let length = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize;
        let (chunk, after) = body.split_at_checked(length).ok_or(MeshError::Outside("chunks"))?;
        match &header[4..] {
            b"JSON" => json = json.or(Some(chunk)),
            b"BIN\0" => binary = binary.or(Some(chunk)),
            _ => {}
        }
        rest = after;
    }
    Ok((json.ok_or_else(|| MeshError::Format("no JSON chunk".into()))?, binary.unwrap_or_default()))
}

/// Loads the triangles of a glTF file's scene: all nodes' meshes where the nodes put them, or all meshes as they are where
/// there are no nodes. Buffers are the file's own (GLB) or others, which `files` finds. Base colours are those of vertices
/// and materials, base colour textures PNGs. What cannot be read of materials is in [`Mesh::notes`].
///
/// # Errors
/// The file is not glTF, exceeds the limits, or has dangling references.
pub fn load_gltf(bytes: &[u8], files: Files<'_>, limits: &MeshLimits) -> Result<Mesh, MeshError> {
    if bytes.len() > limits.bytes {
        return Err(MeshError::Limit { what: "bytes", limit: limits.bytes });
    }
    let (json, blob) = chunks(bytes)?;
    let document: Document = serde_json::from_slice(json).map_err(|e| MeshError::Format(e.to_string()))?;
    let buffers = document.buffers(blob, files, limits)?;
    // The first material is that of primitives without one.
    let mut mesh = Mesh { materials: vec![Material::default()], ..Mesh::default() };
    if document.materials.len() > limits.materials {
        return Err(MeshError::Limit { what: "materials", limit: limits.materials });
    }
    // What became of the file's textures.
    let mut sources: HashMap<usize, Option<usize>> = HashMap::new();
    for node in &document.materials {
        let index = node.pbr_metallic_roughness.base_color_texture.map(|t| t.index);
        let texture = match index.map(|index| (index, sources.get(&index))) {
            None => None,
            Some((_, Some(&known))) => known,
            Some((index, None)) => {
                if mesh.textures.len() >= limits.textures {
                    return Err(MeshError::Limit { what: "textures", limit: limits.textures });
                }
                let texture = match document.image(index, &buffers, files)? {
                    Ok(image) => {
                        mesh.textures.push(image);
                        Some(mesh.textures.len() - 1)
                    }
                    Err(note) => {
                        mesh.notes.push(note);
                        None
                    }
                };
                sources.insert(index, texture);
                texture
            }
        };
        mesh.materials.push(Material { name: node.name.clone(), texture });
    }
    let mut primitives = 0;
    for (number, matrix) in document.instances()? {
        let node = document.meshes.get(number).ok_or(MeshError::Outside("meshes"))?;
        for primitive in &node.primitives {
            // Those without triangles are not bounded by the triangles.
            primitives += 1;
            if primitives > limits.triangles {
                return Err(MeshError::Limit { what: "primitives", limit: limits.triangles });
            }
            if primitive.mode == TRIANGLES {
                document.add(&mut mesh, primitive, &matrix, &buffers, limits)?;
            } else {
                let note = format!("a primitive of mode {}, not of triangles, is left out", primitive.mode);
                // Once is enough.
                if !mesh.notes.contains(&note) && mesh.notes.len() < limits.materials {
                    mesh.notes.push(note);
                }
            }
        }
    }
    mesh.checked(limits)
}

impl Document {
    /// Meshes and where they are.
    fn instances(&self) -> Result<Vec<(usize, Matrix)>, MeshError> {
        if self.nodes.is_empty() {
            return Ok((0..self.meshes.len()).map(|n| (n, IDENTITY)).collect());
        }
        let roots: Vec<usize> = match self.scenes.get(self.scene.unwrap_or(0)) {
            Some(scene) => scene.nodes.clone(),
            None => {
                let mut root = vec![true; self.nodes.len()];
                for &child in self.nodes.iter().flat_map(|node| &node.children) {
                    if let Some(root) = root.get_mut(child) {
                        *root = false;
                    }
                }
                (0..self.nodes.len()).filter(|&n| root[n]).collect()
            }
        };
        let mut open: Vec<(usize, Matrix)> = roots.into_iter().rev().map(|n| (n, IDENTITY)).collect();
        // Nodes are trees: each is reached once.
        let mut seen = vec![false; self.nodes.len()];
        let mut found = Vec::new();
        while let Some((n, above)) = open.pop() {
            let node = self.nodes.get(n).ok_or(MeshError::Outside("nodes"))?;
            if std::mem::replace(&mut seen[n], true) {
                return Err(MeshError::Format(format!("node {n} has two parents, or is above itself")));
            }
            let matrix = multiply(&above, &node.matrix());
            found.extend(node.mesh.map(|mesh| (mesh, matrix)));
            open.extend(node.children.iter().rev().map(|&child| (child, matrix)));
        }
        Ok(found)
    }

    /// The buffers: the first one without a name is the file's own.
    fn buffers<'b>(
        &self,
        blob: &'b [u8],
        files: Files<'_>,
        limits: &MeshLimits,
    ) -> Result<Vec<Cow<'b, [u8]>>, MeshError> {
        let mut left = limits.bytes;
        let mut all: Vec<Cow<'b, [u8]>> = Vec::new();
        for buffer in &self.buffers {
            let bytes = match &buffer.uri {
                None => Cow::Borrowed(blob),
                Some(uri) => {
                    let bytes = files(uri)
                        .ok_or_else(|| MeshError::Format(format!("{}: no such buffer", short(uri))))?;
                    let limit = MeshError::Limit { what: "bytes", limit: limits.bytes };
                    left = left.checked_sub(bytes.len()).ok_or(limit)?;
                    Cow::Owned(bytes)
                }
            };
            all.push(bytes);
        }
        // A file that says nothing of its buffer has it all the same.
        if all.is_empty() {
            all.push(Cow::Borrowed(blob));
        }
        Ok(all)
    }

    /// Adds a primitive's triangles.
    fn add(
        &self,
        mesh: &mut Mesh,
        primitive: &Primitive,
        matrix: &Matrix,
        buffers: &[Cow<'_, [u8]>],
        limits: &MeshLimits,
    ) -> Result<(), MeshError> {
        let elements = |n: usize| self.elements(n, buffers, limits);
        let Some(positions) = primitive.attributes.position else { return Ok(()) };
        let first = mesh.positions.len();
        let positions = elements(positions)?;
        if first + positions.count > limits.vertices {
            return Err(MeshError::Limit { what: "vertices", limit: limits.vertices });
        }
        let position = |n: usize| place(matrix, std::array::from_fn(|c| positions.float(n, c)));
        mesh.positions.extend((0..positions.count).map(position));
        let material = primitive.material.and_then(|m| self.materials.get(m));
        let surface = material.map_or_else(Roughness::default, |m| m.pbr_metallic_roughness);
        let base = surface.base_color_factor;
        let opaque = material.is_none_or(|m| m.alpha_mode != "BLEND");
        match primitive.attributes.color {
            Some(colors) => {
                let colors = elements(colors)?;
                let color = |n: usize| std::array::from_fn(|c| base[c] * colors.unit(n, c));
                mesh.colors.extend((0..positions.count).map(color));
            }
            None => mesh.colors.resize(mesh.positions.len(), base),
        }
        if opaque {
            mesh.colors[first..].iter_mut().for_each(|c| c[3] = 1.0);
        }
        mesh.texcoords.resize(first, None);
        let number = if material.is_some() { primitive.material.map_or(0, |m| m + 1) } else { 0 };
        if mesh.materials.get(number).is_some_and(|m| m.texture.is_some())
            && let Some(places) = primitive.attributes.texcoord
        {
            let places = elements(places)?;
            let place = |n: usize| [places.place(n, 0), places.place(n, 1)];
            mesh.texcoords.extend((0..positions.count).map(|n| Some(place(n))));
        }
        let corners: Vec<u32> = match primitive.indices {
            Some(indices) => {
                let indices = elements(indices)?;
                (0..indices.count).map(|n| indices.index(n)).collect()
            }
            None => (0..positions.count as u32).collect(),
        };
        if mesh.triangles.len() + corners.len() / 3 > limits.triangles {
            return Err(MeshError::Limit { what: "triangles", limit: limits.triangles });
        }
        let corner = |i: u32| i.saturating_add(first as u32);
        let mirrored = mirrors(matrix);
        mesh.triangles.extend(corners.chunks_exact(3).map(|t| {
            let [a, b, c] = [corner(t[0]), corner(t[1]), corner(t[2])];
            if mirrored { [a, c, b] } else { [a, b, c] }
        }));
        mesh.surfaces.resize(mesh.triangles.len(), u16::try_from(number).unwrap_or(u16::MAX));
        Ok(())
    }
}

/// The beginning of a name, which may hold a whole file.
fn short(name: &str) -> String {
    name.chars().take(60).collect()
}

/// The elements of an accessor, which lie in the bytes.
struct Elements<'b> {
    bytes: &'b [u8],
    component_type: u32,
    components: usize,
    stride: usize,
    count: usize,
}

impl Document {
    /// A texture's picture, or why it is none that is read.
    fn image(
        &self,
        texture: usize,
        buffers: &[Cow<'_, [u8]>],
        files: Files<'_>,
    ) -> Result<Result<Image, String>, MeshError> {
        let outside = || MeshError::Outside("textures");
        let texture = self.textures.get(texture).ok_or_else(outside)?;
        // Others than PNG and JPEG are an extension's.
        let Some(source) = texture.source else { return Ok(Err("a texture without a picture".into())) };
        let image = self.images.get(source).ok_or_else(outside)?;
        let png =
            |name: &str, bytes: &[u8]| Image::from_png(bytes).map_err(|e| format!("{name}: no PNG: {e}"));
        if let Some(uri) = &image.uri {
            let name = short(uri);
            return Ok(files(uri)
                .ok_or(format!("{name}: no such file"))
                .and_then(|bytes| png(&name, &bytes)));
        }
        let view = image.buffer_view.and_then(|v| self.buffer_views.get(v)).ok_or_else(outside)?;
        let end = view.byte_offset.checked_add(view.byte_length).ok_or_else(outside)?;
        let buffer = buffers.get(view.buffer).ok_or_else(outside)?;
        let bytes = buffer.get(view.byte_offset..end).ok_or_else(outside)?;
        Ok(png(&format!("image {source}"), bytes))
    }

    fn elements<'b>(
        &self,
        n: usize,
        buffers: &'b [Cow<'_, [u8]>],
        limits: &MeshLimits,
    ) -> Result<Elements<'b>, MeshError> {
        let outside = || MeshError::Outside("elements");
        let accessor = self.accessors.get(n).filter(|a| a.sparse.is_none()).ok_or_else(outside)?;
        let (count, component_type) = (accessor.count, accessor.component_type);
        let most = limits.vertices.max(limits.triangles.saturating_mul(3));
        if count > most {
            return Err(MeshError::Limit { what: "elements", limit: most });
        }
        let components = match accessor.r#type.as_str() {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            other => return Err(MeshError::Format(format!("elements of type {other:?}"))),
        };
        let size = components * component_size(component_type);
        let view = accessor.buffer_view.and_then(|v| self.buffer_views.get(v)).ok_or_else(outside)?;
        let blob = buffers.get(view.buffer).ok_or_else(outside)?;
        let stride = view.byte_stride.unwrap_or(size).max(1);
        let start = view.byte_offset.checked_add(accessor.byte_offset);
        let length = match count.checked_sub(1) {
            Some(before) => stride.checked_mul(before).and_then(|l| l.checked_add(size)),
            None => Some(0),
        };
        let range = start.zip(length).and_then(|(start, length)| Some(start..start.checked_add(length)?));
        let bytes = range.and_then(|r| blob.get(r)).ok_or_else(outside)?;
        Ok(Elements { bytes, component_type, components, stride, count })
    }
}

fn component_size(component_type: u32) -> usize {
    match component_type {
        UNSIGNED_INT | FLOAT => 4,
        UNSIGNED_SHORT => 2,
        _ => 1,
    }
}

impl Elements<'_> {
    /// A component's bytes; nothing where the element has none.
    fn component(&self, n: usize, component: usize) -> &[u8] {
        let size = component_size(self.component_type);
        let at = n.saturating_mul(self.stride).saturating_add(component * size);
        let there = component < self.components;
        self.bytes.get(at..at.saturating_add(size)).filter(|_| there).unwrap_or_default()
    }

    /// A component of floats; 0 where there is none.
    fn float(&self, n: usize, component: usize) -> f32 {
        match *self.component(n, component) {
            [a, b, c, d] if self.component_type == FLOAT => f32::from_le_bytes([a, b, c, d]),
            _ => 0.0,
        }
    }

    /// A coordinate in a texture, moved to 0 to 1; the middle where there is none.
    fn place(&self, n: usize, component: usize) -> f32 {
        let v = if component < self.components { self.unit(n, component) } else { 0.5 };
        within(v)
    }

    /// A component from 0 to 1; 1 where the element has none.
    fn unit(&self, n: usize, component: usize) -> f32 {
        match (self.component_type, self.component(n, component)) {
            (UNSIGNED_BYTE, &[a]) => f32::from(a) / 255.0,
            (UNSIGNED_SHORT, &[a, b]) => f32::from(u16::from_le_bytes([a, b])) / 65535.0,
            (FLOAT, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]),
            _ => 1.0,
        }
    }

    /// An index; one that no model has where there is none.
    fn index(&self, n: usize) -> u32 {
        match (self.component_type, self.component(n, 0)) {
            (UNSIGNED_BYTE, &[a]) => a.into(),
            (UNSIGNED_SHORT, &[a, b]) => u16::from_le_bytes([a, b]).into(),
            (UNSIGNED_INT, &[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]),
            _ => u32::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing(_: &str) -> Option<Vec<u8>> {
        None
    }

    /// Two meshes in three nodes, one below the other, with materials and pictures of their own; buffer and pictures in other
    /// files.
    #[test]
    fn nodes_place_meshes_with_their_materials() {
        let floats = [0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
        let data: Vec<u8> = floats.iter().flat_map(|v| v.to_le_bytes()).collect();
        let picture = |grey: u8| {
            let mut png = Vec::new();
            let mut encoder = png::Encoder::new(&mut png, 8, 8);
            encoder.set_color(png::ColorType::Grayscale);
            encoder.write_header().unwrap().write_image_data(&[grey; 64]).unwrap();
            png
        };
        let files = |name: &str| match name {
            "data.bin" => Some(data.clone()),
            "a.png" => Some(picture(10)),
            "b.png" => Some(picture(20)),
            _ => None,
        };
        let json = r#"{"buffers":[{"uri":"data.bin","byteLength":36}],"bufferViews":[{"buffer":0,"byteLength":36}],
            "accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"},{"bufferView":0,"componentType":5126,"count":3,"type":"VEC2"}],
            "images":[{"uri":"a.png"},{"uri":"b.png"},{"uri":"c.jpg"}],"textures":[{"source":0},{"source":1},{"source":2}],
            "materials":[{"name":"one","pbrMetallicRoughness":{"baseColorTexture":{"index":0}}},
                {"name":"two","pbrMetallicRoughness":{"baseColorTexture":{"index":1}}},
                {"name":"three","pbrMetallicRoughness":{"baseColorTexture":{"index":2}}}],
            "meshes":[{"primitives":[{"attributes":{"POSITION":0,"TEXCOORD_0":1},"material":0},{"attributes":{"POSITION":0},"mode":1}]},
                {"primitives":[{"attributes":{"POSITION":0,"TEXCOORD_0":1},"material":1},{"attributes":{"POSITION":0},"material":2}]}],
            "nodes":[{"translation":[10,0,0],"children":[1]},{"mesh":0,"scale":[2,2,2],"rotation":[0,0,0.70710678,0.70710678]},
                {"mesh":1,"matrix":[-1,0,0,0,0,1,0,0,0,0,1,0,0,0,5,1]},{"mesh":0}],
            "scenes":[{"nodes":[0,2]}]}"#;
        let mesh = load_gltf(json.as_bytes(), &files, &MeshLimits::default()).unwrap();
        // Node 3 is in no scene.
        assert_eq!(mesh.triangles.len(), 3);
        let near = |a: [f32; 3], b: [f32; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5);
        assert!(near(mesh.positions[1], [10.0, 2.0, 0.0]), "{:?}", mesh.positions);
        assert!(near(mesh.positions[4], [-1.0, 0.0, 5.0]), "{:?}", mesh.positions);
        // Mirrored triangles stay the right side out.
        assert_eq!((mesh.triangles[0], mesh.triangles[1]), ([0, 1, 2], [3, 5, 4]));
        assert_eq!(mesh.surfaces, [1, 2, 3]);
        let textures: Vec<Option<usize>> = mesh.materials.iter().map(|m| m.texture).collect();
        assert_eq!(textures, [None, Some(0), Some(1), None]);
        assert_eq!(mesh.textures[1], Image::new(8, 8, |_, _| [20, 20, 20, 255]));
        assert!(mesh.notes[0].contains("c.jpg") && mesh.notes[1].contains("mode 1"), "{:?}", mesh.notes);
        let circle = json.replace("\"children\":[1]", "\"children\":[0]");
        assert!(load_gltf(circle.as_bytes(), &files, &MeshLimits::default()).is_err());
        assert!(load_gltf(json.as_bytes(), &nothing, &MeshLimits::default()).is_err());
    }

    /// A GLB of one triangle: positions as f32, colours as bytes, indices as u16.
    pub(crate) fn triangle() -> Vec<u8> {
        let mut data: Vec<u8> =
            [0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        data.extend([255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255]);
        data.extend([0, 0, 1, 0, 2, 0, 0, 0]);
        let json = r#"{"asset":{"version":"2.0"},"buffers":[{"byteLength":56}],"bufferViews":[{"buffer":0,"byteLength":36},{"buffer":0,"byteOffset":36,"byteLength":12},{"buffer":0,"byteOffset":48,"byteLength":6}],"accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,1,0]},{"bufferView":1,"componentType":5121,"normalized":true,"count":3,"type":"VEC4"},{"bufferView":2,"componentType":5123,"count":3,"type":"SCALAR"}],"meshes":[{"primitives":[{"attributes":{"POSITION":0,"COLOR_0":1},"indices":2}]}]}"#;
        glb(json, &data)
    }

    /// A GLB of JSON and data.
    fn glb(json: &str, data: &[u8]) -> Vec<u8> {
        let mut json = json.as_bytes().to_vec();
        json.resize(json.len().next_multiple_of(4), b' ');
        let word = |n: usize| (n as u32).to_le_bytes();
        let head = [&b"glTF\x02\0\0\0"[..], &word(28 + json.len() + data.len())].concat();
        [&head, &word(json.len())[..], b"JSON", &json, &word(data.len()), b"BIN\0", data].concat()
    }

    #[test]
    fn the_first_base_colour_texture_is_read() {
        let floats = [0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.25, 1.75];
        let mut data: Vec<u8> = floats.iter().flat_map(|v| v.to_le_bytes()).collect();
        let mut png = Vec::new();
        let mut encoder = png::Encoder::new(&mut png, 8, 8);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.write_header().unwrap().write_image_data(&[200; 64]).unwrap();
        data.extend(&png);
        let json = format!(
            r#"{{"bufferViews":[{{"buffer":0,"byteLength":36}},{{"buffer":0,"byteOffset":36,"byteLength":24}},{{"buffer":0,"byteOffset":60,"byteLength":{}}}],
            "accessors":[{{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}},{{"bufferView":1,"componentType":5126,"count":3,"type":"VEC2"}}],
            "images":[{{"bufferView":2,"mimeType":"image/png"}}],"textures":[{{"source":0}}],
            "materials":[{{"pbrMetallicRoughness":{{"baseColorFactor":[1,1,1,0.5],"baseColorTexture":{{"index":0}}}},"alphaMode":"BLEND"}},{{}}],
            "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0,"TEXCOORD_0":1}},"material":0}},{{"attributes":{{"POSITION":0}},"material":1}}]}}]}}"#,
            png.len()
        );
        let mesh = load_gltf(&glb(&json, &data), &nothing, &MeshLimits::default()).unwrap();
        assert_eq!(mesh.textures, [Image::new(8, 8, |_, _| [200, 200, 200, 255])]);
        assert_eq!(mesh.texcoords[1..4], [Some([1.0, 0.0]), Some([0.25, 0.75]), None]);
        assert_eq!((mesh.colors[0][3], mesh.colors[3][3]), (0.5, 1.0));
        let broken = json.replace("\"source\":0", "\"source\":9");
        assert!(load_gltf(&glb(&broken, &data), &nothing, &MeshLimits::default()).is_err());
    }

    #[test]
    fn a_triangle_is_read_and_nothing_outside_of_the_file() {
        let glb = triangle();
        let mesh = load_gltf(&glb, &nothing, &MeshLimits::default()).unwrap();
        assert_eq!(mesh.positions[1], [1.0, 0.0, 0.0]);
        assert_eq!(mesh.colors[2], [0.0, 0.0, 1.0, 1.0]);
        assert_eq!(mesh.triangles, [[0, 1, 2]]);
        let text = String::from_utf8_lossy(&glb).replace("\"byteOffset\":48", "\"byteOffset\":53");
        assert!(load_gltf(text.as_bytes(), &nothing, &MeshLimits::default()).is_err());
        for at in 0..glb.len() {
            for byte in [0, 1, 0x39, 0xff] {
                let mut broken = glb.clone();
                broken[at] = byte;
                let _ = load_gltf(&broken, &nothing, &MeshLimits::default());
            }
        }
    }
}
