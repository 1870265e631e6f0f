//! Suite of texture files: what they say of themselves, and their pixels, by `vectors/texture-files/FORMAT.md`.

use crate::limit::{Item, Work};
use crate::report::{Case, Observer, Summary, Verdict};
use crate::{Error, Request, input};
use serde::Deserialize;
use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use xenoglot_texture::container::{self, Container, Limits, Supercompression, Texture, Transfer, read};
use xenoglot_texture::{Extent, Format, Profile, Texel};

/// Folders of files and of expected pixels, beside each other or in this archive.
const FILES: &str = "files";
const EXPECTED: &str = "expect";
const ARCHIVE: &str = "texture-files.tar.zst";
const MANIFEST: &str = "manifest.json";

#[derive(Deserialize)]
struct Manifest {
    files: Vec<Entry>,
}

/// What a file holds.
#[derive(Deserialize)]
struct Entry {
    file: String,
    expect: String,
    #[serde(rename = "type")]
    ty: Type,
    container: String,
    width: u32,
    height: u32,
    depth: u32,
    dimensions: u32,
    array: bool,
    layers: u32,
    faces: u32,
    levels: u32,
    transfer: String,
    premultiplied: bool,
    orientation: Option<String>,
    channels: String,
    swizzle: Option<String>,
    supercompression: Option<u32>,
    profile: Option<String>,
    vk: Option<u32>,
    dxgi: Option<u32>,
    tolerance: f64,
    group: String,
}

/// What expected components are.
#[derive(Clone, Copy, Deserialize, Debug, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Type {
    U8,
    F32,
    U32,
    I32,
}

/// A file and its expected pixels.
struct Vector {
    entry: Entry,
    file: Vec<u8>,
    expected: Vec<u8>,
}

/// Runs the suite on a folder with a manifest.
pub(crate) fn suite(request: &Request, observer: &dyn Observer) -> Result<Summary, Error> {
    let folder = match request.path.is_dir() {
        true => request.path.as_path(),
        false => request.path.parent().unwrap_or(Path::new(".")),
    };
    let json = |file: &str, reason: String| Error::Json { path: folder.into(), file: file.into(), reason };
    let manifest = input::read(&folder.join(MANIFEST))?;
    let manifest: Manifest = serde_json::from_slice(&manifest).map_err(|e| json(MANIFEST, e.to_string()))?;
    let archive = if folder.join(FILES).is_dir() { None } else { Some(archive(&folder.join(ARCHIVE))?) };
    let load = |kind: &str, name: &str| match &archive {
        None => input::read(&folder.join(kind).join(name)),
        Some(archive) => archive
            .get(&format!("{kind}/{name}"))
            .cloned()
            .ok_or_else(|| json(name, "it is not in the archive".into())),
    };
    let mut items = Vec::new();
    for entry in manifest.files {
        let (file, expected) = (load(FILES, &entry.file)?, load(EXPECTED, &entry.expect)?);
        items.push(Item::single(entry.file.clone(), Vector { entry, file, expected }));
    }
    let engine = Arc::new(super::engine(request)?);
    Work::with(
        items,
        move || Ok(Arc::clone(&engine)),
        |engine, item, emit| {
            emit(Case { name: item.data.entry.file.clone(), verdict: verdict(&item.data, &engine.decode) })
        },
    )
    .run(observer)
}

/// The files of a compressed archive by their names.
fn archive(path: &Path) -> Result<HashMap<String, Vec<u8>>, Error> {
    let damaged = |e: std::io::Error| Error::Archive { path: path.into(), reason: e.to_string() };
    let bytes = input::read(path)?;
    let mut files = HashMap::new();
    for file in tar::Archive::new(bytes.as_slice()).entries().map_err(damaged)? {
        let mut file = file.map_err(damaged)?;
        let name = file.path().map_err(damaged)?.to_string_lossy().trim_start_matches("./").to_owned();
        let mut data = Vec::new();
        file.read_to_end(&mut data).map_err(damaged)?;
        files.insert(name, data);
    }
    Ok(files)
}

