//! Shaders that are not run: translated with both binding models, and validated.

use super::format::Vector;
use crate::report::Verdict;
use crate::validator::validate;
use xenoglot::dxil::{BindingModel, LiftOptions, Remapper, lift_bound, load, programs};
use xenoglot::{Code, Target, Translator};
use xenoglot_dxil::bitcode::Module;
use xenoglot_opt::lower_floats;
use xenoglot_spirv::{Options, Version};

/// What is first found wrong with the programs of a container, or else in doubt.
pub(super) fn translated(vector: &Vector) -> Result<Verdict, String> {
    let models =
        [("registers", BindingModel::Registers), ("root signature", BindingModel::root_signature(None))];
    let module = load(&vector.container).map_err(|e| e.to_string())?;
    let programs = programs(&module).map_err(|e| e.to_string())?;
    let mut verdict = Verdict::Passed;
    for (name, model) in models {
        for (entry, program) in programs.iter().enumerate() {
            let remapper = model.remapper(&vector.container, &module, entry).map_err(|e| e.to_string())?;
            let place = |e: String| format!("{}, {name}: {e}", program.name);
            let words = words(&module, entry, &*remapper).map_err(place)?;
            match validate(&words) {
                Verdict::Passed => {}
                Verdict::Failed(e) | Verdict::TimedOut(e) => return Err(place(e)),
                Verdict::Unconfirmed(e) => verdict = Verdict::Unconfirmed(place(e)),
            }
        }
    }
    Ok(verdict)
}

/// The SPIR-V 1.6 of a shader, for Vulkan 1.3.
fn words(module: &Module, entry: usize, remapper: &dyn Remapper) -> Result<Vec<u32>, String> {
    let options = LiftOptions { entry, ..LiftOptions::default() };
    let mut lifted = lift_bound(module, &options, remapper).map_err(|e| e.to_string())?;
    let mut translator = Translator::new();
    let floats = lower_floats::Options { directed: true, doubles: true, ..Default::default() };
    let options = xenoglot_opt::Options { floats, lower_memory: true, ..Default::default() };
    translator.optimize(&mut lifted.module, &options);
    let target = Target::Spirv(Options::version(Version::V1_6));
    match translator.emit(&lifted.module, &target).map_err(|e| e.to_string())? {
        Code::Words(words) => Ok(words),
        Code::Text(_) => Err("no SPIR-V".into()),
    }
}
