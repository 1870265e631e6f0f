RWByteAddressBuffer o : register(u0); ByteAddressBuffer a : register(t1);
[numthreads(16, 1, 1)] void main(uint3 id : SV_DispatchThreadID)
{
    uint at = id.x * 16; int4 v = (int4)a.Load4(at);
    o.Store4(at, uint4(pack_u8(uint4(v)), pack_clamp_u8(v), pack_clamp_s8(v), 0));
    uint8_t4_packed p = (uint8_t4_packed)v.x; int8_t4_packed q = (int8_t4_packed)v.y;
    uint4 u = unpack_u8u32(p); int4 s = unpack_s8s32(q);
    o.Store(at + 12, dot(u, uint4(1, 3, 5, 7)) + (uint)dot(s, int4(2, 4, 6, 8)));
}
