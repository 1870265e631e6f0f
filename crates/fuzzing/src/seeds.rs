//! Inputs to start from, small and of every kind, made of the bundled shaders and the generators.

use xenoglot::pica::{Options, lift_executable};
use xenoglot_capture::{Block, Capture, FRAME_END, Frame, Info};
use xenoglot_ir::text::canonical;
use xenoglot_opt::{Context, optimize};
use xenoglot_pica::memory::VRAM;
use xenoglot_pica::regs::*;
use xenoglot_pica_shader::asm::assemble;
use xenoglot_pica_shader::bundled::SHADERS;
use xenoglot_pica_shader::container::Shbin;
use xenoglot_testgen::pica::{Category, program};
use xenoglot_testgen::rng::Rng;
use xenoglot_testgen::{cfg, ir};

fn bundled() -> impl Iterator<Item = Shbin> {
    SHADERS.iter().map(|s| assemble(s.source).unwrap_or_else(|e| panic!("{}: {e}", s.name)))
}

/// Shader binaries.
pub fn binaries() -> Vec<Vec<u8>> {
    let mut all: Vec<_> = bundled().map(|s| s.write()).collect();
    // One inside something else.
    let inner = all.first().cloned().unwrap_or_default();
    all.push([b"DVLB padding ".as_slice(), &inner, b"DVLB"].concat());
    all
}

/// Maxwell programs, each of one instruction (EXIT): headers of all stages, deko3d files with them, a compute shader.
pub fn maxwell_programs() -> Vec<Vec<u8>> {
    let bytes = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    // A scheduling word and the instruction, then the branch to itself that ends all code.
    let code = bytes(&[0xfc00_07ff, 0x001f_8000, 0x0007_000f, 0xe300_0000, 0xff87_000f, 0xe240_0fff, 0, 0]);
    let file = |program: &[u32], section: Vec<u8>| {
        let mut program = program.to_vec();
        program.resize(16, 0);
        let start = [u32::from_le_bytes(*b"DKSH"), 24, 24 + 64, section.len() as u32, 24, 1];
        [bytes(&start), bytes(&program), section].concat()
    };
    let mut all = vec![file(&[5, 0, 4, 0, 0, 0, 32, 1, 1], code.clone())];
    // The deko3d number of each stage, and its type and number in a header.
    for (stage, ty, number) in [(0, 1, 1), (3, 1, 2), (4, 1, 3), (2, 1, 4), (1, 2, 5)] {
        let mut header = [0; 20];
        header[0] = 0x6_0060 | ty | number << 10;
        (header[5], header[6], header[13]) = (0xf000_0000, 0x377, 0x37_f000);
        let program = [bytes(&header), code.clone()].concat();
        all.push(file(&[stage, 0x30, 12], [vec![0; 0x30], program.clone()].concat()));
        all.push(program);
    }
    all
}

/// Assembly.
pub fn sources() -> Vec<Vec<u8>> {
    SHADERS.iter().map(|s| s.source.into()).collect()
}

/// Modules as text: bundled shaders as lifted and optimised, and random ones.
pub fn modules() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for shbin in bundled() {
        let lifted = lift_executable(&shbin, 0, &Options::default());
        let mut module = lifted.unwrap_or_else(|e| panic!("a bundled shader: {e}")).module;
        all.push(canonical(&module).into_bytes());
        let Ok(()) = optimize(&mut module, &mut Context::new(), &Default::default(), &mut ());
        all.push(canonical(&module).into_bytes());
    }
    for seed in 0..8 {
        let module = ir::generate(seed, &ir::Options::default());
        all.push(canonical(&module).into_bytes());
    }
    all.retain(|text| text.len() < 1 << 15);
    all
}

