//! The head of the output: version, extensions, inputs, outputs, resources.

use crate::buffers::Buffers;
use crate::error::Error;
use crate::expr::Sel;
use crate::literal::{push_number, type_name};
use crate::options::{Options, Target};
use crate::writer::{Extension, ModuleNames, Writer, precise};
use std::fmt::Write;
use xenoglot_ir::module::{
    Access, Builtin, Capture, Direction, Interpolation, ResourceKind, Semantic, VarData,
};
use xenoglot_ir::{Imm, Inst, Kind, Module, Op, Stage, Type, Value};

/// Version, extensions and default precision.
pub(crate) fn head(module: &Module, target: Target, extensions: u32) -> String {
    let mut out = String::from(match target {
        Target::Gl330 => "#version 330 core\n",
        Target::Gl450 | Target::Vulkan450 => "#version 450\n",
        Target::Es310 => "#version 310 es\n",
    });
    if module.relaxed_floats {
        out.push_str("// relaxed floats: those of the host, not of the guest\n");
    }
    for e in Extension::ALL {
        if extensions >> e as u32 & 1 == 1 {
            let _ = writeln!(out, "#extension {} : require", e.name());
        }
    }
    out.push_str(match target {
        // glslang defines the macro but knows the keyword from version 400 on only; its own macro tells it apart.
        Target::Gl330 => {
            "#if defined(GL_ARB_gpu_shader5) && !defined(GL_GOOGLE_cpp_style_line_directive)\n\
             #extension GL_ARB_gpu_shader5 : enable\n#define PRECISE precise\n#else\n#define PRECISE\n#endif\n"
        }
        Target::Es310 => {
            "#ifdef GL_EXT_gpu_shader5\n#extension GL_EXT_gpu_shader5 : enable\n#define PRECISE precise\n\
             #else\n#define PRECISE\n#endif\nprecision highp float;\nprecision highp int;\n"
        }
        _ => "",
    });
    out.push('\n');
    out
}

/// Declarations of everything the module's functions use.
pub(crate) fn write(
    out: &mut String,
    module: &Module,
    options: &Options,
    names: &ModuleNames,
    buffers: &Buffers,
    extensions: &mut u32,
) -> Result<(), Error> {
    let target = options.target;
    if let Some(capture) = module.captures.first().filter(|_| !target.is_450()) {
        let name = module.vars.get(capture.var).map(|var| var.name.clone()).unwrap_or_default();
        return Err(Error::UnsupportedDeclaration { name, reason: "captured outputs need version 450" });
    }
    crate::stage::write(out, module, target)?;
    if module.stage == Stage::Compute {
        let [x, y, z] = module.workgroup;
        let _ = writeln!(out, "layout(local_size_x = {x}, local_size_y = {y}, local_size_z = {z}) in;\n");
    }
    let start = out.len();
    let mut members = Vec::new();
    for (id, var) in module.vars.iter() {
        let name = names.vars.get(id).ok_or(Error::Malformed("a variable that does not exist"))?;
        let capture = module.captures.iter().find(|capture| capture.var == id);
        if let (Semantic::Builtin(builtin), Some(capture)) = (var.semantic, capture) {
            members.push((var, builtin, capture));
            continue;
        }
        match var.semantic {
            Semantic::Location { location, component } => {
                let second =
                    module.pipeline.dual_source && var.direction == Direction::Output && location == 1;
                if second && target == Target::Es310 {
                    let (name, reason) = (var.name.clone(), "a second source of blending");
                    return Err(Error::UnsupportedDeclaration { name, reason });
                }
                let location = if second { 0 } else { location };
                let place = (location, second, component);
                variable(out, module.stage, target, var, name, place, capture)?;
            }
            Semantic::Builtin(builtin) => {
                redeclare(out, module, target, var, builtin, extensions)?;
            }
        }
    }
    captured_builtins(out, target, &members)?;
    resources(out, module, target, names, buffers)?;
    crate::texture::declare(out, module, target, names, extensions)?;
    if buffers.shared {
        let _ = writeln!(out, "shared uint {}[{}];", names.shared, module.shared_size.div_ceil(4).max(1));
    }
    if out.len() > start {
        out.push('\n');
    }
    Ok(())
}

const NO_INTERPOLATION: &str = "its interpolation has no form in this version";

