//! The database under a store: open for writing, for reading, or not at all.

use super::place::Place;
use super::{Options, StoreError};
use crate::key::Key;
use redb::{
    Builder, ConcurrencyMode, Database, Error as RedbError, ReadOnlyDatabase, ReadOnlyTable,
    ReadableDatabase, TableDefinition, TableError,
};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

/// Entries by key.
pub(super) const ENTRIES: TableDefinition<'static, &[u8; 32], &[u8]> = TableDefinition::new("entries");
/// Of each entry: the tick of its last use, its bytes, how often it was used.
pub(super) const USES: TableDefinition<'static, &[u8; 32], (u64, u32, u32)> = TableDefinition::new("uses");
/// Entries in the order of their last use.
pub(super) const ORDER: TableDefinition<'static, (u64, &[u8; 32]), ()> = TableDefinition::new("order");
/// Numbers about the whole.
pub(super) const TOTALS: TableDefinition<'static, &str, u64> = TableDefinition::new("totals");

/// What tables there are and what is in them.
const SCHEMA: u64 = 1;

/// Pages of the file that are kept in memory. Entries that are used are in the memory of the cache above.
const PAGES: usize = 16 << 20;

type Entries = ReadOnlyTable<&'static [u8; 32], &'static [u8]>;

/// What look-ups read. A transaction for each of them would cost more than the look-up.
///
/// The lock is held for no longer than it takes to copy a pointer: a look-up of a thread that has lost its processor must keep
/// no renewal waiting, behind which the look-ups of all others would wait.
pub(super) struct Snapshot(RwLock<Arc<Entries>>);

impl Snapshot {
    pub(super) fn new(entries: Entries) -> Snapshot {
        Snapshot(RwLock::new(Arc::new(entries)))
    }

    fn get(&self) -> Arc<Entries> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn set(&self, entries: Entries) {
        let mut entries = Arc::new(entries);
        std::mem::swap(&mut *self.0.write().unwrap_or_else(PoisonError::into_inner), &mut entries);
    }
}

/// The database.
#[derive(Default)]
pub(super) enum Medium {
    /// There is none.
    #[default]
    None,
    /// It is only read.
    ReadOnly {
        database: ReadOnlyDatabase,
        /// What look-ups read.
        entries: Snapshot,
    },
    /// It is read and written.
    Writable {
        database: Database,
        /// What look-ups read.
        entries: Snapshot,
    },
}

/// What stops an operation on the database.
pub(super) enum Fault {
    /// The database says so.
    Redb(RedbError),
    /// Another process is writing, and has been for as long as we wait.
    Busy,
}

impl<E: Into<RedbError>> From<E> for Fault {
    fn from(error: E) -> Fault {
        match error.into() {
            RedbError::WouldBlock => Fault::Busy,
            RedbError::Io(error) if error.kind() == io::ErrorKind::WouldBlock => Fault::Busy,
            error => Fault::Redb(error),
        }
    }
}

/// Does something with the database. A panic in it is damage: `redb` checks a file as a whole, and trusts it then.
pub(super) fn guard<T>(path: &Path, work: impl FnOnce() -> Result<T, Fault>) -> Result<T, StoreError> {
    let damaged = |why: String| StoreError::Damaged { path: path.into(), why };
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(fault)) => Err(classify(path, fault)),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(damaged(text.unwrap_or("a panic").to_owned()))
        }
    }
}

fn classify(path: &Path, fault: Fault) -> StoreError {
    let path = path.to_path_buf();
    let error = match fault {
        Fault::Busy => return StoreError::Held { path, why: "another program is writing".into() },
        Fault::Redb(error) => error,
    };
    let io = |source: io::Error| StoreError::Io { path: path.clone(), source: Arc::new(source) };
    match error {
        RedbError::Io(error)
            if matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof) =>
        {
            StoreError::Damaged { path, why: error.to_string() }
        }
        RedbError::Io(error) => io(error),
        error @ (RedbError::PreviousIo | RedbError::Unsupported | RedbError::Backend(_)) => {
            io(io::Error::other(error.to_string()))
        }
        error @ (RedbError::DatabaseAlreadyOpen | RedbError::LockProtocolMismatch) => {
            StoreError::Held { path, why: error.to_string() }
        }
        error => StoreError::Damaged { path, why: error.to_string() },
    }
}

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder
        .set_cache_size(PAGES)
        .set_concurrency_mode(ConcurrencyMode::MultiWriter)
        .set_check_integrity_on_open(true);
    builder
}

