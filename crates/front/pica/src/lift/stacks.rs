//! Control flow with the scope stacks as data, for programs with too many contexts.
//!
//! Every word is one block. Stack entries live in private memory, packed into an `i32` each, as rings: a push goes one
//! place on and so overwrites the oldest entry of a full stack, a pop leaves 0. No entry that can end a scope is 0: a CALL
//! or IF scope that ends at 0 never ends, and a loop's start is at least 1. Where a scope may end after an instruction,
//! control goes through one checker for the whole program, which runs the checks of vectors/pica/FORMAT.md, and one
//! switch on the program counter. Words that several ways lead to are reached through that switch only: then all
//! registers meet in one place, and not in as many as there are words.

use super::LiftError;
use super::graph::{count_steps, test};
use super::insts::Cx;
use super::layout::UNIFORM_INTS;
use super::live::Live;
use super::regs::Scalar;
use crate::flow::{CALL_DEPTH, Control, END_PC, IF_DEPTH, LOOP_DEPTH, Step, control};
use crate::inst::Inst;
use xenoglot_ir::{Block, MemInfo, NO_GUEST, Op, Space, Type, Value};

const WORDS: usize = END_PC as usize;

/// Low bits of a packed IF or CALL entry.
const ENTRY_END: u32 = 0xffff;
/// A packed LOOP entry: end, start, uniform.
const LOOP_END: u32 = 0x1fff;
const LOOP_START_AT: u32 = 13;
const LOOP_UNIFORM_AT: u32 = 26;

/// A stack: where its ring starts in private memory, how deep it is, and the slot with the place of its top.
#[derive(Clone, Copy)]
struct Ring {
    at: u32,
    depth: u32,
    top: Scalar,
}

const IFS: Ring = Ring { at: 0, depth: IF_DEPTH as u32, top: Scalar::IfTop };
const CALLS: Ring = Ring { at: 32, depth: CALL_DEPTH as u32, top: Scalar::CallTop };
const LOOPS: Ring = Ring { at: 48, depth: LOOP_DEPTH as u32, top: Scalar::LoopTop };
/// The remaining rounds of the entries of `LOOPS`, beside them.
const COUNTS_AFTER_LOOPS: u32 = 16;
const PRIVATE_BYTES: u32 = 80;

/// An access to private memory.
fn private() -> MemInfo {
    MemInfo::plain(Space::Private, None, 2)
}

#[derive(Default)]
struct Survey {
    /// Instructions by address, where control can get.
    insts: Vec<Option<Inst>>,
    /// Whether a scope can end at an address.
    ends: Vec<bool>,
    /// Addresses that are reached through the switch.
    targets: Vec<bool>,
    /// Ways that lead to an address directly.
    ways: Vec<u32>,
    pending: Vec<u32>,
}

impl Survey {
    fn reach(&mut self, cx: &Cx, pc: u32) -> Result<(), LiftError> {
        if let Some(place @ None) = self.insts.get_mut(pc as usize) {
            *place = Some(cx.program.inst(pc).map_err(LiftError::Decode)?);
            self.pending.push(pc);
        }
        Ok(())
    }

    fn target(&mut self, cx: &Cx, pc: u32) -> Result<(), LiftError> {
        if let Some(t) = self.targets.get_mut(pc as usize) {
            *t = true;
        }
        self.reach(cx, pc)
    }

    /// Whether scopes are checked after a step from `pc`.
    fn is_checked(&self, pc: u32, step: Step) -> bool {
        step == Step::Break || self.ends.get(pc as usize + 1).is_some_and(|e| *e)
    }

    /// Lets the switch lead to where checked steps go, and to where several ways lead.
    fn find_joints(&mut self) {
        for pc in 0..WORDS as u32 {
            let Some(inst) = self.insts[pc as usize] else { continue };
            let steps = match control(&inst) {
                Control::Always(step) => [Some(step), None],
                Control::If(_, yes, no) => [Some(yes), Some(no)],
            };
            for step in steps.into_iter().flatten() {
                let Some(to) = destination(pc, step) else { continue };
                let checked = self.is_checked(pc, step);
                let (Some(ways), Some(target)) =
                    (self.ways.get_mut(to as usize), self.targets.get_mut(to as usize))
                else {
                    continue;
                };
                *ways += 1;
                *target |= checked || *ways > 1;
            }
        }
    }

