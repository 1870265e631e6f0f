//! Entries on disk: one `redb` file that several processes may have open.
//!
//! * [`Store::put`] and [`Store::remove`] only change what this process sees. [`Store::flush`] writes what came since in
//!   one durable transaction; a process that is killed loses what it put since the last flush, and nothing else.
//! * [`Store::get`] reads a snapshot that is renewed at each flush. An entry whose hash is wrong is nobody's: it is
//!   counted and removed, and the caller translates again.
//! * A file that is damaged as a whole is set aside under the name `*.damaged`, and an empty one takes its place. A disk
//!   that is full, a folder that is gone, a file that may not be written: [`Store::problem`] says so once, and the store
//!   answers "not there" from then on, or keeps on reading where that is possible.
//! * Least recently used entries go when the file's entries exceed [`Options::cap`], at most a fiftieth of the cap in a
//!   transaction.
//!
//! `redb` panics on some damaged files, and aborts on few. Therefore the checksums of the whole file are checked when it is
//! opened for writing, which takes a tenth of a second for 100 MB. What goes wrong later, or in a file that is only read,
//! and panics, is caught here and counts as damage.

mod backend;
mod contents;
mod medium;
pub mod pack;
mod pending;
mod place;
#[cfg(test)]
mod tests;
mod trie;
mod write;

pub use contents::{Item, Scan};
use medium::{Medium, guard};
use pending::Pending;
pub(crate) use place::{FilePlace, Place, Presence};
use write::{Change, Tally};

use crate::entry::{self, Entry, EntryError};
use crate::key::{Key, Title};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;
use thiserror::Error;

/// Why a store does not do what it was asked.
#[derive(Clone, Debug, Error)]
pub enum StoreError {
    /// The system refused: no room, no rights, no such folder.
    #[error("{}: {source}", path.display())]
    Io {
        /// The store's file.
        path: PathBuf,
        /// Why.
        source: Arc<io::Error>,
    },
    /// The file was removed while it was open.
    #[error("{}: the file was removed while it was open", .0.display())]
    Removed(PathBuf),
    /// Another program holds the file in a way that excludes us.
    #[error("{}: held by another program: {why}", path.display())]
    Held {
        /// The store's file.
        path: PathBuf,
        /// What excludes us.
        why: String,
    },
    /// The file is damaged.
    #[error("{}: damaged: {why}", path.display())]
    Damaged {
        /// The store's file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The store may only be read.
    #[error("{}: may only be read", .0.display())]
    ReadOnly(PathBuf),
}

/// How a store is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// Bytes of entries that are kept.
    pub cap: u64,
    /// Whether to only read. A file that may not be written is only read in any case.
    pub read_only: bool,
    /// How long a flush waits for another process's.
    pub patience: Duration,
    /// Bytes put since the last flush from which on [`Store::put`] flushes by itself.
    pub pending: usize,
}

impl Default for Options {
    /// 1 GiB, written.
    fn default() -> Options {
        Options { cap: 1 << 30, read_only: false, patience: Duration::from_secs(5), pending: 32 << 20 }
    }
}

/// What happened to a store since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Look-ups that found an entry.
    pub hits: u64,
    /// Look-ups that did not.
    pub misses: u64,
    /// Entries put.
    pub puts: u64,
    /// Entries removed because their bytes were wrong.
    pub quarantined: u64,
    /// Entries that went to make room.
    pub evicted: u64,
    /// Files set aside as damaged.
    pub files_set_aside: u64,
    /// Durable commits.
    pub commits: u64,
}

#[derive(Default)]
struct Counters {
    hits: AtomicU64,
    misses: AtomicU64,
    puts: AtomicU64,
    quarantined: AtomicU64,
    evicted: AtomicU64,
    files_set_aside: AtomicU64,
    commits: AtomicU64,
}

/// A store.
pub struct Store {
    place: Box<dyn Place>,
    options: Options,
    medium: RwLock<Medium>,
    pending: Pending,
    /// Held while a transaction is written.
    writing: Mutex<()>,
    counters: Counters,
    problem: Mutex<Option<StoreError>>,
    /// Counts the openings: damage of a file that another thread has set aside already is no news.
    generation: AtomicU64,
}

impl Store {
    /// Opens the store in a file, which is made if it is not there.
    ///
    /// # Errors
    /// The folder or file cannot be made or read, or another program excludes us. Damage is no error: a damaged file is set
    /// aside.
    pub fn open(path: &Path, options: Options) -> Result<Store, StoreError> {
        Store::at(Box::new(FilePlace::new(path, options.patience)), options)
    }

