//! Makes a Zstandard dictionary of a folder of SPIR-V modules:
//! `cargo run -p xenoglot-cache --example train -- FOLDER OUTPUT`.
//!
//! `dict/spirv-1.zdict` was made so of what `xenoglot translate --to spirv` makes of the shaders under `vectors/` and of the
//! shaders that `xenoglot-pica-shader` bundles.

use std::error::Error;
use std::path::{Path, PathBuf};

/// A dictionary is in the program, and what it lacks is found in the module itself: more bytes gain little.
const BYTES: usize = 32 << 10;

/// Longer modules need no dictionary, and would outweigh the short ones.
const LONGEST: usize = 64 << 10;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(output)) = (arguments.next(), arguments.next()) else {
        return Err("usage: train FOLDER OUTPUT".into());
    };
    let mut files = Vec::new();
    walk(Path::new(&folder), &mut files)?;
    files.sort();
    let mut modules: Vec<Vec<u8>> = files.iter().map(std::fs::read).collect::<Result<_, _>>()?;
    modules.retain(|module| module.len() <= LONGEST);
    modules.sort();
    modules.dedup();
    let dictionary = zstd::dict::from_samples(&modules, BYTES)?;
    let mut packer = zstd::bulk::Compressor::with_dictionary(3, &dictionary)?;
    let (mut raw, mut alone, mut packed) = (0, 0, 0);
    for module in &modules {
        raw += module.len();
        alone += zstd::bulk::compress(module, 3)?.len();
        packed += packer.compress(module)?.len();
    }
    println!("{} modules, {raw} bytes; packed alone {alone}, with the dictionary {packed}", modules.len());
    Ok(std::fs::write(output, dictionary)?)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in folder.read_dir()? {
        let path = entry?.path();
        match path.is_dir() {
            true => walk(&path, files)?,
            false if path.extension().is_some_and(|e| e == "spv") => files.push(path),
            false => {}
        }
    }
    Ok(())
}
