// -T cs_6_2 -E main
// Types of at least 16 bits: in buffers and constants they have 32, in registers as many as the host likes. All values here
// are exact in both.
struct Record { min16float2 f; min16int i; min16uint u; };
cbuffer Constants : register(b0) { min16float4 scale; min16int add; min16uint bits; };
StructuredBuffer<Record> records : register(t1);
RWStructuredBuffer<Record> results : register(u2);
RWByteAddressBuffer plain : register(u3);
static const min16float table[4] = { 0.5, 2.0, -4.0, 8.0 };
groupshared min16float shared_halves[16];
groupshared min16int shared_numbers[16];

[numthreads(16, 1, 1)]
void main(uint i : SV_GroupIndex) {
    Record r = records[i];
    shared_halves[i] = r.f.x * scale.x + r.f.y;
    shared_numbers[i] = r.i - add;
    min16float kept[3] = { r.f.y, scale.z, (min16float)i };
    GroupMemoryBarrierWithGroupSync();
    uint other = i ^ 5;
    Record w;
    w.f.x = shared_halves[other] + table[i & 3];
    w.f.y = kept[i % 3] * scale.w;
    w.i = shared_numbers[other] * (min16int)3;
    w.u = (r.u >> (min16uint)(i & 7)) ^ bits;
    results[i] = w;
    plain.Store(i * 8, asuint((float)(max(w.f.x, w.f.y))));
    plain.Store(i * 8 + 4, (int)min(w.i, (min16int)-100));
}
