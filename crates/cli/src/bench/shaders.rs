//! Vertices per second of a few shaders, and what translating them costs.

use anyhow::{Context, Result};
use serde::Serialize;
use std::fmt;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;
use xenoglot_native::Compiler;
use xenoglot_pica::gpu::Gpu;
use xenoglot_pica::memory::{FCRAM, Regions};
use xenoglot_pica::regs::*;
use xenoglot_pica::renderer::NullRenderer;
use xenoglot_pica::report::Report;
use xenoglot_pica::shader::{
    Batch, Choice, Engine, Engines, Inputs, Interp, Lanes, Native, Packed, Program, Shader, Source, Tier,
    Tiers, Uniforms,
};
use xenoglot_pica_shader::asm::assemble;
use xenoglot_pica_shader::bundled::SHADERS;
use xenoglot_pica_shader::lift::lift;
use xenoglot_testgen::pica::{Category, program as random};
use xenoglot_testgen::rng::Rng;

/// Shaders that are measured.
pub const SHADED: [&str; 3] = ["textured.v.pica", "lit.v.pica", "skinned.v.pica"];

/// Vertices of a measured draw.
const VERTICES: usize = 1 << 15;

/// A shader.
#[derive(Debug, Serialize)]
pub struct Shaded {
    /// Its file.
    pub name: &'static str,
    /// Words.
    pub words: usize,
    /// From words to IR, microseconds.
    pub lift: f64,
    /// IR passes, microseconds.
    pub optimise: f64,
    /// From IR to machine code, microseconds.
    pub compile: f64,
    /// Million vertices per second of the interpreter, registers to registers.
    pub interp: f64,
    /// The same of the interpreter that works on sixteen vertices at once.
    pub lanes: f64,
    /// The same of machine code that is made quickly, and of that which replaces it where it runs often, on one core.
    pub native: [f64; 2],
    /// The same of a draw with machine code, from arrays in guest memory to triangles: on one core, and on all.
    pub gpu: [f64; 2],
}

/// Best of a few runs, in seconds.
fn best<T>(times: usize, mut run: impl FnMut() -> Result<T>) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..times {
        let start = Instant::now();
        black_box(run()?);
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

fn rate(seconds: f64, vertices: usize) -> f64 {
    vertices as f64 / seconds / 1e6
}

/// Register `n` of a vertex: the third of a shader that skins has numbers of bones.
fn register(vertex: usize, n: usize) -> [f32; 4] {
    match n {
        2 => std::array::from_fn(|c| ((vertex * 7 + c * 5) % 24) as f32),
        _ => [0.125 + (vertex % 97) as f32 / 97.0; 4],
    }
}

/// Float uniforms.
const UNIFORM: [f32; 4] = [0.5, 0.25, -0.75, 1.0];

/// A shader that comes with the front end.
fn bundled(name: &str) -> Result<Shader> {
    let source = SHADERS.iter().find(|s| s.name == name).context("no such shader")?.source;
    let shbin = assemble(source)?;
    let entry = shbin.executables.first().context("no executable")?.main;
    let source = Arc::new(Source::new(&shbin.program.code, &shbin.program.descriptors));
    Ok(Shader { source, entry, geometry: None })
}

/// Measures a shader.
pub fn measure(name: &'static str, quick: bool) -> Result<Shaded> {
    let shader = bundled(name)?;
    let times: usize = if quick { 2 } else { 20 };

    let lifting = best(times, || Ok(lift(&shader.source.program, &shader.lift_options())?))?;
    let program = best(times, || Ok(Program::new(&shader)?.module().clone()))?;
    let mut compiler = Compiler::new()?;
    let module = Program::new(&shader)?.module().clone();
    let compile = best(times, || Ok(compiler.compile(&module)?))?;

    let interp = alone(&mut Interp::new(), &shader, VERTICES / 16, times.div_ceil(4) + 1)?;
    let lanes = alone(&mut Lanes::new(), &shader, VERTICES / 4, times + 1)?;
    let native = |tier| {
        let mut engine = Native::new()?;
        engine.set_threads(false);
        engine.set_tiers(Tiers::Only(tier));
        alone(&mut engine, &shader, VERTICES, times + 1)
    };
    let native = [native(Tier::Quick)?, native(Tier::Thorough)?];
    let gpu = [draw(&shader, false, times + 1)?, draw(&shader, true, times + 1)?];
    let words = shader.source.program.code.len();
    let [lift, optimise, compile] = [lifting, program - lifting, compile].map(|s| s * 1e6);
    Ok(Shaded { name, words, lift, optimise, compile, interp, lanes, native, gpu })
}

/// Kinds of generated programs.
const GENERATED: [(&str, Category); 3] = [
    ("arithmetic", Category::Straight),
    ("skinning, lights", Category::Typical),
    ("control flow", Category::Structured),
];

/// Words of a generated program, and how many there are of a kind.
const GENERATED_WORDS: u32 = 60;
const GENERATED_COUNT: u64 = 32;

/// Generated programs of a kind: medians.
#[derive(Debug, Serialize)]
pub struct Generated {
    /// The kind.
    pub kind: &'static str,
    /// Words of each.
    pub words: u32,
    /// From words to IR and through the passes, microseconds.
    pub program: f64,
    /// From IR to machine code, microseconds.
    pub compile: f64,
}

/// Measures what generated programs cost to translate.
pub fn generated(quick: bool) -> Result<Vec<Generated>> {
    let times: usize = if quick { 3 } else { 20 };
    let mut compiler = Compiler::new()?;
    let median = |mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or(f64::NAN) * 1e6
    };
    GENERATED
        .into_iter()
        .map(|(kind, category)| {
            let (mut programs, mut compiles) = (Vec::new(), Vec::new());
            for seed in 0..GENERATED_COUNT {
                let sample = random(&mut Rng::new(seed), category, GENERATED_WORDS);
                let source = Arc::new(Source::new(&sample.program.code, &sample.program.descriptors));
                let shader = Shader { source, entry: sample.entry, geometry: None };
                let module = Program::new(&shader)?.module().clone();
                programs.push(best(times, || Ok(Program::new(&shader)?.module().clone()))?);
                compiles.push(best(times, || Ok(compiler.compile(&module)?))?);
            }
            let (program, compile) = (median(programs), median(compiles));
            Ok(Generated { kind, words: GENERATED_WORDS, program, compile })
        })
        .collect()
}

