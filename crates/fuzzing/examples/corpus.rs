//! Writes the inputs each fuzz target starts from: `cargo run -p xenoglot-fuzzing --example corpus -- fuzz/corpus`.

use std::path::PathBuf;
use xenoglot_fuzzing::TARGETS;

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args_os().nth(1).unwrap_or_else(|| "fuzz/corpus".into()));
    for target in TARGETS {
        let folder = folder.join(target.name);
        std::fs::create_dir_all(&folder)?;
        let seeds = (target.seeds)();
        println!("{}: {} inputs", folder.display(), seeds.len());
        for (i, seed) in seeds.into_iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{i:03}")), seed)?;
        }
    }
    Ok(())
}
