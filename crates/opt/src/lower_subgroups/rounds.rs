//! The rounds: who waits where, whose turn it is, and what they are told.

use super::Kernel;
use super::places::{Place, RANK_BITS};
use crate::edit;
use smallvec::SmallVec;
use xenoglot_ir::imm::{Order, Scope};
use xenoglot_ir::{Bits, Block, Builder, Flags, Function, Imm, Inst, MemInfo, Op, Space, Type, Value, Var};

/// Where lanes at barriers wait, with the rank; above all other places.
pub(super) const AT_BARRIER: u32 = 1 << 31;
/// Where lanes that have ended wait.
const ENDED: u32 = u32::MAX;

/// Where things are in shared memory: a word that each lane tells, then those of the warps, then one of the workgroup.
/// Of all that there are two.
#[derive(Clone, Copy)]
pub(super) struct Shared {
    base: u32,
    lanes: u32,
    warps: u32,
}

/// Words of a warp.
#[derive(Clone, Copy)]
enum Field {
    /// The place whose turn it is: the first at which one of its lanes waits.
    Turn,
    /// The lanes whose turn it is.
    Party,
    /// Those of them who told something else than 0.
    Ballot,
}

impl Shared {
    pub fn new(base: u32, lanes: u32, width: u8) -> Shared {
        Shared { base, lanes, warps: lanes.div_ceil(width.into()) }
    }

    fn field(self, field: Field) -> u32 {
        self.base + 4 * (self.lanes + field as u32 * self.warps)
    }

    /// The first place of the whole workgroup.
    fn least(self) -> u32 {
        self.base + 4 * (self.lanes + 3 * self.warps)
    }

    fn stride(self) -> u32 {
        self.least() + 4 - self.base
    }

    pub fn end(self) -> u32 {
        self.base + 2 * self.stride()
    }
}

/// Writes what lanes do with the shared memory.
struct Writer<'a, 'f> {
    b: &'a mut Builder<'f>,
    kernel: &'a Kernel,
    /// Number in the workgroup.
    index: Value,
}

impl<'a, 'f> Writer<'a, 'f> {
    fn new(b: &'a mut Builder<'f>, kernel: &'a Kernel) -> Writer<'a, 'f> {
        let index = b.input(kernel.index, Type::I32);
        Writer { b, kernel, index }
    }

    fn with(&mut self, op: Op, a: Value, n: u32) -> Value {
        let n = self.b.i32(n);
        self.b.op(op, &[a, n])
    }

    /// Number in the warp.
    fn lane(&mut self) -> Value {
        self.with(Op::And, self.index, u32::from(self.kernel.width) - 1)
    }

    /// `base + 4 * number` in the memory of a round.
    fn place(&mut self, base: u32, number: Value, round: Value) -> Value {
        let bytes = self.with(Op::Shl, number, 2);
        let bytes = self.b.op(Op::Iadd, &[bytes, round]);
        self.with(Op::Iadd, bytes, base)
    }

    /// The address of a word of this lane's warp.
    fn of_warp(&mut self, field: Field, round: Value) -> Value {
        let warp = self.with(Op::Ushr, self.index, self.kernel.width.trailing_zeros());
        self.place(self.kernel.shared.field(field), warp, round)
    }

    fn of_workgroup(&mut self, round: Value) -> Value {
        self.with(Op::Iadd, round, self.kernel.shared.least())
    }

    fn load(&mut self, at: Value) -> Value {
        self.b.load(word(), at, Type::I32)
    }

    fn store(&mut self, at: Value, v: Value) {
        self.b.store(word(), at, v);
    }

    fn atomic(&mut self, op: Op, at: Value, v: Value) {
        let mem = MemInfo { order: Order::Relaxed, scope: Scope::Workgroup, ..word() };
        self.b.inst(op, Flags::NONE, Imm::Mem(mem), &[at, v], &[Type::I32]);
    }

    fn barrier(&mut self) {
        self.b.inst(Op::Barrier, Flags::NONE, Imm::Barrier(self.kernel.barrier), &[], &[]);
    }

