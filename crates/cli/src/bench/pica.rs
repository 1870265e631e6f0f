//! What the emulated PICA200 costs: frames of three scenes of growing size with each vertex engine, and shaders alone.

use super::shaders::{self, Generated, SHADED, Shaded, Stutter};
#[cfg(feature = "gpu")]
use super::{host, traffic};
use crate::output;
use crate::progress::Progress;
use anyhow::{Context, Result};
use plotters::prelude::*;
use serde::Serialize;
use std::fmt;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;
use xenoglot_capture::Capture;
use xenoglot_pica::raster::Renderer;
use xenoglot_pica::renderer;
use xenoglot_pica::replay::{Limits, Player};
use xenoglot_pica::shader::{Engines, Native};
use xenoglot_pica_scenes::{Params, Scene};

/// How to measure.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// Frames of each mean.
    pub frames: u32,
    /// Fewer frames and sizes.
    pub quick: bool,
    /// Where plots go.
    pub plots: Option<&'a Path>,
}

/// Engines, in the order of columns.
const ENGINES: [&str; 3] = ["interp", "lanes", "native"];

/// The experiments: scene and sizes.
const EXPERIMENTS: [(&str, &[u32]); 3] = [
    ("cubes", &[20, 50, 100, 200, 400, 800]),
    ("triangles", &[1, 2, 5, 10, 20, 50, 100]),
    ("batch", &[20, 50, 100, 200, 400, 800]),
];

/// Frames with a new shader each.
const NEW_SHADERS: u32 = 200;

/// What was measured.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Scenes of growing size.
    pub experiments: Vec<Experiment>,
    /// Shaders.
    pub shaders: Vec<Shaded>,
    /// Generated shaders.
    pub generated: Vec<Generated>,
    /// Frames with new shaders.
    pub stutter: Vec<Stutter>,
    /// Frames with new pixel states on the host's GPU, if there is one.
    #[cfg(feature = "gpu")]
    pub pixel_stutter: Option<host::Stutter>,
    /// The same before a cache on disk.
    #[cfg(feature = "gpu")]
    pub cached: Vec<host::Cached>,
    /// What crosses between the processor and the host's GPU, if there is one.
    #[cfg(feature = "gpu")]
    pub traffic: Option<traffic::Report>,
}

/// A scene of growing size.
#[derive(Debug, Serialize)]
pub struct Experiment {
    /// The scene.
    pub scene: &'static str,
    /// Frames of each mean.
    pub frames: u32,
    /// By size.
    pub rows: Vec<Row>,
}

/// A size of a scene.
#[derive(Debug, Serialize)]
pub struct Row {
    /// Cubes or triangles.
    pub count: u32,
    /// Mean time of a frame for each engine, milliseconds.
    pub frame: [f64; ENGINES.len()],
    /// The same with native shaders and pixels on the host's GPU, if there is one.
    pub gpu: Option<f64>,
}

/// Measures everything.
pub fn run(options: &Options) -> Result<Report> {
    let sizes = |sizes: &'static [u32]| sizes.iter().take(if options.quick { 2 } else { sizes.len() });
    let steps = EXPERIMENTS.iter().map(|e| sizes(e.1).count()).sum::<usize>() + SHADED.len();
    let progress = Progress::new(steps);
    let gpu = Gpu::open();
    let mut experiments = Vec::new();
    for (scene, counts) in EXPERIMENTS {
        let mut rows = Vec::new();
        for &count in sizes(counts) {
            progress.say(format!("{scene}, {count}"));
            rows.push(frames(scene, count, options.frames, &gpu)?);
            progress.step();
        }
        experiments.push(Experiment { scene, frames: options.frames, rows });
    }
    let mut shaders = Vec::new();
    for name in SHADED {
        progress.say(name);
        shaders.push(shaders::measure(name, options.quick)?);
        progress.step();
    }
    progress.say("generated shaders");
    let generated = shaders::generated(options.quick)?;
    progress.say("new shaders");
    let stutter = shaders::stutter(NEW_SHADERS)?;
    #[cfg(feature = "gpu")]
    let pixel_stutter = gpu.0.as_ref().map(|host| host.stutter(options.quick)).transpose()?;
    progress.say("a cache on disk");
    #[cfg(feature = "gpu")]
    let cached = if gpu.0.is_some() { host::cached(options.quick)? } else { Vec::new() };
    progress.say("frames that stay on the GPU");
    #[cfg(feature = "gpu")]
    let traffic = gpu.0.as_ref().map(|host| traffic::measure(host, options.quick)).transpose()?;
    drop(progress);
    if let Some(folder) = options.plots {
        for experiment in &experiments {
            plot(experiment, &folder.join(format!("pica-{}.svg", experiment.scene)))?;
        }
    }
    Ok(Report {
        experiments,
        shaders,
        generated,
        stutter,
        #[cfg(feature = "gpu")]
        pixel_stutter,
        #[cfg(feature = "gpu")]
        cached,
        #[cfg(feature = "gpu")]
        traffic,
    })
}

