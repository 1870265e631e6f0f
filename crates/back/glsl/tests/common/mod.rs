//! What the tests share: compiling, a device to run on, small modules.
#![allow(dead_code)] // each test file uses its part

use std::time::Duration;
use xenoglot_glsl::{Error, Options, Target, emit};
use xenoglot_ir::module::{
    Access, Builtin, Count, Direction, Interpolation, OutOfBounds, ResourceData, ResourceKind, Semantic,
    VarData,
};
use xenoglot_ir::{Kind, Module, Stage, Type};
use xenoglot_opt::{Context, Lacks, legalize};
use xenoglot_testgen::skip;
use xenoglot_vulkan::glslang;
use xenoglot_vulkan::isolated::{Isolated, IsolatedOptions, WorkerCommand};
use xenoglot_vulkan::{ComputeJob, DeviceOptions, Job};

/// Whether `glslangValidator` is there; prints a notice if not.
pub fn compiler() -> bool {
    let there = glslang::available();
    if !there {
        skip("glslangValidator is not installed");
    }
    there
}

pub fn stage(module: &Module) -> glslang::Stage {
    match module.stage {
        Stage::Vertex => glslang::Stage::Vertex,
        Stage::Fragment => glslang::Stage::Fragment,
        _ => glslang::Stage::Compute,
    }
}

/// The module with what GLSL lacks made of what it has.
pub fn lowered(module: &Module, options: &Options) -> Module {
    let is_old = options.target == Target::Gl330;
    let arithmetic = legalize::Options {
        compares: true,
        high_products: is_old,
        bit_counts: is_old,
        byte_dots: true,
        ..legalize::Options::RULES
    };
    let mut module = module.clone();
    legalize::run(&mut module, &Lacks { arithmetic, ..Lacks::default() }, &mut Context::new());
    module
}

/// Writes the module, lowered, and has it checked.
pub fn accepted(module: &Module, options: &Options) -> Result<String, Error> {
    let text = emit(&lowered(module, options), options)?;
    let result = match options.target {
        Target::Vulkan450 => glslang::compile(&text, stage(module)).map(|_| ()),
        _ => glslang::validate(&text, stage(module)),
    };
    if let Err(e) = result {
        panic!("{} {:?}: {e}\n{text}", module.name, options.target);
    }
    Ok(text)
}

pub fn resource(name: &str, kind: ResourceKind, binding: u32, oob: OutOfBounds) -> ResourceData {
    ResourceData { name: name.to_owned(), kind, set: 0, binding, count: Count::One, oob }
}

pub fn storage(name: &str, binding: u32) -> ResourceData {
    let kind = ResourceKind::StorageBuffer { access: Access::ReadWrite };
    resource(name, kind, binding, OutOfBounds::Undefined)
}

pub fn builtin(name: &str, direction: Direction, ty: Type, builtin: Builtin) -> VarData {
    VarData {
        name: name.to_owned(),
        direction,
        ty,
        semantic: Semantic::Builtin(builtin),
        interpolation: Interpolation::Smooth,
        array: None,
        inner: None,
        stream: 0,
    }
}

pub fn located(name: &str, direction: Direction, ty: Type, location: u32) -> VarData {
    VarData {
        name: name.to_owned(),
        direction,
        ty,
        semantic: Semantic::Location { location, component: 0 },
        interpolation: Interpolation::Smooth,
        array: None,
        inner: None,
        stream: 0,
    }
}

pub fn invocation_id(module: &mut Module) -> xenoglot_ir::Var {
    let ty = Type::new(Kind::I32, 3).unwrap();
    module.vars.push(builtin("id", Direction::Input, ty, Builtin::GlobalInvocationId))
}

/// A device in a worker process that runs the test `vulkan_worker` of this binary; `None`, with a notice, if there
/// is none.
pub fn device() -> Option<Isolated> {
    match xenoglot_vulkan::Device::list() {
        Ok(list) if !list.is_empty() => Some(worker()),
        _ => {
            skip("no Vulkan device");
            None
        }
    }
}

fn worker() -> Isolated {
    isolated(WorkerCommand::this_test("vulkan_worker").unwrap())
}

/// Another process with the device, for shaders that ask nothing of a subgroup: lavapipe has vectors of 4 lanes there,
/// which it compiles in half the time. Its cache on disk does not tell those from vectors of 8 lanes.
pub fn narrow_worker() -> Isolated {
    isolated(
        WorkerCommand::this_test("vulkan_worker")
            .unwrap()
            .env("LP_NATIVE_VECTOR_WIDTH", "128")
            .env("MESA_SHADER_CACHE_DISABLE", "true"),
    )
}

fn isolated(command: WorkerCommand) -> Isolated {
    // A busy machine's software device takes its time to compile.
    let device = DeviceOptions { timeout_ms: 60_000, ..DeviceOptions::from_env() };
    Isolated::new(command, IsolatedOptions { device, timeout: Duration::from_secs(120) })
}

/// Compiles and runs a compute shader on storage buffers `(binding, words)` of set 0; the buffers afterwards.
pub fn run(device: &mut Isolated, text: &str, buffers: &[(u32, Vec<u32>)]) -> Vec<Vec<u32>> {
    let spirv = glslang::compile(text, glslang::Stage::Compute).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let job = Job::Compute(ComputeJob::on_words(spirv, buffers, 1));
    let outputs = device.run(&job).unwrap_or_else(|e| panic!("{e}\n{text}"));
    outputs[0].words()
}
