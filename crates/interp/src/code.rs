//! The pre-resolved form of a module: everything a step needs in dense arrays, every index checked once.

use crate::trap::At;
use smallvec::SmallVec;
use thiserror::Error;
use xenoglot_ir::entity::{EntityRef, PrimaryMap};
use xenoglot_ir::fold::{Cx, Fold};
use xenoglot_ir::imm::{BarrierInfo, Dim, MemInfo, Reduce, Space, SubgroupInfo};
use xenoglot_ir::module::Count;
use xenoglot_ir::op::{Op, Sig};
use xenoglot_ir::{
    Bits, Block, Func, Function, Imm, Inst, Module, Resource, Stage, TermKind, Type, Value, Var,
};

/// A module that no verifier would have let pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("{reason} at {at}")]
pub struct Invalid {
    /// Where.
    pub at: At,
    /// What is wrong.
    pub reason: &'static str,
}

/// A run of register numbers in [`FuncCode::regs`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    start: u32,
    len: u32,
}

/// What an instruction does, with the parts of its immediate that were looked up already.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    /// Result from the fold function.
    Fold,
    /// The constant with this index.
    Const(u32),
    /// Zeros.
    Zero,
    /// Copy from a register (reading a slot).
    Get(u32),
    /// Copy of the operand to a register (writing a slot).
    Set(u32),
    Input(Var),
    OutputGet(Var),
    Output(Var),
    EmitVertex,
    EndPrimitive,
    Load(Access),
    Store(Access),
    GuestLoad(Access),
    GuestStore(Access),
    /// Read-modify-write or compare-exchange.
    Atomic(Access),
    /// The size of a buffer; the operand, if there is one, is the element of an array.
    Size(Resource),
    Call(Func, Span),
    Demote,
    DiscardIf,
    Helper,
    /// Instructions executed so far.
    Clock,
    /// A number that is known beforehand.
    Word(u32),
    /// Orders memory only: the interpreter's memory is in order already.
    Nothing,
    /// The number of a resource; the operand, if there is one, is the element of an array.
    Handle(Resource),
    /// A texel of a buffer, and, if there is a second register, whether it is resident.
    TexelLoad(Span),
    TexelStore,
    TexelAtomic(Type),
    Barrier(BarrierInfo),
    Subgroup(SubgroupInfo, Type),
    Unsupported,
}

/// An access to memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) mem: MemInfo,
    /// What is loaded, stored or exchanged.
    pub(crate) ty: Type,
    /// The last operand is the element of an array of resources.
    pub(crate) array: bool,
}

impl Act {
    /// Whether the invocations that execute it together do so in one step.
    pub(crate) fn is_joint(&self) -> bool {
        matches!(self, Act::Barrier(_) | Act::Subgroup(..))
    }
}

/// An instruction.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    pub(crate) act: Act,
    pub(crate) op: Op,
    pub(crate) cx: Cx,
    pub(crate) args: Span,
    /// Register of the result, if there is exactly one.
    pub(crate) result: Option<u32>,
    pub(crate) inst: Inst,
    pub(crate) guest: u32,
}

/// A control-flow edge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EdgeCode {
    pub(crate) target: Block,
    pub(crate) args: Span,
    pub(crate) params: Span,
}

/// A block: its instructions `start..end` of [`FuncCode::code`], its out edges from `first_edge` on.
#[derive(Clone, Debug)]
pub(crate) struct BlockCode {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) kind: TermKind,
    pub(crate) args: Span,
    pub(crate) first_edge: u32,
    pub(crate) edges: u32,
    /// Case values in ascending order, each with the number of its edge.
    pub(crate) cases: Vec<(u64, u32)>,
    pub(crate) guest: u32,
}

