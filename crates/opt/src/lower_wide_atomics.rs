//! 64-bit atomics on shared memory, which few hosts have: each is done by who holds the workgroup's lock.
//!
//! ```text
//! block0:                                   block0:
//!   v2 : i64 = atomic.add shared         =>   jump block1
//!              relaxed workgroup, v0, v1    block1:
//!   ...                                       v3 : i32 = atomic.cmpxchg shared .., ..lock.., 0, 1
//!                                             branch ..v3 is 0.., block2, block3(false, 0)
//!                                           block2:
//!                                             v4 : i64 = load shared v0
//!                                             store shared v0, ..v4 + v1..
//!                                             v5 : i32 = atomic.xchg shared .., ..lock.., 0
//!                                             jump block3(true, v4)
//!                                           block3(v6 : bool, v7 : i64):
//!                                             branch v6, block4, block1
//!                                           block4:
//!                                             v2 : i64 = bitcast v7
//!                                             ...
//! ```
//!
//! An invocation that gets the lock releases it before the others of its subgroup try again: on hosts without independent
//! progress of lanes, waiting for it would never end.
//!
//! A pass over the module, whose shared memory grows by the lock. 64-bit atomics on buffers are left: hosts with 64-bit
//! integers usually have them.

use crate::{Changed, Lacks, edit};
use smallvec::SmallVec;
use xenoglot_ir::imm::{BarrierInfo, Order, Scope};
use xenoglot_ir::module::Builtin;
use xenoglot_ir::{
    Bits, Block, Builder, Flags, Function, Imm, Inst, Kind, MemInfo, Module, Op, Space, Stage, Type, Value,
    Var,
};

/// Lowers the atomics of a module.
pub fn run(module: &mut Module, lacks: &Lacks) -> Changed {
    if !lacks.shared_int64_atomics {
        return Changed::NONE;
    }
    let Some(entry) = module.entry.expand().filter(|_| module.stage == Stage::Compute) else {
        return Changed::NONE;
    };
    let any = |f: &Function| f.layout.iter().any(|&b| f.blocks[b].insts.iter().any(|&i| is_wide(f, i)));
    if !module.funcs.values().any(any) {
        return Changed::NONE;
    }
    let Some(lock) = module.shared_size.checked_next_multiple_of(4).filter(|at| at.checked_add(4).is_some())
    else {
        return Changed::NONE;
    };
    module.shared_size = lock + 4;
    for f in module.funcs.values_mut() {
        for i in 0..f.layout.len() {
            let block = f.layout[i];
            if f.blocks[block].insts.iter().any(|&inst| is_wide(f, inst)) {
                lower_block(f, block, lock);
            }
        }
    }
    let index = edit::builtin_input(module, Builtin::LocalInvocationIndex, Type::I32);
    clear(&mut module.funcs[entry], index, lock);
    Changed::ALL
}

fn is_wide(f: &Function, inst: Inst) -> bool {
    let data = &f.insts[inst];
    let atomic = data.op >= Op::AtomicAdd && data.op <= Op::AtomicSmax;
    atomic
        && matches!(data.imm, Imm::Mem(m) if m.space == Space::Shared)
        && f.result(inst).is_some_and(|v| f.ty(v).kind() == Kind::I64)
}

/// Releases the lock at the start of the kernel.
fn clear(f: &mut Function, index: Var, lock: u32) {
    let Some(entry) = f.entry() else { return };
    let [start, first, all] = [(); 3].map(|()| f.add_block());
    f.layout.retain(|&b| b != start);
    f.layout.insert(0, start);
    let b = &mut Builder::new(f, start);
    let (index, zero) = (b.input(index, Type::I32), b.i32(0));
    let is_first = b.op(Op::IcmpEq, &[index, zero]);
    b.branch(is_first, (first, &[]), (all, &[]));
    b.switch_to(first);
    let at = b.i32(lock);
    b.store(MemInfo::plain(Space::Shared, None, 2), at, zero);
    b.jump(all, &[]);
    b.switch_to(all);
    barrier(b, true);
    b.jump(entry, &[]);
}

