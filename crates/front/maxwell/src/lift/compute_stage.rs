//! Vertex and geometry shaders as compute shaders, for hosts without the stage: what the pipeline would bring and take
//! lies in buffers.
//!
//! ```text
//! v1 : f32 = input %in0_x        =>   v1 : f32 = load storage @attributes ..
//! output %out_position, v2       =>   store storage @vertices .., v2
//! emit_vertex 0                  =>   the next record
//! ```
//!
//! | binding | what |
//! |---|---|
//! | [`DRAW_BINDING`] | words of the draw: vertices (primitives) of an instance; the first vertex (vertices of an instance before the stage); the first instance; then from byte 16 on four words for each location of a vertex shader's attributes: byte offset, bytes from one to the next, instances that share one (0: it is of vertices), components |
//! | [`ATTRIBUTES_BINDING`] | the attributes of a vertex shader, components of 32 bits; the vertices that a geometry shader takes, as records |
//! | [`PRIMITIVES_BINDING`] | the numbers of the vertices of each primitive, for geometry shaders |
//! | [`VERTICES_BINDING`] | the vertices that come out, as [`Record`]s |
//! | [`COUNTS_BINDING`] | how many vertices each invocation of a geometry shader made |
//!
//! Invocations are counted along x by vertices or primitives, along y by instances, along z by the invocations of a
//! geometry shader, and what they leave lies in that order, z fastest and x before y. Each invocation of a geometry shader
//! has room for the most vertices it may make; a word after the record of each says whether its strip ends there.

use super::layout::{ATTRIBUTES_BINDING, COUNTS_BINDING, DRAW_BINDING, PRIMITIVES_BINDING, VERTICES_BINDING};
use super::rework::{each_inst, rewrite};
use super::{LiftError, LiftOptions, Lifted};
use crate::info::{ComputeStage, GeometryInfo, Record, RecordEntry, RecordKey};
use xenoglot_ir::module::{
    Access, Builtin, Count, Direction, Interpolation, OutOfBounds, ResourceData, ResourceKind, Semantic,
    Stage, VarData,
};
use xenoglot_ir::stage::Pipeline;
use xenoglot_ir::{
    Block, Builder, Imm, Inst, MemInfo, Module, Op, Resource, Slot, Space, TermKind, Type, Value, Var,
};

/// Locations of attributes.
const LOCATIONS: u32 = 32;
/// Bytes of the words of a draw.
pub const DRAW_BYTES: u32 = 16 + 16 * LOCATIONS;
/// Invocations of a workgroup, along x.
const WORKGROUP: u32 = 64;
/// An offset outside of every buffer: what is stored there is dropped.
const OUTSIDE: u32 = !3;

