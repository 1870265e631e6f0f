//! Predicates and condition codes, special registers, barriers, shader inputs and outputs.

use super::common::*;
use super::form::{RCI, Row, alu, row};
use super::spec::{
    Choice, Field, Kind, ModSpec, OperandSpec, PartChoice, RESERVED, Style, Values, f, flag, list, m, o,
};
use crate::inst::Role;
use crate::modifier::{BarMode, BarRed, CC_TESTS, IpaMode, IpaSample, Mod, OutMode, PixldMode, VoteMode};
use crate::opcode::Opcode::*;

const BOOL: ModSpec = bool_op(Mod::BoolOp, 45);
const FIRST_BOOL: ModSpec = bool_op(Mod::BoolOp2, 24);
const FLOAT_RESULT: ModSpec = flag(Mod::FloatResult, 44, ".BF");
const PRED_A: OperandSpec = o(Role::PredA, Kind::Pred(12)).inv(15);
const PRED_B: OperandSpec = o(Role::PredB, Kind::Pred(29)).inv(32);

/// CSET's and CSETP's test, named in the mnemonic.
const CC_TEST: ModSpec = list(Mod::CcTest, f(8, 5), CC_TESTS);
const CC_REGISTER: OperandSpec = o(Role::A, Kind::CcRegister);

const VOTE_MODE: ModSpec = {
    const LIST: &[Choice] = &[
        (".ALL", VoteMode::All as u8),
        (".ANY", VoteMode::Any as u8),
        (".EQ", VoteMode::Eq as u8),
        (".INVALIDVMODE3", RESERVED),
    ];
    list(Mod::VoteMode, f(48, 2), LIST)
};
const VTG_MODE: ModSpec = {
    const LIST: &[Choice] = &[(".VTG.R", 0), (".VTG.A", 1), (".VTG.RA", 2), (".VTG.???3", RESERVED)];
    list(Mod::VtgMode, f(48, 2), LIST)
};

/// The byte of a register that P2R and R2P go to.
const BYTE: Field = f(41, 2);
const P2R_BYTE: ModSpec = list(Mod::Byte, BYTE, &[("", 0), (".B1", 1), (".B2", 2), (".B3", 3)]);
const R2P_BYTES: &[&[PartChoice]] = &[BYTES];
const FILE: OperandSpec = o(Role::File, Kind::File(40));

const BAR_RED: ModSpec = {
    const LIST: &[Choice] = &[
        (".POPC", BarRed::Popc as u8),
        (".AND", BarRed::And as u8),
        (".OR", BarRed::Or as u8),
        (".INVALIDBARMODE3", RESERVED),
    ];
    list(Mod::BarRed, f(35, 2), LIST)
};

const fn bar_mode(text: &'static [Choice]) -> ModSpec {
    list(Mod::BarMode, f(0, 0), text)
}

const BARRIER: OperandSpec = A.when(f(44, 1), 0);
const BARRIER_IMM: OperandSpec = o(Role::A, Kind::Imm(f(8, 8))).when(f(44, 1), 1);
const COUNT: OperandSpec = B.when(f(43, 1), 0);
const COUNT_IMM: OperandSpec = o(Role::B, Kind::Imm(f(20, 12))).when(f(43, 1), 1);

const SCOREBOARDS: OperandSpec = o(Role::Mask, Kind::Imm(f(0, 6))).style(Style::Barriers).hide(0);

const fn attribute_size() -> ModSpec {
    list(Mod::AttrSize, f(47, 2), &[("", 1), (".64", 2), (".96", 3), (".128", 4)])
}

const ATTRIBUTE: OperandSpec = o(Role::Address, Kind::Attr);
/// The vertex whose attribute it is; the tool leaves RZ out.
const VERTEX: OperandSpec = o(Role::Vertex, Kind::Reg(39)).hide(255);
const PATCH: ModSpec = flag(Mod::Patch, 31, ".P");
const OUTPUT: ModSpec = flag(Mod::Output, 32, ".O");
/// A register in the address makes it physical, and the offset must then be 0; but not that of a patch.
const PHYS: ModSpec = m(
    Mod::Phys,
    f(8, 8),
    Values::ByNumber(f(31, 1), 1, &Values::Always(("", 0)), &Values::UnlessAlone(255, ".PHYS", f(20, 11))),
);

const ISBERD_MODE: ModSpec = list(Mod::Mode, f(33, 2), &[("", 0), (".PATCH", 1), (".PRIM", 2), (".ATTR", 3)]);
const ISBERD_SIZE: ModSpec =
    list(Mod::AttrSize, f(47, 2), &[("", 0), (".U16", 1), (".32", 2), (".???3", RESERVED)]);

