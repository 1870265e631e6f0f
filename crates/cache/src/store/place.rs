//! Where a store's file is: on a disk, or for tests in memory behind a disk that fails.

use super::backend::PatientFile;
use redb::{Builder, Database, DatabaseError, ReadOnlyDatabase};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Whether a name still stands for the file that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// It does.
    Same,
    /// There is none of that name.
    Gone,
    /// It is another.
    Replaced,
}

/// A place for a file.
pub(crate) trait Place: Send + Sync {
    /// Its name.
    fn path(&self) -> &Path;
    /// Keeps other processes from opening and setting aside while the guard lives, where that is possible.
    fn exclude_others(&self) -> Option<File> {
        None
    }
    /// Opens the file for writing; makes it if there is none.
    fn open(&self, builder: &Builder) -> Result<Database, DatabaseError>;
    /// Opens it for reading.
    fn open_read_only(&self, builder: &Builder) -> Result<ReadOnlyDatabase, DatabaseError>;
    /// Opens the file that was opened last once more, for reading beside it; `None` where that cannot be done.
    fn open_beside(&self, _: &Builder) -> Option<ReadOnlyDatabase> {
        None
    }
    /// Gives a damaged file another name.
    fn set_aside(&self) -> io::Result<()>;
    /// Whether the name still stands for the file that was opened last.
    fn presence(&self) -> Presence {
        Presence::Same
    }
}

/// A file of a file system.
pub(crate) struct FilePlace {
    path: PathBuf,
    /// How long locks of other processes are waited for.
    patience: Duration,
    /// What identifies the file that was opened last.
    opened: Mutex<Option<(u64, u64)>>,
}

impl FilePlace {
    pub(crate) fn new(path: &Path, patience: Duration) -> FilePlace {
        FilePlace { path: path.into(), patience, opened: Mutex::new(None) }
    }

    fn with_ending(&self, ending: &str) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(ending);
        name.into()
    }

    fn remember(&self) {
        let id = fs::metadata(&self.path).ok().and_then(|data| identity(&data));
        *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = id;
    }
}

/// Device and inode.
#[cfg(unix)]
fn identity(data: &fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((data.dev(), data.ino()))
}

/// Open files cannot be removed or renamed on Windows.
#[cfg(not(unix))]
fn identity(_: &fs::Metadata) -> Option<(u64, u64)> {
    None
}

/// Opens a file for look-ups, without updates of its access time. With `relatime` the first read after a commit updates it; on a file
/// system with a journal that read may wait until the journal is written.
#[cfg(target_os = "linux")]
fn open_to_look_up(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let without_time = rustix::fs::OFlags::NOATIME.bits() as i32;
    // Only the file's owner may ask for it.
    File::options().read(true).custom_flags(without_time).open(path).or_else(|_| File::open(path))
}

#[cfg(not(target_os = "linux"))]
fn open_to_look_up(path: &Path) -> io::Result<File> {
    File::open(path)
}

impl Place for FilePlace {
    fn path(&self) -> &Path {
        &self.path
    }

    fn exclude_others(&self) -> Option<File> {
        let lock = File::options().create(true).append(true).open(self.with_ending(".lock")).ok()?;
        lock.lock().ok()?;
        Some(lock)
    }

    fn open(&self, builder: &Builder) -> Result<Database, DatabaseError> {
        if let Some(folder) = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder)?;
        }
        let file = File::options().read(true).write(true).create(true).truncate(false).open(&self.path)?;
        let database = builder.create_with_backend(PatientFile::new(file, self.patience)?)?;
        self.remember();
        Ok(database)
    }

    fn open_read_only(&self, builder: &Builder) -> Result<ReadOnlyDatabase, DatabaseError> {
        let database = builder.open_read_only(&self.path)?;
        self.remember();
        Ok(database)
    }

    fn open_beside(&self, builder: &Builder) -> Option<ReadOnlyDatabase> {
        let file = open_to_look_up(&self.path).ok()?;
        // The name may be another file's by now.
        let id = identity(&file.metadata().ok()?)?;
        let opened = *self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let same = PatientFile::new(file, self.patience).ok().filter(|_| opened == Some(id))?;
        builder.open_read_only_with_backend(same).ok()
    }

    fn set_aside(&self) -> io::Result<()> {
        // One is enough to look into; more would only fill the disk.
        match fs::rename(&self.path, self.with_ending(".damaged")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result,
        }
    }

    fn presence(&self) -> Presence {
        let opened = *self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(opened) = opened else { return Presence::Same };
        match fs::metadata(&self.path) {
            Ok(data) if identity(&data).is_none_or(|id| id == opened) => Presence::Same,
            Ok(_) => Presence::Replaced,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Presence::Gone,
            // What else is wrong shows when it is written.
            Err(_) => Presence::Same,
        }
    }
}
