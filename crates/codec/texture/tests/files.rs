//! The files of `vectors/texture-files`: pixels and what the files say of them.

use serde_json::Value;
use std::path::{Path, PathBuf};
use xenoglot_texture::container::{Container, Limits, Texture, Transfer, read, write_ktx2};
use xenoglot_texture::{Extent, Texel};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../vectors/texture-files")
}

/// Files with what the manifest says of them.
fn files() -> Vec<(Value, Vec<u8>)> {
    let manifest = std::fs::read(root().join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let file = |entry: &Value| {
        let path = root().join("files").join(entry["file"].as_str().unwrap());
        (entry.clone(), std::fs::read(path).unwrap())
    };
    manifest["files"].as_array().unwrap().iter().map(file).collect()
}

/// What a texture says, in the manifest's words.
fn metadata(entry: &Value, texture: &Texture<'_>) -> Result<(), String> {
    let container = match texture.container {
        Container::Ktx1 => "KTX1",
        Container::Ktx2 => "KTX2",
        Container::Dds => "DDS",
        Container::Astc => "ASTC",
    };
    let transfer = match texture.transfer {
        Transfer::Unknown => "unknown",
        Transfer::Linear => "linear",
        Transfer::Srgb => "srgb",
        Transfer::Other(_) => "other",
    };
    // As many letters as the file's own text has.
    let letters = entry["orientation"].as_str().map_or(3, str::len);
    let Extent { width, height, depth } = texture.extent;
    let got: [(&str, Value); 11] = [
        ("container", container.into()),
        ("width", width.into()),
        ("height", height.into()),
        ("depth", depth.into()),
        ("levels", texture.levels.into()),
        ("layers", texture.layers.into()),
        ("faces", texture.faces.into()),
        ("transfer", transfer.into()),
        ("premultiplied", texture.premultiplied.into()),
        ("orientation", texture.orientation.map(|o| o.letters(letters)).into()),
        ("channels", texture.channels.to_string().into()),
    ];
    match got.iter().find(|(name, value)| entry[name] != *value) {
        Some((name, value)) => Err(format!("{name}: {value}, expected {}", entry[name])),
        None => Ok(()),
    }
}

fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let fraction = f32::from(bits & 0x3ff) / 1024.0;
    match i32::from(bits >> 10 & 31) {
        0 => sign * fraction * 2f32.powi(-14),
        31 if fraction == 0.0 => sign * f32::INFINITY,
        31 => f32::NAN,
        exponent => sign * (1.0 + fraction) * 2f32.powi(exponent - 15),
    }
}

/// A texel as the manifest has it: bytes of those with eight bits, numbers of the others; missing components are 0, alpha 1.
fn components(texel: Texel, bytes: &[u8]) -> [f32; 4] {
    let byte = |i: usize| f32::from(bytes[i]);
    let word = |i: usize| u16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]]);
    let unorm = |i: usize| f32::from(word(i)) / 65535.0;
    let snorm = |i: usize| f32::from(word(i) as i16) / 32767.0;
    match texel {
        Texel::R8Unorm => [byte(0), 0.0, 0.0, 255.0],
        Texel::Rg8Unorm => [byte(0), byte(1), 0.0, 255.0],
        Texel::Rgba8 => std::array::from_fn(byte),
        Texel::R16Unorm => [unorm(0), 0.0, 0.0, 1.0],
        Texel::Rg16Unorm => [unorm(0), unorm(1), 0.0, 1.0],
        Texel::R16Snorm => [snorm(0), 0.0, 0.0, 1.0],
        Texel::Rg16Snorm => [snorm(0), snorm(1), 0.0, 1.0],
        Texel::Rgba16Float => std::array::from_fn(|i| half(word(i))),
        Texel::Rgba32Float => {
            std::array::from_fn(|i| f32::from_le_bytes(*bytes[4 * i..].first_chunk().unwrap()))
        }
    }
}

/// Pixels of all images in the manifest's order.
fn pixels(entry: &Value, texture: &Texture<'_>) -> Result<(), String> {
    let expected = std::fs::read(root().join("expect").join(entry["expect"].as_str().unwrap())).unwrap();
    let expected: Vec<f32> = match entry["type"].as_str() {
        Some("u8") => expected.iter().map(|&byte| f32::from(byte)).collect(),
        Some("f32") => expected.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
        other => return Err(format!("expected pixels of {other:?}")),
    };
    let tolerance = entry["tolerance"].as_f64().unwrap() as f32;
    let decoded = texture.decode(&Limits::default()).map_err(|e| e.to_string())?;
    let texel = texture.format.texel();
    let eight = matches!(texel, Texel::R8Unorm | Texel::Rg8Unorm | Texel::Rgba8);
    if eight != (entry["type"] == "u8") {
        return Err(format!("{texel} for {}", entry["type"]));
    }
    let mut images: Vec<_> = decoded.images.iter().collect();
    images.sort_by_key(|image| (image.level, image.layer, image.face));
    let got: Vec<f32> = images
        .iter()
        .flat_map(|image| image.data.chunks_exact(texel.bytes()))
        .flat_map(|bytes| components(texel, bytes))
        .collect();
    if got.len() != expected.len() {
        return Err(format!("{} components, expected {}", got.len(), expected.len()));
    }
    let near = |a: f32, b: f32| {
        a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= tolerance * b.abs().max(1.0)
    };
    let near = |a: f32, b: f32| if eight { (a - b).abs() <= tolerance } else { near(a, b) };
    match got.iter().zip(&expected).position(|(a, b)| !near(*a, *b)) {
        Some(at) => Err(format!("component {at}: {}, expected {}", got[at], expected[at])),
        None => Ok(()),
    }
}

/// GL_BGRA, BC1 with and without alpha, sRGB, premultiplied alpha, orientations: pixels and metadata of every file.
#[test]
fn files_have_their_pixels_and_metadata() {
    let files = files();
    let mut failures = Vec::new();
    for (entry, bytes) in &files {
        let result = read(bytes, &Limits::default())
            .map_err(|e| e.to_string())
            .and_then(|texture| metadata(entry, &texture).and_then(|()| pixels(entry, &texture)));
        if let Err(e) = result {
            failures.push(format!("{}: {e}", entry["file"]));
        }
    }
    println!("{} files, {} as expected", files.len(), files.len() - failures.len());
    assert!(failures.is_empty(), "{failures:#?}");
}

/// Through KTX 2, as blocks and decoded, nothing of it is lost.
#[test]
fn ktx2_keeps_pixels_and_metadata() {
    let limits = Limits::default();
    for (entry, bytes) in files() {
        let texture = read(&bytes, &limits).unwrap();
        // ETC1 has no number of Vulkan: only its texels can be written.
        let blocks = write_ktx2(&texture).ok();
        assert_eq!(blocks.is_none(), entry["format"] == "ETC1", "{}", entry["file"]);
        let decoded = write_ktx2(&texture.decode(&limits).unwrap()).unwrap();
        for file in blocks.iter().chain([&decoded]) {
            let mut back = read(file, &limits).unwrap();
            // Texels of four components are read as such.
            (back.container, back.channels) = (texture.container, texture.channels);
            let same = metadata(&entry, &back).and_then(|()| pixels(&entry, &back));
            assert_eq!(same, Ok(()), "{}", entry["file"]);
        }
    }
}
