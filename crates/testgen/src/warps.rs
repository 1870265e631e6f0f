//! Random compute kernels whose lanes talk to each other while control diverges.

use crate::rng::Rng;
use xenoglot_ir::imm::{BarrierInfo, Reduce, Scope, SubgroupInfo};
use xenoglot_ir::module::{
    Access, Builtin, Count, Direction, Interpolation, OutOfBounds, ResourceData, ResourceKind, Semantic,
    VarData,
};
use xenoglot_ir::{
    Builder, Flags, Function, Imm, MemInfo, Module, Op, Resource, Slot, Space, Stage, Type, Value, Var,
};

/// Lanes of the guest's subgroups.
pub const WARP: u8 = 32;
/// Words that a lane writes to the kernel's only buffer, at its place in the workgroup.
pub const WORDS: u32 = 3;
/// Statements of a kernel.
const STATEMENTS: u32 = 14;

struct Gen<'r> {
    rng: &'r mut Rng,
    index: Var,
    acc: [Slot; 3],
    /// Statements that may still be made.
    left: u32,
}

fn warp() -> Imm {
    Imm::Subgroup(SubgroupInfo { width: WARP, reduce: Reduce::Iadd, exclusive: false })
}

impl Gen<'_> {
    fn read(&mut self, b: &mut Builder) -> Value {
        let slot = self.acc[self.rng.below(3) as usize];
        b.slot_get(slot)
    }

    fn write(&mut self, b: &mut Builder, v: Value) {
        let slot = self.acc[self.rng.below(3) as usize];
        let (old, k) = (b.slot_get(slot), b.i32(self.rng.next_u32() | 1));
        let old = b.op(Op::Imul, &[old, k]);
        let v = b.op(Op::Xor, &[old, v]);
        b.slot_set(slot, v);
    }

    fn condition(&mut self, b: &mut Builder) -> Value {
        let (v, mask, zero) = (self.read(b), b.i32(1 << self.rng.below(4)), b.i32(0));
        let v = b.op(Op::And, &[v, mask]);
        b.op(Op::IcmpNe, &[v, zero])
    }

    /// What other lanes say.
    fn exchange(&mut self, b: &mut Builder) {
        let v = self.read(b);
        let bit = self.condition(b);
        let made = match self.rng.below(10) {
            0 => b.inst(Op::SgBallot, Flags::NONE, warp(), &[bit], &[Type::I32]),
            1 => b.inst(Op::SgBallot, Flags::NONE, warp(), &[bit], &[Type::I64]),
            2 => b.inst(Op::SgAny, Flags::NONE, warp(), &[bit], &[Type::BOOL]),
            3 => b.inst(Op::SgAll, Flags::NONE, warp(), &[bit], &[Type::BOOL]),
            4 => b.inst(Op::SgElect, Flags::NONE, warp(), &[], &[Type::BOOL]),
            5 => b.inst(Op::SgReadFirst, Flags::NONE, warp(), &[v], &[Type::I32]),
            way => {
                let op =
                    [Op::SgShuffle, Op::SgShuffleXor, Op::SgShuffleUp, Op::SgShuffleDown][way as usize - 6];
                let by = self.read(b);
                let mask = b.i32([31, 63, 7, u32::MAX][self.rng.below(4) as usize]);
                let by = b.op(Op::And, &[by, mask]);
                if self.rng.below(2) == 0 {
                    let v = b.convert(Op::Bitcast, Flags::NONE, v, Type::F32);
                    b.inst(op, Flags::NONE, warp(), &[v, by], &[Type::F32])
                } else {
                    b.inst(op, Flags::NONE, warp(), &[v, by], &[Type::I32])
                }
            }
        };
        let v = b.func.results(made)[0];
        let v = match b.func.ty(v) {
            Type::I64 => b.convert(Op::TruncInt, Flags::NONE, v, Type::I32),
            Type::BOOL => b.convert(Op::Zext, Flags::NONE, v, Type::I32),
            Type::F32 => b.convert(Op::Bitcast, Flags::NONE, v, Type::I32),
            _ => v,
        };
        self.write(b, v);
    }

    fn statements(&mut self, b: &mut Builder, depth: u32, looped: bool) {
        for _ in 0..1 + self.rng.below(4) {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            match self.rng.below(8) {
                0 | 1 if depth < 3 => {
                    let cond = self.condition(b);
                    let [yes, no, join] = [(); 3].map(|()| b.func.add_block());
                    b.branch(cond, (yes, &[]), (no, &[]));
                    for arm in [yes, no] {
                        b.switch_to(arm);
                        self.statements(b, depth + 1, looped);
                        if arm == yes && self.rng.below(6) == 0 {
                            b.ret(&[]);
                        } else {
                            b.jump(join, &[]);
                        }
                    }
                    b.switch_to(join);
                }
                2 if !looped => {
                    let (trips, three, zero, one) = (self.read(b), b.i32(3), b.i32(0), b.i32(1));
                    let trips = b.op(Op::And, &[trips, three]);
                    let [head, body, after] = [(); 3].map(|()| b.func.add_block());
                    let n = b.func.add_param(head, Type::I32);
                    b.jump(head, &[zero]);
                    b.switch_to(head);
                    let more = b.op(Op::IcmpUlt, &[n, trips]);
                    b.branch(more, (body, &[]), (after, &[]));
                    b.switch_to(body);
                    self.statements(b, depth + 1, true);
                    let next = b.op(Op::Iadd, &[n, one]);
                    b.jump(head, &[next]);
                    b.switch_to(after);
                }
                3 => {
                    let id = b.op_imm(Op::SgId, Flags::NONE, warp(), &[]);
                    self.write(b, id);
                }
                4 if depth == 0 => {
                    let info = BarrierInfo {
                        scope: Scope::Workgroup,
                        shared: true,
                        storage: true,
                        image: false,
                        exec: true,
                    };
                    b.inst(Op::Barrier, Flags::NONE, Imm::Barrier(info), &[], &[]);
                }
                _ => self.exchange(b),
            }
        }
    }

    fn store(&mut self, b: &mut Builder, to: Resource) {
        let (index, size) = (b.input(self.index, Type::I32), b.i32(4 * WORDS));
        let at = b.op(Op::Imul, &[index, size]);
        for (i, slot) in (0..).zip(self.acc) {
            let (v, off) = (b.slot_get(slot), b.i32(4 * i));
            let at = b.op(Op::Iadd, &[at, off]);
            b.store(MemInfo::plain(Space::Storage, Some(to), 2), at, v);
        }
    }
}

