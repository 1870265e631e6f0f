//! Decides, for each value of a function, whether it is written into its only user's expression or gets a variable.

use xenoglot_ir::entity::EntityRef;
use xenoglot_ir::{Block, Function, Imm, Inst, Op, Space, TermKind, Value};

/// What becomes of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Mode {
    /// It has no uses.
    #[default]
    Dead,
    /// It lives in a variable.
    Var,
    /// It is written where it is used.
    Inline,
}

/// The deepest expression made of inlined values: a bound on recursion, and what a reader can take in.
const MAX_DEPTH: u8 = 6;
/// The most inlined values in one expression.
const MAX_SIZE: u8 = 10;

/// The decisions for one function. Buffers are reused.
#[derive(Default)]
pub(crate) struct Plan {
    modes: Vec<Mode>,
    reached: Vec<bool>,
    uses: Vec<u32>,
    /// By value: the block and place of the last use found.
    users: Vec<(u32, u32)>,
    /// By place in the block at hand.
    places: Vec<Place>,
    /// By instruction: its place in its block.
    place_of: Vec<u32>,
    stack: Vec<Block>,
    dead: Vec<Inst>,
    slots: bool,
}

/// What is known of an instruction of the block at hand.
#[derive(Clone, Copy, Default)]
struct Place {
    depth: u8,
    size: u8,
    /// Where its expression ends up.
    root: u32,
    /// Whether it ends up where nothing keeps the host from contracting.
    loose: bool,
    /// How many instructions before it write.
    writes: u32,
}

impl Plan {
    pub(crate) fn mode(&self, v: Value) -> Mode {
        self.modes.get(v.index()).copied().unwrap_or_default()
    }

    /// Whether guest registers are still slots.
    pub(crate) fn uses_slots(&self) -> bool {
        self.slots
    }

    /// Decides for `f`.
    pub(crate) fn compute(&mut self, f: &Function) {
        self.modes.clear();
        self.modes.resize(f.values.len(), Mode::Dead);
        self.uses.clear();
        self.uses.resize(f.values.len(), 0);
        self.users.clear();
        self.users.resize(f.values.len(), (u32::MAX, 0));
        self.reach(f);
        self.slots = false;
        self.place_of.clear();
        self.place_of.resize(f.insts.len(), 0);
        for &b in &f.layout {
            if self.reached[b.index()] {
                self.count(f, b);
            }
        }
        self.drop_dead(f);
        for &b in &f.layout {
            if !self.reached[b.index()] {
                continue;
            }
            for &p in f.params(b) {
                if self.uses[p.index()] > 0 {
                    self.modes[p.index()] = Mode::Var;
                }
            }
            self.decide(f, b);
        }
    }

    fn reach(&mut self, f: &Function) {
        self.reached.clear();
        self.reached.resize(f.blocks.len(), false);
        self.stack.clear();
        self.stack.extend(f.entry());
        while let Some(b) = self.stack.pop() {
            if !std::mem::replace(&mut self.reached[b.index()], true) {
                self.stack.extend(f.edges(b).iter().map(|e| e.block));
            }
        }
    }

    fn count(&mut self, f: &Function, b: Block) {
        let data = &f.blocks[b];
        let n = data.insts.len() as u32;
        for (i, &inst) in (0..).zip(&data.insts) {
            self.place_of[inst.index()] = i;
            self.slots |= matches!(f.insts[inst].imm, Imm::Slot(_));
            f.args(inst).iter().for_each(|&v| self.used(v, b, i));
        }
        f.term_args(b).iter().for_each(|&v| self.used(v, b, n));
        for edge in f.edges(b) {
            f.edge_args(edge).iter().for_each(|&v| self.used(v, b, n + 1));
        }
    }

    /// Drops the uses by instructions whose own results have no uses.
    fn drop_dead(&mut self, f: &Function) {
        for &b in f.layout.iter().filter(|b| self.reached[b.index()]) {
            for &inst in &f.blocks[b].insts {
                if !self.is_needed(f, inst) {
                    self.dead.push(inst);
                }
            }
        }
        while let Some(inst) = self.dead.pop() {
            for &arg in f.args(inst) {
                self.uses[arg.index()] -= 1;
                if let Some(def) = f.def_inst(arg)
                    && self.uses[arg.index()] == 0
                    && !self.is_needed(f, def)
                {
                    self.dead.push(def);
                }
            }
        }
    }

    fn used(&mut self, v: Value, b: Block, place: u32) {
        self.uses[v.index()] += 1;
        self.users[v.index()] = (b.index() as u32, place);
    }

    /// Whether an instruction does anything that is seen.
    fn is_needed(&self, f: &Function, inst: Inst) -> bool {
        let data = &f.insts[inst];
        data.op.info().traits.writes
            || matches!(data.imm, Imm::Mem(m) if m.volatile)
            || f.results(inst).iter().any(|v| self.uses[v.index()] > 0)
    }

