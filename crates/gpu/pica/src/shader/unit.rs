//! What is uploaded to a shader unit: code, descriptors and uniforms.

use crate::regs::*;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use xenoglot_pica_shader::Program;
use xenoglot_pica_shader::float::F24;
use xenoglot_pica_shader::lift::layout::{
    UNIFORM_BOOLS, UNIFORM_FLOATS, UNIFORM_INTS, UNIFORM_SIZE, uniform_buffer,
};
use xenoglot_pica_shader::program::{MAX_CODE_WORDS, MAX_DESCRIPTORS};

/// Words of code that can be written through the vertex unit's port.
pub const VERTEX_CODE_WORDS: usize = 512;
/// Float uniforms.
pub const FLOAT_UNIFORMS: u32 = 96;

/// A vector of four words as bits: x, y, z, w.
pub type Words = [u32; 4];

/// The vector that three words of a 24-bit data port hold: w, z, y, x from the highest bits of the first on.
pub fn unpack24([a, b, c]: [u32; 3]) -> Words {
    let w = a >> 8;
    let z = (a & 0xff) << 16 | b >> 16;
    let y = (b & 0xffff) << 8 | c >> 24;
    [c, y, z, w].map(|raw| F24.to_single_bits(raw & 0xff_ffff))
}

/// Uniforms in the layout of [`xenoglot_pica_shader::lift::layout`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uniforms {
    bytes: Box<[u8; UNIFORM_SIZE as usize]>,
}

impl Default for Uniforms {
    fn default() -> Self {
        Uniforms { bytes: Box::new(uniform_buffer([], [], 0)) }
    }
}

impl Uniforms {
    /// The uniform buffer.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.as_slice()
    }

    fn set_words(&mut self, at: u32, words: &[u32]) {
        let place = self.bytes.get_mut(at as usize..).unwrap_or_default();
        for (to, word) in place.chunks_exact_mut(4).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
    }

    fn word(&self, at: u32) -> u32 {
        let bytes = self.bytes.get(at as usize..).and_then(|b| b.first_chunk());
        bytes.map_or(0, |b| u32::from_le_bytes(*b))
    }

    /// Sets c `index`; nothing happens from 96 on.
    pub fn set_float(&mut self, index: u32, value: Words) {
        if index < FLOAT_UNIFORMS {
            self.set_words(UNIFORM_FLOATS + index * 16, &value);
        }
    }

    /// c `index`; zero from 96 on.
    pub fn float(&self, index: u32) -> [f32; 4] {
        if index < FLOAT_UNIFORMS {
            vector(self.bytes(), UNIFORM_FLOATS + index * 16).map(f32::from_bits)
        } else {
            [0.0; 4]
        }
    }

    /// i `index` (0 to 3): x, y, z, w.
    pub fn int(&self, index: u32) -> Words {
        vector(self.bytes(), UNIFORM_INTS + (index & 3) * 16)
    }

    /// Sets i `index` (0 to 3) from its bytes x, y, z, w, x lowest.
    pub fn set_int(&mut self, index: u32, value: u32) {
        if index < 4 {
            self.set_words(UNIFORM_INTS + index * 16, &value.to_le_bytes().map(u32::from));
        }
    }

    /// Sets b0 to b15.
    pub fn set_bools(&mut self, value: u16) {
        self.set_words(UNIFORM_BOOLS, &[value.into()]);
    }

    /// b0 to b15.
    pub fn bools(&self) -> u16 {
        self.word(UNIFORM_BOOLS) as u16
    }
}

/// The four words at an offset of a buffer or record; zero where it ends before them.
pub(super) fn vector(bytes: &[u8], at: u32) -> Words {
    let bytes = bytes.get(at as usize..).and_then(|rest| rest.first_chunk::<16>());
    let words =
        bytes.map_or([[0; 4]; 4], |bytes| std::array::from_fn(|n| [0, 1, 2, 3].map(|i| bytes[4 * n + i])));
    words.map(u32::from_le_bytes)
}

/// A program as uploaded, with a hash so that tables of programs need not look at all of it.
#[derive(Debug, Default)]
pub struct Source {
    /// Code without the zero words at its end, and descriptors.
    pub program: Program,
    hash: u64,
}

impl Source {
    /// Of code and descriptors as they lie in the unit.
    pub fn new(code: &[u32], descriptors: &[u32]) -> Source {
        let trimmed = |words: &[u32]| {
            let len = words.iter().rposition(|&w| w != 0).map_or(0, |last| last + 1);
            words.iter().take(len).copied().collect::<Vec<u32>>()
        };
        let program = Program { code: trimmed(code), descriptors: trimmed(descriptors) };
        let mut hasher = rustc_hash::FxHasher::default();
        (&program.code, &program.descriptors).hash(&mut hasher);
        Source { hash: hasher.finish(), program }
    }
}

impl PartialEq for Source {
    fn eq(&self, other: &Source) -> bool {
        std::ptr::eq(self, other) || (self.hash == other.hash && self.program == other.program)
    }
}

impl Eq for Source {}

