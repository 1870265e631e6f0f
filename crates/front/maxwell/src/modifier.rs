//! What may be asked of an instruction beside its operands.

use thiserror::Error;

/// A modifier of an instruction. The comment names the type for [`crate::Inst::get`]; those without one are flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mod {
    /// `.FTZ` and `.FMZ`: [`Denorm`].
    Denorm,
    /// `.SAT`: floats to 0..1, integers to their range.
    Sat,
    /// `.CC`: the condition codes are written.
    Cc,
    /// `.X`: the carry, or the earlier compare, is read.
    X,
    /// `.RM` …: [`Rounding`].
    Rounding,
    /// `.FLOOR` … of conversions: [`IntRounding`].
    IntRounding,
    /// Comparison of floats: [`FloatCompare`].
    FloatCompare,
    /// Comparison of integers: [`IntCompare`].
    IntCompare,
    /// How the source predicate is combined: [`BoolOp`].
    BoolOp,
    /// PSET's and PSETP's first combination: [`BoolOp`].
    BoolOp2,
    /// `.BF`: a set operation writes 1.0, not all ones.
    FloatResult,
    /// The operation is signed.
    Signed,
    /// First source is signed.
    SignedA,
    /// Second source is signed.
    SignedB,
    /// `.HI`: the upper half of the product or of the shifted pair.
    High,
    /// `.W`: the shift amount wraps at 32.
    Wrap,
    /// `.BREV`: bits are reversed first.
    Brev,
    /// `.PO`: one is added.
    PlusOne,
    /// `.SH` of FLO: the shift amount rather than the index.
    ShiftAmount,
    /// Scale of FMUL: [`Scale`].
    Scale,
    /// LOP's and LOP32I's operation: [`LogicOp`].
    LogicOp,
    /// The test whose result LOP and LOP3 write to a predicate: [`PredOp`].
    PredOp,
    /// XMAD's treatment of the addend: [`XmadMode`].
    XmadMode,
    /// `.PSL`: the product is shifted left by 16.
    Psl,
    /// `.MRG`: the lower half of B replaces the upper half of the result.
    Mrg,
    /// IADD3's shift of the first sum: [`Iadd3Shift`].
    Iadd3Shift,
    /// IMNMX: which part of a 64-bit minimum: [`MnmxMode`].
    MnmxMode,
    /// SHF's width: [`ShfType`].
    ShfType,
    /// SHR's `.X` forms: [`ShrX`].
    ShrX,
    /// PRMT's mode: [`PrmtMode`].
    PrmtMode,
    /// MUFU's function: [`MufuOp`].
    MufuOp,
    /// RRO's function: `.EX2` rather than `.SINCOS`.
    RroEx2,
    /// Format converted to: [`NumType`].
    DstType,
    /// Format converted from: [`NumType`].
    SrcType,
    /// Byte or half that a conversion takes from its source, 0 to 3; also B2/B3 of P2R, R2P: a byte number.
    Byte,
    /// How a packed half operation writes: [`HalfMerge`].
    HalfMerge,
    /// `.H_AND`: HSETP2 writes the conjunction.
    HAnd,
    /// FSWZADD's eight lane operations, two bits each.
    Swizzle,
    /// `.NDV`: derivatives are not divergent.
    Ndv,

    /// Width of a memory access: [`MemSize`].
    Size,
    /// Cache policy: [`CacheOp`].
    Cache,
    /// `.E`: the address has 64 bits.
    Wide,
    /// `.U`: LDS of unaligned or uniform data.
    Uniform,
    /// Operation of an atomic: [`AtomOp`].
    AtomOp,
    /// Type of an atomic: [`AtomType`].
    AtomType,
    /// LDC's bank selection: [`LdcMode`].
    LdcMode,
    /// SHFL: [`ShflMode`].
    ShflMode,
    /// VOTE: [`VoteMode`].
    VoteMode,
    /// MEMBAR: [`MembarLevel`].
    MembarLevel,
    /// MEMBAR's cache invalidation, CCTL's and its relatives' operation, as numbered by the ISA.
    CctlOp,
    /// BAR: [`BarMode`].
    BarMode,
    /// BAR.RED: [`BarRed`].
    BarRed,
    /// DEPBAR's `.LE`.
    LessEqual,

    /// `.O`: ALD reads, ISBERD addresses the output.
    Output,
    /// `.P`: per patch.
    Patch,
    /// `.PHYS`: the address is physical.
    Phys,
    /// IPA: [`IpaMode`].
    IpaMode,
    /// IPA: [`IpaSample`].
    IpaSample,
    /// `.SKEW` of ISBERD.
    Skew,
    /// ISBERD's and PIXLD's mode, as numbered by the ISA.
    Mode,
    /// OUT: [`OutMode`].
    OutMode,

    /// Shape of a texture: [`TextureDim`].
    TextureDim,
    /// Level of detail: [`LodMode`].
    LodMode,
    /// `.DC`: a depth comparison.
    DepthCompare,
    /// `.AOFFI`: immediate offsets in the second tuple.
    Offset,
    /// `.PTP`: an offset for each gathered texel.
    PerTexelOffset,
    /// `.NODEP`: for scheduling only.
    Nodep,
    /// `.MS`: a sample index.
    Multisample,
    /// `.CL` of TLD, `.LC` of TEX and TXD: a clamp on the level of detail.
    LodClamp,
    /// `.B`: the handle is in a register.
    Bindless,
    /// `.F16`: TEXS, TLDS, TLD4S pack their results as halves.
    F16Result,
    /// TLD4's component, 0 to 3.
    Component,
    /// Components that TEXS and TLDS write: [`Components`] by number; see [`crate::isa::texs_components`].
    Components,
    /// TXQ: [`TextureQuery`].
    TextureQuery,
    /// Shape of a surface: [`SurfaceDim`].
    SurfaceDim,
    /// Surface accesses out of range: [`SurfaceClamp`].
    SurfaceClamp,
    /// `.D`: raw data rather than formatted texels.
    Raw,
    /// `.BA`: x counts bytes.
    ByteAddress,

    /// `.NOINC` of CAL and PRET.
    NoInc,
    /// `.LMT` of BRA.
    Limit,
    /// `.U` of BRA, CAL …: the warp goes as one.
    UniformFlow,

    /// Video operations: format of A, [`VideoFormat`].
    VideoA,
    /// Video operations: format of B, [`VideoFormat`].
    VideoB,
    /// Video operations: the result is unsigned (`.UD`) or signed (`.SD`).
    VideoSignedResult,
    /// Video operations: what is done with C, [`VideoOp`].
    VideoOp,
    /// VMAD's shift of the result: 0, 7 or 15.
    VideoShift,
    /// VMNMX: `.MX`, the maximum.
    Max,
    /// VABSDIFF4's lane mask, bits W Z Y X from 3.
    LaneMask,
    /// The operation's own number, of the few operations that no shader has (BPT, IDE, B2R, NOP, FCHK …).
    Operation,
}

