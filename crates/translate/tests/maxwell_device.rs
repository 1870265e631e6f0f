//! What the options of Maxwell's shaders make of them, on a device.

use xenoglot::{Code, Host, Options, compile};
use xenoglot_ir::text::parse;
use xenoglot_maxwell::info::ShaderInfo;
use xenoglot_maxwell::lift::layout::{SCALE_BINDING, TEXTURE_BINDING};
use xenoglot_maxwell::lift::{LiftOptions, Lifted, SCALE_BYTES, flatten_integer_cubes, scale_textures};
use xenoglot_testgen::skip::skip;
use xenoglot_vulkan::glslang::{self, Stage};
use xenoglot_vulkan::isolated::{Isolated, IsolatedOptions, WorkerCommand, serve_if_worker};
use xenoglot_vulkan::{
    Contents, DescriptorKind, DescriptorSlot, Device, Job, Numbers, PipelineJob, PipelineStage, RenderJob,
    StageModule, TextureContents, TextureShape, Topology,
};

/// Not a test: what the others start as a worker process.
#[test]
fn vulkan_worker() {
    serve_if_worker();
}

/// A triangle that covers the targets.
const VERTEX: &str = "#version 450\nvoid main() { vec2 p = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1); \
    gl_Position = vec4(p * 4.0 - 1.0, 0.5, 1.0); }";

fn lifted(text: &str) -> Lifted {
    let module = parse(text, &Default::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    xenoglot_ir::verify(&module).unwrap_or_else(|e| panic!("{e}\n{text}"));
    Lifted { module, info: ShaderInfo::default() }
}

/// Two targets that a fragment shader draws to, each pixel's four words; none without a device.
fn draw(
    mut lifted: Lifted,
    bound: Vec<(u32, DescriptorKind, Contents)>,
    targets: [bool; 2],
    size: u32,
) -> Option<[Vec<[u32; 4]>; 2]> {
    if !glslang::available() || !Device::list().is_ok_and(|d| !d.is_empty()) {
        skip("no Vulkan device, or no glslangValidator");
        return None;
    }
    xenoglot_ir::verify(&lifted.module).unwrap_or_else(|e| panic!("{e}\n{}", lifted.module));
    let code = compile(&mut lifted.module, &Host::default(), &Options::default()).unwrap();
    let Code::Words(spirv) = code else { panic!("text") };
    let vertex = glslang::compile(VERTEX, Stage::Vertex).unwrap();
    let stages = vec![
        StageModule { stage: PipelineStage::Vertex, spirv: vertex },
        StageModule { stage: PipelineStage::Fragment, spirv },
    ];
    let slot = |&(binding, kind, _): &_| DescriptorSlot { set: 0, binding, kind, count: 1 };
    let descriptors = bound.iter().map(slot).collect();
    let pipeline = PipelineJob {
        stages,
        descriptors,
        inputs: Vec::new(),
        targets: targets.to_vec(),
        topology: Topology::Triangles,
        patch_vertices: 3,
    };
    let contents = bound.into_iter().map(|(_, _, contents)| vec![contents]).collect();
    let job =
        RenderJob { pipeline, contents, inputs: Vec::new(), vertices: 3, instances: 1, size, layers: 1 };
    let command = WorkerCommand::this_test("vulkan_worker").unwrap();
    let mut device = Isolated::new(command, IsolatedOptions::default());
    let drawn = device.run(&Job::Render(job)).unwrap().remove(0).buffers;
    let pixels = |n: usize| {
        let words: Vec<u32> = drawn[n].as_chunks().0.iter().map(|w| u32::from_le_bytes(*w)).collect();
        words.as_chunks().0.to_vec()
    };
    Some([pixels(0), pixels(1)])
}

/// Fetches its own texel and the next, samples the next by an offset, and tells the sizes of levels 0 and 1 and where it is.
const SCALED: &str = "module fragment \"scaled\" {
  input %frag_coord = builtin frag_coord : f32x4
  output %texels = location 0 : f32x4
  output %place = location 1 : f32x4
  texture @t = set 0 binding 64 2d
  entry func @main() {
  block0:
    v0 : f32x4 = input %frag_coord
    v1 : f32 = extract 0, v0
    v2 : f32 = extract 1, v0
    v3 : i32 = f2s v1
    v4 : i32 = f2s v2
    v5 : i32x2 = build v3, v4
    v6 : tex = resource_handle @t
    v7 : i32 = const 0
    v8 : i32 = const 1
    v9 : f32x4 = tex.fetch 2d lod, v6, v5, v7
    v10 : i32 = iadd v3, v8
    v11 : i32x2 = build v10, v4
    v12 : f32x4 = tex.fetch 2d lod, v6, v11, v7
    v13 : i32x2 = tex.query_size 2d lod, v6, v7
    v14 : i32x2 = tex.query_size 2d lod, v6, v8
    v15 : i32 = extract 0, v13
    v16 : i32 = extract 1, v14
    v17 : f32 = u2f v15
    v18 : f32 = u2f v16
    v19 : f32 = fdiv v1, v17
    v20 : f32 = fdiv v2, v17
    v21 : f32x2 = build v19, v20
    v22 : f32 = const 0.0
    v23 : i32x2 = const [1, 0]
    v24 : f32x4 = tex.sample 2d lod offset, v6, v21, v22, v23
    v25 : f32 = extract 0, v9
    v26 : f32 = extract 0, v12
    v27 : f32 = extract 0, v24
    v28 : f32x4 = build v25, v26, v27, v22
    output %texels, v28
    v29 : f32x4 = build v1, v2, v17, v18
    output %place, v29
    return
  }
}";

