//! Instructions that are more than a function of their operands, and the way to those that are not.

use crate::body::{Body, return_type};
use crate::error::Reason;
use crate::options::Version;
use crate::pure::int::{Plain, plain};
use crate::pure::{Arg, Shape, const_bits};
use crate::unit::Id;
use smallvec::SmallVec;
use spirv::{BuiltIn, Capability, GroupOperation, MemorySemantics, Op as S, Scope as HostScope};
use xenoglot_ir::func::InstData;
use xenoglot_ir::imm::{BarrierInfo, Order, Reduce, Scope, SubgroupInfo};
use xenoglot_ir::module::Stage;
use xenoglot_ir::op::Sig;
use xenoglot_ir::{Flags, Function, Imm, Inst, Kind, Op, Type, Value};

/// Whether a value is an amount to shift by, masked to be below its width.
fn is_below_width(function: &Function, v: Value) -> bool {
    let Some(inst) = function.def_inst(v) else { return false };
    let (Op::And, &[a, b]) = (function.insts[inst].op, function.args(inst)) else { return false };
    let ty = function.ty(v);
    [b, a]
        .into_iter()
        .filter_map(|mask| const_bits(function, mask))
        .any(|bits| (0..usize::from(ty.lanes())).all(|i| bits.lane(i) < u64::from(ty.kind().bits())))
}

const OPERANDS: Reason = Reason::Invalid("the number of operands");
const STAGE: Reason = Reason::Unsupported("not in this stage");

impl Body<'_, '_> {
    /// Emits an instruction that is one or two of the host's whatever the options are, as most are; whether it is one.
    #[inline]
    pub(crate) fn plain(&mut self, data: &InstData) -> bool {
        let pool = &self.function.pool;
        let (args, &[v]) = (data.args.as_slice(pool), data.results.as_slice(pool)) else { return false };
        if data.flags != Flags::NONE {
            return false;
        }
        match *args {
            [a, b] => self.plain_pair(data.op, v, [a, b]),
            [a] => self.plain_single(data.op, v, a),
            [cond, a, b] if data.op == Op::Select && self.function.ty(v).is_scalar() => {
                let ty = self.function.ty(v);
                let [cond, a, b] = [cond, a, b].map(|v| self.value(v));
                let id = self.unit().choose(ty, cond, a, b);
                self.define(v, id);
                true
            }
            _ => false,
        }
    }

    /// [`Body::plain`] on two integers.
    #[inline]
    fn plain_pair(&mut self, op: Op, v: Value, [a, b]: [Value; 2]) -> bool {
        let function = self.function;
        let (from, ty) = (function.ty(a), function.ty(v));
        let Some(plain) = plain(op).filter(|_| from.kind().is_int()) else { return false };
        let (first, second) = (self.value(a), self.value(b));
        let unit = &mut *self.shared.unit;
        let id = match plain {
            Plain::Op(host) => unit.op(host, ty, &[first, second]),
            Plain::Shift(host) => {
                let amount = Arg { id: second, bits: const_bits(function, b) };
                match is_below_width(function, b) {
                    true => unit.shift_by(host, ty, first, amount),
                    false => unit.shift(host, ty, first, amount),
                }
            }
            Plain::Pick(test) => unit.first_if(test, ty, first, second),
        };
        self.define(v, id);
        true
    }

    /// [`Body::plain`] on a truth value or an integer.
    fn plain_single(&mut self, op: Op, v: Value, a: Value) -> bool {
        let (from, ty) = (self.function.ty(a), self.function.ty(v));
        let host = match op {
            Op::Not if ty.kind() == Kind::Bool => S::LogicalNot,
            Op::Not if ty.kind().is_int() => S::Not,
            Op::Zext | Op::TruncInt if from.kind().is_int() && from != ty => S::UConvert,
            _ => return false,
        };
        let a = self.value(a);
        let id = self.unit().op(host, ty, &[a]);
        self.define(v, id);
        true
    }