/// Programs with a header, as [`translate`](crate::translate()) takes them.
pub fn programs() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for category in Category::ALL {
        for seed in 0..8 {
            let mut rng = Rng::new(seed);
            let words = 4 + rng.below(60);
            let sample = program(&mut rng, category, words);
            let kind =
                if sample.geometry.is_some() { 3 | rng.next_u32() as u8 } else { rng.next_u32() as u8 };
            let [low, high] = sample.geometry.unwrap_or(0xff).to_le_bytes();
            let descriptors = &sample.program.descriptors[..sample.program.descriptors.len().min(31)];
            let mut bytes =
                vec![kind, low, high, rng.next_u32() as u8, sample.entry as u8, descriptors.len() as u8];
            let words = descriptors.iter().chain(&sample.program.code);
            bytes.extend(words.flat_map(|w| w.to_le_bytes()));
            all.push(bytes);
        }
    }
    all
}

/// Graphs, as [`structure`](crate::structure()) takes them.
pub fn graphs() -> Vec<Vec<u8>> {
    let shapes = cfg::Shape::ALL.into_iter().flat_map(|shape| (0..8).map(move |seed| (shape, seed)));
    shapes
        .map(|(shape, seed)| {
            let graph = cfg::random_of(&mut Rng::new(seed), shape, 24);
            let mut bytes = vec![graph.len() as u8 - 1, 44];
            for out in &graph {
                // The index of the out-degree in the target's table; more than three ways become five.
                let (code, ways) = [(2, 0), (1, 1), (0, 2), (4, 3), (6, 5)][out.len().min(4)];
                bytes.push(code);
                bytes.extend((0..ways).map(|i| out.get(i).copied().unwrap_or(0) as u8));
            }
            bytes
        })
        .collect()
}

/// Captures: one with everything, and some cut short. Their operations mean nothing.
pub fn captures() -> Vec<Vec<u8>> {
    let mut capture = Capture::new(*b"PICA", Info { title: "a seed".into(), ..Info::default() });
    capture.registers = vec![(0x40, 2), (0x41, 3)];
    capture.memory = vec![Block { address: 0x1800_0000, bytes: vec![1; 100] }];
    capture.write_memory(0x1800_0004, b"something");
    capture.ops.push_words(FRAME_END, &[0x1800_0000, 2, 1, 0, 0]);
    capture.frames = vec![Frame { index: 0, width: 2, height: 1, rgba: vec![255; 8] }];
    let whole = capture.to_bytes();
    (1..=12).map(|n| whole.iter().take(whole.len() * n / 12).copied().collect()).collect()
}

/// CiTrace recordings: registers and a program at the start, then memory, a fill, a command list and a frame, with and
/// without widths of writes.
pub fn recordings() -> Vec<Vec<u8>> {
    const GPU: u32 = 0x1040_0000;
    let program: Vec<u32> = bundled().next().map(|s| s.program.code).unwrap_or_default();
    let parts = [
        vec![0; 8],
        Vec::new(),
        (0..64).collect(),
        vec![0x3f_0000; 64],
        program,
        vec![0x36f; 4],
        vec![0x3f_0000; 16],
        Vec::new(),
        Vec::new(),
        Vec::new(),
    ];
    let recording = |widths: bool, elements: usize| {
        let mut header = vec![u32::from_le_bytes(*b"CiTr"), 1, 100];
        let mut at = 100;
        for part in &parts {
            header.extend([at, part.len() as u32]);
            at += 4 * part.len() as u32;
        }
        let write = |offset: u32, value: u32| {
            let [a, b] = if widths { [0xd3, value] } else { [value, 0] };
            [0xe3, GPU + offset, a, b, 0]
        };
        let list = |n: u32| 0x1000 + 4 * (LIST_SIZE + n);
        let stream = [
            [0xe2, 100, 64, VRAM, 0],
            write(0x10, VRAM / 8),
            write(0x14, VRAM / 8 + 8),
            write(0x1c, 0x201),
            write(list(0), 8),
            write(list(2), VRAM / 8),
            write(list(4), 1),
            write(0xc18, 1),
            [0xe1, 0, 0, 0, 0],
        ];
        header.extend([at, elements as u32]);
        let stream = stream.iter().take(elements).flatten();
        let words = header.iter().chain(parts.iter().flatten()).chain(stream);
        words.flat_map(|w| w.to_le_bytes()).collect()
    };
    (0..20).map(|n| recording(n % 2 == 0, n / 2)).collect()
}

