//! `xenoglot bench`: what things cost on this machine.

#[cfg(feature = "vulkan")]
use crate::bench::maxwell;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use crate::bench::mips;
use crate::bench::{cache, codec, dragon, dxil, nds, pica, translate, warp};
use anyhow::Result;
use clap::ValueEnum;
use serde::Serialize;
use std::fmt::Display;
use std::io::Write;
use std::path::PathBuf;

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// Translation by stage and by size.
    Translate,
    /// The emulated PICA200: frames with each vertex engine, and shaders alone.
    Pica,
    /// The emulated Nintendo DS: frames of scenes, and the geometry engine alone.
    Nds,
    /// Warp: lists of triangles with the reference and the fast engine.
    Warp,
    /// Texture decoding by format, the tone filter by engine.
    Codec,
    /// The simulated Dragon GPU: unit-ticks a second.
    Dragon,
    /// The shader cache: look-ups, inserts, opening, warming up.
    Cache,
    /// MIPS programs: native code, qemu-mips, the interpreter, machine code.
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    Mips,
}

/// Whose programs `translate` measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Machine {
    /// The PICA200's.
    #[default]
    Pica,
    /// NVIDIA's Maxwell.
    #[cfg(feature = "vulkan")]
    Maxwell,
    /// Direct3D 12's.
    Dxil,
}

/// Arguments of `bench`.
#[derive(clap::Args)]
pub struct Args {
    /// What to measure.
    what: What,
    /// Print JSON instead of tables.
    #[arg(long)]
    json: bool,
    /// Fewer repetitions; less precise.
    #[arg(long)]
    quick: bool,
    /// Frames of each mean of `pica`; 500, or 20 with --quick.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    frames: Option<u32>,
    /// Also draw the results of `pica`, as SVG files in this folder.
    #[arg(long, value_name = "FOLDER")]
    plots: Option<PathBuf>,
    /// Whose programs `translate` measures.
    #[arg(long, value_enum, default_value_t)]
    machine: Machine,
    /// The kernels of `translate --machine maxwell`.
    #[cfg(feature = "vulkan")]
    #[arg(long, value_name = "FILE", default_value = "vectors/maxwell/compute/public.tar.xz")]
    kernels: PathBuf,
    /// The folders of shaders of `translate --machine dxil`.
    #[arg(long, value_name = "FOLDER", default_values = [
        "vectors/dxil/compute",
        "vectors/dxil/fuzz",
        "vectors/dxil/stages",
        "vectors/dxil-2/compute",
        "vectors/dxil-2/stages",
    ])]
    shaders: Vec<PathBuf>,
    /// Other modules of these shaders, whose time in the driver is measured beside: a folder with each shader's path in it,
    /// as .spv.
    #[cfg(feature = "vulkan")]
    #[arg(long, value_name = "FOLDER")]
    before: Option<PathBuf>,
    /// Folders of scenes for `nds` (.ndsf, .n2d) in place of those in the program.
    #[arg(long, value_name = "FOLDER")]
    scenes: Vec<PathBuf>,
    /// A folder of lists of primitives for `warp` (bench_WIDTHxHEIGHT_COUNT_PIXELS.prims, or .zst) in place of its own.
    #[arg(long, value_name = "FOLDER")]
    primitives: Option<PathBuf>,
    /// The sources of `mips`.
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    #[arg(long, value_name = "FOLDER", default_value = "vectors/mips/programs/src")]
    sources: PathBuf,
    /// What programs of Debian's packages read, for `mips`. They run where the tests have fetched them.
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    #[arg(long, value_name = "FOLDER", default_value = "vectors/mips/debian")]
    debian: PathBuf,
}

/// Measures and prints.
pub fn run(args: &Args) -> Result<bool> {
    if let Some(folder) = &args.plots {
        crate::output::check_folder(folder)?;
    }
    match args.what {
        What::Translate => match args.machine {
            Machine::Pica => {
                print(args, &translate::run(&translate::Options { json: args.json, quick: args.quick })?)
            }
            #[cfg(feature = "vulkan")]
            Machine::Maxwell => {
                let options = maxwell::Options { kernels: &args.kernels, quick: args.quick };
                print(args, &maxwell::run(&options)?)
            }
            Machine::Dxil => {
                let options = dxil::Options {
                    shaders: &args.shaders,
                    #[cfg(feature = "vulkan")]
                    before: args.before.as_deref(),
                    quick: args.quick,
                };
                print(args, &dxil::run(&options)?)
            }
        },
        What::Nds => print(args, &nds::run(&nds::Options { scenes: &args.scenes, quick: args.quick })?),
        What::Warp => {
            let options = warp::Options { primitives: args.primitives.as_deref(), quick: args.quick };
            print(args, &warp::run(&options)?)
        }
        What::Dragon => print(args, &dragon::run(args.quick)?),
        What::Cache => print(args, &cache::run(args.quick)?),
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        What::Mips => {
            let options = mips::Options { sources: &args.sources, debian: &args.debian, quick: args.quick };
            print(args, &mips::run(&options)?)
        }
        What::Codec => print(args, &codec::run(args.quick)?),
        What::Pica => {
            let frames = args.frames.unwrap_or(if args.quick { 20 } else { 500 });
            print(
                args,
                &pica::run(&pica::Options { frames, quick: args.quick, plots: args.plots.as_deref() })?,
            )
        }
    }
}

fn print(args: &Args, report: &(impl Serialize + Display)) -> Result<bool> {
    let mut out = crate::print::stdout();
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(report)?)?;
    } else {
        write!(out, "{report}")?;
    }
    Ok(true)
}
