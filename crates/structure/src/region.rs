//! The regions between loop boundaries, as acyclic graphs, and their dominator trees.
//!
//! A region is what one loop (or the root) holds directly: its own nodes and each inner loop collapsed to one *item*, whose out
//! edges are the loop's exits. Edges to the region's header repeat it, edges that leave it break; the rest is acyclic, so one
//! sweep in reverse post-order gives dominators.

use crate::forest::{Forest, NONE, ROOT};
use xenoglot_ir::analysis::domtree::DomTree;

/// [`Out::to`] of an edge to the header of the region's loop.
pub(crate) const CONTINUE: u32 = u32::MAX - 1;
/// [`Out::to`] of an edge that leaves the region's loop.
pub(crate) const BREAK: u32 = u32::MAX;

/// A way out of an item.
#[derive(Clone, Copy)]
pub(crate) struct Out {
    /// The item it leads to in the same region, or [`CONTINUE`] or [`BREAK`].
    pub(crate) to: u32,
    /// The node it leads to.
    pub(crate) node: u32,
    /// The block whose edge it is; [`NONE`] for an edge of a dispatch node or an exit of an inner loop.
    pub(crate) from: u32,
    /// Which way out of its item it is, from 0.
    pub(crate) index: u32,
    /// The entry meant by an edge to a dispatch node; [`NONE`] for others. A dispatch node's own edge to another dispatch node
    /// means the same entry there.
    pub(crate) route: u32,
}

impl Out {
    /// Whether it stays in the region.
    pub(crate) fn inside(&self) -> bool {
        self.to < CONTINUE
    }
}

/// What nesting needs to know. Items are numbered: nodes first, then loops.
pub(crate) struct Regions {
    nodes: u32,
    outs: Vec<Out>,
    first_out: Vec<u32>,
    /// The item each region starts with, by loop.
    pub(crate) start: Vec<u32>,
    /// All items, region after region, each in reverse post-order.
    pub(crate) order: Vec<u32>,
    /// The place of an item in `order`.
    pub(crate) place: Vec<u32>,
    /// In edges from inside the region.
    pub(crate) in_edges: Vec<u32>,
    /// Whether an item's dominator subtree has a way to a follow node outside it.
    pub(crate) falls: Vec<bool>,
    /// An estimate of how deep an item's dominator subtree nests.
    pub(crate) height: Vec<u32>,
    /// Levels of nesting that must be left below the place where an item is emitted.
    pub(crate) need: Vec<u32>,
    followers: Vec<u32>,
    first_follower: Vec<u32>,
}

impl Regions {
    /// Prepares all regions.
    pub(crate) fn build(forest: &Forest, steps: &mut u64) -> Regions {
        let nodes = forest.node_count();
        let items = nodes as usize + forest.loops.len();
        let mut regions = Regions {
            nodes,
            outs: Vec::with_capacity(forest.dest.len()),
            first_out: Vec::with_capacity(items + 1),
            start: Vec::with_capacity(forest.loops.len()),
            order: Vec::with_capacity(items),
            place: vec![NONE; items],
            in_edges: vec![0; items],
            falls: vec![false; items],
            height: vec![0; items],
            need: vec![0; items],
            followers: Vec::new(),
            first_follower: Vec::new(),
        };
        regions.collect_outs(forest, steps);
        for k in 0..forest.loops.len() as u32 {
            let header = forest.loops[k as usize].header;
            let start = match forest.scope[header as usize] {
                inner if inner == k => header,
                _ => regions.item(forest, k, header, steps),
            };
            regions.start.push(start);
        }
        let mut dominators = DomTree::new(items);
        let mut ends = Vec::with_capacity(forest.loops.len());
        let [mut above, mut reach] = [0, 1].map(|_| vec![NONE; items]);
        for k in 0..forest.loops.len() {
            let from = regions.order.len();
            regions.sort(regions.start[k], steps);
            regions.dominate(from, &mut dominators, (&mut above, &mut reach), steps);
            ends.push(from..regions.order.len());
        }
        regions.collect_followers(&dominators);
        for k in (0..forest.loops.len()).rev() {
            regions.room(ends[k].clone(), k as u32);
        }
        regions
    }

    /// The ways out of an item.
    pub(crate) fn outs(&self, item: u32) -> std::ops::Range<u32> {
        self.first_out[item as usize]..self.first_out[item as usize + 1]
    }

    /// A way out.
    pub(crate) fn out(&self, out: u32) -> Out {
        self.outs[out as usize]
    }

    /// Whether an item, reached inside its region, stands after its dominator's construct instead of in an arm.
    pub(crate) fn follows(&self, item: u32) -> bool {
        self.in_edges[item as usize] >= 2
    }

    /// The items that follow `item`'s construct, as places in `order`, ascending.
    pub(crate) fn followers(&self, item: u32) -> &[u32] {
        let i = item as usize;
        &self.followers[self.first_follower[i] as usize..self.first_follower[i + 1] as usize]
    }

    /// The loop an item stands for.
    pub(crate) fn as_loop(&self, item: u32) -> Option<u32> {
        item.checked_sub(self.nodes)
    }

    /// The item of the region of loop `k` that `node`, which is in `k`, belongs to.
    fn item(&self, forest: &Forest, k: u32, node: u32, steps: &mut u64) -> u32 {
        let mut inner = forest.scope[node as usize];
        if inner == k {
            return node;
        }
        while forest.loops[inner as usize].parent != k {
            *steps += 1;
            inner = forest.loops[inner as usize].parent;
        }
        self.nodes + inner
    }

