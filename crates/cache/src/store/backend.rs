//! The file under a database, whose locks are not waited for without end.
//!
//! `redb` takes the lock of its header by a call that waits in the kernel, as it is held for moments only. But a process may be
//! stopped or hang in such a moment, and would stop all others.

use redb::backends::FileBackend;
use redb::{BackendError, DatabaseError, StorageBackend};
use std::fs::File;
use std::io;
use std::ops::Bound;
use std::thread;
use std::time::{Duration, Instant};

/// The least patience: a lock may be held while the disk writes.
const LEAST: Duration = Duration::from_millis(200);

/// A file. A lock that another holds for longer than the patience is the error [`io::ErrorKind::WouldBlock`].
#[derive(Debug)]
pub(super) struct PatientFile {
    file: FileBackend,
    patience: Duration,
}

impl PatientFile {
    pub(super) fn new(file: File, patience: Duration) -> Result<PatientFile, DatabaseError> {
        Ok(PatientFile { file: FileBackend::new(file)?, patience: patience.max(LEAST) })
    }

    fn wait(&self, mut attempt: impl FnMut() -> Result<bool, BackendError>) -> Result<(), BackendError> {
        let end = Instant::now() + self.patience;
        let mut pause = Duration::from_micros(20);
        while !attempt()? {
            if Instant::now() >= end {
                return Err(BackendError::Io(io::ErrorKind::WouldBlock.into()));
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(5));
        }
        Ok(())
    }
}

impl StorageBackend for PatientFile {
    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.wait(|| self.file.try_lock_range(start, end))
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.wait(|| self.file.try_lock_shared_range(start, end))
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_range(start, end)
    }

    fn try_lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.query_lock_range(start, end)
    }

    fn len(&self) -> Result<u64, io::Error> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), io::Error> {
        self.file.read(offset, out)
    }

    fn set_len(&self, len: u64) -> Result<(), io::Error> {
        self.file.set_len(len)
    }

    fn sync_data(&self) -> Result<(), io::Error> {
        self.file.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<(), io::Error> {
        self.file.write(offset, data)
    }

    fn close(&self) -> Result<(), io::Error> {
        self.file.close()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_of_others_are_not_waited_for_without_end() {
        let path = tempfile::NamedTempFile::new().unwrap();
        let open = || {
            let file = File::options().read(true).write(true).open(path.path()).unwrap();
            PatientFile::new(file, Duration::ZERO).unwrap()
        };
        let (one, other) = (open(), open());
        let range = (Bound::Included(1 << 62), Bound::Included(1 << 62));
        one.lock_range(range.0, range.1).unwrap();
        for result in [other.lock_range(range.0, range.1), other.lock_shared_range(range.0, range.1)] {
            let Err(BackendError::Io(error)) = result else { panic!("{result:?}") };
            assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        }
        one.unlock_range(range.0, range.1).unwrap();
        other.lock_range(range.0, range.1).unwrap();
    }
}
