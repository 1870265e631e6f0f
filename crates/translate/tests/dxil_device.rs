//! DXIL shaders of every stage on a device: what they draw and trace, against what is computed here.

use std::path::Path;
use std::sync::OnceLock;
use xenoglot::dxil::{LiftOptions, lift, load, passes, programs, target_for};
use xenoglot::{Code, Target, Translator};
use xenoglot_ir::Stage;
use xenoglot_spirv::{Options, Version};
use xenoglot_testgen::skip::skip;
use xenoglot_vulkan::isolated::{Isolated, IsolatedOptions, WorkerCommand, serve_if_worker};
use xenoglot_vulkan::{
    BufferBinding, BufferKind, Contents, DescriptorKind, DescriptorSlot, Device, Features, HitGroup, Job,
    PipelineJob, PipelineStage, RayGeometry, RayJob, RenderJob, StageModule,
};

/// Width and height of the targets.
const SIZE: u32 = 8;

/// Not a test: what the others start as a worker process.
#[test]
fn vulkan_worker() {
    serve_if_worker();
}

/// What the device has; `None` without one.
fn features() -> Option<Features> {
    static FEATURES: OnceLock<Option<Features>> = OnceLock::new();
    *FEATURES.get_or_init(|| Device::list().ok()?.first().map(|info| info.features))
}

/// Whether the device has something; says so if not.
fn has(what: &str, feature: impl Fn(&Features) -> bool) -> bool {
    let has = features().is_some_and(|f| feature(&f));
    if !has {
        skip(&format!("no Vulkan device with {what}"));
    }
    has
}

fn run(job: Job) -> Vec<Vec<u8>> {
    let command = WorkerCommand::this_test("vulkan_worker").unwrap();
    let mut device = Isolated::new(command, IsolatedOptions::default());
    device.run(&job).unwrap().remove(0).buffers
}

fn stage(stage: Stage) -> PipelineStage {
    match stage {
        Stage::Vertex => PipelineStage::Vertex,
        Stage::TessControl => PipelineStage::TessControl,
        Stage::TessEval => PipelineStage::TessEval,
        Stage::Geometry => PipelineStage::Geometry,
        Stage::Fragment => PipelineStage::Fragment,
        Stage::Compute => PipelineStage::Compute,
        Stage::Mesh => PipelineStage::Mesh,
        Stage::Task => PipelineStage::Task,
        Stage::RayGen => PipelineStage::RayGen,
        Stage::Intersection => PipelineStage::Intersection,
        Stage::AnyHit => PipelineStage::AnyHit,
        Stage::ClosestHit => PipelineStage::ClosestHit,
        Stage::Miss => PipelineStage::Miss,
        Stage::Callable => PipelineStage::Callable,
        Stage::Cpu => panic!("no shader"),
    }
}

/// The shaders of a container, with their names.
fn shaders(name: &str, primitive_inputs: u64) -> Vec<(String, StageModule)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/dxil/stages-own");
    let bytes = std::fs::read(folder.join(name).with_extension("dxil")).unwrap();
    let module = load(&bytes).unwrap();
    let mut translator = Translator::new();
    let mut translated = |entry: usize| {
        let options = LiftOptions { entry, primitive_inputs, ..LiftOptions::default() };
        let mut lifted = lift(&module, &options).unwrap_or_else(|e| panic!("{name}: {e}"));
        let target = target_for(&Target::Spirv(Options::version(Version::V1_5)), &lifted.program);
        translator.optimize(&mut lifted.module, &passes());
        let code = translator.emit(&lifted.module, &target).unwrap_or_else(|e| panic!("{name}: {e}"));
        let Code::Words(spirv) = code else { panic!("{name}: no words") };
        (lifted.program.name.clone(), StageModule { stage: stage(lifted.module.stage), spirv })
    };
    (0..programs(&module).unwrap().len()).map(&mut translated).collect()
}

