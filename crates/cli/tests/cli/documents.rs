//! The code in `docs/add-*.md` is the code of the files that its blocks name.

use std::fs;
use std::path::Path;

/// Blocks that begin with a line of three backticks, `rust` and a path: path and code.
fn blocks(document: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("docs").join(document)).unwrap();
    let mut blocks = Vec::new();
    let mut rest = text.as_str();
    while let Some((_, after)) = rest.split_once("\n```rust ") {
        let (path, after) = after.split_once('\n').unwrap();
        let (code, after) = after.split_once("\n```\n").unwrap();
        blocks.push((path.to_owned(), code.to_owned()));
        rest = after;
    }
    assert!(!blocks.is_empty(), "{document}");
    blocks
}

fn source(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).unwrap()
}

#[test]
fn an_ops_code_is_in_its_files() {
    for (path, code) in blocks("add-an-op.md") {
        assert!(source(&path).contains(&format!("{code}\n")), "docs/add-an-op.md: not in {path}:\n{code}");
    }
}

#[test]
fn the_toy_front_end_is_there_from_first_line_to_last() {
    let blocks = blocks("add-a-front-end.md");
    let path = "crates/translate/examples/toy_guest.rs";
    assert!(blocks.iter().all(|(named, _)| named == path));
    let shown = blocks.into_iter().map(|(_, code)| code).collect::<Vec<_>>().join("\n\n");
    // Blocks are cut at blank lines.
    let file = source(path);
    let different = shown.lines().zip(file.lines()).find(|(shown, file)| shown != file);
    assert_eq!(different, None, "docs/add-a-front-end.md");
    assert_eq!(shown.lines().count(), file.lines().count(), "docs/add-a-front-end.md");
}
