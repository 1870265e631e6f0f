RWStructuredBuffer<uint4> dst : register(u0);
[numthreads(4, 6, 1)]
void main(uint3 d : SV_DispatchThreadID, uint3 t : SV_GroupThreadID, uint i : SV_GroupIndex)
{
    uint own = d.x | d.y << 8 | (WaveGetLaneIndex() & 3) << 24;
    dst[i] = uint4(own, QuadReadAcrossX(i), QuadReadAcrossY(i), QuadReadLaneAt(i, 2));
}
