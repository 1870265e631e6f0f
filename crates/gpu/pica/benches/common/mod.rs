//! States and vertices that benchmarks draw.

use xenoglot_pica::memory::{FCRAM, VRAM};
use xenoglot_pica::regs::{self, Registers};
use xenoglot_pica::vertex::Vertex;

/// Columns and rows of the target.
pub const SIDE: u32 = 512;
/// Address of the depth buffer.
pub const DEPTH_BUFFER: u32 = VRAM + SIDE * SIDE * 4;
/// Address of the texture.
pub const TEXTURE: u32 = FCRAM;
/// 256 as float24.
const HALF_SIDE: u32 = 71 << 16;
const MINUS_ONE: u32 = 1 << 23 | 63 << 16;

/// A stage that passes on what came before, and one that takes sources 1 times 2 in colour and alpha.
pub const PREVIOUS: u32 = 0x000f_000f;
pub const MODULATE: u32 = 1 << 16 | 1;

/// A vertex with all attributes.
pub fn vertex(x: f32, y: f32, z: f32, shade: f32) -> Vertex {
    let mut values = [0.0; 24];
    values[..4].copy_from_slice(&[x, y, z, 1.0]);
    values[4..8].copy_from_slice(&[0.1 * x, 0.1 * y, 0.0, 1.0]);
    values[8..12].copy_from_slice(&[shade, 1.0 - shade, 0.5, 0.75]);
    values[12..14].copy_from_slice(&[(x + 1.0) * 0.5, (y + 1.0) * 0.5]);
    values[18..21].copy_from_slice(&[-x, -y, 1.0]);
    Vertex { values }
}

/// A 512x512 target of RGBA8 and D24S8; the fragment is the vertex colour.
pub fn flat() -> Registers {
    let mut regs = Registers::default();
    let set = [
        (regs::VIEWPORT_HALF_WIDTH, HALF_SIDE),
        (regs::VIEWPORT_HALF_HEIGHT, HALF_SIDE),
        (regs::DEPTH_SCALE, MINUS_ONE),
        (regs::DEPTH_MODE, 1),
        (regs::COMBINER0, 0),
        (regs::COMBINER1, PREVIOUS),
        (regs::COMBINER2, PREVIOUS),
        (regs::COMBINER3, PREVIOUS),
        (regs::COMBINER4, PREVIOUS),
        (regs::COMBINER5, PREVIOUS),
        (regs::FRAGMENT_MODE, 1 << 8),
        (regs::BLENDING, 0x0101_0000),
        (regs::DEPTH_TEST, 0xf << 8),
        (regs::COLOR_WRITE, 0xf),
        (regs::DEPTH_WRITE, 3),
        (regs::DEPTH_FORMAT, 3),
        (regs::COLOR_ADDRESS, VRAM / 8),
        (regs::DEPTH_ADDRESS, DEPTH_BUFFER / 8),
        (regs::FRAMEBUFFER_SIZE, (SIDE - 1) << 12 | SIDE),
        (regs::LIGHTING_DISABLE, 1),
    ];
    set.into_iter().for_each(|(register, value)| regs.set(register, value));
    regs
}

/// The same with a 256x256 RGBA8 texture, depth test and alpha blending.
pub fn textured() -> Registers {
    let mut regs = flat();
    let set = [
        (regs::TEXTURE_UNITS, 1),
        (regs::TEXTURE0 + 1, 256 << 16 | 256),
        (regs::TEXTURE0 + 2, 2 << 12 | 2 << 8),
        (regs::TEXTURE0 + 4, TEXTURE / 8),
        (regs::COMBINER0, 0x0030_0030),
        (regs::COMBINER0 + 2, MODULATE),
        (regs::BLENDING, 0x7676_0000),
        // Greater or equal: every quad is drawn.
        (regs::DEPTH_TEST, 0x1f << 8 | 7 << 4 | 1),
    ];
    set.into_iter().for_each(|(register, value)| regs.set(register, value));
    regs
}
