//! Ops without control flow.

use super::{CAST, Emitter, STATE, clif};
use crate::error::CompileError;
use crate::state::State;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, F64, I8, I32, I64};
use cranelift_codegen::ir::{self, InstBuilder, Value as Clif};
use xenoglot_ir::{DivZero, Flags, Imm, Inst, Kind, Op, Type, Value};

impl Emitter<'_> {
    /// The bits of a value as another type of as many.
    pub(super) fn cast(&mut self, v: Clif, ty: ir::Type) -> Result<Clif, CompileError> {
        let from = self.b.func.dfg.value_type(v);
        if from == ty {
            return Ok(v);
        }
        if from.bits() != ty.bits() {
            return Err(CompileError::unsupported("a cast to another size"));
        }
        Ok(self.b.ins().bitcast(ty, CAST, v))
    }

    pub(super) fn inst(&mut self, inst: Inst) -> Result<(), CompileError> {
        let f = self.f;
        let data = &f.insts[inst];
        match (data.op, data.imm, f.args(inst)) {
            (Op::SlotSet, Imm::Slot(slot), &[v]) if self.counter == Some(slot) => {
                if let Some(&count) = self.counts.get(&v) {
                    self.counted = count;
                } else if self.checkpoint.is_some() {
                    return Err(CompileError::unsupported("a counter that is set to anything"));
                } else {
                    let v = self.get(v)?;
                    self.b.ins().set_pinned_reg(v);
                    (self.counted, self.settled) = (0, 0);
                    self.counts.clear();
                }
                return Ok(());
            }
            (Op::SlotSet, Imm::Slot(slot), &[v]) => {
                self.counts_as_values(&[v]);
                let v = self.get(v)?;
                let local = self.registers.locals.has(slot);
                if local {
                    self.known[slot] = v.into();
                } else {
                    self.b.def_var(self.variable(slot), v);
                }
                if local || self.registers.globals.has(slot) {
                    self.dirty = self.dirty.with(slot);
                    self.fault = None;
                }
                return Ok(());
            }
            (Op::Store, ..) => return self.store(inst),
            _ => {}
        }
        let result = f.result(inst);
        let result = result.ok_or_else(|| self.unsupported(data.op))?;
        match (data.op, data.imm, f.args(inst)) {
            (Op::SlotGet, Imm::Slot(slot), _) if self.counter == Some(slot) => {
                self.counts.insert(result, self.counted);
                return Ok(());
            }
            (Op::Isub, _, &[a, b]) => {
                if let (Some(&count), Some(bits)) = (self.counts.get(&a), f.const_bits(b)) {
                    self.counts.insert(result, count.wrapping_add(bits.0[0] as i64));
                    return Ok(());
                }
            }
            (Op::IcmpSle, _, &[a, b]) => {
                // The pinned register is compared with what the block owes it, and need not be brought up to date first.
                if let (Some(&count), Some(bits)) = (self.counts.get(&a), f.const_bits(b)) {
                    let counter = self.b.ins().get_pinned_reg(I64);
                    let most = (bits.0[0] as i64).wrapping_add(count - self.settled);
                    let v = self.b.ins().icmp_imm_s(IntCC::SignedLessThanOrEqual, counter, most);
                    self.values[result] = v.into();
                    return Ok(());
                }
            }
            _ => {}
        }
        self.counts_as_values(f.args(inst));
        let v = match (data.op, data.imm) {
            (Op::Const, Imm::Const(constant)) => self.constant(f.ty(result), f.consts[constant].0[0])?,
            (Op::SlotGet, Imm::Slot(slot)) => self.register(slot)?,
            (Op::Load, _) => self.load(inst, f.ty(result))?,
            _ => self.op(inst, result)?,
        };
        self.values[result] = v.into();
        Ok(())
    }

    /// The same bits, about which the code generator knows nothing.
    pub(super) fn hide(&mut self, v: Clif) -> Clif {
        let ty = self.b.func.dfg.value_type(v);
        let zero = self.b.ins().load(ty, STATE, self.state, State::ZERO);
        self.b.ins().bor(v, zero)
    }

    fn unsupported(&self, op: Op) -> CompileError {
        CompileError::unsupported(format!("`{}`", op.info().name))
    }

    fn constant(&mut self, ty: Type, bits: u64) -> Result<Clif, CompileError> {
        Ok(match clif(ty)? {
            F32 => self.b.ins().f32const(f32::from_bits(bits as u32)),
            F64 => self.b.ins().f64const(f64::from_bits(bits)),
            int => {
                // The generator wants constants sign extended.
                let unused = 64 - int.bits();
                self.b.ins().iconst(int, (bits << unused) as i64 >> unused)
            }
        })
    }

    fn op(&mut self, inst: Inst, result: Value) -> Result<Clif, CompileError> {
        let f = self.f;
        let data = &f.insts[inst];
        let op = data.op;
        let values = f.args(inst);
        let kind = values.first().map_or(Kind::I32, |&v| f.ty(v).kind());
        let args: Result<Vec<Clif>, CompileError> = values.iter().map(|&v| self.get(v)).collect();
        let args = args?;
        let to = clif(f.ty(result))?;
        if let Some(loaded) = values.first().and_then(|&v| self.extended(op, v, to)) {
            return Ok(loaded);
        }
        let allowed = if op == Op::F2s { Flags::NONE.with_clamp() } else { Flags::NONE };
        if data.flags != allowed && data.flags != Flags::NONE {
            return Err(CompileError::unsupported(format!("`{}{}`", op.info().name, data.flags)));
        }
        Ok(match (op, &args[..]) {
            (Op::Iadd, &[a, b]) => self.b.ins().iadd(a, b),
            (Op::Isub, &[a, b]) => self.b.ins().isub(a, b),
            (Op::Imul, &[a, b]) => self.b.ins().imul(a, b),
            (Op::Ineg, &[a]) => self.b.ins().ineg(a),
            (Op::And, &[a, b]) => self.b.ins().band(a, b),
            (Op::Or, &[a, b]) => self.b.ins().bor(a, b),
            (Op::Xor, &[a, b]) => self.b.ins().bxor(a, b),
            (Op::Not, &[a]) if kind == Kind::Bool => self.b.ins().bxor_imm_u(a, 1),
            (Op::Not, &[a]) => self.b.ins().bnot(a),
            (Op::Shl, &[a, b]) => self.b.ins().ishl(a, b),
            (Op::Ushr, &[a, b]) => self.b.ins().ushr(a, b),
            (Op::Sshr, &[a, b]) => self.b.ins().sshr(a, b),
            (Op::Rotl, &[a, b]) => self.b.ins().rotl(a, b),
            (Op::Clz, &[a]) => self.b.ins().clz(a),
            (Op::Byteswap, &[a]) if self.b.func.dfg.value_type(a) == I8 => a,
            (Op::Byteswap, &[a]) => self.b.ins().bswap(a),
            (Op::IaddOverflowOut | Op::IsubOverflowOut, &[a, b, _]) => {
                let carry = values.get(2).and_then(|&v| f.const_bits(v));
                if carry.is_none_or(|bits| bits.0[0] != 0) {
                    return Err(self.unsupported(op));
                }
                let (result, other) = match op {
                    Op::IaddOverflowOut => {
                        let sum = self.b.ins().iadd(a, b);
                        (sum, self.b.ins().bxor(sum, b))
                    }
                    _ => {
                        let difference = self.b.ins().isub(a, b);
                        (difference, self.b.ins().bxor(a, b))
                    }
                };
                // The sign is wrong where it differs from that of the first operand, and the second one does not excuse it.
                let wrong = self.b.ins().bxor(result, a);
                let wrong = self.b.ins().band(wrong, other);
                self.b.ins().icmp_imm_s(IntCC::SignedLessThan, wrong, 0)
            }
            (Op::Udiv | Op::Sdiv | Op::Urem | Op::Srem, &[a, b]) => self.divide(op, data.flags, a, b)?,
            (Op::Select, &[c, a, b]) => self.b.ins().select(c, a, b),
            (Op::Bitcast, &[a]) if kind.is_int() && matches!(to, F32 | F64) => {
                // The generator computes with floats that it knows, and no exception would come of that: none is to be known.
                // What comes from memory is not.
                let defined = values.first().and_then(|&v| f.def_inst(v)).map(|inst| f.insts[inst].op);
                let unknown = matches!(defined, Some(Op::Load));
                let a = if unknown { a } else { self.hide(a) };
                self.cast(a, to)?
            }
            (Op::Bitcast, &[a]) => self.cast(a, to)?,
            (Op::Zext, &[a]) => self.b.ins().uextend(to, a),
            (Op::Sext, &[a]) if kind == Kind::Bool => {
                let wide = if to == I8 { a } else { self.b.ins().uextend(to, a) };
                self.b.ins().ineg(wide)
            }
            (Op::Sext, &[a]) => self.b.ins().sextend(to, a),
            (Op::TruncInt, &[a]) if self.b.func.dfg.value_type(a) == to => a,
            (Op::TruncInt, &[a]) => self.b.ins().ireduce(to, a),
            (Op::Fadd, &[a, b]) => self.b.ins().fadd(a, b),
            (Op::Fsub, &[a, b]) => self.b.ins().fsub(a, b),
            (Op::Fmul, &[a, b]) => self.b.ins().fmul(a, b),
            (Op::Fdiv, &[a, b]) => self.b.ins().fdiv(a, b),
            (Op::Sqrt, &[a]) => self.b.ins().sqrt(a),
            (Op::Fneg, &[a]) => self.b.ins().fneg(a),
            (Op::Fabs, &[a]) => self.b.ins().fabs(a),
            (Op::Floor, &[a]) => self.b.ins().floor(a),
            (Op::Ceil, &[a]) => self.b.ins().ceil(a),
            (Op::Trunc, &[a]) => self.b.ins().trunc(a),
            (Op::RoundEven, &[a]) => self.b.ins().nearest(a),
            (Op::F2f, &[a]) if kind == Kind::F32 && to == F64 => self.b.ins().fpromote(F64, a),
            (Op::F2f, &[a]) if kind == Kind::F64 && to == F32 => self.b.ins().fdemote(F32, a),
            (Op::F2s, &[a]) if matches!(to, I32 | I64) => self.b.ins().fcvt_to_sint_sat(to, a),
            (Op::S2f, &[a]) if matches!(kind, Kind::I32 | Kind::I64) => self.b.ins().fcvt_from_sint(to, a),
            (_, &[a, b]) => match (int_condition(op), float_condition(op)) {
                (Some(condition), _) => self.b.ins().icmp(condition, a, b),
                (_, Some(condition)) => self.b.ins().fcmp(condition, a, b),
                _ => return Err(self.unsupported(op)),
            },
            _ => return Err(self.unsupported(op)),
        })
    }

    /// A division that the host's instruction would trap on is one by 1.
    fn divide(&mut self, op: Op, flags: Flags, a: Clif, b: Clif) -> Result<Clif, CompileError> {
        let ty = self.b.func.dfg.value_type(a);
        if !matches!(ty, I32 | I64) || flags.div_zero() != DivZero::Zero {
            return Err(self.unsupported(op));
        }
        let is_zero = self.equals(b, 0);
        let one = self.b.ins().iconst(ty, 1);
        let mut unusual = is_zero;
        if matches!(op, Op::Sdiv | Op::Srem) {
            let least = self.equals(a, if ty == I32 { i64::from(i32::MIN) } else { i64::MIN });
            let minus = self.equals(b, -1);
            let overflows = self.b.ins().band(least, minus);
            unusual = self.b.ins().bor(unusual, overflows);
        }
        let b = self.b.ins().select(unusual, one, b);
        // The least number is its own quotient then, and the remainder is 0, as for a zero divisor.
        let v = match op {
            Op::Sdiv => self.b.ins().sdiv(a, b),
            Op::Udiv => self.b.ins().udiv(a, b),
            Op::Srem => return Ok(self.b.ins().srem(a, b)),
            _ => return Ok(self.b.ins().urem(a, b)),
        };
        let zero = self.b.ins().iconst(ty, 0);
        Ok(self.b.ins().select(is_zero, zero, v))
    }
}

