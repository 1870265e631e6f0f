//! Shaders that are not run: translated with both binding models, and validated.

use super::format::Vector;
use crate::report::{Observer, Summary};
use rayon::prelude::*;
use xenoglot::dxil::{BindingModel, LiftOptions, Remapper, lift_bound, load, programs, target_for};
use xenoglot::{Code, Target, Translator};
use xenoglot_dxil::bitcode::Module;
use xenoglot_opt::lower_floats;
use xenoglot_spirv::{Options, Version};

/// Translates and validates all.
pub(super) fn run(vectors: &[Vector], observer: &dyn Observer) -> Summary {
    let each = |v: &Vector| super::report(v, translated(v), observer);
    Summary::total(vectors.par_iter().map(each).collect::<Vec<_>>())
}

fn translated(vector: &Vector) -> Result<(), String> {
    let models =
        [("registers", BindingModel::Registers), ("root signature", BindingModel::root_signature(None))];
    let module = load(&vector.container).map_err(|e| e.to_string())?;
    let programs = programs(&module).map_err(|e| e.to_string())?;
    for (name, model) in models {
        for (entry, program) in programs.iter().enumerate() {
            let remapper = model.remapper(&vector.container, &module, entry).map_err(|e| e.to_string())?;
            words(&module, entry, &*remapper)
                .and_then(|w| validate(&w))
                .map_err(|e| format!("{}, {name}: {e}", program.name))?;
        }
    }
    Ok(())
}

/// The SPIR-V 1.6 of a shader, for Vulkan 1.3.
fn words(module: &Module, entry: usize, remapper: &dyn Remapper) -> Result<Vec<u32>, String> {
    let options = LiftOptions { entry, ..LiftOptions::default() };
    let mut lifted = lift_bound(module, &options, remapper).map_err(|e| e.to_string())?;
    let mut translator = Translator::new();
    let floats = lower_floats::Options { directed: true, doubles: true, ..Default::default() };
    let options = xenoglot_opt::Options { lower_memory: true, floats, ..Default::default() };
    translator.optimize(&mut lifted.module, &options);
    let target = target_for(&Target::Spirv(Options::version(Version::V1_6)), &lifted.program);
    match translator.emit(&lifted.module, &target).map_err(|e| e.to_string())? {
        Code::Words(words) => Ok(words),
        Code::Text(_) => Err("no SPIR-V".into()),
    }
}

#[cfg(feature = "validator")]
fn validate(words: &[u32]) -> Result<(), String> {
    use spirv_tools::val::Validator;
    let validator = spirv_tools::val::create(Some(spirv_tools::TargetEnv::Vulkan_1_3));
    validator.validate(words, None).map_err(|e| format!("invalid SPIR-V: {e}"))
}

#[cfg(not(feature = "validator"))]
fn validate(_words: &[u32]) -> Result<(), String> {
    Err("this build has no validator".into())
}