/// The guest's width and height of texture and target.
const GUEST: u32 = 8;

fn scaled(texture: f32, target: f32) {
    let [width, size] = [texture, target].map(|scale| (GUEST as f32 * scale) as u32);
    let texel = |x: u32, y: u32| (x + 100 * y) as f32;
    let levels = [width, width / 2];
    let texels = levels.iter().flat_map(|&width| (0..width * width).map(move |n| (n % width, n / width)));
    let texels = texels.flat_map(|(x, y)| [texel(x, y), 0.0, 0.0, 0.0]).flat_map(f32::to_le_bytes).collect();
    let contents = Contents::Texture(TextureContents {
        shape: TextureShape::D2,
        arrayed: false,
        numbers: Numbers::Float,
        size: [width, width, 1],
        layers: 1,
        levels: 2,
        samples: 1,
        texels,
    });
    let mut scales: Vec<u8> = [target, texture].into_iter().flat_map(f32::to_le_bytes).collect();
    scales.resize(SCALE_BYTES as usize, 0);
    let mut lifted = lifted(SCALED);
    scale_textures(&mut lifted, &LiftOptions::default());
    assert_eq!(lifted.info.scales, Some(SCALE_BINDING));
    let bound = vec![
        (TEXTURE_BINDING, DescriptorKind::Texture, contents),
        (SCALE_BINDING, DescriptorKind::Uniform, Contents::Buffer(scales)),
    ];
    let Some([texels, places]) = draw(lifted, bound, [false; 2], size) else { return };
    for (n, (got, place)) in (0..).zip(texels.iter().zip(&places)) {
        let [got, place] = [*got, *place].map(|words| words.map(f32::from_bits));
        let (x, y) = (n % size, n / size);
        let centre = [x, y].map(|n| (n as f32 + 0.5) / target);
        let near = [0, 1].iter().all(|&i| (place[i] - centre[i]).abs() < 1e-5);
        assert!(near && place[2..] == [8.0, 4.0], "{texture} {target} at {x} {y}: {place:?}");
        // The host's texels of a guest's, and which of them a fragment looks at.
        let guest = centre.map(|c| c.floor());
        let at = |guest: [f32; 2]| {
            let host = match texture == target {
                true => {
                    [0, 1].map(|i| guest[i] * texture + [x, y][i] as f32 + 0.5 - centre[i].floor() * target)
                }
                false => guest.map(|g| (g + 0.5) * texture),
            };
            texel(host[0] as u32, host[1] as u32)
        };
        assert_eq!(got[0], at(guest), "{texture} {target} at {x} {y}");
        if guest[0] + 1.0 < GUEST as f32 - 1.0 {
            assert_eq!(got[1], at([guest[0] + 1.0, guest[1]]), "{texture} {target} beside {x} {y}");
        }
        // A sample that falls on the middle of a texel.
        if texture == target && texture.fract() == 0.0 && x + 2 * (texture as u32) < size {
            assert!((got[2] - got[1]).abs() < 0.01, "{texture} {target} at {x} {y}: {got:?}");
        }
    }
}

#[test]
fn textures_and_targets_have_scales() {
    for (texture, target) in [(1.0, 1.0), (2.0, 2.0), (2.0, 1.0), (1.0, 2.0), (3.0, 2.0), (1.5, 1.5)] {
        scaled(texture, target);
    }
}

#[test]
fn what_does_not_go_by_resolution_stays_as_it_is() {
    let text = cube(false, SMOOTH, "tex.sample cube", "").replace("builtin frag_coord", "location 0");
    let text = text.replace("tex.query_size cube lod, v11, v14", "const 0");
    let mut unscaled = lifted(&text);
    let before = unscaled.module.to_string();
    scale_textures(&mut unscaled, &LiftOptions::default());
    assert_eq!((unscaled.module.to_string(), unscaled.info.scales), (before, None));
}

