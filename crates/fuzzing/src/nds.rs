//! The Nintendo DS's 3D engines: scene files, and any commands, registers and memory.

use crate::bytes::Bytes;
use xenoglot_nds::container::{Limits, Scene};
use xenoglot_nds::dump::FrameDump;
use xenoglot_nds::geometry::clip::MAX_VERTICES;
use xenoglot_nds::geometry::command;
use xenoglot_nds::gpu::Gpu;
use xenoglot_nds::play::play;
use xenoglot_nds::raster::buffers::HEIGHT;
use xenoglot_nds::raster::{Extensions, Options, Rules};
use xenoglot_nds::registers::{REGISTER_BYTES, Registers};
use xenoglot_testgen::rng::Rng;

/// Commands of a run.
const MAX_COMMANDS: usize = 512;
/// Frames of a run.
const MAX_FRAMES: usize = 3;

/// Scene files: what is read is written and read back the same, but for chunks that are not known.
pub fn ndsf(data: &[u8]) {
    if let Ok(scene) = Scene::from_bytes(data, &Limits::default()) {
        let scene = Scene { unknown: Vec::new(), ..scene };
        assert_eq!(Scene::from_bytes(&scene.to_bytes(), &Limits::default()), Ok(scene));
    }
}

/// Frame dumps, also in PNGs: what is read is written and read back the same, and its scene's last frame is the same dump again.
pub fn nds_dump(data: &[u8]) {
    let Ok(dump) = FrameDump::from_bytes(data) else { return };
    assert_eq!(FrameDump::from_bytes(&dump.to_bytes()).as_ref(), Ok(&dump));
    let Ok(scene) = dump.scene() else { return };
    if let Ok(again) = FrameDump::of_scene(&scene, None) {
        assert_eq!(again.params, dump.params);
        play(&scene, None, Gpu::default()).expect("it names no memory image");
    }
}

/// A parameter: small, a matrix element or anything.
fn param(bytes: &mut Bytes) -> u32 {
    match bytes.u8() {
        255 => bytes.u32(),
        small @ 192..255 => u32::from(small) << 6,
        small @ 128..192 => u32::from(small).wrapping_neg() << 4,
        small => u32::from(small) << (small & 24),
    }
}

/// Words of commands that mostly exist.
fn words(bytes: &mut Bytes) -> Vec<u32> {
    let numbers: Vec<u8> = command::numbers().collect();
    let mut out = Vec::new();
    for _ in 0..MAX_COMMANDS {
        if bytes.is_empty() {
            break;
        }
        let at = usize::from(bytes.u8());
        let number = numbers.get(at % (numbers.len() + 1)).copied().unwrap_or(at as u8);
        out.push(number.into());
        (0..command::info(number).params).for_each(|_| out.push(param(bytes)));
    }
    out.extend([0x50, 0]);
    out
}

/// Any commands run, draw within the screen, and draw the same on three threads, without vector extensions, and again.
pub fn nds(data: &[u8]) {
    let run = |threads, extensions| {
        let mut bytes = Bytes::new(data);
        let rules = Rules::from_bits_truncate(bytes.u8().into());
        let mut gpu = Gpu::new(Options { rules, threads, extensions });
        let registers: [u8; REGISTER_BYTES] = std::array::from_fn(|_| bytes.u8());
        gpu.set_registers(Registers::from_bytes(&registers));
        // Little memory goes a long way: each byte is a stripe of textures and of palettes.
        for stripe in 0..64u32 {
            let byte = bytes.u8();
            gpu.memory.write_textures(stripe * 0x2000, &[byte; 0x400]);
            gpu.memory.write_palettes(stripe * 0x600, &[byte ^ 0x55; 0x200]);
        }
        let words = words(&mut bytes);
        let mut rest = words.as_slice();
        for _ in 0..MAX_FRAMES {
            let taken = gpu.feed(rest);
            rest = rest.get(taken..).unwrap_or_default();
            if !gpu.vblank() {
                break;
            }
        }
        let list = gpu.polygons();
        assert!(list.polygons.len() <= 2048 && list.vertices.len() <= 6144);
        for polygon in &list.polygons {
            assert!(polygon.indices().len() <= MAX_VERTICES);
            assert!(polygon.indices().iter().all(|&i| usize::from(i) < list.vertices.len()));
        }
        let row = |y| {
            let renderer = gpu.renderer();
            (renderer.color_row(y), renderer.depth_row(y).copied(), renderer.attribute_row(y).copied())
        };
        (0..HEIGHT).map(row).collect::<Vec<_>>()
    };
    let frame = run(1, Extensions::Baseline);
    assert!(frame.iter().all(|(colors, ..)| colors.iter().all(|c| c & 0xe0c0_c0c0 == 0)));
    assert!(frame == run(3, Extensions::Best), "frames differ");
}

