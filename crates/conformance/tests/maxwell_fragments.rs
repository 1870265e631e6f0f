//! Random Maxwell fragment programs with derivatives, exchanges within quads, votes and shuffles: the interpreter runs them
//! in quads as they are lifted, then as they are lowered for hosts of every width of subgroups, with exchanges within quads
//! and without. Long runs have many more.

use xenoglot::host::{Capabilities, Host, Subgroups};
use xenoglot::{Code, Options, Translator};
use xenoglot_interp::{Bindings, Interpreter, Limits};
use xenoglot_ir::module::{Builtin, Direction, Semantic};
use xenoglot_ir::{Bits, Module, Var, verify};
use xenoglot_maxwell::lift::LiftOptions;
use xenoglot_opt::pipeline::{Observer, Ran};
use xenoglot_spirv::Capability;
use xenoglot_testgen::maxwell::{Fragments, Words, fragments};
use xenoglot_testgen::property;
use xenoglot_testgen::rng::Rng;
use xenoglot_testgen::skip::skip;
use xenoglot_vulkan::glslang::{self, Stage};
use xenoglot_vulkan::isolated::{Isolated, IsolatedOptions, WorkerCommand, serve_if_worker};
use xenoglot_vulkan::{
    Contents, DescriptorKind, DescriptorSlot, Device, Job, PipelineJob, PipelineStage, RenderJob,
    StageModule, Topology, spread,
};

/// Not a test: what the others start as a worker process.
#[test]
fn vulkan_worker() {
    serve_if_worker();
}

/// Pixels of the target along each side.
const SIZE: u32 = 16;
/// Lanes of a warp.
const WARP: u8 = 32;

/// A pixel's words.
type Pixel = [u32; 4];

fn sample(words: &Words, seed: u64) -> Fragments {
    let mut rng = Rng::new(seed);
    let size = 4 + rng.below(20);
    fragments(&mut rng, words, size)
}

/// The places of fragments, quad by quad.
fn places() -> impl Iterator<Item = [u32; 2]> {
    (0..SIZE * SIZE).map(|n| {
        let (quad, lane) = (n / 4, n % 4);
        let (x, y) = (quad % (SIZE / 2), quad / (SIZE / 2));
        [2 * x + lane % 2, 2 * y + lane / 2]
    })
}

/// What the interpreter draws, row by row.
fn interpret(sample: &Fragments, module: &Module, width: u8) -> Result<Vec<Pixel>, String> {
    let mut bindings = Bindings::new(module);
    for resource in module.resources.keys() {
        bindings.set_buffer(resource, sample.constants.clone());
    }
    let is_place = |var: &&Var| module.vars[**var].semantic == Semantic::Builtin(Builtin::FragCoord);
    let vars: Vec<Var> = module.vars.keys().collect();
    let place = vars.iter().find(is_place).copied();
    let inputs: Vec<Vec<(Var, Bits)>> = places()
        .map(|[x, y]| {
            let at = [x as f32 + 0.5, y as f32 + 0.5, 0.5, 1.0].map(|v| u64::from(v.to_bits()));
            place.into_iter().map(|var| (var, Bits(at))).collect()
        })
        .collect();
    let outputs = vars.iter().filter(|v| module.vars[**v].direction == Direction::Output);
    if outputs.count() != 1 {
        return Err("not one output".into());
    }
    let mut interpreter = Interpreter::new(module).map_err(|e| e.to_string())?;
    interpreter.set_subgroup_width(width);
    let limits = Limits { fuel: 100_000_000, ..Limits::default() };
    let drawn = interpreter.run_fragments(&inputs, &mut bindings, &limits).map_err(|e| e.to_string())?;
    let mut pixels = vec![[0; 4]; (SIZE * SIZE) as usize];
    for ([x, y], fragment) in places().zip(drawn) {
        if !fragment.demoted {
            pixels[(y * SIZE + x) as usize] = fragment.outputs[0].0.map(|v| v as u32);
        }
    }
    Ok(pixels)
}

/// Verifies after each pass, and names the pass.
struct Named;

impl Observer for Named {
    type Error = String;

    fn after(&mut self, ran: Ran<'_>) -> Result<(), String> {
        verify(ran.module).map_err(|e| format!("after {}: {e}", ran.pass.name))
    }
}

fn agree(way: &str, want: &[Pixel], got: &[Pixel]) -> Result<(), String> {
    let differ: Vec<usize> = (0..want.len()).filter(|&i| want.get(i) != got.get(i)).collect();
    let Some(&first) = differ.first() else { return Ok(()) };
    let (x, y) = (first as u32 % SIZE, first as u32 / SIZE);
    let (want, got) = (want.get(first), got.get(first));
    Err(format!("{way}: {} pixels, the first at {x} {y} is {got:x?}, not {want:x?}", differ.len()))
}

/// Hosts of every width, and the width that the interpreter takes for theirs.
fn hosts() -> Vec<(Host, u8)> {
    let mut hosts = Vec::new();
    for quads in [true, false] {
        let mut host: Host = "vulkan-1.3".parse().unwrap();
        if !quads {
            host.without = [Capability::GroupNonUniformQuad].into_iter().collect::<Capabilities>();
        }
        for width in [4, 8, 16, 32, 64] {
            hosts.push((Host { subgroups: Subgroups::exactly(width), ..host.clone() }, width));
        }
        hosts.extend([4, 64].map(|width| (host.clone(), width)));
    }
    hosts
}

