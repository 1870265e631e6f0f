RWStructuredBuffer<uint4> o : register(u0); StructuredBuffer<uint> a : register(t1);
[numthreads(64, 1, 1)] void main(uint3 id : SV_DispatchThreadID)
{
    uint v = a[id.x]; uint4 mask = WaveMatch(v & 3);
    uint lane = WaveGetLaneIndex();
    o[id.x] = uint4(WaveMultiPrefixSum(v, mask), WaveMultiPrefixCountBits(v & 4, mask), WaveMultiPrefixBitXor(v, mask), (mask.x >> (lane & 31)) & 1);
}
