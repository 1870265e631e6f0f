//! Inputs and outputs of graphics stages: variables at the locations of their registers, and builtins.
//!
//! Both sides of a pipeline have a register for the same thing, so that locations agree where Direct3D's signatures do.
//! Outputs are gathered in slots and written where the shader returns. Numbers of vertices are the host's, which count
//! from the first vertex of the buffer and not of the draw.

use super::cx::Cx;
use super::{Lift, Stop};
use crate::program::{Component, Element, Semantic as Meaning};
use rustc_hash::FxHashMap;
use xenoglot_ir::module::{Builtin, Direction, Interpolation, Semantic, VarData};
use xenoglot_ir::{Flags, Imm, Op, Slot, Stage, Type, Value, Var};

/// Variables by element and row.
#[derive(Default)]
pub(super) struct Interface {
    inputs: FxHashMap<(u32, u32), Var>,
    outputs: FxHashMap<(u32, u32), Output>,
    /// Outputs in the order in which they were met.
    order: Vec<(u32, u32)>,
}

/// An output with a slot for each component.
#[derive(Clone, Copy)]
struct Output {
    var: Var,
    ty: Type,
    slots: [Option<Slot>; 4],
}

fn scalar(component: Component) -> Type {
    match component {
        Component::Float => Type::F32,
        Component::Sint | Component::Uint => Type::I32,
    }
}

fn interpolation(element: &Element) -> Lift<Interpolation> {
    Ok(match element.interpolation {
        0 | 1 => Interpolation::Flat,
        2 => Interpolation::Smooth,
        4 => Interpolation::Linear,
        _ => return Err(Stop::Unsupported("interpolation at centroids or samples")),
    })
}