impl Medium {
    /// Opens the database of a place. A damaged file is set aside; the number says how often that was.
    pub(super) fn open(place: &dyn Place, options: &Options) -> Result<(Medium, u64), StoreError> {
        if options.read_only {
            return Ok((Medium::open_to_read(place)?, 0));
        }
        let _others = place.exclude_others();
        let open = || guard(place.path(), || Medium::open_to_write(place));
        match open() {
            Err(StoreError::Damaged { why, .. }) => {
                tracing::warn!(store = %place.path().display(), why, "a damaged file was set aside");
                let set_aside = place.set_aside();
                set_aside.map_err(|e| StoreError::Io { path: place.path().into(), source: Arc::new(e) })?;
                Ok((open()?, 1))
            }
            Err(StoreError::Io { source, path }) if is_forbidden(&source) => {
                // What is there can still be read.
                Medium::open_to_read(place).map(|m| (m, 0)).map_err(|_| StoreError::Io { source, path })
            }
            opened => Ok((opened?, 0)),
        }
    }

    fn open_to_write(place: &dyn Place) -> Result<Medium, Fault> {
        let database = place.open(&builder())?;
        let snapshot = database.begin_read()?;
        let schema = match snapshot.open_table(TOTALS) {
            Ok(totals) => totals.get("schema")?.map(|value| value.value()),
            Err(TableError::TableDoesNotExist(_)) => None,
            Err(error) => return Err(error.into()),
        };
        match schema {
            Some(SCHEMA) => {}
            // The name of the file has the schema, too: this is no other program's.
            Some(other) => return Err(RedbError::Corrupted(format!("schema {other}")).into()),
            None => {
                let transaction = database.begin_write()?;
                transaction.open_table(ENTRIES)?;
                transaction.open_table(USES)?;
                transaction.open_table(ORDER)?;
                transaction.open_table(TOTALS)?.insert("schema", SCHEMA)?;
                transaction.commit()?;
            }
        }
        let entries = Snapshot::new(database.begin_read()?.open_table(ENTRIES)?);
        Ok(Medium::Writable { database, entries })
    }

    /// Opens the database of a place for reading. One that was not closed well cannot be.
    pub(super) fn open_to_read(place: &dyn Place) -> Result<Medium, StoreError> {
        guard(place.path(), || {
            let database = place.open_read_only(&builder())?;
            let entries = Snapshot::new(database.begin_read()?.open_table(ENTRIES)?);
            Ok(Medium::ReadOnly { database, entries })
        })
    }

    /// The bytes under a key.
    pub(super) fn read(&self, key: &Key) -> Result<Option<Vec<u8>>, Fault> {
        match self {
            Medium::None => Ok(None),
            Medium::ReadOnly { entries, .. } | Medium::Writable { entries, .. } => {
                Ok(entries.get().get(&key.0)?.map(|bytes| bytes.value().to_vec()))
            }
        }
    }

    /// Has look-ups see what was written since: by us, and by others.
    pub(super) fn renew(&self) -> Result<(), Fault> {
        match self {
            Medium::None => {}
            Medium::ReadOnly { database, entries } => {
                entries.set(database.begin_read()?.open_table(ENTRIES)?);
            }
            Medium::Writable { database, entries } => {
                entries.set(database.begin_read()?.open_table(ENTRIES)?);
            }
        }
        Ok(())
    }

    /// Closes the database. What goes wrong at that is of no interest: everything that had to be on disk is.
    pub(super) fn close(&mut self) {
        let medium = std::mem::take(self);
        let _ = catch_unwind(AssertUnwindSafe(|| drop(medium)));
    }
}

fn is_forbidden(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}
