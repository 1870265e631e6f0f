//! What MIPS programs take: native code, qemu-mips, the interpreter, and machine code with its options; how long short programs
//! take from start to end; Debian's programs beside qemu-mipsel.

mod commands;
mod report;

use anyhow::{Context, Result};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use xenoglot_cpu::aot::{self, Library};
use xenoglot_cpu::{Access, Jit, Options as JitOptions, Stats};
use xenoglot_guest::linux::{Config, End, Program, Stdio as Streams, System};
use xenoglot_guest::memory::Memory;
use xenoglot_guest::{Cpu, Engine, Event, Interpreter};

/// What to measure.
pub struct Options<'a> {
    /// The folder of sources.
    pub sources: &'a Path,
    /// The folder of what Debian's programs read.
    pub debian: &'a Path,
    /// Fewer repetitions, and no interpreter.
    pub quick: bool,
}

/// The programs and their arguments.
const PROGRAMS: &[(&str, &[&str])] =
    &[("sha256", &["256"]), ("mandel", &["1024"]), ("lz", &["60"]), ("png", &["640", "6"])];

/// How programs are built for the guest.
const BUILDS: &[(&str, &[&str])] =
    &[("MIPS I, -O2", &["-march=mips1", "-mfp32", "-O2"]), ("MIPS32r2, -O3", &["-march=mips32r2", "-O3"])];

/// What was measured. Times are seconds of the processor, the least of several runs, from loading to the exit.
#[derive(Debug, Serialize)]
pub struct Report {
    /// How often each was run.
    pub runs: usize,
    /// The programs.
    pub programs: Vec<Measured>,
    /// Short programs by the command, from the start of its process to the end.
    pub cold: Vec<Wall>,
    /// Programs of Debian's packages, in the same way, where the tests have fetched these.
    pub debian: Vec<Wall>,
}

/// What a command takes beside qemu: seconds from the start of the process to its end, the least of several runs.
#[derive(Debug, Serialize)]
pub struct Wall {
    /// What runs.
    pub program: String,
    /// Ours.
    pub seconds: Option<f64>,
    /// By qemu-user.
    pub qemu: Option<f64>,
    /// Whether both printed the same and exited with the same code.
    pub same: bool,
}

/// A program in a build. What could not be run has no time.
#[derive(Debug, Serialize)]
pub struct Measured {
    /// Its name.
    pub program: &'static str,
    /// How it was built for the guest.
    pub build: &'static str,
    /// Built for the host, -O3.
    pub native: Option<f64>,
    /// Built for the host's 32-bit mode, -march=i486 -O3.
    pub i486: Option<f64>,
    /// By qemu-mips.
    pub qemu: Option<f64>,
    /// By the interpreter.
    pub interpreter: Option<f64>,
    /// By machine code.
    pub jit: Option<Compiled>,
    /// By a library that was compiled ahead of time.
    pub aot: Option<Ahead>,
    /// By machine code, memory through tables of pages.
    pub jit_tables: Option<Compiled>,
    /// The same, memory by calls.
    pub jit_calls: Option<Compiled>,
    /// By machine code that returns to the engine at each call, return and jump to another region.
    pub jit_unlinked: Option<Compiled>,
    /// By the interpreter and optimised code, without baseline code in between.
    pub jit_optimised: Option<Compiled>,
}

/// A run of machine code.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Compiled {
    /// Seconds in all.
    pub seconds: f64,
    /// Seconds of them that were spent compiling.
    pub compiling: f64,
    /// Regions compiled.
    pub regions: u64,
    /// Bytes of the host's code for each byte of the guest's.
    pub bytes_per_guest_byte: f64,
}

/// A run of a program that was compiled ahead of time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Ahead {
    /// Seconds in all.
    pub seconds: f64,
    /// Seconds of the processor to make the library.
    pub compiling: f64,
    /// Bytes of the library for each byte of the guest's code.
    pub bytes_per_guest_byte: f64,
}

