#define RS "RootConstants(num32BitConstants=4, b0), CBV(b1), SRV(t0), SRV(t1), UAV(u0), UAV(u1)"
cbuffer Constants : register(b0) { uint scale; uint bias; uint2 rest; };
cbuffer Table : register(b1) { uint4 table[4]; };
ByteAddressBuffer raw : register(t0); StructuredBuffer<uint3> triples : register(t1);
RWByteAddressBuffer sums : register(u0); RWStructuredBuffer<uint2> pairs : register(u1);
[RootSignature(RS)] [numthreads(16, 1, 1)] void main(uint3 id : SV_DispatchThreadID)
{
    uint i = id.x;
    uint v = raw.Load(i * 4) * scale + table[i & 3][i >> 2 & 3] + bias;
    uint3 t = triples[i];
    pairs[i] = uint2(v, t.x + t.y * t.z);
    uint old;
    sums.InterlockedAdd((i & 3) * 4, v, old);
    sums.InterlockedMax(16, v);
    sums.Store(64 + i * 4, v ^ rest.y);
}