    /// Emits an instruction and defines its results.
    pub(crate) fn emit_inst(&mut self, inst: Inst) -> Result<(), Reason> {
        let function = self.function;
        let data = &function.insts[inst];
        let (args, result) = (function.args(inst), function.result(inst));
        if data.op.is_open() {
            return Err(Reason::Unsupported("no back end takes this op yet"));
        }
        let id = match (data.op, data.imm) {
            (Op::SlotGet, Imm::Slot(slot)) => {
                let (var, ty) = (self.slot(slot)?, function.slots[slot].ty);
                Some(self.unit().op(S::Load, ty, &[var]))
            }
            (Op::SlotSet, Imm::Slot(slot)) => {
                let (var, value) = (self.slot(slot)?, self.arg(args, 0)?);
                self.unit().effect(S::Store, &[var, value]);
                None
            }
            (Op::Input | Op::OutputGet, Imm::Var(var)) => {
                let index: SmallVec<[Id; 2]> = args.iter().map(|&v| self.value(v)).collect();
                let ty = result.map_or(Type::I32, |v| function.ty(v));
                Some(self.shared.interface.load(self.shared.unit, var, ty, &index)?)
            }
            (Op::Output, Imm::Var(var)) => {
                let value = self.arg(args, 0)?;
                let index: SmallVec<[Id; 2]> = args[1..].iter().map(|&v| self.value(v)).collect();
                let ty = function.ty(args[0]);
                self.shared.interface.store(self.shared.unit, var, ty, value, &index)?;
                None
            }
            (Op::ResourceHandle, Imm::Resource(resource)) => return self.resource_handle(inst, resource),
            (Op::AccelAt, _) => return self.structure_at(inst),
            (_, Imm::Tex(info)) => return self.texture(inst, info),
            (Op::SpecConst, Imm::Spec(spec)) => {
                let id = self.unit().specialized(spec);
                if let Some(v) = result {
                    self.define(v, id);
                }
                return Ok(());
            }
            (Op::Clock | Op::DeviceClock, _) => {
                let of = if data.op == Op::Clock { HostScope::Subgroup } else { HostScope::Device };
                let unit = self.unit();
                unit.capability(Capability::ShaderClockKHR);
                unit.extension("SPV_KHR_shader_clock");
                let scope = unit.u32(of as u32);
                Some(unit.op(S::ReadClockKHR, Type::I32X2, &[scope]))
            }
            (Op::InterpolateCentroid | Op::InterpolateSample | Op::InterpolateOffset, Imm::Var(var)) => {
                Some(self.interpolate(inst, var)?)
            }
            (_, Imm::Mem(mem)) => self.access(data.op, mem, data.flags.nonuniform(), args, result)?,
            (Op::BufferSize, Imm::Resource(resource)) => {
                let ty = result.map_or(Type::I32, |v| function.ty(v));
                Some(self.buffer_size(resource, data.flags.nonuniform(), args, ty)?)
            }
            (Op::InterlockBegin | Op::InterlockEnd, _) => {
                self.interlock(data.op)?;
                None
            }
            (_, Imm::Subgroup(info)) => {
                let ty = result.map_or(Type::I32, |v| function.ty(v));
                Some(self.subgroup(data.op, info, args, ty)?)
            }
            (Op::Barrier, Imm::Barrier(info)) => {
                self.barrier(info)?;
                None
            }
            (Op::Call | Op::CallPure, Imm::Func(callee)) => {
                return self.call(callee, args, function.results(inst));
            }
            (Op::EmitVertex | Op::EndPrimitive, Imm::Stream(stream)) => {
                if self.shared.module.stage != Stage::Geometry {
                    return Err(STAGE);
                }
                self.vertex(data.op, stream);
                None
            }
            (
                Op::RayTrace
                | Op::RayReport
                | Op::RayIgnore
                | Op::RayAccept
                | Op::RayT
                | Op::RayCall
                | Op::QueryStart
                | Op::QueryProceed
                | Op::QueryTerminate
                | Op::QueryConfirm
                | Op::QueryGenerate
                | Op::QueryGet
                | Op::HitTrace
                | Op::HitMiss
                | Op::HitNop
                | Op::HitFromQuery
                | Op::HitSetRecord
                | Op::HitInvoke
                | Op::HitAttributes
                | Op::HitReorder
                | Op::HitGet
                | Op::MeshSetCounts
                | Op::MeshDispatch,
                _,
            ) => self.rays(inst)?,
            (Op::Demote, _) => {
                let always = self.unit().splat(Type::BOOL, 1);
                self.demote(always, true)?;
                None
            }
            (Op::DiscardIf, _) => {
                let cond = self.arg(args, 0)?;
                self.demote(cond, false)?;
                None
            }
            (Op::Helper, _) => {
                self.demotes()?;
                Some(self.unit().op(S::IsHelperInvocationEXT, Type::BOOL, &[]))
            }
            (Op::DdxCoarse | Op::DdxFine | Op::DdyCoarse | Op::DdyFine, _) => {
                Some(self.derivative(data.op, args)?)
            }
            _ => Some(self.pure(inst, result.ok_or(OPERANDS)?)?),
        };
        if let (Some(v), Some(id)) = (result, id) {
            self.define(v, id);
        }
        Ok(())
    }

