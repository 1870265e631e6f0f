//! Immediates of instructions.

use super::types::Site;
use super::{Sink, fail};
use crate::entities::Resource;
use crate::func::Function;
use crate::imm::{BarrierInfo, HitInfo, Imm, MemInfo, Order, QueryInfo, Reduce, Scope, Space, SubgroupInfo};
use crate::module::{Access, Direction, PayloadKind, ResourceKind, Stage};
use crate::op::{Class, Op, Sig};

/// Whether invocations of the stage run in workgroups with shared memory.
fn has_workgroups(stage: Stage) -> bool {
    matches!(stage, Stage::Compute | Stage::Mesh | Stage::Task)
}

/// Whether a space's resources are of this kind.
fn holds(space: Space, kind: ResourceKind) -> bool {
    match space {
        Space::ConstBank | Space::Uniform => matches!(kind, ResourceKind::UniformBuffer { .. }),
        Space::Storage => matches!(kind, ResourceKind::StorageBuffer { .. }),
        Space::Push => matches!(kind, ResourceKind::PushConstants { .. }),
        Space::Record => matches!(kind, ResourceKind::ShaderRecord { .. }),
        Space::Payload => matches!(kind, ResourceKind::Payload { .. }),
        _ => false,
    }
}

/// Values a reduction combines.
fn reduce_class(reduce: Reduce) -> Class {
    match reduce {
        Reduce::Iadd | Reduce::Imul | Reduce::Imin | Reduce::Imax | Reduce::Umin | Reduce::Umax => Class::Int,
        Reduce::Fadd | Reduce::Fmul | Reduce::Fmin | Reduce::Fmax => Class::Float,
        Reduce::And | Reduce::Or | Reduce::Xor => Class::Bits,
    }
}

/// Reports an immediate that names what does not exist.
pub(super) fn ids(sink: &mut Sink, f: &Function, imm: &Imm) {
    let m = sink.module;
    let (ok, what) = match *imm {
        Imm::Const(c) => (f.consts.is_valid(c), "constant"),
        Imm::Slot(s) => (f.slots.is_valid(s), "slot"),
        Imm::Var(v) => (m.vars.is_valid(v), "variable"),
        Imm::Func(f) => (m.funcs.is_valid(f), "function"),
        Imm::Resource(r) | Imm::Query(QueryInfo { query: r, .. }) => (m.resources.is_valid(r), "resource"),
        Imm::Mem(mem) => (mem.resource.expand().is_none_or(|r| m.resources.is_valid(r)), "resource"),
        Imm::Hit(HitInfo { object, payload, query }) => {
            let all = [Some(object), Some(payload), query.expand()];
            (all.into_iter().flatten().all(|r| m.resources.is_valid(r)), "resource")
        }
        _ => (true, ""),
    };
    if !ok {
        sink.report(format_args!("the {what} does not exist"));
    }
}

