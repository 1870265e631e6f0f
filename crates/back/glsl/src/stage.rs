//! What the head says of the stages between vertices and fragments.

use crate::error::Error;
use crate::options::Target;
use std::fmt::Write;
use xenoglot_ir::module::{Builtin, Direction, Interpolation, Semantic, VarData};
use xenoglot_ir::stage::{Depth, TessDomain, TessSpacing};
use xenoglot_ir::{Module, Stage};

/// Whether a variable has an element for each vertex.
pub(crate) fn is_per_vertex(stage: Stage, var: &VarData) -> bool {
    var.interpolation != Interpolation::Patch
        && match var.direction {
            Direction::Input => matches!(stage, Stage::TessControl | Stage::TessEval | Stage::Geometry),
            Direction::Output => stage == Stage::TessControl,
        }
}

/// Primitives, patches and tests.
pub(crate) fn write(out: &mut String, module: &Module, target: Target) -> Result<(), Error> {
    let facts = &module.pipeline;
    match module.stage {
        Stage::Fragment => {
            if facts.early_fragment_tests {
                out.push_str("layout(early_fragment_tests) in;\n\n");
            }
            // A promise that lets the host test early. Versions without it test late, which gives the same.
            let depth = match facts.depth {
                Depth::Greater => "depth_greater",
                Depth::Less => "depth_less",
                Depth::Any => "",
            };
            let written = Semantic::Builtin(Builtin::FragDepth);
            if !depth.is_empty() && target.is_450() && module.vars.values().any(|v| v.semantic == written) {
                let _ = writeln!(out, "layout({depth}) out float gl_FragDepth;\n");
            }
        }
        Stage::Geometry => {
            let geometry =
                facts.geometry.ok_or(Error::Malformed("a geometry shader without its primitives"))?;
            let input = match geometry.input_vertices {
                1 => "points",
                2 => "lines",
                4 => "lines_adjacency",
                6 => "triangles_adjacency",
                _ => "triangles",
            };
            let output = match geometry.output_vertices {
                1 => "points",
                2 => "line_strip",
                _ => "triangle_strip",
            };
            let (invocations, vertices) = (geometry.invocations.max(1), geometry.max_vertices);
            let _ = writeln!(
                out,
                "layout({input}, invocations = {invocations}) in;\nlayout({output}, max_vertices = {vertices}) out;\n"
            );
        }
        Stage::TessControl => {
            let n = facts.patch_vertices.ok_or(Error::Malformed("a patch without vertices"))?;
            let _ = writeln!(out, "layout(vertices = {n}) out;\n");
        }
        Stage::TessEval => {
            let t = facts.tessellation.ok_or(Error::Malformed("a tessellator without domain"))?;
            let domain = match t.domain {
                TessDomain::Isolines => "isolines",
                TessDomain::Triangles => "triangles",
                TessDomain::Quads => "quads",
            };
            let spacing = match t.spacing {
                None => "",
                Some(TessSpacing::Equal) => ", equal_spacing",
                Some(TessSpacing::FractionalOdd) => ", fractional_odd_spacing",
                Some(TessSpacing::FractionalEven) => ", fractional_even_spacing",
            };
            let winding = match t.clockwise {
                None => "",
                Some(true) => ", cw",
                Some(false) => ", ccw",
            };
            let points = if t.points { ", point_mode" } else { "" };
            let _ = writeln!(out, "layout({domain}{spacing}{winding}{points}) in;\n");
        }
        _ => {}
    }
    Ok(())
}
