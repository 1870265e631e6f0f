//! The module's own facts: names, variables, resources, the entry, the call graph.

use super::{Place, Sink};
use crate::entities::Func;
use crate::imm::Imm;
use crate::module::{Builtin, Count, Direction, Interpolation, ResourceKind, Semantic, Stage, VarData};
use crate::op::Op;
use crate::stage::Depth;
use crate::text::{Quoted, is_name};
use crate::ty::{Kind, Type};
use cranelift_entity::SecondaryMap;
use std::collections::HashSet;

pub(super) fn check(sink: &mut Sink) {
    let m = sink.module;
    names(sink, "function", m.funcs.values().map(|f| &f.name[..]));
    names(sink, "variable", m.vars.values().map(|v| &v.name[..]));
    names(sink, "resource", m.resources.values().map(|r| &r.name[..]));
    if m.workgroup.contains(&0) {
        sink.report(format_args!("a size of the workgroup is 0"));
    }
    pipeline(sink);
    for var in m.vars.values() {
        variable(sink, var);
    }
    captures(sink);
    overlaps(sink);
    resources(sink);
    entry(sink);
    call_graph(sink);
    pure_calls(sink);
}

/// Reports stages without the facts that they cannot do without, facts of other stages, and numbers that no stage has.
fn pipeline(sink: &mut Sink) {
    let (stage, facts) = (sink.module.stage, sink.module.pipeline);
    let mut owned = |what: &str, there: bool, stages: &[Stage], needed: &[Stage]| {
        if there && !stages.contains(&stage) {
            sink.report(format_args!("stage {} has no {what}", stage.name()));
        }
        if !there && needed.contains(&stage) {
            sink.report(format_args!("stage {} needs its {what}", stage.name()));
        }
    };
    owned("early tests", facts.early_fragment_tests, &[Stage::Fragment], &[]);
    owned("comparison of depth", facts.depth != Depth::Any, &[Stage::Fragment], &[]);
    owned("second source of blending", facts.dual_source, &[Stage::Fragment], &[]);
    let before_rasteriser = [Stage::Vertex, Stage::TessEval, Stage::Geometry, Stage::Mesh];
    owned("invariant position", facts.invariant_position, &before_rasteriser, &[]);
    owned("geometry", facts.geometry.is_some(), &[Stage::Geometry], &[Stage::Geometry]);
    owned("patch", facts.patch_vertices.is_some(), &[Stage::TessControl], &[Stage::TessControl]);
    let tessellation = [Stage::TessControl, Stage::TessEval];
    owned("tessellator", facts.tessellation.is_some(), &tessellation, &[Stage::TessEval]);
    owned("mesh", facts.mesh.is_some(), &[Stage::Mesh], &[Stage::Mesh]);
    if let Some(g) = facts.geometry {
        let known = matches!(g.input_vertices, 1..=4 | 6) && matches!(g.output_vertices, 1..=3);
        if !known || g.invocations == 0 {
            sink.report(format_args!("no geometry shader has such primitives or invocations"));
        }
    }
    if facts.patch_vertices.is_some_and(|n| !(1..=32).contains(&n)) {
        sink.report(format_args!("a patch has 1 to 32 vertices"));
    }
    if facts.mesh.is_some_and(|m| !(1..=3).contains(&m.primitive_vertices)) {
        sink.report(format_args!("a mesh's primitive has 1 to 3 vertices"));
    }
}

/// Reports captures of what is no output, and places that no buffer has.
fn captures(sink: &mut Sink) {
    let m = sink.module;
    for capture in &m.captures {
        let output = m.vars.get(capture.var).filter(|var| var.direction == Direction::Output);
        let Some(var) = output else {
            sink.report(format_args!("what is captured is no output"));
            continue;
        };
        if !matches!(m.stage, Stage::Vertex | Stage::TessEval | Stage::Geometry) {
            sink.report(format_args!("`{}` is captured in stage {}", var.name, m.stage.name()));
        }
        let bytes = var.ty.bytes().unwrap_or(0).saturating_mul(var.array.unwrap_or(1));
        let fits = capture.offset.checked_add(bytes).is_some_and(|end| end <= capture.stride);
        if capture.buffer > 3 || capture.offset % 4 != 0 || capture.stride % 4 != 0 || !fits {
            sink.report(format_args!("`{}` is captured where no buffer has it", var.name));
        }
    }
}

