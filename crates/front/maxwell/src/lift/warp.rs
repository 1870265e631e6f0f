//! Operations of a warp and of a workgroup together.

use super::Unsupported;
use super::cx::{Cx, Lift, immediate, warp};
use super::float::arithmetic;
use crate::inst::{Inst, Role, Value as Named};
use crate::modifier::{BarMode, BarRed, MembarLevel, Mod, ShflMode, VoteMode};
use xenoglot_ir::imm::{Order, Scope};
use xenoglot_ir::{Flags, Imm, MemInfo, Op, Space, Type, Value};

/// B2R's `.RESULT`.
const RESULT: u8 = 1;

impl Cx<'_> {
    /// SHFL: the lane's value named by B within the segments that C makes, as PTX defines it: bits 0 to 4 of C clamp,
    /// bits 8 to 12 tell the segments.
    pub fn shfl(&mut self, inst: &Inst) -> Lift<()> {
        let (a, b, c) = (self.int(inst, Role::A)?, self.int(inst, Role::B)?, self.int(inst, Role::C)?);
        let mode: ShflMode = inst.get(Mod::ShflMode)?;
        self.info.warp_operations = true;
        let lane = self.lane_id();
        let b = self.field(b, 0, 5, false);
        let clamp = self.field(c, 0, 5, false);
        let segment = self.field(c, 8, 5, false);
        let others = self.op(Op::Not, &[segment]);
        let first = self.op(Op::And, &[lane, segment]);
        let within = self.op(Op::And, &[clamp, others]);
        let limit = self.op(Op::Or, &[first, within]);
        let from = match mode {
            ShflMode::Up => self.op(Op::Isub, &[lane, b]),
            ShflMode::Down => self.op(Op::Iadd, &[lane, b]),
            ShflMode::Bfly => self.op(Op::Xor, &[lane, b]),
            ShflMode::Idx => {
                let b = self.op(Op::And, &[b, others]);
                self.op(Op::Or, &[first, b])
            }
        };
        let inside = match mode {
            ShflMode::Up => self.op(Op::IcmpSle, &[limit, from]),
            _ => self.op(Op::IcmpSle, &[from, limit]),
        };
        let from = self.select(inside, from, lane);
        let v = self.b.op_imm(Op::SgShuffle, Flags::NONE, warp(), &[a, from]);
        self.set_dst_pred(inst, Role::DstPred, inside);
        self.set_dst(inst, v)
    }

    /// FSWZADD: A plus B in singles, either negated by the lane's place in its quad: two bits for each, the first lane's
    /// the highest, 1 negating A and 2 negating B.
    pub fn fswzadd(&mut self, inst: &Inst) -> Lift<()> {
        let (a, b) = (self.float(inst, Role::A)?, self.float(inst, Role::B)?);
        let lanes = immediate(inst, Role::Number)?;
        if (0..4).any(|lane| lanes >> (2 * lane) & 3 == 3) {
            return Err(Unsupported);
        }
        self.info.warp_operations = true;
        let (lane, quad) = (self.lane_id(), self.number(3));
        let lane = self.op(Op::And, &[lane, quad]);
        let [one, two, lanes] = [1, 2, lanes].map(|v| self.number(v));
        let first = self.op(Op::Isub, &[quad, lane]);
        let at = self.op(Op::Shl, &[first, one]);
        let code = self.op(Op::Ushr, &[lanes, at]);
        let code = self.op(Op::And, &[code, quad]);
        let [a, b] = [(a, one), (b, two)].map(|(v, negates)| {
            let negates = self.op(Op::IcmpEq, &[code, negates]);
            let negative = self.op(Op::Fneg, &[v]);
            self.select(negates, negative, v)
        });
        let v = self.b.op_flags(Op::Fadd, arithmetic(inst)?, &[a, b]);
        self.set_dst(inst, v)
    }

    /// VOTE. That of graphics stages (`.VTG`) has no destination: nothing an invocation sees depends on it.
    pub fn vote(&mut self, inst: &Inst) -> Lift<()> {
        if inst.operand(Role::DstPred).is_none() {
            return Ok(());
        }
        let p = self.pred_operand(inst, Role::Pred)?;
        self.info.warp_operations = true;
        let ballot = self.ballot(p);
        let zero = self.zero();
        let all = self.truth(true);
        let v = match inst.get(Mod::VoteMode)? {
            VoteMode::Any => self.op(Op::IcmpNe, &[ballot, zero]),
            VoteMode::All => {
                let active = self.ballot(all);
                self.op(Op::IcmpEq, &[ballot, active])
            }
            VoteMode::Eq => {
                let active = self.ballot(all);
                let every = self.op(Op::IcmpEq, &[ballot, active]);
                let none = self.op(Op::IcmpEq, &[ballot, zero]);
                self.op(Op::Or, &[every, none])
            }
        };
        if let Some(n) = inst.operand(Role::Dst).and_then(|o| o.reg()) {
            self.set_reg(n, ballot);
        }
        self.set_dst_pred(inst, Role::DstPred, v);
        Ok(())
    }

    fn ballot(&mut self, p: Value) -> Value {
        let made = self.b.inst(Op::SgBallot, Flags::NONE, warp(), &[p], &[Type::I32]);
        self.b.func.results(made)[0]
    }

    /// MEMBAR.
    pub fn membar(&mut self, inst: &Inst) -> Lift<()> {
        let scope = match inst.get(Mod::MembarLevel)? {
            MembarLevel::Cta => Scope::Workgroup,
            MembarLevel::Gl => Scope::Device,
            MembarLevel::Sys | MembarLevel::Vc => Scope::System,
        };
        self.barrier(scope, false);
        Ok(())
    }

    /// BAR. A barrier for part of the workgroup, and one that does not wait, have no counterpart; the number of the
    /// barrier does not matter where all take part.
    pub fn bar(&mut self, inst: &Inst) -> Lift<()> {
        let count = inst.operand(Role::B).map(|o| o.value);
        let all: u32 = self.info.workgroup.iter().product();
        match count {
            None | Some(Named::Reg(crate::inst::RZ)) => {}
            Some(Named::Imm(n)) if n == 0 || n == all => {}
            Some(_) => return Err(Unsupported),
        }
        self.info.barriers = true;
        match inst.get(Mod::BarMode)? {
            BarMode::Sync | BarMode::SyncAll => {
                self.workgroup_barrier();
                Ok(())
            }
            BarMode::Red => self.reduce(inst),
            BarMode::Arv | BarMode::Scan => Err(Unsupported),
        }
    }

    /// BAR.RED: the predicates of the workgroup gathered in a word of shared memory.
    fn reduce(&mut self, inst: &Inst) -> Lift<()> {
        let p = self.pred_operand(inst, Role::Pred)?;
        let scratch = self.barrier_scratch.ok_or(Unsupported)?;
        let how: BarRed = inst.get(Mod::BarRed)?;
        let at = self.number(scratch);
        let mem = MemInfo::plain(Space::Shared, None, 2);
        let (op, start) = match how {
            BarRed::Popc => (Op::AtomicAdd, 0),
            BarRed::And => (Op::AtomicAnd, 1),
            BarRed::Or => (Op::AtomicOr, 0),
        };
        // Nobody still reads the result of an earlier reduction after this.
        self.workgroup_barrier();
        let start = self.number(start);
        self.b.store(mem, at, start);
        self.workgroup_barrier();
        let v = self.convert(Op::Zext, p, Type::I32);
        let atomic = MemInfo { order: Order::Relaxed, scope: Scope::Workgroup, ..mem };
        self.b.inst(op, Flags::NONE, Imm::Mem(atomic), &[at, v], &[Type::I32]);
        self.workgroup_barrier();
        let v = self.b.load(mem, at, Type::I32);
        let slot = self.regs.barrier(self.b.func);
        self.b.slot_set(slot, v);
        Ok(())
    }

    /// B2R.RESULT: what the last BAR.RED gave, as a number or a truth value.
    pub fn b2r(&mut self, inst: &Inst) -> Lift<()> {
        if inst.modifier(Mod::Operation) != RESULT {
            return Err(Unsupported);
        }
        let slot = self.regs.barrier(self.b.func);
        let v = self.b.slot_get(slot);
        let zero = self.zero();
        let p = self.op(Op::IcmpNe, &[v, zero]);
        self.set_dst_pred(inst, Role::DstPred, p);
        self.set_dst(inst, v)
    }
}
