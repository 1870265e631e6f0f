//! Nodes of work graphs as `RDAT` describes them; the module's metadata has the same facts.
//!
//! Tables refer to each other by the numbers of records. Source: `RDAT_LibraryTypes.inl` of DirectXShaderCompiler, for the order
//! of fields and the numbers of attributes.

use super::ContainerError;
use super::rdat::{Shared, records};
use super::reader::Reader;
use crate::program::{Launch, Node, NodeFlags, NodeId, NodeInput, NodeOutput, RecordGrid, RecordType};

/// Attributes of a node.
mod of_node {
    pub const ID: u32 = 1;
    pub const SHARES_INPUT_OF: u32 = 3;
    pub const GRID: u32 = 4;
    pub const MAX_RECURSION: u32 = 5;
    pub const LOCAL_ARGUMENTS: u32 = 6;
    pub const MAX_GRID: u32 = 7;
}

/// Attributes of an input or output.
mod of_records {
    pub const ID: u32 = 1;
    pub const MAX_RECORDS: u32 = 2;
    pub const MAX_RECORDS_OF: u32 = 3;
    pub const SIZE: u32 = 4;
    pub const GRID: u32 = 5;
    pub const ARRAY_SIZE: u32 = 6;
    pub const SPARSE: u32 = 7;
    pub const ALIGN: u32 = 8;
}

/// What a copy of an input or output counts of the words that lists may add up to.
const COPY: u64 = 32;

/// A number and what it stands for.
type Pair = [u32; 2];

/// The tables of nodes.
#[derive(Default)]
pub(super) struct Tables {
    /// Names and places in arrays.
    pub ids: Vec<Pair>,
    /// Attributes of inputs and outputs: kind and value.
    pub of_records: Vec<Pair>,
    /// Attributes of nodes.
    pub of_nodes: Vec<Pair>,
    /// Inputs and outputs: flags and attributes.
    pub records: Vec<Pair>,
    /// Nodes: launch, bytes of the workgroup's memory, lists of attributes, outputs and inputs.
    pub nodes: Vec<[u32; 5]>,
}

/// The records of a table, of which the first words are read.
pub(super) fn words<const N: usize>(at: Reader<'_>) -> Result<Vec<[u32; N]>, ContainerError> {
    records(at, 4 * N as u32, |mut at| {
        let mut words = [0; N];
        for word in &mut words {
            *word = at.u32("word of a record")?;
        }
        Ok(words)
    })
}

impl Tables {
    /// The node of a number, which names it.
    pub fn node(
        &self,
        at: &Reader<'_>,
        index: u32,
        is_entry: bool,
        shared: &mut Shared<'_>,
    ) -> Result<Node, ContainerError> {
        let [launch, _, attributes, outputs, inputs] = record(at, &self.nodes, index)?;
        let launch = match launch {
            1 => Launch::Broadcasting,
            2 => Launch::Coalescing,
            3 => Launch::Thread,
            _ => return Err(at.bad(4, "launch of a node", launch)),
        };
        let (mut id, mut shares_input_of, mut local_arguments) = (None, None, None);
        let (mut grid, mut max_grid, mut max_recursion) = (None, None, 0);
        for attribute in shared.list_at(at, attributes)?.iter() {
            let [kind, value] = record(at, &self.of_nodes, attribute)?;
            match kind {
                of_node::ID => id = Some(self.id(at, value, shared)?),
                of_node::SHARES_INPUT_OF => shares_input_of = Some(self.id(at, value, shared)?),
                of_node::GRID => grid = Some(groups(at, value, shared)?),
                of_node::MAX_GRID => max_grid = Some(groups(at, value, shared)?),
                of_node::MAX_RECURSION => max_recursion = value,
                of_node::LOCAL_ARGUMENTS => local_arguments = Some(value).filter(|&n| n != u32::MAX),
                _ => {}
            }
        }
        let mut input = None;
        for records in shared.list_at(at, inputs)?.iter() {
            let (NodeOutput { flags, record, max_records, .. }, _) = self.records(at, records, shared)?;
            let max_records = max_records.max(1);
            if input.replace(NodeInput { flags, record, max_records }).is_some() {
                return Err(at.bad(4, "second input of a node", records));
            }
        }
        let mut all = Vec::new();
        for records in shared.list_at(at, outputs)?.iter() {
            match self.records(at, records, shared)? {
                (output, true) => all.push(output),
                _ => return Err(at.bad(4, "output without a node", records)),
            }
        }
        let id = id.ok_or_else(|| at.bad(4, "node without a name", index))?;
        let outputs = all;
        Ok(Node {
            launch,
            id,
            is_entry,
            local_arguments,
            shares_input_of,
            grid,
            max_grid,
            max_recursion,
            input,
            outputs,
        })
    }