    fn arg(&mut self, args: &[Value], i: usize) -> Result<Id, Reason> {
        let v = *args.get(i).ok_or(OPERANDS)?;
        Ok(self.value(v))
    }

    fn pure(&mut self, inst: Inst, result: Value) -> Result<Id, Reason> {
        let function = self.function;
        let data = &function.insts[inst];
        let ty = function.ty(result);
        let mut shape = Shape { op: data.op, flags: data.flags, imm: data.imm, ty, types: SmallVec::new() };
        let mut args: SmallVec<[Arg; 4]> = SmallVec::new();
        for &v in function.args(inst) {
            args.push(Arg { id: self.value(v), bits: const_bits(function, v) });
            shape.types.push(function.ty(v));
        }
        let handles = shape.types.iter().chain([&shape.ty]).any(|t| t.kind().is_handle());
        if handles || matches!(data.op.info().sig, Sig::Leaf(_)) {
            return Err(Reason::Unsupported("no back end takes this op yet"));
        }
        self.shared.unit.pure(&shape, &args)
    }

    fn call(&mut self, callee: xenoglot_ir::Func, args: &[Value], results: &[Value]) -> Result<(), Reason> {
        if self.shared.module.entry.expand() == Some(callee) {
            return Err(Reason::Unsupported("a call of the entry function"));
        }
        let function = self.function;
        let target = *self.shared.functions.get(callee).ok_or(Reason::Invalid("an unknown function"))?;
        let mut words: SmallVec<[u32; 16]> = SmallVec::from_slice(&[target]);
        for &v in args {
            words.push(self.value(v));
        }
        let types: SmallVec<[Type; 8]> = results.iter().map(|&v| function.ty(v)).collect();
        let returned = return_type(self.unit(), &types);
        let id = self.unit().op_raw_of(S::FunctionCall, returned, &words);
        if let &[v] = results {
            self.define(v, id);
            return Ok(());
        }
        for (i, (&v, &ty)) in (0..).zip(results.iter().zip(&types)) {
            let part = self.unit().op(S::CompositeExtract, ty, &[id, i]);
            self.define(v, part);
        }
        Ok(())
    }

    /// Ends a vertex or a strip of a stream. With one stream it has no number.
    fn vertex(&mut self, op: Op, stream: u8) {
        let several = self.shared.module.vars.values().any(|v| v.stream != 0);
        let unit = self.unit();
        if !several && stream == 0 {
            return unit.effect(if op == Op::EmitVertex { S::EmitVertex } else { S::EndPrimitive }, &[]);
        }
        unit.capability(Capability::GeometryStreams);
        let stream = unit.u32(stream.into());
        let op = if op == Op::EmitVertex { S::EmitStreamVertex } else { S::EndStreamPrimitive };
        unit.effect(op, &[stream]);
    }