    /// Makes the memories of rounds as they are at the start of one, and goes on in a new block.
    fn clear(&mut self, rounds: &[Value]) {
        let [of_warp, of_workgroup, then] = [(); 3].map(|()| self.b.func.add_block());
        let lane = self.lane();
        let leads = self.with(Op::IcmpEq, lane, 0);
        self.b.branch(leads, (of_warp, &[]), (then, &[]));
        self.b.switch_to(of_warp);
        let (ended, zero) = (self.b.i32(ENDED), self.b.i32(0));
        for &round in rounds {
            for (field, v) in [(Field::Turn, ended), (Field::Party, zero), (Field::Ballot, zero)] {
                let at = self.of_warp(field, round);
                self.store(at, v);
            }
        }
        let first = self.with(Op::IcmpEq, self.index, 0);
        self.b.branch(first, (of_workgroup, &[]), (then, &[]));
        self.b.switch_to(of_workgroup);
        for &round in rounds {
            let at = self.of_workgroup(round);
            self.store(at, ended);
        }
        self.b.jump(then, &[]);
        self.b.switch_to(then);
    }
}

fn word() -> MemInfo {
    MemInfo::plain(Space::Shared, None, 2)
}

/// Ends a lane: it waits at a place that is never scheduled until all lanes have ended.
pub(super) fn end(b: &mut Builder, kernel: &Kernel, meet: Block) {
    let ended = b.i32(ENDED);
    b.slot_set(kernel.at, ended);
    b.jump(meet, &[]);
}

/// Fills `meet` and what belongs to it, and prepares the memory before the entry.
pub(super) fn connect(f: &mut Function, kernel: &Kernel, meet: Block, places: &[Place]) {
    let Some(entry) = f.entry() else { return };
    let start = f.add_block();
    f.layout.retain(|&b| b != start);
    f.layout.insert(0, start);
    let b = &mut Builder::new(f, start);
    let stride = kernel.shared.stride();
    let mut w = Writer::new(b, kernel);
    let both = [w.b.i32(0), w.b.i32(stride)];
    w.clear(&both);
    w.barrier();
    w.b.jump(entry, &[]);

    b.switch_to(meet);
    let mut w = Writer::new(b, kernel);
    let before = w.b.slot_get(kernel.round);
    let stride = w.b.i32(stride);
    let round = w.b.op(Op::Isub, &[stride, before]);
    w.b.slot_set(kernel.round, round);
    let (at, operand) = (w.b.slot_get(kernel.at), w.b.slot_get(kernel.operand));
    let own = w.place(kernel.shared.base, w.index, round);
    w.store(own, operand);
    let words = [w.of_warp(Field::Turn, round), w.of_workgroup(round)];
    words.into_iter().for_each(|word| w.atomic(Op::AtomicUmin, word, at));
    w.barrier();
    let [turn, least] = words.map(|word| w.load(word));
    // The other half of the memory has no readers any more.
    w.clear(&[before]);
    let [joins, told, on, go, done] = [(); 5].map(|()| w.b.func.add_block());
    let here = w.b.op(Op::IcmpEq, &[at, turn]);
    let before_barriers = w.with(Op::IcmpUlt, turn, AT_BARRIER);
    let mine = w.b.op(Op::And, &[here, before_barriers]);
    w.b.branch(mine, (joins, &[]), (told, &[]));
    w.b.switch_to(joins);
    let (one, lane, zero) = (w.b.i32(1), w.lane(), w.b.i32(0));
    let bit = w.b.op(Op::Shl, &[one, lane]);
    let yes = w.b.op(Op::IcmpNe, &[operand, zero]);
    let vote = w.b.select(yes, bit, zero);
    for (field, v) in [(Field::Party, bit), (Field::Ballot, vote)] {
        let word = w.of_warp(field, round);
        w.atomic(Op::AtomicOr, word, v);
    }
    w.b.jump(told, &[]);
    w.b.switch_to(told);
    w.barrier();
    let all_ended = w.with(Op::IcmpEq, least, ENDED);
    w.b.branch(all_ended, (done, &[]), (on, &[]));
    w.b.switch_to(on);
    let barrier = w.b.i32(AT_BARRIER);
    let all_at_barriers = w.b.op(Op::IcmpUle, &[barrier, least]);
    let runs = w.with(Op::IcmpNe, at, ENDED);
    let released = w.b.op(Op::And, &[all_at_barriers, runs]);
    let goes = w.b.op(Op::Or, &[mine, released]);
    w.b.branch(goes, (go, &[]), (meet, &[]));
    w.b.switch_to(go);
    let rank = w.with(Op::And, at, (1 << RANK_BITS) - 1);
    let cases: Vec<(u64, Block, &[Value])> =
        places.iter().map(|p| (u64::from(p.rank), p.next, &[][..])).collect();
    w.b.switch(rank, &cases, (meet, &[]));
    w.b.switch_to(done);
    w.b.ret(&[]);
}

