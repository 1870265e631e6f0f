//! One invocation: state ops, control flow, calls, traps.

mod common;

use common::{buffer, builtin, entry, module, storage, var, xyz};
use xenoglot_interp::{Bindings, Cause, End, Event, Interpreter, Limits, Outcome, Trap};
use xenoglot_ir::imm::{Order, Scope};
use xenoglot_ir::module::{Builtin, Direction, OutOfBounds};
use xenoglot_ir::{
    Bits, Builder, DivZero, Flags, Func, Function, Imm, Kind, MemInfo, Module, Op, Resource, Space, TermKind,
    Type, Value,
};

const LIMITS: Limits = Limits { fuel: 10_000, call_depth: 8, memory: 1 << 20, events: 4, trace: 16 };

fn run(m: &Module, bindings: &mut Bindings) -> Result<Outcome, Trap> {
    Interpreter::new(m).unwrap().run_entry(bindings, &LIMITS)
}

fn cause(m: &Module) -> Cause {
    run(m, &mut Bindings::new(m)).unwrap_err().cause
}

#[test]
fn slots_are_zero_until_set() {
    let mut m = module();
    entry(&mut m, &[Type::I32, Type::I32], |b| {
        let s = b.func.add_slot("r0", Type::I32);
        let before = b.slot_get(s);
        let seven = b.i32(7);
        b.slot_set(s, seven);
        let after = b.slot_get(s);
        b.ret(&[before, after]);
    });
    let out = run(&m, &mut Bindings::new(&m)).unwrap();
    assert_eq!(out.returns[..], [Bits::scalar(0), Bits::scalar(7)]);
    assert_eq!((out.end, out.stats.blocks, out.stats.insts), (End::Return, 1, 5));
}

#[test]
fn inputs_and_outputs() {
    let mut m = module();
    let a = var(&mut m, "a", Direction::Input, Type::F32X4, None);
    let list = var(&mut m, "list", Direction::Input, Type::I32, Some(3));
    let out = var(&mut m, "out", Direction::Output, Type::F32X4, None);
    let outs = var(&mut m, "outs", Direction::Output, Type::I32, Some(3));
    entry(&mut m, &[Type::F32X4], |b| {
        let x = b.input(a, Type::F32X4);
        b.output(out, x);
        let two = b.i32(2);
        let inst = b.inst(Op::Input, Flags::NONE, Imm::Var(list), &[two], &[Type::I32]);
        let y = b.func.results(inst)[0];
        let one = b.i32(1);
        b.inst(Op::Output, Flags::NONE, Imm::Var(outs), &[y, one], &[]);
        let inst = b.inst(Op::OutputGet, Flags::NONE, Imm::Var(out), &[], &[Type::F32X4]);
        let back = b.func.results(inst)[0];
        b.ret(&[back]);
    });
    let mut bind = Bindings::new(&m);
    let x = Bits::f32x4([1.0, 2.0, 3.0, 4.0]);
    bind.set_input(a, x);
    let err = run(&m, &mut bind).unwrap_err();
    assert_eq!(err.cause, Cause::UnboundInput { var: list });
    bind.set_input_array(list, &[Bits::scalar(5), Bits::scalar(6)]);
    assert_eq!(run(&m, &mut bind).unwrap_err().cause, Cause::Element { var: list, index: 2 });
    bind.set_input_array(list, &[5, 6, 7].map(Bits::scalar));
    let got = run(&m, &mut bind).unwrap();
    assert_eq!(got.returns[..], [x]);
    assert_eq!(bind.output(out), [x]);
    assert_eq!(bind.output(outs), [0, 7, 0].map(Bits::scalar));
}

#[test]
fn outputs_past_the_end_trap() {
    let mut m = module();
    let outs = var(&mut m, "outs", Direction::Output, Type::I32, Some(u32::MAX));
    entry(&mut m, &[], |b| {
        let i = b.i32(u32::MAX - 1);
        b.inst(Op::Output, Flags::NONE, Imm::Var(outs), &[i, i], &[]);
        b.ret(&[]);
    });
    assert_eq!(cause(&m), Cause::Element { var: outs, index: u32::MAX - 1 });
}

