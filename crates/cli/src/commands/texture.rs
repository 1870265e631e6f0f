//! `xenoglot texture`: textures in containers, decoded, described and compared.

mod encode;
mod shown;

use crate::batch::{self, Artifact, BatchArgs};
use crate::engine::EngineName;
use crate::output::{self, Inputs};
use crate::picture::Picture;
use crate::{print, source};
use anyhow::{Context, Result, bail};
use clap::{Subcommand, ValueEnum};
use serde_json::{Value, json};
use shown::{Budget, Shown};
use std::borrow::Cow;
use std::io::Write;
use std::path::{Path, PathBuf};
use xenoglot_texture::container::{Image, Limits, Texture, Transfer, raw, read, read_all, write_ktx2};
use xenoglot_texture::plain::Numeric;
use xenoglot_texture::{Extent, Format, Profile, decode_into_parallel};

/// Arguments of `texture`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// KTX, KTX 2, DDS, PVR, PKM, .astc, .basis, CTPK, BCLIM, BFLIM, NSBTX and BNTX files, and raw blocks, to texels. Of several
    /// textures in a file each is a result of its own.
    Decode {
        #[command(flatten)]
        batch: BatchArgs,
        #[command(flatten)]
        raw: Raw,
        /// What to write: PNG clamps to 0..=1 and rounds to eight bits, the others keep all bits. PNG and OpenEXR are
        /// upright, OpenEXR is linear; KTX 2 has texels as they are, and says how they are meant.
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
        #[command(flatten)]
        memory: Memory,
    },
    /// PNG and texture files to blocks of another format, in KTX 2: BC, ETC2, EAC.
    Encode {
        #[command(flatten)]
        batch: BatchArgs,
        /// What is made. The texels of textures must be bytes: no floats, no volumes of ASTC's blocks with depth.
        #[arg(long, value_enum, default_value = "bc7")]
        format: encode::To,
        /// How long is searched; of no effect on the GPU, where it is as for `fast`.
        #[arg(long, value_enum, default_value_t)]
        quality: encode::Effort,
        /// What encodes; the GPU makes opaque BC1, BC3, BC4, BC5, BC6H and BC7.
        #[arg(long, value_enum, default_value_t)]
        engine: EngineName,
        #[command(flatten)]
        memory: Memory,
    },
    /// What a texture file holds.
    Info {
        #[command(flatten)]
        batch: BatchArgs,
        #[command(flatten)]
        raw: Raw,
        #[command(flatten)]
        memory: Memory,
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
        #[command(flatten)]
        memory: Memory,
    },
}

/// What files without a header hold.
#[derive(clap::Args)]
struct Raw {
    /// The inputs are blocks or texels of this format without a header: BC7, ASTC_6x6_SRGB, PICA200_ETC1A4, R8G8B8A8_UNORM, or
    /// any other name that `texture info` prints or Vulkan has.
    #[arg(long, value_name = "NAME", value_parser = format_named, requires = "size")]
    format: Option<(Format, bool)>,
    /// Their size in texels: 256x128, or 16x16x16 of a volume.
    #[arg(long, value_name = "WxH", value_parser = extent_of, requires = "format")]
    size: Option<Extent>,
}

fn format_named(name: &str) -> Result<(Format, bool), String> {
    Format::from_name(name).ok_or_else(|| "no such format".into())
}

fn extent_of(text: &str) -> Result<Extent, String> {
    let sizes: Vec<u32> = text.split('x').map_while(|size| size.parse().ok()).collect();
    let parts = text.split('x').count();
    match *sizes.as_slice() {
        [width, height] if parts == 2 => Ok(Extent::flat(width, height)),
        [width, height, depth] if parts == 3 => Ok(Extent { width, height, depth }),
        _ => Err("a size is WxH or WxHxD".into()),
    }
}

