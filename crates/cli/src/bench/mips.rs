//! What MIPS programs take: native code, qemu-mips, the interpreter, and machine code with its options.

use anyhow::{Context, Result};
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use xenoglot_cpu::aot::{self, Library};
use xenoglot_cpu::{Access, Jit, Options as JitOptions, Stats};
use xenoglot_guest::linux::{Config, End, Program, Stdio as Streams, System};
use xenoglot_guest::memory::Memory;
use xenoglot_guest::{Cpu, Engine, Event, Interpreter};

/// What to measure.
pub struct Options<'a> {
    /// The folder of sources.
    pub sources: &'a Path,
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
    /// Milliseconds from the start of the process to its end, of a program that prints a line: the least of ten.
    pub cold_start: Option<f64>,
    /// The same under qemu-mips.
    pub cold_start_qemu: Option<f64>,
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

    fn jit(&self, elf: &Arc<[u8]>, args: &[&str], access: Access) -> Option<Compiled> {
        let options = JitOptions { access, ..JitOptions::default() };
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
            compiling: stats.time.as_secs_f64(),
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

    /// Milliseconds of a command from start to end, the least of ten.
    fn cold(&self, program: &Path, args: &[&Path]) -> Option<f64> {
        let mut least = Duration::MAX;
        for _ in 0..10 {
            let start = Instant::now();
            let status =
                Command::new(program).args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
            status.ok().filter(|status| status.success())?;
            least = least.min(start.elapsed());
        }
        Some(least.as_secs_f64() * 1e3)
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
                jit: bench.jit(&bytes, args, Access::Window),
                aot: bench.ahead(&bytes, args),
                jit_tables: bench.jit(&bytes, args, Access::Tables),
                jit_calls: bench.jit(&bytes, args, Access::Calls),
            });
        }
    }
    let flags = ["-static", "-O2"];
    let hello = at("hello.c".into());
    std::fs::write(&hello, "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n")?;
    let hello = build("mips-linux-gnu-gcc", &flags, &hello, at("hello.elf".into()));
    let cold = |program: &Path, args: &[&Path]| hello.as_ref().and_then(|_| bench.cold(program, args));
    let elf = hello.as_deref().unwrap_or(Path::new(""));
    let own = std::env::current_exe()?;
    Ok(Report {
        runs: bench.runs,
        cold_start: cold(&own, &[Path::new("run"), elf]).filter(|_| hello.is_some()),
        cold_start_qemu: cold(Path::new("qemu-mips"), &[elf]),
        programs,
    })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "Seconds of the processor, the least of {}; in brackets as multiples of i486.\n",
            self.runs
        )?;
        writeln!(
            f,
            "| program | build | native | i486 | qemu-mips | interpreter | JIT | AOT | tables | calls | compiling | ratio | AOT compiling | ratio |"
        )?;
        writeln!(f, "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")?;
        for row in &self.programs {
            let time = |time: Option<f64>| match (time, row.i486) {
                (None, _) => "-".into(),
                (Some(time), Some(i486)) => format!("{time:.3} ({:.2})", time / i486),
                (Some(time), None) => format!("{time:.3}"),
            };
            let plain = |time: Option<f64>| time.map_or("-".into(), |time| format!("{time:.3}"));
            let code = |code: Option<Compiled>| time(code.map(|code| code.seconds));
            writeln!(
                f,
                "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
                row.program,
                row.build,
                time(row.native),
                plain(row.i486),
                time(row.qemu),
                time(row.interpreter),
                code(row.jit),
                time(row.aot.map(|aot| aot.seconds)),
                code(row.jit_tables),
                code(row.jit_calls),
                plain(row.jit.map(|jit| jit.compiling)),
                row.jit.map_or("-".into(), |jit| format!("{:.1}", jit.bytes_per_guest_byte)),
                plain(row.aot.map(|aot| aot.compiling)),
                row.aot.map_or("-".into(), |aot| format!("{:.1}", aot.bytes_per_guest_byte)),
            )?;
        }
        if let Some(cold) = self.cold_start {
            write!(f, "\nA static program that prints a line, from start to end: {cold:.1} ms")?;
            if let Some(qemu) = self.cold_start_qemu {
                write!(f, ", qemu-mips {qemu:.1} ms")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
