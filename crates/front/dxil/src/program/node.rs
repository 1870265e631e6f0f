//! What metadata says of the nodes of work graphs.
//!
//! Source: "D3D12 Work Graphs" of the DirectX specifications, from "Node shader function metadata" to "NodeRecordType metadata
//! structure", and the proposal "DXIL 1.8" of the HLSL specifications, for the numbers of tags and flags.

use super::Reader;
use crate::bitcode::MetadataId;
use bitflags::bitflags;
use serde::{Serialize, Serializer};

/// Tags of a node's properties.
mod tag {
    pub const LAUNCH: u64 = 13;
    pub const IS_PROGRAM_ENTRY: u64 = 14;
    pub const ID: u64 = 15;
    pub const LOCAL_ARGUMENTS: u64 = 16;
    pub const SHARES_INPUT_OF: u64 = 17;
    pub const GRID: u64 = 18;
    pub const MAX_RECURSION: u64 = 19;
    pub const INPUTS: u64 = 20;
    pub const OUTPUTS: u64 = 21;
    pub const MAX_GRID: u64 = 22;
}

/// Tags of an input or output.
mod io {
    pub const ID: u64 = 0;
    pub const FLAGS: u64 = 1;
    pub const RECORD: u64 = 2;
    pub const MAX_RECORDS: u64 = 3;
    pub const MAX_RECORDS_OF: u64 = 4;
    pub const ARRAY_SIZE: u64 = 5;
    pub const SPARSE: u64 = 6;
}

/// Tags of a record's type.
mod record {
    pub const SIZE: u64 = 0;
    pub const GRID: u64 = 1;
    pub const ALIGN: u64 = 2;
}

/// How a node is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Launch {
    /// A grid of groups for each record.
    Broadcasting,
    /// A group for several records.
    Coalescing,
    /// An invocation for each record.
    Thread,
}

/// A node's name in its graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NodeId {
    /// Name of the array of nodes that it is in.
    pub name: String,
    /// Place in the array.
    pub index: u32,
}

bitflags! {
    /// What records are to a node.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct NodeFlags: u32 {
        /// The node takes them.
        const INPUT = 1 << 0;
        /// The node gives them.
        const OUTPUT = 1 << 1;
        /// They may be written.
        const READ_WRITE = 1 << 2;
        /// They have no contents, and are counted only.
        const EMPTY = 1 << 3;
        /// An array of nodes.
        const ARRAY = 1 << 4;
        /// An invocation's own; with [`NodeFlags::GROUP`] those of all groups of a dispatch.
        const THREAD = 1 << 5;
        /// A group's.
        const GROUP = 1 << 6;
        /// Groups may ask which of them is the last to finish with the record.
        const TRACKED = 1 << 8;
        /// What a group writes is seen by others.
        const COHERENT = 1 << 9;
        const _ = !0;
    }
}

impl Serialize for NodeFlags {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = self.iter_names().map(|(name, _)| name.to_ascii_lowercase().replace('_', "-"));
        serializer.collect_seq(names)
    }
}

/// The member of a record that says how many groups there are (`SV_DispatchGrid`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RecordGrid {
    /// Its first byte in the record.
    pub offset: u32,
    /// Its components, 1 to 3; others are 1.
    pub components: u32,
    /// Bytes of a component: 2 or 4.
    pub bytes: u32,
}

/// The type of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RecordType {
    /// Bytes of a record.
    pub size: u32,
    /// What its address is a multiple of.
    pub align: u32,
    /// Where it says how many groups there are, if it does.
    pub grid: Option<RecordGrid>,
}

impl RecordType {
    /// Bytes from a record that a node gives to the next one.
    pub fn stride(&self) -> u32 {
        self.size.next_multiple_of(self.align)
    }
}

/// What a node takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NodeInput {
    /// What the records are to it.
    pub flags: NodeFlags,
    /// Their type; none of those without contents.
    pub record: Option<RecordType>,
    /// Most records of a group of a coalescing node.
    pub max_records: u32,
}

/// What a node gives to another one, or to each of an array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NodeOutput {
    /// The node, or the first of the array.
    pub id: NodeId,
    /// What the records are to the node that gives them.
    pub flags: NodeFlags,
    /// Their type; none of those without contents.
    pub record: Option<RecordType>,
    /// Most records that a group gives, to all nodes of an array together.
    pub max_records: u32,
    /// The output whose most records these count to, too.
    pub max_records_of: Option<u32>,
    /// Nodes of the array, 1 if it is none; `None` without bound.
    pub nodes: Option<u32>,
    /// Whether nodes may be missing.
    pub sparse: bool,
}

/// What there is to know of a node beside its shader.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Node {
    /// How it is launched.
    pub launch: Launch,
    /// What it is called in the graph.
    pub id: NodeId,
    /// Whether the application may launch it.
    pub is_entry: bool,
    /// Which of the local root arguments are its own, if it says.
    pub local_arguments: Option<u32>,
    /// The node that it shares its input with.
    pub shares_input_of: Option<NodeId>,
    /// Groups for each record of a broadcasting node.
    pub grid: Option<[u32; 3]>,
    /// Most groups, where the record says how many.
    pub max_grid: Option<[u32; 3]>,
    /// How often the node may lead to itself.
    pub max_recursion: u32,
    /// What it takes, if it is not launched without records.
    pub input: Option<NodeInput>,
    /// What it gives.
    pub outputs: Vec<NodeOutput>,
}

/// Largest record: as long as the space for a group's records.
const MOST_BYTES: u32 = 1 << 15;

/// Pairs of a tag and what it has.
fn pairs(list: &[Option<MetadataId>]) -> impl Iterator<Item = (Option<MetadataId>, Option<MetadataId>)> {
    list.as_chunks().0.iter().map(|&[tag, value]| (tag, value))
}