/// Makes `inst` what the lane learns from the others in this round; a barrier goes.
pub(super) fn answer(b: &mut Builder, kernel: &Kernel, inst: Inst) {
    let op = b.func.insts[inst].op;
    let args: SmallVec<[Value; 2]> = b.func.args(inst).into();
    let Some(ty) = b.func.result(inst).map(|v| b.func.ty(v)) else { return };
    let round = b.slot_get(kernel.round);
    let mut w = Writer::new(b, kernel);
    let (op, args): (Op, SmallVec<[Value; 3]>) = match (op, &args[..]) {
        (Op::SgBallot | Op::SgAny | Op::SgAll, _) => {
            let at = w.of_warp(Field::Ballot, round);
            let ballot = w.load(at);
            match op {
                Op::SgAny => (Op::IcmpNe, [ballot, w.b.i32(0)].into_iter().collect()),
                Op::SgAll => {
                    let at = w.of_warp(Field::Party, round);
                    (Op::IcmpEq, [ballot, w.load(at)].into_iter().collect())
                }
                _ if ty == Type::I64 => (Op::Zext, [ballot].into_iter().collect()),
                _ => (Op::Bitcast, [ballot].into_iter().collect()),
            }
        }
        (Op::SgElect, _) => {
            let at = w.of_warp(Field::Party, round);
            let party = w.load(at);
            (Op::IcmpEq, [w.b.op(Op::Ctz, &[party]), w.lane()].into_iter().collect())
        }
        (_, operands) => {
            let at = w.of_warp(Field::Party, round);
            let (party, lane) = (w.load(at), w.lane());
            let source = match (op, operands.get(1)) {
                (Op::SgShuffle, Some(&from)) => from,
                (Op::SgShuffleXor, Some(&by)) => w.b.op(Op::Xor, &[lane, by]),
                (Op::SgShuffleUp, Some(&by)) => w.b.op(Op::Isub, &[lane, by]),
                (Op::SgShuffleDown, Some(&by)) => w.b.op(Op::Iadd, &[lane, by]),
                _ => w.b.op(Op::Ctz, &[party]),
            };
            // A read from a lane that does not exist gives the reader's own value.
            let exists = w.with(Op::IcmpUlt, source, kernel.width.into());
            let (shifted, zero) = (w.b.op(Op::Ushr, &[party, source]), w.b.i32(0));
            let bit = w.with(Op::And, shifted, 1);
            let takes_part = w.b.op(Op::IcmpNe, &[bit, zero]);
            let answers = w.b.op(Op::And, &[exists, takes_part]);
            let source = w.b.select(answers, source, lane);
            let first = w.b.op(Op::Isub, &[w.index, lane]);
            let number = w.b.op(Op::Iadd, &[first, source]);
            let at = w.place(kernel.shared.base, number, round);
            let word = w.load(at);
            if ty == Type::BOOL {
                (Op::IcmpNe, [word, zero].into_iter().collect())
            } else {
                (Op::Bitcast, [word].into_iter().collect())
            }
        }
    };
    edit::rewrite(b.func, inst, op, Flags::NONE, Imm::None, &args);
    let block = b.block();
    b.func.blocks[block].insts.push(inst);
}

/// Makes the guest's lane numbers and widths what follows from the lane's number in the workgroup.
pub(super) fn lower_ids(f: &mut Function, index: Var, width: u8, host_width: u8) {
    for i in 0..f.layout.len() {
        let block = f.layout[i];
        let insts = std::mem::take(&mut f.blocks[block].insts);
        let mut b = Builder::new(f, block);
        for inst in insts {
            let data = &b.func.insts[inst];
            let guests =
                matches!(data.imm, Imm::Subgroup(info) if info.width != 0 && info.width != host_width);
            match data.op {
                Op::SgId if guests => {
                    let (index, last) = (b.input(index, Type::I32), b.i32(u32::from(width) - 1));
                    edit::rewrite(b.func, inst, Op::And, Flags::NONE, Imm::None, &[index, last]);
                }
                Op::SgSize if guests => {
                    edit::rewrite_const(b.func, inst, Bits::scalar(width.into()));
                }
                _ => {}
            }
            b.func.blocks[block].insts.push(inst);
        }
    }
}
