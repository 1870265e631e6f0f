//! Emission: the regions' dominator trees become nested statements, in one pass with an explicit stack.
//!
//! An item with one in edge is emitted in the arm that leads to it. An item with several *follows*: the arms that lead to it set
//! [`Selector::Exit`] to its id and end, and it comes after the construct of its immediate dominator. Whether it needs a guard is
//! known exactly when its turn comes, because everything that can lead past it has been emitted: it does if another item is still
//! on its way out of the list at hand.
//!
//! * **Hoisting.** When no other arm of a selection falls through, the last arm stands after the selection, at the same depth.
//! * **Depth limit.** An item that would stand too deep is handed to a shallower list as a follower, and so are all followers of
//!   the lists in between that are yet to come, because it may lead to them.
//! * What is emitted at one depth of one path shares a list; so there are never more open lists than the depth limit.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use xenoglot_ir::Block;

use crate::forest::{Forest, NONE, ROOT};
use crate::graph::Edge;
use crate::region::{BREAK, CONTINUE, Out, Regions};
use crate::tree::{Arm, Arms, List, Selector, Stats, Stmt, Tree};

/// Few functions nest deeper than this.
const DEEP: usize = 32;

/// Emits the tree.
pub(crate) fn nest(forest: &Forest, regions: &Regions, depth_limit: u32, steps: u64) -> Tree {
    let mut nest = Nest {
        forest,
        regions,
        depth_limit,
        tree: Tree {
            stmts: Vec::with_capacity(4 * regions.order.len()),
            arms: Vec::with_capacity(2 * regions.order.len()),
            root: List::default(),
            blocks: forest.blocks,
            stats: Stats {
                blocks: forest.reachable,
                loops: forest.loops.len() as u32 - 1,
                dispatches: forest.node_count() - forest.blocks,
                routes: forest.routes,
                pinned: forest.pinned,
                steps,
                ..Stats::default()
            },
        },
        open: Vec::with_capacity(DEEP),
        followers: Vec::with_capacity(DEEP),
        scratch: Vec::with_capacity(2 * regions.order.len()),
        work: Vec::with_capacity(4 * DEEP),
        clock: 0,
        waiting: Waiting::new(regions.place.len()),
    };
    nest.open(Owner::Root, 0, Work::Item(regions.start[ROOT as usize]));
    if forest.start_route != NONE {
        nest.push(Stmt::Set { var: Selector::Route, value: forest.start_route });
    }
    while let Some(work) = nest.work.pop() {
        nest.tree.stats.steps += 1;
        nest.step(work);
    }
    nest.tree
}

/// What a list belongs to once it is complete.
#[derive(Clone, Copy)]
enum Owner {
    Root,
    Arm(u32),
    /// The statement at this place of the scratch stack: a guard or a loop.
    Body(usize),
}

/// A list being written; its depth is its place on the stack of open lists.
struct Open {
    owner: Owner,
    /// Where its statements start on the scratch stack.
    scratch: usize,
    /// The clock when it was opened.
    since: u32,
    /// Depth of the list that holds its region.
    base: u32,
}

#[derive(Clone, Copy)]
enum Work {
    /// Emit an item.
    Item(u32),
    /// Emit what happens on a way out.
    Out(u32),
    /// Emit the arms of `item`'s selection from `next` on.
    Arms {
        item: u32,
        next: u32,
        /// The arm to emit last and hoist if possible; [`NONE`] if there is none.
        last: u32,
        arms: u32,
        since: u32,
    },
    /// Select among a loop's exits.
    Exits(u32),
    /// Emit the next follower of the list at hand.
    Followers,
    /// Complete the list at hand.
    Close,
}

struct Nest<'a> {
    forest: &'a Forest,
    regions: &'a Regions,
    depth_limit: u32,
    tree: Tree,
    open: Vec<Open>,
    /// By depth: places of the followers to come. Longer than `open` where heaps are kept for reuse.
    followers: Vec<BinaryHeap<Reverse<u32>>>,
    scratch: Vec<Stmt>,
    work: Vec<Work>,
    /// Ways to followers emitted so far.
    clock: u32,
    waiting: Waiting,
}