fn barrier(b: &mut Builder, exec: bool) {
    let info = BarrierInfo { scope: Scope::Workgroup, shared: true, storage: false, image: false, exec };
    b.inst(Op::Barrier, Flags::NONE, Imm::Barrier(info), &[], &[]);
}

fn lower_block(f: &mut Function, block: Block, lock: u32) {
    let insts = std::mem::take(&mut f.blocks[block].insts);
    let term = edit::take_term(&mut f.blocks[block].term);
    let mut b = Builder::new(f, block);
    for inst in insts {
        b.set_guest(b.func.insts[inst].guest);
        if is_wide(b.func, inst) {
            lower(&mut b, inst, lock);
        }
        let block = b.block();
        b.func.blocks[block].insts.push(inst);
    }
    let last = b.block();
    b.func.blocks[last].term = term;
}

/// Makes `inst` the old value, which the loop before it finds.
fn lower(b: &mut Builder, inst: Inst, lock: u32) {
    let args: SmallVec<[Value; 3]> = b.func.args(inst).into();
    let (op, Imm::Mem(mem)) = (b.func.insts[inst].op, b.func.insts[inst].imm) else { return };
    let [spin, inside, again, after] = [(); 4].map(|()| b.func.add_block());
    let (done, old) = (b.func.add_param(again, Type::BOOL), b.func.add_param(again, Type::I64));
    let word =
        MemInfo { order: Order::Relaxed, scope: Scope::Workgroup, ..MemInfo::plain(Space::Shared, None, 2) };
    let wide = MemInfo { order: Order::None, scope: Scope::Invocation, ..mem };
    let (at, zero, one) = (b.i32(lock), b.i32(0), b.i32(1));
    let (no, yes, nothing) = (b.bool(false), b.bool(true), b.constant(Type::I64, Bits::default()));
    b.jump(spin, &[]);
    b.switch_to(spin);
    let seen = b.op_imm(Op::AtomicCmpxchg, Flags::NONE, Imm::Mem(word), &[at, zero, one]);
    let mine = b.op(Op::IcmpEq, &[seen, zero]);
    b.branch(mine, (inside, &[]), (again, &[no, nothing]));
    b.switch_to(inside);
    barrier(b, false);
    let before = b.load(wide, args[0], Type::I64);
    let new = next(b, op, before, &args[1..]);
    b.store(wide, args[0], new);
    barrier(b, false);
    b.op_imm(Op::AtomicXchg, Flags::NONE, Imm::Mem(word), &[at, zero]);
    b.jump(again, &[yes, before]);
    b.switch_to(again);
    b.branch(done, (after, &[]), (spin, &[]));
    b.switch_to(after);
    edit::rewrite(b.func, inst, Op::Bitcast, Flags::NONE, Imm::None, &[old]);
}

/// What an atomic stores over `old`.
fn next(b: &mut Builder, op: Op, old: Value, operands: &[Value]) -> Value {
    let with = match (op, operands) {
        (Op::AtomicCmpxchg, &[expected, new]) => {
            let same = b.op(Op::IcmpEq, &[old, expected]);
            return b.select(same, new, old);
        }
        (Op::AtomicAdd, _) => Op::Iadd,
        (Op::AtomicAnd, _) => Op::And,
        (Op::AtomicOr, _) => Op::Or,
        (Op::AtomicXor, _) => Op::Xor,
        (Op::AtomicUmin, _) => Op::Umin,
        (Op::AtomicUmax, _) => Op::Umax,
        (Op::AtomicSmin, _) => Op::Imin,
        (Op::AtomicSmax, _) => Op::Imax,
        _ => return operands.first().copied().unwrap_or(old),
    };
    b.op(with, &[old, operands[0]])
}
