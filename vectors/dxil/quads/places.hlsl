RWStructuredBuffer<uint4> dst : register(u0);
[numthreads(4, 6, 2)]
void main(uint3 d : SV_DispatchThreadID, uint3 t : SV_GroupThreadID, uint3 g : SV_GroupID, uint i : SV_GroupIndex)
{
    uint place = d.x | d.y << 8 | d.z << 16;
    uint group = 48 * (g.x + 2 * g.y);
    uint own = t.x | t.y << 4 | t.z << 8 | i << 12 | (WaveGetLaneIndex() & 3) << 24;
    dst[group + i] = uint4(place, own, QuadReadAcrossDiagonal(place), QuadReadLaneAt(own, 1));
}
