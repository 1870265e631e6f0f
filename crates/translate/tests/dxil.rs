//! Every DXIL container becomes SPIR-V that is valid, as lifted and optimised.

use spirv_tools::TargetEnv;
use spirv_tools::val::Validator;
use std::path::{Path, PathBuf};
use xenoglot::dxil::{BindingModel, LiftOptions, lift_bound, load, passes, programs, target_for};
use xenoglot::{Code, Target, Translator};
use xenoglot_ir::Module;
use xenoglot_spirv::{Options, Version};

/// What has no lifting, and alarms when it gets one: sampler feedback.
const REFUSED: &[&str] = &["textures main"];

fn containers() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = Vec::new();
    for folder in [
        "vectors/dxil/stages",
        "vectors/dxil/stages-own",
        "vectors/dxil/compute-own",
        "crates/front/dxil/tests/containers",
    ] {
        let files = std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        all.extend(files.filter(|path| path.extension().is_some_and(|e| e == "dxil")));
    }
    all.sort();
    all
}

fn validated(translator: &mut Translator, module: &Module, target: &Target) -> Result<(), String> {
    let Code::Words(words) = translator.emit(module, target).map_err(|e| e.to_string())? else {
        return Err("text for words".into());
    };
    let validator = spirv_tools::val::create(Some(TargetEnv::Vulkan_1_3));
    validator.validate(&words, None).map_err(|e| format!("invalid: {e}"))
}

fn translated(
    translator: &mut Translator,
    (bytes, module): (&[u8], &xenoglot_dxil::bitcode::Module),
    entry: usize,
) -> Result<(), String> {
    let options = LiftOptions { entry, samples: Some(8), ..LiftOptions::default() };
    let remapper = BindingModel::Registers.remapper(bytes, module, entry).map_err(|e| e.to_string())?;
    let mut lifted = lift_bound(module, &options, &*remapper).map_err(|e| e.to_string())?;
    let target = target_for(&Target::Spirv(Options::version(Version::V1_6)), &lifted.program);
    // As lifted, some have ops that passes have to lower first.
    if translator.emit(&lifted.module, &target).is_ok() {
        validated(translator, &lifted.module, &target).map_err(|e| format!("as lifted: {e}"))?;
    }
    translator.optimize(&mut lifted.module, &passes());
    validated(translator, &lifted.module, &target).map_err(|e| format!("optimised: {e}"))
}

#[test]
fn every_container_is_valid() {
    let mut translator = Translator::new();
    let mut failures = Vec::new();
    let mut count = 0;
    for path in containers() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).unwrap();
        let module = load(&bytes).unwrap();
        for (entry, program) in programs(&module).unwrap().iter().enumerate() {
            count += 1;
            // Mangled names start with a control character.
            let name = format!("{name} {}", program.name.trim_start_matches('\u{1}'));
            match (translated(&mut translator, (&bytes, &module), entry), REFUSED.contains(&&*name)) {
                (Err(e), false) => failures.push(format!("{name}: {e}")),
                (Ok(()), true) => failures.push(format!("{name} is no longer refused")),
                _ => {}
            }
        }
    }
    assert!(count > 40);
    assert!(failures.is_empty(), "{} of {count}:\n{}", failures.len(), failures.join("\n"));
}
