RWStructuredBuffer<uint> list : register(u0); RWStructuredBuffer<uint> stack : register(u1); RWByteAddressBuffer seen : register(u2);
[numthreads(8, 1, 1)] void main(uint3 id : SV_DispatchThreadID)
{
    uint at = list.IncrementCounter();
    list[at] = at * at + 1;
    uint top = stack.DecrementCounter();
    seen.InterlockedOr(0, 1u << (top & 31));
}
