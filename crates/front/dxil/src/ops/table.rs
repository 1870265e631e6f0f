//! The rows: number, variant, name, class, overloads by [`Overloads`]' letters, effect, stages, family, result and operands.
//!
//! Numbers of [`HOLES`] have no row: 226 to 237 were given to an experiment (wave matrices) that no released shader model
//! has, the others are reserved.

use super::{Effect, Family, Kind, OpInfo, Operand, Overloads};
use crate::model::{ShaderKind, ShaderModel, Stages};
use std::ops::Range;

const SM_6_0: ShaderModel = ShaderModel::sm6(0);
const SM_6_1: ShaderModel = ShaderModel::sm6(1);
const SM_6_2: ShaderModel = ShaderModel::sm6(2);
const SM_6_3: ShaderModel = ShaderModel::sm6(3);
const SM_6_4: ShaderModel = ShaderModel::sm6(4);
const SM_6_5: ShaderModel = ShaderModel::sm6(5);
const SM_6_6: ShaderModel = ShaderModel::sm6(6);
const SM_6_7: ShaderModel = ShaderModel::sm6(7);
const SM_6_8: ShaderModel = ShaderModel::sm6(8);
const SM_6_9: ShaderModel = ShaderModel::sm6(9);

/// Numbers of released shader models that have no row: wave matrices of an experiment, operations that are reserved.
pub(super) const HOLES: [Range<u32>; 3] = [226..238, 259..262, 290..303];

const ALL: Stages = Stages::ALL;
const PIXEL: Stages = ShaderKind::Pixel.set();
const GEOMETRY: Stages = ShaderKind::Geometry.set();
const HULL: Stages = ShaderKind::Hull.set();
const DOMAIN: Stages = ShaderKind::Domain.set();
const PATCH: Stages = HULL.union(DOMAIN);
const PRIMITIVE: Stages = PATCH.union(GEOMETRY);
const MESH: Stages = ShaderKind::Mesh.set();
const AMPLIFICATION: Stages = ShaderKind::Amplification.set();
/// Nodes of work graphs.
const NODE: Stages = ShaderKind::Node.set();
/// Shaders that run in groups.
const GROUPS: Stages = ShaderKind::Compute.set().union(MESH).union(AMPLIFICATION).union(NODE);
const VERTEX: Stages = ShaderKind::Vertex.set();
/// Shaders that may reorder their invocations.
const RAY_GENERATION: Stages = ShaderKind::RayGeneration.set();
/// Shaders with quads, of which derivatives are taken.
pub(super) const QUADS: Stages = GROUPS.union(PIXEL);
/// Shaders that run per view.
const VIEW: Stages = ShaderKind::Vertex.set().union(PRIMITIVE).union(PIXEL).union(MESH);
const ANY_HIT: Stages = ShaderKind::AnyHit.set();
const INTERSECTION: Stages = ShaderKind::Intersection.set();
/// Shaders that have a hit, or a candidate of one.
const HIT: Stages = INTERSECTION.union(ANY_HIT).union(ShaderKind::ClosestHit.set());
/// Shaders that have a ray.
const RAY: Stages = HIT.union(ShaderKind::Miss.set());
const RAYTRACING: Stages = RAY.union(ShaderKind::RayGeneration.set()).union(ShaderKind::Callable.set());
/// Shaders that may trace rays.
const TRACE: Stages =
    ShaderKind::RayGeneration.set().union(ShaderKind::ClosestHit.set()).union(ShaderKind::Miss.set());
/// Shaders that may call others.
const CALL: Stages = TRACE.union(ShaderKind::Callable.set());

macro_rules! ops {
    ($($since:ident { $($number:literal $op:ident $name:literal $class:literal $overloads:literal
        $effect:ident $stages:ident $family:ident $result:ident ($($operand:ident: $kind:ident),*))* })*) => {
        /// An operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum Op {
            $($(
                #[doc = concat!("`", $name, "`")]
                $op = $number,
            )*)*
        }

        pub(super) static ROWS: &[OpInfo] = &[$($(OpInfo {
            op: Op::$op,
            name: $name,
            class: $class,
            overloads: Overloads::parse($overloads),
            effect: Effect::$effect,
            stages: $stages,
            family: Family::$family,
            since: $since,
            result: Kind::$result,
            operands: &[$(Operand { name: stringify!($operand), kind: Kind::$kind }),*],
        },)*)*];
    };
}

