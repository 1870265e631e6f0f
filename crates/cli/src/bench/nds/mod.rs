//! What the emulated Nintendo DS costs.

mod scenes;
mod screens;

use crate::progress::Progress;
use anyhow::{Result, bail};
use scenes::Scenes;
use screens::Screens;
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;
use std::time::Instant;
use xenoglot_nds::container::Scene;
use xenoglot_nds::geometry::GeometryEngine;
use xenoglot_nds::geometry::fifo::CommandFifo;
use xenoglot_nds::gpu::Gpu;
use xenoglot_nds::play::{play, run_geometry};
use xenoglot_nds::raster::{Options as RasterOptions, Renderer};

/// What is measured.
pub struct Options<'a> {
    /// Folders of scenes; without any, those that the program has in it.
    pub scenes: &'a [PathBuf],
    /// Fewer repetitions.
    pub quick: bool,
}

/// What was measured.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Scenes of the 3D engines.
    pub scenes: usize,
    /// Repetitions of each.
    pub repeats: usize,
    /// Frames on one core.
    pub one_core: Frames,
    /// Frames on all cores.
    pub all_cores: Frames,
    /// Frames on the host's GPU, by scale, until their colours are in the processor's memory.
    pub gpu: Vec<OnGpu>,
    /// Frames of both screens.
    pub screens: Vec<Screens>,
    /// Geometry commands a second, millions.
    pub commands: f64,
    /// Words of the queue a second, millions.
    pub words: f64,
}

/// Times of frames: rendering engine alone, milliseconds. A frame's time is the median of its repetitions.
#[derive(Debug, Serialize)]
pub struct Frames {
    /// Median of the stress scenes.
    pub median: f64,
    /// Mean of the stress scenes.
    pub mean: f64,
    /// The slowest stress scene.
    pub max: f64,
    /// All stress scenes together, for 1000 polygons.
    pub per_1000_polygons: f64,
    /// The frame with nothing in it.
    pub empty: Option<f64>,
}

/// Frames on a device.
#[derive(Debug, Serialize)]
pub struct OnGpu {
    /// Its name.
    pub device: String,
    /// Pixels for each of the console's, along an axis.
    pub scale: u32,
    /// Times.
    pub frames: Frames,
}

/// Resolutions that the host's GPU is measured with.
const SCALES: [u32; 2] = [1, 4];

struct Loaded {
    scene: Scene,
    gpu: Gpu,
}

impl Loaded {
    fn name(&self) -> &str {
        self.scene.meta("name").unwrap_or_default()
    }

    fn polygons(&self) -> usize {
        self.gpu.polygons().polygons.len()
    }
}

/// Measures.
pub fn run(options: &Options) -> Result<Report> {
    let all = if options.scenes.is_empty() { Scenes::shipped()? } else { Scenes::of(options.scenes)? };
    let load = |(scene, image): &(Scene, Option<Vec<u8>>)| -> Result<Loaded> {
        let gpu = play(scene, image.as_deref(), Gpu::default())?.gpu;
        Ok(Loaded { scene: scene.clone(), gpu })
    };
    let scenes = all.three_d.iter().map(load).collect::<Result<Vec<Loaded>>>()?;
    if !scenes.iter().any(|s| s.name().starts_with("stress")) {
        bail!("no scene of the 3D engines is called stress_...");
    }
    let repeats = if options.quick { 5 } else { 25 };
    let progress = Progress::new((2 + SCALES.len()) * scenes.len());
    let on_cpu = |threads| {
        let mut renderer = Renderer::new(RasterOptions { threads, ..RasterOptions::default() });
        let draw = |gpu: &Gpu| {
            renderer.draw(gpu.polygons(), gpu.registers(), &gpu.memory);
            Ok(())
        };
        frames(&scenes, draw, repeats, || progress.step())
    };
    let (one_core, all_cores) = (on_cpu(1)?, on_cpu(0)?);
    let gpu = on_gpu(&scenes, repeats, || progress.step())?;
    drop(progress);
    let screens = screens::measure(&all, repeats)?;
    let (commands, words) = geometry(&scenes, repeats);
    Ok(Report { scenes: scenes.len(), repeats, one_core, all_cores, gpu, screens, commands, words })
}

/// Frames on the host's GPU; none if there is none.
#[cfg(feature = "gpu")]
fn on_gpu(scenes: &[Loaded], repeats: usize, done: impl Fn()) -> Result<Vec<OnGpu>> {
    use xenoglot_host::{Device, DeviceOptions};
    use xenoglot_nds::raster::Scale;
    use xenoglot_nds::raster::compute::{ComputeRenderer, Options};

    let Ok(device) = Device::open(&DeviceOptions::from_env()) else { return Ok(Vec::new()) };
    let mut renderer = ComputeRenderer::new(&device, Options::default())?;
    let mut measured = |scale: Scale| {
        renderer.set_options(Options { scale, colors_only: true, ..Options::default() });
        let draw = |gpu: &Gpu| Ok(renderer.draw(gpu.polygons(), gpu.registers(), &gpu.memory)?);
        let frames = frames(scenes, draw, repeats, &done)?;
        Ok(OnGpu { device: device.name().into(), scale: scale.get(), frames })
    };
    SCALES.iter().filter_map(|&scale| Scale::new(scale)).map(&mut measured).collect()
}

