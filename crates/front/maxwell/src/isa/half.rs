//! Packed halves.

use super::common::*;
use super::form::{Row, row};
use super::spec::{Choice, Kind, ModSpec, OperandSpec, PartChoice, RESERVED, f, flag, list, o};
use crate::inst::{Part, Role};
use crate::modifier::{BoolOp, HalfMerge, Mod};
use crate::opcode::Opcode::*;

/// How the halves of a source are arranged.
const HALVES: &[&[PartChoice]] =
    &[&[("", Part::Full), (".F32", Part::F32), (".H0_H0", Part::H0H0), (".H1_H1", Part::H1H1)]];

const MERGE: ModSpec = {
    const LIST: &[Choice] = &[
        ("", HalfMerge::Full as u8),
        (".F32", HalfMerge::F32 as u8),
        (".MRG_H0", HalfMerge::MrgH0 as u8),
        (".MRG_H1", HalfMerge::MrgH1 as u8),
    ];
    list(Mod::HalfMerge, f(49, 2), LIST)
};

/// `.FTZ` or `.FMZ`, as packed halves name it.
const fn half_fmz(lo: u8) -> ModSpec {
    const LIST: &[Choice] = &[("", 0), (".FTZ", 1), (".FMZ", 2), (".INVALID", RESERVED)];
    list(Mod::Denorm, f(lo, 2), LIST)
}

const HALF_A: OperandSpec = A.part(f(47, 2), HALVES);
/// That of the forms with 32 bits of immediate.
const HALF_A_53: OperandSpec = A.part(f(53, 2), HALVES);
const HALF_B: OperandSpec = B.part(f(28, 2), HALVES);
const HALF_C: OperandSpec = o(Role::C, Kind::Reg(39));
/// The constant, always both of its halves.
const CONST: OperandSpec = o(Role::B, Kind::Const);
/// Two immediates of ten bits.
const IMM: OperandSpec = o(Role::B, Kind::F16x2(f(20, 10), f(30, 9).and(56, 1)));
/// Two whole immediates.
const IMM32: OperandSpec = o(Role::B, Kind::F16x2(f(20, 16), f(36, 16)));

const SET_COMPARE: ModSpec = float_compare(f(35, 4));
const SET_COMPARE_49: ModSpec = float_compare(f(49, 4));
const BOOL: ModSpec = bool_op(Mod::BoolOp, 45);

/// HSET2's has another name for the reserved one.
const SET_BOOL: ModSpec = {
    const LIST: &[Choice] = &[
        (".AND", BoolOp::And as u8),
        (".OR", BoolOp::Or as u8),
        (".XOR", BoolOp::Xor as u8),
        (".???3", RESERVED),
    ];
    list(Mod::BoolOp, f(45, 2), LIST)
};

const fn float_result(bit: u8) -> ModSpec {
    flag(Mod::FloatResult, bit, ".BF")
}

const fn conjunction(bit: u8) -> ModSpec {
    flag(Mod::HAnd, bit, ".H_AND")
}

pub(super) const ROWS: &[Row] = &[
    row(
        Hadd2,
        "0101 1101 0001 0",
        &[MERGE, ftz(39), sat(32)],
        &[DST, HALF_A.neg(43).abs(44), HALF_B.neg(31).abs(30)],
    ),
    row(
        Hadd2,
        "0111 101- 1",
        &[MERGE, ftz(39), sat(52)],
        &[DST, HALF_A.neg(43).abs(44), CONST.neg(56).abs(54)],
    ),
    row(Hadd2, "0111 101- 0", &[MERGE, ftz(39), sat(52)], &[DST, HALF_A.neg(43).abs(44), IMM]),
    row(Hadd2_32i, "0010 110", &[ftz(55), sat(52)], &[DST, HALF_A_53.neg(56), IMM32]),
    row(
        Hmul2,
        "0101 1101 0000 1",
        &[MERGE, half_fmz(39), sat(32)],
        &[DST, HALF_A.abs(44), HALF_B.neg(31).abs(30)],
    ),
    row(Hmul2, "0111 100- 1", &[MERGE, half_fmz(39), sat(52)], &[DST, HALF_A.abs(44), CONST.neg(43).abs(54)]),
    row(Hmul2, "0111 100- 0", &[MERGE, half_fmz(39), sat(52)], &[DST, HALF_A.neg(43).abs(44), IMM]),
    row(Hmul2_32i, "0010 101", &[half_fmz(55), sat(52)], &[DST, HALF_A_53, IMM32]),
    row(
        Hfma2,
        "0101 1101 0000 0",
        &[MERGE, half_fmz(37), sat(32)],
        &[DST, HALF_A, HALF_B.neg(31), HALF_C.neg(30).part(f(35, 2), HALVES)],
    ),
    row(
        Hfma2,
        "0111 0--- 1",
        &[MERGE, half_fmz(57), sat(52)],
        &[DST, HALF_A, CONST.neg(56), HALF_C.neg(51).part(f(53, 2), HALVES)],
    ),
    row(
        Hfma2,
        "0111 0--- 0",
        &[MERGE, half_fmz(57), sat(52)],
        &[DST, HALF_A, IMM, HALF_C.neg(51).part(f(53, 2), HALVES)],
    ),
    row(
        Hfma2,
        "0110 0--- 1",
        &[MERGE, fmz(57), sat(52)],
        &[
            DST,
            HALF_A,
            o(Role::B, Kind::Reg(39)).neg(56).part(f(53, 2), HALVES),
            o(Role::C, Kind::Const).neg(51),
        ],
    ),
    row(Hfma2_32i, "0010 100", &[fmz(55)], &[DST, HALF_A_53, IMM32, o(Role::C, Kind::Reg(0)).neg(52)]),
    row(
        Hset2,
        "0101 1101 0001 1",
        &[float_result(49), SET_COMPARE, ftz(50), SET_BOOL],
        &[DST, HALF_A.neg(43).abs(44), HALF_B.neg(31).abs(30), PRED],
    ),
    row(
        Hset2,
        "0111 110- 1",
        &[float_result(53), SET_COMPARE_49, ftz(54), SET_BOOL],
        &[DST, HALF_A.neg(43).abs(44), CONST.neg(56), PRED],
    ),
    row(
        Hset2,
        "0111 110- 0",
        &[float_result(53), SET_COMPARE_49, ftz(54), SET_BOOL],
        &[DST, HALF_A.neg(43).abs(44), IMM, PRED],
    ),
    row(
        Hsetp2,
        "0101 1101 0010 0",
        &[SET_COMPARE, ftz(6), conjunction(49), BOOL],
        &[DST_PRED, DST_PRED2, HALF_A.neg(43).abs(44), HALF_B.neg(31).abs(30), PRED],
    ),
    row(
        Hsetp2,
        "0111 111- 1",
        &[SET_COMPARE_49, ftz(6), conjunction(53), BOOL],
        &[DST_PRED, DST_PRED2, HALF_A.neg(43).abs(44), CONST.neg(56).abs(54), PRED],
    ),
    row(
        Hsetp2,
        "0111 111- 0",
        &[SET_COMPARE_49, ftz(6), conjunction(53), BOOL],
        &[DST_PRED, DST_PRED2, HALF_A.neg(43).abs(44), IMM, PRED],
    ),
];
