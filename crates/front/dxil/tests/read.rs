//! Bitcode of real containers, and of damaged ones.

use std::path::{Path, PathBuf};
use xenoglot_dxil::bitcode::{Limits, read};

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

/// The bitcode of a container's part `DXIL`.
fn bitcode(bytes: &[u8]) -> &[u8] {
    let word = |at: usize| u32::from_le_bytes(*bytes[at..].first_chunk().unwrap()) as usize;
    let part = (0..word(28)).map(|i| word(32 + 4 * i)).find(|&at| &bytes[at..at + 4] == b"DXIL").unwrap();
    let start = part + 8 + 8 + word(part + 24);
    &bytes[start..start + word(part + 28)]
}

#[test]
fn every_container_is_read() {
    let all = containers();
    assert_eq!(all.len(), 169);
    for (path, bytes) in &all {
        let module = read(bitcode(bytes), &Limits::default()).unwrap_or_else(|e| panic!("{path:?}: {e}"));
        assert_eq!(module.triple, "dxil-ms-dx", "{path:?}");
        let ops = module.functions.iter().filter(|f| f.name.starts_with(b"dx.op."));
        assert!(ops.count() > 0, "{path:?}");
        assert!(module.metadata.named("dx.entryPoints").is_some(), "{path:?}");
        assert!(module.functions.iter().any(|f| f.body.is_some()), "{path:?}");
    }
}