#[cfg(not(feature = "gpu"))]
fn on_gpu(_: &[Loaded], _: usize, _: impl Fn()) -> Result<Vec<OnGpu>> {
    Ok(Vec::new())
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}

fn frames(
    scenes: &[Loaded],
    mut draw: impl FnMut(&Gpu) -> Result<()>,
    repeats: usize,
    done: impl Fn(),
) -> Result<Frames> {
    let mut time = |loaded: &Loaded| -> Result<f64> {
        let once = |_| {
            let start = Instant::now();
            draw(&loaded.gpu)?;
            Ok(start.elapsed().as_secs_f64() * 1e3)
        };
        let mut times = (0..repeats).map(once).collect::<Result<Vec<f64>>>()?;
        done();
        Ok(median(&mut times))
    };
    let timed = scenes.iter().map(|s| Ok((s, time(s)?))).collect::<Result<Vec<(&Loaded, f64)>>>()?;
    let stress = || timed.iter().filter(|(s, _)| s.name().starts_with("stress"));
    let mut times: Vec<f64> = stress().map(|t| t.1).collect();
    let (total, polygons): (f64, usize) = (times.iter().sum(), stress().map(|t| t.0.polygons()).sum());
    Ok(Frames {
        median: median(&mut times),
        mean: total / times.len() as f64,
        max: times.last().copied().unwrap_or(0.0),
        per_1000_polygons: total / polygons.max(1) as f64 * 1e3,
        empty: timed.iter().find(|(s, _)| s.name() == "empty_frame").map(|t| t.1),
    })
}

/// Millions of commands and of words a second, with the queue, over all scenes: the best repetition of each.
fn geometry(scenes: &[Loaded], repeats: usize) -> (f64, f64) {
    let (mut seconds, mut commands, mut words) = (0.0, 0.0, 0.0);
    for Loaded { scene, .. } in scenes {
        let (mut engine, mut fifo) = (GeometryEngine::default(), CommandFifo::default());
        let once = |_| {
            let start = Instant::now();
            run_geometry(&mut engine, &mut fifo, &scene.stream);
            start.elapsed().as_secs_f64()
        };
        seconds += (0..repeats).map(once).fold(f64::INFINITY, f64::min);
        commands += scene.meta("commands").and_then(|c| c.parse().ok()).unwrap_or(0.0);
        words += scene.stream.len() as f64;
    }
    (commands / seconds / 1e6, words / seconds / 1e6)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} scenes, {} repetitions of each; milliseconds\n", self.scenes, self.repeats)?;
        let columns = ["median", "mean", "max", "1000 polygons", "empty", "one core /"];
        let [median, mean, max, polygons, empty, ratio] = columns;
        writeln!(
            f,
            "{:<16} {median:>8} {mean:>8} {max:>8} {polygons:>14} {empty:>8} {ratio:>11}",
            "3D frames"
        )?;
        let on_gpu = self.gpu.iter().map(|gpu| (format!("GPU, {}x", gpu.scale), &gpu.frames));
        let on_cpu = [("one core", &self.one_core), ("all cores", &self.all_cores)];
        for (name, frames) in on_cpu.map(|(name, frames)| (name.into(), frames)).into_iter().chain(on_gpu) {
            let Frames { median, mean, max, per_1000_polygons, empty } = frames;
            let empty = empty.map_or_else(String::new, |e| format!("{e:.3}"));
            let ratio = self.one_core.mean / mean;
            writeln!(
                f,
                "{name:<16} {median:>8.2} {mean:>8.2} {max:>8.2} {per_1000_polygons:>14.2} {empty:>8} {ratio:>10.2}x"
            )?;
        }
        if let Some(gpu) = self.gpu.first() {
            writeln!(f, "\nGPU: {}", gpu.device)?;
        }
        writeln!(f, "\n{:<16} {:>8} {:>8} {:>9}", "both screens", "scenes", "one core", "all cores")?;
        for Screens { kind, scenes, one_core, all_cores } in &self.screens {
            writeln!(f, "{kind:<16} {scenes:>8} {one_core:>8.2} {all_cores:>9.2}")?;
        }
        writeln!(f, "\ngeometry: {:.1} M commands/s, {:.1} M words/s", self.commands, self.words)
    }
}
