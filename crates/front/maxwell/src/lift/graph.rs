//! Blocks from the explored control flow: runs of nodes become blocks, ways out become edges.

use super::cx::Cx;
use super::flags::LiveFlags;
use super::insts::needs_branch;
use super::pending::stays_in_block;
use super::warp::quad_exchange;
use super::{LiftError, Unsupported};
use crate::flow::{Exit, Flow, Kind, Node, Target, is_flow};
use crate::inst::{Guard, Inst, Role};
use crate::opcode::Opcode;
use crate::sph::Stage;
use xenoglot_ir::imm::Scope;
use xenoglot_ir::{Block, NO_GUEST, Op, Value};

/// What many blocks are lifted to, so that their lists need not grow.
const INSTS_PER_BLOCK: usize = 24;

/// What a branch goes by: a negated predicate leads the other way, which takes no instruction.
struct Cond {
    value: Value,
    not: bool,
}

struct Emitter<'c, 'f> {
    cx: &'c mut Cx<'f>,
    flow: &'c Flow,
    flags: LiveFlags,
    blocks: Vec<Option<Block>>,
    pending: Vec<u32>,
    end: Option<Block>,
    pops: [Option<Block>; Kind::POPS.len()],
    /// The guard that the block under the cursor is of, and where it is over.
    open: Option<(Guard, Block)>,
}

/// Appends the program to the block under the cursor, and leaves the cursor where the program ends: whether it does
/// anywhere.
pub(super) fn emit(cx: &mut Cx, flow: &Flow) -> Result<bool, LiftError> {
    let blocks = vec![None; flow.nodes.len()];
    cx.b.func.guest_code.reserve(flow.nodes.len());
    let mut e = Emitter {
        cx,
        flow,
        flags: LiveFlags::new(flow),
        blocks,
        pending: Vec::new(),
        end: None,
        pops: Default::default(),
        open: None,
    };
    let first = e.block(Target::Node(0));
    e.cx.b.jump(first, &[]);
    e.run_pending()?;
    if !flow.entries.is_empty() {
        e.pops()?;
    }
    if let Some(end) = e.end {
        e.cx.b.switch_to(end);
        e.cx.b.set_guest(NO_GUEST);
    }
    Ok(e.end.is_some())
}

impl Emitter<'_, '_> {
    /// The block that starts with the target.
    fn block(&mut self, target: Target) -> Block {
        let func = &mut *self.cx.b.func;
        match target {
            Target::End => *self.end.get_or_insert_with(|| func.add_block()),
            Target::Pop(kind) => {
                let at = Kind::POPS.iter().position(|k| *k == kind).unwrap_or(0);
                *self.pops[at].get_or_insert_with(|| func.add_block())
            }
            Target::Node(id) => *self.blocks[id as usize].get_or_insert_with(|| {
                self.pending.push(id);
                func.add_block()
            }),
        }
    }

    fn run_pending(&mut self) -> Result<(), LiftError> {
        while let Some(id) = self.pending.pop() {
            let block = self.block(Target::Node(id));
            self.cx.b.switch_to(block);
            self.cx.b.func.blocks[block].insts.reserve(INSTS_PER_BLOCK);
            self.run(id)?;
        }
        Ok(())
    }

    /// Emits nodes from `id` on up to the end of the block.
    fn run(&mut self, mut id: u32) -> Result<(), LiftError> {
        let flow = self.flow;
        loop {
            let node = &flow.nodes[id as usize];
            self.cx.b.begin_guest(node.inst.address);
            self.cx.flags_read = self.flags.after(id);
            match self.node(node) {
                Ok(Some(next)) => id = next,
                Ok(None) => return Ok(()),
                Err(Unsupported) => {
                    let (address, text) = (node.inst.address, node.inst.to_string());
                    let is_shared = matches!(node.inst.op, Opcode::Lds | Opcode::Sts | Opcode::Atoms);
                    if is_shared && self.cx.info.shared_bytes == 0 {
                        return Err(LiftError::NoShared { address, text });
                    }
                    return Err(LiftError::Unsupported { address, text });
                }
            }
        }
    }

    /// Emits a node, and ends the block unless it goes on with the node returned.
    fn node(&mut self, node: &Node) -> Result<Option<u32>, Unsupported> {
        let inst = &node.inst;
        if !is_flow(inst.op) && !inst.guard.is_never() {
            self.compute(inst)?;
        }
        if let Exit::Always(Target::Node(next)) = node.exit
            && self.follows(next)
        {
            return Ok(Some(next));
        }
        self.cx.settle_all();
        self.close();
        if std::mem::take(&mut self.cx.io.wait) {
            self.cx.barrier(Scope::Workgroup, true);
        }
        match &node.exit {
            Exit::Always(target) => {
                let to = self.block(*target);
                self.cx.b.jump(to, &[]);
            }
            Exit::If(yes, no) => {
                let (yes, no) = (self.block(*yes), self.block(*no));
                match self.condition(inst)? {
                    Some(cond) => self.branch(cond, yes, no),
                    None => self.cx.b.jump(yes, &[]),
                }
            }
            Exit::Push { entry, to } => {
                self.cx.push_entry(*entry);
                let to = self.block(*to);
                self.cx.b.jump(to, &[]);
            }
            Exit::Table { cases, otherwise } => self.table(inst, cases, *otherwise)?,
        }
        Ok(None)
    }

