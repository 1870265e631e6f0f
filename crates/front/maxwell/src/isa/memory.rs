//! Memory of every kind but textures and surfaces.

use super::common::*;
use super::form::{Row, row};
use super::spec::{
    Choice, Field, Kind, ModSpec, OperandSpec, RESERVED, UNDEFINED, Values, f, flag, list, m, o,
};
use crate::inst::Role::{self, Address, Data, DstPred, Number};
use crate::modifier::{AtomOp, AtomType, CacheOp, CctlOp, LdcMode, MembarLevel, Mod, ShflMode};
use crate::opcode::Opcode::*;

const fn wide(bit: u8) -> ModSpec {
    flag(Mod::Wide, bit, ".E")
}

const fn size(lo: u8, values: &'static [Choice]) -> ModSpec {
    list(Mod::Size, f(lo, 3), values)
}

const fn load_cache(lo: u8) -> ModSpec {
    const LIST: &[Choice] = &[
        ("", CacheOp::Default as u8),
        (".CG", CacheOp::Cg as u8),
        (".CI", CacheOp::Ci as u8),
        (".CV", CacheOp::Cv as u8),
    ];
    list(Mod::Cache, f(lo, 2), LIST)
}

const fn store_cache(lo: u8) -> ModSpec {
    const LIST: &[Choice] = &[
        ("", CacheOp::Default as u8),
        (".CG", CacheOp::Cg as u8),
        (".CS", CacheOp::Cs as u8),
        (".WT", CacheOp::Wt as u8),
    ];
    list(Mod::Cache, f(lo, 2), LIST)
}

const LOCAL_LOAD_CACHE: ModSpec = {
    const LIST: &[Choice] = &[
        ("", CacheOp::Default as u8),
        (".LU", CacheOp::Lu as u8),
        (".CI", CacheOp::Ci as u8),
        (".CV", CacheOp::Cv as u8),
    ];
    list(Mod::Cache, f(44, 2), LIST)
};

/// LDS.U prints the size that others leave out.
const SHARED_SIZE: ModSpec = {
    const UNIFORM: &[Choice] =
        &[SIZES[0], SIZES[1], SIZES[2], SIZES[3], (".32", SIZES[4].1), SIZES[5], SIZES[6], SIZES[7]];
    m(Mod::Size, f(48, 3), Values::By(f(44, 1), &[SIZES, UNIFORM]))
};

const fn memory(field: Field, wide: u8) -> OperandSpec {
    o(Address, Kind::Mem(field, wide))
}

/// Addresses of no more than 32 bits.
const NARROW: u8 = 64;
/// Local and shared memory with 24 bits of offset.
const WINDOW: OperandSpec = memory(f(20, 24), NARROW);
/// Generic memory.
const GENERIC: OperandSpec = memory(f(20, 32), 52);
const GLOBAL: OperandSpec = memory(f(20, 24), 45);
const GLOBAL_SHORT: OperandSpec = memory(f(20, 20), 45);
const ATOM_ADDRESS: OperandSpec = memory(f(28, 20), 48);
const SHARED_ATOM: OperandSpec = o(Address, Kind::WordMem(f(30, 22), NARROW));

const STORED: OperandSpec = o(Data, Kind::Reg(0));
const OPERAND: OperandSpec = o(Data, Kind::Reg(20));
/// Generic accesses write or read a predicate that says where the address lies.
const WHERE: OperandSpec = o(Role::Pred, Kind::Pred(58)).hide(7);
const INVERTED_PRED: OperandSpec = o(DstPred, Kind::InvertedPred(41));

const LDC_MODE: ModSpec = {
    const LIST: &[Choice] = &[
        ("", LdcMode::Default as u8),
        (".IL", LdcMode::Il as u8),
        (".IS", LdcMode::Is as u8),
        (".ISL", LdcMode::Isl as u8),
    ];
    list(Mod::LdcMode, f(44, 2), LIST)
};
const LDC_SIZES: &[Choice] =
    &[SIZES[0], SIZES[1], SIZES[2], SIZES[3], SIZES[4], SIZES[5], (".INVALIDSIZE6", RESERVED), SIZES[7]];

