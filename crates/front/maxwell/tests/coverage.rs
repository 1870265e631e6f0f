//! Which test knows which operation: prints a table, and fails for an operation that none knows.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::Read;
use std::path::Path;
use xenoglot_maxwell::gpu::DefaultGpu;
use xenoglot_maxwell::lift::{Kernel, LiftOptions, lift_compute_on};
use xenoglot_maxwell::{Opcode, decode};

/// Encodings by hand of operations that neither a compiler nor a mutation of its output gives, and why.
const BY_HAND: &[(u64, &str)] = &[
    (0xefa0_7000_0007_ff00, "AL2P: attributes at a register; uam unrolls the loops that would need it"),
    (0xe2c0_0000_0000_0000, "GETCRSPTR: the driver's, to save the call stack"),
    (0x2c00_0000_0007_0000, "HADD2_32I: compilers take the immediate form of three operands"),
    (0x53f8_0000_0007_0000, "IDP: of SM61; `vectors/maxwell-2` has it"),
    (0xe230_0000_0000_0000, "PEXIT: the driver's, for handlers of exits"),
    (0xe380_0000_0000_0000, "RAM: restores the active mask; `vectors/maxwell-2` has it"),
    (0xe360_0000_0000_0000, "RTT: returns from trap handlers"),
    (0xe370_0000_0000_0000, "SAM: sets the active mask; `vectors/maxwell-2` has it"),
    (0xeea0_0000_0007_0000, "STP: not known to be used"),
];

#[derive(Default)]
struct Row {
    executed: usize,
    rendered: usize,
    words: usize,
    by_hand: bool,
    lifted: bool,
}

fn unpack(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../vectors/maxwell").join(name);
    let bytes = std::fs::read(path).unwrap();
    let mut out = Vec::new();
    lzma_rust2::XzReader::new(bytes.as_slice(), false).read_to_end(&mut out).unwrap();
    out
}

/// The mnemonic of a form's name.
fn mnemonic(form: &str) -> &str {
    form.split('.').next().unwrap_or(form)
}

/// Whether a word alone is lifted in a kernel.
fn is_lifted(word: u64) -> bool {
    const EXIT: u64 = 0xe300_0000_0007_000f;
    let code: Vec<u8> = [0, word, EXIT, EXIT].into_iter().flat_map(u64::to_le_bytes).collect();
    let kernel = Kernel {
        code: &code,
        entry: 0,
        workgroup: [32, 1, 1],
        shared_bytes: 64,
        local_bytes: 64,
        constants: &[],
        functions: &[],
    };
    lift_compute_on(&kernel, &LiftOptions::default(), &DefaultGpu).is_ok()
}

#[test]
fn every_operation_has_a_test() {
    let mut rows: BTreeMap<&str, Row> = Opcode::ALL.iter().map(|op| (op.name(), Row::default())).collect();
    let mut count = |form: &str, of: fn(&mut Row) -> &mut usize| {
        if let Some(row) = rows.get_mut(mnemonic(form)) {
            *of(row) += 1;
        }
    };
    let tar = unpack("compute/public.tar.xz");
    for entry in tar::Archive::new(tar.as_slice()).entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().display().to_string();
        if !name.ends_with(".json") || name.contains("manifest") {
            continue;
        }
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        let kernel: serde_json::Value = serde_json::from_str(&text).unwrap();
        if kernel["executable"] != true {
            continue;
        }
        for forms in kernel["sass_opcodes"].as_object().unwrap().values() {
            forms.as_array().unwrap().iter().for_each(|f| count(f.as_str().unwrap(), |r| &mut r.executed));
        }
    }
    let manifest =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../vectors/maxwell/graphics/manifest.public.json");
    let shaders: serde_json::Value = serde_json::from_slice(&std::fs::read(manifest).unwrap()).unwrap();
    for shader in shaders.as_array().unwrap() {
        let forms = shader["opcodes"].as_array().unwrap();
        forms.iter().for_each(|f| count(f.as_str().unwrap(), |r| &mut r.rendered));
    }
    let text = String::from_utf8(unpack("decode/public.tsv.xz")).unwrap();
    let words = text.lines().filter_map(|l| u64::from_str_radix(l.split('\t').next()?, 16).ok());
    for word in words {
        let row = rows.get_mut(decode(8, word).unwrap().op.name()).unwrap();
        row.words += 1;
        row.lifted = row.lifted || (row.words <= 40 && is_lifted(word));
    }
    for (word, reason) in BY_HAND {
        let inst = decode(8, *word).unwrap_or_else(|e| panic!("{reason}: {e}"));
        assert_eq!(reason.split(':').next(), Some(inst.op.name()));
        let row = rows.get_mut(inst.op.name()).unwrap();
        row.by_hand = true;
        row.lifted |= is_lifted(*word);
    }
    let mut table = String::from("operation      kernels shaders  words  alone in a kernel\n");
    for (name, row) in &rows {
        let by_hand = if row.by_hand { " (by hand)" } else { "" };
        let lifted = if row.lifted { "lifted" } else { "refused" };
        let (executed, rendered, words) = (row.executed, row.rendered, row.words);
        writeln!(table, "{name:14} {executed:7} {rendered:7} {words:6}  {lifted}{by_hand}").unwrap();
    }
    println!("{table}");
    let unknown: Vec<_> = rows
        .iter()
        .filter(|(_, r)| r.executed + r.rendered + r.words == 0 && !r.by_hand)
        .map(|(name, _)| *name)
        .collect();
    assert!(unknown.is_empty(), "no test knows {unknown:?}");
}
