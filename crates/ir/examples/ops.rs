//! Prints the op reference: `cargo run -p xenoglot-ir --example ops > docs/ops.md`.

fn main() {
    print!("{}", xenoglot_ir::op::reference());
}
