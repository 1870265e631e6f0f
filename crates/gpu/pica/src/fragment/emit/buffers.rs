//! Buffers of a program, and what is read from them and written there.

use xenoglot_ir::module::{Access, Count, OutOfBounds, ResourceData, ResourceKind};
use xenoglot_ir::{MemInfo, Resource, Space, Type, Value};

use super::{Emit, floats};
use crate::fragment::layout::{
    BIN_BINDING, DEPTH_BINDING, DESTINATION_BINDING, TABLE_BINDING, TEXTURE_BINDING, TRIANGLE_BINDING,
    TRIANGLES_SIZE, UNIFORM_BINDING, UNIFORM_SIZE,
};

/// Storage buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// Look-up tables.
    Tables,
    /// Texels of a unit.
    Texture(usize),
    /// The pixels drawn over.
    Destination,
    /// The colour buffer of a tile program.
    Pixels,
    /// The depth buffer of a tile program.
    Depths,
    /// The bins of a tile program.
    Bins,
}

impl Storage {
    const COUNT: usize = 8;

    fn index(self) -> usize {
        match self {
            Storage::Tables => 0,
            Storage::Texture(unit) => 1 + unit,
            Storage::Destination => 4,
            Storage::Pixels => 5,
            Storage::Depths => 6,
            Storage::Bins => 7,
        }
    }

    fn access(self) -> Access {
        match self {
            Storage::Pixels | Storage::Depths => Access::ReadWrite,
            _ => Access::Read,
        }
    }

    fn binding(self) -> (u32, &'static str) {
        match self {
            Storage::Tables => (TABLE_BINDING, "tables"),
            Storage::Texture(0) => (TEXTURE_BINDING, "texture0"),
            Storage::Texture(1) => (TEXTURE_BINDING + 1, "texture1"),
            Storage::Texture(_) => (TEXTURE_BINDING + 2, "texture2"),
            Storage::Destination => (DESTINATION_BINDING, "destination"),
            Storage::Pixels => (DESTINATION_BINDING, "pixels"),
            Storage::Depths => (DEPTH_BINDING, "depths"),
            Storage::Bins => (BIN_BINDING, "bins"),
        }
    }
}

/// The buffers that a program uses so far.
#[derive(Debug, Default)]
pub struct Buffers {
    uniforms: Option<Resource>,
    triangles: Option<Resource>,
    storage: [Option<Resource>; Storage::COUNT],
}

impl Emit<'_> {
    fn resource(&mut self, name: &str, kind: ResourceKind, binding: u32) -> Resource {
        // Indices are clamped or wrapped to the sizes that go with the buffers.
        let oob = OutOfBounds::Undefined;
        self.module.resources.push(ResourceData {
            name: name.into(),
            kind,
            set: 0,
            binding,
            count: Count::One,
            oob,
        })
    }

    /// A value of the uniform buffer; vectors lie at multiples of 16.
    pub fn uniform(&mut self, offset: u32, ty: Type) -> Value {
        if let Some(&value) = self.loads.get(&(ty, offset)) {
            return value;
        }
        let buffer = match self.buffers.uniforms {
            Some(buffer) => buffer,
            None => {
                let kind = ResourceKind::UniformBuffer { size: UNIFORM_SIZE };
                let buffer = self.resource("state", kind, UNIFORM_BINDING);
                *self.buffers.uniforms.insert(buffer)
            }
        };
        let align = if ty.is_scalar() { 2 } else { 4 };
        let at = self.i32(offset);
        let value = self.b.load(MemInfo::plain(Space::Uniform, Some(buffer), align), at, ty);
        self.loads.insert((ty, offset), value);
        value
    }

    /// A vector of the buffer of triangles; vectors lie at multiples of 16.
    pub fn triangle_vector(&mut self, offset: Value, ty: Type) -> Value {
        let buffer = match self.buffers.triangles {
            Some(buffer) => buffer,
            None => {
                let kind = ResourceKind::UniformBuffer { size: TRIANGLES_SIZE };
                let buffer = self.resource("triangles", kind, TRIANGLE_BINDING);
                *self.buffers.triangles.insert(buffer)
            }
        };
        self.b.load(MemInfo::plain(Space::Uniform, Some(buffer), 4), offset, ty)
    }

    /// A float of the uniform buffer.
    pub fn uniform_f32(&mut self, offset: u32) -> Value {
        self.uniform(offset, Type::F32)
    }

    /// Three floats of the uniform buffer.
    pub fn uniform_vector(&mut self, offset: u32) -> Value {
        self.uniform(offset, floats(3))
    }

    /// A word of the uniform buffer.
    pub fn uniform_i32(&mut self, offset: u32) -> Value {
        self.uniform(offset, Type::I32)
    }

    fn memory(&mut self, storage: Storage, align: u8) -> MemInfo {
        let buffer = match self.buffers.storage[storage.index()] {
            Some(buffer) => buffer,
            None => {
                let (binding, name) = storage.binding();
                let kind = ResourceKind::StorageBuffer { access: storage.access() };
                let buffer = self.resource(name, kind, binding);
                *self.buffers.storage[storage.index()].insert(buffer)
            }
        };
        MemInfo::plain(Space::Storage, Some(buffer), align)
    }

    /// Loads a value that is aligned to `1 << align` bytes.
    pub fn load(&mut self, storage: Storage, offset: Value, ty: Type, align: u8) -> Value {
        let memory = self.memory(storage, align);
        self.b.load(memory, offset, ty)
    }

    /// Stores a word.
    pub fn store(&mut self, storage: Storage, offset: Value, word: Value) {
        let memory = self.memory(storage, 2);
        self.b.store(memory, offset, word);
    }

    /// Word `index` of a buffer.
    pub fn load_word(&mut self, storage: Storage, index: Value) -> Value {
        let two = self.i32(2);
        let offset = self.shl(index, two);
        self.load(storage, offset, Type::I32, 2)
    }

    /// Word `index` of the table at `base`.
    pub fn table_word(&mut self, base: u32, index: Value) -> Value {
        let base = self.i32(base / 4);
        let index = self.iadd(index, base);
        self.load_word(Storage::Tables, index)
    }

    /// Value and difference of entry `index` of the table at `base`.
    pub fn table_entry(&mut self, base: Value, index: Value) -> [Value; 2] {
        let three = self.i32(3);
        let offset = self.shl(index, three);
        let offset = self.iadd(offset, base);
        let entry = self.load(Storage::Tables, offset, floats(2), 3);
        [0, 1].map(|lane| self.b.extract(entry, lane))
    }
}
