//! What shaders become by the state around them: each state of `docs/maxwell.md`, with it and without.

use std::io::Read;
use std::path::Path;
use xenoglot_interp::{Bindings, Event, Interpreter, Limits};
use xenoglot_ir::imm::Imm;
use xenoglot_ir::module::{Builtin, Capture, Direction, Semantic, Texel};
use xenoglot_ir::{Bits, Module, Op, Var, verify};
use xenoglot_maxwell::GpuAccessor;
use xenoglot_maxwell::container::Dksh;
use xenoglot_maxwell::gpu::{Captured, ConstantWord, GraphicsState, Host, InputPrimitive};
use xenoglot_maxwell::lift::layout::{LAYER_LOCATION, MASK_LOCATION};
use xenoglot_maxwell::lift::{LiftError, LiftOptions, Shader, layer_shader, lift_graphics};
use xenoglot_maxwell::sph::Sph;
use xenoglot_opt::pipeline;

/// A GPU whose state is what a test says; handles are in the driver's bank.
#[derive(Default)]
struct Gpu {
    state: GraphicsState,
    host: Host,
    scaled: Option<Texel>,
    captured: Vec<Captured>,
}

impl GpuAccessor for Gpu {
    fn handle_bank(&self) -> u8 {
        0
    }

    fn state(&self) -> GraphicsState {
        self.state
    }

    fn host(&self) -> Host {
        self.host
    }

    fn vertex_attribute(&self, _location: u32) -> Texel {
        self.scaled.unwrap_or(Texel::Float)
    }

    fn scaled_attribute(&self, _location: u32) -> bool {
        self.scaled.is_some()
    }

    fn captured(&self, buffer: u32) -> Option<Captured> {
        self.captured.get(buffer as usize).cloned()
    }
}

fn file(set: &str, name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../vectors").join(set);
    let bytes = std::fs::read(path.join("graphics/public.tar.xz")).unwrap();
    let mut tar = Vec::new();
    lzma_rust2::XzReader::new(bytes.as_slice(), false).read_to_end(&mut tar).unwrap();
    for entry in tar::Archive::new(tar.as_slice()).entries().unwrap() {
        let mut entry = entry.unwrap();
        if entry.path().unwrap().ends_with(name) {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            return bytes;
        }
    }
    panic!("{name} is not in the archive");
}

fn lift(set: &str, name: &str, gpu: &Gpu) -> Result<Module, LiftError> {
    let bytes = file(set, &format!("{name}.dksh"));
    let dksh = Dksh::parse(&bytes).unwrap();
    let shader = Shader { sph: dksh.sph.unwrap(), code: dksh.code, entry: 0, constants: &[] };
    lift_shader(&shader, gpu)
}

fn lift_shader(shader: &Shader, gpu: &Gpu) -> Result<Module, LiftError> {
    let mut module = lift_graphics(shader, None, &LiftOptions::default(), gpu)?.module;
    verify(&module).unwrap_or_else(|e| panic!("{e}\n{module}"));
    pipeline::optimize(&mut module, &mut Default::default(), &Default::default(), &mut pipeline::Verify)
        .unwrap();
    Ok(module)
}

/// `EXIT`.
const EXIT: u64 = 0xe300_0000_0007_000f;

/// Up to three instructions behind a scheduling word.
fn code(insts: &[u64]) -> Vec<u8> {
    [0].iter().chain(insts).flat_map(|word| word.to_le_bytes()).collect()
}

fn module(name: &str, gpu: &Gpu) -> Module {
    lift("maxwell-2", name, gpu).unwrap()
}

fn vars(module: &Module, direction: Direction, semantic: impl Fn(Semantic) -> bool) -> Vec<Var> {
    let vars = module.vars.iter().filter(|(_, v)| v.direction == direction && semantic(v.semantic));
    vars.map(|(var, _)| var).collect()
}

fn builtin(module: &Module, direction: Direction, builtin: Builtin) -> Option<Var> {
    vars(module, direction, |s| s == Semantic::Builtin(builtin)).first().copied()
}

/// Runs a shader with inputs by location and component, and builtins; constant banks are zero.
fn run(
    module: &Module,
    locations: impl Fn(u32, u8) -> u32,
    builtins: &[(Builtin, Bits)],
) -> (Bindings, bool, Vec<Event>) {
    let mut bindings = Bindings::new(module);
    for (resource, _) in module.resources.iter() {
        bindings.set_words(resource, &vec![0; 0x4000]);
    }
    for (var, data) in module.vars.iter().filter(|(_, v)| v.direction == Direction::Input) {
        let bits = match data.semantic {
            Semantic::Location { location, component } => Bits::scalar(locations(location, component).into()),
            Semantic::Builtin(of) => builtins.iter().find(|(b, _)| *b == of).map_or(Bits::default(), |b| b.1),
        };
        let count = data.array.unwrap_or(1) as usize;
        bindings.set_input_array(var, &vec![bits; count]);
    }
    let outcome = Interpreter::new(module).unwrap().run_entry(&mut bindings, &Limits::default()).unwrap();
    (bindings, outcome.demoted, outcome.events)
}