    /// Whether a node may go on in the block of its only predecessor.
    fn follows(&self, id: u32) -> bool {
        self.flow.nodes[id as usize].preds == 1 && self.blocks[id as usize].is_none() && id != 0
    }

    /// An instruction that is not flow, under its guard: by selections, or in a block that instructions after it share
    /// while their guard is the same. Neighbours in a quad are asked by all of it, whoever then keeps the answer.
    fn compute(&mut self, inst: &Inst) -> Result<(), Unsupported> {
        let in_fragments = self.cx.io.stage() == Some(Stage::Fragment);
        let is_exchange = in_fragments && quad_exchange(inst).is_some();
        if self.open.is_some_and(|(guard, _)| guard != inst.guard || is_exchange) {
            self.close();
        }
        if self.open.is_none() {
            if needs_branch(inst) && !is_exchange && !inst.guard.is_always() {
                self.cx.settle_all();
                let (then, join) = (self.cx.b.func.add_block(), self.cx.b.func.add_block());
                let cond = Cond { value: self.cx.pred(inst.guard.pred), not: inst.guard.not };
                self.branch(cond, then, join);
                self.cx.b.switch_to(then);
                self.open = Some((inst.guard, join));
            } else {
                self.cx.guard = self.cx.guard_value(inst.guard);
            }
        }
        if !stays_in_block(inst.op) {
            self.cx.settle_all();
        }
        let result = self.cx.lift(inst);
        self.cx.guard = None;
        if self.open.is_some() && writes_pred(inst, inst.guard.pred) {
            self.close();
        }
        result
    }

    /// Ends the block of a guard.
    fn close(&mut self) {
        if let Some((_, join)) = self.open.take() {
            self.cx.settle_all();
            self.cx.b.jump(join, &[]);
            self.cx.b.switch_to(join);
        }
    }

    /// Guard and condition-code test together; none if they always hold.
    fn condition(&mut self, inst: &Inst) -> Result<Option<Cond>, Unsupported> {
        if inst.operand(Role::Cc).is_none() {
            let Guard { pred, not } = inst.guard;
            return Ok((!inst.guard.is_always()).then(|| Cond { value: self.cx.pred(pred), not }));
        }
        let guard = self.cx.guard_value(inst.guard);
        let test = self.cx.cc_operand(inst)?;
        let value = match guard {
            Some(guard) => self.cx.op(Op::And, &[guard, test]),
            None => test,
        };
        Ok(Some(Cond { value, not: false }))
    }

    /// Ends the block: to `yes` where a condition holds, else to `no`.
    fn branch(&mut self, cond: Cond, yes: Block, no: Block) {
        let (first, second) = if cond.not { (no, yes) } else { (yes, no) };
        self.cx.b.branch(cond.value, (first, &[]), (second, &[]));
    }

    fn table(&mut self, inst: &Inst, cases: &[(u32, Target)], otherwise: Target) -> Result<(), Unsupported> {
        let cond = self.condition(inst)?;
        let register = inst.operand(Role::A).and_then(|o| o.reg()).ok_or(Unsupported)?;
        let value = self.cx.reg(register);
        let end = self.block(Target::End);
        let edges: Vec<(u64, Block, &[Value])> =
            cases.iter().map(|&(v, target)| (u64::from(v), self.block(target), &[][..])).collect();
        if let Some(cond) = cond {
            let otherwise = self.block(otherwise);
            let taken = self.cx.b.func.add_block();
            self.branch(cond, taken, otherwise);
            self.cx.b.switch_to(taken);
        }
        self.cx.b.switch(value, &edges, (end, &[]));
        Ok(())
    }

    /// The places that pops go to: an entry after the other comes off the stack until one is of their kind, but none
    /// below a call unless they return.
    fn pops(&mut self) -> Result<(), LiftError> {
        self.cx.b.set_guest(NO_GUEST);
        for kind in Kind::POPS {
            let at = self.block(Target::Pop(kind));
            let end = self.block(Target::End);
            let mut edges: Vec<(u64, Block, &[Value])> = Vec::new();
            for (number, (pushed, target)) in (0..).zip(&self.flow.entries) {
                if kind.pops(*pushed) {
                    edges.push((number, self.block(*target), &[]));
                } else if *pushed == Kind::Call {
                    edges.push((number, end, &[]));
                }
            }
            self.cx.b.switch_to(at);
            let entry = self.cx.pop_entry(end);
            self.cx.b.switch(entry, &edges, (at, &[]));
        }
        self.run_pending()
    }
}

/// Whether an instruction may write a predicate.
fn writes_pred(inst: &Inst, pred: u8) -> bool {
    let written = [Role::DstPred, Role::DstPred2].map(|role| inst.operand(role).and_then(|o| o.pred()));
    inst.op == Opcode::R2p || written.contains(&Some(pred))
}
