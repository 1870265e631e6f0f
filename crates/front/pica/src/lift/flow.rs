//! Control flow with the scope stacks as part of a node's identity.
//!
//! Scopes of the PICA200 end by address after each instruction, not by structure (vectors/pica/FORMAT.md,
//! section 4). A node is therefore a program counter *and* the contents of the IF, CALL and LOOP stacks; all that
//! stays data is how many rounds a loop has left. Calls are inlined by this, jumps out of and into scopes come out
//! right, and a stale entry that fires later does so here as well. Stacks are bounded (8, 4, 4, the oldest entry
//! dropped), so the graph is finite; when it grows past the limit, [`super::stacks`] takes over.

use super::{LiftError, Limits};
use crate::flow::{CALL_DEPTH, Control, END_PC, IF_DEPTH, LOOP_DEPTH, Stack, Step, Test, control};
use crate::inst::Inst;
use crate::program::Program;
use std::collections::HashMap;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct IfEntry {
    otherwise: u32,
    end: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct CallEntry {
    end: u32,
    back: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct LoopEntry {
    start: u32,
    end: u32,
    uniform: u8,
}

/// The stacks at a program counter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct Scopes {
    ifs: Stack<IfEntry, IF_DEPTH>,
    calls: Stack<CallEntry, CALL_DEPTH>,
    loops: Stack<LoopEntry, LOOP_DEPTH>,
}

impl Scopes {
    /// Whether a scope ends before word `pc` when control comes there.
    fn any_ends(&self, pc: u32) -> bool {
        self.calls.top().is_some_and(|c| c.end == pc)
            || self.ifs.top().is_some_and(|i| i.otherwise == pc)
            || self.loops.top().is_some_and(|l| l.end == pc)
    }
}

/// Where a path leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Target {
    /// A node.
    Node(u32),
    /// The end of the program.
    End,
}

/// What happens to the loops on a path, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Path {
    /// A loop is entered: its int uniform, its depth, and whether the oldest loop's count is dropped.
    pub enter: Option<(u8, u8, bool)>,
    /// A loop's end is reached or it is left.
    pub leave: Option<LoopEnd>,
    /// Where to; for a loop that may repeat, when it is done.
    pub target: Target,
}

/// The end of a round of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LoopEnd {
    /// Its int uniform.
    pub uniform: u8,
    /// Its depth.
    pub depth: u8,
    /// Where another round starts; none after a break.
    pub again: Option<Target>,
    /// Another loop remains below: aL becomes this loop's own start value.
    pub restore: bool,
}

/// The ways out of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Exit {
    /// One way.
    Always(Path),
    /// By a test.
    If(Test, Path, Path),
}

/// An instruction in one context.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Word address.
    pub pc: u32,
    /// The instruction.
    pub inst: Inst,
    /// What comes after it.
    pub exit: Exit,
    /// Ways that lead here.
    pub preds: u32,
}

/// Every reachable instruction in every context.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// The nodes; the first is the entry.
    pub nodes: Vec<Node>,
    /// Number of distinct contexts.
    pub contexts: usize,
}

/// Why exploration stopped.
pub(super) enum Stop {
    /// More nodes than allowed.
    TooManyNodes,
    /// A word that is no instruction.
    Error(LiftError),
}

struct Explorer<'p> {
    program: &'p Program,
    contexts: Vec<Scopes>,
    context_ids: HashMap<Scopes, u32, rustc_hash::FxBuildHasher>,
    /// By program counter, the first context it was met in and the node there: most have no other.
    first: Vec<Option<(u32, u32)>>,
    /// The other nodes by context and program counter. A table for each context would be mostly empty, and large for a
    /// program with many.
    node_ids: HashMap<(u32, u32), u32, rustc_hash::FxBuildHasher>,
    nodes: Vec<Node>,
    node_contexts: Vec<u32>,
    /// How many words are nodes.
    words: usize,
    limits: Limits,
}

/// Nodes that there is room for at first: most programs have no more.
const ROOM: usize = 256;

/// Explores the program from `entry`. The entry must be below [`END_PC`].
pub(super) fn explore(program: &Program, entry: u32, limits: Limits) -> Result<Flow, Stop> {
    let words = program.code.len().min(END_PC as usize);
    let mut e = Explorer {
        program,
        contexts: Vec::new(),
        context_ids: HashMap::default(),
        first: vec![None; words],
        node_ids: HashMap::default(),
        nodes: Vec::with_capacity(words.min(ROOM)),
        node_contexts: Vec::with_capacity(words.min(ROOM)),
        words: 0,
        limits,
    };
    let root = e.context(Scopes::default());
    e.node(entry, root)?;
    let mut next = 0;
    while next < e.nodes.len() {
        let exit = e.exit(next)?;
        e.nodes[next].exit = exit;
        next += 1;
    }
    Ok(Flow { nodes: e.nodes, contexts: e.contexts.len() })
}