#[test]
fn vertices_are_recorded() {
    let mut m = module();
    let out = var(&mut m, "out", Direction::Output, Type::I32, None);
    entry(&mut m, &[], |b| {
        for v in [3, 4] {
            let v = b.i32(v);
            b.output(out, v);
            b.inst(Op::EmitVertex, Flags::NONE, Imm::Stream(0), &[], &[]);
        }
        b.inst(Op::EndPrimitive, Flags::NONE, Imm::Stream(0), &[], &[]);
        b.ret(&[]);
    });
    let got = run(&m, &mut Bindings::new(&m)).unwrap();
    let vertex = |v| Event::Vertex(vec![Bits::scalar(v)]);
    assert_eq!(got.events, [vertex(3), vertex(4), Event::EndPrimitive]);
    let tight = Limits { events: 2, ..LIMITS };
    let err = Interpreter::new(&m).unwrap().run_entry(&mut Bindings::new(&m), &tight).unwrap_err();
    assert_eq!(err.cause, Cause::Events { limit: 2 });
}

#[test]
fn loads_and_stores_are_little_endian_and_lane_by_lane() {
    let mut m = module();
    let r = buffer(&mut m, "data", OutOfBounds::Zero);
    let v3 = Type::new(Kind::I16, 3).unwrap();
    entry(&mut m, &[v3, Type::I32], |b| {
        let at = b.i32(2);
        let v = b.load(storage(r), at, v3);
        let far = b.i32(8);
        let partly = b.load(storage(r), far, Type::I32);
        let end = b.i32(6);
        b.store(storage(r), end, v); // its second lane lies at the last two bytes, its third outside
        b.ret(&[v, partly]);
    });
    let mut bind = Bindings::new(&m);
    bind.set_buffer(r, (0..10).collect());
    let got = run(&m, &mut bind).unwrap();
    assert_eq!(got.returns[..], [Bits([0x0302, 0x0504, 0x0706, 0]), Bits::scalar(0)]);
    assert_eq!(bind.buffer(r), [0, 1, 2, 3, 4, 5, 2, 3, 4, 5]);
    assert_eq!(got.stats.out_of_bounds, 2);
}

/// Loads, stores and adds at `offset` of a four-byte buffer.
fn touch(oob: OutOfBounds, offset: u32, op: Op) -> (Module, Resource) {
    let mut m = module();
    let r = buffer(&mut m, "data", oob);
    entry(&mut m, &[], |b| {
        let at = b.i32(offset);
        let imm = Imm::Mem(storage(r));
        let results: &[Type] = if op == Op::Store { &[] } else { &[Type::I32] };
        let args: &[Value] = if op == Op::Load { &[at] } else { &[at, at] };
        b.inst(op, Flags::NONE, imm, args, results);
        b.ret(&[]);
    });
    (m, r)
}

#[test]
fn out_of_bounds_by_policy() {
    for op in [Op::Load, Op::Store, Op::AtomicAdd] {
        for offset in [1, 4, u32::MAX] {
            for oob in [OutOfBounds::Undefined, OutOfBounds::Zero, OutOfBounds::Ignore, OutOfBounds::Fault] {
                let (m, r) = touch(oob, offset, op);
                let mut bind = Bindings::new(&m);
                bind.set_words(r, &[9]);
                match run(&m, &mut bind) {
                    Ok(out) => {
                        assert_ne!(oob, OutOfBounds::Fault);
                        assert_eq!(out.stats.out_of_bounds, 1);
                    }
                    Err(trap) => {
                        let want =
                            Cause::OutOfBounds { space: Space::Storage, offset: offset.into(), size: 4 };
                        assert_eq!((oob, trap.cause), (OutOfBounds::Fault, want));
                    }
                }
                assert_eq!(bind.words(r), [9]);
            }
        }
    }
    let (m, r) = touch(OutOfBounds::Zero, 0, Op::Load);
    assert_eq!(cause(&m), Cause::UnboundResource { resource: r });
}

