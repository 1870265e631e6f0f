//! Whole programs ahead of time: C of every function, a shared library of that by the system's C compiler, and the library beside
//! an engine.
//!
//! [`compile`] makes the library, [`describe`] says what one is of, [`Library::open`] loads it, and [`Jit::with_library`](crate::Jit::with_library) is an engine that
//! runs its code wherever memory has the program it was made of, and does what it does without for the rest: code that was not
//! found, that is not in the file, or that changed.
//!
//! A library is code of the host's and may do there what its user may. [`Library::open`] checks that it is whole, that it was made for
//! this version and processor, and of which program; it cannot know who made it.

mod c;
mod driver;
mod image;
mod library;
mod program;
mod trailer;

pub use driver::{Options, Report, compile, sources};
pub use library::Library;
pub use trailer::{Description, NotALibrary, describe};

use std::path::PathBuf;
use thiserror::Error;
use xenoglot_mips::container::elf;

/// Counts the changes of what is made of a program.
pub(crate) const VERSION: u16 = 1;

/// Why there is no library.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AotError {
    /// The program's file is wrong.
    #[error(transparent)]
    Elf(#[from] elf::Error),
    /// The program has no code.
    #[error("the program has no code")]
    NoCode,
    /// The program has more code than is compiled.
    #[error("{bytes} bytes of code, more than {most}")]
    TooMuchCode {
        /// Bytes from the first to the last.
        bytes: u64,
        /// The limit.
        most: u64,
    },
    /// The compiler cannot be started.
    #[error("no C compiler: `{}` cannot be started ({error}); GCC 11 or newer is wanted, or Clang 14", compiler.display())]
    NoCompiler {
        /// Its name.
        compiler: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The compiler refuses the program.
    #[error("`{}` failed ({status}): {message}", compiler.display())]
    Compiler {
        /// Its name.
        compiler: PathBuf,
        /// How it ended.
        status: std::process::ExitStatus,
        /// The first lines of what it said.
        message: String,
    },
    /// A file cannot be written or read.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The file is no library of a program, or not whole.
    #[error("{}: no library of a program: {problem}", path.display())]
    NotALibrary {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: &'static str,
    },
    /// The library does not fit.
    #[error("{}: {problem}; `xenoglot aot` makes it anew", path.display())]
    Stale {
        /// The file.
        path: PathBuf,
        /// What it does not fit to.
        problem: &'static str,
    },
    /// The system does not load the library.
    #[error("{}: {error}", path.display())]
    Load {
        /// The file.
        path: PathBuf,
        /// Why.
        error: libloading::Error,
    },
}

impl AotError {
    fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> AotError {
        let path = path.into();
        |error| AotError::File { path, error }
    }
}
