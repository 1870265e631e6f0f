//! The loop forest, found from the outside in, and the entries of its loops made single.
//!
//! At each level the strongly connected components of a loop's members, with the edges to its header left out, are the loops
//! directly inside it. A component that control enters at several nodes gets an added *dispatch* node as its header: every edge
//! to one of the entries is led there instead and notes in [`Forest::route`] which entry it meant; the dispatch node has an edge
//! to each entry. No block is duplicated, and afterwards every loop has one entry.
//!
//! ```text
//! 0 → 1, 2   1 → 2   2 → 1, 3      =>      0 → d(1), d(2)   1 → d(2)   2 → d(1), 3   d → 1, 2
//! ```
//!
//! Below [`Forest::build`]'s depth bound a component is not taken apart further: the targets of the retreating edges of a
//! depth-first search become entries too, which leaves its inside free of cycles. So no input nests loops without bound.

use xenoglot_ir::Block;

use crate::exits::Exit;
use crate::graph::Graph;

/// No node, loop, edge or item.
pub(crate) const NONE: u32 = u32::MAX;

/// The root of the forest: what is in no loop.
pub(crate) const ROOT: u32 = 0;

/// A loop, or the root.
pub(crate) struct Loop {
    /// Its only entry; for the root, where execution starts.
    pub(crate) header: u32,
    /// The loop around it; [`NONE`] for the root.
    pub(crate) parent: u32,
    /// Loops around it: 0 for the root.
    pub(crate) depth: u32,
    /// The loops inside it, itself included, are numbered `first_inside..end_inside` in this order.
    first_inside: u32,
    end_inside: u32,
}

/// A pin: `node` is to be executed inside the innermost loop that contains `with`.
pub(crate) type PinOf = (Block, Block);

/// The graph with single-entry loops. Nodes from `blocks` on are dispatch nodes.
pub(crate) struct Forest {
    /// How many nodes are blocks.
    pub(crate) blocks: u32,
    /// First out edge of each node, and one past the last node's.
    pub(crate) first: Vec<u32>,
    /// Where each edge leads.
    pub(crate) dest: Vec<u32>,
    /// Which entry an edge to a dispatch node means; [`NONE`] for other edges.
    pub(crate) route: Vec<u32>,
    /// The entry the start of execution means if the header of the root is a dispatch node.
    pub(crate) start_route: u32,
    /// The innermost loop of each node; [`NONE`] if unreachable.
    pub(crate) scope: Vec<u32>,
    /// Loops; parents before children.
    pub(crate) loops: Vec<Loop>,
    /// Entries behind dispatch nodes.
    pub(crate) routes: u32,
    /// Pins whose node is in its loop.
    pub(crate) pinned: u32,
    /// Reachable blocks.
    pub(crate) reachable: u32,
}

impl Forest {
    /// Finds the loops of the reachable part of `graph`, nested at most `max_depth` (≥ 1) deep.
    /// O((nodes + edges) · depth of the forest).
    pub(crate) fn build(
        graph: &Graph,
        pins: &[PinOf],
        exits: &[Exit],
        max_depth: u32,
        steps: &mut u64,
    ) -> Forest {
        let nodes = graph.block_count();
        let reachable = graph.reachable();
        let first = graph.blocks().map(|n| graph.first_edge(n)).chain([graph.edge_count() as u32]).collect();
        let mut builder = Builder {
            forest: Forest {
                blocks: nodes as u32,
                first,
                dest: graph.targets().iter().map(|t| t.as_u32()).collect(),
                route: vec![NONE; graph.edge_count()],
                start_route: NONE,
                scope: reachable.iter().map(|&r| if r { ROOT } else { NONE }).collect(),
                loops: vec![Loop {
                    header: graph.entry().as_u32(),
                    parent: NONE,
                    depth: 0,
                    first_inside: 0,
                    end_inside: 0,
                }],
                routes: 0,
                pinned: 0,
                reachable: reachable.iter().filter(|&&r| r).count() as u32,
            },
            max_depth,
            pins: Pins::new(graph, pins, exits, &reachable),
            index: vec![0; nodes],
            low: vec![0; nodes],
            entry_of: vec![NONE; nodes],
            path: Vec::with_capacity(nodes),
            on_path: vec![false; nodes],
            stack: Vec::with_capacity(nodes),
            retreats: Vec::new(),
            steps: 0,
        };
        let all: Vec<u32> = (0..nodes as u32).filter(|&n| reachable[n as usize]).collect();
        let mut work = vec![(ROOT, Component { members: all, entries: Vec::new(), retreats: Vec::new() })];
        while let Some((scope, component)) = work.pop() {
            builder.level(scope, &component, &mut work);
        }
        *steps += builder.steps;
        let mut forest = builder.forest;
        forest.number_loops();
        forest.pinned = pins.iter().filter(|&&pin| forest.honours(pin)).count() as u32;
        forest
    }

