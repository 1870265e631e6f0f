//! The CPU renderer with registers, tables and triangles of any content.

use crate::bytes::Bytes;
use crate::picagpu::{register, value};
use xenoglot_pica::early_depth::EarlyDepth;
use xenoglot_pica::memory::{FCRAM, Memory, Regions, VRAM};
use xenoglot_pica::raster::{Chip, Code, Options, Reference, Renderer};
use xenoglot_pica::regs::*;
use xenoglot_pica::renderer::{self, Renderer as _};
use xenoglot_pica::tables::Tables;
use xenoglot_pica::vertex::{Triangle, Vertex};

/// Most pixels of a draw.
const PIXELS: u64 = 1 << 13;
/// Memory: start and bytes. The first is at the end of addresses and the second at 0; buffers may cross.
pub const REGIONS: [(u32, u32); 4] = [(0xffff_f000, 0x1000), (0, 0x2000), (VRAM, 0x8000), (FCRAM, 0x4804)];

/// What is there before the writes of a draw: a screen of 48×40, the vertex colour times texture 0, depth test and
/// blending.
const BASE: [(u32, u32); 27] = [
    (VIEWPORT_HALF_WIDTH, 67 << 16 | 0x8000),
    (VIEWPORT_HALF_HEIGHT, 67 << 16 | 0x4000),
    (DEPTH_SCALE, 1 << 23 | 63 << 16),
    (DEPTH_MODE, 1),
    (TEXTURE_UNITS, 7 | 1 << 10),
    (TEXTURE0 + 1, 16 << 16 | 8),
    (TEXTURE0 + 2, 2 << 12 | 3 << 8),
    (TEXTURE0 + 4, FCRAM / 8),
    (TEXTURE1 + 1, 24 << 16 | 16),
    (TEXTURE1 + 4, (FCRAM + 0x400) / 8),
    (TEXTURE2 + 1, 8 << 16 | 8),
    (TEXTURE2 + 4, (FCRAM + 0x800) / 8),
    (COMBINER0, 0x0030_0030),
    (COMBINER0 + 2, 1 << 16 | 1),
    (COMBINER1, 0x000f_000f),
    (COMBINER2, 0x000f_000f),
    (COMBINER3, 0x000f_000f),
    (COMBINER4, 0x000f_000f),
    (COMBINER5, 0x000f_000f),
    (FRAGMENT_MODE, 1 << 8),
    (BLENDING, 0x7676_0000),
    (DEPTH_TEST, 0x1f << 8 | 7 << 4 | 1),
    (COLOR_WRITE, 0xf),
    (DEPTH_WRITE, 3),
    (DEPTH_ADDRESS, (VRAM + 0x4000) / 8),
    (COLOR_ADDRESS, VRAM / 8),
    (FRAMEBUFFER_SIZE, 39 << 12 | 48),
];

/// A draw.
#[derive(Clone, Debug)]
pub struct Draw {
    /// Registers to set on top of those of an ordinary draw.
    pub writes: Vec<(u32, u32)>,
    /// All tables hold multiples of this.
    pub tables: u32,
    /// What is drawn.
    pub triangles: Vec<Triangle>,
}

impl Draw {
    /// Panics unless the draw changes nothing but its buffers, stays within its limit of pixels and does the same with
    /// portable code, whatever it obeys.
    pub fn check(&self) {
        let regs = self.registers();
        for reference in [Reference::Emulator, Reference::Chip(Chip::ALL)] {
            let (native, pixels) = self.run(Options { code: Code::Native, reference });
            assert!(pixels <= PIXELS);
            for address in differences(&memory(), &native) {
                let gas = reference != Reference::Emulator;
                assert!(is_buffer(&regs, gas, address), "{address:#x} was written");
            }
            let (portable, same) = self.run(Options { code: Code::Portable, reference });
            assert_eq!(pixels, same);
            assert_eq!(differences(&native, &portable), [0u32; 0]);
        }
    }

    fn registers(&self) -> Registers {
        let mut registers = Registers::default();
        for &(register, value) in BASE.iter().chain(&self.writes) {
            registers.set(register, value);
        }
        registers
    }

