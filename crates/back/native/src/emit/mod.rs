//! Code for one function: the loop over groups, blocks whose branches do not diverge, values and constants.
//!
//! `ops` has the pure ops, `memory` loads and stores, `masked` control flow that diverges, `homes` values that outlive
//! their block.

mod homes;
mod masked;
mod memory;
mod ops;

use crate::error::{CompileError, Fault};
use crate::exec::{self, Context, Exit};
use crate::host::{Site, Sites, WORDS};
use crate::plan::Plan;
use crate::{LANES, Variant};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, F32X4, I8X16, I32, I32X4, I64};
use cranelift_codegen::ir::{
    self, AbiParam, Block as Label, BlockArg, ConstantData, Endianness, Immediate, InstBuilder, MemFlagsData,
    SigRef, Signature, StackSlot, StackSlotData, StackSlotKind, Value as Simd,
};
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Switch};
use homes::Homes;
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::func::Edge;
use xenoglot_ir::{Block, Function, Inst, Kind, Module, Op, Resource, TermKind, Type, Value};

/// Memory that does not trap and may have any alignment.
const MEM: MemFlagsData = CAST.with_notrap();
/// Lane 0 is lowest.
const CAST: MemFlagsData = MemFlagsData::new().with_endianness(Endianness::Little);
/// The same as [`MEM`] where nothing changes it.
const FIXED: MemFlagsData = MEM.with_readonly();

/// The signature of compiled code: context, buffers, first invocation, end; see `exec`.
pub(crate) fn signature(isa: &dyn TargetIsa) -> Signature {
    signature_of(isa, &[I64, I64, I32, I32])
}

fn signature_of(isa: &dyn TargetIsa, params: &[ir::Type]) -> Signature {
    let mut s = Signature::new(isa.default_call_conv());
    s.params.extend(params.iter().map(|&t| AbiParam::new(t)));
    s.returns.push(AbiParam::new(I32));
    s
}

/// Where code goes that ends the run of a group.
#[derive(Clone, Copy)]
struct Exits {
    next: Label,
    give_up: Label,
    fuel: Label,
    /// With the fault as argument.
    fault: Label,
}

/// Values found already that hold as long as control stays behind where they were found.
#[derive(Clone, Default)]
struct Found {
    constants: Vec<(ir::Type, u32, Simd)>,
    bases: Vec<(Resource, Simd)>,
    /// The run's table of constant words.
    table: Option<Simd>,
    /// The run's area of homes.
    homes: Option<Simd>,
    /// By resource and stride: a pointer per lane.
    rows: Vec<(Resource, u32, [Simd; 4])>,
    /// The mask cast last, and as what: the components of a vector share theirs.
    mask: Option<(Simd, Simd)>,
}

/// Signatures of the functions that code calls.
#[derive(Clone, Copy)]
struct Calls {
    fold: SigRef,
    access: SigRef,
}

pub(crate) struct Emitter<'a> {
    b: FunctionBuilder<'a>,
    module: &'a Module,
    f: &'a Function,
    plan: &'a Plan,
    variant: Variant,
    sites: Sites,
    /// The table of words that a run has in all lanes: resource and offset.
    constants: Vec<(Resource, u32)>,
    context: Simd,
    buffers: Simd,
    /// The first invocation of the group.
    first: Simd,
    exits: Exits,
    values: SecondaryMap<Value, [Option<Simd>; 4]>,
    found: Found,
    /// By stride: how far the lanes after the first are from it, in bytes.
    distances: Vec<(u32, [Simd; 3])>,
    /// Lanes that execute what is emitted; all if none.
    mask: Option<Simd>,
    /// Where NaNs were found since the last look, and a value still to be looked at.
    nans: Option<Simd>,
    suspect: Option<Simd>,
    calls: Calls,
    scratch: Option<StackSlot>,
    shuffles: [Option<Immediate>; 4],
    homes: Homes,
    masked: Option<masked::Masks>,
}

/// What code refers to.
pub(crate) struct Emitted {
    pub(crate) sites: Sites,
    /// Words that code finds in a table of the run.
    pub(crate) constants: Vec<(Resource, u32)>,
    /// Places of [`exec::Lanes`] in the run's area of homes.
    pub(crate) homes: u32,
}

