//! A function of the IR as one of Cranelift's, op by op.
//!
//! Slots are variables: Cranelift's builder makes SSA of them. Code has the signature `(state: i64, pc: i32) -> i64` with
//! Cranelift's convention for tail calls, and returns the guest address to go on at in the low half and an [`Exit`] in the
//! high one.

mod access;
mod invariants;
mod ops;
mod thunks;

pub(crate) use access::{is_site, site_of};
pub(crate) use thunks::{missing, slow};

use crate::accesses::{Accesses, handed_on};
use crate::error::CompileError;
use crate::live::Live;
use crate::options::Access;
use crate::registers::{Places, Registers, Set, leaves};
use crate::signals::Pending;
use crate::state::{Exit, State};
use crate::table::Table;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F32, F64, I8, I16, I32, I64};
use cranelift_codegen::ir::{
    self, AbiParam, Block as Label, BlockArg, Endianness, InstBuilder, MemFlagsData, SigRef, Signature,
    Value as Clif,
};
use cranelift_codegen::isa::{CallConv, TargetIsa};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Switch, Variable};
use invariants::Invariants;
use rustc_hash::{FxHashMap, FxHashSet};
use xenoglot_ir::analysis::Cfg;
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::entity::packed_option::PackedOption;
use xenoglot_ir::func::Edge;
use xenoglot_ir::{Block, Function, Inst, Kind, Op, Slot, TermKind, Type, Value};

/// The state: always there, aligned, in the host's order, which is little-endian.
const STATE: MemFlagsData = MemFlagsData::trusted().with_endianness(Endianness::Little);
/// Parts of the state that code never changes.
const FIXED: MemFlagsData = STATE.with_readonly().with_can_move();
/// Bits of one type as another.
const CAST: MemFlagsData = MemFlagsData::new().with_endianness(Endianness::Little);

/// The signature of guest code.
pub(crate) fn signature() -> Signature {
    let mut signature = Signature::new(CallConv::Tail);
    signature.params.extend([I64, I32].map(AbiParam::new));
    signature.returns.push(AbiParam::new(I64));
    signature
}

/// The type that values of a type have in code.
fn clif(ty: Type) -> Result<ir::Type, CompileError> {
    match ty.kind() {
        _ if !ty.is_scalar() => Err(CompileError::unsupported(format!("values of type {ty}"))),
        Kind::Bool | Kind::I8 => Ok(I8),
        Kind::I16 => Ok(I16),
        Kind::I32 => Ok(I32),
        Kind::I64 => Ok(I64),
        Kind::F32 => Ok(F32),
        Kind::F64 => Ok(F64),
        kind => Err(CompileError::unsupported(format!("values of kind {}", kind.name()))),
    }
}

/// Values of registers.
type Known = SecondaryMap<Slot, PackedOption<Clif>>;

/// What is known where a block begins that one way leads to.
#[derive(Clone, Default)]
struct Handed {
    /// Registers without a place of their own, and which of them differ from their homes.
    known: Known,
    dirty: Set,
    checkpoint: Option<(u32, i64)>,
    /// What the pinned register does not know of.
    owed: i64,
}

/// Where accesses go that fault, shared by those between which no register but the counter changes.
struct Fault {
    label: Label,
    dirty: Set,
    /// Those of them without a place of their own, as they are there.
    locals: Vec<(Slot, Clif)>,
}

/// A load of a byte or a half-word whose instruction extends it to a word.
#[derive(Clone, Copy)]
struct Extended {
    loaded: Value,
    /// Zero or sign extension.
    extension: Op,
    word: Clif,
}

