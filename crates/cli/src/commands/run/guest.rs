//! Programs for Linux on MIPS.

use anyhow::Result;
use clap::ValueEnum;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What executes a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum EngineArg {
    /// The host's machine code for what is executed often, the interpreter for the rest and where there is no such code.
    #[default]
    Jit,
    /// The interpreter.
    Interp,
}

/// Options of guests.
#[derive(clap::Args)]
#[command(next_help_heading = "MIPS programs")]
pub struct GuestArgs {
    /// The folder that the program sees as its root; without it, there are no files. Read only.
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Lets the program change what is in its root.
    #[arg(long, requires = "root")]
    writable: bool,
    /// A folder for what the root does not have: the dynamic loader and libraries. Never written.
    #[arg(long, value_name = "DIR")]
    sysroot: Option<PathBuf>,
    /// A variable of the program's environment. It has no others.
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// Memory that each process may fill, in bytes or with K, M, G behind: 1G if not given.
    #[arg(long, value_name = "BYTES", value_parser = size)]
    memory_limit: Option<u64>,
    /// Bytes of the stack, as above: 8M if not given.
    #[arg(long, value_name = "BYTES", value_parser = size)]
    stack: Option<u64>,
    /// Seconds that the program may take.
    #[arg(long, value_name = "SECONDS")]
    time_limit: Option<f64>,
    /// Makes the run repeatable: random numbers come of N, and the clock runs with the instructions executed.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Makes `break 6` and `break 7` SIGFPE, as the kernel does, and not SIGTRAP, as qemu 7.2 does.
    #[arg(long)]
    break_codes: bool,
    /// What executes the program.
    #[arg(long, value_enum, default_value_t)]
    engine: EngineArg,
    /// A library of the program that `xenoglot aot` made: its code runs from the start. It is code of this machine, outside of the
    /// program's bounds if somebody else made it so.
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["engine", "gdb"])]
    aot: Option<PathBuf>,
    /// Shows on standard error which functions the time went to, by looking every 10,007 instructions.
    #[arg(long)]
    profile: bool,
    /// Writes `/tmp/perf-PID.map`, by which `perf report` names the functions of compiled code.
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    #[arg(long, conflicts_with = "gdb")]
    perf_map: bool,
    /// Waits for gdb at an address, `HOST:PORT` or `:PORT` of this machine, which then controls the program. It is interpreted.
    #[arg(long, value_name = "ADDRESS", conflicts_with = "engine")]
    gdb: Option<String>,
    /// Arguments of the program.
    #[arg(last = true)]
    arguments: Vec<OsString>,
}

/// A number of bytes.
fn size(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'K' | 'k')) => (text.get(..at), 1 << 10),
        Some((at, 'M' | 'm')) => (text.get(..at), 1 << 20),
        Some((at, 'G' | 'g')) => (text.get(..at), 1 << 30),
        _ => (Some(text), 1u64),
    };
    let number = digits.and_then(|digits| digits.parse::<u64>().ok());
    number.and_then(|number| number.checked_mul(unit)).ok_or_else(|| "no number of bytes".into())
}

impl GuestArgs {
    /// The library to run with.
    fn library(&self) -> Option<&Path> {
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        return self.aot.as_deref();
        #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
        None
    }

    /// Whether compiled code is reported to `perf`.
    fn perf_map(&self) -> bool {
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        return self.perf_map;
        #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
        false
    }

    /// Whether there is something that only guests have.
    pub fn is_given(&self) -> bool {
        self.root.is_some()
            || self.sysroot.is_some()
            || self.memory_limit.is_some()
            || self.stack.is_some()
            || self.time_limit.is_some()
            || self.seed.is_some()
            || self.break_codes
            || self.gdb.is_some()
            || self.profile
            || self.library().is_some()
            || self.perf_map()
            || self.engine != EngineArg::default()
            || !(self.env.is_empty() && self.arguments.is_empty())
    }
}

