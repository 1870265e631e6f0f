// -T cs_6_5 -E main
RaytracingAccelerationStructure scene : register(t0);
RWByteAddressBuffer output : register(u1);
[numthreads(1, 1, 1)] void main(uint3 at : SV_GroupID)
{
    RayDesc ray = { float3(at.x + 0.25, at.y + 0.5, -1), 0.125, float3(0, 0, 1), 100 };
    RayQuery<RAY_FLAG_NONE> query;
    query.TraceRayInline(scene, RAY_FLAG_NONE, 0xff, ray);
    uint candidates = 0;
    while (query.Proceed())
    {
        candidates++;
        if (query.CandidateType() == CANDIDATE_NON_OPAQUE_TRIANGLE)
        {
            if (!(query.CandidatePrimitiveIndex() & 1)) query.CommitNonOpaqueTriangleHit();
        }
        else if (query.CandidateProceduralPrimitiveNonOpaque())
            query.CommitProceduralPrimitiveHit(2.5);
    }
    uint status = query.CommittedStatus();
    uint4 result = uint4(status, candidates > 0, 0, 0);
    if (status != COMMITTED_NOTHING)
    {
        result.z = query.CommittedPrimitiveIndex() + 10 * query.CommittedInstanceID();
        result.w = asuint(query.CommittedRayT());
    }
    output.Store4((at.y * 4 + at.x) * 16, result);
}