impl Raw {
    /// All textures of a file.
    fn open<'a>(&self, bytes: &'a [u8], limits: &Limits) -> Result<Vec<Result<Texture<'a>>>> {
        let (Some((format, srgb)), Some(extent)) = (self.format, self.size) else {
            let textures = read_all(bytes, limits).map_err(shown::explained)?;
            return Ok(textures.into_iter().map(|texture| texture.map_err(shown::explained)).collect());
        };
        let mut texture = raw(bytes, format, extent, limits).map_err(shown::explained)?;
        if srgb {
            texture.transfer = Transfer::Srgb;
        }
        Ok(vec![Ok(texture)])
    }

    /// What `work` makes of all textures of a file, each with the limits that the others leave. Where there are several, their
    /// numbers and names are in those of results.
    fn each(
        &self,
        bytes: &[u8],
        limits: &Limits,
        mut work: impl FnMut(Texture<'_>, &Limits) -> batch::Outcome,
    ) -> batch::Outcome {
        let textures = self.open(bytes, limits)?;
        let (several, mut results) = (textures.len() > 1, Vec::new());
        let held: usize = textures.iter().flatten().map(Texture::held_bytes).sum();
        for (index, texture) in textures.into_iter().enumerate() {
            let name = texture.as_ref().ok().and_then(|texture| file_name(texture.name.as_deref()?));
            let name = name.map_or_else(|| index.to_string(), |name| format!("{index}.{name}"));
            let made = texture.and_then(|texture| {
                let others = held - texture.held_bytes();
                work(texture, &Limits { bytes: limits.bytes.saturating_sub(others), ..*limits })
            });
            match made {
                Ok(made) if several => results.extend(made.into_iter().map(|artifact| {
                    artifact.map(|artifact| Artifact {
                        suffix: format!(".{name}{}", artifact.suffix),
                        ..artifact
                    })
                })),
                Ok(made) => results.extend(made),
                Err(error) if several => results.push(Err(error.context(name))),
                Err(error) => return Err(error),
            }
        }
        Ok(results)
    }
}

/// A texture's name as a part of a file's: letters, digits and `-_.` only, and nothing before a slash. Nothing if nothing is
/// left.
fn file_name(name: &str) -> Option<String> {
    const LONGEST: usize = 64;
    let last = name.rsplit(['/', '\\']).next()?;
    let kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let kept: String = last.chars().filter(kept).take(LONGEST).collect();
    (!kept.trim_matches('.').is_empty()).then_some(kept)
}

/// How much of memory a file may take.
#[derive(clap::Args)]
struct Memory {
    /// Most memory in MiB that a file may take, unpacked and decoded, beside the file itself.
    #[arg(long, value_name = "MIB", default_value_t = 256)]
    memory_limit: usize,
}

impl Memory {
    fn limits(&self) -> Limits {
        Limits { bytes: self.memory_limit.saturating_mul(1 << 20), ..Limits::default() }
    }
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
        What::Decode { batch, raw, to, engine, profile, level, memory } => {
            let (engine, limits) = (open(*engine)?, memory.limits());
            batch::run(
                batch,
                || (),
                |(), _, bytes| {
                    raw.each(bytes, &limits, |mut texture, limits| {
                        set_profile(&mut texture, *profile);
                        match to {
                            To::Ktx2 => Ok(vec![ktx2(&engine, &texture, *level, limits)]),
                            _ => pictures(&engine, &texture, *to, level.unwrap_or(0), limits),
                        }
                    })
                },
            )
        }
        What::Encode { batch, format, quality, engine, memory } => {
            let (engine, limits) = (encode::open(*engine, *quality)?, memory.limits());
            batch::run(
                batch,
                || (),
                |(), _, bytes| {
                    let artifact = if bytes.starts_with(PNG) {
                        encode::picture(&engine, &Picture::from_png(bytes)?, *format)
                    } else {
                        encode::texture(&engine, &open_texture(bytes, &limits)?, *format, &limits)
                    };
                    Ok(vec![artifact])
                },
            )
        }
        What::Info { batch, raw, memory } => batch::run(
            batch,
            || (),
            |(), _, bytes| {
                raw.each(bytes, &memory.limits(), |texture, _| {
                    let facts = facts(&texture);
                    let lines = facts.iter().map(|(name, value)| match value {
                        Value::String(text) => format!("{name}: {text}\n"),
                        Value::Null => format!("{name}: not given\n"),
                        _ => format!("{name}: {value}\n"),
                    });
                    let artifact = Artifact::text(".txt", lines.collect());
                    Ok(vec![Ok(facts
                        .into_iter()
                        .fold(artifact, |artifact, (name, value)| artifact.fact(name, value)))])
                })
            },
        ),
        What::Compare { first, second, difference, memory } => {
            compare(first, second, difference.as_deref(), &memory.limits())
        }
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

/// Reads a texture; says what to do where the limit is in the way.
fn open_texture<'a>(bytes: &'a [u8], limits: &Limits) -> Result<Texture<'a>> {
    read(bytes, limits).map_err(shown::explained)
}

