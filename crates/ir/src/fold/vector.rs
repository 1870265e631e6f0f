//! Ops that move lanes about, and `select`.

use super::{Cx, Fault};
use crate::imm::Imm;
use crate::ty::Bits;

type Whole = Result<Bits, Fault>;

/// One lane to all.
pub fn splat(cx: &Cx, args: &[Bits]) -> Whole {
    let [a] = args else { return Err(Fault::Unsupported) };
    Ok(Bits::splat(cx.result, a.lane(0)))
}

/// Operands become lanes.
pub fn build(_cx: &Cx, args: &[Bits]) -> Whole {
    if args.len() > 4 {
        return Err(Fault::Unsupported);
    }
    let mut out = Bits::default();
    for (to, a) in out.0.iter_mut().zip(args) {
        *to = a.lane(0);
    }
    Ok(out)
}

/// One lane.
pub fn extract(cx: &Cx, args: &[Bits]) -> Whole {
    match (args, cx.imm) {
        ([a], Imm::Lane(lane)) => Ok(Bits::scalar(a.lane(usize::from(lane)))),
        _ => Err(Fault::Unsupported),
    }
}

/// One lane replaced.
pub fn insert(cx: &Cx, args: &[Bits]) -> Whole {
    let ([a, b], Imm::Lane(lane)) = (args, cx.imm) else { return Err(Fault::Unsupported) };
    let mut out = *a;
    *out.0.get_mut(usize::from(lane)).ok_or(Fault::Unsupported)? = b.lane(0);
    Ok(out)
}

/// Lanes of two vectors.
pub fn shuffle(cx: &Cx, args: &[Bits]) -> Whole {
    let ([a, b], Imm::Lanes(lanes)) = (args, cx.imm) else { return Err(Fault::Unsupported) };
    let mut out = Bits::default();
    for (to, &from) in out.0.iter_mut().zip(lanes.as_slice()) {
        *to = if from < 4 { a.lane(usize::from(from)) } else { b.lane(usize::from(from - 4)) };
    }
    Ok(out)
}

/// The second operand if the first is true, else the third.
pub fn select(_cx: &Cx, args: &[u64]) -> Result<u64, Fault> {
    match args {
        &[c, a, b] => Ok(if c != 0 { a } else { b }),
        _ => Err(Fault::Unsupported),
    }
}
