//! Where the registers of a shader are bound on the host.
//!
//! A shader says registers and spaces; what they are is up to whoever runs it. The lifter asks a [`Remapper`] for
//! each resource, each row of a signature and each heap. Two come with the crate: [`RegisterSpaces`], a descriptor set
//! per space, and [`RootSignatureMap`], the binding model of Direct3D 12: constants and addresses in push constants or
//! shader records, tables as places in global heaps.

pub mod checks;
mod cover;
pub mod nodes;
mod root;
mod windows;

pub use checks::Checks;
pub use cover::covering;
pub use root::{HeapSets, RootSignatureMap};
pub use windows::Windows;

use crate::model::{ResourceClass, ShaderKind};
use crate::root_signature::Register;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Registers of a shader that are declared together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    /// How they are reached.
    pub class: ResourceClass,
    /// The first.
    pub first: Register,
    /// How many; none for as many as there are.
    pub count: Option<u32>,
    /// The shader that declares them.
    pub stage: ShaderKind,
}

impl Registers {
    /// The last register's number.
    fn last(&self) -> u32 {
        self.count.map_or(u32::MAX, |count| self.first.number.saturating_add(count.saturating_sub(1)))
    }
}

/// A descriptor of a set, or the first of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Slot {
    /// Descriptor set.
    pub set: u32,
    /// Binding in it.
    pub binding: u32,
}

/// Where an argument of the root signature lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Argument {
    /// From this word of the push constants on, or of [`Remapper::argument_block`].
    Push(u32),
    /// From this byte of the shader record on, behind the shader's identifier.
    Record(u32),
}

/// A heap of descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Heap {
    /// SRVs, UAVs and CBVs.
    Resources,
    /// Samplers.
    Samplers,
}

impl Heap {
    /// The heap of a class's descriptors.
    pub fn of(class: ResourceClass) -> Heap {
        if class == ResourceClass::Sampler { Heap::Samplers } else { Heap::Resources }
    }
}

/// What a descriptor of a heap is to the host. A heap is bound as an array of each that is used: a descriptor of
/// Direct3D has no type until a shader uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DescriptorKind {
    /// A sampled image.
    SampledImage,
    /// A storage image.
    StorageImage,
    /// A buffer of texels that is read.
    UniformTexelBuffer,
    /// A buffer of texels that is written, too.
    StorageTexelBuffer,
    /// A uniform buffer.
    UniformBuffer,
    /// A storage buffer.
    StorageBuffer,
    /// An acceleration structure.
    AccelerationStructure,
    /// The counter of a structured buffer.
    Counter,
    /// A sampler.
    Sampler,
}

impl DescriptorKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [DescriptorKind; 9] = [
        DescriptorKind::SampledImage,
        DescriptorKind::StorageImage,
        DescriptorKind::UniformTexelBuffer,
        DescriptorKind::StorageTexelBuffer,
        DescriptorKind::UniformBuffer,
        DescriptorKind::StorageBuffer,
        DescriptorKind::AccelerationStructure,
        DescriptorKind::Counter,
        DescriptorKind::Sampler,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            DescriptorKind::SampledImage => "sampled image",
            DescriptorKind::StorageImage => "storage image",
            DescriptorKind::UniformTexelBuffer => "uniform texel buffer",
            DescriptorKind::StorageTexelBuffer => "storage texel buffer",
            DescriptorKind::UniformBuffer => "uniform buffer",
            DescriptorKind::StorageBuffer => "storage buffer",
            DescriptorKind::AccelerationStructure => "acceleration structure",
            DescriptorKind::Counter => "counter",
            DescriptorKind::Sampler => "sampler",
        }
    }
}

