//! Textures.

use super::common::*;
use super::form::{Row, row};
use super::spec::Place;
use super::spec::{
    Choice, Field, Kind, ModSpec, OperandSpec, RESERVED, UNDEFINED, Values, f, flag, list, m, o, text,
};
use crate::inst::Role::{Dst2, DstPred, Extra, Handle, Mask};
use crate::modifier::{LodMode, Mod, TextureDim, TextureQuery};
use crate::opcode::Opcode::*;

const DIMS: [&str; 8] = ["1D", "ARRAY_1D", "2D", "ARRAY_2D", "3D", "ARRAY_3D", "CUBE", "ARRAY_CUBE"];

const DIM: ModSpec = {
    const LIST: &[Choice] = &{
        let mut list = [("", 0); 8];
        let mut at = 0;
        while at < list.len() {
            list[at] = (DIMS[at], at as u8);
            at += 1;
        }
        list
    };
    list(Mod::TextureDim, f(28, 3), LIST).at(Place::Elsewhere)
};

const fn lod(lo: u8) -> ModSpec {
    const LIST: &[Choice] = &[
        ("", LodMode::Implicit as u8),
        (".LZ", LodMode::Lz as u8),
        (".LB", LodMode::Lb as u8),
        (".LL", LodMode::Ll as u8),
        (".INVALIDBLOD4", RESERVED),
        (".INVALIDBLOD5", RESERVED),
        (".LBA", LodMode::Lba as u8),
        (".LLA", LodMode::Lla as u8),
    ];
    list(Mod::LodMode, f(lo, 3), LIST)
}

const fn lod_clamp(bit: u8) -> ModSpec {
    flag(Mod::LodClamp, bit, ".LC")
}

const fn offset(bit: u8) -> ModSpec {
    flag(Mod::Offset, bit, ".AOFFI")
}

/// TLD4's offsets: none, one, one for each texel.
const fn offsets(lo: u8) -> ModSpec {
    list(Mod::GatherOffset, f(lo, 2), &[("", 0), (".AOFFI", 1), (".PTP", 2), (".INVALIDBTOFF03", RESERVED)])
}

const fn component(lo: u8) -> ModSpec {
    list(Mod::Component, f(lo, 2), &[(".R", 0), (".G", 1), (".B", 2), (".A", 3)])
}

const DC: ModSpec = flag(Mod::DepthCompare, 50, ".DC");
const NDV: ModSpec = flag(Mod::Ndv, 35, ".NDV");
const NODEP: ModSpec = flag(Mod::Nodep, 49, ".NODEP");
const BINDLESS: ModSpec = list(Mod::Bindless, f(0, 0), &[(".B", 1)]);
const fn f16(bit: u8) -> ModSpec {
    m(Mod::F16Result, f(bit, 1), Values::List(&[(".F16", 1), ("", 0)]))
}

/// Whether the texels are resident; not printed if PT.
const RESIDENT: OperandSpec = o(DstPred, Kind::Pred(51)).hide(7);
/// The second tuple; the tool leaves RZ out.
const TUPLE_B: OperandSpec = o(Extra, Kind::Reg(20)).hide(255);
/// That of TLD4S, TXD and TMML, always printed.
const PACKED_B: OperandSpec = o(Extra, Kind::Reg(20));
const HANDLE: OperandSpec = o(Handle, Kind::Imm(f(36, 13)));
/// With the handle in a register the tool prints 0 in its place.
const NO_HANDLE: OperandSpec = o(Handle, Kind::Imm(f(0, 0)));
const MASK: OperandSpec = o(Mask, Kind::Imm(f(31, 4)));
const DIM_TEXT: OperandSpec = text(Mod::TextureDim);

const FETCH: &[OperandSpec] = &[RESIDENT, DST, A, TUPLE_B, HANDLE, DIM_TEXT, MASK];
const FETCH_BINDLESS: &[OperandSpec] = &[RESIDENT, DST, A, TUPLE_B, NO_HANDLE, DIM_TEXT, MASK];

const GRADIENT: &[OperandSpec] = &[RESIDENT, DST, A, PACKED_B, HANDLE, DIM_TEXT, MASK];
const GRADIENT_BINDLESS: &[OperandSpec] = &[RESIDENT, DST, A, PACKED_B, NO_HANDLE, DIM_TEXT, MASK];

const LOAD_LOD: ModSpec =
    list(Mod::LodMode, f(55, 1), &[(".LZ", LodMode::Lz as u8), (".LL", LodMode::Ll as u8)]);
const LOAD: [ModSpec; 6] =
    [LOAD_LOD, offset(35), flag(Mod::Multisample, 50, ".MS"), flag(Mod::LodClamp, 54, ".CL"), NODEP, DIM];

