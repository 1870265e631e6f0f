//! What is known about a function's variables before its first word is written: where each is written, where the loops
//! lie, and which variables get memory.
//!
//! A variable that is read far from its writes becomes a phi at each merge between. In graphs that structure badly
//! that is most variables at most merges, and the output grows with the square of the program. Where the phis would
//! outgrow the program, the variables with the most of them live in memory (`OpVariable`), which drivers turn into
//! phis themselves, for the values that need them.

use crate::ssa::Span;
use xenoglot_ir::entity::EntityRef;
use xenoglot_ir::{Block, Function, Op, Value};
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

/// See the module. Places are numbers of statements in the order of the text.
#[derive(Default)]
pub(crate) struct Places {
    /// Places of the loops, in the order of the text.
    pub(crate) loops: Vec<Span>,
    /// Where each variable is written.
    pub(crate) writes: Vec<Span>,
    /// Whether each value is used at all.
    pub(crate) used: Vec<bool>,
    /// Variables that get memory, in ascending order.
    pub(crate) in_memory: Vec<u32>,
    /// The list in which each value is defined.
    homes: Vec<u32>,
    open: Vec<bool>,
    /// Operands that a phi at every merge before each variable's last read would have had.
    read: Vec<u32>,
    /// The same before its first write.
    written: Vec<u32>,
    /// Whether each value is a parameter of a loop's only header: then a write after the read is that of the next round,
    /// and merges between do not matter.
    carried: Vec<bool>,
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
    pub(crate) fn find(&mut self, function: &Function, tree: &Tree) {
        self.reset(function.values.len());
        for &block in &function.layout {
            function.for_each_use(block, |v| self.used[v.index()] = true);
        }
        let mut walk = Walk { places: self, function, place: 0, operands: 0 };
        walk.function(tree);
        let (statements, operands) = (walk.place, walk.operands);
        self.writes[fuel(function) as usize] = Span::ALL;
        self.choose(statements, operands);
    }

    /// Whether a variable is read somewhere: as a value is where no list around defines it.
    pub(crate) fn is_read(&self, var: u32) -> bool {
        self.read.get(var as usize).is_some_and(|&reads| reads != 0)
    }

    fn reset(&mut self, values: usize) {
        let variables = values + EXTRA;
        for (list, len, with) in [
            (&mut self.homes, values, u32::MAX),
            (&mut self.read, variables, 0),
            (&mut self.written, variables, u32::MAX),
        ] {
            list.clear();
            list.resize(len, with);
        }
        self.writes.clear();
        self.writes.resize(variables, Span::EMPTY);
        for list in [&mut self.used, &mut self.carried] {
            list.clear();
            list.resize(values, false);
        }
        self.loops.clear();
        self.open.clear();
        self.in_memory.clear();
        self.leaves.clear();
    }

    fn choose(&mut self, statements: u32, total: u32) {
        let operands = |var: usize| self.read[var].min(total).saturating_sub(self.written[var]);
        let all: u64 = (0..self.read.len()).map(|var| u64::from(operands(var))).sum();
        if all > OPERANDS + OPERANDS_PER_STATEMENT * u64::from(statements) {
            let large = (0..self.read.len()).filter(|&var| operands(var) > OPERANDS_OF_SMALL);
            self.in_memory.extend(large.map(|var| var as u32));
        }
    }
}

struct Walk<'a> {
    places: &'a mut Places,
    function: &'a Function,
    place: u32,
    /// Operands that a phi at every merge so far would have had.
    operands: u32,
}

impl Walk<'_> {
    fn function(&mut self, tree: &Tree) {
        for &p in self.function.entry().map_or(&[][..], |entry| self.function.params(entry)) {
            self.write(p.as_u32());
            self.places.homes[p.index()] = ROOT;
        }
        self.places.steps.clear();
        self.push(tree.root());
        while let Some(step) = self.places.steps.pop() {
            match step {
                Step::Join(arms) => self.operands = self.operands.saturating_add(arms),
                Step::Close(at) => {
                    self.places.loops[at].last = self.place;
                    let leaves = self.places.leaves.pop().unwrap_or(0);
                    self.operands = self.operands.saturating_add(leaves);
                }
                Step::List { list, next, serial } => match tree.list(list).get(next) {
                    Some(&stmt) => {
                        self.places.steps.push(Step::List { list, next: next + 1, serial });
                        self.place += 1;
                        self.statement(tree, stmt, serial);
                    }
                    None => self.places.open[serial as usize] = false,
                },
            }
        }
    }

    fn push(&mut self, list: List) {
        let serial = self.places.open.len() as u32;
        self.places.open.push(true);
        self.places.steps.push(Step::List { list, next: 0, serial });
    }

    fn statement(&mut self, tree: &Tree, stmt: Stmt, serial: u32) {
        match stmt {
            Stmt::Block(block) => self.block(block, serial),
            Stmt::Edge(edge) => {
                let edge = &self.function.edges(edge.from)[edge.index as usize];
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
                self.read_variable(selector(self.function, var));
                self.arms(tree.arms(arms).iter().map(|arm| arm.body));
            }
            Stmt::Guard { body, .. } => {
                self.read_variable(selector(self.function, Selector::Exit));
                self.arms([body].into_iter());
            }
            Stmt::Loop { header, body } => {
                for &p in header.map_or(&[][..], |header| self.function.params(header)) {
                    self.places.carried[p.index()] = true;
                }
                let at = self.places.loops.len();
                self.places.loops.push(Span { first: self.place, last: self.place });
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

    fn arms(&mut self, bodies: impl DoubleEndedIterator<Item = List> + ExactSizeIterator) {
        self.places.steps.push(Step::Join(bodies.len() as u32));
        bodies.rev().for_each(|body| self.push(body));
    }

    fn block(&mut self, block: Block, serial: u32) {
        let function = self.function;
        if function.entry() != Some(block) || self.place > 1 {
            for &p in function.params(block) {
                self.read_variable(p.as_u32());
                self.places.homes[p.index()] = serial;
            }
        }
        for &inst in &function.blocks[block].insts {
            function.args(inst).iter().for_each(|&v| self.read(v));
            if matches!(function.insts[inst].op, Op::Const | Op::Undef) {
                continue; // written out at each use
            }
            for &v in function.results(inst) {
                self.write(v.as_u32());
                self.places.homes[v.index()] = serial;
            }
        }
    }

    fn write(&mut self, var: u32) {
        self.places.writes[var as usize].add(self.place);
        let first = &mut self.places.written[var as usize];
        *first = (*first).min(self.operands);
        if self.places.read[var as usize] > 0 && self.places.carried.get(var as usize) != Some(&true) {
            self.around(var);
        }
    }

    /// A use of a value: a read of its variable where no list around the use defines it.
    fn read(&mut self, v: Value) {
        let home = self.places.homes[v.index()];
        match self.places.open.get(home as usize) {
            Some(true) => {}
            Some(false) => self.read_variable(v.as_u32()),
            None if self.is_literal(v) => {}
            None => self.around(v.as_u32()),
        }
    }

    fn is_literal(&self, v: Value) -> bool {
        let op = self.function.def_inst(v).map(|inst| self.function.insts[inst].op);
        matches!(op, Some(Op::Const | Op::Undef))
    }

    fn read_variable(&mut self, var: u32) {
        let last = &mut self.places.read[var as usize];
        *last = (*last).max(self.operands.max(1));
    }

    /// A variable whose value gets from the end of a loop to a read further up.
    fn around(&mut self, var: u32) {
        self.places.read[var as usize] = u32::MAX;
        self.places.written[var as usize] = 0;
    }
}
