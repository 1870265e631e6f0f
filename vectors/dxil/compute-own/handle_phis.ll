target datalayout = "e-m:e-p:32:32-i1:32-i8:32-i16:32-i32:32-i64:64-f16:32-f32:32-f64:64-n8:16:32:64"
target triple = "dxil-ms-dx"

%dx.types.Handle = type { i8* }
%dx.types.ResRet.i32 = type { i32, i32, i32, i32, i32 }
%struct.ByteAddressBuffer = type { i32 }
%struct.RWByteAddressBuffer = type { i32 }

define void @main() {
entry:
  %out = call %dx.types.Handle @dx.op.createHandle(i32 57, i8 1, i32 0, i32 0, i1 false)
  %in = call %dx.types.Handle @dx.op.createHandle(i32 57, i8 0, i32 0, i32 1, i1 false)
  %i = call i32 @dx.op.flattenedThreadIdInGroup.i32(i32 96)
  %at = shl i32 %i, 2
  %bit = and i32 %i, 1
  %odd = icmp ne i32 %bit, 0
  br i1 %odd, label %yes, label %no

yes:
  %in.yes = call %dx.types.Handle @dx.op.createHandle(i32 57, i8 0, i32 0, i32 1, i1 false)
  br label %met

no:
  %in.no = call %dx.types.Handle @dx.op.createHandle(i32 57, i8 0, i32 0, i32 1, i1 false)
  br label %met

met:
  ; Both values the same; the same descriptor by two handles; a chain; a choice of the same.
  %same = phi %dx.types.Handle [ %in, %yes ], [ %in, %no ]
  %again = phi %dx.types.Handle [ %in.yes, %yes ], [ %in.no, %no ]
  %number = phi i32 [ 10, %yes ], [ 20, %no ]
  %chosen = select i1 %odd, %dx.types.Handle %same, %dx.types.Handle %in
  br i1 %odd, label %loop, label %skip

skip:
  br label %loop

loop:
  ; A ring: each phi's values are the one before, the other phi and itself.
  %chain = phi %dx.types.Handle [ %same, %met ], [ %same, %skip ], [ %ring, %next ], [ %chain, %odd.next ]
  %to = phi %dx.types.Handle [ %out, %met ], [ %out, %skip ], [ %to.ring, %next ], [ %to, %odd.next ]
  %n = phi i32 [ 0, %met ], [ 0, %skip ], [ %n.next, %next ], [ %n.next, %odd.next ]
  %sum = phi i32 [ %number, %met ], [ %number, %skip ], [ %sum.next, %next ], [ %sum.next, %odd.next ]
  %word = shl i32 %n, 2
  %r1 = call %dx.types.ResRet.i32 @dx.op.bufferLoad.i32(i32 68, %dx.types.Handle %chain, i32 %word, i32 undef)
  %v1 = extractvalue %dx.types.ResRet.i32 %r1, 0
  %sum.next = add i32 %sum, %v1
  %n.next = add i32 %n, 1
  %done = icmp ugt i32 %n.next, %i
  br i1 %done, label %end, label %more

more:
  %bit.n = and i32 %n, 1
  %odd.n = icmp ne i32 %bit.n, 0
  br i1 %odd.n, label %odd.next, label %next.1

next.1:
  br label %next

odd.next:
  br i1 %odd, label %loop, label %next

next:
  %ring = phi %dx.types.Handle [ %chain, %next.1 ], [ %in, %odd.next ]
  %to.ring = phi %dx.types.Handle [ %to, %next.1 ], [ %to, %odd.next ]
  br label %loop

end:
  %r2 = call %dx.types.ResRet.i32 @dx.op.bufferLoad.i32(i32 68, %dx.types.Handle %again, i32 %at, i32 undef)
  %v2 = extractvalue %dx.types.ResRet.i32 %r2, 0
  %r3 = call %dx.types.ResRet.i32 @dx.op.bufferLoad.i32(i32 68, %dx.types.Handle %chosen, i32 0, i32 undef)
  %v3 = extractvalue %dx.types.ResRet.i32 %r3, 0
  %s2 = xor i32 %sum.next, %v2
  %s3 = add i32 %s2, %v3
  call void @dx.op.bufferStore.i32(i32 69, %dx.types.Handle %to, i32 %at, i32 undef, i32 %s3, i32 undef, i32 undef, i32 undef, i8 1)
  ret void
}

declare %dx.types.Handle @dx.op.createHandle(i32, i8, i32, i32, i1) #0
declare i32 @dx.op.flattenedThreadIdInGroup.i32(i32) #0
declare %dx.types.ResRet.i32 @dx.op.bufferLoad.i32(i32, %dx.types.Handle, i32, i32) #0
declare void @dx.op.bufferStore.i32(i32, %dx.types.Handle, i32, i32, i32, i32, i32, i32, i8) #0

attributes #0 = { nounwind }

!dx.version = !{!0}
!dx.valver = !{!0}
!dx.shaderModel = !{!1}
!dx.resources = !{!2}
!dx.entryPoints = !{!3}

!0 = !{i32 1, i32 0}
!1 = !{!"cs", i32 6, i32 0}
!3 = !{void ()* @main, !"main", null, !2, !4}
!2 = !{!5, !7, null, null}
!4 = !{i32 0, i64 16, i32 4, !9}
!5 = !{!6}
!6 = !{i32 0, %struct.ByteAddressBuffer* undef, !"", i32 0, i32 1, i32 1, i32 11, i32 0, null}
!7 = !{!8}
!8 = !{i32 0, %struct.RWByteAddressBuffer* undef, !"", i32 0, i32 0, i32 1, i32 11, i1 false, i1 false, i1 false, null}
!9 = !{i32 16, i32 1, i32 1}
