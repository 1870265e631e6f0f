// -T as_6_5 -E main
struct Payload { uint base; float2 corners[5]; };
groupshared Payload payload;
groupshared uint live;
[numthreads(4, 1, 1)] void main(uint thread : SV_GroupIndex, uint3 group : SV_GroupID)
{
    if (thread == 0) { live = 0; payload.base = group.x * 16; payload.corners[4] = float2(group.x, 0.75); }
    GroupMemoryBarrierWithGroupSync();
    // Three of four quarters of the target.
    if (thread != 2) { uint slot; InterlockedAdd(live, 1, slot); }
    payload.corners[thread] = float2(thread & 1, thread >> 1);
    GroupMemoryBarrierWithGroupSync();
    DispatchMesh(live, 1, 1, payload);
}
