//! What a node of a work graph is given, and handles of it.
//!
//! [`binding::nodes`](crate::binding::nodes) says where everything lies. What depends on the invocation's place alone is read in
//! front of everything: the address of the arguments, the first record of the group or invocation, how many there are.

use super::cx::Cx;
use super::{Lift, LiftError, Stop};
use crate::binding::nodes;
use crate::program::{Launch, Node, NodeFlags, RecordType};
use xenoglot_ir::imm::{BarrierInfo, MemInfo, Order, Scope};
use xenoglot_ir::module::Builtin;
use xenoglot_ir::{Flags, Imm, Op, Space, Type, Value};

/// A handle of a work graph.
#[derive(Clone, Copy, Debug)]
pub(super) enum Handle {
    /// An output by its number; of an array the node at an index.
    Output(u32, Option<Value>),
    /// The records that the node takes.
    Input,
    /// Records that were asked for.
    Records(Records),
}

/// Records of a queue that a group or an invocation asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Records {
    /// The output that they are for.
    pub output: u32,
    /// Their first one's number in the queue, an `i32`.
    pub first: Value,
    /// Records that the queue has room for, an `i32`.
    pub capacity: Value,
    /// The address of the queue's first record, an `i64`.
    pub start: Value,
}

/// What a node was given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given {
    /// The address of its arguments, an `i64`.
    pub arguments: Value,
    /// The address of the first record of the group or invocation, an `i64`.
    pub records: Value,
    /// How many there are, an `i32`.
    pub count: Value,
    /// Bytes from one to the next, an `i64`.
    pub stride: Value,
    /// Whether there are any, if it may be that there are none: the invocation ends then.
    pub is_launched: Option<Value>,
    /// Whether other groups see what is written to records.
    pub coherent: bool,
}

