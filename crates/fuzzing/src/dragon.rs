//! The Dragon GPU: any register writes over any memory, checkpoints, VPU assembly and words, models, parameters.

use crate::bytes::Bytes;
use crate::with_checksums;
use xenoglot_capture::{Block, Capture, Info, Limits};
use xenoglot_dragon::checkpoint::{HOST, MACHINE, STATE, load, save};
use xenoglot_dragon::command::{Command, Write, sig};
use xenoglot_dragon::host::{
    Animation, Files, FilmLimits, Mesh, MeshError, MeshLimits, load_capture, load_gltf, load_obj,
};
use xenoglot_dragon::params::Timing;
use xenoglot_dragon::{Machine, Params};
use xenoglot_ir::verify;
use xenoglot_pica::{replay, report};
use xenoglot_pica_scenes::SCENES;
use xenoglot_testgen::rng::Rng;
use xenoglot_vpu::asm::assemble;
use xenoglot_vpu::disasm::disassemble;
use xenoglot_vpu::lift::{LiftOptions, lift};
use xenoglot_vpu::{MAX_PROGRAM_WORDS, Number, Op, Program, Texture, TileFormat};

/// Ticks of a run.
const TICKS: u64 = 4000;
/// Bytes of memory.
const MEMORY: u32 = 1 << 14;
/// Bytes of an input that are memory's contents.
const CONTENTS: usize = 1024;

fn params(bits: u8) -> Params {
    let mut params = Params { bin_size: 8, tick_limit: TICKS, ..Params::default() };
    params.memory.bytes = MEMORY;
    (params.vpus, params.threads) = (1 + u32::from(bits & 3), 1 + u32::from(bits >> 2 & 7));
    params.memory.timing = if bits & 32 != 0 { Timing::Timer } else { Timing::Sdram };
    params.memory.sdram.refresh = if bits & 64 != 0 { 30 } else { 0 };
    params.number = if bits & 128 != 0 { Number::Float } else { Number::default() };
    params
}

/// Writes of registers that mostly exist, with values that are mostly small.
fn writes(bytes: &mut Bytes) -> Vec<Write> {
    let mut out = Vec::new();
    while !bytes.is_empty() && out.len() < 512 {
        let register = bytes.u8() % 0x60;
        let value = match bytes.u8() {
            255 => bytes.u32(),
            small => u32::from(small) << (small & 24),
        };
        out.push(Write { register, value });
    }
    out
}

/// A machine with parameters and the contents of memory from the front of an input.
fn machine(bytes: &mut Bytes) -> Option<Machine> {
    let mut machine = Machine::new(params(bytes.u8())).ok()?;
    let contents: Vec<u8> = (0..CONTENTS).map(|_| bytes.u8()).collect();
    for part in machine.memory_mut().bytes_mut().chunks_exact_mut(CONTENTS) {
        part.copy_from_slice(&contents);
    }
    Some(machine)
}

/// Any writes run or wait, and skipping known waits changes nothing.
pub fn dragon(data: &[u8]) {
    let run = |skip| {
        let mut bytes = Bytes::new(data);
        let mut machine = machine(&mut bytes)?;
        machine.set_skipping(skip);
        let result = machine.run(&writes(&mut bytes));
        Some((result, machine.now(), machine.signals(), machine.faults(), machine.memory().bytes().to_vec()))
    };
    assert!(run(true) == run(false), "skipping changes the run");
}

/// The machine of a checkpoint, run for a while.
fn resumed(bytes: &[u8]) -> Option<Machine> {
    let (mut machine, ()) = load(bytes).ok()?;
    let end = machine.now().saturating_add(TICKS);
    let _ = machine.run_until(&mut &[][..], end, |_| false);
    Some(machine)
}

/// Checkpoints, and states with the checksums put right: those that are read run, and are written and read back to the
/// same.
pub fn dragon_checkpoint(data: &[u8]) {
    let mut around = Capture::new(MACHINE, Info::default());
    around.memory.push(Block { address: 0, bytes: vec![0x3f; MEMORY as usize] });
    around.ops.push(STATE, &[data]);
    around.ops.push(HOST, &[]);
    for bytes in [data.to_vec(), with_checksums(data), around.to_bytes()] {
        let Ok((machine, ())) = load::<()>(&bytes) else { continue };
        let again = save(&machine, &()).expect("nothing of the host");
        let (first, second) = (resumed(&bytes), resumed(&again));
        let [first, second] = [first, second].map(|m| m.and_then(|machine| save(&machine, &()).ok()));
        assert!(first.is_some() && first == second, "a checkpoint is not read back the same");
    }
}

