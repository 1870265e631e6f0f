//! Random frames for tests of renderers that keep memory of their own: what one operation writes, the next ones read as
//! something else.
//!
//! Colour buffers of all formats and sizes overlap in video memory, are read as textures of all formats, filled, transferred,
//! copied and written by the guest's processor; depth buffers lie in colour buffers, and vertices where copies put them.
//! Pixel states come from a pool of [`STATES`], so that few programs are compiled for many captures.

use crate::builder::{Builder, Program, f24};
use xenoglot_capture::{Capture, Info};
use xenoglot_pica::memory::{FCRAM, VRAM};
use xenoglot_pica::regs::*;
use xenoglot_pica::replay::{CommandList, Operation, Recorder, Shown};
use xenoglot_pica::transfer::{DisplayTransfer, Fill, TextureCopy};
use xenoglot_testgen::rng::Rng;

/// Pixel states of all captures.
pub const STATES: u32 = 20;
/// Bytes of main memory that captures use.
pub const FCRAM_BYTES: u32 = 1 << 18;

/// Passes on position, colour and texture coordinates.
const SHADER: &str = "
.in position
.in color
.in coordinates
.out p position
.out c color
.out t texcoord0
.proc main
    mov p, position
    mov c, color
    mov t, coordinates
    end
.end
";

/// Colour buffers: address, width, height. The third lies over half of the first; the tiles of the last are not whole.
const TARGETS: [(u32, u32, u32); 6] = [
    (VRAM, 64, 64),
    (VRAM + 0x4000, 32, 32),
    (VRAM + 0x2000, 48, 40),
    (VRAM + 0x8000, 16, 64),
    (VRAM + 0x4800, 24, 16),
    (VRAM + 0xa000, 20, 13),
];
/// Depth buffers; the last lies in the first colour buffer.
const DEPTHS: [u32; 3] = [VRAM + 0xc000, VRAM + 0x1_0000, VRAM + 0x3000];
/// Where display transfers go most of the time.
const SHOWN: u32 = FCRAM + 0x2_0000;
/// Random bytes: textures.
const DATA: u32 = FCRAM + 0x1_0000;
const DATA_BYTES: u32 = 0x8000;
/// Vertices; and where some of them are copied.
const VERTICES: u32 = FCRAM + 0x8000;
const COPIED_VERTICES: u32 = VRAM + 0x1_4000;
const VERTEX_BYTES: u32 = 40;
const VERTEX_COUNT_OF_MESH: u32 = 96;
/// Command lists, one after the other.
const LISTS: u32 = FCRAM;

/// A capture of `frames` frames. The same seed makes the same capture.
pub fn capture(seed: u64, frames: u32) -> Capture {
    capture_with(seed, frames, draw)
}

/// The same with draws of which some have gas, the early depth test or an attribute that no loader has: for renderers with all
/// of [`Chip`](xenoglot_pica::raster::Chip).
pub fn modelled(seed: u64, frames: u32) -> Capture {
    capture_with(seed, frames, draw_modelled)
}

/// Appends a random draw.
type DrawFn = fn(&mut CommandList, &mut Rng);

fn capture_with(seed: u64, frames: u32, draw: DrawFn) -> Capture {
    let mut rng = Rng::new(seed ^ 0x5eed_0000_0000);
    let mut recorder = begin(&format!("random {seed}"), &mut rng);
    for _ in 0..frames {
        for _ in 0..4 + rng.below(8) {
            step(&mut recorder, &mut rng, draw);
        }
        end_frame(&mut recorder);
    }
    recorder.finish()
}

/// A capture of one frame, in which a seed of each step decides what is done: for fuzzing, where a change of one step is to
/// leave the others as they are.
pub fn capture_of(steps: impl IntoIterator<Item = u64>) -> Capture {
    let mut recorder = begin("steps", &mut Rng::new(0));
    steps.into_iter().for_each(|seed| step(&mut recorder, &mut Rng::new(seed), draw));
    end_frame(&mut recorder);
    recorder.finish()
}