impl<'a> Cx<'a> {
    /// The node, if the shader is one.
    pub fn node(&self) -> Option<&'a Node> {
        self.program.node.as_ref()
    }

    /// Whether each invocation is launched by itself: it is alone in its group, whatever else is in the host's.
    pub fn is_thread_node(&self) -> bool {
        self.node().is_some_and(|node| node.launch == Launch::Thread)
    }

    /// Reads in front of everything what the node is given.
    pub fn begin_node(&mut self) -> Lift<()> {
        let Some(node) = self.node() else { return Ok(()) };
        let arguments = self.argument(self.remapper.node_arguments(), Type::I64)?;
        let mut records = self.load_at(arguments, nodes::RECORDS, Type::I64);
        let stride = self.load_at(arguments, nodes::STRIDE, Type::I32);
        let stride = self.resize(stride, Type::I64);
        let mut count = self.i32(1);
        let mut is_launched = None;
        let launched = match node.launch {
            Launch::Broadcasting => None,
            Launch::Coalescing => Some(node.input.map_or(1, |input| input.max_records)),
            Launch::Thread => Some(1),
        };
        if let Some(most) = launched {
            let total = self.load_at(arguments, nodes::COUNT, Type::I32);
            let group = self.group_by_rows();
            let (first, most) = match node.launch {
                Launch::Thread => {
                    let size = self.i32(nodes::THREADS);
                    let before = self.op(Op::Imul, &[group, size]);
                    let place = self.builtin(Builtin::LocalInvocationIndex, Type::I32);
                    (self.op(Op::Iadd, &[before, place]), self.i32(1))
                }
                _ => {
                    let most = self.i32(most);
                    (self.op(Op::Imul, &[group, most]), most)
                }
            };
            is_launched = Some(self.op(Op::IcmpUlt, &[first, total]));
            let left = self.op(Op::Isub, &[total, first]);
            count = self.op(Op::Umin, &[left, most]);
            records = self.record_at(records, first, stride);
        }
        let coherent = node.input.is_some_and(|input| input.flags.contains(NodeFlags::COHERENT));
        self.given = Some(Given { arguments, records, count, stride, is_launched, coherent });
        Ok(())
    }

    /// The number of the workgroup, counted by rows.
    fn group_by_rows(&mut self) -> Value {
        let group = self.builtin(Builtin::WorkgroupId, Type::I32X3);
        let groups = self.builtin(Builtin::NumWorkgroups, Type::I32X3);
        let [x, y] = [0, 1].map(|lane| self.b.extract(group, lane));
        let along = self.b.extract(groups, 0);
        let before = self.op(Op::Imul, &[y, along]);
        self.op(Op::Iadd, &[before, x])
    }

    /// What the node was given.
    pub fn given(&self) -> Lift<Given> {
        self.given.ok_or(Stop::Unsupported("outside of a node"))
    }

    /// The address of the arguments of the local root signature, if they do not lie in a shader record.
    pub fn local_arguments(&mut self) -> Option<Value> {
        let arguments = self.given?.arguments;
        Some(self.load_at(arguments, nodes::LOCAL, Type::I64))
    }

    /// An address some bytes further.
    pub fn further(&mut self, address: Value, bytes: u32) -> Value {
        if bytes == 0 {
            return address;
        }
        let bytes = self.constant(Type::I64, bytes.into());
        self.op(Op::Iadd, &[address, bytes])
    }

    /// Loads from memory at an address and some bytes.
    pub fn load_at(&mut self, address: Value, bytes: u32, ty: Type) -> Value {
        let address = self.further(address, bytes);
        let align = ty.bytes().unwrap_or(4).trailing_zeros() as u8;
        self.b.load(MemInfo::plain(Space::Global, None, align), address, ty)
    }

    /// Adds to a word at an address; what was there.
    pub fn add_at(&mut self, address: Value, count: Value) -> Value {
        let mem =
            MemInfo { order: Order::Relaxed, scope: Scope::Device, ..MemInfo::plain(Space::Global, None, 2) };
        self.inst(Op::AtomicAdd, Imm::Mem(mem), &[address, count], Type::I32)
    }

    /// The address of a record by its number, an `i32`.
    pub fn record_at(&mut self, start: Value, number: Value, stride: Value) -> Value {
        let number = self.resize(number, Type::I64);
        let bytes = self.op(Op::Imul, &[number, stride]);
        self.op(Op::Iadd, &[start, bytes])
    }

    /// The address of the queue that an output is, or that it is at an index.
    pub fn queue(&mut self, output: u32, index: Option<Value>) -> Lift<Value> {
        let arguments = self.given()?.arguments;
        let at = output.checked_mul(nodes::OUTPUT_BYTES).and_then(|at| at.checked_add(nodes::OUTPUTS));
        let at = at.ok_or(Stop::Unsupported("its output"))?;
        let first = self.load_at(arguments, at, Type::I64);
        Ok(match index {
            None => first,
            Some(index) => {
                // Behind the last queue is one that stands for what is not there.
                let count = self.load_at(arguments, at.saturating_add(8), Type::I32);
                let index = self.op(Op::Umin, &[index, count]);
                let bytes = self.constant(Type::I64, nodes::QUEUE_BYTES.into());
                self.record_at(first, index, bytes)
            }
        })
    }

    /// Has one invocation of the group compute a word, and all of them know it. With `memory`, that one sees what the others
    /// have written, and they see what it sees.
    pub fn once_for_group(&mut self, memory: bool, f: impl FnOnce(&mut Self) -> Value) -> Lift<Value> {
        if self.is_thread_node() || self.program.threads == [1; 3] {
            return Ok(f(self));
        }
        let word = self.memory.group_word()?;
        let (mem, address) = (MemInfo::plain(Space::Shared, None, 2), self.i32(word));
        // Who reads it for something else has done so.
        self.group_barrier(memory);
        self.once(|cx| {
            let v = f(cx);
            cx.b.store(mem, address, v);
        });
        self.group_barrier(memory);
        Ok(self.b.load(mem, address, Type::I32))
    }

    /// Has the first invocation of the group do something; what comes of it is known to that one alone.
    pub fn once<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        let (own, zero) = (self.builtin(Builtin::LocalInvocationIndex, Type::I32), self.i32(0));
        let is_first = self.op(Op::IcmpEq, &[own, zero]);
        let (first, done) = (self.b.func.add_block(), self.b.func.add_block());
        self.b.branch(is_first, (first, &[]), (done, &[]));
        self.b.switch_to(first);
        let made = f(self);
        self.b.jump(done, &[]);
        self.b.switch_to(done);
        made
    }

    fn group_barrier(&mut self, storage: bool) {
        let info = BarrierInfo { scope: Scope::Workgroup, shared: true, storage, image: false, exec: true };
        self.b.inst(Op::Barrier, Flags::NONE, Imm::Barrier(info), &[], &[]);
    }

    /// The type of the records of an output.
    pub fn output_type(&self, output: u32) -> Lift<RecordType> {
        let output = self.node().and_then(|node| node.outputs.get(output as usize));
        output.and_then(|output| output.record).ok_or(EMPTY)
    }

    /// The type of the records that the node takes.
    pub fn input_type(&self) -> Lift<RecordType> {
        let input = self.node().and_then(|node| node.input);
        input.and_then(|input| input.record).ok_or(EMPTY)
    }
}

/// Why there is no address of a record.
const EMPTY: Stop = Stop::Unsupported("records without contents");

/// The host's workgroup for a node.
pub(super) fn workgroup(node: &Node, threads: [u32; 3]) -> Result<[u32; 3], LiftError> {
    match node.launch {
        Launch::Thread if threads == [1; 3] => Ok([nodes::THREADS, 1, 1]),
        Launch::Thread => Err(LiftError::Workgroup(threads)),
        Launch::Broadcasting | Launch::Coalescing => Ok(threads),
    }
}