    fn end(&mut self, pc: u32) {
        if let Some(e) = self.ends.get_mut(pc as usize) {
            *e = true;
        }
    }

    fn step(&mut self, cx: &Cx, pc: u32, step: Step) -> Result<(), LiftError> {
        let after = pc + 1;
        match step {
            Step::End => Ok(()),
            Step::Next | Step::Break => self.reach(cx, after),
            Step::To(to) => self.reach(cx, to),
            Step::PushIf { otherwise, end } => {
                self.end(otherwise);
                self.target(cx, end)?;
                self.reach(cx, after)
            }
            Step::PushCall { to, end } => {
                self.end(end);
                self.target(cx, after)?;
                self.reach(cx, to)
            }
            Step::PushLoop { end, .. } => {
                self.end(end);
                self.target(cx, end)?;
                self.target(cx, after)
            }
        }
    }
}

/// Where a step goes unless a scope ends behind it; none at the program's end.
fn destination(pc: u32, step: Step) -> Option<u32> {
    match step {
        Step::End => None,
        Step::To(to) | Step::PushCall { to, .. } => Some(to),
        Step::Next | Step::Break | Step::PushIf { .. } | Step::PushLoop { .. } => Some(pc + 1),
    }
}

struct Emitter<'c, 'f> {
    cx: &'c mut Cx<'f>,
    survey: Survey,
    blocks: Vec<Option<Block>>,
    checker: Block,
    switch: Block,
    end: Block,
}

/// Appends the program to the block under the cursor; every way out of it jumps to `end`.
pub(super) fn emit(cx: &mut Cx, entry: u32, end: Block, count: bool) -> Result<(), LiftError> {
    let mut survey = Survey {
        insts: vec![None; WORDS],
        ends: vec![false; WORDS + 1],
        targets: vec![false; WORDS],
        ways: vec![0; WORDS],
        pending: Vec::new(),
    };
    survey.reach(cx, entry)?;
    while let Some(pc) = survey.pending.pop() {
        let Some(inst) = survey.insts[pc as usize] else { continue };
        match control(&inst) {
            Control::Always(step) => survey.step(cx, pc, step)?,
            Control::If(_, yes, no) => {
                survey.step(cx, pc, yes)?;
                survey.step(cx, pc, no)?;
            }
        }
    }
    survey.find_joints();
    cx.b.func.private_size = PRIVATE_BYTES;
    for at in (0..PRIVATE_BYTES).step_by(4) {
        let (at, zero) = (cx.b.i32(at), cx.b.i32(0));
        cx.b.store(private(), at, zero);
    }
    let mut e = Emitter { checker: end, switch: end, blocks: vec![None; WORDS], cx, survey, end };
    for pc in 0..WORDS {
        if e.survey.insts[pc].is_some() {
            e.blocks[pc] = Some(e.cx.b.func.add_block());
        }
    }
    e.checker = e.cx.b.func.add_block();
    e.switch = e.cx.b.func.add_block();
    let first = e.block(entry);
    e.cx.b.jump(first, &[]);
    for pc in 0..WORDS as u32 {
        let (Some(inst), block) = (e.survey.insts[pc as usize], e.block(pc)) else { continue };
        e.cx.b.switch_to(block);
        e.cx.b.begin_guest(pc);
        e.cx.lift(&inst, &Live::ALL);
        if count {
            count_steps(e.cx, 1);
        }
        match control(&inst) {
            Control::Always(step) => e.step(pc, step),
            Control::If(t, yes, no) => {
                let cond = test(e.cx, t);
                let (yes_block, no_block) = (e.cx.b.func.add_block(), e.cx.b.func.add_block());
                e.cx.b.branch(cond, (yes_block, &[]), (no_block, &[]));
                for (step, block) in [(yes, yes_block), (no, no_block)] {
                    e.cx.b.switch_to(block);
                    e.step(pc, step);
                }
            }
        }
    }
    e.emit_checker();
    Ok(())
}

impl Emitter<'_, '_> {
    fn block(&self, pc: u32) -> Block {
        self.blocks.get(pc as usize).copied().flatten().unwrap_or(self.end)
    }