fn variable(
    out: &mut String,
    stage: Stage,
    target: Target,
    var: &VarData,
    name: &str,
    (location, second, component): (u32, bool, u8),
    capture: Option<&Capture>,
) -> Result<(), Error> {
    let refuse = |reason| Err(Error::UnsupportedDeclaration { name: var.name.clone(), reason });
    if !matches!(var.ty.kind(), Kind::F32 | Kind::I32) {
        return refuse("only 32-bit floats and integers pass between stages");
    }
    if stage == Stage::Compute {
        return refuse("compute has no inputs and outputs");
    }
    if var.stream != 0 {
        return refuse("vertex streams");
    }
    if matches!(var.interpolation, Interpolation::PerVertex | Interpolation::PerPrimitive) {
        return refuse(NO_INTERPOLATION);
    }
    let input = var.direction == Direction::Input;
    let ends = if input { Stage::Vertex } else { Stage::Fragment };
    let varying = stage != ends;
    if component != 0 && !target.is_450() {
        return refuse("components of a location need version 450");
    }
    let located = !(target == Target::Gl330 && varying);
    if located || capture.is_some() {
        out.push_str("layout(");
        if located {
            out.push_str("location = ");
            push_number(out, location);
            if second {
                out.push_str(", index = 1");
            }
            if component != 0 {
                let _ = write!(out, ", component = {component}");
            }
        }
        if let Some(Capture { buffer, offset, stride, .. }) = capture {
            let comma = if located { ", " } else { "" };
            let _ = write!(out, "{comma}xfb_buffer = {buffer}, xfb_stride = {stride}, xfb_offset = {offset}");
        }
        out.push_str(") ");
    }
    if varying {
        match var.interpolation {
            Interpolation::Patch => out.push_str("patch "),
            _ if stage != Stage::Fragment && stage != Stage::Vertex => {}
            _ if var.ty.kind() != Kind::F32 => out.push_str("flat "),
            Interpolation::Smooth => {}
            Interpolation::Flat => out.push_str("flat "),
            Interpolation::Linear if target == Target::Es310 => {
                return refuse("ES has no linear interpolation");
            }
            Interpolation::Linear => out.push_str("noperspective "),
            Interpolation::Centroid => out.push_str("centroid "),
            Interpolation::LinearCentroid if target.is_450() => out.push_str("noperspective centroid "),
            Interpolation::Sample if target.is_450() => out.push_str("sample "),
            Interpolation::LinearSample if target.is_450() => out.push_str("noperspective sample "),
            _ => return refuse(NO_INTERPOLATION),
        }
    }
    if var.ty.kind().bits() < 32 && var.ty.kind() != Kind::Bool {
        return refuse("an interface variable of less than 32 bits");
    }
    let precise = if input || var.ty.kind() != Kind::F32 { "" } else { precise(target) };
    for part in [if input { "in " } else { "out " }, precise, type_name(var.ty)?, " ", name] {
        out.push_str(part);
    }
    if let Some(n) = var.array {
        match crate::stage::is_per_vertex(stage, var) {
            true => out.push_str("[]"),
            false => {
                let _ = write!(out, "[{n}]");
            }
        }
    }
    out.push_str(";\n");
    Ok(())
}

fn no_builtin(var: &VarData) -> Error {
    Error::UnsupportedDeclaration { name: var.name.clone(), reason: "not a builtin of this version" }
}

/// Captured builtins are members of the block of builtins, which has one buffer.
fn captured_builtins(
    out: &mut String,
    target: Target,
    members: &[(&VarData, Builtin, &Capture)],
) -> Result<(), Error> {
    let Some(&(_, _, &Capture { buffer, stride, .. })) = members.first() else { return Ok(()) };
    let _ = writeln!(out, "layout(xfb_buffer = {buffer}, xfb_stride = {stride}) out gl_PerVertex {{");
    for (var, builtin, capture) in members {
        if capture.buffer != buffer {
            let reason = "builtins are captured in one buffer";
            return Err(Error::UnsupportedDeclaration { name: var.name.clone(), reason });
        }
        let name = builtin_name(*builtin, var.direction, target).ok_or_else(|| no_builtin(var))?;
        let (offset, ty) = (capture.offset, type_name(var.ty)?);
        let _ = write!(out, "    layout(xfb_offset = {offset}) precise {ty} {name}");
        if let Some(n) = var.array {
            let _ = write!(out, "[{n}]");
        }
        out.push_str(";\n");
    }
    out.push_str("};\n");
    Ok(())
}

