//! Encoders and transcoders on one core: how fast they are, and what they keep of pictures.

use super::pictures::Shipped;
use super::{blocks, rate};
use anyhow::Result;
use serde::Serialize;
use std::fmt;
use xenoglot_testgen::pictures;
use xenoglot_texture::{Extent, Format, Quality, Texel, decode_into, encode_into, transcode_into};

/// An encoder at a quality.
#[derive(Serialize)]
pub struct Encoder {
    format: String,
    quality: String,
    /// Millions of texels a second, of all pictures.
    rate: f64,
    pictures: Vec<Kept>,
}

/// From block to block.
#[derive(Serialize)]
pub struct Transcoder {
    from: String,
    to: String,
    /// Millions of texels a second, of random blocks.
    random: f64,
    /// The same of all pictures.
    rate: f64,
    pictures: Vec<Kept>,
}

/// What is left of a picture.
#[derive(Serialize)]
struct Kept {
    name: &'static str,
    /// Millions of texels a second.
    rate: f64,
    /// PSNR in dB of the components that the format has, of alpha where the picture is not opaque.
    psnr: f64,
}

/// Millions of texels a second of pictures together, and each.
#[derive(Default)]
struct Rates {
    texels: f64,
    seconds: f64,
    pictures: Vec<Kept>,
}

impl Rates {
    fn add(&mut self, name: &'static str, extent: Extent, rate: f64, psnr: f64) {
        let texels = count(extent);
        self.texels += texels;
        self.seconds += texels / rate / 1e6;
        self.pictures.push(Kept { name, rate, psnr });
    }

    fn rate(&self) -> f64 {
        self.texels / self.seconds / 1e6
    }
}

fn count(extent: Extent) -> f64 {
    f64::from(extent.width) * f64::from(extent.height)
}

/// Encoders of each format at each quality, on the same pictures.
pub fn encoders(shipped: &Shipped, quick: bool, rounds: u32) -> Result<Vec<Encoder>> {
    let pictures = shipped.pictures(if quick { 256 } else { 1024 })?;
    let formats = [
        Format::Bc1Rgb,
        Format::Bc3,
        Format::Bc4Unorm,
        Format::Bc5Unorm,
        Format::Bc6hUfloat,
        Format::Bc7,
        Format::Etc1,
        Format::Etc2Rgb,
        Format::Etc2Rgba8,
        Format::EacR11Unorm,
    ];
    let mut out = Vec::new();
    for (format, quality) in formats.into_iter().flat_map(|f| Quality::ALL.map(|q| (f, q))) {
        // Other formats are as with `Quality::Fast`.
        if quality == Quality::Fastest && !matches!(format, Format::Bc1Rgb | Format::Bc3) {
            continue;
        }
        let mut rates = Rates::default();
        for picture in &pictures {
            let extent = picture.extent;
            let mut blocks = vec![0; format.data_bytes(extent).unwrap_or(0)];
            let mut decoded = vec![0; format.output_bytes(extent).unwrap_or(0)];
            let halves = (format == Format::Bc6hUfloat).then(|| pictures::halves(&picture.texels, false));
            let texels = halves.as_ref().unwrap_or(&picture.texels);
            let rate = rate(rounds, count(extent), || {
                Ok(encode_into(format, extent, texels, quality, &mut blocks)?)
            })?;
            decode_into(format, extent, &blocks, &mut decoded)?;
            rates.add(picture.name, extent, rate, kept(format, texels, &decoded));
        }
        let (format, quality) = (format.to_string(), format!("{quality:?}").to_lowercase());
        out.push(Encoder { format, quality, rate: rates.rate(), pictures: rates.pictures });
    }
    Ok(out)
}

