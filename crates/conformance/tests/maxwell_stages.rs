//! Vertex and geometry shaders of the Maxwell vectors as compute shaders: they leave in buffers what the stages put out, on
//! the interpreter and on a device.

use std::path::PathBuf;
use xenoglot::host::Language;
use xenoglot::{Code, Host, Options, Translator};
use xenoglot_conformance::maxwell::graphics::{Shader, read};
use xenoglot_interp::{Bindings, Event, Interpreter, Limits, Trap};
use xenoglot_ir::module::{Builtin, Count, Direction, Module, ResourceKind, Semantic, Stage, VarData};
use xenoglot_ir::{Bits, Kind, Resource};
use xenoglot_maxwell::gpu::InputPrimitive;
use xenoglot_maxwell::info::{GeometryInfo, GraphicsInfo, Record, RecordEntry, RecordKey, ShaderInfo};
use xenoglot_maxwell::lift::layout::{
    ATTRIBUTES_BINDING, COUNTS_BINDING, DRAW_BINDING, PRIMITIVES_BINDING, VERTICES_BINDING,
};
use xenoglot_maxwell::lift::{DRAW_BYTES, LiftOptions, Lifted, stage_to_compute};
use xenoglot_testgen::skip::skip;
use xenoglot_vulkan::isolated::{Isolated, IsolatedOptions, WorkerCommand, serve_if_worker};
use xenoglot_vulkan::{Contents, DescriptorKind, DescriptorSlot, Device, DispatchJob, Job};

/// Not a test: what the others start as a worker process.
#[test]
fn vulkan_worker() {
    serve_if_worker();
}

fn shaders(extension: &str) -> Vec<Shader> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/maxwell/graphics/public.tar.xz");
    let all = read(&PathBuf::from(path)).unwrap();
    all.into_iter().filter(|s| s.name.ends_with(extension)).collect()
}

/// A number that is neither large nor zero, for a word of whatever it is.
fn number(seed: u32) -> u32 {
    (0.25 + (seed.wrapping_mul(0x9e37_79b1) >> 24) as f32 / 256.0).to_bits()
}

/// What a buffer that is not of the stage holds.
fn filled(resource: Resource) -> Vec<u32> {
    (0..0x4000).map(|word| number(word + 977 * resource.as_u32())).collect()
}

fn host() -> Host {
    Host::of(Language::Spirv(None))
}

fn optimised(lifted: &Lifted) -> Module {
    let mut module = lifted.module.clone();
    let Ok(()) = Translator::new().prepare(&mut module, &host(), &Options::default(), &mut ());
    module
}

/// The buffers of a stage as a compute shader, by binding.
type Buffers = Vec<(u32, Vec<u32>)>;

fn binding(module: &Module, binding: u32) -> Option<Resource> {
    module.resources.iter().find(|(_, data)| data.binding == binding).map(|(resource, _)| resource)
}

/// Runs a compute shader on the interpreter; what it leaves in its buffers.
fn interpreted(module: &Module, buffers: &Buffers, groups: [u32; 3]) -> Result<Vec<Vec<u32>>, Trap> {
    let mut bindings = Bindings::new(module);
    for (resource, data) in module.resources.iter() {
        let given = buffers.iter().find(|(binding, _)| *binding == data.binding);
        bindings.set_words(resource, &given.map_or_else(|| filled(resource), |(_, words)| words.clone()));
    }
    Interpreter::new(module).unwrap().dispatch(groups, &mut bindings, &Limits::default())?;
    Ok(buffers.iter().map(|(n, _)| bindings.words(binding(module, *n).unwrap())).collect())
}

