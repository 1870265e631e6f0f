//! The text form of a tree, for tests and for reading.

use std::fmt;

use crate::tree::{List, Selector, Stmt, Tree};

enum Todo {
    List(List, usize),
    Line(usize, String),
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Selector::Exit => "exit",
            Selector::Route => "route",
        })
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut todo = vec![Todo::List(self.root, 0)];
        while let Some(next) = todo.pop() {
            let (list, depth) = match next {
                Todo::List(list, depth) => (list, depth),
                Todo::Line(depth, text) => {
                    writeln!(f, "{:1$}{text}", "", 2 * depth)?;
                    continue;
                }
            };
            let from = todo.len();
            for stmt in self.list(list) {
                let text = match *stmt {
                    Stmt::Block(b) => b.to_string(),
                    Stmt::Edge(e) => format!("edge {e}"),
                    Stmt::Set { var, value } => format!("{var} = {value}"),
                    Stmt::Branch { block, .. } => format!("branch {block} {{"),
                    Stmt::Switch { var, .. } => format!("switch {var} {{"),
                    Stmt::Guard { value, .. } => format!("if exit == {value} {{"),
                    Stmt::Loop { header, .. } => match header {
                        Some(block) => format!("loop {block} {{"),
                        None => "loop {".to_owned(),
                    },
                    Stmt::Break => "break".to_owned(),
                    Stmt::Continue => "continue".to_owned(),
                    Stmt::Terminate(b) => format!("terminate {b}"),
                    Stmt::Unreachable => "unreachable".to_owned(),
                };
                todo.push(Todo::Line(depth, text));
                match *stmt {
                    Stmt::Guard { body, .. } | Stmt::Loop { body, .. } => {
                        todo.push(Todo::List(body, depth + 1));
                        todo.push(Todo::Line(depth, "}".to_owned()));
                    }
                    Stmt::Branch { arms, .. } | Stmt::Switch { arms, .. } => {
                        for arm in self.arms(arms) {
                            todo.push(Todo::Line(depth, format!("{}:", arm.label)));
                            todo.push(Todo::List(arm.body, depth + 1));
                        }
                        todo.push(Todo::Line(depth, "}".to_owned()));
                    }
                    _ => {}
                }
            }
            todo[from..].reverse();
        }
        Ok(())
    }
}
