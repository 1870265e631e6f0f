//! Control flow with the stack of pushed targets as part of a node's identity.
//!
//! SSY, PBK, PCNT, CAL and PRET push where to go on; SYNC, BRK, CONT and RET unwind to the nearest entry of their kind
//! and go there. A node is therefore an address *and* the entries pushed on the way to it. Every pop becomes a direct
//! edge by this, functions are inlined where they are called, and the graph says the same in one language. Entries are
//! the same for all lanes that take the same path, which is all that a lane can tell of the warp's stack.
//!
//! Where there are too many contexts, or a function calls itself, the stack becomes data: a node is an address alone, and
//! a pop goes to a place of its own ([`Target::Pop`]).
//!
//! A stack is finite: pushing an entry that is there already, above the last call, drops it and what was above it.
//! Such an entry is one that a branch jumped out of. A pop that finds no entry of its kind ends the invocation.

mod stack;
mod table;

use crate::code::{WORD, is_control};
use crate::decode::{DecodeError, decode};
use crate::inst::{Inst, Role, Value};
use crate::modifier::Mod;
use crate::opcode::Opcode;
use rustc_hash::FxBuildHasher;
pub use stack::Kind;
use stack::{Entry, StackId, Stacks};
use std::collections::HashMap;
use thiserror::Error;

/// Data of a constant bank that is known at translation time.
#[derive(Clone, Copy, Debug)]
pub struct ConstantBank<'a> {
    /// Its number, 0 to 17.
    pub bank: u32,
    /// Its first bytes.
    pub data: &'a [u8],
}

/// What is known beside the code.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'a> {
    /// Constant banks: where jump tables are read from.
    pub constants: &'a [ConstantBank<'a>],
    /// Byte offsets of functions in the code: where a computed branch without a table may go.
    pub functions: &'a [u32],
}

/// Bounds on the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Instructions in distinct contexts, and entries of jump tables.
    pub max_nodes: usize,
    /// Entries on the stack before it becomes data. 0 makes every stack data.
    pub max_depth: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { max_nodes: 1 << 16, max_depth: 64 }
    }
}

/// Why control flow cannot be resolved.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum FlowError {
    /// Control reaches a word that is no instruction.
    #[error("control reaches a word that is no instruction: {0}")]
    Decode(#[from] DecodeError),
    /// Control leaves the code.
    #[error("{from:#06x}: control goes to {to:#x}, outside the code")]
    Outside {
        /// Address of the instruction.
        from: u32,
        /// Where to.
        to: u32,
    },
    /// An indirect branch whose table was not found.
    #[error("{address:#06x}: the targets of an indirect branch are not known")]
    Indirect {
        /// Address of the instruction.
        address: u32,
    },
    /// A flow operation that no shader compiler emits.
    #[error("{address:#06x}: {op} is not supported", op = .op.name())]
    Unsupported {
        /// Address of the instruction.
        address: u32,
        /// The operation.
        op: Opcode,
    },
    /// More instructions than [`Limits`] allows.
    #[error("{address:#06x}: too many instructions")]
    TooComplex {
        /// Address where the limit was met.
        address: u32,
    },
}

/// Where control goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// A node.
    Node(u32),
    /// The end of the invocation.
    End,
    /// Where the nearest entry says that this pops; the end if there is none. Only where the stack is data.
    Pop(Kind),
}

/// The ways out of a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Exit {
    /// One way.
    Always(Target),
    /// By the guard and the condition-code test: where both hold, and where not.
    If(Target, Target),
    /// By the value of the branch's register, where the guard and the test hold; another value ends the invocation.
    Table {
        /// Values and where they lead.
        cases: Vec<(u32, Target)>,
        /// Where the guard or the test does not hold.
        otherwise: Target,
    },
    /// An entry goes on the stack, which is data.
    Push {
        /// Its number in [`Flow::entries`].
        entry: u32,
        /// Where control goes on.
        to: Target,
    },
}

/// An instruction in one context.
#[derive(Clone, Debug)]
pub struct Node {
    /// The instruction.
    pub inst: Inst,
    /// What comes after it.
    pub exit: Exit,
    /// Ways that lead here.
    pub preds: u32,
}

/// Every reachable instruction in every context.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    /// The nodes; the first is the entry.
    pub nodes: Vec<Node>,
    /// Number of distinct contexts.
    pub contexts: usize,
    /// What may be on a stack that is data: what pops it, and where that leads.
    pub entries: Vec<(Kind, Target)>,
}

