//! Generated programs on the interpreter against the CPU renderer's stages.

use proptest::prelude::*;
use xenoglot_interp::{Bindings, End, Interpreter, Limits};
use xenoglot_ir::module::{Builtin, Semantic};
use xenoglot_ir::{Bits, verify};

use super::*;
use crate::memory::{FCRAM, Memory, Regions};
use crate::raster::Chip;
use crate::raster::alpha_test::AlphaTest;
use crate::raster::batch::{LANES, Pixels};
use crate::raster::framebuffer::ColorBuffer;
use crate::raster::state::Target;
use crate::raster::testing::shade;
use crate::regs;

const TEXTURES: u32 = FCRAM;
const COLOR_BUFFER: u32 = FCRAM + 0x2_0000;
const MEMORY: u32 = 1 << 18;

/// What a program gave.
#[derive(Debug, PartialEq)]
struct Shaded {
    /// None if the fragment was killed.
    color: Option<[u32; 4]>,
    word: u32,
    depth: Option<f32>,
}

/// What a fragment is shaded with.
struct Draw<'a> {
    regs: &'a Registers,
    tables: &'a Tables,
    memory: &'a dyn Memory,
    attributes: [f32; semantic::COUNT],
    /// Position, as the host gives it.
    position: [f32; 4],
    /// The pixel or word under it.
    destination: u32,
}

impl Draw<'_> {
    fn run(&self, key: &FragmentKey) -> Shaded {
        let module = generate(key);
        verify(&module).unwrap_or_else(|errors| panic!("{errors}"));
        let mut bindings = Bindings::new(&module);
        for (resource, data) in module.resources.iter() {
            let words = match data.binding {
                layout::UNIFORM_BINDING => layout::uniforms(self.regs).to_vec(),
                layout::TABLE_BINDING => layout::tables(self.tables),
                layout::DESTINATION_BINDING => vec![self.destination],
                binding => {
                    let unit = (binding - layout::TEXTURE_BINDING) as usize;
                    layout::texels(self.regs, unit, self.memory).unwrap()
                }
            };
            bindings.set_words(resource, &words);
        }
        for (var, data) in module.vars.iter() {
            let at = match data.semantic {
                Semantic::Location { location, .. } => location as usize,
                Semantic::Builtin(_) => 6,
            };
            let semantics: &[usize] =
                [&[4, 5, 6, 7][..], &[8, 9, 10, 11], &[12, 13, 16], &[14, 15], &[22, 23], &[18, 19, 20], &[]]
                    [at];
            let mut lanes = self.position;
            for (lane, &semantic) in lanes.iter_mut().zip(semantics) {
                *lane = self.attributes[semantic];
            }
            bindings.set_input(var, Bits::f32x4(lanes));
        }
        let mut interpreter = Interpreter::new(&module).unwrap();
        let outcome = interpreter.run_entry(&mut bindings, &Limits::default()).unwrap();
        assert_eq!(outcome.stats.out_of_bounds, 0);
        let mut shaded = Shaded { color: None, word: 0, depth: None };
        if outcome.end == End::Kill {
            return shaded;
        }
        shaded.color = Some([0; 4]);
        for (var, data) in module.vars.iter().filter(|(_, data)| data.name != "position") {
            let Some(value) = bindings.output(var).first() else { continue };
            let words = value.words();
            match data.semantic {
                Semantic::Builtin(Builtin::FragDepth) => shaded.depth = Some(f32::from_bits(words[0])),
                _ if data.ty.kind().is_int() => shaded.word = words[0],
                _ => shaded.color = Some(words.map(channel)),
            }
        }
        shaded
    }
}

/// n of n/255, exactly.
fn channel(bits: u32) -> u32 {
    let value = f32::from_bits(bits);
    let n = (value * 255.0).round();
    assert_eq!(n / 255.0, value);
    n as u32
}

