//! Places of invocations, barriers and the clock.

use super::{Call, Made};
use crate::lift::cx::Cx;
use crate::lift::val::Val;
use crate::lift::{Lift, Stop};
use crate::ops::Op as Dx;
use xenoglot_ir::imm::{BarrierInfo, Scope};
use xenoglot_ir::module::Builtin;
use xenoglot_ir::{Flags, Imm, Op, Type, Value};

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

impl Cx<'_> {
    pub(super) fn compute(&mut self, call: &Call<'_>) -> Lift<Made> {
        Ok(match call.op {
            Dx::ThreadId => self.component(call, Builtin::GlobalInvocationId)?.into(),
            Dx::GroupId => self.component(call, Builtin::WorkgroupId)?.into(),
            Dx::ThreadIdInGroup => self.component(call, Builtin::LocalInvocationId)?.into(),
            Dx::FlattenedThreadIdInGroup => self.builtin(Builtin::LocalInvocationIndex, Type::I32).into(),
            Dx::Barrier => {
                let bits = self.integer(call.arg(0)?)?;
                let uav = bits & (mode::UAV_GLOBAL | mode::UAV_GROUP) != 0;
                let info = |scope, exec| {
                    let shared = bits & mode::GROUPSHARED != 0;
                    Imm::Barrier(BarrierInfo { scope, shared, storage: uav, image: uav, exec })
                };
                // What orders memory for the device comes before what waits for the workgroup.
                let (global, waits) = (bits & mode::UAV_GLOBAL != 0, bits & mode::SYNC != 0);
                if global {
                    self.b.inst(Op::Barrier, Flags::NONE, info(Scope::Device, false), &[], &[]);
                }
                if waits || !global {
                    self.b.inst(Op::Barrier, Flags::NONE, info(Scope::Workgroup, waits), &[], &[]);
                }
                Made::Nothing
            }
            Dx::CycleCounterLegacy => {
                let clock = self.inst(Op::Clock, Imm::None, &[], Type::I32X2);
                Made::Value(Val::scalars([self.b.extract(clock, 0), self.b.extract(clock, 1)]))
            }
            _ => return Ok(Made::Not),
        })
    }

    fn component(&mut self, call: &Call<'_>, builtin: Builtin) -> Lift<Value> {
        let lane = self.integer(call.arg(0)?)?;
        let lane = u8::try_from(lane).ok().filter(|&l| l < 3).ok_or(Stop::Unsupported("its component"))?;
        let v = self.builtin(builtin, Type::I32X3);
        Ok(self.b.extract(v, lane))
    }
}
