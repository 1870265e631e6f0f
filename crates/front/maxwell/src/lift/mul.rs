//! Integer products.

use super::cx::{Cx, Lift, dst, operand};
use super::product::{Halves, Shape};
use super::regs::Flag;
use crate::inst::{Inst, Part, Role};
use crate::modifier::{MadFormat, Mod, XmadMode};
use xenoglot_ir::{Op, Value};

impl Cx<'_> {
    /// The low half of a product, or the high one of signed or unsigned factors.
    fn product(&mut self, inst: &Inst, a: Value, b: Value) -> Value {
        if !inst.has(Mod::High) {
            return self.op(Op::Imul, &[a, b]);
        }
        match (inst.has(Mod::SignedA), inst.has(Mod::SignedB)) {
            (true, true) => self.op(Op::Imulh, &[a, b]),
            (false, false) => self.op(Op::Umulh, &[a, b]),
            (a_signed, _) => {
                // The unsigned product is too large by the other factor where the signed one is negative.
                let (signed, other) = if a_signed { (a, b) } else { (b, a) };
                let (high, zero) = (self.op(Op::Umulh, &[a, b]), self.zero());
                let negative = self.op(Op::IcmpSlt, &[signed, zero]);
                let excess = self.select(negative, other, zero);
                self.op(Op::Isub, &[high, excess])
            }
        }
    }

    /// IMUL, IMUL32I.
    pub fn imul(&mut self, inst: &Inst) -> Lift<()> {
        let (a, b) = (self.int(inst, Role::A)?, self.int(inst, Role::B)?);
        let v = self.product(inst, a, b);
        self.set_logic_flags(inst, v);
        self.set_dst(inst, v)
    }

    /// IMAD, IMAD32I.
    pub fn imad(&mut self, inst: &Inst) -> Lift<()> {
        let (oa, oc) = (operand(inst, Role::A)?, operand(inst, Role::C)?);
        let (a, b, c) = (self.raw(&oa)?, self.int(inst, Role::B)?, self.raw(&oc)?);
        let product = self.product(inst, a, b);
        let v = self.signed_sum(inst, (product, oa.neg), (c, oc.neg));
        self.set_dst(inst, v)
    }

    /// IDP: a dot product of four bytes, or of two halves and the lower or the upper two bytes of B, plus an addend.
    pub fn idp(&mut self, inst: &Inst) -> Lift<()> {
        let (a, b) = (self.int(inst, Role::A)?, self.int(inst, Role::B)?);
        let c = self.int(inst, Role::C)?;
        let (signed_a, signed_b) = (inst.has(Mod::SignedA), inst.has(Mod::SignedB));
        let of_halves = inst.modifier(Mod::Operation) != 0;
        if !of_halves {
            let (op, args) = match (signed_a, signed_b) {
                (true, true) => (Op::Sdot4, [a, b]),
                (false, false) => (Op::Udot4, [a, b]),
                (true, false) => (Op::SUdot4, [a, b]),
                (false, true) => (Op::SUdot4, [b, a]),
            };
            let products = self.op(op, &args);
            let sum = self.op(Op::Iadd, &[c, products]);
            return self.set_dst(inst, sum);
        }
        let first = if inst.has(Mod::High) { 2 } else { 0 };
        let mut sum = c;
        for i in 0..2 {
            let x = self.field(a, 16 * i, 16, signed_a);
            let y = self.field(b, 8 * (first + i), 8, signed_b);
            let product = self.op(Op::Imul, &[x, y]);
            sum = self.op(Op::Iadd, &[sum, product]);
        }
        self.set_dst(inst, sum)
    }

    /// IMADSP: a product of words, 24 bits or halves, plus an addend of such.
    pub fn imadsp(&mut self, inst: &Inst) -> Lift<()> {
        let formats = [(Role::A, Mod::MadA), (Role::B, Mod::MadB), (Role::C, Mod::MadC)];
        let mut values = Vec::with_capacity(3);
        for (role, format) in formats {
            let v = self.int(inst, role)?;
            let (at, bits, signed) = match inst.get(format)? {
                MadFormat::U32 | MadFormat::S32 => (0, 32, false),
                MadFormat::U24 => (0, 24, false),
                MadFormat::S24 => (0, 24, true),
                MadFormat::U16H0 => (0, 16, false),
                MadFormat::S16H0 => (0, 16, true),
                MadFormat::U16H1 => (16, 16, false),
                MadFormat::S16H1 => (16, 16, true),
            };
            values.push(if bits == 32 { v } else { self.field(v, at, bits, signed) });
        }
        let product = self.op(Op::Imul, &values[..2]);
        let v = self.extended_sum((inst.has(Mod::X), inst.has(Mod::Cc)), product, values[2]);
        self.set_dst(inst, v)
    }

    /// `a + b` with `.X` and `.CC` as they are set.
    fn extended_sum(&mut self, (x, cc): (bool, bool), a: Value, b: Value) -> Value {
        if !x && !cc {
            return self.op(Op::Iadd, &[a, b]);
        }
        let carry = if x { self.flag(Flag::Carry) } else { self.truth(false) };
        let v = match self.known_number(carry) {
            Some(0) => self.op(Op::Iadd, &[a, b]),
            _ => self.op(Op::IaddCarry, &[a, b, carry]),
        };
        if cc {
            let args = [a, b, carry];
            self.set_flags(v, |cx| cx.carry_out(v, args), |cx| cx.op(Op::IaddOverflowOut, &args));
        }
        v
    }

    /// XMAD: a product of halves plus an addend.
    pub fn xmad(&mut self, inst: &Inst) -> Lift<()> {
        let [oa, ob, oc] = [operand(inst, Role::A)?, operand(inst, Role::B)?, operand(inst, Role::C)?];
        let shape = Shape {
            parts: (oa.part, ob.part),
            mode: inst.get(Mod::XmadMode)?,
            signs: (inst.has(Mod::SignedA), inst.has(Mod::SignedB)),
            shifted: inst.has(Mod::Psl),
            merged: inst.has(Mod::Mrg),
            carries: inst.has(Mod::X) || inst.has(Mod::Cc),
        };
        if let Some(v) = self.completed(&shape, [&oa, &ob, &oc])? {
            return self.set_dst(inst, v);
        }
        let (a, b) = (self.raw(&oa)?, self.raw(&ob)?);
        // The upper parts of a product use its lowest one, which need not be computed for that.
        let low = match shape.mode {
            XmadMode::Chi => self.pending_low(&oc, a, b),
            _ => None,
        };
        let c = match low {
            Some(_) => self.zero(),
            None => self.int(inst, Role::C)?,
        };
        let halves = Halves { shape, a, b, c };
        match self.part_of_product(halves, low) {
            Some(piece) if self.guard.is_none() => self.postpone(dst(inst)?, halves, low, piece),
            _ => {
                let v = self.xmad_value(halves, inst.has(Mod::X), inst.has(Mod::Cc));
                self.set_dst(inst, v)?;
            }
        }
        Ok(())
    }

    /// What an XMAD computes.
    pub fn xmad_value(
        &mut self,
        Halves { shape, a: word_a, b: word_b, c }: Halves,
        x: bool,
        cc: bool,
    ) -> Value {
        let a = self.half(word_a, shape.parts.0, shape.signs.0);
        let b = self.half(word_b, shape.parts.1, shape.signs.1);
        let mut product = self.op(Op::Imul, &[a, b]);
        let half = self.number(16);
        let low = self.number(0xffff);
        if shape.shifted {
            product = self.op(Op::Shl, &[product, half]);
        }
        let addend = match shape.mode {
            XmadMode::Full => c,
            XmadMode::Clo => self.op(Op::And, &[c, low]),
            XmadMode::Chi => self.op(Op::Ushr, &[c, half]),
            XmadMode::Cbcc => {
                let b = self.op(Op::Shl, &[word_b, half]);
                self.op(Op::Iadd, &[c, b])
            }
            XmadMode::Csfu => {
                let c = self.signed_correction(c, a, word_b);
                self.signed_correction(c, b, word_a)
            }
        };
        let v = self.extended_sum((x, cc), product, addend);
        if !shape.merged {
            return v;
        }
        let v_low = self.op(Op::And, &[v, low]);
        let b_high = self.op(Op::Shl, &[word_b, half]);
        self.op(Op::Or, &[v_low, b_high])
    }

    /// A half of a word, which the other XMADs of a product take, too.
    pub fn half(&mut self, word: Value, part: Part, signed: bool) -> Value {
        let key = (word, part == Part::H1, signed);
        if let Some(&known) = self.known_here().halves.get(&key) {
            return known;
        }
        let v = self.field(word, if key.1 { 16 } else { 0 }, 16, signed);
        self.known.halves.insert(key, v);
        v
    }

    /// `c - 0x10000` where `factor` is negative and the lower half of the other operand is not zero: what the unsigned
    /// carry into the upper product was too large by.
    fn signed_correction(&mut self, c: Value, factor: Value, other: Value) -> Value {
        let (zero, low, unit) = (self.zero(), self.number(0xffff), self.number(0x1_0000));
        let negative = self.op(Op::IcmpSlt, &[factor, zero]);
        let other = self.op(Op::And, &[other, low]);
        let counts = self.op(Op::IcmpNe, &[other, zero]);
        let both = self.op(Op::And, &[negative, counts]);
        let excess = self.select(both, unit, zero);
        self.op(Op::Isub, &[c, excess])
    }
}
