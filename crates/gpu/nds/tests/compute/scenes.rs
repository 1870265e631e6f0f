//! Random frames: everything the rendering engine does, often enough to meet, on polygons that mostly overlap.

use xenoglot_nds::container::Scene;
use xenoglot_nds::registers::{Control, Registers};
use xenoglot_testgen::rng::Rng;

/// A scene that shows one frame, and what its memory is filled with besides.
pub fn scene(seed: u64) -> Scene {
    let mut rng = Rng::new(seed);
    let rng = &mut rng;
    let registers = registers(rng);
    let mut stream = vec![0x60, 255 << 16 | 191 << 24];
    // The depth mode counts from the next frame on.
    let w_buffered = rng.below(2) << 1;
    stream.extend([0x50, w_buffered, 0x60, 255 << 16 | 191 << 24, 0x10, 0, 0x15]);
    if rng.below(4) != 0 {
        // Perspective: w grows with z.
        stream.extend([0x16, 0x1000, 0, 0, 0, 0, 0x1000, 0, 0, 0, 0, 0x1000, 0x1000, 0, 0, 0, 0x1800]);
    }
    let polygons = [3, 12, 40, 200][rng.below(4) as usize];
    let size = [60, 300, 0x1000][rng.below(3) as usize];
    for _ in 0..1 + rng.below(polygons) {
        polygon(rng, size, &mut stream);
    }
    stream.extend([0x50, rng.below(2) | w_buffered]);
    Scene {
        meta: format!("name=random_{seed}"),
        registers,
        textures: (0..4).map(|slot| (slot << 17, bytes(rng, 0x2000))).collect(),
        palettes: (0..6).map(|slot| (slot << 14, bytes(rng, 0x800))).collect(),
        stream,
        ..Scene::default()
    }
}

fn bytes(rng: &mut Rng, count: usize) -> Vec<u8> {
    (0..count).map(|_| rng.next_u32() as u8).collect()
}

fn registers(rng: &mut Rng) -> Registers {
    let mut control = Control::from_bits_truncate(rng.next_u32() as u16) - Control::OVERFLOW;
    if rng.below(4) != 0 {
        control -= Control::CLEAR_IMAGE;
    }
    let half = |rng: &mut Rng| rng.next_u32() as u16;
    let near = rng.below(8) == 0;
    Registers {
        control: control.bits() | (half(rng) & 0x0f00),
        alpha_test_ref: rng.below(8) as u8,
        clear_color: rng.next_u32() & 0x3f1f_ffff,
        clear_depth: if near { half(rng) & 0x7fff } else { 0x7fff },
        clear_image_offset: half(rng),
        fog_color: rng.next_u32() & 0x001f_7fff,
        fog_offset: half(rng) & 0x7fff,
        one_dot_depth: 0x7fff,
        edge_colors: std::array::from_fn(|_| half(rng)),
        fog_table: std::array::from_fn(|_| half(rng) as u8),
        toon_table: std::array::from_fn(|_| half(rng)),
        scroll_x: if rng.below(4) == 0 { half(rng) & 0x1ff } else { 0 },
    }
}

/// POLYGON_ATTR.
fn attributes(rng: &mut Rng) -> u32 {
    let alpha = match rng.below(8) {
        0 => 0,
        1 | 2 => rng.below(32),
        _ => 31,
    };
    let mode = if rng.below(3) == 0 { 3 } else { rng.below(3) };
    // Few ids, so that they meet; 0 makes a shadow a mask.
    let id = [0, 0, 1, 8, 17, 63][rng.below(6) as usize];
    let equal = u32::from(rng.below(8) == 0) << 14;
    0xc0 | mode << 4 | alpha << 16 | id << 24 | equal | rng.next_u32() & 0xb800
}

fn polygon(rng: &mut Rng, size: u32, stream: &mut Vec<u32>) {
    stream.extend([0x29, attributes(rng)]);
    let repeats = rng.next_u32() & 0xf << 16;
    let format = if rng.below(4) == 0 { 0 } else { rng.below(8) };
    let texture = rng.below(4) << 14 | repeats | rng.below(3) << 20 | rng.below(3) << 23 | format << 26;
    stream.extend([0x2a, texture | rng.below(2) << 29, 0x2b, rng.below(0x40)]);
    let primitive = rng.below(4);
    stream.extend([0x40, primitive]);
    let at: [u32; 3] = std::array::from_fn(|_| rng.below(0x2400));
    let near = rng.below(0x1000);
    let level = rng.below(3) == 0;
    // Sometimes a grid of pixels, where vertices meet.
    let grid = if rng.below(3) == 0 { 32 } else { 1 };
    let flat = rng.below(12) == 0;
    for _ in 0..3 + primitive % 2 + 2 * rng.below(3) {
        if rng.below(2) == 0 {
            stream.extend([0x20, rng.next_u32() & 0x7fff]);
        }
        stream.extend([0x22, rng.next_u32() & 0x0fff_0fff]);
        let place = |rng: &mut Rng, centre: u32| {
            let offset = rng.below(2 * size) as i32 - size as i32;
            ((centre as i32 - 0x1200 + offset) / grid * grid) as u32 & 0xffff
        };
        let x = place(rng, at[0]);
        let y = if flat { 0x200 } else { place(rng, at[1]) };
        let z = if level { near } else { (near + rng.below(2 * size) / 2) & 0x3fff };
        stream.extend([0x23, x | y << 16, z]);
    }
}
