//! Stacks of pushed targets, shared: each is an entry on top of another.

use rustc_hash::FxBuildHasher;
use std::collections::HashMap;

/// What pops an entry.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// SYNC.
    Sync,
    /// BRK.
    Break,
    /// CONT.
    Continue,
    /// RET, after PRET.
    Return,
    /// RET, after CAL.
    Call,
}

impl Kind {
    /// Every kind that pops; a return pops calls, too.
    pub const POPS: [Kind; 4] = [Kind::Sync, Kind::Break, Kind::Continue, Kind::Return];

    /// Whether this pops an entry of `kind`.
    pub fn pops(self, kind: Kind) -> bool {
        self == kind || (self == Kind::Return && kind == Kind::Call)
    }
}

/// Where to go on when an entry is popped.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Entry {
    pub kind: Kind,
    pub target: u32,
}

/// A stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct StackId(u32);

impl StackId {
    pub const EMPTY: StackId = StackId(0);
}

#[derive(Clone, Copy, Debug)]
struct Item {
    entry: Entry,
    below: StackId,
    depth: u32,
}

/// Every stack there is.
#[derive(Debug, Default)]
pub(super) struct Stacks {
    /// That of number n is item n - 1 and what is below it.
    items: Vec<Item>,
    ids: HashMap<(Entry, StackId), StackId, FxBuildHasher>,
}

impl Stacks {
    /// Number of stacks, the empty one included.
    pub fn len(&self) -> usize {
        self.items.len() + 1
    }

    fn item(&self, stack: StackId) -> Option<Item> {
        self.items.get((stack.0 as usize).checked_sub(1)?).copied()
    }

    /// The items from the top down to the bottom.
    fn iter(&self, stack: StackId) -> impl Iterator<Item = Item> {
        std::iter::successors(self.item(stack), |item| self.item(item.below))
    }

    /// `stack` with `entry` on top; none if it would be deeper than `max_depth`.
    pub fn push(&mut self, stack: StackId, entry: Entry, max_depth: u32) -> Option<StackId> {
        let frame = self.iter(stack).take_while(|i| i.entry.kind != Kind::Call);
        let stale = frame.filter(|i| i.entry == entry).last();
        let below = stale.map_or(stack, |i| i.below);
        let depth = self.item(below).map_or(0, |i| i.depth) + 1;
        if depth > max_depth {
            return None;
        }
        let items = &mut self.items;
        Some(*self.ids.entry((entry, below)).or_insert_with(|| {
            items.push(Item { entry, below, depth });
            StackId(items.len() as u32)
        }))
    }

    /// The target of the nearest entry that `kind` pops, and the stack below it. Only a return leaves a call.
    pub fn unwind(&self, stack: StackId, kind: Kind) -> Option<(u32, StackId)> {
        let stops = |i: &Item| kind.pops(i.entry.kind) || i.entry.kind == Kind::Call;
        let found = self.iter(stack).find(stops).filter(|i| kind.pops(i.entry.kind));
        found.map(|i| (i.entry.target, i.below))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYNC: Entry = Entry { kind: Kind::Sync, target: 8 };
    const BREAK: Entry = Entry { kind: Kind::Break, target: 16 };
    const CALL: Entry = Entry { kind: Kind::Call, target: 24 };

    #[test]
    fn pops_unwind_to_their_kind() {
        let mut s = Stacks::default();
        let outer = s.push(StackId::EMPTY, BREAK, 9).unwrap();
        let inner = s.push(outer, SYNC, 9).unwrap();
        assert_eq!(s.unwind(inner, Kind::Sync), Some((8, outer)));
        assert_eq!(s.unwind(inner, Kind::Break), Some((16, StackId::EMPTY)));
        assert_eq!(s.unwind(inner, Kind::Continue), None);
        assert_eq!(s.push(outer, SYNC, 9), Some(inner));
        assert_eq!(s.push(inner, CALL, 2), None);
    }

    #[test]
    fn stale_entries_go_but_not_those_of_a_caller() {
        let mut s = Stacks::default();
        let sync = s.push(StackId::EMPTY, SYNC, 9).unwrap();
        let stale = s.push(sync, BREAK, 9).unwrap();
        assert_eq!(s.push(stale, SYNC, 9), Some(sync));
        let call = s.push(sync, CALL, 9).unwrap();
        assert_eq!(s.unwind(call, Kind::Sync), None);
        let callee = s.push(call, SYNC, 9).unwrap();
        assert_eq!(s.unwind(callee, Kind::Return), Some((24, sync)));
        assert_ne!(callee, sync);
    }
}