    fn resolve(&self, forest: &Forest, k: u32, node: u32, steps: &mut u64) -> u32 {
        if k != ROOT && forest.loops[k as usize].header == node {
            CONTINUE
        } else if !forest.contains(k, forest.scope[node as usize]) {
            BREAK
        } else {
            self.item(forest, k, node, steps)
        }
    }

    fn collect_outs(&mut self, forest: &Forest, steps: &mut u64) {
        let mut exits = Vec::new();
        for node in 0..self.nodes {
            self.first_out.push(self.outs.len() as u32);
            let scope = forest.scope[node as usize];
            if scope == NONE {
                continue;
            }
            let from = if node < forest.blocks { node } else { NONE };
            for (index, e) in (0..).zip(forest.out(node)) {
                *steps += 1;
                let to_node = forest.dest[e];
                let to = self.resolve(forest, scope, to_node, steps);
                self.outs.push(Out { to, node: to_node, from, index, route: forest.route[e] });
                let mut k = scope;
                while !forest.contains(k, forest.scope[to_node as usize]) {
                    *steps += 1;
                    exits.push((k, to_node));
                    k = forest.loops[k as usize].parent;
                }
            }
        }
        exits.sort_unstable();
        exits.dedup();
        let mut exits = exits.into_iter().peekable();
        for k in 0..forest.loops.len() as u32 {
            self.first_out.push(self.outs.len() as u32);
            for index in 0.. {
                let Some((_, node)) = exits.next_if(|&(of, _)| of == k) else { break };
                let to = self.resolve(forest, forest.loops[k as usize].parent, node, steps);
                self.outs.push(Out { to, node, from: NONE, index, route: NONE });
            }
        }
        self.first_out.push(self.outs.len() as u32);
    }

    /// Appends the region that starts with `start` to `order`. Earlier successors come earlier where they can.
    fn sort(&mut self, start: u32, steps: &mut u64) {
        const SEEN: u32 = NONE - 1;
        let from = self.order.len();
        let mut path = Vec::with_capacity(16);
        path.push((start, self.outs(start).end));
        self.place[start as usize] = SEEN;
        while let Some(&mut (item, ref mut cursor)) = path.last_mut() {
            *steps += 1;
            if *cursor == self.first_out[item as usize] {
                self.order.push(item);
                path.pop();
                continue;
            }
            *cursor -= 1;
            let out = self.outs[*cursor as usize];
            if !out.inside() {
                continue;
            }
            self.in_edges[out.to as usize] += 1;
            if self.place[out.to as usize] == NONE {
                self.place[out.to as usize] = SEEN;
                path.push((out.to, self.outs(out.to).end));
            }
        }
        self.order[from..].reverse();
        for at in from..self.order.len() {
            self.place[self.order[at] as usize] = at as u32;
        }
    }

    /// Dominators of the region `order[from..]`, and what follows from them bottom up.
    ///
    /// By place, `above` becomes the nearest common dominator of the predecessors seen so far and `reach` the depth of the
    /// shallowest parent of a follow node that the subtree leads to; both are [`NONE`] before.
    fn dominate(
        &mut self,
        from: usize,
        dominators: &mut DomTree,
        (above, reach): (&mut [u32], &mut [u32]),
        steps: &mut u64,
    ) {
        let region = from..self.order.len();
        for at in region.clone() {
            let item = self.order[at];
            if above[at] != NONE {
                dominators.attach(item, above[at]);
            }
            for o in self.outs(item) {
                *steps += 1;
                let to = self.outs[o as usize].to;
                if to < CONTINUE {
                    let slot = &mut above[self.place[to as usize] as usize];
                    *slot = if *slot == NONE { item } else { dominators.common(*slot, item, steps) };
                }
            }
        }
        for at in region.rev() {
            let item = self.order[at];
            let outs = self.outs(item);
            let selects = u32::from(outs.len() >= 2 || self.as_loop(item).is_some());
            self.height[item as usize] += selects;
            let mut shallowest = reach[at];
            for o in outs {
                *steps += 1;
                let out = self.outs[o as usize];
                if out.inside() && self.follows(out.to) {
                    shallowest = shallowest.min(dominators.depth(dominators.parent(out.to)));
                }
            }
            self.falls[item as usize] = shallowest < dominators.depth(item);
            let up = above[at];
            if up != NONE {
                let slot = &mut reach[self.place[up as usize] as usize];
                *slot = (*slot).min(shallowest);
                self.height[up as usize] = self.height[up as usize].max(self.height[item as usize]);
            }
        }
    }

    fn collect_followers(&mut self, dominators: &DomTree) {
        let items = self.place.len();
        let mut first = vec![0u32; items + 1];
        let follows = |r: &Regions, item: u32| r.in_edges[item as usize] >= 2;
        for &item in &self.order {
            if follows(self, item) {
                first[dominators.parent(item) as usize + 1] += 1;
            }
        }
        for i in 0..items {
            first[i + 1] += first[i];
        }
        let mut next = first.clone();
        self.followers = vec![0; first[items] as usize];
        for (place, &item) in self.order.iter().enumerate() {
            if follows(self, item) {
                let slot = &mut next[dominators.parent(item) as usize];
                self.followers[*slot as usize] = place as u32;
                *slot += 1;
            }
        }
        self.first_follower = first;
    }

    /// Fills in `need` for a region whose inner loops have it already, and for its loop. At worst each item stands behind one
    /// guard at the region's own level.
    fn room(&mut self, region: std::ops::Range<usize>, k: u32) {
        let mut most = 0;
        for at in region {
            let item = self.order[at] as usize;
            if self.as_loop(self.order[at]).is_none() {
                self.need[item] = u32::from(self.outs(self.order[at]).len() >= 2);
            }
            most = most.max(self.need[item]);
        }
        self.need[(self.nodes + k) as usize] = most + 2;
    }
}
