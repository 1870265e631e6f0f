//! What the simulator of the Dragon GPU costs.

use anyhow::Result;
use serde::Serialize;
use std::fmt;
use std::io;
use std::time::Instant;
use xenoglot_dragon::host::{AnimateOptions, Demo, animate, torus};
use xenoglot_dragon::{Machine, Params};
use xenoglot_trace::perfetto;

/// What was measured: the demo's frames.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Frames of each run.
    pub frames: u32,
    /// Units that tick.
    pub units: usize,
    /// Runs on one core.
    pub runs: Vec<Run>,
    /// The same frames side by side.
    pub side_by_side: SideBySide,
}

/// One way to run.
#[derive(Debug, Serialize)]
pub struct Run {
    /// What becomes of what units do.
    pub trace: Trace,
    /// What says how long memory takes.
    pub memory: &'static str,
    /// Whether known waits are skipped.
    pub skipping: bool,
    /// Ticks.
    pub ticks: u64,
    /// Seconds, the least of three.
    pub seconds: f64,
    /// Simulated unit-ticks a second, millions.
    pub unit_ticks: f64,
}

/// What becomes of what units do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trace {
    /// It is not recorded.
    Off,
    /// It is kept in memory.
    Kept,
    /// It is written frame by frame, packed, to nowhere.
    Streamed,
}

impl Trace {
    fn name(self) -> &'static str {
        match self {
            Trace::Off => "off",
            Trace::Kept => "on",
            Trace::Streamed => "streamed",
        }
    }
}

/// Frames on several cores.
#[derive(Debug, Serialize)]
pub struct SideBySide {
    /// Cores of this machine.
    pub cores: usize,
    /// Frames of the demo.
    pub frames: u32,
    /// Seconds for all frames, one at a time; the least of three.
    pub one: f64,
    /// Seconds for all frames, two at a time; the least of three.
    pub two: f64,
    /// How much faster two at a time are.
    pub ratio: f64,
}

/// Runs of each kind.
const REPEATS: usize = 3;

/// The seconds of the fastest of a few runs.
fn fastest(mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut seconds = f64::INFINITY;
    for _ in 0..REPEATS {
        let start = Instant::now();
        run()?;
        seconds = seconds.min(start.elapsed().as_secs_f64());
    }
    Ok(seconds)
}

/// Draws the frames one after the other on one machine.
fn draw(demo: &Demo, params: &Params, frames: u32, skipping: bool, trace: Trace) -> Result<Machine> {
    let mut machine = Machine::new(params.clone())?;
    machine.set_skipping(skipping);
    if trace != Trace::Off {
        machine.start_trace();
    }
    let mut writer = None;
    for n in 0..frames {
        demo.frame(&mut machine, n)?;
        if trace == Trace::Streamed
            && let Some(part) = machine.take_trace_part()
        {
            let writer = match &mut writer {
                Some(writer) => writer,
                None => writer.insert(perfetto::Writer::new(io::sink(), &part)?),
            };
            writer.push(&part)?;
        }
    }
    if let Some(writer) = writer {
        writer.finish()?;
    }
    Ok(machine)
}

/// Measures.
pub fn run(quick: bool) -> Result<Report> {
    let demo = Demo::new(torus(48, 24))?;
    let frames = if quick { 2 } else { 20 };
    let timer = Params::default().with(&["memory.timing = timer".into()])?;
    let sdram = Params::default();
    let mut runs = Vec::new();
    let mut units = 0;
    for (trace, memory, params, skipping) in [
        (Trace::Off, "timer", &timer, false),
        (Trace::Off, "timer", &timer, true),
        (Trace::Kept, "timer", &timer, true),
        (Trace::Streamed, "timer", &timer, true),
        (Trace::Off, "sdram", &sdram, false),
        (Trace::Off, "sdram", &sdram, true),
        (Trace::Kept, "sdram", &sdram, true),
        (Trace::Streamed, "sdram", &sdram, true),
    ] {
        let mut ticks = 0;
        let seconds = fastest(|| {
            let machine = draw(&demo, params, frames, skipping, trace)?;
            (ticks, units) = (machine.now(), machine.unit_count());
            Ok(())
        })?;
        let unit_ticks = ticks as f64 * units as f64 / seconds / 1e6;
        runs.push(Run { trace, memory, skipping, ticks, seconds, unit_ticks });
    }
    // More of them, as starting and ending are not to be measured.
    let many = 5 * frames;
    let side = |jobs: usize| {
        let options = AnimateOptions { jobs, ..AnimateOptions::default() };
        fastest(|| Ok(animate::<anyhow::Error>(&demo, &sdram, 0..many, options, |_| Ok(()))?))
    };
    let (one, two) = (side(1)?, side(2)?);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(Report {
        frames,
        units,
        runs,
        side_by_side: SideBySide { frames: many, cores, one, two, ratio: one / two },
    })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} frames, {} units, one core", self.frames, self.units)?;
        for run in &self.runs {
            let waits = if run.skipping { "skipped" } else { "ticked" };
            writeln!(
                f,
                "{:<5} trace {:<8} waits {waits:<7} {:>9} ticks {:>7.1} M unit-ticks/s {:>7.3} s",
                run.memory,
                run.trace.name(),
                run.ticks,
                run.unit_ticks,
                run.seconds
            )?;
        }
        let SideBySide { frames, cores, one, two, ratio } = self.side_by_side;
        writeln!(
            f,
            "{frames} frames on {cores} cores: one at a time {one:.3} s, two {two:.3} s, {ratio:.2} times as fast"
        )
    }
}
