//! Small edits that several passes make.

use smallvec::SmallVec;
use xenoglot_ir::analysis::{Cfg, Pred};
use xenoglot_ir::entity::{EntityRef as _, SecondaryMap, packed_option::PackedOption};
use xenoglot_ir::list::{ValueList, ValuePool};
use xenoglot_ir::module::{Builtin, Direction, Interpolation, Semantic, VarData};
use xenoglot_ir::{
    Bits, Block, Builder, Flags, Function, Imm, Inst, Module, NO_GUEST, Op, Resource, TermKind, Terminator,
    Type, Value, ValueDef, Var,
};

/// Values that others took the place of.
///
/// A pass that replaces values resolves every operand it comes to and leaves none of the old ones in use; the map is
/// empty again at its end.
#[derive(Default)]
pub(crate) struct Replaced {
    by: SecondaryMap<Value, PackedOption<Value>>,
    any: bool,
    /// The results of instructions that this gave other operands.
    pub(crate) stale: Stale,
}

/// Results of instructions that [`simplify`](crate::simplify) has not looked at as they are now. A pass
/// that rewrites instructions other than through [`Replaced`] marks them, or all are; new results are stale by their
/// number.
#[derive(Default)]
pub(crate) struct Stale {
    /// By value; what is not listed is stale.
    listed: Vec<bool>,
    /// Whether anything listed is stale.
    any: bool,
}

impl Stale {
    /// Everything is stale.
    pub(crate) fn all(&mut self) {
        self.listed.clear();
    }

    pub(crate) fn is_all(&self) -> bool {
        self.listed.is_empty()
    }

    pub(crate) fn is_none(&self, f: &Function) -> bool {
        !self.any && self.listed.len() == f.values.len()
    }

    /// Nothing is stale.
    pub(crate) fn none(&mut self, f: &Function) {
        self.listed.clear();
        self.listed.resize(f.values.len(), false);
        self.any = false;
    }

    pub(crate) fn mark(&mut self, v: Value) {
        if let Some(listed) = self.listed.get_mut(v.index()) {
            *listed = true;
            self.any = true;
        }
    }

    #[inline]
    pub(crate) fn contains(&self, v: Value) -> bool {
        self.listed.get(v.index()).is_none_or(|&stale| stale)
    }
}

impl Replaced {
    /// Forgets everything and makes room for the values of `f`.
    pub(crate) fn reset(&mut self, f: &Function) {
        self.by.clear();
        self.by.resize(f.values.len());
        self.any = false;
    }

    /// Lets `by` take the place of `old`, unless it is `old`. The name hint goes with it if `by` has none.
    pub(crate) fn set(&mut self, f: &mut Function, old: Value, by: Value) {
        let by = self.resolve(by);
        if by == old {
            return;
        }
        if f.values[by].hint.is_none() {
            f.values[by].hint = f.values[old].hint;
        }
        self.by[old] = by.into();
        self.any = true;
    }

    /// What stands for `v` now.
    #[inline]
    pub(crate) fn resolve(&self, mut v: Value) -> Value {
        while let Some(by) = self.by[v].expand() {
            v = by;
        }
        v
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        !self.any
    }

    /// Rewrites the operands of `inst`.
    #[inline(always)]
    pub(crate) fn apply_inst(&mut self, f: &mut Function, inst: Inst) {
        if self.any && f.args(inst).iter().any(|&v| self.by[v].is_some()) {
            self.rewrite_inst(f, inst);
        }
    }

    fn rewrite_inst(&mut self, f: &mut Function, inst: Inst) {
        let Function { insts, pool, .. } = f;
        insts[inst].args.as_mut_slice(pool).iter_mut().for_each(|v| *v = self.resolve(*v));
        insts[inst].results.as_slice(pool).iter().for_each(|&v| self.stale.mark(v));
    }

    /// Rewrites the operands of `block`'s terminator and edges.
    pub(crate) fn apply_term(&self, f: &mut Function, block: Block) {
        if self.any {
            let Function { blocks, pool, .. } = f;
            let term = &mut blocks[block].term;
            term.args.as_mut_slice(pool).iter_mut().for_each(|v| *v = self.resolve(*v));
            for edge in &mut term.edges {
                edge.args.as_mut_slice(pool).iter_mut().for_each(|v| *v = self.resolve(*v));
            }
        }
    }

