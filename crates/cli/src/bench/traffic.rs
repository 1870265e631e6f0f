//! What crosses between the processor and the host's GPU for the PICA200's frames.

use super::host::Host;
use anyhow::{Context, Result};
use serde::Serialize;
use std::fmt;
use std::hint::black_box;
use std::time::Instant;
use xenoglot_capture::Capture;
use xenoglot_pica::gpu::Gpu;
use xenoglot_pica::host::{HostRenderer, Triangles};
use xenoglot_pica::memory::{Memory, Regions};
use xenoglot_pica::raster;
use xenoglot_pica::renderer::Renderer;
use xenoglot_pica::replay::{Operation, Shown};
use xenoglot_pica::report::Traffic;
use xenoglot_pica::shader::{Engines, Native};
use xenoglot_pica_scenes::{Params, SCENES, random};

/// Bytes of main memory that the scenes use.
const FCRAM: u32 = 48 << 20;
/// Frames before those that are measured, for programs and textures.
const BEFORE: u32 = 2;
/// Draws of a frame that each read what the one before it drew.
const ALTERNATING: u32 = 200;

/// Frames of all scenes.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The device.
    pub device: String,
    /// Frames of each mean.
    pub frames: u32,
    /// By scene and way.
    pub rows: Vec<Row>,
}

/// A scene drawn in one way; means of a frame.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The scene.
    pub scene: String,
    /// Who draws, and what becomes of the frame.
    pub way: &'static str,
    /// Milliseconds.
    pub time: f64,
    /// Bytes of guest memory that went to the device.
    pub uploaded: f64,
    /// Bytes that came back.
    pub downloaded: f64,
    /// Bytes of commands.
    pub commands: f64,
    /// Command buffers handed over.
    pub submissions: f64,
    /// Times that the processor waited.
    pub waits: f64,
}

/// What becomes of a frame.
type Show<R> = fn(&mut Gpu<R>, &mut Regions, Shown) -> Result<()>;

/// Plays the scenes in five ways: on the processor; on the device with all that was drawn in guest memory after each call, as
/// for memory that is not tracked; with guest memory tracked and the frames read; with the frames left on the device; and so with
/// all triangles set up and binned there.
pub fn measure(host: &Host, quick: bool) -> Result<Report> {
    let frames = if quick { 2 } else { 20 };
    let all = BEFORE + frames;
    let scenes = SCENES.iter().take(if quick { 1 } else { SCENES.len() });
    let params = Params { frames: Some(all), count: None };
    let mut captures: Vec<(String, Capture)> =
        scenes.map(|scene| (scene.name.to_owned(), scene.build(params))).collect();
    captures.push((format!("{ALTERNATING} alternating"), random::alternating(ALTERNATING, all)));
    let mut rows = Vec::new();
    for (scene, capture) in &captures {
        rows.push(play(scene, "cpu", capture, raster::Renderer::new(), true, read)?);
        rows.push(play(scene, "gpu, untracked", capture, host.renderer()?, false, read)?);
        rows.push(play(scene, "gpu, read", capture, host.renderer()?, true, read)?);
        rows.push(play(scene, "gpu, shown", capture, host.renderer()?, true, present)?);
        let on_device = host.renderer_with(Triangles::Device)?;
        rows.push(play(scene, "gpu, set up there", capture, on_device, true, present)?);
    }
    Ok(Report { device: host.name().into(), frames, rows })
}

fn read<R: Renderer>(gpu: &mut Gpu<R>, memory: &mut Regions, shown: Shown) -> Result<()> {
    black_box(gpu.show(memory, &shown.frame())?);
    Ok(())
}

fn present(gpu: &mut Gpu<HostRenderer>, memory: &mut Regions, shown: Shown) -> Result<()> {
    black_box(gpu.renderer_mut().present(memory, &shown.frame(), None)?);
    Ok(())
}

fn play<R: Renderer>(
    scene: &str,
    way: &'static str,
    capture: &Capture,
    renderer: R,
    tracked: bool,
    show: Show<R>,
) -> Result<Row> {
    let mut memory = Regions::console(FCRAM);
    memory.set_tracked(tracked);
    for block in &capture.memory {
        let place = memory.bytes_mut(block.address, block.bytes.len() as u32);
        place.context("a scene's memory")?.copy_from_slice(&block.bytes);
    }
    let mut gpu = Gpu::with_engines(renderer, Engines::new(vec![Box::new(Native::new()?)]));
    for &(register, value) in &capture.registers {
        gpu.registers_mut().set(register, value);
    }
    let (mut frames, mut start) = (0, Instant::now());
    for op in capture.ops.iter() {
        match Operation::decode(&op)? {
            Operation::Frame(shown) => {
                show(&mut gpu, &mut memory, shown)?;
                frames += 1;
                if frames == BEFORE {
                    gpu.take_report();
                    start = Instant::now();
                }
            }
            operation => operation.run(&mut gpu, &mut memory)?,
        }
    }
    // What still runs on the device is part of the frames.
    let traffic = gpu.take_report().traffic;
    gpu.flush(&mut memory);
    let frames = f64::from(frames.saturating_sub(BEFORE).max(1));
    let mean = |count: u64| count as f64 / frames;
    let Traffic { uploaded, downloaded, commands, submissions, waits } = traffic;
    Ok(Row {
        scene: scene.into(),
        way,
        time: start.elapsed().as_secs_f64() * 1e3 / frames,
        uploaded: mean(uploaded),
        downloaded: mean(downloaded),
        commands: mean(commands),
        submissions: mean(submissions),
        waits: mean(waits),
    })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "means of {} frames on {}; bytes of a frame", self.frames, self.device)?;
        writeln!(
            f,
            "{:<18}{:<18}{:>9}{:>12}{:>12}{:>12}{:>8}{:>8}",
            "scene", "way", "ms", "up", "down", "commands", "submit", "wait"
        )?;
        for row in &self.rows {
            let Row { scene, way, time, uploaded, downloaded, commands, submissions, waits } = row;
            write!(f, "{scene:<18}{way:<18}{time:>9.2}{uploaded:>12.0}{downloaded:>12.0}")?;
            writeln!(f, "{commands:>12.0}{submissions:>8.1}{waits:>8.1}")?;
        }
        Ok(())
    }
}
