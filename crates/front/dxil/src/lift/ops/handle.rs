//! Handles of resources.

use super::{Call, Made, NOT_LIFTED};
use crate::binding::{BindError, Heap};
use crate::bitcode::ValueId;
use crate::lift::cx::Cx;
use crate::lift::resource::{Handle, Place};
use crate::lift::val::Val;
use crate::lift::{Lift, LiftError, Stop};
use crate::ops::Op;
use crate::program::{Class, Component, Resource as Declared, Shape};

impl Cx<'_> {
    pub(super) fn handles(&mut self, call: &Call<'_>) -> Lift<Made> {
        let v = match call.op {
            // Class, number in the class, register, whether it is not uniform.
            Op::CreateHandle => {
                let (declared, _) = self.declared_by(call.op, [call.arg(0)?, call.arg(1)?])?;
                self.handle(declared, call.arg(2)?, call.arg(3)?)?
            }
            // What was loaded of the resource's variable.
            Op::CreateHandleForLib => Val::Handle(self.handle_of(call.arg(0)?)?),
            // The binding, register, whether it is not uniform.
            Op::CreateHandleFromBinding => {
                let declared = self.declared_at(call.arg(0)?)?;
                self.handle(declared, call.arg(1)?, call.arg(2)?)?
            }
            // Index, whether it is the samplers' heap, whether the index is not uniform. What is there is said later.
            Op::CreateHandleFromHeap => {
                let heap = if self.integer(call.arg(1)?)? != 0 { Heap::Samplers } else { Heap::Resources };
                if !self.remapper.is_heap_indexed(heap) {
                    return Err(LiftError::Bind(BindError::Heap(heap)).into());
                }
                let element = self.descriptor(call.arg(0)?, call.arg(2)?)?;
                Handle::new(UNKNOWN, Place::Heap(heap, element)).into()
            }
            // The handle, and what is known of the resource in two words.
            Op::AnnotateHandle => {
                let handle = self.handle_of(call.arg(0)?)?;
                let in_heap = matches!(handle.place, Place::Heap(..));
                let declared = self.annotated(handle.declared, in_heap, call.arg(1)?)?;
                Handle::new(declared, handle.place).into()
            }
            _ => return Err(NOT_LIFTED),
        };
        Ok(Made::Value(v))
    }

    /// A constant structure's fields, numbers all of them.
    pub(super) fn fields<const N: usize>(&mut self, id: ValueId, which: [usize; N]) -> Lift<[u32; N]> {
        let ty = self.type_of(id)?;
        let whole = self.value(id)?;
        let mut all = [0; N];
        for (to, n) in all.iter_mut().zip(which) {
            let of = self.module.types.member(ty, n as u64).ok_or(UNDECLARED)?;
            let v = self.scalar_of(whole.member(n).ok_or(UNDECLARED)?, of)?;
            *to = self.b.func.const_bits(v).ok_or(UNDECLARED)?.lane(0) as u32;
        }
        Ok(all)
    }

    /// The resource that is declared at a binding (`%dx.types.ResBind`).
    pub(in crate::lift) fn declared_at(&mut self, binding: ValueId) -> Lift<Declared> {
        let [lower, space, class] = self.fields(binding, [0, 2, 3])?;
        let class = Class::from_number(class).ok_or(UNDECLARED)?;
        Ok(*self.program.resource_at(class, space, lower).ok_or(UNDECLARED)?)
    }

    /// What properties (`%dx.types.ResourceProperties`) say of a resource; of a heap's descriptor its class, too.
    pub(in crate::lift) fn annotated(
        &mut self,
        declared: Declared,
        in_heap: bool,
        properties: ValueId,
    ) -> Lift<Declared> {
        let (mut declared, words) = (declared, self.fields(properties, [0, 1])?);
        annotate(&mut declared, words);
        if in_heap {
            declared.class = class_of(&declared, words[0]);
        }
        Ok(declared)
    }

    pub(in crate::lift) fn class(&self, id: ValueId) -> Lift<Class> {
        Class::from_number(self.integer(id)?).ok_or(UNDECLARED)
    }
}

const UNDECLARED: Stop = Stop::Unsupported("a resource that is not declared");

/// A descriptor of which nothing is said.
pub(in crate::lift) const UNKNOWN: Declared = Declared {
    class: Class::Srv,
    id: 0,
    space: 0,
    lower: 0,
    count: None,
    shape: Shape::RawBuffer,
    component: None,
    components: 1,
    wide: false,
    bytes: 0,
    ordered: false,
    global: None,
    vendor: None,
};

/// Bits of the first word of `%dx.types.ResourceProperties`, above the shape.
mod property {
    /// Written, too.
    pub const UAV: u32 = 1 << 12;
    /// Accessed in the order of the primitives.
    pub const ORDERED: u32 = 1 << 13;
}

/// The class of a descriptor by its properties.
fn class_of(declared: &Declared, first: u32) -> Class {
    match declared.shape {
        Shape::CBuffer => Class::Cbv,
        Shape::Sampler => Class::Sampler,
        _ if first & property::UAV != 0 => Class::Uav,
        _ => Class::Srv,
    }
}

/// What the words of `%dx.types.ResourceProperties` say: the shape in the first one's low byte; in the second one the
/// stride, the size of a constant buffer, or a texel's component type and count.
fn annotate(declared: &mut Declared, [first, second]: [u32; 2]) {
    let Some(shape) = Shape::declared((first & 0xff).into()) else { return };
    declared.shape = shape;
    declared.ordered = first & property::ORDERED != 0;
    match shape {
        Shape::StructuredBuffer | Shape::CBuffer => declared.bytes = second,
        Shape::RawBuffer | Shape::Sampler | Shape::AccelerationStructure => {}
        _ => {
            declared.component = Component::from_number((second & 0xff).into());
            declared.components = ((second >> 8 & 0xff) as u8).clamp(1, 4);
        }
    }
}
