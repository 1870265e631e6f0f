//! 64-bit integers as pairs of 32-bit ones, for languages without.
//!
//! ```text
//! v2 : i64 = iadd v0, v1      =>   v6 : i32 = iadd v2, v4       (v0 is v2 and v3, v1 is v4 and v5)
//!                                  v7 : bool = icmp.ult v6, v2
//!                                  v8 : i32 = iadd v3, v5
//!                                  v9 : i32 = zext v7
//!                                  v10 : i32 = iadd v8, v9
//! ```
//!
//! Functions are written anew: a value, parameter, argument or result of 64 bits becomes its low and its high half, vectors
//! by halves of all lanes. Memory keeps its layout. Ops that few ops on halves cannot make are made by `legalize` first.
//!
//! What has no such form leaves the whole module as it is, for the back end to refuse: addresses of 64 bits, 64-bit atomics,
//! switches on 64 bits, variables of that type, and sums over subgroups.

mod divide;
mod halves;

use crate::{Changed, Lacks};
use halves::Halves;
use smallvec::SmallVec;
use xenoglot_ir::analysis::Cfg;
use xenoglot_ir::entity::EntityRef;
use xenoglot_ir::imm::{ImmKind, Reduce};
use xenoglot_ir::{Builder, Func, Function, Imm, Inst, Kind, Module, Op, Slot, Space, TermKind, Type, Value};

/// Lowers the 64-bit integers of a module.
pub fn run(module: &mut Module, lacks: &Lacks) -> Changed {
    // Registers that nothing reads or sets any more are declared all the same.
    let has_wide = |f: &Function| {
        f.values.values().any(|data| is_wide(data.ty)) || f.slots.values().any(|slot| is_wide(slot.ty))
    };
    if !lacks.int64 || !module.funcs.values().any(has_wide) {
        return Changed::NONE;
    }
    if module.vars.values().any(|var| is_wide(var.ty)) || !module.funcs.values().all(is_lowered) {
        return Changed::NONE;
    }
    let divider = Func::new(module.funcs.len());
    let mut divides = false;
    let returns_wide: Vec<bool> =
        module.funcs.values().map(|f| f.returns.iter().any(|&ty| is_wide(ty))).collect();
    for func in module.funcs.keys() {
        let old = std::mem::take(&mut module.funcs[func]);
        let mut rewriter = Rewriter {
            old: &old,
            new: shell(&old),
            map: vec![None; old.values.len()],
            divider,
            divides: false,
            returns_wide: &returns_wide,
            lacks,
        };
        rewriter.function();
        divides |= rewriter.divides;
        module.funcs[func] = rewriter.new;
    }
    if divides {
        module.funcs.push(divide::function());
    }
    Changed { cfg: true, ..Changed::insts_if(true) }
}

fn is_wide(ty: Type) -> bool {
    ty.kind() == Kind::I64
}

/// Whether everything of 64 bits in a function has a form in halves.
fn is_lowered(f: &Function) -> bool {
    let wide = |v: &Value| is_wide(f.ty(*v));
    let switches = f.layout.iter().any(|&block| {
        let term = f.term(block);
        term.kind == TermKind::Switch && f.term_args(block).iter().any(wide)
    });
    !switches && f.layout.iter().flat_map(|&b| &f.blocks[b].insts).all(|&inst| inst_is_lowered(f, inst))
}

