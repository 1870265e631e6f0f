//! The interface of a SPIR-V module: what a run has to bring, and what the device has to offer.
//!
//! Drivers trust a pipeline's layout and entry point; a wrong one crashes them. This reader takes both from the module
//! itself, so that a mismatch becomes a typed error. It reads the declarations in front of the first function and
//! judges nothing else: validity stays the caller's promise.

use crate::{BufferKind, Error, Stage, TexelFormat};
use spirv::{Capability, Decoration, Dim, ExecutionMode, ExecutionModel, Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet};

/// What an entry point's pipeline needs to be built and fed.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Interface {
    /// SPIR-V version as (major, minor).
    pub version: (u8, u8),
    pub capabilities: Vec<Capability>,
    /// Buffers of the whole module by (set, binding).
    pub buffers: BTreeMap<(u32, u32), BufferKind>,
    pub push_constants: bool,
    /// The entry point's located inputs.
    pub inputs: BTreeMap<u32, InputType>,
    /// Transform feedback buffers of the entry point: buffer → bytes per vertex. Empty without the `Xfb` mode.
    pub captures: BTreeMap<u32, u32>,
}

/// How the components of an input are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputType {
    Float,
    Signed,
    Unsigned,
}

#[derive(Clone, Copy)]
enum Type {
    Float,
    Int {
        signed: bool,
    },
    /// A vector, matrix or array: what it consists of.
    Of(u32, Shape),
    Struct,
    Pointer(u32),
    /// A buffer of texels.
    Texels {
        written: bool,
    },
    Opaque,
}

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Vector,
    Array,
}

#[derive(Default)]
struct Decorations {
    set: Option<u32>,
    binding: Option<u32>,
    location: Option<u32>,
    buffer_block: bool,
    xfb_buffer: Option<u32>,
    xfb_stride: Option<u32>,
}

struct EntryPoint {
    stage: ExecutionModel,
    function: u32,
    name: String,
    interface: Vec<u32>,
}

#[derive(Default)]
struct Declarations {
    capabilities: Vec<Capability>,
    entries: Vec<EntryPoint>,
    xfb_functions: BTreeSet<u32>,
    decorations: BTreeMap<u32, Decorations>,
    types: BTreeMap<u32, Type>,
    /// id → (pointer type, storage class)
    variables: BTreeMap<u32, (u32, StorageClass)>,
}

impl Interface {
    /// Reads the interface of `entry` for `stage`.
    ///
    /// # Errors
    /// [`Error::Module`] when the words cannot be read, [`Error::NoEntry`] without such an entry point,
    /// [`Error::Unsupported`] for resources that are not plain uniform or storage buffers.
    pub(crate) fn read(words: &[u32], entry: &str, stage: Stage) -> Result<Interface, Error> {
        let &[magic, version, ..] = words else {
            return Err(Error::Module { word: 0, reason: "shorter than a header".into() });
        };
        if magic != spirv::MAGIC_NUMBER {
            return Err(Error::Module { word: 0, reason: "not the SPIR-V magic number".into() });
        }
        let [_, major, minor, _] = version.to_be_bytes();
        let declared = Declarations::read(words)?;
        let model = stage.execution_model();
        let of_stage = || declared.entries.iter().filter(|e| e.stage == model);
        let Some(point) = of_stage().find(|e| e.name == entry) else {
            let available = of_stage().map(|e| e.name.clone()).collect();
            return Err(Error::NoEntry { entry: entry.to_owned(), stage, available });
        };
        let mut interface = Interface { version: (major, minor), ..Interface::default() };
        for (&id, &(pointer, class)) in &declared.variables {
            declared.add_resource(&mut interface, id, pointer, class)?;
        }
        for &id in &point.interface {
            match declared.variables.get(&id) {
                Some(&(pointer, StorageClass::Input)) => declared.add_input(&mut interface, id, pointer)?,
                Some(&(pointer, StorageClass::Output))
                    if declared.xfb_functions.contains(&point.function) =>
                {
                    declared.add_captures(&mut interface, id, pointer);
                }
                _ => {}
            }
        }
        interface.capabilities = declared.capabilities;
        Ok(interface)
    }
}

