//! ATOM, ATOMS, RED.

use super::Unsupported;
use super::cx::{Cx, Lift, operand};
use super::memory::Place;
use crate::inst::{Inst, Role};
use crate::modifier::{AtomOp, AtomType, Mod};
use xenoglot_ir::imm::{Order, Scope};
use xenoglot_ir::{Flags, Imm, MemInfo, Op, Type, Value};

impl Cx<'_> {
    /// A read-modify-write; `RED` has no destination.
    pub fn atomic(&mut self, inst: &Inst, place: Place) -> Lift<()> {
        let how: AtomOp = inst.get(Mod::AtomOp)?;
        let (ty, signed) = match inst.get(Mod::AtomType)? {
            AtomType::U32 => (Type::I32, false),
            AtomType::S32 => (Type::I32, true),
            AtomType::U64 => (Type::I64, false),
            AtomType::S64 => (Type::I64, true),
            // An exchange is one of bits.
            AtomType::F32FtzRn if how == AtomOp::Exch => (Type::I32, false),
            AtomType::F32FtzRn => (Type::F32, false),
            AtomType::F16x2FtzRn => (Type::F16X2, false),
            AtomType::Sd32 | AtomType::Sd64 => return Err(Unsupported),
        };
        let op = match (how, ty.kind().is_float()) {
            (AtomOp::Add, true) => Op::AtomicFadd,
            (_, true) => return Err(Unsupported),
            (AtomOp::Add, _) => Op::AtomicAdd,
            (AtomOp::Min, _) if signed => Op::AtomicSmin,
            (AtomOp::Min, _) => Op::AtomicUmin,
            (AtomOp::Max, _) if signed => Op::AtomicSmax,
            (AtomOp::Max, _) => Op::AtomicUmax,
            (AtomOp::Inc, _) => Op::AtomicIncWrap,
            (AtomOp::Dec, _) => Op::AtomicDecWrap,
            (AtomOp::And, _) => Op::AtomicAnd,
            (AtomOp::Or, _) => Op::AtomicOr,
            (AtomOp::Xor, _) => Op::AtomicXor,
            (AtomOp::Exch, _) => Op::AtomicXchg,
            (AtomOp::Cas, _) => Op::AtomicCmpxchg,
            // Parts of a lock that spins; nothing else is known of them.
            (AtomOp::Cast | AtomOp::SafeAdd, _) => return Err(Unsupported),
        };
        let args = self.atomic_operands(inst, op, ty)?;
        let address = self.address(inst)?;
        let align = ty.bytes().unwrap_or(4).trailing_zeros() as u8;
        let packed = ty == Type::F16X2;
        let result = if packed { Type::I32 } else { ty };
        let old = self.access(place, address, align, true, Some(result), |cx, mem, offset| {
            let scope = if mem.resource.is_some() { Scope::Device } else { Scope::Workgroup };
            let mem = MemInfo { order: Order::Relaxed, scope, ..mem };
            if packed {
                return Some(cx.add_halves(mem, offset, args[0]));
            }
            let mut operands = vec![offset];
            operands.extend(&args);
            let made = cx.b.inst(op, Flags::NONE, Imm::Mem(mem), &operands, &[ty]);
            cx.b.func.result(made)
        })?;
        let old = old.ok_or(Unsupported)?;
        self.info.reads_global |= place == Place::Global;
        match inst.operand(Role::Dst).and_then(|o| o.reg()) {
            Some(n) if ty.bits() == 64 => self.set_pair(n, old),
            Some(n) => self.set_reg(n, old),
            None => {}
        }
        let resident = self.truth(true);
        self.set_dst_pred(inst, Role::DstPred, resident);
        Ok(())
    }

    /// Adds packed halves in memory, by exchanges until nobody was in between; gives what was there.
    fn add_halves(&mut self, mem: MemInfo, offset: Value, operand: Value) -> Value {
        let plain = MemInfo { order: Order::None, ..mem };
        let first = self.b.load(plain, offset, Type::I32);
        let (again, old) = self.join_block(&[Type::I32]);
        let (done, result) = self.join_block(&[Type::I32]);
        self.b.jump(again, &[first]);
        self.b.switch_to(again);
        let halves = self.cast(old[0], Type::F16X2);
        let sum = self.b.op_flags(Op::Fadd, Flags::NONE.with_ftz(), &[halves, operand]);
        let new = self.cast(sum, Type::I32);
        let met = self.b.op_imm(Op::AtomicCmpxchg, Flags::NONE, Imm::Mem(mem), &[offset, old[0], new]);
        let alone = self.op(Op::IcmpEq, &[met, old[0]]);
        self.b.branch(alone, (done, &[met]), (again, &[met]));
        self.b.switch_to(done);
        result[0]
    }

    /// The operands after the address; of a compare-and-swap the expected value, then the new one.
    fn atomic_operands(&mut self, inst: &Inst, op: Op, ty: Type) -> Lift<Vec<Value>> {
        let roles: &[Role] = if op == Op::AtomicCmpxchg { &[Role::Data, Role::C] } else { &[Role::Data] };
        let mut values = Vec::with_capacity(roles.len());
        for &role in roles {
            let n = operand(inst, role)?.reg().ok_or(Unsupported)?;
            let v = if ty.bits() == 64 { self.pair(n, ty) } else { self.reg(n) };
            values.push(self.cast(v, ty));
        }
        Ok(values)
    }
}