fn check(words: &Words, seed: u64) -> Result<(), String> {
    let sample = sample(words, seed);
    let module = sample.lift(&LiftOptions::default()).map_err(|e| e.to_string())?.module;
    verify(&module).map_err(|e| e.to_string())?;
    let want = interpret(&sample, &module, WARP)?;
    let mut translator = Translator::new();
    for (host, width) in hosts() {
        let mut lowered = module.clone();
        let options = Options::default();
        translator.prepare(&mut lowered, &host, &options, &mut Named).map_err(|e| e.to_string())?;
        let way = format!("{:?}, width {width}, without {:?}", host.subgroups, host.without);
        agree(&way, &want, &interpret(&sample, &lowered, width).map_err(|e| format!("{way}: {e}"))?)?;
        translator.write(&lowered, &host, &options).map_err(|e| format!("{way}: {e}"))?;
    }
    Ok(())
}

#[test]
fn fragments_are_the_same_on_hosts_of_every_width() {
    let words = Words::new(&mut Rng::new(0));
    let seeds: Vec<u64> = property::seeds(property::budget(200, 4000)).collect();
    let results = spread(&seeds, || Ok::<_, ()>(()), |(), &seed| check(&words, seed)).unwrap();
    let mut failures = Vec::new();
    for (&seed, result) in seeds.iter().zip(results) {
        let Err(e) = result else { continue };
        let code = sample(&words, seed).code;
        let code: Vec<u64> = code.as_chunks().0.iter().map(|w| u64::from_le_bytes(*w)).collect();
        if failures.is_empty() {
            println!("{}", xenoglot_maxwell::disasm::listing(&code));
        }
        failures.push(format!("seed {seed}: {e}"));
    }
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}

/// A triangle that covers the target.
const VERTEX: &str = "#version 450\nvoid main() { vec2 p = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1); \
    gl_Position = vec4(p * 4.0 - 1.0, 0.5, 1.0); }";

struct Drawer {
    device: Isolated,
    host: Host,
    translator: Translator,
    vertex: Vec<u32>,
}

/// What a device draws, row by row.
fn draw(drawer: &mut Drawer, sample: &Fragments, module: &Module) -> Result<Vec<Pixel>, String> {
    let mut module = module.clone();
    let options = Options::default();
    drawer.translator.prepare(&mut module, &drawer.host, &options, &mut Named).map_err(|e| e.to_string())?;
    let code = drawer.translator.write(&module, &drawer.host, &options).map_err(|e| e.to_string())?;
    let Code::Words(spirv) = code else { return Err("not SPIR-V".into()) };
    let uniform = |binding, set| DescriptorSlot { set, binding, kind: DescriptorKind::Uniform, count: 1 };
    let descriptors: Vec<_> = module.resources.values().map(|r| uniform(r.binding, r.set)).collect();
    let mut block = sample.constants.clone();
    block.resize(1 << 16, 0);
    let contents = descriptors.iter().map(|_| vec![Contents::Buffer(block.clone())]).collect();
    let stages = vec![
        StageModule { stage: PipelineStage::Vertex, spirv: drawer.vertex.clone() },
        StageModule { stage: PipelineStage::Fragment, spirv },
    ];
    let pipeline = PipelineJob {
        stages,
        descriptors,
        inputs: Vec::new(),
        targets: vec![true],
        topology: Topology::Triangles,
        patch_vertices: 3,
    };
    let job = RenderJob {
        pipeline,
        contents,
        inputs: Vec::new(),
        vertices: 3,
        instances: 1,
        size: SIZE,
        layers: 1,
    };
    let drawn = drawer.device.run(&Job::Render(job)).map_err(|e| e.to_string())?.remove(0).buffers.remove(0);
    let words: Vec<u32> = drawn.as_chunks().0.iter().map(|w| u32::from_le_bytes(*w)).collect();
    Ok(words.as_chunks().0.to_vec())
}

#[test]
fn a_device_draws_what_the_interpreter_does() {
    let Some(info) = Device::list().ok().and_then(|devices| devices.into_iter().min_by_key(|d| d.kind))
    else {
        return skip("no Vulkan device");
    };
    if !glslang::available() {
        return skip("no glslangValidator");
    }
    let vertex = glslang::compile(VERTEX, Stage::Vertex).unwrap();
    let words = Words::new(&mut Rng::new(0));
    let seeds: Vec<u64> = property::seeds(property::budget(200, 4000)).collect();
    let host = Host::of_vulkan(&info);
    let start = || {
        let command = WorkerCommand::this_test("vulkan_worker").unwrap();
        let device = Isolated::new(command, IsolatedOptions::default());
        Ok::<_, ()>(Drawer {
            device,
            host: host.clone(),
            translator: Translator::new(),
            vertex: vertex.clone(),
        })
    };
    let results = spread(&seeds, start, |drawer, &seed| {
        let sample = sample(&words, seed);
        let module = sample.lift(&LiftOptions::default()).map_err(|e| e.to_string())?.module;
        let want = interpret(&sample, &module, WARP)?;
        agree("device", &want, &draw(drawer, &sample, &module)?)
    })
    .unwrap();
    let failures: Vec<String> = seeds
        .iter()
        .zip(results)
        .filter_map(|(seed, r)| Some(format!("seed {seed}: {}", r.err()?)))
        .collect();
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}
