//! Stores of outputs. They are gathered in slots and written where the shader returns or emits a vertex; mesh shaders, whose
//! invocations write any vertex, write components at once.

use super::input::{distances, tess_factor};
use super::*;
use xenoglot_ir::{Block, Slot};

/// Components of four streams of 32 registers.
const MOST_COMPONENTS: u32 = 4 * 32 * 4;

/// A row of an output with a slot for each component.
#[derive(Clone, Copy)]
pub(super) struct Output {
    lane: Type,
    slots: [Option<Slot>; 4],
}

/// Components of a vertex's position that a mesh shader has stored in a block.
pub(super) struct Position {
    block: Block,
    vertex: ValueId,
    lanes: [Option<Value>; 4],
}

const APART: Stop = Stop::Unsupported("a position whose components are not stored one after the other");

/// Where a component of an output goes.
pub(super) struct Target {
    pub var: Var,
    /// Of an array of distances or factors, which; behind the vertex.
    pub index: Option<Value>,
}

impl Cx<'_> {
    /// Makes slots of all outputs: a geometry shader emits vertices before the last of its stores is met.
    pub fn declare_outputs(&mut self) -> Lift<()> {
        let elements = self.elements(Signature::Output);
        let count: u32 = elements.iter().map(|e| e.rows * u32::from(e.columns)).sum();
        if count > MOST_COMPONENTS {
            return Err(Stop::Unsupported("more outputs than there are registers"));
        }
        for element in elements {
            for row in 0..element.rows {
                for column in 0..element.columns {
                    self.output_slot(Signature::Output, element, row, column);
                }
            }
        }
        Ok(())
    }

    fn output_slot(&mut self, signature: Signature, element: &Element, row: u32, column: u8) -> Slot {
        let key = (signature, element.id, row);
        let lane = self.passed_as(element);
        let known = self.interface.outputs.get(&key).copied();
        let mut output = known.unwrap_or_else(|| {
            self.interface.order.push(key);
            Output { lane, slots: [None; 4] }
        });
        let prefix = if signature == Signature::Patch { "patch" } else { "out" };
        let slot = &mut output.slots[usize::from(column & 3)];
        if let Some(slot) = *slot {
            return slot;
        }
        let made = self.b.func.add_slot(format!("{prefix}{}_{row}_{column}", element.id), lane);
        *slot = Some(made);
        self.interface.outputs.insert(key, output);
        made
    }

    /// Remembers a component of an output.
    pub fn store_output(&mut self, place: Place, v: ValueId) -> Lift<()> {
        let element = self.signature_element(place)?;
        let s = self.scalar_type_of(v)?;
        let v = self.scalar(v)?;
        let v = self.widened(v, s, element)?;
        // What cannot be written is known here, where it has a name.
        self.output_target(place.signature, element, 0, place.column)?;
        self.of_row(element, place.row, &mut |cx, row| {
            let slot = cx.output_slot(place.signature, element, row, place.column);
            let v = match cx.integer(place.row) {
                Ok(_) => v,
                Err(_) => {
                    let (index, number) = (cx.scalar(place.row)?, cx.i32(row));
                    let here = cx.op(Op::IcmpEq, &[index, number]);
                    let old = cx.inst(Op::SlotGet, Imm::Slot(slot), &[], cx.passed_as(element));
                    cx.b.select(here, v, old)
                }
            };
            cx.b.inst(Op::SlotSet, Flags::NONE, Imm::Slot(slot), &[v], &[]);
            Ok(v)
        })?;
        Ok(())
    }

    /// What was last stored to a component.
    pub(super) fn stored_output(
        &mut self,
        signature: Signature,
        element: &Element,
        row: u32,
        column: u8,
    ) -> Lift<Value> {
        let slot = self.output_slot(signature, element, row, column);
        Ok(self.inst(Op::SlotGet, Imm::Slot(slot), &[], self.passed_as(element)))
    }

    /// Where a component of an output goes.
    pub(super) fn output_target(
        &mut self,
        signature: Signature,
        element: &Element,
        row: u32,
        column: u8,
    ) -> Lift<Target> {
        let stage = self.ir.stage;
        let control = stage == Stage::TessControl;
        let array = match signature {
            Signature::Output if control => Some(self.program.pipeline.patch_vertices.unwrap_or(1)),
            _ => None,
        };
        let patch = match signature {
            Signature::Patch => Interpolation::Patch,
            _ => Interpolation::Smooth,
        };
        let shape = |ty| Shape { array, interpolation: patch, ..Shape::plain(ty) };
        if control
            && signature == Signature::Patch
            && let Some((builtin, elements, index)) = tess_factor(element, row, column)?
        {
            let shape = Shape { array: Some(elements), ..shape(Type::F32) };
            let var = self.builtin_var(Direction::Output, builtin, shape);
            return Ok(Target { var, index: Some(self.i32(index)) });
        }
        let key = Key::Row(signature, element.id, row, 0);
        if let Some(var) = self.declared(key) {
            return Ok(Target { var, index: None });
        }
        let fragment = stage == Stage::Fragment;
        let builtin = match element.semantic {
            _ if !self.is_system(element) => None,
            Meaning::Target if fragment => None,
            Meaning::Depth | Meaning::DepthLessEqual | Meaning::DepthGreaterEqual if fragment => {
                Some((Builtin::FragDepth, Type::F32))
            }
            Meaning::Coverage if fragment => Some((Builtin::SampleMask, Type::I32)),
            Meaning::StencilRef if fragment => Some((Builtin::StencilRef, Type::I32)),
            _ if fragment => return Err(Stop::Unsupported("an output of this kind")),
            Meaning::ClipDistance | Meaning::CullDistance => {
                let elements = self.elements(signature);
                let (index, count) = plane(elements, element, row, column)?;
                let (array, inner) = (array.or(Some(count)), array.map(|_| count));
                let shape = Shape { array, inner, ..shape(Type::F32) };
                let var = self.builtin_var(Direction::Output, distances(element), shape);
                return Ok(Target { var, index: Some(self.i32(index)) });
            }
            Meaning::Position => Some((Builtin::Position, Type::F32X4)),
            Meaning::RenderTargetArrayIndex if !control => Some((Builtin::Layer, Type::I32)),
            Meaning::ViewportArrayIndex if !control => Some((Builtin::ViewportIndex, Type::I32)),
            Meaning::ShadingRate if !control => Some((Builtin::ShadingRate, Type::I32)),
            Meaning::PrimitiveId if stage == Stage::Geometry => Some((Builtin::PrimitiveId, Type::I32)),
            _ => return Err(Stop::Unsupported("an output of this kind")),
        };
        let declared = self.ir.vars.len();
        let var = match builtin {
            Some((builtin, ty)) => self.builtin_var(Direction::Output, builtin, shape(ty)),
            None => {
                let location = self.location(signature, element, row)?;
                let columns = if self.swizzle(element, row).is_some() { 4 } else { element.columns };
                let ty = self.passed_as(element).with_lanes(columns).unwrap_or(Type::F32X4);
                let how = match patch {
                    Interpolation::Smooth if !fragment => interpolation(element)?,
                    how => how,
                };
                let shape = Shape { interpolation: how, stream: element.stream, ..shape(ty) };
                let prefix = if signature == Signature::Patch { "patch" } else { "out" };
                let name = format!("{prefix}{}_{location}_{}", element.id, element.column);
                let semantic = self.located_at(signature, element, row, element.column)?;
                self.variable(key, name, semantic, shape)
            }
        };
        if self.ir.vars.len() > declared && matches!(stage, Stage::Vertex | Stage::TessEval | Stage::Geometry)
        {
            self.capture(element, row, var)?;
        }
        Ok(Target { var, index: None })
    }

    /// Which components a target takes, if it does not take each from its own.
    fn swizzle(&self, element: &Element, row: u32) -> Option<[u8; 4]> {
        let is_target = self.ir.stage == Stage::Fragment && element.semantic == Meaning::Target;
        let first = Some(element.index).filter(|_| is_target)?;
        let target = usize::try_from(first.checked_add(row)?).ok()?;
        let swizzle = self.options.target_swizzles.get(target).copied();
        swizzle.filter(|&swizzle| swizzle != [0, 1, 2, 3])
    }

    /// Captures an output where the remapper wants it.
    fn capture(&mut self, element: &Element, row: u32, var: Var) -> Lift<()> {
        let variable = self.stage_variable(Signature::Output, element, row, element.column)?;
        let wanted = self.remapper.stream_output(self.program.kind, &variable);
        let Some(StreamOutput { buffer, offset, stride }) = wanted else { return Ok(()) };
        let bytes = 4 * u32::from(self.ir.vars[var].ty.lanes());
        let fits = offset.checked_add(bytes).is_some_and(|end| end <= stride);
        if buffer > 3 || offset % 4 != 0 || stride % 4 != 0 || !fits {
            return Err(Stop::Unsupported("captured where no buffer has it"));
        }
        self.ir.captures.push(Capture { var, buffer, offset, stride });
        Ok(())
    }

    /// Writes what was stored to a signature, or to a stream of it.
    pub fn write_outputs(&mut self, signature: Signature, stream: u8) -> Lift<()> {
        let vertex = match (self.ir.stage, signature) {
            (Stage::TessControl, Signature::Output) => Some(self.builtin(Builtin::InvocationId, Type::I32)),
            _ => None,
        };
        let keys: Vec<_> = self.interface.order.iter().filter(|key| key.0 == signature).copied().collect();
        for key in keys {
            let (_, id, row) = key;
            let element = self.elements(signature).iter().find(|e| e.id == id && e.stream == stream);
            let (Some(element), Some(output)) = (element, self.interface.outputs.get(&key).copied()) else {
                continue;
            };
            let mut values = smallvec::SmallVec::<[Value; 4]>::new();
            let mut whole = None;
            for (column, slot) in (0..element.columns).zip(output.slots) {
                let v = match slot {
                    Some(slot) => self.inst(Op::SlotGet, Imm::Slot(slot), &[], output.lane),
                    None => self.constant(output.lane, 0),
                };
                let target = self.output_target(signature, element, row, column)?;
                match target.index {
                    Some(_) if slot.is_none() => {}
                    Some(index) => {
                        let indices: smallvec::SmallVec<[Value; 2]> =
                            vertex.into_iter().chain([index]).collect();
                        self.write(target.var, v, &indices);
                    }
                    None => {
                        whole = Some(target.var);
                        values.push(v);
                    }
                }
            }
            let Some(var) = whole else { continue };
            if let Some(swizzle) = self.swizzle(element, row) {
                let zero = self.constant(output.lane, 0);
                let of = |from: u8| values.get(usize::from(from)).copied().unwrap_or(zero);
                values = swizzle.map(of).into_iter().collect();
            }
            // A position of fewer components ends in 0, 0, 1.
            let lanes = usize::from(self.ir.vars[var].ty.lanes());
            while values.len() < lanes {
                let last = f32::from(u8::from(values.len() == 3)).to_bits();
                values.push(self.constant(output.lane, last.into()));
            }
            values.truncate(lanes);
            let v = if lanes == 1 { values[0] } else { self.op(Op::Build, &values) };
            self.write(var, v, vertex.as_slice());
        }
        Ok(())
    }

    /// A mesh shader's store to a vertex or a primitive.
    pub fn store_mesh(&mut self, place: Place, v: ValueId, vertex: ValueId) -> Lift<()> {
        let element = self.signature_element(place)?;
        let mesh = self.program.pipeline.mesh.ok_or(Stop::Unsupported("in this stage"))?;
        let primitive = place.signature == Signature::Patch;
        let count = if primitive { mesh.max_primitives } else { mesh.max_vertices }.max(1);
        let at = self.scalar(vertex)?;
        let at = self.below(at, count);
        let s = self.scalar_type_of(v)?;
        let v = self.scalar(v)?;
        let v = self.widened(v, s, element)?;
        self.of_row(element, place.row, &mut |cx, row| {
            if cx.integer(place.row).is_err() {
                return Err(Stop::Unsupported("a row that is computed"));
            }
            cx.store_mesh_row(element, place, row, v, (vertex, at), count)?;
            Ok(v)
        })?;
        Ok(())
    }

    fn store_mesh_row(
        &mut self,
        element: &Element,
        place: Place,
        row: u32,
        v: Value,
        (vertex, at): (ValueId, Value),
        count: u32,
    ) -> Lift<()> {
        let Place { signature, column, .. } = place;
        let primitive = signature == Signature::Patch;
        let interpolation = if primitive { Interpolation::PerPrimitive } else { Interpolation::Smooth };
        let shape = |ty| Shape { interpolation, array: Some(count), ..Shape::plain(ty) };
        let (var, v, index) = match element.semantic {
            Meaning::Position if !primitive => {
                let Some(v) = self.whole_position(vertex, column, v)? else { return Ok(()) };
                let var = self.builtin_var(Direction::Output, Builtin::Position, shape(Type::F32X4));
                (var, v, None)
            }
            Meaning::ClipDistance | Meaning::CullDistance if !primitive => {
                let (index, planes) = plane(self.elements(signature), element, row, column)?;
                let shape = Shape { inner: Some(planes), ..shape(Type::F32) };
                let var = self.builtin_var(Direction::Output, distances(element), shape);
                (var, v, Some(self.i32(index)))
            }
            Meaning::CullPrimitive if primitive => {
                let var = self.builtin_var(Direction::Output, Builtin::CullPrimitive, shape(Type::BOOL));
                let zero = self.i32(0);
                (var, self.op(Op::IcmpNe, &[v, zero]), None)
            }
            Meaning::Arbitrary => {
                let location = self.location(signature, element, row)?;
                let name = format!("out{}_{location}_{}", element.id, element.column + column);
                let semantic = self.located_at(signature, element, row, element.column + column)?;
                let key = Key::Row(signature, element.id, row, column);
                (self.variable(key, name, semantic, shape(self.passed_as(element))), v, None)
            }
            meaning => {
                let builtin = match meaning {
                    Meaning::PrimitiveId => Builtin::PrimitiveId,
                    Meaning::RenderTargetArrayIndex => Builtin::Layer,
                    Meaning::ViewportArrayIndex => Builtin::ViewportIndex,
                    Meaning::ShadingRate => Builtin::ShadingRate,
                    _ => return Err(Stop::Unsupported("an output of this kind")),
                };
                if !primitive {
                    return Err(Stop::Unsupported("an output of this kind"));
                }
                (self.builtin_var(Direction::Output, builtin, shape(Type::I32)), v, None)
            }
        };
        let indices: smallvec::SmallVec<[Value; 2]> = [at].into_iter().chain(index).collect();
        self.write(var, v, &indices);
        Ok(())
    }

    /// The position of a vertex when its last component is stored: hosts take positions whole, and nobody reads a mesh's
    /// outputs back.
    fn whole_position(&mut self, vertex: ValueId, column: u8, v: Value) -> Lift<Option<Value>> {
        let block = self.b.block();
        let mut gathered =
            self.interface.position.take().unwrap_or(Position { block, vertex, lanes: [None; 4] });
        if (gathered.block, gathered.vertex) != (block, vertex) {
            return Err(APART);
        }
        gathered.lanes[usize::from(column & 3)] = Some(v);
        match gathered.lanes {
            [Some(x), Some(y), Some(z), Some(w)] => Ok(Some(self.op(Op::Build, &[x, y, z, w]))),
            _ => {
                self.interface.position = Some(gathered);
                Ok(None)
            }
        }
    }

    /// Whether all positions were stored whole.
    pub fn positions_are_whole(&self) -> Lift<()> {
        if self.interface.position.is_some() { Err(APART) } else { Ok(()) }
    }

    /// The vertices of a mesh's primitive.
    pub fn store_indices(&mut self, primitive: ValueId, vertices: [ValueId; 3]) -> Lift<()> {
        let mesh = self.program.pipeline.mesh.ok_or(Stop::Unsupported("in this stage"))?;
        let count = mesh.max_primitives.max(1);
        let primitive = self.scalar(primitive)?;
        let primitive = self.below(primitive, count);
        let lanes = mesh.primitive_vertices.clamp(1, 3) as u8;
        let mut values = Vec::new();
        for &vertex in &vertices[..usize::from(lanes)] {
            values.push(self.scalar(vertex)?);
        }
        let ty = Type::I32.with_lanes(lanes).unwrap_or(Type::I32);
        let shape = Shape { array: Some(count), ..Shape::plain(ty) };
        let var = self.builtin_var(Direction::Output, Builtin::PrimitiveIndices, shape);
        let v = if lanes == 1 { values[0] } else { self.op(Op::Build, &values) };
        self.write(var, v, &[primitive]);
        Ok(())
    }
}
