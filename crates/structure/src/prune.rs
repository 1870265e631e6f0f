//! Removes assignments to [`Selector::Exit`] that nobody reads.
//!
//! One walk from the last statement to the first. The selector is never live where a loop repeats: a block or a dispatch on
//! [`Selector::Route`] stands there, and whoever reads the exit selector later sets it after that.

use crate::tree::{Arm, Arms, List, Selector, Stmt, Tree};

/// Prunes the tree and counts the assignments that remain.
pub(crate) fn prune(tree: &mut Tree) {
    let dead = dead_sets(tree);
    // A list is complete before the statement that owns it is stored, so bodies lie before their owners.
    for at in 0..tree.stmts.len() {
        match tree.stmts[at] {
            Stmt::Guard { value, body } => {
                tree.stmts[at] = Stmt::Guard { value, body: compact(&mut tree.stmts, &dead, body) };
            }
            Stmt::Loop { header, body } => {
                tree.stmts[at] = Stmt::Loop { header, body: compact(&mut tree.stmts, &dead, body) };
            }
            Stmt::Branch { arms, .. } | Stmt::Switch { arms, .. } => {
                for Arm { body, .. } in &mut tree.arms[arms.start as usize..(arms.start + arms.len) as usize]
                {
                    *body = compact(&mut tree.stmts, &dead, *body);
                }
            }
            _ => {}
        }
    }
    tree.root = compact(&mut tree.stmts, &dead, tree.root);
}

fn compact(stmts: &mut [Stmt], dead: &[bool], list: List) -> List {
    let start = list.start as usize;
    let mut end = start;
    for at in start..start + list.len as usize {
        if !dead[at] {
            stmts[end] = stmts[at];
            end += 1;
        }
    }
    List { start: list.start, len: end as u32 - list.start }
}

/// Something being walked backwards. `after`: whether the selector is live behind it.
enum Walk {
    List { start: u32, next: u32 },
    Arms { arms: Arms, next: u32, after: bool, before: bool },
    Guard,
    Loop { outer_break: bool },
}

fn dead_sets(tree: &mut Tree) -> Vec<bool> {
    let mut dead = vec![false; tree.stmts.len()];
    let list = |l: List| Walk::List { start: l.start, next: l.start + l.len };
    let mut stack = vec![list(tree.root)];
    let mut live = false;
    let mut at_break = false;
    let mut sets = 0;
    while let Some(top) = stack.last_mut() {
        tree.stats.steps += 1;
        match top {
            Walk::List { start, next } if start == next => {
                stack.pop();
            }
            Walk::List { next, .. } => {
                *next -= 1;
                let at = *next as usize;
                match tree.stmts[at] {
                    Stmt::Set { var: Selector::Exit, .. } => {
                        dead[at] = !live;
                        sets += u32::from(live);
                        live = false;
                    }
                    Stmt::Set { var: Selector::Route, .. } => sets += 1,
                    Stmt::Block(_) | Stmt::Edge(_) => {}
                    Stmt::Break => live = at_break,
                    Stmt::Continue | Stmt::Terminate(_) | Stmt::Unreachable => live = false,
                    Stmt::Guard { body, .. } => stack.extend([Walk::Guard, list(body)]),
                    Stmt::Loop { body, .. } => {
                        stack.extend([Walk::Loop { outer_break: at_break }, list(body)]);
                        at_break = live;
                    }
                    Stmt::Switch { arms, var } => {
                        let before = var == Selector::Exit;
                        stack.push(Walk::Arms { arms, next: 0, after: live, before });
                    }
                    Stmt::Branch { arms, .. } => {
                        stack.push(Walk::Arms { arms, next: 0, after: live, before: false });
                    }
                }
            }
            Walk::Arms { arms, next, after, before } => {
                // The first arm is entered with nothing behind it to collect.
                *before |= *next > 0 && live;
                if *next == arms.len {
                    live = *before;
                    stack.pop();
                } else {
                    live = *after;
                    let body = tree.arms[(arms.start + *next) as usize].body;
                    *next += 1;
                    stack.push(list(body));
                }
            }
            Walk::Guard => {
                live = true;
                stack.pop();
            }
            Walk::Loop { outer_break } => {
                at_break = *outer_break;
                stack.pop();
            }
        }
    }
    tree.stats.sets = sets;
    dead
}
