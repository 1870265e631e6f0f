//! Recording scenes from a running emulator.

use crate::container::{Expectation, Scene};
use crate::gpu::Gpu;
use crate::memory::TextureMemory;
use crate::registers::Registers;
use crate::results::RESULTS;

/// Records what a [`Gpu`] is told, from a reset on, as a scene that plays the same.
///
/// Texture memory and registers are those of the last frame, as a scene file has them once. Commands written to their own
/// ports become packed words of one command each.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    stream: Vec<u32>,
    /// Words that a command at its own port still misses.
    missing: u8,
}

impl Recorder {
    /// Nothing yet.
    pub fn new() -> Recorder {
        Recorder::default()
    }

    /// A word was written to GXFIFO.
    pub fn fifo(&mut self, word: u32) {
        self.stream.push(word);
    }

    /// A parameter was written to a command's own port.
    pub fn port(&mut self, command: u8, param: u32) {
        let params = crate::geometry::command::info(command).params;
        if self.missing == 0 {
            self.stream.push(command.into());
            self.missing = params;
        }
        if params > 0 {
            self.stream.push(param);
            self.missing = self.missing.saturating_sub(1);
        }
    }

    /// The scene, with all results of the frame that `gpu` shows.
    pub fn finish(self, meta: String, gpu: &Gpu) -> Scene {
        let expected = RESULTS
            .iter()
            .map(|result| Expectation { tag: result.tag, bytes: (result.make)(gpu, gpu.renderer()) })
            .collect();
        Scene { meta, stream: self.stream, expected, ..snapshot(gpu.registers(), &gpu.memory) }
    }
}

/// A scene of registers and memory, without commands.
fn snapshot(registers: &Registers, memory: &TextureMemory) -> Scene {
    Scene {
        registers: registers.clone(),
        textures: vec![(0, memory.textures().to_vec())],
        palettes: vec![(0, memory.palettes())],
        ..Scene::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::Limits;
    use crate::play::play;

    #[test]
    fn a_recording_plays_the_same() {
        let mut gpu = Gpu::default();
        let mut recorder = Recorder::new();
        gpu.memory.write_textures(5, &[1, 2, 3]);
        gpu.set_registers(Registers { clear_color: 0x1f_7c1f, ..Registers::default() });
        let commands: [(u8, &[u32]); 10] = [
            (0x60, &[255 << 16 | 191 << 24]),
            (0x29, &[0x1f00c0]),
            (0x40, &[0]),
            (0x20, &[0x7fff]),
            (0x23, &[0xf000_f000, 0]),
            (0x23, &[0xf000_1000, 0]),
            (0x23, &[0x1000_0000, 0]),
            (0x41, &[0]),
            (0x11, &[0]),
            (0x50, &[1]),
        ];
        for (number, params) in commands {
            for &param in params {
                recorder.port(number, param);
                gpu.write_port(number, param).unwrap();
            }
        }
        gpu.run(u64::MAX);
        gpu.vblank();
        assert_eq!(gpu.polygons().polygons.len(), 1);
        let bytes = recorder.finish("name=test".into(), &gpu).to_bytes();
        let scene = Scene::from_bytes(&bytes, &Limits::default()).unwrap();
        let played = play(&scene, None, Gpu::default()).unwrap();
        assert_eq!(played.differences(&scene), Vec::<String>::new());
    }
}
