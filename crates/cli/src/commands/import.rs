//! `xenoglot import`: recordings of other emulators as captures.

use crate::{output, print, source};
use anyhow::{Context, Result};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;
use xenoglot_capture::Info;
use xenoglot_pica::replay::citrace::{self, ImportLimits};

/// Arguments of `import`.
#[derive(clap::Args)]
pub struct Args {
    /// A CiTrace recording (.ctf) of Citra or Azahar; `-` is standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The capture (.xgc).
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Print an object with counts.
    #[arg(long)]
    json: bool,
}

/// Imports.
pub fn run(args: &Args) -> Result<bool> {
    output::check_ending(&args.output, "xgc")?;
    let name = source::name(&args.file);
    let bytes = source::read(&args.file)?;
    let info = Info {
        title: name.clone(),
        creator: format!("xenoglot {}", env!("CARGO_PKG_VERSION")),
        comment: "imported from CiTrace".to_owned(),
    };
    let imported = citrace::import(&bytes, info, &ImportLimits::default()).context(name)?;
    output::write(&args.output, &imported.capture.to_bytes())?;
    let mut out = print::beside([args.output.as_path()]);
    let (frames, ignored) = (imported.frames, imported.ignored);
    if args.json {
        let facts = json!({ "file": args.output, "frames": frames, "ignored_writes": ignored });
        writeln!(out, "{}", serde_json::to_string_pretty(&facts)?)?;
    } else {
        writeln!(out, "{frames} frames; {ignored} writes to other devices' registers left out")?;
    }
    Ok(true)
}
