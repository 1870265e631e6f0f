//! Division of 64-bit integers in 32-bit ones, bit by bit as on paper.

use xenoglot_ir::{Builder, Function, Op, Type, Value};

/// A function of dividend and divisor, the low half of each first, that returns quotient and remainder.
pub(super) fn function() -> Function {
    let mut f = Function::new("udiv_urem_i64");
    f.returns = vec![Type::I32; 4];
    let entry = f.add_block();
    let [xl, xh, yl, yh] = [0; 4].map(|_| f.add_param(entry, Type::I32));
    let [head, body, done] = [0; 3].map(|_| f.add_block());
    // The step, the dividend whose place the quotient takes bit by bit, and the remainder.
    let [n, ql, qh, rl, rh] = [0; 5].map(|_| f.add_param(head, Type::I32));
    let mut b = Builder::new(&mut f, entry);
    let zero = b.i32(0);
    b.jump(head, &[zero, xl, xh, zero, zero]);

    b.switch_to(head);
    let count = b.i32(64);
    let goes_on = b.op(Op::IcmpUlt, &[n, count]);
    b.branch(goes_on, (body, &[]), (done, &[]));

    b.switch_to(body);
    let (one, last) = (b.i32(1), b.i32(31));
    let shifted = |b: &mut Builder, high: Value, low: Value| {
        let up = b.op(Op::Shl, &[high, one]);
        let carried = b.op(Op::Ushr, &[low, last]);
        b.op(Op::Or, &[up, carried])
    };
    let next_rh = shifted(&mut b, rh, rl);
    let next_rl = shifted(&mut b, rl, qh);
    let next_qh = shifted(&mut b, qh, ql);
    let next_ql = b.op(Op::Shl, &[ql, one]);
    // The remainder is below the divisor, so that a bit shifted out of it means that the divisor fits.
    let overflow = b.op(Op::Ushr, &[rh, last]);
    let zero = b.i32(0);
    let overflows = b.op(Op::IcmpNe, &[overflow, zero]);
    let above = b.op(Op::IcmpUlt, &[yh, next_rh]);
    let equal = b.op(Op::IcmpEq, &[yh, next_rh]);
    let low_fits = b.op(Op::IcmpUle, &[yl, next_rl]);
    let by_low = b.op(Op::And, &[equal, low_fits]);
    let fits = b.op(Op::Or, &[above, by_low]);
    let fits = b.op(Op::Or, &[fits, overflows]);
    let less_l = b.op(Op::Isub, &[next_rl, yl]);
    let borrows = b.op(Op::IcmpUlt, &[next_rl, yl]);
    let less_h = b.op(Op::Isub, &[next_rh, yh]);
    let borrow = b.select(borrows, one, zero);
    let less_h = b.op(Op::Isub, &[less_h, borrow]);
    let next_rl = b.select(fits, less_l, next_rl);
    let next_rh = b.select(fits, less_h, next_rh);
    let bit = b.select(fits, one, zero);
    let next_ql = b.op(Op::Or, &[next_ql, bit]);
    let next = b.op(Op::Iadd, &[n, one]);
    b.jump(head, &[next, next_ql, next_qh, next_rl, next_rh]);

    b.switch_to(done);
    b.ret(&[ql, qh, rl, rh]);
    f
}