    fn demotes(&mut self) -> Result<(), Reason> {
        if self.shared.module.stage != Stage::Fragment {
            return Err(STAGE);
        }
        self.unit().capability(Capability::DemoteToHelperInvocation);
        self.unit().extension("SPV_EXT_demote_to_helper_invocation");
        Ok(())
    }

    /// Makes a helper of the invocation, if `cond` holds, which it may do always.
    fn demote(&mut self, cond: Id, always: bool) -> Result<(), Reason> {
        if self.unit().options.portable_ops {
            if self.shared.module.stage != Stage::Fragment {
                return Err(STAGE);
            }
            // What naga makes of it in its languages is a statement after which the invocation goes on as a helper.
            self.when(cond, |body| body.end_invocation(S::Kill, &[]));
            return Ok(());
        }
        self.demotes()?;
        if always {
            self.unit().effect(S::DemoteToHelperInvocation, &[]);
        } else {
            self.when(cond, |body| body.unit().effect(S::DemoteToHelperInvocation, &[]));
        }
        Ok(())
    }

    /// Begins or ends the critical section.
    fn interlock(&mut self, op: Op) -> Result<(), Reason> {
        if self.shared.module.stage != Stage::Fragment {
            return Err(STAGE);
        }
        let unit = self.unit();
        unit.capability(Capability::FragmentShaderPixelInterlockEXT);
        unit.extension("SPV_EXT_fragment_shader_interlock");
        unit.interlocked = true;
        unit.effect(
            match op {
                Op::InterlockBegin => S::BeginInvocationInterlockEXT,
                _ => S::EndInvocationInterlockEXT,
            },
            &[],
        );
        Ok(())
    }

    /// Declares that invocations have quads: fragments always, those of a workgroup, four after each other, if they are
    /// asked for.
    pub(crate) fn quads(&mut self) -> Result<(), Reason> {
        let [x, y, z] = self.shared.module.workgroup;
        let stage = self.shared.module.stage;
        match stage {
            Stage::Fragment => return Ok(()),
            Stage::Compute | Stage::Mesh | Stage::Task => {}
            _ => return Err(STAGE),
        }
        if [x, y, z].map(u64::from).iter().product::<u64>() % 4 != 0 {
            return Err(Reason::Unsupported("quads in a workgroup of this size"));
        }
        let unit = self.unit();
        unit.capability(Capability::ComputeDerivativeGroupLinearKHR);
        // Of compute shaders the older extension says the same, and more consumers know it.
        unit.extension(match stage {
            Stage::Compute => "SPV_NV_compute_shader_derivatives",
            _ => "SPV_KHR_compute_shader_derivatives",
        });
        unit.quads = true;
        Ok(())
    }

    fn derivative(&mut self, op: Op, args: &[Value]) -> Result<Id, Reason> {
        let value = *args.first().ok_or(OPERANDS)?;
        let (id, ty) = (self.value(value), self.function.ty(value));
        self.quads()?;
        if ty.kind() != Kind::F32 {
            return Err(Reason::Unsupported("derivatives of anything but 32-bit floats"));
        }
        self.unit().capability(Capability::DerivativeControl);
        let op = match op {
            Op::DdxCoarse => S::DPdxCoarse,
            Op::DdxFine => S::DPdxFine,
            Op::DdyCoarse => S::DPdyCoarse,
            _ => S::DPdyFine,
        };
        Ok(self.unit().op(op, ty, &[id]))
    }

