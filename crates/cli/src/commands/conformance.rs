//! `xenoglot conformance`: an engine against a suite of recorded results.

use crate::failure::usage;
use crate::progress::Progress;
use crate::source;
use anyhow::Result;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tempfile::NamedTempFile;
use xenoglot_conformance::{Case, Observer, Request, SUITES, Suite, Verdict};

/// Arguments of `conformance`.
#[derive(clap::Args)]
#[command(after_help = suite_list())]
pub struct Args {
    /// The suite.
    suite: String,
    /// A file of the suite, a folder with some, or `-` for a file on standard input.
    path: PathBuf,
    /// The engine; the suite's first if not given.
    #[arg(long)]
    engine: Option<String>,
    /// Part of the name of the Vulkan device to use; any if not given.
    #[arg(long)]
    device: Option<String>,
    /// Pixels along a side of the tiles that an engine on a device draws, for suites that have some; the suite's first if not
    /// given.
    #[arg(long, value_name = "PIXELS")]
    tile: Option<u32>,
    /// Print an object with the counts and the cases that did not pass.
    #[arg(long)]
    json: bool,
}

fn suite_list() -> String {
    let line = |s: &Suite| {
        let tiles: Vec<String> = s.tiles.iter().map(u32::to_string).collect();
        let tiles = if tiles.is_empty() { String::new() } else { format!("; tiles: {}", tiles.join(", ")) };
        format!("  {:12} {}; engines: {}{tiles}\n", s.name, s.doc, s.engines.join(", "))
    };
    format!("Suites:\n{}", SUITES.iter().map(line).collect::<String>())
}

/// Runs a suite. False if a case failed.
pub fn run(args: &Args) -> Result<bool> {
    let suite = Suite::find(&args.suite)
        .ok_or_else(|| usage(format!("no suite is called {:?}\n{}", args.suite, suite_list())))?;
    let engine = suite.engine(args.engine.as_deref()).map_err(|e| usage(e.to_string()))?;
    if let Some(tile) = args.tile.filter(|tile| !suite.tiles.contains(tile)) {
        return Err(usage(format!("suite {} has no tiles of {tile} pixels a side", suite.name)));
    }
    let file = standard_input(&args.path)?;
    let path = file.as_ref().map_or(args.path.as_path(), |file| file.path()).to_path_buf();
    let request = Request { device: args.device.clone(), tile: args.tile, ..Request::new(path, engine) };
    let watch = Watch { progress: Progress::new(0), cases: Mutex::default() };
    let summary = suite.run(&request, &watch);
    let Watch { progress, cases } = watch;
    drop(progress);
    let summary = summary?;
    let mut cases = cases.into_inner().unwrap_or_else(PoisonError::into_inner);
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    let mut out = crate::print::stdout();
    if args.json {
        let report = serde_json::json!({
            "suite": suite.name,
            "engine": engine,
            "passed": summary.passed,
            "failed": summary.failed,
            "unconfirmed": summary.unconfirmed,
            "cases": cases,
        });
        writeln!(out, "{report:#}")?;
    } else {
        for case in &cases {
            match &case.verdict {
                Verdict::Passed => {}
                Verdict::TimedOut(limit) => writeln!(out, "TIMED OUT {}: {limit}", case.name)?,
                Verdict::Failed(difference) => writeln!(out, "FAILED {}: {difference}", case.name)?,
                Verdict::Unconfirmed(difference) => writeln!(out, "unconfirmed {}: {difference}", case.name)?,
            }
        }
        writeln!(out, "{summary}")?;
    }
    Ok(summary.failed == 0)
}

/// What comes from standard input as a file, which suites read by its name.
fn standard_input(path: &Path) -> Result<Option<NamedTempFile>> {
    if path.as_os_str() != "-" {
        return Ok(None);
    }
    let mut file = NamedTempFile::new()?;
    file.write_all(&source::read(path)?)?;
    Ok(Some(file))
}

/// Counts cases and keeps those that did not pass. They end in any order, and are printed in one.
struct Watch {
    progress: Progress,
    cases: Mutex<Vec<Case>>,
}

impl Observer for Watch {
    fn total(&self, cases: usize) {
        self.progress.add_total(cases);
    }

    fn case(&self, case: &Case) {
        self.progress.step();
        if case.verdict != Verdict::Passed {
            let mut cases = self.cases.lock().unwrap_or_else(PoisonError::into_inner);
            cases.push(case.clone());
            self.progress.say(format!("{} not as expected", cases.len()));
        }
    }
}