    pub(crate) fn at(place: Box<dyn Place>, options: Options) -> Result<Store, StoreError> {
        let counters = Counters::default();
        let (medium, set_aside) = Medium::open(&*place, &options)?;
        counters.files_set_aside.fetch_add(set_aside, Ordering::Relaxed);
        Ok(Store {
            place,
            options,
            medium: RwLock::new(medium),
            pending: Pending::default(),
            writing: Mutex::new(()),
            counters,
            problem: Mutex::new(None),
            generation: AtomicU64::new(0),
        })
    }

    /// The store's file.
    pub fn path(&self) -> &Path {
        self.place.path()
    }

    /// The entry of a key.
    pub fn get(&self, key: &Key) -> Option<Entry> {
        let found = self.find(key);
        let counter = if found.is_some() { &self.counters.hits } else { &self.counters.misses };
        counter.fetch_add(1, Ordering::Relaxed);
        found
    }

    /// The entry of a key; it does not count as used.
    pub fn peek(&self, key: &Key) -> Option<Entry> {
        self.look_up(key).map(|(entry, _)| entry)
    }

    fn find(&self, key: &Key) -> Option<Entry> {
        let (entry, on_disk) = self.look_up(key)?;
        if on_disk {
            self.pending.used(key);
        }
        Some(entry)
    }

    /// An entry, and whether it is on disk already.
    fn look_up(&self, key: &Key) -> Option<(Entry, bool)> {
        match self.pending.get(key) {
            Some(Change::Put(bytes)) => return entry::decode(key, &bytes).ok().map(|entry| (entry, false)),
            Some(Change::Remove) => return None,
            None => {}
        }
        let generation = self.generation();
        let read = {
            let medium = self.medium();
            guard(self.path(), || medium.read(key, |bytes| entry::decode(key, bytes)))
        };
        match read {
            Ok(Some(Ok(entry))) => Some((entry, true)),
            Ok(Some(Err(error))) => {
                self.quarantine(key, error);
                None
            }
            Ok(None) => None,
            Err(error) => {
                self.failed(error, generation);
                None
            }
        }
    }

    fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Removes an entry whose bytes are wrong.
    fn quarantine(&self, key: &Key, error: EntryError) {
        self.counters.quarantined.fetch_add(1, Ordering::Relaxed);
        tracing::warn!(store = %self.path().display(), %key, %error, "a damaged entry was dropped");
        self.remove(key);
    }

    /// Puts an entry in the place of what there was; the file has it after the next [`flush`](Store::flush).
    ///
    /// # Errors
    /// A payload that is too large.
    pub fn put(&self, key: &Key, entry: &Entry) -> Result<(), EntryError> {
        let bytes = entry::encode(key, entry)?;
        self.put_encoded(key, bytes.into());
        Ok(())
    }

    /// Puts an entry that is bytes already; the caller has checked them.
    pub(crate) fn put_encoded(&self, key: &Key, bytes: Arc<[u8]>) {
        self.counters.puts.fetch_add(1, Ordering::Relaxed);
        let full = self.change(key, Change::Put(bytes));
        if full {
            // What goes wrong is remembered as the store's problem.
            let _ = self.flush();
        }
    }

    /// Memory that changes take, about, which the next flush writes.
    pub(crate) fn pending_bytes(&self) -> usize {
        self.pending.bytes()
    }

    /// Removes an entry.
    pub fn remove(&self, key: &Key) {
        self.change(key, Change::Remove);
    }

    /// Notes a change. Gives whether it is time to flush.
    fn change(&self, key: &Key, change: Change) -> bool {
        // Nothing would ever take it out of memory again.
        if !self.is_writable() {
            return false;
        }
        self.pending.change(key, change) > self.options.pending
    }

