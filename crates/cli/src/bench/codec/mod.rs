//! What the codecs do in a second: texels on one core, on all, and on the host's GPU; of encoders and transcoders on one
//! core, with what they keep of pictures; frames of luma and chroma; samples of each engine of the tone filter. Next to ASTC
//! what the command `astcenc` does, where it is installed.

mod astcenc;
mod blocks;
mod encode;
mod gpu;
mod pictures;

use super::yuv;
use anyhow::Result;
use encode::{Encoder, Encoders, Transcoder, Transcoders};
use gpu::Gpu;
use pictures::Shipped;
use serde::Serialize;
use std::fmt;
use std::time::Instant;
use xenoglot_testgen::rng::Rng;
use xenoglot_texture::astc::Footprint;
use xenoglot_texture::{Extent, Format, Profile, decode_into, decode_into_parallel};
use xenoglot_tone::{Engine, ToneFilter};

/// The report.
#[derive(Serialize)]
pub struct Report {
    /// The device of the compute rates.
    device: Option<String>,
    /// Billions of bytes a second that it reads and writes when it copies a buffer.
    copied: Option<f64>,
    textures: Vec<Texture>,
    encoders: Vec<Encoder>,
    transcoders: Vec<Transcoder>,
    frames: yuv::Frames,
    tone: Vec<Tone>,
}

/// Millions of texels a second.
#[derive(Serialize)]
struct Texture {
    format: String,
    one_core: f64,
    all_cores: f64,
    /// On the device, from buffer to buffer.
    compute: Option<f64>,
    /// Which part that is of what the device reads and writes when it copies.
    of_memory: Option<f64>,
    /// By `astcenc`, one thread, as it says itself.
    astcenc: Option<f64>,
}

/// Millions of samples a second.
#[derive(Serialize)]
struct Tone {
    engine: &'static str,
    samples: f64,
}

/// Measures, each the best of some rounds.
pub fn run(quick: bool) -> Result<Report> {
    let (side, rounds) = if quick { (512, 3) } else { (2048, 7) };
    let extent = Extent::flat(side, side);
    let mut formats = vec![
        ("BC1".to_owned(), Format::Bc1),
        ("BC3".to_owned(), Format::Bc3),
        ("BC6H".to_owned(), Format::Bc6hUfloat),
        ("BC7".to_owned(), Format::Bc7),
        ("ETC2 RGB".to_owned(), Format::Etc2Rgb),
        ("ETC2 RGBA8".to_owned(), Format::Etc2Rgba8),
        ("EAC R11".to_owned(), Format::EacR11Unorm),
    ];
    for footprint in [4, 6, 8].into_iter().filter_map(|n| Footprint::new(n, n, 1)) {
        let [width, height, _] = footprint.size();
        formats.push((format!("ASTC {width}x{height} LDR"), Format::Astc(footprint, Profile::LdrUnorm8)));
        formats.push((format!("ASTC {width}x{height} HDR"), Format::Astc(footprint, Profile::Hdr)));
    }
    let gpu = Gpu::open();
    let copied = gpu.as_ref().map(|gpu| gpu.copied(rounds, extent)).transpose()?;
    let mut textures = Vec::new();
    for (name, format) in formats {
        let data = blocks::random(format, extent);
        let mut out = vec![0; format.output_bytes(extent).unwrap_or(0)];
        let texels = f64::from(side) * f64::from(side);
        let one_core = rate(rounds, texels, || Ok(decode_into(format, extent, &data, &mut out)?))?;
        let all_cores = rate(rounds, texels, || Ok(decode_into_parallel(format, extent, &data, &mut out)?))?;
        let compute = gpu.as_ref().map(|gpu| gpu.rate(rounds, format, extent, &data)).transpose()?;
        let bytes = (data.len() + out.len()) as f64 / texels;
        let of_memory = compute.zip(copied).map(|(rate, copied)| rate * bytes / 1e3 / copied);
        let astcenc = astcenc::rate(rounds, format, extent, &data);
        textures.push(Texture { format: name, one_core, all_cores, compute, of_memory, astcenc });
    }
    let shipped = Shipped::new()?;
    let encoders = encode::encoders(&shipped, quick, rounds)?;
    let transcoders = encode::transcoders(&shipped, rounds, extent)?;
    let mut rng = Rng::new(2);
    let input: Vec<f32> = (0..1 << 18).map(|_| rng.next_u32() as i32 as f32 / 2f32.powi(31)).collect();
    let mut output = vec![0.0; input.len()];
    let mut tone = Vec::new();
    for engine in Engine::ALL.into_iter().filter(|e| e.is_available()) {
        let mut filter = ToneFilter::with_engine(44_100, 440.0, engine)?;
        let samples = rate(rounds, input.len() as f64, || {
            filter.process(&input, &mut output);
            Ok(())
        })?;
        tone.push(Tone { engine: engine.name(), samples });
    }
    let (device, frames) = (gpu.map(|gpu| gpu.name()), yuv::run(quick)?);
    Ok(Report { device, copied, textures, encoders, transcoders, frames, tone })
}

/// Millions of `items` a second in the best round.
fn rate(rounds: u32, items: f64, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..rounds {
        let start = Instant::now();
        work()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(items / best / 1e6)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(device) = &self.device {
            let copied = self.copied.unwrap_or_default();
            writeln!(f, "compute: on {device}, which reads and writes {copied:.1} GB/s when it copies")?;
        }
        writeln!(
            f,
            "{:<16} {:>10} {:>10} {:>10} {:>10} {:>10}  Mtexel/s",
            "format", "one core", "all cores", "compute", "of memory", "astcenc"
        )?;
        let optional = |rate: Option<f64>| rate.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.0}"));
        for Texture { format, one_core, all_cores, compute, of_memory, astcenc } in &self.textures {
            let (compute, astcenc) = (optional(*compute), optional(*astcenc));
            let of_memory = of_memory.map_or_else(|| "-".to_owned(), |part| format!("{:.1}%", 100.0 * part));
            write!(f, "{format:<16} {one_core:>10.0} {all_cores:>10.0} {compute:>10} {of_memory:>10}")?;
            writeln!(f, " {astcenc:>10}")?;
        }
        write!(f, "\n{}", Encoders(&self.encoders))?;
        write!(f, "\n{}", Transcoders(&self.transcoders))?;
        write!(f, "\n{}", self.frames)?;
        writeln!(f, "\n{:<16} {:>10}", "tone filter", "Msample/s")?;
        for Tone { engine, samples } in &self.tone {
            writeln!(f, "{engine:<16} {samples:>10.1}")?;
        }
        Ok(())
    }
}