/// A kernel for one workgroup of `lanes` lanes, with barriers outside of everything or without any. Loops are not nested, so
/// that the order of iterations is the same to everybody.
pub fn kernel(seed: u64, lanes: u32, barriers: bool) -> Module {
    let mut rng = Rng::new(seed);
    let mut m = Module::new(Stage::Compute, "warps");
    m.workgroup = [lanes, 1, 1];
    let out = m.resources.push(ResourceData {
        name: "out".into(),
        kind: ResourceKind::StorageBuffer { access: Access::ReadWrite },
        set: 0,
        binding: 0,
        count: Count::One,
        oob: OutOfBounds::Zero,
    });
    let index = m.vars.push(VarData {
        name: "index".into(),
        direction: Direction::Input,
        ty: Type::I32,
        semantic: Semantic::Builtin(Builtin::LocalInvocationIndex),
        interpolation: Interpolation::Flat,
        array: None,
        inner: None,
        stream: 0,
    });
    let mut f = Function::new("main");
    let block = f.add_block();
    let acc = [0, 1, 2].map(|n| f.add_slot(format!("r{n}"), Type::I32));
    let mut b = Builder::new(&mut f, block);
    let mut g = Gen { rng: &mut rng, index, acc, left: STATEMENTS };
    for slot in acc {
        let (v, k) = (b.input(index, Type::I32), b.i32(g.rng.next_u32()));
        let v = b.op(Op::Imul, &[v, k]);
        let v = b.op(Op::Byteswap, &[v]);
        b.slot_set(slot, v);
    }
    while g.left > 0 {
        g.statements(&mut b, u32::from(!barriers), false);
    }
    g.exchange(&mut b);
    g.store(&mut b, out);
    b.ret(&[]);
    m.entry = m.funcs.push(f).into();
    m
}
