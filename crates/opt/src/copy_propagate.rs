//! Copies: a value that is always another is replaced by it.
//!
//! That is a block parameter whose argument is the same value on every edge (or the parameter itself), one that
//! gets on every edge what an earlier parameter of its block gets, and the `freeze` of what is not undefined. The
//! parameters are left unused; [`dead_code`](crate::dead_code) removes them.
//!
//! ```text
//! block0(v0 : i32):                    block0(v0 : i32):
//!   jump block1(v0)               =>     jump block1(v0)
//! block1(v1 : i32):                    block1(v1 : i32):
//!   v2 : i32 = iadd v1, v1               v2 : i32 = iadd v0, v0
//!   branch v3, block1(v1), block2        branch v3, block1(v0), block2
//! ```

use crate::session::{Done, Keeps, Known, Work};
use crate::{Changed, edit::Replaced};
use xenoglot_ir::analysis::Cfg;
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::{Block, Function, Op, Value, ValueDef};

#[derive(Default)]
pub(crate) struct Buffers {
    /// The arguments of a block's parameters, edge by edge.
    args: Vec<Value>,
    /// The blocks to look at, by number in reverse post-order.
    stale: Vec<bool>,
    users: Users,
}

/// Replaces copies until there are none.
pub fn run(w: &mut Work<'_>) -> Done {
    let f = &mut *w.f;
    let Known { analyses, replaced, rare, .. } = &mut *w.known;
    analyses.ensure_cfg(f);
    replaced.reset(f);
    let cfg = analyses.cfg();
    let with_freeze = if rare.has_freeze() { cfg.rpo() } else { &[] };
    for &block in with_freeze {
        for i in 0..f.blocks[block].insts.len() {
            let inst = f.blocks[block].insts[i];
            if let (Op::Freeze, &[arg]) = (f.insts[inst].op, f.args(inst))
                && is_defined(f, replaced.resolve(arg))
                && let Some(old) = f.result(inst)
            {
                replaced.set(f, old, arg);
            }
        }
    }
    w.buffers.copy_propagate.all(f, cfg, replaced);
    let changed = !replaced.is_empty();
    replaced.apply(f);
    w.done(Changed::insts_if(changed), Keeps::STALE)
}

/// The blocks that get each parameter as an argument: lists, joined where a parameter takes the place of another.
#[derive(Default)]
struct Users {
    /// First and last link of each parameter's list; links are counted from 1.
    ends: SecondaryMap<Value, [u32; 2]>,
    links: Vec<Link>,
    /// Whether they were found: not before one is asked for.
    known: bool,
}

struct Link {
    /// A block's number in reverse post-order.
    block: u32,
    next: u32,
}

impl Users {
    fn find(&mut self, f: &Function, cfg: &Cfg, replaced: &Replaced) {
        self.known = true;
        self.links.clear();
        self.ends.clear();
        self.ends.resize(f.values.len());
        for (number, &block) in cfg.rpo().iter().enumerate() {
            for pred in cfg.preds(block) {
                for &arg in f.edge_args(&f.edges(pred.block)[pred.edge as usize]) {
                    let arg = replaced.resolve(arg);
                    if matches!(f.values[arg].def, ValueDef::Param(..)) {
                        self.links.push(Link { block: number as u32, next: 0 });
                        let link = self.links.len() as u32;
                        self.append(arg, [link, link]);
                    }
                }
            }
        }
    }

    fn append(&mut self, value: Value, [first, last]: [u32; 2]) {
        let ends = &mut self.ends[value];
        match ends[1].checked_sub(1) {
            Some(end) => self.links[end as usize].next = first,
            None => ends[0] = first,
        }
        ends[1] = last;
    }

    /// `by` takes the place of `old`, whose users are marked in `stale`.
    fn replace(&mut self, old: Value, by: Value, stale: &mut [bool]) {
        let list = std::mem::take(&mut self.ends[old]);
        let mut at = list[0];
        while let Some(link) = at.checked_sub(1).map(|i| &self.links[i as usize]) {
            stale[link.block as usize] = true;
            at = link.next;
        }
        if list[0] != 0 {
            self.append(by, list);
        }
    }
}

impl Buffers {
    /// Replaces parameters of all blocks.
    fn all(&mut self, f: &mut Function, cfg: &Cfg, replaced: &mut Replaced) {
        let blocks = cfg.rpo();
        if blocks.iter().skip(1).all(|&b| f.params(b).is_empty()) {
            return;
        }
        self.users.known = false;
        self.stale.clear();
        self.stale.resize(blocks.len(), true);
        // A replaced parameter can make a copy of one that was looked at before.
        while self.stale.iter().skip(1).any(|&stale| stale) {
            for (number, &block) in blocks.iter().enumerate().skip(1) {
                if std::mem::take(&mut self.stale[number]) {
                    self.params(f, cfg, replaced, block);
                }
            }
        }
    }

    fn replace(&mut self, f: &mut Function, cfg: &Cfg, replaced: &mut Replaced, old: Value, by: Value) {
        if !self.users.known {
            self.users.find(f, cfg, replaced);
        }
        replaced.set(f, old, by);
        self.users.replace(old, replaced.resolve(by), &mut self.stale);
    }

    fn params(&mut self, f: &mut Function, cfg: &Cfg, replaced: &mut Replaced, block: Block) {
        let n = f.params(block).len();
        if n == 0 {
            return;
        }
        self.args.clear();
        for p in cfg.preds(block) {
            let edge = &f.edges(p.block)[p.edge as usize];
            self.args.extend(f.edge_args(edge).iter().map(|&v| replaced.resolve(v)));
        }
        if self.args.len() != n * cfg.preds(block).len() {
            return; // an edge with too few arguments: not verified
        }
        for k in 0..n {
            let param = f.params(block)[k];
            if replaced.resolve(param) != param {
                continue;
            }
            let others = self.args.iter().skip(k).step_by(n).copied().filter(|&v| v != param);
            if let Some(v) = only(others) {
                // Every use may see another value of an undefined one, uses of a parameter all see the same.
                if is_undef(f, v) {
                    continue;
                }
                self.replace(f, cfg, replaced, param, v);
                continue;
            }
            let twin = (0..k).find(|&j| {
                let earlier = f.params(block)[j];
                replaced.resolve(earlier) == earlier
                    && f.ty(earlier) == f.ty(param)
                    && self.args.chunks(n).all(|edge| {
                        edge[j] == edge[k] && !is_undef(f, edge[k]) || edge[j] == earlier && edge[k] == param
                    })
            });
            if let Some(j) = twin {
                let earlier = f.params(block)[j];
                self.replace(f, cfg, replaced, param, earlier);
            }
        }
    }
}

/// The only value in `values`.
fn only(mut values: impl Iterator<Item = Value>) -> Option<Value> {
    let first = values.next()?;
    values.all(|v| v == first).then_some(first)
}

fn is_undef(f: &Function, v: Value) -> bool {
    f.def_inst(v).is_some_and(|i| f.insts[i].op == Op::Undef)
}

/// Whether `v` certainly has one value for all its uses.
fn is_defined(f: &Function, v: Value) -> bool {
    match f.values[v].def {
        ValueDef::Inst(i, _) => matches!(f.insts[i].op, Op::Const | Op::Freeze | Op::Input | Op::Load),
        ValueDef::Param(..) => false,
    }
}
