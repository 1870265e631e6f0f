//! Graphics shaders of `vectors/maxwell/graphics` on the interpreter, against their GLSL done by hand here.

use std::io::Read;
use std::path::Path;
use xenoglot_interp::{Bindings, Interpreter, Limits, Outcome};
use xenoglot_ir::module::{Builtin, Direction, Semantic, Texel};
use xenoglot_ir::{Bits, Module, Var, verify};
use xenoglot_maxwell::GpuAccessor;
use xenoglot_maxwell::container::Dksh;
use xenoglot_maxwell::lift::{LiftOptions, Shader, cancel_perspective, lift_graphics};
use xenoglot_opt::pipeline;

/// Handles in the driver's bank, and a target of integers.
struct Gpu;

impl GpuAccessor for Gpu {
    fn handle_bank(&self) -> u8 {
        0
    }

    fn color_target(&self, target: u32) -> Texel {
        if target == 3 { Texel::Uint } else { Texel::Float }
    }
}

fn file(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../vectors/maxwell/graphics/public.tar.xz");
    let bytes = std::fs::read(path).unwrap();
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

/// The optimised module of a shader; `before` is a vertex shader that runs first.
fn module(name: &str, before: Option<&str>) -> Module {
    let bytes = file(&format!("{name}.dksh"));
    let dksh = Dksh::parse(&bytes).unwrap();
    let first_bytes = before.map(|b| file(&format!("{b}.dksh")));
    let first = first_bytes.as_ref().map(|b| Dksh::parse(b).unwrap());
    let first = first.as_ref().map(shader);
    let mut module =
        lift_graphics(&shader(&dksh), first.as_ref(), &LiftOptions::default(), &Gpu).unwrap().module;
    verify(&module).unwrap_or_else(|e| panic!("{e}\n{module}"));
    let optimise = |module: &mut Module| {
        pipeline::optimize(module, &mut Default::default(), &Default::default(), &mut pipeline::Verify)
            .unwrap();
    };
    optimise(&mut module);
    cancel_perspective(&mut module);
    optimise(&mut module);
    module
}

fn shader<'a>(dksh: &Dksh<'a>) -> Shader<'a> {
    Shader { sph: dksh.sph.unwrap(), code: dksh.code, entry: 0, constants: &[] }
}

struct Run<'m> {
    module: &'m Module,
    bindings: Bindings,
}

