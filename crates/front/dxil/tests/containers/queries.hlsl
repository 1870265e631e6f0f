// -T cs_6_5 -E main
RaytracingAccelerationStructure scene : register(t0);
RWByteAddressBuffer output : register(u0);
static uint at = 0;
void put(uint value) { output.Store(at, value); at += 4; }
void put(float value) { put(asuint(value)); }
void put(float2 value) { put(value.x); put(value.y); }
void put(float3 value) { put(value.xy); put(value.z); }
void put(float3x4 value) { put(value[0].xyz); put(value[1].yzw); put(value[2].zwx); }
[numthreads(1, 1, 1)] void main()
{
    RayDesc ray = { float3(0, 0, -1), 0.125, float3(0, 0, 1), 100 };
    RayQuery<RAY_FLAG_FORCE_NON_OPAQUE> query;
    query.TraceRayInline(scene, RAY_FLAG_CULL_FRONT_FACING_TRIANGLES, 0xff, ray);
    while (query.Proceed())
    {
        put(query.RayFlags());
        put(query.WorldRayOrigin());
        put(query.WorldRayDirection());
        put(query.RayTMin());
        put(query.CandidateInstanceIndex());
        put(query.CandidateInstanceID());
        put(query.CandidateInstanceContributionToHitGroupIndex());
        put(query.CandidateGeometryIndex());
        put(query.CandidatePrimitiveIndex());
        put(query.CandidateObjectRayOrigin());
        put(query.CandidateObjectRayDirection());
        put(query.CandidateObjectToWorld3x4());
        put(query.CandidateWorldToObject3x4());
        if (query.CandidateType() == CANDIDATE_NON_OPAQUE_TRIANGLE)
        {
            put(query.CandidateTriangleRayT());
            put(query.CandidateTriangleBarycentrics());
            put((uint)query.CandidateTriangleFrontFace());
            query.CommitNonOpaqueTriangleHit();
        }
        else if (query.CandidateProceduralPrimitiveNonOpaque())
            query.CommitProceduralPrimitiveHit(2);
        else
            query.Abort();
    }
    if (query.CommittedStatus() == COMMITTED_TRIANGLE_HIT)
    {
        put(query.CommittedRayT());
        put(query.CommittedInstanceIndex());
        put(query.CommittedInstanceID());
        put(query.CommittedInstanceContributionToHitGroupIndex());
        put(query.CommittedGeometryIndex());
        put(query.CommittedPrimitiveIndex());
        put(query.CommittedObjectRayOrigin());
        put(query.CommittedObjectRayDirection());
        put(query.CommittedTriangleBarycentrics());
        put((uint)query.CommittedTriangleFrontFace());
        put(query.CommittedObjectToWorld3x4());
        put(query.CommittedWorldToObject3x4());
    }
}
