//! Control flow: edges that are never taken and blocks that do nothing go, straight lines become one block.
//!
//! ```text
//! block0(v0 : bool):                   block0(v0 : bool):
//!   branch v0, block1, block2            v1 : f32 = const 1.0
//! block1:                                v2 : f32 = const 2.0
//!   jump block3(v1)              =>      v4 : f32 = select v0, v1, v2
//! block2:                                output %o, v4
//!   jump block3(v2)                      return
//! block3(v3 : f32):
//!   output %o, v3
//!   return
//! ```
//!
//! In this order: branches and switches on constants and between equal edges become jumps; edges to blocks that
//! only jump on go where those go; a branch whose edges then differ in a few arguments alone becomes `select`s,
//! which cost nothing as both values exist; unreachable blocks go; a block joins the one it is the only way from.
//!
//! What invocations of a subgroup do together depends on which of them are in a loop together. Where there are ops of
//! subgroups a constant branch stays if it is what holds its block in a loop, so that what stands before a `break` is not
//! done after the loop.

use crate::session::{Done, Keeps, Known, Work};
use crate::{Changed, edit};
use smallvec::{SmallVec, smallvec};
use xenoglot_ir::analysis::Cfg;
use xenoglot_ir::analysis::loops::Loops;
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::{Block, Flags, Function, Imm, Op, TermKind, Value, ValueDef};

/// Most arguments a branch may choose between to become `select`s.
const MAX_SELECTS: usize = 4;
/// Most empty blocks an edge is led over; the rest waits for the next run.
const MAX_HOPS: usize = 8;

#[derive(Default)]
pub(crate) struct Buffers {
    /// By block: whether it only jumps on, and its parameters are used for that alone.
    passes_on: SecondaryMap<Block, bool>,
    /// Uses of the parameters of empty blocks in other blocks.
    args: Vec<Value>,
    /// By block: whether it was joined to another.
    merged: SecondaryMap<Block, bool>,
    /// Blocks that select arguments where they branched.
    selecting: Vec<Block>,
}

/// State of a run besides the function.
struct State<'a> {
    /// Where there are ops of subgroups.
    loops: Option<&'a Loops>,
    selecting: &'a mut Vec<Block>,
    /// Whether something lost its last use.
    loose: bool,
    /// Whether another run might find more.
    more: bool,
}

/// Simplifies control flow; one run finds what the order above can.
pub fn run(w: &mut Work<'_>) -> Done {
    if w.known.folded {
        return w.finish();
    }
    let mut b = std::mem::take(&mut w.buffers.branch_fold);
    let mut selecting = std::mem::take(&mut b.selecting);
    selecting.clear();
    let mut changed = Changed::NONE;
    let f = &mut *w.f;
    let Known { analyses, rare, .. } = &mut *w.known;
    analyses.ensure_cfg(f);
    let together = rare.has_subgroup();
    if together {
        analyses.ensure_loops(f);
    }
    let all_reached = analyses.cfg().rpo().len() == f.layout.len();
    let loops = together.then(|| analyses.loops());
    let mut state = State { loops, selecting: &mut selecting, loose: !all_reached, more: together };
    for i in 0..f.layout.len() {
        changed = changed.or(fold_term(f, f.layout[i], &mut state));
    }
    if b.find_empty(f, &mut state) {
        for i in 0..f.layout.len() {
            let block = f.layout[i];
            if b.thread(f, block, &mut state) {
                changed = Changed::ALL;
                let folded = fold_term(f, block, &mut state).any();
                // Edges could now be led past this one.
                state.more |= folded && f.blocks[block].insts.is_empty();
            }
        }
    }
    let State { mut loose, mut more, .. } = state;
    // Whether anything lost its last use is known at the end only.
    w.change(changed, Keeps::USES);
    let f = &mut *w.f;
    w.known.analyses.ensure_cfg(f);
    let cfg = w.known.analyses.cfg();
    // What empty blocks passed on their predecessors pass on now.
    let loses = |&block: &Block| !cfg.is_reachable(block) && !b.passes_on[block];
    loose |= cfg.rpo().len() != f.layout.len() && f.layout.iter().any(loses);
    // A condition is needed; as an operand it is if the argument is, perhaps for nothing but the condition.
    loose |= may_repeat(f, cfg, &selecting);
    b.selecting = selecting;
    if edit::remove_unreachable(f, cfg) {
        // The graph's analyses are of the other blocks only.
        w.change(Changed::ALL, Keeps { graph: true, ..Keeps::USES });
    }
    b.merge(w, &mut more);
    w.buffers.branch_fold = b;
    w.known.all_used &= !loose;
    w.known.folded = !more;
    w.finish()
}

