//! What is known about a function's variables before its first word is written: where each is written, where the loops
//! lie, and which variables get memory.
//!
//! A variable that is read far from its writes becomes a phi at each merge between. In graphs that structure badly
//! that is most variables at most merges, and the output grows with the square of the program. Where the phis would
//! outgrow the program, the variables with the most of them live in memory (`OpVariable`), which drivers turn into
//! phis themselves, for the values that need them.

use crate::offsets::{self, Offsets};
use crate::ssa::Span;
use rustc_hash::FxHashSet;
use xenoglot_ir::entities::Slot;
use xenoglot_ir::entity::EntityRef;
use xenoglot_ir::{Block, Function, Imm, Op, Value};
use xenoglot_structure::tree::{List, Selector, Stmt, Tree};

/// Variables beyond the values: the selectors, and the fuel of guarded loops.
const EXTRA: usize = 3;
/// Phi operands per statement of the tree, and in all, that no function needs memory for.
const OPERANDS_PER_STATEMENT: u64 = 4;
const OPERANDS: u64 = 4096;
/// Phi operands of a variable that stays a phi all the same.
const OPERANDS_OF_SMALL: u32 = 8;

/// The list that encloses everything: what is placed there is visible everywhere.
pub(crate) const ROOT: u32 = 0;

/// The variable of a selector: they follow the values.
pub(crate) fn selector(function: &Function, var: Selector) -> u32 {
    function.values.len() as u32
        + match var {
            Selector::Exit => 0,
            Selector::Route => 1,
        }
}

/// The variable of the fuel.
pub(crate) fn fuel(function: &Function) -> u32 {
    function.values.len() as u32 + 2
}

/// What is known about a variable.
#[derive(Clone, Copy)]
pub(crate) struct Var {
    /// The list in which the value is defined, or one of [`NOWHERE`] and [`LITERAL`].
    home: u32,
    /// Operands that a phi at every merge before the last read would have had; 0 if there is no read.
    read: u32,
    /// The same before the first write.
    written: u32,
    /// Where it is written.
    pub(crate) writes: Span,
    /// Where its value is made, as [`Loop::dead`] counts.
    pub(crate) made: u32,
    /// Whether the value is used at all.
    pub(crate) used: bool,
    /// Whether the value is a parameter of a loop's only header: then a write after the read is that of the next round,
    /// and merges between do not matter.
    carried: bool,
}

impl Var {
    const UNKNOWN: Var = Var {
        home: NOWHERE,
        read: 0,
        written: u32::MAX,
        writes: Span::EMPTY,
        made: 0,
        used: false,
        carried: false,
    };

    /// Whether it is read somewhere: as a value is where no list around defines it.
    pub(crate) fn is_read(&self) -> bool {
        self.read != 0
    }

    /// Its value gets from the end of a loop to a read further up.
    fn around(&mut self) {
        self.read = u32::MAX;
        self.written = 0;
    }

    fn read(&mut self, operands: u32) {
        self.read = self.read.max(operands.max(1));
    }
}

/// The home of a value that was not defined so far.
const NOWHERE: u32 = u32::MAX;
/// The home of a value that is written out at each use.
const LITERAL: u32 = u32::MAX - 1;

/// A loop of the tree.
#[derive(Clone, Copy)]
pub(crate) struct Loop {
    /// Where it lies.
    pub(crate) span: Span,
    /// Variables made here are not needed by the next round: those that are made inside and are no parameters of the
    /// header. In half places: parameters of a block are made before its instructions.
    pub(crate) dead: Span,
}

impl Loop {
    /// A loop that may write anything.
    pub(crate) const ANY: Loop = Loop { span: Span::ALL, dead: Span::EMPTY };
}

/// See the module. Places are numbers of statements in the order of the text.
#[derive(Default)]
pub(crate) struct Places {
    /// Places of the loops, in the order of the text.
    pub(crate) loops: Vec<Loop>,
    /// The values, and after them the other variables.
    pub(crate) vars: Vec<Var>,
    /// Variables that get memory: values in the order in which the function defines them, since ids depend on how a module came
    /// about, then the others.
    pub(crate) in_memory: Vec<u32>,
    /// The slots that are still used.
    pub(crate) slots: FxHashSet<Slot>,
    /// Whether each list is being walked.
    open: Vec<bool>,
    steps: Vec<Step>,
    /// Breaks and continues of the loops around.
    leaves: Vec<u32>,
}

