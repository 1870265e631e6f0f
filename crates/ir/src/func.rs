//! A function: facts in dense maps, order apart from facts.
//!
//! Blocks have parameters instead of phis, and every control-flow edge carries the arguments of its target, so
//! splitting or retargeting an edge never repairs anything.

use crate::entities::{Block, Const, Inst, Slot, Value};
use crate::flags::Flags;
use crate::imm::{Imm, named_enum};
use crate::list::{ValueList, ValuePool};
use crate::op::Op;
use crate::ty::{Bits, Type};
use cranelift_entity::PrimaryMap;
use cranelift_entity::packed_option::PackedOption;
use smallvec::{SmallVec, smallvec};

/// Guest address of instructions that stand for none.
pub const NO_GUEST: u32 = u32::MAX;

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueDef {
    /// An instruction's result, by number.
    Inst(Inst, u16),
    /// A block's parameter, by number.
    Param(Block, u16),
}

/// A value's facts.
#[derive(Clone, Copy, Debug)]
pub struct ValueData {
    /// Its type.
    pub ty: Type,
    /// What defines it.
    pub def: ValueDef,
    /// The guest register it came from, for names in the output.
    pub hint: PackedOption<Slot>,
}

/// An instruction's facts. Operands live in one pool: no allocation per instruction.
#[derive(Clone, Debug)]
pub struct InstData {
    /// What it does.
    pub op: Op,
    /// Refinements.
    pub flags: Flags,
    /// Its immediate.
    pub imm: Imm,
    /// Its operands.
    pub args: ValueList,
    /// Its results; at most one unless it is a call.
    pub results: ValueList,
    /// Address in the guest's code, or [`NO_GUEST`].
    pub guest: u32,
}

/// A control-flow edge: where to, and what the target's parameters become.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The target.
    pub block: Block,
    /// One argument per parameter of the target.
    pub args: ValueList,
}

named_enum! {
    /// How a block ends.
    TermKind {
        /// To the only edge.
        Jump "jump",
        /// One `bool` operand: edge 0 if true, edge 1 if false.
        Branch "branch",
        /// One integer operand: edge i for case i, the last edge by default.
        Switch "switch",
        /// Returns the operands.
        Return "return",
        /// Ends the fragment without effect.
        Kill "kill",
        /// Never reached.
        Unreachable "unreachable",
        /// CPU guests: leaves to the guest address in the operand.
        Exit "exit",
        /// CPU guests: goes on at the guest address in the operand in the same frame.
        TailCallGuest "tail_call_guest",
        /// CPU guests: leaves for the reason in the first operand; the second is the guest address to go on at.
        Trap "trap",
    }
}

/// A block's last instruction.
#[derive(Clone, Debug)]
pub struct Terminator {
    /// How it ends.
    pub kind: TermKind,
    /// Operands.
    pub args: ValueList,
    /// Outgoing edges in order.
    pub edges: SmallVec<[Edge; 2]>,
    /// Case values of a switch, distinct, one fewer than edges.
    pub cases: Vec<u64>,
    /// Guest address, or [`NO_GUEST`].
    pub guest: u32,
}

impl Terminator {
    fn new(kind: TermKind) -> Terminator {
        Terminator {
            kind,
            args: ValueList::EMPTY,
            edges: SmallVec::new(),
            cases: Vec::new(),
            guest: NO_GUEST,
        }
    }
}

/// A block: parameters, instructions in order, terminator.
#[derive(Clone, Debug)]
pub struct BlockData {
    /// Parameters.
    pub params: ValueList,
    /// Instructions in order of execution.
    pub insts: Vec<Inst>,
    /// How it ends; [`TermKind::Unreachable`] until set.
    pub term: Terminator,
}

/// A guest register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotData {
    /// Its name, unique in the function, of letters, digits and `_`.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// CPU guests: the byte of `guest_regs` at which the register lies whenever somebody else looks. The slot begins as
    /// what is there, and is there when the function ends or faults.
    pub home: Option<u32>,
}