/// An engine without a GPU around it.
fn alone(engine: &mut dyn Engine, shader: &Shader, vertices: usize, times: usize) -> Result<f64> {
    let program = Arc::new(Program::new(shader)?);
    let mut uniforms = Uniforms::default();
    for n in 0..96 {
        uniforms.set_float(n, UNIFORM.map(f32::to_bits));
    }
    let (mut inputs, mut outputs) = (Packed::default(), Packed::default());
    inputs.reset(program.inputs, vertices);
    let registers = (0..16).filter(|n| program.inputs >> n & 1 == 1);
    let values = (0..vertices).flat_map(|v| registers.clone().map(move |n| register(v, n)));
    inputs.values_mut().iter_mut().zip(values).for_each(|(place, value)| *place = value);
    let seconds = best(times, || {
        let (uniforms, outputs, fuel) = (&uniforms, &mut outputs, &mut u64::MAX.clone());
        let inputs = Inputs::from(&inputs);
        Ok(engine.shade(Batch { program: &program, uniforms, inputs, outputs, fuel })?)
    })?;
    Ok(rate(seconds, vertices))
}

/// Draws of lists of triangles.
fn draw(shader: &Shader, threads: bool, times: usize) -> Result<f64> {
    let mut engine = Native::new()?;
    engine.set_threads(threads);
    let mut guest = Guest::new(shader, Engines::new(vec![Box::new(engine)]))?;
    let seconds = best(times, || guest.draw(VERTICES).map(drop))?;
    Ok(rate(seconds, VERTICES))
}

/// A frame in which a shader is seen for the first time.
#[derive(Debug, Serialize)]
pub struct Stutter {
    /// How vertex engines are chosen.
    pub choice: &'static str,
    /// Milliseconds of the worst frame, and of the mean one.
    pub worst: f64,
    /// The mean one.
    pub mean: f64,
    /// Frames that an engine served because a faster one was not ready.
    pub deferred: u64,
}

/// Frames of a draw each, every one with a new shader: with code made on the spot, and in the background.
pub fn stutter(frames: u32) -> Result<Vec<Stutter>> {
    const VERTICES: usize = 300;
    let shader = bundled("skinned.v.pica")?;
    let native = || -> Result<Vec<Box<dyn Engine>>> { Ok(vec![Box::new(Native::new()?)]) };
    let kinds = [
        ("on the spot", Engines::new(native()?)),
        ("in the background", Engines::with_choice(native()?, Choice::Measured)),
    ];
    kinds
        .into_iter()
        .map(|(choice, engines)| {
            let mut guest = Guest::new(&shader, engines)?;
            let end = shader.source.program.code.len() as u32;
            let (mut times, mut deferred) = (Vec::new(), 0);
            for frame in 0..frames {
                let start = Instant::now();
                // A word behind the program's end makes it another one.
                guest.write(VERTEX_CODE_PORT, end);
                guest.write(VERTEX_CODE_PORT + 1, 1 + frame);
                deferred += guest.draw(VERTICES)?.deferred;
                times.push(start.elapsed().as_secs_f64() * 1e3);
            }
            let worst = times.iter().copied().fold(0.0, f64::max);
            let mean = times.iter().sum::<f64>() / f64::from(frames.max(1));
            Ok(Stutter { choice, worst, mean, deferred })
        })
        .collect()
}

/// A guest that draws lists of triangles whose attributes are four floats each.
struct Guest {
    gpu: Gpu<NullRenderer>,
    memory: Regions,
}

impl Guest {
    fn write(&mut self, register: u32, value: u32) {
        self.gpu.write_register(&mut self.memory, register, value);
    }