/// Command lists, as [`picagpu`](crate::picagpu()) takes them: a program, an output map and draws of every kind.
pub fn lists() -> Vec<Vec<u8>> {
    let write = |register: u32, words: &[u32]| {
        let row = TABLE.iter().position(|r| r.first == register).unwrap_or_default() as u8;
        let mut bytes = vec![row, 0, words.len() as u8 - 1];
        let padding = words.len().is_multiple_of(2).then_some(&0);
        bytes.extend(words.iter().chain(padding).flat_map(|w| [&[255][..], &w.to_le_bytes()].concat()));
        bytes
    };
    let assembled = |name: &str| {
        let source = SHADERS.iter().find(|s| s.name == name).map_or("", |s| s.source);
        assemble(source).unwrap_or_else(|e| panic!("{name}: {e}"))
    };
    let program = |name: &str, code: u32, descriptors: u32| {
        let program = assembled(name).program;
        let words = program.code.chunks(8).flat_map(|words| write(code, words));
        words
            .chain(program.descriptors.chunks(8).flat_map(|words| write(descriptors, words)))
            .collect::<Vec<u8>>()
    };
    let draws = [(DRAW_ARRAYS, 0), (DRAW_ARRAYS, 2), (DRAW_INDEXED, 0), (DRAW_INDEXED, 2)];
    let scenes =
        draws.into_iter().flat_map(|(draw, stage)| (0..4).map(move |topology| (draw, stage, topology)));
    scenes
        .map(|(draw, stage, topology)| {
            [
                vec![0; 6],
                program("basic.v.pica", VERTEX_CODE_DATA, VERTEX_DESCRIPTOR_DATA),
                program("billboard.g.pica", GEOMETRY_CODE_DATA, GEOMETRY_DESCRIPTOR_DATA),
                write(GEOMETRY_EXCLUSIVE, &[1]),
                write(VERTEX_OUTPUT_MASK, &[3]),
                write(GEOMETRY_OUTPUT_MASK, &[3]),
                write(OUTPUT_COUNT, &[2]),
                write(OUTPUT_MAP, &[0x0302_0100]),
                write(ATTRIBUTE_BASE, &[VRAM / 8]),
                write(ATTRIBUTE_FORMATS, &[0xff]),
                write(LOADER, &[0]),
                write(VERTEX_PERMUTATION, &[0x7654_3210]),
                write(PRIMITIVES, &[topology << 8]),
                write(GEOMETRY_STAGE, &[stage]),
                write(GEOMETRY_MODE, &[topology]),
                write(VERTEX_COUNT, &[12]),
                write(draw, &[1]),
                write(FIXED_ATTRIBUTE, &[15]),
                write(FIXED_ATTRIBUTE_DATA, &[0, 0, 0x3f_0000, 0, 0, 0x3f_0000]),
            ]
            .concat()
        })
        .collect()
}