/// Reports names that are no identifiers or occur twice.
pub(super) fn names<'a>(sink: &mut Sink, what: &str, names: impl Iterator<Item = &'a str>) {
    let mut seen = HashSet::new();
    for name in names {
        if !is_name(name) {
            sink.report(format_args!("{} is no name for a {what}", Quoted(name)));
        } else if !seen.insert(name) {
            sink.report(format_args!("two {what}s are called `{name}`"));
        }
    }
}

/// Type and direction of a builtin; whether it is an array of that type.
fn builtin(var: &VarData, b: Builtin) -> (Type, Option<Direction>, bool) {
    use Builtin as B;
    let (input, output) = (Some(Direction::Input), Some(Direction::Output));
    match b {
        B::Position => (Type::F32X4, None, false),
        B::PointSize => (Type::F32, None, false),
        B::ClipDistance | B::CullDistance | B::TessLevelOuter | B::TessLevelInner => (Type::F32, None, true),
        B::FragCoord => (Type::F32X4, input, false),
        B::PointCoord => (Type::F32X2, input, false),
        B::FrontFacing | B::FullyCovered => (Type::BOOL, input, false),
        B::FragDepth => (Type::F32, output, false),
        B::StencilRef | B::ViewportMask => (Type::I32, output, false),
        B::BaryCoord | B::BaryCoordLinear => (Type::F32X3, input, false),
        // Its lanes are the primitive's vertices.
        B::PrimitiveIndices => (var.ty, output, true),
        B::CullPrimitive => (Type::BOOL, output, true),
        B::PrimitiveId | B::SampleMask | B::Layer | B::ViewportIndex | B::ShadingRate => {
            (Type::I32, None, false)
        }
        B::TessCoord => (Type::F32X3, input, false),
        B::GlobalInvocationId | B::LocalInvocationId | B::WorkgroupId | B::NumWorkgroups => {
            (Type::I32X3, input, false)
        }
        B::LaunchId | B::LaunchSize => (Type::I32X3, input, false),
        B::WorldRayOrigin | B::WorldRayDirection | B::ObjectRayOrigin | B::ObjectRayDirection => {
            (Type::F32X3, input, false)
        }
        B::ObjectToWorld | B::WorldToObject => (Type::F32X3, input, true),
        B::RayTMin => (Type::F32, input, false),
        B::RayFlags | B::HitKind | B::InstanceId | B::InstanceCustomIndex | B::GeometryIndex => {
            (Type::I32, input, false)
        }
        B::BaseInstance | B::BaseVertex | B::DrawIndex | B::PatchVertices | B::ViewIndex => {
            (Type::I32, input, false)
        }
        B::VertexIndex | B::InstanceIndex | B::InvocationId | B::SampleId | B::LocalInvocationIndex => {
            (Type::I32, input, false)
        }
    }
}

/// Whether variables of this direction exist once per vertex of a primitive, as arrays.
fn is_per_vertex(stage: Stage, var: &VarData) -> bool {
    match var.direction {
        _ if var.interpolation == Interpolation::Patch => false,
        Direction::Input if var.interpolation == Interpolation::PerVertex => stage == Stage::Fragment,
        Direction::Input => matches!(stage, Stage::TessControl | Stage::TessEval | Stage::Geometry),
        Direction::Output => matches!(stage, Stage::TessControl | Stage::Mesh),
    }
}

