//! `xenoglot texture`: textures in containers, decoded, described and compared.

use crate::batch::{self, Artifact, BatchArgs};
use anyhow::{Context, Result, bail};
use clap::{Subcommand, ValueEnum};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use xenoglot_texture::container::{Limits, Texture, read};
use xenoglot_texture::{Extent, Format, Profile, Texel, decode_into_parallel};

/// Arguments of `texture`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// KTX, KTX 2, DDS and .astc files to PNG.
    Decode {
        #[command(flatten)]
        batch: BatchArgs,
        /// How ASTC blocks are read; as the file says if not given.
        #[arg(long, value_enum)]
        profile: Option<ProfileName>,
        /// The level to decode, 0 the largest.
        #[arg(long, default_value_t = 0)]
        level: u32,
    },
    /// What a texture file holds.
    Info {
        #[command(flatten)]
        batch: BatchArgs,
    },
    /// How far two pictures of the same size are apart.
    Compare {
        /// A texture or a PNG.
        first: PathBuf,
        /// Another.
        second: PathBuf,
        /// Write the absolute differences as a PNG.
        #[arg(long, value_name = "FILE")]
        difference: Option<PathBuf>,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum ProfileName {
    Ldr,
    Srgb,
    Hdr,
}

impl ProfileName {
    const fn profile(self) -> Profile {
        match self {
            ProfileName::Ldr => Profile::LdrUnorm8,
            ProfileName::Srgb => Profile::Srgb,
            ProfileName::Hdr => Profile::Hdr,
        }
    }
}

/// A picture of RGBA8.
struct Picture {
    width: u32,
    height: u32,
    rgba: Vec<u8>,
}

/// Does what is asked.
pub fn run(args: &Args) -> Result<bool> {
    match &args.what {
        What::Decode { batch, profile, level } => batch::run(
            batch,
            || (),
            |(), _, bytes| {
                let texture = read(bytes, &Limits::default())?;
                let format = with_profile(texture.format, *profile);
                let images = texture.images.iter().filter(|image| image.level == *level);
                let artifacts: Vec<Result<Artifact>> = images
                    .map(|image| {
                        let picture = picture(format, image.extent, &image.data)?;
                        let suffix = match (texture.layers, texture.faces) {
                            (1, 1) => ".png".into(),
                            _ => format!(".{}.{}.png", image.layer, image.face),
                        };
                        let artifact = Artifact::bytes(suffix, png(&picture)?);
                        Ok(artifact.fact("width", picture.width).fact("height", picture.height))
                    })
                    .collect();
                if artifacts.is_empty() {
                    bail!("there is no level {level}");
                }
                Ok(artifacts)
            },
        ),
        What::Info { batch } => batch::run(
            batch,
            || (),
            |(), _, bytes| {
                let texture = read(bytes, &Limits::default())?;
                let facts = facts(&texture);
                let lines = facts.iter().map(|(name, value)| format!("{name}: {value}\n"));
                let artifact = Artifact::text(".txt", lines.collect());
                Ok(vec![Ok(facts
                    .into_iter()
                    .fold(artifact, |artifact, (name, value)| artifact.fact(name, value)))])
            },
        ),
        What::Compare { first, second, difference } => compare(first, second, difference.as_deref()),
    }
}

fn facts(texture: &Texture<'_>) -> Vec<(&'static str, Value)> {
    let Extent { width, height, depth } = texture.extent;
    vec![
        ("container", format!("{:?}", texture.container).into()),
        ("format", format!("{:?}", texture.format).into()),
        ("size", json!([width, height, depth])),
        ("levels", texture.levels.into()),
        ("layers", texture.layers.into()),
        ("faces", texture.faces.into()),
        ("bytes", texture.images.iter().map(|image| image.data.len()).sum::<usize>().into()),
    ]
}

fn with_profile(format: Format, profile: Option<ProfileName>) -> Format {
    match (format, profile) {
        (Format::Astc(footprint, _), Some(profile)) => Format::Astc(footprint, profile.profile()),
        (format, _) => format,
    }
}

/// Decodes an image; slices lie below each other, what is wider than eight bits is clamped to 0..=1 and rounded.
fn picture(format: Format, extent: Extent, data: &[u8]) -> Result<Picture> {
    let bytes = format.output_bytes(extent).filter(|n| *n <= Limits::default().bytes);
    let mut texels = vec![0; bytes.context("the picture is too large")?];
    decode_into_parallel(format, extent, data, &mut texels)?;
    let height = extent.height.checked_mul(extent.depth).context("too many slices")?;
    let texel = format.texel();
    let rgba = texels.chunks_exact(texel.bytes()).flat_map(|t| rgba8(texel, t)).collect();
    Ok(Picture { width: extent.width, height, rgba })
}

/// A texel in eight bits; of signed ones -1 is black and 1 white.
fn rgba8(texel: Texel, bytes: &[u8]) -> [u8; 4] {
    let word = |i: usize| u16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]]);
    let unorm = |i: usize| ((u32::from(word(i)) * 255 + 32767) / 65535) as u8;
    let snorm = |i: usize| ((i32::from(word(i) as i16) + 32767) * 255 / 65534) as u8;
    let float = |value: f32| (value.clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
    let single =
        |i: usize| f32::from_le_bytes([bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]]);
    match texel {
        Texel::R8Unorm => [bytes[0], 0, 0, 255],
        Texel::Rg8Unorm => [bytes[0], bytes[1], 0, 255],
        Texel::Rgba8 => [bytes[0], bytes[1], bytes[2], bytes[3]],
        Texel::R16Unorm => [unorm(0), 0, 0, 255],
        Texel::Rg16Unorm => [unorm(0), unorm(1), 0, 255],
        Texel::R16Snorm => [snorm(0), 0, 0, 255],
        Texel::Rg16Snorm => [snorm(0), snorm(1), 0, 255],
        Texel::Rgba16Float => std::array::from_fn(|i| float(half(word(i)))),
        Texel::Rgba32Float => std::array::from_fn(|i| float(single(i))),
    }
}