pub(crate) struct Emitter<'a> {
    b: FunctionBuilder<'a>,
    f: &'a Function,
    registers: Registers,
    invariants: Invariants,
    links: Option<&'a FxHashMap<u32, u64>>,
    /// The register that changes with each instruction: it is the pinned register of the host.
    counter: Option<Slot>,
    /// What is subtracted from it in the block at hand, and how much of that the pinned register knows of.
    counted: i64,
    settled: i64,
    /// Values that are the counter less something.
    counts: FxHashMap<Value, i64>,
    /// How the guest's memory is reached.
    access: Access,
    accesses: Accesses,
    live: Live,
    /// The block at hand, and the instruction behind the one at hand.
    block: Block,
    next: Option<Inst>,
    /// Where the guest goes on after an access that fails, and the counter there, as that of the block at hand.
    checkpoint: Option<(u32, i64)>,
    /// Instructions that may raise a signal.
    sites: Vec<Pending>,
    /// Whether accesses of the instruction at a guest address ask the memory where the tables of pages say nothing. Others leave
    /// the function, which is shorter.
    asks: &'a FxHashSet<u32>,
    state: Clif,
    values: SecondaryMap<Value, PackedOption<Clif>>,
    /// The last load that extended what it loaded.
    extended: Option<Extended>,
    variables: Vec<Variable>,
    labels: SecondaryMap<Block, PackedOption<Label>>,
    tail: SigRef,
    /// Of the block at hand: the values of registers without a place of their own, as far as they are known.
    known: Known,
    /// What is known where a block begins that one way leads to.
    handed: SecondaryMap<Block, Option<Handed>>,
    /// Of the block at hand: registers that differ from their homes, and where faults go.
    dirty: Set,
    fault: Option<Label>,
    /// Those whose code is still to be emitted.
    faults: Vec<Fault>,
    /// The guest address of the instruction at hand.
    guest: u32,
}

/// How to emit a function.
pub(crate) struct How<'a> {
    /// The home of the register that changes most.
    pub(crate) counter: u32,
    /// How the guest's memory is reached.
    pub(crate) access: Access,
    /// Where the addresses of code are, by the guest addresses of [`targets`]. `None` when code returns at its end, and does not go
    /// on at other code by itself.
    pub(crate) links: Option<&'a FxHashMap<u32, u64>>,
    /// At which guest addresses accesses ask the memory, and do not leave the function, where they cannot go ahead.
    pub(crate) asks: &'a FxHashSet<u32>,
    /// Whether all registers are exact at faults and where fuel ends the run, not only live ones.
    pub(crate) exact: bool,
}

/// Guest addresses that the end of a block leads to, when it is always the same one.
fn target(f: &Function, block: Block) -> Option<u32> {
    let is_call = f.term(block).kind == TermKind::TailCallGuest;
    let &pc = f.term_args(block).first().filter(|_| is_call)?;
    f.const_bits(pc).map(|bits| bits.0[0] as u32)
}

/// Guest addresses outside of a function that its code goes on at directly.
pub(crate) fn targets(f: &Function) -> impl Iterator<Item = u32> {
    f.blocks.keys().filter_map(|block| target(f, block))
}

/// Emits `f` into `func`. What comes back are the places that may raise a signal, by their
/// source locations.
pub(crate) fn function(
    func: &mut ir::Function,
    context: &mut FunctionBuilderContext,
    isa: &dyn TargetIsa,
    f: &Function,
    how: &How<'_>,
) -> Result<Vec<Pending>, CompileError> {
    let counter = f.slots.iter().find(|(_, data)| data.home == Some(how.counter)).map(|(slot, _)| slot);
    let mut cfg = Cfg::default();
    cfg.compute(f);
    let live = if how.exact { Live::exact() } else { Live::new(f, &cfg) };
    let accesses = match how.access {
        Access::Window => Accesses::new(f, &cfg, &live),
        Access::Tables | Access::Calls => Accesses::default(),
    };
    let registers = Registers::new(f, &cfg, counter, &accesses, &live, Places::Loops)?;
    func.signature = signature();
    let mut b = FunctionBuilder::new(func, context);
    let start = b.create_block();
    b.append_block_params_for_function_params(start);
    b.switch_to_block(start);
    let &[state, entered] = b.block_params(start) else {
        return Err(CompileError::unsupported("another signature"));
    };
    let tail = b.import_signature(signature());
    let mut variables = Vec::with_capacity(f.slots.len());
    for data in f.slots.values() {
        variables.push(b.declare_var(clif(data.ty)?));
    }
    let mut emitter = Emitter {
        b,
        f,
        registers,
        invariants: Invariants::new(f, &cfg),
        links: how.links,
        counter,
        counted: 0,
        settled: 0,
        counts: FxHashMap::default(),
        access: how.access,
        accesses,
        live,
        block: f.entry().ok_or_else(|| CompileError::unsupported("a function without blocks"))?,
        next: None,
        checkpoint: None,
        sites: Vec::new(),
        asks: how.asks,
        state,
        values: SecondaryMap::new(),
        extended: None,
        variables,
        labels: SecondaryMap::new(),
        tail,
        known: Known::new(),
        handed: SecondaryMap::new(),
        dirty: Set::default(),
        fault: None,
        faults: Vec::new(),
        guest: 0,
    };
    emitter.blocks(&cfg, entered)?;
    let sites = std::mem::take(&mut emitter.sites);
    emitter.b.seal_all_blocks();
    emitter.b.finalize(isa.frontend_config());
    Ok(sites)
}

