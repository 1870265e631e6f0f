//! Standard output and standard error, where writing may fail: a full disk, a reader that is gone.
//!
//! `println!` and `eprintln!` panic then, and are forbidden in this crate. Failures of standard output end the command;
//! failures of standard error are ignored, as there is nowhere to report them.

use crate::output::is_stdout;
use std::fmt::{self, Display};
use std::io::{self, ErrorKind, StdoutLock, Write};
use std::path::Path;

/// Why standard output failed.
#[derive(Debug)]
struct Failed(io::Error);

impl Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot write standard output: {}", self.0)
    }
}

impl std::error::Error for Failed {}

/// Standard output; its errors say that they are.
pub struct Stdout(StdoutLock<'static>);

/// Standard output.
pub fn stdout() -> Stdout {
    Stdout(io::stdout().lock())
}

fn failed(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), Failed(error))
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Callers repeat what was interrupted, by its kind, which stays.
        self.0.write(bytes).map_err(failed)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(failed)
    }
}

/// Where a command says what it did: standard output, unless one of its results goes there.
pub fn beside<'a>(outputs: impl IntoIterator<Item = &'a Path>) -> Box<dyn Write> {
    if outputs.into_iter().any(is_stdout) { Box::new(Quiet) } else { Box::new(stdout()) }
}

/// Standard error, whatever becomes of it.
struct Quiet;

impl Write for Quiet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = io::stderr().write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A line on standard error.
pub fn note(line: impl Display) {
    let _ = writeln!(Quiet, "{line}");
}

/// An error, on standard error.
pub fn error(what: impl Display) {
    note(format_args!("error: {what}"));
}

/// What is still to be printed is.
pub fn flush() -> anyhow::Result<()> {
    Ok(stdout().flush()?)
}

/// Whether nothing more can be printed.
pub fn is_failure(error: &anyhow::Error) -> bool {
    kind(error).is_some()
}

/// Whether whoever read a result does not any more.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let through = || error.downcast_ref::<xenoglot_output::Error>();
    match (kind(error), through()) {
        (Some(kind), _) => kind == ErrorKind::BrokenPipe,
        (None, Some(xenoglot_output::Error::Io { source, .. })) => source.kind() == ErrorKind::BrokenPipe,
        _ => false,
    }
}

/// How standard output failed, if that is the error.
fn kind(error: &anyhow::Error) -> Option<ErrorKind> {
    let errors = error.chain().filter_map(|e| e.downcast_ref::<io::Error>());
    let mut ours = errors.filter(|e| e.get_ref().is_some_and(|inner| inner.is::<Failed>()));
    ours.next().map(io::Error::kind)
}
