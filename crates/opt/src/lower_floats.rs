//! Float ops that hosts cannot round as asked, done with integers.
//!
//! ```text
//! v2 : f32 = fma.up v0, v1, v1     =>     v2 : f32 = call @fma_up_f32 v0, v1, v1
//! ```
//!
//! That is sums, products, `fma` and conversions to floats that are not rounded to nearest, and, for hosts whose `fma`
//! rounds the product as well, each `fma` that may not be contracted. For hosts without 64-bit floats it is all arithmetic on
//! them; their bits are left, which [`lower_float64`](crate::lower_float64) makes integers of. A function is made for each op, flags and type. Where
//! the host's own floats of twice the width may be used, it computes there (`wider`); else on the bits in 64-bit integers
//! (`soft`), where neither the host's rounding nor what it does to denormals matters.
//!
//! Quotients and roots of 32-bit floats that are asked to be rounded to nearest (`fdiv.even`) are made of the host's, which may be
//! some units off, and its `fma` (`fused`).
//!
//! Conversions of 32-bit integers towards zero lose the bits that do not fit beforehand instead: integer division, which
//! has one or two of them, is common.
//!
//! A pass over the module, since it adds functions to it.

mod fused;
mod soft;
mod steps;
mod wide;
mod wider;

use crate::{Changed, Lacks, edit, legalize};
use smallvec::SmallVec;
use soft::{Format, Result as Rounding};
use wide::Words;
use xenoglot_ir::op::OPS;
use xenoglot_ir::{Bits, Builder, Flags, Func, Function, Imm, Inst, Kind, Module, Op, Round, Type, Value};

/// What a host's floats cannot do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Options {
    /// Round anywhere but to nearest: no shading language can ask for it.
    pub directed: bool,
    /// Round `a * b + c` only once.
    pub fma: bool,
    /// `a * b + c` of 64-bit floats at all.
    pub fma64: bool,
    /// Whether the host has 64-bit floats, rounded to nearest even, and converts them to denormals: they are several
    /// times faster than integers.
    pub doubles: bool,
    /// Keep the sign of zeros in `x + 0`: drivers take it for `x`, which is wrong for -0.
    pub zeros: bool,
    /// Compute with 64-bit floats at all.
    pub float64: bool,
    /// Round quotients and roots of 32-bit floats as division would, where that is asked for: hosts may be 2.5 units off.
    pub quotients: bool,
    /// Compute with 16-bit floats: what [`lower_narrow`](crate::lower_narrow) cannot round in 32-bit floats is done here.
    pub halves: bool,
}

/// What a helper function does.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Shape {
    op: Op,
    flags: Flags,
    from: Kind,
    to: Kind,
}

impl Options {
    /// Whether there is anything to lower.
    pub(crate) fn any(self) -> bool {
        self.directed || self.fma || self.fma64 || self.zeros || self.float64 || self.quotients || self.halves
    }
}