/// Draws, as [`raster`](crate::raster()) takes them: two triangles with each feature of the fragment stages on.
pub fn draws() -> Vec<Vec<u8>> {
    let features: [&[(u32, u32)]; 13] = [
        &[],
        &[(DEPTH_FORMAT, 3), (STENCIL_TEST, 0xff01_ff71), (STENCIL_ACTIONS, 0x345)],
        &[(ALPHA_TEST, 0x4061), (DEPTH_FORMAT, 2)],
        &[(FOG_MODE, 5), (FOG_COLOR, 0x0080_40ff)],
        &[(FRAGMENT_MODE, 3), (SHADOW, 0x3800_3c00)],
        &[(FRAGMENT_MODE, 0), (LOGIC_OP, 11), (COLOR_FORMAT, 3 << 16)],
        &[(COMBINER0, 0x0060_0060), (PROCTEX_SETUP, 0x87c9), (PROCTEX_LUT, 0x7f801)],
        &[(COMBINER0, 0x0010_0021), (COMBINER0 + 2, 2), (LIGHT_COUNT, 3), (LIGHT_ORDER, 0x3210)],
        &[(TEXTURE0 + 2, 1 << 28), (TEXTURE0_FORMAT, 12)],
        &[(TEXTURE0 + 2, 2 << 28), (TEXTURE0_SHADOW, 0x200)],
        &[
            (SCISSOR_MODE, 1),
            (SCISSOR_START, 0x0005_0005),
            (SCISSOR_END, 0x0010_0010),
            (COLOR_FORMAT, 1 << 16),
        ],
        // What is drawn is the texture and the depth buffer; such pixels are dear.
        &[
            (TEXTURE0 + 4, VRAM / 8),
            (DEPTH_ADDRESS, VRAM / 8 + 4),
            (SCISSOR_MODE, 3),
            (SCISSOR_START, 0x000c_000c),
            (SCISSOR_END, 0x0018_0018),
        ],
        &[(COLOR_ADDRESS, 0u32.wrapping_sub(0x800) / 8), (DEPTH_MODE, 0), (COMBINER0 + 2, 7)],
    ];
    let write = |&(register, value): &(u32, u32)| {
        let row = TABLE.partition_point(|row| row.first <= register).saturating_sub(1);
        let place = TABLE.get(row).map_or(0, |row| register - row.first);
        [&[row as u8, place as u8, 255][..], &value.to_le_bytes()].concat()
    };
    // Corners, w = 1 and values around 0.5.
    let vertex = |x: u8, y: u8| -> Vec<u8> {
        [x, y, 160, 127].into_iter().chain((0..20).map(|i| 150 + 3 * i)).collect()
    };
    let triangles =
        [(31, 31), (223, 40), (60, 250), (223, 40), (200, 230), (60, 250)].map(|(x, y)| vertex(x, y));
    let draw = |writes: &&[(u32, u32)]| {
        let header = [&0x0123_4567u32.to_le_bytes()[..], &[1, writes.len() as u8]].concat();
        [header, writes.iter().flat_map(write).collect(), triangles.concat()].concat()
    };
    features.iter().map(draw).collect()
}

/// Groups of SM53 code of every family: a scheduling word and two instructions each.
pub fn maxwell_words() -> Vec<Vec<u8>> {
    const WORDS: [u64; 24] = [
        0x5c58_0000_0007_0202, // FADD
        0x3280_0040_0007_0303, // FFMA with an immediate
        0x5d20_0320_0067_0401, // HSETP2
        0x5ca8_0000_0007_050b, // F2F
        0x4e00_0000_0027_0203, // XMAD with a constant
        0x5be0_00fc_8087_18ff, // LOP3
        0x34b2_83ff_8007_0787, // IMADSP
        0x36f8_0140_0207_0009, // SHF
        0xeed0_0000_0087_0508, // LDG
        0x8038_0527_9ff7_0804, // LD
        0xeef0_0000_0087_07ff, // ATOM.CAS
        0xef10_0000_0037_1c0b, // SHFL
        0xc034_1a60_b087_0402, // TEX
        0xd038_0334_4047_0f07, // TEXS
        0xdf48_0120_8047_0000, // TXQ
        0xeb12_0526_00c7_0c06, // SULD
        0xea28_0526_00f7_0a04, // SUATOM
        0xefd8_0080_0807_ff01, // ALD
        0xe043_ff88_0ff7_ff01, // IPA
        0xf0a8_0380_0fd7_ff00, // BAR
        0x2000_03bf_8007_101e, // VADD
        0x5000_0000_0017_0b05, // VABSDIFF4
        0xe240_0000_0007_000f, // BRA
        0xe300_0000_0007_000f, // EXIT
    ];
    const CONTROL: u64 = 0x001f_8400_fc20_07e0;
    let group = |words: &[u64]| [&[CONTROL], words].concat().iter().flat_map(|w| w.to_le_bytes()).collect();
    WORDS.chunks(2).map(group).collect()
}