fn inst_is_lowered(f: &Function, inst: Inst) -> bool {
    let wide = |v: &Value| is_wide(f.ty(*v));
    let (args, results) = (f.args(inst), f.results(inst));
    if !args.iter().chain(results).any(wide) {
        return true;
    }
    let data = &f.insts[inst];
    match (data.op, data.imm) {
        (Op::Const | Op::Undef | Op::Freeze | Op::Call | Op::CallPure | Op::BufferSize, _) => true,
        (Op::Iadd | Op::Isub | Op::Imul | Op::Ineg | Op::And | Op::Or | Op::Xor | Op::Not, _) => true,
        (Op::Shl | Op::Ushr | Op::Sshr | Op::Select, _) => true,
        (Op::Imin | Op::Imax | Op::Umin | Op::Umax, _) => true,
        (Op::IcmpEq | Op::IcmpNe | Op::IcmpUlt | Op::IcmpUle | Op::IcmpSlt | Op::IcmpSle, _) => true,
        (Op::Zext | Op::Sext | Op::TruncInt, _) => true,
        (Op::U2f | Op::S2f | Op::F2u | Op::F2s, _) => true,
        (Op::Udiv | Op::Sdiv | Op::Urem, _) => true,
        (Op::Splat | Op::Build | Op::Extract | Op::Insert | Op::Shuffle | Op::Bitcast, _) => true,
        // An address of 64 bits is no pair.
        (Op::Load | Op::Store, Imm::Mem(mem)) => {
            mem.space != Space::Global && !mem.big && args.first().is_some_and(|v| !wide(v))
        }
        (Op::SgShuffle | Op::SgShuffleXor | Op::SgShuffleUp | Op::SgShuffleDown | Op::SgReadFirst, _) => true,
        (Op::SgBallot | Op::SlotGet | Op::SlotSet, _) => true,
        (Op::SgReduce | Op::SgScan, Imm::Subgroup(info)) => {
            matches!(info.reduce, Reduce::And | Reduce::Or | Reduce::Xor)
        }
        _ => false,
    }
}

/// A function with all of `old` but its blocks' contents.
fn shell(old: &Function) -> Function {
    let mut new = Function::new(old.name.clone());
    for &ty in &old.returns {
        new.returns.extend(std::iter::repeat_n(half(ty), if is_wide(ty) { 2 } else { 1 }));
    }
    new.slots = old.slots.clone();
    for slot in old.slots.keys() {
        if is_wide(old.slots[slot].ty) {
            new.slots[slot].ty = half(old.slots[slot].ty);
            // The number keeps it apart: names are unique.
            let name = format!("{}_high{}", old.slots[slot].name, new.slots.len());
            new.add_slot(name, half(old.slots[slot].ty));
        }
    }
    new.consts = old.consts.clone();
    new.private_size = old.private_size;
    for _ in old.blocks.keys() {
        new.add_block();
    }
    new
}

/// The type of a half; other types as they are.
fn half(ty: Type) -> Type {
    if is_wide(ty) { ty.with_kind(Kind::I32) } else { ty }
}

/// What a value became.
#[derive(Clone, Copy)]
enum Made {
    One(Value),
    /// Low half and high half.
    Two(Value, Value),
}

/// The slot of the high half of a slot of 64 bits: they follow those of the function in their order.
fn high_slot(old: &Function, slot: Slot) -> Slot {
    let before = old.slots.keys().take_while(|&s| s != slot).filter(|&s| is_wide(old.slots[s].ty)).count();
    Slot::new(old.slots.len() + before)
}

struct Rewriter<'a> {
    old: &'a Function,
    new: Function,
    /// By value of the old function.
    map: Vec<Option<Made>>,
    /// The function that divides, should there be one.
    divider: Func,
    divides: bool,
    /// By function: whether it returns something of 64 bits.
    returns_wide: &'a [bool],
    lacks: &'a Lacks,
}