/// Lowers the floats of a module.
pub fn run(module: &mut Module, lacks: &Lacks) -> Changed {
    let options = lacks.floats;
    if !options.any() {
        return Changed::NONE;
    }
    if options.float64 {
        for f in module.funcs.values_mut() {
            legalize::expand_where(f, |f, inst| {
                let is_wide = f.result(inst).is_some_and(|v| f.ty(v).kind() == Kind::F64);
                is_wide && legalize::is_dot(f.insts[inst].op)
            });
        }
    }
    let mut helpers: Vec<(Shape, Func)> = Vec::new();
    let mut changed = false;
    let lowers = |f: &Function, inst: Inst| {
        INTEREST[f.insts[inst].op as usize]
            && (lowering(f, inst, options).is_some() || options.zeros && zero_sum(f, inst).is_some())
    };
    for func in module.funcs.keys() {
        let f = &module.funcs[func];
        // Most functions have nothing to lower: a look at all instructions, in blocks or not, tells at least cost.
        if !f.insts.keys().any(|inst| lowers(f, inst)) {
            continue;
        }
        for i in 0..module.funcs[func].layout.len() {
            let f = &mut module.funcs[func];
            let block = f.layout[i];
            if !f.blocks[block].insts.iter().any(|&inst| lowers(f, inst)) {
                continue;
            }
            changed = true;
            let insts = std::mem::take(&mut f.blocks[block].insts);
            for inst in insts {
                let mut b = Builder::new(&mut module.funcs[func], block);
                b.set_guest(b.func.insts[inst].guest);
                if options.zeros {
                    keep_zero(&mut b, inst);
                }
                let Some(shape) = lowering(b.func, inst, options) else {
                    append(&mut b, inst);
                    continue;
                };
                if truncates(shape) {
                    truncate(&mut b, inst, shape);
                    continue;
                }
                let known = helpers.iter().find(|h| h.0 == shape).map(|h| h.1);
                let helper = known.unwrap_or_else(|| {
                    let helper = module.funcs.push(function(shape, options));
                    helpers.push((shape, helper));
                    helper
                });
                call(&mut Builder::new(&mut module.funcs[func], block), inst, helper);
            }
        }
    }
    Changed::insts_if(changed)
}

fn is_natural(flags: Flags) -> bool {
    matches!(flags.round(), Round::Natural | Round::Even)
}

/// The ops that may be lowered on any host.
static INTEREST: [bool; OPS.len()] = {
    let mut table = [false; OPS.len()];
    let mut i = 0;
    while i < OPS.len() {
        table[i] = is_arithmetic(OPS[i].op);
        i += 1;
    }
    table
};

fn lowering(f: &Function, inst: Inst, options: Options) -> Option<Shape> {
    let data = &f.insts[inst];
    let gives = |kind: Kind| f.result(inst).is_some_and(|v| f.ty(v).kind() == kind);
    let takes = |kind: Kind| f.args(inst).first().is_some_and(|&v| f.ty(v).kind() == kind);
    let asked = match data.op {
        op if options.float64 && is_arithmetic(op) && (takes(Kind::F64) || gives(Kind::F64)) => true,
        Op::F2f if options.halves && takes(Kind::F64) && gives(Kind::F16) => true,
        Op::Fma if is_natural(data.flags) => {
            let lacks = options.fma || options.halves && gives(Kind::F16);
            lacks && !data.flags.contract() || options.fma64 && gives(Kind::F64)
        }
        Op::Fadd | Op::Fsub | Op::Fmul | Op::Fma | Op::F2f | Op::S2f | Op::U2f => {
            options.directed && !is_natural(data.flags)
        }
        Op::Fdiv | Op::Sqrt => options.quotients && data.flags.round() == Round::Even && gives(Kind::F32),
        _ => false,
    };
    if !asked {
        return None;
    }
    let (from, to) = (f.args(inst).first()?, f.result(inst)?);
    let (from, to) = (f.ty(*from).kind(), f.ty(to).kind());
    Some(Shape { op: data.op, flags: data.flags.without_contract(), from, to })
}

/// What is computed with 64-bit floats, compares and moves apart.
const fn is_arithmetic(op: Op) -> bool {
    matches!(
        op,
        Op::Fadd
            | Op::Fsub
            | Op::Fmul
            | Op::Fma
            | Op::Fdiv
            | Op::Sqrt
            | Op::Rcp
            | Op::Rsqrt
            | Op::Fract
            | Op::Floor
            | Op::Ceil
            | Op::Trunc
            | Op::RoundEven
            | Op::Fmin
            | Op::Fmax
            | Op::Fsat
            | Op::F2f
            | Op::F2s
            | Op::F2u
            | Op::S2f
            | Op::U2f
    )
}

