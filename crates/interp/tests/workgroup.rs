//! Invocations that run together: places in the dispatch, barriers, subgroups, divergence and reconvergence.

mod common;

use common::group::{HOST, LIMITS, barrier, here, kernel, put, run, subgroup};
use common::{buffer, builtin, entry, module, storage, xyz};
use xenoglot_interp::{Bindings, Cause, Interpreter};
use xenoglot_ir::imm::{BarrierInfo, Reduce, Scope, SubgroupInfo};
use xenoglot_ir::module::{Builtin, OutOfBounds};
use xenoglot_ir::{
    Builder, Flags, Function, Imm, MemInfo, Module, Op, Resource, Space, TermKind, Type, Value,
};

#[test]
fn every_invocation_knows_its_place() {
    let mut m = module();
    m.workgroup = [2, 3, 2];
    let r = buffer(&mut m, "out", OutOfBounds::Fault);
    let ids = [
        Builtin::GlobalInvocationId,
        Builtin::LocalInvocationId,
        Builtin::WorkgroupId,
        Builtin::NumWorkgroups,
    ]
    .map(|which| builtin(&mut m, which));
    let index = builtin(&mut m, Builtin::LocalInvocationIndex);
    entry(&mut m, &[], |b| {
        let ids = ids.map(|id| b.input(id, xyz()));
        // The row of an invocation: global x + 4 y + 12 z (two groups along x, one along y).
        let [x, y, z] = [0, 1, 2].map(|lane| b.extract(ids[0], lane));
        let (four, twelve, row) = (b.i32(4), b.i32(12), b.i32(56));
        let (y, z) = (b.op(Op::Imul, &[y, four]), b.op(Op::Imul, &[z, twelve]));
        let n = b.op(Op::Iadd3, &[x, y, z]);
        let mut at = b.op(Op::Imul, &[n, row]);
        for id in ids {
            b.store(storage(r), at, id);
            let size = b.i32(12);
            at = b.op(Op::Iadd, &[at, size]);
        }
        let i = b.input(index, Type::I32);
        b.store(storage(r), at, i);
        b.ret(&[]);
    });
    let mut bind = Bindings::new(&m);
    bind.set_words(r, &[u32::MAX; 24 * 14]);
    Interpreter::new(&m).unwrap().dispatch([2, 1, 1], &mut bind, &LIMITS).unwrap();
    let words = bind.words(r);
    for (n, row) in (0..).zip(words.chunks(14)) {
        let global = [n % 4, n / 4 % 3, n / 12];
        let (local, group) = ([global[0] % 2, global[1], global[2]], [global[0] / 2, 0, 0]);
        let index = local[0] + 2 * local[1] + 6 * local[2];
        let want: Vec<u32> = [global, local, group, [2, 1, 1]].concat().into_iter().chain([index]).collect();
        assert_eq!(row[..13], want[..]);
    }
}

#[test]
fn shared_memory_and_barriers() {
    for width in [1, 4, 32] {
        let mem = MemInfo::plain(Space::Shared, None, 2);
        let (m, r) = kernel(10, |b, i| {
            let (four, nine, seven) = (b.i32(4), b.i32(9), b.i32(7));
            let at = b.op(Op::Imul, &[i, four]);
            let v = b.op(Op::Imul, &[i, seven]);
            b.store(mem, at, v);
            barrier(b);
            let other = b.op(Op::Isub, &[nine, i]);
            let at = b.op(Op::Imul, &[other, four]);
            b.load(mem, at, Type::I32)
        });
        let want: Vec<u32> = (0..10).map(|i| 7 * (9 - i)).collect();
        assert_eq!(run(&m, r, 10, width), Ok(want));
    }
}

#[test]
fn each_workgroup_has_its_own_shared_memory() {
    let mut m = module();
    m.shared_size = 4;
    let r = buffer(&mut m, "out", OutOfBounds::Fault);
    let id = builtin(&mut m, Builtin::WorkgroupId);
    entry(&mut m, &[], |b| {
        let mem = MemInfo::plain(Space::Shared, None, 2);
        let zero = b.i32(0);
        let old = b.load(mem, zero, Type::I32);
        let one = b.i32(1);
        b.store(mem, zero, one);
        let id = b.input(id, xyz());
        let x = b.extract(id, 0);
        put(b, r, x, old);
        b.ret(&[]);
    });
    let mut bind = Bindings::new(&m);
    bind.set_words(r, &[9; 3]);
    Interpreter::new(&m).unwrap().dispatch([3, 1, 1], &mut bind, &LIMITS).unwrap();
    assert_eq!(bind.words(r), [0, 0, 0]);
}