const ATOM_OPS: &[Choice] = &[
    (".ADD", AtomOp::Add as u8),
    (".MIN", AtomOp::Min as u8),
    (".MAX", AtomOp::Max as u8),
    (".INC", AtomOp::Inc as u8),
    (".DEC", AtomOp::Dec as u8),
    (".AND", AtomOp::And as u8),
    (".OR", AtomOp::Or as u8),
    (".XOR", AtomOp::Xor as u8),
    (".EXCH", AtomOp::Exch as u8),
    (".INVALIDATOMOP9", RESERVED),
    (".SAFEADD", AtomOp::SafeAdd as u8),
    (".INVALIDATOMOP11", RESERVED),
    (".INVALIDATOMOP12", RESERVED),
    (".INVALIDATOMOP13", RESERVED),
    (".INVALIDATOMOP14", RESERVED),
    (".INVALIDATOMOP15", RESERVED),
];
const ATOMS_OP: ModSpec = list(Mod::AtomOp, f(52, 4), SHARED_ATOM_OPS);

const fn atom_op(lo: u8) -> ModSpec {
    list(Mod::AtomOp, f(lo, 4), ATOM_OPS)
}

const fn atom_type(lo: u8) -> ModSpec {
    list(Mod::AtomType, f(lo, 3), ATOM_TYPES)
}

const ATOMS_TYPE: ModSpec = {
    const LIST: &[Choice] = &[ATOM_TYPES[0], ATOM_TYPES[1], ATOM_TYPES[2], ATOM_TYPES[5]];
    list(Mod::AtomType, f(28, 2), LIST)
};

const fn cas_type(bit: u8) -> ModSpec {
    list(Mod::AtomType, f(bit, 1), &[("", AtomType::U32 as u8), (".64", AtomType::U64 as u8)])
}

const CAS: ModSpec = list(Mod::AtomOp, f(0, 0), &[(".CAS", AtomOp::Cas as u8)]);
const CAST: ModSpec = list(Mod::AtomOp, f(0, 0), &[(".CAST", AtomOp::Cast as u8)]);

/// Where a compare-and-swap finds its values; the fourth way is undefined.
const fn cas_mode(lo: u8) -> ModSpec {
    list(Mod::CasMode, f(lo, 2), &[("", 0), ("", 1), ("", 2), ("", UNDEFINED)])
}

const fn cas_operands(mode: u8, size: u8) -> [OperandSpec; 2] {
    [o(Data, Kind::Compare(f(mode, 2))), o(Role::C, Kind::Swap(f(mode, 2), size))]
}
/// The forms with a predicate have no offset and need a register.
const NEEDS_BASE: ModSpec = m(
    Mod::Operation,
    f(0, 0),
    Values::ByNumber(f(8, 8), 255, &Values::Always(("", UNDEFINED)), &Values::Always(("", 0))),
);
const CAS_GLOBAL: [OperandSpec; 2] = cas_operands(50, 49);
const CAS_SHARED: [OperandSpec; 2] = cas_operands(28, 52);

