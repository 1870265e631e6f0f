//! What drawing with Warp costs.

use super::unpacked;
use crate::progress::Progress;
use crate::source;
use anyhow::{Context, Result, bail};
use serde::Serialize;
use std::fmt;
use std::path::Path;
use std::time::Instant;
use xenoglot_warp::state::{combiner, depth, format};
use xenoglot_warp::{
    Cull, Draw, Engine, Frame, Memory, Primitive, RenderState, Surface, Targets, Vertex, golden, reference,
    set_up,
};

/// What is measured.
pub struct Options<'a> {
    /// Folder of lists of primitives (`bench_WIDTHxHEIGHT_COUNT_PIXELS.prims`); scenes of our own if there is none.
    pub primitives: Option<&'a Path>,
    /// Fewer repetitions.
    pub quick: bool,
}

/// What was measured.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Repetitions of each scene; the best one counts.
    pub repeats: usize,
    /// Threads of all cores.
    pub threads: usize,
    /// The device, if there is one.
    pub device: Option<String>,
    /// The scenes.
    pub scenes: Vec<Measured>,
}

/// A scene's times.
#[derive(Debug, Serialize)]
pub struct Measured {
    /// Its name.
    pub name: String,
    /// Primitives.
    pub primitives: usize,
    /// Pixels that they cover, each as often as it is covered.
    pub pixels: u64,
    /// Milliseconds of the reference.
    pub reference: f64,
    /// Milliseconds of the fast engine on one core.
    pub one_core: f64,
    /// The same on all cores.
    pub all_cores: f64,
    /// Milliseconds to take the frame from memory, and to put it back.
    pub moved: [f64; 2],
    /// The renderer on the host's GPU.
    pub on_device: Option<OnDevice>,
}

/// Frames on the host's GPU.
#[derive(Debug, Serialize)]
pub struct OnDevice {
    /// Milliseconds to the device and back to the processor's memory, with every frame, by one program.
    pub read_back: f64,
    /// Frames that stay on the device, by one program.
    pub uber: Resident,
    /// The same with shading apart from depth and blending.
    pub split: Resident,
}

/// Frames that stay on the device.
#[derive(Debug, Serialize)]
pub struct Resident {
    /// The mean in milliseconds.
    pub frame: f64,
    /// The mean of each stage by the device's clock, frames drawn one after the other for it; none if it has no clock.
    pub stages: Vec<(&'static str, f64)>,
}

/// Sizes of frames, and of triangles in pixels, of our own scenes.
const SIZES: [[u32; 2]; 3] = [[320, 240], [640, 480], [1280, 720]];
const AREAS: [u32; 2] = [16, 256];
/// Triangles of our own scenes.
const COUNT: u32 = 4096;
/// Bytes of memory, and where the texture lies.
const MEMORY: usize = 1 << 23;
const TEXTURE: u32 = 0x70_0000;
/// Texels along a side.
const SIDE: u32 = 64;

struct Scene {
    name: String,
    size: [u32; 2],
    primitives: Vec<Primitive>,
}

/// Measures.
pub fn run(options: &Options) -> Result<Report> {
    let scenes = match options.primitives {
        Some(folder) => listed(folder)?,
        None => SIZES.into_iter().flat_map(|size| AREAS.map(|area| random(size, area))).collect(),
    };
    let repeats = if options.quick { 5 } else { 30 };
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let mut gpu = Gpu::open()?;
    let progress = Progress::new(scenes.len());
    let scenes = scenes.iter().map(|scene| {
        let measured = measure(scene, repeats, &one, &mut gpu);
        progress.step();
        measured
    });
    let scenes = scenes.collect::<Result<_>>()?;
    Ok(Report { repeats, threads: rayon::current_num_threads(), device: gpu.name(), scenes })
}

/// The host's GPU, if there is one.
struct Gpu {
    #[cfg(feature = "gpu")]
    renderers: Option<Renderers>,
}

/// Both architectures on a device.
#[cfg(feature = "gpu")]
struct Renderers {
    device: String,
    uber: xenoglot_warp::host::Renderer,
    split: xenoglot_warp::host::Renderer,
}

#[cfg(feature = "gpu")]
impl Gpu {
    fn open() -> Result<Gpu> {
        use xenoglot_host::{Device, DeviceOptions};
        use xenoglot_warp::host::{Architecture, Compilation, Options, Renderer};

        let Ok(device) = Device::open(&DeviceOptions::from_env()) else { return Ok(Gpu { renderers: None }) };
        let renderer = |architecture| Renderer::new(&device, Options { architecture, ..Options::default() });
        let uber = renderer(Architecture::Uber)?;
        let split = renderer(Architecture::Split(Compilation::Blocking))?;
        Ok(Gpu { renderers: Some(Renderers { device: device.name().into(), uber, split }) })
    }

    fn name(&self) -> Option<String> {
        self.renderers.as_ref().map(|renderers| renderers.device.clone())
    }

