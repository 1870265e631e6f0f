//! The database under a store: open for writing, for reading, or not at all.

use super::pending::retire;
use super::place::Place;
use super::{Options, StoreError};
use crate::key::Key;
use crate::priority::has_stepped_back;
use arc_swap::ArcSwap;
use redb::{
    Builder, ConcurrencyMode, Database, Error as RedbError, ReadOnlyDatabase, ReadOnlyTable, ReadTransaction,
    ReadableDatabase, TableDefinition, TableError,
};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

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

/// Most bytes of the file's pages that an opening keeps in memory: the more there is room for, the fewer branches of the tree of entries
/// are pushed out by leaves. Entries that are used are in the memory of the cache above.
const PAGES: usize = 64 << 20;

type Entries = ReadOnlyTable<&'static [u8; 32], &'static [u8]>;

/// What look-ups read. A transaction for each of them would cost more than the look-up.
///
/// There is no lock: a look-up of a thread that has lost its processor must keep no renewal waiting, behind which the look-ups
/// of all others would wait.
pub(super) struct Snapshot(ArcSwap<Readers>);

/// A state of the file.
///
/// `redb` has its pages in memory behind locks, which commits and look-ups take. Threads of a refill may lose their processor
/// while they hold one, for as long as others have something to do. So these use the pages of the database that is written,
/// and all others those of another opening of the file, which is read and nothing else.
struct Readers {
    /// Of the database that is written.
    shared: Entries,
    /// Of the other opening, where there can be one. It is closed after its table.
    own: Option<(Entries, ReadOnlyDatabase)>,
    /// Each transaction that changes entries has its own.
    tick: u64,
}

impl Readers {
    fn new(transaction: &ReadTransaction, place: Option<&dyn Place>) -> Result<Readers, Fault> {
        let shared = transaction.open_table(ENTRIES)?;
        let beside = place.and_then(|place| place.open_beside(&builder()));
        // An error is not reported here: the first opening meets it as well.
        let own = beside.and_then(|database| {
            let entries = database.begin_read().ok()?.open_table(ENTRIES).ok()?;
            Some((entries, database))
        });
        Ok(Readers { shared, own, tick: tick(transaction)? })
    }

    fn entries(&self) -> &Entries {
        match &self.own {
            Some((entries, _)) if !has_stepped_back() => entries,
            _ => &self.shared,
        }
    }
}

fn tick(transaction: &ReadTransaction) -> Result<u64, Fault> {
    Ok(transaction.open_table(TOTALS)?.get("tick")?.map_or(0, |tick| tick.value()))
}

impl Snapshot {
    /// Of a database; with a place, of one that is written there.
    pub(super) fn new(
        database: &impl ReadableDatabase,
        place: Option<&dyn Place>,
    ) -> Result<Snapshot, Fault> {
        Ok(Snapshot(ArcSwap::from_pointee(Readers::new(&database.begin_read()?, place)?)))
    }

    /// Has look-ups see what was written since.
    fn renew(&self, database: &impl ReadableDatabase, place: Option<&dyn Place>) -> Result<(), Fault> {
        let transaction = database.begin_read()?;
        // Pages that are in memory stay there if nothing was written.
        if tick(&transaction)? != self.0.load().tick {
            retire(self.0.swap(Arc::new(Readers::new(&transaction, place)?)));
        }
        Ok(())
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
        /// What look-ups read. It is closed before the database.
        entries: Snapshot,
        database: Database,
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
        let entries = Snapshot::new(&database, Some(place))?;
        Ok(Medium::Writable { entries, database })
    }

    /// Opens the database of a place for reading. One that was not closed well cannot be.
    pub(super) fn open_to_read(place: &dyn Place) -> Result<Medium, StoreError> {
        guard(place.path(), || {
            let database = place.open_read_only(&builder())?;
            let entries = Snapshot::new(&database, None)?;
            Ok(Medium::ReadOnly { database, entries })
        })
    }

    /// What is made of the bytes under a key.
    pub(super) fn read<T>(&self, key: &Key, make: impl FnOnce(&[u8]) -> T) -> Result<Option<T>, Fault> {
        match self {
            Medium::None => Ok(None),
            Medium::ReadOnly { entries, .. } | Medium::Writable { entries, .. } => {
                Ok(entries.0.load_full().entries().get(&key.0)?.map(|bytes| make(bytes.value())))
            }
        }
    }

    /// Has look-ups see what was written since: by us, and by others.
    pub(super) fn renew(&self, place: &dyn Place) -> Result<(), Fault> {
        match self {
            Medium::None => Ok(()),
            Medium::ReadOnly { database, entries } => entries.renew(database, None),
            Medium::Writable { entries, database } => entries.renew(database, Some(place)),
        }
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

#[cfg(all(test, unix))]
mod tests {
    use super::super::FilePlace;
    use super::*;

    #[test]
    fn look_ups_have_pages_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let place = FilePlace::new(&folder.path().join("store.redb"), std::time::Duration::ZERO);
        let (medium, _) = Medium::open(&place, &Options::default()).unwrap();
        let Medium::Writable { entries, .. } = &medium else { panic!("it is not written") };
        let before = entries.0.load_full();
        assert!(before.own.is_some());
        // Nothing was written, so the pages in memory are those of the file.
        medium.renew(&place).ok().unwrap();
        assert!(Arc::ptr_eq(&before, &entries.0.load_full()));
        drop(before);
        let change = (Key([7; 32]), super::super::write::Change::Put(vec![1, 2, 3].into()));
        medium.write(&[change], &[], &Options::default()).ok().unwrap();
        medium.renew(&place).ok().unwrap();
        assert!(entries.0.load_full().own.is_some());
        assert_eq!(medium.read(&Key([7; 32]), <[u8]>::to_vec).ok().unwrap(), Some(vec![1, 2, 3]));
    }
}
