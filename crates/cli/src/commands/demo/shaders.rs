//! The bundled PICA200 shaders: from source through the assembler, the lifter and all passes into every language.

use super::{Card, Made};
use crate::commands::translate::extension;
use crate::draw;
use crate::output;
use anyhow::{Context, Result};
use std::path::Path;
use std::time::Instant;
use xenoglot::host::Language;
use xenoglot::pica::{Options, Shape, lift_executable, listing};
use xenoglot::{Code, Host, Options as CodeOptions, Translator};
use xenoglot_ir::Module;
use xenoglot_ir::text::{GuestStyle, Numbers, Style};
use xenoglot_pica_shader::asm::assemble;
use xenoglot_pica_shader::bundled::Bundled;
use xenoglot_pica_shader::container::{ShaderKind, Shbin};
use xenoglot_pica_shader::disasm::{DisasmOptions, disassemble};
use xenoglot_structure::structure;

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
        let guest_lines = matches!(host.language, Language::Glsl(_));
        let options = CodeOptions { guest_lines, ..CodeOptions::default() };
        let code = self.translator.compile(&mut module.clone(), host, &options);
        let code = code.with_context(|| title.to_owned())?;
        let words = match &code {
            Code::Words(words) => words.len(),
            _ => 0,
        };
        self.add(name, title, code.into_bytes());
        Ok(words)
    }
}

/// Makes all files of a shader and writes them into its folder in `root`.
pub fn show(translator: &mut Translator, shader: &Bundled, root: &Path) -> Result<Card> {
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

    let mut module = lift_executable(&shbin, 0, &Options::default())?.module;
    module.listing = listing(&shbin, dvle);
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
        let file = format!("glsl-{}.{}", target.name(), extension(host.language, module.stage.name()));
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
    let facts = vec![
        ("guest words", shbin.program.code.len().to_string()),
        ("SPIR-V words", spirv_words.to_string()),
        ("time", format!("{micros:.0} µs")),
        ("blocks", stats.blocks.to_string()),
        ("loops", stats.loops.to_string()),
        ("guards", stats.guards.to_string()),
        ("dispatches", stats.dispatches.to_string()),
    ];
    let files = maker.files;
    for file in &files {
        output::write(&root.join(&name).join(&file.name), &file.bytes)?;
    }
    let pair = Some(["disassembly.pica", "glsl-450-vulkan."]);
    Ok(Card { name, kind: format!("PICA200 {kind} shader"), about, facts, commands: Vec::new(), files, pair })
}

/// The shader with identity matrices and plausible attributes.
fn sample_run(shbin: &Shbin) -> Result<String> {
    let options = Options { shape: Shape::Compute, count_steps: true, ..Options::default() };
    let mut module = lift_executable(shbin, 0, &options)?.module;
    module.workgroup = [1; 3];
    let dvle = shbin.executables.first().context("no executable")?;
    crate::commands::run::sample(&module, dvle)
}

/// The least of a few measurements of the way from binary to SPIR-V, in microseconds.
fn time(translator: &mut Translator, shbin: &Shbin) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..8 {
        let start = Instant::now();
        let mut module = lift_executable(shbin, 0, &Options::default())?.module;
        translator.compile(&mut module, &Host::default(), &CodeOptions::default())?;
        best = best.min(start.elapsed().as_secs_f64() * 1e6);
    }
    Ok(best)
}

/// The comment a source starts with.
fn about(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix(';'));
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}
