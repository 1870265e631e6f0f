//! Inputs and outputs of graphics stages: variables at the locations of their registers, and builtins.
//!
//! Both sides of a pipeline have a register for the same thing, so that locations agree where Direct3D's signatures do.
//! Registers of vertex streams beside the first, and those of a mesh's primitives, come behind the others'. Components
//! of less than 32 bits pass as 32 unless the options say otherwise. Numbers of vertices are the host's, which count from the first vertex of the buffer
//! and not of the draw.

mod input;
mod output;

use super::cx::Cx;
use super::int::Scalar;
use super::{Lift, Stop};
use crate::binding::{StageVariable, StreamOutput};
use crate::bitcode::ValueId;
use crate::model::ShaderKind;
use crate::program::{Component, Element, Semantic as Meaning};
pub(super) use input::At;
use output::{Output, Position};
use rustc_hash::FxHashMap;
use xenoglot_ir::module::{Builtin, Capture, Direction, Interpolation, Semantic, VarData};
use xenoglot_ir::{Block, Flags, Imm, Kind, Op, Stage, Type, Value, Var};

/// Elements of the input arrays of tessellation shaders: the most that a patch has.
const MOST_POINTS: u32 = 32;

/// Clip and cull distances that a host has.
const MOST_PLANES: u32 = 8;

/// A signature.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Signature {
    /// What comes from the stage before.
    Input,
    /// What goes to the next stage.
    Output,
    /// What there is once for a patch, or for a mesh's primitive.
    Patch,
}

/// A component of an element, as operations name it.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub signature: Signature,
    pub id: u32,
    pub row: ValueId,
    pub column: u8,
}

/// A variable by what it is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    /// A row of an element; a component where components are variables.
    Row(Signature, u32, u32, u8),
    Builtin(Direction, Builtin),
}

/// Variables, and outputs that are yet to be written.
#[derive(Default)]
pub(super) struct Interface {
    vars: FxHashMap<Key, Var>,
    /// Inputs that were read, by the block.
    read: FxHashMap<(Block, Var), Value>,
    outputs: FxHashMap<(Signature, u32, u32), Output>,
    /// Outputs in the order in which they were met.
    order: Vec<(Signature, u32, u32)>,
    /// A mesh's position that is not yet whole.
    position: Option<Position>,
    /// Inputs that are not interpolated come as arrays of the three vertices' values.
    per_vertex: bool,
}

impl Interface {
    pub fn new(per_vertex: bool) -> Interface {
        Interface { per_vertex, ..Interface::default() }
    }
}

fn interpolation(element: &Element) -> Lift<Interpolation> {
    Ok(match element.interpolation {
        0 | 1 => Interpolation::Flat,
        2 => Interpolation::Smooth,
        3 => Interpolation::Centroid,
        4 => Interpolation::Linear,
        5 => Interpolation::LinearCentroid,
        6 => Interpolation::Sample,
        7 => Interpolation::LinearSample,
        _ => return Err(Stop::Unsupported("interpolation of this kind")),
    })
}

/// The number of an element's component among the clip or cull distances of its signature, and how many there are.
fn plane(elements: &[Element], element: &Element, row: u32, column: u8) -> Lift<(u32, u32)> {
    let mut count = 0;
    let mut first = 0;
    for other in elements.iter().filter(|e| e.semantic == element.semantic && e.stream == element.stream) {
        if other.id == element.id {
            first = count;
        }
        count += other.rows * u32::from(other.columns);
    }
    if count > MOST_PLANES {
        return Err(Stop::Unsupported("more than eight planes"));
    }
    Ok((first + row * u32::from(element.columns) + u32::from(column), count))
}

/// How a variable is made, beside its place.
struct Shape {
    ty: Type,
    interpolation: Interpolation,
    array: Option<u32>,
    inner: Option<u32>,
    stream: u8,
}

impl Shape {
    fn plain(ty: Type) -> Shape {
        Shape { ty, interpolation: Interpolation::Flat, array: None, inner: None, stream: 0 }
    }
}

impl<'a> Cx<'a> {
    /// What an element's components are in variables.
    fn passed_as(&self, element: &Element) -> Type {
        let is_narrow = self.options.interface_16bit
            && self.native16
            && !self.wide_memory
            && element.is_narrow
            && matches!(element.semantic, Meaning::Arbitrary | Meaning::Target);
        match (element.component, is_narrow) {
            (Component::Float, false) => Type::F32,
            (Component::Float, true) => Type::F16,
            (Component::Sint | Component::Uint, false) => Type::I32,
            (Component::Sint | Component::Uint, true) => Type::scalar(Kind::I16),
        }
    }

