//! What the fuzz targets check: functions that take any bytes and panic when a promise is broken.
//!
//! `fuzz/` has a coverage-guided target of a few lines for each; a test here runs the same functions on mutated
//! seeds, so that every change is checked on a stable toolchain, too.
//!
//! ```
//! // What a fuzz target does with each input; a broken promise would panic.
//! xenoglot_fuzzing::ir_text(b"module compute \"empty\" {\n}\n");
//! assert!(xenoglot_fuzzing::TARGETS.iter().any(|target| target.name == "ir_text"));
//! ```
#![deny(missing_docs)]

mod bytes;
mod cache;
mod dragon;
mod dxbc;
mod dxil;
mod maxwell;
mod mips;
mod native;
mod nds;
mod nds_video;
mod pica_surfaces;
mod picagpu;
pub mod raster;
pub mod seeds;
mod texture;
mod translate;
mod warp;
mod yuv;

pub use cache::{cache_entry, cache_pack, cache_store};
pub use dragon::{dragon, dragon_checkpoint, dragon_film, dragon_params, gltf, obj, vpu};
pub use dxbc::{dxbc, root_signature};
pub use dxil::dxil;
pub use maxwell::{fat_binary, maxwell_container};
pub use mips::{mips_decode, mips_elf, mips_guest, mips_jit, mips_library};
pub use native::native;
pub use nds::{nds, nds_dump, ndsf};
pub use nds_video::{n2d, nds_bus, nds_state};
pub use pica_surfaces::pica_surfaces;
pub use picagpu::{pica_state, picagpu};
pub use raster::raster;
pub use texture::{texture, texture_file};
pub use translate::translate;
pub use warp::{warp, warp_model, warp_state};
pub use yuv::{y4m, yuv};

use bytes::Bytes;
use xenoglot_capture::{Capture, Info};
use xenoglot_interp::{Bindings, Interpreter, Limits as RunLimits};
use xenoglot_ir::text::{Limits as TextLimits, canonical, parse};
use xenoglot_ir::{Block, Module, verify};
use xenoglot_maxwell::disasm::Options as MaxwellOptions;
use xenoglot_opt::pipeline::{Level, Options as OptOptions, Verify};
use xenoglot_opt::{Context, Lacks, legalize, lower_floats, optimize};
use xenoglot_pica::renderer::NullRenderer;
use xenoglot_pica::replay::citrace::{ImportLimits, import};
use xenoglot_pica::replay::{Limits as PlayLimits, Operation, Player};
use xenoglot_pica::report::Limits as ReportLimits;
use xenoglot_pica_shader::asm::assemble;
use xenoglot_pica_shader::container::extract::extract;
use xenoglot_pica_shader::container::{Limits, Shbin};
use xenoglot_pica_shader::disasm::{DisasmOptions, disassemble};
use xenoglot_structure::check::check;
use xenoglot_structure::{Graph, Options as StructureOptions, structure_graph};

