//! Graphics stages: the host's subgroup, or a part of it as wide as the guest's, is the guest's.
//!
//! Results of such ops hold for any grouping of invocations, or the guest's program would not work on the guest. Of wider
//! subgroups, and where the width is not known, lanes count from the last multiple of the guest's width: ballots, lane
//! numbers and shuffles agree with each other. Votes and reductions are of all of the host's subgroup. Narrower subgroups
//! look like subgroups with inactive lanes.
//!
//! Exchanges within a quad stay as they are, or are made of derivatives where the host has no others. A derivative tells
//! the difference to the neighbour; of each half of a word it is exact:
//!
//! ```text
//! v2 : i32 = sg.quad_swap v1, 0    =>    v3 = and v1, 0xffff            (and of the upper half)
//!                                        v4 = u2f v3
//!                                        v5 = ddx.fine v4
//!                                        v6 = fadd v4, ±v5              (by the parity of the fragment's x)
//!                                        v2 = f2u v6 | ..
//! ```

use crate::edit::Replaced;
use crate::{Changed, edit};
use xenoglot_ir::imm::SubgroupInfo;
use xenoglot_ir::module::{Builtin, Stage};
use xenoglot_ir::{Bits, Builder, Flags, Func, Function, Imm, Inst, Module, Op, Type, Value, Var};

const QUAD: u8 = 4;

/// Lanes that a word has bits for.
const WORD: u8 = 32;

/// Lowers ops whose width is neither 0 nor the host's, and exchanges within quads if the host lacks them.
pub(super) fn run(module: &mut Module, host_width: u8, lacks_quads: bool) -> Changed {
    let wanted: Vec<Func> = module
        .funcs
        .iter()
        .filter(|(_, f)| {
            let mut insts = f.layout.iter().flat_map(|&b| &f.blocks[b].insts);
            insts.any(|&inst| is_foreign(f, inst, host_width, lacks_quads))
        })
        .map(|(func, _)| func)
        .collect();
    if wanted.is_empty() {
        return Changed::NONE;
    }
    let mut insts = wanted.iter().flat_map(|&func| module.funcs[func].insts.values());
    let has_quads = insts.any(|i| {
        let place = i.op == Op::SgId && matches!(i.imm, Imm::Subgroup(info) if info.width == QUAD);
        place || matches!(i.op, Op::SgQuadSwap | Op::SgQuadBroadcast)
    });
    let position = (module.stage == Stage::Fragment && lacks_quads && has_quads)
        .then(|| edit::builtin_input(module, Builtin::FragCoord, Type::F32X4));
    let mut replaced = Replaced::default();
    for func in wanted {
        let f = &mut module.funcs[func];
        replaced.reset(f);
        for i in 0..f.layout.len() {
            let block = f.layout[i];
            let insts = std::mem::take(&mut f.blocks[block].insts);
            let mut b = Builder::new(f, block);
            for inst in insts {
                let mut stays = true;
                if is_foreign(b.func, inst, host_width, lacks_quads) {
                    b.set_guest(b.func.insts[inst].guest);
                    let lowering = Lowering { b: &mut b, host_width, position, replaced: &mut replaced };
                    stays = lowering.lower(inst);
                }
                if stays {
                    b.func.blocks[block].insts.push(inst);
                }
            }
        }
        replaced.apply(f);
    }
    Changed::ALL
}

fn is_foreign(f: &Function, inst: Inst, host_width: u8, lacks_quads: bool) -> bool {
    let data = &f.insts[inst];
    let Imm::Subgroup(info) = data.imm else { return false };
    match data.op {
        Op::SgQuadSwap | Op::SgQuadBroadcast => {
            lacks_quads && f.args(inst).first().is_some_and(|&v| is_word(f.ty(v)))
        }
        Op::SgId if info.width == QUAD => true,
        _ => info.width != 0 && info.width != host_width,
    }
}

