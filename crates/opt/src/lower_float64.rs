//! 64-bit floats as their bits, for hosts without them.
//!
//! ```text
//! v2 : f64 = load storage @b, v0        =>   v2 : i64 = load storage @b, v0
//! v3 : f64 = fneg v2                         v4 : i64 = const 0x8000000000000000
//!                                            v3 : i64 = xor v2, v4
//! v5 : bool = fcmp.olt v2, v3                v5 : bool = call.pure @fcmp_olt_bits v2, v3
//! ```
//!
//! [`lower_floats`](crate::lower_floats) has made integers of the arithmetic before, with casts at both ends; what is left are
//! moves, signs and compares. Without 64-bit integers either, [`lower_int64`](crate::lower_int64) goes on from here.
//!
//! A module with anything else of 64-bit floats (variables, sums over subgroups) is left as it is, for the back end to refuse.

use crate::edit::Replaced;
use crate::legalize::Code;
use crate::{Changed, Lacks};
use xenoglot_ir::entity::EntityRef;
use xenoglot_ir::imm::ImmKind;
use xenoglot_ir::{Builder, Func, Function, Inst, Kind, Module, Op, Type, Value};

const SIGN: u64 = 1 << 63;
const INFINITY: u64 = 0x7ff << 52;

/// Lowers the 64-bit floats of a module.
pub fn run(module: &mut Module, lacks: &Lacks) -> Changed {
    let has_any = |f: &Function| {
        f.values.values().any(|data| is_double(data.ty)) || f.slots.values().any(|slot| is_double(slot.ty))
    };
    if !lacks.floats.float64 || !module.funcs.values().any(has_any) {
        return Changed::NONE;
    }
    if module.vars.values().any(|var| is_double(var.ty)) || !module.funcs.values().all(is_lowered) {
        return Changed::NONE;
    }
    let mut compares = Compares { next: module.funcs.len(), known: Vec::new(), made: Vec::new() };
    for f in module.funcs.values_mut() {
        function(f, &mut compares);
    }
    for made in compares.made {
        module.funcs.push(made);
    }
    Changed::insts_if(true)
}

fn is_double(ty: Type) -> bool {
    ty.kind() == Kind::F64
}

/// What a type becomes.
fn bits_of(ty: Type) -> Type {
    if is_double(ty) { ty.with_kind(Kind::I64) } else { ty }
}

fn is_lowered(f: &Function) -> bool {
    let double = |v: &Value| is_double(f.ty(*v));
    f.layout.iter().flat_map(|&block| &f.blocks[block].insts).all(|&inst| {
        if !f.args(inst).iter().chain(f.results(inst)).any(double) {
            return true;
        }
        let data = &f.insts[inst];
        match data.op {
            Op::Const | Op::Undef | Op::Freeze | Op::Select | Op::Bitcast | Op::Fneg | Op::Fabs => true,
            Op::Splat | Op::Build | Op::Extract | Op::Insert | Op::Shuffle => true,
            Op::SlotGet | Op::SlotSet | Op::Load | Op::Store => true,
            Op::SgShuffle | Op::SgShuffleXor | Op::SgShuffleUp | Op::SgShuffleDown | Op::SgReadFirst => true,
            op => is_compare(op) || op.info().imm == ImmKind::Func,
        }
    })
}

fn is_compare(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        FcmpOeq | FcmpOne | FcmpOlt | FcmpOle | FcmpUeq | FcmpUne | FcmpUlt | FcmpUle | FcmpOrd | FcmpUno
    )
}

/// The functions that compare.
struct Compares {
    next: usize,
    known: Vec<(Op, Type, Func)>,
    made: Vec<Function>,
}

impl Compares {
    fn call(&mut self, b: &mut Builder, op: Op, x: Value, y: Value) -> Value {
        let ty = b.func.ty(x);
        let known = self.known.iter().find(|k| k.0 == op && k.1 == ty).map(|k| k.2);
        let func = known.unwrap_or_else(|| {
            let func = Func::new(self.next + self.made.len());
            self.made.push(compare_function(op, ty));
            self.known.push((op, ty, func));
            func
        });
        b.call_pure(func, &[x, y], ty.with_kind(Kind::Bool))
    }
}

