// -T cs_6_0 -E main
// The call of an intrinsic as AGS's header makes it: operation 3 is the lane's number.
RWByteAddressBuffer extension : register(u0, space2147420894);
RWByteAddressBuffer output : register(u0);

[numthreads(32, 1, 1)]
void main(uint i : SV_GroupIndex) {
    uint lane;
    extension.InterlockedCompareExchange(5u << 28 | 3u, 0, 0, lane);
    output.Store(i * 4, lane);
}
