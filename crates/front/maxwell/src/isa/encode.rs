//! Instructions with a part of them changed: the table read backwards.
//!
//! What is asked for is put into the bits that the form has for it, and counts only if the word that comes of it decodes
//! to what was asked for.

use super::form::{FORMS, Form, Src};
use super::spec::{Field, Kind, ModSpec, OperandSpec, extract, f};
use crate::code::WORD;
use crate::decode::decode;
use crate::inst::{Guard, Inst, PT, Role, Value};
use crate::modifier::{CcTest, Mod};
use crate::opcode::Opcode;

const REG_20: Field = f(20, 8);
const REG_39: Field = f(39, 8);
const IMMEDIATE: Field = f(20, 19).and(56, 1);

impl Form {
    /// The word of this form whose open bits are those of `bits`.
    pub const fn word(&self, bits: u64) -> u64 {
        bits & !self.mask | self.value
    }
}

/// The bits of an operand and what to put there.
fn bits(form: &Form, spec: &OperandSpec, address: u32, value: Value) -> Option<[(Field, u32); 2]> {
    const NOTHING: (Field, u32) = (f(0, 0), 0);
    let one = |field, bits| Some([(field, bits), NOTHING]);
    let constant =
        |bank: u8, offset: i32| Some([(f(34, 5), u32::from(bank)), (f(20, 14), offset.cast_unsigned() >> 2)]);
    let offset_to = |to: u32| to.wrapping_sub(address.wrapping_add(WORD));
    match (spec.kind, value) {
        (Kind::Reg(lo), Value::Reg(n)) => one(f(lo, 8), n.into()),
        (Kind::Pred(lo), Value::Pred(n)) => one(f(lo, 3), n.into()),
        (Kind::InvertedPred(lo), Value::Pred(n)) => one(f(lo, 3), (!n & PT).into()),
        (Kind::B(_), Value::Reg(n)) => one(if form.src == Src::RegConst { REG_39 } else { REG_20 }, n.into()),
        (Kind::B(_), Value::Imm(v)) => one(IMMEDIATE, v),
        (Kind::B(_), Value::F32(v)) => one(IMMEDIATE, v >> 12),
        (Kind::B(_), Value::F64(v)) => one(IMMEDIATE, (v >> 44) as u32),
        (Kind::C, Value::Reg(n)) => one(REG_39, n.into()),
        (Kind::B(_) | Kind::C | Kind::Const, Value::Const { bank, offset, .. }) => constant(bank, offset),
        (Kind::IndexedConst | Kind::FlowConst, Value::Const { bank, offset, .. }) => {
            Some([(f(36, 5), u32::from(bank)), (f(20, 16), offset.cast_unsigned())])
        }
        (Kind::Imm(field) | Kind::Signed(field), Value::Imm(v)) => one(field, v),
        (Kind::F32(field), Value::F32(v)) => one(field, v),
        (Kind::Mem(field, _), Value::Mem { base, offset, .. }) => {
            Some([(f(8, 8), base.into()), (field, offset.cast_unsigned())])
        }
        (Kind::WordMem(field, _), Value::Mem { base, offset, .. }) => {
            Some([(f(8, 8), base.into()), (field, (offset >> 2).cast_unsigned())])
        }
        (Kind::Special(field), Value::Special(n)) => one(field, n.into()),
        (Kind::Relative, Value::Target(to)) => one(f(20, 24), offset_to(to)),
        (Kind::RegRelative(field), Value::Target(to)) => one(field, offset_to(to)),
        (Kind::Absolute, Value::Target(to)) => one(f(20, 32), to),
        (Kind::File(cc), Value::PredFile | Value::CcRegister) => {
            one(f(cc, 1), (value == Value::CcRegister).into())
        }
        (Kind::Cc(lo), Value::Cc(CcTest(test))) => one(f(lo, 5), test.into()),
        _ => None,
    }
}

/// An index register of a constant is the one at 8.
fn index_bits(value: Value) -> (Field, u32) {
    match value {
        Value::Const { index, .. } => (f(8, 8), index.into()),
        _ => (f(0, 0), 0),
    }
}

fn put_modifier(spec: &ModSpec, word: u64, code: u8) -> Option<u64> {
    (0..1 << spec.field().len())
        .map(|v| spec.field().put(word, v))
        .find(|&w| spec.choice(w).is_some() && spec.code(w) == code)
}

