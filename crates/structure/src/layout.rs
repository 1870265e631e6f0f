//! Where each statement of a tree stands, and how control moves between statements: what the checker and the
//! tracer share. The tree may do anything wrong except hold a list in two places.

use crate::graph::Edge;
use crate::tree::{Arms, List, Selector, Stmt, Tree};
use thiserror::Error;
use xenoglot_ir::Block;

/// A place of a list: what comes after its end.
#[derive(Clone, Copy)]
struct Place {
    end: u32,
    /// The statement whose body or arm the list is.
    owner: Option<u32>,
    /// The innermost loop statement around.
    around: Option<u32>,
    depth: u32,
}

/// The lists of a tree and their places.
pub(crate) struct Layout<'a> {
    tree: &'a Tree,
    places: Vec<Place>,
    /// By statement: its list; `u32::MAX` for statements in no list.
    list_of: Vec<u32>,
}

/// What a statement with a meaning outside the tree asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// Execute a block.
    Block(Block),
    /// Take an edge.
    Edge(Edge),
    /// Choose an arm, then [`Cursor::enter`] it.
    Branch(Block, Arms),
    /// Execute the terminator of a block without successors.
    Terminate(Block),
}

/// What a malformed tree does.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum Fault {
    /// The function's body or a loop's body ended without saying where control goes.
    #[error("control falls off the end of the function or of a loop")]
    FellOff,
    /// Break or continue outside a loop.
    #[error("break or continue outside a loop")]
    NoLoop,
    /// A selector was read before it was set.
    #[error("{0:?} is read before it is set")]
    Unset(Selector),
    /// A switch has no arm for its selector's value.
    #[error("{0:?} is {1}, for which there is no arm")]
    NoArm(Selector, u32),
    /// An unreachable statement was reached.
    #[error("an unreachable statement is reached")]
    Unreachable,
    /// Control went round without executing anything.
    #[error("control goes round without executing a block")]
    Spins,
}

/// A point of execution.
#[derive(Clone)]
pub(crate) struct Cursor {
    list: u32,
    at: u32,
    selectors: [Option<u32>; 2],
}

impl<'a> Layout<'a> {
    pub(crate) fn new(tree: &'a Tree) -> Layout<'a> {
        let mut layout = Layout { tree, places: Vec::new(), list_of: vec![u32::MAX; tree.stmts.len()] };
        let mut work = vec![(tree.root, None, None, 0)];
        while let Some((list, owner, around, depth)) = work.pop() {
            let id = layout.places.len() as u32;
            let end = list.start + list.len;
            layout.places.push(Place { end, owner, around, depth });
            for at in list.start..end {
                layout.list_of[at as usize] = id;
                match tree.stmts[at as usize] {
                    Stmt::Guard { body, .. } => work.push((body, Some(at), around, depth + 1)),
                    Stmt::Loop { body, .. } => work.push((body, Some(at), Some(at), depth + 1)),
                    Stmt::Branch { arms, .. } | Stmt::Switch { arms, .. } => {
                        work.extend(tree.arms(arms).iter().map(|a| (a.body, Some(at), around, depth + 1)));
                    }
                    _ => {}
                }
            }
        }
        layout
    }

    /// Each statement that is in a list, with its index, the index of its list's last statement, and its depth.
    pub(crate) fn statements(&self) -> impl Iterator<Item = (u32, Stmt, u32, u32)> {
        self.list_of.iter().enumerate().filter(|&(_, &l)| l != u32::MAX).map(|(at, &l)| {
            let place = self.places[l as usize];
            (at as u32, self.tree.stmts[at], place.end - 1, place.depth)
        })
    }

    /// A cursor at the start of the tree.
    pub(crate) fn start(&self) -> Cursor {
        Cursor { list: 0, at: self.tree.root.start, selectors: [None; 2] }
    }

    /// A cursor behind a statement, with selectors unset.
    pub(crate) fn behind(&self, at: u32) -> Cursor {
        Cursor { list: self.list_of[at as usize], at: at + 1, selectors: [None; 2] }
    }
}

impl Cursor {
    /// Moves into the body or arm `list` of the statement just passed.
    pub(crate) fn enter(&mut self, layout: &Layout<'_>, list: List) {
        // An empty list has no place of its own: control stays behind its owner.
        if list.len > 0 {
            self.list = layout.list_of[list.start as usize];
            self.at = list.start;
        }
    }

    /// Runs to the next event and past it.
    pub(crate) fn next(&mut self, layout: &Layout<'_>) -> Result<Event, Fault> {
        // Between two events each statement runs at most once before and once after a loop repeats.
        for _ in 0..=4 * layout.list_of.len() + 4 {
            let place = layout.places[self.list as usize];
            if self.at == place.end {
                let owner = place.owner.ok_or(Fault::FellOff)?;
                if let Stmt::Loop { .. } = layout.tree.stmts[owner as usize] {
                    return Err(Fault::FellOff);
                }
                *self = Cursor { selectors: self.selectors, ..layout.behind(owner) };
                continue;
            }
            let stmt = layout.tree.stmts[self.at as usize];
            self.at += 1;
            match stmt {
                Stmt::Block(block) => return Ok(Event::Block(block)),
                Stmt::Edge(edge) => return Ok(Event::Edge(edge)),
                Stmt::Branch { block, arms } => return Ok(Event::Branch(block, arms)),
                Stmt::Terminate(block) => return Ok(Event::Terminate(block)),
                Stmt::Unreachable => return Err(Fault::Unreachable),
                Stmt::Set { var, value } => self.selectors[var as usize] = Some(value),
                Stmt::Switch { var, arms } => {
                    let value = self.selectors[var as usize].ok_or(Fault::Unset(var))?;
                    let arm = layout.tree.arms(arms).iter().find(|a| a.label == value);
                    self.enter(layout, arm.ok_or(Fault::NoArm(var, value))?.body);
                }
                Stmt::Guard { value, body } => {
                    if self.selectors[0].ok_or(Fault::Unset(Selector::Exit))? == value {
                        self.enter(layout, body);
                    }
                }
                Stmt::Loop { body, .. } => self.enter(layout, body),
                Stmt::Break => {
                    let around = place.around.ok_or(Fault::NoLoop)?;
                    *self = Cursor { selectors: self.selectors, ..layout.behind(around) };
                }
                Stmt::Continue => {
                    let around = place.around.ok_or(Fault::NoLoop)?;
                    if let Stmt::Loop { body, .. } = layout.tree.stmts[around as usize] {
                        self.enter(layout, body);
                    }
                }
            }
        }
        Err(Fault::Spins)
    }
}