fn float(v: f32) -> u32 {
    v.to_bits()
}

fn position(module: &Module, bindings: &Bindings) -> [f32; 4] {
    let var = builtin(module, Direction::Output, Builtin::Position).unwrap();
    bindings.output(var)[0].words().map(f32::from_bits)
}

#[test]
fn transform_feedback_captures_what_the_state_says() {
    let words = |range: std::ops::Range<u8>| range.map(|n| 32 + n);
    let nothing = [Captured::NOTHING];
    let first = words(0..4).chain(words(4..7)).collect();
    let second = Captured { stride: 16, words: words(8..12).collect() };
    let third = Captured { stride: 20, words: nothing.into_iter().chain(28..32).collect() };
    let captured = vec![Captured { stride: 32, words: first }, second, third];
    let module = module("vs_xfb.vert", &Gpu { captured, ..Gpu::default() });
    assert_eq!(module.captures.len(), 4 + 3 + 4 + 1);
    for &Capture { var, buffer, offset, stride } in &module.captures {
        let place = match module.vars[var].semantic {
            Semantic::Location { location: 2, component } => (1, 4 * u32::from(component), 16),
            Semantic::Location { location, component } => (0, 16 * location + 4 * u32::from(component), 32),
            Semantic::Builtin(Builtin::Position) => (2, 4, 20),
            Semantic::Builtin(other) => panic!("{other:?}"),
        };
        assert_eq!((buffer, offset, stride), place);
    }
    assert!(module_without("vs_xfb.vert").captures.is_empty());
    // Half of a position, words behind the stride, an output in two buffers.
    for captured in [
        vec![Captured { stride: 8, words: vec![28, 29] }],
        vec![Captured { stride: 4, words: vec![32, 33] }],
        vec![Captured { stride: 4, words: vec![32] }, Captured { stride: 4, words: vec![32] }],
    ] {
        let error = lift("maxwell-2", "vs_xfb.vert", &Gpu { captured, ..Gpu::default() });
        assert!(matches!(error, Err(LiftError::Stage(_))), "{error:?}");
    }
}

fn module_without(name: &str) -> Module {
    module(name, &Gpu::default())
}

#[test]
fn the_second_source_of_blending_is_target_1() {
    let state = GraphicsState { dual_source_blend: true, ..GraphicsState::default() };
    let module = module("fs_dual.frag", &Gpu { state, ..Gpu::default() });
    assert!(module.pipeline.dual_source);
    assert!(!module_without("fs_dual.frag").pipeline.dual_source);
    let text = module.to_string();
    assert_eq!(xenoglot_ir::text::parse(&text, &Default::default()).unwrap().pipeline, module.pipeline);
}

#[test]
fn alpha_dithers_where_the_host_does_not() {
    let state = GraphicsState { alpha_to_coverage_dither: true, ..GraphicsState::default() };
    let dithered = lift("maxwell", "fs_depth_mrt.frag", &Gpu { state, ..Gpu::default() }).unwrap();
    let plain = lift("maxwell", "fs_depth_mrt.frag", &Gpu::default()).unwrap();
    for (alpha, passing) in [(0.0, 0), (0.2, 1), (0.4, 2), (0.7, 3), (0.9, 4)] {
        let mut passed = [0; 2];
        for (x, y) in [(4.5, 6.5), (5.5, 6.5), (4.5, 7.5), (5.5, 7.5)] {
            // 1/w is 1: colours are what comes in.
            let place = [(Builtin::FragCoord, Bits::f32x4([x, y, 0.5, 1.0]))];
            let color = |_, component| float(if component == 3 { alpha } else { 0.5 });
            for (passed, module) in passed.iter_mut().zip([&dithered, &plain]) {
                *passed += u32::from(!run(module, color, &place).1);
            }
        }
        assert_eq!(passed, [passing, 4], "alpha {alpha}");
    }
}

