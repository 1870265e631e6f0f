//! Command lists for tests.
#![allow(dead_code)]

use xenoglot_pica::memory::{FCRAM, Memory, Regions, VRAM};
use xenoglot_pica::regs::*;
use xenoglot_pica_shader::asm::assemble;

/// Registers and their values, to be packed into a list.
#[derive(Default)]
pub struct Commands(pub Vec<u32>);

impl Commands {
    /// Writes a register.
    pub fn set(&mut self, register: u32, value: u32) -> &mut Self {
        self.0.extend([value, register | 0xf << 16]);
        self
    }

    /// Writes words to one register.
    pub fn stream(&mut self, register: u32, words: &[u32]) -> &mut Self {
        for &word in words {
            self.set(register, word);
        }
        self
    }

    /// Uploads a program to the unit whose code port is `code`, and its descriptors.
    pub fn program(&mut self, source: &str, code: u32, descriptors: u32) -> &mut Self {
        let shbin = assemble(source).unwrap();
        self.set(code, 0).stream(code + 1, &shbin.program.code);
        self.set(descriptors, 0).stream(descriptors + 1, &shbin.program.descriptors)
    }
}

/// Copies v0 to o0.
pub const COPY: &str = "
.in v
.out p position
.proc main
    mov p, v
    end
.end
";

/// Where [`scene`] puts its vertices: `n` points whose x is their number, as bytes.
pub const VERTICES: u32 = FCRAM + 0x1000;

/// Memory with [`VERTICES`], and registers to draw them with [`COPY`].
pub fn scene(vertices: u8) -> (Regions, Commands) {
    let mut memory = Regions::new();
    memory.add(VRAM, vec![0; 1 << 16]);
    memory.add(FCRAM, vec![0; 1 << 16]);
    let bytes = memory.bytes_mut(VERTICES, vertices.into()).unwrap();
    bytes.iter_mut().zip(0..).for_each(|(b, n)| *b = n);
    let mut commands = Commands::default();
    commands
        .program(COPY, VERTEX_CODE_PORT, VERTEX_DESCRIPTOR_PORT)
        .set(VERTEX_OUTPUT_MASK, 1)
        .set(OUTPUT_COUNT, 1)
        .set(OUTPUT_MAP, 0x0302_0100)
        .set(VERTEX_PERMUTATION, 0x7654_3210)
        .set(ATTRIBUTE_BASE, VERTICES / 8)
        .set(ATTRIBUTE_FORMATS, 1)
        .set(LOADER + 2, 1 << 16 | 1 << 28)
        .set(PRIMITIVES, 0);
    (memory, commands)
}

/// Puts a list at the start of [`FCRAM`] and gives its size.
pub fn place(memory: &mut Regions, words: &[u32]) -> u32 {
    let bytes = words.iter().flat_map(|w| w.to_le_bytes());
    let len = words.len() as u32 * 4;
    memory.bytes_mut(FCRAM, len).unwrap().iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    len
}
