//! Places of invocations, barriers and the clock.

use super::{Call, Made, NOT_LIFTED};
use crate::lift::cx::Cx;
use crate::lift::val::Val;
use crate::lift::{Lift, Stop};
use crate::ops::Op as Dx;
use crate::program::Launch;
use xenoglot_ir::imm::{BarrierInfo, Scope};
use xenoglot_ir::module::Builtin;
use xenoglot_ir::{Flags, Imm, Op, Type};

/// Bits of a barrier's mode.
mod mode {
    /// Waits for the workgroup.
    pub const SYNC: u64 = 1;
    /// Buffers and images, for the device.
    pub const UAV_GLOBAL: u64 = 2;
    /// Buffers and images, for the workgroup.
    pub const UAV_GROUP: u64 = 4;
    /// Memory of the workgroup.
    pub const GROUPSHARED: u64 = 8;
}

/// Bits of a barrier's kinds of memory, from SM 6.8 on.
mod memory_type {
    /// Buffers and images.
    pub const UAV: u64 = 1;
    /// Memory of the workgroup.
    pub const GROUPSHARED: u64 = 2;
    /// Records that a node takes, and those that it gives.
    pub const RECORDS: u64 = 4 | 8;
}

/// Bits of what a barrier of SM 6.8 waits for.
mod semantic {
    /// Waits for the workgroup.
    pub const GROUP_SYNC: u64 = 1;
    /// Orders memory for the device, and not for the workgroup alone.
    pub const DEVICE_SCOPE: u64 = 4;
}

impl Cx<'_> {
    pub(super) fn compute(&mut self, call: &Call<'_>) -> Lift<Made> {
        self.check_place(call.op)?;
        Ok(match call.op {
            Dx::ThreadId => {
                let lane = self.component(call)?;
                self.place_in_dispatch(lane)?.into()
            }
            Dx::GroupId => {
                let lane = self.component(call)?;
                let group = self.builtin(Builtin::WorkgroupId, Type::I32X3);
                self.component_of(group, lane)?.into()
            }
            Dx::ThreadIdInGroup => {
                let lane = self.component(call)?;
                self.place_in_group(lane)?.into()
            }
            Dx::FlattenedThreadIdInGroup => self.index_in_group()?.into(),
            Dx::Barrier => {
                let bits = self.integer(call.arg(0)?)?;
                let uav = bits & (mode::UAV_GLOBAL | mode::UAV_GROUP) != 0;
                let info = |scope, exec| {
                    let shared = bits & mode::GROUPSHARED != 0;
                    Imm::Barrier(BarrierInfo { scope, shared, storage: uav, image: uav, exec })
                };
                // What orders memory for the device comes before what waits for the workgroup.
                let global = bits & mode::UAV_GLOBAL != 0;
                let waits = bits & mode::SYNC != 0 && !self.is_thread_node();
                if global {
                    self.b.inst(Op::Barrier, Flags::NONE, info(Scope::Device, false), &[], &[]);
                }
                if waits || !global {
                    self.b.inst(Op::Barrier, Flags::NONE, info(Scope::Workgroup, waits), &[], &[]);
                }
                Made::Nothing
            }
            // Kinds of memory, then what is waited for.
            Dx::BarrierByMemoryType => {
                let memory = self.integer(call.arg(0)?)?;
                let uav = memory & memory_type::UAV != 0;
                let records = memory & memory_type::RECORDS != 0 && self.given.is_some();
                let shared = memory & memory_type::GROUPSHARED != 0;
                let semantics = self.integer(call.arg(1)?)?;
                self.barrier_of((uav || records, uav), shared, semantics)
            }
            // A resource, then what is waited for.
            Dx::BarrierByMemoryHandle => {
                let semantics = self.integer(call.arg(1)?)?;
                self.barrier_of((true, true), false, semantics)
            }
            Dx::CycleCounterLegacy => {
                let clock = self.inst(Op::Clock, Imm::None, &[], Type::I32X2);
                Made::Value(Val::scalars([self.b.extract(clock, 0), self.b.extract(clock, 1)]))
            }
            _ => return Err(NOT_LIFTED),
        })
    }

    /// A barrier of SM 6.8: for memory and images, for memory of the workgroup. An invocation that is launched by itself has
    /// nothing to wait for: it is alone in its group.
    pub(super) fn barrier_of(
        &mut self,
        (storage, image): (bool, bool),
        shared: bool,
        semantics: u64,
    ) -> Made {
        let info = |scope, exec| Imm::Barrier(BarrierInfo { scope, shared, storage, image, exec });
        let waits = semantics & semantic::GROUP_SYNC != 0 && !self.is_thread_node();
        let device = semantics & semantic::DEVICE_SCOPE != 0;
        if device {
            self.b.inst(Op::Barrier, Flags::NONE, info(Scope::Device, false), &[], &[]);
        }
        if waits || !device {
            self.b.inst(Op::Barrier, Flags::NONE, info(Scope::Workgroup, waits), &[], &[]);
        }
        Made::Nothing
    }

    /// Nodes have the places that their launch has: those in a group if there are groups, those in a grid if there is one.
    fn check_place(&self, op: Dx) -> Lift<()> {
        let Some(node) = self.node() else { return Ok(()) };
        let is_there = match op {
            Dx::ThreadId | Dx::GroupId => node.launch == Launch::Broadcasting,
            Dx::ThreadIdInGroup | Dx::FlattenedThreadIdInGroup => node.launch != Launch::Thread,
            _ => true,
        };
        if is_there { Ok(()) } else { Err(Stop::Unsupported("a place that the node's launch has not")) }
    }

    /// Which of three components a call asks for.
    fn component(&self, call: &Call<'_>) -> Lift<u8> {
        let lane = self.integer(call.arg(0)?)?;
        u8::try_from(lane).map_err(|_| Stop::Unsupported("its component"))
    }
}
