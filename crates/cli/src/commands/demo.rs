//! `xenoglot demo`: the bundled shaders through everything.

use crate::batch::bar;
use crate::draw;
use crate::isolate::attempt;
use crate::program::LiftArgs;
use crate::{output, print};
use anyhow::{Context, Result};
use rayon::prelude::*;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;
use xenoglot::host::Language;
use xenoglot::pica::{Options, Shape, lift_executable};
use xenoglot::{Code, Host, Options as CodeOptions, Translator};
use xenoglot_ir::Module;
use xenoglot_ir::text::{GuestStyle, Numbers, Style};
use xenoglot_pica_shader::asm::assemble;
use xenoglot_pica_shader::bundled::{Bundled, SHADERS};
use xenoglot_pica_shader::container::{ShaderKind, Shbin};
use xenoglot_pica_shader::disasm::{DisasmOptions, disassemble};
use xenoglot_structure::structure;

mod page;

/// Arguments of `demo`.
#[derive(clap::Args)]
pub struct Args {
    /// The folder to write to.
    #[arg(short, long, value_name = "FOLDER", default_value = "demo")]
    output: PathBuf,
}

/// A file of the demonstration.
struct Made {
    /// Its name in the shader's folder.
    name: String,
    /// What it shows.
    title: String,
    bytes: Vec<u8>,
}

/// A shader with all that was made of it.
struct Shown {
    /// Name without extension, also of its folder.
    name: String,
    kind: &'static str,
    words: usize,
    /// First comment of the source.
    about: String,
    /// SPIR-V words.
    spirv_words: usize,
    /// From loaded binary to SPIR-V, in microseconds.
    micros: f64,
    stats: xenoglot_structure::tree::Stats,
    files: Vec<Made>,
}

/// Writes the demonstration.
pub fn run(args: &Args) -> Result<bool> {
    output::check_folder(&args.output)?;
    let start = Instant::now();
    let bar = bar(SHADERS.len());
    let shown: Vec<Result<Shown>> = SHADERS
        .par_iter()
        .map_init(Translator::new, |reused, shader| {
            let shown = attempt(|| show(reused, shader)).with_context(|| shader.name);
            if shown.is_err() {
                *reused = Translator::new();
            }
            bar.inc(1);
            shown
        })
        .collect();
    bar.finish_and_clear();
    let (mut done, mut ok) = (Vec::new(), true);
    for shown in shown {
        match shown {
            Ok(shown) => {
                let folder = args.output.join(&shown.name);
                for file in &shown.files {
                    output::write(&folder.join(&file.name), &file.bytes)?;
                }
                done.push(shown);
            }
            Err(e) => {
                ok = false;
                print::error(format_args!("{e:#}"));
            }
        }
    }
    let index = args.output.join("index.html");
    output::write(&index, page::page(&done).as_bytes())?;
    let files: usize = done.iter().map(|s| s.files.len()).sum();
    writeln!(
        print::stdout(),
        "{} shaders, {files} files in {:.2} s. Open {}",
        done.len(),
        start.elapsed().as_secs_f64(),
        index.display()
    )?;
    Ok(ok)
}

/// Files being made.
struct Maker<'a> {
    translator: &'a mut Translator,
    files: Vec<Made>,
}

impl Maker<'_> {
    fn add(&mut self, name: impl Into<String>, title: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.files.push(Made { name: name.into(), title: title.into(), bytes: bytes.into() });
    }

    /// The words of a module's SPIR-V, 0 for text.
    fn compile(&mut self, module: &Module, host: &Host, name: &str, title: &str) -> Result<usize> {
        let options =
            CodeOptions { guest_lines: matches!(host.language, Language::Glsl(_)), ..Default::default() };
        let code = self.translator.compile(&mut module.clone(), host, &options);
        let code = code.with_context(|| title.to_owned())?;
        let words = match &code {
            Code::Words(words) => words.len(),
            Code::Text(_) => 0,
        };
        self.add(name, title, code.into_bytes());
        Ok(words)
    }
}

