// -T cs_6_0 -E main
// Residency of images and buffers of texels that are written, too.
RWTexture2D<float> image : register(u0);
RWBuffer<uint> texels : register(u1);
RWStructuredBuffer<uint> result : register(u2);
[numthreads(8, 1, 1)]
void main(uint id : SV_GroupIndex)
{
    uint status;
    uint sum = (uint)image.Load(int2(id, 0), status);
    sum += CheckAccessFullyMapped(status) ? 0x10000 : 0;
    sum += texels.Load(id, status);
    sum += CheckAccessFullyMapped(status) ? 0x20000 : 0;
    result[id] = sum;
}