#[test]
fn positions_in_pixels_become_clip_space() {
    let state = GraphicsState { window_positions: Some([64.0, 32.0]), ..GraphicsState::default() };
    let module = module("vs_draw.vert", &Gpu { state, ..Gpu::default() });
    let at = |location, component| match (location, component) {
        (0, 0) => float(48.0),
        (0, 1) => float(8.0),
        (0, 2) => float(0.25),
        _ => float(1.0),
    };
    let (bindings, ..) = run(&module, at, &[]);
    assert_eq!(position(&module, &bindings), [0.5, -0.5, 0.25, 1.0]);
    let plain = module_without("vs_draw.vert");
    let (bindings, ..) = run(&plain, at, &[]);
    assert_eq!(position(&plain, &bindings), [48.0, 8.0, 0.25, 1.0]);
}

#[test]
fn numbers_of_the_draw_are_the_hosts_in_place_of_constants() {
    let first = ConstantWord { bank: 0, offset: 0 };
    let state = GraphicsState { draw_constants: Some(first), ..GraphicsState::default() };
    let module = module("vs_draw.vert", &Gpu { state, ..Gpu::default() });
    let numbers = [
        (Builtin::BaseVertex, Bits::scalar(5)),
        (Builtin::BaseInstance, Bits::scalar(6)),
        (Builtin::DrawIndex, Bits::scalar(7)),
        (Builtin::InstanceIndex, Bits::scalar(9)),
    ];
    let given = |module: &Module| {
        let (bindings, ..) = run(module, |_, _| 0, &numbers);
        [0, 1, 2].map(|component| {
            let is_it = |s| s == Semantic::Location { location: 1, component };
            bindings.output(vars(module, Direction::Output, is_it)[0])[0].words()[0]
        })
    };
    assert_eq!(given(&module), [5, 6, 7]);
    // Else they are what the bank has.
    assert_eq!(given(&module_without("vs_draw.vert")), [0; 3]);
}

#[test]
fn scaled_attributes_are_numbers_of_integers() {
    for (texel, value, want) in [(Texel::Sint, -3i32 as u32, -3.0), (Texel::Uint, 200, 200.0)] {
        let module = module("vs_draw.vert", &Gpu { scaled: Some(texel), ..Gpu::default() });
        let (bindings, ..) = run(&module, |_, _| value, &[]);
        assert_eq!(position(&module, &bindings), [want; 4]);
    }
}

#[test]
fn layers_go_through_a_geometry_shader_where_vertex_shaders_have_none() {
    let host = Host { layer_from_vertex: false, ..Host::default() };
    let module = module("vs_layer.vert", &Gpu { host, ..Gpu::default() });
    assert_eq!(builtin(&module, Direction::Output, Builtin::Layer), None);
    let passed = vars(
        &module,
        Direction::Output,
        |s| matches!(s, Semantic::Location { location, .. } if location >= LAYER_LOCATION),
    );
    assert!(!passed.is_empty());
    assert!(builtin(&module_without("vs_layer.vert"), Direction::Output, Builtin::Layer).is_some());
    for (input, count) in [
        (InputPrimitive::Points, 1),
        (InputPrimitive::Lines, 2),
        (InputPrimitive::Triangles, 3),
        (InputPrimitive::TrianglesAdjacency, 3),
    ] {
        let geometry = layer_shader(&module, input);
        verify(&geometry).unwrap_or_else(|e| panic!("{e}\n{geometry}"));
        let (bindings, _, events) =
            run(&geometry, |location, _| if location == LAYER_LOCATION { 3 } else { 0 }, &[]);
        let layer = builtin(&geometry, Direction::Output, Builtin::Layer).unwrap();
        assert_eq!(bindings.output(layer)[0], Bits::scalar(3));
        assert_eq!(events.len(), count + 1);
    }
}

#[test]
fn gathers_move_by_the_hosts_precision() {
    let host = Host { gather_bias: Some(8), ..Host::default() };
    let biased = module("fs_gather.frag", &Gpu { host, ..Gpu::default() });
    let plain = module_without("fs_gather.frag");
    let sizes = |module: &Module| {
        let f = module.funcs.values().next().unwrap();
        let insts = f.layout.iter().flat_map(|&b| &f.blocks[b].insts);
        insts.filter(|&&i| f.insts[i].op == Op::TexQuerySize && matches!(f.insts[i].imm, Imm::Tex(_))).count()
    };
    assert!(sizes(&biased) > sizes(&plain));
}

