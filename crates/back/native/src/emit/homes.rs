//! Homes: memory of the run for values that outlive their block.
//!
//! A component that one block defines and another uses, and every component of a block parameter, has a place of its own
//! in an area that the run allocates on the heap ([`Context::HOMES`]). A definition stores to it, the first use in another
//! block loads from it. As SSA values of the code generator they would become block parameters of every label where
//! control meets, of which masked control flow has several for each block: their number, and with it the stack frame,
//! grows with the square of an irreducible program. Homes are as many as there are values, code that uses them is as long
//! as the program, and what is left for the stack lives within a block.
//!
//! A home belongs to one component of one value for the whole run: what a lane that does not execute finds in it is zero
//! or an earlier value of the same component, which is what the bounds of `Plan::most` rely on.

use super::{Emitter, FIXED, MEM};
use crate::error::CompileError;
use crate::exec::{Context, Lanes};
use crate::plan::{Components, Plan, components};
use cranelift_codegen::ir::types::{I32X4, I64};
use cranelift_codegen::ir::{self, InstBuilder, Value as Simd};
use xenoglot_ir::entity::SecondaryMap;
use xenoglot_ir::{Block, Function, Op, Value, ValueDef};

/// Most homes of a function: 4 MiB per run.
pub(super) const MAX_HOMES: u32 = 1 << 18;

/// How a value is kept.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Keep {
    /// Used in its block only: no home.
    #[default]
    Local,
    /// A home that is overwritten in all lanes.
    Plain,
    /// A home that is overwritten in the lanes that execute.
    Blend,
}

/// A word in all lanes that has a home but is no value of the function: masks and selectors.
#[derive(Clone, Copy)]
pub(super) struct Cell(u32);

/// Which home each value has.
#[derive(Default)]
pub(super) struct Homes {
    keep: SecondaryMap<Value, Keep>,
    /// The home of the lowest live component; the others follow.
    first: SecondaryMap<Value, u32>,
    /// Values with some component in registers.
    known: Vec<Value>,
    count: u32,
}

impl Homes {
    /// Gives a home to all components of values that are not local.
    pub(super) fn new(
        f: &Function,
        plan: &Plan,
        keep: SecondaryMap<Value, Keep>,
    ) -> Result<Homes, CompileError> {
        let mut homes = Homes { keep, ..Homes::default() };
        for v in f.values.keys() {
            if homes.keep[v] != Keep::Local {
                homes.first[v] = homes.take(plan.live(v).count_ones())?;
            }
        }
        Ok(homes)
    }

    /// The number of homes.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    fn take(&mut self, count: u32) -> Result<u32, CompileError> {
        let first = self.count;
        self.count += count;
        if self.count > MAX_HOMES {
            return Err(CompileError::unsupported("too many values between blocks", None));
        }
        Ok(first)
    }

    /// A home for a mask or selector.
    pub(super) fn cell(&mut self) -> Result<Cell, CompileError> {
        self.take(1).map(Cell)
    }

    fn of(&self, v: Value, live: Components, c: usize) -> Option<u32> {
        let has = self.keep[v] != Keep::Local && live >> c & 1 == 1;
        has.then(|| self.first[v] + (live & ((1 << c) - 1)).count_ones())
    }
}

/// Finds the values that need homes where all lanes go the same way.
pub(super) fn plain(f: &Function, plan: &Plan) -> SecondaryMap<Value, Keep> {
    let mut keep: SecondaryMap<Value, Keep> = SecondaryMap::with_capacity(f.values.len());
    outliving(f, plan, false, |v, _, _| keep[v] = Keep::Plain);
    keep
}

/// Calls `each` with all block parameters, and with each use of another value in a block that does not define it, and both
/// blocks. With `arms`, what a block with several ways on passes along one of them is used outside of it.
pub(super) fn outliving(f: &Function, plan: &Plan, arms: bool, mut each: impl FnMut(Value, Block, Block)) {
    let mut defined: SecondaryMap<Value, Option<Block>> = SecondaryMap::with_capacity(f.values.len());
    for &block in plan.cfg.rpo() {
        f.params(block).iter().for_each(|&p| each(p, block, block));
        for &inst in &f.blocks[block].insts {
            // Those are known everywhere.
            if !matches!(f.insts[inst].op, Op::Const | Op::Undef) {
                f.results(inst).iter().for_each(|&v| defined[v] = Some(block));
            }
        }
    }
    for &block in plan.cfg.rpo() {
        let mut used = |v: Value, late: bool| {
            if let Some(from) = defined[v].filter(|&from| from != block || late) {
                each(v, from, block);
            }
        };
        for &inst in &f.blocks[block].insts {
            f.args(inst).iter().for_each(|&v| used(v, false));
        }
        f.term_args(block).iter().for_each(|&v| used(v, false));
        let late = arms && f.edges(block).len() > 1;
        for edge in f.edges(block) {
            f.edge_args(edge).iter().for_each(|&v| used(v, late));
        }
    }
}

