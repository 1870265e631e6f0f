//! `xenoglot info`: what is in a file.

mod dxil;
mod mips;

use crate::batch::{self, Artifact, BatchArgs, Content};
use crate::executable::{Executable, binaries, executables};
use crate::program::Select;
use anyhow::Result;
use serde_json::{Map, Value, json};
use std::fmt::Write;
use xenoglot::guest::Guest;
use xenoglot::{maxwell, pica};
use xenoglot_ir::stage::TessSpacing;
use xenoglot_ir::{Module, Stage};
use xenoglot_pica_shader::container::{
    Constant, ConstantValue, Dvle, RegisterFile, Semantic, ShaderKind, Shbin,
};
use xenoglot_pica_shader::float::F24;
use xenoglot_pica_shader::lift::FlowStats;
use xenoglot_structure::structure;

/// Arguments of `info`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    batch: BatchArgs,
    #[command(flatten)]
    select: Select,
}

/// Describes inputs.
pub fn run(args: &Args) -> Result<bool> {
    batch::run(
        &args.batch,
        || (),
        |(), _, bytes| {
            let (guest, format) = args.select.guest(bytes)?;
            let mut facts = Map::new();
            facts.insert("format".into(), format.into());
            facts.insert("bytes".into(), bytes.len().into());
            facts.extend(match guest.name() {
                "maxwell" => maxwell_facts(bytes, &args.select)?,
                "dxil" => dxil::facts(bytes)?,
                "mips" => mips::facts(bytes)?,
                "pica" => binary_facts(bytes, &args.select)?,
                _ => guest_facts(guest, bytes, &args.select)?,
            });
            let content = if args.batch.json { Content::None } else { Content::Text(page(&facts)) };
            Ok(vec![Ok(Artifact { suffix: ".txt".into(), content, facts })])
        },
    )
}

/// What is known of any guest's programs: their modules.
fn guest_facts(guest: &dyn Guest, bytes: &[u8], select: &Select) -> Result<Map<String, Value>> {
    let image = guest.load(bytes)?;
    let mut modules = Vec::new();
    for number in select.programs(&*image)? {
        modules.push(module_facts(&image.lift(number, &guest.options())?));
    }
    let facts = match modules.len() {
        1 => ("module", modules.remove(0)),
        _ => ("modules", modules.into()),
    };
    Ok(Map::from_iter([(facts.0.to_owned(), facts.1)]))
}

fn maxwell_facts(bytes: &[u8], select: &Select) -> Result<Map<String, Value>> {
    let file = maxwell::File::load(bytes)?;
    let facts = |program: &maxwell::Program| {
        let mut facts = json!({
            "name": program.name,
            "stage": program.kind.name(),
            "code bytes": program.code.len(),
            "entry": program.entry,
            "registers": program.registers,
            "constant banks": program.banks.iter().map(|(bank, data)| {
                json!({ "bank": bank, "bytes": data.len(), "relocated": program.unlinked.banks.contains(bank) })
            }).collect::<Vec<_>>(),
        });
        match program.kind {
            maxwell::Kind::Compute { workgroup, shared_bytes, local_bytes } => {
                facts["workgroup"] = json!(workgroup);
                facts["shared bytes"] = shared_bytes.into();
                facts["local bytes"] = local_bytes.into();
            }
            maxwell::Kind::Graphics(sph) => facts["header"] = json!(sph),
        }
        match maxwell::lift(program, &Default::default()) {
            Ok(lifted) => {
                facts["uses"] = json!(lifted.info);
                facts["module"] = module_facts(&lifted.module);
            }
            // The container is described all the same.
            Err(error) => facts["cannot be lifted"] = error.to_string().into(),
        }
        facts
    };
    let chosen = select.programs(&file)?.into_iter();
    let programs: Vec<Value> = chosen.map(|n| file.program(n).map(facts)).collect::<Result<_, _>>()?;
    Ok(Map::from_iter([("programs".into(), programs.into())]))
}

