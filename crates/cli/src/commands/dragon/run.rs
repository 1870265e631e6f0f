//! `xenoglot dragon run`: draws frames.

use super::SceneArgs;
use super::scene::Stage;
use super::session::Session;
use super::trace::{self, Stream, Window};
use crate::failure::usage;
use crate::progress::Progress;
use crate::{output, print};
use anyhow::{Result, anyhow, bail};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use xenoglot_dragon::host::{AnimateError, AnimateOptions, Apng, Counters, Frame, Heat, animate, heat_map};
use xenoglot_dragon::profile::Profile;
use xenoglot_dragon::{Faults, LINKS, Machine, Params};
use xenoglot_output::Output;
use xenoglot_trace::{Trace, report, svg};

/// How long a picture of an animation is shown.
const MILLISECONDS: u16 = 33;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    scene: SceneArgs,
    /// Frames to draw.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    frames: u32,
    /// Write the frames as a PNG, animated if there are several.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write a trace: Chrome's JSON (.json) or Perfetto's packets (any other name). Packets alone are written frame by
    /// frame, however long the run.
    #[arg(long, value_name = "FILE")]
    trace: Vec<PathBuf>,
    /// Trace every n-th frame only; for a trace that is written frame by frame.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    trace_every: u32,
    /// Write a timeline as SVG.
    #[arg(long, value_name = "FILE")]
    timeline: Option<PathBuf>,
    /// Ticks of the timeline and of traces, such as 0..5000.
    #[arg(long, value_name = "FROM..TO", value_parser = ticks)]
    ticks: Option<(u64, u64)>,
    /// Print a report: how busy units are and what they wait for, hit rates, bandwidth, hot spots of programs.
    #[arg(long)]
    report: bool,
    /// Write counters: hit rates, bandwidth, occupancy, hot spots of programs, bins, as .json or .csv.
    #[arg(long, value_name = "FILE")]
    counters: Option<PathBuf>,
    /// Write heat maps over the screen, of all frames together: PREFIX-overdraw.png, PREFIX-instructions.png, PREFIX-bins.png
    /// (ticks to draw a bin) and PREFIX-tiles.png (ticks to store a tile).
    #[arg(long, value_name = "PREFIX")]
    heat: Option<PathBuf>,
    /// Frames to draw at a time, each on a machine of its own: as many as there are cores, if not given, or two if they
    /// are traced. With a checkpoint, all frames are drawn on one machine, one after the other.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    jobs: Option<u32>,
    /// Write a checkpoint before the tick given with --at, and go on.
    #[arg(long, value_name = "FILE", requires = "at")]
    checkpoint: Option<PathBuf>,
    /// The checkpoint's tick.
    #[arg(long, value_name = "TICK", requires = "checkpoint")]
    at: Option<u64>,
    /// Go on from a checkpoint, which brings the parameters, the frame it was made in and the trace so far; frames after
    /// that are the model's.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["params", "assignments"])]
    resume: Option<PathBuf>,
}

fn ticks(text: &str) -> Result<(u64, u64), String> {
    let parts = text.split_once("..").and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    parts.filter(|(a, b)| a < b).ok_or_else(|| "not two numbers with .. between them".into())
}

/// Draws and writes.
pub fn run(args: &Args) -> Result<bool> {
    for (path, ending) in [(&args.output, "png"), (&args.timeline, "svg"), (&args.checkpoint, "xgc")] {
        path.as_deref().map_or(Ok(()), |path| output::check_ending(path, ending))?;
    }
    if let Some(path) = &args.counters
        && !path.extension().is_some_and(|e| e == "json" || e == "csv")
    {
        return Err(usage(format!("{}: counters are written as .json or .csv", path.display())));
    }
    let stage = args.scene.stage()?;
    let mut png = args.output.as_deref().map(output::create).transpose()?.map(BufWriter::new);
    let mut results = Results::new(args, &stage, png.as_mut());
    if args.trace_every > 1 && results.streamed().is_none() {
        return Err(usage(
            "--trace-every is for one --trace of packets, without a report, timeline or checkpoint",
        ));
    }
    if args.checkpoint.is_some() || args.resume.is_some() {
        one_after_the_other(args, &stage, &mut results)?;
    } else {
        side_by_side(args, &stage, &mut results)?;
    }
    let clean = results.finish()?;
    if let Some(png) = png {
        output::finish(png)?;
    }
    Ok(clean)
}

