//! What values of LLVM are while they are lifted.

use super::memory::Pointer;
use super::node;
use super::resource::Handle;
use super::{Lift, Stop};
use std::rc::Rc;
use xenoglot_ir::Value;

/// A value of LLVM.
#[derive(Clone, Debug)]
pub(super) enum Val {
    /// A scalar.
    Scalar(Value),
    /// Any value of its type.
    Undef,
    /// An address.
    Pointer(Pointer),
    /// A handle of a resource.
    Handle(Rc<Handle>),
    /// A handle of a work graph.
    Node(node::Handle),
    /// The address of a library's resource: its global variable, and which of an array.
    Resource(u32, Option<Value>),
    /// Members of a structure, an array or a vector.
    Members(Rc<[Val]>),
}

impl From<Handle> for Val {
    fn from(handle: Handle) -> Val {
        Val::Handle(Rc::new(handle))
    }
}

impl Val {
    pub fn members(values: impl IntoIterator<Item = Val>) -> Val {
        Val::Members(values.into_iter().collect())
    }

    pub fn scalars(values: impl IntoIterator<Item = Value>) -> Val {
        Val::members(values.into_iter().map(Val::Scalar))
    }

    /// The address that it is.
    pub fn pointer(self) -> Lift<Pointer> {
        match self {
            Val::Pointer(pointer) => Ok(pointer),
            _ => Err(Stop::Unsupported("an address of unknown origin")),
        }
    }

    /// A member; undefined of what is undefined.
    pub fn member(&self, index: usize) -> Option<Val> {
        match self {
            Val::Undef => Some(Val::Undef),
            Val::Members(members) => members.get(index).cloned(),
            _ => None,
        }
    }
}

/// Members an aggregate may have while it is a value, as many as HLSL's longest vectors have lanes. Arrays are in memory and
/// not counted.
pub(super) const MOST_MEMBERS: u64 = 1024;
