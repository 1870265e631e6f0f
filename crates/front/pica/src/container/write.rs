//! The SHBIN writer: header, program, then each executable with its tables behind it.

use super::shbin::{ConstantValue, Dvle, GeometryMode, RegisterFile, ShaderKind, Shbin};
use crate::program::Program;
use std::collections::BTreeMap;

/// Size of the DVLP header.
const DVLP_HEADER: usize = 0x28;
/// Size of a DVLE header.
const DVLE_HEADER: usize = 0x40;

#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn u16(&mut self, value: u16) {
        self.0.extend(value.to_le_bytes());
    }

    /// Offsets and counts come from memory far below 4 GiB, so they fit.
    fn u32(&mut self, value: usize) {
        self.word(value as u32);
    }

    fn word(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
    }

    fn align(&mut self) {
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }
}

/// Symbols, each name once, with its offset.
#[derive(Default)]
struct Symbols {
    bytes: Vec<u8>,
    offsets: BTreeMap<Vec<u8>, usize>,
}

impl Symbols {
    fn add(&mut self, name: &str) -> usize {
        let name = name_bytes(name);
        if let Some(&offset) = self.offsets.get(&name) {
            return offset;
        }
        let offset = self.bytes.len();
        self.bytes.extend(&name);
        self.bytes.push(0);
        self.offsets.insert(name, offset);
        offset
    }
}

/// The bytes of a name: characters above U+00FF and NUL have none and become `?`.
fn name_bytes(name: &str) -> Vec<u8> {
    name.chars().map(|c| u8::try_from(c).ok().filter(|&b| b != 0).unwrap_or(b'?')).collect()
}

impl Shbin {
    /// The file's bytes. Parsing them gives an equal value, if every name has only characters of U+0001 to U+00FF and
    /// every field is in the range its type documents.
    pub fn write(&self) -> Vec<u8> {
        let mut file = Writer::default();
        let program = self.write_program();
        let executables: Vec<Vec<u8>> = self.executables.iter().map(write_executable).collect();
        let mut offset = 8 + 4 * executables.len() + program.len();
        file.bytes(b"DVLB");
        file.u32(executables.len());
        for executable in &executables {
            file.u32(offset);
            offset += executable.len();
        }
        file.bytes(&program);
        for executable in &executables {
            file.bytes(executable);
        }
        file.0
    }

    fn write_program(&self) -> Vec<u8> {
        let Program { code, descriptors } = &self.program;
        let mut names = Vec::new();
        for name in &self.filenames {
            names.extend(name_bytes(name));
            names.push(0);
        }
        let descriptors_at = DVLP_HEADER + 4 * code.len();
        let lines_at = descriptors_at + 8 * descriptors.len();
        let names_at = lines_at + 8 * self.lines.len();
        let mut out = Writer::default();
        out.bytes(b"DVLP");
        out.word(self.version);
        for (offset, count) in [
            (DVLP_HEADER, code.len()),
            (descriptors_at, descriptors.len()),
            (lines_at, self.lines.len()),
            // Picasso, which never has any, writes no offset either.
            (if names.is_empty() { 0 } else { names_at }, names.len()),
        ] {
            out.u32(offset);
            out.u32(count);
        }
        for &word in code {
            out.word(word);
        }
        for (i, &descriptor) in descriptors.iter().enumerate() {
            out.word(descriptor);
            out.word(self.descriptor_tags.get(i).copied().unwrap_or(0));
        }
        for line in &self.lines {
            out.word(line.file);
            out.word(line.line);
        }
        out.bytes(&names);
        out.align();
        out.0
    }
}

fn write_executable(dvle: &Dvle) -> Vec<u8> {
    let mut symbols = Symbols::default();
    let labels: Vec<usize> = dvle.labels.iter().map(|label| symbols.add(&label.name)).collect();
    let uniforms: Vec<usize> = dvle.uniforms.iter().map(|uniform| symbols.add(&uniform.name)).collect();
    let labels_at = DVLE_HEADER + 20 * dvle.constants.len();
    let outputs_at = labels_at + 16 * dvle.labels.len();
    let uniforms_at = outputs_at + 8 * dvle.outputs.len();
    let symbols_at = uniforms_at + 8 * dvle.uniforms.len();

    let mut out = Writer::default();
    out.bytes(b"DVLE");
    out.u16(dvle.version);
    let kind = match dvle.kind {
        ShaderKind::Vertex => 0,
        ShaderKind::Geometry => 1,
    };
    out.bytes(&[kind, dvle.merge_outputs.into()]);
    out.word(dvle.main);
    out.word(dvle.end);
    out.u16(dvle.input_mask);
    out.u16(dvle.output_mask);
    let mode = match dvle.geometry.mode {
        GeometryMode::Point => 0,
        GeometryMode::Variable => 1,
        GeometryMode::Fixed => 2,
    };
    let geometry = dvle.geometry;
    out.bytes(&[mode, geometry.fixed_start, geometry.variable_count, geometry.fixed_count]);
    for (offset, count) in [
        (DVLE_HEADER, dvle.constants.len()),
        (labels_at, dvle.labels.len()),
        (outputs_at, dvle.outputs.len()),
        (uniforms_at, dvle.uniforms.len()),
        (symbols_at, symbols.bytes.len()),
    ] {
        out.u32(offset);
        out.u32(count);
    }
    for constant in &dvle.constants {
        let (kind, words) = match constant.value {
            ConstantValue::Bool(value) => (0, [value.into(), 0, 0, 0]),
            ConstantValue::Int(value) => (1, [u32::from_le_bytes(value), 0, 0, 0]),
            ConstantValue::Float(value) => (2, value),
        };
        out.u16(kind);
        out.u16(constant.register.into());
        words.into_iter().for_each(|word| out.word(word));
    }
    for (label, name) in dvle.labels.iter().zip(labels) {
        out.u16(label.id);
        out.u16(0);
        out.word(label.address);
        out.word(label.size);
        out.u32(name);
    }
    for output in &dvle.outputs {
        out.u16(output.semantic.number());
        out.u16(output.register.into());
        out.bytes(&[output.mask.bits().reverse_bits() >> 4, 0, 0, 0]);
    }
    for (uniform, name) in dvle.uniforms.iter().zip(uniforms) {
        let first = RegisterFile::base(uniform.file) + u16::from(uniform.first);
        out.u32(name);
        out.u16(first);
        out.u16(first + u16::from(uniform.count) - 1);
    }
    out.bytes(&symbols.bytes);
    out.align();
    out.0
}