/// Constant conditions, equal edges, negated conditions and selects.
fn fold_term(f: &mut Function, block: Block, state: &mut State) -> Changed {
    match f.term(block).kind {
        TermKind::Branch => fold_branch(f, block, state),
        TermKind::Switch => fold_switch(f, block, state),
        _ => Changed::NONE,
    }
}

/// Whether a block would leave a loop if it went on by edge `n` alone. The loops may be those of before: edges were only
/// led past empty blocks since.
fn leaves_loop(f: &Function, block: Block, n: usize, loops: &Loops) -> bool {
    let edges = f.edges(block);
    let mut around = loops.innermost(block);
    while let Some(l) = around {
        let inside = |e: usize| loops.contains(l, edges[e].block);
        if !inside(n) && (0..edges.len()).any(inside) {
            return true;
        }
        around = loops.loops()[l].parent.expand();
    }
    false
}

fn fold_branch(f: &mut Function, block: Block, state: &mut State) -> Changed {
    let (&[cond], [yes, no]) = (f.term_args(block), f.edges(block)) else { return Changed::NONE };
    if let Some(bits) = f.const_bits(cond) {
        let taken = usize::from(bits.lane(0) == 0);
        if state.loops.is_some_and(|loops| leaves_loop(f, block, taken, loops)) {
            return Changed::NONE;
        }
        keep_edge(f, block, taken);
        state.loose = true;
        return Changed::ALL;
    }
    if yes.block == no.block {
        return select_args(f, block, cond, state);
    }
    let negated =
        f.def_inst(cond).filter(|&i| f.insts[i].op == Op::Not).and_then(|i| f.args(i).first().copied());
    if let Some(x) = negated {
        let Function { blocks, pool, .. } = f;
        let term = &mut blocks[block].term;
        term.args.as_mut_slice(pool)[0] = x;
        term.edges.swap(0, 1);
        (state.loose, state.more) = (true, true);
        return Changed::ALL;
    }
    Changed::NONE
}

/// Whether a way from one of the blocks may come back to it: it then goes by an edge back over its place in the order.
fn may_repeat(f: &Function, cfg: &Cfg, blocks: &[Block]) -> bool {
    if blocks.is_empty() {
        return false;
    }
    // By place: the last one that an edge goes back from, to there or before.
    let mut back: SmallVec<[u32; 64]> = smallvec![0; cfg.rpo().len()];
    for (from, &block) in (0..).zip(cfg.rpo()) {
        for to in f.edges(block).iter().filter_map(|edge| cfg.rpo_number(edge.block)).filter(|&to| to <= from)
        {
            back[to as usize] = from + 1;
        }
    }
    let mut furthest = 0;
    back.iter_mut().for_each(|from| {
        furthest = furthest.max(*from);
        *from = furthest;
    });
    blocks.iter().filter_map(|&block| cfg.rpo_number(block)).any(|at| back[at as usize] > at)
}

/// A branch with both edges to one block: a jump with selected arguments, if they are few.
fn select_args(f: &mut Function, block: Block, cond: Value, state: &mut State) -> Changed {
    let [yes, no] = f.edges(block) else { return Changed::NONE };
    let pairs: SmallVec<[(Value, Value); 8]> =
        f.edge_args(yes).iter().copied().zip(f.edge_args(no).iter().copied()).collect();
    let differ = pairs.iter().filter(|(a, b)| a != b);
    if differ.clone().count() > MAX_SELECTS || differ.clone().any(|&(a, _)| f.ty(a).kind().is_handle()) {
        return Changed::NONE;
    }
    match differ.clone().count() {
        0 => state.loose = true,
        _ => state.selecting.push(block),
    }
    let (to, guest) = (yes.block, f.term(block).guest);
    let mut args: SmallVec<[Value; 8]> = SmallVec::new();
    for (a, b) in pairs {
        if a == b {
            args.push(a);
            continue;
        }
        let ty = f.ty(a);
        let inst = f.make_inst(Op::Select, Flags::NONE, Imm::None, &[cond, a, b], &[ty], guest);
        f.blocks[block].insts.push(inst);
        args.extend(f.result(inst));
    }
    f.set_jump(block, to, &args, guest);
    Changed::ALL
}

/// Keeps only edge `n` of a block.
fn keep_edge(f: &mut Function, block: Block, n: usize) {
    let term = &mut f.blocks[block].term;
    let edge = term.edges.swap_remove(n);
    let guest = term.guest;
    f.set_term(block, TermKind::Jump, &[], smallvec![edge], Vec::new(), guest);
}