    /// Byte offset of a ring's top entry.
    fn top_address(&mut self, ring: Ring) -> Value {
        let (top, size) = (self.cx.get(ring.top), self.cx.b.i32(4));
        let at = self.cx.b.op(Op::Imul, &[top, size]);
        self.cx.offset(at, ring.at)
    }

    fn load(&mut self, at: Value) -> Value {
        self.cx.b.load(private(), at, Type::I32)
    }

    /// Goes `by` places on in a ring; `depth - 1` is one back.
    fn turned(&mut self, ring: Ring, by: u32) -> Value {
        let (top, by) = (self.cx.get(ring.top), self.cx.b.i32(by));
        let sum = self.cx.b.op(Op::Iadd, &[top, by]);
        self.masked(sum, ring.depth - 1)
    }

    /// Pushes `v`; gives the address of the new entry.
    fn push(&mut self, ring: Ring, v: Value) -> Value {
        let top = self.turned(ring, 1);
        self.cx.set(ring.top, top);
        let at = self.top_address(ring);
        self.cx.b.store(private(), at, v);
        at
    }

    /// Takes the entry `top` at `at` off a stack if `cond` holds.
    fn pop_if(&mut self, ring: Ring, cond: Value, at: Value, top: Value) {
        let zero = self.cx.b.i32(0);
        let left = self.cx.b.select(cond, zero, top);
        self.cx.b.store(private(), at, left);
        let back = self.turned(ring, ring.depth - 1);
        self.choose(ring.top, cond, back);
    }

    /// `s = cond ? v : s`
    fn choose(&mut self, s: Scalar, cond: Value, v: Value) {
        let old = self.cx.get(s);
        let new = self.cx.b.select(cond, v, old);
        self.cx.set(s, new);
    }

    fn masked(&mut self, v: Value, mask: u32) -> Value {
        let mask = self.cx.b.i32(mask);
        self.cx.b.op(Op::And, &[v, mask])
    }

    fn shifted(&mut self, v: Value, by: u32) -> Value {
        let by = self.cx.b.i32(by);
        self.cx.b.op(Op::Ushr, &[v, by])
    }

    fn step(&mut self, pc: u32, step: Step) {
        let after = pc + 1;
        match step {
            Step::End | Step::Next | Step::Break | Step::To(_) => {}
            Step::PushIf { otherwise, end } => {
                let entry = self.cx.b.i32(otherwise | end << 16);
                self.push(IFS, entry);
            }
            Step::PushCall { end, .. } => {
                let entry = self.cx.b.i32(end | after << 16);
                self.push(CALLS, entry);
            }
            Step::PushLoop { end, uniform } => {
                let packed = end | after << LOOP_START_AT | u32::from(uniform) << LOOP_UNIFORM_AT;
                let entry = self.cx.b.i32(packed);
                let (count, start) = (self.cx.int_uniform(uniform, 0), self.cx.int_uniform(uniform, 1));
                let at = self.push(LOOPS, entry);
                let at = self.cx.offset(at, COUNTS_AFTER_LOOPS);
                self.cx.b.store(private(), at, count);
                self.cx.set(Scalar::Al, start);
            }
        }
        let Some(to) = destination(pc, step) else { return self.cx.b.jump(self.end, &[]) };
        let checked = self.survey.is_checked(pc, step);
        if !checked && !self.survey.targets.get(to as usize).is_some_and(|t| *t) {
            let block = self.block(to);
            return self.cx.b.jump(block, &[]);
        }
        let to = self.cx.b.i32(to);
        self.cx.set(Scalar::Pc, to);
        if checked {
            let (after, broke) = (self.cx.b.i32(after), self.cx.flag(step == Step::Break));
            self.cx.set(Scalar::After, after);
            self.cx.set(Scalar::Broke, broke);
        }
        self.cx.b.jump(if checked { self.checker } else { self.switch }, &[]);
    }

    /// The checks after an instruction: [`Scalar::After`] is the address after it, [`Scalar::Pc`] where it goes.
    fn emit_checker(&mut self) {
        self.cx.b.set_guest(NO_GUEST);
        self.cx.b.switch_to(self.checker);
        let after = self.cx.get(Scalar::After);
        self.end_calls(after);
        self.end_branch(after);
        self.end_loop(after);
        self.cx.b.jump(self.switch, &[]);
        self.cx.b.switch_to(self.switch);
        self.emit_switch();
    }