impl Emitter<'_> {
    fn homes_base(&mut self) -> Simd {
        if let Some(base) = self.found.homes {
            return base;
        }
        let base = self.b.ins().load(I64, FIXED, self.context, Context::HOMES as i32);
        self.found.homes = Some(base);
        base
    }

    fn load_home(&mut self, ty: ir::Type, home: u32) -> Simd {
        let base = self.homes_base();
        // `MAX_HOMES` keeps offsets far below 2^31.
        self.b.ins().load(ty, MEM.with_aligned(), base, (home as usize * size_of::<Lanes>()) as i32)
    }

    fn store_home(&mut self, home: u32, simd: Simd) {
        let base = self.homes_base();
        self.b.ins().store(MEM.with_aligned(), simd, base, (home as usize * size_of::<Lanes>()) as i32);
    }

    /// A mask or selector.
    pub(super) fn read(&mut self, cell: Cell) -> Simd {
        self.load_home(I32X4, cell.0)
    }

    /// Sets a mask or selector in all lanes.
    pub(super) fn write(&mut self, cell: Cell, simd: Simd) {
        self.store_home(cell.0, simd);
    }

    /// A component that another block may have defined.
    pub(super) fn value_at_home(&mut self, v: Value, c: usize) -> Option<Simd> {
        let home = self.homes.of(v, self.plan.live(v), c)?;
        let simd = self.load_home(Self::simd(self.f.ty(v).kind()), home);
        self.values[v][c] = Some(simd);
        self.homes.known.push(v);
        Some(simd)
    }

    /// Keeps a component for other blocks.
    pub(super) fn keep_at_home(&mut self, v: Value, c: usize, simd: Simd) {
        self.homes.known.push(v);
        let Some(home) = self.homes.of(v, self.plan.live(v), c) else { return };
        let mut simd = simd;
        if let (Keep::Blend, Some(mask)) = (self.homes.keep[v], self.mask) {
            let old = self.load_home(Self::simd(self.f.ty(v).kind()), home);
            simd = self.blend(mask, simd, old);
        }
        self.store_home(home, simd);
    }

    /// Forgets what registers hold: control may have come here another way.
    pub(super) fn leave(&mut self) {
        self.leave_since(0);
    }

    /// How much is in registers, for [`Emitter::leave_since`].
    pub(super) fn known(&self) -> usize {
        self.homes.known.len()
    }

    /// Forgets what was loaded since `known` was so long.
    pub(super) fn leave_since(&mut self, known: usize) {
        for v in self.homes.known.drain(known..) {
            self.values[v] = [None; 4];
        }
    }

    /// The parallel copy of edge `index` of `block`, in an order in which no parameter is overwritten that another still
    /// takes its value from. Few values are in registers at a time, however many the edge carries.
    pub(super) fn copy_edge(&mut self, block: Block, index: usize) {
        let f = self.f;
        let edge = &f.edges(block)[index];
        let (params, args) = (f.params(edge.block), f.edge_args(edge));
        let mut pending: Vec<bool> =
            params.iter().zip(args).map(|(&p, &a)| p != a && self.plan.live(p) != 0).collect();
        // The parameter that an argument is, if it is one of the same block.
        let own = |n: usize| match f.values[args[n]].def {
            ValueDef::Param(block, at) if block == edge.block => Some(usize::from(at)),
            _ => None,
        };
        let mut readers = vec![0u32; params.len()];
        let moved = |pending: &[bool]| (0..params.len()).filter(|&n| pending[n]).collect::<Vec<_>>();
        moved(&pending).into_iter().filter_map(own).for_each(|p| readers[p] += 1);
        for start in moved(&pending) {
            let mut next = (readers[start] == 0).then_some(start);
            while let Some(n) = next.filter(|&n| std::mem::take(&mut pending[n])) {
                self.copy(params[n], args[n]);
                next = own(n).filter(|&p| {
                    readers[p] -= 1;
                    readers[p] == 0
                });
            }
        }
        // What is left are cycles: the old value of a parameter goes to registers.
        for start in moved(&pending) {
            if pending[start] {
                components(self.plan.live(params[start])).for_each(|c| {
                    self.get(params[start], c);
                });
            }
            let mut next = Some(start);
            while let Some(n) = next.filter(|&n| std::mem::take(&mut pending[n])) {
                self.copy(params[n], args[n]);
                next = own(n);
            }
        }
        // Where the edge goes to, parameters are what their homes hold.
        for &p in params {
            self.values[p] = [None; 4];
        }
    }

    fn copy(&mut self, p: Value, a: Value) {
        for c in components(self.plan.live(p)) {
            let simd = self.get(a, c);
            self.keep_at_home(p, c, simd);
        }
    }
}
