//! The C compiler: sources into a shared library.

use super::c;
use super::image::Image;
use super::program::Program;
use super::trailer::{self, Code, Level, Trailer};
use super::{AotError, VERSION};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use xenoglot_mips::container::elf::{Elf, Limits};

/// Bytes of C in a file: large ones are slow to begin with, and few files leave processors idle.
const UNIT: usize = 1 << 20;
/// Bytes of the compiler's messages that an error has.
const MESSAGE: usize = 2000;

/// The declarations and helpers of all sources.
const PRELUDE: &str = include_str!("prelude.h");

/// What code has to mean: floats as the processor computes them, and every integer wraps.
const MEANING: &[&str] = &[
    "-std=gnu11",
    "-fPIC",
    "-w",
    "-fno-strict-aliasing",
    "-fwrapv",
    "-ffp-contract=off",
    "-frounding-math",
    "-ftrapping-math",
    "-fno-math-errno",
    "-fno-stack-protector",
    "-fno-asynchronous-unwind-tables",
    "-fcf-protection=none",
    "-fomit-frame-pointer",
    "-fvisibility=hidden",
];

/// The compiler makes no vectors by itself. Accesses are inline assembly, so that it could vectorise no loop. Where the way out after
/// a failed access stores registers to neighbouring homes, it would build a vector of them before the access, on the usual path.
const NO_VECTORS: &[&str] = &["-fno-tree-vectorize", "-fno-tree-slp-vectorize"];

/// How to compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The C compiler: GCC or Clang. A name is searched for as a shell does.
    pub compiler: PathBuf,
    /// Its optimisation, 0 to 3.
    pub optimize: u8,
    /// How many compilers run at a time.
    pub jobs: usize,
    /// Code for any x86-64 processor since 2009, instead of one like this host's.
    pub portable: bool,
    /// What is added to the file's addresses where it is loaded.
    pub bias: u32,
}

impl Default for Options {
    fn default() -> Self {
        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        Options { compiler: "cc".into(), optimize: 2, jobs, portable: false, bias: 0 }
    }
}

/// What became of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Functions compiled.
    pub functions: usize,
    /// Functions left to other engines.
    pub refused: usize,
    /// Instructions of the guest in them, each once.
    pub instructions: usize,
    /// Bytes of C.
    pub source_bytes: usize,
    /// Bytes of the library.
    pub bytes: usize,
    /// The time that the compiler took.
    pub time: Duration,
}

/// A source file of a library.
struct Source {
    name: String,
    text: String,
}

/// The C sources of a program, by the names of their files.
///
/// # Errors
/// When the file is damaged, or has no code or too much.
pub fn sources(elf: &[u8], bias: u32) -> Result<Vec<(String, String)>, AotError> {
    let elf = Elf::parse(elf, &Limits::default())?;
    let image = Image::new(&elf, bias)?;
    let sources = write(&image, &Program::new(&image)).into_iter();
    Ok(sources.map(|source| (source.name, source.text)).collect())
}

fn write(image: &Image<'_>, program: &Program) -> Vec<Source> {
    let base = image.code.first().map_or(0, |range| range.start);
    let count = image.code.last().map_or(0, |range| (range.end - base) / 4);
    let mut head = format!("// Made by xenoglot-cpu, version {VERSION}.\n");
    // Writing to a string cannot fail.
    let _ = writeln!(head, "#define XGA_BASE {base:#x}u\n#define XGA_COUNT {count}u");
    head.push_str(&c::offsets());
    head.push_str(PRELUDE);
    let mut out = Vec::new();
    let mut functions = program.functions.iter().peekable();
    while functions.peek().is_some() {
        let mut text = head.clone();
        let mut bodies = String::new();
        while let Some((_, body)) = functions.next_if(|_| bodies.len() < UNIT) {
            bodies.push_str(body);
        }
        declare(&bodies, &mut text);
        text.push_str(&bodies);
        out.push(Source { name: format!("code{}.c", out.len()), text });
    }
    out.push(Source { name: "table.c".into(), text: table(&head, base, count, program) });
    out
}

/// Declares the functions that a text mentions.
fn declare(bodies: &str, out: &mut String) {
    let names = bodies.split("xga_").skip(1).filter_map(|rest| rest.get(..8));
    let pcs: std::collections::BTreeSet<u32> =
        names.filter_map(|digits| u32::from_str_radix(digits, 16).ok()).collect();
    for pc in pcs {
        let _ = writeln!(out, "XGA_CODE Code {};", c::name(pc));
    }
}