fn function(f: &mut Function, compares: &mut Compares) {
    let old: Vec<Type> = f.values.values().map(|data| data.ty).collect();
    f.values.values_mut().for_each(|data| data.ty = bits_of(data.ty));
    f.returns.iter_mut().for_each(|ty| *ty = bits_of(*ty));
    f.slots.values_mut().for_each(|slot| slot.ty = bits_of(slot.ty));
    let mut replaced = Replaced::default();
    replaced.reset(f);
    for i in 0..f.layout.len() {
        let block = f.layout[i];
        for inst in std::mem::take(&mut f.blocks[block].insts) {
            let double = f.args(inst).first().is_some_and(|&v| is_double(old[v.index()]));
            let mut b = Builder::new(f, block);
            b.set_guest(b.func.insts[inst].guest);
            match (made(&mut b, inst, double, compares), f.result(inst)) {
                (Some(made), Some(before)) => replaced.set(f, before, made),
                _ => f.blocks[block].insts.push(inst),
            }
        }
    }
    replaced.apply(f);
}

/// What an instruction's result becomes; `None` where the types alone change.
fn made(b: &mut Builder, inst: Inst, double: bool, compares: &mut Compares) -> Option<Value> {
    let op = b.func.insts[inst].op;
    let result = b.func.result(inst)?;
    let &[x, ref rest @ ..] = b.func.args(inst) else { return None };
    match (op, rest) {
        (Op::Bitcast, _) => (b.func.ty(x) == b.func.ty(result)).then_some(x),
        (Op::Fneg, _) if double => Some(Code::plain(b).op_number(Op::Xor, x, SIGN)),
        (Op::Fabs, _) if double => Some(Code::plain(b).op_number(Op::And, x, SIGN - 1)),
        (_, &[y]) if double && is_compare(op) => {
            // Denormals have been flushed for those that ask for it.
            Some(compares.call(b, op, x, y))
        }
        _ => None,
    }
}

fn compare_function(op: Op, ty: Type) -> Function {
    let mut f = Function::new(format!("{}_bits_{ty}", op.info().name.replace('.', "_")));
    f.returns = vec![ty.with_kind(Kind::Bool)];
    let block = f.add_block();
    let [x, y] = [0; 2].map(|_| f.add_param(block, ty));
    let mut b = Builder::new(&mut f, block);
    let made = compare(&mut Code::plain(&mut b), op, x, y);
    b.ret(&[made]);
    f
}

fn compare(c: &mut Code, op: Op, x: Value, y: Value) -> Value {
    let [x_size, y_size] = [x, y].map(|v| c.op_number(Op::And, v, SIGN - 1));
    let infinity = c.number(c.ty(x), INFINITY);
    let [x_number, y_number] = [x_size, y_size].map(|v| c.op(Op::IcmpUle, &[v, infinity]));
    let ordered = c.op(Op::And, &[x_number, y_number]);
    // Of two numbers; zeros of either sign are equal.
    let equal = |c: &mut Code| {
        let same = c.op(Op::IcmpEq, &[x, y]);
        let sizes = c.op(Op::Or, &[x_size, y_size]);
        let zeros = c.op_number(Op::IcmpEq, sizes, 0);
        c.op(Op::Or, &[same, zeros])
    };
    let less = |c: &mut Code| {
        let [a, b] = [x, y].map(|v| {
            let signs = c.op_number(Op::Sshr, v, 63);
            let flip = c.op_number(Op::And, signs, SIGN - 1);
            c.op(Op::Xor, &[v, flip])
        });
        c.op(Op::IcmpSlt, &[a, b])
    };
    let of_numbers = match op {
        Op::FcmpOrd | Op::FcmpUno => None,
        Op::FcmpOeq | Op::FcmpUeq => Some(equal(c)),
        Op::FcmpOne | Op::FcmpUne => {
            let equal = equal(c);
            Some(c.not(equal))
        }
        Op::FcmpOlt | Op::FcmpUlt => {
            let (less, equal) = (less(c), equal(c));
            let differ = c.not(equal);
            Some(c.op(Op::And, &[less, differ]))
        }
        _ => {
            let (less, equal) = (less(c), equal(c));
            Some(c.op(Op::Or, &[less, equal]))
        }
    };
    let is_unordered = matches!(op, Op::FcmpUeq | Op::FcmpUne | Op::FcmpUlt | Op::FcmpUle | Op::FcmpUno);
    let unordered = c.not(ordered);
    match (of_numbers, is_unordered) {
        (None, false) => ordered,
        (None, true) => unordered,
        (Some(v), false) => c.op(Op::And, &[v, ordered]),
        (Some(v), true) => c.op(Op::Or, &[v, unordered]),
    }
}
