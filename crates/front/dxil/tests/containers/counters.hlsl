// -T cs_6_0 -E main
ConsumeStructuredBuffer<float2> source : register(u0);
AppendStructuredBuffer<float2> sink : register(u1);
RWStructuredBuffer<uint> counted : register(u2);
[numthreads(8, 1, 1)] void main()
{
    float2 value = source.Consume();
    sink.Append(value.yx);
    counted[counted.IncrementCounter()] = counted.DecrementCounter();
}
