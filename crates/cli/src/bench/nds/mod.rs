//! What the emulated Nintendo DS costs.

mod scenes;
mod screens;

use crate::progress::Progress;
use anyhow::{Context, Result, bail};
use scenes::Scenes;
use screens::Screens;
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
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
    /// Frames on all cores, in turns with those on one.
    pub all_cores: Frames,
    /// Frames on one core while every other core draws frames of its own: what the machine's cores give beside each other.
    pub side_by_side: Frames,
    /// Cores.
    pub cores: usize,
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
    let progress = Progress::new((1 + SCALES.len()) * scenes.len());
    let cores = rayon::current_num_threads();
    let [one_core, all_cores, side_by_side] = on_cpu(&scenes, cores, repeats, || progress.step())?;
    let gpu = on_gpu(&scenes, repeats, || progress.step())?;
    drop(progress);
    let screens = screens::measure(&all, repeats)?;
    let (commands, words) = geometry(&scenes, repeats);
    let scenes = scenes.len();
    Ok(Report { scenes, repeats, one_core, all_cores, side_by_side, cores, gpu, screens, commands, words })
}

/// Frames that are drawn in a row in each way: caches hold what the frames before left there, and threads that wake up late hardly count.
const IN_A_ROW: u32 = 8;

/// Frames on one core, on all cores together, and on one core while each of the others draws its own.
fn on_cpu(scenes: &[Loaded], cores: usize, repeats: usize, done: impl Fn()) -> Result<[Frames; 3]> {
    let renderer = |threads| Renderer::new(RasterOptions { threads, ..RasterOptions::default() });
    let draw = |renderer: &mut Renderer, gpu: &Gpu| {
        let start = Instant::now();
        for _ in 0..IN_A_ROW {
            renderer.draw(gpu.polygons(), gpu.registers(), &gpu.memory);
        }
        start.elapsed().as_secs_f64() * 1e3 / f64::from(IN_A_ROW)
    };
    let (mut one, mut all) = (renderer(1), renderer(0));
    let each: Vec<Mutex<Renderer>> = (0..cores).map(|_| Mutex::new(renderer(1))).collect();
    let side_by_side = |gpu: &Gpu| {
        let times = rayon::broadcast(|thread| {
            let renderer = each.get(thread.index()).context("a thread more than cores")?;
            let mut renderer = renderer.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(draw(&mut renderer, gpu))
        });
        let times = times.into_iter().collect::<Result<Vec<f64>>>()?;
        Ok(times.iter().sum::<f64>() / times.len() as f64)
    };
    let draws: [Draw; 3] =
        [&mut |gpu| Ok(draw(&mut one, gpu)), &mut |gpu| Ok(draw(&mut all, gpu)), &mut |gpu| {
            side_by_side(gpu)
        }];
    frames(scenes, draws, repeats, done)
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
        let draw = &mut |gpu: &Gpu| {
            let start = Instant::now();
            renderer.draw(gpu.polygons(), gpu.registers(), &gpu.memory)?;
            Ok(start.elapsed().as_secs_f64() * 1e3)
        };
        let [frames] = frames(scenes, [draw], repeats, &done)?;
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

/// Draws a frame: the milliseconds it took.
type Draw<'a> = &'a mut dyn FnMut(&Gpu) -> Result<f64>;

/// Times of all scenes' frames, drawn in each way in turn.
fn frames<const N: usize>(
    scenes: &[Loaded],
    mut draws: [Draw; N],
    repeats: usize,
    done: impl Fn(),
) -> Result<[Frames; N]> {
    let mut time = |loaded: &Loaded| -> Result<[f64; N]> {
        let mut times = [const { Vec::new() }; N];
        for _ in 0..repeats {
            for (draw, times) in draws.iter_mut().zip(&mut times) {
                times.push(draw(&loaded.gpu)?);
            }
        }
        done();
        Ok(times.map(|mut times| median(&mut times)))
    };
    let timed = scenes.iter().map(|s| Ok((s, time(s)?))).collect::<Result<Vec<(&Loaded, [f64; N])>>>()?;
    let stress = || timed.iter().filter(|(s, _)| s.name().starts_with("stress"));
    let polygons: usize = stress().map(|(s, _)| s.polygons()).sum();
    Ok(std::array::from_fn(|way| {
        let mut times: Vec<f64> = stress().map(|(_, times)| times[way]).collect();
        let total: f64 = times.iter().sum();
        Frames {
            median: median(&mut times),
            mean: total / times.len() as f64,
            max: times.last().copied().unwrap_or(0.0),
            per_1000_polygons: total / polygons.max(1) as f64 * 1e3,
            empty: timed.iter().find(|(s, _)| s.name() == "empty_frame").map(|(_, times)| times[way]),
        }
    }))
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
        let limit = self.cores as f64 * self.one_core.mean / self.side_by_side.mean;
        writeln!(
            f,
            "\n{} cores that draw frames of their own: {limit:.2} times the frames of one core",
            self.cores
        )?;
        if let Some(gpu) = self.gpu.first() {
            writeln!(f, "GPU: {}", gpu.device)?;
        }
        writeln!(f, "\n{:<16} {:>8} {:>8} {:>9}", "both screens", "scenes", "one core", "all cores")?;
        for Screens { kind, scenes, one_core, all_cores } in &self.screens {
            writeln!(f, "{kind:<16} {scenes:>8} {one_core:>8.2} {all_cores:>9.2}")?;
        }
        writeln!(f, "\ngeometry: {:.1} M commands/s, {:.1} M words/s", self.commands, self.words)
    }
}