/// Emits the function.
pub(crate) fn function<'a>(
    func: &'a mut ir::Function,
    builder: &'a mut FunctionBuilderContext,
    isa: &dyn TargetIsa,
    module: &'a Module,
    f: &'a Function,
    plan: &'a mut Plan,
    variant: Variant,
) -> Result<Emitted, CompileError> {
    let tree = masked::tree(module, f, plan)?;
    let mut b = FunctionBuilder::new(func, builder);
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    let [group, end, next, give_up, fuel, fault] = [(); 6].map(|()| b.create_block());
    let &[context, buffers, from, to] = b.block_params(entry) else {
        return Err(CompileError::Codegen("a signature of four".into()));
    };
    let first = b.append_block_param(group, I32);
    let status = b.append_block_param(fault, I32);
    let calls = Calls {
        fold: b.import_signature(signature_of(isa, &[I64, I64, I32])),
        access: b.import_signature(signature_of(isa, &[I64, I64, I32, I64, I64])),
    };
    let exits = Exits { next, give_up, fuel, fault };
    let plan: &Plan = plan;
    let mut e = Emitter {
        b,
        module,
        f,
        plan,
        variant,
        sites: Sites::new(),
        constants: Vec::new(),
        context,
        buffers,
        first,
        exits,
        values: SecondaryMap::with_capacity(f.values.len()),
        found: Found::default(),
        distances: Vec::new(),
        mask: None,
        nans: None,
        suspect: None,
        calls,
        scratch: None,
        shuffles: [None; 4],
        homes: Homes::default(),
        masked: None,
    };

    e.b.switch_to_block(entry);
    let mut lanes = None;
    for &stride in plan.strides.iter().filter(|&&s| s != 0) {
        let lanes = lanes.get_or_insert_with(|| {
            [1, 2, 3].map(|lane| e.b.ins().uload32(FIXED, context, Context::LANES as i32 + 4 * lane))
        });
        let stride64 = e.b.ins().iconst(I64, i64::from(stride));
        e.distances.push((stride, lanes.map(|lane| e.b.ins().imul(lane, stride64))));
    }
    e.b.ins().jump(group, &[BlockArg::Value(from)]);

    e.b.switch_to_block(group);
    let body = e.b.create_block();
    let more = e.b.ins().icmp(IntCC::UnsignedLessThan, first, to);
    e.b.ins().brif(more, body, &[], end, &[]);
    e.b.switch_to_block(body);
    e.begin_group();
    match &tree {
        Some(tree) => e.tree(tree)?,
        None => e.blocks()?,
    }

    e.b.switch_to_block(next);
    // Only what finished groups took is gone: one that is given up runs again.
    e.copy_fuel(Context::LEFT, Context::FUEL);
    let after = e.b.ins().iadd_imm_u(first, i64::from(LANES));
    e.b.ins().jump(group, &[BlockArg::Value(after)]);
    e.b.switch_to_block(end);
    let done = e.b.ins().iconst(I32, i64::from(Exit::DONE));
    e.b.ins().return_(&[done]);
    for (label, code) in [(give_up, Some(Exit::GIVE_UP)), (fuel, Some(Exit::OUT_OF_FUEL)), (fault, None)] {
        e.b.switch_to_block(label);
        e.b.set_cold_block(label);
        e.b.ins().store(MEM, first, context, Context::AT as i32);
        let status = code.map_or(status, |code| e.b.ins().iconst(I32, i64::from(code)));
        e.b.ins().return_(&[status]);
    }
    e.b.seal_all_blocks();
    e.b.finalize(isa.frontend_config());
    Ok(Emitted { sites: e.sites, constants: e.constants, homes: e.homes.count() })
}

