//! `xenoglot dragon step`: to the next breakpoint, and what the units are doing there.

use super::SceneArgs;
use super::session::Session;
use crate::{output, print};
use anyhow::Result;
use serde::Serialize;
use std::fmt;
use std::io::Write;
use std::path::PathBuf;
use xenoglot_dragon::debug::{Breakpoint, Watch};
use xenoglot_dragon::{Machine, UnitState};

/// Arguments of `dragon step`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    scene: SceneArgs,
    /// Where to stop: `tick=5000`, a unit that begins something (`rasterizer`), or a certain event (`vpu1=TexWait`), a
    /// VPU that issues a word of the program (`pc=3`), a register that is written (`register=31`, hexadecimal). The
    /// first one met stops. One tick if there is none.
    #[arg(long = "break", value_name = "WHERE")]
    breakpoints: Vec<Breakpoint>,
    /// Stop at the n-th time.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
    /// The frame of the turn.
    #[arg(long, default_value_t = 0)]
    frame: u32,
    /// Go on from a checkpoint, which brings parameters and frame.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["params", "assignments", "frame"])]
    resume: Option<PathBuf>,
    /// Write a checkpoint of where it stopped.
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Where it stopped.
#[derive(Serialize)]
struct Stop {
    /// The tick that comes next.
    tick: u64,
    frame: u32,
    /// The breakpoint; none where the frame is drawn.
    at: Option<String>,
    signals: u32,
    waiting: u32,
    faults: u32,
    units: Vec<UnitState>,
}

/// Runs to a breakpoint; whether it was met.
pub fn run(args: &Args) -> Result<bool> {
    if let Some(path) = &args.checkpoint {
        output::check_ending(path, "xgc")?;
    }
    let stage = args.scene.stage()?;
    let mut session = Session::start(&args.scene, &stage, args.frame, args.resume.as_deref())?;
    let mut breakpoints = args.breakpoints.clone();
    if breakpoints.is_empty() {
        breakpoints.push(Breakpoint::Tick(session.machine.now() + u64::from(args.count)));
    }
    let mut at = None;
    let once = args.breakpoints.is_empty();
    let mut watch = Watch::new(&session.machine, breakpoints);
    for _ in 0..if once { 1 } else { args.count } {
        let before = watch.next_tick(session.machine.now());
        at = None;
        let stop = |machine: &Machine| {
            at = watch.hit(machine);
            at.is_some()
        };
        if session.run_until(before, stop)? {
            break;
        }
        // A tick whose neighbours were skipped is met by the pause before it.
        at = at.or((session.machine.now() == before).then_some(Breakpoint::Tick(before)));
    }
    if let Some(path) = &args.checkpoint {
        session.save(path)?;
    }
    let machine = &session.machine;
    let stop = Stop {
        tick: machine.now(),
        frame: session.frame,
        at: at.map(|b| b.to_string()),
        signals: machine.signals(),
        waiting: machine.waiting(),
        faults: machine.faults().bits(),
        units: machine.units(),
    };
    let mut out = print::beside(args.checkpoint.as_deref());
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&stop)?)?;
    } else {
        write!(out, "{stop}")?;
    }
    // A breakpoint that is never met is a failure, as is a pattern that a search does not find.
    Ok(once || stop.at.is_some())
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = self.at.as_deref().unwrap_or("the frame is drawn");
        writeln!(f, "frame {}, before tick {}: {why}", self.frame, self.tick)?;
        writeln!(
            f,
            "signals {:#x}, waiting for {:#x}, faults {:#x}",
            self.signals, self.waiting, self.faults
        )?;
        self.units.iter().try_for_each(|unit| writeln!(f, "  {}", unit.to_string().trim_end()))
    }
}