/// Deterministic random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn word(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) as u32
    }

    fn below(&mut self, n: u32) -> u32 {
        self.word() % n
    }

    fn float(&mut self) -> f32 {
        let unit = self.word() as f32 / u32::MAX as f32;
        match self.below(16) {
            0 => [0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1.0e30]
                [self.below(8) as usize],
            1 => f32::from_bits(self.word()),
            2 => (unit - 0.5) * 1.0e4,
            3..=6 => unit,
            _ => unit * 4.0 - 2.0,
        }
    }

    /// A float16, float20 or float24 around 1: `exponent` bits, `mantissa` bits.
    fn small_float(&mut self, exponent: u32, mantissa: u32) -> u32 {
        let bias = (1 << (exponent - 1)) - 1;
        let sign = self.below(2) << (exponent + mantissa);
        sign | (bias - 3 + self.below(5)) << mantissa | self.below(1 << mantissa)
    }

    fn registers(&mut self) -> Registers {
        let mut regs = Registers::default();
        let ranges = [0x80..0x9f, 0xa8..0xae, 0xc0..0xfe, 0x100..0x108, 0x1c0..0x1da];
        for index in ranges.into_iter().flatten() {
            regs.set(index, self.word());
        }
        // Half of the stages with sources and operations that mean something.
        for stage in crate::raster::combiner::STAGES {
            if self.below(2) == 0 {
                let source =
                    |random: &mut Random| [0, 1, 2, 3, 4, 5, 6, 13, 14, 15][random.below(10) as usize];
                let sources = [0, 4, 8, 16, 20, 24].map(|at| source(self) << at);
                regs.set(stage, sources.iter().sum());
                regs.set(stage + 2, self.below(10) << 16 | self.below(10));
            }
        }
        for group in [regs::TEXTURE0, regs::TEXTURE1, regs::TEXTURE2] {
            let size = if self.below(2) == 0 { 0x0010_0020 } else { self.below(32) << 16 | self.below(32) };
            regs.set(group + 1, size);
            regs.set(group + 4, TEXTURES / 8 + self.below(0x1000));
        }
        regs.set(regs::TEXTURE0_SHADOW, self.word());
        regs.set(regs::TEXTURE_UNITS, self.word() | self.word());
        regs.set(regs::ALPHA_TEST, self.word() & self.word());
        for index in regs::PROCTEX_NOISE_U..=regs::PROCTEX_NOISE_FREQUENCY {
            let noise = self.small_float(5, 10) << 16 | self.small_float(5, 10);
            regs.set(index, noise);
        }
        for light in (regs::LIGHT..).step_by(16).take(8) {
            for (place, word) in [(4, self.small_float(5, 10) << 16 | self.small_float(5, 10))]
                .into_iter()
                .chain([
                    (5, self.small_float(5, 10)),
                    (10, self.small_float(7, 12)),
                    (11, self.small_float(7, 12)),
                ])
                .chain([0, 1, 2, 3, 6, 7, 9].map(|place| (place, self.word() & self.word())))
            {
                regs.set(light + place, word);
            }
        }
        regs.set(regs::LIGHTING_DISABLE, u32::from(self.below(8) == 0));
        let disabled = self.word() & self.word();
        regs.set(regs::LIGHT_DISABLE, disabled);
        let fog = [0, 5, 5, 7][self.below(4) as usize];
        regs.set(regs::FOG_MODE, regs.get(regs::FOG_MODE) & !7 | fog);
        let mode = if self.below(10) == 0 { 3 } else { 0 };
        regs.set(regs::FRAGMENT_MODE, mode | self.below(2) << 8);
        regs.set(regs::DEPTH_SCALE, self.small_float(7, 16));
        regs.set(regs::DEPTH_OFFSET, self.small_float(7, 16));
        regs.set(regs::DEPTH_MODE, self.below(2));
        regs.set(regs::DEPTH_FORMAT, self.below(4));
        regs.set(regs::COLOR_FORMAT, self.below(5) << 16);
        regs.set(regs::COLOR_WRITE, 15);
        regs.set(regs::DEPTH_WRITE, self.below(4));
        regs.set(regs::SHADOW, self.small_float(5, 10) << 16 | self.small_float(5, 10));
        regs.set(regs::COLOR_ADDRESS, COLOR_BUFFER / 8);
        regs.set(regs::DEPTH_ADDRESS, (COLOR_BUFFER + 0x1_0000) / 8);
        regs.set(regs::FRAMEBUFFER_SIZE, 7 << 12 | 8);
        regs
    }

    fn tables(&mut self) -> Tables {
        let mut tables = Tables::default();
        let small = [&mut tables.fog, &mut tables.noise, &mut tables.color_map, &mut tables.alpha_map];
        let words = small.into_iter().flatten();
        let large = [&mut tables.colors, &mut tables.color_differences].into_iter().flatten();
        for word in words.chain(large).chain(tables.lighting.as_flattened_mut()) {
            *word = self.word();
        }
        tables
    }

    fn memory(&mut self) -> Regions {
        let mut memory = Regions::new();
        memory.add(FCRAM, (0..MEMORY).map(|_| self.word() as u8).collect());
        memory
    }
}

