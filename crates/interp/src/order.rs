//! Which of several places in a function comes first: what makes invocations that diverged meet again.
//!
//! Blocks are put in an order in which every loop is contiguous and edges lead forward, except those to the entries of
//! a loop around both ends; taking one of these starts the loop's next iteration. Of two invocations the one behind
//! is the one with fewer iterations of the outermost loop where they differ, or else the one at the earlier block.
//! Always letting those behind go first has the effects one expects:
//!
//! * the arms of a branch meet at the first block that both can reach;
//! * a lane that leaves a loop waits until no lane is in it any more;
//! * a lane that begins the next iteration waits until no lane is in this one any more.
//!
//! A loop is a strongly connected component; its entries are the blocks reached from outside, one in a reducible graph.
//! The loops inside it are the components that remain without the edges to its entries.

use crate::code::FuncCode;
use crate::exec::Frame;
use std::cmp::Ordering;
use xenoglot_ir::Block;
use xenoglot_ir::entity::{EntityRef, PrimaryMap};

/// Loops within each other that are taken apart. Deeper inside every edge starts an iteration, so that invocations
/// there meet only after equally many steps; this bounds the cost to this many walks over the function.
const MAX_DEPTH: u32 = 64;

/// The outermost scope: what is in no loop.
const ROOT: u32 = 0;

#[derive(Clone, Copy, Debug)]
struct Loop {
    parent: u32,
    depth: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    position: u32,
    /// The innermost loop around it.
    scope: u32,
    /// Whether it is an entry of that loop.
    entry: bool,
}

/// The order of a function's blocks.
#[derive(Debug)]
pub(crate) struct Order {
    places: PrimaryMap<Block, Place>,
    loops: Vec<Loop>,
}

enum Work {
    Block(Block),
    Scope(u32, Vec<Block>),
}

impl Order {
    /// O((blocks + edges) · loop depth, at most [`MAX_DEPTH`]).
    pub(crate) fn new(func: &FuncCode) -> Order {
        let mut places: PrimaryMap<Block, Place> = PrimaryMap::with_capacity(func.blocks.len());
        places.extend(func.blocks.keys().map(|_| Place::default()));
        let mut order = Order { places, loops: vec![Loop { parent: ROOT, depth: 0 }] };
        let mut search = Search::new(func);
        let mut next = 0;
        let mut work = vec![Work::Scope(ROOT, search.reachable(func))];
        while let Some(item) = work.pop() {
            match item {
                Work::Block(block) => {
                    order.places[block].position = next;
                    next += 1;
                }
                Work::Scope(scope, members) => order.scope(func, scope, &members, &mut search, &mut work),
            }
        }
        order
    }

    /// Whether the edge stays in `scope` and is not one that starts its next iteration.
    fn inside(&self, scope: u32, to: Block) -> bool {
        self.places[to].scope == scope && !(scope != ROOT && self.places[to].entry)
    }

    /// Puts what is directly in `scope` on the stack, the first on top.
    fn scope(
        &mut self,
        func: &FuncCode,
        scope: u32,
        members: &[Block],
        search: &mut Search,
        work: &mut Vec<Work>,
    ) {
        // Components come out last first, which is how the stack wants them.
        for component in search.components(func, members, |to| self.inside(scope, to)) {
            let alone = component.len() == 1
                && !func.targets(component[0]).any(|to| to == component[0] && self.inside(scope, to));
            if alone {
                work.push(Work::Block(component[0]));
                continue;
            }
            let id = self.loops.len() as u32;
            let depth = self.loops[scope as usize].depth + 1;
            self.loops.push(Loop { parent: scope, depth });
            for &block in &component {
                self.places[block].scope = id;
                self.places[block].entry = depth >= MAX_DEPTH || block == func.entry;
            }
            work.push(Work::Scope(id, component));
        }
        // An edge that goes one scope down enters the loop there.
        for &from in members {
            for to in func.targets(from) {
                let place = self.places[to];
                let enters = place.scope != scope
                    && place.scope != self.places[from].scope
                    && self.loops[place.scope as usize].parent == scope;
                if enters {
                    self.places[to].entry = true;
                }
            }
        }
    }

    fn depth(&self, scope: u32) -> usize {
        self.loops[scope as usize].depth as usize
    }

