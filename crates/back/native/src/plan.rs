//! What is known of a function before code is made of it: which components are needed, which values are the same in
//! all lanes, which addresses advance by a constant from lane to lane, and where NaNs have to be looked for.

use crate::Variant;
use xenoglot_ir::analysis::{Cfg, PostDominators};
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::module::{Builtin, ResourceKind, Semantic};
use xenoglot_ir::{
    Block, DivZero, Function, Imm, Inst, Kind, MemInfo, Module, NanMode, Op, Resource, Space, TermKind, Type,
    Value, ValueDef,
};

/// A set of a value's components: bit i is component i.
pub(crate) type Components = u8;

pub(crate) fn all(ty: Type) -> Components {
    (1 << ty.lanes()) - 1
}

pub(crate) fn components(set: Components) -> impl Iterator<Item = usize> {
    (0..4usize).filter(move |c| set >> c & 1 == 1)
}

/// `invocation * stride + offset` modulo 2^32.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Affine {
    pub(crate) stride: u32,
    pub(crate) offset: u32,
}

/// How an access finds its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Address {
    /// The same constant in all lanes, inside the declared size of a uniform buffer.
    Fixed(u32),
    /// Inside the declared size of a uniform buffer, whatever the operands are.
    Inside,
    /// Inside the buffer for every invocation that the optimistic variant is run for.
    Affine(Affine),
    /// The same in all lanes.
    Uniform,
    /// One per lane.
    Lanes,
}

/// What an op does to NaNs and to the bits of its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    /// A NaN operand makes the result the canonical NaN.
    Arithmetic,
    /// Components go to other places, NaNs with all their bits.
    Move,
    /// A result may be an operand, bit for bit.
    Pick,
    /// The result does not show an operand's NaN bits.
    Other,
}

pub(crate) fn class(f: &Function, inst: Inst) -> Class {
    let data = &f.insts[inst];
    match data.op {
        Op::Fadd | Op::Fsub | Op::Fmul | Op::Fdiv | Op::Fma | Op::Floor | Op::Ceil | Op::Trunc | Op::RoundEven
        | Op::Fract | Op::Sqrt | Op::Rsqrt | Op::Rcp | Op::Exp2 | Op::Log2 | Op::Sin | Op::Cos | Op::Fdot2
        | Op::Fdot3 | Op::Fdot4 | Op::Fquantize
            // Both make something else of a NaN.
            if !data.flags.sat() && !data.flags.fmz() =>
        {
            Class::Arithmetic
        }
        Op::Splat | Op::Build | Op::Extract | Op::Insert | Op::Shuffle | Op::Freeze | Op::Fneg | Op::Fabs => {
            Class::Move
        }
        Op::Bitcast => Class::Move,
        Op::Select | Op::Fmin | Op::Fmax | Op::FfrexpMant | Op::Fldexp => Class::Pick,
        _ if data.op.info().traits.pure => Class::Other,
        _ => Class::Pick,
    }
}

/// Whether a NaN in operand `n` always makes the result of a choice a NaN.
fn shows(f: &Function, inst: Inst, n: usize) -> bool {
    let data = &f.insts[inst];
    matches!(data.op, Op::Fmin | Op::Fmax)
        && !data.flags.sat()
        && !data.flags.fmz()
        && match data.flags.nan() {
            NanMode::First => n == 0,
            NanMode::Second => n == 1,
            NanMode::Propagate => true,
            NanMode::Other => false,
        }
}

/// Calls `each` with every operand and those of its components that components `of` of the result are made of.
pub(crate) fn sources(
    f: &Function,
    inst: Inst,
    of: Components,
    mut each: impl FnMut(usize, Value, Components),
) {
    let data = &f.insts[inst];
    let args = f.args(inst);
    // A component without uses may still trap.
    let of = if data.flags.div_zero() == DivZero::Trap { 15 } else { of };
    match (data.op, data.imm) {
        (Op::Splat, _) => each(0, args[0], 1),
        (Op::Build, _) => components(of).for_each(|c| each(c, args[c], 1)),
        (Op::Extract, Imm::Lane(lane)) => each(0, args[0], 1 << lane),
        (Op::Insert, Imm::Lane(lane)) => {
            each(0, args[0], of & !(1 << lane));
            each(1, args[1], of >> lane & 1);
        }
        (Op::Shuffle, Imm::Lanes(lanes)) => {
            for c in components(of) {
                let from = lanes.as_slice()[c];
                each(usize::from(from / 4), args[usize::from(from / 4)], 1 << (from % 4));
            }
        }
        (op, _) if op.is_lanewise() || op == Op::Bitcast => {
            for (n, &a) in args.iter().enumerate() {
                each(n, a, if f.ty(a).is_scalar() { 1 } else { of });
            }
        }
        _ => args.iter().enumerate().for_each(|(n, &a)| each(n, a, all(f.ty(a)))),
    }
}

