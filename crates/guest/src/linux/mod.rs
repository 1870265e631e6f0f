//! Linux for o32 programs: statically linked ones, and with a sysroot dynamically linked ones.
//!
//! A [`System`] runs a program and the processes it starts, on any [`Engine`](crate::Engine). Processes and threads take
//! turns on the caller's thread; `fork` copies the guest's memory within the host process, so that a guest's process needs
//! no rights of the host's, an engine's own threads are not disturbed, and a run with a seed repeats itself.
//!
//! A guest reaches no file outside of [`Config::root`] and [`Config::sysroot`], no network, and no process but its own.
//! What it may use of memory, processes, threads and descriptors is bounded. See `docs/mips.md` for the calls.

mod abi;
mod backtrace;
mod calls;
mod frame;
mod fs;
mod loader;
mod process;
mod report;
mod shared;
mod signals;
mod system;
mod timers;

pub use abi::{Signal, sig};
pub use backtrace::Frame;
pub use calls::calls;
pub use loader::{LoadError, load_bias};
pub use process::{Process, Stop};
pub use report::Death;
pub use system::{End, Program, System};

use std::os::fd::OwnedFd;
use std::path::PathBuf;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// With an exit code.
    Exited(u32),
    /// By a signal.
    Killed(Signal),
}

impl Status {
    /// The exit code a shell would show: 128 and the signal's number on common machines for a process that was killed.
    pub fn exit_code(self) -> u8 {
        match self {
            Status::Exited(code) => code as u8,
            Status::Killed(signal) => (128 + (signal.common_number() & 127)) as u8,
        }
    }

    /// As `wait` answers it.
    fn word(self) -> u32 {
        match self {
            Status::Exited(code) => (code & 0xff) << 8,
            Status::Killed(signal) => signal.0,
        }
    }
}

/// What a guest is given.
#[derive(Clone, Debug)]
pub struct Config {
    /// The folder that is the guest's root; none when it has no files.
    pub root: Option<PathBuf>,
    /// Whether the guest may change what is in its root.
    pub writable: bool,
    /// A folder, never written, for what the root does not have: the loader and libraries.
    pub sysroot: Option<PathBuf>,
    /// Bytes of memory that each process may fill.
    pub memory: u64,
    /// Bytes of a process's first stack.
    pub stack: u32,
    /// Processes there may be at a time.
    pub processes: usize,
    /// Makes runs repeatable: random numbers come from it, and the clock runs with the instructions executed.
    pub seed: Option<u64>,
    /// Gives `break 6` and `break 7` SIGFPE, as the kernel's code says, and not SIGTRAP, as qemu 7.2 does, by which
    /// the project's vectors were recorded.
    pub break_codes: bool,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            root: None,
            writable: false,
            sysroot: None,
            memory: 1 << 30,
            stack: 8 << 20,
            processes: 64,
            seed: None,
            break_codes: false,
        }
    }
}

/// Standard input, output and error of a guest.
#[derive(Debug)]
pub struct Stdio {
    /// Descriptors 0, 1 and 2; `None` is `/dev/null`.
    pub streams: [Option<OwnedFd>; 3],
}

impl Stdio {
    /// Those of this process.
    ///
    /// # Errors
    /// When they cannot be duplicated.
    pub fn inherit() -> std::io::Result<Stdio> {
        use std::os::fd::AsFd;
        let (input, output, error) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
        Ok(Stdio {
            streams: [
                Some(input.as_fd().try_clone_to_owned()?),
                Some(output.as_fd().try_clone_to_owned()?),
                Some(error.as_fd().try_clone_to_owned()?),
            ],
        })
    }
}
