// -T cs_6_0 -E main
// Atomics of NVAPI as its header makes them: the UAV that they are on is named by a store that is none.
struct NvShaderExtnStruct {
    uint opcode, fields[18];
    uint4 src0, src1, src2, dst0;
    uint mark, outputs, rest[27];
};
RWStructuredBuffer<NvShaderExtnStruct> g_NvidiaExt : register(u7, space3);
RWByteAddressBuffer output : register(u0);

void name_buffer() {
    uint index = g_NvidiaExt.IncrementCounter();
    g_NvidiaExt[index].mark = 1;
    output.Store(index, 0);
}

// An atomic whose result nobody wants.
void atomic(uint opcode, uint address, uint4 value, uint kind) {
    name_buffer();
    uint index = g_NvidiaExt.IncrementCounter();
    g_NvidiaExt[index].src0.x = address;
    g_NvidiaExt[index].src1 = value;
    g_NvidiaExt[index].src2.x = kind;
    g_NvidiaExt[index].opcode = opcode;
}

uint2 atomic_result(uint opcode, uint address, uint4 value, uint kind) {
    name_buffer();
    uint index = g_NvidiaExt.IncrementCounter();
    g_NvidiaExt[index].src0.x = address;
    g_NvidiaExt[index].src1 = value;
    g_NvidiaExt[index].src2.x = kind;
    g_NvidiaExt[index].opcode = opcode;
    return g_NvidiaExt[index].dst0.xy;
}

static const uint ADD = 3, MAX = 6, MIN = 7, SWAP = 8, CAS = 9;

[numthreads(8, 1, 1)]
void main(uint i : SV_GroupIndex) {
    uint half = f32tof16((float)i);
    atomic(12, 0, uint4(half | f32tof16(0.5) << 16, 0, 0, 0), ADD);
    atomic(12, 4, uint4(half | f32tof16(-1.0 - (float)i) << 16, 0, 0, 0), MAX);
    atomic(12, 8, uint4(half | f32tof16(-1.0 - (float)i) << 16, 0, 0, 0), MIN);
    atomic(13, 12, uint4(asuint((float)i), 0, 0, 0), ADD);
    atomic(20, 16, uint4(0x80000000, i, 0, 0), ADD);
    atomic(20, 24, uint4(i, 7 - i, 0, 0), MAX);
    atomic(20, 32, uint4(1u << i, 2u << i, 0, 0), 1);
    if (i == 0) {
        uint2 old = atomic_result(20, 40, uint4(1, 2, 3, 4), SWAP);
        uint2 swapped = atomic_result(20, 40, uint4(1, 2, 5, 6), CAS);
        uint2 kept = atomic_result(20, 40, uint4(1, 2, 7, 8), CAS);
        output.Store4(48, uint4(old, swapped));
        output.Store2(64, kept);
    }
}
