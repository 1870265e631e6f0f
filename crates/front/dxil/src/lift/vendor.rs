//! Intrinsics of vendor libraries. They are accesses to a UAV that is no buffer, so translating them as accesses would be
//! wrong. What Vulkan has, too, is in `ags.rs`; the others are refused, and the error names the intrinsic.

use super::LiftError;
use super::cx::Cx;
use crate::bitcode::{Inst, InstKind, Operand};
use crate::ops::Op as Dx;
use crate::program::Vendor;

/// AGS: the bits of an atomic's address that hold the operation.
const AGS_OPERATION: u64 = 0xff;

/// AGS's operations.
const AGS: &[(u64, &str)] = &[
    (0x01, "Readfirstlane"),
    (0x02, "Readlane"),
    (0x03, "LaneId"),
    (0x04, "Swizzle"),
    (0x05, "Ballot"),
    (0x06, "MBCnt"),
    (0x0d, "BaryCoord"),
    (0x12, "WaveReduce"),
    (0x13, "WaveScan"),
    (0x17, "DrawIndex"),
    (0x1a, "BaseInstance"),
    (0x1b, "BaseVertex"),
    (0x1f, "ShaderClock"),
    (0x20, "ShaderRealtimeClock"),
];

/// NVAPI's operations (`nvShaderExtnEnums.h`).
const NVAPI: &[(u64, &str)] = &[
    (1, "NvShfl"),
    (2, "NvShflUp"),
    (3, "NvShflDown"),
    (4, "NvShflXor"),
    (5, "NvAll"),
    (6, "NvAny"),
    (7, "NvBallot"),
    (8, "NvGetLaneId"),
    (12, "an atomic on halves that are no words of a raw buffer"),
    (13, "an atomic on singles other than sums in a raw buffer"),
    (19, "NvGetSpecial of this kind"),
    (20, "an atomic on 64-bit integers that are not in a raw buffer"),
    (21, "NvWaveMatch"),
    (28, "NvFootprint"),
    (29, "NvFootprintBias"),
    (30, "NvGetShadingRate"),
    (31, "NvFootprintLevel"),
    (32, "NvFootprintGrad"),
    (33, "NvShflGeneric"),
    (51, "NvEvaluateAttributeAtSampleForVPRS"),
    (52, "NvEvaluateAttributeSnappedForVPRS"),
    (67, "NvTraceRayHitObject"),
    (68, "NvMakeHit"),
    (69, "NvMakeHitWithRecordIndex"),
    (70, "NvMakeMiss"),
    (71, "NvReorderThread"),
    (72, "NvInvokeHitObject"),
    (73, "NvHitObject.IsMiss"),
    (74, "NvHitObject.GetInstanceID"),
    (75, "NvHitObject.GetInstanceIndex"),
    (76, "NvHitObject.GetPrimitiveIndex"),
    (77, "NvHitObject.GetGeometryIndex"),
    (78, "NvHitObject.GetHitKind"),
    (79, "NvHitObject.GetRayDesc"),
    (80, "NvGetAttributesFromHitObject"),
    (81, "NvHitObject.GetShaderTableIndex"),
    (82, "NvHitObject.LoadLocalRootTableConstant"),
    (83, "NvHitObject.IsHit"),
    (84, "NvHitObject.IsNop"),
    (85, "NvMakeNop"),
    (86, "NvRtTriangleObjectPositions"),
    (87, "NvRtMicroTriangleObjectPositions"),
    (88, "NvRtMicroTriangleBarycentrics"),
    (89, "NvRtIsMicroTriangleHit"),
    (90, "NvRtIsBackFacing"),
    (91, "NvRtMicroVertexObjectPosition"),
    (92, "NvRtMicroVertexBarycentrics"),
    (93, "NvRtGetClusterID"),
    (94, "NvRtGetCandidateClusterID"),
    (95, "NvRtGetCommittedClusterID"),
    (96, "NvHitObject.GetClusterID"),
];

impl<'a> Cx<'a> {
    /// The error for the current instruction, an access to a library's UAV.
    pub(super) fn refused(&self, library: Vendor) -> LiftError {
        let (number, names) = match library {
            Vendor::Ags => (self.ags_operation(), AGS),
            Vendor::Nvapi => (self.nvapi_operation(), NVAPI),
        };
        let name = |number| names.iter().find(|&&(n, _)| n == number).map(|&(_, name)| name);
        let intrinsic = match number {
            Some(number) => name(number).map_or_else(|| format!("operation {number}"), str::to_owned),
            None => "an operation".into(),
        };
        LiftError::Vendor { inst: self.at, library, intrinsic }
    }

    /// The operation in the address of a compare-exchange.
    fn ags_operation(&self) -> Option<u64> {
        let (op, args) = self.dx_call(self.body.insts.get(self.at as usize)?)?;
        let address = match op {
            Dx::AtomicCompareExchange => args.get(1)?,
            Dx::AtomicBinOp => args.get(2)?,
            _ => return None,
        };
        Some(self.integer(address.value()?).ok()? & AGS_OPERATION)
    }

    /// The operation that an instruction calls, and the operands behind its number.
    pub(super) fn dx_call(&self, inst: &Inst) -> Option<(Dx, &'a [Operand])> {
        let InstKind::Call { args, .. } = &inst.kind else { return None };
        let (number, args) = self.body.list(*args).split_first()?;
        let number = self.integer(number.value()?).ok()?;
        Some((Dx::from_number(u32::try_from(number).ok()?)?, args))
    }
}
