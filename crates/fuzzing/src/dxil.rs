//! Shaders of Direct3D 12.

use std::path::Path;
use xenoglot::Error;
use xenoglot::dxil::{
    Checks, HeapSets, LiftOptions, RegisterSpaces, Remapper, RootSignatureMap, Slot, Windows, disassemble,
    lift, lift_bound, load, program,
};
use xenoglot_dxil::binding::checks::Faults;
use xenoglot_dxil::binding::covering;
use xenoglot_dxil::bitcode::Module as Bitcode;
use xenoglot_dxil::lift::LiftError;
use xenoglot_interp::Interpreter;
use xenoglot_ir::Module;
use xenoglot_opt::pipeline::{Level, Options as OptOptions, Verify};
use xenoglot_opt::{Context, Lacks, legalize, optimize};

/// Shaders of a library that are lifted.
const ENTRIES: usize = 4;

/// A container or bitcode: what is read has a text; its shaders are lifted to verified modules, which each pass keeps so and which are
/// emitted or refused, or they are refused with an error. Or a buffer of faults of descriptors.
pub fn dxil(data: &[u8]) {
    if let Ok(faults) = Faults::read(data) {
        assert!(faults.faults.len() <= data.len());
    }
    let Ok(module) = load(data) else { return };
    match disassemble(&module) {
        Ok(_) | Err(Error::DxilText(_)) => {}
        Err(e) => panic!("{e}"),
    }
    otherwise_bound(&module);
    for entry in 0..ENTRIES {
        match lift(&module, &LiftOptions { entry, ..LiftOptions::default() }) {
            Ok(lifted) => optimised(&lifted.module),
            Err(Error::DxilLift(LiftError::NoEntry { .. })) => return,
            Err(Error::DxilLift(_)) => {}
            Err(e) => panic!("{e}"),
        }
    }
}

/// Passes keep a module valid, and what comes of them is emitted or refused.
fn optimised(lifted: &Module) {
    for level in [Level::Light, Level::Full] {
        let lacks = Lacks {
            narrow_memory: level == Level::Light,
            arithmetic: legalize::Options::RULES,
            ..Lacks::default()
        };
        let options = OptOptions { level: Some(level), lacks, ..OptOptions::default() };
        let mut module = lifted.clone();
        if let Err(errors) = optimize(&mut module, &mut Context::new(), &options, &mut Verify) {
            panic!("{errors}");
        }
        Interpreter::new(&module).expect("verified modules are whole");
        let _ = xenoglot_spirv::emit(&module, &xenoglot_spirv::Options::default());
    }
}

/// Raw buffers as texels, and heaps whose descriptors are checked and whose buffers are seen through windows.
fn otherwise_bound(module: &Bitcode) {
    let texels = RegisterSpaces { raw_as_texels: true, ..RegisterSpaces::default() };
    let resources = program(module).map(|program| program.resources).unwrap_or_default();
    let checks = Some(Checks { slot: Slot { set: 3, binding: 0 }, program: 1 });
    let windows = Some(Windows::pairs(Slot { set: 3, binding: 2 }));
    let sets = HeapSets { checks, windows, ..HeapSets::default() };
    let heaps = RootSignatureMap::new(&covering(&resources), None, sets);
    let options = LiftOptions { all_resident: true, samples: Some(4), ..LiftOptions::default() };
    for remapper in [&texels as &dyn Remapper, &heaps] {
        match lift_bound(module, &options, remapper) {
            Ok(mut lifted) => {
                let lacks = Lacks { arithmetic: legalize::Options::RULES, ..Lacks::default() };
                legalize::run(&mut lifted.module, &lacks, &mut Context::new());
                let _ = xenoglot_spirv::emit(&lifted.module, &xenoglot_spirv::Options::default());
            }
            Err(Error::DxilLift(_)) => {}
            Err(e) => panic!("{e}"),
        }
    }
}

/// The smaller containers of the project's vectors, and its libraries of nodes and hit objects.
pub fn containers() -> Vec<Vec<u8>> {
    const LIBRARIES: [&str; 6] = [
        "stages-own/graph_lib",
        "../dxil-2/stages-own/lib_hits",
        "../dxil-2/stages/lib_ser",
        "../dxil-2/stages/wg_broadcast_thread",
        "../dxil-2/stages/wg_coalescing",
        "../../crates/front/dxil/tests/containers/hit_kind",
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/dxil");
    let files = ["compute", "compute-own"].into_iter().flat_map(|part| std::fs::read_dir(folder.join(part)));
    let files = files.flatten().flatten();
    let mut paths: Vec<_> = files.map(|f| f.path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "dxil"));
    paths.sort();
    let mut all: Vec<Vec<u8>> = paths.iter().filter_map(|p| std::fs::read(p).ok()).collect();
    all.retain(|bytes| bytes.len() < 1 << 12);
    let libraries = LIBRARIES.map(|name| folder.join(name).with_extension("dxil"));
    all.extend(libraries.iter().filter_map(|path| std::fs::read(path).ok()));
    all
}
