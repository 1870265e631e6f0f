//! What the codecs do in a second: texels on one core and on all, samples of each engine of the tone filter.

use anyhow::Result;
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
    textures: Vec<Texture>,
    tone: Vec<Tone>,
}

/// Millions of texels a second.
#[derive(Serialize)]
struct Texture {
    format: String,
    one_core: f64,
    all_cores: f64,
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
    let mut textures = Vec::new();
    for (name, format) in formats {
        let data = blocks(format, extent);
        let mut out = vec![0; format.output_bytes(extent).unwrap_or(0)];
        let texels = f64::from(side) * f64::from(side);
        let one_core = rate(rounds, texels, || Ok(decode_into(format, extent, &data, &mut out)?))?;
        let all_cores = rate(rounds, texels, || Ok(decode_into_parallel(format, extent, &data, &mut out)?))?;
        textures.push(Texture { format: name, one_core, all_cores });
    }
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
    Ok(Report { textures, tone })
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

/// Random blocks; of ASTC such without the error colour in a texel.
fn blocks(format: Format, extent: Extent) -> Vec<u8> {
    /// Different blocks; more are repetitions.
    const DIFFERENT: usize = 4096;
    let mut rng = Rng::new(1);
    let bytes = format.block_bytes();
    let mut data = Vec::with_capacity(DIFFERENT * bytes);
    while data.len() < DIFFERENT * bytes {
        let block: Vec<u8> = (0..bytes).map(|_| rng.next_u32() as u8).collect();
        if !matches!(format, Format::Astc(..)) || legal(format, &block) {
            data.extend(block);
        }
    }
    data.into_iter().cycle().take(format.data_bytes(extent).unwrap_or(0)).collect()
}

fn legal(format: Format, block: &[u8]) -> bool {
    let [width, height, depth] = format.block();
    let extent = Extent { width, height, depth };
    let mut out = vec![0; format.output_bytes(extent).unwrap_or(0)];
    let error: &[u8] = if format.texel().bytes() == 4 { &[255, 0, 255, 255] } else { &[255; 8] };
    decode_into(format, extent, block, &mut out).is_ok() && out.chunks_exact(error.len()).all(|t| t != error)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<16} {:>10} {:>10}  Mtexel/s", "format", "one core", "all cores")?;
        for Texture { format, one_core, all_cores } in &self.textures {
            writeln!(f, "{format:<16} {one_core:>10.0} {all_cores:>10.0}")?;
        }
        writeln!(f, "\n{:<16} {:>10}", "tone filter", "Msample/s")?;
        for Tone { engine, samples } in &self.tone {
            writeln!(f, "{engine:<16} {samples:>10.1}")?;
        }
        Ok(())
    }
}
