//! What the codecs do in a second: texels on one core, on all, and on the host's GPU; of encoders and transcoders on one
//! core, with what they keep of pictures; frames of luma and chroma; samples of each engine of the tone filter. Next to ASTC
//! what the command `astcenc` does, where it is installed.

use super::yuv;
use anyhow::Result;
use serde::Serialize;
use std::fmt;
use std::process::Command;
use std::time::Instant;
#[cfg(feature = "gpu")]
use xenoglot_host::Commands;
use xenoglot_testgen::pictures;
use xenoglot_testgen::rng::Rng;
use xenoglot_texture::astc::Footprint;
use xenoglot_texture::{
    Extent, Format, Profile, Quality, Texel, decode_into, decode_into_parallel, encode_into, transcode_into,
};
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

/// One core.
#[derive(Serialize)]
struct Encoder {
    format: String,
    quality: String,
    /// Millions of texels a second.
    rate: f64,
    /// PSNR in dB of each picture, of the components that the format has.
    psnr: Vec<(&'static str, f64)>,
}

/// Random blocks on one core.
#[derive(Serialize)]
struct Transcoder {
    from: String,
    to: String,
    /// Millions of texels a second.
    rate: f64,
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
        let data = blocks(format, extent);
        let mut out = vec![0; format.output_bytes(extent).unwrap_or(0)];
        let texels = f64::from(side) * f64::from(side);
        let one_core = rate(rounds, texels, || Ok(decode_into(format, extent, &data, &mut out)?))?;
        let all_cores = rate(rounds, texels, || Ok(decode_into_parallel(format, extent, &data, &mut out)?))?;
        let compute = gpu.as_ref().map(|gpu| gpu.rate(rounds, format, extent, &data)).transpose()?;
        let bytes = (data.len() + out.len()) as f64 / texels;
        let of_memory = compute.zip(copied).map(|(rate, copied)| rate * bytes / 1e3 / copied);
        let astcenc = astcenc(rounds, format, extent, &data);
        textures.push(Texture { format: name, one_core, all_cores, compute, of_memory, astcenc });
    }
    let (encoders, transcoders) = (encoders(quick, rounds)?, transcoders(rounds, extent)?);
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

/// Encoders of each format at each quality, on the same pictures.
fn encoders(quick: bool, rounds: u32) -> Result<Vec<Encoder>> {
    let side = if quick { 256 } else { 1024 };
    let extent = Extent::flat(side, side);
    let pictures = pictures::ALL.map(|(name, picture)| (name, picture(side as usize)));
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
        let mut blocks = vec![0; format.data_bytes(extent).unwrap_or(0)];
        let mut decoded = vec![0; format.output_bytes(extent).unwrap_or(0)];
        let (mut seconds, mut psnr) = (0.0, Vec::new());
        for (name, texels) in &pictures {
            let halves = (format == Format::Bc6hUfloat).then(|| pictures::halves(texels, false));
            let texels = halves.as_ref().unwrap_or(texels);
            let rate = rate(rounds, 1.0, || Ok(encode_into(format, extent, texels, quality, &mut blocks)?))?;
            seconds += 1.0 / rate;
            decode_into(format, extent, &blocks, &mut decoded)?;
            psnr.push((*name, kept(format, texels, &decoded)));
        }
        let texels = f64::from(side) * f64::from(side) * pictures.len() as f64;
        let (format, quality) = (format.to_string(), format!("{quality:?}").to_lowercase());
        out.push(Encoder { format, quality, rate: texels / seconds, psnr });
    }
    Ok(out)
}