fn module_facts(module: &Module) -> Value {
    let functions: Vec<Value> = module
        .funcs
        .values()
        .map(|f| {
            let structured = structure(f, &Default::default()).map(|t| super::cfg::stats(t.stats())).ok();
            json!({
                "name": f.name,
                "blocks": f.layout.len(),
                "instructions": f.inst_count(),
                "structured": structured,
            })
        })
        .collect();
    json!({
        "name": module.name,
        "stage": module.stage.name(),
        "pipeline": pipeline_facts(module),
        "functions": functions,
    })
}

/// The fixed-function state that the module records.
fn pipeline_facts(module: &Module) -> Value {
    let facts = &module.pipeline;
    let mut out = Map::new();
    if module.stage == Stage::Fragment {
        out.insert("early tests".into(), facts.early_fragment_tests.into());
        out.insert("depth".into(), facts.depth.name().into());
    }
    if let Some(g) = facts.geometry {
        let geometry = json!({
            "input vertices": g.input_vertices,
            "output vertices": g.output_vertices,
            "max vertices": g.max_vertices,
            "invocations": g.invocations,
        });
        out.insert("geometry".into(), geometry);
    }
    if let Some(vertices) = facts.patch_vertices {
        out.insert("patch vertices".into(), vertices.into());
    }
    if let Some(t) = facts.tessellation {
        let tessellator = json!({
            "domain": t.domain.name(),
            "spacing": t.spacing.map(TessSpacing::name),
            "clockwise": t.clockwise,
            "points": t.points,
        });
        out.insert("tessellator".into(), tessellator);
    }
    if let Some(m) = facts.mesh {
        let mesh = json!({
            "primitive vertices": m.primitive_vertices,
            "max vertices": m.max_vertices,
            "max primitives": m.max_primitives,
        });
        out.insert("mesh".into(), mesh);
    }
    Value::Object(out)
}

fn flow_facts(flow: &FlowStats) -> Value {
    json!({ "nodes": flow.nodes, "contexts": flow.contexts, "stacks as data": flow.stacks_as_data })
}

fn binary_facts(bytes: &[u8], select: &Select) -> Result<Map<String, Value>> {
    let mut list: Vec<Value> = Vec::new();
    for (offset, shbin) in binaries(bytes, select)? {
        let Shbin { version, program, descriptor_tags: _, lines, filenames, executables: _ } = &*shbin;
        list.push(json!({
            "offset": offset,
            "version": version,
            "words": program.code.len(),
            "descriptors": program.descriptors.len(),
            "source lines": lines.len(),
            "source files": filenames,
        }));
    }
    let executables: Vec<Value> =
        executables(bytes, select)?.iter().map(executable_facts).collect::<Result<_>>()?;
    let mut facts = Map::new();
    facts.insert("binaries".into(), list.into());
    facts.insert("executables".into(), executables.into());
    Ok(facts)
}

fn executable_facts(e: &Executable) -> Result<Value> {
    let dvle = e.dvle()?;
    let mut facts = json!({
        "binary": e.offset,
        "index": e.index,
        "name": xenoglot::pica::entry_name(dvle),
        "kind": match dvle.kind { ShaderKind::Vertex => "vertex", ShaderKind::Geometry => "geometry" },
        "version": format!("{:#x}", dvle.version),
        "entry": dvle.main,
        "end": dvle.end,
        "inputs": registers('v', dvle.input_mask),
        "outputs": registers('o', dvle.output_mask),
        "output map": dvle.outputs.iter().map(|o| {
            json!({ "register": format!("o{}.{}", o.register, o.mask), "meaning": semantic(o.semantic) })
        }).collect::<Vec<_>>(),
        "uniforms": uniforms(dvle),
        "constants": dvle.constants.iter().map(constant).collect::<Vec<_>>(),
        "labels": dvle.labels.iter().map(|l| json!({ "name": l.name, "address": l.address })).collect::<Vec<_>>(),
    });
    let object = facts.as_object_mut().into_iter();
    for facts in object {
        if dvle.kind == ShaderKind::Geometry {
            let g = &dvle.geometry;
            facts.insert(
                "geometry".into(),
                json!({
                    "mode": format!("{:?}", g.mode).to_lowercase(),
                    "fixed start": format!("c{}", g.fixed_start),
                    "fixed vertices": g.fixed_count,
                    "variable vertices": g.variable_count,
                    "merges outputs": dvle.merge_outputs,
                }),
            );
        }
        match pica::lift_executable(&e.shbin, e.index, &pica::Options::default()) {
            Ok(lifted) => {
                facts.insert("flow".into(), flow_facts(&lifted.flow));
                facts.insert("module".into(), module_facts(&lifted.module));
            }
            // The container is described all the same.
            Err(error) => drop(facts.insert("cannot be lifted".into(), error.to_string().into())),
        }
    }
    Ok(facts)
}

