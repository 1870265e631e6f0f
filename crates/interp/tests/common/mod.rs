//! Small modules for tests.
#![allow(dead_code, reason = "each test file uses its part")]

pub mod group;

use xenoglot_ir::module::{
    Access, Builtin, Count, Direction, Interpolation, OutOfBounds, ResourceData, ResourceKind, Semantic,
    VarData,
};
use xenoglot_ir::{
    Block, Builder, Flags, Func, Function, Imm, Kind, MemInfo, Module, Op, Resource, Space, Stage, Type,
    Value, Var,
};

pub fn module() -> Module {
    Module::new(Stage::Compute, "test")
}

pub fn buffer(m: &mut Module, name: &str, oob: OutOfBounds) -> Resource {
    m.resources.push(ResourceData {
        name: name.into(),
        kind: ResourceKind::StorageBuffer { access: Access::ReadWrite },
        set: 0,
        binding: m.resources.len() as u32,
        count: Count::One,
        oob,
    })
}

pub fn storage(r: Resource) -> MemInfo {
    MemInfo::plain(Space::Storage, Some(r), 0)
}

pub fn var(m: &mut Module, name: &str, direction: Direction, ty: Type, array: Option<u32>) -> Var {
    let semantic = Semantic::Location { location: m.vars.len() as u32, component: 0 };
    let interpolation = Interpolation::Smooth;
    m.vars.push(VarData {
        name: name.into(),
        direction,
        ty,
        semantic,
        interpolation,
        array,
        inner: None,
        stream: 0,
    })
}

pub fn builtin(m: &mut Module, which: Builtin) -> Var {
    let ty = if which == Builtin::LocalInvocationIndex { Type::I32 } else { xyz() };
    m.vars.push(VarData {
        name: which.name().into(),
        direction: Direction::Input,
        ty,
        semantic: Semantic::Builtin(which),
        interpolation: Interpolation::Flat,
        array: None,
        inner: None,
        stream: 0,
    })
}

pub fn xyz() -> Type {
    Type::new(Kind::I32, 3).unwrap()
}

/// A one-block entry function made by `body`, which ends the block.
pub fn entry(m: &mut Module, returns: &[Type], body: impl FnOnce(&mut Builder)) -> Func {
    let mut f = Function::new("main");
    f.returns = returns.to_vec();
    let block = f.add_block();
    body(&mut Builder::new(&mut f, block));
    let func = m.funcs.push(f);
    m.entry = Some(func).into();
    func
}

/// An op with an immediate and one result.
pub fn value(b: &mut Builder, op: Op, imm: Imm, args: &[Value], ty: Type) -> Value {
    let inst = b.inst(op, Flags::NONE, imm, args, &[ty]);
    b.func.results(inst)[0]
}

/// Words an oracle has per invocation, and blocks an invocation visits at most.
pub const STEPS: u32 = 64;

/// A kernel of one workgroup that walks a graph of successor lists. In the block it visits n-th, invocation i takes
/// the successor `oracle[i * STEPS + n] mod` their number, and stops at a block without, or after [`STEPS`] blocks.
/// Before that it stores `mark(block)` at `visits[i * STEPS + n]`.
pub fn walker(
    succs: &[Vec<u32>],
    lanes: u32,
    mark: impl Fn(&mut Builder, u32) -> Value,
) -> (Module, Resource, Resource) {
    let mut m = module();
    m.workgroup = [lanes, 1, 1];
    let oracle = buffer(&mut m, "oracle", OutOfBounds::Fault);
    let visits = buffer(&mut m, "visits", OutOfBounds::Fault);
    let index = builtin(&mut m, Builtin::LocalInvocationIndex);
    let mut f = Function::new("main");
    let start = f.add_block();
    let blocks: Vec<Block> = succs.iter().map(|_| f.add_block()).collect();
    let choices: Vec<Block> = succs.iter().map(|_| f.add_block()).collect();
    let end = f.add_block();
    let count: Vec<Value> = blocks.iter().map(|&b| f.add_param(b, Type::I32)).collect();
    let mut b = Builder::new(&mut f, start);
    let i = b.input(index, Type::I32);
    let steps = b.i32(STEPS);
    let first = b.op(Op::Imul, &[i, steps]);
    let last = b.op(Op::Iadd, &[first, steps]);
    b.jump(blocks[0], &[first]);
    for (node, to) in succs.iter().enumerate() {
        b.switch_to(blocks[node]);
        let n = count[node];
        let (four, one) = (b.i32(4), b.i32(1));
        let at = b.op(Op::Imul, &[n, four]);
        let what = mark(&mut b, node as u32);
        b.store(storage(visits), at, what);
        let next = b.op(Op::Iadd, &[n, one]);
        let done = b.op(Op::IcmpEq, &[next, last]);
        if to.is_empty() {
            b.jump(end, &[]);
            continue;
        }
        b.branch(done, (end, &[]), (choices[node], &[]));
        b.switch_to(choices[node]);
        let word = b.load(storage(oracle), at, Type::I32);
        let ways = b.i32(to.len() as u32);
        let way = b.op(Op::Urem, &[word, ways]);
        let args = [next];
        let cases: Vec<(u64, Block, &[Value])> =
            (0..).zip(&to[1..]).map(|(c, &t)| (c, blocks[t as usize], &args[..])).collect();
        b.switch(way, &cases, (blocks[to[0] as usize], &args));
    }
    b.switch_to(end);
    b.ret(&[]);
    m.entry = Some(m.funcs.push(f)).into();
    (m, oracle, visits)
}
