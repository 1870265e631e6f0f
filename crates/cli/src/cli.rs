//! The arguments of the program and what it says about itself.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use crate::commands::aot;
#[cfg(feature = "vulkan")]
use crate::commands::conformance;
use crate::commands::{
    asm, batch, bench, cache, cfg, demo, disasm, dragon, dxil_checks, extract, import, info, ir, render, run,
    scenes, shell, texture, tone, translate, yuv,
};
use clap::{Parser, Subcommand};

const EXIT_CODES: &str = "\
Exit codes:
  0  everything was done
  1  something failed: an input, a run, a case; the others were done all the same
  2  the command line makes no sense; nothing was done
  `run` of a MIPS program exits as the program does, with 128 and the signal's number when a signal ends it.

Inputs are files, folders (all files in them) or `-` for standard input. The content decides what an input is: a PICA200 \
shader binary (SHBIN), assembly, Xenoglot IR text, NVIDIA Maxwell or Pascal programs (cubin, DKSH, header with code), a Direct3D 12 shader (DXBC container or bitcode), a 32-bit ELF file for MIPS, or any other file with shader binaries inside.";

/// Translates machine code of foreign GPUs to today's shader languages, and emulates whole GPUs.
#[derive(Parser)]
#[command(name = "xenoglot", version = env!("XENOGLOT_VERSION"), after_help = EXIT_CODES, after_long_help = EXIT_CODES)]
pub struct Cli {
    /// Print more messages: -v what is done, -vv why, -vvv everything. RUST_LOG sets the level by module.
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// Describe a file: sections, entry points, constants, names, control flow.
    Info(info::Args),
    /// Disassemble shader binaries, kernels, DXIL containers and MIPS programs.
    Disasm(disasm::Args),
    /// Assemble PICA200 shaders.
    Asm(asm::Args),
    /// Draw control flow, as the guest jumps and structured.
    Cfg(cfg::Args),
    /// Print the intermediate representation, as lifted or after any pass.
    Ir(ir::Args),
    /// Translate to SPIR-V, GLSL, WGSL, MSL or HLSL.
    Translate(translate::Args),
    /// Translate whole corpora, with a table of what became of each program.
    Batch(batch::Args),
    /// Look after the cache of translated shaders.
    Cache(cache::Args),
    /// Run a shader on given inputs, a kernel on given buffers, or a MIPS program for Linux: `run PROGRAM -- ARGUMENTS`.
    Run(Box<run::Args>),
    /// Compile a MIPS program for Linux ahead of time, through C: `run --aot` executes what comes of it.
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    Aot(aot::Args),
    /// Replay a capture (.xgc) and write what it shows.
    Render(render::Args),
    /// List the scenes that come with the program, or write them as captures.
    Scenes(scenes::Args),
    /// Make a capture (.xgc) of a CiTrace recording of Citra or Azahar.
    Import(import::Args),
    /// Decode, describe and compare textures in KTX, KTX 2, DDS and .astc files.
    Texture(texture::Args),
    /// Convert frames of luma and chroma in .y4m and raw files to RGB.
    Yuv(yuv::Args),
    /// Send a WAV file through the filter of 48 tones.
    Tone(tone::Args),
    /// Find shader binaries inside other files.
    Extract(extract::Args),
    #[cfg(feature = "vulkan")]
    /// Check an engine against a suite of recorded results.
    Conformance(conformance::Args),
    /// Decode the faults that descriptor checks of Direct3D 12 shaders recorded.
    DxilChecks(dxil_checks::Args),
    /// Measure what things cost on this machine.
    Bench(bench::Args),
    /// Show every guest and the bundled shaders, in a folder with an index.
    Demo(demo::Args),
    /// Simulate the Dragon GPU: frames, traces, sweeps of its parameters, VPU programs.
    Dragon(dragon::Args),
    /// Print a script that completes command lines in a shell.
    Completions(shell::CompletionArgs),
    /// Write manual pages.
    Man(shell::ManArgs),
}