/// A reserved value of a modifier.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("{address:#06x}: {word:#018x} holds the reserved value {code} of {modifier:?}")]
pub struct Reserved {
    /// Byte address.
    pub address: u32,
    /// The word.
    pub word: u64,
    /// The modifier.
    pub modifier: Mod,
    /// Its code.
    pub code: u8,
}

/// An enum that a modifier's code stands for.
pub trait ModifierValue: Copy {
    /// The value of a code; none if reserved.
    fn from_code(code: u8) -> Option<Self>;
}

macro_rules! values {
    ($($(#[$doc:meta])* $name:ident { $($variant:ident),* $(,)? })*) => {$(
        $(#[$doc])*
        #[allow(missing_docs)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum $name {
            $($variant),*
        }

        impl $name {
            /// Every value, by code.
            pub const ALL: &[$name] = &[$($name::$variant),*];
        }

        impl ModifierValue for $name {
            fn from_code(code: u8) -> Option<$name> {
                $name::ALL.get(usize::from(code)).copied()
            }
        }
    )*};
}

values! {
    /// Denormals: kept; flushed at inputs and output; flushed, and 0 times anything is 0.
    Denorm { Keep, Ftz, Fmz }
    /// Rounding of a float result: nearest even, down, up, to zero.
    Rounding { Rn, Rm, Rp, Rz }
    /// Rounding to an integer: none asked for, nearest even, down, up, to zero.
    IntRounding { None, Round, Floor, Ceil, Trunc }
    /// Comparison of floats; those ending in `U` hold for unordered operands, too. `Num`: both are numbers.
    FloatCompare { F, Lt, Eq, Le, Gt, Ne, Ge, Num, Nan, Ltu, Equ, Leu, Gtu, Neu, Geu, T }
    /// Comparison of integers.
    IntCompare { F, Lt, Eq, Le, Gt, Ne, Ge, T }
    /// Combination of predicates.
    BoolOp { And, Or, Xor }
    /// Bitwise operation.
    LogicOp { And, Or, Xor, PassB }
    /// What the predicate of LOP says of the result: nothing (false), true, is zero, is not zero.
    PredOp { F, T, Z, Nz }
    /// FMUL: the product times 1, 1/2, 1/4, 1/8, 8, 4, 2.
    Scale { None, D2, D4, D8, M8, M4, M2 }
    /// XMAD: the addend as it is, its lower half, its upper half, corrected for signed halves, plus B shifted by 16.
    XmadMode { Full, Clo, Chi, Csfu, Cbcc }
    /// IADD3: the sum of A and B as it is, shifted right by 16, shifted left by 16.
    Iadd3Shift { None, Rs, Ls }
    /// IMNMX: 32 bits; low, middle, high word of a wider number.
    MnmxMode { None, Xlo, Xmed, Xhi }
    /// SHF: width and sign of what is shifted.
    ShfType { Bits32, U64, S64 }
    /// SHR: with carry of a wider shift.
    ShrX { None, X, XHi }
    /// PRMT: selection by index, or one of the shift-like modes.
    PrmtMode { Index, F4e, B4e, Rc8, Ecl, Ecr, Rc16 }
    /// MUFU's function.
    MufuOp { Cos, Sin, Ex2, Lg2, Rcp, Rsq, Rcp64h, Rsq64h, Sqrt }
    /// A number format.
    NumType { U8, S8, U16, S16, U32, S32, U64, S64, F16, F32, F64 }
    /// A packed half result: both halves; one single; the lower or the upper half, the other half kept.
    HalfMerge { Full, F32, MrgH0, MrgH1 }
    /// Width of a memory access.
    MemSize { U8, S8, U16, S16, B32, B64, B128, U128 }
    /// Cache policy of loads (`Default`, CG, CI, CV, LU) and stores (`Default`, CG, CS, WT).
    CacheOp { Default, Cg, Ci, Cv, Lu, Cs, Wt }
    /// Operation of an atomic. CAST is the compare-and-swap of a spin loop.
    AtomOp { Add, Min, Max, Inc, Dec, And, Or, Xor, Exch, Cas, Cast }
    /// Type of an atomic.
    AtomType { U32, S32, U64, S64, F32FtzRn, F16x2FtzRn, F64Rn }
    /// LDC: index in bytes added to the offset; IL, IS, ISL: bank in the upper half of the register.
    LdcMode { Default, Il, Is, Isl }
    /// SHFL.
    ShflMode { Idx, Up, Down, Bfly }
    /// VOTE.
    VoteMode { All, Any, Eq, Vtg }
    /// MEMBAR: whom it is ordered for.
    MembarLevel { Cta, Gl, Sys, Vc }
    /// BAR.
    BarMode { Sync, Arv, Red, Scan, SyncAll }
    /// BAR.RED.
    BarRed { Popc, And, Or }
    /// IPA: with perspective, without (`.PASS`), flat, by sample (`.SC`).
    IpaMode { Pass, Multiply, Constant, Sc }
    /// IPA: where in the pixel.
    IpaSample { Default, Centroid, Offset }
    /// OUT.
    OutMode { None, Emit, Cut, EmitThenCut }
    /// Shape of a texture.
    TextureDim { D1, Array1d, D2, Array2d, D3, Array3d, Cube, ArrayCube }
    /// Level of detail: implicit, zero, biased, given, biased and given with clamp.
    LodMode { Implicit, Lz, Lb, Ll, Lba, Lla }
    /// TXQ.
    TextureQuery { Dimension, TextureType, SamplePosition, Filter, Lod, Wrap, BorderColor }
    /// Shape of a surface.
    SurfaceDim { D1, Buffer1d, Array1d, D2, Array2d, D3 }
    /// Surface accesses out of range are ignored, go to the nearest texel, or trap.
    SurfaceClamp { Ign, Near, Trap }
    /// Format of a video operand.
    VideoFormat { U8, S8, U16, S16, U32, S32 }
    /// Video operations: the result is merged with C or combined with it.
    VideoOp { Mrg16h, Mrg16l, Mrg8b0, Mrg8b2, Acc, Min, Max, Pass }
}

/// A test of the condition codes (bits 0 to 4 of a flow operation): 0 to 15 are the float comparisons on S, Z; 16 up
/// name flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CcTest(pub u8);

impl CcTest {
    /// Always true.
    pub const T: CcTest = CcTest(15);
}