#[derive(Clone, Copy, Default)]
struct Facts {
    /// Components that something needs.
    live: Components,
    /// Components whose NaN bits may be observed.
    seen: Components,
    /// Components that would not show in another value if they were NaNs.
    root: Components,
    divergent: bool,
    affine: Option<Affine>,
    /// No lane has a greater number, executing or not: variables of lanes that do not execute are zero or as they were.
    most: Option<u32>,
}

/// The facts of a function for one variant.
pub(crate) struct Plan {
    pub(crate) cfg: Cfg,
    variant: Variant,
    facts: SecondaryMap<Value, Facts>,
    /// Whether the lanes of a group may take different ways.
    pub(crate) diverges: bool,
    /// Strides of affine accesses.
    pub(crate) strides: Vec<u32>,
    /// Resources that nothing is stored to, by that or another name.
    constant: SecondaryMap<Resource, bool>,
    /// What must hold of buffers for an affine access: resource, stride, end of the accesses of invocation 0.
    pub(crate) reach: Vec<(Resource, u32, u64)>,
}

impl Plan {
    pub(crate) fn new(module: &Module, f: &Function, variant: Variant) -> Plan {
        let mut cfg = Cfg::default();
        cfg.compute(f);
        let mut plan = Plan {
            cfg,
            variant,
            facts: SecondaryMap::with_capacity(f.values.len()),
            diverges: false,
            strides: Vec::new(),
            constant: SecondaryMap::new(),
            reach: Vec::new(),
        };
        plan.constant(module, f);
        plan.affine(module, f);
        plan.uniformity(module, f);
        plan.collect_reach(module, f);
        plan.liveness(module, f);
        plan.roots(f);
        plan
    }

    pub(crate) fn live(&self, v: Value) -> Components {
        self.facts[v].live
    }

    pub(crate) fn seen(&self, v: Value) -> Components {
        self.facts[v].seen
    }

    pub(crate) fn root(&self, v: Value) -> Components {
        self.facts[v].root
    }

    pub(crate) fn is_divergent(&self, v: Value) -> bool {
        self.facts[v].divergent
    }

    /// Whether what is loaded from the resource is the same for the whole run.
    pub(crate) fn is_constant(&self, resource: Resource) -> bool {
        self.constant[resource]
    }

    fn constant(&mut self, module: &Module, f: &Function) {
        let insts = f.layout.iter().flat_map(|&b| &f.blocks[b].insts).map(|&i| &f.insts[i]);
        let stored: Vec<_> = insts
            .filter_map(|data| match (data.op, data.imm) {
                (Op::Store, Imm::Mem(mem)) => mem.resource.expand(),
                _ => None,
            })
            .map(|r| (module.resources[r].set, module.resources[r].binding))
            .collect();
        for (r, data) in &module.resources {
            self.constant[r] = !stored.contains(&(data.set, data.binding));
        }
    }

    /// Whether control comes back to `block` from itself or later blocks.
    pub(crate) fn is_loop_head(&self, block: Block) -> bool {
        let at = self.number(block);
        self.cfg.preds(block).iter().any(|p| self.number(p.block) >= at)
    }

    fn number(&self, block: Block) -> u32 {
        self.cfg.rpo_number(block).unwrap_or(u32::MAX)
    }

