//! Runs a function by its structured form: the same instructions and edges, but control goes where the tree says.
//!
//! What the tree says is held against the function: the edge it takes must be the one the terminator asks for, and
//! the block it executes must be the one the last edge led to. So a run by the tree either does what a run by the
//! graph does, step by step, or traps.

use crate::bindings::Bindings;
use crate::exec::{Flow, Lane, Program, World};
use crate::interpreter::Interpreter;
use crate::outcome::{Limits, Outcome};
use crate::trap::{Cause, Trap};
use xenoglot_ir::{Bits, Block, Func};
use xenoglot_structure::Tree;
use xenoglot_structure::graph::Edge;
use xenoglot_structure::tree::{List, Selector, Stmt};

/// Statements without a block among them after which control is taken to go round for ever. A right tree of as many
/// nodes as a graph may have stays far below.
const MAX_IDLE: u32 = 1 << 24;

impl Interpreter<'_> {
    /// [`Interpreter::run_function`] along `tree`, which structuring `func` gave. Functions it calls run by their
    /// graphs. Barriers and subgroup ops are not supported.
    ///
    /// # Errors
    /// As [`Interpreter::run_function`], and [`Cause::Tree`].
    pub fn run_tree(
        &mut self,
        func: Func,
        tree: &Tree,
        args: &[Bits],
        bindings: &mut Bindings,
        limits: &Limits,
    ) -> Result<Outcome, Trap> {
        self.alone(func, args, bindings, limits, |program, [lane], world, _| {
            let mut walk =
                Walk { program, tree, points: Vec::new(), selectors: [None; 2], state: State::Arrived };
            walk.push(tree.root(), false);
            walk.run(lane, world).map_err(|cause| program.trap(lane, cause))
        })
    }
}

/// A list in progress.
struct Point {
    list: List,
    next: usize,
    /// Whether it is the body of a loop.
    repeats: bool,
}

/// How far the current block has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// An edge led to it.
    Arrived,
    /// Its instructions are done.
    Executed,
    /// Its terminator asks for the edge with this index.
    Chose(u32),
}

struct Walk<'a> {
    program: &'a Program<'a>,
    tree: &'a Tree,
    points: Vec<Point>,
    selectors: [Option<u32>; 2],
    state: State,
}

impl Walk<'_> {
    fn push(&mut self, list: List, repeats: bool) {
        self.points.push(Point { list, next: 0, repeats });
    }

    fn run(&mut self, lane: &mut Lane, world: &mut World) -> Result<(), Cause> {
        let mut idle = 0;
        while lane.end.is_none() {
            let Some(point) = self.points.last_mut() else {
                return Err(Cause::Tree("control passes the end of the function"));
            };
            let Some(&stmt) = self.tree.list(point.list).get(point.next) else {
                if point.repeats {
                    return Err(Cause::Tree("control passes the end of a loop's body"));
                }
                self.points.pop();
                continue;
            };
            point.next += 1;
            idle = if matches!(stmt, Stmt::Block(_)) { 0 } else { idle + 1 };
            if idle > MAX_IDLE {
                return Err(Cause::Tree("control goes round without executing a block"));
            }
            self.stmt(lane, world, stmt)?;
        }
        Ok(())
    }

    fn stmt(&mut self, lane: &mut Lane, world: &mut World, stmt: Stmt) -> Result<(), Cause> {
        match stmt {
            Stmt::Block(block) => {
                self.stands(lane, block, State::Arrived)?;
                self.body(lane, world)?;
                self.state = State::Executed;
            }
            Stmt::Edge(edge) => self.edge(lane, world, edge)?,
            Stmt::Set { var, value } => self.selectors[var as usize] = Some(value),
            Stmt::Branch { block, arms } => {
                self.stands(lane, block, State::Executed)?;
                let func = self.program.func(lane.frame().func);
                let way = self.program.choose(lane, func, func.block(block));
                self.state = State::Chose(way);
                match self.tree.arms(arms).get(way as usize) {
                    Some(arm) if arm.label == way => self.push(arm.body, false),
                    _ => return Err(Cause::Tree("a branch without an arm for an edge")),
                }
            }
            Stmt::Switch { var, arms } => {
                let value = self.selector(var)?;
                let arm = self.tree.arms(arms).iter().find(|a| a.label == value);
                self.push(arm.ok_or(Cause::Tree("a switch without an arm for its selector"))?.body, false);
            }
            Stmt::Guard { value, body } => {
                if self.selector(Selector::Exit)? == value {
                    self.push(body, false);
                }
            }
            Stmt::Loop { body, .. } => self.push(body, true),
            Stmt::Break => {
                self.innermost()?;
                self.points.pop();
            }
            Stmt::Continue => self.innermost()?.next = 0,
            Stmt::Terminate(block) => {
                self.stands(lane, block, State::Executed)?;
                self.program.terminate(lane, world)?;
                if lane.end.is_none() {
                    return Err(Cause::Tree("a block with successors ends the function"));
                }
            }
            Stmt::Unreachable => return Err(Cause::Tree("an unreachable statement is reached")),
        }
        Ok(())
    }

    /// Checks that control stands in `block` at `state`.
    fn stands(&self, lane: &mut Lane, block: Block, state: State) -> Result<(), Cause> {
        let right = lane.frame().block == block && self.state == state;
        if right { Ok(()) } else { Err(Cause::Tree("a block is executed or ended out of turn")) }
    }

    /// Executes the instructions of the current block, and what they call.
    fn body(&self, lane: &mut Lane, world: &mut World) -> Result<(), Cause> {
        while lane.end.is_none() {
            match self.program.body(lane, world)? {
                Flow::Terminator if lane.frames.len() == 1 => break,
                Flow::Terminator => self.program.terminate(lane, world)?,
                Flow::Called => {}
                Flow::Joint => {
                    let op = self.program.next(lane).map(|(_, code)| code.op);
                    return Err(Cause::Unsupported { op: op.unwrap_or(xenoglot_ir::Op::Barrier) });
                }
            }
        }
        Ok(())
    }

    fn edge(&mut self, lane: &mut Lane, world: &mut World, edge: Edge) -> Result<(), Cause> {
        let func = self.program.func(lane.frame().func);
        let block = func.block(lane.frame().block);
        let due = match self.state {
            State::Chose(way) => way == edge.index,
            state => state == State::Executed && block.edges == 1 && edge.index == 0,
        };
        if edge.from != lane.frame().block || !due {
            return Err(Cause::Tree("an edge that the terminator did not ask for"));
        }
        world.burn()?;
        let number = block.first_edge + edge.index;
        self.program.copy(lane, func, number);
        self.program.go(lane, world, func.edges[number as usize].target);
        self.state = State::Arrived;
        Ok(())
    }

    fn selector(&self, var: Selector) -> Result<u32, Cause> {
        self.selectors[var as usize].ok_or(Cause::Tree("a selector is read before it is set"))
    }

    /// Drops the lists inside the innermost loop's body.
    fn innermost(&mut self) -> Result<&mut Point, Cause> {
        let depth = self.points.iter().rposition(|p| p.repeats);
        let depth = depth.ok_or(Cause::Tree("break or continue outside a loop"))?;
        self.points.truncate(depth + 1);
        Ok(&mut self.points[depth])
    }
}
