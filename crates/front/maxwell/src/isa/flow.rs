//! Control flow.

use super::form::{Row, row};
use super::spec::{Kind, OperandSpec, o};
use crate::inst::Role::{Cc, Target};
use crate::opcode::Opcode::*;

const CC: OperandSpec = o(Cc, Kind::Cc);

pub(super) const ROWS: &[Row] = &[
    row(Exit, "1110 0011 0000", &[], &[CC]),
    row(Bra, "1110 0010 0100", &[], &[CC, o(Target, Kind::Relative)]),
];