fn begin(title: &str, rng: &mut Rng) -> Recorder {
    let mut recorder = Recorder::new(Info { title: title.into(), ..Info::default() });
    recorder.memory(DATA, (0..DATA_BYTES).map(|_| rng.next_u32() as u8).collect());
    recorder.memory(VERTICES, vertices(rng));
    let mut setup = Builder::new("setup");
    setup.program(&Program::vertex(SHADER));
    recorder.list(LISTS, &setup.list);
    recorder
}

fn end_frame(recorder: &mut Recorder) {
    let size = 64 | 64 << 16;
    let (src, dst) = (VRAM, SHOWN);
    recorder.display_transfer(DisplayTransfer { src, dst, out_size: size, in_size: size, flags: 1 << 12 });
    let shown = Shown { address: SHOWN, width: 64, height: 64, format: 1, on_its_side: true };
    recorder.end_frame(shown);
}

fn vertices(rng: &mut Rng) -> Vec<u8> {
    let mut number = |from: f32, to: f32| from + (to - from) * rng.below(1 << 16) as f32 / 65536.0;
    let mut bytes = Vec::new();
    for _ in 0..VERTEX_COUNT_OF_MESH {
        let w = number(0.5, 2.0);
        let position = [number(-1.3, 1.3) * w, number(-1.3, 1.3) * w, -number(0.0, 1.0) * w, w];
        let color = [(); 4].map(|()| number(0.0, 1.0));
        let coordinates = [number(-0.5, 1.5), number(-0.5, 1.5)];
        let values = position.into_iter().chain(color).chain(coordinates);
        bytes.extend(values.flat_map(f32::to_le_bytes));
    }
    bytes
}

fn step(recorder: &mut Recorder, rng: &mut Rng, draw: DrawFn) {
    match rng.below(10) {
        0..5 => {
            let mut list = CommandList::new();
            for _ in 0..1 + rng.below(4) {
                draw(&mut list, rng);
            }
            recorder.list(LISTS, &list);
        }
        5 | 6 => recorder.fill(fill(rng)),
        7 => recorder.display_transfer(transfer(rng)),
        8 => recorder.texture_copy(copy(rng)),
        _ => {
            let (address, bytes) = (place(rng) + rng.below(0x800), 1 + rng.below(0x600));
            let bytes: Vec<u8> = (0..bytes).map(|_| rng.next_u32() as u8).collect();
            recorder.push(&Operation::Memory { address, bytes: &bytes });
        }
    }
}

/// Somewhere that something else uses, too.
fn place(rng: &mut Rng) -> u32 {
    match rng.below(8) {
        0 => DATA + rng.below(16) * 0x100,
        1 => SHOWN,
        2 => DEPTHS[rng.below(3) as usize],
        3 => COPIED_VERTICES,
        _ => TARGETS[rng.below(6) as usize].0,
    }
}

fn fill(rng: &mut Rng) -> Fill {
    let (address, width, height) = TARGETS[rng.below(6) as usize];
    let (start, mut bytes) = match rng.below(4) {
        0 => (place(rng) + rng.below(64) * 16, rng.below(64) * 16),
        1 => (place(rng) + rng.below(64), rng.below(0x1000)),
        _ => (address, width.next_multiple_of(8) * height.next_multiple_of(8) * 4),
    };
    if rng.below(3) == 0 {
        bytes /= 2;
    }
    let control = [1 << 9, 1 << 9, 0, 1 << 8, 3 << 8][rng.below(5) as usize];
    Fill { start, end: start + bytes, value: rng.next_u32(), control }
}

