//! Vertex fetch on the host's GPU: a program that is the same for all draws reads attributes from the bytes of their arrays,
//! as a table says, and leaves them as input registers for the vertex program.

use super::inputs::Arrays;
use crate::vertex_loader::{Array, Element, Source};
use std::ops::Range;
use xenoglot_ir::imm::Space;
use xenoglot_ir::module::{
    Access, Builtin, Count, Direction, Interpolation, OutOfBounds, ResourceData, ResourceKind, Semantic,
    VarData,
};
use xenoglot_ir::{Builder, Flags, Function, Kind, MemInfo, Module, Op, Stage, Type, Value};

/// Vertices of a workgroup. Its second coordinate is the place of a register.
pub const GROUP: usize = 64;

/// Binding of the table, a uniform buffer.
pub const TABLE_BINDING: u32 = 0;
/// Binding of the arrays' bytes.
pub const ARRAY_BINDING: u32 = 1;
/// Binding of the vertices' numbers, the lowest one of the batch taken off.
pub const NUMBER_BINDING: u32 = 2;
/// Binding of the registers.
pub const REGISTER_BINDING: u32 = 3;

/// Words of a register's row in the table: those of [`Row`], padding, and four words that stand for missing elements.
const ROW_WORDS: usize = 12;
/// The number of registers, behind the rows.
const COUNT_WORD: usize = 16 * ROW_WORDS;
/// Bytes of the table.
pub const TABLE_SIZE: u32 = 4 * (COUNT_WORD as u32 + 4);
/// Bytes behind an array that may be read, though they do not count.
const SLACK: usize = 20;
/// Most bytes that are sent to the device. Indices far apart want more, and loading them from here costs less then.
const MAX_BYTES: usize = 4 << 20;

/// What the program is given for a batch.
pub struct Fetch {
    /// The table.
    pub table: Vec<u32>,
    /// Bytes of the arrays, as words.
    pub arrays: Vec<u32>,
    /// Numbers of the vertices, for whole workgroups.
    pub numbers: Vec<u32>,
}

impl Fetch {
    /// Of arrays in guest memory. Nothing if not all of them is memory, as what is read there takes a look at each vertex,
    /// or if they are too large.
    pub fn new(from: &Arrays<'_>) -> Option<Fetch> {
        let (first, last) = (from.vertices.iter().copied().min()?, from.vertices.iter().copied().max()?);
        let sources: Vec<Source> = from.loader.sources(from.set).collect();
        let arrays = || sources.iter().filter_map(|s| if let Source::Array(a) = s { Some(a) } else { None });
        let ranges: Option<Vec<Range<u32>>> = arrays().map(|a| a.range(first, last)).collect();
        let spans = joined(ranges?);
        let mut bytes = Vec::new();
        // Where each span lies in the buffer.
        let mut places = Vec::with_capacity(spans.len());
        for span in &spans {
            places.push(bytes.len());
            if bytes.len() + span.len() > MAX_BYTES {
                return None;
            }
            bytes.extend_from_slice(from.memory.bytes(span.start, span.end - span.start)?);
        }
        let place = |array: &Array| {
            let start = array.range(first, last)?.start;
            let (span, at) = spans.iter().zip(&places).find(|(span, _)| span.contains(&start))?;
            u32::try_from(at + (start - span.start) as usize).ok()
        };
        let mut table = vec![0; TABLE_SIZE as usize / 4];
        for (row, source) in table.chunks_exact_mut(ROW_WORDS).zip(&sources) {
            let words = match source {
                Source::Nowhere => Row::default().words([0.0; 4]),
                Source::Fixed(value) => Row::default().words(*value),
                Source::Array(array) => Row::of(array, place(array)?).words([0.0, 0.0, 0.0, 1.0]),
            };
            row.copy_from_slice(&words);
        }
        table[COUNT_WORD] = sources.len() as u32;
        bytes.resize((bytes.len() + SLACK).next_multiple_of(4), 0);
        let arrays = bytes.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
        let mut numbers: Vec<u32> = from.vertices.iter().map(|v| v - first).collect();
        numbers.resize(numbers.len().next_multiple_of(GROUP), 0);
        Some(Fetch { table, arrays, numbers })
    }
}

