// -T vs_6_0 -E main
struct Output { float3 position : POSITION; uint number : NUMBER; };
Output main(uint vertex : SV_VertexID)
{
    Output o;
    o.position = float3(float2(vertex & 1, vertex >> 1) * 4 - 1, 0.5);
    o.number = vertex + 1;
    return o;
}
