//! `RDAT`: what a library's functions use, and the state objects it declares.
//!
//! Tables of records refer to shared tables of names, lists of words and bytes. Records may be longer than what is
//! read here: later compilers append to them.

use super::facts::Features;
use super::psv::ResourceKind;
use super::rdat_nodes::{self, Tables};
use super::reader::{Reader, Words};
use super::{ContainerError, Part};
use crate::model::{ResourceClass, ShaderKind, Stages};
use crate::number::numbered;
use crate::program::Node;
use bitflags::bitflags;
use serde::{Serialize, Serializer};

numbered! {
    /// What a hit group's geometry is.
    HitGroupType {
        0 Triangle "triangle",
        1 ProceduralPrimitive "procedural primitive",
    }
}

bitflags! {
    /// How a resource is used.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ResourceFlags: u32 {
        /// A UAV coherent across groups.
        const GLOBALLY_COHERENT = 1 << 0;
        /// A UAV with a counter.
        const COUNTER = 1 << 1;
        /// A rasterizer-ordered view.
        const ROV = 1 << 2;
        /// Indexed dynamically.
        const DYNAMIC_INDEXING = 1 << 3;
        /// Used by 64-bit atomics.
        const ATOMICS_64 = 1 << 4;
        const _ = !0;
    }
}

impl Serialize for ResourceFlags {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = self.iter_names().map(|(name, _)| name.to_ascii_lowercase().replace('_', "-"));
        serializer.collect_seq(names)
    }
}

/// A resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ResourceInfo<'a> {
    /// How it is reached.
    pub class: ResourceClass,
    /// Its shape.
    pub kind: ResourceKind,
    /// Its number among those of its class.
    pub id: u32,
    /// Register space.
    pub space: u32,
    /// First register.
    pub lower: u32,
    /// Last register; all ones if unbounded.
    pub upper: u32,
    /// Its name.
    pub name: &'a str,
    /// How it is used.
    pub flags: ResourceFlags,
}

/// Names by their offsets.
#[derive(Clone, Copy)]
pub struct Names<'a> {
    offsets: Words<'a>,
    strings: Reader<'a>,
}

impl<'a> Names<'a> {
    /// The names; empty where an offset is none of a name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a str> + use<'a> {
        let strings = self.strings;
        self.offsets.iter().map(move |offset| name(strings, offset).unwrap_or_default())
    }
}

impl PartialEq for Names<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Names<'_> {}

impl std::fmt::Debug for Names<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for Names<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FunctionInfo<'a> {
    /// Its name in the bitcode.
    pub name: &'a str,
    /// Its name in the source.
    pub unmangled: &'a str,
    /// What it uses, as indices of [`RuntimeData::resources`].
    pub resources: Words<'a>,
    /// Functions of other libraries it calls.
    pub dependencies: Names<'a>,
    /// What it is; `Library` for a function that is no shader, none for what SM 6.7 does not know.
    pub kind: Option<ShaderKind>,
    /// Bytes of the payload, or of a callable shader's parameter.
    pub payload_bytes: u32,
    /// Bytes of the attributes of hits.
    pub attribute_bytes: u32,
    /// What it needs.
    pub features: Features,
    /// The kinds of shaders that may call it.
    #[serde(serialize_with = "stage_names")]
    pub stages: Stages,
    /// The kind and shader model it needs at least, as in a program's header.
    pub min_target: u32,
    /// The fewest and the most lanes of waves that it is written for; 0 where it does not say, as before SM 6.8.
    pub wave_lanes: [u8; 2],
    /// The description of a work graph's node.
    pub node: Option<Node>,
}

fn stage_names<S: Serializer>(stages: &Stages, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(ShaderKind::ALL.iter().filter(|kind| stages.contains(kind.set())))
}

/// What a subobject says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SubobjectContent<'a> {
    /// Flags of the state object.
    StateObjectConfig {
        /// 1: local definitions may depend on external ones; 2: the reverse; 4: it may be added to.
        flags: u32,
    },
    /// A root signature for all shaders, as `RTS0` holds it.
    GlobalRootSignature(#[serde(serialize_with = "super::byte_count")] &'a [u8]),
    /// One for shaders' records.
    LocalRootSignature(#[serde(serialize_with = "super::byte_count")] &'a [u8]),
    /// Which exports a subobject is for.
    ExportsAssociation {
        /// The subobject.
        subobject: &'a str,
        /// The exports; none for all.
        exports: Names<'a>,
    },
    /// Sizes of what shaders pass.
    ShaderConfig {
        /// Bytes of the payload.
        payload_bytes: u32,
        /// Bytes of the attributes of hits.
        attribute_bytes: u32,
    },
    /// Limits of the pipeline.
    PipelineConfig {
        /// How deep rays may trace rays.
        max_depth: u32,
        /// 0x100: skips triangles; 0x200: skips procedural primitives.
        flags: u32,
    },
    /// Shaders for hits; a name is empty if there is no such shader.
    HitGroup {
        /// What is hit.
        ty: HitGroupType,
        /// Any-hit shader.
        any_hit: &'a str,
        /// Closest-hit shader.
        closest_hit: &'a str,
        /// Intersection shader.
        intersection: &'a str,
    },
    /// Of another kind.
    Other {
        /// Its number.
        kind: u32,
    },
}

/// A subobject of a state object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Subobject<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it says.
    pub content: SubobjectContent<'a>,
}