impl<'m> Site<'m> {
    /// Whether the immediate suits the operands, whose shape is right.
    pub(super) fn imm(&self, sink: &mut Sink<'m>) -> Option<()> {
        match self.data.imm {
            Imm::Const(c) => {
                let (bits, ty) = (self.f.consts.get(c)?, *self.results.first()?);
                let lanes = usize::from(ty.lanes());
                let masks = (0..4).map(|i| if i < lanes { ty.kind().mask() } else { 0 });
                let ok = bits.0.iter().zip(masks).all(|(b, mask)| b & !mask == 0);
                if ok { Some(()) } else { fail!(sink, "the constant has bits outside of {ty}") }
            }
            Imm::Var(v) => {
                let direction = sink.module.vars.get(v)?.direction;
                let reads = self.data.op == Op::Input || matches!(self.info.sig, Sig::Interpolate(_));
                let expected = if reads { Direction::Input } else { Direction::Output };
                if direction == expected {
                    Some(())
                } else {
                    fail!(sink, "the variable is an {}, not an {}", direction.name(), expected.name())
                }
            }
            Imm::Mem(mem) => self.mem(sink, &mem),
            Imm::Lane(lane) => self.lane(sink, lane),
            Imm::Lanes(lanes) => {
                // Numbers from 4 on are of the second operand, which has the first one's type.
                lanes.as_slice().iter().try_for_each(|lane| self.lane(sink, lane % 4))
            }
            Imm::Format(format) if !format.is_valid() => {
                fail!(sink, "the format has no 2 to 8 exponent and 1 to 22 mantissa bits")
            }
            Imm::Subgroup(info) => self.subgroup(sink, &info),
            Imm::Barrier(info) => barrier(sink, &info),
            Imm::Stream(stream) if stream > 3 => fail!(sink, "stream {stream} of four"),
            Imm::Resource(r) => self.object(sink, r),
            Imm::Query(info) if info.column > 3 || (info.column > 0 && !info.value.is_matrix()) => {
                fail!(sink, "{} has no column {}", info.value.name(), info.column)
            }
            Imm::Query(info) => self.query(sink, &info),
            Imm::Hit(info) => self.hit(sink, &info),
            _ => Some(()),
        }
    }

    /// What an op on rays or meshes works on.
    fn object(&self, sink: &mut Sink<'m>, r: Resource) -> Option<()> {
        let data = sink.module.resources.get(r)?;
        let is = |expected| matches!(data.kind, ResourceKind::Payload { kind, .. } if kind == expected);
        let ok = match self.data.op {
            Op::RayTrace => is(PayloadKind::Ray),
            Op::RayCall => is(PayloadKind::Callable),
            Op::MeshDispatch => is(PayloadKind::Task),
            Op::QueryStart
            | Op::QueryProceed
            | Op::QueryTerminate
            | Op::QueryConfirm
            | Op::QueryGenerate
            | Op::QueryGet => data.kind == ResourceKind::RayQuery,
            Op::HitMiss | Op::HitNop | Op::HitSetRecord | Op::HitReorder | Op::HitGet => {
                data.kind == ResourceKind::HitObject
            }
            _ => true,
        };
        if ok { Some(()) } else { fail!(sink, "`@{}` is not what the op works on", data.name) }
    }

    /// A question to a ray query or a hit object.
    fn query(&self, sink: &mut Sink<'m>, info: &QueryInfo) -> Option<()> {
        let told = match self.data.op {
            Op::HitGet => info.value.is_of_hits() && !info.committed,
            _ => info.value.is_of_queries(),
        };
        match told {
            true => self.object(sink, info.query),
            false => fail!(sink, "the op does not tell {}", info.value.name()),
        }
    }

    /// An op on a hit object and what belongs to it.
    fn hit(&self, sink: &mut Sink<'m>, info: &HitInfo) -> Option<()> {
        let resources = &sink.module.resources;
        let payload = match self.data.op {
            Op::HitTrace | Op::HitInvoke => PayloadKind::Ray,
            _ => PayloadKind::HitObjectAttribute,
        };
        let is_query = |r: Resource| resources.get(r).is_some_and(|data| data.kind == ResourceKind::RayQuery);
        let queries = match self.data.op {
            Op::HitFromQuery => info.query.expand().is_some_and(is_query),
            _ => info.query.is_none(),
        };
        let is_payload = matches!(resources.get(info.payload)?.kind, ResourceKind::Payload { kind, .. } if kind == payload);
        match resources.get(info.object)?.kind == ResourceKind::HitObject && is_payload && queries {
            true => Some(()),
            false => fail!(sink, "the resources are not what the op works on"),
        }
    }

    fn lane(&self, sink: &mut Sink<'m>, lane: u8) -> Option<()> {
        let t = *self.args.first()?;
        if lane < t.lanes() { Some(()) } else { fail!(sink, "{t} has no lane {lane}") }
    }

