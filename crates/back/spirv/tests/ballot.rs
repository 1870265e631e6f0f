//! Convergence: on a device, the lanes that run a block together are those that the lock-step interpreter runs together
//! on the graph as it was before structuring.

mod common;

use common::{device, emit_valid, run};
use xenoglot_interp::{Bindings, Interpreter, Limits};
use xenoglot_ir::entity::EntityRef;
use xenoglot_ir::imm::{Imm, Reduce, SubgroupInfo};
use xenoglot_ir::module::{
    Access, Builtin, Count, Direction, Interpolation, Module, OutOfBounds, ResourceData, ResourceKind,
    Semantic, VarData,
};
use xenoglot_ir::{Block, Builder, Flags, Function, MemInfo, Op, Resource, Space, Stage, Type, Value};
use xenoglot_spirv::Options;
use xenoglot_testgen::cfg;
use xenoglot_testgen::property;
use xenoglot_testgen::rng::Rng;

/// lavapipe's subgroups have 8 lanes; the workgroup is one subgroup.
const LANES: u32 = 8;
/// Blocks a lane runs before it stops.
const VISITS: u32 = 40;
const LOG_WORDS: u32 = LANES * VISITS * 2;

#[test]
fn vulkan_worker() {
    xenoglot_vulkan::isolated::serve_if_worker();
}

/// Each node of the graph logs itself and the ballot of the lanes that run it, then picks a successor by a hash that
/// differs from lane to lane.
fn module(graph: &[Vec<u32>], seed: u32) -> Module {
    let mut module = Module::new(Stage::Compute, "ballots");
    module.workgroup = [LANES, 1, 1];
    let log = module.resources.push(ResourceData {
        name: "log".into(),
        kind: ResourceKind::StorageBuffer { access: Access::ReadWrite },
        set: 0,
        binding: 0,
        count: Count::One,
        oob: OutOfBounds::Undefined,
    });
    let lane = module.vars.push(VarData {
        name: "lane".into(),
        direction: Direction::Input,
        ty: Type::I32,
        semantic: Semantic::Builtin(Builtin::LocalInvocationIndex),
        interpolation: Interpolation::Smooth,
        array: None,
        inner: None,
        stream: 0,
    });
    let mut f = Function::new("main");
    let entry = f.add_block();
    let end = f.add_block();
    // Per node: the test for the end, then the body. Parameters: hash, visits so far.
    let nodes: Vec<(Block, [Value; 2], Block)> = graph
        .iter()
        .map(|_| {
            let head = f.add_block();
            let params = [f.add_param(head, Type::I32), f.add_param(head, Type::I32)];
            (head, params, f.add_block())
        })
        .collect();
    let mut b = Builder::new(&mut f, entry);
    let lane = b.input(lane, Type::I32);
    let (scale, start, zero) = (b.i32(0x9e37_79b9), b.i32(seed), b.i32(0));
    let spread = b.op(Op::Imul, &[lane, scale]);
    let hash = b.op(Op::Iadd, &[spread, start]);
    let bytes = b.i32(VISITS * 8);
    let base = b.op(Op::Imul, &[lane, bytes]);
    b.jump(nodes[0].0, &[hash, zero]);
    b.switch_to(end);
    b.ret(&[]);
    for (n, (succs, &(head, [hash, visits], body))) in graph.iter().zip(&nodes).enumerate() {
        b.switch_to(head);
        let limit = b.i32(VISITS);
        let more = b.op(Op::IcmpUlt, &[visits, limit]);
        b.branch(more, (body, &[]), (end, &[]));
        b.switch_to(body);
        let yes = b.bool(true);
        let info = Imm::Subgroup(SubgroupInfo { width: 0, reduce: Reduce::Iadd, exclusive: false });
        let ballot = b.inst(Op::SgBallot, Flags::NONE, info, &[yes], &[Type::I32]);
        let ballot = b.func.result(ballot).unwrap();
        let (eight, four, one, id) = (b.i32(8), b.i32(4), b.i32(1), b.i32(n as u32 + 1));
        let at = b.op(Op::Imul, &[visits, eight]);
        let at = b.op(Op::Iadd, &[base, at]);
        let mem = MemInfo::plain(Space::Storage, Some(log), 2);
        b.store(mem, at, id);
        let at = b.op(Op::Iadd, &[at, four]);
        b.store(mem, at, ballot);
        let visits = b.op(Op::Iadd, &[visits, one]);
        let (factor, term, sixteen) = (b.i32(1_664_525), b.i32(1_013_904_223 + n as u32), b.i32(16));
        let hash = b.op(Op::Imul, &[hash, factor]);
        let hash = b.op(Op::Iadd, &[hash, term]);
        let args = [hash, visits];
        match succs.as_slice() {
            [] => b.ret(&[]),
            &[to] => b.jump(nodes[to as usize].0, &args),
            [most @ .., last] => {
                let high = b.op(Op::Ushr, &[hash, sixteen]);
                let count = b.i32(succs.len() as u32);
                let choice = b.op(Op::Urem, &[high, count]);
                let cases: Vec<(u64, Block, &[Value])> =
                    most.iter().zip(0..).map(|(&to, k)| (k, nodes[to as usize].0, &args[..])).collect();
                b.switch(choice, &cases, (nodes[*last as usize].0, &args));
            }
        }
    }
    module.entry = Some(module.funcs.push(f)).into();
    xenoglot_ir::verify(&module).unwrap_or_else(|e| panic!("{e}"));
    module
}

fn simulate(module: &Module) -> Vec<u32> {
    let mut interpreter = Interpreter::new(module).unwrap();
    interpreter.set_subgroup_width(LANES as u8);
    let mut bindings = Bindings::new(module);
    let log = Resource::new(0);
    bindings.set_words(log, &vec![0; LOG_WORDS as usize]);
    interpreter.dispatch([1; 3], &mut bindings, &Limits::default()).unwrap();
    bindings.words(log)
}

#[test]
fn lanes_meet_where_the_graph_says() {
    let Some(mut device) = device() else { return };
    let (mut visits, mut partial) = (0, 0);
    for seed in property::seeds(60) {
        let mut rng = Rng::new(seed);
        let graph = cfg::random(&mut rng, 14);
        let module = module(&graph, rng.next_u32());
        let want = simulate(&module);
        let spirv = emit_valid(&module, &Options::default());
        let got = run(&mut device, spirv, &[(0, vec![0; LOG_WORDS as usize])], 1).remove(0);
        for (i, (want, got)) in want.chunks(2).zip(got.chunks(2)).enumerate() {
            let (lane, visit) = (i / VISITS as usize, i % VISITS as usize);
            assert_eq!(want, got, "seed {seed}, lane {lane}, visit {visit} (node + 1, ballot): {graph:?}");
            visits += u32::from(want[0] != 0);
            partial += u32::from(want[0] != 0 && want[1] != (1 << LANES) - 1);
        }
    }
    println!("{visits} blocks run, {partial} of them by some of the lanes");
    assert!(visits > 1000 && partial > 300);
}
