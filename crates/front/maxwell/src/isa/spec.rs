//! What a row says of operands and modifiers, and how they are taken from a word.

use super::form::{Form, Src};
use crate::inst::{Inst, Operand, PT, Part, RZ, Role, Value};
use crate::modifier::{CcTest, Mod};

/// One or two runs of bits; the second is the more significant.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    lo: u8,
    len: u8,
    lo2: u8,
    len2: u8,
}

/// `len` bits from `lo`.
pub(super) const fn f(lo: u8, len: u8) -> Field {
    Field { lo, len, lo2: 0, len2: 0 }
}

impl Field {
    /// With `len` more significant bits from `lo`.
    pub(super) const fn and(self, lo: u8, len: u8) -> Field {
        Field { lo2: lo, len2: len, ..self }
    }

    const fn part(word: u64, lo: u8, len: u8) -> u64 {
        (word >> lo) & ((1 << len) - 1)
    }

    /// Its value in a word.
    pub const fn get(self, word: u64) -> u32 {
        (Field::part(word, self.lo, self.len) | (Field::part(word, self.lo2, self.len2) << self.len)) as u32
    }

    /// Its value, its top bit being the sign.
    pub const fn signed(self, word: u64) -> i32 {
        let unused = 32 - self.bits();
        ((self.get(word) << unused) as i32) >> unused
    }

    /// Its length.
    pub const fn bits(self) -> u32 {
        (self.len + self.len2) as u32
    }
}

/// The code of a value that the ISA reserves but the vendor's disassembler names.
pub const RESERVED: u8 = 255;

/// A value of a modifier: its text and its code.
pub type Choice = (&'static str, u8);

/// Where a modifier's text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// After the mnemonic, in the order of the row.
    Name,
    /// After the first operand.
    Dst,
    /// Where an operand of [`Kind::Text`] says, or nowhere.
    Elsewhere,
}

/// A modifier of a form.
#[derive(Clone, Copy, Debug)]
pub struct ModSpec {
    /// Which.
    pub which: Mod,
    /// Its bits.
    pub field: Field,
    /// Its values by the field's. A word whose field is beyond them is no instruction.
    pub values: &'static [Choice],
    /// Where its text stands.
    pub place: Place,
}

impl ModSpec {
    /// Its value in a word.
    pub fn choice(&self, word: u64) -> Option<Choice> {
        self.values.get(self.field.get(word) as usize).copied()
    }

    /// The code of its value in a word.
    pub fn code(&self, word: u64) -> u8 {
        self.choice(word).map_or(RESERVED, |c| c.1)
    }
}

pub(super) const fn m(which: Mod, field: Field, values: &'static [Choice]) -> ModSpec {
    ModSpec { which, field, values, place: Place::Name }
}

impl ModSpec {
    pub(super) const fn at(self, place: Place) -> ModSpec {
        ModSpec { place, ..self }
    }
}

/// What a short immediate in the second source's place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    /// An integer of 20 bits with sign.
    Int,
    /// The upper 20 bits of a single.
    F32,
    /// The upper 20 bits of a double.
    F64,
}

/// The kind of an operand and where its bits are.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A register of 8 bits from here.
    Reg(u8),
    /// A predicate of 3 bits from here.
    Pred(u8),
    /// The second source: register at 20, constant or immediate by the form; register at 39 in `RC` forms.
    B(Ty),
    /// The third source: register at 39; the constant in `RC` forms.
    C,
    /// An unsigned number.
    Imm(Field),
    /// A signed number.
    Signed(Field),
    /// A single with all its bits.
    F32(Field),
    /// Memory: the offset, and the bit that widens the address (64 for none, 65 for always).
    Mem(Field, u8),
    /// A constant with index register at 8.
    IndexedConst,
    /// A special register.
    Special(Field),
    /// A code address relative to the next word.
    Relative,
    /// The test of bits 0 to 4.
    Cc,
    /// Not an operand: the text of a modifier.
    Text(Mod),
}