    /// Nodes, dispatch nodes included.
    pub(crate) fn node_count(&self) -> u32 {
        self.scope.len() as u32
    }

    /// The out edges of a node.
    pub(crate) fn out(&self, node: u32) -> std::ops::Range<usize> {
        self.first[node as usize] as usize..self.first[node as usize + 1] as usize
    }

    /// Whether loop `inner` is `outer` or inside it.
    pub(crate) fn contains(&self, outer: u32, inner: u32) -> bool {
        let outer = &self.loops[outer as usize];
        (outer.first_inside..outer.end_inside).contains(&self.loops[inner as usize].first_inside)
    }

    fn honours(&self, (node, with): PinOf) -> bool {
        let scope =
            |n: Block| self.scope[..self.blocks as usize].get(n.as_u32() as usize).filter(|&&k| k != NONE);
        matches!((scope(with), scope(node)), (Some(&outer), Some(&inner)) if self.contains(outer, inner))
    }

    fn number_loops(&mut self) {
        let mut size = vec![1u32; self.loops.len()];
        for k in (1..self.loops.len()).rev() {
            size[self.loops[k].parent as usize] += size[k];
        }
        let mut next = vec![0u32; self.loops.len()];
        for k in 0..self.loops.len() {
            let start = match self.loops[k].parent {
                NONE => 0,
                parent => {
                    let slot = &mut next[parent as usize];
                    *slot += size[k];
                    *slot - size[k]
                }
            };
            self.loops[k].first_inside = start;
            self.loops[k].end_inside = start + size[k];
            next[k] = start + 1;
        }
    }
}

/// The pins by node, and for each pinned node how many in edges it has and how many were seen to come from its loop.
struct Pins {
    with: Vec<u32>,
    /// Where the node leads, if it stays in its loop only where the loop leads there, too; [`NONE`] if it stays in any case.
    beside: Vec<u32>,
    /// The loop that was last seen to lead to a node outside it.
    left_for: Vec<u32>,
    /// The loop that was last seen to have a short exit that leads to a node.
    left_by: Vec<u32>,
    in_edges: Vec<u32>,
    from_loop: Vec<u32>,
}

impl Pins {
    fn new(graph: &Graph, pins: &[PinOf], exits: &[Exit], reachable: &[bool]) -> Option<Pins> {
        if pins.is_empty() && exits.is_empty() {
            return None;
        }
        let nodes = graph.block_count();
        let mut p = Pins {
            with: vec![NONE; nodes],
            beside: vec![NONE; nodes],
            left_for: vec![NONE; nodes],
            left_by: vec![NONE; nodes],
            in_edges: vec![0; nodes],
            from_loop: vec![0; nodes],
        };
        for exit in exits {
            let node = exit.block.as_u32() as usize;
            if reachable[exit.from.as_u32() as usize] {
                p.with[node] = exit.from.as_u32();
                p.beside[node] = exit.to.as_u32();
            }
        }
        for &(node, with) in pins {
            if let (Some(slot), Some(true)) =
                (p.with.get_mut(node.as_u32() as usize), reachable.get(with.as_u32() as usize))
            {
                *slot = with.as_u32();
                p.beside[node.as_u32() as usize] = NONE;
            }
        }
        // The start of execution is a way to the entry.
        p.in_edges[graph.entry().as_u32() as usize] = 1;
        for node in graph.blocks().filter(|n| reachable[n.as_u32() as usize]) {
            for target in graph.successors(node) {
                p.in_edges[target.as_u32() as usize] += 1;
            }
        }
        Some(p)
    }