/// What TEXS and TLDS fetch, by their four bits.
#[derive(Clone, Copy)]
struct Packed {
    dim: TextureDim,
    lod: LodMode,
    compare: bool,
    offset: bool,
    multisample: bool,
}

const fn packed(dim: TextureDim, lod: LodMode) -> Option<Packed> {
    Some(Packed { dim, lod, compare: false, offset: false, multisample: false })
}

const fn compared(dim: TextureDim, lod: LodMode) -> Option<Packed> {
    Some(Packed { dim, lod, compare: true, offset: false, multisample: false })
}

const TEXS: [Option<Packed>; 16] = {
    use LodMode::*;
    use TextureDim::*;
    [
        packed(D1, Lz),
        packed(D2, Implicit),
        packed(D2, Lz),
        packed(D2, Ll),
        compared(D2, Implicit),
        compared(D2, Ll),
        compared(D2, Lz),
        packed(Array2d, Implicit),
        packed(Array2d, Lz),
        compared(Array2d, Lz),
        packed(D3, Implicit),
        packed(D3, Lz),
        packed(Cube, Implicit),
        packed(Cube, Ll),
        None,
        None,
    ]
};

const TLDS: [Option<Packed>; 16] = {
    use LodMode::*;
    use TextureDim::*;
    const fn offset(lod: LodMode) -> Option<Packed> {
        Some(Packed { dim: D2, lod, compare: false, offset: true, multisample: false })
    }
    [
        packed(D1, Lz),
        packed(D1, Ll),
        packed(D2, Lz),
        None,
        offset(Lz),
        packed(D2, Ll),
        Some(Packed { dim: D2, lod: Lz, compare: false, offset: false, multisample: true }),
        packed(D3, Lz),
        packed(Array2d, Lz),
        None,
        None,
        None,
        offset(Ll),
        None,
        None,
        None,
    ]
};

/// The list of one modifier of the packed forms.
const fn of_packed(which: Mod, table: &[Option<Packed>; 16]) -> [Choice; 16] {
    let mut list = [("", UNDEFINED); 16];
    let mut at = 0;
    while at < table.len() {
        if let Some(packed) = table[at] {
            list[at] = match which {
                Mod::TextureDim => (DIMS[packed.dim as usize], packed.dim as u8),
                Mod::LodMode => match packed.lod {
                    LodMode::Lz => (".LZ", LodMode::Lz as u8),
                    LodMode::Ll => (".LL", LodMode::Ll as u8),
                    _ => ("", LodMode::Implicit as u8),
                },
                Mod::DepthCompare if packed.compare => (".DC", 1),
                Mod::Offset if packed.offset => (".AOFFI", 1),
                Mod::Multisample if packed.multisample => (".MS", 1),
                _ => ("", 0),
            };
        }
        at += 1;
    }
    list
}

const PACKED: Field = f(53, 4);
const TEXS_DIM: ModSpec =
    list(Mod::TextureDim, PACKED, &of_packed(Mod::TextureDim, &TEXS)).at(Place::Elsewhere);
const TEXS_LOD: ModSpec = list(Mod::LodMode, PACKED, &of_packed(Mod::LodMode, &TEXS));
const TEXS_DC: ModSpec = list(Mod::DepthCompare, PACKED, &of_packed(Mod::DepthCompare, &TEXS));
const TLDS_DIM: ModSpec =
    list(Mod::TextureDim, PACKED, &of_packed(Mod::TextureDim, &TLDS)).at(Place::Elsewhere);
const TLDS_LOD: ModSpec = list(Mod::LodMode, PACKED, &of_packed(Mod::LodMode, &TLDS));
const TLDS_OFFSET: ModSpec = list(Mod::Offset, PACKED, &of_packed(Mod::Offset, &TLDS));
const TLDS_MS: ModSpec = list(Mod::Multisample, PACKED, &of_packed(Mod::Multisample, &TLDS));

/// Components a packed fetch writes, as bits R G B A from 0: one or two into the first destination if the second is
/// RZ, else three or four, two to each.
const COMPONENTS: ModSpec = {
    const TWO: &[Choice] = &[
        ("R", 0b0001),
        ("G", 0b0010),
        ("B", 0b0100),
        ("A", 0b1000),
        ("RG", 0b0011),
        ("RA", 0b1001),
        ("GA", 0b1010),
        ("BA", 0b1100),
    ];
    const FOUR: &[Choice] = &[
        ("RGB", 0b0111),
        ("RGA", 0b1011),
        ("RBA", 0b1101),
        ("GBA", 0b1110),
        ("RGBA", 0b1111),
        ("INVALID5", RESERVED),
        ("INVALID6", RESERVED),
        ("INVALID7", RESERVED),
    ];
    m(Mod::Components, f(50, 3), Values::ByNumber(f(28, 8), 255, &Values::List(TWO), &Values::List(FOUR)))
        .at(Place::Elsewhere)
};
const PACKED_FETCH: &[OperandSpec] =
    &[o(Dst2, Kind::Reg(28)), DST, A, TUPLE_B, HANDLE, DIM_TEXT, text(Mod::Components)];