/// Lanes below `at` go one way, the others another; `yes` and `no` end their blocks.
fn parted(
    lanes: u32,
    at: u32,
    yes: impl FnOnce(&mut Builder),
    no: impl FnOnce(&mut Builder),
) -> (Module, Resource) {
    let mut m = module();
    m.workgroup = [lanes, 1, 1];
    let r = buffer(&mut m, "out", OutOfBounds::Fault);
    let index = builtin(&mut m, Builtin::LocalInvocationIndex);
    let mut f = Function::new("main");
    let (b0, b1, b2) = (f.add_block(), f.add_block(), f.add_block());
    let mut b = Builder::new(&mut f, b0);
    let i = b.input(index, Type::I32);
    let n = b.i32(at);
    let c = b.op(Op::IcmpUlt, &[i, n]);
    b.branch(c, (b1, &[]), (b2, &[]));
    b.switch_to(b1);
    yes(&mut b);
    b.switch_to(b2);
    no(&mut b);
    m.entry = Some(m.funcs.push(f)).into();
    (m, r)
}

#[test]
fn barriers_need_everybody() {
    let wait = |b: &mut Builder| {
        barrier(b);
        b.ret(&[]);
    };
    let leave = |b: &mut Builder| b.ret(&[]);
    for width in [2, 8] {
        let (m, r) = parted(8, 3, wait, leave);
        let trap = run(&m, r, 0, width).unwrap_err();
        assert_eq!(trap.cause, Cause::BarrierMissing { ended: 5 });
        assert_eq!(trap.at.block.to_string(), "block1");
        let (m, r) = parted(8, 3, wait, wait);
        let trap = run(&m, r, 0, width).unwrap_err();
        assert!(
            matches!(trap.cause, Cause::BarrierDivergence { block, .. } if block.to_string() == "block2")
        );
        // The same way for all: nobody is missing.
        let (m, r) = parted(8, 8, wait, leave);
        assert_eq!(run(&m, r, 0, width), Ok(vec![]));
    }
}

#[test]
fn barriers_of_subgroups_and_memory_barriers_wait_for_nobody() {
    for (scope, exec) in [(Scope::Subgroup, true), (Scope::Workgroup, false)] {
        let info = BarrierInfo { scope, shared: true, storage: true, image: false, exec };
        let wait = |b: &mut Builder| {
            b.inst(Op::Barrier, Flags::NONE, Imm::Barrier(info), &[], &[]);
            b.ret(&[]);
        };
        let (m, r) = parted(8, 3, wait, |b| b.ret(&[]));
        assert_eq!(run(&m, r, 0, 8), Ok(vec![]));
    }
}

/// `for n in 0..count(lane) { body }`, then `after`, then return. Both get the lane's number.
fn looping(
    lanes: u32,
    count: impl FnOnce(&mut Builder, Value) -> Value,
    body: impl FnOnce(&mut Builder, Resource, Value, Value),
    after: impl FnOnce(&mut Builder, Resource, Value),
) -> (Module, Resource) {
    let mut m = module();
    m.workgroup = [lanes, 1, 1];
    let r = buffer(&mut m, "out", OutOfBounds::Fault);
    let index = builtin(&mut m, Builtin::LocalInvocationIndex);
    let mut f = Function::new("main");
    // The exit comes before the loop in the function: order must not depend on numbers.
    let (b0, exit, head, inside) = (f.add_block(), f.add_block(), f.add_block(), f.add_block());
    let n = f.add_param(head, Type::I32);
    let mut b = Builder::new(&mut f, b0);
    let i = b.input(index, Type::I32);
    let end = count(&mut b, i);
    let zero = b.i32(0);
    b.jump(head, &[zero]);
    b.switch_to(head);
    let more = b.op(Op::IcmpUlt, &[n, end]);
    b.branch(more, (inside, &[]), (exit, &[]));
    b.switch_to(inside);
    body(&mut b, r, i, n);
    let one = b.i32(1);
    let next = b.op(Op::Iadd, &[n, one]);
    b.jump(head, &[next]);
    b.switch_to(exit);
    after(&mut b, r, i);
    b.ret(&[]);
    m.entry = Some(m.funcs.push(f)).into();
    (m, r)
}

