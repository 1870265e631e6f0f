//! What the CPU renderer obeys with [`Reference::Chip`] and ignores without.

use xenoglot_pica::early_depth::EarlyDepth;
use xenoglot_pica::memory::{FCRAM, Memory, Regions, VRAM};
use xenoglot_pica::raster::{Chip, Options, Reference, Renderer};
use xenoglot_pica::regs::*;
use xenoglot_pica::renderer::{Draw, Renderer as _};
use xenoglot_pica::tables::Tables;
use xenoglot_pica::texture::tiling::pixel_index;
use xenoglot_pica::vertex::Vertex;

/// Pixels of a row and of a column.
const SIDE: u32 = 32;
const DEPTH_BUFFER: u32 = VRAM + 0x1_0000;
/// Size, parameters and levels of texture unit 0.
const SIZE: u32 = TEXTURE0 + 1;
const PARAMETERS: u32 = TEXTURE0 + 2;
const LEVELS: u32 = TEXTURE0 + 3;
const REPEAT: u32 = 2 << 12 | 2 << 8;
const MAGNIFY_LINEAR: u32 = 2;
const I8: u32 = 7;

const CHIP: Reference = Reference::Chip(Chip::ALL);

/// A screen that shows texture 0 once.
struct Scene {
    regs: Registers,
    memory: Regions,
    early_depth: EarlyDepth,
    tables: Tables,
}

impl Scene {
    fn new(writes: &[(u32, u32)]) -> Scene {
        let mut regs = Registers::default();
        let base = [
            // 16 as float24.
            (VIEWPORT_HALF_WIDTH, 67 << 16),
            (VIEWPORT_HALF_HEIGHT, 67 << 16),
            (DEPTH_SCALE, 1 << 23 | 63 << 16),
            (DEPTH_MODE, 1),
            (TEXTURE_UNITS, 1),
            (SIZE, SIDE << 16 | SIDE),
            (TEXTURE0 + 4, FCRAM / 8),
            (TEXTURE0_FORMAT, I8),
            (COMBINER5, 0x0003_0003),
            (FRAGMENT_MODE, 1 << 8),
            (BLENDING, 0x0101_0000),
            (DEPTH_TEST, 0xf << 8),
            (COLOR_WRITE, 0xf),
            (DEPTH_FORMAT, 3),
            (COLOR_ADDRESS, VRAM / 8),
            (DEPTH_ADDRESS, DEPTH_BUFFER / 8),
            (FRAMEBUFFER_SIZE, (SIDE - 1) << 12 | SIDE),
        ];
        for &(register, value) in base.iter().chain(writes) {
            regs.set(register, value);
        }
        Scene {
            regs,
            memory: Regions::console(1 << 14),
            early_depth: EarlyDepth::default(),
            tables: Tables::default(),
        }
    }

    /// Fills the texture's memory.
    fn texture(mut self, texel: impl Fn(u32) -> u8) -> Scene {
        let bytes = self.memory.bytes_mut(FCRAM, 1 << 13).unwrap();
        bytes.iter_mut().zip(0..).for_each(|(byte, i)| *byte = texel(i));
        self
    }

    /// Fills words from an address on.
    fn fill(mut self, address: u32, word: u32) -> Scene {
        let bytes = self.memory.bytes_mut(address, SIDE * SIDE * 4).unwrap();
        bytes.as_chunks_mut().0.iter_mut().for_each(|bytes| *bytes = word.to_le_bytes());
        self
    }

    /// Draws a rectangle over the screen whose coordinates go to `repeats`, and gives the word at a place in `buffer`.
    fn draw(mut self, reference: Reference, repeats: f32, buffer: u32) -> impl Fn(u32, u32) -> u32 {
        let vertex = |x: f32, y: f32| {
            let mut values = [0.0; 24];
            values[..4].copy_from_slice(&[x, y, -0.5, 1.0]);
            values[12..14].copy_from_slice(&[(x + 1.0) * 0.5 * repeats, (y + 1.0) * 0.5 * repeats]);
            Vertex { values }
        };
        let [a, b, c, d] = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(x, y)| vertex(x, y));
        let mut renderer = Renderer::with_options(Options { reference, ..Options::default() });
        let triangles = [[a, b, c], [a, c, d]];
        let (regs, memory, pixels) = (&self.regs, &mut self.memory, &mut (1 << 20));
        let early_depth = &mut self.early_depth;
        renderer
            .draw(Draw {
                regs,
                tables: &self.tables,
                memory,
                early_depth,
                triangles: triangles.as_slice().into(),
                pixels,
            })
            .unwrap();
        move |x, y| {
            let address = buffer + 4 * pixel_index(x, SIDE - 1 - y, SIDE / 8);
            u32::from_le_bytes(*self.memory.bytes(address, 4).unwrap().first_chunk().unwrap())
        }
    }
}