fn variable(sink: &mut Sink, var: &VarData) {
    let stage = sink.module.stage;
    let name = &var.name;
    if var.array == Some(0) {
        sink.report(format_args!("variable `%{name}` is an array of nothing"));
    }
    if var.inner == Some(0) {
        sink.report(format_args!("variable `%{name}` is an array of arrays of nothing"));
    }
    if var.stream > 3 || (var.stream != 0 && (stage, var.direction) != (Stage::Geometry, Direction::Output)) {
        sink.report(format_args!("variable `%{name}` is of a stream that there is not"));
    }
    match var.interpolation {
        Interpolation::PerPrimitive if !matches!(stage, Stage::Mesh | Stage::Fragment) => {
            sink.report(format_args!("variable `%{name}` is of a primitive, but {} has none", stage.name()));
        }
        Interpolation::PerVertex if stage != Stage::Fragment || var.array != Some(3) => {
            sink.report(format_args!("variable `%{name}` is no array of a fragment's three vertices"));
        }
        _ => {}
    }
    match var.semantic {
        Semantic::Builtin(b) => {
            let (ty, direction, array) = builtin(var, b);
            if var.ty != ty {
                sink.report(format_args!("variable `%{name}` is {}, but {} is {ty}", var.ty, b.name()));
            }
            if direction.is_some_and(|d| d != var.direction) {
                let direction = var.direction.name();
                sink.report(format_args!("variable `%{name}`: {} is no {direction}", b.name()));
            }
            if var.array.is_some() != array && !is_per_vertex(stage, var) {
                let is = if array { "an" } else { "no" };
                sink.report(format_args!("variable `%{name}`: {} is {is} array", b.name()));
            }
            if b == Builtin::PrimitiveIndices && (ty.kind() != Kind::I32 || ty.lanes() > 3) {
                sink.report(format_args!("variable `%{name}` is {ty}, no one to three indices"));
            }
            if var.inner.is_some() && (var.array.is_none() || !array || !is_per_vertex(stage, var)) {
                sink.report(format_args!("variable `%{name}`: {} is no array of arrays", b.name()));
            }
        }
        Semantic::Location { component, .. } => {
            let graphics = matches!(
                stage,
                Stage::Vertex
                    | Stage::TessControl
                    | Stage::TessEval
                    | Stage::Geometry
                    | Stage::Fragment
                    | Stage::Mesh
            );
            if !graphics {
                let stage = stage.name();
                sink.report(format_args!("variable `%{name}` is at a location, but {stage} has none"));
            }
            let kind = var.ty.kind();
            if !kind.is_int() && !kind.is_float() {
                sink.report(format_args!("variable `%{name}` at a location is {}", var.ty));
            } else if !fits_location(var.ty, component) {
                sink.report(format_args!(
                    "variable `%{name}`: {} does not fit a location from component {component} on",
                    var.ty
                ));
            }
            if var.interpolation == Interpolation::Patch
                && !matches!(stage, Stage::TessControl | Stage::TessEval)
            {
                sink.report(format_args!("variable `%{name}` is of a patch, but {} has none", stage.name()));
            }
            if var.inner.is_some() {
                sink.report(format_args!("variable `%{name}` at a location is an array of arrays"));
            }
            use Interpolation as I;
            let smooth = !matches!(var.interpolation, I::Flat | I::PerVertex | I::PerPrimitive);
            let stepped = kind.is_int() || kind == Kind::F64;
            if stage == Stage::Fragment && var.direction == Direction::Input && smooth && stepped {
                sink.report(format_args!("variable `%{name}` is {} and not flat", var.ty));
            }
        }
    }
}

/// Components a variable takes of its location: lanes up to 32 bits take one, wider ones two.
fn components(ty: Type) -> u32 {
    u32::from(ty.lanes()) * if ty.kind().bits() > 32 { 2 } else { 1 }
}

