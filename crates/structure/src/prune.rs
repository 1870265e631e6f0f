//! Removes assignments to [`Selector::Exit`] that nobody reads.
//!
//! One walk from the last statement to the first. The selector is never live where a loop repeats: a block or a dispatch on
//! [`Selector::Route`] stands there, and whoever reads the exit selector later sets it after that.
//!
//! What stays of a list moves towards its end on the way.

use crate::tree::{Arms, List, Selector, Stmt, Tree};

/// Prunes the tree and counts the assignments that remain.
pub(crate) fn prune(tree: &mut Tree) {
    let mut prune = Prune {
        stack: Vec::with_capacity(2 * tree.stats.max_depth as usize + 4),
        live: false,
        at_break: false,
        sets: 0,
        steps: 0,
    };
    prune.run(tree);
    tree.stats.sets = prune.sets;
    tree.stats.steps += prune.steps;
}

/// Something being walked backwards. `after`: whether the selector is live behind it.
enum Walk {
    /// A list from `start`: what is to come ends at `next`, what stays starts at `kept`.
    List { start: u32, next: u32, kept: u32, end: u32 },
    /// The arms of a selection, `next` the one being walked.
    Arms { arms: Arms, next: u32, after: bool, before: bool },
    /// The guard at this place.
    Guard(u32),
    /// The loop at this place.
    Loop { at: u32, outer_break: bool },
}

struct Prune {
    stack: Vec<Walk>,
    /// Whether the selector is live at the place at hand, and at the end of the loop at hand.
    live: bool,
    at_break: bool,
    sets: u32,
    steps: u64,
}

impl Prune {
    fn run(&mut self, tree: &mut Tree) {
        self.push(tree.root);
        while let Some(walk) = self.stack.pop() {
            let Walk::List { start, next, kept, end } = walk else { continue };
            let Some(list) = self.list(tree, start, next, kept, end) else { continue };
            self.done(tree, list);
        }
    }

    fn push(&mut self, list: List) {
        let end = list.start + list.len;
        self.stack.push(Walk::List { start: list.start, next: end, kept: end, end });
    }

    /// Walks a list up to a statement that has statements inside; what stays of it if there is none.
    fn list(&mut self, tree: &mut Tree, start: u32, mut next: u32, mut kept: u32, end: u32) -> Option<List> {
        while next > start {
            self.steps += 1;
            next -= 1;
            let stmt = tree.stmts[next as usize];
            match stmt {
                Stmt::Set { var: Selector::Exit, .. } => {
                    if !std::mem::replace(&mut self.live, false) {
                        continue;
                    }
                    self.sets += 1;
                }
                Stmt::Set { var: Selector::Route, .. } => self.sets += 1,
                Stmt::Block(_) | Stmt::Edge(_) => {}
                Stmt::Break => self.live = self.at_break,
                Stmt::Continue | Stmt::Terminate(_) | Stmt::Unreachable => self.live = false,
                Stmt::Guard { .. } | Stmt::Loop { .. } | Stmt::Switch { .. } | Stmt::Branch { .. } => {}
            }
            kept -= 1;
            if kept != next {
                tree.stmts[kept as usize] = stmt;
            }
            if stmt.has_body() {
                self.stack.push(Walk::List { start, next, kept, end });
                self.inside(tree, stmt, kept);
                return None;
            }
        }
        Some(List { start: kept, len: end - kept })
    }

    /// Goes into the statement at `at`.
    fn inside(&mut self, tree: &Tree, stmt: Stmt, at: u32) {
        let (arms, before) = match stmt {
            Stmt::Guard { body, .. } => {
                self.stack.push(Walk::Guard(at));
                return self.push(body);
            }
            Stmt::Loop { body, .. } => {
                self.stack.push(Walk::Loop { at, outer_break: self.at_break });
                self.at_break = self.live;
                return self.push(body);
            }
            Stmt::Switch { arms, var } => (arms, var == Selector::Exit),
            Stmt::Branch { arms, .. } => (arms, false),
            _ => return,
        };
        match tree.arms(arms).first() {
            Some(arm) => {
                self.stack.push(Walk::Arms { arms, next: 0, after: self.live, before });
                self.push(arm.body);
            }
            None => self.live = before,
        }
    }

    /// Notes what stays of the list at the top of the stack, and goes on with the next arm or leaves the statement.
    fn done(&mut self, tree: &mut Tree, list: List) {
        self.steps += 1;
        match self.stack.last_mut() {
            None | Some(Walk::List { .. }) => tree.root = list,
            Some(Walk::Arms { arms, next, after, before }) => {
                *before |= self.live;
                if let Some(arm) = tree.arms.get_mut((arms.start + *next) as usize) {
                    arm.body = list;
                }
                *next += 1;
                if *next < arms.len {
                    self.live = *after;
                    let body = tree.arms[(arms.start + *next) as usize].body;
                    self.push(body);
                } else {
                    self.live = *before;
                    self.stack.pop();
                }
            }
            Some(&mut Walk::Guard(at)) => {
                if let Stmt::Guard { body, .. } = &mut tree.stmts[at as usize] {
                    *body = list;
                }
                self.live = true;
                self.stack.pop();
            }
            Some(&mut Walk::Loop { at, outer_break }) => {
                if let Stmt::Loop { body, .. } = &mut tree.stmts[at as usize] {
                    *body = list;
                }
                self.at_break = outer_break;
                self.stack.pop();
            }
        }
    }
}
