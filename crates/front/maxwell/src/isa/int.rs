//! Integers, bits and moves.

use super::common::*;
use super::form::{RCI, RCIC, Row, Src, alu, row};
use super::spec::{
    Choice, Field, Kind, ModSpec, OperandSpec, PartChoice, RESERVED, Style, UNDEFINED, Values, f, flag, list,
    m, o,
};
use crate::inst::{Part, Role};
use crate::modifier::{
    Iadd3Shift, LogicOp, MadFormat, MnmxMode, Mod, PredOp, PrmtMode, ShfType, ShiftX, XmadMode,
};
use crate::opcode::Opcode::*;

/// An immediate of 32 bits, printed with its sign.
const IMM32: OperandSpec = o(Role::B, Kind::Signed(f(20, 32)));
/// An immediate of 32 bits.
const BITS32: OperandSpec = o(Role::B, Kind::Imm(f(20, 32)));

const BOOL: ModSpec = bool_op(Mod::BoolOp, 45);
const COMPARE: ModSpec = int_compare(f(49, 3));
const SIGNED: ModSpec = signed(48);
const BREV: ModSpec = flag(Mod::Brev, 40, ".BREV");

/// Both operands negated means that one is added.
const fn plus_one(lo: u8) -> ModSpec {
    list(Mod::PlusOne, f(lo, 2), &[("", 0), ("", 0), ("", 0), (".PO", 1)])
}

/// The immediate cannot be negated, except that one is added.
const IADD32I_PLUS_ONE: ModSpec =
    list(Mod::PlusOne, f(55, 2), &[("", 0), ("", UNDEFINED), ("", 0), (".PO", 1)]);

const fn wrap(bit: u8) -> ModSpec {
    flag(Mod::Wrap, bit, ".W")
}

/// `.X` of shifts.
const fn shift_x(lo: u8, last: bool) -> ModSpec {
    const SHR: &[Choice] = &[
        ("", ShiftX::None as u8),
        (".INVALIDSHRXMODE1", RESERVED),
        (".X", ShiftX::X as u8),
        (".XHI", ShiftX::XHi as u8),
    ];
    const SHF: &[Choice] = &[
        ("", ShiftX::None as u8),
        (".HI", ShiftX::Hi as u8),
        (".X", ShiftX::X as u8),
        (".XHI", ShiftX::XHi as u8),
    ];
    list(Mod::ShiftX, f(lo, 2), if last { SHF } else { SHR })
}

const SHF_TYPE: ModSpec = {
    const LIST: &[Choice] = &[
        ("", ShfType::Bits32 as u8),
        (".INVALIDMAXSHIFT3", RESERVED),
        (".U64", ShfType::U64 as u8),
        (".S64", ShfType::S64 as u8),
    ];
    list(Mod::ShfType, f(37, 2), LIST)
};
const SHF_MODIFIERS: &[ModSpec] = &[wrap(50), SHF_TYPE, shift_x(48, true), CC];
const SHF_AMOUNT: OperandSpec = o(Role::B, Kind::Imm(f(20, 6)));

const fn logic_op(lo: u8) -> ModSpec {
    const LIST: &[Choice] = &[
        (".AND", LogicOp::And as u8),
        (".OR", LogicOp::Or as u8),
        (".XOR", LogicOp::Xor as u8),
        (".PASS_B", LogicOp::PassB as u8),
    ];
    list(Mod::LogicOp, f(lo, 2), LIST)
}

const fn pred_op(lo: u8) -> ModSpec {
    const LIST: &[Choice] =
        &[("", PredOp::F as u8), (".T", PredOp::T as u8), (".Z", PredOp::Z as u8), (".NZ", PredOp::Nz as u8)];
    list(Mod::PredOp, f(lo, 2), LIST)
}

/// LOP3 always takes a table.
const LUT: ModSpec = list(Mod::Operation, f(0, 0), &[(".LUT", 0)]);

