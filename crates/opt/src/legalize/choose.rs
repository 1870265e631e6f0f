//! What becomes of an op.

use super::*;

/// Which ops the pass has to look at.
pub(super) static INTEREST: [u8; xenoglot_ir::op::OPS.len()] = {
    let mut table = [0; xenoglot_ir::op::OPS.len()];
    let mut i = 0;
    while i < table.len() {
        table[i] = match xenoglot_ir::op::OPS[i].op {
            Op::Fadd | Op::Fsub | Op::Fmul | Op::Fdiv | Op::Fma | Op::Floor | Op::Ceil | Op::Trunc => {
                ANY | FLAGGED
            }
            Op::RoundEven | Op::Fract | Op::Sqrt | Op::Rsqrt | Op::Rcp | Op::Exp2 | Op::Log2 => ANY | FLAGGED,
            Op::Sin | Op::Cos | Op::F2f | Op::F2s | Op::F2u | Op::S2f | Op::U2f => ANY | FLAGGED,
            Op::FcmpOeq | Op::FcmpOlt | Op::FcmpOle | Op::FcmpUne => ANY | FLAGGED,
            Op::FcmpOne | Op::FcmpUeq | Op::FcmpUlt | Op::FcmpUle | Op::FcmpOrd | Op::FcmpUno => ANY,
            Op::Fmin | Op::Fmax | Op::Fsat | Op::Fdot2 | Op::Fdot3 | Op::Fdot4 | Op::Fldexp => ANY,
            Op::FfrexpExp | Op::FfrexpMant | Op::Fquantize => ANY,
            Op::Iadd3 | Op::IaddCarry | Op::IaddCarryOut | Op::IaddOverflowOut | Op::IsubBorrow => ANY,
            Op::IsubBorrowOut | Op::IsubOverflowOut | Op::Umulh | Op::Imulh | Op::Iabs => ANY,
            Op::Udiv | Op::Sdiv | Op::Urem | Op::Srem => ANY,
            Op::Rotl | Op::FunnelL | Op::FunnelR | Op::BitfieldU | Op::BitfieldS | Op::BitfieldInsert => ANY,
            Op::Popcount | Op::Clz | Op::Ctz | Op::FindMsbS | Op::Reverse | Op::Byteswap => ANY,
            Op::PermuteBytes | Op::Lop3 | Op::Sdot4 | Op::Udot4 | Op::SUdot4 => ANY,
            _ => 0,
        };
        i += 1;
    }
    table
};

/// What is done about an op, once its operands are flushed and apart from what is done to its result.
pub(super) fn how(c: &Code, shape: &Shape, args: &[Value], relaxed: bool) -> How {
    let Options { rules, compares, high_products, bit_counts, byte_dots, .. } = c.options;
    let if_lacking = |lacks: bool, how: How| if lacks { how } else { How::Keep };
    let is_word = shape.of.kind() == Kind::I32;
    let constant = |i: usize| args.get(i).is_some_and(|&v| c.uniform(v).is_some());
    // A function for what depends on operands alone; in place what constants make short.
    let short = |is_short: bool| if is_short { How::Here } else { How::Call };
    match shape.op {
        Op::Fmul | Op::Fma => if_lacking(rules && (shape.flags.zero_wins() || shape.flags.fmz()), How::Call),
        Op::Fmin | Op::Fmax => {
            let is_short = matches!(shape.flags.nan(), NanMode::Second | NanMode::First);
            if_lacking(rules && !relaxed, short(is_short))
        }
        Op::Fsat => if_lacking(rules && !relaxed, How::Call),
        Op::Fdot2 | Op::Fdot3 | Op::Fdot4 => if_lacking(rules && !relaxed, How::Call),
        Op::FcmpOne | Op::FcmpUeq | Op::FcmpUlt | Op::FcmpUle => if_lacking(compares, How::Here),
        Op::FcmpOrd | Op::FcmpUno => if_lacking(rules || compares, How::Here),
        Op::Fldexp | Op::FfrexpExp | Op::FfrexpMant => {
            if_lacking(rules && shape.of.kind() != Kind::F64, How::Call)
        }
        Op::Fquantize => if_lacking(rules, How::Call),
        Op::F2s | Op::F2u => {
            let is_narrow = shape.of.kind() == Kind::F16 || shape.ty.kind().bits() < 32;
            let rounds = !matches!(shape.flags.round(), Round::Natural | Round::Zero);
            match shape.flags.clamp() {
                true => if_lacking(rules, How::Call),
                false => if_lacking(rules && (rounds || is_narrow), How::Here),
            }
        }
        Op::Iadd3 | Op::IaddCarry | Op::IsubBorrow | Op::Iabs => if_lacking(rules, How::Here),
        Op::IaddCarryOut | Op::IaddOverflowOut | Op::IsubBorrowOut | Op::IsubOverflowOut => {
            if_lacking(rules, How::Call)
        }
        Op::Umulh | Op::Imulh => if_lacking(high_products || rules && !is_word, How::Call),
        Op::Udiv | Op::Sdiv | Op::Urem | Op::Srem => match shape.flags.div_zero() {
            DivZero::Never if shape.op != Op::Srem => How::Keep,
            DivZero::Trap if !args.get(1).is_some_and(|&y| int::is_harmless(c, shape.op, y)) => How::Keep,
            _ => {
                let is_short = args.get(1).is_some_and(|&y| int::is_harmless(c, shape.op, y));
                if_lacking(rules, short(is_short))
            }
        },
        Op::Rotl => if_lacking(rules, short(constant(1))),
        Op::FunnelL | Op::FunnelR => if_lacking(rules, short(constant(2))),
        Op::BitfieldU | Op::BitfieldS | Op::BitfieldInsert => {
            let n = args.len();
            let host = bits::is_host_field(c, shape.op, args) && !bit_counts;
            if_lacking(rules && !host, short(constant(n - 2) && constant(n - 1)))
        }
        Op::Popcount | Op::Clz | Op::Reverse => if_lacking(bit_counts || rules && !is_word, How::Call),
        Op::Ctz | Op::FindMsbS => if_lacking(rules, short(is_word && !bit_counts)),
        Op::Byteswap | Op::PermuteBytes => if_lacking(rules, How::Call),
        Op::Sdot4 | Op::Udot4 | Op::SUdot4 => {
            if_lacking(byte_dots || rules && !shape.of.is_scalar(), How::Call)
        }
        Op::Lop3 => if_lacking(rules, short(constant(3))),
        _ => How::Keep,
    }
}

