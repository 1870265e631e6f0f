//! Random scenes for tests of engines and renderers, each of one feature of the chip: the features of the scenes in
//! `vectors/picagpu`, with states, vertices and tables drawn anew for each seed.
//!
//! A scene is a frame of a few draws into a colour buffer of 64x64 pixels, which may be followed by fills, transfers and copies, in
//! memory of the size of [`random`](crate::random)'s captures. A feature is a row of the table in its part's module: its function
//! sets the registers that it is about and says what is drawn and how. All other state stays as `Scene::new` sets it. The last
//! feature, "several", takes one of each of three tables.

mod engines;
mod mesh;
mod pixel;
mod shading;
mod vertex;

use crate::builder::{Builder, Program, f24};
use crate::random::VRAM_BYTES;
use mesh::{Mesh, Order};
use xenoglot_capture::{Capture, Info};
use xenoglot_pica::memory::{FCRAM, VRAM};
use xenoglot_pica::regs::*;
use xenoglot_pica::replay::{CommandList, Operation, Recorder, Shown};
use xenoglot_testgen::rng::Rng;

/// Side of the colour buffer, in pixels.
const SIDE: u32 = 64;
const COLOR: u32 = VRAM;
const DEPTH: u32 = VRAM + 0x8000;
/// A colour buffer of the same size beside that of the frame.
const OTHER: u32 = VRAM + 0x1_0000;

/// Command lists.
const LISTS: u32 = FCRAM;
/// A list that another one jumps to.
const NEXT_LIST: u32 = FCRAM + 0xf000;
const VERTICES: u32 = FCRAM + 0x1_0000;
const INDICES: u32 = FCRAM + 0x1_8000;
/// Random bytes: textures.
const DATA: u32 = FCRAM + 0x2_0000;
const DATA_BYTES: u32 = 0x1_0000;
/// Where transfers and copies go.
const SHOWN: u32 = FCRAM + 0x3_0000;

const PASS: &str = include_str!("../../shaders/features/pass.v.pica");
/// The output map of [`PASS`]: position; quaternion; colour; coordinates 0 and 1; coordinates 2 and the third one of coordinates 0;
/// view.
const OUTPUTS: [u32; 6] = [0x0302_0100, 0x0706_0504, 0x0b0a_0908, 0x0f0e_0d0c, 0x1f10_1716, 0x1f14_1312];

