target datalayout = "e-m:e-p:32:32-i1:32-i8:32-i16:32-i32:32-i64:64-f16:32-f32:32-f64:64-n8:16:32:64"
target triple = "dxil-ms-dx"

%dx.types.Handle = type { i8* }
%dx.types.ResBind = type { i32, i32, i32, i8 }
%dx.types.ResourceProperties = type { i32, i32 }
%dx.types.ResRet.i32 = type { i32, i32, i32, i32, i32 }
%struct.ByteAddressBuffer = type { i32 }
%struct.RWByteAddressBuffer = type { i32 }

define void @main() {
  ; Any and all of the four invocations of a quad.
  %1 = call %dx.types.Handle @dx.op.createHandleFromBinding(i32 217, %dx.types.ResBind { i32 0, i32 0, i32 0, i8 1 }, i32 0, i1 false)
  %2 = call %dx.types.Handle @dx.op.createHandleFromBinding(i32 217, %dx.types.ResBind { i32 1, i32 1, i32 0, i8 0 }, i32 1, i1 false)
  %3 = call %dx.types.Handle @dx.op.annotateHandle(i32 216, %dx.types.Handle %1, %dx.types.ResourceProperties { i32 4107, i32 0 })
  %4 = call %dx.types.Handle @dx.op.annotateHandle(i32 216, %dx.types.Handle %2, %dx.types.ResourceProperties { i32 11, i32 0 })
  %5 = call i32 @dx.op.flattenedThreadIdInGroup.i32(i32 96)
  %6 = shl i32 %5, 2
  %7 = call %dx.types.ResRet.i32 @dx.op.rawBufferLoad.i32(i32 139, %dx.types.Handle %4, i32 %6, i32 undef, i8 1, i32 4)
  %8 = extractvalue %dx.types.ResRet.i32 %7, 0
  %9 = and i32 %8, 1
  %10 = icmp ne i32 %9, 0
  %11 = call i1 @dx.op.quadVote.i1(i32 222, i1 %10, i8 0)
  %12 = zext i1 %11 to i32
  %13 = shl i32 %12, 0
  %14 = or i32 0, %13
  %15 = call i1 @dx.op.quadVote.i1(i32 222, i1 %10, i8 1)
  %16 = zext i1 %15 to i32
  %17 = shl i32 %16, 1
  %18 = or i32 %14, %17
  %19 = and i32 %8, 2
  %20 = icmp ne i32 %19, 0
  %21 = call i1 @dx.op.quadVote.i1(i32 222, i1 %20, i8 0)
  %22 = zext i1 %21 to i32
  %23 = shl i32 %22, 2
  %24 = or i32 %18, %23
  %25 = call i1 @dx.op.quadVote.i1(i32 222, i1 %20, i8 1)
  %26 = zext i1 %25 to i32
  %27 = shl i32 %26, 3
  %28 = or i32 %24, %27
  %29 = and i32 %8, 4
  %30 = icmp ne i32 %29, 0
  %31 = call i1 @dx.op.quadVote.i1(i32 222, i1 %30, i8 0)
  %32 = zext i1 %31 to i32
  %33 = shl i32 %32, 4
  %34 = or i32 %28, %33
  %35 = call i1 @dx.op.quadVote.i1(i32 222, i1 %30, i8 1)
  %36 = zext i1 %35 to i32
  %37 = shl i32 %36, 5
  %38 = or i32 %34, %37
  %39 = and i32 %8, 8
  %40 = icmp ne i32 %39, 0
  %41 = call i1 @dx.op.quadVote.i1(i32 222, i1 %40, i8 0)
  %42 = zext i1 %41 to i32
  %43 = shl i32 %42, 6
  %44 = or i32 %38, %43
  %45 = call i1 @dx.op.quadVote.i1(i32 222, i1 %40, i8 1)
  %46 = zext i1 %45 to i32
  %47 = shl i32 %46, 7
  %48 = or i32 %44, %47
  call void @dx.op.rawBufferStore.i32(i32 140, %dx.types.Handle %3, i32 %6, i32 undef, i32 %48, i32 undef, i32 undef, i32 undef, i8 1, i32 4)
  ret void
}

declare %dx.types.Handle @dx.op.createHandleFromBinding(i32, %dx.types.ResBind, i32, i1) #0
declare %dx.types.Handle @dx.op.annotateHandle(i32, %dx.types.Handle, %dx.types.ResourceProperties) #0
declare i32 @dx.op.flattenedThreadIdInGroup.i32(i32) #0
declare %dx.types.ResRet.i32 @dx.op.rawBufferLoad.i32(i32, %dx.types.Handle, i32, i32, i8, i32) #0
declare i1 @dx.op.quadVote.i1(i32, i1, i8) #0
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
!2 = !{!5, !7, null, null}
!4 = !{i32 0, i64 16, i32 4, !9}
!5 = !{!6}
!6 = !{i32 0, %struct.ByteAddressBuffer* undef, !"", i32 0, i32 1, i32 1, i32 11, i32 0, null}
!7 = !{!8}
!8 = !{i32 0, %struct.RWByteAddressBuffer* undef, !"", i32 0, i32 0, i32 1, i32 11, i1 false, i1 false, i1 false, null}
!9 = !{i32 16, i32 1, i32 1}
