//! Packed halves.

use super::Unsupported;
use super::cx::{Cx, Lift, dst, operand};
use super::float::arithmetic;
use crate::inst::{Inst, Operand, Part, Role};
use crate::modifier::{BoolOp, FloatCompare, HalfMerge, Mod};
use xenoglot_ir::{Flags, Lanes, Op, Type, Value};

impl Cx<'_> {
    /// The two lanes of an operand: halves, or singles of `.F32`.
    fn lanes(&mut self, o: &Operand) -> Lift<Value> {
        let word = self.raw(o)?;
        let v = match o.part {
            Part::F32 => {
                let single = self.cast(word, Type::F32);
                self.b.splat(single, 2)
            }
            part => {
                let v = self.cast(word, Type::F16X2);
                let lane = match part {
                    Part::Full => None,
                    Part::H0H0 | Part::H0 => Some([0, 0]),
                    Part::H1H1 | Part::H1 => Some([1, 1]),
                    _ => return Err(Unsupported),
                };
                match lane.and_then(|lanes| Lanes::new(&lanes)) {
                    Some(lanes) => self.b.shuffle(v, v, lanes),
                    None => v,
                }
            }
        };
        Ok(self.with_signs(o, v))
    }

    /// Operands of one type: halves, unless one is a single or the result is.
    fn halves<const N: usize>(&mut self, inst: &Inst, roles: [Role; N]) -> Lift<[Value; N]> {
        let mut values = Vec::with_capacity(N);
        for role in roles {
            values.push(self.lanes(&operand(inst, role)?)?);
        }
        let mut wide = merge(inst)? == HalfMerge::F32;
        wide |= values.iter().any(|&v| self.b.func.ty(v) == Type::F32X2);
        for v in values.iter_mut().filter(|_| wide) {
            if self.b.func.ty(*v) == Type::F16X2 {
                *v = self.convert(Op::F2f, *v, Type::F32X2);
            }
        }
        values.try_into().map_err(|_| Unsupported)
    }

    /// HADD2, HMUL2, HFMA2 and their forms with immediates.
    pub fn half_arithmetic<const N: usize>(&mut self, inst: &Inst, op: Op, roles: [Role; N]) -> Lift<()> {
        let args = self.halves(inst, roles)?;
        let v = self.b.op_flags(op, arithmetic(inst)?, &args);
        self.set_halves(inst, v)
    }

    /// Writes a result of two lanes as the instruction merges it.
    fn set_halves(&mut self, inst: &Inst, v: Value) -> Lift<()> {
        let merge = merge(inst)?;
        if merge == HalfMerge::F32 {
            let v = self.b.extract(v, 0);
            return self.set_dst(inst, v);
        }
        let v = if self.b.func.ty(v) == Type::F32X2 { self.convert(Op::F2f, v, Type::F16X2) } else { v };
        let lanes = match merge {
            HalfMerge::MrgH0 => Lanes::new(&[4, 1]),
            HalfMerge::MrgH1 => Lanes::new(&[0, 5]),
            _ => None,
        };
        let v = match lanes {
            Some(lanes) => {
                let old = self.reg(dst(inst)?);
                let old = self.cast(old, Type::F16X2);
                self.b.shuffle(old, v, lanes)
            }
            None => v,
        };
        self.set_dst(inst, v)
    }

    fn half_test(&mut self, inst: &Inst) -> Lift<[Value; 2]> {
        let [a, b] = self.halves(inst, [Role::A, Role::B])?;
        let how: FloatCompare = inst.get(Mod::FloatCompare)?;
        let flags = if arithmetic(inst)?.ftz() { Flags::NONE.with_ftz() } else { Flags::NONE };
        Ok([0, 1].map(|lane| {
            let (a, b) = (self.b.extract(a, lane), self.b.extract(b, lane));
            self.float_compare(how, flags, a, b)
        }))
    }

    fn bool_op(inst: &Inst) -> Lift<Op> {
        Ok(match inst.get(Mod::BoolOp)? {
            BoolOp::And => Op::And,
            BoolOp::Or => Op::Or,
            BoolOp::Xor => Op::Xor,
        })
    }

    /// HSETP2: a predicate for each lane; with `.H_AND` both lanes' conjunction and its complement.
    pub fn hsetp2(&mut self, inst: &Inst) -> Lift<()> {
        let [mut low, mut high] = self.half_test(inst)?;
        if inst.has(Mod::HAnd) {
            low = self.op(Op::And, &[low, high]);
            high = self.not(low);
        }
        let (p, op) = (self.pred_operand(inst, Role::Pred)?, Self::bool_op(inst)?);
        for (role, test) in [(Role::DstPred, low), (Role::DstPred2, high)] {
            let v = self.op(op, &[test, p]);
            self.set_dst_pred(inst, role, v);
        }
        Ok(())
    }

    /// HSET2: all ones, or 1.0, in each half.
    pub fn hset2(&mut self, inst: &Inst) -> Lift<()> {
        let tests = self.half_test(inst)?;
        let (p, op) = (self.pred_operand(inst, Role::Pred)?, Self::bool_op(inst)?);
        let yes = if inst.has(Mod::FloatResult) { 0x3c00 } else { 0xffff };
        let zero = self.zero();
        let words = [(tests[0], yes), (tests[1], yes << 16)].map(|(test, yes)| {
            let test = self.op(op, &[test, p]);
            let yes = self.number(yes);
            self.select(test, yes, zero)
        });
        let v = self.op(Op::Or, &words);
        self.set_dst(inst, v)
    }
}

fn merge(inst: &Inst) -> Lift<HalfMerge> {
    Ok(inst.get(Mod::HalfMerge)?)
}
