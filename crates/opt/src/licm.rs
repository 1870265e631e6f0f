//! Loop-invariant code: what computes the same in every iteration is computed once, before the loop.
//!
//! ```text
//! block0(v0 : f32):                    block0(v0 : f32):
//!   jump block1(v0)                      v2 : f32 = fmul v0, v0
//! block1(v1 : f32):                      jump block1(v0)
//!   v2 : f32 = fmul v0, v0       =>    block1(v1 : f32):
//!   v3 : f32 = fadd v1, v2               v3 : f32 = fadd v1, v2
//!   branch v4, block1(v3), block2        branch v4, block1(v3), block2
//! ```
//!
//! Only ops without side effects or traps ([`effects::is_speculatable`]) and never convergent ones, and only from blocks that each
//! round comes to; out of as many loops as possible, up to a limit, irreducible ones excepted. A constant moves only along
//! with what needs it. The block before the loop is the header's only predecessor outside if that only jumps there, else a
//! new one.

use crate::Changed;
use crate::effects::{self, Resources};
use crate::session::{Done, Keeps, Work};
use smallvec::SmallVec;
use xenoglot_ir::analysis::{Analyses, Loop, Loops, Pred};
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::entity::packed_option::PackedOption;
use xenoglot_ir::{Block, Function, Inst, NO_GUEST, Op, TermKind, Value, ValueDef};

#[derive(Default)]
pub(crate) struct Buffers {
    /// The innermost loop each instruction is in now.
    home: SecondaryMap<Inst, PackedOption<Loop>>,
    moved: SecondaryMap<Inst, bool>,
    /// What to move, in order, and before which loop.
    moves: Vec<(Loop, Inst)>,
}

/// Hoists in one sweep over the blocks in reverse post-order.
pub fn run(w: &mut Work<'_>) -> Done {
    let (f, b, analyses) = (&mut *w.f, &mut w.buffers.licm, &mut w.known.analyses);
    analyses.ensure_loops(f);
    if analyses.loops().loops().is_empty() {
        return w.finish();
    }
    analyses.ensure_dominators(f);
    b.find(f, w.resources, analyses);
    let changed = if b.moves.is_empty() { Changed::NONE } else { b.apply(f, analyses) };
    w.done(changed, Keeps::USES)
}

impl Buffers {
    fn find(&mut self, f: &Function, resources: &Resources, analyses: &Analyses) {
        let (cfg, loops) = (analyses.cfg(), analyses.loops());
        self.home.clear();
        self.home.resize(f.insts.len());
        self.moved.clear();
        self.moved.resize(f.insts.len());
        self.moves.clear();
        for &block in cfg.rpo() {
            let inner = loops.innermost(block);
            if inner.is_none() {
                continue;
            }
            let outer = outermost(analyses, block);
            for &inst in &f.blocks[block].insts {
                self.home[inst] = inner.into();
                let Some(outer) = outer else { continue };
                if is_light(f, inst) {
                    continue;
                }
                let Some(target) = self.outermost((f, resources), loops, (block, outer), inst) else {
                    continue;
                };
                for &v in f.args(inst) {
                    if let Some(c) = f.def_inst(v)
                        && self.is_inside(loops, target, c)
                    {
                        self.hoist(loops, target, c);
                    }
                }
                self.hoist(loops, target, inst);
            }
        }
    }

    fn hoist(&mut self, loops: &Loops, target: Loop, inst: Inst) {
        self.moves.push((target, inst));
        self.moved[inst] = true;
        self.home[inst] = loops.loops()[target].parent;
    }

    fn is_inside(&self, loops: &Loops, of: Loop, inst: Inst) -> bool {
        self.home[inst].expand().is_some_and(|home| loops.is_within(of, home))
    }

    /// The outermost loop around `block`, `outer` at most, that `inst` can be moved out of.
    fn outermost(
        &self,
        (f, resources): (&Function, &Resources),
        loops: &Loops,
        (block, outer): (Block, Loop),
        inst: Inst,
    ) -> Option<Loop> {
        let mut best = None;
        let mut at = loops.innermost(block);
        while let Some(l) = at {
            let data = &loops.loops()[l];
            let invariant = |v: Value| match f.values[v].def {
                ValueDef::Param(b, _) => !loops.contains(l, b),
                // What is light can come along, unless it already went elsewhere.
                ValueDef::Inst(i, _) => !self.is_inside(loops, l, i) || is_light(f, i) && !self.moved[i],
            };
            // The header is come to whenever the loop is.
            let always = block == data.header;
            if !f.args(inst).iter().all(|&v| invariant(v))
                || !effects::is_speculatable(f, resources, inst, always)
            {
                break;
            }
            best = Some(l);
            if l == outer {
                break;
            }
            at = data.parent.expand();
        }
        best
    }

