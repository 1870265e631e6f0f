//! The command-line tool `xenoglot`.
//!
//! `commands` has one file per command. What they share: `cli` says what the arguments are, `source` finds and reads
//! inputs, `program` makes modules of them as `lift` says, `executable` has what PICA200 files say beside, `batch` works on many at once and writes results in order, `draw` makes
//! pictures of graphs, `picture` writes those of pixels, `output` writes files, `print` standard output, `progress` says how far
//! they are, `isolate` makes panics errors, `engine` says where codecs run, `compilers` has drivers compile in other processes, `bench`
//! measures. Translation itself is in the crate `xenoglot`; nothing here knows how it is done.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod batch;
mod bench;
mod cache;
mod cli;
mod commands;
#[cfg(feature = "gpu")]
mod compilers;
mod corpus;
mod draw;
mod engine;
mod executable;
mod failure;
mod isolate;
mod lift;
mod model;
mod output;
#[cfg(feature = "parquet")]
mod parquet;
mod picture;
mod print;
mod program;
mod progress;
mod rows;
mod source;
mod whole;

use clap::Parser;
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

/// A translation takes many small lists and some long ones for a moment: the system's allocator gives the memory back to the
/// kernel in between, which costs a tenth of the time. Needs a C compiler; feature `mimalloc`.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    #[cfg(feature = "vulkan")]
    xenoglot_vulkan::isolated::serve_if_worker();
    #[cfg(feature = "gpu")]
    if let Some(code) = compilers::serve_if_asked() {
        return code;
    }
    isolate::install();
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(said) => return failure::help_or_usage(&said),
    };
    start_log(cli.verbose);
    if let Err(error) = xenoglot_output::discard_on_signals() {
        tracing::warn!("Ctrl-C may leave something half written: {error}");
    }
    let done = commands::run(cli.command);
    failure::exit_code(done.and_then(|all_well| print::flush().map(|()| all_well)))
}

/// Messages go to standard error. `RUST_LOG` wins over `-v`.
fn start_log(verbose: u8) {
    let level = match verbose {
        0 => "warn",
        1 => "info",
        2 => "debug",
        _ => "trace",
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // Where standard error fails, there is nowhere to tell that.
    log.log_internal_errors(false).init();
}
