//! The CPU renderer with registers, tables and triangles of any content: what is written and how much is done.

use proptest::prelude::*;
use proptest::sample::select;
use xenoglot_pica::memory::{FCRAM, Memory, Regions, VRAM};
use xenoglot_pica::raster::{Code, Options, Renderer};
use xenoglot_pica::regs::{self, *};
use xenoglot_pica::tables::Tables;
use xenoglot_pica::vertex::{Triangle, Vertex};

/// Most pixels of a draw.
const PIXELS: u64 = 1 << 13;
/// Memory: start and bytes. The first is at the end of addresses and the second at 0; buffers may cross.
const REGIONS: [(u32, u32); 4] = [(0xffff_f000, 0x1000), (0, 0x2000), (VRAM, 0x8000), (FCRAM, 0x4804)];

/// Registers from culling to lighting.
const STATE: std::ops::Range<u32> = CULLING..ATTRIBUTE_BASE;

/// Values that leave most pixels alive: a screen of 48×40, the vertex colour times texture 0, depth test and blending.
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
struct Scene {
    writes: Vec<(u32, u32)>,
    /// All tables hold multiples of this.
    tables: u32,
    triangles: Vec<Triangle>,
}

impl Scene {
    fn registers(&self) -> Registers {
        let mut registers = Registers::default();
        for &(register, value) in BASE.iter().chain(&self.writes) {
            registers.set(register, value);
        }
        registers
    }

    fn tables(&self) -> Tables {
        let mut tables = Tables::default();
        let Tables { lighting, fog, noise, color_map, alpha_map, colors, color_differences } = &mut tables;
        let all = [&mut fog[..], noise, color_map, alpha_map, colors, color_differences];
        let words = lighting.as_flattened_mut().iter_mut().chain(all.into_iter().flatten());
        for (word, i) in words.zip(0u32..) {
            *word = i.wrapping_mul(self.tables);
        }
        tables
    }

