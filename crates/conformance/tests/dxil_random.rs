//! Random shaders of Direct3D 12: the interpreter computes what their trees say, as lifted and optimised, and so does a
//! device, with the integers and floats that it has or with those of 32 bits alone. Long runs have many more.

use std::io::Write;
use std::process::{Command, Stdio};
use xenoglot::dxil::{Bounds, LiftOptions, lift, load};
use xenoglot::host::Host;
use xenoglot::{Code, Options, Translator};
use xenoglot_conformance::{Request, Verdict, validator, vulkan};
use xenoglot_interp::{Bindings, Interpreter, Limits};
use xenoglot_ir::{Module, Resource, verify};
use xenoglot_opt::pipeline::{Level, Verify};
use xenoglot_spirv::Capability;
use xenoglot_testgen::dxil::{INPUT_WORDS, OUTPUT_WORDS, Shader, THREADS, bitcode, run};
use xenoglot_testgen::property;
use xenoglot_testgen::rng::Rng;
use xenoglot_testgen::skip::skip;
use xenoglot_vulkan::isolated::{Isolated, IsolatedOptions, WorkerCommand, serve_if_worker};
use xenoglot_vulkan::{
    BufferBinding, BufferKind, ComputeJob, ComputeRun, DeviceInfo, Error, Job, WorkerError, spread,
};

/// Lanes of a wave on the interpreter.
const WAVE: u8 = 8;
/// Instructions a shader may take.
const LIMITS: Limits = Limits { fuel: 50_000_000, call_depth: 8, memory: 16 << 20, events: 0, trace: 0 };

/// Not a test: what the other starts as a worker process.
#[test]
fn vulkan_worker() {
    serve_if_worker();
}

struct Sample {
    shader: Shader,
    input: Vec<u32>,
}

impl Sample {
    fn new(seed: u64) -> Sample {
        let mut rng = Rng::new(seed);
        let shader = Shader::random(&mut rng);
        let small = |rng: &mut Rng| if rng.percent(50) { rng.below(16) } else { rng.next_u32() };
        let input = (0..INPUT_WORDS).map(|_| small(&mut rng)).collect();
        Sample { shader, input }
    }

    fn lift(&self, bounds: Bounds) -> Result<Module, String> {
        let bitcode = load(&bitcode(&self.shader)).map_err(|e| e.to_string())?;
        let options = LiftOptions { bounds, ..LiftOptions::default() };
        let module = lift(&bitcode, &options).map_err(|e| e.to_string())?.module;
        verify(&module).map_err(|e| e.to_string())?;
        Ok(module)
    }

