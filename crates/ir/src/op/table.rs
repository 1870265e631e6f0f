//! The rows, by family.

use super::Class::{Bits, Float, Int, Number, Single};
use super::Width::{Any, Narrower, Other, Wider};
use super::{Class, OpInfo, Sig, Traits};
use crate::flags::Flags;
use crate::fold::{Fold, convert, float, int, vector};
use crate::imm::ImmKind as Im;
use crate::module::Stage;
use crate::ty::{Kind, Type};

const PURE: Traits = Traits { pure: true, commutes: false, convergent: false, reads: false, writes: false };
const COMM: Traits = Traits { commutes: true, ..PURE };
const CONV: Traits = Traits { convergent: true, ..PURE };
const READ: Traits = Traits { pure: false, reads: true, ..PURE };
const WRITE: Traits = Traits { pure: false, writes: true, ..PURE };
const RMW: Traits = Traits { reads: true, ..WRITE };
const SYNC: Traits = Traits { convergent: true, ..RMW };
/// Depends on its quad or subgroup but touches no memory.
const CROSS: Traits = Traits { convergent: true, ..READ };

const NO: Flags = Flags::NONE;
/// Float arithmetic.
const FA: Flags = Flags::ANY_ROUND.union(Flags::NONE.with_contract().with_ftz().with_sat());
/// Float products.
const FM: Flags = FA.union(Flags::NONE.with_zero_wins().with_fmz());
/// `fmin`, `fmax`.
const FN: Flags = Flags::ANY_NAN.union(Flags::NONE.with_ftz());
const FTZ: Flags = Flags::NONE.with_ftz();
const FTZ_SAT: Flags = FTZ.with_sat();
const CV: Flags = Flags::ANY_ROUND.union(Flags::NONE.with_ftz().with_sat());
const CI: Flags = Flags::ANY_ROUND.union(Flags::NONE.with_ftz().with_clamp());
const DZ: Flags = Flags::ANY_DIV;
const NU: Flags = Flags::NONE.with_nonuniform();

const GEOMETRY: &[Stage] = &[Stage::Geometry];
const FRAGMENT: &[Stage] = &[Stage::Fragment];
const MESH: &[Stage] = &[Stage::Mesh];
const TASK: &[Stage] = &[Stage::Task];
/// Stages with quads.
const QUADS: &[Stage] = &[Stage::Fragment, Stage::Compute, Stage::Mesh, Stage::Task];
/// Stages that trace rays.
const TRACE: &[Stage] = &[Stage::RayGen, Stage::ClosestHit, Stage::Miss];
const RAY_GEN: &[Stage] = &[Stage::RayGen];
/// Stages that call shaders.
const CALL: &[Stage] = &[Stage::RayGen, Stage::ClosestHit, Stage::Miss, Stage::Callable];
const INTERSECTION: &[Stage] = &[Stage::Intersection];
const ANY_HIT: &[Stage] = &[Stage::AnyHit];
/// Stages that have a ray.
const RAY_STAGES: &[Stage] = &[Stage::Intersection, Stage::AnyHit, Stage::ClosestHit, Stage::Miss];

/// Operands of a traced ray.
const RAY: &[Type] = &[
    Type::scalar(Kind::Accel),
    Type::I32,
    Type::I32,
    Type::I32,
    Type::I32,
    Type::I32,
    Type::F32X3,
    Type::F32,
    Type::F32X3,
    Type::F32,
];
/// Operands of a ray that misses.
const MISS: &[Type] = &[Type::I32, Type::I32, Type::F32X3, Type::F32, Type::F32X3, Type::F32];
/// Operands of an inline query's ray.
const INLINE_RAY: &[Type] =
    &[Type::scalar(Kind::Accel), Type::I32, Type::I32, Type::F32X3, Type::F32, Type::F32X3, Type::F32];

const fn same(n: u8, c: Class) -> Sig {
    Sig::Same(n, c)
}

const fn test(n: u8, c: Class) -> Sig {
    Sig::Test(n, c)
}

/// The names of `flags`, modes by one name for all their values.
pub(super) fn flag_names(flags: Flags) -> Vec<&'static str> {
    let singles = [
        (Flags::NONE.with_contract(), "contract"),
        (Flags::NONE.with_ftz(), "ftz"),
        (Flags::NONE.with_zero_wins(), "zw"),
        (Flags::NONE.with_fmz(), "fmz"),
        (Flags::NONE.with_sat(), "sat"),
        (Flags::NONE.with_clamp(), "clamp"),
        (Flags::NONE.with_nonuniform(), "nonuniform"),
        (Flags::ANY_ROUND, "round"),
        (Flags::ANY_NAN, "nan"),
        (Flags::ANY_DIV, "div"),
    ];
    singles.into_iter().filter(|(f, _)| f.within(flags)).map(|(_, n)| n).collect()
}

macro_rules! fold {
    (-) => {
        Fold::None
    };
    (lane $f:path) => {
        Fold::Lane($f)
    };
    (whole $f:path) => {
        Fold::Whole($f)
    };
}

macro_rules! ulp {
    () => {
        0
    };
    ($n:literal) => {
        $n
    };
}

macro_rules! stages {
    () => {
        None
    };
    ($stages:ident) => {
        Some($stages)
    };
}