    /// Writes what was put and removed, in one durable transaction; then makes room, in others.
    ///
    /// # Errors
    /// What was not written stays where another process was in the way, and is dropped if the file cannot be written at all.
    pub fn flush(&self) -> Result<(), StoreError> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.is_writable() {
            return Ok(());
        }
        if let Err(error) = self.check_presence() {
            self.failed(error.clone(), self.generation());
            return Err(error);
        }
        let layer = self.pending.take();
        let (changes, uses) = (layer.changes(), layer.uses());
        let generation = self.generation();
        let written = match changes.is_empty() && uses.is_empty() {
            true => Ok(Tally::default()),
            false => {
                let medium = self.medium();
                guard(self.path(), || medium.write(&changes, &uses, &self.options))
            }
        };
        let seen = written.and_then(|tally| {
            self.counters.commits.fetch_add(tally.commits, Ordering::Relaxed);
            self.counters.evicted.fetch_add(tally.evicted, Ordering::Relaxed);
            let medium = self.medium();
            guard(self.path(), || medium.renew(&*self.place))
        });
        let result = seen.inspect_err(|error| match error {
            // Written or not, look-ups do not see it yet.
            StoreError::Held { .. } => self.pending.put_back(&layer, 2 * self.options.pending),
            error => self.failed(error.clone(), generation),
        });
        self.pending.written(layer);
        result
    }

    /// Whether the file under the store's name is still the one that is open.
    fn check_presence(&self) -> Result<(), StoreError> {
        match self.place.presence() {
            Presence::Same => Ok(()),
            Presence::Gone => Err(StoreError::Removed(self.path().into())),
            // Another process found it damaged and set it aside.
            Presence::Replaced => self.reopen(),
        }
    }

    /// Something went wrong with the file as it was opened the `generation`th time. Damage costs the file, everything else
    /// the writing.
    fn failed(&self, error: StoreError, generation: u64) {
        let mut medium = self.medium_mut();
        if matches!(error, StoreError::Held { .. }) || generation != self.generation() {
            return;
        }
        self.generation.fetch_add(1, Ordering::AcqRel);
        medium.close();
        let reopened = match error {
            StoreError::Damaged { .. } => {
                tracing::warn!(%error, "the store starts anew");
                self.set_aside().and_then(|()| Medium::open(&*self.place, &self.options))
            }
            other => Err(other),
        };
        match reopened {
            Ok((opened, set_aside)) => {
                self.counters.files_set_aside.fetch_add(set_aside, Ordering::Relaxed);
                *medium = opened;
            }
            Err(error) => {
                // From here on nothing is written; what can still be read is.
                *medium = Medium::open_to_read(&*self.place).unwrap_or_default();
                drop(medium);
                self.give_up(error);
            }
        }
    }

    /// Gives the file another name, unless another process has done so.
    fn set_aside(&self) -> Result<(), StoreError> {
        let _others = self.place.exclude_others();
        if self.place.presence() == Presence::Same {
            self.counters.files_set_aside.fetch_add(1, Ordering::Relaxed);
            let done = self.place.set_aside();
            done.map_err(|e| StoreError::Io { path: self.path().into(), source: Arc::new(e) })?;
        }
        Ok(())
    }

    fn give_up(&self, error: StoreError) {
        self.pending.clear();
        let mut problem = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
        if problem.is_none() {
            tracing::warn!(%error, "the store is not written any more");
            *problem = Some(error);
        }
    }

    fn reopen(&self) -> Result<(), StoreError> {
        let mut medium = self.medium_mut();
        self.generation.fetch_add(1, Ordering::AcqRel);
        medium.close();
        let (opened, set_aside) = Medium::open(&*self.place, &self.options)?;
        self.counters.files_set_aside.fetch_add(set_aside, Ordering::Relaxed);
        *medium = opened;
        Ok(())
    }

    /// Why the store is not written, or not used at all, any more; `None` while all is well.
    pub fn problem(&self) -> Option<StoreError> {
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether what is put will be on disk.
    pub fn is_writable(&self) -> bool {
        matches!(*self.medium(), Medium::Writable { .. })
    }

    /// What happened so far.
    pub fn counts(&self) -> Counts {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let c = &self.counters;
        Counts {
            hits: get(&c.hits),
            misses: get(&c.misses),
            puts: get(&c.puts),
            quarantined: get(&c.quarantined),
            evicted: get(&c.evicted),
            files_set_aside: get(&c.files_set_aside),
            commits: get(&c.commits),
        }
    }

    fn medium(&self) -> RwLockReadGuard<'_, Medium> {
        self.medium.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn medium_mut(&self) -> RwLockWriteGuard<'_, Medium> {
        self.medium.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The last flush. What cannot be written is lost, as if the process had been killed.
impl Drop for Store {
    fn drop(&mut self) {
        let _ = self.flush();
        self.medium_mut().close();
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("path", &self.path())
            .field("counts", &self.counts())
            .finish_non_exhaustive()
    }
}

/// Which entries to remove.
#[derive(Clone, Debug, Default)]
pub struct Gc {
    /// Those of this title only; else of all.
    pub title: Option<Title>,
    /// Those made under these stamps.
    pub stamps: Vec<u64>,
    /// Whether all of the title, whatever their stamp.
    pub all: bool,
    /// And then the least recently used until at most so many bytes are left.
    pub to: Option<u64>,
}
