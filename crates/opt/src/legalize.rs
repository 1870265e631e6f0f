//! Ops and flags that no shading language has, made of ops that they all have.
//!
//! ```text
//! v2 : f32 = fmul.ftz.zw v0, v1      =>   v3 : f32 = call.pure @flush_f32 v0
//!                                         v4 : f32 = call.pure @flush_f32 v1
//!                                         v5 : f32 = call.pure @fmul_zw_f32 v3, v4
//!                                         v2 : f32 = call.pure @flush_f32 v5
//! v6 : f32 = fadd.ftz v2, v2         =>   v7 : f32 = fadd v2, v2
//!                                         v6 : f32 = call.pure @flush_f32 v7
//! v8 : f32 = fmax.second v6, v2      =>   v9 : bool = fcmp.olt v2, v6
//!                                         v8 : f32 = select v9, v6, v2
//! ```
//!
//! That is what guests say of denormals, zeros, NaNs and clamps, minima, dot products in order, exponents, conversions that
//! saturate, carries, high halves of products, quotients by zero, funnels, fields, and counts of bits in integers of any
//! width. What a host has of these stays ([`Options`]). An op becomes a few ops in its place, or a call of a function that is
//! made once per op, flags and types.
//!
//! Nothing is done twice, or where it does nothing: a value known to be flushed, finite, no NaN or clamped is not treated
//! again, an operand is flushed once for all its uses, constants beforehand. The functions of this folder are the one place that says how; the
//! fold functions say what, and a test holds one against the other.
//!
//! A pass over the module, since it adds functions to it.

mod alone;
mod bits;
mod choose;
mod code;
mod convert;
mod facts;
mod float;
mod int;

use crate::edit::{self, Replaced};
use crate::{Changed, Context, Lacks};
pub(crate) use alone::{expand_where, high_product};
use choose::{INTEREST, expand, how};
pub(crate) use code::Code;
use facts::{Facts, Table};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use xenoglot_ir::entity::EntityRef;
use xenoglot_ir::func::InstData;
use xenoglot_ir::{
    Bits, Block, Builder, DivZero, Flags, Func, Function, Imm, Inst, Kind, Module, NanMode, Op, Round, Type,
    Value,
};

/// What a host's arithmetic lacks. The default lacks nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Options {
    /// All that no shading language has: see the head of [`legalize`](self).
    pub rules: bool,
    /// The same of 64-bit numbers alone: for hosts that have the rules for those of 32 bits, and no others.
    pub wide_rules: bool,
    /// Float compares but `<`, `<=`, `==` and their negation `!=`.
    pub compares: bool,
    /// The high half of the product of 32-bit integers.
    pub high_products: bool,
    /// Counts and reversal of the bits of 32-bit integers, and fields of constant place in them.
    pub bit_counts: bool,
    /// Dot products of four bytes.
    pub byte_dots: bool,
    /// The one thing here that a host has: denormals of 32-bit floats are flushed by themselves, so that no code does it.
    pub flushes: bool,
}

impl Options {
    /// What every shading language lacks, and no more.
    pub const RULES: Options = Options {
        rules: true,
        wide_rules: false,
        compares: false,
        high_products: false,
        bit_counts: false,
        byte_dots: false,
        flushes: false,
    };
    /// All that any of them lacks.
    pub const ALL: Options =
        Options { compares: true, high_products: true, bit_counts: true, byte_dots: true, ..Options::RULES };

    /// Whether there is anything to do.
    pub(crate) fn any(self) -> bool {
        self.rules
            || self.wide_rules
            || self.compares
            || self.high_products
            || self.bit_counts
            || self.byte_dots
    }
}

/// What an instruction computes, apart from its operands' values.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Shape {
    op: Op,
    flags: Flags,
    imm: Imm,
    /// Of the result.
    ty: Type,
    /// Of the first operand that is no condition.
    of: Type,
}

/// The pass's memory, reused from module to module.
#[derive(Default)]
pub(crate) struct Buffers {
    /// What the functions of `helpers` were made for.
    options: Options,
    helpers: FxHashMap<Shape, Helper>,
    /// Counts the modules.
    module: u64,
    facts: Table,
    /// By value: whether an instruction wants it flushed.
    wanted: Vec<bool>,
    /// By value: its flushed form, if it is made.
    flushed: Vec<Option<Value>>,
    replaced: Replaced,
}

