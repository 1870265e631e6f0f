// A hit that the shader made up in a query, with a kind and attributes.
RaytracingAccelerationStructure scene : register(t0);
RWByteAddressBuffer dst : register(u0);
struct [raypayload] P { float4 c : read(caller, closesthit) : write(caller, closesthit, miss); };
struct Attributes { float2 at; uint material; };

[shader("raygeneration")]
void queried()
{
    RayDesc r;
    r.Origin = DispatchRaysIndex();
    r.Direction = float3(0, 1, 0);
    r.TMin = 0.25;
    r.TMax = 50;
    RayQuery<RAY_FLAG_NONE> q;
    q.TraceRayInline(scene, RAY_FLAG_NONE, 255, r);
    while (q.Proceed()) {
        if (q.CandidateType() == CANDIDATE_PROCEDURAL_PRIMITIVE)
            q.CommitProceduralPrimitiveHit(2.0);
    }
    Attributes a;
    a.at = float2(0.25, 0.5);
    a.material = DispatchRaysIndex().y;
    dx::HitObject h = dx::HitObject::FromRayQuery(q, 7, a);
    h.SetShaderTableIndex(3);
    P p;
    p.c = 1;
    dx::HitObject::Invoke(h, p);
    Attributes b;
    h.GetAttributes(b);
    dst.Store4(16, uint4(asuint(b.at), b.material, h.GetHitKind()));
    dst.Store4(32, asuint(p.c));
}