impl Hash for Source {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// Where a unit's registers are: the units have the same ones in the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The geometry unit, from 280 on.
    Geometry,
    /// The vertex unit, from 2B0 on.
    Vertex,
}

/// Offsets from a unit's first register.
const INTS: u32 = GEOMETRY_INTS - GEOMETRY_BOOLS;
const INPUTS: u32 = GEOMETRY_INPUTS - GEOMETRY_BOOLS;
const ENTRY: u32 = GEOMETRY_ENTRY - GEOMETRY_BOOLS;
const PERMUTATION: u32 = GEOMETRY_PERMUTATION - GEOMETRY_BOOLS;
const OUTPUT_MASK: u32 = GEOMETRY_OUTPUT_MASK - GEOMETRY_BOOLS;
const UNIFORM_PORT: u32 = GEOMETRY_UNIFORM_PORT - GEOMETRY_BOOLS;
const UNIFORM_DATA: u32 = GEOMETRY_UNIFORM_DATA - GEOMETRY_BOOLS;
const CODE_PORT: u32 = GEOMETRY_CODE_PORT - GEOMETRY_BOOLS;
const CODE_DATA: u32 = GEOMETRY_CODE_DATA - GEOMETRY_BOOLS;
const DESCRIPTOR_PORT: u32 = GEOMETRY_DESCRIPTOR_PORT - GEOMETRY_BOOLS;
const DESCRIPTOR_DATA: u32 = GEOMETRY_DESCRIPTOR_DATA - GEOMETRY_BOOLS;

impl Kind {
    /// Whose register this is.
    pub fn of(register: u32) -> Option<Kind> {
        match register {
            GEOMETRY_BOOLS..VERTEX_BOOLS => Some(Kind::Geometry),
            VERTEX_BOOLS..0x2e0 => Some(Kind::Vertex),
            _ => None,
        }
    }

    fn first(self) -> u32 {
        match self {
            Kind::Geometry => GEOMETRY_BOOLS,
            Kind::Vertex => VERTEX_BOOLS,
        }
    }

    fn code_words(self) -> usize {
        match self {
            Kind::Geometry => MAX_CODE_WORDS,
            Kind::Vertex => VERTEX_CODE_WORDS,
        }
    }

    /// Inputs of the unit, 1 to 16.
    pub fn inputs(self, regs: &Registers) -> usize {
        regs.bits(self.first() + INPUTS, 0, 4) as usize + 1
    }

    /// Word address of the entry point.
    pub fn entry(self, regs: &Registers) -> u32 {
        regs.bits(self.first() + ENTRY, 0, 16)
    }

    /// Outputs that leave the unit.
    pub fn output_mask(self, regs: &Registers) -> u16 {
        regs.bits(self.first() + OUTPUT_MASK, 0, 16) as u16
    }

    /// The input register of each attribute.
    pub fn permutation(self, regs: &Registers) -> [usize; 16] {
        let word = |half: usize| regs.get(self.first() + PERMUTATION + half as u32);
        std::array::from_fn(|i| (word(i / 8) >> (i % 8 * 4) & 15) as usize)
    }
}

/// Something that is written to a unit, after its port has decoded it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upload {
    /// b0 to b15.
    Bools(u16),
    /// An integer uniform and its bytes.
    Int(u32, u32),
    /// A float uniform.
    Float(u32, Words),
    /// A word of code.
    Code(u32, u32),
    /// An operand descriptor.
    Descriptor(u32, u32),
}

/// The words of a float uniform that have come so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct UniformPort {
    words: [u32; 4],
    len: usize,
}

impl UniformPort {
    /// The words so far of an incomplete vector, at most three.
    pub(crate) fn begun(&self) -> &[u32] {
        self.words.get(..self.len).unwrap_or_default()
    }

    /// A port with the words so far of an incomplete vector; nothing if there are more than three.
    pub(crate) fn resume(begun: &[u32]) -> Option<UniformPort> {
        let mut words = [0; 4];
        words.get_mut(..3)?.get_mut(..begun.len())?.copy_from_slice(begun);
        Some(UniformPort { words, len: begun.len() })
    }

    /// Takes a word; the vector when it is whole.
    fn push(&mut self, word: u32, singles: bool) -> Option<Words> {
        let [a, b, c, d] = &mut self.words;
        match self.len {
            0 => *a = word,
            1 => *b = word,
            2 => *c = word,
            _ => *d = word,
        }
        self.len += 1;
        let [a, b, c, d] = self.words;
        let vector = match (singles, self.len) {
            (true, 4..) => [d, c, b, a],
            (false, 3..) => unpack24([a, b, c]),
            _ => return None,
        };
        self.len = 0;
        Some(vector)
    }

