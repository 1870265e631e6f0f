//! Random Maxwell kernels: each is translated, and a device computes what the interpreter does, before and after the
//! passes. Long runs have many more.

use xenoglot::{Code, Host, Options, Translator};
use xenoglot_conformance::{Request, vulkan};
use xenoglot_interp::{Bindings, Interpreter};
use xenoglot_ir::{Module, verify};
use xenoglot_maxwell::lift::{LiftOptions, Limits, layout};
use xenoglot_opt::pipeline::Verify;
use xenoglot_testgen::maxwell::{Category, Sample, Words, program};
use xenoglot_testgen::property;
use xenoglot_testgen::rng::Rng;
use xenoglot_testgen::skip::skip;
use xenoglot_vulkan::isolated::{Isolated, IsolatedOptions, WorkerCommand, serve_if_worker};
use xenoglot_vulkan::{BufferBinding, BufferKind, ComputeJob, ComputeRun, DeviceInfo, Job, spread};

/// Lanes of a warp.
const WARP: u8 = 32;
/// Bytes of a constant bank on a device.
const BANK_BYTES: usize = layout::BANK_SIZE as usize;
/// Instructions in distinct contexts before the stack becomes data: large programs take devices long to compile.
const MAX_NODES: usize = 1500;

/// Not a test: what the other starts as a worker process.
#[test]
fn vulkan_worker() {
    serve_if_worker();
}

/// The sample of a seed, and the depth of its stack before that becomes data.
fn sample(words: &Words, seed: u64) -> (Category, Sample, u32) {
    let mut rng = Rng::new(seed);
    let category = Category::ALL[rng.below(4) as usize];
    let size = 4 + rng.below(if category == Category::Misuse { 36 } else { 28 });
    let depth = if rng.percent(20) { 0 } else { 16 };
    (category, program(&mut rng, words, category, size), depth)
}

fn lift(sample: &Sample, max_depth: u32) -> Result<Module, String> {
    let options =
        LiftOptions { limits: Limits { max_nodes: MAX_NODES, max_depth }, ..LiftOptions::default() };
    let module = sample.lift(&options).map_err(|e| e.to_string())?.module;
    verify(&module).map_err(|e| e.to_string())?;
    Ok(module)
}

fn interpret(sample: &Sample, module: &Module) -> Result<Vec<u8>, String> {
    let mut bindings = Bindings::new(module);
    let mut global = None;
    for (resource, data) in module.resources.iter() {
        let is_global = data.binding == layout::GLOBAL_BINDING;
        bindings
            .set_buffer(resource, if is_global { sample.memory.clone() } else { sample.constants.clone() });
        global = if is_global { Some(resource) } else { global };
    }
    let global = global.ok_or("no global memory")?;
    let mut interpreter = Interpreter::new(module).map_err(|e| e.to_string())?;
    interpreter.set_subgroup_width(WARP);
    interpreter.dispatch([1; 3], &mut bindings, &Default::default()).map_err(|e| e.to_string())?;
    Ok(bindings.buffer(global).to_vec())
}

struct Engine {
    translator: Translator,
    device: Isolated,
    host: Host,
}

impl Engine {
    fn new(worker: WorkerCommand, info: &DeviceInfo) -> Engine {
        let device = Isolated::new(worker, IsolatedOptions::default());
        Engine { translator: Translator::new(), device, host: Host::of_vulkan(info) }
    }

    fn run(&mut self, sample: &Sample, mut module: Module) -> Result<Vec<u8>, String> {
        let options = Options::default();
        self.translator.prepare(&mut module, &self.host, &options, &mut Verify).map_err(|e| e.to_string())?;
        let code = self.translator.write(&module, &self.host, &options).map_err(|e| e.to_string())?;
        let Code::Words(spirv) = code else { return Err("no words".into()) };
        let mut constants = sample.constants.clone();
        constants.resize(BANK_BYTES, 0);
        let buffer =
            |binding, kind, data: &Vec<u8>| BufferBinding { set: 0, binding, kind, data: data.clone() };
        let banks = module.resources.values().filter(|r| r.binding != layout::GLOBAL_BINDING);
        let banks = banks.map(|r| buffer(r.binding, BufferKind::Uniform, &constants));
        let global = buffer(layout::GLOBAL_BINDING, BufferKind::Storage, &sample.memory);
        let buffers = [global].into_iter().chain(banks).collect();
        let run = ComputeRun { buffers, push_constants: Vec::new(), groups: [1; 3] };
        let job = Job::Compute(ComputeJob { spirv, entry: "main".into(), runs: vec![run] });
        let outputs = self.device.run(&job).map_err(|e| e.to_string())?;
        outputs
            .into_iter()
            .next()
            .and_then(|o| o.buffers.into_iter().next())
            .ok_or_else(|| "no results".into())
    }
}

/// The first word that differs.
fn difference(want: &[u8], got: &[u8]) -> Option<String> {
    let words =
        |bytes: &[u8]| -> Vec<u32> { bytes.as_chunks().0.iter().map(|w| u32::from_le_bytes(*w)).collect() };
    let pairs = words(want).into_iter().zip(words(got));
    let (at, (want, got)) = pairs.enumerate().find(|(_, (want, got))| want != got)?;
    Some(format!("lane {} byte {} is {got:#x}, not {want:#x}", at / 64, at % 64 * 4))
}

fn check(engine: Option<&mut Engine>, words: &Words, seed: u64) -> Result<(), String> {
    let (category, sample, depth) = sample(words, seed);
    let module = lift(&sample, depth)?;
    let want = interpret(&sample, &module)?;
    let agree = |way: &str, got: Vec<u8>| match difference(&want, &got) {
        Some(difference) => Err(format!("{way}: {difference}")),
        None => Ok(()),
    };
    if category == Category::Structured {
        agree("stack as data", interpret(&sample, &lift(&sample, 0)?)?)?;
    }
    let mut optimised = module.clone();
    Translator::new().optimize(&mut optimised, None);
    verify(&optimised).map_err(|e| e.to_string())?;
    agree("optimised", interpret(&sample, &optimised)?)?;
    if let Some(engine) = engine {
        agree("device", engine.run(&sample, module)?)?;
    }
    Ok(())
}

#[test]
fn a_device_computes_what_the_interpreter_does() {
    let worker = WorkerCommand::this_test("vulkan_worker").unwrap();
    let request = Request::new("", "spirv").with_worker(worker.clone());
    let info = vulkan::device(&request).inspect_err(|e| skip(&e.to_string())).ok();
    let start = || Ok::<_, ()>(info.as_ref().map(|info| Engine::new(worker.clone(), info)));
    let words = Words::new(&mut Rng::new(0));
    let seeds: Vec<u64> = property::seeds(property::budget(60, 2000)).collect();
    let results = spread(&seeds, start, |engine, &seed| check(engine.as_mut(), &words, seed)).unwrap();
    let mut failures = Vec::new();
    for (&seed, result) in seeds.iter().zip(results) {
        let Err(e) = result else { continue };
        let (category, sample, _) = sample(&words, seed);
        let code: Vec<u64> = sample.code.as_chunks().0.iter().map(|w| u64::from_le_bytes(*w)).collect();
        if failures.is_empty() {
            println!("{}", xenoglot_maxwell::disasm::listing(&code));
        }
        failures.push(format!("{category:?}, seed {seed}: {e}"));
    }
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}
