//! The table of `docs/dragon.md` is the table of the code.

use xenoglot_vpu::isa::reference;

#[test]
fn the_document_has_the_table() {
    println!("{}", reference());
    let document = include_str!("../../../../docs/dragon.md");
    assert!(document.contains(&reference()), "docs/dragon.md: print the table anew");
}