/// A function. Registers are its values by index, then its slots.
#[derive(Debug)]
pub(crate) struct FuncCode {
    pub(crate) entry: Block,
    pub(crate) params: Span,
    pub(crate) returns: usize,
    pub(crate) reg_count: u32,
    pub(crate) private_size: u32,
    /// Slots with homes: register, byte of `guest_regs`, bytes.
    pub(crate) homes: Vec<(u32, u32, u32)>,
    pub(crate) code: Vec<Code>,
    pub(crate) blocks: PrimaryMap<Block, BlockCode>,
    pub(crate) edges: Vec<EdgeCode>,
    pub(crate) consts: Vec<Bits>,
    regs: Vec<u32>,
    types: Vec<Type>,
}

impl FuncCode {
    pub(crate) fn regs(&self, span: Span) -> &[u32] {
        &self.regs[span.start as usize..(span.start + span.len) as usize]
    }

    pub(crate) fn types(&self, span: Span) -> &[Type] {
        &self.types[span.start as usize..(span.start + span.len) as usize]
    }

    /// Where the out edges of a block lead.
    pub(crate) fn targets(&self, block: Block) -> impl Iterator<Item = Block> {
        let block = &self.blocks[block];
        let edges = &self.edges[block.first_edge as usize..][..block.edges as usize];
        edges.iter().map(|e| e.target)
    }

    /// Whether it has instructions that invocations execute together.
    pub(crate) fn joint(&self) -> bool {
        self.code.iter().any(|c| c.act.is_joint())
    }
}

/// Resolves every function of `module`.
pub(crate) fn resolve(module: &Module) -> Result<Vec<FuncCode>, Invalid> {
    module.funcs.keys().map(|func| Resolver::new(module, func).function()).collect()
}

struct Resolver<'m> {
    module: &'m Module,
    func: &'m Function,
    at: At,
    out: FuncCode,
}

