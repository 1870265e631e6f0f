//! Fragment programs for the draws of the PICA200 scenes: on the interpreter against the CPU renderer, and through the
//! back ends.

use rayon::prelude::*;
use std::collections::HashSet;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::Instant;
use xenoglot_conformance::picagpu::{run, scenes};
use xenoglot_glsl::Target;
use xenoglot_interp::{Bindings, End, Interpreter, Limits};
use xenoglot_ir::module::{Builtin, ResourceKind, Semantic};
use xenoglot_ir::{Bits, Module, Var, verify};
use xenoglot_opt::{Context, Lacks, legalize};
use xenoglot_pica::fragment::{Blending, FragmentKey, generate, has_feedback, layout};
use xenoglot_pica::memory::Memory;
use xenoglot_pica::raster::{self, Fragment};
use xenoglot_pica::regs::{self, Registers};
use xenoglot_pica::renderer::{Draw, OutOfPixels, Renderer};
use xenoglot_pica::shader::Engines;
use xenoglot_pica::tables::Tables;
use xenoglot_testgen::skip;
use xenoglot_vulkan::glslang;

/// Fragments of a draw that are run, evenly spread.
const FRAGMENTS: usize = 2048;

/// Semantics of the lanes of the inputs at locations 0 to 5.
const INPUTS: [&[usize]; 6] =
    [&[4, 5, 6, 7], &[8, 9, 10, 11], &[12, 13, 16], &[14, 15], &[22, 23], &[18, 19, 20]];

/// What was compared in a scene.
#[derive(Default)]
struct Stats {
    keys: HashSet<FragmentKey>,
    draws: usize,
    fragments: usize,
    /// Draws whose depth comes from w: the host has 1/w, so it may differ in the last place.
    w_buffered: usize,
    /// Draws that read what they write, and those into shadow maps.
    feedback: usize,
    shadow: usize,
    differences: Vec<String>,
}

/// The CPU renderer, whose fragments are compared with those of generated programs.
struct Checked<'a> {
    inner: raster::Renderer,
    stats: &'a mut Stats,
}

impl Renderer for Checked<'_> {
    fn draw(&mut self, draw: Draw<'_>) -> Result<(), OutOfPixels> {
        let (regs, tables) = (draw.regs, draw.tables);
        let key = FragmentKey::decode(regs, Blending::Host);
        let program = key.as_ref().map(|key| Program::new(generate(key), regs, tables, draw.memory));
        self.inner.draw(draw)?;
        let fragments = self.inner.take_fragments();
        self.compare(regs, tables, key.zip(program), &fragments);
        Ok(())
    }
}

impl Checked<'_> {
    fn compare(
        &mut self,
        regs: &Registers,
        tables: &Tables,
        program: Option<(FragmentKey, Program)>,
        fragments: &[Fragment],
    ) {
        let Some((key, mut program)) = program else {
            assert!(fragments.is_empty());
            return;
        };
        for blending in [Blending::Host, Blending::Program] {
            self.stats.keys.extend(FragmentKey::decode(regs, blending));
        }
        if has_feedback(regs, tables) {
            self.stats.feedback += 1;
            return;
        }
        if key.reads_destination() {
            self.stats.shadow += 1;
            return;
        }
        // The CPU renderer shades for the alpha test or the colour buffer only.
        if fragments.is_empty() {
            return;
        }
        self.stats.draws += 1;
        let w_buffered = !regs.bit(regs::DEPTH_MODE, 0) && program.reads_position();
        self.stats.w_buffered += usize::from(w_buffered);
        let step = fragments.len().div_ceil(FRAGMENTS);
        for fragment in fragments.iter().step_by(step) {
            self.stats.fragments += 1;
            if let Some(difference) = program.differs(fragment, w_buffered) {
                self.stats.differences.push(difference);
                return;
            }
        }
    }
}

/// A generated program with the buffers of a draw.
struct Program {
    module: Module,
    bindings: Bindings,
    color: Option<Var>,
    depth: Option<Var>,
}

impl Program {
    fn new(module: Module, regs: &Registers, tables: &Tables, memory: &dyn Memory) -> Program {
        verify(&module).unwrap();
        let mut bindings = Bindings::new(&module);
        for (resource, data) in module.resources.iter() {
            let words = match data.binding {
                layout::UNIFORM_BINDING => layout::uniforms(regs).to_vec(),
                layout::TABLE_BINDING => layout::tables(tables),
                layout::DESTINATION_BINDING => Vec::new(),
                binding => {
                    layout::texels(regs, (binding - layout::TEXTURE_BINDING) as usize, memory).unwrap()
                }
            };
            bindings.set_words(resource, &words);
        }
        let output = |name| module.vars.iter().find(|(_, data)| data.name == name).map(|(var, _)| var);
        let (color, depth) = (output("fragment"), output("depth"));
        Program { module, bindings, color, depth }
    }