impl<'m> Run<'m> {
    fn new(module: &'m Module) -> Run<'m> {
        Run { module, bindings: Bindings::new(module) }
    }

    fn builtin(&self, direction: Direction, builtin: Builtin) -> Var {
        let found = self
            .module
            .vars
            .iter()
            .find(|(_, v)| v.direction == direction && v.semantic == Semantic::Builtin(builtin));
        found.unwrap_or_else(|| panic!("no {}", builtin.name())).0
    }

    fn location(&self, direction: Direction, location: u32, component: u8) -> Option<Var> {
        let semantic = Semantic::Location { location, component };
        let found = self.module.vars.iter().find(|(_, v)| v.direction == direction && v.semantic == semantic);
        found.map(|(var, _)| var)
    }

    /// Gives an input its components, of each vertex where there are several.
    fn input<const N: usize>(&mut self, location: u32, vertices: &[[f32; N]]) {
        for component in 0..N {
            if let Some(var) = self.location(Direction::Input, location, component as u8) {
                let values: Vec<Bits> =
                    vertices.iter().map(|v| Bits::scalar(v[component].to_bits().into())).collect();
                self.bindings.set_input_array(var, &values);
            }
        }
    }

    fn bank(&mut self, bank: u32, values: &[f32]) {
        let name = format!("c{bank}");
        let mut words: Vec<u32> = values.iter().map(|v| v.to_bits()).collect();
        words.resize(0x4000, 0);
        for (resource, _) in self.module.resources.iter().filter(|(_, d)| d.name == name) {
            self.bindings.set_words(resource, &words);
        }
    }

    fn run(&mut self) -> Outcome {
        let mut interpreter = Interpreter::new(self.module).unwrap();
        interpreter.run_entry(&mut self.bindings, &Limits::default()).unwrap()
    }

    fn output(&self, location: u32, component: u8) -> f32 {
        let var = self.location(Direction::Output, location, component).unwrap();
        f32::from_bits(self.bindings.output(var)[0].words()[0])
    }

    fn position(&self) -> [f32; 4] {
        let var = self.builtin(Direction::Output, Builtin::Position);
        self.bindings.output(var)[0].words().map(f32::from_bits)
    }
}

fn close(got: f32, want: f32) {
    assert!((got - want).abs() <= 1e-5 * want.abs().max(1.0), "{got}, not {want}");
}

fn transformed(matrix: &[f32], v: [f32; 4]) -> [f32; 4] {
    std::array::from_fn(|row| (0..4).map(|column| matrix[4 * column + row] * v[column]).sum())
}

fn matrix() -> Vec<f32> {
    (0..16).map(|i| (i as f32 * 0.7).sin() + if i % 5 == 0 { 2.0 } else { 0.0 }).collect()
}

#[test]
fn a_vertex_is_transformed() {
    let module = module("vs_transform.vert", None);
    let mut run = Run::new(&module);
    let (position, normal, uv) = ([0.5, -1.25, 2.0], [0.3, 0.9, -0.2], [0.25, 0.75]);
    run.input(0, &[position]);
    run.input(1, &[normal]);
    run.input(2, &[uv]);
    let mvp = matrix();
    let columns = [[1.0, 0.5, 0.0, 0.0], [-0.5, 1.0, 0.25, 0.0], [0.0, 0.0, 2.0, 0.0]];
    let scale = [2.0, 3.0, 0.125, -0.5];
    run.bank(2, &[&mvp[..], columns.as_flattened(), &scale].concat());
    run.run();
    let want = transformed(&mvp, [position[0], position[1], position[2], 1.0]);
    run.position().into_iter().zip(want).for_each(|(got, want)| close(got, want));
    let n: [f32; 3] = std::array::from_fn(|row| (0..3).map(|c| columns[c][row] * normal[c]).sum());
    let length = n.iter().map(|v| v * v).sum::<f32>().sqrt();
    for (i, v) in n.into_iter().enumerate() {
        close(run.output(0, i as u8), v / length);
    }
    for i in 0..2 {
        close(run.output(1, i as u8), uv[i] * scale[i] + scale[i + 2]);
    }
}

#[test]
fn clip_distances_are_put_out() {
    let module = module("vs_clip.vert", None);
    let mut run = Run::new(&module);
    let position = [0.5, -1.25, 2.0, 1.5];
    run.input(0, &[position]);
    let mvp = matrix();
    let planes: Vec<f32> = (0..16).map(|i| i as f32 * 0.25 - 2.0).collect();
    run.bank(2, &[&mvp[..], &planes].concat());
    run.run();
    let want = transformed(&mvp, position);
    run.position().into_iter().zip(want).for_each(|(got, want)| close(got, want));
    let distances = run.bindings.output(run.builtin(Direction::Output, Builtin::ClipDistance));
    assert_eq!(distances.len(), 4);
    for (plane, got) in planes.chunks(4).zip(distances) {
        let want: f32 = plane.iter().zip(position).map(|(p, v)| p * v).sum();
        close(f32::from_bits(got.words()[0]), want);
    }
    assert_eq!([run.output(3, 0), run.output(3, 1)], [position[0], position[1]]);
    assert_eq!([run.output(4, 0), run.output(4, 1)], [position[2], position[3]]);
}

#[test]
fn a_second_vertex_program_takes_what_the_first_puts_out() {
    // The first one's location 0 is a colour, which the second takes for the position.
    let module = module("vs_clip.vert", Some("vs_skin.vert"));
    let inputs = module.vars.values().filter(|v| v.direction == Direction::Input);
    let locations: Vec<u32> = inputs
        .filter_map(|v| match v.semantic {
            Semantic::Location { location, .. } => Some(location),
            Semantic::Builtin(_) => None,
        })
        .collect();
    // Bones and weights are those of the first.
    assert!(locations.contains(&1) && locations.contains(&2));
    assert!(module.vars.values().any(|v| v.semantic == Semantic::Builtin(Builtin::ClipDistance)));
}

#[test]
fn fragments_put_out_colours_and_depth() {
    let module = module("fs_depth_mrt.frag", None);
    let mut run = Run::new(&module);
    let color = [0.25, 0.5, -3.0, 1.5];
    run.input(0, &[color]);
    let at = [10.5, 20.5, 0.75, 0.3];
    for (builtin, bits) in [
        (Builtin::FragCoord, Bits::f32x4(at)),
        (Builtin::FrontFacing, Bits::scalar(1)),
        (Builtin::PrimitiveId, Bits::scalar(7)),
        (Builtin::SampleMask, Bits::scalar(1)),
    ] {
        let var = run.builtin(Direction::Input, builtin);
        run.bindings.set_input(var, bits);
    }
    run.run();
    let target = |location| {
        let var = run.location(Direction::Output, location, 0).unwrap();
        run.bindings.output(var)[0].words()
    };
    // The multiplications by w are gone: bit for bit what came in.
    assert_eq!(target(0), color.map(f32::to_bits));
    assert_eq!(target(1).map(f32::from_bits)[..3], at[..3]);
    close(f32::from_bits(target(1)[3]), 1.0 / at[3]);
    assert_eq!(target(3), [color[0].to_bits(), 1, 7, 1]);
    let depth = run.bindings.output(run.builtin(Direction::Output, Builtin::FragDepth));
    assert_eq!(f32::from_bits(depth[0].words()[0]), 0.75);
}

#[test]
fn a_geometry_shader_emits_lines() {
    let module = module("gs_wire.geom", None);
    let mut run = Run::new(&module);
    let colors = [[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8], [0.9, 1.0, 1.1, 1.2]];
    run.input(0, &colors);
    let positions = [[0.0, 0.0, 0.5, 1.0], [1.0, 0.0, 0.5, 1.0], [0.0, 1.0, 0.5, 1.0]];
    let var = run.builtin(Direction::Input, Builtin::Position);
    run.bindings.set_input_array(var, &positions.map(Bits::f32x4));
    let outcome = run.run();
    // Three lines of two vertices.
    assert_eq!(outcome.events.len(), 9);
    // The last vertex put out is the first one's, half as bright.
    assert_eq!(run.position(), positions[0]);
    for (i, v) in (0..).zip(colors[0]) {
        close(run.output(0, i), v * 0.5);
    }
}

#[test]
fn a_viewport_mask_without_a_place_is_an_error_of_its_instruction() {
    let bytes = file("vs_transform.vert.dksh");
    let dksh = Dksh::parse(&bytes).unwrap();
    // A scheduling word, AST of the viewport mask and of the attribute in whose place hosts without masks have it, EXIT.
    let words = [0, 0xeff0_0000_3a07_ff0b_u64, 0xeff0_0000_2507_ff0b, 0xe300_0000_0007_000f];
    let code: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
    let error = lift_graphics(&Shader { code: &code, ..shader(&dksh) }, None, &LiftOptions::default(), &Gpu);
    assert_eq!(error.unwrap_err().to_string(), "0x0008: `AST a[0x3a0], R11, R0` is not supported");
}