/// A function that does what a shape says, to be copied into modules: making it takes several times as long.
struct Helper {
    function: Function,
    /// The last module that has it, and where.
    module: u64,
    func: Func,
}

/// Helpers that are kept; programs that people write need a few dozen.
const KEPT: usize = 256;

/// Makes what the host lacks in every function.
pub fn run(module: &mut Module, lacks: &Lacks, cx: &mut Context) -> Changed {
    let options = lacks.arithmetic;
    if !options.any() {
        return Changed::NONE;
    }
    let buffers = &mut cx.buffers.legalize;
    if buffers.options != options || buffers.helpers.len() > KEPT {
        buffers.helpers.clear();
    }
    buffers.options = options;
    buffers.module += 1;
    let (relaxed, next) = (module.relaxed_floats, module.funcs.len());
    let mut pass = Pass { options, relaxed, made: Vec::new(), next, buffers };
    let mut changed = false;
    for func in module.funcs.keys() {
        changed |= pass.function(&mut module.funcs[func]);
    }
    for helper in pass.made {
        module.funcs.push(helper);
    }
    Changed::insts_if(changed)
}

/// What is done about an instruction.
enum How {
    /// Nothing.
    Keep,
    /// These ops in its place.
    Here,
    /// A call of a function of them.
    Call,
}

struct Pass<'a> {
    options: Options,
    /// The host's rules for floats are the module's.
    relaxed: bool,
    /// The helpers that the module needs, to be added behind its functions.
    made: Vec<Function>,
    /// How many functions the module had.
    next: usize,
    buffers: &'a mut Buffers,
}

/// The op of [`Shape`] that stands for flushing alone.
const FLUSH: Op = Op::Freeze;