    fn end_calls(&mut self, after: Value) {
        let mut q = after;
        let mut active = self.cx.b.bool(true);
        for round in 0..CALL_DEPTH {
            let at = self.top_address(CALLS);
            let top = self.load(at);
            let end = self.masked(top, ENTRY_END);
            let ends = self.cx.b.op(Op::IcmpEq, &[end, q]);
            let hit = self.cx.b.op(Op::And, &[active, ends]);
            if round + 1 < CALL_DEPTH {
                let back = self.shifted(top, 16);
                self.choose(Scalar::Pc, hit, back);
                q = self.cx.b.select(hit, back, q);
            }
            self.pop_if(CALLS, hit, at, top);
            active = hit;
        }
    }

    fn end_branch(&mut self, after: Value) {
        let at = self.top_address(IFS);
        let top = self.load(at);
        let otherwise = self.masked(top, ENTRY_END);
        let hit = self.cx.b.op(Op::IcmpEq, &[otherwise, after]);
        let end = self.shifted(top, 16);
        self.choose(Scalar::Pc, hit, end);
        self.pop_if(IFS, hit, at, top);
    }

    fn end_loop(&mut self, after: Value) {
        let at = self.top_address(LOOPS);
        let top = self.load(at);
        let broke = self.cx.get(Scalar::Broke);
        let zero = self.cx.b.i32(0);
        let exists = self.cx.b.op(Op::IcmpNe, &[top, zero]);
        let end = self.masked(top, LOOP_END);
        let ends = self.cx.b.op(Op::IcmpEq, &[end, after]);
        let hit = self.cx.b.select(broke, exists, ends);
        let uniform = self.shifted(top, LOOP_UNIFORM_AT);
        let size = self.cx.b.i32(16);
        let ints = self.cx.b.op(Op::Imul, &[uniform, size]);
        let [start, step] = [1u32, 2].map(|c| {
            let offset = self.cx.offset(ints, UNIFORM_INTS + c * 4);
            let mem = MemInfo::plain(Space::Uniform, Some(self.cx.uniforms), 2);
            self.cx.b.load(mem, offset, Type::I32)
        });
        let count_at = self.cx.offset(at, COUNTS_AFTER_LOOPS);
        let (al, count) = (self.cx.get(Scalar::Al), self.load(count_at));
        let next = self.cx.b.op(Op::Iadd, &[al, step]);
        let last = self.cx.b.op(Op::IcmpEq, &[count, zero]);
        let finished = self.cx.b.op(Op::Or, &[broke, last]);
        let done = self.cx.b.op(Op::And, &[hit, finished]);
        let one = self.cx.b.i32(1);
        let less = self.cx.b.op(Op::Isub, &[count, one]);
        let left = self.cx.b.select(hit, less, count);
        self.cx.b.store(private(), count_at, left);
        let again = {
            let v = self.shifted(top, LOOP_START_AT);
            self.masked(v, LOOP_END)
        };
        let to = self.cx.b.select(done, end, again);
        self.choose(Scalar::Pc, hit, to);
        self.pop_if(LOOPS, done, at, top);
        // What is on top now, if the loop is done, is the loop around it.
        let below_at = self.top_address(LOOPS);
        let below = self.load(below_at);
        let nested = self.cx.b.op(Op::IcmpNe, &[below, zero]);
        let restore = self.cx.b.op(Op::And, &[done, nested]);
        let al = self.cx.b.select(restore, start, next);
        self.choose(Scalar::Al, hit, al);
    }

    fn emit_switch(&mut self) {
        let cases: Vec<(u64, Block, &[Value])> = (0..WORDS as u32)
            .filter(|&pc| self.survey.targets[pc as usize] && self.survey.insts[pc as usize].is_some())
            .map(|pc| (u64::from(pc), self.block(pc), &[][..]))
            .collect();
        let pc = self.cx.get(Scalar::Pc);
        let end = self.end;
        self.cx.b.switch(pc, &cases, (end, &[]));
    }
}