    fn barrier(&mut self, info: BarrierInfo) -> Result<(), Reason> {
        let mut semantics = MemorySemantics::RELAXED;
        for (on, what) in [
            (info.shared, MemorySemantics::WORKGROUP_MEMORY),
            (info.storage, MemorySemantics::UNIFORM_MEMORY),
            (info.image, MemorySemantics::IMAGE_MEMORY),
        ] {
            if on {
                semantics |= what | MemorySemantics::ACQUIRE_RELEASE;
            }
        }
        let groups = matches!(self.shared.module.stage, Stage::Compute | Stage::Mesh | Stage::Task);
        if info.shared && !groups {
            return Err(STAGE);
        }
        // What invocations of a patch write for each other is ordered by waiting alone.
        let patch = info.exec && self.shared.module.stage == Stage::TessControl;
        let memory = if patch { HostScope::Invocation } else { scope(info.scope) };
        let semantics = if patch { MemorySemantics::RELAXED } else { semantics };
        let semantics = self.unit().u32(semantics.bits());
        if !info.exec {
            let memory = self.unit().u32(memory as u32);
            if info.shared || info.storage || info.image {
                self.unit().effect(S::MemoryBarrier, &[memory, semantics]);
            }
            return Ok(());
        }
        let execution = match info.scope {
            Scope::Invocation => return Ok(()),
            Scope::Subgroup => {
                self.subgroups(Capability::GroupNonUniform)?;
                HostScope::Subgroup
            }
            _ if groups || self.shared.module.stage == Stage::TessControl => HostScope::Workgroup,
            _ => return Err(STAGE),
        };
        let [execution, memory] = [execution, memory].map(|s| self.unit().u32(s as u32));
        self.unit().effect(S::ControlBarrier, &[execution, memory, semantics]);
        Ok(())
    }

    /// Declares the capability of a subgroup op.
    fn subgroups(&mut self, capability: Capability) -> Result<(), Reason> {
        self.unit().needs(Version::V1_3, "subgroup ops")?;
        self.unit().capability(Capability::GroupNonUniform);
        self.unit().capability(capability);
        Ok(())
    }

    /// An operand of an op on subgroups.
    fn lane_operand(&mut self, args: &[Value], n: usize) -> Result<Id, Reason> {
        let (id, v) = (self.arg(args, n)?, *args.get(n).ok_or(OPERANDS)?);
        let ty = self.function.ty(v);
        Ok(self.unit().here(ty, id))
    }