#[test]
fn stated_alignment_is_held_to() {
    let mut m = module();
    let r = buffer(&mut m, "data", OutOfBounds::Zero);
    entry(&mut m, &[], |b| {
        let at = b.i32(8);
        b.load(MemInfo::plain(Space::Storage, Some(r), 4), at, Type::F32X4);
        b.ret(&[]);
    });
    let mut bind = Bindings::new(&m);
    bind.set_words(r, &[0; 16]);
    assert_eq!(run(&m, &mut bind).unwrap_err().cause, Cause::Misaligned { offset: 8, align_log2: 4 });
}

#[test]
fn atomics_give_the_old_value() {
    let cases: [(Op, u32, u32, u32); 16] = [
        (Op::AtomicAdd, u32::MAX, 2, 1),
        (Op::AtomicAnd, 0b1100, 0b1010, 0b1000),
        (Op::AtomicOr, 0b1100, 0b1010, 0b1110),
        (Op::AtomicXor, 0b1100, 0b1010, 0b0110),
        (Op::AtomicXchg, 1, 2, 2),
        (Op::AtomicUmin, 1, u32::MAX, 1),
        (Op::AtomicUmax, 1, u32::MAX, u32::MAX),
        (Op::AtomicSmin, 1, u32::MAX, u32::MAX),
        (Op::AtomicSmax, 1, u32::MAX, 1),
        (Op::AtomicSmax, u32::MAX, 1, 1),
        (Op::AtomicIncWrap, 6, 7, 7),
        (Op::AtomicIncWrap, 7, 7, 0),
        (Op::AtomicIncWrap, u32::MAX, u32::MAX, 0),
        (Op::AtomicDecWrap, 7, 7, 6),
        (Op::AtomicDecWrap, 8, 7, 7),
        (Op::AtomicDecWrap, 0, u32::MAX, u32::MAX),
    ];
    for (op, old, operand, new) in cases {
        let mut m = module();
        let r = buffer(&mut m, "data", OutOfBounds::Zero);
        entry(&mut m, &[Type::I32], |b| {
            let mem = MemInfo { order: Order::Relaxed, scope: Scope::Device, ..storage(r) };
            let (at, x) = (b.i32(4), b.i32(operand));
            let v = b.op_imm(op, Flags::NONE, Imm::Mem(mem), &[at, x]);
            b.ret(&[v]);
        });
        let mut bind = Bindings::new(&m);
        bind.set_words(r, &[77, old, 78]);
        let got = run(&m, &mut bind).unwrap();
        assert_eq!(got.returns[..], [Bits::scalar(old.into())], "{op:?}");
        assert_eq!(bind.words(r), [77, new, 78], "{op:?}");
    }
}

#[test]
fn a_float_atomic_adds_floats() {
    let mut m = module();
    let r = buffer(&mut m, "data", OutOfBounds::Zero);
    entry(&mut m, &[Type::F32], |b| {
        let mem = MemInfo { order: Order::Relaxed, scope: Scope::Device, ..storage(r) };
        let (at, x) = (b.i32(0), b.f32(0.25));
        let v = b.op_imm(Op::AtomicFadd, Flags::NONE, Imm::Mem(mem), &[at, x]);
        b.ret(&[v]);
    });
    let mut bind = Bindings::new(&m);
    bind.set_words(r, &[1.5f32.to_bits()]);
    assert_eq!(run(&m, &mut bind).unwrap().returns[..], [Bits::scalar(1.5f32.to_bits().into())]);
    assert_eq!(bind.words(r), [1.75f32.to_bits()]);
}

