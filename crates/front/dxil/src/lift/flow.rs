//! Blocks, phis, terminators and calls.

use super::bind::Element;
use super::cx::Cx;
use super::memory::Region;
use super::phis::single;
use super::resource::{CHOICE, Handle, Place};
use super::val::Val;
use super::{Lift, LiftError, Stop, mnemonic};
use crate::bitcode::{BlockId, Body, Inst, InstKind, Type as Llvm, TypeId, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::ops::Range;
use xenoglot_ir::{Block, Type, Value};

/// Lifts the function at work, what can be reached of it; its first block. Where it returns is `cx.end`.
pub(super) fn body(cx: &mut Cx<'_>) -> Result<Block, LiftError> {
    if cx.body.blocks.is_empty() {
        return Err(LiftError::Entry);
    }
    let order = order(cx);
    let count = cx.body.blocks.len();
    let mut graph = Graph {
        blocks: vec![None; count],
        incoming: Vec::new(),
        ranges: vec![0..0; count],
        single: single(cx, &order),
        one_handle: FxHashSet::default(),
    };
    for &block in &order {
        let ir = cx.b.func.add_block();
        graph.blocks[block.0 as usize] = Some(ir);
        params(cx, &mut graph, block, ir)?;
    }
    for &block in &order {
        let Some(ir) = graph.find(block) else { continue };
        cx.b.switch_to(ir);
        let (first, insts) = cx.body.block(block);
        cx.b.func.blocks[ir].insts.reserve(insts.len());
        for (at, inst) in (first..).zip(insts) {
            cx.at = at;
            cx.b.begin_guest(at);
            if cx.b.func.insts.len().max(cx.members) > cx.options.limits.instructions {
                return Err(LiftError::Instructions);
            }
            let lifted = match &inst.kind {
                InstKind::Phi(incoming) => match inst.result {
                    Some(result) => resolved(cx, &graph, result, cx.body.list(*incoming)),
                    None => Ok(()),
                },
                _ => match terminator(cx, &graph, block, &inst.kind) {
                    Some(done) => done,
                    None => cx.lift_inst(inst),
                },
            };
            lifted.map_err(|stop| explained(cx, inst, stop))?;
        }
    }
    order.first().and_then(|&b| graph.find(b)).ok_or(LiftError::Entry)
}

/// Functions called from each other.
const MOST_CALLS: u32 = 16;

/// Lifts a function where it is called; what it returns.
pub(super) fn call(cx: &mut Cx<'_>, function: u32, args: Vec<Val>) -> Lift<Option<Val>> {
    let (module, types) = (cx.module, &cx.module.types);
    let function = module.functions.get(function as usize).ok_or(Stop::Unsupported("a function"))?;
    let callee = function.body.as_ref().ok_or(Stop::Unsupported("a function without code"))?;
    let Some(&Llvm::Function { returns, .. }) = types.get(function.ty) else {
        return Err(Stop::Unsupported("a function of no type"));
    };
    if cx.calls == MOST_CALLS {
        return Err(Stop::Unsupported("calls within calls"));
    }
    let budget = cx.call_budget.checked_sub(callee.insts.len());
    cx.call_budget = budget.ok_or(LiftError::Instructions)?;
    let (here, guest) = (cx.b.block(), cx.at);
    let (entry, end) =
        cx.beside_hits(|cx| Ok(cx.in_function(callee, args, |cx| Ok::<_, LiftError>((body(cx)?, cx.end)))?))?;
    cx.b.set_guest(guest);
    cx.b.switch_to(here);
    cx.b.jump(entry, &[]);
    // A function that never returns goes on nowhere.
    let end = end.unwrap_or_else(|| cx.b.func.add_block());
    cx.b.switch_to(end);
    if matches!(types.get(returns), Some(Llvm::Void)) {
        return Ok(None);
    }
    let mut params = cx.b.func.params(end).to_vec().into_iter();
    gathered(cx, returns, &mut |cx, ty| Ok(params.next().unwrap_or_else(|| cx.constant(ty, 0))), 0).map(Some)
}

fn explained(cx: &Cx<'_>, inst: &Inst, stop: Stop) -> LiftError {
    match stop {
        Stop::Error(e) => *e,
        Stop::Undefined(value) => LiftError::Order { inst: cx.at, value },
        Stop::Unsupported(why) => {
            LiftError::Unsupported { inst: cx.at, text: mnemonic(cx.module, cx.body, &inst.kind), why }
        }
    }
}

/// What passes along an edge.
type Values = SmallVec<[Value; 8]>;

/// The graph in the IR.
struct Graph {
    /// Where blocks are; none for those that nothing reaches.
    blocks: Vec<Option<Block>>,
    /// What the phis of all blocks are: where from, which phi of the block, and the value.
    incoming: Vec<(BlockId, u32, ValueId)>,
    /// Those of a block, in order.
    ranges: Vec<Range<usize>>,
    /// Phis with one possible value.
    single: FxHashMap<ValueId, ValueId>,
    /// Phis of handles of one descriptor.
    one_handle: FxHashSet<ValueId>,
}

impl Graph {
    fn find(&self, block: BlockId) -> Option<Block> {
        self.blocks.get(block.0 as usize).copied().flatten()
    }

    /// What the phis of `to` are, coming from `from`.
    fn incoming(&self, from: BlockId, to: BlockId) -> &[(BlockId, u32, ValueId)] {
        let range = self.ranges.get(to.0 as usize).cloned().unwrap_or_default();
        let all = self.incoming.get(range).unwrap_or_default();
        let all = &all[all.partition_point(|&(block, ..)| block < from)..];
        &all[..all.partition_point(|&(block, ..)| block == from)]
    }
}

/// Where a block goes, in order.
pub(super) fn successors<'b>(
    body: &'b Body,
    kind: &InstKind,
) -> impl DoubleEndedIterator<Item = BlockId> + use<'b> {
    let (first, second, cases): (_, _, &[(ValueId, BlockId)]) = match kind {
        InstKind::Jump(to) => (Some(*to), None, &[]),
        InstKind::Branch { targets: [yes, no], .. } => (Some(*yes), Some(*no), &[]),
        InstKind::Switch { default, cases, .. } => (Some(*default), None, body.list(*cases)),
        _ => (None, None, &[]),
    };
    first.into_iter().chain(second).chain(cases.iter().map(|&(_, b)| b))
}