/// Runs it on a device, if there is one.
fn on_device(module: &Module, buffers: &Buffers, groups: [u32; 3]) -> Option<Vec<Vec<u32>>> {
    if !Device::list().is_ok_and(|d| !d.is_empty()) {
        skip("no Vulkan device");
        return None;
    }
    let code = Translator::new().write(module, &host(), &Options::default()).unwrap();
    let Code::Words(spirv) = code else { panic!("text") };
    let (mut descriptors, mut contents) = (Vec::new(), Vec::new());
    for (resource, data) in module.resources.iter() {
        let kind = match data.kind {
            ResourceKind::UniformBuffer { .. } => DescriptorKind::Uniform,
            ResourceKind::StorageBuffer { .. } => DescriptorKind::Storage,
            _ => panic!("{:?}", data.kind),
        };
        assert_eq!(data.count, Count::One);
        descriptors.push(DescriptorSlot { set: data.set, binding: data.binding, kind, count: 1 });
        let given = buffers.iter().find(|(binding, _)| *binding == data.binding);
        let words = given.map_or_else(|| filled(resource), |(_, words)| words.clone());
        contents.push(vec![Contents::Buffer(words.iter().flat_map(|w| w.to_le_bytes()).collect())]);
    }
    let storage: Vec<u32> =
        descriptors.iter().filter(|d| d.kind.is_written()).map(|d: &DescriptorSlot| d.binding).collect();
    let command = WorkerCommand::this_test("vulkan_worker").unwrap();
    let job = Job::Dispatch(DispatchJob { spirv, descriptors, contents, groups });
    let after = Isolated::new(command, IsolatedOptions::default()).run(&job).unwrap().remove(0);
    let words = after.words();
    let of = |n: &u32| storage.iter().position(|s| s == n).map_or_else(Vec::new, |at| words[at].clone());
    Some(buffers.iter().map(|(n, _)| of(n)).collect())
}

/// A device's sines and divisions differ from the interpreter's in their last bits.
fn near(a: u32, b: u32) -> bool {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    a == b || (x - y).abs() <= 1e-5 * x.abs().max(1.0)
}

/// Checks one on the device against the other on the interpreter: the buffers that are written.
fn same_on_device(name: &str, module: &Module, buffers: &Buffers, groups: [u32; 3], wanted: &[Vec<u32>]) {
    let Some(got) = on_device(module, buffers, groups) else { return };
    for ((binding, _), (got, wanted)) in buffers.iter().zip(got.iter().zip(wanted)) {
        if [VERTICES_BINDING, COUNTS_BINDING].contains(binding) {
            let differs = got.iter().zip(wanted).position(|(&a, &b)| !near(a, b));
            assert_eq!((got.len(), differs), (wanted.len(), None), "{name}, binding {binding}");
        }
    }
}

fn words(elements: &[Bits], var: &VarData) -> Vec<u32> {
    elements.iter().flat_map(|bits| (0..var.ty.lanes()).map(|lane| bits.lane(lane.into()) as u32)).collect()
}

fn key(var: &VarData) -> RecordKey {
    match var.semantic {
        Semantic::Location { location, component } => RecordKey::Location { location, component },
        Semantic::Builtin(builtin) => RecordKey::Builtin(builtin.name().into()),
    }
}

/// The words of a record's entry.
fn entry<'a>(record: &Record, words: &'a [u32], var: &VarData) -> &'a [u32] {
    let entry = record.entries.iter().find(|e| e.key == key(var)).unwrap();
    &words[entry.offset as usize..(entry.offset + entry.words) as usize]
}

const INSTANCES: u32 = 3;
const FIRST_INSTANCE: u32 = 7;

mod vertex {
    use super::*;

    const VERTICES: u32 = 5;
    const FIRST_VERTEX: u32 = 10;
    /// The location whose attributes are of two instances each, and one without a fourth component.
    const OF_INSTANCES: u32 = 1;
    const OF_THREE: u32 = 2;
    const ELEMENTS: u32 = 16;

    fn attribute(location: u32, component: u8, index: u32, kind: Kind) -> u32 {
        match (location, component) {
            (OF_THREE, 3) if kind == Kind::F32 => 1_f32.to_bits(),
            (OF_THREE, 3) => 1,
            _ => number(index * 64 + location * 4 + u32::from(component)),
        }
    }

    fn buffers(record: &Record) -> Buffers {
        let mut draw = vec![VERTICES, FIRST_VERTEX, FIRST_INSTANCE, 0];
        for location in 0..32 {
            let sharing = if location == OF_INSTANCES { 2 } else { 0 };
            let components = if location == OF_THREE { 3 } else { 4 };
            draw.extend([16 * location, 16 * 32, sharing, components]);
        }
        assert_eq!(draw.len() * 4, DRAW_BYTES as usize);
        let attributes = (0..ELEMENTS)
            .flat_map(|index| (0..32).flat_map(move |l| (0..4).map(move |c| number(index * 64 + l * 4 + c))));
        vec![
            (DRAW_BINDING, draw),
            (ATTRIBUTES_BINDING, attributes.collect()),
            (VERTICES_BINDING, vec![0; (INSTANCES * VERTICES * record.words) as usize]),
        ]
    }

