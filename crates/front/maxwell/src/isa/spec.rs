//! What a row says of operands and modifiers, and how they are taken from a word.

use super::form::{Form, Src};
use crate::code::WORD;
use crate::inst::{Inst, Operand, PT, Part, RZ, Role, Value};
use crate::modifier::{CcTest, Mod};

/// One or two runs of bits; the second is the more significant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

    /// Its number of bits.
    pub(super) const fn len(self) -> u8 {
        self.len + self.len2
    }

    /// The word with a value in its place; bits beyond its own are dropped.
    pub(super) const fn put(self, word: u64, value: u32) -> u64 {
        let (low, high) = ((1u64 << self.len) - 1, (1u64 << self.len2) - 1);
        let value = value as u64;
        word & !(low << self.lo | high << self.lo2)
            | (value & low) << self.lo
            | ((value >> self.len) & high) << self.lo2
    }

    /// Its value, its top bit being the sign.
    pub const fn signed(self, word: u64) -> i32 {
        let bits = (self.len + self.len2) as u32;
        if bits == 0 {
            return 0;
        }
        ((self.get(word) << (32 - bits)) as i32) >> (32 - bits)
    }
}

/// The code of a value that the ISA reserves but the vendor's disassembler names.
pub const RESERVED: u8 = 255;

/// The code of a value that makes the word no instruction.
pub(super) const UNDEFINED: u8 = 254;