fn shader(name: &str) -> StageModule {
    shaders(name, 0).remove(0).1
}

/// A draw on a target of floats and one of integers.
fn draw(stages: Vec<StageModule>, vertices: u32, layers: u32, log: Option<usize>) -> Vec<Vec<u8>> {
    let descriptors =
        log.map(|_| DescriptorSlot { set: 0, binding: 2, kind: DescriptorKind::Storage, count: 1 });
    run(Job::Render(RenderJob {
        pipeline: PipelineJob {
            stages,
            descriptors: descriptors.into_iter().collect(),
            inputs: Vec::new(),
            targets: vec![false, true],
            points: false,
        },
        contents: log.map(|bytes| vec![Contents::Buffer(vec![0; bytes])]).into_iter().collect(),
        inputs: Vec::new(),
        vertices,
        instances: 1,
        size: SIZE,
        layers,
    }))
}

/// Pixels by layer and position, with what is in both targets.
fn pixels(targets: &[Vec<u8>]) -> impl Iterator<Item = ([u32; 3], [f32; 4], [u32; 4])> {
    let words = |bytes: &[u8]| -> Vec<[u32; 4]> {
        let words: Vec<u32> = bytes.as_chunks().0.iter().map(|w| u32::from_le_bytes(*w)).collect();
        words.as_chunks().0.to_vec()
    };
    let (floats, numbers) = (words(&targets[0]), words(&targets[1]));
    assert_eq!(floats.len() % (SIZE * SIZE) as usize, 0);
    (0..).zip(floats).zip(numbers).map(|((n, floats), numbers)| {
        ([n % SIZE, n / SIZE % SIZE, n / (SIZE * SIZE)], floats.map(f32::from_bits), numbers)
    })
}

fn close(got: [f32; 4], want: [f32; 4], at: [u32; 3]) {
    let near = got.iter().zip(want).all(|(g, w)| (g - w).abs() <= 1e-4 * w.abs().max(1.0));
    assert!(near, "{at:?}: {got:?}, not {want:?}");
}

/// Where a pixel's centre is in the window, from 0 to 2.
fn centre([x, y, _]: [u32; 3]) -> [f32; 2] {
    [x, y].map(|n| (n as f32 + 0.5) / SIZE as f32 * 2.0)
}

/// Barycentrics in the triangle that covers the targets, and with its w of 1, 2 and 1.
fn barycentrics(at: [u32; 3]) -> ([f32; 3], [f32; 3], f32) {
    let [x, y] = centre(at).map(|c| c / 4.0);
    let linear = [1.0 - x - y, x, y];
    let weights = [linear[0], linear[1] / 2.0, linear[2]];
    let sum: f32 = weights.iter().sum();
    (linear, weights.map(|w| w / sum), 1.0 / sum)
}

#[test]
fn fragments_are_given_what_vertices_put_out() {
    if !has("draws", |_| true) {
        return;
    }
    let targets = draw(vec![shader("draw_vs"), shader("draw_ps")], 3, 1, None);
    for (at, floats, numbers) in pixels(&targets) {
        let (linear, perspective, w) = barycentrics(at);
        if perspective[1] > 0.25 {
            assert_eq!((floats, numbers), ([0.0; 4], [0; 4]), "{at:?} is clipped");
            continue;
        }
        close(floats, [perspective[1] * 2.0, perspective[2] * 2.0, linear[1] * 2.0, linear[2] * 2.0], at);
        assert_eq!([numbers[0], numbers[1], numbers[2] & 0xff], [10, -7i32 as u32, 2 * at[0] + 1]);
        assert!((numbers[2] >> 8).abs_diff((w * 4096.0) as u32) <= 1, "{at:?}: w is {}", numbers[2] >> 8);
        // The corners are clockwise, which is the back with the state of the job.
        assert_eq!(numbers[3], 0);
    }
}

