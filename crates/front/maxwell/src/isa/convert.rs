//! Conversions.

use super::common::*;
use super::form::{RCI, Row, alu};
use super::spec::{
    Choice, Field, Kind, ModSpec, OperandSpec, PartChoice, RESERVED, SOURCE_SIZE, Ty, Values, f, list, m, o,
};
use crate::inst::{Part, Role};
use crate::modifier::{IntRounding, Mod, NumType};
use crate::opcode::Opcode::*;

const DST_SIZE: Field = f(8, 2);
const SRC_SIZE: Field = SOURCE_SIZE;
const SOURCE: OperandSpec = o(Role::A, Kind::B(Ty::Source));

const fn float_type(which: Mod, field: Field) -> ModSpec {
    const DST: &[Choice] = &[
        (".INVALIDFPDEST0", RESERVED),
        (".F16", NumType::F16 as u8),
        (".F32", NumType::F32 as u8),
        (".F64", NumType::F64 as u8),
    ];
    const SRC: &[Choice] = &[(".INVALIDFPSRC0", RESERVED), DST[1], DST[2], DST[3]];
    list(which, field, if matches!(which, Mod::DstType) { DST } else { SRC })
}

/// The destination of F2I: size and sign.
const F2I_DST: ModSpec = {
    const LIST: &[Choice] = &[
        (".INVALID0", RESERVED),
        (".U16", NumType::U16 as u8),
        (".U32", NumType::U32 as u8),
        (".U64", NumType::U64 as u8),
        (".INVALID1", RESERVED),
        (".S16", NumType::S16 as u8),
        (".S32", NumType::S32 as u8),
        (".S64", NumType::S64 as u8),
    ];
    list(Mod::DstType, DST_SIZE.and(12, 1), LIST)
};

/// The destination of I2F.
const I2F_DST: ModSpec = float_type(Mod::SrcType, DST_SIZE).of(Mod::DstType);

/// The source of I2F: size and sign.
const I2F_SRC: ModSpec = {
    const LIST: &[Choice] = &[
        (".U8", NumType::U8 as u8),
        (".U16", NumType::U16 as u8),
        (".U32", NumType::U32 as u8),
        (".U64", NumType::U64 as u8),
        (".S8", NumType::S8 as u8),
        (".S16", NumType::S16 as u8),
        (".S32", NumType::S32 as u8),
        (".S64", NumType::S64 as u8),
    ];
    list(Mod::SrcType, SRC_SIZE.and(13, 1), LIST)
};

/// The formats of I2I.
const I2I_DST: ModSpec = {
    const LIST: &[Choice] = &[
        (".U8", NumType::U8 as u8),
        (".U16", NumType::U16 as u8),
        (".U32", NumType::U32 as u8),
        (".???6", RESERVED),
        (".S8", NumType::S8 as u8),
        (".S16", NumType::S16 as u8),
        (".S32", NumType::S32 as u8),
        (".???7", RESERVED),
    ];
    list(Mod::DstType, DST_SIZE.and(12, 1), LIST)
};
const I2I_SRC: ModSpec = {
    const LIST: &[Choice] = &[
        (".U8", NumType::U8 as u8),
        (".U16", NumType::U16 as u8),
        (".U32", NumType::U32 as u8),
        (".INVALID6", RESERVED),
        (".S8", NumType::S8 as u8),
        (".S16", NumType::S16 as u8),
        (".S32", NumType::S32 as u8),
        (".INVALID7", RESERVED),
    ];
    list(Mod::SrcType, SRC_SIZE.and(13, 1), LIST)
};

/// Both formats of F2F.
const F2F_TYPES: Field = f(8, 4);
const F2F_ROUNDING: Field = f(39, 2).and(42, 1);

