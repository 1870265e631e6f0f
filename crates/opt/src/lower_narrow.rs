//! 8- and 16-bit integers as 32-bit ones, and halves as 32-bit floats, for hosts without them.
//!
//! ```text
//! v2 : i16 = iadd v0, v1         =>   v6 : i32 = iadd v0, v1
//!                                     v7 : i32 = and v6, 65535
//! v5 : f16 = fmul v3, v4         =>   v8 : f32 = fmul v3, v4
//!                                     v9 : f32 = call.pure @round_half_f32 v8
//! ```
//!
//! A narrow integer is a word with zeros above it; where its sign matters, the sign is extended first. A half is the 32-bit
//! float of the same value: sums, products, quotients and roots of halves round right when they are rounded to 32 bits first,
//! and then to a half. Bits of halves are made where something asks for them.
//!
//! Ops that few ops on words cannot make are made by the functions of [`legalize`] first, in their own
//! width. Memory keeps its layout: [`lower_memory`](crate::lower_memory) has made words of narrow accesses before. Variables
//! between stages become 32 bits wide, in all stages alike.
//!
//! What has no such form leaves the whole module as it is, for the back end to refuse: narrow accesses that are not aligned,
//! sums over subgroups, texels of narrow integers, captured outputs.

mod code;
mod helpers;

use crate::edit::{self, Replaced};
use crate::legalize::{self, Code};
use crate::{Changed, Lacks};
use code::Rewriter;
use helpers::Helpers;
use smallvec::SmallVec;
use xenoglot_ir::entity::EntityRef;
use xenoglot_ir::imm::ImmKind;
use xenoglot_ir::{Bits, Builder, Function, Imm, Inst, Kind, Module, Op, Round, Type, Value};

/// Which kinds a host lacks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Options {
    /// 8- and 16-bit integers.
    pub ints: bool,
    /// 16-bit floats. They go with the integers, too, where a program looks at their bits.
    pub halves: bool,
}

impl Options {
    /// Whether there is anything to lower.
    pub fn any(self) -> bool {
        self.ints || self.halves
    }

    /// Whether values of this kind become wider.
    fn has(self, kind: Kind) -> bool {
        match kind {
            Kind::I8 | Kind::I16 => self.ints,
            Kind::F16 => self.halves,
            _ => false,
        }
    }

    /// What a type becomes.
    fn ty(self, ty: Type) -> Type {
        match ty.kind() {
            kind if !self.has(kind) => ty,
            Kind::F16 => ty.with_kind(Kind::F32),
            _ => ty.with_kind(Kind::I32),
        }
    }
}

/// Lowers the narrow numbers of a module.
pub fn run(module: &mut Module, lacks: &Lacks) -> Changed {
    let mut options = lacks.narrow;
    let bits_of_halves = |f: &Function| {
        let casts = |inst: &Inst| f.insts[*inst].op == Op::Bitcast;
        insts(f).filter(casts).any(|inst| types(f, inst).any(|ty| ty.kind() == Kind::F16))
    };
    options.halves |= options.ints && module.funcs.values().any(bits_of_halves);
    let has_narrow = |f: &Function| {
        let mut types = f.values.values().map(|v| v.ty).chain(f.slots.values().map(|slot| slot.ty));
        types.any(|ty| options.has(ty.kind()))
    };
    if !module.funcs.values().any(has_narrow) {
        return Changed::NONE;
    }
    let captured = !module.captures.is_empty() && module.vars.values().any(|v| options.has(v.ty.kind()));
    if captured || !module.funcs.values().all(|f| insts(f).all(|inst| is_lowered(f, inst, options))) {
        return Changed::NONE;
    }
    let mut helpers = Helpers::new(module.funcs.len());
    for f in module.funcs.values_mut() {
        expand(f, options);
        function(f, options, &mut helpers);
    }
    module.vars.values_mut().for_each(|var| var.ty = options.ty(var.ty));
    for helper in helpers.made {
        module.funcs.push(helper);
    }
    Changed::insts_if(true)
}

fn insts(f: &Function) -> impl Iterator<Item = Inst> {
    f.layout.iter().flat_map(|&block| f.blocks[block].insts.iter().copied())
}

fn types(f: &Function, inst: Inst) -> impl Iterator<Item = Type> {
    f.args(inst).iter().chain(f.results(inst)).map(|&v| f.ty(v))
}

/// Whether an instruction has a form in wider kinds.
fn is_lowered(f: &Function, inst: Inst, options: Options) -> bool {
    let narrow = |ty: Type| options.has(ty.kind());
    if !types(f, inst).any(narrow) {
        return true;
    }
    let data = &f.insts[inst];
    let is_directed = !matches!(data.flags.round(), Round::Natural | Round::Even);
    match data.op {
        Op::SgReduce | Op::SgScan | Op::PermuteBytes | Op::Sdot4 | Op::Udot4 | Op::SUdot4 => false,
        // Of the bits of a double there are more than a 32-bit float has room for: `lower_floats` makes these.
        Op::F2f => {
            let is_double = f.args(inst).iter().any(|&v| f.ty(v).kind() == Kind::F64);
            let to_half = f.result(inst).is_some_and(|v| f.ty(v).kind() == Kind::F16);
            !(is_directed || is_double && to_half)
        }
        Op::F2s | Op::F2u => true,
        _ => match data.op.info().imm {
            ImmKind::Mem => false,
            ImmKind::Tex => !types(f, inst).any(|ty| narrow(ty) && ty.kind().is_int()),
            _ => !is_directed,
        },
    }
}