const PIXLD_MODE: ModSpec = {
    const LIST: &[Choice] = &[
        ("", PixldMode::Count as u8),
        (".COVMASK", PixldMode::CovMask as u8),
        (".COVERED", PixldMode::Covered as u8),
        (".OFFSET", PixldMode::Offset as u8),
        (".CENTROID_OFFSET", PixldMode::CentroidOffset as u8),
        (".MY_INDEX", PixldMode::MyIndex as u8),
        (".INVALID0", RESERVED),
        (".INVALID1", RESERVED),
    ];
    list(Mod::PixldMode, f(31, 3), LIST)
};

const IPA_MODE: ModSpec = {
    const LIST: &[Choice] = &[
        (".PASS", IpaMode::Pass as u8),
        ("", IpaMode::Multiply as u8),
        (".CONSTANT", IpaMode::Constant as u8),
        (".SC", IpaMode::Sc as u8),
    ];
    list(Mod::IpaMode, f(54, 2), LIST)
};
const IPA_SAMPLE: ModSpec = {
    const LIST: &[Choice] = &[
        ("", IpaSample::Default as u8),
        (".CENTROID", IpaSample::Centroid as u8),
        (".OFFSET", IpaSample::Offset as u8),
        (".INVALID", RESERVED),
    ];
    list(Mod::IpaSample, f(52, 2), LIST)
};
const INDEXED: ModSpec = list(Mod::Indexed, f(0, 0), &[(".IDX", 1)]);
const IPA_SOURCES: [OperandSpec; 3] =
    [B, o(Role::C, Kind::Reg(39)).hide(255), o(Role::Pred, Kind::Pred(47)).inv(50)];

const OUT_MODE: ModSpec = {
    const LIST: &[Choice] = &[
        (".INVALIDOUTSTYPE0", RESERVED),
        (".EMIT", OutMode::Emit as u8),
        (".CUT", OutMode::Cut as u8),
        (".EMIT_THEN_CUT", OutMode::EmitThenCut as u8),
    ];
    list(Mod::OutMode, f(39, 2), LIST)
};

const SPECIAL: OperandSpec = o(Role::A, Kind::Special(f(20, 8)));