/// Files that are not marked *must* may be of formats that are not known.
fn verdict(vector: &Vector, decode: &super::Decode) -> Verdict {
    let Vector { entry, file, .. } = vector;
    let mut texture = match read(file, &Limits::default()) {
        Ok(texture) => texture,
        Err(e @ (container::Error::Format(_) | container::Error::Supercompression(_)))
            if entry.group != "must" =>
        {
            return Verdict::Unconfirmed(e.to_string());
        }
        Err(e) => return Verdict::Failed(e.to_string()),
    };
    if let (Format::Astc(footprint, _), Some("hdr")) = (texture.format, entry.profile.as_deref()) {
        texture.format = Format::Astc(footprint, Profile::Hdr);
    }
    match metadata(entry, &texture).and_then(|()| pixels(vector, &texture, decode)) {
        Ok(()) => Verdict::Passed,
        Err(difference) => Verdict::Failed(difference),
    }
}

/// What a texture says, in the manifest's words.
fn metadata(entry: &Entry, texture: &Texture<'_>) -> Result<(), String> {
    let container = match texture.container {
        Container::Ktx1 => "KTX1",
        Container::Ktx2 => "KTX2",
        Container::Dds => "DDS",
        Container::Astc => "ASTC",
        Container::Pvr => "PVR3",
        Container::Pkm => "PKM",
        Container::Basis => "BASIS",
        other => return Err(format!("container: {other}, expected {}", entry.container)),
    };
    let transfer = match texture.transfer {
        Transfer::Unknown => "unknown",
        Transfer::Linear => "linear",
        Transfer::Srgb => "srgb",
        Transfer::Other(_) => "other",
    };
    let supercompression = match texture.supercompression {
        Supercompression::None => 0,
        Supercompression::BasisLz => 1,
        Supercompression::Zstandard => 2,
        Supercompression::Zlib => 3,
    };
    // As many letters as the file's own text has.
    let letters = entry.orientation.as_deref().map_or(3, str::len);
    let Extent { width, height, depth } = texture.extent;
    let is = |name: &str, got: String, expected: String| {
        if got == expected { Ok(()) } else { Err(format!("{name}: {got}, expected {expected}")) }
    };
    let numbers = |name: &str, got: u32, expected: u32| is(name, got.to_string(), expected.to_string());
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "none".into());
    is("container", container.into(), entry.container.clone())?;
    numbers("width", width, entry.width)?;
    numbers("height", height, entry.height)?;
    numbers("depth", depth, entry.depth)?;
    // The manifest counts a line of KTX 1, whose height is 0, as a picture of one row.
    let is_line = texture.container == Container::Ktx1 && texture.dimensions == 1;
    numbers("dimensions", if is_line { 2 } else { texture.dimensions }, entry.dimensions)?;
    is("array", texture.array.to_string(), entry.array.to_string())?;
    numbers("layers", texture.layers, entry.layers)?;
    numbers("faces", texture.faces, entry.faces)?;
    numbers("levels", texture.levels, entry.levels)?;
    is("transfer", transfer.into(), entry.transfer.clone())?;
    is("premultiplied", texture.premultiplied.to_string(), entry.premultiplied.to_string())?;
    let orientation = texture.orientation.map(|o| o.letters(letters));
    is("orientation", or_none(orientation), or_none(entry.orientation.clone()))?;
    is("channels", texture.channels.to_string(), entry.channels.clone())?;
    let swizzle = texture.swizzle.map(|swizzle| swizzle.to_string());
    is("swizzle", or_none(swizzle), or_none(entry.swizzle.clone()))?;
    let srgb = texture.transfer == Transfer::Srgb;
    if let Some(vk) = entry.vk {
        numbers("VkFormat", texture.format.vulkan(srgb).unwrap_or(0), vk)?;
    }
    if let Some(dxgi) = entry.dxgi {
        numbers("DXGI_FORMAT", texture.format.dxgi(srgb).unwrap_or(0), dxgi)?;
    }
    match entry.supercompression {
        Some(expected) => numbers("supercompression", supercompression, expected),
        None => Ok(()),
    }
}

