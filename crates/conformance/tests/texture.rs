//! The texture vectors of the project, and hostile files.

use std::path::PathBuf;
use std::sync::Mutex;
use xenoglot_conformance::{Case, Observer, Request, Suite, Summary, Verdict};

fn vectors() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/texture"))
}

#[derive(Default)]
struct Failures(Mutex<Vec<String>>);

impl Observer for Failures {
    fn total(&self, _cases: usize) {}

    fn case(&self, case: &Case) {
        if let Verdict::Failed(d) | Verdict::Unconfirmed(d) = &case.verdict {
            self.0.lock().unwrap().push(format!("{}: {d}", case.name));
        }
    }
}

fn run(path: PathBuf) -> (Result<Summary, String>, Vec<String>) {
    let suite = Suite::find("texture").unwrap();
    let failures = Failures::default();
    let request = Request { path, engine: "cpu", device: None, worker: None };
    let summary = suite.run(&request, &failures).map_err(|e| e.to_string());
    (summary, failures.0.into_inner().unwrap())
}

/// 24 footprints of 2,050 blocks in four outputs, 18 formats of 2,048 blocks, 14 + 16 + 222 of consoles.
#[test]
fn every_vector_is_exact() {
    let (summary, failures) = run(vectors());
    assert!(failures.is_empty(), "{} failures: {:#?}", failures.len(), &failures[..failures.len().min(20)]);
    let passed = 24 * 2050 * 4 + 18 * 2048 + 14 + 16 + 222;
    assert_eq!(summary, Ok(Summary { passed, failed: 0, unconfirmed: 0 }));
}

/// A file cut anywhere is an error, not a panic; so is one whose counts say too much.
#[test]
fn damaged_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (name, whole) in [
        ("bc7.bin", "bc_etc/bc7.bin.zst"),
        ("astc.bin", "astc/astc_4x4.bin.zst"),
        ("pica.bin", "console/pica.bin.zst"),
        ("ds.bin", "console/ds.bin.zst"),
    ] {
        let bytes = xenoglot_conformance::input::read(&vectors().join(whole)).unwrap();
        let path = folder.path().join(name);
        for cut in [9, 12, 20, 40, 1000, bytes.len() - 1] {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            assert!(run(path.clone()).0.is_err(), "{name} cut at {cut}");
        }
        let mut more = bytes.clone();
        more[8..24].fill(0xff);
        std::fs::write(&path, more).unwrap();
        assert!(run(path).0.is_err(), "{name}");
    }
}