    /// Where an access goes.
    pub(crate) fn address(&self, module: &Module, f: &Function, inst: Inst, mem: &MemInfo) -> Address {
        let at = f.args(inst)[0];
        let ty = f.result(inst).or(f.args(inst).get(1).copied()).map(|v| f.ty(v));
        let bytes = ty.and_then(|t| t.bytes()).unwrap_or(0);
        let resource = mem.resource.expand().map(|r| &module.resources[r].kind);
        match (self.facts[at].affine, resource) {
            (Some(Affine { stride: 0, offset }), Some(ResourceKind::UniformBuffer { size }))
                if u64::from(offset) + u64::from(bytes) <= u64::from(*size) =>
            {
                Address::Fixed(offset)
            }
            (Some(a), Some(_))
                if self.variant == Variant::Optimistic
                    && u64::from(a.offset) + u64::from(bytes) <= i32::MAX as u64
                    && a.stride <= i32::MAX as u32 =>
            {
                Address::Affine(a)
            }
            (_, Some(ResourceKind::UniformBuffer { size }))
                if self.facts[at]
                    .most
                    .is_some_and(|most| u64::from(most) + u64::from(bytes) <= u64::from(*size)) =>
            {
                Address::Inside
            }
            _ if !self.facts[at].divergent && mem.space != Space::Private => Address::Uniform,
            _ => Address::Lanes,
        }
    }

    fn affine(&mut self, module: &Module, f: &Function) {
        for &block in self.cfg.rpo() {
            for &inst in &f.blocks[block].insts {
                let Some(result) = f.result(inst).filter(|&v| f.ty(v) == Type::I32) else { continue };
                let args = f.args(inst);
                let of = |n: usize| args.get(n).and_then(|&v| self.facts[v].affine);
                let constant = |a: Affine| (a.stride == 0).then_some(a.offset);
                let scaled = |a: Affine, by: u32| Affine {
                    stride: a.stride.wrapping_mul(by),
                    offset: a.offset.wrapping_mul(by),
                };
                let data = &f.insts[inst];
                let affine = match (data.op, of(0), of(1)) {
                    (Op::Const, ..) => {
                        f.const_bits(result).map(|b| Affine { stride: 0, offset: b.lane(0) as u32 })
                    }
                    (Op::Extract, ..) => match data.imm {
                        Imm::Lane(lane) if is_invocation(module, f, args[0]) => {
                            Some(Affine { stride: u32::from(lane == 0), offset: 0 })
                        }
                        _ => None,
                    },
                    (Op::Iadd, Some(a), Some(b)) => Some(Affine {
                        stride: a.stride.wrapping_add(b.stride),
                        offset: a.offset.wrapping_add(b.offset),
                    }),
                    (Op::Isub, Some(a), Some(b)) => Some(Affine {
                        stride: a.stride.wrapping_sub(b.stride),
                        offset: a.offset.wrapping_sub(b.offset),
                    }),
                    (Op::Imul, Some(a), Some(b)) => match (constant(a), constant(b)) {
                        (_, Some(by)) => Some(scaled(a, by)),
                        (Some(by), _) => Some(scaled(b, by)),
                        _ => None,
                    },
                    (Op::Shl, Some(a), Some(b)) => constant(b).map(|by| scaled(a, 1 << (by % 32))),
                    _ => None,
                };
                self.facts[result].affine = affine;
                self.facts[result].most = self.most(f, inst);
            }
        }
    }

    /// A bound on the result of an op on words.
    fn most(&self, f: &Function, inst: Inst) -> Option<u32> {
        let args = f.args(inst);
        let of = |n: usize| args.get(n).and_then(|&v| self.facts[v].most);
        let constant = |n: usize| args.get(n).and_then(|&v| f.const_bits(v)).map(|b| b.lane(0) as u32);
        match (f.insts[inst].op, of(0), of(1)) {
            (Op::Const, ..) => f.const_bits(f.result(inst)?).map(|b| b.lane(0) as u32),
            (Op::Umin | Op::And, Some(a), Some(b)) => Some(a.min(b)),
            (Op::Umin | Op::And, a, b) => a.or(b),
            (Op::Iadd, Some(a), Some(b)) => a.checked_add(b),
            (Op::Imul, Some(a), Some(b)) => a.checked_mul(b),
            (Op::Shl, Some(a), _) => a.checked_mul(1 << (constant(1)? % 32)),
            (Op::Ushr, Some(a), _) => Some(a >> (constant(1)? % 32)),
            (Op::Select, _, Some(a)) => Some(a.max(of(2)?)),
            _ => None,
        }
    }