/// What is added to +0, if that is what `inst` does.
fn zero_sum(f: &Function, inst: Inst) -> Option<Value> {
    let data = &f.insts[inst];
    let &[x, y] = f.args(inst) else { return None };
    let is_zero = |&v: &Value| {
        let lanes = usize::from(f.ty(v).lanes());
        f.const_bits(v).is_some_and(|bits| (0..lanes).all(|i| bits.lane(i) == 0))
    };
    // Rounded down, `x + 0` is `x`: what drivers make of it is right.
    let adds = data.op == Op::Fadd && !data.flags.contract() && data.flags.round() != Round::Down;
    adds.then(|| if is_zero(&y) { Some(x) } else { is_zero(&x).then_some(y) }).flatten()
}

/// Makes `x + 0` a choice, `fsat` having its other flags.
fn keep_zero(b: &mut Builder, inst: Inst) {
    let Some(x) = zero_sum(b.func, inst) else { return };
    let (flags, ty) = (b.func.insts[inst].flags, b.func.ty(x));
    let zero = b.constant(ty, Bits::default());
    let flush = if flags.ftz() { Flags::NONE.with_ftz() } else { Flags::NONE };
    // Denormals that are flushed are zeros here, too.
    let is_zero = b.op_flags(Op::FcmpOeq, flush, &[x, zero]);
    let (op, args): (Op, SmallVec<[Value; 3]>) = if flags.sat() {
        (Op::Fsat, [b.select(is_zero, zero, x)].into_iter().collect())
    } else {
        (Op::Select, [is_zero, zero, x].into_iter().collect())
    };
    edit::rewrite(b.func, inst, op, Flags::NONE, Imm::None, &args);
}

/// Whether the host converts right once the bits that do not fit are gone.
fn truncates(shape: Shape) -> bool {
    let plain = shape.flags == Flags::NONE.with_round(Round::Zero);
    plain && shape.to == Kind::F32 && shape.from == Kind::I32 && matches!(shape.op, Op::S2f | Op::U2f)
}

/// Clears the bits below the 24 highest and converts what is left, which is exact.
fn truncate(b: &mut Builder, inst: Inst, shape: Shape) {
    let Some(&v) = b.func.args(inst).first() else { return };
    let ty = b.func.ty(v);
    let number = |b: &mut Builder, v: u64| b.constant(ty, Bits::splat(ty, v));
    let (eight, zero, ones) = (number(b, 8), number(b, 0), number(b, u64::from(u32::MAX)));
    let magnitude = if shape.op == Op::S2f { b.op(Op::Iabs, &[v]) } else { v };
    let zeros = b.op(Op::Clz, &[magnitude]);
    let excess = b.op(Op::Isub, &[eight, zeros]);
    let excess = b.op(Op::Imax, &[excess, zero]);
    let mask = b.op(Op::Shl, &[ones, excess]);
    let kept = b.op(Op::And, &[magnitude, mask]);
    let kept = if shape.op == Op::S2f {
        let negative = b.op(Op::IcmpSlt, &[v, zero]);
        let minus = b.op(Op::Ineg, &[kept]);
        b.select(negative, minus, kept)
    } else {
        kept
    };
    edit::rewrite(b.func, inst, shape.op, Flags::NONE, Imm::None, &[kept]);
    append(b, inst);
}

fn append(b: &mut Builder, inst: Inst) {
    let block = b.block();
    b.func.blocks[block].insts.push(inst);
}

/// Makes `inst` calls of the helper, lane by lane.
fn call(b: &mut Builder, inst: Inst, helper: Func) {
    b.set_guest(b.func.insts[inst].guest);
    let args: SmallVec<[Value; 4]> = b.func.args(inst).into();
    let Some(ty) = b.func.result(inst).map(|v| b.func.ty(v)) else { return };
    if ty.is_scalar() {
        edit::rewrite(b.func, inst, Op::Call, Flags::NONE, Imm::Func(helper), &args);
        return append(b, inst);
    }
    let lanes: SmallVec<[Value; 4]> = (0..ty.lanes())
        .map(|lane| {
            let args: SmallVec<[Value; 4]> = args.iter().map(|&v| b.extract(v, lane)).collect();
            let made = b.call(helper, &args, &[ty.lane()]);
            b.func.results(made)[0]
        })
        .collect();
    edit::rewrite(b.func, inst, Op::Build, Flags::NONE, Imm::None, &lanes);
    append(b, inst);
}

