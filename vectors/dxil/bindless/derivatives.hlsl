RWStructuredBuffer<float4> o : register(u0); ByteAddressBuffer a : register(t1);
[numthreads(4, 4, 1)] void main(uint3 id : SV_DispatchThreadID, uint i : SV_GroupIndex)
{
    float v = asfloat(a.Load(i * 4));
    o[i] = float4(ddx_fine(v), ddy_fine(v), QuadReadAcrossX(v), QuadReadAcrossY(v));
}