/// The images of a level as files of their own.
fn pictures(engine: &Engine, texture: &Texture<'_>, to: To, level: u32, limits: &Limits) -> batch::Outcome {
    let mut budget = Budget::new(limits, texture);
    let artifact = |image: &Image<'_>| {
        // What an image needs it gives back, but for its file.
        let mut spent = budget;
        let shown = decoded(engine, texture, image, &mut spent)?;
        let [width, height] = shown.size()?;
        let (ending, bytes) = match to {
            To::Exr => ("exr", shown.open_exr(&mut spent)?),
            _ => ("png", shown.picture(&mut spent)?.png()?),
        };
        budget.take(bytes.len())?;
        let suffix = match (texture.layers, texture.faces) {
            (1, 1) => format!(".{ending}"),
            _ => format!(".{}.{}.{ending}", image.layer, image.face),
        };
        Ok(Artifact::bytes(suffix, bytes).fact("width", width).fact("height", height))
    };
    let images = texture.images.iter().filter(|image| image.level == level);
    let artifacts: Vec<Result<Artifact>> = images.map(artifact).collect();
    if artifacts.is_empty() {
        bail!("there is no level {level}");
    }
    Ok(artifacts)
}

/// All images, or one level's, as plain texels in one file.
fn ktx2(engine: &Engine, texture: &Texture<'_>, level: Option<u32>, limits: &Limits) -> Result<Artifact> {
    let chosen;
    let source = match level {
        Some(level) => {
            chosen = texture.level(level).with_context(|| format!("there is no level {level}"))?;
            &chosen
        }
        None => texture,
    };
    let mut budget = Budget::new(limits, texture);
    let mut images = Vec::with_capacity(source.images.len());
    for image in &source.images {
        let shown = decoded(engine, source, image, &mut budget)?;
        // The file has all texels once more.
        budget.take(shown.texels.len())?;
        images.push(Image { data: shown.texels, ..*image });
    }
    let decoded = source.with_images(Format::Plain(source.format.texel()), images);
    let artifact = Artifact::bytes(".ktx2", write_ktx2(&decoded)?);
    let Extent { width, height, .. } = decoded.extent;
    Ok(artifact.fact("width", width).fact("height", height).fact("levels", decoded.levels))
}

fn facts(texture: &Texture<'_>) -> Vec<(&'static str, Value)> {
    let Extent { width, height, depth } = texture.extent;
    let name = texture.name.as_deref().map(|name| ("name", name.into()));
    let facts = vec![
        ("container", texture.container.to_string().into()),
        ("format", texture.format.to_string().into()),
        ("size", json!([width, height, depth])),
        ("channels", texture.channels.to_string().into()),
        ("transfer", texture.transfer.to_string().into()),
        ("premultiplied", texture.premultiplied.into()),
        ("orientation", texture.orientation.map(|o| o.letters(texture.dimensions as usize)).into()),
        ("swizzle", texture.swizzle.map(|swizzle| swizzle.to_string()).into()),
        ("supercompression", texture.supercompression.to_string().into()),
        ("dimensions", texture.dimensions.into()),
        ("levels", texture.levels.into()),
        ("array", texture.array.into()),
        ("layers", texture.layers.into()),
        ("faces", texture.faces.into()),
        ("bytes", texture.images.iter().map(|image| image.data.len()).sum::<usize>().into()),
    ];
    facts.into_iter().chain(name).collect()
}

