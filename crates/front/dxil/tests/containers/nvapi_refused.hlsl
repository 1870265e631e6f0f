// -T cs_6_0 -E main
// An intrinsic of NVAPI that Vulkan has not: operation 30 is the rate of shading.
struct NvShaderExtnStruct {
    uint opcode, fields[18];
    uint4 src0, src1, src2, dst0;
    uint mark, outputs, rest[27];
};
RWStructuredBuffer<NvShaderExtnStruct> g_NvidiaExt : register(u7, space3);
RWByteAddressBuffer output : register(u0);

[numthreads(32, 1, 1)]
void main(uint i : SV_GroupIndex) {
    uint index = g_NvidiaExt.IncrementCounter();
    g_NvidiaExt[index].opcode = 30;
    g_NvidiaExt[index].outputs = 3;
    output.Store(i * 4, g_NvidiaExt.IncrementCounter());
}