/// A value of a modifier: its text and its code.
pub type Choice = (&'static str, u8);

/// The values of a modifier.
#[derive(Clone, Copy, Debug)]
pub(super) enum Values {
    /// Whatever the field is.
    Always(Choice),
    /// A flag with its text when set.
    Flag(&'static str),
    /// A flag with its text when clear.
    Clear(&'static str),
    /// By the field's value. A word whose field is beyond them is no instruction.
    List(&'static [Choice]),
    /// A list chosen by another field.
    By(Field, &'static [&'static [Choice]]),
    /// One if another field is this number, else the other.
    ByNumber(Field, u32, &'static Values, &'static Values),
    /// A flag: the field is not this number, and then yet another field must be 0.
    UnlessAlone(u32, &'static str, Field),
}

impl Values {
    fn choice(&self, field: Field, word: u64) -> Option<Choice> {
        let value = field.get(word);
        let flag = |set: bool, shown: bool, text| Some((if shown { text } else { "" }, u8::from(set)));
        match *self {
            Values::Always(choice) => Some(choice),
            Values::Flag(text) => flag(value != 0, value != 0, text),
            Values::Clear(text) => flag(value != 0, value == 0, text),
            Values::UnlessAlone(number, text, other) => match (value != number, other.get(word)) {
                (true, 1..) => None,
                (set, _) => flag(set, set, text),
            },
            Values::List(list) => list.get(value as usize).copied(),
            Values::By(by, lists) => {
                lists.get(by.get(word) as usize).and_then(|list| list.get(value as usize)).copied()
            }
            Values::ByNumber(by, number, equal, other) => {
                let values = if by.get(word) == number { equal } else { other };
                values.choice(field, word)
            }
        }
    }
}

/// Where a modifier's text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// After the mnemonic, in the order of the row.
    Name,
    /// After the destination.
    Dst,
    /// Where an operand of [`Kind::Text`] says, or nowhere.
    Elsewhere,
}

/// A modifier of a form.
#[derive(Clone, Copy, Debug)]
pub struct ModSpec {
    /// Which.
    pub which: Mod,
    field: Field,
    values: Values,
    /// Where its text stands.
    pub place: Place,
}

pub(super) const fn m(which: Mod, field: Field, values: Values) -> ModSpec {
    ModSpec { which, field, values, place: Place::Name }
}

/// A flag of one bit.
pub(super) const fn flag(which: Mod, bit: u8, text: &'static str) -> ModSpec {
    m(which, f(bit, 1), Values::Flag(text))
}

/// A modifier by a list.
pub(super) const fn list(which: Mod, field: Field, values: &'static [Choice]) -> ModSpec {
    m(which, field, Values::List(values))
}

impl ModSpec {
    pub(super) const fn field(&self) -> Field {
        self.field
    }

    pub(super) const fn at(self, place: Place) -> ModSpec {
        ModSpec { place, ..self }
    }

    /// Its value in a word; none if it is undefined.
    pub fn choice(&self, word: u64) -> Option<Choice> {
        self.values.choice(self.field, word).filter(|c| c.1 != UNDEFINED)
    }

    /// Whether some value of its bits is undefined.
    pub(super) const fn is_partial(&self) -> bool {
        match self.values {
            Values::Always(_) | Values::Flag(_) | Values::Clear(_) => false,
            Values::List(list) => {
                let mut at = 0;
                while at < list.len() {
                    if list[at].1 == UNDEFINED {
                        return true;
                    }
                    at += 1;
                }
                list.len() < 1 << self.field.len()
            }
            Values::By(..) | Values::ByNumber(..) | Values::UnlessAlone(..) => true,
        }
    }

    /// The same values for another modifier.
    pub(super) const fn of(self, which: Mod) -> ModSpec {
        ModSpec { which, ..self }
    }

    /// A value of its only list.
    pub(super) const fn listed(&self, at: usize) -> Option<Choice> {
        match self.values {
            Values::List(list) if at < list.len() => Some(list[at]),
            _ => None,
        }
    }

    /// The code of its value in a word.
    #[inline]
    pub fn code(&self, word: u64) -> u8 {
        // Most modifiers are flags, and lifting asks for them at every instruction: no need to look up their text.
        match self.values {
            Values::Flag(_) | Values::Clear(_) => u8::from(self.field.get(word) != 0),
            _ => self.choice(word).map_or(RESERVED, |c| c.1),
        }
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
    /// What a conversion converts from: a whole half, or as above.
    Source,
}

/// The kind of an operand and where its bits are.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A register of 8 bits from here.
    Reg(u8),
    /// A predicate of 3 bits from here.
    Pred(u8),
    /// A predicate of 3 bits from here, all of them inverted.
    InvertedPred(u8),
    /// The second source: register at 20, constant or immediate by the form; register at 39 in `RC` forms.
    B(Ty),
    /// The third source: register at 39; the constant in `RC` forms.
    C,
    /// A constant of 14 bits of word offset from 20 and 5 bits of bank.
    Const,
    /// A constant of 16 bits of byte offset from 20 and 5 bits of bank.
    FlowConst,
    /// An unsigned number.
    Imm(Field),
    /// A signed number.
    Signed(Field),
    /// A single with all its bits.
    F32(Field),
    /// Two halves: the lower's and the upper's most significant bits.
    F16x2(Field, Field),
    /// Memory at the register at 8: the offset, and the bit that widens the address.
    Mem(Field, u8),
    /// The same with the offset in words.
    WordMem(Field, u8),
    /// Memory at the register at 8 without offset.
    MemReg,
    /// That with an index register at 8.
    IndexedConst,
    /// An attribute: index register at 8; the offset at 20, of 10 bits, or with a register of 11 with sign.
    Attr,
    /// An attribute by the register at 8 alone.
    IndexAttr,
    /// An attribute by its offset alone.
    DirectAttr(Field),
    /// A special register.
    Special(Field),
    /// A code address relative to the next word.
    Relative,
    /// An absolute code address.
    Absolute,
    /// An address relative to the next word, added to the register before it; the tool prints the offset.
    RegRelative(Field),
    /// The value compared of a compare-and-swap: register at 20, or RZ by the mode.
    Compare(Field),
    /// The value swapped in: the register that follows (by two with the size bit set), or RZ by the mode.
    Swap(Field, u8),
    /// A test of the condition codes in five bits from here; nothing if always true.
    Cc(u8),
    /// The condition codes.
    CcRegister,
    /// The predicates, or by this bit the condition codes.
    File(u8),
    /// Not an operand: the text of a modifier.
    Text(Mod),
}

/// How a number is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// As hexadecimal, with a sign if it has one.
    Plain,
    /// The 20 bits of a short immediate without their sign.
    Unsigned,
    /// 16 bits, with their sign if bit 49 is set.
    Signed49,
    /// As letters P and N, two for a lane (FSWZADD).
    Lanes,
    /// As the numbers of its bits in braces (DEPBAR).
    Barriers,
    /// As SB and a number (DEPBAR).
    Scoreboard,
}

/// A part's text and meaning.
pub type PartChoice = (&'static str, Part);

/// The size of what F2F and F2I convert: 2, 4 or 8 bytes from 1.
pub(super) const SOURCE_SIZE: Field = f(10, 2);

/// An operand of a form.
#[derive(Clone, Copy, Debug)]
pub struct OperandSpec {
    /// Its role; meaningless for [`Kind::Text`].
    pub role: Role,
    /// Its kind.
    pub kind: Kind,
    /// How it is printed.
    pub style: Style,
    /// The bit that negates it, as a mask; 0 if there is none, as of the others.
    neg: u64,
    /// Set together with `neg`, the two mean something else.
    neg_unless: u64,
    abs: u64,
    inv: u64,
    /// The part's bits, what chooses the list, and the lists.
    part: Option<(Field, Field, &'static [&'static [PartChoice]])>,
    /// It is there only if this field has this value, or has it not.
    present: Option<(Field, u32, bool)>,
    /// The tool does not print it if it has this number.
    hidden: Option<u32>,
}

pub(super) const fn o(role: Role, kind: Kind) -> OperandSpec {
    OperandSpec {
        role,
        kind,
        style: Style::Plain,
        neg: 0,
        neg_unless: 0,
        abs: 0,
        inv: 0,
        part: None,
        present: None,
        hidden: None,
    }
}

/// The text of a modifier among the operands.
pub(super) const fn text(which: Mod) -> OperandSpec {
    o(Role::Number, Kind::Text(which))
}

impl OperandSpec {
    /// Negated by this bit.
    pub(super) const fn neg(self, bit: u8) -> OperandSpec {
        OperandSpec { neg: 1 << bit, ..self }
    }

    /// But not with this one.
    pub(super) const fn unless(self, bit: u8) -> OperandSpec {
        OperandSpec { neg_unless: 1 << bit, ..self }
    }

    /// Made positive by this bit.
    pub(super) const fn abs(self, bit: u8) -> OperandSpec {
        OperandSpec { abs: 1 << bit, ..self }
    }

    /// Inverted by this bit.
    pub(super) const fn inv(self, bit: u8) -> OperandSpec {
        OperandSpec { inv: 1 << bit, ..self }
    }

    /// A part of it, by this field.
    pub(super) const fn part(self, field: Field, parts: &'static [&'static [PartChoice]]) -> OperandSpec {
        OperandSpec { part: Some((field, f(0, 0), parts)), ..self }
    }

    /// A part of it, by this field and a list that another field chooses.
    pub(super) const fn part_by(
        self,
        field: Field,
        by: Field,
        parts: &'static [&'static [PartChoice]],
    ) -> OperandSpec {
        OperandSpec { part: Some((field, by, parts)), ..self }
    }

    /// There only if the field has this value.
    pub(super) const fn when(self, field: Field, value: u32) -> OperandSpec {
        OperandSpec { present: Some((field, value, true)), ..self }
    }

    /// There unless the field has this value.
    pub(super) const fn unless_value(self, field: Field, value: u32) -> OperandSpec {
        OperandSpec { present: Some((field, value, false)), ..self }
    }

    /// Not printed if it has this number.
    pub(super) const fn hide(self, number: u32) -> OperandSpec {
        OperandSpec { hidden: Some(number), ..self }
    }

    pub(super) const fn style(self, style: Style) -> OperandSpec {
        OperandSpec { style, ..self }
    }

    /// With another role.
    pub(super) const fn role(self, role: Role) -> OperandSpec {
        OperandSpec { role, ..self }
    }

    fn part_choice(&self, word: u64) -> Option<PartChoice> {
        let (field, by, lists) = self.part?;
        lists.get(by.get(word) as usize)?.get(field.get(word) as usize).copied()
    }

    /// The text of the part it takes.
    pub(crate) fn part_text(&self, word: u64) -> &'static str {
        self.part_choice(word).map_or("", |c| c.0)
    }

    /// Whether it may take a part.
    pub(crate) fn has_part(&self, word: u64) -> bool {
        self.part
            .is_some_and(|(_, by, lists)| lists.get(by.get(word) as usize).is_some_and(|l| !l.is_empty()))
    }

    /// Whether the tool leaves it out.
    pub(crate) fn is_hidden(&self, operand: &Operand) -> bool {
        let number = match operand.value {
            Value::Reg(n) => u32::from(n),
            Value::Pred(n) if !operand.inv => u32::from(n),
            Value::Imm(n) => n,
            _ => return false,
        };
        self.hidden == Some(number)
    }

    /// Whether a number is printed with its sign.
    pub(crate) fn is_signed(&self) -> bool {
        matches!(self.kind, Kind::Signed(_) | Kind::B(_))
    }

    /// Whether it is an immediate of the operations on bytes and halves.
    pub(crate) fn is_video_immediate(&self) -> bool {
        matches!(self.kind, Kind::Imm(_))
    }

    /// Whether RZ here is the end of a tuple that does not exist, rather than said by the mode.
    pub(crate) fn is_misplaced(&self, word: u64) -> bool {
        match self.kind {
            Kind::Compare(mode) => mode.get(word) == 0,
            Kind::Swap(mode, _) => mode.get(word) != 1,
            _ => false,
        }
    }
}

