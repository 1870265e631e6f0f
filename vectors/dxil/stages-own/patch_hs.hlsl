// -T hs_6_0 -E main
struct Vertex { float3 position : POSITION; uint number : NUMBER; };
struct Control { float3 position : POSITION; float weight : WEIGHT; };
struct Patch { float edges[3] : SV_TessFactor; float inside : SV_InsideTessFactor; float3 sum : SUM; uint count : COUNT; };
RWByteAddressBuffer log : register(u2);
Patch patch(InputPatch<Vertex, 3> v, OutputPatch<Control, 3> o, uint id : SV_PrimitiveID)
{
    Patch p;
    p.edges[0] = 2; p.edges[1] = 3; p.edges[2] = 4; p.inside = 3;
    p.sum = float3(o[0].weight, o[1].weight, o[2].weight);
    p.count = v[0].number + v[1].number + v[2].number + id;
    log.Store4(0, uint4(p.count, asuint(o[1].weight), asuint(o[2].position.y), id));
    return p;
}
[domain("tri")] [partitioning("integer")] [outputtopology("triangle_ccw")] [outputcontrolpoints(3)] [patchconstantfunc("patch")]
Control main(InputPatch<Vertex, 3> v, uint i : SV_OutputControlPointID)
{
    Control o;
    o.position = v[i].position;
    // A neighbour's number.
    o.weight = v[(i + 1) % 3].number * 10;
    return o;
}