    /// Notes that loop `k` leads to a node.
    fn leave(&mut self, k: u32, node: u32) {
        let node = node as usize;
        // Dispatch nodes are no blocks.
        if self.left_for.get(node).is_none_or(|&seen| seen == k) {
            return;
        }
        self.left_for[node] = k;
        if self.beside[node] != NONE {
            let to = self.beside[node] as usize;
            // Two short exits lead there: if both stay, the loop has one exit in place of two.
            if self.left_by[to] == k {
                self.left_for[to] = k;
            }
            self.left_by[to] = k;
        }
    }
}

/// A component found at the level at work.
struct Component {
    members: Vec<u32>,
    entries: Vec<u32>,
    /// Retreating edges between members but those to the header, as node and edge: each cycle has one of them.
    retreats: Vec<(u32, u32)>,
}

struct Builder {
    forest: Forest,
    max_depth: u32,
    pins: Option<Pins>,
    /// Order of discovery from 1; 0 before discovery, `u32::MAX` once the node's component is complete.
    index: Vec<u32>,
    low: Vec<u32>,
    /// The loop a node was last found to be an entry of.
    entry_of: Vec<u32>,
    path: Vec<(u32, u32)>,
    on_path: Vec<bool>,
    stack: Vec<u32>,
    /// Retreating edges of the search through all, as node and edge.
    retreats: Vec<(u32, u32)>,
    steps: u64,
}

impl Builder {
    /// Finds the loops directly inside `scope`, makes their entries single and queues them.
    fn level(&mut self, scope: u32, outer: &Component, work: &mut Vec<(u32, Component)>) {
        let (first_inner, nodes) = (self.forest.loops.len() as u32, self.forest.node_count());
        let members = &outer.members[..];
        let mut found = self.components(scope, members);
        if found.is_empty() {
            return;
        }
        self.entries(scope, members, first_inner, &mut found);
        let flatten = self.forest.loops[first_inner as usize].depth == self.max_depth;
        for (k, component) in (first_inner..).zip(&mut found) {
            if flatten {
                self.cut_cycles(k, component);
            }
            component.entries.sort_unstable();
            self.forest.loops[k as usize].header = match component.entries[..] {
                [only] => only,
                _ => self.dispatch(k, component),
            };
        }
        if self.forest.node_count() > nodes {
            self.redirect(scope, members, first_inner);
        }
        self.join_pins(scope, first_inner, &mut found);
        if flatten {
            return;
        }
        let retreats = std::mem::take(&mut self.retreats);
        for &(node, edge) in if scope == ROOT { &retreats } else { &outer.retreats } {
            let (k, to) = (self.forest.scope[node as usize], self.forest.dest[edge as usize]);
            if k >= first_inner
                && self.forest.scope[to as usize] == k
                && self.forest.loops[k as usize].header != to
            {
                found[(k - first_inner) as usize].retreats.push((node, edge));
            }
        }
        // Without these there is no loop inside.
        work.extend((first_inner..).zip(found).filter(|(_, c)| !c.retreats.is_empty()));
    }

