//! Storage images and buffers of texels in dispatches and draws, with the texels that shaders left in them.

mod common;

use common::{bytes, device, glsl, words};
use xenoglot_vulkan::glslang::{self, Stage};
use xenoglot_vulkan::{
    Contents, DescriptorKind, DescriptorSlot, Device, DispatchJob, Error, ImageContents, PipelineJob,
    PipelineStage, RenderJob, StageModule, TexelFormat, TextureShape, Topology, View,
};

fn image(shape: TextureShape, format: TexelFormat, size: [u32; 3], texels: Vec<u8>) -> ImageContents {
    ImageContents { shape, arrayed: false, format, size, layers: 1, samples: 1, texels }
}

/// A job on descriptors of set 0 with consecutive bindings.
fn job(spirv: Vec<u32>, contents: Vec<Vec<Contents>>, groups: [u32; 3]) -> DispatchJob {
    let kind = |contents: &Contents| match contents {
        Contents::Buffer(_) => DescriptorKind::Storage,
        Contents::Texels(..) => DescriptorKind::ImageBuffer,
        Contents::Texture(_) => DescriptorKind::Texture,
        Contents::Sampler(_) => DescriptorKind::Sampler,
        Contents::Image(_) | Contents::View(_) => DescriptorKind::Image,
    };
    let slot = |(binding, elements): (u32, &Vec<Contents>)| DescriptorSlot {
        set: 0,
        binding,
        kind: kind(&elements[0]),
        count: elements.len() as u32,
    };
    let descriptors = (0..).zip(&contents).map(slot).collect();
    DispatchJob { spirv, descriptors, contents, groups }
}

fn dispatch(device: &Device, job: &DispatchJob) -> Result<Vec<Vec<u8>>, Error> {
    // SAFETY: glslang makes valid modules, and the jobs here have what they use.
    unsafe { device.dispatch(job) }.map(|mut outputs| outputs.remove(0).buffers)
}

#[test]
fn texels_of_every_format_come_back_as_they_were() {
    let source = "#version 450\nvoid main() {}";
    let (Some(device), Some(spirv)) = (device(), glsl(source, Stage::Compute)) else { return };
    let mut taken = 0;
    for &format in TexelFormat::ALL {
        let texels: Vec<u8> = (0..5 * 3 * format.bytes()).map(|n| (n % 119) as u8).collect();
        let contents = image(TextureShape::D2, format, [5, 3, 1], texels.clone());
        match dispatch(&device, &job(spirv.clone(), vec![vec![Contents::Image(contents)]], [1, 1, 1])) {
            Ok(after) => {
                assert_eq!(after, [texels], "{format:?}");
                taken += 1;
            }
            Err(Error::Unsupported(_)) => {}
            Err(other) => panic!("{format:?}: {other}"),
        }
    }
    // Those that every device has as storage images.
    assert!(taken >= 16, "{taken}");
}

