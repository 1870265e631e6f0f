// -T ps_6_0 -E main
// Samples of the target.
struct Pixel { float4 floats : SV_Target0; uint4 numbers : SV_Target1; };
Pixel main(float4 place : SV_Position)
{
    Pixel p;
    uint sample = uint(place.x);
    p.floats = float4(GetRenderTargetSamplePosition(sample), GetRenderTargetSamplePosition(sample + 8));
    p.numbers = uint4(GetRenderTargetSampleCount(), sample, uint(place.y), 0);
    return p;
}
