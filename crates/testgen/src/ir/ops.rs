//! Which ops programs are made of, by family, and what each may not be applied to.

use super::Options;
use xenoglot_ir::op::{OPS, Sig};
use xenoglot_ir::{Kind, Op};

/// What a family's ops work on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Uses {
    Floats,
    Other,
}

macro_rules! families {
    ($($(#[$doc:meta])* $name:ident $uses:ident,)+) => {
        /// A group of ops, or of other things a program may contain, that is allowed or not.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Family { $($(#[$doc])* $name,)+ }

        impl Family {
            /// Every family.
            pub const ALL: &[Family] = &[$(Family::$name),+];
        }

        /// By family: what it works on.
        pub(super) const CLASSES: &[(Family, Uses)] = &[$((Family::$name, Uses::$uses)),+];
    };
}

families! {
    /// Sums, products, least and greatest.
    Integer Other,
    /// High halves of products.
    HighProduct Other,
    /// Quotients and remainders.
    Division Other,
    /// Carries and borrows, in and out.
    Carry Other,
    /// And, or, exclusive or, complement.
    Logic Other,
    /// Shifts and rotations.
    Shift Other,
    /// Fields, counts, permutations of bits.
    Bits Other,
    /// Integer comparisons.
    IntCompare Other,
    /// Sums and products of floats.
    Float Floats,
    /// `fma`.
    Fma Floats,
    /// Sign, least, greatest, saturation.
    FloatPick Floats,
    /// Rounding to integers.
    FloatRound Floats,
    /// Dot products.
    Dot Floats,
    /// Taking floats apart and putting them together.
    Exponent Floats,
    /// Rounding to a narrower format.
    Quantize Floats,
    /// Float comparisons.
    FloatCompare Floats,
    /// Conversions between integers.
    IntConvert Other,
    /// Conversions from and to floats.
    FloatConvert Floats,
    /// Reinterpreted bits.
    Bitcast Other,
    /// Vectors: their types, taking apart, putting together.
    Vector Other,
    /// `select` and `freeze`.
    Select Other,
    /// Slots.
    Slots Other,
    /// Loads and stores in the middle of the program.
    Memory Other,
    /// Calls of helper functions.
    Calls Other,
    /// Switches and blocks with more than two successors.
    Switches Other,
}

/// The family of a pure op that programs may contain.
pub fn family(op: Op) -> Option<Family> {
    use Op::*;
    Some(match op {
        Iadd | Isub | Iadd3 | Imul | Ineg | Iabs | Imin | Imax | Umin | Umax => Family::Integer,
        Umulh | Imulh => Family::HighProduct,
        Udiv | Sdiv | Urem | Srem => Family::Division,
        IaddCarry | IaddCarryOut | IaddOverflowOut | IsubBorrow | IsubBorrowOut | IsubOverflowOut => {
            Family::Carry
        }
        And | Or | Xor | Not => Family::Logic,
        Shl | Ushr | Sshr | Rotl | FunnelL | FunnelR => Family::Shift,
        BitfieldU | BitfieldS | BitfieldInsert | Popcount | Clz | Ctz | FindMsbS | Reverse | Byteswap
        | PermuteBytes | Sdot4 | Udot4 | SUdot4 | Lop3 => Family::Bits,
        IcmpEq | IcmpNe | IcmpUlt | IcmpUle | IcmpSlt | IcmpSle => Family::IntCompare,
        Fadd | Fsub | Fmul => Family::Float,
        Fma => Family::Fma,
        Fneg | Fabs | Fmin | Fmax | Fsat => Family::FloatPick,
        Floor | Ceil | Trunc | RoundEven | Fract => Family::FloatRound,
        Fdot2 | Fdot3 | Fdot4 => Family::Dot,
        Fldexp | FfrexpExp | FfrexpMant => Family::Exponent,
        Fquantize => Family::Quantize,
        FcmpOeq | FcmpOne | FcmpOlt | FcmpOle | FcmpUeq | FcmpUne | FcmpUlt | FcmpUle | FcmpOrd | FcmpUno => {
            Family::FloatCompare
        }
        TruncInt | Zext | Sext => Family::IntConvert,
        F2f | F2s | F2u | S2f | U2f => Family::FloatConvert,
        Bitcast => Family::Bitcast,
        Splat | Build | Extract | Insert | Shuffle => Family::Vector,
        Select | Freeze => Family::Select,
        _ => return None,
    })
}

/// The pure ops that the options allow.
pub(super) fn allowed(options: &Options) -> Vec<Op> {
    let with = |op: &Op| {
        let scalar = matches!(op.info().sig, Sig::Dot(_)) && !options.has(Family::Vector);
        family(*op).is_some_and(|f| options.has(f)) && !options.without.contains(op) && !scalar
    };
    OPS.iter().map(|row| row.op).filter(with).collect()
}

/// Whether the reference evaluation has `op` on this kind of operand.
pub(super) fn takes(op: Op, kind: Kind) -> bool {
    match op {
        Op::PermuteBytes | Op::Sdot4 | Op::Udot4 | Op::SUdot4 => kind == Kind::I32,
        Op::Fma => kind != Kind::F16,
        Op::Fldexp | Op::FfrexpExp | Op::FfrexpMant => kind != Kind::F64,
        _ => true,
    }
}

/// Whether a float result of `op` can be denormal though no operand is.
pub(super) fn shrinks(op: Op) -> bool {
    matches!(
        op,
        Op::Fadd
            | Op::Fsub
            | Op::Fmul
            | Op::Fma
            | Op::Fdot2
            | Op::Fdot3
            | Op::Fdot4
            | Op::Fldexp
            | Op::Fquantize
            | Op::Fract
            | Op::F2f
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use xenoglot_ir::fold::Fold;

    /// A new exact op is either generated or named here.
    #[test]
    fn every_exact_pure_op_has_a_family() {
        let constants = [Op::Const, Op::Undef];
        for row in OPS {
            let alone = row.traits.pure && !row.traits.convergent;
            let exact = alone && row.ulp == 0 && !matches!(row.fold, Fold::None);
            assert_eq!(family(row.op).is_some(), exact && !constants.contains(&row.op), "{}", row.name);
        }
    }
}