macro_rules! ops {
    ($($op:ident $name:literal, $sig:expr, $imm:ident, $flags:ident, $traits:ident, ($($fold:tt)+)
        $(ulp $ulp:literal)? $(in $stages:ident)?, $doc:literal;)+) => {
        /// Every operation of the IR; the row with its definition is [`Op::info`](crate::op::Op::info).
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        #[repr(u16)]
        pub enum Op { $(#[doc = concat!("`", $name, "`: ", $doc)] $op,)+ }

        /// One row per op, in the order of [`Op`].
        pub const OPS: &[OpInfo] = &[$(OpInfo {
            op: Op::$op,
            name: $name,
            sig: $sig,
            imm: Im::$imm,
            flags: $flags,
            traits: $traits,
            stages: stages!($($stages)?),
            fold: fold!($($fold)+),
            ulp: ulp!($($ulp)?),
            doc: $doc,
        }),+];
    };
}

ops! {
    // Constants and undefined values.
    Const "const", Sig::Leaf(None), Const, NO, PURE, (-), "The immediate's lanes.";
    SpecConst "spec_const", Sig::Leaf(Some(Type::I32)), Spec, NO, PURE, (-), "What the host makes the specialization constant of a number, `i32`: `default` where it makes it nothing, and on hosts without such constants.";
    Undef "undef", Sig::Leaf(None), None, NO, PURE, (-), "Any value; each use may see another. The interpreter uses 0.";
    Freeze "freeze", same(1, Number), None, NO, PURE, (lane copy), "The operand, one value for all uses even if it is undefined.";

    // Integers.
    Iadd "iadd", same(2, Int), None, NO, COMM, (lane int::add), "Sum modulo 2^n.";
    Isub "isub", same(2, Int), None, NO, PURE, (lane int::sub), "Difference modulo 2^n.";
    Iadd3 "iadd3", same(3, Int), None, NO, COMM, (lane int::add3), "Sum of three modulo 2^n.";
    Imul "imul", same(2, Int), None, NO, COMM, (lane int::mul), "Low half of the product.";
    Umulh "umulh", same(2, Int), None, NO, COMM, (lane int::umulh), "High half of the unsigned product.";
    Imulh "imulh", same(2, Int), None, NO, COMM, (lane int::imulh), "High half of the signed product.";
    Udiv "udiv", same(2, Int), None, DZ, PURE, (lane int::udiv), "Unsigned quotient; by zero as the flag says.";
    Sdiv "sdiv", same(2, Int), None, DZ, PURE, (lane int::sdiv), "Signed quotient towards zero; the least value by -1 wraps; by zero as the flag says.";
    Urem "urem", same(2, Int), None, DZ, PURE, (lane int::urem), "Unsigned remainder; by zero as the flag says.";
    Srem "srem", same(2, Int), None, DZ, PURE, (lane int::srem), "Signed remainder with the dividend's sign; by zero as the flag says.";
    Ineg "ineg", same(1, Int), None, NO, PURE, (lane int::neg), "Negation modulo 2^n.";
    Iabs "iabs", same(1, Int), None, NO, PURE, (lane int::abs), "Magnitude; the least value stays itself.";
    Imin "imin", same(2, Int), None, NO, COMM, (lane int::imin), "Signed least.";
    Imax "imax", same(2, Int), None, NO, COMM, (lane int::imax), "Signed greatest.";
    Umin "umin", same(2, Int), None, NO, COMM, (lane int::umin), "Unsigned least.";
    Umax "umax", same(2, Int), None, NO, COMM, (lane int::umax), "Unsigned greatest.";
    IaddCarry "iadd_carry", Sig::CarryIn, None, NO, COMM, (lane int::add_carry), "`a + b + carry` modulo 2^n.";
    IaddCarryOut "iadd_carry_out", Sig::CarryOut, None, NO, COMM, (lane int::add_carry_out), "Unsigned carry out of `a + b + carry`.";
    IaddOverflowOut "iadd_overflow_out", Sig::CarryOut, None, NO, COMM, (lane int::add_overflow_out), "Signed overflow of `a + b + carry`.";
    IsubBorrow "isub_borrow", Sig::CarryIn, None, NO, PURE, (lane int::sub_borrow), "`a - b - borrow` modulo 2^n.";
    IsubBorrowOut "isub_borrow_out", Sig::CarryOut, None, NO, PURE, (lane int::sub_borrow_out), "Unsigned borrow out of `a - b - borrow`.";
    IsubOverflowOut "isub_overflow_out", Sig::CarryOut, None, NO, PURE, (lane int::sub_overflow_out), "Signed overflow of `a - b - borrow`.";

    // Bits.
    And "and", same(2, Bits), None, NO, COMM, (lane int::and), "Bitwise and.";
    Or "or", same(2, Bits), None, NO, COMM, (lane int::or), "Bitwise or.";
    Xor "xor", same(2, Bits), None, NO, COMM, (lane int::xor), "Bitwise exclusive or.";
    Not "not", same(1, Bits), None, NO, PURE, (lane int::not), "Bitwise complement.";
    Shl "shl", same(2, Int), None, NO, PURE, (lane int::shl), "Left shift by the amount modulo n; machines that clamp lift to a compare.";
    Ushr "ushr", same(2, Int), None, NO, PURE, (lane int::ushr), "Right shift by the amount modulo n, zeros in.";
    Sshr "sshr", same(2, Int), None, NO, PURE, (lane int::sshr), "Right shift by the amount modulo n, signs in.";
    Rotl "rotl", same(2, Int), None, NO, PURE, (lane int::rotl), "Left rotation by the amount modulo n.";
    FunnelL "funnel_l", same(3, Int), None, NO, PURE, (lane int::funnel_l), "High word of the pair `a:b` shifted left by `c mod n`.";
    FunnelR "funnel_r", same(3, Int), None, NO, PURE, (lane int::funnel_r), "Low word of the pair `a:b` shifted right by `c mod n`.";
    BitfieldU "bitfield_u", same(3, Int), None, NO, PURE, (lane int::bitfield_u), "`count` bits of `a` from bit `offset` on (operands a, offset, count), cut off at the top of the word; an empty field is 0.";
    BitfieldS "bitfield_s", same(3, Int), None, NO, PURE, (lane int::bitfield_s), "As `bitfield_u`, the top bit of the cut field being its sign.";
    BitfieldInsert "bitfield_insert", same(4, Int), None, NO, PURE, (lane int::bitfield_insert), "`a` with `count` bits from `offset` on taken from the low bits of `b` (operands a, b, offset, count); the field is cut off at the top of the word.";
    Popcount "popcount", same(1, Int), None, NO, PURE, (lane int::popcount), "Number of ones.";
    Clz "clz", same(1, Int), None, NO, PURE, (lane int::clz), "Zeros above the highest one; n for 0.";
    Ctz "ctz", same(1, Int), None, NO, PURE, (lane int::ctz), "Zeros below the lowest one; n for 0.";
    FindMsbS "find_msb_s", same(1, Int), None, NO, PURE, (lane int::find_msb_s), "Position of the highest bit that differs from the sign; all ones for 0 and -1.";
    Reverse "reverse", same(1, Int), None, NO, PURE, (lane int::reverse), "Bits in opposite order.";
    Byteswap "byteswap", same(1, Int), None, NO, PURE, (lane int::byteswap), "Bytes in opposite order.";
    PermuteBytes "permute_bytes", same(3, Int), None, NO, PURE, (lane int::permute_bytes), "`i32` only. Nibble i of the third operand names byte i of the result among the bytes of `b:a` (a is 0 to 3); its bit 3 asks for eight copies of that byte's sign.";
    Sdot4 "sdot4", same(2, Int), None, NO, COMM, (lane int::sdot4), "`i32` only. Sum modulo 2^32 of the products of the signed bytes of `a` and `b` at equal places.";
    Udot4 "udot4", same(2, Int), None, NO, COMM, (lane int::udot4), "As `sdot4`, of unsigned bytes.";
    SUdot4 "sudot4", same(2, Int), None, NO, PURE, (lane int::sudot4), "As `sdot4`, the bytes of `b` being unsigned.";
    Lop3 "lop3", same(4, Int), None, NO, PURE, (lane int::lop3), "Bit `4a + 2b + c` of the table in the fourth operand's low byte, for each bit position.";

    // Integer compares; the greater forms are swapped operands.
    IcmpEq "icmp.eq", test(2, Bits), None, NO, COMM, (lane int::eq), "Equal.";
    IcmpNe "icmp.ne", test(2, Bits), None, NO, COMM, (lane int::ne), "Unequal.";
    IcmpUlt "icmp.ult", test(2, Int), None, NO, PURE, (lane int::ult), "Unsigned less.";
    IcmpUle "icmp.ule", test(2, Int), None, NO, PURE, (lane int::ule), "Unsigned at most.";
    IcmpSlt "icmp.slt", test(2, Int), None, NO, PURE, (lane int::slt), "Signed less.";
    IcmpSle "icmp.sle", test(2, Int), None, NO, PURE, (lane int::sle), "Signed at most.";

    // Floats.
    Fadd "fadd", same(2, Float), None, FA, COMM, (lane float::add), "Sum.";
    Fsub "fsub", same(2, Float), None, FA, PURE, (lane float::sub), "Difference.";
    Fmul "fmul", same(2, Float), None, FM, COMM, (lane float::mul), "Product; `zw`: a NaN product of factors that are none is +0; `fmz`: a zero factor makes +0.";
    Fdiv "fdiv", same(2, Float), None, FA, PURE, (lane float::div) ulp 3, "Quotient.";
    Fma "fma", same(3, Float), None, FM, COMM, (lane float::fma), "`a * b + c` rounded once, the zero rules applied to the exact product.";
    Fneg "fneg", same(1, Float), None, NO, PURE, (lane float::neg), "Sign flipped, of NaNs too.";
    Fabs "fabs", same(1, Float), None, NO, PURE, (lane float::abs), "Sign cleared, of NaNs too.";
    Fmin "fmin", same(2, Float), None, FN, PURE, (lane float::min), "`a < b ? a : b`, NaNs as the flag says.";
    Fmax "fmax", same(2, Float), None, FN, PURE, (lane float::max), "`a > b ? a : b`, NaNs as the flag says.";
    Fsat "fsat", same(1, Float), None, FTZ_SAT, PURE, (lane saturate), "Clamped to 0..=1; a NaN becomes 0.";
    Floor "floor", same(1, Float), None, FTZ_SAT, PURE, (lane float::floor), "Towards minus infinity; -0 stays -0.";
    Ceil "ceil", same(1, Float), None, FTZ_SAT, PURE, (lane float::ceil), "Towards plus infinity.";
    Trunc "trunc", same(1, Float), None, FTZ_SAT, PURE, (lane float::trunc), "Towards zero.";
    RoundEven "round_even", same(1, Float), None, FTZ_SAT, PURE, (lane float::round_even), "To the nearest integer, ties to even.";
    Fract "fract", same(1, Float), None, FTZ_SAT, PURE, (lane float::fract), "`a - floor(a)`.";
    Sqrt "sqrt", same(1, Float), None, FA, PURE, (lane float::sqrt) ulp 4, "Square root; NaN for negatives, -0 for -0.";
    Rsqrt "rsqrt", same(1, Float), None, FA, PURE, (lane float::rsqrt) ulp 8192, "Reciprocal square root; infinity of the zero's sign for zeros. Guests' own error is larger than any host's, so 2^-10 relative is granted.";
    Rcp "rcp", same(1, Float), None, FA, PURE, (lane float::rcp) ulp 8192, "Reciprocal; infinity of the zero's sign for zeros; 2^-10 relative is granted.";
    Exp2 "exp2", same(1, Float), None, FA, PURE, (lane float::exp2) ulp 8192, "Power of two.";
    Log2 "log2", same(1, Float), None, FA, PURE, (lane float::log2) ulp 8192, "Logarithm to base 2; minus infinity for 0, NaN for negatives.";
    Sin "sin", same(1, Float), None, FA, PURE, (lane float::sin) ulp 8192, "Sine of radians.";
    Cos "cos", same(1, Float), None, FA, PURE, (lane float::cos) ulp 8192, "Cosine of radians.";
    Fdot2 "fdot2", Sig::Dot(2), None, FM, PURE, (whole float::dot), "Sum from +0 of the two products in lane order, each rounded.";
    Fdot3 "fdot3", Sig::Dot(3), None, FM, PURE, (whole float::dot), "Sum from +0 of the three products in lane order, each rounded.";
    Fdot4 "fdot4", Sig::Dot(4), None, FM, PURE, (whole float::dot), "Sum from +0 of the four products in lane order, each rounded.";
    Fldexp "fldexp", Sig::LoadExp, None, FA, PURE, (lane float::ldexp), "`a * 2^n`, rounded once.";
    FfrexpExp "ffrexp_exp", Sig::ExtractExp, None, FTZ, PURE, (lane float::frexp_exp), "n of `a = m * 2^n` with 0.5 <= |m| < 1; 0 for zero, infinity and NaN.";
    FfrexpMant "ffrexp_mant", same(1, Float), None, FTZ, PURE, (lane float::frexp_mant), "m of `a = m * 2^n` with 0.5 <= |m| < 1; zero, infinity and NaN themselves.";
    Fquantize "fquantize", same(1, Single), Format, NO, PURE, (lane float::quantize), "Rounded to the format's mantissa (nearest even), then: too large becomes infinity, below the least normal becomes the zero of its sign; widened back.";

    // Float compares.
    FcmpOeq "fcmp.oeq", test(2, Float), None, FTZ, COMM, (lane float::oeq), "No NaN and equal.";
    FcmpOne "fcmp.one", test(2, Float), None, FTZ, COMM, (lane float::one), "No NaN and unequal.";
    FcmpOlt "fcmp.olt", test(2, Float), None, FTZ, PURE, (lane float::olt), "No NaN and less.";
    FcmpOle "fcmp.ole", test(2, Float), None, FTZ, PURE, (lane float::ole), "No NaN and at most.";
    FcmpUeq "fcmp.ueq", test(2, Float), None, FTZ, COMM, (lane float::ueq), "A NaN or equal.";
    FcmpUne "fcmp.une", test(2, Float), None, FTZ, COMM, (lane float::une), "A NaN or unequal.";
    FcmpUlt "fcmp.ult", test(2, Float), None, FTZ, PURE, (lane float::ult), "A NaN or less.";
    FcmpUle "fcmp.ule", test(2, Float), None, FTZ, PURE, (lane float::ule), "A NaN or at most.";
    FcmpOrd "fcmp.ord", test(2, Float), None, NO, COMM, (lane float::ord), "No NaN.";
    FcmpUno "fcmp.uno", test(2, Float), None, NO, COMM, (lane float::uno), "A NaN.";

    // Conversions.
    Bitcast "bitcast", Sig::Bitcast, None, NO, PURE, (whole convert::bitcast), "The same bits as another type of the same size; lane 0 is lowest.";
    TruncInt "trunc_int", Sig::Convert(Int, Int, Narrower), None, NO, PURE, (lane convert::trunc_int), "The low bits.";
    Zext "zext", Sig::Convert(Bits, Int, Wider), None, NO, PURE, (lane convert::zext), "Zeros above; a `bool` becomes 0 or 1.";
    Sext "sext", Sig::Convert(Bits, Int, Wider), None, NO, PURE, (lane convert::sext), "Copies of the sign above; a `bool` becomes 0 or all ones.";
    F2f "f2f", Sig::Convert(Float, Float, Other), None, CV, PURE, (lane convert::f2f), "Float of another width, rounded once.";
    F2s "f2s", Sig::Convert(Float, Int, Any), None, CI, PURE, (lane convert::f2s), "Signed integer, rounded towards zero unless the flag says otherwise; out of range and NaN as `clamp` says.";
    F2u "f2u", Sig::Convert(Float, Int, Any), None, CI, PURE, (lane convert::f2u), "Unsigned integer, rounded towards zero unless the flag says otherwise; out of range and NaN as `clamp` says.";
    S2f "s2f", Sig::Convert(Int, Float, Any), None, CV, PURE, (lane convert::s2f), "Float of a signed integer, to nearest even.";
    U2f "u2f", Sig::Convert(Int, Float, Any), None, CV, PURE, (lane convert::u2f), "Float of an unsigned integer, to nearest even.";

    // Vectors.
    Splat "splat", Sig::Splat, None, NO, PURE, (whole vector::splat), "One lane to all lanes of the result.";
    Build "build", Sig::Build, None, NO, PURE, (whole vector::build), "A vector of two to four scalars.";
    Extract "extract", Sig::Extract, Lane, NO, PURE, (whole vector::extract), "One lane. A dynamic lane is a chain of selects, made by the lifter.";
    Insert "insert", Sig::Insert, Lane, NO, PURE, (whole vector::insert), "The vector with one lane replaced.";
    Shuffle "shuffle", Sig::Shuffle, Lanes, NO, PURE, (whole vector::shuffle), "Lanes 0 to 3 of the first operand and 4 to 7 of the second.";
    Select "select", Sig::Select, None, NO, PURE, (lane vector::select), "The second operand where the first is true, else the third. Both are evaluated: never used to hide a fault.";

    // Slots.
    SlotGet "slot_get", Sig::SlotGet, Slot, NO, READ, (-), "The slot's value; before the first `slot_set`, what its home holds, or all zeros if it has none.";
    SlotSet "slot_set", Sig::SlotSet, Slot, NO, WRITE, (-), "Sets the slot.";

    // Interface.
    Input "input", Sig::VarGet, Var, NO, READ, (-), "An input or builtin; indices select the array element or vertex.";
    Output "output", Sig::VarSet, Var, NO, WRITE, (-), "Sets an output or builtin; indices select the array element or vertex.";
    OutputGet "output_get", Sig::VarGet, Var, NO, READ, (-), "Reads an output back (tessellation control).";
    InterpolateCentroid "interpolate_at.centroid", Sig::Interpolate(&[]), Var, NO, CROSS, (-) in FRAGMENT, "Attribute at the covered centroid.";
    InterpolateSample "interpolate_at.sample", Sig::Interpolate(&[Type::I32]), Var, NO, CROSS, (-) in FRAGMENT, "Attribute at a sample: its index.";
    InterpolateOffset "interpolate_at.offset", Sig::Interpolate(&[Type::F32X2]), Var, NO, CROSS, (-) in FRAGMENT, "Attribute at an offset from the pixel centre: two floats in pixels.";
    EmitVertex "emit_vertex", Sig::Effect, Stream, NO, RMW, (-) in GEOMETRY, "Geometry: appends the outputs of a stream as a vertex; the outputs become undefined.";
    EndPrimitive "end_primitive", Sig::Effect, Stream, NO, RMW, (-) in GEOMETRY, "Geometry: ends the stream's strip.";

    // Memory.
    Load "load", Sig::Load, Mem, NU, READ, (-), "Bytes at the offset, little-endian unless `big`; out of bounds as the resource's policy says. The last operand of an access to an array of resources is the element.";
    Store "store", Sig::Store, Mem, NU, WRITE, (-), "Stores bytes at the offset, little-endian unless `big`; out of bounds as the resource's policy says.";
    AtomicAdd "atomic.add", Sig::Atomic(Int), Mem, NU, RMW, (-), "Old value; stores old + operand.";
    AtomicAnd "atomic.and", Sig::Atomic(Int), Mem, NU, RMW, (-), "Old value; stores old & operand.";
    AtomicOr "atomic.or", Sig::Atomic(Int), Mem, NU, RMW, (-), "Old value; stores old | operand.";
    AtomicXor "atomic.xor", Sig::Atomic(Int), Mem, NU, RMW, (-), "Old value; stores old ^ operand.";
    AtomicXchg "atomic.xchg", Sig::Atomic(Int), Mem, NU, RMW, (-), "Old value; stores the operand.";
    AtomicCmpxchg "atomic.cmpxchg", Sig::AtomicCas, Mem, NU, RMW, (-), "Old value; stores `new` if the old value is `expected`.";
    AtomicUmin "atomic.umin", Sig::Atomic(Int), Mem, NU, RMW, (-), "Old value; stores the unsigned least.";
    AtomicUmax "atomic.umax", Sig::Atomic(Int), Mem, NU, RMW, (-), "Old value; stores the unsigned greatest.";
    AtomicSmin "atomic.smin", Sig::Atomic(Int), Mem, NU, RMW, (-), "Old value; stores the signed least.";
    AtomicSmax "atomic.smax", Sig::Atomic(Int), Mem, NU, RMW, (-), "Old value; stores the signed greatest.";
    AtomicFadd "atomic.fadd", Sig::Atomic(Float), Mem, NU, RMW, (-), "Old value; stores the float sum as `fadd` without flags makes it.";
    AtomicFmin "atomic.fmin", Sig::Open, Mem, NU, RMW, (-), "Old value; stores the float least.";
    AtomicFmax "atomic.fmax", Sig::Open, Mem, NU, RMW, (-), "Old value; stores the float greatest.";
    AtomicIncWrap "atomic.inc_wrap", Sig::Atomic(Int), Mem, NU, RMW, (-), "Old value; stores 0 if old >= operand (unsigned), else old + 1.";
    AtomicDecWrap "atomic.dec_wrap", Sig::Atomic(Int), Mem, NU, RMW, (-), "Old value; stores operand if old is 0 or > operand (unsigned), else old - 1.";
    BufferSize "buffer_size", Sig::Size, Resource, NU, READ, (-), "Size of the bound buffer in bytes, `i32` or `i64`; of an array, of the element that the operand counts.";

    // Handles: bindless is data flow.
    ResourceHandle "resource_handle", Sig::Handle, Resource, NU, READ, (-), "Handle of a resource; of an array, of the element that the operand counts.";
    HeapHandle "heap_handle", Sig::Open, None, NU, PURE, (-), "Handle by index into a descriptor heap; the result's kind says which heap.";

    // Textures and images. Operands: handle, sampler handle unless the texture has its own, coordinates (layer last), then
    // those the immediate names, then what is stored. Ops that read texels have a second result if the immediate says so.
    TexSample "tex.sample", Sig::Texture, Tex, NU, CROSS, (-), "Filtered texel, four lanes, or one float of a comparison; the LOD is implicit unless given.";
    TexFetch "tex.fetch", Sig::Texture, Tex, NU, READ, (-), "Texel by integer coordinates, four lanes; zeros outside.";
    TexGather "tex.gather", Sig::Texture, Tex, NU, READ, (-), "One component of the four texels a filter would use, counter-clockwise from the lower left.";
    TexQuerySize "tex.query_size", Sig::Texture, Tex, NU, READ, (-), "Size of a level in texels, layers last.";
    TexQueryLevels "tex.query_levels", Sig::Texture, Tex, NU, READ, (-), "Number of levels.";
    TexQueryLod "tex.query_lod", Sig::Texture, Tex, NU, CROSS, (-), "Level that would be used, clamped and unclamped.";
    TexQuerySamples "tex.query_samples", Sig::Texture, Tex, NU, READ, (-), "Samples per texel of a texture or a storage image.";
    ImgLoad "img.load", Sig::Texture, Tex, NU, READ, (-), "Texel of a storage image.";
    ImgStore "img.store", Sig::Texture, Tex, NU, WRITE, (-), "Stores a texel.";
    ImgAtomicAdd "img.atomic.add", Sig::Texture, Tex, NU, RMW, (-), "Old texel; stores old + operand.";
    ImgAtomicAnd "img.atomic.and", Sig::Texture, Tex, NU, RMW, (-), "Old texel; stores old & operand.";
    ImgAtomicOr "img.atomic.or", Sig::Texture, Tex, NU, RMW, (-), "Old texel; stores old | operand.";
    ImgAtomicXor "img.atomic.xor", Sig::Texture, Tex, NU, RMW, (-), "Old texel; stores old ^ operand.";
    ImgAtomicXchg "img.atomic.xchg", Sig::Texture, Tex, NU, RMW, (-), "Old texel; stores the operand.";
    ImgAtomicCmpxchg "img.atomic.cmpxchg", Sig::Texture, Tex, NU, RMW, (-), "Old texel; stores `new` if it is `expected`.";
    ImgAtomicUmin "img.atomic.umin", Sig::Texture, Tex, NU, RMW, (-), "Old texel; stores the unsigned least.";
    ImgAtomicUmax "img.atomic.umax", Sig::Texture, Tex, NU, RMW, (-), "Old texel; stores the unsigned greatest.";
    ImgAtomicSmin "img.atomic.smin", Sig::Texture, Tex, NU, RMW, (-), "Old texel; stores the signed least.";
    ImgAtomicSmax "img.atomic.smax", Sig::Texture, Tex, NU, RMW, (-), "Old texel; stores the signed greatest.";
    ImgQuery "img.query", Sig::Texture, Tex, NU, READ, (-), "Size of a storage image.";

    // Derivatives.
    DdxCoarse "ddx.coarse", same(1, Float), None, NO, CONV, (lane unsupported) in QUADS, "Difference along x, one for the 2x2 quad.";
    DdxFine "ddx.fine", same(1, Float), None, NO, CONV, (lane unsupported) in QUADS, "Difference along x, one per row of the quad.";
    DdyCoarse "ddy.coarse", same(1, Float), None, NO, CONV, (lane unsupported) in QUADS, "Difference along y, one for the 2x2 quad.";
    DdyFine "ddy.fine", same(1, Float), None, NO, CONV, (lane unsupported) in QUADS, "Difference along y, one per column of the quad.";

    // Subgroups. The guest's width is in the immediate; lowering maps it to the host's.
    SgId "sg.id", Sig::Leaf(Some(Type::I32)), Subgroup, NO, CROSS, (-), "Lane number within the subgroup, `i32`; in a fragment shader, of width 4, within the quad: bit 0 along x, bit 1 along y.";
    SgSize "sg.size", Sig::Leaf(Some(Type::I32)), Subgroup, NO, CROSS, (-), "Lanes of the subgroup, `i32`.";
    SgElect "sg.elect", Sig::Leaf(Some(Type::BOOL)), Subgroup, NO, CROSS, (-), "True in the lowest active lane only.";
    SgBallot "sg.ballot", Sig::Ballot, Subgroup, NO, CROSS, (-), "Mask of the active lanes whose operand is true: one `bool`, result `i32` (lanes 0 to 31), `i64`, or `i32x4`, the lowest lanes in the first word.";
    SgAll "sg.all", Sig::Vote, Subgroup, NO, CROSS, (-), "Whether the operand is true in every active lane.";
    SgAny "sg.any", Sig::Vote, Subgroup, NO, CROSS, (-), "Whether the operand is true in some active lane.";
    SgReadFirst "sg.read_first", same(1, Number), Subgroup, NO, CROSS, (-), "The lowest active lane's operand.";
    SgReduce "sg.reduce", same(1, Number), Subgroup, NO, CROSS, (-), "The operands of all active lanes combined.";
    SgScan "sg.scan", same(1, Number), Subgroup, NO, CROSS, (-), "The operands of the active lanes up to this one combined; without this one if `exclusive`.";
    SgBroadcast "sg.broadcast", Sig::Open, Subgroup, NO, CROSS, (-), "The operand of the lane named by a uniform second operand.";
    SgShuffle "sg.shuffle", Sig::FromLane, Subgroup, NO, CROSS, (-), "First operand of the lane named by the second; its own where that lane is not active or not in the subgroup.";
    SgShuffleXor "sg.shuffle_xor", Sig::FromLane, Subgroup, NO, CROSS, (-), "First operand of lane `id ^ b`; otherwise as `sg.shuffle`.";
    SgShuffleUp "sg.shuffle_up", Sig::FromLane, Subgroup, NO, CROSS, (-), "First operand of lane `id - b`, modulo 2^32; otherwise as `sg.shuffle`.";
    SgShuffleDown "sg.shuffle_down", Sig::FromLane, Subgroup, NO, CROSS, (-), "First operand of lane `id + b`, modulo 2^32; otherwise as `sg.shuffle`.";
    SgQuadSwap "sg.quad_swap", Sig::FromLane, Subgroup, NO, CROSS, (-) in QUADS, "First operand of a lane of the quad, helpers included. Which, the second says, a constant: 0 the one along x, 1 along y, 2 both.";
    SgQuadBroadcast "sg.quad_broadcast", Sig::FromLane, Subgroup, NO, CROSS, (-) in QUADS, "First operand of a lane of the quad, helpers included: that of number `b`, a constant from 0 to 3; bit 0 counts along x, bit 1 along y.";
    SgQuadAdd "sg.quad_add", Sig::Fixed(&[Type::F32, Type::F32, Type::I32], Some(Type::F32)), Subgroup, FA, CROSS, (-) in FRAGMENT, "Sum of the first two operands as `fadd` makes it, each lane of the quad with signs of its own: the third is a constant, for lane `n` of which bits `6 - 2 * n` and above say 0 `a + b`, 1 `b - a`, 2 `a - b`, 3 `b` as it is.";

    // Barriers.
    Barrier "barrier", Sig::Effect, Barrier, NO, SYNC, (-), "Orders memory in the scope and, with `exec`, waits for all of it.";

    Clock "clock", Sig::Leaf(Some(Type::I32X2)), None, NO, RMW, (-), "A count that only grows while a subgroup runs, `i32x2`, low word first; the interpreter counts instructions.";
    DeviceClock "device_clock", Sig::Leaf(Some(Type::I32X2)), None, NO, RMW, (-), "A count that grows for all subgroups of the device alike, `i32x2`, low word first; the interpreter counts instructions.";

    // Fragments. `kill` is a terminator.
    Demote "demote", Sig::Effect, None, NO, SYNC, (-) in FRAGMENT, "The invocation goes on as a helper without effects.";
    DiscardIf "discard_if", Sig::EffectIf, None, NO, SYNC, (-) in FRAGMENT, "`demote` if the operand is true.";
    Helper "helper", Sig::Leaf(Some(Type::BOOL)), None, NO, CROSS, (-) in FRAGMENT, "Whether this is a helper invocation, `bool`.";
    InterlockBegin "interlock.begin", Sig::Effect, None, NO, SYNC, (-) in FRAGMENT, "Waits for invocations of earlier primitives that cover the pixel to come to their `interlock.end`; once in an invocation.";
    InterlockEnd "interlock.end", Sig::Effect, None, NO, SYNC, (-) in FRAGMENT, "Lets invocations of later primitives that cover the pixel go on.";
    DepthOut "depth_out", Sig::Open, None, NO, WRITE, (-), "Sets the fragment's depth.";

    // Rays and meshes.
    RayTrace "ray.trace", Sig::Fixed(RAY, None), Resource, NO, SYNC, (-) in TRACE, "Traces a ray and runs the shaders it meets on the payload. Operands: structure, flags, mask, offset and stride of the table of hit groups, number of the miss shader, origin, least distance, direction, greatest distance.";
    AccelAt "accel_at", Sig::Fixed(&[Type::I64], Some(Type::scalar(Kind::Accel))), None, NO, READ, (-), "The acceleration structure at an address.";
    RayReport "ray.report", Sig::Fixed(&[Type::F32, Type::I32], Some(Type::BOOL)), None, NO, SYNC, (-) in INTERSECTION, "Intersection: reports a hit at a distance, of a kind; whether it is taken.";
    RayIgnore "ray.ignore", Sig::Effect, None, NO, SYNC, (-) in ANY_HIT, "Any hit: refuses the hit and ends the invocation; what follows is not run.";
    RayAccept "ray.accept", Sig::Effect, None, NO, SYNC, (-) in ANY_HIT, "Any hit: takes the hit, and no other; ends the invocation; what follows is not run.";
    RayT "ray.t", Sig::Leaf(Some(Type::F32)), None, NO, READ, (-) in RAY_STAGES, "Distance of the hit at hand, of the nearest so far, or the ray's greatest, `f32`.";
    RayCall "ray.call", Sig::Fixed(&[Type::I32], None), Resource, NO, SYNC, (-) in CALL, "Runs the callable shader with this number on the parameter.";
    QueryStart "query.start", Sig::Fixed(INLINE_RAY, None), Resource, NO, RMW, (-), "Gives an inline query its ray. Operands: structure, flags, mask, origin, least distance, direction, greatest distance.";
    QueryProceed "query.proceed", Sig::Fixed(&[], Some(Type::BOOL)), Resource, NO, RMW, (-), "Goes to the query's next candidate; whether there is one.";
    QueryTerminate "query.terminate", Sig::Fixed(&[], None), Resource, NO, RMW, (-), "Ends the query's traversal.";
    QueryConfirm "query.confirm", Sig::Fixed(&[], None), Resource, NO, RMW, (-), "Commits the candidate, a triangle.";
    QueryGenerate "query.generate", Sig::Fixed(&[Type::F32], None), Resource, NO, RMW, (-), "Commits a hit in the candidate's box at a distance.";
    QueryGet "query.get", Sig::Query, Query, NO, READ, (-), "What the query tells of its ray, its candidate or its committed hit.";
    HitTrace "hit.trace", Sig::Fixed(RAY, None), Hit, NO, SYNC, (-) in TRACE, "Traces a ray, runs shaders of candidates on the payload, and makes the object its hit or miss. Operands as those of `ray.trace`.";
    HitMiss "hit.miss", Sig::Fixed(MISS, None), Resource, NO, RMW, (-) in TRACE, "Makes the object a miss. Operands: flags, number of the miss shader, origin, least distance, direction, greatest distance.";
    HitNop "hit.nop", Sig::Fixed(&[], None), Resource, NO, RMW, (-) in TRACE, "Makes the object neither a hit nor a miss.";
    HitFromQuery "hit.from_query", Sig::Fixed(&[Type::I32], None), Hit, NO, SYNC, (-) in TRACE, "Makes the object the query's committed hit, which has to be one, without a record. Operand: kind of a hit that the program generated; the payload has its attributes.";
    HitSetRecord "hit.set_record", Sig::Fixed(&[Type::I32], None), Resource, NO, RMW, (-) in TRACE, "Gives the object another record in the table of its shaders.";
    HitInvoke "hit.invoke", Sig::Fixed(&[], None), Hit, NO, SYNC, (-) in TRACE, "Runs the closest-hit or miss shader of the object on the payload; none where it is neither, or has no record.";
    HitAttributes "hit.attributes", Sig::Fixed(&[], None), Hit, NO, SYNC, (-) in TRACE, "Copies the attributes of the object's hit to the payload.";
    HitReorder "hit.reorder", Sig::Fixed(&[Type::I32, Type::I32], None), Resource, NO, SYNC, (-) in RAY_GEN, "Invocations may change places, so that those with similar objects are together. Operands: hint, how many of its lowest bits count.";
    HitGet "hit.get", Sig::Query, Query, NO, READ, (-) in TRACE, "What the object tells of its ray or its hit.";
    MeshSetCounts "mesh.set_counts", Sig::Fixed(&[Type::I32; 2], None), None, NO, SYNC, (-) in MESH, "Sets vertex and primitive counts.";
    MeshDispatch "mesh.dispatch", Sig::Fixed(&[Type::I32; 3], None), Resource, NO, SYNC, (-) in TASK, "Launches mesh workgroups from a task shader with the payload and ends the invocation; what follows is not run.";

    // Calls.
    Call "call", Sig::Call, Func, NO, RMW, (-), "Calls a function of the module; no recursion. As many results as it returns.";
    CallPure "call.pure", Sig::CallPure, Func, NO, PURE, (-), "Calls a function of the module that computes one result from its operands alone: it has pure ops only, and always returns.";
    CallGuest "call_guest", Sig::Open, None, NO, RMW, (-), "CPU guests: calls the code at a guest address and goes on when that returns; may change all of `guest_regs` and the guest's memory.";
}

fn copy(_cx: &crate::fold::Cx, args: &[u64]) -> Result<u64, crate::fold::Fault> {
    args.first().copied().ok_or(crate::fold::Fault::Unsupported)
}

fn saturate(cx: &crate::fold::Cx, args: &[u64]) -> Result<u64, crate::fold::Fault> {
    float::sat(&crate::fold::Cx { flags: cx.flags.with_sat(), ..*cx }, args)
}

fn unsupported(_cx: &crate::fold::Cx, _args: &[u64]) -> Result<u64, crate::fold::Fault> {
    Err(crate::fold::Fault::Unsupported)
}
