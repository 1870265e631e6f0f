//! Operators, calls and literals, written with the parentheses they need.

use super::*;
use std::fmt::Write;

impl Writer<'_> {
    pub(super) fn infix(
        &mut self,
        inst: Inst,
        symbol: &str,
        prec: Prec,
        sel: Sel,
        min: Prec,
    ) -> Result<(), Error> {
        self.binary(inst, symbol, prec, [prec, prec + 1], sel, min)
    }

    /// An infix operator whose operands are put in parentheses more often than they must be.
    pub(super) fn tight(
        &mut self,
        inst: Inst,
        symbol: &str,
        prec: Prec,
        inner: Prec,
        sel: Sel,
        min: Prec,
    ) -> Result<(), Error> {
        self.binary(inst, symbol, prec, [inner; 2], sel, min)
    }

    pub(super) fn binary(
        &mut self,
        inst: Inst,
        symbol: &str,
        prec: Prec,
        inner: [Prec; 2],
        sel: Sel,
        min: Prec,
    ) -> Result<(), Error> {
        let &[a, b] = self.func.args(inst) else { return Err(Error::Malformed("two operands are expected")) };
        // `v * 2.0` instead of `v * vec4(2.0)`; one side has to keep its width.
        let narrow_b = if sel.lanes() > 1 { self.uniform_lane(b, sel) } else { None };
        let narrow_a = if sel.lanes() > 1 && narrow_b.is_none() { self.uniform_lane(a, sel) } else { None };
        let pick = |lane: Option<(Value, u8)>, v: Value, w: &Self| {
            lane.map_or(sel, |(_, l)| Sel::some(&[l], w.func.ty(v).lanes()))
        };
        self.wrapped(prec, min, |w| {
            let sel_a = pick(narrow_a, a, w);
            w.operand(inst, 0, sel_a, inner[0])?;
            w.out.push_str(symbol);
            let sel_b = pick(narrow_b, b, w);
            w.operand(inst, 1, sel_b, inner[1])
        })
    }

    pub(super) fn prefix(&mut self, symbol: &str, v: Value, sel: Sel, min: Prec) -> Result<(), Error> {
        self.wrapped(UNARY, min, |w| {
            w.out.push_str(symbol);
            w.expr(v, sel, UNARY + 1)
        })
    }

    /// `(operands)`.
    pub(crate) fn parenthesised(&mut self, inst: Inst, sel: Sel) -> Result<(), Error> {
        self.out.push('(');
        self.operands(inst, sel)?;
        self.out.push(')');
        Ok(())
    }

    fn operands(&mut self, inst: Inst, sel: Sel) -> Result<(), Error> {
        for i in 0..self.func.args(inst).len() {
            self.out.push_str(if i == 0 { "" } else { ", " });
            self.operand(inst, i, sel, ANY)?;
        }
        Ok(())
    }

    /// A call of a function that computes on its operands: lanes are taken of its result.
    pub(super) fn call_pure(&mut self, inst: Inst, callee: Func, sel: Sel) -> Result<(), Error> {
        let names = self.names;
        let name = names.funcs.get(callee);
        self.out.push_str(name.ok_or(Error::Malformed("a call of a function that does not exist"))?);
        let func = self.func;
        for (i, &v) in func.args(inst).iter().enumerate() {
            self.out.push_str(if i == 0 { "(" } else { ", " });
            self.value(v, ANY)?;
        }
        self.out.push(')');
        sel.write(self.out);
        Ok(())
    }

    pub(crate) fn call(&mut self, inst: Inst, name: &str, sel: Sel) -> Result<(), Error> {
        if self.func.args(inst).first().is_some_and(|&a| self.func.ty(a).kind() == Kind::I64) {
            self.extension(Extension::Int64);
        }
        self.out.push_str(name);
        self.parenthesised(inst, sel)
    }

    /// `uint(min(int(a), int(b)))`.
    pub(super) fn signed_call(&mut self, inst: Inst, name: &str, sel: Sel) -> Result<(), Error> {
        let &[a, b] = self.func.args(inst) else { return Err(Error::Malformed("two operands are expected")) };
        let ty = self.func.ty(a);
        self.out.push_str(type_name(Type::new(ty.kind(), sel.lanes()).unwrap_or(ty))?);
        self.out.push('(');
        self.out.push_str(name);
        self.out.push('(');
        self.cast(a, signed_name(ty.kind(), sel.lanes()), sel)?;
        self.out.push_str(", ");
        self.cast(b, signed_name(ty.kind(), sel.lanes()), sel)?;
        self.out.push_str("))");
        Ok(())
    }

    /// `uint(int(a) / int(b))`.
    pub(super) fn signed_infix(&mut self, inst: Inst, symbol: &str, sel: Sel) -> Result<(), Error> {
        let &[a, b] = self.func.args(inst) else { return Err(Error::Malformed("two operands are expected")) };
        let ty = self.func.ty(a);
        self.out.push_str(type_name(Type::new(ty.kind(), sel.lanes()).unwrap_or(ty))?);
        self.out.push('(');
        self.cast(a, signed_name(ty.kind(), sel.lanes()), sel)?;
        self.out.push_str(symbol);
        self.cast(b, signed_name(ty.kind(), sel.lanes()), sel)?;
        self.out.push(')');
        Ok(())
    }

    /// `uint(function(a))`, of functions whose result is signed.
    pub(super) fn unsigned_call(&mut self, inst: Inst, name: &str, sel: Sel) -> Result<(), Error> {
        self.out.push_str(type_name(Type::new(Kind::I32, sel.lanes()).unwrap_or(Type::I32))?);
        self.out.push('(');
        self.out.push_str(name);
        self.parenthesised(inst, sel)?;
        self.out.push(')');
        Ok(())
    }

    /// A field of a 32-bit word that constants place in it.
    pub(super) fn field(&mut self, inst: Inst, sel: Sel) -> Result<(), Error> {
        let args = self.func.args(inst);
        let (Some(&x), Some(&[offset, count])) = (args.first(), args.last_chunk()) else {
            return Err(Error::Malformed("three operands are expected"));
        };
        let uniform = |v: Value| {
            let bits = self.func.const_bits(v)?;
            let lanes = usize::from(self.func.ty(v).lanes());
            (1..lanes).all(|i| bits.lane(i) == bits.lane(0)).then(|| bits.lane(0))
        };
        let (Some(offset), Some(count)) = (uniform(offset), uniform(count)) else {
            return Err(self.unlowered(inst));
        };
        let is_inside =
            self.func.ty(x).kind() == Kind::I32 && offset < 32 && (1..=32 - offset).contains(&count);
        if !is_inside || self.target() == Target::Gl330 {
            return Err(self.unlowered(inst));
        }
        let inserts = self.func.insts[inst].op == Op::BitfieldInsert;
        self.out.push_str(if inserts { "bitfieldInsert(" } else { "bitfieldExtract(" });
        self.operand(inst, 0, sel, ANY)?;
        if inserts {
            self.out.push_str(", ");
            self.operand(inst, 1, sel, ANY)?;
        }
        let _ = write!(self.out, ", {offset}, {count})");
        Ok(())
    }

    pub(super) fn helper(&mut self, inst: Inst, helper: Helper, sel: Sel) -> Result<(), Error> {
        self.open_helper(helper, sel.lanes());
        self.operands(inst, sel)?;
        self.out.push(')');
        Ok(())
    }

    pub(super) fn shift(
        &mut self,
        inst: Inst,
        symbol: &str,
        kind: Kind,
        sel: Sel,
        min: Prec,
    ) -> Result<(), Error> {
        let &[a, b] = self.func.args(inst) else { return Err(Error::Malformed("two operands are expected")) };
        self.wrapped(SHIFT, min, |w| {
            w.expr(a, sel, UNARY)?;
            w.out.push_str(symbol);
            w.amount(b, kind, sel)
        })
    }

    /// A shift amount, modulo the width.
    pub(super) fn amount(&mut self, v: Value, kind: Kind, sel: Sel) -> Result<(), Error> {
        let n = u64::from(kind.bits());
        if let (Some(bits), Some((_, lane))) = (
            self.func.const_bits(v),
            self.uniform_lane(v, sel).or(sel.lanes().eq(&1).then(|| (v, sel.as_slice()[0]))),
        ) {
            let at = usize::from(if self.func.ty(v).is_scalar() { 0 } else { lane });
            return lane_of(self.out, kind, bits.lane(at) % n);
        }
        self.out.push('(');
        self.expr(v, sel, UNARY)?;
        self.out.push_str(" & ");
        lane_of(self.out, kind, n - 1)?;
        self.out.push(')');
        Ok(())
    }

    pub(super) fn compare(
        &mut self,
        inst: Inst,
        symbol: &str,
        function: &str,
        signed: bool,
        sel: Sel,
        min: Prec,
    ) -> Result<(), Error> {
        let &[a, b] = self.func.args(inst) else { return Err(Error::Malformed("two operands are expected")) };
        let side = |w: &mut Self, i: usize, v: Value, prec: Prec| {
            if signed {
                w.cast(v, signed_name(w.func.ty(v).kind(), sel.lanes()), sel)
            } else {
                w.operand(inst, i, sel, prec)
            }
        };
        if sel.lanes() == 1 {
            return self.wrapped(COMPARE, min, |w| {
                side(w, 0, a, COMPARE + 1)?;
                w.out.push_str(symbol);
                side(w, 1, b, COMPARE + 1)
            });
        }
        self.out.push_str(function);
        self.out.push('(');
        side(self, 0, a, ANY)?;
        self.out.push_str(", ");
        side(self, 1, b, ANY)?;
        self.out.push(')');
        Ok(())
    }

    /// `name(v)`.
    pub(crate) fn cast(&mut self, v: Value, name: &str, sel: Sel) -> Result<(), Error> {
        let sel = if self.func.ty(v).is_scalar() { Sel::all(self.func.ty(v)) } else { sel };
        self.out.push_str(name);
        self.out.push('(');
        self.expr(v, sel, ANY)?;
        self.out.push(')');
        Ok(())
    }

    /// A scalar in all of `lanes` lanes.
    pub(super) fn cast_as(&mut self, v: Value, ty: Type, lanes: u8) -> Result<(), Error> {
        self.cast(v, type_name(Type::new(ty.kind(), lanes).unwrap_or(ty))?, Sel::all(ty.lane()))
    }

    pub(super) fn zero(&mut self, kind: Kind, lanes: u8) -> Result<(), Error> {
        let ty = Type::new(kind, lanes).ok_or(Error::Malformed("a vector of handles"))?;
        self.literal(ty, &[0; 4], Sel::all(ty), ANY)
    }

    pub(crate) fn literal(&mut self, ty: Type, bits: &[u64; 4], sel: Sel, min: Prec) -> Result<(), Error> {
        let at = |l: u8| bits.get(usize::from(l)).copied().unwrap_or(0);
        if let &[l] = sel.as_slice() {
            let start = self.out.len();
            let minus = lane(self.out, ty.kind(), at(l))?;
            if minus && min > SUM {
                self.out.insert(start, '(');
                self.out.push(')');
            }
            return Ok(());
        }
        self.out.push_str(type_name(Type::new(ty.kind(), sel.lanes()).unwrap_or(ty))?);
        self.out.push('(');
        let lanes = sel.as_slice();
        let same = lanes.iter().all(|&l| at(l) == at(lanes[0]));
        for (i, &l) in lanes.iter().take(if same { 1 } else { 4 }).enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            lane(self.out, ty.kind(), at(l))?;
        }
        self.out.push(')');
        Ok(())
    }

    /// Lanes gathered from two values: `place` says which value and which of its lanes lane `l` is.
    pub(super) fn pieces(
        &mut self,
        ty: Type,
        sel: Sel,
        min: Prec,
        place: impl Fn(u8) -> (usize, u8),
        from: [Value; 2],
    ) -> Result<(), Error> {
        let lanes = sel.as_slice();
        let part = |run: &[u8], w: &Self| {
            let mut at = [0; 4];
            for (to, &l) in at.iter_mut().zip(run) {
                *to = place(l).1;
            }
            let which = run.first().map_or(0, |&l| place(l).0).min(1);
            let of = w.func.ty(from[which]).lanes();
            (from[which], Sel::some(&at[..run.len()], of))
        };
        let split = lanes.windows(2).any(|w| place(w[0]).0 != place(w[1]).0);
        if !split {
            let (v, sel) = part(lanes, self);
            return self.expr(v, sel, min);
        }
        self.out.push_str(type_name(Type::new(ty.kind(), sel.lanes()).unwrap_or(ty))?);
        for (i, run) in lanes.chunk_by(|&a, &b| place(a).0 == place(b).0).enumerate() {
            self.out.push_str(if i == 0 { "(" } else { ", " });
            // An inlined value that occurs in two runs would be evaluated twice, which is correct but long; the
            // writer accepts that for the rare interleaved shuffle.
            let (v, sel) = part(run, self);
            self.expr(v, sel, ANY)?;
        }
        self.out.push(')');
        Ok(())
    }

    pub(super) fn select(&mut self, inst: Inst, ty: Type, sel: Sel, min: Prec) -> Result<(), Error> {
        let &[c, a, b] = self.func.args(inst) else {
            return Err(Error::Malformed("three operands are expected"));
        };
        let condition = self.func.ty(c);
        if condition.is_scalar() || sel.lanes() == 1 {
            let sel_c = if condition.is_scalar() { Sel::all(condition) } else { sel };
            return self.wrapped(TERNARY, min, |w| {
                w.expr(c, sel_c, LOGIC)?;
                w.out.push_str(" ? ");
                w.expr(a, sel, LOGIC)?;
                w.out.push_str(" : ");
                w.expr(b, sel, LOGIC)
            });
        }
        let kind = ty.kind();
        if kind != Kind::F32
            && (self.target() == Target::Gl330 || matches!(kind, Kind::I64 | Kind::I16 | Kind::I8))
        {
            let helper = match kind {
                Kind::Bool => Helper::PickBool,
                Kind::I64 => Helper::PickLong,
                Kind::I16 => Helper::PickShort,
                Kind::I8 => Helper::PickByte,
                _ => Helper::PickWord,
            };
            return self.helper(inst, helper, sel);
        }
        self.out.push_str("mix(");
        self.expr(b, sel, ANY)?;
        self.out.push_str(", ");
        self.expr(a, sel, ANY)?;
        self.out.push_str(", ");
        self.expr(c, sel, ANY)?;
        self.out.push(')');
        Ok(())
    }
}
