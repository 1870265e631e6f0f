target datalayout = "e-m:e-p:32:32-i1:32-i8:32-i16:32-i32:32-i64:64-f16:32-f32:32-f64:64-n8:16:32:64"
target triple = "dxil-ms-dx"

define void @main() {
  %1 = call i32 @dx.op.primitiveID.i32(i32 108)
  %2 = call i32 @dx.op.gsInstanceID.i32(i32 100)
  br label %3

; <label>:3                                       ; preds = %26, %0
  %4 = phi i32 [ 0, %0 ], [ %27, %26 ]
  br label %5

; <label>:5                                       ; preds = %more, %3
  %6 = phi i32 [ 0, %3 ], [ %24, %more ]
  %7 = and i32 %6, 1
  %8 = uitofp i32 %7 to float
  %9 = lshr i32 %6, 1
  %10 = uitofp i32 %9 to float
  %11 = uitofp i32 %4 to float
  %12 = fadd fast float %11, -1.000000e+00
  %13 = fadd fast float %12, %8
  %14 = fmul fast float %10, 2.000000e+00
  %15 = fadd fast float %14, -1.000000e+00
  %16 = call float @dx.op.loadInput.f32(i32 4, i32 0, i32 0, i8 2, i32 0)
  %17 = urem i32 %6, 3
  %18 = call i32 @dx.op.loadInput.i32(i32 4, i32 1, i32 0, i8 0, i32 %17)
  %19 = uitofp i32 %18 to float
  %20 = call i32 @dx.op.loadInput.i32(i32 4, i32 1, i32 0, i8 0, i32 2)
  %21 = mul i32 %20, 100
  %22 = add i32 %21, %2
  %23 = add i32 %4, %1
  call void @dx.op.storeOutput.f32(i32 5, i32 0, i32 0, i8 0, float %13)
  call void @dx.op.storeOutput.f32(i32 5, i32 0, i32 0, i8 1, float %15)
  call void @dx.op.storeOutput.f32(i32 5, i32 0, i32 0, i8 2, float %16)
  call void @dx.op.storeOutput.f32(i32 5, i32 0, i32 0, i8 3, float 1.000000e+00)
  call void @dx.op.storeOutput.f32(i32 5, i32 1, i32 0, i8 0, float %8)
  call void @dx.op.storeOutput.f32(i32 5, i32 1, i32 0, i8 1, float %10)
  call void @dx.op.storeOutput.f32(i32 5, i32 1, i32 0, i8 2, float %11)
  call void @dx.op.storeOutput.f32(i32 5, i32 1, i32 0, i8 3, float %19)
  call void @dx.op.storeOutput.i32(i32 5, i32 2, i32 0, i8 0, i32 %22)
  call void @dx.op.storeOutput.i32(i32 5, i32 2, i32 0, i8 1, i32 %23)
  call void @dx.op.storeOutput.i32(i32 5, i32 3, i32 0, i8 0, i32 %2)
  %24 = add nuw nsw i32 %6, 1
  %25 = icmp eq i32 %24, 4
  br i1 %25, label %26, label %more

more:                                             ; all vertices of a strip but its last
  call void @dx.op.emitStream(i32 97, i8 0)
  br label %5

; <label>:26                                      ; preds = %5
  call void @dx.op.emitThenCutStream(i32 99, i8 0)
  %27 = add nuw nsw i32 %4, 1
  %28 = icmp eq i32 %27, 2
  br i1 %28, label %29, label %3

; <label>:29                                      ; preds = %26
  ret void
}

; Function Attrs: nounwind readnone
declare i32 @dx.op.gsInstanceID.i32(i32) #0

; Function Attrs: nounwind readnone
declare i32 @dx.op.primitiveID.i32(i32) #0

; Function Attrs: nounwind readnone
declare float @dx.op.loadInput.f32(i32, i32, i32, i8, i32) #0

; Function Attrs: nounwind readnone
declare i32 @dx.op.loadInput.i32(i32, i32, i32, i8, i32) #0

; Function Attrs: nounwind
declare void @dx.op.storeOutput.f32(i32, i32, i32, i8, float) #1

; Function Attrs: nounwind
declare void @dx.op.storeOutput.i32(i32, i32, i32, i8, i32) #1

; Function Attrs: nounwind
declare void @dx.op.emitThenCutStream(i32, i8) #1

; Function Attrs: nounwind
declare void @dx.op.emitStream(i32, i8) #1

attributes #0 = { nounwind readnone }
attributes #1 = { nounwind }

!llvm.ident = !{!0}
!dx.version = !{!1}
!dx.valver = !{!2}
!dx.shaderModel = !{!3}
!dx.viewIdState = !{!4}
!dx.entryPoints = !{!5}

!0 = !{!"clang version 3.7 (tags/RELEASE_370/final)"}
!1 = !{i32 1, i32 0}
!2 = !{i32 1, i32 7}
!3 = !{!"gs", i32 6, i32 0}
!4 = !{[10 x i32] [i32 5, i32 11, i32 0, i32 0, i32 4, i32 0, i32 384, i32 0, i32 0, i32 0]}
!5 = !{void ()* @main, !"main", !6, null, !21}
!6 = !{!7, !14, null}
!7 = !{!8, !11, !13}
!8 = !{i32 0, !"POSITION", i8 9, i8 0, !9, i8 2, i32 1, i8 3, i32 0, i8 0, !10}
!9 = !{i32 0}
!10 = !{i32 3, i32 4}
!11 = !{i32 1, !"NUMBER", i8 5, i8 0, !9, i8 1, i32 1, i8 1, i32 1, i8 0, !12}
!12 = !{i32 3, i32 1}
!13 = !{i32 2, !"SV_PrimitiveID", i8 5, i8 10, !9, i8 0, i32 1, i8 1, i32 -1, i8 -1, null}
!14 = !{!15, !17, !18, !20}
!15 = !{i32 0, !"SV_Position", i8 9, i8 3, !9, i8 4, i32 1, i8 4, i32 0, i8 0, !16}
!16 = !{i32 3, i32 15}
!17 = !{i32 1, !"COLOR", i8 9, i8 0, !9, i8 2, i32 1, i8 4, i32 1, i8 0, !16}
!18 = !{i32 2, !"NUMBERS", i8 5, i8 0, !9, i8 1, i32 1, i8 2, i32 2, i8 0, !19}
!19 = !{i32 3, i32 3}
!20 = !{i32 3, !"SV_RenderTargetArrayIndex", i8 5, i8 4, !9, i8 1, i32 1, i8 1, i32 2, i8 2, !12}
!21 = !{i32 1, !22}
!22 = !{i32 3, i32 8, i32 1, i32 5, i32 2}