/// The word at a byte address.
fn word(code: &[u8], address: u32) -> Option<u64> {
    let bytes = code.get(address as usize..)?.first_chunk::<8>()?;
    Some(u64::from_le_bytes(*bytes))
}

/// BPT's `.TRAP`.
const TRAP: u8 = 3;

/// What a flow instruction does where its guard and its test hold.
enum Step {
    Next,
    To(u32),
    Push(Kind, u32),
    Call(u32),
    Pop(Kind),
    Table,
    End,
}

fn step(inst: &Inst) -> Result<Step, FlowError> {
    let address = inst.address;
    let target = || match inst.operand(Role::Target).map(|o| o.value) {
        Some(Value::Target(to)) => Ok(to),
        _ => Err(FlowError::Indirect { address }),
    };
    Ok(match inst.op {
        Opcode::Bra | Opcode::Jmp => Step::To(target()?),
        Opcode::Ssy => Step::Push(Kind::Sync, target()?),
        Opcode::Pbk => Step::Push(Kind::Break, target()?),
        Opcode::Pcnt => Step::Push(Kind::Continue, target()?),
        Opcode::Pret => Step::Push(Kind::Return, target()?),
        Opcode::Cal | Opcode::Jcal => Step::Call(target()?),
        Opcode::Sync => Step::Pop(Kind::Sync),
        Opcode::Brk => Step::Pop(Kind::Break),
        Opcode::Cont => Step::Pop(Kind::Continue),
        Opcode::Ret => Step::Pop(Kind::Return),
        Opcode::Brx => Step::Table,
        // A trap ends the invocation: there is nobody to hand it to.
        Opcode::Exit => Step::End,
        Opcode::Bpt if inst.modifier(Mod::Operation) == TRAP => Step::End,
        Opcode::Bpt
        | Opcode::Jmx
        | Opcode::Longjmp
        | Opcode::Plongjmp
        | Opcode::Pexit
        | Opcode::Rtt
        | Opcode::Ide => {
            return Err(FlowError::Unsupported { address, op: inst.op });
        }
        _ => Step::Next,
    })
}

/// Whether an instruction may do anything to control besides going on.
pub fn is_flow(op: Opcode) -> bool {
    use Opcode::*;
    matches!(
        op,
        Bra | Jmp
            | Ssy
            | Pbk
            | Pcnt
            | Pret
            | Cal
            | Jcal
            | Sync
            | Brk
            | Cont
            | Ret
            | Brx
            | Jmx
            | Exit
            | Bpt
            | Longjmp
            | Plongjmp
            | Pexit
            | Rtt
            | Ide
    )
}

struct Explorer<'a> {
    code: &'a [u8],
    known: Known<'a>,
    limits: Limits,
    stacks: Stacks,
    /// For each word of the code its node in the context that came to it first, and that context.
    first: Vec<Option<(StackId, u32)>>,
    /// The nodes of words in further contexts.
    ids: HashMap<(u32, StackId), u32, FxBuildHasher>,
    nodes: Vec<Node>,
    contexts: Vec<StackId>,
    /// Entries of jump tables, in all contexts.
    cases: usize,
    /// The stack is data: these are its entries, and their numbers.
    entries: Option<Vec<(Kind, Target)>>,
    numbers: HashMap<(Kind, Target), u32, FxBuildHasher>,
}

/// Explores `code`, whose first word is a scheduling word, from byte address `entry` on.
pub fn explore(code: &[u8], entry: u32, known: Known<'_>, limits: Limits) -> Result<Flow, FlowError> {
    let run = |entries| {
        // Most instructions are come to in one context.
        let likely = (code.len() / WORD as usize).min(limits.max_nodes);
        let mut e = Explorer {
            code,
            known,
            limits,
            stacks: Stacks::default(),
            first: vec![None; code.len() / WORD as usize],
            ids: HashMap::default(),
            nodes: Vec::with_capacity(likely),
            contexts: Vec::with_capacity(likely),
            cases: 0,
            entries,
            numbers: HashMap::default(),
        };
        e.node(entry, entry, StackId::EMPTY)?;
        let mut next = 0;
        while next < e.nodes.len() {
            let exit = e.exit(next)?;
            e.nodes[next].exit = exit;
            next += 1;
        }
        Ok(Flow { nodes: e.nodes, contexts: e.stacks.len(), entries: e.entries.unwrap_or_default() })
    };
    match run(None) {
        Err(FlowError::TooComplex { .. }) => run(Some(Vec::new())),
        done => done,
    }
}