    /// Memory after the scene was drawn by a renderer with these options, and the pixels it cost.
    fn draw(&self, options: Options) -> (Regions, u64) {
        let mut memory = memory();
        let mut left = PIXELS;
        let drawn = Renderer::with_options(options).draw(
            &self.registers(),
            &self.tables(),
            &mut memory,
            &self.triangles,
            &mut left,
        );
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

/// Regions that are not the same in both, as addresses.
fn differences(a: &Regions, b: &Regions) -> Vec<u32> {
    let bytes = |memory: &Regions, (start, len): (u32, u32)| memory.bytes(start, len).unwrap().to_vec();
    let of_region = |region: (u32, u32)| {
        let pairs = bytes(a, region).into_iter().zip(bytes(b, region));
        (region.0..=u32::MAX).zip(pairs).filter(|(_, (a, b))| a != b).map(|(address, _)| address).collect()
    };
    REGIONS.into_iter().flat_map(|region| -> Vec<u32> { of_region(region) }).collect()
}

/// Whether `address` belongs to one of the buffers that a draw may write.
fn is_buffer(regs: &Registers, address: u32) -> bool {
    let (width, height) = (regs.bits(FRAMEBUFFER_SIZE, 0, 11), regs.bits(FRAMEBUFFER_SIZE, 12, 10) + 1);
    let pixels = width.next_multiple_of(8) * height.next_multiple_of(8);
    let is_shadow = regs.bits(FRAGMENT_MODE, 0, 2) == 3;
    let color = match regs.bits(COLOR_FORMAT, 16, 3) {
        _ if is_shadow => 4,
        0 => 4,
        1 => 3,
        _ => 2,
    };
    let depth = regs.bits(DEPTH_FORMAT, 0, 2).max(1) + 1;
    let is_within = |register, bytes| address.wrapping_sub(regs.get(register) << 3) < pixels * bytes;
    is_within(COLOR_ADDRESS, color) || is_within(DEPTH_ADDRESS, depth)
}

fn number() -> impl Strategy<Value = f32> {
    let special =
        [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-8, -1e-8, 1e-38, 3e38, -3e38, f32::INFINITY, f32::NEG_INFINITY];
    prop_oneof![6 => -1.5f32..1.5, 1 => select(special.to_vec()), 1 => any::<f32>(), 1 => Just(f32::NAN)]
}

/// A vertex on the screen with ordinary values, but for a few.
fn vertex() -> impl Strategy<Value = Vertex> {
    let ordinary = prop::array::uniform24(-1.0f32..1.0);
    (ordinary, prop::collection::vec((0usize..24, number()), 0..3)).prop_map(|(mut values, others)| {
        values[2] = -values[2].abs();
        values[3] = 1.0 + 0.5 * values[3];
        others.into_iter().for_each(|(i, value)| values[i] = value);
        Vertex { values }
    })
}

fn value() -> impl Strategy<Value = u32> {
    prop_oneof![3 => any::<u32>(), 1 => 0u32..20, 1 => (0u32..32).prop_map(|bit| 1 << bit), 1 => Just(0x000f_0030)]
}

/// Addresses in units of 8 bytes, near the start and the end of memory most of them.
fn address() -> impl Strategy<Value = u32> {
    let edges: Vec<u32> =
        REGIONS.iter().flat_map(|&(start, len)| [start / 8, start.wrapping_add(len) / 8]).collect();
    prop_oneof![
        4 => (select(edges), -0x200i32..0x200).prop_map(|(edge, by)| edge.wrapping_add_signed(by)),
        1 => any::<u32>(),
    ]
}

/// A write that turns something on or off, moves a buffer or does anything.
fn write() -> impl Strategy<Value = (u32, u32)> {
    let addresses = [COLOR_ADDRESS, DEPTH_ADDRESS, TEXTURE0 + 4, TEXTURE0 + 5, TEXTURE1 + 4, TEXTURE2 + 4];
    let small = |register: u32, shift: u32, count: u32| {
        (0..count).prop_map(move |value| (register, value << shift)).boxed()
    };
    prop_oneof![
        4 => (STATE, value()),
        4 => (select(addresses.to_vec()), address()),
        1 => small(COLOR_FORMAT, 16, 6),
        1 => small(DEPTH_FORMAT, 0, 4),
        1 => small(TEXTURE0_FORMAT, 0, 16),
        1 => small(TEXTURE0 + 2, 28, 8),
        1 => small(FRAGMENT_MODE, 0, 4),
        1 => (value(), 0u32..2).prop_map(|(value, on)| (LIGHTING_DISABLE, value << 1 | on)),
        1 => (0u32..1024, 0u32..2048).prop_map(|(h, w)| (FRAMEBUFFER_SIZE, h << 12 | w)),
        1 => small(CULLING, 0, 4),
        1 => small(COMBINER0, 0, 16),
        1 => small(COMBINER0, 16, 16),
        1 => small(FOG_MODE, 0, 8),
    ]
}

prop_compose! {
    fn scene()(
        writes in prop::collection::vec(write(), 0..24),
        tables in any::<u32>(),
        triangles in prop::collection::vec(prop::array::uniform3(vertex()), 1..5),
    ) -> Scene {
        Scene { writes, tables, triangles }
    }
}

proptest! {
    /// Nothing but the buffers changes, within the limit, and code for another processor does the same.
    #[test]
    fn any_draw(scene in scene()) {
        let (native, pixels) = scene.draw(Options::default());
        prop_assert!(pixels <= PIXELS);
        let regs = scene.registers();
        for address in differences(&memory(), &native) {
            prop_assert!(is_buffer(&regs, address), "{address:#x}");
        }
        let (portable, same) = scene.draw(Options { code: Code::Portable, ..Options::default() });
        prop_assert_eq!(pixels, same);
        prop_assert_eq!(differences(&native, &portable), []);
    }
}

fn vertex_at(x: f32, y: f32) -> Vertex {
    let mut values = [0.5; 24];
    values[..4].copy_from_slice(&[x, y, -0.5, 1.0]);
    Vertex { values }
}

fn screen() -> Scene {
    let triangle = [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0)].map(|(x, y)| vertex_at(x, y));
    Scene { writes: vec![], tables: 0, triangles: vec![triangle] }
}

#[test]
fn a_draw_stops_before_the_triangle_that_is_too_much() {
    let mut scene = screen();
    scene.triangles = vec![scene.triangles[0]; 3];
    let (regs, tables) = (scene.registers(), scene.tables());
    let (bounds, mut left) = (48 * 40, 48 * 40 * 2 + 1);
    let mut memory = memory();
    let mut renderer = Renderer::new();
    let mut draw = |left: &mut u64, triangles: &[Triangle]| {
        renderer.draw(&regs, &tables, &mut memory, triangles, left).is_ok()
    };
    assert!(draw(&mut left, &scene.triangles[..1]));
    assert_eq!(left, bounds + 1);
    assert!(!draw(&mut left, &scene.triangles));
    assert_eq!(left, 0);
}

#[test]
fn feedback_costs_more() {
    let pixels = |color: u32| {
        let mut scene = screen();
        scene.writes = vec![(regs::TEXTURE0 + 4, color / 8)];
        scene.draw(Options::default()).1
    };
    assert_eq!(pixels(FCRAM), 48 * 40);
    // More than there is: nothing is drawn.
    assert_eq!(pixels(VRAM), PIXELS);
}
