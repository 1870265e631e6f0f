// -T cs_6_6 -E main -enable-16bit-types
RWByteAddressBuffer buffer : register(u0);
[numthreads(64, 1, 1)] void main(uint id : SV_DispatchThreadID)
{
    uint word = buffer.Load(id * 16);
    int32_t4 wide = unpack_s8s32((int8_t4_packed)word);
    uint16_t4 narrow = unpack_u8u16((uint8_t4_packed)word);
    buffer.Store(id * 16, (uint)pack_s8(wide * 3));
    buffer.Store(id * 16 + 4, (uint)pack_clamp_s8(wide * 5));
    buffer.Store(id * 16 + 8, (uint)pack_clamp_u8((int16_t4)narrow - (int16_t)20));
    half2 pair = half2(narrow.xy);
    buffer.Store(id * 16 + 12, asuint(dot2add(pair, half2(2, 3), 0.5f)));
}