#[test]
fn shaders_load_store_and_count_in_images() {
    let source = "#version 450
        layout(local_size_x = 4, local_size_y = 2) in;
        layout(set = 0, binding = 0, rgba8) uniform image2D a;
        layout(set = 0, binding = 1, r32ui) uniform uimage2D count;
        layout(set = 0, binding = 2, r32f) uniform image3D deep;
        layout(set = 0, binding = 3, rgba32i) uniform iimage2DArray layers;
        layout(set = 0, binding = 4, r32i) uniform iimageBuffer texels;
        layout(set = 0, binding = 5, r32ui) uniform uimageCube cube;
        layout(set = 0, binding = 6, r32ui) uniform uimage1D several[2];
        void main() {
            ivec2 p = ivec2(gl_GlobalInvocationID.xy);
            imageStore(a, p, imageLoad(a, p).abgr);
            imageAtomicAdd(count, ivec2(p.x, 0), 3u);
            imageStore(deep, ivec3(p, 2), imageLoad(deep, ivec3(p, 1)) + 0.5);
            imageStore(layers, ivec3(p, 1), imageLoad(layers, ivec3(p, 0)) + imageSize(layers).xyzx);
            imageStore(texels, p.x + 4 * p.y, ivec4(imageLoad(texels, p.x + 4 * p.y).x * -2));
            imageStore(cube, ivec3(p, 5), uvec4(p.x + 10 * p.y));
            imageStore(several[1], p.x, imageLoad(several[0], p.x) * 7u);
        }";
    let (Some(device), Some(spirv)) = (device(), glsl(source, Stage::Compute)) else { return };
    let numbers = |n: u32| bytes(&(0..n).collect::<Vec<_>>());
    let floats = |n: u32| bytes(&(0..n).map(|i| (i as f32).to_bits()).collect::<Vec<_>>());
    let layers = ImageContents {
        arrayed: true,
        layers: 2,
        ..image(TextureShape::D2, TexelFormat::R32G32B32A32Sint, [4, 2, 1], numbers(4 * 2 * 4 * 2))
    };
    let cube = ImageContents {
        layers: 6,
        ..image(TextureShape::Cube, TexelFormat::R32Uint, [4, 4, 1], numbers(4 * 4 * 6))
    };
    let row = |texels| Contents::Image(image(TextureShape::D1, TexelFormat::R32Uint, [4, 1, 1], texels));
    let contents = vec![
        vec![Contents::Image(image(
            TextureShape::D2,
            TexelFormat::R8G8B8A8Unorm,
            [4, 2, 1],
            (0..32).collect(),
        ))],
        vec![Contents::Image(image(TextureShape::D2, TexelFormat::R32Uint, [4, 1, 1], numbers(4)))],
        vec![Contents::Image(image(TextureShape::D3, TexelFormat::R32Sfloat, [4, 2, 3], floats(24)))],
        vec![Contents::Image(layers)],
        vec![Contents::Texels(TexelFormat::R32Sint, numbers(9))],
        vec![Contents::Image(cube)],
        vec![row(numbers(4)), row(bytes(&[9; 4]))],
    ];
    let after = dispatch(&device, &job(spirv, contents, [1, 1, 1])).unwrap();
    let reversed: Vec<u8> = (0..8).flat_map(|t| [4 * t + 3, 4 * t + 2, 4 * t + 1, 4 * t]).collect();
    assert_eq!(after[0], reversed);
    assert_eq!(words(&after[1]), [6, 7, 8, 9]);
    let deep: Vec<f32> = words(&after[2]).into_iter().map(f32::from_bits).collect();
    let above: Vec<f32> = (8..16).map(|n| n as f32 + 0.5).collect();
    assert_eq!(deep[..16], (0..16).map(|n| n as f32).collect::<Vec<_>>());
    assert_eq!(deep[16..], above);
    let second: Vec<u32> = (0..32).map(|n| n + [4, 2, 2, 4][n as usize % 4]).collect();
    assert_eq!(words(&after[3])[32..], second);
    let doubled = [0, -2, -4, -6, -8, -10, -12, -14, 8].map(|n: i32| n as u32);
    assert_eq!(words(&after[4]), doubled);
    let faces = words(&after[5]);
    assert_eq!(faces[..80], (0..80).collect::<Vec<u32>>());
    assert_eq!(faces[80..88], [0, 1, 2, 3, 10, 11, 12, 13]);
    assert_eq!(words(&after[6]), [0, 1, 2, 3]);
    assert_eq!(words(&after[7]), [0, 7, 14, 21]);
}

#[test]
fn images_are_seen_in_several_formats() {
    let source = "#version 450
        layout(local_size_x = 4) in;
        layout(set = 0, binding = 0, r32f) uniform image1D floats;
        layout(set = 0, binding = 1, r32ui) uniform uimage1D bits;
        layout(set = 0, binding = 2, rgba8i) uniform iimageBuffer bytes;
        layout(set = 0, binding = 3, r32ui) uniform uimageBuffer words;
        void main() {
            int x = int(gl_GlobalInvocationID.x);
            imageStore(bits, x, floatBitsToUint(imageLoad(floats, x) * 2.0));
            imageStore(bytes, x, ivec4(imageLoad(words, x + 4).x, 1, 2, -1));
        }";
    let (Some(device), Some(spirv)) = (device(), glsl(source, Stage::Compute)) else { return };
    let floats: Vec<u32> = (1..5).map(|n| (n as f32).to_bits()).collect();
    let view = |binding, format| vec![Contents::View(View { set: 0, binding, element: 0, format })];
    let contents = vec![
        vec![Contents::Image(image(TextureShape::D1, TexelFormat::R32Sfloat, [4, 1, 1], bytes(&floats)))],
        view(0, TexelFormat::R32Uint),
        vec![Contents::Texels(TexelFormat::R8G8B8A8Sint, bytes(&[0, 0, 0, 0, 5, 6, 7, 8]))],
        view(2, TexelFormat::R32Uint),
    ];
    let mut job = job(spirv, contents, [1, 1, 1]);
    job.descriptors[3].kind = DescriptorKind::ImageBuffer;
    let after = dispatch(&device, &job).unwrap();
    let doubled: Vec<u32> = (1..5).map(|n| (2.0 * n as f32).to_bits()).collect();
    assert_eq!(words(&after[0]), doubled);
    assert!(after[1].is_empty() && after[3].is_empty());
    let stored = [5, 6, 7, 8].map(|n| 0xff02_0100 | n);
    assert_eq!(words(&after[2])[..4], stored);
    job.contents[1] = view(0, TexelFormat::R32G32Uint);
    assert!(matches!(dispatch(&device, &job), Err(Error::Unsupported(_))));
    job.contents[1] = view(3, TexelFormat::R32Uint);
    assert!(matches!(dispatch(&device, &job), Err(Error::Unsupported(_))));
}