/// F2F between equal formats rounds to an integer, and so it does to wider ones: uam makes floor and widening one
/// instruction, of which the vendor's disassembler shows the direction only …
const F2F_TO_INT: ModSpec = {
    const INT: &[Choice] = &[
        ("", IntRounding::None as u8),
        (".PASS", IntRounding::Pass as u8),
        (".PASS", IntRounding::Pass as u8),
        (".PASS", IntRounding::Pass as u8),
        (".ROUND", IntRounding::Round as u8),
        (".FLOOR", IntRounding::Floor as u8),
        (".CEIL", IntRounding::Ceil as u8),
        (".TRUNC", IntRounding::Trunc as u8),
    ];
    const WIDER: &[Choice] = &[
        ("", IntRounding::None as u8),
        ("", IntRounding::None as u8),
        ("", IntRounding::None as u8),
        ("", IntRounding::None as u8),
        ("", IntRounding::Round as u8),
        ("", IntRounding::Floor as u8),
        ("", IntRounding::Ceil as u8),
        ("", IntRounding::Trunc as u8),
    ];
    const NO: &[Choice] = &[("", IntRounding::None as u8); 8];
    // By the source's size, then the destination's: none, 16, 32 and 64 bits.
    m(
        Mod::IntRounding,
        F2F_ROUNDING,
        Values::By(F2F_TYPES, &[INT, NO, NO, NO, NO, INT, WIDER, WIDER, NO, NO, INT, WIDER, NO, NO, NO, INT]),
    )
};

/// … and between others to the destination's precision.
const F2F_TO_FLOAT: ModSpec = {
    const TWICE: &[Choice] = &[
        ROUNDINGS[0],
        ROUNDINGS[1],
        ROUNDINGS[2],
        ROUNDINGS[3],
        ROUNDINGS[0],
        ROUNDINGS[1],
        ROUNDINGS[2],
        ROUNDINGS[3],
    ];
    const NO: &[Choice] = &[ROUNDINGS[0]; 8];
    m(
        Mod::Rounding,
        F2F_ROUNDING,
        Values::By(
            F2F_TYPES,
            &[
                NO, TWICE, TWICE, TWICE, TWICE, NO, TWICE, TWICE, TWICE, TWICE, NO, TWICE, TWICE, TWICE,
                TWICE, NO,
            ],
        ),
    )
};

const F2I_ROUNDING: ModSpec = {
    const LIST: &[Choice] = &[
        ("", IntRounding::Round as u8),
        (".FLOOR", IntRounding::Floor as u8),
        (".CEIL", IntRounding::Ceil as u8),
        (".TRUNC", IntRounding::Trunc as u8),
    ];
    list(Mod::IntRounding, f(39, 2), LIST)
};

/// Byte or half of an integer source, by its size.
const INT_PARTS: &[&[PartChoice]] = &[
    BYTES,
    &[
        ("", Part::H0),
        (".INVALIDSIZE1", Part::Reserved),
        (".H1", Part::H1),
        (".INVALIDSIZE3", Part::Reserved),
    ],
    FULL_BYTES,
    FULL_BYTES,
];
/// The tool prints bytes of whole words, too.
const FULL_BYTES: &[PartChoice] =
    &[("", Part::Full), (".B1", Part::Reserved), (".B2", Part::Reserved), (".B3", Part::Reserved)];

/// Half of a float source, by its size.
const FLOAT_PARTS: &[&[PartChoice]] = &[NO_PARTS, &[("", Part::H0), (".H1", Part::H1)], NO_PARTS, NO_PARTS];

pub(super) const ROWS: &[Row] = &[
    alu(
        F2f,
        RCI,
        "100 1010 1",
        &[
            ftz(44),
            float_type(Mod::DstType, DST_SIZE),
            float_type(Mod::SrcType, SRC_SIZE),
            F2F_TO_INT,
            F2F_TO_FLOAT,
            sat(50),
            CC,
        ],
        &[DST, SOURCE.neg(45).abs(49).part_by(f(41, 1), SRC_SIZE, FLOAT_PARTS)],
    ),
    alu(
        F2i,
        RCI,
        "100 1011 0",
        &[ftz(44), F2I_DST, float_type(Mod::SrcType, SRC_SIZE), F2I_ROUNDING, CC],
        &[DST, SOURCE.neg(45).abs(49).part(f(41, 1), HALF)],
    ),
    alu(
        I2f,
        RCI,
        "100 1011 1",
        &[I2F_DST, I2F_SRC, rounding(39), CC],
        &[DST, BI.role(Role::A).neg(45).abs(49).part_by(f(41, 2), SRC_SIZE, INT_PARTS)],
    ),
    alu(
        I2i,
        RCI,
        "100 1110 0",
        &[I2I_DST, I2I_SRC, sat(50), CC],
        &[DST, BI.role(Role::A).neg(45).abs(49).part_by(f(41, 2), SRC_SIZE, INT_PARTS)],
    ),
];