impl Emitter<'_> {
    fn unsupported<T>(&self, what: impl Into<String>, inst: Inst) -> Result<T, CompileError> {
        Err(CompileError::unsupported(what, Some(inst)))
    }

    /// Copies a word of the context if the function has loops, and so uses fuel.
    fn copy_fuel(&mut self, from: usize, to: usize) {
        if self.plan.cfg.rpo().iter().any(|&b| self.plan.is_loop_head(b)) {
            let fuel = self.b.ins().load(I64, MEM, self.context, from as i32);
            self.b.ins().store(MEM, fuel, self.context, to as i32);
        }
    }

    fn begin_group(&mut self) {
        self.copy_fuel(Context::FUEL, Context::LEFT);
        if self.f.private_size > 0 {
            let address = (exec::clear_private as *const ()).expose_provenance() as i64;
            let address = self.b.ins().iconst(I64, address);
            let mut signature = Signature::new(self.b.func.signature.call_conv);
            signature.params.push(AbiParam::new(I64));
            let signature = self.b.import_signature(signature);
            self.b.ins().call_indirect(signature, address, &[self.context]);
        }
    }

    /// Takes one unit of fuel.
    fn burn(&mut self) {
        let left = self.b.ins().load(I64, MEM, self.context, Context::LEFT as i32);
        let less = self.b.ins().iadd_imm_s(left, -1);
        self.b.ins().store(MEM, less, self.context, Context::LEFT as i32);
        let go = self.b.create_block();
        self.b.ins().brif(left, go, &[], self.exits.fuel, &[]);
        self.b.switch_to_block(go);
    }

    /// Goes to a place that other ways lead to as well.
    fn enter(&mut self, label: Label) {
        self.b.switch_to_block(label);
        self.found = Found::default();
    }

    /// The type that a component of this kind has in all lanes.
    fn simd(kind: Kind) -> ir::Type {
        if kind == Kind::F32 { F32X4 } else { I32X4 }
    }

    /// The function block by block, for lanes that never part.
    fn blocks(&mut self) -> Result<(), CompileError> {
        let (f, plan) = (self.f, self.plan);
        self.homes = Homes::new(f, plan, homes::plain(f, plan))?;
        let mut labels: SecondaryMap<Block, Option<Label>> = SecondaryMap::new();
        for &block in plan.cfg.rpo() {
            labels[block] = Some(self.b.create_block());
        }
        let label = |block: Block| labels[block].unwrap_or(self.exits.next);
        if let Some(entry) = f.entry() {
            self.b.ins().jump(label(entry), &[]);
        }
        let targets: Vec<Label> = f.blocks.keys().map(label).collect();
        for &block in plan.cfg.rpo() {
            self.enter(targets[block.as_u32() as usize]);
            self.leave();
            if plan.is_loop_head(block) {
                self.burn();
            }
            self.block(block)?;
            self.terminator(block, &targets)?;
        }
        Ok(())
    }

    fn terminator(&mut self, block: Block, targets: &[Label]) -> Result<(), CompileError> {
        let f = self.f;
        let target = |n: usize| targets[f.edges(block)[n].block.as_u32() as usize];
        match f.term(block).kind {
            TermKind::Jump => {
                self.copy_edge(block, 0);
                self.b.ins().jump(target(0), &[]);
            }
            TermKind::Branch => {
                let condition = self.get(f.term_args(block)[0], 0);
                let condition = self.b.ins().vany_true(condition);
                let ways = self.ways(block, targets);
                self.b.ins().brif(condition, ways[0], &[], ways[1], &[]);
                self.copy_ways(block, targets, &ways);
            }
            TermKind::Switch => {
                let value = self.get(f.term_args(block)[0], 0);
                let value = self.b.ins().extractlane(value, 0);
                let ways = self.ways(block, targets);
                let mut switch = Switch::new();
                for (&case, &way) in f.term(block).cases.iter().zip(&ways) {
                    switch.set_entry(case.into(), way);
                }
                switch.emit(&mut self.b, value, ways[ways.len() - 1]);
                self.copy_ways(block, targets, &ways);
            }
            TermKind::Return => {
                self.b.ins().jump(self.exits.next, &[]);
            }
            TermKind::Unreachable => self.fault(Fault::Unreachable),
            kind => return Err(CompileError::unsupported(format!("`{}`", kind.name()), None)),
        }
        Ok(())
    }

    /// A label for each edge of a block: its target's, or one of its own if it has something to copy.
    fn ways(&mut self, block: Block, targets: &[Label]) -> Vec<Label> {
        let f = self.f;
        let way = |edge: &Edge| {
            let copies = f.params(edge.block).iter().any(|&p| self.plan.live(p) != 0);
            if copies { self.b.create_block() } else { targets[edge.block.as_u32() as usize] }
        };
        f.edges(block).iter().map(way).collect()
    }

    /// The copies of the edges that have labels of their own.
    fn copy_ways(&mut self, block: Block, targets: &[Label], ways: &[Label]) {
        let (found, known) = (self.found.clone(), self.known());
        for (n, (&way, edge)) in ways.iter().zip(self.f.edges(block)).enumerate() {
            let target = targets[edge.block.as_u32() as usize];
            if way != target {
                self.b.switch_to_block(way);
                self.copy_edge(block, n);
                self.b.ins().jump(target, &[]);
                self.found.clone_from(&found);
                self.leave_since(known);
            }
        }
    }

    /// Ends the run.
    fn fault(&mut self, fault: Fault) {
        let status = self.b.ins().iconst(I32, i64::from(fault as u32));
        self.b.ins().jump(self.exits.fault, &[BlockArg::Value(status)]);
    }

    /// The instructions of a block.
    fn block(&mut self, block: Block) -> Result<(), CompileError> {
        let f = self.f;
        for &inst in &f.blocks[block].insts {
            match f.insts[inst].op {
                Op::Store => {
                    self.look_for_nans();
                    self.store(inst)?;
                }
                op => {
                    let Some(v) = f.result(inst) else {
                        return self.unsupported(format!("`{}`", op.info().name), inst);
                    };
                    let live = self.plan.live(v);
                    let pure = op.info().traits.pure || op == Op::Input;
                    if live == 0 && (pure || op == Op::Load) || op == Op::Const {
                        continue;
                    }
                    if op == Op::Load { self.load(inst, v)? } else { self.pure(inst, v)? }
                }
            }
        }
        self.look_for_nans();
        Ok(())
    }

    /// Component `c` of `v` in all lanes.
    fn get(&mut self, v: Value, c: usize) -> Simd {
        if let Some(simd) = self.values[v][c] {
            return simd;
        }
        let kind = self.f.ty(v).kind();
        if let Some(bits) = self.f.const_bits(v) {
            let word = match kind {
                Kind::Bool => 0u32.wrapping_sub(bits.lane(c) as u32 & 1),
                _ => bits.lane(c) as u32,
            };
            return self.constant(Self::simd(kind), word);
        }
        match self.value_at_home(v, c) {
            Some(simd) => simd,
            // Of what has no value at all: `undef`.
            None => self.constant(Self::simd(kind), 0),
        }
    }

    fn set(&mut self, v: Value, c: usize, simd: Simd) {
        self.values[v][c] = Some(simd);
        self.keep_at_home(v, c, simd);
    }

    /// `word` in all lanes.
    fn constant(&mut self, ty: ir::Type, word: u32) -> Simd {
        if let Some(c) = self.found.constants.iter().find(|c| (c.0, c.1) == (ty, word)) {
            return c.2;
        }
        let bytes: Vec<u8> = [word; 4].iter().flat_map(|w| w.to_le_bytes()).collect();
        let constant = self.b.func.dfg.constants.insert(ConstantData::from(bytes));
        let simd = self.b.ins().vconst(ty, constant);
        self.found.constants.push((ty, word, simd));
        simd
    }

    fn float(&mut self, x: f32) -> Simd {
        self.constant(F32X4, x.to_bits())
    }

    /// The same bits as another type.
    fn cast(&mut self, ty: ir::Type, simd: Simd) -> Simd {
        if self.b.func.dfg.value_type(simd) == ty { simd } else { self.b.ins().bitcast(ty, CAST, simd) }
    }

    /// `a` where `mask` is set, else `b`.
    fn blend(&mut self, mask: Simd, a: Simd, b: Simd) -> Simd {
        let ty = self.b.func.dfg.value_type(a);
        let mask = match self.found.mask {
            Some((of, cast)) if of == mask && self.b.func.dfg.value_type(cast) == ty => cast,
            _ => {
                let cast = self.cast(ty, mask);
                self.found.mask = Some((mask, cast));
                cast
            }
        };
        self.b.ins().bitselect(mask, a, b)
    }

    /// Has the optimistic variant look whether `simd` is a NaN before the next effect.
    fn suspect(&mut self, simd: Simd) {
        match self.suspect.take() {
            None => self.suspect = Some(simd),
            Some(other) => self.note_nans(other, simd),
        }
    }

    fn note_nans(&mut self, a: Simd, b: Simd) {
        let found = self.b.ins().fcmp(FloatCC::Unordered, a, b);
        self.nans = Some(match self.nans {
            Some(nans) => self.b.ins().bor(nans, found),
            None => found,
        });
    }

    /// Gives the group up if there are NaNs among the suspects.
    fn look_for_nans(&mut self) {
        if let Some(simd) = self.suspect.take() {
            self.note_nans(simd, simd);
        }
        let Some(mut nans) = self.nans.take() else { return };
        if let Some(mask) = self.mask {
            nans = self.b.ins().band(nans, mask);
        }
        let found = self.b.ins().vany_true(nans);
        let go = self.b.create_block();
        self.b.ins().brif(found, self.exits.give_up, &[], go, &[]);
        self.b.switch_to_block(go);
    }

    /// The lanes of a mask, all if there is none, as low bits.
    fn mask_bits(&mut self, mask: Option<Simd>) -> Simd {
        match mask {
            Some(mask) => self.b.ins().vhigh_bits(I32, mask),
            None => self.b.ins().iconst(I32, (1 << LANES) - 1),
        }
    }

    fn scratch(&mut self) -> StackSlot {
        *self.scratch.get_or_insert_with(|| {
            let bytes = 4 * WORDS as u32;
            self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 4))
        })
    }

    /// The address of a new site.
    fn site(&mut self, site: Site) -> Simd {
        let site = Box::new(site);
        let address = (&raw const *site).expose_provenance() as i64;
        self.sites.push(site);
        self.b.ins().iconst(I64, address)
    }

    /// Calls a function of `exec` on the scratch area for the lanes of the mask and leaves if it reports a fault.
    fn call(&mut self, function: *const (), site: Site, signature: SigRef, mask: Option<Simd>) {
        let site = self.site(site);
        let function = self.b.ins().iconst(I64, function.expose_provenance() as i64);
        let slot = self.scratch();
        let words = self.b.ins().stack_addr(I64, slot, 0);
        let mask = self.mask_bits(mask);
        let all = [site, words, mask, self.context, self.buffers];
        let args = &all[..self.b.func.dfg.signatures[signature].params.len()];
        let call = self.b.ins().call_indirect(signature, function, args);
        let status = self.b.inst_results(call)[0];
        let go = self.b.create_block();
        self.b.ins().brif(status, self.exits.fault, &[BlockArg::Value(status)], go, &[]);
        self.b.switch_to_block(go);
    }

    fn put_scratch(&mut self, at: usize, simd: Simd) {
        let slot = self.scratch();
        self.b.ins().stack_store(I64, simd, slot, 16 * at as i32);
    }

    fn take_scratch(&mut self, at: usize, ty: ir::Type) -> Simd {
        let slot = self.scratch();
        self.b.ins().stack_load(I64, ty, slot, 16 * at as i32)
    }

    /// Pairs of 32-bit (0, 1) or 64-bit (2, 3) parts from the low (0, 2) or high (1, 3) halves of two values.
    fn interleave(&mut self, n: usize, a: Simd, b: Simd) -> Simd {
        const PATTERNS: [u128; 4] = [
            0x1716_1514_0706_0504_1312_1110_0302_0100,
            0x1f1e_1d1c_0f0e_0d0c_1b1a_1918_0b0a_0908,
            0x1716_1514_1312_1110_0706_0504_0302_0100,
            0x1f1e_1d1c_1b1a_1918_0f0e_0d0c_0b0a_0908,
        ];
        let pattern = *self.shuffles[n].get_or_insert_with(|| {
            self.b.func.dfg.immediates.push(ConstantData::from(&PATTERNS[n].to_le_bytes()[..]))
        });
        self.b.ins().shuffle(a, b, pattern)
    }

    /// Columns of four rows, those wanted; rows and columns as bytes.
    fn transpose(&mut self, rows: [Simd; 4], wanted: u8) -> [Option<Simd>; 4] {
        let [a, b, c, d] = rows;
        let mut columns = [None; 4];
        for half in [0, 1] {
            if wanted >> (2 * half) & 3 == 0 {
                continue;
            }
            let (x, y) = (self.interleave(half, a, b), self.interleave(half, c, d));
            for i in [0, 1].into_iter().filter(|i| wanted >> (2 * half + i) & 1 == 1) {
                columns[2 * half + i] = Some(self.interleave(2 + i, x, y));
            }
        }
        columns
    }

    fn bytes(&mut self, simd: Simd) -> Simd {
        self.cast(I8X16, simd)
    }

    fn scalar_type(ty: Type) -> ir::Type {
        if ty.kind() == Kind::F32 { F32 } else { I32 }
    }
}