impl Inst {
    /// The instruction at an address of the first form of an operation with this kind of second source: unguarded,
    /// flow without a test, all else zero.
    pub fn of(address: u32, op: Opcode, src: Src) -> Option<Inst> {
        let form = FORMS.iter().find(|f| f.op == op && f.src == src)?;
        let inst = decode(address, form.word(if form.guarded { u64::from(PT) << 16 } else { 0 })).ok()?;
        let always = form.operands.iter().any(|o| matches!(o.kind, Kind::Cc(_)));
        if always { inst.with(Role::Cc, Value::Cc(CcTest::T)) } else { Some(inst) }
    }

    /// The same with an operand naming something else; none if the form has no place for it.
    pub fn with(&self, role: Role, value: Value) -> Option<Inst> {
        let form = &FORMS[self.form];
        form.operands.iter().filter(|spec| spec.role == role).find_map(|spec| {
            let fields = bits(form, spec, self.address, value)?;
            let mut word = fields.iter().fold(self.word, |word, &(field, bits)| field.put(word, bits));
            if matches!(spec.kind, Kind::IndexedConst) {
                let (field, bits) = index_bits(value);
                word = field.put(word, bits);
            }
            let inst = self.with_word(word)?;
            let got = extract(form, spec, &inst).map(|o| o.value);
            let is_always = value == Value::Cc(CcTest::T) && got.is_none();
            (is_always || got == Some(value)).then_some(inst)
        })
    }

    /// The same with another value of a modifier, by its code; none if the form cannot say it.
    pub fn with_modifier(&self, which: Mod, code: u8) -> Option<Inst> {
        let mut specs = FORMS[self.form].modifiers.iter().filter(|m| m.which == which);
        specs.find_map(|spec| self.with_word(put_modifier(spec, self.word, code)?))
    }

    /// The same under a guard; none if it has none.
    pub fn with_guard(&self, guard: Guard) -> Option<Inst> {
        let bits = u32::from(guard.pred) | u32::from(guard.not) << 3;
        self.with_word(f(16, 4).put(self.word, bits)).filter(|inst| inst.guard == guard)
    }

    /// The same form with another word.
    fn with_word(&self, word: u64) -> Option<Inst> {
        decode(self.address, word).ok().filter(|inst| inst.form == self.form)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inst::RZ;

    fn text(inst: Option<Inst>) -> String {
        inst.map_or_else(|| "none".into(), |i| i.to_string())
    }

    #[test]
    fn instructions_are_built_from_the_table() {
        let add = Inst::of(8, Opcode::Iadd32i, Src::None).and_then(|i| i.with(Role::Dst, Value::Reg(3)));
        let add = add.and_then(|i| i.with(Role::A, Value::Reg(RZ))?.with(Role::B, Value::Imm(u32::MAX)));
        assert_eq!(text(add), "IADD32I R3, RZ, -0x1");
        let guard = Guard { pred: 2, not: true };
        let go = Inst::of(8, Opcode::Bra, Src::None).and_then(|i| i.with(Role::Target, Value::Target(0x48)));
        assert_eq!(text(go.and_then(|i| i.with_guard(guard))), "@!P2 BRA 0x48");
        let compare = Inst::of(8, Opcode::Isetp, Src::Const);
        let compare =
            compare.and_then(|i| i.with(Role::B, Value::Const { bank: 3, offset: 0x20, index: RZ }));
        let compare =
            compare.and_then(|i| i.with_modifier(Mod::IntCompare, crate::modifier::IntCompare::Ge as u8));
        let shown = text(compare);
        assert!(shown.contains(".GE") && shown.contains("c[0x3][0x20]"), "{shown}");
    }

    #[test]
    fn what_a_form_cannot_say_is_none() {
        let push = Inst::of(8, Opcode::Ssy, Src::None).unwrap();
        assert_eq!(push.with_guard(Guard { pred: 0, not: false }), None);
        assert_eq!(push.with(Role::Dst, Value::Reg(1)), None);
        let go = Inst::of(8, Opcode::Bra, Src::None).unwrap();
        assert_eq!(go.with(Role::Target, Value::Target(0x800_0000)), None);
        assert_eq!(Inst::of(8, Opcode::Iadd, Src::RegConst), None);
        let add = Inst::of(8, Opcode::Iadd, Src::Imm).unwrap();
        assert_eq!(add.with(Role::B, Value::Imm(0x10_0000)), None);
    }
}
