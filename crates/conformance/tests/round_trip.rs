//! Modules are whole: the text of a lifted module says everything that back ends, passes and the verifier ask of it.
//!
//! Every program of the vectors is lifted and printed; what the text reads back as must become the same bytes, in every
//! language, as the module itself.

use rayon::prelude::*;
use std::path::{Path, PathBuf};
use xenoglot::host::Subgroups;
use xenoglot::{Code, Host, Options, Translator, pica};
use xenoglot_conformance::{corpora, input};
use xenoglot_ir::{Module, text, verify};

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors")
}

/// A host of every language; two of SPIR-V.
fn hosts() -> Vec<(&'static str, Host)> {
    let vulkan = Host { subgroups: Subgroups::exactly(32), ..Host::named("vulkan").unwrap() };
    let names = ["vulkan-1.3", "vulkan-glsl", "webgpu", "metal", "d3d12"];
    let named = names.map(|name| (name, Host::named(name).unwrap()));
    [("vulkan", vulkan)].into_iter().chain(named).collect()
}

/// What becomes of a module on each host, or why nothing does.
fn everything(module: &Module, hosts: &[(&str, Host)]) -> Vec<Result<Vec<u8>, String>> {
    let mut translator = Translator::new();
    let mut code = |host: &Host| {
        let code = translator.compile(&mut module.clone(), host, &Options::default());
        code.map(Code::into_bytes).map_err(|e| e.to_string())
    };
    hosts.iter().map(|(_, host)| code(host)).collect()
}

/// Panics unless every module is the same after it was printed and read back.
fn read_back(modules: Vec<(String, Module)>, hosts: &[(&str, Host)]) {
    let differences: Vec<String> = modules
        .into_par_iter()
        .flat_map_iter(|(name, module)| {
            let printed = module.to_string();
            let parsed = text::parse(&printed, &text::Limits::default())
                .unwrap_or_else(|e| panic!("{name}: {e}\n{printed}"));
            if let Err(e) = verify::verify(&parsed) {
                panic!("{name}: {e}");
            }
            let pairs = everything(&module, hosts).into_iter().zip(everything(&parsed, hosts));
            let differ = pairs.zip(hosts).filter(|((before, after), _)| before != after);
            differ.map(|(_, (host, _))| format!("{name} for {host}")).collect::<Vec<_>>()
        })
        .collect();
    assert!(differences.is_empty(), "{} differ: {differences:#?}", differences.len());
}

#[test]
fn pica_programs_are_whole() {
    let modules = corpora::pica(&vectors().join("pica")).unwrap();
    assert!(modules.len() > 700, "{}", modules.len());
    read_back(modules, &hosts());
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
    read_back(modules, &hosts());
}

#[test]
fn maxwell_kernels_are_whole() {
    let (modules, _) = corpora::maxwell_kernels(&vectors().join("maxwell/compute/public.tar.xz")).unwrap();
    assert!(modules.len() > 100, "{}", modules.len());
    read_back(modules, &hosts());
}

#[test]
fn maxwell_shaders_are_whole() {
    let modules = corpora::maxwell_shaders(&vectors().join("maxwell/graphics/public.tar.xz")).unwrap();
    assert!(modules.len() > 30, "{}", modules.len());
    read_back(modules, &hosts());
}

/// The shaders of a folder of containers, in both binding models.
fn dxil_shaders(folder: &str) -> Vec<(String, Module)> {
    corpora::dxil(&vectors().join("dxil").join(folder)).unwrap()
}

#[test]
fn dxil_shaders_are_whole() {
    let modules = [dxil_shaders("compute"), dxil_shaders("stages")].concat();
    assert!(modules.len() > 130, "{}", modules.len());
    read_back(modules, &hosts());
}

/// Large shaders, through the two writers of our own.
#[test]
fn large_dxil_shaders_are_whole() {
    let modules = dxil_shaders("fuzz");
    assert!(modules.len() > 100, "{}", modules.len());
    read_back(modules, &hosts()[..3]);
}