fn pixels(vector: &Vector, texture: &Texture<'_>, decode: &super::Decode) -> Result<(), String> {
    let Vector { entry, expected, .. } = vector;
    let decode =
        |format, extent, data: &[u8], out: &mut [u8]| decode(format, extent, data, out).map_err(Failure);
    let decoded = texture.decode_with(&Limits::default(), decode).map_err(|Failure(reason)| reason)?;
    let texel = texture.format.texel();
    if kind(texel) != entry.ty {
        return Err(format!("{texel} for {:?}", entry.ty));
    }
    let mut images: Vec<_> = decoded.images.iter().collect();
    images.sort_by_key(|image| (image.level, image.layer, image.face));
    let got: Vec<f64> = images
        .iter()
        .flat_map(|image| image.data.chunks_exact(texel.bytes()))
        .flat_map(|bytes| components(texel, bytes))
        .collect();
    let expected: Vec<f64> = match entry.ty {
        Type::U8 => expected.iter().map(|&byte| f64::from(byte)).collect(),
        _ => expected.as_chunks().0.iter().map(|word| component(entry.ty, *word)).collect(),
    };
    if got.len() != expected.len() {
        return Err(format!("{} components, expected {}", got.len(), expected.len()));
    }
    let near = |got: f64, expected: f64| {
        let tolerance = match entry.ty {
            Type::F32 => entry.tolerance * expected.abs().max(1.0),
            _ => entry.tolerance,
        };
        got == expected || got.is_nan() && expected.is_nan() || (got - expected).abs() <= tolerance
    };
    match got.iter().zip(&expected).position(|(got, expected)| !near(*got, *expected)) {
        Some(at) => Err(format!("component {at}: {}, expected {}", got[at], expected[at])),
        None => Ok(()),
    }
}

/// Why an image was not decoded.
struct Failure(String);

impl From<container::Error> for Failure {
    fn from(error: container::Error) -> Failure {
        Failure(error.to_string())
    }
}

const fn kind(texel: Texel) -> Type {
    match texel {
        Texel::R8Unorm | Texel::Rg8Unorm | Texel::Rgba8 => Type::U8,
        Texel::Rgba32Uint => Type::U32,
        Texel::Rgba32Sint => Type::I32,
        _ => Type::F32,
    }
}

fn component(ty: Type, word: [u8; 4]) -> f64 {
    match ty {
        Type::U32 => u32::from_le_bytes(word).into(),
        Type::I32 => i32::from_le_bytes(word).into(),
        _ => f32::from_le_bytes(word).into(),
    }
}

/// A texel as the manifest has it: bytes of those with eight bits, numbers of the others; missing components are 0, alpha 1.
fn components(texel: Texel, bytes: &[u8]) -> [f64; 4] {
    let byte = |i: usize| bytes.get(i).copied().map_or(0.0, f64::from);
    let word = |i: usize| u16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]]);
    let unorm = |i: usize| f64::from(word(i)) / 65535.0;
    let snorm = |i: usize| f64::from(word(i) as i16) / 32767.0;
    match texel {
        Texel::R8Unorm => [byte(0), 0.0, 0.0, 255.0],
        Texel::Rg8Unorm => [byte(0), byte(1), 0.0, 255.0],
        Texel::Rgba8 => std::array::from_fn(byte),
        Texel::R16Unorm => [unorm(0), 0.0, 0.0, 1.0],
        Texel::Rg16Unorm => [unorm(0), unorm(1), 0.0, 1.0],
        Texel::R16Snorm => [snorm(0), 0.0, 0.0, 1.0],
        Texel::Rg16Snorm => [snorm(0), snorm(1), 0.0, 1.0],
        Texel::Rgba16Float => std::array::from_fn(|i| half(word(i))),
        Texel::Rgba32Float | Texel::Rgba32Uint | Texel::Rgba32Sint => {
            let words = bytes.as_chunks().0;
            std::array::from_fn(|i| words.get(i).map_or(0.0, |word| component(kind(texel), *word)))
        }
    }
}

fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let fraction = f64::from(bits & 0x3ff) / 1024.0;
    match i32::from(bits >> 10 & 31) {
        0 => sign * fraction * 2f64.powi(-14),
        31 if fraction == 0.0 => sign * f64::INFINITY,
        31 => f64::NAN,
        exponent => sign * (1.0 + fraction) * 2f64.powi(exponent - 15),
    }
}
