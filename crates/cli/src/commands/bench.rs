//! `xenoglot bench`: what things cost on this machine.

use crate::bench::translate;
use anyhow::Result;
use clap::ValueEnum;

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// Translation by stage and by size.
    Translate,
}

/// Arguments of `bench`.
#[derive(clap::Args)]
pub struct Args {
    /// What to measure.
    what: What,
    /// Print JSON instead of tables.
    #[arg(long)]
    json: bool,
    /// Measure less and less exactly.
    #[arg(long)]
    quick: bool,
}

/// Measures and prints.
pub fn run(args: &Args) -> Result<bool> {
    let What::Translate = args.what;
    let report = translate::run(&translate::Options { json: args.json, quick: args.quick })?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print!("{report}");
    }
    Ok(true)
}
