#define RS "RootFlags(CBV_SRV_UAV_HEAP_DIRECTLY_INDEXED), RootConstants(num32BitConstants=2, b0), DescriptorTable(SRV(t4, numDescriptors=4), CBV(b1), SRV(t8), UAV(u0)), DescriptorTable(SRV(t0, space=1, numDescriptors=unbounded))"
cbuffer Constants : register(b0) { uint heap; uint bias; };
cbuffer Table : register(b1) { uint4 table[2]; };
ByteAddressBuffer some[4] : register(t4); Buffer<uint> texels : register(t8);
StructuredBuffer<uint2> many[] : register(t0, space1);
RWStructuredBuffer<uint4> results : register(u0);
[RootSignature(RS)] [numthreads(16, 1, 1)] void main(uint3 id : SV_DispatchThreadID)
{
    uint i = id.x;
    uint a = some[NonUniformResourceIndex(i & 3)].Load(i * 4);
    uint2 b = many[NonUniformResourceIndex(i % 3)][i];
    RWByteAddressBuffer direct = ResourceDescriptorHeap[heap];
    direct.InterlockedAdd(0, a);
    uint size; some[3].GetDimensions(size);
    results[i] = uint4(a + table[i & 1].y, b.x * 3 + b.y, texels[i] + bias, size + direct.Load(4 + i * 4));
}
