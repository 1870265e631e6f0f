// -T vs_6_2 -E main -enable-16bit-types
struct Output { float4 position : SV_Position; nointerpolation int16_t3 s : SHORTS; nointerpolation half2 h : HALVES; };
Output main(uint vertex : SV_VertexID)
{
    Output o;
    o.position = float4(float2(vertex & 1, vertex >> 1) * 4 - 1, 0.5, 1);
    o.s = int16_t3(-3, 300, (int16_t)vertex * 0 - 32000);
    o.h = half2(0.5, -2048);
    return o;
}
