//! All property tests of the workspace draw their cases by the shared helper.

use std::fs;
use std::path::{Path, PathBuf};

/// The Rust files under a folder, without build outputs.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut folders = vec![folder.to_path_buf()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files
}

#[test]
fn property_tests_draw_fixed_cases_unless_asked_for_fresh_ones() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    // In two parts, so that this file has none of them.
    let (block, closure) = (concat!("proptest", "! {"), concat!("proptest", "!("));
    let mut count = 0;
    for file in sources(&crates) {
        let text = fs::read_to_string(&file).unwrap();
        let mut lines = text.lines().enumerate().peekable();
        while let Some((number, line)) = lines.next() {
            let line = line.trim_start();
            if line.starts_with("//") {
                continue;
            }
            let place = format!("{}:{}", file.display(), number + 1);
            if line.ends_with(block) {
                let next = lines.peek().map_or("", |(_, next)| next);
                assert!(next.contains("property::config("), "{place}: no `property::config`");
                count += 1;
            } else if line.contains(closure) {
                assert!(line.contains("config_in(file!()"), "{place}: no `property::config_in`");
                count += 1;
            }
            let fixed = concat!("ProptestConfig", "::");
            assert!(!line.contains(fixed), "{place}: a configuration of its own");
        }
    }
    assert!(count > 40, "{count}");
}
