; Phis of handles whose values are all the same, as a pixel shader has them.
target datalayout = "e-m:e-p:32:32-i1:32-i8:32-i16:32-i32:32-i64:64-f16:32-f32:32-f64:64-n8:16:32:64"
target triple = "dxil-ms-dx"

%dx.types.Handle = type { i8* }
%dx.types.ResRet.f32 = type { float, float, float, float, i32 }
%dx.types.ResRet.i32 = type { i32, i32, i32, i32, i32 }
%"class.Texture2D<vector<float, 4> >" = type { <4 x float>, %"class.Texture2D<vector<float, 4> >::mips_type" }
%"class.Texture2D<vector<float, 4> >::mips_type" = type { i32 }
%struct.ByteAddressBuffer = type { i32 }
%struct.SamplerState = type { i32 }

define void @main() {
  %1 = call %dx.types.Handle @dx.op.createHandle(i32 57, i8 0, i32 1, i32 1, i1 false)
  %2 = call %dx.types.Handle @dx.op.createHandle(i32 57, i8 0, i32 0, i32 0, i1 false)
  %3 = call %dx.types.Handle @dx.op.createHandle(i32 57, i8 3, i32 0, i32 0, i1 false)
  %4 = call i32 @dx.op.loadInput.i32(i32 4, i32 1, i32 0, i8 0, i32 undef)
  %5 = call float @dx.op.loadInput.f32(i32 4, i32 0, i32 0, i8 0, i32 undef)
  %6 = call float @dx.op.loadInput.f32(i32 4, i32 0, i32 0, i8 1, i32 undef)
  %7 = call %dx.types.ResRet.f32 @dx.op.sampleLevel.f32(i32 62, %dx.types.Handle %2, %dx.types.Handle %3, float %5, float %6, float undef, float undef, i32 0, i32 0, i32 undef, float 0.000000e+00)
  %8 = extractvalue %dx.types.ResRet.f32 %7, 0
  %9 = extractvalue %dx.types.ResRet.f32 %7, 1
  %10 = extractvalue %dx.types.ResRet.f32 %7, 2
  %11 = extractvalue %dx.types.ResRet.f32 %7, 3
  %12 = and i32 %4, 1
  %13 = icmp eq i32 %12, 0
  br i1 %13, label %29, label %14

  %15 = shl i32 %4, 4
  %16 = call %dx.types.ResRet.i32 @dx.op.bufferLoad.i32(i32 68, %dx.types.Handle %1, i32 %15, i32 undef)
  %17 = extractvalue %dx.types.ResRet.i32 %16, 0
  %18 = extractvalue %dx.types.ResRet.i32 %16, 1
  %19 = extractvalue %dx.types.ResRet.i32 %16, 2
  %20 = extractvalue %dx.types.ResRet.i32 %16, 3
  %21 = bitcast i32 %17 to float
  %22 = bitcast i32 %18 to float
  %23 = bitcast i32 %19 to float
  %24 = bitcast i32 %20 to float
  %25 = fadd fast float %21, %8
  %26 = fadd fast float %22, %9
  %27 = fadd fast float %23, %10
  %28 = fadd fast float %24, %11
  br label %29

  %same.1 = phi %dx.types.Handle [ %1, %14 ], [ %1, %0 ]
  %same.2 = phi %dx.types.Handle [ %2, %14 ], [ %2, %0 ]
  %same.3 = phi %dx.types.Handle [ %3, %14 ], [ %3, %0 ]
  %30 = phi float [ %25, %14 ], [ %8, %0 ]
  %31 = phi float [ %26, %14 ], [ %9, %0 ]
  %32 = phi float [ %27, %14 ], [ %10, %0 ]
  %33 = phi float [ %28, %14 ], [ %11, %0 ]
  %34 = call %dx.types.ResRet.i32 @dx.op.bufferLoad.i32(i32 68, %dx.types.Handle %same.1, i32 %4, i32 undef)
  %35 = extractvalue %dx.types.ResRet.i32 %34, 0
  %36 = bitcast i32 %35 to float
  %37 = fmul fast float %5, 2.000000e+00
  %38 = fmul fast float %6, 2.000000e+00
  %39 = call %dx.types.ResRet.f32 @dx.op.sampleLevel.f32(i32 62, %dx.types.Handle %same.2, %dx.types.Handle %same.3, float %37, float %38, float undef, float undef, i32 0, i32 0, i32 undef, float 0.000000e+00)
  %40 = extractvalue %dx.types.ResRet.f32 %39, 0
  %41 = extractvalue %dx.types.ResRet.f32 %39, 1
  %42 = extractvalue %dx.types.ResRet.f32 %39, 2
  %43 = extractvalue %dx.types.ResRet.f32 %39, 3
  %44 = fmul fast float %36, %30
  %45 = fmul fast float %44, %40
  %46 = fmul fast float %36, %31
  %47 = fmul fast float %46, %41
  %48 = fmul fast float %36, %32
  %49 = fmul fast float %48, %42
  %50 = fmul fast float %36, %33
  %51 = fmul fast float %50, %43
  call void @dx.op.storeOutput.f32(i32 5, i32 0, i32 0, i8 0, float %45)
  call void @dx.op.storeOutput.f32(i32 5, i32 0, i32 0, i8 1, float %47)
  call void @dx.op.storeOutput.f32(i32 5, i32 0, i32 0, i8 2, float %49)
  call void @dx.op.storeOutput.f32(i32 5, i32 0, i32 0, i8 3, float %51)
  ret void
}

