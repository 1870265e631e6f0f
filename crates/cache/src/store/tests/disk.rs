//! A disk in memory that keeps a journal of what is done to it.

use super::super::place::Place;
use redb::{BackendError, Builder, Database, DatabaseError, ReadOnlyDatabase, StorageBackend};
use std::collections::BTreeSet;
use std::io;
use std::ops::Bound;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Something done to the file.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Write(usize, Vec<u8>),
    Length(usize),
    Sync,
}

#[derive(Debug, Default)]
struct Disk {
    bytes: Mutex<Vec<u8>>,
    journal: Mutex<Vec<Step>>,
    full: AtomicBool,
    /// Which bytes were read, if that is to be noted.
    read: Option<Arc<Mutex<BTreeSet<usize>>>>,
}

/// A file on that disk. Clones are the same file.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryPlace(Arc<Disk>);

impl MemoryPlace {
    pub(crate) fn of(bytes: Vec<u8>) -> MemoryPlace {
        MemoryPlace(Arc::new(Disk { bytes: Mutex::new(bytes), ..Disk::default() }))
    }

    /// A file that notes which of its bytes are read.
    pub(crate) fn noting(bytes: Vec<u8>) -> MemoryPlace {
        let read = Some(Arc::default());
        MemoryPlace(Arc::new(Disk { bytes: Mutex::new(bytes), read, ..Disk::default() }))
    }

    /// Another file with the same bytes. What is read of it is noted with what is read of this one.
    pub(crate) fn copy(&self) -> MemoryPlace {
        let read = self.0.read.clone();
        MemoryPlace(Arc::new(Disk { bytes: Mutex::new(self.bytes()), read, ..Disk::default() }))
    }

    /// Where bytes were read.
    pub(crate) fn bytes_read(&self) -> Vec<usize> {
        self.0.read.iter().flat_map(|read| read.lock().unwrap().clone()).collect()
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.bytes.lock().unwrap().clone()
    }

    /// What was done so far.
    pub(crate) fn journal(&self) -> Vec<Step> {
        self.0.journal.lock().unwrap().clone()
    }

    pub(crate) fn steps(&self) -> usize {
        self.0.journal.lock().unwrap().len()
    }

    pub(crate) fn fill(&self) {
        self.0.full.store(true, Ordering::SeqCst);
    }

    pub(crate) fn make_room(&self) {
        self.0.full.store(false, Ordering::SeqCst);
    }

    fn step(&self, step: Step) -> io::Result<()> {
        if self.0.full.load(Ordering::SeqCst) && !matches!(step, Step::Sync) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        apply(&mut self.0.bytes.lock().unwrap(), &step);
        self.0.journal.lock().unwrap().push(step);
        Ok(())
    }
}

/// Does a step to the bytes of a file.
pub(crate) fn apply(bytes: &mut Vec<u8>, step: &Step) {
    match step {
        Step::Write(at, data) => {
            if bytes.len() < at + data.len() {
                bytes.resize(at + data.len(), 0);
            }
            bytes[*at..at + data.len()].copy_from_slice(data);
        }
        Step::Length(length) => bytes.resize(*length, 0),
        Step::Sync => {}
    }
}

impl StorageBackend for MemoryPlace {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.bytes.lock().unwrap().len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let bytes = self.0.bytes.lock().unwrap();
        let at = usize::try_from(offset).map_err(|_| io::ErrorKind::UnexpectedEof)?;
        let end = at.checked_add(out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(bytes.get(at..end).ok_or(io::ErrorKind::UnexpectedEof)?);
        self.0.read.iter().for_each(|read| read.lock().unwrap().extend(at..end));
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.step(Step::Length(len as usize))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.step(Step::Sync)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.step(Step::Write(offset as usize, data.to_vec()))
    }

    // Nobody else has this file.
    fn try_lock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<bool, BackendError> {
        Ok(true)
    }

    fn try_lock_shared_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<bool, BackendError> {
        Ok(true)
    }

    fn lock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<(), BackendError> {
        Ok(())
    }

    fn lock_shared_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<(), BackendError> {
        Ok(())
    }

    fn unlock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<(), BackendError> {
        Ok(())
    }

    fn query_lock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<bool, BackendError> {
        Ok(false)
    }
}

impl Place for MemoryPlace {
    fn path(&self) -> &Path {
        Path::new("memory")
    }

    fn open(&self, builder: &Builder) -> Result<Database, DatabaseError> {
        builder.create_with_backend(self.clone())
    }

    fn open_read_only(&self, builder: &Builder) -> Result<ReadOnlyDatabase, DatabaseError> {
        builder.open_read_only_with_backend(self.clone())
    }

    fn set_aside(&self) -> io::Result<()> {
        self.0.bytes.lock().unwrap().clear();
        Ok(())
    }
}