impl Nest<'_> {
    fn step(&mut self, work: Work) {
        match work {
            Work::Item(item) => self.item(item),
            Work::Out(out) => self.out(out),
            Work::Arms { item, next, last, arms, since } => self.arms(item, next, last, arms, since),
            Work::Exits(item) => self.exits(item),
            Work::Followers => self.next_follower(),
            Work::Close => self.close(),
        }
    }

    fn push(&mut self, stmt: Stmt) {
        self.scratch.push(stmt);
    }

    fn depth(&self) -> u32 {
        self.open.len() as u32 - 1
    }

    fn open(&mut self, owner: Owner, base: u32, first: Work) {
        self.open.push(Open { owner, scratch: self.scratch.len(), since: self.clock, base });
        if self.followers.len() < self.open.len() {
            self.followers.push(BinaryHeap::new());
        }
        self.tree.stats.max_depth = self.tree.stats.max_depth.max(self.depth());
        self.work.extend([Work::Close, Work::Followers, first]);
    }

    fn base(&self) -> u32 {
        self.open.last().map_or(0, |o| o.base)
    }

    fn close(&mut self) {
        let Some(open) = self.open.pop() else { return };
        let start = self.tree.stmts.len() as u32;
        self.tree.stmts.extend_from_slice(&self.scratch[open.scratch..]);
        self.scratch.truncate(open.scratch);
        let list = List { start, len: self.tree.stmts.len() as u32 - start };
        match open.owner {
            Owner::Root => self.tree.root = list,
            Owner::Arm(arm) => self.tree.arms[arm as usize].body = list,
            Owner::Body(at) => {
                if let Stmt::Guard { body, .. } | Stmt::Loop { body, .. } = &mut self.scratch[at] {
                    *body = list;
                }
            }
        }
    }

    fn item(&mut self, item: u32) {
        let depth = self.depth() as usize;
        for &place in self.regions.followers(item) {
            self.followers[depth].push(Reverse(place));
        }
        if let Some(k) = self.regions.as_loop(item) {
            let header = self.forest.loops[k as usize].header;
            let header = (header < self.forest.blocks).then(|| Block::from_u32(header));
            let at = self.scratch.len();
            self.push(Stmt::Loop { header, body: List::default() });
            self.work.push(Work::Exits(item));
            let start = self.regions.start[k as usize];
            self.open(Owner::Body(at), depth as u32 + 1, Work::Item(start));
            return;
        }
        let outs = self.regions.outs(item);
        if item >= self.forest.blocks {
            return self.select(item, |arms| Stmt::Switch { var: Selector::Route, arms });
        }
        let block = Block::from_u32(item);
        self.push(Stmt::Block(block));
        match outs.len() {
            0 => self.push(Stmt::Terminate(block)),
            1 => self.out(outs.start),
            _ => self.select(item, |arms| Stmt::Branch { block, arms }),
        }
    }

    fn exits(&mut self, item: u32) {
        let outs = self.regions.outs(item);
        match outs.len() {
            0 => self.push(Stmt::Unreachable),
            1 => self.work.push(Work::Out(outs.start)),
            _ => self.select(item, |arms| Stmt::Switch { var: Selector::Exit, arms }),
        }
    }

    fn select(&mut self, item: u32, stmt: impl FnOnce(Arms) -> Stmt) {
        let outs = self.regions.outs(item);
        let arms = Arms { start: self.tree.arms.len() as u32, len: outs.len() as u32 };
        self.tree.arms.extend(outs.clone().map(|o| {
            let out = self.regions.out(o);
            let label = match out {
                Out { from: NONE, route: NONE, node, .. } => node,
                Out { from: NONE, route, .. } => route,
                Out { index, .. } => index,
            };
            Arm { label, body: List::default() }
        }));
        self.push(stmt(arms));
        self.tree.stats.selections += 1;
        let (mut live, mut only, mut deepest) = (0, NONE, (0, NONE));
        for o in outs.clone() {
            let out = self.regions.out(o);
            let inline = out.inside() && !self.regions.follows(out.to);
            if out.inside() && (!inline || self.regions.falls[out.to as usize]) {
                live += 1;
                only = o;
            }
            // A bare break or continue stays in its arm, and what executes blocks comes after it.
            let height = if inline { 1 + self.regions.height[out.to as usize] } else { 0 };
            if height >= deepest.0 {
                deepest = (height, o);
            }
        }
        let last = match live {
            0 => deepest.1,
            1 => only,
            _ => NONE,
        };
        self.work.push(Work::Arms { item, next: outs.start, last, arms: arms.start, since: self.clock });
    }

    fn arms(&mut self, item: u32, next: u32, last: u32, arms: u32, since: u32) {
        let outs = self.regions.outs(item);
        let next = next + u32::from(next == last);
        let arm = |o: u32| Owner::Arm(arms + (o - outs.start));
        if next < outs.end {
            self.work.push(Work::Arms { item, next: next + 1, last, arms, since });
            self.open(arm(next), self.base(), Work::Out(next));
        } else if last == NONE {
        } else if self.waiting.since(since) == 0 {
            self.work.push(Work::Out(last));
        } else {
            // An arm that was not to fall through does, because something in it was moved out to honour the depth limit.
            self.open(arm(last), self.base(), Work::Out(last));
        }
    }

    fn out(&mut self, o: u32) {
        let out = self.regions.out(o);
        if out.from != NONE {
            self.push(Stmt::Edge(Edge { from: Block::from_u32(out.from), index: out.index }));
            if out.route != NONE {
                self.push(Stmt::Set { var: Selector::Route, value: out.route });
            }
        }
        let exit = Stmt::Set { var: Selector::Exit, value: out.node };
        match out.to {
            CONTINUE => self.push(Stmt::Continue),
            BREAK => {
                self.push(exit);
                self.push(Stmt::Break);
            }
            item if !self.regions.follows(item) && self.fits(item, self.depth()) => {
                self.work.push(Work::Item(item));
            }
            item => {
                if !self.regions.follows(item) {
                    self.tree.stats.reparented += 1;
                    self.move_out(item);
                }
                self.push(exit);
                self.clock += 1;
                self.waiting.add(item, self.clock);
            }
        }
    }

    fn fits(&self, item: u32, depth: u32) -> bool {
        depth + self.regions.need[item as usize] <= self.depth_limit
    }

    /// Hands `item`, and all followers yet to come of the lists from here up to there, to a list about half as deep.
    fn move_out(&mut self, item: u32) {
        let base = self.base();
        let room = self.depth_limit.saturating_sub(1 + self.regions.need[item as usize]);
        let to = base + room.saturating_sub(base) / 2;
        let (upper, lower) = self.followers[..self.open.len()].split_at_mut(to as usize + 1);
        let heap = &mut upper[to as usize];
        heap.push(Reverse(self.regions.place[item as usize]));
        for between in lower {
            self.tree.stats.steps += between.len() as u64;
            heap.append(between);
        }
    }

    fn next_follower(&mut self) {
        let depth = self.depth();
        let Some(Reverse(place)) = self.followers[depth as usize].pop() else { return };
        self.work.push(Work::Followers);
        let item = self.regions.order[place as usize];
        let since = self.open.last().map_or(0, |o| o.since);
        let guarded = self.waiting.since(since) > 1;
        if !self.fits(item, depth + u32::from(guarded)) {
            self.tree.stats.reparented += 1;
            return self.move_out(item);
        }
        self.waiting.remove(item);
        if !guarded {
            return self.work.push(Work::Item(item));
        }
        self.tree.stats.guards += 1;
        let value = self.regions.as_loop(item).map_or(item, |k| self.forest.loops[k as usize].header);
        let at = self.scratch.len();
        self.push(Stmt::Guard { value, body: List::default() });
        self.open(Owner::Body(at), self.base(), Work::Item(item));
    }
}