fn fits_location(ty: Type, component: u8) -> bool {
    let wide = ty.kind().bits() > 32;
    // More than two wide lanes go on in the next location.
    if wide && ty.lanes() > 2 {
        return component == 0;
    }
    u32::from(component) + components(ty) <= 4 && !(wide && component % 2 == 1)
}

/// The locations and components of a variable; the ends are exclusive.
struct Span<'a> {
    var: &'a VarData,
    first: u64,
    end: u64,
    component: u32,
    component_end: u32,
}

/// Reports builtins that occur twice and variables that share a component.
fn overlaps(sink: &mut Sink) {
    let m = sink.module;
    let mut builtins = HashSet::new();
    let mut spans: Vec<Span> = Vec::new();
    for var in m.vars.values() {
        match var.semantic {
            Semantic::Builtin(b) => {
                if !builtins.insert((var.direction, b)) {
                    let (direction, b) = (var.direction.name(), b.name());
                    sink.report(format_args!("{direction} {b} is declared twice"));
                }
            }
            Semantic::Location { location, component } => {
                let elements = match var.array {
                    Some(n) if !is_per_vertex(m.stage, var) => n,
                    _ => 1,
                };
                let taken = components(var.ty);
                let end = u64::from(location) + u64::from(elements) * u64::from(taken.div_ceil(4));
                let component = u32::from(component);
                let component_end = component + taken.min(4);
                spans.push(Span { var, first: u64::from(location), end, component, component_end });
            }
        }
    }
    // Values of patches have locations of their own.
    let groups = [Direction::Input, Direction::Output].map(|d| [(d, false), (d, true)]);
    for group in groups.into_iter().flatten() {
        let of = |var: &VarData| (var.direction, var.interpolation == Interpolation::Patch);
        let mut sorted: Vec<&Span> = spans.iter().filter(|s| of(s.var) == group).collect();
        sorted.sort_by_key(|s| (s.first, s.component));
        // Variables that reach the location at hand: four at most, because they do not overlap.
        let mut active: Vec<&Span> = Vec::new();
        for span in sorted {
            active.retain(|a| a.end > span.first);
            let clash =
                active.iter().find(|a| a.component < span.component_end && span.component < a.component_end);
            match clash {
                Some(a) => sink.report(format_args!(
                    "variables `%{}` and `%{}` overlap at location {}",
                    a.var.name, span.var.name, span.first
                )),
                None => active.push(span),
            }
        }
    }
}

fn resources(sink: &mut Sink) {
    let mut push = 0;
    for r in sink.module.resources.values() {
        let name = &r.name;
        if r.count == Count::Fixed(0) {
            sink.report(format_args!("resource `@{name}` is an array of nothing"));
        }
        match r.kind {
            ResourceKind::UniformBuffer { size } if size == 0 || size % 16 != 0 => {
                sink.report(format_args!(
                    "uniform buffer `@{name}` has {size} bytes, no positive multiple of 16"
                ));
            }
            ResourceKind::PushConstants { size } => {
                push += 1;
                if size == 0 || size % 4 != 0 {
                    sink.report(format_args!(
                        "push constants `@{name}` have {size} bytes, no positive multiple of 4"
                    ));
                }
                if r.count != Count::One {
                    sink.report(format_args!("push constants `@{name}` are an array"));
                }
                if push == 2 {
                    sink.report(format_args!("push constants `@{name}` are not the only ones"));
                }
            }
            ResourceKind::Payload { size, .. } if size == 0 || size % 4 != 0 => {
                sink.report(format_args!("payload `@{name}` has {size} bytes, no positive multiple of 4"));
            }
            _ => {}
        }
        let is_wrong = match r.kind {
            ResourceKind::Payload { .. } => r.count != Count::One,
            ResourceKind::RayQuery | ResourceKind::HitObject => r.count == Count::Unbounded,
            _ => false,
        };
        if is_wrong {
            sink.report(format_args!("`@{name}` is an array, of what has no descriptor"));
        }
    }
}