/// A target.
pub struct Target {
    /// Its name, that of the file in `fuzz/fuzz_targets` and of the corpus.
    pub name: &'static str,
    /// The check.
    pub run: fn(&[u8]),
    /// Inputs to start from.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All targets.
pub const TARGETS: [Target; 46] = [
    Target { name: "shbin", run: shbin, seeds: seeds::binaries },
    Target { name: "assembler", run: assembler, seeds: seeds::sources },
    Target { name: "ir_text", run: ir_text, seeds: seeds::modules },
    Target { name: "translate", run: translate, seeds: seeds::programs },
    Target { name: "native", run: native, seeds: native::programs },
    Target { name: "cache_entry", run: cache_entry, seeds: cache::entries },
    Target { name: "cache_pack", run: cache_pack, seeds: cache::packs },
    Target { name: "cache_store", run: cache_store, seeds: cache::stores },
    Target { name: "capture", run: capture, seeds: seeds::captures },
    Target { name: "citrace", run: citrace, seeds: seeds::recordings },
    Target { name: "picagpu", run: picagpu, seeds: seeds::lists },
    Target { name: "pica_surfaces", run: pica_surfaces, seeds: pica_surfaces::steps },
    Target { name: "pica_state", run: pica_state, seeds: picagpu::state_changes },
    Target { name: "raster", run: raster, seeds: seeds::draws },
    Target { name: "maxwell_container", run: maxwell_container, seeds: maxwell::containers },
    Target { name: "fat_binary", run: fat_binary, seeds: maxwell::fat_binaries },
    Target { name: "dxbc", run: dxbc, seeds: dxbc::containers },
    Target { name: "root_signature", run: root_signature, seeds: dxbc::root_signatures },
    Target { name: "structure", run: structure, seeds: seeds::graphs },
    Target { name: "maxwell_decode", run: maxwell_decode, seeds: seeds::maxwell_words },
    Target { name: "ndsf", run: ndsf, seeds: nds::scenes },
    Target { name: "nds", run: nds, seeds: nds::commands },
    Target { name: "nds_dump", run: nds_dump, seeds: nds::dumps },
    Target { name: "nds_bus", run: nds_bus, seeds: nds_video::accesses },
    Target { name: "nds_state", run: nds_state, seeds: nds_video::changes },
    Target { name: "n2d", run: n2d, seeds: nds_video::wholes },
    Target { name: "texture", run: texture, seeds: texture::textures },
    Target { name: "texture_file", run: texture_file, seeds: texture::texture_files },
    Target { name: "dxil", run: dxil, seeds: dxil::containers },
    Target { name: "dragon", run: dragon, seeds: dragon::frames },
    Target { name: "dragon_checkpoint", run: dragon_checkpoint, seeds: dragon::checkpoints },
    Target { name: "vpu", run: vpu, seeds: dragon::programs },
    Target { name: "obj", run: obj, seeds: dragon::models },
    Target { name: "gltf", run: gltf, seeds: dragon::models },
    Target { name: "dragon_film", run: dragon_film, seeds: dragon::films },
    Target { name: "dragon_params", run: dragon_params, seeds: dragon::parameters },
    Target { name: "mips_decode", run: mips_decode, seeds: mips::words },
    Target { name: "mips_elf", run: mips_elf, seeds: mips::files },
    Target { name: "mips_guest", run: mips_guest, seeds: mips::programs },
    Target { name: "mips_jit", run: mips_jit, seeds: mips::programs },
    Target { name: "mips_library", run: mips_library, seeds: mips::libraries },
    Target { name: "y4m", run: y4m, seeds: yuv::files },
    Target { name: "yuv", run: yuv::yuv, seeds: yuv::frames },
    Target { name: "warp", run: warp, seeds: warp::scenes },
    Target { name: "warp_state", run: warp_state, seeds: warp::states },
    Target { name: "warp_model", run: warp_model, seeds: warp::models },
];

/// Shader binaries: what is read is written and read back the same, and what is found inside other bytes lies there.
pub fn shbin(data: &[u8]) {
    let limits = Limits::default();
    if let Ok(shbin) = Shbin::parse(data, &limits) {
        let written = shbin.write();
        assert_eq!(Shbin::parse(&written, &limits).as_ref(), Ok(&shbin));
        through_text(&shbin);
    }
    let mut end = 0;
    for found in extract(data, &limits).found {
        assert!(found.offset >= end);
        end = found.offset + found.len;
        assert!(end <= data.len());
        assert_eq!(Shbin::parse(&data[found.offset..], &limits).as_ref(), Ok(&found.shbin));
    }
}

/// Disassembly assembles to the same.
fn through_text(shbin: &Shbin) {
    let text = disassemble(shbin, &DisasmOptions::default());
    match assemble(&text) {
        Ok(back) => assert_eq!(&back, shbin, "{text}"),
        Err(e) => panic!("{e}\n{text}"),
    }
}

/// Assembly: what is assembled survives disassembly and the container.
pub fn assembler(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(shbin) = assemble(text) {
        through_text(&shbin);
        assert_eq!(Shbin::parse(&shbin.write(), &Limits::default()), Ok(shbin));
    }
}

/// The text form of the IR: the printer's text parses to the same module. Passes keep a verified module verified, and it can
/// be run and emitted, or is refused with an error.
pub fn ir_text(data: &[u8]) {
    let limits = TextLimits::default();
    let Some(module) = std::str::from_utf8(data).ok().and_then(|text| parse(text, &limits).ok()) else {
        return;
    };
    let text = canonical(&module);
    match parse(&text, &limits) {
        Ok(back) => assert_eq!(canonical(&back), text),
        Err(e) => panic!("{e}\n{text}"),
    }
    if verify(&module).is_err() {
        return;
    }
    run(&module);
    for level in [Level::None, Level::Light, Level::Full] {
        let mut module = module.clone();
        let full = level == Level::Full;
        let lacks = match full {
            // In integers, which is the longer way.
            true => {
                Lacks { floats: lower_floats::Options { doubles: false, ..Lacks::ALL.floats }, ..Lacks::ALL }
            }
            false => Lacks { arithmetic: legalize::Options::RULES, ..Lacks::default() },
        };
        let options =
            OptOptions { level: Some(level), scalarize: full, relaxed_floats: level == Level::Light, lacks };
        if let Err(errors) = optimize(&mut module, &mut Context::new(), &options, &mut Verify) {
            panic!("{errors}\n{text}");
        }
        run(&module);
        let spirv = xenoglot_spirv::emit(&module, &Default::default());
        assert!(!matches!(spirv, Err(xenoglot_spirv::Error::Invalid(_))), "{spirv:?}\n{text}");
        let glsl = xenoglot_glsl::emit(&module, &Default::default());
        assert!(!matches!(glsl, Err(xenoglot_glsl::Error::Malformed(_))), "{glsl:?}\n{text}");
    }
}

/// Runs a module as far as little fuel goes, with small buffers.
fn run(module: &Module) {
    let Ok(mut interpreter) = Interpreter::new(module) else { return };
    let mut bindings = Bindings::new(module);
    for (resource, _) in module.resources.iter() {
        bindings.set_buffer(resource, vec![0x3f; 256]);
    }
    let limits = RunLimits { fuel: 20_000, memory: 1 << 22, ..RunLimits::default() };
    let invocations = module.workgroup.iter().map(|&n| u64::from(n)).product::<u64>();
    // Each invocation has its registers.
    if invocations <= 64 {
        let _ = interpreter.dispatch([1; 3], &mut bindings, &limits);
    }
    let _ = interpreter.run_entry(&mut bindings, &limits);
}

/// Words of SM53: each is an instruction with operands, modifiers and a text, or a typed error; a listing has every word.
pub fn maxwell_decode(data: &[u8]) {
    let words: Vec<u64> = data.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
    for (address, control, inst) in xenoglot_maxwell::Instructions::new(&words) {
        let Ok(inst) = inst else { continue };
        assert_eq!(xenoglot_maxwell::decode(address, inst.word), Ok(inst));
        assert!(inst.operands().iter().all(|o| inst.operand(o.role).is_some()));
        let options = MaxwellOptions { reuse: control.reuse, ..MaxwellOptions::default() };
        assert!(inst.display(options).to_string().contains(inst.op.name()));
    }
    let text = xenoglot_maxwell::disasm::listing(&words).to_string();
    assert_eq!(text.lines().count(), words.len() - usize::from(words.len() % 4 == 1));
}

/// Captures: what is read is written and read back the same, damaged ones give what lies before the damage. The same
/// again with the checksums put right.
pub fn capture(data: &[u8]) {
    for data in [data.to_vec(), with_checksums(data)] {
        let read = Capture::from_bytes(&data, &xenoglot_capture::Limits { bytes: 1 << 22 });
        let Some(capture) = read.map_or_else(xenoglot_capture::Error::recovered, Some) else { continue };
        let back = Capture::from_bytes(&capture.to_bytes(), &xenoglot_capture::Limits::default());
        assert_eq!(back.expect("what was written is whole"), capture);
    }
}

/// CiTrace recordings: what is read is a capture, whose operations are the PICA200's, and plays.
pub fn citrace(data: &[u8]) {
    const LIMITS: PlayLimits = PlayLimits {
        fcram: 1 << 20,
        side: 64,
        operations: 1 << 10,
        bytes: 1 << 22,
        gpu: ReportLimits {
            writes: 1 << 12,
            draws: 16,
            vertices: 256,
            instructions: 1 << 22,
            pixels: 1 << 16,
        },
    };
    let limits = ImportLimits { bytes: 1 << 20, fcram: LIMITS.fcram };
    let Ok(imported) = import(data, Info::default(), &limits) else { return };
    let capture = &imported.capture;
    assert!(capture.ops.iter().all(|op| Operation::decode(&op).is_ok()));
    let back = Capture::from_bytes(&capture.to_bytes(), &xenoglot_capture::Limits::default());
    assert_eq!(&back.expect("what was written is whole"), capture);
    let mut player = Player::new(capture, NullRenderer, LIMITS).expect("registers that there are");
    while let Some(Ok(_)) = player.next_frame() {}
}

/// The chunks of a capture with right checksums, as far as there are chunks.
fn with_checksums(data: &[u8]) -> Vec<u8> {
    let mut data = data.to_vec();
    let mut at = 16;
    while let Some(chunk) = data.get_mut(at..)
        && let Some((head, payload)) = chunk.split_at_mut_checked(28)
    {
        let length = head[8..16].iter().rev().fold(0, |length, &byte| length << 8 | u64::from(byte));
        let Some(payload) = usize::try_from(length).ok().and_then(|length| payload.get(..length)) else {
            break;
        };
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&head[..24]);
        hasher.update(payload);
        head[24..].copy_from_slice(&hasher.finalize().to_le_bytes());
        at += 28 + payload.len();
    }
    data
}

/// Control-flow graphs: every graph is structured, and the checker agrees.
pub fn structure(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let nodes = 1 + u32::from(bytes.u8());
    let depth_limit = StructureOptions::MIN_DEPTH_LIMIT + u32::from(bytes.u8());
    let successors: Vec<Vec<Block>> = (0..nodes)
        .map(|_| {
            // Mostly two ways on, as programs have.
            let ways = [2, 1, 0, 2, 3, 1, 5, 2][usize::from(bytes.u8() & 7)];
            (0..ways).map(|_| Block::from_u32(u32::from(bytes.u8()) % nodes)).collect()
        })
        .collect();
    let graph = Graph::new(Block::from_u32(0), successors).expect("targets are in range");
    let tree = structure_graph(&graph, &StructureOptions { depth_limit, pins: &[] });
    if let Err(violations) = check(&graph, &tree, depth_limit) {
        panic!("{violations:?}\n{graph:?}\n{tree}");
    }
}
