//! Suite of the PICA200's whole pipeline.

pub mod compare;
pub mod format;
#[cfg(feature = "host")]
pub mod host;

use crate::report::{Case, Observer, Summary, Verdict};
use crate::{Error, Request, input};
use compare::Observed;
use format::{Operation, Scene};
use rayon::prelude::*;
use xenoglot_pica::gpu::Gpu;
use xenoglot_pica::memory::{Memory, Regions};
use xenoglot_pica::raster;
use xenoglot_pica::renderer::{Recorder, Renderer};
use xenoglot_pica::shader::{Engines, Native};

/// Main memory the scenes need.
const FCRAM_BYTES: u32 = 8 << 20;

/// Runs a scene on a renderer and looks at what came of it.
pub fn run<R: Renderer, T>(
    scene: &Scene,
    renderer: R,
    engines: Engines,
    look: impl FnOnce(&Observed) -> T,
) -> T {
    let mut memory = Regions::console(FCRAM_BYTES);
    for (address, bytes) in &scene.memory {
        if let Some(place) = memory.bytes_mut(*address, bytes.len() as u32) {
            place.copy_from_slice(bytes);
        }
    }
    let recorder = Recorder { inner: renderer, triangles: Vec::new() };
    let mut gpu = Gpu::with_engines(recorder, engines);
    for &(register, value) in &scene.registers {
        gpu.registers_mut().set(register, value);
    }
    for operation in &scene.operations {
        match operation {
            Operation::List { address, bytes } => gpu.run_command_list(&mut memory, *address, *bytes),
            Operation::Fill(fill) => gpu.fill(&mut memory, fill),
            Operation::Display(transfer) => gpu.display_transfer(&mut memory, transfer),
            Operation::Copy(copy) => gpu.texture_copy(&mut memory, copy),
        }
    }
    let complaints = gpu.take_report().messages.iter().map(ToString::to_string).collect();
    let interrupts = gpu.interrupts();
    let triangles = gpu.renderer().triangles.as_slice();
    look(&Observed { triangles, interrupts, memory: &memory, complaints })
}

/// The scenes at a path.
pub fn scenes(path: &std::path::Path) -> Result<Vec<Scene>, Error> {
    input::with_magic(path, format::MAGIC)?.iter().map(|(_, bytes)| format::scene(bytes)).collect()
}

/// Engines of the suite.
pub(crate) const ENGINES: &[&str] = &[
    "cpu",
    "cpu-native",
    #[cfg(feature = "host")]
    "gpu",
];

/// The vertex engines of a suite's engine.
fn engines(name: &str) -> Result<Engines, Error> {
    match name {
        "cpu-native" => {
            let native = Native::new().map_err(|e| Error::Device(e.to_string()))?;
            Ok(Engines::new(vec![Box::new(native)]))
        }
        _ => Ok(Engines::default()),
    }
}

/// Suite `picagpu`: every scene on the CPU renderer, shaded by an engine.
pub(crate) fn suite(request: &Request, observer: &dyn Observer) -> Result<Summary, Error> {
    #[cfg(feature = "host")]
    if request.engine == "gpu" {
        return host::suite(request, observer);
    }
    let scenes = scenes(&request.path)?;
    observer.total(scenes.len());
    // An error would come with the first scene.
    engines(request.engine)?;
    let case = |scene: &Scene| {
        let engines = engines(request.engine).unwrap_or_default();
        let verdict: Verdict =
            run(scene, raster::Renderer::default(), engines, |got| compare::judge(scene, got));
        let case = Case { name: scene.name.clone(), verdict };
        observer.case(&case);
        case
    };
    let cases: Vec<Case> = scenes.par_iter().map(case).collect();
    Ok(Summary::of(&cases))
}
