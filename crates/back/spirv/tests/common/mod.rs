//! What the tests share: validation, disassembly, and a device to run on.
#![allow(dead_code)] // each test file uses its part

use xenoglot_ir::module::Module;
use xenoglot_opt::{Context, Lacks, legalize, lower_floats};
use xenoglot_spirv::{Options, Version, emit};
use xenoglot_testgen::skip;
use xenoglot_testgen::spirv_tools::{self, SpirvTools};
use xenoglot_vulkan::isolated::{Isolated, IsolatedOptions, WorkerCommand};
use xenoglot_vulkan::{ComputeJob, Job};

/// The oldest Vulkan that takes the version.
fn environment(version: Version) -> &'static str {
    match version {
        Version::V1_0 => "vulkan1.0",
        Version::V1_1 | Version::V1_2 | Version::V1_3 => "vulkan1.1",
        Version::V1_4 => "vulkan1.1spv1.4",
        Version::V1_5 => "vulkan1.2",
        Version::V1_6 => "vulkan1.3",
    }
}

/// Skips a test of listings where there is no disassembler.
#[macro_export]
macro_rules! needs_spirv_tools {
    () => {
        if xenoglot_testgen::spirv_tools::SpirvTools::find().is_none() {
            return xenoglot_testgen::skip("no library of SPIRV-Tools 2024.1 or later");
        }
    };
}

pub fn disassemble(words: &[u32]) -> String {
    match SpirvTools::find() {
        Some(tools) => tools.disassemble(words).unwrap_or_else(|e| e),
        None => "no library of SPIRV-Tools".to_owned(),
    }
}

/// Panics with the listing unless the words are valid.
pub fn validate(words: &[u32], version: Version) {
    if let Err(error) = spirv_tools::validate(words, environment(version)) {
        panic!("invalid SPIR-V {version:?}: {error}\n{}", disassemble(words));
    }
}

/// The module with what SPIR-V lacks made of what it has, and `fma` rounded once, if asked for, on hosts that do not.
pub fn lowered(module: &Module, options: &Options, fma: bool) -> Module {
    let portable = options.portable_ops;
    let floats = lower_floats::Options { fma, doubles: true, ..Default::default() };
    let arithmetic = legalize::Options {
        compares: portable,
        high_products: portable,
        byte_dots: portable,
        ..legalize::Options::RULES
    };
    let lacks = Lacks { floats, arithmetic, ..Lacks::default() };
    let mut module = module.clone();
    lower_floats::run(&mut module, &lacks);
    legalize::run(&mut module, &lacks, &mut Context::new());
    module
}

/// Lowers, emits with the options and validates.
pub fn emit_valid(module: &Module, options: &Options) -> Vec<u32> {
    let module = &lowered(module, options, false);
    let words = emit(module, options).unwrap_or_else(|e| panic!("{}: {e}", module.name));
    let version = Version::ALL[(words[1] >> 8 & 0xff) as usize];
    assert!(options.version.is_none_or(|asked| asked == version));
    validate(&words, version);
    words
}

/// Emits and validates in every version from `least` on.
pub fn emit_all(module: &Module, least: Version) {
    for version in Version::ALL.into_iter().filter(|&v| v >= least) {
        emit_valid(module, &Options::version(version));
    }
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
    Isolated::new(WorkerCommand::this_test("vulkan_worker").unwrap(), IsolatedOptions::default())
}

/// Another process with the device, for shaders that ask nothing of a subgroup: lavapipe has vectors of 4 lanes there,
/// which it compiles in half the time. Its cache on disk does not tell those from vectors of 8 lanes.
pub fn narrow_worker() -> Isolated {
    let command = WorkerCommand::this_test("vulkan_worker")
        .unwrap()
        .env("LP_NATIVE_VECTOR_WIDTH", "128")
        .env("MESA_SHADER_CACHE_DISABLE", "true");
    Isolated::new(command, IsolatedOptions::default())
}

/// Runs a compute shader on storage buffers `(binding, words)` of set 0; the buffers afterwards.
pub fn run(
    device: &mut Isolated,
    spirv: Vec<u32>,
    buffers: &[(u32, Vec<u32>)],
    groups: u32,
) -> Vec<Vec<u32>> {
    let job = Job::Compute(ComputeJob::on_words(spirv.clone(), buffers, groups));
    let outputs = device.run(&job).unwrap_or_else(|e| panic!("{e}\n{}", disassemble(&spirv)));
    outputs[0].words()
}
