//! 64-bit atomics on shared memory do the same before and after `lower_wide_atomics`.

use xenoglot_interp::{Bindings, Interpreter, Limits};
use xenoglot_ir::entity::EntityRef;
use xenoglot_ir::imm::{BarrierInfo, Order, Scope};
use xenoglot_ir::module::{
    Access, Builtin, Count, Direction, Interpolation, OutOfBounds, ResourceData, ResourceKind, Semantic,
    VarData,
};
use xenoglot_ir::{
    Bits, Builder, Flags, Function, Imm, MemInfo, Module, Op, Resource, Space, Stage, Type, verify,
};
use xenoglot_opt::pipeline::{Options, Verify};
use xenoglot_opt::{Context, Lacks, optimize};
use xenoglot_testgen::property;
use xenoglot_testgen::rng::Rng;

const LANES: u32 = 48;
const OPS: [Op; 9] = [
    Op::AtomicAdd,
    Op::AtomicAnd,
    Op::AtomicOr,
    Op::AtomicXor,
    Op::AtomicXchg,
    Op::AtomicUmin,
    Op::AtomicUmax,
    Op::AtomicSmin,
    Op::AtomicSmax,
];

/// Lanes whose bit is set work on one of four pairs of words, one lane after the other: the order does not matter to
/// what is in memory at the end, but for exchanges, which have pairs of their own.
fn module(seed: u64) -> Module {
    let mut rng = Rng::new(seed);
    let mut m = Module::new(Stage::Compute, "wide");
    m.workgroup = [LANES, 1, 1];
    m.shared_size = 8 * (4 + LANES);
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
    let [entry, some, join] = [(); 3].map(|()| f.add_block());
    let mut b = Builder::new(&mut f, entry);
    let (lane, eight) = (b.input(index, Type::I32), b.i32(8));
    let own = b.op(Op::Imul, &[lane, eight]);
    let base = b.i32(32);
    let own = b.op(Op::Iadd, &[own, base]);
    let mem = MemInfo::plain(Space::Shared, None, 3);
    let start = b.constant(Type::I64, Bits::scalar(rng.next_u64()));
    b.store(mem, own, start);
    for n in 0..4 {
        let at = b.i32(8 * n);
        b.store(mem, at, start);
    }
    let wait =
        BarrierInfo { scope: Scope::Workgroup, shared: true, storage: false, image: false, exec: true };
    b.inst(Op::Barrier, Flags::NONE, Imm::Barrier(wait), &[], &[]);
    let (mask, zero) = (b.i32(rng.below(8)), b.i32(0));
    let bit = b.op(Op::And, &[lane, mask]);
    let takes_part = b.op(Op::IcmpEq, &[bit, zero]);
    b.branch(takes_part, (some, &[]), (join, &[]));
    b.switch_to(some);
    let wide = b.convert(Op::Zext, Flags::NONE, lane, Type::I64);
    let order = MemInfo { order: Order::Relaxed, scope: Scope::Workgroup, ..mem };
    let op = OPS[rng.below(9) as usize];
    for (n, op) in [op, op, Op::AtomicXchg, Op::AtomicCmpxchg].into_iter().enumerate() {
        let k = b.constant(Type::I64, Bits::scalar(rng.next_u64()));
        let v = b.op(Op::Imul, &[wide, k]);
        let shared = b.i32(8 * rng.below(4));
        let at = if n < 2 && op != Op::AtomicXchg { shared } else { own };
        let old = match op {
            Op::AtomicCmpxchg => {
                let expected = if rng.below(2) == 0 { start } else { v };
                b.op_imm(op, Flags::NONE, Imm::Mem(order), &[at, expected, v])
            }
            _ => b.op_imm(op, Flags::NONE, Imm::Mem(order), &[at, v]),
        };
        // What others did before is nobody's business.
        if at == own {
            let to = b.op(Op::Imul, &[lane, eight]);
            let room = b.i32(8 * LANES * n as u32);
            let to = b.op(Op::Iadd, &[to, room]);
            b.store(MemInfo::plain(Space::Storage, Some(out), 3), to, old);
        }
    }
    b.jump(join, &[]);
    b.switch_to(join);
    b.inst(Op::Barrier, Flags::NONE, Imm::Barrier(wait), &[], &[]);
    let last = b.i32(8 * LANES * 4);
    let three = b.i32(24);
    let cell = b.op(Op::And, &[own, three]);
    for at in [own, cell] {
        let v = b.load(mem, at, Type::I64);
        let to = b.op(Op::Iadd, &[at, last]);
        b.store(MemInfo::plain(Space::Storage, Some(out), 3), to, v);
    }
    b.ret(&[]);
    m.entry = m.funcs.push(f).into();
    verify(&m).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    m
}

fn run(m: &Module) -> Vec<u32> {
    let mut bindings = Bindings::new(m);
    bindings.set_words(Resource::new(0), &vec![0; (10 * LANES + 8) as usize]);
    Interpreter::new(m).unwrap().dispatch([1; 3], &mut bindings, &Limits::default()).unwrap();
    bindings.words(Resource::new(0))
}

#[test]
fn locked_atomics_do_what_they_did() {
    let mut cx = Context::new();
    for seed in property::seeds(200) {
        let mut m = module(seed);
        let want = run(&m);
        let lacks = Lacks { shared_int64_atomics: true, ..Lacks::default() };
        let options = Options { lacks, ..Options::default() };
        optimize(&mut m, &mut cx, &options, &mut Verify).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        verify(&m).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let f = &m.funcs[m.entry.unwrap()];
        let insts = f.layout.iter().flat_map(|&b| &f.blocks[b].insts);
        let wide = |&&i: &&_| {
            matches!(f.insts[i].op, Op::AtomicAdd | Op::AtomicCmpxchg | Op::AtomicXchg)
                && f.result(i).is_some_and(|v| f.ty(v) == Type::I64)
        };
        assert_eq!(insts.filter(wide).count(), 0, "seed {seed}");
        assert_eq!(run(&m), want, "seed {seed}");
    }
}
