//! Whether a rule is worth asking: most instructions are left alone after a look at small tables and at what defines
//! their operands.
//!
//! A rule of an op fires only on operands of certain definitions: constants, other conversions, negations. Each op that
//! concerns anybody as a definition has a bit, and each op with rules has the bits of those that concern it. Nothing here
//! has to be exact, but what a rule fires on has to concern it; debug builds check.

use xenoglot_ir::fold::Fold;
use xenoglot_ir::func::InstData;
use xenoglot_ir::op::{OPS, Sig};
use xenoglot_ir::{Function, Imm, Kind, Op, Value};

const CONST: u16 = 1 << 0;
const NOT: u16 = 1 << 1;
/// Compares, which `not` turns around.
const COMPARE: u16 = 1 << 2;
const INEG: u16 = 1 << 3;
/// `fneg` and `fabs`.
const FSIGN: u16 = 1 << 4;
/// Integer conversions.
const RESIZE: u16 = 1 << 5;
const SELECT: u16 = 1 << 6;
/// As an interest: two equal operands next to each other.
const EQUAL: u16 = 1 << 7;
/// As an interest: whatever the operands are.
const ALWAYS: u16 = 1 << 8;
/// As an interest: see [`pair`].
const PAIR: u16 = 1 << 9;
/// As an interest: the op itself as the first operand, constants as the second ones.
const JOIN: u16 = 1 << 10;

/// What an op is to the rules of its users.
static IS: [u16; OPS.len()] = {
    let mut table = [0; OPS.len()];
    let mut i = 0;
    while i < OPS.len() {
        table[i] = match OPS[i].op {
            Op::Const => CONST,
            Op::Not => NOT,
            Op::FcmpOeq | Op::FcmpOne | Op::FcmpUeq | Op::FcmpUne | Op::FcmpOrd | Op::FcmpUno => COMPARE,
            Op::FcmpOlt | Op::FcmpOle | Op::FcmpUlt | Op::FcmpUle => COMPARE,
            Op::IcmpEq | Op::IcmpNe | Op::IcmpUlt | Op::IcmpUle | Op::IcmpSlt | Op::IcmpSle => COMPARE,
            Op::Ineg => INEG,
            Op::Fneg | Op::Fabs => FSIGN,
            Op::Zext | Op::Sext | Op::TruncInt => RESIZE,
            Op::Select => SELECT,
            _ => 0,
        };
        i += 1;
    }
    table
};

/// What the rules of an op look for; 0 where there are none.
static WANTS: [u16; OPS.len()] = {
    let mut table = [0; OPS.len()];
    let mut i = 0;
    while i < OPS.len() {
        let (op, traits) = (OPS[i].op, OPS[i].traits);
        let rules = match op {
            Op::Splat | Op::Build | Op::Extract | Op::Insert | Op::Shuffle | Op::Bitcast | Op::Fsat => ALWAYS,
            Op::Not => NOT | COMPARE,
            Op::Ineg => INEG,
            Op::Zext | Op::Sext | Op::TruncInt => RESIZE,
            Op::And | Op::Or | Op::Xor => PAIR | EQUAL | JOIN,
            Op::Imul => PAIR | JOIN,
            Op::Iadd => PAIR | INEG | JOIN,
            Op::Isub => PAIR | INEG | EQUAL,
            Op::Imin | Op::Imax | Op::Umin | Op::Umax => PAIR | EQUAL,
            Op::IcmpEq | Op::IcmpNe => PAIR | EQUAL | RESIZE | SELECT,
            Op::IcmpUlt | Op::IcmpUle | Op::IcmpSlt | Op::IcmpSle => PAIR | EQUAL,
            Op::Umulh | Op::Udiv | Op::Sdiv | Op::Urem | Op::Srem => PAIR,
            Op::Shl | Op::Ushr | Op::Sshr | Op::Rotl => PAIR,
            Op::Select => NOT | EQUAL,
            Op::Fneg | Op::Fabs | Op::Fadd | Op::Fsub => FSIGN,
            Op::Fmul | Op::Fma => FSIGN | EQUAL,
            Op::Fmin | Op::Fmax | Op::Fdot2 | Op::Fdot3 | Op::Fdot4 => EQUAL,
            _ => 0,
        };
        // Whatever folds does so on constants, and commutative ops have them as the second operand.
        let consts = !matches!(OPS[i].fold, Fold::None) || traits.commutes || rules & !ALWAYS != 0;
        if traits.pure && !traits.convergent && !matches!(OPS[i].sig, Sig::Open) {
            table[i] = if consts { rules | CONST } else { rules };
        }
        i += 1;
    }
    table
};

/// Whether some rule may concern an `op` on these operands.
#[inline]
pub(super) fn concerns(f: &Function, op: Op, args: &[Value]) -> bool {
    let wants = WANTS[op as usize];
    if wants == 0 {
        return false;
    }
    match *args {
        [a, b] if wants & PAIR != 0 => pair(f, op, wants, a, b),
        [] => false,
        _ => any(f, wants, args),
    }
}

fn any(f: &Function, wants: u16, args: &[Value]) -> bool {
    let mut is = wants & ALWAYS;
    for &v in args {
        if let Some(def) = f.def_inst(v) {
            is |= IS[f.insts[def].op as usize];
        }
    }
    if args.windows(2).any(|pair| pair[0] == pair[1]) {
        is |= EQUAL;
    }
    is & wants != 0
}

/// An integer op on two operands: of constants as the second one few concern it.
#[inline]
fn pair(f: &Function, op: Op, wants: u16, a: Value, b: Value) -> bool {
    if a == b && wants & EQUAL != 0 {
        return true;
    }
    let [x, y] = [a, b].map(|v| f.def_inst(v).map(|i| &f.insts[i]));
    let is = x.map_or(0, |d| IS[d.op as usize]);
    let Some((Op::Const, Imm::Const(c))) = y.map(|d| (d.op, d.imm)) else {
        return (is | y.map_or(0, |d| IS[d.op as usize])) & wants & (CONST | INEG) != 0;
    };
    let ty = f.ty(b);
    let joins =
        |d: &InstData| d.op == op && matches!(*d.args.as_slice(&f.pool), [_, c] if f.const_bits(c).is_some());
    if is & wants != 0 || wants & JOIN != 0 && x.is_some_and(joins) || !ty.is_scalar() {
        return true;
    }
    let bits = f.consts[c].lane(0);
    match op {
        Op::IcmpEq | Op::IcmpNe => ty.kind() == Kind::Bool,
        Op::IcmpUlt | Op::IcmpUle | Op::IcmpSlt | Op::IcmpSle => false,
        Op::Imin | Op::Imax | Op::Umin | Op::Umax => false,
        Op::Shl | Op::Ushr | Op::Sshr | Op::Rotl => bits == 0 || bits >= u64::from(ty.kind().bits()),
        Op::Imul => bits & bits.wrapping_sub(1) == 0,
        Op::Udiv | Op::Sdiv | Op::Urem | Op::Srem => bits <= 1,
        _ => bits == 0 || bits == ty.kind().mask(),
    }
}
