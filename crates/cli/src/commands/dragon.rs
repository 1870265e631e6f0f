//! `xenoglot dragon`: the Dragon GPU's simulator and its programs.

mod explain;
mod run;
mod scene;
mod session;
mod step;
mod sweep;
mod trace;

pub use self::scene::SceneArgs;
use crate::output::{self, Inputs};
use crate::print;
use crate::source::{name, read, read_text};
use anyhow::{Context, Result};
use clap::Subcommand;
use std::io::Write;
use std::path::{Path, PathBuf};
use xenoglot_dragon::LINKS;
use xenoglot_dragon::host::Counters;
use xenoglot_trace::{Trace, chrome, report};
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
    Run(run::Args),
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

#[derive(clap::Args)]
struct ReportArgs {
    /// A trace in JSON that `dragon run` wrote; `-` for standard input.
    trace: PathBuf,
    /// Another one to compare it with.
    other: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Print the counters as CSV: hit rates, bandwidth, hot spots, bins.
    #[arg(long, conflicts_with_all = ["json", "other"])]
    csv: bool,
}

#[derive(clap::Args)]
struct TextArgs {
    /// The input; `-` for standard input.
    input: PathBuf,
    /// The output; standard output for text if not given.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Does it.
pub fn run(args: &Args) -> Result<bool> {
    match &args.action {
        Action::Run(args) => run::run(args),
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

fn print_report(args: &ReportArgs) -> Result<bool> {
    let read = |path: &Path| -> Result<(Trace, Option<Counters>)> {
        let bytes = read(path)?;
        let (trace, more) = chrome::read_with(&bytes).with_context(|| name(path))?;
        // Of another version they are left out.
        Ok((trace, more.and_then(|more| serde_json::from_value(more).ok())))
    };
    let (trace, counters) = read(&args.trace)?;
    let mut out = print::stdout();
    if let Some(other) = &args.other {
        let comparison = report::compare(&trace, &read(other)?.0, &LINKS);
        match args.json {
            true => writeln!(out, "{}", serde_json::to_string_pretty(&comparison)?)?,
            false => write!(out, "{comparison}")?,
        }
        return Ok(true);
    }
    let report = report::report(&trace, &LINKS);
    if args.csv {
        let counters = counters
            .context("the trace has no counters; `dragon run --report` or `--counters` keeps them")?;
        write!(out, "{}", counters.csv())?;
    } else if args.json {
        let mut json = serde_json::to_value(&report)?;
        if let (Some(object), Some(counters)) = (json.as_object_mut(), counters) {
            object.insert("counters".into(), serde_json::to_value(counters)?);
        }
        writeln!(out, "{}", serde_json::to_string_pretty(&json)?)?;
    } else {
        write!(out, "{report}")?;
        if let Some(counters) = counters {
            write!(out, "\n{counters}")?;
        }
    }
    Ok(true)
}