/// What registers are bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// Descriptors of a set: the first register is the slot's first element.
    Slot(Slot),
    /// As [`Target::Slot`], but raw and structured buffers and counters are buffers of texels of one 32-bit unsigned component:
    /// for hosts whose storage buffers are too small, or cannot begin where Direct3D's do. Of values of 16 bits there are
    /// loads only, and atomics are of 32 bits.
    Texels(Slot),
    /// A constant buffer's contents.
    Constants {
        /// Where they begin.
        at: Argument,
        /// Words.
        words: u32,
    },
    /// A buffer or acceleration structure by its 64-bit address.
    Address {
        /// Where the address lies.
        at: Argument,
    },
    /// Descriptors of a heap: the first register is at the table's place and `offset`.
    Table {
        /// Where the table's place in the heap lies: a word, or a 64-bit handle in shader records.
        at: Argument,
        /// The heap.
        heap: Heap,
        /// Descriptors from there to the first register.
        offset: u32,
    },
    /// A sampler of the root signature.
    StaticSampler {
        /// Its number there.
        index: u32,
        /// Where it is bound.
        slot: Slot,
    },
}

/// A row of an input or output signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageVariable<'a> {
    /// The semantic's name.
    pub semantic: &'a str,
    /// The semantic's index.
    pub index: u32,
    /// The register it was given.
    pub row: u32,
    /// Its first component: 0 to 3.
    pub column: u8,
    /// The geometry shader's stream it goes to.
    pub stream: u8,
}

/// Where a variable lies on the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// Location.
    pub location: u32,
    /// First component: 0 to 3.
    pub component: u8,
}

/// Where an output is captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamOutput {
    /// The buffer.
    pub buffer: u32,
    /// Byte offset in a vertex.
    pub offset: u32,
    /// Bytes of a vertex.
    pub stride: u32,
}

/// Why registers cannot be bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum BindError {
    /// Nothing is bound there.
    #[error("nothing is bound to {letter}{number}, space {space}")]
    Unbound {
        /// The letter of the register.
        letter: char,
        /// Its number.
        number: u32,
        /// Its space.
        space: u32,
    },
    /// An array goes beyond what it is bound to.
    #[error("{letter}{first} to {letter}{last}, space {space}, are not bound to one range")]
    Partial {
        /// The letter of the registers.
        letter: char,
        /// The first's number.
        first: u32,
        /// The last's number.
        last: u32,
        /// Their space.
        space: u32,
    },
    /// Its binding, or its place in a table, would be beyond the last.
    #[error("{letter}{number}, space {space}, has no binding")]
    Range {
        /// The letter of the register.
        letter: char,
        /// Its number.
        number: u32,
        /// Its space.
        space: u32,
    },
    /// Direct access to a heap that is not bound.
    #[error("shaders may not index the heap of {0:?}")]
    Heap(Heap),
}

impl BindError {
    fn unbound(registers: &Registers) -> BindError {
        let Register { number, space } = registers.first;
        BindError::Unbound { letter: registers.class.letter(), number, space }
    }

    fn beyond(registers: &Registers) -> BindError {
        let Register { number, space } = registers.first;
        BindError::Range { letter: registers.class.letter(), number, space }
    }
}

/// Says where things are bound. Answers must not change while a shader is translated.
pub trait Remapper {
    /// Where registers are bound.
    ///
    /// # Errors
    /// They are not.
    fn resource(&self, registers: &Registers) -> Result<Target, BindError>;

    /// Where the counter of a structured buffer is bound; asked only for buffers with one.
    ///
    /// # Errors
    /// It is not.
    fn counter(&self, registers: &Registers) -> Result<Target, BindError>;

    /// Where a heap is bound as an array of `kind`: for tables, and for shaders that index it.
    ///
    /// # Errors
    /// It is not.
    fn heap(&self, heap: Heap, kind: DescriptorKind) -> Result<Slot, BindError>;

    /// Whether shaders may index a heap.
    fn is_heap_indexed(&self, heap: Heap) -> bool;

    /// The storage buffer that says what descriptors of a heap are, if accesses are to be checked: [`checks`] has what is in
    /// it. By default there is none.
    fn descriptor_checks(&self, _heap: Heap) -> Option<Checks> {
        None
    }

