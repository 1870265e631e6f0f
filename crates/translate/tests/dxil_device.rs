//! DXIL shaders of every stage on a device: what they draw and trace, against what is computed here.

use std::path::Path;
use std::sync::OnceLock;
use xenoglot::dxil::{LiftOptions, RegisterSpaces, Remapper, lift_bound, load, programs};
use xenoglot::{Code, Host, Options, Translator};
use xenoglot_dxil::binding::{
    Argument, BindError, DescriptorKind as HeapKind, Heap, Registers, Slot, StageVariable, StreamOutput,
    Target as BoundTo,
};
use xenoglot_dxil::model::{ResourceClass, ShaderKind};
use xenoglot_ir::Stage;
use xenoglot_testgen::skip::skip;
use xenoglot_vulkan::isolated::{Isolated, IsolatedOptions, WorkerCommand, serve_if_worker};
use xenoglot_vulkan::{
    BufferBinding, BufferKind, Contents, DescriptorKind, DescriptorSlot, Device, DeviceInfo, DispatchJob,
    Features, HitGroup, ImageContents, Job, Numbers, PipelineJob, PipelineStage, RayGeometry, RayJob,
    RenderJob, Sampling, StageModule, TexelFormat, TextureContents, TextureShape, Topology, VertexJob,
    VertexRun,
};

/// Width and height of the targets.
const SIZE: u32 = 8;

/// Not a test: what the others start as a worker process.
#[test]
fn vulkan_worker() {
    serve_if_worker();
}

/// The device; `None` without one.
fn device() -> Option<&'static DeviceInfo> {
    static DEVICE: OnceLock<Option<DeviceInfo>> = OnceLock::new();
    DEVICE.get_or_init(|| Device::list().ok()?.into_iter().next()).as_ref()
}

fn is_llvmpipe() -> bool {
    device().is_some_and(|device| device.name.contains("llvmpipe"))
}

/// Whether the device has something; says so if not.
fn has(what: &str, feature: impl Fn(&Features) -> bool) -> bool {
    let has = device().is_some_and(|device| feature(&device.features));
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
fn shaders(name: &str, options: LiftOptions) -> Vec<(String, StageModule)> {
    shaders_bound(name, options, &RegisterSpaces::default())
}

fn shaders_bound(name: &str, options: LiftOptions, spaces: &dyn Remapper) -> Vec<(String, StageModule)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/dxil/stages-own");
    let bytes = std::fs::read(folder.join(name).with_extension("dxil")).unwrap();
    let module = load(&bytes).unwrap();
    let mut translator = Translator::new();
    let mut translated = |entry: usize| {
        let options = LiftOptions { entry, samples: Some(8), ..options };
        let lifted = lift_bound(&module, &options, spaces);
        let mut lifted = lifted.unwrap_or_else(|e| panic!("{name}: {e}"));
        let host = Host::named("vulkan-1.2").unwrap();
        let code = translator.compile(&mut lifted.module, &host, &Options::default());
        let code = code.unwrap_or_else(|e| panic!("{name}: {e}"));
        let Code::Words(spirv) = code else { panic!("{name}: no words") };
        (lifted.program.name.clone(), StageModule { stage: stage(lifted.module.stage), spirv })
    };
    (0..programs(&module).unwrap().len()).map(&mut translated).collect()
}

