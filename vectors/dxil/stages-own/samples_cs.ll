target datalayout = "e-m:e-p:32:32-i1:32-i8:32-i16:32-i32:32-i64:64-f16:32-f32:32-f64:64-n8:16:32:64"
target triple = "dxil-ms-dx"

%dx.types.Handle = type { i8* }
%dx.types.ResBind = type { i32, i32, i32, i8 }
%dx.types.ResourceProperties = type { i32, i32 }
%dx.types.ResRet.i32 = type { i32, i32, i32, i32, i32 }
%dx.types.ResRet.f32 = type { float, float, float, float, i32 }
%dx.types.Dimensions = type { i32, i32, i32, i32 }
%struct.RWByteAddressBuffer = type { i32 }
%"class.RWTexture2DMS<vector<float, 4>, 4>" = type { <4 x float> }
%"class.RWTexture2DMSArray<int, 4>" = type { i32 }
%"class.Texture2D<unsigned int>" = type { i32, %mips }
%"class.Texture2D<float>" = type { float, %mips }
%mips = type { i32 }
%struct.SamplerState = type { i32 }
%struct.SamplerComparisonState = type { i32 }

define void @main() {
  ; Samples of an image stored and loaded, raw gathers, comparisons at a level of detail.
  %1 = call %dx.types.Handle @dx.op.createHandleFromBinding(i32 217, %dx.types.ResBind { i32 0, i32 0, i32 0, i8 1 }, i32 0, i1 false)
  %2 = call %dx.types.Handle @dx.op.annotateHandle(i32 216, %dx.types.Handle %1, %dx.types.ResourceProperties { i32 4099, i32 1033 })
  %3 = call %dx.types.Handle @dx.op.createHandleFromBinding(i32 217, %dx.types.ResBind { i32 4, i32 4, i32 0, i8 1 }, i32 4, i1 false)
  %4 = call %dx.types.Handle @dx.op.annotateHandle(i32 216, %dx.types.Handle %3, %dx.types.ResourceProperties { i32 4104, i32 260 })
  %5 = call %dx.types.Handle @dx.op.createHandleFromBinding(i32 217, %dx.types.ResBind { i32 1, i32 1, i32 0, i8 0 }, i32 1, i1 false)
  %6 = call %dx.types.Handle @dx.op.annotateHandle(i32 216, %dx.types.Handle %5, %dx.types.ResourceProperties { i32 2, i32 261 })
  %7 = call %dx.types.Handle @dx.op.createHandleFromBinding(i32 217, %dx.types.ResBind { i32 2, i32 2, i32 0, i8 0 }, i32 2, i1 false)
  %8 = call %dx.types.Handle @dx.op.annotateHandle(i32 216, %dx.types.Handle %7, %dx.types.ResourceProperties { i32 2, i32 265 })
  %9 = call %dx.types.Handle @dx.op.createHandleFromBinding(i32 217, %dx.types.ResBind { i32 0, i32 0, i32 1, i8 3 }, i32 0, i1 false)
  %10 = call %dx.types.Handle @dx.op.annotateHandle(i32 216, %dx.types.Handle %9, %dx.types.ResourceProperties { i32 14, i32 0 })
  %11 = call %dx.types.Handle @dx.op.createHandleFromBinding(i32 217, %dx.types.ResBind { i32 1, i32 1, i32 1, i8 3 }, i32 1, i1 false)
  %12 = call %dx.types.Handle @dx.op.annotateHandle(i32 216, %dx.types.Handle %11, %dx.types.ResourceProperties { i32 32782, i32 0 })
  %13 = call %dx.types.Handle @dx.op.createHandleFromBinding(i32 217, %dx.types.ResBind { i32 3, i32 3, i32 0, i8 1 }, i32 3, i1 false)
  %14 = call %dx.types.Handle @dx.op.annotateHandle(i32 216, %dx.types.Handle %13, %dx.types.ResourceProperties { i32 4107, i32 0 })
  %15 = call i32 @dx.op.flattenedThreadIdInGroup.i32(i32 96)
  %16 = and i32 %15, 3
  %17 = lshr i32 %15, 2
  %18 = uitofp i32 %16 to float
  %19 = uitofp i32 %17 to float
  %20 = uitofp i32 %15 to float
  call void @dx.op.textureStoreSample.f32(i32 225, %dx.types.Handle %2, i32 %16, i32 1, i32 undef, float %18, float %19, float %20, float 1.000000e+00, i8 15, i32 %17)
  %21 = add i32 %15, 100
  call void @dx.op.textureStoreSample.i32(i32 225, %dx.types.Handle %4, i32 %16, i32 0, i32 1, i32 %21, i32 %21, i32 %21, i32 %21, i8 15, i32 %17)
  call void @dx.op.barrier(i32 80, i32 3)
  %22 = xor i32 %17, 1
  %23 = call %dx.types.ResRet.f32 @dx.op.textureLoad.f32(i32 66, %dx.types.Handle %2, i32 %22, i32 %16, i32 1, i32 undef, i32 undef, i32 undef, i32 undef)
  %24 = extractvalue %dx.types.ResRet.f32 %23, 0
  %25 = fptoui float %24 to i32
  %26 = extractvalue %dx.types.ResRet.f32 %23, 1
  %27 = fptoui float %26 to i32
  %28 = extractvalue %dx.types.ResRet.f32 %23, 2
  %29 = fptoui float %28 to i32
  %30 = call %dx.types.ResRet.i32 @dx.op.textureLoad.i32(i32 66, %dx.types.Handle %4, i32 %22, i32 %16, i32 0, i32 1, i32 undef, i32 undef, i32 undef)
  %31 = extractvalue %dx.types.ResRet.i32 %30, 0
  %32 = call %dx.types.ResRet.i32 @dx.op.textureGatherRaw.i32(i32 223, %dx.types.Handle %6, %dx.types.Handle %10, float 5.000000e-01, float 5.000000e-01, float undef, float undef, i32 0, i32 0)
  %33 = extractvalue %dx.types.ResRet.i32 %32, 0
  %34 = extractvalue %dx.types.ResRet.i32 %32, 1
  %35 = extractvalue %dx.types.ResRet.i32 %32, 2
  %36 = extractvalue %dx.types.ResRet.i32 %32, 3
  %37 = fmul float %20, 6.250000e-02
  %38 = call %dx.types.ResRet.f32 @dx.op.sampleCmpLevel.f32(i32 224, %dx.types.Handle %8, %dx.types.Handle %12, float 5.000000e-01, float 5.000000e-01, float undef, float undef, i32 0, i32 0, i32 undef, float %37, float 1.000000e+00)
  %39 = extractvalue %dx.types.ResRet.f32 %38, 0
  %40 = fptoui float %39 to i32
  %41 = call %dx.types.Dimensions @dx.op.getDimensions(i32 72, %dx.types.Handle %4, i32 undef)
  %42 = extractvalue %dx.types.Dimensions %41, 0
  %43 = extractvalue %dx.types.Dimensions %41, 1
  %44 = extractvalue %dx.types.Dimensions %41, 2
  %45 = extractvalue %dx.types.Dimensions %41, 3
  %46 = shl i32 %43, 8
  %47 = or i32 %42, %46
  %48 = shl i32 %44, 16
  %49 = or i32 %47, %48
  %50 = shl i32 %45, 24
  %51 = or i32 %49, %50
  %52 = mul i32 %15, 40
  %53 = add i32 %52, 0
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %14, i32 %53, i32 undef, i32 %25, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %54 = add i32 %52, 4
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %14, i32 %54, i32 undef, i32 %27, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %55 = add i32 %52, 8
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %14, i32 %55, i32 undef, i32 %29, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %56 = add i32 %52, 12
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %14, i32 %56, i32 undef, i32 %31, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %57 = add i32 %52, 16
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %14, i32 %57, i32 undef, i32 %33, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %58 = add i32 %52, 20
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %14, i32 %58, i32 undef, i32 %34, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %59 = add i32 %52, 24
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %14, i32 %59, i32 undef, i32 %35, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %60 = add i32 %52, 28
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %14, i32 %60, i32 undef, i32 %36, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %61 = add i32 %52, 32
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %14, i32 %61, i32 undef, i32 %40, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %62 = add i32 %52, 36
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %14, i32 %62, i32 undef, i32 %51, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  ret void
}