fn bit(word: u64, bit: u8) -> bool {
    bit < 64 && (word >> bit) & 1 != 0
}

fn constant(word: u64) -> Value {
    Value::Const { bank: f(34, 5).get(word) as u8, offset: f(20, 14).signed(word) * 4, index: RZ }
}

fn byte_constant(word: u64, index: u8) -> Value {
    Value::Const { bank: f(36, 5).get(word) as u8, offset: f(20, 16).signed(word), index }
}

/// Memory at the register at 8; without one, the offset is an absolute address.
fn memory(word: u64, field: Field, unit: i32, wide: bool) -> Value {
    let base = f(8, 8).get(word) as u8;
    let offset = if base == RZ { field.get(word) as i32 } else { field.signed(word) };
    Value::Mem { base, offset: offset.wrapping_mul(unit), wide }
}

fn immediate(ty: Ty, word: u64) -> Value {
    const BITS: Field = f(20, 19).and(56, 1);
    let bits = BITS.get(word);
    match ty {
        Ty::Int => Value::Imm(BITS.signed(word) as u32),
        Ty::F32 => Value::F32(bits << 12),
        Ty::F64 => Value::F64(u64::from(bits) << 44),
        Ty::Source => match SOURCE_SIZE.get(word) {
            1 => Value::F16(f(20, 16).get(word) as u16),
            3 => immediate(Ty::F64, word),
            _ => immediate(Ty::F32, word),
        },
    }
}