fn registers(file: char, mask: u16) -> Vec<String> {
    (0..16).filter(|n| mask >> n & 1 == 1).map(|n| format!("{file}{n}")).collect()
}

fn semantic(semantic: Semantic) -> String {
    let row = Semantic::TABLE.iter().find(|row| row.0 == semantic);
    row.map_or_else(|| format!("number {}", semantic.number()), |row| row.2.to_owned())
}

/// The letter of a register file.
pub fn letter(file: RegisterFile) -> char {
    match file {
        RegisterFile::Input => 'v',
        RegisterFile::Float => 'c',
        RegisterFile::Int => 'i',
        RegisterFile::Bool => 'b',
    }
}

fn uniforms(dvle: &Dvle) -> Vec<Value> {
    let range = |u: &xenoglot_pica_shader::container::Uniform| {
        let letter = letter(u.file);
        match u.count {
            1 => format!("{letter}{}", u.first),
            n => format!("{letter}{}-{letter}{}", u.first, u16::from(u.first) + u16::from(n) - 1),
        }
    };
    dvle.uniforms.iter().map(|u| json!({ "name": u.name, "registers": range(u) })).collect()
}

fn constant(c: &Constant) -> Value {
    let register = format!("{}{}", letter(c.value.file()), c.register);
    let value = match c.value {
        ConstantValue::Bool(b) => b.to_string(),
        ConstantValue::Int(v) => v.map(|x| x.to_string()).join(" "),
        ConstantValue::Float(v) => v.map(|x| F24.to_f32(x).to_string()).join(" "),
    };
    json!({ "register": register, "value": value })
}

/// Facts as text for people: a line per fact, tables indented.
fn page(object: &Map<String, Value>) -> String {
    let mut out = String::new();
    for (name, value) in object {
        line(&mut out, 0, name, value);
    }
    out
}

/// One fact, indented by `depth`. `depth` is at most four.
fn line(out: &mut String, depth: usize, name: &str, value: &Value) {
    let pad = depth * 2;
    // Writing to a string cannot fail.
    let _ = match value {
        Value::Null => Ok(()),
        Value::String(text) => writeln!(out, "{:pad$}{name}: {text}", ""),
        Value::Array(list) if list.is_empty() => Ok(()),
        Value::Array(list) if list.iter().all(|v| !v.is_object()) => {
            let words: Vec<String> =
                list.iter().map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned)).collect();
            writeln!(out, "{:pad$}{name}: {}", "", words.join(" "))
        }
        Value::Array(list) => {
            let plain = |v: &Value| {
                v.as_object().is_some_and(|o| o.values().all(|v| !v.is_object() && !v.is_array()))
            };
            if list.iter().all(plain) && list.iter().all(|v| v.as_object().is_some_and(|o| o.len() <= 2)) {
                let _ = writeln!(out, "{:pad$}{name}:", "");
                for row in list.iter().filter_map(Value::as_object) {
                    let cells: Vec<String> = row
                        .values()
                        .map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned))
                        .collect();
                    let (first, rest) = cells.split_first().map_or(("", &[][..]), |(f, r)| (f.as_str(), r));
                    let _ = writeln!(out, "{:pad$}  {first:<12} {}", "", rest.join("  "));
                }
                return;
            }
            for (n, row) in list.iter().enumerate() {
                let _ = writeln!(out, "{:pad$}{name} {n}:", "");
                for (name, value) in row.as_object().into_iter().flatten() {
                    line(out, depth + 1, name, value);
                }
            }
            Ok(())
        }
        Value::Object(object) => {
            let _ = writeln!(out, "{:pad$}{name}:", "");
            for (name, value) in object {
                line(out, depth + 1, name, value);
            }
            Ok(())
        }
        other => writeln!(out, "{:pad$}{name}: {other}", ""),
    };
}