/// Transcoders of random blocks and of pictures that other encoders packed, which are compared with what these decode to.
pub fn transcoders(shipped: &Shipped, rounds: u32, extent: Extent) -> Result<Vec<Transcoder>> {
    let mut out = Vec::new();
    for from in Shipped::formats() {
        let (random, packed) = (blocks::random(from, extent), shipped.packed(from)?);
        for to in [Format::Bc7, Format::Bc1Rgb] {
            // Small pictures take little time: there are more rounds for them.
            let transcode = |rounds, extent, data: &[u8], blocks: &mut [u8]| {
                rate(rounds, count(extent), || {
                    Ok(transcode_into(from, extent, data, to, Quality::Fast, blocks)?)
                })
            };
            let mut blocks = vec![0; to.data_bytes(extent).unwrap_or(0)];
            let random = transcode(rounds, extent, &random, &mut blocks)?;
            let mut rates = Rates::default();
            for picture in &packed {
                let extent = picture.extent;
                let mut blocks = vec![0; to.data_bytes(extent).unwrap_or(0)];
                let mut texels = vec![0; from.output_bytes(extent).unwrap_or(0)];
                let mut decoded = texels.clone();
                let rate = transcode(16 * rounds, extent, &picture.blocks, &mut blocks)?;
                decode_into(from, extent, &picture.blocks, &mut texels)?;
                decode_into(to, extent, &blocks, &mut decoded)?;
                rates.add(picture.name, extent, rate, kept(to, &texels, &decoded));
            }
            let (from, to) = (from.to_string(), to.to_string());
            out.push(Transcoder { from, to, random, rate: rates.rate(), pictures: rates.pictures });
        }
    }
    Ok(out)
}

/// PSNR in dB of the components that a format has, in steps of a byte; of alpha where the picture is not opaque.
pub(super) fn kept(format: Format, texels: &[u8], decoded: &[u8]) -> f64 {
    let mean = |pairs: &mut dyn Iterator<Item = (f64, f64)>| {
        let (sum, all) = pairs.fold((0.0, 0.0), |(sum, all), (a, b)| (sum + (a - b).powi(2), all + 1.0));
        sum / all
    };
    if format.texel() == Texel::Rgba16Float {
        return psnr(mean(&mut pictures::steps(decoded).zip(pictures::steps(texels))));
    }
    let is_opaque = texels.iter().skip(3).step_by(4).all(|alpha| *alpha == 255);
    let count = (format.channels().count() as usize).min(if is_opaque { 3 } else { 4 });
    let components = |texels: &[u8]| -> Vec<f64> {
        texels.chunks(4).flat_map(|texel| texel.iter().take(count).map(|c| f64::from(*c))).collect()
    };
    let found = match format.texel() {
        Texel::Rgba8 => components(decoded),
        _ => decoded.as_chunks().0.iter().map(|word| f64::from(u16::from_le_bytes(*word)) / 257.0).collect(),
    };
    psnr(mean(&mut found.into_iter().zip(components(texels))))
}

fn psnr(mean: f64) -> f64 {
    10.0 * (65025.0 / mean).log10()
}

/// The columns of encoders.
pub struct Encoders<'a>(pub &'a [Encoder]);

/// The columns of transcoders.
pub struct Transcoders<'a>(pub &'a [Transcoder]);

impl fmt::Display for Encoders<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<16} {:<8} {:>10}  PSNR in dB", "encoder", "quality", "Mtexel/s")?;
        self.0.iter().try_for_each(|Encoder { format, quality, rate, pictures }| {
            writeln!(f, "{format:<16} {quality:<8} {rate:>10.0} {}", Psnr(pictures))
        })
    }
}

impl fmt::Display for Transcoders<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<16} {:<8} {:>10} {:>10}  PSNR in dB, beside the decoded blocks",
            "from", "to", "random", "Mtexel/s"
        )?;
        self.0.iter().try_for_each(|Transcoder { from, to, random, rate, pictures }| {
            writeln!(f, "{from:<16} {to:<8} {random:>10.0} {rate:>10.0} {}", Psnr(pictures))
        })
    }
}

/// The PSNR of each picture.
struct Psnr<'a>(&'a [Kept]);

impl fmt::Display for Psnr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|Kept { name, psnr, .. }| write!(f, " {name} {psnr:.2}"))
    }
}
