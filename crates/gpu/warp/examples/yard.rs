//! Makes the glTF scene `models/yard.glb`: a yard with walls, a tower, a fence with holes and panes of glass.
//!
//! ```text
//! cargo run -p xenoglot-warp --example yard -- crates/gpu/warp/models/yard.glb
//! xenoglot render crates/gpu/warp/models/yard.glb -o yard.png
//! ```

use std::error::Error;
use std::fmt::Write;

/// Corners with a place in the texture and a colour.
#[derive(Default)]
struct Part {
    positions: Vec<[f32; 3]>,
    uv: Vec<[f32; 2]>,
    colors: Vec<[u8; 4]>,
    indices: Vec<u16>,
    material: usize,
}

impl Part {
    fn new(material: usize) -> Part {
        Part { material, ..Part::default() }
    }

    /// A quadrilateral, counter-clockwise, with a whole texture and a colour at each corner.
    fn quad(&mut self, corners: [[f32; 3]; 4], colors: [[u8; 4]; 4]) {
        let first = self.positions.len() as u16;
        self.positions.extend(corners);
        // 1 would be 0 again: textures repeat.
        self.uv.extend([[0.0, 0.999], [0.999, 0.999], [0.999, 0.0], [0.0, 0.0]]);
        self.colors.extend(colors);
        self.indices.extend([0, 1, 2, 0, 2, 3].map(|corner| first + corner));
    }

    /// A box without a bottom.
    fn block(&mut self, [w, h, d]: [f32; 3], color: [u8; 4]) {
        let (w, d) = (w / 2.0, d / 2.0);
        let floor = [[-w, d], [w, d], [w, -d], [-w, -d]];
        for side in 0..4 {
            let ([x, z], [u, v]) = (floor[side], floor[(side + 1) % 4]);
            self.quad([[x, 0.0, z], [u, 0.0, v], [u, h, v], [x, h, z]], [color; 4]);
        }
        self.quad(floor.map(|[x, z]| [x, h, z]), [color; 4]);
    }
}

/// A texture of 128 x 128 pixels as PNG.
fn picture(pixel: fn(u32, u32) -> [u8; 4]) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 128, 128);
    encoder.set_color(png::ColorType::Rgba);
    let pixels: Vec<u8> = (0..128 * 128).flat_map(|i| pixel(i % 128, i / 128)).collect();
    encoder.write_header()?.write_image_data(&pixels)?;
    Ok(bytes)
}

/// A number from 0 to `most` of a place, which looks like noise.
fn noise(x: u32, y: u32, most: u32) -> u8 {
    let mixed = (x.wrapping_mul(0x9e37_79b1) ^ y.wrapping_mul(0x85eb_ca77)).wrapping_mul(0xc2b2_ae3d);
    ((mixed >> 16) % (most + 1)) as u8
}

fn bricks(x: u32, y: u32) -> [u8; 4] {
    let row = y / 16;
    let shifted = x + row % 2 * 16;
    if y % 16 < 2 || shifted % 32 < 2 {
        return [150, 144, 136, 255];
    }
    let (tint, grain) = (noise(shifted / 32 % 4, row, 40), noise(x, y, 18));
    [150 + tint + grain, 70 + tint / 2 + grain, 54 + grain, 255]
}

fn paving(x: u32, y: u32) -> [u8; 4] {
    if x.is_multiple_of(16) || y.is_multiple_of(16) {
        return [84, 84, 80, 255];
    }
    let light = if (x / 16 + y / 16).is_multiple_of(2) { 168 } else { 112 } + noise(x, y, 14);
    [light, light, light - 12, 255]
}

fn fence(x: u32, y: u32) -> [u8; 4] {
    let rail = (20..30).contains(&y) || (90..100).contains(&y);
    let picket = x % 16 < 7 && y >= (x % 16).abs_diff(3) * 2;
    if rail || picket { [140 + noise(x, y / 8, 30), 100, 60, 255] } else { [140, 100, 60, 0] }
}

/// The parts; which of them stands where: x, z, angle.
fn parts() -> (Vec<Part>, Vec<[f32; 4]>) {
    let white = [255; 4];
    let mut ground = Part::new(0);
    ground.quad([[-4.0, 0.0, 4.0], [4.0, 0.0, 4.0], [4.0, 0.0, -4.0], [-4.0, 0.0, -4.0]], [white; 4]);
    let mut house = Part::new(1);
    house.block([2.0, 1.4, 1.6], white);
    let mut tower = Part::new(1);
    tower.block([0.9, 2.6, 0.9], [255, 236, 200, 255]);
    let mut roof = Part::new(3);
    let corners = [[-0.6, 2.6, 0.6], [0.6, 2.6, 0.6], [0.6, 2.6, -0.6], [-0.6, 2.6, -0.6]];
    let low = [[200, 40, 40, 255], [60, 160, 60, 255], [50, 80, 200, 255], [220, 190, 40, 255]];
    for side in 0..4 {
        let (next, top, high) = ((side + 1) % 4, [0.0, 3.6, 0.0], [250, 240, 220, 255]);
        roof.quad([corners[side], corners[next], top, top], [low[side], low[next], high, high]);
    }
    let mut pickets = Part::new(2);
    pickets.quad([[-2.0, 0.0, 0.0], [2.0, 0.0, 0.0], [2.0, 0.7, 0.0], [-2.0, 0.7, 0.0]], [white; 4]);
    let mut pane = Part::new(4);
    let glass = [90, 190, 230, 255];
    pane.quad([[-0.6, 0.0, 0.0], [0.6, 0.0, 0.0], [0.6, 1.5, 0.0], [-0.6, 1.5, 0.0]], [glass; 4]);
    let places = vec![
        [0.0, 0.0, 0.0, 0.0],
        [1.0, -1.6, -1.4, 20.0],
        [2.0, 1.6, -1.8, 0.0],
        [3.0, 1.6, -1.8, 0.0],
        [4.0, 0.0, 3.2, 0.0],
        [4.0, -3.4, 0.8, 90.0],
        [5.0, 0.2, 1.2, 15.0],
        [5.0, 1.0, 0.2, 60.0],
        [5.0, 2.2, 1.4, -30.0],
    ];
    (vec![ground, house, tower, roof, pickets, pane], places)
}