enum Step {
    List {
        list: List,
        next: usize,
        serial: u32,
    },
    /// The end of a selection with so many arms.
    Join(u32),
    /// The end of a loop.
    Close(usize),
}

impl Places {
    /// Finds out all about `function` and its structured form.
    pub(crate) fn find(&mut self, function: &Function, tree: &Tree, offsets: &Offsets) {
        self.vars.clear();
        self.vars.resize(function.values.len() + EXTRA, Var::UNKNOWN);
        self.loops.clear();
        self.open.clear();
        self.in_memory.clear();
        self.slots.clear();
        self.leaves.clear();
        let mut walk = Walk { places: self, function, offsets, list: ROOT, place: 0, operands: 0 };
        walk.function(tree);
        let (statements, operands) = (walk.place, walk.operands);
        self.vars[fuel(function) as usize].writes = Span::ALL;
        self.choose(function, statements, operands);
    }

    fn choose(&mut self, function: &Function, statements: u32, total: u32) {
        let operands = |var: &Var| var.read.min(total).saturating_sub(var.written);
        let all: u64 = self.vars.iter().map(|var| u64::from(operands(var))).sum();
        if all <= OPERANDS + OPERANDS_PER_STATEMENT * u64::from(statements) {
            return;
        }
        let values = function.layout.iter().flat_map(|&block| {
            let results = function.blocks[block].insts.iter().flat_map(|&inst| function.results(inst));
            function.params(block).iter().chain(results).map(|v| v.as_u32())
        });
        let others = function.values.len() as u32..self.vars.len() as u32;
        let large = |var: &u32| operands(&self.vars[*var as usize]) > OPERANDS_OF_SMALL;
        self.in_memory.extend(values.chain(others).filter(large));
    }
}

struct Walk<'a> {
    places: &'a mut Places,
    function: &'a Function,
    offsets: &'a Offsets,
    /// The list at hand.
    list: u32,
    place: u32,
    /// Operands that a phi at every merge so far would have had.
    operands: u32,
}

