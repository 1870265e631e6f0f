//! What a path leads to.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};

/// Links that are followed one after the other, as Linux does.
const MOST_LINKS: usize = 40;

/// What is to be written.
#[derive(Debug)]
pub enum Target {
    /// There is nothing yet.
    New(PathBuf),
    /// A regular file.
    Regular(PathBuf, Metadata),
    /// A folder, which cannot be written.
    Folder,
    /// This process's standard output.
    Stdout,
    /// This process's standard error.
    Stderr,
    /// Another descriptor that is open, here or in another process.
    Descriptor(PathBuf),
    /// A device, a named pipe.
    Other(PathBuf),
}

/// Follows links to what is to be written. A link that leads nowhere names a new file.
pub fn resolve(path: &Path) -> io::Result<Target> {
    if path.as_os_str().as_encoded_bytes().last().is_some_and(|&b| std::path::is_separator(b.into())) {
        return Ok(Target::Folder);
    }
    let mut path = path.to_path_buf();
    for _ in 0..=MOST_LINKS {
        // Before it is looked at: a descriptor's path looks like a link to the file that it was opened from, and
        // replacing that file would not reach whoever holds the descriptor.
        if let Some(target) = descriptor(&path) {
            return Ok(target);
        }
        let found = match fs::symlink_metadata(&path) {
            Ok(found) => found,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Target::New(path)),
            Err(e) => return Err(e),
        };
        if found.is_symlink() {
            let to = fs::read_link(&path)?;
            path = folder_of(&path).join(to);
        } else if found.is_dir() {
            return Ok(Target::Folder);
        } else if found.is_file() {
            return Ok(Target::Regular(path, found));
        } else {
            return Ok(Target::Other(path));
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// The folder that a file is in.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// What `path` names if it is an open descriptor: `/dev/fd/N` and `/proc/PID/fd/N`, however they are reached.
#[cfg(unix)]
fn descriptor(path: &Path) -> Option<Target> {
    let number: u32 = path.file_name()?.to_str()?.parse().ok()?;
    let folder = fs::canonicalize(folder_of(path)).ok()?;
    let mut parts = folder.components().filter_map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    let own = match (parts.next()?, parts.next()?, parts.next_back()) {
        ("dev", "fd", None) => true,
        ("proc", process, Some("fd")) => process.parse() == Ok(std::process::id()),
        _ => return None,
    };
    Some(match (own, number) {
        (true, 1) => Target::Stdout,
        (true, 2) => Target::Stderr,
        _ => Target::Descriptor(path.into()),
    })
}

#[cfg(not(unix))]
fn descriptor(_: &Path) -> Option<Target> {
    None
}