#[test]
fn compare_exchange_stores_only_on_equality() {
    for (expected, after) in [(5, 6), (4, 5)] {
        let mut m = module();
        let r = buffer(&mut m, "data", OutOfBounds::Zero);
        entry(&mut m, &[Type::I32], |b| {
            let (at, e, n) = (b.i32(0), b.i32(expected), b.i32(6));
            let v = b.op_imm(Op::AtomicCmpxchg, Flags::NONE, Imm::Mem(storage(r)), &[at, e, n]);
            b.ret(&[v]);
        });
        let mut bind = Bindings::new(&m);
        bind.set_words(r, &[5]);
        assert_eq!(run(&m, &mut bind).unwrap().returns[..], [Bits::scalar(5)]);
        assert_eq!(bind.words(r), [after]);
    }
}

#[test]
fn private_and_shared_memory_start_at_zero_and_fault_outside() {
    for space in [Space::Private, Space::Shared] {
        let mut m = module();
        m.shared_size = 8;
        entry(&mut m, &[Type::I32, Type::I32], |b| {
            b.func.private_size = 8;
            let mem = MemInfo::plain(space, None, 2);
            let at = b.i32(4);
            let before = b.load(mem, at, Type::I32);
            b.store(mem, at, at);
            let after = b.load(mem, at, Type::I32);
            b.ret(&[before, after]);
        });
        let mut interp = Interpreter::new(&m).unwrap();
        for _ in 0..2 {
            let got = interp.run_entry(&mut Bindings::new(&m), &LIMITS).unwrap();
            assert_eq!(got.returns[..], [0, 4].map(Bits::scalar));
        }
        let mut m = module();
        m.shared_size = 8;
        entry(&mut m, &[], |b| {
            b.func.private_size = 8;
            let at = b.i32(8);
            b.load(MemInfo::plain(space, None, 2), at, Type::I32);
            b.ret(&[]);
        });
        assert_eq!(cause(&m), Cause::OutOfBounds { space, offset: 8, size: 8 });
    }
}

#[test]
fn private_memory_belongs_to_the_call() {
    let mut m = module();
    let mem = MemInfo::plain(Space::Private, None, 2);
    let mut f = Function::new("callee");
    f.private_size = 4;
    f.returns = vec![Type::I32];
    let block = f.add_block();
    let x = f.add_param(block, Type::I32);
    let mut b = Builder::new(&mut f, block);
    let zero = b.i32(0);
    let old = b.load(mem, zero, Type::I32);
    b.store(mem, zero, x);
    b.ret(&[old]);
    let callee = m.funcs.push(f);
    entry(&mut m, &[Type::I32, Type::I32], |b| {
        b.func.private_size = 4;
        let (zero, nine) = (b.i32(0), b.i32(9));
        b.store(mem, zero, nine);
        b.call(callee, &[nine], &[Type::I32]);
        let call = b.call(callee, &[nine], &[Type::I32]);
        let theirs = b.func.results(call)[0];
        let mine = b.load(mem, zero, Type::I32);
        b.ret(&[theirs, mine]);
    });
    let got = run(&m, &mut Bindings::new(&m)).unwrap();
    assert_eq!(got.returns[..], [0, 9].map(Bits::scalar));
}

#[test]
fn edges_copy_in_parallel() {
    let mut m = module();
    let mut f = Function::new("main");
    f.returns = vec![Type::I32, Type::I32];
    let (b0, b1) = (f.add_block(), f.add_block());
    let (x, y, n) = (f.add_param(b1, Type::I32), f.add_param(b1, Type::I32), f.add_param(b1, Type::I32));
    let b2 = f.add_block();
    let mut b = Builder::new(&mut f, b0);
    let (one, two, three) = (b.i32(1), b.i32(2), b.i32(3));
    b.jump(b1, &[one, two, three]);
    b.switch_to(b1);
    let one = b.i32(1);
    let left = b.op(Op::Isub, &[n, one]);
    let zero = b.i32(0);
    let more = b.op(Op::IcmpNe, &[left, zero]);
    b.branch(more, (b1, &[y, x, left]), (b2, &[]));
    b.switch_to(b2);
    b.ret(&[x, y]);
    m.entry = Some(m.funcs.push(f)).into();
    let got = run(&m, &mut Bindings::new(&m)).unwrap();
    assert_eq!(got.returns[..], [1, 2].map(Bits::scalar)); // swapped twice
    let blocks: Vec<String> = got.trace.iter().map(|v| v.block.to_string()).collect();
    assert_eq!(blocks, ["block0", "block1", "block1", "block1", "block2"]);
}

