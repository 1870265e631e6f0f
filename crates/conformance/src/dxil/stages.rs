//! Shaders that are not run: translated with both binding models, validated, and searched for what has to be there.

use super::format::{Vector, Want};
use crate::report::Verdict;
use crate::validator::{disassemble, validate};
use xenoglot::dxil::{BindingModel, LiftOptions, Remapper, lift_bound, load, programs};
use xenoglot::host::UnknownHost;
use xenoglot::{Code, Host, Options, compile};
use xenoglot_dxil::bitcode::Module;

/// What is first found wrong with the programs of a container, or else in doubt.
pub(super) fn translated(vector: &Vector) -> Result<Verdict, String> {
    let models =
        [("registers", BindingModel::Registers), ("root signature", BindingModel::root_signature(None))];
    let module = load(&vector.container).map_err(|e| e.to_string())?;
    let programs = programs(&module).map_err(|e| e.to_string())?;
    let mut verdict = Verdict::Passed;
    for (name, model) in models {
        let mut texts = Vec::new();
        for (entry, program) in programs.iter().enumerate() {
            let remapper = model.remapper(&vector.container, &module, entry).map_err(|e| e.to_string())?;
            let place = |e: String| format!("{}, {name}: {e}", program.name);
            let words = words(&module, entry, &*remapper).map_err(place)?;
            match validate(&words) {
                Verdict::Passed => {}
                Verdict::Failed(e) | Verdict::TimedOut(e) => return Err(place(e)),
                Verdict::Unconfirmed(e) => verdict = Verdict::Unconfirmed(place(e)),
            }
            if !vector.wants.is_empty() {
                texts.push(disassemble(&words));
            }
        }
        match texts.into_iter().collect::<Result<Vec<String>, String>>() {
            Ok(texts) => {
                let is_wrong =
                    |want: &&Want| texts.iter().any(|text| want.pattern.is_match(text)) != want.must;
                if let Some(want) = vector.wants.iter().find(is_wrong) {
                    let what = if want.must { "nowhere" } else { "somewhere" };
                    return Err(format!("{name}: {what} is `{}`", want.pattern));
                }
            }
            Err(e) => verdict = Verdict::Unconfirmed(format!("{name}: {e}")),
        }
    }
    Ok(verdict)
}

/// The SPIR-V 1.6 of a shader, for Vulkan 1.3.
fn words(module: &Module, entry: usize, remapper: &dyn Remapper) -> Result<Vec<u32>, String> {
    let options = LiftOptions { entry, ..LiftOptions::default() };
    let mut lifted = lift_bound(module, &options, remapper).map_err(|e| e.to_string())?;
    let host: Host = "vulkan-1.3".parse().map_err(|e: UnknownHost| e.to_string())?;
    match compile(&mut lifted.module, &host, &Options::default()).map_err(|e| e.to_string())? {
        Code::Words(words) => Ok(words),
        _ => Err("no SPIR-V".into()),
    }
}