    fn mem(&self, sink: &mut Sink<'m>, mem: &MemInfo) -> Option<()> {
        let m = sink.module;
        let space = mem.space.name();
        let (reads, writes) = (self.info.traits.reads, self.info.traits.writes);
        if writes && !mem.space.is_writable() {
            return fail!(sink, "{space} memory cannot be written");
        }
        match mem.resource.expand().map(|r| &m.resources[r]) {
            None if mem.space.has_resource() => return fail!(sink, "the access names no resource"),
            Some(r) if !holds(mem.space, r.kind) => {
                return fail!(sink, "`@{}` is no resource of {space} memory", r.name);
            }
            Some(r) => {
                if let ResourceKind::StorageBuffer { access } = r.kind
                    && ((reads && access == Access::Write) || (writes && access == Access::Read))
                {
                    return fail!(sink, "`@{}` may only be accessed for {}", r.name, access.name());
                }
            }
            None => {}
        }
        match mem.space {
            Space::Shared if !has_workgroups(m.stage) => {
                return fail!(sink, "stage {} has no shared memory", m.stage.name());
            }
            Space::Guest | Space::GuestRegs if m.stage != Stage::Cpu => {
                return fail!(sink, "{space} memory is of CPU guests");
            }
            Space::Shared if m.shared_size == 0 => return fail!(sink, "shared memory has no size"),
            Space::Private if self.f.private_size == 0 => return fail!(sink, "private memory has no size"),
            _ => {}
        }
        if mem.big && mem.space != Space::Guest {
            return fail!(sink, "{space} memory is little-endian");
        }
        if mem.align_log2 > 4 {
            return fail!(sink, "the alignment is larger than 16");
        }
        self.order(sink, mem)
    }

    /// Memory order and what atomic accesses need.
    fn order(&self, sink: &mut Sink<'m>, mem: &MemInfo) -> Option<()> {
        let order = mem.order.name();
        match (self.info.sig, mem.order) {
            (Sig::Load, Order::Release | Order::AcqRel) => return fail!(sink, "a load does not {order}"),
            (Sig::Store, Order::Acquire | Order::AcqRel) => return fail!(sink, "a store does not {order}"),
            (Sig::Load | Sig::Store, Order::None) => return Some(()),
            (_, Order::None) => return fail!(sink, "an atomic op has an order, `relaxed` at least"),
            _ => {}
        }
        let t = self.accessed()?;
        if !(t.is_scalar() && matches!(t.bytes(), Some(4 | 8))) {
            return fail!(sink, "an atomic access is of 32 or 64 bits in one lane, not {t}");
        }
        if t.bytes().is_some_and(|b| 1 << mem.align_log2 < b) {
            return fail!(sink, "an atomic access of {t} is aligned to its size");
        }
        Some(())
    }

    fn subgroup(&self, sink: &mut Sink<'m>, info: &SubgroupInfo) -> Option<()> {
        if info.width != 0 && !info.width.is_power_of_two() {
            return fail!(sink, "width {} is no power of two", info.width);
        }
        let combines = matches!(self.data.op, Op::SgReduce | Op::SgScan);
        match self.args.first() {
            Some(t) if combines && !reduce_class(info.reduce).has(t.kind()) => {
                fail!(sink, "`{}` does not combine {t}", info.reduce.name())
            }
            _ => Some(()),
        }
    }
}

fn barrier(sink: &mut Sink, info: &BarrierInfo) -> Option<()> {
    let stage = sink.module.stage;
    let scope = info.scope.name();
    match info.scope {
        Scope::Device | Scope::System if info.exec => {
            fail!(sink, "invocations cannot wait for the whole {scope}")
        }
        Scope::Workgroup if info.exec && !has_workgroups(stage) && stage != Stage::TessControl => {
            fail!(sink, "stage {} has no workgroup to wait for", stage.name())
        }
        _ if info.shared && !has_workgroups(stage) => {
            fail!(sink, "stage {} has no shared memory", stage.name())
        }
        _ => Some(()),
    }
}