const QUERY: ModSpec = {
    const LIST: &[Choice] = &{
        let mut list = [("", UNDEFINED); 64];
        list[1] = ("TEX_HEADER_DIMENSION", TextureQuery::Dimension as u8);
        list[2] = ("TEX_HEADER_TEXTURE_TYPE", TextureQuery::TextureType as u8);
        list[5] = ("TEX_HEADER_SAMPLER_POS", TextureQuery::SamplePosition as u8);
        let numbers = [
            "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16", "17", "18", "19",
            "20", "21", "22", "23", "24", "25", "26", "27", "28", "29", "30", "31",
        ];
        let mut at = 0;
        while at < numbers.len() {
            list[2 * at + 6] = (numbers[at], RESERVED);
            at += 1;
        }
        list[16] = ("TEX_SAMPLER_FILTER", TextureQuery::Filter as u8);
        list[18] = ("TEX_SAMPLER_LOD", TextureQuery::Lod as u8);
        list[20] = ("TEX_SAMPLER_WRAP", TextureQuery::Wrap as u8);
        list[22] = ("TEX_SAMPLER_BORDER_COLOR", TextureQuery::BorderColor as u8);
        list
    };
    list(Mod::TextureQuery, f(22, 6), LIST).at(Place::Elsewhere)
};
const QUERY_TEXT: OperandSpec = text(Mod::TextureQuery);
const LOD_QUERY: ModSpec = list(Mod::Operation, f(0, 0), &[(".LOD", 0)]);

pub(super) const ROWS: &[Row] = &[
    row(Tex, "1100 0", &[lod(55), lod_clamp(58), offset(54), DC, NDV, NODEP, DIM], FETCH),
    row(
        Tex,
        "1101 1110 10",
        &[BINDLESS, lod(37), lod_clamp(40), offset(36), DC, NDV, NODEP, DIM],
        FETCH_BINDLESS,
    ),
    row(Tld, "1101 1100", &LOAD, FETCH),
    row(Tld, "1101 1101", &[BINDLESS, LOAD[0], LOAD[1], LOAD[2], LOAD[3], LOAD[4], DIM], FETCH_BINDLESS),
    row(Tld4, "1100 10", &[component(56), offsets(54), DC, NDV, NODEP, DIM], FETCH),
    row(Tld4, "1101 1110 11", &[component(38), BINDLESS, offsets(36), DC, NDV, NODEP, DIM], FETCH_BINDLESS)
        .bits(40, 1, 0),
    row(Txd, "1101 1110 00", &[lod_clamp(50), offset(35), NODEP, DIM], GRADIENT),
    row(Txd, "1101 1110 01", &[BINDLESS, lod_clamp(50), offset(35), NODEP, DIM], GRADIENT_BINDLESS),
    row(Txq, "1101 1111 0100 1", &[NODEP, QUERY], &[DST, A, QUERY_TEXT, HANDLE, MASK]),
    row(Txq, "1101 1111 0101 0", &[BINDLESS, NODEP, QUERY], &[DST, A, QUERY_TEXT, NO_HANDLE, MASK]),
    row(Tmml, "1101 1111 0101 1", &[LOD_QUERY, NDV, NODEP, DIM], &[DST, A, HANDLE, DIM_TEXT, MASK]),
    row(
        Tmml,
        "1101 1111 0110 0",
        &[BINDLESS, LOD_QUERY, NDV, NODEP, DIM],
        &[DST, A, PACKED_B, NO_HANDLE, DIM_TEXT, MASK],
    ),
    row(Txa, "1101 1111 0100 0", &[NDV, NODEP], &[DST, A, HANDLE, MASK]),
    row(Texs, "1101 -00", &[f16(59), TEXS_LOD, TEXS_DC, NODEP, TEXS_DIM, COMPONENTS], PACKED_FETCH),
    row(
        Tlds,
        "1101 -01",
        &[f16(59), TLDS_LOD, TLDS_MS, TLDS_OFFSET, NODEP, TLDS_DIM, COMPONENTS],
        PACKED_FETCH,
    ),
    row(
        Tld4s,
        "1101 1111 -0",
        &[flag(Mod::F16Result, 55, ".F16"), component(52), offset(51), DC, NODEP],
        &[o(Dst2, Kind::Reg(28)), DST, A, PACKED_B, HANDLE],
    ),
];
