// -T cs_6_0 -E main
// The timer of the device: special registers 9 and 10 of NVAPI.
struct NvShaderExtnStruct {
    uint opcode, fields[18];
    uint4 src0, src1, src2, dst0;
    uint mark, outputs, rest[27];
};
RWStructuredBuffer<NvShaderExtnStruct> g_NvidiaExt : register(u7, space3);
RWByteAddressBuffer output : register(u0);

uint special(uint which) {
    uint index = g_NvidiaExt.IncrementCounter();
    g_NvidiaExt[index].src0.x = which;
    g_NvidiaExt[index].opcode = 19;
    return g_NvidiaExt.IncrementCounter();
}

[numthreads(32, 1, 1)]
void main(uint i : SV_GroupIndex) {
    output.Store2(i * 8, uint2(special(9), special(10)));
}
