// -T gs_6_0 -E main
struct Vertex { float4 position : SV_Position; };
[maxvertexcount(2)] void main(point Vertex input[1], inout PointStream<Vertex> stream)
{
    stream.Append(input[0]);
    stream.RestartStrip();
    input[0].position.x += 1;
    stream.Append(input[0]);
    stream.RestartStrip();
}
