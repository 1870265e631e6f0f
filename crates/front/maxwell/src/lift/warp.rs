//! Operations of a warp and of a workgroup together.

use super::Unsupported;
use super::cx::{Cx, Lift, immediate, warp};
use super::float::arithmetic;
use crate::inst::{Inst, RZ, Role, Value as Named};
use crate::modifier::{BarMode, BarRed, MembarLevel, Mod, ShflMode, VoteMode};
use crate::opcode::Opcode;
use crate::sph::Stage;
use xenoglot_ir::imm::{Order, Reduce, Scope, SubgroupInfo};
use xenoglot_ir::{Flags, Imm, MemInfo, Op, Space, Type, Value};

/// B2R's `.RESULT`.
const RESULT: u8 = 1;

impl Cx<'_> {
    /// SHFL: the lane's value named by B within the segments that C makes, as PTX defines it: bits 0 to 4 of C clamp,
    /// bits 8 to 12 tell the segments.
    pub fn shfl(&mut self, inst: &Inst) -> Lift<()> {
        if self.io.stage() == Some(Stage::Fragment)
            && let Some(exchange) = quad_exchange(inst)
        {
            return self.exchange(inst, exchange);
        }
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

    /// An exchange within a quad: whichever lanes share a warp, those of a quad do.
    fn exchange(&mut self, inst: &Inst, (op, which): (Op, u32)) -> Lift<()> {
        let a = self.int(inst, Role::A)?;
        let yes = self.truth(true);
        self.set_dst_pred(inst, Role::DstPred, yes);
        let v = match self.known_number(a) {
            Some(_) => a,
            None => {
                let which = self.number(which);
                self.b.op_imm(op, Flags::NONE, any_width(), &[a, which])
            }
        };
        self.set_dst(inst, v)
    }

    /// SAM and RAM: all lanes of the quad run what is between, and then those again that did. Helpers run on all hosts, and
    /// who is not in the same branch does not notice that it was.
    pub fn quad_on(&mut self) -> Lift<()> {
        if self.io.stage() == Some(Stage::Fragment) { Ok(()) } else { Err(Unsupported) }
    }

    /// Whether the lane is one of a mask of its quad's.
    pub fn is_in_quad_mask(&mut self, mask: u32) -> Value {
        let info = SubgroupInfo { width: 4, reduce: Reduce::Iadd, exclusive: false };
        let lane = match self.io.stage() {
            Some(Stage::Fragment) => self.b.op_imm(Op::SgId, Flags::NONE, Imm::Subgroup(info), &[]),
            _ => {
                self.info.warp_operations = true;
                let (lane, quad) = (self.lane_id(), self.number(3));
                self.op(Op::And, &[lane, quad])
            }
        };
        if mask.is_power_of_two() {
            let only = self.number(mask.trailing_zeros());
            return self.op(Op::IcmpEq, &[lane, only]);
        }
        let [mask, one, zero] = [mask, 1, 0].map(|n| self.number(n));
        let bit = self.op(Op::Ushr, &[mask, lane]);
        let bit = self.op(Op::And, &[bit, one]);
        self.op(Op::IcmpNe, &[bit, zero])
    }

    /// FSWZADD: A plus B in singles, either negated by the lane's place in its quad: two bits for each, the first lane's
    /// the highest, 1 negating A, 2 negating B, 3 leaving A out. What `.NDV` changes is not known; compilers set it where
    /// no change is wanted.
    pub fn fswzadd(&mut self, inst: &Inst) -> Lift<()> {
        let (a, b) = (self.float(inst, Role::A)?, self.float(inst, Role::B)?);
        let lanes = immediate(inst, Role::Number)?;
        if self.io.stage() == Some(Stage::Fragment) {
            let lanes = self.number(lanes & 0xff);
            let v = self.b.op_imm(Op::SgQuadAdd, arithmetic(inst)?, any_width(), &[a, b, lanes]);
            return self.set_dst(inst, v);
        }
        let alone =
            (0..4).filter(|lane| lanes >> (2 * (3 - lane)) & 3 == 3).fold(0, |all, lane| all | 1 << lane);
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
        let mut v = self.b.op_flags(Op::Fadd, arithmetic(inst)?, &[a, b]);
        if alone != 0 {
            let own = self.float(inst, Role::B)?;
            let alone = self.is_in_quad_mask(alone);
            v = self.select(alone, own, v);
        }
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
        let mode: VoteMode = inst.get(Mod::VoteMode)?;
        let v = match mode {
            VoteMode::Any => self.op(Op::IcmpNe, &[ballot, zero]),
            VoteMode::All | VoteMode::Eq => {
                // Those who say no are none. Hosts may count killed fragments in one ballot and not in another.
                let no = self.not(p);
                let no = self.ballot(no);
                let every = self.op(Op::IcmpEq, &[no, zero]);
                match mode {
                    VoteMode::Eq => {
                        let none = self.op(Op::IcmpEq, &[ballot, zero]);
                        self.op(Op::Or, &[every, none])
                    }
                    _ => every,
                }
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

/// Exchanges within a quad need no width.
fn any_width() -> Imm {
    Imm::Subgroup(SubgroupInfo { width: 0, reduce: Reduce::Iadd, exclusive: false })
}

/// The exchange within a quad that a SHFL is, if it says so in numbers. Bits 8 to 12 of C are those of a lane's number that
/// stay; of the others, bits 0 to 4 are the most that a lane read from has.
pub(super) fn quad_exchange(inst: &Inst) -> Option<(Op, u32)> {
    let number = |role| {
        let operand = inst.operand(role)?;
        operand.imm().or((operand.reg() == Some(RZ)).then_some(0))
    };
    if inst.op != Opcode::Shfl {
        return None;
    }
    let (b, c) = (number(Role::B)? & 0x1f, number(Role::C)?);
    let (stay, most) = (c >> 8 & 0x1f, c & 0x1f);
    // Every lane of the own quad is in reach.
    if stay & 3 != 0 || most & 3 != 3 || (stay | most) & 0x1c != 0x1c {
        return None;
    }
    match inst.get(Mod::ShflMode).ok()? {
        ShflMode::Idx if stay == 0x1c => Some((Op::SgQuadBroadcast, b & 3)),
        // Others than the last two bits of the number stay as they are, whatever the segments.
        ShflMode::Bfly => Some((Op::SgQuadSwap, b.checked_sub(1).filter(|way| *way < 3)?)),
        _ => None,
    }
}
