// -T cs_6_2 -E main -denorm ftz
// Denormals of 32-bit floats are flushed: operands and results.
StructuredBuffer<float2> values : register(t0);
RWStructuredBuffer<uint4> results : register(u1);
[numthreads(16, 1, 1)] void main(uint id : SV_GroupIndex)
{
    float2 v = values[id];
    results[id] = uint4(asuint(v.x * v.y), asuint(v.x + v.y), asuint(max(v.x, v.y)), v.x < v.y ? 1 : 0);
}