    fn id(&self, at: &Reader<'_>, index: u32, shared: &mut Shared<'_>) -> Result<NodeId, ContainerError> {
        let [name, index] = record(at, &self.ids, index)?;
        let name = shared.name_at(at, name)?.to_owned();
        Ok(NodeId { name, index })
    }

    /// An input or output, and whether it names a node.
    fn records(
        &self,
        at: &Reader<'_>,
        index: u32,
        shared: &mut Shared<'_>,
    ) -> Result<(NodeOutput, bool), ContainerError> {
        // Several nodes may have the same, and each has its own copy.
        shared.spend(at, COPY)?;
        let [flags, attributes] = record(at, &self.records, index)?;
        let flags = NodeFlags::from_bits_retain(flags);
        let (mut id, mut ty) = (None, RecordType { size: 0, align: 4, grid: None });
        let (mut max_records, mut max_records_of) = (1, None);
        let (mut nodes, mut sparse) = (Some(1), false);
        for attribute in shared.list_at(at, attributes)?.iter() {
            let [kind, value] = record(at, &self.of_records, attribute)?;
            match kind {
                of_records::ID => id = Some(self.id(at, value, shared)?),
                of_records::MAX_RECORDS => max_records = value,
                of_records::MAX_RECORDS_OF => max_records_of = Some(value),
                of_records::SIZE => ty.size = value,
                of_records::GRID => ty.grid = Some(grid(at, value)?),
                // The size has no meaning for an output that is not an array.
                of_records::ARRAY_SIZE if flags.contains(NodeFlags::ARRAY) => {
                    nodes = Some(value).filter(|&n| n != u32::MAX);
                }
                of_records::SPARSE => sparse = value != 0,
                of_records::ALIGN => {
                    let align = Some(value).filter(|n| n.is_power_of_two() && *n <= 16);
                    ty.align = align.ok_or_else(|| at.bad(4, "alignment of records", value))?.max(4);
                }
                _ => {}
            }
        }
        let is_named = id.is_some();
        let id = id.unwrap_or(NodeId { name: String::new(), index: 0 });
        let record = Some(ty).filter(|ty| ty.size != 0);
        Ok((NodeOutput { id, flags, record, max_records, max_records_of, nodes, sparse }, is_named))
    }
}

/// The record of a number.
fn record<const N: usize>(at: &Reader<'_>, all: &[[u32; N]], index: u32) -> Result<[u32; N], ContainerError> {
    all.get(index as usize).copied().ok_or_else(|| at.bad(4, "number of a record", index))
}

/// Groups along three axes.
fn groups(at: &Reader<'_>, list: u32, shared: &mut Shared<'_>) -> Result<[u32; 3], ContainerError> {
    let mut groups = [1; 3];
    let list = shared.list_at(at, list)?;
    groups.iter_mut().zip(list.iter()).for_each(|(to, n)| *to = n);
    Ok(groups)
}

/// The first byte in the low half; then two bits for the number of components, and their type.
fn grid(at: &Reader<'_>, value: u32) -> Result<RecordGrid, ContainerError> {
    let (offset, components, ty) = (value & 0xffff, value >> 16 & 3, value >> 18);
    let bytes = match ty {
        // Unsigned integers of 16 and of 32 bits.
        3 => 2,
        5 => 4,
        _ => return Err(at.bad(4, "type of a grid", ty)),
    };
    Ok(RecordGrid { offset, components, bytes })
}
