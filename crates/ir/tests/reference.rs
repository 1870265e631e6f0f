//! The reference in `docs/` is that of the table.

use std::path::Path;
use xenoglot_ir::op::reference;

#[test]
fn the_document_is_printed_from_the_table() {
    let document =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ops.md")).unwrap();
    assert!(document == reference(), "cargo run -p xenoglot-ir --example ops > docs/ops.md");
}
