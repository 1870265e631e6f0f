//! Integers and bits.

use super::{Call, Made, NOT_LIFTED};
use crate::lift::cx::Cx;
use crate::lift::int::Scalar;
use crate::lift::val::Val;
use crate::lift::{Lift, Stop};
use crate::ops::Op as Dx;
use xenoglot_ir::{DivZero, Flags, Op, Type, Value};

impl Cx<'_> {
    pub(super) fn bit_ops(&mut self, call: &Call<'_>) -> Lift<Made> {
        Ok(match call.op {
            Dx::IMax => self.signed_binary(call, Op::Imax)?.into(),
            Dx::IMin => self.signed_binary(call, Op::Imin)?.into(),
            Dx::UMax => self.two(call, Op::Umax)?.into(),
            Dx::UMin => self.two(call, Op::Umin)?.into(),
            Dx::Bfrev => {
                let (v, s) = (self.arg(call, 0)?, self.arg_type(call, 0)?);
                let v = self.op(Op::Reverse, &[v]);
                self.shifted_down(v, s).into()
            }
            Dx::Countbits => {
                let v = self.arg(call, 0)?;
                let v = self.op(Op::Popcount, &[v]);
                self.resize(v, Type::I32).into()
            }
            Dx::FirstbitLo | Dx::FirstbitHi | Dx::FirstbitSHi => self.first_bit(call)?.into(),
            // High and low half of the product.
            Dx::IMul => self.pair(call, Op::Imulh, Op::Imul, Flags::NONE)?,
            Dx::UMul => self.pair(call, Op::Umulh, Op::Imul, Flags::NONE)?,
            Dx::UDiv => self.pair(call, Op::Udiv, Op::Urem, Flags::NONE.with_div_zero(DivZero::Ones))?,
            Dx::UAddc | Dx::USubb => {
                let [a, b] = [self.arg(call, 0)?, self.arg(call, 1)?];
                let none = self.constant(Type::BOOL, 0);
                let (op, out) = match call.op {
                    Dx::UAddc => (Op::Iadd, Op::IaddCarryOut),
                    _ => (Op::Isub, Op::IsubBorrowOut),
                };
                let result = self.op(op, &[a, b]);
                let carry = self.op(out, &[a, b, none]);
                Made::Value(Val::scalars([result, carry]))
            }
            Dx::IMad | Dx::UMad => {
                let s = self.arg_type(call, 0)?;
                let [a, b, c] = [self.arg(call, 0)?, self.arg(call, 1)?, self.arg(call, 2)?];
                let product = self.op(Op::Imul, &[a, b]);
                let sum = self.op(Op::Iadd, &[product, c]);
                self.wrapped(sum, s).into()
            }
            Dx::Msad => self.msad(call)?.into(),
            Dx::Ibfe | Dx::Ubfe => {
                let op = if call.op == Dx::Ibfe { Op::BitfieldS } else { Op::BitfieldU };
                let (width, offset) = (self.field(call, 0)?, self.field(call, 1)?);
                let v = self.arg(call, 2)?;
                self.op(op, &[v, offset, width]).into()
            }
            Dx::Bfi => {
                let (width, offset) = (self.field(call, 0)?, self.field(call, 1)?);
                let [new, old] = [self.arg(call, 2)?, self.arg(call, 3)?];
                self.op(Op::BitfieldInsert, &[old, new, offset, width]).into()
            }
            Dx::Dot4AddI8Packed | Dx::Dot4AddU8Packed => self.dot_packed(call)?.into(),
            Dx::Pack4x8 => self.pack(call)?.into(),
            Dx::Unpack4x8 => self.unpack(call)?,
            _ => return Err(NOT_LIFTED),
        })
    }

    /// Four integers as bytes: cut off, or held within those of unsigned or of signed bytes.
    fn pack(&mut self, call: &Call<'_>) -> Lift<Value> {
        let range = match self.integer(call.arg(0)?)? {
            0 => None,
            1 => Some((0, 255)),
            2 => Some((-128, 127)),
            _ => return Err(Stop::Unsupported("its kind")),
        };
        let (eight, mut word) = (self.i32(8), self.i32(0));
        for n in 0..4 {
            let (v, s) = (self.arg(call, 1 + n)?, self.arg_type(call, 1 + n)?);
            let v = self.signed(v, s);
            let mut v = self.resize_signed(v, Type::I32);
            if let Some((least, most)) = range {
                let [least, most] = [least, most].map(|n: i32| self.i32(n as u32));
                v = self.op(Op::Imax, &[v, least]);
                v = self.op(Op::Imin, &[v, most]);
            }
            let at = self.i32(8 * n as u32);
            word = self.op(Op::BitfieldInsert, &[word, v, at, eight]);
        }
        Ok(word)
    }

    /// Four bytes as integers with zeros or with signs above.
    fn unpack(&mut self, call: &Call<'_>) -> Lift<Made> {
        let op = match self.integer(call.arg(0)?)? {
            0 => Op::BitfieldU,
            1 => Op::BitfieldS,
            _ => return Err(Stop::Unsupported("its kind")),
        };
        let (word, eight) = (self.arg(call, 1)?, self.i32(8));
        let result = self.type_of(call.result.ok_or(Stop::Unsupported("no result"))?)?;
        let mut members = Vec::new();
        for n in 0..4 {
            let of = self.module.types.member(result, n).ok_or(Stop::Unsupported("its result"))?;
            let s = self.scalar_type(of)?;
            let at = self.i32(8 * n as u32);
            let v = self.op(op, &[word, at, eight]);
            let v = self.resize(v, s.ty);
            members.push(self.wrapped(v, s));
        }
        Ok(Made::Value(Val::scalars(members)))
    }

    fn two(&mut self, call: &Call<'_>, op: Op) -> Lift<Value> {
        let args = [self.arg(call, 0)?, self.arg(call, 1)?];
        Ok(self.op(op, &args))
    }

    fn signed_binary(&mut self, call: &Call<'_>, op: Op) -> Lift<Value> {
        let s = self.arg_type(call, 0)?;
        let [a, b] = [self.arg(call, 0)?, self.arg(call, 1)?];
        let (a, b) = (self.signed(a, s), self.signed(b, s));
        let v = self.op(op, &[a, b]);
        Ok(self.wrapped(v, s))
    }

    fn pair(&mut self, call: &Call<'_>, first: Op, second: Op, flags: Flags) -> Lift<Made> {
        let args = [self.arg(call, 0)?, self.arg(call, 1)?];
        let made = [first, second].map(|op| self.b.op_flags(op, flags, &args));
        Ok(Made::Value(Val::scalars(made)))
    }

    /// The top bits of a word as an odd integer.
    fn shifted_down(&mut self, v: Value, s: Scalar) -> Value {
        if !s.is_odd() {
            return v;
        }
        let shift = self.constant(s.ty, (s.ty.kind().bits() - s.bits).into());
        self.op(Op::Ushr, &[v, shift])
    }

    /// Width and offset of bit fields count modulo 32.
    fn field(&mut self, call: &Call<'_>, n: usize) -> Lift<Value> {
        let v = self.arg(call, n)?;
        let mask = self.constant(self.ty(v), 31);
        Ok(self.op(Op::And, &[v, mask]))
    }

    /// The lowest bit that is one, counted from the low end, or the highest that is one (or differs from the sign), counted
    /// from the high end; all ones if there is none.
    fn first_bit(&mut self, call: &Call<'_>) -> Lift<Value> {
        let (v, s) = (self.arg(call, 0)?, self.arg_type(call, 0)?);
        let none = self.i32(u32::MAX);
        let v = match call.op {
            Dx::FirstbitSHi => {
                let signed = self.signed(v, s);
                // The sign's copies become zeros.
                let last = self.constant(s.ty, (s.ty.kind().bits() - 1).into());
                let sign = self.op(Op::Sshr, &[signed, last]);
                let v = self.op(Op::Xor, &[signed, sign]);
                self.wrapped(v, s)
            }
            _ => v,
        };
        let zero = self.constant(s.ty, 0);
        let is_zero = self.op(Op::IcmpEq, &[v, zero]);
        let count = match call.op {
            Dx::FirstbitLo => self.op(Op::Ctz, &[v]),
            _ => {
                let count = self.op(Op::Clz, &[v]);
                let above = self.constant(s.ty, (s.ty.kind().bits() - s.bits).into());
                if s.is_odd() { self.op(Op::Isub, &[count, above]) } else { count }
            }
        };
        let count = self.resize(count, Type::I32);
        Ok(self.b.select(is_zero, none, count))
    }

    /// Sum of absolute differences of bytes where the reference's byte is not zero.
    fn msad(&mut self, call: &Call<'_>) -> Lift<Value> {
        let [reference, source, mut sum] = [self.arg(call, 0)?, self.arg(call, 1)?, self.arg(call, 2)?];
        let (zero, eight) = (self.i32(0), self.i32(8));
        for byte in 0..4 {
            let at = self.i32(8 * byte);
            let [a, b] = [reference, source].map(|v| self.op(Op::BitfieldU, &[v, at, eight]));
            let (least, most) = (self.op(Op::Umin, &[a, b]), self.op(Op::Umax, &[a, b]));
            let difference = self.op(Op::Isub, &[most, least]);
            let masked = self.op(Op::IcmpEq, &[a, zero]);
            let difference = self.b.select(masked, zero, difference);
            sum = self.op(Op::Iadd, &[sum, difference]);
        }
        Ok(sum)
    }

    /// The sum of an operand and the products of four bytes.
    fn dot_packed(&mut self, call: &Call<'_>) -> Lift<Value> {
        let dot = if call.op == Dx::Dot4AddI8Packed { Op::Sdot4 } else { Op::Udot4 };
        let [sum, a, b] = [self.arg(call, 0)?, self.arg(call, 1)?, self.arg(call, 2)?];
        let products = self.op(dot, &[a, b]);
        Ok(self.op(Op::Iadd, &[sum, products]))
    }
}
