//! Levels of detail, offsets, derivatives of compute shaders and helper lanes, as passes compute them for languages without such ops:
//! on a device, compared with the device's own.

use std::sync::OnceLock;
use xenoglot::{Code, Host, Options, compile};
use xenoglot_ir::Module;
use xenoglot_ir::text::{Limits, parse};
use xenoglot_opt::pipeline::pass;
use xenoglot_opt::{Lacks, PassKind, lower_levels};
use xenoglot_spirv::Capability;
use xenoglot_testgen::skip::skip;
use xenoglot_vulkan::isolated::{Isolated, IsolatedOptions, WorkerCommand, serve_if_worker};
use xenoglot_vulkan::{
    ComputeJob, Contents, DescriptorKind, DescriptorSlot, Device, DeviceInfo, Job, Numbers, PipelineJob,
    PipelineStage, RenderJob, StageModule, TextureContents, TextureShape, Topology,
};

/// Width and height of the target.
const SIZE: u32 = 16;

/// Not a test: what the others start as a worker process.
#[test]
fn vulkan_worker() {
    serve_if_worker();
}

fn run(job: Job) -> Option<Vec<u8>> {
    static DEVICE: OnceLock<Option<DeviceInfo>> = OnceLock::new();
    if DEVICE.get_or_init(|| Device::list().ok()?.into_iter().next()).is_none() {
        skip("no Vulkan device");
        return None;
    }
    let command = WorkerCommand::this_test("vulkan_worker").unwrap();
    let mut device = Isolated::new(command, IsolatedOptions::default());
    Some(device.run(&job).unwrap().remove(0).buffers.remove(0))
}

fn module(text: &str) -> Module {
    let module = parse(text, &Limits::default()).unwrap();
    xenoglot_ir::verify(&module).unwrap();
    module
}

/// The module after a pass for a host that lacks something; it does something.
fn after(name: &str, lacks: &Lacks, mut module: Module) -> Module {
    let PassKind::Module(run) = pass(name).unwrap().kind else { panic!("{name} works on functions") };
    assert!(run(&mut module, lacks).any(), "{name} does nothing");
    xenoglot_ir::verify(&module).unwrap();
    module
}

fn spirv(host: &Host, mut module: Module) -> Vec<u32> {
    match compile(&mut module, host, &Options::default()).unwrap() {
        Code::Words(words) => words,
        _ => panic!("{host:?} is not of SPIR-V"),
    }
}

/// A triangle over the lower left half of the target: along its edge quads have helpers.
const VERTEX: &str = r#"module vertex "half" {
  input %index = builtin vertex_index : i32 flat
  output %position = builtin position : f32x4
  output %uv = location 0 : f32x2
  entry func @main() {
  block0:
    v0 : i32 = input %index
    v1 : i32 = const 1
    v2 : i32 = and v0, v1
    v3 : i32 = ushr v0, v1
    v4 : f32 = u2f v2
    v5 : f32 = u2f v3
    v6 : f32x2 = build v4, v5
    output %uv, v6
    v7 : f32 = const 2.0
    v8 : f32 = const -1.0
    v9 : f32 = fmul v4, v7
    v10 : f32 = fadd v9, v8
    v11 : f32 = fmul v5, v7
    v12 : f32 = fadd v11, v8
    v13 : f32 = const 0.5
    v14 : f32 = const 1.0
    v15 : f32x4 = build v10, v12, v13, v14
    output %position, v15
    return
  }
}"#;

/// Colours of the target's pixels.
fn draw(fragment: Module, textures: Vec<TextureContents>) -> Option<Vec<[f32; 4]>> {
    let host: Host = "lavapipe-25".parse().unwrap();
    let stages = [(PipelineStage::Vertex, module(VERTEX)), (PipelineStage::Fragment, fragment)];
    let stages = stages.map(|(stage, module)| StageModule { stage, spirv: spirv(&host, module) });
    let slot = |binding| DescriptorSlot { set: 0, binding, kind: DescriptorKind::Texture, count: 1 };
    let pixels = run(Job::Render(RenderJob {
        pipeline: PipelineJob {
            stages: stages.into(),
            descriptors: (0..textures.len() as u32).map(slot).collect(),
            inputs: Vec::new(),
            targets: vec![false],
            topology: Topology::Triangles,
            patch_vertices: 3,
        },
        contents: textures.into_iter().map(|texture| vec![Contents::Texture(texture)]).collect(),
        inputs: Vec::new(),
        vertices: 3,
        instances: 1,
        size: SIZE,
        layers: 1,
    }))?;
    let numbers: Vec<f32> = pixels.as_chunks().0.iter().map(|&bytes| f32::from_ne_bytes(bytes)).collect();
    Some(numbers.as_chunks().0.to_vec())
}

