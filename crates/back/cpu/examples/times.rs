//! CPU time of freestanding MIPS programs: direct interpreter, JIT and qemu-mips, in one run.
//!
//! `cargo run --release -p xenoglot-cpu --example times -- [--no-interpreter] [PROGRAM.elf ...]`
//!
//! Without programs, builds those of `examples/programs` with `mips-linux-gnu-gcc`, for MIPS I at -O2 and MIPS32 release 2 at -O3,
//! and with `cc` at -O3 for the host. Times are seconds of the processor, the least of three runs, everything from loading to
//! the exit included; `compile` and `ratio` are the JIT's time to compile and its bytes of code per byte of guest code.

#[cfg(all(unix, target_arch = "x86_64"))]
#[path = "../tests/common/mod.rs"]
mod common;

#[cfg(all(unix, target_arch = "x86_64"))]
fn main() {
    times::main();
}

#[cfg(not(all(unix, target_arch = "x86_64")))]
fn main() {
    eprintln!("there is no JIT for this host");
}

#[cfg(all(unix, target_arch = "x86_64"))]
mod times {
    use super::common::{load, run};
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};
    use xenoglot_cpu::{Jit, Options, Stats};
    use xenoglot_guest::{Engine, Interpreter};

    const RUNS: usize = 3;

    /// Seconds of the processor that this process, or its children that ended, took.
    fn cpu_time(who: libc::c_int) -> f64 {
        // SAFETY: all zeros is a value of this type.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the place is one for the result.
        unsafe { libc::getrusage(who, &mut usage) };
        let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 * 1e-6;
        seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    fn least(who: libc::c_int, mut run: impl FnMut()) -> f64 {
        let time = |_| {
            let before = cpu_time(who);
            run();
            cpu_time(who) - before
        };
        (0..RUNS).map(time).fold(f64::INFINITY, f64::min)
    }

    fn engine<E: Engine>(elf: &[u8], make: impl Fn() -> E, mut done: impl FnMut(&E)) -> f64 {
        least(libc::RUSAGE_SELF, || {
            let mut machine = load(elf, make());
            if let Err(exception) = run(&mut machine) {
                eprintln!("ended by {exception:?}");
            }
            done(&machine.engine);
        })
    }

    /// The time of a command; `None` where there is none.
    fn process(command: &str, args: &[&Path]) -> Option<f64> {
        let run = || Command::new(command).args(args).stdout(Stdio::null()).status();
        run().ok()?;
        Some(least(libc::RUSAGE_CHILDREN, || drop(run())))
    }

    /// The programs of the example, for the guest and the host.
    fn build(dir: &Path) -> Vec<(PathBuf, Option<PathBuf>)> {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/programs");
        let bare = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../vectors/mips/bare");
        let mut out = Vec::new();
        for name in ["sha256", "lz", "mandel"] {
            let source = sources.join(format!("{name}.c"));
            let native = dir.join(name);
            let compile = |command: &str, options: &str, to: &Path| {
                let mut command = Command::new(command);
                command
                    .args(options.split(' '))
                    .arg("-w")
                    .arg("-I")
                    .arg(&bare)
                    .arg("-o")
                    .arg(to)
                    .arg(&source);
                command.status().is_ok_and(|status| status.success())
            };
            let host = compile("cc", "-O3 -fno-builtin", &native).then(|| native.clone());
            for (suffix, options) in [("mips1", "-march=mips1 -O2"), ("mips32r2", "-march=mips32r2 -O3")] {
                let to = dir.join(format!("{name}.{suffix}.elf"));
                let options = format!(
                    "{options} -mfp32 -mno-abicalls -fno-pic -G0 -ffreestanding -nostdlib -static \
                     -fno-stack-protector -Wl,-e,__start"
                );
                if compile("mips-linux-gnu-gcc", &options, &to) {
                    out.push((to, host.clone()));
                }
            }
        }
        out
    }

    pub fn main() {
        let (options, paths): (Vec<String>, Vec<String>) =
            std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
        let mut programs: Vec<(PathBuf, Option<PathBuf>)> =
            paths.into_iter().map(|path| (path.into(), None)).collect();
        let dir = std::env::temp_dir().join(format!("xenoglot-times-{}", std::process::id()));
        if programs.is_empty() && std::fs::create_dir_all(&dir).is_ok() {
            programs = build(&dir);
        }
        println!("| program | native | interpreter | JIT | qemu-mips | compile | regions | ratio |");
        println!("|---|---|---|---|---|---|---|---|");
        for (path, native) in &programs {
            let Ok(elf) = std::fs::read(path) else {
                eprintln!("{}: not readable", path.display());
                continue;
            };
            let show = |time: Option<f64>| time.map_or("-".into(), |time| format!("{time:.3}"));
            let native = native.as_deref().and_then(|path| process(&path.display().to_string(), &[]));
            let interpreted = !options.iter().any(|option| option == "--no-interpreter");
            let interpreter = interpreted.then(|| engine(&elf, Interpreter::default, |_| {}));
            let mut stats = Stats::default();
            let make = || Jit::new(Options::default()).expect("memory for code");
            let jit = engine(&elf, make, |jit| stats = jit.stats());
            let qemu = process("qemu-mips", &[path]);
            println!(
                "| {} | {} | {} | {jit:.3} | {} | {:.3} | {} | {:.1} |",
                path.file_name().unwrap_or_default().display(),
                show(native),
                show(interpreter),
                show(qemu),
                stats.time.as_secs_f64(),
                stats.regions,
                stats.host_bytes as f64 / stats.guest_bytes.max(1) as f64,
            );
        }
        let _ = std::fs::remove_dir_all(&dir);
    }
}
