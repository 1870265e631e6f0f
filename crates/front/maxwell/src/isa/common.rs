//! Operands and modifiers that rows of several families share.

use super::spec::{
    Choice, Field, Kind, ModSpec, OperandSpec, PartChoice, Place, RESERVED, Ty, Values, f, flag, list, m, o,
};
use crate::inst::Part;
use crate::inst::Role::{self, DstPred, DstPred2};
use crate::modifier::{AtomType, BoolOp, Denorm, FloatCompare, IntCompare, MemSize, Mod, Rounding};

/// A list whose values after the first are a name with a number, all reserved.
macro_rules! numbered {
    ($first:expr, $name:literal; $($number:literal)*) => {
        [($first, 0), $((concat!($name, $number), $crate::isa::RESERVED)),*]
    };
}
pub(super) use numbered;

/// The destination in bits 0 to 7.
pub(super) const DST: OperandSpec = o(Role::Dst, Kind::Reg(0));
/// The first source in bits 8 to 15.
pub(super) const A: OperandSpec = o(Role::A, Kind::Reg(8));
/// The second source as a register in bits 20 to 27.
pub(super) const B: OperandSpec = o(Role::B, Kind::Reg(20));
/// The second source, an integer.
pub(super) const BI: OperandSpec = o(Role::B, Kind::B(Ty::Int));
/// The second source, a single.
pub(super) const BF: OperandSpec = o(Role::B, Kind::B(Ty::F32));
/// The second source, a double.
pub(super) const BD: OperandSpec = o(Role::B, Kind::B(Ty::F64));
/// The third source in bits 39 to 46.
pub(super) const C: OperandSpec = o(Role::C, Kind::C);
/// The source predicate in bits 39 to 42.
pub(super) const PRED: OperandSpec = o(Role::Pred, Kind::Pred(39)).inv(42);
/// The predicate a comparison writes.
pub(super) const DST_PRED: OperandSpec = o(DstPred, Kind::Pred(3));
/// The second predicate a comparison writes.
pub(super) const DST_PRED2: OperandSpec = o(DstPred2, Kind::Pred(0));
/// The predicate in bits 48 to 50 that LOP, LEA and their like write, left out of the text if PT.
pub(super) const DST_PRED_48: OperandSpec = o(DstPred, Kind::Pred(48)).hide(7);

/// `.CC` at bit 47.
pub(super) const CC: ModSpec = cc(47);

pub(super) const fn cc(bit: u8) -> ModSpec {
    flag(Mod::Cc, bit, ".CC").at(Place::Dst)
}

pub(super) const fn sat(bit: u8) -> ModSpec {
    flag(Mod::Sat, bit, ".SAT")
}

pub(super) const fn x(bit: u8) -> ModSpec {
    flag(Mod::X, bit, ".X")
}

/// `.FTZ` alone.
pub(super) const fn ftz(bit: u8) -> ModSpec {
    flag(Mod::Denorm, bit, ".FTZ")
}

/// `.FTZ` or `.FMZ`.
pub(super) const fn fmz(lo: u8) -> ModSpec {
    const FMZ: &[Choice] = &[
        ("", Denorm::Keep as u8),
        (".FTZ", Denorm::Ftz as u8),
        (".FMZ", Denorm::Fmz as u8),
        (".INVALIDFMZ3", RESERVED),
    ];
    list(Mod::Denorm, f(lo, 2), FMZ)
}

pub(super) const ROUNDINGS: &[Choice] = &[
    ("", Rounding::Rn as u8),
    (".RM", Rounding::Rm as u8),
    (".RP", Rounding::Rp as u8),
    (".RZ", Rounding::Rz as u8),
];

pub(super) const fn rounding(lo: u8) -> ModSpec {
    list(Mod::Rounding, f(lo, 2), ROUNDINGS)
}

/// The sixteen comparisons of floats.
pub(super) const FLOAT_COMPARES: [Choice; 16] = {
    use FloatCompare::*;
    [
        (".F", F as u8),
        (".LT", Lt as u8),
        (".EQ", Eq as u8),
        (".LE", Le as u8),
        (".GT", Gt as u8),
        (".NE", Ne as u8),
        (".GE", Ge as u8),
        (".NUM", Num as u8),
        (".NAN", Nan as u8),
        (".LTU", Ltu as u8),
        (".EQU", Equ as u8),
        (".LEU", Leu as u8),
        (".GTU", Gtu as u8),
        (".NEU", Neu as u8),
        (".GEU", Geu as u8),
        (".T", T as u8),
    ]
};

pub(super) const fn float_compare(field: Field) -> ModSpec {
    const LIST: &[Choice] = &FLOAT_COMPARES;
    list(Mod::FloatCompare, field, LIST)
}

/// The eight comparisons of integers.
pub(super) const fn int_compare(field: Field) -> ModSpec {
    use IntCompare::*;
    const LIST: &[Choice] = &[
        (".F", F as u8),
        (".LT", Lt as u8),
        (".EQ", Eq as u8),
        (".LE", Le as u8),
        (".GT", Gt as u8),
        (".NE", Ne as u8),
        (".GE", Ge as u8),
        (".T", T as u8),
    ];
    list(Mod::IntCompare, field, LIST)
}

pub(super) const fn bool_op(which: Mod, lo: u8) -> ModSpec {
    const LIST: &[Choice] = &[
        (".AND", BoolOp::And as u8),
        (".OR", BoolOp::Or as u8),
        (".XOR", BoolOp::Xor as u8),
        (".INVALIDBOP3", RESERVED),
    ];
    list(which, f(lo, 2), LIST)
}

/// `.U32` if the bit is clear.
pub(super) const fn signed(bit: u8) -> ModSpec {
    m(Mod::Signed, f(bit, 1), Values::Clear(".U32"))
}

pub(super) const NO_PARTS: &[PartChoice] = &[];
/// Bytes.
pub(super) const BYTES: &[PartChoice] =
    &[("", Part::B0), (".B1", Part::B1), (".B2", Part::B2), (".B3", Part::B3)];
/// A half by a bit.
pub(super) const HALF: &[&[PartChoice]] = &[&[("", Part::H0), (".H1", Part::H1)]];

/// Sizes of memory accesses, by what the tool calls the last.
const fn sizes(last: Choice) -> [Choice; 8] {
    [
        (".U8", MemSize::U8 as u8),
        (".S8", MemSize::S8 as u8),
        (".U16", MemSize::U16 as u8),
        (".S16", MemSize::S16 as u8),
        ("", MemSize::B32 as u8),
        (".64", MemSize::B64 as u8),
        (".128", MemSize::B128 as u8),
        last,
    ]
}

/// Sizes where the last is a 128-bit load of what all lanes share.
pub(super) const SIZES_U128: &[Choice] = &sizes((".U.128", MemSize::U128 as u8));
/// Sizes where the last is reserved.
pub(super) const SIZES: &[Choice] = &sizes((".INVALIDSIZE7", RESERVED));

/// Types of atomics on global memory.
pub(super) const ATOM_TYPES: &[Choice] = &[
    ("", AtomType::U32 as u8),
    (".S32", AtomType::S32 as u8),
    (".U64", AtomType::U64 as u8),
    (".F32.FTZ.RN", AtomType::F32FtzRn as u8),
    (".F16x2.FTZ.RN", AtomType::F16x2FtzRn as u8),
    (".S64", AtomType::S64 as u8),
    (".INVALIDATOMICSIZE6", RESERVED),
    (".INVALIDATOMICSIZE7", RESERVED),
];