impl Emitter<'_> {
    fn blocks(&mut self, cfg: &Cfg, entered: Clif) -> Result<(), CompileError> {
        let f = self.f;
        // Slots without a home begin as zeros.
        for (slot, data) in f.slots.iter().filter(|(_, data)| data.home.is_none()) {
            let zero = self.zero(clif(data.ty)?);
            self.b.def_var(self.variable(slot), zero);
        }
        for &block in cfg.rpo() {
            let label = self.b.create_block();
            self.labels[block] = label.into();
            for &param in f.params(block) {
                let v = self.b.append_block_param(label, clif(f.ty(param))?);
                self.values[param] = v.into();
            }
            if matches!(f.term(block).kind, TermKind::Exit | TermKind::Trap) {
                self.b.set_cold_block(label);
            }
        }
        let entered: [BlockArg; 1] = [entered.into()];
        let entry = f.entry().and_then(|entry| self.labels[entry].expand());
        let entry = entry.ok_or_else(|| CompileError::unsupported("a function without blocks"))?;
        let count = f.entry().map_or(0, |entry| f.params(entry).len());
        let args = entered.get(..count);
        let args = args.ok_or_else(|| CompileError::unsupported("a function of several parameters"))?;
        self.b.ins().jump(entry, args);
        for &block in cfg.rpo() {
            let Some(label) = self.labels[block].expand() else { continue };
            self.b.switch_to_block(label);
            self.block = block;
            let handed = self.handed[block].take().unwrap_or_default();
            self.known = handed.known;
            self.dirty = self.registers.dirty[block].and(handed.dirty);
            self.checkpoint = handed.checkpoint;
            self.fault = None;
            (self.counted, self.settled) = (0, -handed.owed);
            for slot in self.registers.fill[block].iter() {
                let (ty, home) = self.home(slot)?;
                let v = self.b.ins().load(ty, STATE, self.state, home);
                self.b.def_var(self.variable(slot), v);
            }
            for slot in self.invariants.of(block) {
                // Those that loops read from their homes are hidden as they are.
                if self.registers.locals.has(slot) {
                    continue;
                }
                let v = self.b.use_var(self.variable(slot));
                let v = self.hide(v);
                self.b.def_var(self.variable(slot), v);
            }
            if let Some(address) = self.accesses.early(block) {
                self.guest = address;
                self.save(self.live.start(block))?;
            }
            let insts = &f.blocks[block].insts;
            for (at, &inst) in insts.iter().enumerate() {
                self.guest = f.insts[inst].guest;
                self.next = insts.get(at + 1).copied();
                self.inst(inst)?;
            }
            self.hand_on(cfg, block)?;
            self.terminator(block)?;
            self.emit_faults()?;
        }
        Ok(())
    }

    fn variable(&self, slot: Slot) -> Variable {
        // One was declared for each slot.
        self.variables[slot.as_u32() as usize]
    }

    /// The type of a slot with a home, and where that is in the state.
    fn home(&self, slot: Slot) -> Result<(ir::Type, i32), CompileError> {
        let data = &self.f.slots[slot];
        let bytes = data.ty.bytes().unwrap_or(0);
        match data.home {
            Some(home) if home + bytes <= State::REGISTERS => Ok((clif(data.ty)?, home as i32)),
            _ => Err(CompileError::unsupported(format!("the home of slot {}", data.name))),
        }
    }

    /// The value of a value.
    fn get(&self, v: Value) -> Result<Clif, CompileError> {
        // The verifier has seen that definitions dominate uses.
        self.values[v].expand().ok_or_else(|| CompileError::unsupported("a value without definition"))
    }

    fn zero(&mut self, ty: ir::Type) -> Clif {
        match ty {
            F32 => self.b.ins().f32const(0.0),
            F64 => self.b.ins().f64const(0.0),
            _ => self.b.ins().iconst(ty, 0),
        }
    }

    /// Makes the pinned register right.
    fn settle(&mut self) {
        if self.counted != self.settled {
            let counter = self.b.ins().get_pinned_reg(I64);
            let counter = self.b.ins().iadd_imm_s(counter, self.settled - self.counted);
            self.b.ins().set_pinned_reg(counter);
            self.settled = self.counted;
        }
    }

    /// Makes values of those that are the counter less something.
    fn counts_as_values(&mut self, args: &[Value]) {
        for &arg in args {
            let Some(&count) = self.counts.get(&arg) else { continue };
            self.settle();
            let mut v = self.b.ins().get_pinned_reg(I64);
            if count != self.settled {
                v = self.b.ins().iadd_imm_s(v, self.settled - count);
            }
            self.values[arg] = v.into();
        }
    }

    /// Ends what is known of registers without a place of their own and of the counter, or hands it on to blocks that only this
    /// one leads to.
    fn hand_on(&mut self, cfg: &Cfg, block: Block) -> Result<(), CompileError> {
        let f = self.f;
        let locals = self.dirty.in_both(self.registers.locals);
        let checkpoint = self.checkpoint.map(|(pc, count)| (pc, count - self.counted));
        self.counts_as_values(f.term_args(block));
        let owed = self.counted - self.settled;
        let mut alone = true;
        for next in handed_on(f, cfg, block) {
            alone = false;
            self.handed[next] = Some(Handed { known: self.known.clone(), dirty: locals, checkpoint, owed });
        }
        if alone {
            self.settle();
            self.spill(locals.in_both(self.live.end(f, block)))?;
            self.dirty = self.dirty.without(locals);
        }
        Ok(())
    }

    /// What a register holds.
    fn register(&mut self, slot: Slot) -> Result<Clif, CompileError> {
        if !self.registers.locals.has(slot) {
            return Ok(self.b.use_var(self.variable(slot)));
        }
        if let Some(v) = self.known[slot].expand() {
            return Ok(v);
        }
        let (ty, home) = self.home(slot)?;
        let v = self.b.ins().load(ty, STATE, self.state, home);
        self.known[slot] = v.into();
        Ok(v)
    }

    /// Writes registers to their homes.
    fn spill(&mut self, slots: Set) -> Result<(), CompileError> {
        for slot in slots.iter() {
            let (_, home) = self.home(slot)?;
            let v = self.register(slot)?;
            self.b.ins().store(STATE, v, self.state, home);
        }
        Ok(())
    }

    /// Returns to whoever entered the code.
    fn leave(&mut self, exit: Exit, pc: Clif) {
        let pc = self.b.ins().uextend(I64, pc);
        let exit = self.b.ins().iconst(I64, (exit as i64) << 32);
        let v = self.b.ins().bor(pc, exit);
        self.b.ins().return_(&[v]);
    }

    fn edge(&self, edge: &Edge) -> Result<(Label, Vec<BlockArg>), CompileError> {
        let label = self.labels[edge.block].expand();
        let label = label.ok_or_else(|| CompileError::unsupported("an edge to nowhere"))?;
        let args: Result<Vec<BlockArg>, CompileError> =
            self.f.edge_args(edge).iter().map(|&v| Ok(self.get(v)?.into())).collect();
        Ok((label, args?))
    }

    fn terminator(&mut self, block: Block) -> Result<(), CompileError> {
        let f = self.f;
        let term = f.term(block);
        self.guest = term.guest;
        let args = f.term_args(block);
        let operand = |emitter: &Emitter<'_>, n: usize| match args.get(n) {
            Some(&v) if f.ty(v) == Type::I32 || !leaves(term.kind) => emitter.get(v),
            _ => Err(CompileError::unsupported("guest addresses that are not of 32 bits")),
        };
        match (term.kind, &term.edges[..]) {
            (TermKind::Jump, [edge]) => {
                let (label, args) = self.edge(edge)?;
                self.b.ins().jump(label, &args);
            }
            (TermKind::Branch, [yes, no]) => {
                let condition = operand(self, 0)?;
                let (yes, no) = (self.edge(yes)?, self.edge(no)?);
                self.b.ins().brif(condition, yes.0, &yes.1, no.0, &no.1);
            }
            (TermKind::Switch, edges) => {
                let v = operand(self, 0)?;
                let mut switch = Switch::new();
                let mut ways = Vec::with_capacity(edges.len());
                for edge in edges {
                    let (label, args) = self.edge(edge)?;
                    // Cases hand nothing on by themselves.
                    let way = if args.is_empty() { label } else { self.b.create_block() };
                    ways.push((way, label, args));
                }
                for (&case, way) in term.cases.iter().zip(&ways) {
                    switch.set_entry(case.into(), way.0);
                }
                let Some(last) = ways.last() else {
                    return Err(CompileError::unsupported("a switch without edges"));
                };
                switch.emit(&mut self.b, v, last.0);
                for (way, label, args) in ways.iter().filter(|way| !way.2.is_empty()) {
                    self.b.switch_to_block(*way);
                    self.b.ins().jump(*label, args);
                }
            }
            (TermKind::Exit, _) => {
                let pc = operand(self, 0)?;
                self.spill(self.dirty.in_both(self.live.end(f, block)))?;
                self.leave(Exit::Next, pc);
            }
            (TermKind::Trap, _) => {
                let pc = operand(self, 1)?;
                self.spill(self.dirty.in_both(self.live.end(f, block)))?;
                self.leave(Exit::Interpret, pc);
            }
            (TermKind::TailCallGuest, _) => {
                let pc = operand(self, 0)?;
                self.spill(self.dirty.in_both(self.live.end(f, block)))?;
                self.go_on(pc, target(f, block));
            }
            (kind, _) => return Err(CompileError::unsupported(format!("`{}`", kind.name()))),
        }
        Ok(())
    }

    /// Goes on at a guest address, through the table of code.
    fn go_on(&mut self, pc: Clif, known: Option<u32>) {
        let Some(links) = self.links else {
            self.leave(Exit::Next, pc);
            return;
        };
        if let Some(&entry) = known.and_then(|pc| links.get(&pc)) {
            let entry = self.b.ins().iconst(I64, entry as i64);
            let code = self.b.ins().load(I64, STATE, entry, 0);
            self.b.ins().return_call_indirect(self.tail, code, &[self.state, pc]);
            return;
        }
        // The lowest two bits of the address come to the top, where they lead to parts of the table that stay empty.
        let turned = self.b.ins().rotr_imm_u(pc, i64::from(Table::ALIGN_LOG2));
        let part = self.b.ins().ushr_imm_u(turned, i64::from(Table::PART_BITS));
        let part = self.b.ins().uextend(I64, part);
        let part = self.b.ins().ishl_imm_u(part, 3);
        let parts = self.b.ins().load(I64, FIXED, self.state, State::PARTS);
        let part = self.b.ins().iadd(parts, part);
        let part = self.b.ins().load(I64, STATE, part, 0);
        let (found, missing) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(missing);
        self.b.ins().brif(part, found, &[], missing, &[]);
        self.b.switch_to_block(missing);
        self.leave(Exit::Next, pc);
        self.b.switch_to_block(found);
        let index = self.b.ins().band_imm_u(turned, (1 << Table::PART_BITS) - 1);
        let index = self.b.ins().uextend(I64, index);
        let index = self.b.ins().ishl_imm_u(index, 3);
        let entry = self.b.ins().iadd(part, index);
        let code = self.b.ins().load(I64, STATE, entry, 0);
        self.b.ins().return_call_indirect(self.tail, code, &[self.state, pc]);
    }

    /// Whether two values are equal, as a truth value.
    fn equals(&mut self, v: Clif, constant: i64) -> Clif {
        self.b.ins().icmp_imm_s(IntCC::Equal, v, constant)
    }
}
