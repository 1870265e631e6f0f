//! Guests' programs: disassembly, IR as lifted, IR after all passes. An error stands in place of what there is none of.

use crate::case::Case;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fmt::Display;
use xenoglot::{Translator, dxil as d3d, maxwell as nvidia, pica as dmp};
use xenoglot_ir::text::canonical;
use xenoglot_ir::{Module, verify};
use xenoglot_maxwell::disasm::listing;
use xenoglot_maxwell::gpu::{AlphaTest, ConstantWord, GraphicsState};
use xenoglot_maxwell::sph::Sph;
use xenoglot_pica_shader::asm;
use xenoglot_pica_shader::disasm::{DisasmOptions, disassemble};
use xenoglot_pica_shader::lift::{ClipSpace, Numeric, VertexOutputs, Wrapper, lift};

fn error(e: impl Display) -> String {
    format!("error: {e}\n")
}

/// The case with its disassembly and module, which `print` writes. Both forms of the module verify.
fn sections<E: Display>(
    case: &Case,
    disassembly: String,
    lifted: Result<Module, E>,
    print: fn(&Module) -> String,
) -> Result<String, String> {
    let mut module = match lifted {
        Ok(module) => module,
        Err(e) => return Ok(case.with(&[("disassembly", disassembly), ("ir", error(e))])),
    };
    verify(&module).map_err(|e| format!("as lifted: {e}\n{module}"))?;
    let ir = print(&module);
    Translator::new().optimize(&mut module, None);
    verify(&module).map_err(|e| format!("after passes: {e}\n{module}"))?;
    Ok(case.with(&[("disassembly", disassembly), ("ir", ir), ("passes", print(&module))]))
}

/// Only the instructions and terminators of a module that the guest's became, and the blocks' lines: for wrappers of
/// hundreds of lines, which are the same around every program.
fn guest_part(module: &Module) -> String {
    let is_guest = |line: &&str| line.trim_start().starts_with(['@', 'b']);
    canonical(module).lines().filter(is_guest).flat_map(|line| [line, "\n"]).collect()
}

/// A number of a case, decimal or `0x`.
fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The outputs of a vertex shader are its registers, unless an option says otherwise.
///
/// Options: `executable=N`, `numeric=f24|fast`, `traceable`; `host` for attributes as hosts take them, with
/// `clip=guest|gl`; `compute` for a kernel, with `count_steps`.
pub fn pica(case: &Case) -> Result<String, String> {
    let (mut executable, mut registers, mut options) = (0, true, dmp::Options::default());
    case.each_option(|name, value| {
        match (name, value) {
            ("executable", n) => executable = number(n)? as usize,
            ("host", _) => registers = false,
            ("compute", _) => options.shape = dmp::Shape::Compute,
            ("numeric", "f24") => options.numeric = Numeric::F24,
            ("numeric", "fast") => options.numeric = Numeric::Fast,
            ("clip", "guest") => options.clip = ClipSpace::Guest,
            ("clip", "gl") => options.clip = ClipSpace::OpenGl,
            ("count_steps", _) => options.count_steps = true,
            ("traceable", _) => options.traceable = true,
            _ => return None,
        }
        Some(())
    })?;
    let shbin = match asm::assemble(case.input) {
        Ok(shbin) => shbin,
        Err(e) => return Ok(case.with(&[("disassembly", error(e))])),
    };
    let disassembly = disassemble(&shbin, &DisasmOptions::default());
    let Some(dvle) = shbin.executables.get(executable) else {
        return Ok(case.with(&[("disassembly", disassembly)]));
    };
    let mut options = dmp::lift_options(dvle, &options);
    if registers && matches!(options.wrapper, Wrapper::Vertex(_)) {
        options.wrapper = Wrapper::Vertex(VertexOutputs::Registers(dvle.output_mask));
    }
    let lifted = lift(&shbin.program, &options).map(|lifted| lifted.module);
    sections(case, disassembly, lifted, canonical)
}