pub(super) const ROWS: &[Row] = &[
    row(Pset, "0101 0000 1000 1", &[FLOAT_RESULT, FIRST_BOOL, BOOL, CC], &[DST, PRED_A, PRED_B, PRED]),
    row(Psetp, "0101 0000 1001 0", &[FIRST_BOOL, BOOL], &[DST_PRED, DST_PRED2, PRED_A, PRED_B, PRED]),
    row(Cset, "0101 0000 1001 1", &[FLOAT_RESULT, CC_TEST, BOOL, CC], &[DST, CC_REGISTER, PRED]),
    row(Csetp, "0101 0000 1010 0", &[CC_TEST, BOOL], &[DST_PRED, DST_PRED2, CC_REGISTER, PRED]),
    row(Vote, "0101 0000 1101 1", &[VOTE_MODE], &[DST.hide(255), o(Role::DstPred, Kind::Pred(45)), PRED]),
    row(Vote, "0101 0000 1110 0", &[VTG_MODE], &[o(Role::Number, Kind::Imm(f(20, 28)))]),
    alu(P2r, RCI, "100 1110 1", &[P2R_BYTE], &[DST, FILE, A, BI]),
    alu(R2p, RCI, "100 1111 0", &[], &[FILE, A.part(BYTE, R2P_BYTES), BI.style(Style::Unsigned)]),
    row(S2r, "1111 0000 1100 1", &[], &[DST, SPECIAL]),
    row(Cs2r, "0101 0000 1100 1", &[], &[DST, SPECIAL]),
    row(Lepc, "0101 0000 1101 0", &[], &[DST]),
    row(
        Nop,
        "0101 0000 1011 0",
        &[flag(Mod::Operation, 13, ".TRIG")],
        &[o(Role::Cc, Kind::Cc(8)), o(Role::Number, Kind::Imm(f(20, 16))).hide(0)],
    ),
    row(
        Bar,
        "1111 0000 1010 1",
        &[bar_mode(&[(".SYNC", BarMode::Sync as u8)])],
        &[BARRIER, BARRIER_IMM, COUNT, COUNT_IMM.hide(0)],
    )
    .bits(32, 3, 0)
    .bits(39, 4, 7),
    row(
        Bar,
        "1111 0000 1010 1",
        &[bar_mode(&[(".ARV", BarMode::Arv as u8)])],
        &[BARRIER, BARRIER_IMM, COUNT, COUNT_IMM],
    )
    .bits(32, 3, 1)
    .bits(39, 4, 7),
    row(
        Bar,
        "1111 0000 1010 1",
        &[bar_mode(&[(".RED", BarMode::Red as u8)]), BAR_RED],
        &[BARRIER, BARRIER_IMM, COUNT, COUNT_IMM.hide(0), PRED],
    )
    .bits(32, 3, 2),
    row(
        Bar,
        "1111 0000 1010 1",
        &[bar_mode(&[(".SCAN", BarMode::Scan as u8)])],
        &[BARRIER, BARRIER_IMM, COUNT, COUNT_IMM, PRED],
    )
    .bits(32, 3, 3),
    row(B2r, "1111 0000 1011 1", &[], &[DST, o(Role::A, Kind::Imm(f(8, 8)))]).bits(32, 2, 0),
    row(
        B2r,
        "1111 0000 1011 1",
        &[list(Mod::Operation, f(0, 0), &[(".RESULT", 1)])],
        &[DST, o(Role::DstPred, Kind::Pred(45)).hide(7)],
    )
    .bits(32, 2, 1)
    .bits(8, 8, 255),
    row(B2r, "1111 0000 1011 1", &[list(Mod::Operation, f(0, 0), &[(".WARP", 2)])], &[DST])
        .bits(32, 2, 2)
        .bits(8, 8, 255),
    row(
        B2r,
        "1111 0000 1011 1",
        &[list(Mod::Operation, f(0, 0), &[(".INVALID", RESERVED)])],
        &[DST, o(Role::A, Kind::Imm(f(8, 8)))],
    )
    .bits(32, 2, 3),
    row(
        R2b,
        "1111 0000 1100 0",
        &[list(Mod::Operation, f(32, 2), &[("", 0), (".RESULT", 1), (".WARP", 2), (".INVALID", RESERVED)])],
        &[o(Role::A, Kind::Imm(f(28, 4))), B],
    ),
    row(Depbar, "1111 0000 1111 0", &[], &[SCOREBOARDS]).bits(29, 1, 0),
    row(
        Depbar,
        "1111 0000 1111 0",
        &[list(Mod::LessEqual, f(0, 0), &[(".LE", 1)])],
        &[
            o(Role::A, Kind::Imm(f(26, 3))).style(Style::Scoreboard),
            o(Role::Number, Kind::Imm(f(20, 6))),
            SCOREBOARDS,
        ],
    )
    .bits(29, 1, 1),
    row(Ald, "1110 1111 1101 1", &[OUTPUT, PATCH, PHYS, attribute_size()], &[DST, ATTRIBUTE, VERTEX]),
    row(
        Ast,
        "1110 1111 1111 0",
        &[PATCH, PHYS, attribute_size()],
        &[ATTRIBUTE, o(Role::Data, Kind::Reg(0)), VERTEX],
    ),
    row(
        Al2p,
        "1110 1111 1010 0",
        &[OUTPUT, attribute_size()],
        &[
            o(Role::DstPred, Kind::Pred(44)).hide(7),
            DST,
            A.hide(255),
            o(Role::Number, Kind::Signed(f(20, 11))).hide(0),
        ],
    ),
    row(
        Isberd,
        "1110 1111 1101 0",
        &[OUTPUT, ISBERD_MODE, flag(Mod::Skew, 31, ".SKEW"), ISBERD_SIZE],
        &[DST, o(Role::Address, Kind::MemReg)],
    ),
    row(
        Pixld,
        "1110 1111 1110 1",
        &[PIXLD_MODE],
        &[DST, o(Role::DstPred, Kind::Pred(45)).hide(7), o(Role::Address, Kind::Mem(f(20, 8), 64))],
    ),
    row(
        Ipa,
        "1110 0000",
        &[IPA_MODE, IPA_SAMPLE, sat(51)],
        &[
            DST,
            o(Role::Address, Kind::DirectAttr(f(28, 10))),
            IPA_SOURCES[0],
            IPA_SOURCES[1],
            IPA_SOURCES[2].hide(7),
        ],
    )
    .bits(38, 1, 0)
    .bits(8, 8, 255),
    row(
        Ipa,
        "1110 0000",
        &[INDEXED, IPA_MODE, IPA_SAMPLE, sat(51)],
        &[DST, o(Role::Address, Kind::IndexAttr), IPA_SOURCES[0], IPA_SOURCES[1], IPA_SOURCES[2]],
    )
    .bits(38, 1, 1),
    row(Out, "1111 1011 1110 0", &[OUT_MODE], &[DST, A, B]),
    row(Out, "1110 1011 1110 0", &[OUT_MODE], &[DST, A, o(Role::B, Kind::Const)]),
    row(Out, "1111 011- 1110 0", &[OUT_MODE], &[DST, A, o(Role::B, Kind::Signed(f(20, 19).and(56, 1)))]),
];
