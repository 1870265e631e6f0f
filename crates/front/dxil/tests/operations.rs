//! `docs/dxil-operations.md` says what the table says. `XENOGLOT_BLESS=1` writes it.

use std::path::Path;
use xenoglot_dxil::ops::Op;

#[test]
fn the_document_is_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/dxil-operations.md");
    let text = Op::reference();
    if std::env::var_os("XENOGLOT_BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "run with XENOGLOT_BLESS=1");
}
