//! Control flow.

use super::form::{Row, row};
use super::spec::{Choice, Field, Kind, ModSpec, OperandSpec, RESERVED, Values, f, flag, list, m, o};
use crate::inst::Role::{self, Cc, Dst, Number, Target};
use crate::modifier::Mod;
use crate::opcode::Opcode::*;

const CC: OperandSpec = o(Cc, Kind::Cc(0));

/// By bit 5 the target is in a constant.
const IN_CONSTANT: Field = f(5, 1);
const RELATIVE: OperandSpec = o(Target, Kind::Relative).when(IN_CONSTANT, 0);
const ABSOLUTE: OperandSpec = o(Target, Kind::Absolute).when(IN_CONSTANT, 0);
const CONSTANT: OperandSpec = o(Target, Kind::FlowConst).when(IN_CONSTANT, 1);

const LIMIT: ModSpec = flag(Mod::Limit, 6, ".LMT");
const UNIFORM: ModSpec = flag(Mod::UniformFlow, 7, ".U");
const NO_INC: ModSpec = m(Mod::NoInc, f(6, 1), Values::List(&[(".NOINC", 1), ("", 0)]));

const fn indirect(field: Field) -> [OperandSpec; 4] {
    [
        CC,
        o(Role::A, Kind::Reg(8)).when(IN_CONSTANT, 0),
        o(Target, Kind::RegRelative(field)).when(IN_CONSTANT, 0),
        o(Target, Kind::IndexedConst).when(IN_CONSTANT, 1),
    ]
}
const BRX_OPERANDS: [OperandSpec; 4] = indirect(f(20, 24));
const JMX_OPERANDS: [OperandSpec; 4] = indirect(f(20, 32));

const BPT_KIND: ModSpec = {
    const LIST: &[Choice] = &[
        (".DRAIN_ILLEGAL", 0),
        (".CAL", 1),
        (".PAUSE", 2),
        (".TRAP", 3),
        (".INT", 4),
        (".DRAIN", 5),
        (".???6", RESERVED),
        (".???7", RESERVED),
    ];
    list(Mod::Operation, f(6, 3), LIST)
};
const RTT_KIND: ModSpec =
    list(Mod::Operation, f(0, 2), &[("", 0), (".TERMINATE", 1), (".FALLTHROUGH", 2), (".PREEMPTED", 3)]);

const PUSH: &[OperandSpec] = &[RELATIVE, CONSTANT];

pub(super) const ROWS: &[Row] = &[
    row(Bra, "1110 0010 0100", &[UNIFORM, LIMIT], &[CC, RELATIVE, CONSTANT]),
    row(Brx, "1110 0010 0101", &[LIMIT], &BRX_OPERANDS),
    row(Jmp, "1110 0010 0001", &[UNIFORM, LIMIT], &[CC, ABSOLUTE, CONSTANT]),
    row(Jmx, "1110 0010 0000", &[LIMIT], &JMX_OPERANDS),
    row(Cal, "1110 0010 0110", &[NO_INC], PUSH).unguarded(),
    row(Jcal, "1110 0010 0010", &[NO_INC], &[ABSOLUTE, CONSTANT]).unguarded(),
    row(Pret, "1110 0010 0111", &[NO_INC], PUSH).unguarded(),
    row(Ssy, "1110 0010 1001", &[], PUSH).unguarded(),
    row(Pbk, "1110 0010 1010", &[], PUSH).unguarded(),
    row(Pcnt, "1110 0010 1011", &[], PUSH).unguarded(),
    row(Plongjmp, "1110 0010 1000", &[], PUSH).unguarded(),
    row(Pexit, "1110 0010 0011", &[], &[o(Target, Kind::Relative)]).unguarded(),
    row(Exit, "1110 0011 0000", &[flag(Mod::KeepRefCount, 5, ".KEEPREFCOUNT")], &[CC]),
    row(Longjmp, "1110 0011 0001", &[], &[CC]),
    row(Ret, "1110 0011 0010", &[], &[CC]),
    row(Kil, "1110 0011 0011", &[], &[CC]),
    row(Brk, "1110 0011 0100", &[], &[CC]),
    row(Cont, "1110 0011 0101", &[], &[CC]),
    row(Sync, "1111 0000 1111 1", &[], &[CC]),
    row(Rtt, "1110 0011 0110", &[RTT_KIND], &[]).unguarded(),
    row(Sam, "1110 0011 0111", &[], &[]).unguarded(),
    row(Ram, "1110 0011 1000", &[], &[]).unguarded(),
    row(
        Ide,
        "1110 0011 1001",
        &[list(Mod::Operation, f(5, 1), &[(".EN", 1), ("", 0)])],
        &[o(Number, Kind::Imm(f(20, 16)))],
    )
    .unguarded(),
    row(Bpt, "1110 0011 1010", &[BPT_KIND], &[o(Number, Kind::Imm(f(20, 20))).hide(0)]).unguarded(),
    row(Getcrsptr, "1110 0010 1100", &[], &[o(Dst, Kind::Reg(0))]).unguarded(),
    row(Getlmembase, "1110 0010 1101", &[], &[o(Dst, Kind::Reg(0))]).unguarded(),
    row(Setcrsptr, "1110 0010 1110", &[], &[o(Role::A, Kind::Reg(8))]).unguarded(),
    row(Setlmembase, "1110 0010 1111", &[], &[o(Role::A, Kind::Reg(8))]).unguarded(),
];
