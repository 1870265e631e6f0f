//! Narrow accesses and atomics do the same before and after `lower_memory`.

use xenoglot_interp::{Bindings, Interpreter, Limits};
use xenoglot_ir::entity::EntityRef;
use xenoglot_ir::imm::{Order, Scope};
use xenoglot_ir::module::{Access, Count, OutOfBounds, ResourceData, ResourceKind};
use xenoglot_ir::{
    Builder, Flags, Function, Imm, Kind, MemInfo, Module, Op, Resource, Space, Stage, Type, Value, verify,
};
use xenoglot_opt::pipeline::{Options, Verify};
use xenoglot_opt::{Context, Lacks, optimize};
use xenoglot_testgen::property;
use xenoglot_testgen::rng::Rng;

/// Bytes of each memory; accesses also go a little beyond.
const BYTES: u32 = 32;

fn atomic(b: &mut Builder, rng: &mut Rng, mem: MemInfo, at: Value) -> Value {
    let mem = MemInfo { order: Order::Relaxed, scope: Scope::Workgroup, align_log2: 2, ..mem };
    let imm = Imm::Mem(mem);
    match rng.below(3) {
        0 => {
            let x = b.f32(rng.below(100) as f32 / 8.0);
            let old = b.op_imm(Op::AtomicFadd, Flags::NONE, imm, &[at, x]);
            b.convert(Op::Bitcast, Flags::NONE, old, Type::I32)
        }
        way => {
            let operand = [0, 1, 7, u32::MAX, rng.next_u32()][rng.below(5) as usize];
            let x = b.i32(operand);
            b.op_imm(if way == 1 { Op::AtomicIncWrap } else { Op::AtomicDecWrap }, Flags::NONE, imm, &[at, x])
        }
    }
}

/// Accesses of random width and place; each result is stored behind the memory proper.
fn module(seed: u64) -> Module {
    let mut rng = Rng::new(seed);
    let mut m = Module::new(Stage::Compute, "narrow");
    let resource = |binding| ResourceData {
        name: format!("b{binding}"),
        kind: ResourceKind::StorageBuffer { access: Access::ReadWrite },
        set: 0,
        binding,
        count: Count::One,
        oob: OutOfBounds::Zero,
    };
    let data = m.resources.push(resource(0));
    let log = m.resources.push(resource(1));
    m.shared_size = BYTES;
    let mut f = Function::new("main");
    f.private_size = BYTES;
    let block = f.add_block();
    let mut b = Builder::new(&mut f, block);
    for step in 0..40 {
        let space = [Space::Storage, Space::Shared, Space::Private][rng.below(3) as usize];
        let resource = (space == Space::Storage).then_some(data);
        let kind = [Kind::I8, Kind::I16, Kind::F16][rng.below(3) as usize];
        let align_log2 = (kind.bits() / 16) as u8;
        // Shared and private memory fault outside.
        let end = if space == Space::Storage { BYTES + 8 } else { BYTES };
        let align = if rng.below(2) == 0 { 1 << align_log2 } else { 4 };
        let at = b.i32(rng.below(end / align) * align);
        let mem = MemInfo::plain(space, resource, align_log2);
        let value = match rng.below(4) {
            0 if align == 4 && space != Space::Private => atomic(&mut b, &mut rng, mem, at),
            0 | 1 => {
                let v = b.load(mem, at, Type::scalar(kind));
                let integer = Type::scalar(if kind == Kind::F16 { Kind::I16 } else { kind });
                let v = b.convert(Op::Bitcast, Flags::NONE, v, integer);
                let widen = if rng.below(2) == 0 { Op::Zext } else { Op::Sext };
                b.convert(widen, Flags::NONE, v, Type::I32)
            }
            _ => {
                let v = b.i32(rng.next_u32());
                let integer = Type::scalar(if kind == Kind::F16 { Kind::I16 } else { kind });
                let v = b.convert(Op::TruncInt, Flags::NONE, v, integer);
                let v = b.convert(Op::Bitcast, Flags::NONE, v, Type::scalar(kind));
                b.store(mem, at, v);
                continue;
            }
        };
        let at = b.i32(4 * step);
        b.store(MemInfo::plain(Space::Storage, Some(log), 2), at, value);
    }
    // What shared and private memory hold at the end.
    for (n, space) in [Space::Shared, Space::Private].into_iter().enumerate() {
        for word in 0..BYTES / 4 {
            let at = b.i32(4 * word);
            let v = b.load(MemInfo::plain(space, None, 2), at, Type::I32);
            let to = b.i32(4 * (40 + n as u32 * BYTES / 4 + word));
            b.store(MemInfo::plain(Space::Storage, Some(log), 2), to, v);
        }
    }
    b.ret(&[]);
    m.entry = m.funcs.push(f).into();
    verify(&m).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    m
}

fn run(m: &Module) -> [Vec<u32>; 2] {
    let mut bindings = Bindings::new(m);
    let resources = [0, 1].map(Resource::new);
    bindings.set_words(resources[0], &[0x3f80_0000; (BYTES / 4) as usize]);
    bindings.set_words(resources[1], &[0; 64]);
    Interpreter::new(m).unwrap().dispatch([1; 3], &mut bindings, &Limits::default()).unwrap();
    resources.map(|r| bindings.words(r))
}

#[test]
fn lowered_accesses_do_what_they_did() {
    let mut cx = Context::new();
    for seed in property::seeds(300) {
        let mut m = module(seed);
        let before = run(&m);
        let options =
            Options { lacks: Lacks { narrow_memory: true, ..Lacks::default() }, ..Options::default() };
        optimize(&mut m, &mut cx, &options, &mut Verify).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let left = m
            .funcs
            .values()
            .flat_map(|f| f.layout.iter().flat_map(|&b| &f.blocks[b].insts).map(move |&i| (f, i)));
        for (f, inst) in left {
            let narrow = f.results(inst).iter().any(|&v| matches!(f.ty(v).kind().bits(), 8 | 16));
            assert!(!(f.insts[inst].op == Op::Load && narrow), "seed {seed}");
        }
        assert_eq!(run(&m), before, "seed {seed}");
    }
}