/// Seconds of the processor that this process, or its children that ended, took.
fn processor_time(who: libc::c_int) -> f64 {
    // SAFETY: all zeros is a value of this type.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the place is one for the result.
    unsafe { libc::getrusage(who, &raw mut usage) };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 * 1e-6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// Builds a program; its path.
fn build(compiler: &str, options: &[&str], source: &Path, to: PathBuf) -> Option<PathBuf> {
    let mut command = Command::new(compiler);
    command.args(options).args(["-w", "-o"]).arg(&to).arg(source).arg("-lm");
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success()).then_some(to)
}

/// An engine that tells what it compiled.
struct Watched {
    jit: Jit,
    stats: Arc<Mutex<Stats>>,
}

impl Engine for Watched {
    fn run(&mut self, cpu: &mut Cpu, memory: &mut Memory, fuel: &mut u64) -> Event {
        let event = self.jit.run(cpu, memory, fuel);
        if let Ok(mut stats) = self.stats.lock() {
            *stats = self.jit.stats();
        }
        event
    }

    fn repeat_itself(&mut self) {
        self.jit.repeat_itself();
    }

    fn exact_registers(&mut self, exact: bool) {
        self.jit.exact_registers(exact);
    }
}

/// A folder with the programs, and how often to run them.
struct Bench {
    folder: tempfile::TempDir,
    runs: usize,
}

impl Bench {
    fn least(&self, who: libc::c_int, mut run: impl FnMut() -> Option<()>) -> Option<f64> {
        let mut least: Option<f64> = None;
        for _ in 0..self.runs {
            let before = processor_time(who);
            run()?;
            let took = processor_time(who) - before;
            least = Some(least.map_or(took, |least| least.min(took)));
        }
        least
    }

    /// The time of a command; `None` where there is none.
    fn command(&self, program: &Path, args: &[&str]) -> Option<f64> {
        self.least(libc::RUSAGE_CHILDREN, || {
            let mut command = Command::new(program);
            command.args(args).current_dir(self.folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
            command.status().ok().filter(|status| status.success()).map(|_| ())
        })
    }

    /// The time of a program in this process.
    fn engine<E: Engine + 'static>(
        &self,
        elf: &Arc<[u8]>,
        args: &[&str],
        engine: impl Fn() -> E + Send + Clone + 'static,
    ) -> Option<f64> {
        self.least(libc::RUSAGE_SELF, || {
            let config =
                Config { root: Some(self.folder.path().into()), writable: true, ..Config::default() };
            let program = Program {
                bytes: Arc::clone(elf),
                path: "/program".into(),
                arguments: std::iter::once(&"program").chain(args).map(|&text| text.into()).collect(),
                environment: Vec::new(),
            };
            let mut system =
                System::new(config, Streams { streams: [None, None, None] }, program, engine.clone()).ok()?;
            match system.run(&mut u64::MAX.clone(), None) {
                End::Ended(status) if status.exit_code() == 0 => Some(()),
                _ => None,
            }
        })
    }

    fn jit(&self, elf: &Arc<[u8]>, args: &[&str], options: JitOptions) -> Option<Compiled> {
        let stats = Arc::new(Mutex::new(Stats::default()));
        // Whether there is machine code on this host, before a run relies on it.
        Jit::new(options).ok()?;
        let shared = Arc::clone(&stats);
        let engine = move || -> Box<dyn Engine + Send> {
            match Jit::new(options) {
                Ok(jit) => Box::new(Watched { jit, stats: Arc::clone(&shared) }),
                Err(_) => Box::new(Interpreter::default()),
            }
        };
        let seconds = self.engine(elf, args, engine)?;
        let stats = *stats.lock().ok()?;
        Some(Compiled {
            seconds,
            compiling: (stats.time + stats.baseline_time).as_secs_f64(),
            regions: stats.regions,
            bytes_per_guest_byte: stats.host_bytes as f64 / stats.guest_bytes.max(1) as f64,
        })
    }