fn transfer(rng: &mut Rng) -> DisplayTransfer {
    let (src, width, height) = TARGETS[rng.below(6) as usize];
    let dst = if rng.percent(50) { SHOWN + rng.below(4) * 0x1000 } else { place(rng) };
    let (width, height) = (width.next_multiple_of(8), height.next_multiple_of(8));
    let out_width = if rng.percent(80) { width } else { width / 2 };
    let formats = rng.below(5) << 8 | rng.below(5) << 12;
    let rest = if rng.percent(50) { 0 } else { rng.next_u32() & 0x27 };
    let scale = [0, 0, 0, 1, 2][rng.below(5) as usize];
    let flags = formats | rest | scale << 24;
    DisplayTransfer { src, dst, out_size: out_width | height << 16, in_size: width | height << 16, flags }
}

fn copy(rng: &mut Rng) -> TextureCopy {
    if rng.below(4) == 0 {
        // The vertices, for draws to come.
        let bytes = VERTEX_COUNT_OF_MESH * VERTEX_BYTES;
        return TextureCopy { src: VERTICES, dst: COPIED_VERTICES, bytes, in_line: 0, out_line: 0, flags: 8 };
    }
    let line = |rng: &mut Rng| match rng.below(3) {
        0 => (1 + rng.below(16)) | (1 + rng.below(16)) << 16,
        _ => 0,
    };
    let (src, dst) = (place(rng), place(rng) + rng.below(8) * 16);
    let bytes = 16 + rng.below(0x800);
    TextureCopy { src, dst, bytes, in_line: line(rng), out_line: line(rng), flags: 8 }
}

fn draw(list: &mut CommandList, rng: &mut Rng) {
    prepare(list, rng);
    list.write(DRAW_ARRAYS, 1);
}

/// Gas, the early depth test, missing attributes.
fn draw_modelled(list: &mut CommandList, rng: &mut Rng) {
    prepare(list, rng);
    list.write(EARLY_DEPTH, rng.below(2)).write(EARLY_DEPTH_ENABLE, 1);
    list.write(EARLY_DEPTH_FUNCTION, rng.below(4));
    if rng.below(5) == 0 {
        list.write(EARLY_DEPTH_VALUE, rng.next_u32()).write(EARLY_DEPTH_CLEAR, 1);
    }
    match rng.below(4) {
        0 => {
            list.write(FRAGMENT_MODE, 1 | rng.below(2) << 8);
            list.write(GAS_DEPTH, rng.below(1 << 11) | rng.below(4) << 24);
        }
        1 => {
            list.write(FOG_MODE, 7 | rng.below(2) << 3);
            list.write(GAS_ATTENUATION, rng.below(1 << 14)).write(GAS_MAXIMUM, rng.below(1 << 14));
            list.write(GAS_PLANAR, rng.next_u32()).write(GAS_VIEW, rng.next_u32());
            list.write(GAS_COLOR, rng.below(512));
            list.write(GAS_LUT_PORT, 0).write(FOG_LUT_PORT, rng.below(128));
            for _ in 0..16 {
                list.write(GAS_LUT_DATA, rng.next_u32()).write(FOG_LUT_DATA, rng.next_u32());
            }
        }
        _ => {}
    }
    if rng.below(4) == 0 {
        // The coordinates are in no array.
        list.write_all(LOADER, &[0, 0x10, VERTEX_BYTES << 16 | 2 << 28]);
    }
    list.write(DRAW_ARRAYS, 1);
}

/// Everything of a draw but the draw.
fn prepare(list: &mut CommandList, rng: &mut Rng) {
    let format = state(list, rng.below(STATES));
    let (color, width, height) = TARGETS[rng.below(6) as usize];
    let half = |side: u32| f24(side as f32 / 2.0);
    list.write(VIEWPORT_HALF_WIDTH, half(width)).write(VIEWPORT_HALF_HEIGHT, half(height));
    list.write(VIEWPORT_CORNER, 0);
    let depth = DEPTHS[rng.below(3) as usize];
    list.write_all(DEPTH_ADDRESS, &[depth / 8, color / 8, width | (height - 1) << 12]);
    texture(list, rng, format);
    let copied = rng.below(6) == 0;
    list.write(ATTRIBUTE_BASE, if copied { COPIED_VERTICES } else { VERTICES } / 8);
    // Vectors of four, four and two singles.
    list.write_all(ATTRIBUTE_FORMATS, &[0x7ff, 2 << 28]);
    list.write_all(LOADER, &[0, 0x210, VERTEX_BYTES << 16 | 3 << 28]);
    let count = 3 * (1 + rng.below(4));
    list.write(FIRST_VERTEX, rng.below(VERTEX_COUNT_OF_MESH - count)).write(VERTEX_COUNT, count);
}

