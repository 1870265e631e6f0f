//! Temporaries: few variables for the values of a function that a host language has to name.
//!
//! ```text
//! block0(v0 : i32):                         t0 = v0's argument
//!   v1 : i32 = const 0                      t1 = 0 (edge)
//!   jump block1(v1)
//! block1(v2 : i32):              =>   loop: t1
//!   v3 : i32 = iadd v2, v0                  t1 = t1 + t0
//!   branch v4, block1(v3), block2
//! ```
//!
//! A back end says which values it *wants* named; the others it writes out where they are used. So a use of an
//! unwanted value is a use of what it is computed from, there and not before: [`leaves`] says of what.
//!
//! Two values share a temporary only if they have one type and are never needed at the same time. Parameters get
//! the temporary of their arguments where that is free, so that most edges copy nothing. The copies of an edge
//! are parallel: all arguments are read before a parameter is written. [`check`] proves an assignment right from
//! nothing but those rules.
//!
//! This is a colouring of the blocks in reverse post-order, which a definition always precedes its uses in; nothing
//! is assumed about the shape of the graph. Where the lists of live values would be far longer than the
//! function, as in deeply nested loops, each value gets a temporary of its own.

use xenoglot_ir::analysis::{Analyses, Cfg, Liveness};
use xenoglot_ir::entity::packed_option::PackedOption;
use xenoglot_ir::entity::{PrimaryMap, SecondaryMap, entity_impl};
use xenoglot_ir::{Block, Function, Inst, Slot, Type, Value, ValueDef};

mod check;

pub use check::{Clash, check};

/// A variable of the host's function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Temp(u32);
entity_impl!(Temp, "t");

/// A variable's facts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TempData {
    /// Its type.
    pub ty: Type,
    /// The guest register its first value stands for.
    pub hint: PackedOption<Slot>,
}

/// An assignment of values to variables, with the buffers that made it.
#[derive(Default)]
pub struct Temporaries {
    of: SecondaryMap<Value, PackedOption<Temp>>,
    temps: PrimaryMap<Temp, TempData>,
    liveness: Liveness,
    walk: Walk,
    /// A parameter that each value is an argument of.
    feeds: SecondaryMap<Value, PackedOption<Value>>,
    /// The temporary that an argument of a parameter has.
    wish: SecondaryMap<Value, PackedOption<Temp>>,
    /// By temporary and value, the number of the block it was last in use in, wanted at the end of, used in.
    busy: Vec<u32>,
    live_out: SecondaryMap<Value, u32>,
    used: SecondaryMap<Value, u32>,
    /// Uses in a block: place, value; then last uses, the last first.
    uses: Vec<(u32, Value)>,
    last: Vec<(u32, Value)>,
    dead: Vec<Temp>,
}

/// How many values are live into and out of blocks together, at most: for each value and block of a function, where the
/// largest of real shaders have two, and of any function.
const MOST_LIVE: usize = 4;
const LIVE_ANYWHERE: usize = 1 << 14;

/// Buffers of [`leaves`].
#[derive(Default)]
pub struct Walk {
    stack: Vec<Value>,
    seen: SecondaryMap<Value, u32>,
    round: u32,
}

/// Calls `found` with every wanted value that is read where `roots` are used, each once: a wanted root itself,
/// for another the wanted values its computation leads back to. Unwanted parameters (a function's own, say) are
/// not found.
pub fn leaves(
    f: &Function,
    wanted: impl Fn(Value) -> bool,
    walk: &mut Walk,
    roots: &[Value],
    mut found: impl FnMut(Value),
) {
    walk.round += 1;
    walk.stack.extend_from_slice(roots);
    while let Some(v) = walk.stack.pop() {
        if walk.seen[v] == walk.round {
            continue;
        }
        walk.seen[v] = walk.round;
        if wanted(v) {
            found(v);
        } else if let ValueDef::Inst(inst, _) = f.values[v].def {
            walk.stack.extend_from_slice(f.args(inst));
        }
    }
}

