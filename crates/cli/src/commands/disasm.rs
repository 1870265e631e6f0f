//! `xenoglot disasm`: shader binaries and MIPS programs to assembly.

use crate::batch::{self, Artifact, BatchArgs};
use crate::program::{Binary, Select, binaries, maxwell_programs};
use anyhow::Result;
use xenoglot::detect::{Format, detect};
use xenoglot::{dxil, maxwell};
use xenoglot_maxwell::disasm::listing;
use xenoglot_mips::container::elf;
use xenoglot_pica_shader::container::{Limits, raw};
use xenoglot_pica_shader::disasm::{DisasmOptions, disassemble, disassemble_program};

/// Arguments of `disasm`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    batch: BatchArgs,
    /// Write each instruction's address and word after it.
    #[arg(long)]
    addresses: bool,
    /// Use register numbers and addresses instead of the file's names.
    #[arg(long)]
    no_names: bool,
    /// The input is a dump of program memory without a container: this many words of code, then operand descriptors.
    #[arg(long, value_name = "WORDS", conflicts_with_all = ["no_names", "at"])]
    raw: Option<usize>,
    /// The shader binary at this byte offset of a file with several; all if not given.
    #[arg(long, value_name = "OFFSET", value_parser = crate::program::parse_offset)]
    at: Option<usize>,
    /// The kernel of this name; all if not given.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// The input is instruction words of NVIDIA's Maxwell or Pascal without a container, in groups from the first on.
    #[arg(long, conflicts_with_all = ["raw", "at", "kernel"])]
    maxwell: bool,
}

/// Disassembles.
pub fn run(args: &Args) -> Result<bool> {
    let options = DisasmOptions { names: !args.no_names, comments: args.addresses };
    let select = Select { entry: None, at: args.at, kernel: args.kernel.clone() };
    batch::run(
        &args.batch,
        || (),
        |(), _, bytes| {
            if let Some(words) = args.raw {
                let program = raw::parse_joined(bytes, words, &Limits::default())?;
                return Ok(vec![Ok(Artifact::text(".pica", disassemble_program(&program, &options)))]);
            }
            if args.maxwell {
                return Ok(vec![Ok(sass("", bytes))]);
            }
            if elf::is_mips(bytes) {
                let text = super::mips::listing(bytes, !args.no_names)?;
                return Ok(vec![Ok(Artifact::text(".s", text))]);
            }
            if let Format::Maxwell(_) = detect(bytes) {
                let programs = maxwell_programs(bytes, &select)?.into_iter();
                return Ok(programs
                    .map(|(p, suffix)| Ok(sass(&suffix, p.code).fact("name", p.name)))
                    .collect());
            }
            if let Format::Dxil(_) = detect(bytes) {
                let text = dxil::disassemble(&dxil::load(bytes)?)?;
                return Ok(vec![Ok(Artifact::text(".ll", text))]);
            }
            let text = |b: Binary| {
                Ok(Artifact::text(format!("{}.pica", b.suffix), disassemble(&b.shbin, &options))
                    .fact("offset", b.offset))
            };
            Ok(binaries(bytes, &select)?.into_iter().map(text).collect())
        },
    )
}

fn sass(suffix: &str, code: &[u8]) -> Artifact {
    Artifact::text(format!("{suffix}.sass"), listing(&maxwell::words(code)).to_string())
}