/// Appends what an op becomes; `None` if it has no meaning for these types.
pub(super) fn expand(c: &mut Code, shape: &Shape, args: &[Value]) -> Option<Value> {
    Some(match (shape.op, args) {
        (FLUSH, &[x]) => float::flush(c, x),
        (Op::Fsat, &[x]) => float::saturate(c, x, shape.flags.ftz()),
        (Op::Fmul | Op::Fma, _) => float::with_zero_rules(c, shape, args)?,
        (Op::Fmin | Op::Fmax, _) => float::pick(c, shape, args)?,
        (Op::Fdot2 | Op::Fdot3 | Op::Fdot4, _) => float::dot(c, shape, args)?,
        (Op::Fldexp, &[x, n]) => float::scale(c, x, n)?,
        (Op::FfrexpExp | Op::FfrexpMant, &[x]) => float::split(c, shape, x)?,
        (Op::Fquantize, &[x]) => float::quantize(c, float::format(shape.imm)?, x)?,
        (Op::F2s | Op::F2u, &[x]) => convert::to_integer(c, shape, x)?,
        (Op::Iadd3, &[x, y, z]) => int::add3(c, [x, y, z]),
        (Op::Iabs, &[x]) => int::abs(c, x),
        (
            Op::IaddCarry
            | Op::IaddCarryOut
            | Op::IaddOverflowOut
            | Op::IsubBorrow
            | Op::IsubBorrowOut
            | Op::IsubOverflowOut,
            &[x, y, carry],
        ) => int::carry(c, shape.op, [x, y, carry])?,
        (Op::Umulh | Op::Imulh, &[x, y]) => int::high_product(c, shape.op, x, y),
        (Op::Udiv | Op::Sdiv | Op::Urem | Op::Srem, &[x, y]) => int::divide(c, shape, x, y)?,
        (Op::Rotl, &[x, n]) => bits::funnel(c, true, x, x, n),
        (Op::FunnelL | Op::FunnelR, &[x, y, n]) => bits::funnel(c, shape.op == Op::FunnelL, x, y, n),
        (Op::BitfieldU | Op::BitfieldS, &[x, offset, count]) => bits::field(c, shape.op, x, offset, count),
        (Op::BitfieldInsert, &[x, y, offset, count]) => bits::insert_field(c, x, y, offset, count),
        (Op::PermuteBytes, &[x, y, selector]) if c.ty(x).kind() == Kind::I32 => {
            bits::permute_bytes(c, x, y, selector)
        }
        (Op::Sdot4 | Op::Udot4 | Op::SUdot4, &[x, y]) if c.ty(x).kind() == Kind::I32 => {
            bits::byte_dot(c, [x, y], shape.op)
        }
        (Op::Lop3, &[x, y, z, table]) => bits::lop3(c, [x, y, z, table]),
        (op, &[x]) => bits::count(c, op, x)?,
        (op, _) => float::compare(c, op, args)?,
    })
}