fn red(word: u32) -> u32 {
    word >> 24
}

#[test]
fn levels() {
    // Each level of its own colour; level n starts at the sum of those before.
    let texel = |i| match i {
        0..1024 => 10,
        1024..1280 => 20,
        1280..1344 => 30,
        _ => 40,
    };
    let seen = |reference, levels: u32, parameters: u32, repeats: f32| {
        let scene = Scene::new(&[(LEVELS, levels), (PARAMETERS, parameters | REPEAT)]).texture(texel);
        red(scene.draw(reference, repeats, VRAM)(5, 9))
    };
    let last = 3 << 16;
    assert_eq!([1.0, 2.0, 4.0, 8.0, 64.0].map(|r| seen(CHIP, last, 0, r)), [10, 20, 30, 40, 40]);
    assert_eq!([1.0, 2.0, 8.0].map(|r| seen(Reference::Emulator, last, 0, r)), [10; 3]);
    // One level of bias, and levels from the second on.
    assert_eq!(seen(CHIP, last | 0x100, 0, 2.0), 30);
    assert_eq!(seen(CHIP, last | 0x1f00, 0, 2.0), 10);
    assert_eq!(seen(CHIP, last | 1 << 24, 0, 1.0), 20);
    assert_eq!(seen(CHIP, 1 << 16, 0, 8.0), 20);
    // Half way between the first two.
    assert_eq!(seen(CHIP, last | 0x80, 1 << 24, 1.0), 15);
}

#[test]
fn magnification() {
    // Eight columns, the right half white.
    let columns = |reference, wrap: u32| {
        let scene = Scene::new(&[(SIZE, 8 << 16 | 8), (PARAMETERS, MAGNIFY_LINEAR | wrap)]);
        // Bit 4 of a texel's place is the highest of its column.
        let pixel = scene.texture(|i| if i & 16 != 0 { 255 } else { 0 }).draw(reference, 1.0, VRAM);
        (0..SIDE).map(|x| red(pixel(x, 3))).collect::<Vec<_>>()
    };
    let sharp = columns(Reference::Emulator, 0);
    assert!((0..32).all(|x| sharp[x] == if x < 16 { 0 } else { 255 }), "{sharp:?}");
    let smooth = columns(CHIP, 0);
    for (x, &value) in (0..).zip(&smooth) {
        // From the middle of column 3 to that of column 4, a texel being four pixels.
        let expected = 255.0 * ((f64::from(x) + 0.5) / 4.0 - 3.5).clamp(0.0, 1.0);
        assert!((f64::from(value) - expected).abs() <= 1.5, "{x}: {value}, {expected}");
    }
    // Repeated, the left end is mixed with the right.
    let repeated = columns(CHIP, REPEAT);
    assert!(repeated[0] > 64 && repeated[31] < 192 && repeated[5] == 0, "{repeated:?}");
}

#[test]
fn pixels_that_may_not_be_read_count_as_black() {
    let seen = |reference, readable: u32| {
        // Source plus destination; green is not written.
        let writes = [(BLENDING, 0x1111_0000), (COLOR_READ, readable), (DEPTH_TEST, 0xd << 8)];
        let scene = Scene::new(&writes).texture(|_| 0x11).fill(VRAM, 0x2020_2020);
        scene.draw(reference, 1.0, VRAM)(1, 1)
    };
    assert_eq!(seen(Reference::Emulator, 0), 0x3120_31ff);
    assert_eq!(seen(CHIP, 0xf), 0x3120_31ff);
    assert_eq!(seen(CHIP, 0), 0x1120_11ff);
}

