//! What functions called `dx.op` do.

mod bits;
mod buffer;
mod compute;
mod convert;
mod feedback;
mod handle;
mod hit;
mod math;
mod node;
mod nvapi;
mod partition;
mod primitive;
mod ray;
mod samples;
mod stage;
mod texture;
mod wave;

pub(super) use buffer::image_atomic;
pub(super) use handle::UNKNOWN;
pub(super) use nvapi::Nvapi;

use super::cx::Cx;
use super::int::Scalar;
use super::val::Val;
use super::{Lift, Stop};
use crate::bitcode::{Def, Operand, Type as Llvm, TypeId, ValueId};
use crate::ops::{Family, Op};
use xenoglot_ir::Value;

/// Why an operation is not lifted that no family has.
const NOT_LIFTED: Stop = Stop::Unsupported("");

/// A call of a function called `dx.op`.
pub(super) struct Call<'c> {
    /// The operation.
    pub op: Op,
    /// Its result.
    pub result: Option<ValueId>,
    /// Its operands behind its number.
    args: &'c [Operand],
    /// The lane at work of an operation on vectors.
    lane: Option<usize>,
}

impl Call<'_> {
    /// An operand.
    pub fn arg(&self, n: usize) -> Lift<ValueId> {
        self.args.get(n).and_then(|a| a.value()).ok_or(Stop::Unsupported("an operand is missing"))
    }
}

impl Cx<'_> {
    /// Lifts a call; what it gives.
    pub(super) fn dx_op(
        &mut self,
        result: Option<ValueId>,
        function: u32,
        args: &[Operand],
    ) -> Lift<Option<Val>> {
        let (number, args) = args.split_first().ok_or(Stop::Unsupported("an operand is missing"))?;
        let number = self.integer(number.value().ok_or(Stop::Unsupported(""))?)?;
        let op =
            u32::try_from(number).ok().and_then(Op::from_number).ok_or(Stop::Unsupported("its number"))?;
        // The number and the name have to agree, or operands would not be what the table says.
        if !self.is_named_after(function, op) || op.info().operands.len() > args.len() {
            return Err(Stop::Unsupported("its name or operands"));
        }
        let mut call = Call { op, result, args, lane: None };
        let lanes = match result.map(|id| self.type_of(id)).transpose()? {
            Some(ty) if matches!(self.module.types.get(ty), Some(Llvm::Vector { .. })) => {
                self.members_of(ty)?
            }
            _ => None,
        };
        let Some(lanes) = lanes else {
            return Ok(match self.of_family(&call)? {
                Made::Value(v) => Some(v),
                Made::Nothing => None,
            });
        };
        // What there is for numbers, SM 6.9 has for vectors, lane by lane.
        let mut all = Vec::new();
        for lane in 0..lanes as usize {
            call.lane = Some(lane);
            match self.of_family(&call)? {
                Made::Value(v) => all.push(v),
                Made::Nothing => return Err(NOT_LIFTED),
            }
        }
        Ok(Some(Val::members(all)))
    }

    fn of_family(&mut self, call: &Call<'_>) -> Lift<Made> {
        match call.op.info().family {
            Family::Handle => self.handles(call),
            Family::Math => self.math(call),
            Family::Bits => self.bit_ops(call),
            Family::Convert => self.conversions(call),
            Family::Compute => self.compute(call),
            Family::Wave => self.waves(call),
            Family::Partition => self.partitions(call),
            Family::Buffer => self.buffers(call),
            Family::Texture => self.textures(call),
            Family::Feedback => self.feedback(call),
            Family::Samples => self.samples(call),
            Family::Stage => self.stages(call),
            Family::Primitive => self.primitives(call),
            Family::Ray => self.rays(call),
            Family::Hit => self.hit_objects(call),
            Family::Node => self.nodes(call),
            Family::None => Err(call.op.refusal().map_or(NOT_LIFTED, Stop::Unsupported)),
        }
    }

    /// The operation that a call is of, and its operands behind its number; none if it is of another function.
    fn called_op<'c>(&mut self, callee: ValueId, args: &'c [Operand]) -> Option<(Op, &'c [Operand])> {
        let Ok(&Def::Function(index)) = self.def(callee) else { return None };
        let (number, args) = args.split_first()?;
        let op = Op::from_number(u32::try_from(self.integer(number.value()?).ok()?).ok()?)?;
        let is_it = op.info().operands.len() <= args.len() && self.is_named_after(index, op);
        is_it.then_some((op, args))
    }

    /// Whether a function has the name of an operation.
    fn is_named_after(&mut self, function: u32, op: Op) -> bool {
        let index = function as usize;
        if self.operations.get(index) == Some(&Some(op)) {
            return true;
        }
        let name = self.module.functions.get(index).map_or(&[][..], |f| &f.name);
        let named = op.info().overload_in(std::str::from_utf8(name).unwrap_or_default()).is_some();
        if let Some(known) = self.operations.get_mut(index)
            && named
        {
            *known = Some(op);
        }
        named
    }

    /// The operand `n` of a call as a scalar: of vectors, the lane at work.
    fn arg(&mut self, call: &Call<'_>, n: usize) -> Lift<Value> {
        let id = call.arg(n)?;
        let ty = self.type_of(id)?;
        match (call.lane, self.module.types.get(ty)) {
            (Some(lane), Some(&Llvm::Vector { of, .. })) => {
                let v = self.value(id)?.member(lane).ok_or(Stop::Unsupported("a vector"))?;
                self.scalar_of(v, of)
            }
            _ => self.scalar(id),
        }
    }

    /// The scalar type of operand `n`.
    fn arg_type(&self, call: &Call<'_>, n: usize) -> Lift<Scalar> {
        let ty = self.type_of(call.arg(n)?)?;
        self.scalar_type(self.lane_type(ty))
    }

    /// The type of a vector's lanes, or a scalar's own.
    pub(super) fn lane_type(&self, ty: TypeId) -> TypeId {
        match self.module.types.get(ty) {
            Some(&Llvm::Vector { of, .. }) => of,
            _ => ty,
        }
    }

    /// The lanes of a vector that an operand is.
    pub(super) fn lanes(&mut self, id: ValueId) -> Lift<Vec<Value>> {
        let ty = self.type_of(id)?;
        let count = self.members_of(ty)?.ok_or(Stop::Unsupported("an operand that is no vector"))?;
        let (of, v) = (self.lane_type(ty), self.value(id)?);
        let lane = |n| v.member(n).ok_or(Stop::Unsupported("a vector"));
        (0..count as usize).map(|n| self.scalar_of(lane(n)?, of)).collect()
    }
}

/// What a family of operations made of a call.
pub(super) enum Made {
    /// It has no result.
    Nothing,
    /// Its result.
    Value(Val),
}

impl From<Value> for Made {
    fn from(v: Value) -> Made {
        Made::Value(Val::Scalar(v))
    }
}