/// Calls `found` with what `block` reads and the place: the number of the instruction, or the number of
/// instructions for the terminator and the edges.
fn for_each_read(
    f: &Function,
    wanted: impl Fn(Value) -> bool + Copy,
    walk: &mut Walk,
    block: Block,
    mut found: impl FnMut(u32, Value),
) {
    let insts = &f.blocks[block].insts;
    for (at, &inst) in insts.iter().enumerate() {
        if is_written(f, wanted, inst) {
            leaves(f, wanted, walk, f.args(inst), |v| found(at as u32, v));
        }
    }
    let end = insts.len() as u32;
    leaves(f, wanted, walk, f.term_args(block), |v| found(end, v));
    for edge in f.edges(block) {
        leaves(f, wanted, walk, f.edge_args(edge), |v| found(end, v));
    }
}

/// Whether a back end writes `inst` where it stands, and not where its results are used.
fn is_written(f: &Function, wanted: impl Fn(Value) -> bool, inst: Inst) -> bool {
    let results = f.results(inst);
    results.is_empty() || f.insts[inst].op.info().traits.writes || results.iter().any(|&v| wanted(v))
}

impl Temporaries {
    /// The variable of `v`; `None` if `v` is not wanted.
    pub fn of(&self, v: Value) -> Option<Temp> {
        self.of[v].expand()
    }

    /// The variables, in the order of first use.
    pub fn temps(&self) -> &PrimaryMap<Temp, TempData> {
        &self.temps
    }

    /// Assigns a variable to every wanted value of the reachable blocks.
    ///
    /// `wanted` has to hold for every block parameter that is used, except perhaps the function's own, and for the
    /// results of calls. It must not change its mind.
    pub fn compute(&mut self, f: &Function, analyses: &mut Analyses, wanted: impl Fn(Value) -> bool + Copy) {
        analyses.ensure_cfg(f);
        analyses.ensure_positions(f);
        let cfg = analyses.cfg();
        self.reset(f);
        let Temporaries { liveness, walk, .. } = self;
        let limit = LIVE_ANYWHERE.max(MOST_LIVE * (f.values.len() + f.blocks.len()));
        let reads = |block, found: &mut dyn FnMut(Value)| {
            for_each_read(f, wanted, walk, block, |_, v| found(v));
        };
        if !liveness.compute_within(limit, f, cfg, analyses.positions(), reads) {
            self.keep_apart(f, cfg, wanted);
            return;
        }
        for &block in cfg.rpo() {
            for edge in f.edges(block) {
                for (&arg, &param) in f.edge_args(edge).iter().zip(f.params(edge.block)) {
                    if self.feeds[arg].is_none() {
                        self.feeds[arg] = param.into();
                    }
                }
            }
        }
        for (i, &block) in cfg.rpo().iter().enumerate() {
            self.colour(f, cfg, wanted, block, i as u32 + 1);
        }
    }

    /// Gives each wanted value a variable of its own.
    fn keep_apart(&mut self, f: &Function, cfg: &Cfg, wanted: impl Fn(Value) -> bool) {
        for &block in cfg.rpo() {
            let results = f.blocks[block].insts.iter().flat_map(|&inst| f.results(inst));
            for &v in f.params(block).iter().chain(results) {
                if wanted(v) {
                    let data = TempData { ty: f.ty(v), hint: f.values[v].hint };
                    self.of[v] = self.temps.push(data).into();
                }
            }
        }
    }

    fn reset(&mut self, f: &Function) {
        self.temps.clear();
        self.busy.clear();
        self.of.clear();
        self.of.resize(f.values.len());
        self.feeds.clear();
        self.feeds.resize(f.values.len());
        self.wish.clear();
        self.live_out.clear();
        self.live_out.resize(f.values.len());
        self.used.clear();
        self.used.resize(f.values.len());
        self.walk.seen.clear();
        self.walk.seen.resize(f.values.len());
        self.walk.round = 0;
    }