#[test]
fn barriers_in_loops_need_equal_iterations() {
    let body = |b: &mut Builder, _: Resource, _: Value, _: Value| barrier(b);
    let (m, r) = looping(6, |b, _| b.i32(3), body, |_, _, _| {});
    assert_eq!(run(&m, r, 0, 4), Ok(vec![]));
    let (m, r) = looping(6, |_, i| i, body, |_, _, _| {});
    let trap = run(&m, r, 0, 4).unwrap_err();
    assert!(matches!(trap.cause, Cause::BarrierMissing { .. }), "{trap}");
    // Nobody ends, but some have left the loop for the barrier behind it.
    let (m, r) = looping(6, |_, i| i, body, |b, _, _| barrier(b));
    let trap = run(&m, r, 0, 4).unwrap_err();
    assert!(matches!(trap.cause, Cause::BarrierDivergence { .. }), "{trap}");
}

#[test]
fn lanes_that_leave_a_loop_wait_behind_it() {
    let (m, r) = looping(
        4,
        |_, i| i,
        |b, r, i, n| {
            let (four, base) = (b.i32(4), b.i32(4));
            let row = b.op(Op::Imul, &[i, four]);
            let at = b.op(Op::Iadd3, &[base, row, n]);
            let mask = here(b);
            put(b, r, at, mask);
        },
        |b, r, i| {
            let mask = here(b);
            put(b, r, i, mask);
        },
    );
    let words = run(&m, r, 20, 4).unwrap();
    assert_eq!(words[..4], [0b1111; 4]);
    // Lane i is in iterations 0 to i-1, each time with the lanes above and itself.
    for (lane, row) in words[4..].chunks(4).enumerate() {
        let want: Vec<u32> =
            [0b1110, 0b1100, 0b1000, 0][..lane].iter().copied().chain([0; 4]).take(4).collect();
        assert_eq!(row, want, "lane {lane}");
    }
}

#[test]
fn arms_meet_again_and_partial_subgroups_count_who_exists() {
    let mut m = module();
    m.workgroup = [6, 1, 1];
    let r = buffer(&mut m, "out", OutOfBounds::Fault);
    let index = builtin(&mut m, Builtin::LocalInvocationIndex);
    let mut f = Function::new("main");
    let (b0, join, yes, no) = (f.add_block(), f.add_block(), f.add_block(), f.add_block());
    let x = f.add_param(join, Type::I32);
    let mut b = Builder::new(&mut f, b0);
    let i = b.input(index, Type::I32);
    let one = b.i32(1);
    let odd = b.op(Op::And, &[i, one]);
    let c = b.op(Op::IcmpEq, &[odd, one]);
    b.branch(c, (yes, &[]), (no, &[]));
    for arm in [yes, no] {
        b.switch_to(arm);
        let mask = here(&mut b);
        b.jump(join, &[mask]);
    }
    b.switch_to(join);
    let all = here(&mut b);
    let byte = b.i32(8);
    let high = b.op(Op::Shl, &[all, byte]);
    let both = b.op(Op::Or, &[high, x]);
    put(&mut b, r, i, both);
    b.ret(&[]);
    m.entry = Some(m.funcs.push(f)).into();
    let want = vec![0xf05, 0xf0a, 0xf05, 0xf0a, 0x301, 0x302];
    assert_eq!(run(&m, r, 6, 4), Ok(want));
}

#[test]
fn callees_that_return_at_different_places_meet_behind_the_call() {
    let mut m = module();
    m.workgroup = [4, 1, 1];
    let r = buffer(&mut m, "out", OutOfBounds::Fault);
    let index = builtin(&mut m, Builtin::LocalInvocationIndex);
    let mut f = Function::new("callee");
    f.returns = vec![Type::I32];
    let (b0, b1, b2) = (f.add_block(), f.add_block(), f.add_block());
    let i = f.add_param(b0, Type::I32);
    let mut b = Builder::new(&mut f, b0);
    let two = b.i32(2);
    let c = b.op(Op::IcmpUlt, &[i, two]);
    b.branch(c, (b1, &[]), (b2, &[]));
    for arm in [b1, b2] {
        b.switch_to(arm);
        let mask = here(&mut b);
        b.ret(&[mask]);
    }
    let callee = m.funcs.push(f);
    entry(&mut m, &[], |b| {
        let i = b.input(index, Type::I32);
        let call = b.call(callee, &[i], &[Type::I32]);
        let x = b.func.results(call)[0];
        let all = here(b);
        let byte = b.i32(8);
        let high = b.op(Op::Shl, &[all, byte]);
        let both = b.op(Op::Or, &[high, x]);
        put(b, r, i, both);
        b.ret(&[]);
    });
    assert_eq!(run(&m, r, 4, 4), Ok(vec![0xf03, 0xf03, 0xf0c, 0xf0c]));
}

