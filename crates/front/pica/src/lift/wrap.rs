//! Entry wrappers: how a lifted program gets its inputs and where its results go.

use super::geometry::Events;
use super::insts::Cx;
use super::layout::*;
use super::live::Live;
use super::regs::{File, Scalar, numbered};
use super::{LiftOptions, Records, Wrapper};
use crate::container::{Output, Semantic};
use crate::desc::Component;
use crate::inst::Dst;
use xenoglot_ir::imm::Space;
use xenoglot_ir::module::{
    Access, Builtin, Count, Direction, Interpolation, OutOfBounds, ResourceData, ResourceKind,
    Semantic as Connection, VarData,
};
use xenoglot_ir::{Flags, MemInfo, Module, NanMode, Op, Resource, Type, Value, Var};

/// Which register component carries each component of the rasteriser's attributes.
///
/// The index is the semantic number of the chip's output map registers (3dbrew, "GPU/Internal Registers"): 0–3
/// position, 4–7 quaternion, 8–11 colour, 12 and 13 texture coordinate 0, 14 and 15 texture coordinate 1, 16 the
/// third component of texture coordinate 0, 18–20 view, 22 and 23 texture coordinate 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct OutputMap {
    sources: [Option<(u8, Component)>; 24],
}

impl OutputMap {
    /// Lets `component` of output `register` (0–15) carry semantic number `semantic`; numbers without a meaning
    /// are ignored, as the chip does with 31.
    pub fn set(&mut self, semantic: u8, register: u8, component: Component) {
        if let Some(s) = self.sources.get_mut(usize::from(semantic)) {
            *s = Some((register & 15, component));
        }
    }

    /// The map of an executable: the enabled components of a register carry the semantic's components in order.
    pub fn from_outputs(outputs: &[Output]) -> OutputMap {
        let mut map = OutputMap::default();
        for o in outputs {
            let numbers: &[u8] = match o.semantic {
                Semantic::Position => &[0, 1, 2, 3],
                Semantic::NormalQuat => &[4, 5, 6, 7],
                Semantic::Color => &[8, 9, 10, 11],
                Semantic::TexCoord0 => &[12, 13, 16],
                Semantic::TexCoord0W => &[16],
                Semantic::TexCoord1 => &[14, 15],
                Semantic::TexCoord2 => &[22, 23],
                Semantic::View => &[18, 19, 20],
                Semantic::Dummy | Semantic::Other(_) => &[],
            };
            for (&n, c) in numbers.iter().zip(o.mask.components()) {
                map.set(n, o.register, c);
            }
        }
        map
    }

    /// The register and component that carry semantic number `semantic`.
    pub fn get(&self, semantic: u8) -> Option<(u8, Component)> {
        self.sources.get(usize::from(semantic)).copied().flatten()
    }
}

/// How the position leaves a vertex wrapper. The chip clips to -w <= z <= 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ClipSpace {
    /// As the program wrote it.
    Guest,
    /// z negated: 0 <= z <= w.
    #[default]
    Vulkan,
    /// -w <= z <= w: z becomes -(2z + w).
    OpenGl,
}

/// What leaves a vertex wrapper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VertexOutputs {
    /// The attributes of the rasteriser: builtin position; at locations 0 to 5 quaternion, colour (absolute, at most
    /// 1), texture coordinates 0 (with its third component), 1 and 2, and view. What is not mapped is 1.
    Mapped(OutputMap, ClipSpace),
    /// The output registers of the mask, `o` n at location n. The builtin position is not written.
    Registers(u16),
}

/// The attributes after the position: name, semantic numbers.
const ATTRIBUTES: [(&str, &[u8]); 6] = [
    ("normquat", &[4, 5, 6, 7]),
    ("color", &[8, 9, 10, 11]),
    ("texcoord0", &[12, 13, 16]),
    ("texcoord1", &[14, 15]),
    ("texcoord2", &[22, 23]),
    ("view", &[18, 19, 20]),
];

fn buffer(module: &mut Module, name: &str, kind: ResourceKind, binding: u32) -> Resource {
    module.resources.push(ResourceData {
        name: name.into(),
        kind,
        set: 0,
        binding,
        count: Count::One,
        oob: OutOfBounds::Undefined,
    })
}

