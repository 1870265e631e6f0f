//! What translating real kernels costs: `maxwell_cubins FOLDER` compiles the kernels of a folder's cubins to SPIR-V for a host
//! whose subgroups are warps, once each, to be counted by `valgrind --tool=callgrind` (docs/benchmarks.md).

use std::error::Error;
use std::path::PathBuf;
use xenoglot::host::Subgroups;
use xenoglot::maxwell::{Options as LiftOptions, lift, load};
use xenoglot::{Code, Host, Options, Translator};

/// As the command line allocates.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).ok_or("a folder of cubins is needed")?;
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| entry.map(|e| e.path())).collect::<Result<_, _>>()?;
    files.retain(|path| path.extension().is_some_and(|ending| ending == "cubin"));
    files.sort();
    let host = Host { subgroups: Subgroups::exactly(32), ..Host::default() };
    // What launches give is more than any of them needs.
    let lifting = LiftOptions { dynamic_shared_bytes: 1 << 14, ..LiftOptions::default() };
    let mut translator = Translator::new();
    let (mut kernels, mut instructions, mut words) = (0, 0, 0);
    for file in files {
        let bytes = std::fs::read(&file)?;
        // A cubin may have data alone.
        for program in load(&bytes).unwrap_or_default() {
            let mut module = lift(&program, &lifting)?.module;
            let code = translator.compile(&mut module, &host, &Options::default())?;
            kernels += 1;
            // Of four words one is for the scheduler.
            instructions += program.code.len() / 8 * 3 / 4;
            words += match code {
                Code::Words(words) => words.len(),
                Code::Text(_) => 0,
            };
        }
    }
    println!("{kernels} kernels, {instructions} instructions, {words} words of SPIR-V");
    Ok(())
}