    /// What the stage itself puts out: outputs by variable.
    fn direct(module: &Module, vertex: u32, instance: u32) -> Result<Vec<(VarData, Vec<u32>)>, Trap> {
        let mut bindings = Bindings::new(module);
        for resource in module.resources.keys() {
            bindings.set_words(resource, &filled(resource));
        }
        for (var, data) in module.vars.iter().filter(|(_, v)| v.direction == Direction::Input) {
            let v = match data.semantic {
                Semantic::Builtin(Builtin::VertexIndex) => FIRST_VERTEX + vertex,
                Semantic::Builtin(Builtin::InstanceIndex) => FIRST_INSTANCE + instance,
                Semantic::Builtin(_) => FIRST_INSTANCE,
                Semantic::Location { location, component } => {
                    let of_instances = location == OF_INSTANCES;
                    let index =
                        if of_instances { FIRST_INSTANCE + instance / 2 } else { FIRST_VERTEX + vertex };
                    attribute(location, component, index, data.ty.kind())
                }
            };
            bindings.set_input(var, Bits::scalar(v.into()));
        }
        Interpreter::new(module).unwrap().run_entry(&mut bindings, &Limits::default())?;
        let outputs = module.vars.iter().filter(|(_, v)| v.direction == Direction::Output);
        Ok(outputs.map(|(var, data)| (data.clone(), words(bindings.output(var), data))).collect())
    }

    #[test]
    fn vertex_shaders_leave_their_outputs_in_a_buffer() {
        let mut compared = 0;
        for shader in shaders(".vert") {
            let lifted = shader.lift(0).unwrap();
            let mut converted = lifted.clone();
            stage_to_compute(&mut converted, &LiftOptions::default(), None).unwrap();
            xenoglot_ir::verify(&converted.module).unwrap_or_else(|e| panic!("{}: {e}", shader.name));
            let stage = converted.info.compute_stage.clone().unwrap();
            let (original, module) = (optimised(&lifted), optimised(&converted));
            assert_eq!(module.stage, Stage::Compute);
            let buffers = buffers(&stage.output);
            let groups = [1, INSTANCES, 1];
            let after = match interpreted(&module, &buffers, groups) {
                Ok(after) => after,
                // The interpreter has no textures.
                Err(trap) => {
                    println!("{}: {trap}", shader.name);
                    continue;
                }
            };
            for (instance, vertex) in (0..INSTANCES).flat_map(|i| (0..VERTICES).map(move |v| (i, v))) {
                let at = ((instance * VERTICES + vertex) * stage.output.words) as usize;
                for (var, wanted) in direct(&original, vertex, instance).unwrap() {
                    let got = entry(&stage.output, &after[2][at..], &var);
                    assert_eq!(got, wanted, "{} {} of {instance} {vertex}", shader.name, var.name);
                }
            }
            same_on_device(&shader.name, &module, &buffers, groups, &after);
            compared += 1;
        }
        assert!(compared >= 4, "{compared}");
    }
}

mod geometry {
    use super::*;

    const PRIMITIVES: u32 = 2;
    /// Vertices of an instance before the stage.
    const VERTICES: u32 = 6;

    /// The vertex at a corner of a primitive: forwards, then backwards.
    fn corner(info: &GeometryInfo, primitive: u32, corner: u32) -> u32 {
        if primitive == 0 { corner } else { info.input.vertices() - 1 - corner }
    }

    fn taken(record: &Record, vertex: u32, word: u32) -> u32 {
        number(vertex * record.words + word)
    }

    fn buffers(info: &GeometryInfo, input: &Record, output: &Record) -> Buffers {
        let mut draw = vec![PRIMITIVES, VERTICES, FIRST_INSTANCE, 0];
        draw.resize(DRAW_BYTES as usize / 4, 0);
        let vertices = (0..INSTANCES * VERTICES)
            .flat_map(|vertex| (0..input.words).map(move |word| taken(input, vertex, word)));
        let corners = (0..PRIMITIVES)
            .flat_map(|primitive| (0..info.input.vertices()).map(move |c| corner(info, primitive, c)));
        let invocations = INSTANCES * PRIMITIVES * info.invocations;
        let room = invocations * info.max_vertices * (output.words + 1);
        vec![
            (DRAW_BINDING, draw),
            (ATTRIBUTES_BINDING, vertices.collect()),
            (PRIMITIVES_BINDING, corners.collect()),
            (VERTICES_BINDING, vec![0; room as usize]),
            (COUNTS_BINDING, vec![99; invocations as usize]),
        ]
    }

