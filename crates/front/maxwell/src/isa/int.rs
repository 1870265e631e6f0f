//! Integers and moves.

use super::form::{RCI, Row, alu, row};
use super::spec::{Kind, OperandSpec, Place, Ty, f, m, o};
use crate::inst::Role::{A, B, Dst, Number};
use crate::modifier::Mod;
use crate::opcode::Opcode::*;

const DST: OperandSpec = o(Dst, Kind::Reg(0));

pub(super) const ROWS: &[Row] = &[
    alu(Mov, RCI, "100 1001 1", &[], &[DST, o(B, Kind::B(Ty::Int)), o(Number, Kind::Imm(f(39, 4)))]),
    row(Mov32i, "0000 0001 0000", &[], &[DST, o(B, Kind::Imm(f(20, 32)))]),
    alu(
        Iadd,
        RCI,
        "100 0001 0",
        &[
            m(Mod::Sat, f(50, 1), &[("", 0), (".SAT", 1)]),
            m(Mod::X, f(43, 1), &[("", 0), (".X", 1)]),
            m(Mod::Cc, f(47, 1), &[("", 0), (".CC", 1)]).at(Place::Dst),
        ],
        &[DST, o(A, Kind::Reg(8)).neg(49), o(B, Kind::B(Ty::Int)).neg(48)],
    ),
];