    fn tables(&self) -> Tables {
        let mut tables = Tables::default();
        let Tables { lighting, fog, noise, color_map, alpha_map, colors, color_differences, gas } =
            &mut tables;
        let all = [&mut fog[..], noise, color_map, alpha_map, colors, color_differences, gas];
        let words = lighting.as_flattened_mut().iter_mut().chain(all.into_iter().flatten());
        for (word, i) in words.zip(0u32..) {
            *word = i.wrapping_mul(self.tables);
        }
        tables
    }

    /// Memory after the draw, and the pixels it cost.
    fn run(&self, options: Options) -> (Regions, u64) {
        let (mut memory, mut left) = (memory(), PIXELS);
        let mut renderer = Renderer::with_options(options);
        let (regs, tables) = (self.registers(), self.tables());
        let drawn = renderer.draw(renderer::Draw {
            regs: &regs,
            tables: &tables,
            memory: &mut memory,
            early_depth: &mut EarlyDepth::default(),
            triangles: self.triangles.as_slice().into(),
            pixels: &mut left,
        });
        assert!(drawn.is_ok() || left == 0);
        (memory, PIXELS - left)
    }
}

fn memory() -> Regions {
    let mut memory = Regions::new();
    for (start, len) in REGIONS {
        memory.add(start, (0..len).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect());
    }
    memory
}

/// Addresses whose bytes are not the same in both.
fn differences(a: &Regions, b: &Regions) -> Vec<u32> {
    let mut all = Vec::new();
    for (start, len) in REGIONS {
        let [a, b] = [a, b].map(|memory| memory.bytes(start, len).unwrap_or_default());
        if a != b {
            let pairs = (start..=u32::MAX).zip(a.iter().zip(b));
            all.extend(pairs.filter(|(_, (a, b))| a != b).map(|(address, _)| address));
        }
    }
    all
}

/// Whether `address` belongs to one of the buffers that a draw may write.
fn is_buffer(regs: &Registers, gas: bool, address: u32) -> bool {
    let (width, height) = (regs.bits(FRAMEBUFFER_SIZE, 0, 11), regs.bits(FRAMEBUFFER_SIZE, 12, 10) + 1);
    let pixels = width.next_multiple_of(8) * height.next_multiple_of(8);
    // Shadow maps and densities are words, whatever the format.
    let has_words = match regs.bits(FRAGMENT_MODE, 0, 2) {
        1 => gas,
        mode => mode == 3,
    };
    let color = match regs.bits(COLOR_FORMAT, 16, 3) {
        _ if has_words => 4,
        0 => 4,
        1 => 3,
        _ => 2,
    };
    let depth = regs.bits(DEPTH_FORMAT, 0, 2).max(1) + 1;
    let is_within = |register, bytes| address.wrapping_sub(regs.get(register) << 3) < pixels * bytes;
    is_within(COLOR_ADDRESS, color) || is_within(DEPTH_ADDRESS, depth)
}

/// A number: a part of the screen's half, or anything.
fn number(bytes: &mut Bytes) -> f32 {
    match bytes.u8() {
        255 => f32::from_bits(bytes.u32()),
        254 => [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 3e38, -3e38, 1e-38, -0.0, 1e-8]
            [usize::from(bytes.u8() & 7)],
        small => (f32::from(small) - 127.0) / 96.0,
    }
}

fn vertex(bytes: &mut Bytes) -> Vertex {
    let mut values = [0.0; 24];
    values.fill_with(|| number(bytes));
    // Mostly within the view.
    values[2] = -values[2];
    values[3] += 1.0;
    Vertex { values }
}

/// Draws write nothing but their buffers, within their limit, and do the same on any code.
pub fn raster(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let tables = bytes.u32();
    let triangles = 1 + bytes.u8() % 3;
    let writes = bytes.u8() % 64;
    let writes = (0..writes).map(|_| (register(&mut bytes), value(&mut bytes))).collect();
    let triangles = (0..triangles).map(|_| std::array::from_fn(|_| vertex(&mut bytes))).collect();
    Draw { writes, tables, triangles }.check();
}
