//! Save states: a GPU that goes on from another's state draws what that one draws.

use xenoglot_capture::Capture;
use xenoglot_pica::gpu::Gpu;
use xenoglot_pica::memory::{FCRAM, Memory, Regions, VRAM};
use xenoglot_pica::raster::{self, Code};
use xenoglot_pica::renderer::Renderer;
use xenoglot_pica::replay::Operation;
use xenoglot_pica::shader::{Engines, Native};
use xenoglot_pica_scenes::{Params, SCENES, random};

const FCRAM_BYTES: u32 = 48 << 20;

/// A GPU and its memory.
struct Console<R> {
    gpu: Gpu<R>,
    memory: Regions,
}

impl<R: Renderer> Console<R> {
    fn new(capture: &Capture, renderer: R, engines: Engines) -> Console<R> {
        let mut memory = Regions::console(FCRAM_BYTES);
        for block in &capture.memory {
            let place = memory.bytes_mut(block.address, block.bytes.len() as u32).unwrap();
            place.copy_from_slice(&block.bytes);
        }
        Console { gpu: Gpu::with_engines(renderer, engines), memory }
    }

    fn run(&mut self, operation: &Operation) {
        operation.run(&mut self.gpu, &mut self.memory).unwrap();
    }

    fn save(&mut self) -> (Vec<u8>, Regions) {
        let state = self.gpu.save_state(&mut self.memory);
        (state, self.memory.clone())
    }

    fn load(&mut self, (state, memory): (Vec<u8>, Regions)) {
        self.gpu.load_state(&state).unwrap();
        self.memory = memory;
    }

    fn vram(&self) -> &[u8] {
        self.memory.tail(VRAM).unwrap()
    }
}

/// Plays a capture; before each `every`-th command list, the console beside it goes on from the state of the moment.
fn compare<R: Renderer>(name: &str, capture: &Capture, every: usize, other: R, engines: Engines) -> usize {
    let mut one = Console::new(capture, raster::Renderer::new(), Engines::default());
    let mut other = Console::new(capture, other, engines);
    // What it has is not what it needs.
    other.memory.tail_mut(VRAM).unwrap().fill(0x55);
    let (mut lists, mut states) = (0, 0);
    for op in capture.ops.iter() {
        let operation = Operation::decode(&op).unwrap();
        if matches!(operation, Operation::List { .. }) {
            if lists % every == 0 {
                other.load(one.save());
                states += 1;
            }
            lists += 1;
        }
        one.run(&operation);
        if states > 0 {
            other.run(&operation);
            assert!(one.vram() == other.vram(), "{name}: other pixels after list {lists}");
        }
    }
    assert!(one.memory.tail(FCRAM) == other.memory.tail(FCRAM), "{name}: other frames");
    assert_eq!(one.gpu.interrupts(), other.gpu.interrupts());
    assert_eq!(one.save().0, other.save().0, "{name}: another state at the end");
    states
}

/// Portable code and native shaders go on from states of AVX2 and the interpreter, in the scenes (with geometry shaders,
/// tables and fixed attributes) at each list, and in random captures at every tenth.
#[test]
fn other_renderers_go_on_from_a_state() {
    let portable = || {
        let options = raster::Options { code: Code::Portable, ..raster::Options::default() };
        (raster::Renderer::with_options(options), Engines::new(vec![Box::new(Native::new().unwrap())]))
    };
    let mut states = 0;
    for scene in SCENES {
        let capture = scene.build(Params { frames: Some(3), count: None });
        let (renderer, engines) = portable();
        states += compare(scene.name, &capture, 1, renderer, engines);
    }
    for seed in 0..20 {
        let (renderer, engines) = portable();
        states += compare(&format!("random {seed}"), &random::capture(seed, 6), 10, renderer, engines);
    }
    println!("{states} states");
    assert!(states > 60);
}