#[test]
fn barycentrics_and_attributes_of_vertices() {
    if !has("barycentrics", |f| f.fragment_shader_barycentric) {
        return;
    }
    let targets = draw(vec![shader("draw_vs"), shader("bary_ps")], 3, 1, None);
    for (at, floats, numbers) in pixels(&targets) {
        let (_, [a, b, c], _) = barycentrics(at);
        if b <= 0.25 {
            close(floats, [a, b, c, b * 2.0], at);
            assert_eq!(numbers, [0, 1, 2, 5]);
        }
    }
}

#[test]
fn components_of_16_bits() {
    if !has("halves", |f| f.shader_float16 && f.shader_int16) {
        return;
    }
    let targets = draw(vec![shader("half_vs"), shader("half_ps")], 3, 1, None);
    for (_, floats, numbers) in pixels(&targets) {
        assert_eq!(floats, [1.0, -4096.0, 0.0, 1.0]);
        assert_eq!(numbers.map(|n| n as i32), [-3, 300, -32000, -900]);
    }
}

#[test]
fn hull_and_domain_shaders_divide_a_patch() {
    if !has("tessellation", |f| f.tessellation_shader && f.vertex_pipeline_stores_and_atomics) {
        return;
    }
    let stages = ["patch_vs", "patch_hs", "patch_ds", "patch_ps"].map(shader);
    let targets = draw(stages.into(), 3, 1, Some(16));
    for (at, floats, numbers) in pixels(&targets) {
        let ([a, b, c], ..) = barycentrics(at);
        close(floats, [20.0 * a + 30.0 * b + 10.0 * c, 20.0, 10.0, centre(at)[0] - 1.0], at);
        assert_eq!(numbers, [6, 233, at[0], at[1]]);
    }
    let log: Vec<u32> = targets[2].as_chunks().0.iter().map(|w| u32::from_le_bytes(*w)).collect();
    assert_eq!(log, [6, 30f32.to_bits(), 3f32.to_bits(), 0]);
}

#[test]
fn geometry_shaders_make_strips_on_layers() {
    if !has("geometry shaders", |f| f.geometry_shader) {
        return;
    }
    let targets = draw(["patch_vs", "strip_gs", "patch_ps"].map(shader).into(), 3, 2, None);
    assert_eq!(pixels(&targets).count() as u32, 2 * SIZE * SIZE);
    for (at, floats, numbers) in pixels(&targets) {
        let [x, y] = centre(at);
        let half = x.floor();
        let (x, y) = (x - half, y / 2.0);
        let number = if x + y < 1.0 { 1.0 + x + 2.0 * y } else { 1.0 + (1.0 - y) + 2.0 * (1.0 - x) };
        close(floats, [x, y, half, number], at);
        assert_eq!(numbers, [300 + at[2], half as u32, at[0], at[1]]);
    }
}

#[test]
fn amplification_and_mesh_shaders_make_primitives() {
    if !has("mesh shaders", |f| f.mesh_shader && f.task_shader) {
        return;
    }
    // The numbers of a primitive come behind position and colour.
    let pixel = shaders("grid_ps", 1 << 2).remove(0).1;
    let targets = draw(vec![shader("grid_as"), shader("grid_ms"), pixel], 1, 1, None);
    for (at, floats, numbers) in pixels(&targets) {
        let [x, y] = centre(at);
        let (column, row) = (x.floor(), y.floor());
        let quarter = column as u32 + 2 * row as u32;
        if quarter == 2 {
            assert_eq!((floats, numbers), ([0.0; 4], [0; 4]), "{at:?}");
            continue;
        }
        let (x, y) = (x - column, y - row);
        close(floats, [x, y, 0.0, 0.75], at);
        assert_eq!([numbers[0], numbers[2], numbers[3]], [quarter, at[0], at[1]]);
        // On the diagonal it is either triangle, but not the one that is dropped.
        if x + y == 1.0 {
            assert!(numbers[1] < 2, "{at:?}");
        } else {
            assert_eq!(numbers[1], u32::from(x + y > 1.0), "{at:?}");
        }
    }
}