/// Makes a compute shader of a vertex shader, or of a geometry shader that takes vertices as `taken` says, or else in the
/// order of its own inputs.
///
/// # Errors
/// [`LiftError::Stage`] for other stages, and for inputs that buffers do not have.
pub fn stage_to_compute(
    lifted: &mut Lifted,
    options: &LiftOptions,
    taken: Option<&Record>,
) -> Result<(), LiftError> {
    let module = &mut lifted.module;
    let geometry = lifted.info.graphics.as_ref().and_then(|g| g.geometry);
    let geometry = match (module.stage, geometry) {
        (Stage::Vertex, _) => None,
        (Stage::Geometry, Some(geometry)) => Some(geometry),
        _ => return Err(LiftError::Stage("only vertex and geometry shaders become compute shaders")),
    };
    check(module)?;
    let own = Record::of(module, Direction::Input);
    let stage = ComputeStage {
        input: geometry.map(|_| taken.cloned().unwrap_or(own)),
        output: Record::of(module, Direction::Output),
    };
    let Some(main) = module.entry.expand() else { return Ok(()) };
    let invocation = module.vars.push(VarData {
        name: Builtin::GlobalInvocationId.name().into(),
        direction: Direction::Input,
        ty: Type::I32X3,
        semantic: Semantic::Builtin(Builtin::GlobalInvocationId),
        interpolation: Interpolation::Flat,
        array: None,
        inner: None,
        stream: 0,
    });
    let mut buffer = |name: &str, binding, kind| {
        module.resources.push(ResourceData {
            name: name.into(),
            kind,
            set: options.set,
            binding,
            count: Count::One,
            oob: OutOfBounds::Zero,
        })
    };
    let storage = |access| ResourceKind::StorageBuffer { access };
    let draw = buffer("draw", DRAW_BINDING, ResourceKind::UniformBuffer { size: DRAW_BYTES });
    let attributes = buffer("attributes", ATTRIBUTES_BINDING, storage(Access::Read));
    let vertices = buffer("vertices", VERTICES_BINDING, storage(Access::Write));
    let made = geometry.map(|info| Made {
        info,
        primitives: buffer("primitives", PRIMITIVES_BINDING, storage(Access::Read)),
        counts: buffer("counts", COUNTS_BINDING, storage(Access::Write)),
        count: module.funcs[main].add_slot("made_vertices", Type::I32),
    });
    let func = &mut module.funcs[main];
    // What all of the shader goes by is known in front of it.
    let Some(&first) = func.layout.first() else { return Ok(()) };
    let (guard, outside) = (func.add_block(), func.add_block());
    func.layout.retain(|&block| block != guard);
    func.layout.insert(0, guard);
    Builder::new(func, outside).ret(&[]);
    let mut b = Builder::new(func, guard);
    let draw_word = |b: &mut Builder, word: u32| {
        let at = b.i32(4 * word);
        b.load(MemInfo::plain(Space::Uniform, Some(draw), 2), at, Type::I32)
    };
    let id = b.input(invocation, Type::I32X3);
    let [x, y, z] = [0, 1, 2].map(|lane| b.extract(id, lane));
    let [count, before, base_instance] = [0, 1, 2].map(|word| draw_word(&mut b, word));
    let row = b.op(Op::Imul, &[y, count]);
    let mut place = b.op(Op::Iadd, &[row, x]);
    if let Some(made) = &made {
        let invocations = b.i32(made.info.invocations);
        place = b.op(Op::Imul, &[place, invocations]);
        place = b.op(Op::Iadd, &[place, z]);
        let zero = b.i32(0);
        b.slot_set(made.count, zero);
    }
    let inside = b.op(Op::IcmpUlt, &[x, count]);
    b.branch(inside, (first, &[]), (outside, &[]));
    let converter = Converter {
        stage: &stage,
        made,
        invocation,
        x,
        y,
        z,
        before,
        base_instance,
        place,
        draw,
        attributes,
        vertices,
    };
    each_inst(module, |module, b, inst| converter.inst(module, b, inst));
    converter.finish(module, outside);
    module.stage = Stage::Compute;
    module.pipeline = Pipeline::default();
    module.workgroup = [WORKGROUP, 1, 1];
    keep_only(module, invocation);
    lifted.info.workgroup = module.workgroup;
    lifted.info.compute_stage = Some(stage);
    Ok(())
}

/// Refuses what no buffer has.
fn check(module: &Module) -> Result<(), LiftError> {
    let known = |v: &VarData| match (v.direction, v.semantic) {
        (Direction::Output, _) => true,
        (_, Semantic::Location { location, .. }) => module.stage == Stage::Geometry || location < LOCATIONS,
        (_, Semantic::Builtin(builtin)) => match module.stage {
            Stage::Vertex => {
                matches!(builtin, Builtin::VertexIndex | Builtin::InstanceIndex | Builtin::BaseInstance)
            }
            _ => v.array.is_some() || matches!(builtin, Builtin::PrimitiveId | Builtin::InvocationId),
        },
    };
    if module.funcs.len() > 1 {
        return Err(LiftError::Stage("a shader of several functions does not become a compute shader"));
    }
    match module.vars.values().all(known) {
        true => Ok(()),
        false => Err(LiftError::Stage("an input that no buffer has")),
    }
}