    fn subgroup(&mut self, op: Op, info: SubgroupInfo, args: &[Value], ty: Type) -> Result<Id, Reason> {
        if info.width != 0 && info.width != self.shared.unit.options.subgroup_width {
            return Err(Reason::Unsupported("the host's subgroups are not known to have the guest's width"));
        }
        let all = self.unit().u32(HostScope::Subgroup as u32);
        let stage = self.shared.module.stage;
        let unary = |op: S, capability| (op, capability);
        let (host, capability) = match op {
            Op::SgId | Op::SgSize => {
                self.subgroups(Capability::GroupNonUniform)?;
                let builtin =
                    if op == Op::SgId { BuiltIn::SubgroupLocalInvocationId } else { BuiltIn::SubgroupSize };
                return Ok(self.shared.interface.host_builtin(self.shared.unit, builtin, stage));
            }
            Op::SgElect if self.shared.unit.options.portable_ops => {
                // naga does not know who is elected, but what the first lane says.
                self.subgroups(Capability::GroupNonUniformBallot)?;
                let builtin = BuiltIn::SubgroupLocalInvocationId;
                let id = self.shared.interface.host_builtin(self.shared.unit, builtin, stage);
                let unit = self.unit();
                let first = unit.op(S::GroupNonUniformBroadcastFirst, Type::I32, &[all, id]);
                return Ok(unit.op(S::IEqual, ty, &[first, id]));
            }
            Op::SgElect => {
                self.subgroups(Capability::GroupNonUniform)?;
                return Ok(self.unit().op(S::GroupNonUniformElect, ty, &[all]));
            }
            Op::SgBallot => {
                self.subgroups(Capability::GroupNonUniformBallot)?;
                let value = self.lane_operand(args, 0)?;
                let unit = self.unit();
                let mask = unit.op(S::GroupNonUniformBallot, Type::I32X4, &[all, value]);
                if ty == Type::I32X4 {
                    return Ok(mask);
                }
                let low = unit.op(S::CompositeExtract, Type::I32, &[mask, 0]);
                return match ty.kind() {
                    Kind::I32 => Ok(low),
                    Kind::I64 => {
                        let high = unit.op(S::CompositeExtract, Type::I32, &[mask, 1]);
                        let pair = Type::I32.with_lanes(2).unwrap_or(Type::I32);
                        let both = unit.op(S::CompositeConstruct, pair, &[low, high]);
                        Ok(unit.op(S::Bitcast, ty, &[both]))
                    }
                    _ => Err(Reason::Unsupported("a ballot of less than 32 bits")),
                };
            }
            Op::SgAll => unary(S::GroupNonUniformAll, Capability::GroupNonUniformVote),
            Op::SgAny => unary(S::GroupNonUniformAny, Capability::GroupNonUniformVote),
            Op::SgReadFirst => unary(S::GroupNonUniformBroadcastFirst, Capability::GroupNonUniformBallot),
            Op::SgReduce | Op::SgScan => {
                let combine = combination(info.reduce, ty.kind())?;
                unary(combine, Capability::GroupNonUniformArithmetic)
            }
            Op::SgShuffle | Op::SgShuffleXor | Op::SgShuffleUp | Op::SgShuffleDown => {
                return self.shuffle_lanes(op, args, ty);
            }
            Op::SgQuadSwap | Op::SgQuadBroadcast => {
                self.subgroups(Capability::GroupNonUniformQuad)?;
                let (value, which) = (self.lane_operand(args, 0)?, self.lane_operand(args, 1)?);
                let host = if op == Op::SgQuadSwap {
                    S::GroupNonUniformQuadSwap
                } else {
                    S::GroupNonUniformQuadBroadcast
                };
                return Ok(self.unit().op(host, ty, &[all, value, which]));
            }
            _ => return Err(Reason::Unsupported("no back end takes this op yet")),
        };
        if matches!(op, Op::SgAll | Op::SgAny) && !ty.is_scalar() {
            return Err(Reason::Unsupported("votes on vectors"));
        }
        self.subgroups(capability)?;
        let value = self.lane_operand(args, 0)?;
        let mut words: SmallVec<[u32; 3]> = SmallVec::from_slice(&[all]);
        match op {
            Op::SgReduce => words.push(GroupOperation::Reduce as u32),
            Op::SgScan if info.exclusive => words.push(GroupOperation::ExclusiveScan as u32),
            Op::SgScan => words.push(GroupOperation::InclusiveScan as u32),
            _ => {}
        }
        let is_signed = matches!(host, S::GroupNonUniformSMin | S::GroupNonUniformSMax);
        let unit = self.unit();
        if is_signed && unit.options.portable_ops {
            // As in `Unit::signed_op`.
            let signed = unit.signed_type(ty);
            words.push(unit.op_raw(S::Bitcast, signed, &[value]));
            let made = unit.op_raw_of(host, signed, &words);
            return Ok(unit.op(S::Bitcast, ty, &[made]));
        }
        words.push(value);
        Ok(unit.op_of(host, ty, &words))
    }

