//! IR to code, by the writers alone: nothing is optimised or made of what a host has.

use crate::case::Case;
use crate::ir;
use rspirv::binary::Disassemble;
use std::fmt::Display;
use xenoglot_glsl::Target as Profile;
use xenoglot_ir::Module;
use xenoglot_opt::{Context, Lacks, legalize};
use xenoglot_spirv::{FloatControls, Names, Version};
use xenoglot_testgen::spirv_tools::validate;

/// What a writer that refuses a module says.
fn error(e: impl Display) -> String {
    format!("error: {e}\n")
}

/// A module's SPIR-V, disassembled.
fn spirv_text(module: &Module, options: &xenoglot_spirv::Options) -> Result<String, String> {
    xenoglot_spirv::emit(module, options).map_or_else(|e| Ok(error(e)), |words| disassembled(&words))
}

/// Valid SPIR-V as text, without the generator and the bound.
fn disassembled(words: &[u32]) -> Result<String, String> {
    let target = match words.get(1).map(|version| version >> 8 & 0xff) {
        Some(0..=3) => "vulkan1.1",
        Some(4) => "vulkan1.1spv1.4",
        Some(5) => "vulkan1.2",
        _ => "vulkan1.3",
    };
    let text = rspirv::dr::load_words(words).map_err(|e| e.to_string())?.disassemble();
    validate(words, target).map_err(|e| format!("the validator refuses it: {e}\n{text}"))?;
    let keep = |line: &&str| !line.starts_with("; Generator") && !line.starts_with("; Bound");
    Ok(text.lines().filter(keep).flat_map(|line| [line, "\n"]).collect())
}

/// The module of a case, with what the language lacks made of what it has.
fn legalized(case: &Case, arithmetic: legalize::Options) -> Result<Module, String> {
    let mut module = ir::module(case)?;
    legalize::run(&mut module, &Lacks { arithmetic, ..Lacks::default() }, &mut Context::new());
    xenoglot_ir::verify(&module).map_err(|e| e.to_string())?;
    Ok(module)
}

/// Options: `versions=1.3,1.6` (one text each), `names=none|interface|all`, `float_controls`, `if_chains`, `portable`,
/// `maximal_reconvergence`, `robust`, `host_bounds`, `guest_lines`.
pub fn spirv(case: &Case) -> Result<String, String> {
    let (mut versions, mut options) =
        (Vec::new(), xenoglot_spirv::Options { names: Names::Interface, ..Default::default() });
    case.each_option(|name, value| {
        match name {
            "versions" => {
                let version = |name: &str| Version::ALL.into_iter().find(|v| v.to_string() == name);
                versions = value.split(',').map(version).collect::<Option<_>>()?;
            }
            "names" => {
                options.names = match value {
                    "none" => Names::None,
                    "interface" => Names::Interface,
                    "all" => Names::All,
                    _ => return None,
                }
            }
            "float_controls" => options.float_controls = FloatControls::ALL,
            "if_chains" => options.switch_as_if_chain = true,
            "portable" => options.portable_ops = true,
            "maximal_reconvergence" => options.maximal_reconvergence = true,
            "robust" => options.robust = true,
            "host_bounds" => options.host_bounds = true,
            "guest_lines" => options.guest_lines = true,
            _ => return None,
        }
        Some(())
    })?;
    let portable = options.portable_ops;
    let module = legalized(
        case,
        legalize::Options {
            compares: portable,
            high_products: portable,
            byte_dots: portable,
            ..legalize::Options::RULES
        },
    )?;
    if versions.is_empty() {
        return Ok(case.with(&[("", spirv_text(&module, &options)?)]));
    }
    let names: Vec<String> = versions.iter().map(Version::to_string).collect();
    let mut sections = Vec::new();
    for (name, version) in names.iter().zip(versions) {
        let options = xenoglot_spirv::Options { version: Some(version), ..options.clone() };
        sections.push((name.as_str(), spirv_text(&module, &options)?));
    }
    Ok(case.with(&sections))
}

/// Options: `targets=330,450,450-vulkan,310es` (one text each; `450` if not given), `guest_comments`, `if_chains`.
pub fn glsl(case: &Case) -> Result<String, String> {
    let mut targets = vec![Profile::Gl450];
    let mut options = xenoglot_glsl::Options::default();
    case.each_option(|name, value| {
        match name {
            "targets" => {
                let target = |name: &str| Profile::ALL.into_iter().find(|t| t.name() == name);
                targets = value.split(',').map(target).collect::<Option<_>>()?;
            }
            "guest_comments" => options.guest_comments = true,
            "if_chains" => options.switch_as_if_chain = true,
            _ => return None,
        }
        Some(())
    })?;
    let mut sections = Vec::new();
    for target in targets {
        let is_old = target == Profile::Gl330;
        let lacks = legalize::Options {
            compares: true,
            high_products: is_old,
            bit_counts: is_old,
            byte_dots: true,
            ..legalize::Options::RULES
        };
        let module = legalized(case, lacks)?;
        let options = xenoglot_glsl::Options { target, ..options };
        sections.push((target.name(), xenoglot_glsl::emit(&module, &options).unwrap_or_else(error)));
    }
    Ok(case.with(&sections))
}

/// A writer of naga's.
#[cfg(feature = "naga")]
type Write = fn(&[u32], &xenoglot_naga::Options) -> Result<String, xenoglot_naga::Error>;

/// Options: `flip_y`, `bound_loops`.
#[cfg(feature = "naga")]
fn naga(case: &Case, write: Write) -> Result<String, String> {
    let mut options = xenoglot_naga::Options::default();
    case.each_option(|name, _| {
        match name {
            "flip_y" => options.flip_y = true,
            "bound_loops" => options.bound_loops = true,
            _ => return None,
        }
        Some(())
    })?;
    let module = legalized(
        case,
        legalize::Options {
            compares: true,
            high_products: true,
            byte_dots: true,
            ..legalize::Options::RULES
        },
    )?;
    let words = xenoglot_spirv::emit(&module, &xenoglot_spirv::Options::for_naga());
    let text = words.map_or_else(error, |words| write(&words, &options).unwrap_or_else(error));
    Ok(case.with(&[("", text)]))
}

#[cfg(feature = "naga")]
pub fn wgsl(case: &Case) -> Result<String, String> {
    naga(case, xenoglot_naga::to_wgsl)
}

#[cfg(feature = "naga")]
pub fn msl(case: &Case) -> Result<String, String> {
    naga(case, xenoglot_naga::to_msl)
}

#[cfg(feature = "naga")]
pub fn hlsl(case: &Case) -> Result<String, String> {
    naga(case, xenoglot_naga::to_hlsl)
}
