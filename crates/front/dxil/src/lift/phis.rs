//! Phis with one possible value.
//!
//! Hosts cannot choose between descriptors at run time, so a phi of handles must always be the same handle. Compilers leave
//! such phis behind, also chains of them, and cycles of them in loops:
//!
//! ```text
//! %h = call %dx.types.Handle @dx.op.createHandle(…)
//! loop:
//!   %a = phi %dx.types.Handle [ %h, %entry ], [ %b, %next ]
//! next:
//!   %b = phi %dx.types.Handle [ %a, %loop ], [ %h, %other ]     →     %a and %b are %h
//! ```

use super::cx::Cx;
use super::flow::phis;
use crate::bitcode::{BlockId, Type as Llvm, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The incoming values found for a phi so far, not counting the phi itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    None,
    One(ValueId),
    Several,
}

impl Seen {
    fn and(self, other: Seen) -> Seen {
        match (self, other) {
            (Seen::None, seen) | (seen, Seen::None) => seen,
            (Seen::One(a), Seen::One(b)) if a == b => self,
            _ => Seen::Several,
        }
    }
}

/// Maps each phi of the current function that has one possible value to that value. Phis of numbers are left to the passes.
/// `order` lists the reachable blocks.
pub(super) fn single(cx: &Cx<'_>, order: &[BlockId]) -> FxHashMap<ValueId, ValueId> {
    let mut all = Vec::new();
    let mut seen: FxHashMap<ValueId, Seen> = FxHashMap::default();
    for &block in order {
        for (_, inst, incoming) in phis(cx.body, block) {
            if let Some(result) = inst.result.filter(|&id| !is_number(cx, id)) {
                all.push((result, incoming));
                seen.insert(result, Seen::None);
            }
        }
    }
    if all.is_empty() {
        return FxHashMap::default();
    }
    let reached: FxHashSet<BlockId> = order.iter().copied().collect();
    let mut users: FxHashMap<ValueId, Vec<usize>> = FxHashMap::default();
    for (n, (_, incoming)) in all.iter().enumerate() {
        for (value, _) in incoming.iter().filter(|(value, _)| seen.contains_key(value)) {
            users.entry(*value).or_default().push(n);
        }
    }
    // Optimistic: a phi has one value until a second one is found. Its state changes at most twice, so this ends.
    let mut work: Vec<usize> = (0..all.len()).rev().collect();
    while let Some(&(result, incoming)) = work.pop().and_then(|n| all.get(n)) {
        let before = seen.get(&result).copied().unwrap_or(Seen::Several);
        let values = incoming.iter().filter(|(value, from)| *value != result && reached.contains(from));
        let after = values.fold(before, |known, (value, _)| match seen.get(value) {
            Some(&Seen::Several) | None => known.and(Seen::One(*value)),
            Some(&of) => known.and(of),
        });
        if after != before {
            seen.insert(result, after);
            work.extend(users.get(&result).into_iter().flatten());
        }
    }
    let is_sound = |phi: ValueId, value: ValueId| matches!((cx.type_of(phi), cx.type_of(value)), (Ok(a), Ok(b)) if a == b);
    let single = |(&phi, &seen): (&ValueId, &Seen)| match seen {
        Seen::One(value) if value != phi && is_sound(phi, value) => Some((phi, value)),
        _ => None,
    };
    seen.iter().filter_map(single).collect()
}

fn is_number(cx: &Cx<'_>, id: ValueId) -> bool {
    let ty = cx.type_of(id).ok().and_then(|ty| cx.module.types.get(ty));
    ty.is_some_and(|ty| match ty {
        Llvm::Vector { .. } => true,
        Llvm::Pointer { .. } => false,
        ty => ty.is_scalar(),
    })
}
