//! Variables between the stages: attributes by their place in the attribute space.
//!
//! A component of a location is a variable of its own: the guest reads and writes components, and stages lifted apart
//! agree without knowing each other. Before the rasteriser what is written is kept in slots, put out where the
//! invocation ends or emits a vertex; tessellation control shaders, whose invocations see each other's outputs, write
//! at once.

use super::Unsupported;
use super::cx::{Cx, Lift};
use super::viewports::{VIEWPORT_MASK, Viewports};
use crate::gpu::GpuAccessor;
use crate::inst::{Inst, RZ, Role, Value as Named};
use crate::modifier::Mod;
use crate::opcode::Opcode;
use crate::sph::{AttributeMap, Interpolation as Sampling, Maps, Sph, Stage};
use std::collections::{BTreeMap, BTreeSet};
use xenoglot_ir::module::{Builtin, Direction, Interpolation, Semantic, Texel, VarData};
use xenoglot_ir::{Flags, Imm, Op, Slot, Type, Value, Var};

/// Vertices of the largest input patch.
pub(super) const MAX_PATCH: u32 = 32;

/// Clip distances there are.
const CLIP_DISTANCES: u32 = 8;

/// Where a word of the attribute space goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// A component of a location.
    Location { location: u32, component: u8 },
    /// A lane of a builtin, or an element of one that is an array.
    Builtin(Builtin, u8),
}

/// A variable by what it is connected to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Key {
    Location { output: bool, patch: bool, location: u32, component: u8 },
    Builtin { output: bool, builtin: Builtin },
}

/// What the lifter knows of the pipeline around the program.
pub(super) struct Io<'a> {
    pub gpu: &'a dyn GpuAccessor,
    /// The header; compute kernels have none.
    pub sph: Option<Sph>,
    /// Invocations of a tessellation control shader are to wait for each other where control first divides: another
    /// one's outputs are read, which the guest's lock step allows.
    pub wait: bool,
    vars: BTreeMap<Key, Var>,
    /// What is to be put out, by byte offset.
    outputs: BTreeMap<u32, Slot>,
    /// Words that a passthrough shader takes from the input's vertices.
    pub passed: Vec<u32>,
    /// What the program before this one has put out, which is this one's input.
    previous: Option<BTreeMap<u32, Slot>>,
}

