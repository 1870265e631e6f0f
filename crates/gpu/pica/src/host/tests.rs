//! Tile programs on the interpreter against the CPU renderer: what needs no device.

use proptest::prelude::*;
use xenoglot_interp::{Bindings, Interpreter, Limits};
use xenoglot_ir::verify;

use super::draws::{draw_uniforms, image_of};
use super::*;
use crate::early_depth::EarlyDepth;
use crate::fragment::tile::TileKey;
use crate::fragment::{layout, tile};
use crate::memory::{FCRAM, Regions};
use crate::raster::Chip;
use crate::regs::*;
use crate::vertex::{Mesh, Triangle, Vertex};

/// What programs of the host's GPU obey; the rest is the CPU renderer's.
const WITH_PROGRAMS: Chip = Chip { early_depth: false, gas: false, ..Chip::ALL };
const COLOR: u32 = FCRAM;
const DEPTH: u32 = FCRAM + 0x1000;
const TEXTURE: u32 = FCRAM + 0x2000;
const MEMORY: u32 = 0x8000;
/// Columns and rows of the buffers: the last tiles are not whole.
const SIZE: [u32; 2] = [20, 13];

/// The words of a buffer's pixels.
fn load(memory: &Regions, place: PixelBuffer, pixels: u32) -> Vec<u32> {
    let bytes = memory.bytes(place.address, pixels * place.bytes).unwrap();
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
    bytes.chunks(place.bytes as usize).map(word).collect()
}

/// Puts words of pixels back.
fn store(memory: &mut Regions, place: PixelBuffer, words: &[u32]) {
    let bytes = memory.bytes_mut(place.address, words.len() as u32 * place.bytes).unwrap();
    for (to, word) in bytes.chunks_mut(place.bytes as usize).zip(words) {
        to.iter_mut().zip(word.to_le_bytes()).for_each(|(to, from)| *to = from);
    }
}

/// Draws as [`HostRenderer`] does, but programs run on the interpreter.
fn draw(regs: &Registers, memory: &mut Regions, triangles: &[Triangle], chip: Chip) {
    let options = Options { chip, ..Options::default() };
    let tables = Tables::default();
    let Some(state) = DrawState::decode(regs, &tables, chip) else { return };
    let key = TileKey::decode(regs, options).unwrap();
    let mut bins = Bins::default();
    bins.collect(regs, &state, &key, Scale::ONE, triangles.into(), &mut u64::MAX.clone()).unwrap().unwrap();
    if bins.extent().is_none() {
        return;
    }
    let limits = Limits { fuel: u64::MAX, ..Limits::default() };
    let module = tile::generate(&key);
    verify(&module).unwrap_or_else(|errors| panic!("{errors}"));
    let color = state.target.buffer();
    let depth = state.depth_stencil.as_ref().map(|tests| tests.buffer);
    for chunk in 0..bins.chunks() {
        let mut lists = Vec::new();
        let (groups, triangles) = bins.write(chunk, state.size, &mut lists);
        let triangles = triangles.to_vec();
        let surface = |memory: &Regions, place: Option<PixelBuffer>| {
            place.map_or(Vec::new(), |place| load(memory, place, state.size.pixels()))
        };
        let mut bindings = Bindings::new(&module);
        for (resource, data) in module.resources.iter() {
            let words = match data.binding {
                layout::UNIFORM_BINDING => draw_uniforms(regs, &state, options).to_vec(),
                layout::TEXTURE_BINDING => {
                    image_of(&state, 0).map_or(vec![0], |image| layout::image_texels(image, memory))
                }
                layout::TABLE_BINDING => layout::tables(&tables),
                layout::DESTINATION_BINDING => surface(memory, color),
                layout::DEPTH_BINDING => surface(memory, depth),
                layout::TRIANGLE_BINDING => triangles.clone(),
                _ => lists.clone(),
            };
            bindings.set_words(resource, &words);
        }
        let mut interpreter = Interpreter::new(&module).unwrap();
        interpreter.dispatch([groups, 1, 1], &mut bindings, &limits).unwrap();
        for (resource, data) in module.resources.iter() {
            let place = match data.binding {
                layout::DESTINATION_BINDING => color,
                layout::DEPTH_BINDING => depth,
                _ => None,
            };
            if let Some(place) = place {
                store(memory, place, &bindings.words(resource));
            }
        }
    }
}

