//! What the simulator of the Dragon GPU costs.

use anyhow::Result;
use serde::Serialize;
use std::fmt;
use std::time::Instant;
use xenoglot_dragon::host::{Demo, torus};
use xenoglot_dragon::{Machine, Params};

/// What was measured: the demo's frames on one core.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Frames of each run.
    pub frames: u32,
    /// Ticks of a run.
    pub ticks: u64,
    /// Units that tick.
    pub units: usize,
    /// Runs.
    pub runs: Vec<Run>,
}

/// One way to run.
#[derive(Debug, Serialize)]
pub struct Run {
    /// Whether what units do is recorded.
    pub traced: bool,
    /// Whether known waits are skipped.
    pub skipping: bool,
    /// Seconds, the least of three.
    pub seconds: f64,
    /// Simulated unit-ticks a second, millions.
    pub unit_ticks: f64,
}

/// Runs of each kind.
const REPEATS: usize = 3;

/// Measures.
pub fn run(quick: bool) -> Result<Report> {
    let demo = Demo::new(torus(48, 24))?;
    let frames = if quick { 2 } else { 20 };
    let mut report = Report { frames, ticks: 0, units: 0, runs: Vec::new() };
    for (traced, skipping) in [(false, false), (true, false), (false, true), (true, true)] {
        let mut seconds = f64::INFINITY;
        for _ in 0..REPEATS {
            let mut machine = Machine::new(Params::default())?;
            machine.set_skipping(skipping);
            if traced {
                machine.start_trace();
            }
            let mut took = 0.0;
            for n in 0..frames {
                let start = Instant::now();
                demo.frame(&mut machine, n)?;
                took += start.elapsed().as_secs_f64();
            }
            seconds = seconds.min(took);
            (report.ticks, report.units) = (machine.now(), machine.unit_count());
        }
        let unit_ticks = report.ticks as f64 * report.units as f64 / seconds / 1e6;
        report.runs.push(Run { traced, skipping, seconds, unit_ticks });
    }
    Ok(report)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} frames, {} ticks of {} units, one core", self.frames, self.ticks, self.units)?;
        for run in &self.runs {
            let on = |yes: bool| if yes { "on " } else { "off" };
            let (traced, skipping) = (on(run.traced), on(run.skipping));
            writeln!(
                f,
                "tracing {traced}, skipping {skipping}: {:>7.1} M unit-ticks/s, {:.3} s",
                run.unit_ticks, run.seconds
            )?;
        }
        Ok(())
    }
}
