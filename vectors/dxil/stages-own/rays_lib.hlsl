// -T lib_6_5
struct Payload { float4 value; uint4 numbers; };
struct Small { uint value; };
struct Attributes { float2 at; };
RaytracingAccelerationStructure scene : register(t0);
RWStructuredBuffer<Payload> output : register(u1);

export float scaled(float value, inout uint count) { count += 1; return value * 0.5; }

[shader("raygeneration")] void Generate()
{
    uint2 at = DispatchRaysIndex().xy;
    RayDesc ray;
    ray.Origin = float3(at.x + 0.25, at.y + 0.5, -1);
    ray.Direction = float3(0, 0, 1);
    ray.TMin = 0.125;
    ray.TMax = 100;
    Payload payload;
    payload.value = 0;
    payload.numbers = uint4(at, 0, 7);
    TraceRay(scene, RAY_FLAG_NONE, 0xff, 0, 1, 0, ray, payload);
    Small small = { payload.numbers.z };
    CallShader(0, small);
    payload.numbers.w = small.value;
    payload.value.w = scaled(payload.value.w, payload.numbers.x);
    output[at.y * DispatchRaysDimensions().x + at.x] = payload;
}
[shader("miss")] void Miss(inout Payload payload)
{
    payload.value = float4(WorldRayOrigin().xy, RayTMin(), RayTCurrent());
    payload.numbers.z = 1000;
}
[shader("closesthit")] void Hit(inout Payload payload, Attributes attributes)
{
    payload.value = float4(attributes.at, ObjectToWorld3x4()[2][2] + WorldToObject3x4()[0][3], RayTCurrent());
    payload.numbers.z = PrimitiveIndex() + 10 * InstanceID() + 100 * InstanceIndex() + (HitKind() << 16);
}
[shader("anyhit")] void Any(inout Payload payload, Attributes attributes)
{
    // Every second triangle is not there.
    if (PrimitiveIndex() & 1) IgnoreHit();
    payload.numbers.y += 100;
}
[shader("intersection")] void Box()
{
    Attributes attributes;
    attributes.at = ObjectRayOrigin().xy * 2;
    ReportHit(2.5, 3, attributes);
}
[shader("callable")] void Call(inout Small small) { small.value = small.value * 2 + 1; }
