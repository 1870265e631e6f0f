//! Operations on bytes and halves of registers.

use super::common::*;
use super::form::{Row, row};
use super::spec::{
    Choice, Field, Kind, ModSpec, OperandSpec, PartChoice, RESERVED, Style, Values, f, flag, list, m, o,
};
use crate::inst::{Part, Role};
use crate::modifier::{Mod, VideoFormat, VideoOp};
use crate::opcode::Opcode::*;

const FORMATS: &[Choice] = &{
    use VideoFormat::*;
    [
        (".U8", U8 as u8),
        (".U8", U8 as u8),
        (".U8", U8 as u8),
        (".U8", U8 as u8),
        (".U16", U16 as u8),
        (".U16", U16 as u8),
        (".U32", U32 as u8),
        (".INVALIDSEL6", RESERVED),
        (".S8", S8 as u8),
        (".S8", S8 as u8),
        (".S8", S8 as u8),
        (".S8", S8 as u8),
        (".S16", S16 as u8),
        (".S16", S16 as u8),
        (".S32", S32 as u8),
        (".INVALIDSEL7", RESERVED),
    ]
};
/// The immediate is a half, whatever bits 28 to 30 are.
const HALF_FORMATS: &[Choice] = &{
    use VideoFormat::*;
    let unsigned = (".U16", U16 as u8);
    let signed = (".S16", S16 as u8);
    [
        unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, signed, signed,
        signed, signed, signed, signed, signed, signed,
    ]
};

const SELECT_A: Field = f(36, 3).and(48, 1);
const SELECT_B: Field = f(28, 3).and(49, 1);
/// B of shifts is unsigned.
const SELECT_AMOUNT: Field = f(28, 3);
/// With A's sign, which the tool's name of the reserved selection depends on.
const NAMED_AMOUNT: Field = SELECT_AMOUNT.and(48, 1);
/// The selections of a whole signed word and of a whole unsigned one.
const SIGNED_WORD: u32 = 14;
const WORD: u32 = 6;

/// The formats without text: the tool prints none where both are whole words, signed where the operation has a sign.
const fn silent(formats: &'static [Choice]) -> [Choice; 16] {
    let mut list = [("", 0); 16];
    let mut at = 0;
    while at < list.len() {
        list[at].1 = formats[at].1;
        at += 1;
    }
    list
}

const LIST: Values = Values::List(FORMATS);
const SILENT: Values = Values::List(&silent(FORMATS));
const AMOUNTS: Values = {
    const LIST: &[Choice] = &{
        let mut list = [FORMATS[0]; 16];
        let mut at = 0;
        while at < list.len() {
            list[at] = if at % 8 == 7 { FORMATS[at] } else { FORMATS[at % 8] };
            at += 1;
        }
        list
    };
    Values::List(LIST)
};
const SILENT_WORD: Values = Values::Always(("", VideoFormat::U32 as u8));
const UNSIGNED_HALF: Values = Values::Always(HALF_FORMATS[0]);
const SILENT_UNSIGNED_HALF: Values = Values::Always(("", HALF_FORMATS[0].1));
const LIST_HALF: Values = Values::List(HALF_FORMATS);
const SILENT_HALF: Values = Values::List(&silent(HALF_FORMATS));

/// By A's selection, B's selection (a register) or sign (an immediate): without text or with it.
macro_rules! formats {
    ($which:expr, $field:expr, $word:expr; $silent:ident $list:ident, $silent_imm:ident $list_imm:ident if $sign:expr) => {
        m(
            $which,
            $field,
            Values::ByNumber(
                SELECT_A,
                SIGNED_WORD,
                &Values::ByNumber(
                    IS_REG,
                    1,
                    &Values::ByNumber($word.0, $word.1, &$silent, &$list),
                    &Values::ByNumber($sign.0, $sign.1, &$silent_imm, &$list_imm),
                ),
                &Values::ByNumber(IS_REG, 1, &$list, &$list_imm),
            ),
        )
    };
}

/// B is a whole signed word.
const WHOLE: (Field, u32) = (SELECT_B, SIGNED_WORD);
/// An immediate is signed.
const SIGNED: (Field, u32) = (f(49, 1), 1);
/// A shift's amount is a whole word.
const WHOLE_AMOUNT: (Field, u32) = (SELECT_AMOUNT, WORD);
const ALWAYS: (Field, u32) = (f(0, 0), 0);
const NEVER: (Field, u32) = (f(0, 0), 1);

const FORMAT_A: ModSpec = formats!(Mod::VideoA, SELECT_A, WHOLE; SILENT LIST, SILENT LIST if SIGNED);
const FORMAT_B: ModSpec =
    formats!(Mod::VideoB, SELECT_B, WHOLE; SILENT LIST, SILENT_HALF LIST_HALF if SIGNED);
