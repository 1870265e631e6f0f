//! The renderer on the host's GPU: frames, and the worst of them while new pixel states come.

use super::clock::{Control, Parts};
use super::pages::SmallPages;
use anyhow::{Context, Result};
use serde::Serialize;
use std::cell::Cell;
use std::fmt;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use xenoglot_cache::translate::present;
use xenoglot_cache::{Cache, Guest, Options, Refill, Versions};
use xenoglot_host::{Compilation, Device, DeviceOptions};
use xenoglot_pica::host::{
    HostRenderer, Options as PixelOptions, Programs, Triangles, guest_of_pixels, translate_again,
};
use xenoglot_pica::raster;
use xenoglot_pica::regs::{COLOR_WRITE, DEPTH_TEST, FRAGMENT_MODE, Registers};
use xenoglot_pica::renderer::{Draw, OutOfPixels, Renderer};
use xenoglot_pica::replay::{Limits, Player};
use xenoglot_pica_scenes::{Params, Scene};

/// New pixel states of a run.
const STATES: u32 = 200;
/// Of them in a frame.
const PER_FRAME: u32 = 4;

/// A device with its programs.
pub struct Host {
    device: Device,
    programs: Arc<Programs>,
}

/// Frames of a run in which every draw has a pixel state that was not there before, milliseconds.
#[derive(Debug, Serialize)]
pub struct Stutter {
    /// The device.
    pub device: String,
    /// New states.
    pub states: u32,
    /// By renderer.
    pub rows: Vec<Worst>,
}

/// A renderer's frames.
#[derive(Debug, Serialize)]
pub struct Worst {
    /// What draws.
    pub renderer: &'static str,
    /// The longest frame.
    pub worst: f64,
    /// The mean frame.
    pub mean: f64,
    /// Draws that the CPU renderer did instead.
    pub detours: u64,
}

impl Host {
    /// The device of the environment, if there is one.
    pub fn open() -> Option<Host> {
        let device = Device::open(&DeviceOptions::from_env()).ok()?;
        let programs = Arc::new(Programs::new(&device, Compilation::Blocking));
        Some(Host { device, programs })
    }

    /// A renderer whose programs are those of all such renderers.
    pub fn renderer(&self) -> Result<HostRenderer> {
        Ok(HostRenderer::new(Arc::clone(&self.programs))?)
    }

    /// The same with triangles set up and binned on one side.
    pub fn renderer_with(&self, triangles: Triangles) -> Result<HostRenderer> {
        let options = PixelOptions { triangles, ..PixelOptions::default() };
        Ok(HostRenderer::with_options(Arc::clone(&self.programs), options)?)
    }

    /// The device's name.
    pub fn name(&self) -> &str {
        self.device.name()
    }

    /// Runs with new pixel states: on the CPU, with programs that compile in the background, and with waiting for them.
    pub fn stutter(&self, quick: bool) -> Result<Stutter> {
        let states = if quick { STATES / 10 } else { STATES };
        let renderer = |compilation| HostRenderer::new(Arc::new(Programs::new(&self.device, compilation)));
        let rows = vec![
            run("cpu", raster::Renderer::new(), states, 0)?,
            run("gpu, background", renderer(Compilation::Background)?, states, 1)?,
            run("gpu, blocking", renderer(Compilation::Blocking)?, states, 2)?,
        ];
        Ok(Stutter { device: self.device.name().into(), states, rows })
    }
}

/// Pixel states that a cache fills in again while frames go on.
const REFILLED: u32 = 50_000;
/// A frame at 60 a second: frames of these runs wait for their time, as those of a game do.
const FRAME: Duration = Duration::from_nanos(16_666_667);
/// Milliseconds of arithmetic after each of them.
const CONTROL: f64 = 0.5;

/// Frames with new pixel states before a cache on disk.
#[derive(Debug, Serialize)]
pub struct Cached {
    /// What the cache has.
    pub cache: &'static str,
    /// Milliseconds of the longest frame's work.
    pub worst: f64,
    /// Of the mean frame's.
    pub mean: f64,
    /// The longest that the look-ups of a frame's draws took.
    pub look_ups: f64,
    /// The longest of each, where the system says.
    pub times: Option<Times>,
    /// Plain arithmetic after each frame, of half a millisecond.
    pub control: Control,
    /// Draws that the CPU renderer did instead.
    pub detours: u64,
    /// Programs found in the cache, by the frames or for them.
    pub hits: u64,
    /// States that were translated again meanwhile.
    pub refilled: usize,
}

/// What a frame's thread did, in milliseconds.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Times {
    /// It ran in look-ups of programs.
    pub running: f64,
    /// It slept in look-ups or draws: it waited for the cache, for another lock, or for the disk.
    pub waiting: f64,
}

impl Times {
    fn max(self, other: Times) -> Times {
        Times { running: self.running.max(other.running), waiting: self.waiting.max(other.waiting) }
    }
}

