// -T cs_6_0 -E main
// Residency of everything that can be read, and positions of samples.
Texture2D<float4> plane : register(t0);
Texture2DMS<float4, 4> samples : register(t1);
Buffer<uint> texels : register(t2);
StructuredBuffer<uint> records : register(t3);
SamplerState point_sampler : register(s0, space1);
RWTexture2D<float> image : register(u4);
RWStructuredBuffer<uint> result : register(u5);
[numthreads(8, 1, 1)]
void main(uint id : SV_GroupIndex)
{
    uint status;
    uint all = 0;
    float4 sum = 0;
    float2 at = float2(0.5, 0.5);
    sum += plane.Load(int3(id & 3, 1, 0), int2(0, 0), status);
    all |= CheckAccessFullyMapped(status) ? 1 : 0;
    sum += plane.SampleLevel(point_sampler, at, 0, int2(0, 0), status);
    all |= CheckAccessFullyMapped(status) ? 2 : 0;
    sum += plane.GatherRed(point_sampler, at, int2(0, 0), status);
    all |= CheckAccessFullyMapped(status) ? 4 : 0;
    sum += samples.Load(int2(0, 0), id & 3, int2(0, 0), status);
    all |= CheckAccessFullyMapped(status) ? 8 : 0;
    sum.x += texels.Load(id, status);
    all |= CheckAccessFullyMapped(status) ? 16 : 0;
    sum.x += records.Load(id, status);
    all |= CheckAccessFullyMapped(status) ? 32 : 0;
    sum.x += image.Load(int2(id & 3, 0), status);
    all |= CheckAccessFullyMapped(status) ? 64 : 0;
    // One of two statuses, chosen where it runs.
    uint other;
    sum += plane.SampleGrad(point_sampler, at, float2(0, 0), float2(0, 0), int2(0, 0), 0, other);
    all |= CheckAccessFullyMapped(id & 1 ? other : status) ? 128 : 0;
    float2 position = samples.GetSamplePosition(id);
    result[id * 8] = all;
    result[id * 8 + 1] = asuint(position.x);
    result[id * 8 + 2] = asuint(position.y);
    result[id * 8 + 3] = asuint(sum.x);
    result[id * 8 + 4] = asuint(sum.y);
}