/// The part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RuntimeData<'a> {
    /// What is bound.
    pub resources: Vec<ResourceInfo<'a>>,
    /// Functions.
    pub functions: Vec<FunctionInfo<'a>>,
    /// Subobjects.
    pub subobjects: Vec<Subobject<'a>>,
}

/// The version, which no count of the releases before it could be.
const VERSION: u32 = 0x10;

mod table {
    pub const STRINGS: u32 = 1;
    pub const INDICES: u32 = 2;
    pub const RESOURCES: u32 = 3;
    pub const FUNCTIONS: u32 = 4;
    pub const BYTES: u32 = 5;
    pub const SUBOBJECTS: u32 = 6;
    pub const NODE_IDS: u32 = 7;
    pub const RECORD_ATTRIBUTES: u32 = 8;
    pub const NODE_ATTRIBUTES: u32 = 9;
    pub const NODE_RECORDS: u32 = 10;
    pub const NODES: u32 = 11;
}

/// Words and bytes that lists may add up to, as a multiple of the part's bytes: lists may be shared.
const SHARING: u64 = 16;

/// What records refer to.
pub(super) struct Shared<'a> {
    strings: Reader<'a>,
    indices: Reader<'a>,
    bytes: Reader<'a>,
    budget: u64,
    limit: u64,
}

fn name<'a>(strings: Reader<'a>, offset: u32) -> Result<&'a str, ContainerError> {
    strings.seek(offset.into(), "name")?.text("name")
}

impl<'a> Shared<'a> {
    fn name(&self, at: &mut Reader<'a>) -> Result<&'a str, ContainerError> {
        name(self.strings, at.u32("offset of a name")?)
    }

    pub fn spend(&mut self, at: &Reader, amount: u64) -> Result<(), ContainerError> {
        let left = self.budget.checked_sub(amount);
        self.budget = left.ok_or_else(|| at.beyond("words of shared lists", self.limit + 1, self.limit))?;
        Ok(())
    }

    /// A name that is copied.
    pub fn name_at(&mut self, at: &Reader, offset: u32) -> Result<&'a str, ContainerError> {
        let name = name(self.strings, offset)?;
        self.spend(at, name.len() as u64)?;
        Ok(name)
    }

    fn list(&mut self, at: &mut Reader<'a>) -> Result<Words<'a>, ContainerError> {
        let index = at.u32("index of a list")?;
        self.list_at(at, index)
    }

    /// A list by its index; all ones for an empty one. Its first word says how long it is.
    pub fn list_at(&mut self, at: &Reader, index: u32) -> Result<Words<'a>, ContainerError> {
        if index == u32::MAX {
            return Ok(Words::default());
        }
        let mut list = self.indices.seek(u64::from(index) * 4, "list")?;
        let count = list.u32("length of a list")?;
        self.spend(at, count.into())?;
        Ok(Words(list.words(count.into(), "list")?))
    }

    fn names(&mut self, at: &mut Reader<'a>) -> Result<Names<'a>, ContainerError> {
        Ok(Names { offsets: self.list(at)?, strings: self.strings })
    }

    /// Bytes by offset and size.
    fn blob(&mut self, at: &mut Reader<'a>) -> Result<&'a [u8], ContainerError> {
        let mut bytes = self.bytes.seek(at.u32("offset of bytes")?.into(), "bytes")?;
        let size = at.u32("number of bytes")?;
        self.spend(at, size.into())?;
        bytes.bytes(size.into(), "bytes")
    }
}

/// Reads the part: version, number of tables, their offsets; each table begins with its type and size.
pub(super) fn parse<'a>(part: &Part<'a>) -> Result<RuntimeData<'a>, ContainerError> {
    let start = part.reader();
    let mut at = start;
    let version = at.u32("version")?;
    if version != VERSION {
        return Err(at.bad(4, "version", version));
    }
    let count = at.count("tables", part.data.len() as u64 / 8)?;
    let offsets = Words(at.words(count, "offsets of tables")?);
    // The first table of a type counts.
    let table = |wanted: u32| {
        for offset in offsets.iter() {
            let mut at = start.seek(offset.into(), "table")?;
            if at.u32("type of a table")? == wanted {
                return at.sized("table").map(Some);
            }
        }
        Ok(None)
    };
    let empty = Reader::new(part.name, part.offset, &[]);
    let limit = part.data.len() as u64 * SHARING;
    let mut shared = Shared {
        strings: table(table::STRINGS)?.unwrap_or(empty),
        indices: table(table::INDICES)?.unwrap_or(empty),
        bytes: table(table::BYTES)?.unwrap_or(empty),
        budget: limit,
        limit,
    };
    let mut data = RuntimeData::default();
    if let Some(at) = table(table::RESOURCES)? {
        data.resources = records(at, 32, |at| resource(at, &shared))?;
    }
    if let Some(at) = table(table::FUNCTIONS)? {
        let mut tables = Tables::default();
        let all = [
            (table::NODE_IDS, &mut tables.ids),
            (table::RECORD_ATTRIBUTES, &mut tables.of_records),
            (table::NODE_ATTRIBUTES, &mut tables.of_nodes),
            (table::NODE_RECORDS, &mut tables.records),
        ];
        for (wanted, to) in all {
            *to = table(wanted)?.map(rdat_nodes::words).transpose()?.unwrap_or_default();
        }
        tables.nodes = table(table::NODES)?.map(rdat_nodes::words).transpose()?.unwrap_or_default();
        data.functions = records(at, FUNCTION_BYTES, |at| function(at, &tables, &mut shared))?;
    }
    if let Some(at) = table(table::SUBOBJECTS)? {
        data.subobjects = records(at, 8, |at| subobject(at, &mut shared))?;
    }
    Ok(data)
}