#[test]
fn switches_find_their_case() {
    let mut m = module();
    let mut f = Function::new("main");
    f.returns = vec![Type::I32];
    let (b0, b1) = (f.add_block(), f.add_block());
    let x = f.add_param(b0, Type::I32);
    let y = f.add_param(b1, Type::I32);
    let mut b = Builder::new(&mut f, b0);
    let arms: Vec<Value> = (0..4).map(|i| b.i32(100 + i)).collect();
    b.switch(
        x,
        &[(7, b1, &arms[0..1]), (0xffff_ffff, b1, &arms[1..2]), (3, b1, &arms[2..3])],
        (b1, &arms[3..]),
    );
    b.switch_to(b1);
    b.ret(&[y]);
    let main = m.funcs.push(f);
    let mut interp = Interpreter::new(&m).unwrap();
    for (x, y) in [(7, 100), (0xffff_ffff, 101), (3, 102), (8, 103), (0, 103)] {
        let got = interp.run_function(main, &[Bits::scalar(x)], &mut Bindings::new(&m), &LIMITS).unwrap();
        assert_eq!(got.returns[..], [Bits::scalar(y)]);
    }
}

#[test]
fn ends_without_return() {
    for (kind, end) in [
        (TermKind::Kill, End::Kill),
        (TermKind::Exit, End::Exit(64)),
        (TermKind::TailCallGuest, End::TailCallGuest(64)),
    ] {
        let mut m = module();
        entry(&mut m, &[], |b| {
            let pc = b.i32(64);
            let args: &[Value] = if kind == TermKind::Kill { &[] } else { &[pc] };
            let block = b.block();
            b.func.set_term(block, kind, args, Default::default(), Vec::new(), 0);
        });
        assert_eq!(run(&m, &mut Bindings::new(&m)).unwrap().end, end);
    }
}

#[test]
fn helpers_have_no_effects() {
    for (condition, demoted, word) in [(0, false, 1), (1, true, 0)] {
        let mut m = module();
        let r = buffer(&mut m, "data", OutOfBounds::Zero);
        let out = var(&mut m, "out", Direction::Output, Type::I32, None);
        entry(&mut m, &[Type::BOOL], |b| {
            let c = b.bool(condition != 0);
            b.inst(Op::DiscardIf, Flags::NONE, Imm::None, &[c], &[]);
            let (zero, one) = (b.i32(0), b.i32(1));
            b.store(storage(r), zero, one);
            let four = b.i32(4);
            b.op_imm(Op::AtomicAdd, Flags::NONE, Imm::Mem(storage(r)), &[four, one]);
            b.output(out, one);
            let h = b.inst(Op::Helper, Flags::NONE, Imm::None, &[], &[Type::BOOL]);
            let h = b.func.results(h)[0];
            b.ret(&[h]);
        });
        let mut bind = Bindings::new(&m);
        bind.set_words(r, &[0, 0]);
        let got = run(&m, &mut bind).unwrap();
        assert_eq!((got.demoted, got.returns[0]), (demoted, Bits::scalar(demoted.into())));
        assert_eq!(bind.words(r), [word, word]);
        assert_eq!(bind.output(out), [Bits::scalar(word.into())]);
    }
}

