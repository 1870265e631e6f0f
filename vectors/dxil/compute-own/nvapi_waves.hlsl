// -T cs_6_0 -E main
// Intrinsics of NVAPI as its header makes them: shuffles, votes, special registers, lanes with equal values.
struct NvShaderExtnStruct {
    uint opcode, fields[18];
    uint4 src0, src1, src2, dst0;
    uint mark, outputs, rest[27];
};
RWStructuredBuffer<NvShaderExtnStruct> g_NvidiaExt : register(u7, space3);
RWByteAddressBuffer output : register(u0);

uint call(uint opcode, uint x, uint y, uint z) {
    uint index = g_NvidiaExt.IncrementCounter();
    g_NvidiaExt[index].src0.x = x;
    g_NvidiaExt[index].src0.y = y;
    g_NvidiaExt[index].src0.z = z;
    g_NvidiaExt[index].opcode = opcode;
    return g_NvidiaExt.IncrementCounter();
}

uint mask(uint width) { return (32 - width) << 8 | 0x1f; }

// Of each four lanes, those up to the third: whether there is such a lane, and its value.
uint2 generic(uint v, uint lane) {
    uint index = g_NvidiaExt.IncrementCounter();
    g_NvidiaExt[index].opcode = 33;
    g_NvidiaExt[index].src0.x = v;
    g_NvidiaExt[index].src0.y = lane;
    g_NvidiaExt[index].src0.z = (32 - 4) << 8 | 2;
    g_NvidiaExt[index].outputs = 2;
    uint valid = g_NvidiaExt.IncrementCounter();
    return uint2(valid, g_NvidiaExt.IncrementCounter());
}

[numthreads(32, 1, 1)]
void main(uint i : SV_GroupIndex) {
    // Lanes of a warp are numbered as invocations are, whatever its size, but for higher bits.
    uint lane = call(8, 0, 0, 0), own = lane * 10;
    uint at = i * 64;
    output.Store4(at, uint4(
        call(1, own, 1, mask(4)),                   // The second lane of each four.
        call(2, own, 1, (32 - 4) << 8),             // The lane before, within four.
        call(3, own, 1, mask(4)),                   // The lane behind, within four.
        call(4, own, 3, mask(4))) - own);           // The lane on the other side.
    output.Store4(at + 16, uint4(
        call(5, lane < 64, 0, 0),                   // All.
        call(6, lane == 1, 0, 0),                   // Any.
        call(7, lane & 1, 0, 0) & 0xff,             // Ballot, of eight lanes.
        call(19, 4, 0, 0) >> (lane & 31 ^ 1) & 1)); // Whether the neighbour is among the lanes below.
    uint index = g_NvidiaExt.IncrementCounter();
    g_NvidiaExt[index].src0.x = lane & 3;
    g_NvidiaExt[index].src1.x = 1;
    g_NvidiaExt[index].opcode = 21;
    uint equal = g_NvidiaExt.IncrementCounter() & 0xff;
    uint2 third = generic(own, 2), fourth = generic(own, 3);
    output.Store4(at + 32, uint4(third.x, third.y - own, fourth.x, fourth.y - own));
    output.Store2(at + 48, uint2(equal, lane & 3));
}
