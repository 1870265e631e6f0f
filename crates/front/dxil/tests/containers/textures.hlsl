// -T ps_6_5 -E main
Texture2D<float4> color : register(t0);
Texture2DMS<float4> samples : register(t1);
SamplerState smooth : register(s0);
FeedbackTexture2D<SAMPLER_FEEDBACK_MIN_MIP> feedback : register(u1);
float4 main(float2 uv : UV, uint inner : SV_InnerCoverage) : SV_Target
{
    float4 sum = color.SampleBias(smooth, uv, 0.5) + color.SampleGrad(smooth, uv, uv.x, uv.y, int2(1, -1));
    sum.xy += samples.GetSamplePosition(inner) + GetRenderTargetSamplePosition(1);
    sum.z += GetRenderTargetSampleCount();
    feedback.WriteSamplerFeedback(color, smooth, uv);
    feedback.WriteSamplerFeedbackBias(color, smooth, uv, 1);
    feedback.WriteSamplerFeedbackLevel(color, smooth, uv, 2);
    feedback.WriteSamplerFeedbackGrad(color, smooth, uv, uv.x, uv.y);
    return sum;
}