impl Rewriter<'_> {
    fn function(&mut self) {
        let old = self.old;
        let mut cfg = Cfg::default();
        cfg.compute(old);
        self.new.layout = old.layout.iter().copied().filter(|&b| cfg.is_reachable(b)).collect();
        for &block in &self.new.layout.clone() {
            for &v in old.params(block) {
                let ty = old.ty(v);
                let first = self.new.add_param(block, half(ty));
                self.new.values[first].hint = old.values[v].hint;
                let made = match is_wide(ty) {
                    true => Made::Two(first, self.new.add_param(block, half(ty))),
                    false => Made::One(first),
                };
                self.map[v.index()] = Some(made);
            }
        }
        // Definitions come before their uses in this order.
        for &block in cfg.rpo() {
            for &inst in &old.blocks[block].insts {
                self.inst(block, inst);
            }
            let term = old.term(block);
            let args = self.flat(old.term_args(block));
            let edges = term
                .edges
                .iter()
                .map(|edge| {
                    let args = self.flat(old.edge_args(edge));
                    self.new.make_edge(edge.block, &args)
                })
                .collect();
            self.new.set_term(block, term.kind, &args, edges, term.cases.clone(), term.guest);
        }
    }

    /// What `v` became; a value that nothing made, in a function that is not verified, is zero.
    fn made(&self, v: Value) -> Option<Made> {
        self.map.get(v.index()).copied().flatten()
    }

    fn one(&self, v: Value) -> Value {
        match self.made(v) {
            Some(Made::One(v) | Made::Two(v, _)) => v,
            None => v,
        }
    }

    /// Operands with the halves of those of 64 bits in place of them.
    fn flat(&self, args: &[Value]) -> SmallVec<[Value; 8]> {
        let mut out = SmallVec::new();
        for &v in args {
            match self.made(v) {
                Some(Made::Two(low, high)) => out.extend([low, high]),
                _ => out.push(self.one(v)),
            }
        }
        out
    }

    fn inst(&mut self, block: xenoglot_ir::Block, inst: Inst) {
        let old = self.old;
        let data = &old.insts[inst];
        let (args, results) = (old.args(inst), old.results(inst));
        let wide = |v: &Value| is_wide(old.ty(*v));
        let calls = data.op.info().imm == ImmKind::Func;
        if calls || !args.iter().chain(results).any(wide) {
            return self.copy(block, inst);
        }
        if let Imm::Slot(slot) = data.imm {
            return self.slot(block, inst, slot);
        }
        let made = {
            let args: SmallVec<[Made; 4]> = args.iter().filter_map(|&v| self.made(v)).collect();
            let types: SmallVec<[Type; 4]> = args_types(old, inst);
            let ty = results.first().map(|&v| old.ty(v));
            let mut b = Builder::new(&mut self.new, block);
            b.set_guest(data.guest);
            let mut h = Halves { b: &mut b, lacks: self.lacks, divider: self.divider, divides: false };
            let made = h.inst(data, &args, &types, ty);
            self.divides |= h.divides;
            made
        };
        if let (Some(&v), Some(made)) = (results.first(), made) {
            let (Made::One(first) | Made::Two(first, _)) = made;
            self.new.values[first].hint = old.values[v].hint;
            self.map[v.index()] = Some(made);
        }
    }

    /// A register of 64 bits that is read or set.
    fn slot(&mut self, block: xenoglot_ir::Block, inst: Inst, slot: Slot) {
        let old = self.old;
        let data = &old.insts[inst];
        let args = self.flat(old.args(inst));
        let result = old.results(inst).first().copied();
        let types: SmallVec<[Type; 1]> = result.iter().map(|&v| half(old.ty(v))).collect();
        let mut halves: SmallVec<[Value; 2]> = SmallVec::new();
        for (n, slot) in [slot, high_slot(old, slot)].into_iter().enumerate() {
            let args = args.get(n).map_or(&[][..], std::slice::from_ref);
            let made = self.new.make_inst(data.op, data.flags, Imm::Slot(slot), args, &types, data.guest);
            self.new.blocks[block].insts.push(made);
            halves.extend(self.new.result(made));
        }
        if let (Some(v), &[low, high]) = (result, &halves[..]) {
            self.map[v.index()] = Some(Made::Two(low, high));
        }
    }

    /// An instruction that stays, calls with halves for what has them.
    fn copy(&mut self, block: xenoglot_ir::Block, inst: Inst) {
        let old = self.old;
        let data = &old.insts[inst];
        let args = self.flat(old.args(inst));
        let mut types: SmallVec<[Type; 4]> = SmallVec::new();
        for &v in old.results(inst) {
            let ty = old.ty(v);
            types.extend(std::iter::repeat_n(half(ty), if is_wide(ty) { 2 } else { 1 }));
        }
        // What returns two halves is no longer a function with one result.
        let two = matches!(data.imm, Imm::Func(f) if self.returns_wide.get(f.index()) == Some(&true));
        let op = if two && data.op == Op::CallPure { Op::Call } else { data.op };
        let copy = self.new.make_inst(op, data.flags, data.imm, &args, &types, data.guest);
        self.new.blocks[block].insts.push(copy);
        let made: SmallVec<[Value; 4]> = self.new.results(copy).into();
        let mut made = made.into_iter();
        for &v in old.results(inst) {
            let Some(first) = made.next() else { continue };
            self.new.values[first].hint = old.values[v].hint;
            let second = if is_wide(old.ty(v)) { made.next() } else { None };
            self.map[v.index()] = Some(second.map_or(Made::One(first), |second| Made::Two(first, second)));
        }
    }
}

fn args_types(f: &Function, inst: Inst) -> SmallVec<[Type; 4]> {
    f.args(inst).iter().map(|&v| f.ty(v)).collect()
}
