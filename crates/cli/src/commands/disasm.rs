//! `xenoglot disasm`: programs of any guest to assembly.

use crate::batch::{self, Artifact, BatchArgs};
use crate::program::Select;
use anyhow::Result;
use xenoglot::guest::{Image, Style, Unit};
use xenoglot::maxwell;
use xenoglot_maxwell::disasm::listing;
use xenoglot_pica_shader::container::{Limits, raw};
use xenoglot_pica_shader::disasm::{DisasmOptions, disassemble_program};

/// Arguments of `disasm`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    batch: BatchArgs,
    #[command(flatten)]
    select: Select,
    /// Write each instruction's address and word after it.
    #[arg(long)]
    addresses: bool,
    /// Use register numbers and addresses instead of the file's names.
    #[arg(long)]
    no_names: bool,
    /// The input is a dump of the PICA200's program memory without a container: this many words of code, then operand
    /// descriptors.
    #[arg(long, value_name = "WORDS", conflicts_with_all = ["no_names", "at", "kernel", "entry", "guest"])]
    raw: Option<usize>,
    /// The input is instruction words of NVIDIA's Maxwell or Pascal without a container, in groups from the first on.
    #[arg(long, conflicts_with_all = ["raw", "at", "kernel", "entry", "guest"])]
    maxwell: bool,
}

/// Disassembles.
pub fn run(args: &Args) -> Result<bool> {
    batch::run(
        &args.batch,
        || (),
        |(), _, bytes| {
            if let Some(words) = args.raw {
                let options = DisasmOptions { names: !args.no_names, comments: args.addresses };
                let program = raw::parse_joined(bytes, words, &Limits::default())?;
                return Ok(vec![Ok(Artifact::text(".pica", disassemble_program(&program, &options)))]);
            }
            if args.maxwell {
                return Ok(vec![Ok(Artifact::text(".sass", listing(&maxwell::words(bytes)).to_string()))]);
            }
            let (guest, _) = args.select.guest(bytes)?;
            let image = guest.load(bytes)?;
            let chosen: Vec<usize> = args.select.units(&*image)?;
            Ok(chosen.into_iter().map(|n| one(args, &*image, n, &image.units()[n])).collect())
        },
    )
}

fn one(args: &Args, image: &dyn Image, number: usize, unit: &Unit) -> Result<Artifact> {
    let style = Style { names: !args.no_names, addresses: args.addresses };
    let text = image.disassemble(number, style)?;
    let mut artifact = Artifact::text(format!("{}.{}", unit.suffix, unit.extension), text);
    if let Some(offset) = unit.offset {
        artifact = artifact.fact("offset", offset);
    }
    if let Some(name) = &unit.name {
        artifact = artifact.fact("name", name.as_str());
    }
    Ok(artifact)
}
