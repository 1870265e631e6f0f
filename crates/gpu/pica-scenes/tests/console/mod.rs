//! A GPU and its memory, for random captures.

use xenoglot_capture::Capture;
use xenoglot_pica::gpu::Gpu;
use xenoglot_pica::memory::{FCRAM, Memory, Regions, VRAM};
use xenoglot_pica::renderer::Renderer;
use xenoglot_pica::replay::Operation;
use xenoglot_pica_scenes::random::{FCRAM_BYTES, VRAM_BYTES};

/// A GPU with memory that is tracked.
pub struct Console<R> {
    pub gpu: Gpu<R>,
    pub memory: Regions,
}

impl<R: Renderer> Console<R> {
    /// With what a capture has in memory at first.
    pub fn new(capture: &Capture, gpu: Gpu<R>) -> Console<R> {
        let mut memory = Regions::new();
        memory.set_tracked(true);
        memory.add(VRAM, vec![0; VRAM_BYTES as usize]);
        memory.add(FCRAM, vec![0; FCRAM_BYTES as usize]);
        for block in &capture.memory {
            let place = memory.bytes_mut(block.address, block.bytes.len() as u32).unwrap();
            place.copy_from_slice(&block.bytes);
        }
        Console { gpu, memory }
    }

    /// Does an operation.
    pub fn run(&mut self, operation: &Operation) {
        operation.run(&mut self.gpu, &mut self.memory).unwrap();
    }

    /// Memory after a flush.
    pub fn flushed(&mut self) -> [&[u8]; 2] {
        self.gpu.flush(&mut self.memory);
        [VRAM, FCRAM].map(|start| self.memory.tail(start).unwrap())
    }
}

/// In which memory, and where, the first byte differs.
pub fn first_difference(a: [&[u8]; 2], b: [&[u8]; 2]) -> Option<(usize, usize)> {
    (0..2).find_map(|n| a[n].iter().zip(b[n]).position(|(a, b)| a != b).map(|at| (n, at)))
}