/// Assembly, and any words: what assembles survives disassembly, what is disassembled assembles to the same, and every
/// program lifts to a verified module.
pub fn vpu(data: &[u8]) {
    if let Some(words) = std::str::from_utf8(data).ok().and_then(|text| assemble(text).ok()) {
        assert_eq!(assemble(&disassemble(&words)), Ok(words));
    }
    let words: Vec<u32> = data
        .chunks_exact(4)
        .take(MAX_PROGRAM_WORDS)
        .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect();
    assert_eq!(assemble(&disassemble(&words)), Ok(words.clone()));
    let bits = data.len();
    let options = LiftOptions {
        number: if bits & 1 != 0 { Number::Float } else { Number::default() },
        formats: TileFormat::ALL,
        textures: [Texture { bilinear: bits & 2 != 0, ..Texture::default() }; 4],
        ..LiftOptions::default()
    };
    match lift(&Program::from_words(&words), &options) {
        Ok(module) => assert!(verify(&module).is_ok()),
        Err(e) => panic!("{e}"),
    }
}

fn sound(mesh: Mesh) {
    assert_eq!(mesh.positions.len(), mesh.colors.len());
    assert!(mesh.triangles.iter().flatten().all(|&i| (i as usize) < mesh.positions.len()));
    assert!(mesh.positions.iter().flatten().all(|v| v.is_finite()));
    assert!(mesh.surfaces.len() == mesh.triangles.len());
    assert!(mesh.surfaces.iter().all(|&m| usize::from(m) < mesh.materials.len()));
    assert!(mesh.materials.iter().all(|m| m.texture.is_none_or(|t| t < mesh.textures.len())));
    mesh.centred();
}

/// Every file that a model names is there, and is the model's own bytes.
fn model(data: &[u8], load: impl Fn(&[u8], Files<'_>, &MeshLimits) -> Result<Mesh, MeshError>) {
    let files = |name: &str| (!name.is_empty()).then(|| data.to_vec());
    load(data, &files, &MeshLimits::default()).into_iter().for_each(sound);
}

/// OBJ, and what is read as its materials: models whose corners exist, or errors.
pub fn obj(data: &[u8]) {
    model(data, load_obj);
}

/// glTF: models whose corners exist, or errors.
pub fn gltf(data: &[u8]) {
    model(data, load_gltf);
}

/// Captures of the PICA200: frames that this machine draws, or errors.
pub fn dragon_film(data: &[u8]) {
    let gpu = report::Limits { draws: 64, vertices: 2000, pixels: 20_000, ..report::Limits::default() };
    let replay = replay::Limits { fcram: 1 << 20, side: 64, operations: 512, bytes: 1 << 22, gpu };
    let limits = FilmLimits { frames: 2, triangles: 200, textures: 4, replay, ..FilmLimits::default() };
    for bytes in [data.to_vec(), with_checksums(data)] {
        let Ok(capture) = Capture::from_bytes(&bytes, &Limits { bytes: 1 << 23 }) else { continue };
        let Ok(film) = load_capture(&capture, &limits) else { continue };
        assert!(film.scenes.len() <= limits.frames && film.scenes.len() == film.shown.len());
        for n in 0..film.frames() {
            let scene = film.scene(n);
            let triangles = scene.parts.iter().flat_map(|p| &p.triangles);
            assert!(triangles.clone().count() <= limits.triangles);
            assert!(triangles.flatten().all(|&i| (i as usize) < scene.vertices.len()));
            assert!(scene.parts.iter().all(|p| p.texture.is_none_or(|t| t < scene.textures.len())));
            let params = Params { tick_limit: 20_000, ..Params::default() };
            let Ok(mut machine) = Machine::new(params) else { continue };
            let _ = scene.draw(&mut machine);
            assert!(machine.faults().is_empty(), "{:?}", machine.faults());
        }
    }
}

/// Parameters: those that are read are possible, and are read back the same.
pub fn dragon_params(data: &[u8]) {
    let Some(params) = std::str::from_utf8(data).ok().and_then(|text| Params::from_toml(text).ok()) else {
        return;
    };
    assert_eq!(params.check(), Ok(()));
    assert_eq!(Params::from_toml(&params.to_toml()), Ok(params));
}

/// Frames of a triangle with random parts.
pub(crate) fn frames() -> Vec<Vec<u8>> {
    let mut rng = Rng::new(9);
    let frame = |_| {
        let mut out = vec![rng.next_u32() as u8];
        // Memory: a short program, then anything.
        let program = [Op::Mov, Op::Store, Op::Exit].map(|op| (op as u32) << 26 | 0x3c);
        let program = [program[0] | 1 << 16, 1 << 16 | 25 << 26, program[2] & !0x3c];
        out.extend(program.iter().flat_map(|w| w.to_le_bytes()));
        out.extend((12..CONTENTS).map(|_| rng.next_u32() as u8 & 0x3f));
        let commands = [
            Command::ExecVpuProgramLoad { sig: sig::VPU_PROG },
            Command::ExecFillTileBuffer { tile: 0, sig: sig::CLEAR_TILE },
            Command::SetTriangleVertexFormat {
                attributes: 1 + rng.below(4) as u8,
                perspective: rng.below(2) == 0,
            },
            Command::SetTriangleVertexDataAddr(64),
            Command::SetTriangleIndexDataAddr(512),
            Command::SetTriangleCount(rng.below(9) as u16),
            Command::SigWait(sig::VPU_PROG | sig::CLEAR_TILE),
            Command::ExecDrawTriangles { sig: sig::TRIANGLES },
            Command::SigWait(sig::TRIANGLES),
            Command::SetVpuTileAddr(0, 4096),
            Command::ExecVpuTileStore { tile: 0, sig: sig::VPU_TILE0 },
            Command::SigWait(sig::VPU_TILE0),
        ];
        for command in commands {
            let Write { register, value } = command.encode();
            out.extend([register, 255]);
            out.extend(value.to_le_bytes());
        }
        out
    };
    (0..16).map(frame).collect()
}

/// Checkpoints of such frames, whole and as states alone.
pub(crate) fn checkpoints() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for (n, frame) in (0..).zip(frames()) {
        let mut bytes = Bytes::new(&frame);
        let Some(mut machine) = machine(&mut bytes) else { continue };
        if n % 2 == 0 {
            machine.start_trace();
        }
        let _ = machine.run_until(&mut &writes(&mut bytes)[..], 40 * n, |_| false);
        let Ok(whole) = save(&machine, &()) else { continue };
        if let Ok(capture) = Capture::from_bytes(&whole, &Limits::default()) {
            all.extend(capture.ops.iter().filter(|op| op.kind == STATE).map(|op| op.payload.to_vec()));
        }
        all.push(whole);
    }
    all
}

