// -T ms_6_5 -E main
struct Payload { uint base; float2 corners[5]; };
struct Vertex { float4 position : SV_Position; float4 color : COLOR; };
struct Primitive { nointerpolation uint2 numbers : NUMBERS; bool culled : SV_CullPrimitive; };
[outputtopology("triangle")] [numthreads(4, 1, 1)]
void main(uint thread : SV_GroupIndex, uint3 group : SV_GroupID, in payload Payload payload, out vertices Vertex vertices[4], out primitives Primitive primitives[3], out indices uint3 triangles[3])
{
    SetMeshOutputCounts(4, 3);
    uint quarter = group.x < 2 ? group.x : 3;
    float2 corner = float2(thread & 1, thread >> 1);
    Vertex v;
    v.position = float4(payload.corners[quarter] + corner - 1, 0.5, 1);
    v.color = float4(corner, payload.corners[4]);
    vertices[thread] = v;
    if (thread < 3)
    {
        triangles[thread] = thread == 0 ? uint3(0, 1, 2) : uint3(2, 1, 3);
        Primitive p;
        p.numbers = uint2(payload.base + quarter, thread);
        // Over the second triangle, with a number of its own.
        p.culled = thread == 2;
        primitives[thread] = p;
    }
}
