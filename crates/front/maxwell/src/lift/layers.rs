//! The geometry shader that gives primitives their layer and viewports on hosts where earlier stages cannot.

use super::layout::{LAYER_LOCATION, MASK_LOCATION, VIEWPORT_LOCATION};
use super::viewports::VIEWPORTS;
use crate::gpu::InputPrimitive;
use xenoglot_ir::module::{Builtin, Direction, Interpolation, Semantic, VarData};
use xenoglot_ir::stage::{Geometry, Pipeline};
use xenoglot_ir::{Builder, Flags, Function, Imm, Module, Op, Stage, Type, Value, Var};

/// What passes a primitive of a stage on: the stage's output, as the input and as the output of this shader.
struct Passed {
    from: Var,
    to: Var,
    ty: Type,
    /// Elements of an array.
    elements: Option<u32>,
}

/// A geometry shader that passes on what a vertex or tessellation shader puts out, its layer and viewport from
/// [`LAYER_LOCATION`] and [`VIEWPORT_LOCATION`], its viewports from [`MASK_LOCATION`]. To go between that shader and the rasteriser
/// where the host says [`layer_from_vertex`](crate::gpu::Host::layer_from_vertex) is not so, or
/// [`viewport_mask`](crate::gpu::Host::viewport_mask), if the shader has such an output; `before` is that shader as it was lifted.
/// A primitive's viewports are those of its first vertex.
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
    let mut vars = Vars::default();
    for var in before.vars.values().filter(|var| var.direction == Direction::Output) {
        vars.pass(&mut module, var, input.vertices());
    }
    let viewport = vars.mask.map(|_| viewport_vars(&mut module));
    module.pipeline = Pipeline {
        geometry: Some(Geometry {
            input_vertices: input.vertices(),
            output_vertices: count,
            max_vertices: count,
            invocations: if vars.mask.is_some() { VIEWPORTS } else { 1 },
        }),
        ..Pipeline::default()
    };
    let mut func = Function::new("main");
    let entry = func.add_block();
    let mut b = Builder::new(&mut func, entry);
    // The invocation's viewport, where it has one, and the variable that it goes to.
    let viewport = vars.mask.zip(viewport).map(|(mask, (number, index))| {
        (goes_to(&mut b, mask, number, vertices.first().copied().unwrap_or(0)), index)
    });
    for &vertex in vertices {
        let vertex = b.i32(vertex);
        for p in &vars.passed {
            for element in 0..p.elements.unwrap_or(1) {
                let element = p.elements.map(|_| b.i32(element));
                let from: Vec<_> = std::iter::once(vertex).chain(element).collect();
                let read = b.inst(Op::Input, Flags::NONE, Imm::Var(p.from), &from, &[p.ty]);
                let to: Vec<_> = b.func.results(read).iter().copied().chain(element).collect();
                b.inst(Op::Output, Flags::NONE, Imm::Var(p.to), &to, &[]);
            }
        }
        if let Some((viewport, index)) = viewport {
            b.output(index, viewport);
        }
        b.inst(Op::EmitVertex, Flags::NONE, Imm::Stream(0), &[], &[]);
    }
    b.inst(Op::EndPrimitive, Flags::NONE, Imm::Stream(0), &[], &[]);
    b.ret(&[]);
    module.entry = Some(module.funcs.push(func)).into();
    module
}

/// Variables of the number of the invocation, which is its viewport, and of the viewport's index.
fn viewport_vars(module: &mut Module) -> (Var, Var) {
    let mut var = |builtin: Builtin, direction| {
        module.vars.push(VarData {
            name: builtin.name().into(),
            direction,
            ty: Type::I32,
            semantic: Semantic::Builtin(builtin),
            interpolation: Interpolation::Flat,
            array: None,
            inner: None,
            stream: 0,
        })
    };
    (var(Builtin::InvocationId, Direction::Input), var(Builtin::ViewportIndex, Direction::Output))
}

/// Ends invocations whose viewport the mask of a vertex does not have, and goes on in the others: their viewport.
fn goes_to(b: &mut Builder, mask: Var, number: Var, vertex: u32) -> Value {
    let vertex = b.i32(vertex);
    let read = b.inst(Op::Input, Flags::NONE, Imm::Var(mask), &[vertex], &[Type::I32]);
    let mask = b.func.results(read)[0];
    let viewport = b.input(number, Type::I32);
    let (one, zero) = (b.i32(1), b.i32(0));
    let bit = b.op(Op::Shl, &[one, viewport]);
    let bit = b.op(Op::And, &[mask, bit]);
    let goes = b.op(Op::IcmpNe, &[bit, zero]);
    let (here, end) = (b.func.add_block(), b.func.add_block());
    b.branch(goes, (here, &[]), (end, &[]));
    b.switch_to(end);
    b.ret(&[]);
    b.switch_to(here);
    viewport
}

/// Variables of the shader.
#[derive(Default)]
struct Vars {
    passed: Vec<Passed>,
    /// The mask of viewports that goes in.
    mask: Option<Var>,
}

impl Vars {
    fn pass(&mut self, module: &mut Module, var: &VarData, vertices: u32) {
        let from = module.vars.push(VarData {
            name: format!("in_{}", var.name),
            direction: Direction::Input,
            array: Some(vertices),
            inner: var.array,
            stream: 0,
            ..var.clone()
        });
        let semantic = match var.semantic {
            // Generic attributes at these locations are floats.
            semantic if var.ty != Type::I32 => semantic,
            Semantic::Location { location: MASK_LOCATION, .. } => {
                self.mask = Some(from);
                return;
            }
            Semantic::Location { location: LAYER_LOCATION, .. } => Semantic::Builtin(Builtin::Layer),
            Semantic::Location { location: VIEWPORT_LOCATION, .. } => {
                Semantic::Builtin(Builtin::ViewportIndex)
            }
            semantic => semantic,
        };
        let interpolation = match semantic {
            Semantic::Builtin(_) => Interpolation::Flat,
            Semantic::Location { .. } => var.interpolation,
        };
        let to = module.vars.push(VarData { semantic, interpolation, ..var.clone() });
        self.passed.push(Passed { from, to, ty: var.ty, elements: var.array });
    }
}