/// Runs with a cache on disk: empty, full, and after an update of the SPIR-V writer, when all it knows is filled in again while
/// frames go on.
pub fn cached(quick: bool) -> Result<Vec<Cached>> {
    let _small = SmallPages::begin();
    let folder = tempfile::tempdir()?;
    let states = if quick { STATES / 10 } else { STATES };
    let present = present();
    let raised = |(name, version): (&str, u16)| (name.to_owned(), version + u16::from(name == "spirv"));
    let updated: Versions = present.iter().map(raised).collect();
    let mut rows = Vec::new();
    for (name, versions, fill) in
        [("empty", present.clone(), 0), ("full", present, 0), ("updated", updated, REFILLED)]
    {
        let fill = if quick { fill / 100 } else { fill };
        let cache = Arc::new(Cache::open(folder.path(), versions, &Options::default())?);
        let device = Device::open_with(&DeviceOptions::from_env(), &cache)?;
        keep_states(&cache, fill)?;
        rows.push(cached_run(name, &cache, &device, states, fill > 0)?);
    }
    Ok(rows)
}

/// Puts pixel states into a cache, as a title leaves them that was played for long.
fn keep_states(cache: &Cache, count: u32) -> Result<()> {
    let mut regs = Registers::default();
    // Copies colours; all channels are written.
    for (register, value) in [(FRAGMENT_MODE, 1 << 8), (DEPTH_TEST, 0xf00), (COLOR_WRITE, 0xf)] {
        regs.set(register, value);
    }
    for number in 0..count {
        // No set of the runs has that many.
        vary(&mut regs, 1000 + number);
        let guest = guest_of_pixels(&regs, PixelOptions::default()).context("a state that draws nothing")?;
        cache.remember(&guest);
    }
    Ok(cache.flush()?)
}

