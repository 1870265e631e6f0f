// -T cs_6_6 -E main
// Texels of 64 bits: atomics on them, and loads and stores, which DXIL has as two words.
RWBuffer<uint64_t> texels : register(u0);
RWBuffer<int64_t> others : register(u1);
RWByteAddressBuffer results : register(u2);
[numthreads(16, 1, 1)] void main(uint id : SV_GroupIndex)
{
    uint64_t before = texels[id];
    uint64_t old;
    InterlockedAdd(texels[id], 0x123456789abcdefull, old);
    results.Store2(id * 16, uint2((uint)(before ^ old), (uint)(old >> 32)));
    int64_t other = others[id];
    InterlockedMin(others[id], -1ll);
    results.Store2(id * 16 + 8, uint2((uint)other, (uint)(other >> 32)));
    texels[id + 16] = before * 3;
}