/// The uniform buffer all wrappers use.
pub(super) fn uniforms(module: &mut Module) -> Resource {
    buffer(module, "uniforms", ResourceKind::UniformBuffer { size: UNIFORM_SIZE }, UNIFORM_BINDING)
}

fn variable(module: &mut Module, name: String, direction: Direction, ty: Type, semantic: Connection) -> Var {
    let interpolation = Interpolation::Smooth;
    module.vars.push(VarData {
        name,
        direction,
        ty,
        semantic,
        interpolation,
        array: None,
        inner: None,
        stream: 0,
    })
}

/// v0 to v15 of a vertex wrapper at locations 0 to 15, as far as `used` has them.
pub(super) fn vertex_inputs(module: &mut Module, cx: &mut Cx, used: u16) {
    for n in (0..16u8).filter(|n| used >> n & 1 == 1) {
        let at = Connection::Location { location: n.into(), component: 0 };
        let var = variable(module, numbered("v", n), Direction::Input, Type::F32X4, at);
        cx.inputs[usize::from(n)] = Some(cx.b.input(var, Type::F32X4));
    }
}

/// What a wrapper reads at the end of the program, and what may be read at any time. `outputs` are those the program
/// writes.
pub(super) fn live(options: &LiftOptions, outputs: u16) -> (Live, Live) {
    match options.wrapper {
        Wrapper::Vertex(VertexOutputs::Registers(mask)) => (Live::outputs(mask), Live::NONE),
        Wrapper::Vertex(VertexOutputs::Mapped(map, _)) => {
            let mut live = Live::NONE;
            for (register, component) in map.sources.into_iter().flatten() {
                live.add(Dst::Output(register), 1 << component.index());
            }
            (live, Live::NONE)
        }
        // EMIT reads outputs, of both banks in turn.
        Wrapper::Compute { geometry: Some(_), .. } => (Live::ALL, Live::outputs(u16::MAX)),
        Wrapper::Compute { persistent: false, .. } if options.records != Records::Whole => {
            (Live::outputs(outputs), Live::NONE)
        }
        Wrapper::Compute { .. } => (Live::ALL, Live::NONE),
    }
}

/// Writes the outputs of a vertex wrapper. Those that the program does not write (`written`) are zero.
pub(super) fn vertex_outputs(module: &mut Module, cx: &mut Cx, outputs: VertexOutputs, written: u16) {
    let (map, clip) = match outputs {
        VertexOutputs::Registers(mask) => {
            let mut zero = None;
            for n in (0..16u8).filter(|n| mask >> n & 1 == 1) {
                let at = Connection::Location { location: n.into(), component: 0 };
                let var = variable(module, numbered("o", n), Direction::Output, Type::F32X4, at);
                let v = if written >> n & 1 == 1 {
                    cx.get_vector(File::Output, n)
                } else {
                    *zero.get_or_insert_with(|| cx.b.f32x4([0.0; 4]))
                };
                cx.b.output(var, v);
            }
            return;
        }
        VertexOutputs::Mapped(map, clip) => (map, clip),
    };
    let position = Connection::Builtin(Builtin::Position);
    let var = variable(module, "position".into(), Direction::Output, Type::F32X4, position);
    let mut v = [0, 1, 2, 3].map(|n| attribute(cx, &map, n));
    v[2] = match clip {
        ClipSpace::Guest => v[2],
        ClipSpace::Vulkan => cx.b.op(Op::Fneg, &[v[2]]),
        ClipSpace::OpenGl => {
            let twice = cx.b.op(Op::Fadd, &[v[2], v[2]]);
            let sum = cx.b.op(Op::Fadd, &[twice, v[3]]);
            cx.b.op(Op::Fneg, &[sum])
        }
    };
    let v = cx.b.op(Op::Build, &v);
    cx.b.output(var, v);
    for (location, (name, numbers)) in ATTRIBUTES.into_iter().enumerate() {
        let parts: Vec<Value> = numbers.iter().map(|&n| attribute(cx, &map, n)).collect();
        let mut v = cx.b.op(Op::Build, &parts);
        let ty = cx.b.func.ty(v);
        if name == "color" {
            let magnitude = cx.b.op(Op::Fabs, &[v]);
            let one = cx.b.f32x4([1.0; 4]);
            v = cx.b.op_flags(Op::Fmin, Flags::NONE.with_nan(NanMode::Second), &[magnitude, one]);
        }
        let at = Connection::Location { location: location as u32, component: 0 };
        let var = variable(module, name.into(), Direction::Output, ty, at);
        cx.b.output(var, v);
    }
}

