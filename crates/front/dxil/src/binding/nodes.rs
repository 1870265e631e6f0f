//! The memory of work graphs: arguments of nodes, and queues of records.
//!
//! A node is a compute shader. It finds the address of its arguments where [`Remapper::node_arguments`](super::Remapper::node_arguments) says, and everything
//! else from there. All of it is little-endian. Arguments, at a multiple of 8 bytes:
//!
//! | byte | bits | what |
//! |---|---|---|
//! | [`RECORDS`] | 64 | the address of the first record that the node is given |
//! | [`STRIDE`] | 32 | bytes from a record to the next |
//! | [`COUNT`] | 32 | how many records there are; those without contents are counted, too |
//! | [`FINISHED`] | 32 | groups that have finished with the record; the host writes 0 before the dispatch |
//! | [`LEVELS`] | 32 | how often the node may still lead to itself |
//! | [`LOCAL`] | 64 | the address of the arguments of the local root signature, which lie there as in a shader record behind its identifier |
//! | [`OUTPUTS`] | | [`OUTPUT_BYTES`] for each output: the address of its first queue (64 bits), how many queues there are (32 bits), 32 bits of nothing |
//!
//! A queue is what nodes give to one node, at a multiple of 8 bytes:
//!
//! | byte | bits | what |
//! |---|---|---|
//! | [`QUEUE_COUNT`] | 32 | records that were asked for; nodes add to it |
//! | [`QUEUE_CAPACITY`] | 32 | records that there is room for; 0 where there is no node, which `IsValid` tells shaders |
//! | [`QUEUE_RECORDS`] | 64 | the address of the first record |
//!
//! Records of a queue follow each other by their type's [`stride`](crate::program::RecordType::stride). **There is room for one
//! record more than the capacity**, also where that is 0: writes to records that do not fit go there, and nobody reads them. The
//! count is what was wanted, and may be greater than the capacity. Likewise the queues of an array of nodes have **one queue
//! more** than there are nodes, behind the last one, which nodes outside of the array stand for; its capacity is 0. Queues of
//! records without contents have a capacity that is not 0, and no records. An output that is no array has one queue.
//!
//! | launch | a dispatch |
//! |---|---|
//! | broadcasting | the grid of one record, which is the first; the number of records is not looked at |
//! | coalescing | group *n* takes up to as many records as the node declares, from *n* times that on; groups without records end at once |
//! | thread | workgroups of [`THREADS`]; invocation *n* takes record *n*; those without a record end at once |
//!
//! Groups of the last two are counted by rows, X first, so that a dispatch may have more of them than fit along X; Z is 1.
//! [`groups`] says how many there are. What a node has written is there for the next one after a barrier between the dispatches,
//! as for all compute shaders.

use crate::program::{Launch, Node};

/// The byte of arguments where the address of the first record is.
pub const RECORDS: u32 = 0;
/// The byte of arguments where it is said how many bytes there are from a record to the next.
pub const STRIDE: u32 = 8;
/// The byte of arguments where the number of records is.
pub const COUNT: u32 = 12;
/// The byte of arguments where groups are counted that have finished with the record.
pub const FINISHED: u32 = 16;
/// The byte of arguments where it is said how often the node may still lead to itself.
pub const LEVELS: u32 = 20;
/// The byte of arguments where the address of the local root signature's arguments is.
pub const LOCAL: u32 = 24;
/// The byte of arguments where outputs begin.
pub const OUTPUTS: u32 = 32;
/// Bytes of an output.
pub const OUTPUT_BYTES: u32 = 16;

/// The byte of a queue where records are counted.
pub const QUEUE_COUNT: u32 = 0;
/// The byte of a queue where it is said how many records there is room for.
pub const QUEUE_CAPACITY: u32 = 4;
/// The byte of a queue where the address of its first record is.
pub const QUEUE_RECORDS: u32 = 8;
/// Bytes of a queue.
pub const QUEUE_BYTES: u32 = 16;

/// Invocations of a workgroup of a node that is launched by threads.
pub const THREADS: u32 = 32;

/// Most workgroups along an axis that every host has.
const MOST_GROUPS: u32 = 65_535;

/// What a node is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    /// The address of the first record.
    pub records: u64,
    /// Bytes from a record to the next.
    pub stride: u32,
    /// How many records there are.
    pub count: u32,
    /// How often the node may still lead to itself.
    pub levels: u32,
    /// The address of the local root signature's arguments.
    pub local: u64,
    /// The address of the first queue of each output, and how many there are.
    pub outputs: Vec<(u64, u32)>,
}

impl Arguments {
    /// The arguments as shaders read them.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(self.records.to_le_bytes());
        bytes.extend([self.stride, self.count, 0, self.levels].into_iter().flat_map(u32::to_le_bytes));
        bytes.extend(self.local.to_le_bytes());
        for &(queues, count) in &self.outputs {
            bytes.extend(queues.to_le_bytes());
            bytes.extend(u64::from(count).to_le_bytes());
        }
        bytes
    }
}

/// What nodes give to a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// Records that were asked for.
    pub count: u32,
    /// Records that there is room for.
    pub capacity: u32,
    /// The address of the first record.
    pub records: u64,
}

impl Queue {
    /// The queue as shaders read it.
    pub fn to_bytes(self) -> [u8; QUEUE_BYTES as usize] {
        let mut bytes = [0; QUEUE_BYTES as usize];
        bytes[..4].copy_from_slice(&self.count.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.capacity.to_le_bytes());
        bytes[8..].copy_from_slice(&self.records.to_le_bytes());
        bytes
    }

    /// The records that are there.
    pub fn filled(&self) -> u32 {
        self.count.min(self.capacity)
    }
}

/// Workgroups of a dispatch for so many records of a coalescing node, or of one that is launched by threads. A dispatch of a
/// broadcasting node has the grid of its record.
pub fn groups(node: &Node, records: u32) -> [u32; 3] {
    let of_group = match node.launch {
        Launch::Broadcasting => return node.grid.unwrap_or([1; 3]),
        Launch::Coalescing => node.input.map_or(1, |input| input.max_records),
        Launch::Thread => THREADS,
    };
    let groups = records.div_ceil(of_group.max(1));
    let x = groups.clamp(1, MOST_GROUPS);
    [x, groups.div_ceil(x), 1]
}
