//! The renderer on the host's GPU: frames, and the worst of them while new pixel states come.

use anyhow::Result;
use serde::Serialize;
use std::fmt;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;
use xenoglot_host::{Compilation, Device, DeviceOptions};
use xenoglot_pica::host::{HostRenderer, Programs};
use xenoglot_pica::memory::Memory;
use xenoglot_pica::raster;
use xenoglot_pica::renderer::{Draw, OutOfPixels, Renderer};
use xenoglot_pica::replay::{Limits, Player};
use xenoglot_pica::report::Report;
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

fn run(name: &'static str, inner: impl Renderer, states: u32, set: u32) -> Result<Worst> {
    let Some(scene) = Scene::find("triangles") else { anyhow::bail!("no such scene") };
    let frames = states / PER_FRAME;
    let capture = scene.build(Params { frames: Some(frames), count: Some(PER_FRAME) });
    let renderer = Varied { inner, set, draws: 0 };
    let mut player = Player::new(&capture, renderer, Limits::default())?;
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

/// Gives every draw combiner stages of its own.
struct Varied<R> {
    inner: R,
    /// Sets have no states in common, so that no driver's cache knows them of another run.
    set: u32,
    draws: u32,
}

impl<R: Renderer> Renderer for Varied<R> {
    fn draw(&mut self, draw: Draw<'_>) -> Result<(), OutOfPixels> {
        /// Registers of the combiner stages: sources, operands, operation, constant, scale.
        const STAGES: [u32; 4] = [0xc0, 0xc8, 0xd0, 0xd8];
        /// Colours: primary, constant, previous; alpha: the same.
        const SOURCES: u32 = 0x0fe0_0fe0;
        /// Operations of colours that need no more than two sources' difference to be told apart.
        const OPERATIONS: [u32; 6] = [1, 2, 3, 4, 5, 8];
        let mut regs = draw.regs.clone();
        let mut number = self.set * STATES + self.draws;
        for stage in STAGES {
            regs.set(stage, SOURCES);
            regs.set(stage + 1, 0);
            regs.set(stage + 2, OPERATIONS[number as usize % OPERATIONS.len()]);
            regs.set(stage + 3, 0x1020_4080);
            regs.set(stage + 4, 0);
            number /= OPERATIONS.len() as u32;
        }
        self.draws += 1;
        let Draw { tables, memory, triangles, pixels, .. } = draw;
        self.inner.draw(Draw { regs: &regs, tables, memory, triangles, pixels })
    }

    fn finish(&mut self, memory: &mut dyn Memory, report: &mut Report) {
        self.inner.finish(memory, report);
    }
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