fn int_condition(op: Op) -> Option<IntCC> {
    Some(match op {
        Op::IcmpEq => IntCC::Equal,
        Op::IcmpNe => IntCC::NotEqual,
        Op::IcmpUlt => IntCC::UnsignedLessThan,
        Op::IcmpUle => IntCC::UnsignedLessThanOrEqual,
        Op::IcmpSlt => IntCC::SignedLessThan,
        Op::IcmpSle => IntCC::SignedLessThanOrEqual,
        _ => return None,
    })
}

fn float_condition(op: Op) -> Option<FloatCC> {
    Some(match op {
        Op::FcmpOeq => FloatCC::Equal,
        Op::FcmpOne => FloatCC::OrderedNotEqual,
        Op::FcmpOlt => FloatCC::LessThan,
        Op::FcmpOle => FloatCC::LessThanOrEqual,
        Op::FcmpUeq => FloatCC::UnorderedOrEqual,
        Op::FcmpUne => FloatCC::NotEqual,
        Op::FcmpUlt => FloatCC::UnorderedOrLessThan,
        Op::FcmpUle => FloatCC::UnorderedOrLessThanOrEqual,
        Op::FcmpOrd => FloatCC::Ordered,
        Op::FcmpUno => FloatCC::Unordered,
        _ => return None,
    })
}