fn attribute(cx: &mut Cx, map: &OutputMap, semantic: u8) -> Value {
    match map.get(semantic) {
        Some((register, component)) => {
            let v = cx.get_vector(File::Output, register);
            cx.b.extract(v, component as u8)
        }
        None => cx.b.f32(1.0),
    }
}

/// The compute wrapper's place in its buffers.
#[derive(Clone, Copy)]
pub(super) struct Record {
    state: Resource,
    base: Value,
    geometry: bool,
    /// The outputs of a packed record.
    packed: Option<u16>,
}

fn plain(resource: Resource, align_log2: u8) -> MemInfo {
    MemInfo::plain(Space::Storage, Some(resource), align_log2)
}

/// Prologue of the compute wrapper: inputs `used` and events. `packed` has the outputs if records are.
pub(super) fn compute_prologue(
    module: &mut Module,
    cx: &mut Cx,
    used: u16,
    packed: Option<u16>,
    geometry: Option<u32>,
) -> Record {
    let read = ResourceKind::StorageBuffer { access: Access::Read };
    let write = ResourceKind::StorageBuffer { access: Access::ReadWrite };
    let inputs = buffer(module, "inputs", read, INPUT_BINDING);
    let state = buffer(module, "state", write, STATE_BINDING);
    let id_type = Type::I32.with_lanes(3).unwrap_or(Type::I32);
    let id = Connection::Builtin(Builtin::GlobalInvocationId);
    let id = variable(module, "invocation".into(), Direction::Input, id_type, id);
    let id = cx.b.input(id, id_type);
    let id = cx.b.extract(id, 0);
    let scaled = |cx: &mut Cx, stride: u32| {
        let stride = cx.b.i32(stride);
        cx.b.op(Op::Imul, &[id, stride])
    };
    // Packed, the registers that are not used take no place.
    let input_set = if packed.is_some() { used } else { u16::MAX };
    let input_base = scaled(cx, packed_stride(input_set));
    for n in (0..16u8).filter(|n| used >> n & 1 == 1) {
        let at = cx.offset(input_base, packed_place(input_set, n));
        cx.inputs[usize::from(n)] = Some(cx.b.load(plain(inputs, 4), at, Type::F32X4));
    }
    let stride = match (packed, geometry) {
        (Some(outputs), _) => packed_stride(outputs),
        (None, Some(_)) => GEOMETRY_STATE_STRIDE,
        (None, None) => VERTEX_STATE_STRIDE,
    };
    let base = scaled(cx, stride);
    if let Some(capacity) = geometry {
        let buffer = buffer(module, "events", write, EVENT_BINDING);
        let base = scaled(cx, event_stride(capacity));
        cx.events = Some(Events { buffer, capacity, base });
        cx.begin_emitter();
    }
    Record { state, base, geometry: geometry.is_some(), packed }
}

/// The vector registers the program names, with their offsets in the state record.
fn named_vectors(cx: &Cx, geometry: bool) -> Vec<(File, u8, u32)> {
    let files =
        [(File::Output, STATE_OUTPUTS), (File::Temp, STATE_TEMPS), (File::OtherBank, STATE_OTHER_BANK)];
    let files = files.into_iter().take(if geometry { 3 } else { 2 });
    files
        .flat_map(|(file, at)| (0..16u8).map(move |n| (file, n, at + u32::from(n) * 16)))
        .filter(|&(file, n, _)| cx.regs.has_vector(file, n))
        .collect()
}

