// -T lib_6_3
StateObjectConfig config = { STATE_OBJECT_FLAGS_ALLOW_LOCAL_DEPENDENCIES_ON_EXTERNAL_DEFINITONS };
GlobalRootSignature global_signature = { "SRV(t0), DescriptorTable(UAV(u1))" };
LocalRootSignature local_signature = { "RootConstants(num32BitConstants=4, b0, space=15)" };
SubobjectToExportsAssociation association = { "local_signature", "ClosestHit;Miss" };
RaytracingShaderConfig shader_config = { 16, 8 };
RaytracingPipelineConfig pipeline_config = { 2 };
TriangleHitGroup triangles = { "", "ClosestHit" };
ProceduralPrimitiveHitGroup boxes = { "", "ClosestHit", "Box" };

struct Payload { float3 color; uint depth; };
struct Attributes { float2 barycentrics; };
cbuffer Local : register(b0, space15) { float4 tint; };

[shader("closesthit")] void ClosestHit(inout Payload payload, Attributes attributes) { payload.color = tint.rgb; }
[shader("miss")] void Miss(inout Payload payload) { payload.color = 0; }
[shader("intersection")] void Box() { Attributes attributes = { float2(0, 1) }; ReportHit(1, 0, attributes); }