    /// Tarjan's algorithm on the members of `scope`; each component with a cycle becomes a loop.
    fn components(&mut self, scope: u32, members: &[u32]) -> Vec<Component> {
        let skip = if scope == ROOT { NONE } else { self.forest.loops[scope as usize].header };
        let mut found = Vec::new();
        let mut clock = 0;
        for &root in members {
            if self.index[root as usize] != 0 || self.forest.scope[root as usize] != scope {
                continue;
            }
            let (mut node, mut cursor) = (root, self.enter(root, &mut clock));
            loop {
                let n = node as usize;
                let end = self.forest.first[n + 1];
                let mut down = NONE;
                while cursor < end {
                    self.steps += 1;
                    let to = self.forest.dest[cursor as usize];
                    cursor += 1;
                    if to == skip || self.forest.scope[to as usize] != scope {
                        continue;
                    }
                    let index = self.index[to as usize];
                    if index == 0 {
                        down = to;
                        break;
                    }
                    self.low[n] = self.low[n].min(index);
                    if scope == ROOT && self.on_path[to as usize] {
                        self.retreats.push((node, cursor - 1));
                    }
                }
                if down != NONE {
                    self.path.push((node, cursor));
                    (node, cursor) = (down, self.enter(down, &mut clock));
                    continue;
                }
                self.on_path[n] = false;
                if self.low[n] == self.index[n] {
                    found.extend(self.component(scope, node, skip));
                }
                let Some(above) = self.path.pop() else { break };
                let low = self.low[n];
                (node, cursor) = above;
                let above = &mut self.low[node as usize];
                *above = low.min(*above);
            }
        }
        found
    }

    /// Comes to a node; its first edge.
    fn enter(&mut self, node: u32, clock: &mut u32) -> u32 {
        *clock += 1;
        self.index[node as usize] = *clock;
        self.low[node as usize] = *clock;
        self.on_path[node as usize] = true;
        self.stack.push(node);
        self.forest.first[node as usize]
    }

    /// Takes the component of `node` off the stack and makes it a loop if it has a cycle.
    fn component(&mut self, scope: u32, node: u32, skip: u32) -> Option<Component> {
        let alone = self.stack.last() == Some(&node);
        if alone && (node == skip || self.forest.out(node).all(|e| self.forest.dest[e] != node)) {
            self.stack.pop();
            self.index[node as usize] = u32::MAX;
            return None;
        }
        let inner = self.forest.loops.len() as u32;
        let mut members = Vec::new();
        while let Some(member) = self.stack.pop() {
            self.steps += 1;
            self.index[member as usize] = 0;
            self.forest.scope[member as usize] = inner;
            members.push(member);
            if member == node {
                break;
            }
        }
        let depth = self.forest.loops[scope as usize].depth + 1;
        let (header, first_inside, end_inside) = (NONE, 0, 0);
        self.forest.loops.push(Loop { header, parent: scope, depth, first_inside, end_inside });
        Some(Component { members, entries: Vec::new(), retreats: Vec::new() })
    }

    /// Finds where control enters the components. The members of `scope` are all that can: its own header is in none of them.
    fn entries(&mut self, scope: u32, members: &[u32], first_inner: u32, found: &mut [Component]) {
        for &node in members {
            for e in self.forest.out(node) {
                self.steps += 1;
                let to = self.forest.dest[e];
                if self.forest.scope[to as usize] >= first_inner {
                    self.note_entry(self.forest.scope[node as usize], to, first_inner, found);
                }
            }
        }
        if scope == ROOT {
            self.note_entry(NONE, self.forest.loops[ROOT as usize].header, first_inner, found);
        }
    }

    fn note_entry(&mut self, from: u32, to: u32, first_inner: u32, found: &mut [Component]) {
        let k = self.forest.scope[to as usize];
        if k >= first_inner && k != from && self.entry_of[to as usize] != k {
            self.entry_of[to as usize] = k;
            found[(k - first_inner) as usize].entries.push(to);
        }
    }

