//! Loads of inputs.

use super::*;

/// How an input is evaluated elsewhere than where the shader runs.
#[derive(Clone, Copy)]
pub(in crate::lift) enum At {
    /// At the centroid of what is covered.
    Centroid,
    /// At a sample.
    Sample(Value),
    /// At an offset from the pixel's centre, two floats.
    Offset(Value),
}

impl Cx<'_> {
    /// A component of an input: of a vertex where there are several.
    pub fn load_input(&mut self, place: Place, vertex: ValueId, s: Scalar) -> Lift<Value> {
        let element = self.signature_element(place)?;
        let vertex = match self.input_vertices() {
            Some(count) => {
                let vertex = self.scalar(vertex)?;
                Some(self.below(vertex, count))
            }
            None => None,
        };
        let v =
            self.of_row(element, place.row, &mut |cx, row| cx.input(element, row, place.column, vertex))?;
        self.narrowed(v, s)
    }

    /// Vertices that each input is given of; none where there is one.
    fn input_vertices(&self) -> Option<u32> {
        match self.ir.stage {
            Stage::TessControl | Stage::TessEval => Some(self.program.input_points.max(1)),
            Stage::Geometry => Some(self.program.pipeline.geometry.map_or(1, |g| g.input_vertices)),
            _ => None,
        }
    }

    /// Elements of the arrays of inputs.
    fn input_array(&self) -> Option<u32> {
        match self.ir.stage {
            Stage::TessControl | Stage::TessEval => Some(MOST_POINTS),
            _ => self.input_vertices(),
        }
    }

    fn input(&mut self, element: &Element, row: u32, column: u8, vertex: Option<Value>) -> Lift<Value> {
        let fragment = self.ir.stage == Stage::Fragment;
        Ok(match element.semantic {
            Meaning::Position if fragment => {
                let position = self.builtin(Builtin::FragCoord, Type::F32X4);
                let v = self.b.extract(position, column);
                match column {
                    // Direct3D has w here, and Vulkan its reciprocal.
                    3 => {
                        let one = self.f32(1.0);
                        self.op(Op::Fdiv, &[one, v])
                    }
                    _ => v,
                }
            }
            Meaning::Position if vertex.is_some() => {
                let shape = Shape { array: self.input_array(), ..Shape::plain(Type::F32X4) };
                let var = self.builtin_var(Direction::Input, Builtin::Position, shape);
                let v = self.read(Op::Input, var, vertex.as_slice());
                self.b.extract(v, column)
            }
            Meaning::ClipDistance | Meaning::CullDistance if fragment || vertex.is_some() => {
                let (index, count) = plane(&self.program.inputs, element, row, column)?;
                let array = self.input_array();
                let (array, inner) = (array.or(Some(count)), array.map(|_| count));
                let shape = Shape { array, inner, ..Shape::plain(Type::F32) };
                let var = self.builtin_var(Direction::Input, distances(element), shape);
                let index = self.i32(index);
                let indices: smallvec::SmallVec<[Value; 2]> = vertex.into_iter().chain([index]).collect();
                self.read(Op::Input, var, &indices)
            }
            // Direct3D counts from the first vertex and instance of the draw, and Vulkan from those of the buffers.
            Meaning::VertexId if self.ir.stage == Stage::Vertex => {
                let vertex = self.builtin(Builtin::VertexIndex, Type::I32);
                let base = self.builtin(Builtin::BaseVertex, Type::I32);
                self.op(Op::Isub, &[vertex, base])
            }
            Meaning::VertexId if !fragment => self.builtin(Builtin::VertexIndex, Type::I32),
            Meaning::InstanceId if self.ir.stage == Stage::Vertex => {
                let instance = self.builtin(Builtin::InstanceIndex, Type::I32);
                let base = self.builtin(Builtin::BaseInstance, Type::I32);
                self.op(Op::Isub, &[instance, base])
            }
            Meaning::IsFrontFace if fragment => {
                let front = self.builtin(Builtin::FrontFacing, Type::BOOL);
                self.b.convert(Op::Sext, Flags::NONE, front, Type::I32)
            }
            Meaning::PrimitiveId if fragment => self.builtin(Builtin::PrimitiveId, Type::I32),
            Meaning::SampleIndex if fragment => self.builtin(Builtin::SampleId, Type::I32),
            Meaning::RenderTargetArrayIndex if fragment => self.builtin(Builtin::Layer, Type::I32),
            Meaning::ViewportArrayIndex if fragment => self.builtin(Builtin::ViewportIndex, Type::I32),
            Meaning::ShadingRate if fragment => self.builtin(Builtin::ShadingRate, Type::I32),
            Meaning::Barycentrics if fragment => {
                use Interpolation as I;
                let interpolation = interpolation(element)?;
                let builtin = match interpolation {
                    I::Linear | I::LinearCentroid | I::LinearSample => Builtin::BaryCoordLinear,
                    _ => Builtin::BaryCoord,
                };
                let shape = Shape { interpolation, ..Shape::plain(Type::F32X3) };
                let var = self.builtin_var(Direction::Input, builtin, shape);
                let v = self.read(Op::Input, var, &[]);
                self.b.extract(v, column)
            }
            Meaning::Arbitrary => self.located(element, row, column, vertex)?,
            _ if self.ir.stage == Stage::Vertex => self.located(element, row, column, vertex)?,
            _ => return Err(Stop::Unsupported("an input of this kind")),
        })
    }

    fn located(&mut self, element: &Element, row: u32, column: u8, vertex: Option<Value>) -> Lift<Value> {
        let var = self.located_var(element, row)?;
        let first = self.i32(0);
        let vertex = match self.ir.vars[var].interpolation {
            Interpolation::PerVertex => vertex.or(Some(first)),
            _ => vertex,
        };
        let v = match vertex {
            Some(vertex) => self.read(Op::Input, var, &[vertex]),
            None => self.read_once(var),
        };
        Ok(if self.ty(v).is_scalar() { v } else { self.b.extract(v, column) })
    }

    fn located_var(&mut self, element: &Element, row: u32) -> Lift<Var> {
        let key = Key::Row(Signature::Input, element.id, row, 0);
        if let Some(var) = self.declared(key) {
            return Ok(var);
        }
        let location = self.location(Signature::Input, element, row)?;
        let ty = self.passed_as(element).with_lanes(element.columns).unwrap_or(Type::F32X4);
        let fragment = self.ir.stage == Stage::Fragment;
        let how = if fragment { interpolation(element)? } else { Interpolation::Flat };
        let per_primitive = self.options.primitive_inputs >> location.min(63) & 1 != 0;
        let (interpolation, array) = match how {
            _ if fragment && per_primitive => (Interpolation::PerPrimitive, None),
            Interpolation::Flat if fragment && self.interface.per_vertex => {
                (Interpolation::PerVertex, Some(3))
            }
            how => (how, self.input_array()),
        };
        let shape = Shape { interpolation, array, ..Shape::plain(ty) };
        let name = format!("in{}_{location}_{}", element.id, element.column);
        let semantic = self.located_at(Signature::Input, element, row, element.column)?;
        Ok(self.variable(key, name, semantic, shape))
    }

    /// A component of an input that is not interpolated, of one of the primitive's vertices.
    pub fn attribute_at_vertex(&mut self, place: Place, vertex: ValueId, s: Scalar) -> Lift<Value> {
        let element = self.signature_element(place)?;
        let vertex = self.scalar(vertex)?;
        let vertex = self.resize(vertex, Type::I32);
        let vertex = self.below(vertex, 3);
        let v = self.of_row(element, place.row, &mut |cx, row| {
            let var = cx.located_var(element, row)?;
            match cx.ir.vars[var].interpolation {
                Interpolation::PerVertex => cx.located(element, row, place.column, Some(vertex)),
                _ => Err(Stop::Unsupported("an attribute that is interpolated")),
            }
        })?;
        self.narrowed(v, s)
    }

    /// A component of an input where something else is.
    pub fn evaluate(&mut self, place: Place, at: At, s: Scalar) -> Lift<Value> {
        let element = self.signature_element(place)?;
        let v = self.of_row(element, place.row, &mut |cx, row| {
            let interpolated = element.component == Component::Float
                && element.semantic == Meaning::Arbitrary
                && interpolation(element)? != Interpolation::Flat;
            if !interpolated {
                return cx.input(element, row, place.column, None);
            }
            let var = cx.located_var(element, row)?;
            let ty = cx.ir.vars[var].ty;
            let v = match at {
                At::Centroid => cx.inst(Op::InterpolateCentroid, Imm::Var(var), &[], ty),
                At::Sample(sample) => cx.inst(Op::InterpolateSample, Imm::Var(var), &[sample], ty),
                At::Offset(offset) => cx.inst(Op::InterpolateOffset, Imm::Var(var), &[offset], ty),
            };
            Ok(if ty.is_scalar() { v } else { cx.b.extract(v, place.column) })
        })?;
        self.narrowed(v, s)
    }

    /// A component of what is known of the patch as a whole: in a hull shader, what it has stored so far.
    pub fn load_patch(&mut self, place: Place, s: Scalar) -> Lift<Value> {
        let element = self.signature_element(place)?;
        let v = self.of_row(element, place.row, &mut |cx, row| match cx.ir.stage {
            Stage::TessControl => cx.stored_output(Signature::Patch, element, row, place.column),
            Stage::TessEval => cx.patch_input(element, row, place.column),
            _ => Err(Stop::Unsupported("values of patches in this stage")),
        })?;
        self.narrowed(v, s)
    }

    fn patch_input(&mut self, element: &Element, row: u32, column: u8) -> Lift<Value> {
        if let Some((builtin, elements, index)) = tess_factor(element, row, column)? {
            let shape = Shape {
                interpolation: Interpolation::Patch,
                array: Some(elements),
                ..Shape::plain(Type::F32)
            };
            let var = self.builtin_var(Direction::Input, builtin, shape);
            let index = self.i32(index);
            return Ok(self.read(Op::Input, var, &[index]));
        }
        let location = self.location(Signature::Patch, element, row)?;
        let ty = self.passed_as(element).with_lanes(element.columns).unwrap_or(Type::F32X4);
        let shape = Shape { interpolation: Interpolation::Patch, ..Shape::plain(ty) };
        let name = format!("patch{}_{location}_{}", element.id, element.column);
        let semantic = self.located_at(Signature::Patch, element, row, element.column)?;
        let var = self.variable(Key::Row(Signature::Patch, element.id, row, 0), name, semantic, shape);
        let v = self.read(Op::Input, var, &[]);
        Ok(if ty.is_scalar() { v } else { self.b.extract(v, column) })
    }

    /// A component of an output of another invocation of a hull shader.
    pub fn load_control_point(&mut self, place: Place, vertex: ValueId, s: Scalar) -> Lift<Value> {
        let element = self.signature_element(place)?;
        let vertex = self.scalar(vertex)?;
        let count = self.program.pipeline.patch_vertices.unwrap_or(1);
        let vertex = self.below(vertex, count);
        let v = self.of_row(element, place.row, &mut |cx, row| {
            let target = cx.output_target(Signature::Output, element, row, place.column)?;
            let indices: smallvec::SmallVec<[Value; 2]> = [vertex].into_iter().chain(target.index).collect();
            let v = cx.read(Op::OutputGet, target.var, &indices);
            Ok(if cx.ty(v).is_scalar() { v } else { cx.b.extract(v, place.column) })
        })?;
        self.narrowed(v, s)
    }
}

/// The builtin of clip or cull distances.
pub(super) fn distances(element: &Element) -> Builtin {
    match element.semantic {
        Meaning::CullDistance => Builtin::CullDistance,
        _ => Builtin::ClipDistance,
    }
}

/// Builtin, elements and index of a tessellation factor.
pub(super) fn tess_factor(element: &Element, row: u32, column: u8) -> Lift<Option<(Builtin, u32, u32)>> {
    let (builtin, elements) = match element.semantic {
        Meaning::TessFactor => (Builtin::TessLevelOuter, 4),
        Meaning::InsideTessFactor => (Builtin::TessLevelInner, 2),
        _ => return Ok(None),
    };
    let index = row * u32::from(element.columns) + u32::from(column);
    match index < elements {
        true => Ok(Some((builtin, elements, index))),
        false => Err(Stop::Unsupported("more tessellation factors than there are edges")),
    }
}