/// The followers that emitted code leads to and that are not yet emitted, latest first: a doubly linked list through two dense
/// maps, so that all moves cost O(1).
struct Waiting {
    /// The clock when a way to the item was last emitted.
    time: Vec<u32>,
    /// Neighbours; the place after the last item's is the list's end both ways.
    next: Vec<u32>,
    prev: Vec<u32>,
}

impl Waiting {
    fn new(items: usize) -> Waiting {
        let end = items as u32;
        Waiting { time: vec![0; items + 1], next: vec![end; items + 1], prev: vec![end; items + 1] }
    }

    fn end(&self) -> u32 {
        self.time.len() as u32 - 1
    }

    fn remove(&mut self, item: u32) {
        let (next, prev) = (self.next[item as usize], self.prev[item as usize]);
        self.next[prev as usize] = next;
        self.prev[next as usize] = prev;
        self.time[item as usize] = 0;
    }

    fn add(&mut self, item: u32, time: u32) {
        if self.time[item as usize] != 0 {
            self.remove(item);
        }
        let end = self.end();
        let head = self.next[end as usize];
        self.time[item as usize] = time;
        (self.next[item as usize], self.prev[item as usize]) = (head, end);
        self.next[end as usize] = item;
        self.prev[head as usize] = item;
    }

    /// How many were led to after the clock showed `since`: 0, 1, or 2 for more.
    fn since(&self, since: u32) -> u32 {
        // The end's own time is 0, never later than any `since`.
        let first = self.next[self.end() as usize];
        let second = self.next[first as usize];
        u32::from(self.time[first as usize] > since)
            + u32::from(self.time[first as usize] > since && self.time[second as usize] > since)
    }
}