/// A random frame: registers, then commands with parameters that mostly show something.
fn random_frame(rng: &mut Rng) -> (Registers, Vec<(u8, Vec<u32>)>) {
    let mut registers: [u8; REGISTER_BYTES] = std::array::from_fn(|_| rng.next_u32() as u8);
    // Rarely a clear image; the depth behind everything.
    registers[1] &= 0x0f | (rng.next_u32() as u8 & 0x40);
    registers[2] &= 7;
    (registers[8], registers[9]) = (0xff, 0x7f);
    let mut commands = vec![(0x60, vec![255 << 16 | 191 << 24]), (0x10, vec![0]), (0x15, vec![])];
    for _ in 0..1 + rng.below(24) {
        let alpha = if rng.below(3) == 0 { rng.below(32) } else { 31 };
        let bits = rng.next_u32() & 0x3f00_f83f | 0xc0;
        commands.push((0x29, vec![bits | alpha << 16]));
        commands.push((0x2a, vec![rng.next_u32() & 0x3fff_ffff]));
        commands.push((0x2b, vec![rng.below(0x1000)]));
        let primitive = rng.below(4);
        commands.push((0x40, vec![primitive]));
        for _ in 0..3 + rng.below(6) {
            commands.push((0x20, vec![rng.next_u32()]));
            commands.push((0x22, vec![rng.next_u32() & 0x1fff_1fff]));
            let coordinate = |rng: &mut Rng| (rng.below(0x2800)).wrapping_sub(0x1400) & 0xffff;
            let (x, y, z) = (coordinate(rng), coordinate(rng), rng.below(0x1800) & 0xffff);
            commands.push((0x23, vec![x | y << 16, z]));
        }
    }
    (Registers::from_bytes(&registers), commands)
}

/// Random scenes.
fn random_scenes() -> Vec<Scene> {
    let mut rng = Rng::new(7);
    let scene = |_| {
        let (registers, commands) = random_frame(&mut rng);
        let stream =
            commands.into_iter().flat_map(|(number, params)| std::iter::once(number.into()).chain(params));
        Scene {
            meta: "name=random".into(),
            registers,
            textures: vec![(rng.below(0x80000), vec![1, 2, 3])],
            stream: stream.chain([0x50, 0]).collect(),
            probes: vec![2, 5],
            ..Scene::default()
        }
    };
    (0..16).map(scene).collect()
}

/// Scene files to start from.
pub(crate) fn scenes() -> Vec<Vec<u8>> {
    random_scenes().iter().map(Scene::to_bytes).collect()
}

/// Frame dumps to start from, without banks of memory: these are most of a dump's bytes.
pub(crate) fn dumps() -> Vec<Vec<u8>> {
    let dump = |scene: &Scene| {
        let mut dump = FrameDump::of_scene(scene, None).ok()?;
        dump.banks = Default::default();
        Some(dump.to_bytes())
    };
    random_scenes().iter().filter_map(dump).collect()
}

/// What [`words`] reads as these commands.
fn encoded(commands: &[(u8, Vec<u32>)]) -> Vec<u8> {
    let numbers: Vec<u8> = command::numbers().collect();
    let place = |number: &u8| numbers.iter().position(|n| n == number).unwrap_or(0) as u8;
    let params =
        |params: &[u32]| params.iter().flat_map(|p| [[255].as_slice(), &p.to_le_bytes()].concat()).collect();
    let one = |(number, words): &(u8, Vec<u32>)| -> Vec<u8> {
        let params: Vec<u8> = params(words);
        [[place(number)].as_slice(), &params].concat()
    };
    commands.iter().flat_map(one).collect()
}

/// Commands to start from.
pub(crate) fn commands() -> Vec<Vec<u8>> {
    let mut rng = Rng::new(8);
    let input = |_| {
        let (registers, commands) = random_frame(&mut rng);
        let memory: [u8; 64] = std::array::from_fn(|_| rng.next_u32() as u8);
        let rules = rng.next_u32() as u8;
        [[rules].as_slice(), &registers.to_bytes(), &memory, &encoded(&commands)].concat()
    };
    (0..40).map(input).collect()
}
