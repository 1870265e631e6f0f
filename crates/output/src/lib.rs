//! Where results go: files whole or not at all, everything else written through.
//!
//! * A regular file is written beside its place under another name, which it then gives up for the right one: whoever
//!   reads it sees the old contents or the new ones, never a part. A new file has the mode that the umask leaves, one
//!   that is replaced keeps its mode and, where that is allowed, its owner. One that may not be written is not replaced.
//! * A symbolic link stays; what it points to is written.
//! * Devices, named pipes and open descriptors (`/dev/stdout`, `/dev/fd/3`) are opened and written.
//!
//! An error, a panic and a dropped [`Output`] leave nothing behind. For signals that end the process, a program calls
//! [`discard_on_signals`] when it starts; a library does not decide that for its host.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("result.txt");
//! xenoglot_output::write(&path, b"all of it")?;
//! assert_eq!(std::fs::read(&path)?, b"all of it");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]

mod pending;
mod signals;
mod target;

pub use signals::discard_on_signals;

use pending::Pending;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use target::Target;
use tempfile::TempDir;
use thiserror::Error;

/// Why something was not written.
#[derive(Debug, Error)]
pub enum Error {
    /// The path is that of a folder.
    #[error("cannot write {}: it is a folder", .0.display())]
    Folder(PathBuf),
    /// The system refused.
    #[error("cannot write {}: {source}", path.display())]
    Io {
        /// The path that was asked for.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        match error {
            Error::Folder(_) => io::ErrorKind::IsADirectory.into(),
            Error::Io { source, .. } => source,
        }
    }
}

/// Whether the result has to be there after the machine loses power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// It can be made again: the system writes it when it likes.
    Cached,
    /// It cannot: it is on the disk, under its name, when [`Output::finish`] returns.
    Synced,
}

/// Writes all of `bytes` to `path`.
///
/// # Errors
/// [`Error`](enum@Error); what was there before is still there, if it is a regular file.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write_with(path, bytes, Durability::Cached)
}

/// As [`write`](fn@write), and waits for the disk.
///
/// # Errors
/// As [`write`](fn@write).
pub fn write_synced(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write_with(path, bytes, Durability::Synced)
}

fn write_with(path: &Path, bytes: &[u8], durability: Durability) -> Result<(), Error> {
    let mut output = Output::create(path)?;
    output.inner().write_all(bytes).map_err(|source| Error::Io { path: path.into(), source })?;
    output.finish(durability)
}

/// Something being written. Without [`Output::finish`], a regular file is as it was before.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Whole(Pending),
    Through(File),
    Stdout(io::Stdout),
    Stderr(io::Stderr),
}

impl Output {
    /// Opens what `path` names for writing. Opening a named pipe waits for a reader.
    ///
    /// # Errors
    /// [`Error`](enum@Error).
    pub fn create(path: &Path) -> Result<Output, Error> {
        let failed = |source| Error::Io { path: path.into(), source };
        let kind = match target::resolve(path).map_err(failed)? {
            Target::Folder => return Err(Error::Folder(path.into())),
            Target::New(place) => Kind::Whole(Pending::create(place, None).map_err(failed)?),
            Target::Regular(place, old) => Kind::Whole(Pending::create(place, Some(&old)).map_err(failed)?),
            Target::Stdout => Kind::Stdout(io::stdout()),
            Target::Stderr => Kind::Stderr(io::stderr()),
            // Not truncated: whoever opened the descriptor may have written to it.
            Target::Descriptor(place) => {
                Kind::Through(File::options().append(true).open(place).map_err(failed)?)
            }
            Target::Other(place) => Kind::Through(File::options().write(true).open(place).map_err(failed)?),
        };
        Ok(Output { path: path.into(), kind })
    }

    /// Puts a regular file in its place.
    ///
    /// # Errors
    /// [`Error`](enum@Error); what was there before is still there.
    pub fn finish(self, durability: Durability) -> Result<(), Error> {
        let Output { path, kind } = self;
        let done = match kind {
            Kind::Whole(pending) => pending.keep(durability),
            Kind::Through(_) => Ok(()),
            Kind::Stdout(mut out) => out.flush(),
            Kind::Stderr(mut out) => out.flush(),
        };
        done.map_err(|source| Error::Io { path, source })
    }

    fn failed(&self, source: io::Error) -> io::Error {
        io::Error::new(source.kind(), Error::Io { path: self.path.clone(), source })
    }

    fn inner(&mut self) -> &mut dyn Write {
        match &mut self.kind {
            Kind::Whole(pending) => &mut pending.file,
            Kind::Through(file) => file,
            Kind::Stdout(out) => out,
            Kind::Stderr(out) => out,
        }
    }
}

/// Errors are those of the system with an [`Error`](enum@Error) inside, which names the path.
impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inner().write(bytes).map_err(|source| self.failed(source))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner().flush().map_err(|source| self.failed(source))
    }
}

/// A folder for files that other programs are given, which goes with everything in it.
#[derive(Debug)]
pub struct Scratch(Option<TempDir>);

impl Scratch {
    /// A new one where the system has its temporary files.
    ///
    /// # Errors
    /// The system's.
    pub fn new() -> io::Result<Scratch> {
        pending::create(tempfile::tempdir, TempDir::path).map(|folder| Scratch(Some(folder)))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.as_ref().map_or(Path::new(""), TempDir::path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some(folder) = self.0.take() {
            let path = folder.path().to_owned();
            pending::end(&path, || drop(folder));
        }
    }
}