/// A name, and the function that makes a scene of the feature.
type Feature = (&'static str, fn(&mut Scene));

/// All features, a table for each part of the chip.
const FEATURES: [&[Feature]; 5] =
    [pixel::FEATURES, shading::FEATURES, vertex::FEATURES, engines::FEATURES, &[("several", several)]];

/// Sets a feature of each of three parts.
fn several(scene: &mut Scene) {
    for features in [pixel::FEATURES, shading::FEATURES, vertex::FEATURES] {
        scene.one_of(features).1(scene);
    }
}

/// How many features there are.
pub fn count() -> u64 {
    FEATURES.iter().map(|features| features.len() as u64).sum()
}

/// A scene of feature `seed` modulo [`count`], and the feature's name. The same seed makes the same scene.
pub fn capture(seed: u64) -> (&'static str, Capture) {
    let features = FEATURES.concat();
    let (name, feature) = features[(seed % features.len() as u64) as usize];
    let mut scene = Scene::new(seed);
    feature(&mut scene);
    (name, scene.finish(&format!("{name}, {seed}")))
}

/// A word of fields of four bits, the first one the highest.
fn nibbles(fields: impl IntoIterator<Item = u32>) -> u32 {
    fields.into_iter().fold(0, |word, field| word << 4 | field)
}

/// A scene that is being made.
struct Scene {
    rng: Rng,
    /// Register writes before the next draw.
    list: CommandList,
    /// Register writes after each draw, in its list.
    tail: CommandList,
    mesh: Mesh,
    /// How many draws; each has its own vertices.
    draws: u32,
    /// Done before each draw.
    each: fn(&mut Scene),
    /// Memory at the start.
    memory: Vec<(u32, Vec<u8>)>,
    /// Operations after the draws.
    after: Vec<Operation<'static>>,
}

impl Scene {
    /// Three draws of colours into RGBA8, nothing tested or blended.
    fn new(seed: u64) -> Scene {
        let mut setup = Builder::new("features");
        setup.program(&Program::vertex(PASS));
        let mut list = setup.list;
        let half = f24(SIDE as f32 / 2.0);
        list.write(VIEWPORT_HALF_WIDTH, half).write(VIEWPORT_HALF_HEIGHT, half).write(VIEWPORT_CORNER, 0);
        list.write_all(DEPTH_ADDRESS, &[DEPTH / 8, COLOR / 8, SIDE | (SIDE - 1) << 12 | 1 << 24]);
        list.write(OUTPUT_COUNT, 6).write_all(OUTPUT_MAP, &OUTPUTS);
        list.write(COLOR_FORMAT, 2).write(DEPTH_FORMAT, 3).write(CULLING, 0).write(PRIMITIVES, 0);
        list.write(DEPTH_TEST, 0xf << 8).write_all(COLOR_READ, &[0xf, 0xf, 3, 3]);
        Scene {
            rng: Rng::new(seed ^ 0xfea7_0000_0000),
            list,
            tail: CommandList::new(),
            mesh: Mesh::default(),
            draws: 3,
            each: |_| {},
            memory: Vec::new(),
            after: Vec::new(),
        }
    }

    /// A number from `low` to `high`.
    fn number(&mut self, low: f32, high: f32) -> f32 {
        mesh::number(&mut self.rng, low, high)
    }

    /// One of some values.
    fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.rng.below(values.len() as u32) as usize]
    }

    /// Random words, of which the bits in `mask` may be set.
    fn words(&mut self, count: u32, mask: u32) -> Vec<u32> {
        (0..count).map(|_| self.rng.next_u32() & mask).collect()
    }

    fn finish(mut self, title: &str) -> Capture {
        let mut recorder = Recorder::new(Info { title: title.into(), ..Info::default() });
        for (address, count) in [(DATA, DATA_BYTES), (VRAM, VRAM_BYTES)] {
            recorder.memory(address, (0..count).map(|_| self.rng.next_u32() as u8).collect());
        }
        self.memory.drain(..).for_each(|(address, bytes)| recorder.memory(address, bytes));
        for _ in 0..self.draws {
            (self.each)(&mut self);
            self.draw(&mut recorder);
        }
        self.after.iter().for_each(|operation| recorder.push(operation));
        let shown = Shown { address: COLOR, width: SIDE, height: SIDE, format: 0, on_its_side: true };
        recorder.end_frame(shown);
        recorder.finish()
    }

    /// Writes vertices to memory and draws them.
    fn draw(&mut self, recorder: &mut Recorder) {
        let vertices = self.mesh.vertices(&mut self.rng);
        let Mesh { layout, order, .. } = &self.mesh;
        if !matches!(order, Order::Immediate) {
            for (address, bytes) in layout.arrays(&vertices) {
                recorder.push(&Operation::Memory { address, bytes: &bytes });
            }
            self.list.write(ATTRIBUTE_BASE, FCRAM / 8);
            layout.write(&mut self.list);
        }
        match order {
            Order::Immediate => mesh::send(&mut self.list, &vertices),
            Order::Arrays(first) => {
                let count = vertices.len() as u32 - first;
                self.list.write(FIRST_VERTEX, *first).write(VERTEX_COUNT, count).write(DRAW_ARRAYS, 1);
            }
            Order::Bytes(indices) => {
                let bytes: Vec<u8> = indices.iter().map(|&index| index as u8).collect();
                recorder.push(&Operation::Memory { address: INDICES, bytes: &bytes });
                self.list.write(INDEX_ARRAY, INDICES - FCRAM);
                self.list.write(VERTEX_COUNT, indices.len() as u32).write(DRAW_INDEXED, 1);
            }
            Order::Halves(indices) => {
                let bytes: Vec<u8> = indices.iter().flat_map(|index| index.to_le_bytes()).collect();
                recorder.push(&Operation::Memory { address: INDICES, bytes: &bytes });
                self.list.write(INDEX_ARRAY, (INDICES - FCRAM) | 1 << 31);
                self.list.write(VERTEX_COUNT, indices.len() as u32).write(DRAW_INDEXED, 1);
            }
        }
        self.list.append(&self.tail);
        recorder.list(LISTS, &self.list);
        self.list.clear();
    }
}