/// Samples a cube of integers in directions that go all around, and tells its size.
fn cube(arrayed: bool, z: &str, operands: &str, values: &str) -> String {
    let (array, direction, size) = match arrayed {
        true => ("array ", "v10 : f32x4 = build v4, v5, v9, v18", 3),
        false => ("", "v10 : f32x3 = build v4, v5, v9", 2),
    };
    format!(
        "module fragment \"cubes\" {{
  input %frag_coord = builtin frag_coord : f32x4
  output %texel = location 0 : i32x4
  output %size = location 1 : i32x4
  texture @t = set 0 binding 64 cube {array}uint
  entry func @main() {{
  block0:
    v0 : f32x4 = input %frag_coord
    v1 : f32 = extract 0, v0
    v2 : f32 = extract 1, v0
    v3 : f32 = const 8.1
    v4 : f32 = fsub v1, v3
    v5 : f32 = fsub v2, v3
    v6 : f32 = fmul v1, v2
    v7 : f32 = sin v6
    v8 : f32 = const 9.0
    {z}
    v18 : f32 = const 1.0
    {direction}
    v11 : tex = resource_handle @t
    v12 : f32 = const 0.0
    v19 : f32x3 = const [0.5, -0.25, 3.0]
    v20 : f32x3 = const [0.25, 2.0, -0.5]
    v13 : i32x4 = {operands}, v11, v10{values}
    output %texel, v13
    v14 : i32 = const 0
    v15 : i32x{size} = tex.query_size cube {array}lod, v11, v14
    v16 : i32 = extract {last}, v15
    v17 : i32x4 = build v16, v16, v14, v14
    output %size, v17
    return
  }}
}}",
        last = size - 1
    )
}

const AROUND: &str = "v9 : f32 = fmul v7, v8";
const SMOOTH: &str = "v9 : f32 = const 2.5";

/// Draws with a cube and with its faces as layers: both.
fn both(text: &str, arrayed: bool) -> Option<[[Vec<[u32; 4]>; 2]; 2]> {
    const WIDTH: u32 = 16;
    let layers = if arrayed { 12 } else { 6 };
    let levels = 0..WIDTH.ilog2() + 1;
    let texels = levels.clone().flat_map(|level| {
        let width = WIDTH >> level;
        (0..layers * width * width).map(move |n| [level, n / (width * width), n / width % width, n % width])
    });
    let texels: Vec<u8> = texels.flatten().flat_map(u32::to_le_bytes).collect();
    let contents = |shape, arrayed| {
        Contents::Texture(TextureContents {
            shape,
            arrayed,
            numbers: Numbers::Unsigned,
            size: [WIDTH, WIDTH, 1],
            layers,
            levels: levels.end,
            samples: 1,
            texels: texels.clone(),
        })
    };
    let mut flat = lifted(text);
    flatten_integer_cubes(&mut flat);
    let draws = [(lifted(text), TextureShape::Cube, arrayed), (flat, TextureShape::D2, true)];
    let mut drawn = draws.into_iter().map(|(lifted, shape, arrayed)| {
        let bound = vec![(TEXTURE_BINDING, DescriptorKind::Texture, contents(shape, arrayed))];
        draw(lifted, bound, [true; 2], 16)
    });
    Some([drawn.next()??, drawn.next()??])
}

#[test]
fn integer_cubes_are_layers() {
    for arrayed in [false, true] {
        let array = if arrayed { "array " } else { "" };
        let text = cube(arrayed, AROUND, &format!("tex.sample cube {array}lod"), ", v12");
        let Some([as_cube, as_layers]) = both(&text, arrayed) else { return };
        let differ = |(_, (a, b)): &(usize, (&[u32; 4], &[u32; 4]))| a != b;
        let differing: Vec<_> = as_cube[0].iter().zip(&as_layers[0]).enumerate().filter(differ).collect();
        assert!(differing.is_empty(), "{differing:?}");
        assert_eq!(as_cube[1], as_layers[1]);
        let first = if arrayed { 6 } else { 0 };
        for face in first..first + 6 {
            assert!(as_cube[0].iter().any(|texel| texel[1] == face), "face {face}");
        }
        assert_eq!(as_cube[1][0][0], if arrayed { 2 } else { 16 });
        let text = cube(arrayed, AROUND, &format!("tex.gather cube {array}comp 2"), "");
        let Some([as_cube, as_layers]) = both(&text, arrayed) else { return };
        // Where none of the four is beyond an edge: those are of other faces.
        let inside = |texels: &[u32; 4]| texels.iter().min() != texels.iter().max();
        let pairs = as_cube[0].iter().zip(&as_layers[0]).filter(|(cube, flat)| inside(cube) && inside(flat));
        let (same, all) = pairs.fold((0, 0), |(same, all), (a, b)| (same + u32::from(a == b), all + 1));
        assert!(all > 100 && same * 10 > all * 8, "{same} of {all}");
    }
}

#[test]
fn levels_of_integer_cubes_are_those_of_directions() {
    for (operands, values) in
        [("tex.sample cube", ""), ("tex.sample cube bias", ", v18"), ("tex.sample cube grad", ", v19, v20")]
    {
        let Some([as_cube, as_layers]) = both(&cube(false, SMOOTH, operands, values), false) else { return };
        let levels = |drawn: &[Vec<[u32; 4]>; 2]| drawn[0].iter().map(|t| t[0]).collect::<Vec<_>>();
        let (cube, flat) = (levels(&as_cube), levels(&as_layers));
        assert!(cube.iter().min() < cube.iter().max(), "{cube:?}");
        let same = cube.iter().zip(&flat).filter(|(a, b)| a == b).count();
        // Devices may take derivatives over faces for those of directions.
        assert!(same * 10 > cube.len() * 9, "{operands}: {same} of {}\n{cube:?}\n{flat:?}", cube.len());
    }
}
