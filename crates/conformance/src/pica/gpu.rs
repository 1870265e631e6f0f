//! The `spirv` and `glsl` engines: translated modules on a Vulkan device, in a worker process.

use super::compare::{self, Observed};
use super::format::{Set, TestProgram};
use super::kernel;
use crate::vulkan::{self, Language, Runner};
use crate::{Error, Request};
use std::time::Duration;
use xenoglot_ir::{Module, Stage};
use xenoglot_pica_shader::lift::hide_zeros;
use xenoglot_pica_shader::lift::layout::*;
use xenoglot_vulkan::isolated::{Isolated, WorkerCommand};
use xenoglot_vulkan::{
    BufferBinding, BufferKind, ComputeJob, ComputeRun, DeviceInfo, Job, RunOutput, VertexInput, VertexJob,
    VertexRun, glslang,
};

/// The variable that lavapipe reads the bits of its vectors from.
const VECTOR_WIDTH: &str = "LP_NATIVE_VECTOR_WIDTH";

/// A device with a translator: one per thread.
pub struct Engine {
    runner: Runner,
    /// lavapipe, told to keep denormals in vertex shaders.
    keeping: Option<Isolated>,
}

impl Engine {
    /// An engine on `device`, which was found for the same request.
    pub fn new(language: Language, request: &Request, device: &DeviceInfo) -> Result<Engine, Error> {
        // Mesa sets the processor to flush around vertex shaders, unless it thinks there is no SSE (u_math.c,
        // util_fpstate_set_denorms_to_zero). Other results are less exact then.
        let lavapipe = device.name.contains("llvmpipe");
        // One invocation runs at a time, and nothing of a subgroup is asked for: vectors of 4 lanes take lavapipe half as
        // long to compile as those of 8. Its cache on disk does not tell the two apart and crashes on the wrong one.
        let narrow = |command: WorkerCommand| match std::env::var_os(VECTOR_WIDTH) {
            Some(_) => command,
            None => command.env(VECTOR_WIDTH, "128").env("MESA_SHADER_CACHE_DISABLE", "true"),
        };
        let request = &Request { worker: Some(narrow(vulkan::worker(request)?)), ..request.clone() };
        let nosse = |command: WorkerCommand| command.env("GALLIUM_OVERRIDE_CPU_CAPS", "nosse");
        let keeping = match lavapipe {
            true => Some(vulkan::isolated(request, nosse(vulkan::worker(request)?))),
            false => None,
        };
        Ok(Engine { runner: Runner::new(language, request, device)?, keeping })
    }

    /// The time of each job from now on.
    pub fn set_limit(&mut self, limit: Duration) {
        self.runner.set_limit(limit);
        if let Some(keeping) = &mut self.keeping {
            keeping.set_timeout(limit);
        }
    }

    fn words(&mut self, mut module: Module) -> Result<Vec<u32>, String> {
        let stage = match module.stage {
            Stage::Vertex => glslang::Stage::Vertex,
            _ => glslang::Stage::Compute,
        };
        // Software devices get the signs of constant zeros wrong.
        self.runner.compile_edited(&mut module, stage, hide_zeros)
    }

    /// Runs every set of a program as a compute kernel.
    pub fn compute(&mut self, p: &TestProgram) -> Vec<Result<Observed, String>> {
        let outputs = kernel::compute(p)
            .map_err(|e| e.to_string())
            .and_then(|lifted| self.words(lifted.module))
            .and_then(|spirv| {
                let runs = p.sets.iter().map(|set| compute_run(p, set)).collect();
                run(
                    &mut self.runner.device,
                    p,
                    &Job::Compute(ComputeJob { spirv, entry: "main".into(), runs }),
                )
            });
        spread(p, outputs, |o| {
            let buffer = |i: usize| o.buffers.get(i).map_or(&[][..], Vec::as_slice);
            kernel::observe(p, buffer(STATE), buffer(EVENTS))
        })
    }

    /// Runs every set of a vertex program as a vertex shader whose output registers are captured. A set in which the
    /// device flushed denormals runs again on one that is told to keep them, where there is one.
    pub fn vertex(&mut self, p: &TestProgram) -> Vec<Result<Observed, String>> {
        let job = kernel::vertex(p).map_err(|e| e.to_string()).and_then(|mut lifted| {
            lifted.module.capture_outputs();
            let spirv = self.words(lifted.module)?;
            let runs = p.sets.iter().map(|set| vertex_run(p, set)).collect();
            Ok(Job::Vertex(VertexJob { spirv, entry: "main".into(), runs }))
        });
        let job = match job {
            Ok(job) => job,
            Err(e) => return vec![Err(e); p.sets.len()],
        };
        let may_flush = !self.runner.host.floats.controls.denorm_preserve && self.keeping.is_none();
        let read = |o: &RunOutput| {
            let capture = o.captures.get(&0).ok_or("nothing was captured")?;
            Ok(Observed { outputs: kernel::bytes_to_words(&capture.data), may_flush, ..Observed::default() })
        };
        let mut observed = spread(p, run(&mut self.runner.device, p, &job), read);
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