/// The input's lines are instruction words; the scheduling words before each three are added, zeros. A line `.sph` has
/// words of a header, which makes the program a graphics shader, and a line `.bank N` words of a constant bank.
///
/// Options: `workgroup=XxYxZ`, `shared=BYTES`, `local=BYTES`, `storage=ALIGNMENT`, `scale_textures`, `flatten_cubes`,
/// `stages_to_compute`, `early_tests`, `per_sample`, `alpha_test`, `dither`, `dual_source`, `window`,
/// `draw_constants=OFFSET`.
pub fn maxwell(case: &Case) -> Result<String, String> {
    let mut options = nvidia::Options::default();
    let (mut shared_bytes, mut local_bytes, mut state) = (0, 0, GraphicsState::default());
    case.each_option(|name, value| {
        match name {
            "workgroup" => {
                let sizes = value.split('x').map(number).collect::<Option<Vec<_>>>()?;
                options.workgroup = sizes.try_into().ok()?;
            }
            "shared" => shared_bytes = number(value)?,
            "local" => local_bytes = number(value)?,
            "storage" => options.storage_alignment = Some(number(value)?),
            "scale_textures" => options.scale_textures = true,
            "flatten_cubes" => options.flatten_integer_cubes = true,
            "stages_to_compute" => options.stages_to_compute = true,
            "early_tests" => state.early_fragment_tests = true,
            "per_sample" => state.per_sample = true,
            "dither" => state.alpha_to_coverage_dither = true,
            "dual_source" => state.dual_source_blend = true,
            "window" => state.window_positions = Some([64.0, 32.0]),
            "draw_constants" => state.draw_constants = Some(ConstantWord { bank: 0, offset: number(value)? }),
            "alpha_test" => state.alpha_test = Some((AlphaTest::GreaterEqual, 0.5)),
            _ => return None,
        }
        Some(())
    })?;
    let (mut code, mut sph, mut banks) = (Vec::new(), Vec::new(), Vec::new());
    for line in case.lines() {
        let mut words = line.split_whitespace();
        let hex = |word: &str| u64::from_str_radix(word, 16).map_err(|e| format!("{word}: {e}"));
        match words.next().unwrap_or_default() {
            ".sph" => {
                for word in words {
                    sph.extend((hex(word)? as u32).to_le_bytes());
                }
            }
            ".bank" => {
                let bank = words.next().and_then(number).ok_or("`.bank` without its number")?;
                let words: Vec<u64> = words.map(hex).collect::<Result<_, _>>()?;
                banks.push((bank, words.iter().flat_map(|w| (*w as u32).to_le_bytes()).collect::<Vec<u8>>()));
            }
            word => code.push(hex(word)?),
        }
    }
    let groups = code.chunks(3).flat_map(|group| std::iter::once(&0).chain(group));
    let words: Vec<u64> = groups.copied().collect();
    let code: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let kind = match sph.is_empty() {
        true => nvidia::Kind::Compute { workgroup: None, shared_bytes, local_bytes },
        false => nvidia::Kind::Graphics(Sph::parse(&sph).map_err(|e| e.to_string())?),
    };
    let program = nvidia::Program {
        name: "main".into(),
        kind,
        code: &code,
        entry: 0,
        registers: None,
        functions: Vec::new(),
        banks: banks.iter().map(|(bank, data)| (*bank, data.as_slice())).collect(),
        unlinked: nvidia::Unlinked::default(),
        gpu: nvidia::FileGpu { state, ..nvidia::FileGpu::default() },
    };
    let lifted = nvidia::lift(&program, &options).map(|lifted| lifted.module);
    sections(case, listing(&words).to_string(), lifted, canonical)
}

