//! What a run may use and what it gives back.

use smallvec::SmallVec;
use xenoglot_ir::{Bits, Block, Func};

/// What one call into the interpreter may use, all invocations together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Instructions and terminators that may be executed.
    pub fuel: u64,
    /// Most calls within each other.
    pub call_depth: u32,
    /// Most bytes of registers, private and shared memory.
    pub memory: u64,
    /// Most events that may be recorded.
    pub events: usize,
    /// Visited blocks to record; the run goes on when there are more.
    pub trace: usize,
}

impl Default for Limits {
    /// A million instructions, 64 calls, 64 MiB, 4,096 events, no trace.
    fn default() -> Limits {
        Limits { fuel: 1_000_000, call_depth: 64, memory: 64 << 20, events: 4096, trace: 0 }
    }
}

/// How an invocation ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// By returning.
    Return,
    /// By `kill`.
    Kill,
    /// By leaving to a guest address.
    Exit(u64),
    /// By going on at a guest address in the same frame.
    TailCallGuest(u64),
    /// By leaving for a reason.
    Trap {
        /// The reason.
        code: u64,
        /// The guest address to go on at.
        pc: u64,
    },
}

/// Something a geometry shader did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// Emitted a vertex: every output element in order of the variables and their elements, inputs left out.
    Vertex(Vec<Bits>),
    /// Ended a primitive.
    EndPrimitive,
}

/// A block that was executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Visit {
    /// The function.
    pub func: Func,
    /// The block.
    pub block: Block,
    /// The subgroup within the workgroup.
    pub subgroup: u32,
    /// Bit i: lane i of the subgroup was one of those that executed it together. 1 where invocations run alone.
    pub lanes: u64,
}

/// What a run did.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Stats {
    /// Instructions and terminators executed.
    pub insts: u64,
    /// Blocks entered.
    pub blocks: u64,
    /// Lanes of loads, stores and atomics that lay outside their buffer and did not fault.
    pub out_of_bounds: u64,
}

/// What a run that came to its end gives back; buffers and outputs are in the [`Bindings`](crate::Bindings).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// What the function returned.
    pub returns: SmallVec<[Bits; 4]>,
    /// Whether the invocation had become a helper.
    pub demoted: bool,
    /// Emitted vertices and ended primitives.
    pub events: Vec<Event>,
    /// The first [`Limits::trace`] visited blocks.
    pub trace: Vec<Visit>,
    /// Statistics.
    pub stats: Stats,
}

/// What a dispatch that came to its end gives back; buffers are in the [`Bindings`](crate::Bindings).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dispatched {
    /// The first [`Limits::trace`] executed blocks, workgroup by workgroup.
    pub trace: Vec<Visit>,
    /// Statistics of all invocations.
    pub stats: Stats,
}

/// What a fragment gives back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fragment {
    /// Every output element in order of the variables and their elements, inputs left out; zeros where none was written.
    pub outputs: Vec<Bits>,
    /// Whether the invocation had become a helper: nothing of it is drawn.
    pub demoted: bool,
}