/// A function. The entry block is [`Function::entry`]; its parameters are the function's.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// Its name, unique in the module, of letters, digits and `_`.
    pub name: String,
    /// Types of what it returns.
    pub returns: Vec<Type>,
    /// Facts by value.
    pub values: PrimaryMap<Value, ValueData>,
    /// Facts by instruction.
    pub insts: PrimaryMap<Inst, InstData>,
    /// Facts by block. Blocks that `layout` does not list do not exist any more.
    pub blocks: PrimaryMap<Block, BlockData>,
    /// The blocks in order, the entry first.
    pub layout: Vec<Block>,
    /// Guest registers.
    pub slots: PrimaryMap<Slot, SlotData>,
    /// Constants, in the lanes' bits; the instruction has the type.
    pub consts: PrimaryMap<Const, Bits>,
    /// Bytes of private memory.
    pub private_size: u32,
    /// Operand storage.
    pub pool: ValuePool,
    /// Guest instructions by the block that each was lifted into, in the order of lifting, also those that left nothing
    /// behind. As lifted: passes empty it, and the text form leaves it out.
    pub guest_code: Vec<(Block, u32)>,
}

impl Function {
    /// An empty function called `name`.
    pub fn new(name: impl Into<String>) -> Function {
        Function { name: name.into(), ..Function::default() }
    }

    /// Empties the function and keeps its memory for the next one.
    pub fn clear(&mut self) {
        self.name.clear();
        self.returns.clear();
        self.values.clear();
        self.insts.clear();
        self.blocks.clear();
        self.layout.clear();
        self.slots.clear();
        self.consts.clear();
        self.private_size = 0;
        self.pool.clear();
        self.guest_code.clear();
    }

    /// The first block; `None` while there is none.
    pub fn entry(&self) -> Option<Block> {
        self.layout.first().copied()
    }

    /// A new block at the end of the layout, without parameters, ending in `unreachable`.
    pub fn add_block(&mut self) -> Block {
        let b = self.blocks.push(BlockData {
            params: ValueList::EMPTY,
            insts: Vec::new(),
            term: Terminator::new(TermKind::Unreachable),
        });
        self.layout.push(b);
        b
    }

    /// A new last parameter of `block`. Edges to the block have to get an argument too.
    pub fn add_param(&mut self, block: Block, ty: Type) -> Value {
        let n = self.blocks[block].params.len() as u16;
        let v = self.values.push(ValueData { ty, def: ValueDef::Param(block, n), hint: None.into() });
        self.blocks[block].params.push(v, &mut self.pool);
        v
    }

    /// A new slot.
    pub fn add_slot(&mut self, name: impl Into<String>, ty: Type) -> Slot {
        self.slots.push(SlotData { name: name.into(), ty, home: None })
    }

    /// A new slot with a home in `guest_regs`.
    pub fn add_register(&mut self, name: impl Into<String>, ty: Type, home: u32) -> Slot {
        self.slots.push(SlotData { name: name.into(), ty, home: Some(home) })
    }

    /// A new instruction that is in no block yet, with results of the given types.
    pub fn make_inst(
        &mut self,
        op: Op,
        flags: Flags,
        imm: Imm,
        args: &[Value],
        results: &[Type],
        guest: u32,
    ) -> Inst {
        if let [ty] = *results {
            return self.make_value(op, flags, imm, args, ty, guest).0;
        }
        let args = ValueList::from_slice(args, &mut self.pool);
        let inst = self.insts.next_key();
        let value = |(n, &ty)| {
            self.values.push(ValueData { ty, def: ValueDef::Inst(inst, n as u16), hint: None.into() })
        };
        let values: SmallVec<[Value; 4]> = results.iter().enumerate().map(value).collect();
        let results = ValueList::from_slice(&values, &mut self.pool);
        self.insts.push(InstData { op, flags, imm, args, results, guest })
    }

    /// [`Function::make_inst`] with one result, as most instructions have.
    #[inline]
    pub fn make_value(
        &mut self,
        op: Op,
        flags: Flags,
        imm: Imm,
        args: &[Value],
        ty: Type,
        guest: u32,
    ) -> (Inst, Value) {
        let def = ValueDef::Inst(self.insts.next_key(), 0);
        let value = self.values.push(ValueData { ty, def, hint: None.into() });
        let [args, results] = ValueList::pair(args, value, &mut self.pool);
        (self.insts.push(InstData { op, flags, imm, args, results, guest }), value)
    }

    /// Makes room for about `insts` more instructions, when that many are known to come.
    pub fn reserve(&mut self, insts: usize) {
        self.insts.reserve(insts);
        self.values.reserve(insts);
        self.consts.reserve(insts / 4);
        // Two operands and a result.
        self.pool.reserve(insts * 3);
    }

    /// Operands of `inst`.
    #[inline]
    pub fn args(&self, inst: Inst) -> &[Value] {
        self.insts[inst].args.as_slice(&self.pool)
    }

    /// Results of `inst`.
    #[inline]
    pub fn results(&self, inst: Inst) -> &[Value] {
        self.insts[inst].results.as_slice(&self.pool)
    }

