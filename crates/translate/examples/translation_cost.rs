//! What translating real programs costs: `translation_cost FOLDER [LIST]` compiles every program of a folder's files to SPIR-V
//! once, for a host whose subgroups are warps, to be counted by `valgrind --tool=callgrind` (docs/benchmarks.md). Prints the
//! programs that became code; only those of LIST, a file of such lines, are compiled where one is given.

use std::collections::HashSet;
use std::error::Error;
use std::path::PathBuf;
use xenoglot::guest::{LiftOptions, detect};
use xenoglot::host::Subgroups;
use xenoglot::{Code, Host, Options, Translator};

/// As the command line allocates.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1);
    let folder = args.next().ok_or("a folder of programs is needed")?;
    let list = args.next().map(std::fs::read_to_string).transpose()?;
    let list: Option<HashSet<&str>> = list.as_deref().map(|list| list.lines().collect());
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| entry.map(|e| e.path())).collect::<Result<_, _>>()?;
    files.sort();
    let host = Host { subgroups: Subgroups::exactly(32), ..Host::default() };
    let mut translator = Translator::new();
    let (mut programs, mut words) = (0, 0);
    for file in files {
        let bytes = std::fs::read(&file)?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let Some((guest, _)) = detect(&bytes) else { continue };
        // A cubin may have data alone.
        let Ok(image) = guest.load(&bytes) else { continue };
        let mut options = guest.options();
        if let LiftOptions::Maxwell(options) = &mut options {
            // What launches give is more than any of them needs.
            options.dynamic_shared_bytes = 1 << 14;
        }
        for (index, program) in image.programs().iter().enumerate() {
            let key = format!("{name}:{}", program.name);
            if list.as_ref().is_some_and(|list| !list.contains(key.as_str())) {
                continue;
            }
            let Ok(mut module) = image.lift(index, &options) else { continue };
            let Ok(Code::Words(code)) = translator.compile(&mut module, &host, &Options::default()) else {
                continue;
            };
            if list.is_none() {
                println!("{key}");
            }
            programs += 1;
            words += code.len();
        }
    }
    eprintln!("{programs} programs, {words} words of SPIR-V");
    Ok(())
}