/// Reads ASTC blocks otherwise than the file says.
fn set_profile(texture: &mut Texture<'_>, profile: Option<ProfileName>) {
    if let (Format::Astc(footprint, _), Some(name)) = (texture.format, profile) {
        texture.format = Format::Astc(footprint, name.profile());
        texture.transfer = match name {
            ProfileName::Srgb => Transfer::Srgb,
            ProfileName::Ldr | ProfileName::Hdr => Transfer::Linear,
        };
    }
}

/// Decodes an image of a texture.
fn decoded<'t>(
    engine: &Engine,
    texture: &'t Texture<'_>,
    image: &'t Image<'_>,
    budget: &mut Budget,
) -> Result<Shown<'t>> {
    let texels = match texture.format {
        Format::Plain(_) => Cow::Borrowed(&*image.data),
        format => {
            let bytes = format.output_bytes(image.extent).context("the picture is too large")?;
            budget.take(bytes)?;
            let mut texels = vec![0; bytes];
            match format.has_program() {
                true => engine(format, image.extent, &image.data, &mut texels)?,
                false => decode_into_parallel(format, image.extent, &image.data, &mut texels)?,
            }
            Cow::Owned(texels)
        }
    };
    Ok(Shown {
        texel: texture.format.texel(),
        floats: match texture.format {
            Format::Packed(layout) => layout.numeric() == Numeric::Float,
            format => shown::is_float(format.texel()),
        },
        extent: image.extent,
        transfer: texture.transfer,
        orientation: texture.orientation.unwrap_or_default(),
        texels,
    })
}

/// A PNG, or the largest image of a texture.
fn load(path: &Path, limits: &Limits) -> Result<Picture> {
    let context = || source::name(path);
    let bytes = source::read(path)?;
    if !bytes.starts_with(PNG) {
        let texture = open_texture(&bytes, limits).with_context(context)?;
        let image = texture.images.first().with_context(context)?;
        let (engine, mut budget) = (open(EngineName::Cpu)?, Budget::new(limits, &texture));
        let shown = decoded(&engine, &texture, image, &mut budget).with_context(context)?;
        return shown.picture(&mut budget).with_context(context);
    }
    Picture::from_png(&bytes).with_context(context)
}

/// The first bytes of a PNG.
const PNG: &[u8] = b"\x89PNG";

fn compare(first: &Path, second: &Path, difference: Option<&Path>, limits: &Limits) -> Result<bool> {
    if let Some(path) = difference {
        output::check_ending(path, "png")?;
        Inputs::new([first, second]).check(path)?;
    }
    let (a, b) = (load(first, limits)?, load(second, limits)?);
    if (a.width, a.height) != (b.width, b.height) {
        bail!("{} x {} and {} x {} cannot be compared", a.width, a.height, b.width, b.height);
    }
    let pairs = || a.rgba.iter().zip(&b.rgba);
    let squares: f64 = pairs().map(|(a, b)| f64::from(a.abs_diff(*b)).powi(2)).sum();
    let mean = squares / a.rgba.len().max(1) as f64;
    let largest = pairs().map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0);
    let psnr =
        if squares == 0.0 { "infinite".into() } else { format!("{:.2} dB", 10.0 * (65025.0 / mean).log10()) };
    let mut out = print::beside(difference);
    writeln!(out, "PSNR {psnr}, SSIM {:.5}, largest difference {largest}", ssim(&a, &b))?;
    if let Some(path) = difference {
        let mut rgba: Vec<u8> = pairs().map(|(a, b)| a.abs_diff(*b)).collect();
        rgba.iter_mut().skip(3).step_by(4).for_each(|alpha| *alpha = 255);
        let bytes = Picture { width: a.width, height: a.height, rgba, srgb: false }.png()?;
        output::write(path, &bytes)?;
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
