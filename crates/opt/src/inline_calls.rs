//! Puts functions in the place of their calls, for hosts whose code is one function.
//!
//! ```text
//! block0(v0 : i32):                      block0(v0 : i32):
//!   v1 : i32 = call.pure @twice v0         jump block1(v0)
//!   v2 : i32 = iadd v1, v0               block1(v3 : i32):
//!   return v2                      =>      v4 : i32 = iadd v3, v3
//!                                          jump block2(v4)
//!                                        block2(v1 : i32):
//!                                          v2 : i32 = iadd v1, v0
//!                                          return v2
//! ```
//!
//! Callees come first, so that what is put in has no calls left. Calls stay of functions that may call themselves, of those
//! with registers or private memory of their own, and where the function would get more than [`MAX_INSTS`] instructions:
//! calls in calls can double it at every level.

use crate::{Changed, Lacks, edit};
use smallvec::SmallVec;
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::list::ValueList;
use xenoglot_ir::{Block, Func, Function, Imm, Inst, Module, Op, TermKind, Type, Value, ValueDef};

/// The most instructions of a function that others were put into.
pub const MAX_INSTS: usize = 1 << 17;

/// Puts functions in the place of their calls.
pub fn run(module: &mut Module, lacks: &Lacks) -> Changed {
    if !lacks.calls {
        return Changed::NONE;
    }
    let mut is_ready: SecondaryMap<Func, bool> = SecondaryMap::new();
    is_ready.resize(module.funcs.len());
    let mut changed = false;
    for func in callees_first(module) {
        // Out of the module, so that those put into it can be read; it is not ready, and not put into itself.
        let mut f = std::mem::take(&mut module.funcs[func]);
        changed |= function(module, &mut f, &is_ready);
        is_ready[func] = is_alone(&f);
        module.funcs[func] = f;
    }
    if changed { Changed::ALL } else { Changed::NONE }
}

/// The functions that a function calls.
fn callees(f: &Function) -> impl Iterator<Item = Func> + '_ {
    let insts = f.layout.iter().flat_map(|&block| &f.blocks[block].insts);
    insts.filter_map(|&inst| callee(f, inst))
}

fn callee(f: &Function, inst: Inst) -> Option<Func> {
    match (f.insts[inst].op, f.insts[inst].imm) {
        (Op::Call | Op::CallPure, Imm::Func(func)) => Some(func),
        _ => None,
    }
}

/// All functions, each behind those it calls, but for those that call it in turn.
fn callees_first(module: &Module) -> Vec<Func> {
    let mut is_seen: SecondaryMap<Func, bool> = SecondaryMap::new();
    is_seen.resize(module.funcs.len());
    let mut order = Vec::with_capacity(module.funcs.len());
    let mut stack: Vec<(Func, SmallVec<[Func; 8]>)> = Vec::new();
    let open = |func: Func| (func, callees(&module.funcs[func]).collect());
    for root in module.funcs.keys() {
        if std::mem::replace(&mut is_seen[root], true) {
            continue;
        }
        stack.push(open(root));
        while let Some((func, left)) = stack.last_mut() {
            match left.pop() {
                Some(next) if !std::mem::replace(&mut is_seen[next], true) => stack.push(open(next)),
                Some(_) => {}
                None => {
                    order.push(*func);
                    stack.pop();
                }
            }
        }
    }
    order
}

/// Whether a function has neither registers nor memory of its own.
fn is_alone(f: &Function) -> bool {
    let mut insts = f.layout.iter().flat_map(|&block| &f.blocks[block].insts);
    f.private_size == 0 && insts.all(|&inst| !matches!(f.insts[inst].imm, Imm::Slot(..)))
}

/// Puts into a function what it calls of the functions that are ready; whether there was any.
fn function(module: &Module, f: &mut Function, is_ready: &SecondaryMap<Func, bool>) -> bool {
    let inlined = |f: &Function, inst: Inst| {
        let func = callee(f, inst).filter(|&func| is_ready[func])?;
        let g = &module.funcs[func];
        (g.entry().is_some() && f.insts.len() + g.insts.len() <= MAX_INSTS).then_some(g)
    };
    let mut changed = false;
    for block in std::mem::take(&mut f.layout) {
        f.layout.push(block);
        if !f.blocks[block].insts.iter().any(|&inst| inlined(f, inst).is_some()) {
            continue;
        }
        let insts = std::mem::take(&mut f.blocks[block].insts);
        let term = edit::take_term(&mut f.blocks[block].term);
        let mut block = block;
        for inst in insts {
            match inlined(f, inst) {
                None => f.blocks[block].insts.push(inst),
                Some(g) => {
                    block = put(f, block, inst, g);
                    changed = true;
                }
            }
        }
        f.blocks[block].term = term;
    }
    changed
}