fn shader(name: &str) -> StageModule {
    shaders(name, LiftOptions::default()).remove(0).1
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
            topology: Topology::Triangles,
            patch_vertices: 3,
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

/// Registers by space, and more.
enum Wants {
    /// Outputs are captured.
    Streams,
    /// Constant buffers of so many words are behind others in a block of arguments.
    Constants(u32),
}

const BLOCK: Slot = Slot { set: 0, binding: 9 };

impl Remapper for Wants {
    fn resource(&self, registers: &Registers) -> Result<BoundTo, BindError> {
        match (registers.class, self) {
            (ResourceClass::Cbv, &Wants::Constants(words)) => {
                Ok(BoundTo::Constants { at: Argument::Push(4), words })
            }
            _ => RegisterSpaces::default().resource(registers),
        }
    }

    fn argument_block(&self) -> Option<Slot> {
        matches!(self, Wants::Constants(_)).then_some(BLOCK)
    }

    fn counter(&self, registers: &Registers) -> Result<BoundTo, BindError> {
        RegisterSpaces::default().counter(registers)
    }

    fn heap(&self, heap: Heap, kind: HeapKind) -> Result<Slot, BindError> {
        RegisterSpaces::default().heap(heap, kind)
    }

    fn is_heap_indexed(&self, _heap: Heap) -> bool {
        false
    }

    fn stream_output(&self, _stage: ShaderKind, variable: &StageVariable<'_>) -> Option<StreamOutput> {
        let (buffer, offset, stride) = match variable.semantic {
            _ if !matches!(self, Wants::Streams) => return None,
            "UV" => (0, 4, 16),
            "SV_Position" => (1, 16, 32),
            "NUMBERS" => (1, 0, 32),
            _ => return None,
        };
        Some(StreamOutput { buffer, offset, stride })
    }
}

#[test]
fn outputs_are_captured_where_the_remapper_says() {
    if !has("transform feedback", |f| f.transform_feedback) {
        return;
    }
    let spirv = shaders_bound("draw_vs", LiftOptions::default(), &Wants::Streams).remove(0).1.spirv;
    let run = VertexRun { vertices: 3, inputs: vec![], buffers: vec![], push_constants: vec![] };
    let command = WorkerCommand::this_test("vulkan_worker").unwrap();
    let mut device = Isolated::new(command, IsolatedOptions::default());
    let job = Job::Vertex(VertexJob { spirv, entry: "main".into(), runs: vec![run] });
    let captures = device.run(&job).unwrap().remove(0).captures;
    let words = |buffer: u32| -> Vec<u32> {
        captures[&buffer].data.as_chunks().0.iter().map(|w| u32::from_le_bytes(*w)).collect()
    };
    let (first, second) = (words(0), words(1));
    for vertex in 0..3 {
        let [x, y] = [(vertex & 1) as f32 * 4.0, (vertex >> 1) as f32 * 4.0];
        let w = 1.0 + (vertex & 1) as f32;
        let uv = [x / 2.0, y / 2.0].map(f32::to_bits);
        assert_eq!(first[4 * vertex..4 * vertex + 4], [0, uv[0], uv[1], 0], "vertex {vertex}");
        let position = [(x - 1.0) * w, (y - 1.0) * w, 0.25 * w, w].map(f32::to_bits);
        assert_eq!(second[8 * vertex..8 * vertex + 3], [vertex as u32, 10, -7i32 as u32], "vertex {vertex}");
        assert_eq!(second[8 * vertex + 4..8 * vertex + 8], position, "vertex {vertex}");
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
    // The same, ending a strip in an operation of its own or with its last vertex.
    for geometry in ["strip_gs", "strip_cut_gs"] {
        let targets = draw(["patch_vs", geometry, "patch_ps"].map(shader).into(), 3, 2, None);
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
}

#[test]
fn amplification_and_mesh_shaders_make_primitives() {
    if !has("mesh shaders", |f| f.mesh_shader && f.task_shader) {
        return;
    }
    // The numbers of a primitive come behind position and colour.
    let options = LiftOptions { primitive_inputs: 1 << 2, ..LiftOptions::default() };
    let pixel = shaders("grid_ps", options).remove(0).1;
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
    let all = shaders("rays_lib", LiftOptions::default());
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

/// What a dispatch of one workgroup leaves in the last descriptor's buffer: the words of each invocation, so many.
fn dispatch(
    shader: StageModule,
    bound: Vec<(u32, u32, DescriptorKind, Contents)>,
    words: usize,
) -> Vec<Vec<u32>> {
    let mut job = DispatchJob { spirv: shader.spirv, descriptors: vec![], contents: vec![], groups: [1; 3] };
    for (set, binding, kind, contents) in bound {
        job.descriptors.push(DescriptorSlot { set, binding, kind, count: 1 });
        job.contents.push(vec![contents]);
    }
    let buffers = run(Job::Dispatch(job));
    let all: Vec<u32> =
        buffers.last().unwrap().as_chunks().0.iter().map(|w| u32::from_le_bytes(*w)).collect();
    all.chunks_exact(words).map(<[u32]>::to_vec).collect()
}

/// A plane of one level, all of whose texels are the same where it has several samples.
fn plane(numbers: Numbers, size: [u32; 2], samples: u32, words: &[u32]) -> Contents {
    Contents::Texture(TextureContents {
        shape: TextureShape::D2,
        arrayed: false,
        numbers,
        size: [size[0], size[1], 1],
        layers: 1,
        levels: 1,
        samples,
        texels: bytes(words),
    })
}

/// A storage image; one of several samples is given no texels.
fn image(format: TexelFormat, size: [u32; 2], layers: u32, samples: u32, words: &[u32]) -> Contents {
    Contents::Image(ImageContents {
        shape: TextureShape::D2,
        arrayed: layers > 1,
        format,
        size: [size[0], size[1], 1],
        layers,
        samples,
        texels: bytes(words),
    })
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

const NEAREST: Contents = Contents::Sampler(Sampling { filters: false, compares: false });

#[test]
fn textures_and_positions_of_samples() {
    if !has("dispatches", |_| true) {
        return;
    }
    // llvmpipe reads where residency is written down even of textures that are not sparse, and have that nowhere.
    let asks = device().is_some_and(|d| d.features.shader_resource_residency) && !is_llvmpipe();
    if !asks {
        skip("residency of sampled images: no device that tells it");
    }
    // Four texels a row, two rows; red counts texels, green is a tenth of that.
    let texel = |n: u32| [n as f32, n as f32 / 10.0, 0.0, 1.0].map(f32::to_bits);
    let texels: Vec<u32> = (0..8).flat_map(texel).collect();
    let row: Vec<u32> = (0..4).map(|n| (n as f32 * 1000.0).to_bits()).collect();
    let (buffer, records): (Vec<u32>, Vec<u32>) = (0..8).map(|n| (n * 100, n * 10_000)).unzip();
    let bound = vec![
        (0, 0, DescriptorKind::SampledImage, plane(Numbers::Float, [4, 2], 1, &texels)),
        (0, 1, DescriptorKind::SampledImage, plane(Numbers::Float, [1, 1], 4, &texel(50))),
        (0, 2, DescriptorKind::TexelBuffer, Contents::Texels(TexelFormat::R32Uint, bytes(&buffer))),
        (0, 3, DescriptorKind::Storage, Contents::Buffer(bytes(&records))),
        (1, 0, DescriptorKind::Sampler, NEAREST),
        (0, 4, DescriptorKind::Image, image(TexelFormat::R32Sfloat, [4, 1], 1, 1, &row)),
        (0, 5, DescriptorKind::Storage, Contents::Buffer(vec![0; 8 * 32])),
    ];
    let options = LiftOptions { all_resident: !asks, ..LiftOptions::default() };
    let reads = shaders("reads_cs", options).remove(0).1;
    // Direct3D's pattern of four samples.
    let positions = [(-2, -6), (6, -2), (-6, 2), (2, 6)];
    for (n, got) in dispatch(reads, bound, 8).into_iter().enumerate() {
        let sixteenths = |v: i32| v as f32 / 16.0;
        let (x, y) = positions.get(n).copied().unwrap_or((0, 0));
        assert_eq!(got[0], 0xff, "what invocation {n} reads is resident");
        assert_eq!([got[1], got[2]].map(f32::from_bits), [sixteenths(x), sixteenths(y)], "sample {n}");
        // The texel at the centre is 6, of the second row; the four around are gathered from the lower left on.
        let (n, column) = (n as f32, (n as u32 & 3) as f32);
        let gathered = [5.0, 6.0, 2.0, 1.0];
        let red = 4.0 + column + 6.0 + gathered[0] + 50.0 + n * 100.0 + n * 10_000.0 + column * 1000.0 + 6.0;
        let green = (4.0 + column) / 10.0 + 0.6 + gathered[1] + 5.0 + 0.6;
        close([f32::from_bits(got[3]), f32::from_bits(got[4]), 0.0, 0.0], [red, green, 0.0, 0.0], [0; 3]);
    }
}

#[test]
fn residency_of_storage_images() {
    if !has("residency of sparse images", |f| f.shader_resource_residency) {
        return;
    }
    let (row, buffer): (Vec<u32>, Vec<u32>) = (0..8).map(|n| ((n as f32 * 2.0).to_bits(), n * 100)).unzip();
    let bound = vec![
        (0, 0, DescriptorKind::Image, image(TexelFormat::R32Sfloat, [8, 1], 1, 1, &row)),
        (0, 1, DescriptorKind::ImageBuffer, Contents::Texels(TexelFormat::R32Uint, bytes(&buffer))),
        (0, 2, DescriptorKind::Storage, Contents::Buffer(vec![0; 8 * 4])),
    ];
    for (n, got) in (0..).zip(dispatch(shader("stored_cs"), bound, 1)) {
        assert_eq!(got, [n * 102 + 0x3_0000]);
    }
}

#[test]
fn raw_buffers_as_texels() {
    if !has("dispatches", |_| true) {
        return;
    }
    let texels = |words: &[u32]| Contents::Texels(TexelFormat::R32Uint, bytes(words));
    let bound = vec![
        (0, 1, DescriptorKind::TexelBuffer, texels(&[15; 16])),
        (0, 0, DescriptorKind::ImageBuffer, texels(&[0; 16])),
    ];
    let spaces = RegisterSpaces { raw_as_texels: true, ..RegisterSpaces::default() };
    let votes = shaders_bound("../compute-own/quad_vote", LiftOptions::default(), &spaces).remove(0).1;
    assert_eq!(dispatch(votes, bound, 16), [[0xff; 16]]);
}

#[test]
fn samples_of_images_and_textures_of_shader_model_6_7() {
    if !has("storage images of several samples", |f| f.shader_storage_image_multisample) {
        return;
    }
    let raw: Vec<u32> = (0..4).flat_map(|n| [n + 7; 4]).collect();
    let bound = vec![
        (0, 0, DescriptorKind::Image, image(TexelFormat::R32G32B32A32Sfloat, [4, 2], 1, 4, &[])),
        (0, 1, DescriptorKind::SampledImage, plane(Numbers::Unsigned, [2, 2], 1, &raw)),
        (0, 2, DescriptorKind::SampledImage, plane(Numbers::Depth, [1, 1], 1, &[0.5f32.to_bits()])),
        (1, 0, DescriptorKind::Sampler, NEAREST),
        (1, 1, DescriptorKind::Sampler, Contents::Sampler(Sampling { filters: false, compares: true })),
        (0, 4, DescriptorKind::Image, image(TexelFormat::R32Sint, [4, 1], 2, 4, &[])),
        (0, 3, DescriptorKind::Storage, Contents::Buffer(vec![0; 16 * 40])),
    ];
    for (n, got) in (0..).zip(dispatch(shader("samples_cs"), bound, 10)) {
        let (x, sample) = (n & 3, n >> 2 ^ 1);
        let other = sample * 4 + x;
        // Gathers begin at the lower left and go around against the clock.
        // Width, height, layers and samples.
        let size = 4 | 1 << 8 | 2 << 16 | 4 << 24;
        let want = [x, sample, other, other + 100, 9, 10, 8, 7, u32::from(n <= 8), size];
        assert_eq!(got, want, "invocation {n}");
    }
}

#[test]
fn samples_of_targets() {
    if !has("draws", |_| true) {
        return;
    }
    let swizzled = LiftOptions {
        target_swizzles: [[2, 1, 0, 3], [1, 0, 3, 2], A, A, A, A, A, A],
        ..LiftOptions::default()
    };
    let specialized = LiftOptions { samples_constant: Some(3), ..swizzled };
    for (options, [x_at, y_at]) in
        [(LiftOptions::default(), [0, 1]), (swizzled, [2, 1]), (specialized, [2, 1])]
    {
        let pixel = shaders("target_ps", options).remove(0).1;
        let targets = draw(vec![shader("draw_vs"), pixel], 3, 1, None);
        let positions = [(1, -3), (-1, 3), (5, 1), (-3, -5), (-5, 5), (-7, -1), (3, 7), (7, -7)];
        for (at, floats, numbers) in pixels(&targets) {
            // The triangle is clipped.
            if at[0] < 2 {
                let (x, y) = positions[at[0] as usize];
                let mut position = [0.0; 4];
                (position[x_at], position[y_at]) = (x as f32 / 16.0, y as f32 / 16.0);
                assert_eq!(floats, position);
                let is_plain = options.target_swizzles[1] == A;
                assert_eq!(numbers, if is_plain { [8, at[0], at[1], 0] } else { [at[0], 8, 0, at[1]] });
            }
        }
    }
}

/// Components of a target as they are.
const A: [u8; 4] = [0, 1, 2, 3];

#[test]
fn constants_are_where_they_are_wanted() {
    if !has("dispatches", |_| true) {
        return;
    }
    let floats = |floats: &[f32]| floats.iter().map(|f| f.to_bits()).collect::<Vec<u32>>();
    // As `cbuffer_dynamic.test` has them.
    let mut constants = floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    constants.extend([21, 22, 0, 0, 31, 32, 99, 0]);
    constants.extend((0..20).chain([0; 4]));
    let mut want = floats(&[10.0, 26.0]);
    want.extend([52, 54, 99, 6, 22, 38, 54, 70]);
    let as_storage = LiftOptions { constants_as_storage: true, ..LiftOptions::default() };
    let behind_others: Vec<u32> = [0; 4].iter().chain(&constants).copied().collect();
    for (options, remapper, binding, kind, words) in [
        (
            LiftOptions::default(),
            &RegisterSpaces::default() as &dyn Remapper,
            0,
            DescriptorKind::Uniform,
            &constants,
        ),
        (as_storage, &RegisterSpaces::default(), 0, DescriptorKind::Storage, &constants),
        (
            LiftOptions::default(),
            &Wants::Constants(40),
            BLOCK.binding,
            DescriptorKind::Uniform,
            &behind_others,
        ),
    ] {
        let module = shaders_bound("../compute/cbuffer_dynamic", options, remapper).remove(0).1;
        let bound = vec![
            (0, binding, kind, Contents::Buffer(bytes(words))),
            (0, 1, DescriptorKind::Storage, Contents::Buffer(vec![0; 4 * want.len()])),
        ];
        assert_eq!(dispatch(module, bound, want.len()), [want.as_slice()], "{kind:?} at {binding}");
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

#[test]
fn minimum_precision_has_16_bits_where_that_is_asked_for() {
    if !has("arithmetic of 16 bits", |f| f.shader_float16 && f.shader_int16) {
        return;
    }
    // As `min_precision.test` has them.
    let scale = [2.0f32, 0.0, -1.0, 0.5].map(f32::to_bits);
    let constants: Vec<u32> = scale.into_iter().chain([7, 0x5a5a, 0, 0]).collect();
    let record = |i: u32| {
        let floats = [i as f32 - 6.0, i as f32 * 0.25].map(f32::to_bits);
        [floats[0], floats[1], (i * 37).wrapping_sub(200), (i * 4099 + 5) & 0xffff]
    };
    let records: Vec<u32> = (0..16).flat_map(record).collect();
    let narrow = LiftOptions { native_min_precision: true, ..LiftOptions::default() };
    let [wide, narrow] = [LiftOptions::default(), narrow].map(|options| {
        let module = shaders_bound("../compute-own/min_precision", options, &RegisterSpaces::default());
        let module = module.into_iter().next().unwrap().1;
        let is_narrow = module.spirv.windows(2).any(|w| w == [2 << 16 | CAPABILITY, FLOAT16]);
        assert_eq!(is_narrow, options.native_min_precision);
        let buffer = |words: &[u32]| Contents::Buffer(bytes(words));
        let bound = vec![
            (0, 0, DescriptorKind::Uniform, buffer(&constants)),
            (0, 1, DescriptorKind::Storage, buffer(&records)),
            (0, 3, DescriptorKind::Storage, buffer(&[0; 32])),
            (0, 2, DescriptorKind::Storage, buffer(&[0; 64])),
        ];
        dispatch(module, bound, 4)
    });
    assert!(wide.iter().flatten().any(|&word| word != 0));
    assert_eq!(wide, narrow);
}

const CAPABILITY: u32 = 17;
const FLOAT16: u32 = 9;