fn word(kind: Kind) -> Type {
    Type::scalar(match kind.bits() {
        16 => Kind::I16,
        32 => Kind::I32,
        _ => Kind::I64,
    })
}

/// The function that does what a shape says on lanes.
fn function(shape: Shape, options: Options) -> Function {
    let mut name = shape.op.info().name.to_owned();
    name.push_str(&format!("{}_{}", shape.flags, shape.to.name()).replace('.', "_"));
    if shape.from != shape.to {
        name.push_str(&format!("_{}", shape.from.name()));
    }
    let (from, to) = (Type::scalar(shape.from), Type::scalar(shape.to));
    let mut f = Function::new(name);
    f.returns = vec![to];
    let block = f.add_block();
    let count = match shape.op {
        Op::Fma => 3,
        Op::Fadd | Op::Fsub | Op::Fmul | Op::Fdiv | Op::Fmin | Op::Fmax => 2,
        _ => 1,
    };
    let params: SmallVec<[Value; 3]> = (0..count).map(|_| f.add_param(block, from)).collect();
    let mut b = Builder::new(&mut f, block);
    if let Some(v) = by_fma(&mut b, shape, options, &params) {
        b.ret(&[v]);
        return f;
    }
    let wide = wider::of(shape.to).filter(|&w| options.doubles || w != Kind::F64);
    let v = match (wide, &params[..]) {
        (Some(wide), &[x, y, ref rest @ ..]) => in_wider(&mut b, shape, wide, [x, y], rest.first().copied()),
        _ => Some(params[0]),
    };
    let flags = conversion_flags(shape.flags);
    // Verified, an op has the operands and kinds that it needs.
    let v = v.and_then(|v| match (wide, count) {
        (Some(_), 2..) if is_natural(shape.flags) => Some(b.convert(Op::F2f, flags, v, to)),
        (Some(wide), 2..) => on_bits(&mut b, Shape { op: Op::F2f, flags, from: wide, ..shape }, &[v]),
        _ => on_bits(&mut b, shape, &params),
    });
    let v = v.unwrap_or_else(|| b.constant(to, Bits::default()));
    b.ret(&[v]);
    f
}

/// A quotient or root of 32-bit floats, if the host's `fma` can round it.
fn by_fma(b: &mut Builder, shape: Shape, options: Options, params: &[Value]) -> Option<Value> {
    if options.fma || shape.to != Kind::F32 {
        return None;
    }
    let flags = if shape.flags.ftz() { Flags::NONE.with_ftz() } else { Flags::NONE };
    let v = match (shape.op, params) {
        (Op::Fdiv, &[x, y]) => fused::quotient(b, flags, x, y),
        (Op::Sqrt, &[x]) => fused::root(b, flags, x),
        _ => return None,
    };
    Some(if shape.flags.sat() { b.op(Op::Fsat, &[v]) } else { v })
}

/// The flags that a result's last rounding has of those of the op.
fn conversion_flags(flags: Flags) -> Flags {
    let out = Flags::NONE.with_round(flags.round());
    let out = if flags.ftz() { out.with_ftz() } else { out };
    if flags.sat() { out.with_sat() } else { out }
}

/// A sum or product in floats of kind `wide`, rounded to odd.
fn in_wider(
    b: &mut Builder,
    shape: Shape,
    wide: Kind,
    [x, y]: [Value; 2],
    z: Option<Value>,
) -> Option<Value> {
    let ty = Type::scalar(wide);
    let widen = |b: &mut Builder, v| wider::widen(b, shape.flags, ty, v);
    let (x, y) = (widen(b, x), widen(b, y));
    let round = shape.flags.round();
    Some(match (shape.op, z) {
        (Op::Fadd, _) => wider::sum(b, round, ty, x, y),
        (Op::Fsub, _) => {
            let y = b.op(Op::Fneg, &[y]);
            wider::sum(b, round, ty, x, y)
        }
        (Op::Fmul, _) => wider::product(b, shape.flags, ty, x, y),
        (Op::Fma, Some(z)) => {
            let (product, z) = (wider::product(b, shape.flags, ty, x, y), widen(b, z));
            wider::sum(b, round, ty, product, z)
        }
        _ => return None,
    })
}