/// Puts a function in the place of its call at the end of a block, which has no terminator; gives the block to go on in.
fn put(f: &mut Function, block: Block, call: Inst, g: &Function) -> Block {
    let guest = f.insts[call].guest;
    let args: SmallVec<[Value; 8]> = f.args(call).into();
    let results: SmallVec<[Value; 4]> = f.results(call).into();
    let (entry, returns) = copy(f, g);
    if let Some(entry) = entry {
        f.set_jump(block, entry, &args, guest);
    }
    let behind = f.add_block();
    // The results are parameters now, and everything that uses them stays as it is.
    for (n, v) in results.into_iter().enumerate() {
        f.values[v].def = ValueDef::Param(behind, n as u16);
        f.blocks[behind].params.push(v, &mut f.pool);
    }
    for (from, values) in returns {
        f.set_jump(from, behind, &values, guest);
    }
    behind
}

/// Where a copy returns, and what.
type Returns = SmallVec<[(Block, SmallVec<[Value; 4]>); 4]>;

/// Adds a copy of a function's blocks: gives its entry, and the blocks that return, whose ends are left to be set.
fn copy(f: &mut Function, g: &Function) -> (Option<Block>, Returns) {
    let mut blocks: SecondaryMap<Block, Option<Block>> = SecondaryMap::new();
    blocks.resize(g.blocks.len());
    let mut values: SecondaryMap<Value, Option<Value>> = SecondaryMap::new();
    values.resize(g.values.len());
    let mut insts: SecondaryMap<Inst, Option<Inst>> = SecondaryMap::new();
    insts.resize(g.insts.len());
    // All values before any use: a use may come before its definition in the layout.
    for &from in &g.layout {
        let to = f.add_block();
        blocks[from] = Some(to);
        for &v in g.params(from) {
            values[v] = Some(f.add_param(to, g.ty(v)));
        }
        for &inst in &g.blocks[from].insts {
            let made = copy_inst(f, g, inst);
            insts[inst] = Some(made);
            for (n, &v) in g.results(inst).iter().enumerate() {
                values[v] = f.results(made).get(n).copied();
            }
        }
    }
    // Verified, a function uses what it defines.
    let of = |list: &[Value]| -> SmallVec<[Value; 4]> { list.iter().filter_map(|&v| values[v]).collect() };
    let mut returns = Returns::new();
    for &from in &g.layout {
        let Some(to) = blocks[from] else { continue };
        for &inst in &g.blocks[from].insts {
            let Some(made) = insts[inst] else { continue };
            let args = of(g.args(inst));
            f.insts[made].args.assign(&args, &mut f.pool);
            f.blocks[to].insts.push(made);
        }
        if g.term(from).kind == TermKind::Return {
            returns.push((to, of(g.term_args(from))));
            continue;
        }
        let mut term = g.term(from).clone();
        term.args = ValueList::from_slice(&of(g.term_args(from)), &mut f.pool);
        for (edge, old) in term.edges.iter_mut().zip(g.edges(from)) {
            edge.block = blocks[old.block].unwrap_or(to);
            edge.args = ValueList::from_slice(&of(g.edge_args(old)), &mut f.pool);
        }
        f.blocks[to].term = term;
    }
    (g.entry().and_then(|entry| blocks[entry]), returns)
}

/// A copy of an instruction without its operands.
fn copy_inst(f: &mut Function, g: &Function, inst: Inst) -> Inst {
    let data = &g.insts[inst];
    let types: SmallVec<[Type; 4]> = g.results(inst).iter().map(|&v| g.ty(v)).collect();
    let imm = match data.imm {
        Imm::Const(c) => Imm::Const(f.consts.push(g.consts[c])),
        other => other,
    };
    f.make_inst(data.op, data.flags, imm, &[], &types, data.guest)
}