const CCTL_OP: ModSpec = {
    const LIST: &[Choice] = &[
        (".QRY1", CctlOp::Qry1 as u8),
        (".PF1", CctlOp::Pf1 as u8),
        (".PF1.5", CctlOp::Pf1_5 as u8),
        (".PF2", CctlOp::Pf2 as u8),
        (".WB", CctlOp::Wb as u8),
        (".IV", CctlOp::Iv as u8),
        ("", UNDEFINED),
        (".RS", CctlOp::Rs as u8),
        ("", UNDEFINED),
        (".RSLB", CctlOp::Rslb as u8),
        (".INVALIDCCTLOP10", RESERVED),
        (".INVALIDCCTLOP11", RESERVED),
        (".INVALIDCCTLOP12", RESERVED),
        (".INVALIDCCTLOP13", RESERVED),
        (".INVALIDCCTLOP14", RESERVED),
        (".INVALIDCCTLOP15", RESERVED),
    ];
    list(Mod::CctlOp, f(0, 4), LIST)
};
/// CCTLL has no query.
const CCTLL_OP: ModSpec = {
    const LIST: &[Choice] = &{
        let mut list = [("", UNDEFINED); 16];
        let mut at = 1;
        while at < list.len() {
            list[at] = match CCTL_OP.listed(at) {
                Some(choice) => choice,
                None => list[at],
            };
            at += 1;
        }
        list
    };
    list(Mod::CctlOp, f(0, 4), LIST)
};
const CCTL_CACHE: ModSpec = {
    const LIST: &[Choice] = &[
        ("", 0),
        (".U", 1),
        (".C", 2),
        (".I", 3),
        (".CRS", 4),
        (".INVALIDCACHETYPE5", RESERVED),
        (".INVALIDCACHETYPE6", RESERVED),
        (".INVALIDCACHETYPE7", RESERVED),
    ];
    list(Mod::Operation, f(4, 3), LIST)
};
const CCTLL_CACHE: ModSpec = {
    const LIST: &[Choice] =
        &[("", 0), (".???1", RESERVED), (".INVALIDLCACHETYPE2", RESERVED), (".INVALIDLCACHETYPE3", RESERVED)];
    list(Mod::Operation, f(4, 2), LIST)
};
const CCTLT_OP: ModSpec = {
    const LIST: &[Choice] = &[
        ("", UNDEFINED),
        (".IVTH", CctlOp::Ivth as u8),
        (".INVALIDCCTLTOP2", RESERVED),
        (".INVALIDCCTLTOP3", RESERVED),
    ];
    list(Mod::CctlOp, f(0, 2), LIST)
};
const CCTLT_HANDLE: OperandSpec = o(Role::Handle, Kind::Imm(f(36, 13)));
const CCTLT_ALL: ModSpec = list(Mod::CctlOp, f(0, 0), &[(".IVALL", CctlOp::Ivall as u8)]);

const MEMBAR: &[ModSpec] = {
    const LEVEL: &[Choice] = &[
        (".CTA", MembarLevel::Cta as u8),
        (".GL", MembarLevel::Gl as u8),
        (".SYS", MembarLevel::Sys as u8),
        (".VC", MembarLevel::Vc as u8),
    ];
    const INVALIDATE: &[Choice] = &[("", 0), (".IVALLD", 1), (".IVALLT", 2), (".IVALLTD", 3)];
    &[list(Mod::MembarLevel, f(8, 2), LEVEL), list(Mod::Operation, f(0, 2), INVALIDATE)]
};

const SHFL_MODE: ModSpec = {
    const LIST: &[Choice] = &[
        (".IDX", ShflMode::Idx as u8),
        (".UP", ShflMode::Up as u8),
        (".DOWN", ShflMode::Down as u8),
        (".BFLY", ShflMode::Bfly as u8),
    ];
    list(Mod::ShflMode, f(30, 2), LIST)
};