    /// Makes the targets of retreating edges entries: what remains between the entries has no cycle.
    fn cut_cycles(&mut self, k: u32, component: &mut Component) {
        const ON_PATH: u32 = 1;
        const DONE: u32 = 2;
        for i in 0..component.entries.len() {
            let root = component.entries[i];
            if self.index[root as usize] != 0 {
                continue;
            }
            self.index[root as usize] = ON_PATH;
            self.path.push((root, self.forest.first[root as usize]));
            while let Some(&mut (node, ref mut cursor)) = self.path.last_mut() {
                if *cursor == self.forest.first[node as usize + 1] {
                    self.index[node as usize] = DONE;
                    self.path.pop();
                    continue;
                }
                self.steps += 1;
                let to = self.forest.dest[*cursor as usize];
                *cursor += 1;
                if self.forest.scope[to as usize] != k || self.entry_of[to as usize] == k {
                    continue;
                }
                match self.index[to as usize] {
                    0 => {
                        self.index[to as usize] = ON_PATH;
                        self.path.push((to, self.forest.first[to as usize]));
                    }
                    ON_PATH => {
                        self.entry_of[to as usize] = k;
                        component.entries.push(to);
                    }
                    _ => {}
                }
            }
        }
    }

    /// Adds the dispatch node of loop `k`.
    fn dispatch(&mut self, k: u32, component: &mut Component) -> u32 {
        let node = self.forest.node_count();
        self.forest.dest.extend(&component.entries);
        self.forest.route.resize(self.forest.dest.len(), NONE);
        self.forest.first.push(self.forest.dest.len() as u32);
        self.forest.scope.push(k);
        self.forest.routes += component.entries.len() as u32;
        self.index.push(0);
        self.on_path.push(false);
        self.low.push(0);
        self.entry_of.push(NONE);
        component.members.push(node);
        node
    }

    /// Leads the edges to entries of loops with a dispatch node there.
    fn redirect(&mut self, scope: u32, members: &[u32], first_inner: u32) {
        for &node in members {
            for e in self.forest.out(node) {
                self.steps += 1;
                if let Some(dispatch) = self.dispatch_before(self.forest.dest[e], first_inner) {
                    self.forest.route[e] = self.forest.dest[e];
                    self.forest.dest[e] = dispatch;
                }
            }
        }
        let start = self.forest.loops[ROOT as usize].header;
        if scope == ROOT
            && let Some(dispatch) = self.dispatch_before(start, first_inner)
        {
            self.forest.start_route = start;
            self.forest.loops[ROOT as usize].header = dispatch;
        }
    }

    fn dispatch_before(&self, node: u32, first_inner: u32) -> Option<u32> {
        let k = self.forest.scope[node as usize];
        if k < first_inner || self.entry_of[node as usize] != k {
            return None;
        }
        let header = self.forest.loops[k as usize].header;
        (header >= self.forest.blocks).then_some(header)
    }

    /// Moves pinned nodes all of whose predecessors are in their loop into it. Such a node is on no cycle of this level, so the
    /// loop keeps its single entry and its inside gains no cycle.
    fn join_pins(&mut self, scope: u32, first_inner: u32, found: &mut [Component]) {
        let Some(pins) = &mut self.pins else { return };
        for (k, component) in (first_inner..).zip(found) {
            for &node in &component.members {
                for e in self.forest.out(node) {
                    self.steps += 1;
                    pins.leave(k, self.forest.dest[e]);
                }
            }
            let mut next = 0;
            while let Some(&node) = component.members.get(next) {
                next += 1;
                for e in self.forest.out(node) {
                    self.steps += 1;
                    let to = self.forest.dest[e];
                    let t = to as usize;
                    if to >= self.forest.blocks || self.forest.scope[t] != scope {
                        continue;
                    }
                    let with = pins.with[t];
                    if with == NONE || self.forest.scope[with as usize] != k {
                        continue;
                    }
                    let beside = pins.beside[t];
                    let stays = beside == NONE
                        || pins.left_for[beside as usize] == k && self.forest.scope[beside as usize] != k;
                    if !stays {
                        continue;
                    }
                    pins.from_loop[t] += 1;
                    if pins.from_loop[t] == pins.in_edges[t] {
                        pins.from_loop[t] = 0;
                        self.forest.scope[t] = k;
                        // The component it was alone in is looked for again one level further in.
                        self.index[t] = 0;
                        component.members.push(to);
                    }
                }
            }
        }
    }
}
