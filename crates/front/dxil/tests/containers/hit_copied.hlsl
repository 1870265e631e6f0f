RaytracingAccelerationStructure scene : register(t0);
RWByteAddressBuffer dst : register(u0);
struct [raypayload] P { float4 c : read(caller, closesthit) : write(caller, closesthit, miss); };

RayDesc ray(float3 origin)
{
    RayDesc r;
    r.Origin = origin;
    r.Direction = float3(0, 1, 0);
    r.TMin = 0.25;
    r.TMax = 50;
    return r;
}

dx::HitObject traced(float3 origin, inout P p)
{
    return dx::HitObject::TraceRay(scene, RAY_FLAG_NONE, 255, 0, 1, 0, ray(origin), p);
}

// One that is used both as it was and changed: SPIR-V cannot copy it.
[shader("raygeneration")]
void copied()
{
    P p;
    p.c = 0;
    dx::HitObject h = traced(0, p);
    dx::HitObject g = h;
    g.SetShaderTableIndex(1);
    dx::HitObject::Invoke(g, p);
    dx::HitObject::Invoke(h, p);
    dst.Store4(0, asuint(p.c));
}
