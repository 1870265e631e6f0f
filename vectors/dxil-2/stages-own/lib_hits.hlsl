// Operations on hit objects of SM 6.9; objects that pass through loops, choices and calls.
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

// All that an object tells.
[shader("raygeneration")]
void told()
{
    P p;
    p.c = 0;
    dx::HitObject h = traced(float3(DispatchRaysIndex()), p);
    uint at = DispatchRaysIndex().x * 256;
    dst.Store4(at, uint4(h.IsHit(), h.IsMiss(), h.IsNop(), h.GetRayFlags()));
    dst.Store4(at + 16, uint4(h.GetGeometryIndex(), h.GetInstanceIndex(), h.GetInstanceID(), h.GetPrimitiveIndex()));
    dst.Store4(at + 32, uint4(h.GetHitKind(), h.GetShaderTableIndex(), asuint(h.GetRayTMin()), asuint(h.GetRayTCurrent())));
    dst.Store3(at + 48, asuint(h.GetWorldRayOrigin()));
    dst.Store3(at + 64, asuint(h.GetWorldRayDirection()));
    dst.Store3(at + 80, asuint(h.GetObjectRayOrigin()));
    dst.Store3(at + 96, asuint(h.GetObjectRayDirection()));
    float3x4 m = h.GetObjectToWorld3x4();
    float3x4 n = h.GetWorldToObject3x4();
    for (uint row = 0; row < 3; ++row) {
        dst.Store4(at + 112 + row * 16, asuint(m[row]));
        dst.Store4(at + 160 + row * 16, asuint(n[row]));
    }
    BuiltInTriangleIntersectionAttributes a;
    h.GetAttributes(a);
    dst.Store2(at + 208, asuint(a.barycentrics));
    dst.Store(at + 216, h.LoadLocalRootTableConstant(8));
}

// Objects of queries, which have no record until they are given one.
[shader("raygeneration")]
void queried()
{
    RayQuery<RAY_FLAG_NONE> q;
    q.TraceRayInline(scene, RAY_FLAG_NONE, 255, ray(float3(DispatchRaysIndex())));
    q.Proceed();
    P p;
    p.c = 1;
    dx::HitObject h = dx::HitObject::FromRayQuery(q);
    dst.Store(0, h.LoadLocalRootTableConstant(4));
    dx::HitObject::Invoke(h, p);
    h.SetShaderTableIndex(3);
    dx::MaybeReorderThread(h);
    dx::HitObject::Invoke(h, p);
    dst.Store(4, h.LoadLocalRootTableConstant(4));
    dst.Store4(16, asuint(p.c));
}

// The nearest of several objects: the one kept and the one just traced are alive together, in places that change.
[shader("raygeneration")]
void nearest()
{
    P p;
    p.c = 0;
    dx::HitObject best = dx::HitObject::MakeNop();
    float t = 1e30;
    uint count = DispatchRaysDimensions().y;
    for (uint i = 0; i < count; ++i) {
        dx::HitObject h = traced(float3(i, 0, 0), p);
        if (h.IsHit() && h.GetRayTCurrent() < t) {
            t = h.GetRayTCurrent();
            best = h;
        }
    }
    dx::MaybeReorderThread(best, count, 3);
    dx::HitObject::Invoke(best, p);
    dst.Store4(DispatchRaysIndex().x * 16, asuint(p.c));
}

// Two objects at once, each changed where nothing else is it.
[shader("closesthit")]
void nested(inout P p, BuiltInTriangleIntersectionAttributes a)
{
    P q;
    q.c = 0;
    dx::HitObject first = traced(float3(a.barycentrics, 0), q);
    dx::HitObject second = dx::HitObject::MakeMiss(RAY_FLAG_NONE, 1, ray(float3(1, 2, 3)));
    first.SetShaderTableIndex(2);
    second.SetShaderTableIndex(4);
    dx::HitObject::Invoke(first, q);
    dx::HitObject::Invoke(second, p);
    p.c += q.c;
}
