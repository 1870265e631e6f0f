//! `xenoglot dxil-checks`: decodes the faults that shaders translated with `--check-descriptors` recorded in a buffer.

use crate::print;
use crate::source;
use anyhow::{Context, Result};
use clap::Subcommand;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;
use xenoglot::dxil::checks::{self, ALIVE, Fault, Faults};
use xenoglot_dxil::binding::DescriptorKind;

/// Arguments of `dxil-checks`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print the faults in a buffer of descriptor checks.
    Decode {
        /// The buffer's bytes after the shaders ran; `-` for standard input.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// Prints faults.
pub fn run(args: &Args) -> Result<bool> {
    let Command::Decode { file, json } = &args.command;
    let bytes = source::read(file)?;
    let faults = Faults::read(&bytes).with_context(|| source::name(file))?;
    let text = if *json { serde_json::to_string_pretty(&value(&faults))? + "\n" } else { table(&faults) };
    print::stdout().write_all(text.as_bytes())?;
    Ok(true)
}

/// The kind that a shader used a descriptor as.
fn used_as(fault: &Fault) -> String {
    let kind = DescriptorKind::ALL.get(fault.used_as as usize);
    kind.map_or_else(|| format!("kind {}", fault.used_as), |kind| kind.name().into())
}

/// The kinds that a descriptor may be used as.
fn is(fault: &Fault, descriptors: u32) -> String {
    let kinds: Vec<&str> = checks::kinds(fault.word).map(DescriptorKind::name).collect();
    match fault.word {
        _ if fault.place >= descriptors => "behind the last".into(),
        0 => "nothing".into(),
        word if word & ALIVE == 0 => format!("gone: {}", kinds.join(", ")),
        _ => kinds.join(", "),
    }
}

fn table(faults: &Faults) -> String {
    let Faults { told, descriptors, faults } = faults;
    let mut out = format!("{told} faults, the last {} told here; {descriptors} descriptors\n", faults.len());
    if !faults.is_empty() {
        out += "    number    program  instruction       place  used as                 descriptor\n";
    }
    for fault in faults {
        let Fault { number, place, program, instruction, .. } = fault;
        let (used_as, is) = (used_as(fault), is(fault, *descriptors));
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{number:10} {program:10} {instruction:12} {place:11}  {used_as:22}  {is}");
    }
    out
}

fn value(faults: &Faults) -> Value {
    let fault = |fault: &Fault| {
        json!({
            "number": fault.number,
            "program": fault.program,
            "instruction": fault.instruction,
            "place": fault.place,
            "used_as": used_as(fault),
            "descriptor": is(fault, faults.descriptors),
            "word": fault.word,
        })
    };
    let told = faults.faults.iter().map(fault).collect::<Vec<Value>>();
    json!({ "told": faults.told, "descriptors": faults.descriptors, "faults": told })
}
