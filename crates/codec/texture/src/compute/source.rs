//! Which sources and tables a format's program is made of.

use super::tables::{self, Tables};
use crate::format::{Format, Texel};
use std::fmt::Write;
use xenoglot_host::{TextureFormat, TextureShape};

/// Sources by their names in `wgsl`.
macro_rules! wgsl {
    ($($name:literal),*) => {
        &[$(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/compute/wgsl/", $name, ".wgsl"))),*]
    };
}
pub(super) use wgsl;

/// Adds tables.
pub(super) type Add = fn(&mut Tables);

/// Where texels go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// To a buffer.
    Buffer,
    /// To a texture of [`texture_format`].
    Texture(TextureShape),
}

impl Target {
    pub const ALL: [Target; 3] =
        [Target::Buffer, Target::Texture(TextureShape::Layers), Target::Texture(TextureShape::Volume)];
}

/// Where blocks and what is known of them come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// One picture in a buffer.
    Picture,
    /// The levels of a texture, in a buffer.
    Levels,
    /// The levels of a texture of integers, a texel for each block.
    Blocks,
}

/// What a texture of the format's texels is made of.
pub fn texture_format(format: Format) -> TextureFormat {
    match format.texel() {
        Texel::R16Unorm | Texel::R16Snorm => TextureFormat::R32Float,
        Texel::Rg16Unorm | Texel::Rg16Snorm => TextureFormat::Rg32Float,
        Texel::Rgba16Float => TextureFormat::Rgba16Float,
        _ => TextureFormat::Rgba8Unorm,
    }
}

/// The program of a format in WGSL, and its tables; nothing for formats that have none.
pub fn program(format: Format, input: Input, target: Target) -> Option<(String, Vec<u32>)> {
    let mut tables = Tables::default();
    let (parts, add): (&[&str], &[Add]) = match format {
        Format::Bc1 => (wgsl!("square", "bc_color", "bc1"), &[tables::bc_color, tables::transparent_black]),
        Format::Bc1Rgb => (wgsl!("square", "bc_color", "bc1"), &[tables::bc_color, tables::opaque_black]),
        Format::Bc2 => (wgsl!("square", "bc_color", "bc2"), &[tables::bc_color]),
        Format::Bc3 => (wgsl!("square", "bc_color", "bc_ramp", "bc3"), &[tables::bc_color]),
        Format::Bc4Unorm | Format::Bc4Snorm => (wgsl!("square", "bc_ramp", "bc4"), &[]),
        Format::Bc5Unorm | Format::Bc5Snorm => (wgsl!("square", "bc_ramp", "bc5"), &[]),
        Format::Bc6hUfloat | Format::Bc6hSfloat => {
            (wgsl!("square", "bc_index", "bc6h_mode", "bc6h"), &[tables::bc6h])
        }
        Format::Bc7 => (wgsl!("square", "bc_index", "bc7"), &[tables::bc7]),
        Format::Etc1 => (wgsl!("square", "etc", "etc_color", "etc1"), &[tables::etc_color]),
        Format::Etc2Rgb => (wgsl!("square", "etc", "etc_color", "etc2_rgb"), &[tables::etc_color]),
        Format::Etc2Rgba1 => (wgsl!("square", "etc", "etc_color", "etc2_rgba1"), &[tables::etc_color]),
        Format::Etc2Rgba8 => {
            let parts = wgsl!("square", "etc", "etc_color", "eac", "etc2_rgba8");
            (parts, &[tables::etc_color, tables::eac])
        }
        Format::EacR11Unorm | Format::EacR11Snorm => (wgsl!("square", "etc", "eac", "r11"), &[tables::eac]),
        Format::EacRg11Unorm | Format::EacRg11Snorm => {
            (wgsl!("square", "etc", "eac", "rg11"), &[tables::eac])
        }
        Format::Astc(..) => {
            let parts =
                wgsl!("astc/main", "astc/header", "astc/ise", "astc/endpoint", "astc/texel", "astc/void");
            (parts, &[tables::astc])
        }
        Format::Pica(_)
        | Format::Etc1s
        | Format::Etc1sAlpha
        | Format::Uastc
        | Format::Packed(_)
        | Format::E5b9g9r9
        | Format::XrBias
        | Format::R8g8B8g8
        | Format::G8r8G8b8
        | Format::Plain(_) => return None,
    };
    add.iter().for_each(|add| add(&mut tables));
    let mut source = tables.constants;
    // Writing to a string cannot fail.
    let _ = writeln!(source, "const SIGNED: bool = {};", is_signed(format));
    let _ = writeln!(source, "const TEXELS: u32 = {}u;", texels_of_an_element(format));
    let element = if format.texel().bytes() == 8 { "vec2<u32>" } else { "u32" };
    let _ = writeln!(source, "alias Element = {element};");
    let _ = writeln!(source, "alias Block = vec{}<u32>;", format.block_bytes() / 4);
    if let Target::Texture(shape) = target {
        let shape = match shape {
            TextureShape::Layers => "2d_array",
            TextureShape::Volume => "3d",
        };
        let texel = texture_format(format).wgsl();
        let _ =
            writeln!(source, "@group(0) @binding(3) var texels: texture_storage_{shape}<{texel}, write>;");
    }
    source.push_str(include_str!("wgsl/common.wgsl"));
    let inputs: &[&str] = match input {
        Input::Picture => wgsl!("picture", "blocks_buffer"),
        Input::Levels => wgsl!("levels", "blocks_buffer"),
        Input::Blocks if format.block_bytes() == 8 => wgsl!("levels", "blocks_texture", "block_of_8"),
        Input::Blocks => wgsl!("levels", "blocks_texture", "block_of_16"),
    };
    source.extend(inputs.iter().copied());
    source.extend(parts.iter().chain(outputs(format, target)).copied());
    Some((source, tables.words))
}

/// How texels get where they go.
fn outputs(format: Format, target: Target) -> impl Iterator<Item = &'static &'static str> {
    let astc = matches!(format, Format::Astc(..));
    let place: &[&str] = match target {
        Target::Buffer if astc => wgsl!("astc/buffer"),
        Target::Buffer => wgsl!("buffer"),
        Target::Texture(TextureShape::Layers) => wgsl!("layers"),
        Target::Texture(TextureShape::Volume) => wgsl!("volume"),
    };
    let texel: &[&str] = match (target, format.texel()) {
        (Target::Buffer, _) => &[],
        (_, Texel::Rgba16Float) if astc => wgsl!("emit_half", "astc/halves"),
        (_, Texel::Rgba16Float) => wgsl!("emit_half"),
        (_, Texel::R16Unorm | Texel::R16Snorm) => wgsl!("unpacked", "emit_r16"),
        (_, Texel::Rg16Unorm | Texel::Rg16Snorm) => wgsl!("unpacked", "emit_rg16"),
        _ if astc => wgsl!("emit_rgba8", "astc/bytes"),
        _ => wgsl!("emit_rgba8"),
    };
    place.iter().chain(texel)
}

/// Texels that a lane makes of blocks of 4x4: those that fill a word.
pub fn texels_of_an_element(format: Format) -> u32 {
    if format.texel().bytes() == 2 { 2 } else { 1 }
}

pub(super) fn is_signed(format: Format) -> bool {
    format == Format::Bc6hSfloat || matches!(format.texel(), Texel::R16Snorm | Texel::Rg16Snorm)
}