impl<'m> Resolver<'m> {
    fn new(module: &'m Module, id: Func) -> Resolver<'m> {
        let func = &module.funcs[id];
        let entry = func.entry().unwrap_or(Block::new(0));
        let homes = func.slots.iter().filter_map(|(slot, data)| {
            let register = func.values.len() as u32 + slot.as_u32();
            Some((register, data.home?, data.ty.bytes()?.min(8)))
        });
        let out = FuncCode {
            entry,
            params: Span::default(),
            returns: func.returns.len(),
            reg_count: 0,
            private_size: func.private_size,
            homes: homes.collect(),
            code: Vec::with_capacity(func.insts.len()),
            blocks: PrimaryMap::with_capacity(func.blocks.len()),
            edges: Vec::new(),
            consts: func.consts.values().copied().collect(),
            regs: Vec::new(),
            types: Vec::new(),
        };
        let at = At { func: id, block: entry, inst: None, guest: xenoglot_ir::NO_GUEST };
        Resolver { module, func, at, out }
    }

    fn bad<T>(&self, reason: &'static str) -> Result<T, Invalid> {
        Err(Invalid { at: self.at, reason })
    }

    fn function(mut self) -> Result<FuncCode, Invalid> {
        if !self.func.blocks.is_valid(self.out.entry) {
            return self.bad("a function without blocks");
        }
        let Some(count) = u32::try_from(self.func.values.len() + self.func.slots.len()).ok() else {
            return self.bad("too many values and slots");
        };
        self.out.reg_count = count;
        self.out.params = self.span(self.func.params(self.out.entry))?;
        // Blocks that left the layout keep their number and their edges', and are never entered.
        for (block, data) in self.func.blocks.iter() {
            self.at.block = block;
            let start = self.out.code.len() as u32;
            for &inst in &data.insts {
                let code = self.inst(inst)?;
                self.out.code.push(code);
            }
            self.at.inst = None;
            let end = self.out.code.len() as u32;
            let code = self.terminator(block, start, end)?;
            self.out.blocks.push(code);
        }
        Ok(self.out)
    }

    fn span(&mut self, values: &[Value]) -> Result<Span, Invalid> {
        let start = self.out.regs.len() as u32;
        for &v in values {
            let Some(data) = self.func.values.get(v) else { return self.bad("a value that does not exist") };
            self.out.regs.push(v.as_u32());
            self.out.types.push(data.ty);
        }
        Ok(Span { start, len: values.len() as u32 })
    }

    fn terminator(&mut self, block: Block, start: u32, end: u32) -> Result<BlockCode, Invalid> {
        let term = self.func.term(block);
        self.at.guest = term.guest;
        let args = self.span(self.func.term_args(block))?;
        let first_edge = self.out.edges.len() as u32;
        for edge in &term.edges {
            if !self.func.blocks.is_valid(edge.block) {
                return self.bad("an edge to a block that does not exist");
            }
            let params = self.func.params(edge.block);
            let values = self.func.edge_args(edge);
            if params.len() != values.len() {
                return self.bad("an edge with another number of arguments than its target has parameters");
            }
            let (args, params) = (self.span(values)?, self.span(params)?);
            self.out.edges.push(EdgeCode { target: edge.block, args, params });
        }
        let edges = term.edges.len();
        let (want_args, want_edges, want_cases) = match term.kind {
            TermKind::Jump => (0, 1, 0),
            TermKind::Branch => (1, 2, 0),
            TermKind::Switch => (1, term.cases.len() + 1, term.cases.len()),
            TermKind::Return => (self.out.returns, 0, 0),
            TermKind::Kill | TermKind::Unreachable => (0, 0, 0),
            TermKind::Exit | TermKind::TailCallGuest => (1, 0, 0),
            TermKind::Trap => (2, 0, 0),
        };
        if (args.len as usize, edges, term.cases.len()) != (want_args, want_edges, want_cases) {
            return self.bad("a terminator with a wrong number of operands, edges or cases");
        }
        let mut cases: Vec<(u64, u32)> = term.cases.iter().copied().zip(0..).collect();
        cases.sort_unstable();
        let (kind, guest, edges) = (term.kind, term.guest, edges as u32);
        Ok(BlockCode { start, end, kind, args, first_edge, edges, cases, guest })
    }

    fn inst(&mut self, inst: Inst) -> Result<Code, Invalid> {
        self.at.inst = Some(inst);
        let Some(data) = self.func.insts.get(inst) else {
            return self.bad("an instruction that does not exist");
        };
        self.at.guest = data.guest;
        let args = self.span(self.func.args(inst))?;
        let results = self.func.results(inst);
        let result = match *results {
            [v] if self.func.values.is_valid(v) => Some(v.as_u32()),
            [_] => return self.bad("a result that does not exist"),
            _ => None,
        };
        let result_ty = result.map_or(Type::I32, |_| self.func.ty(results[0]));
        let arg = self.out.types(args).first().copied();
        let act = self.act(inst, args, result.is_some(), result_ty)?;
        let cx = Cx { result: result_ty, arg: arg.unwrap_or(result_ty), flags: data.flags, imm: data.imm };
        Ok(Code { act, op: data.op, cx, args, result, inst, guest: data.guest })
    }

    fn act(&mut self, inst: Inst, args: Span, has_result: bool, ty: Type) -> Result<Act, Invalid> {
        let data = &self.func.insts[inst];
        let info = data.op.info();
        if let Some(act) = self.texels(inst, args)? {
            return Ok(act);
        }
        if let (Op::SgQuadAdd, Imm::Subgroup(s)) = (data.op, data.imm) {
            let sound = has_result && self.out.types(args) == [Type::F32, Type::F32, Type::I32];
            return if sound { Ok(Act::Subgroup(s, ty)) } else { self.bad("operands of other types") };
        }
        if matches!(
            info.sig,
            Sig::Open | Sig::Handle | Sig::Texture | Sig::Interpolate(_) | Sig::Fixed(..) | Sig::Query
        ) {
            return Ok(Act::Unsupported);
        }
        if let Imm::Var(v) = data.imm
            && self.module.vars.get(v).is_some_and(|v| v.inner.is_some())
        {
            return Ok(Act::Unsupported);
        }
        if data.imm.kind() != info.imm {
            return self.bad("another immediate than the op takes");
        }
        let optional = matches!(info.sig, Sig::VarGet | Sig::VarSet);
        let (want, result) = shape(info.sig);
        let array = match data.imm {
            Imm::Mem(mem) => mem.resource.expand().is_some_and(|r| self.is_array(r)),
            _ => false,
        };
        let want = want.map(|n| n + u32::from(array));
        let operands = want.is_none_or(|n| args.len == n || (optional && args.len == n + 1));
        if !matches!(info.sig, Sig::Call | Sig::CallPure) && (!operands || result != has_result) {
            return self.bad("a wrong number of operands or results");
        }
        let types: SmallVec<[Type; 4]> = self.out.types(args).into();
        Ok(match (data.op, data.imm) {
            (Op::Const, Imm::Const(c)) => match self.func.consts.is_valid(c) {
                true => Act::Const(c.as_u32()),
                false => return self.bad("a constant that does not exist"),
            },
            (Op::Undef, _) => Act::Zero,
            (Op::SlotGet, Imm::Slot(s)) => Act::Get(self.slot(s)?),
            (Op::SlotSet, Imm::Slot(s)) => Act::Set(self.slot(s)?),
            (_, Imm::Var(v)) if !self.module.vars.is_valid(v) => {
                return self.bad("a variable that does not exist");
            }
            (Op::Input, Imm::Var(v)) => Act::Input(v),
            (Op::OutputGet, Imm::Var(v)) => Act::OutputGet(v),
            (Op::Output, Imm::Var(v)) => Act::Output(v),
            (Op::EmitVertex, _) => Act::EmitVertex,
            (Op::EndPrimitive, _) => Act::EndPrimitive,
            (_, Imm::Mem(mem)) => self.memory(info.sig, mem, &types, ty, array)?,
            (Op::BufferSize, Imm::Resource(r)) => match self.module.resources.is_valid(r) {
                true if args.len == u32::from(self.is_array(r)) => Act::Size(r),
                _ => return self.bad("a size of a buffer that does not exist"),
            },
            (Op::Call | Op::CallPure, Imm::Func(f)) => self.call(inst, f, &types)?,
            (Op::Demote, _) => Act::Demote,
            (Op::DiscardIf, _) => Act::DiscardIf,
            (Op::Helper, _) => Act::Helper,
            (Op::Clock | Op::DeviceClock, _) => Act::Clock,
            (Op::SpecConst, Imm::Spec(spec)) => Act::Word(spec.default),
            (Op::Barrier, Imm::Barrier(b)) if b.exec => Act::Barrier(b),
            (Op::Barrier, _) => Act::Nothing,
            (_, Imm::Subgroup(s)) => Act::Subgroup(s, ty),
            (Op::DdxCoarse | Op::DdxFine | Op::DdyCoarse | Op::DdyFine, _)
                if self.module.stage == Stage::Fragment =>
            {
                Act::Subgroup(SubgroupInfo { width: 0, reduce: Reduce::Iadd, exclusive: false }, ty)
            }
            _ if !matches!(info.fold, Fold::None) => Act::Fold,
            _ => Act::Unsupported,
        })
    }

    /// Ops on buffers of texels, and handles of them.
    fn texels(&mut self, inst: Inst, args: Span) -> Result<Option<Act>, Invalid> {
        let data = &self.func.insts[inst];
        let results = self.func.results(inst);
        Ok(match (data.op, data.imm) {
            (Op::ResourceHandle, Imm::Resource(r)) if self.module.resources.is_valid(r) => {
                (args.len == u32::from(self.is_array(r))).then_some(Act::Handle(r))
            }
            (Op::TexFetch | Op::ImgLoad, Imm::Tex(t)) if t.dim == Dim::Buffer && args.len == 2 => {
                Some(Act::TexelLoad(self.span(results)?))
            }
            (Op::ImgStore, Imm::Tex(t)) if t.dim == Dim::Buffer => (args.len == 3).then_some(Act::TexelStore),
            (op, Imm::Tex(t))
                if t.dim == Dim::Buffer && op >= Op::ImgAtomicAdd && op <= Op::ImgAtomicSmax =>
            {
                let count = if op == Op::ImgAtomicCmpxchg { 4 } else { 3 };
                (args.len == count).then(|| Act::TexelAtomic(self.out.types(args)[2]))
            }
            _ => None,
        })
    }

    fn is_array(&self, resource: Resource) -> bool {
        self.module.resources.get(resource).is_some_and(|r| r.count != Count::One)
    }

    fn slot(&self, slot: xenoglot_ir::Slot) -> Result<u32, Invalid> {
        match self.func.slots.is_valid(slot) {
            true => Ok(self.func.values.len() as u32 + slot.as_u32()),
            false => self.bad("a slot that does not exist"),
        }
    }

    fn memory(
        &self,
        sig: Sig,
        mem: MemInfo,
        types: &[Type],
        result: Type,
        array: bool,
    ) -> Result<Act, Invalid> {
        if mem.space.has_resource()
            && !mem.resource.expand().is_some_and(|r| self.module.resources.is_valid(r))
        {
            return self.bad("a memory access without a resource");
        }
        if sig != Sig::Load && !mem.space.is_writable() {
            return self.bad("a write to memory that is only read");
        }
        if mem.align_log2 > 31 {
            return self.bad("an alignment above 2^31");
        }
        let ty = if sig == Sig::Load { result } else { types.get(1).copied().unwrap_or(result) };
        if ty.bytes().is_none() {
            return self.bad("an access to memory of a type without a memory form");
        }
        let access = Access { mem, ty, array };
        Ok(match sig {
            Sig::Load if mem.space == Space::Guest => Act::GuestLoad(access),
            Sig::Store if mem.space == Space::Guest => Act::GuestStore(access),
            _ if mem.space == Space::Guest => Act::Unsupported,
            Sig::Load => Act::Load(access),
            Sig::Store => Act::Store(access),
            _ if ty.is_scalar() => Act::Atomic(access),
            _ => Act::Unsupported,
        })
    }

    fn call(&mut self, inst: Inst, func: Func, types: &[Type]) -> Result<Act, Invalid> {
        let Some(callee) = self.module.funcs.get(func) else {
            return self.bad("a call of a function that does not exist");
        };
        let params = callee.entry().map_or(0, |b| callee.params(b).len());
        if params != types.len() || callee.returns.len() != self.func.results(inst).len() {
            return self.bad("a call with another number of arguments or results than the function has");
        }
        Ok(Act::Call(func, self.span(self.func.results(inst))?))
    }
}

/// How many operands an op of this shape has (`None`: it varies), and whether it has one result.
fn shape(sig: Sig) -> (Option<u32>, bool) {
    match sig {
        Sig::Same(n, _) | Sig::Test(n, _) => (Some(u32::from(n)), true),
        Sig::CarryIn | Sig::CarryOut | Sig::Select | Sig::AtomicCas => (Some(3), true),
        Sig::Convert(..)
        | Sig::Bitcast
        | Sig::ExtractExp
        | Sig::Splat
        | Sig::Extract
        | Sig::Load
        | Sig::Vote
        | Sig::Ballot => (Some(1), true),
        Sig::LoadExp | Sig::Dot(_) | Sig::Insert | Sig::Shuffle | Sig::Atomic(_) | Sig::FromLane => {
            (Some(2), true)
        }
        Sig::Leaf(_) | Sig::SlotGet | Sig::VarGet => (Some(0), true),
        Sig::SlotSet | Sig::VarSet | Sig::EffectIf => (Some(1), false),
        Sig::Store => (Some(2), false),
        Sig::Effect => (Some(0), false),
        Sig::Build => (None, true),
        Sig::Size => (None, true),
        Sig::Call
        | Sig::CallPure
        | Sig::Open
        | Sig::Handle
        | Sig::Texture
        | Sig::Interpolate(_)
        | Sig::Fixed(..)
        | Sig::Query => (None, false),
    }
}