    fn input(&self) -> Vec<u8> {
        self.input.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}

/// Bytes of what is written.
fn output_bytes() -> usize {
    (THREADS * OUTPUT_WORDS) as usize * 4
}

fn interpret(sample: &Sample, module: &Module) -> Result<Vec<u32>, String> {
    let at = |binding: u32| -> Option<Resource> {
        module.resources.iter().find(|(_, r)| r.binding == binding).map(|(id, _)| id)
    };
    let mut bindings = Bindings::new(module);
    // A shader that does not read, or that ends before it writes, has no such buffer.
    let (input, output) = (at(0), at(1));
    if let Some(input) = input {
        bindings.set_buffer(input, sample.input());
    }
    if let Some(output) = output {
        bindings.set_buffer(output, vec![0; output_bytes()]);
    }
    let mut interpreter = Interpreter::new(module).map_err(|e| e.to_string())?;
    interpreter.set_subgroup_width(WAVE);
    interpreter.dispatch([1; 3], &mut bindings, &LIMITS).map_err(|e| e.to_string())?;
    Ok(output.map_or(vec![0; output_bytes() / 4], |output| words(bindings.buffer(output))))
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// Why a sample does not agree.
enum Failure {
    /// What differs, or what is refused.
    Wrong(String),
    /// The driver's compiler crashes with valid code.
    Driver(String),
}

impl From<String> for Failure {
    fn from(why: String) -> Failure {
        Failure::Wrong(why)
    }
}

struct Engine {
    translator: Translator,
    device: Isolated,
    /// The device, and the same one without integers and floats of other widths than 32 bits.
    hosts: [Host; 2],
}

impl Engine {
    fn new(worker: WorkerCommand, info: &DeviceInfo) -> Engine {
        let device = Isolated::new(worker, IsolatedOptions::default());
        let host = Host::of_vulkan(info);
        let mut narrow = host.clone();
        for capability in [Capability::Int64, Capability::Int16, Capability::Int8, Capability::Float16] {
            narrow.without.insert(capability);
        }
        Engine { translator: Translator::new(), device, hosts: [host, narrow] }
    }

    /// Lanes of the device's waves; 0 if they are not all alike.
    fn wave(&self) -> u32 {
        self.hosts[0].subgroups.width().into()
    }

    fn run(&mut self, sample: &Sample, host: usize) -> Result<Vec<u32>, Failure> {
        let mut module = sample.lift(Bounds::Device)?;
        let (host, options) = (&self.hosts[host], Options::default());
        let written = self
            .translator
            .prepare(&mut module, host, &options, &mut Verify)
            .map_err(|e| e.to_string())
            .and_then(|()| self.translator.write(&module, host, &options).map_err(|e| e.to_string()))?;
        let Code::Words(spirv) = written else { return Err(Failure::Wrong("no words".into())) };
        if let Verdict::Failed(why) = validator::validate(&spirv) {
            return Err(Failure::Wrong(why));
        }
        let buffer = |binding, data| BufferBinding { set: 0, binding, kind: BufferKind::Storage, data };
        let buffers = vec![buffer(0, sample.input()), buffer(1, vec![0; output_bytes()])];
        let run = ComputeRun { buffers, push_constants: Vec::new(), groups: [1; 3] };
        let job = Job::Compute(ComputeJob { spirv, entry: "main".into(), runs: vec![run] });
        let outputs = self.device.run(&job).map_err(|e| match e {
            Error::Worker(e @ WorkerError::Died { .. }) => Failure::Driver(e.to_string()),
            e => Failure::Wrong(e.to_string()),
        })?;
        let output = outputs.into_iter().next().and_then(|o| o.buffers.into_iter().nth(1));
        Ok(words(&output.ok_or_else(|| "no results".to_owned())?))
    }
}

fn agree(way: &str, want: &[u32], got: &[u32]) -> Result<(), String> {
    let differs = want.iter().zip(got).position(|(want, got)| want != got);
    let Some(at) = differs else { return Ok(()) };
    let (lane, word) = (at as u32 / OUTPUT_WORDS, at as u32 % OUTPUT_WORDS);
    Err(format!("{way}: word {word} of invocation {lane} is {:#x}, not {:#x}", got[at], want[at]))
}

fn check(engine: Option<&mut Engine>, seed: u64) -> Result<(), Failure> {
    let sample = Sample::new(seed);
    let want = run(&sample.shader, &sample.input, WAVE.into());
    let mut module = sample.lift(Bounds::default())?;
    agree("as lifted", &want, &interpret(&sample, &module)?)?;
    Translator::new().optimize(&mut module, Some(Level::Full));
    verify(&module).map_err(|e| e.to_string())?;
    agree("optimised", &want, &interpret(&sample, &module)?)?;
    if let Some(engine) = engine.filter(|engine| engine.wave() > 0) {
        let want = run(&sample.shader, &sample.input, engine.wave());
        agree("device", &want, &engine.run(&sample, 0)?)?;
        if seed.is_multiple_of(3) {
            agree("device, 32 bits", &want, &engine.run(&sample, 1)?)?;
        }
    }
    Ok(())
}

/// The bitcode is LLVM's, and not only what our reader takes for it.
#[test]
fn llvm_reads_the_bitcode() {
    let Some(program) =
        ["llvm-dis", "llvm-dis-14"].into_iter().find(|p| Command::new(p).arg("--version").output().is_ok())
    else {
        return skip("llvm-dis is not installed");
    };
    for seed in 0..20 {
        let mut reader = Command::new(program)
            .args(["-", "-o", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // It reads all before it writes.
        reader.stdin.take().unwrap().write_all(&bitcode(&Sample::new(seed).shader)).unwrap();
        let read = reader.wait_with_output().unwrap();
        let (text, said) = (String::from_utf8_lossy(&read.stdout), String::from_utf8_lossy(&read.stderr));
        assert!(read.status.success() && text.contains("define void @main()"), "seed {seed}: {said}");
    }
}

#[test]
fn interpreter_and_device_compute_what_the_shader_says() {
    let worker = WorkerCommand::this_test("vulkan_worker").unwrap();
    let request = Request::new("", "spirv").with_worker(worker.clone());
    let info = vulkan::device(&request).inspect_err(|e| skip(&e.to_string())).ok();
    let start = || Ok::<_, ()>(info.as_ref().map(|info| Engine::new(worker.clone(), info)));
    let seeds: Vec<u64> = property::seeds(property::budget(300, 3000)).collect();
    let results = spread(&seeds, start, |engine, &seed| check(engine.as_mut(), seed)).unwrap();
    let (mut wrong, mut crashes) = (Vec::new(), Vec::new());
    for (seed, result) in seeds.iter().zip(results) {
        match result {
            Ok(()) => {}
            Err(Failure::Wrong(why)) => wrong.push(format!("seed {seed}: {why}")),
            Err(Failure::Driver(why)) => crashes.push(format!("seed {seed}: {why}")),
        }
    }
    assert!(wrong.is_empty(), "{} fail:\n{}", wrong.len(), wrong.join("\n"));
    // LLVM 15 recurses without end in a few.
    for crash in &crashes {
        skip(&format!("the driver crashes: {crash}"));
    }
    assert!(crashes.len() * 100 <= seeds.len(), "the driver crashes with {} shaders", crashes.len());
}
