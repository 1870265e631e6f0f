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
    /// SHR's and SHF's part in a wider shift: [`ShiftX`].
    ShiftX,
    /// SHF goes right.
    ShiftRight,
    /// IMADSP: format of A, [`MadFormat`].
    MadA,
    /// IMADSP: format of B, [`MadFormat`].
    MadB,
    /// IMADSP: format of C, [`MadFormat`].
    MadC,
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
    /// VOTE.VTG: 0 R, 1 A, 2 RA.
    VtgMode,
    /// CSET's and CSETP's test, a [`CcTest`].
    CcTest,
    /// MEMBAR: [`MembarLevel`].
    MembarLevel,
    /// Operation of CCTL and its relatives: [`CctlOp`].
    CctlOp,
    /// `.SPIN` of ATOMS.CAST.
    Spin,
    /// Where a compare-and-swap finds its two values; the operands tell, too.
    CasMode,
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
    /// ISBERD's space: vertex, patch, primitive, attribute, from 0.
    Mode,
    /// Words of an attribute access, 1 to 4; ISBERD's size as numbered by the ISA.
    AttrSize,
    /// PIXLD: [`PixldMode`].
    PixldMode,
    /// `.IDX` of IPA: the register in the address is used.
    Indexed,
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
    /// TLD4's offsets: 0 none, 1 `.AOFFI`, 2 `.PTP`, one for each texel.
    GatherOffset,
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
    /// Components that TEXS and TLDS write and formatted surface accesses move, as bits R G B A from 0.
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
    /// `.KEEPREFCOUNT` of EXIT.
    KeepRefCount,
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
    /// VABSDIFF4: C is added.
    Accumulate,
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
    /// Rounding to an integer: none asked for, the number as it is, nearest even, down, up, to zero.
    IntRounding { None, Pass, Round, Floor, Ceil, Trunc }
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
    /// Shifts: alone; SHF's other half; with what an earlier shift left in the condition codes.
    ShiftX { None, Hi, X, XHi }
    /// Format of an operand of IMADSP.
    MadFormat { U32, S32, U24, S24, U16H0, S16H0, U16H1, S16H1 }
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
    AtomOp { Add, Min, Max, Inc, Dec, And, Or, Xor, Exch, Cas, Cast, SafeAdd }
    /// Type of an atomic.
    AtomType { U32, S32, U64, S64, F32FtzRn, F16x2FtzRn, Sd32, Sd64 }
    /// LDC: index in bytes added to the offset; IL, IS, ISL: bank in the upper half of the register.
    LdcMode { Default, Il, Is, Isl }
    /// SHFL.
    ShflMode { Idx, Up, Down, Bfly }
    /// Cache control.
    CctlOp { Qry1, Pf1, Pf1_5, Pf2, Wb, Iv, Rs, Rslb, Ivth, Ivall }
    /// PIXLD: number of samples, coverage …
    PixldMode { Count, CovMask, Covered, Offset, CentroidOffset, MyIndex }
    /// VOTE.
    VoteMode { All, Any, Eq }
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

    /// Its name.
    pub fn name(self) -> &'static str {
        CC_TESTS.get(usize::from(self.0 & 31)).map_or("", |c| c.0.trim_start_matches('.'))
    }
}

/// The tests by number.
pub(crate) const CC_TESTS: &[(&str, u8)] = &[
    (".F", 0),
    (".LT", 1),
    (".EQ", 2),
    (".LE", 3),
    (".GT", 4),
    (".NE", 5),
    (".GE", 6),
    (".NUM", 7),
    (".NAN", 8),
    (".LTU", 9),
    (".EQU", 10),
    (".LEU", 11),
    (".GTU", 12),
    (".NEU", 13),
    (".GEU", 14),
    (".T", 15),
    (".OFF", 16),
    (".LO", 17),
    (".SFF", 18),
    (".LS", 19),
    (".HI", 20),
    (".SFT", 21),
    (".HS", 22),
    (".OFT", 23),
    (".CSM_TA", 24),
    (".CSM_TR", 25),
    (".CSM_MX", 26),
    (".FCSM_TA", 27),
    (".FCSM_TR", 28),
    (".FCSM_MX", 29),
    (".RLE", 30),
    (".RGT", 31),
];

