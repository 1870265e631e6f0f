//! What of a SPIR-V module makes its pipeline layout. Numbers are those of the SPIR-V and Vulkan specifications.

use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

const MAGIC: u32 = 0x0723_0203;
const HEADER: usize = 5;
/// Descriptors that an array without a length is given.
const UNBOUNDED: u32 = 1024;
/// Bytes of push constants that every device has.
const PUSH_BYTES: u32 = 128;
/// Arrays in arrays that are followed.
const DEPTH: u32 = 8;

/// Stages by their bits in Vulkan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Other = 0,
    Compute = 32,
}

/// A binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Descriptor {
    /// Its `VkDescriptorType`.
    pub kind: u32,
    /// How many there are.
    pub count: u32,
}

/// What was found in a module.
#[derive(Clone, Debug, Default)]
pub(super) struct Module {
    /// Stage and name of the first entry point.
    pub entry: Option<(Stage, String)>,
    /// By set and binding.
    pub descriptors: BTreeMap<(u32, u32), Descriptor>,
    /// Bytes of push constants.
    pub push_bytes: u32,
}

#[derive(Clone, Debug)]
enum Type {
    /// Numbers of so many bytes.
    Number(u32),
    /// So many of a type, side by side.
    Several(u32, u32),
    Image {
        is_buffer: bool,
        is_storage: bool,
    },
    Sampler,
    SampledImage,
    /// A type, and the constant that says how often; `None` for arrays without a length.
    Array(u32, Option<u32>),
    Struct(Vec<u32>),
    Pointer(u32),
    AccelerationStructure,
}

#[derive(Default)]
struct Reader {
    module: Module,
    types: FxHashMap<u32, Type>,
    constants: FxHashMap<u32, u32>,
    /// Set and binding of variables.
    places: FxHashMap<u32, [Option<u32>; 2]>,
    /// Types with the decoration `BufferBlock`.
    buffer_blocks: Vec<u32>,
    strides: FxHashMap<u32, u32>,
    /// Offsets of the members of structures.
    offsets: FxHashMap<(u32, u32), u32>,
    /// Variables: pointer type, storage class, id.
    variables: Vec<[u32; 3]>,
}

impl Module {
    /// Reads a module; none if it is no SPIR-V.
    pub fn read(words: &[u32]) -> Option<Module> {
        if words.first() != Some(&MAGIC) || words.len() < HEADER {
            return None;
        }
        let mut reader = Reader::default();
        let mut rest = words.get(HEADER..)?;
        while let Some(&first) = rest.first() {
            let length = (first >> 16) as usize;
            // A length of zero would go nowhere.
            let operands = rest.get(1..length)?;
            reader.instruction(first & 0xffff, operands);
            rest = rest.get(length..)?;
        }
        reader.finish();
        Some(reader.module)
    }
}

impl Reader {
    fn instruction(&mut self, op: u32, operands: &[u32]) {
        match (op, operands) {
            // OpEntryPoint
            (15, [model, _, name @ ..]) if self.module.entry.is_none() => {
                let stage = if *model == 5 { Stage::Compute } else { Stage::Other };
                let bytes: Vec<u8> =
                    name.iter().flat_map(|word| word.to_le_bytes()).take_while(|&b| b != 0).collect();
                self.module.entry = Some((stage, String::from_utf8_lossy(&bytes).into_owned()));
            }
            // OpTypeInt, OpTypeFloat, OpTypeVector, OpTypeMatrix
            (21 | 22, [id, bits, ..]) => drop(self.types.insert(*id, Type::Number(bits / 8))),
            (23 | 24, [id, of, count]) => drop(self.types.insert(*id, Type::Several(*count, *of))),
            // OpTypeImage: id, type, dimension, depth, arrayed, multisampled, sampled
            (25, [id, _, dimension, _, _, _, sampled, ..]) => {
                let image = Type::Image { is_buffer: *dimension == 5, is_storage: *sampled == 2 };
                self.types.insert(*id, image);
            }
            (26, [id]) => drop(self.types.insert(*id, Type::Sampler)),
            (27, [id, _]) => drop(self.types.insert(*id, Type::SampledImage)),
            // OpTypeArray, OpTypeRuntimeArray, OpTypeStruct, OpTypePointer
            (28, [id, of, length]) => drop(self.types.insert(*id, Type::Array(*of, Some(*length)))),
            (29, [id, of]) => drop(self.types.insert(*id, Type::Array(*of, None))),
            (30, [id, members @ ..]) => drop(self.types.insert(*id, Type::Struct(members.to_vec()))),
            (32, [id, _, of]) => drop(self.types.insert(*id, Type::Pointer(*of))),
            // OpTypeAccelerationStructureKHR
            (5341, [id]) => drop(self.types.insert(*id, Type::AccelerationStructure)),
            // OpConstant
            (43, [_, id, value, ..]) => drop(self.constants.insert(*id, *value)),
            // OpVariable
            (59, [of, id, class, ..]) => self.variables.push([*of, *class, *id]),
            // OpDecorate: BufferBlock, ArrayStride, Binding, DescriptorSet
            (71, [id, 3]) => self.buffer_blocks.push(*id),
            (71, [id, 6, stride]) => drop(self.strides.insert(*id, *stride)),
            (71, [id, 33, binding]) => self.places.entry(*id).or_default()[1] = Some(*binding),
            (71, [id, 34, set]) => self.places.entry(*id).or_default()[0] = Some(*set),
            // OpMemberDecorate: Offset
            (72, [id, member, 35, offset]) => drop(self.offsets.insert((*id, *member), *offset)),
            _ => {}
        }
    }