/// Drops the variables that nothing names any more: all but one.
fn keep_only(module: &mut Module, var: Var) {
    let data = module.vars[var].clone();
    module.vars.clear();
    let var = module.vars.push(data);
    for func in module.funcs.values_mut() {
        for data in func.insts.values_mut().filter(|data| matches!(data.imm, Imm::Var(_))) {
            data.imm = Imm::Var(var);
        }
    }
}

impl Record {
    /// What variables of a direction make of a vertex: those of a geometry shader's inputs that each of its vertices has.
    fn of(module: &Module, direction: Direction) -> Record {
        let mut record = Record::default();
        let vertex = |v: &VarData| direction == Direction::Output || v.array.is_some();
        for v in module.vars.values().filter(|v| v.direction == direction && vertex(v)) {
            let elements = if direction == Direction::Output { v.array.unwrap_or(1) } else { 1 };
            let words = u32::from(v.ty.lanes()) * elements;
            record.entries.push(RecordEntry { key: key(v), offset: record.words, words });
            record.words += words;
        }
        record
    }

    /// Where something is in a record.
    fn find(&self, v: &VarData) -> Option<&RecordEntry> {
        let key = key(v);
        self.entries.iter().find(|entry| entry.key == key)
    }
}

fn key(v: &VarData) -> RecordKey {
    match v.semantic {
        Semantic::Location { location, component } => RecordKey::Location { location, component },
        Semantic::Builtin(builtin) => RecordKey::Builtin(builtin.name().into()),
    }
}

/// What a geometry shader has beside.
struct Made {
    info: GeometryInfo,
    primitives: Resource,
    counts: Resource,
    /// Vertices made so far.
    count: Slot,
}

struct Converter<'a> {
    stage: &'a ComputeStage,
    made: Option<Made>,
    invocation: Var,
    x: Value,
    y: Value,
    z: Value,
    /// The second word of the draw.
    before: Value,
    base_instance: Value,
    /// The invocation's number.
    place: Value,
    draw: Resource,
    attributes: Resource,
    vertices: Resource,
}