/// The table of code by guest address, and what the library has for whoever loads it.
fn table(head: &str, base: u32, count: u32, program: &Program) -> String {
    let mut out = head.to_owned();
    out.push_str("__asm__(\".pushsection .rodata\\n.balign 4\\n.hidden xga_table\\n.globl xga_table\\nxga_table:\\n\"\n");
    let mut at = base;
    for (&pc, &owner) in &program.entries {
        if pc > at {
            let _ = writeln!(out, "\".zero {}\\n\"", pc - at);
        }
        let _ = writeln!(out, "\".long {} - .\\n\"", c::name(owner));
        at = pc + 4;
    }
    let end = base + 4 * count;
    if end > at {
        let _ = writeln!(out, "\".zero {}\\n\"", end - at);
    }
    out.push_str("\".popsection\\n\");\n");
    out.push_str(
        "extern const char __start_xga_text[] __attribute__((visibility(\"hidden\")));\n\
         extern const char __stop_xga_text[] __attribute__((visibility(\"hidden\")));\n\
         extern const char __start_xga_ex[] __attribute__((visibility(\"hidden\"), weak));\n\
         extern const char __stop_xga_ex[] __attribute__((visibility(\"hidden\"), weak));\n\
         __attribute__((visibility(\"default\"))) const struct { const void *parts[5]; u32 base, count; } xga_info = {\n\
         { __start_xga_text, __stop_xga_text, __start_xga_ex, __stop_xga_ex, xga_table }, XGA_BASE, XGA_COUNT };\n",
    );
    out
}

/// Compiles a program's ELF file into the library `to`.
///
/// # Errors
/// When the file is damaged, there is no compiler or it fails, or a file cannot be written.
pub fn compile(elf: &[u8], to: &Path, options: &Options) -> Result<Report, AotError> {
    let start = Instant::now();
    let file_hash = trailer::hash(elf);
    let elf = Elf::parse(elf, &Limits::default())?;
    let image = Image::new(&elf, options.bias)?;
    let program = Program::new(&image);
    let sources = write(&image, &program);
    let level = Level::of_host().filter(|_| !options.portable).unwrap_or(Level::V2);
    let folder = tempfile::tempdir().map_err(AotError::file(std::env::temp_dir()))?;
    let objects = objects(&sources, folder.path(), options, level)?;
    let library = folder.path().join("library.so");
    let mut command = Command::new(&options.compiler);
    command.args(["-shared", "-nostdlib", "-Wl,-z,noexecstack", "-Wl,--build-id=none", "-o"]).arg(&library);
    run(command.args(objects), &options.compiler)?;
    let mut bytes = fs::read(&library).map_err(AotError::file(&library))?;
    let code = image.code.iter();
    let code = code.map(|range| Code { range: range.clone(), hash: trailer::hash(image.code_bytes(range)) });
    let trailer = Trailer { level: level as u32, code: code.collect(), elf: file_hash, abi: trailer::abi() };
    let trailer = trailer.write(&bytes);
    bytes.extend(trailer);
    // A library that is mapped somewhere must not change: a new file takes its place.
    let beside = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mode = fs::Permissions::from_mode(0o666);
    let file = tempfile::Builder::new().permissions(mode).tempfile_in(beside);
    let mut file = file.map_err(AotError::file(beside))?;
    std::io::Write::write_all(&mut file, &bytes).map_err(AotError::file(to))?;
    file.persist(to).map_err(|e| AotError::file(to)(e.error))?;
    Ok(Report {
        functions: program.functions.len() - program.refused,
        refused: program.refused,
        instructions: program.instructions,
        source_bytes: sources.iter().map(|source| source.text.len()).sum(),
        bytes: bytes.len(),
        time: start.elapsed(),
    })
}

/// Compiles the sources; the paths of their objects.
fn objects(
    sources: &[Source],
    folder: &Path,
    options: &Options,
    level: Level,
) -> Result<Vec<PathBuf>, AotError> {
    let next = AtomicUsize::new(0);
    let failure: Mutex<Option<AotError>> = Mutex::new(None);
    let one = |source: &Source| {
        let path = folder.join(&source.name);
        fs::write(&path, &source.text).map_err(AotError::file(&path))?;
        let mut command = Command::new(&options.compiler);
        command
            .args(MEANING)
            .args(NO_VECTORS)
            .arg(format!("-O{}", options.optimize.min(3)))
            .arg(level.march());
        run(command.arg("-c").arg(&path).arg("-o").arg(path.with_extension("o")), &options.compiler)
    };
    let worker = || {
        while let Some(source) = sources.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(e) = one(source)
                && let Ok(mut failure) = failure.lock()
            {
                failure.get_or_insert(e);
                next.store(sources.len(), Ordering::Relaxed);
            }
        }
    };
    std::thread::scope(|scope| {
        (1..options.jobs.min(sources.len())).for_each(|_| drop(scope.spawn(worker)));
        worker();
    });
    match failure.into_inner() {
        Ok(Some(e)) => Err(e),
        _ => Ok(sources.iter().map(|source| folder.join(&source.name).with_extension("o")).collect()),
    }
}

fn run(command: &mut Command, compiler: &Path) -> Result<(), AotError> {
    let output = command.env("LC_ALL", "C").output();
    let output = output.map_err(|error| AotError::NoCompiler { compiler: compiler.to_owned(), error })?;
    if output.status.success() {
        return Ok(());
    }

    let mut message = String::from_utf8_lossy(&output.stderr).into_owned();
    message.truncate(message.floor_char_boundary(MESSAGE));
    Err(AotError::Compiler { compiler: compiler.to_owned(), status: output.status, message })
}