/// Registers of a draw into small buffers; `words` decide about the rest.
fn registers(words: &[u32; 12]) -> Registers {
    const EIGHT: u32 = 0x42_0000;
    const MINUS_ONE: u32 = 0xbf_0000;
    let mut regs = Registers::default();
    for (register, value) in [
        (VIEWPORT_HALF_WIDTH, EIGHT),
        (VIEWPORT_HALF_HEIGHT, EIGHT),
        (DEPTH_SCALE, MINUS_ONE),
        (FRAMEBUFFER_SIZE, SIZE[0] | (SIZE[1] - 1) << 12),
        (COLOR_ADDRESS, COLOR / 8),
        (DEPTH_ADDRESS, DEPTH / 8),
        (COLOR_WRITE, 0xf),
        (DEPTH_WRITE, 3),
        (CULLING, words[0]),
        (SCISSOR_MODE, words[0] >> 2),
        (SCISSOR_START, 0x0002_0003),
        (SCISSOR_END, 0x0007_000b),
        (DEPTH_MODE, words[0] >> 4),
        (FRAGMENT_MODE, words[1] & 0x103),
        (COLOR_FORMAT, ((words[1] >> 12) % 5) << 16),
        (DEPTH_FORMAT, words[1] >> 16),
        (BLENDING, words[2]),
        (BLEND_CONSTANT, words[3]),
        (LOGIC_OP, words[4]),
        (ALPHA_TEST, words[5]),
        (STENCIL_TEST, words[6]),
        (STENCIL_ACTIONS, words[7]),
        (DEPTH_TEST, words[8]),
        (SHADOW, words[9] & 0x3fff_3fff),
        // Stage 0: primary colour and a constant.
        (0xc0, 0x0fe0_0fe0),
        (0xc2, (words[10] & 3) * 0x1_0001),
        (0xc3, words[11]),
    ] {
        regs.set(register, value);
    }
    regs
}

/// The same with texture 0 in place of the colour, `texture` deciding about it: sizes, wrapping, kinds, filters and levels.
fn textured(words: &[u32; 12], texture: [u32; 3]) -> Registers {
    let mut regs = registers(words);
    let [sizes, parameters, levels] = texture;
    let kind = [0, 1, 3][(sizes >> 24) as usize % 3];
    for (register, value) in [
        (TEXTURE_UNITS, 1),
        (TEXTURE0 + 1, ((sizes & 0x1f) + 1) << 16 | ((sizes >> 8 & 0x1f) + 1)),
        (TEXTURE0 + 2, parameters & 0x0fff_ffff | kind << 28),
        // Seven levels at most; biases of up to two levels.
        (TEXTURE0 + 3, levels & 0x0706_01ff | ((levels >> 9 & 1) * 0x1e00)),
        (TEXTURE0 + 4, TEXTURE / 8),
        (TEXTURE0_FORMAT, 7),
        (0xc0, 0x0fe3_0fe3),
    ] {
        regs.set(register, value);
    }
    // The other stages hand on what the first one makes.
    [0xc8, 0xd0, 0xd8, 0xf0, 0xf8].into_iter().for_each(|stage| regs.set(stage, 0x0fff_0fff));
    // Faces of a cube, one behind the other.
    (1..6).for_each(|face| regs.set(TEXTURE0 + 4 + face, (TEXTURE / 8 + 0x100 * face) & 0x3f_ffff));
    regs
}

/// Coordinates within some repetitions of the texture.
fn textured_vertex() -> impl Strategy<Value = Vertex> {
    (vertex(), prop::array::uniform3(-2.0f32..3.0)).prop_map(|(mut vertex, [u, v, w])| {
        vertex.values[12..14].copy_from_slice(&[u, v]);
        vertex.values[16] = w;
        vertex
    })
}

fn vertex() -> impl Strategy<Value = Vertex> {
    let place = -1.2f32..1.2;
    ([place.clone(), place], -1.0f32..0.0, 0.5f32..2.0, prop::array::uniform4(0.0f32..1.0)).prop_map(
        |([x, y], z, w, color)| {
            let mut vertex = Vertex::default();
            vertex.values[..4].copy_from_slice(&[x * w, y * w, z * w, w]);
            vertex.values[8..12].copy_from_slice(&color);
            vertex
        },
    )
}