    /// Draws cleared frames, so many of each way.
    fn measure(
        &mut self,
        frame: &mut Frame,
        memory: &Memory,
        draw: &Draw<'_>,
        repeats: usize,
    ) -> Result<Option<OnDevice>> {
        let Some(Renderers { uber, split, .. }) = &mut self.renderers else { return Ok(None) };
        let mut read_back = f64::INFINITY;
        for _ in 0..repeats {
            let start = Instant::now();
            frame.clear(Some(0), Some(0xffff));
            uber.draw(frame, memory, draw)?;
            read_back = read_back.min(milliseconds(start));
        }
        let [uber, split] =
            [resident(uber, frame, memory, draw, repeats), resident(split, frame, memory, draw, repeats)];
        Ok(Some(OnDevice { read_back, uber: uber?, split: split? }))
    }
}

/// Draws frames that stay on the device: once to compile programs, then for their time, then for that of their stages.
#[cfg(feature = "gpu")]
fn resident(
    renderer: &mut xenoglot_warp::host::Renderer,
    frame: &Frame,
    memory: &Memory,
    draw: &Draw<'_>,
    repeats: usize,
) -> Result<Resident> {
    let on_device = renderer.load(frame)?;
    renderer.draw_on(&on_device, memory, draw)?;
    renderer.finish()?;
    let draw_all = |renderer: &mut xenoglot_warp::host::Renderer| -> Result<f64> {
        let start = Instant::now();
        for _ in 0..repeats {
            renderer.clear(&on_device, Some(0), Some(0xffff))?;
            renderer.draw_on(&on_device, memory, draw)?;
        }
        renderer.finish()?;
        Ok(milliseconds(start) / repeats as f64)
    };
    let frame = draw_all(renderer)?;
    renderer.measure_stages(true);
    draw_all(renderer)?;
    let mean = |(stage, time): (_, std::time::Duration)| (stage, time.as_secs_f64() * 1e3 / repeats as f64);
    let stages = renderer.take_times().into_iter().map(mean).collect();
    renderer.measure_stages(false);
    Ok(Resident { frame, stages })
}

#[cfg(not(feature = "gpu"))]
impl Gpu {
    fn open() -> Result<Gpu> {
        Ok(Gpu {})
    }

    fn name(&self) -> Option<String> {
        None
    }

    fn measure(&mut self, _: &mut Frame, _: &Memory, _: &Draw<'_>, _: usize) -> Result<Option<OnDevice>> {
        Ok(None)
    }
}

fn measure(scene: &Scene, repeats: usize, one: &rayon::ThreadPool, gpu: &mut Gpu) -> Result<Measured> {
    let [width, height] = scene.size;
    let state = RenderState {
        scissor: [0, 0, width as i16, height as i16],
        depth: 1 | depth::WRITE,
        combiner: combiner::SAMPLE | combiner::MULTIPLY,
        clamp: [i16::MIN, i16::MIN, i16::MAX, i16::MAX],
        mask: [SIDE as u16 - 1; 2],
        width: SIDE as i16,
        format: format::ARGB1555 | format::BILINEAR,
        levels: [TEXTURE; 8],
        ..RenderState::default()
    };
    let mut memory = Memory::new(MEMORY)?;
    for i in 0..SIDE * SIDE {
        let (u, v) = (i % SIDE, i / SIDE);
        let texel = 0x8000 | ((3 * i) >> 3 & 31) << 10 | (i >> 7 & 31) << 5 | ((7 * i) >> 3 & 31);
        let at = 64 * ((v >> 3) * (SIDE / 8) + (u >> 3)) + 8 * (v & 7) + (u & 7);
        memory.set_unit(TEXTURE / 2 + at, texel as u16);
    }
    let surface = |offset| Surface { offset, size: scene.size, stride: 2 * width };
    let targets = Targets { color: surface(0), depth: surface(2 * width * height) };
    let mut frame = Frame::load(&memory, &targets)?;
    let (states, state_of) = ([state], vec![0; scene.primitives.len()]);
    let draw = Draw::new(&states, &scene.primitives, &state_of)?;
    let edges = draw.edges(scene.size);
    let pixels = edges.iter().map(|edges| {
        let [first, last] = edges.rows();
        let widths = (first..=last).map(|row| edges.span(row)).map(|[left, right]| (right - left + 1).max(0));
        widths.map(|width| width as u64).sum::<u64>()
    });
    let pixels = pixels.sum();
    let on_device = gpu.measure(&mut frame, &memory, &draw, repeats)?;
    let mut best = |draws: &(dyn Fn(&mut Frame) + Sync)| {
        let mut once = || {
            let start = Instant::now();
            frame.clear(Some(0), Some(0xffff));
            draws(&mut frame);
            milliseconds(start)
        };
        (0..repeats).map(|_| once()).fold(f64::INFINITY, f64::min)
    };
    let engine = Engine::new();
    let mut moved = [f64::INFINITY; 2];
    for _ in 0..repeats {
        let start = Instant::now();
        let loaded = Frame::load(&memory, &targets)?;
        moved[0] = moved[0].min(milliseconds(start));
        let start = Instant::now();
        loaded.store(&mut memory);
        moved[1] = moved[1].min(milliseconds(start));
    }
    Ok(Measured {
        name: scene.name.clone(),
        primitives: scene.primitives.len(),
        pixels,
        reference: best(&|frame| reference::draw(frame, &memory, &draw)),
        one_core: best(&|frame| one.install(|| engine.draw(frame, &memory, &draw))),
        all_cores: best(&|frame| engine.draw(frame, &memory, &draw)),
        moved,
        on_device,
    })
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// Lists of primitives in files.
fn listed(folder: &Path) -> Result<Vec<Scene>> {
    let mut scenes = Vec::new();
    for source in source::sources(&[folder.to_path_buf()])? {
        let Some(path) = source.path() else { continue };
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(name) = file.split(".prims").next().filter(|name| name.len() < file.len()) else { continue };
        let size = name.split('_').nth(1).and_then(|size| size.split_once('x'));
        let size = size.and_then(|(width, height)| Some([width.parse().ok()?, height.parse().ok()?]));
        let size = size.with_context(|| format!("{}: no bench_WIDTHxHEIGHT_ in the name", path.display()))?;
        let primitives = golden::primitives(&unpacked(path)?).with_context(|| path.display().to_string())?;
        scenes.push(Scene { name: name.trim_start_matches("bench_").into(), size, primitives });
    }
    if scenes.is_empty() {
        bail!("{}: no lists of primitives (*.prims, *.prims.zst)", folder.display());
    }
    Ok(scenes)
}

/// Triangles of about so many pixels, anywhere on the screen.
fn random(size: [u32; 2], area: u32) -> Scene {
    let mut state = u64::from(area) << 32 | u64::from(size[0]);
    // Knuth's linear congruential generator (MMIX), its upper bits.
    let mut unit = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 24) as f32
    };
    let mut primitives = Vec::new();
    while primitives.len() < COUNT as usize {
        let (turn, radius) = (unit() * std::f32::consts::TAU, (area as f32 / 1.3).sqrt());
        let center = size.map(|pixels| unit() * pixels as f32);
        let vertices: [Vertex; 3] = std::array::from_fn(|i| {
            let angle = turn + i as f32 * std::f32::consts::TAU / 3.0 + 0.6 * unit();
            let w = 0.5 + unit();
            Vertex {
                position: [center[0] + radius * angle.cos(), center[1] + radius * angle.sin(), unit(), w],
                uv: [0, 1].map(|_| 64.0 * unit() * w),
                color: [0; 4].map(|_: i32| unit()),
            }
        });
        primitives.extend(set_up(vertices.each_ref(), [0; 2], Cull::None));
    }
    let [width, height] = size;
    Scene { name: format!("{width}x{height}_{COUNT}_{area}"), size, primitives }
}