impl Pass<'_> {
    fn function(&mut self, f: &mut Function) -> bool {
        // Most functions of most modules have something, but some have nothing.
        if !f.insts.values().any(concerns) {
            return false;
        }
        self.buffers.facts.clear(f.values.len());
        self.buffers.replaced.reset(f);
        let mut changed = self.options.flushes && leave_flushing(f);
        self.mark_wanted(f);
        for i in 0..f.layout.len() {
            let block = f.layout[i];
            changed |= self.block(f, block);
        }
        self.buffers.replaced.apply(f);
        changed
    }

    /// Notes which values instructions want flushed.
    fn mark_wanted(&mut self, f: &Function) {
        self.buffers.wanted.clear();
        self.buffers.flushed.clear();
        if !self.options.rules && !self.options.wide_rules {
            return;
        }
        for (inst, data) in f.insts.iter() {
            if data.flags.ftz() && self.lacks_rules(f, inst) {
                self.buffers.wanted.resize(f.values.len(), false);
                self.buffers.flushed.resize(f.values.len(), None);
                f.args(inst).iter().for_each(|v| self.buffers.wanted[v.index()] = true);
            }
        }
    }

    /// Whether the host does not know what the flags and the op ask for.
    fn lacks_rules(&self, f: &Function, inst: Inst) -> bool {
        let mut values = f.args(inst).iter().chain(f.results(inst));
        self.options.rules || self.options.wide_rules && values.any(|&v| f.ty(v).kind().bits() == 64)
    }

    fn wants(&self, f: &Function, v: Value) -> bool {
        self.buffers.wanted.get(v.index()).copied().unwrap_or(false)
            && f.ty(v).kind().is_float()
            && !self.buffers.facts.of(v).has(Facts::FLUSHED)
    }

    fn block(&mut self, f: &mut Function, block: Block) -> bool {
        let insts = std::mem::take(&mut f.blocks[block].insts);
        f.blocks[block].insts.reserve(insts.len() + insts.len() / 4);
        let mut changed = false;
        let params: SmallVec<[Value; 4]> = f.params(block).into();
        for v in params {
            if self.wants(f, v) {
                changed = true;
                let mut b = Builder::new(f, block);
                self.flush(&mut b, v);
            }
        }
        for inst in insts {
            let float = f.result(inst).filter(|&v| f.ty(v).kind().is_float());
            let facts = float.map_or(Facts::NONE, |v| self.buffers.facts.result(f, inst, v));
            changed |= self.inst(f, block, inst);
            if let Some(v) = float {
                self.buffers.facts.set(v, facts);
                if self.wants(f, v) {
                    changed = true;
                    let mut b = Builder::new(f, block);
                    b.set_guest(b.func.insts[inst].guest);
                    self.flush(&mut b, v);
                }
            }
        }
        changed
    }

    /// The flushed form of `v`: made behind its definition, so that it serves all uses.
    fn flush(&mut self, b: &mut Builder, v: Value) -> Value {
        if self.buffers.facts.of(v).has(Facts::FLUSHED) {
            return v;
        }
        if let Some(Some(known)) = self.buffers.flushed.get(v.index()) {
            return *known;
        }
        let ty = b.func.ty(v);
        let made = match b.func.const_bits(v) {
            Some(mut bits) => {
                bits.0.iter_mut().for_each(|lane| *lane = float::flushed_bits(ty.kind(), *lane));
                b.constant(ty, bits)
            }
            None => {
                let shape = Shape { op: FLUSH, flags: Flags::NONE, imm: Imm::None, ty, of: ty };
                let helper = self.helper(&shape, &[ty]);
                b.call_pure(helper, &[v], ty)
            }
        };
        self.buffers.facts.set(made, self.buffers.facts.of(v).or(Facts::FLUSHED));
        if let Some(slot) = self.buffers.flushed.get_mut(v.index()) {
            *slot = Some(made);
        }
        made
    }

    /// Appends `inst`, or what it becomes. Whether that is another.
    fn inst(&mut self, f: &mut Function, block: Block, inst: Inst) -> bool {
        let op = f.insts[inst].op;
        if !concerns(&f.insts[inst]) {
            f.blocks[block].insts.push(inst);
            return false;
        }
        let Some(result) = f.result(inst) else {
            f.blocks[block].insts.push(inst);
            return false;
        };
        let mut b = Builder::new(f, block);
        b.set_guest(b.func.insts[inst].guest);
        let mut changed = false;
        let flags = b.func.insts[inst].flags;
        let rules = self.lacks_rules(b.func, inst);
        if flags.ftz() && rules {
            changed = true;
            for i in 0..b.func.args(inst).len() {
                let v = b.func.args(inst)[i];
                if b.func.ty(v).kind().is_float() {
                    let flushed = self.flush(&mut b, v);
                    let Function { insts, pool, .. } = &mut *b.func;
                    insts[inst].args.as_mut_slice(pool)[i] = flushed;
                }
            }
        }
        let ty = b.func.ty(result);
        let of = shape_type(b.func, inst).unwrap_or(ty);
        let mut shape = Shape { op, flags, imm: b.func.insts[inst].imm, ty, of };
        let (flush, saturate) = match rules {
            true => self.finish(b.func, inst, &mut shape),
            false => (false, false),
        };
        changed |= shape.flags != flags;
        b.func.insts[inst].flags = shape.flags;
        let how = {
            let c = Code { b: &mut b, options: Options { rules, ..self.options } };
            how(&c, &shape, c.b.func.args(inst), self.relaxed)
        };
        changed |= !matches!(how, How::Keep) || flush || saturate;
        if !changed {
            b.func.blocks[block].insts.push(inst);
            return false;
        }
        let args: SmallVec<[Value; 4]> = b.func.args(inst).into();
        if !(flush || saturate) {
            self.place(&mut b, inst, how, &shape, &args);
            return true;
        }
        // The op makes a value of its own, and the result is what is left of that.
        let raw = match how {
            How::Keep => {
                let made = b.inst(shape.op, shape.flags, shape.imm, &args, &[ty]);
                b.func.result(made)
            }
            How::Here => expand(&mut Code { b: &mut b, options: self.options }, &shape, &args),
            How::Call => {
                let helper = self.helper_of(b.func, &shape, &args);
                Some(b.call_pure(helper, &args, ty))
            }
        };
        // What has no expansion is left for the back end to refuse.
        let Some(raw) = raw else {
            b.func.insts[inst].flags = flags;
            b.func.blocks[block].insts.push(inst);
            return changed;
        };
        let finish = Shape {
            op: if saturate { Op::Fsat } else { FLUSH },
            flags: if saturate && flush { Flags::NONE.with_ftz() } else { Flags::NONE },
            imm: Imm::None,
            ty,
            of: ty,
        };
        if saturate && self.relaxed {
            edit::rewrite(b.func, inst, Op::Fsat, Flags::NONE, Imm::None, &[raw]);
            b.func.blocks[block].insts.push(inst);
        } else {
            self.place(&mut b, inst, How::Call, &finish, &[raw]);
        }
        true
    }

    /// Takes from the flags what needs not be said of these operands, and what is done to the result: whether that is
    /// flushed, and clamped.
    fn finish(&self, f: &Function, inst: Inst, shape: &mut Shape) -> (bool, bool) {
        let args = f.args(inst);
        let of = |i: usize| args.get(i).map_or(Facts::NONE, |&v| self.buffers.facts.of(v));
        let flags = shape.flags;
        let kind = shape.ty.kind();
        // Dot products flush and clamp on their way.
        if is_dot(shape.op) && !self.relaxed {
            if flags.zero_wins() && of(0).and(of(1)).has(Facts::FINITE) {
                shape.flags = flags.without_zero_wins();
            }
            return (false, false);
        }
        let rounds = kind.is_float() && shape.op != Op::Fsat;
        let may_be_small = match shape.op {
            Op::Fmin | Op::Fmax | Op::Floor | Op::Ceil | Op::Trunc | Op::RoundEven | Op::Sqrt => false,
            Op::S2f | Op::U2f | Op::FfrexpMant => false,
            Op::F2f => kind.bits() < shape.of.kind().bits(),
            _ => true,
        };
        let flush = flags.ftz() && rounds && may_be_small;
        let clamps = flags.sat() || shape.op == Op::Fsat;
        let saturate = clamps && rounds;
        let mut left = flags.without_ftz().without_sat();
        if flags.zero_wins() && of(0).and(of(1)).has(Facts::FINITE) {
            left = left.without_zero_wins();
        }
        if matches!(shape.op, Op::Fmin | Op::Fmax) {
            left = match (of(0).has(Facts::NUMBER), of(1).has(Facts::NUMBER), flags.nan()) {
                (true, true, _) => left.with_nan(NanMode::Second),
                // Of a number and a NaN the number is the first operand, or the second.
                (true, false, NanMode::Other | NanMode::First) => left.with_nan(NanMode::First),
                (false, true, NanMode::Other | NanMode::Second) => left.with_nan(NanMode::Second),
                _ => left,
            };
        }
        shape.flags = left;
        (flush, saturate)
    }

    /// Makes `inst` what `shape` becomes for `args`, its result being the last value of it.
    fn place(&mut self, b: &mut Builder, inst: Inst, how: How, shape: &Shape, args: &[Value]) {
        let block = b.block();
        match how {
            How::Keep => {
                edit::rewrite(b.func, inst, shape.op, shape.flags, shape.imm, args);
                b.func.blocks[block].insts.push(inst);
            }
            How::Call => {
                let helper = self.helper_of(b.func, shape, args);
                edit::rewrite(b.func, inst, Op::CallPure, Flags::NONE, Imm::Func(helper), args);
                b.func.blocks[block].insts.push(inst);
            }
            How::Here => {
                let before = b.func.blocks[block].insts.len();
                let mut c = Code { b, options: self.options };
                let made = expand(&mut c, shape, args);
                // Nothing may have been appended, where the op is one of its operands.
                let last = b.func.blocks[block].insts.get(before..).and_then(<[Inst]>::last).copied();
                match (made, last) {
                    // The last of the ops takes the place of the instruction.
                    (Some(v), Some(last)) if b.func.result(last) == Some(v) => {
                        b.func.blocks[block].insts.pop();
                        let data = &b.func.insts[last];
                        let (op, flags, imm) = (data.op, data.flags, data.imm);
                        let args: SmallVec<[Value; 4]> = b.func.args(last).into();
                        edit::rewrite(b.func, inst, op, flags, imm, &args);
                        b.func.blocks[block].insts.push(inst);
                    }
                    (Some(v), _) => {
                        if let Some(old) = b.func.result(inst) {
                            self.buffers.replaced.set(b.func, old, v);
                        }
                    }
                    // What has no expansion is left for the back end to refuse.
                    (None, _) => b.func.blocks[block].insts.push(inst),
                }
            }
        }
    }

    fn helper_of(&mut self, f: &Function, shape: &Shape, args: &[Value]) -> Func {
        let types: SmallVec<[Type; 4]> = args.iter().map(|&v| f.ty(v)).collect();
        self.helper(shape, &types)
    }

    /// The function that does what a shape says.
    fn helper(&mut self, shape: &Shape, types: &[Type]) -> Func {
        let func = Func::new(self.next + self.made.len());
        let Buffers { helpers, module, .. } = &mut *self.buffers;
        match helpers.get_mut(shape) {
            Some(known) if known.module == *module => return known.func,
            Some(known) => {
                (known.module, known.func) = (*module, func);
                self.made.push(known.function.clone());
            }
            None => {
                let function = helper(shape, types, self.options);
                self.made.push(function.clone());
                helpers.insert(shape.clone(), Helper { function, module: *module, func });
            }
        }
        func
    }
}

