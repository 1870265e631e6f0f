//! `xenoglot asm`: assembly to shader binaries.

use crate::batch::{self, Artifact, BatchArgs};
use anyhow::{Context, Result};
use xenoglot_pica_shader::asm::{Options, Rounding, Source, assemble_sources};

/// Arguments of `asm`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    batch: BatchArgs,
    /// Do not insert a NOP where the hardware needs one at the end of a scope.
    #[arg(long)]
    no_pad: bool,
    /// Truncate constants to 24-bit floats instead of rounding them to the nearest.
    #[arg(long)]
    truncate: bool,
    /// Write the same bytes as picasso 2.7.1: its constants, operand descriptors, NOPs, input masks and order of names.
    #[arg(long, conflicts_with = "truncate")]
    picasso: bool,
}

/// Assembles.
pub fn run(args: &Args) -> Result<bool> {
    let mut options = if args.picasso { Options::picasso() } else { Options::default() };
    options.pad = !args.no_pad;
    if args.truncate {
        options.rounding = Rounding::Truncate;
    }
    batch::run(
        &args.batch,
        || (),
        |(), source, bytes| {
            let text = std::str::from_utf8(bytes).context("not UTF-8")?;
            let shbin = assemble_sources(&[Source { name: &source.name, text }], &options)?;
            let artifact = Artifact::bytes(".shbin", shbin.write())
                .fact("words", shbin.program.code.len())
                .fact("executables", shbin.executables.len());
            Ok(vec![Ok(artifact)])
        },
    )
}
