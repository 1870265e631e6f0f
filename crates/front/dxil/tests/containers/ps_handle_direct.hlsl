Texture2D<float4> t : register(t0);
SamplerState s : register(s0);
ByteAddressBuffer b : register(t1);
float4 main(float2 uv : UV, nointerpolation uint n : N) : SV_Target {
  float4 c = t.SampleLevel(s, uv, 0);
  if (n & 1) { c += asfloat(b.Load4(n * 16)); }
  c *= asfloat(b.Load(n)) * t.SampleLevel(s, uv * 2, 0);
  return c;
}