/// Frames on a machine each.
fn side_by_side(args: &Args, stage: &Stage, results: &mut Results<'_>) -> Result<()> {
    let params = args.scene.params()?;
    let jobs = args.jobs.unwrap_or(0) as usize;
    let options = AnimateOptions { traced: results.traced(), profiled: results.counted(), jobs };
    let progress = Progress::new(args.frames as usize);
    let drawn = animate(stage.animation.as_ref(), &params, 0..args.frames, options, |drawn| -> Result<()> {
        progress.step();
        progress.suspend(|| results.frame(drawn.number, drawn.frame, drawn.machine.params()))?;
        results.faults |= drawn.faults;
        results.count(&drawn.machine);
        drawn.trace.map_or(Ok(()), |trace| results.trace(trace, drawn.number))
    });
    drawn.map_err(|e| match e {
        AnimateError::Other(error) => error,
        AnimateError::Demo { error, .. } => anyhow!(error),
        other => anyhow!("{other}"),
    })
}

/// Frames on one machine, with a checkpoint at its beginning or on the way.
fn one_after_the_other(args: &Args, stage: &Stage, results: &mut Results<'_>) -> Result<()> {
    let mut session = Session::start(&args.scene, stage, 0, args.resume.as_deref())?;
    if results.traced() && !session.machine.is_traced() {
        session.machine.start_trace();
    }
    if results.counted() {
        session.machine.start_profile();
    }
    let mut checkpoint = args.checkpoint.as_deref().zip(args.at);
    loop {
        if let Some((path, at)) = checkpoint
            && !session.run_until(at, |_| false)?
        {
            session.save(path)?;
            checkpoint = None;
        }
        let (n, machine) = (session.frame, &mut session.machine);
        let frame = session.drawing.finish(machine)?;
        results.frame(n, frame, machine.params())?;
        if n + 1 >= args.frames {
            break;
        }
        session.frame = n + 1;
        session.drawing = stage.animation.scene(n + 1).begin(machine)?;
    }
    let machine = &mut session.machine;
    if let Some((_, at)) = checkpoint {
        bail!("the run ended after {} ticks, before tick {at}", machine.now());
    }
    results.faults |= machine.faults();
    results.count(machine);
    // The trace of a checkpoint is whole.
    if let Some(trace) = machine.take_trace() {
        results.whole = Some(trace);
    }
    Ok(())
}

/// What comes of the frames.
struct Results<'a> {
    args: &'a Args,
    stage: &'a Stage,
    out: Box<dyn Write>,
    /// Where pictures go, until the first one is drawn.
    png: Option<&'a mut BufWriter<Output>>,
    pictures: Option<Apng<&'a mut BufWriter<Output>>>,
    faults: Faults,
    counters: Counters,
    profile: Profile,
    window: Window,
    stream: Option<Stream<'a>>,
    whole: Option<Trace>,
    /// Ticks of the traces so far.
    ticks: u64,
}

impl<'a> Results<'a> {
    fn new(args: &'a Args, stage: &'a Stage, png: Option<&'a mut BufWriter<Output>>) -> Results<'a> {
        let outputs = args.trace.iter().chain(&args.output).chain(&args.timeline).chain(&args.checkpoint);
        let outputs = outputs.chain(&args.counters).map(PathBuf::as_path);
        Results {
            args,
            stage,
            out: Box::new(print::beside(outputs)),
            png,
            pictures: None,
            faults: Faults::empty(),
            counters: Counters::default(),
            profile: Profile::default(),
            window: Window { ticks: args.ticks.unwrap_or((0, u64::MAX)), every: args.trace_every },
            stream: None,
            whole: None,
            ticks: 0,
        }
    }

    fn traced(&self) -> bool {
        !self.args.trace.is_empty() || self.args.timeline.is_some() || self.args.report
    }

    /// Whether counters are kept that take time.
    fn counted(&self) -> bool {
        self.args.report || self.args.counters.is_some() || self.args.heat.is_some()
    }

    /// The one trace that is written frame by frame, if nothing else needs all of it.
    fn streamed(&self) -> Option<&'a Path> {
        let args = self.args;
        let whole =
            args.timeline.is_some() || args.report || args.checkpoint.is_some() || args.resume.is_some();
        match args.trace.as_slice() {
            [path] if !whole && trace::streams(path) => Some(path),
            _ => None,
        }
    }