const SETP_A: ModSpec = formats!(Mod::VideoA, SELECT_A, WHOLE; SILENT LIST, SILENT LIST if NEVER);
const SETP_B: ModSpec = formats!(Mod::VideoB, SELECT_B, WHOLE; SILENT LIST, SILENT_HALF LIST_HALF if NEVER);
const SHIFTED: ModSpec = formats!(Mod::VideoA, SELECT_A, WHOLE_AMOUNT; SILENT LIST, SILENT LIST if ALWAYS);
const AMOUNT: ModSpec = formats!(Mod::VideoB, NAMED_AMOUNT, WHOLE_AMOUNT; SILENT_WORD AMOUNTS, SILENT_UNSIGNED_HALF UNSIGNED_HALF if ALWAYS);

const PARTS: &[&[PartChoice]] = &[&[
    ("", Part::B0),
    (".B1", Part::B1),
    (".B2", Part::B2),
    (".B3", Part::B3),
    ("", Part::H0),
    (".H1", Part::H1),
    ("", Part::Full),
    ("", Part::Reserved),
]];
const VIDEO_A: OperandSpec = A.part(f(36, 3), PARTS);
const IS_REG: Field = f(50, 1);
const VIDEO_B: OperandSpec = B.part(f(28, 3), PARTS).when(IS_REG, 1);
const VIDEO_IMM: OperandSpec = o(Role::B, Kind::Imm(f(20, 16))).when(IS_REG, 0);

const OPS: &[Choice] = &[
    (".MRG_16H", VideoOp::Mrg16h as u8),
    (".MRG_16L", VideoOp::Mrg16l as u8),
    (".MRG_8B0", VideoOp::Mrg8b0 as u8),
    (".MRG_8B2", VideoOp::Mrg8b2 as u8),
    (".ACC", VideoOp::Acc as u8),
    (".MIN", VideoOp::Min as u8),
    (".MAX", VideoOp::Max as u8),
    ("", VideoOp::Pass as u8),
];
const OP: ModSpec = list(Mod::VideoOp, f(51, 3), OPS);

const UNSIGNED_RESULT: ModSpec = m(Mod::VideoSignedResult, f(54, 1), Values::Clear(".UD"));
const SIGNED_RESULT: ModSpec = flag(Mod::VideoSignedResult, 54, ".SD");
const WRAP: ModSpec = flag(Mod::Wrap, 49, ".W");

const fn plus_one(lo: u8) -> ModSpec {
    list(Mod::PlusOne, f(lo, 2), &[("", 0), ("", 0), ("", 0), (".PO", 1)])
}

const SHIFT: ModSpec = {
    const LIST: &[Choice] = &[("", 0), (".SHR_7", 7), (".SHR_15", 15), (".INVALIDVMADSCALE3", RESERVED)];
    list(Mod::VideoShift, f(51, 2), LIST)
};

const REDUCTION: ModSpec = {
    const LIST: &[Choice] = &[("", 0), (".ACC", 1), (".INVALIDRED2", RESERVED), (".INVALIDRED3", RESERVED)];
    list(Mod::Accumulate, f(53, 2), LIST)
};

/// Lanes of VABSDIFF4: X and Y in bits 51 and 52, Z and W in bits 36 and 37.
const LANES: ModSpec = {
    const LIST: &[Choice] = &[
        (".???0", 0),
        (".X", 1),
        (".Y", 2),
        (".XY", 3),
        (".Z", 4),
        (".XZ", 5),
        (".YZ", 6),
        (".XYZ", 7),
        (".W", 8),
        (".XW", 9),
        (".YW", 10),
        (".XYW", 11),
        (".ZW", 12),
        (".XZW", 13),
        (".YZW", 14),
        ("", 15),
    ];
    list(Mod::LaneMask, f(51, 2).and(36, 2), LIST)
};

/// Signs of VABSDIFF4's bytes; the tool prints none where both are signed.
const fn byte_signs(which: Mod) -> ModSpec {
    use VideoFormat::{S8, U8};
    const A: &[Choice] = &[(".U8.U8", U8 as u8), (".S8.U8", S8 as u8), (".U8.S8", U8 as u8), ("", S8 as u8)];
    const B: &[Choice] = &[("", U8 as u8), ("", U8 as u8), ("", S8 as u8), ("", S8 as u8)];
    list(which, f(48, 2), if matches!(which, Mod::VideoA) { A } else { B })
}