pub(super) const ROWS: &[Row] = &[
    row(Ld, "100", &[wide(52), load_cache(56), size(53, SIZES_U128)], &[DST, GENERIC, WHERE]),
    row(St, "101", &[wide(52), store_cache(56), size(53, SIZES)], &[GENERIC, STORED, WHERE]),
    row(Ldg, "1110 1110 1101 0", &[wide(45), load_cache(46), size(48, SIZES_U128)], &[DST, GLOBAL]),
    row(
        Ldg,
        "1110 1110 1100 1",
        &[wide(45), load_cache(46), size(48, SIZES_U128)],
        &[INVERTED_PRED, DST, GLOBAL_SHORT],
    ),
    row(Stg, "1110 1110 1101 1", &[wide(45), store_cache(46), size(48, SIZES)], &[GLOBAL, STORED]),
    row(Ldl, "1110 1111 0100 0", &[LOCAL_LOAD_CACHE, size(48, SIZES)], &[DST, WINDOW]),
    row(Stl, "1110 1111 0101 0", &[store_cache(44), size(48, SIZES)], &[WINDOW, STORED]),
    row(Lds, "1110 1111 0100 1", &[flag(Mod::Uniform, 44, ".U"), SHARED_SIZE], &[DST, WINDOW]),
    row(Sts, "1110 1111 0101 1", &[size(48, SIZES)], &[WINDOW, STORED]),
    row(Ldc, "1110 1111 1001 0", &[size(48, LDC_SIZES), LDC_MODE], &[DST, o(Role::A, Kind::IndexedConst)]),
    row(Atom, "1110 1101", &[wide(48), atom_op(52), atom_type(49)], &[DST, ATOM_ADDRESS, OPERAND]),
    row(
        Atom,
        "1110 1110 0110",
        &[wide(48), atom_op(44), atom_type(49), NEEDS_BASE],
        &[INVERTED_PRED, DST, memory(f(0, 0), 48), OPERAND],
    ),
    row(
        Atom,
        "1110 1110 1111",
        &[wide(48), CAS, cas_type(49), cas_mode(50)],
        &[DST, ATOM_ADDRESS, CAS_GLOBAL[0], CAS_GLOBAL[1]],
    ),
    row(
        Atom,
        "1110 1110 0111",
        &[wide(48), CAS, cas_type(49), cas_mode(50), NEEDS_BASE],
        &[INVERTED_PRED, DST, memory(f(0, 0), 48), CAS_GLOBAL[0], CAS_GLOBAL[1]],
    ),
    row(
        Red,
        "1110 1011 1111 1",
        &[wide(48), list(Mod::AtomOp, f(23, 3), ATOM_OPS), atom_type(20)],
        &[ATOM_ADDRESS, STORED],
    ),
    row(Atoms, "1110 1100", &[ATOMS_OP, ATOMS_TYPE], &[DST, SHARED_ATOM, OPERAND]),
    row(
        Atoms,
        "1110 1110 00",
        &[CAST, flag(Mod::Spin, 53, ".SPIN"), cas_type(52), cas_mode(28)],
        &[DST, SHARED_ATOM, CAS_SHARED[0], CAS_SHARED[1]],
    ),
    row(
        Atoms,
        "1110 1110 010",
        &[CAS, cas_type(52), cas_mode(28)],
        &[DST, SHARED_ATOM, CAS_SHARED[0], CAS_SHARED[1]],
    ),
    row(Cctl, "1110 1111 011", &[wide(52), CCTL_CACHE, CCTL_OP], &[o(Address, Kind::WordMem(f(22, 30), 52))]),
    row(Cctll, "1110 1111 1000 0", &[CCTLL_CACHE, CCTLL_OP], &[o(Address, Kind::WordMem(f(22, 22), NARROW))]),
    row(Cctlt, "1110 1011 1110 1", &[CCTLT_OP], &[o(Role::A, Kind::Reg(39))]),
    row(Cctlt, "1110 1011 1111 0", &[CCTLT_OP], &[CCTLT_HANDLE]).bits(0, 1, 1),
    row(Cctlt, "1110 1011 1111 0", &[CCTLT_OP], &[CCTLT_HANDLE]).bits(0, 2, 2),
    row(Cctlt, "1110 1011 1111 0", &[CCTLT_ALL], &[]).bits(0, 2, 0).bits(36, 13, 0),
    row(Membar, "1110 1111 1001 1", MEMBAR, &[]),
    row(
        Shfl,
        "1110 1111 0001 0",
        &[SHFL_MODE],
        &[
            o(DstPred, Kind::Pred(48)),
            DST,
            A,
            B.when(f(28, 1), 0),
            o(Role::B, Kind::Imm(f(20, 5))).when(f(28, 1), 1),
            o(Role::C, Kind::Reg(39)).when(f(29, 1), 0),
            o(Role::C, Kind::Imm(f(34, 13))).when(f(29, 1), 1),
        ],
    ),
    row(Stp, "1110 1110 1010 0", &[flag(Mod::Operation, 31, ".WAIT")], &[o(Number, Kind::Imm(f(20, 8)))]),
];

const SHARED_ATOM_OPS: &[Choice] = &[
    ATOM_OPS[0],
    ATOM_OPS[1],
    ATOM_OPS[2],
    ATOM_OPS[3],
    ATOM_OPS[4],
    ATOM_OPS[5],
    ATOM_OPS[6],
    ATOM_OPS[7],
    ATOM_OPS[8],
    (".INVALIDATOMSOP9", RESERVED),
    (".INVALIDATOMSOP10", RESERVED),
    (".INVALIDATOMSOP11", RESERVED),
    (".INVALIDATOMSOP12", RESERVED),
    (".INVALIDATOMSOP13", RESERVED),
    (".INVALIDATOMSOP14", RESERVED),
    (".INVALIDATOMSOP15", RESERVED),
];