/// The host's GPU, if there is one.
struct Gpu(#[cfg(feature = "gpu")] Option<host::Host>);

impl Gpu {
    fn open() -> Gpu {
        Gpu(
            #[cfg(feature = "gpu")]
            host::Host::open(),
        )
    }

    /// Frames of a capture and the seconds they took; none without a GPU.
    fn play(&self, capture: &Capture) -> Result<Option<(u32, f64)>> {
        #[cfg(feature = "gpu")]
        if let Some(host) = &self.0 {
            return play(capture, host.renderer()?, engines("native")?).map(Some);
        }
        let _ = capture;
        Ok(None)
    }
}

fn engines(name: &str) -> Result<Engines> {
    Ok(match name {
        "native" => Engines::new(vec![Box::new(Native::new()?)]),
        "lanes" => Engines::default(),
        _ => Engines::reference(),
    })
}

/// Mean time of a frame with each engine. Frames of a short capture are played again and again, by the engines in turn.
fn frames(scene: &str, count: u32, frames: u32, gpu: &Gpu) -> Result<Row> {
    const CAPTURED: u32 = 20;
    let scene = Scene::find(scene).context("no such scene")?;
    let capture = scene.build(Params { frames: Some(CAPTURED.min(frames)), count: Some(count) });
    let mut seconds = [0.0; ENGINES.len()];
    // The first time is for the compilation of programs.
    let mut on_gpu = gpu.play(&capture)?.map(|_| 0.0);
    let mut played = 0;
    while played < frames {
        let mut round = 0;
        for (engine, seconds) in ENGINES.iter().zip(&mut seconds) {
            let (frames, took) = play(&capture, Renderer::default(), engines(engine)?)?;
            round = frames;
            *seconds += took;
        }
        if let (Some(seconds), Some((_, took))) = (&mut on_gpu, gpu.play(&capture)?) {
            *seconds += took;
        }
        played += round.max(1);
    }
    let mean = |seconds: f64| seconds * 1e3 / f64::from(played);
    Ok(Row { count, frame: seconds.map(mean), gpu: on_gpu.map(mean) })
}

/// Frames of a capture and the seconds they took.
fn play<R: renderer::Renderer>(capture: &Capture, renderer: R, engines: Engines) -> Result<(u32, f64)> {
    let mut player = Player::with_engines(capture, renderer, engines, Limits::default())?;
    let start = Instant::now();
    let mut frames = 0;
    while let Some(image) = player.next_frame() {
        black_box(image?);
        frames += 1;
    }
    Ok((frames, start.elapsed().as_secs_f64()))
}

fn plot(experiment: &Experiment, path: &Path) -> Result<()> {
    let mut svg = String::new();
    draw(experiment, path, &mut svg)?;
    output::write(path, svg.as_bytes())
}

/// Of the engines' lines.
const COLORS: [RGBColor; 4] = [
    RGBColor(0xc0, 0x50, 0x30),
    RGBColor(0xc0, 0x98, 0x20),
    RGBColor(0x20, 0x60, 0xa0),
    RGBColor(0x30, 0x90, 0x50),
];

/// Frame times against size, both on logarithmic axes.
fn draw(experiment: &Experiment, path: &Path, svg: &mut String) -> Result<()> {
    let cannot = |e: &dyn fmt::Display| anyhow::anyhow!("cannot draw {}: {e}", path.display());
    let counts = experiment.rows.iter().map(|r| f64::from(r.count));
    let times = experiment.rows.iter().flat_map(|r| r.frame.into_iter().chain(r.gpu));
    let bounds = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::INFINITY, 0.0f64), |(low, high), v| (low.min(v), high.max(v)))
    };
    let (x, y) = (bounds(&mut counts.clone()), bounds(&mut times.clone()));
    let root = SVGBackend::with_string(svg, (640, 400)).into_drawing_area();
    root.fill(&WHITE).map_err(|e| cannot(&e))?;
    let mut chart = ChartBuilder::on(&root)
        .caption(format!("{}: mean time of a frame", experiment.scene), ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(60)
        .build_cartesian_2d((x.0..x.1 * 1.05).log_scale(), (y.0 * 0.8..y.1 * 1.25).log_scale())
        .map_err(|e| cannot(&e))?;
    chart
        .configure_mesh()
        .x_desc(if experiment.scene == "triangles" { "triangles in the scene" } else { "cubes in the scene" })
        .y_desc("time of a frame, ms")
        .x_labels(5)
        .x_label_formatter(&f64::to_string)
        .y_label_formatter(&f64::to_string)
        .light_line_style(TRANSPARENT)
        .draw()
        .map_err(|e| cannot(&e))?;
    for (i, engine) in ENGINES.iter().chain(&["gpu"]).enumerate() {
        let color = COLORS[i % COLORS.len()];
        let time = |r: &Row| r.frame.get(i).copied().or(r.gpu);
        let points = experiment.rows.iter().filter_map(|r| Some((f64::from(r.count), time(r)?)));
        chart
            .draw_series(LineSeries::new(points, color.stroke_width(2)).point_size(3))
            .map_err(|e| cannot(&e))?
            .label(*engine)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], color.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        // Lines rise: nothing is in that corner.
        .position(SeriesLabelPosition::UpperLeft)
        .border_style(BLACK)
        .background_style(WHITE)
        .draw()
        .map_err(|e| cannot(&e))?;
    root.present().map_err(|e| cannot(&e))
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for e in &self.experiments {
            writeln!(f, "{}: mean time of a frame over {} frames, ms", e.scene, e.frames)?;
            let [interp, lanes, native] = ENGINES;
            writeln!(f, "{:>8}{interp:>12}{lanes:>12}{native:>12}{:>10}{:>12}", "count", "ratio", "gpu")?;
            for r in &e.rows {
                let [interp, lanes, native] = r.frame;
                write!(
                    f,
                    "{:>8}{interp:>12.3}{lanes:>12.3}{native:>12.3}{:>10.2}",
                    r.count,
                    interp / native
                )?;
                match r.gpu {
                    Some(gpu) => writeln!(f, "{gpu:>12.3}")?,
                    None => writeln!(f, "{:>12}", "-")?,
                }
            }
            writeln!(f)?;
        }
        shaders::print(f, &self.shaders)?;
        shaders::print_generated(f, &self.generated)?;
        shaders::print_stutter(f, NEW_SHADERS, &self.stutter)?;
        #[cfg(feature = "gpu")]
        if let Some(stutter) = &self.pixel_stutter {
            writeln!(f, "\n{stutter}")?;
        }
        #[cfg(feature = "gpu")]
        host::print_cached(f, &self.cached)?;
        #[cfg(feature = "gpu")]
        if let Some(traffic) = &self.traffic {
            writeln!(f, "\n{traffic}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quick_run_measures_and_draws() {
        let folder = tempfile::tempdir().expect("a folder");
        let options = Options { frames: 2, quick: true, plots: Some(folder.path()) };
        let report = run(&options).expect("measures");
        assert!(report.experiments.iter().flat_map(|e| &e.rows).all(|r| r.frame.iter().all(|&t| t > 0.0)));
        assert!(
            report.shaders.iter().all(|s| s.gpu.iter().chain(&s.native).all(|&r| r > 0.0) && s.compile > 0.0)
        );
        for experiment in &report.experiments {
            let plot = folder.path().join(format!("pica-{}.svg", experiment.scene));
            assert!(std::fs::read_to_string(plot).expect("drawn").contains("</svg>"));
        }
    }

    /// A ratio to another program stands only where both ran in the same run.
    #[test]
    fn no_ratio_to_a_recorded_figure_is_printed() {
        let options = Options { frames: 1, quick: true, plots: None };
        let text = run(&options).expect("measures").to_string();
        assert!(text.contains("draw, 1") && !text.contains("peer"), "{text}");
    }
}
