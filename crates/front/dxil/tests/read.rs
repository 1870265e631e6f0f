//! Bitcode of real containers, and of damaged ones.

use std::path::{Path, PathBuf};
use xenoglot_dxil::bitcode::{Limits, read};
use xenoglot_dxil::container::bitcode;

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