/// The blocks that are reached in reverse postorder: definitions come before their uses.
fn order(cx: &Cx<'_>) -> Vec<BlockId> {
    let next = |block: BlockId| cx.body.block(block).1.last().map(|i| &i.kind);
    let mut seen = vec![false; cx.body.blocks.len()];
    let mut order = Vec::new();
    let mut stack = vec![(BlockId(0), next(BlockId(0)).map(|k| successors(cx.body, k).rev()))];
    seen.iter_mut().take(1).for_each(|s| *s = true);
    while let Some((block, rest)) = stack.last_mut() {
        match rest.as_mut().and_then(Iterator::next) {
            Some(to) => {
                if let Some(seen) = seen.get_mut(to.0 as usize)
                    && !std::mem::replace(seen, true)
                {
                    stack.push((to, next(to).map(|k| successors(cx.body, k).rev())));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

/// The phis of a block.
pub(super) fn phis(body: &Body, block: BlockId) -> impl Iterator<Item = (u32, &Inst, &[(ValueId, BlockId)])> {
    let (first, insts) = body.block(block);
    (first..).zip(insts).map_while(|(at, inst)| match &inst.kind {
        InstKind::Phi(incoming) => Some((at, inst, body.list(*incoming))),
        _ => None,
    })
}

/// Gives a phi that has one possible value, and so is no parameter, that value.
fn resolved(cx: &mut Cx<'_>, graph: &Graph, phi: ValueId, incoming: &[(ValueId, BlockId)]) -> Lift<()> {
    if let Some(&value) = graph.single.get(&phi) {
        let v = cx.value(value)?;
        cx.set(phi, v);
    } else if graph.one_handle.contains(&phi) {
        // Different instructions made handles of the same descriptor. Some come around a loop and are not there yet.
        let there = |&&(_, from): &&(ValueId, BlockId)| graph.find(from).is_some();
        let mut handles = incoming.iter().filter(there).filter_map(|&(value, _)| cx.handle_of(value).ok());
        let handle = handles.next().ok_or(CHOICE)?;
        cx.set(phi, Val::Handle(handle));
    }
    Ok(())
}

/// Whether a value is a handle.
fn is_handle(cx: &Cx<'_>, id: ValueId) -> bool {
    let ty = cx.type_of(id).ok().and_then(|ty| cx.module.types.get(ty));
    matches!(ty, Some(Llvm::Struct { name: Some(name), .. }) if name == "dx.types.Handle")
}

/// Makes a block's phis its parameters, except those that [`resolved`] handles.
fn params(cx: &mut Cx<'_>, graph: &mut Graph, block: BlockId, ir: Block) -> Result<(), LiftError> {
    let insts = cx.body.block(block).1;
    let misplaced = |(i, inst): (usize, &Inst)| {
        matches!(inst.kind, InstKind::Phi(_)) && i > 0 && !matches!(insts[i - 1].kind, InstKind::Phi(_))
    };
    // The first block has nothing before it that a phi could tell apart.
    let entry = block == BlockId(0) && matches!(insts.first(), Some(Inst { kind: InstKind::Phi(_), .. }));
    if entry || insts.iter().enumerate().any(misplaced) {
        return Err(LiftError::Phi(block.0));
    }
    let start = graph.incoming.len();
    for (n, (at, inst, incoming)) in (0..).zip(phis(cx.body, block)) {
        cx.at = at;
        let Some(result) = inst.result else { continue };
        if graph.single.contains_key(&result) {
            continue;
        }
        let v = match is_handle(cx, result) {
            true => match cx.common(result) {
                Ok(common) if common.is_one() => {
                    graph.one_handle.insert(result);
                    continue;
                }
                common => common.map(|common| {
                    let element = Element { index: cx.b.func.add_param(ir, Type::I32), nonuniform: true };
                    let place = match common.heap {
                        Some(heap) => Place::Heap(heap, element),
                        None => Place::Register(element),
                    };
                    Handle::new(common.declared, place).into()
                }),
            },
            false => cx.type_of(result).and_then(|ty| param(cx, ir, ty)),
        };
        graph.incoming.extend(incoming.iter().map(|&(value, from)| (from, n, value)));
        let v = v.map_err(|stop| explained(cx, inst, stop))?;
        cx.set(result, v);
    }
    if graph.incoming.len() > start {
        graph.incoming[start..].sort_by_key(|&(from, n, _)| (from, n));
        // A block that branches here twice is named twice, with the same value.
        let mut end = start;
        for at in start..graph.incoming.len() {
            let (from, n, _) = graph.incoming[at];
            if graph.incoming[start..end].last().is_none_or(|&(f, m, _)| (f, m) != (from, n)) {
                graph.incoming[end] = graph.incoming[at];
                end += 1;
            }
        }
        graph.incoming.truncate(end);
        graph.ranges[block.0 as usize] = start..end;
    }
    Ok(())
}

/// Aggregates within each other that pass from block to block.
const MOST_DEPTH: u32 = 4;

/// A value of a type made of scalars in order.
fn gathered(
    cx: &mut Cx<'_>,
    ty: TypeId,
    next: &mut dyn FnMut(&mut Cx<'_>, Type) -> Lift<Value>,
    depth: u32,
) -> Lift<Val> {
    if let Some((of, space)) = cx.module.types.pointee(ty) {
        let pointer = match Region::is_record(space) {
            true => {
                let address = next(cx, Type::I64)?;
                cx.memory.anywhere(Region::Record(address), of, address)?
            }
            false => {
                let address = next(cx, Type::I32)?;
                cx.memory.anywhere(Region::of_space(space)?, of, address)?
            }
        };
        return Ok(Val::Pointer(pointer));
    }
    if let Some(Llvm::Struct { name: Some(name), .. }) = cx.module.types.get(ty)
        && matches!(name.as_str(), "dx.types.NodeHandle" | "dx.types.NodeRecordHandle")
    {
        return Err(CHOICE);
    }
    let Some(count) = cx.members_of(ty)? else {
        let scalar = cx.scalar_type(ty)?;
        return Ok(Val::Scalar(next(cx, scalar.ty)?));
    };
    let mut members = Vec::new();
    for i in 0..count {
        let of = cx.module.types.member(ty, i).filter(|_| depth < MOST_DEPTH);
        members.push(gathered(cx, of.ok_or(Stop::Unsupported("a deep value"))?, next, depth + 1)?);
    }
    Ok(Val::members(members))
}

/// The scalars of a value, in the order that [`gathered`] asks for them.
fn scattered(cx: &mut Cx<'_>, v: Val, ty: TypeId, to: &mut Values, depth: u32) -> Lift<()> {
    let pointee = cx.module.types.pointee(ty);
    let members = if pointee.is_some() { None } else { cx.members_of(ty)? };
    match (v, members) {
        (Val::Handle(handle), _) => to.push(handle.place.index()),
        (Val::Pointer(pointer), None) => to.push(cx.address(&pointer)?),
        (Val::Undef, None) if let Some((_, space)) = pointee => {
            let ty = if Region::is_record(space) { Type::I64 } else { Type::I32 };
            to.push(cx.constant(ty, 0));
        }
        (v, None) => to.push(cx.scalar_of(v, ty)?),
        (v, Some(count)) => {
            for i in 0..count {
                let of = cx.module.types.member(ty, i).filter(|_| depth < MOST_DEPTH);
                let member = v.member(i as usize).ok_or(Stop::Unsupported("a member"))?;
                scattered(cx, member, of.ok_or(Stop::Unsupported("a deep value"))?, to, depth + 1)?;
            }
        }
    }
    Ok(())
}

/// Parameters of a block for a value: one for each scalar in it.
fn param(cx: &mut Cx<'_>, ir: Block, ty: TypeId) -> Lift<Val> {
    gathered(cx, ty, &mut |cx, ty| Ok(cx.b.func.add_param(ir, ty)), 0)
}

/// Adds what the phis of `to` become on the way from `from` to `args`; the block there.
fn edge(cx: &mut Cx<'_>, graph: &Graph, (from, to): (BlockId, BlockId), args: &mut Values) -> Lift<Block> {
    let target = graph.find(to).ok_or(LiftError::Phi(to.0))?;
    for &(_, _, value) in graph.incoming(from, to) {
        if let Some(v) = cx.known_scalar(value) {
            args.push(v);
            continue;
        }
        let (ty, v) = (cx.type_of(value)?, cx.value(value)?);
        scattered(cx, v, ty, args, 0)?;
    }
    match args.len() == cx.b.func.params(target).len() {
        true => Ok(target),
        false => Err(LiftError::Phi(to.0).into()),
    }
}

/// Ends a block; `None` if the instruction is no terminator.
fn terminator(cx: &mut Cx<'_>, graph: &Graph, from: BlockId, kind: &InstKind) -> Option<Lift<()>> {
    match kind {
        InstKind::Return(None) => {
            // One block for all returns: outputs may be met after a return.
            let end = cx.end();
            cx.b.jump(end, &[]);
            Some(Ok(()))
        }
        InstKind::Return(Some(value)) => Some(returned(cx, *value)),
        InstKind::Unreachable => {
            cx.b.unreachable();
            Some(Ok(()))
        }
        InstKind::Jump(_) | InstKind::Branch { .. } | InstKind::Switch { .. } => {
            Some(transfer(cx, graph, from, kind))
        }
        _ => None,
    }
}

fn returned(cx: &mut Cx<'_>, value: ValueId) -> Lift<()> {
    let (ty, v) = (cx.type_of(value)?, cx.value(value)?);
    let first = cx.end.is_none();
    let end = cx.end();
    if first {
        param(cx, end, ty)?;
    }
    let mut args = Values::new();
    scattered(cx, v, ty, &mut args, 0)?;
    cx.b.jump(end, &args);
    Ok(())
}

fn transfer(cx: &mut Cx<'_>, graph: &Graph, from: BlockId, kind: &InstKind) -> Lift<()> {
    match kind {
        InstKind::Jump(to) => {
            let mut args = Values::new();
            let block = edge(cx, graph, (from, *to), &mut args)?;
            cx.b.jump(block, &args);
        }
        InstKind::Branch { condition, targets: [yes, no] } => {
            let condition = cx.scalar(*condition)?;
            let (mut yes_args, mut no_args) = (Values::new(), Values::new());
            let yes = edge(cx, graph, (from, *yes), &mut yes_args)?;
            let no = edge(cx, graph, (from, *no), &mut no_args)?;
            cx.b.branch(condition, (yes, &yes_args), (no, &no_args));
        }
        InstKind::Switch { value, default, cases } => {
            let cases = cx.body.list(*cases);
            let mut v = cx.scalar(*value)?;
            if cx.ty(v) == Type::BOOL {
                v = cx.resize(v, Type::I32);
            }
            let mut seen = FxHashSet::default();
            let mut edges = Vec::with_capacity(cases.len());
            for &(case, to) in cases {
                let number = cx.integer(case)?;
                // Of equal cases the first one counts.
                if seen.insert(number) {
                    let mut args = Values::new();
                    let block = edge(cx, graph, (from, to), &mut args)?;
                    edges.push((number, block, args));
                }
            }
            let mut default_args = Values::new();
            let default = edge(cx, graph, (from, *default), &mut default_args)?;
            let cases: Vec<(u64, Block, &[Value])> =
                edges.iter().map(|(n, b, args)| (*n, *b, args.as_slice())).collect();
            cx.b.switch(v, &cases, (default, &default_args));
        }
        _ => {}
    }
    Ok(())
}
