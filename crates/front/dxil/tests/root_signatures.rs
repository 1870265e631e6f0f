//! Root signatures as DirectXShaderCompiler 1.7 writes them: read, printed to the text they were compiled from, and
//! written to the same bytes. `root_signatures/NAME_VERSION.bin` is what `-T rootsig_VERSION -E RS` makes of
//! `NAME.hlsl`.

use std::path::Path;
use xenoglot_dxil::container::Container;
use xenoglot_dxil::root_signature::{RootSignature, Version};

/// File name, bytes, and the text it was compiled from.
fn cases() -> Vec<(String, Vec<u8>, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/root_signatures");
    let mut cases: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .filter_map(|entry| {
            let file = entry.unwrap().file_name().into_string().unwrap();
            let name = file.strip_suffix("_1_0.bin").or_else(|| file.strip_suffix("_1_1.bin"))?;
            let source = std::fs::read_to_string(folder.join(format!("{name}.hlsl"))).unwrap();
            let text = source.split('"').nth(1).unwrap().to_owned();
            Some((file.clone(), std::fs::read(folder.join(&file)).unwrap(), text))
        })
        .collect();
    cases.sort();
    cases
}

/// The words of a text: fields may stand in any order.
fn canonical(text: &str) -> String {
    let mut clauses: Vec<String> = text.split(['(', ')', ',']).map(|part| part.trim().to_owned()).collect();
    clauses.retain(|part| !part.is_empty());
    clauses.sort();
    clauses.join("\n")
}

#[test]
fn compiled_root_signatures_survive() {
    let cases = cases();
    assert_eq!(cases.len(), 19);
    for (name, bytes, text) in cases {
        let signature = RootSignature::parse(&bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        let version = if name.ends_with("_1_0.bin") { Version::V1_0 } else { Version::V1_1 };
        assert_eq!(signature.version, version, "{name}");
        assert_eq!(signature.validate(), [], "{name}");
        let part = Container::parse(&bytes).unwrap().parts[0];
        assert_eq!(signature.write(), part.data, "{name}");
        assert_eq!(RootSignature::parse(part.data).as_ref(), Ok(&signature), "{name}");
        assert_eq!(canonical(&signature.to_string()), canonical(&text), "{name}: {signature}");
    }
}
