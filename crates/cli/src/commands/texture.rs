//! `xenoglot texture`: textures in containers, decoded, described and compared.

use crate::batch::{self, Artifact, BatchArgs};
use crate::engine::EngineName;
use crate::picture::{Picture, open_exr, values};
use anyhow::{Context, Result, bail};
use clap::{Subcommand, ValueEnum};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use xenoglot_texture::container::{Container, Image, Limits, Texture, read, write_ktx2};
use xenoglot_texture::{Extent, Format, Profile, Texel, decode_into_parallel};

/// Arguments of `texture`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// KTX, KTX 2, DDS and .astc files to texels.
    Decode {
        #[command(flatten)]
        batch: BatchArgs,
        /// What to write: PNG clamps to 0..=1 and rounds to eight bits, the others keep all bits.
        #[arg(long, value_enum, default_value_t)]
        to: To,
        /// What decodes.
        #[arg(long, value_enum, default_value_t)]
        engine: EngineName,
        /// How ASTC blocks are read; as the file says if not given.
        #[arg(long, value_enum)]
        profile: Option<ProfileName>,
        /// The level to decode, 0 the largest; if not given 0, or all for KTX 2.
        #[arg(long)]
        level: Option<u32>,
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

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum To {
    /// A picture for each layer and face.
    #[default]
    Png,
    /// OpenEXR: the same with floats.
    Exr,
    /// One file of plain texels.
    Ktx2,
}

/// Decodes as [`decode_into_parallel`] does.
type Engine = dyn Fn(Format, Extent, &[u8], &mut [u8]) -> Result<()> + Sync;

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

/// Does what is asked.
pub fn run(args: &Args) -> Result<bool> {
    match &args.what {
        What::Decode { batch, to, engine, profile, level } => {
            let engine = open(*engine)?;
            batch::run(
                batch,
                || (),
                |(), _, bytes| {
                    let mut texture = read(bytes, &Limits::default())?;
                    texture.format = with_profile(texture.format, *profile);
                    match to {
                        To::Ktx2 => Ok(vec![ktx2(&engine, &texture, *level)]),
                        _ => pictures(&engine, &texture, *to, level.unwrap_or(0)),
                    }
                },
            )
        }
        What::Info { batch } => batch::run(
            batch,
            || (),
            |(), _, bytes| {
                let texture = read(bytes, &Limits::default())?;
                let facts = facts(&texture);
                let lines = facts.iter().map(|(name, value)| match value {
                    Value::String(text) => format!("{name}: {text}\n"),
                    _ => format!("{name}: {value}\n"),
                });
                let artifact = Artifact::text(".txt", lines.collect());
                Ok(vec![Ok(facts
                    .into_iter()
                    .fold(artifact, |artifact, (name, value)| artifact.fact(name, value)))])
            },
        ),
        What::Compare { first, second, difference } => compare(first, second, difference.as_deref()),
    }
}

fn open(engine: EngineName) -> Result<Box<Engine>> {
    Ok(match engine {
        EngineName::Cpu => {
            Box::new(|format, extent, data, out| Ok(decode_into_parallel(format, extent, data, out)?))
        }
        #[cfg(feature = "gpu")]
        EngineName::Compute => {
            let decoder = xenoglot_texture::compute::Decoder::new(&crate::engine::device()?);
            Box::new(move |format, extent, data, out| Ok(decoder.decode_into(format, extent, data, out)?))
        }
    })
}

/// The images of a level as files of their own.
fn pictures(engine: &Engine, texture: &Texture<'_>, to: To, level: u32) -> batch::Outcome {
    let images = texture.images.iter().filter(|image| image.level == level);
    let artifact = |image: &Image<'_>| {
        let texel = texture.format.texel();
        let texels = decoded(engine, texture.format, image.extent, &image.data)?;
        let [width, height] = size(image.extent)?;
        let (ending, bytes) = match to {
            To::Exr => ("exr", open_exr(texel, [width as usize, height as usize], &texels)?),
            _ => ("png", picture(texel, image.extent, &texels)?.png()?),
        };
        let suffix = match (texture.layers, texture.faces) {
            (1, 1) => format!(".{ending}"),
            _ => format!(".{}.{}.{ending}", image.layer, image.face),
        };
        Ok(Artifact::bytes(suffix, bytes).fact("width", width).fact("height", height))
    };
    let artifacts: Vec<Result<Artifact>> = images.map(artifact).collect();
    if artifacts.is_empty() {
        bail!("there is no level {level}");
    }
    Ok(artifacts)
}

