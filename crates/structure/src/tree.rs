//! The result: structured control flow as an arena of statement lists.
//!
//! A [`List`] is executed from its first statement to its last. It either *falls through* at its end or its last statement
//! is one of [`Stmt::Break`], [`Stmt::Continue`], [`Stmt::Terminate`] and [`Stmt::Unreachable`]; these four occur nowhere
//! else. A loop's body never falls through.
//!
//! Every reachable block and each of its out edges occur exactly once. Between the execution of an edge and that of the
//! block it leads to, only selectors are set and read: an edge may therefore write its target's block parameters on the spot.

use xenoglot_ir::Block;

use crate::graph::{Edge, Graph};

/// A variable of the structured form, assigned constants only. Both start undefined and are read only after being set.
///
/// Neither is ever live while a block executes, so one variable of each serves the whole function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Selector {
    /// Which block control is on its way to; the value is the block's id, or at or above [`Tree::block_count`] if it is the
    /// dispatch of a loop with several entries.
    Exit,
    /// Which entry of a loop with several entries control is on its way to; the value is that entry's block id.
    Route,
}

/// A run of statements; resolve with [`Tree::list`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct List {
    pub(crate) start: u32,
    pub(crate) len: u32,
}

/// The arms of a selection; resolve with [`Tree::arms`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arms {
    pub(crate) start: u32,
    pub(crate) len: u32,
}

/// One way through a selection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arm {
    /// When this arm is taken: for [`Stmt::Branch`] the edge's index, for [`Stmt::Switch`] the selector's value.
    pub label: u32,
    /// What it does. It may be empty: control passes to what stands after the selection.
    pub body: List,
}

/// A statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stmt {
    /// Execute the block up to its terminator.
    Block(Block),
    /// Take the edge: its parallel copy of arguments to its target's parameters.
    Edge(Edge),
    /// Assign a constant to a selector.
    Set {
        /// Which.
        var: Selector,
        /// The new value.
        value: u32,
    },
    /// Evaluate the terminator of a block with two or more successors. One arm per out edge, in order. An arm begins with its
    /// [`Stmt::Edge`] unless it is empty; then its edge is the statement after this one.
    Branch {
        /// The block, executed just before.
        block: Block,
        /// One per out edge.
        arms: Arms,
    },
    /// Take the arm whose label is the selector's value. The value is always one of the labels.
    Switch {
        /// Which selector.
        var: Selector,
        /// Two or more, with distinct labels.
        arms: Arms,
    },
    /// Execute the body if [`Selector::Exit`] has this value.
    Guard {
        /// The value.
        value: u32,
        /// What to do.
        body: List,
    },
    /// Repeat until a break. The body ends in [`Stmt::Continue`] on the ways that repeat.
    Loop {
        /// The block that heads the loop and comes first in the body. None if the loop has several entries (or is several nested
        /// loops made one): its body starts with a switch on [`Selector::Route`].
        header: Option<Block>,
        /// What to repeat.
        body: List,
    },
    /// Leave the innermost loop.
    Break,
    /// Repeat the innermost loop.
    Continue,
    /// Execute the terminator of a block without successors (return, kill, …).
    Terminate(Block),
    /// Control never gets here: the loop before has no exit.
    Unreachable,
}

impl Stmt {
    /// Whether there are statements inside.
    #[inline]
    pub fn has_body(&self) -> bool {
        matches!(self, Stmt::Branch { .. } | Stmt::Switch { .. } | Stmt::Guard { .. } | Stmt::Loop { .. })
    }

    /// Whether control never passes to the statement after this one. (It may not either after a loop without exits.)
    pub fn ends_list(&self) -> bool {
        matches!(self, Stmt::Break | Stmt::Continue | Stmt::Terminate(_) | Stmt::Unreachable)
    }
}

/// What structuring did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Reachable blocks.
    pub blocks: u32,
    /// Loops.
    pub loops: u32,
    /// Branches and switches.
    pub selections: u32,
    /// Follow nodes that stand behind a test of the exit selector.
    pub guards: u32,
    /// Loops with several entries, and loops flattened because the depth limit allows no deeper ones: each has one added
    /// dispatch header.
    pub dispatches: u32,
    /// Entries of those loops.
    pub routes: u32,
    /// Nodes moved to a shallower place to honour the depth limit.
    pub reparented: u32,
    /// Pins that were honoured.
    pub pinned: u32,
    /// Selector assignments that remain.
    pub sets: u32,
    /// The most constructs around a statement.
    pub max_depth: u32,
    /// Elementary steps taken: the measure of cost that does not depend on the machine.
    pub steps: u64,
}

/// Structured control flow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tree {
    pub(crate) stmts: Vec<Stmt>,
    pub(crate) arms: Vec<Arm>,
    pub(crate) root: List,
    pub(crate) blocks: u32,
    pub(crate) stats: Stats,
}

impl Tree {
    /// Of a graph whose entry has no successors, as many straight shaders are.
    pub(crate) fn of_one_block(graph: &Graph) -> Tree {
        let entry = graph.entry();
        Tree {
            stmts: vec![Stmt::Block(entry), Stmt::Terminate(entry)],
            arms: Vec::new(),
            root: List { start: 0, len: 2 },
            blocks: graph.block_count() as u32,
            stats: Stats { blocks: 1, steps: 1, ..Stats::default() },
        }
    }

    /// The function's body.
    pub fn root(&self) -> List {
        self.root
    }

    /// The statements of a list of this tree.
    #[inline]
    pub fn list(&self, list: List) -> &[Stmt] {
        &self.stmts[list.start as usize..(list.start + list.len) as usize]
    }

    /// The arms of a selection of this tree.
    #[inline]
    pub fn arms(&self, arms: Arms) -> &[Arm] {
        &self.arms[arms.start as usize..(arms.start + arms.len) as usize]
    }

    /// Whether control can pass the end of the list.
    pub fn falls_through(&self, list: List) -> bool {
        !self.list(list).last().is_some_and(Stmt::ends_list)
    }

    /// How many blocks the graph had, unreachable ones included.
    pub fn block_count(&self) -> usize {
        self.blocks as usize
    }

    /// What structuring did.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }
}
