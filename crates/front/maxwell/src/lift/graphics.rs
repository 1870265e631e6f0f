//! Programs of the graphics pipeline.

use super::cx::Cx;
use super::interface::Io;
use super::regs::{FlagSet, Regs};
use super::texture::named_shapes;
use super::value::Numbers;
use super::viewports;
use super::{INSTS_PER_NODE, LiftError, LiftOptions, Lifted, MAX_MEMORY, Unsupported, graph, stack};
use crate::flow::{self, ConstantBank, Flow};
use crate::gpu::{CAPTURE_BUFFERS, Captured, GpuAccessor};
use crate::info::{GeometryInfo, GraphicsInfo, ShaderInfo, Varying};
use crate::sph::{Sph, Stage, Topology};
use std::collections::BTreeMap;
use xenoglot_ir::module::{Builtin, Capture, Direction, Interpolation, Semantic};
use xenoglot_ir::stage::{self, Pipeline};
use xenoglot_ir::{Builder, Function, Module};

/// Most vertices of a patch (D3D, OpenGL and Vulkan agree on it).
const MOST_PATCH_VERTICES: u32 = 32;

/// A program with its header.
#[derive(Clone, Copy, Debug)]
pub struct Shader<'a> {
    /// The header.
    pub sph: Sph,
    /// Code, little-endian 64-bit words, the first being a scheduling word.
    pub code: &'a [u8],
    /// Byte offset of the entry in the code.
    pub entry: u32,
    /// Constant banks whose data is known: where jump tables are read from.
    pub constants: &'a [ConstantBank<'a>],
}

impl Shader<'_> {
    fn local_bytes(&self) -> Result<u32, LiftError> {
        let bytes = (self.sph.local_low_bytes + self.sph.local_high_bytes).next_multiple_of(16);
        if bytes > MAX_MEMORY { Err(LiftError::Memory(bytes)) } else { Ok(bytes) }
    }

    fn flow(&self, options: &LiftOptions) -> Result<Flow, LiftError> {
        let known = flow::Known { constants: self.constants, functions: &[] };
        Ok(flow::explore(self.code, self.entry, known, options.limits)?)
    }
}

fn ir_stage(stage: Stage) -> xenoglot_ir::Stage {
    match stage {
        Stage::Vertex => xenoglot_ir::Stage::Vertex,
        Stage::TessControl => xenoglot_ir::Stage::TessControl,
        Stage::TessEval => xenoglot_ir::Stage::TessEval,
        Stage::Geometry => xenoglot_ir::Stage::Geometry,
        Stage::Fragment => xenoglot_ir::Stage::Fragment,
    }
}

