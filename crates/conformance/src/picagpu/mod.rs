//! Suite of the PICA200's whole pipeline.

pub mod compare;
pub mod format;
#[cfg(feature = "host")]
pub mod host;

use crate::limit::{Emit, Item, Work};
use crate::report::{Case, Observer, Summary, Verdict};
use crate::{Error, Request, input};
use compare::Observed;
use format::{Operation, Scene};
#[cfg(feature = "host")]
use xenoglot_host::Compilation;
use xenoglot_pica::gpu::Gpu;
use xenoglot_pica::memory::{Memory, Regions};
use xenoglot_pica::raster;
use xenoglot_pica::renderer::{Recorder, Renderer};
use xenoglot_pica::report;
#[cfg(feature = "host")]
use xenoglot_pica::shader::Host;
use xenoglot_pica::shader::{EngineError, Engines, Native};

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
    memory.set_tracked(true);
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
        let _cycles = match operation {
            Operation::List { address, bytes } => gpu.run_command_list(&mut memory, *address, *bytes),
            Operation::Fill(fill) => gpu.fill(&mut memory, fill),
            Operation::Display(transfer) => gpu.display_transfer(&mut memory, transfer),
            Operation::Copy(copy) => gpu.texture_copy(&mut memory, copy),
        };
    }
    gpu.flush(&mut memory);
    // An engine or a renderer for some draws only is no cause for complaint.
    let expected = |error: &report::Error| {
        matches!(
            error,
            report::Error::Detour(_) | report::Error::Fallback { error: EngineError::Declined(_), .. }
        )
    };
    let report = gpu.take_report();
    let complaints = report.messages.iter().filter(|e| !expected(e)).map(ToString::to_string).collect();
    let interrupts = gpu.interrupts();
    let triangles = gpu.renderer().triangles.as_slice();
    look(&Observed { triangles, interrupts, memory: &memory, complaints, detours: report.detours })
}

/// The scenes at a path.
pub fn scenes(path: &std::path::Path) -> Result<Vec<Scene>, Error> {
    input::with_magic(path, format::MAGIC)?.iter().map(|(_, bytes)| format::scene(bytes)).collect()
}

/// Engines of the suite.
pub(crate) const ENGINES: &[&str] = &[
    "cpu",
    "cpu-lanes",
    "cpu-native",
    #[cfg(feature = "host")]
    "cpu-host",
    #[cfg(feature = "host")]
    "gpu",
];

type MakeEngines = dyn Fn() -> Result<Engines, Error> + Send + Sync;

/// The vertex engines of a suite's engine, for a scene each.
fn engines(request: &Request) -> Result<Box<MakeEngines>, Error> {
    Ok(match request.engine {
        "cpu-native" => Box::new(|| {
            let native = Native::new().map_err(|e| Error::Device(e.to_string()))?;
            Ok(Engines::new(vec![Box::new(native)]))
        }),
        #[cfg(feature = "host")]
        "cpu-host" => {
            let device = crate::host::device(request)?;
            Box::new(move || Ok(Engines::new(vec![Box::new(Host::new(&device, Compilation::Blocking))])))
        }
        "cpu-lanes" => Box::new(|| Ok(Engines::default())),
        _ => Box::new(|| Ok(Engines::reference())),
    })
}

/// Suite `picagpu`: every scene on the CPU renderer, shaded by an engine.
pub(crate) fn suite(request: &Request, observer: &dyn Observer) -> Result<Summary, Error> {
    #[cfg(feature = "host")]
    if request.engine == "gpu" {
        return host::suite(request, observer);
    }
    let engines = engines(request)?;
    let judge = move |item: &Item<Scene>, emit: &mut Emit| {
        let scene = &item.data;
        let verdict: Verdict = match engines() {
            Ok(engines) => run(scene, raster::Renderer::default(), engines, |got| compare::judge(scene, got)),
            Err(error) => Verdict::Failed(error.to_string()),
        };
        emit(Case { name: scene.name.clone(), verdict });
    };
    Work::plain(items(request)?, judge).run(observer)
}

/// The scenes of a request.
fn items(request: &Request) -> Result<Vec<Item<Scene>>, Error> {
    Ok(scenes(&request.path)?.into_iter().map(|scene| Item::single(scene.name.clone(), scene)).collect())
}
