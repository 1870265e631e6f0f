// -T ps_6_0 -E main
struct Output { float4 a : SV_Target0; uint4 b : SV_Target1; };
Output main(float4 position : SV_Position, float4 color : COLOR, nointerpolation uint2 numbers : NUMBERS)
{
    Output o;
    o.a = color;
    o.b = uint4(numbers, (uint2)position.xy);
    return o;
}