/// Lifts a program into a module whose entry function is `main`. `before` is the first of two vertex programs (A), whose
/// outputs are the inputs of the second (B).
///
/// # Errors
/// See [`LiftError`].
pub fn lift_graphics(
    shader: &Shader<'_>,
    before: Option<&Shader<'_>>,
    options: &LiftOptions,
    gpu: &dyn GpuAccessor,
) -> Result<Lifted, LiftError> {
    let vertex = |s: &Shader| s.sph.stage == Stage::Vertex;
    if before.is_some_and(|a| !vertex(a) || !vertex(shader)) {
        return Err(LiftError::Stage("only vertex programs are run one after the other"));
    }
    let local_bytes = before.map_or(Ok(0), Shader::local_bytes)?.max(shader.local_bytes()?);
    let flows: Vec<(Sph, Flow)> = before
        .into_iter()
        .chain([shader])
        .map(|s| Ok((s.sph, s.flow(options)?)))
        .collect::<Result<_, LiftError>>()?;
    let mut module = Module::new(ir_stage(shader.sph.stage), "maxwell");
    let io = Io::new(gpu, Some(shader.sph));
    let insts = || flows.iter().flat_map(|(_, flow)| flow.nodes.iter().map(|n| &n.inst));
    let mut geometry = (shader.sph.stage == Stage::Geometry).then(|| geometry_info(&shader.sph, gpu));
    if let Some(geometry) = &mut geometry {
        viewports::add_invocations(geometry, insts(), gpu)?;
    }
    module.pipeline = pipeline(&shader.sph, gpu, geometry)?;
    let mut func = Function::new("main");
    func.reserve(INSTS_PER_NODE * flows.iter().map(|(_, f)| f.nodes.len()).sum::<usize>());
    let has_stack = flows.iter().any(|(_, flow)| !flow.entries.is_empty());
    func.private_size = if has_stack { local_bytes + stack::BYTES } else { local_bytes };
    let entry = func.add_block();
    let mut cx = Cx {
        b: Builder::forwarding(&mut func, entry),
        module: &mut module,
        regs: Regs::default(),
        info: ShaderInfo {
            local_bytes,
            graphics: Some(GraphicsInfo { geometry, ..GraphicsInfo::default() }),
            ..ShaderInfo::default()
        },
        options: *options,
        guard: None,
        banks: Default::default(),
        numbers: Numbers::new(entry),
        known: Default::default(),
        flags_read: FlagSet::default(),
        pieces: Default::default(),
        pending: Vec::new(),
        global: None,
        io,
        bound: Default::default(),
        shapes: named_shapes(insts()),
        stack_base: local_bytes,
        barrier_scratch: None,
    };
    let mut prefixes = if flows.len() > 1 { vec!["", "a_"] } else { vec![""] };
    for (i, (sph, flow)) in flows.iter().enumerate() {
        let prefix = prefixes.pop().unwrap_or_default();
        if i > 0 {
            cx.pass_outputs_on();
        }
        cx.regs = Regs::named(prefix);
        cx.io.sph = Some(*sph);
        cx.prepare_outputs(flow.nodes.iter().map(|n| &n.inst), prefix);
        let last = i + 1 == flows.len();
        if !graph::emit(&mut cx, flow)? {
            break;
        }
        if last {
            let text = "the end of the program".into();
            cx.finish().map_err(|Unsupported| LiftError::Unsupported { address: shader.entry, text })?;
            cx.b.ret(&[]);
        }
    }
    let info = cx.finished_info();
    module.entry = Some(module.funcs.push(func)).into();
    if matches!(shader.sph.stage, Stage::Vertex | Stage::TessEval | Stage::Geometry) {
        module.captures = captures(&module, gpu)?;
    }
    Ok(Lifted { module, info })
}

fn geometry_info(sph: &Sph, gpu: &dyn GpuAccessor) -> GeometryInfo {
    GeometryInfo {
        input: gpu.input_primitive(),
        output_vertices: match sph.topology {
            _ if sph.geometry_passthrough => gpu.input_primitive().vertices().min(3),
            Some(Topology::Points) => 1,
            Some(Topology::LineStrip) => 2,
            Some(Topology::TriangleStrip) | None => 3,
        },
        max_vertices: match sph.geometry_passthrough {
            true => gpu.input_primitive().vertices(),
            false => u32::from(sph.max_output_vertices).max(1),
        },
        invocations: threads(sph),
    }
}

/// Invocations per primitive or patch.
fn threads(sph: &Sph) -> u32 {
    u32::from(sph.threads_per_primitive).max(1)
}

