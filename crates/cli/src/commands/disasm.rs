//! `xenoglot disasm`: shader binaries to assembly.

use crate::batch::{self, Artifact, BatchArgs};
use crate::program::{Binary, Select, binaries};
use anyhow::Result;
use xenoglot_pica_shader::container::{Limits, raw};
use xenoglot_pica_shader::disasm::{DisasmOptions, disassemble, disassemble_program};

/// Arguments of `disasm`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    batch: BatchArgs,
    /// Put each instruction's address and word behind it.
    #[arg(long)]
    addresses: bool,
    /// Use register numbers and addresses instead of the file's names.
    #[arg(long)]
    no_names: bool,
    /// The input is a dump of program memory without a container: this many words of code, then operand descriptors.
    #[arg(long, value_name = "WORDS", conflicts_with_all = ["no_names", "at"])]
    raw: Option<usize>,
    /// Of a file with several shader binaries inside, the one at this byte offset; all if not given.
    #[arg(long, value_name = "OFFSET", value_parser = crate::program::parse_offset)]
    at: Option<usize>,
}

/// Disassembles.
pub fn run(args: &Args) -> Result<bool> {
    let options = DisasmOptions { names: !args.no_names, comments: args.addresses };
    let select = Select { entry: None, at: args.at };
    batch::run(
        &args.batch,
        || (),
        |(), _, bytes| {
            if let Some(words) = args.raw {
                let program = raw::parse_joined(bytes, words, &Limits::default())?;
                return Ok(vec![Ok(Artifact::text(".pica", disassemble_program(&program, &options)))]);
            }
            let text = |b: Binary| {
                Ok(Artifact::text(format!("{}.pica", b.suffix), disassemble(&b.shbin, &options))
                    .fact("offset", b.offset))
            };
            Ok(binaries(bytes, &select)?.into_iter().map(text).collect())
        },
    )
}