const MNMX_MODE: ModSpec = {
    const LIST: &[Choice] = &[
        ("", MnmxMode::None as u8),
        (".XLO", MnmxMode::Xlo as u8),
        (".XMED", MnmxMode::Xmed as u8),
        (".XHI", MnmxMode::Xhi as u8),
    ];
    list(Mod::MnmxMode, f(43, 2), LIST)
};

const PRMT_MODE: ModSpec = {
    const LIST: &[Choice] = &[
        ("", PrmtMode::Index as u8),
        (".F4E", PrmtMode::F4e as u8),
        (".B4E", PrmtMode::B4e as u8),
        (".RC8", PrmtMode::Rc8 as u8),
        (".ECL", PrmtMode::Ecl as u8),
        (".ECR", PrmtMode::Ecr as u8),
        (".RC16", PrmtMode::Rc16 as u8),
        (".INVALIDPMODE7", RESERVED),
        (".???8", RESERVED),
        (".???9", RESERVED),
        (".???10", RESERVED),
        (".???11", RESERVED),
        (".???12", RESERVED),
        (".???13", RESERVED),
        (".???14", RESERVED),
        (".???15", RESERVED),
    ];
    list(Mod::PrmtMode, f(48, 4), LIST)
};

const IADD3_SHIFT: ModSpec = {
    const LIST: &[Choice] = &[
        ("", Iadd3Shift::None as u8),
        (".RS", Iadd3Shift::Rs as u8),
        (".LS", Iadd3Shift::Ls as u8),
        (".???3", RESERVED),
    ];
    list(Mod::Iadd3Shift, f(37, 2), LIST)
};
const IADD3_PARTS: &[&[PartChoice]] =
    &[&[("", Part::Full), (".H0", Part::H0), (".H1", Part::H1), (".???3", Part::Reserved)]];

/// Signedness of both operands; the tool prints nothing if both are signed.
const fn operand_signs(field: Field) -> [ModSpec; 2] {
    const A: &[Choice] = &[(".U32.U32", 0), (".S32.U32", 1), (".U32.S32", 0), ("", 1)];
    const B: &[Choice] = &[("", 0), ("", 0), ("", 1), ("", 1)];
    [list(Mod::SignedA, field, A), list(Mod::SignedB, field, B)]
}
const IMAD_SIGNS: [ModSpec; 2] = operand_signs(f(48, 1).and(53, 1));
const IMUL_SIGNS: [ModSpec; 2] = operand_signs(f(40, 2));
const IMAD32I_SIGNS: [ModSpec; 2] = operand_signs(f(54, 1).and(57, 1));
const IMUL32I_SIGNS: [ModSpec; 2] = operand_signs(f(54, 2));

/// Dot products, from SM61 on: of four bytes, or of two halves and the lower or upper two bytes.
const IDP_BYTES: &[ModSpec] = &[
    list(Mod::Operation, f(0, 0), &[(".4A", 0)]),
    list(Mod::SignedA, f(49, 1), &[(".U8", 0), (".S8", 1)]),
    list(Mod::SignedB, f(47, 1), &[(".U8", 0), (".S8", 1)]),
];
const IDP_HALVES: &[ModSpec] = &[
    list(Mod::Operation, f(0, 0), &[(".2A", 1)]),
    list(Mod::High, f(50, 1), &[(".LO", 0), (".HI", 1)]),
    list(Mod::SignedA, f(49, 1), &[(".U16", 0), (".S16", 1)]),
    list(Mod::SignedB, f(47, 1), &[(".U8", 0), (".S8", 1)]),
];

const fn high(bit: u8) -> ModSpec {
    flag(Mod::High, bit, ".HI")
}

const fn imadsp_a() -> ModSpec {
    use MadFormat::*;
    const LIST: &[Choice] = &[
        (".U32", U32 as u8),
        (".S32", S32 as u8),
        (".U24", U24 as u8),
        (".S24", S24 as u8),
        (".U16H0", U16H0 as u8),
        (".S16H0", S16H0 as u8),
        (".U16H1", U16H1 as u8),
        (".S16H1", S16H1 as u8),
    ];
    list(Mod::MadA, f(48, 3), LIST)
}