/// PSNR in dB of the components that a format has, in steps of a byte; of alpha where the picture is not opaque.
fn kept(format: Format, texels: &[u8], decoded: &[u8]) -> f64 {
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

/// From block to block.
fn transcoders(rounds: u32, extent: Extent) -> Result<Vec<Transcoder>> {
    let astc = [4, 6, 8].into_iter().filter_map(|n| Footprint::new(n, n, 1));
    let from = astc.map(|footprint| Format::Astc(footprint, Profile::LdrUnorm8));
    let pairs = from.chain([Format::Uastc]).flat_map(|from| [(from, Format::Bc7), (from, Format::Bc1Rgb)]);
    let texels = f64::from(extent.width) * f64::from(extent.height);
    pairs
        .map(|(from, to)| {
            let data = blocks(from, extent);
            let mut out = vec![0; to.data_bytes(extent).unwrap_or(0)];
            let rate = rate(rounds, texels, || {
                Ok(transcode_into(from, extent, &data, to, Quality::Fast, &mut out)?)
            })?;
            Ok(Transcoder { from: from.to_string(), to: to.to_string(), rate })
        })
        .collect()
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

/// Decoders on the host's GPU.
#[cfg(feature = "gpu")]
struct Gpu(xenoglot_texture::compute::Decoder);

#[cfg(feature = "gpu")]
impl Gpu {
    /// The device of the environment, if there is one.
    fn open() -> Option<Gpu> {
        crate::engine::device().ok().map(|device| Gpu(xenoglot_texture::compute::Decoder::new(&device)))
    }

    fn name(&self) -> String {
        self.0.device().name().into()
    }

    fn rate(&self, rounds: u32, format: Format, extent: Extent, data: &[u8]) -> Result<f64> {
        use xenoglot_texture::compute::Decoder;
        let device = self.0.device();
        let words: Vec<u32> = data.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let blocks = device.buffer_of(&words)?;
        let texels = device.buffer(Decoder::output_bytes(format, extent).unwrap_or(0) as u64)?;
        let count = f64::from(extent.width) * f64::from(extent.height);
        self.submitted(rounds, count, |commands| {
            Ok(self.0.record(commands, format, extent, &blocks, &texels)?)
        })
    }

    /// Billions of bytes a second, read and written, of copies as large as pictures of halves.
    fn copied(&self, rounds: u32, extent: Extent) -> Result<f64> {
        let device = self.0.device();
        let size = u64::from(extent.width) * u64::from(extent.height) * 8;
        let (from, to) = (device.buffer(size)?, device.buffer(size)?);
        let rate = self.submitted(rounds, 2.0 * size as f64, |commands| {
            commands.copy(&from, 0..size, &to, 0);
            Ok(())
        })?;
        Ok(rate / 1e3)
    }

    /// Millions of `items` a second of what is recorded: as often in a submission as what that costs by itself counts
    /// little.
    fn submitted(
        &self,
        rounds: u32,
        items: f64,
        record: impl Fn(&mut Commands) -> Result<()>,
    ) -> Result<f64> {
        const SECONDS: f64 = 0.02;
        let device = self.0.device();
        let submit = |times: u32| -> Result<()> {
            let mut commands = Commands::default();
            (0..times).try_for_each(|_| record(&mut commands))?;
            commands.submit(device)?;
            Ok(device.wait()?)
        };
        // The first one compiles the program.
        submit(1)?;
        let start = Instant::now();
        submit(1)?;
        let times = (SECONDS / start.elapsed().as_secs_f64()).clamp(1.0, 64.0) as u32;
        rate(rounds, items * f64::from(times), || submit(times))
    }
}

/// There is none.
#[cfg(not(feature = "gpu"))]
enum Gpu {}

#[cfg(not(feature = "gpu"))]
impl Gpu {
    fn open() -> Option<Gpu> {
        None
    }

    fn name(&self) -> String {
        match *self {}
    }

    fn rate(&self, _: u32, _: Format, _: Extent, _: &[u8]) -> Result<f64> {
        match *self {}
    }

    fn copied(&self, _: u32, _: Extent) -> Result<f64> {
        match *self {}
    }
}

/// What `astcenc` does with blocks of ASTC on one thread, if it is installed and knows what to do with them.
fn astcenc(rounds: u32, format: Format, extent: Extent, data: &[u8]) -> Option<f64> {
    let Format::Astc(footprint, profile) = format else { return None };
    let folder = xenoglot_output::Scratch::new().ok()?;
    let [width, height, depth] = footprint.size().map(|n| n as u8);
    let size = [extent.width, extent.height, extent.depth];
    let mut file = vec![0x13, 0xab, 0xa1, 0x5c, width, height, depth];
    file.extend(size.iter().flat_map(|n| n.to_le_bytes().into_iter().take(3)));
    file.extend_from_slice(data);
    let input = folder.path().join("blocks.astc");
    std::fs::write(&input, file).ok()?;
    let (option, output) =
        if profile == Profile::Hdr { ("-dh", "texels.hdr") } else { ("-dl", "texels.tga") };
    let run = || {
        let mut command = Command::new("astcenc");
        command.arg(option).arg(&input).arg(folder.path().join(output)).args(["-j", "1"]);
        let printed = command.output().ok().filter(|run| run.status.success())?.stdout;
        decoding_rate(std::str::from_utf8(&printed).ok()?)
    };
    (0..rounds).map_while(|_| run()).max_by(f64::total_cmp)
}

/// The rate that `astcenc` prints, in million texels a second.
fn decoding_rate(printed: &str) -> Option<f64> {
    let line = printed.lines().find_map(|line| line.trim().strip_prefix("Decoding rate:"))?;
    line.trim().strip_suffix("MT/s")?.trim().parse().ok()
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
        writeln!(f, "\n{:<16} {:<8} {:>10}  PSNR in dB", "encoder", "quality", "Mtexel/s")?;
        for Encoder { format, quality, rate, psnr } in &self.encoders {
            write!(f, "{format:<16} {quality:<8} {rate:>10.0} ")?;
            for (name, psnr) in psnr {
                write!(f, " {name} {psnr:.2}")?;
            }
            writeln!(f)?;
        }
        writeln!(f, "\n{:<16} {:<16} {:>10}", "from", "to", "Mtexel/s")?;
        for Transcoder { from, to, rate } in &self.transcoders {
            writeln!(f, "{from:<16} {to:<16} {rate:>10.0}")?;
        }
        write!(f, "\n{}", self.frames)?;
        writeln!(f, "\n{:<16} {:>10}", "tone filter", "Msample/s")?;
        for Tone { engine, samples } in &self.tone {
            writeln!(f, "{engine:<16} {samples:>10.1}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn rates_are_found_in_what_astcenc_prints() {
        let printed =
            "Performance metrics\n\n    Total time:     0.0673 s\n    Decoding rate:       25.8391 MT/s\n";
        assert_eq!(super::decoding_rate(printed), Some(25.8391));
        assert_eq!(super::decoding_rate("usage"), None);
    }
}
