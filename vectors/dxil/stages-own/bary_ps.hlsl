// -T ps_6_1 -E main
struct Input { float4 position : SV_Position; float2 uv : UV; noperspective float2 flat_uv : LINEAR; nointerpolation int3 numbers : NUMBERS; };
struct Output { float4 a : SV_Target0; uint4 b : SV_Target1; };
Output main(Input i, float3 where : SV_Barycentrics)
{
    Output o;
    o.a = float4(where, i.uv.x);
    o.b = uint4(GetAttributeAtVertex(i.numbers, 0).x, GetAttributeAtVertex(i.numbers, 1).x, GetAttributeAtVertex(i.numbers, 2).x, 5);
    return o;
}
