//! Surfaces: images read, written and updated without a sampler.

use super::common::*;
use super::form::{Row, row};
use super::spec::{Choice, Kind, ModSpec, OperandSpec, RESERVED, Values, f, flag, list, m, o};
use crate::inst::Role::{Address, Data, DstPred, Handle};
use crate::modifier::{AtomOp, AtomType, CacheOp, Mod, SurfaceClamp, SurfaceDim};
use crate::opcode::Opcode::*;

const DIM: ModSpec = {
    const LIST: &[Choice] = &[
        (".1D", SurfaceDim::D1 as u8),
        (".1D_BUFFER", SurfaceDim::Buffer1d as u8),
        (".1D_ARRAY", SurfaceDim::Array1d as u8),
        (".2D", SurfaceDim::D2 as u8),
        (".2D_ARRAY", SurfaceDim::Array2d as u8),
        (".3D", SurfaceDim::D3 as u8),
        (".INVALIDSURFACEDIM6", RESERVED),
        (".INVALIDSURFACEDIM7", RESERVED),
    ];
    list(Mod::SurfaceDim, f(33, 3), LIST)
};

const CLAMP: ModSpec = {
    const LIST: &[Choice] = &[
        (".IGN", SurfaceClamp::Ign as u8),
        ("", SurfaceClamp::Near as u8),
        (".TRAP", SurfaceClamp::Trap as u8),
        (".INVALIDSURFACECLAMP3", RESERVED),
    ];
    list(Mod::SurfaceClamp, f(49, 2), LIST)
};

/// Formatted texels; raw data.
const FORMATTED: ModSpec = list(Mod::Raw, f(0, 0), &[(".P", 0)]);
const RAW: ModSpec = list(Mod::Raw, f(0, 0), &[(".D", 1)]);

const fn byte_address(bit: u8) -> ModSpec {
    flag(Mod::ByteAddress, bit, ".BA")
}

const LOAD_CACHE: ModSpec = {
    const LIST: &[Choice] = &[
        ("", CacheOp::Default as u8),
        (".CG", CacheOp::Cg as u8),
        (".CI", CacheOp::Ci as u8),
        (".CV", CacheOp::Cv as u8),
    ];
    list(Mod::Cache, f(24, 2), LIST)
};
const STORE_CACHE: ModSpec = {
    const LIST: &[Choice] = &[
        ("", CacheOp::Default as u8),
        (".CG", CacheOp::Cg as u8),
        (".CS", CacheOp::Cs as u8),
        (".WT", CacheOp::Wt as u8),
    ];
    list(Mod::Cache, f(24, 2), LIST)
};

/// Components of a formatted access, as bits R G B A from 0.
const COMPONENTS: ModSpec = {
    const LIST: &[Choice] = &[
        (".???0", RESERVED),
        (".R", 1),
        (".G", 2),
        (".RG", 3),
        (".B", 4),
        (".RB", 5),
        (".GB", 6),
        (".RGB", 7),
        (".A", 8),
        (".RA", 9),
        (".GA", 10),
        (".RGA", 11),
        (".BA", 12),
        (".RBA", 13),
        (".GBA", 14),
        ("", 15),
    ];
    list(Mod::Components, f(20, 4), LIST)
};
const SIZE: ModSpec = list(Mod::Size, f(20, 3), SIZES);

const TYPES: &[Choice] = &[
    ATOM_TYPES[0],
    ATOM_TYPES[1],
    ATOM_TYPES[2],
    ATOM_TYPES[3],
    ATOM_TYPES[4],
    ATOM_TYPES[5],
    (".SD32", AtomType::Sd32 as u8),
    (".SD64", AtomType::Sd64 as u8),
];

const fn types(lo: u8) -> ModSpec {
    list(Mod::AtomType, f(lo, 3), TYPES)
}

