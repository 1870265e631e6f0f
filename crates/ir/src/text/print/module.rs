//! What a module has besides functions: its facts, variables and resources.

use super::*;

/// What the module says of its stage and its guest; defaults go without saying.
pub(super) fn write_facts(f: &mut dyn Write, m: &Module) -> fmt::Result {
    let Pipeline {
        early_fragment_tests,
        depth,
        dual_source,
        invariant_position,
        geometry,
        patch_vertices,
        tessellation,
        mesh,
    } = m.pipeline;
    if early_fragment_tests {
        f.write_str("  early_tests\n")?;
    }
    if depth != Depth::Any {
        writeln!(f, "  depth {}", depth.name())?;
    }
    if dual_source {
        f.write_str("  dual_source\n")?;
    }
    if invariant_position {
        f.write_str("  invariant_position\n")?;
    }
    if let Some(Geometry { input_vertices, output_vertices, max_vertices, invocations }) = geometry {
        writeln!(
            f,
            "  geometry in {input_vertices} out {output_vertices} vertices {max_vertices} invocations {invocations}"
        )?;
    }
    if let Some(vertices) = patch_vertices {
        writeln!(f, "  patch {vertices}")?;
    }
    if let Some(Tessellation { domain, spacing, clockwise, points }) = tessellation {
        write!(f, "  tessellator {}", domain.name())?;
        if let Some(spacing) = spacing {
            write!(f, " {}", spacing.name())?;
        }
        let winding = clockwise.map_or("", |clockwise| if clockwise { " cw" } else { " ccw" });
        writeln!(f, "{winding}{}", word(points, "points"))?;
    }
    if let Some(Mesh { primitive_vertices, max_vertices, max_primitives }) = mesh {
        writeln!(f, "  mesh out {primitive_vertices} vertices {max_vertices} primitives {max_primitives}")?;
    }
    if m.denormals != Denormals::Any {
        writeln!(f, "  denormals {}", m.denormals.name())?;
    }
    if m.samplers != Samplers::Combined {
        writeln!(f, "  samplers {}", m.samplers.name())?;
    }
    if m.optimized {
        f.write_str("  optimized\n")?;
    }
    if m.relaxed_floats {
        f.write_str("  relaxed_floats\n")?;
    }
    Ok(())
}

pub(super) fn write_var(f: &mut dyn Write, var: &VarData) -> fmt::Result {
    write!(f, "  {} %{} = ", var.direction.name(), Name(&var.name))?;
    match var.semantic {
        Semantic::Location { location, component } => {
            write!(f, "location {location}")?;
            if component != 0 {
                write!(f, " component {component}")?;
            }
        }
        Semantic::Builtin(builtin) => write!(f, "builtin {}", builtin.name())?,
    }
    write!(f, " : {}", var.ty)?;
    if var.interpolation != Interpolation::Smooth {
        write!(f, " {}", var.interpolation.name())?;
    }
    if let Some(n) = var.array {
        write!(f, " array {n}")?;
    }
    if let Some(n) = var.inner {
        write!(f, " of {n}")?;
    }
    if var.stream != 0 {
        write!(f, " stream {}", var.stream)?;
    }
    Ok(())
}

pub(super) fn write_resource(f: &mut dyn Write, r: &ResourceData) -> fmt::Result {
    write!(f, "  {} @{} = set {} binding {}", r.kind.name().name(), Name(&r.name), r.set, r.binding)?;
    match r.kind {
        ResourceKind::UniformBuffer { size }
        | ResourceKind::PushConstants { size }
        | ResourceKind::ShaderRecord { size } => {
            write!(f, " size {size}")?;
        }
        ResourceKind::StorageBuffer { access } => write!(f, " {}", access.name())?,
        ResourceKind::Texture { dim, arrayed, multisampled, texel } => {
            write!(f, " {}{}{}", dim.name(), word(arrayed, "array"), word(multisampled, "ms"))?;
            if texel != Texel::Float {
                write!(f, " {}", texel.name())?;
            }
        }
        ResourceKind::Image { dim, arrayed, multisampled, access, format } => {
            let words = [word(arrayed, "array"), word(multisampled, "ms")];
            write!(f, " {}{}{} {}", dim.name(), words[0], words[1], access.name())?;
            if format != ImageFormat::Unknown {
                write!(f, " {}", format.name())?;
            }
        }
        ResourceKind::Payload { kind, size } => write!(f, " {} size {size}", kind.name())?,
        ResourceKind::Sampler
        | ResourceKind::AccelerationStructure
        | ResourceKind::RayQuery
        | ResourceKind::HitObject => {}
    }
    match r.count {
        Count::One => {}
        Count::Fixed(n) => write!(f, " count {n}")?,
        Count::Unbounded => f.write_str(" count unbounded")?,
    }
    if r.oob != OutOfBounds::Undefined {
        write!(f, " oob {}", r.oob.name())?;
    }
    f.write_char('\n')
}

/// ` text` if `on`.
pub(super) fn word(on: bool, text: &'static str) -> impl Display {
    fmt::from_fn(move |f| if on { write!(f, " {text}") } else { Ok(()) })
}
