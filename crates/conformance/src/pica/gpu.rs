//! The `spirv` and `glsl` engines: translated modules on a Vulkan device, in a worker process.

use super::compare::{self, Observed};
use super::format::{Set, TestProgram};
use super::kernel;
use crate::{Error, Request};
use std::time::Duration;
use xenoglot::{Code, Target, Translator};
use xenoglot_glsl as glsl;
use xenoglot_ir::Module;
use xenoglot_pica_shader::lift::hide_zeros;
use xenoglot_pica_shader::lift::layout::*;
use xenoglot_spirv as spirv;
use xenoglot_vulkan::isolated::{Isolated, IsolatedOptions, WorkerCommand};
use xenoglot_vulkan::{
    BufferBinding, BufferKind, ComputeJob, ComputeRun, DeviceInfo, DeviceOptions, Job, RunOutput,
    VertexInput, VertexJob, VertexRun, glslang,
};

/// Which language the module goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Our SPIR-V.
    Spirv,
    /// Our GLSL, compiled by glslang.
    Glsl,
}

/// A device with a translator: one per thread.
pub struct Engine {
    language: Language,
    translator: Translator,
    device: Isolated,
    /// lavapipe, told to keep denormals in vertex shaders.
    keeping: Option<Isolated>,
    float_controls: spirv::FloatControls,
}

/// For a job with all its runs: some of the suite's shaders take a busy machine's software device a minute.
const PATIENCE: Duration = Duration::from_secs(300);

fn worker(request: &Request) -> Result<WorkerCommand, Error> {
    match &request.worker {
        Some(worker) => Ok(worker.clone()),
        None => WorkerCommand::this_program().map_err(|e| Error::Device(e.to_string())),
    }
}

fn isolated(request: &Request, command: WorkerCommand) -> Isolated {
    let mut device = DeviceOptions { timeout_ms: PATIENCE.as_millis() as u64, ..DeviceOptions::from_env() };
    if let Some(name) = &request.device {
        device.selector = Some(name.clone());
    }
    Isolated::new(command, IsolatedOptions { device, timeout: PATIENCE })
}

/// The device a request means.
///
/// # Errors
/// [`Error::Device`] if there is none.
pub fn device(request: &Request) -> Result<DeviceInfo, Error> {
    let selector = request.device.clone().or(DeviceOptions::from_env().selector);
    let wanted = |name: &str| match &selector {
        Some(s) => name.to_lowercase().contains(&s.to_lowercase()),
        None => true,
    };
    let devices = isolated(request, worker(request)?).devices().map_err(|e| Error::Device(e.to_string()))?;
    let found = devices.into_iter().filter(|d| wanted(&d.name)).min_by_key(|d| d.kind);
    found.ok_or_else(|| Error::Device(format!("no Vulkan device matches {selector:?}")))
}

impl Engine {
    /// An engine on `device`, which [`device`] found for the same request.
    pub fn new(language: Language, request: &Request, device: &DeviceInfo) -> Result<Engine, Error> {
        if language == Language::Glsl && !glslang::available() {
            return Err(Error::Device("glslangValidator is not installed".into()));
        }
        let controls = &device.float_controls;
        let float_controls = spirv::FloatControls {
            signed_zero_inf_nan: controls.signed_zero_inf_nan_preserve[1],
            denorm_preserve: controls.denorm_preserve[1],
            round_even: controls.rounding_mode_rte[1],
        };
        let command = worker(request)?;
        // Mesa sets the processor to flush around vertex shaders, unless it thinks there is no SSE (u_math.c,
        // util_fpstate_set_denorms_to_zero). Other results are less exact then.
        let keeping = device
            .name
            .contains("llvmpipe")
            .then(|| isolated(request, command.clone().env("GALLIUM_OVERRIDE_CPU_CAPS", "nosse")));
        let device = isolated(request, command);
        Ok(Engine { language, translator: Translator::new(), device, keeping, float_controls })
    }

    fn words(&mut self, mut module: Module, vertex: bool) -> Result<Vec<u32>, String> {
        let target = match self.language {
            Language::Spirv => Target::Spirv(spirv::Options {
                float_controls: self.float_controls,
                transform_feedback: vertex,
                ..spirv::Options::default()
            }),
            Language::Glsl => {
                Target::Glsl(glsl::Options { transform_feedback: vertex, ..glsl::Options::default() })
            }
        };
        self.translator.optimize(&mut module, &xenoglot_opt::Options::default());
        // Software devices get the signs of constant zeros wrong.
        hide_zeros(&mut module);
        match self.translator.emit(&module, &target).map_err(|e| e.to_string())? {
            Code::Words(words) => Ok(words),
            Code::Text(text) => {
                let stage = if vertex { glslang::Stage::Vertex } else { glslang::Stage::Compute };
                glslang::compile(&text, stage).map_err(|e| e.to_string())
            }
        }
    }

