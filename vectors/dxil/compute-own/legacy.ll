target datalayout = "e-m:e-p:32:32-i1:32-i8:32-i16:32-i32:32-i64:64-f16:32-f32:32-f64:64-n8:16:32:64"
target triple = "dxil-ms-dx"

%dx.types.Handle = type { i8* }
%dx.types.ResRet.i32 = type { i32, i32, i32, i32, i32 }
%dx.types.twoi32 = type { i32, i32 }
%dx.types.i32c = type { i32, i1 }
%"class.StructuredBuffer<vector<unsigned int, 4> >" = type { <4 x i32> }
%"class.RWStructuredBuffer<unsigned int>" = type { i32 }
%constants = type { [4 x <4 x i32>] }

define void @main() {
  %1 = call %dx.types.Handle @dx.op.createHandle(i32 57, i8 0, i32 0, i32 0, i1 false)
  %2 = call %dx.types.Handle @dx.op.createHandle(i32 57, i8 1, i32 0, i32 1, i1 false)
  %3 = call %dx.types.Handle @dx.op.createHandle(i32 57, i8 2, i32 0, i32 2, i1 false)
  %4 = call i32 @dx.op.threadId.i32(i32 93, i32 0)
  %5 = call %dx.types.ResRet.i32 @dx.op.rawBufferLoad.i32(i32 139, %dx.types.Handle %1, i32 %4, i32 0, i8 15, i32 4)
  %6 = extractvalue %dx.types.ResRet.i32 %5, 0
  %7 = extractvalue %dx.types.ResRet.i32 %5, 1
  %8 = extractvalue %dx.types.ResRet.i32 %5, 2
  %9 = extractvalue %dx.types.ResRet.i32 %5, 3
  %10 = mul i32 %4, 24
  %11 = call %dx.types.twoi32 @dx.op.binaryWithTwoOuts.i32(i32 41, i32 %6, i32 %7)  ; IMul
  %12 = extractvalue %dx.types.twoi32 %11, 0
  %13 = add i32 %10, 0
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %2, i32 %13, i32 0, i32 %12, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %14 = extractvalue %dx.types.twoi32 %11, 1
  %15 = add i32 %10, 1
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %2, i32 %15, i32 0, i32 %14, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %16 = call %dx.types.twoi32 @dx.op.binaryWithTwoOuts.i32(i32 42, i32 %6, i32 %7)  ; UMul
  %17 = extractvalue %dx.types.twoi32 %16, 0
  %18 = add i32 %10, 2
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %2, i32 %18, i32 0, i32 %17, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %19 = extractvalue %dx.types.twoi32 %16, 1
  %20 = add i32 %10, 3
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %2, i32 %20, i32 0, i32 %19, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %21 = call %dx.types.twoi32 @dx.op.binaryWithTwoOuts.i32(i32 43, i32 %6, i32 %7)  ; UDiv
  %22 = extractvalue %dx.types.twoi32 %21, 0
  %23 = add i32 %10, 4
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %2, i32 %23, i32 0, i32 %22, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %24 = extractvalue %dx.types.twoi32 %21, 1
  %25 = add i32 %10, 5
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %2, i32 %25, i32 0, i32 %24, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %26 = call %dx.types.i32c @dx.op.binaryWithCarryOrBorrow.i32(i32 45, i32 %6, i32 %7)  ; USubb
  %27 = extractvalue %dx.types.i32c %26, 0
  %28 = add i32 %10, 6
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %2, i32 %28, i32 0, i32 %27, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %29 = extractvalue %dx.types.i32c %26, 1
  %30 = zext i1 %29 to i32
  %31 = add i32 %10, 7
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %2, i32 %31, i32 0, i32 %30, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %32 = and i32 %8, 31
  %33 = and i32 %9, 31
  %34 = call i32 @dx.op.tertiary.i32(i32 51, i32 %32, i32 %33, i32 %6)  ; Ibfe
  %35 = add i32 %10, 8
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %2, i32 %35, i32 0, i32 %34, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %36 = call i32 @dx.op.tertiary.i32(i32 52, i32 %32, i32 %33, i32 %6)  ; Ubfe
  %37 = add i32 %10, 9
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %2, i32 %37, i32 0, i32 %36, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %38 = and i32 %6, 16383
  %39 = call float @dx.op.bitcastI32toF32(i32 126, i32 %38)
  %40 = or i32 %8, 1056964608
  %41 = call float @dx.op.bitcastI32toF32(i32 126, i32 %40)
  %42 = call i32 @dx.op.bitcastF32toI32(i32 127, float %41)
  %43 = add i32 %10, 10
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %2, i32 %43, i32 0, i32 %42, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %44 = call i1 @dx.op.isSpecialFloat.f32(i32 11, float %39)  ; IsNormal
  %45 = zext i1 %44 to i32
  %46 = add i32 %10, 11
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %2, i32 %46, i32 0, i32 %45, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %47 = call i1 @dx.op.isSpecialFloat.f32(i32 11, float 1.000000e+00)  ; IsNormal
  %48 = zext i1 %47 to i32
  %49 = add i32 %10, 12
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %2, i32 %49, i32 0, i32 %48, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %50 = zext i32 %6 to i64
  %51 = zext i32 %7 to i64
  %52 = shl i64 %50, 32
  %53 = or i64 %52, %51
  %54 = and i64 %53, -9218868437227405313
  %55 = or i64 %54, 4629700416936869888
  %56 = call double @dx.op.bitcastI64toF64(i32 128, i64 %55)
  %57 = call i32 @dx.op.legacyDoubleToSInt32(i32 133, double %56)
  %58 = add i32 %10, 13
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %2, i32 %58, i32 0, i32 %57, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %59 = call i32 @dx.op.legacyDoubleToUInt32(i32 134, double %56)
  %60 = add i32 %10, 14
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %2, i32 %60, i32 0, i32 %59, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %61 = call float @dx.op.legacyDoubleToFloat(i32 132, double %56)
  %62 = call i32 @dx.op.bitcastF32toI32(i32 127, float %61)
  %63 = add i32 %10, 15
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %2, i32 %63, i32 0, i32 %62, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %64 = call i64 @dx.op.bitcastF64toI64(i32 129, double %56)
  %65 = lshr i64 %64, 32
  %66 = trunc i64 %65 to i32
  %67 = add i32 %10, 16
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %2, i32 %67, i32 0, i32 %66, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %68 = trunc i32 %9 to i16
  %69 = call half @dx.op.bitcastI16toF16(i32 124, i16 %68)
  %70 = call i16 @dx.op.bitcastF16toI16(i32 125, half %69)
  %71 = zext i16 %70 to i32
  %72 = add i32 %10, 17
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %2, i32 %72, i32 0, i32 %71, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %73 = and i32 %4, 15
  %74 = shl i32 %73, 2
  %75 = call i32 @dx.op.cbufferLoad.i32(i32 58, %dx.types.Handle %3, i32 %74, i32 4)
  %76 = add i32 %10, 18
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %2, i32 %76, i32 0, i32 %75, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %77 = call %dx.types.twoi32 @dx.op.cycleCounterLegacy(i32 109)
  %78 = extractvalue %dx.types.twoi32 %77, 0
  %79 = extractvalue %dx.types.twoi32 %77, 1
  %80 = zext i32 %78 to i64
  %81 = zext i32 %79 to i64
  %82 = shl i64 %81, 32
  %83 = or i64 %82, %80
  %84 = call %dx.types.twoi32 @dx.op.cycleCounterLegacy(i32 109)
  %85 = extractvalue %dx.types.twoi32 %84, 0
  %86 = extractvalue %dx.types.twoi32 %84, 1
  %87 = zext i32 %85 to i64
  %88 = zext i32 %86 to i64
  %89 = shl i64 %88, 32
  %90 = or i64 %89, %87
  %91 = icmp uge i64 %90, %83
  %92 = zext i1 %91 to i32
  %93 = add i32 %10, 19
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %2, i32 %93, i32 0, i32 %92, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %94 = add i32 %10, 20
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %2, i32 %94, i32 0, i32 -1, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %95 = add i32 %10, 21
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %2, i32 %95, i32 0, i32 -1, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %96 = add i32 %10, 22
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %2, i32 %96, i32 0, i32 -1, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  %97 = add i32 %10, 23
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %2, i32 %97, i32 0, i32 -1, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  ret void
}