/// Vertices of any floats, though most are near the screen.
fn wild_vertex() -> impl Strategy<Value = Vertex> {
    let any = || prop_oneof![8 => -1.5f32..1.5, 1 => any::<f32>(), 1 => Just(0.0), 1 => -1e-4f32..1e-4];
    prop_oneof![
        3 => vertex(),
        1 => prop::array::uniform24(any()).prop_map(|values| Vertex { values }),
    ]
}

/// Records as the setup program leaves them, on the interpreter.
fn set_up(corners: &Corners, draw: &setup::Draw<'_>) -> Vec<u32> {
    let module = setup::program();
    verify(&module).unwrap_or_else(|errors| panic!("{errors}"));
    let words = [corners.vertices(), corners.corners().as_flattened()].concat();
    let (count, numbers) = (corners.corners().len() as u32, corners.vertices().len() as u32);
    let mut bindings = Bindings::new(&module);
    for (resource, data) in module.resources.iter() {
        let words = match data.binding {
            0 => draw.params(count, [0, numbers]).to_vec(),
            1 => words.clone(),
            _ => vec![0; (count * draw.record_words()) as usize],
        };
        bindings.set_words(resource, &words);
    }
    let mut interpreter = Interpreter::new(&module).unwrap();
    let limits = Limits { fuel: u64::MAX, ..Limits::default() };
    interpreter.dispatch([kernels::groups(count), 1, 1], &mut bindings, &limits).unwrap();
    let records = module.resources.iter().find(|(_, data)| data.binding == 2).unwrap().0;
    bindings.words(records)
}

