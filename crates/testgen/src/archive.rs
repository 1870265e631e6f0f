//! Archives of test vectors.

use std::io::Read;
use std::path::Path;

/// Names and bytes of the files in a folder of a `.tar.zst` archive.
///
/// # Panics
/// When the archive cannot be read: vectors are a part of the repository.
pub fn files(archive: &Path, folder: &str) -> Vec<(String, Vec<u8>)> {
    let bytes = std::fs::read(archive).unwrap_or_else(|e| panic!("{}: {e}", archive.display()));
    let tar = ruzstd::decoding::StreamingDecoder::new(bytes.as_slice()).expect("Zstandard");
    let mut files = Vec::new();
    for entry in tar::Archive::new(tar).entries().expect("an archive") {
        let mut entry = entry.expect("an entry");
        let name = entry.path().expect("a name").to_string_lossy().into_owned();
        let name = name.strip_prefix(folder).and_then(|name| name.strip_prefix('/'));
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).expect("an entry's bytes");
            files.push((name.to_owned(), bytes));
        }
    }
    files
}
