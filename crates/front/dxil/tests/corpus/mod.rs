//! Real containers: those of `vectors/dxil`, and our own in `tests/containers`.
#![allow(dead_code, reason = "each test uses a part")]

use std::path::{Path, PathBuf};

/// The folder with the tests of this crate.
pub fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// A container with what stands beside it.
pub struct File {
    /// Its name without folder and extension.
    pub name: String,
    /// It.
    pub bytes: Vec<u8>,
    /// What it was compiled with; empty for our own.
    pub args: String,
    /// What it gives; empty if it is not run.
    pub test: String,
}

fn read(folder: &Path) -> Vec<File> {
    let text = |path: PathBuf| std::fs::read_to_string(path).unwrap_or_default();
    let mut files: Vec<File> = std::fs::read_dir(folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "dxil"))
        .map(|path| File {
            name: path.file_stem().unwrap().to_str().unwrap().to_owned(),
            bytes: std::fs::read(&path).unwrap(),
            args: text(path.with_extension("args")),
            test: text(path.with_extension("test")),
        })
        .collect();
    files.sort_by(|a, b| a.name.cmp(&b.name));
    files
}

fn parts(parts: &[&str]) -> Vec<File> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../vectors/dxil");
    parts.iter().flat_map(|part| read(&folder.join(part))).collect()
}

/// Every oracle container of `vectors/dxil`.
pub fn vectors() -> Vec<File> {
    let files = parts(&["compute", "fuzz", "stages"]);
    assert_eq!(files.len(), 169);
    files
}

/// Those of `vectors/dxil` that are our own; all are run.
pub fn own_vectors() -> Vec<File> {
    parts(&["bindless", "compute-own", "stages-own", "../dxil-2/stages-own"])
}

/// Those of `vectors/dxil-2`: shader models 6.0 to 6.9.
pub fn second_vectors() -> Vec<File> {
    let files = parts(&["../dxil-2/compute", "../dxil-2/stages"]);
    assert_eq!(files.len(), 53);
    files
}

/// Our own.
pub fn own_files() -> Vec<File> {
    read(&tests().join("containers"))
}

/// Our own, by name.
pub fn own(name: &str) -> Vec<u8> {
    std::fs::read(tests().join("containers").join(name).with_extension("dxil")).unwrap()
}