    /// The innermost loop around both.
    fn common(&self, mut a: u32, mut b: u32) -> u32 {
        while a != b {
            // Of two different loops the deeper one cannot be around both.
            if self.depth(a) >= self.depth(b) {
                a = self.loops[a as usize].parent;
            } else {
                b = self.loops[b as usize].parent;
            }
        }
        a
    }

    /// The iterations at the function's start.
    pub(crate) fn start(&self, entry: Block) -> Vec<u64> {
        vec![0; self.depth(self.places[entry].scope)]
    }

    /// Counts iterations along an edge.
    pub(crate) fn follow(&self, iterations: &mut Vec<u64>, from: Block, to: Block) {
        let (from, to) = (self.places[from], self.places[to]);
        let common = self.common(from.scope, to.scope);
        iterations.truncate(self.depth(common));
        if let (true, Some(last)) = (common == to.scope && to.entry, iterations.last_mut()) {
            *last += 1;
        }
        iterations.resize(self.depth(to.scope), 0);
    }

    /// Which of two invocations in this function is behind (`Less`: the first).
    pub(crate) fn compare(&self, a: &Frame, b: &Frame) -> Ordering {
        let (pa, pb) = (self.places[a.block], self.places[b.block]);
        let depth = self.depth(self.common(pa.scope, pb.scope));
        let iterations = a.iterations.iter().take(depth).cmp(b.iterations.iter().take(depth));
        iterations.then(pa.position.cmp(&pb.position)).then(a.pc.cmp(&b.pc))
    }
}

/// Buffers of Tarjan's algorithm (1972) with an explicit stack.
struct Search {
    /// Number of the visit, 0 before it, [`DONE`] once the component is known.
    index: PrimaryMap<Block, u32>,
    low: PrimaryMap<Block, u32>,
    /// Blocks in progress with the number of their next edge.
    path: Vec<(Block, u32)>,
    open: Vec<Block>,
}

const DONE: u32 = u32::MAX;

impl Search {
    fn new(func: &FuncCode) -> Search {
        let zeros = || {
            let mut map = PrimaryMap::with_capacity(func.blocks.len());
            map.extend(func.blocks.keys().map(|_| 0u32));
            map
        };
        Search { index: zeros(), low: zeros(), path: Vec::new(), open: Vec::new() }
    }

    fn reachable(&mut self, func: &FuncCode) -> Vec<Block> {
        let mut seen = vec![false; func.blocks.len()];
        seen[func.entry.index()] = true;
        let mut blocks = vec![func.entry];
        let mut at = 0;
        while let Some(&block) = blocks.get(at) {
            at += 1;
            for to in func.targets(block) {
                if !std::mem::replace(&mut seen[to.index()], true) {
                    blocks.push(to);
                }
            }
        }
        blocks
    }

    /// The strongly connected components of `members`, each after those it leads to.
    fn components(
        &mut self,
        func: &FuncCode,
        members: &[Block],
        inside: impl Fn(Block) -> bool,
    ) -> Vec<Vec<Block>> {
        for &block in members {
            self.index[block] = 0;
        }
        let mut found = Vec::new();
        let mut visits = 0;
        for &root in members {
            if self.index[root] == 0 {
                self.open(root, &mut visits);
            }
            while let Some(&(block, edge)) = self.path.last() {
                if let Some(to) = func.targets(block).nth(edge as usize) {
                    self.path.last_mut().into_iter().for_each(|top| top.1 += 1);
                    if !inside(to) || self.index[to] == DONE {
                        continue;
                    }
                    if self.index[to] == 0 {
                        self.open(to, &mut visits);
                    } else {
                        self.low[block] = self.low[block].min(self.index[to]);
                    }
                    continue;
                }
                self.path.pop();
                if let Some(&(before, _)) = self.path.last() {
                    self.low[before] = self.low[before].min(self.low[block]);
                }
                if self.low[block] == self.index[block] {
                    let start = self.open.iter().rposition(|&b| b == block).unwrap_or(0);
                    let component: Vec<Block> = self.open.drain(start..).collect();
                    for &b in &component {
                        self.index[b] = DONE;
                    }
                    found.push(component);
                }
            }
        }
        found
    }

    fn open(&mut self, block: Block, visits: &mut u32) {
        *visits += 1;
        self.index[block] = *visits;
        self.low[block] = *visits;
        self.path.push((block, 0));
        self.open.push(block);
    }
}