fn show(translator: &mut Translator, shader: &Bundled) -> Result<Shown> {
    let name = shader.name.trim_end_matches(".pica").to_owned();
    let shbin = assemble(shader.source)?;
    let dvle = shbin.executables.first().context("no executable")?;
    let kind = match dvle.kind {
        ShaderKind::Vertex => "vertex",
        ShaderKind::Geometry => "geometry",
    };
    let mut maker = Maker { translator, files: Vec::new() };
    maker.add(shader.name, "source", shader.source);
    maker.add(format!("{name}.shbin"), "assembled binary", shbin.write());
    let options = DisasmOptions { comments: true, ..DisasmOptions::default() };
    maker.add("disassembly.pica", "disassembly of the binary", disassemble(&shbin, &options));

    let module = lift_executable(&shbin, 0, &LiftArgs::default().options(true))?.module;
    let f = module.entry_func().context("no entry")?;
    let tree = structure(f, &Default::default())?;
    let title = |what| format!("{} · {what}", shader.name);
    let guest = draw::graph(&module, f, &title("control flow of the guest"))?;
    let nest = draw::nest(&module, f, &tree, &title("structured"));
    let stats = *tree.stats();
    maker.add("guest.svg", "control flow of the guest", guest);
    maker.add("structured.svg", "control flow, structured", nest);
    let style = Style { guest: GuestStyle::Comment, numbers: Numbers::Ordered };
    maker.add("lifted.xir", "IR as lifted", module.display(style).to_string());
    let mut optimized = module.clone();
    maker.translator.optimize(&mut optimized, None);
    maker.add("optimized.xir", "IR after all passes", optimized.display(style).to_string());

    let spirv_words = maker.compile(&module, &Host::default(), "shader.spv", "SPIR-V")?;
    for target in xenoglot_glsl::Target::ALL {
        // Geometry programs become compute kernels, which GLSL 330 does not have.
        if kind == "geometry" && target == xenoglot_glsl::Target::Gl330 {
            continue;
        }
        let host = Host::of(Language::Glsl(target));
        let file = format!(
            "glsl-{}.{}",
            target.name(),
            super::translate::extension(host.language, module.stage.name())
        );
        maker.compile(&module, &host, &file, &format!("GLSL {}", target.name()))?;
    }
    #[cfg(feature = "naga")]
    for (language, file, title) in [
        (Language::Wgsl, "shader.wgsl", "WGSL"),
        (Language::Msl(2, 4), "shader.metal", "Metal"),
        (Language::Hlsl(6, 0), "shader.hlsl", "HLSL"),
    ] {
        maker.compile(&module, &Host::of(language), file, title)?;
    }
    maker.add("run.txt", "sample run on the interpreter", sample_run(&shbin)?);
    let micros = time(maker.translator, &shbin)?;
    let about = about(shader.source);
    let words = shbin.program.code.len();
    Ok(Shown { name, kind, words, about, spirv_words, micros, stats, files: maker.files })
}

/// The shader with identity matrices and plausible attributes.
fn sample_run(shbin: &Shbin) -> Result<String> {
    let options = Options { shape: Shape::Compute, count_steps: true, listing: true, ..Options::default() };
    let mut module = lift_executable(shbin, 0, &options)?.module;
    module.workgroup = [1; 3];
    let dvle = shbin.executables.first().context("no executable")?;
    super::run::sample(&module, dvle)
}

/// The least of a few measurements of the way from binary to SPIR-V, in microseconds.
fn time(translator: &mut Translator, shbin: &Shbin) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..8 {
        let start = Instant::now();
        let mut module = lift_executable(shbin, 0, &Options::default())?.module;
        translator.compile(&mut module, &Host::default(), &Default::default())?;
        best = best.min(start.elapsed().as_secs_f64() * 1e6);
    }
    Ok(best)
}

/// The comment a source starts with.
fn about(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix(';'));
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}