    /// Gives variables to what `block`, the `number`th, defines. What is live into it has them.
    fn colour(
        &mut self,
        f: &Function,
        cfg: &Cfg,
        wanted: impl Fn(Value) -> bool + Copy,
        block: Block,
        number: u32,
    ) {
        self.find_last_uses(f, wanted, block, number);
        for i in 0..self.liveness.live_in(block).len() {
            if let Some(t) = self.of(self.liveness.live_in(block)[i]) {
                self.busy[t.as_u32() as usize] = number;
            }
        }
        self.dead.clear();
        for (k, &param) in f.params(block).iter().enumerate() {
            if wanted(param) {
                let args = cfg.preds(block).iter().filter_map(|p| {
                    let edge = &f.edges(p.block)[p.edge as usize];
                    f.edge_args(edge).get(k).copied()
                });
                let first = args.filter_map(|a| self.of(a)).find(|&t| self.is_free(f, t, param, number));
                self.assign(f, param, first, number);
            }
        }
        self.free_dead();
        for (at, &inst) in f.blocks[block].insts.iter().enumerate() {
            while let Some(&(_, v)) = self.last.last().filter(|l| l.0 == at as u32) {
                self.last.pop();
                if let Some(t) = self.of(v) {
                    self.busy[t.as_u32() as usize] = 0;
                }
            }
            for &v in f.results(inst) {
                if wanted(v) {
                    self.assign(f, v, None, number);
                }
            }
            self.free_dead();
        }
    }

    /// Finds where in `block` each value is used last, unless it is wanted after it.
    fn find_last_uses(
        &mut self,
        f: &Function,
        wanted: impl Fn(Value) -> bool + Copy,
        block: Block,
        number: u32,
    ) {
        for &v in self.liveness.live_out(block) {
            self.live_out[v] = number;
        }
        let Temporaries { uses, walk, .. } = self;
        uses.clear();
        for_each_read(f, wanted, walk, block, |at, v| uses.push((at, v)));
        self.last.clear();
        for &(at, v) in self.uses.iter().rev() {
            if self.used[v] != number {
                self.used[v] = number;
                if self.live_out[v] != number {
                    self.last.push((at, v));
                }
            }
        }
    }

    fn is_free(&self, f: &Function, t: Temp, v: Value, number: u32) -> bool {
        self.busy[t.as_u32() as usize] != number && self.temps[t].ty == f.ty(v)
    }

    /// Gives `v` a variable: `first` if there is one, else that of a parameter it becomes, else any of its
    /// register's, else a new one.
    fn assign(&mut self, f: &Function, v: Value, first: Option<Temp>, number: u32) {
        let param = self.feeds[v].expand();
        let via_param = param.and_then(|p| self.of(p).or(self.wish[p].expand()));
        let hint = f.values[v].hint;
        let t = first
            .or(self.wish[v].expand().filter(|&t| self.is_free(f, t, v, number)))
            .or(via_param.filter(|&t| self.is_free(f, t, v, number)))
            .or_else(|| {
                let mut named = self.temps.iter().filter(|(_, data)| data.hint == hint);
                named.find(|&(t, _)| self.is_free(f, t, v, number)).map(|(t, _)| t)
            })
            .unwrap_or_else(|| {
                self.busy.push(0);
                self.temps.push(TempData { ty: f.ty(v), hint })
            });
        self.of[v] = t.into();
        self.busy[t.as_u32() as usize] = number;
        if let Some(p) = param
            && self.wish[p].is_none()
        {
            self.wish[p] = t.into();
        }
        if self.used[v] != number && self.live_out[v] != number {
            self.dead.push(t);
        }
    }

    /// Values without uses keep their variable only while the instruction that makes them is executed.
    fn free_dead(&mut self) {
        for t in self.dead.drain(..) {
            self.busy[t.as_u32() as usize] = 0;
        }
    }
}