/// Outputs among the builtins are declared again where they need a qualifier or a size.
fn redeclare(
    out: &mut String,
    module: &Module,
    target: Target,
    var: &VarData,
    builtin: Builtin,
    extensions: &mut u32,
) -> Result<(), Error> {
    let stage = module.stage;
    let of_draw = matches!(builtin, Builtin::BaseInstance | Builtin::BaseVertex | Builtin::DrawIndex);
    if of_draw && target.is_450() {
        *extensions |= 1 << Extension::DrawParameters as u32;
    }
    if var.direction == Direction::Input {
        return Ok(());
    }
    builtin_name(builtin, var.direction, target).ok_or_else(|| no_builtin(var))?;
    if var.inner.is_some() {
        return Err(no_builtin(var));
    }
    match builtin {
        Builtin::ClipDistance => {
            if target == Target::Es310 {
                *extensions |= 1 << Extension::ClipDistance as u32;
            }
            let _ = writeln!(out, "out float gl_ClipDistance[{}];", var.array.unwrap_or(1));
        }
        Builtin::CullDistance => {
            let _ = writeln!(out, "out float gl_CullDistance[{}];", var.array.unwrap_or(1));
        }
        // The core language has these from geometry shaders on.
        Builtin::Layer | Builtin::ViewportIndex if matches!(stage, Stage::Vertex | Stage::TessEval) => {
            *extensions |= 1 << Extension::ViewportLayer as u32;
        }
        Builtin::ViewportMask => *extensions |= 1 << Extension::ViewportMask as u32,
        Builtin::Position => {
            match (module.pipeline.invariant_position, target.is_450() && stage == Stage::Vertex) {
                (true, true) => out.push_str("invariant precise gl_Position;\n"),
                (true, false) => out.push_str("invariant gl_Position;\n"),
                (false, true) => out.push_str("precise gl_Position;\n"),
                (false, false) => {}
            }
        }
        _ => {}
    }
    Ok(())
}

fn resources(
    out: &mut String,
    module: &Module,
    target: Target,
    names: &ModuleNames,
    buffers: &Buffers,
) -> Result<(), Error> {
    for (id, data) in module.resources.iter() {
        let view = buffers.view(id);
        if !view.used {
            continue;
        }
        let name = names.resources.get(id).ok_or(Error::Malformed("a resource that does not exist"))?;
        let place = match target {
            Target::Vulkan450 => format!(", set = {}, binding = {}", data.set, data.binding),
            Target::Gl330 => String::new(),
            _ => format!(", binding = {}", data.binding),
        };
        let (head, precise) = match data.kind {
            ResourceKind::StorageBuffer { access } => {
                let mut head = format!("layout(std430{place}) ");
                head.push_str(match access {
                    Access::Read => "readonly ",
                    Access::Write => "writeonly ",
                    Access::ReadWrite => "",
                });
                head.push_str(if view.coherent { "coherent " } else { "" });
                head.push_str(if view.volatile { "volatile " } else { "" });
                head.push_str("buffer");
                (head, precise(target))
            }
            ResourceKind::PushConstants { .. } if target == Target::Vulkan450 => {
                ("layout(push_constant, std430) uniform".to_owned(), "")
            }
            _ => (format!("layout(std140{place}) uniform"), ""),
        };
        let count = view.count.map(|n| n.to_string()).unwrap_or_default();
        let _ = writeln!(
            out,
            "{head} {name}_block {{\n    {precise}{} {name}[{count}];\n}};",
            view.element.name()
        );
        if view.wide {
            let name = names.wide.get(id).ok_or(Error::Malformed("a resource that does not exist"))?;
            let _ = writeln!(out, "{head} {name}_block {{\n    uint64_t {name}[];\n}};");
        }
    }
    Ok(())
}