/// Byte selections of VABSDIFF4's A: digits 0 to 3 are its own bytes from the lowest, 4 to 7 those of B.
const BYTES_A: &[&[PartChoice]] = &[&[
    (".0000", Part::Bytes(0x0000)),
    (".1111", Part::Bytes(0x1111)),
    (".2222", Part::Bytes(0x2222)),
    (".3333", Part::Bytes(0x3333)),
    ("", Part::Bytes(0x3210)),
    (".4321", Part::Bytes(0x4321)),
    (".5432", Part::Bytes(0x5432)),
    (".6543", Part::Bytes(0x6543)),
    (".3201", Part::Bytes(0x3201)),
    (".3012", Part::Bytes(0x3012)),
    (".0213", Part::Bytes(0x0213)),
    (".3120", Part::Bytes(0x3120)),
    (".1230", Part::Bytes(0x1230)),
    (".2310", Part::Bytes(0x2310)),
    (".INVALIDASEL4E", Part::Reserved),
    (".INVALIDASEL4F", Part::Reserved),
]];
const BYTES_B: &[&[PartChoice]] = &[&[
    (".4444", Part::Bytes(0x4444)),
    (".5555", Part::Bytes(0x5555)),
    (".6666", Part::Bytes(0x6666)),
    (".7777", Part::Bytes(0x7777)),
    ("", Part::Bytes(0x7654)),
    (".6543", Part::Bytes(0x6543)),
    (".5432", Part::Bytes(0x5432)),
    (".4321", Part::Bytes(0x4321)),
    (".4567", Part::Bytes(0x4567)),
    (".6745", Part::Bytes(0x6745)),
    (".5476", Part::Bytes(0x5476)),
    (".INVALIDBSEL4B", Part::Reserved),
    (".INVALIDBSEL4C", Part::Reserved),
    (".INVALIDBSEL4D", Part::Reserved),
    (".INVALIDBSEL4E", Part::Reserved),
]];
/// A selection of all ones makes B an immediate.
const SELECTION: Field = f(28, 4);

pub(super) const ROWS: &[Row] = &[
    row(
        Vadd,
        "0010 00",
        &[UNSIGNED_RESULT, FORMAT_A, FORMAT_B, plus_one(56), sat(55), OP, CC],
        &[DST, VIDEO_A.neg(57).unless(56), VIDEO_B.neg(56).unless(57), VIDEO_IMM.neg(56).unless(57), C],
    ),
    row(
        Vabsdiff,
        "0101 0100",
        &[SIGNED_RESULT, FORMAT_A, FORMAT_B, sat(55), OP, CC],
        &[DST, VIDEO_A, VIDEO_B, VIDEO_IMM.style(Style::Signed49), C],
    ),
    row(
        Vmnmx,
        "0011 101",
        &[UNSIGNED_RESULT, FORMAT_A, FORMAT_B, flag(Mod::Max, 56, ".MX"), sat(55), OP, CC],
        &[DST, VIDEO_A, VIDEO_B, VIDEO_IMM.style(Style::Signed49), C],
    ),
    row(
        Vset,
        "0100 000",
        &[int_compare(f(54, 3)), FORMAT_A, FORMAT_B, OP, CC],
        &[DST, VIDEO_A, VIDEO_B, VIDEO_IMM.style(Style::Signed49), C],
    ),
    row(
        Vsetp,
        "0101 0000 1111 0",
        &[int_compare(f(43, 2).and(47, 1)), SETP_A, SETP_B, bool_op(Mod::BoolOp, 45)],
        &[DST_PRED, DST_PRED2, VIDEO_A, VIDEO_B, VIDEO_IMM.style(Style::Signed49), PRED],
    ),
    row(
        Vshl,
        "0101 0111",
        &[UNSIGNED_RESULT, SHIFTED, AMOUNT, WRAP, sat(55), OP, CC],
        &[DST, VIDEO_A, VIDEO_B, VIDEO_IMM, C],
    ),
    row(
        Vshr,
        "0101 0110",
        &[UNSIGNED_RESULT, SHIFTED, AMOUNT, WRAP, sat(55), OP, CC],
        &[DST, VIDEO_A, VIDEO_B, VIDEO_IMM, C],
    ),
    row(
        Vmad,
        "0101 1111",
        &[FORMAT_A, FORMAT_B, plus_one(53), SHIFT, sat(55), CC],
        &[DST, VIDEO_A.neg(54).unless(53), VIDEO_B, VIDEO_IMM, C.neg(53).unless(54)],
    ),
    row(
        Vabsdiff4,
        "0101 0000 0",
        &[
            flag(Mod::VideoSignedResult, 38, ".SD"),
            byte_signs(Mod::VideoA),
            byte_signs(Mod::VideoB),
            sat(50),
            REDUCTION,
            LANES,
            CC,
        ],
        &[
            DST,
            A.part(f(32, 4), BYTES_A),
            B.part(SELECTION, BYTES_B).unless_value(SELECTION, 15),
            o(Role::B, Kind::Imm(f(20, 8))).when(SELECTION, 15),
            C,
        ],
    ),
];