    fn reads_position(&self) -> bool {
        self.module.vars.values().any(|var| var.semantic == Semantic::Builtin(Builtin::FragCoord))
    }

    /// What is different from the CPU renderer's `fragment`.
    fn differs(&mut self, fragment: &Fragment, w_buffered: bool) -> Option<String> {
        for (var, data) in self.module.vars.iter() {
            let lanes = match data.semantic {
                Semantic::Location { location, .. } => {
                    let mut lanes = [0.0; 4];
                    for (lane, &semantic) in lanes.iter_mut().zip(INPUTS[location as usize]) {
                        *lane = fragment.attributes[semantic];
                    }
                    lanes
                }
                Semantic::Builtin(_) => [0.5, 0.5, -fragment.z, 1.0 / fragment.w],
            };
            self.bindings.set_input(var, Bits::f32x4(lanes));
        }
        let mut interpreter = Interpreter::new(&self.module).unwrap();
        let outcome = interpreter.run_entry(&mut self.bindings, &Limits::default()).unwrap();
        assert_eq!(outcome.stats.out_of_bounds, 0);
        if (outcome.end != End::Kill) != fragment.passes {
            return Some(format!("alpha test: {:?}, {fragment:?}", outcome.end));
        }
        if !fragment.passes {
            return None;
        }
        let output = |var: Option<Var>| var.and_then(|var| self.bindings.output(var).first());
        if let Some(color) = output(self.color) {
            let color = color.words().map(|word| f32::from_bits(word) * 255.0);
            let margin = if w_buffered { 1.0 } else { 0.0 };
            let near = |(a, &b): (f32, &u8)| (a.round() - f32::from(b)).abs() <= margin;
            if !color.into_iter().zip(&fragment.color).all(near) {
                return Some(format!("colour: {color:?}, {fragment:?}"));
            }
        }
        if let Some(depth) = output(self.depth) {
            let depth = f32::from_bits(depth.words()[0]);
            let margin = if w_buffered { 1e-6 } else { 0.0 };
            if (depth - fragment.depth).abs() > margin {
                return Some(format!("depth: {depth}, {fragment:?}"));
            }
        }
        None
    }
}

fn vectors() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/picagpu"))
}

/// What was compared in every scene.
static STATS: LazyLock<Vec<Stats>> = LazyLock::new(|| {
    let check = |scene: &_| {
        let mut stats = Stats::default();
        let mut inner = raster::Renderer::new();
        inner.record_fragments();
        run(scene, Checked { inner, stats: &mut stats }, Engines::default(), |_| ());
        stats
    };
    scenes(&vectors()).unwrap().par_iter().map(check).collect()
});

/// The keys of all draws, with blending by the host and by the program.
fn keys() -> Vec<&'static FragmentKey> {
    let mut seen = HashSet::new();
    STATS.iter().flat_map(|stats| &stats.keys).filter(|key| seen.insert(*key)).collect()
}

fn optimized(module: &Module) -> Module {
    let mut module = module.clone();
    let mut cx = xenoglot_opt::Context::default();
    let _ = xenoglot_opt::optimize(&mut module, &mut cx, &xenoglot_opt::Options::default(), &mut ());
    module
}

#[test]
fn scenes_by_fragment_programs() {
    let sum = |of: fn(&Stats) -> usize| STATS.iter().map(of).sum::<usize>();
    let (draws, fragments) = (sum(|s| s.draws), sum(|s| s.fragments));
    println!(
        "{draws} draws, {fragments} fragments, {} programs; {} draws with w buffer within 1; not compared: {} draws \
         that read what they write, {} into shadow maps",
        keys().len(),
        sum(|s| s.w_buffered),
        sum(|s| s.feedback),
        sum(|s| s.shadow)
    );
    let differences: Vec<&String> = STATS.iter().flat_map(|stats| &stats.differences).collect();
    assert!(differences.is_empty(), "{} differences: {differences:#?}", differences.len());
    assert!(draws > 200 && fragments > 100_000);
}

/// Programs that outside tools look at in all forms: one in so many.
const SAMPLE: usize = 16;