/// The GLSL name of a builtin; `None` where the target or direction has none.
fn builtin_name(builtin: Builtin, direction: Direction, target: Target) -> Option<&'static str> {
    let vulkan = target == Target::Vulkan450;
    let modern = target.is_450();
    let input = direction == Direction::Input;
    Some(match builtin {
        Builtin::Position if !input => "gl_Position",
        Builtin::PointSize if !input => "gl_PointSize",
        Builtin::ClipDistance => "gl_ClipDistance",
        Builtin::CullDistance if modern => "gl_CullDistance",
        Builtin::VertexIndex if vulkan => "gl_VertexIndex",
        Builtin::VertexIndex => "gl_VertexID",
        Builtin::InstanceIndex if vulkan => "gl_InstanceIndex",
        Builtin::InstanceIndex => "gl_InstanceID",
        Builtin::PrimitiveId if target != Target::Es310 => "gl_PrimitiveID",
        Builtin::FragCoord if input => "gl_FragCoord",
        Builtin::FrontFacing if input => "gl_FrontFacing",
        Builtin::FragDepth if !input => "gl_FragDepth",
        Builtin::SampleMask if modern && input => "gl_SampleMaskIn[0]",
        Builtin::SampleMask if modern => "gl_SampleMask[0]",
        Builtin::SampleId if modern => "gl_SampleID",
        Builtin::PointCoord if input => "gl_PointCoord",
        Builtin::BaseInstance if modern => "gl_BaseInstanceARB",
        Builtin::BaseVertex if modern => "gl_BaseVertexARB",
        Builtin::DrawIndex if modern => "gl_DrawIDARB",
        Builtin::PatchVertices if modern => "gl_PatchVerticesIn",
        Builtin::InvocationId if modern => "gl_InvocationID",
        Builtin::TessCoord if modern => "gl_TessCoord",
        Builtin::TessLevelOuter if modern => "gl_TessLevelOuter",
        Builtin::TessLevelInner if modern => "gl_TessLevelInner",
        Builtin::Position | Builtin::PointSize if modern => {
            if builtin == Builtin::Position {
                "gl_Position"
            } else {
                "gl_PointSize"
            }
        }
        Builtin::Layer if modern => "gl_Layer",
        Builtin::ViewportIndex if modern => "gl_ViewportIndex",
        Builtin::ViewportMask if modern => "gl_ViewportMask[0]",
        Builtin::GlobalInvocationId => "gl_GlobalInvocationID",
        Builtin::LocalInvocationId => "gl_LocalInvocationID",
        Builtin::WorkgroupId => "gl_WorkGroupID",
        Builtin::NumWorkgroups => "gl_NumWorkGroups",
        Builtin::LocalInvocationIndex => "gl_LocalInvocationIndex",
        _ => return None,
    })
}

/// Whether GLSL has a builtin as `int` where the IR has a signless integer.
fn is_signed(builtin: Builtin) -> bool {
    matches!(
        builtin,
        Builtin::VertexIndex
            | Builtin::InstanceIndex
            | Builtin::PrimitiveId
            | Builtin::SampleMask
            | Builtin::SampleId
            | Builtin::Layer
            | Builtin::ViewportIndex
            | Builtin::ViewportMask
            | Builtin::BaseInstance
            | Builtin::BaseVertex
            | Builtin::DrawIndex
            | Builtin::PatchVertices
            | Builtin::InvocationId
    )
}