impl Declarations {
    fn read(words: &[u32]) -> Result<Declarations, Error> {
        const HEADER_WORDS: usize = 5;
        let mut declared = Declarations::default();
        let mut at = HEADER_WORDS;
        while let Some(&first) = words.get(at) {
            let length = (first >> 16) as usize;
            let opcode = first & 0xffff;
            if length == 0 {
                return Err(Error::Module { word: at, reason: "an instruction of no words".into() });
            }
            let Some(instruction) = words.get(at..at + length) else {
                return Err(Error::Module { word: at, reason: "an instruction beyond the end".into() });
            };
            let op = Op::from_u32(opcode);
            if op == Some(Op::Function) {
                return Ok(declared);
            }
            if let Some(op) = op {
                declared.declare(op, instruction.get(1..).unwrap_or_default()).ok_or_else(|| {
                    Error::Module { word: at, reason: "missing or unknown operands".into() }
                })?;
            }
            at += length;
        }
        Err(Error::Module { word: words.len(), reason: "no function".into() })
    }

    /// Takes in one instruction; `None` when its operands are not what the instruction has.
    fn declare(&mut self, op: Op, operands: &[u32]) -> Option<()> {
        let operand = |index: usize| operands.get(index).copied();
        match op {
            Op::Capability => self.capabilities.extend(Capability::from_u32(operand(0)?)),
            Op::EntryPoint => {
                let (name, words) = literal_string(operands.get(2..)?)?;
                self.entries.push(EntryPoint {
                    stage: ExecutionModel::from_u32(operand(0)?)?,
                    function: operand(1)?,
                    name,
                    interface: operands.get(2 + words..)?.to_vec(),
                });
            }
            Op::ExecutionMode if operand(1)? == ExecutionMode::Xfb as u32 => {
                self.xfb_functions.insert(operand(0)?);
            }
            Op::Decorate => self.decorate(operand(0)?, operand(1)?, operand(2))?,
            Op::MemberDecorate => self.decorate_member(operand(0)?, operand(2)?, operand(3))?,
            Op::TypeFloat => self.add_type(operand(0)?, Type::Float),
            Op::TypeInt => self.add_type(operand(0)?, Type::Int { signed: operand(2)? != 0 }),
            Op::TypeVector => self.add_type(operand(0)?, Type::Of(operand(1)?, Shape::Vector)),
            Op::TypeMatrix | Op::TypeArray | Op::TypeRuntimeArray => {
                self.add_type(operand(0)?, Type::Of(operand(1)?, Shape::Array));
            }
            Op::TypeStruct => self.add_type(operand(0)?, Type::Struct),
            Op::TypePointer => self.add_type(operand(0)?, Type::Pointer(operand(2)?)),
            Op::TypeImage if operand(2)? == Dim::DimBuffer as u32 => {
                const STORAGE: u32 = 2;
                self.add_type(operand(0)?, Type::Texels { written: operand(6)? == STORAGE });
            }
            // A buffer of texels as GLSL has it; there is no sampler to it.
            Op::TypeSampledImage if matches!(self.types.get(&operand(1)?), Some(Type::Texels { .. })) => {
                self.add_type(operand(0)?, Type::Texels { written: false });
            }
            Op::TypeImage | Op::TypeSampler | Op::TypeSampledImage | Op::TypeAccelerationStructureKHR => {
                self.add_type(operand(0)?, Type::Opaque);
            }
            Op::Variable => {
                self.variables.insert(operand(1)?, (operand(0)?, StorageClass::from_u32(operand(2)?)?));
            }
            _ => {}
        }
        Some(())
    }

    fn add_type(&mut self, id: u32, declared: Type) {
        self.types.insert(id, declared);
    }

    fn decorate(&mut self, id: u32, decoration: u32, literal: Option<u32>) -> Option<()> {
        let Some(decoration) = Decoration::from_u32(decoration) else { return Some(()) };
        let of_id = self.decorations.entry(id).or_default();
        match decoration {
            Decoration::DescriptorSet => of_id.set = Some(literal?),
            Decoration::Binding => of_id.binding = Some(literal?),
            Decoration::Location => of_id.location = Some(literal?),
            Decoration::BufferBlock => of_id.buffer_block = true,
            Decoration::XfbBuffer => of_id.xfb_buffer = Some(literal?),
            Decoration::XfbStride => of_id.xfb_stride = Some(literal?),
            _ => {}
        }
        Some(())
    }