/// The record of a triangle relative to another origin.
fn moved(record: &[u32], [x, y]: [u32; 2]) -> Vec<u32> {
    let mut record = record.to_vec();
    for i in 0..3 {
        let [right, down] = [record[4 + i].wrapping_mul(x), record[8 + i].wrapping_mul(y)];
        record[i] = record[i].wrapping_add(right).wrapping_add(down);
    }
    let ends =
        |word: u32, by: u32| (word & 0xffff).wrapping_sub(by) & 0xffff | (word >> 16).wrapping_sub(by) << 16;
    (record[3], record[7]) = (ends(record[3], x), ends(record[7], y));
    record
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(192))]

    /// The same triangles are left, the same pixels are counted, and records are the same bit for bit.
    #[test]
    fn the_device_sets_up_what_the_processor_does(
        words: [u32; 12],
        viewport in prop::option::of((any::<[u32; 2]>(), any::<u32>())),
        vertices in prop::collection::vec(wild_vertex(), 3..20),
        numbers in prop::collection::vec(prop::array::uniform3(0u32..20), 1..16),
        origin in prop::array::uniform2(0u32..3),
        few in any::<bool>(),
    ) {
        let mut regs = registers(&words);
        if let Some(([width, height], corner)) = viewport {
            regs.set(VIEWPORT_HALF_WIDTH, width & 0xff_ffff);
            regs.set(VIEWPORT_HALF_HEIGHT, height & 0xff_ffff);
            regs.set(VIEWPORT_CORNER, corner);
        }
        let tables = Tables::default();
        let Some(state) = DrawState::decode(&regs, &tables, Chip::default()) else { return Ok(()) };
        let key = TileKey::decode(&regs, Options::default()).unwrap();
        let left = if few { 700 } else { u64::MAX };
        let (mut bins, mut corners) = (Bins::default(), Corners::default());
        let (mut of_bins, mut of_corners) = (left, left);
        // Some are left out, for there are no such vertices.
        let triangles = Mesh::new(&vertices, &numbers);
        let expected = bins.collect(&regs, &state, &key, Scale::ONE, triangles, &mut of_bins);
        let got = corners.collect(&regs, &state, &key, triangles, &mut of_corners);
        prop_assert_eq!((got, of_corners), (expected, of_bins));
        if expected.is_err() {
            return Ok(());
        }
        let origin = origin.map(|tiles| 8 * tiles);
        let draw = setup::Draw {
            attributes: corners.attributes() as u32,
            screen: &state.screen,
            size: state.size,
            origin,
            reach: 0,
        };
        let (records, size) = bins.records();
        let set_up = set_up(&corners, &draw);
        prop_assert_eq!(set_up.len(), records.len());
        for (got, expected) in set_up.chunks(size).zip(records.chunks(size)) {
            for (at, (got, expected)) in got.iter().zip(moved(expected, origin)).enumerate() {
                match at {
                    // Where weights may wrap around, the device is not sure.
                    11 => prop_assert!(*got == expected || *got == expected | 1 << 31),
                    // The fourth word of a vector has no meaning.
                    _ if at >= 16 && at % 4 == 3 => {}
                    _ => prop_assert_eq!(*got, expected, "word {}", at),
                }
            }
        }
    }

    #[test]
    fn tile_programs_draw_what_the_cpu_renderer_draws(
        words: [u32; 12],
        triangles in prop::collection::vec(prop::array::uniform3(vertex()), 1..6),
        old in prop::collection::vec(any::<u8>(), MEMORY as usize),
    ) {
        let regs = registers(&words);
        let mut expected = Regions::new();
        expected.add(FCRAM, old);
        let mut got = expected.clone();
        let mut pixels = u64::MAX;
        let tables = Tables::default();
        let draw_on_cpu = Draw { regs: &regs, tables: &tables, memory: &mut expected, early_depth: &mut EarlyDepth::default(), triangles: triangles.as_slice().into(), pixels: &mut pixels };
        raster::Renderer::new().draw(draw_on_cpu).unwrap();
        draw(&regs, &mut got, &triangles, Chip::default());
        prop_assert!(got.bytes(FCRAM, MEMORY) == expected.bytes(FCRAM, MEMORY));
    }

    /// Linear filters, levels of detail and permissions.
    #[test]
    fn tile_programs_obey_what_the_cpu_renderer_obeys(
        words: [u32; 12],
        texture: [u32; 3],
        readable: [u32; 2],
        triangles in prop::collection::vec(prop::array::uniform3(textured_vertex()), 1..6),
        old in prop::collection::vec(any::<u8>(), MEMORY as usize),
    ) {
        let mut regs = textured(&words, texture);
        regs.set(COLOR_READ, readable[0]);
        regs.set(DEPTH_READ, readable[1]);
        regs.set(DEPTH_WRITE, readable[1] >> 2);
        let mut expected = Regions::new();
        expected.add(FCRAM, old);
        let mut got = expected.clone();
        let mut pixels = u64::MAX;
        let tables = Tables::default();
        let options = raster::Options { reference: Reference::Chip(WITH_PROGRAMS), ..raster::Options::default() };
        let draw_on_cpu = Draw { regs: &regs, tables: &tables, memory: &mut expected, early_depth: &mut EarlyDepth::default(), triangles: triangles.as_slice().into(), pixels: &mut pixels };
        raster::Renderer::with_options(options).draw(draw_on_cpu).unwrap();
        draw(&regs, &mut got, &triangles, WITH_PROGRAMS);
        prop_assert!(got.bytes(FCRAM, MEMORY) == expected.bytes(FCRAM, MEMORY));
    }
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(3))]

    /// Draws that need more than one buffer of triangles.
    #[test]
    fn large_draws_are_split_in_order(seed in prop::collection::vec(prop::array::uniform3(vertex()), 8)) {
        let mut words = [0; 12];
        (words[1], words[2], words[8]) = (0x100, 0x6565_0000, 0xf00);
        let regs = registers(&words);
        let triangles: Vec<Triangle> = seed.iter().cycle().take(500).copied().collect();
        let mut expected = Regions::new();
        expected.add(FCRAM, vec![0; MEMORY as usize]);
        let mut got = expected.clone();
        let mut pixels = u64::MAX;
        let tables = Tables::default();
        let draw_on_cpu = Draw { regs: &regs, tables: &tables, memory: &mut expected, early_depth: &mut EarlyDepth::default(), triangles: triangles.as_slice().into(), pixels: &mut pixels };
        raster::Renderer::new().draw(draw_on_cpu).unwrap();
        draw(&regs, &mut got, &triangles, Chip::default());
        prop_assert!(got.bytes(FCRAM, MEMORY) == expected.bytes(FCRAM, MEMORY));
    }
}
