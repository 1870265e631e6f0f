//! Vertex shaders on the host's device.

mod common;

use common::{bytes, device, glsl, storage, words};
use xenoglot_vulkan::{Error, VertexInput, VertexJob, VertexRun, glslang};

/// One output of each sort, in two capture buffers, the second with a gap.
const SHADER: &str = "#version 450
    layout(location = 0) in vec4 position;
    layout(location = 2) in uvec2 bits;
    layout(location = 3) in int offset;
    layout(set = 0, binding = 0) buffer Seen { uint seen[]; };
    layout(push_constant) uniform P { float scale; };
    out gl_PerVertex {
        layout(xfb_buffer = 0, xfb_stride = 16, xfb_offset = 0) vec4 gl_Position;
        float gl_PointSize;
    };
    layout(location = 0, xfb_buffer = 2, xfb_stride = 24, xfb_offset = 8) out uvec2 sum;
    layout(location = 1, xfb_buffer = 2, xfb_stride = 24, xfb_offset = 20) out int negated;
    void main() {
        gl_Position = position * scale;
        sum = bits + uint(gl_VertexIndex);
        negated = -offset;
        gl_PointSize = 1.0;
        seen[gl_VertexIndex] = 1u;
    }";

fn run(vertices: u32) -> VertexRun {
    let values = |value: [u32; 4]| vec![value; vertices as usize];
    let input = |location, value| VertexInput { location, values: values(value) };
    VertexRun {
        vertices,
        inputs: vec![
            input(3, [5, 0, 0, 0]),
            input(1, [9, 9, 9, 9]),
            input(0, [1.0, -2.0, 0.5, 1.5].map(f32::to_bits)),
            input(2, [10, 0xffff_ffff, 99, 99]),
        ],
        buffers: vec![storage(0, &[0; 5])],
        push_constants: bytes(&[2.0_f32.to_bits()]),
    }
}

#[test]
fn outputs_of_every_vertex_are_captured() {
    let (Some(device), Some(spirv)) = (device(), glsl(SHADER, glslang::Stage::Vertex)) else { return };
    let job = VertexJob { spirv, entry: "main".to_owned(), runs: vec![run(3), run(0), run(1)] };
    // SAFETY: glslang makes valid modules.
    let outputs = unsafe { device.run_vertex(&job) }.unwrap();
    for (output, vertices) in outputs.iter().zip([3_u32, 0, 1]) {
        let seen: Vec<u32> = (0..5).map(|vertex| u32::from(vertex < vertices)).collect();
        assert_eq!(words(&output.buffers[0]), seen);
        assert_eq!(output.captures.keys().copied().collect::<Vec<_>>(), [0, 2]);
        let position = [2.0, -4.0, 1.0, 3.0].map(f32::to_bits);
        assert_eq!(words(&output.captures[&0].data), position.repeat(vertices as usize));
        let others = &output.captures[&2];
        assert_eq!(others.stride, 24);
        let expected: Vec<u32> = (0..vertices)
            .flat_map(|vertex| [0, 0, 10 + vertex, vertex.wrapping_sub(1), 0, -5_i32 as u32])
            .collect();
        assert_eq!(words(&others.data), expected);
    }
}

#[test]
fn missing_inputs_and_captures_are_typed_errors() {
    let (Some(device), Some(spirv)) = (device(), glsl(SHADER, glslang::Stage::Vertex)) else { return };
    // SAFETY: glslang makes valid modules.
    let pipeline = unsafe { device.prepare_vertex(&spirv, "main") }.unwrap();
    let mut short = run(3);
    short.inputs[3].values.pop();
    assert_eq!(pipeline.draw(&short), Err(Error::VertexInput { location: 2, got: 2, vertices: 3 }));
    let mut missing = run(3);
    missing.inputs.remove(0);
    assert_eq!(pipeline.draw(&missing), Err(Error::VertexInput { location: 3, got: 0, vertices: 3 }));
    let mut unbound = run(3);
    unbound.buffers.clear();
    assert!(matches!(pipeline.draw(&unbound), Err(Error::MissingBinding { set: 0, binding: 0, .. })));

    let plain = "#version 450\nvoid main() { gl_Position = vec4(1); }";
    let Some(spirv) = glsl(plain, glslang::Stage::Vertex) else { return };
    // SAFETY: glslang makes valid modules.
    let error = unsafe { device.prepare_vertex(&spirv, "main") }.err();
    assert_eq!(error, Some(Error::NothingCaptured));
    // SAFETY: as above.
    let error = unsafe { device.prepare_compute(&spirv, "main") }.err();
    assert!(matches!(error, Some(Error::NoEntry { .. })));
}