declare %dx.types.Handle @dx.op.createHandleFromBinding(i32, %dx.types.ResBind, i32, i1) #0
declare %dx.types.Handle @dx.op.annotateHandle(i32, %dx.types.Handle, %dx.types.ResourceProperties) #0
declare i32 @dx.op.flattenedThreadIdInGroup.i32(i32) #0
declare void @dx.op.textureStoreSample.f32(i32, %dx.types.Handle, i32, i32, i32, float, float, float, float, i8, i32) #0
declare void @dx.op.textureStoreSample.i32(i32, %dx.types.Handle, i32, i32, i32, i32, i32, i32, i32, i8, i32) #0
declare void @dx.op.barrier(i32, i32) #0
declare %dx.types.ResRet.f32 @dx.op.textureLoad.f32(i32, %dx.types.Handle, i32, i32, i32, i32, i32, i32, i32) #0
declare %dx.types.ResRet.i32 @dx.op.textureLoad.i32(i32, %dx.types.Handle, i32, i32, i32, i32, i32, i32, i32) #0
declare %dx.types.ResRet.i32 @dx.op.textureGatherRaw.i32(i32, %dx.types.Handle, %dx.types.Handle, float, float, float, float, i32, i32) #0
declare %dx.types.ResRet.f32 @dx.op.sampleCmpLevel.f32(i32, %dx.types.Handle, %dx.types.Handle, float, float, float, float, i32, i32, i32, float, float) #0
declare %dx.types.Dimensions @dx.op.getDimensions(i32, %dx.types.Handle, i32) #0
declare void @dx.op.rawBufferStore.i32(i32, %dx.types.Handle, i32, i32, i32, i32, i32, i32, i8, i32) #0