/// Unit 0: random bytes, or what was drawn.
fn texture(list: &mut CommandList, rng: &mut Rng, target_format: u32) {
    let side = 8 << rng.below(4);
    let (address, format) = match rng.below(3) {
        0 => (DATA + rng.below(32) * 0x80, rng.below(14)),
        1 => (place(rng) & !127, rng.below(14)),
        // As it is drawn: textures and colour buffers number formats alike.
        _ => (TARGETS[rng.below(6) as usize].0, target_format),
    };
    list.write(TEXTURE0 + 1, side << 16 | side).write(TEXTURE0 + 4, address / 8);
    list.write(TEXTURE0_FORMAT, format);
}

/// Sets a pixel state of the pool; its colour format.
fn state(list: &mut CommandList, number: u32) -> u32 {
    let mut rng = Rng::new(u64::from(number) + 0x517a_7e00);
    let format = number % 5;
    let combiner = [0x0030_0030, 0x0003_0003, 0x0000_0000][rng.below(3) as usize];
    let operation = if combiner == 0x0030_0030 { 0x1_0001 } else { 0 };
    let (tests, alpha) = (rng.percent(60), rng.percent(25));
    let stencil = if rng.percent(30) { rng.next_u32() | 1 } else { 0 };
    let depth_format = [0, 2, 3][rng.below(3) as usize];
    let compare = 1 + rng.below(7);
    let channels = if rng.percent(80) { 0xf } else { rng.below(16) };
    let depth_test = channels << 8 | u32::from(tests) | compare << 4 | u32::from(rng.percent(70)) << 12;
    let blending = if rng.percent(50) { 0x0101_0000 } else { 0x7676_0000 };
    for (register, value) in [
        (CULLING, 0),
        (DEPTH_SCALE, f24(-1.0)),
        (DEPTH_OFFSET, 0),
        (DEPTH_MODE, 1),
        (SCISSOR_MODE, 0),
        (TEXTURE_UNITS, 1),
        // Filters and levels of detail are for renderers that obey them.
        (TEXTURE0 + 2, rng.below(4) << 1 | rng.below(4) << 8 | rng.below(4) << 12 | rng.below(2) << 24),
        (TEXTURE0 + 3, rng.below(3) << 16 | rng.below(512)),
        (TEXTURE0, rng.next_u32()),
        (COMBINER0, combiner),
        (COMBINER0 + 1, 0),
        (COMBINER0 + 2, operation),
        (COMBINER0 + 4, 0),
        (LIGHTING_ENABLE, 0),
        (LIGHTING_DISABLE, 1),
        (FOG_MODE, 0),
        (FRAGMENT_MODE, u32::from(rng.percent(85)) << 8),
        (BLENDING, blending),
        (LOGIC_OP, rng.below(16)),
        (ALPHA_TEST, if alpha { 1 | 6 << 4 | 0x60 << 8 } else { 0 }),
        (STENCIL_TEST, stencil),
        (STENCIL_ACTIONS, rng.next_u32()),
        (DEPTH_TEST, depth_test),
        (COLOR_WRITE, 0xf),
        (DEPTH_WRITE, 3),
        (DEPTH_FORMAT, depth_format),
        (COLOR_FORMAT, format << 16 | [2, 1, 0, 0, 0][format as usize]),
    ] {
        list.write(register, value);
    }
    for stage in [COMBINER1, COMBINER2, COMBINER3, COMBINER4, COMBINER5] {
        list.write_all(stage, &[0x000f_000f, 0, 0, 0, 0]);
    }
    format
}