/// Ranges of addresses without overlaps: arrays that are interleaved become one.
fn joined(mut ranges: Vec<Range<u32>>) -> Vec<Range<u32>> {
    ranges.sort_by_key(|range| range.start);
    let mut spans: Vec<Range<u32>> = Vec::new();
    for range in ranges {
        match spans.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => spans.push(range),
        }
    }
    spans
}

/// Where a register's elements are.
#[derive(Default)]
struct Row {
    element: u32,
    size: u32,
    elements: u32,
    at: u32,
    stride: u32,
}

impl Row {
    fn of(array: &Array, at: u32) -> Row {
        let element = match array.element {
            Element::S8 => 0,
            Element::U8 => 1,
            Element::S16 => 2,
            Element::F32 => 3,
        };
        Row { element, size: array.element.size(), elements: array.elements, at, stride: array.stride }
    }

    fn words(&self, missing: [f32; 4]) -> [u32; ROW_WORDS] {
        let &Row { element, size, elements, at, stride } = self;
        let [x, y, z, w] = missing.map(f32::to_bits);
        [element, size, elements, 0, at, stride, 0, 0, x, y, z, w]
    }
}

/// The program.
pub fn program() -> Module {
    let mut module = Module::new(Stage::Compute, "pica vertex fetch");
    module.workgroup = [GROUP as u32, 1, 1];
    let storage = |access| ResourceKind::StorageBuffer { access };
    let [table, arrays, numbers, registers] = [
        ("table", ResourceKind::UniformBuffer { size: TABLE_SIZE }, TABLE_BINDING),
        ("arrays", storage(Access::Read), ARRAY_BINDING),
        ("numbers", storage(Access::Read), NUMBER_BINDING),
        ("registers", storage(Access::ReadWrite), REGISTER_BINDING),
    ]
    .map(|(name, kind, binding)| {
        // All are as large as what is read from them.
        let (name, oob) = (name.into(), OutOfBounds::Undefined);
        module.resources.push(ResourceData { name, kind, set: 0, binding, count: Count::One, oob })
    });
    let invocation = module.vars.push(VarData {
        name: "invocation".into(),
        direction: Direction::Input,
        ty: lanes(Kind::I32, 3),
        semantic: Semantic::Builtin(Builtin::GlobalInvocationId),
        interpolation: Interpolation::Smooth,
        array: None,
        inner: None,
        stream: 0,
    });

    let mut func = Function::new("main");
    let entry = func.add_block();
    let mut e = Emit(Builder::new(&mut func, entry));
    let id = e.0.input(invocation, lanes(Kind::I32, 3));
    let [vertex, place] = [0, 1].map(|lane| e.0.extract(id, lane));
    let uniform = |align| MemInfo::plain(Space::Uniform, Some(table), align);
    let storage = |resource, align| MemInfo::plain(Space::Storage, Some(resource), align);

    let row = e.scaled(place, 4 * ROW_WORDS as u32);
    let shape = e.0.load(uniform(4), row, Type::I32X4);
    let [element, size, elements] = [0, 1, 2].map(|lane| e.0.extract(shape, lane));
    let at = e.plus(row, 16);
    let at = e.0.load(uniform(4), at, Type::I32X4);
    let [at, stride] = [0, 1].map(|lane| e.0.extract(at, lane));
    let missing = e.plus(row, 32);
    let missing = e.0.load(uniform(4), missing, Type::I32X4);
    let count = e.0.i32(4 * COUNT_WORD as u32);
    let count = e.0.load(uniform(2), count, Type::I32);

    let number = e.scaled(vertex, 4);
    let number = e.0.load(storage(numbers, 2), number, Type::I32);
    let first = e.0.op(Op::Imul, &[number, stride]);
    let first = e.0.op(Op::Iadd, &[at, first]);
    // Elements lie anywhere: a word has the low bytes of one, the next word the rest.
    let component = e.vector([0, 1, 2, 3]);
    let step = e.0.splat(size, 4);
    let step = e.0.op(Op::Imul, &[component, step]);
    let first = e.0.splat(first, 4);
    let byte = e.0.op(Op::Iadd, &[first, step]);
    let three = e.vector([3; 4]);
    let within = e.0.op(Op::And, &[byte, three]);
    let word = e.0.op(Op::Isub, &[byte, within]);
    let parts = [0, 4].map(|behind| {
        let words = [0, 1, 2, 3].map(|lane| {
            let at = e.0.extract(word, lane);
            let at = e.plus(at, behind);
            e.0.load(storage(arrays, 2), at, Type::I32)
        });
        e.0.op(Op::Build, &words)
    });
    let bits = e.joined(parts, within);

    let converted = [(Op::Sshr, Op::S2f, 24), (Op::Ushr, Op::U2f, 24), (Op::Sshr, Op::S2f, 16)].map(
        |(shift, convert, amount)| {
            let amount = e.vector([amount; 4]);
            let high = e.0.op(Op::Shl, &[bits, amount]);
            let integer = e.0.op(shift, &[high, amount]);
            let float = e.0.convert(convert, Flags::NONE, integer, Type::F32X4);
            e.0.convert(Op::Bitcast, Flags::NONE, float, Type::I32X4)
        },
    );
    let value = converted.iter().zip(0..).fold(bits, |value, (&converted, number)| {
        let number = e.0.i32(number);
        let here = e.0.op(Op::IcmpEq, &[element, number]);
        e.0.select(here, converted, value)
    });
    let elements = e.0.splat(elements, 4);
    let there = e.0.op(Op::IcmpUlt, &[component, elements]);
    let value = e.0.select(there, value, missing);

    let to = e.0.op(Op::Imul, &[vertex, count]);
    let to = e.0.op(Op::Iadd, &[to, place]);
    let to = e.scaled(to, 16);
    e.0.store(storage(registers, 4), to, value);
    e.0.ret(&[]);
    module.entry = Some(module.funcs.push(func)).into();
    module
}