#[test]
fn depth_and_stencil_have_permissions_of_their_own() {
    let seen = |reference, readable: u32, writable: u32| {
        let writes = [
            // Greater passes, which only a depth of 0 allows; then the stencil is incremented.
            (DEPTH_TEST, 1 << 12 | 6 << 4 | 1),
            (STENCIL_TEST, 0xff00_ff11),
            (STENCIL_ACTIONS, 0x300),
            (DEPTH_READ, readable),
            (DEPTH_WRITE, writable),
        ];
        let scene = Scene::new(&writes).fill(DEPTH_BUFFER, 0x40ff_ffff);
        scene.draw(reference, 1.0, DEPTH_BUFFER)(1, 1)
    };
    assert_eq!(seen(Reference::Emulator, 0, 1), 0x40ff_ffff);
    assert_eq!(seen(CHIP, 3, 3), 0x40ff_ffff);
    assert_eq!(seen(CHIP, 1, 3), 0x417f_ffff);
    assert_eq!(seen(CHIP, 0, 3), 0x017f_ffff);
    assert_eq!(seen(CHIP, 1, 1), 0x41ff_ffff);
    assert_eq!(seen(CHIP, 1, 2), 0x407f_ffff);
}

/// A rectangle of depth 0.5 over the screen, with the test's function against what its buffer was cleared to.
#[test]
fn the_early_depth_test_drops_fragments() {
    let seen = |reference, function: u32, cleared: u32, enabled: u32| {
        let writes = [
            (EARLY_DEPTH, 1),
            (EARLY_DEPTH_ENABLE, enabled),
            (EARLY_DEPTH_FUNCTION, function),
            (DEPTH_TEST, 0xf << 8 | 1 << 12),
            (DEPTH_WRITE, 3),
        ];
        let mut scene = Scene::new(&writes).texture(|_| 0x55);
        scene.early_depth.clear(cleared);
        red(scene.draw(reference, 1.0, VRAM)(1, 1))
    };
    let (below, above) = (0x10_0000, 0xf0_0000);
    assert_eq!([0, 1, 2, 3].map(|function| seen(CHIP, function, below, 1)), [0x55, 0x55, 0, 0]);
    assert_eq!([0, 1, 2, 3].map(|function| seen(CHIP, function, above, 1)), [0, 0, 0x55, 0x55]);
    assert_eq!(seen(CHIP, 3, below, 0), 0x55);
    assert_eq!(seen(Reference::Emulator, 3, below, 1), 0x55);
}

#[test]
fn gas_adds_up_and_is_shown() {
    let density = |reference, gas_depth: u32| {
        let writes = [(FRAGMENT_MODE, 1), (GAS_DEPTH, gas_depth), (DEPTH_FORMAT, 2)];
        // The rectangle has a depth of 0.5, what is there one of 1.
        let scene =
            Scene::new(&writes).texture(|_| 0x40).fill(VRAM, 0x0001_0002).fill(DEPTH_BUFFER, u32::MAX);
        scene.draw(reference, 1.0, VRAM)(9, 9)
    };
    assert_eq!(density(CHIP, 0), 0x0001_0042);
    assert_eq!(density(CHIP, 1 << 24), 0x0041_0042);
    // Half of it: the distance is a half, its factor one.
    assert_eq!(density(CHIP, 3 << 24 | 0x100) >> 16, 1 + 0x20);
    assert_eq!(density(CHIP, 2 << 24 | 0x100), 0x0001_0042);
    // The emulator has no gas: logic operation 0 clears.
    assert_eq!(density(Reference::Emulator, 0), 0);

    // The table's colours are 0, 32, 64 and so on; RGBA8 has plain density in blue and alpha.
    let color = |mode: u32| {
        let writes = [(FOG_MODE, mode), (GAS_MAXIMUM, 15 << 10), (TEXTURE0_FORMAT, 0), (SIZE, 8 << 16 | 8)];
        let mut scene = Scene::new(&writes).texture(|i| [128, 0, 64, 0][i as usize % 4]);
        scene.tables.gas = [0; 16];
        (0..8).for_each(|n| scene.tables.gas[n + 8] = n as u32 * 32);
        red(scene.draw(CHIP, 1.0, VRAM)(2, 2))
    };
    assert_eq!([7, 7 | 8].map(color), [128, 64]);
}
