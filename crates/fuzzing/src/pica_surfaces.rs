//! Frames of the PICA200 that stay on the host's GPU.

use std::sync::{Arc, OnceLock};
use xenoglot_capture::Capture;
use xenoglot_host::{Compilation, Device, DeviceOptions};
use xenoglot_pica::gpu::Gpu;
use xenoglot_pica::host::{HostRenderer, Programs};
use xenoglot_pica::memory::{FCRAM, Memory, Regions, VRAM};
use xenoglot_pica::raster;
use xenoglot_pica::renderer::Renderer;
use xenoglot_pica::replay::Operation;
use xenoglot_pica_scenes::random;
use xenoglot_testgen::rng::Rng;

/// Steps of a run.
const MAX_STEPS: usize = 48;

/// The programs of a device on which colours are the processor's.
fn programs() -> Option<&'static Arc<Programs>> {
    static PROGRAMS: OnceLock<Option<Arc<Programs>>> = OnceLock::new();
    let open = || {
        let device = Device::open(&DeviceOptions::from_env()).ok()?;
        let is_exact = device.name().contains("llvmpipe");
        is_exact.then(|| Arc::new(Programs::new(&device, Compilation::Blocking)))
    };
    PROGRAMS.get_or_init(open).as_ref()
}

/// Memory after a capture.
fn play<R: Renderer>(capture: &Capture, renderer: R, tracked: bool) -> Regions {
    let mut memory = Regions::new();
    memory.set_tracked(tracked);
    memory.add(VRAM, vec![0; random::VRAM_BYTES as usize]);
    memory.add(FCRAM, vec![0; random::FCRAM_BYTES as usize]);
    let mut gpu = Gpu::new(renderer);
    for block in &capture.memory {
        let operation = Operation::Memory { address: block.address, bytes: &block.bytes };
        operation.run(&mut gpu, &mut memory).expect("the capture's own memory");
    }
    for op in capture.ops.iter() {
        let operation = Operation::decode(&op).expect("an operation that was encoded");
        // Writes outside memory are refused.
        let _ = operation.run(&mut gpu, &mut memory);
    }
    gpu.flush(&mut memory);
    let report = gpu.take_report();
    assert_eq!(report.errors, 0, "{:?}", report.messages);
    memory
}

/// Draws, fills, transfers, copies and writes in any order leave in guest memory what they leave on the processor, whether it
/// is written when somebody reads it or after each call. Without a device nothing is checked.
pub fn pica_surfaces(data: &[u8]) {
    let Some(programs) = programs() else { return };
    let steps = data.as_chunks::<8>().0.iter().take(MAX_STEPS).map(|seed| u64::from_le_bytes(*seed));
    let capture = random::capture_of(steps);
    let expected = play(&capture, raster::Renderer::new(), true);
    for tracked in [true, false] {
        let renderer = HostRenderer::new(Arc::clone(programs)).expect("a device with memory");
        let got = play(&capture, renderer, tracked);
        for start in [VRAM, FCRAM] {
            assert!(expected.tail(start) == got.tail(start), "memory differs, tracked: {tracked}");
        }
    }
}

/// Steps to start from.
pub fn steps() -> Vec<Vec<u8>> {
    let mut rng = Rng::new(3);
    (1..16).map(|count| (0..count).flat_map(|_| rng.next_u64().to_le_bytes()).collect()).collect()
}
