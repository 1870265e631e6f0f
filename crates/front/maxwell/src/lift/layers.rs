//! The geometry shader that gives primitives their layer and viewport on hosts where earlier stages cannot.

use super::layout::LAYER_LOCATION;
use crate::gpu::InputPrimitive;
use xenoglot_ir::module::{Builtin, Direction, Interpolation, Semantic, VarData};
use xenoglot_ir::stage::{Geometry, Pipeline};
use xenoglot_ir::{Builder, Flags, Function, Imm, Module, Op, Stage, Type, Var};

/// What passes a primitive of a stage on: the stage's output, as the input and as the output of this shader.
struct Passed {
    from: Var,
    to: Var,
    ty: Type,
    /// Elements of an array.
    elements: Option<u32>,
}

/// A geometry shader that passes on what a vertex or tessellation shader puts out, its layer and viewport from
/// [`LAYER_LOCATION`] and the location after it. To go between that shader and the rasteriser where the host says
/// [`layer_from_vertex`](crate::gpu::Host::layer_from_vertex) is not so; `before` is that shader as it was lifted.
pub fn layer_shader(before: &Module, input: InputPrimitive) -> Module {
    let vertices: &[u32] = match input {
        InputPrimitive::Points => &[0],
        InputPrimitive::Lines => &[0, 1],
        InputPrimitive::LinesAdjacency => &[1, 2],
        InputPrimitive::Triangles => &[0, 1, 2],
        InputPrimitive::TrianglesAdjacency => &[0, 2, 4],
    };
    let count = vertices.len() as u32;
    let mut module = Module::new(Stage::Geometry, "layers");
    module.pipeline = Pipeline {
        geometry: Some(Geometry {
            input_vertices: input.vertices(),
            output_vertices: count,
            max_vertices: count,
            invocations: 1,
        }),
        ..Pipeline::default()
    };
    let outputs = before.vars.values().filter(|var| var.direction == Direction::Output);
    let passed: Vec<Passed> = outputs.map(|var| pass(&mut module, var, input.vertices())).collect();
    let mut func = Function::new("main");
    let entry = func.add_block();
    let mut b = Builder::new(&mut func, entry);
    for &vertex in vertices {
        let vertex = b.i32(vertex);
        for p in &passed {
            for element in 0..p.elements.unwrap_or(1) {
                let element = p.elements.map(|_| b.i32(element));
                let from: Vec<_> = std::iter::once(vertex).chain(element).collect();
                let read = b.inst(Op::Input, Flags::NONE, Imm::Var(p.from), &from, &[p.ty]);
                let to: Vec<_> = b.func.results(read).iter().copied().chain(element).collect();
                b.inst(Op::Output, Flags::NONE, Imm::Var(p.to), &to, &[]);
            }
        }
        b.inst(Op::EmitVertex, Flags::NONE, Imm::Stream(0), &[], &[]);
    }
    b.inst(Op::EndPrimitive, Flags::NONE, Imm::Stream(0), &[], &[]);
    b.ret(&[]);
    module.entry = Some(module.funcs.push(func)).into();
    module
}

fn pass(module: &mut Module, var: &VarData, vertices: u32) -> Passed {
    let from = module.vars.push(VarData {
        name: format!("in_{}", var.name),
        direction: Direction::Input,
        array: Some(vertices),
        inner: var.array,
        stream: 0,
        ..var.clone()
    });
    let semantic = match var.semantic {
        Semantic::Location { location, .. } if location == LAYER_LOCATION => {
            Semantic::Builtin(Builtin::Layer)
        }
        Semantic::Location { location, .. } if location == LAYER_LOCATION + 1 => {
            Semantic::Builtin(Builtin::ViewportIndex)
        }
        semantic => semantic,
    };
    let interpolation = match semantic {
        Semantic::Builtin(_) => Interpolation::Flat,
        Semantic::Location { .. } => var.interpolation,
    };
    let to = module.vars.push(VarData { semantic, interpolation, ..var.clone() });
    Passed { from, to, ty: var.ty, elements: var.array }
}
