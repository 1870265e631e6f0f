target datalayout = "e-m:e-p:32:32-i1:32-i8:32-i16:32-i32:32-i64:64-f16:32-f32:32-f64:64-n8:16:32:64"
target triple = "dxil-ms-dx"

%dx.types.Handle = type { i8* }
%dx.types.ResRet.f32 = type { float, float, float, float, i32 }
%"class.Texture2D<vector<float, 4> >" = type { <4 x float>, %"class.Texture2D<vector<float, 4> >::mips_type" }
%"class.Texture2D<vector<float, 4> >::mips_type" = type { i32 }
%struct.SamplerState = type { i32 }

define void @main() {
entry:
  %tex = call %dx.types.Handle @dx.op.createHandle(i32 57, i8 0, i32 0, i32 0, i1 false)
  %smp = call %dx.types.Handle @dx.op.createHandle(i32 57, i8 3, i32 0, i32 0, i1 false)
  %x = call float @dx.op.loadInput.f32(i32 4, i32 0, i32 0, i8 0, i32 undef)
  %y = call float @dx.op.loadInput.f32(i32 4, i32 0, i32 0, i8 1, i32 undef)
  %left = fcmp fast olt float %x, 4.000000e+00
  br i1 %left, label %yes, label %no

yes:
  br label %met

no:
  br label %met

met:
  ; Texture and sampler come by phis with one value.
  %t = phi %dx.types.Handle [ %tex, %yes ], [ %tex, %no ]
  %s = phi %dx.types.Handle [ %smp, %yes ], [ %smp, %no ]
  %u = phi float [ %x, %yes ], [ %y, %no ]
  %r = call %dx.types.ResRet.f32 @dx.op.sampleLevel.f32(i32 62, %dx.types.Handle %t, %dx.types.Handle %s, float %u, float %y, float undef, float undef, i32 0, i32 0, i32 undef, float 0.000000e+00)
  %c0 = extractvalue %dx.types.ResRet.f32 %r, 0
  %c1 = extractvalue %dx.types.ResRet.f32 %r, 1
  %c2 = extractvalue %dx.types.ResRet.f32 %r, 2
  %c3 = extractvalue %dx.types.ResRet.f32 %r, 3
  call void @dx.op.storeOutput.f32(i32 5, i32 0, i32 0, i8 0, float %c0)
  call void @dx.op.storeOutput.f32(i32 5, i32 0, i32 0, i8 1, float %c1)
  call void @dx.op.storeOutput.f32(i32 5, i32 0, i32 0, i8 2, float %c2)
  call void @dx.op.storeOutput.f32(i32 5, i32 0, i32 0, i8 3, float %c3)
  ret void
}

declare %dx.types.Handle @dx.op.createHandle(i32, i8, i32, i32, i1) #0
declare float @dx.op.loadInput.f32(i32, i32, i32, i8, i32) #0
declare %dx.types.ResRet.f32 @dx.op.sampleLevel.f32(i32, %dx.types.Handle, %dx.types.Handle, float, float, float, float, i32, i32, i32, float) #0
declare void @dx.op.storeOutput.f32(i32, i32, i32, i8, float) #0

attributes #0 = { nounwind }

!dx.version = !{!0}
!dx.valver = !{!0}
!dx.shaderModel = !{!1}
!dx.resources = !{!2}
!dx.entryPoints = !{!3}

!0 = !{i32 1, i32 0}
!1 = !{!"ps", i32 6, i32 0}
!2 = !{!5, null, null, !7}
!3 = !{void ()* @main, !"main", !10, !2, null}
!5 = !{!6}
!6 = !{i32 0, %"class.Texture2D<vector<float, 4> >"* undef, !"", i32 0, i32 0, i32 1, i32 2, i32 0, !9}
!7 = !{!8}
!8 = !{i32 0, %struct.SamplerState* undef, !"", i32 0, i32 0, i32 1, i32 0, null}
!9 = !{i32 0, i32 9}
!10 = !{!11, !13, null}
!11 = !{!12}
!12 = !{i32 0, !"SV_Position", i8 9, i8 3, !15, i8 4, i32 1, i8 4, i32 0, i8 0, null}
!13 = !{!14}
!14 = !{i32 0, !"SV_Target", i8 9, i8 16, !15, i8 0, i32 1, i8 4, i32 0, i8 0, null}
!15 = !{i32 0}