    fn draw(&mut self, vertices: usize) -> Result<Report> {
        self.write(VERTEX_COUNT, vertices as u32);
        self.write(DRAW_ARRAYS, 1);
        let report = self.gpu.take_report();
        let message = report.messages.first().map(ToString::to_string);
        anyhow::ensure!(report.triangles > 0 && message.is_none(), "{message:?}");
        Ok(report)
    }

    fn new(shader: &Shader, engines: Engines) -> Result<Guest> {
        let program = Program::new(shader)?;
        let attributes = 16 - program.inputs.leading_zeros();
        let vertex = |v| (0..attributes as usize).flat_map(move |n| register(v, n));
        let bytes = (0..VERTICES).flat_map(vertex).flat_map(f32::to_le_bytes).collect();
        let mut memory = Regions::new();
        memory.add(FCRAM, bytes);

        let gpu = Gpu::with_engines(NullRenderer, engines);
        let mut guest = Guest { gpu, memory };
        let mut write = |register, value| guest.write(register, value);
        let nibbles = |count: u32| (0..count).fold(0u64, |all, n| all | u64::from(n) << (4 * n));
        write(ATTRIBUTE_BASE, FCRAM / 8);
        let formats = (1u64 << (4 * attributes)) - 1;
        write(ATTRIBUTE_FORMATS, formats as u32);
        write(ATTRIBUTE_FORMATS_HIGH, (formats >> 32) as u32 | (attributes - 1) << 28);
        write(LOADER + 1, nibbles(attributes) as u32);
        write(LOADER + 2, (nibbles(attributes) >> 32) as u32 | (16 * attributes) << 16 | attributes << 28);
        write(VERTEX_INPUTS, attributes - 1);
        write(VERTEX_PERMUTATION, 0x7654_3210);
        write(VERTEX_PERMUTATION + 1, 0xfedc_ba98);
        write(VERTEX_ENTRY, shader.entry);
        write(VERTEX_OUTPUT_MASK, program.outputs.into());
        // Position, colour, a pair of texture coordinates.
        write(OUTPUT_COUNT, program.outputs.count_ones().min(3));
        for (n, semantics) in (0..).zip([0x0302_0100, 0x0b0a_0908, 0x1f1f_0d0c]) {
            write(OUTPUT_MAP + n, semantics);
        }
        for (port, words) in [
            (VERTEX_CODE_PORT, &shader.source.program.code),
            (VERTEX_DESCRIPTOR_PORT, &shader.source.program.descriptors),
        ] {
            words.iter().for_each(|&word| write(port + 1, word));
        }
        write(VERTEX_UNIFORM_PORT, 1 << 31);
        for value in [UNIFORM; 96].iter().flat_map(|v| v.iter().rev()) {
            write(VERTEX_UNIFORM_PORT + 1, value.to_bits());
        }
        Ok(guest)
    }
}

/// Prints what new shaders cost.
pub fn print_stutter(f: &mut fmt::Formatter<'_>, frames: u32, stutter: &[Stutter]) -> fmt::Result {
    writeln!(
        f,
        "\n{frames} frames with a new shader each, ms: worst, mean; frames that did not wait for native code"
    )?;
    for Stutter { choice, worst, mean, deferred } in stutter {
        writeln!(f, "{choice:<20}{worst:>8.2}{mean:>8.2}{deferred:>8}")?;
    }
    Ok(())
}

/// Prints what generated programs cost.
pub fn print_generated(f: &mut fmt::Formatter<'_>, generated: &[Generated]) -> fmt::Result {
    writeln!(f, "\n{GENERATED_COUNT} generated programs of a kind, medians, us: lift and optimise, compile")?;
    for Generated { kind, words, program, compile } in generated {
        writeln!(f, "{kind:<16}{words:>6}{program:>8.0}{compile:>8.0}")?;
    }
    Ok(())
}

/// Prints a table.
pub fn print(f: &mut fmt::Formatter<'_>, shaders: &[Shaded]) -> fmt::Result {
    writeln!(f, "Shaders: translation, us; million vertices per second, of the engine alone and of draws")?;
    writeln!(
        f,
        "{:<16}{:>6}{:>7}{:>10}{:>9}{:>9}{:>8}{:>8}{:>8}{:>11}{:>11}",
        "shader",
        "words",
        "lift",
        "optimise",
        "compile",
        "interp",
        "lanes",
        "native",
        "hot",
        "draw, 1",
        "draw, all"
    )?;
    for s in shaders {
        let Shaded {
            name,
            words,
            lift,
            optimise,
            compile,
            interp,
            lanes,
            native: [native, hot],
            gpu: [one, all],
        } = s;
        write!(f, "{name:<16}{words:>6}{lift:>7.0}{optimise:>10.0}{compile:>9.0}")?;
        writeln!(f, "{interp:>9.2}{lanes:>8.2}{native:>8.1}{hot:>8.1}{one:>11.1}{all:>11.1}")?;
    }
    Ok(())
}
