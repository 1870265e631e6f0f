//! What functions called `dx.op` do.

mod bits;
mod buffer;
mod compute;
mod convert;
mod handle;
mod math;
mod partition;
mod primitive;
mod ray;
mod samples;
mod stage;
mod texture;
mod wave;

pub(super) use buffer::image_atomic;

use super::cx::Cx;
use super::int::Scalar;
use super::val::Val;
use super::{Lift, Stop};
use crate::bitcode::{Operand, ValueId};
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
        let call = Call { op, result, args };
        let made = match op.info().family {
            Family::Handle => self.handles(&call)?,
            Family::Math => self.math(&call)?,
            Family::Bits => self.bit_ops(&call)?,
            Family::Convert => self.conversions(&call)?,
            Family::Compute => self.compute(&call)?,
            Family::Wave => self.waves(&call)?,
            Family::Partition => self.partitions(&call)?,
            Family::Buffer => self.buffers(&call)?,
            Family::Texture => self.textures(&call)?,
            Family::Samples => self.samples(&call)?,
            Family::Stage => self.stages(&call)?,
            Family::Primitive => self.primitives(&call)?,
            Family::Ray => self.rays(&call)?,
            Family::None => return Err(NOT_LIFTED),
        };
        Ok(match made {
            Made::Value(v) => Some(v),
            Made::Nothing => None,
        })
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

    /// The operand `n` of a call as a scalar.
    fn arg(&mut self, call: &Call<'_>, n: usize) -> Lift<Value> {
        self.scalar(call.arg(n)?)
    }

    /// The scalar type of operand `n`.
    fn arg_type(&self, call: &Call<'_>, n: usize) -> Lift<Scalar> {
        self.scalar_type_of(call.arg(n)?)
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