/// What transform feedback captures of a stage's outputs. What the program does not write is left out.
fn captures(module: &Module, gpu: &dyn GpuAccessor) -> Result<Vec<Capture>, LiftError> {
    /// Words of the position in the attribute space.
    const POSITION: std::ops::Range<u8> = 28..32;
    const POINT_SIZE: u8 = 27;
    /// The first word of generic attributes, and the first behind them.
    const GENERIC: std::ops::Range<u8> = 32..160;
    let output = |semantic: Semantic| {
        let mut vars = module.vars.iter();
        vars.find(|(_, v)| v.direction == Direction::Output && v.semantic == semantic).map(|(var, _)| var)
    };
    let mut all: Vec<Capture> = Vec::new();
    for buffer in 0..CAPTURE_BUFFERS {
        let Some(captured) = gpu.captured(buffer) else { continue };
        if captured.stride % 4 != 0 || captured.words.len() as u64 * 4 > captured.stride.into() {
            return Err(LiftError::Stage("captured words have to fit into the stride, a multiple of 4"));
        }
        for (i, &word) in (0u32..).zip(&captured.words) {
            let semantic = match word {
                Captured::NOTHING => continue,
                w if GENERIC.contains(&w) => {
                    let n = w - GENERIC.start;
                    Semantic::Location { location: u32::from(n / 4), component: n % 4 }
                }
                POINT_SIZE => Semantic::Builtin(Builtin::PointSize),
                w if POSITION.contains(&w) => {
                    let first = i.checked_sub(u32::from(w - POSITION.start));
                    let at = first.map_or(usize::MAX, |first| first as usize);
                    let whole = at.checked_add(4).and_then(|end| captured.words.get(at..end));
                    if !whole.is_some_and(|words| words.iter().copied().eq(POSITION)) {
                        return Err(LiftError::Stage("a position is captured as a whole"));
                    }
                    if w != POSITION.start {
                        continue;
                    }
                    Semantic::Builtin(Builtin::Position)
                }
                _ => {
                    return Err(LiftError::Stage(
                        "positions, point sizes and generic attributes are captured",
                    ));
                }
            };
            let Some(var) = output(semantic) else { continue };
            if all.iter().any(|c| c.var == var) {
                return Err(LiftError::Stage("hosts capture an output once"));
            }
            all.push(Capture { var, buffer, offset: 4 * i, stride: captured.stride });
        }
    }
    all.sort_unstable_by_key(|capture| capture.var);
    Ok(all)
}

/// The fixed functions around a stage.
fn pipeline(sph: &Sph, gpu: &dyn GpuAccessor, geometry: Option<GeometryInfo>) -> Result<Pipeline, LiftError> {
    let patch_vertices = (sph.stage == Stage::TessControl).then(|| threads(sph));
    if patch_vertices.is_some_and(|n| n > MOST_PATCH_VERTICES) {
        return Err(LiftError::Stage("a patch has at most 32 vertices"));
    }
    Ok(Pipeline {
        early_fragment_tests: sph.stage == Stage::Fragment && gpu.early_fragment_tests(),
        dual_source: sph.stage == Stage::Fragment && gpu.dual_source_blend(),
        geometry: geometry.map(|g| stage::Geometry {
            input_vertices: g.input.vertices(),
            output_vertices: g.output_vertices,
            max_vertices: g.max_vertices,
            invocations: g.invocations,
        }),
        patch_vertices,
        tessellation: (sph.stage == Stage::TessEval).then(|| gpu.tessellator().into()),
        ..Pipeline::default()
    })
}

impl Cx<'_> {
    /// What a program does where it ends.
    fn finish(&mut self) -> Result<(), Unsupported> {
        match self.io.sph {
            Some(Sph { stage: Stage::Fragment, .. }) => self.put_fragment(),
            Some(Sph { stage: Stage::Geometry, geometry_passthrough: true, .. }) => self.pass_through(),
            Some(Sph { stage: Stage::Vertex | Stage::TessEval, .. }) => self.put_out(),
            _ => Ok(()),
        }
    }

    /// What the shader uses, when all of it is lifted.
    pub fn finished_info(self) -> ShaderInfo {
        let mut info = self.info;
        info.textures = self.bound.textures.into_iter().map(|(t, _)| t).collect();
        info.images = self.bound.images.into_iter().map(|(i, _)| i).collect();
        let Some(graphics) = &mut info.graphics else { return info };
        let mut varyings: BTreeMap<(bool, bool, u32), u8> = BTreeMap::new();
        for var in self.module.vars.values() {
            let output = var.direction == Direction::Output;
            match var.semantic {
                Semantic::Location { location, component } => {
                    let key = (output, var.interpolation == Interpolation::Patch, location);
                    let lanes = (1u8 << var.ty.lanes()) - 1;
                    *varyings.entry(key).or_default() |= lanes << component;
                }
                Semantic::Builtin(builtin) if output => graphics.builtin_outputs.push(builtin.name().into()),
                Semantic::Builtin(builtin) => graphics.builtin_inputs.push(builtin.name().into()),
            }
        }
        for ((output, patch, location), components) in varyings {
            let varying = Varying { location, components, patch };
            if output { &mut graphics.outputs } else { &mut graphics.inputs }.push(varying);
        }
        info
    }
}
