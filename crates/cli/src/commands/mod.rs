//! The commands, one file each: its arguments and a function that does it, which gives whether everything went well.

use crate::cli::Command;
use anyhow::Result;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub mod aot;
pub mod asm;
pub mod batch;
pub mod bench;
pub mod cache;
pub mod cfg;
#[cfg(feature = "vulkan")]
pub mod conformance;
pub mod demo;
pub mod disasm;
pub mod dragon;
pub mod dxil_checks;
pub mod extract;
pub mod import;
pub mod info;
pub mod ir;
pub mod render;
pub mod render_nds;
mod render_textures;
mod render_warp;
pub mod run;
pub mod scenes;
pub mod shell;
pub mod texture;
pub mod tone;
pub mod translate;
pub mod yuv;

/// Does a command.
pub fn run(command: Command) -> Result<bool> {
    match command {
        Command::Info(args) => info::run(&args),
        Command::Disasm(args) => disasm::run(&args),
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        Command::Aot(args) => aot::run(&args),
        Command::Asm(args) => asm::run(&args),
        Command::Cfg(args) => cfg::run(&args),
        Command::Ir(args) => ir::run(&args),
        Command::Translate(args) => translate::run(&args),
        Command::Batch(args) => batch::run(&args),
        Command::Cache(args) => cache::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Render(args) => render::run(&args),
        Command::Scenes(args) => scenes::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Texture(args) => texture::run(&args),
        Command::Yuv(args) => yuv::run(&args),
        Command::Tone(args) => tone::run(&args),
        Command::DxilChecks(args) => dxil_checks::run(&args),
        Command::Extract(args) => extract::run(&args),
        #[cfg(feature = "vulkan")]
        Command::Conformance(args) => conformance::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Dragon(args) => dragon::run(&args),
        Command::Completions(args) => shell::completions(&args),
        Command::Man(args) => shell::man(&args),
    }
}