declare %dx.types.Handle @dx.op.createHandle(i32, i8, i32, i32, i1) #0
declare i32 @dx.op.threadId.i32(i32, i32) #0
declare %dx.types.ResRet.i32 @dx.op.rawBufferLoad.i32(i32, %dx.types.Handle, i32, i32, i8, i32) #0
declare %dx.types.twoi32 @dx.op.binaryWithTwoOuts.i32(i32, i32, i32) #0
declare void @dx.op.rawBufferStore.i32(i32, %dx.types.Handle, i32, i32, i32, i32, i32, i32, i8, i32) #0
declare %dx.types.i32c @dx.op.binaryWithCarryOrBorrow.i32(i32, i32, i32) #0
declare i32 @dx.op.tertiary.i32(i32, i32, i32, i32) #0
declare float @dx.op.bitcastI32toF32(i32, i32) #0
declare i32 @dx.op.bitcastF32toI32(i32, float) #0
declare i1 @dx.op.isSpecialFloat.f32(i32, float) #0
declare double @dx.op.bitcastI64toF64(i32, i64) #0
declare i32 @dx.op.legacyDoubleToSInt32(i32, double) #0
declare i32 @dx.op.legacyDoubleToUInt32(i32, double) #0
declare float @dx.op.legacyDoubleToFloat(i32, double) #0
declare i64 @dx.op.bitcastF64toI64(i32, double) #0
declare half @dx.op.bitcastI16toF16(i32, i16) #0
declare i16 @dx.op.bitcastF16toI16(i32, half) #0
declare i32 @dx.op.cbufferLoad.i32(i32, %dx.types.Handle, i32, i32) #0
declare %dx.types.twoi32 @dx.op.cycleCounterLegacy(i32) #0

attributes #0 = { nounwind }

!dx.version = !{!0}
!dx.valver = !{!1}
!dx.shaderModel = !{!2}
!dx.resources = !{!3}
!dx.entryPoints = !{!9}

!0 = !{i32 1, i32 2}
!1 = !{i32 1, i32 7}
!2 = !{!"cs", i32 6, i32 2}
!3 = !{!4, !6, !8, null}
!4 = !{!5}
!5 = !{i32 0, %"class.StructuredBuffer<vector<unsigned int, 4> >"* undef, !"t", i32 0, i32 0, i32 1, i32 12, i32 0, !12}
!6 = !{!7}
!7 = !{i32 0, %"class.RWStructuredBuffer<unsigned int>"* undef, !"u", i32 0, i32 1, i32 1, i32 12, i1 false, i1 false, i1 false, !13}
!8 = !{!14}
!9 = !{void ()* @main, !"main", null, !3, !10}
!10 = !{i32 0, i64 9437236, i32 4, !11}
!11 = !{i32 16, i32 1, i32 1}
!12 = !{i32 1, i32 16}
!13 = !{i32 1, i32 4}
!14 = !{i32 0, %constants* undef, !"b", i32 0, i32 2, i32 1, i32 64, null}