/// All bytes of pictures and corners, and their places.
#[derive(Default)]
struct Data {
    bytes: Vec<u8>,
    views: Vec<String>,
}

impl Data {
    /// Adds bytes; the number of their view.
    fn view(&mut self, bytes: &[u8]) -> usize {
        let (offset, length) = (self.bytes.len(), bytes.len());
        self.views.push(format!(r#"{{"buffer":0,"byteOffset":{offset},"byteLength":{length}}}"#));
        self.bytes.extend_from_slice(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self.views.len() - 1
    }

    /// Adds elements; their accessor.
    fn accessor(&mut self, bytes: &[u8], count: usize, kind: &str) -> String {
        format!(r#"{{"bufferView":{},"count":{count},{kind}}}"#, self.view(bytes))
    }
}

/// The file: JSON, then the data.
fn glb() -> Result<Vec<u8>, Box<dyn Error>> {
    let (parts, places) = parts();
    let (mut data, mut accessors, mut meshes, mut images) =
        (Data::default(), Vec::new(), Vec::new(), Vec::new());
    for pixels in [paving, bricks, fence] {
        images.push(format!(r#"{{"bufferView":{},"mimeType":"image/png"}}"#, data.view(&picture(pixels)?)));
    }
    let floats = |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    for part in &parts {
        let indices: Vec<u8> = part.indices.iter().flat_map(|v| v.to_le_bytes()).collect();
        let bound = |pick: fn(f32, f32) -> f32| {
            let both = |a: [f32; 3], b: [f32; 3]| [0, 1, 2].map(|i| pick(a[i], b[i]));
            part.positions.iter().copied().reduce(both).unwrap_or_default()
        };
        let (count, low, high) = (part.positions.len(), bound(f32::min), bound(f32::max));
        let (first, material) = (accessors.len(), part.material);
        let positions = format!(r#""componentType":5126,"type":"VEC3","min":{low:?},"max":{high:?}"#);
        accessors.push(data.accessor(&floats(part.positions.as_flattened()), count, &positions));
        let places = r#""componentType":5126,"type":"VEC2""#;
        accessors.push(data.accessor(&floats(part.uv.as_flattened()), count, places));
        let colors = r#""componentType":5121,"normalized":true,"type":"VEC4""#;
        accessors.push(data.accessor(part.colors.as_flattened(), count, colors));
        let numbers = r#""componentType":5123,"type":"SCALAR""#;
        accessors.push(data.accessor(&indices, part.indices.len(), numbers));
        let attributes = format!(r#""POSITION":{first},"TEXCOORD_0":{},"COLOR_0":{}"#, first + 1, first + 2);
        meshes.push(format!(
            r#"{{"primitives":[{{"attributes":{{{attributes}}},"indices":{},"material":{material}}}]}}"#,
            first + 3
        ));
    }
    let node = |[part, x, z, angle]: &[f32; 4]| {
        let (sin, cos) = (angle.to_radians() / 2.0).sin_cos();
        format!(r#"{{"mesh":{part},"translation":[{x},0,{z}],"rotation":[0,{sin},0,{cos}]}}"#)
    };
    let nodes: Vec<String> = places.iter().map(node).collect();
    let numbers: Vec<String> = (0..nodes.len()).map(|number| number.to_string()).collect();
    let textures: Vec<String> = (0..images.len()).map(|source| format!(r#"{{"source":{source}}}"#)).collect();
    let materials = [
        r#"{"pbrMetallicRoughness":{"baseColorTexture":{"index":0}}}"#,
        r#"{"pbrMetallicRoughness":{"baseColorTexture":{"index":1}}}"#,
        r#"{"alphaMode":"MASK","pbrMetallicRoughness":{"baseColorTexture":{"index":2}}}"#,
        r#"{"name":"paint"}"#,
        r#"{"alphaMode":"BLEND","pbrMetallicRoughness":{"baseColorFactor":[1,1,1,0.4]}}"#,
    ];
    let mut json = format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[{}]}}],"materials":[{}]"#,
        numbers.join(","),
        materials.join(",")
    );
    let lists = [
        ("nodes", nodes),
        ("meshes", meshes),
        ("textures", textures),
        ("images", images),
        ("accessors", accessors),
        ("bufferViews", data.views),
    ];
    for (name, list) in &lists {
        write!(json, r#","{name}":[{}]"#, list.join(","))?;
    }
    write!(json, r#","buffers":[{{"byteLength":{}}}]}}"#, data.bytes.len())?;
    let mut json = json.into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    let word = |n: usize| (n as u32).to_le_bytes();
    let mut file = [&b"glTF\x02\0\0\0"[..], &word(28 + json.len() + data.bytes.len())].concat();
    for (kind, bytes) in [(b"JSON", json), (b"BIN\0", data.bytes)] {
        file.extend(word(bytes.len()));
        file.extend(kind);
        file.extend(bytes);
    }
    Ok(file)
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: yard FILE")?;
    std::fs::write(path, glb()?)?;
    Ok(())
}
