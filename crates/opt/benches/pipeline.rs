//! What the pass list costs on a vertex shader of ordinary size: four lights in a loop over constant banks, masked
//! writes to vec4 registers, a conditional. `cargo bench -p xenoglot-opt`.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;
use xenoglot_ir::imm::{Lanes, MemInfo, Space};
use xenoglot_ir::module::{
    Count, Direction, Interpolation, OutOfBounds, ResourceData, ResourceKind, Semantic, VarData,
};
use xenoglot_ir::{Builder, Flags, Function, Module, Op, Slot, Stage, Type, Value};
use xenoglot_opt::pipeline::{Observer, Ran};
use xenoglot_opt::{Context, Options, optimize};

fn shader() -> Module {
    let mut m = Module::new(Stage::Vertex, "lights");
    let var = |m: &mut Module, name: &str, direction, location| {
        m.vars.push(VarData {
            name: name.into(),
            direction,
            ty: Type::F32X4,
            semantic: Semantic::Location { location, component: 0 },
            interpolation: Interpolation::Smooth,
            array: None,
            inner: None,
            stream: 0,
        })
    };
    let inputs = [0, 1].map(|i| var(&mut m, &format!("v{i}"), Direction::Input, i));
    let outputs = [0, 1].map(|i| var(&mut m, &format!("o{i}"), Direction::Output, i));
    let regs = m.resources.push(ResourceData {
        name: "regs".into(),
        kind: ResourceKind::UniformBuffer { size: 1536 },
        set: 0,
        binding: 0,
        count: Count::One,
        oob: OutOfBounds::Zero,
    });
    let mut f = Function::new("main");
    let [entry, head, lit, unlit, next, end] = std::array::from_fn(|_| f.add_block());
    let r: Vec<Slot> = (0..12).map(|i| f.add_slot(format!("r{i}"), Type::F32X4)).collect();
    let counter = f.add_slot("aL", Type::I32);
    let zw = Flags::NONE.with_zero_wins();
    let bank = MemInfo::plain(Space::ConstBank, Some(regs), 4);
    let c = |b: &mut Builder<'_>, n: u32| {
        let at = b.i32(16 * n);
        b.load(bank, at, Type::F32X4)
    };
    // One instruction of the machine: operands through a swizzle, the result under a mask.
    let write = |b: &mut Builder<'_>, slot: Slot, v: Value, mask: &[u8]| {
        let mut old = b.slot_get(slot);
        for &lane in mask {
            let x = b.extract(v, lane);
            old = b.insert(old, lane, x);
        }
        b.slot_set(slot, old);
    };
    let mut b = Builder::new(&mut f, entry);
    for (slot, var) in r.iter().zip(inputs) {
        let v = b.input(var, Type::F32X4);
        b.slot_set(*slot, v);
    }
    for row in 0..4 {
        let (v, m) = (b.slot_get(r[0]), c(&mut b, row));
        let d = b.op_flags(Op::Fdot4, zw, &[v, m]);
        let d = b.splat(d, 4);
        write(&mut b, r[2], d, &[row as u8]);
    }
    let zero = b.i32(0);
    b.slot_set(counter, zero);
    b.jump(head, &[]);
    b.switch_to(head);
    let (n, ambient) = (b.slot_get(r[1]), c(&mut b, 20));
    let shuffled = b.shuffle(n, n, Lanes::new(&[1, 2, 0, 3]).unwrap());
    let scaled = b.op_flags(Op::Fmul, zw, &[shuffled, ambient]);
    write(&mut b, r[3], scaled, &[0, 1, 2]);
    let i = b.slot_get(counter);
    let sixteen = b.i32(16);
    let at = b.op(Op::Imul, &[i, sixteen]);
    let light = b.load(bank, at, Type::F32X4);
    let v3 = b.slot_get(r[3]);
    let d = b.op_flags(Op::Fdot4, zw, &[v3, light]);
    let z = b.f32(0.0);
    let on = b.op(Op::FcmpOlt, &[z, d]);
    let on = b.not(on);
    b.branch(on, (unlit, &[]), (lit, &[]));
    b.switch_to(lit);
    for k in 4..10 {
        let (x, y) = (b.slot_get(r[k - 1]), c(&mut b, 30 + k as u32));
        let p = b.op_flags(Op::Fmul, zw, &[x, y]);
        let q = b.slot_get(r[k]);
        let s = b.op(Op::Fadd, &[p, q]);
        write(&mut b, r[k], s, &[0, 1, 2, 3]);
    }
    b.jump(next, &[]);
    b.switch_to(unlit);
    let k = c(&mut b, 7);
    write(&mut b, r[9], k, &[3]);
    b.jump(next, &[]);
    b.switch_to(next);
    let (i, one, four) = (b.slot_get(counter), b.i32(1), b.i32(4));
    let i = b.op(Op::Iadd, &[i, one]);
    b.slot_set(counter, i);
    let more = b.op(Op::IcmpSlt, &[i, four]);
    b.branch(more, (head, &[]), (end, &[]));
    b.switch_to(end);
    for (slot, var) in [(r[2], outputs[0]), (r[9], outputs[1])] {
        let v = b.slot_get(slot);
        b.output(var, v);
    }
    b.ret(&[]);
    let main = m.funcs.push(f);
    m.entry = main.into();
    m
}

/// Sums time by pass.
#[derive(Default)]
struct Times(Vec<(&'static str, Duration)>);

impl Observer for Times {
    type Error = std::convert::Infallible;

    fn after(&mut self, ran: Ran<'_>) -> Result<(), Self::Error> {
        match self.0.iter_mut().find(|t| t.0 == ran.pass.name) {
            Some(t) => t.1 += ran.took,
            None => self.0.push((ran.pass.name, ran.took)),
        }
        Ok(())
    }

    fn timed(&self) -> bool {
        true
    }
}

fn pipeline(c: &mut Criterion) {
    let module = shader();
    let mut cx = Context::new();
    let options = Options::default();
    const RUNS: u32 = 2000;
    let before: usize = module.funcs.values().map(Function::inst_count).sum();
    let mut after = 0;
    // The least of many runs: what other processes take from a run is not the pass's.
    let mut least: Option<Times> = None;
    for _ in 0..RUNS {
        let (mut m, mut times) = (module.clone(), Times::default());
        let Ok(()) = optimize(&mut m, &mut cx, &options, &mut times);
        after = m.funcs.values().map(Function::inst_count).sum();
        match &mut least {
            Some(least) => least.0.iter_mut().zip(&times.0).for_each(|(l, t)| l.1 = l.1.min(t.1)),
            None => least = Some(times),
        }
    }
    println!("{before} instructions become {after}; least time by pass, all its runs together:");
    for (name, took) in least.iter().flat_map(|t| &t.0) {
        println!("  {name}: {took:?}");
    }
    c.bench_function("the pass list on a vertex shader", |b| {
        b.iter_batched_ref(
            || module.clone(),
            |m| {
                let Ok(()) = optimize(black_box(m), &mut cx, &options, &mut ());
            },
            BatchSize::SmallInput,
        );
    });
}

criterion_group!(benches, pipeline);
criterion_main!(benches);