/// Bytes of a function's record before SM 6.8.
const FUNCTION_BYTES: u32 = 44;

/// The records of a table: their number and size stand in front.
pub(super) fn records<'a, T>(
    mut at: Reader<'a>,
    min_size: u32,
    mut read: impl FnMut(Reader<'a>) -> Result<T, ContainerError>,
) -> Result<Vec<T>, ContainerError> {
    let count = at.count("records", at.left() as u64 / u64::from(min_size))?;
    let size = at.u32("size of a record")?;
    if size < min_size && count > 0 {
        return Err(at.bad(4, "size of a record", size));
    }
    (0..count).map(|_| read(at.part(size, "record")?)).collect()
}

fn resource<'a>(mut at: Reader<'a>, shared: &Shared<'a>) -> Result<ResourceInfo<'a>, ContainerError> {
    Ok(ResourceInfo {
        class: at.number("class of resource", ResourceClass::from_number)?,
        kind: at.number("kind of resource", ResourceKind::from_number)?,
        id: at.u32("number")?,
        space: at.u32("space")?,
        lower: at.u32("register")?,
        upper: at.u32("register")?,
        name: shared.name(&mut at)?,
        flags: ResourceFlags::from_bits_retain(at.u32("flags")?),
    })
}

fn function<'a>(
    mut at: Reader<'a>,
    tables: &Tables,
    shared: &mut Shared<'a>,
) -> Result<FunctionInfo<'a>, ContainerError> {
    let mut function = FunctionInfo {
        name: shared.name(&mut at)?,
        unmangled: shared.name(&mut at)?,
        resources: shared.list(&mut at)?,
        dependencies: shared.names(&mut at)?,
        kind: ShaderKind::from_number(at.u32("kind of shader")?),
        payload_bytes: at.u32("payload")?,
        attribute_bytes: at.u32("attributes")?,
        features: Features::from_bits_retain(at.u64("features")?),
        stages: Stages::from_bits_retain(at.u32("stages")? as u16),
        min_target: at.u32("target")?,
        wave_lanes: [0; 2],
        node: None,
    };
    // Since SM 6.8: wave lanes, flags of the shader, and the number of a record for its kind.
    if at.left() >= 8 {
        let [min, max, low, high] = at.u32("lanes and flags")?.to_le_bytes();
        function.wave_lanes = [min, max];
        let (flags, of_kind) = (u16::from_le_bytes([low, high]), at.u32("number of a node")?);
        if function.kind == Some(ShaderKind::Node) {
            function.node = Some(tables.node(&at, of_kind, flags & NODE_IS_ENTRY != 0, shared)?);
        }
    }
    Ok(function)
}

/// A flag of a shader: the application may launch the node.
const NODE_IS_ENTRY: u16 = 1;

fn subobject<'a>(mut at: Reader<'a>, shared: &mut Shared<'a>) -> Result<Subobject<'a>, ContainerError> {
    use SubobjectContent as Content;
    let kind = at.u32("kind of subobject")?;
    let name = shared.name(&mut at)?;
    let at = &mut at;
    let content = match kind {
        0 => Content::StateObjectConfig { flags: at.u32("flags")? },
        1 => Content::GlobalRootSignature(shared.blob(at)?),
        2 => Content::LocalRootSignature(shared.blob(at)?),
        8 => Content::ExportsAssociation { subobject: shared.name(at)?, exports: shared.names(at)? },
        9 => Content::ShaderConfig {
            payload_bytes: at.u32("payload")?,
            attribute_bytes: at.u32("attributes")?,
        },
        10 => Content::PipelineConfig { max_depth: at.u32("depth")?, flags: 0 },
        11 => Content::HitGroup {
            ty: at.number("type of hit group", HitGroupType::from_number)?,
            any_hit: shared.name(at)?,
            closest_hit: shared.name(at)?,
            intersection: shared.name(at)?,
        },
        12 => Content::PipelineConfig { max_depth: at.u32("depth")?, flags: at.u32("flags")? },
        kind => Content::Other { kind },
    };
    Ok(Subobject { name, content })
}