impl Cx<'_> {
    /// A component of an input.
    pub fn load_input(&mut self, id: u32, row: u32, column: u8, ty: Type) -> Lift<Value> {
        let program = self.program;
        let element = program.inputs.iter().find(|e| e.id == id).ok_or(Stop::Unsupported("its element"))?;
        if row >= element.rows || column >= element.columns {
            return Err(Stop::Unsupported("a component that its element has not"));
        }
        let fragment = self.ir.stage == Stage::Fragment;
        let v = match (element.semantic, fragment) {
            (Meaning::Position, true) => {
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
            (Meaning::VertexId, false) => self.builtin(Builtin::VertexIndex, Type::I32),
            (Meaning::InstanceId, false) => {
                let instance = self.builtin(Builtin::InstanceIndex, Type::I32);
                let base = self.builtin(Builtin::BaseInstance, Type::I32);
                self.op(Op::Isub, &[instance, base])
            }
            (Meaning::IsFrontFace, true) => {
                let front = self.builtin(Builtin::FrontFacing, Type::BOOL);
                self.b.convert(Op::Sext, Flags::NONE, front, Type::I32)
            }
            (Meaning::PrimitiveId, true) => self.builtin(Builtin::PrimitiveId, Type::I32),
            (Meaning::SampleIndex, true) => self.builtin(Builtin::SampleId, Type::I32),
            (Meaning::Arbitrary, _) | (_, false) => self.located(element, row, column, fragment)?,
            _ => return Err(Stop::Unsupported("an input of this kind")),
        };
        match self.ty(v) == ty {
            true => Ok(v),
            false => Err(Stop::Unsupported("components of this type")),
        }
    }

    fn located(&mut self, element: &Element, row: u32, column: u8, fragment: bool) -> Lift<Value> {
        let first = element.row.ok_or(Stop::Unsupported("an element without a register"))?;
        let ty = scalar(element.component).with_lanes(element.columns).unwrap_or(Type::F32X4);
        let interpolation = if fragment { interpolation(element)? } else { Interpolation::Flat };
        let ir = &mut *self.ir;
        let var = *self.interface.inputs.entry((element.id, row)).or_insert_with(|| {
            ir.vars.push(VarData {
                name: format!("in{}_{}_{}", element.id, first + row, element.column),
                direction: Direction::Input,
                ty,
                semantic: Semantic::Location { location: first + row, component: element.column },
                interpolation,
                array: None,
                inner: None,
                stream: 0,
            })
        });
        let v = self.b.input(var, ty);
        Ok(if ty.is_scalar() { v } else { self.b.extract(v, column) })
    }

    /// Remembers a component of an output.
    pub fn store_output(&mut self, id: u32, row: u32, column: u8, v: Value) -> Lift<()> {
        let program = self.program;
        let element = program.outputs.iter().find(|e| e.id == id).ok_or(Stop::Unsupported("its element"))?;
        if row >= element.rows || column >= element.columns {
            return Err(Stop::Unsupported("a component that its element has not"));
        }
        let known = self.interface.outputs.get(&(id, row)).copied();
        let mut output = match known {
            Some(output) => output,
            None => {
                let output = self.output(element, row)?;
                self.interface.order.push((id, row));
                output
            }
        };
        if output.ty.lane() != self.ty(v) || column >= output.ty.lanes() {
            return Err(Stop::Unsupported("components of this type"));
        }
        let name = format!("out{id}_{row}_{column}");
        let slot = &mut output.slots[usize::from(column)];
        let slot = *slot.get_or_insert_with(|| self.b.func.add_slot(name, output.ty.lane()));
        self.interface.outputs.insert((id, row), output);
        self.b.inst(Op::SlotSet, Flags::NONE, Imm::Slot(slot), &[v], &[]);
        Ok(())
    }

    fn output(&mut self, element: &Element, row: u32) -> Lift<Output> {
        let fragment = self.ir.stage == Stage::Fragment;
        let builtin = match (element.semantic, fragment) {
            (Meaning::Position, false) => Some((Builtin::Position, Type::F32X4)),
            (Meaning::RenderTargetArrayIndex, false) => Some((Builtin::Layer, Type::I32)),
            (Meaning::ViewportArrayIndex, false) => Some((Builtin::ViewportIndex, Type::I32)),
            (Meaning::Depth, true) => Some((Builtin::FragDepth, Type::F32)),
            (Meaning::Coverage, true) => Some((Builtin::SampleMask, Type::I32)),
            (Meaning::Arbitrary, false) | (Meaning::Target, true) => None,
            _ => return Err(Stop::Unsupported("an output of this kind")),
        };
        let (semantic, ty) = match builtin {
            Some((builtin, ty)) => (Semantic::Builtin(builtin), ty),
            None => {
                let first = element.row.ok_or(Stop::Unsupported("an element without a register"))?;
                let ty = scalar(element.component).with_lanes(element.columns).unwrap_or(Type::F32X4);
                (Semantic::Location { location: first + row, component: element.column }, ty)
            }
        };
        let var = self.ir.vars.push(VarData {
            name: format!("out{}_{row}", element.id),
            direction: Direction::Output,
            ty,
            semantic,
            interpolation: if fragment { Interpolation::Smooth } else { interpolation(element)? },
            array: None,
            inner: None,
            stream: 0,
        });
        Ok(Output { var, ty, slots: [None; 4] })
    }

    /// Writes the outputs, where the shader returns; those of blocks that come later in the order are met there.
    pub fn write_outputs(&mut self) {
        for key in self.interface.order.clone() {
            let Some(output) = self.interface.outputs.get(&key).copied() else { continue };
            let lanes = usize::from(output.ty.lanes());
            let values: Vec<Value> = output.slots[..lanes]
                .iter()
                .map(|slot| match slot {
                    Some(slot) => self.inst(Op::SlotGet, Imm::Slot(*slot), &[], output.ty.lane()),
                    None => self.constant(output.ty.lane(), 0),
                })
                .collect();
            let v = if lanes == 1 { values[0] } else { self.op(Op::Build, &values) };
            self.b.output(output.var, v);
        }
    }
}
