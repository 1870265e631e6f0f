//! `xenoglot dragon`: the Dragon GPU's simulator and its programs.

mod explain;
mod session;
mod step;
mod sweep;
mod trace;

use self::session::Session;
use self::trace::{Stream, Window};
use crate::failure::usage;
use crate::output::{self, Inputs};
use crate::print;
use crate::source::{name, read, read_text};
use anyhow::{Context, Result, bail};
use clap::{Subcommand, ValueEnum};
use std::io::Write;
use std::path::{Path, PathBuf};
use xenoglot_dragon::host::{
    Buffering, Demo, Mesh, MeshLimits, Picture, apng, glass, globe, load_gltf, load_obj, torus, wooden_crate,
};
use xenoglot_dragon::{LINKS, Params};
use xenoglot_trace::{Trace, chrome, report, svg};
use xenoglot_vpu::{asm, disasm};

/// Arguments of `dragon`.
#[derive(clap::Args)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Draw frames of a model; write pictures, traces and a timeline.
    Run(RunArgs),
    /// Run to a breakpoint and show what the units do.
    Step(step::Args),
    /// Draw a frame with each combination of parameters, in parallel, and compare.
    Sweep(sweep::Args),
    /// Measure which change of the machine saves how much of a frame, and show what frames hang on.
    Explain(explain::Args),
    /// What a trace says, or what changed between two.
    Report(ReportArgs),
    /// Assemble a VPU program to little-endian words.
    Asm(TextArgs),
    /// Disassemble the words of a VPU program.
    Disasm(TextArgs),
}

/// What is drawn.
#[derive(clap::Args)]
pub struct SceneArgs {
    /// The model: an .obj or .glb file, `-` for one on standard input, or one of our own: `torus`, `globe`, `crate`
    /// (textured), `glass` (blended).
    #[arg(long, default_value = "torus")]
    model: String,
    /// A VPU program as assembly, instead of the one with depth.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Parameters in TOML.
    #[arg(long, value_name = "FILE")]
    params: Option<PathBuf>,
    /// A parameter, such as `raster.row_skip=false`; wins over the file.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    assignments: Vec<String>,
    /// Order of the tile buffers.
    #[arg(long, value_enum, default_value_t)]
    order: Order,
    /// Give every bin all triangles.
    #[arg(long)]
    no_bins: bool,
    /// Interpolate colours without perspective.
    #[arg(long)]
    no_perspective: bool,
    /// Frames of a whole turn.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    turn: u32,
}

/// Order of the tile buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Order {
    /// Fill, draw and store one bin after the other.
    Single,
    /// Fill the next bin and store the last one while drawing.
    #[default]
    Double,
}

#[derive(clap::Args)]
struct RunArgs {
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
    /// Print a report on the trace.
    #[arg(long)]
    report: bool,
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

#[derive(clap::Args)]
struct ReportArgs {
    /// A trace in JSON that `dragon run` wrote; `-` for standard input.
    trace: PathBuf,
    /// Another one to compare it with.
    other: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
struct TextArgs {
    /// The input; `-` for standard input.
    input: PathBuf,
    /// The output; standard output for text if not given.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

fn ticks(text: &str) -> Result<(u64, u64), String> {
    let parts = text.split_once("..").and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    parts.filter(|(a, b)| a < b).ok_or_else(|| "not two numbers with .. between them".into())
}

/// Does it.
pub fn run(args: &Args) -> Result<bool> {
    match &args.action {
        Action::Run(args) => draw(args),
        Action::Step(args) => step::run(args),
        Action::Sweep(args) => sweep::run(args),
        Action::Explain(args) => explain::run(args),
        Action::Report(args) => print_report(args),
        Action::Asm(args) => {
            let source = read_text(&args.input)?;
            let words = asm::assemble(&source).map_err(|e| anyhow::anyhow!("{}:{e}", name(&args.input)))?;
            let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
            match &args.output {
                Some(path) => args.write(path, &bytes)?,
                None => {
                    let mut out = print::stdout();
                    words.iter().try_for_each(|w| writeln!(out, "{w:08x}"))?;
                }
            }
            Ok(true)
        }
        Action::Disasm(args) => {
            let bytes = read(&args.input)?;
            let words: Vec<u32> =
                bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
            let text = disasm::disassemble(&words);
            match &args.output {
                Some(path) => args.write(path, text.as_bytes())?,
                None => write!(print::stdout(), "{text}")?,
            }
            Ok(true)
        }
    }
}

impl TextArgs {
    fn write(&self, output: &Path, bytes: &[u8]) -> Result<()> {
        Inputs::new([self.input.as_path()]).check(output)?;
        output::write(output, bytes)
    }
}

impl SceneArgs {
    fn demo(&self) -> Result<Demo> {
        let limits = MeshLimits::default();
        let path = Path::new(&self.model);
        let load = |load: fn(&[u8], &MeshLimits) -> Result<Mesh, _>, bytes: &[u8]| -> Result<Mesh> {
            Ok(load(bytes, &limits).with_context(|| name(path))?.centred())
        };
        let extension = path.extension().and_then(|e| e.to_str());
        let mesh = match (self.model.as_str(), extension) {
            ("torus", _) => torus(48, 24),
            ("globe", _) => globe(48, 24),
            ("crate", _) => wooden_crate(),
            ("glass", _) => glass(),
            (_, Some("obj")) => load(load_obj, &read(path)?)?,
            (_, Some("glb" | "gltf")) => load(load_gltf, &read(path)?)?,
            // Without a name the first bytes tell: GLB has a magic number.
            ("-", _) => {
                let bytes = read(path)?;
                if bytes.starts_with(b"glTF") { load(load_gltf, &bytes)? } else { load(load_obj, &bytes)? }
            }
            _ => return Err(usage(format!("{}: neither .obj nor .glb nor a model of ours", self.model))),
        };
        let mut demo = Demo::new(mesh)?;
        if let Some(path) = &self.program {
            let source = read_text(path)?;
            demo.program = asm::assemble(&source).map_err(|e| anyhow::anyhow!("{}:{e}", name(path)))?;
        }
        demo.buffering = if self.order == Order::Single { Buffering::Single } else { Buffering::Double };
        (demo.binning, demo.perspective, demo.frames) = (!self.no_bins, !self.no_perspective, self.turn);
        Ok(demo)
    }