    /// The result of `inst` if it has exactly one.
    #[inline]
    pub fn result(&self, inst: Inst) -> Option<Value> {
        match self.results(inst) {
            &[v] => Some(v),
            _ => None,
        }
    }

    /// Parameters of `block`.
    #[inline]
    pub fn params(&self, block: Block) -> &[Value] {
        self.blocks[block].params.as_slice(&self.pool)
    }

    /// Terminator of `block`.
    #[inline]
    pub fn term(&self, block: Block) -> &Terminator {
        &self.blocks[block].term
    }

    /// Operands of `block`'s terminator, edge arguments apart.
    #[inline]
    pub fn term_args(&self, block: Block) -> &[Value] {
        self.blocks[block].term.args.as_slice(&self.pool)
    }

    /// Outgoing edges of `block` in order.
    #[inline]
    pub fn edges(&self, block: Block) -> &[Edge] {
        &self.blocks[block].term.edges
    }

    /// Arguments of an edge of this function.
    #[inline]
    pub fn edge_args<'a>(&'a self, edge: &'a Edge) -> &'a [Value] {
        edge.args.as_slice(&self.pool)
    }

    /// Type of `v`.
    #[inline]
    pub fn ty(&self, v: Value) -> Type {
        self.values[v].ty
    }

    /// The instruction that defines `v`, unless it is a parameter.
    #[inline]
    pub fn def_inst(&self, v: Value) -> Option<Inst> {
        match self.values[v].def {
            ValueDef::Inst(i, _) => Some(i),
            ValueDef::Param(..) => None,
        }
    }

    /// The bits of `v` if a `const` defines it.
    #[inline]
    pub fn const_bits(&self, v: Value) -> Option<Bits> {
        let inst = &self.insts[self.def_inst(v)?];
        match (inst.op, inst.imm) {
            (Op::Const, Imm::Const(c)) => Some(self.consts[c]),
            _ => None,
        }
    }

    /// The bits of the first lane of `v` if a `const` defines it.
    #[inline]
    pub fn const_lane(&self, v: Value) -> Option<u64> {
        let inst = &self.insts[self.def_inst(v)?];
        match (inst.op, inst.imm) {
            (Op::Const, Imm::Const(c)) => Some(self.consts[c].0[0]),
            _ => None,
        }
    }

    /// An edge to `block` with `args`.
    pub fn make_edge(&mut self, block: Block, args: &[Value]) -> Edge {
        Edge { block, args: ValueList::from_slice(args, &mut self.pool) }
    }

    /// Ends `block`.
    pub fn set_term(
        &mut self,
        block: Block,
        kind: TermKind,
        args: &[Value],
        edges: SmallVec<[Edge; 2]>,
        cases: Vec<u64>,
        guest: u32,
    ) {
        let args = ValueList::from_slice(args, &mut self.pool);
        self.blocks[block].term = Terminator { kind, args, edges, cases, guest };
    }

    /// Ends `block` with a jump.
    pub fn set_jump(&mut self, block: Block, to: Block, args: &[Value], guest: u32) {
        let edge = self.make_edge(to, args);
        self.set_term(block, TermKind::Jump, &[], smallvec![edge], Vec::new(), guest);
    }

    /// Calls `f` on every operand of instructions and terminators and every edge argument of `block`.
    pub fn for_each_use(&self, block: Block, mut f: impl FnMut(Value)) {
        let data = &self.blocks[block];
        for &inst in &data.insts {
            self.args(inst).iter().copied().for_each(&mut f);
        }
        data.term.args.as_slice(&self.pool).iter().copied().for_each(&mut f);
        for edge in &data.term.edges {
            edge.args.as_slice(&self.pool).iter().copied().for_each(&mut f);
        }
    }

    /// Replaces every operand and edge argument of `block` by what `f` makes of it.
    pub fn map_uses(&mut self, block: Block, mut f: impl FnMut(Value) -> Value) {
        let Function { blocks, insts, pool, .. } = self;
        let data = &mut blocks[block];
        for &inst in &data.insts {
            insts[inst].args.as_mut_slice(pool).iter_mut().for_each(|v| *v = f(*v));
        }
        data.term.args.as_mut_slice(pool).iter_mut().for_each(|v| *v = f(*v));
        for edge in &mut data.term.edges {
            edge.args.as_mut_slice(pool).iter_mut().for_each(|v| *v = f(*v));
        }
    }

    /// Instructions in the layout, terminators not counted.
    pub fn inst_count(&self) -> usize {
        self.layout.iter().map(|&b| self.blocks[b].insts.len()).sum()
    }
}
