//! Where lanes wait: blocks end there, in an order that tells who is behind, and values survive in slots.

use super::rounds::{self, answer};
use super::{Kernel, is_place, new_slot};
use crate::edit;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use xenoglot_ir::analysis::{Analyses, Loop};
use xenoglot_ir::{
    Block, Builder, Flags, Function, Imm, Inst, NO_GUEST, Op, Slot, TermKind, Type, Value, ValueDef,
};

/// A place: lanes come to it at the end of one block and go on in another.
pub(super) struct Place {
    /// Its number: a waiting lane stores it, so that the scheduler knows where each lane waits.
    pub rank: u32,
    /// Where they go on.
    pub next: Block,
}

/// Bits of a rank, and of an iteration above it.
pub(super) const RANK_BITS: u32 = 8;
const ITERATION_BITS: u32 = 13;

/// What is known of a place before blocks are split.
struct Order {
    rank: u32,
    /// Number of the outermost loop around it, or of itself, among such.
    group: u32,
    outermost: Option<Loop>,
}

/// Sorts the places: those of a loop stand together, and before what comes after the loop.
fn order(f: &Function, analyses: &mut Analyses, host_width: u8) -> BTreeMap<Inst, Order> {
    analyses.ensure_cfg(f);
    analyses.ensure_loops(f);
    let (cfg, loops) = (analyses.cfg(), analyses.loops());
    let mut paths: Vec<(SmallVec<[u32; 4]>, Inst, Option<Loop>)> = Vec::new();
    for &block in cfg.rpo() {
        let number = |b: Block| cfg.rpo_number(b).unwrap_or(u32::MAX);
        let mut path: SmallVec<[u32; 4]> = SmallVec::new();
        let (mut around, mut outermost) = (loops.innermost(block), None);
        while let Some(l) = around {
            path.push(number(loops.loops()[l].header));
            outermost = Some(l);
            around = loops.loops()[l].parent.expand();
        }
        path.reverse();
        path.push(number(block));
        for (i, &inst) in (0..).zip(&f.blocks[block].insts) {
            if is_place(f, inst, host_width) {
                let path: SmallVec<[u32; 4]> = path.iter().copied().chain([i]).collect();
                paths.push((path, inst, outermost));
            }
        }
    }
    paths.sort();
    let mut group = 0;
    let mut before: Option<(Inst, Option<Loop>)> = None;
    let ranked = (0..).zip(paths).map(|(rank, (_, inst, outermost))| {
        let same = before.is_some_and(|(_, l)| l.is_some() && l == outermost);
        group += u32::from(!same);
        before = Some((inst, outermost));
        (inst, Order { rank, group, outermost })
    });
    ranked.collect()
}

/// Ends blocks where lanes wait: they tell and go to `meet`, a new block still to be filled, which is given first; what
/// follows starts with what they were told. Returns lead there, too.
pub(super) fn split(f: &mut Function, kernel: &Kernel, host_width: u8) -> (Block, Vec<Place>) {
    let mut analyses = Analyses::new();
    let order = order(f, &mut analyses, host_width);
    let mut counters: BTreeMap<Loop, Slot> = BTreeMap::new();
    for of in order.values() {
        if let Some(l) = of.outermost {
            counters.entry(l).or_insert_with(|| new_slot(f, "iteration", Type::I32));
        }
    }
    for (&l, &counter) in &counters {
        count(f, analyses.loops().loops()[l].header, counter);
    }
    let meet = f.add_block();
    let mut places = Vec::new();
    for i in 0..f.layout.len() {
        let block = f.layout[i];
        if block == meet {
            break; // what follows was split off
        }
        let insts = std::mem::take(&mut f.blocks[block].insts);
        let term = edit::take_term(&mut f.blocks[block].term);
        let mut b = Builder::new(f, block);
        for inst in insts {
            let Some(of) = order.get(&inst) else {
                let block = b.block();
                b.func.blocks[block].insts.push(inst);
                continue;
            };
            b.set_guest(b.func.insts[inst].guest);
            let counter = of.outermost.and_then(|l| counters.get(&l)).copied();
            wait(&mut b, kernel, of, counter, inst, meet);
            let next = b.func.add_block();
            b.switch_to(next);
            answer(&mut b, kernel, inst);
            places.push(Place { rank: of.rank, next });
        }
        if i == 0 && b.block() == block {
            // Nothing but the first place leads to `meet` from outside, so that all rounds are those of one loop.
            let rank = order.len() as u32;
            let next = start(&mut b, kernel, rank, meet);
            places.push(Place { rank, next });
        }
        if term.kind == TermKind::Return {
            rounds::end(&mut b, kernel, meet);
        } else {
            let last = b.block();
            b.func.blocks[last].term = term;
        }
    }
    (meet, places)
}