declare float @dx.op.loadInput.f32(i32, i32, i32, i8, i32) #0

declare i32 @dx.op.loadInput.i32(i32, i32, i32, i8, i32) #0

declare void @dx.op.storeOutput.f32(i32, i32, i32, i8, float) #1

declare %dx.types.ResRet.f32 @dx.op.sampleLevel.f32(i32, %dx.types.Handle, %dx.types.Handle, float, float, float, float, i32, i32, i32, float) #2

declare %dx.types.Handle @dx.op.createHandle(i32, i8, i32, i32, i1) #2

declare %dx.types.ResRet.i32 @dx.op.bufferLoad.i32(i32, %dx.types.Handle, i32, i32) #2

attributes #0 = { nounwind readnone }
attributes #1 = { nounwind }
attributes #2 = { nounwind readonly }

!llvm.ident = !{!0}
!dx.version = !{!1}
!dx.valver = !{!2}
!dx.shaderModel = !{!3}
!dx.resources = !{!4}
!dx.viewIdState = !{!11}
!dx.entryPoints = !{!12}

!0 = !{!"clang version 3.7 (tags/RELEASE_370/final)"}
!1 = !{i32 1, i32 0}
!2 = !{i32 1, i32 7}
!3 = !{!"ps", i32 6, i32 0}
!4 = !{!5, null, null, !9}
!5 = !{!6, !8}
!6 = !{i32 0, %"class.Texture2D<vector<float, 4> >"* undef, !"", i32 0, i32 0, i32 1, i32 2, i32 0, !7}
!7 = !{i32 0, i32 9}
!8 = !{i32 1, %struct.ByteAddressBuffer* undef, !"", i32 0, i32 1, i32 1, i32 11, i32 0, null}
!9 = !{!10}
!10 = !{i32 0, %struct.SamplerState* undef, !"", i32 0, i32 0, i32 1, i32 0, null}
!11 = !{[7 x i32] [i32 5, i32 4, i32 15, i32 15, i32 0, i32 0, i32 15]}
!12 = !{void ()* @main, !"main", !13, !4, !23}
!13 = !{!14, !20, null}
!14 = !{!15, !18}
!15 = !{i32 0, !"UV", i8 9, i8 0, !16, i8 2, i32 1, i8 2, i32 0, i8 0, !17}
!16 = !{i32 0}
!17 = !{i32 3, i32 3}
!18 = !{i32 1, !"N", i8 5, i8 0, !16, i8 1, i32 1, i8 1, i32 1, i8 0, !19}
!19 = !{i32 3, i32 1}
!20 = !{!21}
!21 = !{i32 0, !"SV_Target", i8 9, i8 16, !16, i8 0, i32 1, i8 4, i32 0, i8 0, !22}
!22 = !{i32 3, i32 15}
!23 = !{i32 0, i64 16}
