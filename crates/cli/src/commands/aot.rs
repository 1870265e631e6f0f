//! `xenoglot aot`: a MIPS program as a shared library, which `run --aot` executes.

use crate::failure::usage;
use crate::print;
use crate::source::sources;
use anyhow::{Context, Result};
use std::io::Write;
use std::path::PathBuf;
use xenoglot_cpu::aot;
use xenoglot_guest::linux::load_bias;
use xenoglot_mips::container::{Elf, Limits};

/// Arguments of `aot`.
#[derive(clap::Args)]
pub struct Args {
    /// A MIPS program for Linux, or `-` for standard input.
    program: PathBuf,
    /// Where to write the library: the program's name with .xga if not given.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The C compiler: GCC 11 or newer, or Clang 14.
    #[arg(long, value_name = "COMMAND", default_value = "cc")]
    cc: PathBuf,
    /// Its optimisation: 0 compiles fastest, 2 and 3 make the fastest code.
    #[arg(short = 'O', long, value_name = "LEVEL", default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=3))]
    optimize: u8,
    /// How many compilers run at a time; as many as there are processors if not given.
    #[arg(short, long, value_name = "N")]
    jobs: Option<usize>,
    /// Makes code for any x86-64 processor with SSE4.2, instead of one like this machine's.
    #[arg(long)]
    portable: bool,
    /// Writes the C sources to this folder, and no library.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["output", "cc", "optimize", "jobs", "portable"])]
    emit_c: Option<PathBuf>,
    /// Print an object.
    #[arg(long)]
    json: bool,
}

/// Compiles.
pub fn run(args: &Args) -> Result<bool> {
    let sources = sources(std::slice::from_ref(&args.program))?;
    let [source] = sources.as_slice() else { return Err(usage("aot takes one program, not a folder")) };
    let bytes = source.read()?;
    let elf = Elf::parse(&bytes, &Limits::default()).with_context(|| source.name.clone())?;
    let bias = load_bias(&elf);
    let mut out = print::stdout();
    if let Some(folder) = &args.emit_c {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        for (name, text) in aot::sources(&bytes, bias).with_context(|| source.name.clone())? {
            let path = folder.join(name);
            std::fs::write(&path, text).with_context(|| path.display().to_string())?;
            writeln!(out, "{}", path.display())?;
        }
        return Ok(true);
    }
    let output = match &args.output {
        Some(output) => output.clone(),
        None if args.program.as_os_str() == "-" => return Err(usage("-o says where to write the library")),
        None => args.program.with_extension("xga"),
    };
    let options = aot::Options {
        compiler: args.cc.clone(),
        optimize: args.optimize,
        portable: args.portable,
        bias,
        ..aot::Options::default()
    };
    let options = aot::Options { jobs: args.jobs.unwrap_or(options.jobs).max(1), ..options };
    let report = aot::compile(&bytes, &output, &options).with_context(|| source.name.clone())?;
    if args.json {
        let report = serde_json::json!({
            "library": output.display().to_string(),
            "functions": report.functions,
            "refused": report.refused,
            "instructions": report.instructions,
            "source bytes": report.source_bytes,
            "bytes": report.bytes,
            "seconds": report.time.as_secs_f64(),
        });
        writeln!(out, "{report:#}")?;
    } else {
        writeln!(
            out,
            "{}: {} functions, {} instructions, {} bytes, {:.1} s",
            output.display(),
            report.functions,
            report.instructions,
            report.bytes,
            report.time.as_secs_f64()
        )?;
    }
    Ok(true)
}
