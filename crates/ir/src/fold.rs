//! The meaning of ops as functions on bits: what the interpreter runs, the constant folder folds with and the
//! back ends are compared with.
//!
//! Arithmetic that makes a NaN makes the canonical one ([`float::NAN32`]); hosts may give another payload, so
//! comparisons of results treat all NaNs as equal. Moves, selects, negation and bitcasts keep payloads.

use crate::flags::Flags;
use crate::imm::Imm;
use crate::op::Op;
use crate::ty::{Bits, Kind, Type};
use thiserror::Error;

pub mod convert;
mod exact;
pub mod float;
pub mod int;
pub mod vector;

/// Why an op has no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Fault {
    /// The op, or the op with these flags and types, has no fold function.
    #[error("not supported by the reference evaluation")]
    Unsupported,
    /// An integer division by zero with the `trap` flag.
    #[error("integer division by zero")]
    DivisionByZero,
}

/// What a fold function may look at besides operands.
#[derive(Clone, Copy, Debug)]
pub struct Cx {
    /// Result type.
    pub result: Type,
    /// Type of the first operand (the result's where there is none).
    pub arg: Type,
    /// Flags of the instruction.
    pub flags: Flags,
    /// Immediate of the instruction.
    pub imm: Imm,
}

/// A fold function.
#[derive(Clone, Copy)]
pub enum Fold {
    /// The op has none.
    None,
    /// Called for each lane.
    Lane(fn(&Cx, &[u64]) -> Result<u64, Fault>),
    /// Called once with whole vectors.
    Whole(fn(&Cx, &[Bits]) -> Result<Bits, Fault>),
}

/// Most operands a foldable op has.
pub const MAX_FOLD_ARGS: usize = 4;

/// Evaluates `op` on `args`. One-lane operands of a lane-wise op with a wider result (the condition of `select`)
/// serve every lane.
pub fn eval(op: Op, cx: &Cx, args: &[Bits], types: &[Type]) -> Result<Bits, Fault> {
    match op.info().fold {
        Fold::None => Err(Fault::Unsupported),
        Fold::Whole(f) => f(cx, args),
        Fold::Lane(f) => {
            let mut out = Bits::default();
            let mut lane = [0u64; MAX_FOLD_ARGS];
            let n = args.len();
            if n > MAX_FOLD_ARGS || types.len() != n {
                return Err(Fault::Unsupported);
            }
            for i in 0..usize::from(cx.result.lanes()) {
                for ((to, a), ty) in lane.iter_mut().zip(args).zip(types) {
                    *to = a.lane(if ty.is_scalar() { 0 } else { i });
                }
                out.0[i] = f(cx, &lane[..n])?;
            }
            Ok(out)
        }
    }
}

/// `bits` of an integer of `kind` with its sign extended to 64 bits.
pub fn sign_extend(kind: Kind, bits: u64) -> i64 {
    let shift = 64 - kind.bits();
    ((bits << shift) as i64) >> shift
}