fn lanes(kind: Kind, count: u8) -> Type {
    Type::new(kind, count).unwrap_or(Type::I32)
}

struct Emit<'f>(Builder<'f>);

impl Emit<'_> {
    fn vector(&mut self, words: [u32; 4]) -> Value {
        let words = words.map(|word| self.0.i32(word));
        self.0.op(Op::Build, &words)
    }

    fn plus(&mut self, v: Value, more: u32) -> Value {
        let more = self.0.i32(more);
        self.0.op(Op::Iadd, &[v, more])
    }

    fn scaled(&mut self, v: Value, by: u32) -> Value {
        let by = self.0.i32(by);
        self.0.op(Op::Imul, &[v, by])
    }

    /// The 32 bits that begin `within` bytes (0 to 3) after the start of the first of two words.
    fn joined(&mut self, [low, high]: [Value; 2], within: Value) -> Value {
        let [three, none, all] = [3, 0, 32].map(|word| self.vector([word; 4]));
        let shift = self.0.op(Op::Shl, &[within, three]);
        let rest = self.0.op(Op::Isub, &[all, shift]);
        let low_part = self.0.op(Op::Ushr, &[low, shift]);
        let high_part = self.0.op(Op::Shl, &[high, rest]);
        let both = self.0.op(Op::Or, &[low_part, high_part]);
        // Amounts of shifts are modulo 32.
        let aligned = self.0.op(Op::IcmpEq, &[within, none]);
        self.0.select(aligned, low, both)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{FCRAM, Memory, Regions};
    use crate::regs::*;
    use crate::shader::Packed;
    use crate::vertex_loader::Loader;
    use proptest::prelude::*;
    use xenoglot_interp::{Bindings, Interpreter, Limits};
    use xenoglot_ir::verify;

    const MEMORY: usize = 4096;

    /// What the program leaves for a batch.
    fn run(fetch: &Fetch, registers: usize) -> Vec<u32> {
        let module = program();
        verify(&module).unwrap();
        let mut bindings = Bindings::new(&module);
        let zeros = vec![0; fetch.numbers.len() * registers * 4];
        for (resource, data) in &module.resources {
            let words = match data.binding {
                TABLE_BINDING => &fetch.table,
                ARRAY_BINDING => &fetch.arrays,
                NUMBER_BINDING => &fetch.numbers,
                _ => &zeros,
            };
            bindings.set_words(resource, words);
        }
        let groups = [(fetch.numbers.len() / GROUP) as u32, registers as u32, 1];
        Interpreter::new(&module).unwrap().dispatch(groups, &mut bindings, &Limits::default()).unwrap();
        let registers = module.resources.iter().find(|(_, r)| r.binding == REGISTER_BINDING).unwrap().0;
        bindings.buffer(registers).as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect()
    }

    proptest! {
        #![proptest_config(xenoglot_testgen::property::config(64))]

        /// Any arrays: the program leaves what the loader does, bit for bit, or is not asked.
        #[test]
        fn as_the_loader(
            bytes in prop::collection::vec(any::<u8>(), MEMORY),
            formats in any::<[u32; 2]>(),
            loaders in prop::collection::vec((0u32..600, any::<[u32; 2]>(), 0u32..48, 0u32..13), 1..5),
            permutation in any::<[u32; 2]>(),
            fixed in any::<[[u32; 4]; 16]>(),
            set in any::<u16>(),
            vertices in prop::collection::vec(0u32..70, 1..90),
        ) {
            let mut regs = Registers::default();
            regs.set(ATTRIBUTE_BASE, FCRAM / 8);
            regs.set(ATTRIBUTE_FORMATS, formats[0]);
            regs.set(ATTRIBUTE_FORMATS_HIGH, formats[1]);
            regs.set(VERTEX_INPUTS, formats[1] >> 20 & 15);
            regs.set(VERTEX_PERMUTATION, permutation[0]);
            regs.set(VERTEX_PERMUTATION + 1, permutation[1]);
            for (n, (offset, components, stride, count)) in (0..).zip(loaders) {
                regs.set(LOADER + n * 3, offset);
                regs.set(LOADER + n * 3 + 1, components[0]);
                regs.set(LOADER + n * 3 + 2, components[1] & 0xffff | stride << 16 | count << 28);
            }
            let mut memory = Regions::new();
            memory.add(FCRAM, bytes);
            let loader = Loader::new(&regs, &fixed.map(|v| v.map(f32::from_bits)));
            let mut expected = Packed::default();
            expected.reset(set, vertices.len());
            loader.load(&memory, &vertices, &mut expected);
            let arrays = Arrays::new(&loader, &memory, &vertices, set, Packed::default());
            let reads = loader.sources(set).any(|source| match source {
                Source::Array(array) => array
                    .range(*vertices.iter().min().unwrap(), *vertices.iter().max().unwrap())
                    .is_none_or(|range| memory.bytes(range.start, range.end - range.start).is_none()),
                _ => false,
            });
            match Fetch::new(&arrays) {
                None => prop_assert!(reads, "all of it is memory"),
                Some(fetch) => {
                    let words = run(&fetch, expected.registers());
                    let expected: Vec<u32> = expected.values().as_flattened().iter().map(|v| v.to_bits()).collect();
                    prop_assert_eq!(&words[..expected.len()], &expected[..]);
                }
            }
        }
    }
}
