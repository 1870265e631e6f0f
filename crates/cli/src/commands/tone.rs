//! `xenoglot tone`: a WAV file through the tone filter.

mod bands;

use crate::failure::usage;
use crate::output::{self, Inputs};
use crate::{print, source};
use anyhow::{Context, Result, bail};
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use xenoglot_tone::{Channels, Engine, Mode, TONES, ToneFilter, TonePlayer};

/// Arguments of `tone`.
#[derive(clap::Args)]
pub struct Args {
    /// The WAV file: mono or stereo, integers or floats; `-` for standard input.
    input: PathBuf,
    /// The WAV file to write, of 32-bit floats; `-` for standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Draw the power of the tones over time, as SVG.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// scalar, sse, avx2, avx512 or neon; the fastest here if not given.
    #[arg(long)]
    engine: Option<String>,
    /// The frequency of A4 in Hz.
    #[arg(long, default_value_t = 440.0)]
    tuning: f64,
    /// The part of the tones in the output, from 0 to 1; the rest is the signal as it was.
    #[arg(long, default_value_t = 0.5, value_parser = part)]
    wet: f32,
    /// What is filtered of a stereo signal: `mean`, both channels together, or `each` by itself.
    #[arg(long, default_value = "mean", value_parser = mode)]
    mode: Mode,
}

fn part(text: &str) -> Result<f32, String> {
    let part: f32 = text.parse().map_err(|e| format!("{e}"))?;
    if (0.0..=1.0).contains(&part) { Ok(part) } else { Err("it is not from 0 to 1".into()) }
}

fn mode(text: &str) -> Result<Mode, String> {
    Mode::find(text).ok_or_else(|| format!("one of {}", Mode::ALL.map(Mode::name).join(", ")))
}

/// Columns of the plot in a second.
const COLUMNS: u32 = 50;
/// Most columns of the plot.
const MAX_COLUMNS: usize = 1 << 16;
/// Below this part of the signal's power a tone is muted, from the other one on it is held back.
const LOW: f32 = 0.0002;
const HIGH: f32 = 0.10;

/// Filters.
pub fn run(args: &Args) -> Result<bool> {
    let engine = match &args.engine {
        None => Engine::fastest(),
        Some(name) => Engine::find(name).ok_or_else(|| usage(format!("there is no engine {name:?}")))?,
    };
    let inputs = Inputs::new([args.input.as_path()]);
    for (path, ending) in [(&args.output, "wav"), (&args.plot, "svg")] {
        if let Some(path) = path {
            output::check_ending(path, ending)?;
            inputs.check(path)?;
        }
    }
    let context = || source::name(&args.input);
    let file = source::read(&args.input)?;
    let mut reader = hound::WavReader::new(file.as_slice()).with_context(context)?;
    let spec = reader.spec();
    let channels = match spec.channels {
        1 => Channels::Mono,
        2 => Channels::Stereo,
        n => bail!("{}: {n} channels; one or two are supported", source::name(&args.input)),
    };
    let mut samples: Vec<f32> = match spec.sample_format {
        hound::SampleFormat::Float => reader.samples().collect::<Result<_, _>>(),
        hound::SampleFormat::Int => {
            let scale = (-f32::from(spec.bits_per_sample.saturating_sub(1))).exp2();
            reader.samples::<i32>().map(|s| s.map(|s| s as f32 * scale)).collect()
        }
    }
    .with_context(context)?;
    let filter = ToneFilter::with_engine(spec.sample_rate, args.tuning, engine)?;
    let mut player = TonePlayer::with_filter(filter, channels);
    player.set_wet(args.wet);
    player.set_mode(args.mode);
    let step = (spec.sample_rate / COLUMNS).max(1) as usize * usize::from(spec.channels);
    let mut columns = Vec::new();
    for block in samples.chunks_mut(step) {
        player.process(block);
        if columns.len() < MAX_COLUMNS {
            columns.push((*player.filter().powers(), player.filter().total_power()));
        }
    }
    if let Some(path) = &args.output {
        write(path, spec, &samples)?;
    }
    if let Some(path) = &args.plot {
        plot(path, args.tuning, &columns)?;
    }
    let mut out = print::beside([&args.output, &args.plot].into_iter().filter_map(Option::as_deref));
    writeln!(out, "{} samples at {} Hz on {engine}", samples.len(), spec.sample_rate)?;
    Ok(true)
}

fn write(path: &Path, spec: hound::WavSpec, samples: &[f32]) -> Result<()> {
    let context = || format!("cannot make {}", path.display());
    let spec = hound::WavSpec { bits_per_sample: 32, sample_format: hound::SampleFormat::Float, ..spec };
    let mut file = Cursor::new(Vec::new());
    let mut writer = hound::WavWriter::new(&mut file, spec).with_context(context)?;
    for &sample in samples {
        writer.write_sample(sample).with_context(context)?;
    }
    writer.finalize().with_context(context)?;
    output::write(path, file.get_ref())
}

/// The power of each tone over time: blue for muted tones, green above, red for those held back; the brighter, the more.
fn plot(path: &Path, tuning: f64, columns: &[([f32; TONES], f32)]) -> Result<()> {
    if columns.is_empty() {
        bail!("there is nothing to draw");
    }
    let seconds = columns.len() as f64 / f64::from(COLUMNS);
    output::write(path, bands::draw(tuning, seconds, &picture(columns)?)?.as_bytes())
}

/// The pixels of the plot, as a PNG: a column for each step in time, a row for each tone, the highest on top.
fn picture(columns: &[([f32; TONES], f32)]) -> Result<Vec<u8>> {
    let mut rgb = vec![0; columns.len() * TONES * 3];
    for (row, tone) in rgb.chunks_exact_mut(columns.len() * 3).zip((0..TONES).rev()) {
        for (pixel, (powers, total)) in row.chunks_exact_mut(3).zip(columns) {
            let ratio = powers[tone] / (total + 1e-6);
            let brightness = (255.0 * (1.0 + ratio.max(1e-6).log10() / 6.0)).clamp(0.0, 255.0) as u8;
            let color = if ratio < LOW { 2 } else { usize::from(ratio < 0.9 * HIGH) };
            pixel[color] = brightness;
        }
    }
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, columns.len() as u32, TONES as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header()?.write_image_data(&rgb)?;
    Ok(file)
}
