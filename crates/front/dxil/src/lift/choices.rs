//! Choices between handles.
//!
//! What may be chosen at run time is the number of a descriptor in an array: all handles that reach a phi have to be of one
//! declaration, or of one heap with the same properties. Then the phi is one of numbers. Where all of them have the same number,
//! it is no choice, and the phi is the handle.
//!
//! What reaches a phi is found before it is lifted, since around loops it may stand behind the phi.

use super::cx::Cx;
use super::resource::CHOICE;
use super::{Lift, Stop};
use crate::binding::Heap;
use crate::bitcode::{Def, InstKind, ValueId};
use crate::ops::Op;
use crate::program::Resource as Declared;
use rustc_hash::FxHashMap;

/// Phis, selects and annotations within each other that are followed.
const MOST_DEPTH: u32 = 64;

/// What is known of values; nothing of those that are being looked at, which come around.
type Seen = FxHashMap<ValueId, Option<Common>>;

/// What handles have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Common {
    /// The declaration, or what is said of the heap's descriptor.
    pub declared: Declared,
    /// The heap that it is in, if it is at no register.
    pub heap: Option<Heap>,
    /// Which descriptor, if it is the same one.
    index: Option<ValueId>,
    /// Whether it differs between invocations of a wave.
    nonuniform: bool,
}

impl Common {
    /// Whether there is nothing to choose.
    pub fn is_one(&self) -> bool {
        self.index.is_some()
    }

    fn and(self, other: Common) -> Lift<Common> {
        if (self.declared, self.heap) != (other.declared, other.heap) {
            return Err(CHOICE);
        }
        let same = self.index == other.index && self.nonuniform == other.nonuniform;
        Ok(Common { index: self.index.filter(|_| same), nonuniform: !same || self.nonuniform, ..self })
    }
}

impl Cx<'_> {
    /// What the handles have in common that a phi may be.
    pub(super) fn common(&mut self, phi: ValueId) -> Lift<Common> {
        self.common_of(phi, &mut Seen::default(), 0)?.ok_or(CHOICE)
    }

    /// Nothing of what comes around, or is undefined.
    fn common_of(&mut self, id: ValueId, seen: &mut Seen, depth: u32) -> Lift<Option<Common>> {
        if let Some(&known) = seen.get(&id) {
            return Ok(known);
        }
        seen.insert(id, None);
        let found = self.new_common(id, seen, depth)?;
        seen.insert(id, found);
        Ok(found)
    }

    fn new_common(&mut self, id: ValueId, seen: &mut Seen, depth: u32) -> Lift<Option<Common>> {
        if self.is_undef(id) {
            return Ok(None);
        }
        let (Def::Inst(inst), true) = (self.def(id)?, depth < MOST_DEPTH) else { return Err(CHOICE) };
        let inst = self.body.insts.get(*inst as usize).ok_or(CHOICE)?;
        let several: Vec<ValueId> = match &inst.kind {
            InstKind::Phi(incoming) => self.body.list(*incoming).iter().map(|&(value, _)| value).collect(),
            InstKind::Select([_, yes, no]) => vec![*yes, *no],
            InstKind::Call { .. } => {
                let (op, args) = self.dx_call(inst).ok_or(CHOICE)?;
                let arg = |n: usize| args.get(n).and_then(|a| a.value()).ok_or(CHOICE);
                return Ok(Some(match op {
                    Op::AnnotateHandle => match self.common_of(arg(0)?, seen, depth + 1)? {
                        Some(of) => {
                            let declared = self.annotated(of.declared, of.heap.is_some(), arg(1)?)?;
                            Common { declared, ..of }
                        }
                        None => return Ok(None),
                    },
                    Op::CreateHandle => self.first_common(op, [arg(0)?, arg(1)?], [arg(2)?, arg(3)?])?,
                    Op::CreateHandleFromBinding => self.first_common(op, [arg(0)?; 2], [arg(1)?, arg(2)?])?,
                    Op::CreateHandleFromHeap => self.first_common(op, [arg(1)?; 2], [arg(0)?, arg(2)?])?,
                    _ => return Err(CHOICE),
                }));
            }
            _ => return Err(CHOICE),
        };
        let mut all: Option<Common> = None;
        for value in several {
            if let Some(next) = self.common_of(value, seen, depth + 1)? {
                all = Some(match all {
                    Some(before) => before.and(next)?,
                    None => next,
                });
            }
        }
        Ok(all)
    }

    fn first_common(
        &mut self,
        op: Op,
        what: [ValueId; 2],
        [index, nonuniform]: [ValueId; 2],
    ) -> Lift<Common> {
        let (declared, heap) = self.declared_by(op, what)?;
        let nonuniform = self.integer(nonuniform).is_ok_and(|n| n != 0);
        Ok(Common { declared, heap, index: Some(index), nonuniform })
    }

    /// What an operation makes a handle of: class and number of a declaration, a binding, or whether the heap is that of samplers.
    pub(super) fn declared_by(
        &mut self,
        op: Op,
        [first, second]: [ValueId; 2],
    ) -> Lift<(Declared, Option<Heap>)> {
        const UNDECLARED: Stop = Stop::Unsupported("a resource that is not declared");
        match op {
            Op::CreateHandle => {
                let class = self.class(first)?;
                let id = self.integer(second)? as u32;
                Ok((*self.program.resource(class, id).ok_or(UNDECLARED)?, None))
            }
            Op::CreateHandleFromBinding => Ok((self.declared_at(first)?, None)),
            _ => {
                let heap = if self.integer(first)? != 0 { Heap::Samplers } else { Heap::Resources };
                Ok((super::ops::UNKNOWN, Some(heap)))
            }
        }
    }
}