/// A texture of 16 by 16 texels, each level of its number; or with one level, of the texels' numbers.
fn texture(levels: u32) -> TextureContents {
    let texels: Vec<f32> = (0..levels)
        .flat_map(|level| {
            let count = (16 >> level) * (16 >> level);
            (0..4 * count).map(move |n| if levels == 1 { (n / 4) as f32 } else { level as f32 })
        })
        .collect();
    TextureContents {
        shape: TextureShape::D2,
        arrayed: false,
        numbers: Numbers::Float,
        size: [16, 16, 1],
        layers: 1,
        levels,
        samples: 1,
        texels: texels.iter().flat_map(|t| t.to_ne_bytes()).collect(),
    }
}

/// The level that is asked for, clamped and unclamped, that of the texel that `SAMPLE` reads, and that of one read at a given level.
const LEVELS: &str = r#"module fragment "levels" {
  input %uv = location 0 : f32x2
  output %colour = location 0 : f32x4
  texture @t = set 0 binding 0 2d
  entry func @main() {
  block0:
    v0 : f32x2 = input %uv
    v1 : f32 = extract 0, v0
    v2 : f32 = extract 1, v0
    v3 : f32 = fmul v1, v1
    v4 : f32 = const 3.5
    v5 : f32 = const 1.75
    v6 : f32 = fmul v3, v4
    v7 : f32 = fmul v2, v5
    v8 : f32x2 = build v6, v7
    v9 : tex = resource_handle @t
    v10 : f32x2 = tex.query_lod 2d, v9, v8
    v11 : f32 = extract 0, v10
    v12 : f32 = extract 1, v10
    v13 : f32 = const 1.5
    v14 : f32x4 = SAMPLE
    v15 : f32 = extract 0, v14
    v16 : f32x4 = tex.sample 2d lod, v9, v8, v1
    v17 : f32 = extract 0, v16
    v18 : f32x4 = build v11, v12, v15, v17
    output %colour, v18
    return
  }
}"#;

/// Computed levels are the device's, within the error of its logarithm. Few devices have least levels, so that the device samples
/// without one, and the greater of the two is expected.
#[test]
fn levels_are_the_devices() {
    let lacks = Lacks { levels: lower_levels::Options::ALL, ..Lacks::default() };
    let [plain, least] = ["tex.sample 2d, v9, v8", "tex.sample 2d min_lod, v9, v8, v13"]
        .map(|sample| module(&LEVELS.replace("SAMPLE", sample)));
    let Some(own) = draw(plain, vec![texture(5)]) else { return };
    let Some(computed) = draw(after("lower_levels", &lacks, least), vec![texture(5)]) else { return };
    let covered: Vec<_> = own.iter().zip(&computed).filter(|(own, _)| **own != [0.0; 4]).collect();
    assert!(covered.len() > 100, "{} pixels", covered.len());
    for (own, computed) in covered {
        let expected = [own[0], own[1], own[2].max(1.5), own[3]];
        for (expected, found) in expected.into_iter().zip(computed) {
            // llvmpipe samples by a rougher logarithm than it answers with.
            assert!((expected - found).abs() < 0.05, "{own:?}, computed {computed:?}");
        }
    }
}

const OFFSETS: &str = r#"module fragment "offsets" {
  input %uv = location 0 : f32x2
  output %colour = location 0 : f32x4
  texture @t = set 0 binding 0 2d
  entry func @main() {
  block0:
    v0 : f32x2 = input %uv
    v1 : f32 = const 0.01
    v2 : f32x2 = splat v1
    v3 : f32x2 = fadd v0, v2
    v4 : f32 = const 5.0
    v5 : f32x2 = splat v4
    v6 : f32x2 = fmul v0, v5
    v7 : i32x2 = f2s.clamp v6
    v8 : i32 = const -2
    v9 : i32x2 = splat v8
    v10 : i32x2 = iadd v7, v9
    v11 : tex = resource_handle @t
    v12 : f32x4 = tex.gather 2d offset, v11, v3, v10
    v13 : i32 = const 3
    v14 : i32x2 = splat v13
    v15 : i32x2 = iadd v7, v14
    v16 : i32 = const 0
    v17 : i32x2 = const [2, 0xffffffff]
    v18 : f32x4 = tex.fetch 2d lod offset, v11, v15, v16, v17
    v19 : f32 = const 256.0
    v20 : f32x4 = splat v19
    v21 : f32x4 = fmul v18, v20
    v22 : f32x4 = fadd v12, v21
    output %colour, v22
    return
  }
}"#;

