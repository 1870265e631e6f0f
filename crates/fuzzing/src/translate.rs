//! The whole way of a PICA200 program.

use crate::bytes::Bytes;
use xenoglot_interp::Interpreter;
use xenoglot_ir::verify;
use xenoglot_opt::pipeline::{Level, Options as OptOptions, Verify};
use xenoglot_opt::{Context, Lacks, legalize, optimize};
use xenoglot_pica_shader::Program;
use xenoglot_pica_shader::decode::decode;
use xenoglot_pica_shader::desc::Component;
use xenoglot_pica_shader::inst::{OPCODES, Opcode};
use xenoglot_pica_shader::lift::{
    ClipSpace, GeometryWrapper, LiftOptions, Limits, Numeric, OutputMap, Records, VertexOutputs, Wrapper,
    lift,
};
use xenoglot_pica_shader::program::MAX_CODE_WORDS;

/// Program words beyond these are not looked at: larger programs cost time and show nothing new.
const MAX_WORDS: usize = 128;

/// A word that decodes: itself, or with another opcode.
pub fn decodable(word: u32) -> u32 {
    if decode(0, word).is_ok() {
        return word;
    }
    let row = &OPCODES[(word >> 26) as usize % OPCODES.len()];
    word & 0x03ff_ffff | u32::from(row.first) << 26
}

/// Ends a program wherever control leaves it: it would else go through thousands of zero words, which are ADDs.
pub fn end(code: &mut Vec<u32>) {
    code.resize(MAX_CODE_WORDS, u32::from(Opcode::End.info().first) << 26);
}

fn wrapper(bytes: &mut Bytes) -> Wrapper {
    let kind = bytes.u8();
    let mask = u16::from_le_bytes([bytes.u8(), bytes.u8()]);
    match kind & 3 {
        0 => {
            let mut map = OutputMap::default();
            for semantic in 0..24 {
                let b = mask.rotate_left(semantic) as u8;
                map.set(semantic as u8, b & 15, Component::from_bits(u32::from(b >> 4)));
            }
            let clip = [ClipSpace::Guest, ClipSpace::Vulkan, ClipSpace::OpenGl][usize::from(kind >> 2) % 3];
            Wrapper::Vertex(VertexOutputs::Mapped(map, clip))
        }
        1 => Wrapper::Vertex(VertexOutputs::Registers(mask)),
        kind_of_compute => {
            let geometry = (kind_of_compute == 3)
                .then_some(GeometryWrapper { output_mask: mask, emit_capacity: u32::from(kind) });
            Wrapper::Compute { workgroup: 1 + u32::from(kind >> 3), persistent: kind & 4 != 0, geometry }
        }
    }
}

/// A PICA200 program with its options: lifting gives a verified module, each pass keeps it so, and writing SPIR-V and
/// GLSL succeeds.
pub fn translate(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let wrapper = wrapper(&mut bytes);
    let flags = bytes.u8();
    let entry = bytes.u8().into();
    let descriptors = (0..bytes.u8() & 31).map(|_| bytes.u32()).collect();
    let mut code = Vec::new();
    while !bytes.is_empty() && code.len() < MAX_WORDS {
        code.push(decodable(bytes.u32()));
    }
    if flags & 7 != 7 {
        end(&mut code);
    }
    let program = Program { code, descriptors };
    let options = LiftOptions {
        entry,
        numeric: [Numeric::Single, Numeric::F24, Numeric::Fast][usize::from(flags) % 3],
        wrapper,
        count_steps: flags & 0x10 != 0,
        records: [Records::Whole, Records::Outputs, Records::Packed][usize::from(flags >> 3) % 3],
        traceable: flags & 0x81 == 0x80,
        limits: if flags & 0x20 != 0 {
            Limits::STACKS_AS_DATA
        } else {
            Limits { max_nodes: 256, ..Limits::default() }
        },
    };
    let mut module = lift(&program, &options).expect("every word decodes and the entry is in range").module;
    if let Err(errors) = verify(&module) {
        panic!("{errors}");
    }
    let level = if flags & 0x40 != 0 { Level::None } else { Level::Full };
    let lacks = Lacks { arithmetic: legalize::Options::ALL, ..Lacks::default() };
    let options =
        OptOptions { level: Some(level), scalarize: flags & 0x80 != 0, lacks, ..Default::default() };
    if let Err(errors) = optimize(&mut module, &mut Context::new(), &options, &mut Verify) {
        panic!("{errors}");
    }
    Interpreter::new(&module).expect("verified modules are whole");
    let robust = flags & 0x08 != 0;
    let spirv = xenoglot_spirv::Options { robust, switch_as_if_chain: robust, ..Default::default() };
    xenoglot_spirv::emit(&module, &spirv).expect("a lifted module has a SPIR-V form");
    let glsl = xenoglot_glsl::Options { switch_as_if_chain: robust, ..Default::default() };
    xenoglot_glsl::emit(&module, &glsl).expect("a lifted module has a GLSL form");
}