/// Bytes of video memory that captures use, for tests that compare only them.
pub const VRAM_BYTES: u32 = 0x2_0000;

/// Side of the buffers of [`alternating`].
const SIDE: u32 = 128;

/// Frames of so many draws, each of which reads what the one before it drew: from one colour buffer of 128x128 pixels to the
/// other and back, for measurements. The frame shows the first of them.
pub fn alternating(draws: u32, frames: u32) -> Capture {
    const BUFFERS: [u32; 2] = [VRAM, VRAM + SIDE * SIDE * 4];
    let mut recorder = Recorder::new(Info { title: format!("{draws} alternating draws"), ..Info::default() });
    let corner = |x: f32, y: f32| {
        let color = [1.0, 0.97, 0.94, 1.0];
        [x * 2.0 - 1.0, y * 2.0 - 1.0, -0.5, 1.0].into_iter().chain(color).chain([x * 0.9 + 0.05, y])
    };
    let corners = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (0.0, 1.0), (1.0, 0.0)];
    let vertices = corners.into_iter().flat_map(|(x, y)| corner(x, y)).flat_map(f32::to_le_bytes);
    recorder.memory(VERTICES, vertices.collect());
    let mut setup = Builder::new("setup");
    setup.program(&Program::vertex(SHADER));
    state(&mut setup.list, 0);
    let half = f24(SIDE as f32 / 2.0);
    setup.list.write(VIEWPORT_HALF_WIDTH, half).write(VIEWPORT_HALF_HEIGHT, half);
    for (register, value) in [
        (COMBINER0, 0x0030_0030),
        (COMBINER0 + 2, 0x1_0001),
        (DEPTH_TEST, 0xf << 8),
        (STENCIL_TEST, 0),
        (ALPHA_TEST, 0),
        (FRAGMENT_MODE, 1 << 8),
        (BLENDING, 0x0101_0000),
        (ATTRIBUTE_BASE, VERTICES / 8),
        (FIRST_VERTEX, 0),
        (VERTEX_COUNT, 6),
        (TEXTURE0 + 1, SIDE << 16 | SIDE),
        (TEXTURE0_FORMAT, 0),
    ] {
        setup.list.write(register, value);
    }
    setup.list.write_all(ATTRIBUTE_FORMATS, &[0x7ff, 2 << 28]);
    setup.list.write_all(LOADER, &[0, 0x210, VERTEX_BYTES << 16 | 3 << 28]);
    recorder.list(LISTS, &setup.list);
    for frame in 0..frames {
        let (start, value) = (VRAM + SIDE * SIDE * 4, 0xff80_40ff ^ frame << 12);
        recorder.fill(Fill { start, end: start + SIDE * SIDE * 4, value, control: 1 << 9 });
        let mut list = CommandList::new();
        for (target, source) in [(0, 1), (1, 0)].into_iter().cycle().take(draws as usize) {
            list.write_all(DEPTH_ADDRESS, &[DEPTHS[0] / 8, BUFFERS[target] / 8, SIDE | (SIDE - 1) << 12]);
            list.write(TEXTURE0 + 4, BUFFERS[source] / 8).write(DRAW_ARRAYS, 1);
        }
        recorder.list(LISTS, &list);
        let size = SIDE | SIDE << 16;
        recorder.display_transfer(DisplayTransfer {
            src: VRAM,
            dst: SHOWN,
            out_size: size,
            in_size: size,
            flags: 1 << 12,
        });
        let shown = Shown { address: SHOWN, width: SIDE, height: SIDE, format: 1, on_its_side: false };
        recorder.end_frame(shown);
    }
    recorder.finish()
}