    fn params(&self) -> Result<Params> {
        let base = match &self.params {
            Some(path) => {
                let text = read_text(path)?;
                Params::from_toml(&text).with_context(|| name(path))?
            }
            None => Params::default(),
        };
        Ok(base.with(&self.assignments)?)
    }
}

fn draw(args: &RunArgs) -> Result<bool> {
    for (path, ending) in [(&args.output, "png"), (&args.timeline, "svg"), (&args.checkpoint, "xgc")] {
        path.as_deref().map_or(Ok(()), |path| output::check_ending(path, ending))?;
    }
    let outputs = args.trace.iter().chain(&args.output).chain(&args.timeline).chain(&args.checkpoint);
    let mut out = print::beside(outputs.map(PathBuf::as_path));
    let demo = args.scene.demo()?;
    let mut session = Session::start(&args.scene, &demo, 0, args.resume.as_deref())?;
    let window = Window { ticks: args.ticks.unwrap_or((0, u64::MAX)), every: args.trace_every };
    // A checkpoint, a timeline and a report need the whole trace.
    let whole = args.timeline.is_some() || args.report || args.checkpoint.is_some();
    let mut stream = match args.trace.as_slice() {
        [path] if !whole && trace::streams(path) => Some(Stream::start(path, &mut session.machine, window)?),
        _ => None,
    };
    if stream.is_none() && args.trace_every > 1 {
        return Err(usage(
            "--trace-every is for one --trace of packets, without a report, timeline or checkpoint",
        ));
    }
    let traced = !args.trace.is_empty() || args.timeline.is_some() || args.report;
    if traced && !session.machine.is_traced() {
        session.machine.start_trace();
    }
    let mut checkpoint = args.checkpoint.as_deref().zip(args.at);
    let mut pictures: Vec<Picture> = Vec::new();
    loop {
        if let Some((path, at)) = checkpoint
            && !session.run_until(at, |_| false)?
        {
            session.save(path)?;
            checkpoint = None;
        }
        let (n, machine) = (session.frame, &mut session.machine);
        let frame = session.drawing.finish(machine)?;
        let milliseconds = 1000.0 * frame.ticks as f64 / machine.params().clock_hz as f64;
        writeln!(out, "frame {n}: {} ticks, {milliseconds:.3} ms", frame.ticks)?;
        if args.output.is_some() {
            pictures.push(frame.picture);
        }
        if let Some(stream) = &mut stream {
            stream.push(machine, n)?;
        }
        if n + 1 >= args.frames {
            break;
        }
        session.frame = n + 1;
        session.drawing = demo.begin(machine, n + 1)?;
    }
    let machine = &mut session.machine;
    if let Some((_, at)) = checkpoint {
        bail!("the run ended after {} ticks, before tick {at}", machine.now());
    }
    let faults = machine.faults();
    if !faults.is_empty() {
        writeln!(out, "faults: {faults:?}")?;
    }
    if let Some(path) = &args.output {
        output::write(path, &apng(&pictures, 33)?)?;
    }
    if let Some(stream) = stream {
        stream.finish(machine, session.frame)?;
    } else if let Some(trace) = machine.take_trace() {
        if args.report {
            write!(out, "\n{}", report::report(&trace, &LINKS))?;
        }
        if let Some(path) = &args.timeline {
            let (from, to) = args.ticks.unwrap_or_default();
            output::write(path, svg::draw(&trace, from, to).as_bytes())?;
        }
        let trace = window.clip(trace);
        args.trace.iter().try_for_each(|path| trace::write(path, &trace))?;
    }
    Ok(faults.is_empty())
}

fn print_report(args: &ReportArgs) -> Result<bool> {
    let read = |path: &Path| -> Result<Trace> {
        let bytes = read(path)?;
        chrome::read(&bytes).with_context(|| name(path))
    };
    let trace = read(&args.trace)?;
    let (text, json) = match &args.other {
        Some(other) => {
            let comparison = report::compare(&trace, &read(other)?, &LINKS);
            (comparison.to_string(), serde_json::to_string_pretty(&comparison)?)
        }
        None => {
            let report = report::report(&trace, &LINKS);
            (report.to_string(), serde_json::to_string_pretty(&report)?)
        }
    };
    let mut out = print::stdout();
    if args.json {
        writeln!(out, "{json}")?;
    } else {
        write!(out, "{text}")?;
    }
    Ok(true)
}