const IMADSP_B: ModSpec = {
    use MadFormat::*;
    const LIST: &[Choice] =
        &[(".U24", U24 as u8), (".S24", S24 as u8), (".U16H0", U16H0 as u8), (".S16H0", S16H0 as u8)];
    list(Mod::MadB, f(53, 2), LIST)
};

/// The addend's format is signed if A or B is.
const IMADSP_C: ModSpec = {
    use MadFormat::*;
    const UNSIGNED: &[Choice] =
        &[(".U32", U32 as u8), (".U24", U24 as u8), (".U16H0", U16H0 as u8), ("", UNDEFINED)];
    const SIGNED: &[Choice] =
        &[(".S32", S32 as u8), (".S24", S24 as u8), (".S16H0", S16H0 as u8), ("", UNDEFINED)];
    m(Mod::MadC, f(51, 2), Values::By(f(48, 1).and(53, 1), &[UNSIGNED, SIGNED, SIGNED, SIGNED]))
};
const IMADSP: &[ModSpec] = &[imadsp_a(), IMADSP_B, IMADSP_C, CC];

const XMAD_MODES: &[Choice] = &[
    ("", XmadMode::Full as u8),
    (".CLO", XmadMode::Clo as u8),
    (".CHI", XmadMode::Chi as u8),
    (".CSFU", XmadMode::Csfu as u8),
    (".CBCC", XmadMode::Cbcc as u8),
    (".???5", RESERVED),
    (".???6", RESERVED),
    (".???7", RESERVED),
];
const XMAD_MODE3: ModSpec = list(Mod::XmadMode, f(50, 3), XMAD_MODES);
const XMAD_MODE2: ModSpec = list(Mod::XmadMode, f(50, 2), XMAD_MODES);
/// Signedness of XMAD's halves; the tool prints nothing if both are unsigned.
const XMAD_SIGNS: [ModSpec; 2] = {
    const A: &[Choice] = &[("", 0), (".S16.U16", 1), (".U16.S16", 0), (".S16.S16", 1)];
    const B: &[Choice] = &[("", 0), ("", 0), ("", 1), ("", 1)];
    [list(Mod::SignedA, f(48, 2), A), list(Mod::SignedB, f(48, 2), B)]
};
const XMAD_A: OperandSpec = A.part(f(53, 1), HALF);

const fn psl(bit: u8) -> ModSpec {
    flag(Mod::Psl, bit, ".PSL")
}

const fn mrg(bit: u8) -> ModSpec {
    flag(Mod::Mrg, bit, ".MRG")
}

const MOV_MASK: OperandSpec = o(Role::Number, Kind::Imm(f(39, 4))).hide(15);
const SHIFT: OperandSpec = o(Role::Number, Kind::Imm(f(39, 5)));