impl Explorer<'_> {
    /// The node of an address; that of a scheduling word means the next one.
    fn node(&mut self, from: u32, to: u32, stack: StackId) -> Result<Target, FlowError> {
        let outside = FlowError::Outside { from, to };
        if !to.is_multiple_of(WORD) {
            return Err(outside);
        }
        let at = if is_control(to) { to.saturating_add(WORD) } else { to };
        let next = self.nodes.len() as u32;
        let first = self.first.get_mut((at / WORD) as usize).map(|first| *first.get_or_insert((stack, next)));
        let id = match first {
            Some((of, id)) if of == stack => id,
            _ => *self.ids.entry((at, stack)).or_insert(next),
        };
        if id == next {
            if self.nodes.len() >= self.limits.max_nodes {
                return Err(FlowError::TooComplex { address: at });
            }
            let word = word(self.code, at).ok_or(outside)?;
            let inst = decode(at, word)?;
            self.nodes.push(Node { inst, exit: Exit::Always(Target::End), preds: 0 });
            self.contexts.push(stack);
        }
        self.nodes[id as usize].preds += 1;
        Ok(Target::Node(id))
    }

    /// Pushes an entry and goes to `to`.
    fn push(&mut self, from: u32, stack: StackId, entry: Entry, to: u32) -> Result<Exit, FlowError> {
        if self.entries.is_none() {
            let pushed = self.stacks.push(stack, entry, self.limits.max_depth);
            let stack = pushed.ok_or(FlowError::TooComplex { address: from })?;
            return Ok(Exit::Always(self.node(from, to, stack)?));
        }
        let entry = (entry.kind, self.node(from, entry.target, stack)?);
        let to = self.node(from, to, stack)?;
        let entries = self.entries.get_or_insert_default();
        let number = *self.numbers.entry(entry).or_insert_with(|| {
            entries.push(entry);
            entries.len() as u32 - 1
        });
        Ok(Exit::Push { entry: number, to })
    }

    fn exit(&mut self, id: usize) -> Result<Exit, FlowError> {
        let (inst, stack) = (self.nodes[id].inst, self.contexts[id]);
        let (from, next) = (inst.address, inst.address.saturating_add(WORD));
        if inst.guard.is_never() {
            return Ok(Exit::Always(self.node(from, next, stack)?));
        }
        let taken = match step(&inst)? {
            Step::Next => return Ok(Exit::Always(self.node(from, next, stack)?)),
            // A push has no predicate, and a call none either.
            Step::Push(kind, target) => return self.push(from, stack, Entry { kind, target }, next),
            Step::Call(target) => {
                return self.push(from, stack, Entry { kind: Kind::Call, target: next }, target);
            }
            Step::Table => return self.table(&inst, stack),
            Step::To(target) => self.node(from, target, stack)?,
            Step::Pop(kind) if self.entries.is_some() => Target::Pop(kind),
            Step::Pop(kind) => match self.stacks.unwind(stack, kind) {
                Some((target, rest)) => self.node(from, target, rest)?,
                None => Target::End,
            },
            Step::End => Target::End,
        };
        if inst.guard.is_always() && inst.operand(Role::Cc).is_none() {
            return Ok(Exit::Always(taken));
        }
        Ok(Exit::If(taken, self.node(from, next, stack)?))
    }

    fn table(&mut self, inst: &Inst, stack: StackId) -> Result<Exit, FlowError> {
        let from = inst.address;
        let entries = table::recover(self.code, self.known.constants, inst);
        let entries = entries.or_else(|| table::functions(self.known.functions, inst));
        let entries = entries.ok_or(FlowError::Indirect { address: from })?;
        self.cases += entries.len();
        if self.cases > self.limits.max_nodes {
            return Err(FlowError::TooComplex { address: from });
        }
        let mut cases = Vec::with_capacity(entries.len());
        for (value, to) in entries {
            cases.push((value, self.node(from, to, stack)?));
        }
        let always = inst.guard.is_always() && inst.operand(Role::Cc).is_none();
        let otherwise = if always { Target::End } else { self.node(from, from.saturating_add(WORD), stack)? };
        Ok(Exit::Table { cases, otherwise })
    }
}

#[cfg(test)]
mod tests;
