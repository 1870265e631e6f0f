//! Draws whose targets are read back.

mod common;

use common::device;
use xenoglot_vulkan::glslang::{self, Stage};
use xenoglot_vulkan::{
    Contents, DescriptorKind, DescriptorSlot, Numbers, PipelineJob, PipelineStage, RenderJob, StageModule,
    TextureContents, TextureShape, Topology,
};

const VERTEX: &str = "#version 450\nlayout(location = 0) out vec2 uv; void main() { \
    uv = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 2.0; gl_Position = vec4(uv * 2.0 - 1.0, 0.5, 1.0); }";

fn job(sources: &[(PipelineStage, Stage, &str)]) -> RenderJob {
    let stages = sources
        .iter()
        .map(|&(stage, of, source)| StageModule { stage, spirv: glslang::compile(source, of).unwrap() })
        .collect();
    RenderJob {
        pipeline: PipelineJob {
            stages,
            descriptors: Vec::new(),
            inputs: Vec::new(),
            targets: vec![false],
            topology: Topology::Triangles,
            patch_vertices: 3,
        },
        contents: Vec::new(),
        inputs: Vec::new(),
        vertices: 3,
        instances: 1,
        size: 8,
        layers: 1,
    }
}

fn draw(job: &RenderJob) -> Option<Vec<f32>> {
    let device = device()?;
    // SAFETY: glslang makes valid modules, and the job has what they use.
    let outputs = unsafe { device.render(job) }.unwrap();
    let target = &outputs[0].buffers[0];
    Some(target.as_chunks().0.iter().map(|b| f32::from_ne_bytes(*b)).collect())
}

#[test]
fn textures_are_what_was_given() {
    let fragment = "#version 450\nlayout(location = 0) in vec2 uv; layout(location = 0) out vec4 o; \
        layout(set = 0, binding = 3) uniform sampler2D t; void main() { o = texture(t, uv); }";
    let mut job = job(&[
        (PipelineStage::Vertex, Stage::Vertex, VERTEX),
        (PipelineStage::Fragment, Stage::Fragment, fragment),
    ]);
    job.pipeline.descriptors =
        vec![DescriptorSlot { set: 0, binding: 3, kind: DescriptorKind::Texture, count: 1 }];
    let texels: Vec<f32> = (0..8 * 8 * 4).map(|n| n as f32).collect();
    job.contents = vec![vec![Contents::Texture(TextureContents {
        shape: TextureShape::D2,
        arrayed: false,
        numbers: Numbers::Float,
        size: [8, 8, 1],
        layers: 1,
        levels: 1,
        samples: 1,
        texels: texels.iter().flat_map(|t| t.to_ne_bytes()).collect(),
    })]];
    if let Some(pixels) = draw(&job) {
        assert_eq!(pixels, texels);
    }
    job.contents.clear();
    if let Some(device) = device() {
        // SAFETY: as above; what the job lacks is refused.
        assert!(unsafe { device.render(&job) }.is_err());
    }
}

#[test]
fn patches_are_divided() {
    let control = "#version 450\nlayout(vertices = 3) out; void main() { \
        gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position; \
        gl_TessLevelOuter[0] = 1; gl_TessLevelOuter[1] = 1; gl_TessLevelOuter[2] = 1; gl_TessLevelInner[0] = 1; }";
    let evaluation = "#version 450\nlayout(triangles) in; void main() { vec3 t = gl_TessCoord; gl_Position = \
        gl_in[0].gl_Position * t.x + gl_in[1].gl_Position * t.y + gl_in[2].gl_Position * t.z; }";
    let fragment = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(0.5); }";
    let job = job(&[
        (PipelineStage::Vertex, Stage::Vertex, VERTEX),
        (PipelineStage::TessControl, Stage::TessControl, control),
        (PipelineStage::TessEval, Stage::TessEvaluation, evaluation),
        (PipelineStage::Fragment, Stage::Fragment, fragment),
    ]);
    if let Some(pixels) = draw(&job) {
        assert_eq!(pixels, [0.5; 8 * 8 * 4]);
    }
}
