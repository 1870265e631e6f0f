//! Suite of MIPS programs: a folder with `expect.json`, `expected/` and the archive `elf.tar.xz`, and the same three with
//! `_NAME` for other families, such as `expect_musl.json` (`vectors/mips/programs/FORMAT.md`).

use crate::limit::{Item, LIMIT, Work};
use crate::report::{Case, Observer, Summary, Verdict};
use crate::{Error, Request, input};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::{Read, Seek};
use std::path::Path;
use std::sync::Arc;
use xenoglot_guest::linux::{Config, End, Program, Stdio, System};
use xenoglot_guest::{Engine, Interpreter};
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use xenoglot_mips::container::{Elf, Limits};

/// Engines of the suite.
pub(crate) const ENGINES: &[&str] = &["interp", "jit", "aot"];

/// What is expected of a program.
#[derive(Deserialize)]
struct Expected {
    /// Its arguments.
    args: Vec<String>,
    /// Its exit code; 128 and the signal's number when a signal ends it.
    exit: u8,
}

struct Task {
    elf: Arc<[u8]>,
    expected: Expected,
    stdout: Vec<u8>,
}

/// Runs the suite on the folder.
pub(crate) fn suite(request: &Request, observer: &dyn Observer) -> Result<Summary, Error> {
    let mut items = Vec::new();
    for file in input::files(&request.path)? {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(family) = name.strip_prefix("expect").and_then(|name| name.strip_suffix(".json")) else {
            continue;
        };
        // `expected` is a folder, `expect.json` and `expect_NAME.json` are files.
        if family.is_empty() || family.starts_with('_') {
            let folder = file.parent().unwrap_or(Path::new("."));
            items.extend(read_family(folder, &file, family)?);
        }
    }
    if items.is_empty() {
        return Err(Error::NoVectors { path: request.path.clone(), magic: "expect*.json beside it".into() });
    }
    let make: MakeEngine = match request.engine {
        "jit" => |_| Ok(Box::new(xenoglot_cpu::engine)),
        "aot" => ahead_of_time,
        _ => |_| Ok(Box::new(|| Box::new(Interpreter::default()))),
    };
    // A program in C++ takes more than a minute to compile ahead of time.
    let limit = if request.engine == "aot" { 20 * LIMIT } else { LIMIT };
    Work::plain(items, move |item, emit| {
        let name = item.names.first().cloned().unwrap_or_default();
        let verdict = make(&item.data.elf)
            .and_then(|new_engine| run(&item.data, new_engine))
            .unwrap_or_else(|e| Verdict::Failed(format!("the program does not run: {e}")));
        emit(Case { name, verdict });
    })
    .run_within(limit, observer)
}

fn read_family(folder: &Path, file: &Path, family: &str) -> Result<Vec<Item<Task>>, Error> {
    let json = |e: serde_json::Error| Error::Json {
        path: folder.into(),
        file: file.display().to_string(),
        reason: e.to_string(),
    };
    let expected: BTreeMap<String, Expected> = serde_json::from_slice(&input::read(file)?).map_err(json)?;
    let mut programs = programs(&folder.join(format!("elf{family}.tar.xz")))?;
    let mut items = Vec::new();
    for (name, expected) in expected {
        let elf = programs.remove(&name).ok_or_else(|| Error::Json {
            path: folder.into(),
            file: file.display().to_string(),
            reason: format!("{name} is not in the archive"),
        })?;
        let stdout = input::read(&folder.join(format!("expected{family}")).join(format!("{name}.out")))?;
        items.push(Item::single(format!("{name}{family}"), Task { elf, expected, stdout }));
    }
    Ok(items)
}

/// The programs of an archive by name.
fn programs(path: &Path) -> Result<BTreeMap<String, Arc<[u8]>>, Error> {
    let damaged = |e: std::io::Error| Error::Archive { path: path.into(), reason: e.to_string() };
    let bytes = input::read(path)?;
    let tar = lzma_rust2::XzReader::new(bytes.as_slice(), false).take(input::MAX_BYTES);
    let mut out = BTreeMap::new();
    for entry in tar::Archive::new(tar).entries().map_err(damaged)? {
        let mut entry = entry.map_err(damaged)?;
        let path = entry.path().map_err(damaged)?.into_owned();
        if path.extension().is_some_and(|extension| extension == "elf") {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).map_err(damaged)?;
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            out.insert(name, bytes.into());
        }
    }
    Ok(out)
}

/// What makes the engine of each process.
type NewEngine = Box<dyn FnMut() -> Box<dyn Engine + Send> + Send>;

/// Makes that for a program's file.
type MakeEngine = fn(&[u8]) -> Result<NewEngine, Box<dyn std::error::Error>>;

/// Compiles a program, for engines that run it. With half of the optimisation: there are many programs.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn ahead_of_time(elf: &[u8]) -> Result<NewEngine, Box<dyn std::error::Error>> {
    use xenoglot_cpu::{Jit, Options, aot};
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("program.xga");
    let bias = xenoglot_guest::linux::load_bias(&Elf::parse(elf, &Limits::default())?);
    aot::compile(elf, &path, &aot::Options { optimize: 1, jobs: 1, bias, ..aot::Options::default() })?;
    let library = Arc::new(aot::Library::open(&path, elf)?);
    Jit::new(Options::default())?;
    Ok(Box::new(move || match Jit::with_library(Options::default(), Arc::clone(&library)) {
        Ok(jit) => Box::new(jit),
        Err(_) => xenoglot_cpu::engine(),
    }))
}

/// Says that there is no such engine.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn ahead_of_time(_: &[u8]) -> Result<NewEngine, Box<dyn std::error::Error>> {
    Err("programs are compiled ahead of time for x86-64 and Linux".into())
}

/// Runs a program in a folder of its own.
fn run(task: &Task, new_engine: NewEngine) -> Result<Verdict, Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let mut output = tempfile::tempfile()?;
    let stdio = Stdio { streams: [None, Some(output.try_clone()?.into()), None] };
    let config = Config { root: Some(folder.path().into()), writable: true, ..Config::default() };
    let arguments = std::iter::once("program").chain(task.expected.args.iter().map(String::as_str));
    let program = Program {
        bytes: Arc::clone(&task.elf),
        path: "/program".into(),
        arguments: arguments.map(Into::into).collect(),
        environment: Vec::new(),
    };
    let mut system = System::new(config, stdio, program, new_engine)?;
    let end = system.run(&mut u64::MAX.clone(), None);
    let mut stdout = Vec::new();
    output.rewind()?;
    output.read_to_end(&mut stdout)?;
    let mut differences = Vec::new();
    match end {
        End::Ended(status) if status.exit_code() == task.expected.exit => {}
        End::Ended(status) => {
            differences.push(format!("exit code {}, expected {}", status.exit_code(), task.expected.exit));
        }
        other => differences.push(format!("{other:?}")),
    }
    if stdout != task.stdout {
        let at = stdout.iter().zip(&task.stdout).take_while(|(a, b)| a == b).count();
        differences.push(format!(
            "output differs from byte {at} on: {} bytes, expected {}",
            stdout.len(),
            task.stdout.len()
        ));
    }
    Ok(Verdict::of_differences(&differences))
}
