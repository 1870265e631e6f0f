//! How an emulator embeds the GPU: memory, registers, a command list, and the frame that comes back.
//!
//! `cargo run -p xenoglot-pica --example embed_pica` draws a triangle and prints it.

use xenoglot_pica::gpu::Gpu;
use xenoglot_pica::memory::{FCRAM, Memory, Regions, VRAM};
use xenoglot_pica::raster::Renderer;
use xenoglot_pica::regs::*;
use xenoglot_pica::transfer::{DisplayTransfer, Fill};

const SIDE: u32 = 16;
const VERTICES: u32 = FCRAM + 0x1000;
const FRAME: u32 = FCRAM + 0x2000;
/// `mov o0, v0; end` with a descriptor that takes and writes all components: what a game uploads.
const CODE: [u32; 2] = [0x4c00_0000, 0x8800_0000];
const DESCRIPTOR: u32 = 0x0000_036f;
/// 8 as float24: half of the viewport.
const HALF: u32 = 66 << 16;

#[rustfmt::skip]
const LIST: &[(u32, u32)] = &[
    (VIEWPORT_HALF_WIDTH, HALF), (VIEWPORT_HALF_HEIGHT, HALF),
    (COLOR_ADDRESS, VRAM / 8), (FRAMEBUFFER_SIZE, SIDE | (SIDE - 1) << 12),
    // All channels are written, without a test; source * 1 + destination * 0.
    (COLOR_WRITE, 0xf), (DEPTH_TEST, 0xf << 8), (FRAGMENT_MODE, 1 << 8), (BLENDING, 0x0101_0000),
    // The first combiner stage gives its constant, a b g r; the others pass it on.
    (COMBINER0, 0x000e_000e), (COMBINER0 + 3, 0xff40_a0ff), (COMBINER1, 0x000f_000f),
    (COMBINER2, 0x000f_000f), (COMBINER3, 0x000f_000f), (COMBINER4, 0x000f_000f), (COMBINER5, 0x000f_000f),
    (LIGHTING_DISABLE, 1),
    // The vertex shader; its output o0 is the position.
    (VERTEX_CODE_DATA, CODE[0]), (VERTEX_CODE_DATA, CODE[1]), (VERTEX_DESCRIPTOR_DATA, DESCRIPTOR),
    (VERTEX_OUTPUT_MASK, 1), (OUTPUT_COUNT, 1), (OUTPUT_MAP, 0x0302_0100), (VERTEX_PERMUTATION, 0x7654_3210),
    // One attribute of three floats, 12 bytes from vertex to vertex.
    (ATTRIBUTE_BASE, VERTICES / 8), (ATTRIBUTE_FORMATS, 0b1011), (LOADER + 2, 12 << 16 | 1 << 28),
    (VERTEX_COUNT, 3), (DRAW_ARRAYS, 1),
    (INTERRUPT_REQUEST, 0x1234_5678),
];

fn main() {
    // Guest memory is yours: implement `Memory` for what you have. Addresses are physical.
    let mut memory = Regions::console(1 << 20);
    let corners = [[-1.0f32, -1.0, -0.5], [1.0, -1.0, -0.5], [0.0, 1.0, -0.5]];
    put(&mut memory, VERTICES, corners.as_flattened().iter().flat_map(|x| x.to_le_bytes()));

    // One GPU per console. `Gpu::with_engines` takes faster shader engines; interpreters are always there.
    let mut gpu = Gpu::new(Renderer::new());
    // What the kernel writes to the GPU's registers outside of command lists.
    gpu.write_register(&mut memory, INTERRUPT_COMPARE, 0x1234_5678);
    // A memory fill, as its registers say: the colour buffer in one colour, r g b a from the highest byte.
    let end = VRAM + SIDE * SIDE * 4;
    gpu.fill(&mut memory, &Fill { start: VRAM, end, value: 0x2020_40ff, control: 1 << 9 });

    // A command list in memory: each entry a parameter and a header of register and byte mask.
    let words = LIST.iter().flat_map(|&(register, value)| [value, register | 0xf << 16]);
    let bytes = put(&mut memory, FCRAM, words.flat_map(u32::to_le_bytes));
    gpu.run_command_list(&mut memory, FCRAM, bytes);

    // Raise the guest's interrupt, and look at what went wrong: nothing a guest does is an error of a call.
    let report = gpu.take_report();
    println!("{} interrupts, {} triangles, {:?}", gpu.interrupts(), report.triangles, report.messages);

    // The display transfer untiles the colour buffer into the frame; then it is bytes in memory: a b g r.
    let size = SIDE | SIDE << 16;
    let transfer = DisplayTransfer { src: VRAM, dst: FRAME, out_size: size, in_size: size, flags: 0 };
    gpu.display_transfer(&mut memory, &transfer);
    for row in memory.bytes(FRAME, SIDE * SIDE * 4).expect("mapped").chunks(SIDE as usize * 4) {
        println!("{}", row.chunks(4).map(|p| if p[3] == 0xff { '#' } else { '.' }).collect::<String>());
    }
}

/// Writes bytes to guest memory, as many as there are.
fn put(memory: &mut Regions, address: u32, bytes: impl Iterator<Item = u8>) -> u32 {
    let bytes: Vec<u8> = bytes.collect();
    memory.bytes_mut(address, bytes.len() as u32).expect("mapped").copy_from_slice(&bytes);
    bytes.len() as u32
}
