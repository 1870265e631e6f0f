// -T cs_6_0 -E main
// Operations of numbers that no other shader here has.
ByteAddressBuffer input : register(t0);
RWByteAddressBuffer output : register(u0);
RWStructuredBuffer<double> doubles : register(u1);
[numthreads(32, 1, 1)] void main(uint id : SV_DispatchThreadID)
{
    float a = asfloat(input.Load(id * 16)), b = asfloat(input.Load(id * 16 + 4));
    int i = input.Load(id * 16 + 8), j = input.Load(id * 16 + 12);
    float sum = 0;
    sum += isnan(a) ? 1 : 0;
    sum += isinf(a) ? 2 : 0;
    sum += isfinite(a) ? 4 : 0;
    sum += cos(a) + sin(b) + tan(a) + acos(b) + asin(a) + atan(b) + cosh(a) + sinh(b) + tanh(a);
    sum += dot(float2(a, b), float2(b, 3)) + dot(float4(a, b, a, 1), float4(b, a, 2, b));
    int whole = max(i, j) + mad(i, j, 7) + (int)mad((uint)i, (uint)j, 9u);
    output.Store(id * 16, asuint(sum));
    output.Store(id * 16 + 4, whole);
    output.Store(id * 16 + 8, WaveGetLaneIndex());
    output.Store(id * 16 + 12, WaveGetLaneCount());
    double d = doubles[id];
    d = fma(d, (double)a, d);
    doubles[id] = d + (double)i;
    output.Store(4096 + id * 16, asuint((float)d));
    output.Store(4100 + id * 16, (int)d);
    output.Store(4104 + id * 16, (uint)d);
}