/// Every program through every back end, as generated and optimised.
#[test]
fn back_ends() {
    let has_validator = Command::new("spirv-val").arg("--version").output().is_ok();
    if !has_validator {
        skip("spirv-val is not installed");
    }
    let has_compiler = glslang::available();
    if !has_compiler {
        skip("glslangValidator is not installed");
    }
    let keys = keys();
    let in_330: usize = keys
        .par_iter()
        .enumerate()
        .map(|(number, key)| {
            let module = generate(key);
            let sampled = number.is_multiple_of(SAMPLE);
            let best = optimized(&module);
            spirv(&module, has_validator);
            spirv(&best, has_validator && sampled);
            wgsl(&best);
            if sampled {
                wgsl(&module);
            }
            glsl(&module, has_compiler && sampled) as usize
        })
        .sum();
    println!("{} programs through the back ends, {in_330} in GLSL 330", keys.len());
}

/// The module with what languages lack made of what they have.
fn lowered(module: &Module, arithmetic: legalize::Options) -> Module {
    let mut module = module.clone();
    legalize::run(&mut module, &Lacks { arithmetic, ..Lacks::default() }, &mut Context::new());
    module
}

/// SPIR-V for Vulkan.
fn spirv(module: &Module, validated: bool) {
    verify(module).unwrap();
    let module = lowered(module, legalize::Options::RULES);
    let words = xenoglot_spirv::emit(&module, &xenoglot_spirv::Options::default()).unwrap();
    if validated {
        validate(&words);
    }
}

/// WGSL by way of SPIR-V for naga, which validates it.
fn wgsl(module: &Module) {
    let module = lowered(module, legalize::Options::ALL);
    let words = xenoglot_spirv::emit(&module, &xenoglot_spirv::Options::for_naga()).unwrap();
    xenoglot_naga::to_wgsl(&words, &xenoglot_naga::Options::default()).unwrap();
}

/// Every version of GLSL; whether 330, which has no storage buffers, can express the module.
fn glsl(module: &Module, validated: bool) -> bool {
    let has_storage = module.resources.values().any(|r| matches!(r.kind, ResourceKind::StorageBuffer { .. }));
    for target in Target::ALL.into_iter().filter(|&target| target != Target::Gl330 || !has_storage) {
        let options = xenoglot_glsl::Options { target, ..xenoglot_glsl::Options::default() };
        let text = xenoglot_glsl::emit(&lowered(module, legalize::Options::ALL), &options).unwrap();
        if validated {
            let checked = match target {
                Target::Vulkan450 => glslang::compile(&text, glslang::Stage::Fragment).map(|_| ()),
                _ => glslang::validate(&text, glslang::Stage::Fragment),
            };
            checked.unwrap();
        }
    }
    !has_storage
}

fn validate(words: &[u32]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut child = Command::new("spirv-val")
        .args(["--target-env", "vulkan1.1", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Prints what a program costs.
#[test]
fn cost_of_generation() {
    let keys = keys();
    let per_program = |name, mut make: Box<dyn FnMut(usize)>| {
        let start = Instant::now();
        (0..keys.len()).for_each(&mut make);
        println!("{name}: {:.1} µs", start.elapsed().as_secs_f64() * 1e6 / keys.len() as f64);
    };
    let made: Vec<Module> = keys.iter().map(|key| generate(key)).collect();
    let insts: usize = made.iter().flat_map(|m| m.funcs.values()).map(|f| f.inst_count()).sum();
    let best: Vec<Module> = made.iter().map(optimized).collect();
    let best_insts: usize = best.iter().flat_map(|m| m.funcs.values()).map(|f| f.inst_count()).sum();
    println!(
        "{} programs, {} instructions each, {} optimised",
        keys.len(),
        insts / keys.len(),
        best_insts / keys.len()
    );
    per_program("generate", Box::new(|i| drop(generate(keys[i]))));
    per_program("optimise", Box::new(|i| drop(optimized(&made[i]))));
    let options = xenoglot_spirv::Options::default();
    let plain = |i: usize| lowered(&best[i], legalize::Options::RULES);
    per_program("SPIR-V", Box::new(|i| drop(xenoglot_spirv::emit(&plain(i), &options))));
    let options = xenoglot_glsl::Options::default();
    let plain = |i: usize| lowered(&best[i], legalize::Options::ALL);
    per_program("GLSL", Box::new(|i| drop(xenoglot_glsl::emit(&plain(i), &options))));
}