pub(super) const ROWS: &[Row] = &[
    alu(Mov, RCI, "100 1001 1", &[], &[DST, BI, MOV_MASK]),
    row(Mov32i, "0000 0001 0000", &[], &[DST, BITS32, o(Role::Number, Kind::Imm(f(12, 4))).hide(15)]),
    alu(Sel, RCI, "100 1010 0", &[], &[DST, A, BI, PRED]),
    alu(
        Iadd,
        RCI,
        "100 0001 0",
        &[plus_one(48), sat(50), x(43), CC],
        &[DST, A.neg(49).unless(48), BI.neg(48).unless(49)],
    ),
    row(
        Iadd32i,
        "0001 110",
        &[IADD32I_PLUS_ONE, sat(54), x(53), cc(52)],
        &[DST, A.neg(56).unless(55), IMM32],
    ),
    alu(
        Iadd3,
        &[Src::Reg],
        "100 1100",
        &[IADD3_SHIFT, x(48), CC],
        &[
            DST,
            A.neg(51).part(f(35, 2), IADD3_PARTS),
            BI.neg(50).part(f(33, 2), IADD3_PARTS),
            C.neg(49).part(f(31, 2), IADD3_PARTS),
        ],
    ),
    alu(
        Iadd3,
        &[Src::Const, Src::Imm],
        "100 1100",
        &[x(48), CC],
        &[DST, A.neg(51), BI.neg(50).style(Style::Unsigned), C.neg(49)],
    ),
    alu(
        Iscadd,
        RCI,
        "100 0001 1",
        &[plus_one(48), CC],
        &[DST, A.neg(49).unless(48), BI.neg(48).unless(49), SHIFT],
    ),
    row(Iscadd32i, "0001 01", &[cc(52)], &[DST, A, IMM32, o(Role::Number, Kind::Imm(f(53, 5)))]),
    alu(Imul, RCI, "100 0011 1", &[IMUL_SIGNS[0], IMUL_SIGNS[1], high(39), CC], &[DST, A, BI]),
    row(Imul32i, "0001 1111", &[IMUL32I_SIGNS[0], IMUL32I_SIGNS[1], high(53), cc(52)], &[DST, A, IMM32]),
    alu(
        Imad,
        RCIC,
        "010 0",
        &[IMAD_SIGNS[0], IMAD_SIGNS[1], high(54), plus_one(51), sat(50), x(49), CC],
        &[DST, A.neg(52).unless(51), BI, C.neg(51).unless(52)],
    ),
    row(
        Imad32i,
        "0001 00",
        &[IMAD32I_SIGNS[0], IMAD32I_SIGNS[1], high(53), plus_one(55), cc(52)],
        &[DST, A.neg(56).unless(55), IMM32, o(Role::C, Kind::Reg(0)).neg(55).unless(56)],
    ),
    row(Idp, "0101 0011 1111 10-0", IDP_BYTES, &[DST, A, B, C]),
    row(Idp, "0101 0011 1101 10-0", IDP_BYTES, &[DST, A, o(Role::B, Kind::Const), C]),
    row(Idp, "0101 0011 1111 1--1", IDP_HALVES, &[DST, A, B, C]),
    row(Idp, "0101 0011 1101 1--1", IDP_HALVES, &[DST, A, o(Role::B, Kind::Const), C]),
    alu(Imadsp, RCIC, "010 1", IMADSP, &[DST, A, BI, C]),
    alu(
        Xmad,
        &[Src::Reg],
        "011 00",
        &[XMAD_SIGNS[0], XMAD_SIGNS[1], psl(36), XMAD_MODE3, mrg(37), x(38), CC],
        &[DST, XMAD_A, B.part(f(35, 1), HALF), C],
    ),
    row(
        Xmad,
        "0011 011- 00",
        &[XMAD_SIGNS[0], XMAD_SIGNS[1], psl(36), XMAD_MODE3, mrg(37), x(38), CC],
        &[DST, XMAD_A, o(Role::B, Kind::Imm(f(20, 16))).style(Style::Signed49), C],
    ),
    row(
        Xmad,
        "0100 111",
        &[XMAD_SIGNS[0], XMAD_SIGNS[1], psl(55), XMAD_MODE2, mrg(56), x(54), CC],
        &[DST, XMAD_A, o(Role::B, Kind::Const).part(f(52, 1), HALF), C],
    ),
    row(
        Xmad,
        "0101 0001 0",
        &[XMAD_SIGNS[0], XMAD_SIGNS[1], XMAD_MODE2, x(54), CC],
        &[DST, XMAD_A, o(Role::B, Kind::Reg(39)).part(f(52, 1), HALF), o(Role::C, Kind::Const)],
    ),
    alu(Imnmx, RCI, "100 0010 0", &[SIGNED, MNMX_MODE, CC], &[DST, A, BI, PRED]),
    alu(Icmp, RCIC, "011 0100", &[COMPARE, SIGNED], &[DST, A, BI, C]),
    alu(
        Iset,
        RCI,
        "011 0101",
        &[flag(Mod::FloatResult, 44, ".BF"), COMPARE, SIGNED, x(43), BOOL, CC],
        &[DST, A, BI, PRED],
    ),
    alu(Isetp, RCI, "011 0110", &[COMPARE, SIGNED, x(43), BOOL], &[DST_PRED, DST_PRED2, A, BI, PRED]),
    alu(Shl, RCI, "100 0100 1", &[wrap(39), x(43), CC], &[DST, A, BI]),
    alu(Shr, RCI, "100 0010 1", &[SIGNED, wrap(39), shift_x(43, false), BREV, CC], &[DST, A, BI]),
    row(Shf, "0101 1011 1111 1", SHF_LEFT, &[DST, A, B, C]),
    row(Shf, "0011 011- 1111 1", SHF_LEFT, &[DST, A, SHF_AMOUNT, C]),
    row(Shf, "0101 1100 1111 1", SHF_RIGHT, &[DST, A, B, C]),
    row(Shf, "0011 100- 1111 1", SHF_RIGHT, &[DST, A, SHF_AMOUNT, C]),
    alu(Bfe, RCI, "100 0000 0", &[SIGNED, BREV, CC], &[DST, A, BI]),
    alu(Bfi, RCIC, "011 1111 0", &[CC], &[DST, A, BI, C]),
    alu(Flo, RCI, "100 0011 0", &[SIGNED, flag(Mod::ShiftAmount, 41, ".SH"), CC], &[DST, BI.inv(40)]),
    alu(Popc, RCI, "100 0000 1", &[], &[DST, BI.inv(40)]),
    alu(Prmt, RCIC, "011 1100", &[PRMT_MODE], &[DST, A, BI, C]),
    alu(
        Lop,
        RCI,
        "100 0100 0",
        &[logic_op(41), x(43), pred_op(44), CC],
        &[DST_PRED_48, DST, A.inv(39), BI.inv(40)],
    ),
    row(Lop32i, "0000 01", &[logic_op(53), x(57), cc(52)], &[DST, A.inv(55), BITS32.inv(56)]),
    row(
        Lop3,
        "0101 1011 1110 0",
        &[LUT, x(38), pred_op(36), CC],
        &[DST_PRED_48, DST, A, B, C, o(Role::Number, Kind::Imm(f(28, 8)))],
    ),
    row(
        Lop3,
        "0000 001",
        &[LUT, x(56), CC],
        &[DST, A, o(Role::B, Kind::Const), C, o(Role::Number, Kind::Imm(f(48, 8)))],
    ),
    row(
        Lop3,
        "0011 11",
        &[LUT, x(57), CC],
        &[DST, A, o(Role::B, Kind::Signed(f(20, 19).and(56, 1))), C, o(Role::Number, Kind::Imm(f(48, 8)))],
    ),
    alu(Lea, RCI, "011 1101 0", &[x(46), CC], &[DST_PRED_48, DST, A.neg(45), BI, SHIFT.hide(0)]),
    row(
        Lea,
        "0101 1011 1101 1",
        &[LEA_HIGH, x(38), CC],
        &[DST_PRED_48, DST, A.neg(37), B, C, o(Role::Number, Kind::Imm(f(28, 5))).hide(0)],
    ),
    row(
        Lea,
        "0001 10",
        &[LEA_HIGH, x(57), CC],
        &[
            DST_PRED_48,
            DST,
            A.neg(56),
            o(Role::B, Kind::Const),
            C,
            o(Role::Number, Kind::Imm(f(51, 5))).hide(0),
        ],
    ),
];

const SHF_LEFT: &[ModSpec] =
    &[list(Mod::ShiftRight, f(0, 0), &[(".L", 0)]), SHF_MODIFIERS[0], SHF_MODIFIERS[1], SHF_MODIFIERS[2], CC];
const SHF_RIGHT: &[ModSpec] =
    &[list(Mod::ShiftRight, f(0, 0), &[(".R", 1)]), SHF_MODIFIERS[0], SHF_MODIFIERS[1], SHF_MODIFIERS[2], CC];
const LEA_HIGH: ModSpec = list(Mod::High, f(0, 0), &[(".HI", 1)]);