/// Takes the flag that asks for flushed denormals from ops on 32-bit floats alone; whether there was one.
fn leave_flushing(f: &mut Function) -> bool {
    let mut changed = false;
    for inst in f.insts.keys() {
        let types = || f.args(inst).iter().chain(f.results(inst)).map(|&v| f.ty(v).kind());
        if f.insts[inst].flags.ftz() && types().all(|kind| !kind.is_float() || kind == Kind::F32) {
            f.insts[inst].flags = f.insts[inst].flags.without_ftz();
            changed = true;
        }
    }
    changed
}

/// A function of what a shape becomes.
fn helper(shape: &Shape, types: &[Type], options: Options) -> Function {
    let name = match shape.op {
        FLUSH => "flush",
        Op::Fsat if shape.flags.ftz() => "flush_fsat",
        op => op.info().name,
    };
    let flags = if shape.op == Op::Fsat { Flags::NONE } else { shape.flags };
    let mut name = format!("{name}{flags}");
    if let Imm::Format(format) = shape.imm {
        name.push_str(&format!("_e{}m{}", format.exp, format.mant));
    }
    name.push_str(&format!("_{}", shape.of));
    if shape.ty != shape.of && shape.ty.kind() != Kind::Bool && !is_dot(shape.op) {
        name.push_str(&format!("_{}", shape.ty));
    }
    let mut f = Function::new(name.replace('.', "_"));
    f.returns = vec![shape.ty];
    let block = f.add_block();
    let params: SmallVec<[Value; 4]> = types.iter().map(|&ty| f.add_param(block, ty)).collect();
    let mut b = Builder::new(&mut f, block);
    let made = expand(&mut Code { b: &mut b, options }, shape, &params);
    // Verified, an op has the operands and types that it needs, and `how` names no others.
    let made = made.unwrap_or_else(|| b.constant(shape.ty, Bits::default()));
    b.ret(&[made]);
    f
}

pub(crate) fn is_dot(op: Op) -> bool {
    matches!(op, Op::Fdot2 | Op::Fdot3 | Op::Fdot4)
}

/// The type that tells shapes of an op apart beside that of the result.
fn shape_type(f: &Function, inst: Inst) -> Option<Type> {
    f.args(inst).first().map(|&v| f.ty(v))
}

/// Whether an instruction may ask for what a host lacks.
fn concerns(data: &InstData) -> bool {
    let interest = INTEREST[data.op as usize];
    interest & ANY != 0 && (interest & FLAGGED == 0 || data.flags != Flags::NONE)
}

/// The op may be of interest.
const ANY: u8 = 1;
/// Only with flags.
const FLAGGED: u8 = 2;
