// -T cs_6_2 -E main
// Residency statuses of buffers of every kind, read before what they are of and without it.
Buffer<float> floats : register(t0);
RWBuffer<uint> numbers : register(u1);
ByteAddressBuffer bytes : register(t2);
StructuredBuffer<uint2> records : register(t3);
RWStructuredBuffer<uint> results : register(u4);
[numthreads(8, 1, 1)] void main(uint id : SV_GroupIndex)
{
    uint status, all = 0;
    float f = floats.Load(id, status);
    all |= CheckAccessFullyMapped(status) ? 1 : 0;
    uint n = numbers.Load(id, status);
    all |= CheckAccessFullyMapped(status) ? 2 : 0;
    n += bytes.Load(id * 4, status);
    all |= CheckAccessFullyMapped(status) ? 4 : 0;
    n += records.Load(id, status).y;
    all |= CheckAccessFullyMapped(status) ? 8 : 0;
    floats.Load(id + 8, status);
    all |= CheckAccessFullyMapped(status) ? 16 : 0;
    results[id] = n + (uint)f + (all << 16);
}