    fn decide(&mut self, f: &Function, b: Block) {
        let insts = &f.blocks[b].insts;
        self.places.clear();
        let mut writes = 0;
        for (i, &inst) in insts.iter().enumerate() {
            let mut here = Place { depth: 1, size: 1, root: i as u32, loose: false, writes };
            let traits = f.insts[inst].op.info().traits;
            writes += u32::from(traits.writes || traits.convergent);
            if !self.is_needed(f, inst) {
                self.places.push(here);
                continue;
            }
            for &arg in f.args(inst) {
                if self.modes[arg.index()] != Mode::Inline || is_leaf(f, arg) {
                    continue;
                }
                // A candidate has its definition in this block.
                let Some(def) = f.def_inst(arg) else { continue };
                let of = self.places[self.place_of[def.index()] as usize];
                if of.depth >= MAX_DEPTH || here.size + of.size > MAX_SIZE {
                    self.modes[arg.index()] = Mode::Var;
                } else {
                    here.depth = here.depth.max(of.depth + 1);
                    here.size += of.size;
                }
            }
            if f.insts[inst].op == Op::ResourceHandle {
                // It is written at every use, and its index with it.
                for &arg in f.args(inst).iter().filter(|&&a| !is_leaf(f, a)) {
                    self.modes[arg.index()] = Mode::Var;
                }
            }
            self.places.push(here);
            for &v in f.results(inst) {
                self.modes[v.index()] = match self.uses[v.index()] {
                    // A call writes each of its results somewhere.
                    _ if f.insts[inst].op == Op::Call => Mode::Var,
                    0 => Mode::Dead,
                    _ if is_leaf(f, v) => Mode::Inline,
                    1 if may_move(f, inst) && self.has_user_in(f, b, v) => Mode::Inline,
                    _ => Mode::Var,
                };
            }
        }
        self.settle(f, b, writes);
    }

    /// Whether the only user of `v` is found in `b`. The one found last may be dead, then it is not known.
    fn has_user_in(&self, f: &Function, b: Block, v: Value) -> bool {
        let (block, place) = self.users[v.index()];
        block == b.index() as u32
            && f.blocks[b].insts.get(place as usize).is_none_or(|&user| self.is_needed(f, user))
    }

    /// From the end of the block: takes back what would move a read over a write, or arithmetic out of the reach
    /// of `precise`.
    fn settle(&mut self, f: &Function, b: Block, writes: u32) {
        let insts = &f.blocks[b].insts;
        let n = insts.len();
        let term = f.term(b).kind;
        for (i, &inst) in insts.iter().enumerate().rev() {
            let &[v] = f.results(inst) else { continue };
            if self.modes[v.index()] != Mode::Inline || is_leaf(f, v) {
                continue;
            }
            let at = self.users[v.index()].1 as usize;
            let (root, loose, before) = if at >= n {
                if at == n && term == TermKind::Switch {
                    self.modes[v.index()] = Mode::Var; // its value may be written several times
                    continue;
                }
                (at as u32, at == n && term == TermKind::Branch, writes)
            } else {
                let user = &self.places[at];
                let user_inst = insts[at];
                let inlined = f.result(user_inst).is_some_and(|r| self.modes[r.index()] == Mode::Inline);
                let loose = if inlined { user.loose } else { false } || is_loose(f, user_inst, v);
                let before = self.places.get(user.root as usize).map_or(writes, |p| p.writes);
                (user.root, loose, before)
            };
            let data = &f.insts[inst];
            let reads = data.op.info().traits.reads && !is_constant_read(f, inst);
            let contractible = matches!(data.op, Op::Fadd | Op::Fsub | Op::Fmul);
            if (reads && before != self.places[i].writes) || (contractible && loose) {
                self.modes[v.index()] = Mode::Var;
            } else {
                self.places[i].root = root;
                self.places[i].loose = loose;
            }
        }
    }
}

/// Whether the use of `v` by `inst` is in an expression that is not assigned to a `precise` variable.
fn is_loose(f: &Function, inst: Inst, v: Value) -> bool {
    match f.insts[inst].op {
        Op::Call | Op::Store => true,
        Op::Output => f.args(inst).first() != Some(&v),
        Op::DiscardIf => true,
        // Integer variables are not `precise`.
        _ if f.result(inst).is_some_and(|r| f.ty(r).kind().is_int()) => true,
        _ => matches!(f.insts[inst].imm, Imm::Mem(_)),
    }
}

/// Whether a value is so short and constant that every use writes it anew.
fn is_leaf(f: &Function, v: Value) -> bool {
    let Some(inst) = f.def_inst(v) else { return false };
    let data = &f.insts[inst];
    match data.op {
        Op::Const | Op::Undef | Op::SpecConst | Op::ResourceHandle => true,
        Op::Input => f.args(inst).is_empty(),
        Op::Load => {
            let lanes = f.ty(v).lanes();
            is_constant_read(f, inst)
                && f.args(inst).first().is_some_and(|&a| f.const_bits(a).is_some())
                && matches!(data.imm, Imm::Mem(m) if lanes == 1 || (lanes == 4 && m.align_log2 >= 4))
        }
        _ => false,
    }
}

/// Whether an instruction reads only what nothing in the shader changes.
fn is_constant_read(f: &Function, inst: Inst) -> bool {
    match f.insts[inst].imm {
        Imm::Mem(m) => !m.volatile && matches!(m.space, Space::ConstBank | Space::Uniform | Space::Push),
        Imm::Var(_) => f.insts[inst].op == Op::Input,
        _ => false,
    }
}

/// Whether an instruction may be evaluated later in its block, if nothing it reads is written meanwhile.
fn may_move(f: &Function, inst: Inst) -> bool {
    let data = &f.insts[inst];
    let traits = data.op.info().traits;
    !traits.writes && !traits.convergent && !matches!(data.imm, Imm::Mem(m) if m.volatile)
}
