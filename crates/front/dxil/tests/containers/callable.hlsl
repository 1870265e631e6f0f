// -T lib_6_5
struct Payload { uint value; };
struct Attributes { float2 barycentrics; };
RWStructuredBuffer<uint> output : register(u0);
[shader("raygeneration")] void Generate()
{
    Payload payload = { DispatchRaysDimensions().x };
    CallShader(3, payload);
    output[DispatchRaysIndex().x] = payload.value;
}
[shader("callable")] void Call(inout Payload payload) { payload.value += 5; }
[shader("closesthit")] void Hit(inout Payload payload, Attributes attributes) { payload.value = GeometryIndex(); }
