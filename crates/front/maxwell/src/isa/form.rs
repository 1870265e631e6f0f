//! Rows and the forms they expand to.

use super::spec::{ModSpec, OperandSpec};
use super::{convert, float, flow, half, int, memory, special, surface, texture, video};
use crate::inst::Role;
use crate::modifier::Mod;
use crate::opcode::Opcode;
use std::ops::Index;

/// What the second source of a form is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Src {
    /// The row has no such source.
    None,
    /// A register.
    Reg,
    /// A constant.
    Const,
    /// A short immediate.
    Imm,
    /// A register, and the third source is a constant.
    RegConst,
}

/// Register, constant, immediate.
pub(super) const RCI: &[Src] = &[Src::Reg, Src::Const, Src::Imm];
/// Register, constant, immediate, and constant as the third source.
pub(super) const RCIC: &[Src] = &[Src::Reg, Src::Const, Src::Imm, Src::RegConst];

/// An operation's row.
#[derive(Clone, Copy)]
pub(super) struct Row {
    op: Opcode,
    /// Upper bits from 63 down, or, where `sources` is not empty, from 58 down: the bits above tell the sources apart.
    pattern: &'static str,
    sources: &'static [Src],
    modifiers: &'static [ModSpec],
    operands: &'static [OperandSpec],
    /// Bits that must have a value beside the pattern.
    fixed: (u64, u64),
    /// It has a guard.
    guarded: bool,
}

/// A row whose pattern starts at bit 63.
pub(super) const fn row(
    op: Opcode,
    pattern: &'static str,
    modifiers: &'static [ModSpec],
    operands: &'static [OperandSpec],
) -> Row {
    Row { op, pattern, sources: &[Src::None], modifiers, operands, fixed: (0, 0), guarded: true }
}

/// A row of several kinds of second source: the pattern starts at bit 58, or 59 with immediates.
pub(super) const fn alu(
    op: Opcode,
    sources: &'static [Src],
    pattern: &'static str,
    modifiers: &'static [ModSpec],
    operands: &'static [OperandSpec],
) -> Row {
    Row { op, pattern, sources, modifiers, operands, fixed: (0, 0), guarded: true }
}

impl Row {
    /// `len` bits from `lo` must be `value`.
    pub(super) const fn bits(self, lo: u8, len: u8, value: u64) -> Row {
        let (mask, old) = self.fixed;
        Row { fixed: (mask | (((1 << len) - 1) << lo), old | (value << lo)), ..self }
    }

    /// It runs whatever its guard says.
    pub(super) const fn unguarded(self) -> Row {
        Row { guarded: false, ..self }
    }

    const fn expand(&self, src: Src) -> Form {
        let (prefix, hi, skip) = match src {
            Src::None => (0, 63, NO_SKIP),
            Src::Reg => (0b01011, 58, NO_SKIP),
            Src::Const => (0b01001, 58, NO_SKIP),
            Src::RegConst => (0b01010, 58, NO_SKIP),
            // The sign of the immediate is bit 56.
            Src::Imm => (0b00110, 59, 56),
        };
        let (mut mask, mut value) = self.fixed;
        if hi == 58 {
            mask |= 0b11111 << 59;
            value |= prefix << 59;
        } else if hi == 59 {
            mask |= 0b1111 << 60;
            value |= (prefix >> 1) << 60;
        }
        let pattern = self.pattern.as_bytes();
        let mut bit = hi;
        let mut at = 0;
        while at < pattern.len() {
            match pattern[at] {
                b' ' => {
                    at += 1;
                    continue;
                }
                b'0' => mask |= 1 << bit,
                b'1' => {
                    mask |= 1 << bit;
                    value |= 1 << bit;
                }
                b'-' => {}
                _ => panic!("a pattern is made of 0, 1 and -"),
            }
            at += 1;
            bit -= 1;
            if bit == skip {
                bit -= 1;
            }
        }
        let (mut partial, mut which, mut roles) = (false, 0, 0);
        let mut at = 0;
        while at < self.modifiers.len() {
            partial |= self.modifiers[at].is_partial();
            which |= 1 << self.modifiers[at].which as u32;
            at += 1;
        }
        at = 0;
        while at < self.operands.len() {
            roles |= 1 << self.operands[at].role as u32;
            at += 1;
        }
        Form {
            op: self.op,
            mask,
            value,
            src,
            modifiers: self.modifiers,
            operands: self.operands,
            guarded: self.guarded,
            partial,
            which,
            roles,
        }
    }
}

const NO_SKIP: u32 = 64;

/// A bit pattern and what a word that matches it holds.
#[derive(Clone, Copy)]
pub struct Form {
    /// The operation.
    pub op: Opcode,
    /// Bits that tell the form.
    pub mask: u64,
    /// Their values.
    pub value: u64,
    /// The second source.
    pub src: Src,
    /// Modifiers in the order of the text.
    pub modifiers: &'static [ModSpec],
    /// Operands in the order of the text.
    pub operands: &'static [OperandSpec],
    /// Bits 16 to 19 are a guard.
    pub guarded: bool,
    /// Some values of its modifiers are undefined.
    pub(crate) partial: bool,
    /// Its modifiers and the roles of its operands: what is asked for most is not there.
    which: u128,
    roles: u32,
}

impl Form {
    /// Whether it has a modifier.
    pub(crate) const fn has_modifier(&self, which: Mod) -> bool {
        self.which >> which as u32 & 1 != 0
    }

    /// Whether it has an operand of a role, if only in some words.
    pub(crate) const fn has_operand(&self, role: Role) -> bool {
        self.roles >> role as u32 & 1 != 0
    }
}

/// A form's number in [`FORMS`]; only the decoder makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FormId(pub(super) u16);

/// All forms, indexed by [`FormId`].
pub struct Forms(pub(super) [Form; COUNT]);

impl Forms {
    /// The forms in the order of the table.
    pub fn iter(&self) -> impl Iterator<Item = &Form> {
        self.0.iter()
    }
}

impl Index<FormId> for Forms {
    type Output = Form;

    fn index(&self, id: FormId) -> &Form {
        &self.0[usize::from(id.0)]
    }
}

const ROWS: &[&[Row]] = &[
    int::ROWS,
    float::ROWS,
    half::ROWS,
    convert::ROWS,
    memory::ROWS,
    texture::ROWS,
    surface::ROWS,
    special::ROWS,
    video::ROWS,
    flow::ROWS,
];

pub(super) const COUNT: usize = {
    let mut count = 0;
    let mut family = 0;
    while family < ROWS.len() {
        let mut row = 0;
        while row < ROWS[family].len() {
            count += ROWS[family][row].sources.len();
            row += 1;
        }
        family += 1;
    }
    count
};

/// The table.
pub static FORMS: Forms = Forms({
    let mut forms = [int::ROWS[0].expand(Src::Reg); COUNT];
    let mut at = 0;
    let mut family = 0;
    while family < ROWS.len() {
        let mut row = 0;
        while row < ROWS[family].len() {
            let mut src = 0;
            while src < ROWS[family][row].sources.len() {
                forms[at] = ROWS[family][row].expand(ROWS[family][row].sources[src]);
                at += 1;
                src += 1;
            }
            row += 1;
        }
        family += 1;
    }
    forms
});