    fn direct(
        module: &Module,
        (info, input): (&GeometryInfo, &Record),
        [instance, primitive, invocation]: [u32; 3],
    ) -> Result<Vec<Event>, Trap> {
        let mut bindings = Bindings::new(module);
        for resource in module.resources.keys() {
            bindings.set_words(resource, &filled(resource));
        }
        for (var, data) in module.vars.iter().filter(|(_, v)| v.direction == Direction::Input) {
            if data.array.is_none() {
                let id = data.semantic == Semantic::Builtin(Builtin::PrimitiveId);
                bindings.set_input(var, Bits::scalar(if id { primitive } else { invocation }.into()));
                continue;
            }
            let entry = input.entries.iter().find(|e| e.key == key(data)).unwrap();
            let of_vertex = |n: u32| {
                let vertex = instance * VERTICES + corner(info, primitive, n);
                let lane = |lane: u32| u64::from(taken(input, vertex, entry.offset + lane));
                Bits(std::array::from_fn(|n| if n < entry.words as usize { lane(n as u32) } else { 0 }))
            };
            let values: Vec<Bits> = (0..info.input.vertices()).map(of_vertex).collect();
            bindings.set_input_array(var, &values);
        }
        Ok(Interpreter::new(module).unwrap().run_entry(&mut bindings, &Limits::default())?.events)
    }

    #[test]
    fn geometry_shaders_leave_their_vertices_in_a_buffer() {
        let mut compared = 0;
        for shader in shaders(".geom") {
            let lifted = shader.lift(0).unwrap();
            let mut converted = lifted.clone();
            stage_to_compute(&mut converted, &LiftOptions::default(), None).unwrap();
            xenoglot_ir::verify(&converted.module).unwrap_or_else(|e| panic!("{}: {e}", shader.name));
            let stage = converted.info.compute_stage.clone().unwrap();
            let info = lifted.info.graphics.as_ref().and_then(|g| g.geometry).unwrap();
            let input = stage.input.unwrap();
            let (original, module) = (optimised(&lifted), optimised(&converted));
            let buffers = buffers(&info, &input, &stage.output);
            let groups = [1, INSTANCES, info.invocations];
            let after = match interpreted(&module, &buffers, groups) {
                Ok(after) => after,
                Err(trap) => {
                    println!("{}: {trap}", shader.name);
                    continue;
                }
            };
            let all = (0..INSTANCES * PRIMITIVES * info.invocations).map(|n| {
                [n / info.invocations / PRIMITIVES, n / info.invocations % PRIMITIVES, n % info.invocations]
            });
            let mut vertices = 0;
            for (n, at) in (0..).zip(all) {
                let events = direct(&original, (&info, &input), at).unwrap();
                let (mut made, mut ended) = (Vec::new(), Vec::new());
                for event in events {
                    match event {
                        Event::Vertex(bits) => made.push(bits),
                        Event::EndPrimitive => ended.push(made.len() - 1),
                    }
                }
                assert_eq!(after[4][n], made.len() as u32, "{} {at:?}", shader.name);
                vertices += made.len();
                let stride = stage.output.words as usize + 1;
                let first = n * info.max_vertices as usize * stride;
                for (v, bits) in made.iter().enumerate() {
                    let record = &after[3][first + v * stride..][..stride];
                    let mut elements = bits.as_slice();
                    for var in original.vars.values().filter(|v| v.direction == Direction::Output) {
                        let (own, rest) = elements.split_at(var.array.unwrap_or(1) as usize);
                        elements = rest;
                        let got = entry(&stage.output, record, var);
                        assert_eq!(got, words(own, var), "{} {at:?} {v} {}", shader.name, var.name);
                    }
                    assert_eq!(record[stride - 1] != 0, ended.contains(&v), "{} {at:?} {v}", shader.name);
                }
            }
            assert!(vertices > 0, "{}", shader.name);
            same_on_device(&shader.name, &module, &buffers, groups, &after);
            compared += 1;
        }
        assert!(compared >= 2, "{compared}");
    }
}

/// Ends a strip before there is a vertex, and makes a vertex more than it may.
const TOO_MANY: &str = "module geometry \"too many\" {
  input %a = builtin invocation_id : i32
  output %o = location 0 : i32
  entry func @main() {
  block0:
    v0 : i32 = input %a
    v1 : i32 = const 10
    v2 : i32 = imul v0, v1
    v3 : i32 = const 1
    end_primitive
    v4 : i32 = iadd v2, v3
    output %o, v4
    emit_vertex
    v5 : i32 = iadd v4, v3
    output %o, v5
    emit_vertex
    end_primitive
    v6 : i32 = iadd v5, v3
    output %o, v6
    emit_vertex
    return
  }
}";