impl<'a> Io<'a> {
    pub fn new(gpu: &'a dyn GpuAccessor, sph: Option<Sph>) -> Io<'a> {
        let (vars, outputs, passed) = Default::default();
        Io { gpu, sph, wait: false, vars, outputs, passed, previous: None }
    }

    /// The stage; none of a compute kernel.
    pub fn stage(&self) -> Option<Stage> {
        self.sph.map(|sph| sph.stage)
    }

    fn maps(&self) -> Option<(AttributeMap, AttributeMap)> {
        match self.sph?.maps {
            Maps::Vtg { inputs, outputs } => Some((inputs, outputs)),
            Maps::Pixel { .. } => None,
        }
    }

    /// Where the word at a byte offset goes; none if nowhere.
    pub fn place(&self, offset: u32, patch: bool) -> Option<Place> {
        let generic = |first: u32, base: u32| Place::Location {
            location: first + (offset - base) / 16,
            component: (offset / 4 % 4) as u8,
        };
        let word = |base: u32| ((offset - base) / 4) as u8;
        let legacy = || self.gpu.legacy_location();
        Some(match offset {
            0x000..0x010 if patch => Place::Builtin(Builtin::TessLevelOuter, word(0)),
            0x010..0x018 if patch => Place::Builtin(Builtin::TessLevelInner, word(0x010)),
            0x020..0x220 if patch => generic(0, 0x020),
            _ if patch => return None,
            0x060 => Place::Builtin(Builtin::PrimitiveId, 0),
            0x064 => Place::Builtin(Builtin::Layer, 0),
            0x068 => Place::Builtin(Builtin::ViewportIndex, 0),
            0x06c => Place::Builtin(Builtin::PointSize, 0),
            0x070..0x080 => Place::Builtin(Builtin::Position, word(0x070)),
            0x080..0x280 => generic(0, 0x080),
            0x280..0x2c0 => generic(legacy(), 0x280),
            0x2c0..0x2e0 => Place::Builtin(Builtin::ClipDistance, word(0x2c0)),
            0x2e0..0x2e8 => Place::Builtin(Builtin::PointCoord, word(0x2e0)),
            0x2e8 => Place::Location { location: legacy() + 4, component: 0 },
            0x2f0..0x2f8 => Place::Builtin(Builtin::TessCoord, word(0x2f0)),
            0x2f8 => Place::Builtin(Builtin::InstanceIndex, 0),
            0x2fc => Place::Builtin(Builtin::VertexIndex, 0),
            0x300..0x3a0 => generic(legacy() + 5, 0x300),
            VIEWPORT_MASK => Place::Builtin(Builtin::ViewportMask, 0),
            0x3fc => Place::Builtin(Builtin::FrontFacing, 0),
            _ => return None,
        })
    }

    /// Words that an access by register may mean: those of the header's map.
    pub fn candidates(&self, output: bool) -> Vec<u32> {
        let words = (0..0x400).step_by(4);
        match (self.sph, self.maps()) {
            (_, Some((inputs, outputs))) => {
                let map = if output { outputs } else { inputs };
                words.filter(|&w| map.has(w)).collect()
            }
            (Some(sph), None) => words
                .filter(|w| (0x080..0x280).contains(w))
                .filter(|w| sph.interpolation((w - 0x80) / 16, w / 4 % 4) != Sampling::Unused)
                .collect(),
            (None, None) => Vec::new(),
        }
    }
}

/// Byte offset and index register of an attribute operand.
pub(super) fn attribute(inst: &Inst) -> Lift<(i32, u8)> {
    match inst.operand(Role::Address).map(|o| o.value) {
        Some(Named::Attr { offset, index }) => Ok((offset, index)),
        _ => Err(Unsupported),
    }
}

/// Byte offsets of the words an attribute access is of, if no register is in it.
pub fn words_of(inst: &Inst) -> impl Iterator<Item = u32> {
    let offset = attribute(inst).ok().filter(|a| a.1 == RZ).and_then(|a| u32::try_from(a.0).ok());
    let count = u32::from(inst.modifier(Mod::AttrSize)).clamp(1, 4);
    offset.into_iter().flat_map(move |offset| (0..count).map(move |i| offset + 4 * i))
}

/// Whether the program keeps outputs in slots.
fn keeps_outputs(stage: Option<Stage>) -> bool {
    matches!(stage, Some(Stage::Vertex | Stage::TessEval | Stage::Geometry))
}

impl Cx<'_> {
    /// Makes slots for what the instructions write, and notes whether invocations have to wait for each other.
    pub fn prepare_outputs<'i>(&mut self, insts: impl Iterator<Item = &'i Inst> + Clone, prefix: &str) {
        let stage = self.io.stage();
        self.io.wait = stage == Some(Stage::TessControl)
            && insts.clone().any(|i| i.op == Opcode::Ald && i.has(Mod::Output) && !i.has(Mod::Patch));
        if !keeps_outputs(stage) {
            return;
        }
        let stores = insts.filter(|i| i.op == Opcode::Ast && !i.has(Mod::Patch));
        let mut words = BTreeSet::new();
        for inst in stores {
            if attribute(inst).is_ok_and(|a| a.1 != RZ) {
                words.extend(self.io.candidates(true));
            }
            words.extend(words_of(inst).filter(|&w| self.io.place(w, false).is_some()));
        }
        if self.io.sph.is_some_and(|sph| sph.geometry_passthrough) {
            self.io.passed = self.io.candidates(false).into_iter().filter(|w| !words.contains(w)).collect();
            words.extend(&self.io.passed);
        }
        for word in words {
            let slot = self.b.func.add_slot(format!("{prefix}out_{word:x}"), Type::I32);
            self.io.outputs.insert(word, slot);
        }
    }

    /// What was put out becomes what the next program takes in.
    pub fn pass_outputs_on(&mut self) {
        self.io.previous = Some(std::mem::take(&mut self.io.outputs));
    }

    /// The slot of an output.
    pub fn output_slot(&self, word: u32) -> Option<Slot> {
        self.io.outputs.get(&word).copied()
    }

    /// Sets an output, if it goes anywhere.
    pub fn set_output(&mut self, word: u32, v: Value) {
        if let Some(slot) = self.output_slot(word) {
            self.b.slot_set(slot, v);
        }
    }

    fn variable(&mut self, key: Key, data: impl FnOnce(&Self) -> VarData) -> Var {
        if let Some(&var) = self.io.vars.get(&key) {
            return var;
        }
        let data = data(self);
        let var = self.module.vars.push(data);
        self.io.vars.insert(key, var);
        var
    }

    /// The variable of a component of a location.
    pub fn location(
        &mut self,
        output: bool,
        patch: bool,
        location: u32,
        component: u8,
        how: (Type, Interpolation, Option<u32>),
    ) -> Var {
        self.variable(Key::Location { output, patch, location, component }, |_| VarData {
            name: format!(
                "{}{}{location}_{}",
                if patch { "patch_" } else { "" },
                if output { "out" } else { "in" },
                ["x", "y", "z", "w"][usize::from(component & 3)]
            ),
            direction: if output { Direction::Output } else { Direction::Input },
            ty: how.0,
            semantic: Semantic::Location { location, component },
            interpolation: if patch { Interpolation::Patch } else { how.1 },
            array: how.2,
            inner: None,
            stream: 0,
        })
    }

    /// The variable of a builtin.
    pub fn builtin_var(&mut self, output: bool, builtin: Builtin, ty: Type, array: Option<u32>) -> Var {
        let patch = matches!(builtin, Builtin::TessLevelOuter | Builtin::TessLevelInner);
        self.variable(Key::Builtin { output, builtin }, |_| VarData {
            name: format!("{}{}", if output { "out_" } else { "" }, builtin.name()),
            direction: if output { Direction::Output } else { Direction::Input },
            ty,
            semantic: Semantic::Builtin(builtin),
            interpolation: if patch { Interpolation::Patch } else { Interpolation::Flat },
            array,
            inner: None,
            stream: 0,
        })
    }

    /// Reads a variable; an array at an index.
    pub fn read(&mut self, op: Op, var: Var, index: Option<Value>) -> Value {
        let ty = self.module.vars[var].ty;
        let args: smallvec::SmallVec<[Value; 1]> = index.into_iter().collect();
        let inst = self.b.inst(op, Flags::NONE, Imm::Var(var), &args, &[ty]);
        self.b.func.results(inst)[0]
    }

    /// Writes a variable; an array at an index.
    pub fn write(&mut self, var: Var, v: Value, index: Option<Value>) {
        let ty = self.module.vars[var].ty;
        let v = self.cast(v, ty);
        let args: smallvec::SmallVec<[Value; 2]> = std::iter::once(v).chain(index).collect();
        self.b.inst(Op::Output, Flags::NONE, Imm::Var(var), &args, &[]);
    }

    /// Vertices of a primitive or patch that go in.
    pub fn input_vertices(&self) -> u32 {
        match self.io.stage() {
            Some(Stage::Geometry) => self.io.gpu.input_primitive().vertices(),
            _ => MAX_PATCH,
        }
    }

    /// An invocation's number in its patch or primitive.
    pub fn invocation(&mut self) -> Value {
        let host = self.builtin(Builtin::InvocationId, Type::I32);
        match self.viewports() {
            Some(Viewports::Invocations) => self.guest_invocation(host),
            _ => host,
        }
    }

    /// A vertex's number kept below `count`.
    fn vertex_index(&mut self, vertex: Value, count: u32) -> Value {
        let last = self.number(count.saturating_sub(1));
        self.op(Op::Umin, &[vertex, last])
    }

    /// A word of the input of stages before the rasteriser, of a vertex where there are several.
    pub fn read_input(&mut self, word: u32, patch: bool, vertex: Option<Value>) -> Lift<Value> {
        if let Some(previous) = &self.io.previous
            && !matches!(word, 0x2f8 | 0x2fc)
        {
            let slot = previous.get(&word).copied();
            return Ok(match slot {
                Some(slot) => self.b.slot_get(slot),
                None => self.zero(),
            });
        }
        let stage = self.io.stage().ok_or(Unsupported)?;
        let place = self.io.place(word, patch).ok_or(Unsupported)?;
        let many = stage != Stage::Vertex && !patch;
        let count = self.input_vertices();
        let v = match place {
            Place::Location { location, component } if !many => {
                let texel = if patch { Texel::Float } else { self.io.gpu.vertex_attribute(location) };
                let ty = if texel == Texel::Float { Type::F32 } else { Type::I32 };
                let how = (ty, Interpolation::Flat, None);
                let var = self.location(false, patch, location, component, how);
                let v = self.read(Op::Input, var, None);
                let scaled =
                    texel != Texel::Float && stage == Stage::Vertex && self.io.gpu.scaled_attribute(location);
                match texel {
                    Texel::Sint if scaled => self.convert(Op::S2f, v, Type::F32),
                    Texel::Uint if scaled => self.convert(Op::U2f, v, Type::F32),
                    _ => v,
                }
            }
            Place::Location { location, component } => {
                let how = (Type::F32, Interpolation::Smooth, Some(count));
                let var = self.location(false, false, location, component, how);
                let index = self.own_vertex(vertex, count);
                self.read(Op::Input, var, Some(index))
            }
            Place::Builtin(Builtin::Position, lane) if many => {
                let var = self.builtin_var(false, Builtin::Position, Type::F32X4, Some(count));
                let index = self.own_vertex(vertex, count);
                let v = self.read(Op::Input, var, Some(index));
                self.b.extract(v, lane)
            }
            Place::Builtin(Builtin::PointSize, _) if many => {
                let var = self.builtin_var(false, Builtin::PointSize, Type::F32, Some(count));
                let index = self.own_vertex(vertex, count);
                self.read(Op::Input, var, Some(index))
            }
            Place::Builtin(b @ (Builtin::TessLevelOuter | Builtin::TessLevelInner), element)
                if stage == Stage::TessEval =>
            {
                let elements = if b == Builtin::TessLevelOuter { 4 } else { 2 };
                let var = self.builtin_var(false, b, Type::F32, Some(elements));
                let index = self.number(element.into());
                self.read(Op::Input, var, Some(index))
            }
            Place::Builtin(Builtin::TessCoord, lane) if stage == Stage::TessEval => {
                let v = self.builtin(Builtin::TessCoord, Type::F32.with_lanes(3).unwrap_or(Type::F32));
                self.b.extract(v, lane)
            }
            Place::Builtin(Builtin::InstanceIndex, _) if stage == Stage::Vertex => self.instance(),
            Place::Builtin(Builtin::VertexIndex, _) if stage == Stage::Vertex => {
                self.builtin(Builtin::VertexIndex, Type::I32)
            }
            Place::Builtin(Builtin::PrimitiveId, _) if stage != Stage::Vertex => {
                self.builtin(Builtin::PrimitiveId, Type::I32)
            }
            // Nothing writes these before this stage.
            Place::Builtin(..) => self.zero(),
        };
        Ok(self.cast(v, Type::I32))
    }

    fn own_vertex(&mut self, vertex: Option<Value>, count: u32) -> Value {
        match vertex {
            Some(v) => self.vertex_index(v, count),
            None if self.io.stage() == Some(Stage::TessControl) => self.invocation(),
            None => self.zero(),
        }
    }

    /// The instance's number in its draw, counted from 0.
    fn instance(&mut self) -> Value {
        let index = self.builtin(Builtin::InstanceIndex, Type::I32);
        if !self.io.gpu.draw_parameters() {
            return index;
        }
        let base = self.builtin(Builtin::BaseInstance, Type::I32);
        self.op(Op::Isub, &[index, base])
    }

    /// An output of a tessellation control shader: its variable, and which element of it is the vertex's.
    fn control_output(
        &mut self,
        word: u32,
        patch: bool,
        vertex: Option<Value>,
    ) -> Lift<(Var, Option<Value>, u8)> {
        let place = self.io.place(word, patch).ok_or(Unsupported)?;
        let count = self.io.sph.map_or(1, |sph| u32::from(sph.threads_per_primitive)).max(1);
        let own = match vertex {
            Some(v) => self.vertex_index(v, count),
            None => self.invocation(),
        };
        Ok(match place {
            Place::Location { location, component } => {
                let array = (!patch).then_some(count);
                let how = (Type::F32, Interpolation::Smooth, array);
                let var = self.location(true, patch, location, component, how);
                (var, array.map(|_| own), 0)
            }
            Place::Builtin(b @ (Builtin::TessLevelOuter | Builtin::TessLevelInner), element) => {
                let elements = if b == Builtin::TessLevelOuter { 4 } else { 2 };
                let var = self.builtin_var(true, b, Type::F32, Some(elements));
                (var, Some(self.number(element.into())), 0)
            }
            Place::Builtin(Builtin::Position, lane) => {
                (self.builtin_var(true, Builtin::Position, Type::F32X4, Some(count)), Some(own), lane)
            }
            Place::Builtin(Builtin::PointSize, _) => {
                (self.builtin_var(true, Builtin::PointSize, Type::F32, Some(count)), Some(own), 0)
            }
            Place::Builtin(..) => return Err(Unsupported),
        })
    }

    /// Reads an output back.
    pub fn read_output(&mut self, word: u32, patch: bool, vertex: Option<Value>) -> Lift<Value> {
        // Where the vertex is in the tessellated patch counts as an output of the tessellator.
        if self.io.stage() != Some(Stage::TessControl) {
            return match self.output_slot(word).filter(|_| !patch) {
                Some(slot) => Ok(self.b.slot_get(slot)),
                None => self.read_input(word, patch, vertex),
            };
        }
        let (var, index, lane) = self.control_output(word, patch, vertex)?;
        let v = self.read(Op::OutputGet, var, index);
        let v = if self.b.func.ty(v).lanes() > 1 { self.b.extract(v, lane) } else { v };
        Ok(self.cast(v, Type::I32))
    }

    /// Writes words of the output from one on.
    pub fn write_outputs(&mut self, first: u32, patch: bool, values: &[Value]) -> Lift<()> {
        if self.io.stage() != Some(Stage::TessControl) {
            if patch {
                return Err(Unsupported);
            }
            for (i, &v) in (0..).zip(values) {
                self.set_output(first + 4 * i, v);
            }
            return Ok(());
        }
        let whole = first == 0x70 && values.len() == 4 && !patch;
        for (i, &v) in (0..).zip(values) {
            let (var, index, lane) = self.control_output(first + 4 * i, patch, None)?;
            if self.module.vars[var].ty != Type::F32X4 {
                self.write(var, v, index);
            } else if whole && i == 0 {
                let lanes: Vec<Value> = values.iter().map(|&v| self.cast(v, Type::F32)).collect();
                let v = self.op(Op::Build, &lanes);
                self.write(var, v, index);
            } else if !whole {
                let old = self.read(Op::OutputGet, var, index);
                let v = self.cast(v, Type::F32);
                let v = self.b.insert(old, lane, v);
                self.write(var, v, index);
            }
        }
        Ok(())
    }

    /// Puts out what the slots hold: a vertex.
    pub fn put_out(&mut self) -> Lift<()> {
        let words: Vec<(u32, Slot)> = self.io.outputs.iter().map(|(&w, &s)| (w, s)).collect();
        let viewports = self.viewports();
        let mut position = [None; 4];
        for (word, slot) in words {
            let v = self.b.slot_get(slot);
            match self.io.place(word, false) {
                Some(Place::Location { location, component }) => {
                    let how = (Type::F32, Interpolation::Smooth, None);
                    let var = self.location(true, false, location, component, how);
                    self.write(var, v, None);
                }
                Some(Place::Builtin(Builtin::Position, lane)) => {
                    position[usize::from(lane & 3)] = Some(self.cast(v, Type::F32));
                }
                Some(Place::Builtin(Builtin::ClipDistance, element)) => {
                    let last = self.io.outputs.range(0x2c0..0x2e0).next_back().map_or(0, |(&w, _)| w - 0x2c0);
                    let count = (last / 4 + 1).min(CLIP_DISTANCES);
                    let var = self.builtin_var(true, Builtin::ClipDistance, Type::F32, Some(count));
                    let index = self.number(element.into());
                    self.write(var, v, Some(index));
                }
                Some(Place::Builtin(b @ Builtin::PointSize, _)) => {
                    let var = self.builtin_var(true, b, Type::F32, None);
                    self.write(var, v, None);
                }
                Some(Place::Builtin(Builtin::ViewportMask, _)) => self.put_viewports(v),
                // The mask says it.
                Some(Place::Builtin(Builtin::ViewportIndex, _)) if viewports.is_some() => {}
                Some(Place::Builtin(b @ (Builtin::Layer | Builtin::ViewportIndex), _)) => {
                    let var = match self.own_location(word) {
                        None => self.builtin_var(true, b, Type::I32, None),
                        Some(location) => {
                            let how = (Type::I32, Interpolation::Flat, None);
                            self.location(true, false, location, 0, how)
                        }
                    };
                    self.write(var, v, None);
                }
                Some(Place::Builtin(b @ Builtin::PrimitiveId, _))
                    if self.io.stage() == Some(Stage::Geometry) =>
                {
                    let var = self.builtin_var(true, b, Type::I32, None);
                    self.write(var, v, None);
                }
                // Nobody after this stage reads them.
                _ => {}
            }
        }
        self.put_position(position);
        if self.output_slot(0x6c).is_none()
            && let Some(size) = self.io.gpu.point_size()
        {
            let var = self.builtin_var(true, Builtin::PointSize, Type::F32, None);
            let size = self.b.f32(size);
            self.write(var, size, None);
        }
        Ok(())
    }

    fn put_position(&mut self, position: [Option<Value>; 4]) {
        if position.iter().all(Option::is_none) {
            return;
        }
        let defaults = [0.0, 0.0, 0.0, 1.0].map(|v| self.b.f32(v));
        let mut lanes: [Value; 4] = std::array::from_fn(|i| position[i].unwrap_or(defaults[i]));
        if let Some(size) = self.io.gpu.window_positions() {
            let minus_one = self.b.f32(-1.0);
            for (lane, size) in lanes.iter_mut().zip(size) {
                let scale = self.b.f32(2.0 / size);
                let v = self.op(Op::Fmul, &[*lane, scale]);
                *lane = self.op(Op::Fadd, &[v, minus_one]);
            }
        }
        if self.io.gpu.flip_y() {
            lanes[1] = self.op(Op::Fneg, &[lanes[1]]);
        }
        if self.io.gpu.minus_one_to_one_depth() {
            let half = self.b.f32(0.5);
            let sum = self.op(Op::Fadd, &[lanes[2], lanes[3]]);
            lanes[2] = self.op(Op::Fmul, &[sum, half]);
        }
        let v = self.op(Op::Build, &lanes);
        let var = self.builtin_var(true, Builtin::Position, Type::F32X4, None);
        self.write(var, v, None);
    }
}
