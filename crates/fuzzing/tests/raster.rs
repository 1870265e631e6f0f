//! Draws of random state, nearer to ordinary ones than what the fuzz target makes of mutated bytes.

use proptest::prelude::*;
use proptest::sample::select;
use xenoglot_fuzzing::raster::{Draw, REGIONS};
use xenoglot_pica::regs::*;
use xenoglot_pica::vertex::Vertex;

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
        // From culling to lighting.
        4 => (CULLING..ATTRIBUTE_BASE, value()),
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
    fn draw()(
        writes in prop::collection::vec(write(), 0..24),
        tables in any::<u32>(),
        // So small that pixels that cost more fit in the limit.
        scissor in prop::option::of((0u32..24, 0u32..16)),
        triangles in prop::collection::vec(prop::array::uniform3(vertex()), 1..5),
    ) -> Draw {
        let mut writes = writes;
        if let Some((x, y)) = scissor {
            let (start, end) = (x | y << 16, (x + 14) | (y + 14) << 16);
            writes.extend([(SCISSOR_MODE, 3), (SCISSOR_START, start), (SCISSOR_END, end)]);
        }
        Draw { writes, tables, triangles }
    }
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(256))]

    #[test]
    fn any_draw(draw in draw()) {
        draw.check();
    }
}