/// Whether the bits of a type are those of a word.
fn is_word(ty: Type) -> bool {
    matches!(ty, Type::I32 | Type::F32)
}

struct Lowering<'a, 'f> {
    b: &'a mut Builder<'f>,
    host_width: u8,
    /// The fragment's place, where the host has no quads.
    position: Option<Var>,
    replaced: &'a mut Replaced,
}

impl Lowering<'_, '_> {
    /// Whether `inst` stays, as another op.
    fn lower(mut self, inst: Inst) -> bool {
        let data = &self.b.func.insts[inst];
        let (op, flags) = (data.op, data.flags);
        let Imm::Subgroup(info) = data.imm else { return true };
        let host = Imm::Subgroup(SubgroupInfo { width: 0, ..info });
        let args: smallvec::SmallVec<[Value; 3]> = self.b.func.args(inst).into();
        // Whether lanes of the host's subgroup have numbers that the guest's has not.
        let wider = self.host_width == 0 || self.host_width > info.width;
        match (op, &args[..]) {
            (Op::SgQuadSwap, &[v, way]) => {
                let way = self.b.func.const_bits(way).map_or(0, |bits| bits.lane(0)) as u32;
                let theirs = self.exchanged(v, (way != 1, way != 0));
                return self.becomes(inst, v, theirs);
            }
            (Op::SgQuadBroadcast, &[v, lane]) => {
                let theirs = self.broadcast(v, lane);
                return self.becomes(inst, v, theirs);
            }
            (Op::SgId, _) if info.width == QUAD => {
                let lane = self.place(host);
                return self.is_now(inst, lane);
            }
            (Op::SgSize, _) => {
                edit::rewrite_const(self.b.func, inst, Bits::scalar(info.width.into()));
            }
            (Op::SgId, _) if wider => {
                let id = self.id(host);
                let last = self.b.i32(u32::from(info.width) - 1);
                edit::rewrite(self.b.func, inst, Op::And, Flags::NONE, Imm::None, &[id, last]);
            }
            (Op::SgBallot, &[vote]) if wider && self.gives_word(inst) && info.width == WORD => {
                let mask = self.b.inst(Op::SgBallot, flags, host, &[vote], &[Type::I32X4]);
                let mask = self.b.func.results(mask)[0];
                let id = self.id(host);
                let five = self.b.i32(5);
                let word = self.b.op(Op::Ushr, &[id, five]);
                let mut mine = self.b.extract(mask, 0);
                for n in 1..self.words() {
                    let here = self.with(Op::IcmpEq, word, n.into());
                    let other = self.b.extract(mask, n);
                    mine = self.b.select(here, other, mine);
                }
                return self.is_now(inst, mine);
            }
            (Op::SgShuffle | Op::SgShuffleXor | Op::SgShuffleUp | Op::SgShuffleDown, &[v, by]) if wider => {
                let id = self.id(host);
                let last = u32::from(info.width) - 1;
                let lane = self.with(Op::And, id, last);
                let from = match op {
                    Op::SgShuffleXor => self.b.op(Op::Xor, &[lane, by]),
                    Op::SgShuffleUp => self.b.op(Op::Isub, &[lane, by]),
                    Op::SgShuffleDown => self.b.op(Op::Iadd, &[lane, by]),
                    _ => by,
                };
                let first = self.with(Op::And, id, !last);
                let theirs = self.b.op(Op::Or, &[first, from]);
                let known = self.with(Op::IcmpUle, from, last);
                let from = self.b.select(known, theirs, id);
                edit::rewrite(self.b.func, inst, Op::SgShuffle, flags, host, &[v, from]);
            }
            _ => edit::rewrite(self.b.func, inst, op, flags, host, &args),
        }
        true
    }

    /// Words of a ballot of the host.
    fn words(&self) -> u8 {
        if self.host_width == 0 { 4 } else { self.host_width.div_ceil(WORD).min(4) }
    }

