//! The tier on disk: a store of guests' programs, which any machine can use, and one of code for hosts.

use crate::cache::{Cache, MEMORY};
use crate::entry::{Entry, Kind};
use crate::key::{Key, Title};
use crate::memory::Memory;
use crate::priority::step_back;
use crate::store::{self, Store, StoreError};
use crate::versions::Versions;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Name of the file of guests' programs. The number is that of the schema.
const GUESTS: &str = "guest-1.redb";
/// Name of the file of hosts' code.
const HOSTS: &str = "host-1.redb";

/// Bytes put since the last flush from which on the next one does not wait for its time.
const EARLY: usize = 32 << 20;
/// Bytes from which on whoever puts more waits for it.
const MOST: usize = 4 * EARLY;

/// How a cache is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whose entries it puts: an id of the program that runs, by which its entries can be removed.
    pub title: Title,
    /// Bytes in memory.
    pub memory: u64,
    /// Bytes on disk. An eighth of it is for guests' programs.
    pub cap: u64,
    /// Time between two commits: what is lost at most when the process is killed.
    pub interval: Duration,
    /// Whether to only read.
    pub read_only: bool,
}

impl Default for Options {
    /// 64 MiB in memory, 1 GiB on disk, a commit every two seconds.
    fn default() -> Options {
        Options {
            title: Title::NONE,
            memory: MEMORY,
            cap: 1 << 30,
            interval: Duration::from_secs(2),
            read_only: false,
        }
    }
}

impl Cache {
    /// Opens the cache in a folder, which is made if it is not there. A thread writes what was put at each interval.
    ///
    /// # Errors
    /// A folder or file that cannot be made or read. [`Cache::memory`] is what to go on with.
    pub fn open(folder: &Path, versions: Versions, options: &Options) -> Result<Cache, StoreError> {
        let memory = Arc::new(Memory::new(options.memory));
        let disk = Disk::open(folder, options, Arc::clone(&memory))?;
        Ok(Cache::with_disk(memory, versions, options.title, disk))
    }
}

/// The two stores, and the thread that flushes them.
pub(crate) struct Disk {
    stores: Arc<Stores>,
    flusher: Option<Flusher>,
}

struct Stores {
    guests: Store,
    hosts: Store,
}

struct Flusher {
    /// Has it do something before the interval is over; when it is dropped, the thread ends.
    now: SyncSender<Wanted>,
    thread: JoinHandle<()>,
}

/// What the thread is asked to do before the interval is over.
enum Wanted {
    Flush,
    /// Removes an entry from memory.
    Forget(Key),
}

/// Requests that may be queued for it.
const WISHES: usize = 64;

impl Stores {
    fn flush(&self) -> Result<(), StoreError> {
        self.guests.flush().and(self.hosts.flush())
    }
}

impl Disk {
    fn open(folder: &Path, options: &Options, memory: Arc<Memory>) -> Result<Disk, StoreError> {
        let of_cap = |cap| store::Options {
            cap,
            read_only: options.read_only,
            pending: MOST,
            ..store::Options::default()
        };
        let guests = options.cap / 8;
        let stores = Arc::new(Stores {
            guests: Store::open(&folder.join(GUESTS), of_cap(guests))?,
            hosts: Store::open(&folder.join(HOSTS), of_cap(options.cap - guests))?,
        });
        let (now, wanted) = sync_channel(WISHES);
        let (flushed, interval) = (Arc::clone(&stores), options.interval);
        let flush = move || {
            // Look-ups and inserts do not wait for this thread, so it may be slow.
            step_back();
            let mut last = Instant::now();
            loop {
                let first = match wanted.recv_timeout(interval.saturating_sub(last.elapsed())) {
                    Ok(first) => first,
                    Err(RecvTimeoutError::Timeout) => Wanted::Flush,
                    Err(RecvTimeoutError::Disconnected) => return,
                };
                let mut is_time = false;
                for wish in std::iter::once(first).chain(wanted.try_iter()) {
                    match wish {
                        Wanted::Flush => is_time = true,
                        Wanted::Forget(key) => memory.remove(&key),
                    }
                }
                if is_time {
                    // What goes wrong is remembered as the store's problem.
                    let _ = flushed.flush();
                    last = Instant::now();
                }
            }
        };
        // Without a thread entries are written when there are many, and at the end.
        let thread = thread::Builder::new().name("shader cache".into()).spawn(flush).ok();
        let flusher = thread.map(|thread| Flusher { now, thread });
        Ok(Disk { stores, flusher })
    }

    pub(crate) fn guests(&self) -> &Store {
        &self.stores.guests
    }

    pub(crate) fn hosts(&self) -> &Store {
        &self.stores.hosts
    }

    fn stores(&self) -> [&Store; 2] {
        // Most look-ups are for hosts' code.
        [&self.stores.hosts, &self.stores.guests]
    }

    pub(crate) fn get(&self, key: &Key) -> Option<Entry> {
        // Guests' programs are not looked up by the key of a translation: they are scanned.
        self.stores.hosts.get(key)
    }

    pub(crate) fn put(&self, key: &Key, entry: &Entry) {
        let store = if entry.kind == Kind::Guest { self.guests() } else { self.hosts() };
        if let Err(error) = store.put(key, entry) {
            tracing::warn!(%key, %error, "an entry is only kept in memory");
        }
        if store.pending_bytes() > EARLY
            && let Some(flusher) = &self.flusher
        {
            // If it is full, the thread has been told.
            let _ = flusher.now.try_send(Wanted::Flush);
        }
    }

    /// Has an entry in memory go soon. Gives whether it will.
    pub(crate) fn outdates(&self, key: Key) -> bool {
        self.flusher.as_ref().is_some_and(|flusher| flusher.now.try_send(Wanted::Forget(key)).is_ok())
    }

    /// Flushes what was put if it is more than [`EARLY`]. Threads that put many entries call it, so that others do not wait.
    pub(crate) fn wait_for_room(&self) {
        for store in self.stores() {
            if store.pending_bytes() > EARLY {
                // What goes wrong is remembered as the store's problem.
                let _ = store.flush();
            }
        }
    }

    pub(crate) fn remove(&self, key: &Key) {
        self.stores().into_iter().for_each(|store| store.remove(key));
    }

    pub(crate) fn flush(&self) -> Result<(), StoreError> {
        self.stores.flush()
    }

    pub(crate) fn problem(&self) -> Option<StoreError> {
        self.stores().into_iter().find_map(Store::problem)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if let Some(Flusher { now, thread }) = self.flusher.take() {
            drop(now);
            let _ = thread.join();
        }
    }
}