/// All images, or those of a level, as plain texels in one file.
fn ktx2(engine: &Engine, texture: &Texture<'_>, level: Option<u32>) -> Result<Artifact> {
    let format = texture.format;
    let first = level.unwrap_or(0);
    let images = texture.images.iter().filter(|image| level.is_none_or(|level| image.level == level));
    let images: Vec<Image<'_>> = images
        .map(|image| {
            let data = decoded(engine, format, image.extent, &image.data)?.into();
            Ok(Image { level: image.level - first, data, ..*image })
        })
        .collect::<Result<_>>()?;
    let extent = images.first().with_context(|| format!("there is no level {first}"))?.extent;
    let levels = if level.is_some() { 1 } else { texture.levels };
    let extent = if level.is_some() { extent } else { texture.extent };
    let plain = Texture {
        container: Container::Ktx2,
        format: Format::Plain(format.texel()),
        extent,
        levels,
        images,
        ..*texture
    };
    let srgb = matches!(format, Format::Astc(_, Profile::Srgb));
    let artifact = Artifact::bytes(".ktx2", write_ktx2(&plain, srgb)?);
    Ok(artifact.fact("width", extent.width).fact("height", extent.height).fact("levels", levels))
}

fn facts(texture: &Texture<'_>) -> Vec<(&'static str, Value)> {
    let Extent { width, height, depth } = texture.extent;
    vec![
        ("container", texture.container.to_string().into()),
        ("format", texture.format.to_string().into()),
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

/// Decodes an image.
fn decoded(engine: &Engine, format: Format, extent: Extent, data: &[u8]) -> Result<Vec<u8>> {
    let bytes = format.output_bytes(extent).filter(|n| *n <= Limits::default().bytes);
    let mut texels = vec![0; bytes.context("the picture is too large")?];
    engine(format, extent, data, &mut texels)?;
    Ok(texels)
}

/// Width, and rows of all slices, which lie below each other.
fn size(extent: Extent) -> Result<[u32; 2]> {
    Ok([extent.width, extent.height.checked_mul(extent.depth).context("too many slices")?])
}

/// Texels as a picture; what is wider than eight bits is clamped to 0..=1 and rounded.
fn picture(texel: Texel, extent: Extent, texels: &[u8]) -> Result<Picture> {
    let [width, height] = size(extent)?;
    let rgba = texels.chunks_exact(texel.bytes()).flat_map(|t| rgba8(texel, t)).collect();
    Ok(Picture { width, height, rgba })
}

/// A texel in eight bits; of signed ones -1 is black and 1 white.
fn rgba8(texel: Texel, bytes: &[u8]) -> [u8; 4] {
    if texel == Texel::Rgba8 {
        return [bytes[0], bytes[1], bytes[2], bytes[3]];
    }
    let [r, g, b, a] = values(texel, bytes);
    let color = match texel {
        Texel::R16Snorm => [(r + 1.0) / 2.0, 0.0, 0.0, a],
        Texel::Rg16Snorm => [(r + 1.0) / 2.0, (g + 1.0) / 2.0, 0.0, a],
        _ => [r, g, b, a],
    };
    color.map(|c| (c.clamp(0.0, 1.0) * 255.0 + 0.5) as u8)
}

/// A PNG, or the largest image of a texture.
fn load(path: &Path) -> Result<Picture> {
    let context = || path.display().to_string();
    let bytes = std::fs::read(path).with_context(context)?;
    if !bytes.starts_with(b"\x89PNG") {
        let texture = read(&bytes, &Limits::default()).with_context(context)?;
        let image = texture.images.first().with_context(context)?;
        let engine = open(EngineName::Cpu)?;
        let texels = decoded(&engine, texture.format, image.extent, &image.data).with_context(context)?;
        return picture(texture.format.texel(), image.extent, &texels).with_context(context);
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
        let bytes = Picture { width: a.width, height: a.height, rgba }.png()?;
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