impl Report {
    /// What stages on the device take.
    fn write_stages(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let measured = self.scenes.iter().filter_map(|scene| Some((&scene.name, scene.on_device.as_ref()?)));
        let lines = measured.flat_map(|(name, OnDevice { uber, split, .. })| {
            [("uber", uber), ("split", split)].map(|(way, resident)| (name, way, &resident.stages))
        });
        for (number, (name, way, stages)) in lines.filter(|line| !line.2.is_empty()).enumerate() {
            if number == 0 {
                writeln!(f, "\nstages by the device's clock, ms")?;
            }
            let stages: Vec<String> =
                stages.iter().map(|(stage, time)| format!("{stage} {time:.3}")).collect();
            writeln!(f, "{name:<20} {way:<6} {}", stages.join(", "))?;
        }
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "best of {} repetitions, {} threads; frames with clears\n", self.repeats, self.threads)?;
        writeln!(
            f,
            "{:<20} {:>9} {:>12} {:>12} {:>12} {:>14} {:>10} {:>8} {:>8} {:>12} {:>9} {:>9}",
            "scene",
            "pixels",
            "reference ms",
            "one core ms",
            "all cores ms",
            "k primitives/s",
            "Mpixels/s",
            "load ms",
            "store ms",
            "read back ms",
            "uber ms",
            "split ms"
        )?;
        for scene in &self.scenes {
            let Measured {
                name,
                primitives,
                pixels,
                reference,
                one_core,
                all_cores,
                moved: [load, store],
                on_device,
            } = scene;
            let (rate, fill) = (*primitives as f64 / one_core, *pixels as f64 / one_core / 1e3);
            write!(
                f,
                "{name:<20} {pixels:>9} {reference:>12.2} {one_core:>12.3} {all_cores:>12.3} {rate:>14.0} {fill:>10.1} {load:>8.3} {store:>8.3} "
            )?;
            match on_device {
                Some(OnDevice { read_back, uber, split }) => {
                    writeln!(f, "{read_back:>12.3} {:>9.3} {:>9.3}", uber.frame, split.frame)?;
                }
                None => writeln!(f, "{:>12} {:>9} {:>9}", "-", "-", "-")?,
            }
        }
        self.write_stages(f)?;
        writeln!(f, "\nrates are those of one core")?;
        match &self.device {
            Some(name) => writeln!(f, "read back, uber and split (means of frames that stay there): {name}"),
            None => Ok(()),
        }
    }
}