impl Walk<'_> {
    fn function(&mut self, tree: &Tree) {
        for &p in self.function.entry().map_or(&[][..], |entry| self.function.params(entry)) {
            self.write(p.as_u32());
            self.places.vars[p.index()].home = ROOT;
        }
        self.places.steps.clear();
        self.push(tree.root());
        while let Some(step) = self.places.steps.pop() {
            match step {
                Step::Join(arms) => self.operands = self.operands.saturating_add(arms),
                Step::Close(at) => {
                    let around = &mut self.places.loops[at];
                    around.span.last = self.place;
                    around.dead.last = 2 * self.place + 1;
                    let leaves = self.places.leaves.pop().unwrap_or(0);
                    self.operands = self.operands.saturating_add(leaves);
                }
                Step::List { list, next, serial } => self.statements(tree, list, next, serial),
            }
        }
    }

    /// Walks the statements of a list up to one that has statements inside.
    fn statements(&mut self, tree: &Tree, list: List, first: usize, serial: u32) {
        self.list = serial;
        for (next, &stmt) in (first + 1..).zip(tree.list(list).iter().skip(first)) {
            self.place += 1;
            if stmt.has_body() {
                self.places.steps.push(Step::List { list, next, serial });
                return self.statement(tree, stmt);
            }
            self.statement(tree, stmt);
        }
        self.places.open[serial as usize] = false;
    }

    fn push(&mut self, list: List) {
        let serial = self.places.open.len() as u32;
        self.places.open.push(true);
        self.places.steps.push(Step::List { list, next: 0, serial });
    }

    fn statement(&mut self, tree: &Tree, stmt: Stmt) {
        match stmt {
            Stmt::Block(block) => self.block(block),
            Stmt::Edge(edge) => {
                let edge = &self.function.edges(edge.from)[edge.index as usize];
                if edge.args.is_empty() {
                    return;
                }
                for (&p, &a) in self.function.params(edge.block).iter().zip(self.function.edge_args(edge)) {
                    self.read(a);
                    self.write(p.as_u32());
                }
            }
            Stmt::Set { var, .. } => self.write(selector(self.function, var)),
            Stmt::Branch { block, arms } => {
                self.function.term_args(block).iter().for_each(|&v| self.read(v));
                self.arms(tree.arms(arms).iter().map(|arm| arm.body));
            }
            Stmt::Switch { var, arms } => {
                self.read_selector(var);
                self.arms(tree.arms(arms).iter().map(|arm| arm.body));
            }
            Stmt::Guard { body, .. } => {
                self.read_selector(Selector::Exit);
                self.arms([body].into_iter());
            }
            Stmt::Loop { header, body } => {
                for &p in header.map_or(&[][..], |header| self.function.params(header)) {
                    self.places.vars[p.index()].carried = true;
                }
                let at = self.places.loops.len();
                let span = Span { first: self.place, last: self.place };
                // Where control comes in at several blocks, the parameters of all of them come around.
                let first = if header.is_some() { 2 * self.place + 3 } else { u32::MAX };
                self.places.loops.push(Loop { span, dead: Span { first, last: 0 } });
                self.places.leaves.push(0);
                self.places.steps.push(Step::Close(at));
                self.operands = self.operands.saturating_add(2);
                self.push(body);
            }
            Stmt::Break | Stmt::Continue => {
                if let Some(leaves) = self.places.leaves.last_mut() {
                    *leaves += 1;
                }
            }
            Stmt::Terminate(block) => self.function.term_args(block).iter().for_each(|&v| self.read(v)),
            Stmt::Unreachable => {}
        }
    }

    fn read_selector(&mut self, var: Selector) {
        self.places.vars[selector(self.function, var) as usize].read(self.operands);
    }

    fn arms(&mut self, bodies: impl DoubleEndedIterator<Item = List> + ExactSizeIterator) {
        self.places.steps.push(Step::Join(bodies.len() as u32));
        bodies.rev().for_each(|body| self.push(body));
    }

    fn block(&mut self, block: Block) {
        let function = self.function;
        if function.entry() != Some(block) || self.place > 1 {
            for &p in function.params(block) {
                let var = &mut self.places.vars[p.index()];
                var.read(self.operands);
                var.home = self.list;
                var.made = 2 * self.place;
            }
        }
        for &inst in &function.blocks[block].insts {
            let data = &function.insts[inst];
            if let Imm::Slot(slot) = data.imm {
                self.places.slots.insert(slot);
            }
            let mut args = data.args.as_slice(&function.pool);
            if self.offsets.apart() {
                if self.offsets.is_dead(function, inst) {
                    continue;
                }
                if let Some(parts) = offsets::of_access(function, inst) {
                    self.read(parts.value);
                    args = &args[1..];
                }
            }
            args.iter().for_each(|&v| self.read(v));
            let literal = matches!(data.op, Op::Const | Op::Undef);
            for &v in data.results.as_slice(&function.pool) {
                let var = &mut self.places.vars[v.index()];
                if literal {
                    var.home = LITERAL;
                    continue;
                }
                var.home = self.list;
                var.written = self.operands;
                var.writes = Span { first: self.place, last: self.place };
                var.made = 2 * self.place + 1;
                if var.read > 0 {
                    var.around();
                }
            }
        }
    }

    #[inline]
    fn write(&mut self, var: u32) {
        let var = &mut self.places.vars[var as usize];
        var.writes.add(self.place);
        var.written = var.written.min(self.operands);
        if var.read > 0 && !var.carried {
            var.around();
        }
    }

    /// A use of a value: a read of its variable where no list around the use defines it.
    #[inline]
    fn read(&mut self, v: Value) {
        let var = &mut self.places.vars[v.index()];
        var.used = true;
        if var.home == self.list {
            return;
        }
        match self.places.open.get(var.home as usize) {
            Some(true) => {}
            Some(false) => var.read(self.operands),
            None if var.home == LITERAL || self.is_literal(v) => {}
            None => self.places.vars[v.index()].around(),
        }
    }

    fn is_literal(&self, v: Value) -> bool {
        let op = self.function.def_inst(v).map(|inst| self.function.insts[inst].op);
        matches!(op, Some(Op::Const | Op::Undef))
    }
}
