; A phi of a handle whose values are both the same, in a mesh shader.
target datalayout = "e-m:e-p:32:32-i1:32-i8:32-i16:32-i32:32-i64:64-f16:32-f32:32-f64:64-n8:16:32:64"
target triple = "dxil-ms-dx"

%dx.types.Handle = type { i8* }
%dx.types.ResRet.i32 = type { i32, i32, i32, i32, i32 }
%struct.ByteAddressBuffer = type { i32 }

define void @main() {
  %1 = call %dx.types.Handle @dx.op.createHandle(i32 57, i8 0, i32 0, i32 0, i1 false)
  %2 = call i32 @dx.op.flattenedThreadIdInGroup.i32(i32 96)
  call void @dx.op.setMeshOutputCounts(i32 168, i32 4, i32 2)
  %3 = and i32 %2, 1
  %4 = icmp eq i32 %3, 0
  br i1 %4, label %16, label %5

  %6 = shl i32 %2, 4
  %7 = call %dx.types.ResRet.i32 @dx.op.rawBufferLoad.i32(i32 139, %dx.types.Handle %1, i32 %6, i32 undef, i8 15, i32 4)
  %8 = extractvalue %dx.types.ResRet.i32 %7, 0
  %9 = extractvalue %dx.types.ResRet.i32 %7, 1
  %10 = extractvalue %dx.types.ResRet.i32 %7, 2
  %11 = extractvalue %dx.types.ResRet.i32 %7, 3
  %12 = bitcast i32 %8 to float
  %13 = bitcast i32 %9 to float
  %14 = bitcast i32 %10 to float
  %15 = bitcast i32 %11 to float
  br label %16

  %same.1 = phi %dx.types.Handle [ %1, %5 ], [ %1, %0 ]
  %17 = phi float [ %12, %5 ], [ 0.000000e+00, %0 ]
  %18 = phi float [ %13, %5 ], [ 0.000000e+00, %0 ]
  %19 = phi float [ %14, %5 ], [ 0.000000e+00, %0 ]
  %20 = phi float [ %15, %5 ], [ 0.000000e+00, %0 ]
  %21 = uitofp i32 %3 to float
  %22 = lshr i32 %2, 1
  %23 = uitofp i32 %22 to float
  %24 = call %dx.types.ResRet.i32 @dx.op.rawBufferLoad.i32(i32 139, %dx.types.Handle %same.1, i32 %2, i32 undef, i8 1, i32 4)
  %25 = extractvalue %dx.types.ResRet.i32 %24, 0
  %26 = bitcast i32 %25 to float
  %27 = fadd fast float %26, %17
  %28 = fadd fast float %26, %18
  %29 = fadd fast float %26, %19
  %30 = fadd fast float %26, %20
  call void @dx.op.storeVertexOutput.f32(i32 171, i32 0, i32 0, i8 0, float %21, i32 %2)
  call void @dx.op.storeVertexOutput.f32(i32 171, i32 0, i32 0, i8 1, float %23, i32 %2)
  call void @dx.op.storeVertexOutput.f32(i32 171, i32 0, i32 0, i8 2, float 0.000000e+00, i32 %2)
  call void @dx.op.storeVertexOutput.f32(i32 171, i32 0, i32 0, i8 3, float 1.000000e+00, i32 %2)
  call void @dx.op.storeVertexOutput.f32(i32 171, i32 1, i32 0, i8 0, float %27, i32 %2)
  call void @dx.op.storeVertexOutput.f32(i32 171, i32 1, i32 0, i8 1, float %28, i32 %2)
  call void @dx.op.storeVertexOutput.f32(i32 171, i32 1, i32 0, i8 2, float %29, i32 %2)
  call void @dx.op.storeVertexOutput.f32(i32 171, i32 1, i32 0, i8 3, float %30, i32 %2)
  %31 = icmp ult i32 %2, 2
  br i1 %31, label %32, label %35

  %33 = add i32 %2, 1
  %34 = add i32 %2, 2
  call void @dx.op.emitIndices(i32 169, i32 %2, i32 %2, i32 %33, i32 %34)
  br label %35

  ret void
}

declare void @dx.op.emitIndices(i32, i32, i32, i32, i32) #0

declare i32 @dx.op.flattenedThreadIdInGroup.i32(i32) #1

declare void @dx.op.storeVertexOutput.f32(i32, i32, i32, i8, float, i32) #0

declare void @dx.op.setMeshOutputCounts(i32, i32, i32) #0

declare %dx.types.ResRet.i32 @dx.op.rawBufferLoad.i32(i32, %dx.types.Handle, i32, i32, i8, i32) #2

declare %dx.types.Handle @dx.op.createHandle(i32, i8, i32, i32, i1) #2

attributes #0 = { nounwind }
attributes #1 = { nounwind readnone }
attributes #2 = { nounwind readonly }

!llvm.ident = !{!0}
!dx.version = !{!1}
!dx.valver = !{!2}
!dx.shaderModel = !{!3}
!dx.resources = !{!4}
!dx.viewIdState = !{!7}
!dx.entryPoints = !{!8}

!0 = !{!"clang version 3.7 (tags/RELEASE_370/final)"}
!1 = !{i32 1, i32 5}
!2 = !{i32 1, i32 7}
!3 = !{!"ms", i32 6, i32 5}
!4 = !{!5, null, null, null}
!5 = !{!6}
!6 = !{i32 0, %struct.ByteAddressBuffer* undef, !"", i32 0, i32 0, i32 1, i32 11, i32 0, null}
!7 = !{[3 x i32] [i32 0, i32 8, i32 0]}
!8 = !{void ()* @main, !"main", !9, !4, !15}
!9 = !{null, !10, null}
!10 = !{!11, !14}
!11 = !{i32 0, !"SV_Position", i8 9, i8 3, !12, i8 4, i32 1, i8 4, i32 0, i8 0, !13}
!12 = !{i32 0}
!13 = !{i32 3, i32 15}
!14 = !{i32 1, !"C", i8 9, i8 0, !12, i8 2, i32 1, i8 4, i32 1, i8 0, !13}
!15 = !{i32 0, i64 16, i32 9, !16}
!16 = !{!17, i32 4, i32 2, i32 2, i32 0}
!17 = !{i32 4, i32 1, i32 1}