/// The value of a half; NaN is 0.
fn half(bits: u16) -> f32 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f32::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => 0.0,
        _ => (1024.0 + fraction) * 2f32.powi(exponent - 25),
    };
    if bits & 0x8000 == 0 { magnitude } else { -magnitude }
}

fn png(picture: &Picture) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, picture.width, picture.height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.write_header()?.write_image_data(&picture.rgba)?;
    Ok(bytes)
}

/// A PNG, or the largest image of a texture.
fn load(path: &Path) -> Result<Picture> {
    let context = || path.display().to_string();
    let bytes = std::fs::read(path).with_context(context)?;
    if !bytes.starts_with(b"\x89PNG") {
        let texture = read(&bytes, &Limits::default()).with_context(context)?;
        let image = texture.images.first().with_context(context)?;
        return picture(texture.format, image.extent, &image.data).with_context(context);
    }
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::ALPHA | png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().with_context(context)?;
    let size = reader.output_buffer_size().context("the picture is too large").with_context(context)?;
    let mut pixels = vec![0; size];
    let info = reader.next_frame(&mut pixels).with_context(context)?;
    pixels.truncate(info.buffer_size());
    let rgba = match info.color_type {
        png::ColorType::Rgba => pixels,
        png::ColorType::GrayscaleAlpha => {
            pixels.chunks_exact(2).flat_map(|p| [p[0], p[0], p[0], p[1]]).collect()
        }
        other => bail!("{}: {other:?} is not supported", path.display()),
    };
    Ok(Picture { width: info.width, height: info.height, rgba })
}

fn compare(first: &Path, second: &Path, difference: Option<&Path>) -> Result<bool> {
    let (a, b) = (load(first)?, load(second)?);
    if (a.width, a.height) != (b.width, b.height) {
        bail!("{} x {} and {} x {} cannot be compared", a.width, a.height, b.width, b.height);
    }
    let pairs = || a.rgba.iter().zip(&b.rgba);
    let squares: f64 = pairs().map(|(a, b)| f64::from(a.abs_diff(*b)).powi(2)).sum();
    let mean = squares / a.rgba.len().max(1) as f64;
    let largest = pairs().map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0);
    let psnr =
        if squares == 0.0 { "infinite".into() } else { format!("{:.2} dB", 10.0 * (65025.0 / mean).log10()) };
    println!("PSNR {psnr}, SSIM {:.5}, largest difference {largest}", ssim(&a, &b));
    if let Some(path) = difference {
        let mut rgba: Vec<u8> = pairs().map(|(a, b)| a.abs_diff(*b)).collect();
        rgba.iter_mut().skip(3).step_by(4).for_each(|alpha| *alpha = 255);
        let bytes = png(&Picture { width: a.width, height: a.height, rgba })?;
        std::fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(squares == 0.0)
}

/// The mean structural similarity of luma over squares of eight texels (Wang et al. 2004, without the Gaussian).
fn ssim(a: &Picture, b: &Picture) -> f64 {
    const SIDE: usize = 8;
    const C1: f64 = 6.5025;
    const C2: f64 = 58.5225;
    let width = a.width as usize;
    let luma = |p: &Picture, at: usize| {
        let c = |i: usize| f64::from(p.rgba[4 * at + i]);
        0.299 * c(0) + 0.587 * c(1) + 0.114 * c(2)
    };
    let (mut sum, mut count) = (0.0, 0.0);
    for top in (0..a.height as usize).step_by(SIDE) {
        for left in (0..width).step_by(SIDE) {
            let rows = top..(top + SIDE).min(a.height as usize);
            let texels = rows.flat_map(|y| (left..(left + SIDE).min(width)).map(move |x| y * width + x));
            let (mut n, mut s) = (0.0, [0.0; 5]);
            for at in texels {
                let (a, b) = (luma(a, at), luma(b, at));
                n += 1.0;
                s = [s[0] + a, s[1] + b, s[2] + a * a, s[3] + b * b, s[4] + a * b];
            }
            let (ma, mb) = (s[0] / n, s[1] / n);
            let (va, vb, cov) = (s[2] / n - ma * ma, s[3] / n - mb * mb, s[4] / n - ma * mb);
            sum += (2.0 * ma * mb + C1) * (2.0 * cov + C2) / ((ma * ma + mb * mb + C1) * (va + vb + C2));
            count += 1.0;
        }
    }
    if count == 0.0 { 1.0 } else { sum / count }
}