ops! {
    SM_6_0 {
        0 TempRegLoad "TempRegLoad" "tempRegLoad" "hfwi" ReadOnly ALL None Overload (index: I32)
        1 TempRegStore "TempRegStore" "tempRegStore" "hfwi" ReadWrite ALL None Void (
            index: I32, value: Overload)
        2 MinPrecXRegLoad "MinPrecXRegLoad" "minPrecXRegLoad" "hw" ReadOnly ALL None Overload (
            regIndex: FloatPtr, index: I32, component: I8)
        3 MinPrecXRegStore "MinPrecXRegStore" "minPrecXRegStore" "hw" ReadWrite ALL None Void (
            regIndex: FloatPtr, index: I32, component: I8, value: Overload)
        4 LoadInput "LoadInput" "loadInput" "hfwi" ReadNone ALL Stage Overload (
            inputSigId: I32, rowIndex: I32, colIndex: I8, gsVertexAxis: I32)
        5 StoreOutput "StoreOutput" "storeOutput" "hfwi" ReadWrite ALL Stage Void (
            outputSigId: I32, rowIndex: I32, colIndex: I8, value: Overload)
        6 FAbs "FAbs" "unary" "hfd" ReadNone ALL Math Overload (value: Overload)
        7 Saturate "Saturate" "unary" "hfd" ReadNone ALL Math Overload (value: Overload)
        8 IsNaN "IsNaN" "isSpecialFloat" "hf" ReadNone ALL Math I1 (value: Overload)
        9 IsInf "IsInf" "isSpecialFloat" "hf" ReadNone ALL Math I1 (value: Overload)
        10 IsFinite "IsFinite" "isSpecialFloat" "hf" ReadNone ALL Math I1 (value: Overload)
        11 IsNormal "IsNormal" "isSpecialFloat" "hf" ReadNone ALL Math I1 (value: Overload)
        12 Cos "Cos" "unary" "hf" ReadNone ALL Math Overload (value: Overload)
        13 Sin "Sin" "unary" "hf" ReadNone ALL Math Overload (value: Overload)
        14 Tan "Tan" "unary" "hf" ReadNone ALL Math Overload (value: Overload)
        15 Acos "Acos" "unary" "hf" ReadNone ALL Math Overload (value: Overload)
        16 Asin "Asin" "unary" "hf" ReadNone ALL Math Overload (value: Overload)
        17 Atan "Atan" "unary" "hf" ReadNone ALL Math Overload (value: Overload)
        18 Hcos "Hcos" "unary" "hf" ReadNone ALL Math Overload (value: Overload)
        19 Hsin "Hsin" "unary" "hf" ReadNone ALL Math Overload (value: Overload)
        20 Htan "Htan" "unary" "hf" ReadNone ALL Math Overload (value: Overload)
        21 Exp "Exp" "unary" "hf" ReadNone ALL Math Overload (value: Overload)
        22 Frc "Frc" "unary" "hf" ReadNone ALL Math Overload (value: Overload)
        23 Log "Log" "unary" "hf" ReadNone ALL Math Overload (value: Overload)
        24 Sqrt "Sqrt" "unary" "hf" ReadNone ALL Math Overload (value: Overload)
        25 Rsqrt "Rsqrt" "unary" "hf" ReadNone ALL Math Overload (value: Overload)
        26 RoundNe "Round_ne" "unary" "hf" ReadNone ALL Math Overload (value: Overload)
        27 RoundNi "Round_ni" "unary" "hf" ReadNone ALL Math Overload (value: Overload)
        28 RoundPi "Round_pi" "unary" "hf" ReadNone ALL Math Overload (value: Overload)
        29 RoundZ "Round_z" "unary" "hf" ReadNone ALL Math Overload (value: Overload)
        30 Bfrev "Bfrev" "unary" "wil" ReadNone ALL Bits Overload (value: Overload)
        31 Countbits "Countbits" "unaryBits" "wil" ReadNone ALL Bits I32 (value: Overload)
        32 FirstbitLo "FirstbitLo" "unaryBits" "wil" ReadNone ALL Bits I32 (value: Overload)
        33 FirstbitHi "FirstbitHi" "unaryBits" "wil" ReadNone ALL Bits I32 (value: Overload)
        34 FirstbitSHi "FirstbitSHi" "unaryBits" "wil" ReadNone ALL Bits I32 (value: Overload)
        35 FMax "FMax" "binary" "hfd" ReadNone ALL Math Overload (a: Overload, b: Overload)
        36 FMin "FMin" "binary" "hfd" ReadNone ALL Math Overload (a: Overload, b: Overload)
        37 IMax "IMax" "binary" "wil" ReadNone ALL Bits Overload (a: Overload, b: Overload)
        38 IMin "IMin" "binary" "wil" ReadNone ALL Bits Overload (a: Overload, b: Overload)
        39 UMax "UMax" "binary" "wil" ReadNone ALL Bits Overload (a: Overload, b: Overload)
        40 UMin "UMin" "binary" "wil" ReadNone ALL Bits Overload (a: Overload, b: Overload)
        41 IMul "IMul" "binaryWithTwoOuts" "i" ReadNone ALL Bits TwoI32 (a: Overload, b: Overload)
        42 UMul "UMul" "binaryWithTwoOuts" "i" ReadNone ALL Bits TwoI32 (a: Overload, b: Overload)
        43 UDiv "UDiv" "binaryWithTwoOuts" "i" ReadNone ALL Bits TwoI32 (a: Overload, b: Overload)
        44 UAddc "UAddc" "binaryWithCarryOrBorrow" "i" ReadNone ALL Bits I32WithCarry (
            a: Overload, b: Overload)
        45 USubb "USubb" "binaryWithCarryOrBorrow" "i" ReadNone ALL Bits I32WithCarry (
            a: Overload, b: Overload)
        46 FMad "FMad" "tertiary" "hfd" ReadNone ALL Math Overload (a: Overload, b: Overload, c: Overload)
        47 Fma "Fma" "tertiary" "d" ReadNone ALL Math Overload (a: Overload, b: Overload, c: Overload)
        48 IMad "IMad" "tertiary" "wil" ReadNone ALL Bits Overload (a: Overload, b: Overload, c: Overload)
        49 UMad "UMad" "tertiary" "wil" ReadNone ALL Bits Overload (a: Overload, b: Overload, c: Overload)
        50 Msad "Msad" "tertiary" "il" ReadNone ALL Bits Overload (a: Overload, b: Overload, c: Overload)
        51 Ibfe "Ibfe" "tertiary" "il" ReadNone ALL Bits Overload (a: Overload, b: Overload, c: Overload)
        52 Ubfe "Ubfe" "tertiary" "il" ReadNone ALL Bits Overload (a: Overload, b: Overload, c: Overload)
        53 Bfi "Bfi" "quaternary" "i" ReadNone ALL Bits Overload (
            width: Overload, offset: Overload, value: Overload, replacedValue: Overload)
        54 Dot2 "Dot2" "dot2" "hf" ReadNone ALL Math Overload (
            ax: Overload, ay: Overload, bx: Overload, by: Overload)
        55 Dot3 "Dot3" "dot3" "hf" ReadNone ALL Math Overload (
            ax: Overload, ay: Overload, az: Overload, bx: Overload, by: Overload, bz: Overload)
        56 Dot4 "Dot4" "dot4" "hf" ReadNone ALL Math Overload (
            ax: Overload, ay: Overload, az: Overload, aw: Overload, bx: Overload, by: Overload, bz: Overload,
            bw: Overload)
        57 CreateHandle "CreateHandle" "createHandle" "" ReadOnly ALL Handle Handle (
            resourceClass: I8, rangeId: I32, index: I32, nonUniformIndex: I1)
        58 CBufferLoad "CBufferLoad" "cbufferLoad" "hfd8wil" ReadOnly ALL Buffer Overload (
            handle: Handle, byteOffset: I32, alignment: I32)
        59 CBufferLoadLegacy "CBufferLoadLegacy" "cbufferLoadLegacy" "hfdwil" ReadOnly ALL Buffer CBufferReturn (
            handle: Handle, regIndex: I32)
        60 Sample "Sample" "sample" "hfwi" ReadOnly QUADS Texture ResourceReturn (
            srv: Handle, sampler: Handle, coord0: F32, coord1: F32, coord2: F32, coord3: F32, offset0: I32,
            offset1: I32, offset2: I32, clamp: F32)
        61 SampleBias "SampleBias" "sampleBias" "hfwi" ReadOnly QUADS Texture ResourceReturn (
            srv: Handle, sampler: Handle, coord0: F32, coord1: F32, coord2: F32, coord3: F32, offset0: I32,
            offset1: I32, offset2: I32, bias: F32, clamp: F32)
        62 SampleLevel "SampleLevel" "sampleLevel" "hfwi" ReadOnly ALL Texture ResourceReturn (
            srv: Handle, sampler: Handle, coord0: F32, coord1: F32, coord2: F32, coord3: F32, offset0: I32,
            offset1: I32, offset2: I32, LOD: F32)
        63 SampleGrad "SampleGrad" "sampleGrad" "hfwi" ReadOnly ALL Texture ResourceReturn (
            srv: Handle, sampler: Handle, coord0: F32, coord1: F32, coord2: F32, coord3: F32, offset0: I32,
            offset1: I32, offset2: I32, ddx0: F32, ddx1: F32, ddx2: F32, ddy0: F32, ddy1: F32, ddy2: F32,
            clamp: F32)
        64 SampleCmp "SampleCmp" "sampleCmp" "hf" ReadOnly QUADS Texture ResourceReturn (
            srv: Handle, sampler: Handle, coord0: F32, coord1: F32, coord2: F32, coord3: F32, offset0: I32,
            offset1: I32, offset2: I32, compareValue: F32, clamp: F32)
        65 SampleCmpLevelZero "SampleCmpLevelZero" "sampleCmpLevelZero" "hf" ReadOnly ALL Texture ResourceReturn (
            srv: Handle, sampler: Handle, coord0: F32, coord1: F32, coord2: F32, coord3: F32, offset0: I32,
            offset1: I32, offset2: I32, compareValue: F32)
        66 TextureLoad "TextureLoad" "textureLoad" "hfwi" ReadOnly ALL Texture ResourceReturn (
            srv: Handle, mipLevelOrSampleCount: I32, coord0: I32, coord1: I32, coord2: I32, offset0: I32,
            offset1: I32, offset2: I32)
        67 TextureStore "TextureStore" "textureStore" "hfwi" ReadWrite ALL Texture Void (
            srv: Handle, coord0: I32, coord1: I32, coord2: I32, value0: Overload, value1: Overload,
            value2: Overload, value3: Overload, mask: I8)
        68 BufferLoad "BufferLoad" "bufferLoad" "hfwi" ReadOnly ALL Buffer ResourceReturn (
            srv: Handle, index: I32, wot: I32)
        69 BufferStore "BufferStore" "bufferStore" "hfwi" ReadWrite ALL Buffer Void (
            uav: Handle, coord0: I32, coord1: I32, value0: Overload, value1: Overload, value2: Overload,
            value3: Overload, mask: I8)
        70 BufferUpdateCounter "BufferUpdateCounter" "bufferUpdateCounter" "" ReadWrite ALL Buffer I32 (
            uav: Handle, inc: I8)
        71 CheckAccessFullyMapped "CheckAccessFullyMapped" "checkAccessFullyMapped" "i" ReadOnly ALL Texture I1 (
            status: I32)
        72 GetDimensions "GetDimensions" "getDimensions" "" ReadOnly ALL Texture Dimensions (
            handle: Handle, mipLevel: I32)
        73 TextureGather "TextureGather" "textureGather" "hfwi" ReadOnly ALL Texture ResourceReturn (
            srv: Handle, sampler: Handle, coord0: F32, coord1: F32, coord2: F32, coord3: F32, offset0: I32,
            offset1: I32, channel: I32)
        74 TextureGatherCmp "TextureGatherCmp" "textureGatherCmp" "hfwi" ReadOnly ALL Texture ResourceReturn (
            srv: Handle, sampler: Handle, coord0: F32, coord1: F32, coord2: F32, coord3: F32, offset0: I32,
            offset1: I32, channel: I32, compareValue: F32)
        75 Texture2DMSGetSamplePosition "Texture2DMSGetSamplePosition" "texture2DMSGetSamplePosition" "" ReadOnly ALL Samples SamplePosition (
            srv: Handle, index: I32)
        76 RenderTargetGetSamplePosition "RenderTargetGetSamplePosition" "renderTargetGetSamplePosition" "" ReadOnly PIXEL Samples SamplePosition (
            index: I32)
        77 RenderTargetGetSampleCount "RenderTargetGetSampleCount" "renderTargetGetSampleCount" "" ReadOnly PIXEL Samples I32 (
            )
        78 AtomicBinOp "AtomicBinOp" "atomicBinOp" "il" ReadWrite ALL Buffer Overload (
            handle: Handle, atomicOp: I32, offset0: I32, offset1: I32, offset2: I32, newValue: Overload)
        79 AtomicCompareExchange "AtomicCompareExchange" "atomicCompareExchange" "il" ReadWrite ALL Buffer Overload (
            handle: Handle, offset0: I32, offset1: I32, offset2: I32, compareValue: Overload,
            newValue: Overload)
        80 Barrier "Barrier" "barrier" "" NoDuplicate ALL Compute Void (barrierMode: I32)
        81 CalculateLOD "CalculateLOD" "calculateLOD" "f" ReadOnly QUADS Texture F32 (
            handle: Handle, sampler: Handle, coord0: F32, coord1: F32, coord2: F32, clamped: I1)
        82 Discard "Discard" "discard" "" ReadWrite PIXEL Stage Void (condition: I1)
        83 DerivCoarseX "DerivCoarseX" "unary" "hf" ReadNone QUADS Stage Overload (value: Overload)
        84 DerivCoarseY "DerivCoarseY" "unary" "hf" ReadNone QUADS Stage Overload (value: Overload)
        85 DerivFineX "DerivFineX" "unary" "hf" ReadNone QUADS Stage Overload (value: Overload)
        86 DerivFineY "DerivFineY" "unary" "hf" ReadNone QUADS Stage Overload (value: Overload)
        87 EvalSnapped "EvalSnapped" "evalSnapped" "hf" ReadNone PIXEL Stage Overload (
            inputSigId: I32, inputRowIndex: I32, inputColIndex: I8, offsetX: I32, offsetY: I32)
        88 EvalSampleIndex "EvalSampleIndex" "evalSampleIndex" "hf" ReadNone PIXEL Stage Overload (
            inputSigId: I32, inputRowIndex: I32, inputColIndex: I8, sampleIndex: I32)
        89 EvalCentroid "EvalCentroid" "evalCentroid" "hf" ReadNone PIXEL Stage Overload (
            inputSigId: I32, inputRowIndex: I32, inputColIndex: I8)
        90 SampleIndex "SampleIndex" "sampleIndex" "i" ReadNone PIXEL Stage I32 ()
        91 Coverage "Coverage" "coverage" "i" ReadNone PIXEL Stage I32 ()
        92 InnerCoverage "InnerCoverage" "innerCoverage" "i" ReadNone PIXEL Stage I32 ()
        93 ThreadId "ThreadId" "threadId" "i" ReadNone GROUPS Compute I32 (component: I32)
        94 GroupId "GroupId" "groupId" "i" ReadNone GROUPS Compute I32 (component: I32)
        95 ThreadIdInGroup "ThreadIdInGroup" "threadIdInGroup" "i" ReadNone GROUPS Compute I32 (
            component: I32)
        96 FlattenedThreadIdInGroup "FlattenedThreadIdInGroup" "flattenedThreadIdInGroup" "i" ReadNone GROUPS Compute I32 (
            )
        97 EmitStream "EmitStream" "emitStream" "" ReadWrite GEOMETRY Primitive Void (streamId: I8)
        98 CutStream "CutStream" "cutStream" "" ReadWrite GEOMETRY Primitive Void (streamId: I8)
        99 EmitThenCutStream "EmitThenCutStream" "emitThenCutStream" "" ReadWrite GEOMETRY Primitive Void (
            streamId: I8)
        100 GSInstanceID "GSInstanceID" "gsInstanceID" "i" ReadNone GEOMETRY Primitive I32 ()
        101 MakeDouble "MakeDouble" "makeDouble" "d" ReadNone ALL Convert F64 (lo: I32, hi: I32)
        102 SplitDouble "SplitDouble" "splitDouble" "d" ReadNone ALL Convert SplitDouble (value: F64)
        103 LoadOutputControlPoint "LoadOutputControlPoint" "loadOutputControlPoint" "hfwi" ReadNone PATCH Primitive Overload (
            inputSigId: I32, row: I32, col: I8, index: I32)
        104 LoadPatchConstant "LoadPatchConstant" "loadPatchConstant" "hfwi" ReadNone PATCH Primitive Overload (
            inputSigId: I32, row: I32, col: I8)
        105 DomainLocation "DomainLocation" "domainLocation" "f" ReadNone DOMAIN Primitive F32 (component: I8)
        106 StorePatchConstant "StorePatchConstant" "storePatchConstant" "hfwi" ReadWrite HULL Primitive Void (
            outputSigID: I32, row: I32, col: I8, value: Overload)
        107 OutputControlPointID "OutputControlPointID" "outputControlPointID" "i" ReadNone HULL Primitive I32 (
            )
        108 PrimitiveID "PrimitiveID" "primitiveID" "i" ReadNone PRIMITIVE Stage I32 ()
        109 CycleCounterLegacy "CycleCounterLegacy" "cycleCounterLegacy" "" ReadWrite ALL Compute TwoI32 ()
        110 WaveIsFirstLane "WaveIsFirstLane" "waveIsFirstLane" "" ReadWrite ALL Wave I1 ()
        111 WaveGetLaneIndex "WaveGetLaneIndex" "waveGetLaneIndex" "" ReadNone ALL Wave I32 ()
        112 WaveGetLaneCount "WaveGetLaneCount" "waveGetLaneCount" "" ReadNone ALL Wave I32 ()
        113 WaveAnyTrue "WaveAnyTrue" "waveAnyTrue" "" ReadWrite ALL Wave I1 (cond: I1)
        114 WaveAllTrue "WaveAllTrue" "waveAllTrue" "" ReadWrite ALL Wave I1 (cond: I1)
        115 WaveActiveAllEqual "WaveActiveAllEqual" "waveActiveAllEqual" "hfd18wil" ReadWrite ALL Wave I1 (
            value: Overload)
        116 WaveActiveBallot "WaveActiveBallot" "waveActiveBallot" "" ReadWrite ALL Wave FourI32 (cond: I1)
        117 WaveReadLaneAt "WaveReadLaneAt" "waveReadLaneAt" "hfd18wil" ReadWrite ALL Wave Overload (
            value: Overload, lane: I32)
        118 WaveReadLaneFirst "WaveReadLaneFirst" "waveReadLaneFirst" "hfd18wil" ReadWrite ALL Wave Overload (
            value: Overload)
        119 WaveActiveOp "WaveActiveOp" "waveActiveOp" "hfd18wil" ReadWrite ALL Wave Overload (
            value: Overload, op: I8, sop: I8)
        120 WaveActiveBit "WaveActiveBit" "waveActiveBit" "8wil" ReadWrite ALL Wave Overload (
            value: Overload, op: I8)
        121 WavePrefixOp "WavePrefixOp" "wavePrefixOp" "hfd8wil" ReadWrite ALL Wave Overload (
            value: Overload, op: I8, sop: I8)
        122 QuadReadLaneAt "QuadReadLaneAt" "quadReadLaneAt" "hfd18wil" ReadWrite QUADS Wave Overload (
            value: Overload, quadLane: I32)
        123 QuadOp "QuadOp" "quadOp" "hfd8wil" ReadWrite QUADS Wave Overload (value: Overload, op: I8)
        124 BitcastI16toF16 "BitcastI16toF16" "bitcastI16toF16" "" ReadNone ALL Convert F16 (value: I16)
        125 BitcastF16toI16 "BitcastF16toI16" "bitcastF16toI16" "" ReadNone ALL Convert I16 (value: F16)
        126 BitcastI32toF32 "BitcastI32toF32" "bitcastI32toF32" "" ReadNone ALL Convert F32 (value: I32)
        127 BitcastF32toI32 "BitcastF32toI32" "bitcastF32toI32" "" ReadNone ALL Convert I32 (value: F32)
        128 BitcastI64toF64 "BitcastI64toF64" "bitcastI64toF64" "" ReadNone ALL Convert F64 (value: I64)
        129 BitcastF64toI64 "BitcastF64toI64" "bitcastF64toI64" "" ReadNone ALL Convert I64 (value: F64)
        130 LegacyF32ToF16 "LegacyF32ToF16" "legacyF32ToF16" "" ReadNone ALL Convert I32 (value: F32)
        131 LegacyF16ToF32 "LegacyF16ToF32" "legacyF16ToF32" "" ReadNone ALL Convert F32 (value: I32)
        132 LegacyDoubleToFloat "LegacyDoubleToFloat" "legacyDoubleToFloat" "" ReadNone ALL Convert F32 (
            value: F64)
        133 LegacyDoubleToSInt32 "LegacyDoubleToSInt32" "legacyDoubleToSInt32" "" ReadNone ALL Convert I32 (
            value: F64)
        134 LegacyDoubleToUInt32 "LegacyDoubleToUInt32" "legacyDoubleToUInt32" "" ReadNone ALL Convert I32 (
            value: F64)
        135 WaveAllBitCount "WaveAllBitCount" "waveAllOp" "" ReadWrite ALL Wave I32 (value: I1)
        136 WavePrefixBitCount "WavePrefixBitCount" "wavePrefixOp" "" ReadWrite ALL Wave I32 (value: I1)
    }
    SM_6_1 {
        137 AttributeAtVertex "AttributeAtVertex" "attributeAtVertex" "hfwi" ReadNone PIXEL Stage Overload (
            inputSigId: I32, inputRowIndex: I32, inputColIndex: I8, VertexID: I8)
        138 ViewID "ViewID" "viewID" "i" ReadNone VIEW Stage I32 ()
    }
    SM_6_2 {
        139 RawBufferLoad "RawBufferLoad" "rawBufferLoad" "hfdwil" ReadOnly ALL Buffer ResourceReturn (
            srv: Handle, index: I32, elementOffset: I32, mask: I8, alignment: I32)
        140 RawBufferStore "RawBufferStore" "rawBufferStore" "hfdwil" ReadWrite ALL Buffer Void (
            uav: Handle, index: I32, elementOffset: I32, value0: Overload, value1: Overload,
            value2: Overload, value3: Overload, mask: I8, alignment: I32)
    }
    SM_6_3 {
        141 InstanceID "InstanceID" "instanceID" "i" ReadNone HIT Ray I32 ()
        142 InstanceIndex "InstanceIndex" "instanceIndex" "i" ReadNone HIT Ray I32 ()
        143 HitKind "HitKind" "hitKind" "i" ReadNone HIT Ray I32 ()
        144 RayFlags "RayFlags" "rayFlags" "i" ReadNone RAY Ray I32 ()
        145 DispatchRaysIndex "DispatchRaysIndex" "dispatchRaysIndex" "i" ReadNone RAYTRACING Ray I32 (
            col: I8)
        146 DispatchRaysDimensions "DispatchRaysDimensions" "dispatchRaysDimensions" "i" ReadNone RAYTRACING Ray I32 (
            col: I8)
        147 WorldRayOrigin "WorldRayOrigin" "worldRayOrigin" "f" ReadNone RAY Ray F32 (col: I8)
        148 WorldRayDirection "WorldRayDirection" "worldRayDirection" "f" ReadNone RAY Ray F32 (col: I8)
        149 ObjectRayOrigin "ObjectRayOrigin" "objectRayOrigin" "f" ReadNone HIT Ray F32 (col: I8)
        150 ObjectRayDirection "ObjectRayDirection" "objectRayDirection" "f" ReadNone HIT Ray F32 (col: I8)
        151 ObjectToWorld "ObjectToWorld" "objectToWorld" "f" ReadNone HIT Ray F32 (row: I32, col: I8)
        152 WorldToObject "WorldToObject" "worldToObject" "f" ReadNone HIT Ray F32 (row: I32, col: I8)
        153 RayTMin "RayTMin" "rayTMin" "f" ReadNone RAY Ray F32 ()
        154 RayTCurrent "RayTCurrent" "rayTCurrent" "f" ReadOnly RAY Ray F32 ()
        155 IgnoreHit "IgnoreHit" "ignoreHit" "" NoReturn ANY_HIT Ray Void ()
        156 AcceptHitAndEndSearch "AcceptHitAndEndSearch" "acceptHitAndEndSearch" "" NoReturn ANY_HIT Ray Void (
            )
        157 TraceRay "TraceRay" "traceRay" "u" ReadWrite TRACE Ray Void (
            AccelerationStructure: Handle, RayFlags: I32, InstanceInclusionMask: I32,
            RayContributionToHitGroupIndex: I32, MultiplierForGeometryContributionToShaderIndex: I32,
            MissShaderIndex: I32, Origin_X: F32, Origin_Y: F32, Origin_Z: F32, TMin: F32, Direction_X: F32,
            Direction_Y: F32, Direction_Z: F32, TMax: F32, payload: UserStruct)
        158 ReportHit "ReportHit" "reportHit" "u" ReadWrite INTERSECTION Ray I1 (
            THit: F32, HitKind: I32, Attributes: UserStruct)
        159 CallShader "CallShader" "callShader" "u" ReadWrite CALL Ray Void (
            ShaderIndex: I32, Parameter: UserStruct)
        160 CreateHandleForLib "CreateHandleForLib" "createHandleForLib" "o" ReadOnly ALL Handle Handle (
            Resource: Object)
        161 PrimitiveIndex "PrimitiveIndex" "primitiveIndex" "i" ReadNone HIT Ray I32 ()
    }
    SM_6_4 {
        162 Dot2AddHalf "Dot2AddHalf" "dot2AddHalf" "f" ReadNone ALL Math Overload (
            acc: Overload, ax: F16, ay: F16, bx: F16, by: F16)
        163 Dot4AddI8Packed "Dot4AddI8Packed" "dot4AddPacked" "i" ReadNone ALL Bits I32 (
            acc: I32, a: I32, b: I32)
        164 Dot4AddU8Packed "Dot4AddU8Packed" "dot4AddPacked" "i" ReadNone ALL Bits I32 (
            acc: I32, a: I32, b: I32)
    }
    SM_6_5 {
        165 WaveMatch "WaveMatch" "waveMatch" "hfd8wil" ReadWrite ALL Partition FourI32 (value: Overload)
        166 WaveMultiPrefixOp "WaveMultiPrefixOp" "waveMultiPrefixOp" "hfd8wil" ReadWrite ALL Partition Overload (
            value: Overload, mask0: I32, mask1: I32, mask2: I32, mask3: I32, op: I8, sop: I8)
        167 WaveMultiPrefixBitCount "WaveMultiPrefixBitCount" "waveMultiPrefixBitCount" "" ReadWrite ALL Partition I32 (
            value: I1, mask0: I32, mask1: I32, mask2: I32, mask3: I32)
        168 SetMeshOutputCounts "SetMeshOutputCounts" "setMeshOutputCounts" "" ReadWrite MESH Primitive Void (
            numVertices: I32, numPrimitives: I32)
        169 EmitIndices "EmitIndices" "emitIndices" "" ReadWrite MESH Primitive Void (
            PrimitiveIndex: I32, VertexIndex0: I32, VertexIndex1: I32, VertexIndex2: I32)
        170 GetMeshPayload "GetMeshPayload" "getMeshPayload" "u" ReadOnly MESH Primitive UserStruct ()
        171 StoreVertexOutput "StoreVertexOutput" "storeVertexOutput" "hfwi" ReadWrite MESH Primitive Void (
            outputSigId: I32, rowIndex: I32, colIndex: I8, value: Overload, vertexIndex: I32)
        172 StorePrimitiveOutput "StorePrimitiveOutput" "storePrimitiveOutput" "hfwi" ReadWrite MESH Primitive Void (
            outputSigId: I32, rowIndex: I32, colIndex: I8, value: Overload, primitiveIndex: I32)
        173 DispatchMesh "DispatchMesh" "dispatchMesh" "u" ReadWrite AMPLIFICATION Primitive Void (
            threadGroupCountX: I32, threadGroupCountY: I32, threadGroupCountZ: I32, payload: UserStruct)
        174 WriteSamplerFeedback "WriteSamplerFeedback" "writeSamplerFeedback" "" ReadWrite PIXEL Feedback Void (
            feedbackTex: Handle, sampledTex: Handle, sampler: Handle, c0: F32, c1: F32, c2: F32, c3: F32,
            clamp: F32)
        175 WriteSamplerFeedbackBias "WriteSamplerFeedbackBias" "writeSamplerFeedbackBias" "" ReadWrite PIXEL Feedback Void (
            feedbackTex: Handle, sampledTex: Handle, sampler: Handle, c0: F32, c1: F32, c2: F32, c3: F32,
            bias: F32, clamp: F32)
        176 WriteSamplerFeedbackLevel "WriteSamplerFeedbackLevel" "writeSamplerFeedbackLevel" "" ReadWrite ALL Feedback Void (
            feedbackTex: Handle, sampledTex: Handle, sampler: Handle, c0: F32, c1: F32, c2: F32, c3: F32,
            lod: F32)
        177 WriteSamplerFeedbackGrad "WriteSamplerFeedbackGrad" "writeSamplerFeedbackGrad" "" ReadWrite ALL Feedback Void (
            feedbackTex: Handle, sampledTex: Handle, sampler: Handle, c0: F32, c1: F32, c2: F32, c3: F32,
            ddx0: F32, ddx1: F32, ddx2: F32, ddy0: F32, ddy1: F32, ddy2: F32, clamp: F32)
        178 AllocateRayQuery "AllocateRayQuery" "allocateRayQuery" "" ReadWrite ALL Ray I32 (
            constRayFlags: I32)
        179 RayQueryTraceRayInline "RayQuery_TraceRayInline" "rayQuery_TraceRayInline" "" ReadWrite ALL Ray Void (
            rayQueryHandle: I32, accelerationStructure: Handle, rayFlags: I32, instanceInclusionMask: I32,
            origin_X: F32, origin_Y: F32, origin_Z: F32, tMin: F32, direction_X: F32, direction_Y: F32,
            direction_Z: F32, tMax: F32)
        180 RayQueryProceed "RayQuery_Proceed" "rayQuery_Proceed" "1" ReadWrite ALL Ray I1 (
            rayQueryHandle: I32)
        181 RayQueryAbort "RayQuery_Abort" "rayQuery_Abort" "" ReadWrite ALL Ray Void (rayQueryHandle: I32)
        182 RayQueryCommitNonOpaqueTriangleHit "RayQuery_CommitNonOpaqueTriangleHit" "rayQuery_CommitNonOpaqueTriangleHit" "" ReadWrite ALL Ray Void (
            rayQueryHandle: I32)
        183 RayQueryCommitProceduralPrimitiveHit "RayQuery_CommitProceduralPrimitiveHit" "rayQuery_CommitProceduralPrimitiveHit" "" ReadWrite ALL Ray Void (
            rayQueryHandle: I32, t: F32)
        184 RayQueryCommittedStatus "RayQuery_CommittedStatus" "rayQuery_StateScalar" "i" ReadOnly ALL Ray I32 (
            rayQueryHandle: I32)
        185 RayQueryCandidateType "RayQuery_CandidateType" "rayQuery_StateScalar" "i" ReadOnly ALL Ray I32 (
            rayQueryHandle: I32)
        186 RayQueryCandidateObjectToWorld3x4 "RayQuery_CandidateObjectToWorld3x4" "rayQuery_StateMatrix" "f" ReadOnly ALL Ray F32 (
            rayQueryHandle: I32, row: I32, col: I8)
        187 RayQueryCandidateWorldToObject3x4 "RayQuery_CandidateWorldToObject3x4" "rayQuery_StateMatrix" "f" ReadOnly ALL Ray F32 (
            rayQueryHandle: I32, row: I32, col: I8)
        188 RayQueryCommittedObjectToWorld3x4 "RayQuery_CommittedObjectToWorld3x4" "rayQuery_StateMatrix" "f" ReadOnly ALL Ray F32 (
            rayQueryHandle: I32, row: I32, col: I8)
        189 RayQueryCommittedWorldToObject3x4 "RayQuery_CommittedWorldToObject3x4" "rayQuery_StateMatrix" "f" ReadOnly ALL Ray F32 (
            rayQueryHandle: I32, row: I32, col: I8)
        190 RayQueryCandidateProceduralPrimitiveNonOpaque "RayQuery_CandidateProceduralPrimitiveNonOpaque" "rayQuery_StateScalar" "1" ReadOnly ALL Ray I1 (
            rayQueryHandle: I32)
        191 RayQueryCandidateTriangleFrontFace "RayQuery_CandidateTriangleFrontFace" "rayQuery_StateScalar" "1" ReadOnly ALL Ray I1 (
            rayQueryHandle: I32)
        192 RayQueryCommittedTriangleFrontFace "RayQuery_CommittedTriangleFrontFace" "rayQuery_StateScalar" "1" ReadOnly ALL Ray I1 (
            rayQueryHandle: I32)
        193 RayQueryCandidateTriangleBarycentrics "RayQuery_CandidateTriangleBarycentrics" "rayQuery_StateVector" "f" ReadOnly ALL Ray F32 (
            rayQueryHandle: I32, component: I8)
        194 RayQueryCommittedTriangleBarycentrics "RayQuery_CommittedTriangleBarycentrics" "rayQuery_StateVector" "f" ReadOnly ALL Ray F32 (
            rayQueryHandle: I32, component: I8)
        195 RayQueryRayFlags "RayQuery_RayFlags" "rayQuery_StateScalar" "i" ReadOnly ALL Ray I32 (
            rayQueryHandle: I32)
        196 RayQueryWorldRayOrigin "RayQuery_WorldRayOrigin" "rayQuery_StateVector" "f" ReadOnly ALL Ray F32 (
            rayQueryHandle: I32, component: I8)
        197 RayQueryWorldRayDirection "RayQuery_WorldRayDirection" "rayQuery_StateVector" "f" ReadOnly ALL Ray F32 (
            rayQueryHandle: I32, component: I8)
        198 RayQueryRayTMin "RayQuery_RayTMin" "rayQuery_StateScalar" "f" ReadOnly ALL Ray F32 (
            rayQueryHandle: I32)
        199 RayQueryCandidateTriangleRayT "RayQuery_CandidateTriangleRayT" "rayQuery_StateScalar" "f" ReadOnly ALL Ray F32 (
            rayQueryHandle: I32)
        200 RayQueryCommittedRayT "RayQuery_CommittedRayT" "rayQuery_StateScalar" "f" ReadOnly ALL Ray F32 (
            rayQueryHandle: I32)
        201 RayQueryCandidateInstanceIndex "RayQuery_CandidateInstanceIndex" "rayQuery_StateScalar" "i" ReadOnly ALL Ray I32 (
            rayQueryHandle: I32)
        202 RayQueryCandidateInstanceID "RayQuery_CandidateInstanceID" "rayQuery_StateScalar" "i" ReadOnly ALL Ray I32 (
            rayQueryHandle: I32)
        203 RayQueryCandidateGeometryIndex "RayQuery_CandidateGeometryIndex" "rayQuery_StateScalar" "i" ReadOnly ALL Ray I32 (
            rayQueryHandle: I32)
        204 RayQueryCandidatePrimitiveIndex "RayQuery_CandidatePrimitiveIndex" "rayQuery_StateScalar" "i" ReadOnly ALL Ray I32 (
            rayQueryHandle: I32)
        205 RayQueryCandidateObjectRayOrigin "RayQuery_CandidateObjectRayOrigin" "rayQuery_StateVector" "f" ReadOnly ALL Ray F32 (
            rayQueryHandle: I32, component: I8)
        206 RayQueryCandidateObjectRayDirection "RayQuery_CandidateObjectRayDirection" "rayQuery_StateVector" "f" ReadOnly ALL Ray F32 (
            rayQueryHandle: I32, component: I8)
        207 RayQueryCommittedInstanceIndex "RayQuery_CommittedInstanceIndex" "rayQuery_StateScalar" "i" ReadOnly ALL Ray I32 (
            rayQueryHandle: I32)
        208 RayQueryCommittedInstanceID "RayQuery_CommittedInstanceID" "rayQuery_StateScalar" "i" ReadOnly ALL Ray I32 (
            rayQueryHandle: I32)
        209 RayQueryCommittedGeometryIndex "RayQuery_CommittedGeometryIndex" "rayQuery_StateScalar" "i" ReadOnly ALL Ray I32 (
            rayQueryHandle: I32)
        210 RayQueryCommittedPrimitiveIndex "RayQuery_CommittedPrimitiveIndex" "rayQuery_StateScalar" "i" ReadOnly ALL Ray I32 (
            rayQueryHandle: I32)
        211 RayQueryCommittedObjectRayOrigin "RayQuery_CommittedObjectRayOrigin" "rayQuery_StateVector" "f" ReadOnly ALL Ray F32 (
            rayQueryHandle: I32, component: I8)
        212 RayQueryCommittedObjectRayDirection "RayQuery_CommittedObjectRayDirection" "rayQuery_StateVector" "f" ReadOnly ALL Ray F32 (
            rayQueryHandle: I32, component: I8)
        213 GeometryIndex "GeometryIndex" "geometryIndex" "i" ReadNone HIT Ray I32 ()
        214 RayQueryCandidateInstanceContributionToHitGroupIndex "RayQuery_CandidateInstanceContributionToHitGroupIndex" "rayQuery_StateScalar" "i" ReadOnly ALL Ray I32 (
            rayQueryHandle: I32)
        215 RayQueryCommittedInstanceContributionToHitGroupIndex "RayQuery_CommittedInstanceContributionToHitGroupIndex" "rayQuery_StateScalar" "i" ReadOnly ALL Ray I32 (
            rayQueryHandle: I32)
    }
    SM_6_6 {
        216 AnnotateHandle "AnnotateHandle" "annotateHandle" "" ReadNone ALL Handle Handle (
            res: Handle, props: ResourceProperties)
        217 CreateHandleFromBinding "CreateHandleFromBinding" "createHandleFromBinding" "" ReadNone ALL Handle Handle (
            bind: ResourceBinding, index: I32, nonUniformIndex: I1)
        218 CreateHandleFromHeap "CreateHandleFromHeap" "createHandleFromHeap" "" ReadNone ALL Handle Handle (
            index: I32, samplerHeap: I1, nonUniformIndex: I1)
        219 Unpack4x8 "Unpack4x8" "unpack4x8" "wi" ReadNone ALL Bits Vector4 (unpackMode: I8, pk: I32)
        220 Pack4x8 "Pack4x8" "pack4x8" "wi" ReadNone ALL Bits I32 (
            packMode: I8, x: Overload, y: Overload, z: Overload, w: Overload)
        221 IsHelperLane "IsHelperLane" "isHelperLane" "1" ReadOnly ALL Stage I1 ()
    }
    SM_6_7 {
        222 QuadVote "QuadVote" "quadVote" "1" ReadWrite QUADS Partition I1 (cond: I1, op: I8)
        223 TextureGatherRaw "TextureGatherRaw" "textureGatherRaw" "wil" ReadOnly ALL Texture ResourceReturn (
            srv: Handle, sampler: Handle, coord0: F32, coord1: F32, coord2: F32, coord3: F32, offset0: I32,
            offset1: I32)
        224 SampleCmpLevel "SampleCmpLevel" "sampleCmpLevel" "hf" ReadOnly ALL Texture ResourceReturn (
            srv: Handle, sampler: Handle, coord0: F32, coord1: F32, coord2: F32, coord3: F32, offset0: I32,
            offset1: I32, offset2: I32, compareValue: F32, lod: F32)
        225 TextureStoreSample "TextureStoreSample" "textureStoreSample" "hfwi" ReadWrite ALL Texture Void (
            srv: Handle, coord0: I32, coord1: I32, coord2: I32, value0: Overload, value1: Overload,
            value2: Overload, value3: Overload, mask: I8, sampleIdx: I32)
    }
    SM_6_8 {
        238 AllocateNodeOutputRecords "AllocateNodeOutputRecords" "allocateNodeOutputRecords" "" ReadWrite NODE Node NodeRecordHandle (
            output: NodeHandle, numRecords: I32, perThread: I1)
        239 GetNodeRecordPtr "GetNodeRecordPtr" "getNodeRecordPtr" "u" ReadNone NODE Node UserStruct (
            recordhandle: NodeRecordHandle, arrayIndex: I32)
        240 IncrementOutputCount "IncrementOutputCount" "incrementOutputCount" "" ReadWrite NODE Node Void (
            output: NodeHandle, count: I32, perThread: I1)
        241 OutputComplete "OutputComplete" "outputComplete" "" ReadWrite NODE Node Void (
            output: NodeRecordHandle)
        242 GetInputRecordCount "GetInputRecordCount" "getInputRecordCount" "" ReadOnly NODE Node I32 (
            input: NodeRecordHandle)
        243 FinishedCrossGroupSharing "FinishedCrossGroupSharing" "finishedCrossGroupSharing" "" ReadWrite NODE Node I1 (
            input: NodeRecordHandle)
        244 BarrierByMemoryType "BarrierByMemoryType" "barrierByMemoryType" "" NoDuplicate ALL Compute Void (
            MemoryTypeFlags: I32, SemanticFlags: I32)
        245 BarrierByMemoryHandle "BarrierByMemoryHandle" "barrierByMemoryHandle" "" NoDuplicate ALL Compute Void (
            object: Handle, SemanticFlags: I32)
        246 BarrierByNodeRecordHandle "BarrierByNodeRecordHandle" "barrierByNodeRecordHandle" "" NoDuplicate NODE Node Void (
            object: NodeRecordHandle, SemanticFlags: I32)
        247 CreateNodeOutputHandle "CreateNodeOutputHandle" "createNodeOutputHandle" "" ReadNone NODE Node NodeHandle (
            MetadataIdx: I32)
        248 IndexNodeHandle "IndexNodeHandle" "indexNodeHandle" "" ReadNone NODE Node NodeHandle (
            NodeOutputHandle: NodeHandle, ArrayIndex: I32)
        249 AnnotateNodeHandle "AnnotateNodeHandle" "annotateNodeHandle" "" ReadNone NODE Node NodeHandle (
            node: NodeHandle, props: NodeProperties)
        250 CreateNodeInputRecordHandle "CreateNodeInputRecordHandle" "createNodeInputRecordHandle" "" ReadNone NODE Node NodeRecordHandle (
            MetadataIdx: I32)
        251 AnnotateNodeRecordHandle "AnnotateNodeRecordHandle" "annotateNodeRecordHandle" "" ReadNone NODE Node NodeRecordHandle (
            noderecord: NodeRecordHandle, props: NodeProperties)
        252 NodeOutputIsValid "NodeOutputIsValid" "nodeOutputIsValid" "" ReadOnly NODE Node I1 (
            output: NodeHandle)
        253 GetRemainingRecursionLevels "GetRemainingRecursionLevels" "getRemainingRecursionLevels" "" ReadOnly NODE Node I32 (
            )
        254 SampleCmpGrad "SampleCmpGrad" "sampleCmpGrad" "hf" ReadOnly ALL Texture ResourceReturn (
            srv: Handle, sampler: Handle, coord0: F32, coord1: F32, coord2: F32, coord3: F32, offset0: I32,
            offset1: I32, offset2: I32, compareValue: F32, ddx0: F32, ddx1: F32, ddx2: F32, ddy0: F32,
            ddy1: F32, ddy2: F32, clamp: F32)
        255 SampleCmpBias "SampleCmpBias" "sampleCmpBias" "hf" ReadOnly QUADS Texture ResourceReturn (
            srv: Handle, sampler: Handle, coord0: F32, coord1: F32, coord2: F32, coord3: F32, offset0: I32,
            offset1: I32, offset2: I32, compareValue: F32, bias: F32, clamp: F32)
        256 StartVertexLocation "StartVertexLocation" "startVertexLocation" "i" ReadNone VERTEX Stage I32 ()
        257 StartInstanceLocation "StartInstanceLocation" "startInstanceLocation" "i" ReadNone VERTEX Stage I32 ()
    }
    SM_6_9 {
        258 AllocateRayQuery2 "AllocateRayQuery2" "allocateRayQuery2" "" ReadWrite ALL Ray I32 (
            constRayFlags: I32, constRayQueryFlags: I32)
        262 HitObjectTraceRay "HitObject_TraceRay" "hitObject_TraceRay" "u" ReadWrite TRACE Hit HitObject (
            accelerationStructure: Handle, rayFlags: I32, instanceInclusionMask: I32,
            rayContributionToHitGroupIndex: I32, multiplierForGeometryContributionToHitGroupIndex: I32,
            missShaderIndex: I32, Origin_X: F32, Origin_Y: F32, Origin_Z: F32, TMin: F32, Direction_X: F32,
            Direction_Y: F32, Direction_Z: F32, TMax: F32, payload: UserStruct)
        263 HitObjectFromRayQuery "HitObject_FromRayQuery" "hitObject_FromRayQuery" "" ReadOnly TRACE Hit HitObject (
            rayQueryHandle: I32)
        264 HitObjectFromRayQueryWithAttrs "HitObject_FromRayQueryWithAttrs" "hitObject_FromRayQueryWithAttrs" "u" ReadOnly TRACE Hit HitObject (
            rayQueryHandle: I32, HitKind: I32, CommittedAttribs: UserStruct)
        265 HitObjectMakeMiss "HitObject_MakeMiss" "hitObject_MakeMiss" "" ReadNone TRACE Hit HitObject (
            RayFlags: I32, MissShaderIndex: I32, Origin_X: F32, Origin_Y: F32, Origin_Z: F32, TMin: F32,
            Direction_X: F32, Direction_Y: F32, Direction_Z: F32, TMax: F32)
        266 HitObjectMakeNop "HitObject_MakeNop" "hitObject_MakeNop" "" ReadNone TRACE Hit HitObject ()
        267 HitObjectInvoke "HitObject_Invoke" "hitObject_Invoke" "u" ReadWrite TRACE Hit Void (
            hitObject: HitObject, payload: UserStruct)
        268 MaybeReorderThread "MaybeReorderThread" "maybeReorderThread" "" ReadWrite RAY_GENERATION Hit Void (
            hitObject: HitObject, coherenceHint: I32, numCoherenceHintBitsFromLSB: I32)
        269 HitObjectIsMiss "HitObject_IsMiss" "hitObject_StateScalar" "1" ReadNone TRACE Hit Overload (
            hitObject: HitObject)
        270 HitObjectIsHit "HitObject_IsHit" "hitObject_StateScalar" "1" ReadNone TRACE Hit Overload (
            hitObject: HitObject)
        271 HitObjectIsNop "HitObject_IsNop" "hitObject_StateScalar" "1" ReadNone TRACE Hit Overload (
            hitObject: HitObject)
        272 HitObjectRayFlags "HitObject_RayFlags" "hitObject_StateScalar" "i" ReadNone TRACE Hit Overload (
            hitObject: HitObject)
        273 HitObjectRayTMin "HitObject_RayTMin" "hitObject_StateScalar" "f" ReadNone TRACE Hit Overload (
            hitObject: HitObject)
        274 HitObjectRayTCurrent "HitObject_RayTCurrent" "hitObject_StateScalar" "f" ReadNone TRACE Hit Overload (
            hitObject: HitObject)
        275 HitObjectWorldRayOrigin "HitObject_WorldRayOrigin" "hitObject_StateVector" "f" ReadNone TRACE Hit Overload (
            hitObject: HitObject, component: I32)
        276 HitObjectWorldRayDirection "HitObject_WorldRayDirection" "hitObject_StateVector" "f" ReadNone TRACE Hit Overload (
            hitObject: HitObject, component: I32)
        277 HitObjectObjectRayOrigin "HitObject_ObjectRayOrigin" "hitObject_StateVector" "f" ReadNone TRACE Hit Overload (
            hitObject: HitObject, component: I32)
        278 HitObjectObjectRayDirection "HitObject_ObjectRayDirection" "hitObject_StateVector" "f" ReadNone TRACE Hit Overload (
            hitObject: HitObject, component: I32)
        279 HitObjectObjectToWorld3x4 "HitObject_ObjectToWorld3x4" "hitObject_StateMatrix" "f" ReadNone TRACE Hit Overload (
            hitObject: HitObject, row: I32, col: I32)
        280 HitObjectWorldToObject3x4 "HitObject_WorldToObject3x4" "hitObject_StateMatrix" "f" ReadNone TRACE Hit Overload (
            hitObject: HitObject, row: I32, col: I32)
        281 HitObjectGeometryIndex "HitObject_GeometryIndex" "hitObject_StateScalar" "i" ReadNone TRACE Hit Overload (
            hitObject: HitObject)
        282 HitObjectInstanceIndex "HitObject_InstanceIndex" "hitObject_StateScalar" "i" ReadNone TRACE Hit Overload (
            hitObject: HitObject)
        283 HitObjectInstanceID "HitObject_InstanceID" "hitObject_StateScalar" "i" ReadNone TRACE Hit Overload (
            hitObject: HitObject)
        284 HitObjectPrimitiveIndex "HitObject_PrimitiveIndex" "hitObject_StateScalar" "i" ReadNone TRACE Hit Overload (
            hitObject: HitObject)
        285 HitObjectHitKind "HitObject_HitKind" "hitObject_StateScalar" "i" ReadNone TRACE Hit Overload (
            hitObject: HitObject)
        286 HitObjectShaderTableIndex "HitObject_ShaderTableIndex" "hitObject_StateScalar" "i" ReadNone TRACE Hit Overload (
            hitObject: HitObject)
        287 HitObjectSetShaderTableIndex "HitObject_SetShaderTableIndex" "hitObject_SetShaderTableIndex" "" ReadNone TRACE Hit HitObject (
            hitObject: HitObject, shaderTableIndex: I32)
        288 HitObjectLoadLocalRootTableConstant "HitObject_LoadLocalRootTableConstant" "hitObject_LoadLocalRootTableConstant" "" ReadOnly TRACE Hit I32 (
            hitObject: HitObject, offset: I32)
        289 HitObjectAttributes "HitObject_Attributes" "hitObject_Attributes" "u" ReadOnly TRACE Hit Void (
            hitObject: HitObject, attributes: UserStruct)
        303 RawBufferVectorLoad "RawBufferVectorLoad" "rawBufferVectorLoad" "hfdwil" ReadOnly ALL Buffer ResourceReturn (
            buf: Handle, index: I32, elementOffset: I32, alignment: I32)
        304 RawBufferVectorStore "RawBufferVectorStore" "rawBufferVectorStore" "hfdwil" ReadWrite ALL Buffer Void (
            uav: Handle, index: I32, elementOffset: I32, value0: Overload, alignment: I32)
        305 MatVecMul "MatVecMul" "matVecMul" "u" ReadOnly ALL None Overload (
            inputVector: Overload, isInputUnsigned: I1, inputInterpretation: I32, matrixBuffer: Handle,
            matrixOffset: I32, matrixInterpretation: I32, matrixM: I32, matrixK: I32, matrixLayout: I32,
            matrixTranspose: I1, matrixStride: I32, isOutputUnsigned: I1)
        306 MatVecMulAdd "MatVecMulAdd" "matVecMulAdd" "u" ReadOnly ALL None Overload (
            inputVector: Overload, isInputUnsigned: I1, inputInterpretation: I32, matrixBuffer: Handle,
            matrixOffset: I32, matrixInterpretation: I32, matrixM: I32, matrixK: I32, matrixLayout: I32,
            matrixTranspose: I1, matrixStride: I32, biasBuffer: Handle, biasOffset: I32,
            biasInterpretation: I32, isOutputUnsigned: I1)
        307 OuterProductAccumulate "OuterProductAccumulate" "outerProductAccumulate" "u" ReadWrite ALL None Void (
            inputVector1: Overload, inputVector2: Overload, matrixBuffer: Handle, matrixOffset: I32,
            matrixInterpretation: I32, matrixLayout: I32, matrixStride: I32)
        308 VectorAccumulate "VectorAccumulate" "vectorAccumulate" "u" ReadWrite ALL None Void (
            inputVector: Overload, arrayBuffer: Handle, arrayOffset: I32)
        309 VectorReduceAnd "VectorReduceAnd" "vectorReduce" "18wil" ReadNone ALL Math OverloadLane (
            a: Overload)
        310 VectorReduceOr "VectorReduceOr" "vectorReduce" "18wil" ReadNone ALL Math OverloadLane (
            a: Overload)
        311 FDot "FDot" "dot" "hfd" ReadNone ALL Math OverloadLane (a: Overload, b: Overload)
    }
}
