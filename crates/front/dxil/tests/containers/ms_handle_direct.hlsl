struct V { float4 p : SV_Position; float4 c : C; };
ByteAddressBuffer b : register(t0);
[outputtopology("triangle")] [numthreads(4,1,1)]
void main(uint i : SV_GroupIndex, out vertices V v[4], out indices uint3 t[2]) {
  SetMeshOutputCounts(4, 2);
  float4 c = 0;
  if (i & 1) c = asfloat(b.Load4(i * 16));
  V o; o.p = float4(i & 1, i >> 1, 0, 1); o.c = c + asfloat(b.Load(i));
  v[i] = o;
  if (i < 2) t[i] = uint3(i, i + 1, i + 2);
}