fn fold_switch(f: &mut Function, block: Block, state: &mut State) -> Changed {
    let (&[v], term) = (f.term_args(block), f.term(block)) else { return Changed::NONE };
    let default = term.cases.len();
    if term.edges.len() != default + 1 {
        return Changed::NONE;
    }
    if let Some(bits) = f.const_bits(v) {
        let taken = term.cases.iter().position(|&c| c == bits.lane(0)).unwrap_or(default);
        if state.loops.is_some_and(|loops| leaves_loop(f, block, taken, loops)) {
            return Changed::NONE;
        }
        keep_edge(f, block, taken);
        state.loose = true;
        return Changed::ALL;
    }
    // Cases that do what the default does.
    let same = |i: usize| {
        let (a, b) = (&term.edges[i], &term.edges[default]);
        a.block == b.block && f.edge_args(a) == f.edge_args(b)
    };
    let keep: SmallVec<[bool; 16]> = (0..default).map(|i| !same(i)).collect();
    if keep.iter().all(|&k| k) {
        return Changed::NONE;
    }
    let term = &mut f.blocks[block].term;
    let mut i = 0;
    term.cases.retain(|_| {
        i += 1;
        keep[i - 1]
    });
    i = 0;
    term.edges.retain(|_| {
        i += 1;
        i > default || keep[i - 1]
    });
    if term.cases.is_empty() {
        keep_edge(f, block, 0);
        state.loose = true;
    }
    Changed::ALL
}

impl Buffers {
    /// Finds the blocks that only jump on; whether there are any.
    fn find_empty(&mut self, f: &Function, state: &mut State) -> bool {
        self.passes_on.clear();
        let (mut any, mut with_params) = (false, false);
        for &b in f.layout.iter().skip(1) {
            let term = f.term(b);
            if f.blocks[b].insts.is_empty() && term.kind == TermKind::Jump && term.edges[0].block != b {
                self.passes_on[b] = true;
                any = true;
                with_params |= !f.params(b).is_empty();
            }
        }
        if with_params {
            // A parameter that others use has to be defined where it is.
            for &b in &f.layout {
                let passes_on = &mut self.passes_on;
                f.for_each_use(b, |v| match f.values[v].def {
                    ValueDef::Param(home, _) if home != b && passes_on[home] => {
                        passes_on[home] = false;
                        // The other block may go.
                        state.more = true;
                    }
                    _ => {}
                });
            }
        }
        any
    }

    /// Leads the edges of `block` past empty blocks.
    fn thread(&mut self, f: &mut Function, block: Block, state: &mut State) -> bool {
        let mut any = false;
        for e in 0..f.edges(block).len() {
            for hop in 1..=MAX_HOPS {
                let over = f.edges(block)[e].block;
                let next = match f.edges(over) {
                    [edge] if self.passes_on[over] && over != block => edge,
                    _ => break,
                };
                let to = next.block;
                self.args.clear();
                let given = f.edge_args(&f.edges(block)[e]);
                let through = |v: Value| match f.values[v].def {
                    ValueDef::Param(home, n) if home == over => {
                        given.get(usize::from(n)).copied().unwrap_or(v)
                    }
                    _ => v,
                };
                self.args.extend(f.edge_args(next).iter().map(|&v| through(v)));
                f.blocks[block].term.edges[e] = f.make_edge(to, &self.args);
                any = true;
                state.more |= hop == MAX_HOPS;
            }
        }
        any
    }

    /// Joins each block to the one it is the only way from.
    fn merge(&mut self, w: &mut Work<'_>, more: &mut bool) {
        let f = &mut *w.f;
        let Known { analyses, replaced, .. } = &mut *w.known;
        analyses.ensure_cfg(f);
        replaced.reset(f);
        self.merged.clear();
        let cfg = analyses.cfg();
        let mut any = false;
        for &block in cfg.rpo() {
            while let (TermKind::Jump, [edge]) = (f.term(block).kind, f.edges(block)) {
                let next = edge.block;
                if next == block || f.entry() == Some(next) || cfg.preds(next).len() != 1 {
                    break;
                }
                edit::join(f, block, next, replaced);
                self.merged[next] = true;
                any = true;
            }
        }
        if !any {
            return;
        }
        // Conditions and arguments may have become constants or equal.
        *more |= !replaced.is_empty();
        replaced.apply(f);
        f.layout.retain(|&b| !self.merged[b]);
        w.change(Changed::ALL, Keeps::USES);
    }
}
