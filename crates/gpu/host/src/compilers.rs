//! Other processes, in which drivers compile programs before they do here.
//!
//! A driver that crashes takes its process along. [`Compilers`] start processes that answer with a [`Compiler`], and hand
//! them one program after the other:
//!
//! ```no_run
//! use std::process::Command;
//! use std::sync::Arc;
//! use xenoglot_cache::process::{Limits, serve};
//! use xenoglot_host::{Compiler, Compilers, Device, DeviceOptions};
//!
//! # fn example() -> Result<(), Box<dyn std::error::Error>> {
//! // First of all in `main`, where this program is one of the processes.
//! if std::env::args().nth(1).as_deref() == Some("--compile-programs") {
//!     let mut compiler = Compiler::default();
//!     return Ok(serve(|request| compiler.answer(request))?);
//! }
//! let this = std::env::current_exe()?;
//! let command = move || {
//!     let mut command = Command::new(&this);
//!     command.arg("--compile-programs");
//!     command
//! };
//! let compilers = Arc::new(Compilers::new(command, Limits::default()));
//! let device = Device::open(&DeviceOptions::from_env())?.with_compilers(compilers)?;
//! # Ok(())
//! # }
//! ```

use std::process::Command;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use xenoglot_cache::process::{Limits, Workers};
use xenoglot_cache::{Cause, Entry, Failure, Key, Kind, from_bytes, to_bytes};

use crate::program::Words;
use crate::rehearsal::Rehearsal;
use crate::{Binding, Device, Error, Layout};

/// What a process is asked.
#[derive(Serialize, Deserialize)]
enum Request {
    /// To open the device of this name, and to say the key of its driver.
    Open(String),
    /// To compile a program for the device of this name.
    Compile(String, Program),
}

#[derive(Serialize, Deserialize)]
struct Program {
    bindings: Vec<Binding>,
    /// SPIR-V, little-endian.
    code: Vec<u8>,
}

/// Processes in which drivers compile programs first: see [`Device::with_compilers`].
#[derive(Debug)]
pub struct Compilers {
    workers: Workers,
}

impl Compilers {
    /// Compilers that `command` starts: programs that answer with a [`Compiler`], in
    /// [`serve`](xenoglot_cache::process::serve). There are as many as programs are compiled at once. The limits are those of
    /// a program, with the time to start a process and to open the device.
    pub fn new(command: impl Fn() -> Command + Send + Sync + 'static, limits: Limits) -> Compilers {
        Compilers { workers: Workers::new(command, limits) }
    }

    fn ask(&self, request: &Request) -> Result<Vec<u8>, Failure> {
        let request =
            to_bytes(request).ok_or_else(|| Failure::refused("a request that cannot be written"))?;
        self.workers.run(&request)
    }

    /// Checks that processes start and have the device's driver.
    pub(crate) fn check(&self, device: &Device) -> Result<(), Error> {
        let failed = |reason| Error::Open { name: device.name().to_owned(), reason };
        let driver = self.ask(&Request::Open(device.name().to_owned()));
        match driver.map_err(|failure| failed(format!("in another process: {failure}")))? {
            driver if driver == device.driver.0 => Ok(()),
            _ => Err(failed("other processes have another device or driver of that name".into())),
        }
    }
}

impl Device {
    /// Has another process compile a program, unless one did before. Gives what the driver made of it; `None` for a device
    /// without compilers.
    pub(crate) fn compiled_elsewhere(
        &self,
        layout: &Layout,
        words: &Words,
    ) -> Result<Option<Arc<Entry>>, Error> {
        let Some(compilers) = &self.compilers else { return Ok(None) };
        let code: Vec<u8> = words.0.iter().flat_map(|word| word.to_le_bytes()).collect();
        let program = Program { bindings: layout.bindings().to_vec(), code };
        let refused = |failure: Failure| Error::Program(failure.to_string());
        let program_bytes = to_bytes(&program).ok_or_else(|| refused(Failure::refused("no such program")))?;
        let made = Key::of("pipeline of wgpu").key(self.driver).bytes(&program_bytes).finish();
        if let Some(entry) = self.cache.get(&made).filter(|entry| entry.kind == Kind::Blob) {
            return Ok(Some(entry));
        }
        // Any update of ours may make a difference to what failed.
        let stamp = self.cache.versions().stamp();
        let not_made = Key::of("no pipeline of wgpu").key(made).number(stamp).finish();
        if let Some(entry) = self.cache.get(&not_made).filter(|entry| entry.kind == Kind::Failure)
            && let Some(failure) = from_bytes(&entry.payload)
        {
            return Err(refused(failure));
        }
        match compilers.ask(&Request::Compile(self.name().to_owned(), program)) {
            Ok(bytes) => Ok(Some(self.cache.put(made, Kind::Blob, 0, bytes))),
            Err(failure) => {
                if let Some(bytes) = to_bytes(&failure) {
                    self.cache.put(not_made, Kind::Failure, stamp, bytes);
                }
                Err(refused(failure))
            }
        }
    }
}

/// What compiles programs in a process of [`Compilers`].
#[derive(Debug, Default)]
pub struct Compiler {
    device: Option<Device>,
}

impl Compiler {
    /// Answers a request of [`Compilers`], whose programs are trusted to be valid for the device.
    ///
    /// # Errors
    /// What the driver says of the program, or why there is no device.
    pub fn answer(&mut self, request: &[u8]) -> Result<Vec<u8>, Failure> {
        let request = from_bytes(request).ok_or_else(|| Failure::refused("not a request"))?;
        let answered = match request {
            Request::Open(name) => self.opened(&name).map(|device| device.driver.0.to_vec()),
            Request::Compile(name, program) => {
                self.opened(&name).and_then(|device| compile(&device, program))
            }
        };
        answered.map_err(|error| {
            // What a device is worth after its failure is not known.
            if !matches!(error, Error::Program(_)) {
                self.device = None;
            }
            match error {
                Error::Timeout(_) => Failure { cause: Cause::TimedOut, text: error.to_string() },
                Error::Device(_) => Failure { cause: Cause::Crashed, text: error.to_string() },
                _ => Failure::refused(error),
            }
        })
    }

    fn opened(&mut self, name: &str) -> Result<Device, Error> {
        if let Some(device) = self.device.as_ref().filter(|device| device.name() == name) {
            return Ok(device.clone());
        }
        let device = Device::open_to_compile(name)?;
        self.device = Some(device.clone());
        Ok(device)
    }
}

/// Compiles a program; where drivers compile when it first runs, it runs.
fn compile(device: &Device, program: Program) -> Result<Vec<u8>, Error> {
    let layout = device.layout(&program.bindings);
    let words = program.code.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word));
    let (program, made) = device.program_alone(&layout, &Words(words.collect()))?;
    if device.is_software() {
        Rehearsal::on(device.clone(), &layout)?.run_program(&program)?;
    }
    Ok(made)
}