/// No bit.
const NONE: u8 = 255;

/// An operand of a form.
#[derive(Clone, Copy, Debug)]
pub struct OperandSpec {
    /// Its role; meaningless for [`Kind::Text`].
    pub role: Role,
    /// Its kind.
    pub kind: Kind,
    neg: u8,
    abs: u8,
    inv: u8,
}

pub(super) const fn o(role: Role, kind: Kind) -> OperandSpec {
    OperandSpec { role, kind, neg: NONE, abs: NONE, inv: NONE }
}

impl OperandSpec {
    /// Negated by this bit.
    pub(super) const fn neg(self, bit: u8) -> OperandSpec {
        OperandSpec { neg: bit, ..self }
    }

    /// Made positive by this bit.
    pub(super) const fn abs(self, bit: u8) -> OperandSpec {
        OperandSpec { abs: bit, ..self }
    }

    /// Inverted by this bit.
    pub(super) const fn inv(self, bit: u8) -> OperandSpec {
        OperandSpec { inv: bit, ..self }
    }
}

fn bit(word: u64, bit: u8) -> bool {
    bit < 64 && (word >> bit) & 1 != 0
}

/// A constant of 14 bits of word offset from 20 and 5 bits of bank.
fn constant(word: u64) -> Value {
    Value::Const { bank: f(34, 5).get(word) as u8, offset: f(20, 14).signed(word) * 4, index: RZ }
}

fn immediate(ty: Ty, word: u64) -> Value {
    const BITS: Field = f(20, 19).and(56, 1);
    let bits = BITS.get(word);
    match ty {
        Ty::Int => Value::Imm(BITS.signed(word) as u32),
        Ty::F32 => Value::F32(bits << 12),
        Ty::F64 => Value::F64(u64::from(bits) << 44),
    }
}

/// The operand of a spec; none for text and for parts that are not there.
pub(crate) fn extract(form: &Form, spec: &OperandSpec, inst: &Inst) -> Option<Operand> {
    let word = inst.word;
    let register = |lo: u8| Value::Reg(f(lo, 8).get(word) as u8);
    let value = match spec.kind {
        Kind::Reg(lo) => register(lo),
        Kind::Pred(lo) => Value::Pred(f(lo, 3).get(word) as u8 & PT),
        Kind::B(ty) => match form.src {
            Src::None | Src::Reg => register(20),
            Src::Const => constant(word),
            Src::Imm => immediate(ty, word),
            Src::RegConst => register(39),
        },
        Kind::C => match form.src {
            Src::RegConst => constant(word),
            _ => register(39),
        },
        Kind::Imm(field) => Value::Imm(field.get(word)),
        Kind::Signed(field) => Value::Imm(field.signed(word) as u32),
        Kind::F32(field) => Value::F32(field.get(word)),
        Kind::Mem(field, wide) => Value::Mem {
            base: f(8, 8).get(word) as u8,
            offset: field.signed(word),
            wide: wide == 65 || bit(word, wide),
        },
        Kind::IndexedConst => Value::Const {
            bank: f(36, 5).get(word) as u8,
            offset: f(20, 16).signed(word),
            index: f(8, 8).get(word) as u8,
        },
        Kind::Special(field) => Value::Special(field.get(word) as u8),
        Kind::Relative => {
            Value::Target(inst.address.wrapping_add(8).wrapping_add_signed(f(20, 24).signed(word)))
        }
        Kind::Cc => {
            let test = CcTest(f(0, 5).get(word) as u8);
            if test == CcTest::T {
                return None;
            }
            Value::Cc(test)
        }
        Kind::Text(_) => return None,
    };
    Some(Operand {
        role: spec.role,
        value,
        neg: bit(word, spec.neg),
        abs: bit(word, spec.abs),
        inv: bit(word, spec.inv),
        part: Part::Full,
    })
}
