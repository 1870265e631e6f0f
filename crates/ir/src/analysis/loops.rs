//! The loop forest, irreducible loops included.
//!
//! Loops are found by Havlak's method ("Nesting of Reducible and Irreducible Loops", 1997) on the search tree of
//! [`Cfg`]: headers from the innermost out, each collecting what reaches its retreating edges, collected loops
//! standing for their blocks. O(edges * loop depth) in the worst case, nearly linear in practice.

use super::cfg::Cfg;
use crate::entities::Block;
use crate::func::Function;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{PrimaryMap, SecondaryMap, entity_impl};

/// A loop.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Loop(u32);
entity_impl!(Loop, "loop");

/// A loop's facts.
#[derive(Clone, Copy, Debug)]
pub struct LoopData {
    /// The block the search entered the loop by. In a reducible loop it dominates all blocks of the loop.
    pub header: Block,
    /// The loop around this one.
    pub parent: PackedOption<Loop>,
    /// Number of loops around this one, plus one.
    pub depth: u32,
    /// Whether there are entries besides the header.
    pub irreducible: bool,
}

/// The number of a loop, such that those in it are the next ones: whether a loop is in another takes two comparisons,
/// however deep it is.
#[derive(Clone, Copy, Default)]
struct Nesting {
    first: u32,
    /// Loops in it, with itself.
    count: u32,
    /// The number of the next loop in it, while numbers are given.
    next: u32,
}

/// The loop forest of the reachable blocks.
#[derive(Default)]
pub struct Loops {
    loops: PrimaryMap<Loop, LoopData>,
    nesting: SecondaryMap<Loop, Nesting>,
    innermost: SecondaryMap<Block, PackedOption<Loop>>,
    work: Work,
}

/// Buffers, by preorder number of the search.
#[derive(Default)]
struct Work {
    /// Union-find: the header of the outermost loop found so far around a block.
    find: Vec<u32>,
    /// Header of the innermost loop around a block that is not the header itself.
    header: Vec<u32>,
    is_header: Vec<bool>,
    irreducible: Vec<bool>,
    /// The last header that collected this block.
    collected_by: Vec<u32>,
    body: Vec<u32>,
    /// Entries into irreducible loops, chained by header: source, next.
    entries: Vec<(u32, u32)>,
    first_entry: Vec<u32>,
    loop_of: Vec<PackedOption<Loop>>,
}

const NONE: u32 = u32::MAX;

impl Loops {
    /// Analyses `f`, whose graph is `cfg`.
    pub fn compute(&mut self, f: &Function, cfg: &Cfg) {
        self.loops.clear();
        self.innermost.clear();
        self.innermost.resize(f.blocks.len());
        let preorder = cfg.preorder();
        let n = preorder.len();
        let w = &mut self.work;
        w.reset(n);
        for head in (0..n as u32).rev() {
            w.collect(head, cfg);
        }
        // Parents before children: a header comes before its loop's blocks.
        for (at, &block) in preorder.iter().enumerate() {
            let outer = match w.header[at] {
                NONE => None.into(),
                h => w.loop_of[h as usize],
            };
            w.loop_of[at] = if w.is_header[at] {
                let depth = 1 + outer.expand().map_or(0, |l| self.loops[l].depth);
                let irreducible = w.irreducible[at];
                self.loops.push(LoopData { header: block, parent: outer, depth, irreducible }).into()
            } else {
                outer
            };
            self.innermost[block] = w.loop_of[at];
        }
        self.number();
    }

    /// Numbers the loops. Parents come before children, so counts are summed backwards and numbers given forwards.
    fn number(&mut self) {
        let nesting = &mut self.nesting;
        nesting.clear();
        nesting.resize(self.loops.len());
        for (l, data) in self.loops.iter().rev() {
            nesting[l].count += 1;
            if let Some(parent) = data.parent.expand() {
                nesting[parent].count += nesting[l].count;
            }
        }
        let mut next = 0;
        for (l, data) in &self.loops {
            let count = nesting[l].count;
            let next = match data.parent.expand() {
                Some(parent) => &mut nesting[parent].next,
                None => &mut next,
            };
            let first = *next;
            *next += count;
            nesting[l].first = first;
            nesting[l].next = first + 1;
        }
    }

    /// The loops, outer ones before those in them.
    pub fn loops(&self) -> &PrimaryMap<Loop, LoopData> {
        &self.loops
    }

    /// The innermost loop around `block`; a header belongs to its own loop.
    pub fn innermost(&self, block: Block) -> Option<Loop> {
        self.innermost[block].expand()
    }

    /// Number of loops around `block`.
    pub fn depth(&self, block: Block) -> u32 {
        self.innermost(block).map_or(0, |l| self.loops[l].depth)
    }

    /// Whether `block` belongs to `of` or a loop in it.
    pub fn contains(&self, of: Loop, block: Block) -> bool {
        self.innermost(block).is_some_and(|inner| self.is_within(of, inner))
    }

    /// Whether `inner` is `of` or in it.
    pub fn is_within(&self, of: Loop, inner: Loop) -> bool {
        let Nesting { first, count, .. } = self.nesting[of];
        (first..first + count).contains(&self.nesting[inner].first)
    }