#[test]
fn votes_and_broadcasts() {
    let cases: [(Op, [u32; 6]); 6] = [
        (Op::SgId, [0, 1, 2, 3, 0, 1]),
        (Op::SgSize, [4; 6]),
        (Op::SgElect, [1, 0, 0, 0, 1, 0]),
        (Op::SgAll, [0, 0, 0, 0, 1, 1]),
        (Op::SgAny, [1; 6]),
        (Op::SgReadFirst, [0, 0, 0, 0, 4, 4]),
    ];
    for (op, want) in cases {
        let (m, r) = kernel(6, |b, i| {
            let two = b.i32(2);
            let c = b.op(Op::IcmpUlt, &[two, i]); // lanes 3, 4 and 5
            match op {
                Op::SgId | Op::SgSize => subgroup(b, op, HOST, &[], Type::I32),
                Op::SgElect => {
                    let e = subgroup(b, op, HOST, &[], Type::BOOL);
                    b.convert(Op::Zext, Flags::NONE, e, Type::I32)
                }
                Op::SgReadFirst => subgroup(b, op, HOST, &[i], Type::I32),
                _ => {
                    let v = subgroup(b, op, HOST, &[c], Type::BOOL);
                    b.convert(Op::Zext, Flags::NONE, v, Type::I32)
                }
            }
        });
        assert_eq!(run(&m, r, 6, 4), Ok(want.to_vec()), "{op:?}");
    }
}

#[test]
fn shuffles_give_the_own_value_where_no_lane_answers() {
    // Subgroups of four; lane 1 of each does not take part, the last has only two lanes.
    let cases: [(Op, u32, [u32; 6]); 6] = [
        (Op::SgShuffle, 2, [2, 9, 2, 2, 4, 9]),
        (Op::SgShuffle, 1, [0, 9, 2, 3, 4, 9]),
        (Op::SgShuffleXor, 2, [2, 9, 0, 3, 4, 9]),
        (Op::SgShuffleUp, 2, [0, 9, 0, 3, 4, 9]),
        (Op::SgShuffleUp, u32::MAX, [0, 9, 3, 3, 4, 9]),
        (Op::SgShuffleDown, 1, [0, 9, 3, 3, 4, 9]),
    ];
    for (op, second, want) in cases {
        let mut m = module();
        m.workgroup = [6, 1, 1];
        let r = buffer(&mut m, "out", OutOfBounds::Fault);
        let index = builtin(&mut m, Builtin::LocalInvocationIndex);
        let mut f = Function::new("main");
        let (b0, b1, b2) = (f.add_block(), f.add_block(), f.add_block());
        let mut b = Builder::new(&mut f, b0);
        let i = b.input(index, Type::I32);
        let (three, one, nine) = (b.i32(3), b.i32(1), b.i32(9));
        put(&mut b, r, i, nine);
        let lane = b.op(Op::And, &[i, three]);
        let out = b.op(Op::IcmpEq, &[lane, one]);
        b.branch(out, (b2, &[]), (b1, &[]));
        b.switch_to(b1);
        let second = b.i32(second);
        let v = subgroup(&mut b, op, HOST, &[i, second], Type::I32);
        put(&mut b, r, i, v);
        b.jump(b2, &[]);
        b.switch_to(b2);
        b.ret(&[]);
        m.entry = m.funcs.push(f).into();
        xenoglot_ir::verify(&m).unwrap();
        assert_eq!(run(&m, r, 6, 4), Ok(want.to_vec()), "{op:?}");
    }
}