/// Loads what the last run left in the registers the program names. They are known when all of it is lifted.
pub(super) fn load_state(cx: &mut Cx, r: Record) {
    for (file, n, at) in named_vectors(cx, r.geometry) {
        let at = cx.offset(r.base, at);
        let v = cx.b.load(plain(r.state, 4), at, Type::F32X4);
        cx.set_vector(file, n, v);
    }
    let at = cx.offset(r.base, STATE_ADDRESS);
    let v = cx.b.load(plain(r.state, 4), at, Type::I32X4);
    for (lane, s) in [Scalar::A0x, Scalar::A0y, Scalar::Al].into_iter().enumerate() {
        let v = cx.b.extract(v, lane as u8);
        cx.set(s, v);
    }
    let flags = cx.b.extract(v, 3);
    for (bit, s) in [(1, Scalar::FlagX), (2, Scalar::FlagY)] {
        set_truth(cx, flags, bit, s);
    }
    if r.geometry {
        cx.move_emitter(r.state, r.base, false);
        let at = cx.offset(r.base, STATE_SETEMIT);
        let v = cx.b.load(plain(r.state, 4), at, Type::I32X4);
        let vertex = cx.b.extract(v, 0);
        cx.set(Scalar::EmitVertex, vertex);
        for (lane, s) in [(1, Scalar::EmitPrimitive), (2, Scalar::EmitWinding)] {
            let v = cx.b.extract(v, lane);
            set_truth(cx, v, 1, s);
        }
    }
}

fn set_truth(cx: &mut Cx, bits: Value, mask: u32, s: Scalar) {
    let (mask, zero) = (cx.b.i32(mask), cx.b.i32(0));
    let bit = cx.b.op(Op::And, &[bits, mask]);
    let truth = cx.b.op(Op::IcmpNe, &[bit, zero]);
    cx.set(s, truth);
}

fn truth_bits(cx: &mut Cx, s: Scalar, bit: u32) -> Value {
    let v = cx.get(s);
    let (on, off) = (cx.b.i32(bit), cx.b.i32(0));
    cx.b.select(v, on, off)
}

/// Epilogue of the compute wrapper: everything a later run or an observer wants to know.
pub(super) fn compute_epilogue(cx: &mut Cx, r: Record, count_steps: bool, persistent: bool) {
    store_vectors(cx, r, |_| true);
    let [x, y, l] = [Scalar::A0x, Scalar::A0y, Scalar::Al].map(|s| cx.get(s));
    let (fx, fy) = (truth_bits(cx, Scalar::FlagX, 1), truth_bits(cx, Scalar::FlagY, 2));
    let flags = cx.b.op(Op::Or, &[fx, fy]);
    store4(cx, r, STATE_ADDRESS, [x, y, l, flags]);
    let zero = cx.b.i32(0);
    let steps = if count_steps { cx.get(Scalar::Steps) } else { zero };
    let [primitives, emits] =
        [Scalar::Primitives, Scalar::Emits].map(|s| if r.geometry { cx.get(s) } else { zero });
    store4(cx, r, STATE_COUNTERS, [steps, primitives, emits, zero]);
    if r.geometry {
        if persistent {
            cx.move_emitter(r.state, r.base, true);
        }
        let vertex = cx.get(Scalar::EmitVertex);
        let [p, w] = [Scalar::EmitPrimitive, Scalar::EmitWinding].map(|s| truth_bits(cx, s, 1));
        store4(cx, r, STATE_SETEMIT, [vertex, p, w, zero]);
    }
}

/// Stores the output registers.
pub(super) fn store_outputs(cx: &mut Cx, r: Record) {
    let Some(outputs) = r.packed else { return store_vectors(cx, r, |file| file == File::Output) };
    for n in (0..16u8).filter(|n| outputs >> n & 1 == 1) {
        store_vector(cx, r, File::Output, n, packed_place(outputs, n));
    }
}

fn store_vectors(cx: &mut Cx, r: Record, which: impl Fn(File) -> bool) {
    for (file, n, at) in named_vectors(cx, r.geometry) {
        if which(file) {
            store_vector(cx, r, file, n, at);
        }
    }
}

fn store_vector(cx: &mut Cx, r: Record, file: File, n: u8, at: u32) {
    let v = cx.get_vector(file, n);
    let at = cx.offset(r.base, at);
    cx.b.store(plain(r.state, 4), at, v);
}

fn store4(cx: &mut Cx, r: Record, at: u32, v: [Value; 4]) {
    let v = cx.b.op(Op::Build, &v);
    let at = cx.offset(r.base, at);
    cx.b.store(plain(r.state, 4), at, v);
}