    /// Whether every loop is entered by its header only.
    pub fn is_reducible(&self) -> bool {
        self.loops.values().all(|l| !l.irreducible)
    }
}

impl Work {
    fn reset(&mut self, n: usize) {
        self.find.clear();
        self.find.extend(0..n as u32);
        for v in [&mut self.header, &mut self.collected_by, &mut self.first_entry] {
            v.clear();
            v.resize(n, NONE);
        }
        for v in [&mut self.is_header, &mut self.irreducible] {
            v.clear();
            v.resize(n, false);
        }
        self.loop_of.clear();
        self.loop_of.resize(n, None.into());
        self.entries.clear();
    }

    fn find(&mut self, mut x: u32) -> u32 {
        while self.find[x as usize] != x {
            let up = self.find[self.find[x as usize] as usize];
            self.find[x as usize] = up;
            x = up;
        }
        x
    }

    /// Adds `x` to the loop of `head`, unless it is there.
    fn add(&mut self, head: u32, x: u32) {
        if x != head && self.collected_by[x as usize] != head {
            self.collected_by[x as usize] = head;
            self.body.push(x);
        }
    }

    /// Collects the loop of `head`, if it is a header.
    fn collect(&mut self, head: u32, cfg: &Cfg) {
        let block = cfg.preorder()[head as usize];
        let inside = head..=cfg.interval(block).1;
        self.body.clear();
        for p in cfg.preds(block) {
            let p = cfg.interval(p.block).0;
            if inside.contains(&p) {
                self.is_header[head as usize] = true;
                let p = self.find(p);
                self.add(head, p);
            }
        }
        let mut done = 0;
        while let Some(&x) = self.body.get(done) {
            done += 1;
            let from = cfg.preorder()[x as usize];
            let below = x..=cfg.interval(from).1;
            for p in cfg.preds(from) {
                let p = cfg.interval(p.block).0;
                if !below.contains(&p) {
                    self.reach(head, &inside, p);
                }
            }
            let mut entry = self.first_entry[x as usize];
            while entry != NONE {
                let (p, next) = self.entries[entry as usize];
                self.reach(head, &inside, p);
                entry = next;
            }
        }
        for i in 0..self.body.len() {
            let x = self.body[i] as usize;
            self.header[x] = head;
            self.find[x] = head;
        }
    }

    /// The loop of `head` has an edge from `p` to a block that is not `head`.
    fn reach(&mut self, head: u32, inside: &std::ops::RangeInclusive<u32>, p: u32) {
        let p = self.find(p);
        if inside.contains(&p) {
            self.add(head, p);
        } else if self.collected_by[p as usize] != head {
            self.collected_by[p as usize] = head;
            self.irreducible[head as usize] = true;
            self.entries.push((p, self.first_entry[head as usize]));
            self.first_entry[head as usize] = self.entries.len() as u32 - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Analyses;
    use crate::analysis::random::{Rng, random_cfg};

    /// Blocks from which `to` can be reached over at least one edge, within `set`.
    fn reaching(f: &Function, set: &[Block], to: Block) -> Vec<Block> {
        let mut found: Vec<Block> = Vec::new();
        loop {
            let more = set.iter().copied().find(|b| {
                !found.contains(b) && f.edges(*b).iter().any(|e| e.block == to || found.contains(&e.block))
            });
            match more {
                Some(b) => found.push(b),
                None => return found,
            }
        }
    }

    #[test]
    fn loops_are_the_cycles_and_reducible_when_retreating_targets_dominate() {
        let mut rng = Rng::new(5);
        let mut an = Analyses::new();
        let mut irreducible = 0;
        for _ in 0..500 {
            let f = random_cfg(&mut rng);
            an.clear();
            an.ensure_dominators(&f);
            an.ensure_loops(&f);
            let (cfg, dom, loops) = (an.cfg(), an.dominators(), an.loops());
            let reducible = cfg.rpo().iter().all(|&b| {
                f.edges(b).iter().all(|e| !cfg.is_retreating(b, e.block) || dom.dominates(e.block, b))
            });
            assert_eq!(loops.is_reducible(), reducible);
            irreducible += usize::from(!reducible);
            for (l, data) in loops.loops() {
                // A loop is what can get back to its header without leaving what the loop around it holds (less
                // that one's header) and the part of the search below the header.
                let set: Vec<Block> =
                    cfg.rpo().iter().copied().filter(|&b| cfg.is_retreating(b, data.header)).collect();
                let mut want = reaching(&f, &set, data.header);
                let mut got: Vec<Block> =
                    cfg.rpo().iter().copied().filter(|&b| loops.contains(l, b)).collect();
                want.sort();
                got.sort();
                assert_eq!(got, want, "{l}");
                let entered = got
                    .iter()
                    .any(|&b| b != data.header && cfg.preds(b).iter().any(|p| !got.contains(&p.block)));
                assert_eq!(data.irreducible, entered, "{l}");
                assert_eq!(loops.depth(data.header), data.depth);
            }
            for &b in cfg.rpo() {
                let cycle = reaching(&f, cfg.rpo(), b).contains(&b);
                assert_eq!(loops.innermost(b).is_some(), cycle, "{b}");
            }
        }
        assert!(irreducible > 50, "only {irreducible} irreducible graphs");
    }
}
