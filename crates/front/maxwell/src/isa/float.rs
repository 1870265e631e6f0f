//! Singles and doubles.

use super::common::*;
use super::form::{RCI, RCIC, Row, alu, row};
use super::spec::{Choice, Kind, ModSpec, OperandSpec, RESERVED, Style, f, flag, list, o};
use crate::inst::Role;
use crate::modifier::{FloatCompare, Mod, MufuOp, Scale};
use crate::opcode::Opcode::*;

/// `.BF` at bit 52.
const FLOAT_RESULT: ModSpec = flag(Mod::FloatResult, 52, ".BF");
const BOOL: ModSpec = bool_op(Mod::BoolOp, 45);
const COMPARE: ModSpec = float_compare(f(48, 4));

/// FCMP's comparisons: the tool does not print the most frequent.
const FCMP_COMPARE: ModSpec = {
    const LIST: &[Choice] = &{
        let mut list = FLOAT_COMPARES;
        list[FloatCompare::Gt as usize].0 = "";
        list
    };
    list(Mod::FloatCompare, f(48, 4), LIST)
};

const SCALE: ModSpec = {
    const LIST: &[Choice] = &[
        ("", Scale::None as u8),
        (".D2", Scale::D2 as u8),
        (".D4", Scale::D4 as u8),
        (".D8", Scale::D8 as u8),
        (".M8", Scale::M8 as u8),
        (".M4", Scale::M4 as u8),
        (".M2", Scale::M2 as u8),
        (".INVALIDSCALE37", RESERVED),
    ];
    list(Mod::Scale, f(41, 3), LIST)
};

const MUFU_OP: ModSpec = {
    const LIST: &[Choice] = &[
        (".COS", MufuOp::Cos as u8),
        (".SIN", MufuOp::Sin as u8),
        (".EX2", MufuOp::Ex2 as u8),
        (".LG2", MufuOp::Lg2 as u8),
        (".RCP", MufuOp::Rcp as u8),
        (".RSQ", MufuOp::Rsq as u8),
        (".RCP64H", MufuOp::Rcp64h as u8),
        (".RSQ64H", MufuOp::Rsq64h as u8),
        (".SQRT", MufuOp::Sqrt as u8),
        (".INVALIDMUFUOPCODE9", RESERVED),
        (".INVALIDMUFUOPCODEA", RESERVED),
        (".INVALIDMUFUOPCODEB", RESERVED),
        (".INVALIDMUFUOPCODEC", RESERVED),
        (".INVALIDMUFUOPCODED", RESERVED),
        (".INVALIDMUFUOPCODEE", RESERVED),
        (".INVALIDMUFUOPCODEF", RESERVED),
    ];
    list(Mod::MufuOp, f(20, 4), LIST)
};

/// FCHK's check; only `.DIVIDE` exists.
const CHECK: ModSpec = {
    const LIST: &[Choice] = &numbered!(".DIVIDE", ".INVALIDCHKMODE";
        1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
        32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63);
    list(Mod::Operation, f(39, 6), LIST)
};

const IMM32: OperandSpec = o(Role::B, Kind::F32(f(20, 32)));

pub(super) const ROWS: &[Row] = &[
    alu(
        Fadd,
        RCI,
        "100 0101 1",
        &[ftz(44), rounding(39), sat(50), CC],
        &[DST, A.neg(48).abs(46), BF.neg(45).abs(49)],
    ),
    alu(Fmul, RCI, "100 0110 1", &[fmz(44), SCALE, rounding(39), sat(50), CC], &[DST, A, BF.neg(48)]),
    alu(Ffma, RCIC, "001 1", &[fmz(53), rounding(51), sat(50), CC], &[DST, A, BF.neg(48), C.neg(49)]),
    row(Fadd32i, "0000 10", &[ftz(55), cc(52)], &[DST, A.neg(56).abs(54), IMM32.neg(53).abs(57)]),
    row(Fmul32i, "0001 1110", &[fmz(53), sat(55), cc(52)], &[DST, A, IMM32]),
    row(
        Ffma32i,
        "0000 11",
        &[fmz(53), sat(55), cc(52)],
        &[DST, A.neg(56), IMM32, o(Role::C, Kind::Reg(0)).neg(57)],
    ),
    alu(Fmnmx, RCI, "100 0110 0", &[ftz(44), CC], &[DST, A.neg(48).abs(46), BF.neg(45).abs(49), PRED]),
    alu(Fcmp, RCIC, "011 1010", &[FCMP_COMPARE, ftz(47)], &[DST, A, BF, C]),
    alu(
        Fset,
        RCI,
        "000",
        &[FLOAT_RESULT, COMPARE, ftz(55), BOOL, CC],
        &[DST, A.neg(43).abs(54), BF.neg(53).abs(44), PRED],
    ),
    alu(
        Fsetp,
        RCI,
        "011 1011",
        &[COMPARE, ftz(47), BOOL],
        &[DST_PRED, DST_PRED2, A.neg(43).abs(7), BF.neg(6).abs(44), PRED],
    ),
    alu(Fchk, RCI, "100 1000 1", &[CHECK], &[DST_PRED, A.neg(48).abs(46), BF.neg(45).abs(49)]),
    row(Mufu, "0101 0000 1000 0", &[MUFU_OP, sat(50)], &[DST, A.neg(48).abs(46)]),
    alu(
        Rro,
        RCI,
        "100 1001 0",
        &[list(Mod::RroEx2, f(39, 1), &[(".SINCOS", 0), (".EX2", 1)])],
        &[DST, BF.neg(45).abs(49)],
    ),
    row(
        Fswzadd,
        "0101 0000 1111 1",
        &[ftz(44), rounding(39), flag(Mod::Ndv, 38, ".NDV"), CC],
        &[DST, A, B, o(Role::Number, Kind::Imm(f(28, 8))).style(Style::Lanes)],
    ),
    alu(Dadd, RCI, "100 0111 0", &[rounding(39), CC], &[DST, A.neg(48).abs(46), BD.neg(45).abs(49)]),
    alu(Dmul, RCI, "100 1000 0", &[rounding(39), CC], &[DST, A, BD.neg(48)]),
    alu(Dfma, RCIC, "011 0111", &[rounding(50), CC], &[DST, A, BD.neg(48), C.neg(49)]),
    alu(Dmnmx, RCI, "100 0101 0", &[CC], &[DST, A.neg(48).abs(46), BD.neg(45).abs(49), PRED]),
    alu(
        Dset,
        RCI,
        "001 0",
        &[FLOAT_RESULT, COMPARE, BOOL, CC],
        &[DST, A.neg(43).abs(54), BD.neg(53).abs(44), PRED],
    ),
    alu(
        Dsetp,
        RCI,
        "011 1000",
        &[COMPARE, BOOL],
        &[DST_PRED, DST_PRED2, A.neg(43).abs(7), BD.neg(6).abs(44), PRED],
    ),
];