#[test]
fn offsets_are_the_devices() {
    let lacks = Lacks { levels: lower_levels::Options::ALL, ..Lacks::default() };
    let Some(own) = draw(module(OFFSETS), vec![texture(1)]) else { return };
    let moved = draw(after("lower_levels", &lacks, module(OFFSETS)), vec![texture(1)]);
    assert_eq!(Some(own), moved);
}

const HELPERS: &str = r#"module fragment "helpers" {
  input %uv = location 0 : f32x2
  input %at = builtin frag_coord : f32x4
  output %colour = location 0 : f32x4
  entry func @main() {
  block0:
    v0 : f32x4 = input %at
    v1 : f32 = extract 0, v0
    v2 : i32 = f2s.clamp v1
    v3 : i32 = const 5
    v4 : i32 = and v2, v3
    v5 : bool = icmp.eq v4, v3
    v6 : f32 = const 1.0
    v7 : f32 = const 2.0
    v8 : bool = helper
    v9 : f32 = select v8, v7, v6
    v10 : f32 = ddx.fine v9
    v11 : f32 = ddy.fine v9
    discard_if v5
    v12 : bool = helper
    v13 : f32 = select v12, v7, v6
    v14 : f32 = ddx.fine v13
    v15 : f32x4 = build v10, v11, v14, v6
    output %colour, v15
    return
  }
}"#;

/// An invocation that is discarded is a helper by its own memory and by the device. Helpers along the triangle's edge are left out:
/// llvmpipe gives them a mask of all samples.
#[test]
fn helpers_are_the_devices() {
    let lacks = Lacks { helpers: true, ..Lacks::default() };
    let Some(own) = draw(module(HELPERS), Vec::new()) else { return };
    let Some(remembered) = draw(after("lower_helpers", &lacks, module(HELPERS)), Vec::new()) else { return };
    assert!(own.iter().any(|pixel| pixel[2] != pixel[0]), "fragments are discarded");
    let inside = own.iter().zip(&remembered).filter(|(own, _)| own[..2] == [0.0; 2]);
    inside.for_each(|(own, remembered)| assert_eq!(own, remembered));
}

/// Squares of the invocations' numbers, differentiated.
const DERIVATIVES: &str = r#"module compute "derivatives" {
  workgroup 16 1 1
  input %index = builtin local_invocation_index : i32 flat
  storage @b = set 0 binding 0 readwrite oob zero
  entry func @main() {
  block0:
    v0 : i32 = input %index
    v1 : f32 = u2f v0
    v2 : f32 = fmul v1, v1
    v3 : f32x2 = build v2, v1
    v4 : f32x2 = ddx.fine v3
    v5 : f32 = ddy.coarse v2
    v6 : f32 = extract 0, v4
    v7 : f32 = extract 1, v4
    v8 : i32 = const 16
    v9 : i32 = imul v0, v8
    store storage @b align 4, v9, v6
    v10 : i32 = const 4
    v11 : i32 = iadd v9, v10
    store storage @b align 4, v11, v7
    v12 : i32 = iadd v11, v10
    store storage @b align 4, v12, v5
    return
  }
}"#;

#[test]
fn derivatives_are_differences_within_quads() {
    let mut host: Host = "lavapipe-25".parse().unwrap();
    host.without.insert(Capability::ComputeDerivativeGroupLinearKHR);
    let spirv = spirv(&host, module(DERIVATIVES));
    let Some(found) = run(Job::Compute(ComputeJob::on_words(spirv, &[(0, vec![0; 64])], 1))) else { return };
    let found: Vec<f32> = found.as_chunks().0.iter().map(|&bytes| f32::from_ne_bytes(bytes)).collect();
    for lane in 0..16usize {
        let square = |lane: usize| (lane * lane) as f32;
        let (left, upper) = (lane & !1, lane & !2);
        let expected = [square(left | 1) - square(left), 1.0, square(upper | 2) - square(upper), 0.0];
        assert_eq!(found[4 * lane..][..4], expected, "lane {lane}");
    }
}
