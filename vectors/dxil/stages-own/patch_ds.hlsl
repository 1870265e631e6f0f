// -T ds_6_0 -E main
struct Control { float3 position : POSITION; float weight : WEIGHT; };
struct Patch { float edges[3] : SV_TessFactor; float inside : SV_InsideTessFactor; float3 sum : SUM; uint count : COUNT; };
struct Output { float4 position : SV_Position; float4 color : COLOR; nointerpolation uint2 numbers : NUMBERS; };
[domain("tri")] Output main(Patch p, float3 at : SV_DomainLocation, const OutputPatch<Control, 3> v)
{
    Output o;
    float3 position = v[0].position * at.x + v[1].position * at.y + v[2].position * at.z;
    o.position = float4(position, 1);
    o.color = float4(dot(p.sum, at), p.sum.x, v[2].weight, position.x);
    o.numbers = uint2(p.count, (uint)(p.edges[0] * 100 + p.edges[1] * 10 + p.inside));
    return o;
}
