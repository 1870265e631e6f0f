RWStructuredBuffer<uint4> o : register(u0); StructuredBuffer<uint> a : register(t1);
[numthreads(64, 1, 1)] void main(uint3 id : SV_DispatchThreadID)
{
    uint v = a[id.x]; uint4 mask = WaveMatch(v & 3);
    uint lane = WaveGetLaneIndex(); uint4 slow = 0; bool same = true;
    for (uint j = 0; j < WaveGetLaneCount(); ++j)
    {
        uint w = WaveReadLaneAt(v, j); bool equal = (w & 3) == (v & 3);
        same = same && equal == (((j < 32 ? mask.x : mask.y) >> (j & 31)) & 1);
        if (equal && j < lane) slow += uint4(w, (w >> 2) & 1, 0, 0), slow.z ^= w;
    }
    uint3 fast = uint3(WaveMultiPrefixSum(v, mask), WaveMultiPrefixCountBits((v & 4) != 0, mask), WaveMultiPrefixBitXor(v, mask));
    o[id.x] = uint4(same, fast == slow.xyz);
}