    /// Rewrites all operands of `f`.
    pub(crate) fn apply(&mut self, f: &mut Function) {
        if !self.any {
            return;
        }
        for b in 0..f.layout.len() {
            let block = f.layout[b];
            for i in 0..f.blocks[block].insts.len() {
                self.apply_inst(f, f.blocks[block].insts[i]);
            }
            self.apply_term(f, block);
        }
    }
}

/// Joins `next` to `block`, which jumps to it and is the only block that does. `next` is left without instructions, and the values that
/// took the place of its parameters are in `replaced`.
pub(crate) fn join(f: &mut Function, block: Block, next: Block, replaced: &mut Replaced) {
    let [edge] = f.edges(block) else { return };
    let args: SmallVec<[Value; 8]> = f.edge_args(edge).into();
    let params: SmallVec<[Value; 8]> = f.params(next).into();
    for (p, a) in params.into_iter().zip(args) {
        replaced.set(f, p, a);
    }
    let mut insts = std::mem::take(&mut f.blocks[next].insts);
    let term = take_term(&mut f.blocks[next].term);
    f.blocks[block].insts.append(&mut insts);
    f.blocks[block].term = term;
}

/// Takes variables that nothing reads or writes any more out of a module's interface; captured ones stay.
pub(crate) fn drop_vars(module: &mut Module, is_dropped: impl Fn(Var) -> bool) {
    let mut kept: SecondaryMap<Var, PackedOption<Var>> = SecondaryMap::new();
    let old = std::mem::take(&mut module.vars);
    for (var, data) in old {
        if !is_dropped(var) || module.captures.iter().any(|c| c.var == var) {
            kept[var] = module.vars.push(data).into();
        }
    }
    let renumber = |var: &mut Var| *var = kept[*var].expand().unwrap_or(*var);
    module.captures.iter_mut().for_each(|c| renumber(&mut c.var));
    for f in module.funcs.values_mut() {
        for data in f.insts.values_mut() {
            if let Imm::Var(var) = &mut data.imm {
                renumber(var);
            }
        }
    }
}

/// Makes `inst` another op; its result stays.
pub(crate) fn rewrite(f: &mut Function, inst: Inst, op: Op, flags: Flags, imm: Imm, args: &[Value]) {
    let Function { insts, pool, .. } = f;
    let data = &mut insts[inst];
    data.op = op;
    data.flags = flags;
    data.imm = imm;
    data.args.assign(args, pool);
}

/// Makes `inst` a constant; its result stays.
pub(crate) fn rewrite_const(f: &mut Function, inst: Inst, bits: Bits) {
    let c = f.consts.push(bits);
    rewrite(f, inst, Op::Const, Flags::NONE, Imm::Const(c), &[]);
}

/// A constant in no block yet.
pub(crate) fn make_const(f: &mut Function, ty: Type, bits: Bits, guest: u32) -> Inst {
    let c = f.consts.push(bits);
    f.make_inst(Op::Const, Flags::NONE, Imm::Const(c), &[], &[ty], guest)
}

/// Constants at the start of a function: one for all who want a number.
#[derive(Default)]
pub(crate) struct SharedConsts {
    known: SmallVec<[(Type, u64, Value); 8]>,
    insts: SmallVec<[Inst; 8]>,
}

impl SharedConsts {
    /// A scalar.
    pub(crate) fn get(&mut self, f: &mut Function, ty: Type, bits: u64) -> Value {
        if let Some(known) = self.known.iter().find(|known| known.1 == bits && known.0 == ty) {
            return known.2;
        }
        let c = f.consts.push(Bits::scalar(bits));
        let (inst, v) = f.make_value(Op::Const, Flags::NONE, Imm::Const(c), &[], ty, NO_GUEST);
        self.insts.push(inst);
        self.known.push((ty, bits, v));
        v
    }

    /// Puts those that were asked for before all else.
    pub(crate) fn place(self, f: &mut Function) {
        if let Some(entry) = f.entry() {
            drop(f.blocks[entry].insts.splice(0..0, self.insts));
        }
    }
}

/// Drops blocks that the entry does not reach from the layout, by the up-to-date `cfg`, and empties them; whether
/// there were any.
pub(crate) fn remove_unreachable(f: &mut Function, cfg: &Cfg) -> bool {
    retain_blocks(f, |block| cfg.is_reachable(block))
}

