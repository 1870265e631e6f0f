//! glTF 2.0 as GLB, or as JSON without buffers.
//!
//! Only what a model of triangles needs is read. The `gltf` crate is not used: its validation indexes with numbers from
//! the file and panics on some (`gltf-json` 1.4.1, `mesh.rs`, `primitive_validate_hook`).

use super::image::Image;
use super::mesh::{Mesh, MeshError, MeshLimits};
use serde::Deserialize;

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Document {
    accessors: Vec<Accessor>,
    buffer_views: Vec<BufferView>,
    meshes: Vec<MeshNode>,
    materials: Vec<Material>,
    textures: Vec<TextureNode>,
    images: Vec<ImageNode>,
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
struct Material {
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

/// Loads the triangles of all meshes of a glTF file as they are, without the nodes' transforms. Buffers have to be in
/// the file (GLB). Of base colour textures the first is read, a PNG in a buffer; the materials of others have their
/// colour only.
///
/// # Errors
/// The file is not glTF, exceeds the limits, or has dangling references.
pub fn load_gltf(bytes: &[u8], limits: &MeshLimits) -> Result<Mesh, MeshError> {
    if bytes.len() > limits.bytes {
        return Err(MeshError::Limit { what: "bytes", limit: limits.bytes });
    }
    let (json, blob) = chunks(bytes)?;
    let document: Document = serde_json::from_slice(json).map_err(|e| MeshError::Format(e.to_string()))?;
    let elements = |n: usize| document.elements(n, blob, limits);
    let mut mesh = Mesh::default();
    let mut textured = None;
    for primitive in document.meshes.iter().flat_map(|m| &m.primitives).filter(|p| p.mode == TRIANGLES) {
        let Some(positions) = primitive.attributes.position else { continue };
        let first = mesh.positions.len();
        let positions = elements(positions)?;
        if first + positions.count > limits.vertices {
            return Err(MeshError::Limit { what: "vertices", limit: limits.vertices });
        }
        mesh.positions.extend((0..positions.count).map(|n| std::array::from_fn(|c| positions.float(n, c))));
        let material = primitive.material.and_then(|m| document.materials.get(m));
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
        if let Some(texture) = surface.base_color_texture
            && let Some(places) = primitive.attributes.texcoord
            && *textured.get_or_insert(texture.index) == texture.index
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
        mesh.triangles.extend(corners.chunks_exact(3).map(|t| [corner(t[0]), corner(t[1]), corner(t[2])]));
    }
    if let Some(index) = textured {
        mesh.texture = Some(document.image(index, blob)?);
    }
    mesh.checked(limits)
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
    fn image(&self, texture: usize, blob: &[u8]) -> Result<Image, MeshError> {
        let outside = || MeshError::Outside("textures");
        let image =
            self.textures.get(texture).and_then(|t| self.images.get(t.source?)).ok_or_else(outside)?;
        let view = image.buffer_view.and_then(|v| self.buffer_views.get(v)).filter(|v| v.buffer == 0);
        let view = view.ok_or_else(outside)?;
        let end = view.byte_offset.checked_add(view.byte_length).ok_or_else(outside)?;
        Image::from_png(blob.get(view.byte_offset..end).ok_or_else(outside)?)
    }

    fn elements<'b>(&self, n: usize, blob: &'b [u8], limits: &MeshLimits) -> Result<Elements<'b>, MeshError> {
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
        let view = accessor.buffer_view.and_then(|v| self.buffer_views.get(v)).filter(|v| v.buffer == 0);
        let view = view.ok_or_else(outside)?;
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
        if (0.0..=1.0).contains(&v) { v } else { v - v.floor() }
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
        let mesh = load_gltf(&glb(&json, &data), &MeshLimits::default()).unwrap();
        assert_eq!(mesh.texture, Some(Image::new(8, 8, |_, _| [200, 200, 200, 255])));
        assert_eq!(mesh.texcoords[1..4], [Some([1.0, 0.0]), Some([0.25, 0.75]), None]);
        assert_eq!((mesh.colors[0][3], mesh.colors[3][3]), (0.5, 1.0));
        let broken = json.replace("\"source\":0", "\"source\":9");
        assert!(load_gltf(&glb(&broken, &data), &MeshLimits::default()).is_err());
    }

    #[test]
    fn a_triangle_is_read_and_nothing_outside_of_the_file() {
        let glb = triangle();
        let mesh = load_gltf(&glb, &MeshLimits::default()).unwrap();
        assert_eq!(mesh.positions[1], [1.0, 0.0, 0.0]);
        assert_eq!(mesh.colors[2], [0.0, 0.0, 1.0, 1.0]);
        assert_eq!(mesh.triangles, [[0, 1, 2]]);
        let text = String::from_utf8_lossy(&glb).replace("\"byteOffset\":48", "\"byteOffset\":53");
        assert!(load_gltf(text.as_bytes(), &MeshLimits::default()).is_err());
        for at in 0..glb.len() {
            for byte in [0, 1, 0x39, 0xff] {
                let mut broken = glb.clone();
                broken[at] = byte;
                let _ = load_gltf(&broken, &MeshLimits::default());
            }
        }
    }
}