/// A half whose most significant bits a field holds.
fn half(field: Field, word: u64) -> u16 {
    (field.get(word) << (16 - u32::from(field.len + field.len2))) as u16
}

/// The operand of a spec; none for text and for operands that are not there.
pub(crate) fn extract(form: &Form, spec: &OperandSpec, inst: &Inst) -> Option<Operand> {
    let word = inst.word;
    if spec.present.is_some_and(|(field, value, equal)| (field.get(word) == value) != equal) {
        return None;
    }
    let number = |lo: u8| f(lo, 8).get(word) as u8;
    let register = |lo: u8| Value::Reg(number(lo));
    let next = inst.address.wrapping_add(WORD);
    let value = match spec.kind {
        Kind::Reg(lo) => register(lo),
        Kind::InvertedPred(lo) => Value::Pred(!f(lo, 3).get(word) as u8 & PT),
        Kind::Pred(lo) => Value::Pred(f(lo, 3).get(word) as u8),
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
        Kind::Const => constant(word),
        Kind::Imm(field) => Value::Imm(field.get(word)),
        Kind::Signed(field) => Value::Imm(field.signed(word) as u32),
        Kind::F32(field) => Value::F32(field.get(word)),
        Kind::F16x2(lo, hi) => Value::F16x2 { lo: half(lo, word), hi: half(hi, word) },
        Kind::Mem(field, wide) => memory(word, field, 1, bit(word, wide)),
        Kind::WordMem(field, wide) => memory(word, field, 4, bit(word, wide)),
        Kind::MemReg => Value::Mem { base: number(8), offset: 0, wide: false },
        Kind::IndexedConst => byte_constant(word, number(8)),
        Kind::FlowConst => byte_constant(word, RZ),
        Kind::Attr => match number(8) {
            RZ => Value::Attr { offset: f(20, 10).get(word) as i32, index: RZ },
            index => Value::Attr { offset: f(20, 11).signed(word), index },
        },
        Kind::IndexAttr => Value::Attr { offset: 0, index: number(8) },
        Kind::DirectAttr(field) => Value::Attr { offset: field.get(word) as i32, index: RZ },
        Kind::Special(field) => Value::Special(field.get(word) as u8),
        Kind::Relative => Value::Target(next.wrapping_add_signed(f(20, 24).signed(word))),
        Kind::Absolute => Value::Target(f(20, 32).get(word)),
        Kind::RegRelative(field) => Value::Target(next.wrapping_add_signed(field.signed(word))),
        Kind::Compare(mode) => match mode.get(word) {
            0 | 1 => register(20),
            _ => Value::Reg(RZ),
        },
        Kind::Swap(mode, size) => match mode.get(word) {
            0 => Value::Reg(number(20).saturating_add(1 + u8::from(bit(word, size)))),
            1 => Value::Reg(RZ),
            _ => register(20),
        },
        Kind::Cc(lo) => match CcTest(f(lo, 5).get(word) as u8) {
            CcTest::T => return None,
            test => Value::Cc(test),
        },
        Kind::CcRegister => Value::CcRegister,
        Kind::File(cc) if bit(word, cc) => Value::CcRegister,
        Kind::File(_) => Value::PredFile,
        Kind::Text(_) => return None,
    };
    Some(Operand {
        role: spec.role,
        value,
        neg: word & spec.neg != 0 && word & spec.neg_unless == 0,
        abs: word & spec.abs != 0,
        inv: word & spec.inv != 0,
        part: if spec.part.is_some() {
            spec.part_choice(word).map_or(Part::Full, |c| c.1)
        } else {
            Part::Full
        },
    })
}