    fn elements(&self, signature: Signature) -> &'a [Element] {
        let program = self.program;
        match signature {
            Signature::Input => &program.inputs,
            Signature::Output => &program.outputs,
            Signature::Patch => &program.patch,
        }
    }

    /// The element of a place.
    fn signature_element(&self, place: Place) -> Lift<&'a Element> {
        let element = self.elements(place.signature).iter().find(|e| e.id == place.id);
        let element = element.ok_or(Stop::Unsupported("its element"))?;
        match place.column < element.columns && element.rows > 0 {
            true => Ok(element),
            false => Err(Stop::Unsupported("a component that its element has not")),
        }
    }

    /// The location of a row.
    fn location(&self, signature: Signature, element: &Element, row: u32) -> Lift<u32> {
        let first = element.row.ok_or(Stop::Unsupported("an element without a register"))?;
        let rows = |elements: &[Element], stream: u8| {
            let end = |e: &Element| e.row.map(|row| row + e.rows).filter(|_| e.stream == stream);
            elements.iter().filter_map(end).max().unwrap_or(0)
        };
        let before: u32 = match signature {
            Signature::Output => (0..element.stream).map(|s| rows(&self.program.outputs, s)).sum(),
            // Vulkan numbers what there is once for a primitive or patch together with what each vertex has.
            Signature::Patch => match (self.ir.stage, self.options.control_point_rows) {
                (Stage::Mesh, _) => rows(&self.program.outputs, 0),
                (_, Some(rows)) => rows,
                (Stage::TessControl, None) => rows(&self.program.outputs, 0),
                (_, None) => rows(&self.program.inputs, 0),
            },
            Signature::Input => 0,
        };
        Ok(before + first + row)
    }

    /// A component of an element as remappers are asked for it.
    fn stage_variable<'e>(
        &self,
        signature: Signature,
        element: &'e Element,
        row: u32,
        component: u8,
    ) -> Lift<StageVariable<'e>> {
        Ok(StageVariable {
            semantic: &element.name,
            index: element.index.saturating_add(row),
            row: self.location(signature, element, row)?,
            column: component,
            stream: element.stream,
        })
    }

    /// Where a component of an element lies on the host, from a location on that the signature gives it.
    fn located_at(&self, signature: Signature, element: &Element, row: u32, component: u8) -> Lift<Semantic> {
        let variable = self.stage_variable(signature, element, row, component)?;
        let stage = self.program.kind;
        let place = match signature {
            Signature::Input => self.remapper.input(stage, &variable),
            Signature::Patch if stage == ShaderKind::Domain => self.remapper.input(stage, &variable),
            Signature::Output | Signature::Patch => self.remapper.output(stage, &variable),
        };
        if place.component > 3 {
            return Err(Stop::Unsupported("a component beyond the fourth"));
        }
        Ok(Semantic::Location { location: place.location, component: place.component })
    }

    /// The variable declared for a key, if it is.
    fn declared(&self, key: Key) -> Option<Var> {
        self.interface.vars.get(&key).copied()
    }

    fn variable(&mut self, key: Key, name: String, semantic: Semantic, shape: Shape) -> Var {
        let direction = match key {
            Key::Builtin(direction, _) => direction,
            Key::Row(Signature::Output, ..) => Direction::Output,
            Key::Row(Signature::Patch, ..) if self.ir.stage != Stage::TessEval => Direction::Output,
            Key::Row(..) => Direction::Input,
        };
        let vars = &mut self.ir.vars;
        *self.interface.vars.entry(key).or_insert_with(|| {
            let Shape { ty, interpolation, array, inner, stream } = shape;
            vars.push(VarData { name, direction, ty, semantic, interpolation, array, inner, stream })
        })
    }

    fn builtin_var(&mut self, direction: Direction, builtin: Builtin, shape: Shape) -> Var {
        let key = Key::Builtin(direction, builtin);
        if let Some(var) = self.declared(key) {
            return var;
        }
        let prefix = if direction == Direction::Output { "out_" } else { "" };
        let name = format!("{prefix}{}", builtin.name());
        self.variable(key, name, Semantic::Builtin(builtin), shape)
    }

    /// A builtin input.
    pub fn builtin(&mut self, builtin: Builtin, ty: Type) -> Value {
        let var = self.builtin_var(Direction::Input, builtin, Shape::plain(ty));
        self.read_once(var)
    }

    /// An element of a builtin input that is an array.
    pub fn builtin_at(&mut self, builtin: Builtin, ty: Type, elements: u32, index: Value) -> Value {
        let shape = Shape { array: Some(elements), ..Shape::plain(ty) };
        let var = self.builtin_var(Direction::Input, builtin, shape);
        self.read(Op::Input, var, &[index])
    }

    fn read(&mut self, op: Op, var: Var, indices: &[Value]) -> Value {
        let ty = self.ir.vars[var].ty;
        self.inst(op, Imm::Var(var), indices, ty)
    }

    /// An input that does not change, read once in a block.
    fn read_once(&mut self, var: Var) -> Value {
        let key = (self.b.block(), var);
        if let Some(&known) = self.interface.read.get(&key) {
            return known;
        }
        let v = self.read(Op::Input, var, &[]);
        self.interface.read.insert(key, v);
        v
    }

    fn write(&mut self, var: Var, v: Value, indices: &[Value]) {
        let args: smallvec::SmallVec<[Value; 3]> =
            std::iter::once(v).chain(indices.iter().copied()).collect();
        self.b.inst(Op::Output, Flags::NONE, Imm::Var(var), &args, &[]);
    }

    /// An index below a count.
    fn below(&mut self, index: Value, count: u32) -> Value {
        let last = count.saturating_sub(1);
        match self.b.func.const_bits(index).map(|b| b.lane(0) as u32) {
            Some(n) => self.i32(n.min(last)),
            None => {
                let last = self.i32(last);
                self.op(Op::Umin, &[index, last])
            }
        }
    }

    /// A component of a variable as a value of the shader's type.
    fn narrowed(&mut self, v: Value, s: Scalar) -> Lift<Value> {
        let (from, to) = (self.ty(v), s.ty);
        let v = match (from.kind(), to.kind()) {
            (a, b) if a == b => v,
            (Kind::F32, Kind::F16) => self.b.convert(Op::F2f, Flags::NONE, v, to),
            (Kind::I32, Kind::I16) => self.resize(v, to),
            _ => return Err(Stop::Unsupported("components of this type")),
        };
        Ok(self.wrapped(v, s))
    }

    /// A value of the shader as a component of a variable.
    fn widened(&mut self, v: Value, s: Scalar, element: &Element) -> Lift<Value> {
        let (from, to) = (self.ty(v), self.passed_as(element));
        match (from.kind(), to.kind()) {
            (Kind::F32, Kind::F32) | (Kind::F16, Kind::F16) | (Kind::I16, Kind::I16) => Ok(v),
            (Kind::F16, Kind::F32) => Ok(self.b.convert(Op::F2f, Flags::NONE, v, to)),
            (Kind::I32 | Kind::I16, Kind::I32) if element.component == Component::Sint => {
                let v = self.signed(v, s);
                Ok(self.resize_signed(v, to))
            }
            (Kind::I32 | Kind::I16, Kind::I32) => Ok(self.resize(v, to)),
            _ => Err(Stop::Unsupported("components of this type")),
        }
    }

    /// What `f` makes of the row that is meant, if it is known, or of the row among all that is.
    fn of_row(
        &mut self,
        element: &Element,
        row: ValueId,
        f: &mut dyn FnMut(&mut Self, u32) -> Lift<Value>,
    ) -> Lift<Value> {
        if let Ok(row) = self.integer(row) {
            return match u32::try_from(row).ok().filter(|&row| row < element.rows) {
                Some(row) => f(self, row),
                None => Err(Stop::Unsupported("a row that its element has not")),
            };
        }
        let index = self.scalar(row)?;
        let mut v = f(self, 0)?;
        for row in 1..element.rows {
            let number = self.i32(row);
            let here = self.op(Op::IcmpEq, &[index, number]);
            let other = f(self, row)?;
            v = self.b.select(here, other, v);
        }
        Ok(v)
    }

    /// Whether a position or a target of it is a system value, and not for whoever captures a stream.
    fn is_system(&self, element: &Element) -> bool {
        element.stream == 0
            && !matches!(element.semantic, Meaning::Arbitrary)
            // What a vertex shader is given has no other meaning than what the application gives.
            && !(self.ir.stage == Stage::Vertex && element.semantic == Meaning::Target)
    }
}