#[test]
fn clip_space_is_the_hosts() {
    let at = |_, component: u8| [0.5, 0.25, -0.5, 1.0].map(float)[usize::from(component)];
    let given = |state: GraphicsState| {
        let module = module("vs_draw.vert", &Gpu { state, ..Gpu::default() });
        let (bindings, ..) = run(&module, at, &[]);
        position(&module, &bindings)
    };
    let plain = GraphicsState::default();
    assert_eq!(given(plain), [0.5, 0.25, -0.5, 1.0]);
    assert_eq!(given(GraphicsState { flip_y: true, ..plain }), [0.5, -0.25, -0.5, 1.0]);
    assert_eq!(given(GraphicsState { minus_one_to_one_depth: true, ..plain }), [0.5, 0.25, 0.25, 1.0]);
}

#[test]
fn points_have_the_states_size_where_no_shader_says() {
    let state = GraphicsState { point_size: Some(3.5), ..GraphicsState::default() };
    let module = module("vs_draw.vert", &Gpu { state, ..Gpu::default() });
    let (bindings, ..) = run(&module, |_, _| 0, &[]);
    let size = builtin(&module, Direction::Output, Builtin::PointSize).unwrap();
    assert_eq!(bindings.output(size)[0], Bits::scalar(float(3.5).into()));
    assert_eq!(builtin(&module_without("vs_draw.vert"), Direction::Output, Builtin::PointSize), None);
}

/// A fragment shader that writes `R0` to the first component of target 0.
fn fragment(insts: &[u64], gpu: &Gpu) -> Module {
    let mut words = [0u32; 20];
    // A pixel shader's header, and its mask of components written.
    (words[0], words[18]) = (0x1462, 1);
    let header: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let code = code(insts);
    let shader = Shader { sph: Sph::parse(&header).unwrap(), code: &code, entry: 0, constants: &[] };
    lift_shader(&shader, gpu).unwrap()
}

#[test]
fn rows_count_as_the_state_says() {
    // S2R R0, SR_Y_DIRECTION; EXIT; EXIT.
    let program = [0xf0c8_0000_0127_0000, EXIT, EXIT];
    for (y_down, want) in [(false, 1.0), (true, -1.0)] {
        let state = GraphicsState { y_down, ..GraphicsState::default() };
        let module = fragment(&program, &Gpu { state, ..Gpu::default() });
        let (bindings, ..) = run(&module, |_, _| 0, &[]);
        let color = vars(&module, Direction::Output, |s| matches!(s, Semantic::Location { .. }))[0];
        assert_eq!(bindings.output(color)[0].words()[0], float(want));
    }
}

#[test]
fn tests_come_early_where_the_state_says() {
    for early_fragment_tests in [false, true] {
        let state = GraphicsState { early_fragment_tests, ..GraphicsState::default() };
        let module = fragment(&[EXIT, EXIT, EXIT], &Gpu { state, ..Gpu::default() });
        assert_eq!(module.pipeline.early_fragment_tests, early_fragment_tests);
    }
}

/// `MOV32I R11, 0b1010; AST a[0x3a0], R11`: viewports 1 and 3.
const VIEWPORTS_1_AND_3: [u64; 3] = [0x0100_0000_00a7_f00b, 0xeff0_0000_3a07_ff0b, EXIT];

/// What a geometry shader does in the invocations of each of 16 viewports: the viewport, if it emits vertices.
fn viewports(module: &Module) -> Vec<Option<u32>> {
    assert_eq!(module.pipeline.geometry.map(|g| g.invocations), Some(16));
    let index = builtin(module, Direction::Output, Builtin::ViewportIndex).unwrap();
    let viewport = |invocation: u32| {
        let mask = |location, _| if location == MASK_LOCATION { 0b1010 } else { 0 };
        let (bindings, _, events) =
            run(module, mask, &[(Builtin::InvocationId, Bits::scalar(invocation.into()))]);
        let is_emitted = events.iter().any(|event| matches!(event, Event::Vertex(_)));
        is_emitted.then(|| bindings.output(index)[0].words()[0])
    };
    (0..16).map(viewport).collect()
}

fn two_of_16() -> Vec<Option<u32>> {
    (0..16).map(|viewport| [1, 3].contains(&viewport).then_some(viewport)).collect()
}