    fn apply(&mut self, f: &mut Function, analyses: &Analyses) -> Changed {
        for i in 0..f.layout.len() {
            let block = f.layout[i];
            if analyses.loops().innermost(block).is_some() {
                f.blocks[block].insts.retain(|&inst| !self.moved[inst]);
            }
        }
        // Loop by loop, outer ones first; in a loop the order in which they were found.
        self.moves.sort_by_key(|m| m.0);
        let mut changed = Changed::INSTS;
        let blocks = f.layout.len();
        let mut at = 0;
        while let Some(&(l, _)) = self.moves.get(at) {
            let end = at + self.moves[at..].partition_point(|m| m.0 == l);
            let header = analyses.loops().loops()[l].header;
            let before = preheader(f, analyses, l, header);
            f.blocks[before].insts.extend(self.moves[at..end].iter().map(|m| m.1));
            at = end;
        }
        if f.layout.len() > blocks {
            changed.cfg = true;
            place_preheaders(f, blocks);
        }
        changed
    }
}

/// Moves the preheaders, which are the blocks of the layout from `first` on, before the headers they jump to.
fn place_preheaders(f: &mut Function, first: usize) {
    let new = f.layout.split_off(first);
    let mut before: SecondaryMap<Block, PackedOption<Block>> = SecondaryMap::new();
    for &block in &new {
        before[f.edges(block)[0].block] = block.into();
    }
    let old = std::mem::take(&mut f.layout);
    f.layout = old.into_iter().flat_map(|block| before[block].expand().into_iter().chain([block])).collect();
}

/// How many loops code is moved out of at once. Without a limit, n nested loops would take n² steps.
const MOST: usize = 64;

/// The outermost loop around `block` that anything may be moved out of, from there.
fn outermost(analyses: &Analyses, block: Block) -> Option<Loop> {
    let loops = analyses.loops();
    let around = std::iter::successors(loops.innermost(block), |&l| loops.loops()[l].parent.expand());
    let may_move_out = |l: &Loop| {
        let data = &loops.loops()[*l];
        !data.irreducible && in_each_round(analyses, *l, data.header, block)
    };
    around.take(MOST).take_while(may_move_out).last()
}

/// Whether each round of the loop that goes on to another comes to `block`. Elsewhere, code is better off where it is:
/// most rounds may never need it.
fn in_each_round(analyses: &Analyses, l: Loop, header: Block, block: Block) -> bool {
    let (cfg, loops, dominators) = (analyses.cfg(), analyses.loops(), analyses.dominators());
    let mut latches = cfg.preds(header).iter().filter(|pred| loops.contains(l, pred.block));
    latches.all(|latch| dominators.dominates(block, latch.block))
}

/// Whether `inst` is not worth a register of its own across a loop.
fn is_light(f: &Function, inst: Inst) -> bool {
    matches!(f.insts[inst].op, Op::Const | Op::Undef)
}

/// The block that only leads to the loop; a new one is the last of the layout.
fn preheader(f: &mut Function, analyses: &Analyses, l: Loop, header: Block) -> Block {
    let outside: SmallVec<[Pred; 4]> = analyses
        .cfg()
        .preds(header)
        .iter()
        .copied()
        .filter(|p| !analyses.loops().contains(l, p.block))
        .collect();
    if let &[p] = outside.as_slice()
        && f.term(p.block).kind == TermKind::Jump
    {
        return p.block;
    }
    let new = f.add_block();
    let mut args: SmallVec<[Value; 8]> = SmallVec::new();
    for i in 0..f.params(header).len() {
        let param = f.params(header)[i];
        let v = f.add_param(new, f.ty(param));
        f.values[v].hint = f.values[param].hint;
        args.push(v);
    }
    for p in outside {
        f.blocks[p.block].term.edges[p.edge as usize].block = new;
    }
    f.set_jump(new, header, &args, NO_GUEST);
    new
}
