//! GLSL through Khronos' reference compiler, `glslangValidator`, run as a child process.
//!
//! The program comes with the package `glslang-tools` of Debian and its descendants, or the Vulkan SDK. It is looked
//! for in `PATH`.

use crate::child::{Guarded, NoLine};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const PROGRAM: &str = "glslangValidator";

/// How long one compilation may take.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The most that is kept of the compiler's messages, in lines and in bytes of one line.
const LOG_LINES: usize = 200;
const LOG_LINE_BYTES: u64 = 4096;

/// The stage of a GLSL shader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Stage {
    Vertex,
    TessControl,
    TessEvaluation,
    Geometry,
    Fragment,
    Compute,
}

/// Why a shader did not compile.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// `glslangValidator` is not in `PATH`.
    #[error("{PROGRAM} is not installed")]
    NotInstalled,
    /// The source is refused.
    #[error("the shader is refused ({how}):\n{log}")]
    Refused {
        /// The compiler's exit code or the signal that ended it.
        how: String,
        /// What it printed, cut after 200 lines.
        log: String,
    },
    /// The compiler took longer than a minute.
    #[error("{PROGRAM} did not finish within {} s", TIMEOUT.as_secs())]
    Timeout,
    /// The compiler could not be run or its output not be read.
    #[error("cannot run {PROGRAM}")]
    Io(#[from] io::Error),
    /// The compiler's output is not a whole number of words.
    #[error("{PROGRAM} wrote {0} bytes, not whole words")]
    Output(usize),
}

/// Whether `glslangValidator` can be run.
pub fn available() -> bool {
    Command::new(PROGRAM).arg("--version").output().is_ok()
}

/// Compiles Vulkan GLSL to SPIR-V for Vulkan 1.2 (SPIR-V 1.5), entry point `main`.
///
/// # Errors
/// See [`Error`].
pub fn compile(source: &str, stage: Stage) -> Result<Vec<u32>, Error> {
    words(source, stage, &["-V", "--target-env", "vulkan1.2"])
}

/// Compiles GLSL to SPIR-V for OpenGL, which keeps its declarations as they are; entry point `main`.
///
/// # Errors
/// See [`Error`].
pub fn compile_opengl(source: &str, stage: Stage) -> Result<Vec<u32>, Error> {
    words(source, stage, &["-G"])
}

fn words(source: &str, stage: Stage, arguments: &[&str]) -> Result<Vec<u32>, Error> {
    let folder = TempFolder::new()?;
    let output = folder.0.join("shader.spv");
    run(&folder.0, source, stage, &[arguments, &["-o", "shader.spv"]].concat())?;
    let bytes = fs::read(output)?;
    let (words, []) = bytes.as_chunks() else { return Err(Error::Output(bytes.len())) };
    Ok(words.iter().map(|word| u32::from_le_bytes(*word)).collect())
}

/// Checks GLSL or GLSL ES of any version by the rules of OpenGL, without making anything of it.
///
/// # Errors
/// See [`Error`].
pub fn validate(source: &str, stage: Stage) -> Result<(), Error> {
    let folder = TempFolder::new()?;
    run(&folder.0, source, stage, &[])
}

fn run(folder: &Path, source: &str, stage: Stage, arguments: &[&str]) -> Result<(), Error> {
    let extension = match stage {
        Stage::Vertex => "vert",
        Stage::TessControl => "tesc",
        Stage::TessEvaluation => "tese",
        Stage::Geometry => "geom",
        Stage::Fragment => "frag",
        Stage::Compute => "comp",
    };
    let input = format!("shader.{extension}");
    fs::write(folder.join(&input), source)?;
    let mut command = Command::new(PROGRAM);
    command.current_dir(folder).args(arguments).arg(input);
    let mut child = Guarded::start(&mut command, LOG_LINE_BYTES).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::NotInstalled,
        _ => Error::Io(error),
    })?;
    child.close_input();
    let deadline = Instant::now() + TIMEOUT;
    let mut log = String::new();
    for count in 0.. {
        match child.line(deadline) {
            Ok(line) if count < LOG_LINES => log.push_str(&String::from_utf8_lossy(&line)),
            Ok(_) => {}
            Err(NoLine::Closed) => break,
            Err(NoLine::Timeout) => return Err(Error::Timeout),
        }
    }
    let status = child.finish()?;
    if status.success() {
        return Ok(());
    }
    log.push_str(&child.stderr());
    Err(Error::Refused { how: crate::child::describe(status), log })
}

/// A folder of our own that goes with the value.
struct TempFolder(PathBuf);

impl TempFolder {
    fn new() -> io::Result<TempFolder> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("xenoglot-glslang-{}-{number}", std::process::id());
            let path = std::env::temp_dir().join(name);
            match fs::create_dir(&path) {
                Ok(()) => return Ok(TempFolder(path)),
                // Left behind by a process of the same number, or set by someone else.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        // What cannot be removed from the temporary folder is the system's to clean.
        let _ = fs::remove_dir_all(&self.0);
    }
}