impl Converter<'_> {
    /// Converts an instruction, and says whether it stays.
    fn inst(&self, module: &Module, b: &mut Builder, inst: Inst) -> bool {
        let data = &b.func.insts[inst];
        match (data.op, data.imm) {
            (Op::Input, Imm::Var(var)) if var != self.invocation => {
                self.input(b, inst, &module.vars[var]);
                true
            }
            (Op::Output, Imm::Var(var)) => {
                self.output(b, inst, &module.vars[var]);
                false
            }
            (Op::EmitVertex, _) => {
                self.emit(b);
                false
            }
            (Op::EndPrimitive, _) => {
                self.end_strip(b);
                false
            }
            _ => true,
        }
    }

    fn input(&self, b: &mut Builder, inst: Inst, var: &VarData) {
        let zero = b.i32(0);
        match var.semantic {
            Semantic::Builtin(Builtin::VertexIndex) => rewrite(b, inst, Op::Iadd, &[self.x, self.before]),
            Semantic::Builtin(Builtin::InstanceIndex) => {
                rewrite(b, inst, Op::Iadd, &[self.y, self.base_instance]);
            }
            Semantic::Builtin(Builtin::BaseInstance) => {
                rewrite(b, inst, Op::Iadd, &[self.base_instance, zero])
            }
            Semantic::Builtin(Builtin::PrimitiveId) => rewrite(b, inst, Op::Iadd, &[self.x, zero]),
            Semantic::Builtin(Builtin::InvocationId) => rewrite(b, inst, Op::Iadd, &[self.z, zero]),
            Semantic::Location { location, component } if self.made.is_none() => {
                self.attribute(b, inst, (location, component), var.ty);
            }
            _ => self.vertex(b, inst, var),
        }
    }

    /// A component of an attribute of a vertex shader.
    fn attribute(&self, b: &mut Builder, inst: Inst, (location, component): (u32, u8), ty: Type) {
        let at = b.i32(16 + 16 * location);
        let how = b.load(MemInfo::plain(Space::Uniform, Some(self.draw), 4), at, Type::I32X4);
        let [offset, stride, sharing, components] = [0, 1, 2, 3].map(|lane| b.extract(how, lane));
        let (zero, one) = (b.i32(0), b.i32(1));
        let vertex = b.op(Op::Iadd, &[self.x, self.before]);
        let divisor = b.op(Op::Umax, &[sharing, one]);
        let instance = b.op(Op::Udiv, &[self.y, divisor]);
        let instance = b.op(Op::Iadd, &[instance, self.base_instance]);
        let of_vertices = b.op(Op::IcmpEq, &[sharing, zero]);
        let index = b.select(of_vertices, vertex, instance);
        let at = b.op(Op::Imul, &[index, stride]);
        let at = b.op(Op::Iadd, &[at, offset]);
        let within = b.i32(4 * u32::from(component));
        let at = b.op(Op::Iadd, &[at, within]);
        let given = b.load(MemInfo::plain(Space::Storage, Some(self.attributes), 2), at, ty);
        // What is missing is 0, 0, 0, 1.
        let last = u32::from(component == 3);
        let default = if ty == Type::F32 { b.f32(last as f32) } else { b.i32(last) };
        let number = b.i32(component.into());
        let has = b.op(Op::IcmpUlt, &[number, components]);
        rewrite(b, inst, Op::Select, &[has, given, default]);
    }

    /// What a vertex of the primitive has.
    fn vertex(&self, b: &mut Builder, inst: Inst, var: &VarData) {
        let record = self.stage.input.as_ref();
        let entry = record.and_then(|record| Some((record, record.find(var)?)));
        let lanes = var.ty.lanes();
        let index = b.func.args(inst).first().copied();
        let (Some((record, entry)), Some(made), Some(index)) = (entry, &self.made, index) else {
            // Nobody has written it.
            let zeros = vec![b.f32(0.0); lanes.into()];
            return match zeros[..] {
                [zero] => rewrite(b, inst, Op::Fmul, &[zero, zero]),
                _ => rewrite(b, inst, Op::Build, &zeros),
            };
        };
        let corners = b.i32(made.info.input.vertices());
        let at = b.op(Op::Imul, &[self.x, corners]);
        let at = b.op(Op::Iadd, &[at, index]);
        let two = b.i32(2);
        let at = b.op(Op::Shl, &[at, two]);
        let number = b.load(MemInfo::plain(Space::Storage, Some(made.primitives), 2), at, Type::I32);
        let first = b.op(Op::Imul, &[self.y, self.before]);
        let number = b.op(Op::Iadd, &[number, first]);
        let bytes = b.i32(4 * record.words);
        let start = b.op(Op::Imul, &[number, bytes]);
        let memory = MemInfo::plain(Space::Storage, Some(self.attributes), 2);
        let scalar = var.ty.with_lanes(1).unwrap_or(var.ty);
        let values: Vec<Value> = (0..u32::from(lanes))
            .map(|lane| {
                let offset = b.i32(4 * (entry.offset + lane));
                let at = b.op(Op::Iadd, &[start, offset]);
                b.load(memory, at, scalar)
            })
            .collect();
        match values[..] {
            [v] => {
                // The load itself, whose result nothing else uses yet.
                let Some(load) = b.func.def_inst(v) else { return };
                let (imm, at) = (b.func.insts[load].imm, b.func.args(load)[0]);
                rewrite(b, inst, Op::Load, &[at]);
                b.func.insts[inst].imm = imm;
            }
            _ => rewrite(b, inst, Op::Build, &values),
        }
    }

    /// Bytes of a record with what follows it.
    fn stride(&self) -> u32 {
        4 * (self.stage.output.words + u32::from(self.made.is_some()))
    }

    /// Where the record of a vertex of this invocation begins; outside unless there is room.
    fn record(&self, b: &mut Builder, vertex: Option<Value>) -> Value {
        let stride = b.i32(self.stride());
        let (Some(made), Some(vertex)) = (&self.made, vertex) else {
            return b.op(Op::Imul, &[self.place, stride]);
        };
        let most = b.i32(made.info.max_vertices);
        let first = b.op(Op::Imul, &[self.place, most]);
        let number = b.op(Op::Iadd, &[first, vertex]);
        let at = b.op(Op::Imul, &[number, stride]);
        let room = b.op(Op::IcmpUlt, &[vertex, most]);
        let outside = b.i32(OUTSIDE);
        b.select(room, at, outside)
    }

    fn made_vertices(&self, b: &mut Builder) -> Option<Value> {
        self.made.as_ref().map(|made| b.slot_get(made.count))
    }

    fn store(&self, b: &mut Builder, start: Value, word: u32, v: Value) {
        let offset = b.i32(4 * word);
        let at = b.op(Op::Iadd, &[start, offset]);
        // What is outside stays there, whatever is added.
        let at = b.op(Op::Umax, &[at, start]);
        b.store(MemInfo::plain(Space::Storage, Some(self.vertices), 2), at, v);
    }

    fn output(&self, b: &mut Builder, inst: Inst, var: &VarData) {
        let args = b.func.args(inst).to_vec();
        let (Some(&v), Some(entry)) = (args.first(), self.stage.output.find(var)) else { return };
        let vertex = self.made_vertices(b);
        let mut start = self.record(b, vertex);
        let lanes = u32::from(var.ty.lanes());
        if let Some(&element) = args.get(1) {
            let bytes = b.i32(4 * lanes);
            let within = b.op(Op::Imul, &[element, bytes]);
            let at = b.op(Op::Iadd, &[start, within]);
            start = b.op(Op::Umax, &[at, start]);
        }
        for lane in 0..lanes {
            let v = if lanes > 1 { b.extract(v, lane as u8) } else { v };
            self.store(b, start, entry.offset + lane, v);
        }
    }

    /// The next vertex; the strip goes on after this one.
    fn emit(&self, b: &mut Builder) {
        let (Some(made), Some(vertex)) = (&self.made, self.made_vertices(b)) else { return };
        let start = self.record(b, Some(vertex));
        let zero = b.i32(0);
        self.store(b, start, self.stage.output.words, zero);
        let (one, most) = (b.i32(1), b.i32(made.info.max_vertices));
        let next = b.op(Op::Iadd, &[vertex, one]);
        let next = b.op(Op::Umin, &[next, most]);
        b.slot_set(made.count, next);
    }

    /// The strip ends with the vertex before; without one, what is stored is dropped.
    fn end_strip(&self, b: &mut Builder) {
        let Some(vertex) = self.made_vertices(b) else { return };
        let one = b.i32(1);
        let last = b.op(Op::Isub, &[vertex, one]);
        let start = self.record(b, Some(last));
        self.store(b, start, self.stage.output.words, one);
    }

    /// Counts the vertices where an invocation of a geometry shader ends.
    fn finish(&self, module: &mut Module, outside: Block) {
        let Some(made) = &self.made else { return };
        for func in module.funcs.values_mut() {
            for i in 0..func.layout.len() {
                let block = func.layout[i];
                if block == outside || func.blocks[block].term.kind != TermKind::Return {
                    continue;
                }
                let mut b = Builder::new(func, block);
                let vertices = b.slot_get(made.count);
                let four = b.i32(4);
                let at = b.op(Op::Imul, &[self.place, four]);
                let memory = MemInfo::plain(Space::Storage, Some(made.counts), 2);
                b.store(memory, at, vertices);
            }
        }
    }
}
