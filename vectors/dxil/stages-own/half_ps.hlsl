// -T ps_6_2 -E main -enable-16bit-types
struct Output { float4 a : SV_Target0; int4 b : SV_Target1; };
Output main(float4 position : SV_Position, nointerpolation int16_t3 s : SHORTS, nointerpolation half2 h : HALVES)
{
    Output o;
    o.a = float4(h * (half)2, 0, 1);
    o.b = int4(s, s.x * s.y);
    return o;
}
