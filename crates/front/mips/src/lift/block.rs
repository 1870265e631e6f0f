//! Blocks: the order of branch and delay slot, edges, ways out, and the count of instructions.

use super::Reason;
use super::flow::{Control, Flow, Found};
use super::registers::Register;
use crate::inst::{Endian, Inst};
use crate::isa::Op;
use std::collections::BTreeMap;
use xenoglot_ir::{Block, Builder, Function, Op as Ir, Slot, TermKind, Type, Value};

const RA: u8 = 31;

pub(super) struct Lifter<'a> {
    pub(super) b: Builder<'a>,
    pub(super) flow: &'a Flow,
    pub(super) endian: Endian,
    pub(super) slots: BTreeMap<Register, Slot>,
    blocks: BTreeMap<u32, Block>,
    /// Where the block at hand begins.
    leader: u32,
    /// Instructions of the block that are done, and how many of them are subtracted from the fuel.
    done: u32,
    counted: u32,
    /// Where the guest goes on after a fault of the instruction at hand.
    pub(super) resume: u32,
}

impl Lifter<'_> {
    pub(super) fn lift(flow: &Flow, pc: u32, endian: Endian) -> Function {
        let mut func = Function::new(format!("code_{pc:08x}"));
        let entry = func.add_block();
        let entered = func.add_param(entry, Type::I32);
        let blocks: BTreeMap<u32, Block> =
            flow.leaders.iter().map(|&leader| (leader, func.add_block())).collect();
        let mut lifter = Lifter {
            b: Builder::new(&mut func, entry),
            flow,
            endian,
            slots: BTreeMap::new(),
            blocks,
            leader: pc,
            done: 0,
            counted: 0,
            resume: pc,
        };
        lifter.entries(entered);
        for (&leader, &block) in &lifter.blocks.clone() {
            lifter.b.switch_to(block);
            lifter.block(leader);
        }
        func
    }

    /// From the entry to the block of each address at which the function can be entered, unless the fuel is used up.
    fn entries(&mut self, entered: Value) {
        let entry = self.b.block();
        let mut stubs = Vec::new();
        for &pc in &self.flow.entries {
            let Some(&block) = self.blocks.get(&pc) else { continue };
            let stub = self.b.func.add_block();
            self.b.switch_to(stub);
            self.b.set_guest(pc);
            self.resume = pc;
            self.go_unless_empty(pc, block);
            stubs.push((u64::from(pc), stub));
        }
        self.b.switch_to(entry);
        self.b.set_guest(self.leader);
        match stubs[..] {
            // Nothing can be lifted here.
            [] => self.trap(Reason::Interpret, entered),
            [(_, stub)] => self.b.jump(stub, &[]),
            _ => {
                let other = self.b.func.add_block();
                let cases: Vec<(u64, Block, &[Value])> =
                    stubs.iter().map(|&(pc, stub)| (pc, stub, &[][..])).collect();
                self.b.switch(entered, &cases, (other, &[]));
                self.b.switch_to(other);
                self.trap(Reason::Interpret, entered);
            }
        }
    }

    /// Ends the block under the cursor: on to `block`, which is that of `pc`, or out where no fuel is left.
    fn go_unless_empty(&mut self, pc: u32, block: Block) {
        let fuel = self.get(Register::Fuel);
        let zero = self.i64(0);
        let empty = self.b.op(Ir::IcmpSle, &[fuel, zero]);
        let out = self.b.func.add_block();
        self.b.branch(empty, (out, &[]), (block, &[]));
        self.b.switch_to(out);
        let pc = self.b.i32(pc);
        self.leave(TermKind::Exit, &[pc]);
    }

    fn leave(&mut self, kind: TermKind, args: &[Value]) {
        let block = self.b.block();
        self.b.func.set_term(block, kind, args, Default::default(), Vec::new(), self.resume);
    }

    fn trap(&mut self, reason: Reason, pc: Value) {
        let code = self.b.i32(reason as u32);
        self.leave(TermKind::Trap, &[code, pc]);
    }

    /// Leaves the instruction at hand to an interpreter if the condition holds.
    pub(super) fn trap_if(&mut self, condition: Value, reason: Reason) {
        self.count();
        let (out, on) = (self.b.func.add_block(), self.b.func.add_block());
        self.b.branch(condition, (out, &[]), (on, &[]));
        self.b.switch_to(out);
        let pc = self.b.i32(self.resume);
        self.trap(reason, pc);
        self.b.switch_to(on);
    }

    /// Makes the fuel right for somebody who looks now.
    pub(super) fn count(&mut self) {
        if self.done != self.counted {
            let fuel = self.get(Register::Fuel);
            let step = self.i64(u64::from(self.done - self.counted));
            let fuel = self.b.op(Ir::Isub, &[fuel, step]);
            self.set(Register::Fuel, fuel);
            self.counted = self.done;
        }
    }

    /// Ends the block under the cursor: on to the code at `pc`.
    fn go(&mut self, pc: u32) {
        match self.blocks.get(&pc) {
            // Each loop has an edge that leads back.
            Some(&block) if pc <= self.leader => self.go_unless_empty(pc, block),
            Some(&block) => self.b.jump(block, &[]),
            None => {
                let pc = self.b.i32(pc);
                self.leave(TermKind::TailCallGuest, &[pc]);
            }
        }
    }

    /// The block for an edge to `pc`: its own, or a new one from which it is left.
    fn way(&mut self, pc: u32) -> Block {
        match self.blocks.get(&pc) {
            Some(&block) if pc > self.leader => block,
            _ => {
                let here = self.b.block();
                let way = self.b.func.add_block();
                self.b.switch_to(way);
                self.go(pc);
                self.b.switch_to(here);
                way
            }
        }
    }

    fn block(&mut self, leader: u32) {
        (self.leader, self.done, self.counted) = (leader, 0, 0);
        let mut pc = leader;
        while let Some(&found) = self.flow.insts.get(&pc) {
            if pc != leader && self.flow.leaders.contains(&pc) {
                break;
            }
            self.resume = pc;
            self.b.begin_guest(pc);
            match found.control {
                Control::Next => {
                    self.inst(found.inst);
                    self.done += 1;
                    pc = pc.wrapping_add(4);
                }
                _ => return self.control(pc, found),
            }
        }
        self.count();
        self.go(pc);
    }

    /// The instruction in a delay slot.
    fn slot_inst(&mut self, pc: u32, slot: Option<Inst>) {
        if let Some(slot) = slot {
            let block = self.b.block();
            self.b.func.guest_code.push((block, pc.wrapping_add(4)));
            self.inst(slot);
        }
        self.done += 2;
        self.count();
    }

    fn link(&mut self, pc: u32, register: u8) {
        let address = self.b.i32(pc.wrapping_add(8));
        self.set_gpr(register, address);
    }

    fn control(&mut self, pc: u32, found: Found) {
        let (inst, slot) = (found.inst, found.slot);
        match found.control {
            Control::Leave(reason) => {
                self.count();
                let pc = self.b.i32(pc);
                self.trap(reason, pc);
            }
            Control::Jump { target, link } => {
                if link {
                    self.link(pc, RA);
                }
                self.slot_inst(pc, slot);
                if link {
                    let target = self.b.i32(target);
                    self.leave(TermKind::TailCallGuest, &[target]);
                } else {
                    self.go(target);
                }
            }
            Control::Register { link } => {
                let target = self.gpr(inst.rs());
                if link {
                    self.link(pc, inst.rd());
                }
                self.slot_inst(pc, slot);
                let flow = self.flow;
                let mut ways: Vec<(u64, Block)> = Vec::new();
                for &target in flow.tables.get(&pc).into_iter().flatten() {
                    if self.blocks.contains_key(&target) {
                        ways.push((target.into(), self.way(target)));
                    }
                }
                if ways.is_empty() {
                    return self.leave(TermKind::TailCallGuest, &[target]);
                }
                let other = self.b.func.add_block();
                let cases: Vec<(u64, Block, &[Value])> =
                    ways.iter().map(|&(target, way)| (target, way, &[][..])).collect();
                self.b.switch(target, &cases, (other, &[]));
                self.b.switch_to(other);
                self.leave(TermKind::TailCallGuest, &[target]);
            }
            Control::Branch { target, likely, link } => {
                let taken = self.condition(inst);
                if link {
                    self.link(pc, RA);
                }
                let behind = pc.wrapping_add(8);
                if likely {
                    let (yes, no) = (self.b.func.add_block(), self.b.func.add_block());
                    self.b.branch(taken, (yes, &[]), (no, &[]));
                    let (done, counted) = (self.done, self.counted);
                    self.b.switch_to(no);
                    // The slot is skipped, and not counted.
                    self.done += 1;
                    self.count();
                    self.go(behind);
                    (self.done, self.counted) = (done, counted);
                    self.b.switch_to(yes);
                    self.slot_inst(pc, slot);
                    return self.go(target);
                }
                self.slot_inst(pc, slot);
                if target == behind {
                    return self.go(behind);
                }
                let (yes, no) = (self.way(target), self.way(behind));
                self.b.branch(taken, (yes, &[]), (no, &[]));
            }
            Control::Next => {}
        }
    }

    /// Whether a conditional branch is taken.
    fn condition(&mut self, inst: Inst) -> Value {
        let a = self.gpr(inst.rs());
        let zero = self.b.i32(0);
        match inst.op {
            Op::Beq | Op::Beql | Op::Bne | Op::Bnel => {
                let b = self.gpr(inst.rt());
                let op = if matches!(inst.op, Op::Beq | Op::Beql) { Ir::IcmpEq } else { Ir::IcmpNe };
                self.b.op(op, &[a, b])
            }
            Op::Blez | Op::Blezl => self.b.op(Ir::IcmpSle, &[a, zero]),
            Op::Bgtz | Op::Bgtzl => self.b.op(Ir::IcmpSlt, &[zero, a]),
            Op::Bltz | Op::Bltzl | Op::Bltzal | Op::Bltzall => self.b.op(Ir::IcmpSlt, &[a, zero]),
            Op::Bc1f | Op::Bc1fl => {
                let holds = self.float_condition(inst.cc());
                self.b.not(holds)
            }
            Op::Bc1t | Op::Bc1tl => self.float_condition(inst.cc()),
            _ => self.b.op(Ir::IcmpSle, &[zero, a]),
        }
    }
}
