//! Command lists, registers and transfers of any content: no panic, no hang.

mod common;

use common::{place, scene};
use proptest::prelude::*;
use xenoglot_pica::gpu::Gpu;
use xenoglot_pica::memory::{FCRAM, VRAM};
use xenoglot_pica::regs::*;
use xenoglot_pica::renderer::NullRenderer;
use xenoglot_pica::report::Limits;
use xenoglot_pica::transfer::{DisplayTransfer, Fill, TextureCopy};

const LIMITS: Limits =
    Limits { writes: 2000, draws: 20, vertices: 500, instructions: 8 << 20, pixels: 1 << 16 };

/// Registers that cause something.
const ACTIVE: [u32; 24] = [
    INTERRUPT_REQUEST,
    VERTEX_COUNT,
    GEOMETRY_STAGE,
    FIRST_VERTEX,
    DRAW_ARRAYS,
    DRAW_INDEXED,
    INDEX_ARRAY,
    FIXED_ATTRIBUTE,
    FIXED_ATTRIBUTE_DATA,
    LIST_SIZE,
    LIST_ADDRESS,
    LIST_JUMP,
    GEOMETRY_MODE,
    PRIMITIVES,
    GEOMETRY_CODE_PORT,
    GEOMETRY_CODE_DATA,
    VERTEX_CODE_PORT,
    VERTEX_CODE_DATA,
    VERTEX_DESCRIPTOR_DATA,
    VERTEX_UNIFORM_PORT,
    VERTEX_UNIFORM_DATA,
    ATTRIBUTE_BASE,
    ATTRIBUTE_FORMATS_HIGH,
    VERTEX_ENTRY,
];

fn value() -> impl Strategy<Value = u32> {
    let addresses = prop_oneof![Just(FCRAM / 8), Just(VRAM / 8), Just(FCRAM), Just(u32::MAX)];
    prop_oneof![0u32..20, any::<u32>(), addresses, (0u32..32).prop_map(|bit| 1 << bit)]
}

fn register() -> impl Strategy<Value = u32> {
    prop_oneof![4 => prop::sample::select(&ACTIVE[..]), 1 => 0u32..0x320]
}

fn entry() -> impl Strategy<Value = Vec<u32>> {
    let extra = prop::collection::vec(value(), 0..6);
    (register(), value(), extra, any::<bool>(), prop_oneof![4 => Just(15u32), 1 => 0u32..16]).prop_map(
        |(register, value, extra, increment, mask)| {
            let header = register | mask << 16 | (extra.len() as u32) << 20 | u32::from(increment) << 31;
            let padding = (extra.len() % 2 == 1).then_some(0);
            [value, header].into_iter().chain(extra).chain(padding).collect()
        },
    )
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(256))]

    #[test]
    fn lists_that_decode(entries in prop::collection::vec(entry(), 0..80)) {
        let (mut memory, mut commands) = scene(64);
        commands.0.extend(entries.concat());
        let bytes = place(&mut memory, &commands.0);
        let mut gpu = Gpu::new(NullRenderer);
        gpu.set_limits(LIMITS);
        gpu.run_command_list(&mut memory, FCRAM, bytes);
        prop_assert!(gpu.take_report().writes <= LIMITS.writes);
    }

    #[test]
    fn lists_of_any_words(words in prop::collection::vec(any::<u32>(), 0..200), at: u32, bytes: u32) {
        let (mut memory, commands) = scene(64);
        let len = place(&mut memory, &[commands.0, words].concat());
        let mut gpu = Gpu::new(NullRenderer);
        gpu.set_limits(LIMITS);
        gpu.run_command_list(&mut memory, FCRAM, len);
        gpu.run_command_list(&mut memory, at, bytes);
        gpu.run_command_list(&mut memory, FCRAM + (at & 0xffff), bytes);
    }

    #[test]
    fn transfers(words in prop::array::uniform5(value()), near in any::<[u16; 2]>(), size in any::<[u8; 4]>()) {
        let (mut memory, _) = scene(0);
        let mut gpu = Gpu::new(NullRenderer);
        let [a, b, c, d, e] = words;
        let (src, dst) = (VRAM + u32::from(near[0]), FCRAM + u32::from(near[1]));
        let [w, h, ow, oh] = size.map(u32::from);
        gpu.fill(&mut memory, &Fill { start: a, end: b, value: c, control: d });
        gpu.fill(&mut memory, &Fill { start: dst, end: dst.wrapping_add(w * h), value: c, control: d });
        let (in_size, out_size) = (w | h << 16, ow | oh << 16);
        gpu.display_transfer(&mut memory, &DisplayTransfer { src: a, dst: b, out_size: c, in_size: d, flags: e });
        gpu.display_transfer(&mut memory, &DisplayTransfer { src, dst, out_size, in_size, flags: e & !0x4400 });
        gpu.texture_copy(&mut memory, &TextureCopy { src: a, dst: b, bytes: c, in_line: d, out_line: e, flags: 0 });
        gpu.texture_copy(&mut memory, &TextureCopy { src, dst, bytes: w * h, in_line: d, out_line: e, flags: 0 });
    }
}