/// A right triangle whose legs start at a corner.
fn triangle(x: f32, y: f32, z: f32) -> [[f32; 3]; 3] {
    [[x, y, z], [x + 1.0, y, z], [x, y + 1.0, z]]
}

/// Four triangles, of which the second and the fourth are looked through, and a box; nothing elsewhere.
fn scene() -> Vec<RayGeometry> {
    let triangles =
        [triangle(0.0, 0.0, 1.0), triangle(1.0, 0.0, 1.0), triangle(2.0, 0.0, 2.0), triangle(2.0, 0.0, 1.0)];
    vec![
        RayGeometry::Triangles(triangles.into()),
        RayGeometry::Boxes(vec![[[0.0, 1.0, 0.0], [1.0, 2.0, 3.0]]]),
    ]
}

fn ray_job(modules: Vec<StageModule>, groups: Vec<HitGroup>, bytes: usize) -> Vec<u32> {
    let buffer = BufferBinding { set: 0, binding: 1, kind: BufferKind::Storage, data: vec![0; bytes] };
    let buffers = run(Job::Ray(RayJob {
        modules,
        scene: scene(),
        groups,
        structure: (0, 0),
        buffers: vec![buffer],
        size: [4, 2, 1],
    }));
    buffers[0].as_chunks().0.iter().map(|w| u32::from_le_bytes(*w)).collect()
}

#[test]
fn all_shaders_of_rays() {
    if !has("ray tracing", |f| f.ray_tracing_pipeline) {
        return;
    }
    let all = shaders("rays_lib", 0);
    let number = |stage| all.iter().position(|(_, module)| module.stage == stage);
    let closest = number(PipelineStage::ClosestHit);
    let groups = vec![
        HitGroup { closest, any: number(PipelineStage::AnyHit), intersection: None },
        HitGroup { closest, any: None, intersection: number(PipelineStage::Intersection) },
    ];
    let words = ray_job(all.into_iter().map(|(_, module)| module).collect(), groups, 8 * 32);
    for (n, result) in (0u32..).zip(words.as_chunks::<8>().0) {
        let (x, y) = (n % 4, n / 4);
        let value: [f32; 4] = std::array::from_fn(|i| f32::from_bits(result[i]));
        let [column, row, hit, called] = [result[4], result[5], result[6], result[7]];
        assert_eq!(called, hit * 2 + 1, "{x}, {y}: what the callable shader makes");
        assert_eq!((column, row % 100), (x + 1, y));
        match (x, y) {
            (0 | 2, 0) => {
                close(value, [0.25, 0.5, 1.0, if x == 0 { 1.0 } else { 1.5 }], [x, y, 0]);
                assert!(hit == x | 0xfe << 16 || hit == x | 0xff << 16, "{x}, {y}: {hit:#x}");
                assert!(row >= 100, "the any-hit shader took it");
            }
            (0, 1) => {
                close(value, [0.5, 3.0, 1.0, 1.25], [x, y, 0]);
                assert_eq!(hit, 110 + (3 << 16));
            }
            _ => {
                close(value, [x as f32 + 0.25, y as f32 + 0.5, 0.125, 50.0], [x, y, 0]);
                assert_eq!((hit, row), (1000, y));
            }
        }
    }
}

#[test]
fn inline_queries() {
    if !has("ray queries", |f| f.ray_query) {
        return;
    }
    let words = ray_job(vec![shader("query_cs")], Vec::new(), 8 * 16);
    let nothing = [0, 0, 0, 0];
    let at = |t: f32| t.to_bits();
    let want = [
        [1, 1, 0, at(2.0)],
        // A candidate that is not committed.
        [0, 1, 0, 0],
        [1, 1, 2, at(3.0)],
        nothing,
        [2, 1, 10, at(2.5)],
        nothing,
        nothing,
        nothing,
    ];
    assert_eq!(words.as_chunks::<4>().0, want);
}