/// Ops that are made of others in their own width first.
fn is_expanded(op: Op) -> bool {
    matches!(
        op,
        Op::Iadd3
            | Op::Iabs
            | Op::Umulh
            | Op::Imulh
            | Op::IaddCarry
            | Op::IaddCarryOut
            | Op::IaddOverflowOut
            | Op::IsubBorrow
            | Op::IsubBorrowOut
            | Op::IsubOverflowOut
            | Op::Rotl
            | Op::FunnelL
            | Op::FunnelR
            | Op::BitfieldU
            | Op::BitfieldS
            | Op::BitfieldInsert
            | Op::Popcount
            | Op::Clz
            | Op::Ctz
            | Op::FindMsbS
            | Op::Reverse
            | Op::Byteswap
            | Op::Lop3
            | Op::Fdot2
            | Op::Fdot3
            | Op::Fdot4
            | Op::Fldexp
            | Op::FfrexpExp
            | Op::FfrexpMant
    )
}

fn expand(f: &mut Function, options: Options) {
    legalize::expand_where(f, |f, inst| {
        is_expanded(f.insts[inst].op) && types(f, inst).any(|ty| options.has(ty.kind()))
    });
}

/// Lowers a function whose every instruction has a form.
fn function(f: &mut Function, options: Options, helpers: &mut Helpers) {
    let old: Vec<Type> = f.values.values().map(|data| data.ty).collect();
    f.values.values_mut().for_each(|data| data.ty = options.ty(data.ty));
    f.returns.iter_mut().for_each(|ty| *ty = options.ty(*ty));
    f.slots.values_mut().for_each(|slot| slot.ty = options.ty(slot.ty));
    let mut replaced = Replaced::default();
    replaced.reset(f);
    let mut rewriter = Rewriter { options, old: &old, helpers };
    for i in 0..f.layout.len() {
        let block = f.layout[i];
        for inst in std::mem::take(&mut f.blocks[block].insts) {
            let is_narrow = |v: &Value| old.get(v.index()).is_some_and(|ty| options.has(ty.kind()));
            if !f.args(inst).iter().chain(f.results(inst)).any(is_narrow) {
                f.blocks[block].insts.push(inst);
                continue;
            }
            if reads_narrow(f.insts[inst].op) {
                let made = again(f, inst);
                f.blocks[block].insts.push(made);
                for n in 0..f.results(inst).len() {
                    let (before, raw) = (f.results(inst)[n], f.results(made)[n]);
                    let mut b = Builder::new(f, block);
                    b.set_guest(b.func.insts[inst].guest);
                    let now = rewriter.canonical(&mut Code::plain(&mut b), old[before.index()], raw);
                    replaced.set(f, before, now);
                }
                continue;
            }
            let mut b = Builder::new(f, block);
            b.set_guest(b.func.insts[inst].guest);
            let made = rewriter.inst(&mut Code::plain(&mut b), inst);
            match (made, f.result(inst)) {
                (Some(made), Some(before)) => replaced.set(f, before, made),
                _ => f.blocks[block].insts.push(inst),
            }
        }
    }
    replaced.apply(f);
}

/// Whether an op takes a number from outside, which is not yet what the guest's narrow register would hold of it.
fn reads_narrow(op: Op) -> bool {
    op.info().imm == ImmKind::Tex || matches!(op.info().imm, ImmKind::Var) && op != Op::Output
}

/// The same instruction again, with results of its own.
fn again(f: &mut Function, inst: Inst) -> Inst {
    let args: SmallVec<[Value; 8]> = f.args(inst).into();
    let types: SmallVec<[Type; 2]> = f.results(inst).iter().map(|&v| f.ty(v)).collect();
    let data = &f.insts[inst];
    let (op, flags, imm, guest) = (data.op, data.flags, data.imm, data.guest);
    f.make_inst(op, flags, imm, &args, &types, guest)
}

/// Makes a constant of halves one of 32-bit floats.
fn widen_constant(f: &mut Function, inst: Inst) {
    let Imm::Const(c) = f.insts[inst].imm else { return };
    let Some(bits) = f.consts.get(c) else { return };
    let lanes = f.result(inst).map_or(1, |v| usize::from(f.ty(v).lanes()));
    let mut wide = Bits::default();
    for (to, &lane) in wide.0.iter_mut().zip(&bits.0).take(lanes) {
        *to = helpers::widened(lane);
    }
    edit::rewrite_const(f, inst, wide);
}
