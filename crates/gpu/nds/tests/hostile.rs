//! Anything a guest or a file may say: no panic, no hang, nothing outside of polygon and vertex memory.

use proptest::prelude::*;
use xenoglot_nds::container::{Limits, Scene};
use xenoglot_nds::geometry::command;
use xenoglot_nds::geometry::polygon::{MAX_FRAME_VERTICES, MAX_POLYGONS};
use xenoglot_nds::gpu::Gpu;
use xenoglot_nds::raster::buffers::HEIGHT;
use xenoglot_nds::raster::{Extensions, Options, Profile};
use xenoglot_nds::registers::Registers;

fn run(gpu: &mut Gpu, mut words: &[u32]) {
    for _ in 0..4 {
        let taken = gpu.feed(words);
        words = &words[taken..];
        gpu.vblank();
    }
    let list = gpu.polygons();
    assert!(list.polygons.len() <= MAX_POLYGONS && list.vertices.len() <= MAX_FRAME_VERTICES);
    assert_eq!(list.order.len(), list.polygons.len());
}

/// Commands with a parameter list each, so that they run.
fn commands() -> impl Strategy<Value = Vec<u32>> {
    let numbers: Vec<u8> = command::numbers().collect();
    // Vertices and what starts them are more frequent.
    let number =
        prop_oneof![prop::sample::select(numbers), prop::sample::select(vec![0x23, 0x24, 0x28, 0x40, 0x29])];
    let word = prop_oneof![any::<u32>(), 0u32..0x2000, Just(0x1000), Just(0x7fff_7fff), Just(0x8000_8000)];
    let command = (number, prop::collection::vec(word, 32));
    prop::collection::vec(command, 0..300).prop_map(|all| {
        let words = |(number, params): (u8, Vec<u32>)| {
            let count = command::info(number).params.into();
            std::iter::once(number.into()).chain(params.into_iter().take(count))
        };
        all.into_iter().flat_map(words).chain([0x50, 0]).collect()
    })
}

fn registers() -> impl Strategy<Value = Registers> {
    any::<[u64; 17]>().prop_map(|words| {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        Registers::from_bytes(bytes.as_slice().try_into().unwrap())
    })
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(128))]

    #[test]
    fn any_words_run(words: Vec<u32>, registers in registers()) {
        let mut gpu = Gpu::default();
        gpu.set_registers(registers);
        run(&mut gpu, &words);
    }

    #[test]
    fn any_commands_draw_the_same_on_threads_and_portable_code(
        words in commands(),
        registers in registers(),
        texels: Vec<u8>,
        continuous: bool,
    ) {
        let rules = if continuous { Profile::MelonDs.rules() } else { Profile::Console.rules() };
        let draw = |threads, extensions| {
            let mut gpu = Gpu::new(Options { rules, threads, extensions });
            gpu.set_registers(registers.clone());
            gpu.memory.write_textures(0x3fff0, &texels);
            gpu.memory.write_palettes(0x17ff0, &texels);
            run(&mut gpu, &words);
            gpu
        };
        let (one, many) = (draw(1, Extensions::Baseline), draw(7, Extensions::Best));
        for y in 0..HEIGHT {
            prop_assert_eq!(one.renderer().color_row(y), many.renderer().color_row(y), "row {}", y);
            prop_assert_eq!(one.renderer().depth_row(y), many.renderer().depth_row(y), "row {}", y);
            prop_assert_eq!(one.renderer().attribute_row(y), many.renderer().attribute_row(y), "row {}", y);
        }
    }

    #[test]
    fn any_bytes_are_a_scene_or_an_error(bytes: Vec<u8>, tag in 0usize..9, len: u32) {
        let tags = b"NDSFMETAREGSTEXRTEXWPALWGXSTPRBIXCOL";
        let tag = &tags[tag * 4..][..4];
        for len in [len, bytes.len() as u32] {
            let file = [b"NDSF\x04\0\0\0\x01\0\0\0".as_slice(), tag, &len.to_le_bytes(), &bytes].concat();
            if let Ok(scene) = Scene::from_bytes(&file, &Limits::default()) {
                prop_assert_eq!(Scene::from_bytes(&scene.to_bytes(), &Limits::default()), Ok(scene));
            }
        }
    }
}