impl Explorer<'_> {
    fn context(&mut self, scopes: Scopes) -> u32 {
        *self.context_ids.entry(scopes).or_insert_with(|| {
            self.contexts.push(scopes);
            self.contexts.len() as u32 - 1
        })
    }

    fn node(&mut self, pc: u32, context: u32) -> Result<Target, Stop> {
        if pc >= END_PC {
            return Ok(Target::End);
        }
        let id = match self.known(pc, context) {
            Some(id) => id,
            None => self.new_node(pc, context)?,
        };
        self.nodes[id as usize].preds += 1;
        Ok(Target::Node(id))
    }

    fn known(&self, pc: u32, context: u32) -> Option<u32> {
        match self.first.get(pc as usize).copied().flatten()? {
            (first, id) if first == context => Some(id),
            _ => self.node_ids.get(&(context, pc)).copied(),
        }
    }

    fn new_node(&mut self, pc: u32, context: u32) -> Result<u32, Stop> {
        let id = self.nodes.len() as u32;
        if self.first.len() <= pc as usize {
            self.first.resize(pc as usize + 1, None); // at most END_PC
        }
        match &mut self.first[pc as usize] {
            Some(_) => {
                self.node_ids.insert((context, pc), id);
            }
            first => {
                *first = Some((context, id));
                self.words += 1;
            }
        }
        if self.nodes.len() >= self.limits.nodes_of(self.words) {
            return Err(Stop::TooManyNodes);
        }
        let inst = self.program.inst(pc).map_err(|e| Stop::Error(LiftError::Decode(e)))?;
        let path = Path { enter: None, leave: None, target: Target::End };
        self.nodes.push(Node { pc, inst, exit: Exit::Always(path), preds: 0 });
        self.node_contexts.push(context);
        Ok(id)
    }

    fn exit(&mut self, id: usize) -> Result<Exit, Stop> {
        let (pc, context) = (self.nodes[id].pc, self.node_contexts[id]);
        match control(&self.nodes[id].inst) {
            Control::Always(step) => Ok(Exit::Always(self.path(pc, context, step)?)),
            Control::If(test, yes, no) => {
                let yes = self.path(pc, context, yes)?;
                Ok(Exit::If(test, yes, self.path(pc, context, no)?))
            }
        }
    }

    /// Takes a step from the instruction at `pc`, then ends what scopes end after it.
    fn path(&mut self, pc: u32, context: u32, step: Step) -> Result<Path, Stop> {
        let after = pc + 1;
        let mut path = Path { enter: None, leave: None, target: Target::End };
        if let Step::Next | Step::To(_) = step
            && !self.contexts[context as usize].any_ends(after)
        {
            path.target = self.node(if let Step::To(target) = step { target } else { after }, context)?;
            return Ok(path);
        }
        let mut s = self.contexts[context as usize];
        let mut to = after;
        let mut changed = true;
        match step {
            Step::End => return Ok(path),
            Step::Next | Step::Break => changed = false,
            Step::To(target) => {
                to = target;
                changed = false;
            }
            Step::PushIf { otherwise, end } => {
                s.ifs.push(IfEntry { otherwise, end });
            }
            Step::PushCall { to: target, end } => {
                s.calls.push(CallEntry { end, back: after });
                to = target;
            }
            Step::PushLoop { end, uniform } => {
                let dropped = s.loops.push(LoopEntry { start: after, end, uniform });
                path.enter = Some((uniform, s.loops.len() - 1, dropped));
            }
        }
        let mut q = after;
        for round in 0..CALL_DEPTH {
            let Some(call) = s.calls.top().filter(|c| c.end == q) else { break };
            s.calls.pop();
            changed = true;
            if round + 1 < CALL_DEPTH {
                to = call.back;
                q = call.back;
            }
        }
        if let Some(branch) = s.ifs.top().filter(|i| i.otherwise == after) {
            s.ifs.pop();
            changed = true;
            to = branch.end;
        }
        let broke = step == Step::Break;
        if let Some(top) = s.loops.top().filter(|l| broke || l.end == after) {
            let depth = s.loops.len() - 1;
            let again = if broke {
                None
            } else {
                let context = if changed { self.context(s) } else { context };
                Some(self.node(top.start, context)?)
            };
            s.loops.pop();
            changed = true;
            to = top.end;
            path.leave =
                Some(LoopEnd { uniform: top.uniform, depth, again, restore: s.loops.top().is_some() });
        }
        let context = if changed { self.context(s) } else { context };
        path.target = self.node(to, context)?;
        Ok(path)
    }
}