/// Runs a program.
///
/// # Errors
/// Always: the program's exit code, or why it did not run to its end.
#[cfg(target_os = "linux")]
pub fn run(
    args: &GuestArgs,
    fuel: Option<u64>,
    trace: Option<usize>,
    path: &Path,
    bytes: Vec<u8>,
) -> Result<()> {
    use super::watch::{Functions, Profile, Traced};
    use crate::failure::{GuestExit, usage};
    use crate::print;
    use anyhow::bail;
    use std::os::unix::ffi::OsStrExt;
    use std::time::{Duration, Instant};
    use xenoglot_guest::linux::{Config, End, Program, Stdio, System};
    use xenoglot_guest::{Engine, Interpreter};

    let limit = args.time_limit.map(Duration::try_from_secs_f64).transpose();
    let limit = limit.map_err(|e| usage(format!("--time-limit: {e}")))?;
    if let Some(wrong) = args.env.iter().find(|text| !text.contains('=')) {
        return Err(usage(format!("--env {wrong}: NAME=VALUE is wanted")));
    }
    let defaults = Config::default();
    let config = Config {
        root: args.root.clone(),
        writable: args.writable,
        sysroot: args.sysroot.clone(),
        memory: args.memory_limit.unwrap_or(defaults.memory),
        stack: args.stack.map_or(defaults.stack, |stack| stack.min(1 << 30) as u32),
        seed: args.seed,
        break_codes: args.break_codes,
        ..defaults
    };
    let name = path.file_name().unwrap_or(path.as_os_str());
    let bytes: std::sync::Arc<[u8]> = bytes.into();
    let program = Program {
        bytes: bytes.clone(),
        path: format!("/{}", name.to_string_lossy()),
        arguments: std::iter::once(path.as_os_str())
            .chain(args.arguments.iter().map(OsString::as_os_str))
            .map(|text| text.as_bytes().to_vec())
            .collect(),
        environment: args.env.iter().map(|text| text.clone().into_bytes()).collect(),
    };
    let new_engine: Box<dyn Fn() -> Box<dyn Engine + Send> + Send> = match args.engine {
        EngineArg::Jit if args.library().is_some() || args.perf_map() => compiling(args, &bytes)?,
        EngineArg::Jit => Box::new(xenoglot_cpu::engine),
        EngineArg::Interp if args.perf_map() => {
            return Err(usage("--perf-map: the interpreter compiles nothing"));
        }
        EngineArg::Interp => Box::new(|| Box::new(Interpreter::default())),
    };
    let mut debugged = args.gdb.as_deref().map(debugger).transpose()?;
    let profile = args.profile.then(Profile::default);
    let (profiled, mut trace) = (profile.clone(), trace);
    // The debugger and the trace have the first process; those it starts run by themselves.
    let new_engine = move || {
        let mut engine: Box<dyn Engine + Send> = match debugged.take() {
            Some(engine) => Box::new(engine),
            None => new_engine(),
        };
        if let Some(most) = trace.take() {
            engine = Box::new(Traced::new(most, engine));
        }
        match &profiled {
            Some(profile) => profile.engine(engine),
            None => engine,
        }
    };
    let mut system = System::new(config, Stdio::inherit()?, program, new_engine)?;
    let mut fuel = fuel.unwrap_or(u64::MAX);
    let until = limit.and_then(|limit| Instant::now().checked_add(limit));
    let end = system.run(&mut fuel, until);
    system.deaths().iter().for_each(print::note);
    let functions = profile.as_ref().map(|_| Functions::new(&bytes));
    profile
        .iter()
        .zip(&functions)
        .flat_map(|(profile, functions)| profile.lines(functions))
        .for_each(print::note);
    match end {
        End::Ended(status) => Err(GuestExit(status.exit_code()).into()),
        End::OutOfFuel => bail!("the fuel is used up after {} instructions", system.instructions()),
        End::OutOfTime => bail!("the time is up after {} instructions", system.instructions()),
        End::Deadlock => bail!("every thread waits for another one, for ever"),
    }
}

/// Makes engines that run a library of the program, or report the code that they compile to `perf`.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn compiling(
    args: &GuestArgs,
    elf: &[u8],
) -> Result<Box<dyn Fn() -> Box<dyn xenoglot_guest::Engine + Send> + Send>> {
    use super::perf_map;
    use super::watch::Functions;
    use std::sync::Arc;
    use xenoglot_cpu::{Jit, Options, aot};
    let library = args.library().map(|path| aot::Library::open(path, elf)).transpose()?.map(Arc::new);
    let observer = args.perf_map().then(|| {
        let path = perf_map::path();
        perf_map::observer(Functions::new(elf)).map_err(|e| anyhow::anyhow!("{}: {e}", path.display()))
    });
    let observer = observer.transpose()?;
    let new = move || {
        let mut jit = match &library {
            Some(library) => Jit::with_library(Options::default(), library.clone())?,
            None => Jit::new(Options::default())?,
        };
        if let Some(observer) = &observer {
            jit.observe(observer.clone());
        }
        Ok::<Jit, xenoglot_cpu::CompileError>(jit)
    };
    // Whether there can be such engines, before a process relies on it.
    new()?;
    Ok(Box::new(move || match new() {
        Ok(jit) => Box::new(jit),
        Err(_) => xenoglot_cpu::engine(),
    }))
}

/// Says that there is nothing to run it on.
#[cfg(all(target_os = "linux", not(target_arch = "x86_64")))]
fn compiling(
    _: &GuestArgs,
    _: &[u8],
) -> Result<Box<dyn Fn() -> Box<dyn xenoglot_guest::Engine + Send> + Send>> {
    anyhow::bail!("libraries of programs are for x86-64")
}

/// Waits for a debugger.
#[cfg(target_os = "linux")]
fn debugger(address: &str) -> Result<xenoglot_guest::gdb::Debugged> {
    use anyhow::Context;
    let of_this_machine = address.strip_prefix(':').map(|port| format!("127.0.0.1:{port}"));
    let address = of_this_machine.as_deref().unwrap_or(address);
    let listener = std::net::TcpListener::bind(address).with_context(|| format!("--gdb {address}"))?;
    crate::print::note(format!("waiting for gdb: target remote {}", listener.local_addr()?));
    let (connection, _) = listener.accept()?;
    Ok(xenoglot_guest::gdb::Debugged::new(connection)?)
}

/// Says that there is no Linux.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn run(_: &GuestArgs, _: Option<u64>, _: Option<usize>, _: &Path, _: Vec<u8>) -> Result<()> {
    anyhow::bail!("programs for Linux run on hosts with Linux only")
}