impl Writer<'_> {
    fn var_name(&self, inst: Inst) -> Result<(&str, Option<Builtin>), Error> {
        let Imm::Var(id) = self.func.insts[inst].imm else {
            return Err(Error::Malformed("a variable is missing"));
        };
        let missing = Error::Malformed("a variable that does not exist");
        let var = self.module.vars.get(id).ok_or(missing)?;
        match var.semantic {
            Semantic::Location { .. } => {
                Ok((self.names.vars.get(id).ok_or(Error::Malformed("a variable without a name"))?, None))
            }
            Semantic::Builtin(b) => match builtin_name(b, var.direction, self.target()) {
                Some(name) => Ok((name, Some(b))),
                None => Err(self.unsupported(inst, "this stage or version does not have the builtin")),
            },
        }
    }

    /// Writes the name of a variable, at its index.
    fn place(&mut self, inst: Inst, name: &str, index: Option<Value>) -> Result<(), Error> {
        let Imm::Var(id) = self.func.insts[inst].imm else {
            return Err(Error::Malformed("a variable is missing"));
        };
        let var = self.module.vars.get(id).ok_or(Error::Malformed("a variable that does not exist"))?;
        let stage = self.module.stage;
        match var.semantic {
            // Builtins of vertices are members of blocks.
            Semantic::Builtin(b) if var.array.is_some() && crate::stage::is_per_vertex(stage, var) => {
                if !matches!(b, Builtin::Position | Builtin::PointSize) {
                    return Err(self.unsupported(inst, "this builtin of a vertex"));
                }
                self.out.push_str(if var.direction == Direction::Input { "gl_in" } else { "gl_out" });
                self.index(index)?;
                self.out.push('.');
                self.out.push_str(name);
                Ok(())
            }
            Semantic::Builtin(Builtin::PrimitiveId)
                if stage == Stage::Geometry && var.direction == Direction::Input =>
            {
                self.out.push_str("gl_PrimitiveIDIn");
                Ok(())
            }
            _ => {
                self.out.push_str(name);
                self.index(index)
            }
        }
    }

    /// An input at another place of the pixel.
    pub(crate) fn interpolate(&mut self, inst: Inst, sel: Sel) -> Result<(), Error> {
        if !self.target().is_450() {
            return Err(self.unsupported(inst, "interpolation functions need version 450"));
        }
        let (name, _) = self.var_name(inst)?;
        let name = name.to_owned();
        self.out.push_str(match self.func.insts[inst].op {
            Op::InterpolateCentroid => "interpolateAtCentroid(",
            Op::InterpolateSample => "interpolateAtSample(",
            _ => "interpolateAtOffset(",
        });
        self.out.push_str(&name);
        if let Some(&v) = self.func.args(inst).first() {
            self.out.push_str(", ");
            let sample = self.func.insts[inst].op == Op::InterpolateSample;
            self.out.push_str(if sample { "int(" } else { "" });
            self.value(v, crate::expr::ANY)?;
            self.out.push_str(if sample { ")" } else { "" });
        }
        self.out.push(')');
        sel.write(self.out);
        Ok(())
    }

    /// Whether a value is the invocation's own number.
    fn is_invocation(&self, v: Value) -> bool {
        let input = self.func.def_inst(v).filter(|&i| self.func.insts[i].op == Op::Input);
        let var = input.map(|i| self.func.insts[i].imm);
        let own = Semantic::Builtin(Builtin::InvocationId);
        matches!(var, Some(Imm::Var(var)) if self.module.vars.get(var).is_some_and(|v| v.semantic == own))
    }

    fn index(&mut self, index: Option<Value>) -> Result<(), Error> {
        if let Some(v) = index.filter(|&v| self.is_invocation(v)) {
            // What an invocation writes is told by nothing else.
            self.note_guest(self.func.def_inst(v).ok_or(Error::Malformed("an index without a definition"))?);
            self.out.push_str("[gl_InvocationID]");
        } else if let Some(v) = index {
            self.out.push('[');
            self.value(v, crate::expr::ANY)?;
            self.out.push(']');
        }
        Ok(())
    }

    /// An input, or an output read back.
    pub(crate) fn interface_read(&mut self, inst: Inst, ty: Type, sel: Sel) -> Result<(), Error> {
        if self.func.insts[inst].op == Op::OutputGet
            && !matches!(self.module.stage, Stage::Vertex | Stage::TessControl)
        {
            return Err(self.unsupported(inst, "outputs are read back in no other stage"));
        }
        let (name, builtin) = self.var_name(inst)?;
        let name = name.to_owned();
        let signed = builtin.is_some_and(is_signed);
        if signed {
            self.out.push_str(type_name(Type::new(ty.kind(), sel.lanes()).unwrap_or(ty))?);
            self.out.push('(');
        }
        self.place(inst, &name, self.func.args(inst).first().copied())?;
        sel.write(self.out);
        if signed {
            self.out.push(')');
        }
        Ok(())
    }

    /// Writes an output statement without indentation.
    pub(crate) fn interface_write(&mut self, inst: Inst) -> Result<(), Error> {
        let args = self.func.args(inst);
        let &v = args.first().ok_or(Error::Malformed("a value is missing"))?;
        let index = args.get(1).copied();
        let (name, builtin) = self.var_name(inst)?;
        let name = name.to_owned();
        self.place(inst, &name, index)?;
        let signed = builtin.is_some_and(is_signed);
        self.out.push_str(if signed { " = int(" } else { " = " });
        self.value(v, crate::expr::ANY)?;
        self.out.push_str(if signed { ");" } else { ";" });
        Ok(())
    }
}