/// The op on the bits of its operands.
fn on_bits(b: &mut Builder, shape: Shape, args: &[Value]) -> Option<Value> {
    let widen = if shape.op == Op::S2f { Op::Sext } else { Op::Zext };
    let words: SmallVec<[Value; 3]> = args
        .iter()
        .map(|&v| {
            let v = if shape.from.is_float() {
                b.convert(Op::Bitcast, Flags::NONE, v, word(shape.from))
            } else {
                v
            };
            if shape.from.bits() == 64 { v } else { b.convert(widen, Flags::NONE, v, Type::I64) }
        })
        .collect();
    let mut w = Words(b);
    if let (Op::F2s | Op::F2u, &[x]) = (shape.op, &words[..]) {
        let from = Format::of(shape.from)?;
        let made = w.convert_to_int(from, shape.flags, shape.op == Op::F2s, shape.to, x);
        let to = Type::scalar(shape.to);
        return Some(if to == Type::I64 { made } else { b.convert(Op::TruncInt, Flags::NONE, made, to) });
    }
    let to = Rounding { format: Format::of(shape.to)?, flags: shape.flags };
    let bits = match (shape.op, &words[..]) {
        (Op::Fadd, &[x, y]) => w.add_floats(to, x, y),
        (Op::Fsub, &[x, y]) => {
            let y = w.negated(to.format, y);
            w.add_floats(to, x, y)
        }
        (Op::Fmul, &[x, y]) => w.product_and_sum(to, [x, y], None),
        (Op::Fma, &[x, y, z]) => w.product_and_sum(to, [x, y], Some(z)),
        (Op::Fdiv, &[x, y]) => w.quotient(to, x, y),
        (Op::Sqrt, &[x]) => w.root(to, x),
        (Op::Rcp, &[x]) => {
            let one = w.number(to.format.one());
            w.quotient(to, one, x)
        }
        (Op::Rsqrt, &[x]) => {
            // Rounded twice, as the fold function does it.
            let flags = if shape.flags.ftz() { Flags::NONE.with_ftz() } else { Flags::NONE };
            let root = w.root(Rounding { flags, ..to }, x);
            let one = w.number(to.format.one());
            w.quotient(to, one, root)
        }
        (Op::Floor, &[x]) => w.whole(to, Round::Down, x),
        (Op::Ceil, &[x]) => w.whole(to, Round::Up, x),
        (Op::Trunc, &[x]) => w.whole(to, Round::Zero, x),
        (Op::RoundEven, &[x]) => w.whole(to, Round::Even, x),
        (Op::Fract, &[x]) => {
            let flags = if shape.flags.ftz() { Flags::NONE.with_ftz() } else { Flags::NONE };
            let floor = w.whole(Rounding { flags, ..to }, Round::Down, x);
            let floor = w.negated(to.format, floor);
            w.add_floats(to, x, floor)
        }
        (Op::Fmin | Op::Fmax, &[x, y]) => w.pick(to, shape.op == Op::Fmin, x, y),
        (Op::Fsat, &[x]) => w.convert_float(to.format, Rounding { flags: shape.flags.with_sat(), ..to }, x),
        (Op::S2f | Op::U2f, &[v]) => w.convert_int(to, shape.op == Op::S2f, v),
        (_, &[x]) => w.convert_float(Format::of(shape.from)?, to, x),
        _ => return None,
    };
    let v = match word(shape.to) {
        Type::I64 => bits,
        narrow => b.convert(Op::TruncInt, Flags::NONE, bits, narrow),
    };
    Some(b.convert(Op::Bitcast, Flags::NONE, v, Type::scalar(shape.to)))
}
