// -T ms_6_5 -E main
struct Payload { uint first; float scale; };
struct Vertex { float4 position : SV_Position; };
struct Primitive { uint layer : SV_RenderTargetArrayIndex; bool culled : SV_CullPrimitive; float tint : TINT; };
[outputtopology("line")] [numthreads(4, 1, 1)]
void main(uint id : SV_GroupThreadID, in payload Payload payload, out vertices Vertex vertices[4],
          out primitives Primitive primitives[3], out indices uint2 lines[3])
{
    SetMeshOutputCounts(4, 3);
    vertices[id].position = float4(id, payload.first, payload.scale, 1);
    if (id < 3)
    {
        Primitive primitive = { payload.first, id == 2, payload.scale };
        primitives[id] = primitive;
        lines[id] = uint2(id, id + 1);
    }
}
