//! Files that do not have their names yet, and the list of them that a signal clears.

use crate::Durability;
use crate::target::folder_of;
use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::{NamedTempFile, TempPath};

/// What has to go if the process ends now. Nothing is created, named or removed but under this lock.
static PENDING: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn pending() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    // The set is whole after each of its operations.
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates something that has to go if the process ends.
pub fn create<T>(make: impl FnOnce() -> io::Result<T>, path: impl Fn(&T) -> &Path) -> io::Result<T> {
    let mut pending = pending();
    let made = make()?;
    pending.insert(path(&made).to_owned());
    Ok(made)
}

/// Ends that by `how`: a name given, or removal.
pub fn end<T>(path: &Path, how: impl FnOnce() -> T) -> T {
    let mut pending = pending();
    let done = how();
    pending.remove(path);
    done
}

/// Removes everything that is pending. While the guard lives, nothing new comes.
pub fn discard() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    let mut pending = pending();
    for path in std::mem::take(&mut *pending) {
        // The process ends; there is nobody to tell.
        let _ = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
    }
    pending
}

/// A regular file under another name, in the folder where it is to be.
#[derive(Debug)]
pub struct Pending {
    /// What is written.
    pub file: File,
    /// Its name for now; none once it has its own.
    name: Option<TempPath>,
    place: PathBuf,
}

impl Pending {
    /// A file that is to be at `place`, where `old` is.
    pub fn create(place: PathBuf, old: Option<&Metadata>) -> io::Result<Pending> {
        if old.is_some() {
            // A name is replaced by whoever may write the folder; contents only by whoever may write the file.
            File::options().write(true).open(&place)?;
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".xenoglot-").suffix(".part");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // The umask takes from this.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let made = create(|| builder.tempfile_in(folder_of(&place)), NamedTempFile::path)?;
        let (file, name) = made.into_parts();
        let pending = Pending { file, name: Some(name), place };
        if let Some(old) = old {
            take_over(&pending.file, old)?;
        }
        Ok(pending)
    }

    /// Gives it its name.
    pub fn keep(mut self, durability: Durability) -> io::Result<()> {
        if durability == Durability::Synced {
            self.file.sync_all()?;
        }
        if let Some(name) = self.name.take() {
            let path = name.to_path_buf();
            end(&path, || name.persist(&self.place).map_err(|e| e.error))?;
        }
        if durability == Durability::Synced {
            sync_folder(folder_of(&self.place));
        }
        Ok(())
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(name) = self.name.take() {
            let path = name.to_path_buf();
            end(&path, || drop(name));
        }
    }
}

/// Gives a file the mode and the owner of the one that it replaces.
#[cfg(unix)]
fn take_over(file: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let new = file.metadata()?;
    if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
        // Only root may give files away; without it, the one who writes becomes the owner.
        let _ = fchown(file, Some(old.uid()), Some(old.gid()));
    }
    file.set_permissions(fs::Permissions::from_mode(old.mode() & 0o777))
}

#[cfg(not(unix))]
fn take_over(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Waits until the names in a folder are on the disk. The contents are; some file systems know no more than that.
#[cfg(unix)]
fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) {}
