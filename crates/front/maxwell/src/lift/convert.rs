//! Conversions between number formats. `.FTZ` is about singles: halves and doubles keep their denormals.

use super::Unsupported;
use super::cx::{Cx, Lift, operand};
use super::float::{arithmetic, result_flags};
use crate::inst::{Inst, Operand, Part, Role};
use crate::modifier::{IntRounding, Mod, NumType};
use xenoglot_ir::{Bits, Flags, Kind, Op, Round, Type, Value};

/// Bits and sign of an integer format.
fn integer(ty: NumType) -> Option<(u32, bool)> {
    Some(match ty {
        NumType::U8 => (8, false),
        NumType::S8 => (8, true),
        NumType::U16 => (16, false),
        NumType::S16 => (16, true),
        NumType::U32 => (32, false),
        NumType::S32 => (32, true),
        NumType::U64 => (64, false),
        NumType::S64 => (64, true),
        NumType::F16 | NumType::F32 | NumType::F64 => return None,
    })
}

fn int_type(bits: u32) -> Type {
    match bits {
        8 => Type::scalar(Kind::I8),
        16 => Type::scalar(Kind::I16),
        64 => Type::I64,
        _ => Type::I32,
    }
}

fn float_type(ty: NumType) -> Option<Type> {
    match ty {
        NumType::F16 => Some(Type::F16),
        NumType::F32 => Some(Type::F32),
        NumType::F64 => Some(Type::F64),
        _ => None,
    }
}

/// The part of its register that a source is: by the operand, or by a byte number.
fn part(inst: &Inst, o: &Operand, bits: u32) -> Part {
    let byte = inst.modifier(Mod::Byte);
    match (o.part, bits, byte) {
        (Part::Full, 8, 0) => Part::B0,
        (Part::Full, 8, 1) => Part::B1,
        (Part::Full, 8, 2) => Part::B2,
        (Part::Full, 8, _) => Part::B3,
        (Part::Full, 16, 0 | 1) => Part::H0,
        (Part::Full, 16, _) => Part::H1,
        (part, ..) => part,
    }
}