/// Drops blocks from the layout and empties them; whether there were any.
pub(crate) fn retain_blocks(f: &mut Function, is_kept: impl Fn(Block) -> bool) -> bool {
    let Function { layout, blocks, .. } = f;
    let before = layout.len();
    layout.retain(|&b| {
        let keep = is_kept(b);
        if !keep {
            blocks[b].insts.clear();
            take_term(&mut blocks[b].term);
        }
        keep
    });
    before != layout.len()
}

/// The terminator, with `unreachable` left in its place.
pub(crate) fn take_term(term: &mut Terminator) -> Terminator {
    let none = Terminator {
        kind: TermKind::Unreachable,
        args: ValueList::EMPTY,
        edges: SmallVec::new(),
        cases: Vec::new(),
        guest: NO_GUEST,
    };
    std::mem::replace(term, none)
}

/// Removes the parameters of `block` that `dead` names by number, and their arguments on all edges in `preds`.
pub(crate) fn remove_params(f: &mut Function, block: Block, preds: &[Pred], dead: impl Fn(usize) -> bool) {
    for p in preds {
        let Function { blocks, pool, .. } = f;
        retain(&mut blocks[p.block].term.edges[p.edge as usize].args, pool, &dead);
    }
    let Function { blocks, pool, values, .. } = f;
    retain(&mut blocks[block].params, pool, &dead);
    for (n, &v) in blocks[block].params.as_slice(pool).iter().enumerate() {
        values[v].def = ValueDef::Param(block, n as u16);
    }
}

fn retain(list: &mut ValueList, pool: &mut ValuePool, dead: &impl Fn(usize) -> bool) {
    let slice = list.as_mut_slice(pool);
    let mut kept = 0;
    for i in 0..slice.len() {
        if !dead(i) {
            slice[kept] = slice[i];
            kept += 1;
        }
    }
    list.truncate(kept);
}

/// The input of a builtin, declared if the module has none yet.
pub(crate) fn builtin_input(module: &mut Module, builtin: Builtin, ty: Type) -> Var {
    let semantic = Semantic::Builtin(builtin);
    let known = module.vars.iter().find(|(_, v)| v.semantic == semantic && v.direction == Direction::Input);
    if let Some((var, _)) = known {
        return var;
    }
    module.vars.push(VarData {
        name: builtin.name().into(),
        direction: Direction::Input,
        ty,
        semantic,
        interpolation: Interpolation::Flat,
        array: None,
        inner: None,
        stream: 0,
    })
}

/// A handle of `resource`, taken as `handle` is, at the end of a block.
pub(crate) fn take_handle(f: &mut Function, block: Block, handle: Value, resource: Resource) -> Value {
    let Some(inst) = f.def_inst(handle) else { return handle };
    let (element, ty, data) = (f.args(inst).to_vec(), f.ty(handle), &f.insts[inst]);
    let (flags, guest) = (data.flags, data.guest);
    let (made, v) = f.make_value(Op::ResourceHandle, flags, Imm::Resource(resource), &element, ty, guest);
    f.blocks[block].insts.push(made);
    v
}

/// Puts other instructions in the place of those that `is_wanted`: `replace` adds them at the end of the block, the instruction itself
/// where it stays, and says which values take the place of its results. Whether there were any.
pub(crate) fn replace_insts(
    f: &mut Function,
    is_wanted: impl Fn(&Function, Inst) -> bool,
    mut replace: impl FnMut(&mut Builder, Inst, &mut Replaced),
) -> bool {
    let mut replaced = Replaced::default();
    replaced.reset(f);
    let mut changed = false;
    for i in 0..f.layout.len() {
        let block = f.layout[i];
        if !f.blocks[block].insts.iter().any(|&inst| is_wanted(f, inst)) {
            continue;
        }
        changed = true;
        for inst in std::mem::take(&mut f.blocks[block].insts) {
            if !is_wanted(f, inst) {
                f.blocks[block].insts.push(inst);
                continue;
            }
            let b = &mut Builder::new(f, block);
            b.set_guest(b.func.insts[inst].guest);
            replace(b, inst, &mut replaced);
        }
    }
    replaced.apply(f);
    changed
}
