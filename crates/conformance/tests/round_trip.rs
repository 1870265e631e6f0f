//! Modules are whole: the text of a lifted module says everything that back ends, passes and the verifier ask of it.
//!
//! Every program of the vectors is lifted and printed; what the text reads back as must become the same bytes, in every
//! language, as the module itself.

use rayon::prelude::*;
use std::path::{Path, PathBuf};
use xenoglot::dxil::{self, BindingModel, LiftOptions};
use xenoglot::{Target, Translator, maxwell, pica};
use xenoglot_conformance::maxwell::format::Corpus;
use xenoglot_conformance::maxwell::graphics;
use xenoglot_conformance::pica::{format, kernel};
use xenoglot_conformance::{dxil as dxil_suite, input};
use xenoglot_ir::{Module, text, verify};
use xenoglot_spirv::{Options as SpirvOptions, Version};

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors")
}

/// A target of every language.
fn targets() -> Vec<(&'static str, Target)> {
    vec![
        ("SPIR-V 1.3", Target::Spirv(SpirvOptions { subgroup_width: 32, ..Default::default() })),
        ("SPIR-V 1.6", Target::Spirv(SpirvOptions::version(Version::V1_6))),
        ("GLSL", Target::Glsl(xenoglot_glsl::Options { subgroup_width: 32, ..Default::default() })),
        ("WGSL", Target::Wgsl(Default::default())),
        ("MSL", Target::Msl(Default::default())),
        ("HLSL", Target::Hlsl(Default::default())),
    ]
}

/// What becomes of a module in each language, or why nothing does.
fn everything(mut module: Module, targets: &[(&str, Target)]) -> Vec<Result<Vec<u8>, String>> {
    let mut translator = Translator::new();
    let options = xenoglot_opt::Options { lower_memory: true, ..Default::default() };
    translator.optimize(&mut module, &options);
    let mut emit = |target: &Target| translator.emit(&module, target).map_err(|e| e.to_string());
    targets.iter().map(|(_, target)| emit(target).map(|code| code.into_bytes())).collect()
}

/// Panics unless every module is the same after it was printed and read back.
fn read_back(modules: Vec<(String, Module)>, targets: &[(&str, Target)]) {
    let differences: Vec<String> = modules
        .into_par_iter()
        .flat_map_iter(|(name, module)| {
            let printed = module.to_string();
            let parsed = text::parse(&printed, &text::Limits::default())
                .unwrap_or_else(|e| panic!("{name}: {e}\n{printed}"));
            if let Err(e) = verify::verify(&parsed) {
                panic!("{name}: {e}");
            }
            let pairs = everything(module, targets).into_iter().zip(everything(parsed, targets));
            let differ = pairs.zip(targets).filter(|((before, after), _)| before != after);
            differ.map(|(_, (language, _))| format!("{name} to {language}")).collect::<Vec<_>>()
        })
        .collect();
    assert!(differences.is_empty(), "{} differ: {differences:#?}", differences.len());
}

#[test]
fn pica_programs_are_whole() {
    let mut modules = Vec::new();
    for (_, bytes) in input::with_magic(&vectors().join("pica"), format::PROGRAMS_MAGIC).unwrap() {
        for p in format::programs(&bytes).unwrap() {
            modules.push((format!("{} as a kernel", p.id), kernel::compute(&p).unwrap().module));
            if !p.geometry {
                modules.push((format!("{} as a vertex shader", p.id), kernel::vertex(&p).unwrap().module));
            }
        }
    }
    assert!(modules.len() > 700, "{}", modules.len());
    read_back(modules, &targets());
}

#[test]
fn bundled_pica_shaders_are_whole() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../front/pica/shaders");
    let mut modules = Vec::new();
    for file in input::files(&folder).unwrap() {
        for loaded in pica::load(&std::fs::read(&file).unwrap()).unwrap() {
            for index in 0..loaded.shbin.executables.len() {
                let lifted = pica::lift_executable(&loaded.shbin, index, &pica::Options::default()).unwrap();
                modules.push((file.display().to_string(), lifted.module));
            }
        }
    }
    assert!(modules.len() > 10, "{}", modules.len());
    read_back(modules, &targets());
}

#[test]
fn maxwell_kernels_are_whole() {
    let corpus = Corpus::read(&vectors().join("maxwell/compute/public.tar.xz")).unwrap();
    let mut modules = Vec::new();
    for (name, cubin) in &corpus.cubins {
        for program in maxwell::load(cubin).unwrap() {
            if let Ok(lifted) = maxwell::lift(&program, &maxwell::Options::default()) {
                modules.push((format!("{name}: {}", program.name), lifted.module));
            }
        }
    }
    assert!(modules.len() > 100, "{}", modules.len());
    read_back(modules, &targets());
}

#[test]
fn maxwell_shaders_are_whole() {
    let shaders = graphics::read(&vectors().join("maxwell/graphics/public.tar.xz")).unwrap();
    let modules: Vec<_> = shaders.iter().map(|s| (s.name.clone(), s.lift(0).unwrap().module)).collect();
    assert!(modules.len() > 30, "{}", modules.len());
    read_back(modules, &targets());
}

/// The shaders of a folder of containers, in both binding models.
fn dxil_shaders(folder: &str) -> Vec<(String, Module)> {
    let mut modules = Vec::new();
    for vector in dxil_suite::format::read(&vectors().join("dxil").join(folder)).unwrap() {
        let module = dxil::load(&vector.container).unwrap();
        for entry in 0..dxil::programs(&module).unwrap().len() {
            let options = LiftOptions { entry, ..LiftOptions::default() };
            for model in [BindingModel::Registers, BindingModel::root_signature(None)] {
                let remapper = model.remapper(&vector.container, &module, entry).unwrap();
                let lifted = dxil::lift_bound(&module, &options, &*remapper).unwrap();
                modules.push((format!("{}, {entry}", vector.name), lifted.module));
            }
        }
    }
    modules
}

#[test]
fn dxil_shaders_are_whole() {
    let modules = [dxil_shaders("compute"), dxil_shaders("stages")].concat();
    assert!(modules.len() > 130, "{}", modules.len());
    read_back(modules, &targets());
}

/// Large shaders, through the two writers of our own.
#[test]
fn large_dxil_shaders_are_whole() {
    let modules = dxil_shaders("fuzz");
    assert!(modules.len() > 100, "{}", modules.len());
    read_back(modules, &targets()[..3]);
}