    /// Another lane's value. The host's is undefined where that lane is not active or none: there the own one is taken.
    fn shuffle_lanes(&mut self, op: Op, args: &[Value], ty: Type) -> Result<Id, Reason> {
        let (value, second) = (self.lane_operand(args, 0)?, self.lane_operand(args, 1)?);
        let (host, capability, source) = match op {
            Op::SgShuffle => (S::GroupNonUniformShuffle, Capability::GroupNonUniformShuffle, None),
            Op::SgShuffleXor => {
                (S::GroupNonUniformShuffleXor, Capability::GroupNonUniformShuffle, Some(S::BitwiseXor))
            }
            Op::SgShuffleUp => {
                (S::GroupNonUniformShuffleUp, Capability::GroupNonUniformShuffleRelative, Some(S::ISub))
            }
            _ => (S::GroupNonUniformShuffleDown, Capability::GroupNonUniformShuffleRelative, Some(S::IAdd)),
        };
        self.subgroups(capability)?;
        self.subgroups(Capability::GroupNonUniformBallot)?;
        let stage = self.shared.module.stage;
        let [id, size] = [BuiltIn::SubgroupLocalInvocationId, BuiltIn::SubgroupSize]
            .map(|builtin| self.shared.interface.host_builtin(self.shared.unit, builtin, stage));
        let unit = self.unit();
        let source = source.map_or(second, |op| unit.op(op, Type::I32, &[id, second]));
        let inside = unit.op(S::ULessThan, Type::BOOL, &[source, size]);
        let source = unit.choose(Type::I32, inside, source, id);
        let all = unit.u32(HostScope::Subgroup as u32);
        let yes = unit.splat(Type::BOOL, 1);
        let active = unit.op(S::GroupNonUniformBallot, Type::I32X4, &[all, yes]);
        let active = if unit.options.portable_ops {
            let [word, low, one] = [5, 31, 1].map(|n| unit.u32(n));
            let word = unit.op(S::ShiftRightLogical, Type::I32, &[source, word]);
            let word = unit.op(S::VectorExtractDynamic, Type::I32, &[active, word]);
            let low = unit.op(S::BitwiseAnd, Type::I32, &[source, low]);
            let bit = unit.op(S::ShiftRightLogical, Type::I32, &[word, low]);
            let bit = unit.op(S::BitwiseAnd, Type::I32, &[bit, one]);
            unit.op(S::IEqual, Type::BOOL, &[bit, one])
        } else {
            unit.op(S::GroupNonUniformBallotBitExtract, Type::BOOL, &[all, active, source])
        };
        let answered = unit.op(S::LogicalAnd, Type::BOOL, &[inside, active]);
        let operand = if op == Op::SgShuffle { source } else { second };
        let theirs = unit.op(host, ty, &[all, value, operand]);
        Ok(unit.select(ty, Type::BOOL, answered, theirs, value))
    }
}

/// The host's name of a scope. Nothing wider than the device can be named in Vulkan.
pub(crate) fn scope(scope: Scope) -> HostScope {
    match scope {
        Scope::Invocation => HostScope::Invocation,
        Scope::Subgroup => HostScope::Subgroup,
        Scope::Workgroup => HostScope::Workgroup,
        Scope::Device | Scope::System => HostScope::Device,
    }
}

/// The host's bits of an order.
pub(crate) fn semantics(order: Order) -> MemorySemantics {
    match order {
        Order::None | Order::Relaxed => MemorySemantics::RELAXED,
        Order::Acquire => MemorySemantics::ACQUIRE,
        Order::Release => MemorySemantics::RELEASE,
        Order::AcqRel => MemorySemantics::ACQUIRE_RELEASE,
    }
}

fn combination(reduce: Reduce, kind: Kind) -> Result<S, Reason> {
    let class = match kind {
        Kind::Bool => 0,
        k if k.is_float() => 1,
        _ => 2,
    };
    Ok(match (reduce, class) {
        (Reduce::Iadd, 2) => S::GroupNonUniformIAdd,
        (Reduce::Imul, 2) => S::GroupNonUniformIMul,
        (Reduce::Imin, 2) => S::GroupNonUniformSMin,
        (Reduce::Imax, 2) => S::GroupNonUniformSMax,
        (Reduce::Umin, 2) => S::GroupNonUniformUMin,
        (Reduce::Umax, 2) => S::GroupNonUniformUMax,
        (Reduce::And, 2) => S::GroupNonUniformBitwiseAnd,
        (Reduce::Or, 2) => S::GroupNonUniformBitwiseOr,
        (Reduce::Xor, 2) => S::GroupNonUniformBitwiseXor,
        (Reduce::And, 0) => S::GroupNonUniformLogicalAnd,
        (Reduce::Or, 0) => S::GroupNonUniformLogicalOr,
        (Reduce::Xor, 0) => S::GroupNonUniformLogicalXor,
        (Reduce::Fadd, 1) => S::GroupNonUniformFAdd,
        (Reduce::Fmul, 1) => S::GroupNonUniformFMul,
        (Reduce::Fmin, 1) => S::GroupNonUniformFMin,
        (Reduce::Fmax, 1) => S::GroupNonUniformFMax,
        _ => return Err(Reason::Unsupported("this combination of this type")),
    })
}