fn cached_run(
    name: &'static str,
    cache: &Arc<Cache>,
    device: &Device,
    states: u32,
    refill: bool,
) -> Result<Cached> {
    let programs = Arc::new(Programs::new(device, Compilation::Background));
    let (cancel, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    let frames = std::thread::scope(|scope| {
        if refill {
            let workers = std::thread::available_parallelism().map_or(1, |n| n.get());
            let progress = |now, _| done.store(now, Ordering::Relaxed);
            let (cancel, done) = (&cancel, progress);
            scope.spawn(move || {
                let refill = Refill { workers, cancel, progress: &done };
                let translate = |guest: &Guest| drop(translate_again(device, guest));
                cache.refill(&refill, &translate)
            });
        }
        let frames = paced(&programs, states);
        cancel.store(true, Ordering::Relaxed);
        frames
    })?;
    let Frames { worst, total, look_ups, times, control, detours } = frames;
    let mean = total / f64::from(states / PER_FRAME);
    let refilled = done.load(Ordering::Relaxed);
    let hits = cache.counts().hits;
    Ok(Cached { cache: name, worst, mean, look_ups, times, control, detours, hits, refilled })
}

/// What frames took, in milliseconds: the longest of each, and the total.
#[derive(Default)]
struct Frames {
    worst: f64,
    total: f64,
    look_ups: f64,
    times: Option<Times>,
    control: Control,
    detours: u64,
}

/// Plays frames with new pixel states, 60 a second.
fn paced(programs: &Arc<Programs>, states: u32) -> Result<Frames> {
    let Some(scene) = Scene::find("triangles") else { anyhow::bail!("no such scene") };
    let capture = scene.build(Params { frames: Some(states / PER_FRAME), count: Some(PER_FRAME) });
    let inner = HostRenderer::new(Arc::clone(programs))?;
    let varied = Varied { programs: Some(programs), ..Varied::new(inner, 3) };
    let mut player = Player::new(&capture, varied, Limits::default())?;
    let mut frames = Frames::default();
    loop {
        let (start, looked_up) = (Instant::now(), programs.waited());
        player.gpu().renderer().times.take();
        let Some(image) = player.next_frame() else { break };
        black_box(image?);
        let took = start.elapsed().as_secs_f64() * 1e3;
        let look_ups = programs.waited().saturating_sub(looked_up).as_secs_f64() * 1e3;
        frames.worst = frames.worst.max(took);
        frames.total += took;
        frames.look_ups = frames.look_ups.max(look_ups);
        if let Some(times) = player.gpu().renderer().times.get() {
            frames.times = Some(frames.times.map_or(times, |longest| longest.max(times)));
        }
        frames.control.run(CONTROL);
        std::thread::sleep(FRAME.saturating_sub(start.elapsed()));
    }
    frames.detours = player.take_report().detours;
    Ok(frames)
}

/// Prints what frames waited for the cache.
pub fn print_cached(f: &mut fmt::Formatter<'_>, rows: &[Cached]) -> fmt::Result {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(f, "\nnew pixel states before a cache on disk, {PER_FRAME} in a frame; ms")?;
    writeln!(
        f,
        "{:<10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>8}{:>10}",
        "cache", "worst", "mean", "look-ups", "running", "waiting", "control", "detours", "hits", "refilled"
    )?;
    for Cached { cache, worst, mean, look_ups, times, control, detours, hits, refilled } in rows {
        write!(f, "{cache:<10}{worst:>10.2}{mean:>10.2}{look_ups:>10.3}")?;
        match times {
            Some(Times { running, waiting }) => write!(f, "{running:>10.3}{waiting:>10.3}")?,
            None => write!(f, "{:>20}", "")?,
        }
        let control = control.longest;
        write!(f, "{control:>10.3}")?;
        writeln!(f, "{detours:>10}{hits:>8}{refilled:>10}")?;
    }
    Ok(())
}

fn run(name: &'static str, inner: impl Renderer, states: u32, set: u32) -> Result<Worst> {
    let Some(scene) = Scene::find("triangles") else { anyhow::bail!("no such scene") };
    let frames = states / PER_FRAME;
    let capture = scene.build(Params { frames: Some(frames), count: Some(PER_FRAME) });
    let mut player = Player::new(&capture, Varied::new(inner, set), Limits::default())?;
    let (mut worst, mut total) = (0.0f64, 0.0);
    loop {
        let start = Instant::now();
        let Some(image) = player.next_frame() else { break };
        black_box(image?);
        let seconds = start.elapsed().as_secs_f64();
        (worst, total) = (worst.max(seconds), total + seconds);
    }
    let mean = total * 1e3 / f64::from(frames.max(1));
    Ok(Worst { renderer: name, worst: worst * 1e3, mean, detours: player.take_report().detours })
}

/// Gives registers the combiner stages of a number.
fn vary(regs: &mut Registers, mut number: u32) {
    /// Registers of the combiner stages: sources, operands, operation, constant, scale.
    const STAGES: [u32; 6] = [0xc0, 0xc8, 0xd0, 0xd8, 0xf0, 0xf8];
    /// Colours: previous, primary, constant; alpha: the same. No stage can be left out.
    const SOURCES: u32 = 0x0e0f_0e0f;
    /// Operations of colours that read more than the first source.
    const OPERATIONS: [u32; 7] = [1, 2, 3, 4, 5, 8, 9];
    for stage in STAGES {
        regs.set(stage, SOURCES);
        regs.set(stage + 1, 0);
        regs.set(stage + 2, OPERATIONS[number as usize % OPERATIONS.len()]);
        regs.set(stage + 3, 0x1020_4080);
        regs.set(stage + 4, 0);
        number /= OPERATIONS.len() as u32;
    }
}

/// Gives every draw combiner stages of its own.
struct Varied<'a, R> {
    inner: R,
    /// Sets have no states in common, so that no driver's cache knows them of another run.
    set: u32,
    draws: u32,
    /// Where draws' programs are looked up first.
    programs: Option<&'a Programs>,
    /// What the thread did so far in these look-ups and in draws, where the system says.
    times: Cell<Option<Times>>,
}

impl<'a, R> Varied<'a, R> {
    fn new(inner: R, set: u32) -> Varied<'a, R> {
        Varied { inner, set, draws: 0, programs: None, times: Cell::default() }
    }
}

impl<R: Renderer> Renderer for Varied<'_, R> {
    fn draw(&mut self, draw: Draw<'_>) -> Result<(), OutOfPixels> {
        let mut regs = draw.regs.clone();
        vary(&mut regs, self.set * STATES + self.draws);
        self.draws += 1;
        let Draw { tables, memory, early_depth, triangles, pixels, .. } = draw;
        let mut drawn = Ok(());
        let (_, looking_up) = Parts::of(|| {
            self.programs.into_iter().for_each(|programs| programs.prepare(&regs, PixelOptions::default()))
        });
        let draw =
            || drawn = self.inner.draw(Draw { regs: &regs, tables, memory, early_depth, triangles, pixels });
        let (_, drawing) = Parts::of(draw);
        if let Some((looking_up, drawing)) = looking_up.zip(drawing) {
            let Times { running, waiting } = self.times.get().unwrap_or_default();
            self.times.set(Some(Times {
                running: running + looking_up.running,
                waiting: waiting + looking_up.waiting + drawing.waiting,
            }));
        }
        drawn
    }

    xenoglot_pica::forward_renderer!(inner);
}

impl fmt::Display for Stutter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} new pixel states on {}, {PER_FRAME} in a frame; ms", self.states, self.device)?;
        writeln!(f, "{:<18}{:>10}{:>10}{:>10}", "renderer", "worst", "mean", "detours")?;
        for row in &self.rows {
            writeln!(f, "{:<18}{:>10.2}{:>10.2}{:>10}", row.renderer, row.worst, row.mean, row.detours)?;
        }
        Ok(())
    }
}