impl Cx<'_> {
    /// A float source of the instruction's source format, with its signs.
    fn float_source(&mut self, inst: &Inst) -> Lift<Value> {
        let o = operand(inst, Role::A)?;
        let ty = float_type(inst.get(Mod::SrcType)?).ok_or(Unsupported)?;
        let v = match ty.kind() {
            Kind::F64 => self.raw64(&o, Type::F64)?,
            Kind::F16 => {
                let word = self.raw(&o)?;
                let half = self.part(word, part(inst, &o, 16), false)?;
                let half = self.convert(Op::TruncInt, half, Type::scalar(Kind::I16));
                self.cast(half, ty)
            }
            _ => {
                let v = self.raw(&o)?;
                let v = self.cast(v, Type::F32);
                let flushes = inst.has(Mod::Denorm);
                if flushes { self.b.op_flags(Op::Fmin, Flags::NONE.with_ftz(), &[v, v]) } else { v }
            }
        };
        Ok(self.with_signs(&o, v))
    }

    /// An integer source extended to at least 32 bits, with its signs.
    fn int_source(&mut self, inst: &Inst) -> Lift<(Value, bool)> {
        let o = operand(inst, Role::A)?;
        let (bits, signed) = integer(inst.get(Mod::SrcType)?).ok_or(Unsupported)?;
        let v = match bits {
            64 => self.raw64(&o, Type::I64)?,
            32 => self.raw(&o)?,
            _ => {
                let word = self.raw(&o)?;
                self.part(word, part(inst, &o, bits), signed)?
            }
        };
        let v = if o.abs { self.op(Op::Iabs, &[v]) } else { v };
        Ok((if o.neg { self.op(Op::Ineg, &[v]) } else { v }, signed))
    }

    /// Writes a float; a half leaves the upper bits zero.
    fn set_float(&mut self, inst: &Inst, v: Value) -> Lift<()> {
        match self.b.func.ty(v).kind() {
            Kind::F64 => self.set_dst64(inst, v),
            Kind::F16 => {
                let bits = self.cast(v, Type::scalar(Kind::I16));
                let word = self.convert(Op::Zext, bits, Type::I32);
                self.set_dst(inst, word)
            }
            _ => self.set_dst(inst, v),
        }
    }

    /// F2F: another format, or an integer in the same one.
    pub fn f2f(&mut self, inst: &Inst) -> Lift<()> {
        let v = self.float_source(inst)?;
        let to = float_type(inst.get(Mod::DstType)?).ok_or(Unsupported)?;
        let flags = result_flags(inst)?;
        let whole = flags.with_round(Round::Natural);
        let op = match inst.get(Mod::IntRounding)? {
            IntRounding::None | IntRounding::Pass => None,
            IntRounding::Round => Some(Op::RoundEven),
            IntRounding::Floor => Some(Op::Floor),
            IntRounding::Ceil => Some(Op::Ceil),
            IntRounding::Trunc => Some(Op::Trunc),
        };
        let v = match op {
            Some(op) => self.b.op_flags(op, whole, &[v]),
            None => v,
        };
        let v = match (self.b.func.ty(v) == to, op) {
            // No double is so small that its flushing would show.
            (false, _) if to == Type::F32 && self.b.func.ty(v) == Type::F64 => {
                self.b.convert(Op::F2f, arithmetic(inst)?, v, to)
            }
            // A wider format has every number of the narrower one.
            (false, _) if to.kind().bits() > self.b.func.ty(v).kind().bits() => {
                self.b.convert(Op::F2f, whole, v, to)
            }
            (false, _) => self.b.convert(Op::F2f, flags, v, to),
            (true, None) if flags.sat() => self.b.op_flags(Op::Fsat, whole, &[v]),
            (true, _) => v,
        };
        self.set_float(inst, v)
    }

    /// F2I. NaNs give 0; where either side has 64 bits, the integer with the top bit set.
    pub fn f2i(&mut self, inst: &Inst) -> Lift<()> {
        let v = self.float_source(inst)?;
        let (bits, signed) = integer(inst.get(Mod::DstType)?).ok_or(Unsupported)?;
        let round = match inst.get(Mod::IntRounding)? {
            IntRounding::None | IntRounding::Pass | IntRounding::Round => Round::Even,
            IntRounding::Floor => Round::Down,
            IntRounding::Ceil => Round::Up,
            IntRounding::Trunc => Round::Zero,
        };
        let flags = Flags::NONE.with_clamp().with_round(round);
        let op = if signed { Op::F2s } else { Op::F2u };
        if bits < 32 && self.b.func.ty(v) != Type::F64 {
            let word = self.b.convert(op, flags, v, Type::I32);
            let word = self.saturate(word, signed, bits, signed);
            return self.set_dst(inst, word);
        }
        let int = self.b.convert(op, flags, v, int_type(bits));
        let int = if bits == 64 || self.b.func.ty(v) == Type::F64 {
            let nan = self.op(Op::FcmpUno, &[v, v]);
            let top = self.b.constant(int_type(bits), Bits::scalar(1 << (bits - 1)));
            self.select(nan, top, int)
        } else {
            int
        };
        match bits {
            64 => self.set_dst64(inst, int),
            32 => self.set_dst(inst, int),
            _ => {
                let word = self.convert(if signed { Op::Sext } else { Op::Zext }, int, Type::I32);
                self.set_dst(inst, word)
            }
        }
    }

    /// I2F.
    pub fn i2f(&mut self, inst: &Inst) -> Lift<()> {
        let (v, signed) = self.int_source(inst)?;
        let to = float_type(inst.get(Mod::DstType)?).ok_or(Unsupported)?;
        let v = self.b.convert(if signed { Op::S2f } else { Op::U2f }, result_flags(inst)?, v, to);
        self.set_float(inst, v)
    }

    /// I2I.
    pub fn i2i(&mut self, inst: &Inst) -> Lift<()> {
        let (v, from_signed) = self.int_source(inst)?;
        let (bits, signed) = integer(inst.get(Mod::DstType)?).ok_or(Unsupported)?;
        if bits == 64 || self.b.func.ty(v) == Type::I64 {
            return Err(Unsupported);
        }
        let v = if inst.has(Mod::Sat) { self.saturate(v, from_signed, bits, signed) } else { v };
        let v = if bits < 32 { self.field(v, 0, bits, signed) } else { v };
        self.set_logic_flags(inst, v);
        self.set_dst(inst, v)
    }

    /// A signed or unsigned word clamped to what an integer of `bits` bits holds.
    fn saturate(&mut self, v: Value, from_signed: bool, bits: u32, signed: bool) -> Value {
        let most = (1u64 << (bits - u32::from(signed))) - 1;
        let greatest = self.number(most as u32);
        if !from_signed {
            return self.op(Op::Umin, &[v, greatest]);
        }
        let least = if signed { !most as u32 } else { 0 };
        let least = self.number(least);
        let v = self.op(Op::Imax, &[v, least]);
        // Nothing signed is above the unsigned word's greatest.
        if bits == 32 { v } else { self.op(Op::Imin, &[v, greatest]) }
    }
}
