//! Real containers and damaged ones: read, printed and lifted.

use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use xenoglot_dxil::binding::{HeapSets, RegisterSpaces};
use xenoglot_dxil::bitcode::{Limits, read};
use xenoglot_dxil::container::bitcode;
use xenoglot_dxil::disasm::disassemble;
use xenoglot_dxil::lift::{LiftOptions, lift, lift_bound};
use xenoglot_dxil::program::Program;

/// The containers of `vectors/dxil`, all folders.
fn containers() -> Vec<(PathBuf, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../vectors/dxil");
    let mut all = Vec::new();
    for folder in ["compute", "fuzz", "stages"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "dxil") {
                let bytes = std::fs::read(&path).unwrap();
                all.push((path, bytes));
            }
        }
    }
    all.sort();
    all
}

#[test]
fn every_container_is_read() {
    let all = containers();
    assert_eq!(all.len(), 169);
    for (path, bytes) in &all {
        let module = read(bitcode(bytes).unwrap().bytes, &Limits::default())
            .unwrap_or_else(|e| panic!("{path:?}: {e}"));
        assert_eq!(module.triple, "dxil-ms-dx", "{path:?}");
        let ops = module.functions.iter().filter(|f| f.name.starts_with(b"dx.op."));
        assert!(ops.count() > 0, "{path:?}");
        assert!(module.metadata.named("dx.entryPoints").is_some(), "{path:?}");
        assert!(module.functions.iter().any(|f| f.body.is_some()), "{path:?}");
    }
}

/// Whatever is wrong with a shader, it is an error.
fn survives(bytes: &[u8]) {
    let Ok(code) = bitcode(bytes) else { return };
    let Ok(module) = read(code.bytes, &Limits::default()) else { return };
    let _ = disassemble(&module);
    let _ = lift(&module, &Default::default());
}

#[test]
fn any_byte_of_a_container_may_be_damaged() {
    let mut small = containers();
    small.retain(|(path, _)| path.to_string_lossy().contains("compute"));
    small.sort_by_key(|(_, bytes)| bytes.len());
    for (path, bytes) in small.iter().take(2) {
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            survives(&damaged);
            if at % 16 == 0 {
                survives(&bytes[..at]);
            }
        }
        println!("{}: {} bytes", path.display(), bytes.len());
    }
}

static CONTAINERS: LazyLock<Vec<(PathBuf, Vec<u8>)>> = LazyLock::new(containers);

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(400))]
    #[test]
    fn damaged_containers_are_read_or_refused(
        file: prop::sample::Index,
        places in prop::collection::vec(any::<(prop::sample::Index, u8)>(), 1..6),
    ) {
        let mut bytes = CONTAINERS[file.index(CONTAINERS.len())].1.clone();
        for (place, value) in places {
            let at = place.index(bytes.len());
            bytes[at] = value;
        }
        survives(&bytes);
    }

    #[test]
    fn any_bitcode_is_read_or_refused(bytes: Vec<u8>) {
        survives(&bytes);
        survives(&[b"BC\xc0\xde", &bytes[..]].concat());
    }
}

#[test]
fn shaders_of_all_stages_are_lifted() {
    let heaps = HeapSets { resources: 100, samplers: 101, static_samplers: 102, ..HeapSets::default() };
    let remapper = RegisterSpaces { heaps: Some(heaps), ..RegisterSpaces::default() };
    let mut count = 0;
    for (path, bytes) in CONTAINERS.iter() {
        let module = read(bitcode(bytes).unwrap().bytes, &Limits::default()).unwrap();
        for entry in 0..Program::all(&module).unwrap().len() {
            let options = LiftOptions { entry, ..LiftOptions::default() };
            lift_bound(&module, &options, &remapper).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            count += 1;
        }
    }
    // Libraries have several.
    assert_eq!((CONTAINERS.len(), count), (169, 174));
}