    fn gives_word(&self, inst: Inst) -> bool {
        self.b.func.result(inst).is_some_and(|v| self.b.func.ty(v) == Type::I32)
    }

    fn with(&mut self, op: Op, a: Value, n: u32) -> Value {
        let n = self.b.i32(n);
        self.b.op(op, &[a, n])
    }

    fn id(&mut self, host: Imm) -> Value {
        let inst = self.b.inst(Op::SgId, Flags::NONE, host, &[], &[Type::I32]);
        self.b.func.results(inst)[0]
    }

    /// The lane's number in its quad. Quads begin at even places, and at every fourth lane of a subgroup.
    fn place(&mut self, host: Imm) -> Value {
        if self.position.is_none() {
            let id = self.id(host);
            return self.with(Op::And, id, u32::from(QUAD) - 1);
        }
        let [x, y] = [0, 1].map(|axis| self.parity(axis));
        let one = self.b.i32(1);
        let y = self.b.op(Op::Shl, &[y, one]);
        self.b.op(Op::Or, &[x, y])
    }

    /// Whether the lane's number along an axis of the quad is 0 or 1.
    fn parity(&mut self, axis: u8) -> Value {
        let Some(position) = self.position else { return self.b.i32(0) };
        let at = self.b.input(position, Type::F32X4);
        let at = self.b.extract(at, axis);
        let at = self.b.convert(Op::F2u, Flags::NONE, at, Type::I32);
        self.with(Op::And, at, 1)
    }

    /// The value of the neighbour along x, along y, or both.
    fn exchanged(&mut self, v: Value, (along_x, along_y): (bool, bool)) -> Value {
        let mut word = self.b.bitcast(v, Type::I32);
        for (axis, is_along) in [(0, along_x), (1, along_y)] {
            if is_along {
                word = self.neighbour(word, axis);
            }
        }
        word
    }

    /// A word of the neighbour along an axis: own plus the difference, of each half.
    fn neighbour(&mut self, word: Value, axis: u8) -> Value {
        let second = self.parity(axis);
        let second = self.with(Op::IcmpNe, second, 0);
        let (low, high) = (self.with(Op::And, word, 0xffff), self.with(Op::Ushr, word, 16));
        let [low, high] = [low, high].map(|half| {
            let own = self.b.convert(Op::U2f, Flags::NONE, half, Type::F32);
            let op = if axis == 0 { Op::DdxFine } else { Op::DdyFine };
            let step = self.b.op(op, &[own]);
            let back = self.b.op(Op::Fneg, &[step]);
            let step = self.b.select(second, back, step);
            let theirs = self.b.op(Op::Fadd, &[own, step]);
            self.b.convert(Op::F2u, Flags::NONE, theirs, Type::I32)
        });
        let high = self.with(Op::Shl, high, 16);
        self.b.op(Op::Or, &[high, low])
    }

    /// The word of a lane of the quad: along each axis own or the neighbour's.
    fn broadcast(&mut self, v: Value, lane: Value) -> Value {
        let mut word = self.b.bitcast(v, Type::I32);
        for axis in [0u8, 1] {
            let own = self.parity(axis);
            let wanted = self.with(Op::Ushr, lane, axis.into());
            let wanted = self.with(Op::And, wanted, 1);
            let here = self.b.op(Op::IcmpEq, &[own, wanted]);
            let theirs = self.neighbour(word, axis);
            word = self.b.select(here, word, theirs);
        }
        word
    }

    /// Lets a word take the place of `inst`, whose operand was `like`.
    fn becomes(&mut self, inst: Inst, like: Value, word: Value) -> bool {
        let ty = self.b.func.ty(like);
        let v = self.b.bitcast(word, ty);
        self.is_now(inst, v)
    }

    fn is_now(&mut self, inst: Inst, v: Value) -> bool {
        if let Some(old) = self.b.func.result(inst) {
            self.replaced.set(self.b.func, old, v);
        }
        false
    }
}