#[test]
fn viewport_masks_are_the_hosts_or_invocations_of_geometry_shaders() {
    let code = code(&VIEWPORTS_1_AND_3);
    let with_mask = Host { viewport_mask: true, ..Host::default() };
    for (name, passthrough) in [("vs_layer.vert", false), ("gs_layers.geom", true)] {
        let bytes = file("maxwell-2", &format!("{name}.dksh"));
        let sph = Dksh::parse(&bytes).unwrap().sph.unwrap();
        let sph = Sph { geometry_passthrough: passthrough, threads_per_primitive: 1, ..sph };
        let shader = Shader { sph, code: &code, entry: 0, constants: &[] };
        let module = lift_shader(&shader, &Gpu { host: with_mask, ..Gpu::default() }).unwrap();
        let mask = builtin(&module, Direction::Output, Builtin::ViewportMask).unwrap();
        let (bindings, ..) = run(&module, |_, _| 0, &[]);
        assert_eq!(bindings.output(mask)[0].words()[0], 0b1010, "{name}");
        let without = lift_shader(&shader, &Gpu::default()).unwrap();
        assert_eq!(builtin(&without, Direction::Output, Builtin::ViewportMask), None);
        if passthrough {
            assert_eq!(viewports(&without), two_of_16());
            continue;
        }
        let geometry = layer_shader(&without, InputPrimitive::Triangles);
        verify(&geometry).unwrap_or_else(|e| panic!("{e}\n{geometry}"));
        assert_eq!(viewports(&geometry), two_of_16());
    }
}

#[test]
fn generic_attributes_pass_where_layers_have_locations() {
    let host = Host { layer_from_vertex: false, ..Host::default() };
    let bytes = file("maxwell-2", "vs_layer.vert.dksh");
    let sph = Dksh::parse(&bytes).unwrap().sph.unwrap();
    for (location, attribute) in
        [(29, 0xeff0_0000_2507_ff0b), (30, 0xeff0_0000_2607_ff0b), (31, 0xeff0_0000_2707_ff0b)]
    {
        // `AST`, a component of the attribute.
        let code = self::code(&[attribute, EXIT, EXIT]);
        let shader = Shader { sph, code: &code, entry: 0, constants: &[] };
        let module = lift_shader(&shader, &Gpu { host, ..Gpu::default() }).unwrap();
        let geometry = layer_shader(&module, InputPrimitive::Points);
        let at = |s| matches!(s, Semantic::Location { location: l, .. } if l == location);
        assert_eq!(vars(&geometry, Direction::Output, at).len(), 1);
        assert_eq!(geometry.pipeline.geometry.map(|g| g.invocations), Some(1));
        // `AST a[0x64], R11`: the layer takes the place of attribute 30.
        let code = self::code(&[0xeff0_0000_0647_ff0b, attribute, EXIT]);
        let shader = Shader { sph, code: &code, entry: 0, constants: &[] };
        let lifted = lift_shader(&shader, &Gpu { host, ..Gpu::default() });
        assert_eq!(lifted.is_err(), location == 30);
        assert!(lift_shader(&shader, &Gpu::default()).is_ok());
    }
}

#[test]
fn geometry_shaders_with_viewport_masks_have_at_most_two_invocations() {
    let bytes = file("maxwell-2", "gs_layers.geom.dksh");
    let code = code(&VIEWPORTS_1_AND_3);
    let lift = |threads_per_primitive| {
        let sph = Sph { threads_per_primitive, ..Dksh::parse(&bytes).unwrap().sph.unwrap() };
        lift_shader(&Shader { sph, code: &code, entry: 0, constants: &[] }, &Gpu::default())
    };
    assert_eq!(lift(2).unwrap().pipeline.geometry.map(|g| g.invocations), Some(32));
    assert!(lift(3).is_err());
}

/// What a passthrough shader leaves alone the hardware passes on: here a geometry shader does, vertex by vertex.
#[test]
fn what_a_passthrough_shader_does_not_write_is_passed_on() {
    let bytes = file("maxwell-2", "gs_layers.geom.dksh");
    let sph = Sph { geometry_passthrough: true, ..Dksh::parse(&bytes).unwrap().sph.unwrap() };
    let code = code(&[EXIT, EXIT, EXIT]);
    let shader = Shader { sph, code: &code, entry: 0, constants: &[] };
    for (input_primitive, vertices) in
        [(InputPrimitive::Points, 1), (InputPrimitive::Lines, 2), (InputPrimitive::Triangles, 3)]
    {
        let state = GraphicsState { input_primitive, ..GraphicsState::default() };
        let module = lift_shader(&shader, &Gpu { state, ..Gpu::default() }).unwrap();
        let at = Bits::f32x4([1.0, 2.0, 3.0, 4.0]);
        let (bindings, _, events) = run(&module, |_, _| 0, &[(Builtin::Position, at)]);
        assert_eq!(position(&module, &bindings), [1.0, 2.0, 3.0, 4.0]);
        // And the primitive's end.
        assert_eq!(events.len(), vertices + 1);
        assert_eq!(module.pipeline.geometry.map(|g| g.max_vertices), Some(vertices as u32));
    }
}