    fn finish(&mut self) {
        for [of, class, id] in std::mem::take(&mut self.variables) {
            let Some(&Type::Pointer(of)) = self.types.get(&of) else { continue };
            // PushConstant
            if class == 9 {
                self.module.push_bytes = self.module.push_bytes.max(self.push_bytes(of));
            }
            let Some(&[Some(set), Some(binding)]) = self.places.get(&id) else { continue };
            // Sets beyond what any device has would only fill the file.
            if let Some(descriptor) = self.descriptor(of, class).filter(|_| set < 32) {
                self.module.descriptors.insert((set, binding), descriptor);
            }
        }
    }

    /// The descriptor of a variable of a type in a storage class.
    fn descriptor(&self, mut of: u32, class: u32) -> Option<Descriptor> {
        let mut count = 1u32;
        for _ in 0..DEPTH {
            let kind = match self.types.get(&of)? {
                Type::Array(element, length) => {
                    let length = length.and_then(|id| self.constants.get(&id).copied()).unwrap_or(UNBOUNDED);
                    count = count.saturating_mul(length);
                    of = *element;
                    continue;
                }
                Type::Sampler => 0,
                Type::SampledImage => 1,
                Type::Image { is_buffer: false, is_storage: false } => 2,
                Type::Image { is_buffer: false, is_storage: true } => 3,
                Type::Image { is_buffer: true, is_storage: false } => 4,
                Type::Image { is_buffer: true, is_storage: true } => 5,
                // StorageBuffer; Uniform, in which storage buffers were before SPIR-V 1.3.
                Type::Struct(_) if class == 12 || self.buffer_blocks.contains(&of) => 7,
                Type::Struct(_) if class == 2 => 6,
                Type::AccelerationStructure => 1_000_150_000,
                _ => return None,
            };
            return Some(Descriptor { kind, count });
        }
        None
    }

    /// Bytes of a structure of push constants.
    fn push_bytes(&self, of: u32) -> u32 {
        let Some(Type::Struct(members)) = self.types.get(&of) else { return PUSH_BYTES };
        let end = |(member, &ty): (u32, &u32)| {
            let offset = self.offsets.get(&(of, member)).copied().unwrap_or(0);
            self.size(ty).map(|size| offset.saturating_add(size))
        };
        let ends: Option<Vec<u32>> = (0..).zip(members).map(end).collect();
        let end = ends.and_then(|ends| ends.into_iter().max());
        end.and_then(|end| end.checked_next_multiple_of(4)).unwrap_or(PUSH_BYTES)
    }

    /// Bytes of a type of numbers.
    fn size(&self, of: u32) -> Option<u32> {
        let (mut of, mut count) = (of, 1u32);
        for _ in 0..DEPTH {
            match self.types.get(&of)? {
                Type::Number(bytes) => return count.checked_mul(*bytes),
                Type::Several(several, element) => {
                    count = count.checked_mul(*several)?;
                    of = *element;
                }
                Type::Array(_, Some(length)) => {
                    return count
                        .checked_mul(*self.constants.get(length)?)?
                        .checked_mul(*self.strides.get(&of)?);
                }
                _ => return None,
            }
        }
        None
    }
}