/// Programs as text and as words.
pub(crate) fn programs() -> Vec<Vec<u8>> {
    let mut rng = Rng::new(10);
    let program = |n: u32| {
        let word = |_| {
            let op = rng.below(30);
            rng.next_u32() & 0x01e3_38fe | op << 26
        };
        let words: Vec<u32> = (0..4 + n).map(word).collect();
        match n % 2 {
            0 => disassemble(&words).into_bytes(),
            _ => words.iter().flat_map(|w| w.to_le_bytes()).collect(),
        }
    };
    (0..16).map(program).collect()
}

/// A frame of each scene for the PICA200, its pictures apart.
pub(crate) fn films() -> Vec<Vec<u8>> {
    let params = xenoglot_pica_scenes::Params { frames: Some(1), count: Some(0) };
    SCENES.iter().map(|scene| scene.build(params).to_bytes()).collect()
}

/// Small models.
pub(crate) fn models() -> Vec<Vec<u8>> {
    let obj = |n: usize| {
        let mut text = String::new();
        (0..3 + n).for_each(|v| text.push_str(&format!("v {v} {} {} 1 0 0\n", v * v % 7, v % 3)));
        let corners: Vec<String> = (1..=3 + n).map(|v| v.to_string()).collect();
        text + "mtllib a\nnewmtl m\nKd 1 0.5 0\nmap_Kd b\nvt 0 0.5\nusemtl m\nf "
            + &corners.join("/1 ")
            + "\n"
    };
    let gltf = |n: usize| {
        let json = format!(
            "{{\"asset\":{{\"version\":\"2.0\"}},\"bufferViews\":[{{\"buffer\":0,\"byteStride\":{}}}],\"accessors\":\
             [{{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}}],\"nodes\":[{{\"mesh\":0,\
             \"scale\":[1,2,1],\"children\":[1]}},{{\"mesh\":0,\"rotation\":[0,0,1,0]}}],\"materials\":[{{\"name\":\"m\",\
             \"pbrMetallicRoughness\":{{\"baseColorTexture\":{{\"index\":0}}}}}}],\"textures\":[{{\"source\":0}}],\
             \"images\":[{{\"uri\":\"a\"}}],\"meshes\":[{{\"primitives\":\
             [{{\"attributes\":{{\"POSITION\":0,\"TEXCOORD_0\":0}},\"material\":0}}]}}]}}",
            12 + 4 * n
        );
        let data = [0x3f; 64];
        let length = |n: usize| (n as u32).to_le_bytes();
        let parts: [&[u8]; 8] = [
            b"glTF\x02\0\0\0",
            &length(28 + json.len() + data.len()),
            &length(json.len()),
            b"JSON",
            json.as_bytes(),
            &length(data.len()),
            b"BIN\0",
            &data,
        ];
        parts.concat()
    };
    (0..8).map(|n| obj(n).into_bytes()).chain((0..8).map(gltf)).collect()
}

/// Parameter files.
pub(crate) fn parameters() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = (0..16)
        .map(|n| Params { vpus: 1 + n % 8, threads: 1 + n, ..params(n as u8 * 16) }.to_toml().into())
        .collect();
    all.push(b"number = \"s20.12\"\n[memory.sdram]\nbanks = 8\n".to_vec());
    all
}