attributes #0 = { nounwind }

!dx.version = !{!0}
!dx.valver = !{!0}
!dx.shaderModel = !{!1}
!dx.resources = !{!2}
!dx.entryPoints = !{!3}

!0 = !{i32 1, i32 7}
!1 = !{!"cs", i32 6, i32 7}
!3 = !{void ()* @main, !"main", null, !2, !4}
!2 = !{!5, !8, null, !12}
!4 = !{i32 0, i64 16, i32 4, !15}
!5 = !{!6, !7}
!6 = !{i32 0, %"class.Texture2D<unsigned int>"* undef, !"", i32 0, i32 1, i32 1, i32 2, i32 0, !17}
!7 = !{i32 1, %"class.Texture2D<float>"* undef, !"", i32 0, i32 2, i32 1, i32 2, i32 0, !18}
!8 = !{!9, !10, !11}
!9 = !{i32 0, %"class.RWTexture2DMS<vector<float, 4>, 4>"* undef, !"", i32 0, i32 0, i32 1, i32 3, i1 false, i1 false, i1 false, !18}
!10 = !{i32 1, %struct.RWByteAddressBuffer* undef, !"", i32 0, i32 3, i32 1, i32 11, i1 false, i1 false, i1 false, null}
!11 = !{i32 2, %"class.RWTexture2DMSArray<int, 4>"* undef, !"", i32 0, i32 4, i32 1, i32 8, i1 false, i1 false, i1 false, !16}
!12 = !{!13, !14}
!13 = !{i32 0, %struct.SamplerState* undef, !"", i32 1, i32 0, i32 1, i32 0, null}
!14 = !{i32 1, %struct.SamplerComparisonState* undef, !"", i32 1, i32 1, i32 1, i32 1, null}
!15 = !{i32 16, i32 1, i32 1}
!16 = !{i32 0, i32 4}
!17 = !{i32 0, i32 5}
!18 = !{i32 0, i32 9}