/// The name of a special register; none if the tool prints its number.
pub fn special_register(number: u8) -> Option<&'static str> {
    SPECIAL_REGISTERS
        .binary_search_by_key(&number, |r| r.0)
        .ok()
        .and_then(|at| SPECIAL_REGISTERS.get(at))
        .map(|r| r.1)
}

/// Special registers by number.
const SPECIAL_REGISTERS: &[(u8, &str)] = &[
    (0x00, "SR_LANEID"),
    (0x01, "SR_CLOCK"),
    (0x02, "SR_VIRTCFG"),
    (0x03, "SR_VIRTID"),
    (0x04, "SR_PM0"),
    (0x05, "SR_PM1"),
    (0x06, "SR_PM2"),
    (0x07, "SR_PM3"),
    (0x08, "SR_PM4"),
    (0x09, "SR_PM5"),
    (0x0a, "SR_PM6"),
    (0x0b, "SR_PM7"),
    (0x0f, "SR_ORDERING_TICKET"),
    (0x10, "SR_PRIM_TYPE"),
    (0x11, "SR_INVOCATION_ID"),
    (0x12, "SR_Y_DIRECTION"),
    (0x13, "SR_THREAD_KILL"),
    (0x14, "SM_SHADER_TYPE"),
    (0x15, "SR_DIRECTCBEWRITEADDRESSLOW"),
    (0x16, "SR_DIRECTCBEWRITEADDRESSHIGH"),
    (0x17, "SR_DIRECTCBEWRITEENABLED"),
    (0x18, "SR_MACHINE_ID_0"),
    (0x19, "SR_MACHINE_ID_1"),
    (0x1a, "SR_MACHINE_ID_2"),
    (0x1b, "SR_MACHINE_ID_3"),
    (0x1c, "SR_AFFINITY"),
    (0x1d, "SR_INVOCATION_INFO"),
    (0x1e, "SR_WSCALEFACTOR_XY"),
    (0x1f, "SR_WSCALEFACTOR_Z"),
    (0x20, "SR_TID"),
    (0x21, "SR_TID.X"),
    (0x22, "SR_TID.Y"),
    (0x23, "SR_TID.Z"),
    (0x24, "SR_CTA_PARAM"),
    (0x25, "SR_CTAID.X"),
    (0x26, "SR_CTAID.Y"),
    (0x27, "SR_CTAID.Z"),
    (0x28, "SR_NTID"),
    (0x29, "SR_CirQueueIncrMinusOne"),
    (0x2a, "SR_NLATC"),
    (0x30, "SR_SWINLO"),
    (0x31, "SR_SWINSZ"),
    (0x32, "SR_SMEMSZ"),
    (0x33, "SR_SMEMBANKS"),
    (0x34, "SR_LWINLO"),
    (0x35, "SR_LWINSZ"),
    (0x36, "SR_LMEMLOSZ"),
    (0x37, "SR_LMEMHIOFF"),
    (0x38, "SR_EQMASK"),
    (0x39, "SR_LTMASK"),
    (0x3a, "SR_LEMASK"),
    (0x3b, "SR_GTMASK"),
    (0x3c, "SR_GEMASK"),
    (0x3d, "SR_REGALLOC"),
    (0x3e, "SR_CTXADDR"),
    (0x40, "SR_GLOBALERRORSTATUS"),
    (0x42, "SR_WARPERRORSTATUS"),
    (0x43, "SR_WARPERRORSTATUSCLEAR"),
    (0x48, "SR_PM_HI0"),
    (0x49, "SR_PM_HI1"),
    (0x4a, "SR_PM_HI2"),
    (0x4b, "SR_PM_HI3"),
    (0x4c, "SR_PM_HI4"),
    (0x4d, "SR_PM_HI5"),
    (0x4e, "SR_PM_HI6"),
    (0x4f, "SR_PM_HI7"),
    (0x50, "SR_CLOCKLO"),
    (0x51, "SR_CLOCKHI"),
    (0x52, "SR_GLOBALTIMERLO"),
    (0x53, "SR_GLOBALTIMERHI"),
    (0x60, "SR_HWTASKID"),
    (0x61, "SR_CIRCULARQUEUEENTRYINDEX"),
    (0x62, "SR_CIRCULARQUEUEENTRYADDRESSLOW"),
    (0x63, "SR_CIRCULARQUEUEENTRYADDRESSHIGH"),
];