#[test]
fn reductions_and_scans() {
    // Lanes hold 3, -2, 5; two more lanes have left.
    let cases: [(Reduce, i32, [i32; 3], [i32; 3]); 9] = [
        (Reduce::Iadd, 6, [3, 1, 6], [0, 3, 1]),
        (Reduce::Imul, -30, [3, -6, -30], [1, 3, -6]),
        (Reduce::Imin, -2, [3, -2, -2], [i32::MAX, 3, -2]),
        (Reduce::Imax, 5, [3, 3, 5], [i32::MIN, 3, 3]),
        (Reduce::Umin, 3, [3, 3, 3], [-1, 3, 3]),
        (Reduce::Umax, -2, [3, -2, -2], [0, 3, -2]),
        (Reduce::And, 0, [3, 2, 0], [-1, 3, 2]),
        (Reduce::Or, -1, [3, -1, -1], [0, 3, -1]),
        (Reduce::Xor, 3 ^ -2 ^ 5, [3, 3 ^ -2, 3 ^ -2 ^ 5], [0, 3, 3 ^ -2]),
    ];
    for (reduce, sum, inclusive, exclusive) in cases {
        let results =
            [(Op::SgReduce, false, [sum; 3]), (Op::SgScan, false, inclusive), (Op::SgScan, true, exclusive)];
        for (op, exclusive, want) in results {
            let (m, r) = reducing(Type::I32, [3, -2, 5].map(|x: i32| x as u32), op, reduce, exclusive);
            let want = want.map(|x| x as u32).to_vec();
            assert_eq!(run(&m, r, 3, 8), Ok(want), "{op:?} {reduce:?} {exclusive}");
        }
    }
    let inf = f32::INFINITY;
    let cases: [(Reduce, f32, [f32; 3], [f32; 3]); 4] = [
        (Reduce::Fadd, 2.5, [1.5, -0.5, 2.5], [0.0, 1.5, -0.5]),
        (Reduce::Fmul, -9.0, [1.5, -3.0, -9.0], [1.0, 1.5, -3.0]),
        (Reduce::Fmin, -2.0, [1.5, -2.0, -2.0], [inf, 1.5, -2.0]),
        (Reduce::Fmax, 3.0, [1.5, 1.5, 3.0], [-inf, 1.5, 1.5]),
    ];
    for (reduce, sum, inclusive, exclusive) in cases {
        let results =
            [(Op::SgReduce, false, [sum; 3]), (Op::SgScan, false, inclusive), (Op::SgScan, true, exclusive)];
        for (op, exclusive, want) in results {
            let (m, r) = reducing(Type::F32, [1.5, -2.0, 3.0].map(f32::to_bits), op, reduce, exclusive);
            let want = want.map(f32::to_bits).to_vec();
            assert_eq!(run(&m, r, 3, 8), Ok(want), "{op:?} {reduce:?} {exclusive}");
        }
    }
    let (m, r) = reducing(Type::F32, [0; 3], Op::SgReduce, Reduce::Iadd, false);
    assert_eq!(run(&m, r, 3, 8).unwrap_err().cause, Cause::Unsupported { op: Op::SgReduce });
}

/// Lanes 1, 2 and 4 of five combine `values`.
fn reducing(ty: Type, values: [u32; 3], op: Op, reduce: Reduce, exclusive: bool) -> (Module, Resource) {
    let mut m = module();
    m.workgroup = [5, 1, 1];
    let r = buffer(&mut m, "out", OutOfBounds::Fault);
    let index = builtin(&mut m, Builtin::LocalInvocationIndex);
    let mut f = Function::new("main");
    let (b0, b1, b2) = (f.add_block(), f.add_block(), f.add_block());
    let (place, x) = (f.add_param(b1, Type::I32), f.add_param(b1, ty));
    let mut b = Builder::new(&mut f, b0);
    let i = b.input(index, Type::I32);
    let ways: Vec<[Value; 2]> = (0..3)
        .map(|n| [b.i32(n), b.constant(ty, xenoglot_ir::Bits::scalar(values[n as usize].into()))])
        .collect();
    b.switch(i, &[(1, b1, &ways[0]), (2, b1, &ways[1]), (4, b1, &ways[2])], (b2, &[]));
    b.switch_to(b1);
    let v = subgroup(&mut b, op, SubgroupInfo { width: 0, reduce, exclusive }, &[x], ty);
    put(&mut b, r, place, v);
    b.ret(&[]);
    b.switch_to(b2);
    b.ret(&[]);
    m.entry = Some(m.funcs.push(f)).into();
    (m, r)
}