/// Lets lanes wait for each other before anything diverges.
fn start(b: &mut Builder, kernel: &Kernel, rank: u32, meet: Block) -> Block {
    let at = b.i32(rounds::AT_BARRIER | rank);
    b.slot_set(kernel.at, at);
    b.jump(meet, &[]);
    let next = b.func.add_block();
    b.switch_to(next);
    next
}

/// Counts how often control comes to the header of a loop, up to what the order has room for.
fn count(f: &mut Function, header: Block, counter: Slot) {
    let insts = std::mem::take(&mut f.blocks[header].insts);
    let mut b = Builder::new(f, header);
    let (n, one, most) = (b.slot_get(counter), b.i32(1), b.i32((1 << ITERATION_BITS) - 1));
    let n = b.op(Op::Iadd, &[n, one]);
    let n = b.op(Op::Umin, &[n, most]);
    b.slot_set(counter, n);
    b.func.blocks[header].insts.extend(insts);
}

/// Tells what `inst` needs from this lane, and where it waits.
fn wait(b: &mut Builder, kernel: &Kernel, of: &Order, counter: Option<Slot>, inst: Inst, meet: Block) {
    let at = if b.func.insts[inst].op == Op::Barrier {
        b.i32(rounds::AT_BARRIER | of.rank)
    } else {
        let fixed = b.i32(of.group << (RANK_BITS + ITERATION_BITS) | of.rank);
        match counter {
            Some(counter) => {
                let (n, by) = (b.slot_get(counter), b.i32(RANK_BITS));
                let n = b.op(Op::Shl, &[n, by]);
                b.op(Op::Or, &[fixed, n])
            }
            None => fixed,
        }
    };
    b.slot_set(kernel.at, at);
    if let Some(&v) = b.func.args(inst).first() {
        let word = match b.func.ty(v) {
            Type::I32 => v,
            Type::BOOL => b.convert(Op::Zext, Flags::NONE, v, Type::I32),
            _ => b.convert(Op::Bitcast, Flags::NONE, v, Type::I32),
        };
        b.slot_set(kernel.operand, word);
    }
    b.jump(meet, &[]);
}

/// Values whose definitions do not reach all their uses any more live in slots; constants are made anew.
pub(super) fn repair(f: &mut Function) {
    let mut analyses = Analyses::new();
    analyses.ensure_cfg(f);
    analyses.ensure_dominators(f);
    analyses.ensure_positions(f);
    let (dominators, positions) = (analyses.dominators(), analyses.positions());
    let mut slots: BTreeMap<Value, Slot> = BTreeMap::new();
    let mut heads: Vec<(Block, Vec<Inst>)> = Vec::new();
    for i in 0..f.layout.len() {
        let block = f.layout[i];
        let mut far: BTreeMap<Value, Value> = BTreeMap::new();
        f.for_each_use(block, |v| {
            let def = positions.def_block(f, v);
            if def != Some(block) && !def.is_some_and(|def| dominators.dominates(def, block)) {
                far.insert(v, v);
            }
        });
        let mut head = Vec::new();
        for (v, here) in &mut far {
            let ty = f.ty(*v);
            let inst = match f.const_bits(*v) {
                Some(bits) => edit::make_const(f, ty, bits, NO_GUEST),
                None => {
                    let slot = *slots.entry(*v).or_insert_with(|| new_slot(f, "kept", ty));
                    f.make_inst(Op::SlotGet, Flags::NONE, Imm::Slot(slot), &[], &[ty], NO_GUEST)
                }
            };
            *here = f.results(inst)[0];
            head.push(inst);
        }
        if !far.is_empty() {
            f.map_uses(block, |v| far.get(&v).copied().unwrap_or(v));
            heads.push((block, head));
        }
    }
    let mut sets: BTreeMap<Inst, SmallVec<[Inst; 1]>> = BTreeMap::new();
    for (&v, &slot) in &slots {
        let set = f.make_inst(Op::SlotSet, Flags::NONE, Imm::Slot(slot), &[v], &[], NO_GUEST);
        match f.values[v].def {
            ValueDef::Inst(inst, _) => sets.entry(inst).or_default().push(set),
            ValueDef::Param(block, _) => heads.push((block, vec![set])),
        }
    }
    for i in 0..f.layout.len() {
        let block = f.layout[i];
        if f.blocks[block].insts.iter().any(|inst| sets.contains_key(inst)) {
            let insts = std::mem::take(&mut f.blocks[block].insts);
            let set =
                |&inst: &Inst| std::iter::once(inst).chain(sets.get(&inst).into_iter().flatten().copied());
            f.blocks[block].insts = insts.iter().flat_map(set).collect();
        }
    }
    for (block, head) in heads {
        f.blocks[block].insts.splice(0..0, head);
    }
}
