//! Memory.

use super::form::{Row, row};
use super::spec::{Choice, Kind, ModSpec, f, m, o};
use crate::inst::Role::{Address, Data, Dst};
use crate::modifier::{MemSize, Mod};
use crate::opcode::Opcode::*;

const SIZES: &[Choice] = &[
    (".U8", MemSize::U8 as u8),
    (".S8", MemSize::S8 as u8),
    (".U16", MemSize::U16 as u8),
    (".S16", MemSize::S16 as u8),
    ("", MemSize::B32 as u8),
    (".64", MemSize::B64 as u8),
    (".128", MemSize::B128 as u8),
    (".U.128", MemSize::U128 as u8),
];
const SIZE: ModSpec = m(Mod::Size, f(48, 3), SIZES);
const WIDE: ModSpec = m(Mod::Wide, f(45, 1), &[("", 0), (".E", 1)]);

pub(super) const ROWS: &[Row] = &[
    row(
        Ldg,
        "1110 1110 1101 0",
        &[WIDE, SIZE],
        &[o(Dst, Kind::Reg(0)), o(Address, Kind::Mem(f(20, 24), 45))],
    ),
    row(
        Stg,
        "1110 1110 1101 1",
        &[WIDE, SIZE],
        &[o(Address, Kind::Mem(f(20, 24), 45)), o(Data, Kind::Reg(0))],
    ),
];