    fn collect_reach(&mut self, module: &Module, f: &Function) {
        for &block in self.cfg.rpo() {
            for &inst in &f.blocks[block].insts {
                let Imm::Mem(mem) = f.insts[inst].imm else { continue };
                let (Address::Affine(a), Some(resource)) =
                    (self.address(module, f, inst, &mem), mem.resource.expand())
                else {
                    continue;
                };
                let ty = f.result(inst).or(f.args(inst).get(1).copied()).map(|v| f.ty(v));
                let end = u64::from(a.offset) + u64::from(ty.and_then(|t| t.bytes()).unwrap_or(0));
                match self.reach.iter_mut().find(|r| r.0 == resource && r.1 == a.stride) {
                    Some(r) => r.2 = r.2.max(end),
                    None => self.reach.push((resource, a.stride, end)),
                }
                if !self.strides.contains(&a.stride) {
                    self.strides.push(a.stride);
                }
            }
        }
    }

    /// Divergence by data and by control, until nothing changes.
    fn uniformity(&mut self, module: &Module, f: &Function) {
        let mut post = PostDominators::default();
        let branches = self.cfg.rpo().iter().any(|&b| f.edges(b).len() > 1);
        if branches {
            post.compute(f, &self.cfg);
        }
        let mut joins: SecondaryMap<Block, bool> = SecondaryMap::new();
        let mut spread: SecondaryMap<Block, bool> = SecondaryMap::new();
        let rpo = self.cfg.rpo().to_vec();
        loop {
            let mut changed = false;
            for &block in &rpo {
                for &inst in &f.blocks[block].insts {
                    let Some(result) = f.result(inst).filter(|&v| !self.facts[v].divergent) else { continue };
                    let data = &f.insts[inst];
                    let own = match (data.op, data.imm) {
                        (Op::Input, _) => true,
                        (Op::Load, Imm::Mem(mem)) => mem.space == Space::Private,
                        (Op::Extract, _) if is_invocation(module, f, f.args(inst)[0]) => {
                            data.imm == Imm::Lane(0)
                        }
                        _ => false,
                    };
                    let exempt = data.op == Op::Extract && is_invocation(module, f, f.args(inst)[0]);
                    if own || (!exempt && f.args(inst).iter().any(|&a| self.facts[a].divergent)) {
                        self.facts[result].divergent = true;
                        changed = true;
                    }
                }
                for edge in f.edges(block) {
                    for (&p, &a) in f.params(edge.block).iter().zip(f.edge_args(edge)) {
                        if !self.facts[p].divergent && (self.facts[a].divergent || joins[edge.block]) {
                            self.facts[p].divergent = true;
                            changed = true;
                        }
                    }
                }
                if self.branch_diverges(f, block) && !spread[block] {
                    spread[block] = true;
                    changed = true;
                    self.diverges = true;
                    self.mark_joins(f, block, post.ipdom(block), &mut joins);
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Whether lanes may part at the end of `block`.
    pub(crate) fn branch_diverges(&self, f: &Function, block: Block) -> bool {
        f.edges(block).len() > 1 && f.term_args(block).iter().any(|&v| self.facts[v].divergent)
    }

    /// Where lanes that part at `block` come together up to `end`, they carry different values.
    fn mark_joins(
        &self,
        f: &Function,
        block: Block,
        end: Option<Block>,
        joins: &mut SecondaryMap<Block, bool>,
    ) {
        let mut seen: SecondaryMap<Block, bool> = SecondaryMap::new();
        let mut stack: Vec<Block> = f.edges(block).iter().map(|e| e.block).collect();
        while let Some(b) = stack.pop() {
            if std::mem::replace(&mut seen[b], true) {
                continue;
            }
            joins[b] |= self.cfg.preds(b).len() > 1;
            if Some(b) != end {
                stack.extend(f.edges(b).iter().map(|e| e.block));
            }
        }
    }

    /// Makes every block parameter with several sources divergent: where blocks are run out of order, lanes may be at
    /// different rounds of a loop at once.
    pub(crate) fn spread_params(&mut self, module: &Module, f: &Function) {
        for &block in self.cfg.rpo() {
            if self.cfg.preds(block).len() > 1 {
                f.params(block).iter().for_each(|&p| self.facts[p].divergent = true);
            }
        }
        self.uniformity(module, f);
        // More addresses are one per lane now.
        self.liveness(module, f);
        self.roots(f);
    }

    fn need(&mut self, f: &Function, v: Value, live: Components, seen: Components, work: &mut Vec<Value>) {
        let all = all(f.ty(v));
        let facts = &mut self.facts[v];
        let (live, seen) = (facts.live | live & all, facts.seen | seen & all);
        if (live, seen) != (facts.live, facts.seen) {
            (facts.live, facts.seen) = (live, seen);
            work.push(v);
        }
    }

    fn liveness(&mut self, module: &Module, f: &Function) {
        let mut work = Vec::new();
        for i in 0..self.cfg.rpo().len() {
            let block = self.cfg.rpo()[i];
            for &inst in &f.blocks[block].insts {
                let data = &f.insts[inst];
                let Imm::Mem(mem) = data.imm else { continue };
                if data.op == Op::Store {
                    let v = f.args(inst)[1];
                    self.need(f, v, 15, 15, &mut work);
                    self.need_address(module, f, inst, &mem, &mut work);
                }
            }
            if f.term(block).kind != TermKind::Return {
                f.term_args(block).iter().for_each(|&v| self.need(f, v, 15, 0, &mut work));
            }
        }
        while let Some(v) = work.pop() {
            let Facts { live, seen, .. } = self.facts[v];
            match f.values[v].def {
                ValueDef::Inst(inst, _) => {
                    if let (Op::Load, Imm::Mem(mem)) = (f.insts[inst].op, f.insts[inst].imm) {
                        self.need_address(module, f, inst, &mem, &mut work);
                        continue;
                    }
                    let class = class(f, inst);
                    sources(f, inst, live, |_, a, l| self.need(f, a, l, 0, &mut work));
                    if matches!(class, Class::Move | Class::Pick) {
                        sources(f, inst, seen, |_, a, s| self.need(f, a, 0, s, &mut work));
                    }
                }
                ValueDef::Param(block, n) => {
                    for i in 0..self.cfg.preds(block).len() {
                        let pred = self.cfg.preds(block)[i];
                        let edge = &f.edges(pred.block)[pred.edge as usize];
                        let a = f.edge_args(edge)[usize::from(n)];
                        self.need(f, a, live, seen, &mut work);
                    }
                }
            }
        }
    }

    fn need_address(
        &mut self,
        module: &Module,
        f: &Function,
        inst: Inst,
        mem: &MemInfo,
        work: &mut Vec<Value>,
    ) {
        if matches!(self.address(module, f, inst, mem), Address::Inside | Address::Uniform | Address::Lanes) {
            self.need(f, f.args(inst)[0], 1, 0, work);
        }
    }

    /// Finds the components that have to be looked at for NaNs: those that no arithmetic before the next effect of their
    /// block takes up.
    fn roots(&mut self, f: &Function) {
        let mut covered: SecondaryMap<Value, Components> = SecondaryMap::with_capacity(f.values.len());
        for i in 0..self.cfg.rpo().len() {
            covered.clear();
            for &inst in f.blocks[self.cfg.rpo()[i]].insts.iter().rev() {
                if f.insts[inst].op == Op::Store {
                    covered.clear();
                }
                let Some(v) = f.result(inst) else { continue };
                let live = self.facts[v].live;
                match class(f, inst) {
                    Class::Arithmetic => {
                        self.facts[v].root = live & !covered[v];
                        sources(f, inst, live, |_, a, c| covered[a] |= c);
                    }
                    class => {
                        let shown = live & covered[v];
                        if shown != 0 {
                            sources(f, inst, shown, |n, a, c| {
                                if class == Class::Move || shows(f, inst, n) {
                                    covered[a] |= c;
                                }
                            });
                        }
                    }
                }
            }
        }
    }
}

/// Whether `v` is the invocation's number in the dispatch.
pub(crate) fn is_invocation(module: &Module, f: &Function, v: Value) -> bool {
    let Some(inst) = f.def_inst(v) else { return false };
    match (f.insts[inst].op, f.insts[inst].imm) {
        (Op::Input, Imm::Var(var)) => {
            module.vars[var].semantic == Semantic::Builtin(Builtin::GlobalInvocationId)
        }
        _ => false,
    }
}

/// Whether values of this kind are held in 32 bits per lane.
pub(crate) fn is_word(kind: Kind) -> bool {
    matches!(kind, Kind::Bool | Kind::I32 | Kind::F32)
}
