// -T vs_6_1 -E main
// A triangle over the whole target; w is not one, so that perspective shows.
struct Output { float4 position : SV_Position; float2 uv : UV; noperspective float2 flat_uv : LINEAR; nointerpolation int3 numbers : NUMBERS; float clip : SV_ClipDistance; };
Output main(uint vertex : SV_VertexID, uint instance : SV_InstanceID)
{
    Output o;
    float2 corner = float2(vertex & 1, vertex >> 1) * 4;
    float w = 1 + (vertex & 1);
    o.position = float4(corner - 1, 0.25, 1) * w;
    o.uv = corner / 2;
    o.flat_uv = corner / 2;
    o.numbers = int3(vertex, instance + 10, -7);
    o.clip = 1 - corner.x;
    return o;
}