/// The input's lines that are no comments are Base64.
///
/// Options: `entry=N`, `bounds=device`, `bindings=root`, `samples=N`, `all_resident`, `dual_source`,
/// `primitive_inputs=BITS`, `control_point_rows=N`.
pub fn dxil(case: &Case) -> Result<String, String> {
    let (mut options, mut bindings) = (d3d::LiftOptions::default(), d3d::BindingModel::Registers);
    case.each_option(|name, value| {
        match (name, value) {
            ("entry", n) => options.entry = number(n)? as usize,
            ("bounds", "device") => options.bounds = d3d::Bounds::Device,
            ("bindings", "root") => bindings = d3d::BindingModel::root_signature(None),
            ("samples", n) => options.samples = Some(number(n)? as u8),
            ("all_resident", _) => options.all_resident = true,
            ("dual_source", _) => options.dual_source = true,
            ("primitive_inputs", n) => options.primitive_inputs = number(n)?.into(),
            ("control_point_rows", n) => options.control_point_rows = Some(number(n)?),
            _ => return None,
        }
        Some(())
    })?;
    let bytes = STANDARD.decode(case.lines().collect::<String>()).map_err(|e| e.to_string())?;
    let module = match d3d::load(&bytes) {
        Ok(module) => module,
        Err(e) => return Ok(case.with(&[("disassembly", error(e))])),
    };
    let disassembly = d3d::disassemble(&module).unwrap_or_else(error);
    let remapper = bindings.remapper(&bytes, &module, options.entry);
    let lifted = remapper.and_then(|r| d3d::lift_bound(&module, &options, r.as_ref()));
    sections(case, disassembly, lifted.map(|lifted| lifted.module), canonical)
}

/// Options: `number=f32|sI.F`, `formats=A,B,..` of tile buffers and `texture=rgb565|rgba5551|palette4[,bilinear]` of texture 0,
/// each by name.
pub fn vpu(case: &Case) -> Result<String, String> {
    use xenoglot_vpu::texture::TexelFormat;
    use xenoglot_vpu::{Program, TileFormat, asm, disasm, lift};
    let mut options = lift::LiftOptions { workgroup: 1, ..lift::LiftOptions::default() };
    case.each_option(|name, value| {
        match name {
            "number" => options.number = value.parse().ok()?,
            "formats" => {
                for (format, name) in options.formats.iter_mut().zip(value.split(',')) {
                    let named = |f: &TileFormat| format!("{f:?}").eq_ignore_ascii_case(name);
                    *format = TileFormat::ALL.into_iter().find(named)?;
                }
            }
            "texture" => {
                let texture = &mut options.textures[0];
                texture.bilinear = value.ends_with(",bilinear");
                texture.format = match value.trim_end_matches(",bilinear") {
                    "rgb565" => TexelFormat::Rgb565,
                    "rgba5551" => TexelFormat::Rgba5551,
                    "palette4" => TexelFormat::Palette4,
                    _ => return None,
                };
            }
            _ => return None,
        }
        Some(())
    })?;
    let words = match asm::assemble(case.input) {
        Ok(words) => words,
        Err(e) => return Ok(case.with(&[("disassembly", error(e))])),
    };
    let lifted = lift::lift(&Program::from_words(&words), &options);
    sections(case, disasm::disassemble(&words), lifted, guest_part)
}

/// The input's lines are words; the first stands at address 0x400000, or that of the option `pc`.
pub fn mips(case: &Case) -> Result<String, String> {
    let mut pc = 0x0040_0000;
    case.each_option(|name, value| {
        pc = number(value).filter(|_| name == "pc")?;
        Some(())
    })?;
    let mut text = String::new();
    for line in case.lines() {
        let word = u32::from_str_radix(line, 16).map_err(|e| format!("{line}: {e}"))?;
        text += &format!("{pc:08x}: {word:08x}  {}\n", xenoglot_mips::disasm::text(word, pc));
        pc = pc.wrapping_add(4);
    }
    Ok(case.with(&[("disassembly", text)]))
}