#[test]
fn guests_of_another_width_are_refused() {
    for (guest, ok) in [(0, true), (8, true), (32, false)] {
        let (m, r) =
            kernel(4, |b, _| subgroup(b, Op::SgId, SubgroupInfo { width: guest, ..HOST }, &[], Type::I32));
        match run(&m, r, 4, 8) {
            Ok(words) => assert!(ok && words == [0, 1, 2, 3]),
            Err(trap) => {
                assert_eq!((ok, trap.cause), (false, Cause::SubgroupWidth { guest: 32, host: 8 }));
            }
        }
    }
}

#[test]
fn a_lone_invocation_is_its_own_subgroup_and_workgroup() {
    let mut m = module();
    entry(&mut m, &[Type::I32], |b| {
        barrier(b);
        let mask = here(b);
        b.ret(&[mask]);
    });
    let out = Interpreter::new(&m).unwrap().run_entry(&mut Bindings::new(&m), &LIMITS).unwrap();
    assert_eq!(out.returns[0].0[0], 1);
}

#[test]
fn endless_kernels_and_huge_workgroups_end_typed() {
    let (m, r) = looping(4, |b, _| b.i32(u32::MAX), |b, _, _, _| barrier(b), |_, _, _| {});
    assert_eq!(run(&m, r, 0, 4).unwrap_err().cause, Cause::Fuel);
    for joint in [false, true] {
        let mut m = module();
        m.workgroup = [u32::MAX; 3];
        entry(&mut m, &[], |b| {
            if joint {
                barrier(b);
            }
            b.ret(&[]);
        });
        let trap =
            Interpreter::new(&m).unwrap().dispatch([1; 3], &mut Bindings::new(&m), &LIMITS).unwrap_err();
        let want = if joint { Cause::Memory { limit: LIMITS.memory } } else { Cause::Fuel };
        assert_eq!(trap.cause, want);
        m.workgroup = [0; 3];
        let trap = Interpreter::new(&m)
            .unwrap()
            .dispatch([u32::MAX; 3], &mut Bindings::new(&m), &LIMITS)
            .unwrap_err();
        assert_eq!(trap.cause, Cause::Fuel);
    }
}

#[test]
fn killed_invocations_are_no_longer_active() {
    let mut m = module();
    m.workgroup = [4, 1, 1];
    let r = buffer(&mut m, "out", OutOfBounds::Fault);
    let index = builtin(&mut m, Builtin::LocalInvocationIndex);
    let mut f = Function::new("main");
    let (b0, b1, b2) = (f.add_block(), f.add_block(), f.add_block());
    let mut b = Builder::new(&mut f, b0);
    let i = b.input(index, Type::I32);
    let two = b.i32(2);
    let c = b.op(Op::IcmpEq, &[i, two]);
    b.branch(c, (b1, &[]), (b2, &[]));
    b.func.set_term(b1, TermKind::Kill, &[], Default::default(), Vec::new(), 0);
    b.switch_to(b2);
    let mask = here(&mut b);
    put(&mut b, r, i, mask);
    b.ret(&[]);
    m.entry = Some(m.funcs.push(f)).into();
    assert_eq!(run(&m, r, 4, 4), Ok(vec![0b1011, 0b1011, 0, 0b1011]));
}

#[test]
fn the_trace_names_who_went_together() {
    let (m, r) = parted(4, 1, |b| b.ret(&[]), |b| b.ret(&[]));
    let mut with_ballot = m.clone();
    let func = with_ballot.entry.expand().unwrap();
    let start = with_ballot.funcs[func].entry().unwrap();
    let block = with_ballot.funcs[func].edges(start)[1].block;
    here(&mut Builder::new(&mut with_ballot.funcs[func], block));
    let _ = r;
    let mut interp = Interpreter::new(&with_ballot).unwrap();
    interp.set_subgroup_width(2);
    let out = interp.dispatch([1; 3], &mut Bindings::new(&with_ballot), &LIMITS).unwrap();
    let got: Vec<(u32, u32, u64)> =
        out.trace.iter().map(|v| (v.subgroup, v.block.as_u32(), v.lanes)).collect();
    // Lane 0 goes to block 1, lanes 1 to 3 to block 2; subgroups of two.
    let mut first: Vec<_> = got.iter().filter(|v| v.0 == 0).map(|v| (v.1, v.2)).collect();
    first.sort_unstable();
    assert_eq!(first, [(0, 0b11), (1, 0b01), (2, 0b10)]);
    assert_eq!(got[3..], [(1, 0, 0b11), (1, 2, 0b11)]);
}