    /// Buffer and stride of members are those of their block (members of one block share them), the rest is not asked
    /// for.
    fn decorate_member(&mut self, id: u32, decoration: u32, literal: Option<u32>) -> Option<()> {
        match Decoration::from_u32(decoration) {
            Some(Decoration::XfbBuffer | Decoration::XfbStride) => self.decorate(id, decoration, literal),
            _ => Some(()),
        }
    }

    fn pointee(&self, pointer: u32) -> Option<(u32, Type)> {
        let &Type::Pointer(id) = self.types.get(&pointer)? else { return None };
        Some((id, *self.types.get(&id)?))
    }

    fn add_resource(
        &self,
        to: &mut Interface,
        id: u32,
        pointer: u32,
        class: StorageClass,
    ) -> Result<(), Error> {
        match class {
            StorageClass::PushConstant => to.push_constants = true,
            StorageClass::UniformConstant | StorageClass::Uniform | StorageClass::StorageBuffer => {
                // The format is the binding's.
                let format = TexelFormat::R32Uint;
                let kind = match self.pointee(pointer) {
                    Some((block, Type::Struct)) => {
                        let old_storage = self.decorations.get(&block).is_some_and(|d| d.buffer_block);
                        match class {
                            StorageClass::Uniform if !old_storage => BufferKind::Uniform,
                            _ => BufferKind::Storage,
                        }
                    }
                    Some((_, Type::Texels { written: true })) => BufferKind::StorageTexel(format),
                    Some((_, Type::Texels { written: false })) => BufferKind::UniformTexel(format),
                    _ => {
                        return Err(Error::Unsupported(format!(
                            "a way to bind %{id}, which is not a single buffer"
                        )));
                    }
                };
                let at = self.decorations.get(&id).and_then(|d| Some((d.set.unwrap_or(0), d.binding?)));
                let Some((set, binding)) = at else {
                    return Err(Error::Unsupported(format!("a way to bind %{id}, which has no binding")));
                };
                match to.buffers.insert((set, binding), kind) {
                    Some(other) if other != kind => {
                        return Err(Error::BindingKind { set, binding, declared: other, bound: kind });
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn add_input(&self, to: &mut Interface, id: u32, pointer: u32) -> Result<(), Error> {
        let Some(location) = self.decorations.get(&id).and_then(|d| d.location) else { return Ok(()) };
        let component = match self.pointee(pointer) {
            Some((_, Type::Of(element, Shape::Vector))) => self.types.get(&element).copied(),
            Some((_, plain)) => Some(plain),
            None => None,
        };
        let input = match component {
            Some(Type::Float) => InputType::Float,
            Some(Type::Int { signed: true }) => InputType::Signed,
            Some(Type::Int { signed: false }) => InputType::Unsigned,
            _ => {
                return Err(Error::Unsupported(format!(
                    "vertex inputs like location {location}: not a vector"
                )));
            }
        };
        to.inputs.insert(location, input);
        Ok(())
    }

    fn add_captures(&self, to: &mut Interface, id: u32, pointer: u32) {
        let block = self.pointee(pointer).map(|(block, _)| block);
        for id in [Some(id), block].into_iter().flatten() {
            if let Some(Decorations { xfb_buffer: Some(buffer), xfb_stride: Some(stride), .. }) =
                self.decorations.get(&id)
                && *stride > 0
            {
                to.captures.insert(*buffer, *stride);
            }
        }
    }
}

/// The text of a literal string and the number of words it takes.
fn literal_string(words: &[u32]) -> Option<(String, usize)> {
    let mut bytes = Vec::new();
    for (index, word) in words.iter().enumerate() {
        for byte in word.to_le_bytes() {
            if byte == 0 {
                return Some((String::from_utf8(bytes).ok()?, index + 1));
            }
            bytes.push(byte);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{InputType, Interface};
    use crate::{BufferKind, Error, Stage};
    use proptest::prelude::*;
    use spirv::{Capability, Decoration, ExecutionMode, ExecutionModel, Op, StorageClass};

    fn instruction(op: Op, operands: &[u32]) -> Vec<u32> {
        let mut words = vec![(operands.len() as u32 + 1) << 16 | op as u32];
        words.extend(operands);
        words
    }

    /// A vertex shader's declarations: an input, a captured output, one buffer of each kind, push constants.
    fn module() -> Vec<Vec<u32>> {
        let name = u32::from_le_bytes(*b"go\0\0");
        let vertex = ExecutionModel::Vertex as u32;
        let variable = |pointer, id, class| instruction(Op::Variable, &[pointer, id, class as u32]);
        let decorate = |id, decoration, literal| instruction(Op::Decorate, &[id, decoration as u32, literal]);
        let pointer = |id, class, to| instruction(Op::TypePointer, &[id, class as u32, to]);
        vec![
            vec![spirv::MAGIC_NUMBER, 0x0001_0300, 0, 100, 0],
            instruction(Op::Capability, &[Capability::TransformFeedback as u32]),
            instruction(Op::EntryPoint, &[vertex, 1, name, 20, 21]),
            instruction(Op::ExecutionMode, &[1, ExecutionMode::Xfb as u32]),
            decorate(20, Decoration::Location, 4),
            decorate(21, Decoration::XfbBuffer, 1),
            decorate(21, Decoration::XfbStride, 32),
            instruction(Op::Decorate, &[15, Decoration::BufferBlock as u32]),
            decorate(22, Decoration::DescriptorSet, 2),
            decorate(22, Decoration::Binding, 7),
            decorate(23, Decoration::DescriptorSet, 0),
            decorate(23, Decoration::Binding, 1),
            instruction(Op::TypeInt, &[10, 32, 1]),
            instruction(Op::TypeVector, &[11, 10, 4]),
            instruction(Op::TypeStruct, &[14, 11]),
            instruction(Op::TypeStruct, &[15, 11]),
            pointer(16, StorageClass::Input, 11),
            pointer(17, StorageClass::Output, 11),
            pointer(18, StorageClass::Uniform, 14),
            pointer(19, StorageClass::Uniform, 15),
            pointer(30, StorageClass::PushConstant, 14),
            variable(16, 20, StorageClass::Input),
            variable(17, 21, StorageClass::Output),
            variable(18, 22, StorageClass::Uniform),
            variable(19, 23, StorageClass::Uniform),
            variable(30, 24, StorageClass::PushConstant),
            instruction(Op::Function, &[2, 1, 0, 3]),
        ]
    }

    #[test]
    fn the_interface_is_what_the_module_declares() {
        let interface = Interface::read(&module().concat(), "go", Stage::Vertex).unwrap();
        let expected = Interface {
            version: (1, 3),
            capabilities: vec![Capability::TransformFeedback],
            buffers: [((2, 7), BufferKind::Uniform), ((0, 1), BufferKind::Storage)].into(),
            push_constants: true,
            inputs: [(4, InputType::Signed)].into(),
            captures: [(1, 32)].into(),
        };
        assert_eq!(interface, expected);
    }

    #[test]
    fn resources_this_crate_cannot_bind_are_refused() {
        let mut array = module();
        // The pointer of the uniform block now points to the vector.
        array[18] = instruction(Op::TypePointer, &[18, StorageClass::Uniform as u32, 11]);
        let error = Interface::read(&array.concat(), "go", Stage::Vertex).unwrap_err();
        assert!(matches!(error, Error::Unsupported(_)), "{error}");
        let mut unbound = module();
        unbound.remove(9);
        let error = Interface::read(&unbound.concat(), "go", Stage::Vertex).unwrap_err();
        assert!(matches!(error, Error::Unsupported(_)), "{error}");
    }

    #[test]
    fn every_cut_names_the_word_it_stopped_at() {
        let words = module().concat();
        for length in 0..words.len() - 5 {
            match Interface::read(&words[..length], "go", Stage::Vertex) {
                Err(Error::Module { word, .. }) => assert!(word <= length),
                other => panic!("{other:?} for {length} words"),
            }
        }
    }

    proptest! {
        #![proptest_config(xenoglot_testgen::property::config(256))]

        #[test]
        fn no_words_make_it_panic(
            changes in prop::collection::vec((5_usize..120, any::<u32>(), any::<bool>()), 1..6),
        ) {
            let mut words = module().concat();
            for (at, value, small) in changes {
                if let Some(word) = words.get_mut(at) {
                    *word = if small { (*word & 0xffff_0000) | (value & 0x3f) } else { value };
                }
            }
            // Any answer will do.
            let _ = Interface::read(&words, "go", Stage::Vertex);
        }
    }
}