const OPS: &[Choice] = &[
    (".ADD", AtomOp::Add as u8),
    (".MIN", AtomOp::Min as u8),
    (".MAX", AtomOp::Max as u8),
    (".INC", AtomOp::Inc as u8),
    (".DEC", AtomOp::Dec as u8),
    (".AND", AtomOp::And as u8),
    (".OR", AtomOp::Or as u8),
    (".XOR", AtomOp::Xor as u8),
    (".EXCH", AtomOp::Exch as u8),
    (".INVALIDATOMSOP9", RESERVED),
    (".INVALIDATOMSOP10", RESERVED),
    (".INVALIDATOMSOP11", RESERVED),
    (".INVALIDATOMSOP12", RESERVED),
    (".INVALIDATOMSOP13", RESERVED),
    (".INVALIDATOMSOP14", RESERVED),
    (".INVALIDATOMSOP15", RESERVED),
];
const OP: ModSpec = list(Mod::AtomOp, f(29, 4), OPS);
const RED_OP: ModSpec = list(Mod::AtomOp, f(24, 3), OPS);
/// The operation of the formatted compare-and-swap, which has no other.
const FORMATTED_CAS: ModSpec = {
    const LIST: &[Choice] = &{
        let mut list = numbered!(".CAS", ".???"; 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        list[0].1 = AtomOp::Cas as u8;
        list
    };
    list(Mod::AtomOp, f(29, 4), LIST)
};
const CAS: ModSpec = list(Mod::AtomOp, f(0, 0), &[(".CAS", AtomOp::Cas as u8)]);

/// Whether the texel is resident; PT is all zeros.
const fn resident(lo: u8) -> OperandSpec {
    o(DstPred, Kind::InvertedPred(lo))
}

const COORDINATES: OperandSpec = o(Address, Kind::MemReg);
const STORED: OperandSpec = o(Data, Kind::Reg(0));
const OPERAND: OperandSpec = o(Data, Kind::Reg(20));
/// The handle in a register, or its index in the bank of handles, by bit 51.
const HANDLE_REG: OperandSpec = o(Handle, Kind::Reg(39)).when(f(51, 1), 0);
const HANDLE_INDEX: OperandSpec = o(Handle, Kind::Imm(f(36, 13))).when(f(51, 1), 1);
/// That of atomics is told by the opcode.
const ATOM_REG: OperandSpec = o(Handle, Kind::Reg(39));
const ATOM_INDEX: OperandSpec = o(Handle, Kind::Imm(f(36, 13)));
/// `.B`, of the register forms, is not in the text.
const BINDLESS: ModSpec = m(Mod::Bindless, f(51, 1), Values::List(&[("", 1), ("", 0)]));
const ATOM_BINDLESS: ModSpec = list(Mod::Bindless, f(0, 0), &[("", 1)]);

pub(super) const ROWS: &[Row] = &[
    row(
        Suld,
        "1110 1011 0000",
        &[FORMATTED, DIM, LOAD_CACHE, COMPONENTS, CLAMP, BINDLESS],
        &[resident(30).hide(7), DST, COORDINATES, HANDLE_REG, HANDLE_INDEX],
    ),
    row(
        Suld,
        "1110 1011 0001",
        &[RAW, byte_address(23), DIM, LOAD_CACHE, SIZE, CLAMP, BINDLESS],
        &[resident(30).hide(7), DST, COORDINATES, HANDLE_REG, HANDLE_INDEX],
    ),
    row(
        Sust,
        "1110 1011 0010",
        &[FORMATTED, DIM, STORE_CACHE, COMPONENTS, CLAMP, BINDLESS],
        &[COORDINATES, STORED, HANDLE_REG, HANDLE_INDEX],
    ),
    row(
        Sust,
        "1110 1011 0011",
        &[RAW, byte_address(23), DIM, STORE_CACHE, SIZE, CLAMP, BINDLESS],
        &[COORDINATES, STORED, HANDLE_REG, HANDLE_INDEX],
    ),
    row(
        Sured,
        "1110 1011 0100",
        &[FORMATTED, DIM, RED_OP, CLAMP, BINDLESS],
        &[COORDINATES, STORED, HANDLE_REG, HANDLE_INDEX],
    ),
    row(
        Sured,
        "1110 1011 0101",
        &[RAW, byte_address(23), DIM, RED_OP, types(20), CLAMP, BINDLESS],
        &[COORDINATES, STORED, HANDLE_REG, HANDLE_INDEX],
    ),
    row(
        Suatom,
        "1110 1010 00",
        &[RAW, byte_address(28), DIM, OP, types(51), CLAMP],
        &[DST, COORDINATES, OPERAND, ATOM_INDEX],
    ),
    row(
        Suatom,
        "1110 1010 0110 0",
        &[FORMATTED, DIM, OP, CLAMP, ATOM_BINDLESS],
        &[DST, COORDINATES, OPERAND, ATOM_REG],
    ),
    row(Suatom, "1110 1010 0110 1", &[FORMATTED, DIM, OP, CLAMP], &[DST, COORDINATES, OPERAND, ATOM_INDEX]),
    row(
        Suatom,
        "1110 1010 0111 0",
        &[RAW, byte_address(28), DIM, OP, types(36), CLAMP, ATOM_BINDLESS],
        &[DST, COORDINATES, OPERAND, ATOM_REG],
    ),
    row(
        Suatom,
        "1110 1010 10",
        &[RAW, byte_address(28), DIM, CAS, types(51), CLAMP],
        &[resident(30).hide(7), DST, COORDINATES, OPERAND, ATOM_INDEX],
    ),
    row(
        Suatom,
        "1110 1010 1100 0",
        &[FORMATTED, DIM, FORMATTED_CAS, CLAMP, ATOM_BINDLESS],
        &[DST, COORDINATES, OPERAND, ATOM_REG],
    ),
    row(
        Suatom,
        "1110 1010 1100 1",
        &[FORMATTED, DIM, FORMATTED_CAS, CLAMP],
        &[DST, COORDINATES, OPERAND, ATOM_INDEX],
    ),
    row(
        Suatom,
        "1110 1010 1101 0",
        &[RAW, byte_address(28), DIM, CAS, types(36), CLAMP, ATOM_BINDLESS],
        &[resident(30).hide(7), DST, COORDINATES, OPERAND, ATOM_REG],
    ),
    // uam 1.1.0 gives raw atomics with the handle's index this way. The vendor's tool knows no such words; where the
    // type would be is the index.
    row(
        Suatom,
        "1110 1010 0111 1",
        &[RAW, byte_address(28), DIM, OP, CLAMP],
        &[DST, COORDINATES, OPERAND, ATOM_INDEX],
    ),
    row(
        Suatom,
        "1110 1010 1101 1",
        &[RAW, byte_address(28), DIM, CAS, CLAMP],
        &[DST, COORDINATES, OPERAND, ATOM_INDEX],
    ),
    row(
        Suatom,
        "1110 1011 10",
        &[RAW, byte_address(28), DIM, OP, types(36), CLAMP, ATOM_BINDLESS],
        &[resident(51), DST, COORDINATES, OPERAND, ATOM_REG],
    ),
];
