// -T ps_6_1 -E main
struct Input { float4 position : SV_Position; float2 uv : UV; noperspective float2 flat_uv : LINEAR; nointerpolation int3 numbers : NUMBERS; float clip : SV_ClipDistance; };
struct Output { float4 a : SV_Target0; uint4 b : SV_Target1; };
Output main(Input i, bool front : SV_IsFrontFace, uint primitive : SV_PrimitiveID)
{
    Output o;
    o.a = float4(i.uv, i.flat_uv);
    o.b = uint4(i.numbers.y, i.numbers.z, (uint)(i.position.x * 2) | (uint)(i.position.w * 4096) << 8, primitive * 2 + (front ? 1 : 0));
    return o;
}