    /// Runs every set of a program as a compute kernel.
    pub fn compute(&mut self, p: &TestProgram) -> Vec<Result<Observed, String>> {
        let outputs = kernel::compute(p)
            .map_err(|e| e.to_string())
            .and_then(|lifted| self.words(lifted.module, false))
            .and_then(|spirv| {
                let runs = p.sets.iter().map(|set| compute_run(p, set)).collect();
                run(&mut self.device, p, &Job::Compute(ComputeJob { spirv, entry: "main".into(), runs }))
            });
        spread(p, outputs, |o| {
            let buffer = |i: usize| o.buffers.get(i).map_or(&[][..], Vec::as_slice);
            kernel::observe(p, buffer(STATE), buffer(EVENTS))
        })
    }

    /// Runs every set of a vertex program as a vertex shader whose output registers are captured. A set in which the
    /// device flushed denormals runs again on one that is told to keep them, where there is one.
    pub fn vertex(&mut self, p: &TestProgram) -> Vec<Result<Observed, String>> {
        let job = kernel::vertex(p).map_err(|e| e.to_string()).and_then(|lifted| {
            let spirv = self.words(lifted.module, true)?;
            let runs = p.sets.iter().map(|set| vertex_run(p, set)).collect();
            Ok(Job::Vertex(VertexJob { spirv, entry: "main".into(), runs }))
        });
        let job = match job {
            Ok(job) => job,
            Err(e) => return vec![Err(e); p.sets.len()],
        };
        let may_flush = !self.float_controls.denorm_preserve && self.keeping.is_none();
        let read = |o: &RunOutput| {
            let capture = o.captures.get(&0).ok_or("nothing was captured")?;
            Ok(Observed { outputs: kernel::bytes_to_words(&capture.data), may_flush, ..Observed::default() })
        };
        let mut observed = spread(p, run(&mut self.device, p, &job), read);
        let is_flushed = |(set, o): (&Set, &Result<Observed, String>)| {
            o.as_ref().is_ok_and(|o| compare::is_flushed(p, set, o))
        };
        let flushed: Vec<bool> = p.sets.iter().zip(&observed).map(is_flushed).collect();
        if let Some(keeping) = self.keeping.as_mut().filter(|_| flushed.contains(&true)) {
            let kept = spread(p, run(keeping, p, &job), read);
            let pairs = observed.iter_mut().zip(kept).zip(flushed);
            pairs.filter(|(_, flushed)| *flushed).for_each(|((old, new), _)| *old = new);
        }
        observed
    }
}

fn run(device: &mut Isolated, p: &TestProgram, job: &Job) -> Result<Vec<RunOutput>, String> {
    let outputs = device.run(job).map_err(|e| e.to_string())?;
    if outputs.len() == p.sets.len() { Ok(outputs) } else { Err("results are missing".into()) }
}

/// Indices of the state and event buffers in a run.
const STATE: usize = 2;
const EVENTS: usize = 3;

fn compute_run(p: &TestProgram, set: &Set) -> ComputeRun {
    let storage = |binding, data| BufferBinding { set: 0, binding, kind: BufferKind::Storage, data };
    let buffers = vec![
        uniform_buffer(p, set),
        storage(INPUT_BINDING, kernel::inputs(set)),
        storage(STATE_BINDING, vec![0; kernel::state_size(p)]),
        storage(EVENT_BINDING, vec![0; kernel::event_size(p)]),
    ];
    ComputeRun { buffers, push_constants: Vec::new(), groups: [1; 3] }
}

fn vertex_run(p: &TestProgram, set: &Set) -> VertexRun {
    let inputs = set
        .inputs
        .chunks_exact(4)
        .zip(0..)
        .map(|(v, location)| VertexInput { location, values: vec![[v[0], v[1], v[2], v[3]]] });
    VertexRun {
        vertices: 1,
        inputs: inputs.collect(),
        buffers: vec![uniform_buffer(p, set)],
        push_constants: Vec::new(),
    }
}

fn uniform_buffer(p: &TestProgram, set: &Set) -> BufferBinding {
    let data = kernel::uniforms(p, set);
    BufferBinding { set: 0, binding: UNIFORM_BINDING, kind: BufferKind::Uniform, data }
}

fn spread(
    p: &TestProgram,
    outputs: Result<Vec<RunOutput>, String>,
    read: impl Fn(&RunOutput) -> Result<Observed, String>,
) -> Vec<Result<Observed, String>> {
    match outputs {
        Ok(outputs) => outputs.iter().map(read).collect(),
        Err(e) => vec![Err(e); p.sets.len()],
    }
}
