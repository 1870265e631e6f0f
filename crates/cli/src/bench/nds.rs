//! What the emulated Nintendo DS costs.

use crate::batch::bar;
use crate::commands::render_nds::load;
use anyhow::{Result, bail};
use serde::Serialize;
use std::fmt;
use std::path::Path;
use std::time::Instant;
use xenoglot_nds::container::Scene;
use xenoglot_nds::geometry::GeometryEngine;
use xenoglot_nds::geometry::fifo::CommandFifo;
use xenoglot_nds::gpu::Gpu;
use xenoglot_nds::play::{play, run_geometry};
use xenoglot_nds::raster::{Options as RasterOptions, Renderer};

/// What is measured.
pub struct Options<'a> {
    /// Folder of scenes.
    pub scenes: &'a Path,
    /// Fewer repetitions.
    pub quick: bool,
}

/// What was measured.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Scenes in the folder.
    pub scenes: usize,
    /// Repetitions of each.
    pub repeats: usize,
    /// Frames on one core.
    pub one_core: Frames,
    /// Frames on all cores.
    pub all_cores: Frames,
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
    let mut scenes = Vec::new();
    for source in crate::source::sources(&[options.scenes.to_path_buf()])? {
        let Some((scene, image)) = source.path().map(load).transpose()?.flatten() else { continue };
        let gpu = play(&scene, image.as_deref(), Gpu::default())?.gpu;
        scenes.push(Loaded { scene, gpu });
    }
    if !scenes.iter().any(|s| s.name().starts_with("stress")) {
        bail!("{}: no scene called stress_...", options.scenes.display());
    }
    let repeats = if options.quick { 5 } else { 25 };
    let bar = bar(2 * scenes.len());
    let frames = |threads| frames(&scenes, threads, repeats, || bar.inc(1));
    let (one_core, all_cores) = (frames(1), frames(0));
    bar.finish_and_clear();
    let (commands, words) = geometry(&scenes, repeats);
    Ok(Report { scenes: scenes.len(), repeats, one_core, all_cores, commands, words })
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}

fn frames(scenes: &[Loaded], threads: usize, repeats: usize, done: impl Fn()) -> Frames {
    let mut renderer = Renderer::new(RasterOptions { threads, ..RasterOptions::default() });
    let mut time = |loaded: &Loaded| {
        let once = |_| {
            let start = Instant::now();
            renderer.draw(loaded.gpu.polygons(), loaded.gpu.registers(), &loaded.gpu.memory);
            start.elapsed().as_secs_f64() * 1e3
        };
        let mut times: Vec<f64> = (0..repeats).map(once).collect();
        done();
        median(&mut times)
    };
    let timed: Vec<(&Loaded, f64)> = scenes.iter().map(|s| (s, time(s))).collect();
    let stress = || timed.iter().filter(|(s, _)| s.name().starts_with("stress"));
    let mut times: Vec<f64> = stress().map(|t| t.1).collect();
    let (total, polygons): (f64, usize) = (times.iter().sum(), stress().map(|t| t.0.polygons()).sum());
    Frames {
        median: median(&mut times),
        mean: total / times.len() as f64,
        max: times.last().copied().unwrap_or(0.0),
        per_1000_polygons: total / polygons.max(1) as f64 * 1e3,
        empty: timed.iter().find(|(s, _)| s.name() == "empty_frame").map(|t| t.1),
    }
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
        writeln!(
            f,
            "{:<10} {:>8} {:>8} {:>8} {:>14} {:>8}",
            "frames", "median", "mean", "max", "1000 polygons", "empty"
        )?;
        for (name, frames) in [("one core", &self.one_core), ("all cores", &self.all_cores)] {
            let Frames { median, mean, max, per_1000_polygons, empty } = frames;
            let empty = empty.map_or_else(String::new, |e| format!("{e:.3}"));
            writeln!(
                f,
                "{name:<10} {median:>8.2} {mean:>8.2} {max:>8.2} {per_1000_polygons:>14.2} {empty:>8}"
            )?;
        }
        writeln!(f, "\ngeometry: {:.1} M commands/s, {:.1} M words/s", self.commands, self.words)
    }
}