/// A geometry shader that takes points and makes so many vertices, as many for an output primitive.
fn of_points(text: &str, max_vertices: u32, invocations: u32) -> Lifted {
    let module = xenoglot_ir::text::parse(text, &Default::default()).unwrap();
    let input = InputPrimitive::Points;
    let geometry = GeometryInfo { input, output_vertices: max_vertices, max_vertices, invocations };
    let graphics = Some(GraphicsInfo { geometry: Some(geometry), ..Default::default() });
    Lifted { module, info: ShaderInfo { graphics, ..Default::default() } }
}

#[test]
fn vertices_that_there_is_no_room_for_are_dropped() {
    let mut lifted = of_points(TOO_MANY, 2, 2);
    stage_to_compute(&mut lifted, &LiftOptions::default(), None).unwrap();
    let module = optimised(&lifted);
    let mut draw = vec![1, 1, 0, 0];
    draw.resize(DRAW_BYTES as usize / 4, 0);
    let buffers = vec![
        (DRAW_BINDING, draw),
        (ATTRIBUTES_BINDING, vec![0]),
        (PRIMITIVES_BINDING, vec![0]),
        (VERTICES_BINDING, vec![7; 8]),
        (COUNTS_BINDING, vec![0; 2]),
    ];
    let after = interpreted(&module, &buffers, [1, 1, 2]).unwrap();
    assert_eq!(after[3..], [vec![1, 0, 2, 1, 11, 0, 12, 1], vec![2, 2]]);
    same_on_device("too many", &module, &buffers, [1, 1, 2], &after);
}

/// Hands on what its one vertex has, and what nobody has written.
const TAKES: &str = "module geometry \"takes\" {
  input %missing = location 4 : f32 array 1
  input %color = location 3 component 1 : f32 array 1
  input %position = builtin position : f32x4 array 1
  output %sum = location 0 : f32
  output %where = builtin position : f32x4
  entry func @main() {
  block0:
    v0 : i32 = const 0
    v1 : f32 = input %missing, v0
    v2 : f32 = input %color, v0
    v3 : f32x4 = input %position, v0
    v4 : f32 = fadd v1, v2
    output %sum, v4
    output %where, v3
    emit_vertex
    return
  }
}";

#[test]
fn vertices_are_taken_as_the_stage_before_left_them() {
    let mut lifted = of_points(TAKES, 1, 1);
    let color = RecordKey::Location { location: 3, component: 1 };
    let before = Record {
        words: 7,
        entries: vec![
            RecordEntry { key: RecordKey::Builtin("position".into()), offset: 1, words: 4 },
            RecordEntry { key: color, offset: 6, words: 1 },
        ],
    };
    stage_to_compute(&mut lifted, &LiftOptions::default(), Some(&before)).unwrap();
    assert_eq!(lifted.info.compute_stage.as_ref().unwrap().input.as_ref(), Some(&before));
    let module = optimised(&lifted);
    // Two instances of three vertices, of which each draws the last and the first.
    let mut draw = vec![2, 3, 0, 0];
    draw.resize(DRAW_BYTES as usize / 4, 0);
    let words = |vertex: u32| (0..7).map(move |word| (vertex * 10 + word) as f32).map(f32::to_bits);
    let buffers = vec![
        (DRAW_BINDING, draw),
        (ATTRIBUTES_BINDING, (0..6).flat_map(words).collect()),
        (PRIMITIVES_BINDING, vec![2, 0]),
        (VERTICES_BINDING, vec![7; 4 * 6]),
        (COUNTS_BINDING, vec![0; 4]),
    ];
    let after = interpreted(&module, &buffers, [1, 2, 1]).unwrap();
    let made = |vertex: u32| {
        let words: Vec<u32> = words(vertex).collect();
        [words[6], words[1], words[2], words[3], words[4], 0]
    };
    assert_eq!(after[3], [2, 0, 5, 3].map(made).concat());
    assert_eq!(after[4], [1; 4]);
    same_on_device("takes", &module, &buffers, [1, 2, 1], &after);
}

#[test]
fn other_stages_are_refused() {
    for shader in shaders(".frag").into_iter().chain(shaders(".tese")) {
        let mut lifted = shader.lift(0).unwrap();
        assert!(stage_to_compute(&mut lifted, &LiftOptions::default(), None).is_err());
    }
}