impl Reader<'_> {
    /// The node of an entry point with such properties.
    pub(super) fn node(&self, properties: MetadataId, name: &str) -> Option<Node> {
        let mut launch = None;
        let id = NodeId { name: name.to_owned(), index: 0 };
        let mut node = Node {
            launch: Launch::Broadcasting,
            id,
            is_entry: false,
            local_arguments: None,
            shares_input_of: None,
            grid: None,
            max_grid: None,
            max_recursion: 0,
            input: None,
            outputs: Vec::new(),
        };
        for (tag, value) in pairs(self.metadata.list(properties)?) {
            let list = || self.metadata.list(value?);
            let number = || u32::try_from(self.integer(value)?).ok();
            match self.integer(tag)? {
                tag::LAUNCH => {
                    launch = Some(match number()? {
                        1 => Launch::Broadcasting,
                        2 => Launch::Coalescing,
                        3 => Launch::Thread,
                        _ => return None,
                    });
                }
                tag::IS_PROGRAM_ENTRY => node.is_entry = number()? != 0,
                tag::ID => node.id = self.node_id(list()?)?,
                // All ones where it does not say.
                tag::LOCAL_ARGUMENTS => node.local_arguments = Some(number()?).filter(|&n| n != u32::MAX),
                tag::SHARES_INPUT_OF => node.shares_input_of = Some(self.node_id(list()?)?),
                tag::GRID => node.grid = Some(self.threads(list()?)?),
                tag::MAX_GRID => node.max_grid = Some(self.threads(list()?)?),
                tag::MAX_RECURSION => node.max_recursion = number()?,
                tag::INPUTS => match *list()? {
                    [] => {}
                    [input] => node.input = Some(self.node_input(self.metadata.list(input?)?)?),
                    // There is one input at most.
                    _ => return None,
                },
                tag::OUTPUTS => {
                    for &output in list()? {
                        node.outputs.push(self.node_output(self.metadata.list(output?)?)?);
                    }
                }
                _ => {}
            }
        }
        node.launch = launch?;
        Some(node)
    }

    fn node_id(&self, list: &[Option<MetadataId>]) -> Option<NodeId> {
        Some(NodeId { name: self.text((*list.first()?)?)?, index: self.integer32(list, 1)? })
    }

    fn node_input(&self, list: &[Option<MetadataId>]) -> Option<NodeInput> {
        let (mut flags, mut record, mut max_records) = (None, None, 1);
        for (tag, value) in pairs(list) {
            let number = || u32::try_from(self.integer(value)?).ok();
            match self.integer(tag)? {
                io::FLAGS => flags = Some(NodeFlags::from_bits_retain(number()?)),
                io::RECORD => record = self.record_type(self.metadata.list(value?)?)?,
                io::MAX_RECORDS => max_records = number()?.max(1),
                _ => {}
            }
        }
        Some(NodeInput { flags: flags?, record, max_records })
    }

    fn node_output(&self, list: &[Option<MetadataId>]) -> Option<NodeOutput> {
        let (mut id, mut flags) = (None, None);
        let (mut record, mut max_records, mut max_records_of) = (None, 1, None);
        let (mut nodes, mut sparse) = (Some(1), false);
        for (tag, value) in pairs(list) {
            let number = || u32::try_from(self.integer(value)?).ok();
            match self.integer(tag)? {
                io::ID => id = Some(self.node_id(self.metadata.list(value?)?)?),
                io::FLAGS => flags = Some(NodeFlags::from_bits_retain(number()?)),
                io::RECORD => record = self.record_type(self.metadata.list(value?)?)?,
                io::MAX_RECORDS => max_records = number()?,
                io::MAX_RECORDS_OF => max_records_of = number(),
                io::ARRAY_SIZE => nodes = Some(number()?).filter(|&n| n != u32::MAX),
                io::SPARSE => sparse = number()? != 0,
                _ => {}
            }
        }
        let flags = flags?;
        // Of what is no array, a size says nothing.
        let nodes = if flags.contains(NodeFlags::ARRAY) { nodes } else { Some(1) };
        Some(NodeOutput { id: id?, flags, record, max_records, max_records_of, nodes, sparse })
    }

    /// `Some(None)` for records without contents.
    fn record_type(&self, list: &[Option<MetadataId>]) -> Option<Option<RecordType>> {
        let mut ty = RecordType { size: 0, align: 4, grid: None };
        for (tag, value) in pairs(list) {
            let number = || u32::try_from(self.integer(value)?).ok();
            match self.integer(tag)? {
                record::SIZE => ty.size = number().filter(|&n| n <= MOST_BYTES)?,
                record::ALIGN => {
                    let align = number().filter(|n| n.is_power_of_two() && *n <= 16)?;
                    ty.align = align.max(4);
                }
                record::GRID => ty.grid = Some(self.record_grid(self.metadata.list(value?)?)?),
                _ => {}
            }
        }
        let end = |grid: RecordGrid| grid.offset.saturating_add(grid.components * grid.bytes);
        if ty.grid.is_some_and(|grid| end(grid) > ty.size) {
            return None;
        }
        Some(Some(ty).filter(|ty| ty.size != 0))
    }

    /// First byte, type of the components, how many.
    fn record_grid(&self, list: &[Option<MetadataId>]) -> Option<RecordGrid> {
        let bytes = match self.integer32(list, 1)? {
            // Unsigned integers of 16 and of 32 bits.
            3 => 2,
            5 => 4,
            _ => return None,
        };
        let components = self.integer32(list, 2).filter(|n| (1..=3).contains(n))?;
        Some(RecordGrid { offset: self.integer32(list, 0)?, components, bytes })
    }
}
