//! `xenoglot yuv`: frames of luma and chroma to RGB.

use crate::batch::{self, Artifact, BatchArgs};
use crate::engine::EngineName;
use crate::failure::usage;
use crate::picture::Picture;
use crate::source::Source;
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use xenoglot_yuv::light::{self, Primaries, Transfer};
use xenoglot_yuv::y4m::{self, Y4m};
use xenoglot_yuv::{
    Component, Conversion, Filter, Format, Frame, Layout, Model, Precision, Range, Reconstruction, Siting,
    Subsampling, convert, convert_rgba8_with,
};

/// Arguments of `yuv`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    batch: BatchArgs,
    /// What to write.
    #[arg(long, value_enum, default_value_t)]
    to: To,
    /// The frame, 0 the first.
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "all")]
    frame: usize,
    /// Every frame, in files of their own.
    #[arg(long)]
    all: bool,
    /// What converts.
    #[arg(long, value_enum, default_value_t)]
    engine: EngineName,
    /// How close bytes that the CPU makes are to what the conversion defines.
    #[arg(long, value_enum, default_value_t)]
    precision: PrecisionName,

    /// Width and height of raw files; .y4m files say it.
    #[arg(long, value_name = "WxH", value_parser = size, help_heading = "Raw files")]
    size: Option<[usize; 2]>,
    /// How samples of raw files share planes.
    #[arg(long, value_enum, default_value_t, help_heading = "Raw files")]
    layout: LayoutName,
    /// Chroma samples of raw files; 420, or what a packed layout has.
    #[arg(long, value_enum, help_heading = "Raw files")]
    subsampling: Option<SubsamplingName>,
    /// Bits of a sample of raw files; more than 8 are words of two bytes, the low one first. 8, but 10 for v210 and y410.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(8..=16), help_heading = "Raw files")]
    bits: Option<u32>,
    /// Words of raw files have their value in the high bits (P010), not in the low ones.
    #[arg(long, help_heading = "Raw files")]
    high: bool,

    /// The model.
    #[arg(long, value_enum, default_value_t, help_heading = "Conversion")]
    matrix: Matrix,
    /// Which codes mean 0 and 1; as the file says, or narrow.
    #[arg(long, value_enum, help_heading = "Conversion")]
    range: Option<RangeName>,
    /// Where chroma samples lie along x and y: at the first of the luma samples that share one, or in their middle; as the file
    /// says, or cosited,midpoint.
    #[arg(long, value_name = "X,Y", value_parser = siting, help_heading = "Conversion")]
    siting: Option<[Siting; 2]>,
    /// How chroma between samples is made.
    #[arg(long, value_enum, default_value_t, help_heading = "Conversion")]
    filter: FilterName,
    /// Chroma is brought to luma's resolution (explicit), or sampled where a texel lies.
    #[arg(long, value_enum, default_value_t, help_heading = "Conversion")]
    reconstruction: ReconstructionName,
    /// What red, green and blue of the samples are taken from: three of r (Cr), g (luma), b (Cb), a (alpha), 0 and 1. A fourth
    /// is for alpha; without it alpha is 1.
    #[arg(long, value_name = "RGBA", default_value = "rgb", value_parser = swizzle, help_heading = "Conversion")]
    swizzle: [Component; 4],
    /// Takes alpha from the frame, as --swizzle rgba does. Frames without it have alpha 1.
    #[arg(long, conflicts_with = "swizzle", help_heading = "Conversion")]
    alpha: bool,

    /// Makes linear light of the colours, by what coded them; for --to rgba32f.
    #[arg(long, value_enum, help_heading = "Light")]
    transfer: Option<TransferName>,
    /// Brings linear light from these primaries to those of --to-primaries.
    #[arg(long, value_enum, requires_all = ["transfer", "to_primaries"], help_heading = "Light")]
    primaries: Option<PrimariesName>,
    /// The primaries of the linear light that is written.
    #[arg(long, value_enum, requires = "primaries", help_heading = "Light")]
    to_primaries: Option<PrimariesName>,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum To {
    /// PNG of eight bits.
    #[default]
    Png,
    /// Raw bytes, RGBA.
    Rgba8,
    /// Raw singles, RGBA, not clamped.
    Rgba32f,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum PrecisionName {
    /// Rounded to the nearest.
    #[default]
    Exact,
    /// That, or one more or less, which takes less time.
    WithinOne,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum LayoutName {
    /// Planes of luma, Cb and Cr (I420, I422, I444).
    #[default]
    Planar,
    /// Planes of luma, Cb, Cr and alpha (yuva420p and the like).
    PlanarAlpha,
    /// Planes of luma and of pairs of Cb and Cr (NV12, P010).
    SemiPlanar,
    /// Planes of luma and of pairs of Cr and Cb (NV21, NV61, NV42).
    SemiPlanarSwapped,
    /// Luma, Cb, luma, Cr (YUY2; Y210 and Y216 with more bits and --high).
    Yuyv,
    /// Cb, luma, Cr, luma.
    Uyvy,
    /// Luma, Cr, luma, Cb.
    Yvyu,
    /// Cr, luma, Cb, luma.
    Vyuy,
    /// Cb, luma, Cr, luma of ten bits, three to a word of four bytes, rows padded to 128 bytes.
    V210,
    /// Cr, Cb, luma and alpha (often called AYUV).
    Vuya,
    /// Cb, luma, Cr and alpha (Y412 and Y416 with more bits and --high).
    Uyva,
    /// Alpha, luma, Cb and Cr.
    Ayuv,
    /// Cr, luma, Cb and alpha.
    Vyua,
    /// Cb, luma, Cr of ten bits and alpha of two in a word of four bytes.
    Y410,
    /// Luma alone.
    Mono,
}

#[derive(Clone, Copy, ValueEnum)]
enum SubsamplingName {
    #[value(name = "410")]
    S410,
    #[value(name = "411")]
    S411,
    #[value(name = "420")]
    S420,
    #[value(name = "422")]
    S422,
    #[value(name = "440")]
    S440,
    #[value(name = "444")]
    S444,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum Matrix {
    /// ITU-R BT.709.
    #[default]
    Bt709,
    /// ITU-R BT.601.
    Bt601,
    /// ITU-R BT.2020, non-constant luminance.
    Bt2020,
    /// ITU-R BT.2020, constant luminance.
    Bt2020Constant,
    /// SMPTE 240M.
    Smpte240m,
    /// FCC of 1953.
    Fcc,
    /// The samples are green, blue and red.
    RgbIdentity,
    /// Luma and chroma as they are, after the range.
    YcbcrIdentity,
}

#[derive(Clone, Copy, ValueEnum)]
enum RangeName {
    /// All codes.
    Full,
    /// 16 to 235 and 240, of eight bits.
    Narrow,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum FilterName {
    Nearest,
    #[default]
    Linear,
    /// Catmull-Rom.
    Cubic,
}

#[derive(Clone, Copy, ValueEnum)]
enum TransferName {
    /// BT.709, BT.601 and BT.2020: light of the scene.
    Bt709,
    /// BT.1886: light of a display, a power of 2.4.
    Bt1886,
    /// sRGB.
    Srgb,
    /// SMPTE ST 2084; 1 is 10,000 candelas to the square metre.
    Pq,
    /// Hybrid log-gamma: light of the scene.
    Hlg,
}

#[derive(Clone, Copy, ValueEnum)]
enum PrimariesName {
    Bt709,
    Bt2020,
    /// P3 with the white D65.
    P3,
    /// BT.601 of 525 lines.
    Bt601Lines525,
    /// BT.601 of 625 lines.
    Bt601Lines625,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum ReconstructionName {
    #[default]
    Explicit,
    Implicit,
}

fn size(text: &str) -> Result<[usize; 2], String> {
    let parsed = text.split_once('x').and_then(|(w, h)| Some([w.parse().ok()?, h.parse().ok()?]));
    parsed.ok_or_else(|| "expected WIDTHxHEIGHT".into())
}

fn siting(text: &str) -> Result<[Siting; 2], String> {
    let one = |name: &str| match name {
        "cosited" => Some(Siting::CositedEven),
        "midpoint" => Some(Siting::Midpoint),
        _ => None,
    };
    let parsed = text.split_once(',').and_then(|(x, y)| Some([one(x)?, one(y)?]));
    parsed.ok_or_else(|| "expected two of cosited and midpoint, as in cosited,midpoint".into())
}

fn swizzle(text: &str) -> Result<[Component; 4], String> {
    let one = |letter: char| match letter {
        'r' => Some(Component::Red),
        'g' => Some(Component::Green),
        'b' => Some(Component::Blue),
        'a' => Some(Component::Alpha),
        '0' => Some(Component::Zero),
        '1' => Some(Component::One),
        _ => None,
    };
    let components: Option<Vec<Component>> = text.chars().map(one).collect();
    match components.as_deref() {
        Some(&[r, g, b]) => Ok([r, g, b, Component::One]),
        Some(&[r, g, b, a]) => Ok([r, g, b, a]),
        _ => Err("expected three or four of r, g, b, a, 0 and 1".into()),
    }
}

/// A file's frames, and what it says of them.
struct Film<'a> {
    format: Format,
    size: [usize; 2],
    frames: Vec<&'a [u8]>,
    conversion: Conversion,
}

/// Converts.
pub fn run(args: &Args) -> Result<bool> {
    if args.transfer.is_some() && !matches!(args.to, To::Rgba32f) {
        return Err(usage("--transfer makes linear light, which needs --to rgba32f"));
    }
    let engine = open(args)?;
    batch::run(
        &args.batch,
        || (),
        |(), source, bytes| {
            let film = film(args, source, bytes)?;
            let count = film.frames.len();
            let chosen =
                if args.all { 0..count } else { args.frame..count.min(args.frame.saturating_add(1)) };
            if chosen.is_empty() {
                bail!("there is no frame {}, the file has {count}", if args.all { 0 } else { args.frame });
            }
            Ok(chosen.map(|number| artifact(args, &engine, &film, number)).collect())
        },
    )
}

/// What is in a file.
fn film<'a>(args: &Args, source: &Source, bytes: &'a [u8]) -> Result<Film<'a>> {
    let mut conversion = Conversion {
        model: match args.matrix {
            Matrix::Bt709 => Model::Bt709,
            Matrix::Bt601 => Model::Bt601,
            Matrix::Bt2020 => Model::Bt2020,
            // What is behind the conversion makes colours.
            Matrix::Bt2020Constant => Model::YcbcrIdentity,
            Matrix::Smpte240m => Model::Smpte240M,
            Matrix::Fcc => Model::Fcc,
            Matrix::RgbIdentity => Model::RgbIdentity,
            Matrix::YcbcrIdentity => Model::YcbcrIdentity,
        },
        filter: match args.filter {
            FilterName::Nearest => Filter::Nearest,
            FilterName::Linear => Filter::Linear,
            FilterName::Cubic => Filter::Cubic,
        },
        reconstruction: match args.reconstruction {
            ReconstructionName::Explicit => Reconstruction::Explicit,
            ReconstructionName::Implicit => Reconstruction::Implicit,
        },
        components: if args.alpha { Conversion::IDENTITY } else { args.swizzle },
        ..Conversion::default()
    };
    let (format, size, frames) = if bytes.starts_with(y4m::MAGIC) {
        let file = Y4m::parse(bytes)?;
        conversion.range = file.range.unwrap_or(conversion.range);
        conversion.siting = file.siting.unwrap_or(conversion.siting);
        let wanted = if args.all { usize::MAX } else { args.frame.saturating_add(1) };
        (file.format, [file.width, file.height], file.frames().take(wanted).collect::<Result<_, _>>()?)
    } else {
        let Some([width, height]) = args.size else {
            // In a folder there may be anything.
            return Err(match source.named {
                true => usage("a raw file needs --size WxH"),
                false => xenoglot::Error::UnknownFormat.into(),
            });
        };
        let format = raw_format(args);
        // What is wrong with the format is said before a frame is looked for.
        let bytes_each = format.bytes(width, height).context("the frame is too large")?;
        if bytes_each == 0 {
            return Err(usage("a frame needs a width and a height"));
        }
        (format, [width, height], bytes.chunks_exact(bytes_each).collect())
    };
    conversion.range = match args.range {
        Some(RangeName::Full) => Range::Full,
        Some(RangeName::Narrow) => Range::Narrow,
        None => conversion.range,
    };
    conversion.siting = args.siting.unwrap_or(conversion.siting);
    Ok(Film { format, size, frames, conversion })
}

fn raw_format(args: &Args) -> Format {
    let layout = match args.layout {
        LayoutName::Planar => Layout::Planar,
        LayoutName::PlanarAlpha => Layout::PlanarAlpha,
        LayoutName::SemiPlanar => Layout::SemiPlanar,
        LayoutName::SemiPlanarSwapped => Layout::SemiPlanarSwapped,
        LayoutName::Yuyv => Layout::PackedYuyv,
        LayoutName::Uyvy => Layout::PackedUyvy,
        LayoutName::Yvyu => Layout::PackedYvyu,
        LayoutName::Vyuy => Layout::PackedVyuy,
        LayoutName::V210 => Layout::PackedV210,
        LayoutName::Vuya => Layout::PackedVuya,
        LayoutName::Uyva => Layout::PackedUyva,
        LayoutName::Ayuv => Layout::PackedAyuv,
        LayoutName::Vyua => Layout::PackedVyua,
        LayoutName::Y410 => Layout::PackedY410,
        LayoutName::Mono => Layout::Mono,
    };
    let subsampling = match args.subsampling {
        Some(SubsamplingName::S410) => Subsampling::S410,
        Some(SubsamplingName::S411) => Subsampling::S411,
        Some(SubsamplingName::S420) => Subsampling::S420,
        Some(SubsamplingName::S422) => Subsampling::S422,
        Some(SubsamplingName::S440) => Subsampling::S440,
        Some(SubsamplingName::S444) => Subsampling::S444,
        None => layout.subsampling().unwrap_or(Subsampling::S420),
    };
    let bits = args.bits.or(layout.bits()).unwrap_or(8);
    Format { layout, subsampling, bits, high: args.high }
}

/// Makes light, where it is asked for, of what a conversion made.
fn lighten(args: &Args, texels: &mut [[f32; 4]]) {
    let transfer = args.transfer.map(|name| match name {
        TransferName::Bt709 => Transfer::Bt709,
        TransferName::Bt1886 => Transfer::Bt1886,
        TransferName::Srgb => Transfer::Srgb,
        TransferName::Pq => Transfer::Pq,
        TransferName::Hlg => Transfer::Hlg,
    });
    if let Some(transfer) = transfer {
        transfer.decode(texels);
    }
    let primaries = |name| match name {
        PrimariesName::Bt709 => Primaries::Bt709,
        PrimariesName::Bt2020 => Primaries::Bt2020,
        PrimariesName::P3 => Primaries::P3D65,
        PrimariesName::Bt601Lines525 => Primaries::Bt601Lines525,
        PrimariesName::Bt601Lines625 => Primaries::Bt601Lines625,
    };
    if let (Some(from), Some(to)) = (args.primaries, args.to_primaries) {
        primaries(from).convert(primaries(to), texels);
    }
}

/// Converts a frame.
fn artifact(args: &Args, engine: &Engine, film: &Film<'_>, number: usize) -> Result<Artifact> {
    let [width, height] = film.size;
    let data = film.frames.get(number).copied().unwrap_or_default();
    let frame = Frame::tight(film.format, width, height, data)?;
    let texels = width.checked_mul(height).context("the frame is too large")?;
    let is_constant = matches!(args.matrix, Matrix::Bt2020Constant);
    let singles = |out: &mut [[f32; 4]]| {
        engine.convert(&frame, &film.conversion, out)?;
        if is_constant {
            light::constant_luminance(out);
        }
        anyhow::Ok(())
    };
    let (ending, bytes) = match args.to {
        To::Rgba32f => {
            let mut out = vec![[0.0; 4]; texels];
            singles(&mut out)?;
            lighten(args, &mut out);
            ("rgba32f", out.as_flattened().iter().flat_map(|c| c.to_le_bytes()).collect())
        }
        To::Png | To::Rgba8 => {
            let mut out = vec![[0; 4]; texels];
            if is_constant {
                let mut colors = vec![[0.0; 4]; texels];
                singles(&mut colors)?;
                let byte = |c: f32| (c * 255.0).round() as u8;
                out.iter_mut().zip(colors).for_each(|(out, color)| *out = color.map(byte));
            } else {
                engine.convert_rgba8(&frame, &film.conversion, &mut out)?;
            }
            let rgba = out.into_flattened();
            match args.to {
                To::Rgba8 => ("rgba", rgba),
                _ => {
                    let [width, height] = [u32::try_from(width)?, u32::try_from(height)?];
                    ("png", Picture { width, height, rgba, srgb: false }.png()?)
                }
            }
        }
    };
    let suffix = if args.all { format!(".{number}.{ending}") } else { format!(".{ending}") };
    let artifact = Artifact::bytes(suffix, bytes).fact("frame", number);
    Ok(artifact.fact("width", width).fact("height", height).fact("bits", film.format.bits))
}

/// What converts.
enum Engine {
    Cpu(Precision),
    #[cfg(feature = "gpu")]
    Compute(xenoglot_yuv::compute::Converter),
}

fn open(args: &Args) -> Result<Engine> {
    Ok(match args.engine {
        EngineName::Cpu => Engine::Cpu(match args.precision {
            PrecisionName::Exact => Precision::Exact,
            PrecisionName::WithinOne => Precision::WithinOne,
        }),
        #[cfg(feature = "gpu")]
        EngineName::Compute => {
            Engine::Compute(xenoglot_yuv::compute::Converter::new(&crate::engine::device()?)?)
        }
    })
}

impl Engine {
    fn convert(&self, frame: &Frame<'_>, conversion: &Conversion, out: &mut [[f32; 4]]) -> Result<()> {
        match self {
            Engine::Cpu(_) => convert(frame, conversion, out)?,
            #[cfg(feature = "gpu")]
            Engine::Compute(converter) => converter.convert(frame, conversion, out)?,
        }
        Ok(())
    }

    fn convert_rgba8(&self, frame: &Frame<'_>, conversion: &Conversion, out: &mut [[u8; 4]]) -> Result<()> {
        match self {
            Engine::Cpu(precision) => convert_rgba8_with(frame, conversion, *precision, out)?,
            #[cfg(feature = "gpu")]
            Engine::Compute(converter) => converter.convert_rgba8(frame, conversion, out)?,
        }
        Ok(())
    }
}