#[test]
fn fragments_store_to_images() {
    let vertex = "#version 450\nvoid main() { vec2 p = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1); \
        gl_Position = vec4(p * 4.0 - 1.0, 0.5, 1.0); }";
    let fragment = "#version 450\nlayout(location = 0) out vec4 o; \
        layout(set = 0, binding = 2, r32ui) uniform uimage2D i; void main() { o = vec4(1.0); \
        ivec2 p = ivec2(gl_FragCoord.xy); imageAtomicAdd(i, p, uint(p.x + 8 * p.y)); }";
    let stage = |stage, of, source| match glslang::compile(source, of) {
        Ok(spirv) => Some(StageModule { stage, spirv }),
        Err(glslang::Error::NotInstalled) => None,
        Err(error) => panic!("{error}"),
    };
    let stages = [
        stage(PipelineStage::Vertex, Stage::Vertex, vertex),
        stage(PipelineStage::Fragment, Stage::Fragment, fragment),
    ];
    let (Some(device), [Some(vertex), Some(fragment)]) = (device(), stages) else { return };
    let texels = image(TextureShape::D2, TexelFormat::R32Uint, [8, 8, 1], bytes(&[100; 64]));
    let job = RenderJob {
        pipeline: PipelineJob {
            stages: vec![vertex, fragment],
            descriptors: vec![DescriptorSlot { set: 0, binding: 2, kind: DescriptorKind::Image, count: 1 }],
            inputs: Vec::new(),
            targets: vec![false],
            topology: Topology::Triangles,
            patch_vertices: 3,
        },
        contents: vec![vec![Contents::Image(texels)]],
        inputs: Vec::new(),
        vertices: 3,
        instances: 1,
        size: 8,
        layers: 1,
    };
    // SAFETY: glslang makes valid modules, and the job has what they use.
    let outputs = unsafe { device.render(&job) }.unwrap();
    assert_eq!(words(&outputs[0].buffers[1]), (100..164).collect::<Vec<_>>());
}

#[test]
fn contents_that_do_not_fit_are_typed_errors() {
    let source = "#version 450\nvoid main() {}";
    let (Some(device), Some(spirv)) = (device(), glsl(source, Stage::Compute)) else { return };
    let refused = |contents: ImageContents| {
        let job = job(spirv.clone(), vec![vec![Contents::Image(contents)]], [1, 1, 1]);
        dispatch(&device, &job).unwrap_err()
    };
    let good = image(TextureShape::D2, TexelFormat::R32Uint, [4, 4, 1], vec![0; 64]);
    let unsupported = |contents| assert!(matches!(refused(contents), Error::Unsupported(_)));
    unsupported(ImageContents { texels: vec![0; 63], ..good.clone() });
    unsupported(ImageContents { size: [4, 0, 1], texels: Vec::new(), ..good.clone() });
    unsupported(ImageContents { size: [2, 2, 4], ..good.clone() });
    unsupported(ImageContents { layers: 2, texels: vec![0; 128], ..good.clone() });
    unsupported(ImageContents { shape: TextureShape::Cube, ..good.clone() });
    let large = ImageContents { size: [1 << 20, 1, 1], texels: vec![0; 4 << 20], ..good.clone() };
    assert!(matches!(refused(large), Error::TooLarge { .. }));
    let mut other = job(spirv.clone(), vec![vec![Contents::Image(good.clone())]], [1, 1, 1]);
    other.descriptors[0].kind = DescriptorKind::ImageBuffer;
    assert!(matches!(dispatch(&device, &other), Err(Error::Unsupported(_))));
    other.contents.clear();
    assert!(matches!(dispatch(&device, &other), Err(Error::Unsupported(_))));
    let small = vec![vec![Contents::Texels(TexelFormat::R32G32Uint, vec![0; 4])]];
    assert!(matches!(dispatch(&device, &job(spirv.clone(), small, [1; 3])), Err(Error::Unsupported(_))));
    // None of these harmed the device.
    let after = dispatch(&device, &job(spirv, vec![vec![Contents::Image(good)]], [1, 1, 1])).unwrap();
    assert_eq!(after, [vec![0; 64]]);
}