    /// Compiles a program ahead of time and runs that.
    fn ahead(&self, elf: &Arc<[u8]>, args: &[&str]) -> Option<Ahead> {
        let path = self.folder.path().join("program.xga");
        let before = processor_time(libc::RUSAGE_CHILDREN);
        let report = aot::compile(elf, &path, &aot::Options::default()).ok()?;
        let compiling = processor_time(libc::RUSAGE_CHILDREN) - before;
        let library = Arc::new(Library::open(&path, elf).ok()?);
        Jit::with_library(JitOptions::default(), Arc::clone(&library)).ok()?;
        let engine = move || -> Box<dyn Engine + Send> {
            match Jit::with_library(JitOptions::default(), Arc::clone(&library)) {
                Ok(jit) => Box::new(jit),
                Err(_) => Box::new(Interpreter::default()),
            }
        };
        Some(Ahead {
            seconds: self.engine(elf, args, engine)?,
            compiling,
            bytes_per_guest_byte: report.bytes as f64 / (4 * report.instructions.max(1)) as f64,
        })
    }
}

/// Measures.
///
/// # Errors
/// When there is no place for the programs.
pub fn run(options: &Options<'_>) -> Result<Report> {
    let folder = tempfile::tempdir().context("no folder for programs")?;
    let bench = Bench { folder, runs: if options.quick { 1 } else { 3 } };
    let at = |name: String| bench.folder.path().join(name);
    let plain = JitOptions::default();
    let mut programs = Vec::new();
    for &(program, args) in PROGRAMS {
        let source = options.sources.join(format!("{program}.c"));
        let native = ["-O3", "-ffp-contract=off"];
        let native = build("cc", &native, &source, at(format!("{program}.native")));
        // Debian has headers for both where only one of its cross compilers looks.
        let headers = ["-idirafter", "/usr/include/x86_64-linux-gnu"];
        let i486 = [&["-m32", "-march=i486", "-O3", "-ffp-contract=off"][..], &headers].concat();
        let i486 = build("cc", &i486, &source, at(format!("{program}.i486")));
        let native = native.and_then(|path| bench.command(&path, args));
        let i486 = i486.and_then(|path| bench.command(&path, args));
        for (n, &(name, flags)) in BUILDS.iter().enumerate() {
            let shared = ["-static", "-idirafter", "/usr/include"];
            let flags: Vec<&str> = flags.iter().copied().chain(shared).collect();
            let elf = build("mips-linux-gnu-gcc", &flags, &source, at(format!("{program}.{n}.elf")));
            let Some(elf) = elf else { continue };
            let bytes: Arc<[u8]> = std::fs::read(&elf)?.into();
            let path = elf.display().to_string();
            let of_qemu: Vec<&str> = std::iter::once(path.as_str()).chain(args.iter().copied()).collect();
            programs.push(Measured {
                program,
                build: name,
                native,
                i486,
                qemu: bench.command(Path::new("qemu-mips"), &of_qemu),
                interpreter: match options.quick {
                    true => None,
                    false => bench.engine(&bytes, args, Interpreter::default),
                },
                jit: bench.jit(&bytes, args, plain),
                aot: bench.ahead(&bytes, args),
                jit_tables: bench.jit(&bytes, args, JitOptions { access: Access::Tables, ..plain }),
                jit_calls: bench.jit(&bytes, args, JitOptions { access: Access::Calls, ..plain }),
                jit_unlinked: bench.jit(&bytes, args, JitOptions { links: false, ..plain }),
                jit_optimised: bench.jit(&bytes, args, JitOptions { baseline: None, ..plain }),
            });
        }
    }
    let own = std::env::current_exe().context("this program's file")?;
    Ok(Report {
        runs: bench.runs,
        cold: commands::cold(&own, bench.folder.path(), options.sources)?,
        debian: commands::debian(&own, bench.folder.path(), options, if options.quick { 1 } else { 2 })?,
        programs,
    })
}
