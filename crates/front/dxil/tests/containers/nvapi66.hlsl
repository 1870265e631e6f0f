// -T cs_6_6 -E main
// The call of an intrinsic as NVAPI's header makes it: operation 8 is the lane's number.
struct NvShaderExtnStruct {
    uint opcode, fields[18];
    uint4 src0, src1, src2, src3;
    uint mark, rest[28];
};
RWStructuredBuffer<NvShaderExtnStruct> g_NvidiaExt : register(u7, space3);
RWByteAddressBuffer output : register(u0);

[numthreads(32, 1, 1)]
void main(uint i : SV_GroupIndex) {
    uint index = g_NvidiaExt.IncrementCounter();
    g_NvidiaExt[index].opcode = 8;
    output.Store(i * 4, g_NvidiaExt.IncrementCounter());
}