    /// Decodes a write of `value` to a unit's `register`, after the register file has taken it; advances ports.
    pub fn decode(&mut self, kind: Kind, regs: &mut Registers, register: u32, value: u32) -> Option<Upload> {
        let first = kind.first();
        let offset = register.wrapping_sub(first);
        match offset {
            0 => Some(Upload::Bools(regs.bits(register, 0, 16) as u16)),
            _ if offset.wrapping_sub(INTS) < 4 => Some(Upload::Int(offset - INTS, regs.get(register))),
            _ if in_port(offset, UNIFORM_DATA) => {
                let port = first + UNIFORM_PORT;
                let vector = self.push(value, regs.bit(port, 31))?;
                Some(Upload::Float(regs.advance(port, 7), vector))
            }
            _ if in_port(offset, CODE_DATA) => {
                let index = regs.advance(first + CODE_PORT, 16);
                ((index as usize) < kind.code_words()).then_some(Upload::Code(index, value))
            }
            _ if in_port(offset, DESCRIPTOR_DATA) => {
                Some(Upload::Descriptor(regs.advance(first + DESCRIPTOR_PORT, 16), value))
            }
            _ => None,
        }
    }
}

/// A shader unit.
#[derive(Clone, Debug)]
pub struct Unit {
    code: Box<[u32; MAX_CODE_WORDS]>,
    descriptors: [u32; MAX_DESCRIPTORS],
    /// The uniforms.
    pub uniforms: Uniforms,
    /// Made of code and descriptors when it is asked for.
    source: Option<Arc<Source>>,
}

impl Default for Unit {
    fn default() -> Self {
        Unit {
            code: Box::new([0; MAX_CODE_WORDS]),
            descriptors: [0; MAX_DESCRIPTORS],
            uniforms: Uniforms::default(),
            source: None,
        }
    }
}

impl Unit {
    /// Takes what was written. Indices that the unit does not have are dropped.
    pub fn take(&mut self, upload: Upload) {
        let (place, word) = match upload {
            Upload::Bools(bools) => return self.uniforms.set_bools(bools),
            Upload::Int(index, value) => return self.uniforms.set_int(index, value),
            Upload::Float(index, value) => return self.uniforms.set_float(index, value),
            Upload::Code(index, word) => (self.code.get_mut(index as usize), word),
            Upload::Descriptor(index, word) => (self.descriptors.get_mut(index as usize), word),
        };
        if let Some(place) = place.filter(|p| **p != word) {
            *place = word;
            self.source = None;
        }
    }

    /// The program.
    pub fn source(&mut self) -> Arc<Source> {
        let new = || Arc::new(Source::new(self.code.as_slice(), &self.descriptors));
        self.source.get_or_insert_with(new).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_words_hold_four_floats() {
        // 1.0 is 3F0000, 2.0 is 400000, -1.0 is BF0000, 0.5 is 3E0000.
        let words = [0x3e00_00bf, 0x0000_4000, 0x003f_0000];
        assert_eq!(unpack24(words).map(f32::from_bits), [1.0, 2.0, -1.0, 0.5]);
    }

    #[test]
    fn uniforms_come_in_both_formats_and_advance_by_vectors() {
        let (mut regs, mut port) = (Registers::default(), UniformPort::default());
        regs.set(VERTEX_UNIFORM_PORT, 0x8000_0005);
        let mut push =
            |regs: &mut Registers, word| port.decode(Kind::Vertex, regs, VERTEX_UNIFORM_DATA + 2, word);
        assert_eq!(push(&mut regs, 4), None);
        assert_eq!(push(&mut regs, 3), None);
        assert_eq!(push(&mut regs, 2), None);
        assert_eq!(push(&mut regs, 1), Some(Upload::Float(5, [1, 2, 3, 4])));
        assert_eq!(regs.get(VERTEX_UNIFORM_PORT), 0x8000_0006);
        regs.set(VERTEX_UNIFORM_PORT, 95);
        assert_eq!(push(&mut regs, 0x3f00_0000), None);
        assert_eq!(push(&mut regs, 0), None);
        assert_eq!(push(&mut regs, 0), Some(Upload::Float(95, [0, 0, 0, 0x3f80_0000])));
    }

    #[test]
    fn code_beyond_the_port_is_dropped_and_the_same_code_makes_the_same_source() {
        let (mut regs, mut port) = (Registers::default(), UniformPort::default());
        regs.set(VERTEX_CODE_PORT, 511);
        let last = port.decode(Kind::Vertex, &mut regs, VERTEX_CODE_DATA, 7);
        assert_eq!(last, Some(Upload::Code(511, 7)));
        assert_eq!(port.decode(Kind::Vertex, &mut regs, VERTEX_CODE_DATA, 7), None);
        regs.set(GEOMETRY_CODE_PORT, 4095);
        let last = port.decode(Kind::Geometry, &mut regs, GEOMETRY_CODE_DATA, 7);
        assert_eq!(last, Some(Upload::Code(4095, 7)));

        let (mut a, mut b) = (Unit::default(), Unit::default());
        a.take(Upload::Code(1, 5));
        assert_ne!(a.source(), b.source());
        let before = a.source();
        a.take(Upload::Code(1, 5));
        assert!(Arc::ptr_eq(&before, &a.source()));
        b.take(Upload::Code(1, 5));
        assert_eq!(a.source(), b.source());
    }
}