#[test]
fn traps_say_where() {
    let mut m = module();
    let mut f = Function::new("main");
    let (b0, b1) = (f.add_block(), f.add_block());
    let mut b = Builder::new(&mut f, b0);
    b.jump(b1, &[]);
    b.switch_to(b1);
    b.set_guest(0x40);
    let zero = b.i32(0);
    b.op_flags(Op::Udiv, Flags::NONE.with_div_zero(DivZero::Trap), &[zero, zero]);
    b.ret(&[]);
    m.entry = Some(m.funcs.push(f)).into();
    let trap = run(&m, &mut Bindings::new(&m)).unwrap_err();
    assert_eq!(trap.cause, Cause::DivisionByZero);
    assert_eq!(trap.to_string(), "integer division by zero at fn0 block1 inst1 (guest address 0x40)");
}

#[test]
fn unsupported_ops_trap_when_reached() {
    let mut m = module();
    entry(&mut m, &[], |b| {
        b.set_guest(12);
        b.inst(Op::DepthOut, Flags::NONE, Imm::None, &[], &[]);
        b.ret(&[]);
    });
    let trap = run(&m, &mut Bindings::new(&m)).unwrap_err();
    assert_eq!((trap.cause, trap.at.guest), (Cause::Unsupported { op: Op::DepthOut }, 12));
    let mut m = module();
    entry(&mut m, &[], |b| b.unreachable());
    assert_eq!(cause(&m), Cause::Unreachable);
    assert_eq!(cause(&module()), Cause::NoEntry);
}

#[test]
fn limits_hold() {
    let mut m = module();
    entry(&mut m, &[], |b| {
        let block = b.block();
        b.jump(block, &[]);
    });
    let trap = run(&m, &mut Bindings::new(&m)).unwrap_err();
    assert_eq!((trap.cause, trap.at.inst), (Cause::Fuel, None));

    let mut m = module();
    entry(&mut m, &[], |b| {
        b.call(Func::from_u32(0), &[], &[]);
        b.ret(&[]);
    });
    assert_eq!(cause(&m), Cause::CallDepth { limit: 8 });

    for shared in [true, false] {
        let mut m = module();
        m.shared_size = if shared { u32::MAX } else { 0 };
        entry(&mut m, &[], |b| {
            b.func.private_size = if shared { 0 } else { u32::MAX };
            b.ret(&[]);
        });
        assert_eq!(cause(&m), Cause::Memory { limit: 1 << 20 });
    }
}

#[test]
fn invocations_know_their_place_in_the_dispatch() {
    let mut m = module();
    let id = builtin(&mut m, Builtin::GlobalInvocationId);
    entry(&mut m, &[xyz()], |b| {
        let v = b.input(id, xyz());
        b.ret(&[v]);
    });
    let mut bind = Bindings::new(&m);
    assert_eq!(run(&m, &mut bind).unwrap().returns[0], Bits([0; 4]));
    bind.set_input(id, Bits([1, 2, 3, 99])); // the fourth lane is no part of the type
    assert_eq!(run(&m, &mut bind).unwrap().returns[0], Bits([1, 2, 3, 0]));
}

#[test]
fn broken_modules_are_refused() {
    let mut m = module();
    entry(&mut m, &[], |b| {
        let x = b.i32(1);
        b.inst(Op::Iadd, Flags::NONE, Imm::None, &[x, x, x], &[Type::I32]);
        b.ret(&[]);
    });
    let err = Interpreter::new(&m).unwrap_err();
    assert_eq!(err.to_string(), "a wrong number of operands or results at fn0 block0 inst1");
    let mut m = module();
    entry(&mut m, &[], |b| {
        b.inst(Op::Ineg, Flags::NONE, Imm::None, &[Value::from_u32(5)], &[Type::I32]);
        b.ret(&[]);
    });
    assert_eq!(Interpreter::new(&m).unwrap_err().reason, "a value that does not exist");
    let mut m = module();
    entry(&mut m, &[Type::I32], |b| b.ret(&[]));
    assert!(Interpreter::new(&m).is_err());
}
