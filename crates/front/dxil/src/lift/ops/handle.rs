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
                let class = self.class(call.arg(0)?)?;
                let id = self.integer(call.arg(1)?)? as u32;
                let declared = *self.program.resource(class, id).ok_or(UNDECLARED)?;
                self.handle(declared, call.arg(2)?, call.arg(3)?)?
            }
            // What was loaded of the resource's variable.
            Op::CreateHandleForLib => Val::Handle(self.handle_of(call.arg(0)?)?),
            // The binding, register, whether it is not uniform.
            Op::CreateHandleFromBinding => {
                let ty = self.type_of(call.arg(0)?)?;
                let binding = self.value(call.arg(0)?)?;
                let mut field = |n: usize| -> Lift<u64> {
                    let of = self.module.types.member(ty, n as u64).ok_or(UNDECLARED)?;
                    let v = self.scalar_of(binding.member(n).ok_or(UNDECLARED)?, of)?;
                    self.b.func.const_bits(v).map(|b| b.lane(0)).ok_or(UNDECLARED)
                };
                let [lower, space, class] = [field(0)?, field(2)?, field(3)?];
                let class = Class::from_number(class).ok_or(UNDECLARED)?;
                let declared = self.program.resource_at(class, space as u32, lower as u32);
                let declared = *declared.ok_or(UNDECLARED)?;
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
                let mut declared = handle.declared;
                let ty = self.type_of(call.arg(1)?)?;
                let properties = self.value(call.arg(1)?)?;
                let mut word = |n: usize| -> Lift<u64> {
                    let of = self.module.types.member(ty, n as u64).ok_or(UNDECLARED)?;
                    let v = self.scalar_of(properties.member(n).ok_or(UNDECLARED)?, of)?;
                    self.b.func.const_bits(v).map(|b| b.lane(0)).ok_or(UNDECLARED)
                };
                let words = [word(0)? as u32, word(1)? as u32];
                annotate(&mut declared, words);
                if let Place::Heap(..) = handle.place {
                    declared.class = class_of(&declared, words[0]);
                }
                Handle::new(declared, handle.place).into()
            }
            _ => return Err(NOT_LIFTED),
        };
        Ok(Made::Value(v))
    }

    fn class(&self, id: ValueId) -> Lift<Class> {
        Class::from_number(self.integer(id)?).ok_or(UNDECLARED)
    }
}

const UNDECLARED: Stop = Stop::Unsupported("a resource that is not declared");

/// A descriptor of which nothing is said.
const UNKNOWN: Declared = Declared {
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
