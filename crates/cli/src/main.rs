//! The command-line tool `xenoglot`.
//!
//! `commands` has one file per command. What they share: `cli` says what the arguments are, `source` finds and reads
//! inputs, `program` makes programs of them, `batch` works on many at once and writes results in order, `draw` makes
//! pictures of graphs, `picture` writes those of pixels, `engine` says where codecs
//! run, `bench` measures. Translation itself is in the crate `xenoglot`; nothing here knows how it is done.

mod batch;
mod bench;
mod cli;
mod commands;
mod draw;
mod engine;
mod failure;
mod picture;
mod program;
mod source;

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
    let cli = cli::Cli::parse();
    start_log(cli.verbose);
    failure::exit_code(commands::run(cli.command))
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
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
}
