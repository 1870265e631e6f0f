// -T cs_6_0 -E main -Zi -Qembed_debug -Fd debug.pdb
RWByteAddressBuffer output : register(u3, space2);
[numthreads(4, 2, 1)] void main(uint3 id : SV_DispatchThreadID) { output.Store(id.x * 4, id.y); }
