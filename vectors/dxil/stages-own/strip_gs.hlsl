// -T gs_6_0 -E main
// Each invocation makes a square for each layer out of a triangle.
struct Vertex { float3 position : POSITION; uint number : NUMBER; };
struct Output { float4 position : SV_Position; float4 color : COLOR; nointerpolation uint2 numbers : NUMBERS; uint layer : SV_RenderTargetArrayIndex; };
[instance(2)] [maxvertexcount(8)]
void main(triangle Vertex v[3], uint instance : SV_GSInstanceID, uint primitive : SV_PrimitiveID, inout TriangleStream<Output> stream)
{
    for (uint half_ = 0; half_ < 2; ++half_)
    {
        for (uint k = 0; k < 4; ++k)
        {
            Output o;
            float2 at = float2(k & 1, k >> 1);
            o.position = float4(float2(at.x + half_ - 1, at.y * 2 - 1), v[0].position.z, 1);
            o.color = float4(at, half_, v[k % 3].number);
            o.numbers = uint2(v[2].number * 100 + instance, primitive + half_);
            o.layer = instance;
            stream.Append(o);
        }
        stream.RestartStrip();
    }
}
