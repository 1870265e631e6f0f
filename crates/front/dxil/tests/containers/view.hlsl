// -T vs_6_1 -E main
struct Output { float4 position : SV_Position; float2 uv : UV; uint id : ID; };
Output main(float4 position : POSITION, float2 uv[2] : UV, uint view : SV_ViewID)
{
    Output output;
    output.position = position + float4(view, 0, 0, 0);
    output.uv = uv[0] + uv[1].yx;
    output.id = 3;
    return output;
}
