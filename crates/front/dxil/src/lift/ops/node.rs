//! Nodes of work graphs: their records, and what they give to other nodes.
//!
//! Source: "D3D12 Work Graphs" of the DirectX specifications, "Lowering …".

use super::{Call, Made, NOT_LIFTED};
use crate::binding::nodes;
use crate::bitcode::ValueId;
use crate::lift::cx::Cx;
use crate::lift::memory::{Object, Pointer, Region};
use crate::lift::node::{Handle, Records};
use crate::lift::val::Val;
use crate::lift::{Lift, Stop};
use crate::ops::Op as Dx;
use crate::program::{Launch, NodeFlags, NodeOutput};
use xenoglot_ir::imm::{BarrierInfo, Scope};
use xenoglot_ir::module::Builtin;
use xenoglot_ir::{Flags, Imm, Op, Type, Value};

impl Cx<'_> {
    pub(super) fn nodes(&mut self, call: &Call<'_>) -> Lift<Made> {
        let given = self.given()?;
        Ok(match call.op {
            // The output's number.
            Dx::CreateNodeOutputHandle => {
                let number = self.integer(call.arg(0)?)?;
                let number = u32::try_from(number).map_err(|_| UNDECLARED)?;
                self.output(number)?;
                Made::Value(Val::Node(Handle::Output(number, None)))
            }
            // An output that is an array, which of its nodes.
            Dx::IndexNodeHandle => {
                let (number, before) = self.output_of(call.arg(0)?)?;
                if before.is_some() || !self.output(number)?.flags.contains(NodeFlags::ARRAY) {
                    return Err(Stop::Unsupported("an index into what is no array of nodes"));
                }
                let index = self.arg(call, 1)?;
                Made::Value(Val::Node(Handle::Output(number, Some(index))))
            }
            // The number of the input, of which there is one.
            Dx::CreateNodeInputRecordHandle => {
                let is_there = self.node().is_some_and(|node| node.input.is_some());
                if self.integer(call.arg(0)?)? != 0 || !is_there {
                    return Err(UNDECLARED);
                }
                Made::Value(Val::Node(Handle::Input))
            }
            // A handle, what it is of: flags and bytes of a record.
            Dx::AnnotateNodeHandle | Dx::AnnotateNodeRecordHandle => {
                let handle = self.node_handle(call.arg(0)?)?;
                self.check_annotation(handle, call.arg(1)?)?;
                Made::Value(Val::Node(handle))
            }
            // An output, how many records, whether for each invocation.
            Dx::AllocateNodeOutputRecords => {
                let (output, index) = self.output_of(call.arg(0)?)?;
                self.output_type(output)?;
                let queue = self.queue_of(output, index)?;
                let at = self.further(queue, nodes::QUEUE_COUNT);
                let count = self.arg(call, 1)?;
                let first = match self.counts_alone(call)? {
                    true => self.add_at(at, count),
                    false => self.once_for_group(false, |cx| cx.add_at(at, count))?,
                };
                let capacity = self.load_at(queue, nodes::QUEUE_CAPACITY, Type::I32);
                let start = self.load_at(queue, nodes::QUEUE_RECORDS, Type::I64);
                Made::Value(Val::Node(Handle::Records(Records { output, first, capacity, start })))
            }
            // An output, how much is added to its count, whether for each invocation.
            Dx::IncrementOutputCount => {
                let (output, index) = self.output_of(call.arg(0)?)?;
                let queue = self.queue_of(output, index)?;
                let at = self.further(queue, nodes::QUEUE_COUNT);
                let count = self.arg(call, 1)?;
                match self.counts_alone(call)? {
                    true => self.add_at(at, count),
                    false => self.once(|cx| cx.add_at(at, count)),
                };
                Made::Nothing
            }
            // Records, which of them.
            Dx::GetNodeRecordPtr => {
                let handle = self.node_handle(call.arg(0)?)?;
                let index = self.arg(call, 1)?;
                Made::Value(Val::Pointer(self.record(handle, index)?))
            }
            // Records are handed on when the dispatch is done.
            Dx::OutputComplete => Made::Nothing,
            Dx::GetInputRecordCount => {
                self.input_of(call.arg(0)?)?;
                given.count.into()
            }
            Dx::FinishedCrossGroupSharing => {
                self.input_of(call.arg(0)?)?;
                self.finished()?.into()
            }
            // Records, what is waited for.
            Dx::BarrierByNodeRecordHandle => {
                self.node_handle(call.arg(0)?)?;
                let semantics = self.integer(call.arg(1)?)?;
                self.barrier_of((true, false), false, semantics)
            }
            Dx::NodeOutputIsValid => {
                let (output, index) = self.output_of(call.arg(0)?)?;
                let queue = self.queue_of(output, index)?;
                let capacity = self.load_at(queue, nodes::QUEUE_CAPACITY, Type::I32);
                let zero = self.i32(0);
                self.op(Op::IcmpNe, &[capacity, zero]).into()
            }
            Dx::GetRemainingRecursionLevels => self.load_at(given.arguments, nodes::LEVELS, Type::I32).into(),
            _ => return Err(NOT_LIFTED),
        })
    }

    fn node_handle(&mut self, id: ValueId) -> Lift<Handle> {
        match self.value(id)? {
            Val::Node(handle) => Ok(handle),
            _ => Err(Stop::Unsupported("a handle of unknown origin")),
        }
    }

    fn output_of(&mut self, id: ValueId) -> Lift<(u32, Option<Value>)> {
        match self.node_handle(id)? {
            Handle::Output(number, index) => Ok((number, index)),
            Handle::Input | Handle::Records(_) => Err(Stop::Unsupported("records in place of an output")),
        }
    }

    fn input_of(&mut self, id: ValueId) -> Lift<()> {
        match self.node_handle(id)? {
            Handle::Input => Ok(()),
            Handle::Output(..) | Handle::Records(_) => Err(Stop::Unsupported("records that are no input")),
        }
    }

    fn output(&self, number: u32) -> Lift<&NodeOutput> {
        let outputs = self.node().map_or(&[][..], |node| &node.outputs);
        outputs.get(number as usize).ok_or(UNDECLARED)
    }

    /// The address of an output's queue; of an array, that of a node of it.
    fn queue_of(&mut self, output: u32, index: Option<Value>) -> Lift<Value> {
        if index.is_none() && self.output(output)?.flags.contains(NodeFlags::ARRAY) {
            return Err(Stop::Unsupported("an array of nodes in place of one"));
        }
        self.queue(output, index)
    }

    /// What an annotation says of records has to be what is declared: their places follow from it.
    fn check_annotation(&mut self, handle: Handle, properties: ValueId) -> Lift<()> {
        let [_, size] = self.fields(properties, [0, 1])?;
        let declared = match handle {
            Handle::Input => self.input_type(),
            Handle::Output(number, _) => self.output_type(number),
            Handle::Records(records) => self.output_type(records.output),
        };
        match declared.map_or(0, |ty| ty.size) == size {
            true => Ok(()),
            false => Err(Stop::Unsupported("records of another size than is declared")),
        }
    }

    /// Whether an invocation adds to a count for itself, and not once for its group.
    fn counts_alone(&self, call: &Call<'_>) -> Lift<bool> {
        Ok(self.integer(call.arg(2)?)? != 0 || self.is_thread_node())
    }

    /// The address of a record. Those that a queue has no room for are all the one behind its last.
    fn record(&mut self, handle: Handle, index: Value) -> Lift<Pointer> {
        let given = self.given()?;
        let (address, size) = match handle {
            Handle::Output(..) => return Err(Stop::Unsupported("an output in place of records")),
            Handle::Input => {
                let ty = self.input_type()?;
                let address = match self.node().map(|node| node.launch) {
                    Some(Launch::Coalescing) => {
                        // A group without records does not get here.
                        let one = self.i32(1);
                        let last = self.op(Op::Isub, &[given.count, one]);
                        let index = self.op(Op::Umin, &[index, last]);
                        self.record_at(given.records, index, given.stride)
                    }
                    _ => given.records,
                };
                (address, ty.size)
            }
            Handle::Records(Records { output, first, capacity, start }) => {
                let ty = self.output_type(output)?;
                let number = self.op(Op::Iadd, &[first, index]);
                let number = self.op(Op::Umin, &[number, capacity]);
                let stride = self.constant(Type::I64, ty.stride().into());
                (self.record_at(start, number, stride), ty.size)
            }
        };
        let object = Object::Place { start: 0, size };
        Ok(Pointer { region: Region::Record(address), object, offset: 0, dynamic: None })
    }

    /// Whether the group is the last of the dispatch that gets here: what the others wrote before is there for it.
    fn finished(&mut self) -> Lift<Value> {
        if self.node().is_none_or(|node| node.launch != Launch::Broadcasting) {
            return Err(Stop::Unsupported("groups that share no record"));
        }
        let arguments = self.given()?.arguments;
        let at = self.further(arguments, nodes::FINISHED);
        let one = self.i32(1);
        // What the group has written is there before it is counted, and what other groups have written after that.
        let before = self.once_for_group(true, |cx| {
            cx.device_barrier();
            let before = cx.add_at(at, one);
            cx.device_barrier();
            before
        })?;
        let groups = self.builtin(Builtin::NumWorkgroups, Type::I32X3);
        let [x, y, z] = [0, 1, 2].map(|lane| self.b.extract(groups, lane));
        let row = self.op(Op::Imul, &[x, y]);
        let all = self.op(Op::Imul, &[row, z]);
        let own = self.op(Op::Iadd, &[before, one]);
        Ok(self.op(Op::IcmpEq, &[own, all]))
    }

    fn device_barrier(&mut self) {
        let info =
            BarrierInfo { scope: Scope::Device, shared: false, storage: true, image: false, exec: false };
        self.b.inst(Op::Barrier, Flags::NONE, Imm::Barrier(info), &[], &[]);
    }
}

const UNDECLARED: Stop = Stop::Unsupported("an input or output that is not declared");
