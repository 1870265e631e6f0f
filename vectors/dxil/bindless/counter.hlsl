RWStructuredBuffer<uint> list : register(u0); RWStructuredBuffer<uint> stack : register(u1); RWByteAddressBuffer out0 : register(u2);
[numthreads(8, 1, 1)] void main(uint3 id : SV_DispatchThreadID)
{
    list[list.IncrementCounter()] = id.x * id.x;
    out0.InterlockedOr(0, 1u << stack.DecrementCounter());
}