    fn frame(&mut self, number: u32, frame: Frame, params: &Params) -> Result<()> {
        let milliseconds = 1000.0 * frame.ticks as f64 / params.clock_hz as f64;
        writeln!(self.out, "frame {number}: {} ticks, {milliseconds:.3} ms", frame.ticks)?;
        let pictures = match &mut self.pictures {
            Some(pictures) => pictures,
            None => {
                let Some(png) = self.png.take() else { return Ok(()) };
                // The first that is drawn; a checkpoint's is not frame 0.
                let count = self.args.frames.saturating_sub(number).max(1);
                self.pictures.insert(Apng::new(png, &frame.picture, count, MILLISECONDS)?)
            }
        };
        Ok(pictures.push(&frame.picture)?)
    }

    fn count(&mut self, machine: &Machine) {
        if self.counted() {
            self.counters.merge(&Counters::of(machine));
            if let Some(profile) = machine.profile() {
                self.profile.merge(profile);
            }
        }
    }

    /// Adds the trace of a frame, which begins at tick 0.
    fn trace(&mut self, mut trace: Trace, number: u32) -> Result<()> {
        trace.delay(self.ticks);
        self.ticks = trace.ticks;
        let Some(path) = self.streamed() else {
            match &mut self.whole {
                Some(whole) => whole.append(trace),
                None => self.whole = Some(trace),
            }
            return Ok(());
        };
        let stream = match &mut self.stream {
            Some(stream) => stream,
            None => self.stream.insert(Stream::start(path, &trace, self.window)?),
        };
        stream.push(trace, number)
    }

    fn finish(mut self) -> Result<bool> {
        let args = self.args;
        if !self.faults.is_empty() {
            writeln!(self.out, "faults: {:?}", self.faults)?;
        }
        if let Some(pictures) = self.pictures {
            pictures.finish()?;
        }
        let sources: Vec<&str> = self.stage.sources.iter().map(String::as_str).collect();
        self.counters.name_lines(&sources);
        if let Some(path) = &args.counters {
            let text = match path.extension().is_some_and(|e| e == "csv") {
                true => self.counters.csv(),
                false => serde_json::to_string_pretty(&self.counters)?,
            };
            output::write(path, text.as_bytes())?;
        }
        if let Some(prefix) = &args.heat {
            for heat in Heat::ALL {
                let (picture, most) = heat_map(&self.profile, self.stage.screen, heat);
                let path = PathBuf::from(format!("{}-{}.png", prefix.display(), heat.name()));
                writeln!(self.out, "{}: 0 (black) to {most} (white) {}", path.display(), heat.unit())?;
                let mut png = Vec::new();
                let mut pictures = Apng::new(&mut png, &picture, 1, MILLISECONDS)?;
                pictures.push(&picture)?;
                pictures.finish()?;
                output::write(&path, &png)?;
            }
        }
        if let Some(stream) = self.stream {
            stream.finish()?;
        } else if let Some(trace) = self.whole {
            if args.report {
                write!(self.out, "\n{}\n{}", report::report(&trace, &LINKS), self.counters)?;
            }
            if let Some(path) = &args.timeline {
                let (from, to) = args.ticks.unwrap_or_default();
                output::write(path, svg::draw(&trace, from, to).as_bytes())?;
            }
            let trace = self.window.clip(trace);
            let counters = (self.counters.ticks > 0).then_some(&self.counters);
            args.trace.iter().try_for_each(|path| trace::write(path, &trace, counters))?;
        }
        Ok(self.faults.is_empty())
    }
}