fn entry(sink: &mut Sink) {
    let m = sink.module;
    let Some(id) = m.entry.expand() else {
        if m.stage != Stage::Cpu {
            sink.report(format_args!("the module has no entry"));
        }
        return;
    };
    let Some(f) = m.funcs.get(id) else {
        return sink.report(format_args!("the entry {id} does not exist"));
    };
    if m.stage == Stage::Cpu {
        return;
    }
    sink.place = Place::Func(f);
    let params = f.entry().and_then(|b| f.blocks.get(b)).map_or(0, |b| b.params.len());
    if params != 0 || !f.returns.is_empty() {
        sink.report(format_args!("the entry of a shader takes and returns nothing"));
    }
    sink.place = Place::Module;
}

/// Functions that `f` calls; ids may be wrong.
fn callees(sink: &Sink, f: Func) -> Vec<Func> {
    let Some(f) = sink.module.funcs.get(f) else { return Vec::new() };
    let mut out = Vec::new();
    for block in f.layout.iter().filter_map(|&b| f.blocks.get(b)) {
        for data in block.insts.iter().filter_map(|&i| f.insts.get(i)) {
            if matches!(data.op, Op::Call | Op::CallPure)
                && let Imm::Func(callee) = data.imm
            {
                out.push(callee);
            }
        }
    }
    out.sort();
    out.dedup();
    out
}

/// Reports functions that `call.pure` calls and that do more than compute.
fn pure_calls(sink: &mut Sink) {
    let m = sink.module;
    let mut called = SecondaryMap::<Func, bool>::with_capacity(m.funcs.len());
    let calls = m.funcs.values().flat_map(|f| f.insts.values()).filter(|data| data.op == Op::CallPure);
    for data in calls {
        if let Imm::Func(callee) = data.imm
            && m.funcs.is_valid(callee)
        {
            called[callee] = true;
        }
    }
    for (_, f) in m.funcs.iter().filter(|(id, _)| called[*id]) {
        let in_blocks = f.layout.iter().filter_map(|&b| f.blocks.get(b)).flat_map(|b| &b.insts);
        let other = in_blocks.filter_map(|&i| f.insts.get(i)).find(|data| !data.op.info().traits.pure);
        if let Some(data) = other {
            sink.place = Place::Func(f);
            sink.report(format_args!("`call.pure` of a function with `{}`", data.op.info().name));
            sink.place = Place::Module;
        }
    }
}

/// Reports cycles of the call graph, and calls of a shader's entry.
fn call_graph(sink: &mut Sink) {
    #[derive(Clone, Copy, PartialEq, Default)]
    enum State {
        #[default]
        New,
        Open,
        Done,
    }
    let m = sink.module;
    let mut state = SecondaryMap::<Func, State>::with_capacity(m.funcs.len());
    let mut stack: Vec<(Func, std::vec::IntoIter<Func>)> = Vec::new();
    for root in m.funcs.keys() {
        if state[root] == State::New {
            state[root] = State::Open;
            stack.push((root, callees(sink, root).into_iter()));
        }
        while let Some((caller, left)) = stack.last_mut() {
            let caller = *caller;
            let Some(callee) = left.next() else {
                state[caller] = State::Done;
                stack.pop();
                continue;
            };
            if !m.funcs.is_valid(callee) {
                continue; // reported with the instruction
            }
            let name = &m.funcs[callee].name;
            if m.stage != Stage::Cpu && m.entry.expand() == Some(callee) {
                sink.report(format_args!("`@{}` calls the entry `@{name}`", m.funcs[caller].name));
            }
            match state[callee] {
                State::New => {
                    state[callee] = State::Open;
                    let next = callees(sink, callee).into_iter();
                    stack.push((callee, next));
                }
                State::Open => {
                    sink.report(format_args!("recursion: `@{}` calls `@{name}`", m.funcs[caller].name));
                }
                State::Done => {}
            }
        }
    }
}