/// Depth of a fragment by its position.
fn depth(regs: &Registers, [_, _, z, inverse_w]: [f32; 4]) -> f32 {
    let map = crate::raster::interpolate::DepthMap::decode(regs);
    let depth = -z * map.scale + map.offset;
    let depth = if map.w_buffer { depth / inverse_w } else { depth };
    depth.clamp(0.0, 1.0)
}

fn planes(color: [u16; 4]) -> [[u16; LANES]; 4] {
    color.map(|channel| [channel; LANES])
}

/// The colour buffer's only pixel of interest.
fn pixel() -> Pixels {
    let mut pixels = Pixels::default();
    pixels.push(0, [0; 3]);
    pixels
}

fn loaded(buffer: &ColorBuffer, memory: &Regions) -> [u16; 4] {
    let mut color = planes([0; 4]);
    buffer.load(memory, &pixel(), &mut color);
    color.map(|plane| plane[0])
}

fn same_float(a: Option<f32>, b: Option<f32>) -> bool {
    a == b || a.is_some_and(f32::is_nan) && b.is_some_and(f32::is_nan)
}

/// Shades one random fragment both ways; the key.
fn compare(seed: u64) -> Option<FragmentKey> {
    let mut random = Random(seed);
    let (regs, tables, mut memory) = (random.registers(), random.tables(), random.memory());
    let key = FragmentKey::decode(&regs, Blending::Host);
    let state = State::decode(&regs, &tables, Chip::default());
    assert_eq!(key.is_some(), state.is_some());
    let (key, state) = (key?, state?);
    let attributes = std::array::from_fn(|_| random.float());
    let position = [0.5, 0.5, -random.float(), random.float()];
    let mut draw =
        Draw { regs: &regs, tables: &tables, memory: &memory, attributes, position, destination: 0 };
    let depth = depth(&regs, position);
    let color = shade(&state, &tables, &memory, &attributes, depth);
    let passes = state.alpha_test.is_none_or(|test: AlphaTest| test.passes(color[3]));

    if let Target::Color(output) = &state.target {
        let shaded = draw.run(&key);
        assert_eq!(shaded.color, passes.then_some(color.map(u32::from)), "seed {seed}");
        let written = Some(depth).filter(|_| passes && key.depth.written);
        assert!(same_float(shaded.depth, written), "seed {seed}: {shaded:?} {written:?}");
        let key = FragmentKey::decode(&regs, Blending::Program)?;
        let destination = loaded(&output.buffer, &memory);
        draw.destination = u32::from_le_bytes(destination.map(|channel| channel as u8));
        let shaded = draw.run(&key);
        let mut mixed = planes(color);
        output.mix(&mut mixed, &planes(destination), 8);
        output.buffer.store(&mut memory, &pixel(), &mixed, &[u16::MAX; LANES]);
        let stored = loaded(&output.buffer, &memory).map(u32::from);
        assert_eq!(shaded.color, passes.then_some(stored), "seed {seed}: {:?}", key.output);
    } else if let Target::Shadow(map) = &state.target {
        let word = |memory: &Regions| {
            let bytes = memory.bytes(COLOR_BUFFER, 4).unwrap();
            u32::from_le_bytes(bytes.try_into().unwrap())
        };
        draw.destination = word(&memory);
        let shaded = draw.run(&key);
        let mut batch = crate::raster::batch::Batch::of(1);
        batch.color = planes(color);
        batch.depth = [depth; LANES];
        map.run(&batch, &pixel(), &mut memory);
        assert_eq!(shaded.word, word(&memory), "seed {seed}");
    }
    Some(key)
}

#[test]
fn random_fragments() {
    let keys: Vec<FragmentKey> = (0..4000).filter_map(compare).collect();
    let count = |what: fn(&FragmentKey) -> bool| keys.iter().filter(|key| what(key)).count();
    let counts = [
        ("drawn", keys.len()),
        ("textured", count(|key| (0..3).any(|unit| key.reads_texture(unit)))),
        ("procedural", count(|key| key.proctex.is_some())),
        ("lit", count(|key| key.lighting.is_some())),
        ("fogged", count(|key| key.fog.is_some())),
        ("alpha-tested", count(|key| key.alpha_test.is_some())),
        ("shadow maps", count(|key| key.output == OutputKey::Shadow)),
    ];
    println!("{counts:?}");
    for (what, count) in counts {
        assert!(count > 100, "{what}: {count}");
    }
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(256))]

    #[test]
    fn any_fragment(seed: u64) {
        compare(seed);
    }
}