    /// The storage buffer that says which part of each storage buffer of the heap a shader sees, if it is not all. For hosts that
    /// bind storage buffers at multiples of more bytes than Direct3D does. By default there is none.
    fn buffer_windows(&self) -> Option<Windows> {
        None
    }

    /// The storage buffer that says the same of typed buffers, in texels; it may be that of [`buffer_windows`](Remapper::buffer_windows).
    /// By default there is none.
    fn texel_windows(&self) -> Option<Windows> {
        None
    }

    /// Words of push constants that [`resource`](Remapper::resource) speaks of.
    fn push_words(&self) -> u32 {
        0
    }

    /// The uniform buffer that has what [`Argument::Push`] speaks of, if it is no push constants: an inline uniform block, for hosts
    /// that have too few of them. By default there is none.
    fn argument_block(&self) -> Option<Slot> {
        None
    }

    /// Where the 64-bit address of a node's arguments lies: [`nodes`] has what they are. By default at the first even word
    /// behind the other push constants.
    fn node_arguments(&self) -> Argument {
        Argument::Push(self.push_words().checked_next_multiple_of(2).unwrap_or(u32::MAX))
    }

    /// Where an input lies: by default at its register.
    fn input(&self, _stage: ShaderKind, variable: &StageVariable) -> Location {
        Location { location: variable.row, component: variable.column }
    }

    /// Where an output lies: by default at its register.
    fn output(&self, _stage: ShaderKind, variable: &StageVariable) -> Location {
        Location { location: variable.row, component: variable.column }
    }

    /// Where an output of the last stage before the rasteriser is captured, with all of its components: by default nowhere.
    /// Distances to planes are not asked for.
    fn stream_output(&self, _stage: ShaderKind, _variable: &StageVariable) -> Option<StreamOutput> {
        None
    }
}

/// A descriptor set for each space, with a binding for each register.
///
/// Registers of different classes may share their numbers; `shifts` keeps them apart where they do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegisterSpaces {
    /// Added to registers, by [`ResourceClass`].
    pub shifts: [u32; 4],
    /// Added to a UAV's register for its counter, on top of its shift.
    pub counter_shift: u32,
    /// The sets that heaps are bound in, if shaders may index them.
    pub heaps: Option<HeapSets>,
    /// Whether raw and structured buffers are bound as buffers of texels ([`Target::Texels`]).
    pub raw_as_texels: bool,
}

impl RegisterSpaces {
    fn slot(&self, registers: &Registers, shift: u32) -> Result<Target, BindError> {
        let Register { number, space } = registers.first;
        let binding = number.checked_add(shift).ok_or(BindError::beyond(registers))?;
        let slot = Slot { set: space, binding };
        Ok(if self.raw_as_texels { Target::Texels(slot) } else { Target::Slot(slot) })
    }
}

impl Remapper for RegisterSpaces {
    fn resource(&self, registers: &Registers) -> Result<Target, BindError> {
        self.slot(registers, self.shifts[registers.class as usize])
    }

    fn counter(&self, registers: &Registers) -> Result<Target, BindError> {
        let shift = self.shifts[registers.class as usize].saturating_add(self.counter_shift);
        self.slot(registers, shift)
    }

    fn heap(&self, heap: Heap, kind: DescriptorKind) -> Result<Slot, BindError> {
        self.heaps.map(|sets| sets.slot(heap, kind)).ok_or(BindError::Heap(heap))
    }

    fn is_heap_indexed(&self, _heap: Heap) -> bool {
        self.heaps.is_some()
    }

    fn descriptor_checks(&self, heap: Heap) -> Option<Checks> {
        self.heaps.and_then(|sets| sets.checks(heap))
    }

    fn buffer_windows(&self) -> Option<Windows> {
        self.heaps.and_then(|sets| sets.windows)
    }

    fn texel_windows(&self) -> Option<Windows> {
        self.heaps.and_then(|sets| sets.texel_windows)
    }
}

#[cfg(test)]
mod tests;
